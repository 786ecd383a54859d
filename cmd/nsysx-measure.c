/* nsysx-measure -- GPU time of a program or an NVTX range, execution by execution. */
#include "table/measure.h"
#include "tool.h"

static const char *module, *range, *names;
static bool stats, list;
static int64_t skip;

static const struct nsx_opt opts[] = {
	NSX_OPT_STR(0, "module", &module, "NAME", "measure the executions of the program of that name or key"),
	NSX_OPT_STR(0, "range", &range, "NAME", "measure the NVTX ranges of that name or key, or DOMAIN:NAME"),
	NSX_OPT_CHOICE(0, "names", &names, "key|full|digits",
	               "what NAME may be besides a full name: a key, nothing else, or a key with digits as # [key]"),
	NSX_OPT_INT(0, "skip", &skip, "N", 0, INT64_MAX, "skip the executions with lower numbers [0]"),
	NSX_OPT_FLAG(0, "stats", &stats, "print statistics over the executions instead"),
	NSX_OPT_FLAG(0, "list", &list, "print every GPU operation instead"),
	NSX_TOOL_TABLE,
	NSX_OPT_STR('o', "output", &nsx_tool_output.path, "FILE",
	            "write to FILE, which appears when it is complete [standard output]"),
	NSX_OPT_FLAG(0, "partial", &nsx_tool_input.partial, "accept a text stream without its end or headers"),
	NSX_OPT_STR(0, "require", &nsx_tool_input.require, "KIND", "fail unless the stream has a record of this kind"),
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-measure",
	"--module NAME | --range NAME [--names FORM] [--skip N] [--stats | --list] "
	"[--tsv | --table | --json] [--only COLUMN=TEXT] [--top N] [--wide] [-o "
	"FILE] [FILE]",
                                    "Print the GPU time of each execution of a program or a range.", opts };

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_measure_options options = {
		.what = stats ? NSX_MEASURE_STATS : list ? NSX_MEASURE_LIST : NSX_MEASURE_EXECUTIONS,
		.module = module, .range = range, .skip = skip, .require = nsx_tool_input.require,
	};
	struct nsx_measure m;
	struct nsx_tool t;

	if (!module == !range)
		nsx_cli_misuse(&cli, "want one of --module and --range");
	if (names && !range)
		nsx_cli_misuse(&cli, "--names goes with --range");
	if (names)
		nsx_names_parse(names, &options.names);
	if (stats && list)
		nsx_cli_misuse(&cli, "--stats and --list exclude each other");
	nsx_tool_table_form(&cli);
	nsx_tool_open_in(&t, &cli, nops, argv, NSX_READ_ORDERED);
	int rc = nsx_measure(t.in, &options, &m, &t.diags, &t.err);
	if (rc == NSX_OK)
		rc = nsx_tool_write_table(&t, m.table, m.diags);
	rc = nsx_tool_finish(&t, rc);
	nsx_table_free(m.table);
	return rc;
}
