/* rows.h -- declarations shared by the analyses of stragglers; private to lib/table/stragglers. */
#ifndef NSX_TABLE_STRAGGLERS_ROWS_H
#define NSX_TABLE_STRAGGLERS_ROWS_H

#include "job/communication.h"
#include "job/instances.h"
#include "job/program_time.h"
#include "table/stragglers.h"

/* The stream so far. */
struct nsx_late {
	struct nsx_err    *err;
	struct nsx_reader *in;
	struct nsx_stragglers_options options;
	struct nsx_comm    comm;
	struct nsx_top     top;            /* on the catalogue of comm */
	int64_t            timeless;       /* thunks without start or duration */
	bool               any;            /* there is a thunk that computes */
};

/* A device's record of an execution of an instruction: GPU times, on the clock of that number; device: its number in
 * the stream, NSX_ABSENT if it has none. */
struct nsx_late_record { int64_t device, start, end; uint32_t clock; };

/* The beginning of the state of each analysis. */
struct nsx_late_state {
	struct nsx_late     *late;
	struct nsx_instances instances;   /* of struct nsx_late_record; finished before finish() */
};

/* One analysis: module() and thunk() get the modules, and the thunks that have times and are of a selected program,
 * with the number of their clock; finish() makes the table. NSX_OK, or NSX_ERR with err filled. */
struct nsx_later {
	size_t size;                      /* of its state, which is all 0 but for its beginning */
	nsx_instance_fn *complete;
	int (*module)(void *state, const struct nsx_rec *rec, uint32_t program, uint32_t clock);   /* may be NULL */
	int (*thunk)(void *state, const struct nsx_rec *rec, uint32_t program, const struct nsx_late_record *times);
	int (*finish)(void *state, struct nsx_stragglers *s, struct nsx_diags *diags);
	void (*free)(void *state);        /* its size after the common beginning */
};

/* NSX_STRAGGLERS_PACE, with the results of nsx_stragglers. */
int nsx_stragglers_pace(struct nsx_reader *in, const struct nsx_stragglers_options *options, struct nsx_stragglers *s,
                        struct nsx_diags *diags, struct nsx_err *err);

/* NSX_STRAGGLERS_WAITS and NSX_STRAGGLERS_PAIRS. */
int nsx_stragglers_waits(struct nsx_reader *in, const struct nsx_stragglers_options *options, struct nsx_stragglers *s,
                         struct nsx_diags *diags, struct nsx_err *err);

/* Whether the program of that index is the one of that name, key or id; NULL: every one is. */
bool nsx_late_wanted(const struct nsx_catalogue *cat, const struct nsx_top *top, const char *want, uint32_t program);
/* Whether there is one; NSX_ERR with err filled. */
int nsx_late_check_program(const struct nsx_catalogue *cat, const struct nsx_top *top, const char *want,
                           struct nsx_err *err);

extern const struct nsx_later nsx_late_lockstep;

#endif
