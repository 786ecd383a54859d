/* flame/svg.h -- a layout as SVG; private to lib/report. */
#ifndef NSX_DRAW_FLAME_SVG_H
#define NSX_DRAW_FLAME_SVG_H

#include "draw/flame/layout.h"

/* Write the picture: NSX_OK, or NSX_ERR with err filled. */
int nsx_flame_write(const struct nsx_flame_tree *t, const struct nsx_flame_layout *l,
                    const struct nsx_flame_options *options,
                    struct nsx_outfile *out, struct nsx_err *err);

#endif
