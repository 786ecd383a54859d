/* unpack.h -- a limit on the size of a decompressed input: a few bytes can decompress to more than a disk can hold. */
#ifndef NSX_BASE_UNPACK_H
#define NSX_BASE_UNPACK_H

#include <stdint.h>

#include "base/err.h"

/* Set the number of bytes to which one input may decompress, for the whole process, instead of the limit that each kind
 * of input has. To be called before threads are started. */
void nsx_unpack_set_max(uint64_t bytes);

/* NSX_OK while `bytes`, decompressed from path so far, do not exceed that limit, or `otherwise` if none was set; else
 * NSX_ERR with err filled. */
int nsx_unpack_check(const char *path, uint64_t bytes, uint64_t otherwise, struct nsx_err *err);

#endif
