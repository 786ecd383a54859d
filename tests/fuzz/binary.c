/* binary.c -- fuzz the binary reader: any bytes are a stream or an error, and records that were read can be written and read again. */
#include <stdlib.h>
#include <string.h>

#include "stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[] = "\x0a\x09\x0a\x05nsysx\x10\x02";
	size_t n = sizeof head - 1;

	fuzz_stream(data, size, 0);
	/* The bytes as blocks, so that the fuzzer need not find the beginning. */
	uint8_t *with = malloc(n + size);
	if (!with)
		return 0;
	memcpy(with, head, n);
	memcpy(with + n, data, size);
	fuzz_stream(with, n + size, 0);
	free(with);
	return 0;
}
