/* build.h -- rows of a profile, in any order, to a trace: sorts them, joins operations and calls by correlation id,
 * finds the innermost range around each call, and projects ranges onto the GPU. For sources whose files are read once
 * from front to back; exports of Nsight Systems have a path of their own, which reads tables in parallel.
 *
 *     range  1000..1100  step            call 1010..1015  id 7         op 1020..1080  id 7
 *
 * Here the call launched the operation, both are in the range, and the range's span on the GPU is 1020..1080. */
#ifndef NSX_SOURCE_BUILD_H
#define NSX_SOURCE_BUILD_H

#include "base/diag.h"
#include "base/vec.h"
#include "source/pile.h"
#include "source/trace.h"

/* The correlation id of a row that has none. */
#define NSX_NO_CORRELATION INT64_MIN

/* Rows as a reader gives them: ns on the source's clock, end >= start; ids of the source; names in trace.names, domains
 * in trace.domains. */
struct nsx_build_range { int64_t start, end, id; uint64_t gtid; uint32_t name; uint8_t kind; uint16_t domain; };
struct nsx_build_call  {
	int64_t  start, end, id, correlation;
	uint64_t gtid;
	uint32_t name;
	bool     silent;   /* it launches and is no record: where a source has none */
	bool     apart;    /* what it launches belongs to no range, although it is in some */
};
struct nsx_build_op {
	int64_t  start, end, id, correlation;
	int64_t  bytes, graph_node, stream;   /* as in nsx_gpu_op */
	uint32_t device, name, comm;          /* of nsx_build_device; in trace.names; in trace.comms, NSX_NONE: none */
	uint32_t inst;                        /* 1 + its instruction in trace.names; 0: its range says it, or nothing */
	uint8_t  type, src, dst;
	bool     peer;
};
/* A kernel of which no more is known. */
static inline struct nsx_build_op
nsx_build_op_of(int64_t start, int64_t end, int64_t id, int64_t correlation)
{
	return (struct nsx_build_op){ .start = start, .end = end, .id = id, .correlation = correlation, .bytes = -1,
	                              .graph_node = -1, .comm = NSX_NONE, .type = NSX_OP_KERNEL,
	                              .src = NSX_MEMORY_KINDS, .dst = NSX_MEMORY_KINDS };
}

struct nsx_build_wait { int64_t cuda, stream, at; };   /* cuda: ordinal of the device */

/* Open, give rows, finish, free. t: empty but for what the reader itself sets, which is anything that the rows do not
 * determine. */
struct nsx_build {
	struct nsx_trace *t;
	struct nsx_pile   ranges, calls, ops;
	NSX_VEC(struct nsx_overhead)   overheads;
	NSX_VEC(struct nsx_build_wait) waits;
	NSX_VEC(struct nsx_device)     devices;     /* in order of first use */
	struct nsx_map    device_of;
	bool              insts;       /* an operation has its instruction */
	int64_t           origin;      /* the least start of all rows; INT64_MAX: none yet */
	/* Counted by nsx_build_finish, for diags. */
	int64_t           orphans[NSX_OP_TYPES];    /* operations whose call is not recorded */
	int64_t           shared;      /* calls with the correlation id of an earlier one: they launched nothing */
	int64_t           ambiguous;   /* operations whose correlation id calls of several processes have */
	int64_t           numbered;    /* nodes of graphs that were given numbers */
};

void nsx_build_open(struct nsx_build *b, struct nsx_trace *t);

/* The same for the profile of a file: *t is empty but for its name, which is that of the file without the first of the
 * endings, ended by NULL, that it has, and for the domain 0, which is none. False when out of memory. */
bool nsx_build_begin(struct nsx_build *b, struct nsx_trace *t, const char *path, const char *const *endings);

/* After nsx_build_finish: what the profile is. base: UTC ns at which the source's times count from, INT64_MIN: not
 * known; versions in brackets behind the product, if there are any. False when out of memory. */
bool nsx_build_about(struct nsx_build *b, int64_t base, const char *product, struct nsx_str versions,
                     struct nsx_str schema);

/* The number of a device, by its CUDA ordinal; NSX_NONE when out of memory. What else is known of it the reader writes
 * into b->devices. */
uint32_t nsx_build_device(struct nsx_build *b, int64_t cuda);

/* Add a row; false when out of memory. Ranges of a thread that have one interval come in the order of their ids. Waits
 * on devices without operations are forgotten. */
bool nsx_build_range(struct nsx_build *b, const struct nsx_build_range *row);
bool nsx_build_call(struct nsx_build *b, const struct nsx_build_call *row);
bool nsx_build_op(struct nsx_build *b, const struct nsx_build_op *row);
bool nsx_build_overhead(struct nsx_build *b, const struct nsx_overhead *row);
bool nsx_build_wait(struct nsx_build *b, const struct nsx_build_wait *row);

/* Times count from here or earlier, although there is no row. */
void nsx_build_reach(struct nsx_build *b, int64_t start);

/* Make the trace of all rows; times then count from b->origin. Of opts: busy, ops, issues, calls. Of several calls with
 * one correlation id the one that starts first, of these the one of the lowest id, launched its operations; an id that
 * calls of several processes have joins nothing. Nodes of a CUDA graph without numbers get 1, 2, ... by start within
 * their launch. NSX_OK, or NSX_ERR with err filled: out of memory, or more rows than fit. */
int nsx_build_finish(struct nsx_build *b, const struct nsx_trace_opts *opts, const char *path, struct nsx_err *err);
void nsx_build_free(struct nsx_build *b);

/* What nsx_build_finish counted, as diags. input: what the rows are from, "trace". */
void nsx_build_report(const struct nsx_build *b, const char *who, const char *input, struct nsx_diags *diags);

#endif
