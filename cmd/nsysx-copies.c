/* nsysx-copies -- copies and sets of memory: time, bandwidth, and the part hidden behind other work. */
#include "table/copies.h"
#include "tool.h"

static const char *by;
static bool findings;

static const struct nsx_opt opts[] = {
	NSX_OPT_CHOICE(0, "by", &by, "size", "also a row for each class of sizes"),
	NSX_OPT_FLAG(0, "findings", &findings, "print the copies that break a rule (pageable, tiny, blocking) instead"),
	NSX_TOOL_TABLE,
	NSX_TOOL_FILE,
	NSX_TOOL_STREAM,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-copies",
                                    "[--by size | --findings] "
	NSX_TOOL_TABLE_USAGE "[FILE]",
	"Print memory copies: count, bytes, time, bandwidth and the share that other work hides.", opts };

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_copies_options o = { .by_size = by != NULL, .findings = findings };

	if (by && findings)
		nsx_cli_misuse(&cli, "--by and --findings exclude each other");
	o.minor = nsx_tool_table_form(&cli) != NSX_TABLE_ALIGNED || nsx_tool_table.top == 0;
	return nsx_tool_print(&cli, nops, argv, &(struct nsx_tool_tables){
		.flags = NSX_READ_ORDERED,
		.runs = &(struct nsx_analysis_run){ .is = &nsx_copies_analysis, .options = &o },
		.empty = findings ? "no copy breaks one of the rules" : NSX_COPIES_EMPTY });
}
