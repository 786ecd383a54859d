/* witness.c -- effective numbers of series of known dependence, and what witnesses say of runs whose truth is known. */
#include "table/compare/witness.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "tap.h"

enum { MANY = 200000, STEPS = 60, PAIRS = 2000 };

static uint64_t seed = 7;

/* Uniform in (0, 1). */
static double
draw(void)
{
	seed += 0x9e3779b97f4a7c15ULL;
	return ((double)(nsx_hash_u64(seed) >> 11) + 0.5) / 9007199254740992.0;
}

static double
gauss(void)
{
	return sqrt(-2 * log(draw())) * cos(6.283185307179586 * draw());
}

/* n values of 100 +- 1, each of which is rho times the one before and something new. */
static void
fill(double *v, size_t n, double rho)
{
	double x = gauss();

	for (size_t i = 0; i < n; i++) {
		v[i] = 100 + x;
		x = rho * x + sqrt(1 - rho * rho) * gauss();
	}
}

/* The autocorrelation time of AR(1) is (1 + rho) / (1 - rho). */
static void
test_effective(void)
{
	static const double rhos[] = { 0, 0.5, 0.8, 0.95 };
	double *v = malloc(MANY * sizeof *v);

	for (size_t k = 0; v && k < sizeof rhos / sizeof *rhos; k++) {
		double want = MANY * (1 - rhos[k]) / (1 + rhos[k]);

		fill(v, MANY, rhos[k]);
		struct nsx_effective e = nsx_effective_of((struct nsx_sample){ v, MANY });
		bool near = fabs(e.n_eff / want - 1) < 0.15 && fabs(e.mean - 100) < 5 / sqrt(want)
		            && fabs(e.variance - 1) < 10 / sqrt(want);

		ok(near, "AR(1) of rho %g: %.0f effective values, %.0f by theory; mean %.3f, variance %.3f", rhos[k], e.n_eff,
		   want, e.mean, e.variance);
	}
	free(v);
	double one = 5, same[] = { 3, 3, 3, 3 }, turns[] = { 1, 2, 1, 2, 1, 2, 1, 2 };
	ok(nsx_effective_of((struct nsx_sample){ &one, 1 }).n_eff <= 1, "one value is one");
	ok(nsx_effective_of((struct nsx_sample){ same, 4 }).n_eff >= 4, "equal values do not depend on each other");
	ok(nsx_effective_of((struct nsx_sample){ turns, 8 }).n_eff >= 8, "nor do values that alternate");
}

/* How many of PAIRS equal runs have a witness for longer steps. */
static int
alarms(double rho, double alpha, int *judged)
{
	double a[STEPS], b[STEPS];
	struct nsx_witness w;
	int n = 0;

	*judged = 0;
	for (int i = 0; i < PAIRS; i++) {
		fill(a, STEPS, rho);
		fill(b, STEPS, rho);
		if (!nsx_witness((struct nsx_sample){ a, STEPS }, (struct nsx_sample){ b, STEPS }, alpha, &w))
			return PAIRS;
		*judged += w.judged;
		n += w.judged && (w.means > 0 || w.ranks > 0);
	}
	return n;
}

static void
test_alarms(void)
{
	int judged, n = alarms(0, 0.005, &judged);

	/* Two witnesses, which mostly agree, at 0.005 each: from 0.005 to 0.01 of all. */
	ok(judged == PAIRS && n >= 4 && n <= 30, "independent values: %d alarms of %d equal pairs", n, judged);
	n = alarms(0.8, 0.005, &judged);
	ok(n <= 60, "values that depend on each other: %d alarms of %d equal pairs that are judged", n, judged);
}

/* Runs of a few steps that drift. Equal ones have no witness that counts, however they depend on each other; a
 * difference of many times what they vary has. */
static void
test_few(void)
{
	enum { FEW = 11 };
	static const double rhos[] = { 0.5, 0.9, 0.99 };
	double a[FEW], b[FEW];
	struct nsx_witness w;

	for (size_t k = 0; k < sizeof rhos / sizeof *rhos; k++) {
		int few = 0, alarms = 0, far = 0;

		for (int i = 0; i < PAIRS; i++) {
			fill(a, FEW, rhos[k]);
			fill(b, FEW, rhos[k]);
			nsx_witness((struct nsx_sample){ a, FEW }, (struct nsx_sample){ b, FEW }, 0.000675, &w);
			bool is_few = w.of[0].n_eff < NSX_WITNESS_LEAST || w.of[1].n_eff < NSX_WITNESS_LEAST;
			bool counts = w.of[0].n_eff >= NSX_WITNESS_FEW && w.of[1].n_eff >= NSX_WITNESS_FEW;

			alarms += is_few && w.judged && (w.means || w.ranks);
			for (int s = 0; s < FEW; s++)
				b[s] += 100000;
			nsx_witness((struct nsx_sample){ a, FEW }, (struct nsx_sample){ b, FEW }, 0.000675, &w);
			few += is_few && counts;
			far += is_few && counts && w.judged && w.means > 0;
		}
		ok(few && !alarms, "few steps of rho %g: %d alarms of %d equal pairs", rhos[k], alarms, few);
		ok(far == few, "... and %d of %d pairs that are far apart have a witness", far, few);
	}
}

/* Periods of two runs, us, of which the second drifts: 11 that tell as much as 4.3, and yet the longest is half
 * as long as the shortest of the first. A third of that difference a drift may explain. */
static void
test_apart(void)
{
	enum { N = 11, MOST = 40 };
	static const double slow[N] = { 40958, 40218, 40224, 40256, 40326, 40331, 40321, 40362, 40345, 40365, 40375 },
	    fast[N] = { 20173, 20050, 19605, 17345, 17418, 16841, 16496, 16484, 19012, 17228, 16528 };
	static const int ns[] = { 5, 10, 20, MOST };
	static const double rhos[] = { 0, 0.5, 0.8, 0.9, 0.95, 0.99 };
	struct nsx_sample s = { slow, N }, f = { fast, N };
	double near[N], a[MOST], b[MOST];
	struct nsx_witness w;

	nsx_witness(s, f, 0.000675, &w);
	ok(w.of[1].n_eff < NSX_WITNESS_LEAST && w.judged && w.means < 0, "few effective steps, far apart, are judged");
	nsx_witness(f, s, 0.000675, &w);
	ok(w.judged && w.means > 0, "... the other way round");
	nsx_witness((struct nsx_sample){ slow, 4 }, (struct nsx_sample){ fast, 4 }, 0.000675, &w);
	ok(!w.judged, "four are not");
	for (int i = 0; i < N; i++)
		near[i] = fast[i] + 7500;
	nsx_witness(f, (struct nsx_sample){ near, N }, 0.000675, &w);
	ok(!w.judged, "nor are those that do not overlap by little");
	/* Equal pairs that vary by 5 %, of which a third drift and of a third the first steps are longer. */
	for (size_t k = 0; k < sizeof rhos / sizeof *rhos; k++) {
		int alarms = 0, few = 0;

		for (int i = 0; i < 4 * PAIRS; i++) {
			int n = ns[i % 4];

			fill(a, n, rhos[k]);
			fill(b, n, rhos[k]);
			for (int x = 0; x < n && i % 3; x++) {
				double more = i % 3 == 1 ? 10. * x / n : x < n / 5 ? 20 : 0;

				a[x] += more;
				b[x] += more;
			}
			for (int x = 0; x < n; x++) {
				a[x] = 5 * a[x] - 400;
				b[x] = 5 * b[x] - 400;
			}
			nsx_witness((struct nsx_sample){ a, n }, (struct nsx_sample){ b, n }, 0.000675, &w);
			bool is_few = w.of[0].n_eff < NSX_WITNESS_LEAST || w.of[1].n_eff < NSX_WITNESS_LEAST;

			few += is_few;
			/* Those whose means are very far apart are another rule's, see test_few. */
			alarms += is_few && w.judged && (w.means || w.ranks) &&
			          fabs(w.of[1].mean - w.of[0].mean) <= NSX_WITNESS_FAR * w.noise;
		}
		ok(few && !alarms, "few effective steps of rho %g: %d alarms of %d equal pairs", rhos[k], alarms, few);
	}
}

/* Every third step three times as long: the means do not see that all are 5 % longer, the ranks do. */
static void
test_kinds(void)
{
	double a[STEPS], b[STEPS];
	struct nsx_witness w;

	for (int i = 0; i < STEPS; i++) {
		a[i] = (100 + gauss()) * (i % 3 ? 1 : 3);
		b[i] = 1.05 * (100 + gauss()) * (i % 3 ? 1 : 3);
	}
	ok(nsx_witness((struct nsx_sample){ a, STEPS }, (struct nsx_sample){ b, STEPS }, 0.000675, &w) && w.judged
	   && w.means == 0 && w.ranks == 1 && w.median[1] - w.median[0] > 4 && w.median[1] - w.median[0] < 6,
	   "two kinds of steps: ranks see what means do not");
	/* A tail: a tenth of the steps twice as long; the median is as before. */
	for (int i = 0; i < STEPS; i++) {
		a[i] = 100 + i % 5;
		b[i] = i % 5 ? 100 + i % 5 : 200;
	}
	ok(nsx_witness((struct nsx_sample){ a, STEPS }, (struct nsx_sample){ b, STEPS }, 0.000675, &w) && w.means == 1,
	   "a longer tail: means see it");
	ok(nsx_witness((struct nsx_sample){ a, STEPS }, (struct nsx_sample){ a, STEPS }, 0.000675, &w) && w.means == 0 && w.ranks == 0,
	   "a run is as long as itself");
}

static void
test_student(void)
{
	ok(fabs(nsx_student(0.025, 10) - 2.228139) < 1e-5, "t of 0.025 and 10 degrees of freedom");
	ok(fabs(nsx_student(0.005, 3) - 5.840909) < 1e-5, "t of 0.005 and 3");
	ok(fabs(nsx_student(0.00135, 1e9) - 3) < 1e-3, "of many degrees of freedom three deviations");
	ok(fabs(nsx_witness_alpha(3) - 0.0013499) < 1e-7, "which three sigma stand for");
}

/* How many of 400 equal pairs of 400 values have a longer 99th percentile, at a level of 0.0025 or so; and of those with
 * a third more in it. */
static void
test_tail(void)
{
	enum { N = 400 };
	static double a[N], b[N];
	double n[2] = { N, N };
	struct nsx_tail t;
	int equal = 0, longer = 0, shorter = 0, quicker = 0, order = 0;

	for (int i = 0; i < 400; i++) {
		fill(a, N, 0);
		fill(b, N, 0);
		order += nsx_tail((struct nsx_sample){ a, N }, (struct nsx_sample){ b, N }, n, &t)
		         && t.upper[0] >= t.p99[0] && t.lower[1] <= t.p99[1]
		         && t.lower[0] <= t.p99[0] && t.upper[1] >= t.p99[1];
		equal += t.lower[1] > t.upper[0];
		shorter += t.upper[1] < t.lower[0];
		for (int k = 0; k < N; k += 20)
			b[k] *= 1.5;
		longer += nsx_tail((struct nsx_sample){ a, N }, (struct nsx_sample){ b, N }, n, &t) && t.lower[1] > t.upper[0];
		quicker += nsx_tail((struct nsx_sample){ b, N }, (struct nsx_sample){ a, N }, n, &t) && t.upper[1] < t.lower[0];
	}
	is_int(order, 400, "bounds are around the percentiles");
	ok(equal <= 6, "99th percentiles of equal runs: %d of 400 alarm", equal);
	is_int(longer, 400, "longer ones are found");
	ok(shorter <= 6, "99th percentiles of equal runs: %d of 400 are shorter", shorter);
	is_int(quicker, 400, "shorter ones are found");
}

/* ---- strata */

enum { KINDS = 5 };

/* A run of n values, each of a kind that chance chooses, the lowest `least` or more often than others: kinds are 100, 150,
 * 200, ... with chance of 1, or of 1 % (share), times `longer`. */
static void
fill_kinds(double *v, double *of, size_t n, int least, bool share, double longer)
{
	for (size_t i = 0; i < n; i++) {
		int kind = i < KINDS ? (int)i : draw() < 0.3 ? least : (int)(draw() * KINDS);

		of[i] = kind;
		v[i] = longer * (100 + 50 * kind + gauss() * (share ? 1 + 0.5 * kind : 1));
	}
}

/* How many of PAIRS pairs of n values have a witness for longer steps, and how many for shorter ones; *more: the mean of
 * the differences of means, as a share. */
static int
strata_alarms(size_t n, bool share, double longer, double alpha, int *shorter, double *more)
{
	double v[2][STEPS], of[2][STEPS];
	const struct nsx_strata strata = { { of[0], of[1] }, KINDS };
	int found = 0;

	*shorter = 0;
	*more = 0;
	for (int i = 0; i < PAIRS; i++) {
		struct nsx_witness w;

		fill_kinds(v[0], of[0], n, 0, share, 1);
		fill_kinds(v[1], of[1], n, KINDS - 1, share, longer);
		if (!nsx_witness_strata((struct nsx_sample){ v[0], n }, (struct nsx_sample){ v[1], n }, &strata, alpha, &w))
			return PAIRS;
		found += w.judged && (w.means > 0 || w.ranks > 0);
		*shorter += w.judged && (w.means < 0 || w.ranks < 0);
		*more += (w.of[1].mean / w.of[0].mean - 1) / PAIRS;
	}
	return found;
}

/* Runs whose kinds of work come as often in neither: what they take alike is not longer, and what is longer is found. */
static void
test_strata(void)
{
	double v[2][STEPS], one[STEPS] = { 0 }, more;
	const struct nsx_strata same = { { one, one }, 1 };
	struct nsx_witness plain, w;
	int shorter, n;

	for (int i = 0; i < 20; i++) {
		fill(v[0], STEPS, 0.5);
		fill(v[1], STEPS, 0.5);
		bool both = nsx_witness((struct nsx_sample){ v[0], STEPS }, (struct nsx_sample){ v[1], STEPS }, 0.05, &plain)
		            && nsx_witness_strata((struct nsx_sample){ v[0], STEPS }, (struct nsx_sample){ v[1], STEPS }, &same,
		                                  0.05, &w);
		if (!both || fabs(w.noise / plain.noise - 1) > 1e-9 || w.means != plain.means || w.ranks != plain.ranks
		    || w.judged != plain.judged || fabs(w.of[0].n_eff / plain.of[0].n_eff - 1) > 1e-9
		    || fabs(w.of[1].mean / plain.of[1].mean - 1) > 1e-12 || fabs(w.median[0] / plain.median[0] - 1) > 0.01) {
			ok(false, "one stratum is none: noise %.9g, was %.9g", w.noise, plain.noise);
			return;
		}
	}
	ok(true, "one stratum is none");
	/* Two witnesses, which mostly agree, at 0.02 each, in both directions. */
	n = strata_alarms(STEPS, false, 1, 0.02, &shorter, &more);
	ok(n + shorter >= PAIRS * 2 / 100 && n + shorter <= PAIRS * 8 / 100,
	   "equal work, other kinds of it: %d longer, %d shorter of %d pairs", n, shorter, PAIRS);
	ok(fabs(more) < 0.001, "equal work takes as long: %+.5f", more);
	for (int few = 0; few < 2; few++) {
		n = strata_alarms(few ? 20 : STEPS, true, 1, 0.02, &shorter, &more);
		ok(n <= PAIRS * 4 / 100 && shorter <= PAIRS * 4 / 100, "%s: %d longer, %d shorter of %d pairs",
		   few ? "few values" : "larger ones vary more", n, shorter, PAIRS);
	}
	n = strata_alarms(STEPS, true, 1.02, 0.000675, &shorter, &more);
	ok(n > PAIRS * 98 / 100 && shorter == 0 && fabs(more - 0.02) < 0.001, "2 %% longer: found in %d of %d pairs, %+.4f", n,
	   PAIRS, more);
	/* A stratum that one side lacks does not count. */
	for (int i = 0; i < STEPS; i++) {
		one[i] = i % 10 ? 0 : -1;
		v[0][i] = 100 + i % 3;
		v[1][i] = i % 10 ? 100 + i % 3 : 1000;
	}
	ok(nsx_witness_strata((struct nsx_sample){ v[0], STEPS }, (struct nsx_sample){ v[1], STEPS }, &same, 0.005, &w)
	   && w.judged && w.means == 0 && w.ranks == 0 && fabs(w.of[0].mean - w.of[1].mean) < 1e-9, "what one side lacks does not count");
}

int
main(void)
{
	test_effective();
	test_alarms();
	test_few();
	test_apart();
	test_kinds();
	test_student();
	test_tail();
	test_strata();
	return done();
}
