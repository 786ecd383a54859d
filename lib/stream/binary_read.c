/* binary_read.c -- reads the binary encoding: docs/format.md, "Binary". A block is decoded whole, then returned record
 * by record. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stream/codec.h"
#include "stream/columns.h"
#include "stream/strings.h"

enum { BATCH = 32 };

/* A declared kind. */
struct kind {
	struct nsx_heads   heads;
	struct nsx_met    *met;       /* NULL: declared in this block, its header not reached yet */
	struct nsx_unread    message;   /* while met is NULL */
	struct nsx_columns c;         /* of this block */
	size_t             rows, at;  /* of this block: number of records, and index of the next */
	bool               filled;
	bool               skip;      /* its records are not needed */
	uint64_t           wanted;    /* columns of its header that are needed */
	int                value;     /* column without which its records are not needed, -1: none (nsx_reader_value) */
	size_t             passed;    /* of this block: its records in the runs so far */
	size_t             told;      /* and how many of c.picked are among them */
	uint64_t           now;       /* the same for this block: only those in r->look while it is decoded only that
	                               * far */
	/* Columns of c that have values, and their slots: the first nstrings are strings. */
	int                ncols, nstrings;
	struct way { const uint64_t *from; uint8_t slot, col; bool dense; } way[NSX_MAX_COLS];
	uint64_t           has;       /* their slots */
	bool               straight;  /* column i goes to slot i */
	/* Records up to `ready` are assembled in v, `wide` apart, with their presence bits in is. */
	size_t             ready, wide;
	union nsx_val     *v;
	uint64_t           is[BATCH];
};

struct list { uint64_t *p; size_t n, cap; };

struct binary {
	NSX_VEC(struct kind) kinds;
	struct list      order_kinds, order_counts;
	size_t           run;         /* next of these */
	size_t           left;        /* records left of the current run */
	struct kind     *now;         /* its kind */
	size_t           taken;       /* bytes of the block in the window, consumed when all its records have been
	                               * returned */
	struct nsx_unread bytes;      /* the contents of the block */
	size_t           rows;        /* its records */
	int64_t          first;       /* records before it */
	bool             looked;      /* its columns are decoded as far as r->look requires */
	int64_t          blocks;
	struct nsx_strings strings;
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

/* The next message of the stream: its field and bytes, which stay in the window and are not consumed yet (n: with tag
 * and length). NSX_OK, NSX_EOF at the end of the input, NSX_ERR. */
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
		/* Too few bytes to recognise the format. */
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
	for (size_t i = 0; i < b->kinds.n; i++)
		free(b->kinds.p[i].v);
	free(b->kinds.p);
	free(b->order_kinds.p);
	free(b->order_counts.p);
	nsx_strings_free(&b->strings);
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

/* A Kind message; cols has space for NSX_MAX_COLS. */
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
	k.wanted = nsx_reader_wanted(r, name, cols, n, &k.skip);
	k.value = nsx_reader_value(r, name, cols, n);
	k.heads.ncols = (int)n;
	for (size_t i = 0; i < n; i++)
		k.heads.type[i] = cols[i].type;
	return nsx_vec_push(&b->kinds, k) ? NSX_OK : nsx_err_nomem(r->err, r->name);
}

/* The record order, and from it the number of records of each kind. */
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
	b->rows = rows;
	return met == b->kinds.n ? NSX_OK : damaged(r, "a kind without a place");
}

/* The error in the strings. */
static int
bad_strings(struct nsx_reader *r, const char *wrong)
{
	return !wrong ? NSX_OK : *wrong ? damaged(r, wrong) : nsx_err_nomem(r->err, r->name);
}

/* Assemble the strings of the columns to be read. */
static int
join_strings(struct nsx_reader *r)
{
	struct binary *b = r->state;
	bool all = !r->needs && !b->looked;

	for (size_t i = 0; i < b->kinds.n && !all; i++) {
		const struct kind *k = &b->kinds.p[i];

		for (int col = 0; col < k->heads.ncols; col++) {
			const uint64_t *v = k->c.v[col];

			if (!v || k->heads.type[col] != 's' || !(k->now >> col & 1))
				continue;
			if (k->c.picked && !(k->c.dense >> col & 1))
				for (size_t at = 0; at < k->c.npicked; at++)
					b->strings.wanted[v[k->c.picked[at]]] = 1;
			else
				for (size_t row = 0; row < (k->c.picked ? k->c.npicked : k->rows); row++)
					b->strings.wanted[v[row]] = 1;
		}
	}
	return bad_strings(r, nsx_strings_join(&b->strings, all, b->looked));
}

/* The kind of a Records message; NULL if the order has no record of it. */
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
	size_t need = 0;

	while (nsx_get_field(&s, &f) > 0) {
		if (f.field != BLOCK_RECORDS)
			continue;
		struct kind *k = f.wire == WIRE_BYTES ? kind_of(b, f.bytes) : NULL;
		size_t n = k ? nsx_columns_need(f.bytes, k->rows) : SIZE_MAX;
		/* c.n marks a kind whose message has been read. */
		if (n == SIZE_MAX || k->c.n)
			return damaged(r, "records");
		k->c.n = k->rows;
		need += k->skip ? 0 : n;
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
		if (k->skip)
			continue;
		const struct nsx_rows rows = { &k->heads, k->rows, b->strings.n, k->now, k->value, b->looked };
		const char *wrong = nsx_columns_decode(&k->c, f.bytes, &rows, &b->pool);
		if (wrong)
			return damaged(r, wrong);
	}
	return join_strings(r);
}

/* The columns in r->look of a kind whose header has been read. */
static uint64_t
looked_at(const struct nsx_reader *r, const struct nsx_met *met)
{
	uint64_t slots = r->look[met->kind->id], columns = 0;

	if (slots == NSX_EVERY)
		return NSX_EVERY;
	for (int i = 0; i < met->n; i++)
		columns |= (slots >> met->kind->order[i] & 1) << i;
	return columns;
}

static int
read_block(struct nsx_reader *r, struct nsx_unread block)
{
	struct binary *b = r->state;
	struct nsx_unread s = block;
	struct nsx_wire_field f;
	size_t met = b->kinds.n;
	int rc, good = NSX_OK;

	b->run = b->left = 0;
	b->now = NULL;
	b->order_kinds.n = b->order_counts.n = 0;
	nsx_strings_open(&b->strings, (struct nsx_unread){ s.p, s.p });
	for (size_t i = 0; i < met; i++) {
		b->kinds.p[i].rows = b->kinds.p[i].at = b->kinds.p[i].ready = 0;
		b->kinds.p[i].passed = b->kinds.p[i].told = 0;
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
			good = bad_strings(r, nsx_strings_open(&b->strings, f.bytes));
	}
	if (good != NSX_OK || check_order(r, met) != NSX_OK)
		return NSX_ERR;
	/* A block with headers is decoded whole. */
	b->looked = b->looked && met == b->kinds.n;
	for (size_t i = 0; i < b->kinds.n; i++)
		b->kinds.p[i].now = b->looked ? looked_at(r, b->kinds.p[i].met) : b->kinds.p[i].wanted;
	return read_records(r, block);
}

/* ---- the records of a block ---- */

/* The position of a header in the order. */
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

/* The slots of the columns that have values. */
static void
fill(struct kind *k)
{
	k->filled = k->straight = true;
	k->ncols = 0;
	k->has = 0;
	for (int strings = 1; strings >= 0; strings--) {
		for (int i = 0; i < k->met->n; i++) {
			if (!k->c.v[i] || !(k->now >> i & 1) || (k->heads.type[i] == 's') != strings)
				continue;
			uint8_t slot = k->met->kind->order[i];

			k->way[k->ncols++] = (struct way){ k->c.v[i], slot, (uint8_t)i, k->c.dense >> i & 1 };
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
	uint64_t columns = k->c.has[at] | k->c.all, has = 0;

	/* Columns that others refer to may be decoded without being needed. */
	if (k->straight)
		return columns & k->has;
	for (int i = 0; i < k->ncols; i++)
		has |= (columns >> k->way[i].col & 1) << k->way[i].slot;
	return has;
}

/* Assemble the next records, column by column: false when out of memory. */
static bool
assemble(struct binary *b, struct kind *k)
{
	const struct nsx_str *strings = b->strings.p;
	const struct way *w = k->way, *strings_end = w + k->nstrings, *end = w + k->ncols;
	size_t at = k->at, left = (k->c.picked ? k->c.npicked : k->rows) - at, n = left < BATCH ? left : BATCH;
	size_t wide = k->wide;

	if (!k->v) {
		/* Code that copies a record may copy all slots. */
		wide = k->wide = (size_t)k->met->kind->nslots + 1;
		k->v = calloc(BATCH * k->wide + NSX_MAX_COLS, sizeof *k->v);
		if (!k->v)
			return false;
	}
	for (; w < end; w++) {
		const uint32_t *picked = !k->c.picked || w->dense ? NULL : k->c.picked + at;
		const uint64_t *from = picked ? w->from : w->from + at;
		union nsx_val *to = k->v + w->slot;

		/* Doubles are stored as their 64 bits. */
		if (w < strings_end)
			for (size_t i = 0; i < n; i++, to += wide)
				to->s = strings[from[picked ? picked[i] : i]];
		else if (picked)
			for (size_t i = 0; i < n; i++, to += wide)
				to->i = (int64_t)from[picked[i]];
		else
			for (size_t i = 0; i < n; i++, to += wide)
				to->i = (int64_t)from[i];
	}
	for (size_t i = 0; i < n; i++)
		k->is[i] = k->c.has ? present(k, k->c.picked ? k->c.picked[at + i] : at + i) : k->has;
	k->ready = at + n;
	return true;
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
	if (field != STREAM_BLOCK)
		return NSX_OK;
	b->blocks++;
	b->bytes = s;
	b->first = r->records;
	b->looked = r->looks;
	return read_block(r, s);
}

struct nsx_block
nsx_binary_block(const struct nsx_reader *r)
{
	const struct binary *b = r->state;

	return (struct nsx_block){
		.looked = b->looked, .done = !b->left && b->run == b->order_kinds.n, .rows = b->rows,
		.first = b->first, .message = { r->in.buf + r->in.pos, b->taken }, .nruns = b->order_kinds.n,
		.kinds = b->order_kinds.p, .counts = b->order_counts.p
	};
}

int
nsx_binary_again(struct nsx_reader *r)
{
	struct binary *b = r->state;

	b->looked = false;
	return read_block(r, b->bytes);
}

/* The number of needed records among the next n of a kind; the others are counted as read and lacking. */
static size_t
needed(struct nsx_reader *r, struct kind *k, size_t n)
{
	size_t from = k->told;

	if (!k->c.picked)
		return n;
	k->passed += n;
	while (k->told < k->c.npicked && k->c.picked[k->told] < k->passed)
		k->told++;
	size_t lacking = n - (k->told - from);

	r->records += (int64_t)lacking;
	r->lacking[k->met->kind->id] += (int64_t)lacking;
	return n - lacking;
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
			size_t n = (size_t)b->order_counts.p[b->run++];
			if (k->skip) {
				r->records += (int64_t)n;
				continue;
			}
			if (!k->filled)
				fill(k);
			b->now = k;
			b->left = needed(r, k, n);
			continue;
		}
		int rc = next_block(r);
		if (rc != NSX_OK)
			return rc;
	}
	struct kind *k = b->now;
	if (k->at == k->ready && !assemble(b, k))
		return nsx_err_nomem(r->err, r->name);
	size_t i = k->at++ - (k->ready - 1) / BATCH * BATCH;
	b->left--;
	rec->kind = k->met->kind;
	rec->has = k->is[i];
	rec->v = k->v + i * k->wide;
	return NSX_OK;
}

size_t
nsx_binary_take(struct nsx_reader *r, union nsx_val **v, size_t *wide, const uint64_t **has)
{
	struct binary *b = r->state;
	struct kind *k = b->now;
	size_t n = k->ready - k->at < b->left ? k->ready - k->at : b->left;
	size_t i = n ? k->at - (k->ready - 1) / BATCH * BATCH : 0;

	*wide = k->wide;
	*v = k->v + i * k->wide;
	*has = k->is + i;
	k->at += n;
	b->left -= n;
	return n;
}

const struct nsx_decoder nsx_binary_decoder = { binary_begin, binary_next, binary_where, binary_close };
