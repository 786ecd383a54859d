/* activity.c -- unions, activities of a device, and sums of any window of its time, compared with a count per
 * nanosecond. */
#include "job/activity.h"

#include <string.h>

#include "base/map.h"
#include "tap.h"

enum { SPAN = 200, OPS = 40, ROUNDS = 2000, LONG_SPAN = 3000, LONG_ROUNDS = 60, WINDOWS = 200 };

static uint64_t seed = 7;

static int64_t
draw(int64_t below)
{
	seed += 0x9e3779b97f4a7c15ULL;
	return (int64_t)(nsx_hash_u64(seed) % (uint64_t)below);
}

/* ---- one union */

/* The union of random intervals: what each adds, and how much of some of them lies in those of another union when
 * time has come to their end. */
static bool
union_round(void)
{
	struct { int64_t end; uint64_t before; int64_t want; } asked[OPS];
	bool on[SPAN] = { false }, good = true;
	struct nsx_union u = { 0 };
	int64_t start = draw(20), n = 1 + draw(OPS), nasked = 0, length = 0;

	for (int64_t i = 0; i < n && start < SPAN - 30; i++, start += draw(12)) {
		int64_t end = start + draw(28) - 2, fresh = 0;

		for (int64_t k = 0; k < nasked; k++)
			if (asked[k].end <= start && asked[k].want >= 0) {
				good &= (int64_t)(nsx_union_before(&u, asked[k].end) - asked[k].before) == asked[k].want;
				asked[k].want = -1;
			}
		if (draw(3) == 0) {
			/* The time that the union covers of [start, end): known when the test is over. */
			asked[nasked].end = end > start ? end : start;
			asked[nasked].before = nsx_union_before(&u, start);
			asked[nasked].want = 0;
			for (int64_t t = start; t < end; t++)
				asked[nasked].want += on[t];
			nasked++;
			continue;
		}
		for (int64_t t = start; t < end; t++) {
			fresh += !on[t];
			for (int64_t k = 0; k < nasked; k++)
				asked[k].want += asked[k].want >= 0 && !on[t] && t < asked[k].end;
			on[t] = true;
		}
		good &= (int64_t)nsx_union_add(&u, start, end) == fresh;
		length += fresh;
	}
	return good && (int64_t)u.length == length;
}

/* ---- the parts of a device's time, in one pass */

/* An operation of a round; its index is its thing. */
struct op { enum nsx_part part; int64_t start, end; };

/* Reported parts per nanosecond, what runs then, whether it hides communication, and whether reports are in order and
 * without gaps. */
struct told { const struct nsx_parts *p; int part[SPAN], thing[SPAN]; bool hides[SPAN]; int64_t at; bool orderly; };

static int
tell(void *state, enum nsx_part part, int64_t start, int64_t end)
{
	struct told *t = state;
	int64_t hidden = part == NSX_PART_COMPUTE ? nsx_parts_hidden_end(t->p, start, end) : start;

	t->orderly &= start < end && (t->at < 0 || start == t->at) && start >= 0 && end <= SPAN && hidden >= start && hidden <= end;
	t->at = end;
	for (int64_t i = start; i < end && i < SPAN; i++) {
		t->part[i] = (int)part;
		t->thing[i] = part == NSX_PART_IDLE ? -1 : (int)t->p->thing[part];
		t->hides[i] = i < hidden;
	}
	return NSX_OK;
}

/* What n operations do at time t: of the first activity that holds the one that ends last, of those that began by then. */
static void
count_at(const struct op *ops, int64_t n, int64_t t, struct told *want)
{
	bool comm = false;

	for (int64_t i = 0; i < n; i++) {
		const struct op *o = &ops[i];
		int best = want->thing[t];

		if (o->start > t || o->end <= t)
			continue;
		comm |= o->part == NSX_PART_COMM;
		if (best >= 0 && (ops[best].part < o->part || (ops[best].part == o->part && ops[best].end >= o->end)))
			continue;
		want->thing[t] = (int)i;
		want->part[t] = (int)o->part;
	}
	want->hides[t] = comm && want->part[t] == NSX_PART_COMPUTE;
}

static bool
one_round(void)
{
	struct nsx_parts p = { 0 };
	struct told told = { .p = &p, .at = -1, .orderly = true }, want = { .p = &p };
	struct op ops[OPS];
	int64_t start = draw(20), n = 1 + draw(OPS), last = 0, first = start, i;
	uint64_t length[NSX_PART_IDLE] = { 0 };

	memset(told.part, 0xff, sizeof told.part);
	memset(told.thing, 0xff, sizeof told.thing);
	memset(want.part, 0xff, sizeof want.part);
	memset(want.thing, 0xff, sizeof want.thing);
	for (i = 0; i < n && start < SPAN; i++, start += draw(12)) {
		int64_t end = start + draw(25) - 2;

		ops[i] = (struct op){ (enum nsx_part)draw(NSX_PART_IDLE), start, end > SPAN ? SPAN : end };
		if (nsx_parts_add_thing(&p, ops[i].part, (uint32_t)i, start, ops[i].end, tell, &told) != NSX_OK)
			return false;
		last = start > last ? start : last;
		last = ops[i].end > last ? ops[i].end : last;
	}
	n = i;
	if (nsx_parts_finish(&p, tell, &told) != NSX_OK || nsx_parts_end(&p) != last)
		return false;
	for (int64_t t = first; t < last; t++) {
		bool on[NSX_PART_IDLE] = { false };

		count_at(ops, n, t, &want);
		if (want.part[t] < 0)
			want.part[t] = NSX_PART_IDLE;
		for (i = 0; i < n; i++)
			on[ops[i].part] |= ops[i].start <= t && t < ops[i].end;
		for (int k = 0; k < NSX_PART_IDLE; k++)
			length[k] += on[k];
	}
	for (int k = 0; k < NSX_PART_IDLE; k++)
		if (p.of[k].length != length[k])
			return false;
	return told.orderly && memcmp(told.part, want.part, sizeof want.part) == 0
	       && memcmp(told.thing, want.thing, sizeof want.thing) == 0
	       && memcmp(told.hides, want.hides, sizeof want.hides) == 0;
}

/* ---- all of its time */

static bool
timeline_round(void)
{
	static bool on[NSX_PART_IDLE][LONG_SPAN];
	struct nsx_timeline t = { 0 };
	int64_t first = draw(50), last = first;
	bool good = true;

	memset(on, 0, sizeof on);
	for (int64_t start = first; start < LONG_SPAN - 40; start += draw(9)) {
		enum nsx_part part = (enum nsx_part)draw(NSX_PART_IDLE);
		int64_t end = start + draw(draw(20) ? 12 : 40);

		good = good && nsx_timeline_add(&t, part, start, end, NULL);
		last = end > last ? end : last;
		for (int64_t i = start; i < end; i++)
			on[part][i] = true;
	}
	good = good && nsx_timeline_finish(&t);
	for (int w = 0; w < WINDOWS && good; w++) {
		int64_t from = draw(LONG_SPAN), to = draw(LONG_SPAN);
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
	int good = 0, unions = 0, sums = 0, calls = 0;
	struct nsx_parts p = { 0 };
	struct nsx_timeline empty = { 0 };

	for (int i = 0; i < ROUNDS; i++)
		unions += union_round();
	is_int(unions, ROUNDS, "random intervals: what each adds to the union, and what of another it covers");
	for (int i = 0; i < ROUNDS; i++)
		good += one_round();
	is_int(good, ROUNDS, "random operations: each moment has the first part that holds, in order, to the largest end; "
	       "the operation of it that ends last; and whether it hides communication");
	for (int i = 0; i < LONG_ROUNDS; i++)
		sums += timeline_round();
	is_int(sums, LONG_ROUNDS, "random operations: sums of random windows equal a count per nanosecond");
	ok(nsx_timeline_finish(&empty) && nsx_timeline_between(&empty, 0, 100).part[NSX_PART_IDLE] == 0,
	   "a device without operations has no time");

	struct nsx_parts none = { 0 };
	is_int(nsx_parts_finish(&none, stop, &calls), NSX_OK, "a device without operations reports no parts");
	ok(nsx_parts_add(&p, NSX_PART_COPY, 0, 5, stop, &calls) == NSX_OK && nsx_parts_add(&p, NSX_PART_COPY, 9, 9, stop, &calls) == NSX_ERR,
	   "an error of the callback is returned");
	is_int(calls, 1, "and no part is reported after it");
	is_str(nsx_part_name(NSX_PART_IDLE), "idle", "parts have names");
	return done();
}
