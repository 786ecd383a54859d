/* kept.c -- restrictions of the time examined: the steps of each device, and selected causes of gaps. */
#include "table/idle/idle.h"
#include "base/sort.h"

/* ---- names */

/* The i-th name: of causes, then of groups that are not causes; NULL after the last. */
const char *
nsx_idle_cause_known(size_t i)
{
	static const enum nsx_cause_group groups[] = { NSX_CAUSES_EDGE, NSX_CAUSES_STARVED, NSX_CAUSES_ISSUED };

	for (int c = 0; c < NSX_NCAUSES; c++)
		if (nsx_causes[c].group != NSX_CAUSES_REMOVED && i-- == 0)
			return nsx_causes[c].name;
	return i < sizeof groups / sizeof *groups ? nsx_cause_group_name(groups[i]) : NULL;
}

int
nsx_idle_causes_parse(const char *list, uint32_t *causes, struct nsx_str *bad)
{
	return nsx_causes_parse(list, causes, bad);
}

struct nsx_table *
nsx_idle_known(void)
{
	enum { CAUSE, GROUP, TINT, STRIPES, MEANING, NCOLS };
	static const struct nsx_table_col cols[NCOLS] = {
		[CAUSE] = { "cause", NSX_CELL_STRING }, [GROUP] = { "group", NSX_CELL_STRING },
		[TINT] = { "tint", NSX_CELL_STRING }, [STRIPES] = { "stripes", NSX_CELL_INT },
		[MEANING] = { "meaning", NSX_CELL_STRING }
	};
	struct nsx_table *t = nsx_table_new(cols, NCOLS);

	nsx_table_rank(t, "cause group meaning");
	for (int c = 0; c < NSX_NCAUSES && t; c++) {
		const struct nsx_cause_known *k = &nsx_causes[c];

		nsx_table_row(t);
		nsx_table_str(t, CAUSE, nsx_str_c(k->name));
		nsx_table_str(t, GROUP, nsx_str_c(nsx_cause_group_name(k->group)));
		nsx_table_str(t, TINT, nsx_str_c(k->tint));
		nsx_table_int(t, STRIPES, k->stripes);
		nsx_table_str(t, MEANING, nsx_str_c(k->says ? k->says : ""));
	}
	return t;
}

/* ---- times */

size_t
nsx_idle_given_of(const struct nsx_idle_given *given, size_t n, int64_t device)
{
	return nsx_sort_first(given, n, sizeof *given, offsetof(struct nsx_idle_given, device), device);
}

/* The windows that are examined of any device. */
static const struct nsx_idle_given *
examined(const struct idle *f, size_t *n)
{
	*n = f->options->steps ? f->within.n : f->options->by == NSX_IDLE_GIVEN ? f->options->ngiven : 0;
	return f->options->steps ? f->within.p : f->options->given;
}

void
nsx_idle_place(const struct idle *f, struct nsx_idle_device *d)
{
	size_t n;
	const struct nsx_idle_given *w = examined(f, &n);

	d->within = n ? nsx_idle_given_of(w, n, f->cat.devices.p[d->index].number) : 0;
}

/* The first window of the device that ends after `at`, which never decreases; NULL if there is none. */
static const struct nsx_idle_given *
window_at(const struct idle *f, struct nsx_idle_device *d, int64_t at)
{
	size_t n;
	const struct nsx_idle_given *w = examined(f, &n);
	int64_t number = f->cat.devices.p[d->index].number;

	while (d->within < n && w[d->within].device == number && w[d->within].end <= at)
		d->within++;
	return d->within < n && w[d->within].device == number ? &w[d->within] : NULL;
}

bool
nsx_idle_is_cut(const struct idle *f, struct nsx_idle_device *d, int64_t start, int64_t end)
{
	const struct nsx_idle_given *w = window_at(f, d, start);

	return w && w->start <= start && w->end < end;
}

bool
nsx_idle_clip(const struct idle *f, struct nsx_idle_device *d, int64_t start, int64_t end, int64_t *from, int64_t *to)
{
	const struct nsx_idle_given *w;

	*from = start;
	*to = end;
	if (!f->options->steps)
		return start < end;
	w = window_at(f, d, start);
	if (!w)
		return false;
	*from = start > w->start ? start : w->start;
	*to = end < w->end ? end : w->end;
	return *from < *to;
}

bool
nsx_idle_clip_begin(struct idle *f)
{
	f->whole.n = 0;
	for (size_t i = 0; i < f->segments.n; i++)
		if (!nsx_vec_push(&f->whole, f->segments.p[i]))
			return false;
	return true;
}

bool
nsx_idle_clip_gap(struct idle *f, int64_t from, int64_t to, bool drained)
{
	uint32_t causes = f->options->causes ? f->options->causes : UINT32_MAX;

	f->segments.n = 0;
	for (size_t i = 0; i < f->whole.n && (drained || !f->options->drained); i++) {
		struct idle_segment s = f->whole.p[i];

		s.start = s.start > from ? s.start : from;
		s.end = s.end < to ? s.end : to;
		if (s.start < s.end && causes >> s.cause & 1 && !nsx_vec_push(&f->segments, s))
			return false;
	}
	return true;
}
