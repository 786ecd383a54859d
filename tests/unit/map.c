/* map.c -- keys of a map or a table of strings are found, others are not. */
#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"

#include "tap.h"

enum { KEYS = 200000 };

static struct nsx_key
key(uint64_t i)
{
	/* Keys that differ in one word only, in either, and in high bits only. */
	switch (i % 3) {
	case 0:  return (struct nsx_key){ i, 0 };
	case 1:  return (struct nsx_key){ 0, i };
	default: return (struct nsx_key){ i << 40, i };
	}
}

static void
maps(void)
{
	struct nsx_map m = { 0 };
	bool good = true;

	ok(nsx_map_get(&m, key(1)) == NSX_NONE, "an empty map has no key");
	for (uint32_t i = 0; i < KEYS; i++) {
		uint32_t *at = nsx_map_at(&m, key(i));
		good = good && at && *at == NSX_NONE;
		if (at)
			*at = i;
	}
	ok(good, "new keys come without a number");
	for (uint32_t i = 0; i < KEYS; i++)
		good = good && nsx_map_get(&m, key(i)) == i && *nsx_map_at(&m, key(i)) == i;
	ok(good, "keys are found with their numbers");
	for (uint32_t i = KEYS; i < 2 * KEYS; i++)
		good = good && nsx_map_get(&m, key(i)) == NSX_NONE;
	ok(good, "others are not found");
	is_int((int64_t)m.n, KEYS, "each is there once");
	nsx_map_clear(&m);
	ok(m.n == 0 && nsx_map_get(&m, key(5)) == NSX_NONE, "cleared, it has no key");
	for (uint32_t i = 1; i < KEYS; i++) {
		uint32_t *at = nsx_map_at(&m, key(i));
		good = good && at && *at == NSX_NONE;
		if (at)
			*at = i + 1;
	}
	for (uint32_t i = 1; i < KEYS; i++)
		good = good && nsx_map_get(&m, key(i)) == i + 1;
	ok(good && nsx_map_get(&m, key(0)) == NSX_NONE, "and takes new ones");
	nsx_map_free(&m);
	nsx_map_clear(&m);
	ok(nsx_map_get(&m, key(5)) == NSX_NONE, "freed, it is empty");
	*nsx_map_at(&m, key(0)) = 7;
	ok(nsx_map_room(&m, KEYS) && nsx_map_get(&m, key(0)) == 7 && m.n == 1, "room for more keys keeps those there are");
	struct nsx_map_slot *slots = m.slots;
	for (uint32_t i = 1; i < KEYS; i++)
		nsx_map_at(&m, key(i));
	ok(m.slots == slots && m.n == KEYS, "so many keys do not move it");
	ok(nsx_map_room(&m, 1) && m.slots == slots && !nsx_map_room(&m, SIZE_MAX), "nor does room for fewer; too many fail");
	nsx_map_free(&m);
}

static void
interns(void)
{
	struct nsx_intern t = { 0 };
	char text[32];
	bool good = true;

	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < KEYS; i++) {
			int n = snprintf(text, sizeof text, "name.%u", i);
			good = good && nsx_intern(&t, (struct nsx_str){ text, (size_t)n }) == i;
		}
	ok(good, "strings are numbered in order of arrival, once");
	is_int((int64_t)t.n, KEYS, "so many are there");
	is_str(nsx_intern_str(&t, 777).ptr, "name.777", "a number leads back to its string");
	ok(nsx_intern_find(&t, NSX_STR("name.777")) == 777 && nsx_intern_find(&t, NSX_STR("name")) == NSX_NONE, "finding adds no key");
	is_int((int64_t)t.n, KEYS, "indeed");
	ok(nsx_intern(&t, NSX_STR("a\0b")) != nsx_intern(&t, NSX_STR("a\0c")) && nsx_intern(&t, NSX_STR("")) == KEYS + 2,
	   "a NUL is a byte, and the empty string is a string");
	nsx_intern_free(&t);
	ok(nsx_intern_find(&t, NSX_STR("name.1")) == NSX_NONE, "freed, it is empty");
}

static void
numbers(void)
{
	struct nsx_map m = { 0 };
	bool good = true;

	for (int round = 0; round < 2; round++)
		for (uint64_t i = 0; i < KEYS; i++)
			good = good && nsx_map_number(&m, (struct nsx_key){ i * 7919, i % 3 }) == i;
	ok(good, "keys are numbered in order of arrival, once");
	nsx_map_free(&m);
}

static void
recent(void)
{
	struct nsx_map m = { 0 };
	struct nsx_recent recent[NSX_RECENT] = { { .known = false } };
	bool good = true;

	/* The first key is all 0, and many have one place among the recent ones. */
	for (int round = 0; round < 3; round++)
		for (uint64_t i = 0; i < 1000; i++)
			for (int twice = 0; twice < 2; twice++)
				good = good && nsx_map_recall(&m, recent, (struct nsx_key){ i * 8, i / 3 }) == i;
	ok(good && m.n == 1000, "keys that were asked for lately have the numbers that they had");
	nsx_map_free(&m);
}

static void
hashes(void)
{
	const char *s = "thunk";

	ok(nsx_hash(s, 5) == nsx_hash(&"xthunk"[1], 5), "a hash depends on the bytes, not on where they are");
	ok(nsx_hash(s, 5) != nsx_hash(s, 4) && nsx_hash("", 0) != nsx_hash("\0", 1), "and on how many they are");
}

static void
vectors(void)
{
	NSX_VEC(int64_t) v = { 0 };
	bool good = nsx_vec_reach(&v, 40, &(int64_t){ 7 }) && v.n == 41;

	for (size_t i = 0; i < v.n; i++)
		good &= v.p[i] == 7;
	ok(good, "a vector reaches an index with a value");
	ok(nsx_vec_reach(&v, 3, NULL) && v.n == 41, "one that does is left alone");
	ok(nsx_vec_reach(&v, 42, NULL) && v.n == 43 && v.p[40] == 7 && v.p[42] == 0, "and NULL is all 0");
	ok(!nsx_vec_reach(&v, SIZE_MAX / sizeof(int64_t), NULL) && v.n == 43, "out of reach it is unchanged");
	free(v.p);
}

int
main(void)
{
	vectors();
	maps();
	interns();
	numbers();
	recent();
	hashes();
	return done();
}
