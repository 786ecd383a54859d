/* unseen.c -- does the host work between two calls, or does it wait for the device in a way that is not recorded? XLA
 * waits for the results of a step in no CUDA call. A host that has launched much, and then sets the pace without calls,
 * is suspect: it need not have been late. That of PyTorch is not: it waits in calls, which are records. */
#include <stdlib.h>

#include "base/num.h"
#include "job/frameworks.h"
#include "table/whatif/path.h"

enum { LEFT = 50000 };   /* ns of work that devices have left when a gap begins that may be a wait */

/* Whether a kernel, "void at::native::...", is of a framework whose host waits in calls alone. */
static bool
is_awaiting(struct nsx_str kernel)
{
	static const char returns[] = "void ";
	size_t skip = nsx_str_starts(kernel, returns) ? sizeof returns - 1 : 0;

	return nsx_framework_is(NSX_FRAMEWORK_AWAITS, (struct nsx_str){ kernel.ptr + skip, kernel.len - skip });
}

/* ends: by process, latest end of what it has launched; awaits: its host waits in calls alone. task: is_awaiting.
 * ops: by call, the end of what it launched. */
struct search { int64_t *ends, *ops; bool *awaits, *task; };

static bool
begin(const struct wi_graph *g, struct search *s)
{
	size_t n = g->threads.process_of.n;

	s->ends = malloc((n + 1) * sizeof *s->ends);
	s->awaits = calloc(n + 1, sizeof *s->awaits);
	s->task = calloc(g->tasks.n + 1, sizeof *s->task);
	s->ops = nsx_large_array(wi_large(g), g->calls.n, sizeof *s->ops);
	if (!s->ends || !s->awaits || !s->task || !s->ops)
		return false;
	for (size_t i = 0; i < n; i++)
		s->ends[i] = INT64_MIN;
	for (size_t i = 0; i < g->tasks.n; i++)
		s->task[i] = g->tasks.p[i].kernel != NSX_NONE
		             && is_awaiting(nsx_intern_str(&g->names, g->tasks.p[i].kernel));
	for (size_t i = 0; i < g->calls.n; i++) {
		wi_pause(g, i);
		s->ops[i] = INT64_MIN;
	}
	for (size_t i = 0; i < g->ops.n; i++) {
		const struct wi_op *o = &g->ops.p[i];

		wi_pause(g, i);
		if (o->call == NSX_NONE)
			continue;
		s->ops[o->call] = nsx_max(s->ops[o->call], o->end);
		s->awaits[wi_process_of(g, &g->calls.p[o->call])] |= s->task[o->task];
	}
	return true;
}

bool
nsx_wi_find_unseen(const struct wi_graph *g, bool *after, int64_t *until)
{
	struct search s = { 0 };
	bool good = begin(g, &s);

	for (size_t i = 0; i < g->calls.n && good; i++) {
		const struct wi_call *c = &g->calls.p[i];
		uint32_t process = wi_process_of(g, c);
		int64_t left = s.ends[process];

		wi_pause(g, i);
		after[i] = wi_before(c) != NSX_NONE && left != INT64_MIN && !s.awaits[process]
		           && wi_call_more(g, c)->from == NSX_NONE && wi_call_more(g, c)->drained == NSX_NONE
		           && left - g->calls.p[c->before].end >= LEFT;
		if (until)
			until[i] = after[i] ? nsx_min(left, c->start) : INT64_MIN;
		s.ends[process] = nsx_max(left, s.ops[i]);
	}
	free(s.ends);
	free(s.awaits);
	free(s.task);
	nsx_large_free(wi_large(g), s.ops);
	return good;
}
