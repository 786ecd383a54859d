/* kernel_name.h -- kernels called by what tells them apart: of a template that is the function's own name and one word
 * of its arguments, which fill lines. */
#ifndef NSX_BASE_KERNEL_NAME_H
#define NSX_BASE_KERNEL_NAME_H

#include "base/str.h"

/* Append the function of a kernel, without what it returns and without arguments, and `word` where it is not in there:
 *
 *   void at::elementwise_kernel<(int)128, at::gpu_kernel_impl_nocast<at::direct_copy_kernel_cuda(...)...>>(int)
 *   of direct_copy_kernel  ->  at::elementwise_kernel<..direct_copy_kernel..> */
void nsx_buf_kernel(struct nsx_buf *b, struct nsx_str name, struct nsx_str word);

/* Append s shortened to `width` columns at most; whole where it fits. Of a C++ template stays the function, without
 * namespaces, and its arguments from the last on that is called a kernel, a functor, an op or a GEMM, of none from the
 * longest word on; whatever else is shortened by nsx_buf_shortened, so is a template where `width` is below 24.
 *
 *   void at::vectorized_elementwise_kernel<4, at::BinaryFunctor<float, float, float, at::MulFunctor<float>>>(int)
 *   in 51 columns  ->  vectorized_elementwise_kernel<..MulFunctor<float>>> */
void nsx_buf_kernel_shortened(struct nsx_buf *b, struct nsx_str s, size_t width);

#endif
