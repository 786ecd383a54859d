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

#include "base/num.h"
#include "base/sort.h"
#include "job/names.h"
#include "job/range_book.h"
#include "job/reach.h"
#include "job/remedy.h"
#include "table/sums.h"

/* Something that runs: an operation, or a step. */
struct running { int64_t start, end; uint32_t name; };

/* A sample whose interval has not passed. */
struct sample { int64_t start, end, value; uint32_t metric; };

/* A name: its time, and that in which it ran in intervals of samples that count, by metric at most. */
struct named { uint32_t name; int64_t time; bool sampled; };
static const struct nsx_sum_def of_names = { .size = sizeof(struct named), .key = sizeof(uint32_t) };

struct row {
	uint32_t name, metric;          /* the key; metric NSX_NONE: no sample */
	int64_t  samples, value_max;
	double   weighed, covered, alone;   /* sums over samples: value times ns, ns, ns in which nothing else ran */
	double   mean, coverage, exclusive;
};

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("name", STRING, name), NSX_COL("metric", STRING, metric), NSX_COL("samples", INT, samples),
	NSX_COL("mean", DOUBLE, mean), NSX_COL("max", INT, value_max), NSX_COL("coverage", SHARE, coverage),
	NSX_COL("exclusive", SHARE, exclusive), NSX_COL("by_time", INT, covered),
};
static const struct nsx_sum_def def = {
	NSX_ROWS(cols), .key = 2 * sizeof(uint32_t),
	.shown = "name metric samples mean max coverage exclusive", .order = "-by_time name metric",
	.rank = "name metric mean max samples coverage exclusive"
};

/* A metric of a device: until when samples of it were read. Those of another reader of the same counters would count
 * the time of names twice. */
struct sampled { uint32_t device, metric; int64_t until; bool any; };
static const struct nsx_sum_def of_sampled = { .size = sizeof(struct sampled), .key = sizeof(uint64_t) };

/* Of one device: samples of another have no part in it. */
struct lane {
	NSX_VEC(struct running) running;   /* that have not ended before all open samples began, by start */
	NSX_VEC(struct sample)  open;      /* by start */
	int64_t due;                       /* the first end of these */
};

/* A name in an interval: ns in which it ran, each moment once, and in which nothing else did; running: how many now. */
struct share { int64_t time, alone; uint32_t name, running; };
/* Where something begins or ends in it. share: in shares. */
struct metric_edge { int64_t at; uint32_t share; bool begins; };

struct metrics {
	NSX_STATE;
	const struct nsx_metrics_options *options;
	struct nsx_intern     names;
	uint32_t              recall[NSX_RECALL];
	struct nsx_range_book ranges;
	NSX_VEC(struct lane)  lanes;       /* by device of the catalogue */
	/* Of the interval [from, to) of a device, whose samples are closed one after the other. */
	int64_t               from, to;    /* to INT64_MIN: none */
	NSX_VEC(struct running) here;
	NSX_VEC(struct metric_edge) edges;
	NSX_VEC(uint32_t)     active;      /* of shares */
	NSX_VEC(struct share) shares;      /* first of all names, then of those that ran for half of it */
	struct nsx_sums       named, sampled;
	int64_t               samples, things, lost, beyond, again;
};

static int
metrics_begin(void *state, const void *options, const struct nsx_analysis_at *at)
{
	struct metrics *m = state;

	(void)at;
	m->options = options;
	m->named.def = &of_names;
	m->rows = (struct nsx_sums){ .def = &def, .texts = &m->names };
	m->sampled.def = &of_sampled;
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

NSX_ORDER(by_name, struct running, NSX_CMP(a->name, b->name))

NSX_ORDER(by_time, struct metric_edge, NSX_CMP(a->at, b->at))

/* Names that ran in the sample's interval, and where something of them begins or ends. False when out of memory. */
static bool
find_edges(struct metrics *m, const struct lane *l, const struct sample *s)
{
	m->here.n = m->edges.n = m->shares.n = 0;
	for (size_t i = 0; i < l->running.n; i++) {
		const struct running *r = &l->running.p[i];

		if (r->start < s->end && r->end > s->start && !nsx_vec_push(&m->here, *r))
			return false;
	}
	nsx_sort(m->here.p, m->here.n, by_name);
	for (size_t i = 0; i < m->here.n; i++) {
		const struct running *r = &m->here.p[i];
		int64_t start = r->start > s->start ? r->start : s->start, end = r->end < s->end ? r->end : s->end;

		if ((i == 0 || r[-1].name != r->name) && !nsx_vec_push(&m->shares, ((struct share){ .name = r->name })))
			return false;
		uint32_t share = (uint32_t)m->shares.n - 1;
		if (!nsx_vec_push(&m->edges, ((struct metric_edge){ start, share, true }))
		    || !nsx_vec_push(&m->edges, ((struct metric_edge){ end, share, false })))
			return false;
	}
	nsx_sort(m->edges.p, m->edges.n, by_time);
	return true;
}

/* Begin or end one of a name. False when out of memory. */
static bool
turn(struct metrics *m, const struct metric_edge *e)
{
	struct share *x = &m->shares.p[e->share];

	if (e->begins)
		return x->running++ > 0 || nsx_vec_push(&m->active, e->share);
	if (--x->running == 0) {
		size_t i = 0;

		while (m->active.p[i] != e->share)
			i++;
		m->active.p[i] = m->active.p[--m->active.n];
	}
	return true;
}

/* Find what ran for at least half of the sample's interval: samples of all metrics have the same ones. */
static int
find_shares(struct metrics *m, const struct lane *l, const struct sample *s)
{
	int64_t last = s->start;
	size_t n = 0;

	m->from = s->start;
	m->to = s->end;
	if (!find_edges(m, l, s))
		return NSX_NOMEM(m);
	m->active.n = 0;
	for (size_t i = 0; i < m->edges.n; i++) {
		const struct metric_edge *e = &m->edges.p[i];

		for (size_t k = 0; k < m->active.n && e->at > last; k++) {
			struct share *x = &m->shares.p[m->active.p[k]];

			x->time += e->at - last;
			x->alone += m->active.n == 1 ? e->at - last : 0;
		}
		last = e->at;
		if (!turn(m, e))
			return NSX_NOMEM(m);
	}
	for (size_t i = 0; i < m->shares.n; i++)
		if (2 * m->shares.p[i].time >= s->end - s->start)
			m->shares.p[n++] = m->shares.p[i];
	m->shares.n = n;
	return NSX_OK;
}

/* What ran in the interval is known. */
static int
close_sample(struct metrics *m, const struct lane *l, const struct sample *s)
{
	if (s->end <= s->start)
		return NSX_OK;
	if ((m->from != s->start || m->to != s->end) && find_shares(m, l, s) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < m->shares.n; i++) {
		const struct share *x = &m->shares.p[i];
		struct row *r = nsx_sums_row(&m->rows, &(uint32_t[2]){ x->name, s->metric });
		struct named *n = r ? nsx_sums_row(&m->named, &x->name) : NULL;

		if (!n)
			return NSX_NOMEM(m);
		n->sampled = true;
		r->value_max = !r->samples || s->value > r->value_max ? s->value : r->value_max;
		r->samples++;
		r->weighed += (double)s->value * (double)x->time;
		r->covered += (double)x->time;
		r->alone += (double)x->alone;
	}
	return NSX_OK;
}

/* The records of the device have reached `now`. */
static int
pass(struct metrics *m, struct lane *l, int64_t now)
{
	int64_t oldest = now;
	size_t n = 0;

	if (l->open.n && now < l->due)
		return NSX_OK;
	m->to = INT64_MIN;
	l->due = INT64_MAX;
	for (size_t i = 0; i < l->open.n; i++) {
		const struct sample *s = &l->open.p[i];

		if (s->end <= now && close_sample(m, l, s) != NSX_OK)
			return NSX_ERR;
		if (s->end > now) {
			oldest = s->start < oldest ? s->start : oldest;
			l->due = s->end < l->due ? s->end : l->due;
			l->open.p[n++] = *s;
		}
	}
	l->open.n = n;
	n = 0;
	for (size_t i = 0; i < l->running.n; i++)
		if (l->running.p[i].end > oldest)
			l->running.p[n++] = l->running.p[i];
	l->running.n = n;
	return NSX_OK;
}

static struct lane *
lane_at(struct metrics *m, uint32_t device)
{
	return device != NSX_NONE && nsx_vec_reach(&m->lanes, device, &(struct lane){ .due = INT64_MAX })
	       ? &m->lanes.p[device] : NULL;
}

/* ---- records ---- */

static int
take_metric(struct metrics *m, struct lane *l, const struct nsx_rec *rec)
{
	int64_t start = nsx_int(rec, NSX_METRIC_start, 0);
	uint32_t device = (uint32_t)(l - m->lanes.p);
	struct sampled *of;
	struct sample s = { .start = start, .end = start + nsx_int(rec, NSX_METRIC_dur, 0),
	                    .value = nsx_int(rec, NSX_METRIC_value, 0),
	                    .metric = nsx_intern_recall(&m->names, m->recall, nsx_string(rec, NSX_METRIC_name)) };

	m->samples++;
	of = s.metric == NSX_NONE ? NULL : nsx_sums_row(&m->sampled, &(uint32_t[2]){ device, s.metric });
	if (!of)
		return NSX_NOMEM(m);
	if (of->any && s.start < of->until && s.end > s.start) {
		m->again++;
		return NSX_OK;
	}
	of->until = of->any && of->until > s.end ? of->until : s.end;
	of->any = true;
	if (!nsx_vec_push(&l->open, s))
		return NSX_NOMEM(m);
	l->due = s.end < l->due ? s.end : l->due;
	return NSX_OK;
}

static int
take_thing(struct metrics *m, struct lane *l, int64_t start, int64_t dur, uint32_t name)
{
	struct named *of = name == NSX_NONE ? NULL : nsx_sums_row(&m->named, &name);

	if (!of || !nsx_vec_push(&l->running, ((struct running){ start, start + dur, name })))
		return NSX_NOMEM(m);
	of->time = nsx_add_sat(of->time, dur, NULL);
	m->things++;
	return NSX_OK;
}

static int
take_step(struct metrics *m, struct lane *l, const struct nsx_rec *rec)
{
	int64_t dur = nsx_int(rec, NSX_STEP_dur, 0);

	if (!nsx_has(rec, NSX_STEP_start) || dur <= 0)
		return NSX_OK;
	return take_thing(m, l, rec->v[NSX_STEP_start].i, dur,
	                  nsx_intern_recall(&m->names, m->recall, nsx_string(rec, NSX_STEP_class)));
}

static int
take_op(struct metrics *m, struct lane *l, const struct nsx_event *e)
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
	return take_thing(m, l, e->start, e->end - e->start,
	                  r ? r->name : nsx_intern_recall(&m->names, m->recall, nsx_string(rec, NSX_OP_name)));
}

static int
take_range(struct metrics *m, const struct nsx_rec *rec)
{
	uint32_t name;

	if (m->options->by != NSX_METRICS_RANGE || !nsx_has(rec, NSX_RANGE_start))
		return NSX_OK;
	name = nsx_intern(&m->names, nsx_range_book_name(&m->ranges, rec, NSX_NAMES_KEY));
	return name == NSX_NONE ? NSX_NOMEM(m) : nsx_range_book_add(&m->ranges, rec, name, m->err);
}

static int
metrics_take(void *state, const struct nsx_event *e)
{
	struct metrics *m = state;
	const struct nsx_rec *rec = e->rec;
	enum nsx_kind_id kind = rec->kind->id;
	bool step = m->options->by == NSX_METRICS_STEP;

	if (kind == (step ? NSX_OP : NSX_STEP))
		return NSX_OK;
	if (!e->reaches) {
		m->beyond++;
		return NSX_OK;
	}
	if (kind == NSX_RANGE)
		return take_range(m, rec);
	struct lane *l = lane_at(m, nsx_cat_device(m->cat, rec));
	if (!l)
		return NSX_NOMEM(m);
	/* Another record of that time may come yet: what has ended before it is known. */
	if (pass(m, l, nsx_field_int(rec, NSX_ROLE_START, INT64_MIN)) != NSX_OK)
		return NSX_ERR;
	return kind == NSX_METRIC ? take_metric(m, l, rec) : kind == NSX_OP ? take_op(m, l, e) : take_step(m, l, rec);
}

/* ---- the table ---- */

/* Names without a sample have a row that says so. */
static int
add_unsampled(struct metrics *m)
{
	NSX_SUMS_EACH(const struct named, n, &m->named) {
		if (!n->sampled && !nsx_sums_row(&m->rows, &(uint32_t[2]){ n->name, NSX_NONE }))
			return NSX_NOMEM(m);
	}
	return NSX_OK;
}

static int
metrics_finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct metrics *m = state;

	(void)table;
	for (size_t i = 0; i < m->lanes.n; i++)
		if (pass(m, &m->lanes.p[i], INT64_MAX) != NSX_OK)
			return NSX_ERR;
	if (m->samples && add_unsampled(m) != NSX_OK)
		return NSX_ERR;
	NSX_SUMS_EACH(struct row, r, &m->rows) {
		const struct named *n = nsx_sums_row(&m->named, &r->name);

		r->mean = r->samples ? r->weighed / r->covered : NAN;
		r->exclusive = r->samples ? r->alone / r->covered : NAN;
		r->value_max = r->samples ? r->value_max : NSX_ABSENT;
		r->coverage = n && n->time ? r->covered / (double)n->time : NAN;
	}
	if (!m->samples)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no samples of GPU metrics: %s",
		             nsx_remedy(m->cat, NSX_LACK_METRICS));
	else if (!m->things)
		nsx_diag_add(diags, NSX_WARNING, "", 1, m->options->by == NSX_METRICS_STEP
		             ? "no steps: mark them with nsysx-steps --mark" : m->options->by == NSX_METRICS_RANGE
		             ? "no operation was launched in a range: extract with --ops --ranges"
		             : "no operations: extract with --ops");
	nsx_diag_add(diags, NSX_WARNING, "", m->beyond, NSX_BEYOND_REACH);
	nsx_diag_add(diags, NSX_WARNING, "", m->again,
	             "samples that begin before the one before them of their metric and device has ended: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", m->lost, "operations whose range is not in the stream: not counted");
	return NSX_OK;
}

static void
metrics_free(void *state)
{
	struct metrics *m = state;

	nsx_intern_free(&m->names);
	nsx_range_book_free(&m->ranges);
	nsx_sums_free(&m->named);
	nsx_sums_free(&m->sampled);
	for (size_t i = 0; i < m->lanes.n; i++) {
		free(m->lanes.p[i].running.p);
		free(m->lanes.p[i].open.p);
	}
	free(m->lanes.p);
	free(m->here.p);
	free(m->edges.p);
	free(m->active.p);
	free(m->shares.p);
}

const struct nsx_analysis nsx_metrics_analysis = {
	sizeof(struct metrics), NSX_K(OP) | NSX_K(RANGE) | NSX_K(STEP) | NSX_K(METRIC), true | NSX_STATED,
	metrics_begin, metrics_need, metrics_take, metrics_finish, metrics_free
};
