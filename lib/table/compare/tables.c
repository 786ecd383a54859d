/* tables.c -- a side that is a table of nsysx-summary by thunk, module, opcode or device: a file, or one that is made
 * of a stream; of both the same rows, with their means and deviations. Or a table of steps, with the times of each. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "table/compare/join.h"
#include "base/escape.h"
#include "base/input.h"
#include "table/summary.h"

/* What a cell of a column must be; CHOICE: the table need not have the column. */
enum want { TEXT, WHOLE, POSITIVE, TIME, STD, MAYBE_TIME, CHOICE };

/* Columns of a table by programs. */
enum { ID, COUNT, TOTAL, DEVIATION, PROGRAM, KEY, NAME, OPCODE, OP_NAME };
enum { MOST_COLS = 12, HEADER_MAX = 4096 };

/* A table: the columns that are read, which show what its rows are, and who takes a row. No name: no such column. */
static bool take_row(struct cmp *c, struct cmp_side *s, const struct cmp_value *v);
static const struct form {
	int by, summary;
	bool (*take)(struct cmp *c, struct cmp_side *s, const struct cmp_value *v);   /* false: out of memory */
	struct { const char *name; enum want want; } col[MOST_COLS];
} forms[] = {
	{ NSX_COMPARE_DEVICE, NSX_SUMMARY_DEVICE, nsx_compare_take_device,
	  { [CMP_SPAN] = { "span", MAYBE_TIME }, [CMP_MODULES] = { "modules", CHOICE },
	    [CMP_COMPUTE] = { "compute", MAYBE_TIME }, [CMP_EXPOSED] = { "exposed", MAYBE_TIME },
	    [CMP_COPY] = { "copy", CHOICE }, [CMP_IDLE] = { "idle", MAYBE_TIME },
	    [CMP_HIDDEN_TIME] = { "hidden", CHOICE }, [CMP_COPY_HIDDEN] = { "copy_hidden", CHOICE },
	    [CMP_DEVICE] = { "device", WHOLE }, [CMP_EXECS] = { "execs", MAYBE_TIME },
	    [CMP_WINDOW] = { "window", MAYBE_TIME } } },
	{ NSX_COMPARE_THUNK, NSX_SUMMARY_THUNK, take_row,
	  { [ID] = { "id", WHOLE }, [COUNT] = { "count", POSITIVE }, [TOTAL] = { "total", TIME },
	    [DEVIATION] = { "std", STD }, [PROGRAM] = { "program", TEXT }, [NAME] = { "name", TEXT },
	    [OPCODE] = { "opcode", TEXT }, [OP_NAME] = { "op_name", TEXT } } },
	{ NSX_COMPARE_MODULE, NSX_SUMMARY_MODULE, take_row,
	  { [ID] = { "id", WHOLE }, [COUNT] = { "execs", POSITIVE }, [TOTAL] = { "total", TIME },
	    [DEVIATION] = { "std", STD }, [PROGRAM] = { "name", TEXT }, [KEY] = { "key", TEXT } } },
	{ NSX_COMPARE_STEP, -1, nsx_compare_take_step,
	  { [CMP_EACH_CLASS] = { "class", TEXT }, [CMP_EACH_DEVICE] = { "device", WHOLE },
	    [CMP_EACH_NUMBER] = { "step", WHOLE }, [CMP_EACH_KEPT] = { "kept", CHOICE },
	    [CMP_EACH_PERIOD] = { "period", MAYBE_TIME }, [CMP_EACH_COMPUTE] = { "compute", MAYBE_TIME },
	    [CMP_EACH_EXPOSED] = { "exposed", MAYBE_TIME }, [CMP_EACH_COPY] = { "copy", MAYBE_TIME },
	    [CMP_EACH_IDLE] = { "idle", MAYBE_TIME }, [CMP_EACH_SPAN] = { "span", TIME } } },
	{ NSX_COMPARE_OPCODE, NSX_SUMMARY_OPCODE, take_row,
	  { [TOTAL] = { "total", TIME }, [OPCODE] = { "opcode", TEXT } } },
};
enum { NFORMS = sizeof forms / sizeof *forms };

struct parse {
	struct cmp        *c;
	struct cmp_side   *s;
	const struct form *form;
	const char        *name;             /* of the input */
	int                at[MOST_COLS];    /* positions of the columns in a row; -1: not present */
	int                ncols;
	int64_t            line;
};

static int
nomem(const struct parse *p)
{
	return nsx_err_nomem(p->c->err, p->name);
}

/* ---- text */

/* What is before the first `end` of *rest, from which both are removed; all of it if there is none. */
static struct nsx_str
take_until(struct nsx_str *rest, char end)
{
	const char *at = rest->len ? memchr(rest->ptr, end, rest->len) : NULL;
	struct nsx_str f = { rest->ptr, at ? (size_t)(at - rest->ptr) : rest->len };

	rest->ptr += f.len + (at != NULL);
	rest->len -= f.len + (at != NULL);
	return f;
}

/* Find the columns in the header at the beginning of *text, which is removed. Whether all are present that must be. */
static bool
find_columns(struct parse *p, struct nsx_str *text)
{
	struct nsx_str header = take_until(text, '\n');
	bool all = true;

	p->line = 1;
	for (int i = 0; i < MOST_COLS; i++)
		p->at[i] = -1;
	for (p->ncols = 0; p->ncols == 0 || header.len; p->ncols++) {
		struct nsx_str name = take_until(&header, '\t');

		for (int i = 0; i < MOST_COLS; i++)
			if (p->form->col[i].name && nsx_str_eq(name, nsx_str_c(p->form->col[i].name)))
				p->at[i] = p->ncols;
	}
	for (int i = 0; i < MOST_COLS; i++)
		all &= !p->form->col[i].name || p->form->col[i].want == CHOICE || p->at[i] >= 0;
	return all;
}

int
nsx_compare_is_table(struct nsx_reader *in, int *by)
{
	struct nsx_str window, text;
	struct parse p = { .s = NULL };

	*by = -1;
	if (nsx_input_peek(nsx_reader_input(in), HEADER_MAX, &window) == NSX_ERR)
		return NSX_ERR;
	/* A stream begins with '#', the name of a kind, or bytes that occur in no name. */
	if (!nsx_str_starts(window, "id\t") && !nsx_str_starts(window, "opcode\t") &&
	    !nsx_str_starts(window, "device\t") && !nsx_str_starts(window, "class\t"))
		return NSX_OK;
	for (int i = 0; i < NFORMS && *by < 0; i++) {
		p.form = &forms[i];
		text = window;
		if (find_columns(&p, &text))
			*by = forms[i].by;
	}
	if (*by < 0 && nsx_str_starts(window, "class\t"))
		return nsx_err_set(nsx_reader_input(in)->err, "%s: a table of steps: want a row for each, as of "
		                   "nsysx-steps --each", nsx_reader_input(in)->name);
	return NSX_OK;
}

/* The number of a string that is escaped as in a stream's text; NSX_NONE when out of memory. */
static uint32_t
keep(struct parse *p, struct nsx_str s)
{
	struct nsx_buf *b = &p->c->text;

	b->len = 0;
	nsx_buf_str(b, s);
	size_t len = b->failed || !s.len ? 0 : nsx_unescape(b->ptr, 0, b->len);

	if (b->failed)
		return NSX_NONE;
	return nsx_intern(&p->c->strs, len == SIZE_MAX ? s : len ? (struct nsx_str){ b->ptr, len } : NSX_STR(""));
}

static int
wrong(const struct parse *p, int col, const char *want, struct nsx_str got)
{
	return nsx_err_set(p->c->err, "%s:%" PRId64 ": %s: want %s, got \"%.*s\"", p->name, p->line,
	                   p->form->col[col].name, want, CMP_CUT(got, 80));
}

/* The cell of a column: NSX_OK or NSX_ERR. */
static int
parse_cell(struct parse *p, int col, struct nsx_str cell, struct cmp_value *v)
{
	static const char no_less[] = "a whole number that is not negative";
	enum want want = p->form->col[col].want;
	bool whole = cell.len && want != TEXT && want != STD && nsx_get_int(cell, &v->i);

	v->has = cell.len > 0;
	switch (want) {
	case TEXT:
		v->s = v->has ? keep(p, cell) : (uint32_t)NSX_NONE;
		return v->has && v->s == NSX_NONE ? nomem(p) : NSX_OK;
	case WHOLE:
		return !v->has || whole ? NSX_OK
		    : wrong(p, col, p->form->by == NSX_COMPARE_DEVICE ? no_less : "a whole number", cell);
	case POSITIVE:
		return whole && v->i >= 1 ? NSX_OK : wrong(p, col, "a whole number above 0", cell);
	case TIME:
		return whole && v->i >= 0 ? NSX_OK : wrong(p, col, no_less, cell);
	case STD:
		return !v->has || (nsx_get_double(cell, &v->f) && v->f >= 0 && v->f <= 1e300) ? NSX_OK
		    : wrong(p, col, "a number that is not negative", cell);
	case MAYBE_TIME: case CHOICE: break;
	}
	return !v->has || (whole && v->i >= 0) ? NSX_OK : wrong(p, col, no_less, cell);
}

/* All rows of the text of a table: NSX_OK, or NSX_ERR if it is truncated, or a row or cell is not as it must be. */
static int
read_text(struct parse *p, struct nsx_str text)
{
	find_columns(p, &text);
	if (text.len && text.ptr[text.len - 1] != '\n')
		return nsx_err_set(p->c->err, "%s: cut short: the last line has no end", p->name);
	while (text.len) {
		struct nsx_str row = take_until(&text, '\n');
		struct cmp_value v[MOST_COLS] = { { .has = false } };
		int ncols = 1;

		p->line++;
		for (size_t i = 0; i < row.len; i++)
			ncols += row.ptr[i] == '\t';
		if (ncols != p->ncols)
			return nsx_err_set(p->c->err, "%s:%" PRId64 ": want %d columns as in the first line", p->name,
			                   p->line, p->ncols);
		for (int k = 0; k < ncols; k++) {
			struct nsx_str cell = take_until(&row, '\t');

			for (int i = 0; i < MOST_COLS; i++)
				if (p->at[i] == k && parse_cell(p, i, cell, &v[i]) != NSX_OK)
					return NSX_ERR;
		}
		if (!p->form->take(p->c, p->s, v))
			return nomem(p);
	}
	return NSX_OK;
}

/* ---- rows of programs */

static uint32_t
text_of(const struct cmp_value *v, int col)
{
	return v[col].has ? v[col].s : (uint32_t)NSX_NONE;
}

/* A row with that time; NSX_NONE when out of memory. Rows of one opcode are merged. */
static uint32_t
add_row(struct cmp *c, struct cmp_side *s, uint32_t group, const struct cmp_value *v)
{
	struct cmp_row i = cmp_row_in(group);

	i.opcode = text_of(v, OPCODE);
	i.op_name = text_of(v, OP_NAME);
	i.name = text_of(v, NAME);
	if (c->way->whole)
		return s->groups.p[group].whole;
	if (c->options.by == NSX_COMPARE_THUNK && i.name == NSX_NONE)
		i.name = nsx_intern(&c->strs, NSX_STR(""));
	return nsx_compare_row_of(c, s, i);
}

/* A program of that name and id (absent: it has none), created if it is new; NSX_NONE when out of memory. In tables by
 * opcode all rows belong to one program. */
static uint32_t
program_at(struct cmp *c, struct cmp_side *s, const struct cmp_value *v)
{
	struct cmp_group new = cmp_group_new((int64_t)s->groups.n, v[PROGRAM].has ? v[PROGRAM].s
	                                     : nsx_intern(&c->strs, NSX_STR("")), NSX_NONE);
	uint32_t *at;

	new.devices = 1;
	new.id = v[ID].has ? v[ID].i : NSX_ABSENT;
	at = new.name == NSX_NONE ? NULL : nsx_map_at(&s->program_of, (struct nsx_key){ new.name, (uint64_t)new.id });
	if (!at)
		return NSX_NONE;
	if (*at != NSX_NONE && !c->way->whole)
		return *at;
	if (v[KEY].has) {
		new.key = v[KEY].s;
	} else if (v[ID].has) {
		c->text.len = 0;
		nsx_buf_str(&c->text, cmp_str(c, new.name));
		nsx_buf_fmt(&c->text, "@%" PRId64, new.id);
		new.key = cmp_intern(c);
		if (new.key == NSX_NONE)
			return NSX_NONE;
	}
	return *at = nsx_compare_group_add(s, new);
}

/* The row has run n times. */
static void
add_time(struct cmp_side *s, uint32_t row, int64_t n, int64_t total, double std)
{
	struct cmp_group *of = &s->groups.p[s->rows.p[row].group];
	struct cmp_time *t = &s->rows.p[row].time;

	s->rows.p[row].sum += (nsx_u128)total;
	t->n = n;
	t->sum = s->rows.p[row].sum;
	t->mean = (double)t->sum / (double)n;
	t->variance = n > 1 && std >= 0 ? std * std : -1;
	of->execs = n > of->execs ? n : of->execs;
	of->time += (nsx_u128)total;
	s->time += (nsx_u128)total;
}

static bool
take_row(struct cmp *c, struct cmp_side *s, const struct cmp_value *v)
{
	uint32_t program = program_at(c, s, v);
	uint32_t row = program == NSX_NONE ? (uint32_t)NSX_NONE : add_row(c, s, program, v);

	if (row != NSX_NONE)
		add_time(s, row, v[COUNT].has ? v[COUNT].i : 1, v[TOTAL].i, v[DEVIATION].has ? v[DEVIATION].f : -1);
	return row != NSX_NONE;
}

/* ---- the whole side */

/* All rows of a table of nsx_summary. */
static int
read_summary(struct parse *p, const struct nsx_table *t)
{
	size_t at[MOST_COLS];
	bool good = !nsx_table_failed(t);

	for (int i = 0; i < MOST_COLS; i++)
		at[i] = p->form->col[i].name ? nsx_table_named(t, nsx_str_c(p->form->col[i].name)) : 0;
	for (size_t row = 0; good && row < nsx_table_rows(t); row++) {
		struct cmp_value v[MOST_COLS] = { { .has = false } };

		for (int i = 0; i < MOST_COLS && good; i++) {
			struct nsx_table_cell cell = { .has = false };

			if (p->form->col[i].name)
				cell = nsx_table_get(t, row, at[i]);
			v[i].has = cell.has;
			if (cell.has && p->form->col[i].want == TEXT)
				good = (v[i].s = nsx_intern(&p->c->strs, cell.v.s)) != NSX_NONE;
			else if (cell.has && p->form->col[i].want == STD)
				v[i].f = cell.v.f;
			else if (cell.has)
				v[i].i = cell.v.i;
		}
		good = good && p->form->take(p->c, p->s, v);
	}
	return good ? NSX_OK : nomem(p);
}

static struct parse
begin(struct cmp *c, struct cmp_side *s)
{
	struct parse p = { .c = c, .s = s, .name = nsx_reader_input(s->in)->name };

	for (int i = 0; i < NFORMS; i++)
		if (forms[i].by == (int)c->options.by)
			p.form = &forms[i];
	return p;
}

static int
end(struct parse *p, int rc)
{
	bool steps = p->form->by == NSX_COMPARE_STEP;

	return rc != NSX_OK || !steps || nsx_compare_end_steps(p->s) ? rc : nomem(p);
}

int
nsx_compare_read_table(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags)
{
	struct parse p = begin(c, s);
	struct nsx_str window;
	size_t want = 1 << 16;
	int rc;

	(void)diags;
	while ((rc = nsx_input_peek(nsx_reader_input(s->in), want, &window)) == NSX_OK)
		want = window.len + window.len / 2 + 1;
	return end(&p, rc == NSX_EOF ? read_text(&p, window) : NSX_ERR);
}

int
nsx_compare_sum_up(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags)
{
	struct parse p = begin(c, s);
	struct nsx_summary_options options = { .by = (enum nsx_summary_by)p.form->summary, .cover = { 1, 1 } };
	const struct nsx_summaries_of one = { &options, 1 };
	struct nsx_table *table;

	s->summed = !c->way->devices;
	if (nsx_summaries(s->in, &one, &table, diags, c->err) != NSX_OK)
		return end(&p, NSX_ERR);
	int rc = read_summary(&p, table);

	nsx_table_free(table);
	return end(&p, rc);
}

bool
nsx_compare_settle_tables(struct cmp *c, struct nsx_diags *diags)
{
	bool sums = c->way->label == CMP_LABEL_OPCODE;

	if (!c->tables)
		return true;
	nsx_diag_add(diags, NSX_INFO, "", 1,
		"one side is a table: fingerprints, digests, devices, source lines and hidden time are not known");
	nsx_diag_add(diags, NSX_WARNING, "", c->options.whole && !c->way->whole,
	             "tables have exposed time: --time whole does not apply");
	if (sums && c->options.sigma > 0)
		snprintf(c->unlike, sizeof c->unlike, "a table by opcode does not tell how many executions its sums "
		         "are of: compare streams, or --sigma 0 if the runs are of equal work");
	nsx_diag_add(diags, NSX_WARNING, "", sums,
		"tables by opcode have sums over whole runs: the noise is not known, and runs of different lengths "
		"cannot be compared");
	return true;
}
