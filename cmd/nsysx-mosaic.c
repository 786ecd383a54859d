/* nsysx-mosaic -- the profiler buffer of a Mosaic GPU kernel as a Chrome trace, or as a stream of ranges. */
#include <string.h>

#include "draw/mosaic.h"
#include "base/num.h"
#include "tool.h"

static const char *grid, *block, *names_path, *layout = "auto", *scope = "auto";
static bool stream;

static const struct nsx_opt opts[] = {
	NSX_OPT_STR(0, "grid", &grid, "X,Y,Z", "blocks of the kernel's grid"),
	NSX_OPT_STR(0, "block", &block, "X,Y,Z", "threads of a block"),
	NSX_OPT_STR(0, "names", &names_path, "FILE", "names of events: lines of id, tab, name"),
	NSX_OPT_CHOICE(0, "layout", &layout, "auto|entries|traces",
	               "what the count of a trace includes: its header, or events only"),
	NSX_OPT_CHOICE(0, "scope", &scope, "auto|warpgroup|warp", "what has a trace of its own"),
	NSX_OPT_FLAG(0, "stream", &stream, "write a stream of range records instead"),
	NSX_TOOL_OUTPUT,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-mosaic",
	"--grid X,Y,Z --block X,Y,Z --names FILE [--layout LAYOUT] [--scope SCOPE] [--stream [-b] [-z[LEVEL]]] "
	"[-o FILE] [BUFFER]",
                                    "Turn the profiler buffer of a Mosaic GPU kernel into a Chrome trace.", opts };

/* The product of up to three numbers separated by commas. */
static int64_t
volume(const char *option, const char *text)
{
	int64_t product = 1, v;
	int n = 0;

	if (!text)
		nsx_cli_misuse(&cli, "--%s is needed", option);
	for (const char *p = text;; p++) {
		size_t len = strcspn(p, ",");
		if (++n > 3 || !nsx_get_int((struct nsx_str){ p, len }, &v) || v < 1 || v > INT32_MAX ||
		    product > INT64_MAX / v)
			nsx_cli_misuse(&cli, "--%s: want up to three numbers above 0, separated by commas, got \"%s\"",
			               option, text);
		product *= v;
		p += len;
		if (!*p)
			return product;
	}
}

/* The file's name without folder and ending. */
static struct nsx_str
stem(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');

	return (struct nsx_str){ name, dot && dot != name ? (size_t)(dot - name) : strlen(name) };
}

static int
write_trace(struct nsx_tool *t, const struct nsx_mosaic *m)
{
	struct nsx_outfile *f = nsx_outfile_open(nsx_tool_output.path, &t->err);
	int rc = NSX_ERR;

	if (f && nsx_mosaic_json(m, f, &t->diags, &t->err) == NSX_OK)
		rc = nsx_tool_commit(t, f);
	nsx_outfile_free(f);
	return rc;
}

static int
write_stream(struct nsx_tool *t, const struct nsx_mosaic *m)
{
	nsx_tool_open_out(t);
	return nsx_mosaic_stream(m, strcmp(t->in_name, "-") == 0 ? NSX_STR("mosaic") : stem(t->in_name), t->out,
	                         &t->diags, &t->err);
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv);
	struct nsx_tool t = { .cli = &cli, .in_name = nops ? argv[0] : "-" };
	struct nsx_mosaic_shape shape = { .blocks = volume("grid", grid), .threads = volume("block", block) };
	struct nsx_mosaic_names names = { 0 };
	struct nsx_buf buffer = { 0 }, text = { 0 };
	struct nsx_mosaic m = { 0 };

	if (nops > 1)
		nsx_cli_misuse(&cli, "one BUFFER at most");
	if (!names_path)
		nsx_cli_misuse(&cli, "--names is needed");
	if (!stream && (nsx_tool_output.binary || nsx_tool_output.text || nsx_tool_output.zlevel))
		nsx_cli_misuse(&cli, "--binary, --text and --compress go with --stream");
	if (strcmp(layout, "auto") != 0)
		shape.layout = strcmp(layout, "entries") == 0 ? NSX_MOSAIC_ENTRIES : NSX_MOSAIC_TRACES;
	if (strcmp(scope, "auto") != 0)
		shape.scope = strcmp(scope, "warp") == 0 ? NSX_MOSAIC_WARP : NSX_MOSAIC_WARPGROUP;
	int rc = nsx_mosaic_slurp(names_path, &text, &t.err);
	if (rc == NSX_OK)
		rc = nsx_mosaic_names_parse(&names, nsx_buf_view(&text), names_path, &t.err);
	if (rc == NSX_OK)
		rc = nsx_mosaic_slurp(t.in_name, &buffer, &t.err);
	struct nsx_str bytes = nsx_buf_view(&buffer);
	if (rc == NSX_OK)
		rc = nsx_mosaic_npy(&bytes, t.in_name, &t.err);
	if (rc == NSX_OK)
		rc = nsx_mosaic_decode(bytes, t.in_name, &shape, &names, &m, &t.diags, &t.err);
	if (rc == NSX_OK)
		rc = stream ? write_stream(&t, &m) : write_trace(&t, &m);
	rc = nsx_tool_finish(&t, rc);
	nsx_mosaic_free(&m);
	nsx_mosaic_names_free(&names);
	nsx_buf_free(&buffer);
	nsx_buf_free(&text);
	return rc;
}
