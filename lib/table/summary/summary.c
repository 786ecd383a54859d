/* summary.c -- tables of where GPU time goes: the table of ways to sum up, and reading the stream for them. */
#include "table/summary/summary.h"

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
};

int
nsx_summary_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (strcmp(name, ways[i].name) == 0)
			return (int)i;
	return -1;
}

int
nsx_sum_ns(struct nsx_table *t, int col, nsx_u128 ns, struct nsx_err *err)
{
	if (ns > INT64_MAX)
		return nsx_err_set(err, "the sum of times is more than 64 bits hold");
	nsx_table_int(t, col, (int64_t)ns);
	return NSX_OK;
}

double
nsx_sum_percent(nsx_u128 part, nsx_u128 whole)
{
	return 100 * (double)part / (double)whole;
}

struct counted { const struct nsx_summer *summer; void *state; int64_t diags; };

static int
take(void *state, const struct nsx_rec *rec)
{
	struct counted *c = state;

	c->diags += rec->kind->id == NSX_DIAG;
	return c->summer->take(c->state, rec);
}

int
nsx_summary(struct nsx_reader *in, const struct nsx_summary_options *options, struct nsx_summary *s,
            struct nsx_diags *diags, struct nsx_err *err)
{
	const struct nsx_summer *summer = ways[options->by].summer;
	struct counted c = { summer, summer->open(options, err), 0 };
	int rc = NSX_ERR;

	*s = (struct nsx_summary){ 0 };
	if (c.state) {
		summer->need(c.state, in);
		nsx_reader_need(in, NSX_DIAG, 0);
		rc = nsx_read_all(in, options->require, take, &c, err);
	}
	s->diags = c.diags;
	if (rc == NSX_OK)
		rc = summer->finish(c.state, &s->table, diags);
	if (rc != NSX_OK) {
		nsx_table_free(s->table);
		s->table = NULL;
	}
	summer->free(c.state);
	return rc;
}
