/* rows.h -- the steps that a stream has, the two tables of nsysx-steps, and the class that is taken when none is named;
 * for tables of steps. */
#ifndef NSX_TABLE_STEPS_ROWS_H
#define NSX_TABLE_STEPS_ROWS_H

#include "base/table.h"
#include "job/steps.h"
#include "stream/spool.h"
#include "table/steps.h"

/* Read all of `in` and collect its steps as the options say, whatever *s was; diags say what was not used. Into
 * `again`, unless it is NULL, goes what nsx_steps_explain reads. NSX_OK or NSX_ERR; *s is to be freed in both cases. */
int nsx_steps_collect(struct nsx_reader *in, const struct nsx_steps_options *options, struct nsx_step_set *s,
                      struct nsx_spool *again,
                      struct nsx_diags *diags, struct nsx_err *err);

/* A row a class and device, or with `each` a row a step; NULL when out of memory. */
struct nsx_table *nsx_steps_table(const struct nsx_step_set *s, bool each);

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

/* Tell a reader what nsx_step_classes_take uses beyond what nsx_steps_need names. */
void nsx_step_classes_need(struct nsx_reader *in);
int nsx_step_classes_take(struct nsx_step_classes *c, const struct nsx_rec *rec);

/* Choose: *name is the class, with a NUL at the end, to be freed, or NULL if none covers half of the work; then diags
 * say which come closest. A diag says too which other could have been meant. */
int nsx_step_classes_pick(struct nsx_step_classes *c, char **name, struct nsx_diags *diags);
void nsx_step_classes_free(struct nsx_step_classes *c);

#endif
