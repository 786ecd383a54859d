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
#include "table/idle/idle.h"
#include "table/steps/things.h"
#include "table/sums.h"

/* A class on a device: its two steps, and their windows. */
struct pair { const struct nsx_step_of *base, *new; };

/* The time of a thing in the two steps of a pair. */
struct key { uint32_t pair, thing, name, none; };
struct time { struct key key; int64_t ns[2]; };
static const struct nsx_sum_def times = { .size = sizeof(struct time), .key = sizeof(struct key) };

struct explain {
	const struct nsx_step_set *steps;
	struct nsx_err       *err;
	struct idle           idle;
	struct nsx_things     things;
	struct nsx_intern     names;
	NSX_VEC(struct pair)  pairs;
	NSX_VEC(struct nsx_window_given) windows;   /* of pair k: base, of key 2 k, and new, of the next key */
	struct nsx_sums       times;              /* of struct time */
};

/* ---- sums */

/* For nsx_things: window 2 * pair, and one more of the slow step. */
static bool
count(void *state, int64_t window, enum nsx_thing thing, uint32_t name, int64_t ns)
{
	struct explain *e = state;
	struct time *t = nsx_sums_row(&e->times, &(struct key){ .pair = (uint32_t)(window / 2), .thing = thing,
	                                                        .name = name });

	if (t)
		t->ns[window % 2] += ns;
	return t != NULL;
}

static int
take(void *state, const struct nsx_rec *rec)
{
	struct explain *e = state;

	return nsx_idle_take(&e->idle, rec) == NSX_OK ? nsx_things_take(&e->things, rec) : NSX_ERR;
}

/* ---- selecting the steps */

static int
by_period(const void *a, const void *b)
{
	const struct nsx_step_of *x = *(const struct nsx_step_of *const *)a, *y = *(const struct nsx_step_of *const *)b;

	return NSX_FIRST(NSX_CMP(x->period, y->period), NSX_CMP(x->number, y->number));
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
		                  order.p[nsx_percentile_rank(order.n, percentile)] };
		int64_t device = s->cat.devices.p[o->device].number, key = (int64_t)e->windows.n;

		good = nsx_vec_push(&e->pairs, p) &&
		       nsx_vec_push(&e->windows, ((struct nsx_window_given){ device, p.base->first, p.base->next, key,
		                                                               NSX_NONE }))
		       && nsx_vec_push(&e->windows, ((struct nsx_window_given){ device, p.new->first, p.new->next,
		                                                             key + 1, NSX_NONE }));
	}
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
};

static const char *
kind_text(const void *row)
{
	return nsx_thing_name((enum nsx_thing)((const struct row *)row)->by_kind);
}

#define AT(member) offsetof(struct row, member), 0, NULL
static const struct nsx_sum_col cols[] = {
	{ "class",     NSX_CELL_STRING, NSX_SUM_STR,  AT(class) },
	{ "device",    NSX_CELL_ID,    NSX_SUM_INT,  AT(device) },
	{ "base_step", NSX_CELL_ID,    NSX_SUM_INT,  AT(base_step) },
	{ "step",      NSX_CELL_ID,    NSX_SUM_INT,  AT(step) },
	{ "kind",      NSX_CELL_STRING, NSX_SUM_SAID, 0, 0, kind_text },
	{ "name",      NSX_CELL_STRING, NSX_SUM_TEXT, AT(name) },
	{ "base",      NSX_CELL_NS,     NSX_SUM_INT,  AT(base) },
	{ "new",       NSX_CELL_NS,     NSX_SUM_INT,  AT(new) },
	{ "delta",     NSX_CELL_NS,     NSX_SUM_INT,  AT(delta) },
	{ "by_pair",   NSX_CELL_INT,    NSX_SUM_INT,  AT(by_pair) },
	{ "by_size",   NSX_CELL_INT,    NSX_SUM_INT,  AT(by_size) },
	{ "by_kind",   NSX_CELL_INT,    NSX_SUM_INT,  AT(by_kind) },
};
/* Of each pair what differs most first. */
static const struct nsx_sum_def differences = {
	.size = sizeof(struct row), .cols = cols, .ncols = sizeof cols / sizeof *cols,
	.shown = "class device base_step step kind name base new delta", .order = "by_pair -by_size by_kind name",
	.rank = "kind name delta device base new step base_step class"
};

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
		                   key.name };
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

/* Idle time of the windows by cause, as in nsysx-idle. */
static bool
count_idle(struct explain *e)
{
	for (size_t i = 0; i < e->idle.windows.n; i++) {
		const struct idle_window *w = &e->idle.windows.p[i];

		for (int c = 0; c < NSX_NCAUSES; c++) {
			/* Removed time is no part of a period. */
			int64_t ns = c == NSX_CAUSE_REMOVED ? 0 : w->cells[nsx_cause_cell((enum nsx_cause)c)].ns;
			uint32_t name = nsx_intern(&e->names, nsx_str_c(nsx_cause_name((enum nsx_cause)c)));

			if (name == NSX_NONE || (ns && !count(e, w->key, NSX_THING_IDLE, name, ns)))
				return false;
		}
	}
	return true;
}

void
nsx_steps_again_need(struct nsx_reader *in)
{
	struct nsx_idle_options options = { .by = NSX_WINDOWS_GIVEN };
	struct idle idle = { .options = &options };

	nsx_idle_need(&idle, in);
	nsx_things_need(in);
}

int
nsx_steps_explain(struct nsx_reader *in, const struct nsx_step_set *s, int percentile, struct nsx_table **table,
                  struct nsx_diags *diags, struct nsx_err *err)
{
	struct explain e = { .steps = s, .err = err, .times.def = &times };
	struct nsx_sums rows = { .def = &differences, .texts = &e.names };
	struct nsx_idle_options options = { .by = NSX_WINDOWS_GIVEN, .latency = NSX_IDLE_LATENCY };
	bool good = choose(&e, percentile);
	int rc = good ? NSX_OK : nsx_err_nomem(err, NULL);

	options.given = e.windows.p;
	options.ngiven = e.windows.n;
	nsx_steps_again_need(in);
	e.idle = (struct idle){ .options = &options, .diags = diags, .err = err, .own.keep = NSX_CAT_NAMES };
	e.things = (struct nsx_things){ .err = err, .cat = &e.idle.own, .names = &e.names, .count = count, .state = &e,
	                                .windows = e.windows.p, .n = e.windows.n };
	if (rc == NSX_OK && (rc = nsx_idle_begin(&e.idle)) == NSX_OK &&
	    (rc = nsx_read_all(in, NULL, take, &e, err)) == NSX_OK)
		rc = nsx_idle_finish(&e.idle);
	if (rc == NSX_OK)
		rc = nsx_things_finish(&e.things);
	if (rc == NSX_OK && (!count_idle(&e) || !make_rows(&e, &rows)))
		rc = nsx_err_nomem(err, NULL);
	/* These were already reported for the steps. */
	e.idle.finder.timeless = e.idle.finder.beyond = 0;
	if (rc == NSX_OK)
		rc = nsx_idle_report(&e.idle);
	if (rc == NSX_OK) {
		if (!e.pairs.n)
			nsx_diag_add(diags, NSX_WARNING, "", 1,
			             "no class has two steps with a next one: nothing to explain");
		*table = nsx_sums_table(&rows, err);
		rc = *table ? NSX_OK : NSX_ERR;
	}
	nsx_idle_free(&e.idle);
	nsx_things_free(&e.things);
	nsx_intern_free(&e.names);
	free(e.pairs.p);
	free(e.windows.p);
	nsx_sums_free(&e.times);
	nsx_sums_free(&rows);
	return rc;
}
