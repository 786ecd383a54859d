/* communication.h -- properties of each device's record of a collective, from the metadata of the stream: kind, size,
 * group, bandwidth, and its instance.
 *
 * An instance of a collective is one execution of it by one group of devices. Records of the same instruction in the
 * same group with the same execution and occurrence are one instance; nsx_comm_instance computes its key, nsx_instances
 * (instances.h) collects its records.
 *
 *   groups 4 0,1;2,3   inst .. 3 all-reduce .. groups 4   thunk of inst 3 on device 0, execution 7, occurrence 0
 *                                                         thunk of inst 3 on device 1, execution 7, occurrence 0
 *     the same instance
 *                                                         thunk of inst 3 on device 2, execution 7, occurrence 0
 *     another instance: device 2 is in the other group */
#ifndef NSX_JOB_COMM_COMMUNICATION_H
#define NSX_JOB_COMM_COMMUNICATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "job/catalogue.h"
#include "job/comm/replica_groups.h"
#include "stream/kinds.h"

/* {0} is empty; cat.keep may be set first. */
struct nsx_comm {
	struct nsx_catalogue cat;
	struct nsx_replica_groups groups;
	struct nsx_map    clock_number;  /* (aligned, component or profile) -> number of a clock */
	NSX_VEC(uint32_t) clocks;        /* by device of the catalogue; NSX_NONE: not looked up yet */
	uint32_t          own_clocks;    /* clocks in use that belong to one profile, not aligned */
	struct nsx_map    time_number;   /* (execution, occurrence), if these are large, -> a number */
	/* Counts of records that lack something, for nsx_comm_diags. */
	int64_t           records, no_inst, no_bytes, no_group, no_groups, no_dur;
	int64_t           ops;           /* recognised by nsx_is_comm_op */
};

/* Properties of a device's record of a collective. */
struct nsx_comm_record {
	uint32_t inst;          /* in the catalogue */
	uint32_t kind;          /* of collective, a string of the catalogue; NSX_NONE if unknown */
	bool     has_bytes, has_group, has_bandwidth;
	int64_t  bytes;         /* message size of one device */
	int64_t  group;         /* devices in the group */
	double   algbw, busbw;  /* GB/s of 1e9 bytes */
	int64_t  group_at;      /* index of its group in the instruction's groups; -1: unknown, all devices */
	uint32_t replica;       /* its group, in nsx_comm.groups; NSX_NONE: not known */
	uint32_t participants;  /* devices of this stream in the instance; 0 if unknown */
	bool     incomplete;    /* the group has devices that are not in this stream */
};

/* Declare to a reader what nsx_comm_take uses. */
void nsx_comm_need(const struct nsx_comm *c, struct nsx_reader *in);

/* Add a record of metadata; others are ignored. NSX_OK or NSX_ERR. */
int nsx_comm_take(struct nsx_comm *c, const struct nsx_rec *rec, struct nsx_err *err);

/* The number of the clock of a record's device: times of records with one number can be compared. A device without a
 * record uses the clock of the record's profile. NSX_NONE when out of memory. */
uint32_t nsx_comm_clock(struct nsx_comm *c, const struct nsx_rec *rec);

/* Whether all devices of the metadata are on one clock. False if there are none. */
bool nsx_comm_one_clock(const struct nsx_comm *c);

/* Whether rec is a thunk that communicates; call once per record (nsx_cat_communicates). */
bool nsx_is_comm(struct nsx_comm *c, const struct nsx_rec *rec);

/* Whether rec is an operation that communicates and is not in a thunk that does: it is itself a device's record of a
 * collective. Call once per record. */
bool nsx_is_comm_op(struct nsx_comm *c, const struct nsx_rec *rec);

/* The index in c->groups of the replica group in which a record of an instruction runs; NSX_NONE if it is not known. */
uint32_t nsx_comm_replica(struct nsx_comm *c, const struct nsx_rec *rec);

/* Fill in the properties of a communication thunk. NSX_OK or NSX_ERR. */
int nsx_comm_describe(struct nsx_comm *c, const struct nsx_rec *thunk, struct nsx_comm_record *r, struct nsx_err *err);

/* The key of the instance of a thunk: a, the collective (an instruction in one of its groups); b, the execution and
 * occurrence. False when out of memory. */
bool nsx_comm_instance(struct nsx_comm *c, const struct nsx_rec *thunk, const struct nsx_comm_record *r,
                       struct nsx_key *key);

/* The first half of that key, and the instruction in it. */
uint64_t nsx_comm_collective(const struct nsx_comm_record *r);
static inline uint32_t nsx_comm_collective_inst(uint64_t collective) { return (uint32_t)(collective >> 32); }

/* Bandwidths in GB/s of a collective of that kind: bytes of one device, group size n, ns > 0. */
void nsx_comm_bandwidth(struct nsx_str kind, int64_t bytes, int64_t n, int64_t ns, double *algbw, double *busbw);

/* Report how many thunks contradict their instructions. */
void nsx_comm_flag_diags(const struct nsx_comm *c, struct nsx_diags *diags);

/* Report for how many records the participating devices were assumed. */
void nsx_comm_group_diags(const struct nsx_comm *c, struct nsx_diags *diags);

/* Report what other data was missing in these records. */
void nsx_comm_diags(const struct nsx_comm *c, struct nsx_diags *diags);

void nsx_comm_free(struct nsx_comm *c);

#endif
