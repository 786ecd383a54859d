/* table.c -- executions as tables: one by one, summed up, or the operations of each. */
#include <stdlib.h>

#include "table/measure/measure.h"
#include "base/num.h"
#include "base/stat.h"

enum { X_ID, X_NAME, X_EXECUTION, X_DEVICE, X_KERNELS, X_EVENTS, X_OPS, X_NCOLS };
enum { S_ID, S_NAME, S_DEVICE, S_MEASURE, S_COUNT, S_MEAN, S_STD, S_MIN, S_MEDIAN, S_P90, S_P99, S_NCOLS };
enum { L_ID, L_NAME, L_EXECUTION, L_DEVICE, L_TYPE, L_KERNEL, L_START, L_DUR, L_NCOLS };

static const struct nsx_table_col execution_cols[X_NCOLS] = {
	[X_ID]        = { "id", NSX_CELL_ID },
	[X_NAME]      = { "name", NSX_CELL_STRING },
	[X_EXECUTION] = { "execution", NSX_CELL_ID },
	[X_DEVICE]    = { "device", NSX_CELL_ID },
	[X_KERNELS]   = { "kernels", NSX_CELL_NS },
	[X_EVENTS]    = { "events", NSX_CELL_NS },
	[X_OPS]       = { "ops", NSX_CELL_INT },
};
static const struct nsx_table_col stats_cols[S_NCOLS] = {
	[S_ID]      = { "id", NSX_CELL_ID },
	[S_NAME]    = { "name", NSX_CELL_STRING },
	[S_DEVICE]  = { "device", NSX_CELL_ID },
	[S_MEASURE] = { "measure", NSX_CELL_STRING },
	[S_COUNT]   = { "count", NSX_CELL_INT },
	[S_MEAN]    = { "mean", NSX_CELL_MEAN_NS },
	[S_STD]     = { "std", NSX_CELL_MEAN_NS },
	[S_MIN]     = { "min", NSX_CELL_NS },
	[S_MEDIAN]  = { "median", NSX_CELL_NS },
	[S_P90]     = { "p90", NSX_CELL_NS },
	[S_P99]     = { "p99", NSX_CELL_NS },
};
static const struct nsx_table_col list_cols[L_NCOLS] = {
	[L_ID]        = { "id", NSX_CELL_ID },
	[L_NAME]      = { "name", NSX_CELL_STRING },
	[L_EXECUTION] = { "execution", NSX_CELL_ID },
	[L_DEVICE]    = { "device", NSX_CELL_ID },
	[L_TYPE]      = { "type", NSX_CELL_STRING },
	[L_KERNEL]    = { "kernel", NSX_CELL_STRING },
	[L_START]     = { "start", NSX_CELL_TIME },
	[L_DUR]       = { "dur", NSX_CELL_NS },
};

/* A span that the table shows, in the order of rows: by name, id of the program, device, execution. */
struct shown { struct nsx_str name; int64_t id, device, execution; uint32_t span; };

static int
compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int
by_row(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;
	int c;

	if ((c = nsx_str_cmp(x->name, y->name)) != 0 || (c = compare(x->id, y->id)) != 0 ||
	    (c = compare(x->device, y->device)) != 0 || (c = compare(x->execution, y->execution)) != 0)
		return c;
	return x->span < y->span ? -1 : 1;
}

static void
put_int(struct nsx_table *t, int col, int64_t v)
{
	if (v != INT64_MIN)
		nsx_table_int(t, col, v);
}

static void
begin_row(struct nsx_table *t, const struct nsx_spans *s, const struct shown *x)
{
	const struct nsx_subject *sub = &s->subjects.p[s->spans.p[x->span].subject];

	nsx_table_row(t);
	put_int(t, X_ID, sub->id);
	nsx_table_str(t, X_NAME, x->name);
	nsx_table_int(t, X_EXECUTION, x->execution);
	put_int(t, X_DEVICE, x->device);
}

/* ---- the forms */

static void
put_executions(struct nsx_table *t, const struct nsx_spans *s, const struct shown *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct nsx_span_of *sp = &s->spans.p[x[i].span];
		begin_row(t, s, &x[i]);
		nsx_table_int(t, X_KERNELS, sp->kernels);
		nsx_table_int(t, X_EVENTS, nsx_sub_sat(sp->end, sp->start, NULL));
		nsx_table_int(t, X_OPS, sp->ops);
	}
}

static int
by_value(const void *a, const void *b)
{
	return compare(*(const int64_t *)a, *(const int64_t *)b);
}

/* A row of n values, which this sorts. */
static void
put_stats(struct nsx_table *t, const struct nsx_spans *s, const struct shown *x, const char *measure, int64_t *v,
          size_t n)
{
	struct nsx_stat stat = { 0 };

	qsort(v, n, sizeof *v, by_value);
	for (size_t i = 0; i < n; i++)
		nsx_stat_add(&stat, v[i]);
	nsx_table_row(t);
	if (s->options->module)
		put_int(t, S_ID, x->id);
	nsx_table_str(t, S_NAME, x->name);
	put_int(t, S_DEVICE, x->device);
	nsx_table_str(t, S_MEASURE, nsx_str_c(measure));
	nsx_table_int(t, S_COUNT, (int64_t)n);
	nsx_table_double(t, S_MEAN, nsx_stat_mean(&stat));
	if (n > 1)
		nsx_table_double(t, S_STD, nsx_stat_std(&stat));
	nsx_table_int(t, S_MIN, v[0]);
	nsx_table_int(t, S_MEDIAN, nsx_percentile(v, n, 50));
	nsx_table_int(t, S_P90, nsx_percentile(v, n, 90));
	nsx_table_int(t, S_P99, nsx_percentile(v, n, 99));
}

static bool
put_all_stats(struct nsx_table *t, const struct nsx_spans *s, const struct shown *x, size_t n)
{
	int64_t *v = malloc((n + 1) * sizeof *v);
	bool few = false;

	for (size_t from = 0, to; v && from < n; from = to) {
		for (to = from + 1; to < n && x[to].id == x[from].id && x[to].device == x[from].device &&
		     nsx_str_eq(x[to].name, x[from].name); to++)
			;
		few |= to - from < 100;
		for (size_t i = from; i < to; i++)
			v[i - from] = s->spans.p[x[i].span].kernels;
		put_stats(t, s, &x[from], "kernels", v, to - from);
		for (size_t i = from; i < to; i++)
			v[i - from] = nsx_sub_sat(s->spans.p[x[i].span].end, s->spans.p[x[i].span].start, NULL);
		put_stats(t, s, &x[from], "events", v, to - from);
	}
	if (few)
		nsx_table_note(t, "p99 of fewer than 100 executions is the largest");
	free(v);
	return v != NULL;
}

/* The operations of each span, which are in the order of the stream: by start. */
static bool
put_list(struct nsx_table *t, const struct nsx_spans *s, const struct shown *x, size_t n)
{
	/* Counting sort: the first operation of each span. */
	size_t *first = calloc(s->spans.n + 2, sizeof *first);
	uint32_t *order = malloc((s->ops.n + 1) * sizeof *order);
	bool good = first && order;

	for (size_t i = 0; good && i < s->ops.n; i++)
		first[s->ops.p[i].span + 2]++;
	for (size_t i = 2; good && i < s->spans.n + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; good && i < s->ops.n; i++)
		order[first[s->ops.p[i].span + 1]++] = (uint32_t)i;
	for (size_t i = 0; good && i < n; i++)
		for (size_t k = first[x[i].span]; k < first[x[i].span + 1]; k++) {
			const struct nsx_span_op *op = &s->ops.p[order[k]];
			begin_row(t, s, &x[i]);
			nsx_table_str(t, L_TYPE, nsx_intern_str(&s->names, op->type));
			nsx_table_str(t, L_KERNEL, nsx_intern_str(&s->names, op->name));
			nsx_table_int(t, L_START, op->start);
			nsx_table_int(t, L_DUR, op->dur);
		}
	free(first);
	free(order);
	return good;
}

/* The spans to show, sorted; NULL when out of memory. */
static struct shown *
select_spans(const struct nsx_spans *s, size_t *n)
{
	struct shown *x = malloc((s->spans.n + 1) * sizeof *x);

	*n = 0;
	for (size_t i = 0; x && i < s->spans.n; i++) {
		const struct nsx_span_of *sp = &s->spans.p[i];
		const struct nsx_subject *sub = &s->subjects.p[sp->subject];
		/* Ranges of one name are one group, for any ids. */
		if (sp->execution >= s->options->skip)
			x[(*n)++] = (struct shown){ nsx_intern_str(&s->names, sub->name), s->options->module ? sub->id
			                            : 0, sp->device, sp->execution,
			                            (uint32_t)i };
	}
	if (x)
		qsort(x, *n, sizeof *x, by_row);
	return x;
}

struct nsx_table *
nsx_spans_table(struct nsx_spans *s)
{
	static const struct { const struct nsx_table_col *cols; int n; const char *rank, *adds; } forms[] = {
		[NSX_MEASURE_EXECUTIONS] = { execution_cols, X_NCOLS, "name execution device events kernels", "kernels"
		                             },
		[NSX_MEASURE_STATS]      = { stats_cols, S_NCOLS, "name device measure count mean median p90 p99",
		                             NULL },
		[NSX_MEASURE_LIST]       = { list_cols, L_NCOLS, "kernel dur execution device start", "dur" },
	};
	struct nsx_table *t = nsx_table_new(forms[s->options->what].cols, forms[s->options->what].n);
	size_t n;
	struct shown *x = select_spans(s, &n);
	bool good = t && x;

	nsx_table_rank(t, forms[s->options->what].rank);
	if (forms[s->options->what].adds)
		nsx_table_adds(t, forms[s->options->what].adds);
	if (good)
		switch (s->options->what) {
		case NSX_MEASURE_EXECUTIONS: put_executions(t, s, x, n); break;
		case NSX_MEASURE_STATS:      good = put_all_stats(t, s, x, n); break;
		case NSX_MEASURE_LIST:       good = put_list(t, s, x, n); break;
		}
	free(x);
	if (!good) {
		nsx_table_free(t);
		return NULL;
	}
	return t;
}
