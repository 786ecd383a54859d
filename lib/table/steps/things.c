/* things.c -- what fills windows: the time of devices by what they did, and by why they were idle. */
#include "table/steps/things.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "job/reach.h"

static const char *const names[NSX_NTHINGS] = { "instruction", "range", "kernel", "collective", "copy", "idle" };

/* A device, and its windows: those from `past` to before `end`. Earlier ones are over. */
struct nsx_things_device {
	struct nsx_parts parts;
	size_t  past, end;
	bool    placed;
};

const char *
nsx_thing_name(enum nsx_thing thing)
{
	return names[thing];
}

/* ---- sums */

struct counting { struct nsx_things *t; struct nsx_things_device *d; };

/* A name and where it is, as one number. */
struct place { uint32_t name, where; };

static struct place
place_of(const struct nsx_things *t, uint32_t number)
{
	struct place p = { number, NSX_NONE };

	if (t->placed)
		memcpy(&p, nsx_intern_str(&t->places, number).ptr, sizeof p);
	return p;
}

static int
count_run(void *state, enum nsx_part part, int64_t start, int64_t end)
{
	struct nsx_things *t = ((struct counting *)state)->t;
	struct nsx_things_device *d = ((struct counting *)state)->d;

	if (part == NSX_PART_IDLE)
		return NSX_OK;
	uint32_t number = d->parts.thing[part] / NSX_NTHINGS;
	enum nsx_thing thing = (enum nsx_thing)(d->parts.thing[part] % NSX_NTHINGS);
	struct place p = place_of(t, number);

	while (d->past < d->end && t->windows[d->past].end <= start)
		d->past++;
	for (size_t i = d->past; i < d->end && t->windows[i].start < end; i++) {
		const struct nsx_window_given *w = &t->windows[i];
		int64_t a = start > w->start ? start : w->start, b = end < w->end ? end : w->end;

		if (a < b && !t->count(t->state, &(struct nsx_filled){ w->key, thing, p.name, p.where, 0, b - a }))
			return NSX_ERR;
	}
	return NSX_OK;
}

/* ---- operations */

/* Where an instruction is: in t->names; NSX_NONE when out of memory. */
static uint32_t
inst_place(struct nsx_things *t, const struct nsx_cat_inst *inst)
{
	const struct nsx_catalogue *cat = &t->idle.own;
	struct nsx_str opcode = nsx_cat_str(cat, inst->opcode), op_name = nsx_cat_str(cat, inst->op_name);

	t->text.len = 0;
	nsx_buf_str(&t->text, opcode);
	if (op_name.len)
		nsx_buf_char(&t->text, '\n');
	nsx_buf_str(&t->text, op_name);
	return t->text.failed ? (uint32_t)NSX_NONE : nsx_intern(t->names, nsx_buf_view(&t->text));
}

/* The thing to which an operation is assigned; name NSX_NONE when out of memory. */
static enum nsx_thing
thing_of(struct nsx_things *t, const struct nsx_rec *op, enum nsx_part part, uint32_t *name, uint32_t *where)
{
	uint32_t inst = nsx_has(op, NSX_OP_inst) ? nsx_cat_inst(&t->idle.own, op) : (uint32_t)NSX_NONE;
	const struct nsx_catalogue *cat = &t->idle.own;
	struct nsx_str text = inst == NSX_NONE ? NSX_STR("") : nsx_cat_str(cat, cat->insts.p[inst].name);
	enum nsx_thing thing = part == NSX_PART_COMM ? NSX_THING_COLLECTIVE : part == NSX_PART_COPY
	    ? NSX_THING_COPY : NSX_THING_INSTRUCTION;
	const struct nsx_range_entry *r;

	if (!text.len && part == NSX_PART_COMM)
		text = nsx_string(op, NSX_OP_collective);
	if (!text.len && part == NSX_PART_COMPUTE && nsx_has(op, NSX_OP_range)
	    && (r = nsx_range_book_find(&t->book, nsx_int(op, NSX_OP_profile, NSX_ABSENT), op->v[NSX_OP_range].i)) !=
	    NULL) {
		*name = *where = r->name;
		if (!t->placed)
			return NSX_THING_RANGE;
	}
	if (!text.len) {
		text = nsx_string(op, NSX_OP_name);
		inst = NSX_NONE;
		thing = part == NSX_PART_COMPUTE ? NSX_THING_KERNEL : thing;
	}
	*name = nsx_intern(t->names, text);
	if (t->placed && thing == NSX_THING_INSTRUCTION && inst != NSX_NONE
	    && (*where = inst_place(t, &cat->insts.p[inst])) == NSX_NONE)
		*name = NSX_NONE;
	return thing;
}

/* The device's state with its windows; NULL when out of memory. */
static struct nsx_things_device *
device_of(struct nsx_things *t, const struct nsx_rec *op)
{
	uint32_t at = nsx_cat_device(&t->idle.own, op);
	struct nsx_things_device *d;

	if (at == NSX_NONE || !nsx_vec_reach(&t->devices, at, NULL))
		return NULL;
	d = &t->devices.p[at];
	if (d->placed)
		return d;
	int64_t number = t->idle.own.devices.p[at].number;

	d->past = d->end = nsx_window_given_of(t->windows, t->n, number);
	while (d->end < t->n && t->windows[d->end].device == number)
		d->end++;
	d->placed = true;
	return d;
}

static bool
take_op(struct nsx_things *t, const struct nsx_rec *op)
{
	int64_t start = nsx_int(op, NSX_OP_start, NSX_ABSENT), dur = nsx_int(op, NSX_OP_dur, -1),
	    end = nsx_add_sat(start, dur, NULL);
	struct nsx_things_device *d = device_of(t, op);
	enum nsx_part part;
	enum nsx_thing thing;
	uint32_t name, where = NSX_NONE;

	if (!d)
		return false;
	if (start == NSX_ABSENT || dur < 0 || !nsx_has(op, NSX_OP_device))
		return true;
	part = nsx_part_of(op, nsx_cat_communicates(&t->idle.own, op));
	thing = thing_of(t, op, part, &name, &where);
	if (t->placed && name != NSX_NONE) {
		struct place p = { name, where };

		name = nsx_intern(&t->places, (struct nsx_str){ (const char *)&p, sizeof p });
	}
	/* One number of both, for the sweep. */
	return name < NSX_NONE / NSX_NTHINGS
	       && nsx_parts_add_thing(&d->parts, part, name * NSX_NTHINGS + thing, start, end, count_run,
	                              &(struct counting){ t, d }) == NSX_OK;
}

static int
take_busy(struct nsx_things *t, const struct nsx_rec *rec)
{
	uint32_t name;

	if (!nsx_in_reach(rec))
		return NSX_OK;
	if (rec->kind->id == NSX_RANGE && nsx_has(rec, NSX_RANGE_start)) {
		name = nsx_intern(t->names, nsx_range_book_name(&t->book, rec, NSX_NAMES_DIGITS));
		return name == NSX_NONE ? nsx_err_nomem(t->err, NULL) : nsx_range_book_add(&t->book, rec, name, t->err);
	}
	return rec->kind->id != NSX_OP || take_op(t, rec) ? NSX_OK : nsx_err_nomem(t->err, NULL);
}

static int
take(void *state, const struct nsx_rec *rec)
{
	struct nsx_things *t = state;

	if (nsx_idle_take(&t->idle, rec) != NSX_OK || (t->also && t->also(t->state, rec) != NSX_OK))
		return NSX_ERR;
	return t->causes_only ? NSX_OK : take_busy(t, rec);
}

static int
finish_busy(struct nsx_things *t)
{
	for (size_t i = 0; i < t->devices.n; i++)
		if (nsx_parts_finish(&t->devices.p[i].parts, count_run,
		                     &(struct counting){ t, &t->devices.p[i] }) != NSX_OK)
			return nsx_err_nomem(t->err, NULL);
	return NSX_OK;
}

/* Of idle time in the host's own code, what is in each innermost range, which is taken from *rest. False when out of
 * memory. */
static bool
count_places(struct nsx_things *t, const struct idle_window *w, struct nsx_filled f, int64_t *rest)
{
	const struct nsx_stacks *paths = &t->idle.paths;

	for (uint32_t i = w->reason; i != NSX_NONE; i = t->idle.reasons.p[i].next) {
		const struct idle_reason *r = &t->idle.reasons.p[i];

		if ((int)r->cell != nsx_cause_cell(f.cause) || r->path == NSX_NONE || r->path == NSX_STACKS_ROOT)
			continue;
		f.where = nsx_intern(t->names, nsx_intern_str(&paths->frames, paths->nodes.p[r->path].frame));
		f.ns = r->ns;
		*rest -= r->ns;
		if (f.where == NSX_NONE || !t->count(t->state, &f))
			return false;
	}
	return true;
}

/* False when out of memory. */
static bool
count_idle(struct nsx_things *t)
{
	for (size_t i = 0; i < t->idle.windows.n; i++) {
		const struct idle_window *w = &t->idle.windows.p[i];

		for (enum nsx_cause k = 0; k < NSX_NCAUSES; k++) {
			struct nsx_filled f = { w->key, NSX_THING_IDLE, NSX_NONE, NSX_NONE, k,
			                        w->cells[nsx_cause_cell(k)].ns };

			/* Removed time is no part of a period. */
			if (!f.ns || k == NSX_CAUSE_REMOVED)
				continue;
			f.name = nsx_intern(t->names, nsx_str_c(nsx_cause_name(k)));
			if (f.name == NSX_NONE || (k == NSX_CAUSE_RANGE && !count_places(t, w, f, &f.ns)))
				return false;
			if (f.ns && !t->count(t->state, &f))
				return false;
		}
	}
	return true;
}

void
nsx_things_need(struct nsx_reader *in, bool causes_only)
{
	struct nsx_idle_options options = { .by = NSX_WINDOWS_GIVEN };
	struct idle idle = { .options = &options };

	nsx_idle_need(&idle, in);
	if (causes_only)
		return;
	nsx_range_book_need(in, false);
	nsx_reader_need(in, NSX_OP, NSX_C(OP, name) | NSX_C(OP, collective));
	nsx_reader_need(in, NSX_INST, NSX_EVERY);
}

int
nsx_things_read(struct nsx_things *t, struct nsx_reader *in, struct nsx_diags *diags)
{
	t->options = (struct nsx_idle_options){ .by = NSX_WINDOWS_GIVEN, .latency = NSX_IDLE_LATENCY,
	                                        .given = t->windows, .ngiven = t->n,
	                                        .form = t->placed && !t->causes_only ? NSX_IDLE_VERDICT
	                                                                             : NSX_IDLE_TABLE };
	t->idle = (struct idle){ .options = &t->options, .diags = diags, .err = t->err,
	                         .own.keep = (t->causes_only ? 0u : NSX_CAT_NAMES)
	                                     | (t->placed ? NSX_CAT_OP_NAMES : 0u) };
	nsx_things_need(in, t->causes_only);
	if (nsx_idle_begin(&t->idle) != NSX_OK || nsx_read_all(in, NULL, take, t, t->err) != NSX_OK
	    || nsx_idle_finish(&t->idle) != NSX_OK || finish_busy(t) != NSX_OK)
		return NSX_ERR;
	return count_idle(t) ? NSX_OK : nsx_err_nomem(t->err, NULL);
}

void
nsx_things_free(struct nsx_things *t)
{
	nsx_idle_free(&t->idle);
	nsx_range_book_free(&t->book);
	nsx_intern_free(&t->places);
	nsx_buf_free(&t->text);
	free(t->devices.p);
}
