/* shim.c -- preloaded, makes a chosen call to the C library fail as it fails in reality. Only calls after main starts count.
 * Allocation uses glibc's internal names, so that it works before symbols are looked up. */
#define _GNU_SOURCE   /* RTLD_NEXT */
#undef _FILE_OFFSET_BITS
#include "fault.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);

static struct fault_report unheard, *report = &unheard;
static atomic_bool armed;
static enum fault_class class = FAULT_COUNT;
static long wanted;
static bool on;
static atomic_long moves;   /* reads and writes, for short and intr */

/* Is this call to fail? */
static bool
fails(enum fault_class c, int why)
{
	if (!atomic_load(&armed))
		return false;
	long n = atomic_fetch_add(&report->calls[c], 1) + 1;
	if (c != class || (on ? n < wanted : n != wanted))
		return false;
	atomic_fetch_add(&report->fired, 1);
	errno = why;
	return true;
}

static bool
turn(enum fault_class c)
{
	if (!atomic_load(&armed) || c != class || wanted < 1 || atomic_fetch_add(&moves, 1) % wanted != wanted - 1)
		return false;
	atomic_fetch_add(&report->fired, 1);
	return true;
}

static bool
interrupted(void)
{
	if (!turn(FAULT_INTR))
		return false;
	errno = EINTR;
	return true;
}

static size_t
shortened(size_t n)
{
	return n > 1 && turn(FAULT_SHORT) ? n / 2 : n;
}

/* ---- changes to a file by others */

static void
change(enum fault_class c)
{
	const char *path = getenv("FAULT_FILE");
	char other[4096];
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	off_t size = lseek(fd, 0, SEEK_END);

	if (fd < 0 || size < 0)
		_exit(125);
	if (c == FAULT_SHRINK && ftruncate(fd, size / 2) != 0)
		_exit(125);
	if (c == FAULT_GROW && ftruncate(fd, size + 4096) != 0)
		_exit(125);
	snprintf(other, sizeof other, "%s.new", path);
	if (c == FAULT_REPLACE && rename(other, path) != 0)
		_exit(125);
	close(fd);
}

/* Before a read. */
static void
others_turn(void)
{
	if (class < FAULT_SHRINK || class > FAULT_REPLACE || !atomic_load(&armed) || atomic_fetch_add(&moves, 1) + 1 != wanted)
		return;
	atomic_store(&armed, false);
	change(class);
	atomic_store(&armed, true);
	atomic_fetch_add(&report->fired, 1);
}

/* ---- starting */

static int (*real_main)(int, char **, char **);

static void
prepare(void)
{
	const char *what = getenv("FAULT"), *path = getenv("FAULT_REPORT");
	const char *colon = what ? strchr(what, ':') : NULL;

	if (path) {
		int fd = open(path, O_RDWR | O_CLOEXEC);
		void *p = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED) {
			perror(path);
			_exit(125);
		}
		report = p;
		close(fd);
	}
	for (size_t i = 0; colon && i < sizeof fault_names / sizeof *fault_names; i++)
		if (strlen(fault_names[i]) == (size_t)(colon - what) && strncmp(what, fault_names[i], (size_t)(colon - what)) == 0)
			class = (enum fault_class)i;
	if (colon) {
		wanted = atol(colon + 1);
		on = strstr(colon + 1, ":on") != NULL;
	}
}

static int
our_main(int argc, char **argv, char **env)
{
	prepare();
	atomic_store(&armed, true);
	return real_main(argc, argv, env);
}

int __libc_start_main(int (*start)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*ldfini)(void), void *stack);

int
__libc_start_main(int (*start)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                  void (*ldfini)(void), void *stack)
{
	int (*real)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

	*(void **)&real = dlsym(RTLD_NEXT, "__libc_start_main");
	real_main = start;
	return real(our_main, argc, argv, init, fini, ldfini, stack);
}

/* ---- memory */

void *
malloc(size_t n)
{
	return fails(FAULT_ALLOC, ENOMEM) ? NULL : __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
	return fails(FAULT_ALLOC, ENOMEM) ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
	return fails(FAULT_ALLOC, ENOMEM) ? NULL : __libc_realloc(p, n);
}

void *
aligned_alloc(size_t align, size_t n)
{
	return fails(FAULT_ALLOC, ENOMEM) ? NULL : __libc_memalign(align, n);
}

void *
memalign(size_t align, size_t n)
{
	return fails(FAULT_ALLOC, ENOMEM) ? NULL : __libc_memalign(align, n);
}

int
posix_memalign(void **p, size_t align, size_t n)
{
	void *got = fails(FAULT_ALLOC, ENOMEM) ? NULL : __libc_memalign(align, n);

	if (got)
		*p = got;
	return got ? 0 : ENOMEM;
}

/* The next function NAME in line, of the type of this one. */
#define REAL(name) static __typeof__(&name) real; if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name)

void *
mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
	REAL(mmap);
	return fails(FAULT_MMAP, ENOMEM) ? MAP_FAILED : real(at, n, prot, flags, fd, off);
}

void *
mmap64(void *at, size_t n, int prot, int flags, int fd, off64_t off)
{
	REAL(mmap64);
	return fails(FAULT_MMAP, ENOMEM) ? MAP_FAILED : real(at, n, prot, flags, fd, off);
}

/* ---- files */

/* The mode of an open that makes a file. */
#define MODE(last, flags, mode) \
	mode_t mode = 0; \
	if ((flags) & (O_CREAT | __O_TMPFILE)) { va_list ap; va_start(ap, last); mode = va_arg(ap, mode_t); va_end(ap); }

int
open(const char *path, int flags, ...)
{
	MODE(flags, flags, mode)
	REAL(open);
	return fails(FAULT_OPEN, EMFILE) ? -1 : real(path, flags, mode);
}

int
open64(const char *path, int flags, ...)
{
	MODE(flags, flags, mode)
	REAL(open64);
	return fails(FAULT_OPEN, EMFILE) ? -1 : real(path, flags, mode);
}

int
mkstemp(char *path)
{
	REAL(mkstemp);
	return fails(FAULT_OPEN, EMFILE) ? -1 : real(path);
}

int
mkstemp64(char *path)
{
	REAL(mkstemp64);
	return fails(FAULT_OPEN, EMFILE) ? -1 : real(path);
}

FILE *
fopen(const char *path, const char *how)
{
	REAL(fopen);
	return fails(FAULT_OPEN, EMFILE) ? NULL : real(path, how);
}

FILE *
fopen64(const char *path, const char *how)
{
	REAL(fopen64);
	return fails(FAULT_OPEN, EMFILE) ? NULL : real(path, how);
}

DIR *
opendir(const char *path)
{
	REAL(opendir);
	return fails(FAULT_OPEN, EMFILE) ? NULL : real(path);
}

ssize_t
read(int fd, void *p, size_t n)
{
	REAL(read);
	others_turn();
	return fails(FAULT_READ, EIO) || interrupted() ? -1 : real(fd, p, shortened(n));
}

ssize_t
pread(int fd, void *p, size_t n, off_t at)
{
	REAL(pread);
	others_turn();
	return fails(FAULT_READ, EIO) || interrupted() ? -1 : real(fd, p, shortened(n), at);
}

ssize_t
pread64(int fd, void *p, size_t n, off64_t at)
{
	REAL(pread64);
	others_turn();
	return fails(FAULT_READ, EIO) || interrupted() ? -1 : real(fd, p, shortened(n), at);
}

/* Words on standard error are no output. */
ssize_t
write(int fd, const void *p, size_t n)
{
	REAL(write);
	if (fd == STDERR_FILENO)
		return real(fd, p, n);
	return fails(FAULT_WRITE, ENOSPC) || interrupted() ? -1 : real(fd, p, shortened(n));
}

ssize_t
pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	REAL(pwrite64);
	return fails(FAULT_WRITE, ENOSPC) || interrupted() ? -1 : real(fd, p, shortened(n), at);
}

int
fsync(int fd)
{
	REAL(fsync);
	return fails(FAULT_SYNC, EIO) ? -1 : real(fd);
}

int
fdatasync(int fd)
{
	REAL(fdatasync);
	return fails(FAULT_SYNC, EIO) ? -1 : real(fd);
}

/* The descriptor is gone all the same, as on Linux. */
int
close(int fd)
{
	REAL(close);
	int rc = real(fd);
	return fails(FAULT_CLOSE, EIO) ? -1 : rc;
}

int
rename(const char *from, const char *to)
{
	REAL(rename);
	return fails(FAULT_RENAME, EIO) ? -1 : real(from, to);
}

/* ---- threads */

int
pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	REAL(pthread_create);
	return fails(FAULT_THREAD, EAGAIN) ? EAGAIN : real(t, attr, fn, arg);
}
