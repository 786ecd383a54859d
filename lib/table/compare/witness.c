/* witness.c -- see witness.h. */
#include "table/compare/witness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/stat.h"

/* Values that depend on each other over more steps than this count as if they did over so many; of very many values
 * over fewer, so that no row takes more than seconds. */
enum { LONGEST = 4096, PRODUCTS = 1 << 30 };

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

/* The logarithm of 1 / B(v/2, 1/2). */
static double
beta_of(double v)
{
	return lgamma(v / 2 + 0.5) - lgamma(v / 2) - lgamma(0.5);
}

/* Probability that |t| is above t, with v degrees of freedom: the incomplete beta function at v / (v + t^2), of v/2 and
 * 1/2; beta: beta_of(v). */
static double
tails(double t, double v, double beta)
{
	double a = v / 2, b = 0.5, x = v / (v + t * t), y = t * t / (v + t * t);
	double front = exp(beta + a * log(x) + b * log(y));

	if (t <= 0)
		return 1;
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a : 1 - front * beta_fraction(y, b, a) / b;
}

/* The t of a normal distribution, as the limit of many degrees of freedom. */
static double
normal(double p)
{
	double low = 0, high = 40;

	for (int i = 0; i < 200; i++) {
		double middle = low + (high - low) / 2;

		if (erfc(middle / sqrt(2)) / 2 > p)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double
nsx_student(double p, double freedom)
{
	double low = 0, high = 1, beta = beta_of(freedom);

	if (p >= 0.5)
		return 0;
	if (freedom > 1e5)
		return normal(p);
	while (high < 1e150 && tails(high, freedom, beta) / 2 > p)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		double middle = low + (high - low) / 2;

		if (tails(middle, freedom, beta) / 2 > p)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double
nsx_witness_alpha(double sigma)
{
	return sigma > 0 ? erfc(sigma / sqrt(2)) / 2 : 0;
}

/* ---- values that depend on each other */

/* Sum of products of residuals `lag` apart. */
static double
covariance(struct nsx_sample s, double mean, size_t lag)
{
	double sum = 0;

	for (size_t i = 0; i + lag < s.n; i++)
		sum += (s.v[i] - mean) * (s.v[i + lag] - mean);
	return sum;
}

static double
correlation_time(struct nsx_sample s, double mean, double squares)
{
	double sum = 0, before = INFINITY;

	for (size_t k = 0; 2 * k + 1 < s.n && 2 * k < LONGEST && 2 * k * s.n < PRODUCTS; k++) {
		double pair = (covariance(s, mean, 2 * k) + covariance(s, mean, 2 * k + 1)) / squares;

		if (pair <= 0)
			break;
		pair = pair < before ? pair : before;
		before = pair;
		sum += pair;
	}
	return 2 * sum - 1 > 1 ? 2 * sum - 1 : 1;
}

/* tau' of a sample. */
static double
dependence(struct nsx_sample s, double mean, double squares)
{
	double n = (double)s.n, tau = squares > 0 ? correlation_time(s, mean, squares) : 1;

	tau = 1 + (tau - 1) * (1 + 2 * tau / n);
	return tau < n ? tau : n;
}

struct nsx_effective
nsx_effective_of(struct nsx_sample s)
{
	struct nsx_effective e = { .n_eff = 1 };
	double n = (double)s.n, squares, tau;

	for (size_t i = 0; i < s.n; i++)
		e.mean += (s.v[i] - e.mean) / (double)(i + 1);
	squares = covariance(s, e.mean, 0);
	if (s.n < 2)
		return e;
	if (squares <= 0) {
		e.n_eff = n;
		return e;
	}
	tau = dependence(s, e.mean, squares);
	e.n_eff = n / tau;
	/* With one effective value no variance is known: that of all values is too small, and nothing is judged. */
	e.variance = squares / (n - tau > 1 ? n - tau : 1);
	return e;
}

/* ---- witnesses */

static double
freedom_of(const struct nsx_effective *e)
{
	double freedom = e->freedom > 0 ? e->freedom : e->n_eff - 1;

	return freedom > 1 ? freedom : 1;
}

/* 1 if NEW's mean is larger, -1 if it is smaller, by more than chance; *noise: the largest difference that is
 * chance. */
static int
speak(const struct nsx_effective of[2], double alpha, double *noise)
{
	double a = of[0].variance / of[0].n_eff, b = of[1].variance / of[1].n_eff, all = a + b;
	double diff = of[1].mean - of[0].mean, freedom;

	*noise = 0;
	if (all > 0 && alpha > 0) {
		double fa = freedom_of(&of[0]), fb = freedom_of(&of[1]);

		/* Divided by the sum first: squares of squares may exceed the range of doubles. */
		freedom = 1 / (a / all * (a / all) / fa + b / all * (b / all) / fb);
		*noise = nsx_student(alpha, freedom) * sqrt(all);
	}
	return diff > *noise ? 1 : diff < -*noise ? -1 : 0;
}

/* Doubles that are not negative are in the order of their bits. */
static int64_t
bits_of(double v)
{
	int64_t bits;

	memcpy(&bits, &v, sizeof bits);
	return bits;
}

/* The values of both sides, by their bits, as their ranks among all, from 1; equal ones have the mean of theirs. Side
 * and place are tag and i. False when out of memory. */
static bool
rank_all(struct nsx_sort_start *r, size_t n, double *const ranks[2])
{
	if (!nsx_sort_starts(r, n))
		return false;
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && r[k].start == r[i].start; k++)
			;
		for (size_t m = i; m < k; m++)
			ranks[r[m].tag][r[m].i] = ((double)(i + 1) + (double)k) / 2;
	}
	return true;
}

/* The median of a sample. False when out of memory. */
static bool
median_of(struct nsx_sample s, double *median)
{
	int64_t *bits = malloc(s.n * sizeof *bits);

	if (!bits)
		return false;
	memcpy(bits, s.v, s.n * sizeof *bits);
	int64_t at = nsx_sort_nth(bits, s.n, nsx_percentile_rank(s.n, 50));

	memcpy(median, &at, sizeof at);
	free(bits);
	return true;
}

/* Whether the gap between the values of one side and those of the other is that wide. Both have values. */
static bool
is_apart(const struct nsx_sample of[2], const struct nsx_witness *w)
{
	double low[2], high[2];

	for (int k = 0; k < 2; k++) {
		low[k] = high[k] = of[k].v[0];
		for (size_t i = 1; i < of[k].n; i++) {
			low[k] = fmin(low[k], of[k].v[i]);
			high[k] = fmax(high[k], of[k].v[i]);
		}
	}
	double gap = fmax(low[0] - high[1], low[1] - high[0]);

	return gap >= high[0] - low[0] + high[1] - low[1]
	       && gap >= NSX_WITNESS_PART * fmax(w->of[0].mean, w->of[1].mean);
}

/* Whether few independent values, but enough values, are so far apart that these judge. */
static bool
is_far(const struct nsx_sample of[2], const struct nsx_witness *w)
{
	double diff = fabs(w->of[1].mean - w->of[0].mean);

	for (int k = 0; k < 2; k++)
		if (of[k].n < NSX_WITNESS_LEAST || w->of[k].n_eff < NSX_WITNESS_FEW)
			return false;
	return w->noise > 0 && (diff > NSX_WITNESS_FAR * w->noise || (diff > w->noise && is_apart(of, w)));
}

bool
nsx_witness_means(struct nsx_sample base, struct nsx_sample new, double alpha, struct nsx_witness *w)
{
	const struct nsx_sample of[2] = { base, new };

	*w = (struct nsx_witness){ .judged = base.n && new.n };
	for (size_t k = 0; k < 2 && base.n && new.n; k++) {
		w->of[k] = nsx_effective_of(of[k]);
		w->judged &= w->of[k].n_eff >= NSX_WITNESS_LEAST;
		if (!median_of(of[k], &w->median[k]))
			return false;
	}
	w->means = speak(w->of, alpha, &w->noise);
	w->judged |= is_far(of, w);
	return true;
}

bool
nsx_witness_ranks(struct nsx_sample base, struct nsx_sample new, double alpha, struct nsx_witness *w)
{
	const struct nsx_sample of[2] = { base, new };
	size_t n = base.n + new.n, at = 0;
	struct nsx_sort_start *r = malloc((n + 1) * sizeof *r);
	double *space = malloc((n + 1) * sizeof *space), unused;
	bool good = r && space;

	if (good && base.n && new.n) {
		double *const ranks[2] = { space, space + base.n };
		struct nsx_effective places[2];

		for (size_t k = 0; k < 2; k++)
			for (size_t i = 0; i < of[k].n; i++)
				r[at++] = (struct nsx_sort_start){ bits_of(of[k].v[i]), (uint32_t)i, (uint32_t)k };
		good = rank_all(r, n, ranks);
		for (size_t k = 0; k < 2 && good; k++)
			places[k] = nsx_effective_of((struct nsx_sample){ ranks[k], of[k].n });
		if (good)
			w->ranks = speak(places, alpha, &unused);
	}
	free(r);
	free(space);
	return good;
}

bool
nsx_witness(struct nsx_sample base, struct nsx_sample new, double alpha, struct nsx_witness *w)
{
	return nsx_witness_means(base, new, alpha, w) && nsx_witness_ranks(base, new, alpha, w);
}

void
nsx_witness_of_means(struct nsx_effective base, struct nsx_effective new, double alpha, struct nsx_witness *w)
{
	*w = (struct nsx_witness){ .of = { base, new }, .median = { base.mean, new.mean } };
	w->judged = base.n_eff >= NSX_WITNESS_LEAST && new.n_eff >= NSX_WITNESS_LEAST;
	w->means = speak(w->of, alpha, &w->noise);
}

/* ---- strata */

/* A stratum: of each side the number of its values, their mean, and their sum of squares about it. */
struct stratum { double n[2], mean[2], squares[2]; };

/* The values of both sides that count, with the strata that they are in. */
struct stratified { struct nsx_sample of[2]; double *in[2]; struct stratum *list; size_t n; };

static void
sum_strata(struct stratified *x)
{
	for (size_t i = 0; i < x->n; i++)
		x->list[i] = (struct stratum){ { 0 }, { 0 }, { 0 } };
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < x->of[k].n; i++) {
			struct stratum *s = &x->list[(size_t)x->in[k][i]];

			double from = x->of[k].v[i] - s->mean[k];

			s->mean[k] += from / ++s->n[k];
			s->squares[k] += from * (x->of[k].v[i] - s->mean[k]);
		}
}

static double
center_of(const struct stratum *s)
{
	return (s->n[0] * s->mean[0] + s->n[1] * s->mean[1]) / (s->n[0] + s->n[1]);
}

/* The square of the error of a side's mean, from the variance of each stratum by itself: where one that is rare in this
 * run and frequent in BASE varies more than the others do, the variance of all is too small. That of a single value is
 * taken to be the one of all. *freedom: its degrees of freedom (Satterthwaite). */
static double
error_of(const struct stratified *x, int side, double variance, double *freedom)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < x->n; i++) {
		double n = x->list[i].n[side], weight = x->list[i].n[0] / (double)x->of[0].n;
		double own = n > 1 ? x->list[i].squares[side] / (n - 1) : variance, part = weight * weight * own / n;

		sum += part;
		squares += part * part / (n > 1 ? n - 1 : *freedom);
	}
	*freedom = squares > 0 ? sum * sum / squares : *freedom;
	return sum;
}

/* What a side's values tell; left: space for them. */
static struct nsx_effective
effective_in(const struct stratified *x, int side, double *left)
{
	struct nsx_sample rest = { left, x->of[side].n };
	struct nsx_effective e = { .n_eff = 1 };
	double spare = (double)rest.n - (double)x->n + 1, share = 0;   /* each stratum but one takes one */

	for (size_t i = 0; i < rest.n; i++)
		left[i] = x->of[side].v[i] - x->list[(size_t)x->in[side][i]].mean[side];
	for (size_t i = 0; i < x->n; i++) {
		double weight = x->list[i].n[0] / (double)x->of[0].n;

		e.mean += weight * x->list[i].mean[side];
		share += weight * weight / x->list[i].n[side];
	}
	double squares = covariance(rest, 0, 0), tau = dependence(rest, 0, squares);

	e.n_eff = fmax(1, 1 / share / tau);
	e.variance = squares / fmax(1, spare - tau);
	e.freedom = fmax(1, spare / tau - 1);
	double freedom = e.freedom, error = error_of(x, side, e.variance, &freedom) / share;

	if (error > e.variance) {
		e.variance = error;
		e.freedom = fmax(1, fmin(e.freedom, freedom / tau));
	}
	return e;
}

/* The median of the sample that is aligned with the other one, in the place of its values. False when out of memory. */
static bool
align(const struct stratified *x, int side, double *to, double *median)
{
	double most = 0, all = 0;

	for (size_t i = 0; i < x->n; i++) {
		most = fmax(most, center_of(&x->list[i]));
		all += x->list[i].n[0] / (double)x->of[0].n * center_of(&x->list[i]);
	}
	/* None is below 0. */
	for (size_t i = 0; i < x->of[side].n; i++)
		to[i] = fmax(0, x->of[side].v[i] + (most - center_of(&x->list[(size_t)x->in[side][i]])));
	if (!median_of((struct nsx_sample){ to, x->of[side].n }, median))
		return false;
	*median += all - most;
	return true;
}

/* Both witnesses of values that count; space: for three times as many, and sort: for as many. False when out of
 * memory. */
static bool
hear_strata(struct stratified *x, double alpha, double *space, struct nsx_sort_start *sort, struct nsx_witness *w)
{
	size_t n = x->of[0].n + x->of[1].n, at = 0;
	double *const aligned[2] = { space, space + x->of[0].n }, *const ranks[2] = { space + n, aligned[1] + n };
	double *left = space + 2 * n, unused;
	struct nsx_effective places[2];

	sum_strata(x);
	w->judged = true;
	for (int k = 0; k < 2; k++) {
		w->of[k] = effective_in(x, k, left);
		if (!align(x, k, aligned[k], &w->median[k]))
			return false;
	}
	w->means = speak(w->of, alpha, &w->noise);
	for (int k = 0; k < 2; k++) {
		w->of[k].n_eff = fmin(w->of[k].n_eff, w->of[k].freedom + 1);
		w->judged &= w->of[k].n_eff >= NSX_WITNESS_LEAST;
	}
	for (uint32_t k = 0; k < 2; k++)
		for (size_t i = 0; i < x->of[k].n; i++)
			sort[at++] = (struct nsx_sort_start){ bits_of(aligned[k][i]), (uint32_t)i, k };
	if (!rank_all(sort, n, ranks))
		return false;
	for (int k = 0; k < 2; k++)
		x->of[k].v = ranks[k];
	sum_strata(x);
	for (int k = 0; k < 2; k++)
		places[k] = effective_in(x, k, left);
	w->ranks = speak(places, alpha, &unused);
	return true;
}

bool
nsx_witness_strata(struct nsx_sample base, struct nsx_sample new, const struct nsx_strata *strata, double alpha,
                   struct nsx_witness *w)
{
	const struct nsx_sample of[2] = { base, new };
	size_t n = base.n + new.n;
	double *space = malloc((5 * n + 1) * sizeof *space);
	struct nsx_sort_start *sort = malloc((n + 1) * sizeof *sort);
	struct stratified x = { .list = malloc((strata->n + 1) * sizeof *x.list), .n = strata->n };
	bool good = space && sort && x.list;

	*w = (struct nsx_witness){ .judged = false };
	for (int k = 0; k < 2 && good; k++) {
		double *v = space + (k ? base.n : 0), *in = v + n;

		x.of[k].v = v;
		x.in[k] = in;
		for (size_t i = 0; i < of[k].n; i++) {
			if (strata->of[k][i] < 0)
				continue;
			v[x.of[k].n] = of[k].v[i];
			in[x.of[k].n++] = strata->of[k][i];
		}
	}
	good = good && hear_strata(&x, alpha, space + 2 * n, sort, w);
	free(space);
	free(sort);
	free(x.list);
	return good;
}

/* ---- tails */

/* The probability that of n values k or fewer are below the 99th percentile: 1 less that of few above it. */
static double
at_most(double k, double n)
{
	double sum = 0;

	for (double above = 0; above < n - k; above++)
		sum += exp(lgamma(n + 1) - lgamma(above + 1) - lgamma(n - above + 1) + above * log(0.01)
		           + (n - above) * log(0.99));
	return 1 - sum;
}

/* The value below which the share of a sample's values is that of `rank` of n_eff. */
static double
value_at(const double *sorted, size_t n, double rank, double n_eff)
{
	double at = ceil(rank / n_eff * (double)n) - 1;

	return sorted[at < 0 ? 0 : at < (double)n ? (size_t)at : n - 1];
}

bool
nsx_tail(struct nsx_sample base, struct nsx_sample new, const double n_eff[2], struct nsx_tail *t)
{
	const struct nsx_sample of[2] = { base, new };
	const double sure = 0.95;
	bool good = true;

	for (size_t k = 0; k < 2 && good; k++) {
		double *sorted = malloc((of[k].n + 1) * sizeof *sorted), n = floor(n_eff[k]);
		double low = floor(0.99 * n), high = low;

		good = sorted != NULL;
		for (size_t i = 0; i < of[k].n && good; i++)
			sorted[i] = of[k].v[i];
		if (good) {
			qsort(sorted, of[k].n, sizeof *sorted, nsx_sort_by_double);
			t->p99[k] = sorted[nsx_percentile_rank(of[k].n, 99)];
			while (high < n && at_most(high - 1, n) < sure)
				high++;
			while (low > 1 && at_most(low - 1, n) > 1 - sure)
				low--;
			t->upper[k] = value_at(sorted, of[k].n, high, n);
			t->lower[k] = value_at(sorted, of[k].n, low, n);
		}
		free(sorted);
	}
	return good;
}
