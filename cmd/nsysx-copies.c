/* nsysx-copies -- copies and sets of memory: time, bandwidth, and the part hidden behind other work. */
#include "table/copies.h"
#include "tool.h"

static const char *by;
static bool findings;

static const struct nsx_opt opts[] = {
	NSX_OPT_CHOICE(0, "by", &by, "size", "also a row for each class of sizes"),
	NSX_OPT_FLAG(0, "findings", &findings, "print the copies that break a rule (pageable, tiny, blocking) instead"),
	NSX_TOOL_TABLE,
	NSX_OPT_STR('o', "output", &nsx_tool_output.path, "FILE",
	            "write to FILE, which appears when it is complete [standard output]"),
	NSX_OPT_FLAG(0, "partial", &nsx_tool_input.partial, "accept a text stream without its end or headers"),
	NSX_OPT_STR(0, "require", &nsx_tool_input.require, "KIND", "fail unless the stream has a record of this kind"),
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-copies",
                                    "[--by size | --findings] "
	"[--tsv | --table | --json] [--only COLUMN=TEXT] [--top N] [--wide] [-o FILE] [FILE]",
	"Print memory copies: count, bytes, time, bandwidth and the share that other work hides.", opts };

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_copies_options o = { .by_size = by != NULL, .findings = findings,
	                                .require = nsx_tool_input.require };
	struct nsx_table *table = NULL;
	struct nsx_tool t;
	int64_t ndiags = 0;

	if (by && findings)
		nsx_cli_misuse(&cli, "--by and --findings exclude each other");
	o.minor = nsx_tool_table_form(&cli) != NSX_TABLE_ALIGNED || nsx_tool_table.top == 0;
	nsx_tool_open_in(&t, &cli, nops, argv, NSX_READ_ORDERED);
	t.empty = findings ? "no copy breaks one of the rules" : "no operation copies or sets memory";
	int rc = nsx_copies(t.in, &o, &table, &ndiags, &t.diags, &t.err);
	if (rc == NSX_OK)
		rc = nsx_tool_write_table(&t, table, ndiags);
	rc = nsx_tool_finish(&t, rc);
	nsx_table_free(table);
	return rc;
}
