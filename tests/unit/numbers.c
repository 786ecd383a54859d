/* numbers.c -- operations by their number in their report: those that a report counts, and those that it does not. */
#include "tap.h"

#include <stdint.h>
#include <stdlib.h>

#include "table/whatif/numbers.h"

enum { FAR = 60000 };

int
main(void)
{
	struct nsx_large l = { .limit = 4 << 20 };
	struct wi_numbers n = { 0 };
	bool good = true;

	/* Memory ends where places for numbers in between would be made. */
	setenv("TMPDIR", "/nonexistent", 1);
	for (uint32_t i = 0; i < 3; i++)
		good &= nsx_wi_number_set(&n, &l, 0, i * (FAR / 2), i);
	ok(good && n.gaps == FAR + 1 - 3, "places of numbers that have not come are counted: %zu", n.gaps);
	ok(nsx_wi_number_set(&n, &l, 1, INT64_MIN, 7) && nsx_wi_number_set(&n, &l, 1, INT64_MAX, 8),
	   "the least and the greatest number of a report");
	ok(nsx_wi_number_set(&n, &l, 1, INT64_MIN + 1, 9), "and one that follows");
	ok(nsx_wi_number_get(&n, 1, INT64_MIN) == 7 && nsx_wi_number_get(&n, 1, INT64_MAX) == 8
	   && nsx_wi_number_get(&n, 1, INT64_MIN + 1) == 9, "all are found");
	ok(nsx_wi_number_get(&n, 0, FAR) == 2 && nsx_wi_number_get(&n, 0, FAR - 1) == NSX_NONE,
	   "of the other report, too, and none that has not come");
	nsx_wi_numbers_free(&n, &l);
	ok(!l.areas.n, "nothing is left");
	nsx_large_end(&l);
	return done();
}
