/* by_groups.h -- a table that has rows by device, with rows by group of devices instead (job/device_groups.h): nothing
 * is measured again, so the sums over groups are those over devices.
 *
 *   device  compute      node  members  devices  compute  compute_mean  compute_p50  compute_p99  compute_max  worst
 *   0            10      a           2  0-1           31          15.5           10           21           21      1
 *   1            21      b           1  2             12            12           12           12           12      2
 *   2            12
 *
 * Rows that differ in other columns than the device, such as its class of steps, make rows of their own. */
#ifndef NSX_TABLE_BY_GROUPS_H
#define NSX_TABLE_BY_GROUPS_H

#include "base/diag.h"
#include "base/table.h"
#include "job/device_groups.h"

/* What becomes of a table's columns; those that are not named go. Names are separated by spaces. */
struct nsx_by_groups {
	const char *keys;    /* rows that differ in them stay apart */
	const char *sums;    /* integers: added up */
	const char *means;   /* mean over the devices that have the row */
	const char *main;    /* its mean, percentiles and maximum over devices, and the device with the largest */
	const char *as[4];   /* names of the columns of its mean, p50, p99 and maximum */
	bool        notes;   /* lines below the table remain: they are not about its rows */
	/* Add a line below the table with the sums over all keys, in the order of `sums`: of a group, " of rack r1",
	 * or of all devices, empty. NULL: there are none. */
	void      (*total)(struct nsx_table *t, struct nsx_str of, const int64_t *sums);
	bool        zeros;   /* a device that has no row for some keys has 0 of the main column there */
};
extern const struct nsx_by_groups nsx_groups_of_summary, nsx_groups_of_steps, nsx_groups_of_idle,
    nsx_groups_of_lockstep, nsx_groups_of_waits, nsx_groups_of_pace;

/* Replace *table, which has a column `device`, by one with rows by group: the latest group of a column's mean first. g
 * has taken all metadata of the stream. Devices that are in no group are in one called [unknown], which a diag
 * reports. NSX_OK; or NSX_ERR with err filled, *table unchanged. */
int nsx_table_by_groups(struct nsx_table **table, const struct nsx_by_groups *def, const struct nsx_grouping *by,
                        struct nsx_device_groups *g, struct nsx_diags *diags, struct nsx_err *err);

#endif
