/* why.c -- what made steps slower: each instant of a step belongs to one thing that the device did, or to a cause of
 * idle time (table/steps/things.h), so the differences of things add up to that of the periods.
 *
 *   BASE, 2 steps of 100 ns: gemm 80, idle host 20     NEW, 3 steps of 130: gemm 80, all-reduce 30, idle host 20
 *   ->  period 100 130 +30    all-reduce 0 30 +30 new    gemm 80 80
 *
 * What has a name on one side only is matched by its place: in order of first use it is between the same two things,
 * and as many are there on the other side, of the same kinds, in the same ranges or with the same opcodes and op_names.
 * Instructions are of one name only with the same of these too, for another compilation renumbers them; what of them is
 * left is matched by opcode and op_name, if as many are left on both sides, and then by name alone. */
#include "table/compare/why.h"

#include <inttypes.h>
#include <math.h>
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

enum match { MATCH_NAME, MATCH_PLACE, MATCH_NEW, MATCH_GONE, NMATCHES };
static const char *const words[] = { [MATCH_NAME] = "name", [MATCH_PLACE] = "place", [MATCH_NEW] = "new",
                                     [MATCH_GONE] = "gone" };

#define NSX_ROW struct cmp_why_pair
static const struct nsx_sum_col cols[] = {
	NSX_COL("class", STRING, class), NSX_COL("device", ID, device), NSX_COL("kind", STRING, kind),
	NSX_COL("name", STRING, key.name), NSX_COL("range", STRING, range), NSX_COL("base_name", STRING, base),
	NSX_COL("match", STRING, match), NSX_COL("base", NS, mean[0]), NSX_COL("new", NS, mean[1]),
	NSX_COL("diff", NS, diff), NSX_COL("share", SHARE, share),
};
static const struct nsx_sum_def pairs = {
	NSX_ROWS(cols), .key = sizeof(struct cmp_why_pair_key),
	.rank = "kind name diff share device range match base new base_name class"
};

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

/* By which instructions that are left are matched. */
enum left { LEFT_BY_PLACE, LEFT_BY_NAME };

static bool
is_left(const struct cmp_why_pair *p, int side)
{
	return p->key.thing == NSX_THING_INSTRUCTION && p->has[side] && !p->has[!side] && !p->merged
	       && p->base == NSX_NONE;
}

/* Match the instructions of both sides that have no match and agree in that, if as many do on both, in the order of
 * their first use. False when out of memory. */
static bool
match_left(const struct cmp *c, struct cmp_why_joined *j, enum left by)
{
	struct nsx_sort_key *keys = malloc((j->order[0].list.n + j->order[1].list.n + 1) * sizeof *keys);
	size_t n = 0;

	if (!keys)
		return false;
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < j->order[side].list.n; i++) {
			const struct cmp_why_pair *p = nsx_sums_at(&j->pairs, j->order[side].list.p[i]);
			struct nsx_str where = cmp_str(c, p->key.where);

			bool placed = where.len && memchr(where.ptr, '\n', where.len);

			if (!is_left(p, side) || (by == LEFT_BY_PLACE && !placed))
				continue;
			keys[n++] = (struct nsx_sort_key){
				{ by == LEFT_BY_PLACE ? p->key.where : p->key.name, side, (int64_t)i },
				j->order[side].list.p[i]
			};
		}
	nsx_sort_keys(keys, n);
	for (size_t i = 0, mid, end; i < n; i = end) {
		for (mid = i; mid < n && keys[mid].k[0] == keys[i].k[0] && keys[mid].k[1] == 0; mid++)
			;
		for (end = mid; end < n && keys[end].k[0] == keys[i].k[0]; end++)
			;
		for (size_t k = 0; k < mid - i && mid - i == end - mid; k++) {
			struct cmp_why_pair *a = nsx_sums_at(&j->pairs, keys[i + k].i),
			                    *b = nsx_sums_at(&j->pairs, keys[mid + k].i);

			b->base = a->key.name == b->key.name ? (uint32_t)NSX_NONE : a->key.name;
			b->has[0] = true;
			b->ns[0] = a->ns[0];
			a->merged = true;
		}
	}
	free(keys);
	return true;
}

/* ---- rows */

static struct nsx_str
text_of(const void *c, uint32_t id)
{
	return cmp_str(c, id);
}

static bool
is_row(void *state, const void *pair)
{
	(void)state;
	return !((const struct cmp_why_pair *)pair)->merged;
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
	const struct cmp_why_pair *x = a, *y = b;

	return NSX_FIRST(NSX_CMP(y->size, x->size), NSX_CMP(x->range, y->range), strcmp(x->kind, y->kind),
	                 NSX_CMP(x->key.name, y->key.name));
}

/* Things below 1/SMALL of all that differs are one row of their kind, as in nsysx-steps --explain: those that both
 * sides have, that are new and that are gone, each. Of new and gone ones the largest NAMED of a kind have rows in any
 * case. */
enum { SMALL = 100, NAMED = 3 };
struct others { int64_t ns[2], count, named; };

/* Describe all things, the one that differs most first. */
static void
describe(struct cmp_why_joined *j)
{
	struct cmp_why_pair *p = nsx_sums_at(&j->pairs, 0);
	size_t n = nsx_sums_count(&j->pairs);

	for (size_t i = 0; i < n; i++) {
		enum match match = p[i].base != NSX_NONE ? MATCH_PLACE : !p[i].has[0] ? MATCH_NEW
		    : !p[i].has[1] ? MATCH_GONE : MATCH_NAME;

		p[i].match = words[match];
		p[i].kind = nsx_thing_name((enum nsx_thing)p[i].key.thing);
		p[i].range = p[i].key.thing == NSX_THING_KERNEL || p[i].key.thing == NSX_THING_IDLE ? p[i].key.where
		             : (uint32_t)NSX_NONE;
		p[i].size = size_of(j, p[i].ns);
		p[i].of = (int)p[i].key.thing * NMATCHES + (match == MATCH_PLACE ? MATCH_NAME : (int)match);
	}
	nsx_sort(p, n, by_size);
}

/* Count the rows that are others, and mark those of which there are several of a kind. */
static void
find_others(struct cmp_why_joined *j, struct others *others)
{
	struct cmp_why_pair *p = nsx_sums_at(&j->pairs, 0);
	size_t n = nsx_sums_count(&j->pairs);
	nsx_u128 all = 0;

	for (size_t i = 0; i < n; i++)
		all += p[i].size;
	for (size_t i = 0; i < n; i++) {
		struct others *o = &others[p[i].of];

		p[i].merged = p[i].key.thing != NSX_THING_IDLE && (!p[i].size || p[i].size < all / SMALL)
		              && (p[i].of % NMATCHES == MATCH_NAME || o->named >= NAMED);
		if (!p[i].merged) {
			o->named++;
			continue;
		}
		o->count++;
		for (int k = 0; k < 2; k++)
			o->ns[k] += p[i].ns[k];
	}
	for (size_t i = 0; i < n; i++)
		p[i].merged &= others[p[i].of].count > 1;
}

/* A further row; NULL when out of memory. */
static struct cmp_why_pair *
add_row(struct cmp_why_joined *j, const char *kind, const int64_t ns[2])
{
	struct cmp_why_pair *p = nsx_sums_add(&j->pairs);

	if (p)
		*p = (struct cmp_why_pair){ .key.name = NSX_NONE, .range = NSX_NONE, .base = NSX_NONE, .kind = kind,
		                            .ns = { ns[0], ns[1] } };
	return p;
}

/* Make one row of several others. False when out of memory. */
static bool
join_others(struct cmp *c, struct cmp_why_joined *j)
{
	struct others others[NSX_NTHINGS * NMATCHES] = { 0 };

	find_others(j, others);
	nsx_sums_keep(&j->pairs, is_row, NULL);
	for (int k = 0; k < NSX_NTHINGS * NMATCHES; k++) {
		if (others[k].count < 2)
			continue;
		c->text.len = 0;
		nsx_buf_fmt(&c->text, "[%" PRId64 " others]", others[k].count);

		uint32_t name = cmp_intern(c);
		struct cmp_why_pair *p = name == NSX_NONE ? NULL
		    : add_row(j, nsx_thing_name((enum nsx_thing)(k / NMATCHES)), others[k].ns);

		if (!p)
			return false;
		p->key.name = name;
		p->match = k % NMATCHES == MATCH_NAME ? "" : words[k % NMATCHES];
		p->size = size_of(j, others[k].ns);
	}
	return true;
}

/* The rows below a period, without means. False when out of memory. */
static bool
make_rows(struct cmp *c, struct cmp_why_joined *j)
{
	int64_t rest[2] = { j->period[0], j->period[1] };

	/* Without operations on a side nothing is known of its period, and no thing is new or gone. */
	if (!j->order[0].list.n || !j->order[1].list.n)
		nsx_sums_cut(&j->pairs, 0);
	nsx_sums_keep(&j->pairs, is_row, NULL);
	for (size_t i = 0; i < nsx_sums_count(&j->pairs); i++)
		for (int k = 0; k < 2; k++)
			rest[k] -= ((const struct cmp_why_pair *)nsx_sums_at(&j->pairs, i))->ns[k];
	describe(j);
	return join_others(c, j) && ((!rest[0] && !rest[1]) || add_row(j, "rest", rest));
}

/* Rounded down; the divisor is positive. */
static int64_t
mean(int64_t sum, int64_t n)
{
	return sum / n - (sum % n < 0);
}

/* Print a period and the rows below it. A mean is what it adds to the rounded-down mean of all rows before it, so that
 * rounded means add up, too: it is within 1 ns. */
static int
put_rows(const struct cmp *c, const struct cmp_result *r, struct cmp_why_joined *j, struct nsx_table *t)
{
	const struct cmp_row *row = nsx_compare_row_shown(r);
	struct cmp_why_pair period = { .class = nsx_compare_group_of(c, r)->key, .key.name = NSX_NONE,
	                               .range = NSX_NONE, .base = NSX_NONE, .kind = "period",
	                               .device = row->device != NSX_ABSENT ? row->device : row->number };
	struct cmp_why_pair *p = nsx_sums_at(&j->pairs, 0);
	size_t n = nsx_sums_count(&j->pairs);
	int64_t before[2] = { 0, 0 };

	for (int k = 0; k < 2; k++)
		period.mean[k] = mean(j->period[k], j->steps[k]);
	period.diff = period.mean[1] - period.mean[0];
	period.share = period.diff ? 1 : NAN;
	nsx_sort(p, n, by_size);
	int rc = nsx_sums_put(&j->pairs, t, &period, c->err);

	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		p[i].class = period.class;
		p[i].device = period.device;
		for (int k = 0; k < 2; k++) {
			p[i].mean[k] = mean(before[k] + p[i].ns[k], j->steps[k]) - mean(before[k], j->steps[k]);
			before[k] += p[i].ns[k];
		}
		p[i].diff = p[i].mean[1] - p[i].mean[0];
		p[i].share = period.diff ? (double)p[i].diff / (double)period.diff : NAN;
		rc = nsx_sums_put(&j->pairs, t, &p[i], c->err);
	}
	return rc;
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
	struct cmp_why_joined j = { .pairs = *out, .causes = c->side[0].why->calls == c->side[1].why->calls };
	bool good = join_side(c, &j, 0, r, &b[0]) && join_side(c, &j, 1, r, &b[1]) && match_places(&j)
	            && match_left(c, &j, LEFT_BY_PLACE) && match_left(c, &j, LEFT_BY_NAME);
	int rc = NSX_OK;

	if (good && renamed && nsx_compare_row_shown(r)->device == NSX_ABSENT)
		good = nsx_compare_add_renamed(c, &j, nsx_compare_group_of(c, r)->key, renamed);
	if (good && j.steps[0] && j.steps[1] && !renamed) {
		good = make_rows(c, &j);
		rc = good ? put_rows(c, r, &j, t) : NSX_OK;
	}
	nsx_sums_free(&j.pairs);
	free(j.order[0].list.p);
	free(j.order[1].list.p);
	return good ? rc : nsx_err_nomem(c->err, NULL);
}

int
nsx_compare_why(struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_table **table)
{
	struct nsx_sums out = { .def = &pairs, .text = text_of, .state = c },
	    renamed = { .def = &nsx_compare_renamed, .text = text_of, .state = c };
	struct cmp_why_index b[2] = { { .n = 0 } };
	int rc = NSX_OK;

	*table = NULL;
	for (int k = 0; k < 2 && rc == NSX_OK; k++)
		rc = nsx_compare_why_index(&c->side[k].why->times, &b[k]) ? NSX_OK : nsx_err_nomem(c->err, NULL);
	if (rc == NSX_OK)
		rc = (*table = nsx_sums_begin(&out, c->err)) ? NSX_OK : NSX_ERR;
	for (size_t i = 0; i < n && rc == NSX_OK; i++)
		if (r[i].row[0] && r[i].row[1] && cmp_shows(c, &r[i]) && r[i].row[0]->at == 0)
			rc = explain(c, &r[i], b, &out, *table, c->options.renamed ? &renamed : NULL);
	if (rc == NSX_OK && c->options.renamed) {
		nsx_table_free(*table);
		rc = (*table = nsx_sums_table(&renamed, c->err)) ? NSX_OK : NSX_ERR;
	}
	free(b[0].list);
	free(b[1].list);
	nsx_sums_free(&out);
	nsx_sums_free(&renamed);
	return rc;
}
