/* raw.h -- the bytes of an input before it is read as a stream, or instead: for what may be a stream or something
 * else. */
#ifndef NSX_STREAM_RAW_H
#define NSX_STREAM_RAW_H

#include "stream/reader.h"

/* What comes next in r's input, decompressed where it is zstd: at least n bytes unless the input ends before. They live
 * until the next call. NSX_OK; NSX_EOF if there are fewer than n; NSX_ERR with the reader's err filled. Nothing is
 * taken, so nsx_read still begins where it would have. */
int nsx_raw_peek(struct nsx_reader *r, size_t n, struct nsx_str *bytes);

/* Take n of them. After that r is no stream any more: no nsx_read. */
void nsx_raw_take(struct nsx_reader *r, size_t n);

/* How messages name the input. */
const char *nsx_raw_name(const struct nsx_reader *r);

#endif
