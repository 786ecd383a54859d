/* flame/kind.h -- what a frame's name says of it; private to lib/report. */
#ifndef NSX_DRAW_FLAME_KIND_H
#define NSX_DRAW_FLAME_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum nsx_flame_kind { NSX_FLAME_GROUP, NSX_FLAME_COMPUTE, NSX_FLAME_COMM, NSX_FLAME_COPY, NSX_FLAME_IDLE,
                      NSX_FLAME_UNKNOWN, NSX_FLAME_KINDS };

enum { NSX_FLAME_SHADES = 6 };

/* The kind that a frame of that name has of itself, by the rules of nsysx-flame(1). */
enum nsx_flame_kind nsx_flame_kind_of(struct nsx_str name);

/* The kind of a frame below another: communication and idle time stay what they are. */
static inline enum nsx_flame_kind
nsx_flame_kind_below(enum nsx_flame_kind parent, enum nsx_flame_kind own)
{
	return parent == NSX_FLAME_COMM || parent == NSX_FLAME_IDLE ? parent : own;
}

/* Which shade of its kind's colour a name has: the same on every machine, in every run. */
unsigned nsx_flame_shade(struct nsx_str name);

/* How far n is from base in steps of colour, from -5 (much less, or gone) to 5 (much more, or new); 0 is the same or
 * nearly so. */
int nsx_flame_step(int64_t n, int64_t base);

#endif
