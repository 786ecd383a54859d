/* devices_of.c -- whether a row changed on most devices, or only on some.
 *
 * A change of the program changes an instruction on all devices that run it. What changes on a few is those devices:
 * another GPU or clock, which differ between any two runs of a job, and the time that others wait for them. A mean over
 * devices does not tell the two apart, and no number of executions makes it do so, as all executions of a run share its
 * devices. For example, means of a row on four devices, ns, with a limit of 2 percent:
 *
 *     BASE            100 100 100 100     mean 100
 *     one device slow 100 100 100 112     mean 103: above the limit on one device of four, uneven
 *     slower kernel   103 103 104 101     mean 102.75: above the limit on three of four, slower */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "table/compare/join.h"

/* The means of the row's cells that have executions, in order of their devices' numbers: how many they are. */
static size_t
sort_means(const struct cmp_side *s, const struct cmp_row *r, struct cmp_mean *to)
{
	size_t n = 0;

	for (uint32_t at = r->cells; at != NSX_NONE; at = s->cells.p[at].next) {
		const struct cmp_cell *cell = &s->cells.p[at];

		if (cell->has)
			to[n++] = (struct cmp_mean){ cell->device, cell->mean };
	}
	if (n > 1)
		qsort(to, n, sizeof *to, nsx_sort_by_int);
	return n;
}

bool
nsx_compare_is_uneven(const struct cmp *c, const struct cmp_result *r)
{
	const struct cmp_side *base = &c->side[NSX_COMPARE_BASE], *new = &c->side[NSX_COMPARE_NEW];
	const struct cmp_mean *was = base->means, *is = new->means;
	size_t matched = 0, changed = 0;

	/* Tables do not tell devices apart. */
	if (c->tables)
		return false;
	size_t nwas = sort_means(base, r->row[NSX_COMPARE_BASE], base->means),
	    nis = sort_means(new, r->row[NSX_COMPARE_NEW], new->means);
	/* By number; if no device is on both sides, as of two processes of a job, in order of their numbers. */
	for (int ranked = 0; ranked < 2 && !matched && (!ranked || nwas == nis); ranked++)
		for (size_t i = 0, k = 0; i < nwas && k < nis;) {
			if (!ranked && was[i].number != is[k].number) {
				*(was[i].number < is[k].number ? &i : &k) += 1;
				continue;
			}
			double mean = was[i++].mean, diff = is[k++].mean - mean;

			matched++;
			changed += (diff > 0) == (r->diff > 0) && nsx_compare_above_floors(c, diff, mean);
		}
	return matched > 1 && 2 * changed <= matched;
}

double
nsx_compare_least(const struct cmp_side *s, const struct cmp_row *r)
{
	double least = 0;
	int64_t n = 0;

	for (uint32_t at = r->cells; at != NSX_NONE; at = s->cells.p[at].next)
		if (s->cells.p[at].has) {
			double mean = s->cells.p[at].mean;

			least = n++ == 0 || mean < least ? mean : least;
		}
	return n > 1 ? least : 0;
}
