/* hlo_int.h -- a dump during reading; shared by the hlo_*.c files, private to lib/xla. */
#ifndef NSX_XLA_HLO_INT_H
#define NSX_XLA_HLO_INT_H

#include "base/vec.h"
#include "protos/xla_hlo.pb-c.h"
#include "xla/cost.h"
#include "xla/hlo.h"
#include "xla/wire.h"

/* The kind of a transfer between devices; nsx_hlo_kind_name has the names. */
enum nsx_hlo_kind {
	NSX_HLO_NO_COMM,
	NSX_HLO_ALL_GATHER, NSX_HLO_ALL_REDUCE, NSX_HLO_PERMUTE, NSX_HLO_REDUCE_SCATTER, NSX_HLO_ALL_TO_ALL,
	NSX_HLO_RAGGED_ALL_TO_ALL, NSX_HLO_BROADCAST, NSX_HLO_REDUCE, NSX_HLO_SEND, NSX_HLO_RECV
};

/* The classes of opcodes for reading. */
enum nsx_hlo_class {
	NSX_HLO_PLAIN,
	NSX_HLO_COLLECTIVE,    /* communicates; its kind is set */
	NSX_HLO_CUSTOM,
	NSX_HLO_WRAPPER,       /* communicates when what it calls does: fusion, async-start */
	NSX_HLO_FOLLOW         /* calls what the start it waits for calls: async-update, async-done */
};

struct nsx_hlo_opcode {
	struct nsx_str     name;
	enum nsx_hlo_class cls;
	enum nsx_hlo_kind  kind;
	bool               embeds;   /* the computations it calls are never thunks of their own */
};

/* The properties of an opcode by name; those of an unknown one are empty. */
const struct nsx_hlo_opcode *nsx_hlo_opcode(struct nsx_str name);
/* Static. */
struct nsx_str nsx_hlo_kind_name(enum nsx_hlo_kind k);

/* One transfer, or the first of several with the bytes of all of its kind. */
struct nsx_hlo_comm {
	enum nsx_hlo_kind kind;
	int64_t           bytes;    /* -1: unknown */
	uint32_t          groups;   /* NSX_NONE: unknown, or no groups */
	bool              mixed;    /* there are some of another kind, which are not added */
};

/* Data that could not be interpreted, counted; hlo_dump.c has the messages. */
enum nsx_hlo_miss {
	NSX_HLO_CLASH, NSX_HLO_NO_SIZE, NSX_HLO_NO_ASSIGNMENT, NSX_HLO_BAD_ASSIGNMENT, NSX_HLO_BAD_GROUPS,
	    NSX_HLO_BAD_DEVICE,
	NSX_HLO_UNEQUAL, NSX_HLO_MIXED, NSX_HLO_BAD_FRAME, NSX_HLO_MANY_FRAMES, NSX_HLO_SAME_NAME, NSX_HLO_NO_NAME,
	NSX_HLO_NO_CALLEE, NSX_HLO_MANY_LOCS, NSX_HLO_SAME_COMP, NSX_HLO_NO_ENTRY, NSX_HLO_BAD_COST, NSX_HLO_LARGE_COST,
	    NSX_HLO_MISSES
};

/* The value for an instruction without transfer. */
#define NSX_HLO_SILENT { NSX_HLO_NO_COMM, -1, NSX_NONE, false }

struct nsx_hlo_call { int64_t comp; bool embedded; };

/* An instruction's position in the execution order of its computation. */
struct nsx_hlo_slot { int64_t comp, id; uint32_t at; };

struct nsx_hlo_comp {
	struct nsx_extent     span, name;
	int64_t             id, root;
	bool                fused, embedded, controlled, entry;
	uint32_t            pairs, npairs;   /* its instructions' places: in nsx_hlo_build.pair_refs */
	uint32_t            calls, ncalls;   /* of all its instructions: in nsx_hlo_build.calls */
	struct nsx_hlo_comm comm;            /* of its own instructions; with `resolved`, also of those that it calls */
	uint8_t             resolved;        /* 0 no, 1 in progress, 2 yes */
};

/* An instruction that may be executed as a thunk. Strings are numbers in nsx_hlo_build.strs, NSX_NONE: empty. */
struct nsx_hlo_cand {
	int64_t             id;
	uint32_t            name, opcode, scheduling_name, pair;
	uint32_t            comp;            /* index of its computation */
	uint32_t            calls, ncalls;
	bool                wrapper;
	bool                named;           /* thunks are named after it, even in a fusion */
	bool                root;            /* of its computation */
	struct nsx_hlo_comm comm;
};

/* An instruction as it is in the dump. Lists are in the graph of costs. */
struct nsx_hlo_raw {
	/* config: backend_config, wherever it is */
	struct nsx_extent span, name, opcode, shape, metadata, target, config;
	int64_t         id, number;
	uint32_t        operands, noperands, calls, ncalls;
	bool            shaped, placed;   /* shape and metadata are present */
};

/* OpMetadata; points into the dump. */
struct nsx_hlo_meta { struct nsx_str op_name, source_file, scheduling_name; int32_t line, frame; };

/* An opcode that has occurred. */
struct nsx_hlo_known_opcode {
	const struct nsx_hlo_opcode *op;   /* NULL: none yet */
	enum nsx_cost_kind           kind;
	uint32_t                     str;    /* its number in strs; NSX_NONE: not stored yet */
	size_t                       len;
	char                         name[24];
};

/* A source location that has occurred, and the bytes of its metadata: successive instructions often have the same. */
struct nsx_hlo_known_place { uint32_t len, pair; char bytes[248]; };

/* Logical ids to devices. */
struct nsx_hlo_devices {
	bool    known;
	int64_t replicas, partitions;
	int64_t *device;   /* [partition * replicas + replica] */
};

struct nsx_hlo_frames {
	NSX_VEC(uint32_t) files, functions;                             /* numbers in strs */
	NSX_VEC(struct { uint32_t file, function; int32_t line, column; }) places;
	NSX_VEC(struct { uint32_t place, parent, stack, seen; }) frames;   /* stack: NSX_NONE none, NSX_HLO_UNBUILT */
	uint32_t builds;
	uint64_t bytes;
};
enum { NSX_HLO_UNBUILT = UINT32_MAX - 1 };

struct nsx_hlo_build {
	struct nsx_dumpfile   *f;
	struct nsx_unpacker    u;
	struct nsx_intern      strs;
	struct nsx_str         module, fingerprint, entry_name;   /* in strs */
	int64_t                id, entry_id;
	bool                   has_entry_id;
	NSX_VEC(struct nsx_hlo_comp) comps;
	struct nsx_map         comp_by_id;
	NSX_VEC(struct nsx_hlo_cand) cands;
	size_t                 unfused;                            /* instructions outside of fused computations */
	NSX_VEC(struct nsx_hlo_call) calls;
	NSX_VEC(struct nsx_hlo_slot) schedule;
	NSX_VEC(uint32_t)      pair_refs;
	NSX_VEC(struct { uint32_t op_name, stack, stamp; }) pairs;   /* distinct places */
	struct nsx_map         pair_by_key;
	struct nsx_hlo_devices devices;
	struct nsx_hlo_frames  frames;
	NSX_VEC(uint32_t)      stacks, groups;                     /* by their number: in strs */
	struct nsx_map         stack_by_str, group_by_str;
	uint64_t               members;                            /* of all groups written */
	NSX_VEC(struct nsx_extent) payloads;                         /* of the module */
	struct nsx_hlo_known_opcode known[257];                    /* by hash; the last is that of no name */
	struct nsx_hlo_known_place places[128];                     /* by hash; len 0: none */
	struct nsx_costs       costs;
	int64_t                missed[NSX_HLO_MISSES];
};

static inline int
nsx_hlo_nomem(struct nsx_hlo_build *b)
{
	return nsx_dumpfile_nomem(b->f);
}

/* hlo_inst.c: the instruction at span, the metadata at span (valid until the next read of the dump), the properties of
 * an opcode. NSX_OK or NSX_ERR. */
int nsx_hlo_inst_read(struct nsx_hlo_build *b, struct nsx_extent span, struct nsx_hlo_raw *out);
int nsx_hlo_meta_read(struct nsx_hlo_build *b, struct nsx_extent span, struct nsx_hlo_meta *out);
struct nsx_hlo_known_opcode *nsx_hlo_known(struct nsx_hlo_build *b, struct nsx_str name);

/* hlo_source.c: the table of stack frames, which must be read before stacks are requested. */
int nsx_hlo_frames_read(struct nsx_hlo_build *b, struct nsx_extent span);
/* The number of an instruction's source location; NSX_NONE if it has none. NSX_OK or NSX_ERR. */
int nsx_hlo_pair(struct nsx_hlo_build *b, const struct nsx_hlo_meta *m, uint32_t *pair);
void nsx_hlo_frames_free(struct nsx_hlo_frames *fr);

/* hlo_schedule.c: read the schedule; sort it, after all is read; the position of an instruction, NSX_NONE if it is not
 * in the schedule. */
int nsx_hlo_schedule_read(struct nsx_hlo_build *b, struct nsx_extent span);
void nsx_hlo_schedule_sort(struct nsx_hlo_build *b);
uint32_t nsx_hlo_schedule_at(const struct nsx_hlo_build *b, int64_t comp, int64_t id);

/* hlo_groups.c */
int nsx_hlo_devices_read(struct nsx_hlo_build *b, struct nsx_extent span);
/* The participants of an instruction: *groups is a number in b->groups or NSX_NONE, *first the size of the first group,
 * 0 if unknown. NSX_OK or NSX_ERR. */
int nsx_hlo_groups(struct nsx_hlo_build *b, enum nsx_hlo_kind kind, const Nsysx__NsxHloParticipants *p,
                   uint32_t *groups, int64_t *first);

/* hlo_comm.c: the transfers of one computation. A pending instruction is one that may transfer. */
struct nsx_hlo_pending { struct nsx_extent span; const struct nsx_hlo_opcode *op; int64_t id; uint32_t cand; };
/* Fill the comm of the candidates that communicate, and add to *total. The whole computation is in the graph of costs,
 * which is closed. */
int nsx_hlo_transfers(struct nsx_hlo_build *b, const struct nsx_hlo_pending *pending, size_t n,
                      struct nsx_hlo_comm *total);
/* Add the transfers of one part of a computation or instruction to those of the parts before it. */
void nsx_hlo_comm_add(struct nsx_hlo_comm *total, const struct nsx_hlo_comm *part);
/* An instruction id without the number of its computation, which newer dumps have in its upper half. */
int64_t nsx_hlo_local_id(int64_t comp, int64_t id);

/* hlo_read.c: read the whole dump into b. */
int nsx_hlo_load(struct nsx_hlo_build *b);

/* hlo_reach.c: move the contents and calls of computations to h. NSX_OK or NSX_ERR. Free frees what was moved, or
 * nothing. */
int nsx_hlo_contents_keep(struct nsx_hlo_build *b, struct nsx_hlo *h);
/* The memory for a walk over that many computations; NULL when out of memory. */
struct nsx_hlo_walk *nsx_hlo_walk_new(uint32_t ncontents);
void nsx_hlo_walk_free(struct nsx_hlo_walk *w);   /* NULL allowed */
void nsx_hlo_contents_free(struct nsx_hlo *h);

/* hlo_dump.c: nsx_hlo_read of an open file. */
int nsx_hlo_parse(struct nsx_dumpfile *f, struct nsx_hlo *h, struct nsx_diags *diags);

/* Field numbers for walking without protobuf-c. */
enum {
	NSX_HLO_F_MODULE = 1,          /* HloProto */
	NSX_HLO_F_BUFFERS = 3,
	NSX_HLO_M_NAME = 1,            /* HloModuleProto */
	NSX_HLO_M_ENTRY_NAME = 2,
	NSX_HLO_M_COMPUTATION = 3,
	NSX_HLO_M_ID = 5,
	NSX_HLO_M_ENTRY_ID = 6,
	NSX_HLO_M_SCHEDULE = 7,
	NSX_HLO_M_DEVICES = 15,
	NSX_HLO_M_FRAMES = 17,
	NSX_HLO_M_ATTRIBUTES = 19,
	NSX_HLO_M_PAYLOADS = 22,
	NSX_HLO_C_NAME = 1,            /* HloComputationProto */
	NSX_HLO_C_INSTRUCTION = 2,
	NSX_HLO_C_ID = 5,
	NSX_HLO_C_ROOT = 6,
	NSX_HLO_C_FUSED = 7
};

#endif
