/* communication.h -- what a stream's metadata say of each device's record of a collective: kind, size, group,
 * bandwidth, and which instance it is of.
 *
 * An instance of a collective is one execution of it by one group of devices. What the same instruction does in the
 * same group in the same execution and occurrence is one instance; nsx_comm_instance gives its key, nsx_instances
 * (instances.h) brings its records together.
 *
 *   groups 4 0,1;2,3   inst .. 3 all-reduce .. groups 4   thunk of inst 3 on device 0, execution 7, occurrence 0
 *                                                         thunk of inst 3 on device 1, execution 7, occurrence 0   same
 *     instance
 *                                                         thunk of inst 3 on device 2, execution 7, occurrence 0  
 *     another: other group */
#ifndef NSX_JOB_COMMUNICATION_H
#define NSX_JOB_COMMUNICATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "job/catalogue.h"
#include "job/replica_groups.h"
#include "stream/kinds.h"

/* {0} is empty; cat.keep may be set first. */
struct nsx_comm {
	struct nsx_catalogue cat;
	struct nsx_replica_groups groups;
	struct nsx_map    clock_number;  /* (aligned, component or profile) -> number of a clock */
	NSX_VEC(uint32_t) clocks;        /* by device of the catalogue; NSX_NONE: not asked for yet */
	uint32_t          own_clocks;    /* clocks asked for that are one profile's own, not aligned */
	struct nsx_map    time_number;   /* (execution, occurrence), where these are large, -> a number */
	/* Records described that lack something, for nsx_comm_diags. */
	int64_t           records, no_inst, no_bytes, no_group, no_groups, no_dur;
	int64_t           ops;           /* found by nsx_is_comm_op */
};

/* A device's record of a collective, described. */
struct nsx_comm_record {
	uint32_t inst;          /* in the catalogue */
	uint32_t kind;          /* of collective, a string of the catalogue; NSX_NONE if not known */
	bool     has_bytes, has_group, has_bandwidth;
	int64_t  bytes;         /* message size of one device */
	int64_t  group;         /* devices in the group */
	double   algbw, busbw;  /* GB/s of 1e9 bytes */
	int64_t  group_at;      /* which of the instruction's groups; -1: not known, all devices */
	uint32_t participants;  /* devices of this stream that take part in the instance; 0 if not known */
	bool     incomplete;    /* the group has devices that this stream has not */
};

/* Tell a reader what nsx_comm_take uses. */
void nsx_comm_need(const struct nsx_comm *c, struct nsx_reader *in);

/* Take in a record of metadata; others are ignored. NSX_OK or NSX_ERR. */
int nsx_comm_take(struct nsx_comm *c, const struct nsx_rec *rec, struct nsx_err *err);

/* The number of the clock of a record's device: times of records of one number can be compared. Of a device that has no
 * record it is that of the record's profile. NSX_NONE when out of memory. */
uint32_t nsx_comm_clock(struct nsx_comm *c, const struct nsx_rec *rec);

/* Whether rec is a thunk that communicates; ask once a record (nsx_cat_communicates). */
bool nsx_is_comm(struct nsx_comm *c, const struct nsx_rec *rec);

/* Whether rec is an operation that communicates and is in no thunk that does: by itself a device's record of a
 * collective. Ask once a record. */
bool nsx_is_comm_op(struct nsx_comm *c, const struct nsx_rec *rec);

/* Describe a communication thunk. NSX_OK or NSX_ERR. */
int nsx_comm_describe(struct nsx_comm *c, const struct nsx_rec *thunk, struct nsx_comm_record *r, struct nsx_err *err);

/* What tells the instance of a thunk described from all others: a, which collective (an instruction in one of its
 * groups); b, which time. False when out of memory. */
bool nsx_comm_instance(struct nsx_comm *c, const struct nsx_rec *thunk, const struct nsx_comm_record *r,
                       struct nsx_key *key);

/* The first half of that key, and the instruction in it. */
uint64_t nsx_comm_collective(const struct nsx_comm_record *r);
static inline uint32_t nsx_comm_collective_inst(uint64_t collective) { return (uint32_t)(collective >> 32); }

/* Bandwidths in GB/s of a collective of that kind: bytes of one device, group size n, ns > 0. */
void nsx_comm_bandwidth(struct nsx_str kind, int64_t bytes, int64_t n, int64_t ns, double *algbw, double *busbw);

/* Say how many thunks contradict their instructions. */
void nsx_comm_flag_diags(const struct nsx_comm *c, struct nsx_diags *diags);

/* Say of how many records described the devices that took part were assumed. */
void nsx_comm_group_diags(const struct nsx_comm *c, struct nsx_diags *diags);

/* Say what else was missing in them. */
void nsx_comm_diags(const struct nsx_comm *c, struct nsx_diags *diags);

void nsx_comm_free(struct nsx_comm *c);

#endif
