/* pace.c -- paces of devices by hand. */
#include "job/pace.h"

#include <stdlib.h>

#include "tap.h"

#define N(a) (sizeof (a) / sizeof *(a))

/* The pace of a device, in thousandths; -1: it has none. */
static int
pace(struct nsx_pace_time *t, size_t n, int64_t device)
{
	struct nsx_paces p;
	struct nsx_err err;
	int got = -1;

	if (nsx_paces_of(t, n, &p, &err) == NSX_OK) {
		const struct nsx_pace *of = nsx_paces_find(&p, device);

		got = of ? (int)(of->pace * 1000 + 0.5) : -1;
	}
	free(p.list.p);
	return got;
}

static void
test_example(void)
{
	struct nsx_pace_time t[] = { { 0, 0, 10, 1000 }, { 1, 0, 10, 1030 }, { 2, 0, 10, 1002 },
	                             { 2, 1, 5, 498 }, { 1, 1, 5, 515 }, { 0, 1, 5, 500 } };

	is_int(pace(t, N(t), 0), 999, "the example: device 0");
	is_int(pace(t, N(t), 1), 1029, "the example: device 1");
	is_int(pace(t, N(t), 2), 999, "the example: device 2");
	is_int(pace(t, N(t), 3), -1, "the example: device 3");
}

/* A kernel that one device lacks, or runs more often, does not count. */
static void
test_other_work(void)
{
	struct nsx_pace_time t[] = { { 0, 0, 10, 1000 }, { 1, 0, 10, 1000 }, { 0, 1, 3, 900 },
	                             { 0, 2, 2, 100 }, { 1, 2, 4, 200 } };

	is_int(pace(t, N(t), 0), 1000, "other work: device 0");
	is_int(pace(t, N(t), 1), 1000, "other work: device 1");
}

/* Twice as many steps on one device: compared per kernel. */
static void
test_other_steps(void)
{
	struct nsx_pace_time t[] = { { 0, 0, 10, 1000 }, { 1, 0, 20, 2200 }, { 0, 1, 5, 500 }, { 1, 1, 10, 1100 } };

	is_int(pace(t, N(t), 0), 1000, "other numbers of steps: device 0");
	is_int(pace(t, N(t), 1), 1100, "other numbers of steps: device 1");
}

static void
test_nothing(void)
{
	struct nsx_pace_time t[] = { { 0, 0, 10, 1000 }, { 1, 1, 10, 1000 } };

	is_int(pace(t, 0, 0), -1, "nothing in common: device 0");
	is_int(pace(t, N(t), 0), 0, "nothing in common: device 0");
	is_int(pace(t, 1, 0), 1000, "nothing in common: device 0");
}

int
main(void)
{
	test_example();
	test_other_work();
	test_other_steps();
	test_nothing();
	return done();
}
