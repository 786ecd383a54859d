/* build.c -- see build.h: takes rows. building.c makes the trace. */
#include "source/build.h"

#include <stdlib.h>
#include <string.h>

#include "source/name.h"

void
nsx_build_open(struct nsx_build *b, struct nsx_trace *t)
{
	*b = (struct nsx_build){ .t = t, .ranges = { .size = sizeof(struct nsx_build_range) },
	                         .calls = { .size = sizeof(struct nsx_build_call) },
	                         .ops = { .size = sizeof(struct nsx_build_op) }, .origin = INT64_MAX };
}

bool
nsx_build_begin(struct nsx_build *b, struct nsx_trace *t, const char *path, const char *const *endings)
{
	*t = (struct nsx_trace){ .start_utc = INT64_MIN, .stop = INT64_MIN, .rank = -1,
	                          .world = -1 };
	nsx_build_open(b, t);
	t->name = nsx_arena_str(&t->arena, nsx_source_name(path, endings));
	return t->name.ptr && nsx_intern(&t->domains, NSX_STR("")) == 0;
}

bool
nsx_build_about(struct nsx_build *b, int64_t base, const char *product, struct nsx_str versions, struct nsx_str schema)
{
	struct nsx_trace *t = b->t;
	struct nsx_buf text = { 0 };

	if (base == INT64_MIN || __builtin_add_overflow(base, b->origin, &t->start_utc))
		t->start_utc = INT64_MIN;
	nsx_buf_c(&text, product);
	if (versions.len)
		nsx_buf_fmt(&text, " (%.*s)", (int)versions.len, versions.ptr);
	t->product = nsx_arena_str(&t->arena, nsx_buf_view(&text));
	t->schema = nsx_arena_str(&t->arena, schema);
	bool good = !text.failed && t->product.ptr && t->schema.ptr;
	nsx_buf_free(&text);
	return good;
}

uint32_t
nsx_build_device(struct nsx_build *b, int64_t cuda)
{
	uint32_t at = nsx_map_number(&b->device_of, (struct nsx_key){ (uint64_t)cuda, 0 });
	struct nsx_device new = { .process = NSX_NONE, .cuda = cuda, .last = INT64_MIN, .sms = -1, .clock = -1,
	                          .bandwidth = -1, .cc = -1, .memory = -1 };

	return at == NSX_NONE || (at == b->devices.n && !nsx_vec_push(&b->devices, new)) ? (uint32_t)NSX_NONE : at;
}

void
nsx_build_reach(struct nsx_build *b, int64_t start)
{
	if (start < b->origin)
		b->origin = start;
}

static bool
add(struct nsx_pile *p, const void *row)
{
	void *to = nsx_pile_add(p);

	if (to)
		memcpy(to, row, p->size);
	return to != NULL;
}

bool
nsx_build_range(struct nsx_build *b, const struct nsx_build_range *row)
{
	nsx_build_reach(b, row->start);
	return add(&b->ranges, row);
}

bool
nsx_build_call(struct nsx_build *b, const struct nsx_build_call *row)
{
	nsx_build_reach(b, row->start);
	return add(&b->calls, row);
}

bool
nsx_build_op(struct nsx_build *b, const struct nsx_build_op *row)
{
	struct nsx_device *d = &b->devices.p[row->device];

	nsx_build_reach(b, row->start);
	b->insts |= row->inst > 0;
	if (row->start > d->last)
		d->last = row->start;
	return add(&b->ops, row);
}

bool
nsx_build_overhead(struct nsx_build *b, const struct nsx_overhead *row)
{
	nsx_build_reach(b, row->start);
	return nsx_vec_push(&b->overheads, *row);
}

bool
nsx_build_wait(struct nsx_build *b, const struct nsx_build_wait *row)
{
	return nsx_vec_push(&b->waits, *row);
}

void
nsx_build_free(struct nsx_build *b)
{
	nsx_pile_free(&b->ranges);
	nsx_pile_free(&b->calls);
	nsx_pile_free(&b->ops);
	free(b->overheads.p);
	free(b->waits.p);
	free(b->devices.p);
	nsx_map_free(&b->device_of);
	*b = (struct nsx_build){ 0 };
}

void
nsx_build_report(const struct nsx_build *b, const char *who, const char *input, struct nsx_diags *d)
{
	static const char *const types[NSX_OP_TYPES] = { "kernels", "copies", "memory sets", "graphs" };

	for (int i = 0; i < NSX_OP_TYPES; i++)
		nsx_diag_add(d, NSX_WARNING, who, b->orphans[i],
		             "%s whose call is not in the %s: they belong to no range", types[i], input);
	nsx_diag_add(d, NSX_WARNING, who, b->ambiguous,
	             "operations whose correlation id several processes have: they belong to no call and no range");
	nsx_diag_add(d, NSX_INFO, who, b->shared,
	             "calls that share a correlation id with an earlier one, which launched its operations");
	nsx_diag_add(d, NSX_INFO, who, b->numbered,
	             "operations of CUDA graphs without the number of a node: numbered by start within their launch");
}
