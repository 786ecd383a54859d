/* memory.c -- the memory limit: that of the last option, not inherited by other programs, also with other threads. */
#define _DEFAULT_SOURCE   /* RLIMIT_DATA */
#include "base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "tap.h"

enum { TURNS = 20000, THREADS = 4 };

static rlim_t without;
static atomic_int wrong;

static rlim_t
now(void)
{
	struct rlimit l;

	return getrlimit(RLIMIT_DATA, &l) == 0 ? l.rlim_cur : 0;
}

/* Start programs. */
static void *
work(void *arg)
{
	(void)arg;
	for (int i = 0; i < TURNS; i++) {
		nsx_memory_lift();
		if (now() != without)
			atomic_fetch_add(&wrong, 1);
		nsx_memory_lower();
	}
	return NULL;
}

int
main(void)
{
	const rlim_t limit = (rlim_t)2000 << 40;
	pthread_t threads[THREADS];
	int n = 0;

	/* Nothing that can be seen comes of it, for any size. */
	for (uint64_t bytes = 1; bytes; bytes *= 4)
		nsx_memory_expect(bytes);
	without = now();
	/* So much that sanitizers, which map terabytes, have room. */
	ok(nsx_memory_set_limit("1000T") == NULL && nsx_memory_set_limit("2000T") == NULL && now() == limit,
	   "the last limit counts");
	nsx_memory_lift();
	ok(now() == without, "other programs have the limit from before the first option");
	nsx_memory_lower();
	while (n < THREADS && pthread_create(&threads[n], NULL, work, NULL) == 0)
		n++;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	ok(n == THREADS && atomic_load(&wrong) == 0, "lifted as long as one of several threads needs it");
	ok(now() == limit, "put back after the last");
	return done();
}
