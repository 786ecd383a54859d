/* live.c -- see live.h. */
#include "job/live.h"

#include <stdlib.h>

#include "base/num.h"
#include "stream/fields.h"

void
nsx_live_need(struct nsx_reader *in)
{
	nsx_reader_need(in, NSX_MEMORY, NSX_C(MEMORY, profile) | NSX_C(MEMORY, pid) | NSX_C(MEMORY, device)
	                | NSX_C(MEMORY, context) | NSX_C(MEMORY, address) | NSX_C(MEMORY, bytes)
	                | NSX_C(MEMORY, change) | NSX_C(MEMORY, memory) | NSX_C(MEMORY, pool)
	                | NSX_C(MEMORY, pool_size));
}

/* The number of that space; NSX_NONE when out of memory. */
static uint32_t
space_at(struct nsx_live *l, uint32_t process, const struct nsx_rec *rec)
{
	int64_t device = nsx_int(rec, NSX_MEMORY_device, NSX_ABSENT);
	struct nsx_live_space s = { nsx_int(rec, NSX_MEMORY_profile, NSX_ABSENT),
	                            nsx_int(rec, NSX_MEMORY_pid, NSX_ABSENT), device, NSX_ABSENT };
	uint32_t at = nsx_map_number(&l->space_of, (struct nsx_key){ process, (uint64_t)device });

	return at == l->spaces.n && !nsx_vec_push(&l->spaces, s) ? (uint32_t)NSX_NONE : at;
}

/* The record says how much its pool has reserved. */
static bool
note_pool(struct nsx_live *l, const struct nsx_rec *rec, uint32_t space)
{
	struct nsx_live_space *s = &l->spaces.p[space];
	uint32_t at = nsx_map_number(&l->pool_of, (struct nsx_key){ space, (uint64_t)rec->v[NSX_MEMORY_pool].i });
	int64_t size = nsx_int(rec, NSX_MEMORY_pool_size, 0);

	if (!nsx_vec_next(&l->pools, at, ((struct nsx_live_pool){ space, 0 })))
		return false;
	if (s->pools == NSX_ABSENT)
		s->pools = 0;
	s->pools = nsx_add_sat(s->pools, nsx_sub_sat(size, l->pools.p[at].size, NULL), NULL);
	l->pools.p[at].size = size;
	return true;
}

/* A new block of what the record allocates. */
static uint32_t
add_block(struct nsx_live *l, const struct nsx_rec *rec, uint32_t space, uint32_t memory)
{
	int64_t bytes = nsx_int(rec, NSX_MEMORY_bytes, 0);
	struct nsx_live_block b = { bytes < 0 ? 0 : bytes, space, memory, NSX_NONE };
	uint32_t at;

	if (!l->unused.n) {
		at = (uint32_t)l->blocks.n;
		return at < NSX_NONE && nsx_vec_push(&l->blocks, b) ? at : NSX_NONE;
	}
	at = l->unused.p[--l->unused.n];
	l->blocks.p[at] = b;
	return at;
}

/* Where the block at the record's address is known by; false when out of memory. */
static bool
key_of(struct nsx_live *l, const struct nsx_rec *rec, struct nsx_live_change *c, struct nsx_key *key)
{
	uint32_t process = nsx_map_number(&l->process_of, (struct nsx_key){
		(uint64_t)nsx_int(rec, NSX_MEMORY_profile, NSX_ABSENT),
		(uint64_t)nsx_int(rec, NSX_MEMORY_pid, NSX_ABSENT) });
	uint32_t context = process == NSX_NONE ? NSX_NONE : nsx_map_number(&l->context_of, (struct nsx_key){
		process, (uint64_t)nsx_int(rec, NSX_MEMORY_context, NSX_ABSENT) });

	c->space = context == NSX_NONE ? NSX_NONE : space_at(l, process, rec);
	*key = (struct nsx_key){ context, (uint64_t)nsx_int(rec, NSX_MEMORY_address, NSX_ABSENT) };
	return c->space != NSX_NONE;
}

int
nsx_live_take(struct nsx_live *l, const struct nsx_rec *rec, struct nsx_live_change *c, struct nsx_err *err)
{
	bool pooled = nsx_has(rec, NSX_MEMORY_pool);
	struct nsx_key key;
	uint32_t *at, was;

	*c = (struct nsx_live_change){ .block = NSX_NONE, .ended.bytes = -1,
	                               .frees = nsx_str_eq(nsx_string(rec, NSX_MEMORY_change), NSX_STR("free")) };
	c->memory = nsx_intern(&l->memories, pooled ? NSX_STR("pool") : nsx_string(rec, NSX_MEMORY_memory));
	if (c->memory == NSX_NONE || !key_of(l, rec, c, &key) || (pooled && !note_pool(l, rec, c->space)))
		return nsx_err_nomem(err, NULL);
	was = nsx_map_get(&l->block_of, key);
	if (was != NSX_NONE && !nsx_vec_push(&l->unused, was))
		return nsx_err_nomem(err, NULL);
	if (c->frees) {
		l->unknown += was == NSX_NONE;
		c->block = was;
		nsx_map_del(&l->block_of, key);
		return NSX_OK;
	}
	if (was != NSX_NONE) {
		c->ended = l->blocks.p[was];
		l->doubled++;
	}
	at = nsx_map_at(&l->block_of, key);
	if (!at || (*at = c->block = add_block(l, rec, c->space, c->memory)) == NSX_NONE)
		return nsx_err_nomem(err, NULL);
	return NSX_OK;
}

void
nsx_live_free(struct nsx_live *l)
{
	free(l->spaces.p);
	nsx_intern_free(&l->memories);
	free(l->blocks.p);
	free(l->unused.p);
	nsx_map_free(&l->process_of);
	nsx_map_free(&l->context_of);
	nsx_map_free(&l->space_of);
	nsx_map_free(&l->block_of);
	nsx_map_free(&l->pool_of);
	free(l->pools.p);
	*l = (struct nsx_live){ 0 };
}
