/* host_time.c -- of the time of the processes that launch, from their first step to their last: the share in which one
 * may wait, nobody knows for what. Threads of a process that do so at the same time count once.
 *
 *   thread 1  |  call |...gap...| call |           in a step, of 10 units, 7 may be waits
 *   thread 2  | call |......gap......| call
 */
#include <stdlib.h>

#include "base/num.h"
#include "table/whatif/path.h"

/* From the first step to the last, of a device or of those of a process; from > to: there are none. edge: how far the
 * time is counted. */
struct window { int64_t from, to, edge; size_t steps, waits; };

static void
add_window(struct window *w, int64_t from, int64_t to, size_t steps)
{
	w->from = nsx_min(w->from, from);
	w->to = nsx_max(w->to, to);
	w->steps = steps > w->steps ? steps : w->steps;
}

static struct window *
no_windows(size_t n)
{
	struct window *w = malloc((n + 1) * sizeof *w);

	for (size_t i = 0; w && i < n; i++)
		w[i] = (struct window){ .from = INT64_MAX, .to = INT64_MIN };
	return w;
}

/* Of each process, by the operations that it launched; the caller frees them. NULL: out of memory. */
static struct window *
find_windows(const struct wi_graph *g)
{
	struct window *devices = no_windows(g->pairing.comm.cat.devices.n);
	struct window *w = no_windows(g->threads.process_of.n);

	for (size_t i = 0, n; devices && i < g->steps.n; i += n) {
		n = wi_run(g, i);
		add_window(&devices[g->steps.p[i].device], g->ops.p[g->steps.p[i].first].start,
		           g->ops.p[g->steps.p[i + n - 1].next].start, n);
	}
	for (size_t i = 0; devices && w && i < g->ops.n; i++) {
		const struct wi_op *o = &g->ops.p[i];

		wi_pause(g, i);
		wi_foresee_call(g, i);
		if (o->call != NSX_NONE) {
			const struct window *d = &devices[wi_device(g, o)];

			add_window(&w[wi_process_of(g, &g->calls.p[o->call])], d->from, d->to, d->steps);
		}
	}
	if (!devices) {
		free(w);
		w = NULL;
	}
	free(devices);
	return w;
}

/* The gaps that are long and may be waits, of processes that wait in calls less often than every other step: what else
 * would hold them back? The one that ends last comes first. */
static int64_t
sum_gaps(const struct wi_graph *g, struct window *w, const bool *unseen)
{
	int64_t sum = 0;

	for (size_t i = g->calls.n; i-- > 0;) {
		const struct wi_call *c = &g->calls.p[i];
		struct window *of;
		int64_t from, to;

		wi_pause(g, i);
		if (!unseen[i] || c->start - g->calls.p[c->before].end <= WI_LONG_GAP)
			continue;
		of = &w[wi_process_of(g, c)];
		from = nsx_max(g->calls.p[c->before].end, of->from);
		to = nsx_min(c->start, of->edge);
		if (2 * of->waits < of->steps && from < to) {
			sum += to - from;
			of->edge = from;
		}
	}
	return sum;
}

/* The calls that wait, nobody knows for what. The one that begins first comes first. */
static int64_t
sum_blind(const struct wi_graph *g, struct window *w)
{
	int64_t sum = 0;

	for (size_t i = 0; i < g->calls.n; i++) {
		const struct wi_call *c = &g->calls.p[i];
		struct window *of;
		int64_t from, to;

		wi_pause(g, i);
		if (!wi_api(g, c)->blocking || wi_call_more(g, c)->nwaited)
			continue;
		of = &w[wi_process_of(g, c)];
		from = nsx_max(c->start, of->edge);
		to = nsx_min(c->end, of->to);
		if (from < to) {
			sum += to - from;
			of->edge = to;
		}
	}
	return sum;
}

bool
nsx_wi_host_time(const struct wi_graph *g, const bool *unseen, double *idle, double *blind)
{
	struct window *w = find_windows(g);
	size_t n = g->threads.process_of.n;
	int64_t all = 0;

	*idle = *blind = 0;
	for (size_t i = 0; w && i < g->calls.n; i++) {
		const struct wi_call *c = &g->calls.p[i];
		struct window *of = &w[wi_process_of(g, c)];

		wi_pause(g, i);
		of->waits += c->start >= of->from && c->start < of->to
		             && (wi_call_more(g, c)->nwaited > 0 || c->queue != NSX_NONE);
	}
	for (size_t i = 0; w && i < n; i++) {
		all += w[i].from < w[i].to ? w[i].to - w[i].from : 0;
		w[i].edge = w[i].from;
	}
	if (all > 0) {
		*blind = (double)sum_blind(g, w) / (double)all;
		for (size_t i = 0; i < n; i++)
			w[i].edge = w[i].to;
		*idle = (double)sum_gaps(g, w, unseen) / (double)all;
	}
	free(w);
	return w != NULL;
}
