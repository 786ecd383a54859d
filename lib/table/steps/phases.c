/* phases.c -- steps of a server by what they do (job/serving.h), and by the shape of their batch. The period of a step
 * lasts to the next step of any phase (job/steps/periods.h), so that periods of all rows add up.
 *
 *   prefill [0,50)  decode [50,60)  decode [60,72)  mixed [72,110)  decode [110,...
 *       prefill: 50    decode: 10, 12    mixed: 38     the last step has no period */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/stat.h"
#include "job/serving.h"
#include "table/roofline/peaks.h"
#include "table/steps/rows.h"
#include "table/sums.h"

/* phase: NSX_NSERVING: not known. Of requests, tokens, attention: sums over steps that tell, of their number. period:
 * those that count; the parts add up to it. served: tokens of steps whose period counts, in_time: ns of these. limit:
 * the least time of attention. */
struct row {
	int64_t  phase, requests, tokens;          /* the key; NSX_ABSENT: not told, or by phase */
	int64_t  count;
	struct nsx_stat request, token, pairs, span, host, period, compute, exposed, copy, idle;
	int64_t  span_p50, span_p99, period_p50, period_p99;
	nsx_u128 served, in_time;
	double   limits;
	int64_t  limited;
	double   rate, limit, share;               /* set at the end: tokens/s; ns; of all periods, none without one */
};

/* A step that belongs to a row. */
struct entry { uint32_t row; int64_t span, period; };

static const char *
phase_text(const void *row)
{
	int64_t phase = ((const struct row *)row)->phase;

	return phase == NSX_NSERVING ? "other" : nsx_serving_phase_name((enum nsx_serving_phase)phase);
}

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL_SAID("phase", phase_text), NSX_COL("requests", INT, requests), NSX_COL("tokens", INT, tokens),
	NSX_COL_MEAN("requests_mean", DOUBLE, request), NSX_COL_MEAN("tokens_mean", DOUBLE, token),
	NSX_COL("count", INT, count), NSX_COL("share", SHARE, share), NSX_COL_MEAN("period_mean", MEAN_NS, period),
	NSX_COL("period_p50", NS, period_p50), NSX_COL("period_p99", NS, period_p99), NSX_COL("span_p50", NS, span_p50),
	NSX_COL("span_p99", NS, span_p99), NSX_COL("tokens_rate", DOUBLE, rate),
	NSX_COL_MEAN("compute", MEAN_NS, compute), NSX_COL_MEAN("exposed", MEAN_NS, exposed),
	NSX_COL_MEAN("copy", MEAN_NS, copy), NSX_COL_MEAN("idle", MEAN_NS, idle), NSX_COL_MEAN("host", MEAN_NS, host),
	NSX_COL_MEAN("pairs", DOUBLE, pairs), NSX_COL("attention", MEAN_NS, limit),
};
#define ROWS NSX_ROWS(cols), .key = 3 * sizeof(int64_t)
#define SHOWN \
	"count share period_mean period_p50 period_p99 span_p50 span_p99 tokens_rate compute exposed copy idle host " \
	"pairs attention"

static const struct nsx_sum_def by_phase = {
	ROWS, .order = "-share phase", .shown = "phase requests_mean tokens_mean " SHOWN,
	.rank = "phase count period_p50 period_p99 tokens_rate share exposed idle compute requests_mean tokens_mean "
	        "host span_p50 attention copy"
}, by_shape = {
	ROWS, .order = "-share phase requests tokens", .shown = "phase requests tokens " SHOWN,
	.rank = "phase requests tokens count period_p50 period_p99 tokens_rate share exposed idle compute host "
	        "span_p50 attention copy"
};

/* The least time in ns that attention takes on the device: products of queries and keys, and of weights and values, for
 * each head and layer, at the peak in bf16; or reading keys and values, of two bytes. NaN: not known. */
static double
attention_limit(const struct nsx_step_set *s, const struct nsx_steps_options *o, uint32_t device,
                const struct nsx_serving *x)
{
	const struct nsx_steps_model *m = &o->model;
	const struct nsx_cat_device *d = &s->cat.devices.p[device];
	struct nsx_peaks p = nsx_peaks_of(d, nsx_cat_str(&s->cat, d->name), &o->given);
	double each = (double)m->layers * (double)m->dim, products, bytes;

	if (!m->layers || x->pairs == NSX_ABSENT || x->sk == NSX_ABSENT || p.tflops[NSX_MATH_BF16] <= 0 || p.gbps <= 0)
		return NAN;
	products = 4 * (double)x->pairs * (double)m->heads * each / (p.tflops[NSX_MATH_BF16] * 1000);
	bytes = 4 * (double)x->sk * (double)m->kv_heads * each / p.gbps;
	return products > bytes ? products : bytes;
}

static void
add(struct row *r, const struct nsx_step_set *s, const struct nsx_step_of *o, const struct nsx_serving *x,
    const struct nsx_steps_options *options)
{
	const struct nsx_step *step = &s->steps.p[o->step];
	double limit = attention_limit(s, options, o->device, x);

	r->count++;
	nsx_stat_add(&r->span, o->last - o->first);
	if (x->requests != NSX_ABSENT)
		nsx_stat_add(&r->request, x->requests);
	if (x->tokens != NSX_ABSENT)
		nsx_stat_add(&r->token, x->tokens);
	if (x->pairs != NSX_ABSENT)
		nsx_stat_add(&r->pairs, x->pairs);
	if (step->host_start != NSX_ABSENT)
		nsx_stat_add(&r->host, step->host_end - step->host_start);
	if (!isnan(limit)) {
		r->limits += limit;
		r->limited++;
	}
	if (!o->kept)
		return;
	nsx_stat_add(&r->period, o->period);
	if (x->tokens != NSX_ABSENT) {
		r->served += (nsx_u128)x->tokens;
		r->in_time += (nsx_u128)o->period;
	}
	if (o->sums.part[NSX_PART_IDLE] == NSX_ABSENT)
		return;
	nsx_stat_add(&r->compute, o->sums.part[NSX_PART_COMPUTE]);
	nsx_stat_add(&r->exposed, o->sums.part[NSX_PART_COMM]);
	nsx_stat_add(&r->copy, o->sums.part[NSX_PART_COPY]);
	nsx_stat_add(&r->idle, o->sums.part[NSX_PART_IDLE]);
}

/* Why no row has a limit. */
static void
note_attention(const struct nsx_step_set *s, const struct nsx_steps_options *o, struct nsx_sums *sums,
               struct nsx_table *t)
{
	bool pairs = false, limited = false;

	NSX_SUMS_EACH(const struct row, r, sums) {
		pairs |= r->pairs.n > 0;
		limited |= r->limited > 0;
	}
	if (!nsx_sums_count(sums) || limited)
		return;
	if (!pairs) {
		nsx_table_note(t, "attention is not known: names of steps carry no sums of lengths");
		return;
	}
	for (size_t i = 0; i < s->cat.devices.n; i++) {
		const struct nsx_cat_device *d = &s->cat.devices.p[i];
		struct nsx_str name = nsx_cat_str(&s->cat, d->name);
		struct nsx_peaks p = nsx_peaks_of(d, name, &o->given);
		bool peak = p.tflops[NSX_MATH_BF16] > 0, bandwidth = p.gbps > 0;

		if (peak && bandwidth)
			continue;
		nsx_table_note(t, "attention is not known: %s of device %.*s %s not known; %s", peak
		               ? "the bandwidth" : bandwidth ? "the peak in bf16"
		               : "the peak in bf16 and the bandwidth",
		               (int)name.len, name.ptr, peak || bandwidth ? "is" : "are", peak
		               ? "--bandwidth GBPS gives it" : bandwidth ? "--peak bf16=TFLOPS gives it"
		               : "--peak bf16=TFLOPS and --bandwidth GBPS give them");
		return;
	}
}

NSX_ORDER(by_row, struct entry, NSX_CMP(a->row, b->row))

/* The percentiles of rows, of entries sorted by row. False when out of memory. */
static bool
add_percentiles(struct nsx_sums *sums, const struct entry *list, size_t n)
{
	int64_t *room = malloc((n + 1) * sizeof *room);

	for (size_t i = 0, k; room && i < n; i += k) {
		struct row *r = nsx_sums_at(sums, list[i].row);
		size_t periods = 0;

		for (k = 0; i + k < n && list[i + k].row == list[i].row; k++)
			room[k] = list[i + k].span;
		qsort(room, k, sizeof *room, nsx_sort_by_int);
		r->span_p50 = nsx_percentile(room, k, 50);
		r->span_p99 = nsx_percentile(room, k, 99);
		for (k = 0; i + k < n && list[i + k].row == list[i].row; k++)
			if (list[i + k].period != NSX_ABSENT)
				room[periods++] = list[i + k].period;
		qsort(room, periods, sizeof *room, nsx_sort_by_int);
		r->period_p50 = periods ? nsx_percentile(room, periods, 50) : NSX_ABSENT;
		r->period_p99 = periods ? nsx_percentile(room, periods, 99) : NSX_ABSENT;
		sums->whole += (nsx_u128)r->period.sum;
	}
	free(room);
	return room != NULL;
}

struct nsx_table *
nsx_steps_phases(const struct nsx_step_set *s, const struct nsx_steps_options *options)
{
	bool shapes = options->by == NSX_STEPS_BY_SHAPE, good = true;
	struct nsx_sums sums = { .def = shapes ? &by_shape : &by_phase };
	struct entry *list = malloc((s->list.n + 1) * sizeof *list);
	struct nsx_table *t = NULL;

	for (size_t i = 0; list && good && i < s->list.n; i++) {
		const struct nsx_step_of *o = &s->list.p[i];
		const struct nsx_step *step = &s->steps.p[o->step];
		struct nsx_serving x = { .requests = NSX_ABSENT, .tokens = NSX_ABSENT, .sk = NSX_ABSENT,
		                         .pairs = NSX_ABSENT };
		bool served = step->name && nsx_serving_of(nsx_intern_str(&s->names, step->name - 1), &x);
		int64_t key[3] = { served ? (int64_t)x.phase : NSX_NSERVING, shapes ? x.requests : NSX_ABSENT,
		                   shapes ? x.tokens : NSX_ABSENT };

		list[i] = (struct entry){ nsx_sums_number(&sums, key), o->last - o->first,
		                          o->kept ? o->period : NSX_ABSENT };
		good = list[i].row != NSX_NONE;
		if (good)
			add(nsx_sums_at(&sums, list[i].row), s, o, &x, options);
	}
	if (list && good) {
		qsort(list, s->list.n, sizeof *list, by_row);
		good = add_percentiles(&sums, list, s->list.n);
	}
	for (size_t i = 0; list && good && i < nsx_sums_count(&sums); i++) {
		struct row *r = nsx_sums_at(&sums, i);

		r->rate = r->in_time ? (double)r->served / (double)r->in_time * 1e9 : NAN;
		r->share = r->period.n && sums.whole ? (double)r->period.sum / (double)sums.whole : NAN;
		r->limit = r->limited ? r->limits / (double)r->limited : NAN;
	}
	if (list && good && (t = nsx_sums_table(&sums, s->err)) && nsx_sums_count(&sums))
		nsx_table_note(t, "times to the first token and per token of requests are not known: ranges of servers "
		               "name no requests");
	if (t && options->model.layers)
		note_attention(s, options, &sums, t);
	nsx_sums_free(&sums);
	free(list);
	return t;
}
