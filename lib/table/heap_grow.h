/* heap_grow.h -- how the memory of programs grows from one size of batch to another, from their dumps. */
#ifndef NSX_TABLE_HEAP_GROW_H
#define NSX_TABLE_HEAP_GROW_H

#include "base/diag.h"
#include "base/err.h"
#include "base/table.h"

struct nsx_heap_grow_options {
	int64_t capacity;        /* bytes of a device's memory; 0: not known */
	int64_t batch[2];        /* the two sizes; 0: find them in the shapes of arguments */
};

/* Compare the dumps of two paths, each a dump or a folder of dumps: those of one name, of several the first with the
 * first, or two single dumps whatever their names. A table of what of the memory of devices grows or shrinks, name kind
 * what first second growth unit share, with rows that say all of it, and with a capacity fits and most. NULL with err
 * filled on failure; the caller frees it. */
struct nsx_table *nsx_heap_grow(const char *first, const char *second, const struct nsx_heap_grow_options *options,
                                struct nsx_diags *diags, struct nsx_err *err);

#endif
