/* step_numbers.c -- steps of devices get the number of the reference's step that belongs to them: by their names, by
 * when collectives end, or by what starts nearest, also where steps start together, and for a hundred thousand devices
 * in a moment. */
#include "job/steps/numbers.h"

#include <stdlib.h>

#include "tap.h"

enum { MANY = 100000 };

static struct nsx_err err;

/* Numbers n steps of devices, of which device k has number k; those below `shared` have one clock, others their own.
 * A tag of 0 and communication that ends at 0 are none. */
static bool
number_apart(struct nsx_step_of *list, size_t n, uint32_t devices, uint32_t shared)
{
	struct nsx_catalogue cat = { 0 };
	bool good = true;

	for (uint32_t i = 0; i < devices && good; i++)
		good = nsx_vec_push(&cat.devices, ((struct nsx_cat_device){ .number = i, .aligned = true,
		                                                            .component = i < shared ? 0 : i }));
	for (size_t i = 0; i < n; i++) {
		list[i].tag = list[i].tag ? list[i].tag : NSX_ABSENT;
		if (!list[i].met[0])
			list[i].met[0] = list[i].met[1] = NSX_ABSENT;
	}
	good = good && nsx_step_numbers(list, n, &cat, &err) == NSX_OK;
	free(cat.devices.p);
	return good;
}

static bool
number(struct nsx_step_of *list, size_t n, uint32_t devices)
{
	return number_apart(list, n, devices, devices);
}

/* Whether n steps have these numbers. */
static bool
are(const struct nsx_step_of *list, size_t n, const int64_t *want)
{
	bool good = true;

	for (size_t i = 0; i < n; i++)
		good = good && list[i].number == want[i];
	return good;
}

/* Device 1 begins each step nearly a period late, so that its starts are near those of the next. */
static void
collectives(void)
{
	struct nsx_step_of list[] = {
		{ .device = 0, .first = 0, .met = { 95, 95 } }, { .device = 0, .first = 100, .met = { 195, 195 } },
		{ .device = 0, .first = 200, .met = { 295, 295 } }, { .device = 0, .first = 300, .met = { 395, 395 } },
		{ .device = 1, .first = 92, .met = { 96, 96 } }, { .device = 1, .first = 192, .met = { 196, 196 } },
		{ .device = 1, .first = 292, .met = { 296, 296 } },
		{ .device = 2, .first = 197, .met = { 296, 296 } }, { .device = 2, .first = 302, .met = { 396, 396 } }
	};
	struct nsx_step_of stages[] = {
		{ .device = 0, .first = 0, .met = { 10, 90 } }, { .device = 0, .first = 100, .met = { 110, 190 } },
		{ .device = 1, .first = 55, .met = { 40, 60 } }, { .device = 1, .first = 155, .met = { 140, 160 } }
	};
	struct nsx_step_of some[] = {
		{ .device = 0, .first = 0 }, { .device = 0, .first = 10 },
		{ .device = 0, .first = 20, .met = { 99, 99 } }, { .device = 1, .first = 30 },
		{ .device = 1, .first = 60 }, { .device = 1, .first = 90, .met = { 99, 99 } }
	};

	ok(number(list, 9, 3) && are(list, 9, (int64_t[]){ 0, 1, 2, 3, 0, 1, 2, 2, 3 }),
	   "steps that communicate together are one, however late a device begins them");
	ok(number(stages, 4, 2) && are(stages, 4, (int64_t[]){ 0, 1, 0, 1 }),
	   "stages: between what came and what goes");
	ok(number(some, 6, 2) && are(some, 6, (int64_t[]){ 0, 1, 2, 0, 1, 2 }), "communication in the last step only");
}

static void
names(void)
{
	struct nsx_step_of list[] = {
		{ .device = 0, .first = 0, .tag = 5 }, { .device = 0, .first = 100, .tag = 6 },
		{ .device = 0, .first = 200, .tag = 7 }, { .device = 1, .first = 9000, .tag = 4 },
		{ .device = 1, .first = 9100, .tag = 5 }, { .device = 2, .first = 0, .tag = 7 }
	};

	ok(number_apart(list, 6, 3, 2) && are(list, 6, (int64_t[]){ 1, 2, 3, 0, 1, 3 }),
	   "numbers in names, also without a clock");
	list[5].tag = 70;
	ok(number_apart(list, 6, 3, 2) && are(list, 6, (int64_t[]){ 0, 1, 2, 0, 1, 0 }),
	   "names with nothing in common");
	list[5].tag = 7;
	list[1].tag = 5;
	ok(number_apart(list, 6, 3, 2) && are(list, 6, (int64_t[]){ 0, 1, 2, 0, 1, 0 }), "names that do not grow");
	ok(nsx_step_tag(NSX_STR("ProfilerStep#17")) == 17 && nsx_step_tag(NSX_STR("3 of")) == 3
	   && nsx_step_tag(NSX_STR("step")) == NSX_ABSENT && nsx_step_tag(NSX_STR("step 3 of 4")) == NSX_ABSENT
	   && nsx_step_tag(NSX_STR("step[DECODE bs=6]")) == NSX_ABSENT, "the number in a name");
}

/* Two clocks, on each a device that begins late. */
static void
clocks(void)
{
	struct nsx_step_of list[] = {
		{ .device = 0, .first = 0 }, { .device = 0, .first = 100 }, { .device = 0, .first = 200 },
		{ .device = 1, .first = 100 }, { .device = 1, .first = 200 }, { .device = 2, .first = 5000 },
		{ .device = 2, .first = 5100 }, { .device = 3, .first = 5101 }
	};
	struct nsx_catalogue cat = { 0 };
	bool good = true;

	for (size_t i = 0; i < 8; i++) {
		list[i].tag = list[i].met[0] = NSX_ABSENT;
		good = good && (i > 3 || nsx_vec_push(&cat.devices, ((struct nsx_cat_device){ .number = (int64_t)i,
			.aligned = true, .component = (int64_t)i / 2 })));
	}
	good = good && nsx_step_numbers(list, 8, &cat, &err) == NSX_OK;
	free(cat.devices.p);
	ok(good && are(list, 8, (int64_t[]){ 0, 1, 2, 1, 2, 0, 1, 1 }), "each clock has its own first step");
}

static void
late(void)
{
	struct nsx_step_of list[] = {
		{ .device = 0, .first = 0 }, { .device = 0, .first = 100 }, { .device = 0, .first = 200 },
		{ .device = 0, .first = 300 }, { .device = 1, .first = 195 }, { .device = 1, .first = 310 },
		{ .device = 2, .first = -90 }, { .device = 2, .first = 3 }, { .device = 3, .first = 900 }
	};
	static const int64_t want[] = { 0, 1, 2, 3, 2, 3, -1, 0, 0 };
	bool good = number(list, sizeof list / sizeof *list, 4);

	/* The first of device 2 begins outside of the reference, so that all are one later. */
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		good = good && list[i].number == want[i] + (i < 8);
	ok(good, "a device that begins late, one that begins early, and one that begins after all others have ended");
}

static void
together(void)
{
	struct nsx_step_of list[10] = { { .class = 0 } };
	bool good = true;

	for (uint32_t i = 0; i < 10; i++) {
		list[i].device = i / 5;
		list[i].first = 7;
	}
	good = number(list, 10, 2);
	for (int i = 0; i < 10; i++)
		good = good && list[i].number == i % 5;
	ok(good, "five steps that start together are the same five on another device");
	for (int i = 0; i < 10; i++) {
		list[i].first = i % 5 < 2 ? 0 : 100;
		list[i].number = -1;
	}
	good = number(list, 10, 2);
	for (int i = 0; i < 10; i++)
		good = good && list[i].number == i % 5;
	ok(good, "the same if two start together and then three");
}

static void
many(void)
{
	struct nsx_step_of *list = calloc(2 * MANY, sizeof *list);
	bool good = list != NULL;

	for (uint32_t i = 0; good && i < MANY; i++) {
		list[i].first = (int64_t)i * 10;
		list[MANY + i].device = i + 1;
		list[MANY + i].first = (int64_t)(MANY - 1 - i) * 10 + 4;
	}
	good = good && number(list, 2 * MANY, MANY + 1);
	for (uint32_t i = 0; good && i < MANY; i++)
		good = list[i].number == i && list[MANY + i].number == MANY - 1 - i;
	free(list);
	ok(good, "%d steps of a device, and one of each of as many others", MANY);
}

int
main(void)
{
	late();
	collectives();
	names();
	clocks();
	together();
	many();
	return done();
}
