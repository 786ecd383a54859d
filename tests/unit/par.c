/* par.c -- every task runs once, for any number of threads. */
#include "base/par.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "tap.h"

enum { TASKS = 1000 };

static atomic_int ran[TASKS];
static atomic_int wrong;

static void
task(void *ctx, int i)
{
	if (ctx != ran || i < 0 || i >= TASKS)
		atomic_fetch_add(&wrong, 1);
	else
		atomic_fetch_add(&ran[i], 1);
}

/* Tasks 0 to n-1 that did not run exactly once, and others that ran. */
static int
misses(int n, int threads)
{
	int bad = 0;

	for (int i = 0; i < TASKS; i++)
		atomic_store(&ran[i], 0);
	nsx_par_run(n, threads, task, ran);
	for (int i = 0; i < TASKS; i++)
		bad += atomic_load(&ran[i]) != (i < n);
	return bad + atomic_load(&wrong);
}

struct log { int order[8], n; };

static void
note(void *ctx, int i)
{
	struct log *log = ctx;

	log->order[log->n++] = i;
}

int
main(void)
{
	struct log log = { .n = 0 };

	is_int(misses(TASKS, 1), 0, "one thread");
	is_int(misses(TASKS, 4), 0, "four threads");
	is_int(misses(TASKS, 0), 0, "as many threads as processors");
	is_int(misses(3, 16), 0, "more threads than tasks");
	is_int(misses(0, 4), 0, "no task");
	nsx_par_run(5, 1, note, &log);
	ok(log.n == 5 && log.order[0] == 0 && log.order[2] == 2 && log.order[4] == 4, "one thread takes them in order");
	ok(nsx_par_cpus() >= 1, "at least one processor");
	return done();
}
