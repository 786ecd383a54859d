/* operator_work.c -- the work of operators by the sizes of their inputs: products counted one by one. */
#include "job/operator_work.h"

#include <stdio.h>

#include "stream/kinds.h"
#include "tap.h"

static int64_t
flops(const char *key, const char *sizes)
{
	return nsx_operator_flops(nsx_str_c(key), nsx_str_c(sizes));
}

/* Multiplications and additions of b products of m x k by k x n matrices, one by one. */
static int64_t
counted(int b, int m, int k, int n)
{
	int64_t ops = 0;

	for (int i = 0; i < b * m * n; i++)
		for (int j = 0; j < k; j++)
			ops += 2;
	return ops;
}

static void
absent(const char *key, const char *sizes, const char *claim)
{
	ok(flops(key, sizes) == NSX_ABSENT, claim);
}

int
main(void)
{
	char sizes[200];

	for (int m = 1; m < 9; m += 3)
		for (int k = 1; k < 9; k += 2)
			for (int n = 2; n < 12; n += 5) {
				snprintf(sizes, sizeof sizes, "[[%d, %d], [%d, %d]]", m, k, k, n);
				is_int(flops("aten::mm", sizes), counted(1, m, k, n), "mm");
				snprintf(sizes, sizeof sizes, "[[%d], [%d, %d], [%d, %d], [], []]", n, m, k, k, n);
				is_int(flops("aten::addmm", sizes), counted(1, m, k, n), "addmm, behind its bias");
				snprintf(sizes, sizeof sizes, "[[3,%d,%d],[3,%d,%d]]", m, k, k, n);
				is_int(flops("aten::bmm", sizes), counted(3, m, k, n), "bmm, without blanks");
				snprintf(sizes, sizeof sizes, "[[2, %d, %d], [%d, %d], [%d]]", m, k, n, k, n);
				is_int(flops("aten::linear", sizes), counted(2, m, k, n), "linear, by the transpose");
			}
	/* Queries of 2 sequences, 3 heads, 5 long, of size 4; 7 keys; values of size 6. */
	is_int(flops("aten::_scaled_dot_product_flash_attention", "[[2, 3, 5, 4], [2, 3, 7, 4], [2, 3, 7, 6], [], []]"),
	       counted(6, 5, 4, 7) + counted(6, 5, 7, 6), "attention: scores, and values");
	is_int(flops("aten::_flash_attention_forward", "[[2, 5, 3, 4], [2, 7, 3, 4], [2, 7, 3, 6], [], []]"),
	       counted(6, 5, 4, 7) + counted(6, 5, 7, 6), "... whose heads come behind the length");
	is_int(flops("aten::_scaled_dot_product_flash_attention", "[[2, 4, 5, 8], [2, 1, 7, 8], [2, 1, 7, 8]]"),
	       2 * counted(8, 5, 8, 7), "... with fewer heads of keys");
	is_int(flops("aten::_flash_attention_backward", "[[2, 5, 3, 6], [2, 5, 3, 4], [2, 7, 3, 4], [2, 7, 3, 6], [2, 5, 3, 6], []]"),
	       3 * counted(6, 5, 4, 7) + 2 * counted(6, 5, 7, 6), "its derivative: five products");
	absent("aten::_flash_attention_forward", "[[10, 3, 4], [10, 3, 4], [10, 3, 4], [3]]", "sequences of several lengths");
	/* 2 images of 6 channels, 5 x 7, by 4 filters of 3 x 3 in 2 groups, stride 2 and padding 1: 3 x 4 places. */
	is_int(flops("aten::convolution_backward", "[[2, 4, 3, 4], [2, 6, 5, 7], [4, 3, 3, 3], [4], [], [], [], [], [], [], []]"),
	       2 * counted(2 * 3 * 4, 4, 3 * 3 * 3, 1), "the derivative of a convolution: by its input and weights");
	is_int(flops("aten::convolution_backward", "[[2, 6, 5, 7], [2, 4, 3, 4], [4, 3, 3, 3]]"),
	       2 * counted(2 * 3 * 4, 4, 3 * 3 * 3, 1), "... of a transposed one, by the places of its input");
	is_int(flops("aten::convolution_backward", "[[1, 4, 10], [1, 4, 5], [4, 4, 2]]"), 2 * counted(5, 4, 4 * 2, 1),
	       "... with as many channels on both sides");
	is_int(flops("aten::convolution_backward", "[[1, 4, 5], [1, 4, 10], [4, 4, 2]]"), 2 * counted(5, 4, 4 * 2, 1),
	       "... nor is one with a stride the longer way");
	is_int(flops("aten::convolution_backward", "[[1, 4, 12], [1, 4, 10], [4, 1, 3]]"), 2 * counted(10, 4, 1 * 3, 1),
	       "... what padding adds to the output of a causal one does not count, which a transposed one has, too");
	is_int(flops("aten::convolution_backward", "[[1, 4, 12], [1, 6, 10], [4, 6, 3]]"), 2 * counted(12, 4, 6 * 3, 1),
	       "... but with other channels does");
	absent("aten::convolution_backward", "[[2, 4, 3, 4], [2, 6, 5, 7], [5, 3, 3, 3]]", "weights of other channels");
	absent("aten::convolution_backward", "[[2, 4, 3, 4], [2, 6, 5, 7], []]", "no weights");
	absent("aten::cudnn_convolution", "[[1, 3, 8, 8], [4, 3, 3, 3]]", "a convolution");
	absent("aten::add", "[[2, 2], [2, 2]]", "no product");
	absent("aten::mm", "[[2, 3], [4, 5]]", "sizes that do not fit");
	absent("aten::mm", "[[2, 3]]", "one input");
	absent("aten::mm", "", "no sizes");
	absent("aten::mm", "[[2, 3], [3, 4]", "a list that does not end");
	absent("aten::mm", "[[2, x], [3, 4]]", "no number");
	absent("aten::mm", "[[4000000000, 4000000000], [4000000000, 4000000000]]", "more than can be counted");
	absent("aten::mm", "[[99999999999999999999, 3], [3, 4]]", "a size beyond 64 bits");
	absent("aten::mm", "[[[2, 3]], [3, 4]]", "a list of inputs");
	is_int(flops("aten::mm", "[[0, 3], [3, 4]]"), 0, "nothing to do");
	return done();
}
