/* catalogue.c -- metadata are found from the columns of records, for any numbering of a stream. */
#include "job/catalogue.h"

#include <stdlib.h>

#include "base/arena.h"
#include "tap.h"

enum { PROGRAMS = 40, INSTS = 50 };

static struct nsx_err err;
static union nsx_val values[NSX_MAX_COLS];   /* of the last record written */

static struct nsx_rec
record(enum nsx_kind_id kind)
{
	return (struct nsx_rec){ nsx_kind_builtin(kind), 0, values };
}

static void
take(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	if (nsx_cat_take(c, rec, &err) != NSX_OK)
		abort();
}

static void
inst(struct nsx_catalogue *c, int64_t program, int64_t number, const char *name, int64_t comm)
{
	struct nsx_rec r = record(NSX_INST);

	nsx_set_i(&r, NSX_INST_program, program);
	nsx_set_i(&r, NSX_INST_inst, number);
	nsx_set_s(&r, NSX_INST_name, nsx_str_c(name));
	nsx_set_s(&r, NSX_INST_opcode, NSX_STR("fusion"));
	nsx_set_i(&r, NSX_INST_comm, comm);
	nsx_set_i(&r, NSX_INST_flops, (int64_t)((uint64_t)number * 2));
	nsx_set_s(&r, NSX_INST_op_name, NSX_STR("jit(f)/add"));
	nsx_set_i(&r, NSX_INST_stack, 5);
	take(c, &r);
}

static struct nsx_rec
thunk(int64_t program, int64_t number)
{
	struct nsx_rec r = record(NSX_THUNK);

	nsx_set_i(&r, NSX_THUNK_program, program);
	nsx_set_i(&r, NSX_THUNK_inst, number);
	return r;
}

/* Any numbering, dense, sparse, negative and mixed, finds the right instruction. */
static void
numbers(void)
{
	static const struct { const char *name; int64_t base, step; } ways[] = {
		{ "dense", 0, 1 }, { "from 1000", 1000, 1 }, { "sparse", 17, 1000003 }, { "negative", -5, -7 }, { "huge", INT64_MAX - 100000, 999 }
	};

	for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
		struct nsx_catalogue c = { .keep = NSX_CAT_NAMES };
		char name[32];
		int good = 0;

		/* Downwards, so that dense numbers do not come in order. */
		for (int64_t p = PROGRAMS; p-- > 0;)
			for (int64_t i = INSTS; i-- > 0;) {
				snprintf(name, sizeof name, "i.%d.%d", (int)p, (int)i);
				inst(&c, ways[w].base + p * ways[w].step, ways[w].base + i * ways[w].step, name, p == i);
			}
		for (int64_t p = 0; p < PROGRAMS; p++)
			for (int64_t i = 0; i < INSTS; i++) {
				struct nsx_rec r = thunk(ways[w].base + p * ways[w].step, ways[w].base + i * ways[w].step);
				uint32_t at = nsx_cat_inst(&c, &r);
				struct nsx_str got = nsx_cat_str(&c, c.insts.p[at].name);

				snprintf(name, sizeof name, "i.%d.%d", (int)p, (int)i);
				good += nsx_str_eq(got, nsx_str_c(name)) && c.insts.p[at].comm == (p == i) && c.insts.p[at].listed;
			}
		is_int(good, PROGRAMS * INSTS, "numbers that are %s: every instruction is found", ways[w].name);
		is_int((int64_t)c.insts.n, PROGRAMS * INSTS, "no instruction is found twice");
		nsx_cat_free(&c);
	}
}

static void
references(void)
{
	struct nsx_catalogue c = { .keep = NSX_CAT_NAMES | NSX_CAT_COSTS | NSX_CAT_PLACES };
	struct nsx_rec none = record(NSX_THUNK), r = thunk(3, 4), stack = record(NSX_STACK), loc = record(NSX_LOC);

	uint32_t early = nsx_cat_inst(&c, &r);
	ok(early != NSX_NONE && !c.insts.p[early].listed, "an instruction without a record has an entry that is not listed");
	inst(&c, 3, 4, "late", 0);
	r = thunk(3, 4);
	is_int(nsx_cat_inst(&c, &r), early, "its record, when it comes, is of that entry");
	ok(c.insts.p[early].listed && c.insts.p[early].stack == NSX_NONE && c.no_stack == 1, "a stack that has not come is counted");
	uint32_t absent = nsx_cat_inst(&c, &none);
	ok(absent != early && nsx_cat_inst(&c, &none) == absent && c.insts.p[absent].number == NSX_ABSENT, "records without references share an entry");
	nsx_set_i(&stack, NSX_STACK_stack, 5);
	nsx_set_s(&stack, NSX_STACK_frames, NSX_STR("a;b"));
	take(&c, &stack);
	inst(&c, 3, 9, "placed", 0);
	nsx_set_i(&loc, NSX_LOC_program, 3);
	nsx_set_i(&loc, NSX_LOC_inst, 9);
	nsx_set_i(&loc, NSX_LOC_stack, 5);
	take(&c, &loc);
	r = thunk(3, 9);
	const struct nsx_cat_inst *i = &c.insts.p[nsx_cat_inst(&c, &r)];
	ok(i->stack != NSX_NONE && nsx_str_eq(nsx_cat_str(&c, c.stacks.p[i->stack]), NSX_STR("a;b")), "frames are found from the instruction");
	ok(i->locs != NSX_NONE && c.locs.p[i->locs].stack == i->stack && c.locs.p[i->locs].next == NSX_NONE, "and its further places");
	is_int(i->flops, 18, "columns are kept");
	is_int(i->vector, NSX_ABSENT, "and absent ones are absent");
	nsx_cat_free(&c);
}

/* Stacks that come after records that refer to them, or without frames. */
static void
late_stacks(void)
{
	struct nsx_catalogue c = { .keep = NSX_CAT_NAMES | NSX_CAT_COSTS | NSX_CAT_PLACES };
	struct nsx_rec stack = record(NSX_STACK);

	nsx_set_i(&stack, NSX_STACK_stack, 5);
	ok(!nsx_cat_is_late_stack(&c, &stack), "a stack that nobody referred to is not late");
	take(&c, &stack);
	inst(&c, 1, 1, "placed", 0);   /* on stack 5 */
	ok(c.insts.p[0].stack == NSX_NONE && c.no_stack == 1, "a stack without frames is not a place");
	stack = record(NSX_STACK);
	nsx_set_i(&stack, NSX_STACK_stack, 5);
	nsx_set_s(&stack, NSX_STACK_frames, NSX_STR("a;b"));
	ok(nsx_cat_is_late_stack(&c, &stack), "frames that come after records that refer to them are late");
	nsx_set_i(&stack, NSX_STACK_stack, 6);
	ok(!nsx_cat_is_late_stack(&c, &stack), "another stack is not");
	nsx_cat_free(&c);
}

/* Each part of a place is kept only if it is requested. */
static void
keep(void)
{
	static const unsigned ways[] = { 0, NSX_CAT_OP_NAMES, NSX_CAT_STACKS, NSX_CAT_LOCS, NSX_CAT_OP_NAMES | NSX_CAT_LOCS, NSX_CAT_PLACES,
	                                NSX_CAT_NAMES, NSX_CAT_COSTS, NSX_CAT_NAMES | NSX_CAT_COSTS };

	for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
		struct nsx_catalogue c = { .keep = ways[w] };
		bool names = ways[w] & NSX_CAT_OP_NAMES, stacks = ways[w] & NSX_CAT_STACKS, locs = ways[w] & NSX_CAT_LOCS;
		struct nsx_rec stack = record(NSX_STACK), loc;

		nsx_set_i(&stack, NSX_STACK_stack, 5);
		nsx_set_s(&stack, NSX_STACK_frames, NSX_STR("a;b"));
		take(&c, &stack);
		inst(&c, 1, 1, "placed", 0);
		struct nsx_rec costly = record(NSX_INST);
		nsx_set_i(&costly, NSX_INST_program, 1);
		nsx_set_i(&costly, NSX_INST_inst, 2);
		nsx_set_i(&costly, NSX_INST_comm, 1);
		nsx_set_s(&costly, NSX_INST_name, NSX_STR("all-reduce.1"));
		nsx_set_s(&costly, NSX_INST_opcode, NSX_STR("all-reduce"));
		nsx_set_s(&costly, NSX_INST_scheduling_name, NSX_STR("all-reduce"));
		nsx_set_s(&costly, NSX_INST_math, NSX_STR("bf16"));
		nsx_set_i(&costly, NSX_INST_flops, 8);
		nsx_set_i(&costly, NSX_INST_vector, 9);
		nsx_set_i(&costly, NSX_INST_mem_bytes, 10);
		take(&c, &costly);
		const struct nsx_cat_inst *x = &c.insts.p[1];
		bool named = ways[w] & NSX_CAT_NAMES, costs = ways[w] & NSX_CAT_COSTS;
		ok((x->name != NSX_NONE) == named && (x->scheduling_name != NSX_NONE) == named, "keep %u: names", ways[w]);
		ok((x->math != NSX_NONE) == costs && (x->flops == 8) == costs && (x->vector == 9) == costs
		   && (x->mem_bytes == 10) == costs && (x->flops == NSX_ABSENT) == !costs, "keep %u: costs", ways[w]);
		ok(x->comm && x->settles && x->opcode != NSX_NONE && x->number == 2, "columns that are always kept");
		loc = record(NSX_LOC);
		nsx_set_i(&loc, NSX_LOC_program, 1);
		nsx_set_i(&loc, NSX_LOC_inst, 1);
		nsx_set_i(&loc, NSX_LOC_stack, 5);
		nsx_set_s(&loc, NSX_LOC_op_name, NSX_STR("jit(f)/mul"));
		take(&c, &loc);
		const struct nsx_cat_inst *i = &c.insts.p[0];
		const struct nsx_cat_loc *l = i->locs == NSX_NONE ? NULL : &c.locs.p[i->locs];
		ok((i->op_name != NSX_NONE) == names && (i->stack != NSX_NONE) == stacks && (l != NULL) == locs,
		   "keep %u: an instruction has the requested parts", ways[w]);
		ok(!l || ((l->op_name != NSX_NONE) == names && (l->stack != NSX_NONE) == stacks), "and so have its further places");
		is_int(c.no_stack, 0, "no stack is missing");
		nsx_cat_free(&c);
	}
}

static void
devices(void)
{
	struct nsx_catalogue c = { 0 };
	struct nsx_rec d = record(NSX_DEVICE), k = record(NSX_CLOCK);

	for (int64_t i = 0; i < 4; i++) {
		nsx_set_i(&d, NSX_DEVICE_device, i);
		nsx_set_i(&d, NSX_DEVICE_profile, i / 2);
		take(&c, &d);
	}
	take(&c, &d);
	nsx_set_i(&k, NSX_CLOCK_device, 2);
	nsx_set_i(&k, NSX_CLOCK_component, 6);
	nsx_set_f(&k, NSX_CLOCK_offset, 1.5);
	take(&c, &k);
	is_int((int64_t)c.devices.n, 4, "a second record of a device does not add one");
	is_int(c.profiles.p[1].ndevices, 2, "and its profile counts it once");
	uint32_t at = nsx_cat_find_device(&c, 2);
	ok(c.devices.p[at].aligned && c.devices.p[at].component == 6 && c.devices.p[at].offset == 1.5, "its clock is known");
	is_int(nsx_cat_find_device(&c, 9), NSX_NONE, "one that nobody named is not there");
	nsx_cat_free(&c);
}

static void
programs(void)
{
	struct nsx_catalogue c = { .keep = NSX_CAT_ALIASES };
	struct nsx_rec p = record(NSX_PROGRAM), a = record(NSX_ALIAS);

	nsx_set_i(&p, NSX_PROGRAM_program, 1);
	nsx_set_s(&p, NSX_PROGRAM_name, NSX_STR("jit_f"));
	take(&c, &p);
	ok(nsx_str_eq(nsx_cat_program_label(&c, 0), NSX_STR("jit_f")), "a program without a key is called by its name");
	nsx_set_s(&p, NSX_PROGRAM_key, NSX_STR("jit_f@1"));
	take(&c, &p);
	ok(nsx_str_eq(nsx_cat_program_label(&c, 0), NSX_STR("jit_f@1")), "with one by that");
	nsx_set_i(&a, NSX_ALIAS_profile, 0);
	nsx_set_i(&a, NSX_ALIAS_program, 1);
	nsx_set_s(&a, NSX_ALIAS_fingerprint, NSX_STR("f0"));
	take(&c, &a);
	const struct nsx_cat_alias *got = nsx_cat_alias(&c, 0, 0);
	ok(got && nsx_str_eq(nsx_cat_str(&c, got->fingerprint), NSX_STR("f0")), "its alias is found");
	ok(!nsx_cat_alias(&c, 0, 1), "another's is not");
	a = record(NSX_ALIAS);
	nsx_set_i(&a, NSX_ALIAS_profile, 0);
	nsx_set_i(&a, NSX_ALIAS_program, 1);
	nsx_set_s(&a, NSX_ALIAS_digest, NSX_STR("d:1"));
	take(&c, &a);
	got = nsx_cat_alias(&c, 0, 0);
	ok(got->fingerprint == NSX_NONE && nsx_str_eq(nsx_cat_str(&c, got->digest), NSX_STR("d:1")), "of two aliases the later is found");
	ok(got->before == 0 && c.aliases.p[0].before == NSX_NONE, "and from there the one before");
	uint32_t fingerprint = nsx_cat_fingerprint(&c, 0, 0);
	ok(fingerprint != NSX_NONE && nsx_str_eq(nsx_cat_str(&c, fingerprint), NSX_STR("f0")), "the fingerprint is that of the last alias with one");
	is_int(nsx_cat_fingerprint(&c, 0, 1), NSX_NONE, "and of no other program");
	is_int(nsx_cat_find_profile(&c, 0), 0, "a profile is found by its number");
	is_int(nsx_cat_find_profile(&c, 1), NSX_NONE, "one that nobody named is not");
	nsx_cat_free(&c);
}

static void
runners(void)
{
	struct nsx_catalogue c = { .keep = NSX_CAT_RUNNERS };
	struct nsx_rec d = record(NSX_DEVICE), a = record(NSX_ALIAS), t;
	uint32_t two, all, none;

	/* Devices 0 .. 2 of report 0, 3 and 4 of report 1, 5 of report 2. */
	for (int64_t i = 0; i < 6; i++) {
		nsx_set_i(&d, NSX_DEVICE_device, i);
		nsx_set_i(&d, NSX_DEVICE_profile, i < 3 ? 0 : i < 5 ? 1 : 2);
		take(&c, &d);
		take(&c, &d);
	}
	is_int(c.ndevices, 6, "devices that are listed are counted, each once");
	a = record(NSX_ALIAS);
	for (int i = 0; i < 3; i++) {
		nsx_set_i(&a, NSX_ALIAS_profile, i == 1);
		nsx_set_i(&a, NSX_ALIAS_program, 8);
		take(&c, &a);
	}
	nsx_set_i(&a, NSX_ALIAS_profile, 9);
	nsx_set_i(&a, NSX_ALIAS_program, 9);
	take(&c, &a);
	two = nsx_cat_find_program(&c, 8);
	none = nsx_cat_find_program(&c, 9);
	t = thunk(10, 0);
	all = nsx_cat_program(&c, &t);
	is_int(nsx_cat_runners(&c, two), 5, "a program may run on the devices of the reports that know it");
	is_int(nsx_cat_runners(&c, none), 0, "a profile without devices: none");
	is_int(nsx_cat_runners(&c, all), 6, "without a name in any profile: all");
	ok(!nsx_cat_alias(&c, 0, two) && c.aliases.n == 0, "the names themselves are not kept");
	is_int(nsx_cat_find_profile(&c, 1), 1, "a report is found by its number");
	is_int(nsx_cat_find_profile(&c, 5), NSX_NONE, "one that nobody named is not there");
	nsx_cat_free(&c);
}

static void
communicating(void)
{
	struct nsx_catalogue c = { 0 };

	for (int64_t i = 0; i < 6; i++)
		inst(&c, 0, i, "i", i % 2);
	inst(&c, 0, 3, "again", 1);
	ok(c.insts.p[1].nth_comm == 0 && c.insts.p[3].nth_comm == 1 && c.insts.p[5].nth_comm == 2 && c.insts.p[2].nth_comm == NSX_NONE && c.ncomm == 3,
	   "instructions that communicate are numbered among themselves");
	nsx_cat_free(&c);
}

int
main(void)
{
	numbers();
	references();
	late_stacks();
	keep();
	devices();
	programs();
	runners();
	communicating();
	return done();
}
