/* waits.c -- see waits.h.
 *
 * The waits of operation n are those issued to its CUDA stream after s, the call of the previous operation of that
 * stream, and before c0, the call of n: s < w < c0.
 *
 *   operations of a stream, in order   a: call at 10   b: call at 50   c: call at 40   d: call at 90
 *   waits issued to it at              20, 45, 60
 *   s < w < c0                         a: none           b: 20, 45         c: none (s 50)    d: 60 */
#include "source/waits.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/sort.h"

struct stream { int64_t since; uint32_t first, n; };

static void
wait_ops(struct nsx_trace *t, const struct nsx_map *streams_at, struct stream *streams,
         const struct nsx_sort_key *waits)
{
	for (uint32_t i = 0; i < t->nops; i++) {
		const struct nsx_gpu_op *op = &t->ops[i];
		uint32_t at = nsx_map_get(streams_at, (struct nsx_key){ op->device, (uint64_t)op->stream });
		if (at == NSX_NONE || op->launch == NSX_NONE)
			continue;
		struct stream *s = &streams[at];
		int64_t c0 = t->issues[op->launch].start;
		if (c0 <= s->since)
			continue;
		/* Calls of a stream are in about the order of its operations: waits before s are not needed again. */
		for (; s->n && waits[s->first].k[2] <= s->since; s->n--)
			s->first++;
		for (; s->n && waits[s->first].k[2] < c0; s->n--, s->first++)
			t->op_waits[i]++;
		s->since = c0;
	}
}

bool
nsx_waits_count(struct nsx_trace *t, const struct nsx_wait *list, size_t nlist)
{
	size_t n = nlist < NSX_NONE ? nlist : NSX_NONE - 1;
	struct nsx_sort_key *waits = malloc((n + 1) * sizeof *waits);
	struct stream *streams = malloc((n + 1) * sizeof *streams);
	struct nsx_map at = { 0 };
	uint32_t nstreams = 0;
	bool good = waits && streams;

	for (size_t i = 0; good && i < n; i++)
		waits[i] = (struct nsx_sort_key){ { list[i].device, list[i].stream, list[i].at }, (uint32_t)i };
	if (good && n) {
		t->op_waits = calloc((size_t)t->nops + 1, sizeof *t->op_waits);
		good = t->op_waits != NULL;
		nsx_sort_keys(waits, n);
	}
	for (size_t i = 0; good && i < n; i++) {
		uint32_t *to = nsx_map_at(&at, (struct nsx_key){ (uint64_t)waits[i].k[0], (uint64_t)waits[i].k[1] });
		good = to != NULL;
		if (good && *to == NSX_NONE) {
			*to = nstreams;
			streams[nstreams++] = (struct stream){ INT64_MIN, (uint32_t)i, 0 };
		}
		if (good)
			streams[*to].n++;
	}
	if (good && n)
		wait_ops(t, &at, streams, waits);
	nsx_map_free(&at);
	free(streams);
	free(waits);
	return good;
}
