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

static int
make(struct nsx_tool *t, const void *options, struct nsx_table **table, int64_t *diags)
{
	t->empty = findings ? "no copy breaks one of the rules" : NSX_COPIES_EMPTY;
	return nsx_copies(t->in, options, table, diags, &t->diags, &t->err);
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_copies_options o = { .by_size = by != NULL, .findings = findings,
	                                .require = nsx_tool_input.require };

	if (by && findings)
		nsx_cli_misuse(&cli, "--by and --findings exclude each other");
	o.minor = nsx_tool_table_form(&cli) != NSX_TABLE_ALIGNED || nsx_tool_table.top == 0;
	return nsx_tool_print(&cli, nops, argv, NSX_READ_ORDERED, make, &o);
}
