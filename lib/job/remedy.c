/* remedy.c -- see remedy.h. */
#include "job/remedy.h"

/* CPU: of any of them, if no device is a GPU. */
enum profiler { NSYS, KINETO, XSPACE, PROFILERS, CPU = PROFILERS, NTEXTS };

static enum profiler
profiler_of(const struct nsx_catalogue *cat)
{
	enum profiler is = PROFILERS;

	for (size_t i = 0; i < cat->profiles.n; i++) {
		uint32_t schema = cat->profiles.p[i].schema;
		struct nsx_str s = schema == NSX_NONE ? NSX_STR("") : nsx_cat_str(cat, schema);
		enum profiler one = nsx_str_starts(s, "kineto") ? KINETO : nsx_str_starts(s, "xspace") ? XSPACE : NSYS;

		is = one < is ? one : is;
	}
	return nsx_cat_on_cpu(cat) ? CPU : is == PROFILERS ? NSYS : is;
}

/* Whether all profiles are parts of what was recorded, as --time selects them, that do not begin with it: the end of
 * one that does looks like the end of a recording. */
static bool
is_part(const struct nsx_catalogue *cat)
{
	bool part = cat->profiles.n > 0;

	for (size_t i = 0; i < cat->profiles.n; i++)
		part &= cat->profiles.p[i].from != INT64_MIN;
	return part;
}

const char *
nsx_remedy(const struct nsx_catalogue *cat, enum nsx_lack of)
{
	static const char *const texts[NSX_LACKS][NTEXTS] = {
		[NSX_LACK_WORK] = {
			"record CUDA (nsys profile --trace=cuda,nvtx) and extract with -a; with "
			"--time, a time in which a GPU worked",
			"profile with ProfilerActivity.CUDA (torch.profiler) and extract with -a; with "
			"--time, a time in which a GPU worked",
			"profile what runs on GPUs (jax.profiler, device_tracer_level=1) and extract with -a; with "
			"--time, a time in which a GPU worked",
			"record a run that has instructions of XLA" },
		[NSX_LACK_CALLS] = {
			"extract with -a; if that finds no calls, record them (nsys profile --trace=cuda,nvtx), for "
			"only they tell what the device waited for",
			"extract with -a; if that finds no calls, record them (torch.profiler with "
			"ProfilerActivity.CPU and ProfilerActivity.CUDA), for only they tell what the device waited "
			"for",
			"extract with -a; if that finds no calls, record them (jax.profiler with host_tracer_level and "
			"device_tracer_level above 0), for only they tell what the device waited for" ,
			"profile the threads of the CPU (perf record): nothing is launched, so what an instruction "
			"waited for is not in the profile" },
		[NSX_LACK_SIZES] = {
			"sizes of collectives are not in the export: the payloads of NCCL's NVTX ranges have them "
			"(nsys export --include-blobs=true)",
			"sizes of collectives are not in the trace: PyTorch from 2024 on records them of process "
			"groups, outside CUDA graphs",
			"sizes of collectives that are not instructions are not in an XSpace" ,
			"sizes of collectives that are not instructions are not in an XSpace" },
		[NSX_LACK_TOGETHER] = {
			"which operations are one collective is not in the export: the payloads of NCCL's NVTX ranges "
			"have it (nsys export --include-blobs=true)",
			"which operations are one collective is not in the trace: PyTorch from 2024 on records it of "
			"process groups, outside CUDA graphs",
			"which operations are one collective is in an XSpace of instructions only" ,
			"which operations are one collective is in an XSpace of instructions only" },
		[NSX_LACK_MEMBERS] = {
			"NCCL's payloads say it (nsys export --include-blobs=true)",
			"PyTorch from 2024 on records it of process groups, outside CUDA graphs",
			"an XSpace says it of instructions only" ,
			"an XSpace says it of instructions only" },
		[NSX_LACK_METRICS] = {
			"record with nsysx-record --gpu-metrics-devices=all, or with that option of nsys profile, and "
			"prepare or extract with --metrics",
			"PyTorch's profiler records none; nsysx-record --gpu-metrics-devices=all does",
			"JAX's profiler records none; nsysx-record --gpu-metrics-devices=all does" ,
			"a CPU has none" },
	};

	/* A recording may well have what a part of it has not. */
	if (of == NSX_LACK_WORK && is_part(cat))
		return "the time that --time selected has none, or CUDA was not recorded";
	return texts[of][profiler_of(cat)];
}

const char *
nsx_no_calls(const struct nsx_catalogue *cat, const char *text)
{
	return nsx_cat_on_cpu(cat) ? "instructions ran on a CPU, where nothing is launched" : text;
}
