/* ranges.c -- fold GPU operations by the NVTX ranges around their launch. Holds the ranges that are open on the host or
 * on the GPU, their names and the paths that have operations; never the whole stream's ranges. */
#include <stdlib.h>

#include "draw/fold/fold.h"
#include "stream/order.h"

enum {
	RESOLVING = NSX_NONE - 1,    /* a node that is being looked for: who meets it again is in a circle */
	UNRESOLVED = NSX_NONE,
	FEW = 4096                   /* ranges worth looking through for closed ones */
};

/* Clocks corrected one by one may move an operation a little past the end of its range. */
#define LATE INT64_C(10000000)

struct range {
	int64_t  profile, range, parent;
	int64_t  end;
	uint32_t frame;
	uint32_t node;         /* of its stack, once an operation asked for it */
	bool     has_parent;
};

struct ranges {
	struct nsx_stacks *stacks;
	struct nsx_err    *err;
	bool               kernel;
	NSX_VEC(struct range) open;
	struct nsx_map     index;       /* (profile, range) -> open */
	size_t             limit;       /* look for closed ones when there are this many */
	NSX_VEC(uint32_t)  chain;
	struct nsx_buf     name;
	uint32_t           none;        /* the stack of operations without a range */
	bool               any_op, any_range;
	int64_t            lost, orphans, timeless;
};

static void *
ranges_open(struct nsx_reader *in, const struct nsx_fold_options *options, struct nsx_stacks *stacks, struct nsx_err *err)
{
	struct ranges *r = calloc(1, sizeof *r);

	if (!r) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	(void)in;
	r->stacks = stacks;
	r->err = err;
	r->kernel = options->by == NSX_FOLD_KERNEL;
	r->limit = FEW;
	r->none = UNRESOLVED;
	return r;
}

static struct nsx_key
key_of(int64_t profile, int64_t range)
{
	return (struct nsx_key){ (uint64_t)profile, (uint64_t)range };
}

/* Forget the ranges that were over before `now`. */
static int
forget(struct ranges *r, int64_t now)
{
	size_t kept = 0;

	nsx_map_free(&r->index);
	for (size_t i = 0; i < r->open.n; i++) {
		const struct range *g = &r->open.p[i];
		uint32_t *at;

		if (nsx_add_sat(g->end, LATE, NULL) < now)
			continue;
		at = nsx_map_at(&r->index, key_of(g->profile, g->range));
		if (!at)
			return nsx_err_nomem(r->err, NULL);
		*at = (uint32_t)kept;
		r->open.p[kept++] = *g;
	}
	r->open.n = kept;
	r->limit = 2 * kept > FEW ? 2 * kept : FEW;
	return NSX_OK;
}

static int
take_range(struct ranges *r, const struct nsx_rec *rec)
{
	int64_t now = 0;
	struct nsx_str name = nsx_string(rec, NSX_RANGE_name);
	struct range g = {
		.profile = nsx_int(rec, NSX_RANGE_profile, INT64_MIN),
		.range = nsx_int(rec, NSX_RANGE_range, INT64_MIN),
		.parent = nsx_int(rec, NSX_RANGE_parent, 0),
		.has_parent = nsx_has(rec, NSX_RANGE_parent),
		.end = nsx_order_end(rec),
		.node = UNRESOLVED,
	};

	r->any_range = true;
	if (!nsx_has(rec, NSX_RANGE_start))
		return NSX_OK;   /* no GPU work: no operation will name it */
	nsx_order_time(rec, &now);
	if (r->open.n >= r->limit && forget(r, now) != NSX_OK)
		return NSX_ERR;
	if (r->open.n >= RESOLVING)
		return nsx_err_set(r->err, "more than %u ranges open at a time", (unsigned)RESOLVING - 1);
	if (name.len == 0)
		name = NSX_STR("[unnamed]");
	if (nsx_has(rec, NSX_RANGE_domain)) {
		r->name.len = 0;
		nsx_buf_str(&r->name, rec->v[NSX_RANGE_domain].s);
		nsx_buf_char(&r->name, ':');
		nsx_buf_str(&r->name, name);
		if (r->name.failed)
			return nsx_err_nomem(r->err, NULL);
		name = nsx_buf_view(&r->name);
	}
	g.frame = nsx_stacks_frame(r->stacks, name);
	uint32_t *at = nsx_map_at(&r->index, key_of(g.profile, g.range));
	if (g.frame == NSX_NONE || !at || !nsx_vec_push(&r->open, g))
		return nsx_err_nomem(r->err, NULL);
	*at = (uint32_t)(r->open.n - 1);
	return NSX_OK;
}

/* The stack of an open range, NSX_NONE when out of memory. A parent may stand after its child when both start at
 * once, so it is looked for when the first operation comes. */
static uint32_t
resolve(struct ranges *r, uint32_t at)
{
	uint32_t node = NSX_STACKS_ROOT;

	r->chain.n = 0;
	while (r->open.p[at].node == UNRESOLVED) {
		struct range *g = &r->open.p[at];

		g->node = RESOLVING;
		if (!nsx_vec_push(&r->chain, at))
			return NSX_NONE;
		if (!g->has_parent)
			break;
		uint32_t up = nsx_map_get(&r->index, key_of(g->profile, g->parent));
		if (up == NSX_NONE || r->open.p[up].node == RESOLVING) {
			r->orphans++;
			break;
		}
		at = up;
	}
	if (r->open.p[at].node != RESOLVING)
		node = r->open.p[at].node;
	while (r->chain.n > 0) {
		struct range *g = &r->open.p[r->chain.p[--r->chain.n]];

		node = g->node = nsx_stacks_child(r->stacks, node, g->frame);
	}
	return node;
}

static int
take_op(struct ranges *r, const struct nsx_rec *rec)
{
	int64_t dur = nsx_int(rec, NSX_OP_dur, -1);
	uint32_t at = NSX_NONE, node;

	r->any_op = true;
	if (dur < 0) {
		r->timeless++;
		return NSX_OK;
	}
	if (nsx_has(rec, NSX_OP_range)) {
		at = nsx_map_get(&r->index, key_of(nsx_int(rec, NSX_OP_profile, INT64_MIN), rec->v[NSX_OP_range].i));
		r->lost += at == NSX_NONE;
	}
	if (at != NSX_NONE) {
		node = r->open.p[at].node;
		if (node == UNRESOLVED)
			node = resolve(r, at);
	} else {
		if (r->none == UNRESOLVED)
			r->none = nsx_stacks_push(r->stacks, NSX_STACKS_ROOT, NSX_STR("[no NVTX range]"));
		node = r->none;
	}
	if (r->kernel) {
		struct nsx_str name = nsx_string(rec, nsx_has(rec, NSX_OP_name) ? NSX_OP_name : NSX_OP_type);

		node = nsx_stacks_push(r->stacks, node, name.len ? name : NSX_STR("[unnamed]"));
	}
	return nsx_stacks_add(r->stacks, node, (nsx_u128)dur) ? NSX_OK : nsx_err_nomem(r->err, NULL);
}

static int
ranges_take(void *state, const struct nsx_rec *rec)
{
	if (rec->kind->id == NSX_RANGE)
		return take_range(state, rec);
	if (rec->kind->id == NSX_OP)
		return take_op(state, rec);
	return NSX_OK;
}

static int
ranges_finish(void *state, struct nsx_diags *diags)
{
	struct ranges *r = state;

	if (!r->any_op)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no op records: extract with --ranges --ops");
	else if (!r->any_range && r->lost)
		nsx_diag_add(diags, NSX_WARNING, "", r->lost, "operations in ranges, but no range records: extract with --ranges --ops");
	else
		nsx_diag_add(diags, NSX_WARNING, "", r->lost, "operations whose range has no record: counted as [no NVTX range]");
	nsx_diag_add(diags, NSX_WARNING, "", r->orphans, "ranges whose parent has no record: their stacks begin there");
	nsx_diag_add(diags, NSX_WARNING, "", r->timeless, "operations without a duration: left out");
	return NSX_OK;
}

static void
ranges_free(void *state)
{
	struct ranges *r = state;

	nsx_map_free(&r->index);
	nsx_buf_free(&r->name);
	free(r->open.p);
	free(r->chain.p);
	free(r);
}

const struct nsx_folder nsx_fold_ranges = { ranges_open, ranges_take, ranges_finish, ranges_free };
