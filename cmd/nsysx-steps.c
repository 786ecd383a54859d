/* nsysx-steps -- how long steps take, and the activities of devices in each. */
#include "base/pattern.h"
#include "base/num.h"
#include "table/idle.h"
#include "table/steps.h"
#include "tool.h"

static const char *step, *module, *explain;
static bool each;

static const struct nsx_opt opts[] = {
	NSX_OPT_STR(0, "step", &step, "REGEX",
	            "NVTX ranges whose DOMAIN:NAME matches are the steps; groups make classes"),
	NSX_OPT_STR(0, "module", &module, "NAME", "executions of the program of that name or key are the steps"),
	NSX_OPT_FLAG(0, "each", &each, "print a row for each step"),
	NSX_OPT_MAYBE(0, "explain", &explain, "P",
	              "print what made the step at percentile P longer than the median step [99]"),
	NSX_TOOL_TABLE,
	NSX_OPT_STR('o', "output", &nsx_tool_output.path, "FILE",
	            "write to FILE, which appears when it is complete [standard output]"),
	NSX_OPT_FLAG(0, "partial", &nsx_tool_input.partial, "accept a text stream without its end or headers"),
	NSX_OPT_STR(0, "require", &nsx_tool_input.require, "KIND", "fail unless the stream has a record of this kind"),
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-steps",
	"[--step REGEX | --module NAME] [--each | --explain[=P]] "
	"[--tsv | --table | --json] [--top N] [--wide] [-o FILE] [FILE]",
                                    "Print how long steps take, and how devices spent them.", opts };

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_steps_options o = { .step = step, .module = module, .each = each,
	                               .require = nsx_tool_input.require };
	struct nsx_table *table = NULL;
	struct nsx_tool t;
	const char *why;
	int64_t ndiags = 0, percentile;

	if (explain && !*explain)
		o.explain = 99;
	else if (explain && (!nsx_get_int(nsx_str_c(explain), &percentile) || percentile < 1 || percentile > 100))
		nsx_cli_misuse(&cli, "--explain=%s: want a percentile from 1 to 100", explain);
	else if (explain)
		o.explain = (int)percentile;
	if (each && explain)
		nsx_cli_misuse(&cli, "--each and --explain exclude each other");
	if (step && module)
		nsx_cli_misuse(&cli, "--step and --module exclude each other");
	why = step ? nsx_pattern_check(step) : NULL;
	if (why)
		nsx_cli_misuse(&cli, "--step %s: %s", step, why);
	nsx_tool_table_form(&cli);
	nsx_tool_open_in(&t, &cli, nops, argv, NSX_READ_ORDERED);
	int rc = nsx_steps(t.in, &o, &table, &ndiags, &t.diags, &t.err);
	if (rc == NSX_OK)
		rc = nsx_tool_write_table(&t, table, ndiags);
	rc = nsx_tool_finish(&t, rc);
	nsx_table_free(table);
	return rc;
}
