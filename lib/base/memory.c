/* memory.c -- see memory.h. The kernel keeps the account, so the libraries that we use are held to it, too. */
#define _DEFAULT_SOURCE   /* RLIMIT_DATA */
#include "base/memory.h"

#include <stdint.h>
#include <sys/resource.h>

#include "base/cli.h"

static const char *limit;
static struct rlimit before, after;

const char *
nsx_memory_set_limit(const char *size)
{
	int64_t bytes;

	if (!nsx_size_parse(size, &bytes) || bytes == 0)
		return "want a number of bytes, such as 500M or 64G";
	if (getrlimit(RLIMIT_DATA, &before) != 0)
		return "not to be had here";
	after = before;
	/* Nobody may raise what the system allows. */
	if (before.rlim_max == RLIM_INFINITY || (rlim_t)bytes < before.rlim_max)
		after.rlim_cur = (rlim_t)bytes;
	if (setrlimit(RLIMIT_DATA, &after) != 0)
		return "not to be had here";
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
	if (limit)
		setrlimit(RLIMIT_DATA, &before);
}

void
nsx_memory_lower(void)
{
	if (limit)
		setrlimit(RLIMIT_DATA, &after);
}
