/* nsysx-stragglers -- which device is late, and where. */
#include <string.h>

#include "table/by_groups.h"
#include "table/stragglers.h"
#include "tool.h"

static bool curve, pace, all;
static const char *waits, *program, *by;

static const struct nsx_opt opts[] = {
	NSX_OPT_FLAG(0, "curve", &curve,
	             "print the edges of thunks instead: a row per edge in order of time, a column per device"),
	NSX_OPT_MAYBE(0, "waits", &waits, "device|pairs",
		"print who waits in collectives instead: a row per device, or per pair of a device and the one it "
		"waits for [device]"),
	NSX_OPT_FLAG(0, "pace", &pace,
	             "print how much longer each device takes for the same kernels instead: a row per device"),
	NSX_OPT_FLAG(0, "all", &all,
	             "write all of these but --pace in one reading: % in -o stands for stragglers, curve, waits, "
	             "pairs"),
	NSX_OPT_CHOICE(0, "by", &by, "device|instruction|" NSX_GROUPINGS,
	               "what a row is; of biases, --waits and --pace; instruction: of --waits [device]"),
	NSX_OPT_STR(0, "program", &program, "PROGRAM", "only the program with this key, name or id"),
	NSX_TOOL_SORT,
	NSX_TOOL_TABLE,
	NSX_TOOL_FILES,
	NSX_TOOL_STREAM,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-stragglers",
	"[--curve | --waits[=device|pairs] | --pace | --all] [--by WHAT] [--program PROGRAM] "
	NSX_TOOL_TABLE_USAGE "[FILE]",
                                    "Find the devices that are late, and who waits for them.", opts };

/* The values of the options, checked (misuse exits). */
static struct nsx_stragglers_options
wanted(void)
{
	struct nsx_stragglers_options o = { .program = program, .require = nsx_tool_input.require };

	if (curve && waits)
		nsx_cli_misuse(&cli, "--curve and --waits exclude each other");
	if (pace && (curve || waits || program))
		nsx_cli_misuse(&cli, "--pace excludes --curve, --waits and --program");
	if (all && (curve || waits || pace || by))
		nsx_cli_misuse(&cli, "--all excludes --curve, --waits, --pace and --by");
	if (waits && *waits && strcmp(waits, "device") != 0 && strcmp(waits, "pairs") != 0)
		nsx_cli_misuse(&cli, "--waits: want device or pairs, got \"%s\"", waits);
	o.show = pace ? NSX_STRAGGLERS_PACE : waits && strcmp(waits, "pairs") == 0 ? NSX_STRAGGLERS_PAIRS : waits
	    ? NSX_STRAGGLERS_WAITS
	         : curve ? NSX_STRAGGLERS_CURVE : NSX_STRAGGLERS_DEVICES;
	if (by && strcmp(by, "instruction") == 0) {
		if (o.show != NSX_STRAGGLERS_WAITS)
			nsx_cli_misuse(&cli, "--by instruction goes with --waits");
		o.show = NSX_STRAGGLERS_INSTRUCTIONS;
	}
	if (by && (o.show == NSX_STRAGGLERS_CURVE || o.show == NSX_STRAGGLERS_PAIRS))
		nsx_cli_misuse(&cli, "--by does not go with --curve and --waits=pairs");
	nsx_tool_table_form(&cli);
	return o;
}

/* Replace the table of devices by one of groups. */
static int
group(struct nsx_tool *t, enum nsx_stragglers_show show, const struct nsx_grouping *g,
      struct nsx_device_groups *groups, struct nsx_table **table)
{
	const struct nsx_by_groups *def = show == NSX_STRAGGLERS_WAITS  ? &nsx_groups_of_waits
	                                  : show == NSX_STRAGGLERS_PACE ? &nsx_groups_of_pace
	                                                                : &nsx_groups_of_lockstep;

	return nsx_table_by_groups(table, def, g, groups, &t->diags, &t->err);
}

static int
write_all(int nops, char **ops, const struct nsx_stragglers_options *options)
{
	struct nsx_stragglers s[NSX_STRAGGLERS_TOGETHER];
	struct nsx_table *tables[NSX_STRAGGLERS_TOGETHER];
	struct nsx_tool t;
	size_t n;
	/* In the order of enum nsx_stragglers_show. */
	struct nsx_tool_part *to = nsx_tool_parts(&cli, "stragglers,curve,waits,pairs", nsx_tool_output.path, &n);

	nsx_tool_open_in(&t, &cli, nops, ops, NSX_READ_ORDERED);
	int rc = nsx_stragglers_all(t.in, options, s, &t.diags, &t.err);

	for (size_t i = 0; i < n; i++)
		tables[i] = s[i].table;
	if (rc == NSX_OK)
		nsx_tool_sort(&cli, tables, n);
	for (size_t i = 0; i < n && rc == NSX_OK; i++)
		rc = nsx_tool_write_table_to(&t, s[i].table, s[i].diags, to[i].path);
	rc = nsx_tool_finish(&t, rc);
	for (size_t i = 0; i < n; i++)
		nsx_stragglers_free(&s[i]);
	nsx_tool_parts_free(to, n);
	return rc;
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_stragglers_options options = wanted();

	if (all)
		return write_all(nops, argv, &options);
	struct nsx_device_groups groups = { .err = NULL };
	struct nsx_grouping g;
	struct nsx_stragglers s;
	struct nsx_tool t;
	bool grouped = by && nsx_grouping_parse(by, &g);

	nsx_tool_open_in(&t, &cli, nops, argv, NSX_READ_ORDERED);
	groups.err = &t.err;
	if (grouped)
		nsx_device_groups_listen(&groups, t.in);
	int rc = nsx_stragglers(t.in, &options, &s, &t.diags, &t.err);
	if (rc == NSX_OK && grouped)
		rc = group(&t, options.show, &g, &groups, &s.table);
	if (rc == NSX_OK)
		nsx_tool_sort(&cli, &s.table, 1);
	if (rc == NSX_OK)
		rc = nsx_tool_write_table(&t, s.table, s.diags);
	rc = nsx_tool_finish(&t, rc);
	nsx_device_groups_free(&groups);
	nsx_stragglers_free(&s);
	return rc;
}
