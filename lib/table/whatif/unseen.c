/* unseen.c -- does the host work between two calls, or does it wait for the device in a way that is not recorded? XLA
 * waits for the results of a step in no CUDA call. A host that has launched much, and then sets the pace without calls,
 * is suspect: it need not have been late. That of PyTorch is not: it waits in calls, which are records; but for one
 * that asks again and again whether the device is done. */
#include <stdlib.h>

#include "base/num.h"
#include "job/frameworks.h"
#include "table/whatif/path.h"

enum {
	LEFT = 50000,    /* ns of work that devices have left when a gap begins that may be a wait */
	MANY = 100       /* one kernel in so many tells whose a process is */
};

/* Whether a kernel, "void at::native::...", is of a framework whose host waits in calls alone. */
static bool
is_awaiting(struct nsx_str kernel)
{
	static const char returns[] = "void ";
	size_t skip = nsx_str_starts(kernel, returns) ? sizeof returns - 1 : 0;

	return nsx_framework_is(NSX_FRAMEWORK_AWAITS, (struct nsx_str){ kernel.ptr + skip, kernel.len - skip });
}

/* A process: the latest end of what it has launched; of how many operations how many are kernels of such a framework;
 * xla: some are instructions of programs of XLA, whose host waits in no call. */
struct process { int64_t end; size_t ops, awaiting; bool xla; };

/* task: is_awaiting; query: by kind of call, it asks whether the device is done; ops: by call, the end of what it
 * launched; launches: by thread. */
struct search { struct process *processes; int64_t *ops; bool *task, *query, *launches; };

static bool
begin(const struct wi_graph *g, struct search *s)
{
	size_t n = g->threads.process_of.n;

	s->processes = calloc(n + 1, sizeof *s->processes);
	s->task = calloc(g->tasks.n + 1, sizeof *s->task);
	s->query = calloc(g->apis.n + 1, sizeof *s->query);
	s->launches = calloc(g->of_threads.n + 1, sizeof *s->launches);
	s->ops = nsx_large_array(wi_large(g), g->calls.n, sizeof *s->ops);
	if (!s->processes || !s->task || !s->query || !s->launches || !s->ops)
		return false;
	for (size_t i = 0; i < n; i++)
		s->processes[i].end = INT64_MIN;
	for (size_t i = 0; i < g->tasks.n; i++)
		s->task[i] = is_awaiting(nsx_intern_str(&g->names, g->tasks.p[i].kernel));
	for (size_t i = 0; i < g->apis.n; i++)
		s->query[i] = nsx_str_has(nsx_intern_str(&g->names, g->apis.p[i].name), "Query");
	for (size_t i = 0; i < g->calls.n; i++) {
		wi_pause(g, i);
		s->ops[i] = INT64_MIN;
	}
	for (size_t i = 0; i < g->ops.n; i++) {
		const struct wi_op *o = &g->ops.p[i];
		struct process *of;

		wi_pause(g, i);
		if (o->call == NSX_NONE)
			continue;
		s->ops[o->call] = nsx_max(s->ops[o->call], o->end);
		s->launches[g->calls.p[o->call].thread] = true;
		of = &s->processes[wi_process_of(g, &g->calls.p[o->call])];
		of->ops++;
		of->awaiting += s->task[o->task];
		of->xla |= g->tasks.p[o->task].inst != NSX_NONE;
	}
	return true;
}

/* Whether a wait before the call would be a call: not of a process of XLA, nor between two questions whether the
 * device is done, for who asks again waits; but for a thread that does nothing else, as NCCL's watchdog. */
static bool
waits_in_calls(const struct wi_graph *g, const struct search *s, const struct wi_call *c)
{
	const struct process *of = &s->processes[wi_process_of(g, c)];

	return !of->xla && of->awaiting && of->awaiting >= of->ops / MANY
	       && !(s->launches[c->thread] && s->query[c->api] && s->query[g->calls.p[c->before].api]);
}

bool
nsx_wi_find_unseen(const struct wi_graph *g, bool *after, int64_t *until)
{
	struct search s = { 0 };
	bool good = begin(g, &s);

	for (size_t i = 0; i < g->calls.n && good; i++) {
		const struct wi_call *c = &g->calls.p[i];
		struct process *of = &s.processes[wi_process_of(g, c)];
		int64_t left = of->end;

		wi_pause(g, i);
		after[i] = wi_before(c) != NSX_NONE && left != INT64_MIN
		           && wi_call_more(g, c)->from == NSX_NONE && wi_call_more(g, c)->drained == NSX_NONE
		           && left - g->calls.p[c->before].end >= LEFT && !waits_in_calls(g, &s, c);
		if (until)
			until[i] = after[i] ? nsx_min(left, c->start) : INT64_MIN;
		of->end = nsx_max(left, s.ops[i]);
	}
	free(s.processes);
	free(s.task);
	free(s.query);
	free(s.launches);
	nsx_large_free(wi_large(g), s.ops);
	return good;
}
