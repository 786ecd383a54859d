/* nsysx-perfetto -- a stream as a trace for Perfetto, or for Chrome's viewer. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "draw/perfetto.h"
#include "base/num.h"
#include "base/vec.h"
#include "tool.h"

static bool chrome, no_flows;
static NSX_VEC(const char *) dumps;
static NSX_VEC(struct nsx_perfetto_range) devices;

static const struct nsx_cli cli;

static const char *
add_dump(const char *arg, int operands)
{
	(void)operands;
	if (!nsx_vec_push(&dumps, arg))
		nsx_cli_die(&cli, NULL);
	return NULL;
}

/* LIST: N or N-M, several after commas. */
static const char *
add_devices(const char *arg, int operands)
{
	(void)operands;
	for (const char *p = arg, *end; ; p = end + 1) {
		end = p + strcspn(p, ",");
		size_t n = (size_t)(end - p), dash = strcspn(p, "-");
		struct nsx_perfetto_range r;
		bool two = dash < n;

		if (!nsx_get_int((struct nsx_str){ p, two ? dash : n }, &r.from) || r.from < 0
		    || !nsx_get_int(two ? (struct nsx_str){ p + dash + 1, n - dash - 1 } : (struct nsx_str){ p, n },
		                    &r.to)
		    || r.to < r.from)
			return "want numbers of devices and ranges of them, such as 0-7,1023";
		if (!nsx_vec_push(&devices, r))
			nsx_cli_die(&cli, NULL);
		if (!*end)
			return NULL;
	}
}

static const struct nsx_opt opts[] = {
	NSX_OPT_CALL('x', "dump", add_dump, "DIR",
	             "folder of HLO dumps: draw the heap memory of the programs in it; may be repeated"),
	NSX_OPT_CALL(0, "devices", add_devices, "LIST",
	             "draw only these devices, such as 0-7,1023 [all, or of more than 64 those that matter most]"),
	NSX_OPT_FLAG(0, "chrome", &chrome, "write JSON, as Chrome's viewer reads it [Perfetto's protocol buffers]"),
	NSX_OPT_FLAG(0, "no-flows", &no_flows,
	             "draw no arrows from launches to GPU work and between the devices of a collective"),
	NSX_TOOL_FILE,
	NSX_TOOL_STREAM,
	NSX_TOOL_UNPACK,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-perfetto",
                                    "[-x DIR]... [--devices LIST] [--chrome] [--no-flows] [-o FILE] [FILE]",
                                    "Write a stream as a trace for Perfetto.", opts };

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv), rc = NSX_ERR;
	const char *path = nsx_tool_output.path;
	struct nsx_perfetto_options options = { .chrome = chrome, .flows = !no_flows, .dumps = dumps.p,
	                                        .ndumps = (int)dumps.n, .devices = devices.p,
	                                        .ndevices = devices.n,
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
	free(devices.p);
	return rc;
}
