/* again.c -- the second reading of a stream whose steps are known: idle time by cause, as in nsysx-idle, and what else
 * filled the steps. */
#include <stdlib.h>

#include "table/compare/join.h"
#include "table/compare/why.h"
#include "table/idle/idle.h"
#include "table/steps/rows.h"

/* The windows of steps that count, from start to start, by device. The key of a window is a place in `of`, which has
 * the step's place in the list. */
struct windows { NSX_VEC(struct nsx_window_given) list; NSX_VEC(size_t) of; };

/* The next window is a step. False when out of memory. */
static bool
add_why(struct cmp *c, struct cmp_why *why, const struct nsx_step_set *set, const struct nsx_step_of *o)
{
	uint32_t class = nsx_intern(&c->strs, nsx_intern_str(&set->names, o->class));

	return class != NSX_NONE
	       && nsx_compare_why_step(why, class, set->cat.devices.p[o->device].number, o->period);
}

/* False when out of memory. */
static bool
find_windows(struct cmp *c, const struct nsx_step_set *set, struct cmp_why *why, struct windows *w)
{
	for (size_t i = 0; i < set->list.n; i++) {
		const struct nsx_step_of *o = &set->list.p[i];
		struct nsx_window_given new = { set->cat.devices.p[o->device].number, o->first, o->next,
		                                (int64_t)w->of.n, NSX_NONE };

		if (o->kept && (!nsx_vec_push(&w->of, i) || !nsx_vec_push(&w->list, new)
		    || (why && !add_why(c, why, set, o))))
			return false;
	}
	/* Steps are listed by class first. */
	nsx_window_given_sort(w->list.p, w->list.n);
	return true;
}

struct reading { struct cmp *c; struct cmp_side *side; struct idle *idle; struct cmp_why *why; };

/* The name of an instruction's operation. */
static bool
take_kernel(const struct reading *r, const struct nsx_rec *op)
{
	struct nsx_catalogue *cat = r->idle->cat;
	uint32_t inst = nsx_has(op, NSX_OP_inst) ? nsx_cat_inst(cat, op) : (uint32_t)NSX_NONE;

	if (inst == NSX_NONE || cat->insts.p[inst].name == NSX_NONE)
		return true;
	uint32_t of = nsx_intern(&r->c->strs, nsx_cat_str(cat, cat->insts.p[inst].name)),
	    name = nsx_intern(&r->c->strs, nsx_string(op, NSX_OP_name));

	return of != NSX_NONE && name != NSX_NONE && nsx_compare_why_kernel(r->why, of, name);
}

static int
take(void *state, const struct nsx_rec *rec)
{
	const struct reading *r = state;

	if (r->c->repeat && rec->kind->id == NSX_OP
	    && !nsx_compare_take_work(r->c, r->side, nsx_cat_device(r->idle->cat, rec), rec, NSX_NONE))
		return nsx_err_nomem(r->c->err, NULL);
	if (r->why && r->c->options.renamed && rec->kind->id == NSX_OP && !take_kernel(r, rec))
		return nsx_err_nomem(r->c->err, NULL);
	return nsx_idle_take(r->idle, rec) == NSX_OK && (!r->why || nsx_things_take(&r->why->things, rec) == NSX_OK)
	       ? NSX_OK : NSX_ERR;
}

/* Idle time of a window, of the step at that place in the list. False when out of memory. */
static bool
count_idle(struct cmp *c, const struct idle_window *w, size_t step, struct cmp_why *why, int64_t *causes)
{
	for (int k = 0; k < NSX_NCAUSES; k++) {
		int64_t ns = w->cells[nsx_cause_cell((enum nsx_cause)k)].ns;

		/* Removed time is no part of a period. */
		if (!ns || k == NSX_CAUSE_REMOVED)
			continue;
		uint32_t name = why ? nsx_intern(&c->strs, nsx_str_c(nsx_cause_name((enum nsx_cause)k))) : 0;

		if (name == NSX_NONE || (why && !nsx_compare_why_idle(why, w->key, name, ns)))
			return false;
		if (causes)
			causes[step * NSX_NCAUSES + (size_t)k] += ns;
	}
	return true;
}

static int
read_all(struct cmp *c, struct cmp_side *s, struct nsx_reader *in, struct idle *idle, struct cmp_why *why)
{
	nsx_idle_need(idle, in);
	nsx_compare_need_work(in);
	if (why)
		nsx_things_need(in);
	if (nsx_idle_begin(idle) != NSX_OK
	    || nsx_read_all(in, NULL, take, &(struct reading){ c, s, idle, why }, c->err) != NSX_OK
	    || nsx_idle_finish(idle) != NSX_OK)
		return NSX_ERR;
	return why ? nsx_things_finish(&why->things) : NSX_OK;
}

int
nsx_compare_read_again(struct cmp *c, struct cmp_side *s, const struct nsx_step_set *set, struct nsx_spool *again,
                       int64_t **causes, struct nsx_diags *diags)
{
	struct cmp_why *why = s->why;

	struct nsx_idle_options options = { .by = NSX_WINDOWS_GIVEN, .latency = NSX_IDLE_LATENCY };
	struct idle idle = { .options = &options, .diags = diags, .err = c->err };
	struct windows w = { .of = { 0 } };
	struct nsx_reader *in = nsx_spool_reader(again);
	bool good = find_windows(c, set, why, &w);
	int rc = !in ? NSX_ERR : good ? NSX_OK : nsx_err_nomem(c->err, NULL);

	options.given = w.list.p;
	options.ngiven = w.list.n;
	if (why) {
		idle.own.keep = NSX_CAT_NAMES;
		why->things.cat = &idle.own;
		why->things.windows = w.list.p;
		why->things.n = w.list.n;
	}
	*causes = set->calls ? calloc(set->list.n + 1, NSX_NCAUSES * sizeof **causes) : NULL;
	if (rc == NSX_OK && set->calls && !*causes)
		rc = nsx_err_nomem(c->err, NULL);
	if (rc == NSX_OK)
		rc = read_all(c, s, in, &idle, why);
	for (size_t i = 0; rc == NSX_OK && i < idle.windows.n; i++) {
		int64_t key = idle.windows.p[i].key;

		if (key >= 0 && (size_t)key < w.of.n
		    && !count_idle(c, &idle.windows.p[i], w.of.p[key], why, *causes))
			rc = nsx_err_nomem(c->err, NULL);
	}
	/* Without calls no cause is known, as the rows say. */
	if (rc == NSX_OK && set->calls)
		rc = nsx_idle_report(&idle);
	nsx_idle_free(&idle);
	nsx_reader_close(in);
	free(w.list.p);
	free(w.of.p);
	return rc;
}
