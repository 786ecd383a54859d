/* unpack.c -- a limit on the size of a decompressed input. */
#include "base/unpack.h"

#include <inttypes.h>

static uint64_t max_bytes;   /* 0: not set */

void
nsx_unpack_set_max(uint64_t bytes)
{
	max_bytes = bytes;
}

int
nsx_unpack_check(const char *path, uint64_t bytes, uint64_t otherwise, struct nsx_err *err)
{
	uint64_t max = max_bytes ? max_bytes : otherwise;

	if (bytes <= max)
		return NSX_OK;
	return nsx_err_set(err, "%s: unpacks to more than %" PRIu64 " bytes; --max-unpacked sets the limit",
	                   path, max);
}
