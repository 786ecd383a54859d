/* nsysx-align -- the times of several reports on one clock. */
#include <string.h>

#include "filter/align.h"
#include "base/progress.h"
#include "tool.h"

enum { HOLD_BYTES = 64 << 20 };

static struct nsx_align_opts opt = { .hold_bytes = HOLD_BYTES };

static const struct nsx_opt opts[] = {
	NSX_OPT_FLAG('e', "estimate", &opt.estimate,
	             "write only clock and skew records and the metadata they refer to"),
	NSX_OPT_STR(0, "apply", &opt.apply, "FILE", "correct by the clock records of the stream FILE, in one pass"),
	NSX_OPT_FLAG(0, "drift", &opt.drift, "also fit different rates of clocks (drift)"),
	NSX_OPT_FLAG(0, "per-device", &opt.per_device, "treat each device of a report as a separate clock"),
	NSX_TOOL_OUTPUT,
	NSX_TOOL_INPUT,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-align",
                                    "[-e | --apply FILE] [--drift] [--per-device] [-b] [-z[LEVEL]] [-o FILE] [FILE]",
                                    "Bring the times of several reports onto one clock.", opts };

static const char *
operand(int nops, char **ops)
{
	if (nops > 1)
		nsx_cli_misuse(&cli, "one FILE at most: join several with nsysx-merge");
	if (opt.apply && (opt.estimate || opt.drift || opt.per_device))
		nsx_cli_misuse(&cli,
		               "--apply estimates nothing: --estimate, --drift and --per-device do not go with it");
	if (opt.apply && strcmp(opt.apply, "-") == 0 && (nops == 0 || strcmp(ops[0], "-") == 0))
		nsx_cli_misuse(&cli, "standard input can be read only once");
	return nops ? ops[0] : "-";
}

int
main(int argc, char **argv)
{
	struct nsx_err err = { "" };
	struct nsx_diags diags = { 0 };
	int nops = nsx_cli_parse(&cli, argc, argv);
	const char *path = operand(nops, argv);
	struct nsx_out to = nsx_tool_out(&cli);

	opt.read_flags = nsx_tool_input.partial ? NSX_READ_PARTIAL : 0;
	struct nsx_writer *out = nsx_writer_open(&to, &err);
	if (!out)
		nsx_cli_die(&cli, err.msg);
	if (nsx_tool_input.require)
		nsx_writer_require(out, nsx_tool_input.require);
	nsx_tool_progress(&cli, nops, argv);
	int rc = nsx_align(path, &opt, out, &diags, &err);
	nsx_progress_hide(NSX_HIDE_FOR_GOOD);
	if (rc == NSX_OK && diags.failed)
		rc = nsx_err_nomem(&err, NULL);
	if (rc == NSX_OK)
		rc = nsx_tool_write_diags(&cli, out, &diags);
	if (rc != NSX_OK || nsx_writer_finish(out) != NSX_OK)
		nsx_cli_die(&cli, err.msg);
	nsx_cli_diags(&cli, &diags, 0);
	nsx_writer_free(out);
	nsx_diags_free(&diags);
	return NSX_EXIT_OK;
}
