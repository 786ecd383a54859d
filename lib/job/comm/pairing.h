/* pairing.h -- which records of collectives are one execution by one group of devices: the one home of that.
 *
 * Of thunks those of one instruction, execution, occurrence and group (job/comm/communication.h); of operations without
 * such an instruction those of one NCCL communicator, kind, pair of ranks and number (job/comm/nccl.h), known at the
 * end only. An operation whose counterparts are not known is in none. */
#ifndef NSX_JOB_COMM_PAIRING_H
#define NSX_JOB_COMM_PAIRING_H

#include "job/comm/communication.h"
#include "job/instances.h"
#include "job/comm/nccl.h"

/* A device's record of a collective. NSX_ABSENT: not known. */
struct nsx_collective {
	int64_t  wait;                       /* to the last start of the instance, ns; ABSENT: cannot be
	                                      * compared, or there is nobody to compare with */
	int64_t  start, dur, hidden;         /* ns; start and dur are known */
	int64_t  bytes, group, calls, op, device;
	uint64_t ticket;                     /* what the caller gave it */
	uint32_t at;                         /* device in the catalogue; NSX_NONE: not there */
	uint32_t clock;                      /* times of one number can be compared */
	uint32_t program, inst;              /* in the catalogue; NSX_NONE: not of one */
	uint32_t kind, comm_id, pair;        /* strings of the catalogue; NSX_NONE: none */
	bool     late, single;               /* the last to start, of equal ones the lowest device; in no instance */
	bool     apart;                      /* in none because clocks of its communicator cannot be compared */
	bool     thunk, incomplete;          /* incomplete: its group has devices that are not in the stream */
	uint64_t collective;                 /* of a thunk: nsx_comm_collective */
	uint32_t replica;                    /* of a thunk: its replica group in nsx_comm.groups; NSX_NONE: not known */
};

/* All n records of one instance, by ticket, or one that is in none. They may be changed. NSX_OK, or a status to be
 * returned by the function that called. */
typedef int nsx_collective_instance_fn(void *state, struct nsx_collective *of, size_t n);

/* A record that is described, and to which instance it belongs. */
struct nsx_pairable {
	struct nsx_collective c;
	enum { NSX_PAIR_ALONE, NSX_PAIR_THUNK, NSX_PAIR_NCCL } what;
	struct nsx_key key;          /* THUNK */
	uint32_t       participants;
	size_t         op;           /* NCCL: its number in the set */
};

/* {0} with instance, state and err set, and thunks as wanted, then nsx_pairing_begin. */
struct nsx_pairing {
	nsx_collective_instance_fn *instance;
	void              *state;
	struct nsx_err    *err;
	bool               thunks;   /* operations without an instruction are not wanted, nor read */
	struct nsx_comm    comm;
	struct nsx_nccl_set nccl;
	struct nsx_instances instances;
	NSX_VEC(struct nsx_collective) members;   /* of an instance of a communicator */
	NSX_VEC(struct nsx_collective) loose;     /* in none, but of a communicator whose size is known at the end */
	int64_t            inferred, backwards;   /* sizes of groups; records that end before they start: ignored */
};

void nsx_pairing_begin(struct nsx_pairing *p);

/* Declare to a reader what is used. */
void nsx_pairing_need(const struct nsx_pairing *p, struct nsx_reader *in);

/* Any record of the stream, before the next function gets it. NSX_OK or NSX_ERR, here and below. */
int nsx_pairing_take(struct nsx_pairing *p, const struct nsx_rec *rec);

/* Whether a thunk or an operation is a record of a collective; once for each. */
bool nsx_pairing_is(struct nsx_pairing *p, const struct nsx_rec *rec);

/* Describe it. `r`: of a thunk, as nsx_comm_describe has it. */
int nsx_pairing_thunk(struct nsx_pairing *p, const struct nsx_rec *thunk, const struct nsx_comm_record *r,
                      struct nsx_pairable *x);
int nsx_pairing_op(struct nsx_pairing *p, const struct nsx_rec *op, struct nsx_pairable *x);

/* Add what was described, with a number of the caller's. */
int nsx_pairing_add(struct nsx_pairing *p, struct nsx_pairable *x, uint64_t ticket);

/* Describe and add a record of a collective, for those who need nothing in between. */
int nsx_pairing_record(struct nsx_pairing *p, const struct nsx_rec *rec, uint64_t ticket);

/* After the last record. */
int nsx_pairing_finish(struct nsx_pairing *p);

/* Report what was missing or inferred. */
void nsx_pairing_diags(const struct nsx_pairing *p, struct nsx_diags *diags);

void nsx_pairing_free(struct nsx_pairing *p);

#endif
