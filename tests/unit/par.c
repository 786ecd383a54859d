/* par.c -- every task runs once, for any number of threads. */
#define _GNU_SOURCE   /* setenv */
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

/* The processors with that value of NSYSX_THREADS. */
static int
told(const char *text)
{
	setenv("NSYSX_THREADS", text, 1);
	return nsx_par_cpus();
}

/* What is no number from 1 on is as if not set. */
static void
test_told(void)
{
	static const char *const odd[] = { "", "abc", "0", "-3", "1x", " 1", "1.5", "99999999999999999999" };

	unsetenv("NSYSX_THREADS");
	int all = nsx_par_cpus();

	is_int(told("1"), 1, "NSYSX_THREADS=1");
	is_int(told("1000000"), all, "NSYSX_THREADS is at most the processors");
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		is_int(told(odd[i]), all, "NSYSX_THREADS='%s' is no number from 1 on", odd[i]);
	unsetenv("NSYSX_THREADS");
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
	test_told();
	return done();
}
