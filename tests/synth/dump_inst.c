/* dump_inst.c -- the instructions of a dump, computation by computation, in the form of each generation of XLA. */
#include <stdlib.h>

#include "dump.h"

enum { PRED = 1, S32 = 4, F32 = 11, TUPLE = 13 };

void
dump_msg(pb *to, uint32_t field, pb *m)
{
	if (m->failed)
		syn_die("out of memory");
	pb_msg(to, field, m);
	if (to->failed)
		syn_die("out of memory");
}

pb
dump_shape(struct syn_shape s)
{
	pb out = { 0 }, dims = { 0 }, layout = { 0 }, order = { 0 }, dynamic = { 0 };

	pb_int(&out, 2, s.type);
	for (int i = 0; i < s.ndim; i++) {
		pb_raw(&dims, (uint64_t)s.dim[i]);
		pb_raw(&order, (uint64_t)(s.ndim - 1 - i));
		pb_raw(&dynamic, 0);
	}
	if (s.ndim) {
		dump_msg(&out, 3, &dims);
		dump_msg(&layout, 1, &order);
	}
	pb_int(&layout, 16, 1);
	dump_msg(&out, 5, &layout);
	if (s.ndim)
		dump_msg(&out, 6, &dynamic);
	return out;
}

static pb
tuple(void)
{
	pb t = { 0 };

	pb_int(&t, 2, TUPLE);
	return t;
}

static void
element(pb *t, struct syn_shape s)
{
	pb m = dump_shape(s);

	dump_msg(t, 4, &m);
}

struct dump_inst
dump_new(const char *name, const char *opcode)
{
	return (struct dump_inst){ .name = name, .opcode = opcode, .calls = { SYN_NONE, SYN_NONE } };
}

int64_t
dump_id(const struct dump *d, uint32_t inst)
{
	return d->pr->local_ids ? (int64_t)inst + 1 : d->pr->inst.p[inst].uid;
}

static int64_t
make_id(struct dump *d, struct dump_comp *c)
{
	int64_t local = (int64_t)d->pr->inst.n + 1 + c->local++;

	if (!syn_recent())
		return d->next++;
	return d->pr->local_ids ? local : d->pr->home.p[c->home].id << 32 | local;
}

int64_t
dump_put(struct dump *d, struct dump_comp *c, struct dump_inst *i)
{
	pb m = { 0 }, list = { 0 };
	int64_t id = i->id ? i->id : make_id(d, c);

	pb_str(&m, 1, i->name);
	pb_str(&m, 2, i->opcode);
	if (!i->shape.len)
		i->shape = dump_shape((struct syn_shape){ F32, 0, { 0 } });
	dump_msg(&m, 3, &i->shape);
	dump_msg(&m, 7, &i->meta);
	if (i->extra.len)
		nsx_buf_str(&m, nsx_buf_view(&i->extra));
	nsx_buf_free(&i->extra);
	pb_int(&m, 35, id);
	for (size_t k = 0; k < i->operands.n; k++)
		pb_raw(&list, (uint64_t)i->operands.p[k]);
	if (list.len)
		dump_msg(&m, 36, &list);
	for (int k = 0; k < 2; k++)
		if (i->calls[k] != SYN_NONE)
			pb_raw(&list, (uint64_t)d->pr->home.p[i->calls[k]].id);
	if (list.len)
		dump_msg(&m, 38, &list);
	/* Fields unknown to current readers. */
	pb_str(&m, 1234, "tomorrow");
	free(i->operands.p);
	i->operands.p = NULL;
	i->operands.n = i->operands.cap = 0;
	dump_msg(&c->body, 2, &m);
	syn_add(&c->order, id);
	return id;
}

void
dump_meta(struct dump *d, struct dump_inst *i, const struct syn_inst *in)
{
	const char *scheduled = in->what == SYN_BUFFER ? "" : syn_scheduling_name(d->p, in);
	const char *type = strrchr(in->op_name, '/');

	if (*in->op_name) {
		pb_str(&i->meta, 1, type ? type + 1 : in->op_name);
		pb_str(&i->meta, 2, in->op_name);
	}
	if (in->frame != SYN_NONE) {
		const struct syn_frame *f = &d->p->frame.p[in->frame];

		if (!syn_recent()) {
			pb_str(&i->meta, 3, f->file);
			pb_int(&i->meta, 4, f->line);
		}
		if (strcmp(syn_opt.titles, "early") != 0)
			pb_int(&i->meta, 15, (int64_t)in->frame + 1);
	}
	if (*scheduled)
		pb_str(&i->meta, 16, scheduled);
}

/* ---- participants */

static void
list_groups(pb *to, uint32_t field, const struct syn_groups *g)
{
	size_t from = 0;

	for (size_t k = 0; k < g->end.n; k++) {
		pb group = { 0 }, ids = { 0 };

		for (; from < g->end.p[k]; from++)
			pb_raw(&ids, (uint64_t)g->id.p[from]);
		dump_msg(&group, 1, &ids);
		dump_msg(to, field, &group);
	}
}

/* Numbers in a row of rows x columns, or, across, in a column of columns x rows. */
static pb
iota(int64_t rows, int64_t columns, bool across)
{
	pb m = { 0 }, dims = { 0 }, perm = { 0 };

	pb_int(&m, 1, rows);
	pb_int(&m, 2, columns);
	if (across) {
		pb_raw(&dims, (uint64_t)columns);
		pb_raw(&dims, (uint64_t)rows);
		pb_raw(&perm, 1);
		pb_raw(&perm, 0);
	} else {
		pb_raw(&dims, (uint64_t)(rows * columns));
		pb_raw(&perm, 0);
	}
	dump_msg(&m, 3, &dims);
	dump_msg(&m, 4, &perm);
	return m;
}

static pb
mesh(int64_t rows, int64_t columns, bool across)
{
	pb m = { 0 }, sizes = { 0 }, axis = { 0 };
	const int64_t size[2] = { across ? columns : rows, across ? rows : columns };

	for (int i = 0; i < 2; i++) {
		pb_str(&axis, 1, i ? "model" : "data");
		pb_int(&axis, 2, size[i]);
		dump_msg(&sizes, 1, &axis);
	}
	dump_msg(&m, 1, &sizes);
	if (!across)
		pb_int(&axis, 1, 1);
	dump_msg(&m, 2, &axis);
	return m;
}

void
dump_groups(struct dump *d, pb *to, const struct syn_inst *in)
{
	struct syn_groups g;
	int64_t columns = syn_first_group(d->p, in), rows = (int64_t)d->p->dev.n / columns;
	bool across = in->group == SYN_STRIDE && rows > 1;
	pb m = { 0 }, w;

	syn_groups(d->p, in, &g);
	switch ((enum syn_form)in->form) {
	case SYN_NO_GROUPS:
		break;
	case SYN_ALL_PARTITIONS:
		pb_packed(&m, 1, "0");
		dump_msg(to, 49, &m);
		break;
	case SYN_LIST:
		list_groups(to, 49, &g);
		break;
	case SYN_DEVICE_LIST:
		/* For some time, versions of XLA wrote both. */
		list_groups(to, 49, &g);
		list_groups(&m, 1, &g);
		dump_msg(to, 87, &m);
		break;
	case SYN_DEVICE_IOTA:
		w = iota(rows, columns, across);
		dump_msg(&m, 2, &w);
		dump_msg(to, 87, &m);
		break;
	case SYN_IOTA:
		m = iota(rows, columns, across);
		dump_msg(to, 92, &m);
		break;
	case SYN_MESH:
		m = mesh(rows, columns, across);
		dump_msg(to, 93, &m);
		break;
	case SYN_PAIRS:
		for (size_t i = 0; i < g.id.n; i += 2) {
			pb_int(&m, 1, g.id.p[i]);
			pb_int(&m, 2, g.id.p[i + 1]);
			dump_msg(to, 52, &m);
		}
		break;
	}
	free(g.id.p);
	free(g.end.p);
	if (d->pr->replicas)
		return;
	pb_int(to, 26, 3 + (int64_t)in->home);
	/* Permutations and exchanges count partitions; the others all devices, unless a replica includes all of its
	 * partitions. */
	if (in->group < SYN_RING && strcmp(in->collective, "all-to-all") != 0 && in->form != SYN_ALL_PARTITIONS)
		pb_int(to, 71, 1);
}

/* ---- kinds of instructions */

static struct syn_shape
grown(struct syn_shape s, int64_t by, bool shrink)
{
	if (s.ndim)
		s.dim[0] = shrink ? s.dim[0] / by : s.dim[0] * by;
	return s;
}

static pb
result_shape(struct dump *d, const struct syn_inst *in)
{
	int64_t n = in->collective ? syn_first_group(d->p, in) : 1;
	pb t;

	if (in->collective && strcmp(in->collective, "reduce-scatter") == 0)
		return dump_shape(grown(in->in[0], n, true));
	t = tuple();
	if (in->collective && strcmp(in->opcode, "all-gather-start") == 0) {
		element(&t, in->in[0]);
		element(&t, grown(in->in[0], n, false));
	} else if (in->collective && strcmp(in->opcode, "collective-permute-start") == 0) {
		element(&t, in->in[0]);
		element(&t, in->in[0]);
		element(&t, (struct syn_shape){ 8, 0, { 0 } });
		element(&t, (struct syn_shape){ 8, 0, { 0 } });
	} else if (in->collective && in->nin > 1) {
		for (int i = 0; i < in->nin; i++)
			element(&t, in->in[i]);
	} else {
		nsx_buf_free(&t);
		t = dump_shape(in->out);
	}
	return t;
}

static int64_t
parameter(struct dump *d, struct dump_comp *c, int number, struct syn_shape shape, const char *op_name)
{
	struct dump_inst i = dump_new(syn_fmt(d->p, "param_%d.%u", number, c->home), "parameter");

	i.shape = dump_shape(shape);
	if (number)
		pb_int(&i.extra, 9, number);
	if (*op_name)
		pb_str(&i.meta, 2, op_name);
	return dump_put(d, c, &i);
}

static int64_t
root_tuple(struct dump *d, struct dump_comp *c, int64_t operand)
{
	struct dump_inst i = dump_new(syn_fmt(d->p, "tuple.%u", c->home), "tuple");

	i.shape = tuple();
	element(&i.shape, (struct syn_shape){ F32, 0, { 0 } });
	syn_add(&i.operands, operand);
	return dump_put(d, c, &i);
}

static void
config(struct dump_inst *i, const char *json)
{
	pb payload = { 0 };

	if (!syn_recent()) {
		pb_str(&i->extra, 43, json);
		return;
	}
	pb_str(&payload, 1, json);
	dump_msg(&i->extra, 99, &payload);
}

/* The async-start around a collective: its shape is ((operands), result, context). */
static void
wrapper(struct dump *d, struct dump_comp *c, uint32_t n, int64_t operand)
{
	const struct syn_inst *in = &d->pr->inst.p[n];
	struct dump_inst i = dump_new(in->wrapper, "async-start");
	pb part = tuple();

	i.shape = tuple();
	element(&part, in->in[0]);
	dump_msg(&i.shape, 4, &part);
	part = result_shape(d, in);
	dump_msg(&i.shape, 4, &part);
	element(&i.shape, (struct syn_shape){ 8, 0, { 0 } });
	pb_str(&i.extra, 79, "main");
	config(&i, "{\"operation_queue_id\":\"0\",\"collective_backend_config\":{\"is_sync\":false}}");
	syn_add(&i.operands, operand);
	i.calls[0] = in->home;
	d->start[n] = dump_put(d, c, &i);
}

/* Instruction n of the plan; operands: those of collectives, created before. */
static int64_t
planned(struct dump *d, struct dump_comp *c, uint32_t n, const int64_t *operands)
{
	const struct syn_inst *in = &d->pr->inst.p[n];
	const char *name = in->name;
	struct dump_inst i;

	if (!syn_dumped(in))
		name = syn_fmt(d->p, "%s", in->name + strlen("wrapped_"));
	i = dump_new(name, syn_dumped(in) ? in->opcode : syn_fmt(d->p, "%.*s", (int)strcspn(name, "."), name));
	i.id = dump_id(d, n);
	i.shape = in->host ? dump_transfer(in) : result_shape(d, in);
	dump_meta(d, &i, in);
	if (syn_dumped(in)) {
		i.calls[0] = in->calls[0];
		i.calls[1] = in->calls[1];
	}
	if (in->collective) {
		dump_groups(d, &i.extra, in);
		if (!in->wrapper)
			config(&i, in->what == SYN_SYNC ? "{\"collective_backend_config\":{\"is_sync\":true}}" : "{\"collective_backend_config\":{\"is_sync\":false}}");
	} else if (strcmp(in->opcode, "custom-call") == 0) {
		pb_str(&i.extra, 28, "__cublas$gemm");
		config(&i, "not JSON at all");
	} else if (strcmp(in->opcode, "fusion") == 0) {
		pb_str(&i.extra, 11, "kLoop");
	}
	for (int k = 0; in->collective && k < in->nin; k++)
		syn_add(&i.operands, operands[k]);
	if (in->start != SYN_NONE)
		syn_add(&i.operands, d->start[in->start]);
	else if (!in->collective)
		syn_add(&i.operands, c->param);
	return d->start[n] = dump_put(d, c, &i);
}

/* ---- computations */

/* Operands of collectives have their shapes. */
static void
make_operands(struct dump *d, struct dump_comp *c, uint32_t n, int64_t *operands)
{
	const struct syn_inst *in = &d->pr->inst.p[n];

	for (int k = 0; in->collective && k < in->nin; k++) {
		struct dump_inst i = dump_new(syn_fmt(d->p, "bitcast.%u.%d", n, k), "bitcast");

		i.shape = dump_shape(in->in[k]);
		syn_add(&i.operands, c->param);
		operands[k] = dump_put(d, c, &i);
	}
}

/* A computation of thunks: entry, loop body, command buffer. */
static int64_t
thunks(struct dump *d, struct dump_comp *c)
{
	const struct syn_program *pr = d->pr;
	const struct syn_home *h = &pr->home.p[c->home];
	bool entry = c->home == 0, nodes = h->kind == SYN_NODES;
	/* The entry also has the callers of other computations. */
	uint32_t from = entry ? 0 : h->first, to = entry ? (uint32_t)pr->inst.n : h->last + 1, graph = SYN_NONE;
	int64_t (*operands)[2] = syn_check(calloc(to - from + 1, sizeof *operands)), last;
	size_t first;

	c->param = last = parameter(d, c, 0, (struct syn_shape){ 16, 2, { 1024, 512 } }, entry ? "args[0]" : "");
	for (uint32_t i = from; i < to; i++)
		if (pr->inst.p[i].home == c->home || (entry && pr->inst.p[i].wrapper))
			make_operands(d, c, i, operands[i - from]);
	first = c->order.n;
	for (uint32_t k = from; k < to; k++) {
		/* A dump need not list instructions in the order in which they run. */
		uint32_t i = nodes ? from + to - 1 - k : k, at = pr->inst.p[i].home;

		if (entry && pr->inst.p[i].wrapper)
			wrapper(d, c, i, operands[i - from][0]);
		if (pr->inst.p[i].what == SYN_BUFFER)
			continue;
		if (at == c->home)
			last = planned(d, c, i, operands[i - from]);
		if (entry && at != SYN_NONE && pr->home.p[at].kind == SYN_NODES && at != graph) {
			struct dump_inst call = dump_new(syn_fmt(d->p, "call.%u", at), "call");

			graph = at;
			call.calls[0] = at;
			syn_add(&call.operands, c->param);
			last = dump_put(d, c, &call);
		}
	}
	for (size_t a = first, b = c->order.n; nodes && a + 1 < b; a++, b--) {
		int64_t id = c->order.p[a];

		c->order.p[a] = c->order.p[b - 1];
		c->order.p[b - 1] = id;
	}
	free(operands);
	return root_tuple(d, c, last);
}

static int64_t
fused(struct dump *d, struct dump_comp *c, const struct syn_inst *fusion)
{
	const struct syn_comp *body = fusion->body == SYN_NONE ? NULL : &d->pr->comp.p[fusion->body];
	int64_t root = parameter(d, c, 0, fusion->in[0], "");

	for (uint32_t k = 0; k < (body ? body->n : 1); k++) {
		struct dump_inst i;

		if (body) {
			i = dump_new(d->pr->inner.p[body->first + k].name, d->pr->inner.p[body->first + k].opcode);
			dump_meta(d, &i, &d->pr->inner.p[body->first + k]);
		} else {
			i = dump_new(syn_fmt(d->p, "%s.inner", fusion->name), fusion->what == SYN_SET ? "broadcast" : "copy");
		}
		i.shape = dump_shape(fusion->out);
		syn_add(&i.operands, root);
		root = dump_put(d, c, &i);
	}
	/* Kernels of graphs have distinct names because no two computations are equal. */
	for (uint32_t k = 0, n = (uint32_t)(fusion - d->pr->inst.p); k < 6 && syn_opt.graphs; k++, n /= 4) {
		static const char *const opcodes[] = { "negate", "exponential", "tanh", "sine" };
		struct dump_inst i = dump_new(syn_fmt(d->p, "%s.%u.%u", opcodes[n % 4], c->home, k), opcodes[n % 4]);

		i.shape = dump_shape(fusion->out);
		syn_add(&i.operands, root);
		root = dump_put(d, c, &i);
	}
	return root;
}

int64_t
dump_reducer(struct dump *d, struct dump_comp *c)
{
	struct syn_inst in = syn_reducer(d->p, d->pr);
	struct dump_inst i = dump_new(in.name, in.opcode);

	syn_add(&i.operands, parameter(d, c, 0, in.in[0], in.op_name));
	syn_add(&i.operands, parameter(d, c, 1, in.in[0], in.op_name));
	dump_meta(d, &i, &in);
	return dump_put(d, c, &i);
}

static int64_t
condition(struct dump *d, struct dump_comp *c)
{
	struct dump_inst limit = dump_new(syn_fmt(d->p, "constant.%u", c->home), "constant"), i = dump_new(syn_fmt(d->p, "compare.%u", c->home), "compare");
	pb literal = { 0 };

	limit.shape = dump_shape((struct syn_shape){ S32, 0, { 0 } });
	pb_packed(&literal, 4, "3");
	dump_msg(&limit.extra, 8, &literal);
	i.shape = dump_shape((struct syn_shape){ PRED, 0, { 0 } });
	syn_add(&i.operands, parameter(d, c, 0, (struct syn_shape){ S32, 0, { 0 } }, ""));
	syn_add(&i.operands, dump_put(d, c, &limit));
	return dump_put(d, c, &i);
}

int64_t
dump_instructions(struct dump *d, struct dump_comp *c)
{
	const struct syn_home *h = &d->pr->home.p[c->home];
	int64_t operands[2] = { 0, 0 };

	if (d->pr->tree && h->kind != SYN_REDUCER)
		return x26_instructions(d, c);
	switch (h->kind) {
	case SYN_FUSED:
		return fused(d, c, &d->pr->inst.p[h->of]);
	case SYN_REDUCER:
		return dump_reducer(d, c);
	case SYN_COND:
		return condition(d, c);
	case SYN_WRAP:
		for (int k = 0; k < d->pr->inst.p[h->of].nin; k++)
			operands[k] = parameter(d, c, k, d->pr->inst.p[h->of].in[k], "");
		/* Its done waits for the wrapper, which is written later. */
		return planned(d, c, h->of, operands);
	default:
		return thunks(d, c);
	}
}
