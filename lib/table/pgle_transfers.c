/* pgle_transfers.c -- see pgle_transfers.h. */
#include "table/pgle_transfers.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "base/stat.h"
#include "job/comm/reading.h"

/* From the last start of an instance to its last end. Where clocks cannot be compared its shortest record, which is
 * mostly that of the device that was last. */
int64_t
nsx_pgle_transfer_of(struct nsx_pgle_transfers *t, const struct nsx_collective *of, size_t n)
{
	int64_t shortest = of->dur, ns;

	if (of->wait != NSX_ABSENT) {
		ns = nsx_sub_sat(nsx_collective_end(of, n), nsx_add_sat(of->start, of->wait, NULL), NULL);
		return ns > 0 ? ns : 0;
	}
	for (size_t i = 1; i < n; i++)
		shortest = of[i].dur < shortest ? of[i].dur : shortest;
	t->alone += n == 1 && of->group != 1;
	t->apart += n > 1;
	return shortest;
}

bool
nsx_pgle_transfers_add(struct nsx_pgle_transfers *t, uint32_t number, int64_t ns)
{
	return nsx_vec_push(&t->v, ((struct nsx_pgle_transfer){ number, ns }));
}

NSX_ORDER(by_collective, struct nsx_pgle_transfer, NSX_CMP(a->of, b->of), NSX_CMP(a->ns, b->ns))

void
nsx_pgle_transfers_medians(struct nsx_pgle_transfers *t, void (*give)(void *state, uint32_t number, int64_t ns),
                           void *state)
{
	const struct nsx_pgle_transfer *p = t->v.p;

	nsx_sort(t->v.p, t->v.n, by_collective);
	for (size_t i = 0, to; i < t->v.n; i = to) {
		for (to = i + 1; to < t->v.n && p[to].of == p[i].of; to++)
			;
		give(state, p[i].of, p[i + nsx_percentile_rank(to - i, 50)].ns);
	}
}

void
nsx_pgle_transfers_diags(const struct nsx_pgle_transfers *t, struct nsx_diags *diags)
{
	nsx_diag_add(diags, NSX_WARNING, "", t->alone,
	             "executions of collectives of whose devices the stream has one: their cost includes waiting");
	nsx_diag_add(diags, NSX_INFO, "", t->apart,
	             "executions of collectives on clocks that were not compared: their cost is the shortest record; "
	             "nsysx-align puts devices on one clock");
}

void
nsx_pgle_transfers_free(struct nsx_pgle_transfers *t)
{
	free(t->v.p);
	*t = (struct nsx_pgle_transfers){ 0 };
}
