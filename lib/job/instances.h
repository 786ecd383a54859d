/* instances.h -- instances: the records of several devices of one and the same event, collected, and held only until
 * the records of all participating devices have come. One instance of a collective is one execution of it by one group
 * of devices; so is one execution of any instruction on all devices that run the program.
 *
 * The caller defines what is kept of a device's record: a struct of `size` bytes.
 *
 *   add key (3, 0) { device 0, 100..150 }, 2 participants    held
 *   add key (3, 1) { device 0, 200..250 }, 2 participants    held
 *   add key (3, 0) { device 1, 110..150 }, 2 participants    complete(key (3, 0), both records, 2); removed
 *   finish                                                   complete(key (3, 1), the one record, 1) */
#ifndef NSX_JOB_INSTANCES_H
#define NSX_JOB_INSTANCES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "stream/kinds.h"

/* An instance: its n records in order of arrival, which the callee may change and which are freed when it returns.
 * NSX_OK, or the status that nsx_instances_add must return. The callee must not add to the instances that call it. */
typedef int nsx_instance_fn(void *state, struct nsx_key key, void *records, size_t n);

/* Combine a further record with the first of its instance. */
typedef void nsx_combine_fn(void *first, const void *record);

struct nsx_instance_slot;

/* {0} with size, complete and state set is empty. With `combine` set an instance holds one record, for any number of
 * devices. */
struct nsx_instances {
	size_t           size;      /* of a record, bytes */
	nsx_instance_fn *complete;
	nsx_combine_fn  *combine;   /* NULL: all records are kept */
	void            *state;     /* for complete */
	struct nsx_map   at;        /* key -> slots */
	NSX_VEC(struct nsx_instance_slot) slots;   /* of instances begun; unused ones are reused */
	NSX_VEC(uint32_t) unused;
	NSX_VEC(unsigned char) combined;           /* one record per slot, with `combine` */
	int64_t          begun;
};

/* Add a device's record to the instance of that key. When all participants (0: unknown number) have one, `complete` is
 * called. NSX_OK, NSX_ERR with err filled, or what `complete` returned. */
int nsx_instances_add(struct nsx_instances *m, struct nsx_key key, const void *record, size_t participants,
                      struct nsx_err *err);

/* Call `complete` for the instance of that key, of which some record was added and which is still held: no further
 * record will come. NSX_OK, NSX_ERR with err filled, or what `complete` returned. */
int nsx_instances_close(struct nsx_instances *m, struct nsx_key key, struct nsx_err *err);

/* Call `complete` for the instances that are still held, in order of their first records. Nothing may be added after
 * that. */
int nsx_instances_finish(struct nsx_instances *m, struct nsx_err *err);

void nsx_instances_free(struct nsx_instances *m);

#endif
