/* large.h -- arrays that together may be larger than memory: up to a limit they are in memory, beyond it in unlinked
 * files of $TMPDIR, mapped. They are arrays like any other; whoever goes through them in order from time to time lets
 * go of the pages that were touched, which come back from the file when they are touched again. A thread of its own
 * prepares the pages of files ahead of their use.
 *
 *   struct nsx_large l = { .limit = 256 << 20 };
 *   NSX_VEC(struct op) ops = { 0 };
 *   nsx_large_push(&l, &ops, op);
 *   for (i = 0; i < ops.n; i++) {
 *           nsx_large_pause(&l, i);
 *           ... ops.p[i] and others near it in time
 *   }
 *   nsx_large_free(&l, ops.p);
 *
 * Several threads may use arrays of one struct, and rest, while one of them adds and frees others.
 */
#ifndef NSX_BASE_LARGE_H
#define NSX_BASE_LARGE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

NSX_BEGIN_C

/* {0} with a limit is empty. bytes: of arrays in memory. mapped: bytes of files that need not be let go. */
struct nsx_large {
	size_t limit, bytes, mapped;
	struct nsx_err *err;     /* why a file could not be made, or made longer; NULL allowed */
	/* fd -1: in memory. given: bytes of a file that its array may use. */
	NSX_VEC(struct nsx_large_area { void *p; size_t bytes, given; int fd; }) areas;
	struct nsx_large_ahead *ahead;
	pthread_mutex_t lock;    /* of areas; all bytes 0 are one that is not locked */
};

/* As nsx_vec_room and nsx_vec_push; false: out of memory, or of space for files. Arrays of one struct alone: the vector
 * belongs to it from the first call on, and p is to be freed with nsx_large_free. */
#define nsx_large_room(l, v, k) \
	((v)->cap - (v)->n >= (size_t)(k) \
	 || nsx_large_grow_(l, &(v)->p, sizeof *(v)->p, &(v)->cap, (v)->n, (size_t)(k)))
#define nsx_large_push(l, v, x) (nsx_large_room(l, v, 1) && ((v)->p[(v)->n++] = (x), true))

/* An array of n elements, all bytes 0; NULL on failure. The caller frees it with nsx_large_free. */
void *nsx_large_array(struct nsx_large *l, size_t n, size_t size);

/* NULL, or an array of l. */
void nsx_large_free(struct nsx_large *l, void *p);

/* Let go of pages of files, if more than `mapped` bytes are there. What is in them stays. */
void nsx_large_rest(struct nsx_large *l);

/* The same, at every 2^18th element of a loop. */
static inline void
nsx_large_pause(struct nsx_large *l, size_t i)
{
	if (!(i & 0x3ffff))
		nsx_large_rest(l);
}

/* Free all arrays that are left. */
void nsx_large_end(struct nsx_large *l);

bool nsx_large_grow_(struct nsx_large *l, void *pp, size_t size, size_t *cap, size_t n, size_t more);

NSX_END_C

#endif
