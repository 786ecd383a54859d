/* solve.c -- from devices' records of collectives to corrections.
 *
 *   devices a, b, c end one all-reduce at   1000  1240  1006    mean 1082    skews  -82  158  -76
 *                            the next at   2002  2240  2004    mean 2082           -80  158  -78
 *                            the next at   3000  3238  3008    mean 3082           -82  156  -74
 *                                                              medians             -82  158  -76
 *
 * so 82 is added to the times of a, 158 subtracted from those of b, 76 added to those of c; the first three ends become
 * 1082, 1082, 1082.
 *
 * Collectives with the same members are one set. In a set the skew of a clock is the median of end - mean end over its
 * devices' records. Where a set contains all devices that are connected, that is the result. Otherwise the skews of
 * many sets are combined: the mean of each set is an unknown, found by least absolute deviations (least_deviations.c).
 */
#include "filter/align/solving.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"

/* ---- skews ---- */

/* num: by record, n * (end - mean end). */
static int
find_nums(struct al_solving *s)
{
	struct al_job *j = s->j;
	size_t kept = 0;

	j->num = malloc((j->obs.n + 1) * sizeof *j->num);
	if (!j->num)
		return nsx_err_nomem(j->err, NULL);
	for (size_t i = 0; i < j->instances.n; i++) {
		struct al_instance in = j->instances.p[i];
		const struct al_obs *o = &j->obs.p[in.first];
		al_wide sum = 0;

		if (!nsx_align_counts(s, &in))
			continue;
		for (uint32_t k = 0; k < in.n; k++)
			sum += o[k].end;
		for (uint32_t k = 0; k < in.n; k++) {
			al_wide num = (al_wide)in.n * o[k].end - sum;
			j->num[in.first + k] = num > INT64_MAX ? INT64_MAX : num < INT64_MIN ? INT64_MIN : (int64_t)num;
		}
		j->instances.p[kept++] = in;
	}
	j->instances.n = kept;
	return NSX_OK;
}

/* A record, for sorting: by clock, then skew. */
struct clock_skew { uint32_t clock, obs; int64_t num; };

NSX_ORDER(by_skew, struct clock_skew, NSX_CMP(a->clock, b->clock), NSX_CMP(a->num, b->num), NSX_CMP(a->obs, b->obs))

NSX_ORDER(by_set, struct al_instance, NSX_CMP(a->set, b->set), NSX_CMP(a->first, b->first))

typedef int (*each_set)(struct al_solving *s, uint32_t set, struct clock_skew *p, size_t n);

/* Call fn for every set used, with its records by clock and skew. */
static int
for_each_set(struct al_solving *s, each_set fn)
{
	struct al_job *j = s->j;
	NSX_VEC(struct clock_skew) parts = { 0 };
	int rc = NSX_OK;

	for (size_t i = 0, k; i < j->instances.n && rc == NSX_OK; i = k) {
		parts.n = 0;
		for (k = i; k < j->instances.n && j->instances.p[k].set == j->instances.p[i].set && rc == NSX_OK; k++) {
			const struct al_instance *in = &j->instances.p[k];
			if (!nsx_vec_room(&parts, in->n))
				rc = nsx_err_nomem(j->err, NULL);
			for (uint32_t o = in->first; rc == NSX_OK && o < in->first + in->n; o++)
				parts.p[parts.n++] = (struct clock_skew){ j->devices.p[j->obs.p[o].device].clock, o,
					j->num[o] };
		}
		if (rc == NSX_OK) {
			qsort(parts.p, parts.n, sizeof *parts.p, by_skew);
			rc = fn(s, j->instances.p[i].set, parts.p, parts.n);
		}
	}
	free(parts.p);
	return rc;
}

/* The standard error of a median of n sorted records: from the distance of their quartiles, as of normally distributed
 * skews, and at least that of rounding. Less than 0 for few. */
static double
error_of(const struct clock_skew *p, size_t n, uint32_t ndev)
{
	const double per_quartiles = 1.2533 / 1.349, rounding = 0.5;

	if (n < 4)
		return -1;
	double apart = ((double)p[n - 1 - n / 4].num - (double)p[n / 4].num) / ndev;
	return fmax(per_quartiles * apart / sqrt((double)n), rounding);
}

static int
medians(struct al_solving *s, uint32_t set, struct clock_skew *p, size_t n)
{
	uint32_t ndev = s->sets.p[set].ndev;

	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && p[k].clock == p[i].clock; k++)
			;
		struct al_skew sk = { .set = set, .clock = p[i].clock, .n = k - i, .ndev = ndev };
		sk.twice = (al_wide)p[i + (k - i - 1) / 2].num + p[i + (k - i) / 2].num;
		sk.value = (double)sk.twice / (2.0 * ndev);
		double error = error_of(p + i, k - i, ndev), *least = &s->error[p[i].clock];
		if (error >= 0 && (*least < 0 || error < *least))
			*least = error;
		s->count[p[i].clock] += al_set_size(&s->sets.p[set]);
		if (!nsx_vec_push(&s->skews, sk))
			return nsx_err_nomem(s->j->err, NULL);
	}
	return NSX_OK;
}

/* ---- many sets ---- */

/* Solve components without a set of all for value (or rate, times scale) of the skews, into x. */
static int
solve_stars(struct al_solving *s, bool rate, double scale, double *x)
{
	size_t n = s->skews.n;
	uint32_t *node = malloc((n + 1) * sizeof *node), *star = malloc((n + 1) * sizeof *star);
	double *y = malloc((n + 1) * sizeof *y), *w = malloc((n + 1) * sizeof *w);
	struct al_star_data d = { 0, node, star, y, w };
	int rc = node && star && y && w ? NSX_OK : nsx_err_nomem(s->j->err, NULL);

	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		const struct al_skew *k = &s->skews.p[i];

		if (s->enough[al_root_of(s, k->clock)] != NSX_NONE)
			continue;
		node[d.n] = k->clock;
		star[d.n] = k->set;
		y[d.n] = rate ? k->rate * scale : k->value;
		w[d.n++] = (double)k->n;
	}
	if (rc == NSX_OK && d.n && !nsx_align_stars(&d, s->j->nclocks, (uint32_t)s->sets.n, x))
		rc = nsx_err_nomem(s->j->err, NULL);
	free(node);
	free(star);
	free(y);
	free(w);
	return rc;
}

/* Shift each component without a set of all so that the mean over its devices is 0. */
static int
centre(struct al_solving *s, double *x)
{
	uint32_t n = s->j->nclocks;
	double *mean = calloc(n + 1, sizeof *mean);

	if (!mean)
		return nsx_err_nomem(s->j->err, NULL);
	for (uint32_t c = 0; c < n; c++)
		mean[al_root_of(s, c)] += x[c] * s->weight[c] / fmax(s->devices[al_root_of(s, c)], 1);
	for (uint32_t c = 0; c < n; c++)
		if (s->enough[al_root_of(s, c)] == NSX_NONE)
			x[c] -= mean[al_root_of(s, c)];
	free(mean);
	return NSX_OK;
}

static int
solve_offsets(struct al_solving *s)
{
	if (for_each_set(s, medians) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < s->skews.n; i++) {
		const struct al_skew *k = &s->skews.p[i];
		/* The initial value of the iteration for components with several sets; the exact result where one set
		 * is used. */
		s->x[k->clock] = (double)nsx_align_round_div(k->twice, 2 * (al_wide)k->ndev);
		s->value[k->clock] = k->value;
	}
	if (solve_stars(s, false, 1, s->x) != NSX_OK || centre(s, s->x) != NSX_OK)
		return NSX_ERR;
	for (uint32_t c = 0; c < s->j->nclocks; c++) {
		if (s->enough[al_root_of(s, c)] == NSX_NONE)
			s->value[c] = s->x[c];
		s->x[c] = round(s->x[c]);
	}
	return NSX_OK;
}

/* ---- drift ---- */

/* The skew of every clock of the set as a line over its time. */
static int
lines(struct al_solving *s, uint32_t set, struct clock_skew *p, size_t n)
{
	const struct al_job *j = s->j;
	double ndev = s->sets.p[set].ndev, *t = malloc((4 * n + 1) * sizeof *t), a, b;

	if (!t)
		return nsx_err_nomem(j->err, NULL);
	for (size_t i = 0, k; i < n; i = k) {
		struct al_skew sk = { .set = set, .clock = p[i].clock };
		for (k = i; k < n && p[k].clock == p[i].clock; k++) {
			t[k - i] = (double)nsx_sub_sat(j->obs.p[p[k].obs].end, s->ref[p[i].clock], NULL);
			t[n + k - i] = (double)p[k].num / ndev;
		}
		sk.n = k - i;
		nsx_align_line(t, t + n, sk.n, &a, &b, t + 2 * n);
		sk.value = a;
		sk.rate = b;
		if (!nsx_vec_push(&s->skews, sk)) {
			free(t);
			return nsx_err_nomem(j->err, NULL);
		}
	}
	free(t);
	return NSX_OK;
}

/* The time at which each component's line is centred: the middle of its collectives, on each clock. */
static int
find_refs(struct al_solving *s)
{
	const struct al_job *j = s->j;
	int64_t *lo = malloc((j->nclocks + 1) * sizeof *lo), *hi = malloc((j->nclocks + 1) * sizeof *hi);
	int rc = lo && hi ? NSX_OK : nsx_err_nomem(j->err, NULL);

	for (uint32_t c = 0; c < j->nclocks && rc == NSX_OK; c++) {
		lo[c] = INT64_MAX;
		hi[c] = INT64_MIN;
	}
	for (size_t i = 0; i < j->instances.n && rc == NSX_OK; i++)
		for (uint32_t o = j->instances.p[i].first; o < j->instances.p[i].first + j->instances.p[i].n; o++) {
			uint32_t c = j->devices.p[j->obs.p[o].device].clock, root = al_root_of(s, c);
			int64_t t = nsx_sub_sat(j->obs.p[o].end, llround(s->x[c]), NULL);
			lo[root] = t < lo[root] ? t : lo[root];
			hi[root] = t > hi[root] ? t : hi[root];
		}
	for (uint32_t c = 0; c < j->nclocks && rc == NSX_OK; c++) {
		uint32_t root = al_root_of(s, c);
		if (lo[root] <= hi[root])
			s->ref[c] = nsx_add_sat(lo[root] + (int64_t)(((uint64_t)hi[root] - (uint64_t)lo[root]) / 2),
			                        llround(s->x[c]), NULL);
		if (c == root && lo[c] <= hi[c])
			s->half[c] = (double)((uint64_t)hi[c] - (uint64_t)lo[c]) / 2;
	}
	free(lo);
	free(hi);
	return rc;
}

static int
solve_drift(struct al_solving *s)
{
	const double scale = 1e9;   /* rates in ns a second are of the size of offsets */
	int64_t wild = 0;

	s->skews.n = 0;
	if (find_refs(s) != NSX_OK || for_each_set(s, lines) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < s->skews.n; i++) {
		s->x[s->skews.p[i].clock] = s->skews.p[i].value;
		s->rate[s->skews.p[i].clock] = s->skews.p[i].rate * scale;
	}
	if (solve_stars(s, false, 1, s->x) != NSX_OK || centre(s, s->x) != NSX_OK
	    || solve_stars(s, true, scale, s->rate) != NSX_OK || centre(s, s->rate) != NSX_OK)
		return NSX_ERR;
	for (uint32_t c = 0; c < s->j->nclocks; c++) {
		/* More digits than a nanosecond in an hour needs would be noise. */
		s->rate[c] = round(s->rate[c] * 1e6) / (1e6 * scale);
		s->x[c] = s->value[c] = round(s->x[c] * 1e3) / 1e3;
		if (!(fabs(s->rate[c]) <= AL_RATE_LIMIT)) {
			wild++;
			s->rate[c] = 0;
		}
	}
	nsx_diag_add(s->j->diags, NSX_WARNING, "", wild,
	             "clocks that seem to drift by more than 1000 ppm: taken as not drifting");
	return NSX_OK;
}

/* ---- the whole ---- */

NSX_ORDER(by_instance, struct al_obs, NSX_CMP(a->collective, b->collective), NSX_CMP(a->execution, b->execution),
          NSX_CMP(a->occurrence, b->occurrence), NSX_CMP(a->device, b->device), NSX_CMP(a->end, b->end))

static bool
make_room(struct al_solving *s)
{
	size_t n = s->j->nclocks + 1;

	s->parent = malloc(n * sizeof *s->parent);
	s->weight = calloc(n, sizeof *s->weight);
	s->enough = malloc(n * sizeof *s->enough);
	s->devices = calloc(n, sizeof *s->devices);
	s->x = calloc(n, sizeof *s->x);
	s->value = calloc(n, sizeof *s->value);
	s->error = calloc(n, sizeof *s->error);
	s->rate = calloc(n, sizeof *s->rate);
	s->half = calloc(n, sizeof *s->half);
	s->ref = calloc(n, sizeof *s->ref);
	s->count = calloc(n, sizeof *s->count);
	if (!s->parent || !s->weight || !s->enough || !s->devices || !s->x || !s->value || !s->error || !s->rate ||
	    !s->half || !s->ref || !s->count)
		return false;
	for (uint32_t c = 0; c < n; c++) {
		s->parent[c] = c;
		s->enough[c] = NSX_NONE;
		s->error[c] = -1;
	}
	for (size_t i = 0; i < s->j->devices.n; i++)
		s->weight[s->j->devices.p[i].clock] += s->j->devices.p[i].profiled;
	return true;
}

int
nsx_align_solve(struct al_job *j, struct al_corrections *g)
{
	struct al_solving s = { .j = j };
	int rc = make_room(&s) ? NSX_OK : nsx_err_nomem(j->err, NULL);

	if (j->obs.n)
		qsort(j->obs.p, j->obs.n, sizeof *j->obs.p, by_instance);
	if (rc == NSX_OK && (rc = nsx_align_screen(j)) == NSX_OK && (rc = nsx_align_find_instances(&s)) == NSX_OK) {
		nsx_align_choose_sets(&s);
		rc = find_nums(&s);
	}
	if (rc == NSX_OK && j->instances.n)
		qsort(j->instances.p, j->instances.n, sizeof *j->instances.p, by_set);
	if (rc == NSX_OK)
		rc = solve_offsets(&s);
	if (rc == NSX_OK && j->opts->drift)
		rc = solve_drift(&s);
	if (rc == NSX_OK && j->aligned)
		rc = nsx_align_rest(&s);
	if (rc == NSX_OK)
		rc = nsx_align_give(&s, g);
	nsx_intern_free(&s.members);
	free(s.sets.p);
	free(s.skews.p);
	free(s.parent);
	free(s.weight);
	free(s.enough);
	free(s.devices);
	free(s.x);
	free(s.value);
	free(s.error);
	free(s.rate);
	free(s.half);
	free(s.ref);
	free(s.count);
	return rc;
}
