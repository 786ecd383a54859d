/* diags_of.h -- diags that an earlier run of the same filter wrote into a stream: a filter that computes everything
 * again drops them, so that filtering twice gives the same bytes as filtering once. */
#ifndef NSX_JOB_DIAGS_OF_H
#define NSX_JOB_DIAGS_OF_H

#include <string.h>

#include "stream/kinds.h"

/* Whether rec is a diag of that tool ("nsysx-overlap"). */
static inline bool
nsx_is_diag_of(const struct nsx_rec *rec, const char *tool)
{
	size_t n = strlen(tool);

	if (rec->kind->id != NSX_DIAG)
		return false;
	struct nsx_str source = nsx_string(rec, NSX_DIAG_source);
	return nsx_str_starts(source, tool) && (source.len == n || source.ptr[n] == ':');
}

#endif
