/* hlo_comm.c -- the transfers between devices of an instruction: kind and bytes, from opcodes and sizes. Copies between
 * host and device are none. */
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
};

struct nsx_str
nsx_hlo_kind_name(enum nsx_hlo_kind k)
{
	return kind_names[k];
}

/* Sorted by name. Computations that an opcode not in this list calls run as thunks. */
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
	OPCODE("custom-call",          NSX_HLO_CUSTOM,     NSX_HLO_NO_COMM, true),
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
	const struct nsx_hlo_opcode *op = bsearch(&name, opcodes, sizeof opcodes / sizeof *opcodes, sizeof *opcodes,
	                                          by_name);

	if (!op && name.len > start.len && nsx_str_eq((struct nsx_str){ name.ptr + name.len - start.len, start.len },
	    start)) {
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

/* ---- the instructions of one computation */

/* A pending instruction after its participants were read. */
struct transfer {
	enum nsx_hlo_kind kind;
	uint32_t          groups;
	int64_t           ranks;          /* of its first group, 0 if unknown */
	size_t            operands, n;    /* in work.ids */
	int64_t           id;
};

struct work {
	struct nsx_hlo_build *b;
	NSX_VEC(int64_t)      ids;
	NSX_VEC(struct transfer) transfers;
};

/* Bytes of a shape, -1 if unknown. For a tuple also those of its first element. */
struct size { int64_t bytes, first; };

static struct size
size_by_id(const struct work *k, int64_t id)
{
	const struct nsx_cost_graph *g = &k->b->costs.graph;
	uint32_t i = nsx_cost_graph_find(g, id);

	if (i == NSX_NONE || !g->nodes.p[i].shaped)
		return (struct size){ -1, -1 };
	const struct nsx_cost_shape *s = &g->nodes.p[i].shape;
	return (struct size){ s->state == NSX_COST_OK ? s->bytes : -1, s->first_bytes };
}

static int
read_participants(struct work *k, const struct nsx_hlo_pending *p)
{
	struct nsx_hlo_build *b = k->b;
	const Nsysx__NsxHloParticipants *m = nsx_unpack_message(&b->u, p->span,
	                                                        &nsysx__nsx_hlo_participants__descriptor);
	struct transfer t = { p->op->kind, NSX_NONE, 0, k->ids.n, 0, p->id };

	if (!m)
		return NSX_ERR;
	if (m->is_host_transfer && (t.kind == NSX_HLO_SEND || t.kind == NSX_HLO_RECV))
		t.kind = NSX_HLO_NO_COMM;
	else if (nsx_hlo_groups(b, t.kind, m, &t.groups, &t.ranks) != NSX_OK)
		return NSX_ERR;
	t.n = m->n_operand_ids;
	for (size_t i = 0; i < t.n; i++)
		if (!nsx_vec_push(&k->ids, m->operand_ids[i]))
			return nsx_hlo_nomem(b);
	return nsx_vec_push(&k->transfers, t) ? NSX_OK : nsx_hlo_nomem(b);
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
		/* Its operand is a token: the data received is the first element of its result. */
		c.bytes = own.first;
		break;
	case NSX_HLO_RAGGED_ALL_TO_ALL:
		/* The other operands are the output and offsets; how much of the first is sent depends on the data. */
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

void
nsx_hlo_comm_add(struct nsx_hlo_comm *total, const struct nsx_hlo_comm *part)
{
	bool clipped = false;

	if (part->kind == NSX_HLO_NO_COMM)
		return;
	if (total->kind == NSX_HLO_NO_COMM) {
		*total = *part;
	} else if (part->kind != total->kind) {
		total->mixed = true;
	} else {
		total->bytes = total->bytes < 0 || part->bytes < 0 ? -1 : nsx_add_sat(total->bytes, part->bytes,
			&clipped);
		total->mixed |= part->mixed;
		if (clipped)
			total->bytes = -1;
	}
}

int
nsx_hlo_transfers(struct nsx_hlo_build *b, const struct nsx_hlo_pending *pending, size_t n, struct nsx_hlo_comm *total)
{
	struct work k = { .b = b };
	int rc = NSX_OK;

	for (size_t i = 0; rc == NSX_OK && i < n; i++)
		rc = read_participants(&k, &pending[i]);
	for (size_t i = 0; rc == NSX_OK && i < n; i++) {
		struct transfer *t = &k.transfers.p[i];
		struct nsx_hlo_comm c = NSX_HLO_SILENT;

		if (t->kind != NSX_HLO_NO_COMM)
			c = collective(&k, t);
		b->missed[NSX_HLO_NO_SIZE] += c.kind != NSX_HLO_NO_COMM && c.bytes < 0;
		if (pending[i].cand != NSX_NONE)
			b->cands.p[pending[i].cand].comm = c;
		nsx_hlo_comm_add(total, &c);
	}
	free(k.ids.p);
	free(k.transfers.p);
	return rc;
}
