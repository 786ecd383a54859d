/* outbox.c -- see outbox.h. Records are passed in batches, small enough to remain in a processor's cache until they are
 * encoded. */
#include "extract/outbox.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/par.h"

enum { BATCHES = 4, RECS = 256, VALS = RECS * 16 };

struct batch { int n, nvals; struct nsx_rec recs[RECS]; union nsx_val vals[VALS]; struct nsx_arena texts; };

struct ex_outbox {
	struct nsx_writer *out;
	bool               threaded;
	pthread_t          thread;
	pthread_mutex_t    lock;       /* for all down to failed */
	pthread_cond_t     changed;
	uint64_t           filled, written;   /* batches */
	bool               closed, failed;
	struct batch      *at;         /* being filled: batches[filled % BATCHES] */
	struct batch       batches[BATCHES];
};

static bool
write_batch(struct nsx_writer *out, const struct batch *b)
{
	for (int i = 0; i < b->n; i++)
		if (nsx_write(out, &b->recs[i]) != NSX_OK)
			return false;
	return true;
}

static void *
work(void *arg)
{
	struct ex_outbox *o = arg;
	bool good = true;

	pthread_mutex_lock(&o->lock);
	for (;;) {
		while (o->written == o->filled && !o->closed)
			pthread_cond_wait(&o->changed, &o->lock);
		if (o->written == o->filled)
			break;
		const struct batch *b = &o->batches[o->written % BATCHES];
		pthread_mutex_unlock(&o->lock);
		good = good && write_batch(o->out, b);
		pthread_mutex_lock(&o->lock);
		o->written++;
		o->failed = !good;
		pthread_cond_signal(&o->changed);
	}
	pthread_mutex_unlock(&o->lock);
	return NULL;
}

struct ex_outbox *
nsx_extract_outbox_open(struct nsx_writer *out, int threads)
{
	struct ex_outbox *o = malloc(sizeof *o);

	if (!o)
		return NULL;
	o->out = out;
	o->filled = o->written = 0;
	o->closed = o->failed = false;
	o->at = &o->batches[0];
	o->at->n = o->at->nvals = 0;
	for (int i = 0; i < BATCHES; i++)
		o->batches[i].texts = (struct nsx_arena){ 0 };
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->changed, NULL);
	o->threaded = (threads ? threads : nsx_par_cpus()) > 1 && pthread_create(&o->thread, NULL, work, o) == 0;
	return o;
}

struct nsx_rec *
nsx_extract_outbox_rec(struct ex_outbox *o, const struct nsx_kind *kind)
{
	struct nsx_rec *r = &o->at->recs[o->at->n];

	*r = (struct nsx_rec){ kind, 0, o->at->vals + o->at->nvals };
	return r;
}

struct nsx_str
nsx_extract_outbox_keep(struct ex_outbox *o, struct nsx_str s)
{
	return s.ptr ? nsx_arena_str(&o->at->texts, s) : s;
}

/* Pass the batch on, and begin the next. */
static int
turn(struct ex_outbox *o)
{
	bool failed;

	if (o->threaded) {
		pthread_mutex_lock(&o->lock);
		o->filled++;
		pthread_cond_signal(&o->changed);
		while (o->filled - o->written == BATCHES)
			pthread_cond_wait(&o->changed, &o->lock);
		o->at = &o->batches[o->filled % BATCHES];
		failed = o->failed;
		pthread_mutex_unlock(&o->lock);
	} else {
		failed = o->failed = o->failed || !write_batch(o->out, o->at);
	}
	o->at->n = o->at->nvals = 0;
	nsx_arena_reset(&o->at->texts);
	return failed ? NSX_ERR : NSX_OK;
}

int
nsx_extract_outbox_put(struct ex_outbox *o)
{
	struct batch *b = o->at;

	/* Up to the last value that is present: columns after it need no memory. */
	uint64_t has = b->recs[b->n++].has;
	b->nvals += has ? 64 - __builtin_clzll(has) : 0;
	return b->n < RECS && b->nvals <= VALS - NSX_MAX_COLS ? NSX_OK : turn(o);
}

int
nsx_extract_outbox_close(struct ex_outbox *o)
{
	if (!o)
		return NSX_OK;
	turn(o);
	if (o->threaded) {
		pthread_mutex_lock(&o->lock);
		o->closed = true;
		pthread_cond_signal(&o->changed);
		pthread_mutex_unlock(&o->lock);
		pthread_join(o->thread, NULL);
	}
	int rc = o->failed ? NSX_ERR : NSX_OK;
	pthread_cond_destroy(&o->changed);
	pthread_mutex_destroy(&o->lock);
	for (int i = 0; i < BATCHES; i++)
		nsx_arena_free(&o->batches[i].texts);
	free(o);
	return rc;
}
