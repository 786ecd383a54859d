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
nsx_moments_take(struct nsx_all_moments *a, const struct nsx_event *e)
{
	a->any = true;
	if (!nsx_vec_reach(&a->devices, e->device, &(struct nsx_moments){ .removed = NSX_REMOVED_NONE }))
		return false;
	a->timeless += e->end == NSX_ABSENT;
	a->beyond += e->end != NSX_ABSENT && !e->reaches;
	if (e->end == NSX_ABSENT || !e->reaches)
		return true;
	struct nsx_moments *m = &a->devices.p[e->device];

	a->late += m->parts.begun && e->start < m->parts.at;
	nsx_removed_take(&m->removed, e->rec);
	nsx_parts_add(&m->parts, e->part, e->start, e->end, add_part, m);
	return nsx_overruns_take_op(&a->overruns, e->device, e->rec);
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
	nsx_diag_add(diags, NSX_WARNING, "", a->beyond, NSX_BEYOND_REACH);
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
