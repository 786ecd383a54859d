/* cost_shape.c -- shapes: number of elements, bytes, memory space; widths of types. */
#include <inttypes.h>
#include <string.h>

#include "xla/cost.h"

enum { DEPTH_MAX = 64 };
enum { TUPLE = 13, OPAQUE = 14, TOKEN = 17, BUFFER = 34, HOST = 5 };
/* ShapeProto, LayoutProto */
enum { S_TYPE = 2, S_DIMENSIONS = 3, S_TUPLE = 4, S_LAYOUT = 5, L_BITS = 7, L_SPACE = 8 };

/* Width in bits of a PrimitiveType; 0 if it has no fixed width. */
static int
type_bits(int32_t type)
{
	static const unsigned char bits[] = {
		[1] = 8, [2] = 8, [3] = 16, [4] = 32, [5] = 64, [6] = 8, [7] = 16, [8] = 32, [9] = 64, [10] = 16,
		[11] = 32, [12] = 64,
		[15] = 64, [16] = 16, [18] = 128, [19] = 8, [20] = 8, [21] = 4, [22] = 4, [23] = 8, [24] = 8, [25] = 8,
		[26] = 2, [27] = 2,
		[28] = 8, [29] = 8, [30] = 1, [31] = 1, [32] = 4, [33] = 8
	};

	return (uint32_t)type < sizeof bits ? bits[type] : 0;
}

/* A shape during reading. */
struct reading {
	struct nsx_cost_graph *g;
	struct nsx_dumpfile   *f;
	int64_t               *clashes;
	int                    depth;
};

struct layout { int64_t bits, space; };

static int
read_layout(struct reading *r, struct nsx_extent span, struct layout *l)
{
	struct nsx_wire w = nsx_wire(r->f, span);
	int rc;

	while ((rc = nsx_wire_next(&w)) == NSX_OK) {
		if (w.field != L_BITS && w.field != L_SPACE)
			continue;
		if (w.type != NSX_WIRE_VARINT)
			++*r->clashes;
		else if (w.field == L_BITS)
			l->bits = (int64_t)w.value;
		else
			l->space = (int64_t)w.value;
	}
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

static void
add_part(struct nsx_cost_shape *whole, const struct nsx_cost_shape *part)
{
	nsx_cost_worse(&whole->state, part->state);
	whole->elements = nsx_cost_add(whole->elements, part->elements, &whole->state);
	whole->bytes = nsx_cost_add(whole->bytes, part->bytes, &whole->state);
	whole->host |= part->host;
}

/* The array of that type: without elements if there is nothing to move. */
static bool
array(struct reading *r, int32_t type, const struct layout *l, uint32_t dims, struct nsx_cost_shape *out)
{
	struct nsx_cost_graph *g = r->g;
	struct nsx_cost_leaf leaf = { .elements = 1, .dims = dims, .ndims = (uint32_t)g->dims.n - dims, .type = type };
	bool empty = false;

	out->host = l->space == HOST;
	if (type == OPAQUE || type == TOKEN)
		return true;
	leaf.bits = l->bits > 0 ? l->bits : type_bits(type);
	if (leaf.bits <= 0)
		nsx_cost_worse(&out->state, NSX_COST_BAD);
	for (uint32_t i = 0; i < leaf.ndims; i++) {
		if (g->dims.p[dims + i] < 0)
			nsx_cost_worse(&out->state, NSX_COST_BAD);
		empty |= g->dims.p[dims + i] == 0;
	}
	for (uint32_t i = 0; i < leaf.ndims && !empty && out->state != NSX_COST_BAD; i++)
		leaf.elements = nsx_cost_mul(leaf.elements, g->dims.p[dims + i], &out->state);
	if (empty)
		leaf.elements = 0;
	if (out->state == NSX_COST_OK)
		leaf.bytes = nsx_cost_add(nsx_cost_mul(leaf.elements, leaf.bits, &out->state), 7, &out->state) / 8;
	out->first_bytes = out->state == NSX_COST_OK ? leaf.bytes : -1;
	out->elements = out->state == NSX_COST_OK ? leaf.elements : 0;
	out->bytes = out->state == NSX_COST_OK ? leaf.bytes : 0;
	return nsx_vec_push(&g->leaves, leaf);
}

static int
read_shape(struct reading *r, struct nsx_extent span, struct nsx_cost_shape *out)
{
	struct nsx_cost_graph *g = r->g;
	struct nsx_wire w = nsx_wire(r->f, span);
	struct nsx_cost_shape parts = { .first_bytes = -1 }, part;
	struct layout layout = { 0, 0 };
	int32_t type = 0;
	uint32_t leaf = (uint32_t)g->leaves.n, dims = (uint32_t)g->dims.n;
	bool tuple = false, apart = false;
	int rc;

	if (++r->depth > DEPTH_MAX)
		return nsx_err_set(r->f->err, "%s: byte %" PRIu64 ": messages nested more than %d deep", r->f->path,
		                   span.off, DEPTH_MAX);
	while ((rc = nsx_wire_next(&w)) == NSX_OK) {
		bool length = w.type == NSX_WIRE_LEN;
		switch (w.field) {
		case S_TYPE:
			if (w.type == NSX_WIRE_VARINT) type = (int32_t)w.value; else ++*r->clashes;
			break;
		case S_DIMENSIONS:
			apart |= tuple;
			if (!length && w.type != NSX_WIRE_VARINT) ++*r->clashes; else rc = nsx_wire_ints(&w, &g->dims);
			break;
		case S_TUPLE:
			if (!length) {
				++*r->clashes;
				break;
			}
			rc = read_shape(r, w.span, &part);
			if (rc != NSX_OK)
				break;
			if (!tuple)
				parts.first_bytes = part.state == NSX_COST_OK ? part.bytes : -1;
			tuple = true;
			add_part(&parts, &part);
			break;
		case S_LAYOUT:
			if (length) rc = read_layout(r, w.span, &layout); else ++*r->clashes;
			break;
		default:
			break;
		}
		if (rc != NSX_OK)
			return NSX_ERR;
	}
	r->depth--;
	if (rc == NSX_ERR)
		return NSX_ERR;
	*out = (struct nsx_cost_shape){ .first_bytes = -1 };
	if (type == TUPLE || (type == BUFFER && tuple)) {
		*out = parts;
		out->host |= layout.space == HOST;
		out->tuple = type == TUPLE;
	} else {
		/* Only tuples have elements of their own. */
		g->leaves.n = leaf;
		out->state = apart ? NSX_COST_BAD : NSX_COST_OK;
		if (!array(r, type, &layout, dims, out))
			return nsx_dumpfile_nomem(r->f);
	}
	out->leaf = leaf;
	out->nleaves = (uint32_t)g->leaves.n - leaf;
	if (out->state != NSX_COST_OK)
		out->elements = out->bytes = 0;
	return NSX_OK;
}

/* The cache entry of a shape with those bytes, if they are few. */
static struct nsx_cost_known *
known_at(struct nsx_cost_graph *g, const unsigned char *p, size_t n)
{
	uint64_t head, tail;

	if (n < sizeof head || n > NSX_COST_KNOWN_BYTES)
		return NULL;
	memcpy(&head, p, sizeof head);
	memcpy(&tail, p + n - sizeof tail, sizeof tail);
	return &g->known[nsx_hash_u64(head * 31 + tail + n) % NSX_COST_KNOWN];
}

/* The cached shape; false when out of memory. */
static bool
again(struct nsx_cost_graph *g, const struct nsx_cost_known *k, struct nsx_cost_shape *out)
{
	struct nsx_cost_leaf leaf = k->leaf;

	if (!nsx_vec_room(&g->dims, leaf.ndims) || !nsx_vec_room(&g->leaves, 1))
		return false;
	leaf.dims = (uint32_t)g->dims.n;
	for (uint32_t i = 0; i < leaf.ndims; i++)
		g->dims.p[g->dims.n++] = k->dims[i];
	*out = k->shape;
	out->leaf = (uint32_t)g->leaves.n;
	g->leaves.p[g->leaves.n++] = leaf;
	return true;
}

/* Cache a shape of one array, which is the last of g; dims: the position of its first dimension. */
static void
learn(struct nsx_cost_graph *g, struct nsx_cost_known *k, const struct nsx_cost_shape *shape, size_t dims,
      const unsigned char *p, size_t n)
{
	const struct nsx_cost_leaf *leaf = shape->nleaves == 1 ? &g->leaves.p[shape->leaf] : NULL;

	if (!leaf || leaf->dims != dims || leaf->ndims != g->dims.n - dims || leaf->ndims > NSX_COST_KNOWN_DIMS)
		return;
	k->shape = *shape;
	k->leaf = *leaf;
	for (uint32_t i = 0; i < leaf->ndims; i++)
		k->dims[i] = g->dims.p[dims + i];
	memcpy(k->bytes, p, n);
	k->len = n;
}

int
nsx_cost_shape_read(struct nsx_cost_graph *g, struct nsx_dumpfile *f, struct nsx_extent span,
                    struct nsx_cost_shape *out, int64_t *clashes)
{
	struct reading r = { g, f, clashes, 0 };
	int64_t clashed = *clashes;
	size_t dims = g->dims.n;

	if (span.len > NSX_COST_KNOWN_BYTES)
		return read_shape(&r, span, out);
	const unsigned char *p = nsx_dumpfile_at(f, span.off, (size_t)span.len);
	if (!p)
		return NSX_ERR;
	struct nsx_cost_known *k = known_at(g, p, (size_t)span.len);
	if (k && k->len == span.len && memcmp(k->bytes, p, k->len) == 0)
		return again(g, k, out) ? NSX_OK : nsx_dumpfile_nomem(f);
	/* All of it is in the window, so it stays while it is read. */
	if (read_shape(&r, span, out) != NSX_OK)
		return NSX_ERR;
	/* Skipped fields are counted each time. */
	if (k && *clashes == clashed)
		learn(g, k, out, dims, p, (size_t)span.len);
	return NSX_OK;
}
