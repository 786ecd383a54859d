/* x26_dump.c -- the computations of a program of --xla26 as its dump has them. Fusions have equal computations where
 * the plan requires that, and otherwise operations in distinct orders. */
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "x26.h"

enum { PRED = 1, S32 = 4, F32 = 11, TUPLE = 13, HOST = 5 };

/* A shape in the host's memory. */
static pb
on_host(struct syn_shape s)
{
	pb out = { 0 }, dims = { 0 }, order = { 0 }, layout = { 0 };

	pb_int(&out, 2, s.type);
	for (int i = 0; i < s.ndim; i++) {
		pb_raw(&dims, (uint64_t)s.dim[i]);
		pb_raw(&order, (uint64_t)(s.ndim - 1 - i));
	}
	dump_msg(&out, 3, &dims);
	dump_msg(&layout, 1, &order);
	pb_int(&layout, 8, HOST);
	dump_msg(&out, 5, &layout);
	return out;
}

static struct syn_shape
six(struct syn_shape s)
{
	s.dim[0] *= 6;
	return s;
}

static pb
shape_of(struct syn_shape s, bool host)
{
	return host ? on_host(s) : dump_shape(s);
}

static int64_t
parameter(struct dump *d, struct dump_comp *c, int number, pb shape)
{
	struct dump_inst i = dump_new(syn_fmt(d->p, "param_%d.%u", number, c->home), "parameter");

	i.shape = shape;
	if (number)
		pb_int(&i.extra, 9, number);
	return dump_put(d, c, &i);
}

static int64_t
unary(struct dump *d, struct dump_comp *c, const char *opcode, int k, struct syn_shape shape, int64_t operand)
{
	struct dump_inst i = dump_new(syn_fmt(d->p, "%s.%u.%d", opcode, c->home, k), opcode);

	i.shape = dump_shape(shape);
	syn_add(&i.operands, operand);
	return dump_put(d, c, &i);
}

/* param -> dynamic-slice -> copy, or param, update -> copy, dynamic-update-slice. */
static int64_t
slices(struct dump *d, struct dump_comp *c, const struct syn_inst *f)
{
	const struct syn_inst *in = &d->pr->inst.p[f->inside];
	bool out = f->host == 2;
	int64_t whole = parameter(d, c, 0, shape_of(six(f->in[0]), f->host != 0)), part = 0, index;
	struct dump_inst s = dump_new(syn_fmt(d->p, "%s.%u", out ? "dynamic-update-slice" : "dynamic-slice", c->home), out ? "dynamic-update-slice" : "dynamic-slice");
	struct dump_inst k = dump_new(in->name, "copy");

	if (out)
		part = parameter(d, c, 1, dump_shape(f->in[0]));
	index = parameter(d, c, 1 + out, dump_shape((struct syn_shape){ S32, 0, { 0 } }));
	k.id = dump_id(d, f->inside);
	k.shape = dump_shape(f->in[0]);
	dump_meta(d, &s, f);
	if (out) {
		syn_add(&k.operands, part);
		part = dump_put(d, c, &k);
	}
	s.shape = shape_of(out ? six(f->in[0]) : f->in[0], out);
	syn_add(&s.operands, whole);
	if (out)
		syn_add(&s.operands, part);
	syn_add(&s.operands, index);
	if (out)
		return dump_put(d, c, &s);
	syn_add(&k.operands, dump_put(d, c, &s));
	return dump_put(d, c, &k);
}

/* Ten operations that encode the fusion's number. */
static int64_t
fused(struct dump *d, struct dump_comp *c, const struct syn_inst *f)
{
	static const char *const opcodes[] = { "negate", "exponential", "tanh", "sine" };
	int64_t at = parameter(d, c, 0, dump_shape(f->in[0])), n = f->same;

	for (int k = 0; k < 10; k++, n /= 4)
		at = unary(d, c, opcodes[n % 4], k, f->in[0], at);
	if (f->pools) {
		struct dump_inst i = dump_new(syn_fmt(d->p, "reduce-window.%u", c->home), "reduce-window");

		i.shape = dump_shape(f->out);
		dump_meta(d, &i, f);
		for (uint32_t h = 0; h < d->pr->home.n; h++)
			if (d->pr->home.p[h].kind == SYN_REDUCER)
				i.calls[0] = h;
		syn_add(&i.operands, at);
		at = dump_put(d, c, &i);
	}
	return at;
}

static pb
tuple_of(pb a, pb b)
{
	pb t = { 0 };

	pb_int(&t, 2, TUPLE);
	dump_msg(&t, 4, &a);
	dump_msg(&t, 4, &b);
	return t;
}

/* (to, from, context) */
static pb
copy_start(pb to, pb from)
{
	pb t = tuple_of(to, from), context = dump_shape((struct syn_shape){ 8, 0, { 0 } });

	dump_msg(&t, 4, &context);
	return t;
}

pb
dump_transfer(const struct syn_inst *in)
{
	pb to = shape_of(in->out, in->host == 2);

	return strcmp(in->opcode, "copy-start") == 0 ? copy_start(to, shape_of(in->in[0], in->host == 1)) : to;
}

static const char *
target_of(struct dump *d, uint32_t n)
{
	for (size_t i = 0; i < d->pr->tree->step.n; i++)
		if (d->pr->tree->step.p[i].inst == n && strcmp(d->pr->tree->step.p[i].listed, "kSelectK") == 0)
			return "__gpu$TopK";
	return "__cublas$lt$matmul";
}

/* Instruction n of the plan, of any kind. */
static int64_t
planned(struct dump *d, struct dump_comp *c, uint32_t n)
{
	const struct syn_inst *in = &d->pr->inst.p[n];
	struct dump_inst i = dump_new(in->name, in->opcode);

	i.id = dump_id(d, n);
	i.shape = shape_of(in->host == 2 && in->inside != SYN_NONE ? six(in->out) : in->out, in->host == 2);
	if (strcmp(in->opcode, "copy-start") == 0)
		i.shape = copy_start(i.shape, shape_of(in->in[0], in->host == 1));
	dump_meta(d, &i, in);
	i.calls[0] = in->calls[0];
	i.calls[1] = in->calls[1];
	if (in->what == SYN_DONE) {
		syn_add(&i.operands, d->start[in->start]);
		return dump_put(d, c, &i);
	}
	if (in->collective) {
		pb payload = { 0 };

		dump_groups(d, &i.extra, in);
		pb_str(&payload, 1, in->what == SYN_SYNC ? "{\"collective_backend_config\":{\"is_sync\":true}}" : "{\"collective_backend_config\":{\"is_sync\":false}}");
		if (!in->wrapper)
			dump_msg(&i.extra, 99, &payload);
		nsx_buf_free(&payload);
		if (strcmp(in->opcode, "all-gather-start") == 0) {
			nsx_buf_free(&i.shape);
			i.shape = tuple_of(dump_shape(in->in[0]), dump_shape(in->in[0]));
		}
	} else if (strcmp(in->opcode, "custom-call") == 0) {
		pb_str(&i.extra, 28, target_of(d, n));
	} else if (strcmp(in->opcode, "fusion") == 0) {
		pb_str(&i.extra, 11, in->inside != SYN_NONE ? "kCustom" : "kLoop");
	}
	if (strcmp(in->opcode, "partition-id") != 0) {
		struct dump_inst whole = dump_new(syn_fmt(d->p, "bitcast.%u", n), "bitcast");
		int64_t operand;

		/* Its operand has its shape. */
		whole.shape = in->inside != SYN_NONE ? shape_of(six(in->in[0]), in->host != 0) : shape_of(in->in[0], in->host == 1);
		syn_add(&whole.operands, c->param);
		operand = dump_put(d, c, &whole);
		syn_add(&i.operands, operand);
		if (in->host == 2 && in->inside != SYN_NONE) {
			struct dump_inst part = dump_new(syn_fmt(d->p, "bitcast.%u.1", n), "bitcast");

			part.shape = dump_shape(in->in[0]);
			syn_add(&part.operands, c->param);
			operand = dump_put(d, c, &part);
			syn_add(&i.operands, operand);
		}
	}
	return d->start[n] = dump_put(d, c, &i);
}

/* The async-start around instruction n; its shape is ((operands), result, context). */
static void
wrapper(struct dump *d, struct dump_comp *c, uint32_t n)
{
	const struct syn_inst *in = &d->pr->inst.p[n];
	struct dump_inst i = dump_new(in->wrapper, "async-start");
	pb operands = { 0 }, one = shape_of(in->inside != SYN_NONE ? six(in->in[0]) : in->in[0], in->host != 0);

	pb_int(&operands, 2, TUPLE);
	dump_msg(&operands, 4, &one);
	i.shape = tuple_of(operands, shape_of(in->host == 2 ? six(in->out) : in->out, in->host == 2));
	syn_add(&i.operands, c->param);
	i.calls[0] = in->home;
	d->start[n] = dump_put(d, c, &i);
}

/* A computation whose instructions run. */
static int64_t
running(struct dump *d, struct dump_comp *c)
{
	struct dump_inst root = dump_new(syn_fmt(d->p, "tuple.%u", c->home), "tuple");
	int64_t last;

	c->param = last = parameter(d, c, 0, dump_shape((struct syn_shape){ F32, 2, { 64, 1680 } }));
	for (uint32_t i = 0; i < d->pr->inst.n; i++) {
		const struct syn_inst *in = &d->pr->inst.p[i];

		if (in->what == SYN_BUFFER)
			continue;
		if (in->home == c->home)
			last = planned(d, c, i);
		else if (in->wrapper && d->pr->home.p[in->home].kind == SYN_WRAP && d->pr->home.p[in->home].first == c->home)
			wrapper(d, c, i);
	}
	root.shape = (pb){ 0 };
	pb_int(&root.shape, 2, TUPLE);
	syn_add(&root.operands, last);
	return dump_put(d, c, &root);
}

/* The computation of an async-start: the operands are its parameters. */
static int64_t
wrapped(struct dump *d, struct dump_comp *c, uint32_t n)
{
	c->param = parameter(d, c, 0, dump_shape((struct syn_shape){ F32, 2, { 64, 1680 } }));
	return planned(d, c, n);
}

int64_t
x26_instructions(struct dump *d, struct dump_comp *c)
{
	const struct syn_home *h = &d->pr->home.p[c->home];
	const struct syn_inst *of = &d->pr->inst.p[h->of];

	switch (h->kind) {
	case SYN_FUSED:
		return of->inside != SYN_NONE ? slices(d, c, of) : fused(d, c, of);
	case SYN_WRAP:
		return wrapped(d, c, h->of);
	default:
		return running(d, c);
	}
}
