/* cost_op.c -- opcodes and custom calls, classified by how their work is counted. */
#include <stdlib.h>

#include "xla/cost.h"

/* Sorted by name. Other opcodes are not modelled: communication, sort, topk, fft, control flow, waiting, future opcodes
 * of XLA. */
#define OP(name, kind) { { name, sizeof(name) - 1 }, NSX_COST_##kind }
static const struct op { struct nsx_str name; enum nsx_cost_kind kind; } ops[] = {
	OP("abs", ARITHMETIC),
	OP("acos", ARITHMETIC),
	OP("acosh", ARITHMETIC),
	OP("add", ARITHMETIC),
	OP("add-dependency", NOTHING),
	OP("after-all", NOTHING),
	OP("and", ARITHMETIC),
	OP("asin", ARITHMETIC),
	OP("asinh", ARITHMETIC),
	OP("async-start", ASYNC),
	OP("atan2", ARITHMETIC),
	OP("atanh", ARITHMETIC),
	OP("bitcast", BITCAST),
	OP("bitcast-convert", ARITHMETIC),
	OP("broadcast", BROADCAST),
	OP("call", CALL),
	OP("cbrt", ARITHMETIC),
	OP("ceil", ARITHMETIC),
	OP("clamp", ARITHMETIC),
	OP("compare", ARITHMETIC),
	OP("complex", ARITHMETIC),
	OP("concatenate", CONCATENATE),
	OP("constant", CONSTANT),
	OP("convert", ARITHMETIC),
	OP("convolution", CONVOLUTION),
	OP("copy", MOVE),
	OP("copy-start", COPY_START),
	OP("cosh", ARITHMETIC),
	OP("cosine", ARITHMETIC),
	OP("count-leading-zeros", ARITHMETIC),
	OP("custom-call", CUSTOM),
	OP("divide", ARITHMETIC),
	OP("domain", NOTHING),
	OP("dot", DOT),
	OP("dynamic-slice", DYNAMIC_SLICE),
	OP("dynamic-update-slice", DYNAMIC_UPDATE),
	OP("erf", ARITHMETIC),
	OP("exponential", ARITHMETIC),
	OP("exponential-minus-one", ARITHMETIC),
	OP("floor", ARITHMETIC),
	OP("fusion", FUSION),
	OP("gather", GATHER),
	OP("get-tuple-element", ELEMENT),
	OP("imag", ARITHMETIC),
	OP("iota", MAKE),
	OP("is-finite", ARITHMETIC),
	OP("log", ARITHMETIC),
	OP("log-plus-one", ARITHMETIC),
	OP("logistic", ARITHMETIC),
	OP("map", MAP),
	OP("maximum", ARITHMETIC),
	OP("minimum", ARITHMETIC),
	OP("multiply", ARITHMETIC),
	OP("negate", ARITHMETIC),
	OP("not", ARITHMETIC),
	OP("or", ARITHMETIC),
	OP("pad", PAD),
	OP("parameter", PARAMETER),
	OP("partition-id", MAKE),
	OP("popcnt", ARITHMETIC),
	OP("power", ARITHMETIC),
	OP("ragged-dot", DOT),
	OP("real", ARITHMETIC),
	OP("reduce", REDUCE),
	OP("reduce-precision", ARITHMETIC),
	OP("reduce-window", REDUCE_WINDOW),
	OP("remainder", ARITHMETIC),
	OP("replica-id", MAKE),
	OP("reshape", MOVE),
	OP("reverse", MOVE),
	OP("rng", RANDOM),
	OP("rng-bit-generator", RANDOM),
	OP("round-nearest-afz", ARITHMETIC),
	OP("round-nearest-even", ARITHMETIC),
	OP("rsqrt", ARITHMETIC),
	OP("scaled-dot", DOT),
	OP("scatter", SCATTER),
	OP("select", ARITHMETIC),
	OP("select-and-scatter", SELECT_SCATTER),
	OP("shift-left", ARITHMETIC),
	OP("shift-right-arithmetic", ARITHMETIC),
	OP("shift-right-logical", ARITHMETIC),
	OP("sign", ARITHMETIC),
	OP("sine", ARITHMETIC),
	OP("sinh", ARITHMETIC),
	OP("slice", SLICE),
	OP("sqrt", ARITHMETIC),
	OP("stochastic-convert", ARITHMETIC),
	OP("subtract", ARITHMETIC),
	OP("tan", ARITHMETIC),
	OP("tanh", ARITHMETIC),
	OP("transpose", MOVE),
	OP("tuple", TUPLE),
	OP("xor", ARITHMETIC),
};

static int
by_name(const void *name, const void *op)
{
	return nsx_str_cmp(*(const struct nsx_str *)name, ((const struct op *)op)->name);
}

enum nsx_cost_kind
nsx_cost_kind_of(struct nsx_str opcode)
{
	const struct op *op = bsearch(&opcode, ops, sizeof ops / sizeof *ops, sizeof *ops, by_name);

	return op ? op->kind : NSX_COST_OTHER;
}

/* ---- custom calls */

#define TARGET(name, ...) { { name, sizeof(name) - 1 }, { __VA_ARGS__ } }
static const struct target { struct nsx_str name; struct nsx_cost_custom custom; } targets[] = {
	TARGET("__cublas$gemm",                     NSX_COST_GEMM, false, false),
	TARGET("__cublas$lt$matmul",                NSX_COST_GEMM, false, false),
	TARGET("__cublas$lt$matmul$f8",             NSX_COST_GEMM, false, false),
	TARGET("__cublas$lt$matmul$mx",             NSX_COST_GEMM, false, false),
	TARGET("__cudnn$convForward",               NSX_COST_CONV_FORWARD, false, false),
	TARGET("__cudnn$convBiasActivationForward", NSX_COST_CONV_FORWARD, false, false),
	TARGET("__cudnn$convForwardGraph",          NSX_COST_CONV_FORWARD, false, false),
	TARGET("__cudnn$convBackwardInput",         NSX_COST_CONV_INPUT, false, false),
	TARGET("__cudnn$convBackwardFilter",        NSX_COST_CONV_FILTER, false, false),
};

static bool
contains(struct nsx_str s, struct nsx_str part)
{
	for (size_t i = 0; i + part.len <= s.len; i++)
		if (nsx_str_eq((struct nsx_str){ s.ptr + i, part.len }, part))
			return true;
	return false;
}

struct nsx_cost_custom
nsx_cost_target_of(struct nsx_str target)
{
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
		if (nsx_str_eq(target, targets[i].name))
			return targets[i].custom;
	if (nsx_str_starts(target, "__cudnn$fmha"))
		return (struct nsx_cost_custom){
			NSX_COST_ATTENTION, contains(target, NSX_STR("Backward")), target.ptr[target.len - 2] == 'F' &&
			    target.ptr[target.len - 1] == '8'
		};
	return (struct nsx_cost_custom){ NSX_COST_NO_TARGET, false, false };
}
