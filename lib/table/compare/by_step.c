/* by_step.c -- compares streams by steps: time from start to start, activities of devices in that time, and the lengths
 * of the steps themselves.
 *
 * The activities of a device cover the time up to the start of its next step, so that idle time between steps is
 * included, and they add up:
 *
 *   step 0 [0,80)   step 1 [100,170)   kernels [0,50) [60,80) [100,170)
 *   ->  period 100 = compute 70 + idle 30;  span 80 of step 0, 70 of step 1
 *
 * If the stream has CUDA calls it is read a second time, and idle time is also split by cause, as in nsysx-idle. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/stat.h"
#include "table/compare/sides.h"
#include "table/idle/idle.h"
#include "table/steps/explain.h"
#include "table/steps/rows.h"

/* Percent of a period above which its noise is reported. */
#define BLIND 10
/* Number of steps for a p99 that is compared. */
#define TAIL 10

enum stat { PERIOD, COMPUTE, EXPOSED, COPY, IDLE, CAUSES, SPAN = CAUSES + NSX_NCAUSES, NSTATS };
static const char *const names[NSTATS] = {
	[PERIOD] = "period", [COMPUTE] = "compute", [EXPOSED] = "exposed", [COPY] = "copy", [IDLE] = "idle",
	[SPAN] = "span"
};
static const enum nsx_part parts[] = {
	[COMPUTE] = NSX_PART_COMPUTE, [EXPOSED] = NSX_PART_COMM, [COPY] = NSX_PART_COPY, [IDLE] = NSX_PART_IDLE
};

/* The name of a time in cmp.strs; NSX_NONE when out of memory. */
static uint32_t
name_of(struct cmp *c, int stat)
{
	c->text.len = 0;
	if (stat >= CAUSES && stat < SPAN)
		nsx_buf_fmt(&c->text, "idle:%s", nsx_cause_name((enum nsx_cause)(stat - CAUSES)));
	else
		nsx_buf_c(&c->text, names[stat]);
	return c->text.failed ? (uint32_t)NSX_NONE : nsx_intern(&c->strs, nsx_buf_view(&c->text));
}

/* ---- one side */

/* Data collected from a stream. causes: of step i of the list [i * NSX_NCAUSES ...]; NULL: unknown. */
struct loaded { struct nsx_step_set set; int64_t *causes; };

static int
by_device(const void *a, const void *b)
{
	const struct nsx_window_given *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

/* Read the stream a second time for the causes of idle time from each start to the next. NSX_OK or NSX_ERR. */
static int
read_causes(struct cmp *c, struct loaded *l, struct nsx_spool *again, struct nsx_diags *diags)
{
	struct nsx_idle_options options = { .by = NSX_WINDOWS_GIVEN, .latency = NSX_IDLE_LATENCY };
	struct idle idle = { .options = &options, .diags = diags, .err = c->err };
	NSX_VEC(struct nsx_window_given) windows = { 0 };
	NSX_VEC(size_t) of = { 0 };
	struct nsx_reader *in = nsx_spool_reader(again);
	bool good = true;
	int rc = in ? NSX_OK : NSX_ERR;

	for (size_t i = 0; good && i < l->set.list.n; i++) {
		const struct nsx_step_of *o = &l->set.list.p[i];

		int64_t key = (int64_t)of.n;

		good = !o->kept
		       || (nsx_vec_push(&of, i)
		           && nsx_vec_push(&windows, ((struct nsx_window_given){ l->set.cat.devices.p[o->device].number,
		           	o->first, o->next, key, NSX_NONE })));
	}
	/* Steps are listed by class first. */
	if (windows.n)
		qsort(windows.p, windows.n, sizeof *windows.p, by_device);
	l->causes = calloc(l->set.list.n + 1, NSX_NCAUSES * sizeof *l->causes);
	if (rc == NSX_OK && (!good || !l->causes))
		rc = nsx_err_nomem(c->err, NULL);
	options.given = windows.p;
	options.ngiven = windows.n;
	if (in)
		nsx_idle_need(&idle, in);
	if (rc == NSX_OK && (rc = nsx_idle_begin(&idle)) == NSX_OK && (rc = nsx_read_all(in, NULL, nsx_idle_take, &idle,
	    c->err)) == NSX_OK)
		rc = nsx_idle_finish(&idle);
	for (size_t i = 0; rc == NSX_OK && i < idle.windows.n; i++) {
		const struct idle_window *w = &idle.windows.p[i];

		/* Removed time is no part of a period. */
		for (int k = 0; k < NSX_NCAUSES && w->key >= 0 && (size_t)w->key < of.n; k++)
			if (nsx_causes[k].group != NSX_CAUSES_REMOVED)
				l->causes[of.p[w->key] * NSX_NCAUSES + (size_t)k] +=
				    w->cells[nsx_cause_cell((enum nsx_cause)k)].ns;
	}
	if (rc == NSX_OK)
		rc = nsx_idle_report(&idle);
	nsx_idle_free(&idle);
	nsx_reader_close(in);
	free(windows.p);
	free(of.p);
	return rc;
}

/* The times of a step; NSX_ABSENT: not known. */
static void
measure(const struct loaded *l, const struct nsx_step_of *o, int64_t times[NSTATS])
{
	const struct nsx_step_set *set = &l->set;

	for (int k = 0; k < NSTATS; k++)
		times[k] = NSX_ABSENT;
	times[SPAN] = o->last - o->first;
	/* A period with a step of another class in it says more than the step. */
	if (o->kept)
		times[PERIOD] = o->period;
	/* From executions alone, without operations, the activities of devices are not known. */
	if (!o->kept || !set->ops || o->sums.hidden == NSX_ABSENT)
		return;
	for (int k = COMPUTE; k <= IDLE; k++)
		times[k] = o->sums.part[parts[k]];
	for (int k = 0; k < NSX_NCAUSES && l->causes; k++)
		times[CAUSES + k] = l->causes[(size_t)(o - set->list.p) * NSX_NCAUSES + (size_t)k];
}

/* Add the times of n steps, those of one step together. */
static void
add_up(const int64_t *times, size_t n, struct nsx_stat stat[NSTATS])
{
	memset(stat, 0, NSTATS * sizeof *stat);
	for (size_t i = 0; i < n * NSTATS; i++)
		if (times[i] != NSX_ABSENT)
			nsx_stat_add(&stat[i % NSTATS], times[i]);
}

static int
time_cmp(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

	return (a > b) - (a < b);
}

/* Set the number and the percentiles of the times of n steps, for the rows from `first` on. False when out of
 * memory. */
static bool
spread(struct cmp_side *s, uint32_t first, const int64_t *times, size_t n)
{
	int64_t *sorted = malloc(n * sizeof *sorted);

	while (s->spreads.n < s->rows.n)
		if (!nsx_vec_push(&s->spreads, (struct cmp_spread){ .n = 0 })) {
			free(sorted);
			return false;
		}
	for (uint32_t k = 0; k < NSTATS && sorted; k++) {
		size_t m = 0;

		for (size_t i = 0; i < n; i++)
			if (times[i * NSTATS + k] != NSX_ABSENT)
				sorted[m++] = times[i * NSTATS + k];
		if (m > 1)
			qsort(sorted, m, sizeof *sorted, time_cmp);
		if (m)
			s->spreads.p[first + k] = (struct cmp_spread){ (int64_t)m, nsx_percentile(sorted, m, 50),
			                                               nsx_percentile(sorted, m, 99) };
	}
	bool good = sorted != NULL;
	free(sorted);
	return good;
}

struct numbered { int64_t number; size_t i; };

static int
by_number(const void *pa, const void *pb)
{
	const struct numbered *a = pa, *b = pb;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->i > b->i) - (a->i < b->i);
}

/* Give the rows from `first` on the times of n steps in the order of steps: of several devices the mean of each step.
 * False when out of memory. */
static bool
keep_series(struct cmp_side *s, uint32_t first, const struct nsx_step_of *o, const int64_t *times, size_t n)
{
	struct numbered *order = malloc(n * sizeof *order);
	double *v = malloc(n * sizeof *v);
	bool good = order && v;

	for (size_t i = 0; i < n && good; i++)
		order[i] = (struct numbered){ o[i].number, i };
	if (good && n > 1)
		qsort(order, n, sizeof *order, by_number);
	for (uint32_t k = 0; k < NSTATS && good; k++) {
		size_t steps = 0;

		for (size_t i = 0, m; i < n; i = m) {
			double sum = 0, devices = 0;

			for (m = i; m < n && order[m].number == order[i].number; m++) {
				int64_t time = times[order[m].i * NSTATS + k];

				sum += time == NSX_ABSENT ? 0 : (double)time;
				devices += time != NSX_ABSENT;
			}
			if (devices > 0)
				v[steps++] = sum / devices;
		}
		good = nsx_compare_add_series(s, first + k, v, steps);
	}
	free(order);
	free(v);
	return good;
}

/* Create the rows of a class, one for each time: returns the first; NSX_NONE when out of memory. device: NSX_ABSENT for
 * all of them. */
static uint32_t
add_rows(struct cmp *c, struct cmp_side *s, uint32_t program, int64_t device, bool detail)
{
	uint32_t first = (uint32_t)s->rows.n;

	for (int k = 0; k < NSTATS; k++) {
		struct cmp_row row = { .program = program, .number = device, .opcode = NSX_NONE, .op_name = NSX_NONE,
		                       .stack = NSX_NONE, .detail = detail || k != SPAN,
		                       .optional = k >= CAUSES && k < SPAN };
		uint32_t at;

		row.name = row.stem = name_of(c, k);
		/* The key by which rows of a device are matched with the other side. */
		c->text.len = 0;
		nsx_buf_fmt(&c->text, "%" PRId64, device);
		if (detail)
			row.opcode = c->text.failed ? (uint32_t)NSX_NONE : nsx_intern(&c->strs, nsx_buf_view(&c->text));
		at = row.name == NSX_NONE || (detail && row.opcode == NSX_NONE) ? (uint32_t)NSX_NONE
		    : nsx_compare_row_add(s, row);
		if (at == NSX_NONE)
			return NSX_NONE;
		if (k != PERIOD && k != SPAN)
			s->rows.p[at].of = first;
	}
	return first;
}

static bool
add_times(struct cmp_side *s, uint32_t first, uint32_t device, const struct nsx_stat stat[NSTATS])
{
	for (uint32_t k = 0; k < NSTATS; k++) {
		struct cmp_cell *cell = stat[k].n ? nsx_compare_cell_at(s, first + k, device) : NULL;

		if (!stat[k].n)
			continue;
		if (!cell)
			return false;
		cell->stat = stat[k];
		s->rows.p[first + k].sum += (nsx_u128)stat[k].sum;
	}
	return true;
}

/* The class as a program: executions have the key NAME@ID, of which only NAME is the same after recompilation. */
static uint32_t
add_class(struct cmp *c, struct cmp_side *s, const struct nsx_step_set *set, uint32_t class)
{
	struct nsx_str key = nsx_intern_str(&set->names, class), name = key;
	struct cmp_program p = { .number = (int64_t)s->programs.n, .id = NSX_ABSENT, .fingerprint = NSX_NONE,
	                         .dumped = NSX_NONE, .run = NSX_NONE, .pair = NSX_NONE };

	for (size_t i = key.len; set->kind == NSX_STEP_MODULE && i-- > 1;)
		if (key.ptr[i] == '@') {
			name.len = i;
			break;
		}
	p.key = nsx_intern(&c->strs, key);
	p.name = nsx_intern(&c->strs, name);
	p.whole = nsx_compare_row_add(s, (struct cmp_row){
		.program = (uint32_t)s->programs.n, .whole = true, .name = NSX_NONE, .stem = NSX_NONE,
		.opcode = NSX_NONE, .op_name = NSX_NONE, .stack = NSX_NONE
	});
	return p.key != NSX_NONE && p.name != NSX_NONE && p.whole != NSX_NONE && nsx_vec_push(&s->programs, p)
	       ? (uint32_t)(s->programs.n - 1) : (uint32_t)NSX_NONE;
}

/* Add n steps of a class, sorted by device and start; there is space for their times. */
static bool
take_class(struct cmp *c, struct cmp_side *s, const struct loaded *l, const struct nsx_step_of *o, size_t n,
           int64_t *times)
{
	const struct nsx_step_set *set = &l->set;
	uint32_t program = add_class(c, s, set, o->class), all, own;
	bool several = o[0].device != o[n - 1].device;
	struct nsx_stat stat[NSTATS];
	int64_t ndevices = 0;

	if (program == NSX_NONE)
		return false;
	for (size_t i = 0; i < n; i++)
		measure(l, &o[i], &times[i * NSTATS]);
	all = add_rows(c, s, program, several ? NSX_ABSENT : set->cat.devices.p[o->device].number, false);
	if (all == NSX_NONE || !spread(s, all, times, n) || !keep_series(s, all, o, times, n))
		return false;
	for (size_t i = 0, m; i < n; i += m) {
		uint32_t *known = nsx_map_at(&s->devices, (struct nsx_key){ o[i].device, 0 });

		for (m = 1; i + m < n && o[i + m].device == o[i].device;)
			m++;
		add_up(&times[i * NSTATS], m, stat);
		if (!known || !add_times(s, all, o[i].device, stat))
			return false;
		*known = 1;
		ndevices++;
		own = several ? add_rows(c, s, program, set->cat.devices.p[o[i].device].number, true)
		    : (uint32_t)NSX_NONE;
		if (several && (own == NSX_NONE || !add_times(s, own, o[i].device, stat) || !spread(s, own, &times[i *
		    NSTATS], m) || !keep_series(s, own, &o[i], &times[i * NSTATS], m)))
			return false;
	}
	s->programs.p[program].execs = (int64_t)n;
	s->programs.p[program].devices = ndevices;
	s->programs.p[program].time = s->rows.p[all + SPAN].sum;
	s->time += s->rows.p[all + SPAN].sum;
	return true;
}

int
nsx_compare_read_steps(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags)
{
	struct nsx_steps_options options = { .step = c->options.step, .module = c->options.module };
	struct loaded l = { .set = { .err = c->err } };
	struct nsx_step_set *set = &l.set;
	struct nsx_spool *again = nsx_spool_open(c->err);
	struct nsx_diags own = { .failed = false };
	int rc;

	nsx_steps_again_need(s->in);
	rc = again ? nsx_steps_collect(s->in, &options, set, again, &own, c->err) : NSX_ERR;
	bool good = true;

	if (rc == NSX_OK && set->calls && set->list.n)
		rc = read_causes(c, &l, again, &own);
	s->each = true;
	s->diags = set->ndiags;
	for (size_t i = 0, n; rc == NSX_OK && good && i < set->list.n; i += n) {
		for (n = 1; i + n < set->list.n && set->list.p[i + n].class == set->list.p[i].class;)
			n++;
		int64_t *times = calloc(n, NSTATS * sizeof *times);

		good = times && take_class(c, s, &l, &set->list.p[i], n, times);
		free(times);
	}
	if (rc == NSX_OK && (!good || !nsx_compare_take_models(c, s, &set->cat)))
		rc = nsx_err_nomem(c->err, NULL);
	nsx_compare_pass_diags(s, &own, diags);
	nsx_steps_free(set);
	nsx_spool_free(again);
	free(l.causes);
	return rc;
}

/* ---- results */

static enum stat
stat_of(const struct cmp *c, int side, const struct cmp_row *row)
{
	/* Rows of a class and device follow each other, and the first one is the period; a row without a reference is
	 * the period itself, or the span of a single step. */
	const struct cmp_row *first = row->of == NSX_NONE ? NULL : &c->side[side].rows.p[row->of];

	if (first)
		return (enum stat)(row - first);
	return nsx_str_eq(cmp_str(c, row->name), nsx_str_c(names[SPAN])) ? SPAN : PERIOD;
}

static void
order_key(const struct cmp *c, const struct cmp_result *r, struct cmp_order *o)
{
	const struct cmp_program *p = nsx_compare_program_of(c, r);
	const struct cmp_row *row = nsx_compare_row_shown(r);

	o->class = cmp_str(c, p->key);
	o->at[0] = p->number;
	o->at[1] = row->opcode == NSX_NONE ? NSX_ABSENT : row->number;
	o->at[2] = stat_of(c, r->row[NSX_COMPARE_NEW] ? NSX_COMPARE_NEW : NSX_COMPARE_BASE, row);
}

bool
nsx_compare_order_steps(const struct cmp *c, struct cmp_result *r, size_t n)
{
	return nsx_compare_order(c, r, n, order_key);
}

static double
mean_of(const struct cmp *c, int side, const struct cmp_row *row, bool *known)
{
	struct cmp_time t = nsx_compare_time_of(&c->side[side], row);

	*known &= t.n > 0;
	return t.mean;
}

void
nsx_compare_tell_growth(const struct cmp *c, const struct cmp_result *r, struct nsx_buf *text)
{
	double grown[SPAN] = { 0 };
	const char *before = "; of that";
	bool causes = false, work = false;

	if (!r->row[0] || !r->row[1] || stat_of(c, NSX_COMPARE_BASE, r->row[0]) != PERIOD)
		return;
	/* Rows of one class and device follow each other. */
	for (int k = COMPUTE; k < SPAN; k++) {
		bool known = true;
		double was = mean_of(c, NSX_COMPARE_BASE, r->row[NSX_COMPARE_BASE] + k, &known);

		/* A side without operations has no parts: those of the other side are no growth. */
		grown[k] = mean_of(c, NSX_COMPARE_NEW, r->row[NSX_COMPARE_NEW] + k, &known) - was;
		if (!known)
			grown[k] = 0;
		causes |= k >= CAUSES && r->row[0][k].sum && r->row[1][k].sum;
	}
	/* Idle time by cause, if both sides have causes. */
	for (int k = IDLE; k < SPAN; k++)
		grown[k] = causes == (k == IDLE) ? 0 : grown[k];
	for (int told = 0; told < SPAN; told++) {
		int most = PERIOD;

		for (int k = COMPUTE; k < SPAN; k++)
			if (grown[k] > grown[most])
				most = k;
		if (grown[most] <= r->diff / 100 || grown[most] <= 0)
			break;
		struct nsx_str name = cmp_str(c, r->row[0][most].name);

		nsx_buf_fmt(text, "%s %.*s +%s", before, (int)name.len, name.ptr,
		            nsx_ns_text(grown[most]).s);
		grown[most] = 0;
		before = ",";
		work |= most < IDLE;
	}
	if (work)
		nsx_buf_fmt(text, ", see --by %s", nsx_compare_program_of(c, r)->name ==
		            nsx_compare_program_of(c, r)->key ? "kernel" : "thunk");
}

bool
nsx_compare_is_class(const struct cmp *c, const struct cmp_result *r)
{
	const struct cmp_row *row = nsx_compare_row_shown(r);

	return row->opcode == NSX_NONE &&
	       stat_of(c, r->row[NSX_COMPARE_NEW] ? NSX_COMPARE_NEW : NSX_COMPARE_BASE, row) == PERIOD;
}

enum { CLASS, DEVICE, STATISTIC, BASE, NEW, DELTA, CHANGE, NOISE, VERDICT, STEPS, P50 = STEPS + 2, P99 = P50 + 2,
       EFFECTIVE = P99 + 2, WITNESS = EFFECTIVE + 2, NCOLS };

static const struct nsx_table_col cols[NCOLS] = {
	[CLASS]     = { "class", NSX_CELL_STRING },
	[DEVICE]    = { "device", NSX_CELL_ID },
	[STATISTIC] = { "statistic", NSX_CELL_STRING },
	[BASE]      = { "base", NSX_CELL_MEAN_NS },
	[NEW]       = { "new", NSX_CELL_MEAN_NS },
	[DELTA]     = { "delta", NSX_CELL_MEAN_NS },
	[CHANGE]   = { "change", NSX_CELL_SHARE },
	[NOISE]     = { "noise", NSX_CELL_MEAN_NS },
	[VERDICT]   = { "verdict", NSX_CELL_STRING },
	[STEPS]     = { "base_steps", NSX_CELL_INT },
	[STEPS + 1] = { "new_steps", NSX_CELL_INT },
	[P50]       = { "base_p50", NSX_CELL_NS },
	[P50 + 1]   = { "new_p50", NSX_CELL_NS },
	[P99]       = { "base_p99", NSX_CELL_NS },
	[P99 + 1]   = { "new_p99", NSX_CELL_NS },
	[EFFECTIVE] = { "base_n_eff", NSX_CELL_DOUBLE },
	[EFFECTIVE + 1] = { "new_n_eff", NSX_CELL_DOUBLE },
	[WITNESS]   = { "witness", NSX_CELL_STRING },
};

static void
put(const struct cmp *c, struct nsx_table *t, const struct cmp_result *r)
{
	const struct cmp_row *row = nsx_compare_row_shown(r), *base = r->row[NSX_COMPARE_BASE];
	bool both = base && r->row[NSX_COMPARE_NEW];

	nsx_table_row(t);
	nsx_table_str(t, CLASS, cmp_str(c, nsx_compare_program_of(c, r)->key));
	if (row->number != NSX_ABSENT && (!both || base->number == row->number))
		nsx_table_int(t, DEVICE, row->number);
	nsx_table_str(t, STATISTIC, cmp_str(c, row->name));
	nsx_compare_put_change(t, r, &(struct cmp_change){ BASE, DELTA, CHANGE, NOISE, -1, VERDICT });
	if (r->sampled) {
		int want = r->verdict == CMP_SLOWER ? 1 : r->verdict == CMP_FASTER ? -1 : 0;
		bool means = want && r->witness.means == want, ranks = want && r->witness.ranks == want;

		for (int k = 0; k < 2; k++)
			nsx_table_double(t, EFFECTIVE + k, r->witness.of[k].n_eff);
		nsx_table_str(t, WITNESS, nsx_str_c(means && ranks ? "both" : means ? "mean" : ranks ? "ranks" : ""));
	}
	for (int k = 0; k < 2; k++)
		if (r->row[k]) {
			const struct cmp_side *s = &c->side[k];
			const struct cmp_spread *spread = &s->spreads.p[r->row[k] - s->rows.p];

			nsx_table_int(t, STEPS + k, spread->n);
			nsx_table_int(t, P50 + k, spread->p50);
			nsx_table_int(t, P99 + k, spread->p99);
		}
}

/* Whether it is a row of a class, or of one of its devices, that is on one side only, except the row that reports this:
 * the period (of all devices, if the whole class is on one side), or the span if there is no period. */
static bool
is_detail_of_one(const struct cmp *c, const struct cmp_result *r)
{
	const struct cmp_row *row = nsx_compare_row_shown(r);
	int side = r->row[NSX_COMPARE_NEW] ? NSX_COMPARE_NEW : NSX_COMPARE_BASE;
	enum stat stat = stat_of(c, side, row);
	bool alone = nsx_compare_program_of(c, r)->pair == NSX_NONE;

	if (r->row[0] && r->row[1])
		return false;
	if (alone && row->opcode != NSX_NONE)
		return true;
	return stat == SPAN ? nsx_compare_time_of(&c->side[side], row - SPAN).n > 0 : stat != PERIOD;
}

/* A period whose noise is a large share of it hides smaller differences: "same" is then not reliable. Nor is it if the
 * period grew by more than the minimum differences and the noise alone is why it is not slower. */
static void
tell_blind(const struct cmp *c, const struct cmp_result *r, struct nsx_table *t, struct nsx_diags *diags)
{
	double mean = r->time[NSX_COMPARE_BASE].mean;
	double share = r->has_noise && mean > 0 ? 100 * r->noise / mean : 0;
	struct nsx_str class = cmp_str(c, nsx_compare_program_of(c, r)->key);
	int len = (int)(class.len < 200 ? class.len : 200);

	if (!nsx_compare_is_class(c, r))
		return;
	if (r->verdict == CMP_HIDDEN && r->diff > 0) {
		nsx_table_note(t, "the period of %.*s grew by %.1f%%, less than its noise, %.1f%%: hidden; compare "
		               "more steps", len, class.ptr, 100 * r->diff / mean, share);
		nsx_diag_add(diags, NSX_WARNING, "", 1, "%.*s: the period grew by %.1f%%, less than its noise, %.1f%%: "
		             "hidden; compare more steps", len, class.ptr, 100 * r->diff / mean, share);
		return;
	}
	if (r->verdict != CMP_SAME || share <= c->options.percent || share <= BLIND)
		return;
	nsx_table_note(t, "the noise of the period of %.*s is %.0f%% of it: an increase of less is not seen; compare "
	               "more steps", len, class.ptr, share);
	nsx_diag_add(diags, NSX_WARNING, "", 1, "%.*s: the noise of the period is %.0f%% of it: an increase of less is "
	             "not seen; compare more steps", len, class.ptr, share);
}

/* A period that has clearly grown, but by less than the limits: "same" then only means that such differences were not
 * requested. */
static void
tell_small(const struct cmp *c, const struct cmp_result *r, struct nsx_table *t, struct nsx_diags *diags)
{
	struct nsx_str class = cmp_str(c, nsx_compare_program_of(c, r)->key);
	int len = (int)(class.len < 200 ? class.len : 200);
	const char *limit = r->diff > (double)c->options.absolute ? "--percent" : "--absolute";

	if (r->verdict != CMP_SAME || !r->has_noise || r->diff <= r->noise || !nsx_compare_is_class(c, r) ||
	    r->diff <= c->options.minor / 100 * r->time[NSX_COMPARE_BASE].mean)
		return;
	nsx_table_note(t, "the period of %.*s grew by %s, more than its noise of %s, but no more than %s allows: same",
	               len,
	               class.ptr, nsx_ns_text(r->diff).s, nsx_ns_text(r->noise).s, limit);
	nsx_diag_add(diags, NSX_WARNING, "", 1,
	             "%.*s: the period grew by %s, more than its noise of %s, but no more than %s allows: same", len,
	             class.ptr, nsx_ns_text(r->diff).s, nsx_ns_text(r->noise).s, limit);
}

/* A few slow steps hardly change the mean, which is judged, and increase the noise. Of less than TAIL steps p99 is no
 * more than the one that happened to be the slowest. */
static void
tell_tail(const struct cmp *c, const struct cmp_result *r, struct nsx_table *t, struct nsx_diags *diags)
{
	struct nsx_str class = cmp_str(c, nsx_compare_program_of(c, r)->key);
	int len = (int)(class.len < 200 ? class.len : 200);
	const struct cmp_spread *spread[2];
	double grew;

	if (r->verdict != CMP_SAME || !nsx_compare_is_class(c, r) || !r->row[0] || !r->row[1])
		return;
	for (int k = 0; k < 2; k++) {
		size_t at = (size_t)(r->row[k] - c->side[k].rows.p);

		if (at >= c->side[k].spreads.n || c->side[k].spreads.p[at].n < TAIL)
			return;
		spread[k] = &c->side[k].spreads.p[at];
	}
	grew = (double)spread[NSX_COMPARE_NEW]->p99 - (double)spread[NSX_COMPARE_BASE]->p99;
	if (grew <= (double)c->options.absolute || grew <= BLIND / 100. * (double)spread[NSX_COMPARE_BASE]->p99 ||
	    grew <= c->options.percent / 100 * (double)spread[NSX_COMPARE_BASE]->p99)
		return;
	nsx_table_note(t, "p99 of the period of %.*s grew from %s to %s, but means are judged; nsysx-steps --explain "
	               "shows why", len, class.ptr, nsx_ns_text((double)spread[NSX_COMPARE_BASE]->p99).s,
	               nsx_ns_text((double)spread[NSX_COMPARE_NEW]->p99).s);
	nsx_diag_add(diags, NSX_WARNING, "", 1, "%.*s: p99 of the period grew from %s to %s, but means are judged; "
	             "nsysx-steps --explain shows why", len, class.ptr,
	             nsx_ns_text((double)spread[NSX_COMPARE_BASE]->p99).s,
	             nsx_ns_text((double)spread[NSX_COMPARE_NEW]->p99).s);
}

int
nsx_compare_print_steps(struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_table **table,
                        struct nsx_diags *diags)
{
	struct nsx_table *t = *table = nsx_table_new(cols, NCOLS);
	nsx_table_rank(t, "class statistic base new change verdict device delta noise base_p50 new_p50 base_p99 "
	                  "new_p99 witness base_n_eff new_n_eff");
	nsx_table_brief(t, "class device statistic base new change base_p99 new_p99 verdict");

	if (!t)
		return nsx_err_nomem(c->err, NULL);
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < c->side[k].programs.n; i++) {
			const struct cmp_program *p = &c->side[k].programs.p[i];
			struct nsx_str class = cmp_str(c, p->key);

			nsx_table_note(t, "%s has %" PRId64 " steps of %.*s on %" PRId64 " device%s%s", c->side[k].name,
			               p->execs, (int)(class.len < 200 ? class.len : 200), class.ptr, p->devices,
			               p->devices == 1 ? "" : "s",
			               p->devices ? "; the last of each has no period" : "");
		}
	for (size_t i = 0; i < n; i++) {
		tell_blind(c, &r[i], t, diags);
		tell_small(c, &r[i], t, diags);
		tell_tail(c, &r[i], t, diags);
	}
	for (size_t i = 0; i < n; i++)
		if (cmp_shows(c, &r[i]) && !(c->options.changed && is_detail_of_one(c, &r[i])))
			put(c, t, &r[i]);
	return NSX_OK;
}
