/* kept.c -- restrictions of the time examined: the steps of each device, and selected causes of gaps. */
#include "table/idle/idle.h"
#include "base/sort.h"

/* ---- names */

/* The i-th name: of causes, then of groups that are not causes; NULL after the last. */
const char *
nsx_idle_cause_known(size_t i)
{
	static const char *const groups[] = { "edge", "launch-starved", "issued" };

	i += i >= NSX_CAUSE_REMOVED;   /* it is none */
	if (i < NSX_NCAUSES)
		return nsx_cause_name((enum nsx_cause)i);
	i -= NSX_NCAUSES;
	return i < sizeof groups / sizeof *groups ? groups[i] : NULL;
}

int
nsx_idle_causes_parse(const char *list, uint32_t *causes, struct nsx_str *bad)
{
	for (const char *end; ; list = end + 1) {
		uint32_t found = 0;

		for (end = list; *end && *end != ',';)
			end++;
		*bad = (struct nsx_str){ list, (size_t)(end - list) };
		for (int c = 0; c < NSX_NCAUSES; c++)
			if (c != NSX_CAUSE_REMOVED && (nsx_str_eq(*bad, nsx_str_c(nsx_cause_name((enum nsx_cause)c)))
			    || nsx_str_eq(*bad, nsx_str_c(nsx_cause_group((enum nsx_cause)c)))))
				found |= UINT32_C(1) << c;
		if (!found)
			return NSX_ERR;
		*causes |= found;
		if (!*end)
			return NSX_OK;
	}
}

/* ---- times */

size_t
nsx_idle_given_of(const struct nsx_idle_given *given, size_t n, int64_t device)
{
	return nsx_sort_first(given, n, sizeof *given, offsetof(struct nsx_idle_given, device), device);
}

void
nsx_idle_place(const struct idle *f, struct nsx_idle_device *d)
{
	int64_t number = f->cat.devices.p[d->index].number;

	d->from = d->to = 0;
	size_t i = nsx_idle_given_of(f->within.p, f->within.n, number);

	if (i < f->within.n && f->within.p[i].device == number) {
		d->from = f->within.p[i].start;
		d->to = f->within.p[i].end;
	}
}

bool
nsx_idle_clip(const struct idle *f, const struct nsx_idle_device *d, int64_t *start, int64_t *end)
{
	if (!f->options->steps)
		return true;
	*start = *start > d->from ? *start : d->from;
	*end = *end < d->to ? *end : d->to;
	return *start < *end;
}

bool
nsx_idle_clip_gap(struct idle *f, const struct nsx_idle_device *d, int64_t *start, int64_t *end, bool drained)
{
	uint32_t causes = f->options->causes ? f->options->causes : UINT32_MAX;
	size_t kept = 0;

	if (!nsx_idle_clip(f, d, start, end))
		return false;
	if (!f->options->steps && !nsx_idle_filters(f))
		return true;
	for (size_t i = 0; i < f->segments.n && (drained || !f->options->drained); i++) {
		struct idle_segment s = f->segments.p[i];

		if (nsx_idle_clip(f, d, &s.start, &s.end) && causes >> s.cause & 1)
			f->segments.p[kept++] = s;
	}
	f->segments.n = kept;
	return true;
}
