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

/* A source location: op_name may be empty; frames outermost first, `file:line[:column][function]` joined by ';'. */
struct nsx_place { struct nsx_str op_name, frames; };

/* Distinct source locations in order of the text. {0} is empty; it owns the strings. */
struct nsx_places {
	NSX_VEC(struct nsx_place) list;
	struct nsx_intern         strs;
	struct nsx_map            seen;
	int64_t                   odd;     /* lines that could not be parsed, dropped with those below them: a stack is
	                                    * then known up to the frame around them */
};

/* Read text, `-- file:line[:column][function] op_name` a line, where the number of dashes is the depth and '<', '>',
 * '&' are written `&lt;`, `&gt;`, `&amp;`. common: text of the frames that are around all of them (may be empty),
 * without dashes, outermost first. op_name: the common prefix of the op_names of all lines, which the lines omit (may
 * be empty). *out is replaced by the locations of the text.
 *
 * A stack ends at a line that has an op_name, or has no line below it; other ends are not recorded in the text. False
 * when out of memory. */
bool nsx_places_read(struct nsx_str common, struct nsx_str text, struct nsx_str op_name, struct nsx_places *out);

void nsx_places_free(struct nsx_places *p);   /* back to {0} */

/* The op_name of a title: prefix is the module's, name the thunk's (ptr NULL: it has none), which lacks the prefix and
 * a '/'; XLA writes a name that does not begin with the prefix in full. Appended to out; nothing if there is none. */
void nsx_places_op_name(struct nsx_str prefix, struct nsx_str name, struct nsx_buf *out);

#endif
