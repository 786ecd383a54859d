/* nsysx-steps -- how long steps take, and the activities of devices in each. */
#include <string.h>

#include "base/num.h"
#include "filter/steps.h"
#include "table/by_groups.h"
#include "table/steps.h"
#include "tool.h"

static const char *explain, *by, *model;
static bool each, cut, mark, peaks;
static struct nsx_roofline_given given;

static const char *
give_peaks(const char *arg, int operands)
{
	(void)operands;
	peaks = true;
	return nsx_roofline_give_peaks(&given, arg);
}

static const char *
give_bandwidth(const char *arg, int operands)
{
	(void)operands;
	peaks = true;
	return nsx_roofline_give_bandwidth(&given, arg);
}

static const struct nsx_opt opts[] = {
	NSX_TOOL_STEPS,
	NSX_OPT_CHOICE(0, "by", &by, "device|" NSX_GROUPINGS "|phase|shape",
	               "what a row is, besides a class of steps, or of a server what steps do and their batch "
	               "[device]"),
	NSX_OPT_STR(0, "attention", &model, "LAYERS,HEADS,KV_HEADS,DIM",
	            "by phase and shape: of the model on one device, for the limit of attention"),
	NSX_OPT_CALL(0, "peak", give_peaks, "MATH=TFLOPS", "with --attention: peak of the devices; bf16 counts"),
	NSX_OPT_CALL(0, "bandwidth", give_bandwidth, "GBPS",
	             "with --attention: bandwidth of device memory in GB/s"),
	NSX_OPT_FLAG(0, "each", &each, "print a row for each step"),
	NSX_OPT_MAYBE(0, "explain", &explain, "P",
	              "print what made the step at percentile P longer than the median step [99]"),
	NSX_OPT_FLAG(0, "mark", &mark, "write the stream instead, with a step record for each step"),
	NSX_OPT_FLAG(0, "cut", &cut,
	    "write a stream instead: what begins in the periods of steps that count, and the steps"),
	NSX_TOOL_TABLE,
	NSX_TOOL_OUTPUT,
	NSX_TOOL_STREAM,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-steps",
	"[--step REGEX | --module NAME] "
	"[--by WHAT [--attention MODEL [--peak MATH=TFLOPS] [--bandwidth GBPS]] | --each | --explain[=P] | --mark | "
	"--cut [-b] [-z[LEVEL]]] "
	NSX_TOOL_TABLE_USAGE "[FILE]",
                                    "Print how long steps take, and how devices spent them.", opts };

static int
write_stream(int nops, char **ops, const struct nsx_steps_options *o)
{
	const struct nsx_steps_wanted wanted = { .step = o->step, .module = o->module, .require = o->require };
	struct nsx_tool t;

	if (nsx_tool_forms() || nsx_tool_table.top >= 0
	    || nsx_tool_table.wide || nsx_tool_rows.tests.n)
		nsx_cli_misuse(&cli, "--mark and --cut write a stream: options of tables do not go with them");
	nsx_tool_open(&t, &cli, nops, ops, NSX_READ_ORDERED);
	/* The headers of the second reading are written. */
	nsx_writer_follow(t.out, NULL);
	return nsx_tool_finish(&t, nsx_steps_write(t.in, &wanted, cut, t.out, &t.diags, &t.err));
}

/* The value of --attention. */
static void
parse_model(struct nsx_steps_model *m)
{
	int64_t *const to[] = { &m->layers, &m->heads, &m->kv_heads, &m->dim };
	struct nsx_str rest = nsx_str_c(model);

	for (int i = 0; i < 4; i++) {
		size_t n = 0;

		while (n < rest.len && rest.ptr[n] != ',')
			n++;
		if (!nsx_get_int((struct nsx_str){ rest.ptr, n }, to[i]) || *to[i] < 1 || *to[i] > 1000000
		    || (i < 3) != (n < rest.len))
			nsx_cli_misuse(&cli, "--attention=%s: want LAYERS,HEADS,KV_HEADS,DIM", model);
		rest = (struct nsx_str){ rest.ptr + n + (i < 3), rest.len - n - (i < 3) };
	}
}

/* The options of tables by phase and shape. */
static void
check_by(struct nsx_steps_options *o)
{
	if (by && strcmp(by, "phase") == 0)
		o->by = NSX_STEPS_BY_PHASE;
	else if (by && strcmp(by, "shape") == 0)
		o->by = NSX_STEPS_BY_SHAPE;
	if (o->by != NSX_STEPS_BY_CLASS && o->module)
		nsx_cli_misuse(&cli, "--by %s goes without --module", by);
	if (model && o->by == NSX_STEPS_BY_CLASS)
		nsx_cli_misuse(&cli, "--attention goes with --by phase and shape");
	if (peaks && !model)
		nsx_cli_misuse(&cli, "--peak and --bandwidth go with --attention");
	if (model)
		parse_model(&o->model);
	o->given = given;
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_steps_options o = { .step = nsx_tool_steps.step, .module = nsx_tool_steps.module, .each = each,
	                               .require = nsx_tool_input.require };
	int64_t percentile;

	if (explain && !*explain)
		o.explain = 99;
	else if (explain && (!nsx_get_int(nsx_str_c(explain), &percentile) || percentile < 1 || percentile > 100))
		nsx_cli_misuse(&cli, "--explain=%s: want a percentile from 1 to 100", explain);
	else if (explain)
		o.explain = (int)percentile;
	if (each + mark + cut + (explain != NULL) > 1)
		nsx_cli_misuse(&cli, "--each, --explain, --mark and --cut exclude each other");
	if (by && each + mark + cut + (explain != NULL))
		nsx_cli_misuse(&cli, "--by does not go with --each, --explain, --mark and --cut");
	check_by(&o);
	if (!cut && !mark)
		nsx_tool_no_stream(&cli);
	nsx_tool_check_steps(&cli, o.step, o.module);
	if (cut || mark)
		return write_stream(nops, argv, &o);
	return nsx_tool_print(&cli, nops, argv, &(struct nsx_tool_tables){
		.flags = NSX_READ_ORDERED, .read = nsx_steps, .options = &o, .groups = &nsx_groups_of_steps,
		.by = by ? by : "device" });
}
