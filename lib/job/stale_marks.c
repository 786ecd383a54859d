/* stale_marks.c -- see stale_marks.h. */
#include "job/stale_marks.h"

#include "stream/fields.h"

bool
nsx_stale_mark(struct nsx_stale_marks *s, struct nsx_rec *rec)
{
	const uint64_t marks = NSX_C(COLLECTIVE, instance) | NSX_C(COLLECTIVE, wait) | NSX_C(COLLECTIVE, late);

	if (rec->kind->id == NSX_STEP || rec->kind->id == NSX_IDLE) {
		s->records++;
		return true;
	}
	if (rec->kind->id == NSX_COLLECTIVE && rec->has & marks) {
		s->waits++;
		rec->has &= ~marks;
	}
	return false;
}

void
nsx_stale_marks_diags(const struct nsx_stale_marks *s, struct nsx_diags *diags, const char *why)
{
	nsx_diag_add(diags, NSX_INFO, "", s->records,
	             "%s: marks of steps and of idle time are removed; nsysx-steps --mark and nsysx-idle --mark make "
	             "them again", why);
	nsx_diag_add(diags, NSX_INFO, "", s->waits,
	             "%s: instances and waits of collectives are removed; nsysx-collectives makes them again", why);
}
