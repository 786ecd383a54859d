/* map.h -- hash tables: integers to integers, and strings to dense numbers.
 * Hashes are fixed, so a run repeats exactly; nothing iterates in hash order. */
#ifndef NSX_BASE_MAP_H
#define NSX_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

NSX_BEGIN_C

enum { NSX_NONE = UINT32_MAX };

/* A key of two 64-bit words: pack the values that identify a thing into it. */
struct nsx_key { uint64_t a, b; };

/* Keys to 32-bit numbers; {0} is empty. */
struct nsx_map { struct nsx_map_slot *slots; size_t n, cap; };

/* The number under key, NSX_NONE if there is none. */
uint32_t nsx_map_get(const struct nsx_map *m, struct nsx_key key);

/* The address of key's number, added as NSX_NONE if it was missing; valid until the next nsx_map_at. NULL when out of
 * memory. */
uint32_t *nsx_map_at(struct nsx_map *m, struct nsx_key key);

/* Reserve memory for n keys in all; false when out of memory, the map unchanged. */
bool nsx_map_room(struct nsx_map *m, size_t n);

/* Number keys 0, 1, ... in order of first occurrence: key's number, new or old; NSX_NONE when out of memory. For a map
 * from which nothing is removed and whose numbers are set by no other function. */
uint32_t nsx_map_number(struct nsx_map *m, struct nsx_key key);

/* The same for keys a few of which occur very often: those are found without a search. recent: NSX_RECENT, at first
 * {0}, used for this map only. */
enum { NSX_RECENT = 16 };
struct nsx_recent { struct nsx_key key; uint32_t number; bool known; };
static inline uint32_t
nsx_map_recall(struct nsx_map *m, struct nsx_recent *recent, struct nsx_key key)
{
	struct nsx_recent *r = &recent[(key.a ^ key.b) % NSX_RECENT];

	if (!r->known || r->key.a != key.a || r->key.b != key.b) {
		uint32_t number = nsx_map_number(m, key);

		*r = (struct nsx_recent){ key, number, number != NSX_NONE };
	}
	return r->known ? r->number : NSX_NONE;
}

/* Remove key; false if it is not in the map. */
bool nsx_map_del(struct nsx_map *m, struct nsx_key key);
/* Remove all keys, and keep the memory for those to come. */
void nsx_map_clear(struct nsx_map *m);
void nsx_map_free(struct nsx_map *m);

/* Distinct byte strings, numbered 0, 1, ... in order of first occurrence; {0} is empty. The table owns copies; the
 * result of nsx_intern_str lives as long as the table. */
struct nsx_intern {
	struct nsx_arena arena;
	struct nsx_str  *strs;    /* by number */
	uint64_t        *hashes;
	size_t           n, cap;
	uint32_t        *slots;
	size_t           nslots;
};

/* s's number, new or old; NSX_NONE when out of memory. */
uint32_t nsx_intern(struct nsx_intern *t, struct nsx_str s);
/* The same where s's nsx_hash is known. */
uint32_t nsx_intern_hashed(struct nsx_intern *t, struct nsx_str s, uint64_t hash);
/* The same for strings some of which occur very often: those are found by a few of their bytes. recall: NSX_RECALL
 * numbers with any initial values, used for this table only. */
enum { NSX_RECALL = 1024 };
uint32_t nsx_intern_recall(struct nsx_intern *t, uint32_t *recall, struct nsx_str s);
/* The same, NSX_NONE if it is not in the table. */
uint32_t nsx_intern_recalled(const struct nsx_intern *t, uint32_t *recall, struct nsx_str s);
/* Prefetch the slot of a string with this hash, which will be looked up soon. */
static inline void
nsx_intern_expect(const struct nsx_intern *t, uint64_t hash)
{
	if (t->nslots)
		__builtin_prefetch(&t->slots[hash & (t->nslots - 1)]);
}
/* s's number, NSX_NONE if it is not in the table. */
uint32_t nsx_intern_find(const struct nsx_intern *t, struct nsx_str s);
static inline struct nsx_str nsx_intern_str(const struct nsx_intern *t, uint32_t id) { return t->strs[id]; }
void nsx_intern_reset(struct nsx_intern *t);   /* forget every string, keep the memory */
void nsx_intern_free(struct nsx_intern *t);

/* The hash both use for bytes; 64 well-mixed bits, the same on every machine of one byte order. */
uint64_t nsx_hash(const void *p, size_t n);
static inline uint64_t
nsx_hash_u64(uint64_t x)
{
	/* Finaliser of MurmurHash3 (public domain constants). */
	x ^= x >> 33; x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33; x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

NSX_END_C

#endif
