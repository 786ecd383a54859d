/* hlo_read.c -- one pass over the fields of the module, then one over its computations, an instruction at a time. */
#include <stdlib.h>
#include <string.h>

#include "xla/hlo_int.h"

enum { NAME_MAX_BYTES = 1 << 20, COUNT_MAX = 1 << 30, TARGET_MAX = 64 };

/* Store a string of the dump; *s is its number, NSX_NONE if it is empty. */
static int
keep(struct nsx_hlo_build *b, struct nsx_str str, uint32_t *s)
{
	*s = NSX_NONE;
	if (!str.len)
		return NSX_OK;
	*s = nsx_intern(&b->strs, str);
	return *s == NSX_NONE ? nsx_hlo_nomem(b) : NSX_OK;
}

static int
keep_span(struct nsx_hlo_build *b, struct nsx_extent span, struct nsx_str *out)
{
	uint32_t s;

	if (span.len > NAME_MAX_BYTES)
		return nsx_err_set(b->f->err, "%s: not a dump: a name of more than a megabyte", b->f->path);
	const unsigned char *p = nsx_dumpfile_at(b->f, span.off, (size_t)span.len);
	if (!p)
		return NSX_ERR;
	if (keep(b, (struct nsx_str){ (const char *)p, (size_t)span.len }, &s) != NSX_OK)
		return NSX_ERR;
	*out = s == NSX_NONE ? (struct nsx_str){ "", 0 } : nsx_intern_str(&b->strs, s);
	return NSX_OK;
}

/* ---- the module */

static int
read_attributes(struct nsx_hlo_build *b, struct nsx_extent span)
{
	const Nsysx__NsxHloAttributes *m = nsx_unpack_message(&b->u, span, &nsysx__nsx_hlo_attributes__descriptor);
	uint32_t s;

	if (!m)
		return NSX_ERR;
	for (size_t i = 0; i < m->n_map; i++)
		if (nsx_str_eq(nsx_str_pb(m->map[i]->key), NSX_STR("fingerprint_before_lhs"))) {
			if (keep(b, nsx_str_pb(m->map[i]->value), &s) != NSX_OK)
				return NSX_ERR;
			b->fingerprint = s == NSX_NONE ? (struct nsx_str){ "", 0 } : nsx_intern_str(&b->strs, s);
		}
	return NSX_OK;
}

/* The fields of a computation besides its instructions. */
static int
read_computation_head(struct nsx_hlo_build *b, struct nsx_extent span)
{
	struct nsx_hlo_comp c = { .span = span, .comm = NSX_HLO_SILENT };
	struct nsx_wire w = nsx_wire(b->f, span);
	size_t n = 0;
	int rc;

	while ((rc = nsx_wire_next(&w)) == NSX_OK) {
		bool varint = w.type == NSX_WIRE_VARINT, len = w.type == NSX_WIRE_LEN;
		switch (w.field) {
		case NSX_HLO_C_ID:          if (varint) c.id = (int64_t)w.value;    else b->u.clashes++; break;
		case NSX_HLO_C_ROOT:        if (varint) c.root = (int64_t)w.value;  else b->u.clashes++; break;
		case NSX_HLO_C_FUSED:       if (varint) c.fused = w.value != 0;     else b->u.clashes++; break;
		case NSX_HLO_C_NAME:        if (len)    c.name = w.span;              else b->u.clashes++; break;
		case NSX_HLO_C_INSTRUCTION: if (len)    n++;                        else b->u.clashes++; break;
		default: break;
		}
	}
	if (rc == NSX_ERR)
		return NSX_ERR;
	b->unfused += c.fused ? 0 : n;
	if (b->comps.n >= COUNT_MAX)
		return nsx_err_set(b->f->err, "%s: more than %d computations", b->f->path, COUNT_MAX);
	return nsx_vec_push(&b->comps, c) ? NSX_OK : nsx_hlo_nomem(b);
}

/* The computation with the name of the module's entry, for dumps that identify it by name only. */
static int
find_entry(struct nsx_hlo_build *b, size_t first)
{
	for (size_t i = first; i < b->comps.n && !b->has_entry_id; i++) {
		struct nsx_hlo_comp *c = &b->comps.p[i];
		if (!c->name.len || c->name.len != b->entry_name.len)
			continue;
		const unsigned char *p = nsx_dumpfile_at(b->f, c->name.off, (size_t)c->name.len);
		if (!p)
			return NSX_ERR;
		c->entry = memcmp(p, b->entry_name.ptr, (size_t)c->name.len) == 0;
	}
	return NSX_OK;
}

/* One field of the module; of computations only the fields besides instructions. */
static int
module_field(struct nsx_hlo_build *b, const struct nsx_wire *w, struct nsx_str *name)
{
	enum nsx_wire_type wire = w->field == NSX_HLO_M_ID || w->field == NSX_HLO_M_ENTRY_ID ? NSX_WIRE_VARINT
	    : NSX_WIRE_LEN;

	switch (w->field) {
	case NSX_HLO_M_NAME: case NSX_HLO_M_ENTRY_NAME: case NSX_HLO_M_COMPUTATION: case NSX_HLO_M_ID:
	case NSX_HLO_M_ENTRY_ID:
	case NSX_HLO_M_DEVICES: case NSX_HLO_M_FRAMES: case NSX_HLO_M_ATTRIBUTES: case NSX_HLO_M_SCHEDULE:
	case NSX_HLO_M_PAYLOADS:
		break;
	default:
		return NSX_OK;
	}
	if (w->type != wire) {
		b->u.clashes++;
		return NSX_OK;
	}
	switch (w->field) {
	case NSX_HLO_M_COMPUTATION: return read_computation_head(b, w->span);
	case NSX_HLO_M_NAME:       return keep_span(b, w->span, name);
	case NSX_HLO_M_ENTRY_NAME: return keep_span(b, w->span, &b->entry_name);
	case NSX_HLO_M_DEVICES:    return nsx_hlo_devices_read(b, w->span);
	case NSX_HLO_M_FRAMES:     return nsx_hlo_frames_read(b, w->span);
	case NSX_HLO_M_SCHEDULE:   return nsx_hlo_schedule_read(b, w->span);
	case NSX_HLO_M_ATTRIBUTES: return read_attributes(b, w->span);
	case NSX_HLO_M_PAYLOADS:   return nsx_vec_push(&b->payloads, w->span) ? NSX_OK : nsx_hlo_nomem(b);
	case NSX_HLO_M_ID:
		b->id = (int64_t)w->value;
		return NSX_OK;
	case NSX_HLO_M_ENTRY_ID:
		b->entry_id = (int64_t)w->value;
		b->has_entry_id = true;
		return NSX_OK;
	default:
		return NSX_OK;
	}
}

/* All of the module except instructions, in any order of fields. */
static int
read_module(struct nsx_hlo_build *b, struct nsx_extent span)
{
	struct nsx_wire w = nsx_wire(b->f, span);
	size_t first = b->comps.n;
	int rc;

	while ((rc = nsx_wire_next(&w)) == NSX_OK)
		if (module_field(b, &w, &b->module) != NSX_OK)
			return NSX_ERR;
	return rc == NSX_EOF ? find_entry(b, first) : NSX_ERR;
}

/* ---- instructions */

struct reading {
	struct nsx_hlo_build *b;
	uint32_t              comp;
	NSX_VEC(struct nsx_hlo_pending) pending;
};

static int
add_calls(struct reading *r, const struct nsx_hlo_raw *raw, bool embedded, uint32_t *first, uint32_t *n)
{
	struct nsx_hlo_build *b = r->b;

	*first = (uint32_t)b->calls.n;
	*n = raw->ncalls;
	if (b->calls.n + raw->ncalls >= COUNT_MAX)
		return nsx_err_set(b->f->err, "%s: more than %d calls", b->f->path, COUNT_MAX);
	for (uint32_t i = 0; i < raw->ncalls; i++)
		if (!nsx_vec_push(&b->calls, ((struct nsx_hlo_call){ b->costs.graph.calls.p[raw->calls + i],
		    embedded })))
			return nsx_hlo_nomem(b);
	return NSX_OK;
}

/* The string at span of the dump; *out is its number. */
static int
keep_field(struct nsx_hlo_build *b, struct nsx_extent span, uint32_t *out)
{
	struct nsx_wire w = nsx_wire(b->f, span);
	const unsigned char *p = nsx_wire_bytes(&w, span);

	return p ? keep(b, (struct nsx_str){ (const char *)p, (size_t)span.len }, out) : NSX_ERR;
}

/* scheduling_name is set already. */
static int
add_candidate(struct reading *r, const struct nsx_hlo_raw *raw, struct nsx_hlo_known_opcode *known,
              struct nsx_hlo_cand c)
{
	struct nsx_hlo_build *b = r->b;

	if (keep_field(b, raw->name, &c.name) != NSX_OK ||
	    (known->str == NSX_NONE && keep_field(b, raw->opcode, &known->str) != NSX_OK))
		return NSX_ERR;
	c.opcode = known->str;
	if (c.scheduling_name == c.name)
		c.scheduling_name = NSX_NONE;
	c.wrapper = known->op->cls == NSX_HLO_WRAPPER;
	if (b->cands.n >= COUNT_MAX)
		return nsx_err_set(b->f->err, "%s: more than %d instructions", b->f->path, COUNT_MAX);
	return nsx_vec_push(&b->cands, c) && nsx_vec_push(&b->costs.insts,
	                                                  (struct nsx_cost_inst){ .from = NSX_COST_OWN }) ? NSX_OK
	                                                  : nsx_hlo_nomem(b);
}

/* Add it to the graph of costs. cand: NSX_NONE, or the candidate that it is. */
static int
add_node(struct reading *r, const struct nsx_hlo_raw *raw, enum nsx_cost_kind kind, uint32_t cand)
{
	struct nsx_hlo_build *b = r->b;
	struct nsx_cost_graph *g = &b->costs.graph;
	struct nsx_cost_node n = {
		.id = raw->id, .kind = kind, .shaped = raw->shaped, .operands = raw->operands,
		.noperands = raw->noperands, .calls = raw->calls,
		.ncalls = raw->ncalls, .work = NSX_NONE, .cand = cand, .number = raw->number,
		.state = raw->shaped ? NSX_COST_OK : NSX_COST_BAD
	};
	struct nsx_cost_custom custom = { NSX_COST_NO_TARGET, false, false };

	if (raw->shaped && nsx_cost_shape_read(g, b->f, raw->shape, &n.shape, &b->u.clashes) != NSX_OK)
		return NSX_ERR;
	if (kind == NSX_COST_CUSTOM && raw->target.len <= TARGET_MAX) {
		const unsigned char *p = nsx_dumpfile_at(b->f, raw->target.off, (size_t)raw->target.len);
		if (!p)
			return NSX_ERR;
		custom = nsx_cost_target_of((struct nsx_str){ (const char *)p, (size_t)raw->target.len });
	}
	bool modelled = kind == NSX_COST_DOT || kind == NSX_COST_CONVOLUTION || kind == NSX_COST_REDUCE_WINDOW ||
	    kind == NSX_COST_SELECT_SCATTER || custom.target != NSX_COST_NO_TARGET;

	if (modelled && nsx_cost_work_read(g, &b->u, raw->span, raw->config, custom, &n) != NSX_OK)
		return NSX_ERR;
	return nsx_vec_push(&g->nodes, n) ? NSX_OK : nsx_hlo_nomem(b);
}

/* The cache entry of metadata with those bytes, if it is short enough. */
static struct nsx_hlo_known_place *
known_place(struct nsx_hlo_build *b, struct nsx_str bytes)
{
	size_t n = sizeof b->places / sizeof *b->places;
	uint64_t mid, tail;

	if (bytes.len < sizeof mid || bytes.len > sizeof b->places[0].bytes)
		return NULL;
	memcpy(&mid, bytes.ptr + (bytes.len - sizeof mid) / 2, sizeof mid);
	memcpy(&tail, bytes.ptr + bytes.len - sizeof tail, sizeof tail);
	return &b->places[nsx_hash_u64(mid * 31 + tail + bytes.len) % n];
}

/* Its source location, and its name in schedules. */
static int
read_metadata(struct reading *r, const struct nsx_hlo_raw *raw, bool kept, struct nsx_hlo_cand *c)
{
	struct nsx_hlo_build *b = r->b;
	struct nsx_hlo_meta meta;

	c->pair = c->scheduling_name = NSX_NONE;
	if (!raw->placed)
		return NSX_OK;
	struct nsx_wire w = nsx_wire(b->f, raw->metadata);
	const unsigned char *p = nsx_wire_bytes(&w, raw->metadata);
	if (!p)
		return NSX_ERR;
	struct nsx_str bytes = { (const char *)p, (size_t)raw->metadata.len };
	struct nsx_hlo_known_place *known = known_place(b, bytes);
	bool met = known && known->len == bytes.len && memcmp(known->bytes, bytes.ptr, bytes.len) == 0;
	int64_t trouble = b->u.clashes + b->missed[NSX_HLO_BAD_FRAME] + b->missed[NSX_HLO_MANY_FRAMES];
	if (met) {
		c->pair = known->pair;
		meta = (struct nsx_hlo_meta){ .line = 0 };
	} else if (nsx_hlo_meta_read(b, raw->metadata, &meta) != NSX_OK || nsx_hlo_pair(b, &meta, &c->pair) != NSX_OK) {
		return NSX_ERR;
	} else if (known && !meta.scheduling_name.len &&
	           trouble == b->u.clashes + b->missed[NSX_HLO_BAD_FRAME] + b->missed[NSX_HLO_MANY_FRAMES]) {
		/* Skipped fields are counted for each instruction: metadata with such fields is read each time. */
		memcpy(known->bytes, bytes.ptr, bytes.len);
		known->len = (uint32_t)bytes.len;
		known->pair = c->pair;
	}
	if (c->pair != NSX_NONE && b->pairs.p[c->pair].stamp != r->comp + 1) {
		b->pairs.p[c->pair].stamp = r->comp + 1;
		if (!nsx_vec_push(&b->pair_refs, c->pair))
			return nsx_hlo_nomem(b);
	}
	return kept ? keep(b, meta.scheduling_name, &c->scheduling_name) : NSX_OK;
}

static int
read_instruction(struct reading *r, struct nsx_extent span)
{
	struct nsx_hlo_build *b = r->b;
	struct nsx_hlo_comp *comp = &b->comps.p[r->comp];
	struct nsx_hlo_raw raw;
	struct nsx_hlo_cand c = { .comp = r->comp, .comm = NSX_HLO_SILENT };
	uint32_t cand = NSX_NONE;

	if (nsx_hlo_inst_read(b, span, &raw) != NSX_OK)
		return NSX_ERR;
	struct nsx_wire w = nsx_wire(b->f, raw.opcode);
	const unsigned char *opcode = nsx_wire_bytes(&w, raw.opcode);
	if (!opcode)
		return NSX_ERR;
	struct nsx_hlo_known_opcode *known = nsx_hlo_known(b, (struct nsx_str){ (const char *)opcode,
		(size_t)raw.opcode.len });
	const struct nsx_hlo_opcode *op = known->op;
	enum nsx_cost_kind kind = known->kind;
	if (add_calls(r, &raw, comp->fused || op->embeds, &c.calls, &c.ncalls) != NSX_OK)
		return NSX_ERR;
	c.id = raw.id;
	c.root = nsx_hlo_local_id(comp->id, c.id) == nsx_hlo_local_id(comp->id, comp->root);
	/* A fusion's thunks are not always named after it: the thunk that clears a reduction's output is named after
	 * the reduction, one that runs library code or a collective on a slice after the instruction that it runs. */
	c.named = c.ncalls || op->cls == NSX_HLO_COLLECTIVE || op->cls == NSX_HLO_CUSTOM ||
	    (comp->fused && c.id == comp->root);
	bool kept = !comp->fused || c.named;
	if (read_metadata(r, &raw, kept, &c) != NSX_OK)
		return NSX_ERR;
	if (kept && !raw.name.len) {
		b->missed[NSX_HLO_NO_NAME]++;
	} else if (kept) {
		cand = (uint32_t)b->cands.n;
		if (add_candidate(r, &raw, known, c) != NSX_OK)
			return NSX_ERR;
	}
	if (add_node(r, &raw, kind, cand) != NSX_OK)
		return NSX_ERR;
	if (op->cls == NSX_HLO_PLAIN || op->cls == NSX_HLO_WRAPPER || op->cls == NSX_HLO_CUSTOM)
		return NSX_OK;
	if (op->cls == NSX_HLO_FOLLOW && (cand == NSX_NONE || c.ncalls))
		return NSX_OK;
	return nsx_vec_push(&r->pending, ((struct nsx_hlo_pending){ span, op, c.id, cand })) ? NSX_OK
	       : nsx_hlo_nomem(b);
}

/* Give the instructions that follow a start the computations that the start calls. A start later in the list is found
 * as well. */
static int
follow(struct reading *r, uint32_t first)
{
	struct nsx_hlo_build *b = r->b;
	struct nsx_map by_id = { 0 };
	NSX_VEC(uint32_t) start = { 0 };   /* by pending instruction: the candidate that it reads */
	int64_t comp = b->comps.p[r->comp].id;
	int rc = NSX_OK;
	size_t n = 0;

	for (size_t i = 0; i < r->pending.n; i++)
		n += r->pending.p[i].op->cls == NSX_HLO_FOLLOW;
	for (size_t i = first; n && rc == NSX_OK && i < b->cands.n; i++) {
		uint32_t *at = nsx_map_at(&by_id, (struct nsx_key){ (uint64_t)nsx_hlo_local_id(comp, b->cands.p[i].id),
			0 });
		if (at)
			*at = (uint32_t)i;
		else
			rc = nsx_hlo_nomem(b);
	}
	for (size_t i = 0; n && rc == NSX_OK && i < r->pending.n; i++) {
		if (r->pending.p[i].op->cls != NSX_HLO_FOLLOW)
			continue;
		const Nsysx__NsxHloParticipants *m = nsx_unpack_message(&b->u, r->pending.p[i].span,
			&nsysx__nsx_hlo_participants__descriptor);
		uint32_t s = NSX_NONE;
		if (!m)
			rc = NSX_ERR;
		else if (m->n_operand_ids)
			s = nsx_map_get(&by_id, (struct nsx_key){ (uint64_t)nsx_hlo_local_id(comp, m->operand_ids[0]),
				0 });
		if (rc == NSX_OK && !nsx_vec_push(&start, s))
			rc = nsx_hlo_nomem(b);
	}
	/* Through chains of updates: each round passes the calls one link further, and no chain is longer than the
	 * number of links. Real chains have one or two; if this does not end after a few rounds the dump is
	 * malformed. */
	for (int round = 0; rc == NSX_OK && round < 4; round++)
		for (size_t i = 0, k = 0; n && i < r->pending.n; i++) {
			if (r->pending.p[i].op->cls != NSX_HLO_FOLLOW)
				continue;
			uint32_t s = start.p[k++];
			if (s == NSX_NONE || b->cands.p[r->pending.p[i].cand].ncalls)
				continue;
			b->cands.p[r->pending.p[i].cand].calls = b->cands.p[s].calls;
			b->cands.p[r->pending.p[i].cand].ncalls = b->cands.p[s].ncalls;
		}
	nsx_map_free(&by_id);
	free(start.p);
	return rc;
}

static int
read_computation(struct reading *r)
{
	struct nsx_hlo_build *b = r->b;
	struct nsx_hlo_comp *c = &b->comps.p[r->comp];
	struct nsx_wire w = nsx_wire(b->f, c->span);
	uint32_t first = (uint32_t)b->cands.n;
	int rc;

	r->pending.n = 0;
	nsx_cost_graph_reset(&b->costs.graph, c->id);
	if (b->pair_refs.n >= COUNT_MAX)
		return nsx_err_set(b->f->err, "%s: more than %d instructions", b->f->path, COUNT_MAX);
	c->pairs = (uint32_t)b->pair_refs.n;
	c->calls = (uint32_t)b->calls.n;
	while ((rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == NSX_HLO_C_INSTRUCTION && w.type == NSX_WIRE_LEN && read_instruction(r, w.span) != NSX_OK)
			return NSX_ERR;
	if (rc == NSX_ERR)
		return NSX_ERR;
	c->npairs = (uint32_t)b->pair_refs.n - c->pairs;
	c->ncalls = (uint32_t)b->calls.n - c->calls;
	if (!nsx_cost_graph_close(&b->costs.graph) || !nsx_costs_add(&b->costs, c->root))
		return nsx_hlo_nomem(b);
	if (!r->pending.n)
		return NSX_OK;
	if (follow(r, first) != NSX_OK)
		return NSX_ERR;
	size_t n = 0;
	for (size_t i = 0; i < r->pending.n; i++)
		if (r->pending.p[i].op->cls != NSX_HLO_FOLLOW)
			r->pending.p[n++] = r->pending.p[i];
	return n ? nsx_hlo_transfers(b, r->pending.p, n, &c->comm) : NSX_OK;
}

/* ---- the whole dump */

/* The index of a computation by id, and the entry. */
static int
index_computations(struct nsx_hlo_build *b)
{
	bool entry = false;

	for (size_t i = 0; i < b->comps.n; i++) {
		uint32_t *at = nsx_map_at(&b->comp_by_id, (struct nsx_key){ (uint64_t)b->comps.p[i].id, 0 });
		if (!at)
			return nsx_hlo_nomem(b);
		if (*at == NSX_NONE)
			*at = (uint32_t)i;
		else
			b->missed[NSX_HLO_SAME_COMP]++;
		if (b->has_entry_id)
			b->comps.p[i].entry = !entry && b->comps.p[i].id == b->entry_id;
		else if (entry)
			b->comps.p[i].entry = false;
		entry |= b->comps.p[i].entry;
		if (b->comps.p[i].entry)
			b->comps.p[i].fused = false;
	}
	b->missed[NSX_HLO_NO_ENTRY] += !entry;
	return NSX_OK;
}

int
nsx_hlo_load(struct nsx_hlo_build *b)
{
	struct nsx_wire w = nsx_wire(b->f, (struct nsx_extent){ 0, b->f->size });
	struct reading r = { .b = b };
	bool module = false;
	int rc;

	while ((rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == NSX_HLO_F_MODULE && w.type == NSX_WIRE_LEN) {
			module = true;
			if (read_module(b, w.span) != NSX_OK)
				return NSX_ERR;
		}
	if (rc == NSX_ERR)
		return NSX_ERR;
	if (!module || !b->module.len || !b->comps.n)
		return nsx_err_set(b->f->err, "%s: not a dump: no %s in it", b->f->path,
		                   !module ? "module" : !b->module.len ? "module with a name" : "computation");
	if (index_computations(b) != NSX_OK)
		return NSX_ERR;
	/* Nearly all candidates, as few are in fused computations. Real instructions have a hundred bytes and more. */
	size_t room = b->unfused < b->f->size / 64 ? b->unfused : (size_t)(b->f->size / 64);
	if (!nsx_vec_room(&b->cands, room) || !nsx_vec_room(&b->costs.insts, room))
		return nsx_hlo_nomem(b);
	rc = NSX_OK;
	for (size_t i = 0; rc == NSX_OK && i < b->comps.n; i++) {
		r.comp = (uint32_t)i;
		rc = read_computation(&r);
	}
	free(r.pending.p);
	b->missed[NSX_HLO_CLASH] += b->u.clashes;
	return rc;
}
