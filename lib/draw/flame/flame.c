/* flame.c -- folded stacks as one picture: reads, lays out, writes. */
#include "draw/flame.h"

#include <string.h>

#include "draw/flame/svg.h"

/* Notes for the user at the terminal; they are in the picture too. */
static void
tell(const struct nsx_flame_tree *t, const struct nsx_flame_layout *l, const char *path,
     const struct nsx_flame_options *options,
     struct nsx_diags *diags)
{
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;

	nsx_diag_add(diags, NSX_WARNING, name, t->total[NSX_FLAME_NEW] == 0, "no stacks: the picture is empty");
	nsx_diag_add(diags, NSX_INFO, name, l->narrow, "frames too narrow to be drawn; --min-width=0 draws all");
	if (options->base)
		nsx_diag_add(diags, NSX_INFO, options->base, l->gone,
		             "stacks that are not in the other file: not drawn");
}

int
nsx_flame(const char *path, const struct nsx_flame_options *options, struct nsx_outfile *out, struct nsx_diags *diags,
          struct nsx_err *err)
{
	struct nsx_flame_tree tree = { 0 };
	struct nsx_flame_layout layout = { 0 };
	int rc = nsx_flame_read(&tree, path, NSX_FLAME_NEW, err);

	if (rc == NSX_OK && options->base)
		rc = nsx_flame_read(&tree, options->base, NSX_FLAME_BASE, err);
	if (rc == NSX_OK) {
		rc = nsx_flame_sum(&tree) && nsx_flame_lay_out(&layout, &tree, options)
		     ? NSX_OK : nsx_err_nomem(err, path);
	}
	if (rc == NSX_OK) {
		tell(&tree, &layout, path, options, diags);
		rc = nsx_flame_write(&tree, &layout, options, out, err);
	}
	nsx_flame_layout_free(&layout);
	nsx_flame_tree_free(&tree);
	return rc;
}
