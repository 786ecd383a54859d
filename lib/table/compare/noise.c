/* noise.c -- the time of a row, its standard error, and which differences chance explains (compare.h has the formula).
 *
 * For example, on one device, ns:
 *
 *     BASE 100 102 98 100     mean 100, s 1.633, se 0.816, 3 degrees of freedom
 *     NEW  110 112 108 110    mean 110, the same
 *     sqrt(se^2 + se^2) = 1.155, 6 degrees of freedom, k for --sigma 3 (probability 0.0027) is 4.904: noise 5.66
 *
 * The difference of 10 exceeds the noise. */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "table/compare/join.h"

/* Deviation for devices with one execution: the pooled deviation between executions of the others; -1 if none has more
 * than one. */
static double
pooled(const struct cmp_side *s, const struct cmp_row *r)
{
	double squares = 0, freedom = 0;

	for (uint32_t at = r->cells; at != NSX_NONE; at = s->cells.p[at].next) {
		const struct nsx_stat *stat = &s->cells.p[at].stat;

		if (stat->n < 2)
			continue;
		squares += nsx_stat_std(stat) * nsx_stat_std(stat) * (double)(stat->n - 1);
		freedom += (double)(stat->n - 1);
	}
	return freedom > 0 ? sqrt(squares / freedom) : -1;
}

struct cmp_time
nsx_compare_time_of(const struct cmp_side *s, const struct cmp_row *r)
{
	const struct cmp_group *p = &s->groups.p[r->group];
	bool own = r->whole || s->each;
	struct cmp_time t = { .n = own ? 0 : p->execs, .sum = r->sum };
	int64_t devices = own ? 0 : p->devices;
	double other;

	if (s->given.n)
		return s->given.p[r - s->rows.p];
	other = pooled(s, r);

	/* If the executions of a program have thunks only, the time of its modules is unknown. */
	for (uint32_t at = r->cells; at != NSX_NONE && own; at = s->cells.p[at].next) {
		t.n += s->cells.p[at].stat.n;
		devices += s->cells.p[at].stat.n > 0;
	}
	if (!t.n)
		return t;
	t.mean = (double)t.sum / (double)t.n;
	t.known = other >= 0;
	t.freedom = (double)t.n / (double)devices - 1;
	t.freedom = t.freedom < 1 ? 1 : t.freedom;
	for (uint32_t at = r->cells; at != NSX_NONE && t.known; at = s->cells.p[at].next) {
		const struct nsx_stat *stat = &s->cells.p[at].stat;
		double n = (double)stat->n;

		if (stat->n > 0)
			t.error += n / (double)t.n * (stat->n > 1 ? nsx_stat_std(stat) : other) / sqrt(n);
	}
	return t;
}

bool
nsx_compare_give(struct cmp_side *s, uint32_t row, int64_t *times, size_t n, struct nsx_sample sample)
{
	struct cmp_time t = { .n = (int64_t)n };

	while (s->given.n < s->rows.n)
		if (!nsx_vec_push(&s->given, ((struct cmp_time){ 0 })))
			return false;
	while (s->series.n < s->rows.n)
		if (!nsx_vec_push(&s->series, ((struct cmp_series){ 0, 0 })))
			return false;
	if (!nsx_vec_room(&s->values, sample.n))
		return false;
	for (size_t i = 0; i < n; i++)
		t.sum += (nsx_u128)times[i];
	if (n > 1)
		qsort(times, n, sizeof *times, nsx_sort_by_int);
	if (n) {
		t.mean = (double)t.sum / (double)n;
		t.p50 = nsx_percentile(times, n, 50);
		t.p99 = nsx_percentile(times, n, 99);
	}
	s->given.p[row] = t;
	s->rows.p[row].sum = t.sum;
	s->series.p[row] = (struct cmp_series){ s->values.n, sample.n };
	for (size_t i = 0; i < sample.n; i++)
		s->values.p[s->values.n++] = sample.v[i];
	return true;
}

struct nsx_sample
nsx_compare_sample(const struct cmp_side *s, const struct cmp_row *r)
{
	size_t at = (size_t)(r - s->rows.p);

	if (at >= s->series.n || !s->series.p[at].n)
		return (struct nsx_sample){ NULL, 0 };
	return (struct nsx_sample){ s->values.p + s->series.p[at].first, s->series.p[at].n };
}

double
nsx_compare_noise(const struct cmp_time *base, const struct cmp_time *new, double sigma)
{
	double a = base->error * base->error, b = new->error * new->error, all = a + b;

	if (all <= 0)
		return 0;
	/* Divided by the sum first: squares of squares may exceed the range of doubles. */
	double freedom = 1 / (a / all * (a / all) / base->freedom + b / all * (b / all) / new->freedom);

	return sigma > 0 ? nsx_student(nsx_witness_alpha(sigma), freedom) * sqrt(all) : 0;
}
