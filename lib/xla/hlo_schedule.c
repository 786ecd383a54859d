/* hlo_schedule.c -- the order in which the instructions of a computation run. */
#include <stdlib.h>

#include "base/sort.h"
#include "xla/hlo_int.h"

int
nsx_hlo_schedule_read(struct nsx_hlo_build *b, struct nsx_extent span)
{
	struct nsx_wire w = nsx_wire(b->f, span);
	int rc;

	while ((rc = nsx_wire_next(&w)) == NSX_OK) {
		if (w.field != 1 || w.type != NSX_WIRE_LEN)
			continue;
		const Nsysx__NsxHloScheduled *s = nsx_unpack_message(&b->u, w.span,
			&nsysx__nsx_hlo_scheduled__descriptor);
		if (!s)
			return NSX_ERR;
		for (size_t i = 0; s->sequence && i < s->sequence->n_instruction_ids; i++)
			if (!nsx_vec_push(&b->schedule,
			    ((struct nsx_hlo_slot){ s->computation, s->sequence->instruction_ids[i], (uint32_t)i })))
				return nsx_hlo_nomem(b);
	}
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

NSX_ORDER(by_instruction, struct nsx_hlo_slot, NSX_CMP(a->comp, b->comp), NSX_CMP(a->id, b->id),
          NSX_CMP(a->at, b->at))

void
nsx_hlo_schedule_sort(struct nsx_hlo_build *b)
{
	if (b->schedule.n)
		qsort(b->schedule.p, b->schedule.n, sizeof *b->schedule.p, by_instruction);
}

uint32_t
nsx_hlo_schedule_at(const struct nsx_hlo_build *b, int64_t comp, int64_t id)
{
	struct nsx_hlo_slot want = { comp, id, 0 };
	size_t lo = 0, hi = b->schedule.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (by_instruction(&b->schedule.p[mid], &want) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	bool found = lo < b->schedule.n && b->schedule.p[lo].comp == comp && b->schedule.p[lo].id == id;
	return found ? b->schedule.p[lo].at : NSX_NONE;
}
