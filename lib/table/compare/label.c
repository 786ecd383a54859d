/* label.c -- the row in which an instruction counts, and the data by which rows are matched with the other side. */
#include <string.h>

#include "job/phase.h"
#include "table/compare/join.h"

uint32_t
nsx_compare_row_add(struct cmp_side *s, struct cmp_row row)
{
	row.pair = row.cells = row.of = row.decider = row.inner = row.batch = NSX_NONE;
	if (s->rows.n >= NSX_NONE - 1 || !nsx_vec_push(&s->rows, row))
		return NSX_NONE;
	return (uint32_t)(s->rows.n - 1);
}

uint32_t
nsx_compare_group_add(struct cmp_side *s, struct cmp_group g)
{
	struct cmp_row whole = cmp_row_in((uint32_t)s->groups.n);

	whole.whole = true;
	g.pair = g.executed = NSX_NONE;
	g.whole = nsx_compare_row_add(s, whole);
	return g.whole != NSX_NONE && nsx_vec_push(&s->groups, g) ? (uint32_t)(s->groups.n - 1) : (uint32_t)NSX_NONE;
}

uint32_t
nsx_compare_executed_add(struct cmp_side *s, struct cmp_group g)
{
	uint32_t group = nsx_compare_group_add(s, g), row;
	struct cmp_row executed = cmp_row_in(group);

	executed.detail = true;
	row = group == NSX_NONE ? group : nsx_compare_row_add(s, executed);
	if (row == NSX_NONE)
		return NSX_NONE;
	s->groups.p[group].executed = row;
	return group;
}

bool
nsx_compare_begin_each(struct cmp_side *s)
{
	s->each = true;
	return nsx_compare_group_add(s, cmp_group_new(0, NSX_NONE, NSX_NONE)) != NSX_NONE;
}

/* s without the digits at its end, whose value is *number; -1 if it has none, or too many. */
static struct nsx_str
strip_number(struct nsx_str s, int64_t *number)
{
	size_t n = s.len;

	while (n > 0 && nsx_is_digit(s.ptr[n - 1]))
		n--;
	*number = -1;
	if (n == s.len || !nsx_get_int((struct nsx_str){ s.ptr + n, s.len - n }, number))
		return s;
	s.len = n;
	return s;
}

/* fusion.12: fusion and 12. XLA names the first one fusion. */
static bool
stem_of_name(struct cmp *c, struct cmp_row *row)
{
	struct nsx_str name = cmp_str(c, row->name), stem = strip_number(name, &row->number);

	if (stem.len == name.len || stem.len < 2 || stem.ptr[stem.len - 1] != '.') {
		row->number = -1;
		row->stem = row->name;
		return true;
	}
	stem.len--;
	row->stem = nsx_intern(&c->strs, stem);
	return row->stem != NSX_NONE;
}

/* file:line[:column][function]: without line and column, which change with any edit of the file. */
static bool
stem_of_line(struct cmp *c, struct cmp_row *row)
{
	struct nsx_str s = cmp_str(c, row->name), head = s;
	size_t bracket = s.len;
	int64_t number;

	row->stem = row->name;
	row->number = -1;
	if (s.len && s.ptr[s.len - 1] == ']')
		while (bracket > 0 && s.ptr[bracket - 1] != '[')
			bracket--;
	head.len = s.len && bracket && bracket < s.len ? bracket - 1 : s.len;
	for (int i = 0; i < 2; i++) {
		struct nsx_str shorter = strip_number(head, &number);

		if (shorter.len == head.len || shorter.len < 2 || shorter.ptr[shorter.len - 1] != ':')
			break;
		shorter.len--;
		head = shorter;
		row->number = number;
	}
	if (row->number < 0)
		return true;
	c->text.len = 0;
	nsx_buf_str(&c->text, head);
	if (bracket < s.len && bracket)
		nsx_buf_add(&c->text, s.ptr + bracket - 1, s.len - bracket + 1);
	row->stem = cmp_intern(c);
	return row->stem != NSX_NONE;
}

/* Whether the program has a backward pass; the instructions precede their executions. */
static bool
trains(struct cmp_side *s, uint32_t program)
{
	struct cmp_group *g = &s->groups.p[program];

	for (size_t i = 0; i < s->top.cat.insts.n && !g->examined; i++) {
		const struct nsx_cat_inst *inst = &s->top.cat.insts.p[i];
		struct nsx_str name = nsx_cat_str(&s->top.cat, inst->name);
		uint32_t op_name, frames;

		if (inst->program != program)
			continue;
		nsx_cat_place(&s->top.cat, inst, &op_name, &frames);
		struct nsx_str place = op_name == NSX_NONE ? NSX_STR("") : nsx_cat_str(&s->top.cat, op_name);

		g->trains |= nsx_phase_of_inst(name, place) == NSX_PHASE_BACKWARD;
	}
	g->examined = true;
	return g->trains;
}

static struct nsx_str
label_of(const struct cmp *c, struct cmp_side *s, const struct cmp_row *i)
{
	if (c->way->label == CMP_LABEL_OPCODE)
		return i->opcode == NSX_NONE ? NSX_STR("[no instruction]") : cmp_str(c, i->opcode);
	if (c->way->label == CMP_LABEL_PHASE)
		return nsx_str_c(nsx_phase_name(nsx_phase_settled(nsx_phase_of_inst(cmp_str(c, i->name),
			cmp_str(c, i->op_name)), trains(s, i->group))));
	return nsx_cat_source(cmp_str(c, i->stack), cmp_str(c, i->op_name));
}

/* The row of all instructions of the program that have the label of this one. */
static uint32_t
shared_row(struct cmp *c, struct cmp_side *s, const struct cmp_row *i)
{
	uint32_t label = nsx_intern(&c->strs, label_of(c, s, i));
	uint32_t *at = label == NSX_NONE ? NULL : nsx_map_at(&s->row_of, (struct nsx_key){ i->group, label });
	struct cmp_row row = cmp_row_in(i->group);

	if (!at)
		return NSX_NONE;
	if (*at == NSX_NONE) {
		row.name = row.stem = label;
		row.number = -1;
		if (c->way->label == CMP_LABEL_SOURCE && i->stack != NSX_NONE && !stem_of_line(c, &row))
			return NSX_NONE;
		*at = nsx_compare_row_add(s, row);
	}
	return *at;
}

uint32_t
nsx_compare_row_of(struct cmp *c, struct cmp_side *s, struct cmp_row inst)
{
	if (c->way->label != CMP_LABEL_NONE)
		return shared_row(c, s, &inst);
	return stem_of_name(c, &inst) ? nsx_compare_row_add(s, inst) : NSX_NONE;
}
