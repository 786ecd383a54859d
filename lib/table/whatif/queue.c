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

			if (launches && !(c->op != NSX_NONE && c->queue == NSX_NONE && !wi_api(g, c)->blocking))
				continue;
			if (pass)
				ns[first[wi_api(g, c)->class + 1]++] = c->end - c->start;
			else
				first[wi_api(g, c)->class + 2]++;
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

/* What each device was given, in order: launches of operations, and of graphs, whose nodes are given at once. */
struct issues {
	struct wi_graph *g;
	uint32_t *list;                  /* operations, of a graph the node that ended last; device by device: */
	size_t    n, *begin;             /* the first of each device, and the end */
	uint32_t *position;              /* of each operation, in list; NULL: not needed */
	struct nsx_sort_key *keys;       /* of the device in question, */
	int64_t  *reach;                 /* and the latest end so far of what computes */
	NSX_VEC(int64_t) points;         /* distances that may be the depth */
};

/* What was launched before the capture comes first. */
static void
list_device(struct issues *s, uint32_t device)
{
	const struct wi_graph *g = s->g;
	size_t from = g->device_first[device], n = g->device_first[device + 1] - from, begin = s->n;
	int64_t reach = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		const struct wi_op *o = &g->ops.p[g->by_device[from + i]];

		s->keys[i] = o->call == NSX_NONE ? (struct nsx_sort_key){ { 0, o->end, 0 }, g->by_device[from + i] }
		             : (struct nsx_sort_key){ { 1, g->calls.p[o->call].start, 0 }, g->by_device[from + i] };
	}
	nsx_sort_keys(s->keys, n);
	for (size_t i = 0; i < n; i++) {
		const struct wi_op *o = &g->ops.p[s->keys[i].i];
		const struct wi_op *last = s->n > begin ? &g->ops.p[s->list[s->n - 1]] : NULL;

		if (last && wi_more(g, o)->item != NSX_NONE && last->call == o->call) {
			if (o->end > last->end)
				s->list[s->n - 1] = s->keys[i].i;
		} else {
			reach = !wi_task(g, o)->comm && o->end > reach ? o->end : reach;
			s->reach[s->n - begin] = reach;
			s->list[s->n++] = s->keys[i].i;
		}
		if (s->position)
			s->position[s->keys[i].i] = (uint32_t)(s->n - 1);
	}
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

		const struct wi_call_more *more = wi_call_more(g, c);

		if (more->stalled <= WI_RETURN || wi_api(g, c)->blocking || c->op == NSX_NONE || more->nwaited != 1)
			continue;
		good = nsx_vec_push(&v, (int64_t)position[c->op] - (int64_t)position[g->refs.p[more->waited]]);
	}
	int64_t best = most(v.p, v.n, &n);

	if (v.n >= STALLS && n * 2 >= v.n && best > 0)
		g->depth = best;
	free(v.p);
	return good;
}

/* The last of the first n issued of a device with a reach of at most t, or the first. */
static size_t
last_reached(const int64_t *reach, size_t n, int64_t t)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (reach[mid] <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? lo - 1 : 0;
}

/* What launches of the device that was listed last say by the ends before which they returned. */
static bool
add_points(struct issues *s, size_t begin)
{
	const struct wi_graph *g = s->g;
	const uint32_t *list = s->list + begin;

	for (size_t k = DEPTH_MIN; k < s->n - begin; k++) {
		uint32_t call = g->ops.p[list[k]].call;
		const struct wi_call *c = call == NSX_NONE ? NULL : &g->calls.p[call];
		size_t last, to;

		if (!c || wi_api(g, c)->blocking || c->end - c->start <= LONG_LAUNCH)
			continue;
		last = last_reached(s->reach, k, c->end);
		to = last + AROUND < k ? last + AROUND : k - 1;
		for (size_t x = last > AROUND ? last - AROUND : 0; x <= to; x++) {
			int64_t end = g->ops.p[list[x]].end;

			if (k - x >= SHALLOW && end > c->start && end <= c->end && c->end - end < NEAR_END
			    && !wi_task(g, &g->ops.p[list[x]])->comm && !nsx_vec_push(&s->points, (int64_t)(k - x)))
				return false;
		}
	}
	return true;
}

static void
depth_by_ends(struct issues *s)
{
	size_t n, beside = 0, run = 0;
	int64_t best = most(s->points.p, s->points.n, &n);

	for (size_t i = 0; i < s->points.n; i++) {
		run = i && s->points.p[i] == s->points.p[i - 1] ? run + 1 : 1;
		if ((s->points.p[i] > best + APART || s->points.p[i] < best - APART) && run > beside)
			beside = run;
	}
	if (n >= POINTS && n >= LEAD * beside)
		s->g->depth = best;
}

/* ---- */

static void
set_queues(struct wi_graph *g, const uint32_t *list, size_t n)
{
	for (size_t k = (size_t)g->depth; k < n; k++) {
		uint32_t call = g->ops.p[list[k]].call, room = list[k - (size_t)g->depth];

		if (call == NSX_NONE || g->ops.p[room].cut)
			continue;
		g->queued++;
		if (g->ops.p[room].end > g->calls.p[call].end + LATE_END)
			g->unrelated++;
		else
			g->calls.p[call].queue = room;
	}
}

static bool
list_all(struct issues *s)
{
	struct wi_graph *g = s->g;
	size_t ndevices = g->pairing.comm.cat.devices.n, most_ops = 0;
	bool good;

	for (size_t d = 0; d < ndevices; d++)
		if (g->device_first[d + 1] - g->device_first[d] > most_ops)
			most_ops = g->device_first[d + 1] - g->device_first[d];
	s->list = malloc((g->ops.n + 1) * sizeof *s->list);
	s->begin = malloc((ndevices + 1) * sizeof *s->begin);
	s->position = g->stalls ? malloc((g->ops.n + 1) * sizeof *s->position) : NULL;
	s->keys = malloc((most_ops + 1) * sizeof *s->keys);
	s->reach = malloc((most_ops + 1) * sizeof *s->reach);
	good = s->list && s->begin && s->keys && s->reach && (s->position || !g->stalls);
	for (size_t d = 0; d < ndevices && good; d++) {
		s->begin[d] = s->n;
		list_device(s, (uint32_t)d);
		good = g->stalls || add_points(s, s->begin[d]);
	}
	if (good)
		s->begin[ndevices] = s->n;
	free(s->keys);
	free(s->reach);
	return good;
}

int
nsx_wi_learn_queue(struct wi_graph *g)
{
	struct issues s = { .g = g };
	bool good = list_all(&s);

	if (good && g->stalls)
		good = depth_by_stalls(g, s.position);
	else if (good)
		depth_by_ends(&s);
	for (size_t d = 0; d < g->pairing.comm.cat.devices.n && good && g->depth; d++)
		set_queues(g, s.list + s.begin[d], s.begin[d + 1] - s.begin[d]);
	free(s.list);
	free(s.begin);
	free(s.position);
	free(s.points.p);
	good = good && set_usual(g, false, &g->usual) && set_usual(g, true, &g->unqueued);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}
