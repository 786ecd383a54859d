/* nsysx-flame -- folded stacks as a flame graph in one self-contained SVG. */
#include <string.h>

#include "base/num.h"
#include "base/pattern.h"
#include "draw/flame.h"
#include "tool.h"

static const char *title, *subtitle, *base, *min_width = "0.0000833", *unit = "ns", *sort = "name";
static const char *dim;
static bool icicle, collapse, plain;

static const struct nsx_opt opts[] = {
	NSX_OPT_FLAG(0, "collapse", &collapse, "draw runs of frames of one width as one row; a click opens it"),
	NSX_OPT_STR(0, "diff", &base, "BASE", "colour by what changed since these folded stacks"),
	NSX_OPT_STR(0, "dim", &dim, "REGEX", "draw frames whose name matches paler; '' for none [those of libraries]"),
	NSX_OPT_FLAG(0, "icicle", &icicle, "put the root on top"),
	NSX_OPT_STR(0, "min-width", &min_width, "SHARE", "draw no frame below this share of the total [0.0000833]"),
	NSX_OPT_FLAG(0, "plain", &plain, "one colour: for stacks that are not the work of a GPU"),
	NSX_OPT_CHOICE(0, "sort", &sort, "name|size",
	               "order of siblings from the left: by name, or the largest first [name]"),
	NSX_OPT_STR(0, "subtitle", &subtitle, "TEXT", "a line below the title"),
	NSX_OPT_STR(0, "title", &title, "TEXT", "the picture's title [Flame graph]"),
	NSX_OPT_CHOICE(0, "unit", &unit, "ns|count|bytes", "what the numbers are [ns]"),
	NSX_TOOL_FILE,
	NSX_OPT_END
};
static const struct nsx_cli cli = { "nsysx-flame",
	"[--collapse] [--diff BASE] [--icicle] [--title TEXT] [--unit UNIT] [-o FILE] [FILE]",
                                    "Draw folded stacks as a flame graph.", opts };

static struct nsx_flame_options
options_given(void)
{
	struct nsx_flame_options o = { .title = title, .subtitle = subtitle, .base = base, .icicle = icicle,
	                               .collapse = collapse, .plain = plain };

	if (plain && base)
		nsx_cli_misuse(&cli, "--plain and --diff exclude each other: both say what colours are");
	if (!nsx_get_double(nsx_str_c(min_width), &o.min_share) || !(o.min_share >= 0 && o.min_share <= 1))
		nsx_cli_misuse(&cli, "--min-width: want a share from 0 to 1, got \"%s\"", min_width);
	o.dims_libraries = !dim;
	if (dim && *dim) {
		static regex_t pattern;
		struct nsx_err err = { "" };
		const char *why = nsx_pattern_check(dim);

		if (why)
			nsx_cli_misuse(&cli, "--dim: \"%s\" is no extended regular expression: %s", dim, why);
		if (nsx_pattern_compile(dim, REG_NOSUB, &pattern, &err) != NSX_OK)
			nsx_cli_die(&cli, err.msg);
		o.dim = &pattern;
	}
	o.unit = strcmp(unit, "count") == 0 ? NSX_FLAME_COUNT : strcmp(unit, "bytes") == 0
	    ? NSX_FLAME_BYTES : NSX_FLAME_NS;
	o.sort = strcmp(sort, "size") == 0 ? NSX_FLAME_SIZE : NSX_FLAME_NAME;
	return o;
}

int
main(int argc, char **argv)
{
	int nops = nsx_cli_parse(&cli, argc, argv), rc = NSX_ERR;
	struct nsx_flame_options options = options_given();
	struct nsx_tool t = { .cli = &cli, .in_name = nops ? argv[0] : "-" };

	if (nops > 1)
		nsx_cli_misuse(&cli, "one FILE at most: join several with cat");
	if (base && strcmp(base, "-") == 0 && strcmp(t.in_name, "-") == 0)
		nsx_cli_misuse(&cli, "standard input is FILE or BASE, not both");
	nsx_tool_progress(&cli, nops, argv);
	struct nsx_outfile *out = nsx_outfile_open(nsx_tool_output.path, &t.err);
	if (out)
		rc = nsx_flame(t.in_name, &options, out, &t.diags, &t.err);
	if (rc == NSX_OK)
		rc = nsx_tool_commit(&t, out);
	rc = nsx_tool_finish(&t, rc);
	nsx_outfile_free(out);
	if (options.dim)
		regfree((regex_t *)options.dim);
	return rc;
}
