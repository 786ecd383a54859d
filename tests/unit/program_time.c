/* program_time.c -- the time of programs, with its own catalogue and with a given one. */
#include "job/program_time.h"

#include <stdlib.h>

#include "tap.h"

static struct nsx_err err;
static union nsx_val values[NSX_MAX_COLS];   /* of the last record written */

static struct nsx_rec
record(enum nsx_kind_id kind)
{
	return (struct nsx_rec){ nsx_kind_builtin(kind), 0, values };
}

static void
program(struct nsx_top *t, int64_t number, const char *name, const char *key)
{
	struct nsx_rec r = record(NSX_PROGRAM);

	nsx_set_i(&r, NSX_PROGRAM_program, number);
	if (name)
		nsx_set_s(&r, NSX_PROGRAM_name, nsx_str_c(name));
	if (key)
		nsx_set_s(&r, NSX_PROGRAM_key, nsx_str_c(key));
	if (nsx_cat_take(nsx_top_cat(t), &r, &err) != NSX_OK)
		abort();
}

static uint32_t
module(struct nsx_top *t, int64_t number, int64_t device, int64_t start, int64_t dur, const char *name)
{
	struct nsx_rec r = record(NSX_MODULE);
	uint32_t at;

	nsx_set_i(&r, NSX_MODULE_program, number);
	nsx_set_i(&r, NSX_MODULE_device, device);
	if (start >= 0)
		nsx_set_i(&r, NSX_MODULE_start, start);
	nsx_set_i(&r, NSX_MODULE_dur, dur);
	nsx_set_s(&r, NSX_MODULE_name, nsx_str_c(name));
	at = nsx_top_module(t, &r);
	if (at == NSX_NONE)
		abort();
	return at;
}

/* An operation of device 0; removed: how long before it those that were removed ended. */
static bool
operation(struct nsx_top *t, struct nsx_gone *gone, int64_t start, int64_t dur, int64_t removed)
{
	struct nsx_rec r = record(NSX_OP);

	nsx_set_i(&r, NSX_OP_device, 0);
	nsx_set_i(&r, NSX_OP_start, start);
	nsx_set_i(&r, NSX_OP_dur, dur);
	if (removed != NSX_ABSENT)
		nsx_set_i(&r, NSX_OP_removed, removed);
	return nsx_gone_take(gone, &r, nsx_cat_device(nsx_top_cat(t), &r));
}

/* Programs 7 (900 ns of modules on two devices), 3 (90 ns), 5 (10 ns), 9 (no module). */
static void
sums(struct nsx_top *t, const char *whose)
{
	struct nsx_catalogue *cat = nsx_top_cat(t);
	struct nsx_diags diags = { 0 };
	struct nsx_gone gone = { 0 };

	program(t, 3, "jit_g", "jit_g@1");
	program(t, 7, NULL, NULL);
	program(t, 9, "jit_idle", NULL);
	uint32_t g = module(t, 3, 0, 1000, 90, "other"), f = module(t, 7, 0, 0, 400, "jit_f"), h = module(t, 5, 1, 700, 10, "jit_h");
	is_int(module(t, 7, 1, 50, 500, "again"), f, "%s: executions of a program are of one index", whose);
	is_int(cat->programs.p[f].number, 7, "%s: which is the catalogue's", whose);
	module(t, 7, 0, -1, 5, "jit_f");
	is_int(t->timeless_modules, 1, "%s: a record without a start is not counted", whose);
	ok(nsx_str_eq(nsx_cat_str(cat, nsx_top_name(t, g)), NSX_STR("jit_g")), "%s: a program has the name of its record", whose);
	ok(nsx_str_eq(nsx_cat_str(cat, nsx_top_name(t, f)), NSX_STR("jit_f")), "%s: without a name there as its first module", whose);
	ok(nsx_str_eq(nsx_cat_str(cat, nsx_top_name(t, h)), NSX_STR("jit_h")), "%s: and without any record too", whose);
	is_int(nsx_top_name(t, nsx_cat_find_program(cat, 9)) == NSX_NONE, false, "%s: one that never ran has its name", whose);
	ok(nsx_top_expose(t, nsx_cat_find_program(cat, 9), 4) && nsx_top_pick(t, (struct nsx_cover){ 95, 100 }, &diags), "%s: programs are picked", whose);
	is_int((int64_t)t->programs.n, (int64_t)cat->programs.n, "%s: all of the catalogue", whose);
	ok(t->programs.p[f].kept && t->programs.p[g].kept && !t->programs.p[h].kept, "%s: 95 %% are 7 and 3", whose);
	is_int((int64_t)nsx_top_modules(t), 990, "%s: their modules take 990 ns", whose);
	/* Device 0: 0 to 1090; device 1: 50 to 550. */
	is_int((int64_t)nsx_top_span(t, &(struct nsx_excerpt){ 0 }, &gone), 1090 + 500, "%s: and span 1590", whose);
	/* What was removed ended at 700, and at 1150 another time: the gaps from 400 and from 1090, which is behind. */
	ok(operation(t, &gone, 0, 400, NSX_ABSENT) && operation(t, &gone, 1000, 90, 300) && operation(t, &gone, 1200, 10, 50),
	   "%s: operations are taken", whose);
	is_int((int64_t)nsx_top_span(t, &(struct nsx_excerpt){ 0 }, &gone), 1090 - 300 + 500, "%s: less 300 that are gone", whose);
	nsx_gone_free(&gone);
	nsx_diags_free(&diags);
}

int
main(void)
{
	struct nsx_catalogue cat = { 0 };
	struct nsx_top own = { 0 }, on = { .given = &cat };

	sums(&own, "own");
	nsx_top_free(&own);
	sums(&on, "given");
	nsx_top_free(&on);
	ok(cat.programs.n == 4 && on.cat.programs.n == 0, "a given catalogue is not freed");
	nsx_cat_free(&cat);
	return done();
}
