/* columns.c -- the records of one kind in one binary block, decoded. Nothing is used before it is checked. */
#include "stream/columns.h"

#include <string.h>

/* Numbers between columns: a cache line, so that those of a full block, read side by side, are not at the same offset
 * in every page. */
enum { APART = 8 };

static uint64_t *
take(struct nsx_pool *pool, size_t n)
{
	uint64_t *p = pool->p + pool->n;

	pool->n += n + APART;
	return p;
}

/* Numbers in the pool that n 32-bit ones take. */
static size_t
halves(size_t n)
{
	return (n + 1) / 2;
}

size_t
nsx_columns_need(struct nsx_unread s, size_t rows)
{
	struct nsx_wire_field f;
	size_t cols = 0, keys = 0;
	int rc;

	while ((rc = nsx_get_field(&s, &f)) > 0) {
		cols += f.field == RECORDS_COLUMN;
		keys += f.field == RECORDS_KEY;
	}
	if (rc < 0 || cols > NSX_MAX_COLS || keys > NSX_MAX_KEYS)
		return SIZE_MAX;
	/* `has`, the columns, prev per key, the key's table, last, picked. */
	return (cols + 1) * (rows + APART) + (keys + 2) * (halves(rows) + APART) + nsx_key_slots(rows) + APART;
}

/* Presence runs into c->has: the number of records with the column, SIZE_MAX if the runs do not add up. */
static size_t
read_presence(struct nsx_decoding *d, struct nsx_unread runs, unsigned column)
{
	struct nsx_columns *c = d->c;
	uint64_t bit = 1ULL << column, n;
	size_t at = 0, values = 0;
	bool now = true;

	if (!c->has) {
		c->has = take(d->pool, d->rows);
		memset(c->has, 0, d->rows * sizeof *c->has);
	}
	while (runs.p < runs.end) {
		if (!nsx_get_varint(&runs, &n) || n > d->rows - at)
			return SIZE_MAX;
		if (now) {
			values += n;
			for (size_t end = at + n; at < end; at++)
				c->has[at] |= bit;
		} else {
			at += n;
		}
		now = !now;
	}
	return at == d->rows ? values : SIZE_MAX;
}

/* Move the last n numbers of v to the records that have them, whose presence was read; v is never ahead of them. */
static void
spread(const struct nsx_decoding *d, uint64_t *v, size_t n, struct nsx_unread runs)
{
	const uint64_t *from = v + (d->rows - n);
	uint64_t count = 0;
	bool now = true;

	for (size_t r = 0, end; r < d->rows && nsx_get_varint(&runs, &count); now = !now) {
		end = r + count;
		if (now)
			while (r < end)
				v[r++] = *from++;
		else
			while (r < end)
				v[r++] = 0;
	}
}

/* The columns of a key: their number, -1 if the key is damaged. */
static int
columns_of_key(const struct nsx_decoding *d, unsigned key, const uint64_t **cols, unsigned *last)
{
	struct nsx_unread s = d->keys[key];
	struct nsx_wire_field f;
	int n = 0, rc;

	while ((rc = nsx_get_field(&s, &f)) > 0) {
		uint64_t col;

		if (f.field != KEY_COLUMNS)
			continue;
		if (f.wire != WIRE_BYTES)
			return -1;
		while (f.bytes.p < f.bytes.end) {
			if (!nsx_get_varint(&f.bytes, &col) || col >= NSX_MAX_COLS || !d->c->v[col] ||
			    n == NSX_MAX_COLS)
				return -1;
			*last = (unsigned)col;
			cols[n++] = d->c->v[col];
		}
	}
	return rc < 0 ? -1 : n;
}

/* prev of a key, computed if it is new. NULL if the key is damaged. */
static const int32_t *
key_prev(struct nsx_decoding *d, unsigned key)
{
	const uint64_t *cols[NSX_MAX_COLS];
	unsigned last;
	int n;

	if (d->prev[key])
		return d->prev[key];
	if ((n = columns_of_key(d, key, cols, &last)) < 0)
		return NULL;
	size_t mark = d->pool->n + halves(d->rows);
	d->prev[key] = (int32_t *)(void *)take(d->pool, halves(d->rows));
	if (n == 0)
		for (size_t r = 0; r < d->rows; r++)
			d->prev[key][r] = (int32_t)r - 1;
	else
		nsx_key_prev(cols, n, d->rows, d->prev[key],
		             (int32_t *)(void *)take(d->pool, halves(nsx_key_slots(d->rows))));
	/* The table is needed no more. */
	d->pool->n = mark;
	return d->prev[key];
}

/* The strings of a key that is one column of strings, few enough to be indices into a table: NULL for other keys. */
static const uint64_t *
string_key(const struct nsx_decoding *d, unsigned key)
{
	const uint64_t *cols[NSX_MAX_COLS];
	unsigned column = 0;

	return columns_of_key(d, key, cols, &column) == 1 && d->k->type[column] == 's'
	       && d->strings <= nsx_key_slots(d->rows) ? cols[0] : NULL;
}

static bool
key_is_empty(struct nsx_unread s)
{
	return s.p == s.end;
}

/* The prediction of the values of a column: NULL, or what is wrong. */
static const char *
expect(struct nsx_decoding *d, const struct nsx_values *s, bool partial, struct nsx_expect *e)
{
	uint64_t *const *v = d->c->v;

	*e = (struct nsx_expect){ .base = (enum nsx_base)s->base, .first = s->first };
	if (s->base >= NSX_NBASES)
		return "a column stored in a way that this version does not know";
	if (s->base == BASE_SAME) {
		if (s->of >= NSX_MAX_COLS || !v[s->of])
			return "a column relative to a missing column";
		e->of = v[s->of];
	}
	if (s->base == BASE_LAST || s->base == BASE_LAST_OR_TOP) {
		if (s->key >= d->nkeys)
			return "a column with a missing key column";
		if (!key_is_empty(d->keys[s->key]) && !(e->last = key_prev(d, s->key)))
			return "a damaged key";
		if (partial) {
			int32_t *last = (int32_t *)(void *)(d->pool->p + d->pool->n);

			/* Scratch memory after the used part: overwritten by the next allocation. */
			nsx_key_present(e->last, d->c->has, (int)s->column, d->rows, last);
			e->last = last;
		}
	}
	if (s->plus > NSX_MAX_COLS || s->minus > NSX_MAX_COLS || (s->plus && !v[s->plus - 1]) ||
	    (s->minus && !v[s->minus - 1]))
		return "a column relative to a missing column";
	if (s->plus)
		e->plus = v[s->plus - 1];
	if (s->minus)
		e->minus = v[s->minus - 1];
	return NULL;
}

/* Convert differences to values. */
static void
resolve(const struct nsx_decoding *d, const struct nsx_expect *e, uint64_t *v, bool partial, unsigned column)
{
	uint64_t top = e->first;

	if (e->base == BASE_ZERO)
		return;
	if (!partial && e->base == BASE_LAST && !e->last && !e->minus) {
		/* The most common predictions, without branches per record. */
		v[0] += e->first;
		if (e->plus)
			for (size_t r = 1; r < d->rows; r++)
				v[r] += v[r - 1] + e->plus[r - 1];
		else
			for (size_t r = 1; r < d->rows; r++)
				v[r] += v[r - 1];
		return;
	}
	if (!partial && e->base == BASE_LAST && e->last && !e->minus) {
		if (e->plus)
			for (size_t r = 0; r < d->rows; r++)
				v[r] += e->last[r] < 0 ? e->first : v[e->last[r]] + e->plus[e->last[r]];
		else
			for (size_t r = 0; r < d->rows; r++)
				v[r] += e->last[r] < 0 ? e->first : v[e->last[r]];
		return;
	}
	if (!partial && e->base == BASE_SAME && !e->plus) {
		if (e->minus)
			for (size_t r = 0; r < d->rows; r++)
				v[r] += e->of[r] - e->minus[r];
		else
			for (size_t r = 0; r < d->rows; r++)
				v[r] += e->of[r];
		return;
	}
	for (size_t r = 0; r < d->rows; r++) {
		if (partial && !(d->c->has[r] >> column & 1))
			continue;
		v[r] += nsx_expected(e, v, r, top);
		if ((int64_t)v[r] >= (int64_t)top)
			top = v[r] + 1;
	}
}

/* Whether the prediction uses earlier values of the column only, so that records without one do not matter. */
static bool
is_own(const struct nsx_decoding *d, const struct nsx_values *s)
{
	bool last = s->base == BASE_LAST || s->base == BASE_LAST_OR_TOP;

	return s->base == BASE_ZERO || s->base == BASE_TOP
	       || (last && !s->plus && !s->minus && s->key < d->nkeys && key_is_empty(d->keys[s->key]));
}

/* Whether it is the value of the last record of a key that has one. */
static bool
is_last(const struct nsx_decoding *d, const struct nsx_values *s)
{
	return (s->base == BASE_LAST || s->base == BASE_LAST_OR_TOP) && !s->plus && !s->minus && s->key < d->nkeys
	       && !key_is_empty(d->keys[s->key]);
}

/* Convert differences to values for such predictions, of a column that some records lack. */
static const char *
resolve_partial(struct nsx_decoding *d, const struct nsx_values *s, uint64_t *v)
{
	const int32_t *prev = key_prev(d, s->key);
	const uint64_t *has = d->c->has;
	/* Scratch memory after the used part: overwritten by the next allocation. */
	int32_t *last = (int32_t *)(void *)(d->pool->p + d->pool->n);
	uint64_t bit = 1ULL << s->column, top = s->first;
	bool to_top = s->base == BASE_LAST_OR_TOP;

	if (!prev)
		return "a damaged key";
	for (size_t r = 0, rows = d->rows; r < rows; r++) {
		int32_t p = prev[r];
		uint64_t x = top;

		if (p >= 0 && !(has[p] & bit))
			p = last[p];
		last[r] = p;
		if (!(has[r] & bit))
			continue;
		if (p >= 0)
			x = v[p];
		v[r] = x += v[r];
		/* Without TOP it remains the first value. */
		if (to_top && (int64_t)x >= (int64_t)top)
			top = x + 1;
	}
	return NULL;
}

/* The same for all or some records and a key of strings, whose last record with a value is in a table: the differences
 * are the last n numbers of v, which is never ahead of them. */
static void
resolve_strings_to_top(const struct nsx_decoding *d, const struct nsx_values *s, uint64_t *v, size_t n,
                       const uint64_t *key)
{
	/* Scratch memory after the used part: overwritten by the next allocation. */
	int32_t *table = (int32_t *)(void *)(d->pool->p + d->pool->n);
	const uint64_t *from = v + (d->rows - n);
	struct nsx_unread runs = s->presence;
	uint64_t top = s->first, count = d->rows;
	bool now = true;

	memset(table, 0xff, d->strings * sizeof *table);
	for (size_t r = 0; r < d->rows; now = !now) {
		if (s->presence.p != s->presence.end && !nsx_get_varint(&runs, &count))
			return;
		if (!now) {
			memset(v + r, 0, count * sizeof *v);
			r += count;
			continue;
		}
		for (size_t end = r + count; r < end; r++) {
			int32_t *last = &table[key[r]];
			uint64_t x = *from++ + (*last < 0 ? top : v[*last]);

			*last = (int32_t)r;
			v[r] = x;
			if ((int64_t)x >= (int64_t)top)
				top = x + 1;
		}
	}
}

/* The same where it is the first value that a string without such a record has: the table is of values. */
static void
resolve_strings(const struct nsx_decoding *d, const struct nsx_values *s, uint64_t *v, size_t n,
                const uint64_t *key)
{
	/* Scratch memory, as above. */
	uint64_t *table = d->pool->p + d->pool->n, count = d->rows;
	const uint64_t *from = v + (d->rows - n);
	struct nsx_unread runs = s->presence;
	bool now = true;

	for (size_t i = 0; i < d->strings; i++)
		table[i] = s->first;
	for (size_t r = 0; r < d->rows; now = !now) {
		if (s->presence.p != s->presence.end && !nsx_get_varint(&runs, &count))
			return;
		size_t end = r + count;
		for (; now && r < end; r++)
			v[r] = table[key[r]] += *from++;
		for (; r < end; r++)
			v[r] = 0;
	}
}

/* The same for a column that only the needed records have, to values one after the other. */
static void
resolve_picked(const struct nsx_decoding *d, const struct nsx_values *s, uint64_t *v, const uint64_t *key)
{
	/* Scratch memory after the used part: overwritten by the next allocation. */
	int32_t *table = (int32_t *)(void *)(d->pool->p + d->pool->n);
	const uint32_t *picked = d->c->picked;
	uint64_t top = s->first;
	bool to_top = s->base == BASE_LAST_OR_TOP;

	memset(table, 0xff, d->strings * sizeof *table);
	for (size_t i = 0, n = d->c->npicked; i < n; i++) {
		int32_t *last = &table[key[picked[i]]];
		uint64_t x = v[i] + (*last < 0 ? top : v[*last]);

		*last = (int32_t)i;
		v[i] = x;
		/* Without TOP it remains the first value. */
		if (to_top && (int64_t)x >= (int64_t)top)
			top = x + 1;
	}
}

/* Convert differences to values for predictions for which is_own is true. */
static void
resolve_own(const struct nsx_values *s, uint64_t *v, size_t n)
{
	uint64_t x = s->first;

	if (s->base == BASE_TOP && s->run_differences.p != s->run_differences.end)
		return;
	if (s->base == BASE_TOP)
		for (size_t i = 0; i < n; i++) {
			v[i] += x;
			x = (int64_t)v[i] >= (int64_t)x ? v[i] + 1 : x;
		}
	else if (s->base != BASE_ZERO)
		for (size_t i = 0; i < n; i++)
			v[i] = x += v[i];
}

static const char *
check_strings(const struct nsx_decoding *d, const uint64_t *v, size_t n)
{
	uint64_t most = 0;

	/* Absent ones are 0. */
	for (size_t r = 0; r < n; r++)
		most = v[r] > most ? v[r] : most;
	return most < d->strings ? NULL : "a missing string";
}

/* Take the message apart. */
static const char *
read_fields(struct nsx_decoding *d, struct nsx_unread s)
{
	struct nsx_wire_field f;
	uint64_t seen = 0;

	while (nsx_get_field(&s, &f) > 0) {
		struct nsx_values *v = &d->values[d->nvalues];

		if (f.field == RECORDS_KEY) {
			if (f.wire != WIRE_BYTES)
				return "a damaged key";
			d->keys[d->nkeys++] = f.bytes;
		}
		if (f.field != RECORDS_COLUMN)
			continue;
		if (f.wire != WIRE_BYTES || !nsx_values_open(f.bytes, v))
			return "a damaged column";
		if (v->column >= (unsigned)d->k->ncols)
			return "a column that its kind does not have";
		if (seen >> v->column & 1)
			return "a column twice";
		seen |= 1ULL << v->column;
		d->nvalues++;
	}
	return NULL;
}

/* The columns of a key; none if it is damaged, which is reported where the key is used. */
static uint64_t
key_columns(struct nsx_unread s)
{
	struct nsx_wire_field f;
	uint64_t columns = 0, col;

	while (nsx_get_field(&s, &f) > 0)
		while (f.field == KEY_COLUMNS && nsx_get_varint(&f.bytes, &col))
			columns |= col < NSX_MAX_COLS ? 1ULL << col : 0;
	return columns;
}

/* The columns that are needed, and those that they refer to, which come before them and go into d->bases. */
static uint64_t
with_bases(struct nsx_decoding *d, uint64_t wanted)
{
	for (size_t i = d->nvalues; i-- > 0 && (wanted != UINT64_MAX || d->pick.p);) {
		const struct nsx_values *v = &d->values[i];
		uint64_t bases = 0;

		if (!(wanted >> v->column & 1))
			continue;
		if (v->base == BASE_SAME && v->of < NSX_MAX_COLS)
			bases |= 1ULL << v->of;
		if ((v->base == BASE_LAST || v->base == BASE_LAST_OR_TOP) && v->key < d->nkeys)
			bases |= key_columns(d->keys[v->key]);
		if (v->plus && v->plus <= NSX_MAX_COLS)
			bases |= 1ULL << (v->plus - 1);
		if (v->minus && v->minus <= NSX_MAX_COLS)
			bases |= 1ULL << (v->minus - 1);
		d->bases |= bases;
		wanted |= bases;
	}
	return wanted;
}

/* Find the records that have a value in that column: false if its presence does not match the records. */
static bool
pick(struct nsx_decoding *d, int column)
{
	const struct nsx_values *v = d->values, *end = v + d->nvalues;
	struct nsx_unread runs;
	uint32_t *picked;
	size_t r = 0;
	uint64_t n;
	bool now = true;

	while (v < end && (int)v->column != column)
		v++;
	if (v < end && v->presence.p == v->presence.end)
		return true;
	d->c->picked = picked = (uint32_t *)(void *)take(d->pool, halves(d->rows));
	if (v == end)
		return true;
	d->pick = runs = v->presence;
	for (; runs.p < runs.end; now = !now) {
		if (!nsx_get_varint(&runs, &n) || n > d->rows - r)
			return false;
		for (size_t stop = r + n; now && r < stop; r++)
			picked[d->c->npicked++] = (uint32_t)r;
		r += now ? 0 : n;
	}
	return r == d->rows;
}

static size_t
length(struct nsx_unread s)
{
	return (size_t)(s.end - s.p);
}

/* Whether a column has values in the needed records alone, and needs no others. */
static bool
is_dense(const struct nsx_decoding *d, const struct nsx_values *s)
{
	return d->pick.p && !(d->bases >> s->column & 1) && length(s->presence) == length(d->pick)
	       && memcmp(s->presence.p, d->pick.p, length(d->pick)) == 0;
}

/* Whether all records have the same value, which only the needed ones need. */
static bool
is_constant(const struct nsx_decoding *d, const struct nsx_values *s)
{
	struct nsx_unread difference = s->run_differences, count = s->run_counts;
	uint64_t n;

	return d->pick.p && !(d->bases >> s->column & 1) && s->base == BASE_ZERO && s->presence.p == s->presence.end
	       && nsx_get_varint(&difference, &n) && difference.p == difference.end
	       && nsx_get_varint(&count, &n) && count.p == count.end && n == d->rows;
}

static const char *
read_column(struct nsx_decoding *d, const struct nsx_values *s)
{
	struct nsx_columns *c = d->c;
	struct nsx_expect e = { .base = BASE_ZERO };
	size_t n = d->rows;
	const char *wrong;

	bool partial = s->presence.p != s->presence.end, string = d->k->type[s->column] == 's';
	bool own = is_own(d, s), last = !own && is_last(d, s), own_partial = last && partial;
	const uint64_t *key = last ? string_key(d, s->key) : NULL;
	bool constant = is_constant(d, s), dense = constant || ((own || key) && is_dense(d, s));
	if (dense)
		n = c->npicked;
	else if (partial)
		n = read_presence(d, s->presence, s->column);
	if (n == SIZE_MAX)
		return "presence that does not match the records";
	if (n == 0)
		return "a column without values";
	if (s->doubles.p != s->doubles.end && (d->k->type[s->column] != 'f' || s->base != BASE_ZERO))
		return "doubles in a column of another type";

	uint64_t *v = take(d->pool, d->rows), *values = dense ? v : v + (d->rows - n);
	if (constant) {
		uint64_t x;

		nsx_get_varint(&(struct nsx_unread){ s->run_differences.p, s->run_differences.end }, &x);
		for (size_t i = 0; i < n; i++)
			v[i] = nsx_zag(x);
	} else if ((wrong = nsx_values_data(s, values, n))) {
		return wrong;
	}
	if (own)
		resolve_own(s, values, n);
	else if (key && dense)
		resolve_picked(d, s, v, key);
	else if (key && s->base == BASE_LAST)
		resolve_strings(d, s, v, n, key);
	else if (key)
		resolve_strings_to_top(d, s, v, n, key);
	else if (!own_partial && (wrong = expect(d, s, partial, &e)))
		return wrong;
	if (dense) {
		c->dense |= 1ULL << s->column;
		c->all |= 1ULL << s->column;
	} else if (partial) {
		if (!key)
			spread(d, v, n, s->presence);
		d->partial |= 1ULL << s->column;
	} else {
		c->all |= 1ULL << s->column;
	}
	if (own_partial && !key) {
		if ((wrong = resolve_partial(d, s, v)))
			return wrong;
	} else if (!own && !key) {
		resolve(d, &e, v, partial, s->column);
	}
	c->v[s->column] = v;
	return string ? check_strings(d, v, dense ? n : d->rows) : NULL;
}

/* The columns of strings: whether the strings exist is known only after decoding. */
static uint64_t
string_columns(const struct nsx_heads *k)
{
	uint64_t columns = 0;

	for (int i = 0; i < k->ncols; i++)
		columns |= k->type[i] == 's' ? 1ULL << i : 0;
	return columns;
}

const char *
nsx_columns_decode(struct nsx_columns *c, struct nsx_unread s, const struct nsx_rows *rows, struct nsx_pool *pool)
{
	struct nsx_decoding d = {
		.c = c, .k = rows->heads, .rows = rows->n, .strings = rows->strings, .pool = pool
	};
	const char *wrong;

	*c = (struct nsx_columns){ .n = d.rows };
	if ((wrong = read_fields(&d, s)))
		return wrong;
	if (rows->value >= 0 && !pick(&d, rows->value))
		return "presence that does not match the records";
	if (c->picked && !c->npicked)
		return NULL;
	uint64_t wanted = with_bases(&d, rows->wanted | (rows->check ? string_columns(d.k) : 0));
	for (size_t i = 0; i < d.nvalues; i++) {
		const struct nsx_values *v = &d.values[i];

		if (wanted >> v->column & 1 ? (wrong = read_column(&d, v)) != NULL
		    : rows->check && (wrong = nsx_columns_check(&d, v)) != NULL)
			return wrong;
		d.sound |= 1ULL << v->column;
	}
	return NULL;
}
