/* backward_of.c -- see backward_of.h. */
#include "job/backward_of.h"

#include <stdlib.h>

#include "base/num.h"

void
nsx_backwards_need(struct nsx_reader *in)
{
	nsx_reader_need(in, NSX_RANGE, NSX_C(RANGE, profile) | NSX_C(RANGE, pid) | NSX_C(RANGE, tid)
	                               | NSX_C(RANGE, host_start) | NSX_C(RANGE, host_dur));
	nsx_reader_need(in, NSX_OP, NSX_C(OP, profile) | NSX_C(OP, device) | NSX_C(OP, name) | NSX_C(OP, tid)
	                            | NSX_C(OP, host_start));
}

bool
nsx_backwards_add(struct nsx_backwards *b, const struct nsx_rec *range)
{
	struct nsx_key process = { (uint64_t)nsx_int(range, NSX_RANGE_profile, NSX_ABSENT),
	                           (uint64_t)nsx_int(range, NSX_RANGE_pid, NSX_ABSENT) };
	struct nsx_backward_spans *spans;
	uint32_t at;

	if (!nsx_has(range, NSX_RANGE_tid) || !nsx_has(range, NSX_RANGE_host_start)
	    || !nsx_has(range, NSX_RANGE_host_dur))
		return true;
	at = nsx_map_number(&b->of, process);
	if (at == NSX_NONE || !nsx_vec_reach(&b->of_process, at, NULL))
		return false;
	spans = &b->of_process.p[at];
	spans->span[spans->n++ % NSX_BACKWARDS_KEPT] = (struct nsx_backward_span){ range->v[NSX_RANGE_tid].i,
		range->v[NSX_RANGE_host_start].i,
		nsx_add_sat(range->v[NSX_RANGE_host_start].i, range->v[NSX_RANGE_host_dur].i, NULL) };
	return true;
}

bool
nsx_backwards_have(const struct nsx_backwards *b, struct nsx_catalogue *cat, const struct nsx_rec *op)
{
	struct nsx_str name = nsx_string(op, NSX_OP_name);
	const struct nsx_backward_spans *spans;
	uint32_t device, at;

	if (!b->of_process.n || !nsx_has(op, NSX_OP_tid) || !nsx_has(op, NSX_OP_host_start)
	    || nsx_str_ends(name, "Host-to-Device]") || nsx_str_ends(name, "Device-to-Host]")
	    || (device = nsx_cat_device(cat, op)) == NSX_NONE)
		return false;
	at = nsx_map_get(&b->of, (struct nsx_key){ (uint64_t)nsx_int(op, NSX_OP_profile, NSX_ABSENT),
	                                           (uint64_t)cat->devices.p[device].pid });
	if (at == NSX_NONE)
		return false;
	/* The latest first: what is sought is among the last few. */
	spans = &b->of_process.p[at];
	for (size_t i = spans->n; i && i + NSX_BACKWARDS_KEPT > spans->n; i--) {
		const struct nsx_backward_span *s = &spans->span[(i - 1) % NSX_BACKWARDS_KEPT];

		if (s->start <= op->v[NSX_OP_host_start].i && op->v[NSX_OP_host_start].i < s->end
		    && s->tid != op->v[NSX_OP_tid].i)
			return true;
	}
	return false;
}

void
nsx_backwards_free(struct nsx_backwards *b)
{
	nsx_map_free(&b->of);
	free(b->of_process.p);
}
