/* events.c -- the events of an export in the order of the stream. */
#include "extract/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "stream/order.h"

int64_t
nsx_extract_dur(int64_t start, int64_t end)
{
	return nsx_sub_sat(end, start, NULL);
}

bool
nsx_extract_in_window(const struct nsx_extract_opts *o, int64_t start, int64_t end)
{
	return start < o->to && (end > o->from || start >= o->from);
}

int64_t
nsx_extract_global(const struct ex_profile *p, uint32_t device)
{
	return device == NSX_NONE ? -1 : p->devices[device].global;
}

/* ---- the order ---- */

static int64_t
dur_of(const struct ex_profile *p, const struct nsx_sort_start *e)
{
	const struct nsx_trace *t = &p->trace;

	switch (e->tag) {
	case NSX_MODULE: {
		const struct nsx_span *s = &t->spans[t->ranges[p->modules.p[e->i].range].gpu];
		return nsx_extract_dur(s->start, s->end);
	}
	case NSX_RANGE:
		return nsx_extract_dur(t->ranges[e->i].start, t->ranges[e->i].end);
	case NSX_THUNK:
		return nsx_extract_dur(p->thunks.p[e->i].start, p->thunks.p[e->i].end);
	case NSX_CALL:
	case NSX_OVERHEAD:
		return nsx_extract_host_dur(p, e);
	case NSX_OS: case NSX_OFF: case NSX_GIL: case NSX_SAMPLE:
		return nsx_extract_cpu_dur(p, e);
	case NSX_METRIC:
		return nsx_extract_dur(t->metrics[e->i].start, t->metrics[e->i].end);
	case NSX_MEMORY:
		return 0;
	default:
		return nsx_extract_dur(t->ops[e->i].start, t->ops[e->i].end);
	}
}

/* The values that the record of an event will have, as far as the order needs them. */
struct event { const struct ex_profile *p; const struct nsx_sort_start *e; };

static int64_t
range_id(const struct nsx_trace *t, uint32_t range)
{
	return range == NSX_NONE ? INT64_MIN : t->ranges[range].id;
}

static int64_t
device_of(const struct ex_profile *p, uint32_t device)
{
	int64_t global = nsx_extract_global(p, device);

	return global < 0 ? INT64_MIN : global;
}

static int64_t
range_number(const struct ex_profile *p, uint32_t i, enum nsx_role role)
{
	const struct nsx_trace *t = &p->trace;
	const struct nsx_range *r = &t->ranges[i];

	switch (role) {
	case NSX_ROLE_DEVICE: return r->gpu == NSX_NONE ? INT64_MIN : device_of(p, t->spans[r->gpu].device);
	case NSX_ROLE_PID:    return t->processes[nsx_trace_thread(t, i)->process].pid;
	case NSX_ROLE_TID:    return nsx_trace_thread(t, i)->tid;
	case NSX_ROLE_RANGE:  return r->id;
	default:              return INT64_MIN;
	}
}

static int64_t
op_number(const struct ex_profile *p, uint32_t i, enum nsx_role role)
{
	const struct nsx_gpu_op *op = &p->trace.ops[i];

	switch (role) {
	case NSX_ROLE_DEVICE: return device_of(p, op->device);
	case NSX_ROLE_TID:
		return op->launch == NSX_NONE ? INT64_MIN : nsx_extract_tid(p->trace.issues[op->launch].gtid);
	case NSX_ROLE_RANGE:  return range_id(&p->trace, op->range);
	case NSX_ROLE_OP:     return i;
	default:              return INT64_MIN;
	}
}

static int64_t
memory_number(const struct ex_profile *p, const struct nsx_memory *m, enum nsx_role role)
{
	switch (role) {
	case NSX_ROLE_DEVICE: return device_of(p, m->device);
	case NSX_ROLE_PID:    return (int64_t)(m->gpid >> 24 & 0xFFFFFF);
	case NSX_ROLE_TID:    return m->gtid == NSX_NO_GTID ? INT64_MIN : nsx_extract_tid(m->gtid);
	case NSX_ROLE_RANGE:  return range_id(&p->trace, m->range);
	case NSX_ROLE_CALL:   return m->call < 0 ? INT64_MIN : m->call;
	default:              return INT64_MIN;
	}
}

static int64_t
number_of(const void *of, enum nsx_role role)
{
	const struct event *x = of;
	const struct ex_profile *p = x->p;
	uint32_t i = x->e->i, device, range;

	if (role == NSX_ROLE_PROFILE)
		return p->number;
	switch (x->e->tag) {
	case NSX_RANGE:    return range_number(p, i, role);
	case NSX_CALL:
	case NSX_OVERHEAD: return nsx_extract_host_number(p, x->e, role);
	case NSX_OS: case NSX_OFF: case NSX_GIL: case NSX_SAMPLE: return nsx_extract_cpu_number(p, x->e, role);
	case NSX_MODULE:
		device = p->modules.p[i].device;
		range = p->modules.p[i].range;
		break;
	case NSX_METRIC:   return role == NSX_ROLE_DEVICE ? device_of(p, p->trace.metrics[i].device) : INT64_MIN;
	case NSX_MEMORY:   return memory_number(p, &p->trace.memory[i], role);
	case NSX_THUNK:
		device = p->thunks.p[i].device;
		range = p->thunks.p[i].range;
		break;
	default:           return op_number(p, i, role);
	}
	return role == NSX_ROLE_DEVICE ? device_of(p, device)
	    : role == NSX_ROLE_RANGE ? range_id(&p->trace, range) : INT64_MIN;
}

static struct nsx_str
name_of(const void *of)
{
	const struct event *x = of;
	const struct ex_profile *p = x->p;
	uint32_t i = x->e->i;

	switch (x->e->tag) {
	case NSX_MODULE:   return p->programs.p[p->modules.p[i].program].name;
	/* No two events of an export have the same id, so names are never compared. Memory has none. */
	case NSX_MEMORY:
	case NSX_RANGE:    return (struct nsx_str){ "", 0 };
	case NSX_THUNK:    return nsx_intern_str(&p->inst_names, p->insts.p[p->thunks.p[i].inst].name);
	case NSX_CALL:
	case NSX_OVERHEAD: return nsx_extract_host_name(p, x->e);
	case NSX_OS: case NSX_OFF: case NSX_GIL: case NSX_SAMPLE: return nsx_extract_cpu_name(p, x->e);
	case NSX_METRIC:   return nsx_intern_str(&p->trace.metric_names, p->trace.metrics[i].name);
	default:           return nsx_extract_text(&p->trace, p->trace.ops[i].name);
	}
}

int
nsx_extract_event_cmp(const struct ex_profile *p, const struct nsx_sort_start *a, const struct ex_profile *q,
                      const struct nsx_sort_start *b)
{
	/* Most differ before the end of the key. */
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	int64_t d = dur_of(p, a), f = dur_of(q, b);
	struct nsx_order_key x = nsx_order_work((enum nsx_kind_id)a->tag, a->start, &d),
	    y = nsx_order_work((enum nsx_kind_id)b->tag, b->start, &f);
	int c = nsx_order_key_cmp(&x, &y);
	if (c)
		return c;
	struct event s = { p, a }, t = { q, b };
	c = nsx_order_tie_cmp(&(struct nsx_order_view){ (enum nsx_kind_id)a->tag, &s, number_of, name_of },
	                      &(struct nsx_order_view){ (enum nsx_kind_id)b->tag, &t, number_of, name_of });
	return c ? c : (a->i > b->i) - (a->i < b->i);
}

/* Merge sort of the events of one time; tmp has space for n. */
static void
sort_run(const struct ex_profile *p, struct nsx_sort_start *a, struct nsx_sort_start *tmp, size_t n)
{
	if (n <= 8) {
		for (size_t i = 1; i < n; i++) {
			struct nsx_sort_start e = a[i];
			size_t k = i;
			for (; k && nsx_extract_event_cmp(p, &e, p, &a[k - 1]) < 0; k--)
				a[k] = a[k - 1];
			a[k] = e;
		}
		return;
	}
	size_t half = n / 2, i = 0, j = half, k = 0;
	sort_run(p, a, tmp, half);
	sort_run(p, a + half, tmp, n - half);
	while (i < half && j < n)
		tmp[k++] = nsx_extract_event_cmp(p, &a[j], p, &a[i]) < 0 ? a[j++] : a[i++];
	while (i < half)
		tmp[k++] = a[i++];
	memcpy(a, tmp, k * sizeof *a);
}

/* ---- which records are kept ---- */

bool
nsx_extract_process_kept(const struct ex_profile *p, uint32_t process)
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
	return p->devices[device].kept && nsx_extract_in_window(p->opts, start, end);
}

bool
nsx_extract_range_ahead(const struct ex_profile *p, uint32_t range)
{
	const struct nsx_range *r = &p->trace.ranges[range];

	return r->gpu != NSX_NONE && p->trace.spans[r->gpu].start < r->start;
}

bool
nsx_extract_range_kept(const struct ex_profile *p, uint32_t range)
{
	const struct nsx_range *r = &p->trace.ranges[range];
	const struct nsx_span *s = r->gpu == NSX_NONE ? NULL : &p->trace.spans[r->gpu];

	if (p->opts->ranges == NSX_RANGES_NONE || (!s && p->opts->ranges != NSX_RANGES_ALL))
		return false;
	if (!nsx_extract_in_window(p->opts, r->start, r->end) && !(s && nsx_extract_in_window(p->opts, s->start,
	    s->end)))
		return false;
	if (s && s->device != NSX_NONE)
		return p->devices[s->device].kept;
	/* Finding a range's thread takes time, so it is done once. */
	if (!p->opts->ndevices && !p->opts->nprocesses)
		return true;
	return nsx_extract_process_kept(p, nsx_trace_thread(&p->trace, range)->process);
}

/* What is allocated at a time follows from all that was allocated and freed before, so that is kept too. */
static bool
memory_kept(const struct ex_profile *p, const struct nsx_memory *m)
{
	if (m->start >= p->opts->to)
		return false;
	if (m->device != NSX_NONE)
		return p->devices[m->device].kept;
	return (!p->opts->ndevices && !p->opts->nprocesses)
	       || (m->process != NSX_NONE && nsx_extract_process_kept(p, m->process));
}

static size_t
collect(const struct ex_profile *p, struct nsx_sort_start *out)
{
	const struct nsx_trace *t = &p->trace;
	size_t n = 0;

	for (uint32_t i = 0; i < p->modules.n; i++) {
		const struct nsx_span *s = &t->spans[t->ranges[p->modules.p[i].range].gpu];
		if (keep(p, p->modules.p[i].device, s->start, s->end))
			out[n++] = (struct nsx_sort_start){ s->start, i, NSX_MODULE };
	}
	for (uint32_t r = 0; p->opts->ranges != NSX_RANGES_NONE && r < t->nranges; r++)
		if (nsx_extract_range_ahead(p, r) && nsx_extract_range_kept(p, r))
			out[n++] = (struct nsx_sort_start){ t->spans[t->ranges[r].gpu].start, r, NSX_RANGE };
	for (uint32_t i = 0; i < p->thunks.n; i++)
		if (!p->thunks.p[i].gone && keep(p, p->thunks.p[i].device, p->thunks.p[i].start, p->thunks.p[i].end))
			out[n++] = (struct nsx_sort_start){ p->thunks.p[i].start, i, NSX_THUNK };
	for (uint32_t i = 0; p->opts->ops && i < t->nops; i++)
		if (keep(p, t->ops[i].device, t->ops[i].start, t->ops[i].end))
			out[n++] = (struct nsx_sort_start){ t->ops[i].start, i, NSX_OP };
	for (uint32_t i = 0; i < t->nmetrics; i++)
		if (keep(p, t->metrics[i].device, t->metrics[i].start, t->metrics[i].end))
			out[n++] = (struct nsx_sort_start){ t->metrics[i].start, i, NSX_METRIC };
	for (uint32_t i = 0; i < t->nmemory; i++)
		if (memory_kept(p, &t->memory[i]))
			out[n++] = (struct nsx_sort_start){ t->memory[i].start, i, NSX_MEMORY };
	for (uint32_t i = 0; i < t->noverheads; i++)
		if (nsx_extract_overhead_kept(p, i))
			out[n++] = (struct nsx_sort_start){ t->overheads[i].start, i, NSX_OVERHEAD };
	return nsx_extract_cpu_collect(p, out, n);
}

/* The number of ranges whose GPU work starts before they do. */
static size_t
count_ahead(const struct ex_profile *p)
{
	size_t n = 0;

	for (uint32_t r = 0; p->opts->ranges != NSX_RANGES_NONE && r < p->trace.nranges; r++)
		n += nsx_extract_range_ahead(p, r);
	return n;
}

bool
nsx_extract_events_open(struct ex_events *e, const struct ex_profile *p)
{
	size_t most = p->modules.n + p->thunks.n + count_ahead(p) + (p->opts->ops ? p->trace.nops : 0) +
	    p->trace.noverheads + p->trace.nmetrics + p->trace.nmemory +
	    nsx_extract_cpu_most(p);

	*e = (struct ex_events){ .p = p, .list = malloc((most + 1) * sizeof *e->list) };
	if (!e->list)
		return false;
	e->n = collect(p, e->list);
	return nsx_sort_starts(e->list, e->n) && (p->opts->ranges == NSX_RANGES_NONE ||
	                                          nsx_extract_hosts_open(&e->hosts, p))
	       && nsx_extract_calls_open(&e->calls, p);
}

/* Copy the events of the next time into run, sorted; run is empty at the end. */
static bool
gather(struct ex_events *e)
{
	int64_t time = 0, start;
	bool any = nsx_extract_hosts_peek(&e->hosts, &time);

	e->run.n = e->turn = 0;
	if (nsx_extract_calls_peek(&e->calls, &start) && (!any || start < time)) {
		any = true;
		time = start;
	}
	if (e->at < e->n && (!any || e->list[e->at].start < time)) {
		any = true;
		time = e->list[e->at].start;
	}
	if (!any)
		return true;
	for (; e->at < e->n && e->list[e->at].start == time; e->at++)
		if (!nsx_vec_push(&e->run, e->list[e->at]))
			return false;
	while (nsx_extract_hosts_peek(&e->hosts, &start) && start == time)
		if (!nsx_vec_push(&e->run, ((struct nsx_sort_start){ time, nsx_extract_hosts_next(&e->hosts),
		    NSX_RANGE })))
			return false;
	while (nsx_extract_calls_peek(&e->calls, &start) && start == time)
		if (!nsx_vec_push(&e->run, ((struct nsx_sort_start){ time, nsx_extract_calls_next(&e->calls),
		    NSX_CALL })))
			return false;
	if (e->run.n == 1)
		return true;
	e->tmp.n = 0;
	if (!nsx_vec_room(&e->tmp, e->run.n))
		return false;
	sort_run(e->p, e->run.p, e->tmp.p, e->run.n);
	return true;
}

const struct nsx_sort_start *
nsx_extract_events_peek(struct ex_events *e)
{
	if (e->turn == e->run.n && !e->failed)
		e->failed = !gather(e);
	return e->failed || e->turn == e->run.n ? NULL : &e->run.p[e->turn];
}

void
nsx_extract_events_close(struct ex_events *e)
{
	free(e->list);
	free(e->run.p);
	free(e->tmp.p);
	nsx_extract_hosts_close(&e->hosts);
	nsx_extract_calls_close(&e->calls);
	*e = (struct ex_events){ 0 };
}
