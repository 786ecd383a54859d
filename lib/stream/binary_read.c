/* binary_read.c -- the binary encoding, read: docs/format.md, "Binary". A block is decoded whole, then handed out
 * record by record. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stream/codec.h"
#include "stream/columns.h"

/* A declared kind. */
struct kind {
	struct nsx_heads   heads;
	struct nsx_met    *met;       /* NULL: declared in this block, its header not yet come to */
	struct nsx_unread    message;   /* while met is NULL */
	struct nsx_columns c;         /* of this block */
	size_t             rows, at;  /* of this block: how many, and which is next */
	bool               filled;
	/* Columns of c that have values, and where they go: the first nstrings are strings. */
	int                ncols, nstrings;
	struct way { const uint64_t *from; uint8_t slot, col; } way[NSX_MAX_COLS];
	uint64_t           has;       /* their slots */
	bool               straight;  /* column i goes to slot i */
};

struct list { uint64_t *p; size_t n, cap; };

struct binary {
	NSX_VEC(struct kind) kinds;
	struct list      order_kinds, order_counts, back, shared, length;
	size_t           run;         /* next of these */
	size_t           left;        /* records left of the current run */
	struct kind     *now;         /* whose they are */
	size_t           taken;       /* bytes of the block in the window, taken when it is used up */
	int64_t          blocks;
	NSX_VEC(struct nsx_str) strings;
	struct nsx_buf   text;        /* the strings' bytes */
	struct nsx_pool  pool;
};

static int
damaged(struct nsx_reader *r, const char *what)
{
	const struct binary *b = r->state;

	return nsx_err_set(r->err, "%s: block %" PRId64 " is damaged: %s", r->name, b->blocks, what);
}

static void
binary_where(struct nsx_reader *r)
{
	nsx_buf_fmt(&r->place, "%s: record %" PRId64, r->name, r->records);
}

/* The next message of the stream: its field and bytes, which stay in the window, not yet taken (n: with tag and
 * length). NSX_OK, NSX_EOF at the end of the input, NSX_ERR. */
static int
next_message(struct nsx_reader *r, unsigned *field, struct nsx_unread *bytes, size_t *n)
{
	struct nsx_input *in = &r->in;
	int rc = nsx_input_need(in, 2 * NSX_VARINT_MAX);
	size_t have = in->end - in->pos;
	uint64_t tag, len;

	if (rc == NSX_ERR)
		return rc;
	if (have == 0)
		return NSX_EOF;
	const unsigned char *p = (const unsigned char *)in->buf + in->pos;
	struct nsx_unread s = { p, p + have };
	if (!nsx_get_varint(&s, &tag) || (tag & 7) != WIRE_BYTES || !nsx_get_varint(&s, &len)) {
		/* So few bytes may be the beginning of anything. */
		if (have < 2 * NSX_VARINT_MAX)
			return nsx_reader_cut(r);
		return nsx_err_set(r->err, "%s: damaged after record %" PRId64 ": want a block or the end", r->name,
		                   r->records);
	}
	if (len > NSX_BLOCK_MAX)
		return nsx_err_set(r->err, "%s: damaged after record %" PRId64 ": a block of %" PRIu64 " bytes",
		                   r->name, r->records, len);
	size_t head = (size_t)(s.p - p);
	rc = nsx_input_need(in, head + (size_t)len);
	if (rc == NSX_EOF)
		return nsx_reader_cut(r);
	if (rc != NSX_OK)
		return rc;
	p = (const unsigned char *)in->buf + in->pos + head;
	*field = tag >> 3 > UINT32_MAX ? UINT32_MAX : (unsigned)(tag >> 3);
	*bytes = (struct nsx_unread){ p, p + len };
	*n = head + (size_t)len;
	return NSX_OK;
}

static int
binary_begin(struct nsx_reader *r)
{
	struct nsx_wire_field f;
	struct nsx_unread s;
	unsigned field;
	uint64_t version = 0;
	size_t n;
	int rc;

	r->state = calloc(1, sizeof(struct binary));
	if (!r->state)
		return nsx_err_nomem(r->err, r->name);
	rc = next_message(r, &field, &s, &n);
	if (rc != NSX_OK)
		return rc == NSX_EOF ? nsx_reader_cut(r) : rc;
	while ((rc = nsx_get_field(&s, &f)) > 0)
		if (f.field == HEADER_VERSION && f.wire == WIRE_VARINT)
			version = f.number;
	if (rc < 0 || version == 0)
		return nsx_err_set(r->err, "%s: damaged header: not an nsysx stream", r->name);
	if (version != NSX_STREAM_VERSION)
		return nsx_reader_refuse(r, version);
	r->in.pos += n;
	return NSX_OK;
}

static void
binary_close(struct nsx_reader *r)
{
	struct binary *b = r->state;

	if (!b)
		return;
	free(b->kinds.p);
	free(b->order_kinds.p);
	free(b->order_counts.p);
	free(b->back.p);
	free(b->shared.p);
	free(b->length.p);
	free(b->strings.p);
	nsx_buf_free(&b->text);
	free(b->pool.p);
	free(b);
}

/* ---- a block ---- */

/* A packed list, max numbers at most. */
static int
read_list(struct nsx_reader *r, const struct nsx_wire_field *f, struct list *to, size_t max)
{
	struct nsx_unread s = f->bytes;
	size_t n = nsx_list_count(s);

	to->n = 0;
	if (f->wire != WIRE_BYTES || n > max)
		return damaged(r, "a list");
	if (!nsx_vec_room(to, n))
		return nsx_err_nomem(r->err, r->name);
	if (!nsx_get_numbers(&s, to->p, n))
		return damaged(r, "a list");
	to->n = n;
	return NSX_OK;
}

/* One Column of a Kind. */
static bool
read_head(struct nsx_unread s, struct nsx_head *h)
{
	struct nsx_wire_field f;
	uint64_t type = 0;
	int rc;

	*h = (struct nsx_head){ { "", 0 }, 0 };
	while ((rc = nsx_get_field(&s, &f)) > 0) {
		if (f.field == COLUMN_NAME && f.wire == WIRE_BYTES)
			h->name = (struct nsx_str){ (const char *)f.bytes.p, (size_t)(f.bytes.end - f.bytes.p) };
		else if (f.field == COLUMN_TYPE && f.wire == WIRE_VARINT)
			type = f.number;
	}
	h->type = type < 3 ? "ifs"[type] : '?';
	return rc == 0;
}

/* A Kind message; cols has room for NSX_MAX_COLS. */
static bool
read_kind(struct nsx_unread s, struct nsx_str *name, struct nsx_head *cols, size_t *n)
{
	struct nsx_wire_field f;
	int rc;

	*name = (struct nsx_str){ "", 0 };
	*n = 0;
	while ((rc = nsx_get_field(&s, &f)) > 0) {
		if ((f.field == KIND_NAME || f.field == KIND_COLUMN) && f.wire != WIRE_BYTES)
			return false;
		if (f.field == KIND_NAME)
			*name = (struct nsx_str){ (const char *)f.bytes.p, (size_t)(f.bytes.end - f.bytes.p) };
		else if (f.field == KIND_COLUMN && (*n == NSX_MAX_COLS || !read_head(f.bytes, &cols[(*n)++])))
			return false;
	}
	return rc == 0;
}

static int
add_kind(struct nsx_reader *r, struct nsx_unread s)
{
	struct binary *b = r->state;
	struct nsx_head cols[NSX_MAX_COLS];
	struct nsx_str name;
	struct kind k = { .message = s };
	size_t n;

	if (!read_kind(s, &name, cols, &n))
		return damaged(r, "a kind");
	if (b->kinds.n > NSX_MAX_KINDS)
		return damaged(r, "too many kinds");
	k.heads.ncols = (int)n;
	for (size_t i = 0; i < n; i++)
		k.heads.type[i] = cols[i].type;
	return nsx_vec_push(&b->kinds, k) ? NSX_OK : nsx_err_nomem(r->err, r->name);
}

/* The record order, and from it how many records each kind has. */
static int
check_order(struct nsx_reader *r, size_t met)
{
	struct binary *b = r->state;
	size_t rows = 0;

	if (b->order_kinds.n != b->order_counts.n)
		return damaged(r, "the order");
	for (size_t i = 0; i < b->order_kinds.n; i++) {
		uint64_t kind = b->order_kinds.p[i], count = b->order_counts.p[i];

		if (kind > met || kind >= b->kinds.n || (kind < met && count == 0))
			return damaged(r, "the order");
		met += kind == met;
		if (count > NSX_BLOCK_MAX_ROWS - rows)
			return damaged(r, "too many records");
		rows += count;
		b->kinds.p[kind].rows += count;
	}
	return met == b->kinds.n ? NSX_OK : damaged(r, "a kind without a place");
}

/* Put the strings together from the lists and the text. */
static int
join_strings(struct nsx_reader *r, const unsigned char *text, size_t left)
{
	struct binary *b = r->state;
	size_t n = b->length.n, total = 0;

	if (b->back.n != n || b->shared.n != n || !nsx_vec_room(&b->strings, n))
		return b->back.n != n || b->shared.n != n ? damaged(r, "strings") : nsx_err_nomem(r->err, r->name);
	for (size_t i = 0; i < n; i++) {
		uint64_t len = b->length.p[i], shared = b->shared.p[i], back = b->back.p[i];

		if (len > left || (shared && (back >= i || shared > b->strings.p[i - 1 - back].len)) ||
		    len + shared == 0)
			return damaged(r, "strings");
		left -= (size_t)len;
		total += (size_t)(len + shared);
		if (total > NSX_BLOCK_MAX)
			return damaged(r, "too long strings");
		b->strings.p[i] = (struct nsx_str){ NULL, (size_t)(len + shared) };
	}
	if (left)
		return damaged(r, "strings");
	b->text.len = 0;
	if (!nsx_buf_room(&b->text, total))
		return nsx_err_nomem(r->err, r->name);
	char *to = b->text.ptr;
	for (size_t i = 0; i < n; i++) {
		size_t shared = (size_t)b->shared.p[i], len = (size_t)b->length.p[i];

		if (shared)
			memcpy(to, b->strings.p[i - 1 - (size_t)b->back.p[i]].ptr, shared);
		memcpy(to + shared, text, len);
		text += len;
		b->strings.p[i].ptr = to;
		to += shared + len;
	}
	b->strings.n = n;
	return NSX_OK;
}

static int
read_strings(struct nsx_reader *r, struct nsx_unread s)
{
	struct binary *b = r->state;
	struct nsx_wire_field f;
	struct nsx_unread text = { s.end, s.end };
	int rc;

	b->back.n = b->shared.n = b->length.n = 0;
	while ((rc = nsx_get_field(&s, &f)) > 0) {
		struct list *to = f.field == STRINGS_BACK ? &b->back : f.field == STRINGS_SHARED ? &b->shared
		                : f.field == STRINGS_LENGTH ? &b->length : NULL;

		if (to && read_list(r, &f, to, NSX_BLOCK_MAX) != NSX_OK)
			return NSX_ERR;
		if (f.field == STRINGS_TEXT && f.wire == WIRE_BYTES)
			text = f.bytes;
	}
	return rc < 0 ? damaged(r, "strings") : join_strings(r, text.p, (size_t)(text.end - text.p));
}

/* The kind a Records message is of; NULL if the order has no record of it. */
static struct kind *
kind_of(struct binary *b, struct nsx_unread s)
{
	struct nsx_wire_field f;
	uint64_t kind = 0;

	while (nsx_get_field(&s, &f) > 0)
		if (f.field == RECORDS_KIND && f.wire == WIRE_VARINT)
			kind = f.number;
	return kind < b->kinds.n && b->kinds.p[kind].rows ? &b->kinds.p[kind] : NULL;
}

static int
read_records(struct nsx_reader *r, struct nsx_unread block)
{
	struct binary *b = r->state;
	struct nsx_unread s = block;
	struct nsx_wire_field f;
	const char *wrong;
	size_t need = 0;

	while (nsx_get_field(&s, &f) > 0) {
		if (f.field != BLOCK_RECORDS)
			continue;
		struct kind *k = f.wire == WIRE_BYTES ? kind_of(b, f.bytes) : NULL;
		size_t n = k ? nsx_columns_need(f.bytes, k->rows) : SIZE_MAX;
		/* c.n marks a kind that has had its message. */
		if (n == SIZE_MAX || k->c.n)
			return damaged(r, "records");
		k->c.n = k->rows;
		need += n;
	}
	if (b->pool.cap < need) {
		uint64_t *p = realloc(b->pool.p, need * sizeof *p);
		if (!p)
			return nsx_err_nomem(r->err, r->name);
		b->pool.p = p;
		b->pool.cap = need;
	}
	b->pool.n = 0;
	while (nsx_get_field(&block, &f) > 0) {
		if (f.field != BLOCK_RECORDS)
			continue;
		struct kind *k = kind_of(b, f.bytes);
		wrong = nsx_columns_decode(&k->c, f.bytes, &k->heads, k->rows, b->strings.n, &b->pool);
		if (wrong)
			return damaged(r, wrong);
	}
	return NSX_OK;
}

static int
read_block(struct nsx_reader *r, struct nsx_unread block)
{
	struct binary *b = r->state;
	struct nsx_unread s = block;
	struct nsx_wire_field f;
	size_t met = b->kinds.n;
	int rc, good = NSX_OK;

	b->blocks++;
	b->run = b->left = 0;
	b->now = NULL;
	b->order_kinds.n = b->order_counts.n = b->strings.n = 0;
	for (size_t i = 0; i < met; i++) {
		b->kinds.p[i].rows = b->kinds.p[i].at = 0;
		b->kinds.p[i].filled = false;
		b->kinds.p[i].c = (struct nsx_columns){ 0 };
	}
	while (good == NSX_OK && (rc = nsx_get_field(&s, &f)) != 0) {
		if (rc < 0)
			return damaged(r, "a field");
		if ((f.field == BLOCK_KIND || f.field == BLOCK_STRINGS) && f.wire != WIRE_BYTES)
			return damaged(r, "a field");
		if (f.field == BLOCK_KIND)
			good = add_kind(r, f.bytes);
		else if (f.field == BLOCK_ORDER_KINDS)
			good = read_list(r, &f, &b->order_kinds, NSX_BLOCK_MAX_ROWS + NSX_MAX_KINDS);
		else if (f.field == BLOCK_ORDER_COUNTS)
			good = read_list(r, &f, &b->order_counts, NSX_BLOCK_MAX_ROWS + NSX_MAX_KINDS);
		else if (f.field == BLOCK_STRINGS)
			good = read_strings(r, f.bytes);
	}
	if (good != NSX_OK || check_order(r, met) != NSX_OK)
		return NSX_ERR;
	return read_records(r, block);
}

/* ---- its records ---- */

/* A header's place in the order. */
static int
meet(struct nsx_reader *r, struct kind *k)
{
	struct nsx_head cols[NSX_MAX_COLS];
	struct nsx_str name;
	size_t n;

	if (!read_kind(k->message, &name, cols, &n))
		return damaged(r, "a kind");
	k->met = nsx_reader_declare(r, name, cols, n);
	if (k->met && k->met->kind->id == NSX_END && k->rows)
		return damaged(r, "an end record among the others");
	return k->met ? NSX_OK : NSX_ERR;
}

/* Where the columns that have values go. */
static void
fill(struct kind *k)
{
	k->filled = k->straight = true;
	k->ncols = 0;
	k->has = 0;
	for (int strings = 1; strings >= 0; strings--) {
		for (int i = 0; i < k->met->n; i++) {
			if (!k->c.v[i] || (k->heads.type[i] == 's') != strings)
				continue;
			uint8_t slot = k->met->kind->order[i];

			k->way[k->ncols++] = (struct way){ k->c.v[i], slot, (uint8_t)i };
			k->has |= 1ULL << slot;
			k->straight = k->straight && slot == i;
		}
		if (strings)
			k->nstrings = k->ncols;
	}
}

static uint64_t
present(const struct kind *k, size_t at)
{
	uint64_t has = 0;

	if (k->straight)
		return k->c.has[at];
	for (int i = 0; i < k->ncols; i++)
		has |= (k->c.has[at] >> k->way[i].col & 1) << k->way[i].slot;
	return has;
}

static void
assemble(struct nsx_reader *r, struct kind *k, struct nsx_rec *rec)
{
	const struct nsx_str *strings = ((struct binary *)r->state)->strings.p;
	const struct way *w = k->way, *strings_end = w + k->nstrings, *end = w + k->ncols;
	size_t at = k->at++;

	rec->kind = k->met->kind;
	rec->has = k->c.has ? present(k, at) : k->has;
	for (; w < strings_end; w++)
		r->v[w->slot].s = strings[w->from[at]];
	/* Doubles are their 64 bits. */
	for (; w < end; w++)
		r->v[w->slot].i = (int64_t)w->from[at];
}

static int
at_end(struct nsx_reader *r, struct nsx_unread s)
{
	struct nsx_wire_field f;
	uint64_t records = 0;
	int rc;

	while ((rc = nsx_get_field(&s, &f)) > 0)
		if (f.field == END_RECORDS && f.wire == WIRE_VARINT)
			records = f.number;
	if (rc < 0)
		return nsx_err_set(r->err, "%s: damaged end", r->name);
	if (records != (uint64_t)r->records)
		return nsx_err_set(r->err, "%s: %" PRId64 " records, but its end counts %" PRIu64, r->name, r->records,
		                   records);
	rc = nsx_input_need(&r->in, 2 * NSX_VARINT_MAX);
	if (rc == NSX_ERR || r->in.end == r->in.pos)
		return rc;
	if (nsx_binary_magic(r->in.buf + r->in.pos, r->in.end - r->in.pos))
		return nsx_err_set(r->err, "%s: two streams one after the other: use nsysx-merge", r->name);
	return nsx_err_set(r->err, "%s: something after the end record", r->name);
}

/* Read the next block; NSX_EOF after the end of the stream. */
static int
next_block(struct nsx_reader *r)
{
	struct binary *b = r->state;
	struct nsx_unread s;
	unsigned field;
	size_t n;

	r->in.pos += b->taken;
	b->taken = 0;
	int rc = next_message(r, &field, &s, &n);
	if (rc != NSX_OK)
		return rc == NSX_EOF ? nsx_reader_cut(r) : rc;
	if (field == STREAM_HEADER)
		return nsx_err_set(r->err, "%s: two streams one after the other: use nsysx-merge", r->name);
	if (field == STREAM_END) {
		r->in.pos += n;
		return at_end(r, s);
	}
	b->taken = n;
	return field == STREAM_BLOCK ? read_block(r, s) : NSX_OK;
}

static int
binary_next(struct nsx_reader *r, struct nsx_rec *rec)
{
	struct binary *b = r->state;

	while (!b->left) {
		if (b->run < b->order_kinds.n) {
			struct kind *k = &b->kinds.p[b->order_kinds.p[b->run]];

			if (!k->met && meet(r, k) != NSX_OK)
				return NSX_ERR;
			if (!k->filled)
				fill(k);
			b->now = k;
			b->left = (size_t)b->order_counts.p[b->run++];
			continue;
		}
		int rc = next_block(r);
		if (rc != NSX_OK)
			return rc;
	}
	b->left--;
	assemble(r, b->now, rec);
	return NSX_OK;
}

const struct nsx_decoder nsx_binary_decoder = { binary_begin, binary_next, binary_where, binary_close };
