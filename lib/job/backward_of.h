/* backward_of.h -- the backward passes that a program names with a range, for what other threads launch in them: the
 * engine of PyTorch's autograd runs the backward pass of a device in a thread of its own, while the thread that called
 * it waits in the range.
 *
 *   thread 1   [step 7  [forward ..........] [backward .............] [optimizer ..] ]
 *   thread 2                                   k k k k k k k k k k
 *
 * The kernels k are launched in no range, and are of the backward pass. */
#ifndef NSX_JOB_BACKWARD_OF_H
#define NSX_JOB_BACKWARD_OF_H

#include "base/map.h"
#include "base/vec.h"
#include "job/catalogue.h"

/* Ranges come at their host time, which the device may be many launches behind: so many of a process are kept. */
enum { NSX_BACKWARDS_KEPT = 64 };
struct nsx_backward_span { int64_t tid, start, end; };   /* host ns */
/* The n-th is span[n % NSX_BACKWARDS_KEPT]. */
struct nsx_backward_spans { size_t n; struct nsx_backward_span span[NSX_BACKWARDS_KEPT]; };
struct nsx_backwards {
	struct nsx_map of;                         /* (profile, pid) -> of_process */
	NSX_VEC(struct nsx_backward_spans) of_process;
};

/* Declare to a reader what the functions below use. */
void nsx_backwards_need(struct nsx_reader *in);

/* Note a range that a program calls its backward pass, in which its thread may launch nothing. False when out of
 * memory. */
bool nsx_backwards_add(struct nsx_backwards *b, const struct nsx_rec *range);

/* Whether an operation was launched in one by another thread. Copies from and to the host are not: other threads
 * prefetch data at any time. */
bool nsx_backwards_have(const struct nsx_backwards *b, struct nsx_catalogue *cat, const struct nsx_rec *op);

void nsx_backwards_free(struct nsx_backwards *b);

#endif
