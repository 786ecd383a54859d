/* nsysx-pgle -- a stream's instruction costs as profiles for XLA's latency-hiding scheduler. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/vec.h"
#include "table/pgle.h"
#include "tool.h"

static const char *dir;
static struct nsx_pgle_options options;
static NSX_VEC(const char *) dumps;
static const struct nsx_cli cli;

static const char *
add_dumps(const char *arg, int operands)
{
	(void)operands;
	if (!nsx_vec_push(&dumps, arg))
		nsx_cli_die(&cli, NULL);
	return NULL;
}

static const struct nsx_opt opts[] = {
	NSX_OPT_STR('d', "dir", &dir, "DIR", "write FINGERPRINT.pbtxt files into DIR, which is created if needed"),
	NSX_OPT_CALL(0, "complete", add_dumps, "DUMPS",
		"add costs of instructions that XLA asks for but that never ran, from the HLO dumps in folder DUMPS; "
		"may be repeated"),
	NSX_OPT_FLAG(0, "max", &options.longest,
		"a collective costs its longest duration, with waiting [its median transfer]"),
	NSX_TOOL_PARTIAL,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-pgle", "-d DIR [--complete=DUMPS]... [--max] [FILE]",
                                    "Write the costs of instructions as profiles for XLA's scheduler.", opts };

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_tool t;
	int64_t files;

	if (!dir)
		nsx_cli_misuse(&cli, "--dir is needed");
	options.complete = dumps.p;
	options.ncomplete = dumps.n;
	nsx_tool_open_in(&t, &cli, nops, argv, 0);
	int rc = nsx_pgle(t.in, dir, &options, &files, &t.diags, &t.err);
	if (rc == NSX_OK)
		nsx_cli_note(&cli, "%s: %" PRId64 " files written", dir, files);
	free(dumps.p);
	return nsx_tool_finish(&t, rc);
}
