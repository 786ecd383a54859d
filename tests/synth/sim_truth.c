/* sim_truth.c -- what is true of a run of a job of causes: steps and their parts, waits of collectives, what was
 * critical, by how much operations could have been longer, and the period after each change, found by running the
 * changed job. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

/* Of one device: the first operation of each step, and its start. */
struct starts { uint32_t *op; int64_t *at; uint32_t n; };
enum part { COMPUTE, EXPOSED, COPY, IDLE, NPARTS };
static const char *const part_names[NPARTS] = { "compute", "comm", "copy", "idle" };
enum { FIRST_LEFT_OUT = 4 };   /* of so many steps the first one does not count */

/* The range of the step in which a call lies; of threads without steps, in which it begins. */
static uint32_t
step_of(const struct sim *s, const struct sim_call *c)
{
	uint32_t k = 0, of = SYN_NONE;

	for (size_t i = 0; i < s->range.n; i++) {
		const struct sim_range *r = &s->range.p[i];
		bool own = r->thread == c->thread;

		if (strncmp(syn_str(s->p, r->name), "ProfilerStep#", 13) != 0 ||
		    s->thread.p[r->thread].proc != s->thread.p[c->thread].proc)
			continue;
		if (c->start >= r->start && (own ? c->end <= r->end : c->start < r->end))
			of = k;
		k++;
	}
	return of;
}

static struct starts
find_starts(const struct sim *s, uint32_t dev)
{
	struct starts x = { syn_check(malloc(s->steps * sizeof *x.op)), syn_check(malloc(s->steps * sizeof *x.at)),
			    s->steps };

	for (uint32_t k = 0; k < x.n; k++)
		x.op[k] = SYN_NONE;
	for (uint32_t i = 0; i < s->op.n; i++) {
		const struct sim_op *o = &s->op.p[i];
		uint32_t k;

		if (s->stream.p[o->stream].dev != dev || (k = step_of(s, &s->call.p[o->call])) == SYN_NONE)
			continue;
		if (x.op[k] == SYN_NONE || o->start < x.at[k]) {
			x.op[k] = i;
			x.at[k] = o->start;
		}
	}
	for (uint32_t k = 0; k < x.n; k++)
		if (x.op[k] == SYN_NONE)
			syn_die("device %u has no operation in step %u", dev, k);
	return x;
}

static void
free_starts(struct starts *x)
{
	free(x->op);
	free(x->at);
}

/* The first step that counts where changes are forecast. */
static uint32_t
first_counted(const struct sim *s)
{
	return s->steps >= FIRST_LEFT_OUT;
}

/* The mean over devices of the mean over steps; ops: the first operation of each. */
static double
period(const struct sim *s, uint32_t *ops)
{
	double sum = 0;
	uint32_t from = first_counted(s);

	for (uint32_t d = 0; d < s->p->dev.n; d++) {
		struct starts x = find_starts(s, d);

		sum += (double)(x.at[x.n - 1] - x.at[from]) / (double)(x.n - 1 - from);
		memcpy(ops + (size_t)d * x.n, x.op, x.n * sizeof *ops);
		free_starts(&x);
	}
	return sum / (double)s->p->dev.n;
}

/* ---- parts of time */

struct bound { int64_t at; enum part part; int by; };

static int
by_time(const void *a, const void *b)
{
	const struct bound *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Parts of [from, to) of a device. */
static void
divide(const struct sim *s, uint32_t dev, int64_t from, int64_t to, int64_t parts[NPARTS])
{
	struct bound *v = syn_check(malloc((2 * s->op.n + 2) * sizeof *v));
	int open[NPARTS] = { 0 };
	int64_t t = from;
	size_t n = 0;

	memset(parts, 0, NPARTS * sizeof *parts);
	for (size_t i = 0; i < s->op.n; i++) {
		const struct sim_op *o = &s->op.p[i];
		enum part part = o->kind ? EXPOSED : o->type == SYN_KERNEL ? COMPUTE : COPY;

		if (s->stream.p[o->stream].dev != dev)
			continue;
		v[n++] = (struct bound){ o->start, part, 1 };
		v[n++] = (struct bound){ o->end, part, -1 };
	}
	v[n++] = (struct bound){ to, IDLE, 0 };
	qsort(v, n, sizeof *v, by_time);
	for (size_t i = 0; i < n && v[i].at <= to; i++) {
		if (v[i].at > t) {
			enum part part = open[COMPUTE] ? COMPUTE : open[EXPOSED] ? EXPOSED : open[COPY] ? COPY : IDLE;

			parts[part] += v[i].at - t;
			t = v[i].at;
		}
		open[v[i].part] += v[i].by;
	}
	free(v);
}

static void
answer_steps(const struct sim *s)
{
	struct syn_tsv t, w;

	syn_tsv_open(&t, "steps", "device\tstep\tstart\tperiod\tcompute\texposed\tcopy\tidle");
	syn_tsv_open(&w, "window", "device\tpart\tns");
	for (uint32_t d = 0; d < s->p->dev.n; d++) {
		struct starts x = find_starts(s, d);
		int64_t parts[NPARTS], first = INT64_MAX, last = INT64_MIN;

		for (uint32_t k = 0; k + 1 < x.n; k++) {
			divide(s, d, x.at[k], x.at[k + 1], parts);
			syn_tsv_row(&t,
				    "%u\t%u\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64,
				    d, k, s->p->base + x.at[k], x.at[k + 1] - x.at[k], parts[COMPUTE], parts[EXPOSED],
				    parts[COPY], parts[IDLE]);
		}
		syn_tsv_row(&t, "%u\t%u\t%" PRId64 "\t\t\t\t\t", d, x.n - 1, s->p->base + x.at[x.n - 1]);
		free_starts(&x);
		for (size_t i = 0; i < s->op.n; i++)
			if (s->stream.p[s->op.p[i].stream].dev == d) {
				first = s->op.p[i].start < first ? s->op.p[i].start : first;
				last = s->op.p[i].end > last ? s->op.p[i].end : last;
			}
		divide(s, d, first, last, parts);
		for (int p = 0; p < NPARTS; p++)
			if (parts[p])
				syn_tsv_row(&w, "%u\t%s\t%" PRId64, d, part_names[p], parts[p]);
	}
	syn_tsv_close(&t);
	syn_tsv_close(&w);
}

static void
answer_waits(const struct sim *s)
{
	int64_t *last = syn_check(malloc((s->meet.n + 1) * sizeof *last));
	struct syn_tsv t;

	for (size_t i = 0; i < s->meet.n; i++)
		last[i] = INT64_MIN;
	for (size_t i = 0; i < s->op.n; i++)
		if (s->op.p[i].meet != SYN_NONE && s->op.p[i].start > last[s->op.p[i].meet])
			last[s->op.p[i].meet] = s->op.p[i].start;
	syn_tsv_open(&t, "waits", "device\tstart\tcollective\twait");
	for (size_t i = 0; i < s->op.n; i++)
		if (s->op.p[i].meet != SYN_NONE)
			syn_tsv_row(&t, "%u\t%" PRId64 "\t%s\t%" PRId64, s->stream.p[s->op.p[i].stream].dev,
				    s->p->base + s->op.p[i].start, s->op.p[i].kind,
				    last[s->op.p[i].meet] - s->op.p[i].start);
	syn_tsv_close(&t);
	free(last);
}

/* ---- what was critical */

static int64_t
time_of(const struct sim *s, uint32_t event)
{
	if (event < 2 * s->op.n)
		return event & 1 ? s->op.p[event / 2].end : s->op.p[event / 2].start;
	return event & 1 ? s->call.p[event / 2 - s->op.n].end : s->call.p[event / 2 - s->op.n].start;
}

static struct sim_cause
cause_of(const struct sim *s, uint32_t event)
{
	if (event < 2 * s->op.n)
		return event & 1 ? s->op.p[event / 2].ended : s->op.p[event / 2].began;
	return event & 1 ? s->call.p[event / 2 - s->op.n].ended : s->call.p[event / 2 - s->op.n].began;
}

static const char *
part_of(const struct sim *s, uint32_t event, enum sim_class class)
{
	switch (class) {
	case SIM_DUR: return s->op.p[event / 2].type == SYN_KERNEL ? "compute" : "copy";
	case SIM_RDV: return "comm";
	case SIM_GAP: return "host";
	case SIM_CALL: case SIM_SYNC: case SIM_QUEUE: return "api";
	default: return "gap";
	}
}

/* Where the event is; of a call without operation, where the path was. */
static uint32_t
device_of(const struct sim *s, uint32_t event, uint32_t walk)
{
	uint32_t op = event < 2 * s->op.n ? event / 2 : s->call.p[event / 2 - s->op.n].op;

	return op == SYN_NONE ? walk : s->stream.p[s->op.p[op].stream].dev;
}

/* From the first operation of the last step back to that of the first step that counts. */
static void
answer_critical(const struct sim *s)
{
	static const char *const parts[] = { "compute", "comm", "copy", "gap", "host", "api" };
	enum { N = sizeof parts / sizeof *parts };
	struct syn_tsv t;

	syn_tsv_open(&t, "critical", "device\twhat\twhich\tns");
	for (uint32_t d = 0; d < s->p->dev.n; d++) {
		struct starts x = find_starts(s, d);
		int64_t begin = x.at[first_counted(s)], by_part[N] = { 0 },
			*on = syn_check(calloc(s->p->dev.n, sizeof *on));

		for (uint32_t e = sim_start(x.op[x.n - 1]); time_of(s, e) > begin;) {
			struct sim_cause c = cause_of(s, e);
			int64_t from = c.from == SYN_NONE ? begin : time_of(s, c.from),
				ns = time_of(s, e) - (from > begin ? from : begin);
			const char *part = part_of(s, e, c.class);

			for (int p = 0; p < N; p++)
				by_part[p] += strcmp(part, parts[p]) == 0 ? ns : 0;
			on[device_of(s, e, d)] += ns;
			if (c.from == SYN_NONE)
				break;
			e = c.from;
		}
		for (int p = 0; p < N; p++)
			syn_tsv_row(&t, "%u\tpart\t%s\t%" PRId64, d, parts[p], by_part[p]);
		for (uint32_t k = 0; k < s->p->dev.n; k++)
			syn_tsv_row(&t, "%u\tdevice\t%u\t%" PRId64, d, k, on[k]);
		free(on);
		free_starts(&x);
	}
	syn_tsv_close(&t);
}

/* ---- changes */

/* A step may begin with another operation after a change: then the periods are not of the same thing. */
static void
answer_change(struct sim *s, struct syn_tsv *t, const struct sim_saved *saved, const char *change, double before,
	      const uint32_t *first)
{
	size_t size = s->p->dev.n * s->steps * sizeof *first;
	uint32_t *ops = syn_check(malloc(size));
	const char *why = sim_change(s, change);
	double after;

	if (why)
		syn_die("%s: %s", change, why);
	sim_run(s);
	after = period(s, ops);
	syn_tsv_row(t, "%s\t%.17g\t%.17g\t%d", change, before, after, memcmp(ops, first, size) == 0);
	sim_restore(s, saved);
	free(ops);
}

/* The names of the kernels that take the most time and, of all, the second most. */
static void
longest(const struct sim *s, uint32_t name[2])
{
	int64_t *ns = syn_check(calloc(s->p->names.n, sizeof *ns));

	for (size_t i = 0; i < s->op.n; i++)
		if (!s->op.p[i].kind && s->op.p[i].type == SYN_KERNEL)
			ns[s->op.p[i].name] += s->op.p[i].dur;
	for (int k = 0; k < 2; k++) {
		name[k] = 0;
		for (uint32_t i = 0; i < s->p->names.n; i++)
			if (ns[i] > ns[name[k]])
				name[k] = i;
		ns[name[k]] = 0;
	}
	free(ns);
}

static void
answer_changes(struct sim *s)
{
	static const char *const always[] = { "faster:.=1.5", "faster:.=4", "faster:.=0.5", "host=2",
					      "host=0.5",     "host=inf",   "api=2",        "gaps=0",
					      "faster:.=2,host=2", "host=inf,gaps=0" };
	static const char *const communicating[] = { "transfer=2", "transfer=inf", "transfer=0.33", "nowait",
						     "faster:.=2,transfer=2", "host=inf,transfer=inf",
						     "nowait,faster:.=1.5", "faster:.=inf,transfer=inf" };
	struct sim_saved *saved = sim_save(s);
	bool syncs = false, profiler = s->profiler.n > 0;
	const char *kind = NULL;
	uint32_t name[2];
	uint32_t *first = syn_check(malloc(s->p->dev.n * s->steps * sizeof *first));
	double before = period(s, first);
	struct syn_tsv t;

	longest(s, name);
	for (size_t i = 0; i < s->op.n; i++)
		kind = s->op.p[i].kind ? s->op.p[i].kind : kind;
	for (size_t i = 0; i < s->call.n; i++)
		syncs |= s->call.p[i].step.what >= SIM_SYNC_STREAM || s->call.p[i].step.what == SIM_COPY;
	syn_tsv_open(&t, "whatif", "what\tperiod\ttruth\tsame");
	syn_tsv_row(&t, "none\t%.17g\t%.17g\t1", before, before);
#define TRY(...) answer_change(s, &t, saved, syn_fmt(s->p, __VA_ARGS__), before, first)
	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		TRY("%s", always[i]);
	TRY("faster:^%s$=2", syn_str(s->p, name[0]));
	TRY("faster:^%s$=inf", syn_str(s->p, name[1]));
	for (size_t i = 0; i < sizeof communicating / sizeof *communicating && kind; i++)
		TRY("%s", communicating[i]);
	if (kind) {
		TRY("transfer:%s=2", kind);
		TRY("bandwidth:%s=100", kind);
	}
	if (s->p->dev.n > 1) {
		TRY("even");
		TRY("faster:.=2,even");
	}
	if (syncs)
		TRY("sync=0");
	if (profiler)
		TRY("profiler=0");
#undef TRY
	syn_tsv_close(&t);
	sim_run(s);
	sim_free_saved(saved);
	free(first);
}

/* ---- slack */

enum { NOTHING_WAITS = 1000000000 };

/* Whether the last step of each device starts as before with an operation that takes so much longer. */
static bool
unmoved(struct sim *s, uint32_t op, int64_t ns, const uint32_t *last, const int64_t *at)
{
	bool same = true;

	s->op.p[op].dur += ns;
	sim_run(s);
	for (size_t d = 0; d < s->p->dev.n; d++)
		same &= s->op.p[last[d]].start == at[d];
	s->op.p[op].dur -= ns;
	return same;
}

static void
answer_slack(struct sim *s, int64_t n)
{
	uint32_t *last = syn_check(malloc(s->p->dev.n * sizeof *last));
	int64_t *at = syn_check(malloc(s->p->dev.n * sizeof *at)),
		*begin = syn_check(malloc(s->p->dev.n * sizeof *begin));
	struct syn_tsv t;

	for (uint32_t d = 0; d < s->p->dev.n; d++) {
		struct starts x = find_starts(s, d);

		last[d] = x.op[x.n - 1];
		at[d] = x.at[x.n - 1];
		begin[d] = x.at[first_counted(s)];
		free_starts(&x);
	}
	syn_tsv_open(&t, "slack", "device\tstart\tname\tslack");
	for (int64_t i = 0; i < n; i++) {
		uint32_t op = (uint32_t)sim_draw(s, 0, (int64_t)s->op.n - 1), dev = s->stream.p[s->op.p[op].stream].dev;
		int64_t lo = 0, hi = NOTHING_WAITS, start = s->op.p[op].start;

		if (start < begin[dev] || start >= at[dev])
			continue;
		if (unmoved(s, op, hi, last, at))
			continue;
		while (lo + 1 < hi) {
			int64_t mid = lo + (hi - lo) / 2;

			if (unmoved(s, op, mid, last, at))
				lo = mid;
			else
				hi = mid;
		}
		sim_run(s);
		syn_tsv_row(&t, "%u\t%" PRId64 "\t%s\t%" PRId64, dev, s->p->base + start,
			    syn_str(s->p, s->op.p[op].name), lo);
	}
	syn_tsv_close(&t);
	sim_run(s);
	free(last);
	free(at);
	free(begin);
}

void
sim_answers(struct sim *s, bool changes, int64_t slack)
{
	s->steps = 0;
	for (size_t i = 0; i < s->range.n; i++)
		s->steps += s->thread.p[s->range.p[i].thread].proc == 0 &&
			    strncmp(syn_str(s->p, s->range.p[i].name), "ProfilerStep#", 13) == 0;
	answer_steps(s);
	answer_waits(s);
	answer_critical(s);
	if (changes)
		answer_changes(s);
	if (slack)
		answer_slack(s, slack);
}
