/* call_name.h -- what a CUDA call's name tells of it; private to lib/nsys. */
#ifndef NSX_NSYS_CALL_NAME_H
#define NSX_NSYS_CALL_NAME_H

#include "base/str.h"
#include "nsys/trace.h"

/* The name without the version that Nsight Systems puts behind the runtime's (`_v` and four or five digits); part of s,
 * empty if s is nothing else, as it is in the reports of Nsight Systems. */
struct nsx_str nsx_call_name_bare(struct nsx_str s);

/* What calls of that name do, whatever their version and default stream. */
enum nsx_call_class nsx_call_class_of(struct nsx_str s);

/* Whether the name has "async" in it, in any case. */
bool nsx_call_is_async(struct nsx_str s);

/* Whether such a call makes a stream wait for an event. */
bool nsx_call_is_wait(struct nsx_str s);

#endif
