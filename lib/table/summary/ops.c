/* ops.c -- a row for each kind of GPU operation, or for each shown name of NVTX ranges, over all profiles. Holds a sum
 * for each. */
#include <stdlib.h>

#include "job/reach.h"
#include "table/summary/ops.h"
#include "table/summary/summary.h"

#define NSX_ROW struct nsx_ops_row
#define TIMES \
	NSX_COL("name", STRING, name), NSX_COL("count", INT, sums.dur.n), NSX_COL("total", NS, sums.dur.sum), \
	NSX_COL_MEAN("mean", MEAN_NS, sums.dur), NSX_COL_STAT("std", MEAN_NS, STD, sums.dur), \
	NSX_COL_STAT("min", NS, MIN, sums.dur), NSX_COL_STAT("max", NS, MAX, sums.dur)

static const struct nsx_sum_col kernel_cols[] = {
	NSX_COL("type", STRING, type), TIMES, NSX_COL_PER("share", SHARE, sums.dur.sum, of_type),
};
/* gpu_helper: with --helpers only. */
static const struct nsx_sum_col range_cols[] = {
	NSX_COL("domain", STRING, type), TIMES,
	NSX_COL("ops", INT, sums.ops), NSX_COL("host_total", NS, sums.host), NSX_COL("gpu_time", NS, gpu),
	NSX_COL("gpu_self", NS, self), NSX_COL_PER("gpu_mean", MEAN_NS, gpu, of), NSX_COL_SHARE("gpu_share", gpu),
	NSX_COL("gpu_helper", NS, helper), NSX_COL("gpu_all", NS, gpu_all),
};
#define ROWS(list) NSX_ROWS(list), .key = sizeof(uint64_t)
/* The one with the most GPU time first, then the longest. Next to their GPU time the times of ranges are their spans,
 * in which the GPU may be idle; and their ops are launches, where those of a step are operations. */
#define RANGES ROWS(range_cols), .order = "-gpu_all -total domain name", .adds = "gpu_self", \
	.heads = { { "total", "span_total" }, { "mean", "span_mean" }, { "std", "span_std" }, { "min", "span_min" }, \
	           { "max", "span_max" }, { "ops", "calls" } }
#define RANGES_SHOWN \
	"domain name count total mean std min max ops host_total gpu_time gpu_self gpu_mean gpu_share"

static const struct nsx_sum_def kernels = {
	ROWS(kernel_cols), .order = "-total type name", .rank = "name type total share count mean max", .adds = "total",
	.heads = { { "share", "of_type" } }
}, ranges = {
	RANGES, .shown = RANGES_SHOWN,
	.rank = "name gpu_time gpu_share count gpu_mean gpu_self total mean max ops host_total"
}, ranges_with_helpers = {
	RANGES, .shown = RANGES_SHOWN " gpu_helper",
	.rank = "name gpu_time gpu_helper gpu_share count gpu_mean gpu_self total mean max ops host_total"
};

/* The share of the time, in percent, from which operations outside of executions are reported. */
enum { OUTSIDE = 5 };

static struct nsx_ops_row *
row(const struct nsx_ops *f, size_t number)
{
	return nsx_sums_at(&f->rows, number);
}

/* Add a range whose operations have all been read. */
static bool
add_gpu_time(void *arg, const struct nsx_range_entry *range)
{
	struct nsx_ops *f = arg;
	struct nsx_ops_row *r = row(f, range->name);
	struct nsx_ops_sums *s = range->worked ? &r->sums : &r->unworked;

	nsx_stat_add(&s->dur, range->values[NSX_OPS_DUR]);
	s->ops += (nsx_u128)range->values[NSX_OPS_OPS];
	s->host += (nsx_u128)range->values[NSX_OPS_HOST];
	r->gpu += range->inner ? 0 : (nsx_u128)range->time;
	r->inner += range->worked && range->inner;
	r->self += (nsx_u128)range->own;
	return true;
}

static void
ops_need(void *state, struct nsx_reader *in)
{
	struct nsx_ops *f = state;

	f->in = in;
	nsx_reach_need(in, NSX_OP);
	if (!f->kernel)
		nsx_reach_need(in, NSX_RANGE);
	if (f->kernel)
		nsx_reader_need(in, NSX_OP, NSX_C(OP, type) | NSX_C(OP, name) | NSX_C(OP, dur)
		                            | NSX_C(OP, execution));
	else
		nsx_reader_need(in, NSX_RANGE, NSX_C(RANGE, domain) | NSX_C(RANGE, name) | NSX_C(RANGE, start)
		                               | NSX_C(RANGE, dur) | NSX_C(RANGE, ops) | NSX_C(RANGE, host_dur));
	if (!f->kernel) {
		nsx_range_book_need(in, true);
		nsx_helpers_need(&f->helpers, in);
		nsx_reader_need(in, NSX_OP, NSX_C(OP, dur));
	}
	if (!f->no_compile)
		return;
	nsx_reader_need(in, NSX_COMPILE, NSX_C(COMPILE, profile) | NSX_C(COMPILE, range));
	nsx_reader_need(in, NSX_RANGE, NSX_C(RANGE, profile) | NSX_C(RANGE, range) | NSX_C(RANGE, parent));
	nsx_reader_need(in, NSX_OP, NSX_C(OP, profile) | NSX_C(OP, range));
}

static void
ops_free(void *state)
{
	struct nsx_ops *f = state;

	nsx_intern_free(&f->strs);
	nsx_buf_free(&f->scratch);
	nsx_map_free(&f->compiling);
	nsx_range_book_free(&f->book);
	nsx_helpers_free(&f->helpers);
	free(f->last.p);
	nsx_text_numbers_free(&f->numbers);
}

/* The number of the row of that type or domain, and name; NSX_NONE when out of memory. */
uint32_t
nsx_ops_row_at(struct nsx_ops *f, struct nsx_str type, struct nsx_str name)
{
	uint32_t t = type.len ? nsx_intern_recall(&f->strs, f->recall, type) : 0;
	uint32_t n = nsx_intern_recall(&f->strs, f->recall, name);

	if (t == NSX_NONE || n == NSX_NONE)
		return NSX_NONE;
	while (f->last.n < f->strs.n)
		if (!nsx_vec_push(&f->last, NSX_NONE))
			return NSX_NONE;
	if (f->last.p[n] == NSX_NONE || row(f, f->last.p[n])->type != t)
		f->last.p[n] = nsx_sums_number(&f->rows, &(uint32_t[2]){ t, n });
	return f->last.p[n];
}

/* Whether the profile's range of that column is one of compilation. */
static bool
compiles(const struct nsx_ops *f, const struct nsx_rec *rec, int profile, int range)
{
	/* Programs compile first: most records are of later ranges. */
	return nsx_has(rec, range) && nsx_int(rec, range, -1) <= f->compiling_last
	       && nsx_map_get(&f->compiling, (struct nsx_key){ (uint64_t)nsx_int(rec, profile, -1),
	                                                       (uint64_t)nsx_int(rec, range, -1) }) != NSX_NONE;
}

static int
note_compiling(struct nsx_ops *f, const struct nsx_rec *rec, int profile, int range)
{
	uint32_t *at = nsx_map_at(&f->compiling, (struct nsx_key){ (uint64_t)nsx_int(rec, profile, -1),
		(uint64_t)nsx_int(rec, range, -1) });

	if (!at)
		return nsx_err_nomem(f->err, NULL);
	*at = 0;
	if (nsx_int(rec, range, -1) > f->compiling_last)
		f->compiling_last = nsx_int(rec, range, -1);
	return NSX_OK;
}

/* Set *out to whether the record belongs to compilation. Records of kind compile come first, and a range before the
 * operations in it. */
static int
sort_out(struct nsx_ops *f, const struct nsx_rec *rec, bool *out)
{
	*out = false;
	if (rec->kind->id == NSX_COMPILE)
		return note_compiling(f, rec, NSX_COMPILE_profile, NSX_COMPILE_range);
	if (rec->kind->id == NSX_OP)
		*out = compiles(f, rec, NSX_OP_profile, NSX_OP_range);
	if (rec->kind->id != NSX_RANGE)
		return NSX_OK;
	*out = compiles(f, rec, NSX_RANGE_profile, NSX_RANGE_range) || compiles(f, rec, NSX_RANGE_profile,
		NSX_RANGE_parent);
	if (*out && !f->kernel && nsx_has(rec, NSX_RANGE_start)) {
		/* Its work is in the stream although it is omitted, so the range around it is treated in the same way
		 * as without that range. */
		struct nsx_range_entry *up = nsx_range_book_find(&f->book, nsx_int(rec, NSX_RANGE_profile, NSX_ABSENT),
			nsx_int(rec, NSX_RANGE_parent, NSX_ABSENT));

		if (up)
			up->worked = true;
	}
	return *out ? note_compiling(f, rec, NSX_RANGE_profile, NSX_RANGE_range) : NSX_OK;
}

/* The row of a range of that domain and name, which is known to the helpers, too; NSX_NONE when out of memory. */
uint32_t
nsx_ops_row_of_range(struct nsx_ops *f, struct nsx_str domain, struct nsx_str name)
{
	struct nsx_str shown = nsx_name(f->names, domain, name, &f->scratch);

	return f->scratch.failed ? (uint32_t)NSX_NONE : nsx_ops_row_at(f, domain, shown);
}

/* Add an operation to its row, whose number is given. */
int
nsx_ops_add(struct nsx_ops *f, uint32_t at, int64_t dur, bool placed)
{
	if (at == NSX_NONE)
		return nsx_err_nomem(f->err, NULL);
	nsx_stat_add(&row(f, at)->sums.dur, dur);
	f->all_ops += (nsx_u128)dur;
	if (placed)
		f->placed = true;
	else
		f->outside += (nsx_u128)dur;
	return NSX_OK;
}

static int
take_op(struct nsx_ops *f, const struct nsx_rec *rec)
{
	int64_t dur = nsx_int(rec, NSX_OP_dur, -1);

	f->any = true;
	if (dur < 0) {
		f->timeless++;
		return NSX_OK;
	}
	return nsx_ops_add(f, nsx_ops_row_at(f, nsx_string(rec, NSX_OP_type), nsx_string(rec, NSX_OP_name)), dur,
	              nsx_int(rec, NSX_OP_execution, NSX_ABSENT) != NSX_ABSENT);
}

static int
take_range(struct nsx_ops *f, const struct nsx_rec *rec)
{
	int64_t start = nsx_int(rec, NSX_RANGE_start, NSX_ABSENT), dur = nsx_int(rec, NSX_RANGE_dur, -1);
	bool timed = start != NSX_ABSENT && dur >= 0;

	f->any = true;
	f->no_work += start == NSX_ABSENT;
	f->timeless += start != NSX_ABSENT && dur < 0;
	if (!f->helpers.keep && !timed)
		return NSX_OK;
	uint32_t at = nsx_ops_row_of_range(f, nsx_string(rec, NSX_RANGE_domain), nsx_string(rec, NSX_RANGE_name));
	if (at == NSX_NONE || !nsx_helpers_range(&f->helpers, rec, at))
		return nsx_err_nomem(f->err, NULL);
	return !timed ? NSX_OK : nsx_ops_add_range(f, at, &(struct nsx_ops_range){
		nsx_int(rec, NSX_RANGE_profile, NSX_ABSENT), nsx_int(rec, NSX_RANGE_range, NSX_ABSENT),
		nsx_int(rec, NSX_RANGE_parent, NSX_ABSENT), start, dur, nsx_int(rec, NSX_RANGE_ops, 0),
		nsx_int(rec, NSX_RANGE_host_dur, 0) });
}

/* Note the thread of an operation that was launched in a range for the outermost of those around it: all are on that
 * thread. */
static void
note_thread(struct nsx_ops *f, struct nsx_range_entry *range, uint32_t thread)
{
	while (range && range->mark == NSX_NONE) {
		range->mark = 1;
		if (range->parent == NSX_ABSENT)
			nsx_helpers_outer(&f->helpers, range->name, thread);
		range = nsx_range_book_find(&f->book, range->profile, range->parent);
	}
}

/* The time that an operation adds to the range in which it was launched. start: NSX_ABSENT if it has none; its duration
 * may be below 0: it is unknown. */
int
nsx_ops_add_launched(struct nsx_ops *f, int64_t start, const struct nsx_helper_launch *op)
{
	int64_t dur = op->dur;
	uint32_t thread = NSX_NONE;
	struct nsx_range_entry *range;

	f->any_op = true;
	f->book.now = start == NSX_ABSENT ? f->book.now : start;
	f->linked |= op->range != NSX_ABSENT;
	if (dur < 0)
		f->timeless_ops++;
	else
		f->all_ops += (nsx_u128)dur;
	if (dur >= 0 && !nsx_helpers_op(&f->helpers, op, &thread))
		return nsx_err_nomem(f->err, NULL);
	if (op->range == NSX_ABSENT)
		return NSX_OK;
	range = nsx_range_book_find(&f->book, op->profile, op->range);
	if (!range) {
		f->lost += dur >= 0;
		return NSX_OK;
	}
	if (thread != NSX_NONE)
		note_thread(f, range, thread);
	nsx_range_book_add_time(range, dur < 0 ? 0 : dur);
	return NSX_OK;
}

static int
take_launched(struct nsx_ops *f, const struct nsx_rec *rec)
{
	return nsx_ops_add_launched(f, nsx_int(rec, NSX_OP_start, NSX_ABSENT), &(struct nsx_helper_launch){
		.profile = nsx_int(rec, NSX_OP_profile, NSX_ABSENT), .device = nsx_int(rec, NSX_OP_device, NSX_ABSENT),
		.tid = nsx_int(rec, NSX_OP_tid, NSX_ABSENT), .range = nsx_int(rec, NSX_OP_range, NSX_ABSENT),
		.host_start = f->helpers.keep ? nsx_int(rec, NSX_OP_host_start, NSX_ABSENT) : NSX_ABSENT,
		.dur = nsx_int(rec, NSX_OP_dur, -1)
	});
}

static int
ops_take(void *state, const struct nsx_event *e)
{
	struct nsx_ops *f = state;
	const struct nsx_rec *rec = e->rec;
	bool out = false;

	if ((rec->kind->id == NSX_OP || (rec->kind->id == NSX_RANGE && !f->kernel)) && !nsx_in_reach(rec)) {
		f->any |= f->kernel || rec->kind->id == NSX_RANGE;
		f->any_op |= rec->kind->id == NSX_OP;
		f->beyond++;
		return NSX_OK;
	}
	if (f->no_compile && sort_out(f, rec, &out) != NSX_OK)
		return NSX_ERR;
	if (out) {
		f->any |= rec->kind->id == (f->kernel ? NSX_OP : NSX_RANGE);
		return NSX_OK;
	}
	if (f->kernel && rec->kind->id == NSX_OP)
		return take_op(f, rec);
	if (!f->kernel && rec->kind->id == NSX_RANGE)
		return take_range(f, rec);
	if (!f->kernel && rec->kind->id == NSX_OP)
		return take_launched(f, rec);
	if (!f->kernel && rec->kind->id == NSX_DEVICE && !nsx_helpers_device(&f->helpers, rec))
		return nsx_err_nomem(f->err, NULL);
	return NSX_OK;
}

static int
ops_begin(void *state, const void *given, const struct nsx_analysis_at *at)
{
	const struct nsx_summary_options *options = given;
	struct nsx_ops *f = state;

	if (nsx_intern(&f->strs, NSX_STR("")) == NSX_NONE)
		return nsx_err_nomem(f->err, NULL);
	f->kernel = options->by == NSX_SUMMARY_KERNEL;
	f->no_compile = options->no_compile;
	f->names = options->names;
	f->helpers.keep = !f->kernel && options->helpers;
	f->rows = (struct nsx_sums){ .def = f->kernel ? &kernels : f->helpers.keep ? &ranges_with_helpers : &ranges,
	                             .texts = &f->strs };
	f->book.ops_only = true;
	f->book.past = add_gpu_time;
	f->book.arg = f;
	f->compiling_last = INT64_MIN;
	/* What is omitted, and which threads have helpers, is found record by record. */
	if (f->no_compile || f->helpers.keep)
		return NSX_OK;
	*at->runs = f->kernel ? (struct nsx_run_kinds){ NSX_K(OP), 0, nsx_ops_take_run }
	            : (struct nsx_run_kinds){ NSX_K(OP) | NSX_K(RANGE), NSX_K(RANGE), nsx_ops_take_run };
	return NSX_OK;
}

/* Operations outside of executions of programs are mostly those that autotuning ran. */
static void
tell_outside(const struct nsx_ops *f, struct nsx_table *t, struct nsx_diags *diags)
{
	double share = f->placed && f->all_ops ? 100 * (double)f->outside / (double)f->all_ops : 0;

	if (share < OUTSIDE)
		return;
	nsx_analysis_tell(t, diags, "%.1f%% of the time is spent in operations outside executions of programs, such as "
	                  "those of autotuning", share);
}

static bool
is_shown(void *state, const void *row)
{
	const struct nsx_ops_row *r = row;

	(void)state;
	return r->sums.dur.n || r->helper;
}

/* If the stream has operations of ranges, remove the ranges without operations from all rows, and rows with such ranges
 * only: their time is unknown. Otherwise that holds for every range, and all are included. Returns the number of
 * removed ranges. */
static int64_t
drop_unworked(struct nsx_ops *f)
{
	int64_t n = 0;

	for (size_t i = 0; i < nsx_sums_count(&f->rows); i++) {
		if (f->linked)
			n += row(f, i)->unworked.dur.n;
		else
			row(f, i)->sums = row(f, i)->unworked;
	}
	nsx_sums_keep(&f->rows, is_shown, NULL);
	return n;
}

/* Give every row the time of its helpers. False when out of memory. */
static bool
assign_helpers(struct nsx_ops *f)
{
	size_t n = nsx_sums_count(&f->rows);
	nsx_u128 *helped = calloc(n + 1, sizeof *helped);
	bool good = helped && nsx_helpers_assign(&f->helpers, helped, n);

	for (size_t i = 0; good && i < n; i++)
		row(f, i)->helper = helped[i];
	free(helped);
	return good;
}

/* Complete the rows with what they are compared with. False when out of memory. */
static bool
complete_rows(struct nsx_ops *f)
{
	nsx_u128 *of_type = calloc(f->strs.n, sizeof *of_type);
	size_t n = nsx_sums_count(&f->rows);

	for (size_t i = 0; of_type && i < n; i++)
		of_type[row(f, i)->type] += (nsx_u128)row(f, i)->sums.dur.sum;
	for (size_t i = 0; of_type && i < n; i++) {
		struct nsx_ops_row *r = row(f, i);

		r->of_type = of_type[r->type];
		r->gpu_all = r->gpu + r->helper;
		r->of = f->linked ? r->sums.dur.n - r->inner : 0;
		if (!f->linked)
			r->gpu = r->self = NSX_SUM_NONE;
	}
	f->rows.whole = f->all_ops;
	free(of_type);
	return of_type != NULL;
}

/* Steps that have a row each, by their numbers, hide what else there is: say how they become one. False when out of
 * memory. */
static bool
tell_steps(struct nsx_ops *f, struct nsx_table *t)
{
	struct nsx_intern kinds = { 0 };
	struct nsx_map merged = { 0 };     /* by domain and kind */
	size_t rows = nsx_sums_count(&f->rows), n = 0, into = 0;
	bool good = true;

	for (size_t i = 0; i < rows && good; i++) {
		struct nsx_str name = nsx_intern_str(&f->strs, row(f, i)->name);
		struct nsx_str kind = nsx_name(NSX_NAMES_STEPS, nsx_intern_str(&f->strs, row(f, i)->type), name,
		                               &f->scratch);

		good = !f->scratch.failed;
		if (!good || nsx_str_eq(kind, name))
			continue;
		uint32_t of = nsx_intern(&kinds, kind), number = of == NSX_NONE ? NSX_NONE
			: nsx_map_number(&merged, (struct nsx_key){ row(f, i)->type, of });

		good = number != NSX_NONE;
		into = good && number >= into ? number + 1 : into;
		n++;
	}
	if (good && n > into)
		nsx_table_note(t, "%zu rows are of steps that differ in their numbers: --names=steps makes them %zu", n,
		               into);
	nsx_map_free(&merged);
	nsx_intern_free(&kinds);
	return good;
}

static int
ops_finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct nsx_ops *f = state;
	int64_t lacking = f->kernel ? 0 : nsx_reader_lacking(f->in, NSX_RANGE), unworked = 0;
	int rc = nsx_range_book_end(&f->book, f->err);

	if (rc == NSX_OK && f->helpers.keep && !assign_helpers(f))
		rc = nsx_err_nomem(f->err, NULL);
	if (rc == NSX_OK && !f->kernel)
		unworked = drop_unworked(f);
	f->any |= lacking > 0;
	f->no_work += lacking;
	if (rc == NSX_OK && !complete_rows(f))
		rc = nsx_err_nomem(f->err, NULL);
	if (rc == NSX_OK)
		rc = (*table = nsx_sums_table(&f->rows, f->err)) ? NSX_OK : NSX_ERR;

	bool rows = nsx_sums_count(&f->rows) > 0;

	if (!f->any)
		nsx_diag_add(diags, NSX_WARNING, "", 1, f->kernel ? "no op records: extract with --ops"
		             : "no range records: extract with --ranges");
	if (!f->kernel && f->any && !rows && !unworked)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
			"none of the ranges launched GPU work: put ranges around code that launches it (NVTX, with "
			"nsys --trace=cuda,nvtx; torch.profiler.record_function; jax.profiler.TraceAnnotation) and "
			"extract with --ranges; where another thread launches it, extract with --ranges=all --ops and "
			"add --helpers");
	nsx_diag_add(diags, NSX_WARNING, "", f->timeless, "records without a duration: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", f->beyond, NSX_BEYOND_REACH);
	nsx_diag_add(diags, NSX_INFO, "", f->no_work, "ranges without GPU work: ignored");
	nsx_diag_add(diags, rows ? NSX_INFO : NSX_WARNING, "", unworked,
		"ranges whose operations are not in the stream: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", f->timeless_ops, "operations without a duration: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", f->lost, "operations whose range is not in the stream: not in gpu_time");
	if (rc == NSX_OK && !f->kernel && !f->linked && rows) {
		nsx_diag_add(diags, NSX_INFO, "", 1, "%s: GPU time is not known, ranges are in order of their span%s",
		             f->any_op ? "no operation was launched in a range" : "no op records",
		             f->any_op ? "" : ": extract with --ops");
		nsx_table_note(*table, "in order of total, the span of GPU work; extract with --ops for gpu_time");
	}
	if (rc == NSX_OK && !f->kernel && f->linked && rows
	    && !nsx_helpers_report(&f->helpers, f->all_ops, *table, diags))
		rc = nsx_err_nomem(f->err, NULL);
	if (rc == NSX_OK && !f->kernel && f->names == NSX_NAMES_KEY && !tell_steps(f, *table))
		rc = nsx_err_nomem(f->err, NULL);
	if (rc == NSX_OK && f->kernel)
		tell_outside(f, *table, diags);
	return rc;
}

const struct nsx_analysis nsx_sum_ops = {
	sizeof(struct nsx_ops), 0, NSX_STATED, ops_begin, ops_need, ops_take, ops_finish, ops_free
};
