/* comm_names.c -- communication by names: every rule for kernels with names that it must not match, the user's rules, instructions. */
#include "job/comm/names.h"
#include "job/frameworks.h"

#include <stdlib.h>

#include "tap.h"

static bool
same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void
heads(void)
{
	static const struct { const char *name, *head; } t[] = {
		{ "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)", "ncclDevKernel_SendRecv" },
		{ "void deep_ep::internode_ll::dispatch<(bool)1, (int)7168>(void *, int *)", "deep_ep::internode_ll::dispatch" },
		{ "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16>(T1 *)", "multimem_all_reduce_kernel" },
		{ "void at::native::<unnamed>::cat<(int)2>(T1 *)", "at::native::cat" },
		{ "a::(anonymous namespace)::b::(anonymous namespace)::c(int)", "a::b::c" },
		{ "voided", "voided" }, { "(int)", "" }, { "", "" }, { "void ", "" }, { "all_reduce", "all_reduce" },
	};
	struct nsx_buf b = { 0 };

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct nsx_str h = nsx_kernel_head(nsx_str_c(t[i].name), &b);
		ok(nsx_str_eq(h, nsx_str_c(t[i].head)) && h.ptr[h.len] == '\0', "head of \"%s\"", t[i].name);
	}
	nsx_buf_free(&b);
}

static void
kernels(void)
{
	static const struct { const char *name, *kind; } t[] = {
		/* 1: they compute, whatever else their names hold */
		{ "triton_poi_fused_all_gather_into_tensor_2", NULL }, { "triton_red_fused__to_copy_all_reduce_wait_tensor_7(float *)", NULL },
		{ "triton_per_fused_all_reduce", NULL }, { "void at::native::scatter_reduce_kernel<float>(float *)", NULL }, { "my_scatter_reduce_scatter", "reduce-scatter" },
		{ "void oneRankReduce<FuncPreMulSum<float>>(void *)", NULL }, { "oneRankReduce_nccl_all_reduce", "all-reduce" },
		{ "triton_2_fused_all_reduce", "all-reduce" }, { "triton__fused_all_reduce", "all-reduce" }, { "x_triton_poi_fused_all_gather", "all-gather" },
		/* 2, 3 */
		{ "ncclSymkDevKernel_AllGather_LLMC(ncclSymkDevWorkArgs4K)", "all-gather" }, { "ncclSymDevKernel_ReduceScatter_LD_sum_f32(x)", "reduce-scatter" },
		{ "ncclSymDevKernel_AllReduce_AGxLL_R_sum_f32(x)", "all-reduce" }, { "ncclSymkDevKernel_Other_LL", "nccl" },
		{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)", "all-reduce" },
		{ "ncclKernel_ReduceScatter_RING_LL_Sum_half(ncclDevComm*, unsigned long, ncclWork*)", "reduce-scatter" },
		{ "ncclDevKernel_AllGather_RING_LL", "all-gather" }, { "ncclDevKernel_AllGatherV_RING_LL", "all-gather" },
		{ "ncclDevKernel_Broadcast_RING_LL(x)", "broadcast" }, { "ncclDevKernel_Reduce_Sum_bf16_RING_LL(x)", "reduce" },
		{ "xncclDevKernel_AllReduce_Sum", "all-reduce" }, { "xncclDevKernel_Generic", NULL }, { "ns::ncclDevKernel_Reduce_x", "reduce" },
		/* 4, 5 */
		{ "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)", "send-recv" },
		{ "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", "nccl" },
		{ "ncclDevKernel_SendRecv_2", "nccl" }, { "ncclDevKernel_Generic(x)", "nccl" }, { "ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "nccl" },
		{ "ncclKernel_AllReduce", "nccl" }, { "nccl_Kernel", NULL }, { "ncclInit", NULL }, { "anccl2Kernel", NULL },
		/* 6, 7 */
		{ "nvshmemi_collective_launch_barrier_kernel(int)", "nvshmem" }, { "void foo_nvshmem_put<int>(int)", "nvshmem" },
		{ "void deep_ep::intranode::notify_dispatch<(int)8>(int)", "all-to-all" }, { "deep_ep::internode::cached_notify_combine", "all-to-all" },
		{ "void deep_ep::layout::get_dispatch_layout<int>(int)", NULL }, { "dispatch", NULL }, { "deep_ep::dispatch", NULL }, { "deep_ep::a::b::dispatch", NULL },
		{ "tensorrt_llm::kernels::moe_a2a_dispatch", "all-to-all" }, { "moeAllToAllKernel", "all-to-all" }, { "xmoeA2A", NULL }, { "kernels::moeA2ACombine", "all-to-all" },
		/* 8, 9: of the last identifier alone */
		{ "void vllm::cross_device_reduce_1stage<__nv_bfloat16, (int)2>(T1 *, int)", "all-reduce" }, { "across_device_reduce_x", NULL },
		{ "void two_shot_all_reduce_kernel_inplace<c10::BFloat16>(T1 **)", "all-reduce" },
		{ "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(int)0>(x)", "all-reduce" },
		{ "flashinfer::trtllm_allreduce_fusion::rmsnorm", NULL }, { "OneShotReduceKernel", "all-reduce" }, { "two_shot_reduce", "all-reduce" },
		{ "AllReduceTwoShot", "all-reduce" }, { "all__reduce", NULL }, { "all_reduce::finish", NULL }, { "finish<all_reduce>(int)", NULL },
		{ "push_AllGather_kernel", "all-gather" }, { "triton_dist_all_gather_push", "all-gather" }, { "userbuffers_fp16_sum_inplace_gpu_rw_allgather", "all-gather" },
		{ "kernel_reducescatter_ring", "reduce-scatter" }, { "ALL_TO_ALL", "all-to-all" }, { "all2all", NULL }, { "alltoall_post", "all-to-all" },
		{ "void userbuffers_fp16_sum_inplace<int>(int)", "nccl" }, { "te::userbuffers_x", "nccl" }, { "my_userbuffers_x", NULL },
		{ "void cutlass::Kernel2<x>(y)", NULL }, { "reduce_kernel", NULL }, { "loop_add_fusion", NULL }, { "", NULL },
	};
	struct nsx_buf b = { 0 };

	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		ok(same(nsx_comm_by_kernel(NULL, nsx_str_c(t[i].name), &b), t[i].kind), "kernel \"%s\"", t[i].name);
	nsx_buf_free(&b);
}

static void
users(void)
{
	struct nsx_comm_rules rules = { 0 };
	struct nsx_buf b = { 0 };
	struct nsx_err err = { "" };

	ok(nsx_comm_rules_add(&rules, "^a(b|=)+$=first", &err) == NSX_OK && nsx_comm_rules_add(&rules, "SendRecv=", &err) == NSX_OK &&
	   nsx_comm_rules_add(&rules, "^ab=all-gather", &err) == NSX_OK && rules.n == 3, "rules taken");
	ok(same(nsx_comm_by_kernel(&rules, NSX_STR("void ab==b<int>(x)"), &b), "first"), "split at the last '=', matched with the head");
	ok(same(nsx_comm_by_kernel(&rules, NSX_STR("abc"), &b), "all-gather"), "the first that matches");
	ok(!nsx_comm_by_kernel(&rules, NSX_STR("ncclDevKernel_SendRecv(x)"), &b), "an empty kind: it computes");
	ok(same(nsx_comm_by_kernel(&rules, NSX_STR("ncclDevKernel_Generic(ab)"), &b), "nccl"), "then the built-in rules");
	ok(nsx_comm_rules_add(&rules, "none", &err) == NSX_ERR && strstr(err.msg, "REGEX=KIND"), "no '=' is no rule: %s", err.msg);
	err.msg[0] = '\0';
	ok(nsx_comm_rules_add(&rules, "=kind", &err) == NSX_ERR && strstr(err.msg, "REGEX=KIND"), "a rule without an expression is refused");
	err.msg[0] = '\0';
	ok(nsx_comm_rules_add(&rules, "a(=kind", &err) == NSX_ERR && strstr(err.msg, "\"a(\""), "a broken expression: %s", err.msg);
	ok(rules.n == 3, "a refused rule is not added");
	nsx_comm_rules_free(&rules);
	ok(!rules.n && !rules.rule, "freed");
	nsx_buf_free(&b);
}

static void
instructions(void)
{
	static const struct { const char *name, *kind; } t[] = {
		{ "all-reduce", "all-reduce" }, { "all-reduce-start.12", "all-reduce" }, { "all-gather-start", "all-gather" },
		{ "reduce-scatter.131", "reduce-scatter" }, { "ragged-all-to-all.1", "ragged-all-to-all" }, { "all-to-all", "all-to-all" },
		{ "collective-permute-start.3", "collective-permute" }, { "send.1", "send" }, { "recv", "recv" },
		{ "all_to_all.9.1", "all-to-all" }, { "all_gather_start.2", "all-gather" }, { "ragged_all_to_all", "ragged-all-to-all" },
		{ "all-reduce-done.12", NULL }, { "all_gather_done.1", NULL }, { "all-reduce-scatter-fusion", NULL }, { "loop_add_fusion.3", NULL },
		{ "all_gather_fusion", NULL }, { "sender.1", NULL }, { "all-", NULL }, { "", NULL },
	};
	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		ok(same(nsx_comm_by_instruction(nsx_str_c(t[i].name)), t[i].kind), "instruction \"%s\"", t[i].name);
}

static void
ranges(void)
{
	static const struct { const char *name, *kind; } t[] = {
		{ "nccl:all_to_all, op_id = 990772", "all-to-all" }, { "nccl:all_reduce", "all-reduce" }, { "nccl:all_reduce_sparse", "all-reduce" },
		{ "nccl:allreduce_coalesced", "all-reduce" }, { "nccl:_all_gather_base, seq = 3", "all-gather" }, { "nccl:all_gather_into_tensor_coalesced", "all-gather" },
		{ "nccl:_reduce_scatter_base", "reduce-scatter" }, { "nccl:reduce_scatter_tensor_coalesced", "reduce-scatter" }, { "nccl:reduce_scatter", "reduce-scatter" },
		{ "nccl:reduce", "reduce" }, { "nccl:_reduce_oop", "reduce" }, { "nccl:broadcast", "broadcast" }, { "nccl:_broadcast_oop", "broadcast" },
		{ "nccl:gather", "gather" }, { "nccl:scatter", "scatter" }, { "nccl:send 0->1", "send-recv" }, { "nccl:recv 1<-0", "send-recv" },
		{ "c10d::allreduce_, op_id = 1", "all-reduce" }, { "c10d::alltoall_base_", "all-to-all" }, { "c10d::_allgather_base_", "all-gather" },
		{ "c10d::send", "send-recv" }, { "c10d::recv_", "send-recv" }, { "_c10d_functional::all_to_all_single", "all-to-all" },
	};
	static const char *const none[] = { "nccl:allreducer", "nccl:sender", "nccl:", "c10d::", "all_reduce", "aten::gather", "ncclAllReduce",
		"_c10d_functional::wait_tensor", "my nccl:all_reduce", "" };
	static const char *const open[] = { "nccl:coalesced", "nccl:barrier", "c10d::barrier" };

	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		ok(same(nsx_comm_range_kind(nsx_comm_by_range(nsx_str_c(t[i].name))), t[i].kind), "range \"%s\"", t[i].name);
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		ok(nsx_comm_by_range(nsx_str_c(none[i])) == NSX_COMM_NO_RANGE, "no range of a collective: \"%s\"", none[i]);
	for (size_t i = 0; i < sizeof open / sizeof *open; i++)
		ok(nsx_comm_by_range(nsx_str_c(open[i])) == NSX_COMM_KERNEL, "the kernel says more: \"%s\"", open[i]);
	ok(!nsx_comm_range_kind(NSX_COMM_NO_RANGE) && !nsx_comm_range_kind(NSX_COMM_KERNEL) && !nsx_comm_range_kind(1000), "no kind of other numbers");
	ok(nsx_comm_can_run("send-recv", "all-to-all") && nsx_comm_can_run("nccl", "reduce") && nsx_comm_can_run("broadcast", "all-gather"), "kernels that run others");
	ok(!nsx_comm_can_run("all-reduce", "all-to-all") && !nsx_comm_can_run("send-recv", "all-reduce") && !nsx_comm_can_run("nvshmem", "reduce"), "and those that do not");
}

/* Lines of a use that come after those of a later one would not be found. */
static void
uses(void)
{
	static const enum nsx_framework_use of[] = {
#define NAME(use, text, whose) NSX_FRAMEWORK_##use,
#define COMM(use, text, kind, whose) NSX_FRAMEWORK_##use,
#define ADVICE(causes, range, also, calls, small, stepped, name, action)
#include "job/frameworks.def"
	};

	for (size_t i = 1; i < sizeof of / sizeof *of; i++)
		if (of[i] < of[i - 1])
			ok(false, "line %zu of frameworks.def is in the order of uses", i);
	ok(of[0] == NSX_FRAMEWORK_STEP, "lines of frameworks.def are in the order of uses");
}

int
main(void)
{
	uses();
	ranges();
	heads();
	kernels();
	users();
	instructions();
	return done();
}
