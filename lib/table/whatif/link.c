/* link.c -- resolves what operations and calls refer to, and finds what was before them: on the thread, in the stream.
 * Leaves out what was launched before the first step. */
#include <stdlib.h>

#include "base/sort.h"
#include "job/steps/periods.h"
#include "table/whatif/graph.h"

/* ---- references */

/* Leave out calls: to[i] is the new index of call i, or NSX_NONE; n are left. */
static void
keep_calls(struct wi_graph *g, const uint32_t *to, size_t n)
{
	for (size_t i = 0; i < g->calls.n; i++) {
		wi_pause(g, i);
		if (to[i] != NSX_NONE) {
			g->calls.p[to[i]] = g->calls.p[i];
			if (g->numbered)
				g->call_numbers.p[to[i]] = g->call_numbers.p[i];
		}
	}
	for (size_t i = 0; i < g->ops.n; i++) {
		wi_pause(g, i);
		if (g->ops.p[i].call != NSX_NONE)
			g->ops.p[i].call = to[g->ops.p[i].call];
	}
	g->calls.n = n;
}

/* Calls of threads that launch, wait or call events; others do not tell when the host worked. */
static bool
keep_threads(struct wi_graph *g)
{
	uint32_t *to;
	size_t kept = 0;
	bool all = true;

	for (size_t i = 0; i < g->of_threads.n; i++)
		all &= g->of_threads.p[i].works;
	if (all)
		return true;
	to = nsx_large_array(&g->large, g->calls.n, sizeof *to);
	for (size_t i = 0; to && i < g->calls.n; i++, wi_pause(g, i))
		to[i] = g->of_threads.p[g->calls.p[i].thread].works ? (uint32_t)kept++ : (uint32_t)NSX_NONE;
	if (to && kept < g->calls.n)
		keep_calls(g, to, kept);
	nsx_large_free(&g->large, to);
	return to != NULL;
}

/* The operations with these numbers, in refs; those that are not in the stream are left out. */
static bool
resolve(struct wi_graph *g, uint32_t profile, uint32_t *at, uint32_t *n)
{
	uint32_t from = *at, to = from + *n;

	*at = (uint32_t)g->refs.n;
	for (uint32_t i = from; i < to; i++) {
		uint32_t op = nsx_wi_number_get(&g->op_of, profile, g->numbers.p[i]);

		if (op != NSX_NONE && !nsx_large_push(&g->large, &g->refs, op))
			return false;
	}
	*n = (uint32_t)g->refs.n - *at;
	return true;
}

static bool
resolve_after(struct wi_graph *g, const struct wi_op *o)
{
	return o->more == NSX_NONE || resolve(g, g->lanes.p[o->lane].profile, &g->mores.p[o->more].after,
	                                      &g->mores.p[o->more].nafter);
}

static bool
resolve_waited(struct wi_graph *g, const struct wi_call *c)
{
	return c->more == NSX_NONE || resolve(g, g->of_threads.p[c->thread].profile, &g->call_mores.p[c->more].waited,
	                                      &g->call_mores.p[c->more].nwaited);
}

/* Which calls operations are of. */
static bool
resolve_calls(struct wi_graph *g)
{
	if (!nsx_wi_find_calls(g))
		return false;
	for (size_t i = 0; i < g->early_ops.n; i++) {
		struct wi_op *o = &g->ops.p[g->early_ops.p[i].op];

		o->call = nsx_wi_number_get(&g->call_of, g->lanes.p[o->lane].profile, g->early_ops.p[i].number);
	}
	nsx_wi_numbers_free(&g->call_of, &g->large);
	free(g->early_ops.p);
	g->early_ops.p = NULL;
	g->early_ops.n = g->early_ops.cap = 0;
	return keep_threads(g);
}

/* ---- operations of devices */

enum { SEARCHES = 8 };   /* a search of operations touches as many pages as a walk over 2^8 of them */

/* The first operation of the device that starts then. */
static uint32_t
op_at(const struct wi_graph *g, uint32_t device, int64_t start)
{
	size_t n = g->ops.n, at = 0;

	if (n)
		at = nsx_sort_first(g->ops.p, n, sizeof *g->ops.p, offsetof(struct wi_op, start), start);
	while (at < g->ops.n && g->ops.p[at].start == start && wi_device(g, &g->ops.p[at]) != device)
		at++;
	return at < g->ops.n && g->ops.p[at].start == start ? (uint32_t)at : (uint32_t)NSX_NONE;
}

/* When an operation was issued, as far as is known. */
static int64_t
issued(const struct wi_graph *g, const struct wi_op *o)
{
	return o->call == NSX_NONE ? o->start : g->calls.p[o->call].start;
}

/* When the first step of each device, and of each process, was launched; INT64_MIN: it has none. */
static void
find_begins(const struct wi_graph *g, const struct nsx_step_set *s, int64_t *devices, int64_t *processes)
{
	for (size_t i = 0; i < s->list.n; i++) {
		const struct nsx_step_of *x = &s->list.p[i];
		uint32_t device = nsx_cat_find_device(&g->pairing.comm.cat, s->cat.devices.p[x->device].number), at;
		const struct wi_op *o;
		int64_t t;

		wi_pause(g, i << SEARCHES);
		at = device == NSX_NONE ? NSX_NONE : op_at(g, device, x->first);
		if (at == NSX_NONE)
			continue;
		o = &g->ops.p[at];
		t = issued(g, o);
		if (devices[device] == INT64_MIN || t < devices[device])
			devices[device] = t;
		if (o->call != NSX_NONE) {
			int64_t *p = &processes[wi_process_of(g, &g->calls.p[o->call])];

			*p = *p == INT64_MIN || t < *p ? t : *p;
		}
	}
}

/* Leave out what was called before the first step of its process: it would hold events where they were measured. */
static bool
cut_calls(struct wi_graph *g, const int64_t *processes)
{
	uint32_t *to;
	size_t kept = 0, i;
	int64_t last = INT64_MIN;

	for (i = 0; i < g->threads.process_of.n; i++)
		last = processes[i] > last ? processes[i] : last;
	for (i = 0; i < g->calls.n && g->calls.p[i].start < last;) {
		const struct wi_call *c = &g->calls.p[i];

		if (c->start < processes[wi_process_of(g, c)])
			break;
		wi_pause(g, ++i);
	}
	/* Most often there are none. */
	if (i == g->calls.n || g->calls.p[i].start >= last)
		return true;
	to = nsx_large_array(&g->large, g->calls.n, sizeof *to);
	for (i = 0; to && i < g->calls.n; i++) {
		bool before = g->calls.p[i].start < processes[wi_process_of(g, &g->calls.p[i])];

		wi_pause(g, i);
		to[i] = before ? (uint32_t)NSX_NONE : (uint32_t)kept++;
	}
	if (to)
		keep_calls(g, to, kept);
	nsx_large_free(&g->large, to);
	return to != NULL;
}

/* What operations await, the first operation of each call, and which ones were launched before the first step. */
static bool
link_ops_to_calls(struct wi_graph *g, const int64_t *devices)
{
	for (size_t i = 0; i < g->ops.n; i++) {
		struct wi_op *o = &g->ops.p[i];

		wi_pause(g, i);
		wi_foresee_call(g, i);
		if (!resolve_after(g, o))
			return false;
		if (o->call != NSX_NONE && g->calls.p[o->call].op == NSX_NONE)
			g->calls.p[o->call].op = (uint32_t)i;
		/* What is not written need not be written to a file again. */
		if (issued(g, o) < devices[wi_device(g, o)])
			o->cut = true;
	}
	return true;
}

/* What calls waited for, and what came before on the thread; of its first call, in the process. */
static bool
link_calls(struct wi_graph *g)
{
	size_t nthreads = g->threads.thread_of.n, nprocesses = g->threads.process_of.n;
	uint32_t *last = malloc((nthreads + 1) * sizeof *last), *of_process = malloc((nprocesses + 1) * sizeof *last);
	bool good = last && of_process;

	for (size_t i = 0; i < nthreads && good; i++)
		last[i] = NSX_NONE;
	for (size_t i = 0; i < nprocesses && good; i++)
		of_process[i] = NSX_NONE;
	for (size_t i = 0; i < g->calls.n && good; i++) {
		struct wi_call *c = &g->calls.p[i];

		wi_pause(g, i);
		good = resolve_waited(g, c);
		c->beside = last[c->thread] == NSX_NONE && of_process[wi_process_of(g, c)] != NSX_NONE;
		c->before = c->beside ? of_process[wi_process_of(g, c)] : last[c->thread];
		last[c->thread] = of_process[wi_process_of(g, c)] = (uint32_t)i;
	}
	free(last);
	free(of_process);
	return good;
}

/* What belongs to what; what came before the first step of a device, and of a process, is left out. */
static bool
resolve_all(struct wi_graph *g, const struct nsx_step_set *s)
{
	size_t ndevices = g->pairing.comm.cat.devices.n, nprocesses = g->threads.process_of.n;
	int64_t *devices = malloc((ndevices + 1) * sizeof *devices);
	int64_t *processes = malloc((nprocesses + 1) * sizeof *processes);
	bool good = devices && processes && resolve_calls(g);

	for (size_t i = 0; i < ndevices && good; i++)
		devices[i] = INT64_MIN;
	for (size_t i = 0; i < nprocesses && good; i++)
		processes[i] = INT64_MIN;
	if (good)
		find_begins(g, s, devices, processes);
	good = good && link_ops_to_calls(g, devices) && cut_calls(g, processes) && link_calls(g);
	free(devices);
	free(processes);
	nsx_large_free(&g->large, g->numbers.p);
	g->numbers.p = NULL;
	g->numbers.n = g->numbers.cap = 0;
	nsx_wi_numbers_free(&g->op_of, &g->large);
	nsx_map_free(&g->occurrences);
	g->occurrences = (struct nsx_map){ 0 };
	return good;
}

/* ---- streams */

/* What a stream ran: operations, and launches of graphs, whose nodes are one, as wi_op.before has them. run: those that
 * start at one time, which are put by their ends when time goes on. */
struct lane { uint32_t last; NSX_VEC(uint32_t) run; };
struct linking { struct wi_graph *g; struct lane *lanes; };

static int64_t
start_of(const struct wi_graph *g, uint32_t at)
{
	return at < g->ops.n ? g->ops.p[at].start : g->items.p[at - g->ops.n].start;
}

static void
set_before(struct wi_graph *g, uint32_t at, uint32_t before)
{
	const struct wi_item *x = at < g->ops.n ? NULL : &g->items.p[at - g->ops.n];

	for (uint32_t k = 0; k < (x ? x->n : 1); k++) {
		struct wi_op *o = &g->ops.p[x ? g->nodes.p[x->first + k] : at];

		if (!wi_more(g, o)->npreds)
			o->before = before;
	}
}

static int
by_end(const void *a, const void *b, const void *graph)
{
	const struct wi_graph *g = graph;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int64_t ex = x < g->ops.n ? g->ops.p[x].end : g->items.p[x - g->ops.n].end;
	int64_t ey = y < g->ops.n ? g->ops.p[y].end : g->items.p[y - g->ops.n].end;

	return ex != ey ? ex < ey ? -1 : 1 : (x > y) - (x < y);
}

static void
end_run(struct linking *l, struct lane *lane)
{
	if (lane->run.n > 1)
		nsx_sort_with(lane->run.p, lane->run.n, sizeof *lane->run.p, by_end, l->g);
	for (size_t i = 0; i < lane->run.n; i++) {
		set_before(l->g, lane->run.p[i], lane->last);
		lane->last = lane->run.p[i];
	}
	lane->run.n = 0;
}

static bool
link_next(struct linking *l, uint32_t stream, uint32_t at)
{
	struct lane *lane = &l->lanes[stream];

	if (lane->run.n && start_of(l->g, lane->run.p[0]) != start_of(l->g, at))
		end_run(l, lane);
	return nsx_vec_push(&lane->run, at);
}

/* Launches of graphs by start; NULL when out of memory. */
static struct nsx_sort_key *
sort_items(const struct wi_graph *g)
{
	struct nsx_sort_key *keys = malloc((g->items.n + 1) * sizeof *keys);

	for (size_t i = 0; keys && i < g->items.n; i++)
		keys[i] = (struct nsx_sort_key){ { g->items.p[i].start, 0, 0 }, (uint32_t)i };
	if (keys)
		nsx_sort_keys(keys, g->items.n);
	return keys;
}

/* What came before in the stream. */
static bool
link_ops(struct wi_graph *g)
{
	struct linking l = { .g = g, .lanes = malloc((g->streams.n + 1) * sizeof *l.lanes) };
	struct nsx_sort_key *items = sort_items(g);
	bool good = l.lanes && items;

	for (size_t i = 0; good && i < g->streams.n; i++)
		l.lanes[i] = (struct lane){ .last = NSX_NONE };
	for (size_t i = 0, k = 0; good && (i < g->ops.n || k < g->items.n);) {
		const struct wi_op *o = i < g->ops.n ? &g->ops.p[i] : NULL;
		const struct wi_item *x = k < g->items.n ? &g->items.p[items[k].i] : NULL;

		wi_pause(g, i);
		if (o && (!x || o->start <= x->start)) {
			if (wi_more(g, o)->item == NSX_NONE && !o->cut)
				good = link_next(&l, g->lanes.p[o->lane].stream, (uint32_t)i);
			i++;
		} else {
			if (!g->ops.p[g->nodes.p[x->first]].cut)
				good = link_next(&l, x->stream, (uint32_t)g->ops.n + items[k].i);
			k++;
		}
	}
	for (size_t i = 0; l.lanes && i < g->streams.n && items; i++) {
		if (good)
			end_run(&l, &l.lanes[i]);
		free(l.lanes[i].run.p);
	}
	free(l.lanes);
	free(items);
	return good;
}

/* ---- instances */

/* Whether the records of an instance are of one collective: all overlap, and end together. */
static bool
end_together(const struct wi_graph *g, const struct wi_instance *x)
{
	enum { TOGETHER = 50000 };   /* ns */
	int64_t first = INT64_MAX, last = INT64_MIN, start = INT64_MIN;

	for (uint32_t k = 0; k < x->n; k++) {
		const struct wi_op *o = &g->ops.p[g->members.p[x->first + k]];

		first = o->end < first ? o->end : first;
		last = o->end > last ? o->end : last;
		start = o->start > start ? o->start : start;
	}
	return start < first && last - first <= TOGETHER;
}

/* Collectives of one kind whose communicator is not known are of all devices if nine in ten end together; else which
 * devices waited for each other is not known. */
static bool
judge_guesses(struct wi_graph *g)
{
	struct { size_t n, good; } *kinds = calloc(g->names.n + 1, sizeof *kinds);

	if (!kinds)
		return false;
	for (size_t i = 0; i < g->instances.n; i++) {
		const struct wi_instance *x = &g->instances.p[i];
		const struct wi_more *o = wi_more(g, &g->ops.p[g->members.p[x->first]]);

		wi_pause_at(g, x->first, x->n);
		if (o->guessed && o->kind != NSX_NONE) {
			kinds[o->kind].n++;
			kinds[o->kind].good += end_together(g, x);
		}
	}
	for (size_t i = 0; i < g->mores.n; i++) {
		struct wi_more *o = &g->mores.p[i];

		wi_pause(g, i);
		if (!o->guessed || o->instance == NSX_NONE || o->kind == NSX_NONE)
			continue;
		if (10 * kinds[o->kind].good < 9 * kinds[o->kind].n || !end_together(g, &g->instances.p[o->instance]))
			o->instance = NSX_NONE;
		g->guessed++;
	}
	free(kinds);
	return true;
}

NSX_ORDER(by_thread, struct wi_overhead, NSX_CMP(a->thread, b->thread), NSX_CMP(a->start, b->start))

int
nsx_wi_loaded(struct wi_graph *g, const struct nsx_step_set *s)
{
	if (g->overheads.n)
		qsort(g->overheads.p, g->overheads.n, sizeof *g->overheads.p, by_thread);
	if (g->pairing.instance && nsx_pairing_finish(&g->pairing) != NSX_OK)
		return NSX_ERR;
	nsx_nccl_free(&g->pairing.nccl);
	g->pairing.nccl = (struct nsx_nccl_set){ 0 };
	if (!judge_guesses(g) || !resolve_all(g, s))
		return nsx_err_nomem(g->err, NULL);
	return nsx_wi_find_items(g) == NSX_OK && link_ops(g) ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

/* ---- steps */

/* The last step of a device has no period, unless the next one began before the recording ended: its start suffices. */
static struct nsx_step_of
with_next(const struct nsx_step_set *s, struct nsx_step_of o)
{
	for (size_t i = 0; i < s->dropped.n && o.next == NSX_ABSENT; i++) {
		const struct nsx_step_of *d = &s->dropped.p[i];
		const struct nsx_step *x = &s->steps.p[d->step];

		if (d->class == o.class && d->device == o.device && d->first > o.first
		    && nsx_step_is_seen(s, x->profile, x->host_start, d->first)) {
			o.next = d->first;
			nsx_step_measure(s, &o);
			o.kept = true;
		}
	}
	return o;
}

/* By device of the set, when its first step of any class begins; NULL: out of memory. */
static int64_t *
first_steps(const struct wi_graph *g, const struct nsx_step_set *s)
{
	int64_t *first = malloc((s->cat.devices.n + 1) * sizeof *first);

	for (size_t d = 0; first && d < s->cat.devices.n; d++)
		first[d] = INT64_MAX;
	for (size_t i = 0; first && i < s->list.n; i++) {
		const struct nsx_step_of *o = &s->list.p[i];

		if (o->first >= g->from && o->first < first[o->device])
			first[o->device] = o->first;
	}
	return first;
}

static int
find_steps(struct wi_graph *g, const struct nsx_step_set *s, uint32_t class, const int64_t *first)
{
	g->all = nsx_step_mean(s, class);
	g->classed = class == NSX_NONE && s->list.n
	             && (s->groups || s->list.p[0].class != s->list.p[s->list.n - 1].class);
	for (size_t i = 0, n, k = 0; i < s->list.n; i += n, k = 0) {
		const struct nsx_step_of *o = &s->list.p[i];
		uint32_t device = nsx_cat_find_device(&g->pairing.comm.cat, s->cat.devices.p[o->device].number);

		for (n = 1; i + n < s->list.n && o[n].class == o->class && o[n].device == o->device;)
			n++;
		if (class != NSX_NONE && o->class != class)
			continue;
		/* What happened before the first one of its device is not known. */
		for (; k < n && o[k].first < g->from;)
			k++;
		if (n - k >= 4 && o[k].first == first[o->device])
			g->began += o[k++].kept;
		for (; k < n; k++) {
			struct nsx_step_of of = with_next(s, o[k]);
			struct wi_step x = { of.number, of.sums.removed, NSX_NONE, device, NSX_NONE, NSX_NONE };

			wi_pause(g, (i + k) << SEARCHES);
			if (!of.kept || device == NSX_NONE)
				continue;
			g->ended += !o[k].kept;
			x.class = nsx_intern(&g->names, nsx_intern_str(&s->names, of.class));
			if (x.class == NSX_NONE)
				return nsx_err_nomem(g->err, NULL);
			x.first = op_at(g, device, of.first);
			x.next = op_at(g, device, of.next);
			if (x.first == NSX_NONE || x.next == NSX_NONE)
				continue;
			if (!nsx_vec_push(&g->steps, x))
				return nsx_err_nomem(g->err, NULL);
			g->ops.p[x.first].bound = g->ops.p[x.next].bound = true;
		}
	}
	return NSX_OK;
}

int
nsx_wi_find_steps(struct wi_graph *g, const struct nsx_step_set *s, uint32_t class)
{
	int64_t *first = first_steps(g, s);
	int rc = first ? find_steps(g, s, class, first) : nsx_err_nomem(g->err, NULL);

	free(first);
	return rc;
}
