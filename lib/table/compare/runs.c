/* runs.c -- several base runs as one side, and the noise between them.
 *
 * Steps of one run share its clocks, nodes and neighbours, so that more of them do not show how runs differ; several
 * runs do. Each counts as one value, the mean (or median, or 99th percentile) of its steps. For example, mean periods,
 * us:
 *
 *     BASE 100 102 99 101 98 100    mean 100, s 1.414        NEW 107
 *     t for 5 degrees of freedom and a probability of 0.000675 is 6.43: noise 6.43 * 1.414 * sqrt(1 + 1/6) = 9.83
 *
 * The difference of 7 is noise. Within the runs, of which each has steps that differ by 1, it would not be. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "table/compare/join.h"

/* What the row of a side that is a single run is in it, but for `values`. False when out of memory. */
static bool
run_of(const struct cmp_side *s, const struct cmp_row *row, struct cmp_run *run)
{
	struct nsx_sample of = cmp_sample(s, row);
	double mean = row->time.mean;

	*run = (struct cmp_run){ .n = of.n ? of.n : row->time.n > 0, .mean = mean, .median = mean, .p99 = mean };
	if (!of.n)
		return true;   /* a time of the whole run */
	double *sorted = malloc(of.n * sizeof *sorted);

	for (size_t i = 0; i < of.n && sorted; i++)
		sorted[i] = of.v[i];
	if (!sorted)
		return false;
	qsort(sorted, of.n, sizeof *sorted, nsx_sort_by_double);
	run->median = sorted[nsx_percentile_rank(of.n, 50)];
	run->p99 = sorted[nsx_percentile_rank(of.n, 99)];
	free(sorted);
	return true;
}

/* ---- the side */

/* The row `to` of the side is this one in a run, whose values the side has there. False when out of memory. */
static bool
note_run(struct cmp_side *s, uint32_t to, const struct cmp_side *one, const struct cmp_row *row,
         struct cmp_series values)
{
	struct cmp_run run;

	if (!run_of(one, row, &run))
		return false;
	run.values = values;
	return !run.n || nsx_vec_push(&s->rows.p[to].runs, run);
}

bool
nsx_compare_begin_runs(struct cmp_side *s, size_t n)
{
	s->nruns = n;
	for (size_t i = 0; i < s->groups.n; i++)
		s->groups.p[i].runs = 1;
	for (uint32_t i = 0; i < s->rows.n; i++)
		if (!note_run(s, i, s, &s->rows.p[i], s->rows.p[i].samples))
			return false;
	return true;
}

/* Add the times of a row of a single run to that of the side. False when out of memory. */
static bool
add_row(struct cmp_side *s, uint32_t to, const struct cmp_side *one, const struct cmp_row *row)
{
	struct nsx_sample of = cmp_sample(one, row);
	struct cmp_time *t = &s->rows.p[to].time;

	if (!note_run(s, to, one, row, (struct cmp_series){ s->values.n, of.n }) || !nsx_vec_room(&s->values, of.n))
		return false;
	for (size_t i = 0; i < of.n; i++)
		s->values.p[s->values.n++] = of.v[i];
	t->n += row->time.n;
	t->sum += row->time.sum;
	t->p50 += row->time.p50;
	t->p99 += row->time.p99;
	s->rows.p[to].sum += row->sum;
	s->rows.p[to].leads &= row->leads;
	return true;
}

/* The group of a single run in the side, created if it is new; NSX_NONE when out of memory. */
static uint32_t
add_group(struct cmp_side *s, const struct cmp_group *g)
{
	if (g->pair == NSX_NONE) {
		struct cmp_group new = *g;

		new.runs = 1;
		return nsx_compare_group_add(s, new);
	}
	struct cmp_group *to = &s->groups.p[g->pair];

	to->execs += g->execs;
	to->periods += g->periods;
	to->ran += g->ran;
	to->runs++;
	to->time += g->time;
	to->devices = g->devices > to->devices ? g->devices : to->devices;
	return g->pair;
}

/* Rows of a class follow each other in every run, and are matched or not as a whole, so they do in the side too. map:
 * for the index in the side of each group and row of the run. */
static bool
add_all(struct cmp_side *s, const struct cmp_side *one, uint32_t *map)
{
	uint32_t *rows = map + one->groups.n;

	for (size_t i = 0; i < one->groups.n; i++) {
		const struct cmp_group *g = &one->groups.p[i];

		map[i] = add_group(s, g);
		if (map[i] == NSX_NONE)
			return false;
		rows[g->whole] = s->groups.p[map[i]].whole;
	}
	for (size_t i = 0; i < one->rows.n; i++) {
		struct cmp_row row = one->rows.p[i];

		if (row.whole)
			continue;
		row.group = map[row.group];
		row.sum = 0;
		row.time = (struct cmp_time){ 0 };
		row.samples = (struct cmp_series){ 0, 0 };
		/* The run's own. */
		row.comm = NULL;
		memset(&row.runs, 0, sizeof row.runs);
		rows[i] = row.pair != NSX_NONE ? row.pair : nsx_compare_row_add(s, row);
		if (rows[i] == NSX_NONE || !add_row(s, rows[i], one, &one->rows.p[i]))
			return false;
		if (row.pair == NSX_NONE && row.of != NSX_NONE)
			s->rows.p[rows[i]].of = rows[row.of];
		if (row.pair == NSX_NONE && row.decider != NSX_NONE)
			s->rows.p[rows[i]].decider = rows[row.decider];
	}
	return true;
}

int
nsx_compare_add_run(struct cmp *c)
{
	struct cmp_side *s = &c->side[NSX_COMPARE_BASE], *one = &c->side[NSX_COMPARE_NEW];

	if (nsx_compare_pair(c) != NSX_OK)
		return NSX_ERR;
	uint32_t *map = malloc((one->groups.n + one->rows.n + 1) * sizeof *map);
	bool good = map && add_all(s, one, map);

	free(map);
	for (size_t i = 0; i < one->models.n && good; i++)
		good = nsx_compare_add_model(s, one->models.p[i]);
	for (size_t i = 0; i < s->groups.n; i++)
		s->groups.p[i].pair = NSX_NONE;
	for (size_t i = 0; i < s->rows.n; i++)
		s->rows.p[i].pair = NSX_NONE;
	s->time += one->time;
	if (one->diags > 0 && s->diags >= 0)
		s->diags += one->diags;
	return good ? NSX_OK : nsx_err_nomem(c->err, NULL);
}

/* Of one or two runs the values are also judged as those of one: give the row all of them. */
static bool
join_values(struct cmp_side *s, struct cmp_row *row)
{
	row->samples = (struct cmp_series){ s->values.n, 0 };
	for (size_t k = 0; k < row->runs.n; k++) {
		struct cmp_series of = row->runs.p[k].values;

		if (!nsx_vec_room(&s->values, of.n))
			return false;
		for (size_t i = 0; i < of.n; i++)
			s->values.p[s->values.n++] = s->values.p[of.first + i];
		row->samples.n += of.n;
	}
	return true;
}

bool
nsx_compare_end_runs(struct cmp_side *s)
{
	for (size_t i = 0; i < s->rows.n; i++) {
		struct cmp_row *row = &s->rows.p[i];
		size_t have = row->runs.n;
		double sum = 0;

		for (size_t k = 0; k < have; k++)
			sum += row->runs.p[k].mean;
		if (!have)
			continue;
		row->time.mean = sum / (double)have;
		row->time.p50 /= (int64_t)have;
		row->time.p99 /= (int64_t)have;
		if (have < 3 && !join_values(s, row))
			return false;
	}
	return true;
}

/* ---- noise */

/* What of a run is compared. */
enum of { MEAN, MEDIAN, P99 };

static double
value_of(const struct cmp_run *run, enum of of)
{
	return of == MEAN ? run->mean : of == MEDIAN ? run->median : run->p99;
}

/* The runs of the row by that value. */
static struct cmp_between
between(const struct cmp_row *row, enum of of)
{
	struct cmp_between b = { .runs = 0 };
	double squares = 0;

	for (size_t k = 0; k < row->runs.n; k++) {
		const struct cmp_run *run = &row->runs.p[k];
		double value = value_of(run, of), from = value - b.mean;

		b.lowest = !k || value < b.lowest ? value : b.lowest;
		b.highest = !k || value > b.highest ? value : b.highest;
		b.least = !k || run->n < b.least ? run->n : b.least;
		b.mean += from / (double)++b.runs;
		squares += from * (value - b.mean);
	}
	if (b.runs > 1)
		b.deviation = sqrt(squares / (double)(b.runs - 1));
	return b;
}

struct cmp_between
nsx_compare_between(const struct cmp_row *row, bool tail)
{
	return between(row, tail ? P99 : MEAN);
}

/* The largest difference of a run from the mean of those of BASE that is chance. */
static double
noise_of(double deviation, size_t runs, double alpha)
{
	return alpha > 0 ? nsx_student(alpha, (double)(runs - 1)) * deviation * sqrt(1 + 1 / (double)runs) : 0;
}

bool
nsx_compare_hear_runs(const struct cmp *c, struct cmp_result *r)
{
	double alpha = nsx_witness_alpha(c->options.sigma), mean[3] = { 0 }, noise[3] = { 0 };
	struct nsx_witness *w = &r->witness;
	int spoke[3];
	struct cmp_run new;

	if (!c->side[NSX_COMPARE_BASE].nruns || !r->row[0] || !r->row[1])
		return true;
	struct cmp_between was = between(r->row[0], MEAN);

	if (!run_of(&c->side[NSX_COMPARE_NEW], r->row[1], &new))
		return false;
	if (was.runs < 2 || !new.n)
		return true;
	for (int of = MEAN; of <= P99; of++) {
		struct cmp_between runs = between(r->row[0], (enum of)of);
		double diff = value_of(&new, (enum of)of) - runs.mean;

		mean[of] = runs.mean;
		/* Two witnesses, or the one of tails. */
		noise[of] = noise_of(runs.deviation, runs.runs, of == P99 ? alpha : alpha / 2);
		spoke[of] = diff > noise[of] ? 1 : diff < -noise[of] ? -1 : 0;
	}
	/* The deviation of two runs is hardly known: what is noise within them, is. */
	bool within = was.runs == 2 && r->sampled;

	w->means = within && w->means != spoke[MEAN] ? 0 : spoke[MEAN];
	w->ranks = within && w->ranks != spoke[MEDIAN] ? 0 : spoke[MEDIAN];
	w->noise = within && w->noise > noise[MEAN] ? w->noise : noise[MEAN];
	w->median[NSX_COMPARE_BASE] = mean[MEDIAN];
	w->median[NSX_COMPARE_NEW] = new.median;
	/* A run that is much shorter varies more than those of BASE do. */
	w->judged = 2 * new.n >= was.least;
	r->has_tail = w->judged && was.least >= NSX_TAIL_OF_RUN && new.n >= NSX_TAIL_OF_RUN;
	r->tail = (struct nsx_tail){ { mean[P99], new.p99 }, { mean[P99] - noise[P99], new.p99 },
	                             { mean[P99] + noise[P99], new.p99 } };
	r->runs = was.runs;
	r->sampled = r->has_noise = true;
	r->noise = w->noise;
	r->unseen = c->options.tail ? noise[P99] : !within && noise[MEDIAN] < w->noise ? noise[MEDIAN] : w->noise;
	return true;
}
