/* nsysx-overlap -- set on every thunk the part of its time that is hidden behind computation, in one pass. */
#include "filter/overlap.h"
#include "tool.h"

static int64_t hold_mib = 64;

static const struct nsx_opt opts[] = {
	NSX_OPT_INT(0, "hold", &hold_mib, "MIB", 0, 1 << 20,
	            "memory for waiting records; further ones go to a temporary file [64]"),
	NSX_TOOL_OUTPUT,
	NSX_TOOL_INPUT,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-overlap", "[-b] [-z[LEVEL]] [-o FILE] [FILE]",
                                    "Add to every communicating thunk and operation the time that computation hides.",
                                    opts };

int
main(int argc, char **argv)
{
	struct nsx_tool t;

	argc = nsx_cli_parse(&cli, argc, argv);
	nsx_tool_open(&t, &cli, argc, argv, NSX_READ_ORDERED);
	/* Headers are held back together with the records that they preceded. */
	nsx_writer_follow(t.out, NULL);
	return nsx_tool_finish(&t, nsx_overlap(t.in, t.out, (size_t)hold_mib << 20, &t.diags, &t.err));
}
