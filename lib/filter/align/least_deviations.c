/* least_deviations.c -- medians and least absolute deviations: estimates that a few outlying collectives do not change.
 * For example, of skews 1 2 2 3 900 the median is 2, the mean 181.6. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "filter/align/aligning.h"

enum { ROUNDS = 60, LINE_ROUNDS = 60 };

/* Deviations below this, in ns, count as 0; changes below this end an iteration. */
static const double LEAST = 0.25, SAME = 1e-3;

int64_t
nsx_align_round_div(al_wide a, al_wide b)
{
	al_wide q = a / b, r = a % b;

	if (r < 0)
		r = -r;
	if (r >= b - r)
		q += a < 0 ? -1 : 1;
	return q > INT64_MAX ? INT64_MAX : q < INT64_MIN ? INT64_MIN : (int64_t)q;
}

int64_t
nsx_align_median(int64_t *v, size_t n)
{
	qsort(v, n, sizeof *v, nsx_sort_by_int);
	int64_t lo = v[(n - 1) / 2], hi = v[n / 2];
	/* hi - lo may not fit. */
	return lo + (int64_t)(((uint64_t)hi - (uint64_t)lo) / 2);
}

/* ---- a line ---- */

/* Median absolute deviation from the line. */
static double
spread(const double *t, const double *s, size_t n, double a, double b, double *work)
{
	for (size_t i = 0; i < n; i++)
		work[i] = fabs(s[i] - a - b * t[i]);
	qsort(work, n, sizeof *work, nsx_sort_by_double);
	return work[n / 2];
}

/* Weighted least squares; false if the points do not make a line. */
static bool
least_squares(const double *t, const double *s, const double *w, size_t n, double *a, double *b)
{
	double sw = 0, st = 0, ss = 0, tt = 0, ts = 0;

	for (size_t i = 0; i < n; i++) {
		sw += w[i];
		st += w[i] * t[i];
		ss += w[i] * s[i];
	}
	double mt = st / sw, ms = ss / sw;
	for (size_t i = 0; i < n; i++) {
		tt += w[i] * (t[i] - mt) * (t[i] - mt);
		ts += w[i] * (t[i] - mt) * (s[i] - ms);
	}
	if (!(tt > 0))
		return false;
	*b = ts / tt;
	*a = ms - *b * mt;
	return true;
}

void
nsx_align_line(const double *t, const double *s, size_t n, double *a, double *b, double *work)
{
	double *w = work, *room = work + n, longest = 0, eps;

	for (size_t i = 0; i < n; i++) {
		room[i] = s[i];
		longest = fmax(longest, fabs(t[i]));
	}
	qsort(room, n, sizeof *room, nsx_sort_by_double);
	*a = room[n / 2];
	*b = 0;
	eps = spread(t, s, n, *a, *b, room);
	/* Iterated least squares, each point weighted by its distance from the previous line; the distance that counts
	 * as near decreases each time. */
	for (int k = 0; k < LINE_ROUNDS; k++) {
		double a0 = *a, b0 = *b;

		for (size_t i = 0; i < n; i++)
			w[i] = 1 / fmax(fabs(s[i] - *a - *b * t[i]), fmax(eps, LEAST));
		if (!least_squares(t, s, w, n, a, b))
			return;
		if (eps <= LEAST && fabs(*a - a0) < SAME && fabs(*b - b0) * longest < SAME)
			return;
		eps = k == 0 ? spread(t, s, n, *a, *b, room) : eps / 2;
	}
}

/* ---- stars ---- */

/* The equations of one round: the sum over entries of k * (x[node] - mean of its star) is set to that of y. */
struct equations { const struct al_star_data *d; uint32_t nodes, stars; double *k, *sum, *mean, *diag; };

/* The weighted mean over each star of v[i] (by entry) or, if v is NULL, of x[node[i]]. */
static void
star_means(const struct equations *r, const double *v, const double *x)
{
	memset(r->mean, 0, r->stars * sizeof *r->mean);
	for (size_t i = 0; i < r->d->n; i++)
		r->mean[r->d->star[i]] += r->k[i] * (v ? v[i] : x[r->d->node[i]]);
	for (uint32_t s = 0; s < r->stars; s++)
		if (r->sum[s] > 0)
			r->mean[s] /= r->sum[s];
}

static void
multiply(const struct equations *r, const double *v, const double *x, double *out)
{
	star_means(r, v, x);
	memset(out, 0, r->nodes * sizeof *out);
	for (size_t i = 0; i < r->d->n; i++)
		out[r->d->node[i]] += r->k[i] * ((v ? v[i] : x[r->d->node[i]]) - r->mean[r->d->star[i]]);
}

static double
dot(const double *a, const double *b, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* The sum of d * v^2: the squared length of v with weights d. */
static double
length(const double *d, const double *v, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += d[i] * v[i] * v[i];
	return sum;
}

/* Conjugate gradients, each node scaled by its own weight. Adding a constant to all x of a component changes no
 * equation: components of rounding errors in that direction are removed. vec: space for 4 vectors. */
static void
conjugate(const struct equations *r, double *x, double *vec)
{
	uint32_t n = r->nodes;
	double *res = vec, *z = vec + n, *p = vec + 2 * (size_t)n, *ap = vec + 3 * (size_t)n, rz, whole = 0;

	multiply(r, r->d->y, NULL, res);
	multiply(r, NULL, x, ap);
	for (uint32_t i = 0; i < n; i++) {
		whole += r->diag[i] > 0 ? res[i] * res[i] / r->diag[i] : 0;
		res[i] -= ap[i];
		p[i] = z[i] = r->diag[i] > 0 ? res[i] / r->diag[i] : 0;
	}
	rz = dot(res, z, n);
	for (uint32_t k = 0; k < 2 * n + 20 && k < 2000 && rz > whole * 1e-28; k++) {
		multiply(r, NULL, p, ap);
		double curve = dot(p, ap, n), was = rz;
		if (!(curve > length(r->diag, p, n) * 1e-13))
			break;
		for (uint32_t i = 0; i < n; i++) {
			x[i] += rz / curve * p[i];
			res[i] -= rz / curve * ap[i];
			z[i] = r->diag[i] > 0 ? res[i] / r->diag[i] : 0;
		}
		rz = dot(res, z, n);
		for (uint32_t i = 0; i < n; i++)
			p[i] = z[i] + rz / was * p[i];
	}
}

/* New weights from the deviations of x; returns the largest deviation. In the first round all weights are w. */
static double
weigh(const struct equations *r, const double *x, double eps)
{
	const struct al_star_data *d = r->d;
	double worst = 0;

	if (eps > 0) {
		/* Deviations are from the weighted means of the previous round. */
		memset(r->mean, 0, r->stars * sizeof *r->mean);
		for (size_t i = 0; i < d->n; i++)
			r->mean[d->star[i]] += r->k[i] * (d->y[i] - x[d->node[i]]) / r->sum[d->star[i]];
	}
	for (size_t i = 0; i < d->n; i++) {
		double dev = eps > 0 ? fabs(d->y[i] - x[d->node[i]] - r->mean[d->star[i]]) : 1;
		worst = fmax(worst, dev);
		r->k[i] = d->w[i] / fmax(dev, fmax(eps, LEAST));
	}
	memset(r->sum, 0, r->stars * sizeof *r->sum);
	memset(r->diag, 0, r->nodes * sizeof *r->diag);
	for (size_t i = 0; i < d->n; i++) {
		r->sum[d->star[i]] += r->k[i];
		r->diag[d->node[i]] += r->k[i];
	}
	return worst;
}

bool
nsx_align_stars(const struct al_star_data *d, uint32_t nodes, uint32_t stars, double *x)
{
	double *room = calloc(d->n + 2 * (size_t)stars + 5 * (size_t)nodes + 1, sizeof *room), eps = 0;

	if (!room)
		return false;
	struct equations r = { d, nodes, stars, room, room + d->n, room + d->n + stars,
	                       room + d->n + 2 * (size_t)stars };
	for (int k = 0; k < ROUNDS && (k == 0 || eps > LEAST); k++) {
		double worst = weigh(&r, x, eps);
		conjugate(&r, x, r.diag + nodes);
		eps = k == 0 ? 1e18 : fmin(eps / 2, worst);
	}
	free(room);
	return true;
}
