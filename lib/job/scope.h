/* scope.h -- the module or named scope of a program that an operation belongs to, and its phase (phase.h).
 *
 * An instruction's scope is the path in its op_name without what JAX adds, so that the passes of a module meet:
 *   jit(step)/jit(main)/jvp(Model)/layer_0/while/body/mlp/dot_general             step/Model/layer_0/mlp
 *   jit(step)/jit(main)/transpose(jvp(Model))/layer_0/while/body/mlp/transpose    step/Model/layer_0/mlp
 * That of another operation are the ranges around its launch that name modules or that the user named; in a range of
 * autograd's engine those of the operator with the same sequence number:
 *   train / nn.Module: Block_0 / aten::addmm, seq = 7                             train/Block_0
 *   autograd::engine::evaluate_function: AddmmBackward0, seq = 7 / aten::mm       train/Block_0
 * An instruction that is not differentiated is of the forward pass if its scope, or one around it but the program's,
 * is: a mask in attention, which depends on no parameter. It is of the optimizer otherwise.
 * In what an operator with a sequence number is not part of, as when gradients are added up, there is none.
 * A module that a checkpoint runs again is where it was.
 * A module that a dotted name calls (layers.0.mlp) is shown without the name of the module around it. */
#ifndef NSX_JOB_SCOPE_H
#define NSX_JOB_SCOPE_H

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "job/backward_of.h"
#include "job/catalogue.h"
#include "job/names.h"
#include "job/phase.h"
#include "job/range_book.h"
#include "job/stacks.h"
#include "stream/reader.h"

/* Set *part to the next scope in an op_name, from *at on (0 at first), without brackets of transformations. False:
 * there is none. What follows the last slash is the operation, not a scope. */
bool nsx_scope_next(struct nsx_str op_name, size_t *at, struct nsx_str *part);

/* Where an operation belongs. node: in nsx_scopes.tree. phase: to be settled. inst: its instruction, in the catalogue;
 * NSX_NONE: none. */
struct nsx_scope_place { uint32_t node; enum nsx_phase phase; uint32_t inst; };

/* A range of the book. profile, pid; seq: NSX_ABSENT if it has none. frame: its name as a scope, in names; NSX_NONE:
 * it is none. */
struct nsx_scope_range {
	int64_t  pid, seq;
	int64_t  flops;             /* of the operator that it is, until told; NSX_ABSENT: not known */
	uint32_t frame, next;
	enum nsx_phase own;
	bool     recorded;          /* nsx_phase_of_range */
	bool     xla;               /* it is XLA's, and tells nothing */
	bool     resolved;          /* the rest is set */
	uint32_t module;            /* the whole name of the innermost scope around it, or its own, in names */
	struct nsx_scope_place place;
};

/* What the catalogue has to keep. */
#define NSX_SCOPES_KEEP (NSX_CAT_NAMES | NSX_CAT_OP_NAMES | NSX_CAT_LOCS)

/* What the name of a range says, found once for those that come again and again. */
struct nsx_scope_said {
	uint8_t        len;          /* of the name; 0: none */
	bool           xla;          /* its domain is TSL */
	bool           runs;         /* it is of kind op or python */
	bool           framed;       /* frame is known */
	bool           recorded;     /* if it has a sequence number, autograd recorded it */
	bool           called;       /* a program calls its backward pass so */
	enum nsx_phase own;
	uint32_t       frame;        /* in names; NSX_NONE: no scope */
	uint32_t       sizes_at, sizes;   /* where the name has sizes, and how many bytes; 0: none */
	int64_t        seq;          /* in the name; NSX_ABSENT: none */
	char           name[80];
};
enum { NSX_SCOPES_SAID = 512 };

/* {0} with tree, cat, form and err set is empty. cat gets the metadata from the caller. Memory holds the open ranges,
 * and about 40 bytes for each sequence number. */
struct nsx_scopes {
	struct nsx_stacks    *tree;     /* the caller's */
	struct nsx_catalogue *cat;      /* the caller's */
	enum nsx_names        form;     /* of names: NSX_NAMES_DIGITS joins layer_0 and layer_1 */
	struct nsx_err       *err;
	/* Own: */
	struct nsx_range_book book;     /* mark: in ranges */
	struct nsx_intern     names;
	NSX_VEC(uint32_t)     module_of;   /* by node: its whole name, in names; NSX_NONE: none */
	NSX_VEC(struct nsx_scope_range) ranges;
	uint32_t              vacant;   /* 1 + the first free one; 0: none */
	NSX_VEC(struct nsx_range_entry *) chain;
	struct nsx_map        forward;  /* (profile and pid, sequence number) -> node */
	struct nsx_map        processes;
	struct nsx_backwards  backwards;
	NSX_VEC(struct nsx_scope_place) insts;   /* by index of the catalogue; node NSX_NONE: not yet */
	NSX_VEC(struct nsx_scope_place) paths;   /* by op_name, which many instructions share; likewise */
	NSX_VEC(bool)         trains;   /* by program: an instruction that ran is of a backward pass */
	NSX_VEC(bool)         differs;  /* by node: an instruction in it, or below, is differentiated */
	bool                  ranges_train;      /* some range is */
	bool                  any_sizes;         /* some range has sizes of inputs */
	struct nsx_buf        scratch;
	int64_t               lost;     /* operations whose range was not found: they are in no scope */
	uint32_t              none;     /* the scope of what has none; 0: not yet */
	struct nsx_scope_said said[NSX_SCOPES_SAID];   /* by a hash of the name, those met last */
	struct nsx_scope_said other;    /* of a name that is too long for these */
};

/* Declare to a reader what the functions below use, beside the metadata. */
void nsx_scopes_need(struct nsx_reader *in);

/* Add a range record. NSX_OK or NSX_ERR. */
int nsx_scopes_range(struct nsx_scopes *s, const struct nsx_rec *range);

/* The place of an operation: of its instruction, else of the ranges around its launch; or of an instruction by its
 * index in the catalogue. Its node is NSX_NONE, with err filled, when out of memory. */
struct nsx_scope_place nsx_scopes_op(struct nsx_scopes *s, const struct nsx_rec *op);
struct nsx_scope_place nsx_scopes_inst(struct nsx_scopes *s, uint32_t inst);

/* The floating-point operations of the operator in which an operation, for which nsx_scopes_op was just called, was
 * launched: told once for each range, then 0. NSX_ABSENT: not known. */
int64_t nsx_scopes_work(struct nsx_scopes *s, const struct nsx_rec *op);

/* After the last record, when all places are known: the phase of one. */
enum nsx_phase nsx_scopes_phase(const struct nsx_scopes *s, struct nsx_scope_place place);

/* The tree stays. */
void nsx_scopes_free(struct nsx_scopes *s);

#endif
