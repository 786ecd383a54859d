/* call_name.h -- properties of a CUDA or HIP call that follow from its name. */
#ifndef NSX_SOURCE_CALL_NAME_H
#define NSX_SOURCE_CALL_NAME_H

#include "base/str.h"
#include "source/trace.h"

/* The name without the version that Nsight Systems appends to calls of the runtime API (`_v` and four or five digits),
 * as in the reports of Nsight Systems; part of s, empty if s is only that suffix. */
struct nsx_str nsx_call_name_bare(struct nsx_str s);

/* The properties of calls of that name, for any version and default stream; their `name` is that number. */
struct nsx_call_name nsx_call_name_of(uint32_t name, struct nsx_str s);

#endif
