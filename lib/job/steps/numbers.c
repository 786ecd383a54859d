/* numbers.c -- the same number for the same step of a job on every device. */
#include "job/steps/numbers.h"

#include <stdlib.h>

#include "base/sort.h"
#include "base/vec.h"

/* Steps [at, at + n) of one device and class. */
struct device_steps { size_t at, n; int64_t shift; bool shared; };

static uint64_t
distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Whether times of two devices can be compared: they are aligned with each other, or of one report. */
static bool
one_clock(const struct nsx_cat_device *a, const struct nsx_cat_device *b)
{
	if (a->aligned && b->aligned && a->component == b->component)
		return true;
	return !a->aligned && !b->aligned && a->profile == b->profile;
}

/* The first of steps s[0..n-1] that starts at x or later; n: none does. */
static size_t
first_from(const struct nsx_step_of *s, size_t n, int64_t x)
{
	return nsx_sort_first(s, n, sizeof *s, offsetof(struct nsx_step_of, first), x);
}

/* The step that starts nearest to x; of two at the same distance the later one, of those that start together the
 * first. */
static size_t
nearest(const struct nsx_step_of *s, size_t n, int64_t x)
{
	size_t at = first_from(s, n, x);

	if (at && (at == n || distance(s[at - 1].first, x) < distance(s[at].first, x)))
		at = first_from(s, at, s[at - 1].first);
	return at;
}

/* The shift of steps own[0..n-1] against ref[0..m-1]; false if none starts at the time of the reference. room: for n
 * values. Steps of the reference are found by binary search, not by iterating over them: there may be very many devices
 * with few steps each. */
static bool
find_shift(const struct nsx_step_of *ref, size_t m, const struct nsx_step_of *own, size_t n, int64_t *room,
           int64_t *shift)
{
	int64_t begin = ref[0].first, end = ref[m - 1].first;
	uint64_t half = m > 1 ? distance(end, begin) / (m - 1) / 2 : UINT64_MAX;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t x = own[i].first;

		if ((x < begin && distance(x, begin) > half) || (x > end && distance(x, end) > half))
			continue;
		/* Of steps that start together only the first is used, as in the reference. */
		if (i && x == own[i - 1].first)
			continue;
		room[k++] = (int64_t)nearest(ref, m, x) - (int64_t)i;
	}
	if (!k)
		return false;
	qsort(room, k, sizeof *room, nsx_sort_by_int);
	*shift = room[(k - 1) / 2];
	return true;
}

/* Number the steps of the n runs of a class. */
static void
number(struct nsx_step_of *list, const struct nsx_catalogue *cat, struct device_steps *runs, size_t n, int64_t *room)
{
	const struct device_steps *ref = &runs[0];
	int64_t least = 0;

	for (size_t i = 1; i < n; i++)
		if (runs[i].n > ref->n)
			ref = &runs[i];
	for (size_t i = 0; i < n; i++) {
		struct device_steps *r = &runs[i];

		r->shared = r == ref || (one_clock(&cat->devices.p[list[r->at].device],
		                                   &cat->devices.p[list[ref->at].device])
		            && find_shift(&list[ref->at], ref->n, &list[r->at], r->n, room, &r->shift));
		if (r->shared && r->shift < least)
			least = r->shift;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < runs[i].n; k++)
			list[runs[i].at + k].number = (int64_t)k + (runs[i].shared ? runs[i].shift - least : 0);
}

int
nsx_step_numbers(struct nsx_step_of *list, size_t n, const struct nsx_catalogue *cat, struct nsx_err *err)
{
	NSX_VEC(struct device_steps) runs = { 0 };
	int64_t *room = malloc((n + 1) * sizeof *room);
	bool good = room != NULL;

	for (size_t i = 0; good && i < n;) {
		struct device_steps r = { .at = i };

		if (i && list[i].class != list[i - 1].class) {
			number(list, cat, runs.p, runs.n, room);
			runs.n = 0;
		}
		while (i < n && list[i].class == list[r.at].class && list[i].device == list[r.at].device)
			i++;
		r.n = i - r.at;
		good = nsx_vec_push(&runs, r);
	}
	if (good && runs.n)
		number(list, cat, runs.p, runs.n, room);
	free(runs.p);
	free(room);
	return good ? NSX_OK : nsx_err_nomem(err, NULL);
}
