/* stacks.c -- folded stacks as a tree. The printed numbers add up to the added times, to the nanosecond. */
#include "job/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/sort.h"
#include "job/fraction.h"

/* ---- building */

/* Bytes of the character at s, which is not plain ASCII: 1 if the bytes are invalid. */
static size_t
char_len(struct nsx_str s)
{
	size_t n = nsx_utf8_char(s);

	return n ? n : 1;
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))
#define HIGH EACH(0x80)

/* Whether one of 8 bytes is below n, at most 0x80. */
static inline uint64_t
any_below(uint64_t bytes, unsigned n)
{
	return (bytes - EACH(n)) & ~bytes & HIGH;
}

static bool
needs_cleaning(struct nsx_str s)
{
	size_t i = 0;
	uint64_t b;

	/* Nearly all texts are long and clean: 8 bytes at a time. */
	for (; s.len - i >= 8; i += 8) {
		memcpy(&b, s.ptr + i, 8);
		if (any_below(b, 0x20) | any_below(b ^ EACH(';'), 1) | any_below(b ^ EACH(0x7f), 1)
		    | any_below(b ^ EACH(0xc2), 1) | any_below(b ^ EACH(0xd8), 1) | any_below(b ^ EACH(0xe2), 1))
			return true;
	}
	for (; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];

		/* Characters that begin with one of these bytes may control a terminal. */
		if (c < 0x20 || c == ';' || c == 0x7f || c == 0xc2 || c == 0xd8 || c == 0xe2)
			return true;
	}
	return false;
}

uint32_t
nsx_stacks_frame(struct nsx_stacks *s, struct nsx_str text)
{
	/* What is a frame already is clean. */
	uint32_t known = nsx_intern_recalled(&s->frames, s->recall, text);

	if (known != NSX_NONE)
		return known;
	if (!needs_cleaning(text))
		return nsx_intern_recall(&s->frames, s->recall, text.len ? text : NSX_STR(""));
	s->clean.len = 0;
	nsx_buf_str(&s->clean, text);
	if (s->clean.failed)
		return NSX_NONE;
	for (size_t i = 0, n; i < s->clean.len; i += n) {
		char *p = s->clean.ptr + i;

		n = char_len((struct nsx_str){ p, s->clean.len - i });
		if (*p == ';')
			*p = ',';
		else if ((unsigned char)*p < 0x20 || *p == 0x7f || nsx_utf8_steers(p, n))
			memset(p, ' ', n);
	}
	return nsx_intern(&s->frames, nsx_buf_view(&s->clean));
}

static bool
make_root(struct nsx_stacks *s)
{
	return s->nodes.n || nsx_vec_push(&s->nodes, ((struct nsx_stacks_node){ NSX_NONE, NSX_NONE, 0 }));
}

uint32_t
nsx_stacks_child(struct nsx_stacks *s, uint32_t parent, uint32_t frame)
{
	uint32_t *at;

	if (parent == NSX_NONE || frame == NSX_NONE || !make_root(s) || s->nodes.n >= NSX_NONE - 1)
		return NSX_NONE;
	at = nsx_map_at(&s->children, (struct nsx_key){ parent, frame });
	if (!at)
		return NSX_NONE;
	if (*at == NSX_NONE && nsx_vec_push(&s->nodes, ((struct nsx_stacks_node){ parent, frame, 0 })))
		*at = (uint32_t)(s->nodes.n - 1);
	return *at;
}

uint32_t
nsx_stacks_push(struct nsx_stacks *s, uint32_t parent, struct nsx_str text)
{
	return nsx_stacks_child(s, parent, nsx_stacks_frame(s, text));
}

uint32_t
nsx_stacks_path(struct nsx_stacks *s, uint32_t parent, struct nsx_str text, char separator)
{
	for (;;) {
		const char *cut = text.len ? memchr(text.ptr, separator, text.len) : NULL;
		size_t len = cut ? (size_t)(cut - text.ptr) : text.len;

		parent = nsx_stacks_push(s, parent, (struct nsx_str){ text.ptr, len });
		if (!cut || parent == NSX_NONE)
			return parent;
		text = (struct nsx_str){ cut + 1, text.len - len - 1 };
	}
}

size_t
nsx_stacks_chain(const struct nsx_stacks *s, uint32_t node, uint32_t *chain, size_t most, size_t *skipped)
{
	size_t n = 0;

	*skipped = 0;
	for (; node != NSX_NONE && node != NSX_STACKS_ROOT; node = s->nodes.p[node].parent) {
		if (n < most)
			chain[n++] = s->nodes.p[node].frame;
		else
			++*skipped;
	}
	return n;
}

bool
nsx_stacks_add(struct nsx_stacks *s, uint32_t node, nsx_u128 time)
{
	if (node == NSX_NONE)
		return false;
	s->nodes.p[node].time += time;
	s->total += time;
	return true;
}

bool
nsx_stacks_split(struct nsx_stacks *s, const uint32_t *nodes, uint32_t n, nsx_u128 time)
{
	if (n == 1)
		return nsx_stacks_add(s, nodes[0], time);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *at = nodes[i] == NSX_NONE ? NULL : nsx_map_at(&s->share_of, (struct nsx_key){ nodes[i], n });

		if (!at ||
		    (*at == NSX_NONE && !nsx_vec_push(&s->shares, ((struct nsx_stacks_share){ nodes[i], n, 0 }))))
			return false;
		if (*at == NSX_NONE)
			*at = (uint32_t)(s->shares.n - 1);
		s->shares.p[*at].sum += time;
	}
	s->total += time;
	return true;
}

void
nsx_stacks_free(struct nsx_stacks *s)
{
	nsx_intern_free(&s->frames);
	nsx_map_free(&s->children);
	nsx_map_free(&s->share_of);
	nsx_buf_free(&s->clean);
	free(s->nodes.p);
	free(s->shares.p);
	*s = (struct nsx_stacks){ 0 };
}

/* ---- order
 *
 * Lines of a tree are sorted bytewise, for example "a", "a b", "a;x": a stack is not always next to those below it. But
 * all stacks below it begin with "a;", and no frame contains a ';': it is sufficient to sort, for each parent, the
 * frames of stacks that end there ("a") together with those of stacks that continue ("a;"). */

struct ordered_stack { uint32_t parent, node; struct nsx_str frame; bool more; };

static int
item_cmp(const void *pa, const void *pb)
{
	const struct ordered_stack *a = pa, *b = pb;
	size_t n = a->frame.len < b->frame.len ? a->frame.len : b->frame.len;
	int c;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	c = n ? memcmp(a->frame.ptr, b->frame.ptr, n) : 0;
	if (c)
		return c;
	/* The byte after the common prefix, as if ';' were written there. */
	int ca = a->frame.len > n ? (unsigned char)a->frame.ptr[n] : a->more ? ';' : -1;
	int cb = b->frame.len > n ? (unsigned char)b->frame.ptr[n] : b->more ? ';' : -1;
	return ca - cb;
}

/* A line to print: floor + fraction nanoseconds. */
struct printed_line { uint32_t node; nsx_u128 floor; struct nsx_fraction part; };

struct printing {
	const struct nsx_stacks *s;
	struct nsx_err   *err;
	struct nsx_arena  arena;           /* digits */
	struct printed_line      *of;              /* by node */
	size_t           *first;           /* items of a parent are first[parent] .. first[parent + 1] */
	struct ordered_stack      *items;
	size_t            nitems;
	NSX_VEC(uint32_t) order;           /* nodes with time, bytewise */
};

static bool
make_items(struct printing *p)
{
	const struct nsx_stacks *s = p->s;
	size_t n = s->nodes.n;
	bool *inner = calloc(n, sizeof *inner);

	p->items = malloc(2 * n * sizeof *p->items);
	p->first = calloc(n + 1, sizeof *p->first);
	if (!inner || !p->items || !p->first) {
		free(inner);
		return false;
	}
	for (size_t i = 1; i < n; i++)
		inner[s->nodes.p[i].parent] = true;
	for (size_t i = 1; i < n; i++) {
		struct ordered_stack it = { s->nodes.p[i].parent, (uint32_t)i, s->frames.strs[s->nodes.p[i].frame],
		                            false };

		if (p->of[i].floor || p->of[i].part.limbs)
			p->items[p->nitems++] = it;
		it.more = true;
		if (inner[i])
			p->items[p->nitems++] = it;
	}
	free(inner);
	nsx_sort(p->items, p->nitems, item_cmp);
	for (size_t i = 0; i < p->nitems; i++)
		p->first[p->items[i].parent + 1] = i + 1;
	for (size_t i = 1; i <= n; i++)
		if (p->first[i] < p->first[i - 1])
			p->first[i] = p->first[i - 1];
	return true;
}

static bool
make_order(struct printing *p)
{
	NSX_VEC(size_t) at = { 0 };   /* the next item, at each depth */
	NSX_VEC(size_t) end = { 0 };
	bool good = nsx_vec_push(&at, 0) && nsx_vec_push(&end, p->first[1]);

	while (good && at.n) {
		if (at.p[at.n - 1] == end.p[end.n - 1]) {
			at.n--;
			end.n--;
			continue;
		}
		const struct ordered_stack *it = &p->items[at.p[at.n - 1]++];
		if (!it->more)
			good = nsx_vec_push(&p->order, it->node);
		else
			good = nsx_vec_push(&at, p->first[it->node]) && nsx_vec_push(&end, p->first[it->node + 1]);
	}
	free(at.p);
	free(end.p);
	return good;
}

/* ---- distribution of remainders */

static bool
add_share(struct printing *p, const struct nsx_stacks_share *share)
{
	struct printed_line *l = &p->of[share->node];
	uint32_t rest = (uint32_t)(share->sum % share->n);
	bool carry = false;

	l->floor += share->sum / share->n;
	if (rest && !nsx_fraction_add(&l->part, rest, share->n, &carry, &p->arena))
		return false;
	l->floor += carry;
	return true;
}

/* The shares of a node in a fixed order, independent of the order of addition. */
NSX_ORDER(share_cmp, struct nsx_stacks_share, NSX_CMP(a->node, b->node), NSX_CMP(a->n, b->n))

static bool
make_lines(struct printing *p)
{
	const struct nsx_stacks *s = p->s;

	p->of = calloc(s->nodes.n, sizeof *p->of);
	if (!p->of)
		return false;
	for (size_t i = 0; i < s->nodes.n; i++)
		p->of[i] = (struct printed_line){ .node = (uint32_t)i, .floor = s->nodes.p[i].time };
	nsx_sort(s->shares.p, s->shares.n, share_cmp);
	for (size_t i = 0; i < s->shares.n; i++)
		if (!add_share(p, &s->shares.p[i]))
			return false;
	return true;
}

struct remainder { const struct nsx_fraction *value; size_t rank; uint32_t *scratch; };

NSX_ORDER(largest_first, struct remainder, nsx_fraction_cmp(b->value, a->value, a->scratch),
          NSX_CMP(a->rank, b->rank))

static bool
give_rest(struct printing *p)
{
	struct remainder *parts = malloc((p->order.n + 1) * sizeof *parts);
	size_t n = 0, digits = 1;
	nsx_u128 rest = p->s->total;

	for (size_t i = 0; parts && i < p->order.n; i++) {
		const struct printed_line *l = &p->of[p->order.p[i]];

		rest -= l->floor;
		if (l->part.limbs)
			parts[n++] = (struct remainder){ &l->part, i, NULL };
		if (l->part.limbs > digits)
			digits = l->part.limbs;
	}
	uint32_t *scratch = malloc(4 * digits * sizeof *scratch);
	if (!parts || !scratch) {
		free(parts);
		free(scratch);
		return false;
	}
	for (size_t i = 0; i < n; i++)
		parts[i].scratch = scratch;
	qsort(parts, n, sizeof *parts, largest_first);
	/* The fractions add up to an integer, which is less than their number. */
	for (size_t i = 0; i < n && i < rest; i++)
		p->of[p->order.p[parts[i].rank]].floor++;
	free(parts);
	free(scratch);
	return true;
}

/* ---- printing */

static bool
put_stack(const struct nsx_stacks *s, uint32_t node, uint32_t **path, size_t *cap, struct nsx_buf *b)
{
	size_t depth = 0;

	for (; node != NSX_STACKS_ROOT; node = s->nodes.p[node].parent) {
		if (depth == *cap && !nsx_vec_grow_(path, sizeof **path, cap, depth, 1))
			return false;
		(*path)[depth++] = s->nodes.p[node].frame;
	}
	while (depth-- > 0) {
		nsx_buf_str(b, s->frames.strs[(*path)[depth]]);
		nsx_buf_char(b, depth ? ';' : ' ');
	}
	return !b->failed;
}

static int
put_lines(struct printing *p, struct nsx_outfile *out)
{
	struct nsx_buf b = { 0 };
	uint32_t *path = NULL;
	size_t cap = 0;
	int rc = NSX_OK;

	for (size_t i = 0; i < p->order.n && rc == NSX_OK; i++) {
		const struct printed_line *l = &p->of[p->order.p[i]];
		char digits[NSX_INT_CHARS];

		if (!l->floor)
			continue;
		if (!put_stack(p->s, l->node, &path, &cap, &b))
			rc = nsx_err_nomem(p->err, NULL);
		nsx_buf_add(&b, digits, (size_t)(nsx_put_int(digits, (int64_t)l->floor) - digits));
		nsx_buf_char(&b, '\n');
		if (rc == NSX_OK && b.failed)
			rc = nsx_err_nomem(p->err, NULL);
		if (rc == NSX_OK && (b.len >= 1 << 16 || i + 1 == p->order.n)) {
			rc = nsx_outfile_write(out, b.ptr, b.len);
			b.len = 0;
		}
	}
	if (rc == NSX_OK && b.len)
		rc = nsx_outfile_write(out, b.ptr, b.len);
	nsx_buf_free(&b);
	free(path);
	return rc;
}

int
nsx_stacks_print(struct nsx_stacks *s, struct nsx_outfile *out, struct nsx_err *err)
{
	struct printing p = { .s = s, .err = err };
	int rc;

	if (!s->nodes.n)
		return NSX_OK;
	if (s->total > INT64_MAX)
		return nsx_err_overflow(err, NULL);
	if (!make_lines(&p) || !make_items(&p) || !make_order(&p) || !give_rest(&p))
		rc = nsx_err_nomem(err, NULL);
	else
		rc = put_lines(&p, out);
	nsx_arena_free(&p.arena);
	free(p.of);
	free(p.first);
	free(p.items);
	free(p.order.p);
	return rc;
}
