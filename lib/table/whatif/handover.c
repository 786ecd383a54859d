/* handover.c -- threads that wait for another thread, or in no call for the device: no record tells so. A gap of a
 * thread before a call of one name often follows a call of another thread that then falls silent, or one that waited
 * for the device: if the one waits for the other, the time from there varies less than the gap does; if it has a clock
 * of its own, more. Judged over all processes at once, since one has too few steps.
 *
 * Example: gaps of 900, 950, 870 us of a thread that reads batches, in which a copy of another thread ends after 300,
 * 352, 269 us. The times from there to the end of the gap, 600, 598, 601, vary by 2 us and the gaps by 40, so the
 * reader waits for the copy. Had the gaps varied by 2 us and these times by 40, it would not. The same tells of gaps in
 * which the device ends all that the process had launched whether the host waited for that.
 *
 * Where the host is slow most gaps before a call of that name are its own work, in which no other thread calls:
 * PyTorch's main thread has many of 50 us and more in a step, and waits for the thread of autograd in one. Of two
 * threads that take turns those alone count in which the other one has called. */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "table/whatif/graph.h"

enum {
	GAP = 50000,          /* ns: of a thread that may wait, */
	SILENT = 50000,       /* and after the call that it may have waited for */
	SOON = 100000, STEADY = 5000,   /* ns: goes on so soon, or always so long after */
	RESOLUTION = 1000,    /* ns: variation of times that says nothing */
	FEW = 2,
	FAR = 4,              /* times as long after: not what it waited for */
	CALLS_A_TURN = 2,     /* of threads that take turns, the one with fewer calls, of both changes of a turn each */
	OTHERS = 16,          /* threads of a process, those with most calls, that others may wait for */
	DEVICE = 2 * OTHERS   /* in the place of another thread: the device */
};
/* Logarithms of how much likelier a wait must be than a clock of its own: 150 times, or 20 where the thread goes on
 * soon; if neither is 20 times likelier nobody knows. */
static const double often = 0.7, sure = 5, likely = 3, alike = 1;

/* A gap, and another thread of its process. Ranks: of threads in their process, the one with most calls first. */
struct sample {
	uint32_t of, name;            /* rank of the thread, name of the call that ends the gap */
	uint32_t by;                  /* twice the rank of the other, and 1 for its calls that wait for the device; in
	                               * the end what was decided */
	uint32_t thread, call;
	uint32_t from;                /* the other's call, of the device an operation; NSX_NONE: none */
	int64_t  after, since;        /* from its return to the call; from the thread's call before to it, ns */
};

enum { NOTHING, HANDED, DRAINED, DOUBTFUL };

/* Samples of one site, n from number `first` on: what they say. after: the median. gaps: those with a call. */
struct verdict {
	bool    device, often, accepted, unsure, read;
	double  spread;
	int64_t after;
	size_t  gaps, first, n;
};

/* group: where the threads of its process begin in search.threads, of which there are group_n. last: its latest call so
 * far; NSX_NONE: none yet. came: a bit for each rank of others of its process that have not called since it did. */
struct of_thread { uint32_t rank, group, group_n, ncalls, last, came; };

struct search {
	struct wi_graph  *g;
	struct of_thread *of;               /* by thread */
	uint32_t         *threads;          /* by process and rank */
	unsigned char    *goes_on;          /* a bit for each call: its thread's next one comes soon after */
	uint32_t         *last_op;          /* by call: its operation that ends last */
	uint32_t         *left;             /* by process: of what it has launched so far, what ends last */
	size_t            nthreads;
	size_t            turns[OTHERS][OTHERS];   /* by rank of the one that begins, and of the other */
	size_t            ncalls[OTHERS];          /* by rank */
	uint32_t          to_host;          /* the name of copies to the host, in wi_graph.names */
	NSX_VEC(struct sample) samples;
};

/* ---- threads and their calls */

/* Calls of each thread, and after which of them it goes on soon. */
static void
look_at_calls(struct search *s)
{
	const struct wi_graph *g = s->g;

	for (size_t i = 0; i < g->calls.n; i++) {
		const struct wi_call *c = &g->calls.p[i];
		uint32_t before = wi_before(c);

		wi_pause(g, i);
		s->of[c->thread].ncalls++;
		if (before != NSX_NONE && c->start - g->calls.p[before].end < SILENT)
			s->goes_on[before / 8] |= (unsigned char)(1u << before % 8);
	}
}

/* The threads that have calls, by process, the one with most calls first. */
static bool
rank_threads(struct search *s)
{
	const struct wi_graph *g = s->g;
	struct nsx_sort_key *keys = malloc((s->nthreads + 1) * sizeof *keys);
	size_t n = 0;

	for (size_t t = 0; keys && t < s->nthreads; t++)
		if (s->of[t].ncalls)
			keys[n++] = (struct nsx_sort_key){ { g->of_threads.p[t].process, -(int64_t)s->of[t].ncalls, 0 },
			                                   (uint32_t)t };
	if (keys)
		nsx_sort_keys(keys, n);
	for (size_t i = 0, k; keys && i < n; i = k) {
		for (k = i; k < n && keys[k].k[0] == keys[i].k[0]; k++)
			s->threads[k] = keys[k].i;
		for (size_t x = i; x < k; x++) {
			struct of_thread *of = &s->of[keys[x].i];

			*of = (struct of_thread){ (uint32_t)(x - i), (uint32_t)i, (uint32_t)(k - i), of->ncalls,
			                          NSX_NONE, 0 };
		}
	}
	free(keys);
	return keys != NULL;
}

/* The last call of a thread that begins before t; NSX_NONE: none. */
static uint32_t
last_before(const struct search *s, uint32_t thread, int64_t t)
{
	uint32_t at = s->of[thread].last;

	while (at != NSX_NONE && s->g->calls.p[at].start >= t)
		at = wi_before(&s->g->calls.p[at]);
	return at;
}

/* The other thread's last call before the gap ends, after which it is silent, or the last one that waited for the
 * device; in either case one that returned within the gap. */
static uint32_t
last_in_gap(const struct search *s, uint32_t other, int64_t since, int64_t end, bool blocking)
{
	const struct wi_graph *g = s->g;
	uint32_t at = last_before(s, other, end);

	while (at != NSX_NONE && blocking && g->calls.p[at].end > since
	       && (!wi_api(g, &g->calls.p[at])->blocking || g->calls.p[at].end > end))
		at = wi_before(&g->calls.p[at]);
	if (at == NSX_NONE || g->calls.p[at].end <= since || g->calls.p[at].end > end)
		return NSX_NONE;
	return blocking || !(s->goes_on[at / 8] >> at % 8 & 1) ? at : (uint32_t)NSX_NONE;
}

static bool
add_samples(struct search *s, uint32_t call, uint32_t other)
{
	const struct wi_call *c = &s->g->calls.p[call];
	int64_t since = s->g->calls.p[c->before].end;

	for (uint32_t blocking = 0; blocking < 2; blocking++) {
		struct sample x = { s->of[c->thread].rank, wi_api(s->g, c)->name, 2 * s->of[other].rank + blocking,
		                    c->thread, call, NSX_NONE, 0, 0 };

		x.from = last_in_gap(s, other, since, c->start, blocking);
		if (x.from != NSX_NONE) {
			x.after = c->start - s->g->calls.p[x.from].end;
			x.since = s->g->calls.p[x.from].end - since;
		}
		if (!nsx_large_push(&s->g->large, &s->samples, x))
			return false;
	}
	return true;
}

/* The device, which ended all that the process had launched in the gap. */
static bool
add_device(struct search *s, uint32_t call)
{
	const struct wi_graph *g = s->g;
	const struct wi_call *c = &g->calls.p[call];
	uint32_t op = s->left[wi_process_of(g, c)];
	int64_t since = g->calls.p[c->before].end;
	struct sample x = { s->of[c->thread].rank, wi_api(g, c)->name, DEVICE, c->thread, call, NSX_NONE, 0, 0 };

	if (op != NSX_NONE && g->ops.p[op].end - since >= GAP && g->ops.p[op].end <= c->start) {
		x.from = op;
		x.after = c->start - g->ops.p[op].end;
		x.since = g->ops.p[op].end - since;
	}
	return nsx_large_push(&s->g->large, &s->samples, x);
}

/* A call of a thread with n - 1 others: it begins a turn with each that has called since it last did. */
static void
count_turn(struct search *s, struct of_thread *of, uint32_t n)
{
	uint32_t others;

	if (of->rank >= n)
		return;
	others = ((1u << n) - 1) & ~(1u << of->rank) & ~of->came;
	s->ncalls[of->rank]++;
	for (uint32_t k = 0; others >> k; k++)
		if (others >> k & 1) {
			s->turns[of->rank][k]++;
			s->of[s->threads[of->group + k]].came &= ~(1u << of->rank);
		}
	of->came |= others;
}

/* Whether two threads work by turns, each while the other is silent: of two that know nothing of each other the calls
 * would lie between each other's. */
static bool
takes_turns(const struct search *s, uint32_t a, uint32_t b)
{
	size_t n = nsx_min(s->ncalls[a], s->ncalls[b]);

	return s->turns[a][b] + s->turns[b][a] <= n / CALLS_A_TURN;
}

/* By call, and none by process. */
static void
find_last_ops(struct search *s)
{
	const struct wi_graph *g = s->g;

	for (size_t i = 0; i < g->calls.n; i++) {
		wi_pause(g, i);
		s->last_op[i] = NSX_NONE;
	}
	for (size_t i = 0; i < g->ops.n; i++) {
		const struct wi_op *o = &g->ops.p[i];

		wi_pause(g, i);
		if (o->call != NSX_NONE && (s->last_op[o->call] == NSX_NONE
		                            || g->ops.p[s->last_op[o->call]].end < o->end))
			s->last_op[o->call] = (uint32_t)i;
	}
	for (size_t i = 0; i < g->threads.process_of.n; i++)
		s->left[i] = NSX_NONE;
}

/* After the i-th call: what ends last of all that its process has launched. */
static void
launched(struct search *s, size_t i)
{
	const struct wi_graph *g = s->g;
	uint32_t op = s->last_op[i], *left = &s->left[wi_process_of(g, &g->calls.p[i])];

	if (op != NSX_NONE && (*left == NSX_NONE || g->ops.p[*left].end < g->ops.p[op].end))
		*left = op;
}

/* In order of time. */
static bool
find_samples(struct search *s)
{
	const struct wi_graph *g = s->g;

	for (size_t i = 0; i < g->calls.n; i++) {
		const struct wi_call *c = &g->calls.p[i];
		struct of_thread *of = &s->of[c->thread];
		uint32_t n = of->group_n < OTHERS ? of->group_n : OTHERS;

		wi_pause(g, i);
		of->last = (uint32_t)i;
		if (n > 1)
			count_turn(s, of, n);
		if (wi_before(c) == NSX_NONE || c->start - g->calls.p[c->before].end < GAP) {
			launched(s, i);
			continue;
		}
		if (!add_device(s, (uint32_t)i))
			return false;
		launched(s, i);
		for (uint32_t k = of->group; n > 1 && k < of->group + n; k++)
			if (s->threads[k] != c->thread && !add_samples(s, (uint32_t)i, s->threads[k]))
				return false;
	}
	return true;
}

/* ---- what they say */

NSX_ORDER(by_site, struct sample, NSX_CMP(a->of, b->of), NSX_CMP(a->name, b->name), NSX_CMP(a->by, b->by),
          NSX_CMP(a->thread, b->thread), NSX_CMP(a->call, b->call))

/* The sums of `after` and `since` of n samples that have a call, each less its thread's mean. */
static void
sum_up(const struct sample *x, size_t n, double *dd, double *du, double *uu)
{
	*dd = *du = *uu = 0;
	for (size_t i = 0, k; i < n; i = k) {
		double d = 0, u = 0, count = 0;

		for (k = i; k < n && x[k].thread == x[i].thread; k++)
			if (x[k].from != NSX_NONE) {
				d += (double)x[k].after;
				u += (double)x[k].since;
				count++;
			}
		for (size_t m = i; m < k; m++)
			if (x[m].from != NSX_NONE) {
				double a = (double)x[m].after - d / count, b = (double)x[m].since - u / count;

				*dd += a * a;
				*du += a * b;
				*uu += b * b;
			}
	}
}

/* Whether what the device ended last in the gap was a copy to the host that another thread had issued: what it brought
 * is wanted. JAX waits so for values, in no call. */
static bool
is_read(const struct search *s, const struct sample *x)
{
	const struct wi_op *o = &s->g->ops.p[x->from];

	return s->g->tasks.p[o->task].kernel == s->to_host && s->g->calls.p[o->call].thread != x->thread;
}

static bool
judge(const struct search *s, const struct sample *x, size_t n, struct verdict *v)
{
	bool read = x->by == DEVICE;
	bool turns = x->by != DEVICE && x->of < OTHERS && takes_turns(s, x->of, x->by / 2);
	NSX_VEC(int64_t) after = { 0 };
	double dd, du, uu, count, least, likelier;

	for (size_t i = 0; i < n; i++)
		if (x[i].from != NSX_NONE) {
			read = read && is_read(s, &x[i]);
			if (!nsx_vec_push(&after, x[i].after)) {
				free(after.p);
				return false;
			}
		}
	*v = (struct verdict){ .device = x->by == DEVICE, .gaps = after.n,
	                       .often = after.n >= FEW && (turns || read || (double)after.n >= often * (double)n) };
	if (v->often) {
		qsort(after.p, after.n, sizeof *after.p, nsx_sort_by_int);
		sum_up(x, n, &dd, &du, &uu);
		/* Times from the other thread's call against gaps: which of them vary by chance alone. */
		count = (double)after.n;
		least = count * RESOLUTION * RESOLUTION;
		likelier = count / 2 * log((dd + uu + 2 * du + least) / (dd + least));
		v->accepted = likelier >= sure || (after.p[after.n / 2] < SOON && (likelier >= likely
		              || (likelier > -alike && dd / count < (double)STEADY * STEADY)));
		v->read = read && likelier > -alike;
		v->after = after.p[after.n / 2];
		v->unsure = likelier > -likely;
		v->spread = dd / count;
	}
	free(after.p);
	return true;
}

static bool
set_from(struct wi_graph *g, uint32_t call, uint32_t from, bool device)
{
	struct wi_call *c = &g->calls.p[call];

	if (c->more == NSX_NONE) {
		c->more = (uint32_t)g->call_mores.n;
		if (!nsx_large_push(&g->large, &g->call_mores, nsx_wi_no_call_more))
			return false;
	}
	*(device ? &g->call_mores.p[c->more].drained : &g->call_mores.p[c->more].from) = from;
	return true;
}

/* Of what a thread may have waited for, v[0 .. n), what it did: n for nothing. In a steady job all that happens once in
 * a step is as regular, so that after which it goes on far sooner counts. A thread that waits for the device may be
 * what this one waits for, or one of several that issue what it reads. */
static size_t
choose(const struct verdict *v, size_t n, bool *doubt)
{
	size_t best = n, device = n, most = 0;
	int64_t soon = INT64_MAX;

	for (size_t i = 0; i < n; i++)
		if (v[i].accepted)
			soon = nsx_min(soon, v[i].after);
	soon = soon > INT64_MAX / FAR ? INT64_MAX : nsx_max(FAR * soon, SOON);
	for (size_t i = 0; i < n; i++) {
		bool near = v[i].after <= soon;

		if (v[i].device) {
			device = i;
			continue;
		}
		if (v[i].accepted && near && (best == n || v[i].spread < v[best].spread))
			best = i;
		if (v[i].often && v[i].unsure && near && v[i].gaps > most)
			most = v[i].gaps;
	}
	*doubt = most > 0;
	if (device < n && v[device].read && 2 * most <= v[device].gaps)
		return device;
	return best < n || device == n || !v[device].accepted || v[device].after > soon || *doubt ? best : device;
}

/* One thread and call with its sites, of each other thread. */
static bool
decide(struct search *s, size_t from, size_t to)
{
	struct verdict v[DEVICE + 1];
	size_t n = 0, best;
	bool doubt;

	for (size_t i = from, k; i < to; i = k) {
		for (k = i; k < to && s->samples.p[k].by == s->samples.p[i].by;)
			k++;
		if (!judge(s, &s->samples.p[i], k - i, &v[n]))
			return false;
		v[n].first = i;
		v[n++].n = k - i;
	}
	/* Of the device a doubt is told by what may be a wait in no call (unseen.c). */
	best = choose(v, n, &doubt);
	for (size_t i = from; i < to; i++) {
		struct sample *x = &s->samples.p[i];
		bool is_best = best < n && i >= v[best].first && i < v[best].first + v[best].n;

		x->by = x->from == NSX_NONE || (x->by == DEVICE && !is_best) ? NOTHING
		        : is_best ? x->by == DEVICE ? DRAINED : HANDED : best == n && doubt ? DOUBTFUL : NOTHING;
	}
	return true;
}

NSX_ORDER(by_call, struct sample, NSX_CMP(a->call, b->call))

/* Set what was decided, in order of time. */
static bool
set_decided(struct search *s)
{
	enum { REST = 4096 };
	size_t n = 0;

	for (size_t i = 0; i < s->samples.n; i++)
		if (s->samples.p[i].by != NOTHING)
			s->samples.p[n++] = s->samples.p[i];
	s->samples.n = n;
	if (n)
		qsort(s->samples.p, n, sizeof *s->samples.p, by_call);
	for (size_t i = 0; i < n; i++) {
		const struct sample *x = &s->samples.p[i];

		if (x->by == DOUBTFUL)
			s->g->calls.p[x->call].doubtful = true;
		else if (!set_from(s->g, x->call, x->from, x->by == DRAINED))
			return false;
		/* Those that are far from each other touch a page each. */
		if (!(i % REST))
			nsx_large_rest(&s->g->large);
	}
	return true;
}

static bool
decide_all(struct search *s)
{
	bool good = true;

	if (s->samples.n)
		qsort(s->samples.p, s->samples.n, sizeof *s->samples.p, by_site);
	for (size_t i = 0, k; i < s->samples.n && good; i = k) {
		for (k = i; k < s->samples.n && s->samples.p[k].of == s->samples.p[i].of
		     && s->samples.p[k].name == s->samples.p[i].name;)
			k++;
		good = decide(s, i, k);
	}
	return good && set_decided(s);
}

int
nsx_wi_find_handovers(struct wi_graph *g)
{
	struct search s = { .g = g, .nthreads = g->threads.thread_of.n };
	bool good;

	s.to_host = nsx_intern_find(&g->names, NSX_STR("[CUDA memcpy Device-to-Host]"));
	s.of = calloc(s.nthreads + 1, sizeof *s.of);
	s.threads = calloc(s.nthreads + 1, sizeof *s.threads);
	s.goes_on = nsx_large_array(&g->large, g->calls.n / 8 + 1, 1);
	s.last_op = nsx_large_array(&g->large, g->calls.n + 1, sizeof *s.last_op);
	s.left = calloc(g->threads.process_of.n + 1, sizeof *s.left);
	good = s.of && s.threads && s.goes_on && s.last_op && s.left;
	if (good) {
		look_at_calls(&s);
		find_last_ops(&s);
	}
	good = good && rank_threads(&s) && find_samples(&s) && decide_all(&s);
	free(s.of);
	free(s.threads);
	nsx_large_free(&g->large, s.goes_on);
	nsx_large_free(&g->large, s.last_op);
	free(s.left);
	nsx_large_free(&g->large, s.samples.p);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}
