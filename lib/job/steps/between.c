/* between.c -- steps of another class between those that are analysed. */
#include "job/steps/between.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "base/stat.h"
#include "job/reach.h"
#include "job/steps/class.h"

void
nsx_between_need(struct nsx_reader *in)
{
	nsx_reader_need(in, NSX_RANGE, NSX_C(RANGE, device) | NSX_C(RANGE, pid) | NSX_C(RANGE, tid));
}

/* The thread has a next step, which starts at `start`: what lies before it is between steps `step` and that one. */
static bool
end_period(struct nsx_between *b, struct nsx_between_thread *t, uint32_t step, int64_t start)
{
	for (size_t i = 0; i < t->open.n; i++) {
		const struct nsx_between_range *r = &t->open.p[i];
		uint32_t at;

		if (r->to > start)
			continue;
		at = nsx_map_number(&b->longest_of, (struct nsx_key){ step, (uint64_t)r->device });
		if (!nsx_vec_next(&b->longest, at, ((struct nsx_between_longest){ 0, NSX_NONE })))
			return false;
		if (r->dur > b->longest.p[at].dur)
			b->longest.p[at] = (struct nsx_between_longest){ r->dur, r->name };
	}
	t->open.n = 0;
	return true;
}

int
nsx_between_take(struct nsx_between *b, struct nsx_step_set *s, const struct nsx_rec *rec)
{
	int64_t from, to, dur;
	struct nsx_between_thread *t;
	const struct nsx_step_thread *of;
	uint32_t thread, name;
	bool good = true;

	if (rec->kind->id != NSX_RANGE || s->kind == NSX_STEP_MODULE || !nsx_in_reach(rec))
		return NSX_OK;
	from = nsx_int(rec, NSX_RANGE_host_start, NSX_ABSENT);
	dur = nsx_int(rec, NSX_RANGE_dur, 0);
	to = nsx_add_sat(from, nsx_int(rec, NSX_RANGE_host_dur, 0), NULL);
	thread = nsx_thread_find(&s->thread_of, nsx_int(rec, NSX_RANGE_profile, NSX_ABSENT),
	                         nsx_int(rec, NSX_RANGE_pid, NSX_ABSENT), nsx_int(rec, NSX_RANGE_tid, NSX_ABSENT));
	if (thread == NSX_NONE)
		return NSX_OK;
	if (!nsx_vec_reach(&b->threads, thread, NULL))
		return nsx_err_nomem(s->err, NULL);
	t = &b->threads.p[thread];
	of = &s->threads.p[thread];
	if (t->nsteps < of->steps.n) {
		t->nsteps = of->steps.n;
		good = t->nsteps < 2 || end_period(b, t, of->steps.p[t->nsteps - 2],
		                               s->steps.p[of->steps.p[t->nsteps - 1]].host_start);
		t->open.n = 0;
		return good ? NSX_OK : nsx_err_nomem(s->err, NULL);
	}
	if (from == NSX_ABSENT || dur <= 0 || !t->nsteps || !nsx_has(rec, NSX_RANGE_device)
	    || !nsx_has(rec, NSX_RANGE_start) || s->steps.p[of->steps.p[t->nsteps - 1]].host_end > from)
		return NSX_OK;
	struct nsx_str class = nsx_step_class_name(&s->book, rec, false);

	if (!class.len)
		return NSX_OK;
	name = nsx_intern(&s->names, class);
	good = name != NSX_NONE && nsx_vec_push(&t->open, ((struct nsx_between_range){ to, rec->v[NSX_RANGE_device].i,
		dur, name }));
	return good ? NSX_OK : nsx_err_nomem(s->err, NULL);
}

int
nsx_between_finish(const struct nsx_between *b, struct nsx_step_set *s)
{
	int64_t *spans = malloc((s->list.n + 1) * sizeof *spans);

	if (!spans)
		return nsx_err_nomem(s->err, NULL);
	for (size_t i = 0, n; i < s->list.n; i += n) {
		struct nsx_step_of *o = &s->list.p[i];
		int64_t device = s->cat.devices.p[o->device].number, span;

		for (n = 0; i + n < s->list.n && o[n].class == o->class && o[n].device == o->device; n++)
			spans[n] = o[n].last - o[n].first;
		qsort(spans, n, sizeof *spans, nsx_sort_by_int);
		span = nsx_percentile(spans, n, 50);
		for (size_t k = 0; k < n; k++) {
			uint32_t at = o[k].next == NSX_ABSENT ? (uint32_t)NSX_NONE
				: nsx_map_get(&b->longest_of, (struct nsx_key){ o[k].step, (uint64_t)device });

			if (at != NSX_NONE && b->longest.p[at].dur >= span - span / 2)
				o[k].other = b->longest.p[at].name;
		}
	}
	free(spans);
	return NSX_OK;
}

void
nsx_between_free(struct nsx_between *b)
{
	nsx_map_free(&b->longest_of);
	free(b->longest.p);
	for (size_t i = 0; i < b->threads.n; i++)
		free(b->threads.p[i].open.p);
	free(b->threads.p);
}
