/* match_key.h -- the keys and the order of matched programs; private to match.c. */
#ifndef NSX_JOB_MATCH_KEY_H
#define NSX_JOB_MATCH_KEY_H

#include <stdbool.h>

#include "base/arena.h"
#include "job/match_names.h"

/* A program while its aliases are seen, first profile first; {0} has seen none. */
struct nsx_match_draft {
	struct nsx_match_program p;
	struct nsx_str digest, run;                       /* the first of a dump's, of executed names */
	bool     seen, one_id, one_fingerprint, one_digest, one_run;
	int      level;                                   /* of key: how many better ones are taken */
	uint32_t order;                                   /* the caller's: ties go by it */
	uint32_t key;
};

/* One more alias of the program; id is -1 where it has none. Strings are borrowed. */
void nsx_match_see(struct nsx_match_draft *d, const struct nsx_match_alias *a, int64_t id);

/* Give all n programs their keys, in the arena, and sort them: (id, name, key). False when out of memory. */
bool nsx_match_keys(struct nsx_match_draft *d, size_t n, struct nsx_arena *arena);

#endif
