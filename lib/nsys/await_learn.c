/* await_learn.c -- for which record of an event a wait was, and on which stream that record was:
 *
 *   rows of CUDA_EVENT and eventSyncId         the record of equal id, and its stream
 *   rows of CUDA_EVENT                         the last record of the event before the wait, and its stream
 *   eventSyncId alone                          the record, since it counts the calls of the process that record; the
 *                                              stream is learned
 *   neither                                    both are learned: how many records back, on the stream in which the
 *                                              recording thread had issued last
 *
 * What is learned is one answer for each site of the program: the stream that waits, the name of what waits, and the
 * name and stream of what the recording thread had issued last. Over all waits of a site an answer is refuted by one
 * wait that went on before what it stands for ended, and bound by each that went on just when that ended, although
 * nothing else held it. The answer that is bound most often, of those never refuted, is taken. If none is bound, it is
 * the stream in which the recording thread had issued last; if that is the one that waits, so that there was nothing to
 * wait for, one that was still at work when the wait was issued, many times, and yet never refuted. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sort.h"
#include "nsys/await.h"

enum { REFUTED = 100, BOUND = 6000, CALL = 5000, OWN = 1500, OTHER = 1500, CALL_CLOCKS = 30000 };   /* ns */
enum { AT_WORK = 10 };   /* times: more is no chance */

struct site_key { int64_t waits, stream; uint32_t name, last, since, kind; };

/* An answer of a site. */
struct answer { int64_t value, bound, at_work, least; bool refuted; uint32_t next; };

struct learning {
	struct nsx_awaiting *a;
	struct nsx_map     row_by_id, base_of;   /* (process, id) -> events; process -> bases */
	NSX_VEC(struct base { int64_t base; bool any; }) bases;
	struct nsx_intern  sites;
	NSX_VEC(uint32_t)  first;                /* by site: its answers, NSX_NONE ends */
	NSX_VEC(struct answer) answers;
	struct nsx_map     answer_of;            /* (site, value) -> answers */
};

static const struct nsx_sync *
row_of(const struct learning *x, const struct nsx_event_wait *w)
{
	return &x->a->l->host->syncs.p[w->sync];
}

static uint64_t
process_of(const struct learning *x, const struct nsx_event_wait *w)
{
	return x->a->l->host->key_calls.p[row_of(x, w)->key].call.gtid & ~(uint64_t)0xFFFFFF;
}

/* ---- what the export says */

struct placed { uint64_t process; int64_t event; uint32_t at, record, row; };

NSX_ORDER(by_event, struct placed, NSX_CMP(a->process, b->process), NSX_CMP(a->event, b->event),
          NSX_CMP(a->at, b->at))

/* The record and stream of waits whose records have rows of CUDA_EVENT. */
static bool
use_rows(struct learning *x)
{
	const struct nsx_host *h = x->a->l->host;
	NSX_VEC(struct placed) list = { 0 };
	bool good = true;

	for (size_t i = 0; i < h->events.n && good; i++) {
		const struct nsx_issue *issue = &h->key_calls.p[h->events.p[i].key].call;
		uint32_t call = issue->start <= issue->end ? nsx_host_call_of(x->a->l->t, issue) : NSX_NONE, record,
			 *at;
		uint64_t process = issue->gtid & ~(uint64_t)0xFFFFFF;

		record = call == NSX_NONE ? NSX_NONE : nsx_map_get(&x->a->record_of, (struct nsx_key){ call, 0 });
		if (record == NSX_NONE)
			continue;
		good = nsx_vec_push(&list, ((struct placed){ process, h->events.p[i].event, x->a->records.p[record].at,
		                                             record, (uint32_t)i }));
		if (!good || h->events.p[i].id < 0)
			continue;
		at = nsx_map_at(&x->row_by_id, (struct nsx_key){ process, (uint64_t)h->events.p[i].id });
		good = at != NULL;
		if (good)
			*at = (uint32_t)list.n - 1;
	}
	/* The map has places in the list before it is sorted. */
	struct placed *sorted = good && list.n ? malloc(list.n * sizeof *sorted) : NULL;

	good = good && (!list.n || sorted);
	if (sorted) {
		memcpy(sorted, list.p, list.n * sizeof *sorted);
		qsort(sorted, list.n, sizeof *sorted, by_event);
	}
	for (size_t i = 0; i < x->a->waits.n && good && list.n; i++) {
		struct nsx_event_wait *w = &x->a->waits.p[i];
		const struct nsx_sync *row = row_of(x, w);
		uint32_t at = row->id < 0 ? NSX_NONE : nsx_map_get(&x->row_by_id, (struct nsx_key){ process_of(x, w),
			(uint64_t)row->id });
		const struct placed *found = at == NSX_NONE ? NULL : &list.p[at];
		size_t lo = 0, hi = list.n;

		while (!found && row->event >= 0 && lo < hi) {
			struct placed want = { process_of(x, w), row->event, w->at, 0, 0 };
			size_t mid = lo + (hi - lo) / 2;

			if (by_event(&sorted[mid], &want) < 0)
				lo = mid + 1;
			else
				hi = mid;
		}
		if (!found && lo && sorted[lo - 1].process == process_of(x, w) && sorted[lo - 1].event == row->event)
			found = &sorted[lo - 1];
		if (!found)
			continue;
		w->known = true;
		w->record = found->record;
		w->from = nsx_await_stream(x->a, w->device, h->events.p[found->row].stream);
	}
	free(sorted);
	free(list.p);
	return good;
}

/* The record of waits that have an eventSyncId, which counts the calls of the process that record from an unknown
 * number on: the largest that fits all. */
static bool
use_ids(struct learning *x)
{
	struct nsx_awaiting *a = x->a;

	for (size_t i = 0; i < a->waits.n; i++) {
		const struct nsx_event_wait *w = &a->waits.p[i];
		int64_t id = row_of(x, w)->id, base = id - (int64_t)(w->records - w->first_record);
		uint32_t at;

		if (id < 0)
			continue;
		at = nsx_map_number(&x->base_of, (struct nsx_key){ process_of(x, w), 0 });
		if (at == NSX_NONE || (at == x->bases.n && !nsx_vec_push(&x->bases, ((struct base){ base, true }))))
			return false;
		x->bases.p[at].base = base > x->bases.p[at].base ? base : x->bases.p[at].base;
	}
	for (size_t i = 0; i < a->waits.n; i++) {
		struct nsx_event_wait *w = &a->waits.p[i];
		int64_t id = row_of(x, w)->id, n;

		if (id < 0 || w->record != NSX_NONE || w->known)
			continue;
		n = id - x->bases.p[nsx_map_get(&x->base_of, (struct nsx_key){ process_of(x, w), 0 })].base;
		if (n >= 1 && n <= (int64_t)(w->records - w->first_record))
			w->record = w->first_record + (uint32_t)n - 1;
		else
			w->known = true;   /* recorded before the capture: nothing is known to be awaited */
	}
	return true;
}

/* ---- what is learned */

/* Count what one wait says about an answer of its site: the operation that it would stand for ended at `end`. */
static bool
weigh(struct learning *x, uint32_t site, const struct nsx_event_wait *w, int64_t value, int64_t end)
{
	int64_t diff = nsx_sub_sat(w->until, end, NULL),
		own = nsx_add_sat(w->before, w->before == INT64_MIN ? 0 : OWN, NULL);
	int64_t other = w->stream == NSX_NONE ? w->issue : nsx_add_sat(w->issue, CALL, NULL);
	uint32_t *at = nsx_map_at(&x->answer_of, (struct nsx_key){ site, (uint64_t)value });
	struct answer *s;

	if (!at)
		return false;
	if (*at == NSX_NONE) {
		struct answer new = { value, 0, 0, INT64_MAX, false, x->first.p[site] };

		if (!nsx_vec_push(&x->answers, new))
			return false;
		*at = x->first.p[site] = (uint32_t)x->answers.n - 1;
	}
	s = &x->answers.p[*at];
	other = own > other ? own : other;
	s->refuted |= diff < (w->stream == NSX_NONE ? -CALL_CLOCKS : -REFUTED);
	s->bound += diff >= 0 && diff < BOUND && nsx_sub_sat(w->until, other, NULL) > OTHER;
	s->at_work += end > w->issue;
	s->least = diff < s->least ? diff : s->least;
	return true;
}

/* The site of a wait; NSX_NONE when out of memory. */
static uint32_t
site_of(struct learning *x, const struct nsx_event_wait *w)
{
	const struct nsx_record_call *r = w->record == NSX_NONE ? NULL : &x->a->records.p[w->record];
	struct site_key k = { w->stream == NSX_NONE ? -1 : x->a->streams.p[w->stream].id, r ? r->stream : -1, w->name,
	                      r ? r->name : NSX_NONE, r ? 0 : w->since, (w->stream == NSX_NONE) * 2 + (r != NULL) };
	uint32_t at = nsx_intern(&x->sites, (struct nsx_str){ (const char *)&k, sizeof k });

	return at != NSX_NONE && (at < x->first.n || nsx_vec_push(&x->first, NSX_NONE)) ? at : NSX_NONE;
}

/* Whether an answer is better than another one of the site that is bound as often: `usual`, unless that is `own`, no
 * wait at all, and the answer was often at work; then the one that ended closest. */
static bool
likelier(const struct answer *s, const struct answer *best, int64_t usual, int64_t own)
{
	if (usual == own && s->value == own)
		return best->at_work < AT_WORK;
	if (usual == own && best->value == own)
		return s->at_work >= AT_WORK;
	return best->value != usual && (s->value == usual || s->least < best->least);
}

/* The best answer of a site: the most often bound of those that are not refuted. NULL: none. */
static const struct answer *
best_of(const struct learning *x, uint32_t site, int64_t usual, int64_t own)
{
	const struct answer *best = NULL;

	for (uint32_t i = x->first.p[site]; i != NSX_NONE; i = x->answers.p[i].next) {
		const struct answer *s = &x->answers.p[i];

		if (s->refuted)
			continue;
		if (!best || s->bound > best->bound || (s->bound == best->bound && likelier(s, best, usual, own)))
			best = s;
	}
	return best;
}

/* The operation that the record of a wait, `back` records before it, would stand for; NSX_NONE: none. */
static uint32_t
op_back(const struct learning *x, const struct nsx_event_wait *w, uint32_t back, uint32_t *record, uint32_t *from)
{
	const struct nsx_awaiting *a = x->a;

	if (back > w->records - w->first_record)
		return NSX_NONE;
	*record = w->records - back;
	*from = nsx_await_stream(a, w->device, a->records.p[*record].stream);
	return *from == NSX_NONE ? NSX_NONE : nsx_await_last(&a->streams.p[*from], a->records.p[*record].at);
}

static bool
learn(struct learning *x, const struct nsx_event_wait *w)
{
	const struct nsx_awaiting *a = x->a;
	const struct nsx_gpu_op *ops = a->l->t->ops;
	uint32_t site = site_of(x, w), op, record, from;
	bool good = site != NSX_NONE;

	if (w->record != NSX_NONE) {
		for (uint32_t s = a->first_stream.p[w->device]; s != NSX_NONE && good; s = a->streams.p[s].next) {
			op = nsx_await_last(&a->streams.p[s], a->records.p[w->record].at);
			good = op == NSX_NONE || weigh(x, site, w, a->streams.p[s].id, ops[op].end);
		}
		return good;
	}
	for (uint32_t back = 1; back <= NSX_AWAIT_BACK && good; back++) {
		op = op_back(x, w, back, &record, &from);
		good = op == NSX_NONE || weigh(x, site, w, back, ops[op].end);
	}
	return good;
}

static bool
answer(struct learning *x, struct nsx_event_wait *w)
{
	const struct nsx_awaiting *a = x->a;
	const struct nsx_gpu_op *ops = a->l->t->ops;
	uint32_t site = site_of(x, w), op;
	const struct answer *best;

	if (site == NSX_NONE)
		return false;
	if (w->record != NSX_NONE) {
		best = best_of(x, site, a->records.p[w->record].stream,
			       w->stream == NSX_NONE ? -1 : a->streams.p[w->stream].id);
		w->from = best ? nsx_await_stream(a, w->device, best->value) : NSX_NONE;
		return true;
	}
	best = best_of(x, site, 1, -1);
	if (best && best->bound) {
		op = op_back(x, w, (uint32_t)best->value, &w->record, &w->from);
		return true;
	}
	/* Nothing held anything up: the latest record that fits. */
	for (uint32_t back = 1; back <= NSX_AWAIT_BACK; back++) {
		op = op_back(x, w, back, &w->record, &w->from);
		if (op != NSX_NONE && ops[op].end <= nsx_add_sat(w->until, REFUTED, NULL))
			return true;
	}
	w->record = w->from = NSX_NONE;
	return true;
}

bool
nsx_await_learn(struct nsx_awaiting *a)
{
	struct learning x = { .a = a };
	bool good = use_rows(&x) && use_ids(&x);

	for (size_t i = 0; i < a->waits.n && good; i++)
		if (a->waits.p[i].of != NSX_NONE && !a->waits.p[i].known)
			good = learn(&x, &a->waits.p[i]);
	for (size_t i = 0; i < a->waits.n && good; i++)
		if (a->waits.p[i].of != NSX_NONE && !a->waits.p[i].known)
			good = answer(&x, &a->waits.p[i]);
	nsx_map_free(&x.row_by_id);
	nsx_map_free(&x.base_of);
	free(x.bases.p);
	nsx_intern_free(&x.sites);
	free(x.first.p);
	free(x.answers.p);
	nsx_map_free(&x.answer_of);
	return good;
}
