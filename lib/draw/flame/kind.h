/* flame/kind.h -- classifies a frame by its name; private to lib/report. */
#ifndef NSX_DRAW_FLAME_KIND_H
#define NSX_DRAW_FLAME_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum nsx_flame_kind { NSX_FLAME_GROUP, NSX_FLAME_COMPUTE, NSX_FLAME_COMM, NSX_FLAME_COPY, NSX_FLAME_IDLE,
                      NSX_FLAME_UNKNOWN, NSX_FLAME_KINDS };

enum { NSX_FLAME_SHADES = 6 };

/* The kind of a frame by its own name, by the rules of nsysx-flame(1). */
enum nsx_flame_kind nsx_flame_kind_of(struct nsx_str name);

/* Whether a frame FILE.py:LINE or FILE.pyx:LINE is code of a library: a file below site-packages, dist-packages, the
 * Python library or a folder of JAX, PyTorch or what is built on them. As an extended regular expression
 *
 *     (^|/)((site|dist)-packages|lib/python[0-9.]+|absl|flax|haiku|jax|jaxlib|optax|paxml|praxis|torch)/.*\.pyx?:[0-9]
 *
 * without regcomp and regexec, which allocate: where memory runs out glibc's free a block twice, or find no match. */
bool nsx_flame_is_library(struct nsx_str name);

/* The kind of a frame below another: communication and idle time keep their kind. */
static inline enum nsx_flame_kind
nsx_flame_kind_below(enum nsx_flame_kind parent, enum nsx_flame_kind own)
{
	return parent == NSX_FLAME_COMM || parent == NSX_FLAME_IDLE ? parent : own;
}

/* The shade of its kind's colour for a name: the same on every machine, in every run. */
unsigned nsx_flame_shade(struct nsx_str name);

/* The difference of n from base in steps of colour, from -5 (much less, or gone) to 5 (much more, or new); 0 means
 * equal or nearly equal. */
int nsx_flame_step(int64_t n, int64_t base);

#endif
