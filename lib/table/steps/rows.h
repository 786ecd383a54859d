/* rows.h -- the steps that a stream has, the two tables of nsysx-steps, and the detection of the class if none is
 * named; for tables of steps. */
#ifndef NSX_TABLE_STEPS_ROWS_H
#define NSX_TABLE_STEPS_ROWS_H

#include "base/table.h"
#include "job/between.h"
#include "job/steps.h"
#include "stream/spool.h"
#include "table/steps.h"

/* Read all of `in` and collect its steps as the options say, with any *s; diags report unused records. The records that
 * nsx_steps_explain reads are written to `again`, unless it is NULL. NSX_OK or NSX_ERR; free *s in both cases. */
int nsx_steps_collect(struct nsx_reader *in, const struct nsx_steps_options *options, struct nsx_step_set *s,
                      struct nsx_spool *again, struct nsx_diags *diags, struct nsx_err *err);

/* A row for each class and device, or with `each` for each step; NULL when out of memory. */
struct nsx_table *nsx_steps_table(const struct nsx_step_set *s, bool each);

/* ---- warnings about classes (said.c) */

/* Report periods that contain a step of another class, and whether they count. */
void nsx_steps_report_between(const struct nsx_step_set *s, const struct nsx_steps_options *options,
                              struct nsx_diags *diags);
/* Warn about classes whose steps last clearly longer than the time until the next one starts. */
void nsx_steps_report_overlapping(const struct nsx_step_set *s, struct nsx_diags *diags);
/* Report that groups of the expression put each step into a separate class, so that none has a period. NSX_OK or
 * NSX_ERR. */
int nsx_steps_single(const struct nsx_step_set *s, const char *step, struct nsx_diags *diags);

/* ---- the class that covers the GPU's work */

struct nsx_step_span { uint32_t class, device; int64_t start, end; };

/* {0} with err set is empty. */
struct nsx_step_classes {
	struct nsx_err       *err;
	struct nsx_catalogue  cat;
	struct nsx_range_book book;
	struct nsx_intern     names;
	NSX_VEC(struct nsx_timeline) timelines;
	NSX_VEC(struct nsx_step_span) spans;
};

/* Declare to a reader what nsx_step_classes_take uses in addition to nsx_steps_need. */
void nsx_step_classes_need(struct nsx_reader *in);
int nsx_step_classes_take(struct nsx_step_classes *c, const struct nsx_rec *rec);

/* Choose: *name is the class, terminated by a NUL, to be freed, or NULL if none covers half of the work; then diags
 * report the best candidates. A diag also reports another class that may be meant. */
int nsx_step_classes_pick(struct nsx_step_classes *c, char **name, struct nsx_diags *diags);
void nsx_step_classes_free(struct nsx_step_classes *c);

#endif
