/* nsysx-whatif -- how long a step would be if something changed, and which chain of work sets its length. */
#include <stdlib.h>
#include <string.h>

#include "table/whatif.h"
#include "tool.h"

static const char *critical;
static bool each, slack;
static NSX_VEC(const char *) changes;

static const char *
add_change(const char *arg, int operands)
{
	(void)operands;
	return nsx_vec_push(&changes, arg) ? nsx_whatif_check(arg) : "out of memory";
}

static const struct nsx_opt opts[] = {
	NSX_TOOL_STEPS,
	NSX_OPT_CALL(0, "what", add_change, "CHANGE",
	             "forecast this change: faster:ERE=K, limit, copies=K, transfer=K, nowait, even, host=K, api=K, "
	             "sync=0, gaps=0, profiler=0; may be repeated [the usual ones]"),
	NSX_OPT_MAYBE(0, "critical", &critical, "BY",
	              "print the critical path instead: mean, or each step's by part or device, by op or edge [mean]"),
	NSX_OPT_FLAG(0, "slack", &slack, "print how much longer operations could take instead"),
	NSX_OPT_FLAG(0, "each", &each, "with --critical each edge, with --slack each operation"),
	NSX_TOOL_TABLE,
	NSX_TOOL_FILE,
	NSX_TOOL_STREAM,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-whatif",
	"[--step REGEX | --module NAME] [--what CHANGE ... | --critical[=BY] | --slack] [--each] "
	NSX_TOOL_TABLE_USAGE "[FILE]",
                                    "Forecast how long a step would be if something changed.", opts };

static enum nsx_whatif_form
form(void)
{
	static const struct { const char *name; enum nsx_whatif_form form; } by[] = {
		{ "", NSX_WHATIF_MEAN }, { "mean", NSX_WHATIF_MEAN }, { "part", NSX_WHATIF_PART },
		{ "device", NSX_WHATIF_DEVICE }, { "op", NSX_WHATIF_OP }, { "edge", NSX_WHATIF_EDGES }
	};

	if (slack)
		return each ? NSX_WHATIF_SLACKS : NSX_WHATIF_SLACK;
	if (!critical)
		return NSX_WHATIF_FORECAST;
	for (size_t i = 0; i < sizeof by / sizeof *by; i++)
		if (strcmp(critical, by[i].name) == 0)
			return each ? NSX_WHATIF_EDGES : by[i].form;
	nsx_cli_misuse(&cli, "--critical=%s: want mean, part, device, op or edge", critical);
	return NSX_WHATIF_MEAN;
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_whatif_options o = { .steps = { .step = nsx_tool_steps.step, .module = nsx_tool_steps.module,
	                                           .require = nsx_tool_input.require },
	                                .form = form(), .changes = changes.p, .nchanges = changes.n };
	int rc;

	if ((critical != NULL) + slack + (changes.n > 0) > 1)
		nsx_cli_misuse(&cli, "--what, --critical and --slack exclude each other");
	if (each && !critical && !slack)
		nsx_cli_misuse(&cli, "--each goes with --critical or --slack");
	nsx_tool_check_steps(&cli, o.steps.step, o.steps.module);
	rc = nsx_tool_print(&cli, nops, argv, &(struct nsx_tool_tables){
		.flags = NSX_READ_ORDERED, .read = nsx_whatif, .options = &o,
		.empty = "no step has a period: name steps with --step or --module" });
	free(changes.p);
	return rc;
}
