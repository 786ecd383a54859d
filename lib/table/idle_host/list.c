/* list.c -- see list.h. Holds up to twice the gaps that are listed, and the parts of each device's current gap. */
#include "table/idle_host/list.h"

#include <stdlib.h>

/* The longest first; equal ones by device, then start. */
static int
by_length(const void *a, const void *b)
{
	const struct nsx_host_gap *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static void
keep_longest(struct nsx_host_list *l)
{
	if (l->gaps.n)
		qsort(l->gaps.p, l->gaps.n, sizeof *l->gaps.p, by_length);
	if (l->gaps.n > l->want)
		l->gaps.n = l->want;
}

static bool
end_gap(struct nsx_host_list *l, struct nsx_open_gap *o)
{
	struct nsx_host_gap g = o->gap;

	if (!o->parts.n)
		return true;
	g.most = o->parts.p[0];
	for (size_t i = 1; i < o->parts.n; i++)
		if (o->parts.p[i].ns > g.most.ns)
			g.most = o->parts.p[i];
	o->parts.n = 0;
	if (!nsx_vec_push(&l->gaps, g))
		return false;
	if (l->gaps.n >= 2 * l->want + 64)
		keep_longest(l);
	return true;
}

bool
nsx_host_list_add(struct nsx_host_list *l, const struct nsx_doing_piece *p, uint32_t line)
{
	struct nsx_open_gap *o;
	size_t i = 0;

	while (l->open.n <= p->device)
		if (!nsx_vec_push(&l->open, (struct nsx_open_gap){ .gap.gap = -1 }))
			return false;
	o = &l->open.p[p->device];
	if (o->gap.gap != p->gap) {
		if (!end_gap(l, o))
			return false;
		o->gap = (struct nsx_host_gap){
			.start = p->start, .gap = p->gap, .device = p->device, .thread = p->thread, .cause = p->cause
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

enum { DEVICE, START, NS, CAUSE, STATE, WHAT, LINE, PART, TID, NCOLS };

static const struct nsx_table_col cols[NCOLS] = {
	[DEVICE] = { "device", NSX_CELL_ID },   [START] = { "start", NSX_CELL_TIME },
	[NS] = { "ns", NSX_CELL_NS },           [CAUSE] = { "cause", NSX_CELL_STRING },
	[STATE] = { "state", NSX_CELL_STRING }, [WHAT] = { "what", NSX_CELL_STRING },
	[LINE] = { "line", NSX_CELL_STRING },   [PART] = { "part", NSX_CELL_NS },
	[TID] = { "tid", NSX_CELL_INT }
};

struct nsx_table *
nsx_host_list_table(struct nsx_host_list *l, const struct nsx_doing *d, const struct nsx_intern *texts)
{
	struct nsx_table *t = nsx_table_new(cols, NCOLS);
	bool good = t != NULL;

	nsx_table_rank(t, "ns line what state part start device cause");
	nsx_table_head(t, "ns", "time");
	for (size_t i = 0; i < l->open.n && good; i++)
		good = end_gap(l, &l->open.p[i]);
	keep_longest(l);
	for (size_t i = 0; i < l->gaps.n && good; i++) {
		const struct nsx_host_gap *g = &l->gaps.p[i];

		nsx_table_row(t);
		nsx_table_int(t, DEVICE, d->cat.devices.p[g->device].number);
		nsx_table_int(t, START, g->start);
		nsx_table_int(t, NS, g->ns);
		nsx_table_str(t, CAUSE, nsx_str_c(nsx_cause_name(g->cause)));
		nsx_table_str(t, STATE, nsx_str_c(nsx_doing_name(g->most.state)));
		nsx_table_str(t, WHAT, nsx_doing_text(d, g->most.what));
		nsx_table_str(t, LINE, nsx_intern_str(texts, g->most.line));
		nsx_table_int(t, PART, g->most.ns);
		if (d->threads.p[g->thread].tid != NSX_ABSENT)
			nsx_table_int(t, TID, d->threads.p[g->thread].tid);
	}
	if (good)
		return t;
	nsx_table_free(t);
	nsx_err_nomem(d->err, NULL);
	return NULL;
}

void
nsx_host_list_free(struct nsx_host_list *l)
{
	for (size_t i = 0; i < l->open.n; i++)
		free(l->open.p[i].parts.p);
	free(l->open.p);
	free(l->gaps.p);
}
