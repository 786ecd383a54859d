/* nsysx-perfetto -- a stream as a trace for Perfetto, or for Chrome's viewer. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "draw/perfetto.h"
#include "base/vec.h"
#include "tool.h"

static bool chrome, no_flows;
static NSX_VEC(const char *) dumps;

static const struct nsx_cli cli;

static const char *
add_dump(const char *arg, int operands)
{
	(void)operands;
	if (!nsx_vec_push(&dumps, arg))
		nsx_cli_die(&cli, NULL);
	return NULL;
}

static const struct nsx_opt opts[] = {
	NSX_OPT_CALL('x', "dump", add_dump, "DIR",
	             "folder of HLO dumps: draw the heap memory of the programs in it; may be repeated"),
	NSX_OPT_FLAG(0, "chrome", &chrome, "write JSON, as Chrome's viewer reads it [Perfetto's protocol buffers]"),
	NSX_OPT_FLAG(0, "no-flows", &no_flows,
	             "draw no arrows from launches to GPU work and between the devices of a collective"),
	NSX_TOOL_FILE,
	NSX_TOOL_STREAM,
	NSX_TOOL_UNPACK,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-perfetto", "[-x DIR]... [--chrome] [--no-flows] [-o FILE] [FILE]",
                                    "Write a stream as a trace for Perfetto.", opts };

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv), rc = NSX_ERR;
	const char *path = nsx_tool_output.path;
	struct nsx_perfetto_options options = { .chrome = chrome, .flows = !no_flows, .dumps = dumps.p,
	                                        .ndumps = (int)dumps.n,
	                                        .require = nsx_tool_input.require };
	struct nsx_tool t;

	if (!chrome && (!path || strcmp(path, "-") == 0) && isatty(STDOUT_FILENO))
		nsx_cli_misuse(&cli, "a trace to a terminal: want -o FILE or a pipe");
	nsx_tool_open_in(&t, &cli, nops, argv, NSX_READ_ORDERED);
	struct nsx_outfile *out = nsx_outfile_open(path, &t.err);
	if (out)
		rc = nsx_perfetto(t.in, &options, out, &t.diags, &t.err);
	if (rc == NSX_OK)
		rc = nsx_tool_commit(&t, out);
	rc = nsx_tool_finish(&t, rc);
	nsx_outfile_free(out);
	free(dumps.p);
	return rc;
}
