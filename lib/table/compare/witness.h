/* witness.h -- whether two runs differ, from samples that may depend on each other: a value for each step, in the
 * order of time. Two tests speak: one of means, which sees a longer tail, and one of ranks, which sees that most
 * steps are slower where a few very long ones, or two kinds of step, hide it from the mean.
 *
 * n values that depend on each other tell as much as n / tau independent ones. tau, the integrated autocorrelation
 * time, is estimated by the initial monotone positive sequence (Geyer, Practical Markov Chain Monte Carlo,
 * Statistical Science 7, 1992): 2 (G_0 + G_1 + ...) - 1 with G_k = rho(2k) + rho(2k + 1) while these are positive,
 * none above the one before it. From n values it comes out too small, so tau' = min(n, 1 + (tau - 1) (1 + 2 tau /
 * n)), n_eff = n / tau', and the variance is the sum of squares / (n - tau').
 *
 * The test of means is Welch's (Biometrika 34, 1947) with n_eff in place of n: se^2 = variance / n_eff on each side,
 * and Satterthwaite's degrees of freedom from n_eff - 1. That of ranks is the same of the ranks in both runs
 * together, equal values having the mean of theirs. */
#ifndef NSX_TABLE_COMPARE_WITNESS_H
#define NSX_TABLE_COMPARE_WITNESS_H

#include <stdbool.h>
#include <stddef.h>

/* Fewer independent values on a side do not judge, unless there are as many values of which at least FEW are
 * independent, and the means differ by more than FAR times what chance explains: that has the large quantiles of few
 * degrees of freedom already, and a variance of which little is known is not that wrong. Or their means differ by more
 * than chance explains, and between the values of one side and those of the other is a gap of what the ranges of both
 * add up to, and of PART of the larger mean: of 20000 equal pairs each of 5 to 40 values that vary by 5 % and less,
 * AR(1) to 0.99, drifts, and longer first ones, none is; of those that vary by 10 %, 4 in 10000 to 0.95, where of as
 * many 960 are judged wrong because they seem to be independent. */
#define NSX_WITNESS_LEAST 5
#define NSX_WITNESS_FEW 2
#define NSX_WITNESS_FAR 10
#define NSX_WITNESS_PART (1. / 3)

/* Values in the order of time. */
struct nsx_sample { const double *v; size_t n; };

/* Those of a sample: mean, effective number, variance of a value. n_eff is at least 1, and at most n. freedom: of the
 * variance, if it is not n_eff - 1; 0: it is. */
struct nsx_effective { double mean, n_eff, variance, freedom; };

/* The result: index 0 is BASE, 1 is NEW. Medians are by nearest rank. */
struct nsx_witness {
	struct nsx_effective of[2];
	double median[2];
	double noise;      /* of the difference of means; 0 if there is none */
	int    means, ranks;   /* NEW is longer: 1, shorter: -1, neither: 0 */
	bool   judged;     /* n_eff is NSX_WITNESS_LEAST or more on both sides, or these are far apart */
};

/* v may not be empty. Takes time proportional to n tau. */
struct nsx_effective nsx_effective_of(struct nsx_sample s);

/* Compare two samples, whose values are not negative; alpha: the probability of chance, one-sided, of each witness.
 * With alpha 0 nothing is chance: every difference has a witness. False when out of memory. */
bool nsx_witness(struct nsx_sample base, struct nsx_sample new, double alpha, struct nsx_witness *w);
/* The same in two parts: all but `ranks`, which is 0; and that, which takes the most time. */
bool nsx_witness_means(struct nsx_sample base, struct nsx_sample new, double alpha, struct nsx_witness *w);
bool nsx_witness_ranks(struct nsx_sample base, struct nsx_sample new, double alpha, struct nsx_witness *w);

/* Strata: values of one kind of work, such as a batch, which vary less than all do. of: of each value of each side, the
 * number of its stratum, below n; -1: a side has none of it, and the value does not count. */
struct nsx_strata { const double *of[2]; size_t n; };

/* nsx_witness of values in strata. Means are those of BASE's strata, each as often as BASE has it. Of n values in k
 * strata with n_s values each, whose shares in BASE are w_s:
 *
 *     mean = sum of w_s mean_s     n_eff = 1 / (sum of w_s^2 / n_s) / tau'     freedom = (n - k + 1) / tau' - 1
 *     variance = sum of squares about the means of strata / (n - k + 1 - tau')
 *
 * with tau' of what is left of values without these means; where the variances of strata, each by itself, make a larger
 * error of the mean, that counts, with its degrees of freedom. With one stratum these are the above. n_eff as it is
 * told is freedom + 1 at most. Ranks and medians are of values less the mean of their stratum in both runs (aligned
 * ranks: Hodges and Lehmann, Annals of Mathematical Statistics 33, 1962). False when out of memory. */
bool nsx_witness_strata(struct nsx_sample base, struct nsx_sample new, const struct nsx_strata *strata, double alpha,
                        struct nsx_witness *w);

/* The same of the mean, number and variance of each side's values alone, whose order is not known, by the witness of
 * means: medians are means. */
void nsx_witness_of_means(struct nsx_effective base, struct nsx_effective new, double alpha, struct nsx_witness *w);

/* Fewer independent values do not judge a 99th percentile: the probability that 300 values are all below it is 0.05. */
#define NSX_TAIL_LEAST 300

/* The 99th percentiles of two samples, and bounds of those of what they are samples of: each is `upper` at most and
 * `lower` at least, either with a probability of 0.95, by order statistics: the values whose ranks are the
 * quantiles of the binomial distribution of n_eff trials (David and Nagaraja, Order Statistics, 2003, section 7.1). */
struct nsx_tail { double p99[2], lower[2], upper[2]; };

/* Both samples have NSX_TAIL_LEAST effective values or more, n_eff. False when out of memory. */
bool nsx_tail(struct nsx_sample base, struct nsx_sample new, const double n_eff[2], struct nsx_tail *t);

/* The one-sided probability that sigma deviations of a normal distribution stand for; 0 for sigma 0: nothing is
 * chance. */
double nsx_witness_alpha(double sigma);

/* The t that is exceeded with the probability p, one-sided, with that many degrees of freedom. */
double nsx_student(double p, double freedom);

#endif
