/* list.h -- the longest gaps, with what the host did most in each; private to this folder. */
#ifndef NSX_TABLE_IDLE_HOST_LIST_H
#define NSX_TABLE_IDLE_HOST_LIST_H

#include "job/doing/doing.h"
#include "table/sums.h"

/* Time of a gap in one state, what and line. */
struct nsx_gap_part { enum nsx_doing_state state; uint32_t what, line; int64_t ns; };

/* The launch-starved time of a gap. most: the part with most of it; what: its text, in the caller's. */
struct nsx_host_gap {
	int64_t start, ns, gap, device, tid;
	const char *cause, *state;
	struct nsx_gap_part most;
	uint32_t what;
};

/* Of these, the longest first. */
extern const struct nsx_sum_def nsx_host_gaps;

/* {0} with the first three set is empty. */
struct nsx_host_list {
	struct nsx_sums   *gaps;          /* of nsx_host_gaps */
	struct nsx_intern *texts;         /* of gaps */
	size_t want;                      /* gaps to list */
	NSX_VEC(struct nsx_open_gap {
		struct nsx_host_gap gap;
		NSX_VEC(struct nsx_gap_part) parts;
	})
	open;                             /* by device */
};

/* Add a piece; line: a number in texts. False when out of memory. */
bool nsx_host_list_add(struct nsx_host_list *l, const struct nsx_doing *d, const struct nsx_doing_piece *p,
                       uint32_t line);
/* After the last: the gaps are those of the list. False when out of memory. */
bool nsx_host_list_finish(struct nsx_host_list *l, const struct nsx_doing *d);
void nsx_host_list_free(struct nsx_host_list *l);

#endif
