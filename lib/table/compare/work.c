/* work.c -- see work.h. */
#include "table/compare/work.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "base/stat.h"
#include "stream/kinds.h"
#include "table/compare/witness.h"

/* Fewer times at a place on a side do not compare; a run is cut into so many intervals, of at least so many times each
 * on a device. */
enum { LEAST = 3, INTERVALS = 48, IN_INTERVAL = 16 };

static bool
take_window(struct cmp_work *w, const struct nsx_rec *op, uint32_t device, int64_t start, int64_t end)
{
	while (w->devices.n <= device)
		if (!nsx_vec_push(&w->devices, ((struct cmp_work_device){ .removed = NSX_REMOVED_NONE })))
			return false;
	struct cmp_work_device *d = &w->devices.p[device];

	nsx_removed_take(&d->removed, op);
	if (!d->ops++)
		d->end = start;
	if (start > d->end)
		d->end = nsx_removed_end(&d->removed, d->end, start);
	if (start > d->end)
		d->idle = nsx_add_sat(d->idle, nsx_sub_sat(start, d->end, NULL), NULL);
	if (end > d->end) {
		d->window += end - d->end;
		d->end = end;
	}
	return true;
}

bool
nsx_compare_work_take(struct cmp_work *w, struct nsx_map *places, const struct nsx_rec *op, uint32_t device,
                      uint32_t name)
{
	int64_t start = nsx_int(op, NSX_OP_start, NSX_ABSENT), dur = nsx_int(op, NSX_OP_dur, -1);

	if (start == NSX_ABSENT || dur < 0)
		return true;
	if (!take_window(w, op, device, start, nsx_add_sat(start, dur, NULL)))
		return false;
	struct cmp_work_device *d = &w->devices.p[device];
	int64_t stream = nsx_int(op, NSX_OP_stream, -1), idle = d->idle;

	if (d->ops == 1 || d->stream != stream) {
		d->stream = stream;
		d->at = nsx_map_number(&w->stream_of, (struct nsx_key){ device, (uint64_t)stream });
	}
	uint32_t at = d->at;

	if (at == NSX_NONE)
		return false;
	if (at == w->streams.n)
		return nsx_vec_push(&w->streams, ((struct cmp_work_stream){ start, dur, idle, name }));
	struct cmp_work_stream *s = &w->streams.p[at], was = *s;

	*s = (struct cmp_work_stream){ start, dur, idle, name };
	/* What was removed before it lasted as long as nobody knows. */
	if (nsx_has(op, NSX_OP_removed) || w->times.n >= NSX_WORK_MOST)
		return true;
	uint32_t place = nsx_map_number(places, (struct nsx_key){ was.name, name });

	if (place == NSX_NONE || !nsx_vec_reach(&w->places, place, NULL))
		return false;
	struct cmp_work_place *p = &w->places.p[place];

	p->time = nsx_add_sat(p->time, start - was.start, NULL);
	p->gpu = nsx_add_sat(p->gpu, was.dur, NULL);
	p->idle = nsx_add_sat(p->idle, idle - was.idle, NULL);
	return nsx_vec_push(&w->times, ((struct cmp_time_at){ was.start, start - was.start, place, device }));
}

int64_t
nsx_compare_work_seen(const struct cmp_work *w)
{
	int64_t sum = 0;

	for (size_t i = 0; i < w->devices.n; i++)
		sum = nsx_add_sat(sum, w->devices.p[i].window, NULL);
	return sum;
}

/* Sort the times by place, of which there are n, and then by length. False when out of memory. */
static bool
sort(struct cmp_work *w, size_t n)
{
	size_t *at = calloc(n + 1, sizeof *at);
	struct cmp_time_at *to = malloc((w->times.n + 1) * sizeof *to);
	struct nsx_sort_start *order = malloc((w->times.n + 1) * sizeof *order);
	bool good = at && to && order;

	for (size_t i = 0; i < w->times.n && good; i++) {
		order[i] = (struct nsx_sort_start){ w->times.p[i].time, (uint32_t)i, 0 };
		at[w->times.p[i].place + 1]++;
	}
	good = good && nsx_sort_starts(order, w->times.n);
	for (size_t i = 0; i < n && good; i++)
		at[i + 1] += at[i];
	/* at[i]: where the next time of place i goes. */
	for (size_t i = 0; i < w->times.n && good; i++) {
		const struct cmp_time_at *t = &w->times.p[order[i].i];

		to[at[t->place]++] = *t;
	}
	if (good) {
		free(w->times.p);
		w->times.p = to;
	} else
		free(to);
	free(at);
	free(order);
	return good;
}

/* ---- ranks, as a sample */

/* Ranks from 0 to 1 of times by interval of the run and device: sums, and their numbers. */
struct ranks { int64_t from, to; size_t intervals, devices; double *sum; int64_t *n; };

static bool
begin(struct ranks *r, const struct cmp_work *w)
{
	*r = (struct ranks){ .devices = w->devices.n };
	for (size_t i = 0; i < w->times.n; i++) {
		int64_t start = w->times.p[i].start;

		r->from = !i || start < r->from ? start : r->from;
		r->to = !i || start > r->to ? start : r->to;
	}
	r->intervals = w->devices.n ? w->times.n / w->devices.n / IN_INTERVAL : 0;
	r->intervals = r->intervals > INTERVALS ? INTERVALS : r->intervals;
	r->sum = calloc(r->intervals * r->devices + 1, sizeof *r->sum);
	r->n = calloc(r->intervals * r->devices + 1, sizeof *r->n);
	return r->sum && r->n;
}

static void
add(struct ranks *r, const struct cmp_time_at *t, double rank)
{
	double part = (double)(t->start - r->from) / ((double)(r->to - r->from) + 1);
	size_t at = (size_t)(part * (double)r->intervals) * r->devices + t->device;

	if (!r->intervals)
		return;
	r->sum[at] += rank;
	r->n[at]++;
}

/* The mean of each interval over its devices: the number of intervals that have one. */
static size_t
values(const struct ranks *r, double v[INTERVALS])
{
	size_t n = 0;

	for (size_t i = 0; i < r->intervals; i++) {
		double sum = 0;
		size_t devices = 0;

		for (size_t d = i * r->devices; d < (i + 1) * r->devices; d++) {
			sum += r->n[d] ? r->sum[d] / (double)r->n[d] : 0;
			devices += r->n[d] > 0;
		}
		if (devices)
			v[n++] = sum / (double)devices;
	}
	return n;
}

/* ---- places */

/* The times of a place in a run, sorted. */
struct place { const struct cmp_time_at *t; size_t n; };

static size_t
next_place(const struct cmp_work *w, size_t from)
{
	size_t to = from;

	while (to < w->times.n && w->times.p[to].place == w->times.p[from].place)
		to++;
	return to;
}

/* Equal times have the mean of their ranks. */
static void
rank(const struct place p[2], struct ranks r[2])
{
	double all = (double)(p[0].n + p[1].n);

	for (size_t at[2] = { 0, 0 }; at[0] < p[0].n || at[1] < p[1].n;) {
		int first = at[0] == p[0].n || (at[1] < p[1].n && p[1].t[at[1]].time < p[0].t[at[0]].time);
		int64_t time = p[first].t[at[first]].time;
		size_t to[2] = { at[0], at[1] };

		for (int k = 0; k < 2; k++)
			while (to[k] < p[k].n && p[k].t[to[k]].time == time)
				to[k]++;
		double mean = (double)(at[0] + at[1] + to[0] + to[1]) / 2 / all;

		for (int k = 0; k < 2; k++)
			for (; at[k] < to[k]; at[k]++)
				add(&r[k], &p[k].t[at[k]], mean);
	}
}

static void
add_place(const struct place p[2], const struct cmp_work_place *const sums[2], struct ranks r[2],
          struct cmp_same_work *of)
{
	double times = (double)p[0].n;

	rank(p, r);
	for (int k = 0; k < 2; k++) {
		double n = (double)p[k].n;

		of->time[k] += times * (double)sums[k]->time / n;
		of->gpu[k] += times * (double)sums[k]->gpu / n;
		of->idle[k] += times * (double)sums[k]->idle / n;
		of->median[k] += times * (double)p[k].t[nsx_percentile_rank(p[k].n, 50)].time;
		of->matched[k] += (double)sums[k]->time;
	}
}

static bool
judge(const struct ranks r[2], double alpha, double percent, double share, struct cmp_same_work *of)
{
	double v[2][INTERVALS], least = 1 + percent / 100;
	struct nsx_witness w;
	size_t n[2] = { values(&r[0], v[0]), values(&r[1], v[1]) };

	if (!n[0] || !n[1] || of->matched[0] < share || of->matched[1] < share)
		return true;
	if (!nsx_witness((struct nsx_sample){ v[0], n[0] }, (struct nsx_sample){ v[1], n[1] }, alpha, &w))
		return false;
	of->judged = w.judged;
	if (w.judged && w.means > 0 && of->median[1] > least * of->median[0] && of->time[1] > of->time[0])
		of->said = 1;
	if (w.judged && w.means < 0 && of->median[0] > least * of->median[1] && of->time[1] < of->time[0])
		of->said = -1;
	return true;
}

bool
nsx_compare_same_work(struct cmp_work *const work[2], size_t places, double alpha, double percent, double share,
                      struct cmp_same_work *of)
{
	struct ranks r[2] = { { 0 }, { 0 } };
	bool good = begin(&r[0], work[0]) && begin(&r[1], work[1]);
	double all[2] = { 0, 0 };

	*of = (struct cmp_same_work){ 0 };
	for (int k = 0; k < 2 && good; k++) {
		for (size_t i = 0; i < work[k]->places.n; i++)
			all[k] += (double)work[k]->places.p[i].time;
		good = sort(work[k], places);
	}
	for (size_t at[2] = { 0, 0 }, to[2]; good && at[0] < work[0]->times.n && at[1] < work[1]->times.n;) {
		uint32_t place[2];
		struct place p[2];

		for (int k = 0; k < 2; k++) {
			place[k] = work[k]->times.p[at[k]].place;
			to[k] = next_place(work[k], at[k]);
			p[k] = (struct place){ &work[k]->times.p[at[k]], to[k] - at[k] };
		}
		if (place[0] == place[1] && p[0].n >= LEAST && p[1].n >= LEAST)
			add_place(p, (const struct cmp_work_place *[]){ &work[0]->places.p[place[0]],
				&work[1]->places.p[place[1]] }, r, of);
		for (int k = 0; k < 2; k++)
			at[k] = place[k] <= place[!k] ? to[k] : at[k];
	}
	for (int k = 0; k < 2; k++)
		of->matched[k] = all[k] > 0 ? of->matched[k] / all[k] : 0;
	good = good && judge(r, alpha, percent, share, of);
	for (int k = 0; k < 2; k++) {
		free(r[k].sum);
		free(r[k].n);
	}
	return good;
}

void
nsx_compare_work_free(struct cmp_work *w)
{
	free(w->times.p);
	free(w->places.p);
	free(w->streams.p);
	free(w->devices.p);
	nsx_map_free(&w->stream_of);
}
