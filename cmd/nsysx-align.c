/* nsysx-align -- the times of several reports on one clock. */
#include <string.h>

#include "filter/align.h"
#include "tool.h"

enum { HOLD_BYTES = 64 << 20 };

static struct nsx_align_opts opt = { .hold_bytes = HOLD_BYTES };

static const struct nsx_opt opts[] = {
	NSX_OPT_FLAG('e', "estimate", &opt.estimate,
	             "write only clock and skew records and the metadata they refer to"),
	NSX_OPT_STR(0, "apply", &opt.apply, "FILE", "correct by the clock records of the stream FILE, in one pass"),
	NSX_OPT_FLAG(0, "sample", &opt.sample,
	             "write only the records by which clocks are compared, and all metadata: to be merged"),
	NSX_OPT_INT(0, "keep", &opt.keep, "N", 1, INT64_MAX,
	            "compare about N collectives of each set of devices [all; 1024 where records are millions]"),
	NSX_OPT_FLAG(0, "drift", &opt.drift, "also fit different rates of clocks (drift)"),
	NSX_OPT_FLAG(0, "per-device", &opt.per_device, "treat each device of a report as a separate clock"),
	NSX_TOOL_OUTPUT,
	NSX_TOOL_INPUT,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-align",
                                    "[-e | --sample | --apply FILE] [--keep N] [--drift] [--per-device] [-b] "
                                    "[-z[LEVEL]] [-o FILE] [FILE]",
                                    "Bring the times of several reports onto one clock.", opts };

static const char *
operand(int nops, char **ops)
{
	if (nops > 1)
		nsx_cli_misuse(&cli, "one FILE at most: join several with nsysx-merge");
	if (opt.apply && (opt.estimate || opt.drift || opt.per_device || opt.sample || opt.keep))
		nsx_cli_misuse(&cli, "--apply estimates nothing: --estimate, --sample, --keep, --drift and "
		               "--per-device do not go with it");
	if (opt.sample && (opt.estimate || opt.drift || opt.per_device))
		nsx_cli_misuse(&cli,
		               "--sample estimates nothing: --estimate, --drift and --per-device do not go with it");
	if (opt.apply && strcmp(opt.apply, "-") == 0 && (nops == 0 || strcmp(ops[0], "-") == 0))
		nsx_cli_misuse(&cli, "standard input can be read only once");
	return nops ? ops[0] : "-";
}

int
main(int argc, char **argv)
{
	struct nsx_tool t = { .cli = &cli };
	int nops = nsx_cli_parse(&cli, argc, argv);
	const char *path = operand(nops, argv);

	opt.read_flags = nsx_tool_input.partial ? NSX_READ_PARTIAL : 0;
	nsx_tool_open_out(&t);
	nsx_tool_progress(&cli, nops, argv);
	return nsx_tool_finish(&t, nsx_align(path, &opt, t.out, &t.diags, &t.err));
}
