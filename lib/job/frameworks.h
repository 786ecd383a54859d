/* frameworks.h -- names that frameworks give (frameworks.def). */
#ifndef NSX_JOB_FRAMEWORKS_H
#define NSX_JOB_FRAMEWORKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum nsx_framework_use { NSX_FRAMEWORK_STEP, NSX_FRAMEWORK_NO_STEP, NSX_FRAMEWORK_OPERATOR,
                         NSX_FRAMEWORK_COMPILE, NSX_FRAMEWORK_NO_COMPILE,
                         NSX_FRAMEWORK_RECOMPUTE, NSX_FRAMEWORK_BACKWARD, NSX_FRAMEWORK_BACKWARD_PART,
                         NSX_FRAMEWORK_OPTIMIZER, NSX_FRAMEWORK_CALLED_FORWARD,
                         NSX_FRAMEWORK_CALLED_BACKWARD, NSX_FRAMEWORK_CALLED_OPTIMIZER,
                         NSX_FRAMEWORK_MODULE, NSX_FRAMEWORK_NO_SCOPE, NSX_FRAMEWORK_WRAP, NSX_FRAMEWORK_STRUCTURE,
                         NSX_FRAMEWORK_BRANCH, NSX_FRAMEWORK_AWAITS,
                         NSX_FRAMEWORK_LIBRARY, NSX_FRAMEWORK_VERSIONED, NSX_FRAMEWORK_NCCL,
                         NSX_FRAMEWORK_NCCL_KIND, NSX_FRAMEWORK_NCCL_SYMMETRIC, NSX_FRAMEWORK_NCCL_SYMMETRIC_KIND,
                         NSX_FRAMEWORK_DEEP_EP, NSX_FRAMEWORK_KERNEL, NSX_FRAMEWORK_LAST_KERNEL, NSX_FRAMEWORK_WORD,
                         NSX_FRAMEWORK_INSTRUCTION, NSX_FRAMEWORK_RANGE_OF, NSX_FRAMEWORK_RANGE };

/* kind: of communication, where the use has one. */
struct nsx_framework_name { enum nsx_framework_use use; struct nsx_str text; const char *kind; };

/* The first line of that use from number *i on, which is set to its number; NULL if there is none. */
const struct nsx_framework_name *nsx_framework_at(enum nsx_framework_use use, size_t *i);

/* The length of a text of that use that s begins with: of the first from number *i on, which is set to its number; 0 if
 * there is none. */
size_t nsx_framework_next(enum nsx_framework_use use, struct nsx_str s, size_t *i);

/* Whether s is a text of that use. */
bool nsx_framework_has(enum nsx_framework_use use, struct nsx_str s);

/* Whether s begins with a text of that use. */
static inline bool
nsx_framework_is(enum nsx_framework_use use, struct nsx_str s)
{
	size_t i = 0;

	return nsx_framework_next(use, s, &i) > 0;
}

#endif
