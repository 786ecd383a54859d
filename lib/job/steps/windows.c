/* windows.c -- the part of each device's time that is analysed by steps. */
#include "job/steps/windows.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"

size_t
nsx_step_class_time(const struct nsx_step_set *s, size_t i, int64_t pure[2])
{
	size_t n = 0;

	pure[0] = pure[1] = 0;
	for (; i + n < s->list.n && s->list.p[i + n].class == s->list.p[i].class; n++) {
		const struct nsx_step_of *o = &s->list.p[i + n];

		if (o->period == NSX_ABSENT)
			continue;
		pure[1] = nsx_add_sat(pure[1], o->period, NULL);
		if (o->other == NSX_NONE)
			pure[0] = nsx_add_sat(pure[0], o->period, NULL);
	}
	return n;
}

/* The class whose periods without steps of other classes take the most time, of several the one whose periods do, then
 * the first by name; NSX_NONE: no device has two steps of one class. */
static uint32_t
choose_class(const struct nsx_step_set *s)
{
	uint32_t best = NSX_NONE;
	int64_t most[2] = { 0, 0 }, sum[2];

	for (size_t i = 0, n; i < s->list.n; i += n) {
		n = nsx_step_class_time(s, i, sum);
		if (sum[0] > most[0] || (sum[0] == most[0] && sum[1] > most[1])) {
			most[0] = sum[0];
			most[1] = sum[1];
			best = s->list.p[i].class;
		}
	}
	return best;
}

/* A window for the device of that index, unless it has no length. */
static bool
add(const struct nsx_step_set *s, struct nsx_step_windows *w, struct nsx_step_window new)
{
	new.number = s->cat.devices.p[new.device].number;
	return new.to <= new.from || nsx_vec_push(&w->list, new);
}

/* The windows of n steps of a device. */
static bool
of_device(const struct nsx_step_set *s, struct nsx_step_windows *w, size_t first, size_t n)
{
	for (size_t i = first, m; i < first + n; i += m) {
		const struct nsx_step_of *o = &s->list.p[i];
		struct nsx_step_window new = { .device = o->device, .from = o->first, .first = i };

		for (m = 0; i + m < first + n && o[m].kept && (!m || o[m].first == new.to); m++) {
			new.to = o[m].next;
			new.removed += o[m].next - o[m].first - o[m].period;
			new.steps++;
		}
		if (m && !add(s, w, new))
			return false;
		m += !m;
	}
	return true;
}

static bool
of_steps(const struct nsx_step_set *s, struct nsx_step_windows *w)
{
	for (size_t i = 0, n; i < s->list.n; i += n) {
		const struct nsx_step_of *o = &s->list.p[i];

		for (n = 1; i + n < s->list.n && o[n].class == o->class && o[n].device == o->device;)
			n++;
		if (o->class == w->class && !of_device(s, w, i, n))
			return false;
	}
	return true;
}

static bool
of_all(const struct nsx_step_set *s, struct nsx_step_windows *w)
{
	for (size_t i = 0; i < s->timelines.n; i++) {
		const struct nsx_timeline *t = &s->timelines.p[i];

		if (t->start.n && !add(s, w, (struct nsx_step_window){
			(uint32_t)i, 0, t->start.p[0], t->end,
			nsx_timeline_between(t, t->start.p[0], t->end).removed, 1, 0 }))
			return false;
	}
	return true;
}

NSX_ORDER(by_number, struct nsx_step_window, NSX_CMP(a->number, b->number), NSX_CMP(a->from, b->from))

int
nsx_step_windows(const struct nsx_step_set *s, struct nsx_step_windows *w)
{
	bool good;

	w->class = choose_class(s);
	good = w->class != NSX_NONE ? of_steps(s, w) : of_all(s, w);
	if (good && w->list.n > 1)
		qsort(w->list.p, w->list.n, sizeof *w->list.p, by_number);
	return good ? NSX_OK : nsx_err_nomem(s->err, NULL);
}

const struct nsx_step_window *
nsx_step_window_over(const struct nsx_step_windows *w, int64_t device, int64_t start, int64_t end)
{
	const struct nsx_step_window *x = w->list.p;
	size_t i;

	NSX_BISECT(i, 0, w->list.n, x[i].number > device || (x[i].number == device && x[i].to > start));
	return i < w->list.n && x[i].number == device && (x[i].from <= start || x[i].from < end) ? &x[i] : NULL;
}

const struct nsx_step_window *
nsx_step_window_at(const struct nsx_step_windows *w, int64_t device, int64_t time)
{
	return nsx_step_window_over(w, device, time, time);
}
