/* table.c -- executions as tables: one by one, summed up, or the operations of each. */
#include <stdlib.h>

#include "table/measure/measure.h"
#include "base/num.h"
#include "base/sort.h"
#include "base/stat.h"

/* ---- one by one */

#define AT(member) offsetof(struct nsx_span_sum, member), 0, NULL

static const struct nsx_sum_col execution_cols[] = {
	{ "id",        NSX_CELL_ID,    NSX_SUM_INT,  AT(id) },
	{ "name",      NSX_CELL_STRING, NSX_SUM_TEXT, AT(name) },
	{ "execution", NSX_CELL_ID,    NSX_SUM_INT,  AT(key.execution) },
	{ "device",    NSX_CELL_ID,    NSX_SUM_INT,  AT(key.device) },
	{ "kernels",   NSX_CELL_NS,     NSX_SUM_INT,  AT(kernels) },
	{ "events",    NSX_CELL_NS,     NSX_SUM_INT,  AT(events) },
	{ "ops",       NSX_CELL_INT,    NSX_SUM_INT,  AT(ops) },
	{ "number",    NSX_CELL_INT,    NSX_SUM_INT,  AT(number) }   /* for ties */
};
static const char rank[] = "name execution device events kernels";

#define SPANS \
	.size = sizeof(struct nsx_span_sum), .key = sizeof(struct nsx_span_key), .cols = execution_cols, \
	.ncols = sizeof execution_cols / sizeof *execution_cols, \
	.shown = "id name execution device kernels events ops", .rank = rank, .adds = "kernels"

/* Ranges of one name are one group, for any ids. */
const struct nsx_sum_def nsx_span_rows[2] = {
	{ SPANS, .order = "name id device execution number" }, { SPANS, .order = "name device execution number" }
};

/* ---- summed up */

enum { S_ID, S_NAME, S_DEVICE, S_MEASURE, S_COUNT, S_MEAN, S_STD, S_MIN, S_MEDIAN, S_P90, S_P99, S_NCOLS };
enum { L_ID, L_NAME, L_EXECUTION, L_DEVICE, L_TYPE, L_KERNEL, L_START, L_DUR, L_NCOLS };

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

static void
put_int(struct nsx_table *t, int col, int64_t v)
{
	if (v != NSX_ABSENT)
		nsx_table_int(t, col, v);
}

static const struct nsx_span_sum *
span(const struct nsx_spans *s, size_t i)
{
	return nsx_sums_at(&s->rows, i);
}

/* A row of n values, which this sorts. */
static void
put_stats(struct nsx_table *t, const struct nsx_spans *s, const struct nsx_span_sum *x, const char *measure, int64_t *v,
          size_t n)
{
	struct nsx_stat stat = { 0 };

	qsort(v, n, sizeof *v, nsx_sort_by_int);
	for (size_t i = 0; i < n; i++)
		nsx_stat_add(&stat, v[i]);
	nsx_table_row(t);
	if (s->options->module)
		put_int(t, S_ID, x->id);
	nsx_table_str(t, S_NAME, nsx_intern_str(&s->names, x->name));
	put_int(t, S_DEVICE, x->key.device);
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

/* The spans are sorted. */
static bool
put_all_stats(struct nsx_table *t, const struct nsx_spans *s)
{
	size_t n = nsx_sums_count(&s->rows);
	int64_t *v = malloc((n + 1) * sizeof *v);
	bool few = false;

	for (size_t from = 0, to; v && from < n; from = to) {
		const struct nsx_span_sum *x = span(s, from);

		for (to = from + 1; to < n && span(s, to)->name == x->name && span(s, to)->key.device == x->key.device
		     && (s->options->range || span(s, to)->id == x->id); to++)
			;
		few |= to - from < 100;
		for (size_t i = from; i < to; i++)
			v[i - from] = span(s, i)->kernels;
		put_stats(t, s, x, "kernels", v, to - from);
		for (size_t i = from; i < to; i++)
			v[i - from] = span(s, i)->events;
		put_stats(t, s, x, "events", v, to - from);
	}
	if (few)
		nsx_table_note(t, "p99 of fewer than 100 executions is the largest");
	free(v);
	return v != NULL;
}

/* ---- the operations of each span, which are in the order of the stream: by start */

static bool
put_list(struct nsx_table *t, const struct nsx_spans *s)
{
	/* Counting sort: the first operation of each span. */
	size_t *first = calloc(s->all + 2, sizeof *first);
	uint32_t *order = malloc((s->ops.n + 1) * sizeof *order);
	bool good = first && order;

	for (size_t i = 0; good && i < s->ops.n; i++)
		first[s->ops.p[i].span + 2]++;
	for (size_t i = 2; good && i < s->all + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; good && i < s->ops.n; i++)
		order[first[s->ops.p[i].span + 1]++] = (uint32_t)i;
	for (size_t i = 0; good && i < nsx_sums_count(&s->rows); i++) {
		const struct nsx_span_sum *x = span(s, i);

		for (size_t k = first[x->number]; k < first[x->number + 1]; k++) {
			const struct nsx_span_op *op = &s->ops.p[order[k]];

			nsx_table_row(t);
			put_int(t, L_ID, x->id);
			nsx_table_str(t, L_NAME, nsx_intern_str(&s->names, x->name));
			nsx_table_int(t, L_EXECUTION, x->key.execution);
			put_int(t, L_DEVICE, x->key.device);
			nsx_table_str(t, L_TYPE, nsx_intern_str(&s->names, op->type));
			nsx_table_str(t, L_KERNEL, nsx_intern_str(&s->names, op->name));
			nsx_table_int(t, L_START, op->start);
			nsx_table_int(t, L_DUR, op->dur);
		}
	}
	free(first);
	free(order);
	return good;
}

static bool
is_shown(void *spans, const void *row)
{
	return ((const struct nsx_span_sum *)row)->key.execution >= ((const struct nsx_spans *)spans)->options->skip;
}

struct nsx_table *
nsx_spans_table(struct nsx_spans *s)
{
	bool stats = s->options->what == NSX_MEASURE_STATS;
	struct nsx_table *t;

	nsx_sums_keep(&s->rows, is_shown, s);
	if (s->options->what == NSX_MEASURE_EXECUTIONS)
		return nsx_sums_table(&s->rows, s->err);
	nsx_sums_sort(&s->rows);
	t = stats ? nsx_table_new(stats_cols, S_NCOLS) : nsx_table_new(list_cols, L_NCOLS);
	nsx_table_rank(t, stats ? "name device measure count mean median p90 p99"
	                        : "kernel dur execution device start");
	if (t && !stats)
		nsx_table_adds(t, "dur");
	if (t && (stats ? put_all_stats(t, s) : put_list(t, s)))
		return t;
	nsx_table_free(t);
	nsx_err_nomem(s->err, NULL);
	return NULL;
}
