/* costs_kinds.c -- the work of every kind of instruction: alone, in fusions, in called computations; instructions without work. */
#include "work.h"

/* ---- one instruction, not fused */

/* Instruction `x` of arrays f32[8,4], s32[3], f32[2,4], f32[], which are 1 to 4; 5 is a tuple of the first and the third. */
static const char *
alone(const char *opcode, const char *operands, int type, const char *dims, const char *calls, pb *more)
{
	pb m = module(1), c = computation("main"), x = shaped("x", opcode, 10, operands, type, dims, 0), t = { 0 };

	parameter(&c, 1, 0, F32, "8 4");
	parameter(&c, 2, 1, S32, "3");
	parameter(&c, 3, 2, F32, "2 4");
	parameter(&c, 4, 3, F32, "");
	pb tuple = inst("both", "tuple", 5, "1 3"), a = shape(F32, "8 4", 0, 0), b = shape(F32, "2 4", 0, 0);
	pb_int(&t, 2, TUPLE);
	pb_msg(&t, 4, &a);
	pb_msg(&t, 4, &b);
	pb_msg(&tuple, 3, &t);
	add(&c, &tuple);
	if (*calls)
		call(&x, calls);
	if (more)
		nsx_buf_add(&x, more->ptr, more->len);
	if (more)
		nsx_buf_free(more);
	add(&c, &x);
	close_with_root(&m, &c, 1, 10, false);
	scalar_computation(&m, 9, 1);
	scalar_computation(&m, 8, 3);
	return cost_of(&m, "x");
}

static pb
window(const char *sizes)
{
	pb w = { 0 }, out = { 0 };
	char *end;

	for (const char *s = sizes;; s = end) {
		long v = strtol(s, &end, 10);
		if (end == s)
			break;
		pb d = { 0 };
		pb_int(&d, 1, v);
		pb_int(&d, 2, 1);
		pb_msg(&w, 1, &d);
	}
	pb_msg(&out, 15, &w);
	return out;
}

static const struct { const char *opcode, *operands; int type; const char *dims, *calls, *want; } kinds[] = {
	{ "add", "1 1", F32, "8 4", "", "0 - 32 384" },
	{ "atan2", "1 1", F32, "8 4", "", "0 - 32 384" },
	{ "log-plus-one", "1", F32, "8 4", "", "0 - 32 256" },
	{ "convert", "1", BF16, "8 4", "", "0 - 32 192" },
	{ "select", "4 1 1", F32, "8 4", "", "0 - 32 388" },
	{ "compare", "1 1", PRED, "8 4", "", "0 - 32 288" },
	{ "bitcast-convert", "1", S32, "8 4", "", "0 - 32 256" },
	{ "copy", "1", F32, "8 4", "", "0 - 0 256" },
	{ "transpose", "1", F32, "4 8", "", "0 - 0 256" },
	{ "reshape", "1", F32, "32", "", "0 - 0 256" },
	{ "reverse", "1", F32, "8 4", "", "0 - 0 256" },
	{ "bitcast", "1", F32, "32", "", "0 - 0 0" },
	{ "get-tuple-element", "5", F32, "8 4", "", "0 - 0 0" },
	{ "constant", "", F32, "8 4", "", "0 - 0 0" },
	{ "after-all", "", TOKEN, "", "", "0 - 0 0" },
	{ "add-dependency", "1 4", F32, "8 4", "", "0 - 0 0" },
	{ "iota", "", F32, "8 4", "", "0 - 0 128" },
	{ "partition-id", "", 8, "", "", "0 - 0 4" },
	{ "rng", "4 4", F32, "8 4", "", "0 - 32 136" },
	{ "broadcast", "4", F32, "8 4", "", "0 - 0 132" },
	{ "concatenate", "1 3", F32, "10 4", "", "0 - 0 320" },
	{ "pad", "3 4", F32, "8 4", "", "0 - 0 164" },
	{ "slice", "1", F32, "2 4", "", "0 - 0 64" },
	{ "dynamic-slice", "1 4 4", F32, "2 4", "", "0 - 0 68" },
	{ "dynamic-update-slice", "1 3 4 4", F32, "8 4", "", "0 - 0 68" },
	{ "gather", "1 2", F32, "3 4", "", "0 - 0 108" },
	{ "scatter", "1 2 3", F32, "8 4", "9", "0 - 8 108" },
	{ "scatter", "1 2 3", F32, "8 4", "8", "0 - 24 108" },
	{ "reduce", "1 4", F32, "8", "9", "0 - 24 164" },
	{ "reduce", "1 4", F32, "8", "8", "0 - 72 164" },
	{ "map", "1 1", F32, "8 4", "8", "0 - 96 384" },
	{ "copy-start", "1", F32, "8 4", "", "0 - 0 256" },
	{ "tuple", "1 3", F32, "8 4", "", "0 - 0 0" },
	/* Instructions that are not modelled. */
	{ "sort", "1", F32, "8 4", "9", "none" },
	{ "fft", "1", F32, "8 4", "", "none" },
	{ "cholesky", "1", F32, "4 4", "", "none" },
	{ "triangular-solve", "1 1", F32, "8 4", "", "none" },
	{ "topk", "1", F32, "2", "9", "none" },
	{ "rng-get-and-update-state", "", 9, "2", "", "none" },
	{ "infeed", "", F32, "8 4", "", "none" },
	{ "outfeed", "1", F32, "8 4", "", "none" },
	{ "all-reduce", "1", F32, "8 4", "9", "none" },
	{ "all-reduce-done", "1", F32, "8 4", "", "none" },
	{ "copy-done", "1", F32, "8 4", "", "none" },
	{ "while", "1", F32, "8 4", "9 8", "none" },
	{ "conditional", "4 1 1", F32, "8 4", "9 8", "none" },
	{ "call", "4 4", F32, "", "9", "none" },
	{ "custom-call", "1 3", F32, "8 4", "", "none" },
	{ "of-tomorrow", "1", F32, "8 4", "", "none" },
};

static void
test_alone(void)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		is_str(alone(kinds[i].opcode, kinds[i].operands, kinds[i].type, kinds[i].dims, kinds[i].calls, NULL), kinds[i].want, "%s %s", kinds[i].opcode, kinds[i].calls);
		is_int(diag("work is not known"), 0, "... without a diag");
	}
	pb w = window("2 3");
	is_str(alone("reduce-window", "1 4", F32, "7 2", "9", &w), "0 - 70 188", "windows of 6: 5 additions each");
	w = window("2 3");
	is_str(alone("reduce-window", "1 4", F32, "7 2", "8", &w), "0 - 210 188", "... three each");
	w = window("2 2");
	is_str(alone("select-and-scatter", "1 3 4", F32, "8 4", "8 9", &w), "0 - 80 292", "8 sources, 3 selections of 3 and an addition each");
	w = window("2 0");
	is_str(alone("reduce-window", "1 4", F32, "7 2", "9", &w), "none", "a window of size 0");
	w = window("4000000000 4000000000 4");
	is_str(alone("reduce-window", "1 4", F32, "7 2", "9", &w), "none", "a window too large");
	is_int(diag("exceeds 64 bits"), 1, "... is counted");
	static const char *const short_of[][2] = { { "add", "" }, { "slice", "" }, { "gather", "1" }, { "scatter", "1 2" }, { "scatter", "1 1 2 3" },
		{ "dynamic-update-slice", "1" }, { "reduce", "1" }, { "pad", "3" }, { "copy-start", "" }, { "dot", "1" } };
	for (size_t i = 0; i < sizeof short_of / sizeof *short_of; i++) {
		is_str(alone(short_of[i][0], short_of[i][1], F32, "8", "9", NULL), "none", "%s of too few operands", short_of[i][0]);
		is_int(diag("contradicts itself"), 1, "... is counted");
	}
	is_str(alone("reduce", "1 4", F32, "8", "", NULL), "none", "a reduction without a computation");
	is_str(alone("reduce", "1 4", F32, "8", "77", NULL), "none", "a reduction by a missing computation");
	is_str(alone("fusion", "1", F32, "8", "", NULL), "none", "a fusion without computation");
	is_str(alone("fusion", "1", F32, "8", "77", NULL), "none", "a fusion of one that is not there");
	is_int(diag("contradicts itself"), 1, "... is counted");
}

/* ---- widths, tuples, places */

static const char *
negated(pb *s)
{
	pb m = module(1), c = computation("main"), p = inst("p", "parameter", 1, ""), x = inst("x", "copy", 2, "1"), again = { 0 };

	nsx_buf_add(&again, s->ptr, s->len);
	pb_msg(&p, 3, s);
	pb_msg(&x, 3, &again);
	add(&c, &p);
	add(&c, &x);
	close_with_root(&m, &c, 1, 2, false);
	return cost_of(&m, "x");
}

static void
test_shapes(void)
{
	pb s = shape(S4, "3 3", 0, 0), t = { 0 }, part = { 0 };

	is_str(negated(&s), "0 - 0 10", "nine of four bits: 5 bytes");
	s = shape(S4, "3 3", 0, 8);
	is_str(negated(&s), "0 - 0 18", "... of which each has a byte");
	s = shape(PRED, "9", 0, 1);
	is_str(negated(&s), "0 - 0 4", "truth in bits");
	s = shape(C128, "2", 0, 0);
	is_str(negated(&s), "0 - 0 64", "complex numbers");
	s = shape(F32, "4 0 9223372036854775807", 0, 0);
	is_str(negated(&s), "0 - 0 0", "no work for any size");
	s = shape(F32, "9223372036854775807", 0, 0);
	is_str(negated(&s), "none", "more bytes than 64 bits count");
	is_int(diag("exceeds 64 bits"), 2, "... is counted, of the parameter too");
	s = shape(F32, "4", 5, 0);
	is_str(negated(&s), "none", "in the host's memory");
	is_int(diag("work is not known"), 0, "... without a diag");
	s = shape(99, "4", 0, 0);
	is_str(negated(&s), "none", "a type nobody knows");
	for (int host = 0; host < 2; host++) {
		pb_int(&t, 2, TUPLE);
		for (int i = 0; i < 3; i++) {
			part = i == 1 ? shape(TOKEN, "", 0, 0) : shape(i ? BF16 : F32, "2 3", host && i == 2 ? 5 : 0, 0);
			pb_msg(&t, 4, &part);
		}
		is_str(negated(&t), host ? "none" : "0 - 0 72", "%s", host ? "a tuple with something in the host's memory" : "a tuple is its parts");
	}
	pb_int(&t, 2, BUFFER);
	part = shape(F32, "2 3", 0, 0);
	pb_msg(&t, 4, &part);
	is_str(negated(&t), "0 - 0 48", "a buffer has the size of its array");
}

/* ---- fusions */

/* The fusion `f` of a computation 7 that takes f32[8,4] and s32[2], and gives f32[8,4]. */
static struct nsx_hlo
around(pb *body, int64_t root, const char *operands, pb *more)
{
	pb m = module(1), c = computation("main"), f = shaped("f", "fusion", 10, operands, F32, "8 4", 0);

	close_with_root(&m, body, 7, root, true);
	if (more) {
		nsx_buf_add(&m, more->ptr, more->len);
		nsx_buf_free(more);
	}
	parameter(&c, 1, 0, F32, "8 4");
	parameter(&c, 2, 1, S32, "2");
	call(&f, "7");
	add(&c, &f);
	close_with_root(&m, &c, 1, 10, false);
	scalar_computation(&m, 9, 1);
	return quietly(&m);
}

static const char *
fusion(pb *body, int64_t root, pb *more)
{
	struct nsx_hlo h = around(body, root, "1 2", more);
	const char *s = cost_text(&find(&h, "f")->cost);

	nsx_hlo_free(&h);
	return s;
}

static pb
two_parameters(void)
{
	pb c = computation("fused");

	parameter(&c, 1, 0, F32, "8 4");
	parameter(&c, 2, 1, S32, "2");
	return c;
}

static void
test_in_place(void)
{
	pb c = two_parameters();

	op(&c, "iota", 3, "", F32, "1 4");
	op(&c, "constant", 4, "", S32, "");
	op(&c, "dynamic-update-slice", 5, "1 3 4 4", F32, "8 4");
	is_str(fusion(&c, 5, NULL), "0 - 0 16", "an update of a parameter in place: one row");
	c = two_parameters();
	op(&c, "bitcast", 6, "1", F32, "32");
	op(&c, "iota", 3, "", F32, "4");
	op(&c, "constant", 4, "", S32, "");
	op(&c, "dynamic-update-slice", 5, "6 3 4", F32, "32");
	op(&c, "bitcast", 7, "5", F32, "8 4");
	is_str(fusion(&c, 7, NULL), "0 - 0 16", "... through bitcasts on both sides");
	c = two_parameters();
	op(&c, "negate", 6, "1", F32, "8 4");
	op(&c, "iota", 3, "", F32, "1 4");
	op(&c, "constant", 4, "", S32, "");
	op(&c, "dynamic-update-slice", 5, "6 3 4 4", F32, "8 4");
	is_str(fusion(&c, 5, NULL), "0 - 32 256", "an update of a value computed in the fusion is not in place");
	c = two_parameters();
	op(&c, "iota", 3, "", F32, "2 4");
	pb x = shaped("s", "scatter", 5, "1 2 3", F32, "8 4", 0);
	call(&x, "9");
	add(&c, &x);
	is_str(fusion(&c, 5, NULL), "0 - 8 72", "a scatter in place: read and written, and the indices");
	c = two_parameters();
	op(&c, "slice", 3, "1", F32, "1 4");
	op(&c, "negate", 6, "3", F32, "1 4");
	op(&c, "constant", 4, "", S32, "");
	op(&c, "dynamic-update-slice", 5, "1 6 4 4", F32, "8 4");
	is_str(fusion(&c, 5, NULL), "0 - 4 32", "a row of the parameter itself");
	c = two_parameters();
	op(&c, "gather", 3, "1 2", F32, "2 4");
	op(&c, "constant", 4, "", F32, "32");
	op(&c, "constant", 6, "", F32, "1");
	op(&c, "concatenate", 5, "3 4 6", F32, "41");
	is_str(fusion(&c, 5, NULL), "0 - 0 332", "a gather reads the elements taken and its indices; a constant of many elements is read, one of one element is not");
}

static void
test_unequal(void)
{
	pb c = two_parameters();

	op(&c, "bitcast", 3, "1", BF16, "64");
	op(&c, "slice", 4, "3", BF16, "2");
	is_str(fusion(&c, 4, NULL), "0 - 0 132", "a bitcast to more elements: its operand is needed completely");
	c = two_parameters();
	op(&c, "convert", 3, "1", BF16, "8 4");
	for (int i = 0; i < 2; i++) {
		pb d = shaped("d", "dot", 5 + i, i ? "3 3" : "1 1", F32, "8 8", 0), n = { 0 };
		pb_packed(&n, 1, "1");
		pb_msg(&d, 30, &n);
		add(&c, &d);
	}
	op(&c, "add", 8, "5 6", F32, "8 8");
	is_str(fusion(&c, 8, NULL), "1024 tf32 96 384", "as much in two arithmetics: the slower");
}

static void
test_calls(void)
{
	pb c = two_parameters(), more = { 0 }, d = { 0 }, n = { 0 };

	/* A dot and a dot in a nested fusion: the sum; the arithmetic of the larger. */
	d = shaped("inner", "dot", 3, "1 1", BF16, "8 8", 0);
	pb inner = computation("nested");
	parameter(&inner, 1, 0, BF16, "8 4");
	pb_packed(&n, 1, "1");
	pb_msg(&d, 30, &n);
	add(&inner, &d);
	pb_int(&inner, 5, 20);
	pb_int(&inner, 6, 3);
	pb_msg(&more, 3, &inner);
	op(&c, "convert", 3, "1", BF16, "8 4");
	pb f = shaped("nested.1", "fusion", 4, "3", BF16, "8 8", 0);
	call(&f, "20");
	add(&c, &f);
	d = shaped("outer", "dot", 5, "1 1", F32, "8 8", 0);
	pb_packed(&n, 1, "1");
	pb_msg(&d, 30, &n);
	add(&c, &d);
	f = shaped("twice", "call", 6, "3", BF16, "8 8", 0);
	call(&f, "20");
	add(&c, &f);
	op(&c, "convert", 7, "6", F32, "8 8");
	op(&c, "add", 8, "7 5", F32, "8 8");
	is_str(fusion(&c, 8, &more), "1536 bf16 160 384", "dots in a fusion, in a fusion in it, and called");
	/* In a circle. */
	c = two_parameters();
	f = shaped("again", "fusion", 3, "1 2", F32, "8 4", 0);
	call(&f, "7");
	add(&c, &f);
	is_str(fusion(&c, 3, NULL), "none", "a fusion in itself");
	is_int(diag("contradicts itself"), 1, "... is counted");
	/* A hundred computations, each of which calls the next twice. */
	for (int deep = 0; deep < 2; deep++) {
		more = (pb){ 0 };
		for (int i = 0; i < (deep ? 100 : 10); i++) {
			pb k = computation("k");
			parameter(&k, 1, 0, F32, "8 4");
			op(&k, "negate", 2, "1", F32, "8 4");
			for (int twice = 0; twice < 2; twice++) {
				f = shaped("k", "call", 3 + twice, "1", F32, "8 4", 0);
				char next[16];
				snprintf(next, sizeof next, "%d", 21 + i);
				if (i + 1 < (deep ? 100 : 10))
					call(&f, next);
				if (i + 1 < (deep ? 100 : 10))
					add(&k, &f);
				else
					nsx_buf_free(&f);
			}
			pb_int(&k, 5, 20 + i);
			pb_int(&k, 6, 2);
			pb_msg(&more, 3, &k);
		}
		c = two_parameters();
		f = shaped("first", "call", 3, "1", F32, "8 4", 0);
		call(&f, "20");
		add(&c, &f);
		is_str(fusion(&c, 3, &more), deep ? "none" : "0 - 32736 256", "%s", deep ? "2^100 calls do not fit" : "1,023 calls");
	}
	is_int(diag("exceeds 64 bits"), 1, "... which is counted");
}

static void
test_unknown_inside(void)
{
	static const char *const none[] = { "sort", "fft", "custom-call", "all-reduce", "async-start", "copy-start", "while", "of-tomorrow" };
	struct nsx_hlo h;

	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		pb c = two_parameters();
		op(&c, none[i], 3, "1", F32, "8 4");
		op(&c, "negate", 4, "1", F32, "8 4");
		h = around(&c, 4, "1 2", NULL);
		ok(!find(&h, "f")->cost.modelled, "a fusion that holds %s has no cost", none[i]);
		nsx_hlo_free(&h);
	}
	pb c = two_parameters(), x = shaped("reduced", "reduce", 3, "1 4", F32, "8", 0);
	op(&c, "constant", 4, "", F32, "");
	call(&x, "9");
	add(&c, &x);
	h = around(&c, 3, "1 2", NULL);
	ok(find(&h, "reduced")->unique_id == 3 && !find(&h, "reduced")->cost.modelled, "a name within a fusion has no cost");
	is_str(cost_text(&find(&h, "f")->cost), "0 - 24 160", "... the fusion has it");
	nsx_hlo_free(&h);
}

static const char *
parameters(int64_t first, int64_t second, const char *operands)
{
	pb c = computation("fused");

	parameter(&c, 1, first, F32, "8 4");
	parameter(&c, 2, second, S32, "2");
	op(&c, "negate", 3, "1", F32, "8 4");
	struct nsx_hlo h = around(&c, 3, operands, NULL);
	const char *s = cost_text(&find(&h, "f")->cost);
	nsx_hlo_free(&h);
	return s;
}

static void
test_contradictions(void)
{
	pb c;

	is_str(parameters(0, 1, "1 2"), "0 - 32 256", "a sound fusion");
	is_str(parameters(1, 0, "2 1"), "0 - 32 256", "parameters in any order");
	is_str(parameters(0, 0, "1 2"), "none", "a parameter twice");
	is_str(parameters(0, 2, "1 2"), "none", "a parameter missing");
	is_str(parameters(-1, 0, "1 2"), "none", "one below 0");
	is_str(parameters(0, INT64_MAX, "1 2"), "none", "one beyond all");
	is_str(parameters(0, 1, "1"), "none", "fewer operands than parameters");
	is_int(diag("contradicts itself"), 1, "... is counted");
	c = two_parameters();
	op(&c, "negate", 3, "4", F32, "8 4");
	op(&c, "negate", 4, "3", F32, "8 4");
	is_str(fusion(&c, 4, NULL), "none", "two that read each other");
	c = two_parameters();
	op(&c, "add", 4, "1 3", F32, "8 4");
	op(&c, "negate", 3, "1", F32, "8 4");
	is_str(fusion(&c, 4, NULL), "0 - 64 256", "an instruction before its operand");
	c = two_parameters();
	op(&c, "negate", 3, "99", F32, "8 4");
	is_str(fusion(&c, 3, NULL), "none", "an operand that does not exist");
	c = two_parameters();
	op(&c, "negate", 3, "1", F32, "8 4");
	is_str(fusion(&c, 77, NULL), "none", "a result that does not exist");
	c = two_parameters();
	op(&c, "negate", 3, "1", F32, "8 4");
	op(&c, "exponential", 3, "1", F32, "8 4");
	is_str(fusion(&c, 3, NULL), "none", "an id twice");
	c = two_parameters();
	op(&c, "negate", 3, "1", F32, "8 -4");
	is_str(fusion(&c, 3, NULL), "none", "a size below zero");
	c = two_parameters();
	pb x = inst("x", "negate", 3, "1");
	add(&c, &x);
	is_str(fusion(&c, 3, NULL), "none", "no shape");
	c = two_parameters();
	op(&c, "negate", 3, "1", F32, "3037000500 3037000500");
	is_str(fusion(&c, 3, NULL), "none", "a result too large");
	is_int(diag("exceeds 64 bits"), 1, "... is counted");
}

/* ---- a start has the cost of the instruction that it starts, which has it too; copies to the host are communication */

static void
test_async(void)
{
	pb m = module(1), c = computation("main"), a = computation("async"), x;

	parameter(&a, 1, 0, F32, "8 4");
	x = shaped("wrapped", "slice", 2, "1", F32, "2 4", 0);
	add(&a, &x);
	close_with_root(&m, &a, 5, 2, false);
	parameter(&c, 1, 0, F32, "8 4");
	x = shaped("start", "async-start", 3, "1", F32, "2 4", 0);
	call(&x, "5");
	add(&c, &x);
	x = shaped("waits", "async-done", 4, "3", F32, "2 4", 0);
	add(&c, &x);
	x = shaped("to-host", "copy-start", 6, "1", F32, "8 4", 5);
	add(&c, &x);
	close_with_root(&m, &c, 1, 4, false);
	struct nsx_hlo h = quietly(&m);
	is_str(cost_text(&find(&h, "wrapped")->cost), "0 - 0 64", "the instruction that is started has its cost");
	is_str(cost_text(&find(&h, "start")->cost), "0 - 0 64", "the start has the same");
	is_str(cost_text(&find(&h, "waits")->cost), "none", "waiting has no cost");
	ok(!find(&h, "to-host")->comm && !find(&h, "to-host")->cost.modelled, "a copy to the host has no cost, and is no communication");
	nsx_hlo_free(&h);
}

/* ---- a step an instruction, not a step a pair */

static void
test_large(void)
{
	enum { N = 100000 };
	pb c = two_parameters(), m = module(1), main_ = computation("main"), f = inst("f", "fusion", 10, "1 2"), result = { 0 };
	char operands[32];

	/* A chain of bitcasts, all of whose links are results, and as many readers of one parameter. */
	pb t = inst("t", "tuple", 9000000, ""), ids = { 0 };
	pb_int(&result, 2, TUPLE);
	for (int i = 0; i < N; i++) {
		snprintf(operands, sizeof operands, "%d", i ? 10 + i - 1 : 1);
		op(&c, "bitcast", 10 + i, operands, F32, "8 4");
		op(&c, "negate", 1000000 + i, "1", F32, "8 4");
		pb_raw(&ids, (uint64_t)(10 + i));
		pb part = shape(F32, "8 4", 0, 0);
		pb_msg(&result, 4, &part);
	}
	pb_bytes(&t, 36, ids.ptr, ids.len);
	nsx_buf_free(&ids);
	pb again = { 0 };
	nsx_buf_add(&again, result.ptr, result.len);
	pb_msg(&t, 3, &again);
	add(&c, &t);
	close_with_root(&m, &c, 7, 9000000, true);
	parameter(&main_, 1, 0, F32, "8 4");
	parameter(&main_, 2, 1, S32, "2");
	pb_msg(&f, 3, &result);
	call(&f, "7");
	add(&main_, &f);
	close_with_root(&m, &main_, 1, 10, false);
	struct nsx_hlo h = { 0 };
	pb d = dump_of(&m);
	ok(parse_bytes(d.ptr, d.len, &h) == NSX_OK, "a fusion of 200,000 instructions is read");
	is_str(cost_text(&find(&h, "f")->cost), "0 - 3200000 12800128", "100,000 results are written, the parameter read once");
	nsx_hlo_free(&h);
	nsx_buf_free(&d);
}

int
main(void)
{
	test_alone();
	test_shapes();
	test_in_place();
	test_unequal();
	test_calls();
	test_unknown_inside();
	test_contradictions();
	test_async();
	test_large();
	reset();
	return done();
}
