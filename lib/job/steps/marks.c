/* marks.c -- see marks.h. */
#include "job/steps/marks.h"

#include <stdlib.h>

#include "base/num.h"
#include "job/reach.h"
#include "job/steps/periods.h"

void
nsx_step_by(enum nsx_step_kind kind, const char *label, struct nsx_buf *b)
{
	if (!label || kind == NSX_STEP_CLASS)
		return;
	nsx_buf_c(b, kind == NSX_STEP_PATTERN ? "step " : "module ");
	nsx_buf_c(b, label);
}

/* Whether the marked steps are those of the set; false in *good when out of memory. */
static bool
is_wanted(struct nsx_step_set *s, const struct nsx_rec *rec, bool *good)
{
	s->text.len = 0;
	nsx_step_by(s->kind, s->label, &s->text);
	*good = !s->text.failed;
	return !s->text.len || nsx_str_eq(nsx_buf_view(&s->text), nsx_string(rec, NSX_STEP_by));
}

/* Whether a length of the mark is below 0 or beyond reach; its start and duration are in reach. */
static bool
is_odd(const struct nsx_rec *rec)
{
	int64_t period = nsx_int(rec, NSX_STEP_period, 0), removed = nsx_int(rec, NSX_STEP_removed, 0);

	return nsx_int(rec, NSX_STEP_dur, 0) < 0 || nsx_int(rec, NSX_STEP_host_dur, 0) < 0 || period < 0
	       || period > NSX_REACH || removed < 0 || removed > NSX_REACH;
}

bool
nsx_step_mark_take(struct nsx_step_set *s, const struct nsx_rec *rec)
{
	bool good, wanted = is_wanted(s, rec, &good);
	int64_t start = nsx_int(rec, NSX_STEP_start, NSX_ABSENT), period = nsx_int(rec, NSX_STEP_period, NSX_ABSENT),
	    host = nsx_int(rec, NSX_STEP_host_start, NSX_ABSENT);
	uint32_t class, device;

	if (!good || !wanted || start == NSX_ABSENT || !nsx_has(rec, NSX_STEP_device))
		return good;
	if (is_odd(rec)) {
		s->odd++;
		return true;
	}
	class = nsx_intern(&s->names, nsx_string(rec, NSX_STEP_class));
	if (nsx_has(rec, NSX_STEP_by) && !s->by) {
		uint32_t by = nsx_intern(&s->names, nsx_string(rec, NSX_STEP_by));

		if (by == NSX_NONE)
			return false;
		s->by = by + 1;
	}
	device = nsx_cat_device(&s->cat, rec);
	struct nsx_step x = { nsx_int(rec, NSX_STEP_profile, NSX_ABSENT), NSX_ABSENT,
	                      nsx_int(rec, NSX_STEP_range, NSX_ABSENT), host,
	                      nsx_add_sat(host, nsx_int(rec, NSX_STEP_host_dur, 0), NULL), class, NSX_NONE, false, 0,
	                      NSX_ABSENT };
	struct nsx_step_of o = { .class = class, .device = device, .step = (uint32_t)s->marked.n,
	                         .number = nsx_int(rec, NSX_STEP_step, 0), .first = start,
	                         .last = nsx_add_sat(start, nsx_int(rec, NSX_STEP_dur, 0), NULL), .next = NSX_ABSENT,
	                         .period = period, .ops = nsx_int(rec, NSX_STEP_ops, 0),
	                         .helper = nsx_int(rec, NSX_STEP_helper, 0), .tag = NSX_ABSENT,
	                         .met = { NSX_ABSENT, NSX_ABSENT }, .other = NSX_NONE,
	                         .kept = period != NSX_ABSENT && nsx_int(rec, NSX_STEP_kept, 1) == 1 };

	o.sums.removed = nsx_int(rec, NSX_STEP_removed, 0);
	if (nsx_has(rec, NSX_STEP_other)
	    && (o.other = nsx_intern(&s->names, nsx_string(rec, NSX_STEP_other))) == NSX_NONE)
		return false;
	if (period != NSX_ABSENT)
		o.next = nsx_add_sat(start, nsx_add_sat(period, o.sums.removed, NULL), NULL);
	return class != NSX_NONE && device != NSX_NONE && s->marked.n < NSX_NONE - 1 && nsx_vec_push(&s->marked, x)
	       && nsx_vec_push(&s->marks, o);
}

void
nsx_step_marks_use(struct nsx_step_set *s)
{
	free(s->list.p);
	free(s->steps.p);
	s->list.p = s->marks.p;
	s->list.n = s->marks.n;
	s->list.cap = s->marks.cap;
	s->steps.p = s->marked.p;
	s->steps.n = s->marked.n;
	s->steps.cap = s->marked.cap;
	s->marks.p = NULL;
	s->marked.p = NULL;
	s->marks.n = s->marked.n = s->marked.cap = s->marks.cap = 0;
}

void
nsx_step_marks_measure(struct nsx_step_set *s)
{
	for (size_t i = 0; i < s->list.n; i++) {
		struct nsx_step_of *o = &s->list.p[i];
		int64_t period = o->period;

		nsx_step_measure(s, o);
		/* What was removed before the first operation that is left is known to the mark alone. */
		if (period != NSX_ABSENT && o->sums.hidden != NSX_ABSENT)
			o->sums.part[NSX_PART_IDLE] += period - o->period;
		o->period = period;
	}
}

void
nsx_step_mark(const struct nsx_step_set *s, const struct nsx_step_of *o, struct nsx_str by, struct nsx_rec *rec)
{
	const struct nsx_step *x = &s->steps.p[o->step];

	if (x->profile != NSX_ABSENT)
		nsx_set_i(rec, NSX_STEP_profile, x->profile);
	nsx_set_i(rec, NSX_STEP_device, s->cat.devices.p[o->device].number);
	nsx_set_s(rec, NSX_STEP_class, nsx_intern_str(&s->names, o->class));
	nsx_set_i(rec, NSX_STEP_step, o->number);
	nsx_set_i(rec, NSX_STEP_start, o->first);
	nsx_set_i(rec, NSX_STEP_dur, o->last - o->first);
	if (o->period != NSX_ABSENT) {
		nsx_set_i(rec, NSX_STEP_period, o->period);
		nsx_set_i(rec, NSX_STEP_removed, o->next - o->first - o->period);
		nsx_set_i(rec, NSX_STEP_kept, o->kept);
		if (o->other != NSX_NONE)
			nsx_set_s(rec, NSX_STEP_other, nsx_intern_str(&s->names, o->other));
	}
	if (x->host_start != NSX_ABSENT) {
		nsx_set_i(rec, NSX_STEP_host_start, x->host_start);
		nsx_set_i(rec, NSX_STEP_host_dur, x->host_end - x->host_start);
	}
	if (x->range != NSX_ABSENT)
		nsx_set_i(rec, NSX_STEP_range, x->range);
	nsx_set_i(rec, NSX_STEP_ops, o->ops);
	nsx_set_i(rec, NSX_STEP_helper, o->helper);
	if (by.len)
		nsx_set_s(rec, NSX_STEP_by, by);
	if (s->excerpt)
		nsx_set_i(rec, NSX_STEP_cut, 1);
}
