/* costs.c -- the work of dots, convolutions and attention against counting one by one; every kind of instruction; dumps that contradict themselves. */
#include "work.h"

/* ---- dots: each product counted */

static const struct { int type; const char *math; } types[] = {
	{ F32, "tf32" }, { BF16, "bf16" }, { F16, "f16" }, { F64, "f64" }, { S8, "s8" }, { S32, "f32" }, { 15, "tf32" }, { C128, "f64" }, { 19, "f8" }, { 20, "f8" },
	{ 32, "f4" }, { S4, "s8" }
};
static const int widths[] = { 4, 2, 2, 8, 1, 4, 8, 16, 1, 1, 0, 0 };   /* 0: half a byte */

static int64_t
bytes_of(int t, int64_t elements)
{
	return widths[t] ? elements * widths[t] : (elements + 1) / 2;
}

/* A dot of random shapes: batch, free and contracting dimensions anywhere. The arithmetic by counting steps. */
static void
random_dot(bool library, const char **want, const char **got)
{
	static char text[128];
	int nb = any(3), nl = any(3), nr = any(3), nk = any(3), t = any((int)(sizeof types / sizeof *types));
	int64_t b[3], l[3], r[3], k[3], at_l[9], at_r[9], lhs[9], rhs[9], out[9], ck[3];
	int64_t count = 0;

	for (int i = 0; i < 3; i++) {
		b[i] = between(1, 3);
		l[i] = between(1, 4);
		r[i] = between(1, 4);
		k[i] = between(1, 5);
	}
	shuffled(nb + nl + nk, at_l);
	shuffled(nb + nr + nk, at_r);
	for (int i = 0; i < nb; i++)
		lhs[at_l[i]] = rhs[at_r[i]] = out[i] = b[i];
	for (int i = 0; i < nl; i++)
		lhs[at_l[nb + i]] = out[nb + i] = l[i];
	for (int i = 0; i < nr; i++)
		rhs[at_r[nb + i]] = out[nb + nl + i] = r[i];
	for (int i = 0; i < nk; i++) {
		lhs[at_l[nb + nl + i]] = rhs[at_r[nb + nr + i]] = k[i];
		ck[i] = at_l[nb + nl + i];
	}
	for (int64_t o = 0; o < product(out, nb + nl + nr); o++)
		for (int64_t c = 0; c < product(k, nk); c++)
			count += 2;
	pb m = module(1), c = computation("main");
	parameter(&c, 1, 0, types[t].type, list(lhs, nb + nl + nk));
	parameter(&c, 2, 1, types[t].type, list(rhs, nb + nr + nk));
	pb d = shaped("d", library ? "custom-call" : "dot", 3, "1 2", types[t].type, list(out, nb + nl + nr), 0);
	if (library) {
		char json[512], dims[64] = "";
		for (int i = 0; i < nk; i++)
			snprintf(dims + strlen(dims), sizeof dims - strlen(dims), "%s\"%d\"", i ? "," : "", (int)ck[i]);
		snprintf(json, sizeof json, "{\"operation_queue_id\":\"0\",\"gemm_backend_config\":{\"alpha_real\":1.5e0, \"dot_dimension_numbers\":{"
		         "\"rhs_batch_dimensions\":[\"0\"],\"lhs_contracting_dimensions\" : [%s]},\"epilogue\":\"DEFAULT\"},\"z\":[[],{\"a\":null}]}", dims);
		pb_str(&d, 28, any(2) ? "__cublas$gemm" : "__cublas$lt$matmul");
		pb_str(&d, 43, json);
	} else {
		pb n = { 0 };
		pb_packed(&n, 1, list(ck, nk));
		pb_msg(&d, 30, &n);
	}
	add(&c, &d);
	close_with_root(&m, &c, 1, 3, false);
	snprintf(text, sizeof text, "%" PRId64 " %s 0 %" PRId64, count, types[t].math,
	         bytes_of(t, product(lhs, nb + nl + nk)) + bytes_of(t, product(rhs, nb + nr + nk)) + bytes_of(t, product(out, nb + nl + nr)));
	*want = text;
	*got = cost_of(&m, "d");
}

static void
test_dots(void)
{
	const char *want = "", *got = "";
	int n = 0;

	for (; n < 400; n++) {
		random_dot(n % 2, &want, &got);
		if (strcmp(want, got) != 0)
			break;
	}
	is_str(got, want, "random dots, half of them cuBLAS's: products counted one by one (%d)", n);
	is_int(n, 400, "400 dots");
}

/* ---- convolutions: each pair of an output and a tap */

struct conv {
	int     spatial;
	int64_t in[3], taps[3], out[3], stride[3], low[3], dilation[3], base[3];
	int64_t batch, features, out_features, groups, batch_groups;
	int64_t at_in[5], at_kernel[5], at_out[5];   /* where batch, feature, spatial dimensions stand */
	int64_t input[5], kernel[5], output[5];      /* shapes */
};

static struct conv
random_conv(void)
{
	struct conv c = { .spatial = (int)between(1, 3), .groups = 1, .batch_groups = 1 };

	if (any(3) == 0)
		c.groups = between(2, 3);
	else if (any(3) == 0)
		c.batch_groups = between(2, 3);
	c.batch = c.batch_groups * between(1, 2);
	c.features = c.groups * between(1, 2);
	c.out_features = c.groups * c.batch_groups * between(1, 2);
	shuffled(c.spatial + 2, c.at_in);
	shuffled(c.spatial + 2, c.at_kernel);
	shuffled(c.spatial + 2, c.at_out);
	c.input[c.at_in[0]] = c.batch;
	c.input[c.at_in[1]] = c.features;
	c.kernel[c.at_kernel[0]] = c.features / c.groups;
	c.kernel[c.at_kernel[1]] = c.out_features;
	c.output[c.at_out[0]] = c.batch / c.batch_groups;
	c.output[c.at_out[1]] = c.out_features;
	for (int i = 0; i < c.spatial; i++) {
		c.in[i] = between(1, 6);
		c.taps[i] = between(1, 4);
		c.stride[i] = between(1, 3);
		c.low[i] = between(-2, 4);
		c.dilation[i] = between(1, 3);
		c.base[i] = between(1, 3);
		/* As many outputs as any padding on the other side may leave. */
		c.out[i] = between(1, 7);
		c.input[c.at_in[2 + i]] = c.in[i];
		c.kernel[c.at_kernel[2 + i]] = c.taps[i];
		c.output[c.at_out[2 + i]] = c.out[i];
	}
	return c;
}

static int64_t
pairs(int64_t in, int64_t taps, int64_t out, int64_t stride, int64_t low, int64_t dilation, int64_t base)
{
	int64_t n = 0;

	for (int64_t o = 0; o < out; o++)
		for (int64_t k = 0; k < taps; k++) {
			int64_t i = o * stride - low + k * dilation;
			n += i >= 0 && i % base == 0 && i / base < in;
		}
	return n;
}

/* Every output of every image, every tap, every feature it may see. */
static int64_t
count_conv(const struct conv *c)
{
	int64_t n = 0, spatial = 1;

	for (int i = 0; i < c->spatial; i++)
		spatial *= pairs(c->in[i], c->taps[i], c->out[i], c->stride[i], c->low[i], c->dilation[i], c->base[i]);
	for (int64_t image = 0; image < c->batch / c->batch_groups; image++)
		for (int64_t feature = 0; feature < c->out_features; feature++)
			for (int64_t seen = 0; seen < c->features / c->groups; seen++)
				n += 2 * spatial;
	return n;
}

static void
attributes(pb *i, const struct conv *c)
{
	pb w = { 0 }, d = { 0 };

	for (int k = 0; k < c->spatial; k++) {
		pb one = { 0 };
		pb_int(&one, 1, c->taps[k]);
		pb_int(&one, 2, c->stride[k]);
		pb_int(&one, 3, c->low[k]);
		pb_int(&one, 5, c->dilation[k]);
		pb_int(&one, 6, c->base[k]);
		pb_msg(&w, 1, &one);
	}
	pb_msg(i, 15, &w);
	pb_int(&d, 7, c->at_in[0]);
	pb_int(&d, 8, c->at_in[1]);
	pb_packed(&d, 11, list(c->at_in + 2, c->spatial));
	pb_int(&d, 3, c->at_kernel[0]);
	pb_int(&d, 4, c->at_kernel[1]);
	pb_packed(&d, 6, list(c->at_kernel + 2, c->spatial));
	pb_int(&d, 9, c->at_out[0]);
	pb_int(&d, 10, c->at_out[1]);
	pb_packed(&d, 12, list(c->at_out + 2, c->spatial));
	pb_msg(i, 16, &d);
	if (c->groups != 1 || any(2))
		pb_int(i, 50, c->groups);
	if (c->batch_groups != 1 || any(2))
		pb_int(i, 58, c->batch_groups);
}

/* form: the instruction, or which of the library's; its three arrays as that one has them. */
static const char *
convolved(const struct conv *c, int form)
{
	static const char *const targets[] = { NULL, "__cudnn$convForward", "__cudnn$convBackwardInput", "__cudnn$convBackwardFilter" };
	const int64_t *a = form == 2 ? c->output : c->input, *b = form == 3 ? c->output : c->kernel;
	const int64_t *r = form == 2 ? c->input : form == 3 ? c->kernel : c->output;
	int rank = c->spatial + 2;
	pb m = module(1), comp = computation("main"), i = inst("c", form ? "custom-call" : "convolution", 3, "1 2");

	parameter(&comp, 1, 0, BF16, list(a, rank));
	parameter(&comp, 2, 1, BF16, list(b, rank));
	pb s = shape(BF16, list(r, rank), 0, 0);
	if (form) {
		/* A library's call makes a workspace beside its result, which is no traffic that must be. */
		pb t = { 0 }, work = shape(6, "12345", 0, 0);
		pb_int(&t, 2, TUPLE);
		pb_msg(&t, 4, &s);
		pb_msg(&t, 4, &work);
		s = t;
		pb_str(&i, 28, targets[form]);
	}
	pb_msg(&i, 3, &s);
	attributes(&i, c);
	add(&comp, &i);
	close_with_root(&m, &comp, 1, 3, false);
	return cost_of(&m, "c");
}

static void
test_convolutions(void)
{
	char want[128] = "";
	const char *got = "";
	int n = 0;

	for (; n < 600; n++) {
		struct conv c = random_conv();
		int64_t flops = count_conv(&c);
		snprintf(want, sizeof want, "%" PRId64 " %s 0 %" PRId64, flops, flops ? "bf16" : "-",
		         2 * (product(c.input, c.spatial + 2) + product(c.kernel, c.spatial + 2) + product(c.output, c.spatial + 2)));
		got = convolved(&c, n % 4);
		if (strcmp(got, want) != 0)
			break;
	}
	is_str(got, want, "random convolutions, forward and backward: pairs counted one by one (%d)", n);
	is_int(n, 600, "600 convolutions");
}

static void
test_pairs(void)
{
	int64_t steps = 0, got = 0, want = 0;
	enum nsx_cost_state s = NSX_COST_OK;
	int n = 0;

	for (; n < 20000 && got == want; n++) {
		int64_t in = between(0, 12), taps = between(0, 9), out = between(0, 14);
		int64_t w[NSX_COST_W_NUMBERS] = { taps, between(1, 7), between(-9, 20), between(1, 6), between(1, 6) };
		want = pairs(in, taps, out, w[1], w[2], w[3], w[4]);
		got = nsx_cost_pairs(in, taps, out, w, &steps, &s);
	}
	is_int(got, want, "pairs by formula equal those of two loops, in window %d", n);
	ok(s == NSX_COST_OK && n == 20000, "20000 windows");
	int64_t wide[NSX_COST_W_NUMBERS] = { 3, 1, 1, 1, 1 };
	is_int(nsx_cost_pairs(INT64_MAX / 4, 3, INT64_MAX / 4, wide, &steps, &s), INT64_MAX / 4 * 3 - 2, "a dimension of nearly 64 bits");
	int64_t most[NSX_COST_W_NUMBERS] = { 3, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MAX };
	nsx_cost_pairs(INT64_MAX, 1000, INT64_MAX, most, &steps, &s);
	ok(s == NSX_COST_OK || s == NSX_COST_OVERFLOW, "the largest numbers");
	s = NSX_COST_OK;
	nsx_cost_pairs(INT64_MAX, INT64_MAX, INT64_MAX, wide, &steps, &s);
	is_int(s, NSX_COST_OVERFLOW, "taps without end are not counted");
}

/* ---- attention */

static const char *
attention(const char *target, const char *config)
{
	pb m = module(1), c = computation("main"), i = shaped("a", "custom-call", 4, "1 2 3", BF16, "2 3 6 8", 0);

	parameter(&c, 1, 0, BF16, "2 3 6 8");
	parameter(&c, 2, 1, BF16, "2 3 10 8");
	parameter(&c, 3, 2, BF16, "2 3 10 5");
	pb_str(&i, 28, target);
	pb_str(&i, 43, config);
	add(&c, &i);
	close_with_root(&m, &c, 1, 4, false);
	return cost_of(&m, "a");
}

static void
test_attention(void)
{
	static const char *const masks[] = { "NO_MASK", "CAUSAL", "PADDING_CAUSAL", "PADDING" };
	int64_t bytes = 2 * (2 * 3 * 6 * 8 * 2 + 2 * 3 * 10 * 8 + 2 * 3 * 10 * 5);
	char want[128], config[512];

	for (int n = 0; n < 32; n++) {
		int64_t window = n / 8 % 2 ? between(1, 12) : 0, count = 0;
		bool causal = n % 4 == 1 || n % 4 == 2, back = n / 4 % 2, f8 = n >= 16;
		for (int64_t q = 0; q < 6; q++)
			for (int64_t k = 0, seen = 0; k < 10; k++)
				if ((!causal || k <= q) && (!window || seen < window)) {
					seen++;
					count += back ? 2 * (3 * 8 + 2 * 5) : 2 * (8 + 5);
				}
		snprintf(want, sizeof want, "%" PRId64 " %s 0 %" PRId64, count * 6, f8 ? "f8" : "bf16", bytes);
		snprintf(config, sizeof config, "{\"cudnn_fmha_backend_config\": {\"mask_type\": \"%s\", \"intermediate_tensor_shape\": {\"element_type\": \"BF16\", \"dimensions\":"
		         " [\"2\", \"3\", 6, \"10\"], \"tuple_shapes\": []}, \"sliding_window_length\": %d}}", masks[n % 4], (int)window);
		char target[64];
		snprintf(target, sizeof target, "__cudnn$fmhaSoftmax%s%s", back ? "Backward" : "", f8 ? "F8" : "");
		is_str(attention(target, config), want, "%s, %s, window %d: pairs counted one by one", target, masks[n % 4], (int)window);
	}
	is_str(attention("__cudnn$fmhaSoftmax", "{\"cudnn_fmha_backend_config\":{}}"), "none", "attention without its shape");
	is_str(attention("__cudnn$fmhaSoftmax", "{\"cudnn_fmha_backend_config\":{\"intermediate_tensor_shape\":{\"dimensions\":[2,3,6]}}}"), "none", "a shape of three dimensions");
	is_str(attention("__cudnn$fmhaSoftmax", "{\"cudnn_fmha_backend_config\":{\"intermediate_tensor_shape\":{\"dimensions\":[2,3,6,-1]}}}"), "none", "a size below zero");
	is_int(diag("contradicts itself"), 1, "... is counted");
}

/* ---- arithmetic, precision */

static const char *
dot_of(int a, int b, int precision, int algorithm)
{
	pb m = module(1), c = computation("main"), d = shaped("d", "dot", 3, "1 2", F32, "4 4", 0), n = { 0 }, p = { 0 };

	parameter(&c, 1, 0, a, "4 8");
	parameter(&c, 2, 1, b, "8 4");
	pb_packed(&n, 1, "1");
	pb_msg(&d, 30, &n);
	if (precision >= 0)
		pb_packed(&p, 1, precision == 2 ? "0 2" : "0 1");
	if (algorithm)
		pb_int(&p, 2, algorithm);
	pb_msg(&d, 51, &p);
	add(&c, &d);
	close_with_root(&m, &c, 1, 3, false);
	return cost_of(&m, "d");
}

static void
test_math(void)
{
	is_str(dot_of(F32, F32, -1, 0), "256 tf32 0 320", "F32 is TF32");
	is_str(dot_of(F32, F32, 1, 0), "256 tf32 0 320", "... with HIGH precision too");
	is_str(dot_of(F32, F32, 2, 0), "256 f32 0 320", "... but with HIGHEST");
	is_str(dot_of(BF16, F32, -1, 0), "256 tf32 0 256", "BF16 by F32");
	is_str(dot_of(S8, BF16, -1, 0), "256 s8 0 160", "S8 by BF16");
	is_str(dot_of(32, 19, -1, 0), "256 f8 0 112", "F4 by F8");
	is_str(dot_of(F32, F32, 2, 6), "256 bf16 0 320", "an algorithm determines the math");
	is_str(dot_of(F32, F32, 0, 7), "768 bf16 0 320", "three passes");
	is_str(dot_of(F32, F32, 0, 8), "1536 bf16 0 320", "six");
	is_str(dot_of(F32, F32, 0, 10), "768 tf32 0 320", "three of TF32");
	is_str(dot_of(F32, F32, 0, 13), "2304 bf16 0 320", "nine");
	is_str(dot_of(F32, F32, 0, 11), "256 f32 0 320", "F32 itself");
	is_str(dot_of(F32, F32, 0, 99), "none", "an algorithm nobody knows");
	is_str(dot_of(F32, 77, 0, 0), "none", "a type nobody knows");
}

/* ---- invalid dumps */

static const char *
broken_conv(void (*spoil)(struct conv *))
{
	chance = 1;
	struct conv c = random_conv();

	while (c.spatial != 2)
		c = random_conv();
	spoil(&c);
	return convolved(&c, 1);
}

static void no_base(struct conv *c)       { c->base[1] = 0; }
static void no_stride(struct conv *c)     { c->stride[0] = 0; }
static void back_stride(struct conv *c)   { c->stride[0] = INT64_MIN; }
static void no_groups(struct conv *c)     { c->groups = -4; c->batch_groups = 2; }
static void beyond(struct conv *c)        { c->at_in[2] = 77; }
static void below(struct conv *c)         { c->at_out[1] = -1; }
static void negative(struct conv *c)      { c->input[c->at_in[2]] = -3; }
static void huge(struct conv *c)          { c->input[c->at_in[0]] = c->input[c->at_in[1]] = c->output[c->at_out[1]] = INT64_MAX / 2; }
static void many_taps(struct conv *c)     { c->kernel[c->at_kernel[2]] = c->output[c->at_out[2]] = (int64_t)1 << 40; }

static const char *
dot_with(const char *lhs, const char *rhs, const char *out, const char *dims, const char *operands)
{
	pb m = module(1), c = computation("main"), d = shaped("d", "dot", 3, operands, F32, out, 0), n = { 0 };

	parameter(&c, 1, 0, F32, lhs);
	parameter(&c, 2, 1, F32, rhs);
	pb_packed(&n, 1, dims);
	if (strcmp(dims, "none") != 0)
		pb_msg(&d, 30, &n);
	add(&c, &d);
	close_with_root(&m, &c, 1, 3, false);
	return cost_of(&m, "d");
}

static void
test_bad_dots(void)
{
	is_str(dot_with("2 3", "3 4", "2 4", "1", "1 2"), "48 tf32 0 104", "a sound dot");
	is_str(dot_with("2 3", "3 4", "2 4", "2", "1 2"), "none", "a dimension beyond the rank");
	is_int(diag("contradicts itself"), 1, "... is counted");
	is_str(dot_with("2 3", "3 4", "2 4", "-1", "1 2"), "none", "one below zero");
	is_str(dot_with("2 3", "3 4", "2 4", "1 1 1", "1 2"), "none", "more contracting dimensions than exist");
	is_str(dot_with("2 3", "3 4", "2 4", "none", "1 2"), "none", "no dimension numbers");
	is_str(dot_with("2 3", "3 4", "2 4", "1", "1 9"), "none", "an operand that does not exist");
	is_int(diag("contradicts itself"), 1, "... is counted");
	is_str(dot_with("2 3", "3 4", "2 4", "1", "1"), "none", "one operand");
	is_str(dot_with("2 3", "3 4", "2 4", "1", "3 3"), "none", "it reads itself");
	is_str(dot_with("2 -3", "3 4", "2 4", "1", "1 2"), "none", "a size below zero");
	is_str(dot_with("9223372036854775807 3", "3 4", "2 4", "1", "1 2"), "none", "an array too large");
	is_int(diag("exceeds 64 bits"), 1, "... is counted as that");
	is_str(dot_with("2 1000000000", "1000000000 4", "1000000000 4", "1", "1 2"), "8000000000000000000 tf32 0 40000000000", "nearly 64 bits");
	is_str(dot_with("2 2000000000", "2000000000 4", "1000000000 4", "1", "1 2"), "none", "products that do not fit");
	is_int(diag("exceeds 64 bits"), 1, "... are counted as that");
	is_str(dot_with("0 3", "3 4", "0 4", "1", "1 2"), "0 - 0 48", "a shape with a dimension of 0");
	is_str(broken_conv(no_base), "none", "base_dilation 0");
	is_str(broken_conv(no_stride), "none", "stride 0");
	is_str(broken_conv(back_stride), "none", "a stride backwards");
	is_str(broken_conv(no_groups), "none", "groups below 1");
	is_str(broken_conv(beyond), "none", "a spatial dimension beyond the rank");
	is_str(broken_conv(below), "none", "a feature dimension below 0");
	is_str(broken_conv(negative), "none", "a negative size of an input");
	is_str(broken_conv(huge), "none", "an input that does not fit");
	is_str(broken_conv(many_taps), "none", "more taps than are counted");
}

static const char *
window_of(int windows, int spatial)
{
	pb m = module(1), c = computation("main"), i = shaped("c", "convolution", 3, "1 2", F32, "1 4 4 1", 0), w = { 0 }, d = { 0 };
	int64_t dims[] = { 1, 2, 3, 0, 1, 2 };

	parameter(&c, 1, 0, F32, "1 4 4 1");
	parameter(&c, 2, 1, F32, "1 1 1 1");
	for (int k = 0; k < windows; k++) {
		pb one = { 0 };
		for (uint32_t f = 1; f <= 6; f++)
			if (f != 3 && f != 4)
				pb_int(&one, f, 1);
		pb_msg(&w, 1, &one);
	}
	pb_msg(&i, 15, &w);
	pb_int(&d, 8, 3);
	pb_int(&d, 10, 3);
	pb_packed(&d, 11, list(dims, spatial));
	pb_packed(&d, 6, list(dims, spatial));
	pb_packed(&d, 12, list(dims, spatial));
	pb_msg(&i, 16, &d);
	add(&c, &i);
	close_with_root(&m, &c, 1, 3, false);
	return cost_of(&m, "c");
}

static const char *
configured(const char *config, size_t len)
{
	pb m = module(1), c = computation("main"), i = shaped("g", "custom-call", 3, "1 2", F32, "2 4", 0);

	parameter(&c, 1, 0, F32, "2 3");
	parameter(&c, 2, 1, F32, "3 4");
	pb_str(&i, 28, "__cublas$gemm");
	pb_bytes(&i, 43, config, len);
	add(&c, &i);
	close_with_root(&m, &c, 1, 3, false);
	return cost_of(&m, "g");
}

static void
test_bad_windows_and_configs(void)
{
	static const char good[] = "{\"gemm_backend_config\":{\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"]},"
		"\"precision_config\":{\"operand_precision\":[\"DEFAULT\",\"HIGHEST\"],\"algorithm\":\"ALG_DOT_BF16_BF16_F32_X3\"}}}";
	size_t n = sizeof good - 1, cut = 0;
	char *large;

	is_str(window_of(2, 2), "32 tf32 0 132", "a sound convolution");
	is_str(window_of(1, 2), "none", "a window with fewer dimensions than the numbers name");
	is_str(window_of(3, 2), "none", "a window with more");
	is_str(window_of(3, 3), "none", "more spatial dimensions than the arrays have");
	is_str(window_of(0, 0), "none", "arrays with dimensions that nobody names");
	is_str(configured(good, n), "144 bf16 0 104", "a sound config: three passes");
	while (cut < n && strcmp(configured(good, cut), "none") == 0)
		cut++;
	is_int((int64_t)cut, (int64_t)n, "a config cut short anywhere is no config");
	is_str(configured("cuBLAS", 6), "none", "a config that is no JSON");
	is_int(diag("work is not known"), 0, "... is not modelled, but no error");
	is_str(configured("", 0), "none", "no config");
	is_str(configured("[]", 2), "none", "a list");
	is_str(configured("{\"gemm_backend_config\":{}}", 26), "none", "without dimension numbers");
	is_str(configured("{\"gemm_backend_config\":{\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"x\"]}}}", 86), "none", "words for numbers");
	is_str(configured("{\"gemm_backend_config\":{\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"99999999999999999999\"]}}}", 105), "none", "a number too large");
	large = malloc(100 << 20);
	memset(large, '[', 100 << 20);
	is_str(configured(large, 500000), "none", "brackets without end");
	is_str(configured(large, 100 << 20), "none", "a config of 100 MB");
	memset(large, ' ', 100 << 20);
	memcpy(large + (100 << 20) - n, good, n);
	is_str(configured(large, 100 << 20), "none", "... were it sound");
	free(large);
}

/* Where newer dumps have backend_config: in a payload, or in the module's list of them. */
static void
test_payloads(void)
{
	static const char good[] = "{\"gemm_backend_config\":{\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[1]}}}";

	for (int form = 0; form < 3; form++) {
		pb m = module(1), c = computation("main"), i = shaped("g", "custom-call", 3, "1 2", F32, "2 4", 0), p = { 0 };
		parameter(&c, 1, 0, F32, "2 3");
		parameter(&c, 2, 1, F32, "3 4");
		pb_str(&i, 28, "__cublas$gemm");
		if (form == 0)
			pb_str(&p, 1, good);
		else
			pb_int(&p, 2, form == 1 ? 1 : 7);
		pb_msg(&i, 99, &p);
		add(&c, &i);
		close_with_root(&m, &c, 1, 3, false);
		pb_str(&m, 22, "other");
		pb_str(&m, 22, good);
		is_str(cost_of(&m, "g"), form == 2 ? "none" : "48 tf32 0 104", "%s", form == 0 ? "a config in a payload" : form == 1 ? "one of the module's" : "one that is not there");
	}
}

int
main(void)
{
	test_dots();
	test_convolutions();
	test_pairs();
	test_attention();
	test_math();
	test_bad_dots();
	test_bad_windows_and_configs();
	test_payloads();
	reset();
	return done();
}
