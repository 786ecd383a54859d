/* worker.c -- a worker sees what its owner wrote, and its owner what it wrote, whether the two wait for each other or sleep. */
#include "base/worker.h"

#include <stdint.h>
#include <time.h>

#include "base/num.h"
#include "tap.h"

struct work { uint64_t in, out; int calls, naps; };

static void
nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void
answer(void *ctx)
{
	struct work *w = ctx;

	if (w->naps && w->calls % w->naps == 0)
		nap();
	w->calls++;
	w->out = w->in * w->in + 1;
}

static int
right(struct nsx_worker *worker, struct work *w, int n, int naps)
{
	int good = 0;

	for (int i = 0; i < n; i++) {
		w->in = (uint64_t)w->calls * 7;
		nsx_worker_begin(worker);
		if (naps && i % naps == 0)
			nap();
		nsx_worker_wait(worker);
		nsx_worker_wait(worker);
		good += w->out == w->in * w->in + 1;
	}
	return good;
}

int
main(void)
{
	struct work w = { 0 };
	struct nsx_worker *worker = nsx_worker_new(answer, &w);

	if (!worker) {
		skip("a worker", "there is one processor");
		return done();
	}
	nsx_worker_wait(worker);
	is_int(right(worker, &w, 20000, 0), 20000, "one call after the other");
	w.naps = 3;
	is_int(right(worker, &w, 90, 0), 90, "the owner waits for a slow worker");
	w.naps = 0;
	is_int(right(worker, &w, 90, 2), 90, "the worker waits for a slow owner");
	is_int(w.calls, 20180, "each call once");
	w.in = 5;
	nsx_worker_begin(worker);
	nsx_worker_free(worker);
	is_int((int64_t)w.out, 26, "what was begun is finished before the worker ends");
	nsx_worker_free(nsx_worker_new(answer, &w));
	nsx_worker_free(NULL);
	is_int(w.calls, 20181, "a worker without work");
	return done();
}
