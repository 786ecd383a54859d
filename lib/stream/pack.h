/* pack.h -- records as bytes in memory, to be kept for some time. */
#ifndef NSX_STREAM_PACK_H
#define NSX_STREAM_PACK_H

#include "stream/kinds.h"

/* Append a copy of rec; rec->kind must outlive it. b->failed when out of memory. */
void nsx_pack(struct nsx_buf *b, const struct nsx_rec *rec);

/* Decode the record at p into rec, its values into v (NSX_MAX_COLS); strings point into the bytes. Returns the end of
 * the record. */
const char *nsx_unpack(const char *p, struct nsx_rec *rec, union nsx_val *v);

#endif
