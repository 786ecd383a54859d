/* device_groups.h -- the groups of devices by which tables have rows: the one home of which group a device is in.
 *
 *   node        the devices of a machine, by the names of hosts in `profile` records
 *   rack        the devices of machines whose names differ in their last number alone: rack0-node000, rack0-node001
 *   partition   devices with one number of a partition or slice, as the program names it
 *   group       each replica group of XLA and communicator of NCCL (job/comm/group_axes.h)
 *   axis        devices at one place of an axis of their mesh: a stage of a pipeline is a place of its axis
 *   block:N     N devices with consecutive numbers, from 0
 *
 *   groups 0,1;2,3 and 0,2;1,3     by group: axis1/2 with devices 0-1, axis1/2 2-3, axis0/2 0,2, axis0/2 1,3
 *                                  by axis:  axis0/2 at 0 with devices 0-1, at 1 2-3; axis1/2 at 0 0,2, at 1 1,3
 *
 * A device is in one group of a node, rack, partition or block, and in one of each axis. */
#ifndef NSX_JOB_DEVICE_GROUPS_H
#define NSX_JOB_DEVICE_GROUPS_H

#include "job/comm/group_axes.h"

enum nsx_group_by { NSX_BY_NODE, NSX_BY_RACK, NSX_BY_PARTITION, NSX_BY_GROUP, NSX_BY_AXIS, NSX_BY_BLOCK };

/* How devices are grouped. block: devices of a block. */
struct nsx_grouping { enum nsx_group_by by; int64_t block; };

/* What `node`, `block:8` and the others mean; false if it is none of them. */
bool nsx_grouping_parse(const char *text, struct nsx_grouping *g);
/* All of them, for messages. */
#define NSX_GROUPINGS "node|rack|partition|group|axis|block:N"
/* The name of the column that names a group, NULL if its devices do (by group); it lives for ever. */
const char *nsx_grouping_column(const struct nsx_grouping *g);
/* The part of a machine's name that is its rack's: without a domain, and without the last number and the letters and
 * separators before it, "rack0" of "rack0-node017.cluster", "x3c0s1b0" of "x3c0s1b0n1"; empty for a name that has no
 * number, or no other before it, as "node17" and "node-17". */
struct nsx_str nsx_rack_of_host(struct nsx_str host);
/* Whether groups are of axes: several of them may have a device. */
bool nsx_grouping_has_axes(const struct nsx_grouping *g);

/* A group. axis, name: in nsx_device_groups.names; name: of the machine, the partition, ...; axis: "" if it is of none.
 * known: the devices have such a group; else it is [unknown]. */
struct nsx_device_group { uint32_t axis, name; size_t first, n; bool known; };

/* {0} is empty. */
struct nsx_device_groups {
	struct nsx_comm       comm;       /* metadata of devices only */
	struct nsx_group_axes axes;
	NSX_VEC(struct nsx_device_group) list;   /* after nsx_device_groups_make: by axis, then the first device */
	NSX_VEC(int64_t)      devices;    /* of the groups, each in ascending order */
	struct nsx_intern     names;
	struct nsx_buf        text;
	struct nsx_err       *err;
};

/* Declare to a reader what is used, and take records: NSX_OK, or NSX_ERR with g->err filled. g: struct
 * nsx_device_groups with err set. */
void nsx_device_groups_need(struct nsx_reader *in);
int nsx_device_groups_take(void *g, const struct nsx_rec *rec);
/* Both, of a stream that other code reads with nsx_read_all: g outlives that. */
void nsx_device_groups_listen(struct nsx_device_groups *g, struct nsx_reader *in);

/* Make the groups of these n devices, in ascending order of their numbers; may be called again. NSX_OK or NSX_ERR. */
int nsx_device_groups_make(struct nsx_device_groups *g, const struct nsx_grouping *by, const int64_t *devices,
                           size_t n);

void nsx_device_groups_free(struct nsx_device_groups *g);

#endif
