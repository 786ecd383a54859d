/* nsysx-whatif -- how long a step would be if something changed, and which chain of work sets its length. */
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "table/whatif.h"
#include "tool.h"

static const char *step, *module, *critical;
static bool each, slack;
static NSX_VEC(const char *) changes;

static const char *
add_change(const char *arg, int operands)
{
	(void)operands;
	return nsx_vec_push(&changes, arg) ? nsx_whatif_check(arg) : "out of memory";
}

static const struct nsx_opt opts[] = {
	NSX_OPT_STR(0, "step", &step, "REGEX", "NVTX ranges whose DOMAIN:NAME matches are the steps"),
	NSX_OPT_STR(0, "module", &module, "NAME", "executions of the program of that name or key are the steps"),
	NSX_OPT_CALL(0, "what", add_change, "CHANGE", "forecast this change; may be repeated [the usual ones]"),
	NSX_OPT_MAYBE(0, "critical", &critical, "BY",
	              "print the critical path instead, by part, device, op or edge [part]"),
	NSX_OPT_FLAG(0, "slack", &slack, "print how much longer operations could take instead"),
	NSX_OPT_FLAG(0, "each", &each, "with --critical each edge, with --slack each operation"),
	NSX_TOOL_TABLE,
	NSX_OPT_STR('o', "output", &nsx_tool_output.path, "FILE",
	            "write to FILE, which appears when it is complete [standard output]"),
	NSX_OPT_FLAG(0, "partial", &nsx_tool_input.partial, "accept a text stream without its end or headers"),
	NSX_OPT_STR(0, "require", &nsx_tool_input.require, "KIND", "fail unless the stream has a record of this kind"),
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-whatif",
	"[--step REGEX | --module NAME] [--what CHANGE ... | --critical[=BY] | --slack] [--each] "
	"[--tsv | --table | --json] [--only COLUMN=TEXT] [--top N] [--wide] [-o FILE] [FILE]",
                                    "Forecast how long a step would be if something changed.", opts };

static enum nsx_whatif_form
form(void)
{
	static const struct { const char *name; enum nsx_whatif_form form; } by[] = {
		{ "", NSX_WHATIF_PART }, { "part", NSX_WHATIF_PART }, { "device", NSX_WHATIF_DEVICE },
		{ "op", NSX_WHATIF_OP }, { "edge", NSX_WHATIF_EDGES }
	};

	if (slack)
		return each ? NSX_WHATIF_SLACKS : NSX_WHATIF_SLACK;
	if (!critical)
		return NSX_WHATIF_FORECAST;
	for (size_t i = 0; i < sizeof by / sizeof *by; i++)
		if (strcmp(critical, by[i].name) == 0)
			return each ? NSX_WHATIF_EDGES : by[i].form;
	nsx_cli_misuse(&cli, "--critical=%s: want part, device, op or edge", critical);
	return NSX_WHATIF_PART;
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_whatif_options o = { .steps = { .step = step, .module = module, .require = nsx_tool_input.require },
	                                .form = form(), .changes = changes.p, .nchanges = changes.n };
	struct nsx_table *table = NULL;
	struct nsx_tool t;
	const char *why = step ? nsx_pattern_check(step) : NULL;
	int64_t ndiags = 0;

	if (step && module)
		nsx_cli_misuse(&cli, "--step and --module exclude each other");
	if (why)
		nsx_cli_misuse(&cli, "--step %s: %s", step, why);
	if ((critical != NULL) + slack + (changes.n > 0) > 1)
		nsx_cli_misuse(&cli, "--what, --critical and --slack exclude each other");
	if (each && !critical && !slack)
		nsx_cli_misuse(&cli, "--each goes with --critical or --slack");
	nsx_tool_table_form(&cli);
	nsx_tool_open_in(&t, &cli, nops, argv, NSX_READ_ORDERED);
	t.empty = "no steps: name them with --step or --module";
	int rc = nsx_whatif(t.in, &o, &table, &ndiags, &t.diags, &t.err);
	if (rc == NSX_OK)
		rc = nsx_tool_write_table(&t, table, ndiags);
	rc = nsx_tool_finish(&t, rc);
	nsx_table_free(table);
	free(changes.p);
	return rc;
}
