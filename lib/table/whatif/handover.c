/* handover.c -- threads that wait for another thread: no record tells so. A gap of a thread before a call of one name
 * often follows a call of another thread that then falls silent, or one that waited for the device: if the one waits
 * for the other, the time from there varies less than the gap does; if it has a clock of its own, more. Judged over
 * all processes at once, since one has too few steps.
 *
 * Example: gaps of 900, 950, 870 us of a thread that reads batches, in which a copy of another thread ends after 300,
 * 352, 269 us. The times from there to the end of the gap, 600, 598, 601, vary by 2 us and the gaps by 40, so the
 * reader waits for the copy. Had the gaps varied by 2 us and these times by 40, it would not. */
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
	OTHERS = 16           /* threads of a process, those with most calls, that others may wait for */
};
/* Logarithms of how much likelier a wait must be than a clock of its own: 150 times, or 20 where the thread goes on
 * soon; if neither is 20 times likelier nobody knows. */
static const double often = 0.7, sure = 5, likely = 3, alike = 1;

/* A gap, and another thread of its process. Ranks: of threads in their process, the one with most calls first. */
struct sample {
	uint32_t of, name;            /* rank of the thread, name of the call that ends the gap */
	uint32_t by;                  /* twice the rank of the other, and 1 for its calls that wait for the device */
	uint32_t thread, call;
	uint32_t from;                /* the other's call; NSX_NONE: none */
	int64_t  after, since;        /* from its return to the call; from the thread's call before to it, ns */
};

/* Samples of one site: what they say. */
struct verdict { bool often, accepted, unsure; double spread; };

struct search {
	struct wi_graph *g;
	uint32_t *process, *rank, *first;   /* by thread; first: of nthreads + 1, in list */
	uint32_t *list;                     /* calls by thread and start */
	uint32_t *threads;                  /* by process */
	size_t    nthreads;
	NSX_VEC(struct sample) samples;
};

/* ---- threads and their calls */

static bool
list_calls(struct search *s)
{
	const struct wi_graph *g = s->g;
	size_t n = s->nthreads;
	struct nsx_sort_key *keys = malloc((n + 1) * sizeof *keys);

	s->process = calloc(n + 1, sizeof *s->process);
	s->rank = calloc(n + 1, sizeof *s->rank);
	s->first = calloc(n + 2, sizeof *s->first);
	s->threads = calloc(n + 1, sizeof *s->threads);
	s->list = malloc((g->calls.n + 1) * sizeof *s->list);
	if (!keys || !s->process || !s->rank || !s->first || !s->threads || !s->list) {
		free(keys);
		return false;
	}
	for (size_t i = 0; i < g->calls.n; i++) {
		s->process[g->calls.p[i].thread] = g->of_threads.p[g->calls.p[i].thread].process;
		s->first[g->calls.p[i].thread + 1]++;
	}
	for (size_t t = 0; t < n; t++)
		s->first[t + 1] += s->first[t];
	for (size_t i = g->calls.n; i-- > 0;)
		s->list[--s->first[g->calls.p[i].thread + 1]] = (uint32_t)i;
	/* What was the end of each is now its beginning. */
	for (size_t t = 0; t < n; t++)
		s->first[t] = s->first[t + 1];
	s->first[n] = (uint32_t)g->calls.n;
	for (size_t t = 0; t < n; t++)
		keys[t] = (struct nsx_sort_key){ { s->process[t], (int64_t)s->first[t] - s->first[t + 1], 0 },
		                                 (uint32_t)t };
	nsx_sort_keys(keys, n);
	for (size_t i = 0; i < n; i++) {
		s->threads[i] = keys[i].i;
		s->rank[keys[i].i] = i && keys[i].k[0] == keys[i - 1].k[0] ? s->rank[keys[i - 1].i] + 1 : 0;
	}
	free(keys);
	return true;
}

/* The last call of a thread that begins before t: its place in list; NSX_NONE: none. */
static uint32_t
last_before(const struct search *s, uint32_t thread, int64_t t)
{
	uint32_t lo = s->first[thread], hi = s->first[thread + 1];

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->g->calls.p[s->list[mid]].start < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo == s->first[thread] ? NSX_NONE : lo - 1;
}

/* The other thread's last call before the gap ends, after which it is silent, or the last one that waited for the
 * device; in either case one that returned within the gap. */
static uint32_t
last_in_gap(const struct search *s, uint32_t other, int64_t since, int64_t end, bool blocking)
{
	const struct wi_graph *g = s->g;
	uint32_t at = last_before(s, other, end);

	while (at != NSX_NONE && blocking && g->calls.p[s->list[at]].end > since
	       && (!wi_api(g, &g->calls.p[s->list[at]])->blocking || g->calls.p[s->list[at]].end > end))
		at = at > s->first[other] ? at - 1 : NSX_NONE;
	if (at == NSX_NONE || g->calls.p[s->list[at]].end <= since || g->calls.p[s->list[at]].end > end)
		return NSX_NONE;
	if (!blocking && at + 1 < s->first[other + 1]
	    && g->calls.p[s->list[at + 1]].start - g->calls.p[s->list[at]].end < SILENT)
		return NSX_NONE;
	return s->list[at];
}

static bool
add_samples(struct search *s, uint32_t call, uint32_t other)
{
	const struct wi_call *c = &s->g->calls.p[call];
	int64_t since = s->g->calls.p[c->before].end;

	for (uint32_t blocking = 0; blocking < 2; blocking++) {
		struct sample x = { s->rank[c->thread], wi_api(s->g, c)->name, 2 * s->rank[other] + blocking,
		                    c->thread, call, NSX_NONE, 0, 0 };

		x.from = last_in_gap(s, other, since, c->start, blocking);
		if (x.from != NSX_NONE) {
			x.after = c->start - s->g->calls.p[x.from].end;
			x.since = s->g->calls.p[x.from].end - since;
		}
		if (!nsx_vec_push(&s->samples, x))
			return false;
	}
	return true;
}

static bool
find_samples(struct search *s)
{
	const struct wi_graph *g = s->g;

	for (size_t i = 0, n; i < s->nthreads; i += n) {
		for (n = 1; i + n < s->nthreads && s->process[s->threads[i + n]] == s->process[s->threads[i]];)
			n++;
		for (size_t x = i; x < i + n && n > 1; x++)
			for (uint32_t k = s->first[s->threads[x]]; k < s->first[s->threads[x] + 1]; k++) {
				const struct wi_call *c = &g->calls.p[s->list[k]];

				if (wi_before(c) == NSX_NONE || c->start - g->calls.p[c->before].end < GAP)
					continue;
				for (size_t y = i; y < i + n && y < i + OTHERS; y++)
					if (y != x && s->first[s->threads[y]] < s->first[s->threads[y] + 1]
					    && !add_samples(s, s->list[k], s->threads[y]))
						return false;
			}
	}
	return true;
}

/* ---- what they say */

static int
by_site(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->by != y->by)
		return x->by < y->by ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->call > y->call) - (x->call < y->call);
}

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

static bool
judge(const struct sample *x, size_t n, struct verdict *v)
{
	NSX_VEC(int64_t) after = { 0 };
	double dd, du, uu, count, least, likelier;

	for (size_t i = 0; i < n; i++)
		if (x[i].from != NSX_NONE && !nsx_vec_push(&after, x[i].after)) {
			free(after.p);
			return false;
		}
	*v = (struct verdict){ .often = after.n >= FEW && (double)after.n >= often * (double)n };
	if (v->often) {
		qsort(after.p, after.n, sizeof *after.p, nsx_sort_by_int);
		sum_up(x, n, &dd, &du, &uu);
		/* Times from the other thread's call against gaps: which of them vary by chance alone. */
		count = (double)after.n;
		least = count * RESOLUTION * RESOLUTION;
		likelier = count / 2 * log((dd + uu + 2 * du + least) / (dd + least));
		v->accepted = likelier >= sure || (after.p[after.n / 2] < SOON && (likelier >= likely
		              || (likelier > -alike && dd / count < (double)STEADY * STEADY)));
		v->unsure = likelier > -likely;
		v->spread = dd / count;
	}
	free(after.p);
	return true;
}

static bool
set_from(struct wi_graph *g, uint32_t call, uint32_t from)
{
	struct wi_call *c = &g->calls.p[call];

	if (c->more == NSX_NONE) {
		if (from == NSX_NONE)
			return true;
		c->more = (uint32_t)g->call_mores.n;
		if (!nsx_large_push(&g->large, &g->call_mores, nsx_wi_no_call_more))
			return false;
	}
	g->call_mores.p[c->more].from = from;
	return true;
}

/* One thread and call with its sites, of each other thread. */
static bool
decide(struct search *s, size_t from, size_t to)
{
	size_t best = to, best_n = 0;
	struct verdict least = { 0 }, v;
	bool doubt = false;

	for (size_t i = from, k; i < to; i = k) {
		for (k = i; k < to && s->samples.p[k].by == s->samples.p[i].by;)
			k++;
		if (!judge(&s->samples.p[i], k - i, &v))
			return false;
		if (v.accepted && (best == to || v.spread < least.spread)) {
			best = i;
			best_n = k - i;
			least = v;
		}
		doubt |= v.often && v.unsure;
	}
	for (size_t i = best; i < best + best_n; i++)
		if (!set_from(s->g, s->samples.p[i].call, s->samples.p[i].from))
			return false;
	for (size_t i = from; i < to && best == to && doubt; i++)
		s->g->calls.p[s->samples.p[i].call].doubtful |= s->samples.p[i].from != NSX_NONE;
	return true;
}

int
nsx_wi_find_handovers(struct wi_graph *g)
{
	struct search s = { .g = g, .nthreads = g->threads.thread_of.n };
	bool good = list_calls(&s) && find_samples(&s);

	if (good && s.samples.n)
		qsort(s.samples.p, s.samples.n, sizeof *s.samples.p, by_site);
	for (size_t i = 0, k; i < s.samples.n && good; i = k) {
		for (k = i; k < s.samples.n && s.samples.p[k].of == s.samples.p[i].of
		     && s.samples.p[k].name == s.samples.p[i].name;)
			k++;
		good = decide(&s, i, k);
	}
	free(s.process);
	free(s.rank);
	free(s.first);
	free(s.list);
	free(s.threads);
	free(s.samples.p);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}
