/* nsysx-merge -- merge several streams into one, which does not depend on their order. */
#include <string.h>

#include "filter/merge.h"
#include "tool.h"

static struct { bool force; const char *match; } opt = { .match = "auto" };

static const struct nsx_opt opts[] = {
	NSX_TOOL_OUTPUT,
	NSX_OPT_CHOICE(0, "match", &opt.match, "auto|id|fingerprint",
	               "how programs of several reports are recognised as one [auto]"),
	NSX_OPT_FLAG(0, "force", &opt.force,
		"merge contradictory streams: one report twice, one device in two reports, aligned and unaligned "
		"streams"),
	NSX_TOOL_FILES_FROM,
	NSX_TOOL_INPUT,
	NSX_OPT_END
};

static const struct nsx_cli cli = {
	"nsysx-merge", "[-b] [-z[LEVEL]] [-o FILE] [--match=HOW] [--force] [FILE ...]",
	"Merge streams into one, whatever their order.", opts
};

static enum nsx_match_by
match_mode(void)
{
	if (strcmp(opt.match, "id") == 0)
		return NSX_MATCH_ID;
	return strcmp(opt.match, "fingerprint") == 0 ? NSX_MATCH_FINGERPRINT : NSX_MATCH_AUTO;
}

static void
check_operands(int n, char **ops)
{
	int standard_input = 0;

	for (int i = 0; i < n; i++)
		standard_input += strcmp(ops[i], "-") == 0;
	if (standard_input > 1)
		nsx_cli_misuse(&cli, "standard input can be read only once");
}

int
main(int argc, char **argv)
{
	static const char *const standard_input[] = { "-" };
	struct nsx_tool t = { .cli = &cli, .told = true };

	argc = nsx_cli_parse(&cli, argc, argv);
	argc = nsx_tool_files_all(&cli, argc, &argv);
	check_operands(argc, argv);
	struct nsx_merge_opts how = {
		.match = match_mode(), .force = opt.force, .read_flags = nsx_tool_input.partial ? NSX_READ_PARTIAL : 0
	};
	const char *const *paths = argc ? (const char *const *)argv : standard_input;
	nsx_tool_open_out(&t);
	nsx_tool_progress(&cli, argc, argv);
	return nsx_tool_finish(&t, nsx_merge(paths, argc ? (size_t)argc : 1, &how, t.out, &t.diags, &t.err));
}
