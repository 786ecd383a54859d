/* steps.c -- the windows of steps that are ranges. The start of one on a device is known only after the last operation
 * launched in it has been read, so the stream is read twice: first for the steps, into a spool, then from the spool for
 * the activities of the time between them. */
#include <regex.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/pattern.h"
#include "job/step_windows.h"
#include "stream/spool.h"
#include "table/idle/idle.h"
#include "job/missing.h"
#include "table/steps/rows.h"

struct first { struct nsx_step_set *set; struct nsx_spool *spool; };

static int
take(void *state, const struct nsx_rec *rec)
{
	struct first *f = state;

	if (nsx_steps_take(f->set, rec) != NSX_OK)
		return NSX_ERR;
	return rec->kind->id == NSX_DIAG ? NSX_OK : nsx_spool_write(f->spool, rec);
}

static int
by_start(const void *a, const void *b)
{
	const struct idle_step *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* All steps except the last of a class on a device have a window. */
static int
keep(struct idle *f, const struct nsx_step_set *set)
{
	for (size_t i = 0; i < set->list.n; i++) {
		const struct nsx_step_of *o = &set->list.p[i];
		struct idle_step s = { set->cat.devices.p[o->device].number, o->first, nsx_add_sat(o->first, o->period,
			NULL), o->number, NSX_NONE };

		if (o->period == NSX_ABSENT)
			continue;
		s.class = nsx_intern(&f->classes, nsx_intern_str(&set->names, o->class));
		if (s.class == NSX_NONE || !nsx_vec_push(&f->steps, s))
			return nsx_err_nomem(f->err, NULL);
	}
	if (f->steps.n)
		qsort(f->steps.p, f->steps.n, sizeof *f->steps.p, by_start);
	return NSX_OK;
}

struct nsx_reader *
nsx_idle_find_steps(struct idle *f, struct nsx_reader *in, int64_t *ndiags)
{
	struct nsx_step_set set = { .kind = NSX_STEP_PATTERN, .label = f->options->step, .err = f->err };
	struct first first = { &set, NULL };
	struct nsx_reader *again = NULL;
	regex_t pattern;
	int rc;

	if (nsx_pattern_compile(f->options->step, 0, &pattern, f->err) != NSX_OK)
		return NULL;
	set.pattern = &pattern;
	set.groups = pattern.re_nsub;
	f->classed = set.groups > 0;
	first.spool = nsx_spool_open_all(in, f->err);
	rc = first.spool ? NSX_OK : NSX_ERR;
	if (rc == NSX_OK) {
		nsx_steps_need(&set, in);
		if (nsx_spool_keeps(first.spool))
			nsx_idle_need(f, in);
		nsx_spool_follow(first.spool, in);
		rc = nsx_read_all(in, f->options->require, take, &first, f->err);
	}
	if (rc == NSX_OK)
		rc = nsx_steps_finish(&set);
	if (rc == NSX_OK)
		rc = keep(f, &set);
	if (rc == NSX_OK) {
		nsx_steps_report_ranges(&set, f->diags);
		if (!set.list.n && !set.matched)
			rc = nsx_missing_range(&set.near, f->options->step, !nsx_reader_records(in), f->diags,
			                       f->err);
		else if (!f->steps.n)
			nsx_diag_add(f->diags, NSX_WARNING, "", 1,
				"no device has two steps of a class, so there is no window: the last step of a device "
				"has none");
		*ndiags = set.ndiags;
		again = rc == NSX_OK ? nsx_spool_reader(first.spool) : NULL;
	}
	nsx_spool_free(first.spool);
	nsx_steps_free(&set);
	regfree(&pattern);
	return again;
}

/* ---- all steps of a device as one window */

static int
keep_within(struct idle *f, const struct nsx_step_set *set)
{
	struct nsx_step_windows w = { .class = NSX_NONE };
	bool good = nsx_step_windows(set, &w) == NSX_OK;

	for (size_t i = 0; good && i < w.list.n; i++)
		good = nsx_vec_push(&f->within, ((struct nsx_idle_given){ w.list.p[i].number, w.list.p[i].from,
		                                                         w.list.p[i].to }));
	free(w.list.p);
	if (good && w.class == NSX_NONE && w.list.n)
		nsx_diag_add(f->diags, NSX_WARNING, "", 1,
		             "no device has two steps, so the whole time of each device is analyzed");
	return good ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

struct nsx_reader *
nsx_idle_find_within(struct idle *f, struct nsx_reader *in, int64_t *ndiags)
{
	struct nsx_steps_options options = { .step = f->options->step, .module = f->options->module,
	                                     .require = f->options->require };
	struct nsx_spool *spool = nsx_spool_open_all(in, f->err);
	struct nsx_step_set set = { .err = f->err };
	struct nsx_reader *again = NULL;
	int rc = NSX_ERR;

	if (spool && nsx_spool_keeps(spool))
		nsx_idle_need(f, in);
	if (spool)
		rc = nsx_steps_collect(in, &options, &set, NULL, spool, f->diags, f->err);
	if (rc == NSX_OK)
		rc = keep_within(f, &set);
	*ndiags = set.ndiags;
	if (rc == NSX_OK)
		again = nsx_spool_reader(spool);
	nsx_spool_free(spool);
	nsx_steps_free(&set);
	return again;
}
