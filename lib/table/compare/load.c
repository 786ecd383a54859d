/* load.c -- one side's stream by its programs: metadata, and the time of each row in each execution. */
#include <string.h>

#include "table/compare/join.h"
#include "job/diags_of.h"
#include "job/catalogue.h"

/* The program of that index in the catalogue; NULL when out of memory. */
static struct cmp_group *
program_at(struct cmp_side *s, uint32_t index)
{
	while (index != NSX_NONE && s->groups.n <= index) {
		int64_t number = s->top.cat.programs.p[s->groups.n].number;

		if (nsx_compare_executed_add(s, cmp_group_new(number, NSX_NONE, NSX_NONE)) == NSX_NONE)
			return NULL;
	}
	return index == NSX_NONE ? NULL : &s->groups.p[index];
}

/* ---- metadata */

/* A string of a catalogue as one of cmp.strs; false when out of memory. */
static bool
keep_string(struct cmp *c, const struct nsx_catalogue *cat, uint32_t string, uint32_t *id)
{
	*id = string == NSX_NONE ? (uint32_t)NSX_NONE : nsx_intern(&c->strs, nsx_cat_str(cat, string));
	return *id != NSX_NONE || string == NSX_NONE;
}

bool
nsx_compare_has_model(const struct cmp_side *s, uint32_t model)
{
	for (size_t i = 0; i < s->models.n; i++)
		if (s->models.p[i] == model)
			return true;
	return false;
}

bool
nsx_compare_add_model(struct cmp_side *s, uint32_t model)
{
	return model == NSX_NONE || nsx_compare_has_model(s, model) || nsx_vec_push(&s->models, model);
}

bool
nsx_compare_take_models(struct cmp *c, struct cmp_side *s, const struct nsx_catalogue *cat)
{
	uint32_t model;

	for (size_t i = 0; i < cat->devices.n; i++)
		if (!keep_string(c, cat, cat->devices.p[i].name, &model) || !nsx_compare_add_model(s, model))
			return false;
	return true;
}

/* Programs from the catalogue. If there are several digests of a kind, the first is used. */
static bool
describe_programs(struct cmp *c, struct cmp_side *s)
{
	const struct nsx_catalogue *cat = &s->top.cat;

	for (size_t i = 0; i < s->groups.n; i++) {
		struct cmp_group *g = &s->groups.p[i];
		const struct nsx_cat_program *from = &cat->programs.p[i];

		g->id = from->id;
		if (!keep_string(c, cat, from->name, &g->name) || !keep_string(c, cat, from->key, &g->key)
		    || !keep_string(c, cat, from->fingerprint, &g->fingerprint))
			return false;
	}
	for (size_t i = 0; i < cat->aliases.n; i++) {
		const struct nsx_cat_alias *a = &cat->aliases.p[i];
		struct nsx_str digest = nsx_cat_str(cat, a->digest);
		struct cmp_group *g;
		uint32_t *to;

		if (!digest.len)
			continue;
		g = program_at(s, a->program);
		if (!g)
			return false;
		to = nsx_str_starts(digest, "d:") ? &g->dumped : &g->run;
		if (*to == NSX_NONE && !keep_string(c, cat, a->digest, to))
			return false;
	}
	return true;
}

/* The data of an instruction; if it has no source location of its own, the first of its further ones is used. If it has
 * no name, that of the thunk is used. */
static bool
describe_inst(struct cmp *c, const struct nsx_catalogue *cat, uint32_t inst, const struct nsx_rec *thunk,
              struct cmp_row *i)
{
	const struct nsx_cat_inst *from = &cat->insts.p[inst];
	uint32_t op_name, frames;

	nsx_cat_place(cat, from, &op_name, &frames);
	i->name = NSX_NONE;
	if (from->name == NSX_NONE && nsx_has(thunk, NSX_THUNK_name) &&
	    (i->name = nsx_intern(&c->strs, nsx_string(thunk, NSX_THUNK_name))) == NSX_NONE)
		return false;
	return (from->name == NSX_NONE || keep_string(c, cat, from->name, &i->name)) && keep_string(c, cat,
		from->opcode, &i->opcode)
	       && keep_string(c, cat, op_name, &i->op_name) && keep_string(c, cat, frames, &i->stack)
	       && keep_string(c, cat, from->math, &i->math);
}

/* ---- executions */

/* The device's execution of the program takes so long, in that row of the program; in other rows, as long as these say.
 * False when out of memory. */
static bool
add_time(struct cmp_side *s, struct cmp_group *p, uint32_t row, uint32_t device, int64_t execution, int64_t ns)
{
	int64_t number = s->top.cat.devices.p[device].number;
	bool again = s->rows.p[p->executed].cells != NSX_NONE && p->last_device == number
	             && p->last_execution == execution;

	p->last_device = number;
	p->last_execution = execution;
	return (again || nsx_compare_add(s, p->executed, number, execution, 0))
	       && nsx_compare_add(s, row, number, execution, ns);
}

static bool
take_module(struct cmp_side *s, const struct nsx_rec *rec)
{
	struct cmp_group *p = program_at(s, nsx_top_module(&s->top, rec));
	uint32_t device = nsx_cat_device(&s->top.cat, rec);
	int64_t dur = nsx_int(rec, NSX_MODULE_dur, -1);

	/* Records without them were counted by nsx_top. */
	if (!p || dur < 0 || !nsx_has(rec, NSX_MODULE_start))
		return p != NULL;
	return device != NSX_NONE && add_time(s, p, p->whole, device, nsx_int(rec, NSX_MODULE_execution, -1), dur);
}

/* The row of the instruction, created when it is first executed; NSX_NONE when out of memory. */
static uint32_t
row_at(struct cmp *c, struct cmp_side *s, uint32_t inst, const struct nsx_rec *thunk)
{
	struct cmp_group *p;

	while (s->row_of_inst.n <= inst)
		if (!nsx_vec_push(&s->row_of_inst, NSX_NONE))
			return NSX_NONE;
	if (s->row_of_inst.p[inst] == NSX_NONE) {
		p = program_at(s, nsx_top_program(&s->top, thunk));
		struct cmp_row row = cmp_row_in(p ? (uint32_t)(p - s->groups.p) : 0);

		if (!p || !describe_inst(c, &s->top.cat, inst, thunk, &row))
			return NSX_NONE;
		s->row_of_inst.p[inst] = nsx_compare_row_of(c, s, row);
	}
	return s->row_of_inst.p[inst];
}

static bool
take_thunk(struct cmp *c, struct cmp_side *s, const struct nsx_rec *rec)
{
	uint32_t inst = nsx_cat_inst(&s->top.cat, rec), device = nsx_cat_device(&s->top.cat, rec), row;
	int64_t dur, hidden;
	bool communicates = nsx_cat_communicates(&s->top.cat, rec);

	if (inst == NSX_NONE || device == NSX_NONE)
		return false;
	if (!nsx_top_thunk(&s->top, rec, communicates, &dur, &hidden) ||
	    c->way->whole)
		return true;
	row = row_at(c, s, inst, rec);
	if (row == NSX_NONE)
		return false;
	s->rows.p[row].computes |= !communicates;
	return add_time(s, &s->groups.p[s->rows.p[row].group], row, device, nsx_int(rec, NSX_THUNK_execution, -1),
	                c->options.exposed ? dur - hidden : dur);
}

/* ---- the end of the stream */

void
nsx_compare_take_diag(struct cmp_side *s, const struct nsx_rec *rec)
{
	if (rec->kind->id == NSX_DIAG)
		s->warm |= nsx_is_diag_of(rec, "nsysx-warmup");
}

void
nsx_compare_tell_not_hidden(const struct cmp *c, const struct cmp_side *s, struct nsx_diags *diags)
{
	nsx_diag_add(diags, NSX_WARNING, s->name, c->options.exposed && s->top.any_comm && !s->top.any_hidden,
	             "the stream did not pass nsysx-overlap: communication counts whole");
}

bool
nsx_compare_settle_executions(struct cmp *c, struct cmp_side *s)
{
	if (!nsx_compare_settle_samples(s))
		return false;
	for (size_t i = 0; i < s->groups.n; i++) {
		struct cmp_group *p = &s->groups.p[i];

		p->execs = s->rows.p[p->executed].time.n;
		for (uint32_t at = s->rows.p[p->executed].cells; at != NSX_NONE; at = s->cells.p[at].next)
			p->devices++;
		s->rows.p[p->executed].time = (struct cmp_time){ 0 };
	}
	for (size_t i = 0; i < s->rows.n; i++) {
		const struct cmp_row *r = &s->rows.p[i];

		if (!cmp_counts(c, r))
			continue;
		s->groups.p[r->group].time += r->sum;
		s->time += r->sum;
	}
	return true;
}

static bool
finish(struct cmp *c, struct cmp_side *s)
{
	for (size_t i = 0; i < s->top.cat.insts.n; i++) {
		const struct nsx_cat_inst *inst = &s->top.cat.insts.p[i];

		if (inst->program < s->groups.n && inst->flops > 0)
			s->groups.p[inst->program].flops += (double)inst->flops;
	}
	return describe_programs(c, s) && nsx_compare_take_models(c, s, &s->top.cat)
	       && nsx_compare_settle_executions(c, s);
}

static bool
take(struct cmp *c, struct cmp_side *s, const struct nsx_rec *rec)
{
	switch (rec->kind->id) {
	case NSX_PROGRAM: return program_at(s, nsx_top_program(&s->top, rec)) != NULL;
	case NSX_MODULE:  return take_module(s, rec);
	case NSX_THUNK:   return take_thunk(c, s, rec);
	default: break;
	}
	nsx_compare_take_diag(s, rec);
	return true;
}

struct reading { struct cmp *c; struct cmp_side *s; };

static int
take_record(void *state, const struct nsx_rec *rec)
{
	const struct reading *r = state;

	return nsx_cat_take(&r->s->top.cat, rec, r->c->err) == NSX_OK && take(r->c, r->s, rec) ? NSX_OK
	       : nsx_err_nomem(r->c->err, NULL);
}

int
nsx_compare_read(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags)
{
	struct reading r = { c, s };

	s->top.cat.keep = NSX_CAT_NAMES | NSX_CAT_PLACES | NSX_CAT_ALIASES | NSX_CAT_COSTS;
	nsx_cat_need(&s->top.cat, s->in);
	nsx_reader_need(s->in, NSX_DIAG, NSX_C(DIAG, source));
	nsx_reader_need(s->in, NSX_MODULE, NSX_EVERY);
	nsx_reader_need(s->in, NSX_THUNK, NSX_EVERY);
	if (nsx_read_all(s->in, NULL, take_record, &r, c->err) != NSX_OK)
		return NSX_ERR;
	if (!finish(c, s))
		return nsx_err_nomem(c->err, NULL);
	nsx_cat_comm_diags(&s->top.cat, s->name, diags);
	nsx_diag_add(diags, NSX_WARNING, s->name, s->top.timeless_thunks, "thunks without a duration: ignored");
	nsx_diag_add(diags, NSX_WARNING, s->name, s->top.timeless_modules,
	             "modules without start or duration: ignored");
	nsx_diag_add(diags, NSX_WARNING, s->name, s->top.over_hidden,
	             "thunks whose hidden time exceeds their duration: cut to it");
	nsx_compare_tell_not_hidden(c, s, diags);
	return NSX_OK;
}
