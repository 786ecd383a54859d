/* thread.h -- the ranges of one thread, before and after their projection, and its calls. */
#ifndef NSX_SOURCE_THREAD_H
#define NSX_SOURCE_THREAD_H

#include "source/calls.h"

/* Sort n ranges by start, the longer first, then as they are. Profiles are nearly sorted. False when out of memory. */
bool nsx_thread_sort(struct nsx_range *r, uint32_t n);

/* Remove those of the *n ranges that are of the default domain and without GPU work: the others move up. A range around
 * a kept one may be removed, so each parent becomes the nearest kept range. A range that contains a call is kept.
 * Parents and the ranges of calls count from r. False when out of memory. */
bool nsx_thread_pack(struct nsx_range *r, uint32_t *n, struct nsx_calls *calls);

/* Sort n calls by start, the longer first, then by id. False when out of memory. */
bool nsx_thread_sort_calls(struct nsx_host_call *c, uint32_t n);

#endif
