/* why.c -- what made steps slower: each instant of a step belongs to one thing that the device did, or to a cause of
 * idle time (table/steps/things.h), so the differences of things add up to that of the periods.
 *
 *   BASE, 2 steps of 100 ns: gemm 80, idle host 20     NEW, 3 steps of 130: gemm 80, all-reduce 30, idle host 20
 *   ->  period 100 130 +30    all-reduce 0 30 +30 new    gemm 80 80
 *
 * What has a name on one side only is matched by its place: in order of first use it is between the same two things,
 * and as many are there on the other side, of the same kinds, in the same ranges or with the same opcodes. */
#include "table/compare/why.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "table/compare/join.h"

struct slot_key { int64_t device; uint32_t class, none; };
struct slot { struct slot_key key; int64_t steps, period; };
static const struct nsx_sum_def slots = { .size = sizeof(struct slot), .key = sizeof(struct slot_key) };

/* where: as in struct nsx_filled. */
struct time_key { uint32_t slot, thing, name, where; };
struct time { struct time_key key; int64_t ns; };
static const struct nsx_sum_def times = { .size = sizeof(struct time), .key = sizeof(struct time_key) };

/* ---- one side */

bool
nsx_compare_why_count(struct cmp_why *w, const struct nsx_filled *f)
{
	struct time *t = nsx_sums_row(&w->times, &(struct time_key){ w->slot.p[f->key], f->thing, f->name, f->where });

	if (t)
		t->ns += f->ns;
	return t != NULL;
}

struct cmp_why *
nsx_compare_why_new(void)
{
	struct cmp_why *w = calloc(1, sizeof *w);

	if (!w)
		return NULL;
	w->slots.def = &slots;
	w->times.def = &times;
	w->kernels.def = &nsx_compare_kernels_of;
	return w;
}

void
nsx_compare_why_free(struct cmp_why *w)
{
	if (!w)
		return;
	nsx_sums_free(&w->slots);
	nsx_sums_free(&w->times);
	nsx_sums_free(&w->kernels);
	free(w->slot.p);
	free(w);
}

bool
nsx_compare_why_step(struct cmp_why *w, uint32_t class, int64_t device, int64_t period)
{
	struct slot_key key = { device, class, 0 };
	uint32_t at = nsx_sums_number(&w->slots, &key);
	struct slot *s = at == NSX_NONE ? NULL : nsx_sums_at(&w->slots, at);

	if (!s || !nsx_vec_push(&w->slot, at))
		return false;
	s->steps++;
	s->period += period;
	return true;
}

/* ---- both sides of a period */

enum match { MATCH_NAME, MATCH_PLACE, MATCH_NEW, MATCH_GONE };

static const struct nsx_sum_def pairs = { .size = sizeof(struct cmp_why_pair), .key = sizeof(struct cmp_why_pair_key) };

/* Add the times of a side's slot. */
static bool
join_slot(struct cmp_why_joined *j, int side, const struct cmp_why_index *times_of, size_t slot)
{
	size_t n;

	for (size_t first = nsx_compare_why_first(times_of, slot, &n), i = first; i < first + n; i++) {
		const struct time *t = nsx_sums_at(times_of->sums, times_of->list[i].i);
		struct cmp_why_pair_key key = { t->key.thing, t->key.name, t->key.where, 0 };

		if (t->key.thing == NSX_THING_IDLE && !j->causes)
			key.name = NSX_NONE;
		uint32_t at = nsx_sums_number(&j->pairs, &key);
		struct cmp_why_pair *p = at == NSX_NONE ? NULL : nsx_sums_at(&j->pairs, at);

		if (!p || (!p->has[side] && !nsx_vec_push(&j->order[side].list, at)))
			return false;
		p->base = NSX_NONE;
		p->has[side] = true;
		p->ns[side] += t->ns;
	}
	return true;
}

static bool
is_alone(const struct cmp_why_joined *j, int side, size_t at)
{
	const struct cmp_why_pair *p = nsx_sums_at(&j->pairs, j->order[side].list.p[at]);

	return !p->has[!side];
}

/* The number of things from that place on that the other side lacks. */
static size_t
run_of(const struct cmp_why_joined *j, int side, size_t from)
{
	size_t n = 0;

	while (from + n < j->order[side].list.n && is_alone(j, side, from + n))
		n++;
	return n;
}

/* Match the n things from those places on, unless a kind, a range or an opcode differs. */
static void
match_run(struct cmp_why_joined *j, size_t base, size_t new, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct cmp_why_pair *a = nsx_sums_at(&j->pairs, j->order[0].list.p[base + i]),
		                  *b = nsx_sums_at(&j->pairs, j->order[1].list.p[new + i]);

		if (a->key.thing != b->key.thing || a->key.where != b->key.where || a->key.thing == NSX_THING_IDLE)
			return;
	}
	for (size_t i = 0; i < n; i++) {
		struct cmp_why_pair *a = nsx_sums_at(&j->pairs, j->order[0].list.p[base + i]),
		            *b = nsx_sums_at(&j->pairs, j->order[1].list.p[new + i]);

		b->base = a->key.name;
		b->ns[0] = a->ns[0];
		a->merged = true;
	}
}

/* Match what has another name on both sides by its place. False when out of memory. */
static bool
match_places(struct cmp_why_joined *j)
{
	const struct cmp_why_order *b = &j->order[0], *o = &j->order[1];
	size_t *place = calloc(nsx_sums_count(&j->pairs) + 1, sizeof *place);   /* in NEW, plus 1; 0: none */

	if (!place)
		return false;
	for (size_t i = 0; i < o->list.n; i++)
		place[o->list.p[i]] = i + 1;
	for (size_t i = 0, n; i < b->list.n; i += n + 1) {
		n = run_of(j, 0, i);
		size_t at = i ? place[b->list.p[i - 1]] : 0, m = run_of(j, 1, at);
		bool ends = i + n == b->list.n, same = ends ? at + m == o->list.n
			: at + m < o->list.n && o->list.p[at + m] == b->list.p[i + n];

		if (n && n == m && same)
			match_run(j, i, at, n);
	}
	free(place);
	return true;
}

/* ---- rows */

struct row {
	uint32_t class, name, range, base_name;
	const char *kind, *match;
	int64_t  device, base, new, diff, ns[2];
	double   share;
	nsx_u128 size;
	int      of;              /* its kind of thing, and whether it is new or gone */
	bool     other;           /* it is small */
};

static const char *kind_text(const void *row) { return ((const struct row *)row)->kind; }
static const char *match_text(const void *row) { return ((const struct row *)row)->match; }

#define AT(member) offsetof(struct row, member), 0, NULL
static const struct nsx_sum_col cols[] = {
	{ "class",     NSX_CELL_STRING, NSX_SUM_TEXT, AT(class) },
	{ "device",    NSX_CELL_ID,     NSX_SUM_INT,  AT(device) },
	{ "kind",      NSX_CELL_STRING, NSX_SUM_SAID, 0, 0, kind_text },
	{ "name",      NSX_CELL_STRING, NSX_SUM_TEXT, AT(name) },
	{ "range",     NSX_CELL_STRING, NSX_SUM_TEXT, AT(range) },
	{ "base_name", NSX_CELL_STRING, NSX_SUM_TEXT, AT(base_name) },
	{ "match",     NSX_CELL_STRING, NSX_SUM_SAID, 0, 0, match_text },
	{ "base",      NSX_CELL_NS,     NSX_SUM_INT,  AT(base) },
	{ "new",       NSX_CELL_NS,     NSX_SUM_INT,  AT(new) },
	{ "diff",      NSX_CELL_NS,     NSX_SUM_INT,  AT(diff) },
	{ "share",     NSX_CELL_SHARE,  NSX_SUM_REAL, AT(share) },
};
static const struct nsx_sum_def shown = {
	.size = sizeof(struct row), .cols = cols, .ncols = sizeof cols / sizeof *cols,
	.rank = "kind name diff share device range match base new base_name class"
};

static struct nsx_str
text_of(const void *c, uint32_t id)
{
	return cmp_str(c, id);
}

struct rows { NSX_VEC(struct row) list; };

static const char *
match_of(const struct cmp_why_pair *p)
{
	static const char *const words[] = { [MATCH_NAME] = "name", [MATCH_PLACE] = "place", [MATCH_NEW] = "new",
	                                     [MATCH_GONE] = "gone" };

	return words[p->base != NSX_NONE ? MATCH_PLACE : !p->has[0] ? MATCH_NEW : !p->has[1] ? MATCH_GONE : MATCH_NAME];
}

static uint32_t
range_of(const struct cmp_why_pair *p)
{
	return p->key.thing == NSX_THING_KERNEL ? p->key.where : (uint32_t)NSX_NONE;
}

/* The difference of the means, times the steps of both sides: exact. */
static nsx_u128
size_of(const struct cmp_why_joined *j, const int64_t ns[2])
{
	nsx_u128 was = (nsx_u128)ns[0] * (nsx_u128)j->steps[1], is = (nsx_u128)ns[1] * (nsx_u128)j->steps[0];

	return is > was ? is - was : was - is;
}

static int
by_size(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	if (x->range != y->range)
		return x->range > y->range ? 1 : -1;
	return x->kind != y->kind ? strcmp(x->kind, y->kind) : (x->name > y->name) - (x->name < y->name);
}

/* Things below 1/SMALL of all that differs are one row of their kind, as in nsysx-steps --explain: those that both
 * sides have, that are new and that are gone, each. Of new and gone ones the largest NAMED of a kind have rows in any
 * case. */
enum { SMALL = 100, NAMED = 3 };
enum sort { BOTH, NEW, GONE, NSORTS };
struct others { int64_t ns[2], count, named; const char *match; };

/* Rows of all things. False when out of memory. */
static bool
add_all(const struct cmp_why_joined *j, struct rows *rows)
{
	for (size_t i = 0; i < nsx_sums_count(&j->pairs); i++) {
		const struct cmp_why_pair *p = nsx_sums_at(&j->pairs, i);
		struct row new = { .name = p->key.name, .range = range_of(p), .base_name = p->base,
		                   .match = match_of(p), .kind = nsx_thing_name((enum nsx_thing)p->key.thing),
		                   .ns = { p->ns[0], p->ns[1] }, .size = size_of(j, p->ns) };
		enum sort sort = p->base != NSX_NONE || (p->has[0] && p->has[1]) ? BOTH : p->has[1] ? NEW : GONE;

		new.of = (int)p->key.thing * NSORTS + (int)sort;
		if (!p->merged && !nsx_vec_push(&rows->list, new))
			return false;
	}
	return true;
}

/* Count the rows that are others, and mark them. They are sorted. */
static void
find_others(struct rows *rows, struct others *others)
{
	nsx_u128 all = 0;

	for (size_t i = 0; i < rows->list.n; i++)
		all += rows->list.p[i].size;
	for (size_t i = 0; i < rows->list.n; i++) {
		struct row *r = &rows->list.p[i];
		struct others *o = &others[r->of];

		r->other = r->of / NSORTS != NSX_THING_IDLE && (!r->size || r->size < all / SMALL)
		           && (r->of % NSORTS == BOTH || o->named >= NAMED);
		if (r->other)
			*o = (struct others){ { o->ns[0] + r->ns[0], o->ns[1] + r->ns[1] }, o->count + 1, o->named,
			                      r->of % NSORTS == BOTH ? "" : r->match };
		else
			o->named++;
	}
}

/* Make one row of several others. False when out of memory. */
static bool
join_others(struct cmp *c, const struct cmp_why_joined *j, const struct others *others, struct rows *rows)
{
	size_t n = 0;
	bool good = true;

	for (size_t i = 0; i < rows->list.n; i++)
		if (!rows->list.p[i].other || others[rows->list.p[i].of].count < 2)
			rows->list.p[n++] = rows->list.p[i];
	rows->list.n = n;
	for (int k = 0; good && k < NSX_NTHINGS * NSORTS; k++) {
		if (others[k].count < 2)
			continue;
		c->text.len = 0;
		nsx_buf_fmt(&c->text, "[%" PRId64 " others]", others[k].count);

		uint32_t name = cmp_intern(c);

		good = name != NSX_NONE && nsx_vec_push(&rows->list, ((struct row){
			.name = name, .range = NSX_NONE, .base_name = NSX_NONE, .match = others[k].match,
			.kind = nsx_thing_name((enum nsx_thing)(k / NSORTS)),
			.ns = { others[k].ns[0], others[k].ns[1] }, .size = size_of(j, others[k].ns) }));
	}
	return good;
}

/* The rows below a period, without means. False when out of memory. */
static bool
make_rows(struct cmp *c, const struct cmp_why_joined *j, struct rows *rows)
{
	struct others others[NSX_NTHINGS * NSORTS] = { 0 };
	int64_t rest[2] = { j->period[0], j->period[1] };

	if (j->order[0].list.n && j->order[1].list.n) {
		if (!add_all(j, rows))
			return false;
		for (size_t i = 0; i < rows->list.n; i++)
			for (int k = 0; k < 2; k++)
				rest[k] -= rows->list.p[i].ns[k];
		if (rows->list.n)
			qsort(rows->list.p, rows->list.n, sizeof *rows->list.p, by_size);
		find_others(rows, others);
		if (!join_others(c, j, others, rows))
			return false;
	}
	/* Without operations on a side nothing is known of its period, and no thing is new or gone. */
	return (!rest[0] && !rest[1])
	       || nsx_vec_push(&rows->list, ((struct row){ .name = NSX_NONE, .range = NSX_NONE, .base_name = NSX_NONE,
	                                                   .match = "", .kind = "rest", .ns = { rest[0], rest[1] } }));
}

/* Rounded down; the divisor is positive. */
static int64_t
mean(int64_t sum, int64_t n)
{
	return sum / n - (sum % n < 0);
}

/* Print the rows of a period. A mean is what it adds to the rounded-down mean of all rows before it, so that rounded
 * means add up, too: it is within 1 ns. */
static int
put_rows(const struct nsx_sums *out, struct nsx_table *t, const struct cmp_why_joined *j, struct rows *rows,
         struct row period, struct nsx_err *err)
{
	int64_t before[2] = { 0, 0 };
	double whole;

	if (rows->list.n)
		qsort(rows->list.p, rows->list.n, sizeof *rows->list.p, by_size);
	period.base = mean(j->period[0], j->steps[0]);
	period.new = mean(j->period[1], j->steps[1]);
	period.diff = period.new - period.base;
	period.share = period.diff ? 1 : NAN;
	whole = (double)period.diff;
	if (nsx_sums_put(out, t, &period, err) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < rows->list.n; i++) {
		struct row *r = &rows->list.p[i];

		r->class = period.class;
		r->device = period.device;
		r->base = mean(before[0] + r->ns[0], j->steps[0]) - mean(before[0], j->steps[0]);
		r->new = mean(before[1] + r->ns[1], j->steps[1]) - mean(before[1], j->steps[1]);
		r->diff = r->new - r->base;
		r->share = period.diff ? (double)r->diff / whole : NAN;
		before[0] += r->ns[0];
		before[1] += r->ns[1];
		if (nsx_sums_put(out, t, r, err) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

/* ---- */

/* Add what a side has of the class of a result, on the device of the row or on all. */
static bool
join_side(const struct cmp *c, struct cmp_why_joined *j, int side, const struct cmp_result *r,
          const struct cmp_why_index *times_of)
{
	const struct cmp_side *s = &c->side[side];
	const struct cmp_row *row = r->row[side];
	uint32_t class = s->groups.p[row->group].key;
	struct slot_key key = { row->device, class, 0 };
	size_t from = 0, to = nsx_sums_count(&s->why->slots);

	if (row->device != NSX_ABSENT) {
		uint32_t at = nsx_sums_find(&s->why->slots, &key);

		from = at == NSX_NONE ? to : at;
		to = at == NSX_NONE ? to : from + 1;
	}
	for (size_t i = from; i < to; i++) {
		const struct slot *slot = nsx_sums_at(&s->why->slots, i);

		if (slot->key.class != class)
			continue;
		j->steps[side] += slot->steps;
		j->period[side] += slot->period;
		if (!join_slot(j, side, times_of, i))
			return false;
	}
	return true;
}

static int
explain(struct cmp *c, const struct cmp_result *r, const struct cmp_why_index b[2], const struct nsx_sums *out,
        struct nsx_table *t, struct nsx_sums *renamed)
{
	struct cmp_why_joined j = { .pairs.def = &pairs, .causes = c->side[0].why->calls == c->side[1].why->calls };
	struct rows rows = { 0 };
	const struct cmp_row *row = nsx_compare_row_shown(r);
	struct row period = { .class = nsx_compare_group_of(c, r)->key, .name = NSX_NONE, .range = NSX_NONE,
	                      .base_name = NSX_NONE, .kind = "period", .match = "",
	                      .device = row->device != NSX_ABSENT ? row->device : row->number };
	int rc = NSX_OK;

	if (!join_side(c, &j, 0, r, &b[0]) || !join_side(c, &j, 1, r, &b[1]) || !match_places(&j))
		rc = nsx_err_nomem(c->err, NULL);
	if (rc == NSX_OK && renamed && row->device == NSX_ABSENT
	    && !nsx_compare_add_renamed(c, &j, period.class, renamed))
		rc = nsx_err_nomem(c->err, NULL);
	if (rc == NSX_OK && j.steps[0] && j.steps[1] && !renamed)
		rc = make_rows(c, &j, &rows) ? put_rows(out, t, &j, &rows, period, c->err) : nsx_err_nomem(c->err,
			NULL);
	nsx_sums_free(&j.pairs);
	free(j.order[0].list.p);
	free(j.order[1].list.p);
	free(rows.list.p);
	return rc;
}

int
nsx_compare_why(struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_table **table)
{
	struct nsx_sums out = { .def = &shown, .text = text_of, .state = c },
	    renamed = { .def = &nsx_compare_renamed, .text = text_of, .state = c };
	struct cmp_why_index b[2] = { { .n = 0 } };
	int rc = NSX_OK;

	for (int k = 0; k < 2 && rc == NSX_OK; k++)
		rc = nsx_compare_why_index(&c->side[k].why->times, &b[k]) ? NSX_OK : nsx_err_nomem(c->err, NULL);
	*table = rc == NSX_OK ? nsx_sums_begin(&out, c->err) : NULL;
	rc = *table ? NSX_OK : NSX_ERR;
	for (size_t i = 0; i < n && rc == NSX_OK; i++)
		if (r[i].row[0] && r[i].row[1] && cmp_shows(c, &r[i]) && r[i].row[0]->at == 0)
			rc = explain(c, &r[i], b, &out, *table, c->options.renamed ? &renamed : NULL);
	if (rc == NSX_OK && c->options.renamed) {
		nsx_table_free(*table);
		*table = nsx_sums_table(&renamed, c->err);
		rc = *table ? NSX_OK : NSX_ERR;
	}
	free(b[0].list);
	free(b[1].list);
	nsx_sums_free(&out);
	nsx_sums_free(&renamed);
	return rc;
}
