/* trace.c -- look-ups in a trace, and its end. */
#include "source/trace.h"

#include <stdlib.h>

#include "base/sort.h"
#include "source/texts.h"

const struct nsx_str nsx_memory_kind_names[NSX_MEMORY_KINDS] = {
	[NSX_MEMORY_PAGEABLE] = { "pageable", 8 }, [NSX_MEMORY_PINNED] = { "pinned", 6 },
	[NSX_MEMORY_DEVICE] = { "device", 6 },
	[NSX_MEMORY_ARRAY] = { "array", 5 }, [NSX_MEMORY_MANAGED] = { "managed", 7 },
	[NSX_MEMORY_DEVICE_STATIC] = { "device-static", 13 },
	[NSX_MEMORY_MANAGED_STATIC] = { "managed-static", 14 }, [NSX_MEMORY_UNKNOWN] = { "unknown", 7 }
};

uint32_t
nsx_trace_thread_at(const struct nsx_trace *t, uint64_t gtid)
{
	uint32_t at;

	NSX_BISECT(at, 0, t->nthreads, t->threads[at].gtid >= gtid);
	return at < t->nthreads && t->threads[at].gtid == gtid ? at : (uint32_t)NSX_NONE;
}

const struct nsx_thread *
nsx_trace_thread(const struct nsx_trace *t, uint32_t range)
{
	uint32_t lo = 0, hi = t->nthreads;

	/* The last thread that starts at or before it. */
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (t->threads[mid].first <= range)
			lo = mid;
		else
			hi = mid;
	}
	return &t->threads[lo];
}

const struct nsx_calling_thread *
nsx_trace_caller(const struct nsx_trace *t, uint32_t call)
{
	uint32_t lo = 0, hi = t->nhost_threads;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (t->host_threads[mid].first <= call)
			lo = mid;
		else
			hi = mid;
	}
	return &t->host_threads[lo];
}

/* ---- pairs of what was awaited */

NSX_ORDER(by_pair, struct nsx_await, NSX_CMP(a->of, b->of), NSX_CMP(a->op, b->op))

void
nsx_awaits_sort(struct nsx_awaits *a)
{
	size_t n = 0;

	if (a->n)
		qsort(a->p, a->n, sizeof *a->p, by_pair);
	for (size_t i = 0; i < a->n; i++)
		if (!n || by_pair(&a->p[n - 1], &a->p[i]) != 0)
			a->p[n++] = a->p[i];
	a->n = n;
}

const struct nsx_await *
nsx_awaits_of(const struct nsx_awaits *a, uint32_t of, size_t *n)
{
	size_t at;

	NSX_BISECT(at, 0, a->n, a->p[at].of >= of);
	for (*n = 0; at + *n < a->n && a->p[at + *n].of == of;)
		++*n;
	return a->p ? a->p + at : NULL;
}

/* ---- all */

void
nsx_trace_free(struct nsx_trace *t)
{
	if (t->payloads)
		t->payloads_close(t);
	free(t->programs);
	free(t->processes);
	free(t->threads);
	free(t->devices);
	free(t->ranges);
	free(t->spans);
	free(t->ops);
	free(t->issues);
	free(t->op_waits);
	free(t->after.p);
	free(t->waited.p);
	free(t->op_ids);
	free(t->op_insts);
	free(t->comms);
	free(t->op_comm);
	free(t->places);
	free(t->host_threads);
	free(t->calls);
	free(t->call_names);
	free(t->losses);
	free(t->overheads);
	nsx_cpu_free(t->cpu);
	free(t->device_names);
	free(t->thread_names);
	free(t->captures);
	free(t->operators.p);
	free(t->metrics);
	free(t->memory);
	nsx_intern_free(&t->metric_names);
	nsx_intern_free(&t->names);
	nsx_part_texts_free(t->texts, t->ntexts);
	nsx_intern_free(&t->domains);
	nsx_arena_free(&t->arena);
	*t = (struct nsx_trace){ 0 };
}

struct nsx_str
nsx_range_name(const struct nsx_trace *t, const struct nsx_range *r, struct nsx_buf *buf)
{
	if (!(r->name & NSX_NAME_TEXT))
		return nsx_intern_str(&t->names, r->name);
	uint32_t code = r->name & ~NSX_NAME_TEXT;
	const struct nsx_part_texts *table = nsx_part_texts_at(t->texts, t->ntexts, code, NULL);
	buf->len = 0;
	nsx_texts_get(&table->texts, code - table->first, buf);
	return buf->failed ? (struct nsx_str){ NULL, 0 } : nsx_buf_view(buf);
}

const struct nsx_operator *
nsx_trace_operator(const struct nsx_trace *t, const struct nsx_range *r)
{
	size_t at;

	NSX_BISECT(at, 0, t->operators.n, t->operators.p[at].id >= r->id);
	return at < t->operators.n && t->operators.p[at].id == r->id ? &t->operators.p[at] : NULL;
}

static const struct nsx_capture *
find(const struct nsx_trace *t, uint64_t gpid, int64_t node)
{
	const struct nsx_capture *c = t->captures;
	uint32_t at;

	NSX_BISECT(at, 0, t->ncaptures, nsx_capture_process(c[at].gtid) > gpid
	           || (nsx_capture_process(c[at].gtid) == gpid && c[at].node >= node));
	return at < t->ncaptures && nsx_capture_process(c[at].gtid) == gpid && c[at].node == node ? &c[at] : NULL;
}

const struct nsx_capture *
nsx_capture_of(const struct nsx_trace *t, uint64_t gpid, int64_t node)
{
	enum { CLONES_MAX = 64 };
	const struct nsx_capture *c = find(t, gpid, node), *from;

	for (int i = 0; c && c->original != -1 && (from = find(t, gpid, c->original)) != NULL; i++) {
		/* A clone may be of a clone; the limit ends the loop for a cycle, which no program makes. */
		if (i == CLONES_MAX)
			return NULL;
		c = from;
	}
	return c;
}
