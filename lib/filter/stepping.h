/* stepping.h -- a filter that takes a record at a time, so that it can read a file or what another filter writes
 * (filter/through.h).
 *
 *   at = nsx_overlap_begin(in, out, ...);
 *   rc = nsx_step_all(&nsx_overlap_stepping, at, diags); */
#ifndef NSX_FILTER_STEPPING_H
#define NSX_FILTER_STEPPING_H

#include "base/diag.h"
#include "base/err.h"

/* at: what a filter knows that has begun. */
struct nsx_stepping {
	int (*step)(void *at);   /* read and take one record: NSX_OK, NSX_EOF if there is none, NSX_ERR */
	int (*end)(void *at, struct nsx_diags *diags);   /* after the last: NSX_OK or NSX_ERR */
	void (*free)(void *at);  /* NULL allowed */
};

/* All records of its reader, and free it; at NULL: it could not begin. NSX_OK or NSX_ERR, its err filled. */
static inline int
nsx_step_all(const struct nsx_stepping *f, void *at, struct nsx_diags *diags)
{
	int rc = at ? NSX_OK : NSX_ERR;

	while (rc == NSX_OK)
		rc = f->step(at);
	if (rc == NSX_EOF)
		rc = f->end(at, diags);
	f->free(at);
	return rc;
}

#endif
