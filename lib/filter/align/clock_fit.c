/* clock_fit.c -- pair the executions of two devices that ran the same program, by the ends of a collective in them:
 * the shift of their numbers for which the intervals between executions agree best.
 *
 *   device v, execution   0      1      2      3        device u, execution   0      1      2
 *   its end, us        1000   2100   3400   4900        its end, us        7100   8400   9900
 *
 *   shift   u's end - v's end of each pair    differences from pair to pair    their median, the misfit
 *     -1    7400  7800                        400                              400
 *      0    6100  6300  6500                  200  200                         200
 *      1    5000  5000  5000                    0    0                           0
 *      2    3700  3500                        200                              200
 *
 * So the capture of u began one execution later: its execution n is v's execution n + 1, and its clock is 5000 us ahead
 * of v's. The misfit of the best shift must be clearly below that of the second, and shift 0 is kept where it is about
 * as good. */
#include <math.h>

#include "filter/align/pair.h"

/* Executions; times; ns: misfits below LEAST carry no information, those below NOISE little; intervals by which shifts
 * beyond MOST_SHIFT are judged, at most and at least. */
enum { MOST_SHIFT = 256, CLEARLY = 4, LEAST = 100, NOISE = 2000, SAMPLE = 64, FEWEST = 16 };

/* How many times larger a misfit must be than that of n intervals to be clearly worse: the more intervals, the less
 * chance matters. */
static double
margin(size_t n)
{
	return n < 2 ? CLEARLY * CLEARLY : fmax(1.5, 2 * CLEARLY / sqrt((double)n));
}

/* The longest series of v or of u that is compared. */
static const struct series *
series_of(const struct pairing *p, const struct edge *e, bool v)
{
	const struct couple *c = &p->couples.p[e->first];

	return &p->series.p[v ? c->v : c->u];
}

/* The position of a couple while iterating over executions. */
struct couple_at { const struct al_obs *v, *vend, *u, *uend; };

/* Move to v's execution `number`, u's `number` - shift; false if one of them lacks it. */
static bool
walk_to(struct couple_at *w, int64_t number, int32_t shift)
{
	while (w->v < w->vend && w->v->execution < number)
		w->v++;
	while (w->u < w->uend && (int64_t)w->u->execution + shift < number)
		w->u++;
	return w->v < w->vend && w->u < w->uend && w->v->execution == number &&
	       (int64_t)w->u->execution + shift == number;
}

/* The median over couples of u's end - v's end in v's execution `number`, which removes the jitter of single ends. */
static int64_t
apart_in(struct couple_at *w, uint32_t n, int64_t number, int32_t shift)
{
	int64_t d[MOST_COUPLES];
	size_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!walk_to(&w[i], number, shift))
			continue;
		int64_t x = nsx_sub_sat(w[i].u->end, w[i].v->end, NULL);
		size_t at = k++;
		for (; at > 0 && d[at - 1] > x; at--)
			d[at] = d[at - 1];
		d[at] = x;
	}
	return k ? d[(k - 1) / 2] + (int64_t)(((uint64_t)d[k / 2] - (uint64_t)d[(k - 1) / 2]) / 2) : 0;
}

/* Executions paired at this shift: u's end - v's end of each into d (which may be NULL), the absolute differences
 * between successive ones into gaps (which may be NULL). Returns the number of pairs. */
static size_t
match(const struct pairing *p, const struct edge *e, int32_t shift, int64_t *d, int64_t *gaps)
{
	struct couple_at w[MOST_COUPLES], base;
	size_t n = 0;
	int64_t last = 0;

	for (uint32_t i = 0; i < e->n; i++) {
		const struct series *sv = &p->series.p[p->couples.p[e->first + i].v],
		    *su = &p->series.p[p->couples.p[e->first + i].u];
		const struct al_obs *v = p->j->obs.p + sv->first, *u = p->j->obs.p + su->first;

		w[i] = (struct couple_at){ v, v + sv->n, u, u + su->n };
	}
	for (base = w[0]; base.u < base.uend; base.u++) {
		int64_t number = (int64_t)base.u->execution + shift, apart = 0;

		if (!walk_to(&base, number, shift))
			continue;
		if (d || gaps)
			apart = apart_in(w, e->n, number, shift);
		if (d)
			d[n] = apart;
		if (gaps && n) {
			int64_t gap = nsx_sub_sat(apart, last, NULL);
			gaps[n - 1] = gap < 0 ? nsx_sub_sat(0, gap, NULL) : gap;
		}
		last = apart;
		n++;
	}
	return n;
}

/* The misfit of the intervals at this shift; *intervals: their number. */
static int64_t
misfit(const struct pairing *p, const struct edge *e, int32_t shift, size_t *intervals)
{
	size_t n = match(p, e, shift, NULL, p->a);

	*intervals = n > 1 ? n - 1 : 0;
	return *intervals ? nsx_align_median(p->a, *intervals) : INT64_MAX;
}

/* The variation of the intervals of s. */
static int64_t
variation(const struct pairing *p, const struct series *s)
{
	const struct al_obs *o = p->j->obs.p + s->first;
	size_t n = s->n - 1;

	if (s->n < 2)
		return 0;
	for (size_t i = 0; i < n; i++)
		p->a[i] = p->b[i] = nsx_sub_sat(o[i + 1].end, o[i].end, NULL);
	int64_t middle = nsx_align_median(p->b, n);
	for (size_t i = 0; i < n; i++) {
		int64_t dev = nsx_sub_sat(p->a[i], middle, NULL);
		p->a[i] = dev < 0 ? nsx_sub_sat(0, dev, NULL) : dev;
	}
	return nsx_align_median(p->a, n);
}

/* The minimum of s's intervals and `least`. */
static int64_t
shortest(const struct pairing *p, const struct series *s, int64_t least)
{
	const struct al_obs *o = p->j->obs.p + s->first;

	for (uint32_t i = 1; i < s->n; i++) {
		int64_t gap = nsx_sub_sat(o[i].end, o[i - 1].end, NULL);
		if (gap < least)
			least = gap;
	}
	return least < 0 ? 0 : least;
}

int64_t
nsx_align_apart(const struct pairing *p, const struct edge *e, int32_t shift)
{
	size_t n = match(p, e, shift, p->a, NULL);

	return n ? nsx_align_median(p->a, n) : 0;
}

static int32_t
widest(const struct pairing *p, const struct edge *e)
{
	const struct series *sv = series_of(p, e, true), *su = series_of(p, e, false);
	const struct al_obs *v = p->j->obs.p + sv->first, *u = p->j->obs.p + su->first;
	int32_t most = v[sv->n - 1].execution > u[su->n - 1].execution ? v[sv->n - 1].execution
	    : u[su->n - 1].execution;

	return most < MOST_SHIFT ? most : MOST_SHIFT;
}

/* How far u's clock should be ahead of v's according to the start of their sessions; false if unknown. */
static bool
told_apart(const struct al_job *j, const struct edge *e, int64_t *apart)
{
	int64_t v = nsx_align_session_start(j, e->v), u = nsx_align_session_start(j, e->u);

	*apart = nsx_sub_sat(v, u, NULL);
	return v != NSX_ABSENT && u != NSX_ABSENT && !j->aligned;
}

static int64_t
distance(int64_t a, int64_t b)
{
	int64_t d = nsx_sub_sat(a, b, NULL);

	return d < 0 ? nsx_sub_sat(0, d, NULL) : d;
}

/* Several shifts fit about equally, within the limit: take the one that agrees best with the start of the sessions. */
static void
choose_by_start(const struct pairing *p, struct edge *e, double limit, size_t enough)
{
	int32_t k = widest(p, e);
	int64_t told, nearest = INT64_MAX;
	size_t n;

	e->lost = true;
	if (!told_apart(p->j, e, &told))
		return;
	for (int32_t s = -k; s <= k; s++) {
		if ((double)misfit(p, e, s, &n) > limit || n < enough)
			continue;
		int64_t off = distance(nsx_align_apart(p, e, s), told);
		if (off < nearest) {
			nearest = off;
			e->shift = s;
			e->lost = false;
		}
	}
}

/* The index of the first record of s whose execution is not before `number`. */
static uint32_t
first_from(const struct al_obs *o, uint32_t n, int64_t number)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (o[mid].execution < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The misfit of a few intervals, in the middle of the executions that both have at this shift; INT64_MAX: too few. */
static int64_t
misfit_sampled(const struct pairing *p, const struct edge *e, int32_t shift)
{
	const struct series *sv = series_of(p, e, true), *su = series_of(p, e, false);
	const struct al_obs *v = p->j->obs.p + sv->first, *u = p->j->obs.p + su->first;
	int64_t gaps[SAMPLE], last = 0;
	int64_t lo = (int64_t)v[0].execution - shift, hi = (int64_t)v[sv->n - 1].execution - shift;
	size_t n = 0;

	if (lo < u[0].execution)
		lo = u[0].execution;
	if (hi > u[su->n - 1].execution)
		hi = u[su->n - 1].execution;
	if (hi - lo < FEWEST)
		return INT64_MAX;
	lo = hi - lo > SAMPLE ? lo + (hi - lo - SAMPLE) / 2 : lo;
	struct couple_at w = { v + first_from(v, sv->n, lo + shift), v + sv->n, u + first_from(u, su->n, lo),
	                       u + su->n };
	for (bool any = false; w.u < w.uend && w.u->execution <= hi && n < SAMPLE; w.u++) {
		if (!walk_to(&w, (int64_t)w.u->execution + shift, shift))
			continue;
		int64_t apart = nsx_sub_sat(w.u->end, w.v->end, NULL), gap = nsx_sub_sat(apart, last, NULL);
		if (any)
			gaps[n++] = gap < 0 ? nsx_sub_sat(0, gap, NULL) : gap;
		any = true;
		last = apart;
	}
	return n < FEWEST ? INT64_MAX : nsx_align_median(gaps, n);
}

/* The fits of shifts: the best one, its number of intervals, and the misfit of the second best. */
struct fits { int64_t best, second; int32_t at; size_t n; };

static void
add_fit(struct fits *f, int32_t shift, int64_t m, size_t n)
{
	if (m < f->best)
		*f = (struct fits){ m, f->best, shift, n };
	else if (m < f->second)
		f->second = m;
}

/* Captures that began more than MOST_SHIFT executions apart: the best two shifts by sampled intervals. */
static void
look_far(const struct pairing *p, const struct edge *e, struct fits *f)
{
	const struct series *sv = series_of(p, e, true), *su = series_of(p, e, false);
	const struct al_obs *v = p->j->obs.p + sv->first, *u = p->j->obs.p + su->first;
	struct { int64_t misfit; int32_t shift; } far[2] = { { INT64_MAX, 0 }, { INT64_MAX, 0 } };
	int32_t from = v[0].execution - u[su->n - 1].execution, to = v[sv->n - 1].execution - u[0].execution;

	/* Numbers with many gaps are not those of a capture. */
	if ((int64_t)to - from > 2 * ((int64_t)sv->n + su->n))
		return;
	for (int32_t s = from; s <= to; s++) {
		int64_t m = s < -MOST_SHIFT || s > MOST_SHIFT ? misfit_sampled(p, e, s) : INT64_MAX;
		if (m >= far[1].misfit)
			continue;
		far[1].misfit = m;
		far[1].shift = s;
		if (m < far[0].misfit) {
			far[1] = far[0];
			far[0].misfit = m;
			far[0].shift = s;
		}
	}
	for (int i = 0; i < 2; i++) {
		size_t n;
		int64_t m = far[i].misfit < INT64_MAX ? misfit(p, e, far[i].shift, &n) : INT64_MAX;
		if (m < INT64_MAX && n >= FEWEST)
			add_fit(f, far[i].shift, m, n);
	}
}

void
nsx_align_compare(const struct pairing *p, struct edge *e)
{
	struct fits f = { INT64_MAX, INT64_MAX, 0, 0 };
	const struct series *sv = series_of(p, e, true), *su = series_of(p, e, false);
	size_t fewer = sv->n < su->n ? sv->n : su->n, enough = fewer / 2 > 1 ? fewer / 2 : 1, n;
	int64_t same = misfit(p, e, 0, &e->intervals);
	int32_t k = widest(p, e);

	/* 0 is preferred if it fits. */
	if (e->intervals >= enough && same < variation(p, sv) / CLEARLY) {
		e->sure = true;
		return;
	}
	for (int32_t s = -k; s <= k; s++) {
		int64_t m = misfit(p, e, s, &n);
		if (n >= enough)
			add_fit(&f, s, m, n);
	}
	bool regular = e->intervals >= enough && same <= NOISE;
	if (!regular && (f.best == INT64_MAX || f.best > NOISE))
		look_far(p, e, &f);
	if (f.best == INT64_MAX)
		return;
	double base = (double)(f.best > LEAST ? f.best : LEAST), limit = base * margin(f.n);
	bool clear = limit < (double)f.second, as_good = (double)same <= fmin(limit, 2 * base) ||
	    (same <= NOISE && !clear);
	if (f.at == 0 || (e->intervals >= enough && as_good)) {
		e->sure = f.at == 0 && clear && f.second != INT64_MAX;
	} else if (clear) {
		e->shift = f.at;
		misfit(p, e, f.at, &e->intervals);
		e->sure = true;
	} else {
		choose_by_start(p, e, limit, enough);
	}
}

void
nsx_align_place(const struct pairing *p, struct edge *e, int64_t apart)
{
	int64_t near = shortest(p, series_of(p, e, false), shortest(p, series_of(p, e, true), INT64_MAX)) / CLEARLY,
	    best = INT64_MAX;
	int32_t k = widest(p, e);

	e->lost = true;
	for (int32_t i = 0; i <= 2 * k; i++) {
		/* 0, 1, -1, 2, -2, ... */
		int32_t s = i % 2 ? (i + 1) / 2 : -i / 2;
		if (match(p, e, s, NULL, NULL) == 0)
			continue;
		int64_t off = distance(nsx_align_apart(p, e, s), apart);
		if (off < best) {
			best = off;
			e->shift = s;
		}
		if (best <= near)
			break;
	}
	e->lost = best != INT64_MAX && best > near;
	if (best == INT64_MAX)
		e->shift = 0;
}
