/* events.c -- what an export holds by GPU time, in the order of the stream. */
#include "analysis/extract/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

enum { MODULE, RANGE, THUNK, OP };   /* tags: nsx_kind_rank */

struct keys { int64_t dur, device, range; };

int64_t
ex_dur(int64_t start, int64_t end)
{
	return nsx_sub_sat(end, start, NULL);
}

bool
ex_in_window(const struct nsx_extract_opts *o, int64_t start, int64_t end)
{
	return start < o->to && (end > o->from || start >= o->from);
}

int64_t
ex_global(const struct ex_profile *p, uint32_t device)
{
	return device == NSX_NONE ? -1 : p->devices[device].global;
}

static struct keys
keys_of(const struct ex_profile *p, const struct nsx_sort_start *e)
{
	const struct nsx_trace *t = &p->trace;
	const struct nsx_span *s;

	switch (e->tag) {
	case MODULE: {
		const struct ex_module *m = &p->modules.p[e->i];
		s = &t->spans[t->ranges[m->range].gpu];
		return (struct keys){ ex_dur(s->start, s->end), ex_global(p, m->device), t->ranges[m->range].id };
	}
	case RANGE:
		s = &t->spans[t->ranges[e->i].gpu];
		return (struct keys){ ex_dur(s->start, s->end), ex_global(p, s->device), t->ranges[e->i].id };
	case THUNK: {
		const struct ex_thunk *th = &p->thunks.p[e->i];
		return (struct keys){ ex_dur(th->start, th->end), ex_global(p, th->device), t->ranges[th->range].id };
	}
	default: {
		const struct nsx_gpu_op *op = &t->ops[e->i];
		return (struct keys){ ex_dur(op->start, op->end), ex_global(p, op->device),
		                      op->range == NSX_NONE ? -1 : t->ranges[op->range].id };
	}
	}
}

static struct nsx_str
name_of(const struct ex_profile *p, const struct nsx_sort_start *e)
{
	uint32_t name;

	if (e->tag == THUNK)
		return nsx_intern_str(&p->inst_names, p->insts.p[p->thunks.p[e->i].inst].name);
	if (e->tag == MODULE)
		return p->programs.p[p->modules.p[e->i].program].name;
	name = e->tag == RANGE ? p->trace.ranges[e->i].name : p->trace.ops[e->i].name;
	return name == NSX_NONE ? (struct nsx_str){ "", 0 } : nsx_intern_str(&p->trace.names, name);
}

int
ex_event_cmp(const struct ex_profile *p, const struct nsx_sort_start *a, const struct ex_profile *q, const struct nsx_sort_start *b)
{
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->tag != b->tag)
		return a->tag < b->tag ? -1 : 1;
	struct keys x = keys_of(p, a), y = keys_of(q, b);
	if (x.dur != y.dur)
		return x.dur > y.dur ? -1 : 1;
	if (p->number != q->number)
		return p->number < q->number ? -1 : 1;
	if (x.device != y.device)
		return x.device < y.device ? -1 : 1;
	if (x.range != y.range)
		return x.range < y.range ? -1 : 1;
	int c = nsx_str_cmp(name_of(p, a), name_of(q, b));
	return c ? c : (a->i > b->i) - (a->i < b->i);
}

/* Merge sort of things with equal starts; tmp has room for n. */
static void
sort_run(const struct ex_profile *p, struct nsx_sort_start *a, struct nsx_sort_start *tmp, size_t n)
{
	if (n <= 8) {
		for (size_t i = 1; i < n; i++) {
			struct nsx_sort_start e = a[i];
			size_t k = i;
			for (; k && ex_event_cmp(p, &e, p, &a[k - 1]) < 0; k--)
				a[k] = a[k - 1];
			a[k] = e;
		}
		return;
	}
	size_t half = n / 2, i = 0, j = half, k = 0;
	sort_run(p, a, tmp, half);
	sort_run(p, a + half, tmp, n - half);
	while (i < half && j < n)
		tmp[k++] = ex_event_cmp(p, &a[j], p, &a[i]) < 0 ? a[j++] : a[i++];
	while (i < half)
		tmp[k++] = a[i++];
	memcpy(a, tmp, k * sizeof *a);
}

bool
ex_process_kept(const struct ex_profile *p, uint32_t process)
{
	if (!p->opts->ndevices && !p->opts->nprocesses)
		return true;
	for (uint32_t d = 0; d < p->trace.ndevices; d++)
		if (p->trace.devices[d].process == process && p->devices[d].kept)
			return true;
	return false;
}

static bool
keep(const struct ex_profile *p, uint32_t device, int64_t start, int64_t end)
{
	return p->devices[device].kept && ex_in_window(p->opts, start, end);
}

/* A range over several devices goes by its process. */
static bool
keep_range(const struct ex_profile *p, uint32_t range, const struct nsx_span *s)
{
	if (s->device != NSX_NONE)
		return keep(p, s->device, s->start, s->end);
	return ex_process_kept(p, nsx_trace_thread(&p->trace, range)->process) && ex_in_window(p->opts, s->start, s->end);
}

static size_t
collect(const struct ex_profile *p, struct nsx_sort_start *out)
{
	const struct nsx_trace *t = &p->trace;
	size_t n = 0;

	for (uint32_t i = 0; i < p->modules.n; i++) {
		const struct nsx_span *s = &t->spans[t->ranges[p->modules.p[i].range].gpu];
		if (keep(p, p->modules.p[i].device, s->start, s->end))
			out[n++] = (struct nsx_sort_start){ s->start, i, MODULE };
	}
	for (uint32_t r = 0; p->opts->ranges != NSX_RANGES_NONE && r < t->nranges; r++)
		if (t->ranges[r].gpu != NSX_NONE) {
			const struct nsx_span *s = &t->spans[t->ranges[r].gpu];
			if (keep_range(p, r, s))
				out[n++] = (struct nsx_sort_start){ s->start, r, RANGE };
		}
	for (uint32_t i = 0; i < p->thunks.n; i++)
		if (!p->thunks.p[i].gone && keep(p, p->thunks.p[i].device, p->thunks.p[i].start, p->thunks.p[i].end))
			out[n++] = (struct nsx_sort_start){ p->thunks.p[i].start, i, THUNK };
	for (uint32_t i = 0; p->opts->ops && i < t->nops; i++)
		if (keep(p, t->ops[i].device, t->ops[i].start, t->ops[i].end))
			out[n++] = (struct nsx_sort_start){ t->ops[i].start, i, OP };
	return n;
}

bool
ex_events_open(struct ex_events *e, const struct ex_profile *p)
{
	const struct nsx_trace *t = &p->trace;
	size_t most = p->modules.n + p->thunks.n + (p->opts->ranges ? t->nspans : 0) + (p->opts->ops ? t->nops : 0), longest = 0;

	*e = (struct ex_events){ .p = p, .list = malloc((most + 1) * sizeof *e->list) };
	if (!e->list)
		return false;
	e->n = collect(p, e->list);
	if (!nsx_sort_starts(e->list, e->n))
		return false;
	for (size_t i = 0, k; i < e->n; i = k) {
		for (k = i + 1; k < e->n && e->list[k].start == e->list[i].start; k++)
			;
		longest = k - i > longest ? k - i : longest;
	}
	e->tmp = malloc((longest + 1) * sizeof *e->tmp);
	return e->tmp != NULL;
}

const struct nsx_sort_start *
ex_events_peek(struct ex_events *e)
{
	if (e->at == e->n)
		return NULL;
	if (e->at == e->ordered) {
		size_t k = e->at + 1;
		while (k < e->n && e->list[k].start == e->list[e->at].start)
			k++;
		if (k - e->at > 1)
			sort_run(e->p, e->list + e->at, e->tmp, k - e->at);
		e->ordered = k;
	}
	return &e->list[e->at];
}

void
ex_events_close(struct ex_events *e)
{
	free(e->list);
	free(e->tmp);
	*e = (struct ex_events){ 0 };
}
