/* text.c -- fuzz the text reader: any bytes are a stream or an error, and records that were read can be written and read again. */
#include "stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* As a stream, and as a partial stream. */
	fuzz_stream(data, size, NSX_READ_ORDERED);
	fuzz_stream(data, size, NSX_READ_PARTIAL);
	return 0;
}
