/* calls.c -- arrows from calls: each goes to the first operation that the call issued. The number of waiting calls is
 * bounded, since operations of a call may have been removed from the stream. */
#include <stdlib.h>

#include "draw/perfetto/trace.h"

/* CUDA queues fewer launches of a process than this. */
enum { PENDING = 1 << 16 };

uint32_t
nsx_pending_call(struct nsx_pending *p, int64_t profile, int64_t call)
{
	struct nsx_key key = { (uint64_t)profile, (uint64_t)call };

	if (!p->ring && !(p->ring = malloc(PENDING * sizeof *p->ring)))
		return 0;
	if (p->n == PENDING) {
		/* It may have been removed before. */
		nsx_map_del(&p->number_of, p->ring[p->first]);
		p->first = (p->first + 1) % PENDING;
		p->n--;
	}
	uint32_t *at = nsx_map_at(&p->number_of, key);
	if (!at)
		return 0;
	p->ring[(p->first + p->n++) % PENDING] = key;
	/* Numbers go from 1 to below NSX_NONE, and then start again: the first arrows ended long before. */
	p->numbers = p->numbers < NSX_NONE - 1 ? p->numbers + 1 : 1;
	return *at = p->numbers;
}

uint32_t
nsx_pending_op(struct nsx_pending *p, int64_t profile, int64_t call)
{
	struct nsx_key key = { (uint64_t)profile, (uint64_t)call };
	uint32_t number = nsx_map_get(&p->number_of, key);

	if (number == NSX_NONE)
		return 0;
	nsx_map_del(&p->number_of, key);
	return number;
}

void
nsx_pending_free(struct nsx_pending *p)
{
	nsx_map_free(&p->number_of);
	free(p->ring);
}
