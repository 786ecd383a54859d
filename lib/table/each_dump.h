/* each_dump.h -- the programs of what people name: a dump, a folder of dumps, a profile of JAX. */
#ifndef NSX_TABLE_EACH_DUMP_H
#define NSX_TABLE_EACH_DUMP_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/str.h"

struct nsx_each_dump {
	/* A dump; in_folder: its folder was named. NSX_OK, or NSX_ERR with err filled, which may not be the state's:
	 * a file that is no dump may be a profile. */
	int (*dump)(void *state, const char *path, bool in_folder, struct nsx_err *err);
	/* The HLO of a program in a profile, which lives until the call returns; NULL: profiles are not read. */
	int (*program)(void *state, struct nsx_str hlo, const char *path, struct nsx_err *err);
	void *state;
};

/* Call these for each program of the path, "-" is the standard input; those of a folder by id, then name. A diag says
 * that there is none in it. NSX_OK, or NSX_ERR with err filled. */
int nsx_each_dump(const char *path, const struct nsx_each_dump *each, struct nsx_diags *diags, struct nsx_err *err);

/* The bytes of the file for progress; 0: it is none. */
int64_t nsx_dump_size(const char *path);

#endif
