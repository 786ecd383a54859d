/* table.c -- GPU time of executions as tables: one by one, summed up, or the operations of each. */
#include <stdlib.h>

#include "table/measure/measure.h"
#include "base/sort.h"
#include "base/stat.h"

/* ---- one by one */

#define NSX_ROW struct nsx_span_sum
static const struct nsx_sum_col execution_cols[] = {
	NSX_COL("id", ID, id), NSX_COL("name", STRING, name), NSX_COL("execution", ID, key.execution),
	NSX_COL("device", ID, key.device), NSX_COL("kernels", NS, kernels), NSX_COL("events", NS, events),
	NSX_COL("ops", INT, ops), NSX_COL("number", INT, number)   /* for ties */
};
static const char rank[] = "name execution device events kernels";

#define SPANS \
	NSX_ROWS(execution_cols), .key = sizeof(struct nsx_span_key), \
	.shown = "id name execution device kernels events ops", .rank = rank, .adds = "kernels"

/* Ranges of one name are one group, for any ids. */
const struct nsx_sum_def nsx_span_rows[2] = {
	{ SPANS, .order = "name id device execution number" }, { SPANS, .order = "name device execution number" }
};

/* ---- summed up */

struct stats_row { int64_t id, device; uint32_t name; const char *measure; struct nsx_stat of; struct nsx_samples v; };

#undef NSX_ROW
#define NSX_ROW struct stats_row
static const struct nsx_sum_col stats_cols[] = {
	NSX_COL("id", ID, id), NSX_COL("name", STRING, name), NSX_COL("device", ID, device),
	NSX_COL("measure", STRING, measure), NSX_COL("count", INT, of.n), NSX_COL_MEAN("mean", MEAN_NS, of),
	NSX_COL_STAT("std", MEAN_NS, STD, of), NSX_COL_STAT("min", NS, MIN, of),
	NSX_COL_PERCENTILE("median", v, 50), NSX_COL_PERCENTILE("p90", v, 90), NSX_COL_PERCENTILE("p99", v, 99),
};
static const struct nsx_sum_def stats = {
	NSX_ROWS(stats_cols), .rank = "name device measure count mean median p90 p99"
};

static const struct nsx_span_sum *
span(const struct nsx_spans *s, size_t i)
{
	return nsx_sums_at(&s->rows, i);
}

/* A row of n values, which this sorts. */
static int
put_stats(const struct nsx_sums *sums, struct nsx_table *t, struct stats_row r, int64_t *v, size_t n,
          struct nsx_err *err)
{
	qsort(v, n, sizeof *v, nsx_sort_by_int);
	for (size_t i = 0; i < n; i++)
		nsx_stat_add(&r.of, v[i]);
	r.v = (struct nsx_samples){ v, n };
	return nsx_sums_put(sums, t, &r, err);
}

/* The spans are sorted. */
static int
put_all_stats(const struct nsx_spans *s, const struct nsx_sums *sums, struct nsx_table *t)
{
	size_t n = nsx_sums_count(&s->rows);
	int64_t *v = malloc((n + 1) * sizeof *v);
	bool few = false;
	int rc = v ? NSX_OK : nsx_err_nomem(s->err, NULL);

	for (size_t from = 0, to; rc == NSX_OK && from < n; from = to) {
		const struct nsx_span_sum *x = span(s, from);
		struct stats_row r = { .id = s->options->module ? x->id : NSX_ABSENT, .name = x->name,
		                       .device = x->key.device, .measure = "kernels" };

		for (to = from + 1; to < n && span(s, to)->name == x->name && span(s, to)->key.device == x->key.device
		     && (s->options->range || span(s, to)->id == x->id); to++)
			;
		few |= to - from < 100;
		for (size_t i = from; i < to; i++)
			v[i - from] = span(s, i)->kernels;
		rc = put_stats(sums, t, r, v, to - from, s->err);
		for (size_t i = from; i < to; i++)
			v[i - from] = span(s, i)->events;
		r.measure = "events";
		if (rc == NSX_OK)
			rc = put_stats(sums, t, r, v, to - from, s->err);
	}
	if (few)
		nsx_table_note(t, "p99 of fewer than 100 executions is the largest");
	free(v);
	return rc;
}

/* ---- the operations of each span, which are in the order of the stream: by start */

struct list_row { int64_t id, execution, device, start, dur; uint32_t name, type, kernel; };

#undef NSX_ROW
#define NSX_ROW struct list_row
static const struct nsx_sum_col list_cols[] = {
	NSX_COL("id", ID, id), NSX_COL("name", STRING, name), NSX_COL("execution", ID, execution),
	NSX_COL("device", ID, device), NSX_COL("type", STRING, type), NSX_COL("kernel", STRING, kernel),
	NSX_COL("start", TIME, start), NSX_COL("dur", NS, dur),
};
static const struct nsx_sum_def list = {
	NSX_ROWS(list_cols), .rank = "kernel dur execution device start", .adds = "dur"
};

static int
put_list(const struct nsx_spans *s, const struct nsx_sums *sums, struct nsx_table *t)
{
	/* Counting sort: the first operation of each span. */
	size_t *first = calloc(s->all + 2, sizeof *first);
	uint32_t *order = malloc((s->ops.n + 1) * sizeof *order);
	int rc = first && order ? NSX_OK : nsx_err_nomem(s->err, NULL);

	for (size_t i = 0; rc == NSX_OK && i < s->ops.n; i++)
		first[s->ops.p[i].span + 2]++;
	for (size_t i = 2; rc == NSX_OK && i < s->all + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; rc == NSX_OK && i < s->ops.n; i++)
		order[first[s->ops.p[i].span + 1]++] = (uint32_t)i;
	for (size_t i = 0; rc == NSX_OK && i < nsx_sums_count(&s->rows); i++) {
		const struct nsx_span_sum *x = span(s, i);

		for (size_t k = first[x->number]; rc == NSX_OK && k < first[x->number + 1]; k++) {
			const struct nsx_span_op *op = &s->ops.p[order[k]];

			rc = nsx_sums_put(sums, t, &(struct list_row){ x->id, x->key.execution, x->key.device,
				op->start, op->dur, x->name, op->type, op->name }, s->err);
		}
	}
	free(first);
	free(order);
	return rc;
}

static bool
is_shown(void *spans, const void *row)
{
	return ((const struct nsx_span_sum *)row)->key.execution >= ((const struct nsx_spans *)spans)->options->skip;
}

/* The requested table; NULL with s->err filled. */
static struct nsx_table *
make_table(struct nsx_spans *s)
{
	bool summed = s->options->what == NSX_MEASURE_STATS;
	struct nsx_sums sums = { .def = summed ? &stats : &list, .texts = &s->names };
	struct nsx_table *t;

	nsx_sums_keep(&s->rows, is_shown, s);
	if (s->options->what == NSX_MEASURE_EXECUTIONS)
		return nsx_sums_table(&s->rows, s->err);
	nsx_sums_sort(&s->rows);
	t = nsx_sums_begin(&sums, s->err);
	if (t && (summed ? put_all_stats : put_list)(s, &sums, t) == NSX_OK)
		return t;
	nsx_table_free(t);
	return NULL;
}

/* ---- all of a stream */

static void
report(const struct nsx_spans *s, struct nsx_diags *diags)
{
	const struct nsx_measure_options *o = s->options;
	const char *what = o->module ? "module" : "range", *name = o->module ? o->module : o->range;
	struct nsx_str near = nsx_near_best(&s->near);

	diags->failed |= !s->matching && s->near.failed;
	if (!s->met)
		nsx_diag_add(diags, NSX_WARNING, "", 1, o->module ? "no op records: extract with --ops"
		             : "no op records: extract with --ranges --ops");
	else if (!s->candidates)
		nsx_diag_add(diags, NSX_WARNING, "", 1, o->module
		             ? "no program records: the profile has none of XLA; --range measures NVTX ranges"
		                                                  : "no range records: extract with --ranges --ops");
	else if (!s->matching && near.len)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no %s of the name %s; did you mean %.*s?", what, name,
		             (int)near.len, near.ptr);
	else if (!s->matching)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no %s of the name %s: nsysx-summary --by %s lists those with GPU work", what, name, what);
	else if (!s->whole)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no GPU work in %s %s", what, name);
	if (s->matching)
		nsx_diag_add(diags, NSX_WARNING, "", s->no_range, "operations whose range has no record: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", s->cut,
	             "executions that are not whole, because the recording or --time cuts them: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", s->helper,
	             "operations that helper threads launched during these ranges are not counted; nsysx-steps --step "
	             "counts them");
	nsx_diag_add(diags, NSX_WARNING, "", s->timeless, "operations without a duration: ignored");
}

int
nsx_measure(struct nsx_reader *in, const void *options, struct nsx_table **table, struct nsx_diags *diags,
            struct nsx_err *err)
{
	const struct nsx_measure_options *o = options;
	struct nsx_spans s = { .options = o, .err = err,
	                       .near = { .want = nsx_str_c(o->module ? o->module : o->range) } };
	int rc = nsx_spans_read(&s, in);

	*table = rc == NSX_OK ? make_table(&s) : NULL;
	rc = *table ? NSX_OK : NSX_ERR;
	if (rc == NSX_OK)
		report(&s, diags);
	nsx_spans_free(&s);
	return rc;
}
