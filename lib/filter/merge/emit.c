/* emit.c -- the metadata of the merged stream, each kind in one run, in the order of its numbers. */
#include "filter/merge/merging.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* The sort key of records in a list: a, then b, then c. */
struct place { int64_t a, b, c; size_t i; };

NSX_ORDER(by_place, struct place, NSX_CMP(a->a, b->a), NSX_CMP(a->b, b->b), NSX_CMP(a->c, b->c), NSX_CMP(a->i, b->i))

/* An array of n elements to fill; NULL with err filled. */
static struct place *
places(struct mg *m, size_t n)
{
	struct place *p = calloc(n + 1, sizeof *p);

	if (!p)
		nsx_err_nomem(m->err, NULL);
	return p;
}

static int
put(struct mg *m, const struct nsx_rec *rec)
{
	if (nsx_merge_declare(m, rec->kind) != NSX_OK)
		return NSX_ERR;
	return nsx_write(m->out, rec);
}

static struct nsx_rec
copy(const struct mg_held *h, union nsx_val *v)
{
	memcpy(v, h->v, (size_t)h->kind->nslots * sizeof *v);
	return (struct nsx_rec){ h->kind, h->has, v };
}

static int
emit_profiles(struct mg *m)
{
	struct place *order = places(m, m->profiles.n);
	union nsx_val v[NSX_MAX_COLS];
	int rc = order ? NSX_OK : NSX_ERR;

	for (size_t i = 0; i < m->profiles.n && order; i++)
		order[i] = (struct place){ m->profiles.p[i].number, 0, 0, i };
	if (order)
		qsort(order, m->profiles.n, sizeof *order, by_place);
	for (size_t i = 0; i < m->profiles.n && rc == NSX_OK; i++) {
		const struct mg_profile *p = &m->profiles.p[order[i].i];
		struct nsx_rec rec = copy(&p->rec, v);
		nsx_set_i(&rec, NSX_PROFILE_profile, p->number);
		rc = put(m, &rec);
	}
	free(order);
	return rc;
}

static int
emit_devices(struct mg *m)
{
	struct place *order = places(m, m->devices.n);
	union nsx_val v[NSX_MAX_COLS];
	int rc = order ? NSX_OK : NSX_ERR;

	for (size_t i = 0; i < m->devices.n && order; i++)
		order[i] = (struct place){ m->devices.p[i].number, 0, 0, i };
	if (order)
		qsort(order, m->devices.n, sizeof *order, by_place);
	for (size_t i = 0; i < m->devices.n && rc == NSX_OK; i++) {
		const struct mg_device *d = &m->devices.p[order[i].i];
		struct nsx_rec rec = copy(&d->rec, v);
		nsx_set_i(&rec, NSX_DEVICE_device, d->number);
		nsx_set_i(&rec, NSX_DEVICE_profile, m->profiles.p[d->profile].number);
		nsx_set_i(&rec, NSX_DEVICE_known, d->known);
		rc = put(m, &rec);
	}
	free(order);
	return rc;
}

/* By profile, in the order of each. */
static int
emit_threads(struct mg *m)
{
	struct place *order = places(m, m->threads.n);
	union nsx_val v[NSX_MAX_COLS];
	int rc = order ? NSX_OK : NSX_ERR;

	for (size_t i = 0; i < m->threads.n && order; i++)
		order[i] = (struct place){ m->profiles.p[m->thread_profile.p[i]].number, 0, 0, i };
	if (order)
		qsort(order, m->threads.n, sizeof *order, by_place);
	for (size_t i = 0; i < m->threads.n && rc == NSX_OK; i++) {
		struct nsx_rec rec = copy(&m->threads.p[order[i].i], v);
		nsx_set_i(&rec, NSX_THREAD_profile, order[i].a);
		rc = put(m, &rec);
	}
	free(order);
	return rc;
}

/* A record of a communicator with the numbers of the merged stream. */
struct member { struct mg_held rec; int64_t profile, device; };

static int
compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	struct nsx_rec p = { x->rec.kind, x->rec.has, x->rec.v }, q = { y->rec.kind, y->rec.has, y->rec.v };
	int c = nsx_str_cmp(nsx_string(&p, NSX_COMMUNICATOR_comm_id), nsx_string(&q, NSX_COMMUNICATOR_comm_id));

	if (c)
		return c;
	if (x->profile != y->profile)
		return x->profile < y->profile ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	int64_t i = nsx_int(&p, NSX_COMMUNICATOR_rank, -1), j = nsx_int(&q, NSX_COMMUNICATOR_rank, -1);
	return (i > j) - (i < j);
}

static int
emit_communicators(struct mg *m)
{
	struct member *list = malloc((m->communicators.n + 1) * sizeof *list);
	union nsx_val v[NSX_MAX_COLS];
	int rc = list ? NSX_OK : nsx_err_nomem(m->err, NULL);

	for (size_t i = 0; i < m->communicators.n && list; i++) {
		const struct mg_source *s = &m->sources[m->communicator_source.p[i]];
		const struct mg_held *h = &m->communicators.p[i];
		struct nsx_rec rec = { h->kind, h->has, h->v };
		list[i] = (struct member){ *h, -1, -1 };
		if (nsx_has(&rec, NSX_COMMUNICATOR_profile))
			list[i].profile = m->profiles.p[nsx_merge_remap_get(&s->profile_of,
				h->v[NSX_COMMUNICATOR_profile].i)].number;
		if (nsx_has(&rec, NSX_COMMUNICATOR_device))
			list[i].device = m->devices.p[nsx_merge_remap_get(&s->device_of,
				h->v[NSX_COMMUNICATOR_device].i)].number;
	}
	if (list)
		qsort(list, m->communicators.n, sizeof *list, compare_members);
	for (size_t i = 0; i < m->communicators.n && rc == NSX_OK; i++) {
		struct nsx_rec rec = copy(&list[i].rec, v);
		if (nsx_has(&rec, NSX_COMMUNICATOR_profile))
			rec.v[NSX_COMMUNICATOR_profile].i = list[i].profile;
		if (nsx_has(&rec, NSX_COMMUNICATOR_device))
			rec.v[NSX_COMMUNICATOR_device].i = list[i].device;
		rc = put(m, &rec);
	}
	free(list);
	return rc;
}

/* Streams that were aligned separately use the same numbers for different components: number them again, by lowest
 * device. */
static int
emit_clocks(struct mg *m)
{
	struct place *order = places(m, m->clocks.n);
	struct nsx_map components = { 0 };
	union nsx_val v[NSX_MAX_COLS];
	int rc = order ? NSX_OK : NSX_ERR;
	uint32_t next = 0;

	for (size_t i = 0; i < m->clocks.n && order; i++) {
		const struct mg_source *s = &m->sources[m->clock_source.p[i]];
		order[i].a = m->devices.p[nsx_merge_remap_get(&s->device_of,
		                                              m->clocks.p[i].v[NSX_CLOCK_device].i)].number;
		order[i].i = i;
	}
	if (order)
		qsort(order, m->clocks.n, sizeof *order, by_place);
	for (size_t i = 0; i < m->clocks.n && rc == NSX_OK; i++) {
		uint32_t source = m->clock_source.p[order[i].i];
		struct nsx_rec rec = copy(&m->clocks.p[order[i].i], v);
		nsx_set_i(&rec, NSX_CLOCK_device, order[i].a);
		if (nsx_has(&rec, NSX_CLOCK_profile))
			rec.v[NSX_CLOCK_profile].i =
				m->profiles.p[nsx_merge_remap_get(&m->sources[source].profile_of,
					rec.v[NSX_CLOCK_profile].i)].number;
		if (nsx_has(&rec, NSX_CLOCK_component)) {
			uint32_t *at = nsx_map_at(&components, (struct nsx_key){ source,
				(uint64_t)rec.v[NSX_CLOCK_component].i });
			if (!at) {
				rc = nsx_err_nomem(m->err, NULL);
				break;
			}
			if (*at == NSX_NONE)
				*at = next++;
			rec.v[NSX_CLOCK_component].i = *at;
		}
		rc = put(m, &rec);
	}
	nsx_map_free(&components);
	free(order);
	return rc;
}

/* Aliases in order of (profile, program, id). */
static struct place *
alias_order(struct mg *m)
{
	struct place *order = places(m, m->aliases.n);

	for (size_t i = 0; i < m->aliases.n && order; i++) {
		const struct mg_alias *a = &m->aliases.p[i];
		order[i] = (struct place){ m->profiles.p[a->profile].number, a->ours, a->id, i };
	}
	if (order)
		qsort(order, m->aliases.n, sizeof *order, by_place);
	return order;
}

static int
emit_programs(struct mg *m, const struct place *order)
{
	uint32_t *first = malloc((m->match.nprograms + 1) * sizeof *first);
	union nsx_val v[NSX_MAX_COLS];
	int rc = first ? NSX_OK : nsx_err_nomem(m->err, NULL);

	/* A program's other columns are those of the first profile that has it. */
	for (size_t i = m->aliases.n; i-- > 0 && first;)
		first[order[i].b] = m->aliases.p[order[i].i].program;
	for (size_t i = 0; i < m->match.nprograms && rc == NSX_OK; i++) {
		const struct nsx_match_program *p = &m->match.programs[i];
		struct nsx_rec rec = copy(&m->programs.p[first[i]].rec, v);
		nsx_set_i(&rec, NSX_PROGRAM_program, (int64_t)i);
		nsx_clear(&rec, NSX_PROGRAM_id);
		if (p->id >= 0)
			nsx_set_i(&rec, NSX_PROGRAM_id, p->id);
		nsx_set_s(&rec, NSX_PROGRAM_name, p->name);
		nsx_set_s(&rec, NSX_PROGRAM_fingerprint, p->fingerprint);
		nsx_set_s(&rec, NSX_PROGRAM_key, p->key);
		rc = put(m, &rec);
	}
	free(first);
	return rc;
}

static int
emit_aliases(struct mg *m, const struct place *order)
{
	union nsx_val v[NSX_MAX_COLS];

	for (size_t i = 0; i < m->aliases.n; i++) {
		struct nsx_rec rec = copy(&m->aliases.p[order[i].i].rec, v);
		nsx_set_i(&rec, NSX_ALIAS_profile, order[i].a);
		nsx_set_i(&rec, NSX_ALIAS_program, order[i].b);
		if (put(m, &rec) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

/* ---- instructions, and what they refer to, numbered in order of first use */

struct numbering { uint32_t *number; uint32_t *order; uint32_t n; };

static bool
numbering(struct numbering *x, size_t n)
{
	x->number = malloc((n + 1) * sizeof *x->number);
	x->order = malloc((n + 1) * sizeof *x->order);
	if (!x->number || !x->order)
		return false;
	memset(x->number, 0xff, (n + 1) * sizeof *x->number);
	return true;
}

static void
use(struct numbering *x, uint32_t place)
{
	if (!place || x->number[place] != NSX_NONE)
		return;
	x->order[x->n] = place;
	x->number[place] = x->n++;
}

static void
numbering_free(struct numbering *x)
{
	free(x->number);
	free(x->order);
}

static struct mg_row
row_of(const struct mg *m, const struct mg_inst *inst)
{
	struct mg_row row;

	memcpy(&row, nsx_intern_str(&m->rows, inst->row).ptr, sizeof row);
	return row;
}

static struct mg_loc
loc_of(struct nsx_str list, size_t i)
{
	struct mg_loc loc;

	memcpy(&loc, list.ptr + i * sizeof loc, sizeof loc);
	return loc;
}

static void
number_places(const struct mg *m, const struct place *order, struct numbering *stacks, struct numbering *groups)
{
	for (size_t i = 0; i < m->insts.n; i++) {
		struct mg_row row = row_of(m, &m->insts.p[order[i].i]);
		struct nsx_str locs = nsx_intern_str(&m->lists, row.locs);
		use(groups, row.groups);
		use(stacks, row.stack);
		for (size_t k = 0; k < locs.len / sizeof(struct mg_loc); k++)
			use(stacks, loc_of(locs, k).stack);
	}
}

/* Records of host threads may refer to any stack of their streams; those come after the stacks of instructions, by
 * profile. The numbers are kept. NSX_OK or NSX_ERR. */
static int
number_host_stacks(struct mg *m, struct numbering *stacks)
{
	struct place *order = places(m, m->profiles.n);

	for (size_t i = 0; i < m->profiles.n && order; i++)
		order[i] = (struct place){ m->profiles.p[i].number, 0, 0, i };
	if (order)
		qsort(order, m->profiles.n, sizeof *order, by_place);
	for (size_t i = 0; i < m->profiles.n && order; i++) {
		const struct mg_source *s = &m->sources[m->profiles.p[order[i].i].source];

		for (size_t k = 0; k < s->stacks.n && s->threads; k++)
			use(stacks, s->stacks.p[k]);
	}
	m->stack_number = malloc((m->places.n + 1) * sizeof *m->stack_number);
	if (order && m->stack_number)
		memcpy(m->stack_number, stacks->number, m->places.n * sizeof *m->stack_number);
	free(order);
	return order && m->stack_number ? NSX_OK : nsx_err_nomem(m->err, NULL);
}

/* A record without values, of a kind whose header is in some stream. */
static int
blank(struct mg *m, enum nsx_kind_id id, union nsx_val *v, struct nsx_rec *rec)
{
	if (nsx_merge_declare(m, nsx_kind_builtin(id)) != NSX_OK)
		return NSX_ERR;
	*rec = (struct nsx_rec){ m->kinds[id], 0, v };
	return NSX_OK;
}

static int
emit_places(struct mg *m, enum nsx_kind_id id, int number, int text, const struct numbering *x)
{
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec rec;

	for (uint32_t i = 0; i < x->n; i++) {
		struct mg_place p;
		memcpy(&p, nsx_intern_str(&m->places, x->order[i]).ptr, sizeof p);
		if (blank(m, id, v, &rec) != NSX_OK)
			return NSX_ERR;
		nsx_set_i(&rec, number, i);
		nsx_set_s(&rec, text, nsx_merge_text(m, p.text));
		nsx_merge_set_extras(m, &rec, p.extras);
		if (nsx_write(m->out, &rec) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

static void
set_some(struct nsx_rec *rec, int slot, int64_t v)
{
	if (v != INT64_MIN)
		nsx_set_i(rec, slot, v);
}

static int
emit_inst(struct mg *m, const struct mg_inst *inst, const struct numbering *stacks, const struct numbering *groups)
{
	struct mg_row row = row_of(m, inst);
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec rec;

	if (blank(m, NSX_INST, v, &rec) != NSX_OK)
		return NSX_ERR;
	nsx_set_i(&rec, NSX_INST_program, inst->program);
	nsx_set_i(&rec, NSX_INST_inst, inst->number);
	nsx_set_s(&rec, NSX_INST_name, nsx_merge_text(m, row.name));
	nsx_set_s(&rec, NSX_INST_opcode, nsx_merge_text(m, row.opcode));
	set_some(&rec, NSX_INST_comm, row.comm);
	nsx_set_s(&rec, NSX_INST_collective, nsx_merge_text(m, row.collective));
	set_some(&rec, NSX_INST_bytes, row.bytes);
	if (row.groups)
		nsx_set_i(&rec, NSX_INST_groups, groups->number[row.groups]);
	nsx_set_s(&rec, NSX_INST_op_name, nsx_merge_text(m, row.op_name));
	if (row.stack)
		nsx_set_i(&rec, NSX_INST_stack, stacks->number[row.stack]);
	nsx_set_s(&rec, NSX_INST_scheduling_name, nsx_merge_text(m, row.scheduling_name));
	set_some(&rec, NSX_INST_flops, row.flops);
	nsx_set_s(&rec, NSX_INST_math, nsx_merge_text(m, row.math));
	set_some(&rec, NSX_INST_vector, row.vector);
	set_some(&rec, NSX_INST_mem_bytes, row.mem_bytes);
	nsx_merge_set_extras(m, &rec, row.extras);
	return nsx_write(m->out, &rec);
}

static int
emit_locs(struct mg *m, const struct mg_inst *inst, const struct numbering *stacks)
{
	struct nsx_str list = nsx_intern_str(&m->lists, row_of(m, inst).locs);
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec rec;

	for (size_t k = 0; k < list.len / sizeof(struct mg_loc); k++) {
		struct mg_loc loc = loc_of(list, k);
		if (blank(m, NSX_LOC, v, &rec) != NSX_OK)
			return NSX_ERR;
		nsx_set_i(&rec, NSX_LOC_program, inst->program);
		nsx_set_i(&rec, NSX_LOC_inst, inst->number);
		nsx_set_s(&rec, NSX_LOC_op_name, nsx_merge_text(m, loc.op_name));
		if (loc.stack)
			nsx_set_i(&rec, NSX_LOC_stack, stacks->number[loc.stack]);
		nsx_merge_set_extras(m, &rec, loc.extras);
		if (nsx_write(m->out, &rec) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

static int
emit_insts(struct mg *m)
{
	struct place *order = places(m, m->insts.n);
	struct numbering stacks = { 0 }, groups = { 0 };
	int rc = order && numbering(&stacks, m->places.n) && numbering(&groups, m->places.n) ? NSX_OK
	    : nsx_err_nomem(m->err, NULL);

	if (rc == NSX_OK) {
		for (size_t i = 0; i < m->insts.n; i++)
			order[i] = (struct place){ m->insts.p[i].program, m->insts.p[i].number, 0, i };
		qsort(order, m->insts.n, sizeof *order, by_place);
		number_places(m, order, &stacks, &groups);
		rc = number_host_stacks(m, &stacks);
	}
	if (rc == NSX_OK)
		rc = emit_places(m, NSX_GROUPS, NSX_GROUPS_groups, NSX_GROUPS_members, &groups);
	if (rc == NSX_OK)
		rc = emit_places(m, NSX_STACK, NSX_STACK_stack, NSX_STACK_frames, &stacks);
	for (size_t i = 0; i < m->insts.n && rc == NSX_OK; i++)
		rc = emit_inst(m, &m->insts.p[order[i].i], &stacks, &groups);
	for (size_t i = 0; i < m->insts.n && rc == NSX_OK; i++)
		rc = emit_locs(m, &m->insts.p[order[i].i], &stacks);
	numbering_free(&stacks);
	numbering_free(&groups);
	free(order);
	return rc;
}

int
nsx_merge_write_metadata(struct mg *m)
{
	struct place *order = NULL;
	int rc = emit_profiles(m);

	if (rc == NSX_OK)
		rc = emit_devices(m);
	if (rc == NSX_OK)
		rc = emit_threads(m);
	if (rc == NSX_OK)
		rc = emit_communicators(m);
	if (rc == NSX_OK)
		rc = emit_clocks(m);
	if (rc == NSX_OK)
		rc = (order = alias_order(m)) ? emit_programs(m, order) : NSX_ERR;
	if (rc == NSX_OK)
		rc = emit_aliases(m, order);
	free(order);
	if (rc == NSX_OK)
		rc = emit_insts(m);
	return rc == NSX_OK ? nsx_merge_write_unknown(m) : rc;
}
