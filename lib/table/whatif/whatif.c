/* whatif.c -- see whatif.h. The stream is read for its steps and for the events of its operations and calls; a second
 * time for the limits of instructions, where programs have any. */
#include "table/whatif.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/num.h"
#include "base/par.h"
#include "job/remedy.h"
#include "job/steps/find.h"
#include "job/steps/windows.h"
#include "stream/spool.h"
#include "table/analysis.h"
#include "table/roofline/rows.h"
#include "table/whatif/tables.h"

static void
report(const struct wi_graph *g, struct nsx_diags *diags)
{
	if (!g->ops.n)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no operations in the stream: extract with --ops --calls");
	else if (!g->calls.n)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "%s",
		             nsx_no_calls(&g->pairing.comm.cat, "no CUDA calls in the stream, the host's work is not "
		                                                "known: extract with --calls"));
	nsx_diag_add(diags, NSX_WARNING, "", g->timeless, "operations without a start or duration: ignored");
	nsx_diag_add(diags, NSX_INFO, "", g->early,
	             "operations that start before their call: their launch is not known to hold them up");
	nsx_diag_add(diags, NSX_INFO, "", g->programmatic,
	             "operations that start before the end of the one before them in their stream");
	nsx_diag_add(diags, NSX_INFO, "", g->contradicted,
	             "awaited operations that end after the start of what awaited them: not awaited");
	nsx_diag_add(diags, NSX_INFO, "", g->alone,
	             "collectives of which the stream has one device only: their waiting is part of them");
	nsx_diag_add(diags, NSX_WARNING, "", g->apart, "records of collectives on clocks that cannot be compared: no "
	             "waiting for each other is known; nsysx-align puts them on one clock");
	nsx_diag_add(diags, NSX_INFO, "", g->guessed, "operations of collectives whose communicator is not known: of "
	             "all devices of the stream where they end together");
	/* Of many, the depth of the queue is not the one that was learned, or other commands are in it. */
	nsx_diag_add(diags, g->unrelated * 20 > g->queued ? NSX_WARNING : NSX_INFO, "", g->unrelated,
	             "launches that returned before what should have made room for them in the launch queue: what they "
	             "waited for is not known, and gains of kernels may be too small");
	nsx_diag_add(diags, NSX_WARNING, "", g->cyclic, "events that would have to wait for themselves");
}

/* ---- readings */

/* Two readings of one file at the same time: its steps, and what happened. */
struct both {
	struct nsx_reader *in, *events;
	const struct nsx_steps_wanted *wanted;
	struct nsx_spool *again;
	struct wi_graph *g;
	struct nsx_step_set *steps;
	struct nsx_diags *diags;
	struct nsx_err *err;     /* of the first one; the other has that of the graph */
	int rc[2];
};

static void
read_one(void *state, int i)
{
	struct both *b = state;

	b->rc[i] = i ? nsx_read_all(b->events, NULL, nsx_wi_take, b->g, b->g->err)
	           : nsx_steps_find(b->in, b->wanted, b->steps, b->again, b->diags, b->err);
}

/* Find the steps, and take what happened. */
static int
read_events(struct nsx_reader *in, const struct nsx_steps_options *o, struct nsx_spool *again, struct wi_graph *g,
            struct nsx_step_set *s, struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_steps_wanted wanted = { .step = o->step, .module = o->module, .require = o->require,
	                                   .keep = o->keep, .repeats = o->repeats, .repeat = o->repeat,
	                                   .bounds = true };
	/* A second reading has buffers of its own. */
	bool twice = nsx_par_cpus() > 1 && !nsx_memory_limit() && nsx_spool_again(in);
	struct nsx_spool *file = twice ? nsx_spool_open_all(in, g->err) : NULL;
	struct both b = { in, NULL, &wanted, again, g, s, diags, err, { NSX_OK, NSX_OK } };

	/* If the file could not be opened after all, records would have to be stored. */
	b.events = file && !nsx_spool_keeps(file) ? nsx_spool_reader_of(file, NSX_READ_ORDERED) : NULL;
	if (b.events) {
		nsx_wi_need(g, b.events);
		nsx_par_run(2, 2, read_one, &b);
		nsx_reader_close(b.events);
	} else {
		/* Of what comes once, one takes what the other read. */
		wanted.also = nsx_wi_take;
		wanted.also_state = g;
		nsx_wi_need(g, in);
		read_one(&b, 0);
	}
	nsx_spool_free(file);
	return b.rc[0] == NSX_OK ? b.rc[1] : b.rc[0];
}

/* The limits of instructions, in these windows. */
static int
read_limits(struct nsx_reader *in, const struct nsx_step_windows *w, struct wi_graph *g)
{
	static const struct nsx_roofline_options peaks = { 0 };
	struct nsx_analysis_run run = { .is = &nsx_roofline_analysis, .options = &peaks, .steps = true, .sums = true };
	struct nsx_analyses reading = { .runs = &run, .n = 1, .windows = w };
	struct nsx_diags quiet = { 0 };
	int rc;

	if (!in)
		return NSX_ERR;
	rc = nsx_analyse(&reading, in, NULL, &quiet, g->err);
	nsx_reader_close(in);
	if (rc == NSX_OK)
		rc = nsx_wi_limits(g, run.state);
	nsx_analyses_free(&reading);
	nsx_diags_free(&quiet);
	return rc;
}

/* A period is one of a class: which, if there are several. */
static void
note_class(const struct nsx_step_set *s, uint32_t class, struct nsx_table *t)
{
	struct nsx_str name = class == NSX_NONE ? NSX_STR("") : nsx_intern_str(&s->names, class);
	size_t n = 0;

	for (size_t i = 0; i < s->list.n; i++)
		n += !i || s->list.p[i].class != s->list.p[i - 1].class;
	if (n > 1 && class != NSX_NONE)
		nsx_table_note(t, "of steps of class %.*s, of %zu the one whose periods without a step of another take "
		               "the most time; --step with an expression for another alone forecasts that",
		               (int)name.len, name.ptr, n);
}

/* Which steps these are, where they are not those that other tools have. */
static void
note_steps(const struct wi_graph *g, struct nsx_table *t)
{
	int64_t n = (int64_t)g->steps.n, lost = g->all.periods - (int64_t)g->began + (int64_t)g->ended - n;
	struct nsx_buf why = { 0 };

	if (!n || (!g->began && !g->ended && !lost))
		return;
	if (!g->all.periods) {
		nsx_table_note(t, "the period is the mean of %" PRId64 " steps that end with the start of one that the "
		               "recording cuts; nsysx-steps and nsysx-diagnose have no period", n);
		return;
	}
	if (g->began)
		nsx_buf_fmt(&why, "; left out: %zu, the first of a device, as what came before it is not known",
		            g->began);
	if (g->ended)
		nsx_buf_fmt(&why, "; added: %zu, the last of a device, which ends with the start of the step that the "
		            "recording cuts", g->ended);
	if (lost)
		nsx_buf_fmt(&why, "; left out: %" PRId64 ", whose operations are not known", lost);
	nsx_buf_char(&why, '\0');
	nsx_table_note(t, "the period is the mean of %" PRId64 " steps; that of all %" PRId64 ", as nsysx-steps and "
	               "nsysx-diagnose have it, is %s%s", n, g->all.periods, NSX_NS(g->all.ns),
	               why.failed ? "" : why.ptr);
	nsx_buf_free(&why);
}

static int
make(struct wi_graph *g, const struct nsx_whatif_options *o, struct nsx_table **table, struct nsx_diags *diags)
{
	if (o->form == NSX_WHATIF_SLACK || o->form == NSX_WHATIF_SLACKS)
		return nsx_wi_slack(g, o->form == NSX_WHATIF_SLACKS, table);
	return o->form == NSX_WHATIF_FORECAST ? nsx_wi_forecast(g, o, table, diags)
	       : nsx_wi_critical(g, o->form, table, diags);
}

/* Whether limits of instructions are in question. */
static bool
asks_limits(const struct nsx_whatif_options *o)
{
	for (size_t i = 0; i < o->nchanges; i++)
		for (const char *text = o->changes[i];;) {
			size_t n = nsx_wi_change_length(text);

			if (strncmp(text, "limit", 5) == 0)
				return true;
			if (!text[n])
				break;
			text += n + 1;
		}
	return o->form == NSX_WHATIF_FORECAST && !o->nchanges;
}

int
nsx_whatif(struct nsx_reader *in, const void *wanted, struct nsx_table **table, struct nsx_diags *diags,
           struct nsx_err *err)
{
	const struct nsx_whatif_options *options = wanted;
	struct nsx_step_set s = { .err = err };
	struct nsx_err of_graph = { "" };
	struct wi_graph g = { .err = &of_graph, .from = INT64_MIN, .to = INT64_MAX,
		              .numbered = options->form == NSX_WHATIF_EDGES || options->form == NSX_WHATIF_SLACKS };
	bool limits = asks_limits(options);
	struct nsx_spool *again = limits ? nsx_spool_open_all(in, err) : NULL;
	struct nsx_step_windows w = { .class = NSX_NONE };
	int rc = again || !limits ? NSX_OK : NSX_ERR;

	*table = NULL;
	/* The second reading's records are spooled unless the stream can be read again. */
	if (again && nsx_spool_keeps(again))
		for (enum nsx_kind_id k = 0; k <= NSX_THUNK; k++)
			if (k < NSX_COMPILE || k == NSX_MODULE || k == NSX_THUNK)
				nsx_reader_need(in, k, NSX_EVERY);
	if (rc == NSX_OK)
		rc = read_events(in, &options->steps, again, &g, &s, diags, err);
	/* Other paths and slack are by step, whose class they name. */
	if (rc == NSX_OK && (options->form == NSX_WHATIF_FORECAST || options->form == NSX_WHATIF_MEAN
	                     || options->form == NSX_WHATIF_OP))
		rc = nsx_step_windows(&s, &w);
	/* Without programs no instruction has costs. */
	if (rc == NSX_OK && limits && s.cat.programs.n)
		rc = read_limits(nsx_spool_reader(again), &w, &g);
	if (rc == NSX_OK)
		rc = nsx_wi_build(&g, &s, w.class);
	if (rc == NSX_OK) {
		report(&g, diags);
		rc = make(&g, options, table, diags);
		if (rc == NSX_OK) {
			note_steps(&g, *table);
			note_class(&s, w.class, *table);
		}
	}
	nsx_spool_free(again);
	free(w.list.p);
	nsx_steps_free(&s);
	nsx_wi_free(&g);
	return rc == NSX_OK ? NSX_OK : nsx_err_set(err, "%s", of_graph.msg);
}
