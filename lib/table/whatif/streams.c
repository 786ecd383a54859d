/* streams.c -- operations that may have waited for any one of their device that had ended: for the one after which they
 * come the latest. Of those that ended long before it that is the one that ends last after a change, of others the one
 * that is moved the most. Trees of the largest of many tell which:
 *
 *   of_device     | a    b c   d       |e f   |o       o starts; e and f ended within the usual latency before it
 *                   ends, at most       shifts
 */
#include "base/num.h"
#include "table/whatif/spans.h"

/* Of n elements the i-th is at n + i, and the larger one of 2 i and 2 i + 1 at i. */
static void
raise(int64_t *tree, size_t n, size_t i, int64_t v)
{
	for (i += n; i && tree[i] < v; i /= 2)
		tree[i] = v;
}

static int64_t
largest(const int64_t *tree, size_t n, size_t from, size_t to)
{
	int64_t v = INT64_MIN;

	for (from += n, to += n; from < to; from /= 2, to /= 2) {
		if (from & 1)
			v = nsx_max(v, tree[from++]);
		if (to & 1)
			v = nsx_max(v, tree[--to]);
	}
	return v;
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

	if (s->streams) {
		s->ends = nsx_large_array(wi_large(g), 2 * g->ops.n, sizeof *s->ends);
		s->shifts = nsx_large_array(wi_large(g), 2 * g->ops.n, sizeof *s->shifts);
	}
	return !s->streams || (s->ends && s->shifts);
}

void
nsx_wi_streams_clear(const struct wi_spans *s)
{
	for (size_t i = 0; i < 2 * s->g->ops.n; i++) {
		wi_pause(s->g, i);
		s->ends[i] = s->shifts[i] = INT64_MIN;
	}
}

void
nsx_wi_streams_ended(const struct wi_spans *s, const struct wi_op *o, int64_t t)
{
	size_t i = first_at(s, wi_device(s->g, o), o->end);

	raise(s->ends, s->g->ops.n, i, t);
	raise(s->shifts, s->g->ops.n, i, t - o->end);
}

int64_t
nsx_wi_streams_latest(const struct wi_spans *s, const struct wi_op *o)
{
	const struct wi_graph *g = s->g;
	uint32_t device = wi_device(g, o);
	int64_t usual = g->latency[WI_WAIT], end, shift;
	size_t near = first_at(s, device, o->start - usual + 1);

	end = largest(s->ends, g->ops.n, s->of_device.first[device], near);
	shift = largest(s->shifts, g->ops.n, near, first_at(s, device, o->start + 1));
	return nsx_max(end == INT64_MIN ? end : end + usual, shift == INT64_MIN ? shift : shift + o->start);
}
