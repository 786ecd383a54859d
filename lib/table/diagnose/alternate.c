/* alternate.c -- steps of one class that take turns: every third one longer, because it does more. They are kinds of
 * steps: within each kind steps vary little, and no step is slow.
 *
 *   periods   20 16 16  20 17 16  21 16 17     every 3rd step takes 20, the others 16 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/stat.h"
#include "table/diagnose/diagnose.h"

/* At most so many kinds take turns, each this often at least. */
enum { MOST = 8, LEAST = 3 };

static bool
near(int64_t a, int64_t b)
{
	double low = (double)(a < b ? a : b), high = (double)(a < b ? b : a);

	return high < NSX_LOOK_VARIABLE * low;
}

/* The median of the periods of steps whose number is r modulo k; 0: they are too few, or vary by as much as slow steps
 * do. space: for all periods. */
static int64_t
median_of(const struct nsx_look_at *a, int64_t k, int64_t r, int64_t *space)
{
	size_t n = 0;

	for (size_t i = 0; i < a->steps.list.n; i++) {
		const struct nsx_step_of *o = &a->steps.list.p[i];

		if (o->class == a->class && o->kept && o->number % k == r)
			space[n++] = o->period;
	}
	if (n < LEAST * a->devices.n)
		return 0;
	qsort(space, n, sizeof *space, nsx_sort_by_int);
	int64_t p50 = nsx_percentile(space, n, 50);

	return near(space[0], p50) && near(nsx_percentile(space, n, 99), p50) ? p50 : 0;
}

/* The only one of k that differs from all others, which are alike; k: none. */
static int64_t
odd_one(const int64_t *kinds, int64_t k)
{
	for (int64_t i = 0; i < k; i++) {
		int64_t other = kinds[(i + 1) % k];
		bool odd = true;

		for (int64_t j = 0; j < k && odd; j++)
			odd = j == i ? !near(kinds[j], other) : near(kinds[j], other);
		if (odd)
			return i;
	}
	return k;
}

static void
put(struct nsx_look_at *a, const int64_t *kinds, int64_t k)
{
	int64_t odd = odd_one(kinds, k);
	struct nsx_buf *to = &a->turns;

	if (odd < k && k > 2) {
		nsx_buf_fmt(to, ", every %" PRId64 "%s step is of another kind, %s p50, the others %s", k,
		            k == 3 ? "rd" : "th", NSX_NS(kinds[odd]), NSX_NS(kinds[(odd + 1) % k]));
		return;
	}
	nsx_buf_fmt(to, ", %" PRId64 " kinds of it take turns, p50 ", k);
	for (int64_t i = 0; i < k; i++)
		nsx_buf_fmt(to, "%s%s", i ? ", " : "", NSX_NS(kinds[i]));
}

int
nsx_look_turns(struct nsx_look_at *a)
{
	int64_t *space = malloc((a->periods.n + 1) * sizeof *space), kinds[MOST];
	size_t n = a->periods.n;

	if (!space)
		return nsx_err_nomem(a->err, NULL);
	if (n && !near(nsx_percentile(a->periods.p, n, 99), nsx_percentile(a->periods.p, n, 50)))
		for (int64_t k = 2; k <= MOST && !a->turns.len; k++) {
			int64_t found = 0;
			bool alike = true;

			while (found < k && (kinds[found] = median_of(a, k, found, space)) > 0)
				found++;
			for (int64_t i = 1; i < found; i++)
				alike &= near(kinds[i], kinds[0]);
			if (found == k && !alike)
				put(a, kinds, k);
		}
	free(space);
	return a->turns.failed ? nsx_err_nomem(a->err, NULL) : NSX_OK;
}
