/* map.c -- hash tables: integers to integers, and strings to dense numbers. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* ---- keys */

struct nsx_map_slot { struct nsx_key key; uint32_t value; bool used; };

/* The slot where a search for key begins. */
static inline size_t
home(size_t cap, struct nsx_key key)
{
	uint64_t x = (key.a ^ key.b >> 32) * 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 32 ^ key.b) * 0xff51afd7ed558ccdULL;
	return (x ^ x >> 32) & (cap - 1);
}

static inline struct nsx_map_slot *
place(struct nsx_map_slot *slots, size_t cap, struct nsx_key key)
{
	size_t i = home(cap, key);

	while (slots[i].used && (slots[i].key.a != key.a || slots[i].key.b != key.b))
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

uint32_t
nsx_map_get(const struct nsx_map *m, struct nsx_key key)
{
	if (!m->n)
		return NSX_NONE;
	const struct nsx_map_slot *s = place(m->slots, m->cap, key);
	return s->used ? s->value : NSX_NONE;
}

static bool
map_grow(struct nsx_map *m, size_t cap)
{
	struct nsx_map_slot *slots = calloc(cap, sizeof *slots);

	if (!slots)
		return false;
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].used)
			*place(slots, cap, m->slots[i].key) = m->slots[i];
	free(m->slots);
	m->slots = slots;
	m->cap = cap;
	return true;
}

bool
nsx_map_room(struct nsx_map *m, size_t n)
{
	size_t cap = m->cap ? m->cap : 64;

	if (n > SIZE_MAX / 8)
		return false;
	/* A key is added while there are fewer than three quarters of cap. */
	while (n * 4 > cap * 3)
		cap *= 2;
	return cap == m->cap || map_grow(m, cap);
}

uint32_t *
nsx_map_at(struct nsx_map *m, struct nsx_key key)
{
	if (m->n * 4 >= m->cap * 3 && !map_grow(m, m->cap ? m->cap * 2 : 64))
		return NULL;
	struct nsx_map_slot *s = place(m->slots, m->cap, key);
	if (!s->used) {
		*s = (struct nsx_map_slot){ key, NSX_NONE, true };
		m->n++;
	}
	return &s->value;
}

uint32_t
nsx_map_number(struct nsx_map *m, struct nsx_key key)
{
	uint32_t *at = nsx_map_at(m, key);

	if (at && *at == NSX_NONE)
		*at = (uint32_t)m->n - 1;
	return at ? *at : NSX_NONE;
}

bool
nsx_map_del(struct nsx_map *m, struct nsx_key key)
{
	if (!m->n)
		return false;
	struct nsx_map_slot *gap = place(m->slots, m->cap, key);
	if (!gap->used)
		return false;
	/* Move a later key into the gap if the probe sequence of that key passes the gap. */
	for (size_t i = (size_t)(gap - m->slots), at = i;;) {
		at = (at + 1) & (m->cap - 1);
		if (!m->slots[at].used)
			break;
		if (((at - home(m->cap, m->slots[at].key)) & (m->cap - 1)) >= ((at - i) & (m->cap - 1))) {
			m->slots[i] = m->slots[at];
			i = at;
			gap = &m->slots[i];
		}
	}
	*gap = (struct nsx_map_slot){ 0 };
	m->n--;
	return true;
}

void
nsx_map_clear(struct nsx_map *m)
{
	if (m->slots)
		memset(m->slots, 0, m->cap * sizeof *m->slots);
	m->n = 0;
}

void
nsx_map_free(struct nsx_map *m)
{
	free(m->slots);
	*m = (struct nsx_map){ 0 };
}

/* ---- strings */

uint64_t
nsx_hash(const void *p, size_t n)
{
	const unsigned char *s = p;
	uint64_t h = 0x9e3779b97f4a7c15ULL ^ n, w;

	for (; n >= 8; s += 8, n -= 8) {
		memcpy(&w, s, 8);
		h = (h ^ w) * 0xff51afd7ed558ccdULL;
		h ^= h >> 32;
	}
	if (n) {
		w = 0;
		memcpy(&w, s, n);
		h = (h ^ w) * 0xff51afd7ed558ccdULL;
		h ^= h >> 32;
	}
	return nsx_hash_u64(h);
}

static size_t
find(const struct nsx_intern *t, struct nsx_str s, uint64_t h)
{
	size_t i = h & (t->nslots - 1);

	for (; t->slots[i] != NSX_NONE; i = (i + 1) & (t->nslots - 1)) {
		uint32_t id = t->slots[i];
		if (t->hashes[id] == h && nsx_str_eq(t->strs[id], s))
			break;
	}
	return i;
}

static bool
intern_grow(struct nsx_intern *t)
{
	if (t->n == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 64;
		struct nsx_str *strs = realloc(t->strs, cap * sizeof *strs);
		if (!strs)
			return false;
		t->strs = strs;
		uint64_t *hashes = realloc(t->hashes, cap * sizeof *hashes);
		if (!hashes)
			return false;
		t->hashes = hashes;
		t->cap = cap;
	}
	if (t->n * 4 < t->nslots * 3)
		return true;
	size_t nslots = t->nslots ? t->nslots * 2 : 128;
	uint32_t *slots = malloc(nslots * sizeof *slots);
	if (!slots)
		return false;
	memset(slots, 0xff, nslots * sizeof *slots);
	for (size_t id = 0; id < t->n; id++) {
		size_t i = t->hashes[id] & (nslots - 1);
		while (slots[i] != NSX_NONE)
			i = (i + 1) & (nslots - 1);
		slots[i] = (uint32_t)id;
	}
	free(t->slots);
	t->slots = slots;
	t->nslots = nslots;
	return true;
}

uint32_t
nsx_intern(struct nsx_intern *t, struct nsx_str s)
{
	return nsx_intern_hashed(t, s, nsx_hash(s.ptr, s.len));
}

uint32_t
nsx_intern_hashed(struct nsx_intern *t, struct nsx_str s, uint64_t h)
{
	if ((t->n == t->cap || t->n * 4 >= t->nslots * 3) && !intern_grow(t))
		return NSX_NONE;
	size_t i = find(t, s, h);
	if (t->slots[i] != NSX_NONE)
		return t->slots[i];
	if (t->n >= NSX_NONE - 1)
		return NSX_NONE;
	struct nsx_str own = nsx_arena_str(&t->arena, s);
	if (!own.ptr)
		return NSX_NONE;
	t->strs[t->n] = own;
	t->hashes[t->n] = h;
	t->slots[i] = (uint32_t)t->n;
	return (uint32_t)t->n++;
}

/* The place in `recall` of a string, by a few of its bytes. */
static uint32_t
recall_at(struct nsx_str s)
{
	uint64_t first = 0, middle = 0, last = 0;

	/* Titles of one program begin and end alike. */
	if (s.len >= 8) {
		memcpy(&first, s.ptr, 8);
		memcpy(&middle, s.ptr + (s.len - 8) / 2, 8);
		memcpy(&last, s.ptr + s.len - 8, 8);
	} else if (s.len) {
		first = (unsigned char)s.ptr[0];
		last = (uint64_t)(unsigned char)s.ptr[s.len / 2] << 8 | (unsigned char)s.ptr[s.len - 1];
	}
	first += (middle << 42 | middle >> 22) + (last << 21 | last >> 43);
	return (uint32_t)((first + s.len) * 0x9e3779b97f4a7c15ULL >> 54);
}

uint32_t
nsx_intern_recalled(const struct nsx_intern *t, uint32_t *recall, struct nsx_str s)
{
	uint32_t *at = &recall[recall_at(s)];

	if (*at < t->n && nsx_str_eq(t->strs[*at], s))
		return *at;
	return *at = nsx_intern_find(t, s);
}

uint32_t
nsx_intern_recall(struct nsx_intern *t, uint32_t *recall, struct nsx_str s)
{
	uint32_t *at = &recall[recall_at(s)];

	if (*at < t->n && nsx_str_eq(t->strs[*at], s))
		return *at;
	return *at = nsx_intern(t, s);
}

uint32_t
nsx_intern_find(const struct nsx_intern *t, struct nsx_str s)
{
	if (!t->n)
		return NSX_NONE;
	return t->slots[find(t, s, nsx_hash(s.ptr, s.len))];
}

void
nsx_intern_reset(struct nsx_intern *t)
{
	nsx_arena_reset(&t->arena);
	if (t->n)
		memset(t->slots, 0xff, t->nslots * sizeof *t->slots);
	t->n = 0;
}

void
nsx_intern_free(struct nsx_intern *t)
{
	nsx_arena_free(&t->arena);
	free(t->strs);
	free(t->hashes);
	free(t->slots);
	*t = (struct nsx_intern){ 0 };
}
