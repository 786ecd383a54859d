/* moments.c -- the time of each device by its operations. */
#include "table/summary/moments.h"

#include <stdlib.h>
#include <string.h>

#include "job/reach.h"

/* A device whose time is being added. */
struct adding { struct nsx_all_moments *all; uint32_t device; };

/* What of [start, end) is in a window: communication and copies that run under it go on from its start. Idle time is
 * the rest of the windows. */
static void
add_inside(struct nsx_all_moments *a, uint32_t device, enum nsx_part part, int64_t start, int64_t end)
{
	struct nsx_moments *m = &a->devices.p[device];
	const struct nsx_excerpt_window *w;

	while (start < end && (w = nsx_excerpt_at(&a->excerpt, device, start)) && w->from < end) {
		int64_t from = nsx_max(start, w->from), to = nsx_min(end, w->to);

		m->of[part] += (uint64_t)to - (uint64_t)from;
		for (int under = part + 1; under <= NSX_PART_COPY; under++)
			m->hidden[under] += (uint64_t)nsx_max(0, nsx_min(m->parts.of[under].end, to) - from);
		start = to;
	}
}

static int
add_part(void *state, enum nsx_part part, int64_t start, int64_t end)
{
	const struct adding *adding = state;
	struct nsx_moments *m = &adding->all->devices.p[adding->device];

	if (adding->all->excerpt.on) {
		if (part != NSX_PART_IDLE)
			add_inside(adding->all, adding->device, part, start, end);
		return NSX_OK;
	}
	if (part == NSX_PART_IDLE)
		start = nsx_removed_end(&m->removed, start, end);
	m->of[part] += (uint64_t)end - (uint64_t)start;
	return NSX_OK;
}

void
nsx_moments_need(struct nsx_reader *in)
{
	nsx_excerpt_need(in);
}

bool
nsx_moments_take_step(struct nsx_all_moments *a, struct nsx_catalogue *cat, const struct nsx_rec *step)
{
	bool on = a->excerpt.on;

	if (!nsx_excerpt_take(&a->excerpt, step, nsx_cat_device(cat, step)))
		return false;
	/* What came before the first window of all is in none. */
	for (size_t i = 0; i < a->devices.n && !on && a->excerpt.on; i++)
		memset(a->devices.p[i].of, 0, sizeof a->devices.p[i].of);
	return true;
}

bool
nsx_moments_take(struct nsx_all_moments *a, const struct nsx_event *e)
{
	a->any = true;
	if (!nsx_vec_reach(&a->devices, e->device, &(struct nsx_moments){ .removed = NSX_REMOVED_NONE }))
		return false;
	if (e->end == NSX_ABSENT) {
		a->timeless++;
		return true;
	}
	struct nsx_moments *m = &a->devices.p[e->device];

	a->late += m->parts.begun && e->start < m->parts.at;
	nsx_removed_take(&m->removed, e->rec);
	nsx_parts_add(&m->parts, e->part, e->start, e->end, add_part, &(struct adding){ a, e->device });
	return nsx_overruns_take_op(&a->overruns, e->device, e->rec);
}

void
nsx_moments_finish(struct nsx_all_moments *a)
{
	for (uint32_t i = 0; i < a->devices.n; i++) {
		struct nsx_moments *m = &a->devices.p[i];

		nsx_parts_finish(&m->parts, add_part, &(struct adding){ a, i });
		nsx_u128 busy = m->of[NSX_PART_COMPUTE] + m->of[NSX_PART_COMM] + m->of[NSX_PART_COPY];
		nsx_u128 length = (uint64_t)nsx_excerpt_length(&a->excerpt, i);

		if (a->excerpt.on)
			m->of[NSX_PART_IDLE] = length > busy ? length - busy : 0;
		for (int p = NSX_PART_COMM; p <= NSX_PART_COPY && !a->excerpt.on; p++)
			m->hidden[p] = m->parts.of[p].length - m->of[p];
	}
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
	nsx_excerpt_free(&a->excerpt);
	free(a->devices.p);
}
