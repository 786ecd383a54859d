/* flame/rows.h -- the row of each frame, and which frames are dimmed; private to lib/draw. */
#ifndef NSX_DRAW_FLAME_ROWS_H
#define NSX_DRAW_FLAME_ROWS_H

#include "draw/flame/frames.h"

/* Of a layout whose frames are placed from left to right: fill in row, run and dim of each, and l->rows, l->dims and
 * l->runs. False when out of memory. */
bool nsx_flame_rows(struct nsx_flame_layout *l, const struct nsx_flame_tree *t,
                    const struct nsx_flame_options *options);

#endif
