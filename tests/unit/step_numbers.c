/* step_numbers.c -- steps of devices get the number of the reference's step that starts nearest, also where steps start
 * together, and for a hundred thousand devices in a moment. */
#include "job/steps/numbers.h"

#include <stdlib.h>

#include "tap.h"

enum { MANY = 100000 };

static struct nsx_err err;

/* Numbers n steps of devices, of which device k has number k and the clock of all. */
static bool
number(struct nsx_step_of *list, size_t n, uint32_t devices)
{
	struct nsx_catalogue cat = { 0 };
	bool good = true;

	for (uint32_t i = 0; i < devices && good; i++)
		good = nsx_vec_push(&cat.devices, ((struct nsx_cat_device){ .number = i, .aligned = true }));
	good = good && nsx_step_numbers(list, n, &cat, &err) == NSX_OK;
	free(cat.devices.p);
	return good;
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
	together();
	many();
	return done();
}
