/* costs_fusion.c -- the bytes and the arithmetic of fusions: elements touched one by one, and the definition walked down from the results; results in place, calls, and instructions that are not fusions. */
#include "work.h"

enum { NODES_MAX = 40, OUTPUTS_MAX = 4 };

/* ---- fusions of which every element knows what it is made of
 *
 * Trees of operations on matrices, each read by one other: then the elements needed are those touched, which are counted one by one. */

enum what { PARAM, UNARY, BINARY, SLICE, REVERSE, TRANSPOSE, RESHAPE, REDUCE, WHATS };

struct matrix {
	enum what what;
	int64_t   rows, cols;
	int       a, b;                       /* what it reads */
	int64_t   low[2], step[2];            /* of a slice */
	int       id;
};

struct tree { struct matrix m[NODES_MAX]; int n; int64_t vector; int params; };

static const char *
dims_of(const struct matrix *m)
{
	int64_t d[2] = { m->rows, m->cols };

	return list(d, m->what == REDUCE ? 1 : 2);
}

/* A tree of the given shape, built from its result down; the number of its node. */
static int
grow(struct tree *t, int depth, int64_t rows, int64_t cols)
{
	struct matrix m = { .what = (enum what)(depth && t->n < NODES_MAX - 4 ? any(RESHAPE + 1) : PARAM), .rows = rows, .cols = cols, .a = -1, .b = -1 };
	int64_t up[2];

	if (m.what == TRANSPOSE) {
		m.a = grow(t, depth - 1, cols, rows);
	} else if (m.what == RESHAPE) {
		m.a = grow(t, depth - 1, rows * cols, 1);
	} else if (m.what == SLICE) {
		for (int i = 0; i < 2; i++) {
			int64_t have = i ? cols : rows;
			m.low[i] = any(3);
			m.step[i] = between(1, 2);
			up[i] = m.low[i] + (have - 1) * m.step[i] + 1 + any(3);
		}
		m.a = grow(t, depth - 1, up[0], up[1]);
	} else if (m.what != PARAM) {
		m.a = grow(t, depth - 1, rows, cols);
		if (m.what == BINARY)
			m.b = grow(t, depth - 1, rows, cols);
	}
	t->params += m.what == PARAM;
	t->vector += m.what == UNARY || m.what == BINARY ? rows * cols : 0;
	t->m[t->n] = m;
	return t->n++;
}

/* Mark the elements from which element (r, c) of node i is computed. touched: by node, its elements. */
static void
touch(const struct tree *t, int i, int64_t r, int64_t c, bool *touched[])
{
	const struct matrix *m = &t->m[i];

	switch (m->what) {
	case PARAM:
		touched[i][r * m->cols + c] = true;
		break;
	case UNARY:
		touch(t, m->a, r, c, touched);
		break;
	case BINARY:
		touch(t, m->a, r, c, touched);
		touch(t, m->b, r, c, touched);
		break;
	case SLICE:
		touch(t, m->a, m->low[0] + r * m->step[0], m->low[1] + c * m->step[1], touched);
		break;
	case REVERSE:
		touch(t, m->a, m->rows - 1 - r, c, touched);
		break;
	case TRANSPOSE:
		touch(t, m->a, c, r, touched);
		break;
	case RESHAPE:
		touch(t, m->a, r * m->cols + c, 0, touched);
		break;
	default:
		for (int64_t k = 0; k < t->m[m->a].cols; k++)
			touch(t, m->a, r, k, touched);
	}
}

static int64_t
touched_bytes(const struct tree *t, int root)
{
	bool *touched[NODES_MAX];
	int64_t n = 0;

	for (int i = 0; i < t->n; i++)
		touched[i] = calloc((size_t)(t->m[i].rows * t->m[i].cols), sizeof **touched);
	for (int64_t r = 0; r < t->m[root].rows; r++)
		for (int64_t c = 0; c < t->m[root].cols; c++, n++)
			touch(t, root, r, c, touched);
	for (int i = 0; i < t->n; i++) {
		for (int64_t k = 0; k < t->m[i].rows * t->m[i].cols; k++)
			n += touched[i][k];
		free(touched[i]);
	}
	return 4 * n;
}

/* Module m with a fusion `f` of computation 7, whose parameters the entry computation has. */
static pb
fused(pb *body, int64_t root, int params, const char *const dims[], const int *kinds, pb *result)
{
	pb m = module(1), c = computation("main"), f = inst("f", "fusion", 1000, "");
	int64_t ids[NODES_MAX];

	close_with_root(&m, body, 7, root, true);
	for (int i = 0; i < params; i++) {
		ids[i] = i + 1;
		parameter(&c, i + 1, i, kinds ? kinds[i] : F32, dims[i]);
	}
	pb_packed(&f, 36, list(ids, params));
	pb_msg(&f, 3, result);
	call(&f, "7");
	add(&c, &f);
	close_with_root(&m, &c, 1, 1000, false);
	return m;
}

static const char *
tree_cost(const struct tree *t, int root)
{
	static const char *const names[] = { [UNARY] = "negate", [BINARY] = "add", [SLICE] = "slice", [REVERSE] = "reverse", [TRANSPOSE] = "transpose",
		[RESHAPE] = "reshape", [REDUCE] = "reduce" };
	static char shapes[NODES_MAX][32];
	const char *dims[NODES_MAX];
	pb body = computation("fused"), result = shape(F32, dims_of(&t->m[root]), 0, 0);
	int params = 0;

	op(&body, "constant", 500, "", F32, "");
	for (int i = 0; i < t->n; i++) {
		const struct matrix *m = &t->m[i];
		int64_t operands[3] = { m->a + 1, m->b >= 0 ? m->b + 1 : 500 };
		if (m->what == PARAM) {
			snprintf(shapes[params], sizeof *shapes, "%s", dims_of(m));
			dims[params] = shapes[params];
			parameter(&body, i + 1, params++, F32, dims_of(m));
			continue;
		}
		pb x = shaped("x", names[m->what], i + 1, list(operands, m->b >= 0 || m->what == REDUCE ? 2 : 1), F32, dims_of(m), 0);
		if (m->what == REDUCE)
			call(&x, "9");
		add(&body, &x);
	}
	pb m = fused(&body, root + 1, params, dims, NULL, &result);
	scalar_computation(&m, 9, 1);
	return cost_of(&m, "f");
}

static void
test_touched(void)
{
	char want[128] = "";
	const char *got = "";
	int n = 0;

	for (; n < 500; n++) {
		struct tree t = { .n = 0 };
		int64_t rows = between(1, 4), cols = between(1, 4);
		int root = grow(&t, (int)between(1, 5), rows, cols);
		if (n % 2) {
			/* The sum of each row. */
			t.m[t.n] = (struct matrix){ .what = REDUCE, .rows = rows, .cols = 1, .a = root, .b = -1 };
			t.vector += rows * cols - rows;
			root = t.n++;
		}
		snprintf(want, sizeof want, "0 - %" PRId64 " %" PRId64, t.vector, touched_bytes(&t, root));
		got = tree_cost(&t, root);
		if (strcmp(want, got) != 0)
			break;
	}
	is_str(got, want, "random trees: elements touched one by one (%d)", n);
	is_int(n, 500, "500 trees");
}

/* ---- any graph: the definition, from the results down, read by read */

struct made {
	char    opcode[24];
	int64_t elements;
	int     operands[6], n;
	bool    bitcast, reached;
	int     type;
};

struct graph { struct made m[NODES_MAX]; int n, outputs[OUTPUTS_MAX], noutputs; int64_t vector; };

static int
through(const struct graph *g, int i)
{
	while (g->m[i].bitcast)
		i = g->m[i].operands[0];
	return i;
}

static bool
is(const struct made *m, const char *opcode)
{
	return strcmp(m->opcode, opcode) == 0;
}

static bool
in_place(const struct graph *g, int i)
{
	return (is(&g->m[i], "dynamic-update-slice") || is(&g->m[i], "scatter")) && is(&g->m[through(g, g->m[i].operands[0])], "parameter");
}

static int64_t
min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Whether a result is made of node i; then a node that reads it in its turn asks for something, be it nothing. */
static void
reach(struct graph *g, int i)
{
	if (g->m[i].reached)
		return;
	g->m[i].reached = true;
	for (int k = 0; k < g->m[i].n; k++)
		reach(g, g->m[i].operands[k]);
}

/* How many elements of x are needed: as outputs, and by each that reads it. */
static int64_t
need(const struct graph *g, int x)
{
	int64_t all = g->m[x].elements, sum = 0;

	for (int i = 0; i < g->noutputs; i++)
		if (g->outputs[i] == x)
			return all;
	for (int u = x + 1; u < g->n; u++) {
		const struct made *m = &g->m[u];
		if (!m->reached)
			continue;
		for (int k = 0; k < m->n; k++) {
			if (m->operands[k] != x)
				continue;
			bool updated = false;
			for (int i = 0; i < g->noutputs; i++)
				updated |= through(g, g->outputs[i]) == u && in_place(g, u);
			if (k == 0 && (is(m, "dynamic-update-slice") || is(m, "scatter")))
				sum += updated ? 0 : need(g, u);
			else if (k == 0 && (is(m, "slice") || is(m, "dynamic-slice") || is(m, "gather")))
				sum += need(g, u);
			else if ((k == 1 && is(m, "dynamic-update-slice")) || is(m, "broadcast") || is(m, "concatenate") || (k == 0 && is(m, "pad")))
				sum += min(need(g, u), all);
			else if ((m->bitcast || is(m, "add") || is(m, "select") || is(m, "exponential") || is(m, "copy")) && m->elements == all)
				sum += need(g, u);
			else if (is(m, "reduce") && k == 0)
				sum += need(g, u) * (all / m->elements);
			else
				sum += all;
		}
	}
	return min(sum, all);
}

static int64_t
definition(struct graph *g)
{
	int64_t bytes = 0;

	for (int i = 0; i < g->noutputs; i++)
		reach(g, g->outputs[i]);
	for (int i = 0; i < g->noutputs; i++) {
		const struct made *m = &g->m[through(g, g->outputs[i])];
		if (in_place(g, through(g, g->outputs[i])))
			bytes += 4 * (is(m, "scatter") ? 2 * g->m[m->operands[2]].elements : g->m[m->operands[1]].elements);
		else
			bytes += 4 * g->m[g->outputs[i]].elements;
	}
	for (int i = 0; i < g->n; i++)
		if (is(&g->m[i], "parameter") || (is(&g->m[i], "constant") && g->m[i].elements > 1))
			bytes += 4 * need(g, i);
	return bytes;
}

static int
push(struct graph *g, const char *opcode, int64_t elements, int n, const int *operands)
{
	struct made *m = &g->m[g->n];

	*m = (struct made){ .elements = elements, .n = n, .bitcast = strcmp(opcode, "bitcast") == 0 };
	snprintf(m->opcode, sizeof m->opcode, "%s", opcode);
	for (int i = 0; i < n; i++)
		m->operands[i] = operands[i];
	if (is(m, "add") || is(m, "select") || is(m, "exponential"))
		g->vector += elements;
	else if (is(m, "reduce"))
		g->vector += g->m[operands[0]].elements - elements;
	else if (is(m, "scatter"))
		g->vector += g->m[operands[2]].elements;
	return g->n++;
}

/* An operation on existing nodes. */
static void
one_more(struct graph *g, int scalar)
{
	int a = any(g->n), b = any(g->n), i = any(11);
	int64_t n = g->m[a].elements, m = g->m[b].elements;

	switch (i) {
	case 0:  push(g, "slice", between(1, (int)n), 1, &a); break;
	case 1:  push(g, "dynamic-slice", between(1, (int)n), 2, (int[]){ a, scalar }); break;
	case 2:  push(g, "broadcast", n * between(1, 3), 1, &a); break;
	case 3:  push(g, "concatenate", n + m, 2, (int[]){ a, b }); break;
	case 4:  push(g, "pad", n + any(4), 2, (int[]){ a, scalar }); break;
	case 5:  push(g, "gather", between(1, 9), 2, (int[]){ a, b }); break;
	case 6:  n % 2 == 0 ? push(g, "reduce", n / 2, 2, (int[]){ a, scalar }) : push(g, "exponential", n, 1, &a); break;
	case 7:  push(g, "bitcast", n, 1, &a); break;
	case 8:  push(g, m <= n ? "dynamic-update-slice" : "copy", n, m <= n ? 3 : 1, (int[]){ a, b, scalar }); break;
	case 9:  push(g, "scatter", n, 3, (int[]){ a, scalar, b }); break;
	default: push(g, n == m ? "add" : "select", n, n == m ? 2 : 3, n == m ? (int[]){ a, b } : (int[]){ scalar, a, a }); break;
	}
}

/* The graph's nodes in any order that order[] gives. */
static const char *
graph_cost(const struct graph *g, const int64_t *order)
{
	static char shapes[NODES_MAX][32];
	const char *dims[NODES_MAX];
	pb body = computation("fused"), result = { 0 };
	int params = 0;
	int64_t ids[6];

	for (int i = 0; i < g->n; i++)
		if (is(&g->m[i], "parameter")) {
			snprintf(shapes[params], sizeof *shapes, "%s", list(&g->m[i].elements, 1));
			dims[params] = shapes[params];
			params++;
		}
	for (int k = 0; k < g->n; k++) {
		int i = (int)order[k], number = 0;
		const struct made *m = &g->m[i];
		pb x = shaped("x", m->opcode, i + 1, "", F32, list(&m->elements, 1), 0);
		for (int o = 0; o < m->n; o++)
			ids[o] = m->operands[o] + 1;
		pb_packed(&x, 36, list(ids, m->n));
		for (int o = 0; o < i; o++)
			number += is(&g->m[o], "parameter");
		if (is(m, "parameter"))
			pb_int(&x, 9, number);
		if (is(m, "reduce") || is(m, "scatter"))
			call(&x, "9");
		add(&body, &x);
	}
	pb_int(&result, 2, TUPLE);
	for (int i = 0; i < g->noutputs; i++) {
		pb part = shape(F32, list(&g->m[g->outputs[i]].elements, 1), 0, 0);
		ids[i] = g->outputs[i] + 1;
		pb_msg(&result, 4, &part);
	}
	pb t = inst("t", "tuple", 900, list(ids, g->noutputs)), again = { 0 };
	nsx_buf_add(&again, result.ptr, result.len);
	pb_msg(&t, 3, &again);
	add(&body, &t);
	pb m = fused(&body, 900, params, dims, NULL, &result);
	scalar_computation(&m, 9, 1);
	return cost_of(&m, "f");
}

static void
test_definition(void)
{
	char want[128] = "", first[128] = "";
	const char *got = "";
	int n = 0;

	for (; n < 600; n++) {
		struct graph g = { .n = 0 };
		int64_t order[NODES_MAX];
		int scalar = push(&g, "parameter", 1, 0, NULL);
		for (int i = (int)between(1, 4); i > 0; i--)
			push(&g, any(5) ? "parameter" : "constant", between(1, 24), 0, NULL);
		for (int i = (int)between(1, 14); i > 0; i--)
			one_more(&g, scalar);
		for (g.noutputs = 0; g.noutputs < (int)between(1, OUTPUTS_MAX);)
			g.outputs[g.noutputs++] = g.n - 1 - any(min(g.n, 4));
		snprintf(want, sizeof want, "0 - %" PRId64 " %" PRId64, g.vector, definition(&g));
		for (int i = 0; i < g.n; i++)
			order[i] = i;
		got = graph_cost(&g, order);
		if (strcmp(want, got) != 0)
			break;
		snprintf(first, sizeof first, "%s", got);
		shuffled(g.n, order);
		got = graph_cost(&g, order);
		if (strcmp(first, got) != 0)
			break;
	}
	is_str(got, want, "random graphs: the result of the definition, for any order of instructions (%d)", n);
	is_int(n, 600, "600 graphs");
}

int
main(void)
{
	test_touched();
	test_definition();
	reset();
	return done();
}
