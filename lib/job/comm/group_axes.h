/* group_axes.h -- the groups of devices in which a job's collectives run, and the axis of the mesh that each is
 * (job/axis.h): replica groups of XLA and communicators of NCCL, equal ones once.
 *
 *   groups 4 0,1;2,3                     two groups, along axis1/2
 *   communicator c0ffee device 0 of 2    a third: devices 0 and 2, along axis0/2
 *   communicator c0ffee device 2 of 2
 *
 * Without replica groups, devices are numbered by their ranks in a communicator of all of them, if there is one: a job
 * of PyTorch has one, and its devices the order in which its reports were given. */
#ifndef NSX_JOB_COMM_GROUP_AXES_H
#define NSX_JOB_COMM_GROUP_AXES_H

#include "job/axis.h"
#include "job/comm/pairing.h"

/* n: devices whose rank in it is recorded. name: what the framework calls it, in nsx_group_axes.names; NSX_NONE: not
 * known. */
struct nsx_communicator { size_t n; int64_t size; uint32_t group, name; };
struct nsx_communicator_rank { uint32_t comm; int64_t device, rank; };

/* {0} is empty. */
struct nsx_group_axes {
	struct nsx_axes   axes;           /* complete after nsx_group_axes_settle */
	NSX_VEC(uint32_t) of_replica;     /* by index of a replica group */
	struct nsx_intern ids;            /* of communicators */
	NSX_VEC(struct nsx_communicator) comms;
	NSX_VEC(struct nsx_communicator_rank) ranks;
	struct nsx_intern names;
	NSX_VEC(uint32_t) called;         /* by group: the first name of a communicator of it; NSX_NONE: none */
	NSX_VEC(int64_t)  scratch;
	bool              begun;
};

/* Declare to a reader what nsx_group_axes_take uses. */
void nsx_group_axes_need(struct nsx_reader *in);

/* Add a `communicator` record; others are ignored. NSX_OK or NSX_ERR. */
int nsx_group_axes_take(struct nsx_group_axes *g, const struct nsx_rec *rec, struct nsx_err *err);

/* The group of an instance: its replica group or communicator; where that is not known, its devices if they are all of
 * it, else some devices of which only the number is known. Replica groups and communicators are complete. A number in
 * g->axes; NSX_NONE when out of memory. */
uint32_t nsx_group_axes_of(struct nsx_group_axes *g, const struct nsx_comm *comm, const struct nsx_collective *of,
                           size_t n);

/* Add all replica groups and communicators, and find the mesh. devices: how many the job has at least. False when out
 * of memory. */
bool nsx_group_axes_settle(struct nsx_group_axes *g, const struct nsx_replica_groups *r, int64_t devices);

/* What the framework calls a group, of the first communicator that tells; empty if none does. */
struct nsx_str nsx_group_axes_called(const struct nsx_group_axes *g, uint32_t group);

void nsx_group_axes_free(struct nsx_group_axes *g);

#endif
