/* communication.c -- instances, clocks and bandwidths of collectives, on small hand-written jobs. */
#include "job/comm/communication.h"

#include <math.h>
#include <stdlib.h>

#include "base/members.h"
#include "tap.h"

static struct nsx_err err;
static union nsx_val values[NSX_MAX_COLS];   /* of the last record written */

static struct nsx_rec
record(enum nsx_kind_id kind)
{
	return (struct nsx_rec){ nsx_kind_builtin(kind), 0, values };
}

static void
take(struct nsx_comm *c, const struct nsx_rec *rec)
{
	if (nsx_comm_take(c, rec, &err) != NSX_OK)
		abort();
}

static void
device(struct nsx_comm *c, int64_t number, int64_t profile)
{
	struct nsx_rec r = record(NSX_DEVICE);

	nsx_set_i(&r, NSX_DEVICE_device, number);
	nsx_set_i(&r, NSX_DEVICE_profile, profile);
	take(c, &r);
}

static void
align(struct nsx_comm *c, int64_t number, int64_t component)
{
	struct nsx_rec r = record(NSX_CLOCK);

	nsx_set_i(&r, NSX_CLOCK_device, number);
	nsx_set_i(&r, NSX_CLOCK_component, component);
	take(c, &r);
}

static void
groups(struct nsx_comm *c, int64_t number, const char *members)
{
	struct nsx_rec r = record(NSX_GROUPS);

	nsx_set_i(&r, NSX_GROUPS_groups, number);
	nsx_set_s(&r, NSX_GROUPS_members, nsx_str_c(members));
	take(c, &r);
}

/* groups, bytes: NSX_ABSENT for none. */
static void
inst(struct nsx_comm *c, int64_t number, const char *kind, int64_t of, int64_t bytes)
{
	struct nsx_rec r = record(NSX_INST);

	nsx_set_i(&r, NSX_INST_program, 7);
	nsx_set_i(&r, NSX_INST_inst, number);
	nsx_set_i(&r, NSX_INST_comm, 1);
	nsx_set_s(&r, NSX_INST_opcode, NSX_STR("op"));
	nsx_set_s(&r, NSX_INST_collective, nsx_str_c(kind));
	if (of != NSX_ABSENT)
		nsx_set_i(&r, NSX_INST_groups, of);
	if (bytes != NSX_ABSENT)
		nsx_set_i(&r, NSX_INST_bytes, bytes);
	take(c, &r);
}

static struct nsx_rec
thunk(int64_t number, int64_t dev, int64_t execution, int64_t occurrence)
{
	struct nsx_rec r = record(NSX_THUNK);

	nsx_set_i(&r, NSX_THUNK_program, 7);
	nsx_set_i(&r, NSX_THUNK_inst, number);
	nsx_set_i(&r, NSX_THUNK_device, dev);
	nsx_set_i(&r, NSX_THUNK_execution, execution);
	nsx_set_i(&r, NSX_THUNK_occurrence, occurrence);
	nsx_set_i(&r, NSX_THUNK_start, 100);
	nsx_set_i(&r, NSX_THUNK_dur, 10);
	return r;
}

static struct nsx_comm_record
describe(struct nsx_comm *c, const struct nsx_rec *rec)
{
	struct nsx_comm_record r;

	if (nsx_comm_describe(c, rec, &r, &err) != NSX_OK)
		abort();
	return r;
}

static struct nsx_key
instance(struct nsx_comm *c, int64_t number, int64_t dev, int64_t execution, int64_t occurrence)
{
	struct nsx_rec t = thunk(number, dev, execution, occurrence);
	struct nsx_comm_record r = describe(c, &t);
	struct nsx_key key;

	if (!nsx_comm_instance(c, &t, &r, &key))
		abort();
	return key;
}

static bool
same(struct nsx_key a, struct nsx_key b)
{
	return a.a == b.a && a.b == b.b;
}

static void
instances(void)
{
	static const int64_t times[] = { -1, 0, 1, 2, INT32_MAX - 1, INT32_MAX, (int64_t)UINT32_MAX + 1, INT64_MAX, INT64_MIN + 1 };
	enum { N = sizeof times / sizeof *times };
	struct nsx_comm c = { 0 };
	int alike = 0;

	for (int64_t d = 0; d < 4; d++)
		device(&c, d, d / 2);
	groups(&c, 4, "0,1;2,3");
	groups(&c, 5, "0,1;1,2;3,0");
	groups(&c, 6, "0,1,8,9");
	inst(&c, 1, "all-reduce", 4, 1000);
	inst(&c, 2, "collective-permute", 5, 1000);
	inst(&c, 3, "all-gather", 6, 1000);
	inst(&c, 4, "all-gather", NSX_ABSENT, 1000);
	inst(&c, 5, "host-to-device", NSX_ABSENT, 1000);

	ok(same(instance(&c, 1, 0, 3, 0), instance(&c, 1, 1, 3, 0)), "two devices of one group are in one instance");
	ok(!same(instance(&c, 1, 0, 3, 0), instance(&c, 1, 2, 3, 0)), "records of two groups have two instances");
	ok(same(instance(&c, 2, 0, 3, 0), instance(&c, 2, 2, 3, 0)), "pairs that share devices are one group");
	ok(!same(instance(&c, 1, 0, 3, 0), instance(&c, 4, 0, 3, 0)), "two instructions are two collectives");
	ok(same(instance(&c, 4, 0, 3, 0), instance(&c, 4, 3, 3, 0)), "without groups all devices are in one");
	for (int a = 0; a < N * N; a++)
		for (int b = 0; b < N * N; b++)
			alike += same(instance(&c, 1, 0, times[a / N], times[a % N]), instance(&c, 1, 1, times[b / N], times[b % N]));
	is_int(alike, N * N, "executions and occurrences of any size distinguish instances");

	struct nsx_rec t = thunk(1, 2, 0, 0);
	struct nsx_comm_record r = describe(&c, &t);
	ok(r.participants == 2 && r.group == 2 && !r.incomplete, "a group of two has two participants");
	is_int(nsx_comm_collective_inst(nsx_comm_collective(&r)), r.inst, "a collective knows its instruction");
	/* nccl-tests: bus bandwidth of an all-reduce is 2 (n - 1) / n of bytes / time, of an all-gather (n - 1) / n of all bytes. */
	ok(r.has_bandwidth && fabs(r.algbw - 100) < 1e-9 && fabs(r.busbw - 100) < 1e-9, "of an all-reduce of two both bandwidths are bytes a time");
	t = thunk(2, 2, 0, 0);
	r = describe(&c, &t);
	ok(r.participants == 4 && r.group == 2, "of a permutation all that are connected take part, each pair is a group");
	t = thunk(3, 1, 0, 0);
	r = describe(&c, &t);
	ok(r.participants == 2 && r.group == 4 && r.incomplete, "devices that the stream lacks are no participants");
	ok(fabs(r.algbw - 400) < 1e-9 && fabs(r.busbw - 300) < 1e-9, "an all-gather of four counts all bytes");
	t = thunk(3, 2, 0, 0);
	r = describe(&c, &t);
	ok(!r.has_group && r.participants == 4 && c.no_group == 1, "a device in no group has no group, and is counted");
	t = thunk(5, 3, 0, 0);
	r = describe(&c, &t);
	ok(r.group == 1 && r.participants == 1, "a copy concerns its device alone");
	t = thunk(99, 3, 0, 0);
	r = describe(&c, &t);
	ok(r.kind == NSX_NONE && !r.has_bytes && c.no_inst == 1, "an instruction without a record has no group, and is counted");
	nsx_comm_free(&c);
}

static uint32_t
clock_of(struct nsx_comm *c, int64_t dev, int64_t profile)
{
	struct nsx_rec t = thunk(1, dev, 0, 0);

	nsx_set_i(&t, NSX_THUNK_profile, profile);
	return nsx_comm_clock(c, &t);
}

static void
clocks(void)
{
	struct nsx_comm c = { 0 };

	for (int64_t d = 0; d < 4; d++)
		device(&c, d, d / 2);
	ok(clock_of(&c, 0, 0) == clock_of(&c, 1, 0) && clock_of(&c, 0, 0) != clock_of(&c, 2, 1), "devices of one report are on one clock");
	ok(clock_of(&c, 9, 1) == clock_of(&c, 2, 1), "a device without a clock record has the clock of its profile");
	is_int(c.own_clocks, 2, "two profiles have different clocks");
	align(&c, 0, 5);
	align(&c, 2, 5);
	align(&c, 3, 6);
	ok(clock_of(&c, 0, 0) == clock_of(&c, 2, 1) && clock_of(&c, 2, 1) != clock_of(&c, 3, 1), "aligned devices are on the clock of their component");
	ok(clock_of(&c, 1, 0) != clock_of(&c, 0, 0), "one that is not aligned stays on its report's");
	nsx_comm_free(&c);
}

static void
bad_groups(void)
{
	struct nsx_comm c = { 0 };
	struct nsx_rec r = record(NSX_GROUPS);
	struct nsx_err bad = { { 0 } };

	nsx_set_i(&r, NSX_GROUPS_groups, 3);
	nsx_set_s(&r, NSX_GROUPS_members, NSX_STR("0,x"));
	is_int(nsx_comm_take(&c, &r, &bad), NSX_ERR, "groups that are no devices are refused");
	is_str(bad.msg, "groups 3: want devices such as 0,1;2,3 or 0-7;8-15, at most 4194304 of all sets, got \"0,x\"", "by name");
	nsx_comm_free(&c);
	c.groups.devices.n = NSX_MEMBERS_MAX - 6;
	bad.msg[0] = '\0';
	nsx_set_i(&r, NSX_GROUPS_groups, 4);
	nsx_set_s(&r, NSX_GROUPS_members, NSX_STR("0-9"));
	is_int(nsx_comm_take(&c, &r, &bad), NSX_ERR, "sets that are small each, but too large together");
	is_str(bad.msg, "groups 4: want devices such as 0,1;2,3 or 0-7;8-15, at most 4194304 of all sets, got \"0-9\"", "are refused");
	c.groups.devices.n = 0;
	nsx_comm_free(&c);
}

int
main(void)
{
	instances();
	clocks();
	bad_groups();
	return done();
}
