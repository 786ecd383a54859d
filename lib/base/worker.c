/* worker.c -- a thread that does one thing at a time while its owner does another. */
#include "base/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/par.h"

/* Before a thread sleeps it looks SPINS times whether it may go on: tens of microseconds, what waking it would cost. */
enum { STACK = 256 << 10, SPINS = 4000, FEW = 30 };

struct nsx_worker {
	void          (*fn)(void *ctx);
	void           *ctx;
	pthread_t       thread;
	pthread_mutex_t lock;
	pthread_cond_t  changed;
	atomic_bool     busy, over;
	int             owner, other;   /* how often the two look before they sleep */
};

/* Look up to *times whether busy has that value; less often next time if that was in vain, as where other programs use
 * the processor that the other thread needs. */
static void
spin(struct nsx_worker *w, bool busy, int *times)
{
	int i = 0;

	for (; i < *times && atomic_load(&w->busy) != busy && !atomic_load(&w->over); i++)
#if defined __x86_64__ || defined __i386__
		__builtin_ia32_pause();
#else
		;
#endif
	if (i == *times)
		*times /= 2;
	else
		*times = *times < SPINS / 2 ? 2 * *times : SPINS;
	if (*times < FEW)
		*times = FEW;
}

static void *
work(void *arg)
{
	struct nsx_worker *w = arg;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		pthread_mutex_unlock(&w->lock);
		spin(w, true, &w->other);
		pthread_mutex_lock(&w->lock);
		while (!w->busy && !w->over)
			pthread_cond_wait(&w->changed, &w->lock);
		if (!w->busy)
			break;
		pthread_mutex_unlock(&w->lock);
		w->fn(w->ctx);
		pthread_mutex_lock(&w->lock);
		w->busy = false;
		pthread_cond_signal(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Start the thread with a small stack, and with all signals blocked: they are the owner's. */
static bool
start(struct nsx_worker *w)
{
	pthread_attr_t attr;
	sigset_t all, old;
	bool good = false;

	if (pthread_attr_init(&attr) != 0)
		return false;
	sigfillset(&all);
	if (pthread_attr_setstacksize(&attr, STACK) == 0 && pthread_sigmask(SIG_SETMASK, &all, &old) == 0) {
		good = pthread_create(&w->thread, &attr, work, w) == 0;
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	pthread_attr_destroy(&attr);
	return good;
}

struct nsx_worker *
nsx_worker_new(void (*fn)(void *ctx), void *ctx)
{
	struct nsx_worker *w = nsx_par_cpus() > 1 ? malloc(sizeof *w) : NULL;

	if (!w)
		return NULL;
	*w = (struct nsx_worker){ .fn = fn, .ctx = ctx, .owner = SPINS, .other = SPINS };
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	if (start(w))
		return w;
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->changed);
	free(w);
	return NULL;
}

void
nsx_worker_begin(struct nsx_worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->busy = true;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

void
nsx_worker_wait(struct nsx_worker *w)
{
	spin(w, false, &w->owner);
	pthread_mutex_lock(&w->lock);
	while (w->busy)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

void
nsx_worker_free(struct nsx_worker *w)
{
	if (!w)
		return;
	nsx_worker_wait(w);
	pthread_mutex_lock(&w->lock);
	w->over = true;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->changed);
	free(w);
}
