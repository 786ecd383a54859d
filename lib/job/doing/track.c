/* track.c -- what one thread did of one sort at each time. */
#include "job/doing/track.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/sort.h"
#include "stream/kinds.h"

/* The time per interval grows with those that are open; no real program comes near. */
enum { MOST_OPEN = 4096 };

static bool
same(const struct nsx_doing_value *a, const struct nsx_doing_value *b)
{
	return a->what == b->what && a->ref == b->ref && a->id == b->id;
}

/* The value from `at` on. */
static bool
note(struct nsx_doing_track *t, int64_t at)
{
	const struct nsx_open_interval *in = nsx_open_innermost(&t->open);
	struct nsx_change c = { at, { NSX_NONE, NSX_ABSENT, NSX_ABSENT } };

	if (in)
		c.value = t->values.p[in->what];
	/* Of several changes at one time the last counts. */
	if (t->list.n > t->head && t->list.p[t->list.n - 1].start == at)
		t->list.n--;
	if (t->list.n > t->head && same(&t->list.p[t->list.n - 1].value, &c.value))
		return true;
	return nsx_vec_push(&t->list, c);
}

static bool
close_until(struct nsx_doing_track *t, int64_t at)
{
	for (size_t i = 0; i < t->open.list.n; i++)
		if (t->open.list.p[i].end <= at && !nsx_vec_push(&t->unused, t->open.list.p[i].what))
			return false;
	nsx_open_close(&t->open, at);
	return true;
}

bool
nsx_track_settle(struct nsx_doing_track *t, int64_t to)
{
	for (int64_t at; (at = nsx_open_next_end(&t->open)) <= to && at != INT64_MAX;)
		if (!close_until(t, at) || !note(t, at))
			return false;
	t->settled = to > t->settled ? to : t->settled;
	return true;
}

bool
nsx_track_add(struct nsx_doing_track *t, int64_t start, int64_t end, struct nsx_doing_value value)
{
	struct nsx_open_interval i = { .start = start, .end = end, .id = value.id };
	size_t at;

	if (!nsx_track_settle(t, start))
		return false;
	if (end <= start || end <= t->settled)
		return true;
	if (t->open.list.n >= MOST_OPEN) {
		t->crowded++;
		return true;
	}
	if (t->unused.n) {
		i.what = t->unused.p[--t->unused.n];
		t->values.p[i.what] = value;
	} else {
		i.what = (uint32_t)t->values.n;
		if (!nsx_vec_push(&t->values, value))
			return false;
	}
	return nsx_open_add(&t->open, i, &at) && note(t, start > t->settled ? start : t->settled);
}

size_t
nsx_track_at(const struct nsx_doing_track *t, int64_t time)
{
	size_t after;

	NSX_BISECT(after, t->head, t->list.n, t->list.p[after].start > time);
	return after > t->head ? after - 1 : SIZE_MAX;
}

void
nsx_track_forget(struct nsx_doing_track *t, int64_t time)
{
	while (t->head + 1 < t->list.n && t->list.p[t->head + 1].start <= time)
		t->head++;
	nsx_vec_pass(&t->list, &t->head);
}

void
nsx_track_free(struct nsx_doing_track *t)
{
	free(t->open.list.p);
	free(t->values.p);
	free(t->unused.p);
	free(t->list.p);
}
