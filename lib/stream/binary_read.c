/* binary_read.c -- reads the binary encoding: docs/format.md, "Binary". A block is decoded whole, then returned record
 * by record. Of a file the next block is decoded on another thread in the meantime. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/worker.h"
#include "stream/binary_block.h"
#include "stream/codec.h"

/* Not worth a thread: a stream of fewer blocks than SHORT, and a block of which fewer than LITTLE numbers are decoded,
 * which takes less time than waking a thread. */
enum { BATCH = 32, SHORT = 8, LITTLE = 1 << 14 };

/* A declared kind. */
struct kind {
	struct nsx_met    *met;       /* NULL: declared in this block, its header not reached yet */
	struct nsx_unread  message;   /* while met is NULL */
	bool               skip;      /* its records are not needed */
	const struct nsx_block_rows *in;   /* its records of this block */
	size_t             at;        /* the index of the next of them */
	bool               filled;
	size_t             passed;    /* of this block: its records in the runs so far */
	size_t             told;      /* and how many of in->c.picked are among them */
	/* Columns that have values, and their slots: the first nstrings are strings. */
	int                ncols, nstrings;
	struct way { const uint64_t *from; uint8_t slot, col; bool dense; } way[NSX_MAX_COLS];
	uint64_t           has;       /* their slots */
	bool               straight;  /* column i goes to slot i */
	int                start, dur;   /* nsx_reader_times, of a kind that was met */
	int8_t             order[2];     /* nsx_order_slots */
	/* Records up to `ready` are assembled in v, `wide` apart, with their presence bits in is. */
	size_t             ready, wide;
	union nsx_val     *v;
	uint64_t           is[BATCH];
};

struct binary {
	NSX_VEC(struct kind) kinds;
	NSX_VEC(struct nsx_block_kind) declared;   /* the same */
	struct nsx_block_data data[2], *cur;       /* the block, and the one that is decoded ahead of it */
	size_t           run;         /* next of cur's runs */
	size_t           left;        /* records left of the current run */
	struct kind     *now;         /* its kind */
	size_t           taken;       /* bytes of the block in the window, consumed when all its records have been
	                               * returned */
	struct nsx_unread bytes;      /* the contents of the block */
	size_t           met;         /* kinds that were declared before it */
	int64_t          first;       /* records before it */
	int64_t          blocks;
	bool             all;         /* all columns of all kinds are needed */

	/* The next block, if it was given to the worker: its bytes are in the window. */
	struct nsx_worker *worker;
	enum { AHEAD_UNKNOWN, AHEAD_NEVER, AHEAD_IDLE, AHEAD_BEGUN } ahead;
	struct nsx_unread  next;
	size_t             next_taken;
	const char        *next_wrong;   /* nsx_block_decode's result */
	struct nsx_err     input;        /* reading it failed, unless empty */
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

	struct binary *b = r->state = calloc(1, sizeof *b);
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
	struct binary *b = r->state;

	if (!b)
		return;
	nsx_worker_free(b->worker);
	for (size_t i = 0; i < b->kinds.n; i++)
		free(b->kinds.p[i].v);
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
	struct binary *b = r->state;
	struct nsx_head cols[NSX_MAX_COLS];
	struct nsx_str name;
	struct kind k = { .message = s };
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

/* Return the records of b->cur from here on. */
static void
begin_records(struct binary *b)
{
	b->run = b->left = 0;
	b->now = NULL;
	for (size_t i = 0; i < b->cur->kinds.n; i++) {
		struct kind *k = &b->kinds.p[i];

		k->in = &b->cur->kinds.p[i];
		k->at = k->ready = k->passed = k->told = 0;
		k->filled = false;
	}
}

/* Fail if decoding has. */
static int
decoded(struct nsx_reader *r, const char *wrong)
{
	if (!wrong) {
		begin_records(r->state);
		return NSX_OK;
	}
	return *wrong ? damaged(r, wrong) : nsx_err_nomem(r->err, r->name);
}

/* looked: only as far as r->look requires, unless the block has headers. */
static int
read_block(struct nsx_reader *r, struct nsx_unread block, bool looked)
{
	struct binary *b = r->state;
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
meet(struct nsx_reader *r, struct kind *k)
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

/* The slots of the columns that have values. */
static void
fill(struct kind *k)
{
	k->filled = k->straight = true;
	k->ncols = 0;
	k->has = 0;
	for (int strings = 1; strings >= 0; strings--) {
		for (int i = 0; i < k->met->n; i++) {
			if (!k->in->c.v[i] || !(k->in->now >> i & 1) || (k->met->type[i] == 's') != strings)
				continue;
			uint8_t slot = k->met->kind->order[i];

			k->way[k->ncols++] = (struct way){ k->in->c.v[i], slot, (uint8_t)i, k->in->c.dense >> i & 1 };
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
	uint64_t columns = k->in->c.has[at] | k->in->c.all, has = 0;

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
	const struct nsx_str *strings = b->cur->strings.p;
	const struct way *w = k->way, *strings_end = w + k->nstrings, *end = w + k->ncols;
	size_t at = k->at, left = (k->in->c.picked ? k->in->c.npicked : k->in->n) - at, n = left < BATCH ? left : BATCH;
	size_t wide = k->wide;

	if (!k->v) {
		/* Code that copies a record may copy all slots. */
		wide = k->wide = (size_t)k->met->kind->nslots + 1;
		k->v = calloc(BATCH * k->wide + NSX_MAX_COLS, sizeof *k->v);
		if (!k->v)
			return false;
	}
	for (; w < end; w++) {
		const uint32_t *picked = !k->in->c.picked || w->dense ? NULL : k->in->c.picked + at;
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
		k->is[i] = k->in->c.has ? present(k, k->in->c.picked ? k->in->c.picked[at + i] : at + i) : k->has;
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
	return nsx_err_set(r->err, "%s: data after the end record", r->name);
}

/* ---- the next block ---- */

static void
decode_ahead(void *state)
{
	struct binary *b = state;

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
	struct binary *b = r->state;
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
	struct binary *b = r->state;
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
	struct binary *b = r->state;

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
	struct binary *b = r->state;
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
	const struct binary *b = r->state;

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
	const struct binary *b = r->state;

	return !b->left && b->run == b->cur->order_kinds.n;
}

int
nsx_binary_again(struct nsx_reader *r)
{
	struct binary *b = r->state;

	return read_block(r, b->bytes, false);
}

int
nsx_binary_replay(struct nsx_reader *r, struct nsx_str contents, size_t met, size_t declared)
{
	struct binary *b = r->state;
	const unsigned char *p = (const unsigned char *)contents.ptr;
	struct nsx_unread s = { p, p + contents.len };

	return decoded(r, nsx_block_decode(b->cur, s, b->declared.p, declared, met, false, b->all));
}

/* The number of needed records among the next n of a kind; the others are counted as read and lacking. */
static size_t
needed(struct nsx_reader *r, struct kind *k, size_t n)
{
	size_t from = k->told;

	if (!k->in->c.picked)
		return n;
	k->passed += n;
	while (k->told < k->in->c.npicked && k->in->c.picked[k->told] < k->passed)
		k->told++;
	size_t lacking = n - (k->told - from);

	r->records += (int64_t)lacking;
	r->lacking[k->met->kind->id] += (int64_t)lacking;
	return n - lacking;
}

/* The next of the block's runs, whose records are of kind k: those that are not needed are passed over. */
static void
begin_run(struct nsx_reader *r, struct kind *k)
{
	struct binary *b = r->state;
	size_t n = (size_t)b->cur->order_counts.p[b->run++];

	if (k->skip) {
		r->records += (int64_t)n;
		return;
	}
	if (!k->filled)
		fill(k);
	b->now = k;
	b->left = needed(r, k, n);
}

static int
binary_next(struct nsx_reader *r, struct nsx_rec *rec)
{
	struct binary *b = r->state;

	while (!b->left) {
		if (b->run < b->cur->order_kinds.n) {
			struct kind *k = &b->kinds.p[b->cur->order_kinds.p[b->run]];

			if (!k->met && meet(r, k) != NSX_OK)
				return NSX_ERR;
			begin_run(r, k);
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

/* Pass on the next n records, which are of kind k and assembled. */
static int
take_assembled(struct nsx_reader *r, struct kind *k, size_t n, struct nsx_rec *rec, nsx_take_fn *take, void *state)
{
	size_t i = n ? k->at - (k->ready - 1) / BATCH * BATCH : 0, wide = k->wide;
	const uint64_t *has = k->is + i;
	int start = k->start, dur = k->dur;
	bool ordered = r->flags & NSX_READ_ORDERED;
	uint64_t timed = start >= 0 ? 1ULL << start | 1ULL << dur : 0;
	int64_t end;

	k->at += n;
	rec->kind = k->met->kind;
	rec->v = k->v + i * wide;
	for (; n > 0; n--, rec->v += wide) {
		rec->has = *has++;
		r->records++;
		if (timed && (rec->has & timed) == timed)
			r->beyond += __builtin_add_overflow(rec->v[start].i, rec->v[dur].i, &end);
		if (ordered && !nsx_reader_comes_after(r, k->order, rec) && nsx_reader_check_order(r, rec) != NSX_OK)
			return NSX_ERR;
		if (take(state, rec) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

int
nsx_binary_rest(struct nsx_reader *r, struct nsx_rec *rec, nsx_take_fn *take, void *state)
{
	struct binary *b = r->state;

	for (;;) {
		struct kind *k = b->now;

		while (b->left) {
			if (k->at == k->ready && !assemble(b, k))
				return nsx_err_nomem(r->err, r->name);
			size_t n = k->ready - k->at < b->left ? k->ready - k->at : b->left;
			b->left -= n;
			if (take_assembled(r, k, n, rec, take, state) != NSX_OK)
				return NSX_ERR;
		}
		if (b->run == b->cur->order_kinds.n)
			return NSX_OK;
		k = &b->kinds.p[b->cur->order_kinds.p[b->run]];
		if (!k->met || k->met->kind->id == NSX_DIAG)
			return NSX_OK;
		begin_run(r, k);
	}
}

const struct nsx_decoder nsx_binary_decoder = { binary_begin, binary_next, binary_where, binary_close };
