/* series.c -- numbers of keys in an order that repeats are those of a map, whatever is expected. */
#include "base/series.h"

#include "tap.h"

static struct nsx_key
key(uint64_t k)
{
	return (struct nsx_key){ k, ~k };
}

static void
expectations(void)
{
	struct nsx_series s = { .keys = { .n = 0 } };
	uint32_t last = NSX_NONE;

	is_int(nsx_series_next(&s, last), NSX_NONE, "nothing is expected first");
	is_int(nsx_series_number(&s, &last, key(5)), 0, "the first key");
	is_int(nsx_series_next(&s, last), NSX_NONE, "nothing came after it yet");
	is_int(nsx_series_number(&s, &last, key(6)), 1, "the second");
	is_int(nsx_series_number(&s, &last, key(5)), 0, "the first again");
	is_int(nsx_series_next(&s, last), 1, "now the second is expected");
	is_int(nsx_series_number(&s, &last, key(7)), 2, "another one comes");
	last = 0;
	is_int(nsx_series_next(&s, last), 2, "and is expected from then on");
	is_int(nsx_series_number(&s, &last, key(6)), 1, "what was expected before is found still");
	nsx_series_free(&s);
}

/* Two series over the same keys, of random ones: each number is that of a map. */
static void
like_a_map(void)
{
	struct nsx_series s = { .keys = { .n = 0 } };
	struct nsx_map m = { 0 };
	uint32_t last[2] = { NSX_NONE, NSX_NONE };
	uint64_t state = 1;
	bool same = true;

	for (int i = 0; i < 100000; i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		uint64_t k = state >> 60 ? (uint64_t)i % 50 : (state >> 33) % 1000;

		same &= nsx_series_number(&s, &last[i & 1], key(k)) == nsx_map_number(&m, key(k));
	}
	ok(same, "the same numbers as of a map");
	nsx_series_free(&s);
	nsx_map_free(&m);
}

int
main(void)
{
	expectations();
	like_a_map();
	return done();
}
