/* metrics.c -- see metrics.h. A sample is of all that the device did in its interval, so it counts for a kernel only if
 * the kernel ran for at least half of it:
 *
 *   sample [0,100) of 80 %      gemm 0..70   add 70..90     counts for gemm, with 70 ns; of these 70 gemm ran alone
 *   sample [100,200) of 20 %    add 120..130                counts for none
 *
 *   gemm   mean 80, coverage 70 of all ns of gemm, exclusive 1     add   no sample: its metrics are not known
 *
 * Ranges have the operations that were launched in them, steps their time. Values are weighed by the ns in which the
 * interval and the kernel meet. */
#include "table/metrics.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "job/names.h"
#include "job/range_book.h"
#include "table/sums.h"

/* Something that runs: an operation, or a step. */
struct running { int64_t start, end; uint32_t device, name; };

/* A sample whose interval has not passed. */
struct sample { int64_t start, end, value; uint32_t device, metric; };

/* A name: its time, and that in which it ran in intervals of samples that count, by metric at most. */
struct named { uint32_t name; int64_t time; bool sampled; };
static const struct nsx_sum_def of_names = { .size = sizeof(struct named), .key = sizeof(uint32_t) };

struct row {
	uint32_t name, metric;          /* the key; metric NSX_NONE: no sample */
	int64_t  samples, value_max;
	double   weighed, covered, alone;   /* sums over samples: value times ns, ns, ns in which nothing else ran */
	double   mean, coverage, exclusive;
};

#define AT(member) offsetof(struct row, member), 0, NULL
static const struct nsx_sum_col cols[] = {
	{ "name",      NSX_CELL_STRING, NSX_SUM_TEXT, AT(name) },
	{ "metric",    NSX_CELL_STRING, NSX_SUM_TEXT, AT(metric) },
	{ "samples",   NSX_CELL_INT,    NSX_SUM_INT,  AT(samples) },
	{ "mean",      NSX_CELL_DOUBLE, NSX_SUM_REAL, AT(mean) },
	{ "max",       NSX_CELL_INT,    NSX_SUM_INT,  AT(value_max) },
	{ "coverage",  NSX_CELL_SHARE,  NSX_SUM_REAL, AT(coverage) },
	{ "exclusive", NSX_CELL_SHARE,  NSX_SUM_REAL, AT(exclusive) },
	{ "by_time",   NSX_CELL_INT,    NSX_SUM_REAL, AT(covered) },
};
static const struct nsx_sum_def def = {
	.size = sizeof(struct row), .key = 2 * sizeof(uint32_t), .cols = cols, .ncols = sizeof cols / sizeof *cols,
	.shown = "name metric samples mean max coverage exclusive", .order = "-by_time name metric",
	.rank = "name metric mean max samples coverage exclusive"
};

struct metrics {
	const struct nsx_metrics_options *options;
	struct nsx_err       *err;
	struct nsx_catalogue *cat;
	struct nsx_intern     names;
	uint32_t              recall[NSX_RECALL];
	struct nsx_range_book ranges;
	NSX_VEC(struct running) running;   /* that have not ended before all open samples began, by start */
	NSX_VEC(struct sample) open;       /* by start */
	NSX_VEC(int64_t)      borders;
	struct { int64_t start, end; uint32_t device; } of;   /* the interval that `shares` is of; end 0: none */
	NSX_VEC(struct share { uint32_t name; int64_t time, alone; }) shares;   /* those that ran for half of it */
	struct nsx_sums       named, rows;
	int64_t               samples, things, lost;
};

static int
nomem(const struct metrics *m)
{
	return nsx_err_nomem(m->err, NULL);
}

static int
metrics_begin(void *state, const void *options, const struct nsx_analysis_at *at)
{
	struct metrics *m = state;

	m->options = options;
	m->err = at->err;
	m->cat = at->cat;
	m->named.def = &of_names;
	m->rows.def = &def;
	return NSX_OK;
}

static void
metrics_need(void *state, struct nsx_reader *in)
{
	const struct metrics *m = state;

	nsx_event_need(in, NSX_METRIC);
	nsx_reader_need(in, NSX_METRIC, NSX_C(METRIC, name) | NSX_C(METRIC, value));
	nsx_event_need(in, m->options->by == NSX_METRICS_STEP ? NSX_STEP : NSX_OP);
	if (m->options->by == NSX_METRICS_STEP)
		nsx_reader_need(in, NSX_STEP, NSX_C(STEP, class));
	else
		nsx_reader_need(in, NSX_OP, NSX_C(OP, name) | NSX_C(OP, range) | NSX_C(OP, profile));
	if (m->options->by == NSX_METRICS_RANGE)
		nsx_range_book_need(in, false);
}

/* ---- samples ---- */

/* Of [from, to): ns in which things of that name ran on the device, each moment once; *alone: ns in which nothing else
 * did. n things, those of a->running that meet the interval. */
static int64_t
time_of(struct metrics *m, const struct sample *s, uint32_t name, int64_t *alone)
{
	int64_t sum = 0;

	*alone = 0;
	for (size_t b = 0; b + 1 < m->borders.n; b++) {
		int64_t from = m->borders.p[b], to = m->borders.p[b + 1];
		bool own = false, other = false;

		for (size_t i = 0; i < m->running.n && from < to; i++) {
			const struct running *r = &m->running.p[i];

			if (r->device != s->device || r->start > from || r->end < to)
				continue;
			own |= r->name == name;
			other |= r->name != name;
		}
		sum += own ? to - from : 0;
		*alone += own && !other ? to - from : 0;
	}
	return sum;
}

/* The times at which something begins or ends within the interval. False when out of memory. */
static bool
find_borders(struct metrics *m, const struct sample *s)
{
	m->borders.n = 0;
	if (!nsx_vec_push(&m->borders, s->start) || !nsx_vec_push(&m->borders, s->end))
		return false;
	for (size_t i = 0; i < m->running.n; i++) {
		const struct running *r = &m->running.p[i];

		if (r->device != s->device)
			continue;
		if (r->start > s->start && r->start < s->end && !nsx_vec_push(&m->borders, r->start))
			return false;
		if (r->end > s->start && r->end < s->end && !nsx_vec_push(&m->borders, r->end))
			return false;
	}
	qsort(m->borders.p, m->borders.n, sizeof *m->borders.p, nsx_sort_by_int);
	return true;
}

/* Find what ran for at least half of the sample's interval: samples of all metrics have the same ones. */
static int
find_shares(struct metrics *m, const struct sample *s)
{
	m->shares.n = 0;
	m->of.start = s->start;
	m->of.end = s->end;
	m->of.device = s->device;
	if (!find_borders(m, s))
		return nomem(m);
	for (size_t i = 0; i < m->running.n; i++) {
		struct share x;
		const struct running *r = &m->running.p[i];
		bool before = r->device != s->device || r->start >= s->end || r->end <= s->start;

		/* Each name once. */
		for (size_t k = 0; k < i && !before; k++) {
			const struct running *q = &m->running.p[k];

			before = q->name == r->name && q->device == s->device && q->start < s->end && q->end > s->start;
		}
		if (before)
			continue;
		x.name = r->name;
		x.time = time_of(m, s, r->name, &x.alone);
		if (2 * x.time >= s->end - s->start && !nsx_vec_push(&m->shares, x))
			return nomem(m);
	}
	return NSX_OK;
}

/* What ran in the interval is known. */
static int
close_sample(struct metrics *m, const struct sample *s)
{
	if (s->end <= s->start)
		return NSX_OK;
	if ((m->of.start != s->start || m->of.end != s->end || m->of.device != s->device)
	    && find_shares(m, s) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < m->shares.n; i++) {
		const struct share *x = &m->shares.p[i];
		struct row *r = nsx_sums_row(&m->rows, &(uint32_t[2]){ x->name, s->metric });
		struct named *n = r ? nsx_sums_row(&m->named, &x->name) : NULL;

		if (!n)
			return nomem(m);
		n->sampled = true;
		r->value_max = !r->samples || s->value > r->value_max ? s->value : r->value_max;
		r->samples++;
		r->weighed += (double)s->value * (double)x->time;
		r->covered += (double)x->time;
		r->alone += (double)x->alone;
	}
	return NSX_OK;
}

/* The stream has reached `now`. */
static int
pass(struct metrics *m, int64_t now)
{
	int64_t oldest = now;
	size_t n = 0;

	m->of.start = m->of.end = 0;
	for (size_t i = 0; i < m->open.n; i++) {
		if (m->open.p[i].end <= now && close_sample(m, &m->open.p[i]) != NSX_OK)
			return NSX_ERR;
		if (m->open.p[i].end > now) {
			oldest = m->open.p[i].start < oldest ? m->open.p[i].start : oldest;
			m->open.p[n++] = m->open.p[i];
		}
	}
	m->open.n = n;
	n = 0;
	for (size_t i = 0; i < m->running.n; i++)
		if (m->running.p[i].end > oldest)
			m->running.p[n++] = m->running.p[i];
	m->running.n = n;
	return NSX_OK;
}

/* ---- records ---- */

static int
take_metric(struct metrics *m, const struct nsx_event *e)
{
	int64_t start = nsx_int(e->rec, NSX_METRIC_start, 0);
	struct sample s = { .start = start, .end = start + nsx_int(e->rec, NSX_METRIC_dur, 0),
	                    .value = nsx_int(e->rec, NSX_METRIC_value, 0), .device = nsx_cat_device(m->cat, e->rec),
	                    .metric = nsx_intern_recall(&m->names, m->recall, nsx_string(e->rec, NSX_METRIC_name)) };

	m->samples++;
	if (s.device == NSX_NONE || s.metric == NSX_NONE || !nsx_vec_push(&m->open, s))
		return nomem(m);
	return NSX_OK;
}

static int
take_thing(struct metrics *m, uint32_t device, int64_t start, int64_t dur, uint32_t name)
{
	struct named *of = name == NSX_NONE ? NULL : nsx_sums_row(&m->named, &name);

	struct running x = { start, start + dur, device, name };

	if (!of || device == NSX_NONE || !nsx_vec_push(&m->running, x))
		return nomem(m);
	of->time += dur;
	m->things++;
	return NSX_OK;
}

static int
take_op(struct metrics *m, const struct nsx_event *e)
{
	const struct nsx_rec *rec = e->rec;
	const struct nsx_range_entry *r = NULL;

	if (e->start == NSX_ABSENT || e->end == NSX_ABSENT || e->end <= e->start)
		return NSX_OK;
	if (m->options->by == NSX_METRICS_RANGE) {
		if (!nsx_has(rec, NSX_OP_range))
			return NSX_OK;
		r = nsx_range_book_find(&m->ranges, nsx_int(rec, NSX_OP_profile, NSX_ABSENT), rec->v[NSX_OP_range].i);
		m->lost += !r;
		if (!r)
			return NSX_OK;
	}
	return take_thing(m, e->device, e->start, e->end - e->start,
	                  r ? r->name : nsx_intern_recall(&m->names, m->recall, nsx_string(rec, NSX_OP_name)));
}

static int
take_range(struct metrics *m, const struct nsx_rec *rec)
{
	uint32_t name;

	if (m->options->by != NSX_METRICS_RANGE || !nsx_has(rec, NSX_RANGE_start))
		return NSX_OK;
	name = nsx_intern(&m->names, nsx_range_book_name(&m->ranges, rec, NSX_NAMES_KEY));
	return name == NSX_NONE ? nomem(m) : nsx_range_book_add(&m->ranges, rec, name, m->err);
}

static int
metrics_take(void *state, const struct nsx_event *e)
{
	struct metrics *m = state;
	const struct nsx_rec *rec = e->rec;
	enum nsx_kind_id kind = rec->kind->id;
	bool step = m->options->by == NSX_METRICS_STEP;

	if (!e->reaches)
		return NSX_OK;
	if (kind == NSX_RANGE)
		return take_range(m, rec);
	if (kind == NSX_STEP && !step)
		return NSX_OK;
	if (kind == NSX_OP && step)
		return NSX_OK;
	/* Another record of that time may come yet: what has ended before it is known. */
	if (pass(m, nsx_field_int(rec, NSX_ROLE_START, INT64_MIN)) != NSX_OK)
		return NSX_ERR;
	if (kind == NSX_METRIC)
		return take_metric(m, e);
	if (kind == NSX_OP)
		return take_op(m, e);
	return take_thing(m, nsx_cat_device(m->cat, rec), nsx_int(rec, NSX_STEP_start, 0),
	                  nsx_int(rec, NSX_STEP_dur, 0),
	                  nsx_intern_recall(&m->names, m->recall, nsx_string(rec, NSX_STEP_class)));
}

/* ---- the table ---- */

static struct nsx_str
text_of(const void *names, uint32_t id)
{
	return id == NSX_NONE ? (struct nsx_str){ "", 0 } : nsx_intern_str(names, id);
}

/* Names without a sample have a row that says so. */
static int
add_unsampled(struct metrics *m)
{
	for (size_t i = 0; i < nsx_sums_count(&m->named); i++) {
		const struct named *n = nsx_sums_at(&m->named, i);

		if (!n->sampled && !nsx_sums_row(&m->rows, &(uint32_t[2]){ n->name, NSX_NONE }))
			return nomem(m);
	}
	return NSX_OK;
}

static int
metrics_finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct metrics *m = state;

	m->rows.text = text_of;
	m->rows.state = &m->names;
	if (pass(m, INT64_MAX) != NSX_OK || (m->samples && add_unsampled(m) != NSX_OK))
		return NSX_ERR;
	for (size_t i = 0; i < nsx_sums_count(&m->rows); i++) {
		struct row *r = nsx_sums_at(&m->rows, i);
		const struct named *n = nsx_sums_row(&m->named, &r->name);

		r->mean = r->samples ? r->weighed / r->covered : NAN;
		r->exclusive = r->samples ? r->alone / r->covered : NAN;
		r->value_max = r->samples ? r->value_max : NSX_ABSENT;
		r->coverage = n && n->time ? r->covered / (double)n->time : NAN;
	}
	*table = nsx_sums_table(&m->rows, m->err);
	if (!m->samples)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
			"no samples of GPU metrics: record with nsysx-record --gpu-metrics-devices=all, or with that "
			"option of nsys profile, and prepare or extract with --metrics");
	else if (!m->things)
		nsx_diag_add(diags, NSX_WARNING, "", 1, m->options->by == NSX_METRICS_STEP
		             ? "no steps: mark them with nsysx-steps --mark" : m->options->by == NSX_METRICS_RANGE
		             ? "no operation was launched in a range: extract with --ops --ranges"
		             : "no operations: extract with --ops");
	nsx_diag_add(diags, NSX_WARNING, "", m->lost, "operations whose range is not in the stream: not counted");
	return *table ? NSX_OK : NSX_ERR;
}

static void
metrics_free(void *state)
{
	struct metrics *m = state;

	nsx_intern_free(&m->names);
	nsx_range_book_free(&m->ranges);
	nsx_sums_free(&m->named);
	nsx_sums_free(&m->rows);
	free(m->running.p);
	free(m->open.p);
	free(m->borders.p);
	free(m->shares.p);
}

const struct nsx_analysis nsx_metrics_analysis = {
	sizeof(struct metrics), NSX_K(OP) | NSX_K(RANGE) | NSX_K(STEP) | NSX_K(METRIC), true, metrics_begin,
	metrics_need, metrics_take, metrics_finish, metrics_free
};

int
nsx_metrics(struct nsx_reader *in, const struct nsx_metrics_options *options, struct nsx_table **table, int64_t *ndiags,
            struct nsx_diags *diags, struct nsx_err *err)
{
	return nsx_analyse_one(&nsx_metrics_analysis, options, in, options->require, table, ndiags, diags, err);
}
