/* family.c -- families of kernels (job/family.h), by the names that profiles have. */
#include "job/family.h"

#include <string.h>

#include "tap.h"

static void
kernels(void)
{
	static const struct { const char *name, *family, *kind; } cases[] = {
		{ "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128, (int)128, (int)64, (int)4, (bool)0>>(Params)", "attention", "flash 2" },
		{ "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::Flash_bwd_kernel_traits<64>>(Params)", "attention", "flash 2" },
		{ "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2>>>>(T1::Params)",
		  "attention", "flash 3" },
		{ "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_kernel0_0", "attention", "cuDNN" },
		{ "fmha_cutlassF_f16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::half_t>::Params)", "attention", "memory-efficient" },
		{ "triton_poi_fused__scaled_dot_product_flash_attention_clone_3", "fused", "pointwise" },
		{ "triton_poi_fused__to_copy_12", "cast", "" },
		{ "triton_poi_fused__to_copy_add_12", "fused", "pointwise" },
		{ "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas", "gemm", "f32" },
		/* Of the types, the first are those of the operands in memory, and the next is that of the product. */
		{ "sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize128x256x32_warpgroupsize2x1x1_execute_segment_k_off_kernel__5x_cublas", "gemm", "tf32" },
		{ "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", "gemm", "bf16" },
		{ "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>(cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4::Params)",
		  "gemm", "tf32" },
		{ "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>(Params)", "gemm", "bf16" },
		{ "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(Params)", "gemm", "f32" },
		{ "ampere_sgemm_32x32_sliced1x4_tn", "gemm", "f32" },
		{ "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn", "gemm", "f16" },
		{ "volta_h884gemm_64x128_ldg8_tn", "gemm", "f16" },
		{ "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", "gemm", "bf16" },
		{ "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNN", "gemm", "f16" },
		{ "nvjet_splitk_1", "gemm", "" },
		{ "void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, float, true, true, false>(cublasLt::cublasSplitKParams<float>)", "gemm", "" },
		{ "sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16_stage4_warpsize2x2x1_g1_tensor16x8x8_execute_kernel_cudnn_train",
		  "convolution", "tf32" },
		{ "cudnn_infer_ampere_scudnn_128x64_relu_xregs_large_nn_v1", "convolution", "f32" },
		{ "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 128, true, 1, true>(cudnnTensorStruct, float const*)", "normalisation", "" },
		{ "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float)", "normalisation", "" },
		{ "void (anonymous namespace)::softmax_warp_backward<float, float, float, 10, true, false>(float*, float const*)", "softmax", "" },
		{ "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 3)]>(int)",
		  "cast", "" },
		{ "void at::native::vectorized_elementwise_kernel<4, at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}>(int)",
		  "cast", "" },
		{ "void at::native::elementwise_kernel<(int)128, (int)2, void at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::X &)>>(int)",
		  "layout", "" },
		{ "void at::native::elementwise_kernel<(int)128, (int)4, void at::native::gpu_kernel_impl<at::native::direct_copy_kernel_cuda(at::X &)>>(int)",
		  "cast", "" },
		{ "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>(float const*, float*)", "layout", "" },
		{ "void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>, std::array<char *, (unsigned long)3>>(int, T2, T3)",
		  "elementwise", "" },
		{ "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>>>(T3)", "reduction", "" },
		{ "void at::native::multi_tensor_apply_kernel<at::native::TensorListMetadata<(int)4>>(T1, T2, T3...)", "multi-tensor", "" },
		{ "void split_embedding_codegen_forward_unweighted_kernel<c10::Half, float>(at::X, fbgemm_gpu::FixedDivisor, at::X)", "embedding", "" },
		{ "split_embedding_backward_codegen_rowwise_adagrad_unweighted_find_long_segments(at::X)", "embedding", "" },
		{ "void bounds_check_indices_kernel<long, false>(at::X, int const*, long, at::X, fbgemm_gpu::FixedDivisor)", "embedding", "" },
		{ "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<float>(long const*)", "embedding", "" },
		{ "void fbgemm_gpu::permute_2D_lengths_kernel<int>(int, int, int const*, int const*, int*)", "layout", "" },
		{ "void fbgemm_gpu::(anonymous namespace)::_compute_FP8_quantize_cuda_kernel<float>(float const*, float)", "cast", "" },
		{ "void fbgemm_gpu::(anonymous namespace)::_get_FP8_qparam_cuda_kernel<float>(float const*, int)", "cast", "" },
		{ "void fbgemm_gpu::(anonymous namespace)::_FP8rowwise_to_float_cuda_kernel<float>(unsigned char const*)", "cast", "" },
		{ "void at::native::vectorized_elementwise_kernel<4, fbgemm_gpu::_float_to_hfp8_gpu(at::Tensor const&)::{lambda(float)#1}>(int)", "cast", "" },
		{ "void at::native::vectorized_elementwise_kernel<4, fbgemm_gpu::_hfp8_to_float_gpu(at::Tensor const&)::{lambda()#1}>(int)", "cast", "" },
		{ "void fbgemm_gpu::_offsets_range_cuda_kernel<int>(long, long, int const*, int*)", "other", "" },
		{ "void cutlass::device_kernel<fbgemm_gpu::cutlass::gemm::GemmUniversal<cutlass::bfloat16_t>>(T1::Params)", "gemm", "bf16" },
		{ "fbgemm_hgemm", "gemm", "f16" },
		{ "gemm_fusion_transpose_7", "gemm", "" },
		{ "input_reduce_transpose_fusion_21", "fused", "reduction" },
		{ "loop_convert_fusion_20", "fused", "pointwise" },
		{ "loop_transpose_fusion", "layout", "" },
		{ "wrapped_transpose.1", "layout", "" },
		{ "wrapped_convert", "cast", "" },
		{ "wrapped_add", "elementwise", "" },
		{ "kernel_unified_attention_3d", "attention", "Triton" },
		{ "reduce_segments", "attention", "Triton" },
		{ "reduce_segments_of_mine", "other", "" },
		{ "mine", "other", "" },
		{ "", "other", "" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct nsx_family f = nsx_family_of_kernel(nsx_str_c(cases[i].name));

		is_str(f.family, cases[i].family, "family of %.60s", cases[i].name);
		is_str(f.kind, cases[i].kind, "kind of %.60s", cases[i].name);
	}
}

static void
patterns(void)
{
	static const struct { const char *name, *pattern; bool matches; } cases[] = {
		{ "", "", true }, { "a", "", false }, { "", "*", true }, { "abc", "abc", true }, { "abc", "ab", false }, { "ab", "abc", false },
		{ "abc", "*bc", true }, { "abcd", "*bc", false }, { "bcbc", "*bc", true }, { "abc", "a*", true }, { "abc", "a*c", true }, { "ab", "a*c", false },
		{ "xaybzc", "*a*b*c", true }, { "aab", "*ab", true }, { "aXbXbY", "a*bY", true }, { "a12b", "a#b", true }, { "ab", "a#b", false },
		{ "a1", "a#", true }, { "a1b", "a#", false }, { "xx7", "*#", true }, { "abab", "ab*ab", true }, { "aba", "ab*ba", false },
		{ "fbgemm::x", "*gemm*", false }, { "fbgemm_gemm", "*gemm*", true }, { "gemm<fbgemm>", "*gemm*", true }, { "bgemm", "*gemm*", true },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		is_int(nsx_family_matches(nsx_str_c(cases[i].name), cases[i].pattern), cases[i].matches, "'%s' and '%s'", cases[i].name, cases[i].pattern);
}

int
main(void)
{
	struct nsx_family f, gemm = { "gemm", "" }, flash = { "attention", "flash 2" };

	kernels();
	patterns();
	is_str(nsx_family_of_inst(gemm, "bf16").kind, "bf16", "an instruction tells the type");
	is_str(nsx_family_of_inst((struct nsx_family){ "gemm", "tf32" }, "f32").kind, "tf32", "but not if the kernel does");
	is_str(nsx_family_of_inst((struct nsx_family){ "other", "" }, "f8").family, "gemm", "a kernel of another name that makes a product");
	is_str(nsx_family_of_inst(flash, "bf16").kind, "flash 2", "attention stays what it is");
	is_str(nsx_family_of_inst((struct nsx_family){ "fused", "pointwise" }, "").family, "fused", "as does a fusion without a product");
	ok(nsx_family_of_type(NSX_STR("memcpy"), NSX_STR("[CUDA memcpy Host-to-Device]"), &f) && strcmp(f.family, "copy") == 0
	   && strcmp(f.kind, "host to device") == 0, "a copy");
	ok(nsx_family_of_type(NSX_STR("memset"), NSX_STR("[CUDA memset]"), &f) && strcmp(f.family, "set") == 0 && !*f.kind, "a set");
	ok(nsx_family_of_type(NSX_STR("graph"), NSX_STR("x"), &f) && strcmp(f.family, "graph") == 0, "a graph");
	ok(!nsx_family_of_type(NSX_STR("kernel"), NSX_STR("x"), &f), "a kernel is decided by its name");
	return done();
}
