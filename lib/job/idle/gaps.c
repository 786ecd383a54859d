/* gaps.c -- the causes of a gap: until the call of the next operation returned, the activity of the thread that made
 * the call; after that, the time from the call's return to the start of the operation.
 *
 *   busy until 0, next operation at 100, its call [70, 80) on thread T, which is in a sync [0, 30) and a range "load"
 *     [0, 60)
 *   ->  sync [0,30)  range [30,60)  host [60,70)  launch [70,80)  latency [80,100) */
#include "base/num.h"
#include "job/idle/own.h"

/* Launches of graphs that are remembered per device, from their first node on: far more than run concurrently. */
enum { LAUNCHES = 1 << 13 };

int
nsx_idle_is_second_node(struct nsx_idle_finder *f, struct nsx_idle_device *d, const struct nsx_idle_op *op,
                        bool *second)
{
	struct nsx_key key = { (uint64_t)op->call, (uint64_t)op->profile };
	uint32_t *at;

	*second = false;
	if (!op->graph_node || op->call == NSX_ABSENT)
		return NSX_OK;
	at = nsx_map_at(&d->launches, key);
	if (!at)
		return nsx_err_nomem(f->err, NULL);
	*second = *at != NSX_NONE;
	if (*second)
		return NSX_OK;
	*at = 1;
	if (d->launch_list.n < LAUNCHES)
		return nsx_vec_push(&d->launch_list, op->call) ? NSX_OK : nsx_err_nomem(f->err, NULL);
	nsx_map_del(&d->launches, (struct nsx_key){ (uint64_t)d->launch_list.p[d->launch_head],
	                                            (uint64_t)op->profile });
	d->launch_list.p[d->launch_head] = op->call;
	d->launch_head = (d->launch_head + 1) % LAUNCHES;
	return NSX_OK;
}

struct nsx_host_thread *
nsx_idle_thread(struct nsx_idle_finder *f, int64_t profile, int64_t pid, int64_t tid)
{
	uint32_t at = nsx_thread_number(&f->thread_of, profile, pid, tid);
	struct nsx_host_thread t;

	if (at != f->threads.n)
		return at == NSX_NONE ? NULL : &f->threads.p[at];
	if (nsx_host_thread_init(&t, profile, pid, tid, &f->host_paths, f->err) != NSX_OK)
		return NULL;
	t.keeps_ranges = f->ids;
	if (!nsx_vec_push(&f->threads, t)) {
		nsx_host_thread_free(&t);
		return NULL;
	}
	return &f->threads.p[at];
}

static int
add(struct nsx_idle_finder *f, int64_t start, int64_t end, enum nsx_cause cause, uint32_t path, uint32_t leaf)
{
	struct nsx_idle_piece s = { start, end, NSX_ABSENT, NSX_ABSENT, path, leaf, cause };

	return start >= end || nsx_vec_push(&f->pieces, s) ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

/* A launch may itself block. */
static enum nsx_cause
cause_of(const struct nsx_host_piece *p, int64_t call)
{
	return p->state == NSX_CAUSE_SYNC && p->call == call ? NSX_CAUSE_LAUNCH : (enum nsx_cause)p->state;
}

/* The activity of the thread in the gap, up to m. */
static int
starved(struct nsx_idle_finder *f, struct nsx_stretch *s, int64_t m)
{
	const struct nsx_idle_op *op = s->next;
	const struct nsx_host_piece *first;
	struct nsx_host_thread *t;

	if (!f->calls) {
		/* A stream without calls: only the call of the operation itself is known. */
		int64_t c0 = op->host_start < s->start ? s->start : op->host_start < m ? op->host_start : m;

		return add(f, s->start, c0, NSX_CAUSE_HOST, f->host_paths.root, NSX_NONE) == NSX_OK
		       && add(f, c0, m, NSX_CAUSE_LAUNCH, f->host_paths.root, NSX_NONE) == NSX_OK ? NSX_OK : NSX_ERR;
	}
	t = nsx_idle_thread(f, op->profile, op->pid, op->tid);
	f->host_pieces.list.n = 0;
	if (!t)
		return nsx_err_nomem(f->err, NULL);
	if (nsx_host_settle(t, m, &f->host_paths, f->err) != NSX_OK ||
	    nsx_host_between(t, s->start, m, &f->host_pieces, f->err) != NSX_OK)
		return NSX_ERR;
	first = f->host_pieces.list.p;
	for (size_t i = 0; i < f->host_pieces.list.n; i++) {
		const struct nsx_host_piece *p = &first[i];
		int64_t start = p->start > s->start ? p->start : s->start;
		int64_t end = i + 1 < f->host_pieces.list.n ? p[1].start : m;

		if (i == 0)
			s->drained = p->blocking && p->call != op->call;
		/* Without the wait the host would have gone on when it began. */
		if (s->drained && p->call == first->call)
			s->blocked_to = nsx_add_sat(s->start, nsx_sub_sat(end, first->start, NULL), NULL);
		if (add(f, start, end, cause_of(p, op->call), p->path, p->call_name) != NSX_OK)
			return NSX_ERR;
		if (start < end) {
			f->pieces.p[f->pieces.n - 1].call = p->call;
			f->pieces.p[f->pieces.n - 1].range = p->range;
		}
	}
	return NSX_OK;
}

/* The pieces of the gap, into f->pieces. */
static int
explain(struct nsx_idle_finder *f, struct nsx_stretch *s, bool second)
{
	const struct nsx_idle_op *op = s->next;
	int64_t g0 = s->start, g1 = s->end, m;

	if (f->cut && f->cut(f->state, s->device, g0, g1))
		return add(f, g0, g1, NSX_CAUSE_AFTER, f->host_paths.root, NSX_NONE);
	if (second)
		return add(f, g0, g1, NSX_CAUSE_GRAPH, op->path, op->name);
	if (op->call == NSX_ABSENT || op->host_start == NSX_ABSENT)
		return add(f, g0, g1, NSX_CAUSE_NO_CALL, f->host_paths.root, op->name);
	if (g0 >= g1)
		return NSX_OK;
	s->doubtful = op->doubtful;
	f->short_calls += op->doubtful;
	f->late_calls += op->host_start >= g1;
	m = op->host_end < g1 ? op->host_end : g1;
	m = m > g0 ? m : g0;
	if (m > g0 && starved(f, s, m) != NSX_OK)
		return NSX_ERR;
	return add(f, m, g1, g1 - m <= f->latency ? NSX_CAUSE_LATENCY : op->waits > 0 ? NSX_CAUSE_DEPENDENCY
	           : NSX_CAUSE_UNRESOLVED, op->path, op->name);
}

int
nsx_idle_explain(struct nsx_idle_finder *f, struct nsx_idle_device *d, struct nsx_stretch *s)
{
	bool second;

	f->pieces.n = 0;
	s->blocked_to = s->start;
	if (nsx_idle_is_second_node(f, d, s->next, &second) != NSX_OK || explain(f, s, second) != NSX_OK)
		return NSX_ERR;
	s->pieces = f->pieces.p;
	s->n = f->pieces.n;
	return NSX_OK;
}
