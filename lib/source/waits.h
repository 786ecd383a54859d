/* waits.h -- the waits for events that each operation has before it on its stream. */
#ifndef NSX_SOURCE_WAITS_H
#define NSX_SOURCE_WAITS_H

#include "source/trace.h"

/* A wait for an event that a call issued to a stream. */
struct nsx_wait { int64_t stream, at /* host ns, start of the call */; uint32_t device; /* in trace.devices */ };

/* Fill t->op_waits, whose operations and issues are complete; none: it stays NULL. False when out of memory. */
bool nsx_waits_count(struct nsx_trace *t, const struct nsx_wait *waits, size_t n);

#endif
