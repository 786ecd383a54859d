/* rows.h -- what the two ways to look for stragglers share; private to lib/table/stragglers. */
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
};

/* A device's record of an execution of an instruction: GPU times, by the clock of that number; device: its own number,
 * NSX_ABSENT if it has none. */
struct nsx_late_record { int64_t device, start, end; uint32_t clock; };

/* One way: module() and thunk() get the modules, and the thunks that have times, with the number of their clock;
 * finish() makes the table. NSX_OK, or NSX_ERR with err filled. */
struct nsx_later {
	void *(*open)(struct nsx_late *late);
	int (*module)(void *state, const struct nsx_rec *rec, uint32_t program, uint32_t clock);
	int (*thunk)(void *state, const struct nsx_rec *rec, const struct nsx_late_record *times);
	int (*finish)(void *state, struct nsx_stragglers *s, struct nsx_diags *diags);
	void (*free)(void *state);   /* NULL allowed */
};

extern const struct nsx_later nsx_late_lockstep, nsx_late_waits;

/* Whether the options ask for the program of that index. */
bool nsx_late_wanted(const struct nsx_late *late, uint32_t program);

#endif
