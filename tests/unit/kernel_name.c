/* kernel_name.c -- shortened names of kernels: the header's examples and others, and some names at every width. */
#include "base/kernel_name.h"

#include <stdio.h>
#include <string.h>

#include "base/width.h"
#include "tap.h"

static struct nsx_buf b;

static const char *
called(const char *name, const char *word)
{
	b.len = 0;
	nsx_buf_kernel(&b, nsx_str_c(name), nsx_str_c(word));
	nsx_buf_char(&b, '\0');
	return b.ptr;
}

static const char *
in_width(const char *name, size_t width)
{
	b.len = 0;
	nsx_buf_kernel_shortened(&b, nsx_str_c(name), width);
	nsx_buf_char(&b, '\0');
	return b.ptr;
}

static const char *const names[] = {
	"void at::v<(int)4, at::BinaryFunctor<float, float, float, at::MulFunctor<float>>, std::array<char *, "
	"(unsigned long)3>>(int, T2, T3)",
	"void at::<unnamed>::softmax_forward<(int)4, float, at::<unnamed>::LogEpilogue>(T1 *, const T1 *, int)",
	"void at::(anonymous namespace)::copy<float, (int)3>(T2 *, at::(anonymous namespace)::Meta<T1, T5>, int, T1)",
	"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_alignc4_execute_kernel",
	"kernel<", "kernel<>(a, b, c, d, e, f, g, h, i, j, k, l)", "<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<",
	"f<a->b, (c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, a, b, c",
	"void f<))))))))))))))((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((",
	"stack;of;frames<with, templates>(and, parameters);that;is;longer;than;a;line;of;a;narrow;terminal", "",
	"kernel<\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"
	"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e>(int)",
};

/* A place in a source keeps the name of its file and the line. */
static void
sources(void)
{
	const char *place = "/opt/praxis/praxis/layers/base_ops.py:42[__call__]";

	is_str(in_width(place, 60), place, "a source that fits");
	is_str(in_width(place, 34), "/opt/pra..base_ops.py:42[__call__]", "its folders are shortened first");
	is_str(in_width(place, 26), "/..base_ops.py:42..call__]", "then the function");
	is_str(in_width(place, 17), "/..e_ops.py:42..]", "the line is kept");
	is_str(in_width("/opt/a/b.py:1[f] /opt/a/c.py:2[g]", 20), "/opt/a/b...c.py:2[g]", "a chain of them is text");
}

/* What is said of a kernel stays. */
static void
said(void)
{
	const char *change = "faster:name:void at::v<(int)4, at::BinaryFunctor<float, at::MulFunctor<float>>>(int, T2)=2";

	is_str(in_width(change, 95), change, "a change that fits");
	is_str(in_width(change, 44), "faster:name:v<..MulFunctor<float>>>=2", "its kernel is shortened");
	ok(!nsx_kernel_is_template(nsx_str_c(change)), "it is none");
}

static void
widths(void)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		for (size_t w = 0; w < 140; w++) {
			const char *got = in_width(names[i], w);
			size_t has = nsx_width(nsx_str_c(got)), wants = nsx_width(nsx_str_c(names[i]));

			if (has <= w && (wants > w || strcmp(got, names[i]) == 0) && (!w || !wants || has))
				continue;
			ok(false, "no name exceeds its width, and names that fit are complete");
			printf("# \"%s\" in %zu: \"%s\"\n", names[i], w, got);
			return;
		}
	ok(true, "no name exceeds its width, and names that fit are complete");
}

int
main(void)
{
	static const char mul[] =
		"void at::vectorized_elementwise_kernel<4, at::BinaryFunctor<float, float, float, at::MulFunctor<float>>>(int)";

	is_str(called("void at::elementwise_kernel<(int)128, at::gpu_kernel_impl_nocast<at::direct_copy_kernel_cuda("
	              "at::TensorIteratorBase &)::[lambda(float) (instance 1)]>>(int)", "direct_copy_kernel"),
	       "at::elementwise_kernel<..direct_copy_kernel..>", "a function and a word of its arguments");
	is_str(called("cudnn::nchwToNhwcKernel<float>(int)", "nchwToNhwc"), "cudnn::nchwToNhwcKernel",
	       "a function that has the word");
	is_str(in_width(mul, 51), "vectorized_elementwise_kernel<..MulFunctor<float>>>", "the header's example");
	is_str(in_width(mul, 40), "vectoriz..e_kernel<..MulFunctor<float>>>", "both give way");
	is_str(in_width("void at::<unnamed>::softmax<4, float, at::<unnamed>::LogEpilogue>(T1 *, int)", 30),
	       "softmax<..LogEpilogue>", "without a functor the longest word, and no namespace without a name");
	is_str(in_width("void elementwise_kernel<(int)128, (int)2>(at::TensorIteratorBase &)", 44),
	       "elementwise_kernel<(int)128, (int)2>", "of numbers all, and no parameters");
	is_str(in_width(mul, 18), "vec..el<..MulFu..>", "in a narrow column, too");
	b.len = 0;
	ok(nsx_buf_kernel_arguments(&b, nsx_str_c(mul), 32), "more of the arguments of a template");
	nsx_buf_char(&b, '\0');
	is_str(b.ptr, "vect..rnel<..MulFunctor<float>>>", "and less of its function");
	b.len = 0;
	ok(!nsx_buf_kernel_arguments(&b, NSX_STR("ampere_sgemm_128x64_tn_and_more_than_fits"), 32) && b.len == 0
	   && !nsx_buf_kernel_arguments(&b, NSX_STR("f<float>"), 32) && b.len == 0, "an empty or fitting part is not appended");
	ok(nsx_kernel_is_template(nsx_str_c(mul)) && !nsx_kernel_is_template(NSX_STR("f(a<b>)"))
	   && !nsx_kernel_is_template(NSX_STR("f<>(int)")), "a template has arguments");
	is_str(in_width("jit_train_step.fusion", 12), "jit_t..usion", "a name without template arguments keeps both ends");
	sources();
	said();
	widths();
	nsx_buf_free(&b);
	return done();
}
