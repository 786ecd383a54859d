/* outfile.h -- an output that appears under its name only when it is complete. */
#ifndef NSX_BASE_OUTFILE_H
#define NSX_BASE_OUTFILE_H

#include <stddef.h>

#include "base/err.h"

NSX_BEGIN_C

struct nsx_outfile;

/* Open path for writing; NULL or "-" is standard output. A regular file (or a new one) is written under a
 * temporary name beside it and renamed by nsx_outfile_commit; a pipe, terminal or device is written in place.
 * NULL on failure, with err filled; err must outlive the outfile. Signals that end the
 * program remove the temporary file. */
struct nsx_outfile *nsx_outfile_open(const char *path, struct nsx_err *err);

/* Write all n bytes: NSX_OK or NSX_ERR. Unbuffered: the caller collects. */
int nsx_outfile_write(struct nsx_outfile *f, const void *p, size_t n);

/* Close, checking for late errors, and rename the file: NSX_OK or NSX_ERR (then there is no file of that name). */
int nsx_outfile_commit(struct nsx_outfile *f);

/* Free f (NULL allowed); without a commit before it, the temporary file is removed. */
void nsx_outfile_free(struct nsx_outfile *f);

/* Remove the temporary files of every open outfile (for exits on errors). */
void nsx_outfile_abandon_all(void);

/* fn, which must be safe in a signal handler, is called too when a signal ends the program. */
void nsx_outfile_at_signal(void (*fn)(void));

/* The file that is written until the commit, for libraries that open files by name; NULL if it is written in place. It
 * exists and is empty. */
const char *nsx_outfile_file(const struct nsx_outfile *f);

/* Its name in messages: the path, or "standard output". */
const char *nsx_outfile_name(const struct nsx_outfile *f);

/* An open, already unlinked temporary file in $TMPDIR (or /tmp); -1 with err filled. The caller closes it. */
int nsx_tmpfile(struct nsx_err *err);

NSX_END_C

#endif
