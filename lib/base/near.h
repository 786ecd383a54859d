/* near.h -- the name that was probably meant if the requested name does not occur.
 *
 *   requested aten::liner, existing aten::linear, aten::mm   ->  aten::linear (one letter more)
 *   requested all_reduce,  existing c10d::all_reduce_        ->  c10d::all_reduce_ (it contains the requested name) */
#ifndef NSX_BASE_NEAR_H
#define NSX_BASE_NEAR_H

#include "base/map.h"
#include "base/str.h"

enum {
	NSX_NEAR_BYTES = 128,     /* longer names are not compared */
	NSX_NEAR_NAMES = 16384    /* nor are more names than this: the cost of a mistyped name is bounded */
};

/* Initialise with { .want = ... }; the caller owns want, which must stay valid. */
struct nsx_near {
	struct nsx_str    want;
	struct nsx_intern seen;
	uint32_t          best;     /* number of it in seen */
	unsigned          cost;     /* 1 + letters to change, add or remove; 0: no similar name */
	bool              failed;   /* out of memory: names were not compared, so best may not be the best */
};

/* Add a name that occurs; the same name may be added any number of times. When out of memory the name is ignored and
 * `failed` set. */
void nsx_near_offer(struct nsx_near *n, struct nsx_str name);

/* The best of the names that contain the wanted one or differ from it in at most a third of its letters (ignoring case;
 * two swapped neighbours count as one letter): the name that differs least, of equal ones the shortest, then the first
 * bytewise. Empty if there is none. Lives as long as n. */
struct nsx_str nsx_near_best(const struct nsx_near *n);

void nsx_near_free(struct nsx_near *n);

/* Text to append to a message about a wrong name: "; did you mean NAME?", or nothing if no name is near, if one is the
 * same, or if NAME is long. */
struct nsx_near_hint { char text[64]; };
struct nsx_near_hint nsx_near_hint(const struct nsx_near *n);

/* The same for the names in `list`, which are separated by the character `sep`. */
struct nsx_near_hint nsx_near_hint_among(const char *list, char sep, struct nsx_str want);

#endif
