/* measure.c -- GPU time of a program or an NVTX range, execution by execution. */
#include "table/measure.h"

#include "table/measure/measure.h"

static void
report(const struct nsx_spans *s, struct nsx_diags *diags)
{
	const struct nsx_measure_options *o = s->options;
	const char *what = o->module ? "module" : "range", *name = o->module ? o->module : o->range;
	struct nsx_str near = nsx_near_best(&s->near);

	diags->failed |= !s->matching && s->near.failed;
	if (!s->met)
		nsx_diag_add(diags, NSX_WARNING, "", 1, o->module ? "no op records: extract with --ops"
		             : "no op records: extract with --ranges --ops");
	else if (!s->candidates)
		nsx_diag_add(diags, NSX_WARNING, "", 1, o->module
		             ? "no program records: the profile has none of XLA; --range measures NVTX ranges"
		                                                  : "no range records: extract with --ranges --ops");
	else if (!s->matching && near.len)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no %s of the name %s; did you mean %.*s?", what, name,
		             (int)near.len, near.ptr);
	else if (!s->matching)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no %s of the name %s: nsysx-summary --by %s lists those with GPU work", what, name, what);
	else if (!s->whole)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no GPU work in %s %s", what, name);
	if (s->matching)
		nsx_diag_add(diags, NSX_WARNING, "", s->no_range, "operations whose range has no record: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", s->cut,
	             "executions that are not whole, because the recording or --time cuts them: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", s->helper,
	             "operations that helper threads launched during these ranges are not counted; nsysx-steps --step "
	             "counts them");
	nsx_diag_add(diags, NSX_WARNING, "", s->timeless, "operations without a duration: ignored");
}

int
nsx_measure(struct nsx_reader *in, const void *options, struct nsx_table **table, int64_t *ndiags,
            struct nsx_diags *diags, struct nsx_err *err)
{
	const struct nsx_measure_options *o = options;
	struct nsx_spans s = { .options = o, .err = err,
	                       .near = { .want = nsx_str_c(o->module ? o->module : o->range) } };
	int rc = nsx_spans_read(&s, in);

	*ndiags = s.diags;
	*table = rc == NSX_OK ? nsx_spans_table(&s) : NULL;
	rc = *table ? NSX_OK : NSX_ERR;
	if (rc == NSX_OK)
		report(&s, diags);
	nsx_spans_free(&s);
	return rc;
}
