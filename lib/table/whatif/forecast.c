/* forecast.c -- the table of changes: for each the period that the graph has with its lags. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table/whatif/contention.h"
#include "table/whatif/tables.h"

/* Shares above which there are no forecasts, or only lower bounds. */
static const double refused = 0.1, refused_model = 0.05, doubtful = 0.01, doubtful_model = 0.015;
enum { NAMES = 3 };     /* operations that are tried twice as fast */

struct row { char *text; double predicted, low, high; bool first; };

struct forecast {
	const struct wi_graph *g;
	const wi_path *path;
	struct nsx_diags *diags;
	double   period, model, unexplained;
	struct wi_contention contention;
	int64_t *lags, *times;
	NSX_VEC(struct row) rows;
};

enum { WHAT, STEPS, PERIOD, PREDICTED, SAVED, LOW, HIGH, UNEXPLAINED };
static const struct nsx_table_col cols[] = {
	{ "what", NSX_CELL_STRING }, { "steps", NSX_CELL_INT }, { "period", NSX_CELL_MEAN_NS },
	{ "predicted", NSX_CELL_MEAN_NS }, { "saved", NSX_CELL_MEAN_NS }, { "low", NSX_CELL_MEAN_NS },
	{ "high", NSX_CELL_MEAN_NS }, { "unexplained", NSX_CELL_SHARE }
};

/* The period with the lags that are set. */
static double
replay(struct forecast *f)
{
	nsx_wi_sweep(f->g, f->lags, f->times);
	return nsx_wi_period(f->g, f->times);
}

/* Add the row of the lags that are set, with contention where some was found. */
static int
add_row(struct forecast *f, char *text, bool first)
{
	double plain = replay(f), saved = f->period - plain;
	struct row r = { text, plain, saved, saved, first };

	if (f->contention.k > 0 && !first) {
		nsx_wi_contention_sweep(&f->contention, f->lags, f->times);
		r.predicted = nsx_wi_period(f->g, f->times);
		r.low = fmin(saved, f->period - r.predicted);
		r.high = fmax(saved, f->period - r.predicted);
	}
	if (text && nsx_vec_push(&f->rows, r))
		return NSX_OK;
	free(text);
	return nsx_err_nomem(f->g->err, NULL);
}

static int
add_change(struct forecast *f, const char *text)
{
	struct wi_change c;
	const char *why = nsx_wi_change_parse(text, &c);
	bool named;

	if (why)
		return nsx_err_set(f->g->err, "%s: %s", text, why);
	if (nsx_wi_change_lags(f->g, &c, f->g->lags.p, f->lags, &named) != NSX_OK)
		return NSX_ERR;
	if (!named)
		nsx_diag_add(f->diags, NSX_WARNING, "", 1, "%s names nothing in the stream: it saves nothing", text);
	return add_row(f, nsx_str_dup(c.text), false);
}

/* ---- what is tried if nothing is asked for */

/* An expression that matches this name only. */
static char *
faster_text(struct nsx_str name)
{
	struct nsx_buf b = { 0 };

	nsx_buf_c(&b, "faster:^");
	for (size_t i = 0; i < name.len; i++) {
		const char *form = name.ptr[i] == '\\' || name.ptr[i] == '^' ? "\\%c"
		                   : memchr(".[()*+?{|$", name.ptr[i], 10) ? "[%c]" : "%c";

		nsx_buf_fmt(&b, form, name.ptr[i]);
	}
	nsx_buf_c(&b, "$=2");
	nsx_buf_char(&b, '\0');
	if (!b.failed)
		return b.ptr;
	nsx_buf_free(&b);
	return NULL;
}

/* The operations that compute for the longest on the critical path. */
static int
add_names(struct forecast *f)
{
	const struct wi_graph *g = f->g;
	int64_t *ns = calloc(g->names.n + 1, sizeof *ns);
	int rc = ns ? NSX_OK : nsx_err_nomem(g->err, NULL);

	for (size_t i = 0; i < f->path->n && rc == NSX_OK; i++) {
		const struct wi_hop *h = &f->path->p[i];

		if (h->part == WI_COMPUTE || h->part == WI_COPY)
			ns[g->ops.p[wi_op_of(h->event)].name] += h->ns;
	}
	for (int n = 0; n < NAMES && rc == NSX_OK; n++) {
		size_t best = 0;

		for (size_t i = 0; i < g->names.n; i++)
			best = ns[i] > ns[best] ? i : best;
		if (!g->names.n || ns[best] <= 0)
			break;
		ns[best] = 0;
		nsx_wi_change_name(g, (uint32_t)best, 2, g->lags.p, f->lags);
		rc = add_row(f, faster_text(nsx_intern_str(&g->names, (uint32_t)best)), false);
	}
	free(ns);
	return rc;
}

static int
by_gain(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->first != y->first)
		return x->first ? -1 : 1;
	if (x->predicted != y->predicted)
		return x->predicted < y->predicted ? -1 : 1;
	return strcmp(x->text, y->text);
}

static int
add_usual(struct forecast *f)
{
	static const char *const usual[] = { "transfer=inf", "nowait", "even", "host=inf", "sync=0", "gaps=0",
	                                     "profiler=0" };
	int rc = add_names(f);

	for (size_t i = 0; i < f->g->limits.n && rc == NSX_OK; i++)
		if (f->g->limits.p[i] < 1) {
			rc = add_change(f, "limit");
			break;
		}
	for (size_t i = 0; i < sizeof usual / sizeof *usual && rc == NSX_OK; i++)
		if (strcmp(usual[i], "profiler=0") != 0 || f->g->overheads.n)
			rc = add_change(f, usual[i]);
	if (rc == NSX_OK)
		qsort(f->rows.p, f->rows.n, sizeof *f->rows.p, by_gain);
	return rc;
}

/* ---- */

static void
say_doubts(const struct forecast *f, bool refuse)
{
	double off = f->period > 0 ? fabs(f->model / f->period - 1) : 0;

	if (refuse)
		nsx_diag_add(f->diags, NSX_WARNING, "", 1, "no forecasts: %.1f %% of the critical path is not "
			"explained, and with constant latencies the period is off by %.1f %%; extract with --ops "
			"--calls, and let nsysx-warmup remove what is not steady", 100 * f->unexplained, 100 * off);
	else if (f->unexplained > doubtful || off > doubtful_model)
		nsx_diag_add(f->diags, NSX_WARNING, "", 1, "%.1f %% of the critical path is not explained, and with "
			"constant latencies the period is off by %.1f %%: gains are lower bounds",
			100 * f->unexplained, 100 * off);
}

static struct nsx_table *
make_table(const struct forecast *f)
{
	struct nsx_table *t = nsx_table_new(cols, sizeof cols / sizeof *cols);
	bool refuse = f->unexplained > refused || (f->period > 0 && fabs(f->model / f->period - 1) > refused_model);

	for (size_t i = 0; t && i < f->rows.n && f->g->steps.n; i++) {
		const struct row *r = &f->rows.p[i];

		nsx_table_row(t);
		nsx_table_str(t, WHAT, nsx_str_c(r->text));
		nsx_table_int(t, STEPS, (int64_t)f->g->steps.n);
		nsx_table_double(t, PERIOD, f->period);
		nsx_table_double(t, UNEXPLAINED, f->unexplained);
		if (refuse && !r->first)
			continue;
		nsx_table_double(t, PREDICTED, r->predicted);
		nsx_table_double(t, SAVED, f->period - r->predicted);
		nsx_table_double(t, LOW, r->low);
		nsx_table_double(t, HIGH, r->high);
	}
	if (t && f->rows.n && f->g->steps.n) {
		say_doubts(f, refuse);
		nsx_table_note(t, "none: with the same latencies everywhere, which shows how well the graph explains "
		               "the run");
	}
	if (t && f->contention.k > 0 && f->g->steps.n)
		nsx_table_note(t, "kernels take %.0f %% longer beside communication, which forecasts heed",
		               100 * f->contention.k);
	return t;
}

int
nsx_wi_forecast(struct wi_graph *g, const wi_path *path, const struct nsx_whatif_options *o,
                struct nsx_table **table, struct nsx_diags *diags)
{
	struct forecast f = { .g = g, .path = path, .diags = diags };
	int rc = NSX_OK;

	f.lags = malloc((g->edges.n + 1) * sizeof *f.lags);
	f.times = malloc((g->nevents + 1) * sizeof *f.times);
	if (!f.lags || !f.times)
		rc = nsx_err_nomem(g->err, NULL);
	if (rc == NSX_OK) {
		f.period = nsx_wi_period(g, g->times);
		f.unexplained = nsx_wi_unexplained(path);
		rc = nsx_wi_contention_begin(&f.contention, g);
	}
	if (rc == NSX_OK) {
		nsx_wi_model(g, f.lags);
		rc = add_row(&f, nsx_str_dup(NSX_STR("none")), true);
	}
	if (rc == NSX_OK)
		f.model = f.rows.p[0].predicted;
	for (size_t i = 0; i < o->nchanges && rc == NSX_OK; i++)
		rc = add_change(&f, o->changes[i]);
	if (rc == NSX_OK && !o->nchanges)
		rc = add_usual(&f);
	if (rc == NSX_OK) {
		*table = make_table(&f);
		nsx_table_rank(*table, "what saved period predicted unexplained");
		rc = *table ? NSX_OK : nsx_err_nomem(g->err, NULL);
	}
	for (size_t i = 0; i < f.rows.n; i++)
		free(f.rows.p[i].text);
	free(f.rows.p);
	free(f.lags);
	free(f.times);
	nsx_wi_contention_free(&f.contention);
	return rc;
}
