/* work_build.c -- construction of a module: random sizes, shapes, instructions, computations. */
#include <stdarg.h>
#include <stdio.h>

#include "work.h"

/* ---- random numbers and sizes */

int64_t
work_between(struct work_module *m, int64_t from, int64_t to)
{
	m->random += 0x9e3779b97f4a7c15ULL;
	return from + (int64_t)(nsx_hash_u64(m->random) % (uint64_t)(to - from + 1));
}

bool
work_maybe(struct work_module *m)
{
	return work_between(m, 0, 1);
}

void
work_shuffled(struct work_module *m, int n, int *out)
{
	for (int i = 0; i < n; i++) {
		int k = (int)work_between(m, 0, i);

		out[i] = out[k];
		out[k] = i;
	}
}

int64_t
work_width(int type)
{
	return type == S8 || type == U8 || type == F8 ? 1 : type == F16 || type == BF16 ? 2 : type == F64 ? 8 : 4;
}

int64_t
work_elements(const struct work_array *a)
{
	int64_t n = 1;

	for (int i = 0; i < a->rank; i++)
		n *= a->dim[i];
	return n;
}

int64_t
work_bytes_of(const struct work_array *a)
{
	return work_width(a->type) * work_elements(a);
}

struct work_array
work_array(int type, int rank, ...)
{
	struct work_array a = { type, rank, { 0 } };
	va_list ap;

	va_start(ap, rank);
	for (int i = 0; i < rank; i++)
		a.dim[i] = va_arg(ap, int64_t);
	va_end(ap);
	return a;
}

/* ---- spelling */

void
work_sub(pb *to, uint32_t field, pb *m)
{
	if (m->failed)
		syn_die("out of memory");
	pb_msg(to, field, m);
}

void
work_packed(pb *to, uint32_t field, const int64_t *v, int n)
{
	pb list = { 0 };

	for (int i = 0; i < n; i++)
		pb_raw(&list, (uint64_t)v[i]);
	if (n)
		work_sub(to, field, &list);
}

/* In a random layout: the same elements in any order. */
pb
work_shape(struct work_module *m, const struct work_array *a)
{
	pb s = { 0 }, layout = { 0 };
	int order[RANK];
	int64_t minor[RANK];

	pb_int(&s, 2, a->type);
	work_packed(&s, 3, a->dim, a->rank);
	work_shuffled(m, a->rank, order);
	for (int i = 0; i < a->rank; i++)
		minor[i] = order[i];
	work_packed(&layout, 1, minor, a->rank);
	work_sub(&s, 5, &layout);
	return s;
}

static int64_t
put(struct work_module *m, struct work_comp *c, const char *name, const char *opcode, pb *shape_of,
    const int64_t *operands, int n, pb *more)
{
	pb i = { 0 };
	int64_t id = ++m->ids;

	pb_str(&i, 1, name);
	pb_str(&i, 2, opcode);
	work_sub(&i, 3, shape_of);
	if (more && more->len)
		nsx_buf_str(&i, nsx_buf_view(more));
	if (more)
		nsx_buf_free(more);
	pb_int(&i, 35, id);
	work_packed(&i, 36, operands, n);
	work_sub(c->body, 2, &i);
	if (c->body == &m->entry)
		syn_add(&m->order, id);
	return id;
}

/* An instruction without further attributes, with a unique name. */
int64_t
work_op(struct work_module *m, struct work_comp *c, const char *opcode, const struct work_array *out, pb *more, int n,
        ...)
{
	char name[64];
	int64_t operands[RANK];
	pb s = work_shape(m, out);
	va_list ap;

	va_start(ap, n);
	for (int i = 0; i < n; i++)
		operands[i] = va_arg(ap, int64_t);
	va_end(ap);
	snprintf(name, sizeof name, "%s.i%lld", opcode, (long long)m->ids + 1);
	return put(m, c, name, opcode, &s, operands, n, more);
}

int64_t
work_parameter(struct work_module *m, struct work_comp *c, const struct work_array *a)
{
	pb number = { 0 };

	pb_int(&number, 9, c->local++);
	return work_op(m, c, "parameter", a, &number, 0);
}

/* Ends computation body, which is emptied; its id. */
int64_t
work_close(struct work_module *m, pb *body, int64_t root, bool fused)
{
	pb c = { 0 };
	int64_t id = 100 + m->computations++;
	char name[64];

	snprintf(name, sizeof name, "computation.%lld", (long long)id);
	pb_str(&c, 1, name);
	nsx_buf_str(&c, nsx_buf_view(body));
	nsx_buf_free(body);
	pb_int(&c, 5, id);
	pb_int(&c, 6, root);
	if (fused)
		pb_int(&c, 7, 1);
	work_sub(&m->callees, 3, &c);
	return id;
}

/* ---- planted instructions: in the entry, reading its parameters */

/* The next operand; its bytes. */
int64_t
work_reads(struct work_plant *p, struct work_array a)
{
	p->operands[p->n++] = work_parameter(p->m, &p->entry, &a);
	return work_bytes_of(&a);
}

/* The instruction itself: out, and if `space` a workspace beside it, which is not required traffic. */
void
work_stands(struct work_plant *p, const struct work_array *out, bool space, pb *more)
{
	pb s = work_shape(p->m, out);

	if (space) {
		struct work_array w = work_array(U8, 1, work_between(p->m, 1, 99999));
		pb t = { 0 }, part = work_shape(p->m, &w);

		pb_int(&t, 2, TUPLE);
		work_sub(&t, 4, &s);
		work_sub(&t, 4, &part);
		s = t;
	}
	put(p->m, &p->entry, p->w.name, p->w.opcode, &s, p->operands, p->n, more);
}

/* A fusion of computation `body`, with root; its operands are parameters of those shapes, created here. */
void
work_fuses(struct work_plant *p, pb *body, int64_t root, const struct work_array *out, const char *kind)
{
	pb more = { 0 };
	int64_t id = work_close(p->m, body, root, true);

	p->w.opcode = "fusion";
	pb_str(&more, 11, kind);
	work_packed(&more, 38, &id, 1);
	work_stands(p, out, false, &more);
}
