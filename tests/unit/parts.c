/* parts.c -- activities of a device, compared with a count per nanosecond. */
#include "job/parts.h"

#include <string.h>

#include "base/map.h"
#include "tap.h"

enum { SPAN = 200, OPS = 40, ROUNDS = 2000 };

static uint64_t seed = 7;

static int64_t
draw(int64_t below)
{
	seed += 0x9e3779b97f4a7c15ULL;
	return (int64_t)(nsx_hash_u64(seed) % (uint64_t)below);
}

/* Reported parts per nanosecond, and whether reports are in order and without gaps. */
struct told { int part[SPAN]; int64_t at; bool orderly; };

static int
tell(void *state, enum nsx_part part, int64_t start, int64_t end)
{
	struct told *t = state;

	t->orderly &= start < end && (t->at < 0 || start == t->at) && start >= 0 && end <= SPAN;
	t->at = end;
	for (int64_t i = start; i < end && i < SPAN; i++)
		t->part[i] = (int)part;
	return NSX_OK;
}

static bool
one_round(void)
{
	struct nsx_parts p = { 0 };
	struct told told = { .at = -1, .orderly = true };
	int want[SPAN];
	int64_t start = draw(20), n = 1 + draw(OPS), last = 0, first = start;

	memset(told.part, 0xff, sizeof told.part);
	memset(want, 0xff, sizeof want);
	for (int64_t i = 0; i < n && start < SPAN; i++, start += draw(12)) {
		enum nsx_part part = (enum nsx_part)draw(NSX_PART_IDLE);
		int64_t end = start + draw(25) - 2;

		end = end > SPAN ? SPAN : end;
		if (nsx_parts_add(&p, part, start, end, tell, &told) != NSX_OK)
			return false;
		last = start > last ? start : last;
		last = end > last ? end : last;
		for (int64_t t = start; t < end; t++)
			if (want[t] < 0 || want[t] > (int)part)
				want[t] = (int)part;
	}
	if (nsx_parts_finish(&p, tell, &told) != NSX_OK || nsx_parts_end(&p) != last)
		return false;
	for (int64_t t = first; t < last; t++)
		if (want[t] < 0)
			want[t] = NSX_PART_IDLE;
	return told.orderly && memcmp(told.part, want, sizeof want) == 0;
}

static int
stop(void *state, enum nsx_part part, int64_t start, int64_t end)
{
	(void)part, (void)start, (void)end;
	++*(int *)state;
	return NSX_ERR;
}

int
main(void)
{
	int good = 0, calls = 0;
	struct nsx_parts p = { 0 };

	for (int i = 0; i < ROUNDS; i++)
		good += one_round();
	is_int(good, ROUNDS, "random operations: each moment has the first part that holds, in order, to the largest end");

	struct nsx_parts none = { 0 };
	is_int(nsx_parts_finish(&none, stop, &calls), NSX_OK, "a device without operations reports no parts");
	ok(nsx_parts_add(&p, NSX_PART_COPY, 0, 5, stop, &calls) == NSX_OK && nsx_parts_add(&p, NSX_PART_COPY, 9, 9, stop, &calls) == NSX_ERR,
	   "an error of the callback is returned");
	is_int(calls, 1, "and no part is reported after it");
	is_str(nsx_part_name(NSX_PART_IDLE), "idle", "parts have names");
	return done();
}
