/* heap.c -- fuzz target: heap traces from any bytes; the result is consistent. */
#include <stdlib.h>

#include "xla/heap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nsx_diags diags = { 0 };
	struct nsx_err err = { "" };
	struct nsx_heap h;

	if (nsx_heap_memory(data, size, "fuzz", NSX_HEAP_LIVE | NSX_HEAP_STEPS, &h, &diags, &err) != NSX_OK && !err.msg[0])
		abort();   /* a refusal has a message */
	for (size_t i = 0; i < h.ntraces; i++) {
		const struct nsx_heap_trace *t = &h.traces[i];
		int64_t sum = 0;
		for (size_t k = 0; k < t->npoints; k++)
			if (t->points[k].bytes < 0 || t->points[k].bytes > t->peak || (k && t->points[k].step <= t->points[k - 1].step))
				abort();
		for (size_t k = 0; k < t->nlive; k++)
			sum += t->live[k].size;
		if (sum != t->peak)
			abort();   /* live buffers at the peak add up to the peak */
	}
	nsx_heap_free(&h);
	nsx_diags_free(&diags);
	return 0;
}
