/* hlo_reach.c -- op_names that an instruction reaches through calls: depth, cycles, missing computations, ends of components. */
#include "dump.h"

/* An instruction with that opcode and op_name that calls the given computations. */
static void
calls(pb *c, const char *name, const char *opcode, int64_t id, const char *op_name, const char *callees)
{
	pb i = inst(name, opcode, id, "");

	if (*op_name)
		place(&i, op_name, "", 0, 0);
	if (*callees)
		call(&i, callees);
	add(c, &i);
}

static void
claim(const struct nsx_hlo *h, const char *name, const char *part, bool want)
{
	const struct nsx_hlo_inst *i = nsx_hlo_find(h, nsx_str_c(name));

	ok(i && nsx_hlo_reaches(h, i, nsx_str_c(part)) == want, "%s %s '%s'", name, want ? "reaches" : "does not reach", part);
}

static void
depths(void)
{
	pb m = module(1), main_ = computation("main"), fused = computation("fused"), window = computation("window"), circle = computation("circle");
	pb body = computation("body");

	calls(&main_, "fusion.1", "fusion", 10, "jit(f)/scale/mul", "2");
	calls(&main_, "while.2", "while", 11, "", "5 4");
	calls(&main_, "copy.3", "copy", 12, "jit(f)/copy", "");
	calls(&main_, "lost.4", "call", 13, "", "99");
	calls(&fused, "reduce-window.5", "reduce-window", 14, "jit(f)/pool/window", "3");
	calls(&window, "add.6", "add", 15, "jit(f)/cumsum/add", "");
	calls(&circle, "call.7", "call", 16, "jit(f)/around", "4");
	calls(&body, "fusion.8", "fusion", 17, "", "2");
	close_computation(&m, &fused, 2, true);
	close_computation(&m, &window, 3, false);
	close_computation(&m, &circle, 4, false);
	close_computation(&m, &body, 5, false);
	close_computation(&m, &main_, 1, false);
	struct nsx_hlo h = parse(&m);
	claim(&h, "fusion.1", "scale/mul", true);
	claim(&h, "fusion.1", "pool", true);
	claim(&h, "fusion.1", "cumsum", true);         /* two calls deep */
	claim(&h, "while.2", "jit(f)/cumsum", true);   /* three */
	claim(&h, "fusion.8", "cumsum/add", true);
	claim(&h, "while.2", "around", true);
	claim(&h, "while.2", "copy", false);           /* a circle ends */
	claim(&h, "copy.3", "cumsum", false);
	claim(&h, "lost.4", "cumsum", false);
	claim(&h, "fusion.1", "cums", false);          /* whole components alone */
	claim(&h, "fusion.1", "sum/add", false);
	claim(&h, "fusion.1", "f", false);
	claim(&h, "lost.4", "", true);
	nsx_hlo_free(&h);
}

/* An async-done waits for the computation called by its start. */
static void
waits(void)
{
	pb m = module(1), main_ = computation("main"), wrapped = computation("wrapped"), i;

	calls(&main_, "async-start", "async-start", 10, "", "2");
	i = inst("async-done", "async-done", 11, "10");
	add(&main_, &i);
	calls(&wrapped, "slice.3", "slice", 12, "jit(f)/slice", "");
	close_computation(&m, &wrapped, 2, false);
	close_computation(&m, &main_, 1, false);
	struct nsx_hlo h = parse(&m);
	claim(&h, "async-start", "slice", true);
	claim(&h, "async-done", "slice", true);
	nsx_hlo_free(&h);
}

/* A dump that takes long: each of its computations calls all of them. The search ends, and the dump is not rejected. */
static void
costly(void)
{
	enum { N = 1500, ASKED = 20 };
	pb m = module(1), ids = { 0 };

	for (int k = 2; k < N; k++)
		nsx_buf_fmt(&ids, "%s%d", k == 2 ? "" : " ", k);
	nsx_buf_char(&ids, '\0');
	for (int k = 1; k < N; k++) {
		pb c = computation("c");
		char name[32];
		snprintf(name, sizeof name, "call.%d", k);
		calls(&c, name, "call", 10 + k, "jit(f)/x", ids.ptr);
		close_computation(&m, &c, k, false);
	}
	struct nsx_hlo h = parse(&m);
	bool last = false;
	for (int k = 0; k < ASKED; k++)
		last = nsx_hlo_reaches(&h, find(&h, "call.1"), NSX_STR("nowhere"));
	ok(last, "after the maximum of comparisons the op_name counts as found");
	nsx_hlo_free(&h);
	nsx_buf_free(&ids);
}

int
main(void)
{
	depths();
	waits();
	costly();
	reset();
	return done();
}
