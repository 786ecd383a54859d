/* pass_column.c -- one column of a kind replaced in the bytes of a binary block.
 *
 * A column is a message with its length, so all others are copied without being decoded. The new values are stored
 * without a prediction (base ZERO), which refers to no other column. */
#include "stream/pass_column.h"

#include <stdlib.h>
#include <string.h>

#include "stream/binary.h"
#include "stream/values.h"
#include "stream/wire.h"

static struct nsx_unread
unread(struct nsx_str s)
{
	const unsigned char *p = (const unsigned char *)s.ptr;

	return (struct nsx_unread){ p, p + s.len };
}

static struct nsx_str
between(const unsigned char *p, const unsigned char *end)
{
	return (struct nsx_str){ (const char *)p, (size_t)(end - p) };
}

/* The kind of a Records message. */
static uint64_t
kind_of(struct nsx_unread s)
{
	struct nsx_wire_field f;
	uint64_t kind = 0;

	while (nsx_get_field(&s, &f) > 0)
		if (f.field == RECORDS_KIND && f.wire == WIRE_VARINT)
			kind = f.number;
	return kind;
}

/* Whether a key has the column. */
static bool
is_in_key(struct nsx_unread s, unsigned column)
{
	struct nsx_wire_field f;
	uint64_t col;

	while (nsx_get_field(&s, &f) > 0)
		while (f.field == KEY_COLUMNS && nsx_get_varint(&f.bytes, &col))
			if (col == column)
				return true;
	return false;
}

/* The same for a Records message. */
static bool
is_free(struct nsx_unread s, unsigned column)
{
	struct nsx_wire_field f;
	struct nsx_values v;

	while (nsx_get_field(&s, &f) > 0) {
		if (f.field == RECORDS_KEY && is_in_key(f.bytes, column))
			return false;
		if (f.field != RECORDS_COLUMN || !nsx_values_open(f.bytes, &v) || v.column == column)
			continue;
		if ((v.base == BASE_SAME && v.of == column) || v.plus == column + 1 || v.minus == column + 1)
			return false;
	}
	return true;
}

bool
nsx_column_is_free(struct nsx_str message, uint64_t kind, unsigned column)
{
	struct nsx_unread s = unread(message), block;
	struct nsx_wire_field f;

	if (nsx_get_field(&s, &f) <= 0 || f.wire != WIRE_BYTES)
		return false;
	for (block = f.bytes; nsx_get_field(&block, &f) > 0;)
		if (f.field == BLOCK_RECORDS && kind_of(f.bytes) == kind && !is_free(f.bytes, column))
			return false;
	return true;
}

/* ---- the new column ---- */

/* Append n equal values. */
static bool
add_run(struct nsx_replacer *r, int64_t value, size_t n)
{
	uint64_t v = nsx_zig((uint64_t)value);

	if (n && r->values.n && r->values.p[r->values.n - 1] == v) {
		r->counts.p[r->counts.n - 1] += n;
		return true;
	}
	return !n || (nsx_vec_push(&r->values, v) && nsx_vec_push(&r->counts, n));
}

/* Append n records that have a value, or have none. */
static bool
add_presence(struct nsx_replacer *r, bool has, size_t n)
{
	/* The first of the runs is of records with a value. */
	if (!r->presence.n && !nsx_vec_push(&r->presence, 0))
		return false;
	if (has != (r->presence.n % 2 == 1) && !nsx_vec_push(&r->presence, 0))
		return false;
	r->presence.p[r->presence.n - 1] += n;
	return true;
}

/* The values of c as runs; *n: how many they are. */
static bool
make_runs(struct nsx_replacer *r, const struct nsx_new_column *c, size_t *n)
{
	bool all = c->otherwise != NSX_ABSENT;
	size_t next = 0;

	r->values.n = r->counts.n = r->presence.n = 0;
	for (size_t i = 0; i <= c->cells.n; i++) {
		size_t row = i < c->cells.n ? c->cells.p[i].row : c->rows;

		if (all ? !add_run(r, c->otherwise, row - next) : row > next && !add_presence(r, false, row - next))
			return false;
		if (i == c->cells.n)
			break;
		if (!add_run(r, c->cells.p[i].value, 1) || (!all && !add_presence(r, true, 1)))
			return false;
		next = row + 1;
	}
	*n = all ? c->rows : c->cells.n;
	return true;
}

/* The values one after the other, into r->presence, whose runs are used no more. */
static bool
spread_runs(struct nsx_replacer *r, size_t n)
{
	size_t at = 0;

	r->presence.n = 0;
	if (!nsx_vec_room(&r->presence, n))
		return false;
	for (size_t i = 0; i < r->values.n; i++)
		for (uint64_t k = 0; k < r->counts.p[i]; k++)
			r->presence.p[at++] = r->values.p[i];
	return true;
}

/* The column as a field of a Records message into r->column: empty if no record has a value. */
static bool
make_column(struct nsx_replacer *r, const struct nsx_new_column *c)
{
	struct nsx_buf *out = &r->column;
	size_t n, plain = 0, runs = 0;

	out->len = 0;
	if (!make_runs(r, c, &n))
		return false;
	if (n == 0)
		return true;
	for (size_t i = 0; i < r->values.n; i++) {
		size_t size = nsx_varint_size(r->values.p[i]);

		plain += size * r->counts.p[i];
		runs += size + nsx_varint_size(r->counts.p[i]);
	}
	nsx_put_number(out, VALUES_COLUMN, c->column);
	if (n < c->rows)
		nsx_put_list(out, VALUES_PRESENCE, r->presence.p, r->presence.n, &r->list);
	if (runs < plain) {
		nsx_put_list(out, VALUES_RUN_DIFFERENCES, r->values.p, r->values.n, &r->list);
		nsx_put_list(out, VALUES_RUN_COUNTS, r->counts.p, r->counts.n, &r->list);
	} else {
		if (!spread_runs(r, n))
			return false;
		nsx_put_list(out, VALUES_DIFFERENCES, r->presence.p, n, &r->list);
	}
	return !out->failed && !r->list.failed;
}

/* ---- the block ---- */

/* Append a Records message, of which s are the fields, with that column. */
static bool
put_records(struct nsx_replacer *r, struct nsx_unread s, const struct nsx_new_column *c)
{
	struct nsx_buf *out = &r->records;
	const unsigned char *from = s.p;
	struct nsx_wire_field f;
	struct nsx_values v;
	int rc;

	if (!make_column(r, c))
		return false;
	out->len = 0;
	for (const unsigned char *p = s.p; (rc = nsx_get_field(&s, &f)) > 0; p = s.p) {
		if (f.field != RECORDS_COLUMN || !nsx_values_open(f.bytes, &v) || v.column != c->column)
			continue;
		nsx_buf_str(out, between(from, p));
		from = s.p;
	}
	nsx_buf_str(out, between(from, s.p));
	if (r->column.len)
		nsx_put_bytes(out, RECORDS_COLUMN, nsx_buf_view(&r->column));
	nsx_put_bytes(&r->block, BLOCK_RECORDS, nsx_buf_view(out));
	return rc == 0 && !out->failed;
}

/* A Records message of a kind of which the block has none: no record had a value. */
static bool
put_new_records(struct nsx_replacer *r, const struct nsx_new_column *c)
{
	struct nsx_buf *out = &r->records;

	if (!make_column(r, c))
		return false;
	out->len = 0;
	nsx_put_number(out, RECORDS_KIND, c->kind);
	nsx_put_bytes(out, RECORDS_COLUMN, nsx_buf_view(&r->column));
	if (r->column.len)
		nsx_put_bytes(&r->block, BLOCK_RECORDS, nsx_buf_view(out));
	return !out->failed;
}

/* Put tag and length before the block, which begins with that much space. */
static struct nsx_str
with_head(struct nsx_buf *block, size_t space)
{
	char head[1 + NSX_VARINT_MAX];
	char *end = nsx_varint_at(head, (uint64_t)STREAM_BLOCK << 3 | WIRE_BYTES);

	end = nsx_varint_at(end, block->len - space);
	size_t n = (size_t)(end - head);
	memcpy(block->ptr + space - n, head, n);
	return (struct nsx_str){ block->ptr + space - n, block->len - space + n };
}

bool
nsx_columns_replace(struct nsx_replacer *r, struct nsx_str message, const struct nsx_new_column *columns, size_t n,
                    struct nsx_str *out)
{
	struct nsx_unread s = unread(message);
	struct nsx_wire_field f;
	struct nsx_buf *block = &r->block;
	static const char space[1 + NSX_VARINT_MAX];
	uint64_t met = 0;
	int rc;

	if (nsx_get_field(&s, &f) <= 0 || f.field != STREAM_BLOCK || f.wire != WIRE_BYTES)
		return false;
	s = f.bytes;
	block->len = 0;
	nsx_buf_add(block, space, sizeof space);
	const unsigned char *from = s.p;
	for (const unsigned char *p = s.p; (rc = nsx_get_field(&s, &f)) > 0; p = s.p) {
		size_t i = 0;

		if (f.field != BLOCK_RECORDS || f.wire != WIRE_BYTES)
			continue;
		for (uint64_t kind = kind_of(f.bytes); i < n && columns[i].kind != kind;)
			i++;
		if (i == n)
			continue;
		met |= 1ULL << i;
		nsx_buf_str(block, between(from, p));
		from = s.p;
		if (!put_records(r, f.bytes, &columns[i]))
			return false;
	}
	nsx_buf_str(block, between(from, s.p));
	for (size_t i = 0; i < n; i++)
		if (!(met >> i & 1) && !put_new_records(r, &columns[i]))
			return false;
	if (rc < 0 || block->failed)
		return false;
	*out = with_head(block, sizeof space);
	return true;
}

void
nsx_replacer_free(struct nsx_replacer *r)
{
	free(r->values.p);
	free(r->counts.p);
	free(r->presence.p);
	nsx_buf_free(&r->column);
	nsx_buf_free(&r->records);
	nsx_buf_free(&r->list);
	nsx_buf_free(&r->block);
}
