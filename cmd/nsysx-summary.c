/* nsysx-summary -- tables of where GPU time goes. */
#include <stdlib.h>
#include <string.h>

#include "table/by_groups.h"
#include "table/memory_usage.h"
#include "table/metrics.h"
#include "table/summary.h"
#include "base/num.h"
#include "tool.h"

enum { SLOWEST = 10 };

static const char *by, *names, *cover, *variable, *metrics, *memory;
static bool totals, no_compile, helpers;

static const struct nsx_opt opts[] = {
	NSX_OPT_CHOICES(0, "by", &by,
	                "module|thunk|variable|opcode|collective|device|total|range|kernel|source|phase|scope|family|"
	                "overlap|"
	                NSX_GROUPINGS,
	                "what a row is; a table each [module]"),
	NSX_OPT_FLAG(0, "totals", &totals, "the same as --by total"),
	NSX_OPT_STR(0, "cover", &cover, "SHARE", "ignore the programs beyond this share of module time [1]"),
	NSX_OPT_CHOICE(0, "names", &names, "key|steps|full|digits",
	               "by range and scope: names without what frameworks append, in full, or with digits as #, of "
	               "steps alone or of all [key]"),
	NSX_OPT_FLAG(0, "helpers", &helpers,
	             "by range: also the GPU work that threads without such ranges launched meanwhile"),
	NSX_OPT_FLAG(0, "no-compile", &no_compile, "ignore what runs within compilation, as autotuning does"),
	NSX_OPT_MAYBE(0, "variable", &variable, "N", "the N slowest computations whose duration varies [10]"),
	NSX_OPT_MAYBE(0, "metrics", &metrics, "kernel|range|step",
	              "samples of GPU metrics instead, by kernel, innermost range, or class of steps [kernel]"),
	NSX_OPT_MAYBE(0, "memory", &memory, "peak|curve|live",
	              "memory that CUDA allocated instead: its peaks, its curve, or what is live at the peak [peak]"),
	NSX_TOOL_SORT,
	NSX_TOOL_TABLE,
	NSX_TOOL_FILES,
	NSX_TOOL_STREAM,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-summary",
	"[--by WHAT] [--names FORM] [--helpers] [--cover SHARE] [--no-compile] [--variable[=N]] [--metrics[=WHAT]] "
	"[--memory[=WHAT]] [--sort COLUMN] "
	NSX_TOOL_TABLE_USAGE "[FILE]",
                                    "Print a table of where GPU time goes.", opts };

/* Whether one of the parts is by one of the ways in the set, a bit for each way. */
static bool
any_by(const struct nsx_summary_options *o, size_t n, unsigned ways)
{
	for (size_t i = 0; i < n; i++)
		if (ways & 1U << o[i].by)
			return true;
	return false;
}

/* The values of the options for all parts, checked (misuse exits). */
static void
check(const struct nsx_summary_options *o, size_t n)
{
	enum { COVERED = 1U << NSX_SUMMARY_THUNK | 1U << NSX_SUMMARY_OPCODE | 1U << NSX_SUMMARY_DEVICE
	       | 1U << NSX_SUMMARY_TOTAL | 1U << NSX_SUMMARY_SOURCE };

	if (totals && by && strcmp(by, "total") != 0)
		nsx_cli_misuse(&cli, "--totals and --by %s exclude each other", by);
	if (variable && (totals || !any_by(o, n, 1U << NSX_SUMMARY_THUNK)))
		nsx_cli_misuse(&cli, "--variable goes with --by thunk");
	if (cover && !any_by(o, n, COVERED))
		nsx_cli_misuse(&cli, "--cover goes with --by thunk, opcode, source, device, total and groups of "
		               "devices");
	if (no_compile && !any_by(o, n, 1U << NSX_SUMMARY_KERNEL | 1U << NSX_SUMMARY_RANGE))
		nsx_cli_misuse(&cli, "--no-compile goes with --by kernel and range");
	if (names && !any_by(o, n, 1U << NSX_SUMMARY_RANGE | 1U << NSX_SUMMARY_SCOPE))
		nsx_cli_misuse(&cli, "--names goes with --by range and scope");
	if (helpers && !any_by(o, n, 1U << NSX_SUMMARY_RANGE))
		nsx_cli_misuse(&cli, "--helpers goes with --by range");
	nsx_tool_table_form(&cli);
}

/* Options that all parts share. */
static struct nsx_summary_options
common(void)
{
	struct nsx_summary_options o = { .no_compile = no_compile, .helpers = helpers,
	                                 .require = nsx_tool_input.require };

	if (names)
		nsx_names_parse(names, &o.names);
	if (!nsx_cover_parse(cover ? cover : "1", &o.cover))
		nsx_cli_misuse(&cli, "--cover: want a share above 0, at most 1, got \"%s\"", cover);
	if (variable && *variable && (!nsx_get_int(nsx_str_c(variable), &o.variable) || o.variable < 1))
		nsx_cli_misuse(&cli, "--variable: want a number above 0, got \"%s\"", variable);
	if (variable && !*variable)
		o.variable = SLOWEST;
	return o;
}

/* What a part is by: a way of its own, or devices, to be grouped. */
static enum nsx_summary_by
way_of(const char *name)
{
	int way = strcmp(name, "variable") == 0 ? NSX_SUMMARY_THUNK : nsx_summary_by_name(name);

	return way >= 0 ? (enum nsx_summary_by)way : NSX_SUMMARY_DEVICE;
}

/* The value of --metrics or --memory: one of three words, the first if it has none. */
static int
which(const char *option, const char *value, const char *const words[3])
{
	if (by || totals || cover || variable || names || helpers || no_compile || (metrics && memory))
		nsx_cli_misuse(&cli, "%s goes without --by, --totals, --cover, --variable, --names, --helpers, "
		               "--no-compile%s", option, metrics && memory ? " and --memory" : "");
	for (int i = 0; i < 3; i++)
		if (!*value || strcmp(value, words[i]) == 0)
			return i;
	nsx_cli_misuse(&cli, "%s: want %s, %s or %s, got \"%s\"", option, words[0], words[1], words[2], value);
}

static int
print_metrics(int nops, char **ops)
{
	static const char *const ways[] = { "kernel", "range", "step" };
	const struct nsx_metrics_options o = { .by = (enum nsx_metrics_by)which("--metrics", metrics, ways) };

	return nsx_tool_print(&cli, nops, ops, &(struct nsx_tool_tables){
		.flags = NSX_READ_ORDERED,
		.runs = &(struct nsx_analysis_run){ .is = &nsx_metrics_analysis, .options = &o } });
}

static int
print_memory(int nops, char **ops)
{
	static const char *const ways[] = { "peak", "curve", "live" };
	const struct nsx_usage_options o = { .what = (enum nsx_usage_what)which("--memory", memory, ways) };

	return nsx_tool_print(&cli, nops, ops, &(struct nsx_tool_tables){
		.flags = NSX_READ_ORDERED,
		.runs = &(struct nsx_analysis_run){ .is = &nsx_usage_analysis, .options = &o } });
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv), rc;

	if (metrics)
		return print_metrics(nops, argv);
	if (memory)
		return print_memory(nops, argv);
	const char *list = totals ? "total" : by ? by : variable ? "thunk" : "module";
	size_t n;
	struct nsx_tool_part *parts = nsx_tool_parts(&cli, list, nsx_tool_output.path, &n);
	struct nsx_summary_options *options = calloc(n, sizeof *options);

	if (!options)
		nsx_cli_die(&cli, "out of memory");
	for (size_t i = 0; i < n; i++) {
		options[i] = common();
		options[i].by = way_of(parts[i].name);
		if (!options[i].variable && strcmp(parts[i].name, "variable") == 0)
			options[i].variable = SLOWEST;
	}
	nsx_tool_parts_free(parts, n);
	check(options, n);
	rc = nsx_tool_print(&cli, nops, argv, &(struct nsx_tool_tables){
		/* Of others than what runs when an operation begins records need not be in order. */
		.flags = any_by(options, n, 1U << NSX_SUMMARY_OVERLAP) ? NSX_READ_ORDERED : 0, .parts = list,
		.read = nsx_summaries, .options = &(struct nsx_summaries_of){ options, n },
		.groups = &nsx_groups_of_summary });
	free(options);
	return rc;
}
