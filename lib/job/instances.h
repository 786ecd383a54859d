/* instances.h -- bring together what devices did of one and the same thing, and hold it only until all of them did it. */
#ifndef NSX_JOB_INSTANCES_H
#define NSX_JOB_INSTANCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "stream/kinds.h"

/* A device's part. */
struct nsx_meet_part {
	int64_t  device, start, end, group;   /* group: the caller's */
	int64_t  exposed;                     /* ns that were not hidden */
	uint32_t clock;                       /* the caller's */
};

/* What all devices did of the thing of that key, in order of arrival; the parts are the callee's to change. NSX_OK, or NSX_ERR. */
typedef int nsx_meet_fn(void *state, struct nsx_key key, struct nsx_meet_part *parts, size_t n);

struct nsx_meet_slot;

/* {0} with whole and state set is empty. */
struct nsx_meet {
	nsx_meet_fn   *whole;
	void          *state;
	struct nsx_map at;
	NSX_VEC(struct nsx_meet_slot) slots;   /* of things begun; free ones are kept for the next */
	NSX_VEC(uint32_t) unused;
	int64_t        begun;
};

/* Add a part to the thing of that key. When it has `expected` parts (0: not known) `whole` is called, and the thing is forgotten.
 * NSX_OK, NSX_ERR with err filled, or what `whole` returned. */
int nsx_meet_add(struct nsx_meet *m, struct nsx_key key, const struct nsx_meet_part *part, size_t expected, struct nsx_err *err);

/* Call `whole` for the things that are still held, in order of their first parts. */
int nsx_meet_rest(struct nsx_meet *m, struct nsx_err *err);

void nsx_meet_free(struct nsx_meet *m);

/* How many devices may run a program: those of the reports that know it by an alias. {0} is empty. */
struct nsx_crew {
	struct nsx_map devices_of;   /* profile -> number of its devices */
	struct nsx_map aliased;      /* (profile, program) seen */
	struct nsx_map runners_of;   /* program -> number of devices */
	struct nsx_map device_seen;
	uint32_t       devices;
};

/* Take in a `device` or `alias` record, devices first; others are ignored. NSX_OK or NSX_ERR. */
int nsx_crew_meta(struct nsx_crew *c, const struct nsx_rec *rec, struct nsx_err *err);

/* Devices of the reports that have an alias of the program; all devices if none has one, 0 if not known. */
size_t nsx_crew_of(const struct nsx_crew *c, int64_t program);

void nsx_crew_free(struct nsx_crew *c);

#endif
