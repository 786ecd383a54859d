/* summary/summary.h -- the ways to sum up a stream; private to lib/table/summary. */
#ifndef NSX_TABLE_SUMMARY_SUMMARY_H
#define NSX_TABLE_SUMMARY_SUMMARY_H

#include "table/summary.h"
#include "base/num.h"
#include "job/program_time.h"

/* One way to sum up: take() gets every record of the stream, finish() makes the table. Both return NSX_OK or NSX_ERR
 * with err filled. */
struct nsx_summer {
	void *(*open)(const struct nsx_summary_options *options, struct nsx_err *err);
	/* Declare to the reader, which lives until finish() returns, what take() reads. */
	void (*need)(void *state, struct nsx_reader *in);
	int (*take)(void *state, const struct nsx_rec *rec);
	int (*finish)(void *state, struct nsx_table **table, struct nsx_diags *diags);
	void (*free)(void *state);   /* NULL allowed */
};

/* programs.c: a row for each program. insts.c: instructions, opcodes, collectives, totals. devices.c. ops.c: operations
 * and ranges by name. */
extern const struct nsx_summer nsx_sum_programs, nsx_sum_insts, nsx_sum_devices, nsx_sum_ops;

/* Report that there are no operations, so times are those of thunks; and without modules what is not known then. */
void nsx_sum_thunk_view(const struct nsx_top *top, struct nsx_diags *diags);

/* part of whole, 1 is the whole, which must be above 0. */
double nsx_sum_share(nsx_u128 part, nsx_u128 whole);

#endif
