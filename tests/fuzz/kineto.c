/* kineto.c -- fuzz nsysx-extract: any bytes as a trace of PyTorch's profiler give a stream in order, or an error. */
#include "extract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file trace;
	unsigned chance = fuzz_chance(data, size);
	struct nsx_extract_opts python = { .ranges = NSX_RANGES_ALL, .ops = true, .calls = true, .cpu = true, .python = true,
	                                   .strip_paths = true, .from = INT64_MIN, .to = INT64_MAX, .jobs = 1 + (int)(chance & 1) };

	/* Other bytes are for other targets. */
	if (size && data[0] != '{' && data[0] != '[' && data[0] != 0x1f && data[0] > ' ')
		return 0;
	fuzz_file_fill(&trace, data, size);
	fuzz_extract_once(trace.path, NULL, 1, &python);
	fuzz_extract(trace.path, NULL, chance);
	return 0;
}
