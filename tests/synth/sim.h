/* sim.h -- a simulator of causes: programs of host threads that launch operations, wait for them and hand over to each
 * other. All times follow from durations of work and latencies, so that with another duration the same job has other
 * times, which are known.
 *
 *   thread of the host   work | launch a | work | launch b | wait for b .............| work
 *   stream 7                    latency  a a a a a a  gap  b b b b b b b b  latency
 *
 * sim_jobs.c and sim_kinds.c build jobs; sim.c runs one; sim_change.c changes one, sim_truth.c says what is true of a
 * run, sim_export.c makes the plan of an export of it. Durations, latencies and noise are drawn while a job is built,
 * none while it runs. Times are nanoseconds. */
#ifndef SYNTH_SIM_H
#define SYNTH_SIM_H

#include <regex.h>

#include "synth.h"

/* What a thread does next. */
enum sim_do {
	SIM_WORK,       /* ns, of which `extra` the profiler took */
	SIM_POST,       /* hand over: semaphore `arg` */
	SIM_TAKE,       /* take it, or wait for it and go on ns after it was posted */
	SIM_PUSH,       /* a range, with payload `arg` (0: none) */
	SIM_POP,
	/* Calls of ns; those that wait return `extra` after what they waited for. */
	SIM_LAUNCH,     /* operation `arg` */
	SIM_COPY,       /* operation `arg`, and wait for it */
	SIM_GRAPH,      /* operations `arg` and so many as `arg2` */
	SIM_RECORD,     /* record `arg`, of stream `arg2` */
	SIM_AWAIT,      /* stream `arg2` waits for record `arg` */
	SIM_SYNC_STREAM, SIM_SYNC_DEVICE, SIM_SYNC_EVENT
};
struct sim_step { enum sim_do what; int64_t ns, extra; uint32_t arg, arg2, name; };   /* name: in plan.names */

/* Classes of causes, named as those of nsysx-whatif. */
enum sim_class { SIM_DUR, SIM_RDV, SIM_LAUNCHED, SIM_STREAM, SIM_EVENT, SIM_GAP, SIM_CALL, SIM_SYNC, SIM_QUEUE };
/* Of the sources of an event the last one: an event is 2 i, 2 i + 1 for start and end of operation i; then those of
 * calls. SYN_NONE: none. */
struct sim_cause { uint32_t from; enum sim_class class; };

struct sim_op {
	uint32_t name, stream;
	uint32_t meet;                  /* the instance of a collective, SYN_NONE: none */
	const char *kind;               /* of a collective, NULL: none */
	int64_t  dur;                   /* of a collective its transfer: from the start of its last member to its end */
	/* Latencies: after its call's start, the operation before it in the stream, those that it awaits. */
	int64_t  launch, gap, await;
	int64_t  bytes, group;
	int64_t  node;                  /* of a graph, 0: of none */
	uint32_t pred[2];               /* nodes that a node follows, SYN_NONE: none */
	uint8_t  type, copy_kind;
	/* As it ran. */
	uint32_t call, need, links;     /* sources that are not known yet; those that wait for its end */
	int64_t  start, end;
	struct sim_cause began, ended;
	bool     known;                 /* its end is */
};

struct sim_call {
	uint32_t thread, name;
	struct sim_step step;
	int64_t  start, own, end;       /* own: when its own work was done */
	uint32_t op, nops, need;
	bool     stalled;               /* it waited for room in the queue */
	struct sim_cause began, ended;
};

/* last: issued last; pending: what the next one awaits. */
struct sim_stream { uint32_t dev; int id; uint32_t last; NSX_VEC(uint32_t) pending; };
struct sim_record { int64_t event; uint32_t last, call, stream; };
struct sim_meet { uint32_t n, known, first; };       /* members, those that have started; first: in links of them */
/* Whose time follows from the end of an operation. */
struct sim_link { uint32_t next, to; int64_t lag; enum sim_class class; bool call; };
struct sim_thread {
	uint32_t proc, thread;          /* in the plan */
	NSX_VEC(struct sim_step) step;
	size_t   at;
	int64_t  now;
	uint32_t from;                  /* the event from which `now` follows by work alone */
	bool     parked, taking;
};
struct sim_range { uint32_t thread, name, payload; int64_t start, end; };
struct sim_sem { uint32_t first, count; };       /* at the beginning, and now */
struct sim_queue { NSX_VEC(uint32_t) issued; };      /* of a device: what it was given, a graph as its last node */

struct sim {
	struct syn_plan *p;             /* processes, devices, names */
	uint64_t random;
	bool     steady;                /* latencies do not vary */
	int64_t  queue;                 /* entries of the launch queue of a device */
	uint32_t steps;
	NSX_VEC(struct sim_thread) thread;
	NSX_VEC(struct sim_stream) stream;
	NSX_VEC(struct sim_op)     op;
	NSX_VEC(struct sim_record) record;
	NSX_VEC(struct sim_meet)   meet;
	NSX_VEC(struct sim_sem)    sem;
	NSX_VEC(struct syn_payload) payload;
	NSX_VEC(struct sim_range)  profiler;    /* what it took of threads */
	struct nsx_map meets;
	/* Changes. */
	bool     no_sync, no_wait;
	/* As it ran. */
	NSX_VEC(struct sim_call)   call;
	NSX_VEC(struct sim_range)  range;
	NSX_VEC(struct sim_link)   link;
	NSX_VEC(struct sim_queue)  device;
	NSX_VEC(uint32_t)          ready;       /* operations whose start is known, and whose end is to be found */
};

static inline uint32_t sim_start(uint32_t op) { return 2 * op; }
static inline uint32_t sim_end(uint32_t op) { return 2 * op + 1; }
static inline uint32_t sim_enter(const struct sim *s, uint32_t call) { return 2 * ((uint32_t)s->op.n + call); }
static inline uint32_t sim_leave(const struct sim *s, uint32_t call) { return 2 * ((uint32_t)s->op.n + call) + 1; }

void sim_run(struct sim *s);                     /* sim.c: from the beginning; dies if threads wait for each other */
void sim_free(struct sim *s);

/* sim_jobs.c: pieces of jobs */
int64_t  sim_draw(struct sim *s, int64_t lo, int64_t hi);        /* lo..hi, both included */
/* ns and mostly up to that much more; the half of it in a steady job. */
int64_t  sim_noise(struct sim *s, int64_t ns, int64_t most);
uint32_t sim_thread(struct sim *s, uint32_t proc, const char *name);
uint32_t sim_process(struct sim *s, int devices);                /* with a main thread; returns its first device */
uint32_t sim_stream(struct sim *s, uint32_t dev, int id);
uint32_t sim_sem(struct sim *s, uint32_t count);
void     sim_work(struct sim *s, uint32_t th, int64_t ns);
void     sim_do(struct sim *s, uint32_t th, enum sim_do what, uint32_t arg);      /* post, take, pop */
void     sim_push(struct sim *s, uint32_t th, const char *name, const struct syn_payload *payload);
uint32_t sim_kernel(struct sim *s, uint32_t th, uint32_t stream, const char *name, int64_t dur);
uint32_t sim_copy(struct sim *s, uint32_t th, uint32_t stream, int kind, int64_t bytes, int64_t dur, bool blocking);
uint32_t sim_node(struct sim *s, uint32_t stream, const char *name, int64_t dur, int64_t node, uint32_t pred,
		  uint32_t other);
void     sim_graph(struct sim *s, uint32_t th, uint32_t first, uint32_t n);
uint32_t sim_record(struct sim *s, uint32_t th, uint32_t stream, int64_t event);
void     sim_await(struct sim *s, uint32_t th, uint32_t stream, uint32_t record);
void     sim_sync(struct sim *s, uint32_t th, enum sim_do what, uint32_t arg);
void     sim_communicator(struct sim *s, uint32_t th, int64_t comm, int ranks, int rank);
/* A member of a collective; `key` is that of its instance, equal on all `group` members. */
uint32_t sim_collective(struct sim *s, uint32_t th, uint32_t stream, const char *kind, int64_t comm, int64_t group,
			struct nsx_key key, int64_t bytes, int64_t transfer);
/* One kernel that sends to a peer and receives from one; either may be -1. */
uint32_t sim_exchange(struct sim *s, uint32_t th, uint32_t stream, int64_t comm, int to, int from, struct nsx_key key,
		      int64_t bytes, int64_t transfer);

/* sim_kinds.c */
void sim_build(struct sim *s, const char *kind);
extern const char sim_kinds[];                   /* for the option table */

/* sim_change.c: change a job, in several ways with commas between; NULL, or why that is not possible */
const char *sim_change(struct sim *s, const char *change);
struct sim_saved;                                /* what changes change */
struct sim_saved *sim_save(const struct sim *s);
void sim_restore(struct sim *s, const struct sim_saved *saved);
void sim_free_saved(struct sim_saved *saved);

/* sim_truth.c */
/* Of a run; changes: and the periods after changes; slack: and that of so many operations. */
void sim_answers(struct sim *s, bool changes, int64_t slack);
/* sim_export.c: processes, devices, ranges, calls and operations of the run as a plan; the rows that tell what waited
 * for what. */
void sim_plan(struct sim *s);
void syn_sim(struct syn_plan *p);                /* all of it, by the options */

#endif
