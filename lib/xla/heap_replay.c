/* heap_replay.c -- replay the heap simulator's events of a dump. */
#include "xla/heap_replay.h"

enum { NAME_MAX_BYTES = 1 << 20 };

/* Field numbers. */
enum {
	T_EVENT = 1,                                          /* HeapSimulatorTrace */
	E_KIND = 1, E_BUFFER = 2, E_INSTRUCTION = 4, E_CANONICAL = 5
};
enum { ALLOC, FREE, SHARE };

struct event { int64_t kind, buffer, canonical; struct nsx_extent name; };

static int
nomem(const struct nsx_heap_reading *r)
{
	return nsx_dumpfile_nomem(r->f);
}

int
nsx_heap_name(struct nsx_heap_reading *r, struct nsx_extent span, struct nsx_str *out)
{
	*out = (struct nsx_str){ "", 0 };
	if (!span.len)
		return NSX_OK;
	if (span.len > NAME_MAX_BYTES)
		return nsx_err_set(r->f->err, "%s: not a dump: a name of more than a megabyte", r->f->path);
	const unsigned char *p = nsx_dumpfile_at(r->f, span.off, (size_t)span.len);
	if (!p)
		return NSX_ERR;
	*out = nsx_arena_str(r->arena, (struct nsx_str){ (const char *)p, (size_t)span.len });
	return out->ptr ? NSX_OK : nomem(r);
}

/* ---- events */

static int
read_event(struct nsx_heap_reading *r, struct nsx_extent span, struct event *e)
{
	struct nsx_wire w = nsx_wire(r->f, span);
	int rc = NSX_OK;

	*e = (struct event){ 0 };
	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK) {
		bool number = w.field == E_KIND || w.field == E_BUFFER || w.field == E_CANONICAL;
		if (w.field == E_INSTRUCTION && w.type == NSX_WIRE_LEN)
			e->name = w.span;
		else if (number && w.type == NSX_WIRE_VARINT)
			*(w.field == E_KIND ? &e->kind : w.field == E_BUFFER ? &e->buffer : &e->canonical) =
			    (int64_t)w.value;
		else if ((number || w.field == E_INSTRUCTION) && r->counting)
			r->missed[NSX_HEAP_CLASH]++;
	}
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

/* The buffer with that number, initialised if this trace has not used it yet; *i is NSX_NONE if the dump does not
 * describe it. */
static int
meet(struct nsx_heap_reading *r, int64_t id, uint32_t *i)
{
	*i = nsx_map_get(&r->by_id, (struct nsx_key){ (uint64_t)id, 0 });
	if (*i == NSX_NONE || r->buffers.p[*i].stamp == r->stamp)
		return NSX_OK;
	struct nsx_heap_buffer *b = &r->buffers.p[*i];
	if (!r->met.n)
		r->color = b->color;
	else if (b->color != r->color && r->counting)
		r->missed[NSX_HEAP_OTHER_MEMORY]++;
	if (!nsx_vec_push(&r->met, *i))
		return nomem(r);
	b->stamp = r->stamp;
	b->of = NSX_NONE;
	b->refs = 0;
	b->event_name = (struct nsx_extent){ 0, 0 };
	return NSX_OK;
}

static void
miss(struct nsx_heap_reading *r, enum nsx_heap_miss m)
{
	r->missed[m] += r->counting;
}

/* Buffer i becomes a reference to buffer `of`. */
static int
refer(struct nsx_heap_reading *r, uint32_t i, uint32_t of, const struct event *e)
{
	struct nsx_heap_buffer *b = &r->buffers.p[i], *target = &r->buffers.p[of];

	if (b->of != NSX_NONE)
		miss(r, NSX_HEAP_TWICE);
	b->of = of;
	if (!b->event_name.len)
		b->event_name = e->name;
	if (target->refs++ > 0)
		return NSX_OK;
	if (target->size > INT64_MAX - r->bytes)
		return nsx_err_set(r->f->err, "%s: damaged: buffers of more than 2^63 bytes together", r->f->path);
	r->bytes += target->size;
	return NSX_OK;
}

static int
apply(struct nsx_heap_reading *r, const struct event *e)
{
	uint32_t i, of;

	if (e->kind < ALLOC || e->kind > SHARE) {
		miss(r, NSX_HEAP_UNKNOWN_KIND);
		return NSX_OK;
	}
	if (meet(r, e->buffer, &i) != NSX_OK)
		return NSX_ERR;
	of = i;
	if (e->kind == SHARE && meet(r, e->canonical, &of) != NSX_OK)
		return NSX_ERR;
	if (i == NSX_NONE || of == NSX_NONE) {
		miss(r, NSX_HEAP_UNKNOWN_BUFFER);
		return NSX_OK;
	}
	if (e->kind != FREE) {
		/* If the shared buffer is itself a reference, the memory is that of the buffer at the end of the
		 * chain. */
		if (e->kind == SHARE && r->buffers.p[of].of != NSX_NONE)
			of = r->buffers.p[of].of;
		return refer(r, i, of, e);
	}
	of = r->buffers.p[i].of;
	if (of == NSX_NONE) {
		miss(r, NSX_HEAP_NOT_ALLOCATED);
		return NSX_OK;
	}
	r->buffers.p[i].of = NSX_NONE;
	if (--r->buffers.p[of].refs == 0)
		r->bytes -= r->buffers.p[of].size;
	return NSX_OK;
}

/* Add an event that was applied to the steps: instruction names of FREEs are ignored, because versions of XLA differ in
 * their meaning. */
static int
add_step(struct nsx_heap_reading *r, const struct event *e, struct nsx_heap_steps *steps)
{
	struct nsx_heap_step *last = steps->v.n ? &steps->v.p[steps->v.n - 1] : NULL;
	struct nsx_heap_step new = { .at = r->bytes, .after = r->bytes };

	if (e->kind == ALLOC || e->kind == SHARE) {
		if (nsx_heap_name(r, e->name, &new.instruction) != NSX_OK)
			return NSX_ERR;
		if (!last || !nsx_str_eq(last->instruction, new.instruction))
			return nsx_vec_push(&steps->v, new) ? NSX_OK : nomem(r);
	}
	if (last) {
		last->at = r->bytes > last->at ? r->bytes : last->at;
		last->after = r->bytes;
	}
	return NSX_OK;
}

int
nsx_heap_replay(struct nsx_heap_reading *r, struct nsx_extent trace, int64_t until, struct nsx_heap_points *points,
                struct nsx_heap_steps *steps)
{
	struct nsx_wire w = nsx_wire(r->f, trace);
	struct event e;
	int64_t step = 0;
	int rc = NSX_OK;

	r->stamp++;
	r->bytes = r->color = 0;
	r->met.n = 0;
	while (step < until && (rc = nsx_wire_next(&w)) == NSX_OK) {
		if (w.field != T_EVENT)
			continue;
		if (w.type != NSX_WIRE_LEN) {
			miss(r, NSX_HEAP_CLASH);
			continue;
		}
		int64_t before = r->bytes;
		step++;
		if (read_event(r, w.span, &e) != NSX_OK || apply(r, &e) != NSX_OK)
			return NSX_ERR;
		if (points && r->bytes != before && !nsx_vec_push(&points->v,
		    ((struct nsx_heap_point){ step, r->bytes })))
			return nomem(r);
		if (steps && add_step(r, &e, steps) != NSX_OK)
			return NSX_ERR;
	}
	return rc == NSX_ERR ? NSX_ERR : NSX_OK;
}
