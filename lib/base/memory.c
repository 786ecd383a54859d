/* memory.c -- see memory.h. The kernel keeps the account, so the libraries that we use are held to it, too. */
#define _DEFAULT_SOURCE   /* RLIMIT_DATA */
#include "base/memory.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/num.h"

static const char *limit;
static struct rlimit before, after;
static int lifted;               /* by so many threads, under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const char *
nsx_memory_set_limit(const char *size)
{
	int64_t bytes;

	if (!nsx_size_parse(size, &bytes) || bytes == 0)
		return "want a number of bytes, such as 500M or 64G";
	/* Of several the last counts; before is what was before all of them. */
	if (!limit && getrlimit(RLIMIT_DATA, &before) != 0)
		return "not available on this machine";
	after = before;
	/* Nobody may raise what the system allows. */
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

/* Neither can fail: both are within what the system allows, and it allowed them before. */
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
