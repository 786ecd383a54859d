/* load.c -- one side's stream: what the metadata say, and sums of executions by row and device. */
#include <string.h>

#include "table/compare/sides.h"
#include "job/diags_of.h"
#include "job/communicates.h"

/* Stands for a number that a record does not have. */
#define ABSENT INT64_MIN

/* ---- metadata */

/* The string's number in *id, NSX_NONE if it is absent; false when out of memory. */
static bool
string_of(struct cmp *c, const struct nsx_rec *rec, int slot, uint32_t *id)
{
	*id = nsx_has(rec, slot) ? nsx_intern(&c->strs, rec->v[slot].s) : (uint32_t)NSX_NONE;
	return *id != NSX_NONE || !nsx_has(rec, slot);
}

/* The program of that index in top; NULL when out of memory. */
static struct cmp_program *
program_at(struct cmp_side *s, uint32_t index)
{
	while (index != NSX_NONE && s->programs.n <= index) {
		const struct nsx_top_program *t = &s->top.programs.p[s->programs.n];
		struct cmp_program p = {
			.number = t->number, .name = NSX_NONE, .key = NSX_NONE, .fingerprint = NSX_NONE, .dumped = NSX_NONE, .run = NSX_NONE, .pair = NSX_NONE
		};

		p.whole = cmp_row_add(s, (struct cmp_row){
			.program = (uint32_t)s->programs.n, .whole = true, .name = NSX_NONE, .stem = NSX_NONE, .opcode = NSX_NONE, .op_name = NSX_NONE, .stack = NSX_NONE
		});
		if (p.whole == NSX_NONE || !nsx_vec_push(&s->programs, p))
			return NULL;
	}
	return index == NSX_NONE ? NULL : &s->programs.p[index];
}

static bool
take_program(struct cmp *c, struct cmp_side *s, const struct nsx_rec *rec)
{
	struct cmp_program *p = program_at(s, nsx_top_program(&s->top, rec));

	if (!p)
		return false;
	p->has_id = nsx_has(rec, NSX_PROGRAM_id);
	p->id = nsx_int(rec, NSX_PROGRAM_id, 0);
	return string_of(c, rec, NSX_PROGRAM_name, &p->name) && string_of(c, rec, NSX_PROGRAM_key, &p->key)
	       && string_of(c, rec, NSX_PROGRAM_fingerprint, &p->fingerprint);
}

/* Of several digests of a kind the first counts. */
static bool
take_alias(struct cmp *c, struct cmp_side *s, const struct nsx_rec *rec)
{
	struct nsx_str digest = nsx_string(rec, NSX_ALIAS_digest);
	struct cmp_program *p;
	uint32_t *to;

	if (!digest.len || !nsx_has(rec, NSX_ALIAS_program))
		return true;
	p = program_at(s, nsx_top_at(&s->top, rec->v[NSX_ALIAS_program].i));
	if (!p)
		return false;
	to = nsx_str_starts(digest, "d:") ? &p->dumped : &p->run;
	return *to != NSX_NONE || string_of(c, rec, NSX_ALIAS_digest, to);
}

static bool
take_stack(struct cmp *c, struct cmp_side *s, const struct nsx_rec *rec)
{
	uint32_t *at = nsx_map_at(&s->stack_of, (struct nsx_key){ (uint64_t)nsx_int(rec, NSX_STACK_stack, ABSENT), 0 });

	return at && string_of(c, rec, NSX_STACK_frames, at);
}

static uint32_t
stack_named(const struct cmp_side *s, const struct nsx_rec *rec, int slot)
{
	return nsx_has(rec, slot) ? nsx_map_get(&s->stack_of, (struct nsx_key){ (uint64_t)rec->v[slot].i, 0 }) : (uint32_t)NSX_NONE;
}

/* The instruction of that number, made if it is new; NULL when out of memory. */
static struct cmp_inst *
inst_at(struct cmp_side *s, int64_t program, int64_t inst)
{
	uint32_t *at = nsx_map_at(&s->inst_of, (struct nsx_key){ (uint64_t)program, (uint64_t)inst });

	if (at && *at == NSX_NONE) {
		struct cmp_inst new = { nsx_top_at(&s->top, program), NSX_NONE, NSX_NONE, NSX_NONE, NSX_NONE, NSX_NONE };

		if (!program_at(s, new.program) || s->insts.n >= NSX_NONE - 1 || !nsx_vec_push(&s->insts, new))
			return NULL;
		*at = (uint32_t)(s->insts.n - 1);
	}
	return at ? &s->insts.p[*at] : NULL;
}

static bool
take_inst(struct cmp *c, struct cmp_side *s, const struct nsx_rec *rec)
{
	struct cmp_inst *i = inst_at(s, nsx_int(rec, NSX_INST_program, ABSENT), nsx_int(rec, NSX_INST_inst, ABSENT));

	if (!i)
		return false;
	i->stack = stack_named(s, rec, NSX_INST_stack);
	return string_of(c, rec, NSX_INST_name, &i->name) && string_of(c, rec, NSX_INST_opcode, &i->opcode)
	       && string_of(c, rec, NSX_INST_op_name, &i->op_name);
}

/* A further place counts where the instruction has none of its own. */
static bool
take_loc(struct cmp *c, struct cmp_side *s, const struct nsx_rec *rec)
{
	struct cmp_inst *i = inst_at(s, nsx_int(rec, NSX_LOC_program, ABSENT), nsx_int(rec, NSX_LOC_inst, ABSENT));

	if (!i)
		return false;
	if (i->stack == NSX_NONE)
		i->stack = stack_named(s, rec, NSX_LOC_stack);
	return i->op_name != NSX_NONE || string_of(c, rec, NSX_LOC_op_name, &i->op_name);
}

static bool
take_device(struct cmp *c, struct cmp_side *s, const struct nsx_rec *rec)
{
	uint32_t model;

	if (!nsx_has(rec, NSX_DEVICE_name))
		return true;
	if (!string_of(c, rec, NSX_DEVICE_name, &model))
		return false;
	for (size_t i = 0; i < s->models.n; i++)
		if (s->models.p[i] == model)
			return true;
	return nsx_vec_push(&s->models, model);
}

/* ---- executions */

/* The row's cell of that device, made if it is new; NULL when out of memory. */
static struct cmp_cell *
cell_at(struct cmp_side *s, uint32_t row, int64_t device)
{
	uint32_t *at = nsx_map_at(&s->cell_of, (struct nsx_key){ row, (uint64_t)device });

	if (at && *at == NSX_NONE) {
		struct cmp_cell new = { .row = row, .device = device, .next = s->rows.p[row].cells };

		if (s->cells.n >= NSX_NONE - 1 || !nsx_vec_push(&s->cells, new))
			return NULL;
		*at = s->rows.p[row].cells = (uint32_t)(s->cells.n - 1);
	}
	return at ? &s->cells.p[*at] : NULL;
}

static bool
take_module(struct cmp_side *s, const struct nsx_rec *rec)
{
	struct cmp_program *p = program_at(s, nsx_top_module(&s->top, rec));
	int64_t dur = nsx_int(rec, NSX_MODULE_dur, -1);
	struct cmp_cell *cell;

	/* nsx_top counted those without. */
	if (!p || dur < 0 || !nsx_has(rec, NSX_MODULE_start))
		return p != NULL;
	cell = cell_at(s, p->whole, nsx_int(rec, NSX_MODULE_device, ABSENT));
	if (!cell)
		return false;
	nsx_stat_add(&cell->stat, dur);
	s->rows.p[cell->row].sum += (nsx_u128)dur;
	return true;
}

static void
close_open(struct cmp_cell *cell, struct cmp_open *o)
{
	if (o->used)
		nsx_stat_add(&cell->stat, o->sum);
	o->used = false;
}

/* Add to the sum of an execution. Two are open: communication of one may start before the last of the execution before has. */
static void
add_time(struct cmp_side *s, struct cmp_cell *cell, int64_t execution, int64_t ns)
{
	struct cmp_open *o = cell->open;

	s->rows.p[cell->row].sum += (nsx_u128)ns;
	for (int i = 0; i < 2; i++)
		if (o[i].used && o[i].execution == execution) {
			o[i].sum = nsx_add_sat(o[i].sum, ns, NULL);
			return;
		}
	if (o[1].used && execution < o[1].execution) {
		s->late++;
		nsx_stat_add(&cell->stat, ns);
		return;
	}
	close_open(cell, &o[1]);
	if (o[0].used && execution < o[0].execution) {
		o[1] = (struct cmp_open){ execution, ns, true };
		return;
	}
	o[1] = o[0];
	o[0] = (struct cmp_open){ execution, ns, true };
}

static bool
take_thunk(struct cmp *c, struct cmp_side *s, const struct nsx_rec *rec)
{
	struct cmp_inst *i = inst_at(s, nsx_int(rec, NSX_THUNK_program, ABSENT), nsx_int(rec, NSX_THUNK_inst, ABSENT));
	struct cmp_cell *cell;
	int64_t dur, hidden;

	if (!i)
		return false;
	if (!nsx_top_thunk(&s->top, rec, nsx_cat_communicates(&s->top.cat, rec), &dur, &hidden) || c->options.by == NSX_COMPARE_MODULE)
		return true;
	if (i->name == NSX_NONE && !string_of(c, rec, NSX_THUNK_name, &i->name))
		return false;
	if (i->row == NSX_NONE)
		i->row = cmp_row_of(c, s, (uint32_t)(i - s->insts.p));
	if (i->row == NSX_NONE)
		return false;
	cell = cell_at(s, i->row, nsx_int(rec, NSX_THUNK_device, ABSENT));
	if (cell)
		add_time(s, cell, nsx_int(rec, NSX_THUNK_execution, -1), c->options.exposed ? dur - hidden : dur);
	return cell != NULL;
}

/* ---- the end of the stream */

/* How often each device executed each program: its modules, or, where there are fewer, what its thunks say. */
static bool
count_executions(struct cmp_side *s)
{
	size_t n = s->cells.n;

	for (size_t i = 0; i < n; i++) {
		struct cmp_cell *cell = &s->cells.p[i], *whole;

		close_open(cell, &cell->open[1]);
		close_open(cell, &cell->open[0]);
		whole = cell_at(s, s->programs.p[s->rows.p[cell->row].program].whole, cell->device);
		if (!whole)
			return false;
		cell = &s->cells.p[i];
		if (cell->stat.n > whole->execs)
			whole->execs = cell->stat.n;
	}
	return true;
}

/* An execution in which a row took part nowhere took it no time. */
static bool
finish(struct cmp *c, struct cmp_side *s)
{
	if (!count_executions(s))
		return false;
	for (size_t i = 0; i < s->cells.n; i++) {
		struct cmp_cell *cell = &s->cells.p[i];
		struct cmp_row *r = &s->rows.p[cell->row];
		struct cmp_program *p = &s->programs.p[r->program];

		if (r->whole) {
			uint32_t *at = nsx_map_at(&s->devices, (struct nsx_key){ (uint64_t)cell->device, 0 });

			if (!at)
				return false;
			*at = 1;
			p->execs += cell->execs;
			p->devices++;
			continue;
		}
		/* A cell whose program's modules come later in the list is no matter: theirs are counted already. */
		struct cmp_cell *whole = &s->cells.p[nsx_map_get(&s->cell_of, (struct nsx_key){ p->whole, (uint64_t)cell->device })];
		cell->stat.n = whole->execs;
	}
	for (size_t i = 0; i < s->rows.n; i++) {
		const struct cmp_row *r = &s->rows.p[i];

		if (!cmp_counts(c, r))
			continue;
		s->programs.p[r->program].time += r->sum;
		s->time += r->sum;
	}
	return true;
}

static bool
take(struct cmp *c, struct cmp_side *s, const struct nsx_rec *rec)
{
	switch (rec->kind->id) {
	case NSX_DEVICE:  return take_device(c, s, rec);
	case NSX_PROGRAM: return take_program(c, s, rec);
	case NSX_ALIAS:   return take_alias(c, s, rec);
	case NSX_STACK:   return take_stack(c, s, rec);
	case NSX_INST:    return take_inst(c, s, rec);
	case NSX_LOC:     return take_loc(c, s, rec);
	case NSX_MODULE:  return take_module(s, rec);
	case NSX_THUNK:   return take_thunk(c, s, rec);
	default: break;
	}
	if (rec->kind->id == NSX_DIAG) {
		s->diags++;
		s->warm |= nsx_is_diag_of(rec, "nsysx-warmup");
	}
	return true;
}

int
cmp_read(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags)
{
	struct nsx_rec rec;
	int rc;

	while ((rc = nsx_read(s->in, &rec)) == NSX_OK)
		if (nsx_cat_take(&s->top.cat, &rec, c->err) != NSX_OK || !take(c, s, &rec))
			return nsx_err_nomem(c->err, NULL);
	if (rc != NSX_EOF)
		return NSX_ERR;
	if (!finish(c, s))
		return nsx_err_nomem(c->err, NULL);
	nsx_cat_comm_diags(&s->top.cat, s->name, diags);
	nsx_diag_add(diags, NSX_WARNING, s->name, s->top.timeless_thunks, "thunks without a duration: left out");
	nsx_diag_add(diags, NSX_WARNING, s->name, s->top.timeless_modules, "modules without start or duration: left out");
	nsx_diag_add(diags, NSX_WARNING, s->name, s->top.over_hidden, "thunks with hidden time that is no part of their duration: cut to it");
	nsx_diag_add(diags, NSX_WARNING, s->name, s->late, "thunks that start after two later executions on their device have: each counts as an execution");
	if (c->options.exposed && s->top.any_comm && !s->top.any_hidden)
		nsx_diag_add(diags, NSX_WARNING, s->name, 1, "not through nsysx-overlap: communication counts whole");
	return NSX_OK;
}
