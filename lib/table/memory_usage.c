/* memory_usage.c -- see memory_usage.h. A curve is kept as at most POINTS buckets of as many changes each, of which the
 * highest is a point; when there are more, two become one:
 *
 *   changes   3 5 | 4 2 | 6 1 | 0 2       points  5 4 6 2       two as one   5 6
 *
 * so every point is a value that the curve had then, the peak is always one, and between two points the curve is
 * nowhere above both. */
#include "table/memory_usage.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "job/live.h"
#include "job/range_book.h"
#include "job/reach.h"
#include "table/sums.h"

enum { POINTS = NSX_USAGE_POINTS - 1, SMALL = 1000 /* of the peak: smaller ones are a row together */ };

struct usage_point { int64_t start, live, reserved; };

/* The bytes of one memory, or, memory NSX_NONE, of all memory, of a space. */
struct curve {
	uint32_t space, memory;
	int64_t  live, largest, peak, peak_reserved, peak_start, allocs, frees, unknown;
	uint64_t peak_at;                 /* number of the change */
	NSX_VEC(struct usage_point) points;
	uint64_t every, in_last;          /* changes of a point; of the last one so far */
	struct usage_point last;
};

/* What allocated, and what. by, path, variable: in names. */
struct site { uint32_t space, memory, by, path, variable; };
static const struct nsx_sum_def of_sites = { .size = sizeof(struct site), .key = sizeof(struct site) };

/* An allocation, from change `born` until `died`. */
struct life { uint64_t born, died; int64_t bytes; uint32_t site, space; };

/* On the host, where that is known. */
struct usage_step { int64_t profile, device, from, to, number; uint32_t class; };

struct row {
	struct site site;                 /* the key */
	int64_t profile, device, pid, start, live, reserved, peak, capacity, step, end, allocs, frees, unknown, count,
	        bytes, rest;
	double  share;
	uint32_t class;
};

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("profile", ID, profile), NSX_COL("device", ID, device), NSX_COL("pid", ID, pid),
	NSX_COL("memory", STRING, site.memory), NSX_COL("start", TIME, start), NSX_COL("live", BYTES, live),
	NSX_COL("reserved", BYTES, reserved), NSX_COL("peak", BYTES, peak), NSX_COL("capacity", BYTES, capacity),
	NSX_COL("share", SHARE, share), NSX_COL("class", STRING, class), NSX_COL("step", ID, step),
	NSX_COL("end", BYTES, end), NSX_COL("allocs", INT, allocs), NSX_COL("frees", INT, frees),
	NSX_COL("unknown", INT, unknown), NSX_COL("by", STRING, site.by), NSX_COL("path", STRING, site.path),
	NSX_COL("variable", STRING, site.variable), NSX_COL("count", INT, count), NSX_COL("bytes", BYTES, bytes),
	NSX_COL("is_rest", INT, rest),
};
#define ROWS NSX_ROWS(cols), .key = sizeof(struct site)

static const struct nsx_sum_def defs[] = {
	[NSX_USAGE_PEAK] = { ROWS,
	                     .shown = "profile device pid memory peak reserved capacity share start class step end "
	                              "allocs frees unknown",
	                     .order = "-peak profile device pid memory",
	                     .rank = "device memory peak share step class start capacity reserved end pid" },
	[NSX_USAGE_CURVE] = { ROWS, .shown = "profile device pid memory start live reserved",
	                      .order = "profile device pid memory start",
	                      .rank = "device memory start live reserved pid" },
	[NSX_USAGE_LIVE] = { ROWS, .shown = "profile device pid memory by path variable count bytes share",
	                     .order = "profile device pid is_rest -bytes memory by path variable",
	                     .rank = "device bytes share path by memory count variable pid" },
};

struct usage {
	NSX_STATE;
	const struct nsx_usage_options *options;
	struct nsx_live       live;
	struct nsx_range_book ranges;
	struct nsx_intern     names;        /* of memories, calls, ranges, paths, classes */
	struct nsx_buf        path;
	struct nsx_map        curve_of;     /* (space, memory) -> curves */
	NSX_VEC(struct curve) curves;
	struct nsx_sums       sites;
	NSX_VEC(struct life)  lives;
	NSX_VEC(struct usage_step) steps;
	uint64_t              changes;
	int64_t               lost, beyond;
};

static int
usage_begin(void *state, const void *options, const struct nsx_analysis_at *at)
{
	struct usage *u = state;

	(void)at;
	u->options = options;
	u->sites.def = &of_sites;
	u->rows = (struct nsx_sums){ .def = &defs[u->options->what], .texts = &u->names };
	return NSX_OK;
}

static void
usage_need(void *state, struct nsx_reader *in)
{
	const struct usage *u = state;

	nsx_live_need(in);
	nsx_event_need(in, NSX_MEMORY);
	if (u->options->what == NSX_USAGE_LIVE) {
		nsx_reader_need(in, NSX_MEMORY, NSX_C(MEMORY, by) | NSX_C(MEMORY, range) | NSX_C(MEMORY, variable));
		nsx_range_book_need(in, false);
		nsx_event_need(in, NSX_RANGE);
		nsx_event_need(in, NSX_OP);   /* which the book has asked for */
	} else if (u->options->what == NSX_USAGE_PEAK) {
		nsx_event_need(in, NSX_STEP);
		nsx_reader_need(in, NSX_STEP, NSX_C(STEP, profile) | NSX_C(STEP, class) | NSX_C(STEP, step));
	}
}

/* ---- curves ---- */

static struct curve *
curve_at(struct usage *u, uint32_t space, uint32_t memory)
{
	uint32_t at = nsx_map_number(&u->curve_of, (struct nsx_key){ space, memory });

	if (!nsx_vec_next(&u->curves, at, ((struct curve){ .space = space, .memory = memory, .every = 1 })))
		return NULL;
	return &u->curves.p[at];
}

static bool
add_point(struct curve *c)
{
	if (c->points.n && c->in_last < c->every) {
		struct usage_point *p = &c->points.p[c->points.n - 1];

		c->in_last++;
		*p = c->last.live > p->live ? c->last : *p;
		return true;
	}
	if (c->points.n == POINTS) {
		for (size_t i = 0; i < POINTS; i += 2) {
			const struct usage_point *p = &c->points.p[i];

			c->points.p[i / 2] = p[1].live > p[0].live ? p[1] : p[0];
		}
		c->points.n = POINTS / 2;
		c->every *= 2;
	}
	c->in_last = 1;
	return nsx_vec_push(&c->points, c->last);
}

/* What is reserved with the pools of a space, of which `c` is the curve of a memory or of all. */
static int64_t
reserved(struct usage *u, uint32_t space, const struct curve *c)
{
	int64_t pools = u->live.spaces.p[space].pools;
	uint32_t pool = nsx_intern_find(&u->live.memories, NSX_STR("pool"));

	if (pools == NSX_ABSENT || (c->memory != NSX_NONE && c->memory != pool))
		return NSX_ABSENT;
	if (c->memory == pool)
		return pools;
	uint32_t at = nsx_map_get(&u->curve_of, (struct nsx_key){ space, pool });

	return nsx_add_sat(nsx_sub_sat(c->live, at == NSX_NONE ? 0 : u->curves.p[at].live, NULL), pools, NULL);
}

/* `bytes` more, or fewer, at `start`. False when out of memory. */
static bool
change(struct usage *u, const struct nsx_live_block *b, int64_t bytes, int64_t start)
{
	for (int all = 0; all < 2; all++) {
		struct curve *c = curve_at(u, b->space, all ? NSX_NONE : b->memory);

		if (!c)
			return false;
		c->live = nsx_add_sat(c->live, bytes, NULL);
		c->last = (struct usage_point){ start, c->live, reserved(u, b->space, c) };
		c->largest = bytes > c->largest ? bytes : c->largest;
		if (c->live > c->peak) {
			c->peak = c->live;
			c->peak_reserved = c->last.reserved;
			c->peak_start = start;
			c->peak_at = u->changes;
		}
		if (u->options->what == NSX_USAGE_CURVE && !add_point(c))
			return false;
	}
	return true;
}

static bool
count(struct usage *u, uint32_t space, uint32_t memory, bool frees, bool unknown)
{
	for (int all = 0; all < 2; all++) {
		struct curve *c = curve_at(u, space, all ? NSX_NONE : memory);

		if (!c)
			return false;
		c->allocs += !frees;
		c->frees += frees;
		c->unknown += unknown;
	}
	return true;
}

/* ---- what allocated ---- */

/* The ranges around the call, outermost first, joined by ';'. False when out of memory. */
static bool
find_path(struct usage *u, const struct nsx_rec *rec, uint32_t *path)
{
	enum { DEPTH = 64 };
	uint32_t up[DEPTH];
	int64_t profile = nsx_int(rec, NSX_MEMORY_profile, NSX_ABSENT);
	int64_t range = nsx_int(rec, NSX_MEMORY_range, NSX_ABSENT);
	int n = 0;

	u->path.len = 0;
	while (range != NSX_ABSENT && n < DEPTH) {
		const struct nsx_range_entry *r = nsx_range_book_find(&u->ranges, profile, range);

		u->lost += !r && !n;
		if (!r)
			break;
		up[n++] = r->name;
		range = r->parent;
	}
	while (n-- > 0) {
		nsx_buf_str(&u->path, nsx_intern_str(&u->names, up[n]));
		if (n)
			nsx_buf_char(&u->path, ';');
	}
	*path = u->path.failed ? NSX_NONE : nsx_intern(&u->names, nsx_buf_view(&u->path));
	return *path != NSX_NONE;
}

static int
begin_life(struct usage *u, const struct nsx_rec *rec, struct nsx_live_block *b)
{
	struct site s = { .space = b->space, .memory = b->memory,
	                  .by = nsx_intern(&u->names, nsx_string(rec, NSX_MEMORY_by)),
	                  .variable = nsx_intern(&u->names, nsx_string(rec, NSX_MEMORY_variable)) };

	if (s.by == NSX_NONE || s.variable == NSX_NONE || !find_path(u, rec, &s.path))
		return NSX_NOMEM(u);
	b->mark = (uint32_t)u->lives.n;
	uint32_t site = nsx_sums_number(&u->sites, &s);
	if (site == NSX_NONE || b->mark == NSX_NONE
	    || !nsx_vec_push(&u->lives, ((struct life){ u->changes, UINT64_MAX, b->bytes, site, b->space })))
		return NSX_NOMEM(u);
	return NSX_OK;
}

static void
end_life(struct usage *u, const struct nsx_live_block *b)
{
	if (b->mark != NSX_NONE)
		u->lives.p[b->mark].died = u->changes;
}

/* ---- records ---- */

static int
take_memory(struct usage *u, const struct nsx_rec *rec)
{
	int64_t start = nsx_int(rec, NSX_MEMORY_start, 0);
	struct nsx_live_change c;

	if (nsx_live_take(&u->live, rec, &c, u->err) != NSX_OK)
		return NSX_ERR;
	u->changes++;
	if (c.frees && c.block == NSX_NONE)
		return count(u, c.space, c.memory, true, true) ? NSX_OK : NSX_NOMEM(u);
	if (c.ended.bytes >= 0) {
		end_life(u, &c.ended);
		if (!change(u, &c.ended, -c.ended.bytes, start))
			return NSX_NOMEM(u);
	}
	struct nsx_live_block *b = &u->live.blocks.p[c.block];

	if (!count(u, b->space, b->memory, c.frees, false) || !change(u, b, c.frees ? -b->bytes : b->bytes, start))
		return NSX_NOMEM(u);
	if (c.frees)
		end_life(u, b);
	return c.frees || u->options->what != NSX_USAGE_LIVE ? NSX_OK : begin_life(u, rec, b);
}

static int
take_step(struct usage *u, const struct nsx_rec *rec)
{
	bool host = nsx_has(rec, NSX_STEP_host_start);
	int64_t from = nsx_int(rec, host ? NSX_STEP_host_start : NSX_STEP_start, NSX_ABSENT);
	int64_t dur = nsx_int(rec, host ? NSX_STEP_host_dur : NSX_STEP_dur, 0);
	struct usage_step s = { nsx_int(rec, NSX_STEP_profile, NSX_ABSENT),
	                        nsx_int(rec, NSX_STEP_device, NSX_ABSENT), from, nsx_add_sat(from, dur, NULL),
	                        nsx_int(rec, NSX_STEP_step, NSX_ABSENT),
	                        nsx_intern(&u->names, nsx_string(rec, NSX_STEP_class)) };

	if (from == NSX_ABSENT)
		return NSX_OK;
	return s.class != NSX_NONE && nsx_vec_push(&u->steps, s) ? NSX_OK : NSX_NOMEM(u);
}

static int
usage_take(void *state, const struct nsx_event *e)
{
	struct usage *u = state;
	enum nsx_kind_id kind = e->rec->kind->id;

	if (!e->reaches) {
		u->beyond++;
		return NSX_OK;
	}
	if (kind == NSX_STEP)
		return u->options->what == NSX_USAGE_PEAK ? take_step(u, e->rec) : NSX_OK;
	if (kind == NSX_MEMORY)
		return take_memory(u, e->rec);
	if (u->options->what != NSX_USAGE_LIVE)
		return NSX_OK;
	uint32_t name = nsx_intern(&u->names, nsx_range_book_name(&u->ranges, e->rec, NSX_NAMES_KEY));

	return name == NSX_NONE ? NSX_NOMEM(u) : nsx_range_book_add(&u->ranges, e->rec, name, u->err);
}

/* ---- the tables ---- */

/* The row of a key, with what all tables say of its space; NULL when out of memory. memory: in `live`. */
static struct row *
row_of(struct usage *u, const struct site *key)
{
	const struct nsx_live_space *s = &u->live.spaces.p[key->space];
	struct row *r = nsx_sums_row(&u->rows, key);

	if (r) {
		r->profile = s->profile;
		r->device = s->device;
		r->pid = s->pid;
	}
	return r;
}

/* A memory of `live` as a name of the table. NSX_NONE when out of memory. */
static uint32_t
memory_name(struct usage *u, uint32_t memory)
{
	return nsx_intern(&u->names, memory == NSX_NONE ? NSX_STR("all") : nsx_intern_str(&u->live.memories, memory));
}

NSX_SORT_KEYS(by_profile, struct usage_step, a->profile)

/* The first step of the stream in which the peak is. Steps are sorted by profile. */
static const struct usage_step *
step_of(const struct usage *u, const struct curve *c)
{
	const struct nsx_live_space *s = &u->live.spaces.p[c->space];
	size_t i = nsx_sort_first(u->steps.p, u->steps.n, sizeof *u->steps.p, offsetof(struct usage_step, profile),
	                          s->profile);

	for (; i < u->steps.n && u->steps.p[i].profile == s->profile; i++) {
		const struct usage_step *t = &u->steps.p[i];

		if ((s->device == NSX_ABSENT || s->device == t->device) && c->peak_start >= t->from
		    && c->peak_start < t->to)
			return t;
	}
	return NULL;
}

static int
put_peak(struct usage *u, const struct curve *c, const struct site *key)
{
	const struct usage_step *t = step_of(u, c);
	struct row *r = row_of(u, key);
	int64_t device = u->live.spaces.p[c->space].device;
	uint32_t at = device == NSX_ABSENT ? NSX_NONE : nsx_cat_find_device(u->cat, device);

	if (!r)
		return NSX_NOMEM(u);
	r->peak = c->peak;
	r->reserved = c->peak ? c->peak_reserved : NSX_ABSENT;
	r->capacity = at == NSX_NONE || u->cat->devices.p[at].memory <= 0 ? NSX_ABSENT : u->cat->devices.p[at].memory;
	r->share = r->capacity == NSX_ABSENT ? NAN
	           : (double)(r->reserved == NSX_ABSENT ? c->peak : r->reserved) / (double)r->capacity;
	r->start = c->peak ? c->peak_start : NSX_ABSENT;
	r->class = t ? t->class : NSX_NONE;
	r->step = t ? t->number : NSX_ABSENT;
	r->end = c->live;
	r->allocs = c->allocs;
	r->frees = c->frees;
	r->unknown = c->unknown;
	return NSX_OK;
}

static int
put_curve(struct usage *u, const struct curve *c, struct site *key)
{
	for (size_t i = 0; i <= c->points.n; i++) {
		const struct usage_point *p = i < c->points.n ? &c->points.p[i] : &c->last;

		/* The end is a point, too. */
		if (i == c->points.n && (!i || p[0].start == c->points.p[i - 1].start))
			break;
		key->by = (uint32_t)i;   /* a row each; not shown */
		struct row *r = row_of(u, key);
		if (!r)
			return NSX_NOMEM(u);
		r->start = p->start;
		r->live = p->live;
		r->reserved = p->reserved;
	}
	return NSX_OK;
}

/* What is live at the peak of all memory of its space. */
static int
put_lives(struct usage *u)
{
	for (size_t i = 0; i < u->lives.n; i++) {
		const struct life *l = &u->lives.p[i];
		const struct curve *all = curve_at(u, l->space, NSX_NONE);
		struct site key = *(const struct site *)nsx_sums_at(&u->sites, l->site);

		if (!all)
			return NSX_NOMEM(u);
		if (l->born > all->peak_at || l->died <= all->peak_at || !all->peak)
			continue;
		key.memory = memory_name(u, key.memory);
		struct row *r = key.memory == NSX_NONE ? NULL : row_of(u, &key);
		if (!r)
			return NSX_NOMEM(u);
		r->count++;
		r->bytes = nsx_add_sat(r->bytes, l->bytes, NULL);
		r->share = (double)r->bytes / (double)all->peak;
	}
	return NSX_OK;
}

static bool
is_large(void *state, const void *row)
{
	struct usage *u = state;
	const struct row *r = row;
	const struct curve *all = curve_at(u, r->site.space, NSX_NONE);

	return r->rest || !all || r->bytes >= all->peak / SMALL;
}

/* Small ones are one row of their space. */
static int
put_rest(struct usage *u)
{
	size_t n = nsx_sums_count(&u->rows);
	uint32_t name = nsx_intern(&u->names, NSX_STR("[rest]"));

	if (name == NSX_NONE)
		return NSX_NOMEM(u);
	for (size_t i = 0; i < n; i++) {
		struct row small = *(const struct row *)nsx_sums_at(&u->rows, i);
		const struct curve *all = curve_at(u, small.site.space, NSX_NONE);
		struct row *r;

		if (!all || is_large(u, &small))
			continue;
		r = row_of(u, &(struct site){ small.site.space, NSX_NONE, NSX_NONE, name, NSX_NONE });
		if (!r)
			return NSX_NOMEM(u);
		r->rest = 1;
		r->count += small.count;
		r->bytes = nsx_add_sat(r->bytes, small.bytes, NULL);
		r->share = (double)r->bytes / (double)all->peak;
	}
	nsx_sums_keep(&u->rows, is_large, u);
	return NSX_OK;
}

static void
say(const struct usage *u, struct nsx_diags *diags)
{
	int64_t one = 0;

	if (!u->changes)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
			"no allocations of memory: record with nsysx-record --cuda-memory-usage=true, or with that "
			"option of nsys profile, and prepare or extract with --memory");
	nsx_diag_add(diags, NSX_WARNING, "", u->live.unknown,
	             "frees of memory that was allocated before: how much is not known, and what is live is more");
	nsx_diag_add(diags, NSX_WARNING, "", u->live.doubled,
	             "allocations where memory was still allocated: a free was not recorded, and counts as made "
	             "by then");
	nsx_diag_add(diags, NSX_WARNING, "", u->beyond, NSX_BEYOND_REACH);
	nsx_diag_add(diags, NSX_INFO, "", u->lost, "allocations whose range is not in the stream: extract with "
	             "--ranges=all");
	for (size_t i = 0; i < u->curves.n; i++) {
		const struct curve *c = &u->curves.p[i];

		one += c->memory == NSX_NONE && u->live.spaces.p[c->space].device != NSX_ABSENT && c->peak
		       && c->largest > c->peak / 4 * 3;
	}
	nsx_diag_add(diags, NSX_WARNING, "", one,
	             "devices of which one allocation is most of the memory, as that which JAX makes in advance: what "
	             "the program uses of it does not show here; nsysx-heap says what programs need");
}

static int
usage_finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct usage *u = state;
	int rc = NSX_OK;

	(void)table;
	if (!nsx_sort_by(u->steps.p, u->steps.n, sizeof *u->steps.p, by_profile, NULL))
		return NSX_NOMEM(u);
	for (size_t i = 0; i < u->curves.n && rc == NSX_OK; i++) {
		const struct curve *c = &u->curves.p[i];
		struct site key = { c->space, memory_name(u, c->memory), NSX_NONE, NSX_NONE, NSX_NONE };

		if (key.memory == NSX_NONE)
			return NSX_NOMEM(u);
		rc = u->options->what == NSX_USAGE_PEAK ? put_peak(u, c, &key)
		     : u->options->what == NSX_USAGE_CURVE ? put_curve(u, c, &key) : NSX_OK;
	}
	if (rc == NSX_OK && u->options->what == NSX_USAGE_LIVE)
		rc = put_lives(u) == NSX_OK ? put_rest(u) : NSX_ERR;
	if (rc != NSX_OK)
		return NSX_ERR;
	say(u, diags);
	return NSX_OK;
}

static void
usage_free(void *state)
{
	struct usage *u = state;

	for (size_t i = 0; i < u->curves.n; i++)
		free(u->curves.p[i].points.p);
	free(u->curves.p);
	nsx_live_free(&u->live);
	nsx_range_book_free(&u->ranges);
	nsx_intern_free(&u->names);
	nsx_buf_free(&u->path);
	nsx_map_free(&u->curve_of);
	nsx_sums_free(&u->sites);
	free(u->lives.p);
	free(u->steps.p);
}

const struct nsx_analysis nsx_usage_analysis = {
	sizeof(struct usage), NSX_K(MEMORY) | NSX_K(RANGE) | NSX_K(STEP), true | NSX_STATED, usage_begin, usage_need,
	usage_take, usage_finish, usage_free
};
