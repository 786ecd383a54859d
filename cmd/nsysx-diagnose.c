/* nsysx-diagnose -- what limits a job, what its steps consist of, and possible gains, ranked. */
#include <unistd.h>

#include "base/num.h"
#include "base/width.h"
#include "table/copies.h"
#include "table/diagnose.h"
#include "table/idle.h"
#include "tool.h"

static const char *min;
static bool where, all;
static int64_t gaps;

static const struct nsx_opt opts[] = {
	NSX_TOOL_STEPS,
	NSX_OPT_STR(0, "min", &min, "PERCENT", "omit findings with a smaller share of a step [0.5]"),
	NSX_OPT_FLAG(0, "where", &where, "print the step, and what devices did in it, as a table instead"),
	NSX_OPT_FLAG(0, "all", &all,
		"write all tables in one reading: % in -o stands for findings.tsv, where.tsv, step-each.tsv, "
		"summary.md"),
	NSX_OPT_INT(0, "gaps", &gaps, "N", 0, 100000000,
	            "with --all: also idle.tsv and gaps.tsv, what nsysx-idle --steps and its --list N print, "
	            "path.tsv, and copies.tsv of nsysx-copies"),
	NSX_TOOL_TABLE,
	NSX_TOOL_MARKDOWN,
	NSX_TOOL_FILE,
	NSX_TOOL_STREAM,
	NSX_OPT_END
};
static const struct nsx_cli cli = {
	"nsysx-diagnose",
	"[--step REGEX | --module NAME] [--where | --all [--gaps N]] [--tsv | --table | --json | --markdown] "
	"[--only COLUMN=TEXT] [--top N] [-o FILE] [FILE]",
	"Print what a job is bound by, where its step time goes, and ranked possible gains.", opts
};

static int
write_text(struct nsx_tool *t, const struct nsx_buf *text, const char *path)
{
	struct nsx_outfile *f = nsx_outfile_open(path, &t->err);
	int rc = NSX_ERR;

	if (f && nsx_outfile_write(f, text->ptr, text->len) == NSX_OK)
		rc = nsx_tool_commit(t, f);
	nsx_outfile_free(f);
	return rc;
}

/* The table of nsysx-copies, with what that says, under its name. */
static int
write_copies(struct nsx_tool *t, struct nsx_diagnosis *d, const char *path)
{
	static const struct nsx_cli as = { "nsysx-copies", "", "", opts };
	struct nsx_tool copies = { .cli = &as, .diags = d->of_copies, .empty = NSX_COPIES_EMPTY,
	                           .unsteady = nsx_reader_unsteady(t->in) };
	int rc = nsx_tool_write_table_to(&copies, d->copies, d->diags, path);

	d->of_copies = copies.diags;
	return rc == NSX_OK ? NSX_OK : nsx_err_set(&t->err, "%s", copies.err.msg);
}

static int
write_all(struct nsx_tool *t, struct nsx_diagnosis *d, const struct nsx_tool_part *to)
{
	int rc = nsx_tool_write_table_to(t, d->table, d->diags, to[0].path);

	if (rc == NSX_OK)
		rc = nsx_tool_write_table_to(t, d->where, d->diags, to[1].path);
	if (rc == NSX_OK)
		rc = nsx_tool_write_table_to(t, d->steps, d->diags, to[2].path);
	if (rc == NSX_OK && d->idle)
		rc = nsx_tool_write_table_to(t, d->idle, d->diags, to[4].path);
	if (rc == NSX_OK && d->gaps)
		rc = nsx_tool_write_table_to(t, d->gaps, d->diags, to[5].path);
	if (rc == NSX_OK && d->path)
		rc = nsx_tool_write_table_to(t, d->path, d->diags, to[6].path);
	if (rc == NSX_OK && d->copies)
		rc = write_copies(t, d, to[7].path);
	return rc == NSX_OK ? write_text(t, &d->text, to[3].path) : rc;
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_diagnose_options o = {
		.step = nsx_tool_steps.step, .module = nsx_tool_steps.module, .min = NSX_DIAGNOSE_MIN,
		.file = nops ? argv[0] : NULL, .require = nsx_tool_input.require
	};
	enum nsx_table_form form = nsx_tool_table_form(&cli);
	struct nsx_tool_part *to = NULL;
	size_t nto = 0;
	struct nsx_diagnosis d;
	struct nsx_tool t;

	o.top = nsx_tool_table.top >= 0 ? nsx_tool_table.top : NSX_DIAGNOSE_TOP;
	nsx_tool_check_steps(&cli, o.step, o.module);
	if (min && (!nsx_get_double(nsx_str_c(min), &o.min) || !(o.min >= 0 && o.min <= 100)))
		nsx_cli_misuse(&cli, "--min %s: want a number from 0 to 100", min);
	if (all && (where || nsx_tool_forms() > nsx_tool_table.tsv || nsx_tool_table.markdown))
		nsx_cli_misuse(&cli, "--all goes with neither --where nor another form");
	if (all)
		to = nsx_tool_parts(&cli, gaps ? "findings.tsv,where.tsv,step-each.tsv,summary.md,idle.tsv,gaps.tsv,"
		                            "path.tsv,copies.tsv"
		                    : "findings.tsv,where.tsv,step-each.tsv,summary.md", nsx_tool_output.path, &nto);
	else if (gaps)
		nsx_cli_misuse(&cli, "--gaps goes with --all");
	o.all = all;
	o.gaps = gaps;
	if (where)
		o.form = NSX_DIAGNOSE_WHERE;
	else if (form == NSX_TABLE_ALIGNED || form == NSX_TABLE_MARKDOWN)
		o.form = form == NSX_TABLE_ALIGNED ? NSX_DIAGNOSE_SCREEN : NSX_DIAGNOSE_MARKDOWN;
	if (o.form == NSX_DIAGNOSE_SCREEN && nsx_tool_to_terminal())
		o.width = nsx_terminal_width(STDOUT_FILENO);
	if (nsx_tool_rows.tests.n && (all || (!where && form != NSX_TABLE_TSV && form != NSX_TABLE_JSON
	    && form != NSX_TABLE_CSV
	    && form != NSX_TABLE_OPENMETRICS)))
		nsx_cli_misuse(&cli, "--only goes with one table: --tsv, --json or --where");
	nsx_tool_open_in(&t, &cli, nops, argv, NSX_READ_ORDERED);
	int rc = nsx_diagnose(t.in, &o, &d, &t.diags, &t.err);
	if (rc == NSX_OK)
		rc = all ? write_all(&t, &d, to) : d.table ? nsx_tool_write_table(&t, d.table, d.diags)
		     : write_text(&t, &d.text, nsx_tool_output.path);
	rc = nsx_tool_finish(&t, rc);
	nsx_diagnosis_free(&d);
	nsx_tool_parts_free(to, nto);
	return rc;
}
