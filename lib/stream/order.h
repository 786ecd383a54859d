/* order.h -- the order of a stream's records (docs/format.md, "Order"): the only place where it is implemented. */
#ifndef NSX_STREAM_ORDER_H
#define NSX_STREAM_ORDER_H

#include "stream/fields.h"
#include "stream/kinds.h"

NSX_BEGIN_C

/* The parts of a stream, one after the other. */
enum nsx_section {
	NSX_SECTION_METADATA,
	NSX_SECTION_COMPILE,    /* by profile, then host start */
	NSX_SECTION_WORK,       /* of host and GPU, by time */
	NSX_SECTION_SKEW,
	NSX_SECTION_ANY         /* at any position: diag, unknown kinds; `end`, which is last */
};

/* kinds.def has the kinds in the order of a stream. */
static inline enum nsx_section
nsx_section_of(enum nsx_kind_id kind)
{
	if (kind < NSX_COMPILE)
		return NSX_SECTION_METADATA;
	if (kind == NSX_COMPILE)
		return NSX_SECTION_COMPILE;
	if (kind < NSX_SKEW)
		return NSX_SECTION_WORK;
	return kind == NSX_SKEW ? NSX_SECTION_SKEW : NSX_SECTION_ANY;
}

static inline enum nsx_section nsx_rec_section(const struct nsx_rec *r) { return nsx_section_of(r->kind->id); }

/* The time that determines the position of a record of compilation or work, in ns: for call, overhead and compile the
 * host's start, for a range the earlier of its two starts (or the one that it has), for all others the GPU's. False if
 * it has no such time; always for other sections. */
bool nsx_order_time(const struct nsx_rec *r, int64_t *time);

/* The slots of that time for records of a kind of work: the first, or the second where that is absent or earlier; both
 * are the same but for ranges. -1: another kind. */
void nsx_order_slots(enum nsx_kind_id kind, int8_t slots[2]);

/* The slots that determine the position of such a record, except durations and ties. */
uint64_t nsx_order_columns(enum nsx_kind_id kind);

/* The end of a record on the host and on the GPU, in ns: the later of the ends that it has, INT64_MIN if it has no
 * time. Clamped to the range of a time. */
int64_t nsx_order_end(const struct nsx_rec *r);

/* The first part of the sort key. Work: the time, the kind, the duration (for a range the host's) with the longer
 * first. Compilation: the profile, the time. Others: the section only. Absent values come first. */
struct nsx_order_key { int64_t section, first, second, third; };

/* For work of that kind, time and duration (pointed to; NULL: absent). */
struct nsx_order_key nsx_order_work(enum nsx_kind_id kind, int64_t time, const int64_t *dur);

/* False if r has no time: its key is then that of the earliest time. */
bool nsx_order_key(const struct nsx_rec *r, struct nsx_order_key *key);

static inline int
nsx_order_key_cmp(const struct nsx_order_key *a, const struct nsx_order_key *b)
{
	if (a->first != b->first && a->section == b->section)
		return a->first < b->first ? -1 : 1;
	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	if (a->second != b->second)
		return a->second < b->second ? -1 : 1;
	return (a->third > b->third) - (a->third < b->third);
}

/* An object that is sorted as a record of that kind but need not be one: its values by role. Values are requested only
 * as far as they decide the order. `number` returns INT64_MIN, `name` the empty string if the record has no value. */
struct nsx_order_view {
	enum nsx_kind_id kind;
	const void      *of;
	int64_t        (*number)(const void *of, enum nsx_role role);
	struct nsx_str (*name)(const void *of);
};

/* The order of work with equal keys: profile, device, pid, tid, range, name, then the number of the operation or call.
 * Negative, 0 or positive. */
int nsx_order_tie_cmp(const struct nsx_order_view *a, const struct nsx_order_view *b);

/* The order of two records: negative, 0 or positive. Metadata and skew are equal among themselves. */
int nsx_order_cmp(const struct nsx_rec *a, const struct nsx_rec *b);

/* The same, for work whose keys are known to be equal. */
int nsx_order_cmp_tied(const struct nsx_rec *a, const struct nsx_rec *b);

NSX_END_C

#endif
