/* unpack.h -- how much a compressed input may become: a few bytes can unpack to more than a disk holds. */
#ifndef NSX_BASE_UNPACK_H
#define NSX_BASE_UNPACK_H

#include <stdint.h>

#include "base/err.h"

/* Bytes that one input may unpack to, for the whole process, instead of what each kind of input has otherwise. Before
 * threads begin. */
void nsx_unpack_set_max(uint64_t bytes);

/* NSX_OK while `bytes`, unpacked of path so far, are no more than that, or than otherwise if nothing was set; else
 * NSX_ERR with err filled. */
int nsx_unpack_check(const char *path, uint64_t bytes, uint64_t otherwise, struct nsx_err *err);

#endif
