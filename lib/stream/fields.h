/* fields.h -- the meaning of the columns of a kind: by the roles in kinds.def, so that code that treats kinds alike
 * needs no table of its own. */
#ifndef NSX_STREAM_FIELDS_H
#define NSX_STREAM_FIELDS_H

#include "stream/kinds.h"

NSX_BEGIN_C

/* The meaning of a column, the same in every kind that has it. */
enum nsx_role {
	NSX_ROLE_PROFILE,      /* number of the report */
	NSX_ROLE_DEVICE,       /* number of the device in the job */
	NSX_ROLE_PROGRAM,      /* number of the program in the stream */
	NSX_ROLE_EXECUTION,    /* of the program on the device */
	NSX_ROLE_INST,         /* number of the instruction within the program */
	NSX_ROLE_OCCURRENCE,   /* of the instruction within the execution */
	NSX_ROLE_START,        /* ns, when GPU work began */
	NSX_ROLE_DUR,          /* ns, its duration */
	NSX_ROLE_HOST_START,   /* ns, when the host began, by the clock of its process */
	NSX_ROLE_HOST_DUR,     /* ns, its duration */
	NSX_ROLE_HOST_AT,      /* ns, a moment by the same clock */
	NSX_ROLE_HIDDEN,       /* ns, part of DUR in which the device computed */
	NSX_ROLE_PID,
	NSX_ROLE_TID,
	NSX_ROLE_RANGE,        /* the NVTX range's id in the report: of the range itself, or of the one around the
	                        * record */
	NSX_ROLE_PARENT,       /* id of the range around the range */
	NSX_ROLE_OP,           /* number of the GPU operation within the report */
	NSX_ROLE_CALL,         /* id of the CUDA call in the report */
	NSX_ROLE_NAME,
	NSX_ROLE_OP_NAME,      /* the framework's name */
	NSX_ROLE_STACK,        /* number of the stack */
	NSX_ROLE_GROUPS,       /* number of the set of replica groups */
	NSX_ROLE_COMM,         /* 1: communicates */
	NSX_ROLE_COLLECTIVE,   /* kind of collective */
	NSX_ROLE_COMM_ID,      /* NCCL communicator */
	NSX_ROLE_CALLS,        /* number of NCCL calls executed */
	NSX_ROLE_GROUP,        /* devices in the group */
	NSX_ROLE_PAIR,         /* ranks of a send-recv */
	NSX_ROLE_INSTANCE,     /* number of the instance of a collective in the stream */
	NSX_ROLE_WAIT,         /* ns from START to the last start of the instance */
	NSX_ROLE_BYTES,
	NSX_ROLE_STREAM,       /* CUDA stream */
	NSX_ROLE_OPS,          /* number of GPU operations or calls that belong to it */
	NSX_ROLE_CLASS,
	NSX_NROLES,
	NSX_ROLE_NONE = NSX_NROLES
};

/* The slot plus 1; 0: the kind has no such column. Columns without a role come after the roles. Use nsx_field. */
extern const uint8_t nsx_fields[NSX_NKINDS + 1][NSX_NROLES + NSX_MAX_COLS];

/* The slot of the kind's column with that role, -1 if it has none; an unknown kind has none. */
static inline int
nsx_field(enum nsx_kind_id kind, enum nsx_role role)
{
	return nsx_fields[kind][role] - 1;
}

/* Roles as bits of a number, and the slots (bits, too) of a kind that have them. */
#define NSX_R(role) (1ULL << NSX_ROLE_##role)
uint64_t nsx_field_slots(enum nsx_kind_id kind, uint64_t roles);

/* The same of START, DUR, HOST_START and HOST_DUR. */
extern const uint64_t nsx_field_times[NSX_NKINDS + 1];

/* Whether rec has a value in its column of that role. */
static inline bool
nsx_field_has(const struct nsx_rec *rec, enum nsx_role role)
{
	int slot = nsx_field(rec->kind->id, role);

	return slot >= 0 && nsx_has(rec, slot);
}

/* That value, a number; `otherwise` if it is absent. */
static inline int64_t
nsx_field_int(const struct nsx_rec *rec, enum nsx_role role, int64_t otherwise)
{
	int slot = nsx_field(rec->kind->id, role);

	return slot >= 0 ? nsx_int(rec, slot, otherwise) : otherwise;
}

/* That value, a string; the empty one if it is absent. */
static inline struct nsx_str
nsx_field_str(const struct nsx_rec *rec, enum nsx_role role)
{
	int slot = nsx_field(rec->kind->id, role);

	return slot >= 0 ? nsx_string(rec, slot) : (struct nsx_str){ "", 0 };
}

NSX_END_C

#endif
