/* match.h -- which programs of several profiles are the same program. The result depends on the set of aliases only,
 * never on their order. */
#ifndef NSX_JOB_MATCH_MATCH_H
#define NSX_JOB_MATCH_MATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "job/match/names.h"

enum nsx_match_by {
	NSX_MATCH_AUTO,          /* by name and digest */
	NSX_MATCH_ID,            /* by name and id */
	NSX_MATCH_FINGERPRINT    /* by name and fingerprint; by name and id if there is no fingerprint */
};

/* Programs in order of (id, name, key), those with no id last. */
struct nsx_match {
	struct nsx_match_program *programs;
	size_t                    nprograms;
	uint32_t                 *program;    /* of each alias */
	struct nsx_arena          arena;
};

/* Match n aliases. In every mode programs of different names are never the same, and in one profile different ids are
 * different programs (else two executions of a device would have one number). In mode AUTO:
 *  - Across profiles those with equal name and digest are one. If a profile has several such, the longest list of ids
 *    of any profile (of several the most frequent, then the lowest) defines the programs; aliases of other profiles are
 *    assigned by equal id, and the rest to the remaining programs in order of id.
 *  - Programs of one name that were executed under different digests are one if their sets of names are nearly equal,
 *    and no profile has both (similar.h: equal id, and 80 % of the names of both or one holds the other; other
 *    ids, and 90 % of at least 8).
 *  - Digests with different marks are not compared: then an equal id joins, as it does for aliases without a digest,
 *    unless a profile would have two ids in one program.
 * In mode FINGERPRINT the first rule applies to fingerprints instead of digests.
 * A key is name@id where all profiles agree on the id; else, or if another program has that key, name@fingerprint,
 * name@digest, name@(first) id; programs with no id have their name. If keys are still equal, the second gets "#2"
 * appended, and so on. NSX_OK or NSX_ERR (out of memory); free m in both cases. */
int nsx_match(const struct nsx_match_alias *a, size_t n, enum nsx_match_by mode, struct nsx_match *m,
              struct nsx_err *err);

void nsx_match_free(struct nsx_match *m);

#endif
