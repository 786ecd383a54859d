/* streams.c -- operations that may have waited for any one of their device that had ended: for the one after which they
 * come the latest. Of those that ended long before it that is the one that ends last after a change, of others the one
 * that is moved the most. Trees of the largest of many tell which:
 *
 *   of_device     | a    b c   d       |e f   |o       o starts; e and f ended within the usual latency before it
 *                   ends, at most       shifts
 */
#include "base/num.h"
#include "table/whatif/spans.h"

/* Of n elements the i-th is at n + i, and the larger one of 2 i and 2 i + 1 at i; each is `many` times. */
static void
raise(int64_t *tree, size_t n, size_t i, const int64_t *restrict v, size_t many)
{
	bool more = true;

	for (i += n; i && more; i /= 2) {
		int64_t *restrict at = tree + i * many;

		more = false;
		for (size_t p = 0; p < many; p++) {
			more |= at[p] < v[p];
			at[p] = at[p] < v[p] ? v[p] : at[p];
		}
	}
}

static void
raise_to(int64_t *restrict v, const int64_t *restrict at, size_t many)
{
	for (size_t p = 0; p < many; p++)
		v[p] = v[p] < at[p] ? at[p] : v[p];
}

static void
largest(const int64_t *tree, size_t n, size_t from, size_t to, int64_t *v, size_t many)
{
	for (size_t p = 0; p < many; p++)
		v[p] = INT64_MIN;
	for (from += n, to += n; from < to; from /= 2, to /= 2) {
		if (from & 1)
			raise_to(v, tree + from++ * many, many);
		if (to & 1)
			raise_to(v, tree + --to * many, many);
	}
}

/* The first one of the device, by number in of_device, that ended at t or later. */
static size_t
first_at(const struct wi_spans *s, uint32_t device, int64_t t)
{
	const struct wi_lists *l = &s->of_device;
	size_t i;

	NSX_BISECT(i, l->first[device], l->first[device + 1], s->g->ops.p[l->at[i]].end >= t);
	return i;
}

bool
nsx_wi_streams_begin(struct wi_spans *s)
{
	const struct wi_graph *g = s->g;

	if (!s->streams)
		return true;
	s->ends = nsx_large_array(wi_large(g), 2 * nsx_wi_at_once(g) * g->ops.n, sizeof *s->ends);
	s->shifts = nsx_large_array(wi_large(g), 2 * nsx_wi_at_once(g) * g->ops.n, sizeof *s->shifts);
	s->places = nsx_large_array(wi_large(g), g->ops.n, sizeof *s->places);
	for (size_t i = 0; i < g->ops.n && s->places; i++) {
		const struct wi_op *o = &g->ops.p[i];
		uint32_t device = wi_device(g, o);

		wi_pause(g, i);
		s->places[i] = (struct wi_place){ (uint32_t)first_at(s, device, o->end),
		                                  (uint32_t)first_at(s, device, o->start - g->latency[WI_WAIT] + 1),
		                                  (uint32_t)first_at(s, device, o->start + 1) };
	}
	return s->ends && s->shifts && s->places;
}

void
nsx_wi_streams_clear(const struct wi_spans *s, size_t n)
{
	for (size_t i = 0; i < 2 * s->g->ops.n * n; i++) {
		wi_pause(s->g, i);
		s->ends[i] = s->shifts[i] = INT64_MIN;
	}
}

void
nsx_wi_streams_ended(const struct wi_spans *s, size_t op, const int64_t *times, size_t n)
{
	const struct wi_graph *g = s->g;
	int64_t shifts[WI_TOGETHER];

	for (size_t p = 0; p < n; p++)
		shifts[p] = times[p] - g->ops.p[op].end;
	raise(s->ends, g->ops.n, s->places[op].of, times, n);
	raise(s->shifts, g->ops.n, s->places[op].of, shifts, n);
}

void
nsx_wi_streams_raise(const struct wi_spans *s, size_t op, int64_t *times, size_t n)
{
	const struct wi_graph *g = s->g;
	const struct wi_op *o = &g->ops.p[op];
	const struct wi_place *x = &s->places[op];
	int64_t ends[WI_TOGETHER], shifts[WI_TOGETHER];

	largest(s->ends, g->ops.n, s->of_device.first[wi_device(g, o)], x->near, ends, n);
	largest(s->shifts, g->ops.n, x->near, x->until, shifts, n);
	for (size_t p = 0; p < n; p++) {
		if (ends[p] != INT64_MIN)
			times[p] = nsx_max(times[p], ends[p] + g->latency[WI_WAIT]);
		if (shifts[p] != INT64_MIN)
			times[p] = nsx_max(times[p], shifts[p] + o->start);
	}
}
