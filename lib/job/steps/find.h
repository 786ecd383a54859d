/* find.h -- the steps that a stream has: those that are named, those that it has marks of, or those of the class that
 * covers the GPU's work. */
#ifndef NSX_JOB_STEPS_FIND_H
#define NSX_JOB_STEPS_FIND_H

#include "job/steps/steps.h"
#include "stream/spool.h"

/* Which steps are meant. */
struct nsx_steps_wanted {
	const char *step;      /* POSIX extended regular expression of DOMAIN:NAME; its groups make classes; NULL:
	                        * none */
	const char *module;    /* name or key of a program; NULL: none. with neither, the class that covers the GPU's
	                        * work is detected */
	bool        serving;   /* with no module: steps of servers, of all phases one class, and with their names; with
	                        * `step` those that match */
	const char *require;   /* fail unless the stream has a record of this kind; NULL: none */
	unsigned    keep;      /* of the catalogue, what the caller needs, too */
	bool        repeats;   /* if no class covers the GPU's work, the class that repeats (detect.h) is meant */
	bool        bounds;    /* only when steps begin and end is in question (set.h) */
	bool        batched;   /* and how many requests and tokens a server's are of (batch.h) */
	const struct nsx_intern *overlapping;   /* classes of which it was told of another run that their steps overlap
	                                         * (warn.h); NULL: none */
	int       (*also)(void *state, const struct nsx_rec *rec);   /* gets each record, too; NULL: nobody. NSX_OK or
	                                                              * NSX_ERR */
	void       *also_state;
	const char *repeat;    /* the class that repeats in another run, which is meant here; NULL: none */
	bool        brief;     /* if a file has marks of these steps, one of which has a period, read no more than
	                        * them: sums of activities are to be added (nsx_steps_take_time), and nothing is told
	                        * of other records */
};

/* Read all of `in` (opened with NSX_READ_ORDERED, nothing read yet) and collect the wanted steps, with any *s; diags
 * report unused records. Records for a second reading are written to `again`, unless it is NULL. NSX_OK or NSX_ERR;
 * free *s in both cases. */
int nsx_steps_find(struct nsx_reader *in, const struct nsx_steps_wanted *wanted, struct nsx_step_set *s,
                   struct nsx_spool *again, struct nsx_diags *diags, struct nsx_err *err);

#endif
