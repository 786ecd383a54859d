/* heap.c -- replay the heap simulator's events of a dump: instructions are read only if live buffers or steps are
 * requested. */
#include "xla/heap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "xla/allocations.h"
#include "xla/hlo_int.h"

enum { NAME_MAX_BYTES = 1 << 20, TRACES_MAX = 1 << 16 };

/* Field numbers. */
enum {
	B_BUFFER = 1, B_ALLOCATION = 3, B_TRACE = 4,          /* BufferAssignmentProto */
	L_ID = 1, L_SIZE = 2, L_DEFINED = 3, L_COLOR = 4,     /* LogicalBufferProto */
	D_INSTRUCTION_NAME = 2, D_INSTRUCTION_ID = 4,         /* its Location */
	T_EVENT = 1,                                          /* HeapSimulatorTrace */
	E_KIND = 1, E_BUFFER = 2, E_INSTRUCTION = 4, E_CANONICAL = 5
};
enum { ALLOC, FREE, SHARE };

/* Inconsistencies, counted. */
enum miss {
	CLASH, UNKNOWN_BUFFER, BAD_SIZE, SAME_BUFFER, UNKNOWN_KIND, TWICE, NOT_ALLOCATED, NO_INSTRUCTION, OTHER_MEMORY,
	BAD_ALLOCATION, MISSES
};
static const char *const misses[MISSES] = {
	[CLASH]          = "fields of the dump of an unexpected wire type: skipped",
	[UNKNOWN_BUFFER] = "heap events of buffers that the dump does not describe: skipped",
	[BAD_SIZE]       = "buffers with a negative size: taken as 0",
	[SAME_BUFFER]    = "buffers with the same number as another: skipped",
	[UNKNOWN_KIND]   = "heap events of an unknown kind: skipped",
	[TWICE]          = "heap events that allocate a buffer that is already allocated",
	[NOT_ALLOCATED]  = "heap events that free a buffer that is not allocated: skipped",
	[NO_INSTRUCTION] = "buffers at the peak of instructions that the dump does not have",
	[OTHER_MEMORY]   = "buffers of another memory than the first of their trace: counted as of that memory",
	[BAD_ALLOCATION] = "allocations with a negative size: taken as 0",
};

struct buffer {
	int64_t         id, size, color, inst;   /* inst: the instruction that defines it */
	struct nsx_extent name;             /* name of that instruction, in dumps that give names */
	struct nsx_extent event_name;       /* of the instruction that first allocates it */
	bool            has_inst;
	/* Valid for the trace whose number is `stamp`; otherwise the buffer is not live. */
	uint32_t        stamp;
	uint32_t        of;               /* buffer that this one is a reference to; NSX_NONE: not allocated */
	int64_t         refs;             /* references to this one */
};

struct event { int64_t kind, buffer, canonical; struct nsx_extent name; };

struct reading {
	struct nsx_dumpfile  *f;
	struct nsx_heap      *h;
	NSX_VEC(struct buffer) buffers;
	struct nsx_map        by_id;
	NSX_VEC(struct nsx_extent) traces;
	struct nsx_allocations allocations;
	/* Of the current trace. */
	uint32_t              stamp;
	int64_t               bytes, color;
	NSX_VEC(uint32_t)     met;       /* buffers of this stamp */
	bool                  counting;  /* inconsistencies: each trace is replayed twice if live buffers are
	                                  * requested */
	int64_t               missed[MISSES];
};

static int
nomem(const struct reading *r)
{
	return nsx_dumpfile_nomem(r->f);
}

/* ---- messages of the dump */

/* The bytes of a name, copied to the arena. */
static int
keep_name(struct reading *r, struct nsx_extent span, struct nsx_str *out)
{
	*out = (struct nsx_str){ "", 0 };
	if (!span.len)
		return NSX_OK;
	if (span.len > NAME_MAX_BYTES)
		return nsx_err_set(r->f->err, "%s: not a dump: a name of more than a megabyte", r->f->path);
	const unsigned char *p = nsx_dumpfile_at(r->f, span.off, (size_t)span.len);
	if (!p)
		return NSX_ERR;
	*out = nsx_arena_str(&r->h->arena, (struct nsx_str){ (const char *)p, (size_t)span.len });
	return out->ptr ? NSX_OK : nomem(r);
}

static int
read_module(struct reading *r, struct nsx_extent span)
{
	struct nsx_wire w = nsx_wire(r->f, span);
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == NSX_HLO_M_ID && w.type == NSX_WIRE_VARINT)
			r->h->id = (int64_t)w.value;
		else if (w.field == NSX_HLO_M_NAME && w.type == NSX_WIRE_LEN)
			rc = keep_name(r, w.span, &r->h->name);
		else if (w.field == NSX_HLO_M_ID || w.field == NSX_HLO_M_NAME)
			r->missed[CLASH]++;
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

static int
read_location(struct reading *r, struct nsx_extent span, struct buffer *b)
{
	struct nsx_wire w = nsx_wire(r->f, span);
	int rc = NSX_OK;

	/* protobuf does not write an id that is 0. */
	b->has_inst = true;
	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == D_INSTRUCTION_ID && w.type == NSX_WIRE_VARINT)
			b->inst = (int64_t)w.value;
		else if (w.field == D_INSTRUCTION_NAME && w.type == NSX_WIRE_LEN)
			b->name = w.span;
		else if (w.field == D_INSTRUCTION_ID || w.field == D_INSTRUCTION_NAME)
			r->missed[CLASH]++;
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

static int
read_buffer(struct reading *r, struct nsx_extent span)
{
	struct nsx_wire w = nsx_wire(r->f, span);
	struct buffer b = { .stamp = NSX_NONE };
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == L_DEFINED && w.type == NSX_WIRE_LEN)
			rc = read_location(r, w.span, &b);
		else if (w.field >= L_ID && w.field <= L_COLOR && w.field != L_DEFINED && w.type == NSX_WIRE_VARINT)
			*(w.field == L_ID ? &b.id : w.field == L_SIZE ? &b.size : &b.color) = (int64_t)w.value;
		else if (w.field >= L_ID && w.field <= L_COLOR)
			r->missed[CLASH]++;
	if (rc != NSX_EOF)
		return NSX_ERR;
	if (b.size < 0) {
		r->missed[BAD_SIZE]++;
		b.size = 0;
	}
	if (r->buffers.n >= NSX_NONE)
		return nsx_err_set(r->f->err, "%s: more than %" PRIu32 " buffers", r->f->path, (uint32_t)NSX_NONE);
	uint32_t *at = nsx_map_at(&r->by_id, (struct nsx_key){ (uint64_t)b.id, 0 });
	if (!at)
		return nomem(r);
	if (*at != NSX_NONE) {
		r->missed[SAME_BUFFER]++;
		return NSX_OK;
	}
	if (!nsx_vec_push(&r->buffers, b))
		return nomem(r);
	*at = (uint32_t)(r->buffers.n - 1);
	return NSX_OK;
}

static int
read_assignment(struct reading *r, struct nsx_extent span)
{
	struct nsx_wire w = nsx_wire(r->f, span);
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK) {
		if (w.field != B_BUFFER && w.field != B_ALLOCATION && w.field != B_TRACE)
			continue;
		if (w.type != NSX_WIRE_LEN)
			r->missed[CLASH]++;
		else if (w.field == B_BUFFER)
			rc = read_buffer(r, w.span);
		else if (w.field == B_ALLOCATION)
			rc = nsx_allocation_read(&r->allocations, r->f, w.span);
		else if (r->traces.n == TRACES_MAX)
			rc = nsx_err_set(r->f->err, "%s: damaged: more than %d heap traces", r->f->path, TRACES_MAX);
		else if (!nsx_vec_push(&r->traces, w.span))
			rc = nomem(r);
	}
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

/* ---- events */

static int
read_event(struct reading *r, struct nsx_extent span, struct event *e)
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
			r->missed[CLASH]++;
	}
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

/* The buffer with that number, initialised if this trace has not used it yet; *i is NSX_NONE if the dump does not
 * describe it. */
static int
meet(struct reading *r, int64_t id, uint32_t *i)
{
	*i = nsx_map_get(&r->by_id, (struct nsx_key){ (uint64_t)id, 0 });
	if (*i == NSX_NONE || r->buffers.p[*i].stamp == r->stamp)
		return NSX_OK;
	struct buffer *b = &r->buffers.p[*i];
	if (!r->met.n)
		r->color = b->color;
	else if (b->color != r->color && r->counting)
		r->missed[OTHER_MEMORY]++;
	if (!nsx_vec_push(&r->met, *i))
		return nomem(r);
	b->stamp = r->stamp;
	b->of = NSX_NONE;
	b->refs = 0;
	b->event_name = (struct nsx_extent){ 0, 0 };
	return NSX_OK;
}

static void
miss(struct reading *r, enum miss m)
{
	r->missed[m] += r->counting;
}

/* Buffer i becomes a reference to buffer `of`. */
static int
refer(struct reading *r, uint32_t i, uint32_t of, const struct event *e)
{
	struct buffer *b = &r->buffers.p[i], *target = &r->buffers.p[of];

	if (b->of != NSX_NONE)
		miss(r, TWICE);
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
apply(struct reading *r, const struct event *e)
{
	uint32_t i, of;

	if (e->kind < ALLOC || e->kind > SHARE) {
		miss(r, UNKNOWN_KIND);
		return NSX_OK;
	}
	if (meet(r, e->buffer, &i) != NSX_OK)
		return NSX_ERR;
	of = i;
	if (e->kind == SHARE && meet(r, e->canonical, &of) != NSX_OK)
		return NSX_ERR;
	if (i == NSX_NONE || of == NSX_NONE) {
		miss(r, UNKNOWN_BUFFER);
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
		miss(r, NOT_ALLOCATED);
		return NSX_OK;
	}
	r->buffers.p[i].of = NSX_NONE;
	if (--r->buffers.p[of].refs == 0)
		r->bytes -= r->buffers.p[of].size;
	return NSX_OK;
}

/* Where a replay stores its results. */
struct points { NSX_VEC(struct nsx_heap_point) v; };
struct steps { NSX_VEC(struct nsx_heap_step) v; };

/* Add an event that was applied to the steps: instruction names of FREEs are ignored, because versions of XLA differ in
 * their meaning. */
static int
add_step(struct reading *r, const struct event *e, struct steps *steps)
{
	struct nsx_heap_step *last = steps->v.n ? &steps->v.p[steps->v.n - 1] : NULL;
	struct nsx_heap_step new = { .at = r->bytes, .after = r->bytes };

	if (e->kind == ALLOC || e->kind == SHARE) {
		if (keep_name(r, e->name, &new.instruction) != NSX_OK)
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

/* Replay a trace up to that step: into points and steps, unless they are NULL. */

static int
replay(struct reading *r, struct nsx_extent trace, int64_t until, struct points *points, struct steps *steps)
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
			miss(r, CLASH);
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

/* ---- live buffers at the peak */

static int
largest_first(const void *a, const void *b)
{
	const struct nsx_heap_live *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

/* Its own source location, or, if it has none, that of the last instruction that it calls, the one nearest to the
 * result. */
static void
place(const struct nsx_hlo *h, const struct nsx_hlo_inst *inst, struct nsx_heap_live *l)
{
	struct nsx_hlo_loc loc = { inst->op_name, inst->stack };

	if (!loc.op_name.len && loc.stack == NSX_NONE && inst->nlocs)
		loc = h->locs[inst->locs + inst->nlocs - 1];
	l->op_name = loc.op_name;
	if (loc.stack != NSX_NONE)
		l->stack = h->stacks[loc.stack];
}

/* Find the origin of a buffer: its instruction by number, else by name, else the one that allocates it. */
static int
describe(struct reading *r, const struct buffer *b, struct nsx_heap_live *l)
{
	const struct nsx_hlo_inst *inst = b->has_inst && (b->inst || !b->name.len) ? nsx_hlo_find_id(&r->h->hlo,
		b->inst) : NULL;

	if (!inst) {
		if (keep_name(r, b->name.len ? b->name : b->event_name, &l->instruction) != NSX_OK)
			return NSX_ERR;
		inst = nsx_hlo_find(&r->h->hlo, l->instruction);
	}
	r->missed[NO_INSTRUCTION] += !inst;
	if (inst) {
		l->instruction = inst->name;
		place(&r->h->hlo, inst, l);
	}
	return NSX_OK;
}

static int
find_live(struct reading *r, struct nsx_extent trace, struct nsx_heap_trace *t)
{
	int64_t step = 0, most = 0;

	for (size_t i = 0; i < t->npoints; i++)
		if (t->points[i].bytes > most) {
			most = t->points[i].bytes;
			step = t->points[i].step;
		}
	r->counting = false;
	int rc = replay(r, trace, step, NULL, NULL);
	r->counting = true;
	if (rc != NSX_OK)
		return rc;
	t->live = malloc((r->met.n + 1) * sizeof *t->live);
	if (!t->live)
		return nomem(r);
	for (size_t i = 0; i < r->met.n; i++) {
		const struct buffer *b = &r->buffers.p[r->met.p[i]];
		if (b->refs == 0)
			continue;
		struct nsx_heap_live *l = &t->live[t->nlive];
		*l = (struct nsx_heap_live){ b->id, b->size, { "", 0 }, { "", 0 }, { "", 0 } };
		if (describe(r, b, l) != NSX_OK)
			return NSX_ERR;
		t->nlive++;
	}
	qsort(t->live, t->nlive, sizeof *t->live, largest_first);
	return NSX_OK;
}

static int
read_trace(struct reading *r, struct nsx_extent trace, unsigned more, struct nsx_heap_trace *t)
{
	struct points points = { { 0 } };
	struct steps steps = { { 0 } };
	int rc = NSX_OK;

	if (!nsx_vec_push(&points.v, ((struct nsx_heap_point){ 0, 0 })))
		return nomem(r);
	rc = replay(r, trace, INT64_MAX, &points, more & NSX_HEAP_STEPS ? &steps : NULL);
	t->points = points.v.p;
	t->npoints = points.v.n;
	t->steps = steps.v.p;
	t->nsteps = steps.v.n;
	t->color = r->color;
	for (size_t i = 0; i < t->npoints; i++)
		if (t->points[i].bytes > t->peak)
			t->peak = t->points[i].bytes;
	return rc == NSX_OK && more & NSX_HEAP_LIVE ? find_live(r, trace, t) : rc;
}

/* ---- memory of the whole run */

/* The buffer of an allocation that says most of its origin: a parameter's for an argument, else the first. */
struct origin { const struct reading *r; bool argument; uint32_t buffer; };

static int
take_origin(void *state, int64_t id)
{
	struct origin *o = state;
	uint32_t at = nsx_map_get(&o->r->by_id, (struct nsx_key){ (uint64_t)id, 0 });
	const struct nsx_hlo_inst *inst;

	if (at == NSX_NONE)
		return 0;
	if (o->buffer == NSX_NONE)
		o->buffer = at;
	if (!o->argument)
		return 1;
	inst = o->r->buffers.p[at].has_inst ? nsx_hlo_find_id(&o->r->h->hlo, o->r->buffers.p[at].inst) : NULL;
	if (!inst || !inst->entry || !nsx_str_eq(inst->opcode, NSX_STR("parameter")))
		return 0;
	o->buffer = at;
	return 1;
}

static int
fixed_cmp(const void *a, const void *b)
{
	return largest_first(&((const struct nsx_heap_fixed *)a)->live, &((const struct nsx_heap_fixed *)b)->live);
}

static int
read_fixed(struct reading *r)
{
	struct nsx_heap *h = r->h;

	h->fixed = calloc(r->allocations.fixed.n + 1, sizeof *h->fixed);
	if (!h->fixed)
		return nomem(r);
	for (size_t i = 0; i < r->allocations.fixed.n; i++) {
		const struct nsx_allocation *a = &r->allocations.fixed.p[i];
		struct origin o = { r, a->argument, NSX_NONE };
		struct nsx_heap_fixed *f = &h->fixed[h->nfixed];

		*f = (struct nsx_heap_fixed){ { -1, a->size, { "", 0 }, { "", 0 }, { "", 0 } }, a->color, a->argument,
		                              a->output, a->constant };
		if (nsx_allocation_buffers(r->f, a->span, take_origin, &o) != NSX_OK)
			return NSX_ERR;
		if (o.buffer != NSX_NONE) {
			f->live.buffer = r->buffers.p[o.buffer].id;
			if (describe(r, &r->buffers.p[o.buffer], &f->live) != NSX_OK)
				return NSX_ERR;
		}
		h->nfixed += a->size > 0;
	}
	qsort(h->fixed, h->nfixed, sizeof *h->fixed, fixed_cmp);
	return NSX_OK;
}

/* ---- the whole dump */

static int
read_parts(struct reading *r)
{
	struct nsx_wire w = nsx_wire(r->f, (struct nsx_extent){ 0, r->f->size });
	bool module = false;
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK) {
		if (w.field != NSX_HLO_F_MODULE && w.field != NSX_HLO_F_BUFFERS)
			continue;
		if (w.type != NSX_WIRE_LEN) {
			r->missed[CLASH]++;
			continue;
		}
		module |= w.field == NSX_HLO_F_MODULE;
		rc = w.field == NSX_HLO_F_MODULE ? read_module(r, w.span) : read_assignment(r, w.span);
	}
	if (rc != NSX_EOF)
		return NSX_ERR;
	if (!module || !r->h->name.len)
		return nsx_err_set(r->f->err, "%s: not a dump: no module%s in it", r->f->path, module ? " with a name"
		                   : "");
	return NSX_OK;
}

/* Instructions: live buffers refer to them, and they show whether a dump is of a run. Diags of reading them concern
 * communication, not memory. */
static int
read_instructions(struct reading *r)
{
	struct nsx_diags others = { 0 };
	int rc = nsx_hlo_parse(r->f, &r->h->hlo, &others);

	nsx_diags_free(&others);
	return rc;
}

static int
read_traces(struct reading *r, unsigned more)
{
	int rc = NSX_OK;

	if (!r->traces.n)
		return NSX_OK;
	if (more && read_instructions(r) != NSX_OK)
		return NSX_ERR;
	r->h->traces = calloc(r->traces.n, sizeof *r->h->traces);
	if (!r->h->traces)
		return nomem(r);
	r->h->ntraces = r->traces.n;
	for (size_t i = 0; rc == NSX_OK && i < r->traces.n; i++) {
		struct nsx_heap_trace *t = &r->h->traces[i];
		rc = read_trace(r, r->traces.p[i], more, t);
		if (rc == NSX_OK)
			rc = nsx_allocation_heap(&r->allocations, r->f, t->color, t->peak);
	}
	return rc;
}

static int
read_all(struct reading *r, unsigned more)
{
	r->allocations.keep = more & NSX_HEAP_FIXED;
	int rc = read_parts(r);

	if (rc == NSX_OK)
		rc = read_traces(r, more);
	if (rc == NSX_OK && more & NSX_HEAP_FIXED && !r->traces.n)
		rc = read_instructions(r);
	if (rc == NSX_OK && more & NSX_HEAP_FIXED)
		rc = read_fixed(r);
	if (rc == NSX_OK)
		rc = nsx_allocations_close(&r->allocations, r->f, &r->h->memory, &r->h->nmemory);
	r->missed[CLASH] += r->allocations.clashes;
	r->missed[BAD_ALLOCATION] = r->allocations.negative;
	return rc;
}

static int
read_heap(struct nsx_dumpfile *f, unsigned more, struct nsx_heap *h, struct nsx_diags *diags)
{
	struct reading r = { .f = f, .h = h, .counting = true };
	int rc = read_all(&r, more);

	if (rc == NSX_OK) {
		char *source = nsx_str_dup(h->name);
		if (!source)
			rc = nomem(&r);
		for (int i = 0; source && i < MISSES; i++)
			nsx_diag_add(diags, NSX_WARNING, source, r.missed[i], "%s", misses[i]);
		free(source);
	}
	free(r.buffers.p);
	free(r.traces.p);
	free(r.met.p);
	nsx_map_free(&r.by_id);
	nsx_allocations_free(&r.allocations);
	if (rc != NSX_OK)
		nsx_heap_free(h);
	return rc;
}

int
nsx_heap_read(const char *path, unsigned more, struct nsx_heap *h, struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_dumpfile f;

	*h = (struct nsx_heap){ 0 };
	if (nsx_dumpfile_open(&f, path, err) != NSX_OK)
		return NSX_ERR;
	int rc = read_heap(&f, more, h, diags);
	nsx_dumpfile_close(&f);
	return rc;
}

int
nsx_heap_memory(const void *p, size_t n, const char *name, unsigned more, struct nsx_heap *h, struct nsx_diags *diags,
                struct nsx_err *err)
{
	struct nsx_dumpfile f;

	*h = (struct nsx_heap){ 0 };
	nsx_dumpfile_memory(&f, p, n, name, err);
	int rc = read_heap(&f, more, h, diags);
	nsx_dumpfile_close(&f);
	return rc;
}

void
nsx_heap_free(struct nsx_heap *h)
{
	for (size_t i = 0; i < h->ntraces; i++) {
		free(h->traces[i].points);
		free(h->traces[i].live);
		free(h->traces[i].steps);
	}
	free(h->traces);
	free(h->fixed);
	free(h->memory);
	nsx_hlo_free(&h->hlo);
	nsx_arena_free(&h->arena);
	*h = (struct nsx_heap){ 0 };
}
