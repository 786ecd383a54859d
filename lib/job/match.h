/* match.h -- which programs of several profiles are one program.
 * The answer is a function of the set of aliases alone, never of the order they come in. */
#ifndef NSX_JOB_MATCH_H
#define NSX_JOB_MATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "job/match_names.h"

enum nsx_match_by {
	NSX_MATCH_AUTO,          /* by name and digest */
	NSX_MATCH_ID,            /* by name and id */
	NSX_MATCH_FINGERPRINT    /* by name and fingerprint; by name and id where there is none */
};

/* Programs in order of (id, name, key), those with no id last. */
struct nsx_match {
	struct nsx_match_program *programs;
	size_t                    nprograms;
	uint32_t                 *program;    /* of each alias */
	struct nsx_arena          arena;
};

/* Match n aliases. In every mode programs of different names are never one, and in one profile different ids are
 * different programs (else two executions of a device would have one number). In mode AUTO:
 *  - Across profiles those of one name and digest are one. Where a profile has several such, the longest list of ids
 *     that a
 *    profile has (of several the most frequent, then the lowest) makes the programs; another profile's take theirs by
 *     equal id, the rest of them
 *    what is left, in order of id.
 *  - Digests of unlike marks are not compared: then an equal id joins, as it does for aliases without a digest; never
 *     so that
 *    a profile has two ids in one program.
 * In mode FINGERPRINT the first rule holds of fingerprints in place of digests.
 * A key is name@id where all profiles agree on the id; else, or if another program has that key, name@fingerprint,
 * name@digest, name@(first) id; programs with no id have their name. If all that leaves equal ones, the second gets
 * "#2" appended, and so on. NSX_OK or NSX_ERR (out of memory); m is to be freed in both cases. */
int nsx_match(const struct nsx_match_alias *a, size_t n, enum nsx_match_by mode, struct nsx_match *m,
              struct nsx_err *err);

void nsx_match_free(struct nsx_match *m);

#endif
