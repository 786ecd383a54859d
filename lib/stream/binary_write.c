/* binary_write.c -- the binary encoding, written: docs/format.md, "Binary". Records wait, column by column, until a block
 * is full; how each column is stored is chosen by measuring a fixed sample of it, so equal records give equal bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stream/binary.h"
#include "stream/codec.h"
#include "stream/predict.h"
#include "stream/wire.h"

enum {
	BACK = 8,          /* strings looked back at for a common beginning */
	SMALL = 64         /* records that a kind first gets room for */
};

/* The waiting records of one kind. */
struct rows {
	struct nsx_layout layout;
	uint32_t  number;
	size_t    n, cap;
	uint64_t *has;                  /* bit i: column i of the header has a value */
	uint64_t *v[NSX_MAX_COLS];      /* 0 where absent; strings by arrival in `strings` */
};

struct block {
	struct nsx_intern strings;      /* in order of arrival */
	size_t            bytes;        /* of strings, repeated ones too */
	size_t            nrows;
	NSX_VEC(struct nsx_put *) declared;
	NSX_VEC(uint32_t) order_kinds, order_counts;
	NSX_VEC(uint32_t) place;        /* of a string in the block, by arrival; NSX_NONE: none yet */
	NSX_VEC(struct nsx_str) table;  /* the block's strings */
	struct nsx_predictor predictor;
	struct nsx_buf records, strs, part;
};

static int
nomem(struct nsx_writer *w)
{
	return nsx_err_nomem(w->err, w->name);
}

static int
binary_begin(struct nsx_writer *w)
{
	struct block *b = w->state = calloc(1, sizeof *b);

	if (!b)
		return nomem(w);
	nsx_buf_add(&w->buf, "\x0a\x09\x0a\x05nsysx\x10", 10);
	nsx_buf_char(&w->buf, NSX_STREAM_VERSION);
	return w->buf.failed ? nomem(w) : NSX_OK;
}

static bool
add_run(struct block *b, uint32_t kind, uint32_t count)
{
	if (b->order_kinds.n && b->order_kinds.p[b->order_kinds.n - 1] == kind) {
		b->order_counts.p[b->order_counts.n - 1] += count;
		return true;
	}
	return nsx_vec_push(&b->order_kinds, kind) && nsx_vec_push(&b->order_counts, count);
}

static int
binary_header(struct nsx_writer *w, struct nsx_put *p)
{
	struct block *b = w->state;
	struct rows *k = p->state = calloc(1, sizeof *k);

	if (!k)
		return nomem(w);
	k->number = (uint32_t)p->index;
	nsx_layout_plan(&k->layout, p->cols, p->ncols);
	return nsx_vec_push(&b->declared, p) && add_run(b, k->number, 0) ? NSX_OK : nomem(w);
}

static bool
grow(struct rows *k, int ncols)
{
	size_t cap = k->cap ? k->cap * 2 : SMALL;
	uint64_t *has = realloc(k->has, cap * sizeof *has);

	if (!has)
		return false;
	k->has = has;
	for (int i = 0; i < ncols; i++) {
		uint64_t *v = realloc(k->v[i], cap * sizeof *v);

		if (!v)
			return false;
		k->v[i] = v;
	}
	k->cap = cap;
	return true;
}

/* Make the first strings of a column the block's next ones, and its values places in the block. */
static bool
place_strings(struct block *b, const struct rows *k, int col)
{
	uint64_t *v = k->v[col];

	for (size_t r = 0; r < k->n; r++) {
		if (!(k->has[r] >> col & 1))
			continue;
		uint32_t *place = &b->place.p[v[r]];
		if (*place == NSX_NONE) {
			*place = (uint32_t)b->table.n;
			if (!nsx_vec_push(&b->table, b->strings.strs[v[r]]))
				return false;
		}
		v[r] = *place;
	}
	return true;
}

static size_t
common(struct nsx_str a, struct nsx_str b)
{
	size_t n = a.len < b.len ? a.len : b.len, i = 0;

	for (; n - i >= 8; i += 8)
		if (memcmp(a.ptr + i, b.ptr + i, 8) != 0)
			break;
	while (i < n && a.ptr[i] == b.ptr[i])
		i++;
	return i;
}

static void
put_strings(struct block *b)
{
	struct nsx_buf *out = &b->strs, *part = &b->part;
	size_t n = b->table.n;
	const struct nsx_str *s = b->table.p;
	/* Three lists, gathered in one pass: back and shared lie behind one another in the scratch of the predictor. */
	uint64_t *back = b->predictor.scratch, *shared = back + n;

	for (size_t i = 0; i < n; i++) {
		back[i] = shared[i] = 0;
		for (size_t j = i; j > 0 && i - j < BACK; j--) {
			size_t same = common(s[j - 1], s[i]);

			/* One place further back must save more than it may cost. */
			if (same > shared[i] + (i - j > 0)) {
				shared[i] = same;
				back[i] = i - j;
			}
		}
	}
	out->len = 0;
	nsx_put_list(out, STRINGS_BACK, back, n, part);
	nsx_put_list(out, STRINGS_SHARED, shared, n, part);
	for (size_t i = 0; i < n; i++)
		back[i] = s[i].len - shared[i];
	nsx_put_list(out, STRINGS_LENGTH, back, n, part);
	part->len = 0;
	for (size_t i = 0; i < n; i++)
		nsx_buf_add(part, s[i].ptr + shared[i], s[i].len - shared[i]);
	nsx_put_bytes(out, STRINGS_TEXT, nsx_buf_view(part));
}

static int
put_records(struct nsx_writer *w, struct nsx_put *p)
{
	struct block *b = w->state;
	struct rows *k = p->state;
	struct nsx_table t = { &k->layout, k->n, k->has, { NULL } };

	for (int i = 0; i < p->ncols; i++) {
		int col = k->layout.list[i];

		t.v[col] = k->v[col];
		if (p->cols[col].type == 's' && !place_strings(b, k, col))
			return nomem(w);
	}
	return nsx_put_records(&b->predictor, &b->records, k->number, &t) ? NSX_OK : nomem(w);
}

static void
put_kind(struct nsx_buf *out, const struct nsx_put *p, struct nsx_buf *kind, struct nsx_buf *col)
{
	kind->len = 0;
	nsx_put_bytes(kind, KIND_NAME, nsx_str_c(p->name));
	for (int i = 0; i < p->ncols; i++) {
		col->len = 0;
		nsx_put_bytes(col, COLUMN_NAME, p->cols[i].name);
		nsx_put_number(col, COLUMN_TYPE, p->cols[i].type == 'f' ? 1 : p->cols[i].type == 's' ? 2 : 0);
		nsx_put_bytes(kind, KIND_COLUMN, nsx_buf_view(col));
	}
	nsx_put_bytes(out, BLOCK_KIND, nsx_buf_view(kind));
}

static int
put_all_records(struct nsx_writer *w)
{
	struct block *b = w->state;

	b->table.n = 0;
	b->records.len = 0;
	if (!nsx_vec_room(&b->place, b->strings.n))
		return nomem(w);
	if (b->strings.n)
		memset(b->place.p, 0xff, b->strings.n * sizeof *b->place.p);
	for (size_t i = 0; i < w->puts.n; i++) {
		struct rows *k = w->puts.p[i]->state;

		if (k->n && put_records(w, w->puts.p[i]) != NSX_OK)
			return NSX_ERR;
		k->n = 0;
	}
	return nsx_predictor_room(&b->predictor, b->table.n * 2) ? NSX_OK : nomem(w);
}

static int
flush(struct nsx_writer *w)
{
	struct block *b = w->state;
	struct nsx_buf *out = &w->buf;
	struct nsx_buf head = { 0 }, kind = { 0 };

	if (b->order_kinds.n == 0)
		return NSX_OK;
	if (put_all_records(w) != NSX_OK)
		return NSX_ERR;
	if (b->table.n)
		put_strings(b);
	for (size_t i = 0; i < b->declared.n; i++)
		put_kind(&head, b->declared.p[i], &kind, &b->part);
	nsx_put_list32(&head, BLOCK_ORDER_KINDS, b->order_kinds.p, b->order_kinds.n, &b->part);
	nsx_put_list32(&head, BLOCK_ORDER_COUNTS, b->order_counts.p, b->order_counts.n, &b->part);
	if (b->table.n)
		nsx_put_bytes(&head, BLOCK_STRINGS, nsx_buf_view(&b->strs));
	nsx_put_tag(out, STREAM_BLOCK, WIRE_BYTES);
	nsx_put_varint(out, head.len + b->records.len);
	nsx_buf_str(out, nsx_buf_view(&head));
	nsx_buf_str(out, nsx_buf_view(&b->records));
	bool failed = head.failed || kind.failed || b->part.failed || b->strs.failed || b->records.failed || out->failed;
	nsx_buf_free(&head);
	nsx_buf_free(&kind);
	if (failed)
		return nomem(w);
	nsx_intern_reset(&b->strings);
	b->bytes = b->nrows = b->declared.n = b->order_kinds.n = b->order_counts.n = 0;
	return nsx_writer_flush(w);
}

static int
binary_record(struct nsx_writer *w, struct nsx_put *p, const struct nsx_rec *rec)
{
	struct block *b = w->state;
	struct rows *k = p->state;
	size_t r = k->n, before = b->bytes;
	uint64_t has = 0;

	if (r == k->cap && !grow(k, p->ncols))
		return nomem(w);
	for (int i = 0; i < p->ncols; i++) {
		unsigned slot = p->from[i];
		uint64_t x = 0;

		if (slot != NSX_NO_SLOT && nsx_has(rec, (int)slot)) {
			const union nsx_val *v = &rec->v[slot];

			has |= 1ULL << i;
			if (p->cols[i].type == 's') {
				x = nsx_intern(&b->strings, v->s);
				if (x == NSX_NONE)
					return nomem(w);
				b->bytes += v->s.len;
			} else if (p->cols[i].type == 'f' && isnan(v->f)) {
				x = 0x7ff8000000000000;   /* text has one, too */
			} else {
				memcpy(&x, v, sizeof x);
			}
		}
		k->v[i][r] = x;
	}
	k->has[r] = has;
	k->n++;
	if (!add_run(b, k->number, 1))
		return nomem(w);
	if (b->bytes - before > NSX_LINE_MAX)
		return nsx_err_set(w->err, "%s: a %s record of more than %d bytes", w->name, p->name, (int)NSX_LINE_MAX);
	return ++b->nrows >= NSX_BLOCK_ROWS || b->bytes >= NSX_BLOCK_FULL ? flush(w) : NSX_OK;
}

static int
binary_end(struct nsx_writer *w, struct nsx_put *p)
{
	struct nsx_buf end = { 0 };

	(void)p;
	if (flush(w) != NSX_OK)
		return NSX_ERR;
	nsx_put_number(&end, END_RECORDS, (uint64_t)w->records);
	nsx_put_bytes(&w->buf, STREAM_END, nsx_buf_view(&end));
	bool failed = end.failed || w->buf.failed;
	nsx_buf_free(&end);
	return failed ? nomem(w) : NSX_OK;
}

static void
binary_free(struct nsx_writer *w)
{
	struct block *b = w->state;

	for (size_t i = 0; i < w->puts.n; i++) {
		struct rows *k = w->puts.p[i]->state;

		for (int c = 0; k && c < NSX_MAX_COLS; c++)
			free(k->v[c]);
		if (k)
			free(k->has);
		free(k);
	}
	if (!b)
		return;
	nsx_intern_free(&b->strings);
	nsx_predictor_free(&b->predictor);
	nsx_buf_free(&b->records);
	nsx_buf_free(&b->strs);
	nsx_buf_free(&b->part);
	free(b->declared.p);
	free(b->order_kinds.p);
	free(b->order_counts.p);
	free(b->place.p);
	free(b->table.p);
	free(b);
}

const struct nsx_encoder nsx_binary_encoder = { binary_begin, binary_header, binary_record, binary_end, binary_free };
