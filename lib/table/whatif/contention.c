/* contention.c -- kernels take longer beside communication: by how much, from kernels of one name that ran with more
 * and with less of it, and what follows for a forecast, in which other kernels are beside it than were. */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "table/whatif/contention.h"

enum { FEW = 6, ROUNDS = 4, FEW_ROUNDS = 2 };
static const double spread_min = 0.2, noise_max = 0.15, least = 0.03;

/* Transfers of a device that overlap are one: [start, end), and the time of those before it. */
struct transfer { int64_t start, end, before; uint32_t device; };

/* ---- shares ---- */

NSX_ORDER(by_device, struct transfer, NSX_CMP(a->device, b->device), NSX_CMP(a->start, b->start),
          NSX_CMP(a->end, b->end))

/* When an event is in one of n plans; times: from the first of that plan on, NULL: when it was. */
static int64_t
at(const struct wi_graph *g, const int64_t *times, size_t n, uint32_t event)
{
	return times ? times[event * n] : wi_time(g, event);
}

/* How long the transfer of a collective's operation takes, which ends with it: all its edges that count have that
 * lag. */
static int64_t
transfer_time(const struct wi_graph *g, const struct wi_plan *p, size_t op)
{
	uint32_t e = wi_end(op);
	int64_t ns = 0;

	for (uint32_t k = g->first[e]; k != NSX_NONE; k = wi_next(g, k)) {
		int64_t lag = wi_plan_lag(p, e, k);

		ns = lag > ns ? lag : ns;
	}
	return ns;
}

/* The transfers after a change, with these times, as above. */
static void
list_transfers(struct wi_contention *c, const struct wi_plan *p, const int64_t *times, size_t nplans)
{
	const struct wi_graph *g = c->g;
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < g->ops.n; i++) {
		wi_pause(g, i);
		struct transfer t = { .device = wi_device(g, &g->ops.p[i]) };

		if (!wi_task(g, &g->ops.p[i])->comm)
			continue;
		t.end = at(g, times, nplans, wi_end(i));
		t.start = t.end - transfer_time(g, p, i);
		if (t.start < t.end)
			c->transfers[n++] = t;
	}
	qsort(c->transfers, n, sizeof *c->transfers, by_device);
	for (size_t i = 0; i < n; i++) {
		struct transfer *last = kept ? &c->transfers[kept - 1] : NULL, *t = &c->transfers[i];
		bool same = last && last->device == t->device;

		if (same && t->start <= last->end) {
			last->end = t->end > last->end ? t->end : last->end;
		} else {
			t->before = same ? last->before + last->end - last->start : 0;
			c->transfers[kept++] = *t;
		}
	}
	c->ntransfers = kept;
	for (size_t d = 0, i = 0; d < c->ndevices; d++) {
		c->first[d] = i;
		while (i < kept && c->transfers[i].device == d)
			i++;
	}
	c->first[c->ndevices] = kept;
}

/* The time of transfers before t, of which the first n of a device begin before it. */
static int64_t
time_before(const struct transfer *x, size_t n, int64_t t)
{
	if (!n)
		return 0;
	x += n - 1;
	return x->before + (t < x->end ? t : x->end) - x->start;
}

/* The share of a time of a device that is beside transfers, of which the first `lo` begin before it. */
static double
share_of(const struct wi_contention *c, uint32_t device, size_t lo, int64_t start, int64_t end)
{
	const struct transfer *x = c->transfers + c->first[device];
	size_t n = c->first[device + 1] - c->first[device];
	int64_t before = time_before(x, lo, start);

	/* Few begin during an operation. */
	while (lo < n && x[lo].start < end)
		lo++;
	return end <= start ? 0 : (double)(time_before(x, lo, end) - before) / (double)(end - start);
}

/* That of an operation, with these times. */
static double
share(const struct wi_contention *c, size_t op, const int64_t *times, size_t nplans)
{
	int64_t start = times[wi_start(op) * nplans];
	uint32_t device = wi_device(c->g, &c->g->ops.p[op]);
	const struct transfer *x = c->transfers + c->first[device];
	size_t lo;

	NSX_BISECT(lo, 0, c->first[device + 1] - c->first[device], x[lo].start >= start);
	return share_of(c, device, lo, start, times[wi_end(op) * nplans]);
}

static bool
contends(const struct wi_graph *g, const struct wi_op *o)
{
	return !wi_task(g, o)->comm && !wi_task(g, o)->copy;
}

/* ---- how much longer ---- */

/* The name without the number that XLA appends. */
static struct nsx_str
stem(struct nsx_str name)
{
	size_t n = name.len;

	while (n && nsx_is_digit(name.ptr[n - 1]))
		n--;
	if (n > 1 && n < name.len && name.ptr[n - 1] == '.')
		name.len = n - 1;
	return name;
}

/* Operations of one name and device: their slope by share over their duration without any is b / a. */
struct group { uint32_t stem, device; double n, mean_d, mean_f, ff, fd, left, a, b; };
struct groups {
	struct wi_contention *c;
	struct nsx_intern stems;
	struct nsx_map at;
	uint32_t *of;            /* by operation; NSX_NONE: it does not contend */
	NSX_VEC(struct group) list;
};

static bool
find_groups(struct groups *s)
{
	const struct wi_graph *g = s->c->g;
	uint32_t *stems = malloc((g->names.n + 1) * sizeof *stems);
	bool good = stems && s->of;

	for (size_t i = 0; i < g->names.n && good; i++)
		stems[i] = NSX_NONE;
	for (size_t i = 0; i < g->ops.n && good; i++) {
		const struct wi_op *o = &g->ops.p[i];
		uint32_t *id = &stems[wi_task(g, o)->name], device = wi_device(g, o);

		wi_pause(g, i);
		s->of[i] = NSX_NONE;
		if (!contends(g, o))
			continue;
		if (*id == NSX_NONE)
			*id = nsx_intern(&s->stems, stem(nsx_intern_str(&g->names, wi_task(g, o)->name)));
		s->of[i] = *id == NSX_NONE ? (uint32_t)NSX_NONE
		           : nsx_map_number(&s->at, (struct nsx_key){ *id, device });
		good = s->of[i] != NSX_NONE && (s->of[i] < s->list.n
		       || nsx_vec_push(&s->list, ((struct group){ .stem = *id, .device = device })));
		if (good)
			s->list.p[s->of[i]].n++;
	}
	free(stems);
	return good;
}

/* Regress durations on shares, in three passes over the operations: means, slopes, and what is left. */
static void
regress(struct groups *s)
{
	const struct wi_graph *g = s->c->g;

	for (int pass = 0; pass < 3; pass++)
		for (size_t i = 0; i < g->ops.n; i++) {
			struct group *x = s->of[i] == NSX_NONE ? NULL : &s->list.p[s->of[i]];
			double d = (double)(g->ops.p[i].end - g->ops.p[i].start), share = s->c->shares.measured[i], r;

			wi_pause(g, i);
			if (!x)
				continue;
			if (pass == 0) {
				x->mean_d += d / x->n;
				x->mean_f += share / x->n;
			} else if (pass == 1) {
				x->ff += (share - x->mean_f) * (share - x->mean_f);
				x->fd += (share - x->mean_f) * (d - x->mean_d);
			} else {
				x->b = x->fd / x->ff;
				x->a = x->mean_d - x->b * x->mean_f;
				r = d - x->a - x->b * share;
				x->left += r * r;
			}
		}
}

NSX_ORDER(by_stem, struct group, NSX_CMP(a->stem, b->stem), NSX_CMP(a->device, b->device))

/* The shares that operations had, which come by start: on each device the transfers are gone through once. *some:
 * whether any is beside one. */
static bool
share_all(struct wi_contention *c, bool *some)
{
	const struct wi_graph *g = c->g;
	size_t *next = calloc(c->ndevices + 1, sizeof *next);

	for (size_t i = 0; i < g->ops.n && next; i++) {
		const struct wi_op *o = &g->ops.p[i];
		uint32_t device = wi_device(g, o);
		const struct transfer *x = c->transfers + c->first[device];
		double share;

		wi_pause(g, i);
		while (next[device] < c->first[device + 1] - c->first[device] && x[next[device]].start < o->start)
			next[device]++;
		share = contends(g, o) ? share_of(c, device, next[device], o->start, o->end) : 0;
		/* They are 0: the pages of most need not be there. */
		if (share > 0) {
			c->shares.measured[i] = share;
			*some = true;
		}
	}
	free(next);
	return next != NULL;
}

static bool
measure(struct wi_contention *c)
{
	const struct wi_graph *g = c->g;
	struct groups s = { .c = c };
	double sum = 0, weight = 0;
	bool some = false, good = share_all(c, &some);

	if (!good || !some)
		return good;
	s.of = nsx_large_array(wi_large(g), g->ops.n, sizeof *s.of);
	good = find_groups(&s);
	if (good)
		regress(&s);
	if (good && s.list.n)
		qsort(s.list.p, s.list.n, sizeof *s.list.p, by_stem);
	for (size_t i = 0; i < s.list.n && good; i++) {
		const struct group *x = &s.list.p[i];

		if (x->n < FEW || x->ff < spread_min || x->a <= 0 || sqrt(x->left / x->n) >= noise_max * x->mean_d)
			continue;
		sum += x->mean_d * x->ff * x->b / x->a;
		weight += x->mean_d * x->ff;
	}
	c->shares.k = weight > 0 && sum / weight >= least ? sum / weight : 0;
	nsx_intern_free(&s.stems);
	nsx_map_free(&s.at);
	nsx_large_free(wi_large(g), s.of);
	free(s.list.p);
	return good;
}

int
nsx_wi_contention_begin(struct wi_contention *c, const struct wi_graph *g)
{
	struct wi_plan measured = { .g = g };
	size_t ncomm = 0;

	*c = (struct wi_contention){ .g = g, .ndevices = g->pairing.comm.cat.devices.n };
	for (size_t i = 0; i < g->ops.n; i++, wi_pause(g, i))
		ncomm += wi_task(g, &g->ops.p[i])->comm;
	c->transfers = nsx_large_array(wi_large(g), ncomm, sizeof *c->transfers);
	c->first = malloc((c->ndevices + 1) * sizeof *c->first);
	c->shares.measured = nsx_large_array(wi_large(g), g->ops.n, sizeof *c->shares.measured);
	if (!c->transfers || !c->first || !c->shares.measured)
		return nsx_err_nomem(g->err, NULL);
	list_transfers(c, &measured, NULL, 1);
	if (!measure(c))
		return nsx_err_nomem(g->err, NULL);
	if (c->shares.k <= 0) {
		nsx_large_free(wi_large(g), c->shares.measured);
		c->shares.measured = NULL;
		return NSX_OK;
	}
	c->shares.now = nsx_large_array(wi_large(g), nsx_wi_at_once(g) * g->ops.n, sizeof *c->shares.now);
	return c->shares.now ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

/* Find the shares with the times of the p-th plan. Whether they are as they were found before. */
static bool
share_after(struct wi_contention *c, const struct wi_together *w, size_t p, const int64_t *times)
{
	const struct wi_graph *g = c->g;
	bool same = true;

	list_transfers(c, w->plans[p], times + p, w->n);
	for (size_t i = 0; i < g->ops.n; i++, wi_pause(g, i)) {
		double *now = &c->shares.now[i * w->n + p], is = 0;

		if (contends(g, &g->ops.p[i]))
			is = share(c, i, times + p, w->n);
		same = same && !(is < *now) && !(is > *now);
		*now = is;
	}
	return same;
}

void
nsx_wi_contention_sweep(struct wi_contention *c, const struct wi_together *w, bool roughly, int64_t *times)
{
	for (int round = 0; round < (roughly ? FEW_ROUNDS : ROUNDS); round++) {
		bool same = round > 0;

		for (size_t p = 0; p < w->n; p++)
			same = share_after(c, w, p, times) && same;
		/* Another sweep would find these times again. */
		if (same)
			break;
		nsx_wi_sweep(w, &c->shares, times);
	}
}

void
nsx_wi_contention_free(struct wi_contention *c)
{
	struct nsx_large *large = c->g ? wi_large(c->g) : NULL;

	free(c->first);
	for (size_t i = 0; large && i < 3; i++)
		nsx_large_free(large, ((void *[]){ c->transfers, c->shares.measured, c->shares.now })[i]);
}
