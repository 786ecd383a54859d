/* worker.h -- a thread that does one thing at a time while its owner does another. */
#ifndef NSX_BASE_WORKER_H
#define NSX_BASE_WORKER_H

struct nsx_worker;

/* A thread that calls fn(ctx) once for each nsx_worker_begin; NULL if there is only one processor, or no thread can be
 * made: the owner then does the work itself. fn may use up to 128 KiB of stack. */
struct nsx_worker *nsx_worker_new(void (*fn)(void *ctx), void *ctx);

/* Let it call fn; the last call must have been waited for. What the owner wrote before is visible to fn. */
void nsx_worker_begin(struct nsx_worker *w);

/* Wait until fn has returned; what it wrote is then visible to the owner. At once if none was begun. */
void nsx_worker_wait(struct nsx_worker *w);

/* Waits, ends the thread and frees it. NULL allowed. */
void nsx_worker_free(struct nsx_worker *w);

#endif
