/* names.h -- names of programs, for matching (match.h). */
#ifndef NSX_JOB_MATCH_NAMES_H
#define NSX_JOB_MATCH_NAMES_H

#include <stdint.h>

#include "base/str.h"

/* The names of a program in a profile. Strings are borrowed until nsx_match returns, except those that the result
 * refers to (name, fingerprint): these must outlive it. Empty strings are absent. */
struct nsx_match_alias {
	int64_t        profile;      /* number in the final order of profiles */
	int64_t        id;           /* XLA's program id; negative: none (all such of one name are one program) */
	int64_t        unit;         /* aliases of one profile with one unit are one program in every mode;
	                              * negative: none */
	struct nsx_str name;
	struct nsx_str fingerprint;
	struct nsx_str digest;       /* "d:..." of a dump, "x:..." of executed names; empty: never executed */
	struct nsx_str names;        /* with "x:...": the set of names (similar.h); empty: unknown */
};

struct nsx_match_program {
	int64_t        id;           /* in the first profile that has it; negative: none */
	struct nsx_str name;
	struct nsx_str fingerprint;  /* in the first profile that has one */
	struct nsx_str key;          /* distinct; set in the result */
};

#endif
