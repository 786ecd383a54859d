/* learn.c -- the latencies of a job: how soon an operation starts after its launch, after the operation before it in
 * its stream, and after one of another stream that it awaited, where nothing else held it up. Each is the 5 %
 * quantile. */
#include "table/whatif/counts.h"
#include "table/whatif/graph.h"

enum {
	IDLE_BEFORE = 2000,      /* ns from the end of what was before to the launch of an operation that met an idle
	                          * stream */
	RETURNED_BEFORE = 20000, /* ns from the return of its launch to the start of one that was launched in time */
	LAUNCH = 4200, STREAM = 900   /* ns: of jobs of which nothing could be measured */
};

/* The 5 % quantile. */
static int64_t
low_of(struct wi_counts *s, int64_t otherwise)
{
	return s->n ? nsx_wi_nth(s, s->n / 20) : otherwise;
}

/* The latest end of what an operation awaited; INT64_MIN: nothing. */
static int64_t
awaited_end(const struct wi_graph *g, const struct wi_more *o)
{
	int64_t end = INT64_MIN;

	for (uint32_t k = 0; k < o->nafter; k++) {
		const struct wi_op *x = &g->ops.p[g->refs.p[o->after + k]];

		end = x->end > end ? x->end : end;
	}
	return end;
}

int
nsx_wi_learn(struct wi_graph *g)
{
	struct wi_counts launch = { 0 }, stream = { 0 }, wait = { 0 };
	bool good = true;

	for (size_t i = 0; i < g->ops.n && good; i++) {
		const struct wi_op *o = &g->ops.p[i];
		const struct wi_call *call = o->call == NSX_NONE ? NULL : &g->calls.p[o->call];
		const struct wi_more *more = wi_more(g, o);
		int64_t end = awaited_end(g, more), before = wi_end_before(g, o);

		wi_pause(g, i);
		if (more->npreds || o->cut)
			continue;
		if (call && !more->nafter && o->start >= call->start
		    && (before == NSX_ABSENT || before <= call->start - IDLE_BEFORE))
			good &= nsx_wi_count(&launch, o->start - call->start);
		/* One that awaited something later was not held up by its stream. */
		if (call && before != NSX_ABSENT && o->start >= before && end <= before
		    && call->end <= o->start - RETURNED_BEFORE)
			good &= nsx_wi_count(&stream, o->start - before);
		if (end != INT64_MIN && end <= o->start && (before == NSX_ABSENT || end > before)
		    && o->start - end < WI_LONG)
			good &= nsx_wi_count(&wait, o->start - end);
	}
	g->latency[WI_LAUNCH] = low_of(&launch, LAUNCH);
	g->latency[WI_STREAM] = low_of(&stream, STREAM);
	g->latency[WI_WAIT] = low_of(&wait, g->latency[WI_STREAM]);
	if (g->latency[WI_WAIT] < g->latency[WI_STREAM])
		g->latency[WI_WAIT] = g->latency[WI_STREAM];
	nsx_wi_counts_free(&launch);
	nsx_wi_counts_free(&stream);
	nsx_wi_counts_free(&wait);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}
