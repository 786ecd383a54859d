/* words.h -- what profilers call copies and kinds of memory. */
#ifndef NSX_SOURCE_WORDS_H
#define NSX_SOURCE_WORDS_H

#include "base/str.h"

/* enum nsx_memory_kind of `Pageable`, `device_static`, `Device Static`; NSX_MEMORY_KINDS: it is none. */
uint8_t nsx_memory_of(struct nsx_str s);

/* The name that exports have of a copy, from the end of s: `HtoD`, `MemcpyH2D`, `CopyHostToDevice` are
 * `[CUDA memcpy Host-to-Device]`; of others `[CUDA memcpy Unknown]`. *peer: it is a copy between GPUs. */
struct nsx_str nsx_copy_name(struct nsx_str s, bool *peer);

#endif
