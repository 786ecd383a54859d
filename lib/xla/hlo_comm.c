/* hlo_comm.c -- what an instruction transfers, and how much: opcodes, shapes, copies between host and device. */
#include <stdlib.h>

#include "base/num.h"
#include "xla/hlo_int.h"

/* ---- opcodes */

static const struct nsx_str kind_names[] = {
	[NSX_HLO_NO_COMM]           = { "", 0 },
	[NSX_HLO_ALL_GATHER]        = { "all-gather", 10 },
	[NSX_HLO_ALL_REDUCE]        = { "all-reduce", 10 },
	[NSX_HLO_PERMUTE]           = { "collective-permute", 18 },
	[NSX_HLO_REDUCE_SCATTER]    = { "reduce-scatter", 14 },
	[NSX_HLO_ALL_TO_ALL]        = { "all-to-all", 10 },
	[NSX_HLO_RAGGED_ALL_TO_ALL] = { "ragged-all-to-all", 17 },
	[NSX_HLO_BROADCAST]         = { "collective-broadcast", 20 },
	[NSX_HLO_REDUCE]            = { "collective-reduce", 17 },
	[NSX_HLO_SEND]              = { "send", 4 },
	[NSX_HLO_RECV]              = { "recv", 4 },
	[NSX_HLO_TO_DEVICE]         = { "host-to-device", 14 },
	[NSX_HLO_TO_HOST]           = { "device-to-host", 14 },
};

struct nsx_str
nsx_hlo_kind_name(enum nsx_hlo_kind k)
{
	return kind_names[k];
}

/* Sorted by name. An opcode that is not here and calls computations runs them as thunks. */
#define OPCODE(name, ...) { { name, sizeof(name) - 1 }, __VA_ARGS__ }
static const struct nsx_hlo_opcode opcodes[] = {
	OPCODE("all-gather",           NSX_HLO_COLLECTIVE, NSX_HLO_ALL_GATHER, false),
	OPCODE("all-reduce",           NSX_HLO_COLLECTIVE, NSX_HLO_ALL_REDUCE, true),
	OPCODE("all-to-all",           NSX_HLO_COLLECTIVE, NSX_HLO_ALL_TO_ALL, false),
	OPCODE("async-done",           NSX_HLO_FOLLOW,     NSX_HLO_NO_COMM, false),
	OPCODE("async-start",          NSX_HLO_WRAPPER,    NSX_HLO_NO_COMM, false),
	OPCODE("async-update",         NSX_HLO_FOLLOW,     NSX_HLO_NO_COMM, false),
	OPCODE("collective-broadcast", NSX_HLO_COLLECTIVE, NSX_HLO_BROADCAST, false),
	OPCODE("collective-permute",   NSX_HLO_COLLECTIVE, NSX_HLO_PERMUTE, false),
	OPCODE("collective-reduce",    NSX_HLO_COLLECTIVE, NSX_HLO_REDUCE, true),
	OPCODE("copy",                 NSX_HLO_COPY,       NSX_HLO_NO_COMM, false),
	OPCODE("copy-start",           NSX_HLO_COPY,       NSX_HLO_NO_COMM, false),
	OPCODE("custom-call",          NSX_HLO_CUSTOM,     NSX_HLO_NO_COMM, true),
	OPCODE("dynamic-slice",        NSX_HLO_SLICE,      NSX_HLO_NO_COMM, false),
	OPCODE("dynamic-update-slice", NSX_HLO_UPDATE,     NSX_HLO_NO_COMM, false),
	OPCODE("fusion",               NSX_HLO_WRAPPER,    NSX_HLO_NO_COMM, true),
	OPCODE("map",                  NSX_HLO_PLAIN,      NSX_HLO_NO_COMM, true),
	OPCODE("ragged-all-to-all",    NSX_HLO_COLLECTIVE, NSX_HLO_RAGGED_ALL_TO_ALL, false),
	OPCODE("recv",                 NSX_HLO_COLLECTIVE, NSX_HLO_RECV, false),
	OPCODE("reduce",               NSX_HLO_PLAIN,      NSX_HLO_NO_COMM, true),
	OPCODE("reduce-scatter",       NSX_HLO_COLLECTIVE, NSX_HLO_REDUCE_SCATTER, true),
	OPCODE("reduce-window",        NSX_HLO_PLAIN,      NSX_HLO_NO_COMM, true),
	OPCODE("scatter",              NSX_HLO_PLAIN,      NSX_HLO_NO_COMM, true),
	OPCODE("select-and-scatter",   NSX_HLO_PLAIN,      NSX_HLO_NO_COMM, true),
	OPCODE("send",                 NSX_HLO_COLLECTIVE, NSX_HLO_SEND, false),
	OPCODE("sort",                 NSX_HLO_PLAIN,      NSX_HLO_NO_COMM, true),
	OPCODE("topk",                 NSX_HLO_PLAIN,      NSX_HLO_NO_COMM, true),
};

static int
by_name(const void *name, const void *opcode)
{
	return nsx_str_cmp(*(const struct nsx_str *)name, ((const struct nsx_hlo_opcode *)opcode)->name);
}

const struct nsx_hlo_opcode *
nsx_hlo_opcode(struct nsx_str name)
{
	static const struct nsx_hlo_opcode other = OPCODE("", NSX_HLO_PLAIN, NSX_HLO_NO_COMM, false);
	static const struct nsx_str start = { "-start", 6 };
	const struct nsx_hlo_opcode *op = bsearch(&name, opcodes, sizeof opcodes / sizeof *opcodes, sizeof *opcodes, by_name);

	if (!op && name.len > start.len && nsx_str_eq((struct nsx_str){ name.ptr + name.len - start.len, start.len }, start)) {
		name.len -= start.len;
		op = bsearch(&name, opcodes, sizeof opcodes / sizeof *opcodes, sizeof *opcodes, by_name);
		if (op && op->cls != NSX_HLO_COLLECTIVE)
			op = NULL;
	}
	return op ? op : &other;
}

int64_t
nsx_hlo_local_id(int64_t comp, int64_t id)
{
	return comp > 0 && id >> 32 == comp ? (int64_t)((uint64_t)id & UINT32_MAX) : id;
}

/* ---- shapes */

enum { OPAQUE = 14, TUPLE = 13, TOKEN = 17, BUFFER = 34, HOST = 5 };

/* Bytes of a shape, -1 when they are not known; whether it is in host memory. Of a tuple also its first element's. */
struct size { int64_t bytes, first; bool host; };

static int
element_bits(int32_t type)
{
	static const unsigned char bits[] = {
		[1] = 8, [2] = 8, [3] = 16, [4] = 32, [5] = 64, [6] = 8, [7] = 16, [8] = 32, [9] = 64, [10] = 16, [11] = 32, [12] = 64,
		[15] = 64, [16] = 16, [18] = 128, [19] = 8, [20] = 8, [21] = 4, [22] = 4, [23] = 8, [24] = 8, [25] = 8, [26] = 2, [27] = 2,
		[28] = 8, [29] = 8, [30] = 1, [31] = 1, [32] = 4, [33] = 8
	};

	return type > 0 && (size_t)type < sizeof bits ? bits[type] : 0;
}

static int64_t
array_bytes(const Nsysx__NsxHloShape *s)
{
	int64_t n = s->layout && s->layout->element_size_in_bits > 0 ? s->layout->element_size_in_bits : element_bits(s->element_type);

	if (n <= 0)
		return -1;
	for (size_t i = 0; i < s->n_dimensions; i++) {
		int64_t d = s->dimensions[i];
		if (d < 0)
			return -1;
		if (d == 0)
			return 0;
		if (n > (INT64_MAX - 7) / d)
			return -1;
		n *= d;
	}
	return (n + 7) / 8;
}

static struct size
size_of(const Nsysx__NsxHloShape *s)
{
	struct size z = { 0, -1, s->layout && s->layout->memory_space == HOST };
	bool clipped = false;

	if (s->element_type == OPAQUE || s->element_type == TOKEN)
		return z;
	if (s->element_type == BUFFER)
		return s->n_tuple_shapes ? size_of(s->tuple_shapes[0]) : (struct size){ -1, -1, z.host };
	if (s->element_type != TUPLE) {
		z.bytes = z.first = array_bytes(s);
		return z;
	}
	for (size_t i = 0; i < s->n_tuple_shapes; i++) {
		struct size part = size_of(s->tuple_shapes[i]);
		if (i == 0) {
			z.first = part.bytes;
			z.host = part.host;
		}
		z.bytes = part.bytes < 0 || z.bytes < 0 ? -1 : nsx_add_sat(z.bytes, part.bytes, &clipped);
	}
	if (clipped)
		z.bytes = -1;
	return z;
}

/* ---- the instructions of one computation */

/* One pending instruction after its participants were read. */
struct transfer {
	enum nsx_hlo_kind kind;
	uint32_t          groups;
	int64_t           ranks;          /* of its first group, 0 if not known */
	size_t            operands, n;    /* in work.ids */
	int64_t           id;
};

struct work {
	struct nsx_hlo_build *b;
	int64_t               comp;
	struct nsx_map        wanted;     /* local id: index in sizes */
	NSX_VEC(struct size)  sizes;
	NSX_VEC(int64_t)      ids;
	NSX_VEC(struct transfer) transfers;
};

static bool
want(struct work *k, int64_t id)
{
	uint32_t *at = nsx_map_at(&k->wanted, (struct nsx_key){ (uint64_t)nsx_hlo_local_id(k->comp, id), 0 });

	if (!at)
		return false;
	if (*at != NSX_NONE)
		return true;
	*at = (uint32_t)k->sizes.n;
	return nsx_vec_push(&k->sizes, ((struct size){ -1, -1, false }));
}

static struct size
size_by_id(const struct work *k, int64_t id)
{
	return k->sizes.p[nsx_map_get(&k->wanted, (struct nsx_key){ (uint64_t)nsx_hlo_local_id(k->comp, id), 0 })];
}

static int
read_participants(struct work *k, const struct nsx_hlo_pending *p)
{
	struct nsx_hlo_build *b = k->b;
	const Nsysx__NsxHloParticipants *m = nsx_unpack_message(&b->u, p->span, &nsysx__nsx_hlo_participants__descriptor);
	struct transfer t = { p->op->kind, NSX_NONE, 0, k->ids.n, 0, p->id };

	if (!m)
		return NSX_ERR;
	if (m->is_host_transfer && (t.kind == NSX_HLO_SEND || t.kind == NSX_HLO_RECV))
		t.kind = t.kind == NSX_HLO_SEND ? NSX_HLO_TO_HOST : NSX_HLO_TO_DEVICE;
	else if (p->op->cls == NSX_HLO_COLLECTIVE && nsx_hlo_groups(b, t.kind, m, &t.groups, &t.ranks) != NSX_OK)
		return NSX_ERR;
	t.n = m->n_operand_ids;
	if (!want(k, p->id))
		return nsx_hlo_nomem(b);
	for (size_t i = 0; i < t.n; i++)
		if (!want(k, m->operand_ids[i]) || !nsx_vec_push(&k->ids, m->operand_ids[i]))
			return nsx_hlo_nomem(b);
	return nsx_vec_push(&k->transfers, t) ? NSX_OK : nsx_hlo_nomem(b);
}

/* The shapes that were asked for, of the computation's instructions. */
static int
read_sizes(struct work *k, struct nsx_span computation)
{
	struct nsx_wire w = nsx_wire(k->b->f, computation);
	int rc, field;

	while ((rc = nsx_wire_next(&w)) == NSX_OK) {
		if (w.field != NSX_HLO_C_INSTRUCTION || w.type != NSX_WIRE_LEN)
			continue;
		struct nsx_wire in = nsx_wire(k->b->f, w.span);
		int64_t id = 0;
		while ((field = nsx_wire_next(&in)) == NSX_OK)
			if (in.field == NSX_HLO_I_ID && in.type == NSX_WIRE_VARINT)
				id = (int64_t)in.value;
		if (field == NSX_ERR)
			return NSX_ERR;
		uint32_t i = nsx_map_get(&k->wanted, (struct nsx_key){ (uint64_t)nsx_hlo_local_id(k->comp, id), 0 });
		if (i == NSX_NONE)
			continue;
		const Nsysx__NsxHloShaped *m = nsx_unpack_message(&k->b->u, w.span, &nsysx__nsx_hlo_shaped__descriptor);
		if (!m)
			return NSX_ERR;
		if (m->shape)
			k->sizes.p[i] = size_of(m->shape);
	}
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

/* Bytes of all operands together. */
static int64_t
operand_bytes(const struct work *k, const struct transfer *t)
{
	int64_t sum = 0;
	bool clipped = false;

	for (size_t i = 0; i < t->n; i++) {
		int64_t n = size_by_id(k, k->ids.p[t->operands + i]).bytes;
		if (n < 0)
			return -1;
		sum = nsx_add_sat(sum, n, &clipped);
	}
	return clipped || !t->n ? -1 : sum;
}

static struct nsx_hlo_comm
collective(const struct work *k, const struct transfer *t)
{
	struct nsx_hlo_comm c = { t->kind, -1, t->groups, false };
	struct size own = size_by_id(k, t->id);

	switch (t->kind) {
	case NSX_HLO_RECV:
		/* Its operand is a token: what arrives is the first element of what it makes. */
		c.bytes = own.first;
		break;
	case NSX_HLO_TO_DEVICE:
		c.bytes = own.first;
		break;
	case NSX_HLO_RAGGED_ALL_TO_ALL:
		/* The others are the output and offsets; how much of the first is sent, the data decide. */
		c.bytes = t->n ? size_by_id(k, k->ids.p[t->operands]).bytes : -1;
		break;
	case NSX_HLO_REDUCE_SCATTER:
		c.bytes = operand_bytes(k, t);
		c.bytes = c.bytes >= 0 && t->ranks && c.bytes % t->ranks == 0 ? c.bytes / t->ranks : own.bytes;
		break;
	default:
		c.bytes = operand_bytes(k, t);
	}
	return c;
}

/* Copies between host and device; no communication otherwise. */
static struct nsx_hlo_comm
host_copy(const struct work *k, const struct transfer *t, enum nsx_hlo_class cls)
{
	struct nsx_hlo_comm c = NSX_HLO_SILENT;
	struct size from, to = size_by_id(k, t->id);
	bool update = cls == NSX_HLO_UPDATE;

	if (t->n < (update ? 2u : 1u))
		return c;
	from = size_by_id(k, k->ids.p[t->operands + update]);
	if (update)
		to.host |= size_by_id(k, k->ids.p[t->operands]).host;
	if (from.host != to.host) {
		c.kind = to.host ? NSX_HLO_TO_HOST : NSX_HLO_TO_DEVICE;
		c.bytes = update ? from.bytes : to.first;
	}
	return c;
}

void
nsx_hlo_comm_add(struct nsx_hlo_comm *total, const struct nsx_hlo_comm *part)
{
	bool copy = total->kind == NSX_HLO_TO_DEVICE || total->kind == NSX_HLO_TO_HOST, clipped = false;

	if (part->kind == NSX_HLO_NO_COMM)
		return;
	if (total->kind == NSX_HLO_NO_COMM) {
		*total = *part;
	} else if (copy && part->kind < NSX_HLO_TO_DEVICE) {
		/* A collective says more than a copy beside it. */
		*total = *part;
		total->mixed = true;
	} else if (part->kind != total->kind) {
		total->mixed = true;
	} else {
		total->bytes = total->bytes < 0 || part->bytes < 0 ? -1 : nsx_add_sat(total->bytes, part->bytes, &clipped);
		total->mixed |= part->mixed;
		if (clipped)
			total->bytes = -1;
	}
}

int
nsx_hlo_transfers(struct nsx_hlo_build *b, struct nsx_span computation, int64_t comp, const struct nsx_hlo_pending *pending, size_t n,
                  struct nsx_hlo_comm *total)
{
	struct work k = { .b = b, .comp = comp };
	int rc = NSX_OK;

	for (size_t i = 0; rc == NSX_OK && i < n; i++)
		rc = read_participants(&k, &pending[i]);
	if (rc == NSX_OK)
		rc = read_sizes(&k, computation);
	for (size_t i = 0; rc == NSX_OK && i < n; i++) {
		struct transfer *t = &k.transfers.p[i];
		struct nsx_hlo_comm c = pending[i].op->cls == NSX_HLO_COLLECTIVE ? collective(&k, t) : host_copy(&k, t, pending[i].op->cls);
		b->missed[NSX_HLO_NO_SIZE] += c.kind != NSX_HLO_NO_COMM && c.bytes < 0;
		if (pending[i].cand != NSX_NONE)
			b->cands.p[pending[i].cand].comm = c;
		nsx_hlo_comm_add(total, &c);
	}
	nsx_map_free(&k.wanted);
	free(k.sizes.p);
	free(k.ids.p);
	free(k.transfers.p);
	return rc;
}
