/* cost_config.c -- the work of custom calls, as described by their backend_config. */
#include "base/json.h"
#include "xla/cost.h"

struct config {
	struct nsx_cost_graph *g;
	struct nsx_cost_work  *w;
	bool                   dot, nomem;
};

/* In the order of PrecisionConfig.Algorithm. */
static const char *const algorithms[] = {
	"ALG_UNSET", "ALG_DOT_ANY_F8_ANY_F8_F32", "ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM", "ALG_DOT_F16_F16_F16",
	"ALG_DOT_F16_F16_F32",
	"ALG_DOT_BF16_BF16_BF16", "ALG_DOT_BF16_BF16_F32", "ALG_DOT_BF16_BF16_F32_X3", "ALG_DOT_BF16_BF16_F32_X6",
	"ALG_DOT_TF32_TF32_F32",
	"ALG_DOT_TF32_TF32_F32_X3", "ALG_DOT_F32_F32_F32", "ALG_DOT_F64_F64_F64", "ALG_DOT_BF16_BF16_F32_X9"
};

static bool
is(struct nsx_str s, const char *word)
{
	return nsx_str_eq(s, nsx_str_c(word));
}

/* Numbers up to the end of the array that was returned last. */
static bool
numbers(struct config *c, struct nsx_json *j, struct nsx_cost_list *out)
{
	enum nsx_json_type t;
	int64_t v;

	*out = (struct nsx_cost_list){ (uint32_t)c->g->numbers.n, 0 };
	while ((t = nsx_json_next(j)) != NSX_JSON_END) {
		if (!nsx_json_int(j, t, &v))
			return false;
		if (!nsx_vec_push(&c->g->numbers, v)) {
			c->nomem = true;
			return false;
		}
		out->n++;
	}
	return true;
}

static bool
is_container(enum nsx_json_type t)
{
	return t == NSX_JSON_OBJECT || t == NSX_JSON_ARRAY;
}

/* Each of these reads the object that was returned last, up to its end. */

static bool
precision(struct config *c, struct nsx_json *j)
{
	enum nsx_json_type t, of;
	int64_t v;

	while ((t = nsx_json_next(j)) != NSX_JSON_END) {
		if (t == NSX_JSON_ARRAY && is(j->key, "operand_precision")) {
			while ((of = nsx_json_next(j)) != NSX_JSON_END) {
				if (of == NSX_JSON_BAD || is_container(of))
					return false;
				c->w->highest |= is(j->value, "HIGHEST") || is(j->value, "2");
			}
		} else if (is(j->key, "algorithm") && nsx_json_int(j, t, &v)) {
			c->w->algorithm = v;
		} else if (is(j->key, "algorithm") && t == NSX_JSON_STRING) {
			c->w->algorithm = -1;
			for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
				if (is(j->value, algorithms[i]))
					c->w->algorithm = (int64_t)i;
		} else if (t == NSX_JSON_BAD || (is_container(t) && !nsx_json_skip(j))) {
			return false;
		}
	}
	return true;
}

static bool
dot_numbers(struct config *c, struct nsx_json *j)
{
	enum nsx_json_type t;

	c->dot = true;
	while ((t = nsx_json_next(j)) != NSX_JSON_END) {
		if (t == NSX_JSON_ARRAY && is(j->key, "lhs_contracting_dimensions")) {
			if (!numbers(c, j, &c->w->contracting))
				return false;
		} else if (t == NSX_JSON_BAD || (is_container(t) && !nsx_json_skip(j))) {
			return false;
		}
	}
	return true;
}

static bool
gemm(struct config *c, struct nsx_json *j)
{
	enum nsx_json_type t;

	while ((t = nsx_json_next(j)) != NSX_JSON_END) {
		bool good = t != NSX_JSON_BAD;
		if (t == NSX_JSON_OBJECT && is(j->key, "dot_dimension_numbers"))
			good = dot_numbers(c, j);
		else if (t == NSX_JSON_OBJECT && is(j->key, "precision_config"))
			good = precision(c, j);
		else if (is_container(t))
			good = nsx_json_skip(j);
		if (!good)
			return false;
	}
	return true;
}

static bool
scores(struct config *c, struct nsx_json *j)
{
	enum nsx_json_type t;

	while ((t = nsx_json_next(j)) != NSX_JSON_END) {
		if (t == NSX_JSON_ARRAY && is(j->key, "dimensions")) {
			if (!numbers(c, j, &c->w->scores))
				return false;
		} else if (t == NSX_JSON_BAD || (is_container(t) && !nsx_json_skip(j))) {
			return false;
		}
	}
	return true;
}

static bool
attention(struct config *c, struct nsx_json *j)
{
	enum nsx_json_type t;
	int64_t v;

	while ((t = nsx_json_next(j)) != NSX_JSON_END) {
		if (t == NSX_JSON_OBJECT && is(j->key, "intermediate_tensor_shape")) {
			if (!scores(c, j))
				return false;
		} else if (is(j->key, "sliding_window_length") && nsx_json_int(j, t, &v)) {
			c->w->sliding_window = v;
		} else if (is(j->key, "mask_type") && !is_container(t)) {
			c->w->causal = is(j->value, "CAUSAL") || is(j->value, "PADDING_CAUSAL");
		} else if (t == NSX_JSON_BAD || (is_container(t) && !nsx_json_skip(j))) {
			return false;
		}
	}
	return true;
}

bool
nsx_cost_config(struct nsx_cost_graph *g, struct nsx_str json, struct nsx_cost_work *w, bool *nomem)
{
	struct config c = { .g = g, .w = w };
	struct nsx_json j = { .text = json };
	enum nsx_json_type t = nsx_json_next(&j);
	bool good = t == NSX_JSON_OBJECT;

	while (good && (t = nsx_json_next(&j)) != NSX_JSON_END) {
		good = t != NSX_JSON_BAD;
		if (t == NSX_JSON_OBJECT && w->custom.target == NSX_COST_GEMM && is(j.key, "gemm_backend_config"))
			good = gemm(&c, &j);
		else if (t == NSX_JSON_OBJECT && w->custom.target == NSX_COST_ATTENTION &&
		         is(j.key, "cudnn_fmha_backend_config"))
			good = attention(&c, &j);
		else if (is_container(t))
			good = nsx_json_skip(&j);
	}
	*nomem |= c.nomem;
	return good && nsx_json_next(&j) == NSX_JSON_END && (w->custom.target == NSX_COST_GEMM ? c.dot
	                                                     : w->scores.n > 0);
}
