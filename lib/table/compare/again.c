/* again.c -- the second reading of a stream whose steps are known: idle time by cause, as in nsysx-idle, and what else
 * filled the steps. */
#include <stdlib.h>

#include "table/compare/join.h"
#include "table/compare/why.h"
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

struct reading {
	struct cmp        *c;
	struct cmp_side   *side;
	struct windows     windows;
	int64_t           *causes;
	struct nsx_things  things;
};

static bool
count(void *state, const struct nsx_filled *f)
{
	const struct reading *r = state;

	if (f->thing == NSX_THING_IDLE && r->causes)
		r->causes[r->windows.of.p[f->key] * NSX_NCAUSES + f->cause] += f->ns;
	return !r->side->why || nsx_compare_why_count(r->side->why, f);
}

/* The name of an instruction's operation. */
static bool
take_kernel(struct reading *r, const struct nsx_rec *op)
{
	struct nsx_catalogue *cat = &r->things.idle.own;
	uint32_t inst = nsx_has(op, NSX_OP_inst) ? nsx_cat_inst(cat, op) : (uint32_t)NSX_NONE;

	if (inst == NSX_NONE || cat->insts.p[inst].name == NSX_NONE)
		return true;
	uint32_t of = nsx_intern(&r->c->strs, nsx_cat_str(cat, cat->insts.p[inst].name)),
	    name = nsx_intern(&r->c->strs, nsx_string(op, NSX_OP_name));

	return of != NSX_NONE && name != NSX_NONE && nsx_compare_why_kernel(r->side->why, of, name);
}

static int
take(void *state, const struct nsx_rec *rec)
{
	struct reading *r = state;
	bool good = rec->kind->id != NSX_OP
	    || ((!r->c->repeat || nsx_compare_take_work(r->c, r->side, nsx_cat_device(&r->things.idle.own, rec), rec,
	                                                NSX_NONE))
	        && (!r->side->why || !r->c->options.renamed || take_kernel(r, rec)));

	return good ? NSX_OK : nsx_err_nomem(r->c->err, NULL);
}

int
nsx_compare_read_again(struct cmp *c, struct cmp_side *s, const struct nsx_step_set *set, struct nsx_spool *again,
                       int64_t **causes, struct nsx_diags *diags)
{
	struct reading r = { .c = c, .side = s };
	struct nsx_reader *in = nsx_spool_reader(again);
	bool good = find_windows(c, set, s->why, &r.windows);

	if (set->calls)
		*causes = r.causes = calloc(set->list.n + 1, NSX_NCAUSES * sizeof *r.causes);
	int rc = !in ? NSX_ERR : good && (r.causes || !set->calls) ? NSX_OK : nsx_err_nomem(c->err, NULL);

	r.things = (struct nsx_things){ .err = c->err, .names = &c->strs, .count = count, .also = take, .state = &r,
	                                .windows = r.windows.list.p, .n = r.windows.list.n, .placed = true,
	                                .causes_only = !s->why };
	if (rc == NSX_OK) {
		nsx_compare_need_work(in);
		rc = nsx_things_read(&r.things, in, diags);
	}
	/* Without calls no cause is known, as the rows say. */
	if (rc == NSX_OK && set->calls)
		rc = nsx_idle_report(&r.things.idle);
	nsx_things_free(&r.things);
	nsx_reader_close(in);
	free(r.windows.list.p);
	free(r.windows.of.p);
	return rc;
}
