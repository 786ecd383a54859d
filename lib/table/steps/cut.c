/* cut.c -- the stream of the steps alone: for each device the records that begin in its window (job/step_windows.h). */
#include <stdlib.h>

#include "base/sort.h"
#include "job/step_windows.h"
#include "stream/fields.h"
#include "stream/order.h"
#include "stream/pass.h"
#include "table/steps/rows.h"

struct cut {
	struct nsx_step_windows windows;
	struct nsx_pass *through;
	int64_t          dropped;
};

static const struct nsx_step_window *
window_of(const struct cut *c, int64_t device)
{
	size_t lo = nsx_sort_first(c->windows.list.p, c->windows.list.n, sizeof *c->windows.list.p,
	                           offsetof(struct nsx_step_window, number), device);

	return lo < c->windows.list.n && c->windows.list.p[lo].number == device ? &c->windows.list.p[lo] : NULL;
}

/* Work of a device is kept if it starts in the window; records of the host and records without a time are kept; without
 * steps everything is kept. */
static bool
is_kept(const struct cut *c, const struct nsx_rec *rec)
{
	enum nsx_kind_id id = rec->kind->id;
	const struct nsx_step_window *w;
	int64_t start;

	if (c->windows.class == NSX_NONE || nsx_rec_section(rec) != NSX_SECTION_WORK || id == NSX_RANGE ||
	    !nsx_field_has(rec, NSX_ROLE_START) || !nsx_field_has(rec, NSX_ROLE_DEVICE))
		return true;
	start = nsx_field_int(rec, NSX_ROLE_START, 0);
	w = window_of(c, nsx_field_int(rec, NSX_ROLE_DEVICE, NSX_ABSENT));
	return w && start >= w->from && start < w->to;
}

static int
write_kept(struct cut *c, struct nsx_reader *in, struct nsx_writer *out, struct nsx_err *err)
{
	struct nsx_rec rec;
	/* Our diags may follow a header that lacks some of their columns. */
	int rc = nsx_reader_add_columns(in, NSX_DIAG);

	nsx_writer_follow(out, in);
	c->through = rc == NSX_OK ? nsx_pass_new(in, out, err) : NULL;
	rc = c->through ? NSX_OK : NSX_ERR;
	while (rc == NSX_OK && (rc = nsx_pass_read(c->through, &rec)) == NSX_OK)
		if (is_kept(c, &rec))
			rc = nsx_pass_on(c->through, &rec);
		else
			c->dropped++;
	nsx_pass_free(c->through);
	nsx_writer_follow(out, NULL);
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

int
nsx_steps_cut(struct nsx_reader *in, const struct nsx_steps_options *options, struct nsx_writer *out,
              struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_step_set set = { .err = err };
	struct cut c = { .windows = { .class = NSX_NONE } };
	struct nsx_spool *spool = nsx_spool_open_all(in, err);
	struct nsx_reader *again = NULL;
	int rc = NSX_ERR;

	for (enum nsx_kind_id k = 0; spool && nsx_spool_keeps(spool) && k <= NSX_NKINDS; k++)
		nsx_reader_need(in, k, NSX_EVERY);
	if (spool)
		rc = nsx_steps_collect(in, options, &set, NULL, spool, diags, err);
	if (rc == NSX_OK)
		rc = nsx_step_windows(&set, &c.windows);
	if (rc == NSX_OK)
		rc = (again = nsx_spool_reader(spool)) ? write_kept(&c, again, out, err) : NSX_ERR;
	if (rc == NSX_OK && c.windows.class == NSX_NONE)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no device has two steps, so nothing is dropped");
	nsx_diag_add(diags, NSX_INFO, "", c.dropped, "records outside the steps dropped");
	nsx_reader_close(again);
	nsx_spool_free(spool);
	nsx_steps_free(&set);
	free(c.windows.list.p);
	return rc;
}
