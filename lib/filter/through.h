/* through.h -- a stream through several filters, one after the other: what a pipeline of their programs writes, without
 * records being encoded and decoded between them. */
#ifndef NSX_FILTER_THROUGH_H
#define NSX_FILTER_THROUGH_H

#include <stddef.h>

#include "base/diag.h"
#include "base/err.h"
#include "stream/writer.h"

enum { NSX_THROUGH_MOST = 8 };   /* filters */

/* A filter: its name, that of its program without "nsysx-"; and what became of it. */
struct nsx_through {
	const char      *name;
	struct nsx_diags diags;   /* the caller frees them */
	struct nsx_err   err;     /* "": it did not fail, or only as one behind it did */
};

/* The names of all filters, in the order in which nsysx-prepare runs them; i beyond the last: NULL. Each does what its
 * program does without options. */
const char *nsx_through_name(size_t i);

/* Read the stream at path (NULL or "-": standard input) through the n filters of f, whose names are set and everything
 * else is zero. align can only be the first. `out` gets the records of the last one; it follows no reader, and is not
 * finished. NSX_OK, or NSX_ERR: the err of the first filter that has one says why, or err. */
int nsx_through(const char *path, struct nsx_through *f, size_t n, struct nsx_writer *out, struct nsx_err *err);

#endif
