/* between.c -- steps of another class between those that are analysed. If classes alternate irregularly, periods differ
 * by the other steps in them, which is no property of the steps themselves:
 *
 *   train 0   train 1   eval 2   train 3   train 4
 *   |---1---->|--------2-------->|---1---->          the period of train 1 has eval 2 in it
 *
 * A range is such a step if it lies between two steps of its thread, and its work on a device takes at least half as
 * long as the median step there. Only the longest of each period is held. */
#include <stdlib.h>

#include "base/width.h"
#include "table/diagnose/diagnose.h"

/* Columns of a class in a sentence. */
enum { NAME = 80 };

/* The step of the range's thread before it, if the whole range is before the next step; NSX_NONE: none. */
static uint32_t
step_before(const struct nsx_step_set *s, const struct nsx_step_thread *t, int64_t from, int64_t to)
{
	size_t lo = 0, hi = t->steps.n;

	/* The first step that starts after `from`. */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->steps.p[t->steps.p[mid]].host_start <= from)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0 || lo == t->steps.n || s->steps.p[t->steps.p[lo]].host_start < to)
		return NSX_NONE;
	return s->steps.p[t->steps.p[lo - 1]].host_end <= from ? t->steps.p[lo - 1] : NSX_NONE;
}

int
nsx_look_between_take(struct nsx_look_at *a, const struct nsx_rec *rec)
{
	struct nsx_step_set *s = &a->steps;
	int64_t from = nsx_int(rec, NSX_RANGE_host_start, NSX_ABSENT), dur = nsx_int(rec, NSX_RANGE_dur, 0);
	int64_t to = nsx_add_sat(from, nsx_int(rec, NSX_RANGE_host_dur, 0), NULL);
	uint32_t thread, step, *at;

	if (!a->stepped || s->kind == NSX_STEP_MODULE || from == NSX_ABSENT || dur <= 0
	    || !nsx_has(rec, NSX_RANGE_device) || !nsx_has(rec, NSX_RANGE_start))
		return NSX_OK;
	thread = nsx_thread_number(&s->thread_of, nsx_int(rec, NSX_RANGE_profile, NSX_ABSENT),
	                           nsx_int(rec, NSX_RANGE_pid, NSX_ABSENT), nsx_int(rec, NSX_RANGE_tid, NSX_ABSENT));
	if (thread == NSX_NONE)
		return nsx_err_nomem(a->err, NULL);
	step = thread < s->threads.n ? step_before(s, &s->threads.p[thread], from, to) : (uint32_t)NSX_NONE;
	if (step == NSX_NONE)
		return NSX_OK;
	struct nsx_str name = nsx_step_class_name(&s->book, rec);

	if (!name.len)
		return NSX_OK;
	at = nsx_map_at(&a->between_of, (struct nsx_key){ step, (uint64_t)rec->v[NSX_RANGE_device].i });
	if (at && *at == NSX_NONE && nsx_vec_push(&a->between, ((struct nsx_look_between){ 0, NSX_NONE })))
		*at = (uint32_t)(a->between.n - 1);
	if (!at || *at == NSX_NONE)
		return nsx_err_nomem(a->err, NULL);
	if (dur > a->between.p[*at].dur) {
		a->between.p[*at].dur = dur;
		a->between.p[*at].name = nsx_look_text(a, name);
	}
	return a->between.p[*at].name == NSX_NONE ? NSX_ERR : NSX_OK;
}

static int
by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The other step in the period of o, of at least half of `span`; NULL: none. */
static const struct nsx_look_between *
between_of(const struct nsx_look_at *a, const struct nsx_step_of *o, int64_t span)
{
	int64_t device = a->steps.cat.devices.p[o->device].number;
	uint32_t at = nsx_map_get(&a->between_of, (struct nsx_key){ o->step, (uint64_t)device });

	return at != NSX_NONE && a->between.p[at].dur >= span - span / 2 ? &a->between.p[at] : NULL;
}

/* Fill *alone, which is empty, with the periods without such a step, sorted; its p must be freed in any case. *name:
 * the class of the first one found, NSX_NONE without any, and then *alone may be empty. */
static int
periods_alone(const struct nsx_look_at *a, struct nsx_look_periods *alone, uint32_t *name)
{
	struct nsx_look_periods spans = { 0 };
	bool good = true;
	int64_t span = 0;

	*name = NSX_NONE;
	if (!a->between.n)
		return NSX_OK;
	for (size_t i = 0; good && i < a->steps.list.n; i++)
		if (a->steps.list.p[i].class == a->class)
			good = nsx_vec_push(&spans, a->steps.list.p[i].last - a->steps.list.p[i].first);
	if (good && spans.n) {
		qsort(spans.p, spans.n, sizeof *spans.p, by_value);
		span = nsx_percentile(spans.p, spans.n, 50);
	}
	free(spans.p);
	for (size_t i = 0; good && i < a->steps.list.n; i++) {
		const struct nsx_step_of *o = &a->steps.list.p[i];
		const struct nsx_look_between *b;

		if (o->class != a->class || o->period == NSX_ABSENT)
			continue;
		b = between_of(a, o, span);
		if (!b)
			good = nsx_vec_push(alone, o->period);
		else if (*name == NSX_NONE)
			*name = b->name;
	}
	if (good && alone->n)
		qsort(alone->p, alone->n, sizeof *alone->p, by_value);
	return good ? NSX_OK : nsx_err_nomem(a->err, NULL);
}

int
nsx_look_between(struct nsx_look_at *a, double variable, bool *explained)
{
	struct nsx_look_periods alone = { 0 };
	uint32_t name;
	int rc = periods_alone(a, &alone, &name);

	*explained = rc == NSX_OK && name != NSX_NONE && alone.n
	             && (double)nsx_percentile(alone.p, alone.n, 99)
	                < variable * (double)nsx_percentile(alone.p, alone.n, 50);
	free(alone.p);
	if (rc == NSX_OK)
		a->other = name;
	if (!*explained)
		return rc;
	nsx_buf_c(&a->others, "steps of ");
	nsx_buf_shortened(&a->others, nsx_look_str(a, name), NAME);
	nsx_buf_c(&a->others, " lie between: name steps with --step");
	nsx_buf_char(&a->others, '\0');
	a->unseen[NSX_LOOK_VARIABILITY] = a->others.ptr;
	return a->others.failed ? nsx_err_nomem(a->err, NULL) : NSX_OK;
}
