/* steps.c -- see table/steps.h. */
#include "table/steps.h"

#include "job/steps/warn.h"
#include "table/steps/explain.h"
#include "table/steps/rows.h"

static int
make_table(const struct nsx_step_set *s, const struct nsx_steps_options *options, struct nsx_spool *again,
           struct nsx_table **table, struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_reader *in;
	int rc;

	if (!options->explain) {
		*table = options->by == NSX_STEPS_BY_CLASS ? nsx_steps_table(s, options->each)
		                                           : nsx_steps_phases(s, options);
		return *table ? NSX_OK : nsx_err_nomem(err, NULL);
	}
	in = nsx_spool_reader(again);
	rc = in ? nsx_steps_explain(in, s, options->explain, table, diags, err) : NSX_ERR;
	nsx_reader_close(in);
	return rc;
}

int
nsx_steps(struct nsx_reader *in, const void *wanted, struct nsx_table **table, struct nsx_diags *diags,
          struct nsx_err *err)
{
	const struct nsx_steps_options *options = wanted;
	struct nsx_step_set s = { .err = err };
	struct nsx_spool *again = options->explain ? nsx_spool_open_all(in, err) : NULL;
	int rc;

	if (again && nsx_spool_keeps(again))
		nsx_steps_again_need(in);
	rc = options->explain && !again ? NSX_ERR : nsx_steps_collect(in, options, &s, again, diags, err);

	*table = NULL;
	if (rc == NSX_OK) {
		nsx_steps_report_between(&s, options->explain, diags);
		/* With --explain the idle time of the same operations is examined, which reports them. */
		if (!options->explain)
			nsx_overruns_report(&s.overruns, diags, NSX_OVERRUNS_COUNT);
		rc = make_table(&s, options, again, table, diags, err);
	}
	nsx_spool_free(again);
	nsx_steps_free(&s);
	return rc;
}
