/* call_name.c -- classes of CUDA calls by their names (source/call_name.h). */
#include "source/call_name.h"

#include "tap.h"

static void
classes(void)
{
	static const struct { const char *name; enum nsx_call_class class; } cases[] = {
		{ "cudaLaunchKernel_v7000", NSX_CALL_LAUNCH }, { "cuLaunchKernelEx", NSX_CALL_LAUNCH },
		{ "cudaGraphLaunch_v10000", NSX_CALL_GRAPH_LAUNCH }, { "hipModuleLaunchKernel", NSX_CALL_LAUNCH },
		{ "cudaMemcpyAsync_v3020", NSX_CALL_COPY }, { "cuMemsetD32Async", NSX_CALL_SET },
		{ "cuModuleLoadData", NSX_CALL_MODULE }, { "cuLibraryLoadData", NSX_CALL_MODULE },
		/* A kernel's code comes to the device when it becomes a function of a context; what else is asked of
		 * kernels loads nothing. */
		{ "cuKernelGetFunction", NSX_CALL_MODULE }, { "cuKernelGetName", NSX_CALL_OTHER },
		{ "cuKernelGetAttribute", NSX_CALL_OTHER }, { "cuKernelSetAttribute", NSX_CALL_OTHER },
		{ "cudaFuncGetAttributes_v3020", NSX_CALL_OTHER }, { "cudaGetFuncBySymbol_v11000", NSX_CALL_OTHER },
		{ "Kernel", NSX_CALL_OTHER }
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		is_int((int)nsx_call_name_of(0, nsx_str_c(cases[i].name)).class, (int)cases[i].class, cases[i].name);
}

int
main(void)
{
	classes();
	return done();
}
