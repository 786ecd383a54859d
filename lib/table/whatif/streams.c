/* streams.c -- operations that may have waited for any one of their device that had ended: for the one after which they
 * come the latest. Of those that ended long before it that is the one that ends last after a change, of others the one
 * that is moved the most. Operations come nearly in order: the last one of all that ended long before is known from
 * the operation before; trees of the largest of many tell the rest.
 *
 *   of_device     | a    b c   d       |e f   |o       o starts; e and f ended within the usual latency before it
 *                   ends, at most       shifts
 */
#include <stdlib.h>

#include "base/num.h"
#include "table/whatif/spans.h"

/* The elements of a level of a tree are the largest of so many of that below, the first one at the first; after a level
 * of n elements comes the next one, up to one of few. Each is `many` times. */
enum { FANOUT = 32 };

/* Elements of all levels. */
static size_t
tree_size(size_t n)
{
	size_t all = n;

	while (n > FANOUT)
		all += n = (n + FANOUT - 1) / FANOUT;
	return all;
}

WI_INLINE void
raise(int wide, int64_t *tree, size_t n, size_t i, const int64_t *v, size_t many)
{
	wi_raise_to(wide, many, v, tree + i * many);
	while (n > FANOUT) {
		tree += n * many;
		n = (n + FANOUT - 1) / FANOUT;
		i /= FANOUT;
		wi_raise_to(wide, many, v, tree + i * many);
	}
}

/* Raise v to the largest of those from one to the other. */
WI_INLINE void
largest(int wide, const int64_t *tree, size_t n, size_t from, size_t to, int64_t *v, size_t many)
{
	while (from < to) {
		for (; from < to && (from % FANOUT || n <= FANOUT); from++)
			wi_raise_to(wide, many, tree + from * many, v);
		for (; from < to && to % FANOUT; to--)
			wi_raise_to(wide, many, tree + (to - 1) * many, v);
		tree += n * many;
		n = (n + FANOUT - 1) / FANOUT;
		from /= FANOUT;
		to /= FANOUT;
	}
}

/* Of a device: the latest end of the first ones of it, up to that number in of_device, that have ended in the sweep. */
struct wi_ended { size_t to; int64_t latest[WI_TOGETHER]; };

/* Set the places of operations; moves: room for 0 by number in of_device, and one more. */
static void
set_places(struct wi_spans *s, int32_t *moves, struct wi_place *next)
{
	const struct wi_graph *g = s->g;
	const struct wi_lists *l = &s->of_device;
	size_t ndevices = g->pairing.comm.cat.devices.n;

	for (size_t d = 0; d < ndevices; d++) {
		next[d] = (struct wi_place){ .near = l->first[d], .until = l->first[d] };
		for (uint32_t i = l->first[d]; i < l->first[d + 1]; i++) {
			bool same = i > l->first[d] && g->ops.p[l->at[i]].end == g->ops.p[l->at[i - 1]].end;

			s->places[l->at[i]].of = same ? s->places[l->at[i - 1]].of : i;
		}
	}
	for (size_t i = 0; i < g->ops.n; i++) {
		const struct wi_op *o = &g->ops.p[i];
		uint32_t device = wi_device(g, o), end = l->first[device + 1];
		struct wi_place *x = &next[device];

		wi_pause(g, i);
		while (x->near < end && g->ops.p[l->at[x->near]].end < o->start - g->latency[WI_WAIT] + 1)
			x->near++;
		while (x->until < end && g->ops.p[l->at[x->until]].end < o->start + 1)
			x->until++;
		s->places[i].near = x->near;
		s->places[i].until = x->until;
		if (x->near < x->until) {
			moves[x->near]++;
			moves[x->until]--;
		}
	}
	for (size_t i = 1; i < g->ops.n; i++)
		moves[i] += moves[i - 1];
	for (size_t i = 0; i < g->ops.n; i++, wi_pause(g, i))
		s->places[i].moves = moves[s->places[i].of] > 0;
}

bool
nsx_wi_streams_begin(struct wi_spans *s)
{
	const struct wi_graph *g = s->g;
	struct nsx_large *large = wi_large(g);
	size_t ndevices = g->pairing.comm.cat.devices.n, size = nsx_wi_at_once(g) * tree_size(g->ops.n);
	int32_t *moves;
	struct wi_place *next;
	bool good;

	if (!s->streams)
		return true;
	s->ends = nsx_large_array(large, size, sizeof *s->ends);
	s->shifts = nsx_large_array(large, size, sizeof *s->shifts);
	s->places = nsx_large_array(large, g->ops.n, sizeof *s->places);
	s->ended = calloc(ndevices + 1, sizeof *s->ended);
	moves = nsx_large_array(large, g->ops.n + 1, sizeof *moves);
	next = malloc((ndevices + 1) * sizeof *next);
	good = s->ends && s->shifts && s->places && s->ended && moves && next;
	if (good)
		set_places(s, moves, next);
	nsx_large_free(large, moves);
	free(next);
	return good;
}

void
nsx_wi_streams_clear(const struct wi_spans *s, size_t n)
{
	size_t size = tree_size(s->g->ops.n) * n;

	for (size_t i = 0; i < size; i++) {
		wi_pause(s->g, i);
		s->ends[i] = s->shifts[i] = INT64_MIN;
	}
	for (size_t d = 0; d < s->g->pairing.comm.cat.devices.n; d++) {
		s->ended[d].to = s->of_device.first[d];
		for (size_t p = 0; p < n; p++)
			s->ended[d].latest[p] = INT64_MIN;
	}
}

WI_INLINE void
end(int wide, const struct wi_spans *s, size_t op, const int64_t *times, size_t n)
{
	const struct wi_graph *g = s->g;
	const struct wi_op *o = &g->ops.p[op];
	struct wi_ended *ended = &s->ended[wi_device(g, o)];
	int64_t shifts[WI_TOGETHER];

	raise(wide, s->ends, g->ops.n, s->places[op].of, times, n);
	if (s->places[op].of < ended->to)
		wi_raise_to(wide, n, times, ended->latest);
	if (!s->places[op].moves)
		return;
	wi_set(wide, n, times, NULL, -o->end, shifts);
	raise(wide, s->shifts, g->ops.n, s->places[op].of, shifts, n);
}

/* Of times where there are none yet, INT64_MIN, nothing comes. */
WI_INLINE void
raise_after(int wide, size_t n, const int64_t *after, int64_t lag, int64_t *times)
{
	WI_EACH(wide, n, p, {
		int64_t at = after[p] == INT64_MIN ? INT64_MIN : after[p] + lag;

		times[p] = at > times[p] ? at : times[p];
	});
}

WI_INLINE void
start(int wide, const struct wi_spans *s, size_t op, int64_t *times, size_t n)
{
	const struct wi_graph *g = s->g;
	const struct wi_op *o = &g->ops.p[op];
	const struct wi_place *x = &s->places[op];
	uint32_t device = wi_device(g, o);
	struct wi_ended *ended = &s->ended[device];
	int64_t room[WI_TOGETHER], *latest = ended->latest;

	if (x->near >= ended->to) {
		largest(wide, s->ends, g->ops.n, ended->to, x->near, latest, n);
		ended->to = x->near;
	} else {
		latest = room;
		wi_fill(wide, n, INT64_MIN, latest);
		largest(wide, s->ends, g->ops.n, s->of_device.first[device], x->near, latest, n);
	}
	raise_after(wide, n, latest, g->latency[WI_WAIT], times);
	if (x->near == x->until)
		return;
	wi_fill(wide, n, INT64_MIN, room);
	largest(wide, s->shifts, g->ops.n, x->near, x->until, room, n);
	raise_after(wide, n, room, o->start, times);
}

WI_AVX2 static void
end_wide(int wide, const struct wi_spans *s, size_t op, const int64_t *times, size_t n)
{
	WI_SWITCH(wide, end, s, op, times, n);
}

WI_AVX2 static void
start_wide(int wide, const struct wi_spans *s, size_t op, int64_t *times, size_t n)
{
	WI_SWITCH(wide, start, s, op, times, n);
}

void
nsx_wi_streams_ended(const struct wi_spans *s, int wide, size_t op, const int64_t *times, size_t n)
{
	if (wide)
		end_wide(wide, s, op, times, n);
	else
		end(0, s, op, times, n);
}

void
nsx_wi_streams_raise(const struct wi_spans *s, int wide, size_t op, int64_t *times, size_t n)
{
	if (wide)
		start_wide(wide, s, op, times, n);
	else
		start(0, s, op, times, n);
}
