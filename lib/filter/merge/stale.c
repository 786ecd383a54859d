/* stale.c -- results that the merge makes wrong: marks of steps, waits and idle time, which are of one stream's
 * devices, and those that depend on a thunk's `comm` that the merge changes. nsysx-overlap and nsysx-collectives used
 * the data of one report; if another report has better data on what communicates, `hidden` of all thunks of that
 * device and its collective records are no longer valid. */
#include "filter/merge/merging.h"

static const char hidden_gone[] =
    "another report corrects what communicates on a device: hidden of its thunks is removed; run nsysx-overlap again";
static const char steps_gone[] =
    "several streams are merged: marks of steps and of idle time are removed; run nsysx-steps --mark and nsysx-idle "
    "--mark again";
static const char waits_gone[] =
    "several streams are merged: records of collectives, with their waits, are removed; run nsysx-collectives again";

bool
nsx_merge_stale_counts(struct nsx_str text)
{
	static const char *const counts[] = { hidden_gone, steps_gone, waits_gone, nsx_stale_cut };

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		if (nsx_str_eq(text, nsx_str_c(counts[i])))
			return true;
	return false;
}

/* The `stale` entry of a record's device, or of the stream for a record without one; NULL if the device is not
 * known. */
static struct mg_stale *
stale_of(struct mg *m, struct mg_source *s, const struct nsx_rec *rec, int device)
{
	uint32_t d = nsx_has(rec, device) ? nsx_merge_remap_get(&s->device_of, rec->v[device].i) : NSX_NONE;

	if (!nsx_has(rec, device))
		return &s->stale;
	return d == NSX_NONE ? NULL : &m->devices.p[d].stale;
}

/* Missing metadata is reported when the record is written. */
static int
see(struct mg *m, struct mg_source *s, const struct nsx_rec *rec)
{
	struct mg_stale *stale;
	struct nsx_merge_use *u;
	uint32_t i;

	if (rec->kind->id != NSX_THUNK || !nsx_has(rec, NSX_THUNK_comm) || !nsx_has(rec, NSX_THUNK_program) ||
	    !nsx_has(rec, NSX_THUNK_inst) || !(stale = stale_of(m, s, rec, NSX_THUNK_device)) || stale->is)
		return NSX_OK;
	u = nsx_merge_use(m, s, rec, NSX_THUNK_profile, NSX_THUNK_device, NSX_THUNK_program);
	if (!u)
		return NSX_ERR;
	i = nsx_merge_remap_get(&u->insts, rec->v[NSX_THUNK_inst].i);
	stale->is = i != NSX_NONE && m->insts.p[i].comm != INT64_MIN && m->insts.p[i].comm != rec->v[NSX_THUNK_comm].i;
	return NSX_OK;
}

int
nsx_merge_stale_find(struct mg *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->sources[i].suspect && nsx_merge_source_scan(m, &m->sources[i], see) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

bool
nsx_merge_stale_drop(struct mg *m, struct mg_source *s, struct nsx_rec *rec)
{
	struct mg_stale *stale;

	if (m->n > 1 && nsx_stale_mark(&m->marks, rec))
		return true;
	if (!s->suspect || rec->kind->id != NSX_THUNK)
		return false;
	stale = stale_of(m, s, rec, NSX_THUNK_device);
	if (stale && stale->is && nsx_has(rec, NSX_THUNK_hidden)) {
		rec->has &= ~((uint64_t)1 << NSX_THUNK_hidden);
		stale->hidden++;
	}
	return false;
}

static int
say(struct mg *m, struct nsx_str report, const struct mg_stale *s)
{
	return nsx_merge_diag_count(m, NSX_WARNING, report, s->hidden, hidden_gone);
}

int
nsx_merge_stale_say(struct mg *m)
{
	for (size_t i = 0; i < m->devices.n; i++)
		if (say(m, m->profiles.p[m->devices.p[i].profile].name, &m->devices.p[i].stale) != NSX_OK)
			return NSX_ERR;
	for (size_t i = 0; i < m->n; i++)
		if (say(m, NSX_STR(""), &m->sources[i].stale) != NSX_OK)
			return NSX_ERR;
	if (nsx_merge_diag_count(m, NSX_INFO, NSX_STR(""), m->marks.records, steps_gone) != NSX_OK)
		return NSX_ERR;
	if (nsx_merge_diag_count(m, NSX_WARNING, NSX_STR(""), m->marks.cut, nsx_stale_cut) != NSX_OK)
		return NSX_ERR;
	return nsx_merge_diag_count(m, NSX_INFO, NSX_STR(""), m->marks.waits, waits_gone);
}
