/* rows.c -- the two tables of nsysx-steps, as definitions. */
#include "table/steps/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
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

#define OF_CLASS(member) offsetof(struct class_row, member), 0, NULL
#define PERCENTILE(m, p) NSX_CELL_NS, NSX_SUM_PERCENTILE, offsetof(struct class_row, of[m].of), p, NULL
#define FIVE(name, m) \
	{ name "_mean", NSX_CELL_MEAN_NS, NSX_SUM_REAL, OF_CLASS(of[m].mean) }, \
	{ name "_p50",  PERCENTILE(m, 50) }, { name "_p90", PERCENTILE(m, 90) }, \
	{ name "_p99",  PERCENTILE(m, 99) }, { name "_max", PERCENTILE(m, 100) }

static const struct nsx_sum_col class_cols[] = {
	{ "class",  NSX_CELL_STRING, NSX_SUM_STR, OF_CLASS(class) },
	{ "device", NSX_CELL_ID,    NSX_SUM_INT, OF_CLASS(device) },
	{ "count",  NSX_CELL_INT,    NSX_SUM_INT, OF_CLASS(count) },
	FIVE("period", PERIOD), FIVE("span", SPAN), FIVE("busy", BUSY), FIVE("compute", COMPUTE),
	FIVE("exposed", EXPOSED), FIVE("copy", COPY), FIVE("idle", IDLE), FIVE("between", BETWEEN),
	{ "periods", NSX_CELL_INT,   NSX_SUM_INT, OF_CLASS(periods) },
};
static const struct nsx_sum_def classes = {
	.size = sizeof(struct class_row), .cols = class_cols, .ncols = sizeof class_cols / sizeof *class_cols,
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

#define OF_STEP(member) offsetof(struct step_row, member), 0, NULL
static const struct nsx_sum_col step_cols[] = {
	{ "class",      NSX_CELL_STRING, NSX_SUM_STR, OF_STEP(class) },
	{ "device",     NSX_CELL_ID,    NSX_SUM_INT, OF_STEP(device) },
	{ "step",       NSX_CELL_ID,    NSX_SUM_INT, OF_STEP(step) },
	{ "range",      NSX_CELL_ID,    NSX_SUM_INT, OF_STEP(range) },
	{ "host_start", NSX_CELL_TIME,   NSX_SUM_INT, OF_STEP(host_start) },
	{ "host_dur",   NSX_CELL_NS,     NSX_SUM_INT, OF_STEP(host_dur) },
	{ "start",      NSX_CELL_TIME,   NSX_SUM_INT, OF_STEP(start) },
	{ "span",       NSX_CELL_NS,     NSX_SUM_INT, OF_STEP(of[SPAN]) },
	{ "period",     NSX_CELL_NS,     NSX_SUM_INT, OF_STEP(of[PERIOD]) },
	{ "busy",       NSX_CELL_NS,     NSX_SUM_INT, OF_STEP(of[BUSY]) },
	{ "compute",    NSX_CELL_NS,     NSX_SUM_INT, OF_STEP(of[COMPUTE]) },
	{ "exposed",    NSX_CELL_NS,     NSX_SUM_INT, OF_STEP(of[EXPOSED]) },
	{ "hidden",     NSX_CELL_NS,     NSX_SUM_INT, OF_STEP(hidden) },
	{ "copy",       NSX_CELL_NS,     NSX_SUM_INT, OF_STEP(of[COPY]) },
	{ "idle",       NSX_CELL_NS,     NSX_SUM_INT, OF_STEP(of[IDLE]) },
	{ "between",    NSX_CELL_NS,     NSX_SUM_INT, OF_STEP(of[BETWEEN]) },
	{ "ops",        NSX_CELL_INT,    NSX_SUM_INT, OF_STEP(ops) },
	{ "helper",     NSX_CELL_INT,    NSX_SUM_INT, OF_STEP(helper) },
	{ "kept",       NSX_CELL_INT,    NSX_SUM_INT, OF_STEP(kept) },
};
static const struct nsx_sum_def steps = {
	.size = sizeof(struct step_row), .cols = step_cols, .ncols = sizeof step_cols / sizeof *step_cols,
	.rank = "class device step period between compute exposed idle copy span start"
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
