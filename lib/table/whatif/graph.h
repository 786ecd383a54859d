/* graph.h -- the events of a job and what each of them waits for.
 *
 * Start and end of an operation and of a call of the host are events. Each has edges from other events; its time is
 * the largest of (time of the source + lag) over its edges, or, without edges, the time that was measured. With the
 * lags that are made from what happened (nsx_wi_make_edges) every event has the time that was measured, to the
 * nanosecond; with other lags the same graph gives other times (nsx_wi_sweep of plan.h).
 *
 *   call A ---call---> B ---gap---> A ---call---> B        a thread of the host
 *     |                               |
 *     launch                          launch
 *     v                               v
 *     S ---dur---> E ---stream------> S ---dur---> E       a stream of a device
 */
#ifndef NSX_TABLE_WHATIF_GRAPH_H
#define NSX_TABLE_WHATIF_GRAPH_H

#include "base/diag.h"
#include "base/large.h"
#include "base/map.h"
#include "base/vec.h"
#include "job/comm/pairing.h"
#include "job/steps/periods.h"
#include "job/steps/steps.h"
#include "job/threads.h"
#include "table/analysis.h"
#include "table/whatif.h"
#include "table/whatif/numbers.h"

/* Work: dur, rdv (a collective's transfer, from the start of the last of its members), gap (the host between calls) and
 * call. The others are latencies. In the order in which the edges of an event are made. */
enum wi_class { WI_DUR, WI_RDV, WI_LAUNCH, WI_STREAM, WI_WAIT, WI_GAP, WI_CALL, WI_SYNC, WI_QUEUE, WI_NCLASSES };

enum {
	WI_MEMORY   = 128 << 20,   /* bytes of arrays by operation, call, event or edge; what is more is in files */
	WI_RETURN   = 2000,     /* ns from the end of an operation to the return of the call that waits for it */
	WI_ASLEEP   = 3000,     /* ns of work of a call that waited */
	WI_HANDED   = 5000,     /* ns of work, at least, of a thread that waited for another one */
	WI_LONG     = 20000,    /* ns: a longer latency is not explained by its edge */
	WI_LAST     = 16,       /* operations whose calls are being fetched */
	WI_NAMES    = 1 << 6,
	WI_DEVICES  = 16,
	WI_FEW      = 1 << 20,  /* events whose arrays are in memory, where growing is copying: they get room at once */
	WI_AHEAD    = 24
};

/* Indices are NSX_NONE where there is none. Operations and calls are many, and small: what many have in common is in a
 * table, and what few have is beside them. */
struct wi_op {
	int64_t  start, end;             /* ns */
	uint32_t lane, task;             /* in lanes, in tasks */
	uint32_t call;                   /* in calls */
	uint32_t before;                 /* the operation before it in its stream, or, from ops.n on, the item */
	uint32_t more;                   /* in mores */
	bool     cut;                    /* launched before the first step of its device: nothing waits for it */
	bool     bound;                  /* a step begins with it, or the next one does */
};

/* A CUDA stream of a device, in a report. stream: dense number of (device, stream). task: of its last operation. */
struct wi_lane { uint32_t profile, device, stream, task; };

/* Those of a device's last operations of streams whose numbers in the report differ in their last bits. */
enum { WI_STREAMS = 4 };
struct wi_last_lane { struct { int64_t stream; uint32_t lane; } of[WI_STREAMS]; };

/* Where operations of a device of a report, by their numbers, run: in the catalogue. */
struct wi_where { int64_t profile, device; struct wi_lane lane; bool known; };

/* What operations do. name: in names, of the instruction where there is one; kernel: there, too, of the operation;
 * inst: in the catalogue. next: what came next in the stream the last time, NSX_NONE: nothing yet. */
struct wi_task { uint32_t name, kernel, inst, next; bool comm, copy; };

/* Of operations that communicate, are nodes of a graph, or await others. */
struct wi_more {
	int64_t  bytes, group;           /* of a collective; NSX_ABSENT: not known */
	int64_t  node;                   /* of a CUDA graph that was traced by node; NSX_ABSENT: of none */
	uint32_t kind;                   /* of a collective, in wi_graph.names */
	uint32_t instance;               /* in instances: of two members or more */
	uint32_t item;                   /* in items: the graph launch that it is a node of */
	uint32_t preds, npreds;          /* in refs: nodes of its graph that it follows */
	uint32_t after, nafter;          /* in refs: operations whose ends it awaited */
	bool     guessed;                /* a collective whose communicator is not known */
	bool     followed;               /* a node that another one follows */
};

struct wi_call {
	int64_t  start, end;             /* ns */
	uint32_t thread;                 /* in threads */
	uint32_t before;                 /* the thread's call before it; of its first one, see beside */
	uint32_t op;                     /* its first operation */
	uint32_t queue;                  /* the operation whose end made room for it in the launch queue */
	uint32_t more;                   /* in call_mores */
	uint32_t api : 30;               /* in apis */
	uint32_t beside : 1;             /* the first one of a thread: `before` is the call of its process that started
	                                  * before it */
	uint32_t doubtful : 1;           /* it may wait for another thread, which is not known */
};

/* name, class: in names. */
struct wi_api { uint32_t name, class; bool blocking; };

/* works: it launches, waits or calls events. */
struct wi_of_thread { uint32_t profile, process; bool works; };

/* Of calls that were stalled, or waited for something. */
struct wi_call_more {
	int64_t  stalled;                /* ns; 0: not recorded */
	uint32_t waited, nwaited;        /* in refs: operations whose ends let it return */
	uint32_t from;                   /* the call of another thread that hands over to it */
	uint32_t drained;                /* the operation whose end the host awaited before it, in no call */
};

/* Events: 2 i is the start and 2 i + 1 the end of operation i; after them those of calls, then for each instance the
 * start of its last member, so that n ends need no n * n edges. The lag makes every event have its measured time; one
 * of WI_FAR is in fars. own: of a collective, from its own start. last: of its event. */
struct wi_edge { uint32_t from; int32_t lag : 25; uint32_t class : 4, binds : 1, own : 1, last : 1; };
enum { WI_FAR = -(1 << 24) };
struct wi_far { int64_t edge, lag; };

/* A period that counts: from the start of one operation to that of another. class: in wi_graph.names. */
struct wi_step { int64_t number, removed; uint32_t class, device, first, next; };

/* An operation's members: in wi_graph.members. last: the latest start of those that are not cut, of which there are
 * met. */
struct wi_instance { uint32_t first, n, met; int64_t last; };

/* A launch of a CUDA graph, of which n nodes are known: operations, in wi_graph.nodes, by number of the node. */
struct wi_item { int64_t start, end; uint32_t first, n, stream; };

struct wi_overhead { int64_t start, end; uint32_t thread; };

/* How long calls of a class usually take, of which n were seen, ns. */
struct wi_usual { uint32_t class; size_t n; int64_t ns; };
typedef NSX_VEC(struct wi_usual) wi_usuals;

/* {0} with err, large, from and to set is empty. Arrays by operation, call, event or edge are in `large`: who goes
 * through them does so in order of time, and pauses (nsx_large_pause). */
struct wi_graph {
	struct nsx_err     *err;
	struct nsx_large    large;
	int64_t             from, to;            /* records that start before or from then on are left out */
	struct nsx_pairing  pairing;             /* its catalogue is that of all */
	struct nsx_intern   names;
	uint32_t            recall[NSX_RECALL];  /* of it */
	struct nsx_threads  threads;
	struct nsx_map      streams, lane_of, task_of, api_of, occurrences;
	struct wi_numbers   op_of, call_of;
	NSX_VEC(struct wi_op)       ops;         /* by start */
	NSX_VEC(struct wi_call)     calls;       /* by start */
	NSX_VEC(struct wi_more)     mores;
	NSX_VEC(struct wi_call_more) call_mores;
	NSX_VEC(struct wi_lane)     lanes;
	NSX_VEC(struct wi_last_lane) last_lanes; /* by device */
	struct wi_where             wheres[WI_DEVICES];   /* by the last bits of the device */
	NSX_VEC(struct wi_task)     tasks;
	NSX_VEC(struct wi_api)      apis;
	uint32_t                    last_apis[WI_NAMES];   /* the last one of names that are alike */
	NSX_VEC(struct wi_of_thread) of_threads; /* by number of the thread */
	bool                        numbered;    /* keep op_numbers and call_numbers: numbers in their reports */
	NSX_VEC(int64_t)            op_numbers, call_numbers;
	NSX_VEC(int64_t)            numbers;     /* of awaited operations, as they were read */
	NSX_VEC(struct { int64_t number; uint32_t op; }) early_ops;   /* whose calls had not come yet */
	int64_t                     last_calls[WI_LAST];   /* numbers of the calls of the last operations, by index,
	                                                    * not looked up yet; NSX_ABSENT: it has none */
	NSX_VEC(uint32_t)           refs;        /* their indices */
	NSX_VEC(uint32_t)           members;
	NSX_VEC(struct wi_instance) instances;
	NSX_VEC(uint32_t)           nodes;
	NSX_VEC(struct wi_item)     items;
	NSX_VEC(struct wi_overhead) overheads;   /* of the profiler */
	NSX_VEC(struct wi_step)     steps;       /* by class, device, then time */
	struct nsx_step_mean        all;         /* of their class (job/steps/periods.h); 0 periods: not one class */
	size_t                      began;       /* of these, not among the steps: the first of their devices; */
	size_t                      ended;       /* and among the steps, but not of these: the last */
	NSX_VEC(double)             limits;      /* of instructions, as far as it goes: the share of their time that
	                                          * they need at the limit of the device; 1: not known */
	/* The graph. */
	NSX_VEC(struct wi_edge)     edges;       /* of an event one after the other, in order of events; some between
	                                          * them are of none */
	NSX_VEC(struct wi_far)      fars;        /* by edge */
	size_t    nevents;
	uint32_t *first;                         /* of events: the first edge; NSX_NONE: it has none */
	uint32_t *order;                         /* of events: sources first */
	int64_t   latency[WI_NCLASSES];          /* of launch, stream and wait: the constants */
	int64_t   residual[WI_NCLASSES];         /* medians */
	int64_t   depth;                         /* of the launch queue; 0: not known */
	wi_usuals usual, unqueued;               /* calls by class: all, launches that never waited for room */
	int64_t   timeless, early, programmatic, contradicted, alone, apart, guessed, cyclic;
	size_t    given;                         /* instances that the pairing has found so far */
	int64_t   queued, unrelated; /* launches that the queue may have held up; those that contradict its depth */
	bool      stalls;                        /* the stream says how long calls were stalled */
	bool      classed;                       /* steps have classes */
};

/* Of a graph that does not change, either. */
static inline struct nsx_large *wi_large(const struct wi_graph *g) { return (struct nsx_large *)&g->large; }
static inline void wi_pause(const struct wi_graph *g, size_t i) { nsx_large_pause(wi_large(g), i); }
/* In a loop over instances, of n members from i on: they are far apart, and each touches pages of its own. */
static inline void
wi_pause_at(const struct wi_graph *g, size_t i, size_t n)
{
	if (i >> 14 != (i + n) >> 14)
		nsx_large_rest(wi_large(g));
}
static inline uint32_t wi_start(size_t op) { return (uint32_t)(2 * op); }
static inline uint32_t wi_end(size_t op) { return (uint32_t)(2 * op + 1); }
static inline uint32_t wi_enter(const struct wi_graph *g, size_t call) { return (uint32_t)(2 * (g->ops.n + call)); }
static inline uint32_t wi_leave(const struct wi_graph *g, size_t call) { return (uint32_t)(2 * (g->ops.n + call) + 1); }
static inline bool wi_is_op(const struct wi_graph *g, uint32_t event) { return event < 2 * g->ops.n; }
static inline uint32_t wi_meeting(const struct wi_graph *g, size_t instance) { return (uint32_t)(2 * (g->ops.n
	+ g->calls.n) + instance); }
static inline uint32_t
wi_device(const struct wi_graph *g, const struct wi_op *o)
{
	return g->lanes.p[o->lane].device;
}
static inline const struct wi_task *
wi_task(const struct wi_graph *g, const struct wi_op *o)
{
	return &g->tasks.p[o->task];
}
static inline const struct wi_api *
wi_api(const struct wi_graph *g, const struct wi_call *c)
{
	return &g->apis.p[c->api];
}
/* In of_process of threads. */
static inline uint32_t
wi_process_of(const struct wi_graph *g, const struct wi_call *c)
{
	return g->of_threads.p[c->thread].process;
}
/* That of one that has nothing more says so. */
extern const struct wi_more nsx_wi_no_more;
extern const struct wi_call_more nsx_wi_no_call_more;
/* The thread's call before it; NSX_NONE: none. */
static inline uint32_t wi_before(const struct wi_call *c) { return c->beside ? (uint32_t)NSX_NONE : c->before; }
static inline const struct wi_more *
wi_more(const struct wi_graph *g, const struct wi_op *o)
{
	return o->more == NSX_NONE ? &nsx_wi_no_more : &g->mores.p[o->more];
}
static inline const struct wi_call_more *
wi_call_more(const struct wi_graph *g, const struct wi_call *c)
{
	return c->more == NSX_NONE ? &nsx_wi_no_call_more : &g->call_mores.p[c->more];
}
static inline bool wi_is_meeting(const struct wi_graph *g, uint32_t event) { return event >= wi_meeting(g, 0); }
/* In a loop over operations that looks at their calls: fetch that of one to come, which was launched long ago and is
 * far away. */
static inline void
wi_foresee_call(const struct wi_graph *g, size_t op)
{
	op += WI_AHEAD;
	if (op < g->ops.n && g->ops.p[op].call != NSX_NONE)
		__builtin_prefetch(&g->calls.p[g->ops.p[op].call]);
}
/* Of an operation. */
static inline bool wi_is_end(uint32_t event) { return event & 1; }
static inline size_t wi_op_of(uint32_t event) { return event / 2; }
static inline size_t wi_call_of(const struct wi_graph *g, uint32_t event) { return event / 2 - g->ops.n; }
/* When an event was measured, ns. */
static inline int64_t
wi_time(const struct wi_graph *g, uint32_t event)
{
	size_t i = event / 2;

	if (i < g->ops.n)
		return wi_is_end(event) ? g->ops.p[i].end : g->ops.p[i].start;
	i -= g->ops.n;
	if (i < g->calls.n)
		return wi_is_end(event) ? g->calls.p[i].end : g->calls.p[i].start;
	return g->instances.p[event - wi_meeting(g, 0)].met ? g->instances.p[event - wi_meeting(g, 0)].last : 0;
}
int64_t nsx_wi_far(const struct wi_graph *g, uint32_t edge);
/* The lag with which its event has the time that was measured, ns. */
static inline int64_t
wi_lag(const struct wi_graph *g, uint32_t edge)
{
	int32_t lag = g->edges.p[edge].lag;

	return lag == WI_FAR ? nsx_wi_far(g, edge) : lag;
}
/* for (uint32_t k = g->first[event]; k != NSX_NONE; k = wi_next(g, k)) */
static inline uint32_t
wi_next(const struct wi_graph *g, uint32_t edge)
{
	return g->edges.p[edge].last ? (uint32_t)NSX_NONE : edge + 1;
}
static inline uint32_t
wi_nedges(const struct wi_graph *g, uint32_t event)
{
	uint32_t n = 0;

	for (uint32_t k = g->first[event]; k != NSX_NONE; k = wi_next(g, k))
		n++;
	return n;
}
/* The edge of the work of an operation's end or of a call's return; NSX_NONE: that was one of a broken cycle. */
static inline uint32_t
wi_work(const struct wi_graph *g, uint32_t event)
{
	uint32_t k = g->first[event];

	return k != NSX_NONE && (g->edges.p[k].class == WI_DUR || g->edges.p[k].class == WI_RDV
	       || g->edges.p[k].class == WI_CALL) ? k : NSX_NONE;
}
static inline bool
wi_latency(int class)
{
	return class == WI_LAUNCH || class == WI_STREAM || class == WI_WAIT || class == WI_SYNC || class == WI_QUEUE;
}

/* Texts of nsx_sums. */
static inline struct nsx_str
wi_text(const void *names, uint32_t id)
{
	return nsx_intern_str(names, id);
}

/* The number of steps of one class and device from step i on. */
static inline size_t
wi_run(const struct wi_graph *g, size_t i)
{
	size_t n = 1;

	while (i + n < g->steps.n && g->steps.p[i + n].device == g->steps.p[i].device
	       && g->steps.p[i + n].class == g->steps.p[i].class)
		n++;
	return n;
}

/* ---- build.c */
/* Takes the records of a reading; its state is a wi_graph. NSX_OK or NSX_ERR, here and below. */
extern const struct nsx_analysis nsx_wi_events;
/* After it: the graph. Steps of that class (in s->names) count; NSX_NONE: all. */
int nsx_wi_build(struct wi_graph *g, const struct nsx_step_set *s, uint32_t class);

/* ---- load.c: the records of a stream */
void nsx_wi_need(struct wi_graph *g, struct nsx_reader *in);
int nsx_wi_take(void *graph, const struct nsx_rec *rec);
/* After the last record: find the calls of the last operations. false: out of memory. */
bool nsx_wi_find_calls(struct wi_graph *g);
void nsx_wi_free(struct wi_graph *g);

/* ---- link.c */
/* After the last record: resolve what records refer to, and leave out what was launched before the first step. */
int nsx_wi_loaded(struct wi_graph *g, const struct nsx_step_set *s);
/* Find the operations of steps; class: as nsx_wi_build. */
int nsx_wi_find_steps(struct wi_graph *g, const struct nsx_step_set *s, uint32_t class);

/* The latest end of what is before an operation in its stream; NSX_ABSENT: nothing. */
static inline int64_t
wi_end_before(const struct wi_graph *g, const struct wi_op *o)
{
	return o->before == NSX_NONE ? NSX_ABSENT
	       : o->before < g->ops.n ? g->ops.p[o->before].end : g->items.p[o->before - g->ops.n].end;
}

/* ---- limits.c: the limits of instructions, as the rows of nsysx-roofline have them */
struct nsx_roof;
int nsx_wi_limits(struct wi_graph *g, const struct nsx_roof *roof);

/* ---- items.c: launches of graphs, and which of their nodes follow which */
int nsx_wi_find_items(struct wi_graph *g);

/* ---- learn.c: latencies */
int nsx_wi_learn(struct wi_graph *g);

/* ---- queue.c: the depth of the launch queue, and for which operation each launch waited */
int nsx_wi_learn_queue(struct wi_graph *g);
/* The work of a call that may have waited for room, of which `own` is not spent waiting for operations. */
int64_t nsx_wi_queue_work(const struct wi_graph *g, const struct wi_call *c, int64_t own);
/* What is usual for calls of that class; NULL: there are none. */
const struct wi_usual *nsx_wi_usual_of(const wi_usuals *u, uint32_t class);

/* ---- handover.c: which calls wait for a call of another thread */
int nsx_wi_find_handovers(struct wi_graph *g);

/* ---- edges.c: make the edges, the order of events, and the lags. */
int nsx_wi_make_edges(struct wi_graph *g);

/* ---- sweep.c */
/* The period that was measured: the mean over the steps of all devices, each with one vote (job/steps/periods.h); 0: no
 * steps. bounds: when steps begin and the ones after them, two of each of wi_graph.steps (plan.h); NULL: as was
 * measured. without: by device of the catalogue, those that do not count; NULL: all do. */
double nsx_wi_period(const struct wi_graph *g, const int64_t *bounds, const bool *without);

#endif
