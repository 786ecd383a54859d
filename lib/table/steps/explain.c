/* explain.c -- why a slow step was slow.
 *
 * Both steps last from their start to the start of the next, and each instant of a device is assigned to one thing
 * (things.h), or to the cause of being idle (as in nsysx-idle). So the times add up to the period, and the differences
 * add up to the difference of the periods.
 *
 *   median step [0,100): gemm 80, idle host 20      slow step [100,230): gemm 80, all-reduce 30, idle host 20
 *   ->  all-reduce +30 */
#include "table/steps/explain.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "base/stat.h"
#include "job/serving.h"
#include "table/steps/things.h"
#include "table/sums.h"

/* The batch of a server's step; NSX_ABSENT: not told. */
struct batch { int64_t requests, tokens; };

/* A class on a device: its two steps, and their windows. */
struct pair { const struct nsx_step_of *base, *new; struct batch batch[2]; };

/* The range of a step, and whose it is: of pair k 2 k, or one more for the slow step. */
struct named { int64_t profile, range; size_t window; };

/* The time of a thing in the two steps of a pair. */
struct key { uint32_t pair, thing, name, none; };
struct time { struct key key; int64_t ns[2]; };
static const struct nsx_sum_def times = { .size = sizeof(struct time), .key = sizeof(struct key) };

struct explain {
	const struct nsx_step_set *steps;
	struct nsx_err       *err;
	struct nsx_things     things;
	struct nsx_intern     names;
	NSX_VEC(struct pair)  pairs;
	NSX_VEC(struct named) named;              /* by range, then profile */
	NSX_VEC(struct nsx_window_given) windows;   /* of pair k: base, of key 2 k, and new, of the next key */
	struct nsx_sums       times;              /* of struct time */
};

/* ---- sums */

/* For nsx_things: window 2 * pair, and one more of the slow step. */
static bool
count(void *state, const struct nsx_filled *f)
{
	struct explain *e = state;
	struct time *t = nsx_sums_row(&e->times, &(struct key){ .pair = (uint32_t)(f->key / 2), .thing = f->thing,
	                                                        .name = f->name });

	if (t)
		t->ns[f->key % 2] += f->ns;
	return t != NULL;
}

/* If the range is one of the steps, its name tells what the batch was. */
static void
take_name(struct explain *e, const struct nsx_rec *rec)
{
	int64_t range = nsx_int(rec, NSX_RANGE_range, NSX_ABSENT);
	int64_t profile = nsx_int(rec, NSX_RANGE_profile, NSX_ABSENT);
	size_t i = nsx_sort_first(e->named.p, e->named.n, sizeof *e->named.p, offsetof(struct named, range), range);
	struct nsx_serving x;

	for (; i < e->named.n && e->named.p[i].range == range; i++) {
		size_t window = e->named.p[i].window;

		if (e->named.p[i].profile == profile && nsx_serving_of(nsx_string(rec, NSX_RANGE_name), &x))
			e->pairs.p[window / 2].batch[window % 2] = (struct batch){ x.requests, x.tokens };
	}
}

static int
take(void *state, const struct nsx_rec *rec)
{
	struct explain *e = state;

	if (rec->kind->id == NSX_RANGE && e->named.n)
		take_name(e, rec);
	return NSX_OK;
}

/* ---- selecting the steps */

NSX_ORDER_PTR(by_period, struct nsx_step_of, NSX_CMP(a->period, b->period), NSX_CMP(a->number, b->number))

NSX_ORDER(by_range, struct named, NSX_CMP(a->range, b->range), NSX_CMP(a->profile, b->profile))

static bool
add_named(struct explain *e, const struct nsx_step_of *o, size_t window)
{
	const struct nsx_step *x = &e->steps->steps.p[o->step];

	return x->range == NSX_ABSENT || nsx_vec_push(&e->named, ((struct named){ x->profile, x->range, window }));
}

static bool
choose(struct explain *e, int percentile)
{
	const struct nsx_step_set *s = e->steps;
	NSX_VEC(const struct nsx_step_of *) order = { 0 };
	bool good = true;

	for (size_t i = 0, n; good && i < s->list.n; i += n) {
		const struct nsx_step_of *o = &s->list.p[i];

		order.n = 0;
		for (n = 0; i + n < s->list.n && o[n].class == o->class && o[n].device == o->device;)
			n++;

		for (size_t k = 0; good && k < n; k++)
			if (o[k].kept)
				good = nsx_vec_push(&order, &o[k]);
		if (!good || order.n < 2)
			continue;
		qsort(order.p, order.n, sizeof *order.p, by_period);

		struct pair p = { order.p[nsx_percentile_rank(order.n, 50)],
		                  order.p[nsx_percentile_rank(order.n, percentile)],
		                  { { NSX_ABSENT, NSX_ABSENT }, { NSX_ABSENT, NSX_ABSENT } } };
		int64_t device = s->cat.devices.p[o->device].number, key = (int64_t)e->windows.n;

		good = nsx_vec_push(&e->pairs, p) &&
		       nsx_vec_push(&e->windows, ((struct nsx_window_given){ device, p.base->first, p.base->next, key,
		                                                               NSX_NONE }))
		       && nsx_vec_push(&e->windows, ((struct nsx_window_given){ device, p.new->first, p.new->next,
		                                                             key + 1, NSX_NONE }))
		       && add_named(e, p.base, (size_t)key) && add_named(e, p.new, (size_t)key + 1);
	}
	if (e->named.n > 1)
		qsort(e->named.p, e->named.n, sizeof *e->named.p, by_range);
	free(order.p);
	/* Steps are by class first. */
	nsx_window_given_sort(e->windows.p, e->windows.n);
	return good;
}

/* ---- rows */

struct row {
	struct nsx_str class;
	int64_t  device, base_step, step, base, new, delta, by_pair, by_size, by_kind;
	uint32_t name;
	struct batch batch[2];
};

static const char *
kind_text(const void *row)
{
	return nsx_thing_name((enum nsx_thing)((const struct row *)row)->by_kind);
}

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("class", STRING, class), NSX_COL("device", ID, device), NSX_COL("base_step", ID, base_step),
	NSX_COL("step", ID, step), NSX_COL_SAID("kind", kind_text), NSX_COL("name", STRING, name),
	NSX_COL("base", NS, base), NSX_COL("new", NS, new), NSX_COL("delta", NS, delta),
	NSX_COL("base_requests", INT, batch[0].requests), NSX_COL("requests", INT, batch[1].requests),
	NSX_COL("base_tokens", INT, batch[0].tokens), NSX_COL("tokens", INT, batch[1].tokens),
	NSX_COL("by_pair", INT, by_pair), NSX_COL("by_size", INT, by_size), NSX_COL("by_kind", INT, by_kind),
};
#define DEF(more) { \
	NSX_ROWS(cols), \
	.shown = "class device base_step step kind name base new delta" more, \
	.order = "by_pair -by_size by_kind name", \
	.rank = "kind name delta device base new step base_step class" }
/* Of each pair what differs most first; of a server with the batches. */
static const struct nsx_sum_def differences = DEF(""), of_batches = DEF(" base_requests requests base_tokens tokens");

static int64_t
difference(const int64_t ns[2])
{
	return ns[1] > ns[0] ? ns[1] - ns[0] : ns[0] - ns[1];
}

/* A row for what differs. */
static bool
add_row(const struct explain *e, struct nsx_sums *rows, struct key key, const int64_t ns[2])
{
	const struct pair *p = &e->pairs.p[key.pair];
	struct row *r = difference(ns) ? nsx_sums_add(rows) : NULL;

	if (r)
		*r = (struct row){ nsx_intern_str(&e->steps->names, p->base->class),
		                   e->steps->cat.devices.p[p->base->device].number, p->base->number,
		                   p->new->number, ns[0], ns[1], ns[1] - ns[0], key.pair, difference(ns), key.thing,
		                   key.name, { p->batch[0], p->batch[1] } };
	return r || !difference(ns);
}

/* Things below 1/SMALL of all that differs between two steps are one row of their kind. */
enum { SMALL = 100 };

/* The small times of a kind in a pair. */
struct others { int64_t ns[2], count; };

/* Make the rows. Two or more small ones of a pair and kind are one, which is their sum, so that a difference spread
 * over hundreds of instructions is one row, and other causes are not listed below hundreds of rows. Idle causes are
 * few: they remain. */
static bool
make_rows(struct explain *e, struct nsx_sums *rows)
{
	struct others *others = calloc(e->pairs.n * NSX_NTHINGS + 1, sizeof *others);
	nsx_u128 *all = calloc(e->pairs.n + 1, sizeof *all);
	size_t n = nsx_sums_count(&e->times);
	bool good = others && all;

	for (size_t i = 0; good && i < n; i++) {
		const struct time *t = nsx_sums_at(&e->times, i);

		all[t->key.pair] += (nsx_u128)difference(t->ns);
	}
	for (int pass = 0; good && pass < 2; pass++)
		for (size_t i = 0; good && i < n; i++) {
			const struct time *t = nsx_sums_at(&e->times, i);
			struct others *o = &others[(size_t)t->key.pair * NSX_NTHINGS + t->key.thing];
			bool small = t->key.thing != NSX_THING_IDLE && difference(t->ns)
			             && (nsx_u128)difference(t->ns) * SMALL < all[t->key.pair];

			if (pass == 0 && small) {
				o->ns[0] += t->ns[0];
				o->ns[1] += t->ns[1];
				o->count++;
			} else if (pass == 1 && !(small && o->count > 1)) {
				good = add_row(e, rows, t->key, t->ns);
			}
		}
	for (size_t i = 0; good && i < e->pairs.n * NSX_NTHINGS; i++) {
		struct key key = { .pair = (uint32_t)(i / NSX_NTHINGS), .thing = i % NSX_NTHINGS };
		struct nsx_buf name = { 0 };

		if (others[i].count < 2)
			continue;
		nsx_buf_fmt(&name, "[%" PRId64 " others]", others[i].count);
		key.name = name.failed ? (uint32_t)NSX_NONE : nsx_intern(&e->names, nsx_buf_view(&name));
		nsx_buf_free(&name);
		good = key.name != NSX_NONE && add_row(e, rows, key, others[i].ns);
	}
	free(others);
	free(all);
	return good;
}

static bool
differ(const struct pair *p)
{
	return p->batch[0].requests != p->batch[1].requests || p->batch[0].tokens != p->batch[1].tokens;
}

static int64_t
more_of(const struct pair *p)
{
	return p->new->period - p->base->period;
}

/* "7 requests and 518 tokens" */
static void
put_batch(struct nsx_buf *to, const struct batch *b)
{
	if (b->requests != NSX_ABSENT)
		nsx_buf_fmt(to, "%" PRId64 " request%s", b->requests, b->requests == 1 ? "" : "s");
	if (b->tokens != NSX_ABSENT)
		nsx_buf_fmt(to, "%s%" PRId64 " token%s", b->requests != NSX_ABSENT ? " and " : "", b->tokens,
		            b->tokens == 1 ? "" : "s");
}

static bool
any_batch(const struct explain *e)
{
	for (size_t i = 0; i < 2 * e->pairs.n; i++) {
		const struct batch *b = &e->pairs.p[i / 2].batch[i % 2];

		if (b->requests != NSX_ABSENT || b->tokens != NSX_ABSENT)
			return true;
	}
	return false;
}

/* Below the table, of each class the pair with different batches whose periods differ most. */
static void
note_batches(const struct explain *e, struct nsx_table *t)
{
	for (size_t i = 0, n; i < e->pairs.n; i += n) {
		const struct pair *p = &e->pairs.p[i], *most = NULL;
		struct nsx_buf text = { 0 };

		for (n = 0; i + n < e->pairs.n && p[n].base->class == p->base->class; n++)
			if (differ(&p[n]) && (!most || more_of(&p[n]) > more_of(most)))
				most = &p[n];
		if (!most)
			continue;
		nsx_buf_str(&text, nsx_intern_str(&e->steps->names, p->base->class));
		nsx_buf_fmt(&text, ": batches differ, and with them the work: on device %" PRId64 " step %"
		            PRId64 " has ", e->steps->cat.devices.p[most->new->device].number, most->new->number);
		put_batch(&text, &most->batch[1]);
		nsx_buf_fmt(&text, ", the median step %" PRId64 " has ", most->base->number);
		put_batch(&text, &most->batch[0]);
		if (!text.failed)
			nsx_table_note(t, "%.*s", (int)text.len, text.ptr);
		nsx_buf_free(&text);
	}
}

void
nsx_steps_again_need(struct nsx_reader *in)
{
	nsx_things_need(in, false);
	nsx_reader_need(in, NSX_RANGE, NSX_C(RANGE, profile) | NSX_C(RANGE, range) | NSX_C(RANGE, name));
}

int
nsx_steps_explain(struct nsx_reader *in, const struct nsx_step_set *s, int percentile, struct nsx_table **table,
                  struct nsx_diags *diags, struct nsx_err *err)
{
	struct explain e = { .steps = s, .err = err, .times.def = &times };
	struct nsx_sums rows = { .def = &differences, .texts = &e.names };
	bool good = choose(&e, percentile);
	int rc = good ? NSX_OK : nsx_err_nomem(err, NULL);

	nsx_steps_again_need(in);
	e.things = (struct nsx_things){ .err = err, .names = &e.names, .count = count, .also = take, .state = &e,
	                                .windows = e.windows.p, .n = e.windows.n };
	if (rc == NSX_OK)
		rc = nsx_things_read(&e.things, in, diags);
	if (rc == NSX_OK && !make_rows(&e, &rows))
		rc = nsx_err_nomem(err, NULL);
	/* These were already reported for the steps. */
	e.things.idle.finder.timeless = e.things.idle.finder.beyond = 0;
	if (rc == NSX_OK)
		rc = nsx_idle_report(&e.things.idle);
	if (rc == NSX_OK) {
		if (!e.pairs.n)
			nsx_diag_add(diags, NSX_WARNING, "", 1,
			             "no class has two steps with a next one: nothing to explain");
		rows.def = any_batch(&e) ? &of_batches : &differences;
		*table = nsx_sums_table(&rows, err);
		if (*table)
			note_batches(&e, *table);
		rc = *table ? NSX_OK : NSX_ERR;
	}
	nsx_things_free(&e.things);
	nsx_intern_free(&e.names);
	free(e.pairs.p);
	free(e.named.p);
	free(e.windows.p);
	nsx_sums_free(&e.times);
	nsx_sums_free(&rows);
	return rc;
}
