/* heap_replay.h -- the replay of a heap trace of a dump, event by event; private to heap.c. */
#ifndef NSX_XLA_HEAP_REPLAY_H
#define NSX_XLA_HEAP_REPLAY_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "xla/allocations.h"
#include "xla/heap_memory.h"
#include "xla/hlo_int.h"

/* Inconsistencies, counted. */
enum nsx_heap_miss {
	NSX_HEAP_CLASH, NSX_HEAP_UNKNOWN_BUFFER, NSX_HEAP_BAD_SIZE, NSX_HEAP_SAME_BUFFER, NSX_HEAP_UNKNOWN_KIND,
	NSX_HEAP_TWICE, NSX_HEAP_NOT_ALLOCATED, NSX_HEAP_NO_INSTRUCTION, NSX_HEAP_OTHER_MEMORY, NSX_HEAP_BAD_ALLOCATION,
	NSX_HEAP_NMISSES
};

struct nsx_heap_buffer {
	int64_t         id, size, color, inst;   /* inst: the instruction that defines it */
	struct nsx_extent name;             /* name of that instruction, in dumps that give names */
	struct nsx_extent event_name;       /* of the instruction that first allocates it */
	bool            has_inst;
	/* Valid for the trace whose number is `stamp`; otherwise the buffer is not live. */
	uint32_t        stamp;
	uint32_t        of;               /* buffer that this one is a reference to; NSX_NONE: not allocated */
	int64_t         refs;             /* references to this one */
};

struct nsx_heap;
struct nsx_heap_reading {
	struct nsx_dumpfile  *f;
	struct nsx_heap      *h;        /* which the replay does not use */
	struct nsx_arena     *arena;    /* of h */
	NSX_VEC(struct nsx_heap_buffer) buffers;
	struct nsx_map        by_id;
	NSX_VEC(struct nsx_extent) traces;
	struct nsx_allocations allocations;
	/* Of the current trace. */
	uint32_t              stamp;
	int64_t               bytes, color;
	NSX_VEC(uint32_t)     met;       /* buffers of this stamp */
	bool                  counting;  /* inconsistencies: each trace is replayed twice if live buffers are
	                                  * requested */
	int64_t               missed[NSX_HEAP_NMISSES];
};

/* Where a replay stores its results. */
struct nsx_heap_points { NSX_VEC(struct nsx_heap_point) v; };
struct nsx_heap_steps { NSX_VEC(struct nsx_heap_step) v; };

/* Replay a trace up to that step: into points and steps, unless they are NULL. NSX_OK, or NSX_ERR with the error of
 * r->f filled. */
int nsx_heap_replay(struct nsx_heap_reading *r, struct nsx_extent trace, int64_t until, struct nsx_heap_points *points,
                    struct nsx_heap_steps *steps);

/* The bytes of a name, copied to the arena. The same. */
int nsx_heap_name(struct nsx_heap_reading *r, struct nsx_extent span, struct nsx_str *out);

#endif
