/* numbers.c -- the same number for the same step of a job on every device. */
#include "job/steps/numbers.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "base/vec.h"
#include "job/serving.h"

/* Steps [at, at + n) of one device and class. clock: times of devices with the same one can be compared. */
struct device_steps { size_t at, n; int64_t clock[2], shift; bool shared; };

/* When a step was, and which it is of its device. */
struct moment { int64_t at, index; };

/* What numbering needs of memory, for as many as there are steps. */
struct room { struct moment *ref; int64_t *shifts; };

/* ---- numbers in names ---- */

int64_t
nsx_step_tag(struct nsx_str name)
{
	struct nsx_serving serving;
	size_t from = 0, to;
	int64_t tag;

	while (from < name.len && !nsx_is_digit(name.ptr[from]))
		from++;
	for (to = from; to < name.len && nsx_is_digit(name.ptr[to]);)
		to++;
	for (size_t i = to; i < name.len; i++)
		if (nsx_is_digit(name.ptr[i]))
			return NSX_ABSENT;
	if (from == to || nsx_serving_of(name, &serving))
		return NSX_ABSENT;
	return nsx_get_int((struct nsx_str){ name.ptr + from, to - from }, &tag) ? tag : NSX_ABSENT;
}

/* Whether the numbers in the names of n steps are there and grow, by one if `dense`. */
static bool
grow(const struct nsx_step_of *s, size_t n, bool dense)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i].tag == NSX_ABSENT)
			return false;
		if (i && (dense ? s[i].tag - 1 != s[i - 1].tag : s[i].tag <= s[i - 1].tag))
			return false;
	}
	return true;
}

/* Number the steps of a class by their names; false if these do not tell. */
static bool
by_names(struct nsx_step_of *list, const struct device_steps *runs, size_t n)
{
	const struct device_steps *ref = &runs[0];
	int64_t least = INT64_MAX;

	for (size_t i = 1; i < n; i++)
		if (runs[i].n > ref->n)
			ref = &runs[i];
	const struct nsx_step_of *first = &list[ref->at], *last = first + ref->n - 1;

	if (ref->n < 2 || !grow(first, ref->n, true))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct nsx_step_of *own = &list[runs[i].at];

		if (!grow(own, runs[i].n, false) || own->tag > last->tag || own[runs[i].n - 1].tag < first->tag)
			return false;
		least = own->tag < least ? own->tag : least;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < runs[i].n; k++)
			list[runs[i].at + k].number = list[runs[i].at + k].tag - least;
	return true;
}

/* ---- times ---- */

static uint64_t
distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* When the step was: on all its devices at once, if it communicates and that is asked. False: it does not. */
static bool
moment_of(const struct nsx_step_of *o, bool met, int64_t *at)
{
	*at = met ? o->met[0] : o->first;
	if (met && *at != NSX_ABSENT)
		*at += (int64_t)(distance(o->met[1], o->met[0]) / 2);
	return *at != NSX_ABSENT;
}

static bool
any_met(const struct nsx_step_of *s, size_t n)
{
	while (n && s[n - 1].met[0] == NSX_ABSENT)
		n--;
	return n > 0;
}

NSX_ORDER(by_time, struct moment, NSX_CMP(a->at, b->at), NSX_CMP(a->index, b->index))

/* The moments of n steps, by time. Their number. */
static size_t
moments(const struct nsx_step_of *s, size_t n, bool met, struct moment *list)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (moment_of(&s[i], met, &list[m].at))
			list[m++].index = (int64_t)i;
	nsx_sort(list, m, by_time);
	return m;
}

/* The first of n moments at x or later; n: none is. */
static size_t
first_from(const struct moment *s, size_t n, int64_t x)
{
	return nsx_sort_first(s, n, sizeof *s, offsetof(struct moment, at), x);
}

/* The moment nearest to x; of two at the same distance the later one, of several at one time the first. */
static size_t
nearest(const struct moment *s, size_t n, int64_t x)
{
	size_t at = first_from(s, n, x);

	if (at && (at == n || distance(s[at - 1].at, x) < distance(s[at].at, x)))
		at = first_from(s, at, s[at - 1].at);
	return at;
}

/* Whether x is between the moments of the reference, or at most half a period before or after them. */
static bool
is_near(const struct moment *ref, size_t m, size_t at, int64_t x, uint64_t half)
{
	return distance(ref[at].at, x) <= half || (x > ref[0].at && x < ref[m - 1].at);
}

/* The shift of steps own[0..n-1] against the m > 0 moments of the reference; false if none is at their time. Moments of
 * the reference are found by binary search, not by iterating over them: there may be very many devices with few steps
 * each. */
static bool
find_shift(const struct moment *ref, size_t m, uint64_t half, const struct nsx_step_of *own, size_t n, bool met,
           int64_t *shifts, int64_t *shift)
{
	int64_t x, before = 0;
	bool any = false;
	size_t k = 0, at;

	for (size_t i = 0; i < n; i++) {
		if (!moment_of(&own[i], met, &x))
			continue;
		/* Of steps at one time only the first is used, as in the reference. */
		bool again = any && x == before;

		any = true;
		before = x;
		at = nearest(ref, m, x);
		if (!again && is_near(ref, m, at, x, half))
			shifts[k++] = ref[at].index - (int64_t)i;
	}
	if (!k)
		return false;
	*shift = nsx_sort_nth(shifts, k, (k - 1) / 2);
	return true;
}

/* Number the steps of the n runs of a class whose devices are on one clock: of those that communicate with the
 * reference by that, of the others by their starts. */
static void
by_times(struct nsx_step_of *list, struct device_steps *runs, size_t n, const struct room *room)
{
	const struct device_steps *ref = &runs[0];
	int64_t least = 0;

	for (size_t i = 1; i < n; i++)
		if (runs[i].n > ref->n)
			ref = &runs[i];
	const struct nsx_step_of *first = &list[ref->at];
	bool all_met = any_met(first, ref->n);
	uint64_t half = ref->n > 1 ? distance(first[ref->n - 1].first, first->first) / (ref->n - 1) / 2 : UINT64_MAX;

	for (int met = 1; met >= 0; met--) {
		size_t m = met && !all_met ? 0 : moments(first, ref->n, met, room->ref);

		for (size_t i = 0; i < n && m; i++) {
			struct device_steps *r = &runs[i];

			if (r != ref && !r->shared)
				r->shared = find_shift(room->ref, m, half, &list[r->at], r->n, met, room->shifts,
				                       &r->shift);
			least = r->shared && r->shift < least ? r->shift : least;
		}
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < runs[i].n; k++)
			list[runs[i].at + k].number = (int64_t)k
			                              + (runs[i].shared || &runs[i] == ref ? runs[i].shift - least : 0);
}

/* ---- classes ---- */

NSX_ORDER(by_clock, struct device_steps, NSX_CMP(a->clock[0], b->clock[0]), NSX_CMP(a->clock[1], b->clock[1]),
          NSX_CMP(a->at, b->at))

static bool
same_clock(const struct device_steps *a, const struct device_steps *b)
{
	return a->clock[0] == b->clock[0] && a->clock[1] == b->clock[1];
}

/* Number the steps of the n runs of a class. */
static void
number(struct nsx_step_of *list, struct device_steps *runs, size_t n, const struct room *room)
{
	if (by_names(list, runs, n))
		return;
	nsx_sort(runs, n, by_clock);
	for (size_t i = 0, k; i < n; i += k) {
		for (k = 1; i + k < n && same_clock(&runs[i + k], &runs[i]);)
			k++;
		by_times(list, runs + i, k, room);
	}
}

int
nsx_step_numbers(struct nsx_step_of *list, size_t n, const struct nsx_catalogue *cat, struct nsx_err *err)
{
	NSX_VEC(struct device_steps) runs = { 0 };
	struct room room = { malloc((n + 1) * sizeof *room.ref), malloc((n + 1) * sizeof *room.shifts) };
	bool good = room.ref && room.shifts;

	for (size_t i = 0; good && i < n;) {
		const struct nsx_cat_device *d = &cat->devices.p[list[i].device];
		/* Aligned with each other, or of one report. */
		struct device_steps r = { .at = i, .clock = { d->aligned, d->aligned ? d->component : d->profile } };

		if (i && list[i].class != list[i - 1].class) {
			number(list, runs.p, runs.n, &room);
			runs.n = 0;
		}
		while (i < n && list[i].class == list[r.at].class && list[i].device == list[r.at].device)
			i++;
		r.n = i - r.at;
		good = nsx_vec_push(&runs, r);
	}
	if (good && runs.n)
		number(list, runs.p, runs.n, &room);
	free(runs.p);
	free(room.ref);
	free(room.shifts);
	return good ? NSX_OK : nsx_err_nomem(err, NULL);
}
