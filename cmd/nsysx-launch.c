/* nsysx-launch -- the cost of launching kernels. */
#include <string.h>

#include "table/launch.h"
#include "tool.h"

static const char *by = "kernel", *names;

static const struct nsx_opt opts[] = {
	NSX_OPT_CHOICE(0, "by", &by, "kernel|range|stretch|graph",
	               "a row per kernel, innermost NVTX range, stretch of launches, or CUDA graph [kernel]"),
	NSX_OPT_CHOICE(0, "names", &names, "key|full|digits",
	               "by range: names without what frameworks append, in full, or with digits as # [key]"),
	NSX_TOOL_TABLE,
	NSX_TOOL_FILE,
	NSX_TOOL_STREAM,
	NSX_OPT_END
};
static const struct nsx_cli cli = {
	"nsysx-launch",
	"[--by kernel|range|stretch|graph] " NSX_TOOL_TABLE_USAGE "[FILE]",
	"Print the calls, launch time and queue time of kernels, and how long GPUs waited for them.", opts };

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_launch_options o = { .by_range = strcmp(by, "range") == 0 };

	if (names && !o.by_range)
		nsx_cli_misuse(&cli, "--names goes with --by range");
	if (names)
		nsx_names_parse(names, &o.names);
	return nsx_tool_print(&cli, nops, argv, &(struct nsx_tool_tables){
		.flags = NSX_READ_ORDERED, .runs = &(struct nsx_analysis_run){
			.options = &o, .is = strcmp(by, "stretch") == 0 ? &nsx_launch_stretches
			               : strcmp(by, "graph") == 0 ? &nsx_launch_graphs
			               : o.by_range ? &nsx_launch_ranges : &nsx_launch_analysis } });
}
