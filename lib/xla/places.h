/* places.h -- the source locations that XLA attaches to its NVTX ranges: the call stacks of an instruction, merged into
 * a tree and written line by line. */
#ifndef NSX_XLA_PLACES_H
#define NSX_XLA_PLACES_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

/* A place: op_name may be empty; frames outermost first, `file:line[:column][function]` joined by ';'. */
struct nsx_place { struct nsx_str op_name, frames; };

/* Distinct places in order of the text. {0} is empty; strings are owned by it. */
struct nsx_places {
	NSX_VEC(struct nsx_place) list;
	struct nsx_intern         strs;
	struct nsx_map            seen;
	int64_t                   odd;     /* lines that could not be understood, left out with what is below them: a
	                                    * stack is then known as far as the frame around */
};

/* Read text, `-- file:line[:column][function] op_name` a line, where dashes tell the depth and '<', '>', '&' are
 * written `&lt;`, `&gt;`, `&amp;`. common: text of the frames that are around all of them (may be empty), without
 * dashes, outermost first. op_name: what the op_names of all lines begin with, which the lines leave out (may be
 * empty). *out becomes what the text says.
 *
 * A stack ends at a line that has an op_name, or has nothing below it: the text does not tell of others. False when out
 * of memory. */
bool nsx_places_read(struct nsx_str common, struct nsx_str text, struct nsx_str op_name, struct nsx_places *out);

void nsx_places_free(struct nsx_places *p);   /* back to {0} */

/* The op_name that titles tell of: prefix is the module's, name the thunk's (ptr NULL: it has none), which lacks the
 * prefix and a '/'; a name that does not begin with the prefix XLA writes whole. Appended to out; nothing if there is
 * none. */
void nsx_places_op_name(struct nsx_str prefix, struct nsx_str name, struct nsx_buf *out);

#endif
