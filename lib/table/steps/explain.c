/* explain.c -- why a slow step was slow.
 *
 * Both steps last from their start to the start of the next, and each instant of a device is assigned to one thing: to
 * a computing operation, else to a communicating one, else to a copy, else to the cause of being idle (as in
 * nsysx-idle). If several operations of a kind run concurrently, the one that ends last counts. So the times add up to
 * the period, and the differences add up to the difference of the periods.
 *
 *   median step [0,100): gemm 80, idle host 20      slow step [100,230): gemm 80, all-reduce 30, idle host 20
 *   ->  all-reduce +30 */
#include "table/steps/explain.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "base/stat.h"
#include "job/reach.h"
#include "table/idle/idle.h"

/* The kind of thing to which time is assigned. */
enum thing { THING_INSTRUCTION, THING_RANGE, THING_KERNEL, THING_COLLECTIVE, THING_COPY, THING_IDLE, NTHINGS };
static const char *const things[NTHINGS] = { "instruction", "range", "kernel", "collective", "copy", "idle" };

/* A class on a device: its two steps, and their windows. */
struct pair { const struct nsx_step_of *base, *new; };

struct row { uint32_t pair, name; enum thing thing; int64_t ns[2]; };

/* The running operations of a device: for each busy activity the latest end, and the thing of that operation. */
struct running {
	bool    begun;
	int64_t at, end[NSX_PART_IDLE];
	uint32_t name[NSX_PART_IDLE];
	enum thing thing[NSX_PART_IDLE];
	NSX_VEC(uint32_t) windows;   /* 2 * pair + (1 for the slow step), of the device */
	bool    placed;
};

struct explain {
	const struct nsx_step_set *steps;
	struct nsx_err       *err;
	struct idle           idle;
	struct nsx_range_book book;
	struct nsx_intern     names;
	NSX_VEC(struct pair)  pairs;
	NSX_VEC(struct nsx_window_given) windows;   /* base and new of pair 0, 1, ... */
	NSX_VEC(struct running) devices;          /* by index of idle.cat */
	NSX_VEC(struct row)   rows;
	struct nsx_map        row_of;             /* (pair, thing and name) */
};

/* ---- sums */

static bool
count(struct explain *e, uint32_t window, enum thing thing, uint32_t name, int64_t ns)
{
	uint32_t *at = nsx_map_at(&e->row_of, (struct nsx_key){ window / 2, (uint64_t)thing << 32 | name });

	if (at && *at == NSX_NONE && nsx_vec_push(&e->rows, ((struct row){ window / 2, name, thing, { 0, 0 } })))
		*at = (uint32_t)(e->rows.n - 1);
	if (!at || *at == NSX_NONE)
		return false;
	e->rows.p[*at].ns[window % 2] += ns;
	return true;
}

static bool
count_run(struct explain *e, const struct running *d, int part, int64_t start, int64_t end)
{
	for (size_t i = 0; i < d->windows.n; i++) {
		const struct nsx_window_given *w = &e->windows.p[d->windows.p[i]];
		int64_t a = start > w->start ? start : w->start, b = end < w->end ? end : w->end;

		if (a < b && !count(e, d->windows.p[i], d->thing[part], d->name[part], b - a))
			return false;
	}
	return true;
}

/* Add the activity of the device up to `to`. */
static bool
settle(struct explain *e, struct running *d, int64_t to)
{
	for (int part = 0; part < NSX_PART_IDLE && d->at < to; part++) {
		int64_t end = d->end[part] < to ? d->end[part] : to;

		if (end > d->at) {
			if (!count_run(e, d, part, d->at, end))
				return false;
			d->at = end;
		}
	}
	d->at = to > d->at ? to : d->at;
	return true;
}

/* ---- operations */

/* The thing to which an operation is assigned; name NSX_NONE when out of memory. */
static enum thing
thing_of(struct explain *e, const struct nsx_rec *op, enum nsx_part part, uint32_t *name)
{
	const struct nsx_catalogue *cat = &e->idle.cat;
	uint32_t inst = nsx_has(op, NSX_OP_inst) ? nsx_cat_inst(&e->idle.cat, op) : (uint32_t)NSX_NONE;
	struct nsx_str text = inst == NSX_NONE ? (struct nsx_str){ "", 0 } : nsx_cat_str(cat, cat->insts.p[inst].name);
	enum thing thing = part == NSX_PART_COMM ? THING_COLLECTIVE : part == NSX_PART_COPY
	    ? THING_COPY : THING_INSTRUCTION;
	const struct nsx_range_entry *r;

	if (!text.len && part == NSX_PART_COMM)
		text = nsx_string(op, NSX_OP_collective);
	if (!text.len && part == NSX_PART_COMPUTE && nsx_has(op, NSX_OP_range)
	    && (r = nsx_range_book_find(&e->book, nsx_int(op, NSX_OP_profile, NSX_ABSENT), op->v[NSX_OP_range].i)) !=
	    NULL) {
		*name = r->name;
		return THING_RANGE;
	}
	if (!text.len) {
		text = nsx_string(op, NSX_OP_name);
		thing = part == NSX_PART_COMPUTE ? THING_KERNEL : thing;
	}
	*name = nsx_intern(&e->names, text);
	return thing;
}

/* The device's state with its windows; NULL when out of memory. */
static struct running *
device_of(struct explain *e, const struct nsx_rec *op)
{
	uint32_t at = nsx_cat_device(&e->idle.cat, op);
	struct running *d;

	while (at != NSX_NONE && e->devices.n <= at)
		if (!nsx_vec_push(&e->devices, ((struct running){ 0 })))
			return NULL;
	if (at == NSX_NONE)
		return NULL;
	d = &e->devices.p[at];
	for (size_t i = 0; !d->placed && i < e->windows.n; i++)
		if (e->windows.p[i].device == e->idle.cat.devices.p[at].number && !nsx_vec_push(&d->windows,
		    (uint32_t)i))
			return NULL;
	d->placed = true;
	return d;
}

static bool
take_op(struct explain *e, const struct nsx_rec *op)
{
	int64_t start = nsx_int(op, NSX_OP_start, NSX_ABSENT), dur = nsx_int(op, NSX_OP_dur, -1),
	    end = nsx_add_sat(start, dur, NULL);
	struct running *d = device_of(e, op);
	enum nsx_part part;
	uint32_t name;

	if (!d)
		return false;
	if (start == NSX_ABSENT || dur < 0 || !nsx_has(op, NSX_OP_device))
		return true;
	part = nsx_part_of(op, nsx_cat_communicates(&e->idle.cat, op));
	enum thing thing = thing_of(e, op, part, &name);

	if (name == NSX_NONE)
		return false;
	if (!d->begun) {
		d->begun = true;
		d->at = start;
		for (int i = 0; i < NSX_PART_IDLE; i++)
			d->end[i] = start;
	}
	if (!settle(e, d, start))
		return false;
	if (end > d->end[part]) {
		d->end[part] = end;
		d->name[part] = name;
		d->thing[part] = thing;
	}
	return true;
}

static int
take(void *state, const struct nsx_rec *rec)
{
	struct explain *e = state;
	uint32_t name;

	if (nsx_idle_take(&e->idle, rec) != NSX_OK)
		return NSX_ERR;
	if (!nsx_in_reach(rec))
		return NSX_OK;
	if (rec->kind->id == NSX_RANGE && nsx_has(rec, NSX_RANGE_start)) {
		name = nsx_intern(&e->names, nsx_range_book_name(&e->book, rec, NSX_NAMES_DIGITS));
		return name == NSX_NONE ? nsx_err_nomem(e->err, NULL) : nsx_range_book_add(&e->book, rec, name, e->err);
	}
	return rec->kind->id != NSX_OP || take_op(e, rec) ? NSX_OK : nsx_err_nomem(e->err, NULL);
}

/* ---- selecting the steps */

static int
by_period(const void *a, const void *b)
{
	const struct nsx_step_of *x = *(const struct nsx_step_of *const *)a, *y = *(const struct nsx_step_of *const *)b;

	if (x->period != y->period)
		return x->period < y->period ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
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
	return good;
}

/* ---- rows */

/* Things below 1/SMALL of all that differs between two steps are one row of their kind. */
enum { SMALL = 100 };

static int64_t
difference(const struct row *r)
{
	return r->ns[1] > r->ns[0] ? r->ns[1] - r->ns[0] : r->ns[0] - r->ns[1];
}

/* Replace two or more small rows of a pair and kind by one, which is their sum, so that a difference spread over
 * hundreds of instructions is one row, and other causes are not listed below hundreds of rows. Idle causes are few:
 * they remain. */
static bool
fold(struct explain *e)
{
	struct others { int64_t ns[2], count; } *others = calloc(e->pairs.n * NTHINGS + 1, sizeof *others);
	nsx_u128 *all = calloc(e->pairs.n + 1, sizeof *all);
	bool good = others && all;
	size_t kept = 0;

	for (size_t i = 0; good && i < e->rows.n; i++)
		all[e->rows.p[i].pair] += (nsx_u128)difference(&e->rows.p[i]);
	for (int pass = 0; good && pass < 2; pass++)
		for (size_t i = 0, n = e->rows.n; i < n; i++) {
			const struct row r = e->rows.p[i];
			struct others *o = &others[(size_t)r.pair * NTHINGS + r.thing];
			bool small = r.thing != THING_IDLE && difference(&r)
			             && (nsx_u128)difference(&r) * SMALL < all[r.pair];

			if (pass == 0 && small) {
				o->ns[0] += r.ns[0];
				o->ns[1] += r.ns[1];
				o->count++;
			} else if (pass == 1 && !(small && o->count > 1)) {
				e->rows.p[kept++] = r;
			}
		}
	if (good)
		e->rows.n = kept;
	for (size_t i = 0; good && i < e->pairs.n * NTHINGS; i++) {
		struct nsx_buf name = { 0 };
		struct row r = { (uint32_t)(i / NTHINGS), NSX_NONE, (enum thing)(i % NTHINGS),
		                 { others[i].ns[0], others[i].ns[1] } };

		if (others[i].count < 2)
			continue;
		nsx_buf_fmt(&name, "[%" PRId64 " others]", others[i].count);
		r.name = name.failed ? (uint32_t)NSX_NONE
		                     : nsx_intern(&e->names, (struct nsx_str){ name.ptr, name.len });
		nsx_buf_free(&name);
		good = r.name != NSX_NONE && nsx_vec_push(&e->rows, r);
	}
	free(others);
	free(all);
	return good;
}

static int
by_difference(const void *a, const void *b, const void *names)
{
	const struct row *x = a, *y = b;
	int64_t dx = x->ns[1] - x->ns[0], dy = y->ns[1] - y->ns[0];
	int64_t mx = dx < 0 ? -dx : dx, my = dy < 0 ? -dy : dy;

	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	if (mx != my)
		return mx > my ? -1 : 1;
	if (x->thing != y->thing)
		return x->thing < y->thing ? -1 : 1;
	return nsx_str_cmp(nsx_intern_str(names, x->name), nsx_intern_str(names, y->name));
}

enum { C_CLASS, C_DEVICE, C_BASE_STEP, C_STEP, C_KIND, C_NAME, C_BASE, C_NEW, C_DELTA, C_NCOLS };

static struct nsx_table *
make_table(struct explain *e)
{
	static const struct nsx_table_col cols[C_NCOLS] = {
		[C_CLASS] = { "class", NSX_CELL_STRING }, [C_DEVICE] = { "device", NSX_CELL_ID },
		[C_BASE_STEP] = { "base_step", NSX_CELL_ID },
		[C_STEP] = { "step", NSX_CELL_ID }, [C_KIND] = { "kind", NSX_CELL_STRING },
		[C_NAME] = { "name", NSX_CELL_STRING },
		[C_BASE] = { "base", NSX_CELL_NS }, [C_NEW] = { "new", NSX_CELL_NS }, [C_DELTA] = { "delta",
			NSX_CELL_NS }
	};
	struct nsx_table *t = nsx_table_new(cols, C_NCOLS);
	nsx_table_rank(t, "kind name delta device base new step base_step class");

	if (t)
		nsx_sort_with(e->rows.p, e->rows.n, sizeof *e->rows.p, by_difference, &e->names);
	for (size_t i = 0; t && i < e->rows.n; i++) {
		const struct row *r = &e->rows.p[i];
		const struct pair *p = &e->pairs.p[r->pair];

		if (r->ns[0] == r->ns[1])
			continue;
		nsx_table_row(t);
		nsx_table_str(t, C_CLASS, nsx_intern_str(&e->steps->names, p->base->class));
		nsx_table_int(t, C_DEVICE, e->windows.p[2 * r->pair].device);
		nsx_table_int(t, C_BASE_STEP, p->base->number);
		nsx_table_int(t, C_STEP, p->new->number);
		nsx_table_str(t, C_KIND, nsx_str_c(things[r->thing]));
		nsx_table_str(t, C_NAME, nsx_intern_str(&e->names, r->name));
		nsx_table_int(t, C_BASE, r->ns[0]);
		nsx_table_int(t, C_NEW, r->ns[1]);
		nsx_table_int(t, C_DELTA, r->ns[1] - r->ns[0]);
	}
	return t;
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

			if (name == NSX_NONE || (ns && !count(e, (uint32_t)w->key, THING_IDLE, name, ns)))
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
	nsx_range_book_need(in, false);
	nsx_reader_need(in, NSX_OP, NSX_C(OP, name) | NSX_C(OP, collective));
	nsx_reader_need(in, NSX_INST, NSX_EVERY);
}

int
nsx_steps_explain(struct nsx_reader *in, const struct nsx_step_set *s, int percentile, struct nsx_table **table,
                  struct nsx_diags *diags, struct nsx_err *err)
{
	struct explain e = { .steps = s, .err = err };
	struct nsx_idle_options options = { .by = NSX_WINDOWS_GIVEN, .latency = NSX_IDLE_LATENCY };
	bool good = choose(&e, percentile);
	int rc = good ? NSX_OK : nsx_err_nomem(err, NULL);

	options.given = e.windows.p;
	options.ngiven = e.windows.n;
	nsx_steps_again_need(in);
	e.idle = (struct idle){ .options = &options, .diags = diags, .err = err, .cat.keep = NSX_CAT_NAMES };
	if (rc == NSX_OK && (rc = nsx_idle_begin(&e.idle)) == NSX_OK &&
	    (rc = nsx_read_all(in, NULL, take, &e, err)) == NSX_OK)
		rc = nsx_idle_finish(&e.idle);
	for (size_t i = 0; rc == NSX_OK && i < e.devices.n; i++)
		if (!settle(&e, &e.devices.p[i], INT64_MAX))
			rc = nsx_err_nomem(err, NULL);
	if (rc == NSX_OK && (!count_idle(&e) || !fold(&e)))
		rc = nsx_err_nomem(err, NULL);
	/* These were already reported for the steps. */
	e.idle.finder.timeless = e.idle.finder.beyond = 0;
	if (rc == NSX_OK)
		rc = nsx_idle_report(&e.idle);
	if (rc == NSX_OK) {
		if (!e.pairs.n)
			nsx_diag_add(diags, NSX_WARNING, "", 1,
			             "no class has two steps with a next one: nothing to explain");
		*table = make_table(&e);
		rc = *table ? NSX_OK : nsx_err_nomem(err, NULL);
	}
	nsx_idle_free(&e.idle);
	nsx_range_book_free(&e.book);
	nsx_intern_free(&e.names);
	free(e.pairs.p);
	free(e.windows.p);
	for (size_t i = 0; i < e.devices.n; i++)
		free(e.devices.p[i].windows.p);
	free(e.devices.p);
	free(e.rows.p);
	nsx_map_free(&e.row_of);
	return rc;
}
