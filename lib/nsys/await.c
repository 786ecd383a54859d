/* await.c -- see await.h: the walk over the calls of each process, and what comes of it. */
#include "nsys/await.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"

enum {
	LATE = 2000,        /* ns that the end of what was awaited may lie behind the start of what awaited it */
	CLOCKS = 30000,     /* the same for calls: clocks of host and GPU differ */
	STALLED = 2000,     /* shorter stalls have no cause worth naming */
	STALLED_END = 10000
};

/* ---- streams */

uint32_t
nsx_await_last(const struct nsx_stream_of *s, uint32_t at)
{
	size_t lo = 0, hi = s->issued.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->issued.p[mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? s->issued.p[lo - 1].op : NSX_NONE;
}

uint32_t
nsx_await_stream(const struct nsx_awaiting *a, uint32_t device, int64_t id)
{
	return nsx_map_get(&a->stream_of, (struct nsx_key){ device, (uint64_t)id });
}

/* NSX_NONE when out of memory. */
static uint32_t
stream_at(struct nsx_awaiting *a, uint32_t device, int64_t id)
{
	uint32_t *at = nsx_map_at(&a->stream_of, (struct nsx_key){ device, (uint64_t)id });

	if (!at)
		return NSX_NONE;
	if (*at == NSX_NONE) {
		struct nsx_stream_of s = { .id = id, .device = device, .next = a->first_stream.p[device] };

		if (!nsx_vec_push(&a->streams, s))
			return NSX_NONE;
		*at = a->first_stream.p[device] = (uint32_t)a->streams.n - 1;
	}
	return *at;
}

/* ---- the walk */

enum what { OP, RECORD, WAIT, SYNC };
struct step { uint32_t what, i, device; };   /* i: operation, call, row of syncs, call */

struct walk {
	struct nsx_awaiting *a;
	NSX_VEC(struct step) steps;
	NSX_VEC(struct nsx_sort_key) order;   /* by process, start, rowid */
	struct nsx_map     last_of;           /* thread -> operation that it issued last */
	struct nsx_map     sync_of;           /* call -> row of syncs */
	uint32_t           first_record;      /* of the process */
	uint32_t           device;            /* that it has launched to; NSX_NONE: none yet, or several */
	bool               several;
	NSX_VEC(struct nsx_await) waited;     /* of calls, as far as it is known at once */
};

static bool
add_step(struct walk *w, enum what what, uint32_t i, uint32_t device, const struct nsx_issue *call)
{
	struct nsx_sort_key k = { { (int64_t)(call->gtid & ~(uint64_t)0xFFFFFF), call->start, call->id },
	                          (uint32_t)w->steps.n };

	return nsx_vec_push(&w->steps, ((struct step){ what, i, device })) && nsx_vec_push(&w->order, k);
}

static int64_t
stalled_of(const struct nsx_trace *t, uint32_t call)
{
	uint32_t lo = 0, hi = t->nlosses;

	if (!t->calls[call].lost)
		return 0;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->losses[mid].call < call)
			lo = mid + 1;
		else
			hi = mid;
	}
	return t->losses[lo].stalled;
}

/* Calls that record, and those that wait. */
static bool
add_calls(struct walk *w)
{
	const struct nsx_trace *t = w->a->l->t;

	for (uint32_t th = 0; th < t->nhost_threads; th++)
		for (uint32_t k = 0; k < t->host_threads[th].n; k++) {
			uint32_t i = t->host_threads[th].first + k;
			const struct nsx_host_call *c = &t->calls[i];
			struct nsx_issue at = { c->start, c->end, c->id, t->host_threads[th].gtid };
			enum nsx_call_role role = (enum nsx_call_role)t->call_names[c->name].role;

			if (role == NSX_CALL_RECORDS && !add_step(w, RECORD, i, NSX_NONE, &at))
				return false;
			if (nsx_call_blocks(t, c) && !add_step(w, SYNC, i, NSX_NONE, &at))
				return false;
		}
	return true;
}

static bool
add_syncs(struct walk *w)
{
	const struct nsx_trace *t = w->a->l->t;
	const struct nsx_host *h = w->a->l->host;

	for (size_t i = 0; i < h->syncs.n; i++) {
		const struct nsx_key_call *k = &h->key_calls.p[h->syncs.p[i].key];
		uint32_t *at, call;

		if (k->call.start > k->call.end || k->name == NSX_NONE)
			continue;
		if (t->call_names[k->name].role == NSX_CALL_WAITS_EVENT) {
			if (!add_step(w, WAIT, (uint32_t)i, h->syncs.p[i].device, &k->call))
				return false;
			continue;
		}
		call = nsx_host_call_of(t, &k->call);
		at = call == NSX_NONE ? NULL : nsx_map_at(&w->sync_of, (struct nsx_key){ call, 0 });
		if (call != NSX_NONE && !at)
			return false;
		if (at && *at == NSX_NONE)
			*at = (uint32_t)i;
	}
	return true;
}

/* Operations without a call were issued before the capture: before all others of their stream, by end. */
static bool
add_ops(struct walk *w)
{
	const struct nsx_trace *t = w->a->l->t;
	NSX_VEC(struct nsx_sort_key) early = { 0 };
	bool good = true;

	for (uint32_t i = 0; i < t->nops && good; i++) {
		const struct nsx_gpu_op *op = &t->ops[i];

		good = op->launch == NSX_NONE
		       ? nsx_vec_push(&early, ((struct nsx_sort_key){ { op->end, 0, 0 }, i }))
		       : add_step(w, OP, i, op->device, &t->issues[op->launch]);
	}
	nsx_sort_keys(early.p, early.n);
	for (size_t i = 0; i < early.n && good; i++) {
		const struct nsx_gpu_op *op = &t->ops[early.p[i].i];
		uint32_t s = stream_at(w->a, op->device, op->stream);

		good =
		    s != NSX_NONE && nsx_vec_push(&w->a->streams.p[s].issued, ((struct nsx_issued){ 0, early.p[i].i }));
	}
	free(early.p);
	return good;
}

static bool
walk_op(struct walk *w, uint32_t at, uint32_t op)
{
	struct nsx_awaiting *a = w->a;
	const struct nsx_trace *t = a->l->t;
	const struct nsx_gpu_op *o = &t->ops[op];
	uint32_t s = stream_at(a, o->device, o->stream), *last;
	struct nsx_stream_of *stream;

	if (s == NSX_NONE || !(last = nsx_map_at(&w->last_of, (struct nsx_key){ t->issues[o->launch].gtid, 0 })))
		return false;
	*last = op;
	w->several |= w->device != NSX_NONE && w->device != o->device;
	w->device = w->several ? NSX_NONE : o->device;
	stream = &a->streams.p[s];
	for (size_t i = 0; i < stream->pending.n; i++) {
		struct nsx_event_wait *x = &a->waits.p[stream->pending.p[i]];

		x->of = op;
		x->name = o->name;
		x->issue = t->issues[o->launch].start;
		x->until = o->start;
		x->before = stream->issued.n ? t->ops[stream->issued.p[stream->issued.n - 1].op].end : INT64_MIN;
	}
	stream->pending.n = 0;
	return nsx_vec_push(&stream->issued, ((struct nsx_issued){ at, op }));
}

static bool
walk_record(struct walk *w, uint32_t at, uint32_t call)
{
	struct nsx_awaiting *a = w->a;
	const struct nsx_trace *t = a->l->t;
	uint32_t last = nsx_map_get(&w->last_of, (struct nsx_key){ nsx_trace_caller(t, call)->gtid, 0 }), *slot;
	struct nsx_record_call r = { at, call, NSX_NONE, -1 };

	if (last != NSX_NONE) {
		r.name = t->ops[last].name;
		r.stream = t->ops[last].stream;
	}
	slot = nsx_map_at(&a->record_of, (struct nsx_key){ call, 0 });
	if (!slot || !nsx_vec_push(&a->records, r))
		return false;
	*slot = (uint32_t)a->records.n - 1;
	return true;
}

static struct nsx_event_wait
wait_of(const struct walk *w, uint32_t at, uint32_t sync)
{
	const struct nsx_awaiting *a = w->a;

	return (struct nsx_event_wait){ .at = at,
				  .sync = sync,
				  .stream = NSX_NONE,
				  .device = a->l->host->syncs.p[sync].device,
				  .of = NSX_NONE,
				  .name = NSX_NONE,
				  .before = INT64_MIN,
				  .records = (uint32_t)a->records.n,
				  .first_record = w->first_record,
				  .record = NSX_NONE,
				  .from = NSX_NONE };
}

static bool
walk_wait(struct walk *w, uint32_t at, uint32_t sync)
{
	struct nsx_awaiting *a = w->a;
	const struct nsx_sync *row = &a->l->host->syncs.p[sync];
	struct nsx_event_wait x = wait_of(w, at, sync);
	uint32_t s = stream_at(a, row->device, row->stream);

	if (s == NSX_NONE)
		return false;
	x.stream = s;
	x.since = x.records - (a->streams.p[s].records > x.first_record ? a->streams.p[s].records : x.first_record);
	a->streams.p[s].records = x.records;
	return nsx_vec_push(&a->waits, x) && nsx_vec_push(&a->streams.p[s].pending, (uint32_t)a->waits.n - 1);
}

/* The call awaited the operation, if that had ended by then, as far as clocks agree. */
static bool
await_op(struct walk *w, uint32_t call, uint32_t op)
{
	const struct nsx_trace *t = w->a->l->t;

	if (op == NSX_NONE || t->ops[op].end > nsx_add_sat(t->calls[call].end, CLOCKS, NULL))
		return true;
	return nsx_vec_push(&w->waited, ((struct nsx_await){ call, op }));
}

static bool
walk_sync(struct walk *w, uint32_t at, uint32_t call)
{
	struct nsx_awaiting *a = w->a;
	const struct nsx_trace *t = a->l->t;
	const struct nsx_host_call *c = &t->calls[call];
	uint32_t sync = nsx_map_get(&w->sync_of, (struct nsx_key){ call, 0 }), s;
	const struct nsx_sync *row = sync == NSX_NONE ? NULL : &a->l->host->syncs.p[sync];
	enum nsx_call_role role = (enum nsx_call_role)t->call_names[c->name].role;
	uint32_t device = row ? row->device : w->device;
	bool good = true;

	/* Some versions write no row for cudaDeviceSynchronize; which device it is for is plain if the process has
	 * launched to one so far. */
	if (role == NSX_CALL_SYNCS_DEVICE) {
		for (s = device == NSX_NONE ? NSX_NONE : a->first_stream.p[device]; s != NSX_NONE && good;
		     s = a->streams.p[s].next)
			good = await_op(w, call, nsx_await_last(&a->streams.p[s], at));
		return good;
	}
	if (!row)
		return true;
	if (role == NSX_CALL_SYNCS_STREAM) {
		s = nsx_await_stream(a, row->device, row->stream);
		return s == NSX_NONE || await_op(w, call, nsx_await_last(&a->streams.p[s], at));
	}
	if (role == NSX_CALL_SYNCS_EVENT) {
		struct nsx_event_wait x = wait_of(w, at, sync);

		x.of = call;
		x.name = c->name;
		x.issue = c->start;
		x.until = c->end;
		return nsx_vec_push(&a->waits, x);
	}
	return true;
}

static bool
take_steps(struct walk *w)
{
	int64_t process = 0;
	bool good = true;

	nsx_sort_keys(w->order.p, w->order.n);
	for (size_t i = 0; i < w->order.n && good; i++) {
		const struct step *s = &w->steps.p[w->order.p[i].i];
		uint32_t at = (uint32_t)i + 1;

		if (!i || w->order.p[i].k[0] != process) {
			w->first_record = (uint32_t)w->a->records.n;
			w->device = NSX_NONE;
			w->several = false;
		}
		process = w->order.p[i].k[0];
		switch ((enum what)s->what) {
		case OP:     good = walk_op(w, at, s->i); break;
		case RECORD: good = walk_record(w, at, s->i); break;
		case WAIT:   good = walk_wait(w, at, s->i); break;
		case SYNC:   good = walk_sync(w, at, s->i); break;
		}
	}
	return good;
}

/* ---- results */

/* Of the ends of a device, in order, the one nearest to the return of a call that stalled, while it did or a little
 * later, since clocks differ; NSX_NONE: none. */
static uint32_t
nearest_end(const struct nsx_sort_key *ends, size_t n, uint32_t device, const struct nsx_host_call *c)
{
	size_t lo = 0, hi = n, best = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (ends[mid].k[0] < device || (ends[mid].k[0] == device && ends[mid].k[1] <= c->end))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && ends[lo - 1].k[0] == device && ends[lo - 1].k[1] > c->start)
		best = lo - 1;
	if (lo < n && ends[lo].k[0] == device && ends[lo].k[1] <= nsx_add_sat(c->end, STALLED_END, NULL)
	    && (best == n || ends[lo].k[1] - c->end < c->end - ends[best].k[1]))
		best = lo;
	return best == n ? NSX_NONE : ends[best].i;
}

/* Whether a copy from pageable memory kept its call: the driver stages what is large (more than 64 KiB) piece by
 * piece, and returns with the last one, some us before it is on the device. What is small is staged whole, and begins
 * after the call. */
static bool
staged(const struct nsx_trace *t, const struct nsx_gpu_op *op, uint32_t call)
{
	const struct nsx_host_call *c = &t->calls[call];

	return op->type == NSX_OP_MEMCPY && op->src == NSX_MEMORY_PAGEABLE && op->dst == NSX_MEMORY_DEVICE
	       && t->call_names[c->name].class == NSX_CALL_COPY && op->start < c->end
	       && op->end <= nsx_add_sat(c->end, CLOCKS, NULL);
}

/* Blocking copies, and those that are staged, await themselves; a call that stalled and does not block, the operation
 * of its device that made room. */
static bool
await_own(struct walk *w)
{
	const struct nsx_trace *t = w->a->l->t;
	NSX_VEC(struct nsx_sort_key) ends = { 0 };
	bool good = true, stalls = false;

	for (uint32_t i = 0; i < t->nlosses && !stalls; i++)
		stalls = t->losses[i].stalled > STALLED;
	for (uint32_t i = 0; i < t->nops && good && stalls; i++)
		good = nsx_vec_push(&ends, ((struct nsx_sort_key){ { t->ops[i].device, t->ops[i].end, 0 }, i }));
	nsx_sort_keys(ends.p, good ? ends.n : 0);
	for (uint32_t i = 0; i < t->nops && good; i++) {
		const struct nsx_gpu_op *op = &t->ops[i];
		uint32_t call = op->launch == NSX_NONE ? NSX_NONE : nsx_host_call_of(t, &t->issues[op->launch]), of;

		if (call == NSX_NONE)
			continue;
		if (nsx_call_blocks(t, &t->calls[call]) || staged(t, op, call)) {
			good = await_op(w, call, i);
			continue;
		}
		if (stalled_of(t, call) <= STALLED)
			continue;
		of = nearest_end(ends.p, ends.n, op->device, &t->calls[call]);
		if (of != NSX_NONE)
			good = nsx_vec_push(&w->waited, ((struct nsx_await){ call, of }));
	}
	free(ends.p);
	return good;
}

/* What each wait was for. */
static bool
await_waits(struct walk *w, struct nsx_awaits *after)
{
	struct nsx_awaiting *a = w->a;
	const struct nsx_trace *t = a->l->t;

	for (size_t i = 0; i < a->waits.n; i++) {
		const struct nsx_event_wait *x = &a->waits.p[i];
		uint32_t op;

		if (x->of == NSX_NONE)
			continue;
		if (x->record == NSX_NONE || x->from == NSX_NONE) {
			a->unresolved += !x->known;
			continue;
		}
		/* A stream does not wait for itself. */
		op = x->from == x->stream ? NSX_NONE
					  : nsx_await_last(&a->streams.p[x->from], a->records.p[x->record].at);
		if (op == NSX_NONE)
			continue;
		if (x->stream == NSX_NONE) {
			if (!await_op(w, x->of, op))
				return false;
		} else if (t->ops[op].end > nsx_add_sat(x->until, LATE, NULL)) {
			a->contradicted++;
		} else if (!nsx_vec_push(after, ((struct nsx_await){ x->of, op }))) {
			return false;
		}
	}
	return true;
}

static bool
find(struct walk *w)
{
	struct nsx_trace *t = w->a->l->t;

	for (uint32_t d = 0; d < t->ndevices; d++)
		if (!nsx_vec_push(&w->a->first_stream, NSX_NONE))
			return false;
	/* Without rows on waits, nothing comes of the walk. */
	if (w->a->l->host->syncs.n && (!add_ops(w) || !add_calls(w) || !add_syncs(w) || !take_steps(w) ||
	    !nsx_await_learn(w->a) || !await_waits(w, &t->after)))
		return false;
	if (!await_own(w))
		return false;
	t->waited.p = w->waited.p;
	t->waited.n = w->waited.n;
	t->waited.cap = w->waited.cap;
	w->waited.p = NULL;
	nsx_awaits_sort(&t->after);
	nsx_awaits_sort(&t->waited);
	return true;
}

int
nsx_host_awaits(struct nsx_loader *l)
{
	struct nsx_awaiting a = { .l = l };
	struct walk w = { .a = &a };
	bool good = find(&w);

	nsx_load_diag(l, NSX_INFO, a.unresolved, "waits for events of which it is not known what they were for");
	nsx_load_diag(l, NSX_INFO, a.contradicted,
		      "operations that began before what they seem to have awaited: not taken for that");
	for (size_t i = 0; i < a.streams.n; i++) {
		free(a.streams.p[i].issued.p);
		free(a.streams.p[i].pending.p);
	}
	free(a.streams.p);
	free(a.first_stream.p);
	free(a.records.p);
	free(a.waits.p);
	nsx_map_free(&a.stream_of);
	nsx_map_free(&a.record_of);
	free(w.steps.p);
	free(w.order.p);
	free(w.waited.p);
	nsx_map_free(&w.last_of);
	nsx_map_free(&w.sync_of);
	return good ? NSX_OK : nsx_load_nomem(l);
}
