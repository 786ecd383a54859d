/* instances.h -- instances: what several devices recorded of one and the same thing, brought together, and held only
 * until all devices that take part have recorded it. One instance of a collective is one execution of it by one group
 * of devices; so is one execution of any instruction on all devices that run the program.
 *
 * What is kept of a device's record is the caller's: a struct of `size` bytes.
 *
 *   add key (3, 0) { device 0, 100..150 }, 2 participants    held
 *   add key (3, 1) { device 0, 200..250 }, 2 participants    held
 *   add key (3, 0) { device 1, 110..150 }, 2 participants    complete(key (3, 0), both records, 2); forgotten
 *   finish                                                   complete(key (3, 1), the one record, 1) */
#ifndef NSX_JOB_INSTANCES_H
#define NSX_JOB_INSTANCES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "stream/kinds.h"

/* An instance: n records in order of arrival, the callee's to change and gone when it returns. NSX_OK, or what
 * nsx_instances_add is to return. The callee adds nothing to the instances that call it. */
typedef int nsx_instance_fn(void *state, struct nsx_key key, void *records, size_t n);

/* Take a further record into the first of its instance. */
typedef void nsx_combine_fn(void *first, const void *record);

struct nsx_instance_slot;

/* {0} with size, complete and state set is empty. With `combine` set an instance holds one record, whatever the number
 * of devices. */
struct nsx_instances {
	size_t           size;      /* of a record, bytes */
	nsx_instance_fn *complete;
	nsx_combine_fn  *combine;   /* NULL: all records are held */
	void            *state;     /* for complete */
	struct nsx_map   at;        /* key -> slots */
	NSX_VEC(struct nsx_instance_slot) slots;   /* of instances begun; unused ones are kept for the next */
	NSX_VEC(uint32_t) unused;
	NSX_VEC(unsigned char) combined;           /* one record a slot, with `combine` */
	int64_t          begun;
};

/* Add a device's record to the instance of that key. When it has those of all participants (0: not known how many)
 * `complete` is called. NSX_OK, NSX_ERR with err filled, or what `complete` returned. */
int nsx_instances_add(struct nsx_instances *m, struct nsx_key key, const void *record, size_t participants,
                      struct nsx_err *err);

/* Call `complete` for the instances that are still held, in order of their first records. Nothing may be added after
 * that. */
int nsx_instances_finish(struct nsx_instances *m, struct nsx_err *err);

void nsx_instances_free(struct nsx_instances *m);

#endif
