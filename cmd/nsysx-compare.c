/* nsysx-compare -- what became slower, faster, new or gone between two streams, or tables of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/compare.h"
#include "table/idle.h"
#include "base/num.h"
#include "tool.h"

/* The exit status with --gate for everything else that fails; 1 means a regression there. */
enum { NOT_COMPARABLE = 3 };

static const char *by, *what, *names, *step, *module, *sigma = "3", *percent = "2", *minor = "0.1", *coverage = "0.5",
    *unjudged = "0.1", *folded, *gate, *junit, *explain;
static int64_t absolute = 100;
static bool changed, github, history;

static const struct nsx_opt opts[] = {
	NSX_OPT_CHOICE(0, "by", &by, NSX_COMPARE_NAMES,
	               "what a row stands for [as the tables, or what the streams have]"),
	NSX_OPT_CHOICE(0, "time", &what, "whole|exposed|span",
		       "whole, or without communication that computation hides; of ranges GPU time or span [whole]"),
	NSX_OPT_CHOICE(0, "names", &names, "key|full|digits",
		       "names of ranges: without what frameworks append, in full, or with digits as # [key]"),
	NSX_OPT_STR(0, "step", &step, "REGEX",
		    "by step, device or phase: NVTX ranges whose DOMAIN:NAME matches are steps; groups make classes"),
	NSX_OPT_STR(0, "module", &module, "NAME",
		    "by step, device or phase: executions of the program of that name or key are the steps"),
	NSX_OPT_STR(0, "sigma", &sigma, "K",
		    "differences are noise below this confidence, in deviations of a normal distribution [3]"),
	NSX_OPT_STR(0, "percent", &percent, "P", "ignore differences of up to P percent of BASE [2]"),
	NSX_OPT_TIME(0, "absolute", &absolute, "TIME", "ignore differences of up to TIME per execution [100ns]"),
	NSX_OPT_STR(0, "minor", &minor, "P", "differences of up to P percent of the program's time are minor [0.1]"),
	NSX_OPT_STR(0, "coverage", &coverage, "SHARE",
		    "minimum share of the time of each stream that must be matched [0.5]"),
	NSX_OPT_STR(0, "unjudged", &unjudged, "SHARE",
		    "by step and device: share of the time that may be of too few steps to judge; 0: none [0.1]"),
	NSX_OPT_FLAG(0, "changed", &changed, "omit rows without a change"),
	NSX_OPT_MAYBE(0, "why", &explain, "renamed",
		      "by step: print what made the periods of steps differ instead; the differences add up; renamed: "
		      "which kernels have other names"),
	NSX_OPT_MAYBE(0, "gate", &gate, "mean|p99",
		      "exit 1 if something is slower, 3 if the streams cannot be compared; p99: by 99th "
		      "percentiles [mean]"),
	NSX_OPT_STR(0, "junit", &junit, "FILE", "also write a test for each row to FILE, as XML for CI servers"),
	NSX_OPT_FLAG(0, "github", &github,
		     "also print what is slower, and warnings, as annotations of GitHub's actions"),
	NSX_OPT_FLAG(0, "history", &history,
	             "print what steps take in each of many runs instead, a row for each, as CSV"),
	NSX_OPT_CHOICE(0, "folded", &folded, "base|new",
		       "print folded stacks of that side instead, names and executions as in NEW"),
	NSX_TOOL_SORT,
	NSX_TOOL_TABLE,
	NSX_TOOL_MARKDOWN,
	NSX_TOOL_FILE,
	NSX_OPT_FLAG(0, "partial", &nsx_tool_input.partial, "accept text streams without their end or headers"),
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-compare", "[--by WHAT] [--gate[=mean|p99]] [OPTION]... BASE... NEW",
                                    "Compare the GPU time of two streams, or tables of nsysx-summary.", opts };

/* The number given to an option, from `least` to `most` (misuse exits). */
static double
number(const char *option, const char *s, double least, double most)
{
	double v;

	if (!nsx_get_double(nsx_str_c(s), &v) || !(v >= least && v <= most))
		nsx_cli_misuse(&cli, "--%s: want a number from %g to %g, got \"%s\"", option, least, most, s);
	return v;
}

/* The values of the options, checked (misuse exits). */
static struct nsx_compare_options
wanted(int nops, char **ops)
{
	struct nsx_compare_options o = { .by = by ? (enum nsx_compare_by)nsx_compare_by_name(by)
	                                 : nops > 2 || history || explain ? NSX_COMPARE_STEP : NSX_COMPARE_THUNK,
	                                 .any = !by,
	                                 .exposed = what && strcmp(what, "exposed") == 0, .whole = what && strcmp(what,
	                                 	"whole") == 0, .changed = changed };

	if (names)
		nsx_names_parse(names, &o.names);
	o.tail = gate && strcmp(gate, "p99") == 0;
	if (gate && *gate && !o.tail && strcmp(gate, "mean") != 0)
		nsx_cli_misuse(&cli, "--gate: want mean or p99, got \"%s\"", gate);
	o.junit = junit;
	o.why = explain;
	o.renamed = explain && strcmp(explain, "renamed") == 0;
	if (explain && *explain && !o.renamed)
		nsx_cli_misuse(&cli, "--why: want renamed, got \"%s\"", explain);
	if (explain && o.by != NSX_COMPARE_STEP)
		nsx_cli_misuse(&cli, "--why: want --by step");
	if (explain && (nops > 2 || history))
		nsx_cli_misuse(&cli, "--why: want one BASE and NEW");
	o.step = step;
	o.module = module;
	int standard = 0;

	if (history && (gate || junit || github || changed || folded))
		nsx_cli_misuse(&cli, "--history compares nothing: drop --%s", gate ? "gate" : junit ? "junit"
		               : github ? "github" : changed ? "changed" : "folded");
	if (history && nops < 1)
		nsx_cli_misuse(&cli, "want streams or tables of steps");
	if (history && by && o.by != NSX_COMPARE_STEP)
		nsx_cli_misuse(&cli, "--history: want --by step");
	if (nops < 2 && !history)
		nsx_cli_misuse(&cli, "want two streams or tables or more, BASE... and NEW");
	for (int i = 0; i < nops; i++)
		standard += strcmp(ops[i], "-") == 0;
	if (standard > 1)
		nsx_cli_misuse(&cli, "standard input can be read only once");
	if (nops > 2 && !history && o.by != NSX_COMPARE_STEP && o.by != NSX_COMPARE_DEVICE)
		nsx_cli_misuse(&cli, "several base runs: want --by step or device");
	if (absolute < 0)
		nsx_cli_misuse(&cli, "--absolute: want a time that is not negative");
	if (o.exposed && (o.by == NSX_COMPARE_MODULE || o.by == NSX_COMPARE_RANGE))
		nsx_cli_misuse(&cli, "%ss have no exposed time", nsx_compare_name(o.by));
	o.span = what && strcmp(what, "span") == 0;
	if (o.span && o.by != NSX_COMPARE_RANGE)
		nsx_cli_misuse(&cli, "--time span: want --by range");
	if (o.exposed && (o.by == NSX_COMPARE_STEP || o.by == NSX_COMPARE_DEVICE))
		nsx_cli_misuse(&cli, "--by %s prints exposed time beside the whole already: drop --time exposed",
		               nsx_compare_name(o.by));
	if (folded && o.by >= NSX_COMPARE_RANGE)
		nsx_cli_misuse(&cli, "--folded: want thunks, modules, opcodes or source lines, not %ss",
		               nsx_compare_name(o.by));
	if (names && o.by != NSX_COMPARE_RANGE && o.by != NSX_COMPARE_KERNEL)
		nsx_cli_misuse(&cli, "--names: want --by range or kernel");
	if ((step || module) && o.by == NSX_COMPARE_PHASE)
		o.by = NSX_COMPARE_STEP_PHASE;
	if ((step || module) && o.by != NSX_COMPARE_STEP && o.by != NSX_COMPARE_DEVICE
	    && o.by != NSX_COMPARE_STEP_PHASE)
		nsx_cli_misuse(&cli, "--%s: want --by step, device or phase", step ? "step" : "module");
	nsx_tool_check_steps(&cli, step, module);
	if (folded && (changed || nsx_tool_table.sort || nsx_tool_forms() ||
	    nsx_tool_table.markdown))
		nsx_cli_misuse(&cli, "--folded prints no table");
	if (junit && (!*junit || strcmp(junit, "-") == 0))
		nsx_cli_misuse(&cli, "--junit: want a file");
	o.sigma = number("sigma", sigma, 0, 30);
	o.percent = number("percent", percent, 0, 1e6);
	o.minor = number("minor", minor, 0, 100);
	o.coverage = number("coverage", coverage, 0, 1);
	o.unjudged = number("unjudged", unjudged, 0, 1);
	o.absolute = absolute;
	o.fold = folded && strcmp(folded, "base") == 0 ? NSX_COMPARE_BASE : NSX_COMPARE_NEW;
	nsx_tool_table_form(&cli);
	return o;
}

/* The file to read for an operand: in a folder that nsysx-report made, the table, or the stream if there is no such
 * table. NULL with err filled when out of memory; the caller frees it. */
static char *
path_of(struct nsx_tool *t, const char *op, enum nsx_compare_by as)
{
	struct nsx_buf b = { 0 };
	struct stat st;

	nsx_buf_c(&b, op);
	if (stat(op, &st) == 0 && S_ISDIR(st.st_mode)) {
		/* A table by device is of the programs that take the most time; one by opcode does not tell how many
		 * executions its sums are of. */
		if (as >= NSX_COMPARE_OPCODE)
			nsx_buf_c(&b, "/streams/collectives.nsysx");
		else
			nsx_buf_fmt(&b, "/tables/%s.tsv", nsx_compare_name(as));
	}
	nsx_buf_char(&b, '\0');
	if (b.failed) {
		nsx_buf_free(&b);
		nsx_err_nomem(&t->err, op);
		return NULL;
	}
	return b.ptr;
}

static unsigned
flags_of(void)
{
	return NSX_READ_ORDERED | (nsx_tool_input.partial ? NSX_READ_PARTIAL : 0);
}

static struct nsx_reader *
open_side(struct nsx_tool *t, const char *op, enum nsx_compare_by as)
{
	char *path = path_of(t, op, as);

	if (path && strcmp(path, op) != 0 && access(path, F_OK) != 0) {
		nsx_err_set(&t->err, "%s: no %s in this folder: want one that nsysx-report made for this comparison, a "
		            "stream, or a table", op, path + strlen(op) + 1);
		free(path);
		return NULL;
	}
	struct nsx_reader *r = path ? nsx_reader_open(path, flags_of(), &t->err) : NULL;

	free(path);
	return r;
}

/* When a run was, if its stream does not tell: by the name of the file, else by its last change. */
static int64_t
time_of(const char *op)
{
	int64_t time = nsx_compare_date_in(op);
	struct stat st;

	if (time == NSX_ABSENT && strcmp(op, "-") != 0 && stat(op, &st) == 0)
		time = (int64_t)st.st_mtime * 1000000000;
	return time;
}

/* Read the runs and write their history: NSX_OK or NSX_ERR. */
static int
tell_history(struct nsx_tool *t, int nops, char **ops, const struct nsx_compare_options *options)
{
	struct nsx_compare_run *runs = calloc((size_t)nops, sizeof *runs);
	struct nsx_history h = { .table = NULL };
	int rc = runs ? NSX_OK : nsx_err_nomem(&t->err, NULL);

	for (int i = 0; i < nops && rc == NSX_OK; i++) {
		runs[i] = (struct nsx_compare_run){ path_of(t, ops[i], options->by), ops[i], time_of(ops[i]) };
		rc = runs[i].path ? NSX_OK : NSX_ERR;
	}
	if (rc == NSX_OK)
		rc = nsx_compare_history(runs, (size_t)nops, flags_of(), options, &h, &t->diags, &t->err);
	if (rc == NSX_OK) {
		nsx_tool_table.csv |= !nsx_tool_forms() && !nsx_tool_table.markdown;
		nsx_tool_sort(&cli, &h.table, 1);
		rc = nsx_tool_write_table(t, h.table, -1);
	}
	for (int i = 0; i < nops && runs; i++)
		free(runs[i].path);
	free(runs);
	nsx_history_free(&h);
	return rc;
}

/* Print a line that GitHub shows beside the run; it reads both outputs. */
static void
annotate(const char *level, const char *about, const char *text)
{
	fprintf(stderr, "::%s title=nsysx-compare::%s%s", level, about, *about ? ": " : "");
	for (; *text; text++)
		if (*text == '%' || *text == '\r' || *text == '\n')
			fprintf(stderr, "%%%02X", (unsigned)*text);
		else
			fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, stderr);
	fputc('\n', stderr);
}

/* Write XML to the file of --junit: NSX_OK or NSX_ERR. */
static int
write_junit(const struct nsx_buf *b, struct nsx_err *err)
{
	struct nsx_outfile *out = b->failed ? NULL : nsx_outfile_open(junit, err);
	int rc = out ? nsx_outfile_write(out, b->ptr, b->len) : b->failed ? nsx_err_nomem(err, junit) : NSX_ERR;

	if (rc == NSX_OK)
		rc = nsx_outfile_commit(out);
	nsx_outfile_free(out);
	return rc;
}

/* Read all: NSX_OK or NSX_ERR. */
static int
read_runs(struct nsx_tool *t, int nops, char **ops, const struct nsx_compare_options *options, struct nsx_outfile *out,
          struct nsx_compare *c, struct nsx_diags *diags)
{
	struct nsx_reader **runs = calloc((size_t)nops, sizeof *runs);
	int rc = runs ? NSX_OK : nsx_err_nomem(&t->err, NULL);

	for (int i = 0; i < nops && rc == NSX_OK; i++)
		rc = (runs[i] = open_side(t, ops[i], options->by)) ? NSX_OK : NSX_ERR;
	if (rc == NSX_OK)
		rc = nsx_compare(runs, (size_t)nops, options, out, c, diags, &t->err);
	for (int i = 0; i < nops && rc == NSX_OK; i++)
		t->unsteady |= nsx_reader_unsteady(runs[i]);
	for (int i = 0; i < nops && runs; i++)
		nsx_reader_close(runs[i]);
	free(runs);
	return rc;
}

/* What is compared if --by does not say it: thunks, else steps, else operations, whatever the streams have. Phases are
 * of thunks, else of operations in steps. */
static int
read_any(struct nsx_tool *t, int nops, char **ops, const struct nsx_compare_options *options, struct nsx_outfile *out,
         struct nsx_compare *c)
{
	static const enum nsx_compare_by instead[] = { NSX_COMPARE_STEP_PHASE, NSX_COMPARE_STEP, NSX_COMPARE_KERNEL };
	struct nsx_compare_options o = *options;
	struct nsx_diags diags = { .failed = false };
	int rc = read_runs(t, nops, ops, options, out, c, &diags);
	bool phase = o.by == NSX_COMPARE_PHASE, any = !by && !what && o.by == NSX_COMPARE_THUNK;
	/* Standard input cannot be read again. */
	bool again = (phase || any) && !out && nops == 2 && strcmp(ops[0], "-") != 0 && strcmp(ops[1], "-") != 0;

	o.any = false;
	if (rc == NSX_OK && phase && c->none && !again)
		rc = nsx_err_set(&t->err, "the streams have no thunks, which come from XLA: for phases of operations "
		                 "in each step want files, which can be read again, and no --folded");
	for (size_t i = phase ? 0 : 1; rc == NSX_OK && again && c->none && i < (phase ? 1 : 3); i++) {
		nsx_compare_free(c);
		nsx_diags_free(&diags);
		diags = (struct nsx_diags){ .failed = false };
		o.by = instead[i];
		rc = read_runs(t, nops, ops, &o, out, c, &diags);
		nsx_diag_add(&diags, NSX_INFO, "", 1, "the streams have no thunks: compared by %s%s",
		             nsx_compare_name(o.by), phase ? " of operations in each step" : "");
	}
	nsx_diags_join(&t->diags, &diags);
	nsx_diags_free(&diags);
	return rc;
}

/* Read all and write the result: NSX_OK or NSX_ERR. */
static int
compare(struct nsx_tool *t, int nops, char **ops, const struct nsx_compare_options *options, struct nsx_compare *c)
{
	struct nsx_outfile *out = NULL;
	int rc = NSX_OK;

	if (folded)
		rc = (out = nsx_outfile_open(nsx_tool_output.path, &t->err)) ? NSX_OK : NSX_ERR;
	if (rc == NSX_OK)
		rc = read_any(t, nops, ops, options, out, c);
	if (rc == NSX_OK && !folded)
		nsx_tool_sort(&cli, &c->table, 1);
	if (rc == NSX_OK)
		rc = folded ? nsx_tool_commit(t, out) : nsx_tool_write_table(t, c->table, -1);
	if (rc == NSX_OK && junit)
		rc = write_junit(&c->junit, &t->err);
	nsx_outfile_free(out);
	return rc;
}

/* The runs could not be read: the file of --junit tells why, and is not that of an earlier run. */
static void
tell_failure(const char *why)
{
	struct nsx_buf b = { 0 };
	struct nsx_err err = { "" };

	if (github)
		annotate("error", "", why);
	if (junit) {
		nsx_compare_junit_error(&b, why);
		if (write_junit(&b, &err) != NSX_OK)
			nsx_cli_warn(&cli, "%s", err.msg);
	}
	nsx_buf_free(&b);
}

/* What GitHub shows; nothing fails without --gate. */
static void
annotate_all(const struct nsx_tool *t, const struct nsx_compare *c)
{
	const char *level = gate ? "error" : "warning";

	for (size_t i = 0; i < t->diags.list.n && !nsx_cli_quiet(); i++)
		if (t->diags.list.p[i].severity == NSX_WARNING)
			annotate("warning", t->diags.list.p[i].source, t->diags.list.p[i].text);
	if (!c->comparable)
		annotate(level, nsx_compare_refusal(c), c->why);
	for (size_t i = 0; i < c->regressions.n && (c->comparable || !gate); i++)
		annotate(level, "slower", c->regressions.p[i]);
}

/* The exit status with --gate. */
static int
judge(const struct nsx_compare *c)
{
	if (!c->comparable) {
		nsx_cli_say(&cli, "%s: %s", nsx_compare_refusal(c), c->why);
		return NOT_COMPARABLE;
	}
	for (size_t i = 0; i < c->regressions.n; i++)
		nsx_cli_say(&cli, "slower: %s", c->regressions.p[i]);
	return c->regressions.n ? NSX_EXIT_FAILED : NSX_EXIT_OK;
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_compare_options options = wanted(nops, argv);
	struct nsx_tool t = { .cli = &cli };
	struct nsx_compare c = { 0 };

	if (history)
		return nsx_tool_finish(&t, tell_history(&t, nops, argv, &options));
	int rc = compare(&t, nops, argv, &options, &c);

	if (rc != NSX_OK)
		tell_failure(t.err.msg);
	else if (github)
		annotate_all(&t, &c);
	if (rc != NSX_OK && gate)
		nsx_cli_exit(&cli, NOT_COMPARABLE, t.err.msg);
	rc = nsx_tool_finish(&t, rc);
	if (gate)
		rc = judge(&c);
	else if (!c.comparable)
		nsx_cli_warn(&cli, "%s: %s", nsx_compare_refusal(&c), c.why);
	if (rc != NSX_EXIT_FAILED && c.comparable && changed && !folded && nsx_table_rows(c.table) == 0)
		nsx_cli_say(&cli, c.hidden[0] ? "nothing changed by more than noise and the limits: %s"
		                              : "nothing changed%s", c.hidden);
	nsx_compare_free(&c);
	return rc;
}
