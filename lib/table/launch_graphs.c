/* launch_graphs.c -- what CUDA graphs did: a row for those that run the same kernels.
 *
 *   launch of a graph: call 7, [0,10)          device busy until 4
 *   node a 20..50   node b 52..60              one replay: span 40, busy 38, gaps 2, starved 6
 *   launch: call 9                             again: 2 replays
 *
 * Nodes of one call on one device are a replay. Which nodes run at once is not looked at: a gap is time within the
 * replay in which none of its nodes ran. Of graphs that were recorded as a whole the inside is not known. About 150
 * bytes for each replay. */
#include <stdlib.h>

#include "base/num.h"
#include "job/activity.h"
#include "job/removed.h"
#include "job/steps/excerpt.h"
#include "job/starved.h"
#include "table/analysis.h"
#include "table/launch.h"
#include "table/sums.h"

struct replay {
	int64_t  device, profile, call;   /* the key */
	int64_t  nodes, start, end, api, starved;
	uint64_t names;                   /* a sum of hashes of its nodes' names; 0: recorded as a whole */
	uint32_t first;                   /* name of the first node */
	struct nsx_union busy;
};
static const struct nsx_sum_def of_replays = { .size = sizeof(struct replay), .key = 3 * sizeof(int64_t) };

struct row {
	int64_t  nodes;                   /* the key: of a replay, NSX_ABSENT: not known; */
	uint64_t names;
	uint32_t first;                   /* the name of the first node of the first replay */
	int64_t  replays;
	nsx_u128 api, span, busy, gaps, starved;
};

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("name", STRING, first), NSX_COL("nodes", INT, nodes), NSX_COL("replays", INT, replays),
	NSX_COL("api", NS, api), NSX_COL("span", NS, span), NSX_COL_PER("span_mean", MEAN_NS, span, replays),
	NSX_COL("busy", NS, busy), NSX_COL("gaps", NS, gaps), NSX_COL_PER("gap_share", SHARE, gaps, span),
	NSX_COL("starved", NS, starved),
};
static const struct nsx_sum_def def = {
	NSX_ROWS(cols), .key = offsetof(struct row, first), .order = "-span name nodes",
	.rank = "name replays nodes span_mean gap_share starved api span busy gaps",
	.adds = "span"
};

/* end: the latest so far; NSX_ABSENT before the first. */
struct busy { int64_t end; struct nsx_removed removed; };

struct launched_graphs {
	NSX_STATE;
	struct nsx_intern *names;         /* of operations */
	struct nsx_sums   replays;
	NSX_VEC(struct busy) busy;        /* by device */
	struct nsx_excerpt excerpt;
	int64_t           no_call;
};

static int
graphs_begin(void *state, const void *options, const struct nsx_analysis_at *at)
{
	struct launched_graphs *f = state;

	(void)options;
	f->names = at->names;
	f->replays.def = &of_replays;
	return NSX_OK;
}

static void
graphs_need(void *state, struct nsx_reader *in)
{
	(void)state;
	nsx_event_need(in, NSX_OP);
	nsx_reader_need(in, NSX_OP, NSX_C(OP, profile) | NSX_C(OP, name) | NSX_C(OP, call) | NSX_C(OP, graph_node)
	                            | NSX_C(OP, host_start) | NSX_C(OP, host_dur) | NSX_C(OP, removed));
	nsx_event_need(in, NSX_STEP);
	nsx_excerpt_need(in);
}

/* A node, or a graph as a whole, of a device that was busy until then. */
static int
add_node(struct launched_graphs *f, const struct nsx_event *e, bool whole, int64_t busy)
{
	struct nsx_str name = nsx_string(e->rec, NSX_OP_name);
	int64_t key[3] = { e->number, nsx_int(e->rec, NSX_OP_profile, NSX_ABSENT),
	                   nsx_int(e->rec, NSX_OP_call, NSX_ABSENT) };
	struct replay *r = nsx_sums_row(&f->replays, key);

	if (!r)
		return nsx_err_nomem(f->err, NULL);
	if (!r->busy.any) {
		int64_t call = nsx_int(e->rec, NSX_OP_host_start, NSX_ABSENT);

		r->start = e->start;
		r->first = e->name;
		r->api = nsx_int(e->rec, NSX_OP_host_dur, 0);
		if (call != NSX_ABSENT && busy != NSX_ABSENT)
			r->starved = nsx_starved(busy, e->start, nsx_add_sat(call, r->api, NULL));
	}
	r->nodes++;
	r->names += whole ? 0 : nsx_hash(name.ptr, name.len) | 1;
	nsx_union_add(&r->busy, e->start, e->end);
	r->end = r->busy.end;
	return NSX_OK;
}

static int
graphs_take(void *state, const struct nsx_event *e)
{
	struct launched_graphs *f = state;
	int rc = NSX_OK;

	if (e->rec->kind->id == NSX_STEP) {
		uint32_t at = nsx_cat_find_device(f->cat, nsx_int(e->rec, NSX_STEP_device, NSX_ABSENT));

		return at == NSX_NONE || nsx_excerpt_take(&f->excerpt, e->rec, at) ? NSX_OK
		       : nsx_err_nomem(f->err, NULL);
	}
	if (!nsx_vec_reach(&f->busy, e->device, &(struct busy){ NSX_ABSENT, NSX_REMOVED_NONE }))
		return nsx_err_nomem(f->err, NULL);
	struct busy *busy = &f->busy.p[e->device];
	bool whole = e->type == NSX_TYPE_GRAPH;

	/* What nsysx-warmup or nsysx-steps --cut removed kept the device busy. */
	nsx_removed_take(&busy->removed, e->rec);
	if (whole || nsx_has(e->rec, NSX_OP_graph_node)) {
		f->no_call += !nsx_has(e->rec, NSX_OP_call);
		if (nsx_has(e->rec, NSX_OP_call))
			rc = add_node(f, e, whole, busy->end == NSX_ABSENT ? NSX_ABSENT
			                           : nsx_excerpt_gap(&f->excerpt, e->device,
			                             nsx_removed_end(&busy->removed, busy->end, e->start), e->start));
	}
	busy->end = busy->end == NSX_ABSENT || e->end > busy->end ? e->end : busy->end;
	return rc;
}

static int
graphs_finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct launched_graphs *f = state;

	(void)table;
	f->rows = (struct nsx_sums){ .def = &def, .texts = f->names };
	NSX_SUMS_EACH(const struct replay, r, &f->replays) {
		struct row key = { .nodes = r->names ? r->nodes : NSX_ABSENT, .names = r->names };
		struct row *row = nsx_sums_row(&f->rows, &key);

		if (!row)
			return nsx_err_nomem(f->err, NULL);
		if (!row->replays)
			row->first = r->first;
		nsx_u128 span = (nsx_u128)(r->end - r->start);
		row->replays++;
		row->api += (nsx_u128)r->api;
		row->starved += (nsx_u128)r->starved;
		row->span += span;
		row->busy += r->names ? r->busy.length : 0;
		row->gaps += r->names ? span - r->busy.length : 0;
	}
	NSX_SUMS_EACH(struct row, row, &f->rows) {
		if (row->nodes == NSX_ABSENT)
			row->busy = row->gaps = NSX_SUM_NONE;
	}
	if (!f->came[NSX_OP])
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no operations in the stream: extract with --ops --calls");
	else if (!nsx_sums_count(&f->replays) && !f->no_call)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no operation is of a CUDA graph");
	nsx_diag_add(diags, NSX_INFO, "", f->no_call,
	             "operations of graphs whose call is not in the profile: not counted");
	return NSX_OK;
}

static void
graphs_free(void *state)
{
	struct launched_graphs *f = state;

	nsx_sums_free(&f->replays);
	free(f->busy.p);
	nsx_excerpt_free(&f->excerpt);
}

const struct nsx_analysis nsx_launch_graphs = {
	sizeof(struct launched_graphs), NSX_K(OP) | NSX_K(STEP), NSX_NAMED | NSX_TIMED | NSX_STATED, graphs_begin,
	graphs_need, graphs_take, graphs_finish, graphs_free
};
