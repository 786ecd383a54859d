/* operators.c -- see operators.h. An operator launches several kernels: its work is that of the first one that makes
 * products, whose name tells their type. */
#include "table/summary/operators.h"

#include <stdlib.h>
#include <string.h>

#include "job/family.h"

static struct nsx_kernel_math
math_of(struct nsx_str name)
{
	struct nsx_family f = nsx_family_of_kernel(name);
	struct nsx_kernel_math m = { .other = strcmp(f.family, "other") == 0, .math = NSX_NMATHS };
	bool attention = strcmp(f.family, "attention") == 0;

	m.products = attention || strcmp(f.family, "gemm") == 0 || strcmp(f.family, "convolution") == 0;
	/* Of attention the kind is not the type. */
	if (attention)
		m.math = nsx_math_find(nsx_str_has(name, "bfloat16") || nsx_str_has(name, "bf16") ? NSX_STR("bf16")
		                       : nsx_str_has(name, "half_t") || nsx_str_has(name, "f16") ? NSX_STR("f16")
		                       : NSX_STR(""));
	else if (m.products)
		m.math = nsx_math_find(nsx_str_c(f.kind));
	return m;
}

static const struct nsx_kernel_math *
kernel_of(struct nsx_operators *o, struct nsx_str name)
{
	uint32_t at = nsx_intern_recall(&o->kernels, o->recall, name);

	if (!nsx_vec_next(&o->maths, at, math_of(name)))
		return NULL;
	return &o->maths.p[at];
}

bool
nsx_operators_take(struct nsx_operators *o, struct nsx_scopes *s, const struct nsx_rec *op, uint32_t device,
                   struct nsx_scope_place place)
{
	int64_t flops;
	uint32_t at;

	/* What is not known of any operator is not looked for. */
	if (!s->any_sizes || !nsx_str_eq(nsx_string(op, NSX_OP_type), NSX_STR("kernel")))
		return true;
	const struct nsx_kernel_math *k = kernel_of(o, nsx_string(op, NSX_OP_name));

	if (!k)
		return false;
	if (!k->products && !k->other)
		return true;
	flops = nsx_scopes_work(s, op);
	if (flops == 0 || (flops < 0 && !k->products))
		return true;
	struct nsx_operator_work w = { .place = place, .device = device, .math = k->math };

	at = nsx_map_number(&o->work_of, (struct nsx_key){ (uint64_t)place.node << 8 | place.phase,
	                                                   (uint64_t)device << 8 | w.math });
	if (!nsx_vec_next(&o->works, at, w))
		return false;
	if (flops < 0)
		o->works.p[at].lost = true;
	else
		o->works.p[at].flops += (nsx_u128)flops;
	return true;
}

double
nsx_operators_at_peak(const struct nsx_roof *roof, const struct nsx_operator_work *w)
{
	bool has = w->math < NSX_NMATHS && w->device < roof->peaks.n;
	double tflops = has ? roof->peaks.p[w->device].tflops[w->math] : 0;

	return tflops > 0 ? (double)w->flops / tflops / 1e3 : -1;
}

void
nsx_operators_free(struct nsx_operators *o)
{
	nsx_intern_free(&o->kernels);
	free(o->maths.p);
	nsx_map_free(&o->work_of);
	free(o->works.p);
}
