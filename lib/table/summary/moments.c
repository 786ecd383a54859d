/* moments.c -- the time of each device by its operations. */
#include "table/summary/moments.h"

#include <stdlib.h>

#include "job/reach.h"

static int
add_part(void *state, enum nsx_part part, int64_t start, int64_t end)
{
	struct nsx_moments *m = state;

	if (part == NSX_PART_IDLE)
		start = nsx_removed_end(&m->removed, start, end);
	m->of[part] += (uint64_t)end - (uint64_t)start;
	return NSX_OK;
}

bool
nsx_moments_take(struct nsx_all_moments *a, struct nsx_catalogue *cat, uint32_t device, const struct nsx_rec *op)
{
	int64_t start = nsx_int(op, NSX_OP_start, 0), dur = nsx_int(op, NSX_OP_dur, -1);
	bool comm = nsx_cat_communicates(cat, op);

	a->any = true;
	if (device == NSX_NONE
	    || !nsx_vec_reach(&a->devices, device, &(struct nsx_moments){ .removed = NSX_REMOVED_NONE }))
		return false;
	if (dur < 0 || !nsx_has(op, NSX_OP_start)) {
		a->timeless++;
		return true;
	}
	struct nsx_moments *m = &a->devices.p[device];

	a->late += m->parts.begun && start < m->parts.at;
	nsx_removed_take(&m->removed, op);
	nsx_parts_add(&m->parts, nsx_part_of(op, comm), start, nsx_add_sat(start, dur, NULL), add_part, m);
	return nsx_overruns_take_op(&a->overruns, device, op);
}

void
nsx_moments_finish(struct nsx_all_moments *a)
{
	for (size_t i = 0; i < a->devices.n; i++)
		nsx_parts_finish(&a->devices.p[i].parts, add_part, &a->devices.p[i]);
}

nsx_u128
nsx_moments_window(const struct nsx_moments *m)
{
	return m->of[NSX_PART_COMPUTE] + m->of[NSX_PART_COMM] + m->of[NSX_PART_COPY] + m->of[NSX_PART_IDLE];
}

void
nsx_moments_diags(struct nsx_all_moments *a, struct nsx_diags *diags)
{
	nsx_diag_add(diags, NSX_WARNING, "", a->timeless, "operations without start or duration: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", a->late,
		"operations out of order on their device: the time before the latest start seen is ignored");
	nsx_overruns_report(&a->overruns, diags, NSX_OVERRUNS_COUNT);
}

void
nsx_moments_free(struct nsx_all_moments *a)
{
	nsx_overruns_free(&a->overruns);
	free(a->devices.p);
}
