/* binary_write.c -- writes the binary encoding: docs/format.md, "Binary". Records wait, column by column, until a block
 * is full; the encoding of each column is chosen by measuring a fixed sample of it, so equal records give equal
 * bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stream/binary.h"
#include "stream/codec.h"
#include "stream/predict.h"
#include "stream/wire.h"

enum {
	BACK = 8,          /* earlier strings examined for a common prefix */
	SMALL = 64,        /* initial capacity of a kind, in records */
	PLANS = 4          /* sets of columns that records of a kind have in turn */
};

/* Copies a value from a slot of the record to a column, `at` numbers into the cells. */
struct step { uint8_t slot, col; uint32_t at; };

/* How a record is split into columns, valid while records have the same slots: strings first, since their bytes may be
 * far away, then integers, then doubles. */
struct plan {
	uint64_t    slots, has;
	unsigned    matches;            /* 0: none */
	int         strings, numbers, n, nabsent;
	struct step step[NSX_MAX_COLS];
	uint32_t    absent[NSX_MAX_COLS];   /* where these columns are, as in step */
};

/* The waiting records of one kind. */
struct rows {
	struct nsx_layout layout;
	uint32_t  number;
	size_t    n, cap;
	uint64_t *has;                  /* bit i: column i of the header has a value */
	uint64_t  all, any;             /* columns that all of these have, that at least one has */
	uint64_t *cells;                /* an array for each column: 0 where absent; strings as numbers in `strings` */
	size_t    stride;               /* numbers from one column to the next */

	/* Ranges with and without work, or copies among kernels, come in turn. */
	struct plan plans[PLANS], *plan;   /* plan: that of the last record; NULL: none of these is waiting */
	unsigned    replaced;              /* plans, of which this many were made */
};

struct block {
	struct nsx_intern strings;      /* in order of first occurrence */
	size_t            bytes;        /* of strings, including repeated ones */
	size_t            nrows;
	uint32_t          recall[NSX_RECALL];
	NSX_VEC(struct nsx_put *) declared;
	NSX_VEC(uint32_t) order_kinds, order_counts;
	NSX_VEC(uint32_t) place;        /* index of a string in the block, by number; NSX_NONE: none yet */
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

/* Columns begin one cache line further than at equal offsets within pages: they are written side by side. */
static size_t
stride(size_t cap)
{
	return cap + 8;
}

static bool
grow(struct rows *k, int ncols)
{
	size_t cap = k->cap ? k->cap * 2 : SMALL, wide = stride(cap);
	uint64_t *has = realloc(k->has, cap * sizeof *has);

	if (!has)
		return false;
	k->has = has;
	uint64_t *cells = malloc((size_t)(ncols + 1) * wide * sizeof *cells);
	if (!cells)
		return false;
	for (int i = 0; i < ncols && k->n; i++)
		memcpy(cells + (size_t)i * wide, k->cells + (size_t)i * k->stride, k->n * sizeof *cells);
	free(k->cells);
	k->cells = cells;
	k->stride = wide;
	k->cap = cap;
	/* They know the distance of columns. */
	for (int i = 0; i < PLANS; i++)
		k->plans[i].matches = 0;
	k->plan = NULL;
	return true;
}

/* Append new strings of a column to the block's, and convert its values to indices into them. */
static bool
place_strings(struct block *b, const struct rows *k, int col)
{
	uint64_t *v = k->cells + (size_t)col * k->stride;

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

/* Bytes before the first in which two words differ. */
static size_t
same_bytes(uint64_t differ)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return (size_t)__builtin_clzll(differ) / 8;
#else
	return (size_t)__builtin_ctzll(differ) / 8;
#endif
}

static uint64_t
word(const char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof w);
	return w;
}

/* Length of the common prefix. */
static size_t
common(struct nsx_str a, struct nsx_str b)
{
	size_t n = a.len < b.len ? a.len : b.len, i = 0;
	uint64_t differ;

	if (n < 8) {
		while (i < n && a.ptr[i] == b.ptr[i])
			i++;
		return i;
	}
	for (; n - i >= 8; i += 8)
		if ((differ = word(a.ptr + i) ^ word(b.ptr + i)))
			return i + same_bytes(differ);
	differ = word(a.ptr + n - 8) ^ word(b.ptr + n - 8);
	return differ ? n - 8 + same_bytes(differ) : n;
}

static void
put_strings(struct block *b)
{
	struct nsx_buf *out = &b->strs, *part = &b->part;
	size_t n = b->table.n;
	const struct nsx_str *s = b->table.p;
	/* Three lists, built in one pass: back and shared are one after the other in the scratch memory of the
	 * predictor. */
	uint64_t *back = b->predictor.scratch, *shared = back + n;

	for (size_t i = 0; i < n; i++) {
		back[i] = shared[i] = 0;
		for (size_t j = i; j > 0 && i - j < BACK; j--) {
			size_t same = common(s[j - 1], s[i]);

			/* Looking one string further back must save more than it may cost. */
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
	struct nsx_predicted t = { &k->layout, k->n, k->has, k->all, k->any, { NULL } };

	for (int i = 0; i < p->ncols; i++) {
		int col = k->layout.list[i];

		t.v[col] = k->cells + (size_t)col * k->stride;
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
		k->plan = NULL;
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
	bool failed = head.failed || kind.failed || b->part.failed || b->strs.failed || b->records.failed ||
	    out->failed;
	nsx_buf_free(&head);
	nsx_buf_free(&kind);
	if (failed)
		return nomem(w);
	nsx_intern_reset(&b->strings);
	b->bytes = b->nrows = b->declared.n = b->order_kinds.n = b->order_counts.n = 0;
	return nsx_writer_flush(w);
}

int
nsx_binary_put_block(struct nsx_writer *w, struct nsx_str message)
{
	if (flush(w) != NSX_OK)
		return NSX_ERR;
	return nsx_output_write(&w->out, message.ptr, message.len);
}

size_t
nsx_binary_waiting(const struct nsx_writer *w)
{
	const struct block *b = w->state;

	return b->nrows;
}

/* Make the plan for records that have what rec has. */
static void
make_plan(struct plan *plan, const struct rows *k, const struct nsx_put *p, const struct nsx_rec *rec)
{
	int n = 0;

	plan->slots = rec->has;
	plan->matches = p->matches;
	plan->has = 0;
	plan->nabsent = 0;
	for (const char *type = "sif"; *type; type++) {
		for (int i = 0; i < p->ncols; i++) {
			uint8_t slot = p->from[i];

			if (p->cols[i].type != *type || slot == NSX_NO_SLOT || !(rec->has >> slot & 1))
				continue;
			plan->has |= 1ULL << i;
			plan->step[n++] = (struct step){ slot, (uint8_t)i, (uint32_t)((size_t)i * k->stride) };
		}
		if (*type == 's')
			plan->strings = n;
		if (*type == 'i')
			plan->numbers = n;
	}
	plan->n = n;
	for (int i = 0; i < p->ncols; i++)
		if (!(plan->has >> i & 1))
			plan->absent[plan->nabsent++] = (uint32_t)((size_t)i * k->stride);
}

/* Find the plan for records that have what rec has, or make it. */
static void
choose_plan(struct rows *k, const struct nsx_put *p, const struct nsx_rec *rec)
{
	struct plan *plan = NULL;

	for (int i = 0; i < PLANS && !plan; i++)
		if (k->plans[i].slots == rec->has && k->plans[i].matches == p->matches)
			plan = &k->plans[i];
	if (!plan)
		make_plan(plan = &k->plans[k->replaced++ % PLANS], k, p, rec);
	k->plan = plan;
	k->any = k->n ? k->any | plan->has : plan->has;
	k->all = k->n ? k->all & plan->has : plan->has;
}

/* Split the record into columns, as planned; false when out of memory. */
static bool
take(struct block *b, struct rows *k, const struct nsx_rec *rec)
{
	const struct plan *plan = k->plan;
	const struct step *s = plan->step, *strings = s + plan->strings, *numbers = s + plan->numbers,
	    *end = s + plan->n;
	uint64_t *to = k->cells + k->n;

	for (; s < strings; s++) {
		uint32_t x = nsx_intern_recall(&b->strings, b->recall, rec->v[s->slot].s);

		if (x == NSX_NONE)
			return false;
		to[s->at] = x;
		b->bytes += rec->v[s->slot].s.len;
	}
	for (; s < numbers; s++)
		to[s->at] = (uint64_t)rec->v[s->slot].i;
	for (; s < end; s++) {
		uint64_t x = 0x7ff8000000000000;   /* text has one NaN only */

		if (!isnan(rec->v[s->slot].f))
			memcpy(&x, &rec->v[s->slot].f, sizeof x);
		to[s->at] = x;
	}
	for (int i = 0; i < plan->nabsent; i++)
		to[plan->absent[i]] = 0;
	k->has[k->n++] = plan->has;
	return true;
}

static int
binary_record(struct nsx_writer *w, struct nsx_put *p, const struct nsx_rec *rec)
{
	struct block *b = w->state;
	struct rows *k = p->state;
	size_t before = b->bytes;

	if (k->n == k->cap && !grow(k, p->ncols))
		return nomem(w);
	if (!k->plan || k->plan->slots != rec->has || k->plan->matches != p->matches)
		choose_plan(k, p, rec);
	if (!take(b, k, rec) || !add_run(b, k->number, 1))
		return nomem(w);
	if (b->bytes - before > NSX_LINE_MAX)
		return nsx_err_set(w->err, "%s: a %s record of more than %d bytes", w->name, p->name,
		                   (int)NSX_LINE_MAX);
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

		if (k) {
			free(k->cells);
			free(k->has);
		}
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
