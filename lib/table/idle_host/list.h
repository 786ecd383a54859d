/* list.h -- the longest gaps, with what the host did most in each; private to this folder. */
#ifndef NSX_TABLE_IDLE_HOST_LIST_H
#define NSX_TABLE_IDLE_HOST_LIST_H

#include "base/table.h"
#include "job/doing/doing.h"

/* Time of a gap in one state, what and line. */
struct nsx_gap_part { enum nsx_doing_state state; uint32_t what, line; int64_t ns; };

/* The launch-starved time of a gap. most: the part with most of it. */
struct nsx_host_gap {
	int64_t start, ns, gap;
	uint32_t device, thread;
	enum nsx_cause cause;
	struct nsx_gap_part most;
};

/* {0} with `want` set is empty. */
struct nsx_host_list {
	size_t want;                      /* gaps to list */
	NSX_VEC(struct nsx_host_gap) gaps;
	NSX_VEC(struct nsx_open_gap {
		struct nsx_host_gap gap;
		NSX_VEC(struct nsx_gap_part) parts;
	})
	open;                             /* by device */
};

/* Add a piece; line: a number in the caller's texts. False when out of memory. */
bool nsx_host_list_add(struct nsx_host_list *l, const struct nsx_doing_piece *p, uint32_t line);
/* After the last: the table, which the caller frees; texts has the lines. NULL with d->err filled when out of memory.
 */
struct nsx_table *nsx_host_list_table(struct nsx_host_list *l, const struct nsx_doing *d,
				      const struct nsx_intern *texts);
void nsx_host_list_free(struct nsx_host_list *l);

#endif
