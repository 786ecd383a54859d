/* nccl.h -- groups the operations of NCCL calls into instances: the operations of all devices of a communicator for one
 * call.
 *
 * The key is (communicator, kind), for a send-recv also the two ranks; an instance is a key and a number. On a device
 * the operations of a key are numbered by GPU start. Captures begin at different calls, so each device's numbers are
 * shifted so that the median distance of its ends from those of the key's lowest-numbered device is smallest:
 *
 *   device 0 ends at    100  200  300          numbers 0 1 2
 *   device 1 ends at         201  302  400     0 1 2; shifted by 1 the ends are 1 and 2 apart, the minimum:
 *                                              numbers 1 2 3
 *
 * So instance 0 has a record of device 0 only, and instance 3 of device 1 only. Shifts are tried near 0, and near the
 * one that the ends tell where captures began many calls apart. */
#ifndef NSX_JOB_COMM_NCCL_H
#define NSX_JOB_COMM_NCCL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "job/comm/communication.h"
#include "stream/kinds.h"

/* The number of ranks of communicators. {0} is empty. */
struct nsx_nccl_comms {
	struct nsx_intern ids;
	NSX_VEC(struct { int64_t ranks, devices; }) list;   /* by id; ranks 0: not recorded. devices: number of those
	                                                     * that ran operations of it */
	struct nsx_map    seen;                             /* (id, device) */
};

/* Declare to a reader what nsx_nccl_take and nsx_nccl_comms_take use. */
void nsx_nccl_need(struct nsx_reader *in);

/* Add any record: `communicator` records and operations are used. NSX_OK or NSX_ERR. */
int nsx_nccl_comms_take(struct nsx_nccl_comms *c, const struct nsx_rec *rec, struct nsx_err *err);

/* Ranks in an operation's communicator: from the operation, else from a record of the communicator, else the number of
 * devices that ran operations of it so far; 0: unknown. *inferred (may be NULL): the last of these was used. */
int64_t nsx_nccl_group(const struct nsx_nccl_comms *c, const struct nsx_rec *op, bool *inferred);
/* The ranks of the communicator with that number in `ids`, inferred if they must be. */
int64_t nsx_nccl_comm_size(const struct nsx_nccl_comms *c, uint32_t comm);
void nsx_nccl_comms_free(struct nsx_nccl_comms *c);

/* An operation of an instance; -1: unknown. record: the caller's. */
struct nsx_nccl_op { int64_t start, dur, bytes, calls, group, hidden, op, seq; uint64_t record; uint32_t key, device; };

struct nsx_nccl_key { uint32_t comm, kind, pair, clock; };   /* in nsx_nccl_set.texts; clock: of the first device */
struct nsx_nccl_device { int64_t number; uint32_t clock; };

/* {0} is empty. 80 bytes for each operation. */
struct nsx_nccl_set {
	struct nsx_nccl_comms comms;
	struct nsx_intern     texts;
	struct nsx_map        key_of, device_of;
	NSX_VEC(struct nsx_nccl_key)    keys;
	NSX_VEC(struct nsx_nccl_device) devices;
	NSX_VEC(struct nsx_nccl_op)     ops;
	bool                  apart;        /* devices of one instance are on clocks that cannot be compared */
	uint32_t             *rank;         /* of keys by communicator, kind, pair; after nsx_nccl_number */
	int64_t               lost;         /* keys of which a device lacks operations that another one has between
	                                     * its own; after nsx_nccl_number */
	int64_t               loose;        /* operations of a communicator without an instance: a send-recv whose ranks
	                                     * are unknown */
};

/* Whether an operation that communicates (nsx_cat_communicates) belongs to an instance: its communicator is known and,
 * for a send-recv, both ranks. */
bool nsx_nccl_is(const struct nsx_rec *op);

/* Add an operation that communicates, or a record of another kind; operations with nsx_nccl_is are kept. clock: the
 * number of the clock of its device. Operations come by start. NSX_OK or NSX_ERR. */
int nsx_nccl_take(struct nsx_nccl_set *s, const struct nsx_rec *rec, uint32_t clock, struct nsx_err *err);

/* The key of an operation with nsx_nccl_is, if one with that key has been added; NSX_NONE. */
uint32_t nsx_nccl_find_key(const struct nsx_nccl_set *s, const struct nsx_rec *rec);

/* After all records: number the operations, and sort them by key (communicator, kind, pair), seq and device number. A
 * `group` of -1 is filled if it can be inferred. NSX_OK or NSX_ERR. */
int nsx_nccl_number(struct nsx_nccl_set *s, struct nsx_err *err);

/* The index after the last operation of the instance that begins at i. */
size_t nsx_nccl_instance(const struct nsx_nccl_set *s, size_t i);
void nsx_nccl_free(struct nsx_nccl_set *s);

#endif
