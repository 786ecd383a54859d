/* call_name.h -- properties of a CUDA or HIP call that follow from its name. */
#ifndef NSX_SOURCE_CALL_NAME_H
#define NSX_SOURCE_CALL_NAME_H

#include "base/str.h"
#include "source/trace.h"

/* The name without the version that Nsight Systems appends to calls of the runtime API (`_v` and four or five digits),
 * as in the reports of Nsight Systems; part of s, empty if s is only that suffix. */
struct nsx_str nsx_call_name_bare(struct nsx_str s);

/* The class of calls of that name, for any version and default stream. */
enum nsx_call_class nsx_call_class_of(struct nsx_str s);

/* Whether the name contains "async", in any case. */
bool nsx_call_is_async(struct nsx_str s);

/* What it has to do with events and waiting. */
enum nsx_call_role nsx_call_role_of(struct nsx_str s);

/* Whether such a call makes a stream wait for an event. */
bool nsx_call_is_wait(struct nsx_str s);

#endif
