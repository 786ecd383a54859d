/* work.h -- instructions whose work is known in closed form, and the module that holds them; shared by work*.c. */
#ifndef SYNTH_WORK_H
#define SYNTH_WORK_H

#include "../unit/pb.h"
#include "synth.h"

enum { S8 = 2, S32 = 4, U8 = 6, F16 = 10, F32 = 11, F64 = 12, TUPLE = 13, BF16 = 16, F8 = 20, RANK = 8 };

/* What one execution does. If it is not modelled, tools must report no work. */
struct work {
	char        name[64];
	const char *opcode, *math;      /* math NULL where flops is 0 */
	bool        modelled;
	int64_t     flops, vector, bytes;
};

struct work_module {
	uint64_t random;
	pb       callees, entry;        /* computations but the entry; instructions of the entry */
	int64_t  computations, ids, parameters;   /* so far; parameters of the entry */
	NSX_VEC(int64_t) order;         /* of the entry */
	NSX_VEC(struct work) work;
};

/* work.c */

/* Instruction number `of`; the first ones are of each kind once, the others random. */
void work_plant(struct work_module *m, int64_t of);

/* The module as a HloProto of that name and program id; m's parts are emptied. */
pb   work_proto(struct work_module *m, const char *name, int64_t id);

/* work_build.c: construction. */

struct work_array { int type, rank; int64_t dim[RANK]; };
struct work_comp  { pb *body; int64_t local; };     /* a computation under construction, and its parameters so far; the
                                                     * entry is one too */

int64_t work_between(struct work_module *m, int64_t from, int64_t to);   /* both included */
bool    work_maybe(struct work_module *m);
void    work_shuffled(struct work_module *m, int n, int *out);           /* 0 .. n - 1 */
int64_t work_width(int type);
int64_t work_elements(const struct work_array *a);
int64_t work_bytes_of(const struct work_array *a);
struct work_array work_array(int type, int rank, ...);                   /* sizes are int64_t */

void    work_sub(pb *to, uint32_t field, pb *m);                         /* pb_msg that does not lose a failure */
void    work_packed(pb *to, uint32_t field, const int64_t *v, int n);
pb      work_shape(struct work_module *m, const struct work_array *a);   /* in a random layout */

/* An instruction of a computation, with a unique name, with `more` fields (NULL: none; emptied) and n operands,
 * int64_t; its id. */
int64_t work_op(struct work_module *m, struct work_comp *c, const char *opcode, const struct work_array *out, pb *more,
                int n, ...);
int64_t work_parameter(struct work_module *m, struct work_comp *c, const struct work_array *a);
/* ends a computation, whose body is emptied; its id */
int64_t work_close(struct work_module *m, pb *body, int64_t root, bool fused);

/* A planted instruction is in the entry and reads its parameters. */
struct work_plant {
	struct work_module *m;
	struct work         w;
	struct work_comp    entry;
	int64_t             operands[RANK];
	int                 n;
};
int64_t work_reads(struct work_plant *p, struct work_array a);           /* the next operand; its bytes */
/* The instruction itself: out, and if `space` a workspace beside it, which is not required traffic. */
void    work_stands(struct work_plant *p, const struct work_array *out, bool space, pb *more);
/* The same as a fusion of a computation with that root, which is emptied; its parameters are what was read. */
void    work_fuses(struct work_plant *p, pb *body, int64_t root, const struct work_array *out, const char *kind);

/* work_matrix.c. form: the instruction, or cuDNN's forward, backward to the input, backward to the filter. */
void work_plant_dot(struct work_plant *p, bool library);
void work_plant_fused_dot(struct work_plant *p);
void work_plant_convolution(struct work_plant *p, int form);
void work_plant_attention(struct work_plant *p);

#endif
