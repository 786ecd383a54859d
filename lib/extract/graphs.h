/* graphs.h -- the operations inside the command buffers of one program: private to graphs*.c.
 *
 * A command buffer is launched as a CUDA graph. Traced by node, the operations of a launch are known, but their
 * kernels' names do not name instructions: XLA gives equal fusions one kernel. The instruction of an operation is found
 * in the first of three sources that has it: an execution of the same buffer that ran op by op (graphs_ref.c), XLA's
 * list of thunks written with the dump (graphs_list.c), a kernel name that only one instruction can have
 * (graphs_name.c). graphs.c combines them and makes the thunks. */
#ifndef NSX_EXTRACT_GRAPHS_H
#define NSX_EXTRACT_GRAPHS_H

#include "extract/profile.h"
#include "xla/thunk_list.h"

/* Operations of one buffer that differ only in their position: kernels of one name, copies of one kind and size,
 * memsets of one size. */
struct gr_class {
	uint8_t  type;            /* enum nsx_op_type */
	uint32_t name;            /* in trace.names */
	uint32_t items, nitems;   /* those of the execution op by op: in gr_ref.items */
	uint32_t ninsts;          /* number of their instructions */
	uint32_t cat;             /* of the list of thunks: in gr_list.cats, NSX_NONE: none */
	uint32_t only;            /* instruction of the profile, the only one whose kernel has this name; NSX_NONE:
	                           * unknown */
	uint32_t left;            /* instruction of the profile used for those that cannot be assigned; NSX_NONE: not
	                           * determined yet */
	bool     sorted, asked;   /* cat has been determined; only has */
};

/* An operation of an execution op by op, in the order of launches. */
struct gr_item {
	uint32_t cls, thunk, inst;
	uint32_t nth;             /* of its instruction within its class */
	bool     joined;          /* its thunk has several operations */
};

struct gr_ref {
	NSX_VEC(struct gr_item) items;    /* by class, then order */
	NSX_VEC(struct nsx_sort_key) keys;
	NSX_VEC(struct gr_item) found;    /* before they are sorted */
	struct nsx_map counts;            /* (class, instruction): number so far */
	struct nsx_map runs;              /* (instruction, thunk of a launch): slot */
	uint32_t       first, n;          /* thunks of the profile for it */
};

/* Leaves of the list that are matched with nodes as one category. */
struct gr_cat { uint32_t first, n; };

struct gr_list {
	struct nsx_thunk_list list;
	bool                  there;
	NSX_VEC(struct gr_cat) cats;      /* of the current buffer */
	NSX_VEC(uint32_t)     leaves;     /* instructions of the profile, by category, then order; NSX_NONE: nameless */
	NSX_VEC(struct nsx_sort_key) keys;
	struct nsx_map        by_name;    /* name of a kernel in trace.names: category */
};

/* Instructions of the dump by the name of their kernel in trace.names; none if two are possible. */
struct gr_names { struct nsx_map by_name; bool made; };

/* What a stream ran last in a launch: the instruction by its name in trace.names, and of the profile; its slot. */
struct gr_last { int64_t stream; uint32_t name, inst, slot; };

/* The instruction found for an operation of a launch. */
struct gr_found {
	uint32_t       inst;      /* of the profile; NSX_NONE: unknown */
	uint32_t       slot;      /* operations of one slot make one thunk; NSX_NONE: a thunk for this one alone */
	enum ex_source source;
};

/* A launch: its operations by GPU start, as indices in trace.ops. */
struct gr_launch { uint32_t thunk, n; const uint32_t *ops; };

struct graphs {
	struct ex_profile    *p;
	const struct ex_dump *dump;       /* NULL: none */
	uint32_t              program, key;
	NSX_VEC(struct gr_class) classes; /* of the current buffer */
	struct nsx_map        by_class;
	struct gr_ref         ref;
	struct gr_list        list;
	struct gr_names       names;
	/* Of the current launch. */
	uint32_t             *cls;        /* by operation: class, NSX_NONE: not a node of a graph */
	struct gr_found      *found;      /* by operation */
	struct nsx_sort_key  *order;      /* operations by class or category, then node, then start */
	uint32_t             *slots;      /* thunk of the profile by slot, NSX_NONE: not created yet */
	uint32_t              nslots, room;
	struct nsx_buf        text;
};

/* The class of an operation, created if it is new; NSX_NONE when out of memory. */
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

/* The end of the run of keys with the k[0] of keys[i], and the number of distinct k[1] in it. */
size_t nsx_graph_run(const struct nsx_sort_key *keys, size_t n, size_t i, size_t *nodes);

/* All return false when out of memory. */

/* graphs_ref.c: read the execution op by op of the current buffer, if there is one; assign the operations of a launch,
 * which are in g->order by class. Slots below ref.n are thunks of that execution. */
bool nsx_graph_ref_open(struct graphs *g);
bool nsx_graph_ref_tell(struct graphs *g, const struct gr_launch *l);
void nsx_graph_ref_free(struct gr_ref *r);

/* graphs_list.c: read the list written with the dump; select the part of the current buffer; assign the operations of a
 * launch. */
bool nsx_graph_list_read(struct graphs *g);
bool nsx_graph_list_open(struct graphs *g);
bool nsx_graph_list_tell(struct graphs *g, const struct gr_launch *l);
void nsx_graph_list_free(struct gr_list *l);

/* graphs_name.c: store the only instruction of a class's kernel in its `only`. */
bool nsx_graph_name_ask(struct graphs *g, struct gr_class *c);
void nsx_graph_names_free(struct gr_names *n);

#endif
