/* err.h -- statuses, and the one message that says why something failed. */
#ifndef NSX_BASE_ERR_H
#define NSX_BASE_ERR_H

#include <stdbool.h>

#include "base/declare.h"

NSX_BEGIN_C

enum nsx_status {
	NSX_OK  = 0,
	NSX_EOF = 1,   /* clean end; a truncated stream is NSX_ERR */
	NSX_ERR = -1   /* the nsx_err passed at open has the reason */
};

/* The first error wins: a second nsx_err_set leaves msg alone. {""} is "no error".
 * A message names the place, what was wanted and what came; no tool name, no
 * capital, no full stop. */
struct nsx_err { char msg[1024]; };

/* Fill err (which may be NULL) unless it is filled already. Always returns NSX_ERR. */
int nsx_err_set(struct nsx_err *err, const char *fmt, ...) NSX_PRINTF(2, 3);

/* nsx_err_set with "PATH: out of memory", and the limit if the user set one (memory.h); path may be NULL. */
int nsx_err_nomem(struct nsx_err *err, const char *path);
/* The same for the owner of an error, a pointer to a structure that has `err`. */
#define NSX_NOMEM(owner) nsx_err_nomem((owner)->err, NULL)

/* nsx_err_set with "PATH: the sum of times exceeds 64 bits"; path may be NULL. */
int nsx_err_overflow(struct nsx_err *err, const char *path);

NSX_END_C

#endif
