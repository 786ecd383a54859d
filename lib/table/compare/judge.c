/* judge.c -- compares the rows of both sides: which differ by more than chance and the limits in the options. */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "table/compare/join.h"

const struct cmp_row *
nsx_compare_row_shown(const struct cmp_result *r)
{
	return r->row[NSX_COMPARE_NEW] ? r->row[NSX_COMPARE_NEW] : r->row[NSX_COMPARE_BASE];
}

const struct cmp_group *
nsx_compare_group_of(const struct cmp *c, const struct cmp_result *r)
{
	return &c->side[r->row[NSX_COMPARE_NEW] ? NSX_COMPARE_NEW
	                : NSX_COMPARE_BASE].groups.p[nsx_compare_row_shown(r)->group];
}

/* The number of executions for the effect of a difference: those of NEW; for a program that is gone, those of BASE. */
static double
weight(const struct cmp *c, const struct cmp_result *r)
{
	const struct cmp_group *p;

	if (r->row[NSX_COMPARE_NEW])
		return (double)r->time[NSX_COMPARE_NEW].n;
	p = &c->side[NSX_COMPARE_BASE].groups.p[r->row[NSX_COMPARE_BASE]->group];
	if (c->side[NSX_COMPARE_BASE].each)
		return (double)r->time[NSX_COMPARE_BASE].n;
	return p->pair == NSX_NONE ? (double)r->time[NSX_COMPARE_BASE].n
	       : (double)c->side[NSX_COMPARE_NEW].groups.p[p->pair].execs;
}

/* Whether the difference is above both floors, one of which is a share of a time. */
static bool
above_floors(const struct cmp *c, double diff, double of)
{
	return fabs(diff) > (double)c->options.absolute && fabs(diff) > c->options.percent / 100 * of;
}

/* ---- devices of a row */

static size_t
count(const struct cmp_side *s, const struct cmp_row *r)
{
	size_t n = 0;

	for (uint32_t at = r->cells; at != NSX_NONE; at = s->cells.p[at].next)
		n++;
	return n;
}

/* Whether a row of both sides, which differs, does so on at most half of the devices that both have. False if it is on
 * a single one, or devices are not known.
 *
 * A change of the program changes an instruction on all devices that run it. What changes on a few is those devices:
 * another GPU or clock, which differ between any two runs of a job, and the time that others wait for them. A mean over
 * devices does not tell the two apart, and no number of executions makes it do so, as all executions of a run share its
 * devices. For example, means of a row on four devices, ns, with a limit of 2 percent:
 *
 *     BASE            100 100 100 100     mean 100
 *     one device slow 100 100 100 112     mean 103: above the limit on one device of four, uneven
 *     slower kernel   103 103 104 101     mean 102.75: above the limit on three of four, slower */
static bool
is_uneven(const struct cmp *c, const struct cmp_result *r)
{
	const struct cmp_side *b = &c->side[NSX_COMPARE_BASE], *n = &c->side[NSX_COMPARE_NEW];
	size_t matched = 0, changed = 0;
	/* By number; if no device is on both sides, as of two processes of a job, in order of their numbers. */
	bool ranked = false, again;

	/* Tables do not tell devices apart. */
	if (c->tables)
		return false;
	do {
		for (uint32_t i = r->row[0]->cells, k = r->row[1]->cells; i != NSX_NONE && k != NSX_NONE;) {
			const struct cmp_cell *was = &b->cells.p[i], *is = &n->cells.p[k];
			double diff = is->mean - was->mean;

			i = ranked || was->device <= is->device ? was->next : i;
			k = ranked || is->device <= was->device ? is->next : k;
			if (!ranked && was->device != is->device)
				continue;
			matched++;
			changed += (diff > 0) == (r->diff > 0) && above_floors(c, diff, was->mean);
		}
		again = !ranked && !matched && count(b, r->row[0]) == count(n, r->row[1]);
		ranked = true;
	} while (again);
	return matched > 1 && 2 * changed <= matched;
}

/* The smallest mean time of the row on a device, ns; 0 if it is on a single one. */
static double
least(const struct cmp_side *s, const struct cmp_row *r)
{
	double v = 0;

	for (uint32_t at = r->cells; at != NSX_NONE; at = s->cells.p[at].next)
		v = at == r->cells || s->cells.p[at].mean < v ? s->cells.p[at].mean : v;
	return count(s, r) > 1 ? v : 0;
}

/* ---- verdicts */

/* The mean time, on a side, of the row that contains the result. */
static double
whole_of(const struct cmp *c, const struct cmp_result *r, int side)
{
	return c->side[side].rows.p[r->row[side]->of].time.mean;
}

/* Whether the difference, over all executions of NEW, is a negligible part of the time of its program; for operations,
 * of the time of all of them; for ranges, which contain each other, of the time of the name with the longest time. */
static bool
is_minor(const struct cmp *c, const struct cmp_result *r)
{
	const struct cmp_side *s = &c->side[NSX_COMPARE_NEW];
	double of = c->way->nested ? s->most : (double)nsx_compare_group_of(c, r)->time;
	double effect = c->options.tail ? (r->tail.p99[1] - r->tail.p99[0]) * weight(c, r) : r->effect;

	return fabs(effect) <= c->options.minor / 100 * of;
}

/* Whether the row consists of communication alone, and its program takes as long as before: the devices then wait
 * elsewhere, or for each other. False if the length of the program is not known. */
static bool
is_waiting(const struct cmp *c, const struct cmp_result *r)
{
	double mean[2];

	for (int k = 0; k < 2; k++) {
		const struct cmp_side *s = &c->side[k];
		const struct cmp_time *whole = &s->rows.p[s->groups.p[r->row[k]->group].whole].time;

		if (r->row[k]->computes || c->tables || !whole->n)
			return false;
		mean[k] = whole->mean;
	}
	return (mean[1] > mean[0]) != (r->diff > 0) || !above_floors(c, mean[1] - mean[0], mean[0]);
}

/* Whether operations of communication, by kernel, take as long as before on the device where they are shortest: as
 * their time includes waiting, and that device waits least, only how long others wait for it has changed. */
static bool
only_waits(const struct cmp *c, const struct cmp_result *r)
{
	double shortest[2];

	for (int k = 0; k < 2; k++) {
		shortest[k] = least(&c->side[k], r->row[k]);
		if (!c->way->waits || r->row[k]->computes || shortest[k] <= 0)
			return false;
	}
	return (shortest[1] > shortest[0]) != (r->diff > 0)
	       || !above_floors(c, shortest[1] - shortest[0], shortest[0]);
}

/* The time of the row's collectives without waiting, on a side: of the record that waited least, as clocks need not be
 * comparable; 0: not known. */
static double
transfer(const struct cmp_result *r, int side)
{
	return r->row[side]->comm->shortest;
}

/* Whether a stream has only one of the participating devices, so that its waiting time is not known. */
static bool
is_alone(const struct cmp *c, const struct cmp_result *r)
{
	for (int k = 0; k < 2; k++) {
		const struct cmp_comm *comm = r->row[k]->comm;

		if (comm && comm->group > 1 && c->side[k].devices == 1)
			return true;
	}
	return false;
}

/* Whether the row is one of many that the time of a program consists of. */
static bool
is_part_of_program(const struct cmp *c, const struct cmp_result *r)
{
	return c->way->parts && !nsx_compare_row_shown(r)->whole;
}

/* The median of the row that contains the result, on BASE's side; that of the result itself if none does. */
static double
median_of_whole(const struct cmp *c, const struct cmp_result *r)
{
	const struct cmp_side *s = &c->side[NSX_COMPARE_BASE];
	const struct cmp_row *of = r->row[NSX_COMPARE_BASE]->of == NSX_NONE ? NULL
	    : &s->rows.p[r->row[NSX_COMPARE_BASE]->of];
	if (!of)
		return r->witness.median[NSX_COMPARE_BASE];
	/* Of a device the mean is as good for a minimum difference. */
	return c->way->devices ? of->time.mean : (double)of->time.p50;
}

/* Whether both sides have enough values for a 99th percentile. */
static bool
has_tail(const struct nsx_witness *w)
{
	return w->of[0].n_eff >= NSX_TAIL_LEAST && w->of[1].n_eff >= NSX_TAIL_LEAST;
}

/* By the 99th percentiles of values of steps. */
static enum cmp_verdict
judge_tail(const struct cmp *c, const struct cmp_result *r)
{
	double diff = r->tail.p99[1] - r->tail.p99[0];

	if (!r->has_tail)
		return CMP_UNKNOWN;
	if (!above_floors(c, diff, r->tail.p99[0]))
		return CMP_SAME;
	if (r->tail.lower[1] > r->tail.upper[0])
		return CMP_SLOWER;
	return r->tail.upper[1] < r->tail.lower[0] ? CMP_FASTER : CMP_HIDDEN;
}

/* What the witnesses say of values of steps: longer 1, shorter -1, 0 the same, or CMP_HIDDEN or CMP_UNKNOWN. */
static enum cmp_verdict
testify(const struct cmp *c, struct cmp_result *r, double of)
{
	const struct nsx_witness *w = &r->witness;
	double medians = w->median[NSX_COMPARE_NEW] - w->median[NSX_COMPARE_BASE];
	bool means_differ = above_floors(c, r->diff, of);
	bool medians_differ = above_floors(c, medians, median_of_whole(c, r));
	int said[2] = { means_differ && (r->diff > 0) == (w->means > 0) ? w->means : 0,
	                medians_differ && (medians > 0) == (w->ranks > 0) ? w->ranks : 0 };

	if (c->options.tail)
		return judge_tail(c, r);
	if (c->compares_work && !c->way->each && r->row[0]->at == 0 && !said[0] && !said[1] && means_differ
	    && (r->diff > 0 ? 1 : -1) == c->same.said) {
		r->by_work = true;
		return r->diff > 0 ? CMP_SLOWER : CMP_FASTER;
	}
	if (!w->judged && c->options.sigma > 0)
		return CMP_UNKNOWN;
	/* A longer tail beside shorter steps, or the other way round: longer counts. */
	if (said[0] > 0 || said[1] > 0)
		return CMP_SLOWER;
	if (said[0] < 0 || said[1] < 0)
		return CMP_FASTER;
	return means_differ || medians_differ ? CMP_HIDDEN : CMP_SAME;
}

double
nsx_compare_change(const struct cmp *c, const struct cmp_result *r)
{
	double of = r->judged[NSX_COMPARE_BASE], diff = r->judged[NSX_COMPARE_NEW] - of;

	if (!r->row[0] || !r->row[1] || !(of > 0))
		return NAN;
	if (r->row[0]->of != NSX_NONE && c->way->within && !c->options.tail
	    && ((r->has_noise && of < r->noise)
	        || (diff > of && of < c->options.percent / 100 * whole_of(c, r, NSX_COMPARE_BASE))))
		return NAN;
	return diff / of;
}

double
nsx_compare_of_whole(const struct cmp *c, const struct cmp_result *r)
{
	if (!r->row[0] || !r->row[1] || r->row[0]->at == 0)
		return r->row[0] && r->row[1] && c->way->within ? nsx_compare_change(c, r) : NAN;
	double whole = r->row[0]->of == NSX_NONE ? 0 : whole_of(c, r, NSX_COMPARE_BASE);

	return whole > 0 && !c->options.tail ? r->diff / whole : NAN;
}

bool
nsx_compare_is_allowed(const struct cmp *c, const struct cmp_result *r)
{
	double was = r->judged[NSX_COMPARE_BASE], grew = r->judged[NSX_COMPARE_NEW] - was;

	if (r->verdict != CMP_SAME || !r->sampled || !r->row[0] || !r->row[1] || grew <= c->options.minor / 100 * was ||
	    (is_part_of_program(c, r) && is_minor(c, r)))
		return false;
	return c->options.tail ? r->has_tail && r->tail.lower[1] > r->tail.upper[0]
	                       : r->has_noise && r->diff > r->noise;
}

static enum cmp_verdict
verdict(const struct cmp *c, struct cmp_result *r)
{
	double of = r->time[NSX_COMPARE_BASE].mean, grown = r->diff;

	if (!r->row[NSX_COMPARE_NEW])
		return CMP_GONE;
	if (!r->row[NSX_COMPARE_BASE])
		return CMP_NEW;
	if (r->row[NSX_COMPARE_BASE]->untold || c->unlike[0])
		return CMP_UNKNOWN;
	if (r->row[NSX_COMPARE_BASE]->of != NSX_NONE) {
		of = whole_of(c, r, NSX_COMPARE_BASE);
		if (c->way->within)
			grown = whole_of(c, r, NSX_COMPARE_NEW) - of;
	}
	enum cmp_verdict said = r->sampled ? testify(c, r, of)
	    : !above_floors(c, r->diff, of) ? CMP_SAME : r->diff > 0 ? CMP_SLOWER : CMP_FASTER;

	if (said != CMP_SLOWER && said != CMP_FASTER)
		return said;
	if (is_part_of_program(c, r) && is_minor(c, r))
		return CMP_MINOR;
	/* Of single devices, and of waiting, means alone are known. */
	if (c->options.tail && r->row[NSX_COMPARE_BASE]->of == NSX_NONE)
		return said;
	if (is_part_of_program(c, r) && (is_waiting(c, r) || only_waits(c, r)))
		return CMP_SHIFTED;
	if (is_part_of_program(c, r) && is_uneven(c, r))
		return CMP_UNEVEN;
	if (is_alone(c, r))
		return CMP_UNKNOWN;
	/* Records of collectives include waiting: if the transfer takes as long as before, the difference is
	 * waiting. */
	if (r->row[NSX_COMPARE_BASE]->comm) {
		double was = transfer(r, NSX_COMPARE_BASE), is = transfer(r, NSX_COMPARE_NEW);

		of = was > 0 && is > 0 ? was : of;
		grown = was > 0 && is > 0 ? is - was : grown;
	} else if (r->row[NSX_COMPARE_BASE]->of == NSX_NONE)
		return said;
	/* If the step takes as long as before, its part only gained time from another part, or lost time to it. The
	 * noise of the whole step, which is larger, is not used here, because the part itself has clearly changed. */
	if ((grown > 0) != (said == CMP_SLOWER) || !above_floors(c, grown, of))
		return CMP_SHIFTED;
	return said;
}

/* What a row of a table that has no values tells of them. */
static struct nsx_effective
effective_of(const struct cmp_time *t)
{
	bool known = t->variance >= 0;

	return (struct nsx_effective){ .mean = t->mean, .n_eff = known ? (double)t->n : 1,
	                               .variance = known ? t->variance : 0 };
}

/* Let the witnesses judge samples. False when out of memory. */
static bool
hear_values(const struct cmp *c, struct cmp_result *r, struct nsx_sample b, struct nsx_sample n, double alpha)
{
	size_t batches[2];

	if (r->row[NSX_COMPARE_BASE]->strata) {
		const struct nsx_strata strata = { { cmp_strata(&c->side[0], r->row[0]),
			cmp_strata(&c->side[1], r->row[1]) }, r->row[NSX_COMPARE_BASE]->strata };

		if (!nsx_witness_strata(b, n, &strata, alpha, &r->witness))
			return false;
		/* Too few for a mean of each are enough for one of all, with more noise, if these are of the same. */
		if (r->witness.judged || r->row[NSX_COMPARE_NEW]->other_batches)
			return true;
	}
	for (int k = 0; k < 2; k++)
		batches[k] = r->row[k]->batch == NSX_NONE ? 0 : c->side[k].rows.p[r->row[k]->batch].samples.n;
	r->mixed = batches[0] == b.n && batches[1] == n.n && !c->options.tail && !c->side[0].nruns;
	if (!nsx_witness_means(b, n, alpha, &r->witness))
		return false;
	/* Of a row that is the same by its mean and its median the ranks, which take the most time, say nothing. */
	double medians = r->witness.median[NSX_COMPARE_NEW] - r->witness.median[NSX_COMPARE_BASE];
	bool same = r->row[NSX_COMPARE_BASE]->of == NSX_NONE
	    && !above_floors(c, r->diff, r->time[NSX_COMPARE_BASE].mean)
	    && !above_floors(c, medians, r->witness.median[NSX_COMPARE_BASE]);

	return same || nsx_witness_ranks(b, n, alpha, &r->witness);
}

/* Let the witnesses judge the samples of both sides, or what tables tell of them. False when out of memory. */
static bool
hear(const struct cmp *c, struct cmp_result *r)
{
	if (!r->row[0] || !r->row[1])
		return true;
	struct nsx_sample b = cmp_sample(&c->side[0], r->row[0]), n = cmp_sample(&c->side[1], r->row[1]);

	double alpha = nsx_witness_alpha(c->options.sigma) / 2;   /* each of two witnesses: half of the probability */

	if (c->tables && !c->way->devices && !b.n && !n.n) {
		nsx_witness_of_means(effective_of(&r->time[0]), effective_of(&r->time[1]), alpha, &r->witness);
		r->sampled = true;
		r->has_noise = r->time[0].variance >= 0 && r->time[1].variance >= 0;
		r->noise = r->witness.noise;
		return true;
	}
	if (!b.n || !n.n)
		return nsx_compare_hear_runs(c, r);
	r->sampled = true;
	if (!hear_values(c, r, b, n, alpha))
		return false;
	double n_eff[2] = { r->witness.of[0].n_eff, r->witness.of[1].n_eff };

	r->has_tail = has_tail(&r->witness);
	if (c->options.tail && r->has_tail && !nsx_tail(b, n, n_eff, &r->tail))
		return false;
	r->has_noise = b.n > 1 && n.n > 1;
	r->noise = r->witness.noise;
	return nsx_compare_hear_runs(c, r);
}

/* How much of the difference of 99th percentiles chance explains: what their bounds leave. */
static double
tail_noise(const struct nsx_tail *t)
{
	return t->p99[1] >= t->p99[0] ? t->upper[0] - t->p99[0] + t->p99[1] - t->lower[1]
	                              : t->p99[0] - t->lower[0] + t->upper[1] - t->p99[1];
}

/* A result with the time of each side's row, if present. False when out of memory. */
static bool
judge(const struct cmp *c, struct cmp_result *r)
{
	r->diff = r->time[NSX_COMPARE_NEW].mean - r->time[NSX_COMPARE_BASE].mean;
	if (!hear(c, r))
		return false;
	r->effect = r->diff * weight(c, r);
	for (int k = 0; k < 2; k++)
		r->judged[k] = !c->options.tail ? r->time[k].mean
		               : r->has_tail ? r->tail.p99[k] : (double)r->time[k].p99;
	if (c->options.tail) {
		r->has_noise = r->has_tail;
		r->noise = tail_noise(&r->tail);
	}
	r->verdict = nsx_compare_judge_rate(c, r, verdict(c, r));
	return true;
}

/* The result of that row of BASE, if both sides have it, among the n that were added last; NULL: there is none. */
static const struct cmp_result *
result_of(const struct cmp *c, uint32_t row, const struct cmp_result *to, size_t n)
{
	const struct cmp_row *of = row == NSX_NONE ? NULL : &c->side[NSX_COMPARE_BASE].rows.p[row];

	while (of && n-- > 0 && to[n].row[NSX_COMPARE_BASE] && to[n].row[NSX_COMPARE_BASE] >= of)
		if (to[n].row[NSX_COMPARE_BASE] == of)
			return to[n].row[NSX_COMPARE_NEW] ? &to[n] : NULL;
	return NULL;
}

/* What the whole says of a row that differs, if both runs have that, among the n results before it. A span that the
 * period decides grows where work moves into it from between steps, and the step is as long as before. */
static void
ask_whole(const struct cmp *c, struct cmp_result *r, const struct cmp_result *before, size_t n)
{
	const struct cmp_row *row = r->row[NSX_COMPARE_BASE];
	const struct cmp_result *by, *of;

	if (!row || (r->verdict != CMP_SLOWER && r->verdict != CMP_FASTER))
		return;
	by = result_of(c, row->decider, before, n);
	of = c->way->within ? result_of(c, row->of, before, n) : NULL;
	if (by && by->verdict != r->verdict)
		r->verdict = by->verdict == CMP_UNKNOWN ? CMP_UNKNOWN : CMP_SHIFTED;
	if (of && r->verdict == CMP_SLOWER && of->verdict != CMP_SLOWER) {
		r->unsure = of->row[NSX_COMPARE_BASE];
		r->whole = of->verdict;
	}
}

static int
order_cmp(const void *pa, const void *pb, const void *state)
{
	const struct cmp *c = state;
	const struct cmp_result *a = pa, *b = pb;
	const struct cmp_row *x = nsx_compare_row_shown(a), *y = nsx_compare_row_shown(b);
	const struct cmp_group *g = nsx_compare_group_of(c, a), *h = nsx_compare_group_of(c, b);
	int order = c->way->whole ? 0 : NSX_CMP(y->whole, x->whole);

	/* Devices are in the order of their numbers, which their names are not. */
	if (order == 0 && c->way->listed)
		order = NSX_FIRST(c->way->devices ? 0 : nsx_str_cmp(cmp_str(c, g->key), cmp_str(c, h->key)),
		                  NSX_CMP(g->number, h->number), NSX_CMP(x->device, y->device), NSX_CMP(x->at, y->at));
	if (order == 0)
		order = NSX_CMP(fabs(b->effect), fabs(a->effect));
	return order ? order : NSX_FIRST(nsx_str_cmp(cmp_str(c, g->key), cmp_str(c, h->key)),
	                                 nsx_str_cmp(cmp_str(c, x->name), cmp_str(c, y->name)),
	                                 NSX_CMP(a->verdict, b->verdict), NSX_CMP(g->number, h->number));
}

/* Add the result of two rows, or of one (NULL: the other side has none), if they have a time. False when out of
 * memory. */
static bool
add(const struct cmp *c, struct cmp_result *to, size_t *n, const struct cmp_row *base, const struct cmp_row *new)
{
	struct cmp_result r = { .row = { base, new } };

	for (int k = 0; k < 2; k++)
		if (r.row[k]) {
			r.time[k] = r.row[k]->time;
			if (!r.time[k].n)
				r.row[k] = NULL;
		}
	if ((!r.row[0] && !r.row[1]) || (nsx_compare_row_shown(&r)->optional && !r.time[0].sum && !r.time[1].sum))
		return true;
	if (!judge(c, &r))
		return false;
	ask_whole(c, &r, to, *n);
	to[(*n)++] = r;
	return true;
}

struct cmp_result *
nsx_compare_judge(struct cmp *c, size_t *whole, size_t *n)
{
	const struct cmp_side *b = &c->side[NSX_COMPARE_BASE];
	struct cmp_side *s = &c->side[NSX_COMPARE_NEW];
	struct cmp_result *r = malloc((b->rows.n + s->rows.n + 1) * sizeof *r);
	bool good = r != NULL;

	*whole = *n = 0;
	for (size_t i = 0; i < s->rows.n; i++)
		if (cmp_counts(c, &s->rows.p[i]) && (double)s->rows.p[i].sum > s->most)
			s->most = (double)s->rows.p[i].sum;
	for (size_t i = 0; i < b->rows.n && good; i++) {
		const struct cmp_row *row = &b->rows.p[i];

		if (row->whole || !c->way->whole)
			good = add(c, r, n, row, row->pair == NSX_NONE ? NULL : &s->rows.p[row->pair]);
	}
	for (size_t i = 0; i < s->rows.n && good; i++) {
		const struct cmp_row *row = &s->rows.p[i];

		if (row->pair == NSX_NONE && (row->whole || !c->way->whole))
			good = add(c, r, n, NULL, row);
	}
	if (!good) {
		free(r);
		return NULL;
	}
	nsx_sort_with(r, *n, sizeof *r, order_cmp, c);
	while (!c->way->whole && *whole < *n && nsx_compare_row_shown(&r[*whole])->whole)
		++*whole;
	return r;
}
