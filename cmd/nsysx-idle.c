/* nsysx-idle -- why a GPU was not computing: the activities of its time, and the causes of its idle time. */
#include <string.h>

#include "base/near.h"
#include "base/pattern.h"
#include "filter/idle.h"
#include "filter/idle_marked.h"
#include "table/by_groups.h"
#include "table/idle.h"
#include "table/idle_host.h"
#include "tool.h"

static const char *by = "device", *names, *causes, *lines;
static bool folded, verdict, all, zeros, steps, drained, mark, known, functions;
static int64_t list = -1, latency = NSX_IDLE_LATENCY;

static const struct nsx_opt opts[] = {
	NSX_OPT_STR(0, "by", &by, "WINDOWS",
		    "device, module, execution, step, range:REGEX, every:TIME, host, node, rack, partition, group, "
		    "axis or block:N [device]"),
	NSX_OPT_FLAG(0, "steps", &steps,
		     "only the time of steps, each from its start to that of the next one on the device"),
	NSX_TOOL_STEPS,
	NSX_OPT_STR(0, "cause", &causes, "NAME,...", "only idle time of these causes or groups of causes"),
	NSX_OPT_FLAG(0, "drained", &drained, "only gaps before which the host had waited for the GPU"),
	NSX_OPT_MAYBE(0, "lines", &lines, "leaf|sum",
		      "by host: also by the line of Python, the program's own or the innermost (leaf), or sums by "
		      "line"),
	NSX_OPT_FLAG(0, "functions", &functions, "by host: native functions in the running time instead"),
	NSX_OPT_FLAG(0, "verdict", &verdict, "print what each window is bound by instead"),
	NSX_OPT_INT(0, "list", &list, "N", 0, 100000000, "print the N longest gaps instead"),
	NSX_OPT_FLAG(0, "folded", &folded, "write folded stacks of idle time instead, for nsysx-flame"),
	NSX_OPT_FLAG(0, "mark", &mark, "write the stream instead, with an idle record for each piece of idle time"),
	NSX_OPT_FLAG(0, "known", &known, "print the causes that are known, read nothing"),
	NSX_OPT_TIME(0, "latency", &latency, "TIME",
		     "a launch may take this long to begin after its call returned [20us]"),
	NSX_OPT_FLAG(0, "all", &all,
		     "by device: one window for all devices, from the earliest start to the latest end"),
	NSX_OPT_FLAG(0, "zeros", &zeros, "also print rows of 0 ns"),
	NSX_OPT_CHOICE(0, "names", &names, "key|steps|full|digits",
		       "names of ranges: without what frameworks append, in full, or with digits as #, of steps alone "
		       "or of all [key; by host: steps]"),
	NSX_TOOL_TABLE,
	NSX_TOOL_OUTPUT,
	NSX_TOOL_STREAM,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-idle",
	"[--by WINDOWS] [--steps] [--cause NAME,...] "
	"[--verdict | --list N | --folded | --mark [-b] [-z[LEVEL]]] "
	NSX_TOOL_TABLE_USAGE "[FILE]",
	"Print why GPUs were not computing: the parts of their time and the causes of idle time.", opts };

/* The value of --by. */
static void
parse_by(struct nsx_idle_options *o)
{
	static const struct { const char *name; enum nsx_windows_by by; } plain[] = {
		{ "device", NSX_WINDOWS_DEVICE }, { "module", NSX_WINDOWS_MODULE },
		{ "execution", NSX_WINDOWS_EXECUTION }, { "step", NSX_WINDOWS_STEP }
	};
	struct nsx_grouping g;
	const char *why;

	if (nsx_grouping_parse(by, &g))
		return;
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (strcmp(by, plain[i].name) == 0) {
			o->by = plain[i].by;
			return;
		}
	if (strncmp(by, "range:", 6) == 0) {
		o->by = NSX_WINDOWS_RANGE;
		o->range = by + 6;
		why = nsx_pattern_check(o->range);
		if (why)
			nsx_cli_misuse(&cli, "--by %s: %s", by, why);
	} else if (strncmp(by, "every:", 6) == 0) {
		o->by = NSX_WINDOWS_EVERY;
		if (!nsx_time_parse(by + 6, &o->every) || o->every <= 0)
			nsx_cli_misuse(&cli, "--by %s: want a time above 0, e.g. every:100ms", by);
	} else {
		nsx_cli_misuse(&cli,
		               "--by %s: want device, module, execution, step, range:REGEX, every:TIME, host, node, "
		               "rack, partition, group, axis or block:N%s", by,
		               nsx_near_hint_among("device|module|execution|step|range:REGEX|every:TIME|host|"
		                                   NSX_GROUPINGS, '|', nsx_str_c(by)).text);
	}
}

/* The values of --steps, --step and --module. */
static void
check_steps(const struct nsx_idle_options *o)
{
	const char *step = o->step, *module = o->module;

	if (steps && (o->by == NSX_WINDOWS_STEP || o->by == NSX_WINDOWS_RANGE))
		nsx_cli_misuse(&cli, "--steps goes with --by device, module, execution or every:TIME");
	if (steps && all)
		nsx_cli_misuse(&cli, "--all and --steps exclude each other");
	if (o->by != NSX_WINDOWS_STEP && !steps && !step != !module)
		nsx_cli_misuse(&cli, "--%s goes with --steps or --by step", step ? "step" : "module");
	nsx_tool_check_steps(&cli, step, module);
}

/* The stream with marks. */
static int
write_stream(int nops, char **ops, const struct nsx_idle_options *o)
{
	struct nsx_tool t;

	if (strcmp(by, "device") != 0 || steps || o->step || o->module || causes || drained || all || zeros || names)
		nsx_cli_misuse(&cli, "--mark marks all idle time: of the other options only --latency goes with it");
	if (nsx_tool_forms() || nsx_tool_rows.tests.n)
		nsx_cli_misuse(&cli, "--mark writes a stream: --tsv, --table, --json and --only do not go with it");
	nsx_tool_open(&t, &cli, nops, ops, NSX_READ_ORDERED);
	/* The headers of the second reading are written. */
	nsx_writer_follow(t.out, NULL);
	return nsx_tool_finish(&t, nsx_idle_mark(t.in, o->latency, o->require, t.out, &t.diags, &t.err));
}

/* What the host did while it had not launched. */
static int
print_host(int nops, char **ops)
{
	bool sums = lines && strcmp(lines, "sum") == 0;
	struct nsx_idle_host_options o = { .list = list,
					   .rows = list >= 0   ? NSX_IDLE_HOST_LIST
						   : functions ? NSX_IDLE_HOST_FUNCTIONS
						   : lines     ? (sums ? NSX_IDLE_HOST_SUMS : NSX_IDLE_HOST_LINES)
							       : NSX_IDLE_HOST_STATES,
					   .leaf = lines && *lines && !sums,
					   .causes = causes ? nsx_tool_host_causes(&cli, "--cause", causes, causes) : 0,
					   .require = nsx_tool_input.require };
	struct nsx_table *table = NULL;
	struct nsx_tool t;
	int rc;

	if ((lines && functions) || (list >= 0 && functions))
		nsx_cli_misuse(&cli, "--functions excludes --lines and --list");
	if (lines && *lines && !sums && strcmp(lines, "leaf") != 0)
		nsx_cli_misuse(&cli, "--lines: want leaf, sum or nothing, got \"%s\"", lines);
	if (sums && list >= 0)
		nsx_cli_misuse(&cli, "--lines=sum excludes --list");
	if (steps || nsx_tool_steps.step || nsx_tool_steps.module || drained || all || zeros || verdict || folded ||
	    mark)
		nsx_cli_misuse(&cli,
			       "--by host: of the other options --cause, --lines, --functions, --list and --names go "
			       "with it");
	nsx_names_parse(names ? names : "steps", &o.names);
	nsx_tool_table_form(&cli);
	nsx_tool_open_in(&t, &cli, nops, ops, NSX_READ_ORDERED);
	rc = nsx_idle_marked(&t.in, latency, o.require, &t.diags, &t.err);
	if (rc == NSX_OK)
		rc = nsx_idle_host(t.in, &o, &table, &t.diags, &t.err);
	return nsx_tool_finish_tables(&t, rc, NULL, &table, 1, nsx_reader_diags(t.in));
}

/* The table of causes. */
static int
print_known(int nops)
{
	struct nsx_tool t = { .cli = &cli, .in_name = "" };
	struct nsx_table *table;

	if (nops)
		nsx_cli_misuse(&cli, "--known reads no stream");
	table = nsx_idle_known(&t.err);
	return nsx_tool_finish_tables(&t, table ? NSX_OK : NSX_ERR, NULL, &table, 1, 0);
}

/* Devices whose rows are shown to people one by one. */
enum { EACH = 8 };

/* Whether rows of many devices are summed: where a person reads the first rows only, who has asked for nothing else. */
static bool
may_sum(const struct nsx_idle_options *o)
{
	enum nsx_table_form form = nsx_tool_table_form(&cli);

	return o->notes && nsx_tool_table.top < 0 && !nsx_tool_table.wide && !nsx_tool_rows.tests.n
	       && nsx_tool_top(form) > 0;
}

/* The table of windows, by group if g is set. */
static int
make_table(struct nsx_tool *t, const struct nsx_idle_options *o, const struct nsx_grouping *g, struct nsx_outfile *out,
           struct nsx_table **table)
{
	struct nsx_grouping all_devices = { NSX_BY_BLOCK, 1 };
	struct nsx_device_groups groups = { .err = &t->err };
	bool sum = !g && may_sum(o);
	int rc;

	if (g || sum)
		nsx_device_groups_listen(&groups, t->in);
	rc = nsx_idle(t->in, o, out, table, &t->diags, &t->err);
	sum &= groups.comm.cat.ndevices > EACH;
	if (nsx_cat_numbers(&groups.comm.cat) > all_devices.block)
		all_devices.block = nsx_cat_numbers(&groups.comm.cat);
	if (rc == NSX_OK && (g || sum))
		rc = nsx_table_by_groups(table, &nsx_groups_of_idle, g ? g : &all_devices, &groups, &t->diags, &t->err);
	if (rc == NSX_OK && sum)
		nsx_table_note(*table, "of all devices together: --top 0 prints the rows of each, --by node those of "
		               "machines");
	nsx_device_groups_free(&groups);
	return rc;
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_idle_options o = {
		.form = folded ? NSX_IDLE_FOLDED : verdict ? NSX_IDLE_VERDICT : list >=
		0 ? NSX_IDLE_LIST : NSX_IDLE_TABLE, .list = list, .latency = latency,
		.all = all, .zeros = zeros, .steps = steps, .drained = drained,
		.step = nsx_tool_steps.step, .module = nsx_tool_steps.module,
		.require = nsx_tool_input.require
	};
	struct nsx_outfile *out = NULL;
	struct nsx_table *table = NULL;
	struct nsx_grouping g;
	bool grouped = nsx_grouping_parse(by, &g);
	struct nsx_tool t;
	int rc = NSX_OK;

	if (known)
		return print_known(nops);
	if (!mark && (nsx_tool_output.binary || nsx_tool_output.text || nsx_tool_output.zlevel))
		nsx_cli_misuse(&cli, "--binary, --text and --compress go with --mark");
	if (latency < 0)
		nsx_cli_misuse(&cli, "--latency: want 0 or more");
	/* What was asked for is printed on a terminal, too, with the row of the others. */
	if (list >= 0 && nsx_tool_table.top < 0)
		nsx_tool_table.top = 0;
	if (strcmp(by, "host") == 0)
		return print_host(nops, argv);
	o.causes = causes ? nsx_tool_causes(&cli, "--cause", causes, causes) : 0;
	if (lines || functions)
		nsx_cli_misuse(&cli, "--%s goes with --by host", lines ? "lines" : "functions");
	parse_by(&o);
	if (folded + verdict + mark + (list >= 0) > 1)
		nsx_cli_misuse(&cli, "--verdict, --list, --folded and --mark exclude each other");
	if (grouped && (folded || verdict || mark || all || list >= 0))
		nsx_cli_misuse(&cli, "--by %s does not go with --verdict, --list, --folded, --mark and --all", by);
	if (all && o.by != NSX_WINDOWS_DEVICE)
		nsx_cli_misuse(&cli, "--all goes with --by device");
	if (mark)
		return write_stream(nops, argv, &o);
	check_steps(&o);
	if (verdict && (causes || drained))
		nsx_cli_misuse(&cli, "--%s does not go with --verdict", causes ? "cause" : "drained");
	if ((folded || list >= 0) && o.by != NSX_WINDOWS_DEVICE)
		nsx_cli_misuse(&cli, "--%s is of each device: --by does not go with it, but --steps does", folded
		               ? "folded" : "list");
	nsx_names_parse(names ? names : "key", &o.names);
	if (folded && nsx_tool_forms())
		nsx_cli_misuse(&cli, "--folded writes stacks: --tsv, --table and --json do not go with it");
	o.notes = o.form == NSX_IDLE_TABLE && !grouped && o.by == NSX_WINDOWS_DEVICE && !causes && !drained &&
	    nsx_tool_table_form(&cli) == NSX_TABLE_ALIGNED;
	nsx_tool_table_form(&cli);
	nsx_tool_open_in(&t, &cli, nops, argv, NSX_READ_ORDERED);
	if (folded) {
		out = nsx_outfile_open(nsx_tool_output.path, &t.err);
		rc = out ? NSX_OK : NSX_ERR;
	}
	if (rc == NSX_OK)
		rc = make_table(&t, &o, grouped ? &g : NULL, out, &table);
	if (rc == NSX_OK && folded)
		rc = nsx_tool_commit(&t, out);
	nsx_outfile_free(out);
	return nsx_tool_finish_tables(&t, rc, NULL, &table, folded ? 0 : 1, nsx_reader_diags(t.in));
}
