/* dumpfile.h -- the bytes of a dump, compressed or not, by offset and through a small window: a file of any size needs
 * a few hundred KB, and truncating it while it is read causes an error, not a signal. Private to lib/xla. */
#ifndef NSX_XLA_DUMPFILE_H
#define NSX_XLA_DUMPFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct nsx_dumpfile {
	const char          *path;    /* for messages */
	struct nsx_err      *err;
	uint64_t             size;    /* decompressed */
	int                  fd;      /* -1: memory */
	unsigned char       *buf;     /* owned; NULL: not allocated yet, or memory of the caller */
	size_t               cap;
	const unsigned char *window;  /* bytes start .. start + have of the file */
	uint64_t             start;
	size_t               have;
	bool                 trouble; /* it failed for lack of memory, or because the system could not read the file:
	                               * the dump itself may be valid */
};

/* Open path; .xz and .zst are recognised by their first bytes and decompressed, to memory or, when they are larger than
 * a few MB, to an unlinked temporary file; so is a file that cannot be read by offset. NSX_OK, or NSX_ERR with err
 * filled. path and err must outlive it. */
int nsx_dumpfile_open(struct nsx_dumpfile *f, const char *path, struct nsx_err *err);

/* The same for n bytes at p, which the caller owns; never fails. */
void nsx_dumpfile_memory(struct nsx_dumpfile *f, const void *p, size_t n, const char *name, struct nsx_err *err);

/* Set the error of a reader of f that ran out of memory. */
int nsx_dumpfile_nomem(struct nsx_dumpfile *f);

void nsx_dumpfile_close(struct nsx_dumpfile *f);

/* nsx_dumpfile_at for bytes outside the window. */
const unsigned char *nsx_dumpfile_load(struct nsx_dumpfile *f, uint64_t off, size_t n);

/* The n bytes at off, which must lie within the file; valid until the next call. NULL with err filled when they cannot
 * be read. Not for large n: the window grows to n. */
static inline const unsigned char *
nsx_dumpfile_at(struct nsx_dumpfile *f, uint64_t off, size_t n)
{
	if (off >= f->start && off - f->start <= f->have && n <= f->have - (size_t)(off - f->start))
		return f->window + (off - f->start);
	return nsx_dumpfile_load(f, off, n);
}

#endif
