/* fields.c -- which column of a kind means what: the table made from kinds.def. */
#include "stream/fields.h"

/* A role that a kind has twice is an initializer given twice, of which compilers warn. Columns without a role have
 * places of their own, so that they are not. */
#define KIND(id, name, meaning)
#define COL(id, name, type, unit, role, meaning) \
	[NSX_##id][NSX_ROLE_##role + (NSX_ROLE_##role == NSX_ROLE_NONE) * NSX_##id##_##name] = NSX_##id##_##name + 1,
const uint8_t nsx_fields[NSX_NKINDS + 1][NSX_NROLES + NSX_MAX_COLS] = {
#include "stream/kinds.def"
};
#undef KIND
#undef COL
