/* nsysx-fold -- GPU time as folded stacks, a line each: frame;frame NANOSECONDS. */
#include <stdlib.h>
#include <string.h>

#include "draw/fold.h"
#include "filter/idle_marked.h"
#include "table/idle.h"
#include "tool.h"

static const char *by = "source", *names, *cover = "0.99", *during, *threads;
static bool exposed, mark_comm, repeats;

static const struct nsx_opt opts[] = {
	NSX_OPT_CHOICES(0, "by", &by, "source|op-name|opcode|module|nvtx|kernel|scope|host",
			"what the frames are; a file each [source]"),
	NSX_OPT_CHOICE(0, "names", &names, "key|steps|full|digits",
		       "names of ranges: without what frameworks append, in full, or with digits as #, of steps alone "
		       "or of all [key]"),
	NSX_OPT_STR(0, "while", &during, "WHEN",
		    "by host: idle, or idle:CAUSE,...: only while devices were idle as a thread had not launched"),
	NSX_OPT_CHOICE(0, "threads", &threads, "launching|all",
		       "by host: threads that make CUDA calls, or all [launching]"),
	NSX_OPT_FLAG(0, "exposed", &exposed,
		     "by nvtx and kernel: of operations that communicate, only the exposed part"),
	NSX_OPT_STR(0, "cover", &cover, "SHARE", "ignore the programs beyond this share of module time [0.99]"),
	NSX_OPT_FLAG(0, "mark-comm", &mark_comm, "end stacks that communicate in a frame [communication]"),
	NSX_OPT_FLAG(0, "repeats", &repeats, "by source: keep runs of frames that repeat at once"),
	NSX_TOOL_FILES,
	NSX_TOOL_STREAM,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-fold",
				    "[--by WHAT] [--names FORM] [--while WHEN] [--exposed] [--mark-comm] [--cover "
				    "SHARE] [--repeats] [-o FILE] [FILE]",
				    "Print GPU time as folded stacks.", opts };

/* The value of --while. */
static uint32_t
parse_while(void)
{
	if (strcmp(during, "idle") == 0)
		return 0;
	if (strncmp(during, "idle:", 5) != 0)
		nsx_cli_misuse(&cli, "--while: want idle or idle:CAUSE,..., got \"%s\"", during);
	return nsx_tool_host_causes(&cli, "--while", during, during + 5);
}

/* The values of the options for all parts, checked (misuse exits). True if one of the parts is by ranges or scopes. */
static bool
wanted(const struct nsx_tool_part *parts, size_t n, struct nsx_fold_options *options)
{
	bool ranges = false, sources = false, host = false, scopes = false;

	for (size_t i = 0; i < n; i++) {
		struct nsx_fold_options *o = &options[i];

		*o = (struct nsx_fold_options){ .by = (enum nsx_fold_by)nsx_fold_by_name(parts[i].name),
		                                .exposed = exposed, .mark_comm = mark_comm, .repeats = repeats,
		                                .require = nsx_tool_input.require };
		if (!nsx_cover_parse(cover, &o->cover))
			nsx_cli_misuse(&cli, "--cover: want a share above 0, at most 1, got \"%s\"", cover);
		nsx_names_parse(names ? names : "key", &o->names);
		ranges |= o->by == NSX_FOLD_NVTX || o->by == NSX_FOLD_KERNEL;
		sources |= o->by == NSX_FOLD_SOURCE;
		host |= o->by == NSX_FOLD_HOST;
		scopes |= o->by == NSX_FOLD_SCOPE;
		o->idle = during != NULL;
		o->causes = during ? parse_while() : 0;
		o->threads = threads && strcmp(threads, "all") == 0;
	}
	if (repeats && !sources)
		nsx_cli_misuse(&cli, "--repeats goes with --by source");
	if (exposed && !ranges)
		nsx_cli_misuse(&cli, "--exposed goes with --by nvtx and kernel");
	if (names && !ranges && !scopes && !host)
		nsx_cli_misuse(&cli, "--names goes with --by nvtx, kernel, scope and host");
	if ((during || threads) && !host)
		nsx_cli_misuse(&cli, "--%s goes with --by host", during ? "while" : "threads");
	if (during && threads)
		nsx_cli_misuse(&cli, "--while is of threads that launch: --threads does not go with it");
	return ranges || scopes || host;
}

static int
fold(struct nsx_tool *t, const struct nsx_tool_part *parts, size_t n, const struct nsx_fold_options *options)
{
	struct nsx_outfile **out = calloc(n, sizeof *out);
	int rc = out ? NSX_OK : nsx_err_nomem(&t->err, NULL);

	if (rc == NSX_OK && during)
		rc = nsx_idle_marked(&t->in, NSX_IDLE_LATENCY, nsx_tool_input.require, &t->diags, &t->err);
	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		out[i] = nsx_outfile_open(parts[i].path, &t->err);
		rc = out[i] ? NSX_OK : NSX_ERR;
	}
	if (rc == NSX_OK)
		rc = nsx_folds(t->in, options, n, out, &t->diags, &t->err);
	for (size_t i = 0; i < n && rc == NSX_OK; i++)
		rc = nsx_tool_commit(t, out[i]);
	for (size_t i = 0; i < n && out; i++)
		nsx_outfile_free(out[i]);
	free(out);
	return rc;
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	size_t n;
	struct nsx_tool_part *parts = nsx_tool_parts(&cli, by, nsx_tool_output.path, &n);
	struct nsx_fold_options *options = calloc(n, sizeof *options);
	struct nsx_tool t;

	if (!options)
		nsx_cli_die(&cli, "out of memory");
	bool ranges = wanted(parts, n, options);
	nsx_tool_open_in(&t, &cli, nops, argv, ranges ? NSX_READ_ORDERED : 0);
	int rc = nsx_tool_finish(&t, fold(&t, parts, n, options));
	free(options);
	nsx_tool_parts_free(parts, n);
	return rc;
}
