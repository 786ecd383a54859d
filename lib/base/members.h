/* members.h -- sets of groups of devices, and their text, in streams and in tables.
 *
 *   0,1;2,3         two groups of two: a list, which sets of up to NSX_MEMBERS_LISTED devices always are
 *   0-1023/8        every eighth device from 0 on: 0, 8, ... 1016
 *   0-7*128+8       128 groups, each 8 above the one before: 0-7, 8-15, ... 1016-1023
 *   0-1*1023+1;1023,0
 *                   the pairs of a ring of 1,024
 *
 *   SET    = GROUP { ";" GROUP }
 *   GROUP  = ITEM { "," ITEM } [ "*" COUNT "+" SHIFT ]       COUNT and SHIFT are at least 1
 *   ITEM   = DEVICE | FIRST "-" LAST [ "/" STEP ]            LAST is not below FIRST, STEP at least 1
 *
 * The order of devices and of groups is kept, and equal sets have equal text. */
#ifndef NSX_BASE_MEMBERS_H
#define NSX_BASE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

enum {
	NSX_MEMBERS_LISTED = 64,
	NSX_MEMBERS_MAX = 1 << 22   /* devices, of all groups of a text that is read */
};

/* ends[i]: where group i ends in ids; groups are not empty. {0} is empty, nsx_members_free ends it. */
struct nsx_members {
	NSX_VEC(int64_t) ids;
	NSX_VEC(size_t)  ends;
};

/* Where group g begins in ids. */
static inline size_t
nsx_members_begin(const struct nsx_members *m, size_t g)
{
	return g ? m->ends.p[g - 1] : 0;
}

/* Read a set into m, whose earlier contents are dropped; an empty text has no groups. NSX_OK; NSX_EOF if it is of
 * another form, or of more than `max` devices (at most NSX_MEMBERS_MAX); NSX_ERR when out of memory. */
int nsx_members_read(struct nsx_members *m, struct nsx_str text, size_t max);

/* Append the text of a set. */
void nsx_members_put(const struct nsx_members *m, struct nsx_buf *to);

/* Append devices as ranges, whatever their number: `0-3`, `0-6/2`, `0,1,5`; `-` for
 * INT64_MIN, the number that is not known. */
void nsx_ranges_put(const int64_t *devices, size_t n, struct nsx_buf *to);

void nsx_members_free(struct nsx_members *m);

#endif
