/* pass_defer.c -- records and blocks that wait for values of one of their columns.
 *
 * Records that are passed on are numbered. Values are in a queue in order of these numbers, and so are the records that
 * wait; a block waits whole, as a record of a kind of its own in a second queue. The record or the block of the next
 * number is written once all its values are known. */
#include "stream/pass_defer.h"

#include <stdlib.h>
#include <string.h>

#include "stream/binary.h"
#include "stream/codec.h"
#include "stream/pass_column.h"
#include "stream/spill.h"
#include "stream/wire.h"

enum {
	/* Blocks of fewer records are written record by record: otherwise blocks would become smaller with each filter
	 * of a pipeline. */
	SMALL = NSX_BLOCK_ROWS / 4,
	LARGE = 4 * NSX_BLOCK_FULL   /* so are blocks of more bytes */
};

/* A block that waits, as a record. */
static const struct nsx_col block_bytes = { "bytes", 's', NULL, NULL };
static const struct nsx_kind block_kind = {
	.id = NSX_NKINDS, .name = "block", .nslots = 1, .cols = &block_bytes, .ncols = 1, .order = { 0 }
};

/* The numbers of its records. */
struct span { uint64_t first, rows; };

/* The value of the record of that number: NSX_ABSENT while it is not known. */
struct answer { uint64_t record; int64_t value; };

struct nsx_defer {
	struct nsx_reader *in;
	struct nsx_writer *out;
	struct nsx_err    *err;
	struct nsx_hold   *records, *blocks;
	NSX_VEC(struct span) spans;             /* of `blocks`; spans.p[spanned] is the first */
	size_t             spanned;
	struct nsx_defer_column columns[NSX_DEFER_COLUMNS];
	int                ncolumns;
	int8_t             at[NSX_NKINDS + 1];  /* index of the kind's column, -1: it has none */
	uint64_t           look[NSX_NKINDS + 1];
	uint64_t           read, written;       /* records passed on; of these written */
	NSX_VEC(uint64_t)  headers;             /* number of the record before which a kind's header comes */
	int                declared;
	NSX_VEC(struct answer) answers;         /* answers.p[0] is number `gone` */
	uint64_t           gone, used, ready;   /* number of the first that is kept, that is not used, that is not
	                                         * known */
	/* The block of which records are read. */
	bool               asked, looked;       /* for few columns; they are read so */
	int64_t            first, end;          /* records of the stream before it, and with it */
	uint64_t           begun;               /* number of its first record */
	size_t             kept;                /* records passed on */
	uint64_t           keep[NSX_BLOCK_MAX_ROWS / 64];
	struct nsx_replacer replacer;
	struct nsx_new_column new[NSX_DEFER_COLUMNS];
};

struct nsx_defer *
nsx_defer_new(struct nsx_reader *in, struct nsx_writer *out, const struct nsx_defer_column *columns, int n,
             const uint64_t look[NSX_NKINDS + 1], size_t hold_bytes, struct nsx_err *err)
{
	struct nsx_defer *d = calloc(1, sizeof *d);
	bool good;

	if (!d) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	d->in = in;
	d->out = out;
	d->err = err;
	d->ncolumns = n;
	memset(d->at, -1, sizeof d->at);
	memcpy(d->look, look, sizeof d->look);
	d->records = nsx_hold_new(hold_bytes, err);
	d->blocks = nsx_hold_new(hold_bytes, err);
	good = d->records && d->blocks;
	for (int i = 0; i < n && good; i++) {
		const struct nsx_col *c = &nsx_kind_builtin(columns[i].kind)->cols[columns[i].slot];

		d->columns[i] = columns[i];
		d->at[columns[i].kind] = (int8_t)i;
		good = nsx_reader_add_column(in, columns[i].kind, c->name, c->type) == NSX_OK;
	}
	if (!good) {
		nsx_defer_free(d);
		return NULL;
	}
	return d;
}

void
nsx_defer_free(struct nsx_defer *d)
{
	if (!d)
		return;
	nsx_hold_free(d->records);
	nsx_hold_free(d->blocks);
	nsx_replacer_free(&d->replacer);
	for (int i = 0; i < d->ncolumns; i++)
		free(d->new[i].cells.p);
	free(d->spans.p);
	free(d->headers.p);
	free(d->answers.p);
	free(d);
}

/* ---- records out ---- */

/* Write the headers that came before the next record. */
static int
declare(struct nsx_defer *d)
{
	for (; (size_t)d->declared < d->headers.n && d->headers.p[d->declared] <= d->written; d->declared++)
		if (nsx_writer_declare(d->out, d->in->kinds.p[d->declared]) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

/* The value of the next record if one was given, and known; it is then used. */
static int64_t
value_of(struct nsx_defer *d, uint64_t record, int64_t otherwise)
{
	if (d->used == d->ready || d->answers.p[d->used - d->gone].record != record)
		return otherwise;
	return d->answers.p[d->used++ - d->gone].value;
}

/* Write the next record. */
static int
put_record(struct nsx_defer *d, struct nsx_rec *rec)
{
	int at = d->at[rec->kind->id];

	if (declare(d) != NSX_OK)
		return NSX_ERR;
	if (at >= 0) {
		const struct nsx_defer_column *c = &d->columns[at];
		int64_t value = value_of(d, d->written, c->otherwise);

		if (value == NSX_ABSENT)
			nsx_clear(rec, c->slot);
		else
			nsx_set_i(rec, c->slot, value);
	}
	d->written++;
	return nsx_write(d->out, rec);
}

static int
lost(struct nsx_defer *d)
{
	return nsx_err_set(d->err, "a temporary file holds too few records");
}

/* The columns that are set, of kinds that are declared, without values. */
static void
begin_columns(struct nsx_defer *d)
{
	for (int i = 0; i < d->ncolumns; i++) {
		const struct nsx_defer_column *c = &d->columns[i];
		const struct nsx_put *p = d->out->known[c->kind];
		const char *name = nsx_kind_builtin(c->kind)->cols[c->slot].name;

		d->new[i].kind = p ? (uint64_t)p->index : UINT64_MAX;
		d->new[i].column = 0;
		d->new[i].otherwise = c->otherwise;
		d->new[i].rows = d->new[i].cells.n = 0;
		while (p && !nsx_str_eq(p->cols[d->new[i].column].name, nsx_str_c(name)))
			d->new[i].column++;
	}
}

/* Add the values of a run of records, of which `record` is the first. */
static bool
fill_column(struct nsx_defer *d, struct nsx_new_column *c, size_t count, uint64_t record)
{
	const struct answer *a;

	while (d->used < d->ready && (a = &d->answers.p[d->used - d->gone])->record < record + count) {
		struct nsx_new_value cell = { c->rows + (size_t)(a->record - record), a->value };

		if (!nsx_vec_push(&c->cells, cell))
			return false;
		d->used++;
	}
	c->rows += count;
	return true;
}

/* Of a block's order, a list. */
static struct nsx_unread
list_of(struct nsx_str message, unsigned field)
{
	struct nsx_unread s = { (const unsigned char *)message.ptr, (const unsigned char *)message.ptr + message.len };
	struct nsx_unread list = { s.p, s.p };
	struct nsx_wire_field f;

	if (nsx_get_field(&s, &f) > 0)
		for (s = f.bytes; nsx_get_field(&s, &f) > 0;)
			if (f.field == field)
				list = f.bytes;
	return list;
}

/* Count the records of a block, and take their values. NSX_ERR: out of memory. */
static int
fill_columns(struct nsx_defer *d, struct nsx_str message)
{
	struct nsx_unread kinds = list_of(message, BLOCK_ORDER_KINDS), counts = list_of(message, BLOCK_ORDER_COUNTS);
	struct nsx_writer *w = d->out;
	uint64_t kind, count;

	begin_columns(d);
	while (nsx_get_varint(&kinds, &kind) && nsx_get_varint(&counts, &count) && kind < w->puts.n) {
		int at = d->at[w->puts.p[kind]->id];

		if (at >= 0 && !fill_column(d, &d->new[at], (size_t)count, d->written))
			return nsx_err_nomem(d->err, NULL);
		d->written += count;
		w->records += (int64_t)count;
		w->puts.p[kind]->records += (int64_t)count;
	}
	return NSX_OK;
}

/* Write the first block that waits. */
static int
put_block(struct nsx_defer *d)
{
	struct span span = d->spans.p[d->spanned++];
	struct nsx_rec rec;
	size_t rows = 0;
	int rc = nsx_hold_pop(d->blocks, &rec);

	if (rc != NSX_OK)
		return rc == NSX_EOF ? lost(d) : NSX_ERR;
	struct nsx_str message = rec.v[0].s;
	if (d->out->failed || declare(d) != NSX_OK || fill_columns(d, message) != NSX_OK)
		return NSX_ERR;
	if (d->written != span.first + span.rows)
		return lost(d);
	for (int i = 0; i < d->ncolumns; i++)
		rows += d->new[i].rows;
	if (rows && !nsx_columns_replace(&d->replacer, message, d->new, (size_t)d->ncolumns, &message))
		return nsx_err_nomem(d->err, NULL);
	d->out->failed = nsx_binary_put_block(d->out, message) != NSX_OK;
	return d->out->failed ? NSX_ERR : NSX_OK;
}

/* Remove what was used, once it is more than half. */
static void
forget(struct nsx_defer *d)
{
	if (2 * (d->used - d->gone) > d->answers.n) {
		d->answers.n -= (size_t)(d->used - d->gone);
		memmove(d->answers.p, d->answers.p + (d->used - d->gone), d->answers.n * sizeof *d->answers.p);
		d->gone = d->used;
	}
	if (2 * d->spanned > d->spans.n) {
		d->spans.n -= d->spanned;
		memmove(d->spans.p, d->spans.p + d->spanned, d->spans.n * sizeof *d->spans.p);
		d->spanned = 0;
	}
}

/* Write what no longer waits. */
static int
release(struct nsx_defer *d)
{
	bool all = d->ready - d->gone == d->answers.n;
	uint64_t until = all ? d->read : d->answers.p[d->ready - d->gone].record;
	struct nsx_rec rec;

	while (d->written < until) {
		const struct span *s = d->spanned < d->spans.n ? &d->spans.p[d->spanned] : NULL;

		if (s && s->first == d->written) {
			if (until - d->written < s->rows)
				break;
			if (put_block(d) != NSX_OK)
				return NSX_ERR;
			continue;
		}
		int rc = nsx_hold_pop(d->records, &rec);
		if (rc != NSX_OK)
			return rc == NSX_EOF ? lost(d) : NSX_ERR;
		if (put_record(d, &rec) != NSX_OK)
			return NSX_ERR;
	}
	forget(d);
	return NSX_OK;
}

/* ---- records in ---- */

/* Whether the current block, all of whose records were passed on, can wait whole: its columns can be replaced. */
static bool
can_wait(const struct nsx_defer *d, const struct nsx_block *b)
{
	if (d->kept < b->rows || b->rows < SMALL || b->message.len > LARGE)
		return false;
	for (size_t i = 0; i < d->in->met.n; i++) {
		const struct nsx_met *m = d->in->met.p[i];
		int at = d->at[m->kind->id];

		for (int col = 0; at >= 0 && col < m->n; col++)
			if (m->kind->order[col] == d->columns[at].slot && !nsx_column_is_free(b->message, i,
			    (unsigned)col))
				return false;
	}
	return true;
}

static int
hold_block(struct nsx_defer *d, const struct nsx_block *b)
{
	union nsx_val v = { .s = b->message };
	struct nsx_rec rec = { &block_kind, 1, &v };

	if (!nsx_vec_push(&d->spans, ((struct span){ d->begun, b->rows })))
		return nsx_err_nomem(d->err, NULL);
	return nsx_hold_push(d->blocks, &rec);
}

static int
hold_records(struct nsx_defer *d, size_t rows)
{
	struct nsx_rec rec;

	if (nsx_binary_again(d->in) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < rows; i++)
		if (d->in->dec->next(d->in, &rec) != NSX_OK
		    || (d->keep[i / 64] >> i % 64 & 1 && nsx_hold_push(d->records, &rec) != NSX_OK))
			return NSX_ERR;
	return NSX_OK;
}

/* All records of the current block have been read. */
static int
end_block(struct nsx_defer *d)
{
	const struct nsx_block b = nsx_binary_block(d->in);

	d->looked = false;
	if (!d->kept)
		return NSX_OK;
	if ((can_wait(d, &b) ? hold_block(d, &b) : hold_records(d, b.rows)) != NSX_OK)
		return NSX_ERR;
	return release(d);
}

/* Remember the headers that came before the next record. */
static int
note_headers(struct nsx_defer *d)
{
	while (d->headers.n < d->in->kinds.n)
		if (!nsx_vec_push(&d->headers, d->read))
			return nsx_err_nomem(d->err, NULL);
	return NSX_OK;
}

int
nsx_defer_read(struct nsx_defer *d, struct nsx_rec *rec)
{
	struct nsx_reader *r = d->in;
	int rc;

	if (d->looked && r->records == d->end && end_block(d) != NSX_OK)
		return NSX_ERR;
	rc = nsx_read(r, rec);
	if (d->headers.n < r->kinds.n && note_headers(d) != NSX_OK)
		return NSX_ERR;
	if (rc != NSX_OK || d->looked)
		return rc;
	/* From the second block on, since the first one has headers. */
	if (!d->asked)
		nsx_look(r, d->out, d->look);
	d->asked = true;
	if (!r->looks)
		return NSX_OK;
	/* Maybe the first record of a block. */
	const struct nsx_block b = nsx_binary_block(r);
	if (b.looked && r->records == b.first + 1) {
		d->looked = true;
		d->first = b.first;
		d->end = b.first + (int64_t)b.rows;
		d->begun = d->read;
		d->kept = 0;
		memset(d->keep, 0, (b.rows + 63) / 64 * sizeof *d->keep);
	}
	return NSX_OK;
}

int
nsx_defer_set(struct nsx_defer *d, int64_t value, uint64_t *ticket)
{
	bool known = d->ready - d->gone == d->answers.n && value != NSX_ABSENT;

	*ticket = d->gone + d->answers.n;
	if (!nsx_vec_push(&d->answers, ((struct answer){ d->read, value })))
		return nsx_err_nomem(d->err, NULL);
	d->ready += known;
	return NSX_OK;
}

void
nsx_defer_answer(struct nsx_defer *d, uint64_t ticket, int64_t value)
{
	d->answers.p[ticket - d->gone].value = value;
	while (d->ready - d->gone < d->answers.n && d->answers.p[d->ready - d->gone].value != NSX_ABSENT)
		d->ready++;
}

int
nsx_defer_on(struct nsx_defer *d, struct nsx_rec *rec)
{
	if (d->looked) {
		size_t i = (size_t)(d->in->records - d->first - 1);

		d->keep[i / 64] |= 1ULL << i % 64;
		d->kept++;
		d->read++;
		return NSX_OK;
	}
	if (d->written < d->read && release(d) != NSX_OK)
		return NSX_ERR;
	d->read++;
	/* Nothing waits, neither before rec nor with it. */
	if (d->written == d->read - 1 && d->ready - d->gone == d->answers.n)
		return put_record(d, rec);
	return nsx_hold_push(d->records, rec);
}

int
nsx_defer_end(struct nsx_defer *d)
{
	return release(d) == NSX_OK ? declare(d) : NSX_ERR;
}
