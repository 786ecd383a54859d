/* steps.c -- see steps.h. */
#include "filter/steps.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "job/steps/marks.h"
#include "job/steps/windows.h"
#include "stream/fields.h"
#include "stream/order.h"
#include "stream/interleave.h"

struct cut {
	const struct nsx_step_set *set;
	struct nsx_step_windows windows;
	struct nsx_str     by;          /* how steps were named */
	bool               whole;       /* nothing is dropped */
	const struct nsx_step_of **order;   /* the steps that are written, in the order of the stream */
	size_t             n;
	int64_t            dropped;
};

/* Work of a device is kept if it starts in a window, operations also if they run into one, as where steps overlap: that
 * time is not idle. Records of the host and records without a time are kept; without steps everything is kept. */
static bool
is_kept(const struct cut *c, const struct nsx_rec *rec)
{
	enum nsx_kind_id id = rec->kind->id;
	int64_t start, end;

	if (c->whole || c->windows.class == NSX_NONE || nsx_rec_section(rec) != NSX_SECTION_WORK || id == NSX_RANGE ||
	    !nsx_field_has(rec, NSX_ROLE_START) || !nsx_field_has(rec, NSX_ROLE_DEVICE))
		return true;
	start = end = nsx_field_int(rec, NSX_ROLE_START, 0);
	if (id == NSX_OP)
		end = nsx_add_sat(start, nsx_int(rec, NSX_OP_dur, 0), NULL);
	return nsx_step_window_over(&c->windows, nsx_field_int(rec, NSX_ROLE_DEVICE, NSX_ABSENT), start, end) != NULL;
}

/* ---- records of steps ---- */

static int
by_order(const void *a, const void *b, const void *set)
{
	union nsx_val v[2][NSX_MAX_COLS];
	struct nsx_rec x = { nsx_kind_builtin(NSX_STEP), 0, v[0] }, y = { nsx_kind_builtin(NSX_STEP), 0, v[1] };
	const struct nsx_step_of *p = *(const struct nsx_step_of *const *)a, *q = *(const struct nsx_step_of *const *)b;
	int c;

	nsx_step_mark(set, p, NSX_STR(""), &x);
	nsx_step_mark(set, q, NSX_STR(""), &y);
	c = nsx_order_cmp(&x, &y);
	return c ? c : (p > q) - (p < q);
}

/* The steps to be written: all of them, or those of the windows. */
static bool
list_steps(struct cut *c)
{
	c->order = malloc((c->set->list.n + 1) * sizeof *c->order);
	if (!c->order)
		return false;
	for (size_t i = 0; i < c->set->list.n; i++) {
		const struct nsx_step_of *o = &c->set->list.p[i];

		if (c->whole || (o->kept && o->class == c->windows.class))
			c->order[c->n++] = o;
	}
	nsx_sort_with(c->order, c->n, sizeof *c->order, by_order, c->set);
	return true;
}

static void
fill(void *state, size_t i, struct nsx_rec *rec)
{
	const struct cut *c = state;

	nsx_step_mark(c->set, c->order[i], c->by, rec);
}

static bool
keep(void *state, const struct nsx_rec *rec)
{
	struct cut *c = state;
	bool kept = is_kept(c, rec);

	c->dropped += !kept;
	return kept;
}

/* ---- the stream ---- */

/* How steps were named. */
static bool
put_by(const struct nsx_steps_wanted *wanted, const struct nsx_step_set *set, struct nsx_buf *b)
{
	nsx_step_by(wanted->step ? NSX_STEP_PATTERN : NSX_STEP_MODULE, wanted->step ? wanted->step : wanted->module,
	            b);
	/* Marks that were used say it themselves. */
	if (!b->len && set->by)
		nsx_buf_str(b, nsx_intern_str(&set->names, set->by - 1));
	return !b->failed;
}

int
nsx_steps_write(struct nsx_reader *in, const struct nsx_steps_wanted *wanted, bool cut, struct nsx_writer *out,
                struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_step_set set = { .err = err };
	struct cut c = { .set = &set, .whole = !cut, .windows = { .class = NSX_NONE } };
	struct nsx_spool *spool = nsx_spool_open_all(in, err);
	struct nsx_reader *again = NULL;
	struct nsx_buf by = { 0 };
	int rc = NSX_ERR;

	for (enum nsx_kind_id k = 0; spool && nsx_spool_keeps(spool) && k <= NSX_NKINDS; k++)
		nsx_reader_need(in, k, NSX_EVERY);
	if (spool)
		rc = nsx_steps_find(in, wanted, &set, spool, diags, err);
	/* What was cut away is between the periods of the steps that have marks, not of these. */
	if (rc == NSX_OK && set.elsewhere)
		rc = nsx_err_set(err, "cut by other steps: marks of these would not tell what nsysx-steps --cut left "
		                 "out of the stream: mark or cut it before");
	if (rc == NSX_OK)
		rc = nsx_step_windows(&set, &c.windows);
	if (rc == NSX_OK && (!list_steps(&c) || !put_by(wanted, &set, &by)))
		rc = nsx_err_nomem(err, NULL);
	c.by = nsx_buf_view(&by);
	set.excerpt |= cut && c.windows.class != NSX_NONE;
	struct nsx_interleave steps = { NSX_STEP, c.n, fill, keep, &c };
	if (rc == NSX_OK)
		rc = (again = nsx_spool_reader(spool)) ? nsx_interleave(again, out, &steps, err) : NSX_ERR;
	rc = rc == NSX_EOF ? NSX_OK : NSX_ERR;
	if (rc == NSX_OK && cut && c.windows.class == NSX_NONE)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no device has two steps, so nothing is dropped");
	nsx_diag_add(diags, NSX_INFO, "", c.dropped, "records outside the steps dropped");
	nsx_reader_close(again);
	nsx_spool_free(spool);
	nsx_steps_free(&set);
	nsx_buf_free(&by);
	free(c.order);
	free(c.windows.list.p);
	return rc;
}
