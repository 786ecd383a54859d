/* bandwidth.c -- a table of the bandwidth of collectives and of the time that devices waited in them. */
#include "table/bandwidth.h"

#include <inttypes.h>

#include "job/clock_error.h"
#include "table/bandwidth_rows.h"

enum { COLLECTIVE, BYTES, GROUP, INSTANCES, BUSBW_MEAN, BUSBW_STDERR, ALGBW_MEAN, WAIT_MEAN, WAIT_MAX, HIDDEN_SHARE,
       TOTAL, WAIT, NCOLS };

static const struct nsx_table_col cols[NCOLS] = {
	[COLLECTIVE]   = { "collective", NSX_CELL_STRING },
	[BYTES]        = { "bytes", NSX_CELL_BYTES },
	[GROUP]        = { "group", NSX_CELL_ID },
	[INSTANCES]    = { "instances", NSX_CELL_INT },
	[BUSBW_MEAN]   = { "busbw_mean", NSX_CELL_GBPS },
	[BUSBW_STDERR] = { "busbw_stderr", NSX_CELL_GBPS },
	[ALGBW_MEAN]   = { "algbw_mean", NSX_CELL_GBPS },
	[WAIT_MEAN]    = { "wait_mean", NSX_CELL_MEAN_NS },
	[WAIT_MAX]     = { "wait_max", NSX_CELL_NS },
	[HIDDEN_SHARE] = { "hidden_share", NSX_CELL_SHARE },
	[TOTAL]        = { "total", NSX_CELL_NS },
	[WAIT]         = { "wait", NSX_CELL_NS },
};

/* NSX_OK, or NSX_ERR with err filled if a sum exceeds 64 bits. */
static int
put_row(struct nsx_table *t, struct nsx_bandwidth_row *r, struct nsx_err *err)
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
		if (nsx_table_sum(t, WAIT, (nsx_u128)r->wait, err) != NSX_OK)
			return NSX_ERR;
	}
	if (!r->no_hidden && r->dur > 0)
		nsx_table_double(t, HIDDEN_SHARE, (double)r->hidden / (double)r->dur);
	return nsx_table_sum(t, TOTAL, (nsx_u128)r->dur, err);
}

/* The sums of all rows, below them: TSV and JSON hold rows only, each of one kind and size. */
static void
put_total(struct nsx_table *t, const struct nsx_bandwidth_sums *s)
{
	double dur = 0, wait = 0;
	int64_t waits = 0;

	for (size_t i = 0; i < s->rows.n; i++) {
		dur += (double)s->rows.p[i].dur;
		wait += (double)s->rows.p[i].wait;
		waits += s->rows.p[i].waits;
	}
	if (s->rows.n == 0)
		return;
	if (waits)
		nsx_table_note(t, "[all]: %" PRId64 " instance%s, total %s, wait %s", s->closed, s->closed == 1 ? ""
		               : "s",
		               nsx_ns_text(dur).s, nsx_ns_text(wait).s);
	else
		nsx_table_note(t, "[all]: %" PRId64 " instance%s, total %s", s->closed, s->closed == 1 ? "" : "s",
		               nsx_ns_text(dur).s);
}

/* Notes on why cells are absent. */
static void
add_diags(const struct nsx_bandwidth_sums *s, struct nsx_diags *diags)
{
	double error = nsx_clock_error(&s->reading.comm->cat);
	int64_t within = 0;

	for (size_t i = 0; i < s->rows.n; i++)
		within += s->rows.p[i].wait && (double)s->rows.p[i].wait <= error * (double)s->rows.p[i].waits;
	nsx_clock_error_diag(&s->reading.comm->cat, within, diags);
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
			"collective bytes group instances total busbw_mean wait hidden_share wait_mean algbw_mean");
		nsx_table_adds(b->table, "total");
		if (!b->table)
			rc = nsx_err_nomem(err, NULL);
	}
	for (size_t i = 0; i < s.rows.n && rc == NSX_OK; i++)
		rc = put_row(b->table, &s.rows.p[i], err);
	if (rc == NSX_OK)
		rc = nsx_table_sort(b->table, "total", err);
	if (rc == NSX_OK) {
		put_total(b->table, &s);
		add_diags(&s, diags);
	}
	nsx_bandwidth_sums_free(&s);
	return rc;
}
