/* ended.c -- the ends of operations that another one may have waited for, against the definition: of those of its device
 * that have ended so far, the latest end of what ended long before it was measured to start, and the largest shift of
 * what ended shortly before. Random jobs, in and out of order. */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "table/whatif/spans.h"

enum { OPS = 3000, DEVICES = 3, MOST = 8, LATENCY = 40 };

static uint64_t state;

static uint32_t
chance(uint32_t n)
{
	state ^= state << 13, state ^= state >> 7, state ^= state << 17;
	return (uint32_t)(state % n);
}

struct job { struct wi_graph g; struct wi_spans s; uint32_t order[OPS]; int64_t times[OPS][MOST]; bool ended[OPS]; };

static int
by_end(const struct wi_graph *g, uint32_t a, uint32_t b)
{
	return NSX_FIRST(NSX_CMP(wi_device(g, &g->ops.p[a]), wi_device(g, &g->ops.p[b])),
	                 NSX_CMP(g->ops.p[a].end, g->ops.p[b].end), NSX_CMP(a, b));
}

/* Some end at one time. `mixed` of them come so much earlier or later in the sweep than they start. */
static bool
make(struct job *j, uint32_t mixed)
{
	struct wi_graph *g = &j->g;
	uint32_t *at = nsx_large_array(&g->large, OPS, sizeof *at), *first = calloc(DEVICES + 1, sizeof *first);
	bool good = at && first;

	g->pairing.comm.cat.devices.n = DEVICES;
	g->latency[WI_WAIT] = LATENCY;
	for (uint32_t i = 0; i < DEVICES; i++)
		good &= nsx_vec_push(&g->lanes, ((struct wi_lane){ 0, i, i, NSX_NONE }));
	for (int64_t i = 0, t = 0; i < OPS; i++, t += chance(8))
		good &= nsx_vec_push(&g->ops, ((struct wi_op){ .start = t, .end = t + 1 + chance(30),
		                                               .lane = chance(DEVICES) }));
	g->nevents = 2 * OPS;
	for (uint32_t i = 0; i < OPS && good; i++) {
		uint32_t k = i;

		first[wi_device(g, &g->ops.p[i]) + 1]++;
		for (; k && by_end(g, i, at[k - 1]) < 0; k--)
			at[k] = at[k - 1];
		at[k] = i;
		j->order[i] = i;
	}
	for (uint32_t i = 0; i < DEVICES && good; i++)
		first[i + 1] += first[i];
	for (uint32_t i = 0; i + mixed < OPS && mixed; i++) {
		uint32_t k = i + chance(mixed), op = j->order[i];

		j->order[i] = j->order[k];
		j->order[k] = op;
	}
	j->s = (struct wi_spans){ .g = g, .streams = true, .of_device = { first, at } };
	return good && nsx_wi_streams_begin(&j->s);
}

/* What it may wait for, in one of n plans. */
static int64_t
brute(const struct job *j, uint32_t op, size_t p)
{
	const struct wi_op *o = &j->g.ops.p[op];
	int64_t t = INT64_MIN;

	for (uint32_t i = 0; i < OPS; i++) {
		const struct wi_op *x = &j->g.ops.p[i];

		if (!j->ended[i] || x->lane != o->lane || x->end > o->start)
			continue;
		t = nsx_max(t, x->end <= o->start - LATENCY ? j->times[i][p] + LATENCY
		               : o->start + j->times[i][p] - x->end);
	}
	return t;
}

/* Operations start, and have ended then, in a sweep. The number of starts that are wrong. */
static int64_t
sweep(struct job *j, size_t n, int wide)
{
	int64_t bad = 0;

	memset(j->ended, 0, sizeof j->ended);
	nsx_wi_streams_clear(&j->s, n);
	for (uint32_t i = 0; i < OPS; i++) {
		uint32_t op = j->order[i];
		int64_t starts[MOST];

		for (size_t p = 0; p < n; p++)
			starts[p] = INT64_MIN;
		nsx_wi_streams_raise(&j->s, wide, op, starts, n);
		for (size_t p = 0; p < n; p++) {
			bad += starts[p] != brute(j, op, p);
			j->times[op][p] = j->g.ops.p[op].end + chance(200) - 100;
		}
		nsx_wi_streams_ended(&j->s, wide, op, j->times[op], n);
		j->ended[op] = true;
	}
	return bad;
}

static void
discard(struct job *j)
{
	nsx_wi_spans_free(&j->s);
	free(j->g.lanes.p);
	free(j->g.ops.p);
	nsx_large_end(&j->g.large);
	free(j);
}

int
main(void)
{
	static const uint32_t mixed[] = { 0, 5, 400, OPS };

	for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++) {
		struct job *j = calloc(1, sizeof *j);
		struct nsx_err err = { "" };

		j->g.err = j->g.large.err = &err;
		j->g.large.limit = SIZE_MAX;
		state = 88172645463325252u * (i + 1);
		ok(make(j, mixed[i]), "a job of which operations are swept over up to %u out of order", mixed[i]);
		is_int(sweep(j, 1, 0), 0, "one plan");
		is_int(sweep(j, 3, 0), 0, "three plans");
		is_int(sweep(j, MOST, wi_wide(MOST)), 0, "plans in lanes");
		discard(j);
	}
	return done();
}
