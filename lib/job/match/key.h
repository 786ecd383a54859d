/* key.h -- the keys and the order of matched programs; private to match.c. */
#ifndef NSX_JOB_MATCH_KEY_H
#define NSX_JOB_MATCH_KEY_H

#include <stdbool.h>

#include "base/arena.h"
#include "job/match/names.h"

/* A program during collection of its aliases, first profile first; {0} has none. */
struct nsx_match_draft {
	struct nsx_match_program p;
	struct nsx_str digest, run;                       /* the first of a dump's, of executed names */
	bool     seen, one_id, one_fingerprint, one_digest, one_run;
	int      level;                                   /* level of the key: how many preferred ones are in use */
	uint32_t order;                                   /* set by the caller: breaks ties */
	uint32_t key;
};

/* Add an alias of the program; id is -1 if it has none. Strings are borrowed. */
void nsx_match_see(struct nsx_match_draft *d, const struct nsx_match_alias *a, int64_t id);

/* Set the keys of all n programs, in the arena, and sort them: (id, name, key). False when out of memory. */
bool nsx_match_keys(struct nsx_match_draft *d, size_t n, struct nsx_arena *arena);

#endif
