/* hlo_repeats.c -- metadata and shapes that repeat are cached by their bytes: values and counts are the same as without the cache. */
#include "dump.h"

/* An instruction with a place and a shape; broken: a field of the shape has a wrong wire type. */
static void
one(pb *c, int id, const char *op_name, int frame, const char *dims, bool broken)
{
	char name[32];
	snprintf(name, sizeof name, "i.%d", id);
	pb i = inst(name, "add", id, ""), s = shape(F32, dims, 0, 0);

	place(&i, op_name, "", 0, frame);
	if (broken)
		pb_str(&s, 2, "float");
	pb_msg(&i, 3, &s);
	add(c, &i);
}

static void
counted_each(void)
{
	pb m = module(1), c = computation("main");

	for (int k = 1; k <= 3; k++)
		one(&c, k, "jit(f)/while/body/add", 99, "16 32", false);
	for (int k = 4; k <= 7; k++)
		one(&c, k, "jit(f)/while/body/add", 0, "16 64", true);
	close_computation(&m, &c, 1, false);
	struct nsx_hlo h = parse(&m);
	is_int(diag("source stacks with unknown"), 3, "a frame that is not there counts for each that names it");
	is_int(diag("unexpected wire type"), 4, "a broken field of a shape counts for each that has it");
	nsx_hlo_free(&h);
}

/* Equal at both ends, or mostly equal. */
static void
told_apart(void)
{
	static const char *const op_names[] = {
		"jit(f)/layer_1/while/body/attention/add", "jit(f)/layer_2/while/body/attention/add",
		"jit(f)/layer_1/while/body/attention/mul", "jit(g)/layer_1/while/body/attention/add"
	};
	enum { N = 40 };
	pb m = module(2), c = { 0 };
	int wrong = 0;

	for (int k = 0; k < N; k++) {
		if (k % 10 == 0)
			c = computation("c");
		one(&c, k + 1, op_names[k % 4], 0, k % 4 == 1 ? "2 3" : k % 4 == 2 ? "3 2" : "2 3 4", false);
		if (k % 10 == 9)
			close_computation(&m, &c, k / 10 + 2, false);
	}
	struct nsx_hlo h = parse(&m);
	for (int k = 0; k < N; k++) {
		char name[32];
		snprintf(name, sizeof name, "i.%d", k + 1);
		wrong += !nsx_str_eq(find(&h, name)->op_name, nsx_str_c(op_names[k % 4]));
	}
	is_int(wrong, 0, "metadata that differ in one byte are distinguished, at any position");
	nsx_hlo_free(&h);
}

/* all-reduces of arrays whose shapes repeat across computations. */
static void
sized(void)
{
	static const struct { const char *dims; int64_t bytes; } shapes[] = {
		{ "8 128", 4096 }, { "128 8", 4096 }, { "8 129", 4128 }, { "1 2 3 4 5 6 7", 20160 }, { "", 4 }
	};
	enum { KINDS = sizeof shapes / sizeof *shapes, N = 30 };
	pb m = module(2), c = { 0 };
	int wrong = 0;

	for (int k = 0; k < N; k++) {
		char name[32], operand[32];
		snprintf(name, sizeof name, "ar.%d", k);
		snprintf(operand, sizeof operand, "%d", 100 + k);
		if (k % 6 == 0)
			c = computation("c");
		param(&c, 100 + k, F32, shapes[k % KINDS].dims);
		pb i = shaped(name, "all-reduce", 1 + k, operand, F32, shapes[k % KINDS].dims, 0);
		add(&c, &i);
		if (k % 6 == 5)
			close_computation(&m, &c, k / 6 + 2, false);
	}
	struct nsx_hlo h = parse(&m);
	for (int k = 0; k < N; k++) {
		char name[32];
		snprintf(name, sizeof name, "ar.%d", k);
		wrong += find(&h, name)->bytes != shapes[k % KINDS].bytes;
	}
	is_int(wrong, 0, "repeated shapes have their sizes");
	nsx_hlo_free(&h);
}

int
main(void)
{
	counted_each();
	told_apart();
	sized();
	reset();
	return done();
}
