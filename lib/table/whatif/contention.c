/* contention.c -- kernels take longer beside communication: by how much, from kernels of one name that ran with more
 * and with less of it, and what follows for a forecast, in which other kernels are beside it than were. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "table/whatif/contention.h"

enum { FEW = 6, ROUNDS = 4, FEW_ROUNDS = 2 };
static const double spread_min = 0.2, noise_max = 0.15, least = 0.03;

/* Transfers of a device that overlap are one: [start, end), and the time of those before it. */
struct transfer { int64_t start, end, before; uint32_t device, op; };

/* ---- shares ---- */

NSX_ORDER(by_device, struct transfer, NSX_CMP(a->device, b->device), NSX_CMP(a->start, b->start),
          NSX_CMP(a->end, b->end))

/* Of the p-th plan. */
static struct transfer *transfers_of(const struct wi_contention *c, size_t p) { return c->transfers + p * c->ncomm; }
static size_t *first_of(const struct wi_contention *c, size_t p) { return c->first + p * (c->ndevices + 1); }

/* How long the transfer of a collective's operation takes after each plan, which ends with it: all its edges that count
 * have that lag. */
static void
transfer_times(const struct wi_together *w, size_t op, int64_t *ns)
{
	const struct wi_graph *g = w->g;
	uint32_t e = wi_end(op);

	for (size_t p = 0; p < w->n; p++)
		ns[p] = 0;
	for (uint32_t k = g->first[e]; k != NSX_NONE; k = wi_next(g, k)) {
		int64_t made[WI_TOGETHER], lag = wi_lag(g, k);
		const int64_t *lags = wi_lags(w, e, k, made);

		for (size_t p = 0; p < w->n; p++) {
			int64_t takes = lags ? lags[p] : lag;

			ns[p] = takes > ns[p] ? takes : ns[p];
		}
	}
}

/* Put them in order, if they are nearly. */
static void
sort(struct transfer *x, size_t n)
{
	enum { MOVES = 8 };
	size_t left = MOVES * n;

	for (size_t i = 1; i < n; i++) {
		struct transfer t = x[i];
		size_t k = i;

		for (; k && left && by_device(&t, &x[k - 1]) < 0; k--, left--)
			x[k] = x[k - 1];
		x[k] = t;
		if (!left) {
			qsort(x, n, sizeof *x, by_device);
			return;
		}
	}
}

/* Make those that overlap one. */
static void
unite(struct wi_contention *c, size_t p)
{
	struct transfer *x = transfers_of(c, p);
	size_t *first = first_of(c, p), kept = 0;

	for (size_t i = 0; i < c->ncomm; i++) {
		struct transfer *last = kept ? &x[kept - 1] : NULL, t = x[i];
		bool same = last && last->device == t.device;

		if (t.start >= t.end)
			continue;
		if (same && t.start <= last->end) {
			last->end = t.end > last->end ? t.end : last->end;
		} else {
			t.before = same ? last->before + last->end - last->start : 0;
			x[kept++] = t;
		}
	}
	for (size_t d = 0, i = 0; d < c->ndevices; d++) {
		first[d] = i;
		while (i < kept && x[i].device == d)
			i++;
	}
	first[c->ndevices] = kept;
}

/* The transfers of the p-th of n plans, with the times of all. */
static void
list_transfers(struct wi_contention *c, size_t p, size_t n, const int64_t *times)
{
	const struct wi_graph *g = c->g;
	struct transfer *x = transfers_of(c, p);

	for (size_t i = 0; i < c->ncomm; i++) {
		int64_t end = times[wi_end(c->comm[i]) * n + p];

		x[i] = (struct transfer){ end - c->took[i * n + p], end, 0, wi_device(g, &g->ops.p[c->comm[i]]),
		                          c->comm[i] };
	}
	sort(x, c->ncomm);
	unite(c, p);
}

/* Set c->first to how many operations of the devices before each communicate. */
static void
count(struct wi_contention *c)
{
	const struct wi_graph *g = c->g;

	memset(c->first, 0, (c->ndevices + 1) * sizeof *c->first);
	for (size_t i = 0; i < g->ops.n; i++) {
		wi_pause(g, i);
		c->first[wi_device(g, &g->ops.p[i]) + 1] += wi_task(g, &g->ops.p[i])->comm;
	}
	for (size_t d = 0; d < c->ndevices; d++)
		c->first[d + 1] += c->first[d];
}

/* The operations that communicate, and their transfers as they were; after count. */
static void
list_measured(struct wi_contention *c)
{
	const struct wi_graph *g = c->g;
	const struct wi_together measured = { .g = g, .n = 1 };

	for (size_t i = 0; i < g->ops.n; i++) {
		const struct wi_op *o = &g->ops.p[i];
		uint32_t device = wi_device(g, o);
		int64_t takes;

		wi_pause(g, i);
		if (!wi_task(g, o)->comm)
			continue;
		transfer_times(&measured, i, &takes);
		c->transfers[c->first[device]++] =
		    (struct transfer){ o->end - takes, o->end, 0, device, (uint32_t)i };
	}
	sort(c->transfers, c->ncomm);
	for (size_t i = 0; i < c->ncomm; i++)
		c->comm[i] = c->transfers[i].op;
	unite(c, 0);
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

/* The share of a time that is beside n transfers of its device, of which the first `lo` begin before it. */
static double
share_of(const struct transfer *x, size_t n, size_t lo, int64_t start, int64_t end)
{
	int64_t before;

	if ((!lo || x[lo - 1].end <= start) && (lo == n || x[lo].start >= end))
		return 0;
	before = time_before(x, lo, start);
	/* Few begin during an operation. */
	while (lo < n && x[lo].start < end)
		lo++;
	return end <= start ? 0 : (double)(time_before(x, lo, end) - before) / (double)(end - start);
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
		size_t n = c->first[device + 1] - c->first[device];
		double share;

		wi_pause(g, i);
		while (next[device] < n && x[next[device]].start < o->start)
			next[device]++;
		share = contends(g, o) ? share_of(x, n, next[device], o->start, o->end) : 0;
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
	struct nsx_large *large = wi_large(g);
	size_t n = nsx_wi_at_once(g), ndevices = g->pairing.comm.cat.devices.n;
	bool good;

	*c = (struct wi_contention){ .g = g, .ndevices = ndevices,
	                             .first = malloc(n * (ndevices + 1) * sizeof *c->first) };
	if (!c->first)
		return nsx_err_nomem(g->err, NULL);
	count(c);
	c->ncomm = c->first[ndevices];
	c->transfers = nsx_large_array(large, c->ncomm, sizeof *c->transfers);
	c->comm = nsx_large_array(large, c->ncomm, sizeof *c->comm);
	c->shares.measured = nsx_large_array(large, g->ops.n, sizeof *c->shares.measured);
	good = c->transfers && c->comm && c->shares.measured;
	if (good)
		list_measured(c);
	if (!good || !measure(c))
		return nsx_err_nomem(g->err, NULL);
	nsx_large_free(large, c->transfers);
	c->transfers = NULL;
	if (c->shares.k <= 0) {
		nsx_large_free(large, c->shares.measured);
		c->shares.measured = NULL;
		return NSX_OK;
	}
	c->transfers = nsx_large_array(large, n * c->ncomm, sizeof *c->transfers);
	c->shares.now = nsx_large_array(large, n * g->ops.n, sizeof *c->shares.now);
	c->took = nsx_large_array(large, n * c->ncomm, sizeof *c->took);
	c->last = malloc(n * (c->ndevices + 1) * sizeof *c->last);
	return c->transfers && c->shares.now && c->took && c->last ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

/* That of an operation of a device from start to end after the p-th plan. Operations come by the start that was
 * measured: the transfer before one is near that before the one before, and many are between two of them, or in one. */
static double
share_after(const struct wi_contention *c, size_t p, uint32_t device, int64_t start, int64_t end,
            struct wi_beside *last)
{
	const size_t *first = first_of(c, p) + device;
	const struct transfer *x = transfers_of(c, p) + first[0];
	size_t n = first[1] - first[0], i = last->next;

	while (i && x[i - 1].start >= start)
		i--;
	while (i < n && x[i].start < start)
		i++;
	last->next = i;
	last->share = i && start < x[i - 1].end;
	last->from = !i ? INT64_MIN : last->share > 0 ? x[i - 1].start : x[i - 1].end;
	last->to = last->share > 0 ? x[i - 1].end : i < n ? x[i].start : INT64_MAX;
	return share_of(x, n, i, start, end);
}

/* Find the shares with these times of the plans that are not done. done: they are what these times were made with. */
static void
share_again(struct wi_contention *c, const struct wi_together *w, const int64_t *times, bool first, bool *done)
{
	const struct wi_graph *g = c->g;
	size_t plans[WI_TOGETHER], n = 0;
	bool other[WI_TOGETHER] = { false };

	for (size_t p = 0; p < w->n; p++)
		if (!done[p]) {
			list_transfers(c, p, w->n, times);
			plans[n++] = p;
		}
	/* Where there is nothing, so that it is looked for. */
	for (size_t i = 0; i < w->n * c->ndevices; i++)
		c->last[i] = (struct wi_beside){ .from = INT64_MAX };
	for (size_t i = 0; i < g->ops.n; i++, wi_pause(g, i)) {
		const struct wi_op *o = &g->ops.p[i];
		const int64_t *start = times + wi_start(i) * w->n, *end = times + wi_end(i) * w->n;
		double *now = &c->shares.now[i * w->n], measured = c->shares.measured[i];
		uint32_t device = wi_device(g, o);

		for (size_t p = 0; p < w->n && first; p++)
			now[p] = measured;
		if (!contends(g, o))
			continue;
		for (size_t k = 0; k < n; k++) {
			size_t p = plans[k];
			double was = first ? measured : now[p];
			struct wi_beside *last = &c->last[device * w->n + p];

			now[p] = start[p] < last->from || end[p] > last->to
			         ? share_after(c, p, device, start[p], end[p], last)
			         : start[p] < end[p] ? last->share : 0;
			other[p] |= now[p] < was || now[p] > was;
		}
	}
	for (size_t k = 0; k < n; k++)
		done[plans[k]] = !other[plans[k]];
}

void
nsx_wi_contention_sweep(struct wi_contention *c, const struct wi_together *w, bool roughly, int64_t *times)
{
	bool done[WI_TOGETHER];

	for (size_t p = 0; p < w->n; p++)
		done[p] = p >= w->nplans;
	for (size_t i = 0; i < c->ncomm; i++)
		transfer_times(w, c->comm[i], &c->took[i * w->n]);
	for (int round = 0; round < (roughly ? FEW_ROUNDS : ROUNDS); round++) {
		share_again(c, w, times, !round, done);
		/* Another sweep would find these times again. */
		if (!memchr(done, false, w->n))
			break;
		nsx_wi_sweep(w, &c->shares, times);
	}
}

void
nsx_wi_contention_free(struct wi_contention *c)
{
	struct nsx_large *large = c->g ? wi_large(c->g) : NULL;

	free(c->first);
	free(c->last);
	for (size_t i = 0; large && i < 5; i++)
		nsx_large_free(large, ((void *[]){ c->transfers, c->comm, c->took, c->shares.measured,
		                                   c->shares.now })[i]);
}
