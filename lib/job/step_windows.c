/* step_windows.c -- the part of each device's time that is analysed by steps. */
#include "job/step_windows.h"

#include <stdlib.h>

#include "base/num.h"

/* The class with the largest sum of periods; NSX_NONE: no device has two steps of one class. */
static uint32_t
choose_class(const struct nsx_step_set *s)
{
	uint32_t best = NSX_NONE;
	int64_t most = 0;

	/* The list is by class, device, start. */
	for (size_t i = 0, n; i < s->list.n; i += n) {
		int64_t sum = 0;

		for (n = 0; i + n < s->list.n && s->list.p[i + n].class == s->list.p[i].class; n++)
			if (s->list.p[i + n].period != NSX_ABSENT)
				sum = nsx_add_sat(sum, s->list.p[i + n].period, NULL);
		if (sum > most) {
			most = sum;
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

static bool
of_steps(const struct nsx_step_set *s, struct nsx_step_windows *w)
{
	for (size_t i = 0, n; i < s->list.n; i += n) {
		const struct nsx_step_of *o = &s->list.p[i];

		for (n = 1; i + n < s->list.n && o[n].class == o->class && o[n].device == o->device;)
			n++;
		if (o->class == w->class && n > 1
		    && !add(s, w, (struct nsx_step_window){ o->device, 0, o->first, o[n - 1].first, (int64_t)n - 1,
		                                            i }))
			return false;
	}
	return true;
}

static bool
of_all(const struct nsx_step_set *s, struct nsx_step_windows *w)
{
	for (size_t i = 0; i < s->timelines.n; i++) {
		const struct nsx_timeline *t = &s->timelines.p[i];

		if (t->start.n && !add(s, w, (struct nsx_step_window){ (uint32_t)i, 0, t->start.p[0], t->end, 1, 0 }))
			return false;
	}
	return true;
}

static int
by_number(const void *a, const void *b)
{
	const struct nsx_step_window *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

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
