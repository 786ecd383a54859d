/* summary.c -- tables of where GPU time goes: the table of ways to sum up, and reading the stream for them. */
#include "table/summary/summary.h"

#include <stdlib.h>
#include <string.h>

/* In the order of enum nsx_summary_by. */
static const struct { const char *name; const struct nsx_summer *summer; } ways[] = {
	{ "module",     &nsx_sum_programs },
	{ "thunk",      &nsx_sum_insts },
	{ "opcode",     &nsx_sum_insts },
	{ "collective", &nsx_sum_insts },
	{ "device",     &nsx_sum_devices },
	{ "total",      &nsx_sum_insts },
	{ "range",      &nsx_sum_ops },
	{ "kernel",     &nsx_sum_ops },
	{ "source",     &nsx_sum_insts },
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
nsx_sum_thunk_view(const struct nsx_top *top, struct nsx_diags *diags)
{
	if (!top->any_module)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no module records: every program counts; idle time and shares are not known");
	nsx_diag_add(diags, NSX_INFO, "", 1,
		"no op records: times are those of thunks, which hold the gaps between their kernels; nsysx-extract "
		"--ops has the operations");
}

double
nsx_sum_share(nsx_u128 part, nsx_u128 whole)
{
	return (double)part / (double)whole;
}

/* One of the results that are computed together. */
struct summing { const struct nsx_summer *summer; void *state; struct nsx_diags diags; };
struct all { struct summing *p; size_t n; int64_t diags; };

static int
take(void *state, const struct nsx_rec *rec)
{
	struct all *all = state;
	int rc = NSX_OK;

	all->diags += rec->kind->id == NSX_DIAG;
	for (size_t i = 0; i < all->n && rc == NSX_OK; i++)
		rc = all->p[i].summer->take(all->p[i].state, rec);
	return rc;
}

/* Ranges that launched no GPU work are only counted, unless ranges of compilation have to be known, or what other
 * threads launched while one was open. */
static void
leave_ranges(struct nsx_reader *in, const struct nsx_summary_options *options, size_t n)
{
	bool ranges = false;

	for (size_t i = 0; i < n; i++) {
		if (options[i].no_compile || options[i].helpers)
			return;
		ranges |= options[i].by == NSX_SUMMARY_RANGE;
	}
	if (ranges)
		nsx_reader_need_value(in, NSX_RANGE, NSX_RANGE_start);
}

static int
read_for(struct nsx_reader *in, const struct nsx_summary_options *options, struct all *all, struct nsx_err *err)
{
	for (size_t i = 0; i < all->n; i++) {
		all->p[i].summer = ways[options[i].by].summer;
		all->p[i].state = all->p[i].summer->open(&options[i], err);
		if (!all->p[i].state)
			return NSX_ERR;
		all->p[i].summer->need(all->p[i].state, in);
	}
	leave_ranges(in, options, all->n);
	nsx_reader_need(in, NSX_DIAG, 0);
	return nsx_read_all(in, options->require, take, all, err);
}

int
nsx_summaries(struct nsx_reader *in, const struct nsx_summary_options *options, size_t n, struct nsx_summary *s,
              struct nsx_diags *diags, struct nsx_err *err)
{
	struct all all = { calloc(n, sizeof *all.p), n, 0 };
	int rc = all.p ? read_for(in, options, &all, err) : nsx_err_nomem(err, NULL);

	for (size_t i = 0; i < n; i++)
		s[i] = (struct nsx_summary){ NULL, all.diags };
	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		rc = all.p[i].summer->finish(all.p[i].state, &s[i].table, &all.p[i].diags);
		nsx_diags_cover(diags, &all.p[i].diags);
	}
	for (size_t i = 0; i < n && all.p; i++) {
		if (all.p[i].summer)
			all.p[i].summer->free(all.p[i].state);
		nsx_diags_free(&all.p[i].diags);
		if (rc != NSX_OK) {
			nsx_table_free(s[i].table);
			s[i].table = NULL;
		}
	}
	free(all.p);
	return rc;
}

int
nsx_summary(struct nsx_reader *in, const struct nsx_summary_options *options, struct nsx_summary *s,
            struct nsx_diags *diags, struct nsx_err *err)
{
	return nsx_summaries(in, options, 1, s, diags, err);
}
