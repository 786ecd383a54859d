/* rows.c -- the two tables of nsysx-steps, as definitions. */
#include "table/steps/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "base/stat.h"
#include "job/steps/periods.h"
#include "job/steps/windows.h"
#include "table/sums.h"

/* What is measured of a step, ns. */
enum measure { PERIOD, SPAN, BUSY, COMPUTE, EXPOSED, COPY, IDLE, BETWEEN, NMEASURES };

/* Set what a step has of each, NSX_ABSENT for none. Parts are of the period, and add up to it. */
static void
measure(const struct nsx_step_of *o, int64_t of[NMEASURES])
{
	int64_t span = o->last - o->first, idle = o->sums.part[NSX_PART_IDLE];

	of[PERIOD] = o->period;
	of[SPAN] = span;
	of[BUSY] = idle == NSX_ABSENT ? NSX_ABSENT : o->period - idle;
	of[COMPUTE] = o->sums.part[NSX_PART_COMPUTE];
	of[EXPOSED] = o->sums.part[NSX_PART_COMM];
	of[COPY] = o->sums.part[NSX_PART_COPY];
	of[IDLE] = idle;
	of[BETWEEN] = o->period == NSX_ABSENT ? NSX_ABSENT : o->period - span;
}

/* ---- a row for each class and device ---- */

/* Of a measure over the steps that have it; none has: NaN, no values. */
struct statistics { double mean; struct nsx_samples of; };

struct class_row { struct nsx_str class; int64_t device, count, periods; struct statistics of[NMEASURES]; };

#define NSX_ROW struct class_row
#define FIVE(name, m) \
	NSX_COL(name "_mean", MEAN_NS, of[m].mean), NSX_COL_PERCENTILE(name "_p50", of[m].of, 50), \
	NSX_COL_PERCENTILE(name "_p90", of[m].of, 90), NSX_COL_PERCENTILE(name "_p99", of[m].of, 99), \
	NSX_COL_PERCENTILE(name "_max", of[m].of, 100)

static const struct nsx_sum_col class_cols[] = {
	NSX_COL("class", STRING, class), NSX_COL("device", ID, device), NSX_COL("count", INT, count),
	FIVE("period", PERIOD), FIVE("span", SPAN), FIVE("busy", BUSY), FIVE("compute", COMPUTE),
	FIVE("exposed", EXPOSED), FIVE("copy", COPY), FIVE("idle", IDLE), FIVE("between", BETWEEN),
	NSX_COL("periods", INT, periods),
};
static const struct nsx_sum_def classes = {
	NSX_ROWS(class_cols),
	.rank = "class device period_p50 period_p99 exposed_mean compute_mean idle_mean count periods period_max "
	        "copy_mean period_p90"
};

/* Of n steps: of spans all count, of the rest those whose period does. room: for n values. */
static struct statistics
statistics(const struct nsx_step_of *o, size_t n, enum measure m, int64_t *room)
{
	struct nsx_stat stat = { 0 };
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t of[NMEASURES];

		measure(&o[i], of);
		if (of[m] == NSX_ABSENT || (m != SPAN && !o[i].kept))
			continue;
		room[k++] = of[m];
		nsx_stat_add(&stat, of[m]);
	}
	nsx_sort(room, k, nsx_sort_by_int);
	return (struct statistics){ k ? nsx_stat_mean(&stat) : NAN, { room, k } };
}

/* The list is in the order of the table. */
static int
put_classes(const struct nsx_step_set *s, const struct nsx_sums *sums, struct nsx_table *t)
{
	int64_t *room = malloc((s->list.n + 1) * NMEASURES * sizeof *room);
	int rc = room ? NSX_OK : NSX_ERR;

	for (size_t i = 0, n; rc == NSX_OK && i < s->list.n; i += n) {
		const struct nsx_step_of *o = &s->list.p[i];
		struct class_row r = { .class = nsx_intern_str(&s->names, o->class),
		                       .device = s->cat.devices.p[o->device].number };

		for (n = 1; i + n < s->list.n && o[n].class == o->class && o[n].device == o->device;)
			n++;
		r.count = (int64_t)n;
		for (int m = 0; m < NMEASURES; m++)
			r.of[m] = statistics(o, n, (enum measure)m, room + (size_t)m * n);
		r.periods = (int64_t)r.of[PERIOD].of.n;
		rc = nsx_sums_put(sums, t, &r, s->err);
	}
	free(room);
	return rc;
}

/* The step of the job, which no row has where there are several devices. */
static int
put_job(const struct nsx_step_set *s, struct nsx_table *t)
{
	struct nsx_step_windows w = { .class = NSX_NONE };
	int rc = nsx_step_windows(s, &w);
	struct nsx_step_mean job = nsx_step_mean(s, w.class);
	struct nsx_str name;
	size_t devices = 0;

	for (size_t i = 0; i < w.list.n; i++)
		devices += !i || w.list.p[i].number != w.list.p[i - 1].number;
	free(w.list.p);
	if (rc != NSX_OK || w.class == NSX_NONE || devices < 2)
		return rc;
	name = nsx_intern_str(&s->names, w.class);
	nsx_table_note(t, "a step of class %.*s: %s, the mean of %" PRId64 " periods on %zu devices; a step that no "
	               "other follows has none", (int)name.len, name.ptr, NSX_NS(job.ns), job.periods, devices);
	return NSX_OK;
}

/* ---- a row for each step ---- */

struct step_row {
	struct nsx_str class;
	int64_t device, step, range, host_start, host_dur, start, of[NMEASURES], hidden, ops, helper, kept;
};

#undef NSX_ROW
#define NSX_ROW struct step_row
static const struct nsx_sum_col step_cols[] = {
	NSX_COL("class", STRING, class), NSX_COL("device", ID, device), NSX_COL("step", ID, step),
	NSX_COL("range", ID, range), NSX_COL("host_start", TIME, host_start), NSX_COL("host_dur", NS, host_dur),
	NSX_COL("start", TIME, start), NSX_COL("span", NS, of[SPAN]), NSX_COL("period", NS, of[PERIOD]),
	NSX_COL("busy", NS, of[BUSY]), NSX_COL("compute", NS, of[COMPUTE]), NSX_COL("exposed", NS, of[EXPOSED]),
	NSX_COL("hidden", NS, hidden), NSX_COL("copy", NS, of[COPY]), NSX_COL("idle", NS, of[IDLE]),
	NSX_COL("between", NS, of[BETWEEN]), NSX_COL("ops", INT, ops), NSX_COL("helper", INT, helper),
	NSX_COL("kept", INT, kept),
};
static const struct nsx_sum_def steps = {
	NSX_ROWS(step_cols), .rank = "class device step period between compute exposed idle copy span start"
};

static int
put_steps(const struct nsx_step_set *s, const struct nsx_sums *sums, struct nsx_table *t)
{
	int rc = NSX_OK;

	for (size_t i = 0; rc == NSX_OK && i < s->list.n; i++) {
		const struct nsx_step_of *o = &s->list.p[i];
		const struct nsx_step *x = &s->steps.p[o->step];
		bool worked = o->device < s->timelines.n && s->timelines.p[o->device].parts.begun;
		struct step_row r = {
			.class = nsx_intern_str(&s->names, o->class), .device = s->cat.devices.p[o->device].number,
			.step = o->number, .range = x->range, .host_start = x->host_start,
			.host_dur = x->host_start == NSX_ABSENT ? NSX_ABSENT : x->host_end - x->host_start,
			.start = o->first, .hidden = o->sums.hidden, .ops = worked ? o->ops : NSX_ABSENT,
			.helper = worked ? o->helper : NSX_ABSENT, .kept = o->kept
		};

		measure(o, r.of);
		rc = nsx_sums_put(sums, t, &r, s->err);
	}
	return rc;
}

struct nsx_table *
nsx_steps_table(const struct nsx_step_set *s, bool each)
{
	struct nsx_sums sums = { .def = each ? &steps : &classes };
	struct nsx_table *t = nsx_sums_begin(&sums, s->err);

	if (t && (each ? put_steps : put_classes)(s, &sums, t) == NSX_OK && (each || put_job(s, t) == NSX_OK))
		return t;
	nsx_table_free(t);
	return NULL;
}
