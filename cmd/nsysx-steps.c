/* nsysx-steps -- how long steps take, and the activities of devices in each. */
#include "base/pattern.h"
#include "base/num.h"
#include "filter/steps.h"
#include "table/steps.h"
#include "tool.h"

static const char *step, *module, *explain;
static bool each, cut, mark;

static const struct nsx_opt opts[] = {
	NSX_OPT_STR(0, "step", &step, "REGEX",
	            "NVTX ranges whose DOMAIN:NAME matches are the steps; groups make classes"),
	NSX_OPT_STR(0, "module", &module, "NAME", "executions of the program of that name or key are the steps"),
	NSX_OPT_FLAG(0, "each", &each, "print a row for each step"),
	NSX_OPT_MAYBE(0, "explain", &explain, "P",
	              "print what made the step at percentile P longer than the median step [99]"),
	NSX_OPT_FLAG(0, "mark", &mark, "write the stream instead, with a step record for each step"),
	NSX_OPT_FLAG(0, "cut", &cut,
	    "write a stream instead: what begins in the periods of steps that count, and the steps"),
	NSX_TOOL_TABLE,
	NSX_TOOL_OUTPUT,
	NSX_OPT_FLAG(0, "partial", &nsx_tool_input.partial, "accept a text stream without its end or headers"),
	NSX_OPT_STR(0, "require", &nsx_tool_input.require, "KIND", "fail unless the stream has a record of this kind"),
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-steps",
	"[--step REGEX | --module NAME] [--each | --explain[=P] | --mark | --cut [-b] [-z[LEVEL]]] "
	"[--tsv | --table | --json] [--only COLUMN=TEXT] [--top N] [--wide] [-o FILE] [FILE]",
                                    "Print how long steps take, and how devices spent them.", opts };

static int
write_stream(int nops, char **ops, const struct nsx_steps_options *o)
{
	const struct nsx_steps_wanted wanted = { .step = o->step, .module = o->module, .require = o->require };
	struct nsx_tool t;

	if (nsx_tool_forms() || nsx_tool_table.top >= 0
	    || nsx_tool_table.wide || nsx_tool_rows.tests.n)
		nsx_cli_misuse(&cli, "--mark and --cut write a stream: options of tables do not go with them");
	nsx_tool_open(&t, &cli, nops, ops, NSX_READ_ORDERED);
	/* The headers of the second reading are written. */
	nsx_writer_follow(t.out, NULL);
	return nsx_tool_finish(&t, nsx_steps_write(t.in, &wanted, cut, t.out, &t.diags, &t.err));
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_steps_options o = { .step = step, .module = module, .require = nsx_tool_input.require,
	                               .each = each };
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
	if (each + mark + cut + (explain != NULL) > 1)
		nsx_cli_misuse(&cli, "--each, --explain, --mark and --cut exclude each other");
	if (!cut && !mark && (nsx_tool_output.binary || nsx_tool_output.text || nsx_tool_output.zlevel))
		nsx_cli_misuse(&cli, "--binary, --text and --compress do not go with a table");
	if (step && module)
		nsx_cli_misuse(&cli, "--step and --module exclude each other");
	why = step ? nsx_pattern_check(step) : NULL;
	if (why)
		nsx_cli_misuse(&cli, "--step %s: %s", step, why);
	if (cut || mark)
		return write_stream(nops, argv, &o);
	nsx_tool_table_form(&cli);
	nsx_tool_open_in(&t, &cli, nops, argv, NSX_READ_ORDERED);
	int rc = nsx_steps(t.in, &o, &table, &ndiags, &t.diags, &t.err);
	if (rc == NSX_OK)
		rc = nsx_tool_write_table(&t, table, ndiags);
	rc = nsx_tool_finish(&t, rc);
	nsx_table_free(table);
	return rc;
}
