/* dump.h -- an HLO dump while it is written; shared by dump.c and dump_inst.c. */
#ifndef SYNTH_DUMP_H
#define SYNTH_DUMP_H

#include "../unit/pb.h"
#include "synth.h"

/* One computation under construction: its instructions so far, and the order in which they run. */
struct dump_comp {
	uint32_t home;
	pb       body;
	NSX_VEC(int64_t) order;
	int64_t  local;      /* instructions that are not in the plan */
	int64_t  param;      /* its first parameter; 0: none */
};

struct dump {
	struct syn_plan          *p;
	const struct syn_program *pr;
	uint32_t proc, prog;
	int64_t  next;       /* module-wide number for the next instruction that is not in the plan */
	int64_t *start;      /* by instruction: the operand of its done */
};

struct dump_inst {
	const char *name, *opcode;
	int64_t     id;             /* 0: create one */
	pb          shape, extra;   /* emptied */
	pb          meta;
	NSX_VEC(int64_t) operands;  /* emptied */
	uint32_t    calls[2];       /* homes; SYN_NONE */
};

struct dump_inst dump_new(const char *name, const char *opcode);
pb      dump_shape(struct syn_shape s);
void    dump_msg(pb *to, uint32_t field, pb *m);              /* pb_msg that does not lose a failure */
int64_t dump_put(struct dump *d, struct dump_comp *c, struct dump_inst *i);   /* its id */
void    dump_meta(struct dump *d, struct dump_inst *i, const struct syn_inst *in);
int64_t dump_id(const struct dump *d, uint32_t inst);         /* of an instruction of the plan, as this dump writes it */

pb      dump_transfer(const struct syn_inst *in);             /* x26_dump.c: the shape of a copy-start or copy-done from or to the host */
void    dump_groups(struct dump *d, pb *to, const struct syn_inst *in);     /* the participants of a collective */
void    syn_write_dump(const char *path, const struct nsx_buf *bytes);
int64_t dump_reducer(struct dump *d, struct dump_comp *c);
int64_t x26_instructions(struct dump *d, struct dump_comp *c);              /* x26_dump.c: dump_instructions of --xla26 */

/* The instructions of computation c->home, and its root; the root's id. */
int64_t dump_instructions(struct dump *d, struct dump_comp *c);

#endif
