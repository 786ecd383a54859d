/* nsysx-launch -- the cost of launching kernels. */
#include <string.h>

#include "table/launch.h"
#include "tool.h"

static const char *by = "kernel", *names;

static const struct nsx_opt opts[] = {
	NSX_OPT_CHOICE(0, "by", &by, "kernel|range", "a row per kernel, or per innermost NVTX range [kernel]"),
	NSX_OPT_CHOICE(0, "names", &names, "key|full|digits",
	               "by range: names without what frameworks append, in full, or with digits as # [key]"),
	NSX_TOOL_TABLE,
	NSX_OPT_STR('o', "output", &nsx_tool_output.path, "FILE",
	            "write to FILE, which appears when it is complete [standard output]"),
	NSX_OPT_FLAG(0, "partial", &nsx_tool_input.partial, "accept a text stream without its end or headers"),
	NSX_OPT_STR(0, "require", &nsx_tool_input.require, "KIND", "fail unless the stream has a record of this kind"),
	NSX_OPT_END
};
static const struct nsx_cli cli = {
	"nsysx-launch",
	"[--by kernel|range] [--tsv | --table | --json] [--only COLUMN=TEXT] [--top N] [--wide] [-o FILE] [FILE]",
	"Print the calls, launch time and queue time of kernels, and how long GPUs waited for them.", opts };

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_launch_options o = { .by_range = strcmp(by, "range") == 0, .require = nsx_tool_input.require };
	struct nsx_table *table = NULL;
	struct nsx_tool t;
	int64_t ndiags = 0;

	if (names && !o.by_range)
		nsx_cli_misuse(&cli, "--names goes with --by range");
	if (names)
		nsx_names_parse(names, &o.names);
	nsx_tool_table_form(&cli);
	nsx_tool_open_in(&t, &cli, nops, argv, NSX_READ_ORDERED);
	int rc = nsx_launch(t.in, &o, &table, &ndiags, &t.diags, &t.err);
	if (rc == NSX_OK)
		rc = nsx_tool_write_table(&t, table, ndiags);
	rc = nsx_tool_finish(&t, rc);
	nsx_table_free(table);
	return rc;
}
