/* memory.c -- see memory.h. The operating system enforces the limit, so it also applies to the libraries that we
 * use. */
#define _DEFAULT_SOURCE   /* RLIMIT_DATA, madvise */
#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/num.h"

static const char *limit;
static struct rlimit before, after;
static int lifted;               /* number of threads that have lifted it, under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const char *
nsx_memory_set_limit(const char *size)
{
	int64_t bytes;

	if (!nsx_size_parse(size, &bytes) || bytes == 0)
		return "want a number of bytes, such as 500M or 64G";
	/* Of several calls the last one counts; `before` is the limit before the first call. */
	if (!limit && getrlimit(RLIMIT_DATA, &before) != 0)
		return "not available on this machine";
	after = before;
	/* A process may not raise the limit that the system allows. */
	if (before.rlim_max == RLIM_INFINITY || (rlim_t)bytes < before.rlim_max)
		after.rlim_cur = (rlim_t)bytes;
	if (setrlimit(RLIMIT_DATA, &after) != 0)
		return "not available on this machine";
	limit = size;
	return NULL;
}

const char *
nsx_memory_limit(void)
{
	return limit;
}

/* Neither call can fail: both limits are within what the system allows, and it allowed them before. */
void
nsx_memory_lift(void)
{
	pthread_mutex_lock(&lock);
	if (limit && lifted++ == 0)
		setrlimit(RLIMIT_DATA, &before);
	pthread_mutex_unlock(&lock);
}

void
nsx_memory_lower(void)
{
	pthread_mutex_lock(&lock);
	if (limit && --lifted == 0)
		setrlimit(RLIMIT_DATA, &after);
	pthread_mutex_unlock(&lock);
}

/* ---- large pages */

enum { LARGE_PAGE = 2 << 20, LEAST = 4 << 20, MOST = 30 << 20 /* glibc never takes 32 MB from its heap */ };

void
nsx_memory_expect(uint64_t bytes)
{
	size_t n = (size_t)bytes;

	if (limit || bytes < LEAST || bytes > MOST)
		return;
	/* glibc maps the first such block separately; after that is freed, it takes the next one from its heap, which
	 * keeps the memory when that block is freed. */
	for (int i = 0; i < 2; i++) {
		char *p = malloc(n);
#ifdef MADV_HUGEPAGE
		uintptr_t from = ((uintptr_t)p + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
		uintptr_t to = ((uintptr_t)p + n) & ~(uintptr_t)(LARGE_PAGE - 1);
		if (p && i)
			madvise((char *)p + (from - (uintptr_t)p), to - from, MADV_HUGEPAGE);
#endif
		free(p);
	}
}
