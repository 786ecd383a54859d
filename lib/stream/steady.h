/* steady.h -- streams in which nothing is steady: nsysx-warmup found no execution after initialisation, left all of it
 * in, and says so in a diag. What such a stream has to say is about first executions, whatever reads it. */
#ifndef NSX_STREAM_STEADY_H
#define NSX_STREAM_STEADY_H

#include <stdbool.h>

#include "stream/kinds.h"

/* The tool, and the text of its diag. */
#define NSX_STEADY_TOOL "nsysx-warmup"
#define NSX_STEADY_NONE "no execution after initialisation: everything counts as steady state"

/* Whether the record is that diag. */
static inline bool
nsx_says_unsteady(const struct nsx_rec *rec)
{
	return rec->kind->id == NSX_DIAG && nsx_str_starts(nsx_string(rec, NSX_DIAG_source), NSX_STEADY_TOOL)
	       && nsx_str_eq(nsx_string(rec, NSX_DIAG_text), NSX_STR(NSX_STEADY_NONE));
}

/* What a screen says first. */
#define NSX_STEADY_SAYS "nothing is steady: the stream has no execution after initialisation, so all numbers are of " \
                        "first executions; record more steps"

#endif
