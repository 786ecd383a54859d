/* nccl.c -- the NCCL calls that each communicating operation executes, by the range in which it was launched or, in a
 * CUDA graph, captured. */
#include "extract/nccl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sort.h"

/* A communicating operation of a unit. Operations of one unit and one launch of a graph belong together; order: the
 * time of its launch or capture. */
struct joined { uint32_t op, unit; int64_t launch, order; };

/* The peers of the calls of one direction, and their bytes. */
struct way { NSX_VEC(int64_t) peers; int64_t bytes; bool known; };

struct join {
	struct ex_profile   *p;
	NSX_VEC(struct joined) ops;
	struct way           sends, receives;
	struct nsx_map       captured;   /* (process, graph node) -> index in units_of */
	NSX_VEC(struct { uint32_t unit; int64_t order; }) units_of;
	uint64_t             comm;         /* the last communicator, and its id as text; NULL: none yet */
	struct nsx_str       comm_id;
	int64_t              unclear, uncaptured;
};

/* ---- the unit of an operation */

/* By the place where the node was captured: each node is looked up once, for any number of launches of its graph. */
static bool
unit_of_node(struct join *j, const struct nsx_gpu_op *op, struct joined *out)
{
	const struct nsx_trace *t = &j->p->trace;
	uint32_t process = t->devices[op->device].process, *at = nsx_map_at(&j->captured, (struct nsx_key){ process,
		(uint64_t)op->graph_node });

	if (!at)
		return false;
	if (*at == NSX_NONE) {
		const struct nsx_capture *c = nsx_capture_of(t, t->processes[process].gpid, op->graph_node);
		uint32_t range = c ? nsx_extract_range_around(t, c->gtid, c->start) : NSX_NONE;
		if (!nsx_vec_room(&j->units_of, 1))
			return false;
		*at = (uint32_t)j->units_of.n++;
		j->units_of.p[*at].unit = range == NSX_NONE ? NSX_NONE : j->p->nccl->unit_at[range];
		j->units_of.p[*at].order = c ? c->start : 0;
	}
	out->unit = j->units_of.p[*at].unit;
	out->order = j->units_of.p[*at].order;
	out->launch = op->call_start;
	j->uncaptured += out->unit == NSX_NONE;
	return true;
}

/* Operations that NCCL's calls launched, in order of unit, launch of a graph, launch. */
static bool
collect(struct join *j)
{
	const struct nsx_trace *t = &j->p->trace;
	struct ex_nccl *n = j->p->nccl;

	for (uint32_t i = 0; i < t->nops; i++) {
		const struct nsx_gpu_op *op = &t->ops[i];
		struct joined of = { .op = i, .unit = NSX_NONE, .launch = INT64_MIN, .order = op->call_start };
		if (op->type != NSX_OP_KERNEL || !nsx_extract_op_kind(j->p, i))
			continue;
		if (op->graph_node != -1) {
			if (!unit_of_node(j, op, &of))
				return false;
		} else if (op->range != NSX_NONE) {
			of.unit = n->unit_at[op->range];
		}
		if (of.unit == NSX_NONE)
			continue;
		if (!nsx_vec_push(&j->ops, of))
			return false;
		for (uint32_t k = 0; k < n->units.p[of.unit].n; k++)
			n->calls.p[n->units.p[of.unit].first + k].wanted = true;
	}
	return true;
}

static bool
sort_ops(struct join *j)
{
	struct nsx_sort_key *keys = malloc((j->ops.n + 1) * sizeof *keys);

	if (!keys)
		return false;
	for (size_t i = 0; i < j->ops.n; i++)
		keys[i] = (struct nsx_sort_key){ { j->ops.p[i].unit, j->ops.p[i].launch, j->ops.p[i].order },
		                                 (uint32_t)i };
	nsx_sort_keys(keys, j->ops.n);
	nsx_sort_apply(j->ops.p, sizeof *j->ops.p, keys, j->ops.n);
	free(keys);
	return true;
}

/* ---- combining calls */

static bool
is_p2p(uint8_t kind)
{
	return kind == NCCL_SEND || kind == NCCL_RECV;
}

/* Sort, and remove duplicates. */
static void
distinct(struct way *w)
{
	size_t n = 0;

	if (w->peers.n)
		qsort(w->peers.p, w->peers.n, sizeof *w->peers.p, nsx_sort_by_int);
	for (size_t i = 0; i < w->peers.n; i++)
		if (!n || w->peers.p[n - 1] != w->peers.p[i])
			w->peers.p[n++] = w->peers.p[i];
	w->peers.n = n;
}

static bool
add_bytes(int64_t *sum, int64_t bytes)
{
	return bytes >= 0 && !__builtin_add_overflow(*sum, bytes, sum);
}

/* The communicator of all n calls, if they have the same one and it is known. */
static bool
one_comm(const struct nccl_call *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!c[i].has_comm || c[i].comm != c[0].comm)
			return false;
	return n > 0;
}

/* The kind of all n calls: of NCCL_SEND and NCCL_RECV either represents both. NCCL_KINDS: they have several. */
static int
one_kind(const struct nccl_call *c, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (c[i].kind != c[0].kind && !(is_p2p(c[i].kind) && is_p2p(c[0].kind)))
			return NCCL_KINDS;
	return n ? c[0].kind : NCCL_KINDS;
}

/* For calls that are sends and receives only: the collective that a range names (NULL: none), else an all-to-all if all
 * exchange with all, else a transfer between two. False when out of memory. */
static bool
put_p2p(struct join *j, const struct nccl_call *c, uint32_t n, int64_t ranks, uint32_t device, const char *named,
        struct ex_carried *out)
{
	bool peers = true, all_to_all = named && strcmp(named, nsx_nccl_kinds[NCCL_ALL_TO_ALL]) == 0;
	struct way *ways[] = { &j->sends, &j->receives };

	for (int i = 0; i < 2; i++) {
		ways[i]->peers.n = 0;
		ways[i]->bytes = 0;
		ways[i]->known = true;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct way *w = ways[c[i].kind == NCCL_RECV];
		peers &= c[i].peer >= 0;
		w->known &= add_bytes(&w->bytes, c[i].bytes);
		if (c[i].peer >= 0 && !nsx_vec_push(&w->peers, c[i].peer))
			return false;
	}
	distinct(&j->sends);
	distinct(&j->receives);
	int64_t npeers = (int64_t)j->sends.peers.n;
	bool same = peers && j->sends.peers.n == j->receives.peers.n && npeers > 0 &&
	            memcmp(j->sends.peers.p, j->receives.peers.p, j->sends.peers.n * sizeof *j->sends.peers.p) == 0;
	bool every = same && npeers >= 2 && npeers >= ranks - 1;
	if (named && !all_to_all && strcmp(named, nsx_nccl_kinds[NCCL_SEND]) != 0) {
		/* A gather or scatter of sends and receives: only its root knows its size. */
		out->kind = named;
		return true;
	}
	/* In an all-to-all, peers to which nothing is sent may be missing. */
	if (every || all_to_all) {
		out->kind = nsx_nccl_kinds[NCCL_ALL_TO_ALL];
		out->group = ranks ? ranks : every ? npeers : 0;
		out->bytes = j->sends.known ? j->sends.bytes : -1;
		return true;
	}
	out->kind = nsx_nccl_kinds[NCCL_SEND];
	out->group = 2;
	if (j->sends.known && j->receives.known)
		out->bytes = j->sends.bytes > j->receives.bytes ? j->sends.bytes : j->receives.bytes;
	const struct way *only = npeers ? &j->sends : &j->receives;
	int64_t rank = one_comm(c, n) ? nsx_nccl_rank(j->p, c[0].comm, device) : -1;
	if (peers && rank >= 0 && only->peers.n == 1 && (same || !npeers || !j->receives.peers.n)) {
		int64_t peer = only->peers.p[0];
		char text[2 * NSX_INT_CHARS + 2], *end = nsx_put_int(text, rank < peer ? rank : peer);
		*end++ = '-';
		end = nsx_put_int(end, rank < peer ? peer : rank);
		out->pair = nsx_extract_keep(j->p, (struct nsx_str){ text, (size_t)(end - text) });
	}
	return true;
}

/* Calls of one kind other than sends and receives: sizes add up, those given per peer times the number of ranks. */
static void
put_bytes(const struct nccl_call *c, uint32_t n, int64_t ranks, struct ex_carried *out)
{
	bool by_peer = c->kind == NCCL_ALL_TO_ALL || c->kind == NCCL_GATHER || c->kind == NCCL_SCATTER,
	    known = !by_peer || ranks > 0;
	int64_t sum = 0;

	for (uint32_t i = 0; i < n && known; i++)
		known = add_bytes(&sum, c[i].bytes);
	if (known && by_peer)
		known = !__builtin_mul_overflow(sum, ranks, &sum);
	out->bytes = known ? sum : -1;
}

/* The operation that executes these n calls together; all members false: they are more than one operation. False when
 * out of memory. */
static bool
put_carried(struct join *j, uint32_t first, uint32_t n, bool all, uint32_t op)
{
	uint32_t device = j->p->trace.ops[op].device;
	const char *named = nsx_extract_op_named(j->p, op);
	struct ex_nccl *x = j->p->nccl;
	const struct nccl_call *c = x->calls.p + first;
	struct ex_carried out = { .bytes = -1, .calls = all && n ? (int64_t)n : -1 };
	int64_t ranks = 0;
	int kind = one_kind(c, n);

	if (one_comm(c, n)) {
		if (!j->comm_id.ptr || j->comm != c->comm) {
			char hex[17];
			snprintf(hex, sizeof hex, "%016" PRIx64, c->comm);
			j->comm_id = nsx_extract_keep(j->p, nsx_str_c(hex));
			j->comm = c->comm;
		}
		out.comm_id = j->comm_id;
		ranks = nsx_nccl_ranks(x, c->comm);
	}
	out.group = ranks;
	if (kind != NCCL_KINDS && is_p2p((uint8_t)kind)) {
		if (all && !put_p2p(j, c, n, ranks, device, named, &out))
			return false;
		if (!all && named) {
			out.kind = named;
		} else if (!all) {
			out.kind = nsx_nccl_kinds[NCCL_SEND];
			out.group = 2;
		}
	} else if (kind != NCCL_KINDS) {
		out.kind = nsx_nccl_kinds[kind];
		if (all)
			put_bytes(c, n, ranks, &out);
	} else if (all && n) {
		out.kind = "mixed";
	}
	if (j->p->rc != NSX_OK)
		return false;
	/* The same data recur in every step: equal ones are stored once. */
	x->op_carried[op] = nsx_intern(&x->carried, (struct nsx_str){ (const char *)&out, sizeof out });
	return x->op_carried[op] != NSX_NONE;
}

/* ---- operations to calls */

/* Operations [a, b) of one unit and launch. */
static bool
join_run(struct join *j, size_t a, size_t b)
{
	struct ex_nccl *n = j->p->nccl;
	const struct nccl_unit *u = &n->units.p[j->ops.p[a].unit];
	bool together = b - a == 1, apart = !together && b - a == u->n;

	j->unclear += together || apart ? 0 : (int64_t)(b - a);
	for (size_t i = a; i < b; i++) {
		const struct joined *of = &j->ops.p[i];
		uint32_t first = u->first + (apart ? (uint32_t)(i - a) : 0);
		if (!put_carried(j, first, apart ? 1 : u->n, together || apart, of->op))
			return false;
	}
	return true;
}

static bool
join_all(struct join *j)
{
	struct ex_nccl *n = j->p->nccl;

	n->op_carried = malloc(((size_t)j->p->trace.nops + 1) * sizeof *n->op_carried);
	if (!n->op_carried)
		return false;
	memset(n->op_carried, 0xff, ((size_t)j->p->trace.nops + 1) * sizeof *n->op_carried);
	for (size_t a = 0, b; a < j->ops.n; a = b) {
		for (b = a + 1; b < j->ops.n && j->ops.p[b].unit == j->ops.p[a].unit && j->ops.p[b].launch ==
		     j->ops.p[a].launch; b++)
			;
		if (!join_run(j, a, b))
			return false;
	}
	return true;
}

static void
report(struct join *j)
{
	struct nsx_diags *d = &j->p->diags;
	const char *who = j->p->trace.name.ptr;

	nsx_diag_add(d, NSX_WARNING, who, j->unclear,
	             "operations of NCCL calls that are neither one per call nor one for all calls: no sizes");
	nsx_diag_add(d, NSX_INFO, who, j->uncaptured,
		"communicating nodes of CUDA graphs that no NCCL call of the export captured: known by their kernel "
		"names only");
}

/* Free what is no longer used once operations have their data. */
static void
drop_calls(struct ex_nccl *n)
{
	free(n->unit_at);
	free(n->calls.p);
	free(n->units.p);
	n->unit_at = NULL;
	memset(&n->calls, 0, sizeof n->calls);
	memset(&n->units, 0, sizeof n->units);
}

int
nsx_extract_find_nccl(struct ex_profile *p)
{
	struct join j = { .p = p };
	int rc;

	if (!p->opts->ops || !p->trace.nops || (!p->trace.nranges && !p->trace.op_comm))
		return NSX_OK;
	if (!(p->nccl = calloc(1, sizeof *p->nccl)))
		return nsx_err_nomem(&p->err, p->input->path);
	if (p->trace.op_comm)
		return nsx_nccl_take_known(p);
	if ((rc = nsx_nccl_find_calls(p)) != NSX_OK || !p->nccl->units.n)
		return rc;
	bool good = collect(&j) && sort_ops(&j);
	if (good && (rc = nsx_nccl_read_calls(p)) == NSX_OK)
		good = join_all(&j);
	if (good && rc == NSX_OK) {
		report(&j);
		drop_calls(p->nccl);
	} else if (rc == NSX_OK)
		rc = p->rc != NSX_OK ? p->rc : nsx_err_nomem(&p->err, p->input->path);
	free(p->nccl->unit_at);
	p->nccl->unit_at = NULL;
	free(j.ops.p);
	free(j.units_of.p);
	free(j.sends.peers.p);
	free(j.receives.peers.p);
	nsx_map_free(&j.captured);
	return rc;
}

const struct ex_carried *
nsx_extract_op_carried(const struct ex_profile *p, uint32_t i)
{
	uint32_t at = p->nccl && p->nccl->op_carried ? p->nccl->op_carried[i] : NSX_NONE;

	return at == NSX_NONE ? NULL : (const void *)nsx_intern_str(&p->nccl->carried, at).ptr;
}

void
nsx_extract_nccl_free(struct ex_profile *p)
{
	struct ex_nccl *n = p->nccl;

	if (!n)
		return;
	drop_calls(n);
	free(n->places.p);
	nsx_intern_free(&n->carried);
	free(n->op_carried);
	nsx_map_free(&n->ranks);
	free(n);
	p->nccl = NULL;
}
