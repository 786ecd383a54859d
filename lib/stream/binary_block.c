/* binary_block.c -- decodes a block of a binary stream: its order, the columns of its kinds, then the strings that
 * these need. */
#include "stream/binary_block.h"

#include <stdlib.h>

#include "stream/binary.h"
#include "stream/codec.h"

static const char no_memory[] = "";

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

bool
nsx_block_read_kind(struct nsx_unread s, struct nsx_str *name, struct nsx_head *cols, size_t *n)
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

/* A packed list, max numbers at most. */
static const char *
read_list(const struct nsx_wire_field *f, struct nsx_list *to, size_t max)
{
	struct nsx_unread s = f->bytes;
	size_t n = nsx_list_count(s);

	to->n = 0;
	if (f->wire != WIRE_BYTES || n > max)
		return "a list";
	if (!nsx_vec_room(to, n))
		return no_memory;
	if (!nsx_get_numbers(&s, to->p, n))
		return "a list";
	to->n = n;
	return NULL;
}

/* The record order, and from it the number of records of each kind. */
static const char *
check_order(struct nsx_block_data *d, size_t met)
{
	size_t rows = 0;

	if (d->order_kinds.n != d->order_counts.n)
		return "the order";
	for (size_t i = 0; i < d->order_kinds.n; i++) {
		uint64_t kind = d->order_kinds.p[i], count = d->order_counts.p[i];

		if (kind > met || kind >= d->kinds.n || (kind < met && count == 0))
			return "the order";
		met += kind == met;
		if (count > NSX_BLOCK_MAX_ROWS - rows)
			return "too many records";
		rows += count;
		d->kinds.p[kind].n += count;
	}
	d->rows = rows;
	return met == d->kinds.n ? NULL : "a kind without a place";
}

/* Find for each string of a column the first one that it is alike. */
static const char *
compare_column(struct nsx_strings *s, const struct nsx_columns *c, int col)
{
	const uint32_t *picked = c->dense >> col & 1 ? NULL : c->picked;
	size_t n = c->picked ? c->npicked : c->n;
	const char *wrong = NULL;

	for (size_t i = 0; i < n && !wrong; i++)
		wrong = nsx_strings_first(s, c->v[col][picked ? picked[i] : i]);
	return wrong;
}

/* The strings of kinds of which they are compared. */
static const char *
compare_strings(struct nsx_block_data *d, const struct nsx_block_kind *kinds)
{
	const char *wrong = NULL;

	d->compared = false;
	for (size_t i = 0; i < d->kinds.n && !wrong; i++) {
		const struct nsx_block_rows *k = &d->kinds.p[i];

		for (int col = 0; col < kinds[i].heads.ncols && kinds[i].compare && !wrong; col++) {
			if (!k->c.v[col] || kinds[i].heads.type[col] != 's' || !(k->now >> col & 1))
				continue;
			if (!d->compared)
				wrong = nsx_strings_compare(&d->strings);
			d->compared = true;
			if (!wrong)
				wrong = compare_column(&d->strings, &k->c, col);
		}
	}
	return wrong;
}

/* Assemble the strings of the columns to be read. */
static const char *
join_strings(struct nsx_block_data *d, const struct nsx_block_kind *kinds, bool all)
{
	unsigned char *wanted = d->strings.wanted;
	bool some = all;
	const char *wrong = compare_strings(d, kinds);

	if (wrong)
		return wrong;
	for (size_t i = 0; i < d->kinds.n && !all; i++) {
		const struct nsx_block_rows *k = &d->kinds.p[i];

		for (int col = 0; col < kinds[i].heads.ncols && !kinds[i].compare; col++) {
			const uint64_t *v = k->c.v[col];

			if (!v || kinds[i].heads.type[col] != 's' || !(k->now >> col & 1))
				continue;
			some = true;
			if (k->c.picked && !(k->c.dense >> col & 1))
				for (size_t at = 0; at < k->c.npicked; at++)
					wanted[v[k->c.picked[at]]] = 1;
			else
				for (size_t row = 0; row < (k->c.picked ? k->c.npicked : k->n); row++)
					wanted[v[row]] = 1;
		}
	}
	return d->compared && !some ? NULL : nsx_strings_join(&d->strings, all, d->looked);
}

/* The index of a Records message's kind; d->kinds.n if the order has no record of it. */
static size_t
kind_of(const struct nsx_block_data *d, struct nsx_unread s)
{
	struct nsx_wire_field f;
	uint64_t kind = 0;

	while (nsx_get_field(&s, &f) > 0)
		if (f.field == RECORDS_KIND && f.wire == WIRE_VARINT)
			kind = f.number;
	return kind < d->kinds.n && d->kinds.p[kind].n ? kind : d->kinds.n;
}

/* Memory for the columns of all kinds. */
static const char *
make_room(struct nsx_block_data *d, struct nsx_unread block, const struct nsx_block_kind *kinds)
{
	struct nsx_wire_field f;
	size_t need = 0;

	while (nsx_get_field(&block, &f) > 0) {
		if (f.field != BLOCK_RECORDS)
			continue;
		size_t i = f.wire == WIRE_BYTES ? kind_of(d, f.bytes) : d->kinds.n;
		size_t n = i < d->kinds.n ? nsx_columns_need(f.bytes, d->kinds.p[i].n) : SIZE_MAX;

		if (n == SIZE_MAX || d->kinds.p[i].read)
			return "records";
		d->kinds.p[i].read = true;
		need += kinds[i].skip ? 0 : n;
	}
	if (d->pool.cap < need) {
		uint64_t *p = realloc(d->pool.p, need * sizeof *p);
		if (!p)
			return no_memory;
		d->pool.p = p;
		d->pool.cap = need;
	}
	d->pool.n = 0;
	return NULL;
}

static const char *
read_records(struct nsx_block_data *d, struct nsx_unread block, const struct nsx_block_kind *kinds)
{
	struct nsx_wire_field f;
	const char *wrong = make_room(d, block, kinds);

	while (!wrong && nsx_get_field(&block, &f) > 0) {
		if (f.field != BLOCK_RECORDS)
			continue;
		size_t i = kind_of(d, f.bytes);
		struct nsx_block_rows *k = &d->kinds.p[i];
		const struct nsx_rows rows = { &kinds[i].heads, k->n, d->strings.n, k->now, kinds[i].value, d->looked };

		if (!kinds[i].skip)
			wrong = nsx_columns_decode(&k->c, f.bytes, &rows, &d->pool);
	}
	return wrong;
}

const char *
nsx_block_decode(struct nsx_block_data *d, struct nsx_unread bytes, const struct nsx_block_kind *kinds, size_t n,
                 size_t met, bool looked, bool all)
{
	struct nsx_unread s = bytes;
	struct nsx_wire_field f;
	const char *wrong = NULL;
	int rc;

	d->rows = d->kinds.n = d->order_kinds.n = d->order_counts.n = 0;
	d->looked = looked;
	nsx_strings_open(&d->strings, (struct nsx_unread){ s.p, s.p });
	if (!nsx_vec_room(&d->kinds, n))
		return no_memory;
	d->kinds.n = n;
	for (size_t i = 0; i < n; i++)
		d->kinds.p[i] = (struct nsx_block_rows){ .now = looked ? kinds[i].look : kinds[i].wanted };
	while (!wrong && (rc = nsx_get_field(&s, &f)) != 0) {
		if (rc < 0 || (f.field == BLOCK_STRINGS && f.wire != WIRE_BYTES))
			return "a field";
		if (f.field == BLOCK_ORDER_KINDS)
			wrong = read_list(&f, &d->order_kinds, NSX_BLOCK_MAX_ROWS + NSX_MAX_KINDS);
		else if (f.field == BLOCK_ORDER_COUNTS)
			wrong = read_list(&f, &d->order_counts, NSX_BLOCK_MAX_ROWS + NSX_MAX_KINDS);
		else if (f.field == BLOCK_STRINGS)
			wrong = nsx_strings_open(&d->strings, f.bytes);
	}
	if (wrong || (wrong = check_order(d, met)) || (wrong = read_records(d, bytes, kinds)))
		return wrong;
	return join_strings(d, kinds, all);
}

void
nsx_block_data_free(struct nsx_block_data *d)
{
	free(d->order_kinds.p);
	free(d->order_counts.p);
	free(d->kinds.p);
	nsx_strings_free(&d->strings);
	free(d->pool.p);
	*d = (struct nsx_block_data){ 0 };
}
