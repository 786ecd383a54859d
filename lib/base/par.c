/* par.c -- several threads take task numbers from one counter until all are taken. */
#define _GNU_SOURCE   /* sched_getaffinity */
#include "base/par.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/num.h"

struct job {
	void      (*fn)(void *ctx, int i);
	void       *ctx;
	int         n;
	atomic_int  next;
};

static void *
work(void *arg)
{
	struct job *job = arg;

	for (;;) {
		/* Compared before it is incremented, so the counter never exceeds n, for any number of threads. */
		int i = atomic_load(&job->next);
		do {
			if (i >= job->n)
				return NULL;
		} while (!atomic_compare_exchange_weak(&job->next, &i, i + 1));
		job->fn(job->ctx, i);
	}
}

void
nsx_par_run(int n, int threads, void (*fn)(void *ctx, int i), void *ctx)
{
	struct job job = { .fn = fn, .ctx = ctx, .n = n };
	pthread_t *others = NULL;
	int made = 0;

	if (threads <= 0)
		threads = nsx_par_cpus();
	if (threads > n)
		threads = n;
	if (threads > 1)
		others = malloc((size_t)(threads - 1) * sizeof *others);
	while (others && made < threads - 1 && pthread_create(&others[made], NULL, work, &job) == 0)
		made++;
	work(&job);
	while (made > 0)
		pthread_join(others[--made], NULL);
	free(others);
}

static int
processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
		return CPU_COUNT(&set);
	/* More processors than a cpu_set_t can hold. */
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (int)online : 1;
}

int
nsx_par_cpus(void)
{
	int all = processors();
	int64_t most;

	if (!nsx_get_int(nsx_str_c(getenv("NSYSX_THREADS")), &most) || most < 1 || most > all)
		return all;
	return (int)most;
}
