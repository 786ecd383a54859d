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

#include "table/compare/sides.h"

static int64_t
number_of(const struct cmp_side *s, const struct cmp_cell *cell)
{
	return s->top.cat.devices.p[cell->device].number;
}

/* The number of cells of the row that have executions; of those with a number below `below`, unless it is
 * NSX_ABSENT. */
static int64_t
count(const struct cmp_side *s, const struct cmp_row *r, int64_t below)
{
	int64_t n = 0;

	for (uint32_t at = r->cells; at != NSX_NONE; at = s->cells.p[at].next)
		n += s->cells.p[at].stat.n > 0 && (below == NSX_ABSENT || number_of(s, &s->cells.p[at]) < below);
	return n;
}

/* The cell on the device of that number, or with that many cells of lower numbers, unless it is negative; NULL:
 * none. */
static const struct cmp_cell *
find(const struct cmp_side *s, const struct cmp_row *r, int64_t number, int64_t rank)
{
	for (uint32_t at = r->cells; at != NSX_NONE; at = s->cells.p[at].next) {
		const struct cmp_cell *cell = &s->cells.p[at];

		if (cell->stat.n && (rank < 0 ? number_of(s, cell) == number
		    : count(s, r, number_of(s, cell)) == rank))
			return cell;
	}
	return NULL;
}

bool
nsx_compare_is_uneven(const struct cmp *c, const struct cmp_result *r)
{
	const struct cmp_side *base = &c->side[NSX_COMPARE_BASE], *new = &c->side[NSX_COMPARE_NEW];
	const struct cmp_row *was = r->row[NSX_COMPARE_BASE], *is = r->row[NSX_COMPARE_NEW];
	int64_t matched = 0, changed = 0;

	/* Tables do not tell devices apart. */
	if (base->given.n || new->given.n)
		return false;
	/* By number; if no device is on both sides, as of two processes of a job, in order of their numbers. */
	for (int ranked = 0; ranked < 2 && !matched; ranked++) {
		if (ranked && count(base, was, NSX_ABSENT) != count(new, is, NSX_ABSENT))
			break;
		for (uint32_t at = is->cells; at != NSX_NONE; at = new->cells.p[at].next) {
			const struct cmp_cell *cell = &new->cells.p[at], *other;
			int64_t number = number_of(new, cell);

			if (!cell->stat.n)
				continue;
			other = find(base, was, number, ranked ? count(new, is, number) : -1);
			if (!other)
				continue;
			double mean = nsx_stat_mean(&other->stat), diff = nsx_stat_mean(&cell->stat) - mean;

			matched++;
			changed += (diff > 0) == (r->diff > 0) && nsx_compare_above_floors(c, diff, mean);
		}
	}
	return matched > 1 && 2 * changed <= matched;
}

double
nsx_compare_least(const struct cmp_side *s, const struct cmp_row *r)
{
	double least = 0;
	int64_t n = 0;

	for (uint32_t at = r->cells; at != NSX_NONE; at = s->cells.p[at].next)
		if (s->cells.p[at].stat.n) {
			double mean = nsx_stat_mean(&s->cells.p[at].stat);

			least = n++ == 0 || mean < least ? mean : least;
		}
	return n > 1 ? least : 0;
}
