/* axes.h -- along which axes of the mesh the collectives of a kind run; private to lib/table/summary. */
#ifndef NSX_TABLE_SUMMARY_AXES_H
#define NSX_TABLE_SUMMARY_AXES_H

#include "base/table.h"
#include "job/comm/group_axes.h"
#include "job/comm/replica_groups.h"

/* The time of a kind in a group. group: of a replica group, or with `comm` of a communicator; NSX_NONE: not known. */
struct nsx_kind_time { uint32_t kind, group; bool comm; int64_t ns; };

/* {0} is empty. */
struct nsx_kind_axes {
	struct nsx_replica_groups replicas;
	struct nsx_group_axes     axes;
	struct nsx_map            time_of;     /* (kind, group) -> times */
	NSX_VEC(struct nsx_kind_time) times;
};

/* Declare to a reader what nsx_kind_axes_metadata uses. */
void nsx_kind_axes_need(struct nsx_reader *in);
/* Take a record of metadata, after the catalogue has. NSX_OK or NSX_ERR. */
int nsx_kind_axes_metadata(struct nsx_kind_axes *a, const struct nsx_catalogue *cat, const struct nsx_rec *rec,
                           struct nsx_err *err);
/* A collective of that kind ran for ns, as rec says: of instruction `inst` of the catalogue, or NSX_NONE; the
 * communicator comm_id is that of an operation, empty if there is none. False when out of memory. */
bool nsx_kind_axes_add(struct nsx_kind_axes *a, const struct nsx_catalogue *cat, uint32_t kind,
                       const struct nsx_rec *rec, uint32_t inst, struct nsx_str comm_id, int64_t ns);
/* After the last record: find the mesh. False when out of memory. */
bool nsx_kind_axes_settle(struct nsx_kind_axes *a, const struct nsx_catalogue *cat);
/* Append the axes of the kind, that of the longest time first, joined by ','; nothing if none is known. False when out
 * of memory. */
bool nsx_kind_axes_text(struct nsx_kind_axes *a, uint32_t kind, struct nsx_buf *to);
/* The sums of all kinds, below a table. shares: what is hidden is known. */
void nsx_kind_note(struct nsx_table *t, int64_t count, nsx_u128 exposed, nsx_u128 hidden, bool shares);
void nsx_kind_axes_free(struct nsx_kind_axes *a);

#endif
