/* similar.h -- sets of executed instructions that are nearly equal: one program of which a process did not run
 * some instructions.
 *
 * A set is a text: the number of its names, a colon, and up to NSX_NAMES_KEPT of the smallest 32-bit hashes of names in
 * ascending order, 8 hexadecimal digits each. Sets of more names are compared by the hashes that are below the largest
 * one kept of either: a sample of both.
 *
 * Measured on jobs of JAX: names of one program in two processes of a job are equal, or all but one of 135; the same
 * model compiled with other options shares 55 % of the names of both; programs of one name and of two and three
 * instructions share 67 %, and one holds the other: their ids differ. */
#ifndef NSX_JOB_MATCH_SIMILAR_H
#define NSX_JOB_MATCH_SIMILAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* FEW: with fewer names in common nothing is concluded, unless both sets are complete. */
enum { NSX_NAMES_KEPT = 128, NSX_NAMES_FEW = 8 };

/* Append the text of n distinct names; reorders them. Nothing for none. b->failed when out of memory. */
void nsx_names_put(struct nsx_buf *b, struct nsx_str *names, size_t n);

/* Share of the names of either that both have, 0 to 1; *holds: one has all names of the other. -1 if a text cannot be
 * read or nothing can be concluded. */
double nsx_names_share(struct nsx_str x, struct nsx_str y, bool *holds);

/* Programs of one name, each with its set, its ids and the profiles that have it; both ascending. */
struct nsx_match_set {
	struct nsx_str  names;
	const int64_t  *ids;
	const uint32_t *profiles;
	size_t          nids, nprofiles;
	uint32_t        of;      /* result: the index of the set that it is joined with; its own if with none */
};

/* Join sets that belong to one program. The largest set of a program represents it; each other is joined with the
 * representative that it shares most names with, one of equal id first, if no profile has both and
 *  - an id is equal, and they share at least 80 % of the names of both, or one holds the other; or
 *  - no id is equal, they share at least 90 %, and both have at least 8 names.
 * The result depends on the sets only, except that of equal ones the first counts. False when out of memory. Time: sets
 * times programs. */
bool nsx_match_similar(struct nsx_match_set *s, size_t n);

#endif
