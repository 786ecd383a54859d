/* lists.c -- operations of a device, of a process or of a stream, and calls of a thread, in order of time: to find what
 * an event may have waited for. */
#include <stdlib.h>

#include "table/whatif/spans.h"

/* By end, those that end together by start: nearly so they are. */
static void
sort_by_end(const struct wi_graph *g, uint32_t *ops, size_t n)
{
	for (size_t i = 1, k; i < n; i++) {
		uint32_t x = ops[i];

		wi_pause(g, i);
		for (k = i; k > 0 && g->ops.p[ops[k - 1]].end > g->ops.p[x].end; k--)
			ops[k] = ops[k - 1];
		ops[k] = x;
	}
}

/* Operations, or those of them that communicate, by the group of their lane, NSX_NONE: they are in none; or, without
 * groups, calls by thread. */
struct listing { const struct wi_graph *g; const uint32_t *group; bool comm; };

static uint32_t
group_of(const struct listing *x, size_t i)
{
	const struct wi_op *o;

	if (!x->group)
		return x->g->calls.p[i].thread;
	o = &x->g->ops.p[i];
	return x->comm && !wi_task(x->g, o)->comm ? (uint32_t)NSX_NONE : x->group[o->lane];
}

/* Those of each of n groups, by start. */
static bool
list(const struct listing *x, size_t n, struct wi_lists *l)
{
	const struct wi_graph *g = x->g;
	size_t all = x->group ? g->ops.n : g->calls.n;
	uint32_t of;

	l->first = calloc(n + 2, sizeof *l->first);
	l->at = nsx_large_array(wi_large(g), all + 1, sizeof *l->at);
	if (!l->first || !l->at)
		return false;
	for (size_t i = 0; i < all; i++) {
		wi_pause(g, i);
		if ((of = group_of(x, i)) != NSX_NONE)
			l->first[of + 2]++;
	}
	for (size_t i = 2; i < n + 2; i++)
		l->first[i] += l->first[i - 1];
	for (size_t i = 0; i < all; i++) {
		wi_pause(g, i);
		if ((of = group_of(x, i)) != NSX_NONE)
			l->at[l->first[of + 1]++] = (uint32_t)i;
	}
	return true;
}

/* Operations of each of n groups of lanes, by end. */
static bool
list_by_end(const struct wi_graph *g, const uint32_t *group, size_t n, struct wi_lists *l)
{
	l->near = calloc(n + 1, sizeof *l->near);
	if (!l->near || !list(&(struct listing){ .g = g, .group = group }, n, l))
		return false;
	for (size_t i = 0; i < n; i++)
		sort_by_end(g, l->at + l->first[i], l->first[i + 1] - l->first[i]);
	return true;
}

/* Operations of devices, of processes that launch, and what communicates, of lanes. */
static bool
find_lists(struct wi_spans *s)
{
	const struct wi_graph *g = s->g;
	size_t n = g->lanes.n;
	uint32_t *group = calloc(n + 1, sizeof *group);
	bool unknown = false, good;

	if (!group)
		return false;
	for (size_t i = 0; i < n; i++)
		group[i] = g->lanes.p[i].device;
	good = list_by_end(g, group, g->pairing.comm.cat.devices.n, &s->of_device);
	for (size_t i = 0; i < n; i++)
		group[i] = NSX_NONE;
	for (size_t i = 0; i < g->ops.n; i++) {
		wi_pause(g, i);
		wi_foresee_call(g, i);
		if (g->ops.p[i].call != NSX_NONE)
			group[g->ops.p[i].lane] = wi_process_of(g, &g->calls.p[g->ops.p[i].call]);
	}
	good = good && (!g->calls.n || list_by_end(g, group, g->threads.process_of.n, &s->of_process));
	for (size_t i = 0; i < g->mores.n && !unknown; i++)
		unknown = g->mores.p[i].guessed && g->mores.p[i].instance == NSX_NONE;
	for (size_t i = 0; i < n; i++)
		group[i] = (uint32_t)i;
	good = good && (!unknown || list(&(struct listing){ g, group, true }, n, &s->comm));
	free(group);
	return good;
}

/* Calls of threads, if one is in doubt. */
static bool
find_threads(struct wi_spans *s)
{
	const struct wi_graph *g = s->g;
	size_t n = g->threads.thread_of.n;
	bool any = false;

	for (size_t i = 0; i < g->calls.n && !any; i++) {
		wi_pause(g, i);
		any = g->calls.p[i].doubtful;
	}
	if (!any)
		return true;
	s->threads = calloc(n + 1, sizeof *s->threads);
	if (!s->threads)
		return false;
	for (size_t i = 0; i < n; i++)
		s->threads[i] = (struct nsx_sort_key){ { g->of_threads.p[i].process, 0, 0 }, (uint32_t)i };
	nsx_sort_keys(s->threads, n);
	return list(&(struct listing){ .g = g }, n, &s->of_thread);
}

bool
nsx_wi_list(struct wi_spans *s)
{
	return find_lists(s) && find_threads(s);
}
