/* torch.h -- one device of a job that PyTorch annotates: what the files of such jobs share. */
#ifndef SYN_TORCH_H
#define SYN_TORCH_H

#include "synth.h"

struct torch {
	struct syn_plan *p;
	uint32_t proc, dev;
	int64_t  op_id, seq, tokens;
	uint32_t inside, cross, overlapping;   /* start/end ranges under way */
	uint32_t joined;                       /* the operation of the last collective */
	const char *phase;   /* of the step of a server; NULL: it is none */
};

/* A GPU operation of about dur ns that the thread launches; stream 7 computes. A range with a number of its own
 * behind the name, and the end of the innermost. */
uint32_t torch_op(struct torch *t, uint32_t thread, enum syn_op_type type, int stream, const char *name, int64_t dur);
uint32_t torch_push(struct torch *t, uint32_t thread, const char *name);
void     torch_pop(struct torch *t, uint32_t thread);

/* serve.c: a step of a server begins, which computes the prompts of `takes` requests of 512 tokens each and a token for
 * `has` others: the name of its range; and it ends. */
uint32_t torch_serving(struct torch *t, int64_t k, int takes, int has);
void     torch_served(struct torch *t);
void     torch_serving_answers(struct syn_plan *p);

/* parts.c: a step of --torch=checkpoints, and its answers. */
void torch_checkpointed(struct torch *t, int64_t k);
void torch_parts_answers(struct syn_plan *p);

#endif
