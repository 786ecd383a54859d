/* work_matrix.c -- matrix products, convolutions and attention of --work: sizes are drawn first, the work follows from
 * them by a closed formula, the shapes are made after. Nothing is counted step by step, and the library is not used. */
#include <stdio.h>

#include "work.h"

/* ---- matrix products: B batches of M x K by K x N are 2 B M N K operations */

struct product {
	int64_t b, m, n, k;
	struct work_array lhs, rhs, out;
	int64_t contracting_l[2], contracting_r[2], batch_l[2], batch_r[2];
	int nb, nk;
};

static const struct { int type, out; const char *math; } maths[] = {
	{ BF16, BF16, "bf16" }, { BF16, F32, "bf16" }, { F32, F32, "tf32" }, { F16, F16, "f16" }, { F64, F64, "f64" },
	{ S8, S32, "s8" }, { F8, BF16, "f8" }
};

/* Each of the four sizes is of up to two dimensions, at any position in their operand. */
static struct product
product(struct work_module *m, int type, int out)
{
	struct product d = { .b = 1, .m = 1, .n = 1, .k = 1, .nb = (int)work_between(m, 0, 2),
	                     .nk = (int)work_between(m, 1, 2) };
	int nm = (int)work_between(m, 0, 2), nn = (int)work_between(m, 1, 2), at_l[RANK], at_r[RANK];

	d.lhs = (struct work_array){ type, d.nb + nm + d.nk, { 0 } };
	d.rhs = (struct work_array){ type, d.nb + nn + d.nk, { 0 } };
	d.out = (struct work_array){ out, d.nb + nm + nn, { 0 } };
	work_shuffled(m, d.lhs.rank, at_l);
	work_shuffled(m, d.rhs.rank, at_r);
	for (int i = 0; i < d.nb; i++) {
		int64_t size = work_between(m, 1, 5);

		d.b *= d.lhs.dim[at_l[i]] = d.rhs.dim[at_r[i]] = d.out.dim[i] = size;
		d.batch_l[i] = at_l[i];
		d.batch_r[i] = at_r[i];
	}
	for (int i = 0; i < nm; i++)
		d.m *= d.lhs.dim[at_l[d.nb + i]] = d.out.dim[d.nb + i] = work_between(m, 1, 400);
	for (int i = 0; i < nn; i++)
		d.n *= d.rhs.dim[at_r[d.nb + i]] = d.out.dim[d.nb + nm + i] = work_between(m, 1, 400);
	for (int i = 0; i < d.nk; i++) {
		d.k *= d.lhs.dim[at_l[d.nb + nm + i]] = d.rhs.dim[at_r[d.nb + nn + i]] = work_between(m, 1, 200);
		d.contracting_l[i] = at_l[d.nb + nm + i];
		d.contracting_r[i] = at_r[d.nb + nn + i];
	}
	return d;
}

static void
dimension_numbers(pb *more, const struct product *d)
{
	pb n = { 0 };

	work_packed(&n, 1, d->contracting_l, d->nk);
	work_packed(&n, 2, d->contracting_r, d->nk);
	work_packed(&n, 3, d->batch_l, d->nb);
	work_packed(&n, 4, d->batch_r, d->nb);
	work_sub(more, 30, &n);
}

static void
json_list(char *to, size_t size, const int64_t *v, int n)
{
	size_t at = 0;

	*to = '\0';
	for (int i = 0; i < n; i++)
		at += (size_t)snprintf(to + at, size - at, "%s\"%lld\"", i ? "," : "", (long long)v[i]);
}

void
work_plant_dot(struct work_plant *p, bool library)
{
	size_t t = (size_t)work_between(p->m, 0, (int64_t)(sizeof maths / sizeof *maths) - 1);
	bool highest = maths[t].type == F32 && work_maybe(p->m);
	struct product d = product(p->m, maths[t].type, maths[t].out);
	pb more = { 0 }, precision = { 0 };

	p->w.flops = 2 * d.b * d.m * d.n * d.k;
	p->w.math = highest ? "f32" : maths[t].math;
	p->w.bytes = work_width(d.lhs.type) * (d.b * d.m * d.k + d.b * d.n * d.k) + work_width(d.out.type) * d.b * d.m *
	    d.n;
	p->w.opcode = library ? "custom-call" : "dot";
	work_reads(p, d.lhs);
	work_reads(p, d.rhs);
	if (library) {
		char json[1024], cl[64], cr[64], bl[64], br[64];

		json_list(cl, sizeof cl, d.contracting_l, d.nk);
		json_list(cr, sizeof cr, d.contracting_r, d.nk);
		json_list(bl, sizeof bl, d.batch_l, d.nb);
		json_list(br, sizeof br, d.batch_r, d.nb);
		snprintf(json, sizeof json,
			"{\"operation_queue_id\":\"0\",\"gemm_backend_config\":{\"alpha_real\":1,\"beta\":0,\"dot_dimension_numbers\":{"
			"\"lhs_contracting_dimensions\":[%s],\"rhs_contracting_dimensions\":[%s],\"lhs_batch_dimensions\":[%s],"
			"\"rhs_batch_dimensions\":[%s]},\"precision_config\":{\"operand_precision\":[\"%s\",\"DEFAULT\"]}}}",
		         cl, cr, bl, br, highest ? "HIGHEST" : "DEFAULT");
		pb_str(&more, 28, work_maybe(p->m) ? "__cublas$gemm" : "__cublas$lt$matmul");
		pb_str(&more, 43, json);
	} else {
		const int64_t asked[2] = { highest ? 2 : 0, 0 };

		dimension_numbers(&more, &d);
		work_packed(&precision, 1, asked, 2);
		work_sub(&more, 51, &precision);
	}
	work_stands(p, &d.out, library, &more);
}

/* A product with a bias and tanh behind it, in one fusion: two results of scalar arithmetic for each element. */
void
work_plant_fused_dot(struct work_plant *p)
{
	struct product d = product(p->m, BF16, F32);
	struct work_array bias = work_array(F32, 1, d.out.dim[d.out.rank - 1]);
	pb body = { 0 }, more = { 0 };
	struct work_comp c = { &body, 0 };
	int64_t l, r, a, last = d.out.rank - 1;

	p->w.flops = 2 * d.b * d.m * d.n * d.k;
	p->w.math = "bf16";
	p->w.vector = 2 * d.b * d.m * d.n;
	p->w.bytes = 2 * (d.b * d.m * d.k + d.b * d.n * d.k) + 4 * bias.dim[0] + 4 * d.b * d.m * d.n;
	work_reads(p, d.lhs);
	work_reads(p, d.rhs);
	work_reads(p, bias);
	l = work_parameter(p->m, &c, &d.lhs);
	r = work_parameter(p->m, &c, &d.rhs);
	a = work_parameter(p->m, &c, &bias);
	dimension_numbers(&more, &d);
	l = work_op(p->m, &c, "dot", &d.out, &more, 2, l, r);
	work_packed(&more, 14, &last, 1);
	a = work_op(p->m, &c, "broadcast", &d.out, &more, 1, a);
	a = work_op(p->m, &c, "add", &d.out, NULL, 2, l, a);
	a = work_op(p->m, &c, "tanh", &d.out, NULL, 1, a);
	work_fuses(p, &body, a, &d.out, "kCustom");
}

/* ---- convolutions: sizes whose pairs of an output and a tap are known without counting */

struct window { int64_t in, taps, out, stride, low, high, dilation, base, pairs; };

static struct window
window(struct work_module *m)
{
	struct window w = { .taps = work_between(m, 1, 5), .stride = 1, .dilation = 1, .base = 1 };
	int64_t over;

	switch (work_between(m, 0, 2)) {
	case 0:
		/* Not padded: every output is paired with every tap. */
		w.dilation = work_between(m, 1, 3);
		w.stride = work_between(m, 1, 3);
		over = work_between(m, 0, 20);
		w.in = (w.taps - 1) * w.dilation + 1 + over;
		w.out = over / w.stride + 1;
		w.pairs = w.out * w.taps;
		break;
	case 1:
		/* Half of the taps extend beyond each end: 1 + 2 + ... + half pairs are lost there. */
		over = work_between(m, 0, 3);
		w.taps = 2 * over + 1;
		w.low = w.high = over;
		w.in = w.out = over + work_between(m, 1, 20);
		w.pairs = w.in * w.taps - over * (over + 1);
		break;
	default:
		/* The maximum size, of a dilated input: every input is paired with every tap, and holes cause no
		 * work. */
		w.base = work_between(m, 1, 3);
		w.in = work_between(m, 1, 12);
		w.low = w.high = w.taps - 1;
		w.out = (w.in - 1) * w.base + w.taps;
		w.pairs = w.in * w.taps;
	}
	return w;
}

/* form: the instruction, or cuDNN's forward, backward to the input, backward to the filter, which stand for a forward
 * one. */
void
work_plant_convolution(struct work_plant *p, int form)
{
	static const char *const targets[] = { NULL, "__cudnn$convForward", "__cudnn$convBackwardInput",
	                                       "__cudnn$convBackwardFilter" };
	struct work_module *m = p->m;
	int spatial = (int)work_between(m, 1, 3), at[3][5], type = work_maybe(m) ? BF16 : F16;
	int64_t groups = work_between(m, 0, 2) ? 1 : work_between(m, 2, 4), batches = groups > 1 ||
	    work_between(m, 0, 2) ? 1 : work_between(m, 2, 3);
	int64_t batch = batches * work_between(m, 1, 4), seen = work_between(m, 1, 64), out_features = groups *
	    batches * work_between(m, 1, 64), pairs = 1;
	struct work_array in = { type, spatial + 2, { 0 } }, kernel = in, out = in, *order[3] = { &in, &kernel, &out };
	pb more = { 0 }, windows = { 0 }, numbers = { 0 };
	int64_t where[3][3];

	for (int i = 0; i < 3; i++)
		work_shuffled(m, spatial + 2, at[i]);
	in.dim[at[0][0]] = batch;
	in.dim[at[0][1]] = seen * groups;
	kernel.dim[at[1][0]] = seen;
	kernel.dim[at[1][1]] = out_features;
	out.dim[at[2][0]] = batch / batches;
	out.dim[at[2][1]] = out_features;
	for (int k = 0; k < spatial; k++) {
		struct window w = window(m);
		pb one = { 0 };

		pairs *= w.pairs;
		in.dim[at[0][2 + k]] = w.in;
		kernel.dim[at[1][2 + k]] = w.taps;
		out.dim[at[2][2 + k]] = w.out;
		for (int i = 0; i < 3; i++)
			where[i][k] = at[i][2 + k];
		pb_int(&one, 1, w.taps);
		pb_int(&one, 2, w.stride);
		pb_int(&one, 3, w.low);
		pb_int(&one, 4, w.high);
		pb_int(&one, 5, w.dilation);
		pb_int(&one, 6, w.base);
		work_sub(&windows, 1, &one);
	}
	pb_int(&numbers, 7, at[0][0]);
	pb_int(&numbers, 8, at[0][1]);
	work_packed(&numbers, 11, where[0], spatial);
	pb_int(&numbers, 3, at[1][0]);
	pb_int(&numbers, 4, at[1][1]);
	work_packed(&numbers, 6, where[1], spatial);
	pb_int(&numbers, 9, at[2][0]);
	pb_int(&numbers, 10, at[2][1]);
	work_packed(&numbers, 12, where[2], spatial);
	if (form)
		pb_str(&more, 28, targets[form]);
	work_sub(&more, 15, &windows);
	work_sub(&more, 16, &numbers);
	pb_int(&more, 50, groups);
	pb_int(&more, 58, batches);
	p->w.opcode = form ? "custom-call" : "convolution";
	p->w.flops = 2 * seen * out_features * (batch / batches) * pairs;
	p->w.math = type == BF16 ? "bf16" : "f16";
	p->w.bytes = work_bytes_of(&in) + work_bytes_of(&kernel) + work_bytes_of(&out);
	if (form == 2) {
		order[0] = &out;
		order[2] = &in;
	} else if (form == 3) {
		order[1] = &out;
		order[2] = &kernel;
	}
	work_reads(p, *order[0]);
	work_reads(p, *order[1]);
	work_stands(p, order[2], form, &more);
}

/* ---- attention of cuDNN: two products for each pair of a query and a key that it may see, five and two more
 * backwards */

void
work_plant_attention(struct work_plant *p)
{
	struct work_module *m = p->m;
	int64_t b = work_between(m, 1, 4), h = work_between(m, 1, 8), q = work_between(m, 1, 300), k,
	    e = 8 * work_between(m, 1, 16), v = 8 * work_between(m, 1, 16);
	bool causal = work_maybe(m);
	struct work_array out;
	pb more = { 0 };
	char json[512];

	k = causal ? q : work_between(m, 1, 300);
	out = work_array(BF16, 4, b, q, h, v);
	p->w.opcode = "custom-call";
	p->w.flops = 2 * b * h * (causal ? q * (q + 1) / 2 : q * k) * (e + v);
	p->w.math = "bf16";
	p->w.bytes = 2 * b * h * (q * e + k * e + k * v + q * v);
	work_reads(p, work_array(BF16, 4, b, q, h, e));
	work_reads(p, work_array(BF16, 4, b, k, h, e));
	work_reads(p, work_array(BF16, 4, b, k, h, v));
	snprintf(json, sizeof json,
		"{\"cudnn_fmha_backend_config\":{\"fmha_scale\":0.125,\"mask_type\":\"%s\",\"intermediate_tensor_shape\":{\"element_type\":\"BF16\","
	         "\"dimensions\":[\"%lld\",\"%lld\",\"%lld\",\"%lld\"]},\"sliding_window_length\":0}}",
	         causal ? "CAUSAL" : "NO_MASK", (long long)b, (long long)h, (long long)q, (long long)k);
	pb_str(&more, 28, "__cudnn$fmhaSoftmax");
	pb_str(&more, 43, json);
	work_stands(p, &out, true, &more);
}
