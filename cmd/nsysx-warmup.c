/* nsysx-warmup -- drop what programs do only once: their first executions, in which they warm up. */
#include "filter/warmup.h"
#include "tool.h"

static bool init, mark;

static const struct nsx_opt opts[] = {
	NSX_OPT_FLAG(0, "init", &init, "write initialisation instead of the steady state"),
	NSX_OPT_FLAG(0, "mark", &mark, "keep everything and add a column phase: init or steady"),
	NSX_TOOL_OUTPUT,
	NSX_TOOL_INPUT,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-warmup", "[--init | --mark] [-b] [-z[LEVEL]] [-o FILE] [FILE]",
                                    "Keep the steady state of a stream.", opts };

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_tool t;

	if (init && mark)
		nsx_cli_misuse(&cli, "--init and --mark exclude each other");
	nsx_tool_open(&t, &cli, nops, argv, NSX_READ_ORDERED);
	return nsx_tool_finish(&t, nsx_warmup(t.in, t.out, init ? NSX_WARMUP_INIT : mark
	                                      ? NSX_WARMUP_MARK : NSX_WARMUP_STEADY,
	                                      &t.diags, &t.err));
}
