/* runtime.c -- CUDA calls: only those that launched something are kept, by thread. */
#include <stdlib.h>

#include "nsys/cuda.h"
#include "nsys/host.h"

/* A call of a launch, as read. */
struct part_call { struct nsx_raw_call c; int64_t id; };

struct nsx_call_part {
	const struct nsx_loader *l;
	struct nsx_pile          calls;    /* struct part_call; thread is the track */
	struct nsx_tracks        tracks;   /* thread: the process's number; later the thread's */
	struct nsx_host_part     host;
	uint64_t                 bad, backward;
};

/* The call of a launch that started last. */
struct nsx_last_call { int64_t start, end; uint32_t thread, range; /* thread NSX_NONE: no call yet */ };

static const struct nsx_db_col columns[] = {
	{ "correlationId", false }, { "globalTid", false }, { "start", false }, { "end", false },
	{ "eventClass", true },
	{ "rowid", false }, { "nameId", true }
};
/* Members that only operations and calls need are last. */
enum { CORRELATION, GLOBAL_TID, START, END, EVENT_CLASS, ROWID, NAME, NCOLUMNS };

/* Nsight Systems 2022.2 has calls twice: rows of this class are their backtraces. */
enum { CLASS_BACKTRACE = 67 };

/* The row of a call is needed for more than its launch. */
static int
keep_host(struct nsx_call_part *p, const struct nsx_db_cell *v, const struct nsx_raw_call *call, uint32_t key,
          uint64_t gtid)
{
	struct nsx_host_part *h = &p->host;
	uint32_t name = NSX_NONE;

	if (key == NSX_NONE && !p->l->opts->calls)
		return NSX_OK;
	if (v[NAME].type == NSX_DB_INT && (name = nsx_host_name(h, v[NAME].i)) == NSX_NONE)
		return NSX_ERR;
	if (key != NSX_NONE) {
		struct nsx_part_key_call *k = nsx_pile_add(&h->keys);
		if (!k)
			return NSX_ERR;
		*k = (struct nsx_part_key_call){ { call->start, call->end, v[ROWID].i, gtid }, key, name };
	}
	if (p->l->opts->calls) {
		struct nsx_part_host_call *c = nsx_pile_add(&h->calls);
		if (!c)
			return NSX_ERR;
		*c = (struct nsx_part_host_call){ call->start, call->end, v[ROWID].i, name, call->thread,
		                                  call->launch };
		h->threads.p[call->thread].n++;
	}
	return NSX_OK;
}

static int
read_row(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_call_part *p = ctx;
	struct nsx_raw_call call;
	int64_t id, gtid;
	bool all = p->l->opts->calls, has_id = nsx_cell_int(&v[CORRELATION], &id),
	    has_thread = nsx_cell_int(&v[GLOBAL_TID], &gtid);

	if (v[EVENT_CLASS].type == NSX_DB_INT && v[EVENT_CLASS].i == CLASS_BACKTRACE)
		return NSX_OK;
	if (!has_id || !has_thread) {
		/* Either may be NULL in a valid export: such a call launched nothing that is recorded. */
		bool bad = v[CORRELATION].type > NSX_DB_INT || v[GLOBAL_TID].type > NSX_DB_INT;
		p->bad += bad;
		p->host.no_thread += all && !bad && !has_thread;
		if (bad || !has_thread || !all)
			return NSX_OK;
	}
	size_t ntracks = p->tracks.list.n;
	call.thread = nsx_tracks_at(&p->tracks, (uint64_t)gtid, 0);
	if (call.thread == NSX_NONE)
		return NSX_ERR;
	struct nsx_track *tr = &p->tracks.list.p[call.thread];
	if (call.thread == ntracks) {
		tr->thread = nsx_gpid_find(p->l, (uint64_t)gtid & ~(uint64_t)0xFFFFFF);
		if (p->l->host && !nsx_host_thread(p->l, &p->host, call.thread, (uint64_t)gtid))
			return NSX_ERR;
	}
	call.launch = has_id && tr->thread != NSX_NONE ? nsx_launch_find(p->l->launches, tr->thread, id)
	    : (uint32_t)NSX_NONE;
	uint32_t key = has_id && p->l->host ? nsx_host_key(p->l->host, &p->host.threads.p[call.thread], id)
	    : (uint32_t)NSX_NONE;
	if (call.launch == NSX_NONE && key == NSX_NONE && !all)
		return NSX_OK;
	if (!nsx_cell_int(&v[START], &call.start) || !nsx_cell_int(&v[END], &call.end)) {
		p->bad++;
		return NSX_OK;
	}
	if (call.end < call.start) {
		p->backward++;
		return NSX_OK;
	}
	if (call.launch != NSX_NONE) {
		struct part_call *out = nsx_pile_add(&p->calls);
		if (!out)
			return NSX_ERR;
		*out = (struct part_call){ call, p->l->host ? v[ROWID].i : 0 };
		tr->n++;
	}
	return p->l->host ? keep_host(p, v, &call, key, (uint64_t)gtid) : NSX_OK;
}

int
nsx_runtime_tasks(struct nsx_loader *l, nsx_tasks *tasks)
{
	int64_t lo, hi;
	int n = 0;

	/* Without operations only launches matter, unless all calls are kept. */
	if ((l->nops || l->opts->calls) && nsx_load_cut(l, "CUPTI_ACTIVITY_KIND_RUNTIME", &n, &lo, &hi) != NSX_OK)
		return NSX_ERR;
	if (!n)
		return NSX_OK;
	l->call_parts = calloc((size_t)n, sizeof *l->call_parts);
	if (!l->call_parts || !nsx_vec_room(tasks, (size_t)n))
		return nsx_load_nomem(l);
	l->ncall_parts = n;
	for (int i = 0; i < n; i++) {
		struct nsx_call_part *p = &l->call_parts[i];
		struct nsx_task *task = &tasks->p[tasks->n++];

		*p = (struct nsx_call_part){ .l = l, .calls = { .size = sizeof(struct part_call) },
		                              .host.calls.size = sizeof(struct nsx_part_host_call),
		                              .host.keys.size = sizeof(struct nsx_part_key_call) };
		*task = (struct nsx_task){ .scan = { "CUPTI_ACTIVITY_KIND_RUNTIME", columns, l->host ? NCOLUMNS : ROWID,
		                                     .ctx = p, .cells = read_row } };
		nsx_load_part(&task->scan, i, n, lo, hi);
	}
	return NSX_OK;
}

/* ---- the call that started last */

static void
consider(struct nsx_last_call *last, struct nsx_last_call c)
{
	if (last->thread != NSX_NONE) {
		if (c.start != last->start ? c.start < last->start : c.end > last->end)
			return;
		if (c.start == last->start && c.end == last->end
		    && (c.thread != last->thread ? c.thread > last->thread : c.range >= last->range))
			return;
	}
	*last = c;
}

void
nsx_calls_placed(struct nsx_loader *l, uint32_t thread, const struct nsx_calls *c)
{
	if (!l->last_calls)
		return;
	pthread_mutex_lock(&l->last_lock);
	for (uint32_t i = 0; i < c->n; i++)
		if (c->p[i].launch != NSX_NONE)
			consider(&l->last_calls[c->p[i].launch],
			         (struct nsx_last_call){ c->p[i].start, c->p[i].end, thread, c->p[i].range });
	pthread_mutex_unlock(&l->last_lock);
}

void
nsx_calls_of(const struct nsx_loader *l, uint32_t launch, struct nsx_gpu_op *op)
{
	const struct nsx_last_call *last = &l->last_calls[launch];

	op->launch = launch;
	if (last->thread != NSX_NONE) {
		op->call_start = last->start;
		if (last->range != NSX_NONE)
			op->range = l->t->threads[last->thread].first + last->range;
	}
}

/* ---- joining */

/* Data for the host's side only: for l->host. */
static int
join_host(struct nsx_loader *l)
{
	struct nsx_host_part **parts = malloc(((size_t)l->ncall_parts + 1) * sizeof *parts);
	const struct nsx_tracks **tracks = malloc(((size_t)l->ncall_parts + 1) * sizeof *tracks);
	int rc = NSX_OK;

	if (!parts || !tracks)
		rc = nsx_load_nomem(l);
	for (int i = 0; rc == NSX_OK && i < l->ncall_parts; i++) {
		parts[i] = &l->call_parts[i].host;
		tracks[i] = &l->call_parts[i].tracks;
	}
	if (rc == NSX_OK)
		rc = nsx_host_join(l, parts, tracks, l->ncall_parts);
	free(parts);
	free(tracks);
	return rc;
}

int
nsx_runtime_join(struct nsx_loader *l)
{
	struct nsx_trace *t = l->t;
	uint64_t total = 0, bad = 0, backward = 0;
	struct nsx_launch *launches = l->launches->list.p;

	l->call_first = calloc((size_t)t->nthreads + 3, sizeof *l->call_first);
	if (!l->call_first)
		return nsx_load_nomem(l);
	for (int i = 0; i < l->ncall_parts; i++) {
		struct nsx_call_part *p = &l->call_parts[i];
		bad += p->bad;
		backward += p->backward;
		total += p->calls.n;
		for (size_t k = 0; k < p->tracks.list.n; k++) {
			struct nsx_track *tr = &p->tracks.list.p[k];
			tr->thread = nsx_trace_thread_at(t, tr->gtid);
			/* The element after the last is for all threads without ranges. */
			if (tr->thread == NSX_NONE)
				tr->thread = t->nthreads;
			l->call_first[tr->thread + 2] += tr->n;
		}
	}
	nsx_load_diag(l, NSX_WARNING, bad,
	              "CUPTI_ACTIVITY_KIND_RUNTIME: rows ignored: a number is not an integer");
	nsx_load_diag(l, NSX_WARNING, backward, "CUDA calls ignored: they end before they start");
	if (total > UINT32_MAX / 4)
		return nsx_err_set(l->err,
		                   "%s: CUPTI_ACTIVITY_KIND_RUNTIME: more than %u calls that launched something",
		                   l->db.path, UINT32_MAX / 4);
	/* Counted two positions further on: filling advances each position by its count, so that they end up as
	 * starts. */
	for (uint32_t k = 1; k < t->nthreads + 3; k++)
		l->call_first[k] += l->call_first[k - 1];
	l->calls = nsx_big_alloc(total, sizeof *l->calls);
	if (l->opts->ops)
		l->last_calls = nsx_big_alloc(l->launches->list.n + 1, sizeof *l->last_calls);
	if (l->host)
		t->issues = nsx_big_alloc(l->launches->list.n + 1, sizeof *t->issues);
	if (!l->calls || (l->opts->ops && !l->last_calls) || (l->host && !t->issues))
		return nsx_load_nomem(l);
	for (size_t i = 0; l->last_calls && i < l->launches->list.n; i++)
		l->last_calls[i].thread = NSX_NONE;
	for (size_t i = 0; t->issues && i < l->launches->list.n; i++)
		t->issues[i] = (struct nsx_issue){ INT64_MAX, INT64_MIN, 0, 0 };
	for (int i = 0; i < l->ncall_parts; i++) {
		struct nsx_call_part *p = &l->call_parts[i];
		for (; p->calls.first; nsx_pile_drop(&p->calls)) {
			const struct part_call *from = (const void *)p->calls.first->data,
			    *end = from + p->calls.first->n;
			for (; from < end; from++) {
				const struct nsx_raw_call *c = &from->c;
				const struct nsx_track *tr = &p->tracks.list.p[c->thread];
				struct nsx_raw_call *out = &l->calls[l->call_first[tr->thread + 1]++];
				*out = *c;
				out->thread = tr->thread;
				if (t->issues) {
					struct nsx_issue issue = { c->start, c->end, from->id, tr->gtid };
					if (nsx_issue_before(&issue, &t->issues[c->launch]))
						t->issues[c->launch] = issue;
				}
				launches[c->launch].ncalls++;
				if (out->thread == t->nthreads && l->last_calls)
					consider(&l->last_calls[c->launch], (struct nsx_last_call){ c->start, c->end,
						out->thread, NSX_NONE });
			}
		}
	}
	nsx_launches_close(l->launches);
	int rc = l->host ? join_host(l) : NSX_OK;
	nsx_runtime_free(l);
	return rc;
}

void
nsx_runtime_free(struct nsx_loader *l)
{
	for (int i = 0; i < l->ncall_parts; i++) {
		nsx_pile_free(&l->call_parts[i].calls);
		nsx_tracks_free(&l->call_parts[i].tracks);
		nsx_host_part_free(&l->call_parts[i].host);
	}
	free(l->call_parts);
	l->call_parts = NULL;
	l->ncall_parts = 0;
}
