/* operator_work.h -- what an operator of PyTorch has to compute, from the sizes of its inputs, where these tell: matrix
 * products and attention, which is counted in full, also if a mask leaves half of it out.
 *
 *   aten::addmm                                  [[512], [141, 512], [512, 2048]]      2 * 141 * 512 * 2048
 *   aten::_scaled_dot_product_flash_attention    q, k, v: [batch, heads, length, size]
 *
 * How large the result of a convolution is depends on its stride and padding, which are not sizes of inputs. */
#ifndef NSX_JOB_OPERATOR_WORK_H
#define NSX_JOB_OPERATOR_WORK_H

#include <stdint.h>

#include "base/str.h"

/* Floating-point operations of one call of the operator of that name, without suffixes; sizes: "[[2, 3], [3, 4]]", as
 * emit_nvtx and PyTorch's profiler record them. NSX_ABSENT: not known, or beyond 62 bits. */
int64_t nsx_operator_flops(struct nsx_str key, struct nsx_str sizes);

#endif
