/* history.c -- a row for each of many runs: when it was recorded, its name, and what its steps take; for programs that
 * look for changes in series. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sort.h"
#include "job/catalogue.h"
#include "table/compare/join.h"

#define SECOND INT64_C(1000000000)

/* ---- times */

/* Days from 1970-01-01 to a date of the Gregorian calendar. */
static int64_t
days_to(int64_t year, int64_t month, int64_t day)
{
	/* Years begin in March, so that leap days end them. */
	int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;

	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* n digits at *at, which moves behind them, if their value is from least to most: that; else -1. */
static int64_t
digits(const char **at, int n, int64_t least, int64_t most)
{
	int64_t v = 0;
	int i = 0;

	for (; i < n && nsx_is_digit((*at)[i]); i++)
		v = 10 * v + (*at)[i] - '0';
	if (i < n || v < least || v > most)
		return -1;
	*at += n;
	return v;
}

/* Move behind the character, if it is there. */
static bool
skip(const char **at, const char *any)
{
	bool is = **at && strchr(any, **at);

	*at += is;
	return is;
}

/* The date at the beginning of s, and the time behind it; NSX_ABSENT if there is none. */
static int64_t
date_at(const char *s)
{
	int64_t year = digits(&s, 4, 1970, 2200), month, day, of_day[3] = { 0 };
	static const int most[] = { 23, 59, 59 };
	bool dash = year >= 0 && skip(&s, "-");

	month = year < 0 ? -1 : digits(&s, 2, 1, 12);
	if (month < 0 || (dash && !skip(&s, "-")))
		return NSX_ABSENT;
	day = digits(&s, 2, 1, 31);
	if (day < 0 || nsx_is_digit(*s))
		return NSX_ABSENT;
	if (skip(&s, "T_ -"))
		for (int i = 0; i < 3 && of_day[i] >= 0; i++) {
			of_day[i] = digits(&s, 2, 0, most[i]);
			skip(&s, ":-");
		}
	/* A number of two digits is no time of day. */
	if (of_day[0] < 0 || of_day[1] < 0)
		of_day[0] = of_day[1] = 0;
	if (of_day[2] < 0)
		of_day[2] = 0;
	return (days_to(year, month, day) * 86400 + of_day[0] * 3600 + of_day[1] * 60 + of_day[2]) * SECOND;
}

int64_t
nsx_compare_date_in(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int64_t date = NSX_ABSENT;

	for (const char *s = name; *s && date == NSX_ABSENT; s++)
		if (s == name || !nsx_is_digit(s[-1]))
			date = date_at(s);
	return date;
}

int64_t
nsx_compare_start_of(const struct nsx_catalogue *cat)
{
	int64_t start = NSX_ABSENT;

	for (size_t i = 0; i < cat->profiles.n; i++) {
		int64_t of = cat->profiles.p[i].start_utc;

		if (of != NSX_ABSENT && (start == NSX_ABSENT || of < start))
			start = of;
	}
	return start;
}

/* ---- the table */

/* A run that has steps: when it was, its place among the operands, and its values by column; NAN: none. */
struct of_run { int64_t time; size_t run; NSX_VEC(double) values; };

struct history {
	struct cmp *c;
	const struct nsx_compare_run *runs;
	struct nsx_intern *cols;        /* names of columns, each with its end */
	NSX_VEC(struct of_run) list;
	int64_t twice;                  /* values of classes whose name another one of the run has */
};

/* Add the value of a statistic of the class, by a name of its own. A class that is twice in a run has the values of the
 * first. False when out of memory. */
static bool
add_value(struct history *h, struct of_run *r, struct nsx_str class, struct nsx_str statistic, const char *more,
          double v)
{
	struct nsx_buf *b = &h->c->text;

	b->len = 0;
	nsx_buf_str(b, class);
	nsx_buf_char(b, ':');
	nsx_buf_str(b, statistic);
	nsx_buf_c(b, more);
	nsx_buf_char(b, '\0');
	uint32_t col = b->failed ? (uint32_t)NSX_NONE : nsx_intern(h->cols, nsx_buf_view(b));

	if (col == NSX_NONE || !nsx_vec_reach(&r->values, col, &(double){ NAN }))
		return false;
	if (isnan(r->values.p[col]))
		r->values.p[col] = v;
	else
		h->twice++;
	return true;
}

static bool
add_side(struct history *h, struct of_run *r, const struct cmp_side *s)
{
	bool good = true;

	for (size_t i = 0; i < s->rows.n && good; i++) {
		const struct cmp_row *row = &s->rows.p[i];
		struct nsx_str class = cmp_str(h->c, s->groups.p[row->group].name), name = cmp_str(h->c, row->name);

		if (row->whole || row->device != NSX_ABSENT || !row->time.n)
			continue;
		good = add_value(h, r, class, name, "", row->time.mean);
		/* The period. */
		if (good && row->at == 0)
			good = add_value(h, r, class, name, "_p50", (double)row->time.p50)
			       && add_value(h, r, class, name, "_p99", (double)row->time.p99);
	}
	return good;
}

/* Read a run and add its values. NSX_OK or NSX_ERR. */
static int
add_run(struct history *h, size_t run, unsigned flags, struct nsx_diags *diags)
{
	struct cmp *c = h->c;
	struct cmp_side s = { .name = h->runs[run].name, .in = nsx_reader_open(h->runs[run].path, flags, c->err),
		              .start = NSX_ABSENT };
	struct of_run r = { .run = run };
	int64_t twice = h->twice;
	int by, rc = s.in ? nsx_compare_is_table(s.in, &by) : NSX_ERR;

	if (rc == NSX_OK && by >= 0 && by != NSX_COMPARE_STEP)
		rc = nsx_err_set(c->err, "%s: a table by %s: want one by step", s.name,
		                 nsx_compare_name((enum nsx_compare_by)by));
	if (rc == NSX_OK)
		rc = (by >= 0 ? nsx_compare_read_table : nsx_compare_read_steps)(c, &s, diags);
	r.time = s.start == NSX_ABSENT ? h->runs[run].time : s.start;
	if (rc == NSX_OK && !s.time)
		nsx_diag_add(diags, NSX_WARNING, s.name, 1, "no steps: the run has no row");
	else if (rc == NSX_OK && (!add_side(h, &r, &s) || !nsx_vec_push(&h->list, r)))
		rc = nsx_err_nomem(c->err, NULL);
	if (rc != NSX_OK || !s.time)
		free(r.values.p);
	nsx_diag_add(diags, NSX_WARNING, s.name, h->twice - twice,
	             "values of a class whose name another class of the run has: those of the first are taken");
	nsx_compare_side_free(&s);
	nsx_reader_close(s.in);
	return rc;
}

static void
key_of(const void *run, const void *unused, int64_t key[3])
{
	(void)unused;
	key[0] = ((const struct of_run *)run)->time;
}

/* A time as ISO 8601 has it, in UTC. */
static void
put_time(struct nsx_table *t, int64_t time)
{
	char text[40];
	time_t seconds = (time_t)(time / SECOND);
	struct tm tm;

	if (time != NSX_ABSENT && gmtime_r(&seconds, &tm) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm))
		nsx_table_str(t, 0, nsx_str_c(text));
}

static void
put_runs(const struct history *h, struct nsx_table *t, struct nsx_diags *diags)
{
	int64_t missing = 0;

	for (size_t i = 0; i < h->list.n; i++) {
		const struct of_run *r = &h->list.p[i];

		nsx_table_row(t);
		put_time(t, r->time);
		nsx_table_str(t, 1, nsx_str_c(h->runs[r->run].name));
		for (size_t k = 0; k < h->cols->n; k++) {
			if (k < r->values.n && !isnan(r->values.p[k]))
				nsx_table_double(t, 2 + (int)k, r->values.p[k]);
			else
				missing++;
		}
	}
	nsx_diag_add(diags, NSX_WARNING, "", missing, "values that a run does not have and others do: empty cells");
}

/* The table of all values, in the order of time. NSX_OK or NSX_ERR. */
static int
make_table(struct history *h, struct nsx_history *out, struct nsx_diags *diags)
{
	struct nsx_table_col *cols = malloc((2 + h->cols->n) * sizeof *cols);

	if (cols && nsx_sort_by(h->list.p, h->list.n, sizeof *h->list.p, key_of, NULL)) {
		cols[0] = (struct nsx_table_col){ "time", NSX_CELL_STRING };
		cols[1] = (struct nsx_table_col){ "run", NSX_CELL_STRING };
		for (size_t i = 0; i < h->cols->n; i++)
			cols[2 + i] = (struct nsx_table_col){ nsx_intern_str(h->cols, (uint32_t)i).ptr,
			                                      NSX_CELL_MEAN_NS };
		out->table = nsx_table_new_copy(cols, 2 + (int)h->cols->n);
	}
	if (out->table)
		put_runs(h, out->table, diags);
	free(cols);
	return out->table ? NSX_OK : nsx_err_nomem(h->c->err, NULL);
}

int
nsx_compare_history(const struct nsx_compare_run *runs, size_t n, unsigned flags,
		    const struct nsx_compare_options *options, struct nsx_history *out, struct nsx_diags *diags,
		    struct nsx_err *err)
{
	/* As beside a table, without causes. */
	struct cmp c = { .err = err, .options = *options, .tables = true, .way = nsx_compare_way(NSX_COMPARE_STEP) };
	struct history h = { .c = &c, .runs = runs, .cols = &out->names };
	int rc = NSX_OK;

	c.options.by = NSX_COMPARE_STEP;
	*out = (struct nsx_history){ .table = NULL };
	for (size_t i = 0; i < n && rc == NSX_OK; i++)
		rc = add_run(&h, i, flags, diags);
	if (rc == NSX_OK)
		rc = make_table(&h, out, diags);
	for (size_t i = 0; i < h.list.n; i++)
		free(h.list.p[i].values.p);
	free(h.list.p);
	free(c.repeat);
	nsx_intern_free(&c.strs);
	nsx_buf_free(&c.text);
	return rc;
}

void
nsx_history_free(struct nsx_history *h)
{
	nsx_table_free(h->table);
	nsx_intern_free(&h->names);
}
