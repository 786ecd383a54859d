/* blob.h -- the bytes of a column of binary data of NVTX payloads: a header, then the payload.
 *
 *     0       4       8             16            24              32
 *     | domain|       | schema      | bytes       |               | payload ...      little-endian
 *
 * The column holds them as they are or as hexadecimal digits. */
#ifndef NSX_NSYS_BLOB_H
#define NSX_NSYS_BLOB_H

#include <stdint.h>

#include "base/str.h"
#include "nsys/db.h"

/* payload: `size` bytes, NULL if the value is none or too short. header: the bytes before it. */
struct nsx_blob { const unsigned char *header, *payload; uint64_t size; };

enum { NSX_BLOB_HEADER = 32, NSX_BLOB_SCHEMA = 8, NSX_BLOB_SIZE = 16 };

/* The blob of a value. Its bytes live as long as v and, if they were digits, are in buf, whose contents they replace;
 * buf->failed when out of memory. */
struct nsx_blob nsx_blob_of(sqlite3_value *v, struct nsx_buf *buf);

/* The little-endian number of n bytes at p. */
uint64_t nsx_blob_number(const unsigned char *p, int64_t n);

#endif
