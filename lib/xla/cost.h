/* cost.h -- the work of instructions: floating-point operations of dots and convolutions, results of scalar arithmetic,
 * bytes that must move. All numbers are lower bounds, exact in 64 bits; instructions whose cost does not fit, is
 * malformed or unknown are not modelled. Private to lib/xla.
 *
 * A computation is read once into a graph with a node for each instruction. Then its own work is summed, and the
 * computations that it calls are listed as terms, because computations may be in any order in the dump. When all have
 * been read the terms are added, each computation once.
 *
 * Example: fusion f(p: f32[8,4]) { c = f32[] constant; s = slice(p): f32[2,4]; ROOT r = reduce(s, c, add): f32[2] }.
 * add() has vector 1, so r has (8 - 2) x 1 = 6. All 2 elements of r are needed, so 8 of s, so 8 of p: 32 bytes are
 * read, not the 128 of p, and 8 written. The fusion's cost is flops 0, vector 6, mem_bytes 40. */
#ifndef NSX_XLA_COST_H
#define NSX_XLA_COST_H

#include "base/map.h"
#include "base/num.h"
#include "base/str.h"
#include "base/vec.h"
#include "xla/hlo_work.h"
#include "xla/wire.h"

/* Why there is no cost. If there are several reasons, the last one in this order is used. */
enum nsx_cost_state {
	NSX_COST_OK,
	NSX_COST_OVERFLOW,   /* a number needs more than 64 bits */
	NSX_COST_BAD,        /* the dump contradicts itself, or lacks required data */
	NSX_COST_UNKNOWN     /* an operation that is not modelled */
};

/* Keep the later of two reasons. */
static inline void
nsx_cost_worse(enum nsx_cost_state *s, enum nsx_cost_state other)
{
	if (other > *s)
		*s = other;
}

/* a * b and a + b of non-negative numbers; 0 with *s set if the result does not fit. */
static inline int64_t
nsx_cost_mul(int64_t a, int64_t b, enum nsx_cost_state *s)
{
	int64_t r;

	if (__builtin_mul_overflow(a, b, &r)) {
		nsx_cost_worse(s, NSX_COST_OVERFLOW);
		return 0;
	}
	return r;
}

static inline int64_t
nsx_cost_add(int64_t a, int64_t b, enum nsx_cost_state *s)
{
	int64_t r;

	if (__builtin_add_overflow(a, b, &r)) {
		nsx_cost_worse(s, NSX_COST_OVERFLOW);
		return 0;
	}
	return r;
}

/* ---- shapes: cost_shape.c */

/* An array. dims: in nsx_cost_graph.dims. */
struct nsx_cost_leaf {
	int64_t  elements, bytes, bits;   /* bits: of one element */
	uint32_t dims, ndims;
	int32_t  type;
};

/* An array, or a tuple and its elements. */
struct nsx_cost_shape {
	int64_t             elements, bytes;   /* of all arrays; 0 unless state is NSX_COST_OK */
	int64_t             first_bytes;       /* of the tuple's first element, or of the array; -1: unknown */
	uint32_t            leaf, nleaves;     /* in nsx_cost_graph.leaves */
	enum nsx_cost_state state;
	bool                tuple;
	bool                host;              /* part of it is in host memory */
};

struct nsx_cost_graph;
/* The shape at span. NSX_OK, or NSX_ERR with f->err filled: damaged, nested too deep, out of memory. *clashes counts
 * fields of an unexpected wire type, which are skipped. */
int nsx_cost_shape_read(struct nsx_cost_graph *g, struct nsx_dumpfile *f, struct nsx_extent span,
                        struct nsx_cost_shape *out, int64_t *clashes);

/* ---- opcodes: cost_op.c */

enum nsx_cost_kind {
	NSX_COST_OTHER,         /* an unknown opcode */
	NSX_COST_NOTHING,       /* no work, no bytes */
	NSX_COST_PARAMETER, NSX_COST_CONSTANT, NSX_COST_TUPLE, NSX_COST_ELEMENT, NSX_COST_BITCAST,
	NSX_COST_ARITHMETIC,    /* one operation per element */
	NSX_COST_MOVE,          /* moves its elements */
	NSX_COST_MAKE,          /* has no input: iota */
	NSX_COST_RANDOM,
	NSX_COST_SLICE, NSX_COST_DYNAMIC_SLICE, NSX_COST_DYNAMIC_UPDATE, NSX_COST_GATHER, NSX_COST_SCATTER,
	NSX_COST_BROADCAST, NSX_COST_CONCATENATE, NSX_COST_PAD,
	NSX_COST_REDUCE, NSX_COST_REDUCE_WINDOW, NSX_COST_SELECT_SCATTER, NSX_COST_MAP,
	NSX_COST_DOT, NSX_COST_CONVOLUTION, NSX_COST_CUSTOM,
	NSX_COST_FUSION, NSX_COST_CALL, NSX_COST_ASYNC, NSX_COST_COPY_START
};

/* Properties of an opcode. */
enum nsx_cost_kind nsx_cost_kind_of(struct nsx_str opcode);

/* Properties of a custom call's target. */
enum nsx_cost_target {
	NSX_COST_NO_TARGET, NSX_COST_GEMM, NSX_COST_CONV_FORWARD, NSX_COST_CONV_INPUT, NSX_COST_CONV_FILTER,
	    NSX_COST_ATTENTION
};
struct nsx_cost_custom { enum nsx_cost_target target; bool backward, f8; };
struct nsx_cost_custom nsx_cost_target_of(struct nsx_str target);

/* ---- the graph */

/* Properties of a dot, a convolution or a windowed operation that do not follow from its operands. Lists are in
 * nsx_cost_graph.numbers. */
struct nsx_cost_list { uint32_t first, n; };
struct nsx_cost_work {
	struct nsx_cost_list contracting;                      /* of the left side */
	struct nsx_cost_list window;                           /* NSX_COST_W_NUMBERS a dimension, enum
	                                                        * nsx_cost_window */
	struct nsx_cost_list input, kernel, output;            /* spatial dimensions, of the forward convolution */
	int64_t input_batch, input_feature, output_feature;    /* dimensions */
	int64_t feature_groups, batch_groups;
	int64_t algorithm;                                     /* of PrecisionConfig; 0: not set */
	bool    highest;                                       /* some operand's precision is HIGHEST */
	struct nsx_cost_list scores;                           /* attention: sizes of the intermediate tensor */
	int64_t sliding_window;                                /* 0: none */
	bool    causal;
	struct nsx_cost_custom custom;
};
enum nsx_cost_window { NSX_COST_W_SIZE, NSX_COST_W_STRIDE, NSX_COST_W_LOW, NSX_COST_W_DILATION, NSX_COST_W_BASE,
                       NSX_COST_W_NUMBERS };

struct nsx_cost_node {
	int64_t               id;
	struct nsx_cost_shape shape;
	enum nsx_cost_kind    kind;
	enum nsx_cost_state   state;       /* of what was read */
	bool                  shaped;
	uint32_t              operands, noperands;   /* in nsx_cost_graph.operands: ids, and after closing nodes or
	                                              * -1 */
	uint32_t              calls, ncalls;         /* in nsx_cost_graph.calls */
	uint32_t              work;                  /* in nsx_cost_graph.works; NSX_NONE: none */
	uint32_t              cand;                  /* the candidate that this instruction is; NSX_NONE: none */
	int64_t               number;                /* of a parameter */
};

/* One computation; cleared for the next one, its memory kept. {0} is empty. */
/* A shape of one array that has occurred, and its encoded bytes: a dump has few distinct shapes, each many times. */
enum { NSX_COST_KNOWN_DIMS = 6, NSX_COST_KNOWN_BYTES = 64, NSX_COST_KNOWN = 128 };
struct nsx_cost_known {
	struct nsx_cost_shape shape;
	struct nsx_cost_leaf  leaf;
	int64_t               dims[NSX_COST_KNOWN_DIMS];
	size_t                len;      /* 0: none */
	char                  bytes[NSX_COST_KNOWN_BYTES];
};

struct nsx_cost_graph {
	NSX_VEC(struct nsx_cost_node) nodes;
	NSX_VEC(struct nsx_cost_leaf) leaves;
	NSX_VEC(struct nsx_cost_work) works;
	struct nsx_ints      dims, operands, calls, numbers;
	/* Ids to nodes. A slot belongs to the current computation if its stamp does. */
	struct { int64_t id; uint32_t node, stamp; } *slots;
	size_t               nslots;
	uint32_t             stamp;
	int64_t              comp;
	bool                 twice;      /* an id occurs twice */
	NSX_VEC(uint32_t)    order;      /* once closed: all nodes, operands before their users */
	NSX_VEC(bool)        numbered;   /* of parameters */
	/* Of cost_fusion.c, by node. */
	NSX_VEC(struct nsx_cost_need { int64_t need; uint32_t base; bool reached, in_place, source; }) needs;
	struct nsx_cost_known known[NSX_COST_KNOWN];   /* by hash */
	int64_t              taps;       /* of convolutions, in the whole dump: the work of counting them is bounded */
};

void nsx_cost_graph_reset(struct nsx_cost_graph *g, int64_t comp);
void nsx_cost_graph_free(struct nsx_cost_graph *g);
/* After all nodes were added: operand ids become nodes. False when out of memory. */
bool nsx_cost_graph_close(struct nsx_cost_graph *g);
/* The node of an id after closing; NSX_NONE if there is none. */
uint32_t nsx_cost_graph_find(const struct nsx_cost_graph *g, int64_t id);

/* Operand i of n: NULL if there is none. */
static inline const struct nsx_cost_node *
nsx_cost_operand(const struct nsx_cost_graph *g, const struct nsx_cost_node *n, uint32_t i)
{
	return i < n->noperands && g->operands.p[n->operands + i] >= 0 ? &g->nodes.p[g->operands.p[n->operands + i]]
	       : NULL;
}

/* The first array of a node's shape; NULL if it has none. */
static inline const struct nsx_cost_leaf *
nsx_cost_first(const struct nsx_cost_graph *g, const struct nsx_cost_node *n)
{
	return n && n->shape.state == NSX_COST_OK && n->shape.nleaves ? &g->leaves.p[n->shape.leaf] : NULL;
}

/* cost_read.c: the work of the instruction at inst, which is node n, with the custom call's target and backend_config,
 * where they matter. NSX_OK, or NSX_ERR with f->err filled. */
int nsx_cost_work_read(struct nsx_cost_graph *g, struct nsx_unpacker *u, struct nsx_extent inst,
                       struct nsx_extent config,
                       struct nsx_cost_custom custom,
                       struct nsx_cost_node *n);

/* ---- dots, convolutions, attention: cost_dot.c, cost_config.c */

struct nsx_cost_flops { int64_t flops; enum nsx_hlo_math math; enum nsx_cost_state state; };
struct nsx_cost_flops nsx_cost_dot(const struct nsx_cost_graph *g, const struct nsx_cost_node *n);
struct nsx_cost_flops nsx_cost_convolution(struct nsx_cost_graph *g, const struct nsx_cost_node *n);
/* Of a custom call, of either kind. */
struct nsx_cost_flops nsx_cost_custom(struct nsx_cost_graph *g, const struct nsx_cost_node *n);

/* The number of pairs of an output and a tap that use an element of the input, along one dimension: i = output * stride
 * - low + tap * dilation is a multiple of base, and 0 <= i / base < input. The number of steps that counting takes is
 * added to *steps. Sizes are not negative; strides and dilations are positive. */
int64_t nsx_cost_pairs(int64_t input, int64_t taps, int64_t outputs, const int64_t *window, int64_t *steps,
                       enum nsx_cost_state *s);

/* Fill w from the JSON of a backend_config with what the target needs. False: it lacks that, or is not JSON; false too
 * when memory runs out, with *nomem set. */
bool nsx_cost_config(struct nsx_cost_graph *g, struct nsx_str json, struct nsx_cost_work *w, bool *nomem);

/* ---- sums: cost.c, cost_fusion.c */

/* Work per execution: the flops of a computation once, and `vector` times its vector. */
struct nsx_cost_term { int64_t comp, vector; };

/* Of an instruction or a computation; a computation's terms are those of its instructions. */
struct nsx_cost_sum {
	enum nsx_cost_state state;
	int64_t             flops[NSX_HLO_MATHS], vector, bytes;
};

/* The owner of an instruction's cost. */
enum nsx_cost_from { NSX_COST_OWN, NSX_COST_OF_CALLEE, NSX_COST_OF_ROOT };

/* Of a candidate. */
struct nsx_cost_inst {
	int64_t             flops, vector, bytes, callee;
	uint32_t            terms, nterms;
	uint32_t            operands;
	enum nsx_hlo_math   math;
	enum nsx_cost_state state;
	enum nsx_cost_from  from;
};

struct nsx_cost_comp {
	struct nsx_cost_sum sum;
	uint32_t            terms, nterms;
	uint32_t            parameters, root;   /* root: its candidate, NSX_NONE if there is none */
	uint8_t             resolved;           /* 0 no, 1 under way, 2 yes */
};

/* Of a dump. {0} is empty. */
struct nsx_costs {
	struct nsx_cost_graph graph;
	NSX_VEC(struct nsx_cost_comp) comps;    /* by computation */
	NSX_VEC(struct nsx_cost_inst) insts;    /* by candidate */
	NSX_VEC(struct nsx_cost_term) terms;
	NSX_VEC(struct { uint32_t comp, next; }) open;
};
void nsx_costs_free(struct nsx_costs *c);

/* The bytes of a node's results: of a library call without its workspace, of an instruction that writes updates into
 * operand 0 those of the updates. */
int64_t nsx_cost_output_bytes(const struct nsx_cost_graph *g, const struct nsx_cost_node *n);
int64_t nsx_cost_update_bytes(const struct nsx_cost_graph *g, const struct nsx_cost_node *n, enum nsx_cost_state *s);

/* The bytes that a computation with result node root reads and writes when it is fused. Its operands are all present.
 * *nomem is set when memory runs out. */
int64_t nsx_cost_fused_bytes(struct nsx_cost_graph *g, uint32_t root, enum nsx_cost_state *s, bool *nomem);

/* Sum up the graph, which is closed, as the next computation; root is the id of its result instruction; insts has an
 * element for each of its candidates. False when out of memory. */
bool nsx_costs_add(struct nsx_costs *c, int64_t root);

/* The cost of candidate i. comp_of: maps the ids of computations to their index. *s is the reason if there is none.
 * False when out of memory. */
bool nsx_costs_of(struct nsx_costs *c, const struct nsx_map *comp_of, uint32_t i, struct nsx_hlo_cost *out,
                  enum nsx_cost_state *s);

#endif
