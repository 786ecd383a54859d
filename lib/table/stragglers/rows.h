/* rows.h -- what the two ways to look for stragglers share; private to lib/table/stragglers. */
#ifndef NSX_TABLE_STRAGGLERS_ROWS_H
#define NSX_TABLE_STRAGGLERS_ROWS_H

#include "job/communication.h"
#include "job/instances.h"
#include "table/stragglers.h"
#include "job/program_time.h"

/* The stream so far. */
struct nsx_late {
	struct nsx_err    *err;
	struct nsx_reader *in;
	struct nsx_stragglers_options options;
	struct nsx_comm    comm;
	struct nsx_crew    crew;
	struct nsx_top     top;            /* on the catalogue of comm */
	struct nsx_map     clock_of;       /* (aligned, number) -> dense number of a clock */
	uint32_t           unaligned;      /* clocks that are one report's own */
	int64_t            timeless;       /* thunks without start or duration */
};

/* One way: take() gets modules and the thunks that have times, with the number of their clock; finish() makes the table.
 * NSX_OK, or NSX_ERR with err filled. */
struct nsx_later {
	void *(*open)(struct nsx_late *late);
	int (*module)(void *state, const struct nsx_rec *rec, uint32_t program, uint32_t clock);
	int (*thunk)(void *state, const struct nsx_rec *rec, const struct nsx_meet_part *part);
	int (*finish)(void *state, struct nsx_stragglers *s, struct nsx_diags *diags);
	void (*free)(void *state);   /* NULL allowed */
};

extern const struct nsx_later nsx_late_lockstep, nsx_late_waits;

/* Whether the options ask for the program of that index. */
bool nsx_late_wanted(const struct nsx_late *late, uint32_t program);

/* The dense number of (a, b) in m: how many others were asked for before it; NSX_NONE when out of memory. */
uint32_t nsx_late_dense(struct nsx_map *m, uint64_t a, uint64_t b);

#endif
