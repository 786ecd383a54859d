/* binary_read.c -- reads the binary encoding: docs/format.md, "Binary". A block is decoded whole, then returned record
 * by record (binary_records.c). Of a file the next block is decoded on another thread in the meantime. */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "stream/binary_read.h"

/* Not worth a thread: a stream of fewer blocks than SHORT, and a block of which fewer than LITTLE numbers are decoded,
 * which takes less time than waking a thread. */
enum { SHORT = 8, LITTLE = 1 << 14 };

static int
damaged(struct nsx_reader *r, const char *what)
{
	const struct nsx_binary *b = r->state;

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

	struct nsx_binary *b = r->state = calloc(1, sizeof *b);
	if (!b)
		return nsx_err_nomem(r->err, r->name);
	b->cur = &b->data[0];
	b->all = !r->needs;
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
	struct nsx_binary *b = r->state;

	if (!b)
		return;
	nsx_worker_free(b->worker);
	for (size_t i = 0; i < b->kinds.n; i++) {
		free(b->kinds.p[i].v);
		free(b->kinds.p[i].values.p);
		free(b->kinds.p[i].absent.p);
	}
	free(b->kinds.p);
	free(b->declared.p);
	for (int i = 0; i < 2; i++)
		nsx_block_data_free(&b->data[i]);
	free(b);
}

/* ---- a block ---- */

static int
add_kind(struct nsx_reader *r, struct nsx_unread s)
{
	struct nsx_binary *b = r->state;
	struct nsx_head cols[NSX_MAX_COLS];
	struct nsx_str name;
	struct nsx_binary_kind k = { .message = s };
	struct nsx_block_kind d = { .look = 0 };
	size_t n;

	if (!nsx_block_read_kind(s, &name, cols, &n))
		return damaged(r, "a kind");
	if (b->kinds.n > NSX_MAX_KINDS)
		return damaged(r, "too many kinds");
	d.wanted = nsx_reader_wanted(r, name, cols, n, &d.skip);
	d.value = nsx_reader_value(r, name, cols, n);
	d.heads.ncols = (int)n;
	for (size_t i = 0; i < n; i++)
		d.heads.type[i] = cols[i].type;
	k.skip = d.skip;
	bool runs = !k.skip && nsx_reader_runs_of(r, name, &d.compare);
	if (runs && !(k.run = nsx_arena_alloc(&r->arena, sizeof *k.run)))
		return nsx_err_nomem(r->err, r->name);
	return nsx_vec_push(&b->declared, d) && nsx_vec_push(&b->kinds, k) ? NSX_OK
	                                                                   : nsx_err_nomem(r->err, r->name);
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

/* Fail if decoding has. */
static int
decoded(struct nsx_reader *r, const char *wrong)
{
	if (!wrong) {
		nsx_binary_begin_records(r->state);
		return NSX_OK;
	}
	return *wrong ? damaged(r, wrong) : nsx_err_nomem(r->err, r->name);
}

/* looked: only as far as r->look requires, unless the block has headers. */
static int
read_block(struct nsx_reader *r, struct nsx_unread block, bool looked)
{
	struct nsx_binary *b = r->state;
	struct nsx_unread s = block;
	struct nsx_wire_field f;
	size_t met = b->kinds.n;
	int rc;

	while ((rc = nsx_get_field(&s, &f)) != 0) {
		if (rc < 0 || (f.field == BLOCK_KIND && f.wire != WIRE_BYTES))
			return damaged(r, "a field");
		if (f.field == BLOCK_KIND && add_kind(r, f.bytes) != NSX_OK)
			return NSX_ERR;
	}
	b->met = met;
	looked = looked && met == b->kinds.n;
	for (size_t i = 0; i < met && looked; i++)
		b->declared.p[i].look = looked_at(r, b->kinds.p[i].met);
	return decoded(r, nsx_block_decode(b->cur, block, b->declared.p, b->declared.n, met, looked,
	                                   b->all && !looked));
}

/* ---- the records of a block ---- */

/* The position of a header in the order. */
static int
meet(struct nsx_reader *r, struct nsx_binary_kind *k)
{
	struct nsx_head cols[NSX_MAX_COLS];
	struct nsx_str name;
	size_t n;

	if (!nsx_block_read_kind(k->message, &name, cols, &n))
		return damaged(r, "a kind");
	k->met = nsx_reader_declare(r, name, cols, n);
	if (k->met) {
		nsx_reader_times(k->met->kind, &k->start, &k->dur);
		nsx_order_slots(k->met->kind->id, k->order);
	}
	if (k->met && k->met->kind->id == NSX_END && k->in->n)
		return damaged(r, "an end record among the others");
	return k->met ? NSX_OK : NSX_ERR;
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
	return nsx_err_set(r->err, "%s: data after the end record", r->name);
}

/* ---- the next block ---- */

static void
decode_ahead(void *state)
{
	struct nsx_binary *b = state;

	b->next_wrong = nsx_block_decode(b->cur == b->data ? b->data + 1 : b->data, b->next, b->declared.p,
	                                 b->declared.n, b->declared.n, false, b->all);
}

/* Whether a block has headers. */
static bool
declares(struct nsx_unread block)
{
	struct nsx_wire_field f;

	while (nsx_get_field(&block, &f) > 0)
		if (f.field == BLOCK_KIND)
			return true;
	return false;
}

/* Whether blocks can be decoded ahead: those of a file are there, and reading one does not delay the records of the one
 * before. */
static bool
can_be_ahead(struct nsx_reader *r)
{
	struct nsx_binary *b = r->state;
	struct stat st;

	if (b->ahead == AHEAD_UNKNOWN) {
		bool file = r->in.fd < 0 || (fstat(r->in.fd, &st) == 0 && S_ISREG(st.st_mode));

		if (file)
			b->worker = nsx_worker_new(decode_ahead, b);
		b->ahead = b->worker ? AHEAD_IDLE : AHEAD_NEVER;
	}
	return b->ahead == AHEAD_IDLE;
}

/* The block has been decoded: let the worker decode the one that follows, unless that has headers. Everything else that
 * may follow, and what is wrong with it, is found again when it is its turn; an error of the input is kept. */
static void
begin_ahead(struct nsx_reader *r)
{
	struct nsx_binary *b = r->state;
	struct nsx_err frame = { 0 }, *err = r->err;
	unsigned field;

	if (!r->all || r->looks || b->blocks < SHORT || b->cur->pool.n < LITTLE || !can_be_ahead(r)
	    || declares(b->bytes))
		return;
	r->in.pos += b->taken;
	b->taken = 0;
	r->err = &frame;
	r->in.err = &b->input;
	int rc = next_message(r, &field, &b->next, &b->next_taken);
	r->err = r->in.err = err;
	if (rc != NSX_OK || field != STREAM_BLOCK || declares(b->next))
		return;
	b->ahead = AHEAD_BEGUN;
	nsx_worker_begin(b->worker);
}

/* The block that was decoded ahead. */
static int
take_ahead(struct nsx_reader *r)
{
	struct nsx_binary *b = r->state;

	nsx_worker_wait(b->worker);
	b->ahead = AHEAD_IDLE;
	b->cur = b->cur == b->data ? b->data + 1 : b->data;
	b->taken = b->next_taken;
	b->bytes = b->next;
	b->blocks++;
	b->first = r->records;
	return decoded(r, b->next_wrong);
}

/* Read the next block; NSX_EOF after the end of the stream. */
static int
next_block(struct nsx_reader *r)
{
	struct nsx_binary *b = r->state;
	struct nsx_unread s;
	unsigned field;
	size_t n;

	r->in.pos += b->taken;
	b->taken = 0;
	if (b->input.msg[0])
		return nsx_err_set(r->err, "%s", b->input.msg);
	int rc = b->ahead == AHEAD_BEGUN ? take_ahead(r) : next_message(r, &field, &s, &n);
	if (rc != NSX_OK)
		return rc == NSX_EOF ? nsx_reader_cut(r) : rc;
	if (b->taken) {
		begin_ahead(r);
		return NSX_OK;
	}
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
	if (read_block(r, s, r->looks) != NSX_OK)
		return NSX_ERR;
	begin_ahead(r);
	return NSX_OK;
}

struct nsx_block
nsx_binary_block(const struct nsx_reader *r)
{
	const struct nsx_binary *b = r->state;

	return (struct nsx_block){
		.looked = b->cur->looked, .rows = b->cur->rows,
		.first = b->first, .message = { r->in.buf + r->in.pos, b->taken },
		.contents = { (const char *)b->bytes.p, (size_t)(b->bytes.end - b->bytes.p) },
		.met = b->met, .declared = b->kinds.n, .nruns = b->cur->order_kinds.n,
		.kinds = b->cur->order_kinds.p, .counts = b->cur->order_counts.p
	};
}

bool
nsx_binary_done(const struct nsx_reader *r)
{
	const struct nsx_binary *b = r->state;

	return !b->left && b->run == b->cur->order_kinds.n;
}

int
nsx_binary_again(struct nsx_reader *r)
{
	struct nsx_binary *b = r->state;

	return read_block(r, b->bytes, false);
}

int
nsx_binary_replay(struct nsx_reader *r, struct nsx_str contents, size_t met, size_t declared)
{
	struct nsx_binary *b = r->state;
	const unsigned char *p = (const unsigned char *)contents.ptr;
	struct nsx_unread s = { p, p + contents.len };

	return decoded(r, nsx_block_decode(b->cur, s, b->declared.p, declared, met, false, b->all));
}

static int
binary_next(struct nsx_reader *r, struct nsx_rec *rec)
{
	struct nsx_binary *b = r->state;

	while (!b->left || b->now->run) {
		if (b->left && nsx_binary_pass_run(r, b->now) != NSX_OK)
			return NSX_ERR;
		if (b->run < b->cur->order_kinds.n) {
			struct nsx_binary_kind *k = &b->kinds.p[b->cur->order_kinds.p[b->run]];

			if (!k->met && meet(r, k) != NSX_OK)
				return NSX_ERR;
			if (k->skip)
				nsx_binary_find_run(r);
			else if (nsx_binary_begin_run(r, k) != NSX_OK)
				return NSX_ERR;
			continue;
		}
		int rc = next_block(r);
		if (rc != NSX_OK)
			return rc;
	}
	struct nsx_binary_kind *k = b->now;
	if (k->at == k->ready && !nsx_binary_assemble(b, k))
		return nsx_err_nomem(r->err, r->name);
	size_t i = k->at++ - (k->ready - 1) / NSX_BINARY_BATCH * NSX_BINARY_BATCH;
	b->left--;
	rec->kind = k->met->kind;
	rec->has = k->is[i];
	rec->v = k->v + i * k->wide;
	return NSX_OK;
}

const struct nsx_decoder nsx_binary_decoder = { binary_begin, binary_next, binary_where, binary_close };
