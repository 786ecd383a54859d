/* longer.c -- a filter of one's own: pass a stream without its shorter thunks.
 *
 *     cc -o longer longer.c $(pkg-config --static --cflags --libs nsysx)
 *     nsysx-extract r0.sqlite | ./longer --min 50us | nsysx-fold
 */
#include <base/cli.h>
#include <stream/reader.h>
#include <stream/writer.h>

static int64_t least;

static const struct nsx_opt opts[] = {
	NSX_OPT_TIME('m', "min", &least, "TIME", "leave out thunks shorter than this [0]"),
	NSX_OPT_END
};
static const struct nsx_cli cli = { "longer", "[-m TIME] [FILE]", "Pass a stream without its shorter thunks.", opts };

/* Copy in to out; of a kind or a column that we do not know, too. */
static int
filter(struct nsx_reader *in, struct nsx_writer *out)
{
	struct nsx_rec rec;
	int rc;

	while ((rc = nsx_read(in, &rec)) == NSX_OK) {
		if (rec.kind->id == NSX_THUNK && nsx_int(&rec, NSX_THUNK_dur, 0) < least)
			continue;
		if (nsx_write(out, &rec) != NSX_OK)
			return NSX_ERR;
	}
	return rc == NSX_EOF ? nsx_writer_finish(out) : NSX_ERR;
}

int
main(int argc, char **argv)
{
	struct nsx_err err = { "" };
	struct nsx_out to = { "-", false, 0 };
	int operands = nsx_cli_parse(&cli, argc, argv);

	if (operands > 1)
		nsx_cli_misuse(&cli, "one FILE at most");
	struct nsx_reader *in = nsx_reader_open(operands ? argv[0] : "-", 0, &err);
	struct nsx_writer *out = in ? nsx_writer_open(&to, &err) : NULL;
	if (out)
		nsx_writer_follow(out, in);
	if (!out || filter(in, out) != NSX_OK)
		nsx_cli_die(&cli, err.msg);
	nsx_writer_free(out);
	nsx_reader_close(in);
	return NSX_EXIT_OK;
}
