/* cuda.h -- the CUDA side of loading: ops.c (operations) and runtime.c (calls); private to lib/nsys.
 * All return NSX_OK, or NSX_ERR with l->err filled. */
#ifndef NSX_NSYS_CUDA_H
#define NSX_NSYS_CUDA_H

#include "source/launches.h"
#include "nsys/load.h"

int nsx_ops_tasks(struct nsx_loader *l, nsx_tasks *tasks);
int nsx_ops_join(struct nsx_loader *l);     /* after the parts ran: devices, launches, operations */
int nsx_ops_finish(struct nsx_loader *l);   /* after projection and names: operations are complete and sorted */
void nsx_ops_free(struct nsx_loader *l);    /* the parts */

/* The number of a process with devices, NSX_NONE if it has none. */
uint32_t nsx_gpid_find(const struct nsx_loader *l, uint64_t gpid);

int nsx_runtime_tasks(struct nsx_loader *l, nsx_tasks *tasks);
int nsx_runtime_join(struct nsx_loader *l);   /* after the parts ran and threads are known: l->calls, by thread */
void nsx_runtime_free(struct nsx_loader *l);  /* the parts */

/* The calls of a thread have been given their ranges, counted from its first: store for each launch its call that
 * started last (the shorter if two did, then that of the lower thread and range). May be called from several
 * threads. */
void nsx_calls_placed(struct nsx_loader *l, uint32_t thread, const struct nsx_calls *c);
/* Copy the known data of the launch's call into an operation. */
void nsx_calls_of(const struct nsx_loader *l, uint32_t launch, struct nsx_gpu_op *op);

#endif
