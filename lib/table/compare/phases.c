/* phases.c -- one side's stream by phases of training without thunks, as of PyTorch: in each step the time of the
 * operations of each phase, which the ranges around their launch tell (job/scope.h). An operation is in the step, from
 * its start to the next start, in which it starts; a step without any of a phase has a time of 0 of it. */
#include <stdlib.h>

#include "job/hidden.h"
#include "job/scope.h"
#include "job/serving.h"
#include "table/compare/join.h"
#include "table/steps/rows.h"
#include "table/windows.h"

/* A row before it is known whether the job trains, and the place of one of its operations. */
struct placed { uint32_t row; struct nsx_scope_place place; };

struct loaded {
	struct cmp *c;
	struct cmp_side *s;
	struct nsx_catalogue cat;
	struct nsx_stacks tree;
	struct nsx_scopes scopes;
	NSX_VEC(struct nsx_window_given) steps;    /* key: number of the step; label: group */
	NSX_VEC(size_t) from;                      /* by device of the catalogue: where the search of its next is */
	NSX_VEC(struct placed) placed;
	int64_t timeless, over_hidden;
};

/* ---- steps */

/* The group of a class of steps, created if it is new; NSX_NONE when out of memory. */
static uint32_t
group_of(struct cmp *c, struct cmp_side *s, const struct nsx_step_set *set, uint32_t class)
{
	struct cmp_group g = cmp_group_new((int64_t)s->groups.n,
		nsx_intern(&c->strs, nsx_compare_class_name(set, class)),
		nsx_intern(&c->strs, nsx_intern_str(&set->names, class)));

	if (g.key == NSX_NONE || g.name == NSX_NONE)
		return NSX_NONE;
	if (s->groups.n && s->groups.p[s->groups.n - 1].key == g.key)
		return (uint32_t)(s->groups.n - 1);
	return nsx_compare_executed_add(s, g);
}

static bool
keep_steps(struct cmp *c, struct cmp_side *s, const struct nsx_step_set *set, void *state)
{
	struct loaded *l = state;

	for (size_t i = 0; i < set->list.n; i++)
		if (nsx_serving_is_phase(nsx_intern_str(&set->names, set->list.p[i].class))) {
			nsx_err_set(c->err, "%s: steps of a server, whose phases are their classes: --by step",
			            s->name);
			return false;
		}
	/* Steps are listed by class first. */
	for (size_t i = 0; i < set->list.n; i++) {
		const struct nsx_step_of *o = &set->list.p[i];
		int64_t device = set->cat.devices.p[o->device].number;
		uint32_t group = o->kept ? group_of(c, s, set, o->class) : 0;
		struct nsx_window_given step = { device, o->first, o->next, o->number, group };

		if (!o->kept)
			continue;
		if (group == NSX_NONE || !nsx_vec_push(&l->steps, step)
		    || !nsx_compare_add(s, s->groups.p[group].executed, device, o->number, 0)
		    || !nsx_compare_add(s, s->groups.p[group].whole, device, o->number, o->period))
			return false;
		s->groups.p[group].ops += (double)o->ops;
	}
	nsx_window_given_sort(l->steps.p, l->steps.n);
	return true;
}

/* ---- operations */

/* The row of operations of a place in the steps of a group; NSX_NONE when out of memory. */
static uint32_t
row_at(struct loaded *l, uint32_t group, struct nsx_scope_place place)
{
	uint32_t program = place.inst == NSX_NONE ? (uint32_t)NSX_NONE : l->cat.insts.p[place.inst].program;
	uint64_t node = place.phase == NSX_PHASE_OUTSIDE ? place.node : 0;
	uint32_t *at = nsx_map_at(&l->s->row_of, (struct nsx_key){ (uint64_t)group << 8 | place.phase,
		node << 32 | program });

	if (at && *at == NSX_NONE) {
		uint32_t row = nsx_compare_row_add(l->s, cmp_row_in(group));

		if (row == NSX_NONE || !nsx_vec_push(&l->placed, ((struct placed){ row, place })))
			return NSX_NONE;
		*at = row;
	}
	return at ? *at : (uint32_t)NSX_NONE;
}

static int
take_op(struct loaded *l, const struct nsx_rec *op)
{
	int64_t start = nsx_int(op, NSX_OP_start, NSX_ABSENT), dur = nsx_int(op, NSX_OP_dur, -1), hidden;
	uint32_t device = nsx_cat_device(&l->cat, op);
	struct nsx_scope_place place = nsx_scopes_op(&l->scopes, op);
	bool comm = nsx_cat_communicates(&l->cat, op);

	if (place.node == NSX_NONE)
		return NSX_ERR;
	if (device == NSX_NONE || !nsx_vec_reach(&l->from, device, NULL))
		return nsx_err_nomem(l->c->err, NULL);
	l->timeless += dur < 0;
	if (start == NSX_ABSENT || dur < 0)
		return NSX_OK;
	const struct nsx_window_given *step = nsx_window_given_at(l->steps.p, l->steps.n,
		l->cat.devices.p[device].number, start, &l->from.p[device]);

	if (!step || step->start > start)
		return NSX_OK;
	l->s->top.any_comm |= comm;
	l->s->top.any_hidden |= nsx_has(op, NSX_OP_hidden);
	hidden = comm ? nsx_hidden_of(dur, nsx_int(op, NSX_OP_hidden, NSX_ABSENT), &l->over_hidden) : 0;
	uint32_t row = row_at(l, step->label, place);

	if (row == NSX_NONE || !nsx_compare_add(l->s, row, step->device, step->key,
	                                        l->c->options.exposed ? dur - hidden : dur))
		return nsx_err_nomem(l->c->err, NULL);
	l->s->rows.p[row].computes |= !comm;
	return NSX_OK;
}

static int
take(void *state, const struct nsx_rec *rec)
{
	struct loaded *l = state;

	switch (rec->kind->id) {
	case NSX_RANGE: return nsx_scopes_range(&l->scopes, rec);
	case NSX_OP:    return take_op(l, rec);
	default:        return nsx_cat_take(&l->cat, rec, l->c->err);
	}
}

/* It is known whether the job trains: rows have the names of their phases, and those of one phase are one. */
static bool
name_rows(struct loaded *l)
{
	struct cmp_side *s = l->s;
	struct nsx_map named = { 0 };
	bool good = true;

	for (size_t i = 0; i < l->placed.n && good; i++) {
		struct cmp_row *row = &s->rows.p[l->placed.p[i].row];
		enum nsx_phase phase = nsx_scopes_phase(&l->scopes, l->placed.p[i].place);
		uint32_t *at = nsx_map_at(&named, (struct nsx_key){ row->group, phase });

		row->name = row->stem = nsx_intern(&l->c->strs, nsx_str_c(nsx_phase_name(phase)));
		row->number = -1;
		good = at && row->name != NSX_NONE;
		if (good && *at == NSX_NONE)
			*at = l->placed.p[i].row;
		else if (good)
			good = nsx_compare_move(s, l->placed.p[i].row, *at);
	}
	nsx_map_free(&named);
	return good;
}

static int
read_ops(struct loaded *l, struct nsx_reader *in)
{
	struct cmp *c = l->c;
	int rc;

	l->cat.keep = NSX_SCOPES_KEEP;
	l->scopes = (struct nsx_scopes){ .tree = &l->tree, .cat = &l->cat, .err = c->err };
	nsx_cat_need(&l->cat, in);
	nsx_scopes_need(in);
	nsx_reader_need(in, NSX_OP, nsx_field_slots(NSX_OP, NSX_CAT_COMM_ROLES) | NSX_C(OP, device) | NSX_C(OP, start)
	                            | NSX_C(OP, dur) | NSX_C(OP, hidden));
	rc = nsx_read_all(in, NULL, take, l, c->err);
	if (rc == NSX_OK && (!name_rows(l) || !nsx_compare_take_models(c, l->s, &l->cat)
	                     || !nsx_compare_settle_executions(c, l->s)))
		rc = nsx_err_nomem(c->err, NULL);
	return rc;
}

int
nsx_compare_read_phases(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags)
{
	struct loaded l = { .c = c, .s = s };
	struct nsx_reader *in = nsx_compare_find_steps(c, s, keep_steps, &l, true, diags);
	int rc = in ? read_ops(&l, in) : NSX_ERR;

	for (size_t i = 0; i < s->groups.n && rc == NSX_OK; i++)
		s->groups.p[i].ops /= (double)s->groups.p[i].execs;
	nsx_diag_add(diags, NSX_WARNING, s->name, l.timeless, "records without a duration: ignored");
	nsx_diag_add(diags, NSX_WARNING, s->name, l.over_hidden,
	             "operations whose hidden time exceeds their duration: cut to it");
	nsx_diag_add(diags, NSX_WARNING, s->name, l.scopes.lost,
	             "operations whose range is not in the stream: their phase is not known");
	nsx_compare_tell_not_hidden(c, s, diags);
	nsx_reader_close(in);
	nsx_scopes_free(&l.scopes);
	nsx_stacks_free(&l.tree);
	nsx_cat_free(&l.cat);
	free(l.steps.p);
	free(l.from.p);
	free(l.placed.p);
	return rc;
}
