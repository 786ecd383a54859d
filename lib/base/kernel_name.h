/* kernel_name.h -- short names of kernels that keep what distinguishes them. For a template, whose arguments can fill
 * several lines, that is the name of the function and one word of its arguments. */
#ifndef NSX_BASE_KERNEL_NAME_H
#define NSX_BASE_KERNEL_NAME_H

#include "base/str.h"

/* Append the function of a kernel, without its return type and arguments, and `word` if the function does not contain
 * it:
 *
 *   void at::elementwise_kernel<(int)128, at::gpu_kernel_impl_nocast<at::direct_copy_kernel_cuda(...)...>>(int)
 *   with the word direct_copy_kernel ->  at::elementwise_kernel<..direct_copy_kernel..> */
void nsx_buf_kernel(struct nsx_buf *b, struct nsx_str name, struct nsx_str word);

/* Append s shortened to at most `width` columns; unchanged if it fits. Of a text like faster:name:KERNEL=2 the kernel
 * is shortened. A C++ template keeps its function, without
 * namespaces, and its arguments from the last one whose name contains "kernel", "functor", "op" or "GEMM"; if there is
 * none, from the longest word. Everything else is shortened by nsx_buf_shortened, and so is a template if `width` is
 * below 16.
 *
 *   void at::vectorized_elementwise_kernel<4, at::BinaryFunctor<float, float, float, at::MulFunctor<float>>>(int)
 *   in 51 columns  ->  vectorized_elementwise_kernel<..MulFunctor<float>>> */
void nsx_buf_kernel_shortened(struct nsx_buf *b, struct nsx_str s, size_t width);

/* Whether s is such a template with arguments. */
bool nsx_kernel_is_template(struct nsx_str s);

/* The same with more of the arguments and less of the function. False, and nothing is appended, if s is not such a
 * template or fits. */
bool nsx_buf_kernel_arguments(struct nsx_buf *b, struct nsx_str s, size_t width);

/* The same with the function, the most descriptive word and the word around byte `at`, where s differs from another
 * name. Also false if byte `at` is not in the arguments, if the most descriptive word begins within the word around
 * `at`, or if `width` is below 24.
 *
 *   void at::vectorized_elementwise_kernel<4, at::AUnaryFunctor<float, at::MulFunctor<float>>>(int) in 28 columns, from
 *   the same with BUnaryFunctor  ->  ve..el<..AUnaryF..MulFunc..> */
bool nsx_buf_kernel_difference(struct nsx_buf *b, struct nsx_str s, size_t width, size_t at);

#endif
