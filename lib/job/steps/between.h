/* between.h -- steps of another class between those that are analysed. If classes alternate irregularly, periods differ
 * by the other steps in them, which is no property of the steps themselves:
 *
 *   train 0   train 1   eval 2   train 3   train 4
 *   |---1---->|--------2-------->|---1---->          the period of train 1 has eval 2 in it
 *
 * A range is such a step if it lies between two steps of its thread, and its work on a device takes at least half as
 * long as the median step of the class there. Memory holds only the longest range of each period, and the ranges since
 * the last step of each thread. Not for executions of programs. */
#ifndef NSX_JOB_STEPS_BETWEEN_H
#define NSX_JOB_STEPS_BETWEEN_H

#include "job/steps/set.h"
#include "stream/reader.h"

/* Declare to a reader what nsx_between_take uses in addition to nsx_steps_need. */
void nsx_between_need(struct nsx_reader *in);
/* Add any record, after nsx_steps_take has added it to s. NSX_OK, or NSX_ERR with s->err filled. */
int nsx_between_take(struct nsx_between *b, struct nsx_step_set *s, const struct nsx_rec *rec);
/* After periods are known: sets `other` of the steps in whose periods such a step lies. NSX_OK, or NSX_ERR with s->err
 * filled. */
int nsx_between_finish(const struct nsx_between *b, struct nsx_step_set *s);

void nsx_between_free(struct nsx_between *b);

#endif
