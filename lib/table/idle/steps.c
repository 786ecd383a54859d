/* steps.c -- the steps whose time is examined, or which are windows. The start of one on a device is known only after
 * the last operation launched in it has been read, so the stream is read twice: first for the steps, into a spool,
 * then from the spool for the activities of the time between them. */
#include <stdlib.h>

#include "job/steps/windows.h"
#include "job/steps/find.h"
#include "table/idle/idle.h"

/* A window for each step whose period counts. */
static int
keep_steps(struct idle *f, const struct nsx_step_set *set)
{
	f->classed = set->list.n && (set->groups || set->list.p[0].class != set->list.p[set->list.n - 1].class);
	for (size_t i = 0; i < set->list.n; i++) {
		const struct nsx_step_of *o = &set->list.p[i];
		struct nsx_window_given s = { set->cat.devices.p[o->device].number, o->first, o->next, o->number,
		                              NSX_NONE };

		if (!o->kept)
			continue;
		s.label = nsx_intern(&f->classes, nsx_intern_str(&set->names, o->class));
		if (s.label == NSX_NONE || !nsx_vec_push(&f->steps, s))
			return nsx_err_nomem(f->err, NULL);
	}
	nsx_window_given_sort(f->steps.p, f->steps.n);
	if (set->list.n && !f->steps.n)
		nsx_diag_add(f->diags, NSX_WARNING, "", 1,
			"no device has two steps of a class, so there is no window: the last step of a device has "
			"none");
	return NSX_OK;
}

/* The time examined of each device, one window. */
static int
keep_within(struct idle *f, const struct nsx_step_set *set)
{
	struct nsx_step_windows w = { .class = NSX_NONE };
	bool good = nsx_step_windows(set, &w) == NSX_OK;

	for (size_t i = 0; good && i < w.list.n; i++)
		good = nsx_vec_push(&f->within, ((struct nsx_window_given){ w.list.p[i].number, w.list.p[i].from,
		                                                           w.list.p[i].to, 0, NSX_NONE }));
	free(w.list.p);
	if (good && w.class == NSX_NONE && w.list.n)
		nsx_diag_add(f->diags, NSX_WARNING, "", 1,
		             "no device has two steps, so the whole time of each device is analyzed");
	return good ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

struct nsx_reader *
nsx_idle_find_steps(struct idle *f, struct nsx_reader *in)
{
	struct nsx_steps_wanted wanted = { .step = f->options->step, .module = f->options->module,
	                                   .require = f->options->require };
	struct nsx_spool *spool = nsx_spool_open_all(in, f->err);
	struct nsx_step_set set = { .err = f->err };
	struct nsx_reader *again = NULL;
	int rc = NSX_ERR;

	if (spool && nsx_spool_keeps(spool))
		nsx_idle_need(f, in);
	if (spool)
		rc = nsx_steps_find(in, &wanted, &set, spool, f->diags, f->err);
	if (rc == NSX_OK)
		rc = f->options->steps ? keep_within(f, &set) : keep_steps(f, &set);
	if (rc == NSX_OK)
		again = nsx_spool_reader(spool);
	nsx_spool_free(spool);
	nsx_steps_free(&set);
	return again;
}
