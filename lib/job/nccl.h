/* nccl.h -- operations that carry out NCCL's calls, as instances: what all devices of a communicator did together.
 *
 * An instance is (communicator, kind, number), of a send-recv also the two ranks. On a device the operations of a
 * key are numbered by GPU start. Captures begin at different calls, so each device's numbers are shifted by what
 * makes its ends fall together with those of the key's lowest-numbered device:
 *
 *   device 0 ends at    100  200  300          numbers 0 1 2
 *   device 1 ends at         201  302  400     0 1 2; shifted by 1 the ends are 1 and 2 apart, the least: numbers 1 2 3
 *
 * So instance 0 is known of device 0 alone, and instance 3 of device 1. */
#ifndef NSX_JOB_NCCL_H
#define NSX_JOB_NCCL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "job/communication.h"
#include "stream/kinds.h"

/* How many ranks communicators have. {0} is empty. */
struct nsx_nccl_comms {
	struct nsx_intern ids;
	NSX_VEC(struct { int64_t ranks, devices; }) list;   /* by id; ranks 0: no record tells. devices: those that ran
	                                                     * operations of it */
	struct nsx_map    seen;                             /* (id, device) */
};

/* Tell a reader what nsx_nccl_take and nsx_nccl_comms_take use. */
void nsx_nccl_need(struct nsx_reader *in);

/* Take in any record: of `communicator` and of operations what they say. NSX_OK or NSX_ERR. */
int nsx_nccl_comms_take(struct nsx_nccl_comms *c, const struct nsx_rec *rec, struct nsx_err *err);

/* Ranks in an operation's communicator: as it says itself, as a record of the communicator does, else the devices
 * that ran operations of it so far; 0: not known. *inferred (may be NULL): the last of these. */
int64_t nsx_nccl_group(const struct nsx_nccl_comms *c, const struct nsx_rec *op, bool *inferred);
void nsx_nccl_comms_free(struct nsx_nccl_comms *c);

/* An operation of an instance; -1: not known. */
struct nsx_nccl_op { int64_t start, dur, bytes, calls, group, hidden, op, seq; uint32_t key, device; };

struct nsx_nccl_key { uint32_t comm, kind, pair; };   /* in nsx_nccl_set.texts */
struct nsx_nccl_device { int64_t number; uint32_t clock; };

/* {0} is empty. 72 bytes for each operation. */
struct nsx_nccl_set {
	struct nsx_nccl_comms comms;
	struct nsx_intern     texts;
	struct nsx_map        key_of, device_of;
	NSX_VEC(struct nsx_nccl_key)    keys;
	NSX_VEC(struct nsx_nccl_device) devices;
	NSX_VEC(struct nsx_nccl_op)     ops;
	uint32_t             *rank;         /* of keys by communicator, kind, pair; after nsx_nccl_number */
	int64_t               loose;        /* operations of a communicator that are in no instance: a send-recv whose
	                                     * ranks are not known */
};

/* Whether an operation that communicates (nsx_cat_communicates) is one of an instance: its communicator is known
 * and, of a send-recv, both ranks. */
bool nsx_nccl_is(const struct nsx_rec *op);

/* Take in an operation that communicates, or a record of another kind; operations with nsx_nccl_is are kept. clock:
 * a number of that of its device. Operations come by start. NSX_OK or NSX_ERR. */
int nsx_nccl_take(struct nsx_nccl_set *s, const struct nsx_rec *rec, uint32_t clock, struct nsx_err *err);

/* Whether devices of one instance are on clocks that cannot be compared. */
bool nsx_nccl_apart(const struct nsx_nccl_set *s);

/* All were taken: number them, and sort them by key (communicator, kind, pair), seq and device number. Of `group` -1
 * what can be inferred is filled. NSX_OK or NSX_ERR. */
int nsx_nccl_number(struct nsx_nccl_set *s, struct nsx_err *err);

/* Behind the operations of the instance that begins at i. */
size_t nsx_nccl_instance(const struct nsx_nccl_set *s, size_t i);
void nsx_nccl_free(struct nsx_nccl_set *s);

#endif
