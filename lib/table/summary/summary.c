/* summary.c -- tables of where GPU time goes: the table of ways to sum up, and reading the stream for them. */
#include "table/summary/summary.h"

#include "table/overlap.h"

#include <stdlib.h>
#include <string.h>

/* In the order of enum nsx_summary_by. */
static const struct { const char *name; const struct nsx_analysis *analysis; } ways[] = {
	{ "module",     &nsx_sum_programs },
	{ "thunk",      &nsx_sum_insts },
	{ "opcode",     &nsx_sum_insts },
	{ "collective", &nsx_sum_insts },
	{ "device",     &nsx_sum_devices },
	{ "total",      &nsx_sum_insts },
	{ "range",      &nsx_sum_ops },
	{ "kernel",     &nsx_sum_ops },
	{ "source",     &nsx_sum_insts },
	{ "phase",      &nsx_sum_scopes },
	{ "scope",      &nsx_sum_scopes },
	{ "family",     &nsx_sum_families },
	{ "overlap",    &nsx_overlap_analysis },
};

int
nsx_summary_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (strcmp(name, ways[i].name) == 0)
			return (int)i;
	return -1;
}

void
nsx_sum_thunk_view(const int64_t *came, bool modules, struct nsx_diags *diags)
{
	if (modules && !came[NSX_MODULE])
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no module records: every program counts; idle time and shares are not known");
	nsx_diag_add(diags, NSX_INFO, "", 1, "%s: times are those of thunks, which hold the gaps between their "
	             "kernels%s", came[NSX_OP] ? "no operation counts" : "no op records",
	             came[NSX_OP] ? "" : "; nsysx-extract --ops has the operations");
}

double
nsx_sum_share(nsx_u128 part, nsx_u128 whole)
{
	return (double)part / (double)whole;
}

/* Ranges that launched no GPU work are only counted, unless ranges of compilation have to be known, or what other
 * threads launched while one was open. */
static void
leave_ranges(struct nsx_reader *in, const struct nsx_summary_options *options, size_t n)
{
	bool ranges = false;

	for (size_t i = 0; i < n; i++) {
		if (options[i].no_compile || options[i].helpers || options[i].by == NSX_SUMMARY_PHASE
		    || options[i].by == NSX_SUMMARY_SCOPE)
			return;
		ranges |= options[i].by == NSX_SUMMARY_RANGE;
	}
	if (ranges)
		nsx_reader_need_value(in, NSX_RANGE, NSX_RANGE_start);
}

/* The run before number i whose state holds what that one sums, too; NULL: there is none. Opcodes are summed from
 * instructions. */
static const struct nsx_analysis_run *
same_state(const struct nsx_summary_options *options, const struct nsx_analysis_run *runs, size_t i)
{
	bool insts = options[i].by == NSX_SUMMARY_THUNK || options[i].by == NSX_SUMMARY_OPCODE;

	for (size_t k = 0; k < i; k++)
		if (!runs[k].of && options[k].cover.num == options[i].cover.num
		    && options[k].cover.den == options[i].cover.den
		    && ((insts && options[k].by == NSX_SUMMARY_THUNK)
		        || (options[i].by == NSX_SUMMARY_DEVICE && options[k].by == NSX_SUMMARY_DEVICE)))
			return &runs[k];
	return NULL;
}

int
nsx_summaries(struct nsx_reader *in, const void *of, struct nsx_table **tables, struct nsx_diags *diags,
              struct nsx_err *err)
{
	const struct nsx_summaries_of *w = of;
	struct nsx_analysis_run *runs = calloc(w->n, sizeof *runs);
	int rc;

	for (size_t i = 0; runs && i < w->n; i++)
		runs[i] = (struct nsx_analysis_run){ .is = ways[w->options[i].by].analysis, .options = &w->options[i],
		                                     .of = same_state(w->options, runs, i),
		                                     .again = w->options[i].by == NSX_SUMMARY_DEVICE
		                                              ? NULL : nsx_sum_insts_again };
	leave_ranges(in, w->options, w->n);
	rc = runs ? nsx_analyse_tables(runs, w->n, in, w->options->require, tables, diags, err)
	          : nsx_err_nomem(err, NULL);
	free(runs);
	return rc;
}
