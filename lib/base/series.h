/* series.h -- numbers of keys that come in an order which mostly repeats, as the operations of a device do in each of
 * its steps: a key is not searched for where it follows the one before as it did the last time.
 *
 *   a b c a b c b   after a comes b, after b c, after c a: from the second a on nothing is searched but the last b */
#ifndef NSX_BASE_SERIES_H
#define NSX_BASE_SERIES_H

#include "base/map.h"
#include "base/vec.h"

NSX_BEGIN_C

/* next: the number that followed the last time; NSX_NONE: none has. */
struct nsx_series_key { struct nsx_key key; uint32_t next; };

/* {0} is empty. */
struct nsx_series {
	struct nsx_map of;                      /* key -> its number */
	NSX_VEC(struct nsx_series_key) keys;    /* by number */
};

/* The number that followed `last` the last time; NSX_NONE: none is known. last: NSX_NONE before the first key. */
static inline uint32_t
nsx_series_next(const struct nsx_series *s, uint32_t last)
{
	return last == NSX_NONE ? last : s->keys.p[last].next;
}

/* The number of a key, in order of first occurrence, searched for: it is then what follows `last`. NSX_NONE when out of
 * memory. */
uint32_t nsx_series_find(struct nsx_series *s, uint32_t last, struct nsx_key key);

/* The same, where it is the one that is expected without a search. *last, of the many series of those keys that there
 * may be, becomes it. */
static inline uint32_t
nsx_series_number(struct nsx_series *s, uint32_t *last, struct nsx_key key)
{
	uint32_t n = nsx_series_next(s, *last);

	if (n == NSX_NONE || s->keys.p[n].key.a != key.a || s->keys.p[n].key.b != key.b)
		n = nsx_series_find(s, *last, key);
	*last = n == NSX_NONE ? *last : n;
	return n;
}

void nsx_series_free(struct nsx_series *s);

NSX_END_C

#endif
