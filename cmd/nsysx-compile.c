/* nsysx-compile -- where compilation time goes: a table, or the text per compilation. */
#include <string.h>
#include <unistd.h>

#include "base/width.h"
#include "extract/compile_csv.h"
#include "table/compile.h"
#include "table/compile_again.h"
#include "tool.h"

static bool summary, full, loading, again;
static const char *by;

static const struct nsx_opt opts[] = {
	NSX_OPT_CHOICES(0, "by", &by, "range|pass|phase|module|process", "what a row stands for; a table each [range]"),
	NSX_OPT_FLAG(0, "loading", &loading,
	             "report the loading of libraries in the first compilation of a process separately"),
	NSX_OPT_FLAG(0, "summary", &summary,
	             "print a text for each compilation instead: what takes 99 % of it, by kind of range"),
	NSX_OPT_FLAG(0, "full", &full, "with --summary: by whole names of ranges"),
	NSX_OPT_FLAG(0, "again", &again,
	             "print why functions were compiled again instead; operands are HLO dumps, or folders of them"),
	NSX_TOOL_TABLE,
	NSX_TOOL_FILES,
	NSX_TOOL_INPUT,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-compile",
                                    "[--by WHAT | --summary [--full] | --again DUMP...] "
	NSX_TOOL_TABLE_USAGE "[FILE]",
                                    "Print where compilation time goes.", opts };

static int
print_table(int nops, char **ops)
{
	enum nsx_compile_by ways[NSX_COMPILE_NBY];
	struct nsx_compile_opts how = { .by = ways, .loading = loading, .some = nsx_tool_input.require,
	                                .csv = nsx_extract_compile_csv };
	const char *list = by ? by : "range";
	struct nsx_tool_part *parts = nsx_tool_parts(&cli, list, nsx_tool_output.path, &how.nby);

	if (full)
		nsx_cli_misuse(&cli, "--full goes with --summary");
	for (size_t i = 0; i < how.nby; i++) {
		ways[i] = (enum nsx_compile_by)nsx_compile_by_name(parts[i].name);
		if (loading && (ways[i] == NSX_COMPILE_PASS || ways[i] == NSX_COMPILE_PROCESS))
			nsx_cli_misuse(&cli, "--loading goes with --by range, phase and module");
	}
	nsx_tool_parts_free(parts, how.nby);
	return nsx_tool_print(&cli, nops, ops, &(struct nsx_tool_tables){
		.flags = NSX_READ_ORDERED, .parts = list, .read = nsx_compile, .options = &how,
		.empty = "no compile records, which come from XLA's ranges in exports: profile a run that compiles "
		         "with nsys, --trace=cuda,nvtx" });
}

static int
print_summary(int nops, char **ops)
{
	int64_t compilations;
	struct nsx_tool t;
	size_t width = nsx_tool_to_terminal() && !nsx_tool_table.wide ? nsx_terminal_width(STDOUT_FILENO) : 0;

	if (by || loading)
		nsx_cli_misuse(&cli, "--by and --loading do not go with --summary");
	if (nsx_tool_forms())
		nsx_cli_misuse(&cli, "--tsv, --table and --json do not go with --summary");
	if (nsx_tool_table.top >= 0)
		nsx_cli_misuse(&cli, "--top does not go with --summary");
	nsx_tool_open_in(&t, &cli, nops, ops, 0);
	struct nsx_outfile *out = nsx_outfile_open(nsx_tool_output.path, &t.err);
	int rc = out ? nsx_compile_summary(t.in, full, width, out, &compilations, &t.diags, &t.err) : NSX_ERR;
	if (rc == NSX_OK && nsx_tool_input.require && !compilations)
		rc = nsx_err_set(&t.err, "%s: no compilation", t.in_name);
	if (rc == NSX_OK)
		rc = nsx_tool_commit(&t, out);
	rc = nsx_tool_finish(&t, rc);
	nsx_outfile_free(out);
	return rc;
}

static int
print_again(int nops, char **ops)
{
	struct nsx_tool t = { .cli = &cli };
	char *standard[] = { (char[]){ "-" } };

	if (by || loading || summary || full)
		nsx_cli_misuse(&cli, "--again goes without --by, --summary, --full and --loading");
	nsx_tool_table_form(&cli);
	nsx_tool_progress(&cli, nops, ops);
	struct nsx_table *table = nsx_compile_again(nops ? ops : standard, nops ? nops : 1, &t.diags, &t.err);
	return nsx_tool_finish_tables(&t, table ? NSX_OK : NSX_ERR, NULL, &table, 1, -1);
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);

	if (nsx_tool_input.require && strcmp(nsx_tool_input.require, "compile") != 0)
		nsx_cli_misuse(&cli, "--require: this table uses compile records only");
	return again ? print_again(nops, argv) : summary ? print_summary(nops, argv) : print_table(nops, argv);
}
