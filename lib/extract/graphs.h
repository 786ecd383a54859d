/* graphs.h -- what ran inside the command buffers of one program: private to graphs*.c.
 *
 * A command buffer is launched as a CUDA graph. Traced by node, the operations of a launch are known, but their
 * kernels' names do not name instructions: XLA gives equal fusions one kernel. What an operation is, the first of three
 * sources tells: an execution of the same buffer that ran op by op (graphs_ref.c), XLA's list of thunks beside the dump
 * (graphs_list.c), a kernel's name that only one instruction can have (graphs_name.c). graphs.c asks them and makes the
 * thunks. */
#ifndef NSX_EXTRACT_GRAPHS_H
#define NSX_EXTRACT_GRAPHS_H

#include "extract/profile.h"
#include "xla/thunk_list.h"

/* Operations of one buffer that nothing but their place tells apart: kernels of one name, copies of one kind and size,
 * memsets of one size. */
struct gr_class {
	uint8_t  type;            /* enum nsx_op_type */
	uint32_t name;            /* in trace.names */
	uint32_t items, nitems;   /* those of the execution op by op: in gr_ref.items */
	uint32_t ninsts;          /* instructions that they are of */
	uint32_t cat;             /* of the list of thunks: in gr_list.cats, NSX_NONE: none */
	uint32_t only;            /* instruction of the profile, the only one whose kernel has this name; NSX_NONE: not
	                           * told */
	uint32_t left;            /* instruction of the profile that stands for those not told; NSX_NONE: not asked
	                           * yet */
	bool     sorted, asked;   /* cat is known; only is */
};

/* An operation of an execution op by op, in the order of launches. */
struct gr_item {
	uint32_t cls, thunk, inst;
	uint32_t nth;             /* of its instruction within its class */
	bool     joined;          /* its thunk has several */
};

struct gr_ref {
	NSX_VEC(struct gr_item) items;    /* by class, then order */
	NSX_VEC(struct nsx_sort_key) keys;
	NSX_VEC(struct gr_item) found;    /* before they are sorted */
	struct nsx_map counts;            /* (class, instruction): how many so far */
	struct nsx_map runs;              /* (instruction, thunk of a launch): slot */
	uint32_t       first, n;          /* thunks of the profile that it is made of */
};

/* Leaves of the list that are matched with nodes among themselves. */
struct gr_cat { uint32_t first, n; };

struct gr_list {
	struct nsx_thunk_list list;
	bool                  there;
	NSX_VEC(struct gr_cat) cats;      /* of the buffer at hand */
	NSX_VEC(uint32_t)     leaves;     /* instructions of the profile, by category, then order; NSX_NONE: nameless */
	NSX_VEC(struct nsx_sort_key) keys;
	struct nsx_map        by_name;    /* name of a kernel in trace.names: category */
};

/* Instructions of the dump by the name of their kernel in trace.names; two that could be meant: none. */
struct gr_names { struct nsx_map by_name; bool made; };

/* What an operation of a launch is found to be. */
struct gr_found {
	uint32_t       inst;      /* of the profile; NSX_NONE: not told */
	uint32_t       slot;      /* those of one slot make one thunk; NSX_NONE: a thunk of its own */
	enum ex_source source;
};

/* A launch: its operations by GPU start, as indices in trace.ops. */
struct gr_launch { uint32_t thunk, n; const uint32_t *ops; };

struct graphs {
	struct ex_profile    *p;
	const struct ex_dump *dump;       /* NULL: none */
	uint32_t              program, key;
	NSX_VEC(struct gr_class) classes; /* of the buffer at hand */
	struct nsx_map        by_class;
	struct gr_ref         ref;
	struct gr_list        list;
	struct gr_names       names;
	/* Of the launch at hand. */
	uint32_t             *cls;        /* by operation: class, NSX_NONE: no node of a graph */
	struct gr_found      *found;      /* by operation */
	struct nsx_sort_key  *order;      /* operations by class or category, then node, then start */
	uint32_t             *slots;      /* thunk of the profile by slot, NSX_NONE: not made yet */
	uint32_t              nslots, room;
	struct nsx_buf        text;
};

/* The class of an operation, made when it is new; NSX_NONE when out of memory. */
uint32_t nsx_graph_class_of(struct graphs *g, const struct nsx_gpu_op *op);

static inline struct nsx_str
gr_name(const struct graphs *g, uint32_t name)
{
	return name == NSX_NONE ? (struct nsx_str){ "", 0 } : nsx_intern_str(&g->p->trace.names, name);
}

/* The instruction of the profile that goes by that name in the dump, described; NSX_NONE when out of memory. */
uint32_t nsx_graph_inst(struct graphs *g, struct nsx_str name);

/* Whether kernels of that name communicate: the kind of collective, NULL: they do not. */
const char *nsx_graph_kind(struct graphs *g, struct nsx_str kernel);

/* The end of what has k[0] of keys[i] in common, and how many distinct k[1] that is. */
size_t nsx_graph_run(const struct nsx_sort_key *keys, size_t n, size_t i, size_t *nodes);

/* All false when out of memory. */

/* graphs_ref.c: gather the execution op by op of the buffer at hand, if there is one; tell what it tells of a launch
 * whose operations stand in g->order by class. Slots below ref.n are thunks of that execution. */
bool nsx_graph_ref_open(struct graphs *g);
bool nsx_graph_ref_tell(struct graphs *g, const struct gr_launch *l);
void nsx_graph_ref_free(struct gr_ref *r);

/* graphs_list.c: read the list beside the dump; take the part of the buffer at hand; tell. */
bool nsx_graph_list_read(struct graphs *g);
bool nsx_graph_list_open(struct graphs *g);
bool nsx_graph_list_tell(struct graphs *g, const struct gr_launch *l);
void nsx_graph_list_free(struct gr_list *l);

/* graphs_name.c: the only instruction of a class's kernel, into its `only`. */
bool nsx_graph_name_ask(struct graphs *g, struct gr_class *c);
void nsx_graph_names_free(struct gr_names *n);

#endif
