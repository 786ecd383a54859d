/* export.c -- fuzz nsysx-extract: any bytes as an export give a stream in order, or an error. */
#include "extract.h"
#include "tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file export;
	unsigned chance = fuzz_chance(data, size);

	fuzz_file_fill(&export, data, size);
	if (chance % 4 == 2)
		fuzz_tables(export.path);
	fuzz_extract(export.path, NULL, chance);
	return 0;
}
