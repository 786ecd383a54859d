/* nsysx-steps -- how long steps take, and the activities of devices in each. */
#include "base/num.h"
#include "filter/steps.h"
#include "table/by_groups.h"
#include "table/steps.h"
#include "tool.h"

static const char *explain, *by;
static bool each, cut, mark;

static const struct nsx_opt opts[] = {
	NSX_TOOL_STEPS,
	NSX_OPT_CHOICE(0, "by", &by, "device|" NSX_GROUPINGS, "what a row is, besides a class of steps [device]"),
	NSX_OPT_FLAG(0, "each", &each, "print a row for each step"),
	NSX_OPT_MAYBE(0, "explain", &explain, "P",
	              "print what made the step at percentile P longer than the median step [99]"),
	NSX_OPT_FLAG(0, "mark", &mark, "write the stream instead, with a step record for each step"),
	NSX_OPT_FLAG(0, "cut", &cut,
	    "write a stream instead: what begins in the periods of steps that count, and the steps"),
	NSX_TOOL_TABLE,
	NSX_TOOL_OUTPUT,
	NSX_TOOL_STREAM,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-steps",
	"[--step REGEX | --module NAME] [--by WHAT | --each | --explain[=P] | --mark | --cut [-b] [-z[LEVEL]]] "
	NSX_TOOL_TABLE_USAGE "[FILE]",
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

static int
make(struct nsx_tool *t, const void *options, struct nsx_table **table, int64_t *diags)
{
	struct nsx_device_groups groups = { .err = &t->err };
	struct nsx_grouping g;
	bool grouped = by && nsx_grouping_parse(by, &g);
	int rc;

	if (grouped)
		nsx_device_groups_listen(&groups, t->in);
	rc = nsx_steps(t->in, options, table, diags, &t->diags, &t->err);
	if (rc == NSX_OK && grouped
	    && (rc = nsx_table_by_groups(table, &nsx_groups_of_steps, &g, &groups, &t->diags, &t->err)) != NSX_OK)
		nsx_table_free(*table);
	nsx_device_groups_free(&groups);
	return rc;
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_steps_options o = { .step = nsx_tool_steps.step, .module = nsx_tool_steps.module, .each = each,
	                               .require = nsx_tool_input.require };
	int64_t percentile;

	if (explain && !*explain)
		o.explain = 99;
	else if (explain && (!nsx_get_int(nsx_str_c(explain), &percentile) || percentile < 1 || percentile > 100))
		nsx_cli_misuse(&cli, "--explain=%s: want a percentile from 1 to 100", explain);
	else if (explain)
		o.explain = (int)percentile;
	if (each + mark + cut + (explain != NULL) > 1)
		nsx_cli_misuse(&cli, "--each, --explain, --mark and --cut exclude each other");
	if (by && each + mark + cut + (explain != NULL))
		nsx_cli_misuse(&cli, "--by does not go with --each, --explain, --mark and --cut");
	if (!cut && !mark)
		nsx_tool_no_stream(&cli);
	nsx_tool_check_steps(&cli, o.step, o.module);
	if (cut || mark)
		return write_stream(nops, argv, &o);
	return nsx_tool_print(&cli, nops, argv, NSX_READ_ORDERED, make, &o);
}
