/* fields.c -- the meaning of the columns of a kind: the table made from kinds.def. */
#include "stream/fields.h"

/* A role that a kind has twice causes a duplicate initializer, of which compilers warn. Columns without a role have
 * separate indices, so they cause none. */
#define KIND(id, name, meaning)
#define COL(id, name, type, unit, role, meaning) \
	[NSX_##id][NSX_ROLE_##role + (NSX_ROLE_##role == NSX_ROLE_NONE) * NSX_##id##_##name] = NSX_##id##_##name + 1,
const uint8_t nsx_fields[NSX_NKINDS + 1][NSX_NROLES + NSX_MAX_COLS] = {
#include "stream/kinds.def"
};
#undef KIND
#undef COL

#define IS_TIME(role) ((role) == NSX_ROLE_START || (role) == NSX_ROLE_DUR || (role) == NSX_ROLE_HOST_START \
	|| (role) == NSX_ROLE_HOST_DUR)
#define KIND(id, name, meaning) , [NSX_##id] = 0
#define COL(id, name, type, unit, role, meaning) | (uint64_t)IS_TIME(NSX_ROLE_##role) << NSX_##id##_##name
const uint64_t nsx_field_times[NSX_NKINDS + 1] = { [NSX_NKINDS] = 0
#include "stream/kinds.def"
};
#undef KIND
#undef COL

uint64_t
nsx_field_slots(enum nsx_kind_id kind, uint64_t roles)
{
	uint64_t slots = 0;

	for (int role = 0; role < NSX_NROLES; role++)
		if (roles >> role & 1 && nsx_field(kind, (enum nsx_role)role) >= 0)
			slots |= 1ULL << nsx_field(kind, (enum nsx_role)role);
	return slots;
}
