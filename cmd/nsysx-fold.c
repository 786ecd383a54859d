/* nsysx-fold -- GPU time as folded stacks, a line each: frame;frame NANOSECONDS. */
#include "draw/fold.h"
#include "tool.h"

static const char *output, *by = "source", *names, *cover = "0.99";
static bool exposed, mark_comm, repeats;

static const struct nsx_opt opts[] = {
	NSX_OPT_CHOICE(0, "by", &by, "source|op-name|opcode|module|nvtx|kernel", "what the frames are [source]"),
	NSX_OPT_CHOICE(0, "names", &names, "key|full|digits",
	               "ranges without what frameworks append, as they are, or with digits as # [key]"),
	NSX_OPT_FLAG(0, "exposed", &exposed,
	             "by nvtx and kernel: of operations that communicate, only the exposed part"),
	NSX_OPT_STR(0, "cover", &cover, "SHARE", "leave out the programs beyond this share of module time [0.99]"),
	NSX_OPT_FLAG(0, "mark-comm", &mark_comm, "end stacks that communicate in a frame [communication]"),
	NSX_OPT_FLAG(0, "repeats", &repeats, "by source: keep runs of frames that repeat at once"),
	NSX_OPT_STR('o', "output", &output, "FILE",
	            "write to FILE, which appears when it is complete [standard output]"),
	NSX_OPT_FLAG(0, "partial", &nsx_tool_input.partial, "accept a text stream without its end or headers"),
	NSX_OPT_STR(0, "require", &nsx_tool_input.require, "KIND", "fail unless the stream has a record of this kind"),
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-fold",
	"[--by WHAT] [--names FORM] [--exposed] [--mark-comm] [--cover SHARE] [--repeats] [-o FILE] [FILE]",
                                    "Print GPU time as folded stacks.", opts };

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv), rc = NSX_ERR;
	struct nsx_fold_options options = { .by = (enum nsx_fold_by)nsx_fold_by_name(by), .exposed = exposed,
	                                    .mark_comm = mark_comm, .repeats = repeats,
	                                    .require = nsx_tool_input.require };
	bool ranges = options.by == NSX_FOLD_NVTX || options.by == NSX_FOLD_KERNEL;
	struct nsx_outfile *out;
	struct nsx_tool t;

	if (!nsx_cover_parse(cover, &options.cover))
		nsx_cli_misuse(&cli, "--cover: want a share above 0, at most 1, got \"%s\"", cover);
	if (repeats && options.by != NSX_FOLD_SOURCE)
		nsx_cli_misuse(&cli, "--repeats goes with --by source");
	if ((names || exposed) && !ranges)
		nsx_cli_misuse(&cli, "--%s goes with --by nvtx and kernel", names ? "names" : "exposed");
	if (names)
		nsx_names_parse(names, &options.names);
	nsx_tool_open_in(&t, &cli, nops, argv, ranges ? NSX_READ_ORDERED : 0);
	out = nsx_outfile_open(output, &t.err);
	if (out)
		rc = nsx_fold(t.in, &options, out, &t.diags, &t.err);
	if (rc == NSX_OK)
		rc = nsx_tool_commit(&t, out);
	rc = nsx_tool_finish(&t, rc);
	nsx_outfile_free(out);
	return rc;
}
