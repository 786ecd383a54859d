/* mapdel.c -- insertion and removal of keys, compared with an array. */
#include "base/map.h"

#include "tap.h"

enum { KEYS = 300 };

static uint32_t want[KEYS];
static uint64_t state = 1;

static uint32_t
next(uint32_t n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % n;
}

static struct nsx_key
key(uint32_t i)
{
	return (struct nsx_key){ i % 7, UINT64_MAX - i / 7 };
}

/* Keys with a wrong number. */
static int
wrong(const struct nsx_map *m)
{
	int n = 0;

	for (uint32_t i = 0; i < KEYS; i++)
		n += nsx_map_get(m, key(i)) != want[i];
	return n;
}

int
main(void)
{
	struct nsx_map m = { 0 };
	int bad = 0, lost = 0, refused = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < KEYS; i++)
		want[i] = NSX_NONE;
	ok(!nsx_map_del(&m, key(0)), "removal from an empty map finds no key");
	for (uint32_t step = 0; step < 20000; step++) {
		/* Now nearly full, now nearly empty. */
		bool put = next(100) < (step / 2000 % 2 ? 20U : 80U);
		uint32_t i = next(KEYS), *at;

		if (put && (at = nsx_map_at(&m, key(i))) != NULL) {
			lost += *at != want[i];
			n += want[i] == NSX_NONE;
			*at = want[i] = step;
		} else if (!put) {
			refused += nsx_map_del(&m, key(i)) != (want[i] != NSX_NONE);
			n -= want[i] != NSX_NONE;
			want[i] = NSX_NONE;
		}
		if (step % 50 == 0)
			bad += wrong(&m);
	}
	is_int(bad, 0, "every key has its last number, removed keys have none");
	is_int(lost, 0, "nsx_map_at finds existing keys");
	is_int(refused, 0, "nsx_map_del returns whether there was a key");
	is_int((int64_t)m.n, (int64_t)n, "the count is right");
	nsx_map_free(&m);
	ok(m.n == 0 && nsx_map_get(&m, key(1)) == NSX_NONE, "a freed map is empty");
	return done();
}
