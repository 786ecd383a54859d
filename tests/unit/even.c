/* even.c -- what operations would take on even devices, against the definition: the mean over those of one step that
 * are as many of their name since it began. Random jobs, whose arrays are in files. */
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table/whatif/plan.h"

enum { OPS = 600, DEVICES = 4, NAMES = 5, STEPS = 6, CLASSES = 2 };

static uint64_t state;

static uint32_t
chance(uint32_t n)
{
	state ^= state << 13, state ^= state >> 7, state ^= state << 17;
	return (uint32_t)(state % n);
}

/* Some operations start at one time; steps of the two classes overlap, and some devices lack a step. */
static bool
make(struct wi_graph *g)
{
	bool good = true;

	g->pairing.comm.cat.devices.n = DEVICES;
	for (uint32_t i = 0; i < DEVICES; i++)
		good &= nsx_vec_push(&g->lanes, ((struct wi_lane){ 0, i, i, NSX_NONE }));
	for (uint32_t i = 0; i <= NAMES; i++)
		good &= nsx_vec_push(&g->tasks, ((struct wi_task){ .name = i % NAMES, .inst = NSX_NONE, .comm = i == NAMES }));
	for (int64_t i = 0, t = 0; i < OPS; i++, t += chance(3))
		good &= nsx_vec_push(&g->ops, ((struct wi_op){ .start = t, .end = t + 1 + chance(1000),
		                                               .lane = chance(DEVICES), .task = chance(NAMES + 1) }));
	for (uint32_t class = 0; class < CLASSES; class++)
		for (uint32_t device = 0; device < DEVICES; device++)
			for (uint32_t k = 0; k < STEPS; k++) {
				uint32_t first = k * OPS / STEPS + class * 30 + chance(10);
				uint32_t next = first + OPS / STEPS - 40 + chance(30);

				struct wi_step s = { k, 0, class, device, first, next };

				good &= !chance(10) || nsx_vec_push(&g->steps, s);
			}
	return good;
}

static void
discard(struct wi_graph *g)
{
	free(g->lanes.p);
	free(g->tasks.p);
	free(g->ops.p);
	free(g->steps.p);
	nsx_large_end(&g->large);
}

static bool
is_in(const struct wi_graph *g, const struct wi_op *o, const struct wi_step *s)
{
	return wi_device(g, o) == s->device && !wi_task(g, o)->comm && o->start >= g->ops.p[s->first].start
	       && o->start < g->ops.p[s->next].start;
}

/* How many of its name come before it in the step. */
static uint32_t
number_in(const struct wi_graph *g, size_t op, const struct wi_step *s)
{
	uint32_t n = 0;

	for (size_t i = 0; i < op; i++)
		n += is_in(g, &g->ops.p[i], s) && wi_task(g, &g->ops.p[i])->name == wi_task(g, &g->ops.p[op])->name;
	return n;
}

/* What it would take; -1: it is in no step. */
static int64_t
brute(const struct wi_graph *g, size_t op)
{
	const struct wi_op *o = &g->ops.p[op];
	const struct wi_step *of = NULL;
	double sum = 0, n = 0;

	for (size_t i = 0; i < g->steps.n; i++) {
		const struct wi_step *s = &g->steps.p[i];

		if (is_in(g, o, s) && (!of || s->class > of->class
		                       || (s->class == of->class && s->number > of->number)))
			of = s;
	}
	for (size_t i = 0; i < g->steps.n && of; i++) {
		const struct wi_step *s = &g->steps.p[i];

		for (size_t k = 0; k < g->ops.n && s->class == of->class && s->number == of->number; k++)
			if (is_in(g, &g->ops.p[k], s) && wi_task(g, &g->ops.p[k])->name == wi_task(g, o)->name
			    && number_in(g, k, s) == number_in(g, op, of)) {
				sum += (double)(g->ops.p[k].end - g->ops.p[k].start);
				n++;
			}
	}
	return of ? llround(sum / n) : -1;
}

int
main(void)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct nsx_err err = { "" };
		struct wi_graph g = { .err = &err, .large = { .err = &err } };
		uint32_t *same_of = NULL;
		int64_t *even = NULL, bad = 0, none = 0;

		state = 88172645463325252u * seed;
		ok(make(&g) && nsx_wi_even(&g, &same_of, &even) == NSX_OK, "job %d", (int)seed);
		for (size_t i = 0; i < g.ops.n && even; i++) {
			bad += (same_of[i] ? even[same_of[i] - 1] : -1) != brute(&g, i);
			none += !same_of[i];
		}
		is_int(bad, 0, "every operation takes the mean of those that are the same");
		ok(none > 0 && none < OPS, "some are in no step, or communicate");
		free(even);
		discard(&g);
	}
	return done();
}
