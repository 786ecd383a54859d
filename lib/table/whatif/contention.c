/* contention.c -- kernels take longer beside communication: by how much, from kernels of one name that ran with more
 * and with less of it, and what follows for a forecast, in which other kernels are beside it than were. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "table/whatif/contention.h"

enum { FEW = 6, ROUNDS = 4 };
static const double spread_min = 0.2, noise_max = 0.15, least = 0.03;

/* Transfers of a device that overlap are one: [start, end), and the time of those before it. */
struct transfer { int64_t start, end, before; uint32_t device; };

/* ---- shares ---- */

static int
by_device(const void *a, const void *b)
{
	const struct transfer *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/* How long the transfer of a collective's operation takes, which ends with it: all its edges that count have that
 * lag. */
static int64_t
transfer_time(const struct wi_graph *g, size_t op, const int64_t *lags)
{
	uint32_t e = wi_end(op);
	int64_t ns = 0;

	for (uint32_t k = g->first[e]; k < g->first[e + 1]; k++)
		ns = lags[k] > ns ? lags[k] : ns;
	return ns;
}

/* The transfers with these lags and times. */
static void
list_transfers(struct wi_contention *c, const int64_t *lags, const int64_t *times)
{
	const struct wi_graph *g = c->g;
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < g->ops.n; i++) {
		struct transfer t = { .end = times[wi_end(i)], .device = g->ops.p[i].device };

		if (!g->ops.p[i].comm)
			continue;
		t.start = t.end - transfer_time(g, i, lags);
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

static double
share(const struct wi_contention *c, size_t op, const int64_t *times)
{
	int64_t start = times[wi_start(op)], end = times[wi_end(op)], before;
	uint32_t device = c->g->ops.p[op].device;
	const struct transfer *x = c->transfers + c->first[device];
	size_t n = c->first[device + 1] - c->first[device], lo = 0, hi = n;

	if (end <= start)
		return 0;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (x[mid].start < start)
			lo = mid + 1;
		else
			hi = mid;
	}
	before = time_before(x, lo, start);
	/* Few begin during an operation. */
	while (lo < n && x[lo].start < end)
		lo++;
	return (double)(time_before(x, lo, end) - before) / (double)(end - start);
}

static bool
contends(const struct wi_op *o)
{
	return !o->comm && !o->copy;
}

/* ---- how much longer ---- */

/* The name without the number that XLA appends. */
static struct nsx_str
stem(struct nsx_str name)
{
	size_t n = name.len;

	while (n && name.ptr[n - 1] >= '0' && name.ptr[n - 1] <= '9')
		n--;
	if (n > 1 && n < name.len && name.ptr[n - 1] == '.')
		name.len = n - 1;
	return name;
}

/* Add what n operations of one name and device say: their slope by share over their duration without any. */
static void
regress(const struct wi_contention *c, const struct nsx_sort_key *keys, size_t n, double *sum, double *weight)
{
	double mean_d = 0, mean_f = 0, ff = 0, fd = 0, left = 0, a, b, w;

	for (size_t i = 0; i < n; i++) {
		const struct wi_op *o = &c->g->ops.p[keys[i].i];

		mean_d += (double)(o->end - o->start) / (double)n;
		mean_f += c->shares[keys[i].i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		const struct wi_op *o = &c->g->ops.p[keys[i].i];
		double f = c->shares[keys[i].i] - mean_f;

		ff += f * f;
		fd += f * ((double)(o->end - o->start) - mean_d);
	}
	if (n < FEW || ff < spread_min)
		return;
	b = fd / ff;
	a = mean_d - b * mean_f;
	for (size_t i = 0; i < n; i++) {
		const struct wi_op *o = &c->g->ops.p[keys[i].i];
		double r = (double)(o->end - o->start) - a - b * c->shares[keys[i].i];

		left += r * r;
	}
	if (a <= 0 || sqrt(left / (double)n) >= noise_max * mean_d)
		return;
	w = mean_d * ff;
	*sum += w * b / a;
	*weight += w;
}

static bool
measure(struct wi_contention *c)
{
	const struct wi_graph *g = c->g;
	struct nsx_sort_key *keys = malloc((g->ops.n + 1) * sizeof *keys);
	struct nsx_intern stems = { 0 };
	double sum = 0, weight = 0;
	size_t n = 0;
	bool good = keys != NULL;

	for (size_t i = 0; i < g->ops.n && good; i++) {
		const struct wi_op *o = &g->ops.p[i];
		uint32_t id;

		if (!contends(o))
			continue;
		c->shares[i] = share(c, i, g->times);
		id = nsx_intern(&stems, stem(nsx_intern_str(&g->names, o->name)));
		good = id != NSX_NONE;
		keys[n++] = (struct nsx_sort_key){ { id, o->device, 0 }, (uint32_t)i };
	}
	if (good)
		nsx_sort_keys(keys, n);
	for (size_t i = 0, k; i < n && good; i = k) {
		for (k = i; k < n && keys[k].k[0] == keys[i].k[0] && keys[k].k[1] == keys[i].k[1];)
			k++;
		regress(c, keys + i, k - i, &sum, &weight);
	}
	c->k = weight > 0 && sum / weight >= least ? sum / weight : 0;
	free(keys);
	nsx_intern_free(&stems);
	return good;
}

int
nsx_wi_contention_begin(struct wi_contention *c, const struct wi_graph *g)
{
	size_t ncomm = 0;

	*c = (struct wi_contention){ .g = g, .ndevices = g->pairing.comm.cat.devices.n };
	for (size_t i = 0; i < g->ops.n; i++)
		ncomm += g->ops.p[i].comm;
	c->transfers = malloc((ncomm + 1) * sizeof *c->transfers);
	c->first = malloc((c->ndevices + 1) * sizeof *c->first);
	c->shares = calloc(g->ops.n + 1, sizeof *c->shares);
	if (!c->transfers || !c->first || !c->shares)
		return nsx_err_nomem(g->err, NULL);
	list_transfers(c, g->lags.p, g->times);
	if (!measure(c))
		return nsx_err_nomem(g->err, NULL);
	if (c->k > 0)
		c->lags = malloc((g->edges.n + 1) * sizeof *c->lags);
	return c->k <= 0 || c->lags ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

void
nsx_wi_contention_sweep(struct wi_contention *c, const int64_t *lags, int64_t *times)
{
	const struct wi_graph *g = c->g;

	for (int round = 0; round < ROUNDS; round++) {
		list_transfers(c, lags, times);
		memcpy(c->lags, lags, g->edges.n * sizeof *lags);
		for (size_t i = 0; i < g->ops.n; i++) {
			uint32_t k = wi_work(g, wi_end(i));

			if (k != NSX_NONE && contends(&g->ops.p[i]))
				c->lags[k] = llround((double)lags[k] * (1 + c->k * share(c, i, times))
				                     / (1 + c->k * c->shares[i]));
		}
		nsx_wi_sweep(g, c->lags, times);
	}
}

void
nsx_wi_contention_free(struct wi_contention *c)
{
	free(c->transfers);
	free(c->first);
	free(c->shares);
	free(c->lags);
}
