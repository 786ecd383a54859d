/* rows.c -- the two tables of nsysx-steps. */
#include "table/steps/rows.h"

#include <stdlib.h>

#include "base/stat.h"
#include "base/sort.h"

/* The columns of each step. */
enum measure { PERIOD, SPAN, BUSY, COMPUTE, EXPOSED, COPY, IDLE, BETWEEN, NMEASURES };
enum { STATISTICS = 5, KEYS = 3 };

/* The value of a step, NSX_ABSENT if it has none. Parts are of the period, and add up to it. */
static int64_t
value(const struct nsx_step_of *o, enum measure m)
{
	int64_t span = o->last - o->first, idle = o->sums.part[NSX_PART_IDLE];

	switch (m) {
	case PERIOD:  return o->period;
	case SPAN:    return span;
	case BUSY:    return idle == NSX_ABSENT ? NSX_ABSENT : o->period - idle;
	case COMPUTE: return o->sums.part[NSX_PART_COMPUTE];
	case EXPOSED: return o->sums.part[NSX_PART_COMM];
	case COPY:    return o->sums.part[NSX_PART_COPY];
	case IDLE:    return idle;
	case BETWEEN: return o->period == NSX_ABSENT ? NSX_ABSENT : o->period - span;
	case NMEASURES: break;
	}
	return NSX_ABSENT;
}

#define FIVE(what) \
	{ what "_mean", NSX_CELL_MEAN_NS }, { what "_p50", NSX_CELL_NS }, { what "_p90", NSX_CELL_NS }, \
	{ what "_p99", NSX_CELL_NS }, { what "_max", NSX_CELL_NS }

static const struct nsx_table_col class_cols[KEYS + NMEASURES * STATISTICS] = {
	{ "class", NSX_CELL_STRING }, { "device", NSX_CELL_ID }, { "count", NSX_CELL_INT },
	FIVE("period"), FIVE("span"), FIVE("busy"), FIVE("compute"), FIVE("exposed"), FIVE("copy"), FIVE("idle"),
	    FIVE("between")
};

/* The statistics of n steps, one measure; room for n values. */
static void
put_statistics(struct nsx_table *t, int col, const struct nsx_step_of *o, size_t n, enum measure m, int64_t *room)
{
	static const int percentiles[] = { 50, 90, 99, 100 };
	size_t k = 0;
	struct nsx_stat stat = { 0 };

	for (size_t i = 0; i < n; i++) {
		int64_t v = value(&o[i], m);

		if (v != NSX_ABSENT && (m == SPAN || o[i].kept)) {
			room[k++] = v;
			nsx_stat_add(&stat, v);
		}
	}
	if (!k)
		return;
	qsort(room, k, sizeof *room, nsx_sort_by_int);
	nsx_table_double(t, col, nsx_stat_mean(&stat));
	for (int i = 0; i < STATISTICS - 1; i++)
		nsx_table_int(t, col + 1 + i, nsx_percentile(room, k, percentiles[i]));
}

static struct nsx_table *
class_table(const struct nsx_step_set *s)
{
	struct nsx_table *t = nsx_table_new(class_cols, KEYS + NMEASURES * STATISTICS);
	nsx_table_rank(t, "class device period_p50 period_p99 exposed_mean compute_mean idle_mean count period_max "
	                  "copy_mean period_p90");
	int64_t *room = malloc((s->list.n + 1) * sizeof *room);

	for (size_t i = 0, n; t && room && i < s->list.n; i += n) {
		const struct nsx_step_of *o = &s->list.p[i];

		for (n = 1; i + n < s->list.n && o[n].class == o->class && o[n].device == o->device;)
			n++;
		nsx_table_row(t);
		nsx_table_str(t, 0, nsx_intern_str(&s->names, o->class));
		nsx_table_int(t, 1, s->cat.devices.p[o->device].number);
		nsx_table_int(t, 2, (int64_t)n);
		for (int m = 0; m < NMEASURES; m++)
			put_statistics(t, KEYS + m * STATISTICS, o, n, (enum measure)m, room);
	}
	if (t && !room) {
		nsx_table_free(t);
		t = NULL;
	}
	free(room);
	return t;
}

enum { E_CLASS, E_DEVICE, E_STEP, E_RANGE, E_HOST_START, E_HOST_DUR, E_START, E_SPAN, E_PERIOD, E_BUSY, E_COMPUTE,
       E_EXPOSED, E_HIDDEN, E_COPY, E_IDLE,
       E_BETWEEN, E_OPS, E_HELPER, E_NCOLS };

static const struct nsx_table_col each_cols[E_NCOLS] = {
	[E_CLASS]      = { "class", NSX_CELL_STRING },
	[E_DEVICE]     = { "device", NSX_CELL_ID },
	[E_STEP]       = { "step", NSX_CELL_ID },
	[E_RANGE]      = { "range", NSX_CELL_ID },
	[E_HOST_START] = { "host_start", NSX_CELL_TIME },
	[E_HOST_DUR]   = { "host_dur", NSX_CELL_NS },
	[E_START]      = { "start", NSX_CELL_TIME },
	[E_SPAN]       = { "span", NSX_CELL_NS },
	[E_PERIOD]     = { "period", NSX_CELL_NS },
	[E_BUSY]       = { "busy", NSX_CELL_NS },
	[E_COMPUTE]    = { "compute", NSX_CELL_NS },
	[E_EXPOSED]    = { "exposed", NSX_CELL_NS },
	[E_HIDDEN]     = { "hidden", NSX_CELL_NS },
	[E_COPY]       = { "copy", NSX_CELL_NS },
	[E_IDLE]       = { "idle", NSX_CELL_NS },
	[E_BETWEEN]    = { "between", NSX_CELL_NS },
	[E_OPS]        = { "ops", NSX_CELL_INT },
	[E_HELPER]     = { "helper", NSX_CELL_INT },
};

static void
put_int(struct nsx_table *t, int col, int64_t v)
{
	if (v != NSX_ABSENT)
		nsx_table_int(t, col, v);
}

static struct nsx_table *
each_table(const struct nsx_step_set *s)
{
	struct nsx_table *t = nsx_table_new(each_cols, E_NCOLS);
	nsx_table_rank(t, "class device step period between compute exposed idle copy span start");

	for (size_t i = 0; t && i < s->list.n; i++) {
		const struct nsx_step_of *o = &s->list.p[i];
		const struct nsx_step *x = &s->steps.p[o->step];

		nsx_table_row(t);
		nsx_table_str(t, E_CLASS, nsx_intern_str(&s->names, o->class));
		nsx_table_int(t, E_DEVICE, s->cat.devices.p[o->device].number);
		nsx_table_int(t, E_STEP, o->number);
		put_int(t, E_RANGE, x->range);
		put_int(t, E_HOST_START, x->host_start);
		if (x->host_start != NSX_ABSENT)
			nsx_table_int(t, E_HOST_DUR, x->host_end - x->host_start);
		nsx_table_int(t, E_START, o->first);
		nsx_table_int(t, E_SPAN, value(o, SPAN));
		put_int(t, E_PERIOD, o->period);
		put_int(t, E_BUSY, value(o, BUSY));
		put_int(t, E_COMPUTE, value(o, COMPUTE));
		put_int(t, E_EXPOSED, value(o, EXPOSED));
		put_int(t, E_HIDDEN, o->sums.hidden);
		put_int(t, E_COPY, value(o, COPY));
		put_int(t, E_IDLE, value(o, IDLE));
		put_int(t, E_BETWEEN, value(o, BETWEEN));
		if (o->device < s->timelines.n && s->timelines.p[o->device].parts.begun) {
			nsx_table_int(t, E_OPS, o->ops);
			nsx_table_int(t, E_HELPER, o->helper);
		}
	}
	return t;
}

struct nsx_table *
nsx_steps_table(const struct nsx_step_set *s, bool each)
{
	return each ? each_table(s) : class_table(s);
}
