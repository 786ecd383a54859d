/* host.h -- the host's side of loading: every call as a record, overheads, waits for events; private to lib/nsys.
 *
 *   SYNCHRONIZATION, OVERHEAD -> keys: (process, correlation id) whose calls are     host.c, before RUNTIME is read
 *     needed by id
 *   RUNTIME -> the call of each key, and every call                                  runtime.c, host_calls.c
 *   calls by thread, with their ranges, names and lost time                          host_calls.c, around.c
 *   waits between one operation's call and the next one's                            host.c
 *
 * All that return int return NSX_OK, or NSX_ERR with l->err filled. */
#ifndef NSX_NSYS_HOST_H
#define NSX_NSYS_HOST_H

#include "source/launches.h"
#include "nsys/load.h"

/* The call of a key: the one that started first; if several did, the one of the lowest row. */
struct nsx_key_call { struct nsx_issue call; uint32_t name; /* in names.list */ };

/* A row of SYNCHRONIZATION. event: as CUDA numbers it; id: eventSyncId, -1: none. inferred: its device is not the one
 * that the row names. */
struct nsx_sync { int64_t stream, event, id; uint32_t device, key; bool inferred; };
/* A row of CUDA_EVENT: an event was recorded in a stream. */
struct nsx_event_row { int64_t stream, event, id; uint32_t key; };

/* An overhead as read, its name by string id in loader.ids. */
struct nsx_raw_overhead { struct nsx_overhead o; uint32_t key; };

/* An overhead whose class was found by the launch that it lies in, a number of an issue. */
struct nsx_judged { uint32_t issue; int64_t start, end; uint8_t class; };

/* A call as read from a part of RUNTIME; names and threads are the part's. */
struct nsx_part_host_call { int64_t start, end, id; uint32_t name, thread, launch; };
/* The call of a key, as read. */
struct nsx_part_key_call { struct nsx_issue call; uint32_t key, name; };

/* The data of a thread in a part of RUNTIME, in addition to nsx_track; by track. */
struct nsx_part_thread { uint32_t process;   /* index among the keys' processes */ uint32_t n, to; };

enum { NSX_NAME_CACHE = 256 };

/* The host's side of a part of RUNTIME. */
struct nsx_host_part {
	struct nsx_pile calls;     /* struct nsx_part_host_call */
	struct nsx_pile keys;      /* struct nsx_part_key_call */
	struct nsx_ids  names;     /* string ids */
	struct { int64_t id; uint32_t name; bool set; } cache[NSX_NAME_CACHE];
	NSX_VEC(struct nsx_part_thread) threads;
	uint64_t        no_thread;  /* calls without a thread */
};

struct nsx_host {
	struct nsx_map      process_map;   /* globalPid -> number of the process among keys */
	uint32_t            nprocesses;
	struct nsx_launches keys;
	NSX_VEC(struct nsx_key_call) key_calls;
	NSX_VEC(struct nsx_sync) syncs;
	NSX_VEC(struct nsx_event_row) events;
	NSX_VEC(struct nsx_raw_overhead) overheads;
	NSX_VEC(struct nsx_judged) judged;
	struct nsx_ids      names;         /* string ids of calls' names */
	uint32_t           *name_ids;      /* of those, the numbers in loader.ids */
	uint32_t           *launch_ops;    /* by launch: operations */
	bool               *launch_back;   /* by launch: an operation copies from a device to pageable memory */
	uint32_t            back_name;     /* name of such copies in trace.names; NSX_NONE: there are none */
	uint64_t            bad, backward, no_thread;   /* rows of overheads */
};

/* Before RUNTIME is read. */
int nsx_host_keys(struct nsx_loader *l);

/* For a row of RUNTIME: the data of its thread (track), its key (NSX_NONE: none). NULL, NSX_ERR: out of memory. */
struct nsx_part_thread *nsx_host_thread(const struct nsx_loader *l, struct nsx_host_part *p, uint32_t track,
                                        uint64_t gtid);
static inline uint32_t
nsx_host_key(const struct nsx_host *h, const struct nsx_part_thread *t, int64_t id)
{
	return t->process == NSX_NONE ? NSX_NONE : nsx_launch_find(&h->keys, t->process, id);
}
uint32_t nsx_host_name(struct nsx_host_part *p, int64_t string_id);

/* After RUNTIME was read: the parts' calls and keys into t and l->host; tracks are the parts' threads. */
int nsx_host_join(struct nsx_loader *l, struct nsx_host_part *const *parts, const struct nsx_tracks *const *tracks,
                  int n);
/* After names are read and operations finished: fills everything in the trace except processes. */
int nsx_host_finish(struct nsx_loader *l);
void nsx_host_part_free(struct nsx_host_part *p);
void nsx_host_free(struct nsx_loader *l);

/* Whether a, rather than b, is the call that issued an operation. */
static inline bool
nsx_issue_before(const struct nsx_issue *a, const struct nsx_issue *b)
{
	return b->start > b->end || a->start < b->start || (a->start == b->start && a->id < b->id);
}

/* In host_calls.c: the parts' calls by thread; then names of calls, their ranges, operations and lost time. */
int nsx_host_calls_join(struct nsx_loader *l, struct nsx_host_part *const *parts,
                        const struct nsx_tracks *const *tracks, int n,
                        uint32_t *const *names);
int nsx_host_calls_finish(struct nsx_loader *l);
/* In unknown.c: the classes of overheads whose type is not known. NSX_OK or NSX_ERR. */
int nsx_host_judge_unknown(struct nsx_loader *l);
/* An operation of the launch, with its name unless it is a kernel. */
void nsx_host_issued(struct nsx_loader *l, uint32_t launch, const struct nsx_gpu_op *op);

/* The index of the call of that row; NSX_NONE if it was dropped. */
uint32_t nsx_host_call_of(const struct nsx_trace *t, const struct nsx_issue *issue);

/* In await.c: which operations each operation and call awaited. After calls and operations are finished. */
int nsx_host_awaits(struct nsx_loader *l);

#endif
