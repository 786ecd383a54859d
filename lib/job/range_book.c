/* range_book.c -- the NVTX ranges to which later operations may refer. */
#include "job/range_book.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

/* Below FEW ranges, ended ones are not searched; the book stays in the cache. More than MANY do not wait for operations
 * at a time: CUDA queues some thousand launches of a process. */
enum { FEW = 512, MANY = 1 << 20 };

/* Clocks that are corrected separately may move an operation a little past the end of its range. */
#define LATE INT64_C(10000000)

/* The slot of that range, or the free slot where it would be stored; there always is a free one. Ids of ranges are
 * consecutive, so multiplication spreads them evenly: four at a time, which are beside each other in memory. */
static inline uint32_t *
slot(const struct nsx_range_book *b, int64_t profile, int64_t range)
{
	size_t mask = ((size_t)1 << b->bits) - 1;
	size_t i = ((uint64_t)range / 4 + (uint64_t)profile * 0xff51afd7ed558ccdULL) * 0x9e3779b97f4a7c15ULL
	           >> (66 - b->bits) << 2 | ((uint64_t)range & 3);

	for (; b->at[i] != NSX_NONE; i = (i + 1) & mask) {
		const struct nsx_range_entry *r = &b->list.p[b->at[i]];

		if (r->range == range && r->profile == profile)
			break;
	}
	return &b->at[i];
}

/* Remove all ranges from the hash table, and make it large enough for `limit` of them, at most a quarter full. */
static bool
clear(struct nsx_range_book *b)
{
	unsigned bits = 3;

	while ((size_t)1 << bits < 4 * b->limit)
		bits++;
	if (b->bits != bits) {
		free(b->at);
		b->at = malloc(sizeof *b->at << bits);
		b->bits = b->at ? bits : 0;
		if (!b->at)
			return false;
	}
	memset(b->at, 0xff, sizeof *b->at << bits);
	return true;
}

/* Whether a range is past: `until` is LATE before now. */
static bool
is_past(const struct nsx_range_entry *r, int64_t until)
{
	return r->end < until;
}

/* Report to `past` the ranges that ended before `until`, or all of them. A range comes after the range around it, so in
 * reverse order the time of each range is complete when it is reached: one pass is enough for any depth of nesting. */
static int
tell(struct nsx_range_book *b, int64_t until, bool all, struct nsx_err *err)
{
	for (size_t i = b->list.n; b->past && i-- > 0;) {
		const struct nsx_range_entry *r = &b->list.p[i];

		if (!all && !is_past(r, until))
			continue;
		if (r->up != NSX_NONE) {
			struct nsx_range_entry *up = &b->list.p[r->up];

			up->time = nsx_add_sat(up->time, r->time, NULL);
			up->worked |= r->worked;
		}
		if (!b->past(b->arg, r))
			return nsx_err_nomem(err, NULL);
	}
	return NSX_OK;
}

/* The place of that range; NSX_NONE where there is none, and for NSX_ABSENT. */
static inline uint32_t
place(const struct nsx_range_book *b, int64_t profile, int64_t range)
{
	return range == NSX_ABSENT ? (uint32_t)NSX_NONE : *slot(b, profile, range);
}

/* Remove the ranges that ended before `now`. */
static int
forget(struct nsx_range_book *b, int64_t now, struct nsx_err *err)
{
	int64_t until = nsx_sub_sat(now, LATE, NULL);
	size_t kept = 0;

	if (tell(b, until, false, err) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < b->list.n; i++)
		if (!is_past(&b->list.p[i], until))
			b->list.p[kept++] = b->list.p[i];
	b->list.n = kept;
	b->limit = 2 * kept > FEW ? 2 * kept : FEW;
	b->limit = b->limit < NSX_NONE ? b->limit : NSX_NONE;
	if (!clear(b)) {
		b->list.n = b->limit = 0;   /* nothing is found without the hash table */
		return nsx_err_nomem(err, NULL);
	}
	for (size_t i = 0; i < kept; i++) {
		struct nsx_range_entry *r = &b->list.p[i];

		r->up = b->past ? place(b, r->profile, r->parent) : NSX_NONE;
		*slot(b, r->profile, r->range) = (uint32_t)i;
	}
	return NSX_OK;
}

/* Make space. If the ranges wait for operations that are not in the stream, which would have moved `now`, only those
 * that do not end before the middle one are kept. */
static int
make_room(struct nsx_range_book *b, struct nsx_err *err)
{
	int rc = forget(b, b->now, err);

	if (rc != NSX_OK || !b->ops_only || b->list.n < MANY)
		return rc;
	return forget(b, nsx_add_sat(b->list.p[b->list.n / 2].end, LATE, NULL), err);
}

void
nsx_range_book_need(struct nsx_reader *in, bool ops_only)
{
	nsx_reader_need(in, NSX_RANGE, NSX_C(RANGE, profile) | NSX_C(RANGE, range) | NSX_C(RANGE, parent)
	                               | NSX_C(RANGE, domain) | NSX_C(RANGE, name) | NSX_C(RANGE, start)
	                               | NSX_C(RANGE, dur));
	if (!ops_only)
		nsx_reader_need(in, NSX_RANGE, NSX_C(RANGE, host_start) | NSX_C(RANGE, host_dur));
	nsx_reader_need(in, NSX_OP, NSX_C(OP, profile) | NSX_C(OP, range) | (ops_only ? NSX_C(OP, start) : 0));
}

/* Whether a range is in one of the same name. Bits of names tell that of most without looking at all that are around
 * it. */
static void
look_around(const struct nsx_range_book *b, struct nsx_range_entry *r)
{
	const struct nsx_range_entry *up;

	r->up = place(b, r->profile, r->parent);
	if (r->up == NSX_NONE)
		return;
	up = &b->list.p[r->up];
	r->around = up->around | UINT64_C(1) << (up->name * 0x9e3779b9U >> 26);
	if (r->around >> (r->name * 0x9e3779b9U >> 26) & 1)
		for (; up && !r->inner; up = up->up == NSX_NONE ? NULL : &b->list.p[up->up])
			r->inner = up->name == r->name;
}

int
nsx_range_book_add(struct nsx_range_book *b, const struct nsx_rec *range, uint32_t name, struct nsx_err *err)
{
	int64_t gpu = nsx_int(range, NSX_RANGE_start, NSX_ABSENT), host = NSX_ABSENT, host_end = NSX_ABSENT;
	int64_t gpu_end = gpu == NSX_ABSENT ? NSX_ABSENT : nsx_add_sat(gpu, nsx_int(range, NSX_RANGE_dur, 0), NULL);

	if (!b->ops_only) {
		host = nsx_int(range, NSX_RANGE_host_start, NSX_ABSENT);
		host_end = host == NSX_ABSENT ? NSX_ABSENT
		           : nsx_add_sat(host, nsx_int(range, NSX_RANGE_host_dur, 0), NULL);
		b->now = gpu == NSX_ABSENT || (host != NSX_ABSENT && host < gpu) ? host : gpu;
	}
	return nsx_range_book_enter(b, nsx_int(range, NSX_RANGE_profile, NSX_ABSENT),
	                            nsx_int(range, NSX_RANGE_range, NSX_ABSENT),
	                            nsx_int(range, NSX_RANGE_parent, NSX_ABSENT),
	                            gpu_end > host_end ? gpu_end : host_end, name, err) ? NSX_OK : NSX_ERR;
}

/* Begin, or remove ranges: whether there is room for another one, with err filled if not. */
static bool
has_room(struct nsx_range_book *b, struct nsx_err *err)
{
	if (!b->at) {
		b->now = b->ops_only ? INT64_MIN : b->now;
		b->limit = FEW;
		if (!clear(b)) {
			nsx_err_nomem(err, NULL);
			return false;
		}
	}
	if (b->list.n >= b->limit && make_room(b, err) != NSX_OK)
		return false;
	if (b->list.n >= NSX_NONE) {
		nsx_err_set(err, "more than %u ranges open at a time", (unsigned)NSX_NONE);
		return false;
	}
	if (!nsx_vec_room(&b->list, 1)) {
		nsx_err_nomem(err, NULL);
		return false;
	}
	return true;
}

struct nsx_range_entry *
nsx_range_book_enter(struct nsx_range_book *b, int64_t profile, int64_t range, int64_t parent, int64_t end,
                     uint32_t name, struct nsx_err *err)
{
	struct nsx_range_entry *r;

	if ((b->list.n >= b->limit || b->list.n >= b->list.cap) && !has_room(b, err))
		return NULL;
	/* Filled in its place, number by number: a copy of what was just written so, in larger parts, has to wait for
	 * it. */
	r = &b->list.p[b->list.n];
	r->profile = profile;
	r->range = range;
	r->parent = parent;
	r->end = end;
	r->name = name;
	r->mark = r->up = NSX_NONE;
	r->own = r->time = 0;
	r->worked = r->inner = false;
	r->around = 0;
	r->values[0] = r->values[1] = r->values[2] = 0;
	if (b->past)
		look_around(b, r);
	*slot(b, profile, range) = (uint32_t)b->list.n++;
	return r;
}

struct nsx_range_entry *
nsx_range_book_find(const struct nsx_range_book *b, int64_t profile, int64_t range)
{
	uint32_t at = b->list.n ? *slot(b, profile, range) : NSX_NONE;

	return at == NSX_NONE ? NULL : &b->list.p[at];
}

bool
nsx_range_book_launched(struct nsx_range_book *b, int64_t profile, int64_t range, int64_t ns)
{
	struct nsx_range_entry *r = nsx_range_book_find(b, profile, range);

	if (r)
		nsx_range_book_add_time(r, ns);
	return r != NULL;
}

int
nsx_range_book_end(struct nsx_range_book *b, struct nsx_err *err)
{
	int rc = tell(b, 0, true, err);

	b->list.n = b->limit = 0;
	free(b->at);
	b->at = NULL;
	b->bits = 0;
	return rc;
}

struct nsx_str
nsx_range_book_name(struct nsx_range_book *b, const struct nsx_rec *range, enum nsx_names names)
{
	return nsx_range_book_title(b, nsx_string(range, NSX_RANGE_domain), nsx_string(range, NSX_RANGE_name), names);
}

struct nsx_str
nsx_range_book_title(struct nsx_range_book *b, struct nsx_str domain, struct nsx_str name, enum nsx_names names)
{
	name = name.len ? nsx_name(names, domain, name, &b->scratch) : NSX_STR("[unnamed]");
	if (!domain.len)
		return name;
	b->text.len = 0;
	nsx_buf_str(&b->text, domain);
	nsx_buf_char(&b->text, ':');
	nsx_buf_str(&b->text, name);
	return b->text.failed ? (struct nsx_str){ "", 0 } : nsx_buf_view(&b->text);
}

void
nsx_range_book_free(struct nsx_range_book *b)
{
	free(b->list.p);
	free(b->at);
	nsx_buf_free(&b->text);
	nsx_buf_free(&b->scratch);
}
