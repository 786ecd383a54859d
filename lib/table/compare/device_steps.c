/* device_steps.c -- one side's devices by steps: what each does from the start of its first step to the start of its
 * last one, a value for each step. What a recording contains before and after its steps does not count, so that
 * recordings of different lengths have equal times:
 *
 *     BASE  start-up 900  step 100  step 100  step 100         two steps to the next start, 200: 100 each
 *     NEW   start-up 900  step 100  step 100  step 100  step 100         three, 300: 100 each
 *
 * The whole runs took 1200 and 1300, divided by their steps 400 and 325. */
#include <stdlib.h>

#include "job/steps/windows.h"
#include "table/compare/join.h"
#include "table/steps/rows.h"

/* Add the steps of a window of a device, which may have several, one after the other. False when out of memory. */
static bool
add_window(struct cmp_side *s, const struct nsx_step_set *set, const struct nsx_step_window *w)
{
	for (size_t i = w->first; i < w->first + (size_t)w->steps; i++) {
		const struct nsx_step_of *o = &set->list.p[i];

		for (int k = 0; k < CMP_STEP_TIMES; k++) {
			int64_t time = k == 0 ? o->period : k == CMP_STEP_HIDDEN ? o->sums.hidden : o->sums.part[k - 1];
			uint32_t *row = nsx_map_at(&s->row_of, nsx_compare_key_of_step(w->number, k));
			struct cmp_row inner = cmp_row_in(0);

			inner.detail = true;
			if (row && *row == NSX_NONE)
				*row = nsx_compare_row_add(s, inner);
			if (!row || !nsx_compare_add(s, *row, w->number, NSX_ABSENT, time))
				return false;
		}
	}
	return true;
}

struct nsx_str
nsx_compare_class_name(const struct nsx_step_set *set, uint32_t class)
{
	struct nsx_str name = nsx_intern_str(&set->names, class);

	for (size_t i = name.len; set->kind == NSX_STEP_MODULE && i-- > 1;)
		if (name.ptr[i] == '@') {
			name.len = i;
			break;
		}
	return name;
}

static int
keep_steps(struct cmp *c, struct cmp_side *s, const struct nsx_step_set *set)
{
	struct nsx_step_windows w = { .class = NSX_NONE };
	bool good = nsx_step_windows(set, &w) == NSX_OK;

	s->ops = set->ops;
	/* Without operations the activities of devices are not known. */
	for (size_t i = 0; good && i < w.list.n && w.class != NSX_NONE && set->ops; i++)
		good = set->list.p[w.list.p[i].first].sums.hidden == NSX_ABSENT || add_window(s, set, &w.list.p[i]);
	if (good && s->rows.n) {
		s->class = nsx_intern(&c->strs, nsx_compare_class_name(set, w.class));
		good = s->class != NSX_NONE;
	}
	free(w.list.p);
	return good ? NSX_OK : nsx_err_nomem(c->err, NULL);
}

struct nsx_reader *
nsx_compare_find_steps(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags)
{
	struct nsx_steps_options options = nsx_compare_wanted_steps(c, s);
	struct nsx_spool *spool = nsx_spool_open_all(s->in, c->err);
	struct nsx_step_set set = { .err = c->err };
	struct nsx_reader *again = NULL;
	struct nsx_diags own = { .failed = false };
	int rc = NSX_ERR;

	for (enum nsx_kind_id k = 0; spool && nsx_spool_keeps(spool) && k < NSX_NKINDS; k++)
		nsx_reader_need(s->in, k, NSX_EVERY);
	if (spool)
		rc = nsx_steps_collect(s->in, &options, &set, spool, &own, c->err);
	if (rc == NSX_OK && !nsx_compare_keep_repeat(c, &set))
		rc = nsx_err_nomem(c->err, NULL);
	if (rc == NSX_OK)
		rc = keep_steps(c, s, &set);
	/* Steps that were not requested are no concern of the user. */
	if (options.step || options.module)
		nsx_compare_pass_diags(s, &own, diags);
	else
		nsx_diags_free(&own);
	/* The first reading has checked that the stream is complete. */
	if (rc == NSX_OK)
		again = nsx_spool_reader_of(spool, NSX_READ_PARTIAL);
	nsx_spool_free(spool);
	nsx_steps_free(&set);
	return again;
}
