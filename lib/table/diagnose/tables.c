/* tables.c -- findings, and where a step goes, as rows. */
#include "base/stat.h"
#include "table/diagnose/diagnose.h"

enum { F_RANK, F_FINDING, F_GAIN, F_SHARE, F_EVIDENCE, F_COMMAND, F_SUBJECT, F_ACTION, F_CHANGE, F_SAVED, F_LOW, F_HIGH,
       F_NCOLS };

static const struct nsx_table_col finding_cols[F_NCOLS] = {
	[F_RANK]     = { "rank", NSX_CELL_ID },
	[F_FINDING]  = { "finding", NSX_CELL_STRING },
	[F_GAIN]     = { "gain", NSX_CELL_MEAN_NS },
	[F_SHARE]    = { "share", NSX_CELL_SHARE },
	[F_EVIDENCE] = { "evidence", NSX_CELL_STRING },
	[F_COMMAND]  = { "command", NSX_CELL_STRING },
	[F_SUBJECT]  = { "subject", NSX_CELL_STRING },
	[F_ACTION]   = { "action", NSX_CELL_STRING },
	[F_CHANGE]   = { "change", NSX_CELL_STRING },
	[F_SAVED]    = { "saved", NSX_CELL_MEAN_NS },
	[F_LOW]      = { "low", NSX_CELL_MEAN_NS },
	[F_HIGH]     = { "high", NSX_CELL_MEAN_NS },
};

struct nsx_table *
nsx_look_findings(const struct nsx_look_at *a)
{
	struct nsx_table *t = nsx_table_new(finding_cols, F_NCOLS);
	struct nsx_buf name = { .len = 0 };

	for (size_t i = 0; t && i < a->findings.n; i++) {
		const struct nsx_finding *f = &a->findings.p[i];

		name.len = 0;
		nsx_look_put_name(f, &name);
		nsx_table_row(t);
		nsx_table_int(t, F_RANK, (int64_t)i + 1);
		nsx_table_str(t, F_FINDING, nsx_buf_view(&name));
		nsx_table_double(t, F_GAIN, f->gain);
		nsx_table_double(t, F_SHARE, f->gain / a->period);
		nsx_table_str(t, F_EVIDENCE, nsx_look_str(a, f->evidence));
		nsx_table_str(t, F_COMMAND, nsx_look_str(a, f->command));
		if (nsx_look_str(a, f->subject).len)
			nsx_table_str(t, F_SUBJECT, nsx_look_str(a, f->subject));
		nsx_table_str(t, F_ACTION, nsx_str_c(nsx_look_action(f)));
		if (f->change != NSX_NONE)
			nsx_table_str(t, F_CHANGE, nsx_look_str(a, f->change));
		if (!f->forecasts)
			continue;
		if (f->forecast.single)
			nsx_table_double(t, F_SAVED, f->forecast.saved);
		if (nsx_look_is_own(f))
			nsx_table_double(t, F_LOW, f->forecast.low);
		nsx_table_double(t, F_HIGH, f->forecast.high);
	}
	if (t && name.failed) {
		nsx_table_free(t);
		t = NULL;
	}
	nsx_buf_free(&name);
	return t;
}

enum { W_PART, W_GROUP, W_CAUSE, W_COUNT, W_NS, W_MEAN, W_P50, W_P99, W_SHARE, W_CLASS, W_NCOLS };

static const struct nsx_table_col where_cols[W_NCOLS] = {
	[W_PART]  = { "part", NSX_CELL_STRING },
	[W_GROUP] = { "group", NSX_CELL_STRING },
	[W_CAUSE] = { "cause", NSX_CELL_STRING },
	[W_COUNT] = { "count", NSX_CELL_INT },
	[W_NS]    = { "ns", NSX_CELL_NS },
	[W_MEAN]  = { "mean", NSX_CELL_MEAN_NS },
	[W_P50]   = { "p50", NSX_CELL_NS },
	[W_P99]   = { "p99", NSX_CELL_NS },
	[W_SHARE] = { "share", NSX_CELL_SHARE },
	[W_CLASS] = { "class", NSX_CELL_STRING },
};

static void
put_sum(const struct nsx_look_at *a, struct nsx_table *t, const char *part, nsx_u128 ns)
{
	nsx_table_row(t);
	nsx_table_str(t, W_PART, nsx_str_c(part));
	nsx_table_int(t, W_NS, ns > INT64_MAX ? INT64_MAX : (int64_t)ns);
	nsx_table_double(t, W_MEAN, nsx_look_mean(a, ns));
	nsx_table_double(t, W_SHARE, (double)ns / (double)a->time);
}

struct nsx_table *
nsx_look_where(const struct nsx_look_at *a)
{
	struct nsx_table *t = nsx_table_new(where_cols, W_NCOLS);
	nsx_table_head(t, "ns", "total");
	size_t n = a->periods.n;

	if (!t || !a->count)
		return t;
	put_sum(a, t, a->stepped ? "step" : "window", a->time);
	nsx_table_int(t, W_COUNT, a->count);
	if (a->stepped)
		nsx_table_str(t, W_CLASS, nsx_intern_str(&a->steps.names, a->class));
	if (n) {
		nsx_table_int(t, W_P50, nsx_percentile(a->periods.p, n, 50));
		nsx_table_int(t, W_P99, nsx_percentile(a->periods.p, n, 99));
	}
	if (!a->ops)
		return t;
	for (int p = 0; p < NSX_PART_IDLE; p++)
		put_sum(a, t, nsx_part_name((enum nsx_part)p), a->cells[p]);
	for (int c = 0; c < NSX_NCAUSES; c++) {
		nsx_u128 ns = a->cells[nsx_cause_cell((enum nsx_cause)c)];

		if (!ns)
			continue;
		if (c == NSX_CAUSE_REMOVED) {
			/* No part of the window: no mean, no share. */
			nsx_table_row(t);
			nsx_table_str(t, W_PART, nsx_str_c(nsx_cause_name(NSX_CAUSE_REMOVED)));
			nsx_table_int(t, W_NS, ns > INT64_MAX ? INT64_MAX : (int64_t)ns);
			continue;
		}
		put_sum(a, t, nsx_part_name(NSX_PART_IDLE), ns);
		nsx_table_str(t, W_GROUP, nsx_str_c(nsx_cause_group((enum nsx_cause)c)));
		nsx_table_str(t, W_CAUSE, nsx_str_c(nsx_cause_name((enum nsx_cause)c)));
	}
	return t;
}
