/* run.c -- the records after the metadata: a heap of streams by the position of their next record. References are
 * renumbered when a record is written; a record of an unknown kind stays directly after the record that it followed. */
#include "filter/merge/merging.h"

#include <stdlib.h>
#include <string.h>

#include "base/heap.h"

/* Columns that refer to something, -1: none. */
struct refs { int profile, program, device, inst; };

/* Data that one report has from the dump may be derived from names in another. */
static void
rewrite_comm(struct mg *m, const struct mg_inst *inst, struct nsx_rec *rec)
{
	if (inst->comm == INT64_MIN)
		return;
	if (rec->kind->id == NSX_THUNK && nsx_has(rec, NSX_THUNK_comm))
		rec->v[NSX_THUNK_comm].i = inst->comm;
	if (rec->kind->id != NSX_OP || !nsx_has(rec, NSX_OP_comm) || !inst->settles)
		return;
	rec->v[NSX_OP_comm].i = inst->comm;
	/* NCCL's calls of an operation that communicates have precedence over its instruction. */
	bool nccl = nsx_has(rec, NSX_OP_calls) || nsx_has(rec, NSX_OP_comm_id);
	if (inst->comm == 1) {
		if (inst->collective && !nccl)
			nsx_set_s(rec, NSX_OP_collective, nsx_merge_text(m, inst->collective));
		return;
	}
	if (nccl)
		nsx_clear(rec, NSX_OP_bytes);
	for (int slot = NSX_OP_collective; slot <= NSX_OP_pair; slot++)
		nsx_clear(rec, slot);
}

static int
rewrite_program(struct mg *m, struct mg_source *s, struct nsx_rec *rec, const struct refs *r)
{
	struct nsx_merge_use *u = nsx_merge_use(m, s, rec, r->profile, r->device, r->program);

	if (!u)
		return NSX_ERR;
	if (r->inst >= 0 && nsx_has(rec, r->inst)) {
		uint32_t i = nsx_merge_remap_get(&u->insts, rec->v[r->inst].i);
		if (i == NSX_NONE)
			return nsx_merge_no_record(m, s, rec, r->inst);
		rewrite_comm(m, &m->insts.p[i], rec);
		rec->v[r->inst].i = m->insts.p[i].number;
	}
	rec->v[r->program].i = u->program;
	return NSX_OK;
}

static int
rewrite(struct mg *m, struct mg_source *s, struct nsx_rec *rec)
{
	enum nsx_kind_id id = rec->kind->id;
	const struct refs cols = { nsx_field(id, NSX_ROLE_PROFILE), nsx_field(id, NSX_ROLE_PROGRAM),
	                           nsx_field(id, NSX_ROLE_DEVICE),
	                           nsx_field(id, NSX_ROLE_INST) }, *r = &cols;
	int stack = nsx_field(id, NSX_ROLE_STACK);
	uint32_t to;

	/* The program first: it is looked up by the stream's own profile. */
	if (r->program >= 0 && nsx_has(rec, r->program) && rewrite_program(m, s, rec, r) != NSX_OK)
		return NSX_ERR;
	if (r->profile >= 0 && nsx_has(rec, r->profile)) {
		to = nsx_merge_remap_get(&s->profile_of, rec->v[r->profile].i);
		if (to == NSX_NONE)
			return nsx_merge_no_record(m, s, rec, r->profile);
		rec->v[r->profile].i = m->profiles.p[to].number;
	}
	if (r->device >= 0 && nsx_has(rec, r->device)) {
		to = nsx_merge_remap_get(&s->device_of, rec->v[r->device].i);
		if (to == NSX_NONE)
			return nsx_merge_no_record(m, s, rec, r->device);
		rec->v[r->device].i = m->devices.p[to].number;
	}
	if (stack >= 0 && nsx_has(rec, stack)) {
		to = nsx_merge_remap_get(&s->stack_of, rec->v[stack].i);
		/* A stack of instructions alone is not written if no thread is. */
		if (to == NSX_NONE || m->stack_number[to] == NSX_NONE)
			return nsx_merge_no_record(m, s, rec, stack);
		rec->v[stack].i = m->stack_number[to];
	}
	return NSX_OK;
}

static bool
same_slots(const struct nsx_kind *x, const struct nsx_kind *y)
{
	if (x->nslots != y->nslots)
		return false;
	for (int i = nsx_kind_builtin(x->id)->nslots; i < x->nslots; i++)
		if (strcmp(x->cols[i].name, y->cols[i].name) != 0)
			return false;
	return true;
}

static int
write_head(struct mg *m, struct mg_source *s)
{
	struct nsx_rec *rec = &s->rec;
	const struct nsx_kind *k = rec->kind;

	if (nsx_merge_stale_drop(m, s, rec))
		return NSX_OK;
	/* This may read ahead, which moves the head's values. */
	if (nsx_merge_declare(m, k) != NSX_OK)
		return NSX_ERR;
	if (k->id < NSX_NKINDS) {
		if (rewrite(m, s, rec) != NSX_OK)
			return NSX_ERR;
		/* One kind for all streams saves the writer matching columns when streams alternate. */
		if (s->plain[k->id] != k && same_slots(k, m->kinds[k->id]))
			s->plain[k->id] = k;
		if (s->plain[k->id] == k)
			rec->kind = m->kinds[k->id];
	}
	return nsx_write(m->out, rec);
}

/* The head has a position in the order, which s->key does not have yet. */
static int
place(struct mg *m, struct mg_source *s)
{
	if (nsx_merge_key_of(m, s, &s->rec, &s->key) != NSX_OK)
		return NSX_ERR;
	if (!s->disordered || s->in_order || (s->key.section != NSX_SECTION_COMPILE &&
	                                      s->key.section != NSX_SECTION_WORK))
		return NSX_OK;
	if (nsx_merge_source_sort_run(m, s) != NSX_OK)
		return NSX_ERR;
	return nsx_merge_key_of(m, s, &s->rec, &s->key);
}

/* Advance to the next record that has a position in the order; records after the last one that have none are written
 * directly. */
static int
advance(struct mg *m, struct mg_source *s)
{
	int rc;

	while ((rc = nsx_merge_source_next(m, s)) == NSX_OK && nsx_rec_section(&s->rec) == NSX_SECTION_ANY)
		if ((s->rec.kind->id == NSX_DIAG ? nsx_merge_diag_record(m, &s->rec) : write_head(m, s)) != NSX_OK)
			return NSX_ERR;
	return rc == NSX_OK ? place(m, s) : rc;
}

static bool
before(const struct mg *m, struct mg_source *const *x, struct mg_source *const *y)
{
	int c = nsx_order_key_cmp(&(*x)->key, &(*y)->key);

	if (!c) {
		struct mg_record v = { m, *x, (*x)->rec }, w = { m, *y, (*y)->rec };
		c = nsx_merge_tie_cmp(&v, &w);
	}
	return c < 0 || (c == 0 && *x < *y);
}

NSX_HEAP(sources, struct mg_source *, const struct mg *, before)

struct heap { struct mg_source **p; size_t n; };

/* Process the heads that nsx_merge_load left as if they had just been read. */
static int
fill(struct mg *m, struct heap *h)
{
	for (size_t i = 0; i < m->n; i++) {
		struct mg_source *s = &m->sources[i];
		if (s->ended)
			continue;
		if (place(m, s) != NSX_OK)
			return NSX_ERR;
		h->p[h->n++] = s;
	}
	sources_make(m, h->p, h->n);
	return NSX_OK;
}

static int
drain(struct mg *m, struct heap *h)
{
	while (h->n) {
		int rc = write_head(m, h->p[0]);
		if (rc == NSX_OK)
			rc = advance(m, h->p[0]);
		if (rc == NSX_ERR)
			return rc;
		if (rc == NSX_EOF)
			h->p[0] = h->p[--h->n];
		sources_down(m, h->p, h->n);
	}
	return NSX_OK;
}

int
nsx_merge_run(struct mg *m)
{
	struct heap h = { malloc((m->n + 1) * sizeof *h.p), 0 };
	int rc = h.p ? fill(m, &h) : nsx_err_nomem(m->err, NULL);

	if (rc == NSX_OK)
		rc = drain(m, &h);
	free(h.p);
	if (rc == NSX_OK)
		rc = nsx_merge_declare_rest(m);
	if (rc == NSX_OK)
		rc = nsx_merge_stale_say(m);
	return rc == NSX_OK ? nsx_merge_write_diags(m) : rc;
}
