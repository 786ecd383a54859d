/* costs.c -- bytes choose instructions of a few computations, which read and call each other in any way, valid or not. The dump can be read, modelled work is not negative, and the order of instructions is irrelevant. */
#include "bytes.h"

#include <stdlib.h>

#include "../unit/pb.h"
#include "xla/hlo_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INSTS_MAX = 200, COMPS = 4 };

static const char *const opcodes[] = {
	"parameter", "constant", "add", "select", "bitcast", "copy", "slice", "dynamic-slice", "dynamic-update-slice", "gather", "scatter", "broadcast",
	"concatenate", "pad", "reduce", "reduce-window", "select-and-scatter", "map", "dot", "convolution", "custom-call", "fusion", "call", "async-start",
	"copy-start", "tuple", "get-tuple-element", "iota", "rng", "sort", "all-reduce", "scaled-dot"
};
static const char *const targets[] = {
	"__cublas$gemm", "__cublas$lt$matmul$f8", "__cudnn$convForward", "__cudnn$convBackwardInput", "__cudnn$convBackwardFilter", "__cudnn$fmhaSoftmax",
	"__cudnn$fmhaSoftmaxBackwardF8", "other"
};
static const char *const configs[] = {
	"{\"gemm_backend_config\":{\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"]},\"precision_config\":{\"operand_precision\":[\"HIGHEST\"]}}}",
	"{\"cudnn_fmha_backend_config\":{\"mask_type\":\"CAUSAL\",\"sliding_window_length\":3,\"intermediate_tensor_shape\":{\"dimensions\":[2,\"3\",5,7]}}}",
	"{\"gemm_backend_config\":{\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[9,", ""
};

struct input { const uint8_t *p, *end; };

static uint8_t
byte(struct input *in)
{
	return in->p < in->end ? *in->p++ : 0;
}

/* Mostly small; sometimes any number. */
static int64_t
number(struct input *in)
{
	uint8_t b = byte(in);
	uint64_t v = 0;

	if (b < 240)
		return b % 12;
	for (int i = 0; i < b % 9; i++)
		v = v << 8 | byte(in);
	return (int64_t)(b == 255 ? ~v : v);
}

static void
numbers(pb *out, uint32_t field, struct input *in, int n, bool near_id, int64_t id)
{
	pb p = { 0 };

	for (int i = 0; i < n; i++)
		pb_raw(&p, (uint64_t)(near_id ? id - 1 - number(in) : number(in)));
	if (n)
		pb_bytes(out, field, p.ptr, p.len);
	nsx_buf_free(&p);
}

static pb
shape(struct input *in, int depth)
{
	pb s = { 0 }, l = { 0 };
	uint8_t b = byte(in);

	if (b % 16 == 0 && depth < 4) {
		pb_int(&s, 2, 13);
		for (int i = b / 16 % 4; i > 0; i--) {
			pb part = shape(in, depth + 1);
			pb_msg(&s, 4, &part);
		}
		return s;
	}
	pb_int(&s, 2, b % 36);
	numbers(&s, 3, in, byte(in) % 5, false, 0);
	if (b > 250)
		pb_int(&l, 7, number(in));
	if (b == 249)
		pb_int(&l, 8, 5);
	pb_msg(&s, 5, &l);
	return s;
}

static void
work(pb *i, struct input *in)
{
	pb w = { 0 }, c = { 0 }, d = { 0 }, p = { 0 };
	int spatial = byte(in) % 4;

	for (int k = byte(in) % 8 ? spatial : 2; k > 0; k--) {
		pb one = { 0 };
		for (uint32_t f = 1; f <= 6; f++)
			pb_int(&one, f, f == 3 || f == 4 ? number(in) - 3 : number(in));
		pb_msg(&w, 1, &one);
	}
	pb_msg(i, 15, &w);
	for (uint32_t f = 3; f <= 10; f++)
		if (f != 5 && f != 6)
			pb_int(&c, f, number(in));
	for (uint32_t f = 6; f <= 12; f += f == 6 ? 5 : 1)
		numbers(&c, f, in, spatial, false, 0);
	pb_msg(i, 16, &c);
	numbers(&d, 1, in, byte(in) % 3, false, 0);
	pb_msg(i, 30, &d);
	pb_int(i, 50, number(in));
	pb_int(i, 58, number(in));
	numbers(&p, 1, in, byte(in) % 3, false, 0);
	pb_int(&p, 2, byte(in) % 16);
	if (byte(in) % 2)
		pb_msg(i, 51, &p);
	else
		nsx_buf_free(&p);
}

static pb
instruction(struct input *in, int64_t id)
{
	const char *opcode = opcodes[byte(in) % (sizeof opcodes / sizeof *opcodes)];
	pb i = { 0 }, s = shape(in, 0);
	char name[32];

	snprintf(name, sizeof name, "i%03d", (int)id);
	pb_str(&i, 1, name);
	pb_str(&i, 2, opcode);
	pb_msg(&i, 3, &s);
	pb_int(&i, 9, number(in));
	pb_int(&i, 35, id);
	numbers(&i, 36, in, byte(in) % 6, true, id);
	if (byte(in) % 2)
		numbers(&i, 38, in, byte(in) % 3, false, 0);
	if (strcmp(opcode, "custom-call") == 0) {
		pb_str(&i, 28, targets[byte(in) % 8]);
		pb_str(&i, 43, configs[byte(in) % 4]);
	}
	if (strcmp(opcode, "dot") == 0 || strcmp(opcode, "convolution") == 0 || strcmp(opcode, "custom-call") == 0 || strncmp(opcode, "reduce-w", 8) == 0)
		work(&i, in);
	return i;
}

static void
check(const struct nsx_hlo *h)
{
	for (uint32_t i = 0; i < h->ninsts; i++) {
		const struct nsx_hlo_cost *c = &h->insts[i].cost;
		fuzz_must(c->flops >= 0 && c->vector >= 0 && c->mem_bytes >= 0 && c->math < NSX_HLO_MATHS);
		fuzz_must(c->modelled || (c->flops == 0 && c->vector == 0 && c->mem_bytes == 0));
	}
}

/* Whether every number fits: numbers that do not are dropped in the order of the dump. */
static bool
read_dump(const pb *d, struct nsx_hlo *h)
{
	bool fits = true;
	struct nsx_diags diags = { 0 };
	struct nsx_err err = { "" };
	struct nsx_dumpfile f;

	nsx_dumpfile_memory(&f, d->ptr, d->len, "fuzz", &err);
	fuzz_must(nsx_hlo_parse(&f, h, &diags) == NSX_OK);
	for (size_t i = 0; i < diags.list.n; i++)
		fits &= !strstr(diags.list.p[i].text, "64 bits");
	nsx_diags_free(&diags);
	nsx_dumpfile_close(&f);
	return fits;
}

/* The dump of these instructions, every step-th first: 1 is their order. */
static pb
dump(pb insts[COMPS][INSTS_MAX], const int n[COMPS], const int64_t root[COMPS], int step)
{
	pb d = { 0 }, m = { 0 };

	pb_str(&m, 1, "f");
	pb_int(&m, 5, 1);
	pb_int(&m, 6, 1);
	for (int c = 0; c < COMPS; c++) {
		pb comp = { 0 };
		pb_str(&comp, 1, "c");
		pb_int(&comp, 5, c + 1);
		pb_int(&comp, 6, root[c]);
		if (c > 1)
			pb_int(&comp, 7, 1);
		for (int from = 0; from < step; from++)
			for (int i = from; i < n[c]; i += step)
				pb_bytes(&comp, 2, insts[c][i].ptr, insts[c][i].len);
		pb_msg(&m, 3, &comp);
	}
	pb_msg(&d, 1, &m);
	return d;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static pb insts[COMPS][INSTS_MAX];
	struct input in = { data, data + size };
	int n[COMPS] = { 0 };
	int64_t root[COMPS] = { 0 }, id = 0;
	struct nsx_hlo a, b;

	for (int c = 0; c < COMPS; c++) {
		for (int most = byte(&in) % INSTS_MAX; n[c] < most && in.p < in.end; n[c]++)
			insts[c][n[c]] = instruction(&in, ++id);
		root[c] = byte(&in) % 8 ? id : id - 1;
	}
	pb d = dump(insts, n, root, 1), e = dump(insts, n, root, 3);
	bool fits = read_dump(&d, &a);
	fits &= read_dump(&e, &b);
	check(&a);
	fuzz_must(a.ninsts == b.ninsts);
	for (uint32_t i = 0; fits && i < a.ninsts; i++) {
		const struct nsx_hlo_cost *x = &a.insts[i].cost, *y = &b.insts[i].cost;
		/* Who communicates within computations that call each other in a circle depends on where it is entered. */
		if (a.insts[i].comm != b.insts[i].comm)
			continue;
		fuzz_must(x->modelled == y->modelled && x->math == y->math && x->flops == y->flops && x->vector == y->vector && x->mem_bytes == y->mem_bytes);
	}
	nsx_hlo_free(&a);
	nsx_hlo_free(&b);
	nsx_buf_free(&d);
	nsx_buf_free(&e);
	for (int c = 0; c < COMPS; c++)
		for (int i = 0; i < n[c]; i++)
			nsx_buf_free(&insts[c][i]);
	return 0;
}
