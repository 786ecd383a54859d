/* nsysx-roofline -- how close each instruction is to the limits of the hardware. */
#include <string.h>

#include "table/roofline.h"
#include "tool.h"

static const char *by, *names;
static bool points, peaks, all;
static struct nsx_roofline_given given;

static const char *
give_peaks(const char *arg, int operands)
{
	(void)operands;
	return nsx_roofline_give_peaks(&given, arg);
}

static const char *
give_bandwidth(const char *arg, int operands)
{
	(void)operands;
	return nsx_roofline_give_bandwidth(&given, arg);
}

static const struct nsx_opt opts[] = {
	NSX_OPT_CHOICE(0, "by", &by, "opcode|op-name|program", "what a row stands for [an instruction]"),
	NSX_OPT_CHOICE(0, "names", &names, "full|digits", "by op-name: names in full, or with digits as # [full]"),
	NSX_OPT_FLAG(0, "points", &points, "print the points of a roofline plot instead"),
	NSX_OPT_FLAG(0, "peaks", &peaks, "print the peak rates of the devices and their sources"),
	NSX_OPT_FLAG(0, "all", &all,
	             "write the table and the points in one reading: % in -o stands for roofline, points"),
	NSX_OPT_CALL(0, "peak", give_peaks, "MATH=TFLOPS",
	             "peak of f4, f8, s8, f16, bf16, tf32, f64 or f32; several with commas"),
	NSX_OPT_CALL(0, "bandwidth", give_bandwidth, "GBPS", "bandwidth of device memory in GB/s"),
	NSX_TOOL_SORT,
	NSX_TOOL_TABLE,
	NSX_TOOL_FILES,
	NSX_TOOL_STREAM,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-roofline",
	"[--by WHAT [--names FORM] | --points | --peaks | --all] [--peak MATH=TFLOPS] [--bandwidth GBPS] "
	NSX_TOOL_TABLE_USAGE "[FILE]",
                                    "Print how far each instruction is from what the hardware can do.", opts };

/* The values of the options, checked (misuse exits). */
static struct nsx_roofline_options
wanted(void)
{
	struct nsx_roofline_options o = { .given = given };

	if ((by != NULL) + points + peaks + all > 1)
		nsx_cli_misuse(&cli, "--by, --points, --peaks and --all exclude each other");
	if (points || peaks)
		o.by = points ? NSX_ROOFLINE_POINTS : NSX_ROOFLINE_PEAKS;
	else if (by)
		o.by = strcmp(by, "opcode") == 0 ? NSX_ROOFLINE_OPCODE : strcmp(by, "program") == 0
		    ? NSX_ROOFLINE_PROGRAM : NSX_ROOFLINE_OP_NAME;
	if (names && (!by || strcmp(by, "op-name") != 0))
		nsx_cli_misuse(&cli, "--names goes with --by op-name");
	o.digits = names && strcmp(names, "digits") == 0;
	o.words = nsx_tool_table_form(&cli) == NSX_TABLE_ALIGNED;
	return o;
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_roofline_options o = wanted();
	struct nsx_analysis_run runs[] = { { .is = &nsx_roofline_analysis, .options = &o },
	                                   { .is = &nsx_roofline_analysis, .of = &runs[0],
	                                     .again = nsx_roofline_points } };

	return nsx_tool_print(&cli, nops, argv, &(struct nsx_tool_tables){
		.runs = runs, .parts = all ? "roofline,points" : NULL,
		.empty = peaks ? "no device record says which GPU it is" : "no instruction has known work" });
}
