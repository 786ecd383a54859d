/* building.h -- the state of building; private to building*.c. */
#ifndef NSX_SOURCE_BUILDING_H
#define NSX_SOURCE_BUILDING_H

#include "base/sort.h"
#include "source/build.h"
#include "source/launches.h"

/* Of a launch: operations, whether one copies to pageable memory, whether calls of several processes have its id,
 * whether its call is no record, nodes numbered so far, the class of its call, the range around that. */
struct launch_info { uint32_t ops, nodes, range; uint8_t class; bool back, split, silent; };

struct building {
	struct nsx_build   *b;
	struct nsx_trace   *t;
	int64_t             origin;
	uint32_t           *device_at;      /* by number of the build: in t->devices */
	struct nsx_launches launches;
	struct launch_info *info;           /* by launch, as t->issues is */
	struct nsx_map      call_name_of, caller_of;
	NSX_VEC(struct nsx_call_name) call_names;
	uint32_t           *caller_at;      /* by order of first use: in t->host_threads */
	NSX_VEC(struct nsx_raw_call) raw;   /* thread: in t->host_threads */
};

/* A sorted copy of the n elements of `size` bytes, and in *at the place of each in it; NULL when out of memory. The
 * caller frees both, *at in any case. */
void *nsx_build_sorted(const void *list, size_t n, size_t size, nsx_sort_key_of *key, uint32_t **at);
/* Threads in the order of their numbers, which have no sign. */
static inline int64_t nsx_build_gtid_key(uint64_t gtid) { return (int64_t)(gtid ^ UINT64_C(1) << 63); }

/* Ranges by thread, with parents and spans; and of each launch the range around its call. False when out of memory. */
bool nsx_build_ranges(struct building *x, bool busy);

#endif
