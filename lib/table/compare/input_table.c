/* input_table.c -- a side that is a table of nsysx-summary by thunk, module or opcode: its rows with their means and
 * deviations. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "table/compare/sides.h"
#include "base/input.h"
#include "table/summary.h"

/* Columns that are read, of all tables. `STD` may be empty. */
enum { ID, PROGRAM, KEY, NAME, OPCODE, OP_NAME, COUNT, TOTAL, STD, NCOLS };

/* The names of its columns in each table; NULL: not present. The columns of a table show what its rows are. */
static const struct form { int by, summary; const char *col[NCOLS]; } forms[] = {
	{ NSX_COMPARE_THUNK, NSX_SUMMARY_THUNK, { [ID] = "id", [PROGRAM] = "program", [NAME] = "name",
	                                          [OPCODE] = "opcode", [OP_NAME] = "op_name",
	                                          [COUNT] = "count", [TOTAL] = "total", [STD] = "std" } },
	{ NSX_COMPARE_MODULE, NSX_SUMMARY_MODULE, { [ID] = "id", [PROGRAM] = "name", [KEY] = "key", [COUNT] = "execs",
	                                            [TOTAL] = "total", [STD] = "std" } },
	{ NSX_COMPARE_OPCODE, NSX_SUMMARY_OPCODE, { [OPCODE] = "opcode", [TOTAL] = "total" } },
};
enum { NFORMS = sizeof forms / sizeof *forms, HEADER_MAX = 4096 };

struct parse {
	struct cmp        *c;
	struct cmp_side   *s;
	const struct form *form;
	struct cmp_cells   cells;
	struct nsx_map     program_of;  /* (name, id) -> programs */
};

/* ---- the header ---- */

int
nsx_compare_is_table(struct cmp_side *s, int *by)
{
	struct cmp_cells cells = { .n = NCOLS };
	struct nsx_str window, text;

	*by = -1;
	if (nsx_input_peek(nsx_reader_input(s->in), HEADER_MAX, &window) == NSX_ERR)
		return NSX_ERR;
	/* A stream begins with '#', the name of a kind, or bytes that occur in no name. */
	if (!nsx_str_starts(window, "id\t") && !nsx_str_starts(window, "opcode\t") &&
	    !nsx_str_starts(window, "device\t"))
		return NSX_OK;
	if (nsx_compare_is_devices(window))
		*by = NSX_COMPARE_DEVICE;
	for (int i = 0; i < NFORMS && *by < 0; i++) {
		cells.cols = forms[i].col;
		text = window;
		if (nsx_compare_cells_find(&cells, &text))
			*by = forms[i].by;
	}
	return NSX_OK;
}

/* ---- rows ---- */

static int
nomem(const struct parse *p)
{
	return nsx_err_nomem(p->c->err, p->cells.name);
}

/* The number of a string that is escaped as in a stream's text; NSX_NONE when out of memory. */
static uint32_t
keep(struct parse *p, struct nsx_str s)
{
	static const char from[] = "tnr\\", to[] = "\t\n\r\\";
	struct nsx_buf *b = &p->c->text;

	b->len = 0;
	for (size_t i = 0; i < s.len; i++) {
		const char *plain = s.ptr[i] == '\\' && i + 1 < s.len ? strchr(from, s.ptr[i + 1]) : NULL;

		if (plain && *plain) {
			nsx_buf_char(b, to[plain - from]);
			i++;
		} else if (s.ptr[i] == '\\' && i + 3 < s.len && s.ptr[i + 1] == 'x' && nsx_hex(s.ptr[i + 2]) >= 0 &&
		           nsx_hex(s.ptr[i + 3]) >= 0) {
			nsx_buf_char(b, (char)(nsx_hex(s.ptr[i + 2]) << 4 | nsx_hex(s.ptr[i + 3])));
			i += 3;
		} else {
			nsx_buf_char(b, s.ptr[i]);
		}
	}
	return b->failed ? (uint32_t)NSX_NONE : nsx_intern(&p->c->strs, b->len ? nsx_buf_view(b) : NSX_STR(""));
}

static int
wrong(const struct parse *p, int col, const char *want, struct nsx_str got)
{
	return nsx_err_set(p->c->err, "%s:%" PRId64 ": %s: want %s, got \"%.*s\"", p->cells.name, p->cells.line,
	                   p->form->col[col], want, (int)(got.len < 80 ? got.len : 80), got.ptr);
}

/* A row with that time; NSX_NONE when out of memory. Rows of one opcode are merged. */
static uint32_t
add_row(struct parse *p, uint32_t program, const struct nsx_str *cell)
{
	struct cmp_side *s = p->s;
	struct cmp_inst i = { .program = program, .name = NSX_NONE, .opcode = NSX_NONE, .op_name = NSX_NONE,
	                      .stack = NSX_NONE };

	if (p->form->by == NSX_COMPARE_MODULE)
		return s->programs.p[program].whole;
	if (cell[OPCODE].len && (i.opcode = keep(p, cell[OPCODE])) == NSX_NONE)
		return NSX_NONE;
	if (cell[OP_NAME].len && (i.op_name = keep(p, cell[OP_NAME])) == NSX_NONE)
		return NSX_NONE;
	if (p->form->by == NSX_COMPARE_THUNK && (i.name = keep(p, cell[NAME])) == NSX_NONE)
		return NSX_NONE;
	return nsx_compare_row_of(p->c, s, &i);
}

/* A program of that name and id (NSX_ABSENT: it has none), created if it is new; NSX_NONE when out of memory. In tables
 * by opcode all rows belong to one program. */
static uint32_t
program_at(struct parse *p, const struct nsx_str *cell, int64_t id)
{
	struct cmp_side *s = p->s;
	struct cmp_program new = { .number = (int64_t)s->programs.n, .id = id, .fingerprint = NSX_NONE,
	                           .dumped = NSX_NONE,
	                           .run = NSX_NONE, .key = NSX_NONE, .pair = NSX_NONE, .devices = 1 };
	uint32_t *at;

	new.name = keep(p, cell[PROGRAM]);
	at = new.name == NSX_NONE ? NULL : nsx_map_at(&p->program_of, (struct nsx_key){ (uint64_t)new.name,
		(uint64_t)id });
	if (!at)
		return NSX_NONE;
	if (*at != NSX_NONE && p->form->by != NSX_COMPARE_MODULE)
		return *at;
	if (cell[KEY].len) {
		new.key = keep(p, cell[KEY]);
	} else if (id != NSX_ABSENT) {
		struct nsx_str name = cmp_str(p->c, new.name);

		p->c->text.len = 0;
		nsx_buf_str(&p->c->text, name);
		nsx_buf_fmt(&p->c->text, "@%" PRId64, id);
		new.key = p->c->text.failed ? NSX_NONE : nsx_intern(&p->c->strs, nsx_buf_view(&p->c->text));
	}
	if (new.key == NSX_NONE && (cell[KEY].len || id != NSX_ABSENT))
		return NSX_NONE;
	new.whole = nsx_compare_row_add(s, (struct cmp_row){ .program = (uint32_t)s->programs.n, .whole = true,
	                                                     .name = NSX_NONE, .stem = NSX_NONE,
	                                             .opcode = NSX_NONE, .op_name = NSX_NONE, .stack = NSX_NONE });
	if (new.whole == NSX_NONE || !nsx_vec_push(&s->programs, new))
		return NSX_NONE;
	return *at = (uint32_t)s->programs.n - 1;
}

/* The row has run n times. */
static bool
add_time(struct parse *p, uint32_t row, int64_t n, int64_t total, double std)
{
	struct cmp_side *s = p->s;
	struct cmp_program *of = &s->programs.p[s->rows.p[row].program];
	struct cmp_time *t;

	while (s->given.n < s->rows.n)
		if (!nsx_vec_push(&s->given, ((struct cmp_time){ 0 })))
			return false;
	t = &s->given.p[row];
	s->rows.p[row].sum += (nsx_u128)total;
	t->n = n;
	t->sum = s->rows.p[row].sum;
	t->mean = (double)t->sum / (double)n;
	t->known = n > 1 && std >= 0;
	t->error = t->known ? std / sqrt((double)n) : 0;
	t->freedom = n > 2 ? (double)(n - 1) : 1;
	of->execs = n > of->execs ? n : of->execs;
	of->time += (nsx_u128)total;
	s->time += (nsx_u128)total;
	return true;
}

static int
take_row(void *arg, const struct nsx_str *cell)
{
	struct parse *p = arg;
	int64_t id = NSX_ABSENT, n = 1, total;
	double std = -1;
	uint32_t program, row;

	if (cell[ID].len && !nsx_get_int(cell[ID], &id))
		return wrong(p, ID, "a whole number", cell[ID]);
	if (p->cells.at[COUNT] >= 0 && (!nsx_get_int(cell[COUNT], &n) || n < 1))
		return wrong(p, COUNT, "a whole number above 0", cell[COUNT]);
	if (!nsx_get_int(cell[TOTAL], &total) || total < 0)
		return wrong(p, TOTAL, "a whole number that is not negative", cell[TOTAL]);
	if (cell[STD].len && (!nsx_get_double(cell[STD], &std) || !(std >= 0 && std <= 1e300)))
		return wrong(p, STD, "a number that is not negative", cell[STD]);
	program = program_at(p, cell, id);
	row = program == NSX_NONE ? (uint32_t)NSX_NONE : add_row(p, program, cell);
	return row != NSX_NONE && add_time(p, row, n, total, std) ? NSX_OK : nomem(p);
}

/* ---- the whole table ---- */

static int
take_table(void *arg, struct nsx_str text)
{
	struct parse *p = arg;

	if (!nsx_compare_cells_find(&p->cells, &text))
		return nsx_err_set(p->c->err, "%s:1: want the header of a table by %s", p->cells.name,
		                   nsx_compare_name((enum nsx_compare_by)p->form->by));
	if (nsx_compare_cells_each(&p->cells, text, take_row, p) != NSX_OK)
		return NSX_ERR;
	while (p->s->given.n < p->s->rows.n + 1)
		if (!nsx_vec_push(&p->s->given, ((struct cmp_time){ 0 })))
			return nomem(p);
	return NSX_OK;
}

int
nsx_compare_whole_table(struct cmp_side *s, nsx_compare_text_fn *take, void *arg)
{
	struct nsx_str window;
	size_t want = 1 << 16;
	int rc;

	while ((rc = nsx_input_peek(nsx_reader_input(s->in), want, &window)) == NSX_OK)
		want = window.len + window.len / 2 + 1;
	return rc == NSX_EOF ? take(arg, window) : NSX_ERR;
}

int
nsx_compare_sum_up(struct cmp *c, struct cmp_side *s, int by, nsx_compare_text_fn *take, void *arg,
                   struct nsx_diags *diags)
{
	struct nsx_summary_options options = { .by = (enum nsx_summary_by)by, .cover = { 1, 1 } };
	struct nsx_summary sum;
	struct nsx_buf text = { 0 };

	if (nsx_summary(s->in, &options, &sum, diags, c->err) != NSX_OK)
		return NSX_ERR;
	nsx_table_tsv(sum.table, &text);
	nsx_table_free(sum.table);
	s->diags = sum.diags;
	int rc = text.failed ? nsx_err_nomem(c->err, s->name) : take(arg, nsx_buf_view(&text));
	nsx_buf_free(&text);
	return rc;
}

int
nsx_compare_load_table(struct cmp *c, struct cmp_side *s, bool table, struct nsx_diags *diags)
{
	struct parse p = { .c = c, .s = s, .cells = { .err = c->err, .name = nsx_reader_input(s->in)->name,
	                                              .n = NCOLS } };

	for (int i = 0; i < NFORMS; i++)
		if (forms[i].by == (int)c->options.by)
			p.form = &forms[i];
	p.cells.cols = p.form->col;
	s->diags = -1;
	s->summed = !table;
	int rc = table ? nsx_compare_whole_table(s, take_table, &p)
	    : nsx_compare_sum_up(c, s, p.form->summary, take_table, &p, diags);
	nsx_map_free(&p.program_of);
	return rc;
}
