/* operators.h -- the work of operators of PyTorch whose ranges have the sizes of their inputs; private to
 * lib/table/summary. */
#ifndef NSX_TABLE_SUMMARY_OPERATORS_H
#define NSX_TABLE_SUMMARY_OPERATORS_H

#include "job/scope.h"
#include "table/roofline/rows.h"

/* In one place on one device. lost: a kernel that makes matrix products or attention ran there of which it is not known
 * what it computes. */
struct nsx_operator_work {
	struct nsx_scope_place place;
	uint32_t      device;        /* in the catalogue */
	enum nsx_math math;          /* NSX_NMATHS: the kernel's name does not tell */
	nsx_u128      flops;
	bool          lost;
};

/* What a kernel is, by its name. */
struct nsx_kernel_math { bool products, other; enum nsx_math math; };

/* {0} is empty. */
struct nsx_operators {
	struct nsx_intern kernels;
	uint32_t          recall[NSX_RECALL];
	NSX_VEC(struct nsx_kernel_math) maths;     /* by number of kernels */
	struct nsx_map    work_of;                 /* (node and phase, device and math) -> works */
	NSX_VEC(struct nsx_operator_work) works;
};

/* Take an operation, in `place`, without an instruction. False when out of memory. */
bool nsx_operators_take(struct nsx_operators *o, struct nsx_scopes *s, const struct nsx_rec *op, uint32_t device,
                        struct nsx_scope_place place);
/* ns that it takes at the peak of its device; less than 0: not known. After nsx_roof_rows. */
double nsx_operators_at_peak(const struct nsx_roof *roof, const struct nsx_operator_work *w);
void nsx_operators_free(struct nsx_operators *o);

#endif
