/* queue.c -- the queue of launches: of how many operations a device has room, learned from launches that had to wait,
 * and the operation whose end made room for each launch. */
#include <stdlib.h>

#include "base/sort.h"
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
	USUAL = 20, ODD = 4     /* times the median */
};

/* What a device was given, in order. */
struct issued { int64_t end, reach; uint32_t op, call, device; };   /* reach: latest end so far of what computes */
typedef NSX_VEC(struct issued) issues;

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
		return c->stalled == NSX_ABSENT || c->stalled <= 0 ? own : own > c->stalled ? own - c->stalled : 0;
	if (g->ops.p[c->queue].end <= c->start)
		return own;
	u = nsx_wi_usual_of(&g->unqueued, c->class);
	usual = u && u->n >= USUAL ? u->ns : WI_ASLEEP;
	return own < usual ? own : usual;
}

/* Of n durations, whose order changes, the median; of launches the mean of those that are not odd, since what many of
 * them take is summed up. */
static int64_t
usual_of(int64_t *ns, size_t n, bool launches)
{
	int64_t median = nsx_sort_nth(ns, n, n / 2), sum = 0, count = 0;

	for (size_t i = 0; i < n && launches; i++)
		if (ns[i] <= ODD * median) {
			sum += ns[i];
			count++;
		}
	return count ? sum / count : median;
}

/* How long calls take, by class: all, or launches that never waited for room. */
static bool
set_usual(const struct wi_graph *g, bool launches, wi_usuals *u)
{
	int64_t *ns = malloc((g->calls.n + 1) * sizeof *ns);
	size_t *first = calloc(g->names.n + 2, sizeof *first);
	bool good = ns && first;

	/* first[c + 1] is where the next one of class c goes, in the end its end. */
	for (int pass = 0; pass < 2 && good; pass++) {
		for (size_t i = 0; i < g->calls.n; i++) {
			const struct wi_call *c = &g->calls.p[i];

			if (launches && !(c->nops && c->queue == NSX_NONE && !c->blocking))
				continue;
			if (pass)
				ns[first[c->class + 1]++] = c->end - c->start;
			else
				first[c->class + 2]++;
		}
		for (size_t k = 2; k < g->names.n + 2 && !pass; k++)
			first[k] += first[k - 1];
	}
	for (uint32_t c = 0; c < g->names.n && good; c++) {
		size_t n = first[c + 1] - first[c];

		if (n)
			good = nsx_vec_push(u, ((struct wi_usual){ c, n, usual_of(ns + first[c], n, launches) }));
	}
	free(ns);
	free(first);
	return good;
}

/* Everything in the order in which it was issued, device by device; what was launched before the capture first. */
static bool
list_issued(const struct wi_graph *g, issues *list, uint32_t *position)
{
	struct nsx_sort_key *keys = malloc((g->ops.n + 1) * sizeof *keys);
	bool good = keys && nsx_vec_room(list, g->ops.n + 1);

	for (size_t i = 0; i < g->ops.n && good; i++) {
		const struct wi_op *o = &g->ops.p[i];

		keys[i] = o->call == NSX_NONE ? (struct nsx_sort_key){ { o->device, 0, o->end }, (uint32_t)i }
		          : (struct nsx_sort_key){ { o->device, 1, g->calls.p[o->call].start }, (uint32_t)i };
	}
	if (good)
		nsx_sort_keys(keys, g->ops.n);
	for (size_t i = 0; i < g->ops.n && good; i++) {
		const struct wi_op *o = &g->ops.p[keys[i].i];
		const struct issued *last = list->n && list->p[list->n - 1].device == o->device
		                            ? &list->p[list->n - 1] : NULL;
		int64_t reach = last ? last->reach : INT64_MIN;

		/* Nodes of a graph are given at once. */
		if (last && o->item != NSX_NONE && last->call == o->call) {
			struct issued *x = &list->p[list->n - 1];

			x->op = o->end > x->end ? keys[i].i : x->op;
			x->end = o->end > x->end ? o->end : x->end;
			position[keys[i].i] = (uint32_t)(list->n - 1);
			continue;
		}
		reach = !o->comm && o->end > reach ? o->end : reach;
		list->p[list->n++] = (struct issued){ o->end, reach, keys[i].i, o->call, o->device };
		position[keys[i].i] = (uint32_t)(list->n - 1);
	}
	free(keys);
	return good;
}

/* ---- the depth */

/* The value that comes most often; *n times. */
static int64_t
most(int64_t *v, size_t len, size_t *n)
{
	int64_t best = 0;

	*n = 0;
	if (len)
		qsort(v, len, sizeof *v, nsx_sort_by_int);
	for (size_t i = 0, k; i < len; i = k) {
		for (k = i; k < len && v[k] == v[i];)
			k++;
		if (k - i > *n) {
			*n = k - i;
			best = v[i];
		}
	}
	return best;
}

static bool
depth_by_stalls(struct wi_graph *g, const uint32_t *position)
{
	NSX_VEC(int64_t) v = { 0 };
	bool good = true;
	size_t n;

	for (size_t i = 0; i < g->calls.n && good; i++) {
		const struct wi_call *c = &g->calls.p[i];

		if (c->stalled == NSX_ABSENT || c->stalled <= WI_RETURN || c->blocking || !c->nops || c->nwaited != 1)
			continue;
		good = nsx_vec_push(&v, (int64_t)position[c->op] - (int64_t)position[g->refs.p[c->waited]]);
	}
	int64_t best = most(v.p, v.n, &n);

	if (v.n >= STALLS && n * 2 >= v.n && best > 0)
		g->depth = best;
	free(v.p);
	return good;
}

/* The last of the issued from `from` to `k` with a reach of at most t, or from. */
static size_t
last_reached(const issues *list, size_t from, size_t k, int64_t t)
{
	size_t lo = from, hi = k;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (list->p[mid].reach <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > from ? lo - 1 : from;
}

static bool
depth_by_ends(struct wi_graph *g, const issues *list, const size_t *begin)
{
	NSX_VEC(int64_t) points = { 0 };
	bool good = true;
	size_t n, beside = 0, run = 0;

	for (size_t k = 0; k < list->n && good; k++) {
		const struct wi_call *c = list->p[k].call == NSX_NONE ? NULL : &g->calls.p[list->p[k].call];
		size_t from = begin[list->p[k].device], last, to;

		if (!c || c->blocking || c->end - c->start <= LONG_LAUNCH || k - from < DEPTH_MIN)
			continue;
		last = last_reached(list, from, k, c->end);
		to = last + AROUND < k ? last + AROUND : k - 1;
		for (size_t x = last > from + AROUND ? last - AROUND : from; x <= to && good; x++) {
			int64_t end = list->p[x].end;

			if (k - x >= SHALLOW && end > c->start && end <= c->end && c->end - end < NEAR_END
			    && !g->ops.p[list->p[x].op].comm)
				good = nsx_vec_push(&points, (int64_t)(k - x));
		}
	}
	int64_t best = most(points.p, points.n, &n);

	for (size_t i = 0; i < points.n; i++) {
		run = i && points.p[i] == points.p[i - 1] ? run + 1 : 1;
		if ((points.p[i] > best + APART || points.p[i] < best - APART) && run > beside)
			beside = run;
	}
	if (n >= POINTS && n >= LEAD * beside)
		g->depth = best;
	free(points.p);
	return good;
}

/* ---- */

static void
set_queues(struct wi_graph *g, const issues *list, const size_t *begin)
{
	for (size_t k = 0; k < list->n; k++) {
		struct wi_call *c = list->p[k].call == NSX_NONE ? NULL : &g->calls.p[list->p[k].call];
		const struct issued *room;

		if (!c || k - begin[list->p[k].device] < (size_t)g->depth)
			continue;
		room = &list->p[k - (size_t)g->depth];
		if (g->ops.p[room->op].cut)
			continue;
		g->queued++;
		if (room->end > c->end + LATE_END)
			g->unrelated++;
		else
			c->queue = room->op;
	}
}

int
nsx_wi_learn_queue(struct wi_graph *g)
{
	issues list = { 0 };
	uint32_t *position = malloc((g->ops.n + 1) * sizeof *position);
	size_t ndevices = g->pairing.comm.cat.devices.n, *begin = calloc(ndevices + 1, sizeof *begin);
	bool good = position && begin && list_issued(g, &list, position);

	for (size_t k = list.n; k-- > 0 && good;)
		begin[list.p[k].device] = k;
	good = good && (g->stalls ? depth_by_stalls(g, position) : depth_by_ends(g, &list, begin));
	if (good && g->depth)
		set_queues(g, &list, begin);
	good = good && set_usual(g, false, &g->usual) && set_usual(g, true, &g->unqueued);
	free(list.p);
	free(position);
	free(begin);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}
