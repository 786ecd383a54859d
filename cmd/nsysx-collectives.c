/* nsysx-collectives -- add `collective` records with size, group and bandwidth, or print tables of collectives. */
#include <string.h>

#include "table/bandwidth.h"
#include "table/nccl_instances.h"
#include "filter/collectives.h"
#include "tool.h"

static bool summary, instances, each;
static const char *by;
static int64_t hold_mib = 64;

static const struct nsx_opt opts[] = {
	NSX_OPT_FLAG(0, "summary", &summary, "print a table by collective, message size and group size instead"),
	NSX_OPT_CHOICE(0, "by", &by, "collective|instruction|axis|group",
	               "with --summary: rows by kind and size, by instruction, by axis of their mesh, or by group "
	               "[collective]"),
	NSX_OPT_FLAG(0, "instances", &instances, "print a row for each instance of NCCL's communicators instead"),
	NSX_OPT_FLAG(0, "each", &each, "print a row for each operation of these instances instead"),
	NSX_OPT_INT(0, "hold", &hold_mib, "MIB", 0, 1 << 20,
	            "memory for waiting records; further ones go to a temporary file [64]"),
	NSX_TOOL_SORT,
	NSX_TOOL_TABLE,
	NSX_TOOL_OUTPUT,
	NSX_TOOL_INPUT,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-collectives",
	"[-b] [-z[LEVEL]] [--summary [--by WHAT] | --instances | --each] "
	NSX_TOOL_TABLE_USAGE "[FILE]",
                                    "Add records of collectives with their bandwidths, or sum them up.", opts };

static int
add_records(int nops, char **ops)
{
	struct nsx_tool t;

	if (nsx_tool_table.sort)
		nsx_cli_misuse(&cli, "--sort goes with --summary, --instances and --each");
	if (nsx_tool_rows.tests.n)
		nsx_cli_misuse(&cli, "--only goes with --summary, --instances and --each");
	if (nsx_tool_forms())
		nsx_cli_misuse(&cli, "--tsv, --table and --json go with --summary, --instances and --each");
	nsx_tool_open(&t, &cli, nops, ops, NSX_READ_ORDERED);
	return nsx_tool_finish(&t, nsx_collectives(t.in, t.out, (size_t)hold_mib << 20, &t.diags, &t.err));
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	const char *require = nsx_tool_input.require;

	if (by && !summary)
		nsx_cli_misuse(&cli, "--by goes with --summary");
	if (!summary && !instances && !each)
		return add_records(nops, argv);
	if (summary + instances + each > 1)
		nsx_cli_misuse(&cli, "--summary, --instances and --each exclude each other");
	nsx_tool_no_stream(&cli);
	if (require && strcmp(require, "collective") != 0)
		nsx_cli_misuse(&cli, "--require: this table uses collective records only");
	const struct nsx_bandwidth_options sums = { .some = require, .by = !by || strcmp(by, "collective") == 0
		? NSX_BANDWIDTH_COLLECTIVE : strcmp(by, "instruction") == 0 ? NSX_BANDWIDTH_INSTRUCTION
		: strcmp(by, "axis") == 0 ? NSX_BANDWIDTH_AXIS : NSX_BANDWIDTH_GROUP };
	const struct nsx_nccl_options rows = { .each = each, .some = require };

	return nsx_tool_print(&cli, nops, argv, summary ? &(struct nsx_tool_tables){
		.flags = NSX_READ_ORDERED, .read = nsx_bandwidth, .options = &sums,
		.empty = "no collective: neither thunks nor operations (extract with --ops) communicate"
	} : &(struct nsx_tool_tables){
		.flags = NSX_READ_ORDERED, .read = nsx_nccl_instances, .options = &rows,
		.empty = "no instance of NCCL's communicators: extract with --ops from an export made with "
		         "--include-blobs=true" });
}
