/* xspace.c -- fuzz nsysx-extract: any bytes as an XSpace give a stream in order, or an error. */
#include "extract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file space;
	unsigned chance = fuzz_chance(data, size);
	struct nsx_extract_opts python = { .ranges = NSX_RANGES_ALL, .ops = true, .calls = true, .cpu = true, .python = true,
	                                   .strip_paths = true, .from = INT64_MIN, .to = INT64_MAX, .jobs = 1 };

	/* Other bytes are for other targets. */
	if (size && data[0] != 0x1f && (data[0] > 0x22 || (data[0] & 7) != 2))
		return 0;
	fuzz_file_fill(&space, data, size);
	fuzz_extract_once(space.path, NULL, 1, &python);
	fuzz_extract(space.path, NULL, chance);
	return 0;
}
