/* by_device.c -- one side by what each device did, as nsysx-summary --by device has it: a table of it, or a stream that
 * is summed up to one. Times are those of the whole run, or, where both sides know them, per execution of a program on
 * the device; there is one of each, so that noise is not known. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/compare/sides.h"
#include "base/input.h"
#include "table/summary.h"

/* Times of a device. The first that the other ones are part of, and are held against, is the one that compares. */
enum stat { SPAN, MODULES, COMPUTE, EXPOSED, COPY, IDLE, HIDDEN, COPY_HIDDEN, NSTATS };
static const struct { const char *name; bool untold; } stats[NSTATS] = {
	[SPAN] = { "span", false }, [MODULES] = { "modules", false }, [COMPUTE] = { "compute", false },
	[EXPOSED] = { "exposed", false }, [COPY] = { "copy", false }, [IDLE] = { "idle", false },
	[HIDDEN] = { "hidden", true }, [COPY_HIDDEN] = { "copy_hidden", true },
};

/* Columns that are read: those of the times, and these. */
enum { DEVICE = NSTATS, EXECS, WINDOW, NFIELDS };
static const char *const fields[NFIELDS] = {
	[DEVICE] = "device", [EXECS] = "execs", [WINDOW] = "window",
};

struct parse {
	struct cmp      *c;
	struct cmp_side *s;
	const char      *name;
	int64_t          line;
	int              at[NFIELDS], ncols;   /* places in a row */
};

bool
nsx_compare_is_devices(struct nsx_str header)
{
	static const char *const names[] = { "device", "execs", "span", "window", "compute", "exposed", "idle" };
	size_t found = 0;

	while (header.len) {
		struct nsx_str f = nsx_compare_field(&header);

		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			found += nsx_str_eq(f, nsx_str_c(names[i]));
	}
	return found == sizeof names / sizeof *names;
}

static void
find_columns(struct parse *p, struct nsx_str header)
{
	for (int i = 0; i < NFIELDS; i++)
		p->at[i] = -1;
	for (p->ncols = 0; header.len; p->ncols++) {
		struct nsx_str f = nsx_compare_field(&header);

		for (int i = 0; i < NFIELDS; i++)
			if (nsx_str_eq(f, nsx_str_c(i < NSTATS ? stats[i].name : fields[i])))
				p->at[i] = p->ncols;
	}
}

/* The device as a program, which its times are rows of. NULL when out of memory. */
static struct cmp_program *
add_device(struct parse *p, int64_t number)
{
	struct cmp_side *s = p->s;
	struct cmp_program new = { .number = number, .id = NSX_ABSENT, .fingerprint = NSX_NONE, .dumped = NSX_NONE,
	                           .run = NSX_NONE, .pair = NSX_NONE, .execs = 1, .devices = 1 };
	uint32_t *known = nsx_map_at(&s->devices, (struct nsx_key){ s->programs.n, 0 });

	p->c->text.len = 0;
	if (number == NSX_ABSENT)
		nsx_buf_c(&p->c->text, "no device");
	else
		nsx_buf_fmt(&p->c->text, "device %" PRId64, number);
	new.name = new.key = p->c->text.failed ? (uint32_t)NSX_NONE : nsx_intern(&p->c->strs,
		nsx_buf_view(&p->c->text));
	new.whole = nsx_compare_row_add(s, (struct cmp_row){ .program = (uint32_t)s->programs.n, .whole = true,
	                                                     .name = NSX_NONE, .stem = NSX_NONE, .opcode = NSX_NONE,
	                                                     .op_name = NSX_NONE, .stack = NSX_NONE });
	if (!known || new.name == NSX_NONE || new.whole == NSX_NONE || !nsx_vec_push(&s->programs, new))
		return NULL;
	*known = 1;
	return &s->programs.p[s->programs.n - 1];
}

/* A device's times, NSX_ABSENT where they are not known. False when out of memory. */
static bool
add_times(struct parse *p, const int64_t v[NFIELDS])
{
	struct cmp_side *s = p->s;
	struct cmp_program *of = add_device(p, v[DEVICE]);
	uint32_t first = (uint32_t)s->rows.n;

	for (int k = 0; of && k < NSTATS; k++) {
		struct cmp_row row = { .program = (uint32_t)(s->programs.n - 1), .number = k, .opcode = NSX_NONE,
		                       .op_name = NSX_NONE, .stack = NSX_NONE, .detail = k != SPAN,
		                       .untold = stats[k].untold };
		struct cmp_time t = { .n = v[k] == NSX_ABSENT ? 0 : 1 };

		row.name = row.stem = nsx_intern(&p->c->strs, nsx_str_c(stats[k].name));
		row.sum = t.n ? (nsx_u128)v[k] : 0;
		t.sum = row.sum;
		t.mean = (double)t.sum;
		if (row.name == NSX_NONE || nsx_compare_row_add(s, row) == NSX_NONE)
			return false;
		s->rows.p[s->rows.n - 1].of = k != SPAN ? first : (uint32_t)NSX_NONE;
		while (s->given.n + 1 < s->rows.n)
			if (!nsx_vec_push(&s->given, ((struct cmp_time){ 0 })))
				return false;
		if (!nsx_vec_push(&s->given, t))
			return false;
	}
	if (!of)
		return false;
	of->time = s->rows.p[first].sum;
	s->time += of->time;
	return nsx_vec_push(&s->execs, v[EXECS] == NSX_ABSENT ? 0 : v[EXECS]);
}

static int
take_row(struct parse *p, struct nsx_str line)
{
	int64_t v[NFIELDS];

	for (int i = 0; i < NFIELDS; i++)
		v[i] = NSX_ABSENT;
	for (int k = 0; k < p->ncols; k++) {
		bool last = !line.len || !memchr(line.ptr, '\t', line.len);
		struct nsx_str f = nsx_compare_field(&line);

		if (last != (k + 1 == p->ncols))
			return nsx_err_set(p->c->err, "%s:%" PRId64 ": want %d columns as in the first line", p->name,
			                   p->line, p->ncols);
		for (int i = 0; i < NFIELDS; i++)
			if (p->at[i] == k && f.len && (!nsx_get_int(f, &v[i]) || (i != DEVICE && v[i] < 0)))
				return nsx_err_set(p->c->err, "%s:%" PRId64
				                   ": column %d: want a whole number that is not "
				                   "negative, got \"%.*s\"", p->name, p->line, k + 1,
				                   (int)(f.len < 80 ? f.len : 80), f.ptr);
	}
	/* Where there are no modules, what operations span. */
	if (v[SPAN] == NSX_ABSENT)
		v[SPAN] = v[WINDOW];
	return add_times(p, v) ? NSX_OK : nsx_err_nomem(p->c->err, p->name);
}

static int
take_table(void *arg, struct nsx_str text)
{
	struct parse *p = arg;

	p->line = 1;
	find_columns(p, nsx_compare_line(&text));
	if (text.len && text.ptr[text.len - 1] != '\n')
		return nsx_err_set(p->c->err, "%s: cut short: the last line has no end", p->name);
	while (text.len) {
		p->line++;
		if (take_row(p, nsx_compare_line(&text)) != NSX_OK)
			return NSX_ERR;
	}
	/* One more than there are rows: a side without any has the times of a table too. */
	return nsx_vec_push(&p->s->given, ((struct cmp_time){ 0 })) ? NSX_OK : nsx_err_nomem(p->c->err, p->name);
}

int
nsx_compare_read_devices(struct cmp *c, struct cmp_side *s, bool table, struct nsx_diags *diags)
{
	struct parse p = { .c = c, .s = s, .name = nsx_reader_input(s->in)->name };
	struct nsx_diags own = { .failed = false };
	int rc;

	s->diags = -1;
	s->each = true;
	rc = table ? nsx_compare_whole_table(s, take_table, &p)
	    : nsx_compare_sum_up(c, s, NSX_SUMMARY_DEVICE, take_table, &p, &own);
	nsx_compare_pass_diags(s, &own, diags);
	return rc;
}

/* Whether all devices that did something executed programs. */
static bool
all_execute(const struct cmp_side *s)
{
	bool any = false;

	for (size_t i = 0; i < s->execs.n; i++) {
		any |= s->execs.p[i] > 0;
		if (!s->execs.p[i] && s->programs.p[i].time)
			return false;
	}
	return any;
}

void
nsx_compare_per_execution(struct cmp *c, struct nsx_diags *diags)
{
	c->per_execution = all_execute(&c->side[0]) && all_execute(&c->side[1]);
	for (int k = 0; k < 2 && c->per_execution; k++)
		for (size_t i = 0; i < c->side[k].rows.n; i++) {
			struct cmp_time *t = &c->side[k].given.p[i];
			int64_t n = c->side[k].execs.p[c->side[k].rows.p[i].program];

			if (t->n && n) {
				t->n = n;
				t->mean = (double)t->sum / (double)n;
			}
		}
	nsx_diag_add(diags, NSX_WARNING, "", !c->per_execution && c->side[0].time && c->side[1].time,
		"not all devices executed programs: times are of whole runs, and runs of different lengths do not "
		"compare");
}

void
nsx_compare_check_devices(struct cmp *c)
{
	const struct cmp_side *b = &c->side[0], *s = &c->side[1];

	for (size_t i = 0; i < b->programs.n && c->tables && !c->unlike[0]; i++) {
		uint32_t pair = b->programs.p[i].pair;
		struct nsx_str name = cmp_str(c, b->programs.p[i].name);

		if (pair != NSX_NONE && b->execs.p[i] != s->execs.p[pair])
			snprintf(c->unlike, sizeof c->unlike, "%.*s has %" PRId64 " executions in BASE, %" PRId64
			         " in NEW, and a table may leave out programs: make it with nsysx-summary --by device "
			         "--cover 1, or compare streams", (int)name.len, name.ptr, b->execs.p[i],
			         s->execs.p[pair]);
	}
}

/* ---- results */

enum { COL_DEVICE, STATISTIC, BASE, NEW, DIFF, PERCENT, VERDICT, BASE_SHARE, NEW_SHARE, BASE_EXECS, NEW_EXECS, NCOLS };

static const struct nsx_table_col cols[NCOLS] = {
	[COL_DEVICE] = { "device", NSX_CELL_INT },
	[STATISTIC]  = { "statistic", NSX_CELL_STRING },
	[BASE]       = { "base", NSX_CELL_MEAN_NS },
	[NEW]        = { "new", NSX_CELL_MEAN_NS },
	[DIFF]       = { "diff", NSX_CELL_MEAN_NS },
	[PERCENT]    = { "percent", NSX_CELL_PERCENT },
	[VERDICT]    = { "verdict", NSX_CELL_STRING },
	[BASE_SHARE] = { "base_share", NSX_CELL_SHARE },
	[NEW_SHARE]  = { "new_share", NSX_CELL_SHARE },
	[BASE_EXECS] = { "base_execs", NSX_CELL_INT },
	[NEW_EXECS]  = { "new_execs", NSX_CELL_INT },
};

static void
put(const struct cmp *c, struct nsx_table *t, const struct cmp_result *r)
{
	const struct cmp_program *p = nsx_compare_program_of(c, r);
	bool both = r->row[0] && r->row[1];

	nsx_table_row(t);
	if (p->number != NSX_ABSENT)
		nsx_table_int(t, COL_DEVICE, p->number);
	nsx_table_str(t, STATISTIC, cmp_str(c, nsx_compare_row_shown(r)->name));
	for (int k = 0; k < 2; k++) {
		const struct cmp_side *s = &c->side[k];
		const struct cmp_row *of = r->row[k];
		int64_t execs = of ? s->execs.p[of->program] : 0;

		if (!of)
			continue;
		if (of->of != NSX_NONE)
			of = &s->rows.p[of->of];
		nsx_table_double(t, BASE + k, r->time[k].mean);
		if (of->sum)
			nsx_table_double(t, BASE_SHARE + k, (double)r->time[k].sum / (double)of->sum);
		if (execs)
			nsx_table_int(t, BASE_EXECS + k, execs);
	}
	nsx_table_double(t, DIFF, r->diff);
	if (both && r->time[0].mean > 0)
		nsx_table_double(t, PERCENT, 100 * r->diff / r->time[0].mean);
	nsx_table_str(t, VERDICT, nsx_str_c(nsx_compare_verdict_name(r->verdict)));
}

struct order { int64_t device; struct cmp_result result; };

static int
order_cmp(const void *pa, const void *pb)
{
	const struct order *a = pa, *b = pb;
	int64_t x = nsx_compare_row_shown(&a->result)->number, y = nsx_compare_row_shown(&b->result)->number;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (x > y) - (x < y);
}

bool
nsx_compare_order_devices(const struct cmp *c, struct cmp_result *r, size_t n)
{
	struct order *o = malloc((n + 1) * sizeof *o);

	for (size_t i = 0; o && i < n; i++)
		o[i] = (struct order){ nsx_compare_program_of(c, &r[i])->number, r[i] };
	if (o && n > 1)
		qsort(o, n, sizeof *o, order_cmp);
	for (size_t i = 0; o && i < n; i++)
		r[i] = o[i].result;
	free(o);
	return o != NULL;
}

int
nsx_compare_print_devices(struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_table **table)
{
	struct nsx_table *t = *table = nsx_table_new(cols, NCOLS);

	nsx_table_rank(t, "device statistic base new percent verdict diff base_share new_share");
	if (!t)
		return nsx_err_nomem(c->err, NULL);
	for (size_t i = 0; i < n; i++)
		if (cmp_shows(c, &r[i]))
			put(c, t, &r[i]);
	return NSX_OK;
}
