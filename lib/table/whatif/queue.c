/* queue.c -- the queue of launches: of how many operations a device has room, learned from launches that had to wait,
 * and the operation whose end made room for each launch. A depth of 65,536 or more is not found.
 *
 * Launches of all devices are gone through together, in order of time; of each device those are kept that may still
 * matter: the last ones, or those that have not ended. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "table/whatif/counts.h"
#include "table/whatif/graph.h"

enum {
	STALLS = 10,            /* launches that were stalled, to learn from */
	LONG_LAUNCH = 5000,     /* ns: a launch that may have waited, where stalls are not recorded */
	DEPTH_MIN = 500,
	SHALLOW = 100,          /* where the host is late, launches return when one of the last few operations ends */
	NEAR_END = 8000,        /* ns from the end that made room to the return of the launch */
	AROUND = 4,             /* ends that are tried for a launch */
	POINTS = 50, LEAD = 5, APART = 8,
	LATE_END = 2000,        /* ns: an end later than that after the return did not make room */
	KEPT = WI_COUNTED,      /* issues of a device, at most */
	USUAL = 20, ODD = 4     /* times the median */
};

const struct wi_usual *
nsx_wi_usual_of(const wi_usuals *u, uint32_t class)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->p[i].class == class)
			return &u->p[i];
	return NULL;
}

int64_t
nsx_wi_queue_work(const struct wi_graph *g, const struct wi_call *c, int64_t own)
{
	const struct wi_usual *u;
	int64_t usual;

	if (g->stalls)
		return own > wi_call_more(g, c)->stalled ? own - wi_call_more(g, c)->stalled : 0;
	if (g->ops.p[c->queue].end <= c->start)
		return own;
	u = nsx_wi_usual_of(&g->unqueued, wi_api(g, c)->class);
	usual = u && u->n >= USUAL ? u->ns : WI_ASLEEP;
	return own < usual ? own : usual;
}

/* Of durations the median; of launches the mean of those that are not odd, since what many of them take is summed
 * up. */
static int64_t
usual_of(struct wi_counts *c, bool launches)
{
	int64_t median = nsx_wi_nth(c, c->n / 2), sum;
	size_t count = launches ? nsx_wi_sum_to(c, ODD * median, &sum) : 0;

	return count ? sum / (int64_t)count : median;
}

static bool
list_usual(struct wi_counts *of_classes, size_t n, bool launches, wi_usuals *u)
{
	for (size_t i = 0; i < n; i++) {
		struct wi_counts *c = &of_classes[i];

		if (c->n && !nsx_vec_push(u, ((struct wi_usual){ (uint32_t)i, c->n, usual_of(c, launches) })))
			return false;
	}
	return true;
}

/* How long calls take, by class: all, and launches that never waited for room. */
static bool
set_usual(struct wi_graph *g)
{
	size_t n = g->names.n;
	struct wi_counts *all = calloc(2 * n + 1, sizeof *all), *launches = all + n;
	bool good = all != NULL;

	for (size_t i = 0; i < g->calls.n && good; i++) {
		const struct wi_call *c = &g->calls.p[i];
		const struct wi_api *api = wi_api(g, c);

		wi_pause(g, i);
		good = nsx_wi_count(&all[api->class], c->end - c->start);
		if (good && c->op != NSX_NONE && c->queue == NSX_NONE && !api->blocking)
			good = nsx_wi_count(&launches[api->class], c->end - c->start);
	}
	good = good && list_usual(all, n, false, &g->usual) && list_usual(launches, n, true, &g->unqueued);
	for (size_t i = 0; all && i < 2 * n; i++)
		nsx_wi_counts_free(&all[i]);
	free(all);
	return good;
}

/* ---- what each device was given, in order */

/* A launch of an operation, or of a graph, whose nodes are given at once. op: of a graph the node that ended last.
 * reach: the operation that computes and ends last so far; NSX_NONE: none. */
struct issue { uint32_t op, reach; };

/* The issues of a device: those before `dropped` are gone, the next `begin` no longer matter. */
struct given {
	NSX_VEC(struct issue) list;
	size_t   dropped, begin;
	uint32_t reach;                  /* of the last one */
	bool     launched;               /* some of its operations have a call */
};

struct issues {
	struct wi_graph *g;
	struct given    *devices;
	uint32_t *next;                  /* 1 + the next operation of the same call; NULL: calls have one at most */
	size_t    early;                 /* how far operations without a call go, launched before the capture */
	uint32_t *position;              /* of each operation, among the issues of its device; NULL: not needed */
	struct wi_counts distances;      /* that may be the depth */
	/* Gets each operation of a call that is an issue of its own, before it is listed. */
	bool (*issue)(struct issues *s, struct given *d, uint32_t op);
};

static int64_t
end_of(const struct wi_graph *g, uint32_t op)
{
	return op == NSX_NONE ? INT64_MIN : g->ops.p[op].end;
}

/* Its number among all of the device. */
static size_t
number_of(const struct given *d, size_t at)
{
	return d->dropped + at;
}

/* Keep the last ones only. */
static void
keep_last(struct given *d, size_t n)
{
	if (d->list.n - d->begin > n)
		d->begin = d->list.n - n;
}

/* The reach of a device, once that operation is issued, too. */
static void
extend(const struct wi_graph *g, struct given *d, uint32_t op)
{
	if (!wi_task(g, &g->ops.p[op])->comm && end_of(g, op) > end_of(g, d->reach))
		d->reach = op;
}

static bool
add_issue(struct issues *s, struct given *d, uint32_t op)
{
	if (d->list.n == d->list.cap && d->begin && d->begin >= d->list.n / 4) {
		d->list.n -= d->begin;
		memmove(d->list.p, d->list.p + d->begin, d->list.n * sizeof *d->list.p);
		d->dropped += d->begin;
		d->begin = 0;
	}
	extend(s->g, d, op);
	return nsx_vec_push(&d->list, ((struct issue){ op, d->reach }));
}

static bool
give(struct issues *s, uint32_t op)
{
	const struct wi_graph *g = s->g;
	const struct wi_op *o = &g->ops.p[op];
	struct given *d = &s->devices[wi_device(g, o)];
	struct issue *last = d->list.n > d->begin ? &d->list.p[d->list.n - 1] : NULL;

	if (last && o->more != NSX_NONE && wi_more(g, o)->item != NSX_NONE && g->ops.p[last->op].call == o->call)
		last->op = o->end > g->ops.p[last->op].end ? op : last->op;
	else if (!s->issue(s, d, op) || !add_issue(s, d, op))
		return false;
	if (s->position)
		s->position[op] = (uint32_t)number_of(d, d->list.n - 1);
	return true;
}

static int
by_end(const void *a, const void *b, const void *graph)
{
	const struct issue *x = a, *y = b;
	int order = nsx_int_cmp(end_of(graph, x->op), end_of(graph, y->op));

	return order ? order : nsx_int_cmp(x->op, y->op);
}

/* Put operations without a call by end, and leave all but the last ones out. */
static void
sort_early(const struct wi_graph *g, struct given *d)
{
	size_t out = d->list.n > KEPT ? d->list.n - KEPT : 0;

	if (!d->list.n)
		return;
	nsx_sort_with(d->list.p, d->list.n, sizeof *d->list.p, by_end, g);
	for (size_t i = 0; i < out; i++)
		extend(g, d, d->list.p[i].op);
	d->list.n -= out;
	memmove(d->list.p, d->list.p + out, d->list.n * sizeof *d->list.p);
	d->dropped += out;
}

/* What was launched before the capture comes first. */
static bool
list_early(struct issues *s)
{
	const struct wi_graph *g = s->g;

	for (size_t i = 0; i < s->early; i++) {
		const struct wi_op *o = &g->ops.p[i];
		struct given *d = &s->devices[wi_device(g, o)];

		wi_pause(g, i);
		if (o->call != NSX_NONE || !d->launched)
			continue;
		if (d->list.n == 2 * KEPT)
			sort_early(g, d);
		if (!nsx_vec_push(&d->list, ((struct issue){ (uint32_t)i, NSX_NONE })))
			return false;
	}
	for (size_t i = 0; i < g->pairing.comm.cat.devices.n && s->early; i++) {
		struct given *d = &s->devices[i];

		sort_early(g, d);
		for (size_t k = 0; k < d->list.n; k++) {
			struct issue *x = &d->list.p[k];

			extend(g, d, x->op);
			x->reach = d->reach;
			if (s->position)
				s->position[x->op] = (uint32_t)number_of(d, k);
		}
	}
	return true;
}

NSX_ORDER(by_number, uint32_t, NSX_CMP(*a, *b))

/* All devices' issues, by the start of their calls; of calls that start at one time, by operation. */
static bool
walk(struct issues *s, bool (*issue)(struct issues *, struct given *, uint32_t))
{
	const struct wi_graph *g = s->g;
	NSX_VEC(uint32_t) at_once = { 0 };
	bool sorted = true, good;

	s->issue = issue;
	for (size_t i = 0; i < g->pairing.comm.cat.devices.n; i++) {
		struct given *d = &s->devices[i];

		d->list.n = d->dropped = d->begin = 0;
		d->reach = NSX_NONE;
	}
	good = list_early(s);
	for (size_t i = 0; i < g->calls.n && good; i++) {
		const struct wi_call *c = &g->calls.p[i];
		bool last = i + 1 == g->calls.n || c[1].start != c->start;

		wi_pause(g, i);
		if (last && !at_once.n && c->op != NSX_NONE && (!s->next || !s->next[c->op])) {
			/* Most launch one operation. */
			good = give(s, c->op);
			continue;
		}
		for (uint32_t op = c->op; op != NSX_NONE && good; op = s->next ? s->next[op] - 1 : (uint32_t)NSX_NONE) {
			sorted &= !at_once.n || op > at_once.p[at_once.n - 1];
			good = nsx_vec_push(&at_once, op);
		}
		if (!last)
			continue;
		if (!sorted)
			qsort(at_once.p, at_once.n, sizeof *at_once.p, by_number);
		for (size_t k = 0; k < at_once.n && good; k++)
			good = give(s, at_once.p[k]);
		at_once.n = 0;
		sorted = true;
	}
	free(at_once.p);
	return good;
}

/* Which operations are of one call. */
static bool
find_issues(struct issues *s)
{
	struct wi_graph *g = s->g;
	bool several = false;
	uint32_t *last;

	s->devices = calloc(g->pairing.comm.cat.devices.n + 1, sizeof *s->devices);
	for (size_t i = 0; i < g->ops.n && s->devices; i++) {
		const struct wi_op *o = &g->ops.p[i];

		wi_pause(g, i);
		if (o->call == NSX_NONE)
			s->early = i + 1;
		several |= o->call != NSX_NONE && g->calls.p[o->call].op != i;
		s->devices[wi_device(g, o)].launched |= o->call != NSX_NONE;
	}
	if (!s->devices || !several)
		return s->devices != NULL;
	/* 1 + the last one of each call so far. */
	last = nsx_large_array(&g->large, g->calls.n, sizeof *last);
	s->next = nsx_large_array(&g->large, g->ops.n, sizeof *s->next);
	for (size_t i = 0; i < g->ops.n && last && s->next; i++) {
		uint32_t call = g->ops.p[i].call;

		wi_pause(g, i);
		if (call == NSX_NONE)
			continue;
		if (last[call])
			s->next[last[call] - 1] = (uint32_t)i + 1;
		last[call] = (uint32_t)i + 1;
	}
	nsx_large_free(&g->large, last);
	return last && s->next;
}

/* ---- the depth */

/* The distance that comes most often; *n times. */
static int64_t
most(const struct wi_counts *c, size_t *n)
{
	int64_t best = 0;

	*n = 0;
	for (int64_t i = 0; i < WI_COUNTED && c->counts; i++)
		if (c->counts[i] > *n) {
			*n = c->counts[i];
			best = i;
		}
	return best;
}

static bool
keep_one(struct issues *s, struct given *d, uint32_t op)
{
	(void)s;
	(void)op;
	keep_last(d, 1);
	return true;
}

static bool
depth_by_stalls(struct issues *s)
{
	struct wi_graph *g = s->g;
	size_t n, all = 0;
	bool good;

	s->position = nsx_large_array(&g->large, g->ops.n, sizeof *s->position);
	good = s->position && walk(s, keep_one);
	for (size_t i = 0; i < g->calls.n && good; i++) {
		const struct wi_call *c = &g->calls.p[i];
		const struct wi_call_more *more = wi_call_more(g, c);
		int64_t distance;
		uint32_t room;

		wi_pause(g, i);
		if (more->stalled <= WI_RETURN || wi_api(g, c)->blocking || c->op == NSX_NONE || more->nwaited != 1)
			continue;
		all++;
		room = g->refs.p[more->waited];
		distance = (int64_t)s->position[c->op] - (int64_t)s->position[room];
		/* What another device was given says nothing of the queue of this one. */
		if (wi_device(g, &g->ops.p[room]) == wi_device(g, &g->ops.p[c->op]) && distance > 0
		    && distance < WI_COUNTED)
			good = nsx_wi_count(&s->distances, distance);
	}
	int64_t best = most(&s->distances, &n);

	if (all >= STALLS && n * 2 >= all && best > 0)
		g->depth = best;
	nsx_large_free(&g->large, s->position);
	s->position = NULL;
	return good;
}

/* The number of the last issue of a device with a reach of at most t, or of the first. */
static size_t
last_reached(const struct wi_graph *g, const struct given *d, int64_t t)
{
	size_t lo;

	NSX_BISECT(lo, d->begin, d->list.n, end_of(g, d->list.p[lo].reach) > t);
	return number_of(d, lo) ? number_of(d, lo) - 1 : 0;
}

/* What a launch says by the ends before which it returned. */
static bool
add_points(struct issues *s, struct given *d, uint32_t op)
{
	const struct wi_graph *g = s->g;
	const struct wi_call *c = &g->calls.p[g->ops.p[op].call];
	size_t k, last, x;

	/* What has ended before a launch made no room for it, nor for later ones. */
	while (d->begin < d->list.n && end_of(g, d->list.p[d->begin].reach) <= c->start
	       && end_of(g, d->list.p[d->begin].op) <= c->start)
		d->begin++;
	keep_last(d, KEPT);
	k = number_of(d, d->list.n);
	if (k < DEPTH_MIN || wi_api(g, c)->blocking || c->end - c->start <= LONG_LAUNCH)
		return true;
	last = last_reached(g, d, c->end);
	x = last > AROUND ? last - AROUND : 0;
	for (x = x < number_of(d, d->begin) ? number_of(d, d->begin) : x; x <= last + AROUND && k - x >= SHALLOW
	     && x < k; x++) {
		const struct wi_op *o = &g->ops.p[d->list.p[x - d->dropped].op];

		if (o->end > c->start && o->end <= c->end && c->end - o->end < NEAR_END && !wi_task(g, o)->comm
		    && k - x < WI_COUNTED && !nsx_wi_count(&s->distances, (int64_t)(k - x)))
			return false;
	}
	return true;
}

static bool
depth_by_ends(struct issues *s)
{
	const struct wi_counts *c = &s->distances;
	size_t n, beside = 0;
	int64_t best;

	if (!walk(s, add_points))
		return false;
	best = most(c, &n);
	for (int64_t i = 0; i < WI_COUNTED && c->counts; i++)
		if ((i > best + APART || i < best - APART) && c->counts[i] > beside)
			beside = c->counts[i];
	if (n >= POINTS && n >= LEAD * beside)
		s->g->depth = best;
	return true;
}

/* ---- */

/* The launch waits for room until the issue that is `depth` before it has ended. */
static bool
set_queue(struct issues *s, struct given *d, uint32_t op)
{
	struct wi_graph *g = s->g;
	struct wi_call *c = &g->calls.p[g->ops.p[op].call];
	uint32_t room;

	keep_last(d, (size_t)g->depth);
	if (d->list.n - d->begin < (size_t)g->depth)
		return true;
	room = d->list.p[d->begin].op;
	if (g->ops.p[room].cut)
		return true;
	g->queued++;
	if (g->ops.p[room].end > c->end + LATE_END)
		g->unrelated++;
	else
		c->queue = room;
	return true;
}

int
nsx_wi_learn_queue(struct wi_graph *g)
{
	struct issues s = { .g = g };
	bool good = find_issues(&s);

	good = good && (g->stalls ? depth_by_stalls(&s) : depth_by_ends(&s));
	good = good && (!g->depth || walk(&s, set_queue)) && set_usual(g);
	for (size_t i = 0; s.devices && i < g->pairing.comm.cat.devices.n; i++)
		free(s.devices[i].list.p);
	free(s.devices);
	nsx_large_free(&g->large, s.next);
	nsx_wi_counts_free(&s.distances);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}
