/* flame/layout.h -- selects and places the frames to draw; private to lib/report. */
#ifndef NSX_DRAW_FLAME_LAYOUT_H
#define NSX_DRAW_FLAME_LAYOUT_H

#include "draw/flame/frames.h"

/* Lay out a tree with totals. False when out of memory. */
bool nsx_flame_lay_out(struct nsx_flame_layout *l, const struct nsx_flame_tree *t,
                       const struct nsx_flame_options *options);

void nsx_flame_layout_free(struct nsx_flame_layout *l);

#endif
