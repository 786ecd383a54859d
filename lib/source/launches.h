/* launches.h -- (process, correlation id) to launch. Correlation ids increase with each call and
 * rows are in about that order, so neighbouring ids are stored side by side: millions of look-ups, most of them for
 * calls that launched nothing, then find their slots in the processor's cache. */
#ifndef NSX_SOURCE_LAUNCHES_H
#define NSX_SOURCE_LAUNCHES_H

#include "base/map.h"
#include "base/vec.h"
#include "source/calls.h"

struct nsx_launch_slot { int64_t id; uint32_t process, launch; /* NSX_NONE: free */ };

struct nsx_launches {
	struct nsx_launch_slot *slots;
	size_t                  nslots;   /* a power of two; at most 5 in 8 are taken */
	NSX_VEC(struct nsx_launch) list;
};

static inline size_t
nsx_launch_home(const struct nsx_launches *l, uint32_t process, int64_t id)
{
	return (size_t)((nsx_hash_u64((uint64_t)id >> 4 ^ (uint64_t)process << 44) << 4 |
	                 ((uint64_t)id & 15)) & (l->nslots - 1));
}

/* The number of the launch, NSX_NONE if there is none. */
static inline uint32_t
nsx_launch_find(const struct nsx_launches *l, uint32_t process, int64_t id)
{
	if (!l->nslots)
		return NSX_NONE;
	for (size_t i = nsx_launch_home(l, process, id); ; i = (i + 1) & (l->nslots - 1)) {
		const struct nsx_launch_slot *s = &l->slots[i];
		if (s->launch == NSX_NONE || (s->id == id && s->process == process))
			return s->launch;
	}
}

/* Make room for n launches; false when out of memory. */
bool nsx_launches_room(struct nsx_launches *l, size_t n);

/* Its number, added with no GPU time yet (start > end) if it is new; NSX_NONE when out of memory. */
uint32_t nsx_launch_at(struct nsx_launches *l, uint32_t process, int64_t id);
/* All look-ups are done: only the list is needed from here on. */
void nsx_launches_close(struct nsx_launches *l);
void nsx_launches_free(struct nsx_launches *l);

#endif
