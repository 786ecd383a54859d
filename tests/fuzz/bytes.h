/* bytes.h -- shared by fuzz targets of files: a file without a name, with a path that can be opened. */
#ifndef NSX_FUZZ_BYTES_H
#define NSX_FUZZ_BYTES_H

#define _GNU_SOURCE   /* memfd_create */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct fuzz_file { int fd; char path[32]; };

static inline void
fuzz_must(bool cond)
{
	if (!cond)
		abort();
}

/* Make f an empty file; one that is open is emptied. */
static inline void
fuzz_file_clear(struct fuzz_file *f)
{
	if (!f->path[0]) {
		f->fd = memfd_create("fuzz", MFD_CLOEXEC);
		fuzz_must(f->fd >= 0);
		snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", f->fd);
	}
	fuzz_must(ftruncate(f->fd, 0) == 0 && lseek(f->fd, 0, SEEK_SET) == 0);
}

static inline void
fuzz_file_fill(struct fuzz_file *f, const void *data, size_t size)
{
	fuzz_file_clear(f);
	fuzz_must(write(f->fd, data, size) == (ssize_t)size);
}

#endif
