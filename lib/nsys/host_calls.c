/* host_calls.c -- every CUDA call: by thread and time, with its range, the operations that it issued and the time that
 * it lost. */
#include "nsys/host.h"

#include <stdlib.h>

#include "base/par.h"
#include "base/sort.h"
#include "source/around.h"
#include "source/thread.h"

/* ---- joining */

NSX_ORDER(by_gtid, struct nsx_calling_thread, NSX_CMP(a->gtid, b->gtid))

static uint32_t
thread_at(const struct nsx_trace *t, uint64_t gtid)
{
	uint32_t at;

	NSX_BISECT(at, 0, t->nhost_threads, t->host_threads[at].gtid >= gtid);
	return at;
}

/* t->host_threads, and the indices in it of the parts' threads. */
static bool
join_threads(struct nsx_trace *t, struct nsx_host_part *const *parts, const struct nsx_tracks *const *tracks, int n)
{
	size_t all = 0, kept = 0;

	for (int i = 0; i < n; i++)
		all += parts[i]->threads.n;
	t->host_threads = calloc(all + 1, sizeof *t->host_threads);
	if (!t->host_threads)
		return false;
	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < parts[i]->threads.n; k++)
			if (parts[i]->threads.p[k].n) {
				struct nsx_calling_thread *th = &t->host_threads[t->nhost_threads++];
				th->gtid = tracks[i]->list.p[k].gtid;
				th->tid = (uint32_t)(th->gtid & 0xFFFFFF);
				th->n = parts[i]->threads.p[k].n;
			}
	qsort(t->host_threads, t->nhost_threads, sizeof *t->host_threads, by_gtid);
	for (uint32_t i = 0; i < t->nhost_threads; i++) {
		if (kept && t->host_threads[kept - 1].gtid == t->host_threads[i].gtid)
			t->host_threads[kept - 1].n += t->host_threads[i].n;
		else
			t->host_threads[kept++] = t->host_threads[i];
	}
	t->nhost_threads = (uint32_t)kept;
	for (uint32_t i = 1; i < t->nhost_threads; i++)
		t->host_threads[i].first = t->host_threads[i - 1].first + t->host_threads[i - 1].n;
	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < parts[i]->threads.n; k++)
			parts[i]->threads.p[k].to = thread_at(t, tracks[i]->list.p[k].gtid);
	return true;
}

int
nsx_host_calls_join(struct nsx_loader *l, struct nsx_host_part *const *parts, const struct nsx_tracks *const *tracks,
                    int n,
                    uint32_t *const *names)
{
	struct nsx_trace *t = l->t;
	struct nsx_host *h = l->host;
	size_t launches = l->launches ? l->launches->list.n : 0;
	uint64_t total = 0;

	for (int i = 0; i < n; i++)
		total += parts[i]->calls.n;
	if (total >= UINT32_MAX / 2)
		return nsx_err_set(l->err, "%s: CUPTI_ACTIVITY_KIND_RUNTIME: more than %u calls", l->db.path,
		                   UINT32_MAX / 2);
	h->launch_ops = calloc(launches + 1, sizeof *h->launch_ops);
	h->launch_back = calloc(launches + 1, sizeof *h->launch_back);
	t->calls = nsx_big_alloc(total, sizeof *t->calls);
	if (!h->launch_ops || !h->launch_back || !t->calls || !join_threads(t, parts, tracks, n))
		return nsx_load_nomem(l);
	h->back_name = nsx_intern_find(&t->names, nsx_str_c("[CUDA memcpy Device-to-Host]"));
	t->ncalls = (uint32_t)total;
	uint32_t *at = malloc(((size_t)t->nhost_threads + 1) * sizeof *at);
	if (!at)
		return nsx_load_nomem(l);
	for (uint32_t i = 0; i < t->nhost_threads; i++)
		at[i] = t->host_threads[i].first;
	for (int i = 0; i < n; i++) {
		struct nsx_host_part *p = parts[i];
		for (; p->calls.first; nsx_pile_drop(&p->calls)) {
			const struct nsx_part_host_call *c = (const void *)p->calls.first->data,
			    *end = c + p->calls.first->n;
			for (; c < end; c++)
				/* The member holds the launch until what depends on the launch is filled in. */
				t->calls[at[p->threads.p[c->thread].to]++] = (struct nsx_host_call){
					.start = c->start, .end = c->end, .id = c->id, .range = NSX_NONE,
					.ops = c->launch,
					.name = c->name == NSX_NONE ? (uint32_t)NSX_NONE : names[i][c->name]
				};
		}
	}
	free(at);
	return NSX_OK;
}

/* ---- operations */

void
nsx_host_issued(struct nsx_loader *l, uint32_t launch, const struct nsx_gpu_op *op)
{
	struct nsx_host *h = l->host;

	h->launch_ops[launch]++;
	if (op->type == NSX_OP_MEMCPY && op->name == h->back_name && h->back_name != NSX_NONE &&
	    op->dst == NSX_MEMORY_PAGEABLE)
		h->launch_back[launch] = true;
}

/* ---- threads, each independently */

struct work { struct nsx_loader *l; _Atomic bool failed; };

static void
finish_thread(void *ctx, int i)
{
	struct work *w = ctx;
	struct nsx_trace *t = w->l->t;
	const struct nsx_host *h = w->l->host;
	const struct nsx_calling_thread *th = &t->host_threads[i];
	struct nsx_host_call *calls = t->calls + th->first;
	uint32_t at = nsx_trace_thread_at(t, th->gtid);

	if (!nsx_thread_sort_calls(calls, th->n)) {
		w->failed = true;
		return;
	}
	for (uint32_t k = 0; k < th->n; k++) {
		struct nsx_host_call *c = &calls[k];
		uint32_t launch = c->ops;
		c->ops = 0;
		if (c->name == NSX_NONE)
			c->name = t->ncall_names - 1;
		if (launch != NSX_NONE && t->issues[launch].id == c->id) {
			c->ops = h->launch_ops[launch];
			c->back = h->launch_back[launch];
		}
	}
	if (at != NSX_NONE && !nsx_around(t->ranges, t->threads[at].first, t->threads[at].n, calls, th->n))
		w->failed = true;
}

/* ---- lost time of calls */

/* An overhead within a call, clipped to it. */
struct piece { uint32_t call; int64_t start, end; uint8_t class; };

NSX_ORDER(by_call, struct piece, NSX_CMP(a->call, b->call), NSX_CMP(a->start, b->start), NSX_CMP(a->end, b->end))

/* The n pieces of a call, by start: full is the union of those in which the queue was full; load the part of loading
 * outside it. */
static struct nsx_call_loss
loss_of(const struct piece *p, size_t n)
{
	struct nsx_call_loss loss = { p->call, 0, 0 };
	int64_t full = INT64_MIN, any = INT64_MIN, both = 0;   /* ends of what has been counted */

	for (size_t i = 0; i < n; i++) {
		int64_t from = p[i].start > any ? p[i].start : any;
		if (p[i].end > from) {
			both += p[i].end - from;
			any = p[i].end;
		}
		if (p[i].class != NSX_OVERHEAD_QUEUE_FULL)
			continue;
		from = p[i].start > full ? p[i].start : full;
		if (p[i].end > from) {
			loss.stalled += p[i].end - from;
			full = p[i].end;
		}
	}
	loss.loading = both - loss.stalled;
	return loss;
}

/* Calls are sorted by thread and start. */
uint32_t
nsx_host_call_of(const struct nsx_trace *t, const struct nsx_issue *issue)
{
	uint32_t thread = thread_at(t, issue->gtid);

	if (thread == t->nhost_threads || t->host_threads[thread].gtid != issue->gtid)
		return NSX_NONE;
	uint32_t lo = t->host_threads[thread].first, end = lo + t->host_threads[thread].n, hi = end;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct nsx_host_call *c = &t->calls[mid];
		if (c->start < issue->start || (c->start == issue->start && (c->end > issue->end ||
		    (c->end == issue->end && c->id < issue->id))))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < end && t->calls[lo].id == issue->id ? lo : (uint32_t)NSX_NONE;
}

/* The part of an overhead that is within its call to *p, n -> n + 1; n if there is none. */
static size_t
add_piece(const struct nsx_trace *t, const struct nsx_issue *issue, const struct piece *o, struct piece *p, size_t n)
{
	uint32_t call = issue->start <= issue->end ? nsx_host_call_of(t, issue) : (uint32_t)NSX_NONE;
	int64_t start = o->start > issue->start ? o->start : issue->start;
	int64_t end = o->end < issue->end ? o->end : issue->end;

	if (call == NSX_NONE || start >= end)
		return n;
	p[n] = (struct piece){ call, start, end, o->class };
	return n + 1;
}

static int
count_losses(struct nsx_loader *l)
{
	struct nsx_trace *t = l->t;
	const struct nsx_host *h = l->host;
	struct piece *p = malloc((h->overheads.n + h->judged.n + 1) * sizeof *p);
	size_t n = 0;

	t->losses = malloc((h->overheads.n + h->judged.n + 1) * sizeof *t->losses);
	if (!p || !t->losses) {
		free(p);
		return nsx_load_nomem(l);
	}
	for (size_t i = 0; i < h->overheads.n; i++) {
		const struct nsx_raw_overhead *o = &h->overheads.p[i];
		if (o->key == NSX_NONE || (o->o.class != NSX_OVERHEAD_QUEUE_FULL && o->o.class != NSX_OVERHEAD_LOADING))
			continue;
		n = add_piece(t, &h->key_calls.p[o->key].call,
		              &(struct piece){ NSX_NONE, o->o.start, o->o.end, o->o.class }, p, n);
	}
	/* Where the export does not record losses, they are not known unless it has waits for the queue. */
	for (size_t i = 0; i < h->judged.n && t->losses_known; i++) {
		const struct nsx_judged *o = &h->judged.p[i];

		n = add_piece(t, &t->issues[o->issue], &(struct piece){ NSX_NONE, o->start, o->end, o->class }, p, n);
	}
	if (n)
		qsort(p, n, sizeof *p, by_call);
	for (size_t i = 0, e; i < n; i = e) {
		for (e = i + 1; e < n && p[e].call == p[i].call; e++)
			;
		t->losses[t->nlosses++] = loss_of(p + i, e - i);
		t->calls[p[i].call].lost = true;
	}
	free(p);
	return NSX_OK;
}

int
nsx_host_calls_finish(struct nsx_loader *l)
{
	struct work w = { .l = l };

	nsx_par_run((int)l->t->nhost_threads, l->opts->jobs, finish_thread, &w);
	return w.failed ? nsx_load_nomem(l) : count_losses(l);
}
