/* causes.c -- causes of idle time by name, and lists of them. */
#include "job/causes.h"

#include "tap.h"

int
main(void)
{
	bool found = true, alone = true;
	uint32_t causes = 0;
	struct nsx_str bad;

	for (int c = 0; c < NSX_NCAUSES; c++) {
		struct nsx_str name = nsx_str_c(nsx_cause_name((enum nsx_cause)c)), more = { name.ptr, name.len - 1 };

		found &= nsx_cause_named(name) == (enum nsx_cause)c;
		alone &= nsx_cause_named(more) != (enum nsx_cause)c;
	}
	ok(found, "each cause is found by its name");
	ok(alone, "and not by less of it");
	is_int(nsx_cause_named(NSX_STR("")), NSX_NCAUSES, "no name is of none");
	is_int(nsx_cause_named(NSX_STR("launch-starved")), NSX_NCAUSES, "nor is that of a group");
	is_int(nsx_causes_parse("sync,host", &causes, &bad), NSX_OK, "a list");
	is_int(causes, UINT32_C(1) << NSX_CAUSE_SYNC | UINT32_C(1) << NSX_CAUSE_HOST, "of two causes");
	is_int(nsx_causes_parse("sync,hosts", &causes, &bad), NSX_ERR, "one that is none");
	is_int((int64_t)bad.len, 5, "is told");
	return done();
}
