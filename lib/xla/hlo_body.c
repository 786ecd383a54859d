/* hlo_body.c -- finds fusions with equal computations. XLA compiles one kernel for fusions whose computations it prints
 * alike: opcodes, shapes, operands, attributes, without names. A hash of opcodes and shapes, in the order of the dump,
 * is equal for all of those, and for some others. */
#include <stdlib.h>

#include "xla/hlo_int.h"

struct bodies {
	struct nsx_dumpfile  f;
	struct nsx_unpacker  u;
	const struct nsx_hlo *h;
	struct nsx_map       body_at;   /* computation: index in hashes */
	NSX_VEC(uint64_t)    hashes;
	int64_t             *calls;     /* by instruction: the computation that a fusion calls */
	bool                *fusion;    /* by instruction */
};

static uint64_t
mix(uint64_t hash, uint64_t v)
{
	return nsx_hash_u64(hash ^ (v + 0x9e3779b97f4a7c15u)) * 3;
}

static uint64_t
mix_shape(uint64_t hash, const Nsysx__NsxHloShape *s)
{
	hash = mix(hash, (uint64_t)s->element_type);
	for (size_t i = 0; i < s->n_dimensions; i++)
		hash = mix(hash, (uint64_t)s->dimensions[i]);
	hash = mix(hash, s->n_tuple_shapes);
	for (size_t i = 0; i < s->n_tuple_shapes; i++)
		hash = mix_shape(hash, s->tuple_shapes[i]);
	return hash;
}

static int
read_instruction(struct bodies *b, struct nsx_extent span, uint64_t *hash)
{
	const Nsysx__NsxHloInstruction *m = nsx_unpack_message(&b->u, span, &nsysx__nsx_hlo_instruction__descriptor);

	if (!m)
		return NSX_ERR;
	*hash = mix(*hash, nsx_hash(m->opcode.data, m->opcode.len));
	if (nsx_str_eq(nsx_str_pb(m->opcode), NSX_STR("fusion")) && m->n_called_computation_ids) {
		const struct nsx_hlo_inst *inst = nsx_hlo_find(b->h, nsx_str_pb(m->name));
		if (inst) {
			b->calls[inst - b->h->insts] = m->called_computation_ids[0];
			b->fusion[inst - b->h->insts] = true;
		}
	}
	const Nsysx__NsxHloShaped *shaped = nsx_unpack_message(&b->u, span, &nsysx__nsx_hlo_shaped__descriptor);
	if (!shaped)
		return NSX_ERR;
	if (shaped->shape)
		*hash = mix_shape(*hash, shaped->shape);
	return NSX_OK;
}

static int
read_computation(struct bodies *b, struct nsx_extent span)
{
	struct nsx_wire w = nsx_wire(&b->f, span);
	uint64_t hash = 1;
	int64_t id = 0;
	int rc;

	while ((rc = nsx_wire_next(&w)) == NSX_OK) {
		if (w.field == NSX_HLO_C_ID && w.type == NSX_WIRE_VARINT)
			id = (int64_t)w.value;
		else if (w.field == NSX_HLO_C_INSTRUCTION && w.type == NSX_WIRE_LEN && read_instruction(b, w.span,
			&hash) != NSX_OK)
			return NSX_ERR;
	}
	if (rc == NSX_ERR)
		return NSX_ERR;
	uint32_t *at = nsx_map_at(&b->body_at, (struct nsx_key){ (uint64_t)id, 0 });
	if (!at || !nsx_vec_push(&b->hashes, hash ? hash : 1))
		return nsx_dumpfile_nomem(&b->f);
	*at = (uint32_t)b->hashes.n - 1;
	return NSX_OK;
}

static int
read_module(struct bodies *b, struct nsx_extent span)
{
	struct nsx_wire w = nsx_wire(&b->f, span);
	int rc;

	while ((rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == NSX_HLO_M_COMPUTATION && w.type == NSX_WIRE_LEN && read_computation(b, w.span) != NSX_OK)
			return NSX_ERR;
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

static int
read_all(struct bodies *b, uint64_t *out)
{
	struct nsx_wire w = nsx_wire(&b->f, (struct nsx_extent){ 0, b->f.size });
	int rc;

	while ((rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == NSX_HLO_F_MODULE && w.type == NSX_WIRE_LEN && read_module(b, w.span) != NSX_OK)
			return NSX_ERR;
	if (rc != NSX_EOF)
		return NSX_ERR;
	for (uint32_t i = 0; i < b->h->ninsts; i++) {
		uint32_t at = b->fusion[i] ? nsx_map_get(&b->body_at, (struct nsx_key){ (uint64_t)b->calls[i], 0 })
		    : NSX_NONE;
		/* A fusion whose computation is missing may equal any other. */
		out[i] = at != NSX_NONE ? b->hashes.p[at] : b->fusion[i] ? 1 : 0;
	}
	return NSX_OK;
}

/* Of the open b->f, which it closes. */
static int
find_bodies(struct bodies *b, uint64_t **bodies)
{
	uint64_t *out = malloc((b->h->ninsts + 1) * sizeof *out);

	b->u.f = &b->f;
	b->calls = calloc(b->h->ninsts + 1, sizeof *b->calls);
	b->fusion = calloc(b->h->ninsts + 1, sizeof *b->fusion);
	int rc = out && b->calls && b->fusion ? read_all(b, out) : nsx_dumpfile_nomem(&b->f);
	if (rc == NSX_OK)
		*bodies = out;
	else
		free(out);
	nsx_unpacker_free(&b->u);
	nsx_dumpfile_close(&b->f);
	nsx_map_free(&b->body_at);
	free(b->hashes.p);
	free(b->calls);
	free(b->fusion);
	return rc;
}

int
nsx_hlo_bodies(const char *path, const struct nsx_hlo *h, uint64_t **bodies, struct nsx_err *err)
{
	struct bodies b = { .h = h };

	*bodies = NULL;
	return nsx_dumpfile_open(&b.f, path, err) == NSX_OK ? find_bodies(&b, bodies) : NSX_ERR;
}

int
nsx_hlo_bodies_of(struct nsx_str bytes, const char *name, const struct nsx_hlo *h, uint64_t **bodies,
                  struct nsx_err *err)
{
	struct bodies b = { .h = h };

	*bodies = NULL;
	nsx_dumpfile_memory(&b.f, bytes.ptr, bytes.len, name, err);
	return find_bodies(&b, bodies);
}
