/* axis.h -- which dimension of the mesh of devices a group of devices is.
 *
 * The devices of a job are numbered through a mesh: the last axis counts fastest. A group that a collective runs in is
 * regular if its devices differ in some coordinates only, and take all values of these:
 *
 *   devices 0 to 7, groups 0,1 2,3 4,5 6,7     differ in the last axis, which has size 2 and stride 1
 *                   groups 0,2,4,6 1,3,5,7     in the axis before it: size 4, stride 2
 *
 *   the mesh is 4 x 2; the first are `axis1/2`, the others `axis0/4`, and one of all 8 devices is `all`
 *
 * The mesh is what the groups of a job show of it: axes that no group distinguishes are one. Strides and sizes that do
 * not fit into one mesh with those of more devices are irregular, as are groups of other forms: `group(3)`. */
#ifndef NSX_JOB_AXIS_H
#define NSX_JOB_AXIS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

enum { NSX_AXIS_DIMS = 8 };   /* stretches of a group, and axes of a mesh up to 63 */

/* `stride` devices from one to the next, `size` of them. */
struct nsx_axis_dim { int64_t stride, size; };

/* A group. n dims, the smallest stride first; 0: irregular, or of one device, or its devices are not all known. axes: a
 * bit for each axis of the mesh that it runs along, 0 the outermost; after nsx_axes_settle. */
struct nsx_axis_group {
	size_t   first;                  /* of its devices, in nsx_axes.members, ascending */
	size_t   known;                  /* how many of them are */
	int64_t  size;
	int      n;
	struct nsx_axis_dim dims[NSX_AXIS_DIMS];
	uint64_t axes;
	bool     all;                    /* every device of the job */
};

/* {0} is empty. */
struct nsx_axes {
	NSX_VEC(struct nsx_axis_group) groups;
	NSX_VEC(int64_t) members;
	NSX_VEC(int64_t) sizes;          /* of the mesh, the outermost axis first; after nsx_axes_settle */
	int64_t          devices;        /* in the job: one more than the highest number, after nsx_axes_settle */
	struct nsx_intern sets;          /* devices of a group -> its number */
	int64_t          highest;        /* position */
	struct nsx_map   position_of;    /* device -> positions: nsx_axes_place */
	NSX_VEC(int64_t) positions;
	NSX_VEC(int64_t) scratch;
};

/* Where a device is in the numbering of the mesh, if that is not its number; before the first group. False when out of
 * memory. */
bool nsx_axes_place(struct nsx_axes *a, int64_t device, int64_t position);

/* The number of the group of these devices, 0 or above, which are sorted in place; equal ones have one number. size:
 * how many devices it has, if not all of them are known, else n; 0: that is not known. NSX_NONE when out of memory. */
uint32_t nsx_axes_add(struct nsx_axes *a, int64_t *devices, size_t n, int64_t size);

/* Find the mesh, after the last group. devices: how many the job has at least. False when out of memory. More groups
 * may follow, after which this is called again. */
bool nsx_axes_settle(struct nsx_axes *a, int64_t devices);

/* Append its name: `all`, `axis1/2`, `axis0+2/4` (along two axes), `group(3)`, `unknown`. */
void nsx_axes_name(const struct nsx_axes *a, uint32_t group, struct nsx_buf *to);

/* The distance of its neighbours, if it is along one stretch; NSX_AXIS_NONE if there is none. */
#define NSX_AXIS_NONE INT64_MIN
int64_t nsx_axes_stride(const struct nsx_axes *a, uint32_t group);

/* The coordinate of a device along these axes, as one number from 0; the same for devices of different groups that are
 * at the same place of theirs. */
int64_t nsx_axes_coordinate(const struct nsx_axes *a, uint64_t axes, int64_t device);

/* Append devices as ranges: `0-3`, `0-6/2` (every second), `0,1,5`; `-` for NSX_ABSENT, which is the first. */
void nsx_axes_devices(const int64_t *devices, size_t n, struct nsx_buf *to);

void nsx_axes_free(struct nsx_axes *a);

#endif
