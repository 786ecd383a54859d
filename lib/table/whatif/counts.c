/* counts.c -- see counts.h. */
#include "table/whatif/counts.h"

#include <stdlib.h>

#include "base/sort.h"

bool
nsx_wi_count(struct wi_counts *c, int64_t ns)
{
	if (!c->counts)
		c->counts = calloc(WI_COUNTED, sizeof *c->counts);
	if (!c->counts)
		return false;
	c->n++;
	if (ns < 0 || ns >= WI_COUNTED)
		return nsx_vec_push(&c->others, ns);
	c->counts[ns]++;
	c->ncounted++;
	return true;
}

int64_t
nsx_wi_nth(struct wi_counts *c, size_t k)
{
	size_t below = 0;
	int64_t ns = 0;

	for (size_t i = 0; i < c->others.n; i++)
		below += c->others.p[i] < 0;
	if (k < below)
		return nsx_sort_nth(c->others.p, c->others.n, k);
	if (k >= below + c->ncounted)
		return nsx_sort_nth(c->others.p, c->others.n, k - c->ncounted);
	for (k -= below; k >= c->counts[ns]; ns++)
		k -= c->counts[ns];
	return ns;
}

size_t
nsx_wi_sum_to(const struct wi_counts *c, int64_t most, int64_t *sum)
{
	size_t n = 0;

	*sum = 0;
	for (int64_t ns = 0; ns < WI_COUNTED && ns <= most && c->counts; ns++) {
		*sum += ns * c->counts[ns];
		n += c->counts[ns];
	}
	for (size_t i = 0; i < c->others.n; i++)
		if (c->others.p[i] <= most) {
			*sum += c->others.p[i];
			n++;
		}
	return n;
}

void
nsx_wi_counts_free(struct wi_counts *c)
{
	free(c->counts);
	free(c->others.p);
	*c = (struct wi_counts){ 0 };
}
