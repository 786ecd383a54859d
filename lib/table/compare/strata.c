/* strata.c -- steps of a server in strata by what their names tell of their batch, so that what batches differ in is no
 * noise, and runs with other batches are compared by the same ones.
 *
 * Beside the times of a class, hidden rows have a number for each step, of its tokens and requests (nsx_compare_batch);
 * of several devices its sample is their mean, as that of a time is. Steps with the same number are a stratum. Where
 * this leaves too few steps to judge, or leaves out many that have no counterpart, those whose tokens differ by little
 * are one; at last all are, as without batches. Tokens, for example:
 *
 *     BASE   512 512 512 1024 1024 1024     NEW   512 512 1024 1024 1024 1024     two strata, 512 and 1024
 *     BASE   500 501 503 498 1000 1010      NEW   499 502 1005 1001 997 1006      two, by parts of powers of two */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "table/compare/join.h"

/* A number is of tokens and, below this, requests. */
#define REQUESTS (1 << 20)
/* A level is used if both sides have counterparts of this share of their steps or more. */
#define MATCHED 0.9

int64_t
nsx_compare_batch(int64_t requests, int64_t tokens)
{
	if (requests < 0 || tokens < 0 || tokens > INT64_MAX / REQUESTS / 2)
		return NSX_ABSENT;
	return tokens * REQUESTS + (requests < REQUESTS ? requests : REQUESTS - 1);
}

/* Parts of each power of two in which tokens are of one stratum; 0: equal numbers are. */
static const int levels[] = { 0, 8, 2 };

/* The key of a number at a level. */
static double
key_at(double number, int parts)
{
	return parts ? floor(log2(floor(number / REQUESTS) + 1) * parts) : number;
}

/* A step of a side: its key, and where its number is. */
struct keyed { double key; int side; size_t at; };
NSX_ORDER(by_key, struct keyed, NSX_CMP(a->key, b->key), NSX_CMP(a->side, b->side))

/* Number the strata of a level, which are runs of equal keys that both sides have: their number, 0 if they are not good
 * enough. of: for the number of each step's. matched: how many steps of each side are in them; *kinds: their number, be
 * they good enough or not. */
static size_t
number_strata(struct keyed *list, size_t n, double *const of[2], size_t matched[2], size_t *kinds)
{
	size_t strata = 0, counts[2] = { 0 };

	matched[0] = matched[1] = 0;
	qsort(list, n, sizeof *list, by_key);
	for (size_t i = 0, k; i < n; i = k) {
		size_t have[2] = { 0 };

		for (k = i; k < n && list[k].key == list[i].key; k++)
			have[list[k].side]++;
		bool both = have[0] && have[1];

		for (size_t m = i; m < k; m++)
			of[list[m].side][list[m].at] = both ? (double)strata : -1;
		for (int side = 0; side < 2; side++) {
			counts[side] += have[side];
			matched[side] += both ? have[side] : 0;
		}
		strata += both;
	}
	*kinds = strata;
	for (int side = 0; side < 2; side++)
		if ((double)matched[side] < MATCHED * (double)counts[side]
		    || matched[side] + 1 < strata + NSX_WITNESS_LEAST)
			return 0;
	return strata;
}

/* Whether steps of these strata, with times of two rows, are enough to be judged. False when out of memory, too. */
static bool
is_judged(const struct cmp *c, struct cmp_row *const times[2], double *const of[2], size_t n, bool *good)
{
	struct nsx_sample b = cmp_sample(&c->side[0], times[0]), x = cmp_sample(&c->side[1], times[1]);
	const struct nsx_strata strata = { { of[0], of[1] }, n };
	struct nsx_witness w = { .judged = false };

	*good = nsx_witness_strata(b, x, &strata, nsx_witness_alpha(c->options.sigma) / 2, &w);
	return *good && w.judged;
}

/* Make the numbers of two rows strata: how many, 0 if steps are of one. Of levels that are good enough the first one of
 * which the times of the rows can be judged, else the first one. False when out of memory. */
static bool
make_strata(struct cmp *c, struct cmp_row *const rows[2], struct cmp_row *const times[2])
{
	struct nsx_sample of[2] = { cmp_sample(&c->side[0], rows[0]), cmp_sample(&c->side[1], rows[1]) };
	size_t n = of[0].n + of[1].n, strata = 0;
	struct keyed *list = malloc((n + 1) * sizeof *list);
	double *numbers = malloc((n + 1) * sizeof *numbers), *kept = malloc((n + 1) * sizeof *kept);
	double *const to[2] = { c->side[0].values.p + rows[0]->samples.first,
	                        c->side[1].values.p + rows[1]->samples.first };
	bool good = list && numbers && kept, judged = false;
	bool known = times[0]->samples.n == of[0].n && times[1]->samples.n == of[1].n;

	for (size_t l = 0; good && !judged && l < sizeof levels / sizeof *levels; l++) {
		double *const found[2] = { numbers, numbers + of[0].n };
		size_t at = 0, matched[2], kinds, some;

		for (int k = 0; k < 2; k++)
			for (size_t i = 0; i < of[k].n; i++)
				list[at++] = (struct keyed){ key_at(of[k].v[i], levels[l]), k, i };
		some = number_strata(list, n, found, matched, &kinds);
		/* At the first level batches are equal. */
		for (int k = 0; k < 2 && !l; k++) {
			rows[k]->alike = (uint32_t)matched[k];
			rows[k]->kinds = (uint32_t)kinds;
		}
		judged = some && (!known || is_judged(c, times, found, some, &good));
		for (size_t i = 0; i < n && some && (judged || !strata); i++)
			kept[i] = numbers[i];
		strata = some && (judged || !strata) ? some : strata;
	}
	for (int k = 0; k < 2 && strata && good; k++)
		for (size_t i = 0; i < of[k].n; i++)
			to[k][i] = kept[(k ? of[0].n : 0) + i];
	rows[0]->strata = rows[1]->strata = (uint32_t)strata;
	free(list);
	free(numbers);
	free(kept);
	return good;
}

/* The times of two rows are of the same batches then: NEW's mean is as if it had those of BASE. It stays what it is if
 * it has them as often. */
static void
compare_alike(struct cmp *c, struct cmp_row *base, struct cmp_row *new, double *sums)
{
	struct cmp_row *const rows[2] = { base, new };
	size_t strata = base->strata, counted[2] = { 0 };
	double *n[2] = { sums, sums + strata }, *mean[2] = { sums + 2 * strata, sums + 3 * strata }, diff = 0;
	bool other = false;

	for (size_t i = 0; i < 4 * strata; i++)
		sums[i] = 0;
	for (int k = 0; k < 2; k++) {
		struct nsx_sample s = cmp_sample(&c->side[k], rows[k]);
		const double *of = cmp_strata(&c->side[k], rows[k]);

		for (size_t i = 0; i < s.n; i++) {
			other |= of[i] < 0;
			if (of[i] < 0)
				continue;
			size_t at = (size_t)of[i];

			counted[k]++;
			mean[k][at] += (s.v[i] - mean[k][at]) / ++n[k][at];
		}
	}
	for (size_t i = 0; i < strata; i++) {
		other |= n[0][i] * (double)counted[1] != n[1][i] * (double)counted[0];
		diff += n[0][i] / (double)counted[0] * (mean[1][i] - mean[0][i]);
	}
	new->other_batches = other;
	if (other)
		new->time.mean = base->time.mean + diff;
}

bool
nsx_compare_settle_strata(struct cmp *c)
{
	struct cmp_side *b = &c->side[NSX_COMPARE_BASE], *n = &c->side[NSX_COMPARE_NEW];
	bool good = true;

	for (size_t i = 0; i < b->rows.n && good && !b->nruns && !c->options.tail; i++) {
		struct cmp_row *base = &b->rows.p[i], *new = base->pair == NSX_NONE ? NULL : &n->rows.p[base->pair];

		if (!new || base->batch == NSX_NONE || new->batch == NSX_NONE)
			continue;
		struct cmp_row *const numbers[2] = { &b->rows.p[base->batch], &n->rows.p[new->batch] };

		if (!numbers[0]->numbered) {
			numbers[0]->numbered = true;
			good = make_strata(c, numbers, (struct cmp_row *const[2]){ base, new });
		}
		/* Of steps without operations parts are not known, their period is. */
		if (!numbers[0]->strata || base->samples.n != numbers[0]->samples.n
		    || new->samples.n != numbers[1]->samples.n)
			continue;
		double *sums = malloc((4 * (size_t)numbers[0]->strata + 1) * sizeof *sums);

		good = sums != NULL;
		base->strata = new->strata = numbers[0]->strata;
		if (good)
			compare_alike(c, base, new, sums);
		free(sums);
	}
	return good;
}
