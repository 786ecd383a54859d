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

#include "table/compare/sides.h"

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
	const struct cmp_program *p = &s->programs.p[r->program];
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

/* ---- Student's distribution */

/* The continued fraction of the incomplete beta function, by Lentz's method; x below (a + 1) / (a + b + 2). */
static double
beta_fraction(double x, double a, double b)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (int m = 1; m < 500; m++) {
		for (int odd = 0; odd < 2; odd++) {
			double k = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
			    : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));

			d = 1 + k * d;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = 1 + k / c;
			c = fabs(c) < tiny ? tiny : c;
			f *= c * d;
		}
		if (fabs(c * d - 1) < 1e-15)
			break;
	}
	return f;
}

/* Probability that |t| is above t, with that many degrees of freedom: the incomplete beta function at v / (v + t^2), of
 * v/2 and 1/2. */
static double
tails(double t, double v)
{
	double a = v / 2, b = 0.5, x = v / (v + t * t), y = t * t / (v + t * t);
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));

	if (t <= 0)
		return 1;
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a : 1 - front * beta_fraction(y, b, a) / b;
}

/* The t with the same probability of being exceeded as sigma deviations of a normal distribution. */
static double
quantile(double sigma, double freedom)
{
	double p = erfc(sigma / sqrt(2)), low = sigma, high = sigma;

	if (sigma <= 0 || freedom > 1e5)
		return sigma;
	while (high < 1e150 && tails(high, freedom) > p)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		double middle = low + (high - low) / 2;

		if (tails(middle, freedom) > p)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double
nsx_compare_noise(const struct cmp_time *base, const struct cmp_time *new, double sigma)
{
	double a = base->error * base->error, b = new->error * new->error, all = a + b;

	if (all <= 0)
		return 0;
	/* Divided by the sum first: squares of squares may exceed the range of doubles. */
	return quantile(sigma, 1 / (a / all * (a / all) / base->freedom + b / all * (b / all) / new->freedom)) *
	       sqrt(all);
}
