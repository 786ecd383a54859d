/* timeline.c -- sums of any window of a device's time, compared with a count per nanosecond. */
#include "job/timeline.h"

#include <string.h>

#include "base/map.h"
#include "tap.h"

enum { SPAN = 3000, ROUNDS = 60, WINDOWS = 200 };

static uint64_t seed = 11;

static int64_t
draw(int64_t below)
{
	seed += 0x9e3779b97f4a7c15ULL;
	return (int64_t)(nsx_hash_u64(seed) % (uint64_t)below);
}

static bool
one_round(void)
{
	static bool on[NSX_PART_IDLE][SPAN];
	struct nsx_timeline t = { 0 };
	int64_t first = draw(50), last = first;
	bool good = true;

	memset(on, 0, sizeof on);
	for (int64_t start = first; start < SPAN - 40; start += draw(9)) {
		enum nsx_part part = (enum nsx_part)draw(NSX_PART_IDLE);
		int64_t end = start + draw(draw(20) ? 12 : 40);

		good = good && nsx_timeline_add(&t, part, start, end, NULL);
		last = end > last ? end : last;
		for (int64_t i = start; i < end; i++)
			on[part][i] = true;
	}
	good = good && nsx_timeline_finish(&t);
	for (int w = 0; w < WINDOWS && good; w++) {
		int64_t from = draw(SPAN), to = draw(SPAN);
		struct nsx_timeline_sums want = { { 0 }, 0, 0 }, got = nsx_timeline_between(&t, from, to);

		for (int64_t i = from > first ? from : first; i < to && i < last; i++) {
			int part = 0;

			while (part < NSX_PART_IDLE && !on[part][i])
				part++;
			want.part[part]++;
			want.hidden += on[NSX_PART_COMPUTE][i] && on[NSX_PART_COMM][i];
		}
		good = memcmp(&want, &got, sizeof want) == 0;
	}
	nsx_timeline_free(&t);
	return good;
}

int
main(void)
{
	int good = 0;
	struct nsx_timeline none = { 0 };

	for (int i = 0; i < ROUNDS; i++)
		good += one_round();
	is_int(good, ROUNDS, "random operations: sums of random windows equal a count per nanosecond");
	ok(nsx_timeline_finish(&none) && nsx_timeline_between(&none, 0, 100).part[NSX_PART_IDLE] == 0, "a device without operations has no time");
	return done();
}
