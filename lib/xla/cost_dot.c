/* cost_dot.c -- floating-point operations of dots, convolutions and attention, and the arithmetic that they use. */
#include "xla/cost.h"

/* Maximum of taps that are counted one by one, for all convolutions of a dump: real ones have a few hundred. */
enum { TAPS_MAX = 1 << 22 };

struct nsx_str
nsx_hlo_math_name(enum nsx_hlo_math m)
{
	static const struct nsx_str names[] = {
		[NSX_HLO_F64] = { "f64", 3 }, [NSX_HLO_F32] = { "f32", 3 }, [NSX_HLO_TF32] = { "tf32", 4 },
		[NSX_HLO_BF16] = { "bf16", 4 },
		[NSX_HLO_F16] = { "f16", 3 }, [NSX_HLO_S8] = { "s8", 2 }, [NSX_HLO_F8] = { "f8", 2 },
		[NSX_HLO_F4] = { "f4", 2 }
	};

	return names[m];
}

/* ---- the arithmetic */

/* The class of an operand's type, as the first letter of its arithmetic; of PrimitiveType. */
enum family { NO_FAMILY, IS_F4, IS_F8, IS_SMALL, IS_F64, IS_F32, IS_INT, IS_BF16, IS_F16 };

static enum family
family(int32_t type)
{
	static const unsigned char families[] = {
		[1] = IS_SMALL, [2] = IS_SMALL, [3] = IS_INT, [4] = IS_INT, [5] = IS_INT, [6] = IS_SMALL, [7] = IS_INT,
		[8] = IS_INT, [9] = IS_INT,
		[10] = IS_F16, [11] = IS_F32, [12] = IS_F64, [15] = IS_F32, [16] = IS_BF16, [18] = IS_F64, [19] = IS_F8,
		[20] = IS_F8,
		[21] = IS_SMALL, [22] = IS_SMALL, [23] = IS_F8, [24] = IS_F8, [25] = IS_F8, [26] = IS_SMALL,
		[27] = IS_SMALL, [28] = IS_F8,
		[29] = IS_F8, [30] = IS_SMALL, [31] = IS_SMALL, [32] = IS_F4, [33] = IS_F8
	};

	return (uint32_t)type < sizeof families ? families[type] : NO_FAMILY;
}

/* The arithmetic of a product of a and b; an algorithm that is set takes precedence, and runs *passes times. */
static enum nsx_hlo_math
math_of(const struct nsx_cost_work *w, const struct nsx_cost_leaf *a, const struct nsx_cost_leaf *b, int64_t *passes,
        enum nsx_cost_state *s)
{
	static const struct { unsigned char math, passes; } algorithms[] = {
		[1] = { NSX_HLO_F8, 1 }, [2] = { NSX_HLO_F8, 1 }, [3] = { NSX_HLO_F16, 1 }, [4] = { NSX_HLO_F16, 1 },
		[5] = { NSX_HLO_BF16, 1 },
		[6] = { NSX_HLO_BF16, 1 }, [7] = { NSX_HLO_BF16, 3 }, [8] = { NSX_HLO_BF16, 6 }, [9] = { NSX_HLO_TF32,
			1 }, [10] = { NSX_HLO_TF32, 3 },
		[11] = { NSX_HLO_F32, 1 }, [12] = { NSX_HLO_F64, 1 }, [13] = { NSX_HLO_BF16, 9 }
	};
	enum family x = family(a->type), y = family(b->type);

	*passes = 1;
	if (w->algorithm < 0 || w->algorithm >= (int64_t)(sizeof algorithms / sizeof *algorithms)) {
		nsx_cost_worse(s, NSX_COST_UNKNOWN);
		return NSX_HLO_F32;
	}
	if (w->algorithm) {
		*passes = algorithms[w->algorithm].passes;
		return algorithms[w->algorithm].math;
	}
	if (x == IS_F4 && y == IS_F4)
		return NSX_HLO_F4;
	if (x == NO_FAMILY || y == NO_FAMILY)
		nsx_cost_worse(s, NSX_COST_BAD);
	/* The first type in this list that either of them has. Four bits combined with another type count as that
	 * type. */
	for (int f = IS_F8; f <= IS_F16; f++)
		if ((int)x == f || (int)y == f)
			switch ((enum family)f) {
			case IS_F8:    return NSX_HLO_F8;
			case IS_SMALL: return NSX_HLO_S8;
			case IS_F64:   return NSX_HLO_F64;
			/* cuBLAS and cuDNN round F32 to TF32 unless more precision is requested. */
			case IS_F32:   return w->highest ? NSX_HLO_F32 : NSX_HLO_TF32;
			case IS_BF16:  return NSX_HLO_BF16;
			case IS_F16:   return NSX_HLO_F16;
			default:       return NSX_HLO_F32;
			}
	return NSX_HLO_F32;
}

static struct nsx_cost_flops
none(enum nsx_cost_state s)
{
	return (struct nsx_cost_flops){ 0, NSX_HLO_F32, s };
}

static struct nsx_cost_flops
finish(int64_t multiply_adds, int64_t passes, enum nsx_hlo_math math, enum nsx_cost_state s)
{
	int64_t flops = nsx_cost_mul(nsx_cost_mul(multiply_adds, 2, &s), passes, &s);

	return s == NSX_COST_OK ? (struct nsx_cost_flops){ flops, math, s } : none(s);
}

/* The size of dimension d; -1 if it does not exist. */
static int64_t
size(const struct nsx_cost_graph *g, const struct nsx_cost_leaf *l, int64_t d)
{
	return d >= 0 && d < (int64_t)l->ndims ? g->dims.p[l->dims + d] : -1;
}

/* ---- dots */

struct nsx_cost_flops
nsx_cost_dot(const struct nsx_cost_graph *g, const struct nsx_cost_node *n)
{
	const struct nsx_cost_leaf *out = nsx_cost_first(g, n);
	const struct nsx_cost_leaf *left = nsx_cost_first(g, nsx_cost_operand(g, n, 0)), *right = nsx_cost_first(g,
		nsx_cost_operand(g, n, 1));
	enum nsx_cost_state s = NSX_COST_OK;
	int64_t passes;

	if (!out || !left || !right || n->work == NSX_NONE)
		return none(NSX_COST_BAD);
	const struct nsx_cost_work *w = &g->works.p[n->work];
	int64_t products = out->elements;
	if (w->contracting.n > left->ndims)
		return none(NSX_COST_BAD);
	for (uint32_t i = 0; i < w->contracting.n; i++) {
		int64_t k = size(g, left, g->numbers.p[w->contracting.first + i]);
		if (k < 0)
			return none(NSX_COST_BAD);
		products = nsx_cost_mul(products, k, &s);
	}
	enum nsx_hlo_math math = math_of(w, left, right, &passes, &s);
	return finish(products, passes, math, s);
}

/* ---- convolutions */

typedef __int128 wide;

static int64_t
gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;
		a = b;
		b = r;
	}
	return a;
}

static wide
floor_div(wide a, wide b)
{
	return a / b - (a % b < 0);
}

/* x with a x = 1 modulo m, of coprime a and m. */
static int64_t
inverse(int64_t a, int64_t m)
{
	wide r0 = m, r1 = a % m, t0 = 0, t1 = 1;

	while (r1) {
		wide q = r0 / r1, r = r0 - q * r1, t = t0 - q * t1;
		r0 = r1; r1 = r;
		t0 = t1; t1 = t;
	}
	return (int64_t)(t0 < 0 ? t0 + m : t0);
}

/* For each tap, the outputs o with o * stride = -c modulo base are every base / gcd(stride, base)-th one; those between
 * the first and the last whose element is within the input are counted. If there are fewer outputs than taps the two
 * are exchanged: o * stride + tap * dilation is the same sum. */
int64_t
nsx_cost_pairs(int64_t input, int64_t taps, int64_t outputs, const int64_t *window, int64_t *steps,
               enum nsx_cost_state *s)
{
	int64_t along = window[NSX_COST_W_STRIDE], across = window[NSX_COST_W_DILATION], base = window[NSX_COST_W_BASE];
	wide sum = 0;

	if (outputs < taps) {
		int64_t t = taps;
		taps = outputs;
		outputs = t;
		t = along;
		along = across;
		across = t;
	}
	if (along < 1 || base < 1)
		nsx_cost_worse(s, NSX_COST_BAD);
	if (along < 1 || base < 1 || !taps || !input)
		return 0;
	if (taps > TAPS_MAX - *steps) {
		nsx_cost_worse(s, NSX_COST_OVERFLOW);
		return 0;
	}
	*steps += taps;
	int64_t g = gcd(along, base), every = base / g, turn = inverse(along / g % every, every);
	for (int64_t k = 0; k < taps; k++) {
		wide c = (wide)k * across - window[NSX_COST_W_LOW];
		wide first = -floor_div(c, along), last = floor_div((wide)(input - 1) * base - c, along);
		if (first < 0)
			first = 0;
		if (last > outputs - 1)
			last = outputs - 1;
		wide rest = c % base < 0 ? c % base + base : c % base;
		if (rest % g || last < first)
			continue;
		/* The smallest valid o, then the number of valid ones from there on. */
		wide o = (base - rest) / g % every * turn % every;
		wide at = first + ((o - first) % every + every) % every;
		if (at <= last)
			sum += (last - at) / every + 1;
	}
	if (sum > INT64_MAX) {
		nsx_cost_worse(s, NSX_COST_OVERFLOW);
		return 0;
	}
	return (int64_t)sum;
}

/* The three sides of the forward convolution. */
struct sides { const struct nsx_cost_leaf *input, *kernel, *output; };

static bool
complete(const struct nsx_cost_work *w, const struct sides *c, uint32_t spatial)
{
	return w->kernel.n == spatial && w->output.n == spatial && w->window.n == spatial * NSX_COST_W_NUMBERS &&
	       c->input->ndims == spatial + 2 &&
	       c->kernel->ndims == spatial + 2 && c->output->ndims == spatial + 2 && w->feature_groups > 0 &&
	       w->batch_groups > 0;
}

static int64_t
multiply_adds(struct nsx_cost_graph *g, const struct nsx_cost_work *w, const struct sides *c, enum nsx_cost_state *s)
{
	int64_t features = size(g, c->input, w->input_feature), batch = size(g, c->input, w->input_batch);
	int64_t out_features = size(g, c->output, w->output_feature);
	const int64_t *numbers = g->numbers.p;

	if (features < 0 || batch < 0 || out_features < 0 || !complete(w, c, w->input.n)) {
		nsx_cost_worse(s, NSX_COST_BAD);
		return 0;
	}
	int64_t n = nsx_cost_mul(nsx_cost_mul(features / w->feature_groups, out_features, s), batch / w->batch_groups,
	                         s);
	for (uint32_t i = 0; i < w->input.n; i++) {
		const int64_t *window = numbers + w->window.first + i * NSX_COST_W_NUMBERS;
		int64_t in = size(g, c->input, numbers[w->input.first + i]), taps = size(g, c->kernel,
			numbers[w->kernel.first + i]);
		int64_t out = size(g, c->output, numbers[w->output.first + i]);
		if (in < 0 || taps < 0 || out < 0 || window[NSX_COST_W_STRIDE] <= 0 || window[NSX_COST_W_DILATION] <=
		    0 || window[NSX_COST_W_BASE] <= 0) {
			nsx_cost_worse(s, NSX_COST_BAD);
			return 0;
		}
		n = nsx_cost_mul(n, nsx_cost_pairs(in, taps, out, window, &g->taps, s), s);
	}
	return n;
}

struct nsx_cost_flops
nsx_cost_convolution(struct nsx_cost_graph *g, const struct nsx_cost_node *n)
{
	const struct nsx_cost_leaf *result = nsx_cost_first(g, n);
	const struct nsx_cost_leaf *a = nsx_cost_first(g, nsx_cost_operand(g, n, 0)), *b = nsx_cost_first(g,
		nsx_cost_operand(g, n, 1));
	enum nsx_cost_state s = NSX_COST_OK;
	int64_t passes;

	if (!result || !a || !b || n->work == NSX_NONE)
		return none(NSX_COST_BAD);
	const struct nsx_cost_work *w = &g->works.p[n->work];
	struct sides c = { a, b, result };
	if (w->custom.target == NSX_COST_CONV_INPUT)
		c = (struct sides){ result, b, a };
	else if (w->custom.target == NSX_COST_CONV_FILTER)
		c = (struct sides){ a, result, b };
	int64_t products = multiply_adds(g, w, &c, &s);
	enum nsx_hlo_math math = math_of(w, a, b, &passes, &s);
	return finish(products, passes, math, s);
}

/* ---- attention */

/* Pairs of a query and a key that are not masked, for one head. */
static int64_t
unmasked(int64_t q, int64_t k, int64_t window, bool causal, enum nsx_cost_state *s)
{
	int64_t m = window > 0 && window < k ? window : k;

	if (!causal)
		return nsx_cost_mul(q, m, s);
	/* Query i uses min(i + 1, m) keys: one more for each query up to the m-th, then m. */
	int64_t rising = q < m ? q : m;
	wide n = (wide)rising * ((wide)rising + 1) / 2 + (wide)(q - rising) * m;
	if (n > INT64_MAX) {
		nsx_cost_worse(s, NSX_COST_OVERFLOW);
		return 0;
	}
	return (int64_t)n;
}

static struct nsx_cost_flops
attention_flops(const struct nsx_cost_graph *g, const struct nsx_cost_node *n)
{
	const struct nsx_cost_leaf *query = nsx_cost_first(g, nsx_cost_operand(g, n, 0)), *key = nsx_cost_first(g,
		nsx_cost_operand(g, n, 1));
	const struct nsx_cost_leaf *values = nsx_cost_first(g, nsx_cost_operand(g, n, 2));
	enum nsx_cost_state s = NSX_COST_OK;
	int64_t passes;

	if (!query || !key || !values || !query->ndims || !values->ndims || n->work == NSX_NONE)
		return none(NSX_COST_BAD);
	const struct nsx_cost_work *w = &g->works.p[n->work];
	if (w->scores.n != 4)
		return none(NSX_COST_BAD);
	const int64_t *d = g->numbers.p + w->scores.first;
	if (d[0] < 0 || d[1] < 0 || d[2] < 0 || d[3] < 0)
		return none(NSX_COST_BAD);
	int64_t e = g->dims.p[query->dims + query->ndims - 1], v = g->dims.p[values->dims + values->ndims - 1];
	int64_t pairs = nsx_cost_mul(nsx_cost_mul(d[0], d[1], &s), unmasked(d[2], d[3], w->sliding_window, w->causal,
		&s), &s);
	/* Backward: QK' is computed again, and each of the two products has two gradients. */
	int64_t each = w->custom.backward ? nsx_cost_add(nsx_cost_mul(3, e, &s), nsx_cost_mul(2, v, &s), &s)
	    : nsx_cost_add(e, v, &s);
	enum nsx_hlo_math math = w->custom.f8 ? NSX_HLO_F8 : math_of(w, query, key, &passes, &s);
	return finish(nsx_cost_mul(pairs, each, &s), 1, math, s);
}

struct nsx_cost_flops
nsx_cost_custom(struct nsx_cost_graph *g, const struct nsx_cost_node *n)
{
	enum nsx_cost_target target = n->work == NSX_NONE ? NSX_COST_NO_TARGET : g->works.p[n->work].custom.target;

	switch (target) {
	case NSX_COST_GEMM:         return nsx_cost_dot(g, n);
	case NSX_COST_CONV_FORWARD:
	case NSX_COST_CONV_INPUT:
	case NSX_COST_CONV_FILTER:  return nsx_cost_convolution(g, n);
	case NSX_COST_ATTENTION:    return attention_flops(g, n);
	default:                    return none(NSX_COST_UNKNOWN);
	}
}
