/* vfs.c -- how SQLite reads an export: from a descriptor that is already open, never by name. So every connection reads
 * the file that was checked, even if it has no name, and nothing can be written or searched beside it. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nsys/db.h"

struct file { sqlite3_file base; int fd; };

static int
close_file(sqlite3_file *f)
{
	(void)f;   /* the descriptor is the database's */
	return SQLITE_OK;
}

static int
read_file(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
	char *to = p;

	while (n > 0) {
		ssize_t got = pread(((struct file *)f)->fd, to, (size_t)n, (off_t)at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return SQLITE_IOERR_READ;
		if (got == 0) {
			memset(to, 0, (size_t)n);
			return SQLITE_IOERR_SHORT_READ;
		}
		to += got;
		n -= (int)got;
		at += got;
	}
	return SQLITE_OK;
}

static int
write_file(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	(void)f, (void)p, (void)n, (void)at;
	return SQLITE_READONLY;
}

static int
truncate_file(sqlite3_file *f, sqlite3_int64 size)
{
	(void)f, (void)size;
	return SQLITE_READONLY;
}

static int
nothing_to_do(sqlite3_file *f, int what)
{
	(void)f, (void)what;
	return SQLITE_OK;
}

static int
size_of_file(sqlite3_file *f, sqlite3_int64 *size)
{
	struct stat st;

	if (fstat(((struct file *)f)->fd, &st) != 0)
		return SQLITE_IOERR_FSTAT;
	*size = st.st_size;
	return SQLITE_OK;
}

static int
not_locked(sqlite3_file *f, int *locked)
{
	(void)f;
	*locked = 0;
	return SQLITE_OK;
}

static int
control(sqlite3_file *f, int op, void *arg)
{
	(void)f, (void)op, (void)arg;
	return SQLITE_NOTFOUND;
}

static int
sector_size(sqlite3_file *f)
{
	(void)f;
	return 4096;
}

static int
characteristics(sqlite3_file *f)
{
	(void)f;
	return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1, .xClose = close_file, .xRead = read_file, .xWrite = write_file, .xTruncate = truncate_file,
	.xSync = nothing_to_do, .xFileSize = size_of_file, .xLock = nothing_to_do, .xUnlock = nothing_to_do,
	.xCheckReservedLock = not_locked, .xFileControl = control, .xSectorSize = sector_size,
	.xDeviceCharacteristics = characteristics
};

static int
open_file(sqlite3_vfs *self, const char *name, sqlite3_file *f, int flags, int *out_flags)
{
	struct file *file = (struct file *)f;

	(void)self;
	file->base.pMethods = NULL;
	/* The name is the descriptor's number. Any file but the main one would be written to. */
	if (!name || !(flags & SQLITE_OPEN_MAIN_DB))
		return SQLITE_CANTOPEN;
	file->fd = atoi(name);
	file->base.pMethods = &methods;
	if (out_flags)
		*out_flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
	return SQLITE_OK;
}

static int
delete_file(sqlite3_vfs *self, const char *name, int sync)
{
	(void)self, (void)name, (void)sync;
	return SQLITE_READONLY;
}

static int
no_such_file(sqlite3_vfs *self, const char *name, int flags, int *there)
{
	(void)self, (void)name, (void)flags;
	*there = 0;
	return SQLITE_OK;
}

static int
same_name(sqlite3_vfs *self, const char *name, int room, char *out)
{
	size_t n = strlen(name);

	(void)self;
	if (n >= (size_t)room)
		return SQLITE_CANTOPEN;
	memcpy(out, name, n + 1);
	return SQLITE_OK;
}

static sqlite3_vfs vfs;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool ready;

static void
make(void)
{
	if (sqlite3_initialize() != SQLITE_OK)
		return;
	sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
	if (!usual)
		return;
	vfs = *usual;   /* for time, sleep and random numbers */
	vfs.pNext = NULL;
	vfs.zName = "nsysx";
	vfs.szOsFile = sizeof(struct file);
	vfs.xOpen = open_file;
	vfs.xDelete = delete_file;
	vfs.xAccess = no_such_file;
	vfs.xFullPathname = same_name;
	ready = sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

bool
nsx_vfs_ready(void)
{
	pthread_once(&once, make);
	return ready;
}
