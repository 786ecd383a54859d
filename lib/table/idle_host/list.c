/* list.c -- see list.h. Holds up to twice the gaps that are listed, and the parts of each device's current gap. */
#include "table/idle_host/list.h"

#include <stddef.h>
#include <stdlib.h>

#define AT(member) offsetof(struct nsx_host_gap, member), 0, NULL
static const struct nsx_sum_col cols[] = {
	{ "device", NSX_CELL_ID,     NSX_SUM_INT,  AT(device) },
	{ "start",  NSX_CELL_TIME,   NSX_SUM_INT,  AT(start) },
	{ "ns",     NSX_CELL_NS,     NSX_SUM_INT,  AT(ns) },
	{ "cause",  NSX_CELL_STRING, NSX_SUM_WORD, AT(cause) },
	{ "state",  NSX_CELL_STRING, NSX_SUM_WORD, AT(state) },
	{ "what",   NSX_CELL_STRING, NSX_SUM_TEXT, AT(what) },
	{ "line",   NSX_CELL_STRING, NSX_SUM_TEXT, AT(most.line) },
	{ "part",   NSX_CELL_NS,     NSX_SUM_INT,  AT(most.ns) },
	{ "tid",    NSX_CELL_INT,    NSX_SUM_INT,  AT(tid) },
};
const struct nsx_sum_def nsx_host_gaps = {
	.size = sizeof(struct nsx_host_gap), .cols = cols, .ncols = sizeof cols / sizeof *cols,
	.order = "-ns device start", .rank = "ns line what state part start device cause", .heads = { { "ns", "time" } }
};

static bool
end_gap(struct nsx_host_list *l, struct nsx_open_gap *o)
{
	if (!o->parts.n)
		return true;
	o->gap.most = o->parts.p[0];
	for (size_t i = 1; i < o->parts.n; i++)
		if (o->parts.p[i].ns > o->gap.most.ns)
			o->gap.most = o->parts.p[i];
	o->gap.state = nsx_doing_name(o->gap.most.state);
	o->parts.n = 0;
	return nsx_sums_add_first(l->gaps, l->want, &o->gap);
}

bool
nsx_host_list_add(struct nsx_host_list *l, const struct nsx_doing *d, const struct nsx_doing_piece *p, uint32_t line)
{
	struct nsx_open_gap *o;
	size_t i = 0;

	if (!nsx_vec_reach(&l->open, p->device, &(struct nsx_open_gap){ .gap.gap = -1 }))
		return false;
	o = &l->open.p[p->device];
	if (o->gap.gap != p->gap) {
		if (!end_gap(l, o))
			return false;
		o->gap = (struct nsx_host_gap){
			.start = p->start, .gap = p->gap, .device = d->cat.devices.p[p->device].number,
			.tid = d->threads.p[p->thread].tid, .cause = nsx_cause_name(p->cause)
		};
	}
	o->gap.ns += p->end - p->start;
	while (i < o->parts.n && !(o->parts.p[i].state == p->state && o->parts.p[i].what == p->what &&
	                           o->parts.p[i].line == line))
		i++;
	if (i == o->parts.n && !nsx_vec_push(&o->parts, ((struct nsx_gap_part){ p->state, p->what, line, 0 })))
		return false;
	o->parts.p[i].ns += p->end - p->start;
	return true;
}

bool
nsx_host_list_finish(struct nsx_host_list *l, const struct nsx_doing *d)
{
	for (size_t i = 0; i < l->open.n; i++)
		if (!end_gap(l, &l->open.p[i]))
			return false;
	nsx_sums_cut(l->gaps, l->want);
	for (size_t i = 0; i < nsx_sums_count(l->gaps); i++) {
		struct nsx_host_gap *g = nsx_sums_at(l->gaps, i);

		g->what = nsx_intern(l->texts, nsx_doing_text(d, g->most.what));
		if (g->what == NSX_NONE)
			return false;
	}
	return true;
}

void
nsx_host_list_free(struct nsx_host_list *l)
{
	for (size_t i = 0; i < l->open.n; i++)
		free(l->open.p[i].parts.p);
	free(l->open.p);
}
