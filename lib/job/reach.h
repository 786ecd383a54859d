/* reach.h -- times for which arithmetic is safe: sums and differences of a few of them fit in 64 bits. */
#ifndef NSX_JOB_REACH_H
#define NSX_JOB_REACH_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/fields.h"
#include "stream/run.h"

/* 73 years in ns: a clock that counts from 1970 is within it. Where a record's starts and durations are at most 2^61 in
 * size, its ends are at most 2^62: neither they nor the difference of an end and a start of any two records, of at most
 * 2^62 + 2^61, need saturating additions, and nor does that of two ends if the durations are not negative, since an end
 * is then -2^61 or more. A sum over records, and a number that is of no role below, may exceed 64 bits all the same; so
 * may the end of a record without a start, if that is replaced by NSX_ABSENT. */
#define NSX_REACH (INT64_C(1) << 61)

#define NSX_BEYOND_REACH "records with times beyond 73 years: ignored"

/* The columns that nsx_in_reach reads. */
#define NSX_REACH_ROLES (NSX_R(START) | NSX_R(DUR) | NSX_R(HOST_START) | NSX_R(HOST_DUR))

static inline bool nsx_is_in_reach(int64_t t) { return t >= -NSX_REACH && t <= NSX_REACH; }

/* Whether all times of the record, of host and GPU, are in that range. */
static inline bool
nsx_in_reach(const struct nsx_rec *rec)
{
	for (uint64_t left = nsx_field_times[rec->kind->id]; left; left &= left - 1)
		if (!nsx_is_in_reach(nsx_int(rec, __builtin_ctzll(left), 0)))
			return false;
	return true;
}

/* The same of record i of a run. */
static inline bool
nsx_run_role_in_reach(const struct nsx_run *run, size_t i, enum nsx_role role)
{
	int slot = nsx_field(run->kind->id, role);

	return slot < 0 || nsx_is_in_reach(nsx_run_int(run, i, slot, 0));
}

static inline bool
nsx_run_in_reach(const struct nsx_run *run, size_t i)
{
	return nsx_run_role_in_reach(run, i, NSX_ROLE_START) && nsx_run_role_in_reach(run, i, NSX_ROLE_DUR)
	       && nsx_run_role_in_reach(run, i, NSX_ROLE_HOST_START)
	       && nsx_run_role_in_reach(run, i, NSX_ROLE_HOST_DUR);
}

#endif
