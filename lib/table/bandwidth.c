/* bandwidth.c -- a table of the bandwidth of collectives and of the time that devices waited in them. */
#include "table/bandwidth.h"

#include "table/bandwidth_rows.h"

enum { COLLECTIVE, BYTES, GROUP, INSTANCES, BUSBW_MEAN, BUSBW_STDERR, ALGBW_MEAN, WAIT_MEAN, WAIT_MAX, HIDDEN_SHARE,
       NCOLS };

static const struct nsx_table_col cols[NCOLS] = {
	[COLLECTIVE]   = { "collective", NSX_CELL_STRING },
	[BYTES]        = { "bytes", NSX_CELL_BYTES },
	[GROUP]        = { "group", NSX_CELL_INT },
	[INSTANCES]    = { "instances", NSX_CELL_INT },
	[BUSBW_MEAN]   = { "busbw_mean", NSX_CELL_GBPS },
	[BUSBW_STDERR] = { "busbw_stderr", NSX_CELL_GBPS },
	[ALGBW_MEAN]   = { "algbw_mean", NSX_CELL_GBPS },
	[WAIT_MEAN]    = { "wait_mean", NSX_CELL_MEAN_NS },
	[WAIT_MAX]     = { "wait_max", NSX_CELL_NS },
	[HIDDEN_SHARE] = { "hidden_share", NSX_CELL_SHARE },
};

static void
put_row(struct nsx_table *t, struct nsx_bandwidth_row *r)
{
	struct nsx_bandwidth_mean m = nsx_bandwidth_mean_of(r);

	nsx_table_row(t);
	nsx_table_str(t, COLLECTIVE, r->name);
	if (r->has_bytes)
		nsx_table_int(t, BYTES, r->bytes);
	if (r->has_group)
		nsx_table_int(t, GROUP, r->group);
	nsx_table_int(t, INSTANCES, r->instances);
	if (m.known) {
		nsx_table_double(t, BUSBW_MEAN, m.busbw);
		nsx_table_double(t, ALGBW_MEAN, m.algbw);
	}
	if (m.has_stderr)
		nsx_table_double(t, BUSBW_STDERR, m.stderr_busbw);
	if (r->waits) {
		nsx_table_double(t, WAIT_MEAN, (double)r->wait / (double)r->waits);
		nsx_table_int(t, WAIT_MAX, r->wait_max);
	}
	if (!r->no_hidden && r->dur > 0)
		nsx_table_double(t, HIDDEN_SHARE, (double)r->hidden / (double)r->dur);
}

/* Notes on why cells are absent. */
static void
add_diags(const struct nsx_bandwidth_sums *s, struct nsx_diags *diags)
{
	nsx_diag_add(diags, NSX_WARNING, "", s->unknown_wait,
		"instances of collectives on devices whose clocks cannot be compared: no wait; nsysx-align puts them "
		"on one clock");
	nsx_diag_add(diags, NSX_INFO, "", s->alone, "instances of collectives recorded on one device only: no wait");
	nsx_diag_add(diags, NSX_WARNING, "", s->no_hidden,
	             "communication thunks and operations did not pass nsysx-overlap: no hidden_share");
}

int
nsx_bandwidth(struct nsx_reader *in, struct nsx_bandwidth *b, struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_bandwidth_sums s = { .each = NULL };
	int rc = nsx_bandwidth_collect(in, &s, diags, err);

	*b = (struct nsx_bandwidth){ .instances = s.closed, .diags = s.ndiags };
	if (rc == NSX_OK) {
		b->table = nsx_table_new(cols, NCOLS);
		nsx_table_rank(b->table,
		               "collective bytes group instances busbw_mean wait_mean hidden_share algbw_mean");
		if (!b->table)
			rc = nsx_err_nomem(err, NULL);
	}
	for (size_t i = 0; i < s.rows.n && rc == NSX_OK; i++)
		put_row(b->table, &s.rows.p[i]);
	if (rc == NSX_OK)
		add_diags(&s, diags);
	nsx_bandwidth_sums_free(&s);
	return rc;
}
