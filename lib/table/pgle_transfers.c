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

bool
nsx_pgle_transfers_medians(struct nsx_pgle_transfers *t, void (*give)(void *state, uint32_t number, int64_t ns),
                           void *state)
{
	uint32_t most = 0;
	bool good;

	for (size_t i = 0; i < t->v.n; i++)
		most = t->v.p[i].of > most ? t->v.p[i].of : most;
	/* The numbers of each collective one after the other: where those of each end, then begin. */
	size_t *at = calloc((size_t)most + 2, sizeof *at);
	int64_t *ns = malloc((t->v.n + 1) * sizeof *ns);

	good = at && ns;
	for (size_t i = 0; good && i < t->v.n; i++)
		at[t->v.p[i].of]++;
	for (size_t i = 0; good && i <= most; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; good && i < t->v.n; i++)
		ns[--at[t->v.p[i].of]] = t->v.p[i].ns;
	for (uint32_t of = 0; good && of <= most; of++) {
		size_t n = at[of + 1] - at[of];

		if (n)
			give(state, of, nsx_sort_nth(ns + at[of], n, nsx_percentile_rank(n, 50)));
	}
	free(at);
	free(ns);
	return good;
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
