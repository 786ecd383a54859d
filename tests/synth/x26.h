/* x26.h -- programs as XLA of 2026 runs them: a tree of thunks, some of them in command buffers, which run op by op the
 * first time and as CUDA graphs after that. Shared by x26*.c. */
#ifndef SYNTH_X26_H
#define SYNTH_X26_H

#include "synth.h"

enum x26_kind {
	X26_FUSION,      /* kernels of XLA's own */
	X26_LIBRARY,     /* kernels of a library */
	X26_COPY,        /* device to device */
	X26_SET,         /* memset; of 4 bytes if the instruction is partition-id */
	X26_COLLECTIVE,
	X26_DONE,        /* the compute stream waits for communication */
	X26_SLICE,       /* a fusion of slices: its range contains that of the copy inside it */
	X26_WHILE,
	X26_CHOICE,      /* conditional: two branches, taken alternately */
	X26_BUFFER
};

/* A thunk, in the order of XLA's list: its first child is child, its next sibling is next; SYN_NONE where there is none. */
struct x26_step {
	enum x26_kind kind;
	uint32_t    inst, outer;     /* outer: the async-start around it */
	uint32_t    child, other, next;   /* body or first branch; condition or second branch */
	int         trips;
	bool        counted;         /* a loop whose number of iterations XLA knows: no condition runs */
	bool        aside;           /* in a graph: on a separate stream, from the start of the graph */
	int         kernels;
	const char *kernel[2];
	int64_t     bytes;
	int         copy_kind;
	const char *listed;          /* the kind that XLA's list has */
	uint32_t    buffer;          /* the instruction that represents its command buffer, SYN_NONE */
	int64_t     node;            /* number of its first node in the graph, from 1 */
	bool        fits;            /* the list identifies its nodes */
};
struct x26_tree {
	NSX_VEC(struct x26_step) step;
	NSX_VEC(bool) ran;           /* by instruction: whether it is a buffer that has run */
	int64_t buffers, nodes;      /* nodes that have run */
};

/* How lists are written, --lists. */
enum x26_lists { X26_GOOD, X26_NO_LISTS, X26_SHORT, X26_OTHER };
enum x26_lists x26_lists(void);

/* x26.c: the thunks of a program, their instructions and computations. */
void x26_model(struct syn_plan *p);

/* x26_run.c: the job. */
void x26_job(struct syn_plan *p);

/* x26_list.c: which lists are valid, and XLA's two files beside a dump, at BASE.thunk_*. */
void x26_fit(struct syn_plan *p, uint32_t prog);
void x26_write_lists(struct syn_plan *p, uint32_t prog, const char *base);

/* x26_expected.c: the results that tools must have for it. */
void x26_judge(struct syn_plan *p);
void x26_answers(struct syn_plan *p);

#endif
