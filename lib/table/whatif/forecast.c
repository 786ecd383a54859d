/* forecast.c -- the table of changes: for each the period that the graph has with its lags. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "table/whatif/gains.h"
#include "table/whatif/plan.h"
#include "table/whatif/tables.h"

enum { NAMES = 3 };     /* operations that are tried twice as fast */

struct row { char *text; struct wi_gain gain; bool first; };
typedef NSX_VEC(struct wi_trial) trials;

struct forecast {
	const struct wi_graph *g;
	struct wi_path path;
	struct nsx_diags *diags;
	struct wi_gains gains;
	bool named;              /* some change names something */
	NSX_VEC(struct row) rows;
	trials trials;           /* of the rows but the first, in the order in which they were added */
};

enum { WHAT, STEPS, PERIOD, PREDICTED, SAVED, LOW, HIGH, UNEXPLAINED, ALL_STEPS, ALL_PERIOD };
static const struct nsx_table_col cols[] = {
	{ "what", NSX_CELL_STRING }, { "steps", NSX_CELL_INT }, { "period", NSX_CELL_MEAN_NS },
	{ "predicted", NSX_CELL_MEAN_NS }, { "saved", NSX_CELL_MEAN_NS }, { "low", NSX_CELL_MEAN_NS },
	{ "high", NSX_CELL_MEAN_NS }, { "unexplained", NSX_CELL_SHARE },
	{ "all_steps", NSX_CELL_INT }, { "all_period", NSX_CELL_MEAN_NS }
};

/* A row without its gain. Takes text. */
static int
add_row(struct forecast *f, char *text)
{
	if (text && nsx_vec_push(&f->rows, ((struct row){ .text = text })))
		return NSX_OK;
	free(text);
	return nsx_err_nomem(f->g->err, NULL);
}

/* Room for the plan of a further row; NULL: out of memory. */
static struct wi_trial *
add_trial(struct forecast *f)
{
	return nsx_vec_push(&f->trials, (struct wi_trial){ 0 }) ? &f->trials.p[f->trials.n - 1] : NULL;
}

static int
set_gains(struct forecast *f)
{
	int rc = nsx_wi_gains(&f->gains, f->trials.p, f->trials.n, true);

	for (size_t i = 0; i < f->trials.n && rc == NSX_OK; i++)
		f->rows.p[i + 1].gain = f->trials.p[i].gain;
	f->rows.p[0].gain = f->gains.model;
	f->rows.p[0].first = true;
	return rc;
}

/* Where a change names nothing: what to use instead, as a clause, or nothing. */
static void
put_instead(const struct wi_graph *g, const char *text, struct nsx_buf *to)
{
	const char *k = strrchr(text, '=');
	struct wi_change c;
	uint32_t kind;

	to->len = 0;
	if (k && !nsx_wi_change_parse(text, &c) && nsx_wi_names_comm(g, &c, &kind)) {
		nsx_buf_c(to, "; communication of that name: use transfer");
		nsx_buf_c(to, kind == NSX_NONE ? "" : ":");
		nsx_buf_str(to, kind == NSX_NONE ? NSX_STR("") : nsx_intern_str(&g->names, kind));
		nsx_buf_c(to, k);
	}
	nsx_buf_char(to, '\0');
}

static void
warn_unnamed(struct forecast *f, const char *text)
{
	struct nsx_buf instead = { 0 };

	put_instead(f->g, text, &instead);
	nsx_diag_add(f->diags, NSX_WARNING, "", 1, "%s names nothing in the stream: it saves nothing%s", text,
	             instead.failed ? "" : instead.ptr);
	nsx_buf_free(&instead);
}

static int
add_change(struct forecast *f, const char *text)
{
	struct wi_trial *t = add_trial(f);

	if (!t)
		return nsx_err_nomem(f->g->err, NULL);
	if (nsx_wi_plan(&t->plan, f->g, text) != NSX_OK)
		return NSX_ERR;
	f->named |= t->plan.named;
	if (!t->plan.named && !t->plan.nparts)
		warn_unnamed(f, text);
	for (size_t i = 0; i < t->plan.nparts; i++) {
		f->named |= t->plan.parts[i].named;
		if (!t->plan.parts[i].named)
			warn_unnamed(f, t->plan.parts[i].text);
	}
	return add_row(f, nsx_str_dup(nsx_str_c(text)));
}

/* ---- what is tried if nothing is asked for */

/* A change of the operations of this name alone: with an expression, unless it has letters that mean more in one. */
static char *
faster_text(struct nsx_str name)
{
	struct nsx_buf b = { 0 };
	bool plain = true;

	for (size_t i = 0; i < name.len; i++)
		plain &= !memchr("\\^.[]()*+?{}|$", name.ptr[i], 15);
	nsx_buf_c(&b, plain ? "faster:^" : "faster:name:");
	nsx_buf_str(&b, name);
	nsx_buf_c(&b, plain ? "$=2" : "=2");
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
	int64_t *ns = f->path.names;
	int rc = NSX_OK;

	for (int n = 0; n < NAMES && rc == NSX_OK; n++) {
		struct wi_trial *t;
		size_t best = 0;

		for (size_t i = 0; i < g->names.n; i++)
			best = ns[i] > ns[best] ? i : best;
		if (!g->names.n || ns[best] <= 0)
			break;
		ns[best] = 0;
		t = add_trial(f);
		rc = t ? nsx_wi_plan_name(&t->plan, g, (uint32_t)best, 2) : nsx_err_nomem(g->err, NULL);
		if (rc == NSX_OK)
			rc = add_row(f, faster_text(nsx_intern_str(&g->names, (uint32_t)best)));
	}
	return rc;
}

/* What a row is ordered by: of a range its middle. */
static double
counts_as(const struct row *r)
{
	return r->gain.none ? 0 : r->gain.single ? r->gain.saved : (r->gain.low + r->gain.high) / 2;
}

NSX_ORDER(by_gain, struct row, NSX_CMP(b->first, a->first), NSX_CMP(counts_as(b), counts_as(a)),
          strcmp(a->text, b->text))

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
	return rc;
}

/* Whether anything is known of some change. */
static bool
any_gain(const struct forecast *f)
{
	bool any = f->rows.n < 2 || !f->g->steps.n;

	for (size_t i = 1; i < f->rows.n; i++)
		any |= !f->rows.p[i].gain.none;
	return any;
}

static int
refuse(struct forecast *f)
{
	struct nsx_buf why = { 0 };
	int rc = nsx_wi_put_refusal(&f->gains, &why) ? nsx_err_set(f->g->err, "no forecasts: %s", why.ptr)
	         : nsx_err_nomem(f->g->err, NULL);

	nsx_buf_free(&why);
	return rc;
}

/* ---- */

static struct nsx_table *
make_table(const struct forecast *f)
{
	struct nsx_table *t = nsx_table_new(cols, sizeof cols / sizeof *cols);
	const struct wi_gains *w = &f->gains;

	for (size_t i = 0; t && i < f->rows.n && f->g->steps.n; i++) {
		const struct row *r = &f->rows.p[i];

		nsx_table_row(t);
		nsx_table_str(t, WHAT, nsx_str_c(r->text));
		nsx_table_int(t, STEPS, (int64_t)f->g->steps.n);
		nsx_table_double(t, PERIOD, w->period);
		nsx_table_double(t, UNEXPLAINED, w->unexplained);
		if (f->g->all.periods) {
			nsx_table_int(t, ALL_STEPS, f->g->all.periods);
			nsx_table_double(t, ALL_PERIOD, f->g->all.ns);
		}
		if (r->gain.single) {
			nsx_table_double(t, PREDICTED, w->period - r->gain.saved);
			nsx_table_double(t, SAVED, r->gain.saved);
		}
		if (!r->gain.none) {
			nsx_table_double(t, LOW, r->gain.low);
			nsx_table_double(t, HIGH, r->gain.high);
		}
	}
	if (t && f->rows.n && f->g->steps.n) {
		if (!nsx_wi_say_doubts(w, true, f->diags)) {
			nsx_table_free(t);
			return NULL;
		}
		nsx_table_note(t, "none: with the same latencies everywhere, which shows how well the graph explains "
		               "the run");
	}
	if (t && w->contention.shares.k > 0 && f->g->steps.n)
		nsx_table_note(t, "kernels take %.0f %% longer beside communication, which forecasts heed",
		               100 * w->contention.shares.k);
	return t;
}

int
nsx_wi_forecast(struct wi_graph *g, const struct nsx_whatif_options *o, struct nsx_table **table,
                struct nsx_diags *diags)
{
	struct forecast f = { .g = g, .diags = diags };
	struct nsx_buf instead = { 0 };
	int rc = nsx_wi_find_path(g, &f.path);

	if (rc == NSX_OK)
		rc = nsx_wi_gains_open(&f.gains, g, &f.path);
	if (rc == NSX_OK)
		rc = add_row(&f, nsx_str_dup(NSX_STR("none")));
	for (size_t i = 0; i < o->nchanges && rc == NSX_OK; i++)
		rc = add_change(&f, o->changes[i]);
	/* Without operations there is nothing to name, which is told. */
	if (rc == NSX_OK && o->nchanges && !f.named && g->ops.n) {
		put_instead(g, o->changes[0], &instead);
		rc = nsx_err_set(g->err, "%s names nothing in the stream%s", o->changes[0],
		                 instead.failed ? "" : instead.ptr);
	}
	if (rc == NSX_OK && !o->nchanges)
		rc = add_usual(&f);
	if (rc == NSX_OK)
		rc = set_gains(&f);
	if (rc == NSX_OK && !any_gain(&f))
		rc = refuse(&f);
	if (rc == NSX_OK && !o->nchanges)
		qsort(f.rows.p, f.rows.n, sizeof *f.rows.p, by_gain);
	if (rc == NSX_OK) {
		*table = make_table(&f);
		nsx_table_rank(*table, f.gains.refused || f.gains.doubtful
		               ? "what low high saved period predicted unexplained"
		               : "what saved period predicted unexplained");
		rc = *table ? NSX_OK : nsx_err_nomem(g->err, NULL);
	}
	for (size_t i = 0; i < f.rows.n; i++)
		free(f.rows.p[i].text);
	free(f.rows.p);
	for (size_t i = 0; i < f.trials.n; i++)
		nsx_wi_plan_free(&f.trials.p[i].plan);
	free(f.trials.p);
	nsx_buf_free(&instead);
	nsx_wi_gains_free(&f.gains);
	nsx_wi_path_free(&f.path);
	return rc;
}
