/* operator_work.c -- see operator_work.h. */
#include "job/operator_work.h"

#include <stdbool.h>

#include "base/num.h"
#include "stream/kinds.h"

enum { INPUTS = 6, DIMS = 6 };

/* Inputs, as far as there is room; n -1: a list of inputs, or one of more dimensions. */
struct inputs { struct { int n; int64_t dim[DIMS]; } of[INPUTS]; int n; };

static bool
parse(struct nsx_str s, struct inputs *in)
{
	int depth = 0;

	*in = (struct inputs){ .n = 0 };
	for (size_t i = 0; i < s.len; i++) {
		int at = in->n - 1;

		if (s.ptr[i] == '[') {
			if (++depth == 2)
				at = in->n++;
			if (at >= 0 && at < INPUTS && depth > 2)
				in->of[at].n = -1;
		} else if (s.ptr[i] == ']') {
			depth--;
		} else if (nsx_is_digit(s.ptr[i])) {
			size_t from = i;
			int64_t dim;

			while (i + 1 < s.len && nsx_is_digit(s.ptr[i + 1]))
				i++;
			if (depth < 2 || at < 0 || !nsx_get_int((struct nsx_str){ s.ptr + from, i + 1 - from }, &dim))
				return false;
			if (at >= INPUTS || in->of[at].n < 0)
				continue;
			if (in->of[at].n == DIMS)
				in->of[at].n = -1;
			else
				in->of[at].dim[in->of[at].n++] = dim;
		} else if (s.ptr[i] != ',' && s.ptr[i] != ' ') {
			return false;
		}
	}
	return depth == 0;
}

/* The product of n sizes, times what is there. */
static bool
times(int64_t *x, const int64_t *dim, int n)
{
	for (int i = 0; i < n; i++)
		if (dim[i] < 0 || __builtin_mul_overflow(*x, dim[i], x) || *x > INT64_MAX / 2)
			return false;
	return true;
}

/* The products [..., m, k] by [..., k, n] of two inputs of `rank` dimensions. */
static int64_t
product(const struct inputs *in, int a, int rank)
{
	int64_t x = 2, n;

	if (in->n < a + 2 || in->of[a].n != rank || in->of[a + 1].n != rank)
		return NSX_ABSENT;
	n = in->of[a + 1].dim[rank - 1];
	if (in->of[a].dim[rank - 1] != in->of[a + 1].dim[rank - 2])
		return NSX_ABSENT;
	return times(&x, in->of[a].dim, rank) && times(&x, &n, 1) ? x : NSX_ABSENT;
}

/* [..., k] by the transpose of [n, k]. */
static int64_t
linear(const struct inputs *in)
{
	int64_t x = 2;

	if (in->n < 2 || in->of[0].n < 1 || in->of[1].n != 2 || in->of[0].dim[in->of[0].n - 1] != in->of[1].dim[1])
		return NSX_ABSENT;
	return times(&x, in->of[0].dim, in->of[0].n) && times(&x, in->of[1].dim, 1) ? x : NSX_ABSENT;
}

/* Attention of inputs q, k, v from number a on, of four dimensions; heads: which of them counts heads, the other one
 * of 1 and 2 is the length. products: how many have the size of q and k, and how many that of v. */
static int64_t
attention(const struct inputs *in, int a, int heads, int with_q, int with_v)
{
	int length = 3 - heads;
	int64_t x = 2, sizes;

	for (int i = a; i < a + 3; i++)
		if (in->n < a + 3 || a + 3 > INPUTS || in->of[i].n != 4)
			return NSX_ABSENT;
	const int64_t *q = in->of[a].dim, *k = in->of[a + 1].dim, *v = in->of[a + 2].dim;

	if (k[length] != v[length] || q[0] != k[0] || q[3] > INT32_MAX || v[3] > INT32_MAX)
		return NSX_ABSENT;
	sizes = with_q * q[3] + with_v * v[3];
	return times(&x, q, 3) && times(&x, &k[length], 1) && times(&x, &sizes, 1) ? x : NSX_ABSENT;
}

/* The derivative of a convolution by its input and by its weights, two products of as many operations as the
 * convolution itself: of the derivative of its output [n, o, out...], its input [n, c, in...] and its weights
 * [o, c / groups, k...]. Stride and padding are no sizes, but what they make of the input is: products with zeros of
 * the padding count, as the places of the output do. A transposed convolution is that from its output to its input,
 * whose places count then. Where both have as many channels sizes do not tell which of the two it is, and the fewer
 * places count, as a stride is 1 or more: of one whose padding makes the output longer than its input, as of a causal
 * one whose end is cut off behind it, those that the padding adds do not. */
static int64_t
convolved(const struct inputs *in)
{
	int64_t x = 4, out = 1, of = 1;
	int rank = in->n >= 3 ? in->of[0].n : 0;

	if (rank < 3 || in->of[1].n != rank || in->of[2].n != rank || in->of[0].dim[0] != in->of[1].dim[0] ||
	    (in->of[2].dim[0] != in->of[0].dim[1] && in->of[2].dim[0] != in->of[1].dim[1]))
		return NSX_ABSENT;
	if (!times(&out, in->of[0].dim + 2, rank - 2) || !times(&of, in->of[1].dim + 2, rank - 2))
		return NSX_ABSENT;
	if (in->of[2].dim[0] != in->of[0].dim[1] || (in->of[2].dim[0] == in->of[1].dim[1] && of < out))
		out = of;
	return times(&x, in->of[0].dim, 1) && times(&x, &out, 1) && times(&x, in->of[2].dim, rank) ? x : NSX_ABSENT;
}

enum how { MATRIX, LINEAR, ATTENTION, DERIVATIVE, CONVOLVED };

int64_t
nsx_operator_flops(struct nsx_str key, struct nsx_str sizes)
{
	/* a: the first input that counts; rank: of matrices their dimensions, of attention the one of heads. */
	static const struct { struct nsx_str key; enum how how; int a, rank; } known[] = {
#define OP(text, how, a, rank) { { text, sizeof text - 1 }, how, a, rank }
		OP("aten::mm", MATRIX, 0, 2), OP("aten::addmm", MATRIX, 1, 2),
		OP("aten::_addmm_activation", MATRIX, 1, 2),
		OP("aten::bmm", MATRIX, 0, 3), OP("aten::baddbmm", MATRIX, 1, 3), OP("aten::_scaled_mm", MATRIX, 0, 2),
		OP("aten::linear", LINEAR, 0, 0),
		OP("aten::_scaled_dot_product_flash_attention", ATTENTION, 0, 1),
		OP("aten::_scaled_dot_product_efficient_attention", ATTENTION, 0, 1),
		OP("aten::_scaled_dot_product_cudnn_attention", ATTENTION, 0, 1),
		OP("aten::_flash_attention_forward", ATTENTION, 0, 2),
		OP("aten::_efficient_attention_forward", ATTENTION, 0, 2),
		OP("flash_attn::_flash_attn_forward", ATTENTION, 0, 2),
		OP("aten::_scaled_dot_product_flash_attention_backward", DERIVATIVE, 1, 1),
		OP("aten::_scaled_dot_product_efficient_attention_backward", DERIVATIVE, 1, 1),
		OP("aten::_scaled_dot_product_cudnn_attention_backward", DERIVATIVE, 1, 1),
		OP("aten::_flash_attention_backward", DERIVATIVE, 1, 2),
		OP("aten::_efficient_attention_backward", DERIVATIVE, 1, 2),
		OP("flash_attn::_flash_attn_backward", DERIVATIVE, 1, 2),
		OP("aten::convolution_backward", CONVOLVED, 0, 0),
#undef OP
	};
	struct inputs in;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		int a = known[i].a, rank = known[i].rank;

		if (!nsx_str_eq(key, known[i].key))
			continue;
		if (!parse(sizes, &in))
			return NSX_ABSENT;
		switch (known[i].how) {
		case MATRIX:    return product(&in, a, rank);
		case LINEAR:    return linear(&in);
		case ATTENTION: return attention(&in, a, rank, 1, 1);
		case CONVOLVED: return convolved(&in);
		/* The scores again, and the derivatives of scores, q, k and v. */
		default:        return attention(&in, a, rank, 3, 2);
		}
	}
	return NSX_ABSENT;
}
