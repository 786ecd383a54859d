/* hlo_dump.c -- a dump in the form for its users: instructions by name and by id, made of the decoded messages. */
#include "xla/hlo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"
#include "xla/hlo_int.h"

enum { LOCS_MAX = 1 << 23 };

static const struct { enum nsx_severity severity; const char *text; } misses[NSX_HLO_MISSES] = {
	[NSX_HLO_CLASH]          = { NSX_WARNING,
	                             "fields of the dump of an unexpected wire type: skipped" },
	[NSX_HLO_NO_SIZE]        = { NSX_WARNING, "transfers whose shape has no known size" },
	[NSX_HLO_NO_ASSIGNMENT]  = { NSX_WARNING,
		"collectives whose logical ids are taken as global device indices: the dump has no device assignment" },
	[NSX_HLO_BAD_ASSIGNMENT] = { NSX_WARNING, "device assignments that could not be parsed: ignored" },
	[NSX_HLO_BAD_GROUPS]     = { NSX_WARNING,
	                             "collectives whose replica groups could not be parsed: all devices are assumed"
	                             },
	[NSX_HLO_BAD_DEVICE]     = { NSX_WARNING,
		"collectives with logical ids outside the device assignment: taken as global device indices"
		},
	[NSX_HLO_UNEQUAL]        = { NSX_WARNING,
		"reduce-scatters with groups of different sizes: bytes are computed with the first group" },
	[NSX_HLO_MIXED]          = { NSX_WARNING, "instructions with transfers of several kinds: one kind is reported"
	                             },
	[NSX_HLO_BAD_FRAME]      = { NSX_WARNING, "source stacks with unknown or repeated frames: incomplete" },
	[NSX_HLO_MANY_FRAMES]    = { NSX_WARNING, "source stacks ignored: too many" },
	[NSX_HLO_SAME_NAME]      = { NSX_WARNING, "instructions with the same name as another: ignored" },
	[NSX_HLO_NO_NAME]        = { NSX_WARNING, "instructions without a name: ignored" },
	[NSX_HLO_NO_CALLEE]      = { NSX_WARNING, "called computations that are not in the dump" },
	[NSX_HLO_MANY_LOCS]      = { NSX_WARNING, "places of instructions ignored: too many" },
	[NSX_HLO_SAME_COMP]      = { NSX_WARNING, "computations with the same id as another" },
	[NSX_HLO_NO_ENTRY]       = { NSX_WARNING, "the dump does not name its entry computation" },
	[NSX_HLO_BAD_COST]       = { NSX_WARNING,
		"instructions whose work is not known: the dump contradicts itself or lacks a shape or attribute" },
	[NSX_HLO_LARGE_COST]     = { NSX_WARNING,
	                             "instructions whose work is not known: it exceeds 64 bits" },
};

static struct nsx_str
string(const struct nsx_hlo_build *b, uint32_t s)
{
	return s == NSX_NONE ? (struct nsx_str){ "", 0 } : nsx_intern_str(&b->strs, s);
}

/* ---- calls */

static uint32_t
callee(const struct nsx_hlo_build *b, uint32_t call)
{
	return nsx_map_get(&b->comp_by_id, (struct nsx_key){ (uint64_t)b->calls.p[call].comp, 0 });
}

/* The instruction opcode that calls each computation; a computation without a caller in the dump is the entry or
 * unused. */
static void
mark_called(struct nsx_hlo_build *b)
{
	for (size_t i = 0; i < b->calls.n; i++) {
		uint32_t c = callee(b, (uint32_t)i);
		if (c == NSX_NONE)
			b->missed[NSX_HLO_NO_CALLEE]++;
		else if (b->calls.p[i].embedded)
			b->comps.p[c].embedded = true;
		else
			b->comps.p[c].controlled = true;
	}
}

static bool
executable(const struct nsx_hlo_comp *c)
{
	return c->entry || (!c->fused && (c->controlled || !c->embedded));
}

/* The transfers of computation c and of all that it calls, counted once per call. Calls may be nested to any depth and,
 * in a malformed dump, be cyclic. */
static int
resolve(struct nsx_hlo_build *b, uint32_t c)
{
	NSX_VEC(struct { uint32_t comp, next; }) open = { 0 };
	int rc = NSX_OK;

	if (b->comps.p[c].resolved)
		return NSX_OK;
	for (uint32_t enter = c;;) {
		if (enter != NSX_NONE) {
			if (!nsx_vec_room(&open, 1)) {
				rc = nsx_hlo_nomem(b);
				break;
			}
			b->comps.p[enter].resolved = 1;
			open.p[open.n].comp = enter;
			open.p[open.n++].next = 0;
			enter = NSX_NONE;
		}
		struct nsx_hlo_comp *top = &b->comps.p[open.p[open.n - 1].comp];
		if (open.p[open.n - 1].next < top->ncalls) {
			uint32_t sub = callee(b, top->calls + open.p[open.n - 1].next);
			if (sub != NSX_NONE && b->comps.p[sub].resolved == 0) {
				enter = sub;
				continue;
			}
			if (sub != NSX_NONE && b->comps.p[sub].resolved == 2)
				nsx_hlo_comm_add(&top->comm, &b->comps.p[sub].comm);
			open.p[open.n - 1].next++;
			continue;
		}
		top->resolved = 2;
		if (--open.n == 0)
			break;
	}
	free(open.p);
	return rc;
}

static int
resolve_wrapper(struct nsx_hlo_build *b, struct nsx_hlo_cand *c)
{
	for (uint32_t i = 0; i < c->ncalls; i++) {
		uint32_t sub = callee(b, c->calls + i);
		if (sub == NSX_NONE)
			continue;
		if (resolve(b, sub) != NSX_OK)
			return NSX_ERR;
		nsx_hlo_comm_add(&c->comm, &b->comps.p[sub].comm);
	}
	b->missed[NSX_HLO_MIXED] += c->comm.mixed;
	return NSX_OK;
}

/* ---- places */

/* round: a value of stamps above all that reading has set. */
struct locs { NSX_VEC(struct nsx_hlo_loc) v; uint32_t round; };

/* The source locations of the direct instructions of the computations that c calls, each once, without c's own. */
static int
add_locs(struct nsx_hlo_build *b, struct locs *l, const struct nsx_hlo_cand *c, struct nsx_hlo_inst *out)
{
	out->locs = (uint32_t)l->v.n;
	l->round++;
	if (c->pair != NSX_NONE)
		b->pairs.p[c->pair].stamp = l->round;
	for (uint32_t i = 0; i < c->ncalls; i++) {
		uint32_t sub = callee(b, c->calls + i);
		if (sub == NSX_NONE)
			continue;
		const struct nsx_hlo_comp *comp = &b->comps.p[sub];
		if (l->v.n + comp->npairs > LOCS_MAX) {
			b->missed[NSX_HLO_MANY_LOCS]++;
			break;
		}
		for (uint32_t k = 0; k < comp->npairs; k++) {
			uint32_t p = b->pair_refs.p[comp->pairs + k];
			if (b->pairs.p[p].stamp == l->round)
				continue;
			b->pairs.p[p].stamp = l->round;
			if (!nsx_vec_push(&l->v, ((struct nsx_hlo_loc){ string(b, b->pairs.p[p].op_name),
			    b->pairs.p[p].stack })))
				return nsx_hlo_nomem(b);
		}
	}
	out->nlocs = (uint32_t)l->v.n - out->locs;
	return NSX_OK;
}

/* ---- assembly */

/* The candidates that are kept, sorted by name. head: the first bytes of the name as numbers in their order. */
struct kept { uint64_t head[2]; struct nsx_str name; uint32_t cand; };

static struct kept
keep(struct nsx_str name, uint32_t cand)
{
	struct kept k = { { 0, 0 }, name, cand };

	for (size_t i = 0; i < 16; i++)
		k.head[i / 8] = k.head[i / 8] << 8 | (i < name.len ? (unsigned char)name.ptr[i] : 0);
	return k;
}

NSX_ORDER(by_name, struct kept, NSX_CMP(a->head[0], b->head[0]), NSX_CMP(a->head[1], b->head[1]),
          nsx_str_cmp(a->name, b->name), NSX_CMP(a->cand, b->cand))

/* The computations that it calls, and its position in its own. */
static void
describe_calls(const struct nsx_hlo_build *b, const struct nsx_hlo_cand *c, struct nsx_hlo_inst *out)
{
	const struct nsx_hlo_comp *comp = &b->comps.p[c->comp];

	out->calls = c->calls;
	out->ncalls = c->ncalls;
	out->root = c->root;
	out->scheduled = b->schedule.n ? nsx_hlo_schedule_at(b, comp->id, c->id) != NSX_NONE : !comp->fused;
}

/* Communication, and names of instructions within a fusion, have no cost. */
static int
fill_cost(struct nsx_hlo_build *b, uint32_t cand, struct nsx_hlo_inst *out)
{
	enum nsx_cost_state why;

	if (out->comm || !executable(&b->comps.p[b->cands.p[cand].comp]))
		return NSX_OK;
	if (!nsx_costs_of(&b->costs, &b->comp_by_id, cand, &out->cost, &why))
		return nsx_hlo_nomem(b);
	b->missed[NSX_HLO_BAD_COST] += why == NSX_COST_BAD;
	b->missed[NSX_HLO_LARGE_COST] += why == NSX_COST_OVERFLOW;
	return NSX_OK;
}

static int
fill_inst(struct nsx_hlo_build *b, struct locs *l, const struct kept *k, struct nsx_hlo_inst *out)
{
	struct nsx_hlo_cand *c = &b->cands.p[k->cand];

	if (c->wrapper && resolve_wrapper(b, c) != NSX_OK)
		return NSX_ERR;
	*out = (struct nsx_hlo_inst){
		.name = k->name, .opcode = string(b, c->opcode), .scheduling_name = string(b, c->scheduling_name),
		.op_name = c->pair == NSX_NONE ? (struct nsx_str){ "", 0 } : string(b, b->pairs.p[c->pair].op_name),
		.stack = c->pair == NSX_NONE ? (uint32_t)NSX_NONE : b->pairs.p[c->pair].stack,
		.collective = nsx_hlo_kind_name(c->comm.kind),
		.unique_id = c->id, .bytes = c->comm.bytes, .groups = c->comm.groups,
		.comm = c->comm.kind != NSX_HLO_NO_COMM, .entry = b->comps.p[c->comp].entry,
		.comp = c->comp, .order = nsx_hlo_schedule_at(b, b->comps.p[c->comp].id, c->id),
		.thunk = executable(&b->comps.p[c->comp])
	};
	/* Without a schedule: the order of the dump, in which operands precede their users. */
	if (out->order == NSX_NONE)
		out->order = k->cand;
	describe_calls(b, c, out);
	if (fill_cost(b, k->cand, out) != NSX_OK)
		return NSX_ERR;
	return add_locs(b, l, c, out);
}

/* The ids of instructions in both forms: as in the dump if they are unique, and with the number of the computation in
 * the upper half, as XLA writes those that count within their computation into titles. */
static int
index_ids(struct nsx_hlo_build *b, struct nsx_hlo *h, const struct kept *kept)
{
	const uint32_t shared = NSX_NONE - 1;

	if (!nsx_map_room(&h->by_id, h->ninsts))
		return nsx_hlo_nomem(b);
	for (uint32_t i = 0; i < h->ninsts; i++) {
		uint32_t *at = nsx_map_at(&h->by_id, (struct nsx_key){ (uint64_t)h->insts[i].unique_id, 0 });
		if (!at)
			return nsx_hlo_nomem(b);
		*at = *at == NSX_NONE ? i : shared;
	}
	for (uint32_t i = 0; i < h->ninsts; i++) {
		uint64_t id = (uint64_t)h->insts[i].unique_id;
		uint64_t comp = (uint64_t)b->comps.p[b->cands.p[kept[i].cand].comp].id;
		if (id >> 32 || comp == 0 || comp >> 31)
			continue;
		if (nsx_map_get(&h->by_id, (struct nsx_key){ id, 0 }) == shared)
			h->insts[i].unique_id = (int64_t)(comp << 32 | id);
		uint32_t *at = nsx_map_at(&h->by_id, (struct nsx_key){ comp << 32 | id, 0 });
		if (!at)
			return nsx_hlo_nomem(b);
		if (*at == NSX_NONE)
			*at = i;
	}
	for (uint32_t i = 0; i < h->ninsts; i++) {
		/* An id that several instructions have identifies none. */
		uint64_t id = (uint64_t)b->cands.p[kept[i].cand].id;
		uint32_t *at = nsx_map_at(&h->by_id, (struct nsx_key){ id, 0 });
		if (!at)
			return nsx_hlo_nomem(b);
		if (*at == shared)
			*at = NSX_NONE;
	}
	return NSX_OK;
}

/* The candidates that a thunk can refer to, sorted by name; *digest is of the names of the entry computation. NULL when
 * out of memory. */
static struct kept *
keep_executable(struct nsx_hlo_build *b, size_t *count, uint64_t *digest)
{
	struct kept *kept = malloc((b->cands.n + 1) * sizeof *kept);
	size_t n = 0, distinct = 0;

	if (!kept)
		return NULL;
	for (size_t i = 0; i < b->cands.n; i++)
		if (executable(&b->comps.p[b->cands.p[i].comp]) || b->cands.p[i].named)
			kept[n++] = keep(string(b, b->cands.p[i].name), (uint32_t)i);
	qsort(kept, n, sizeof *kept, by_name);
	*digest = 0;
	for (size_t i = 0; i < n; i++) {
		if (b->comps.p[b->cands.p[kept[i].cand].comp].entry)
			*digest = nsx_hash_u64(*digest ^ nsx_hash(kept[i].name.ptr, kept[i].name.len)) + 1;
		if (distinct && nsx_str_eq(kept[i].name, kept[distinct - 1].name))
			b->missed[NSX_HLO_SAME_NAME]++;
		else
			kept[distinct++] = kept[i];
	}
	*count = distinct;
	return kept;
}

static int
make_insts(struct nsx_hlo_build *b, struct nsx_hlo *h, uint64_t *digest)
{
	struct locs l = { .round = (uint32_t)b->comps.n };
	size_t n;
	int rc = NSX_OK;
	struct kept *kept = keep_executable(b, &n, digest);

	if (!kept)
		return nsx_hlo_nomem(b);
	h->insts = malloc((n + 1) * sizeof *h->insts);
	if (!h->insts)
		rc = nsx_hlo_nomem(b);
	for (size_t i = 0; rc == NSX_OK && i < n; i++) {
		rc = fill_inst(b, &l, &kept[i], &h->insts[i]);
		h->ninsts = (uint32_t)i + 1;
	}
	if (rc == NSX_OK)
		rc = index_ids(b, h, kept);
	free(kept);
	h->locs = l.v.p;
	h->nlocs = (uint32_t)l.v.n;
	return rc;
}

/* Numbers of strings to strings; NULL when out of memory. */
static struct nsx_str *
strings(const struct nsx_hlo_build *b, const uint32_t *s, size_t n)
{
	struct nsx_str *out = malloc((n + 1) * sizeof *out);

	for (size_t i = 0; out && i < n; i++)
		out[i] = nsx_intern_str(&b->strs, s[i]);
	return out;
}

static int
assemble(struct nsx_hlo_build *b, struct nsx_hlo *h)
{
	uint64_t digest = 0;
	char text[32];

	mark_called(b);
	nsx_hlo_schedule_sort(b);
	if (make_insts(b, h, &digest) != NSX_OK)
		return NSX_ERR;
	h->stacks = strings(b, b->stacks.p, b->stacks.n);
	h->groups = strings(b, b->groups.p, b->groups.n);
	if (!h->stacks || !h->groups || nsx_hlo_contents_keep(b, h) != NSX_OK)
		return nsx_hlo_nomem(b);
	h->nstacks = (uint32_t)b->stacks.n;
	h->ngroups = (uint32_t)b->groups.n;
	h->id = b->id;
	h->name = b->module;
	h->fingerprint = b->fingerprint;
	snprintf(text, sizeof text, "d:%016" PRIx64, digest);
	h->digest = nsx_arena_str(&b->strs.arena, nsx_str_c(text));
	if (!h->digest.ptr)
		return nsx_hlo_nomem(b);
	/* Every string is in the table's arena, whose ownership moves to h. */
	h->arena = b->strs.arena;
	b->strs.arena = (struct nsx_arena){ 0 };
	return NSX_OK;
}

static int
report(const struct nsx_hlo_build *b, const struct nsx_hlo *h, struct nsx_diags *diags)
{
	char *source = nsx_str_dup(h->name);

	if (!source)
		return nsx_dumpfile_nomem(b->f);
	for (int i = 0; i < NSX_HLO_MISSES; i++)
		nsx_diag_add(diags, misses[i].severity, source, b->missed[i], "%s", misses[i].text);
	free(source);
	return NSX_OK;
}

static void
build_free(struct nsx_hlo_build *b)
{
	nsx_unpacker_free(&b->u);
	nsx_intern_free(&b->strs);
	free(b->comps.p);
	nsx_map_free(&b->comp_by_id);
	free(b->cands.p);
	free(b->calls.p);
	free(b->pair_refs.p);
	free(b->pairs.p);
	nsx_map_free(&b->pair_by_key);
	free(b->devices.device);
	nsx_hlo_frames_free(&b->frames);
	free(b->schedule.p);
	free(b->stacks.p);
	free(b->groups.p);
	nsx_map_free(&b->stack_by_str);
	nsx_map_free(&b->group_by_str);
	free(b->payloads.p);
	nsx_costs_free(&b->costs);
}

int
nsx_hlo_parse(struct nsx_dumpfile *f, struct nsx_hlo *h, struct nsx_diags *diags)
{
	struct nsx_hlo_build b = { .f = f, .u = { .f = f } };

	*h = (struct nsx_hlo){ 0 };
	int rc = nsx_hlo_load(&b);
	if (rc == NSX_OK)
		rc = assemble(&b, h);
	if (rc == NSX_OK)
		rc = report(&b, h, diags);
	if (rc != NSX_OK)
		nsx_hlo_free(h);
	build_free(&b);
	return rc;
}

/* ---- the interface */

int
nsx_hlo_read(const char *path, struct nsx_hlo *h, struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_dumpfile f;

	*h = (struct nsx_hlo){ 0 };
	if (nsx_dumpfile_open(&f, path, err) != NSX_OK) {
		h->trouble = f.trouble;
		return NSX_ERR;
	}
	int rc = nsx_hlo_parse(&f, h, diags);
	h->trouble = rc != NSX_OK && f.trouble;
	nsx_dumpfile_close(&f);
	return rc;
}

int
nsx_hlo_read_bytes(struct nsx_str bytes, const char *name, struct nsx_hlo *h, struct nsx_diags *diags,
                   struct nsx_err *err)
{
	struct nsx_dumpfile f;

	nsx_dumpfile_memory(&f, bytes.ptr, bytes.len, name, err);
	int rc = nsx_hlo_parse(&f, h, diags);
	h->trouble = rc != NSX_OK && f.trouble;
	nsx_dumpfile_close(&f);
	return rc;
}

static int
inst_by_name(const void *name, const void *inst)
{
	return nsx_str_cmp(*(const struct nsx_str *)name, ((const struct nsx_hlo_inst *)inst)->name);
}

const struct nsx_hlo_inst *
nsx_hlo_find(const struct nsx_hlo *h, struct nsx_str name)
{
	return h->ninsts ? bsearch(&name, h->insts, h->ninsts, sizeof *h->insts, inst_by_name) : NULL;
}

const struct nsx_hlo_inst *
nsx_hlo_find_id(const struct nsx_hlo *h, int64_t unique_id)
{
	uint32_t i = nsx_map_get(&h->by_id, (struct nsx_key){ (uint64_t)unique_id, 0 });

	return i == NSX_NONE ? NULL : &h->insts[i];
}

void
nsx_hlo_free(struct nsx_hlo *h)
{
	free(h->insts);
	free(h->locs);
	free(h->stacks);
	free(h->groups);
	nsx_map_free(&h->by_id);
	nsx_hlo_contents_free(h);
	nsx_arena_free(&h->arena);
	*h = (struct nsx_hlo){ 0 };
}
