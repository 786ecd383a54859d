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
	NSX_TOOL_FILE,
	NSX_TOOL_STREAM,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-measure",
	"--module NAME | --range NAME [--names FORM] [--skip N] [--stats | --list] "
	NSX_TOOL_TABLE_USAGE "[FILE]",
                                    "Print the GPU time of each execution of a program or a range.", opts };

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_measure_options options = {
		.what = stats ? NSX_MEASURE_STATS : list ? NSX_MEASURE_LIST : NSX_MEASURE_EXECUTIONS,
		.module = module, .range = range, .skip = skip, .require = nsx_tool_input.require,
	};

	if (!module == !range)
		nsx_cli_misuse(&cli, "want one of --module and --range");
	if (names && !range)
		nsx_cli_misuse(&cli, "--names goes with --range");
	if (names)
		nsx_names_parse(names, &options.names);
	if (stats && list)
		nsx_cli_misuse(&cli, "--stats and --list exclude each other");
	return nsx_tool_print(&cli, nops, argv, &(struct nsx_tool_tables){
		.flags = NSX_READ_ORDERED, .read = nsx_measure, .options = &options });
}
