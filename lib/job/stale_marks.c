/* stale_marks.c -- see stale_marks.h. */
#include "job/stale_marks.h"

const char nsx_stale_cut[] =
    "marks of steps of a stream that nsysx-steps --cut made are removed, so that what was cut away is taken for idle "
    "time: cut last, behind nsysx-align, nsysx-warmup and nsysx-merge";

void
nsx_stale_marks_look(uint64_t columns[NSX_NKINDS + 1])
{
	columns[NSX_STEP] |= NSX_C(STEP, cut);
}

bool
nsx_stale_mark_of_time(struct nsx_stale_marks *s, const struct nsx_rec *rec)
{
	bool stale = rec->kind->id == NSX_STEP || rec->kind->id == NSX_IDLE;

	s->records += stale;
	s->cut += rec->kind->id == NSX_STEP && nsx_int(rec, NSX_STEP_cut, 0) == 1;
	return stale;
}

bool
nsx_stale_mark(struct nsx_stale_marks *s, const struct nsx_rec *rec)
{
	s->waits += rec->kind->id == NSX_COLLECTIVE;
	return rec->kind->id == NSX_COLLECTIVE || nsx_stale_mark_of_time(s, rec);
}

void
nsx_stale_marks_diags(const struct nsx_stale_marks *s, struct nsx_diags *diags, const char *why)
{
	nsx_diag_add(diags, NSX_INFO, "", s->records,
	             "%s: marks of steps and of idle time are removed; nsysx-steps --mark and nsysx-idle --mark make "
	             "them again", why);
	nsx_diag_add(diags, NSX_WARNING, "", s->cut, "%s", nsx_stale_cut);
	nsx_diag_add(diags, NSX_INFO, "", s->waits,
	             "%s: records of collectives, with their waits, are removed; nsysx-collectives makes them "
	             "again", why);
}
