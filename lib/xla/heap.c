/* heap.c -- the heap of a dump: its buffers and traces (heap_replay.c replays these), what is live at the peak, what is
 * reserved for the whole run. Instructions are read only if live buffers or steps are requested. */
#include "xla/heap.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/sort.h"
#include "xla/heap_replay.h"
#include "xla/hlo_int.h"

enum { TRACES_MAX = 1 << 16 };

/* Field numbers. */
enum {
	B_BUFFER = 1, B_ALLOCATION = 3, B_TRACE = 4,          /* BufferAssignmentProto */
	L_ID = 1, L_SIZE = 2, L_DEFINED = 3, L_COLOR = 4,     /* LogicalBufferProto */
	D_INSTRUCTION_NAME = 2, D_INSTRUCTION_ID = 4          /* its Location */
};

static const char *const misses[NSX_HEAP_NMISSES] = {
	[NSX_HEAP_CLASH] = "fields of the dump of an unexpected wire type: skipped",
	[NSX_HEAP_UNKNOWN_BUFFER] = "heap events of buffers that the dump does not describe: skipped",
	[NSX_HEAP_BAD_SIZE] = "buffers with a negative size: taken as 0",
	[NSX_HEAP_SAME_BUFFER] = "buffers with the same number as another: skipped",
	[NSX_HEAP_UNKNOWN_KIND] = "heap events of an unknown kind: skipped",
	[NSX_HEAP_TWICE] = "heap events that allocate a buffer that is already allocated",
	[NSX_HEAP_NOT_ALLOCATED] = "heap events that free a buffer that is not allocated: skipped",
	[NSX_HEAP_NO_INSTRUCTION] = "buffers at the peak of instructions that the dump does not have",
	[NSX_HEAP_OTHER_MEMORY] =
		"buffers of another memory than the first of their trace: counted as of that memory",
	[NSX_HEAP_BAD_ALLOCATION] = "allocations with a negative size: taken as 0",
};

static int
nomem(const struct nsx_heap_reading *r)
{
	return nsx_dumpfile_nomem(r->f);
}

/* ---- messages of the dump */

static int
read_module(struct nsx_heap_reading *r, struct nsx_extent span)
{
	struct nsx_wire w = nsx_wire(r->f, span);
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == NSX_HLO_M_ID && w.type == NSX_WIRE_VARINT)
			r->h->id = (int64_t)w.value;
		else if (w.field == NSX_HLO_M_NAME && w.type == NSX_WIRE_LEN)
			rc = nsx_heap_name(r, w.span, &r->h->name);
		else if (w.field == NSX_HLO_M_ID || w.field == NSX_HLO_M_NAME)
			r->missed[NSX_HEAP_CLASH]++;
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

static int
read_location(struct nsx_heap_reading *r, struct nsx_extent span, struct nsx_heap_buffer *b)
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
			r->missed[NSX_HEAP_CLASH]++;
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

static int
read_buffer(struct nsx_heap_reading *r, struct nsx_extent span)
{
	struct nsx_wire w = nsx_wire(r->f, span);
	struct nsx_heap_buffer b = { .stamp = NSX_NONE };
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == L_DEFINED && w.type == NSX_WIRE_LEN)
			rc = read_location(r, w.span, &b);
		else if (w.field >= L_ID && w.field <= L_COLOR && w.field != L_DEFINED && w.type == NSX_WIRE_VARINT)
			*(w.field == L_ID ? &b.id : w.field == L_SIZE ? &b.size : &b.color) = (int64_t)w.value;
		else if (w.field >= L_ID && w.field <= L_COLOR)
			r->missed[NSX_HEAP_CLASH]++;
	if (rc != NSX_EOF)
		return NSX_ERR;
	if (b.size < 0) {
		r->missed[NSX_HEAP_BAD_SIZE]++;
		b.size = 0;
	}
	if (r->buffers.n >= NSX_NONE)
		return nsx_err_set(r->f->err, "%s: more than %" PRIu32 " buffers", r->f->path, (uint32_t)NSX_NONE);
	uint32_t *at = nsx_map_at(&r->by_id, (struct nsx_key){ (uint64_t)b.id, 0 });
	if (!at)
		return nomem(r);
	if (*at != NSX_NONE) {
		r->missed[NSX_HEAP_SAME_BUFFER]++;
		return NSX_OK;
	}
	if (!nsx_vec_push(&r->buffers, b))
		return nomem(r);
	*at = (uint32_t)(r->buffers.n - 1);
	return NSX_OK;
}

static int
read_assignment(struct nsx_heap_reading *r, struct nsx_extent span)
{
	struct nsx_wire w = nsx_wire(r->f, span);
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK) {
		if (w.field != B_BUFFER && w.field != B_ALLOCATION && w.field != B_TRACE)
			continue;
		if (w.type != NSX_WIRE_LEN)
			r->missed[NSX_HEAP_CLASH]++;
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

/* ---- live buffers at the peak */

NSX_ORDER(largest_first, struct nsx_heap_live, NSX_CMP(b->size, a->size), NSX_CMP(a->buffer, b->buffer))

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
describe(struct nsx_heap_reading *r, const struct nsx_heap_buffer *b, struct nsx_heap_live *l)
{
	const struct nsx_hlo_inst *inst = b->has_inst && (b->inst || !b->name.len) ? nsx_hlo_find_id(&r->h->hlo,
		b->inst) : NULL;

	if (!inst) {
		if (nsx_heap_name(r, b->name.len ? b->name : b->event_name, &l->instruction) != NSX_OK)
			return NSX_ERR;
		inst = nsx_hlo_find(&r->h->hlo, l->instruction);
	}
	r->missed[NSX_HEAP_NO_INSTRUCTION] += !inst;
	if (inst) {
		l->instruction = inst->name;
		place(&r->h->hlo, inst, l);
	}
	return NSX_OK;
}

static int
find_live(struct nsx_heap_reading *r, struct nsx_extent trace, struct nsx_heap_trace *t)
{
	int64_t step = 0, most = 0;

	for (size_t i = 0; i < t->npoints; i++)
		if (t->points[i].bytes > most) {
			most = t->points[i].bytes;
			step = t->points[i].step;
		}
	r->counting = false;
	int rc = nsx_heap_replay(r, trace, step, NULL, NULL);
	r->counting = true;
	if (rc != NSX_OK)
		return rc;
	t->live = malloc((r->met.n + 1) * sizeof *t->live);
	if (!t->live)
		return nomem(r);
	for (size_t i = 0; i < r->met.n; i++) {
		const struct nsx_heap_buffer *b = &r->buffers.p[r->met.p[i]];
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
read_trace(struct nsx_heap_reading *r, struct nsx_extent trace, unsigned more, struct nsx_heap_trace *t)
{
	struct nsx_heap_points points = { { 0 } };
	struct nsx_heap_steps steps = { { 0 } };
	int rc = NSX_OK;

	if (!nsx_vec_push(&points.v, ((struct nsx_heap_point){ 0, 0 })))
		return nomem(r);
	rc = nsx_heap_replay(r, trace, INT64_MAX, &points, more & NSX_HEAP_STEPS ? &steps : NULL);
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
struct origin { const struct nsx_heap_reading *r; bool argument; uint32_t buffer; };

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

NSX_ORDER(fixed_cmp, struct nsx_heap_fixed, largest_first(&a->live, &b->live))

static int
read_fixed(struct nsx_heap_reading *r)
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
read_parts(struct nsx_heap_reading *r)
{
	struct nsx_wire w = nsx_wire(r->f, (struct nsx_extent){ 0, r->f->size });
	bool module = false;
	int rc = NSX_OK;

	while (rc == NSX_OK && (rc = nsx_wire_next(&w)) == NSX_OK) {
		if (w.field != NSX_HLO_F_MODULE && w.field != NSX_HLO_F_BUFFERS)
			continue;
		if (w.type != NSX_WIRE_LEN) {
			r->missed[NSX_HEAP_CLASH]++;
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
read_instructions(struct nsx_heap_reading *r)
{
	struct nsx_diags others = { 0 };
	int rc = nsx_hlo_parse(r->f, &r->h->hlo, &others);

	nsx_diags_free(&others);
	return rc;
}

static int
read_traces(struct nsx_heap_reading *r, unsigned more)
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
read_all(struct nsx_heap_reading *r, unsigned more)
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
	r->missed[NSX_HEAP_CLASH] += r->allocations.clashes;
	r->missed[NSX_HEAP_BAD_ALLOCATION] = r->allocations.negative;
	return rc;
}

static int
read_heap(struct nsx_dumpfile *f, unsigned more, struct nsx_heap *h, struct nsx_diags *diags)
{
	struct nsx_heap_reading r = { .f = f, .h = h, .arena = &h->arena, .counting = true };
	int rc = read_all(&r, more);

	if (rc == NSX_OK) {
		char *source = nsx_str_dup(h->name);
		if (!source)
			rc = nomem(&r);
		for (int i = 0; source && i < NSX_HEAP_NMISSES; i++)
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
