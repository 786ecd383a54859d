/* hlo_inst.c -- the fields needed of every instruction, in one walk over them: unpacking the whole message would read
 * it twice and copy it, and this is most of the time that reading a dump takes. */
#include <string.h>

#include "xla/hlo_int.h"

/* Of HloInstructionProto, OpMetadata, Payload. */
enum {
	I_NAME = 1, I_OPCODE = 2, I_SHAPE = 3, I_METADATA = 7, I_NUMBER = 9, I_TARGET = 28, I_ID = 35, I_OPERANDS = 36,
	    I_CALLS = 38, I_CONFIG = 43,
	I_PAYLOAD = 99,
	M_OP_NAME = 2, M_FILE = 3, M_LINE = 4, M_FRAME = 15, M_SCHEDULING = 16,
	P_VALUE = 1, P_ID = 2
};

static enum nsx_wire_type
wire_of(uint32_t field)
{
	return field == I_NUMBER || field == I_ID ? NSX_WIRE_VARINT : NSX_WIRE_LEN;
}

/* backend_config: in the payload, or its index in the list of the module. */
static int
read_payload(struct nsx_hlo_build *b, struct nsx_extent span, struct nsx_extent *config)
{
	struct nsx_wire w = nsx_wire(b->f, span);
	int rc;

	while ((rc = nsx_wire_next(&w)) == NSX_OK) {
		if (w.field != P_VALUE && w.field != P_ID)
			continue;
		if (w.type != (w.field == P_ID ? NSX_WIRE_VARINT : NSX_WIRE_LEN))
			b->u.clashes++;
		else if (w.field == P_VALUE)
			*config = w.span;
		else if (w.value < b->payloads.n)
			*config = b->payloads.p[w.value];
	}
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

int
nsx_hlo_inst_read(struct nsx_hlo_build *b, struct nsx_extent span, struct nsx_hlo_raw *out)
{
	struct nsx_cost_graph *g = &b->costs.graph;
	struct nsx_wire w = nsx_wire(b->f, span);
	struct nsx_extent config = { 0, 0 };
	int rc;

	*out = (struct nsx_hlo_raw){ .span = span, .operands = (uint32_t)g->operands.n, .calls = (uint32_t)g->calls.n };
	while ((rc = nsx_wire_next(&w)) == NSX_OK) {
		switch (w.field) {
		case I_NAME: case I_OPCODE: case I_SHAPE: case I_METADATA: case I_NUMBER: case I_TARGET: case I_ID:
		case I_CONFIG: case I_PAYLOAD:
			if (w.type == wire_of(w.field))
				break;
			b->u.clashes++;
			continue;
		case I_OPERANDS: case I_CALLS:
			if (w.type == NSX_WIRE_VARINT || w.type == NSX_WIRE_LEN)
				break;
			b->u.clashes++;
			continue;
		default:
			continue;
		}
		switch (w.field) {
		case I_NAME:     out->name = w.span; break;
		case I_OPCODE:   out->opcode = w.span; break;
		case I_SHAPE:    out->shape = w.span; out->shaped = true; break;
		case I_METADATA: out->metadata = w.span; out->placed = true; break;
		case I_NUMBER:   out->number = (int64_t)w.value; break;
		case I_TARGET:   out->target = w.span; break;
		case I_ID:       out->id = (int64_t)w.value; break;
		case I_CONFIG:   out->config = w.span; break;
		case I_OPERANDS: rc = nsx_wire_ints(&w, &g->operands); break;
		case I_CALLS:    rc = nsx_wire_ints(&w, &g->calls); break;
		case I_PAYLOAD:  rc = read_payload(b, w.span, &config); break;
		}
		if (rc != NSX_OK)
			return NSX_ERR;
	}
	if (config.len)
		out->config = config;
	out->noperands = (uint32_t)g->operands.n - out->operands;
	out->ncalls = (uint32_t)g->calls.n - out->calls;
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

int
nsx_hlo_meta_read(struct nsx_hlo_build *b, struct nsx_extent span, struct nsx_hlo_meta *out)
{
	struct nsx_wire w = nsx_wire(b->f, span);
	int rc;

	*out = (struct nsx_hlo_meta){ .line = 0 };
	/* All of it is in the window from here on, so pointers into it stay valid. */
	const unsigned char *p = nsx_wire_bytes(&w, span);
	if (!p)
		return NSX_ERR;
	while ((rc = nsx_wire_next(&w)) == NSX_OK) {
		struct nsx_str s = { w.type == NSX_WIRE_LEN ? (const char *)p + (w.span.off - span.off) : "",
		                     (size_t)w.span.len };
		bool number = w.field == M_LINE || w.field == M_FRAME;
		if (!number && w.field != M_OP_NAME && w.field != M_FILE && w.field != M_SCHEDULING)
			continue;
		if (w.type != (number ? NSX_WIRE_VARINT : NSX_WIRE_LEN)) {
			b->u.clashes++;
			continue;
		}
		switch (w.field) {
		case M_OP_NAME:    out->op_name = s; break;
		case M_FILE:       out->source_file = s; break;
		case M_SCHEDULING: out->scheduling_name = s; break;
		case M_LINE:       out->line = (int32_t)w.value; break;
		default:           out->frame = (int32_t)w.value; break;
		}
	}
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

/* ---- opcodes, of which a dump has few */

static uint64_t
mix(struct nsx_str s)
{
	uint64_t head = 0, tail = 0;

	memcpy(&head, s.ptr, s.len < 8 ? s.len : 8);
	if (s.len > 8)
		memcpy(&tail, s.ptr + s.len - 8, 8);
	return nsx_hash_u64(head ^ (tail * 31 + s.len));
}

struct nsx_hlo_known_opcode *
nsx_hlo_known(struct nsx_hlo_build *b, struct nsx_str name)
{
	size_t cap = sizeof b->known / sizeof *b->known;
	struct nsx_hlo_known_opcode *k = &b->known[name.len ? mix(name) % (cap - 1) : cap - 1];

	if (k->op && nsx_str_eq((struct nsx_str){ k->name, k->len }, name))
		return k;
	k->op = nsx_hlo_opcode(name);
	k->kind = nsx_cost_kind_of(name);
	k->str = NSX_NONE;
	/* A longer one is looked up each time. */
	k->len = name.len > sizeof k->name ? SIZE_MAX : name.len;
	if (name.len && k->len == name.len)
		memcpy(k->name, name.ptr, name.len);
	return k;
}
