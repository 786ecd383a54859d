/* places.h -- running time of threads by place, split over the native stacks that were sampled there. A place is a
 * device, a cause, a state, ranges and a Python stack; a native sample is a moment, so the time of a place is shared by
 * the samples in it, equally.
 *
 *   place with 10 ns, samples f f g   ->   f 7 (6 2/3), g 3 (3 1/3)        without a sample: 10 ns of no stack
 *
 * Shares are rounded down; what is missing goes, 1 ns each, to the stacks with the largest fractions, equal ones
 * bytewise. */
#ifndef NSX_JOB_DOING_PLACES_H
#define NSX_JOB_DOING_PLACES_H

#include "base/num.h"
#include "job/doing/doing.h"

struct nsx_doing_place {
	uint32_t device, thread, path;
	enum nsx_cause cause;
	enum nsx_doing_state state;
	uint32_t what;
	bool     free;
	int64_t  stack;      /* the Python stack; NSX_ABSENT: none */
	nsx_u128 ns;
	uint32_t seen;       /* the first of a list of native stacks; NSX_NONE: none */
};
struct nsx_doing_seen { int64_t stack, n; uint32_t next; };

/* {0} is empty. */
struct nsx_doing_places {
	NSX_VEC(struct nsx_doing_place) list;
	NSX_VEC(struct nsx_doing_seen)  seen;
	struct nsx_intern keys;      /* of places, by number */
	struct nsx_map    seen_of;   /* (place, native stack) -> seen */
};

/* Add a piece of any state. False when out of memory. */
bool nsx_doing_places_add(struct nsx_doing_places *p, const struct nsx_doing_piece *piece);

/* The parts of all places: of each a native stack with its time and its number of samples, or NSX_ABSENT with the whole
 * time and 0. NSX_OK, NSX_ERR with d->err filled, or what `part` returned. */
typedef int nsx_doing_part_fn(void *state, const struct nsx_doing_place *place, int64_t native, nsx_u128 ns,
			      int64_t samples);
int nsx_doing_places_each(const struct nsx_doing_places *p, const struct nsx_doing *d, nsx_doing_part_fn *part,
			  void *state);

void nsx_doing_places_free(struct nsx_doing_places *p);

#endif
