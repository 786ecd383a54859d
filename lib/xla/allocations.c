/* allocations.c -- sums of a buffer assignment's allocations, as compiled.memory_analysis() of JAX has them.
 *
 * Each allocation has a colour, which is its memory space, and is added to every column that applies to it:
 *
 *     arguments   is_entry_computation_parameter
 *     outputs     maybe_live_out
 *     aliased     both: an argument whose memory the result reuses
 *     constants   is_constant
 *     temp        none of these and not thread-local: reserved for buffers that are live while the program runs
 *
 * The heap is the sum of the peaks of the simulator's traces of that memory; the total peak is heap + arguments +
 * outputs - aliased + constants. For example, 100 bytes that are argument and result, 50 of a result, 7 of a constant
 * and 64 reserved, of which the trace uses 60: arguments 100, outputs 150, aliased 100, constants 7, temp 64, heap 60,
 * peak 60 + 100 + 150 - 100 + 7 = 217; fragmentation is 64 - 60 = 4. */
#include "xla/allocations.h"

#include <stdlib.h>

#include "base/sort.h"

/* Fields of BufferAllocationProto. */
enum { A_SIZE = 2, A_THREAD_LOCAL = 3, A_PARAMETER = 5, A_LIVE_OUT = 7, A_COLOR = 8, A_ASSIGNED = 9, A_CONSTANT = 12 };
/* Of its Assigned. */
enum { A_BUFFER = 1 };

/* Of one colour; NULL when out of memory. */
static struct nsx_heap_memory *
memory_of(struct nsx_allocations *a, int64_t color)
{
	uint32_t *at = nsx_map_at(&a->by_color, (struct nsx_key){ (uint64_t)color, 0 });

	if (!at)
		return NULL;
	if (*at == NSX_NONE) {
		if (!nsx_vec_push(&a->memory, (struct nsx_heap_memory){ .color = color }))
			return NULL;
		*at = (uint32_t)(a->memory.n - 1);
	}
	return &a->memory.p[*at];
}

static bool
add(int64_t *sum, int64_t size)
{
	/* The sum over a memory stays below 2^63, so values derived from the sums do too. */
	if (size > INT64_MAX / 4 - *sum)
		return false;
	*sum += size;
	return true;
}

static int
too_much(struct nsx_dumpfile *f)
{
	return nsx_err_set(f->err, "%s: damaged: allocations of more than 2^61 bytes together", f->path);
}

int
nsx_allocation_read(struct nsx_allocations *a, struct nsx_dumpfile *f, struct nsx_extent span)
{
	struct nsx_wire w = nsx_wire(f, span);
	uint64_t v[A_CONSTANT + 1] = { 0 };
	int rc;

	while ((rc = nsx_wire_next(&w)) == NSX_OK)
		switch (w.field) {
		case A_SIZE: case A_THREAD_LOCAL: case A_PARAMETER: case A_LIVE_OUT: case A_COLOR: case A_CONSTANT:
			if (w.type == NSX_WIRE_VARINT)
				v[w.field] = w.value;
			else
				a->clashes++;
			break;
		default:
			break;
		}
	if (rc != NSX_EOF)
		return NSX_ERR;
	int64_t size = (int64_t)v[A_SIZE];
	if (size < 0) {
		a->negative++;
		size = 0;
	}
	struct nsx_heap_memory *m = memory_of(a, (int64_t)v[A_COLOR]);
	if (!m)
		return nsx_dumpfile_nomem(f);
	bool parameter = v[A_PARAMETER], live_out = v[A_LIVE_OUT], constant = v[A_CONSTANT];
	bool temp = !parameter && !live_out && !constant && !v[A_THREAD_LOCAL];
	bool good = (!parameter || add(&m->arguments, size)) && (!live_out || add(&m->outputs, size))
	            && (!(parameter && live_out) || add(&m->aliased, size)) && (!constant || add(&m->constants, size))
	            && (!temp || add(&m->temp, size));
	if (a->keep && (parameter || live_out || constant)
	    && !nsx_vec_push(&a->fixed, ((struct nsx_allocation){ span, size, m->color, parameter, live_out,
	                                                         constant })))
		return nsx_dumpfile_nomem(f);
	return good ? NSX_OK : too_much(f);
}

/* The number of the buffer in an Assigned; 0, which protobuf does not write, if it has none. */
static int
read_assigned(struct nsx_dumpfile *f, struct nsx_extent span, int64_t *id)
{
	struct nsx_wire w = nsx_wire(f, span);
	int rc;

	*id = 0;
	while ((rc = nsx_wire_next(&w)) == NSX_OK)
		if (w.field == A_BUFFER && w.type == NSX_WIRE_VARINT)
			*id = (int64_t)w.value;
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

int
nsx_allocation_buffers(struct nsx_dumpfile *f, struct nsx_extent span, int (*buffer)(void *state, int64_t id),
                       void *state)
{
	struct nsx_wire w = nsx_wire(f, span);
	int64_t id;
	int rc;

	while ((rc = nsx_wire_next(&w)) == NSX_OK) {
		if (w.field != A_ASSIGNED || w.type != NSX_WIRE_LEN)
			continue;
		if (read_assigned(f, w.span, &id) != NSX_OK)
			return NSX_ERR;
		if (buffer(state, id))
			return NSX_OK;
	}
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

int
nsx_allocation_heap(struct nsx_allocations *a, struct nsx_dumpfile *f, int64_t color, int64_t peak)
{
	struct nsx_heap_memory *m = memory_of(a, color);

	if (!m)
		return nsx_dumpfile_nomem(f);
	return add(&m->heap, peak) ? NSX_OK : too_much(f);
}

NSX_ORDER(by_color, struct nsx_heap_memory, NSX_CMP(a->color, b->color))

int
nsx_allocations_close(struct nsx_allocations *a, struct nsx_dumpfile *f, struct nsx_heap_memory **out, size_t *n)
{
	for (size_t i = 0; i < a->memory.n; i++) {
		struct nsx_heap_memory *m = &a->memory.p[i];
		m->peak = m->heap + m->arguments + m->outputs - m->aliased + m->constants;
	}
	if (!a->memory.n && !nsx_vec_room(&a->memory, 1))
		return nsx_dumpfile_nomem(f);
	qsort(a->memory.p, a->memory.n, sizeof *a->memory.p, by_color);
	*out = a->memory.p;
	*n = a->memory.n;
	a->memory.p = NULL;
	a->memory.n = a->memory.cap = 0;
	return NSX_OK;
}

void
nsx_allocations_free(struct nsx_allocations *a)
{
	free(a->memory.p);
	free(a->fixed.p);
	nsx_map_free(&a->by_color);
	*a = (struct nsx_allocations){ 0 };
}
