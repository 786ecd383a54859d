/* bandwidth_rows.h -- durations and bandwidths of collectives of each kind, message size and group size: the sums of
 * nsysx-collectives --summary and nsysx-compare --by collective. */
#ifndef NSX_TABLE_BANDWIDTH_ROWS_H
#define NSX_TABLE_BANDWIDTH_ROWS_H

#include "base/diag.h"
#include "base/err.h"
#include "base/num.h"
#include "job/comm/group_axes.h"
#include "job/comm/reading.h"
#include "table/sums.h"

/* Mean bandwidths over the instances of a row, GB/s of 1e9 bytes; NaN: not known. */
struct nsx_bandwidth_mean { bool known; double busbw, stderr_busbw, algbw; };

/* Collectives of one kind and size; those behind `number` are set at the end. */
struct nsx_bandwidth_row {
	int64_t  bytes, group;          /* the key, NSX_ABSENT: not known; */
	uint32_t kind, in;              /* kind: in the catalogue, NSX_NONE: not known. in: the group of devices, of
	                                 * nsx_bandwidth_sums.axes; 0 without these */
	uint32_t inst, none;            /* inst: 1 + that of the catalogue, 0: not of one, or not asked for; none: 0 */
	int64_t  instances;
	NSX_VEC(int64_t) shortest;      /* of each instance with one above 0 */
	nsx_u128 wait, dur, hidden;     /* sums over records, ns; wait: start of the last device - own start */
	int64_t  waits, wait_max;       /* waits: records in `wait`, those of instances on one clock */
	__int128 transfer;              /* sum over these instances, ns, */
	int64_t  transfers;             /* and their number */
	int64_t  no_hidden;             /* records without `hidden` */
	uint32_t number;                /* the number of the row that `each` receives */
	bool     has_bytes, has_group;
	struct nsx_str name;            /* of the kind; empty if unknown */
	struct nsx_str program, inst_name, op_name;   /* of inst */
	struct nsx_bandwidth_mean mean;
	double   hidden_share;          /* NaN: not known */
	nsx_u128 known_wait;            /* `wait`; NSX_SUM_NONE: of no record */
};

/* A device's record of a collective: the numbers of its row and of the device in the catalogue (NSX_NONE: not known),
 * its duration in ns, and how much of that was hidden. False when out of memory. */
typedef bool nsx_bandwidth_each(void *arg, uint32_t row, uint32_t device, int64_t dur, int64_t hidden);

/* {0} with each, other and arg set, which may be NULL, is empty. */
struct nsx_bandwidth_sums {
	nsx_bandwidth_each *each;
	bool             (*other)(void *arg, const struct nsx_rec *rec);   /* every record; false when out of memory */
	void              *arg;
	struct nsx_group_axes *axes;            /* the caller's, empty: rows are also by group of devices; NULL: not */
	bool               by_inst;             /* rows are also by instruction */
	struct nsx_err    *err;
	struct nsx_collective_reading reading;
	struct nsx_sums    sums;                /* of struct nsx_bandwidth_row */
	struct { struct nsx_bandwidth_row *p; size_t n; } rows;   /* at the end: those, the longest time first */
	bool               warm, any_hidden;    /* it went through nsysx-warmup; a record has `hidden` */
	int64_t            lone_ops, closed, incomplete, unknown_wait, alone, no_hidden, over_hidden;
};

/* Read all of `in` (open, not read from yet; metadata before thunks) and sum up its communication. The rows do not
 * depend on the order of thunks. NSX_OK, or NSX_ERR with err filled; s is to be freed in both cases. */
int nsx_bandwidth_collect(struct nsx_reader *in, struct nsx_bandwidth_sums *s, struct nsx_diags *diags,
                          struct nsx_err *err);

/* The mean time from the last start to the last end of an instance, ns; 0 if none is on one clock. */
double nsx_bandwidth_transfer(const struct nsx_bandwidth_row *r);
/* The mean time of an instance on the device that waited least, ns; 0 if there is none. */
double nsx_bandwidth_shortest(const struct nsx_bandwidth_row *r);
void nsx_bandwidth_sums_free(struct nsx_bandwidth_sums *s);

/* bandwidth_axes.c: the table of collected sums that have axes, a row for each axis or each group; the caller frees it.
 * NULL with err filled on failure. */
struct nsx_table *nsx_bandwidth_by_axis(struct nsx_bandwidth_sums *s, bool groups, struct nsx_err *err);

#endif
