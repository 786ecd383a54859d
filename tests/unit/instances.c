/* instances.c -- records of one instance are combined, for any order of records: compared with a list of all records. */
#include "job/instances.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

enum { THINGS = 5, TIMES = 40, DEVICES = 6, ROUNDS = 60 };

static struct nsx_err err;
static uint64_t seed = 11;

static uint64_t
draw(uint64_t below)
{
	seed += 0x9e3779b97f4a7c15ULL;
	return nsx_hash_u64(seed) % below;
}

/* A device's record: where in the order of all it came. */
struct record { uint32_t thing, time, device; int64_t came, least, most, n; };

/* Completed instances, and expected ones: records of each instance by arrival. */
struct seen {
	NSX_VEC(struct record) all;
	size_t  participants[THINGS];
	int64_t completed, last_first, late;   /* last_first: where the first record of the last instance came, at the end */
	bool    combined, ending, good;
};

static int
complete(void *state, struct nsx_key key, void *records, size_t n)
{
	struct seen *s = state;
	struct record *r = records;
	int64_t count = 0, least = INT64_MAX, most = -1, first = -1;
	size_t at = 0;

	for (size_t i = 0; i < s->all.n; i++) {
		const struct record *a = &s->all.p[i];

		if (a->thing != key.a || a->time != key.b)
			continue;
		first = count++ == 0 ? a->came : first;
		least = a->came < least ? a->came : least;
		most = a->came > most ? a->came : most;
		if (!s->combined) {
			s->good &= at < n && r[at].came == a->came && r[at].device == a->device;
			at++;
		}
	}
	s->good &= s->combined ? n == 1 && r->n == count && r->least == least && r->most == most : (int64_t)n == count;
	/* Complete at once when all are there, or at the end in order of the first records. */
	s->good &= s->ending ? s->participants[key.a] != (size_t)count && first > s->last_first : s->participants[key.a] == (size_t)count;
	if (s->ending)
		s->last_first = first;
	s->late += s->ending;
	s->completed++;
	/* They are the callee's to change. */
	memset(records, 0xff, n * sizeof *r);
	return NSX_OK;
}

static void
combine(void *first, const void *record)
{
	struct record *a = first;
	const struct record *r = record;

	a->least = r->came < a->least ? r->came : a->least;
	a->most = r->came > a->most ? r->came : a->most;
	a->n++;
}

/* All devices run all instances in the same order except some that they omit; devices alternate at random. */
static bool
one_round(bool combined, int64_t *late)
{
	struct seen s = { .combined = combined, .good = true, .last_first = -1 };
	struct nsx_instances m = { .size = sizeof(struct record), .complete = complete, .combine = combined ? combine : NULL, .state = &s };
	uint32_t next[DEVICES] = { 0 }, begun[THINGS][TIMES] = { { 0 } };
	int64_t came = 0, want = 0;

	for (size_t i = 0; i < THINGS; i++)
		s.participants[i] = i == 0 ? 0 : i == 1 ? 1 : draw(2) ? DEVICES : DEVICES - 1;
	for (size_t left = DEVICES; left > 0;) {
		uint32_t d = (uint32_t)draw(DEVICES), n = next[d]++;
		struct record r = { n % THINGS, n / THINGS, d, came, came, came, 1 };
		size_t participants = s.participants[r.thing];

		left -= n + 1 == THINGS * TIMES;
		if (n >= THINGS * TIMES || draw(20) == 0 || (participants == 1 && d > 0) || (participants == DEVICES - 1 && d == 0))
			continue;
		want += begun[r.thing][r.time]++ == 0;
		came++;
		if (!nsx_vec_push(&s.all, r) || nsx_instances_add(&m, (struct nsx_key){ r.thing, r.time }, &r, participants, &err) != NSX_OK)
			abort();
	}
	s.ending = true;
	if (nsx_instances_finish(&m, &err) != NSX_OK)
		abort();
	*late += s.late;
	nsx_instances_free(&m);
	free(s.all.p);
	return s.good && s.completed == want;
}

static int
refuse(void *state, struct nsx_key key, void *records, size_t n)
{
	(void)key;
	(void)records;
	*(size_t *)state = n;
	return NSX_EOF;
}

int
main(void)
{
	int64_t held = 0, late = 0;
	int good = 0, both = 0;

	for (int i = 0; i < ROUNDS; i++) {
		good += one_round(false, &held);
		both += one_round(true, &late);
	}
	is_int(good, ROUNDS, "every instance is completed once, with all its records in order of arrival");
	is_int(both, ROUNDS, "combined records equal the combination of all");
	ok(held > 0 && late > 0, "instances that lack a device are completed at the end, in order of their first records");

	size_t n = 0;
	struct record r = { 0 };
	struct nsx_instances m = { .size = sizeof r, .complete = refuse, .state = &n };
	is_int(nsx_instances_add(&m, (struct nsx_key){ 1, 2 }, &r, 2, &err), NSX_OK, "an incomplete instance is held");
	is_int(nsx_instances_add(&m, (struct nsx_key){ 1, 3 }, &r, 2, &err), NSX_OK, "another instance too");
	is_int(nsx_instances_add(&m, (struct nsx_key){ 1, 2 }, &r, 2, &err), NSX_EOF, "an error of complete is returned");
	is_int((int64_t)n, 2, "of two records");
	is_int((int64_t)m.slots.n, 2, "at most two were held");
	is_int(nsx_instances_add(&m, (struct nsx_key){ 1, 2 }, &r, 2, &err), NSX_OK, "an instance that was completed begins anew");
	is_int((int64_t)m.slots.n, 2, "where the one before it was");
	is_int(nsx_instances_finish(&m, &err), NSX_EOF, "... also at the end");
	nsx_instances_free(&m);
	return done();
}
