/* replica_groups.h -- the devices that run one instance of a collective together: a replica group; if groups share
 * devices, as the pairs of a permutation do, all devices that are connected.
 *
 *   groups 4 0,1;2,3        nsx_replica_group(4, 1) and (4, 0) are the same, (4, 2) is another: 2 devices each
 *   groups 5 0,1;1,2;3,0    one group of devices 0 to 3, connected by their pairs
 *
 * base/members.h has the other forms of the text. */
#ifndef NSX_JOB_COMM_REPLICA_GROUPS_H
#define NSX_JOB_COMM_REPLICA_GROUPS_H

#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "job/catalogue.h"
#include "stream/kinds.h"

/* `present`: how many of the devices have a record in the stream. first: of its devices, in nsx_replica_groups.devices,
 * in no particular order. */
struct nsx_replica_group { uint32_t size, present; size_t first; };

/* {0} is empty. */
struct nsx_replica_groups {
	struct nsx_map set_of;      /* number of a set of groups -> a dense one */
	struct nsx_map member_of;   /* (dense number of the set, device) -> groups */
	NSX_VEC(struct nsx_replica_group) groups;
	NSX_VEC(int64_t) devices;
};

/* Add a `groups` record, after the devices. Of two sets with one number the first counts. NSX_OK or NSX_ERR. */
int nsx_replica_groups_take(struct nsx_replica_groups *r, const struct nsx_catalogue *c, const struct nsx_rec *rec,
                            struct nsx_err *err);

/* The index in `groups` of the set's group that holds the device, both as numbers of the stream; NSX_NONE if there is
 * none. */
uint32_t nsx_replica_group(const struct nsx_replica_groups *r, int64_t set, int64_t device);

void nsx_replica_groups_free(struct nsx_replica_groups *r);

#endif
