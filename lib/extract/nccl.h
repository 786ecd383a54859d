/* nccl.h -- private to extraction: NCCL's calls in NVTX ranges, with the data of their payloads, and the calls that
 * each operation executes.
 *
 *     ncclGroupStart   ncclSend    ncclRecv    ncclGroupEnd
 *                      1 KB to 1   1 KB from 1     launches ncclDevKernel_SendRecv
 *
 * A group's outermost End launches: the kernel's innermost range is that End, never a call with a payload. So the sweep
 * over a thread's ranges forms units: a single call, or an End with all calls since the group depth went from 0 to 1.
 * Here the kernel's unit has two calls, fused in one operation. */
#ifndef NSX_EXTRACT_NCCL_H
#define NSX_EXTRACT_NCCL_H

#include "base/map.h"
#include "base/vec.h"
#include "extract/profile.h"

/* Kinds of calls that launch something; nsx_nccl_kinds has their names. */
enum nccl_kind {
	NCCL_ALL_REDUCE, NCCL_ALL_GATHER, NCCL_REDUCE_SCATTER, NCCL_BROADCAST, NCCL_REDUCE, NCCL_ALL_TO_ALL,
	    NCCL_GATHER, NCCL_SCATTER,
	NCCL_SEND, NCCL_RECV, NCCL_KINDS
};
extern const char *const nsx_nccl_kinds[NCCL_KINDS];

/* Data of its payload; -1: unknown. */
struct nccl_call { uint64_t comm; int64_t bytes, peer; uint32_t range; uint8_t kind; bool has_comm, wanted; };

/* Calls [first, first + n) that are launched together. */
struct nccl_unit { uint32_t first, n; };

/* The membership of a device in a communicator: device NSX_NONE if the call does not record it, or it ran nothing; -1:
 * unknown. */
struct nccl_place {
	uint64_t comm;
	uint32_t process, device;
	int64_t  cuda, rank, ranks;
	struct nsx_str name;   /* what the framework calls it; empty: not known */
};

struct ex_nccl {
	/* Empty once operations have their data (op_carried). */
	uint32_t               *unit_at;    /* by range: the unit that operations launched in it execute, NSX_NONE */
	NSX_VEC(struct nccl_call)    calls;
	NSX_VEC(struct nccl_unit)    units;

	NSX_VEC(struct nccl_place)   places;     /* by communicator, process and CUDA ordinal */
	struct nsx_intern       carried;    /* each a struct ex_carried */
	uint32_t               *op_carried; /* by operation: index in carried, NSX_NONE */
	struct nsx_map          ranks;      /* communicator -> index in places of one with the number of ranks */
};

/* Find calls, units and communicators among the ranges of p. NSX_OK, or NSX_ERR with p->err filled. */
int nsx_nccl_find_calls(struct ex_profile *p);

/* Read the payloads of the calls that are needed. NSX_OK or NSX_ERR. */
int nsx_nccl_read_calls(struct ex_profile *p);

/* In nccl_known.c: p->nccl is made of what the source says of each operation. NSX_OK or NSX_ERR. */
int nsx_nccl_take_known(struct ex_profile *p);

/* The number of ranks of a communicator, 0: unknown; the rank of a device in it, -1: unknown. */
int64_t nsx_nccl_ranks(const struct ex_nccl *n, uint64_t comm);
int64_t nsx_nccl_rank(const struct ex_profile *p, uint64_t comm, uint32_t device);

#endif
