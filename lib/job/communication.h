/* communication.h -- what a stream's metadata say about communication: kind, size, group, bandwidth of each thunk's part. */
#ifndef NSX_JOB_COMMUNICATION_H
#define NSX_JOB_COMMUNICATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "job/catalogue.h"
#include "stream/kinds.h"

struct nsx_comm_inst;
struct nsx_comm_group;
struct nsx_comm_device;

/* {0} is empty. */
struct nsx_comm {
	struct nsx_catalogue cat;
	struct nsx_intern kinds;         /* kinds of collective */
	struct nsx_map    inst_of, device_of, set_of, member_of;
	NSX_VEC(struct nsx_comm_inst) insts;
	NSX_VEC(struct nsx_comm_device) devices;
	NSX_VEC(struct nsx_comm_group) groups;
	uint32_t          listed;        /* devices that have a record */
	/* Parts that lack something, for nsx_comm_diags. */
	int64_t           parts, no_inst, no_bytes, no_group, no_groups, no_dur;
	int64_t           ops;           /* found by nsx_is_comm_op */
};

/* What a device's clock can be compared with: devices of equal values are on one clock. */
struct nsx_comm_clock { bool aligned; int64_t number; };

/* One device's part in one collective. */
struct nsx_comm_part {
	uint32_t inst;          /* dense number of (program, instruction) */
	uint32_t kind;          /* of collective, in nsx_comm.kinds; NSX_NONE if not known */
	bool     has_bytes, has_group, has_bandwidth;
	int64_t  bytes;         /* message size of one device */
	int64_t  group;         /* devices in the group */
	double   algbw, busbw;  /* GB/s of 1e9 bytes */
	int64_t  instance;      /* tells the groups of one instruction apart */
	uint32_t expected;      /* devices of this stream that take part in the instance; 0 if not known */
	bool     partial;       /* the group has devices that this stream has not */
	struct nsx_comm_clock clock;
};

/* Take in a record of metadata: device, clock, groups, inst; others are ignored. NSX_OK or NSX_ERR. */
int nsx_comm_meta(struct nsx_comm *c, const struct nsx_rec *rec, struct nsx_err *err);

/* The clock of a device; profile is that of a record of it, for a device that has no record of its own. */
struct nsx_comm_clock nsx_comm_clock(const struct nsx_comm *c, int64_t device, int64_t profile);

/* Whether rec is a thunk that communicates; ask once a record (job/communicates.h). */
bool nsx_is_comm(struct nsx_comm *c, const struct nsx_rec *rec);

/* Whether rec is an operation that communicates and is in no thunk that does: by itself a device's part in a collective. Ask once a record. */
bool nsx_is_comm_op(struct nsx_comm *c, const struct nsx_rec *rec);

/* Describe the part of a communication thunk. NSX_OK or NSX_ERR. */
int nsx_comm_part(struct nsx_comm *c, const struct nsx_rec *thunk, struct nsx_comm_part *part, struct nsx_err *err);

/* Bandwidths in GB/s of a collective of that kind: bytes of one device, group size n, ns > 0. */
void nsx_comm_bandwidth(struct nsx_str kind, int64_t bytes, int64_t n, int64_t ns, double *algbw, double *busbw);

/* Say how many thunks contradict their instructions. */
void nsx_comm_flag_diags(const struct nsx_comm *c, struct nsx_diags *diags);

/* Say of how many parts described the devices that took part were assumed. */
void nsx_comm_group_diags(const struct nsx_comm *c, struct nsx_diags *diags);

/* Say what else was missing in them. */
void nsx_comm_diags(const struct nsx_comm *c, struct nsx_diags *diags);

void nsx_comm_free(struct nsx_comm *c);

#endif
