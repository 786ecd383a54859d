/* nsysx-heap -- memory of programs from HLO dumps: heap in program order, its peak, the live buffers there, or all
 * sums. */
#include "table/heap.h"
#include "table/heap_grow.h"
#include "base/num.h"
#include "tool.h"

#include <unistd.h>

static bool peak, summary, at_peak, stacks, arguments, grow, all;
static const char *job, *batch;

static const struct nsx_opt opts[] = {
	NSX_OPT_FLAG(0, "peak", &peak, "print the peak of each program instead, the largest first"),
	NSX_OPT_FLAG(0, "summary", &summary,
	             "print what each program needs in each memory instead: arguments, results, heap"),
	NSX_OPT_FLAG(0, "at-peak", &at_peak, "print the buffers that are alive at the peak instead, the largest first"),
	NSX_OPT_FLAG(0, "arguments", &arguments,
	             "with --at-peak: also arguments, results and constants, which are alive for the whole run"),
	NSX_OPT_FLAG(0, "grow", &grow,
	             "print what grows from the first DUMP or folder to the second, of other shapes, instead"),
	NSX_OPT_FLAG(0, "all", &all,
	             "write three tables in one reading: % in -o stands for heap, heap-peak, heap-at-peak"),
	NSX_OPT_STR(0, "batch", &batch, "N,M", "with --grow: the two sizes of the batch [what differs in arguments]"),
	NSX_OPT_STR(0, "job", &job, "STREAM",
	            "with --summary and --grow: compare with the memory of the devices of this stream"),
	NSX_OPT_FLAG(0, "stacks", &stacks, "with --at-peak: print the whole stack as source, not its innermost frame"),
	NSX_TOOL_TABLE,
	NSX_TOOL_UNPACK,
	NSX_TOOL_FILES,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-heap",
	"[--peak | --summary [--job STREAM] | --at-peak [--arguments] [--stacks] | "
	"--grow [--batch N,M] [--job STREAM] | --all] "
	NSX_TOOL_TABLE_USAGE "[DUMP]...",
	"Print how much heap memory programs need, from their HLO dumps (.hlo.pb, .xz, .zst), folders of dumps or JAX "
	"profiles.",
	opts };

/* The memory of the stream's devices; ends the tool if it cannot be read. */
static int64_t
capacity(struct nsx_tool *t)
{
	struct nsx_reader *in = nsx_reader_open(job, 0, &t->err);
	int64_t bytes = 0;
	int rc = in ? nsx_heap_capacity(in, &bytes, &t->err) : NSX_ERR;

	nsx_reader_close(in);
	if (rc != NSX_OK)
		nsx_cli_die(&cli, t->err.msg);
	if (!bytes)
		nsx_diag_add(&t->diags, NSX_WARNING, "", 1,
		             "%s: how much memory its devices have is not recorded", job);
	return bytes;
}

static void
check(int nops)
{
	if (peak + summary + at_peak + grow + all > 1)
		nsx_cli_misuse(&cli, "--peak, --summary, --at-peak, --grow and --all exclude each other");
	if (stacks && !at_peak)
		nsx_cli_misuse(&cli, "--stacks goes with --at-peak");
	if (arguments && !at_peak)
		nsx_cli_misuse(&cli, "--arguments goes with --at-peak");
	if (job && !summary && !grow)
		nsx_cli_misuse(&cli, "--job goes with --summary and --grow");
	if (batch && !grow)
		nsx_cli_misuse(&cli, "--batch goes with --grow");
	if (grow && nops != 2)
		nsx_cli_misuse(&cli, "--grow: want two DUMPs, or folders of dumps");
	if (!nops && isatty(STDIN_FILENO))
		nsx_cli_misuse(&cli, "which DUMP of XLA?");
}

static struct nsx_table *
growth(struct nsx_tool *t, char **ops, int64_t bytes)
{
	struct nsx_heap_grow_options o = { .capacity = bytes };
	struct nsx_str text = nsx_str_c(batch ? batch : "1,2"), rest = text;
	size_t comma = 0;

	while (comma < text.len && text.ptr[comma] != ',')
		comma++;
	rest.ptr += comma < text.len ? comma + 1 : comma;
	rest.len -= comma < text.len ? comma + 1 : comma;
	text.len = comma;
	if (!nsx_get_int(text, &o.batch[0]) || !nsx_get_int(rest, &o.batch[1]) || o.batch[0] < 1 || o.batch[1] < 1
	    || o.batch[0] == o.batch[1])
		nsx_cli_misuse(&cli, "--batch: want two numbers above 0 that differ, as 8,16, got \"%s\"", batch);
	if (!batch)
		o.batch[0] = o.batch[1] = 0;
	return nsx_heap_grow(ops[0], ops[1], &o, &t->diags, &t->err);
}

static int
write_all(struct nsx_tool *t, char *const *paths, int n)
{
	static const struct nsx_heap_options options[] = { { .what = NSX_HEAP_CURVE }, { .what = NSX_HEAP_PEAK },
	                                                   { .what = NSX_HEAP_AT_PEAK } };
	struct nsx_table *tables[sizeof options / sizeof *options];
	size_t nparts;
	struct nsx_tool_part *to = nsx_tool_parts(&cli, "heap,heap-peak,heap-at-peak", nsx_tool_output.path, &nparts);
	int rc = nsx_heap_tables(paths, n, options, tables, nparts, &t->diags, &t->err);

	return nsx_tool_finish_tables(t, rc, to, tables, nparts, -1);
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_heap_options options = { NSX_HEAP_CURVE, stacks, arguments, 0 };
	struct nsx_tool t = { .cli = &cli };
	char *standard[] = { (char[]){ "-" } };

	if (peak || summary || at_peak)
		options.what = peak ? NSX_HEAP_PEAK : summary ? NSX_HEAP_SUMMARY : NSX_HEAP_AT_PEAK;
	check(nops);
	nsx_tool_table_form(&cli);
	nsx_tool_progress(&cli, nops, argv);
	if (all)
		return write_all(&t, nops ? argv : standard, nops ? nops : 1);
	if (job)
		options.capacity = capacity(&t);
	struct nsx_table *table = grow ? growth(&t, argv, options.capacity)
	                          : nsx_heap_table(nops ? argv : standard, nops ? nops : 1, &options, &t.diags, &t.err);
	return nsx_tool_finish_tables(&t, table ? NSX_OK : NSX_ERR, NULL, &table, 1, -1);
}
