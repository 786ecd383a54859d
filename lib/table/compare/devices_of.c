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
#include "table/compare/join.h"

static size_t
count(const struct cmp_side *s, const struct cmp_row *r)
{
	size_t n = 0;

	for (uint32_t at = r->cells; at != NSX_NONE; at = s->cells.p[at].next)
		n++;
	return n;
}

bool
nsx_compare_is_uneven(const struct cmp *c, const struct cmp_result *r)
{
	const struct cmp_side *b = &c->side[NSX_COMPARE_BASE], *n = &c->side[NSX_COMPARE_NEW];
	size_t matched = 0, changed = 0;
	/* By number; if no device is on both sides, as of two processes of a job, in order of their numbers. */
	bool ranked = false, again;

	/* Tables do not tell devices apart. */
	if (c->tables)
		return false;
	do {
		for (uint32_t i = r->row[0]->cells, k = r->row[1]->cells; i != NSX_NONE && k != NSX_NONE;) {
			const struct cmp_cell *was = &b->cells.p[i], *is = &n->cells.p[k];
			double diff = is->mean - was->mean;

			i = ranked || was->device <= is->device ? was->next : i;
			k = ranked || is->device <= was->device ? is->next : k;
			if (!ranked && was->device != is->device)
				continue;
			matched++;
			changed += (diff > 0) == (r->diff > 0) && nsx_compare_above_floors(c, diff, was->mean);
		}
		again = !ranked && !matched && count(b, r->row[0]) == count(n, r->row[1]);
		ranked = true;
	} while (again);
	return matched > 1 && 2 * changed <= matched;
}

double
nsx_compare_least(const struct cmp_side *s, const struct cmp_row *r)
{
	double least = 0;

	for (uint32_t at = r->cells; at != NSX_NONE; at = s->cells.p[at].next)
		least = at == r->cells || s->cells.p[at].mean < least ? s->cells.p[at].mean : least;
	return count(s, r) > 1 ? least : 0;
}
