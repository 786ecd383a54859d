/* columns.c -- the records of one kind in one binary block, decoded. Nothing is used before it is checked. */
#include "stream/columns.h"

#include <string.h>

/* Numbers between columns: a cache line, so that those of a full block, read side by side, are not at the same offset
 * in every page. */
enum { APART = 8 };

/* A decoded Values message. */
struct values {
	unsigned column, of, key, plus, minus;
	uint64_t base, first;
	struct nsx_unread presence, differences, run_differences, run_counts, doubles;
};

struct decode {
	struct nsx_columns     *c;
	const struct nsx_heads *k;
	size_t                  rows, strings;
	struct values           values[NSX_MAX_COLS];
	size_t                  nvalues;
	struct nsx_pool        *pool;
	struct nsx_unread         keys[NSX_MAX_KEYS];
	int32_t                *prev[NSX_MAX_KEYS];   /* computed when first used */
	size_t                  nkeys;
	uint64_t                partial;              /* columns that some records lack */
	uint64_t                sound;                /* columns decoded or checked so far */
};

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
	/* `has`, the columns, prev per key, the key's table, last. */
	return (cols + 1) * (rows + APART) + (keys + 1) * (halves(rows) + APART) + halves(nsx_key_slots(rows)) + APART;
}

static bool
read_values(struct nsx_unread s, struct values *v)
{
	struct nsx_wire_field f;
	int rc;

	*v = (struct values){ 0 };
	while ((rc = nsx_get_field(&s, &f)) > 0) {
		bool bytes = (f.field == VALUES_PRESENCE || f.field >= VALUES_DIFFERENCES) && f.field <= VALUES_DOUBLES;

		if (f.field > VALUES_DOUBLES)
			continue;
		if (f.wire != (bytes ? WIRE_BYTES : WIRE_VARINT))
			return false;
		if (!bytes && f.field != VALUES_FIRST && f.number > 255)
			return false;
		switch (f.field) {
		case VALUES_COLUMN:          v->column = (unsigned)f.number; break;
		case VALUES_PRESENCE:        v->presence = f.bytes; break;
		case VALUES_BASE:            v->base = f.number; break;
		case VALUES_OF:              v->of = (unsigned)f.number; break;
		case VALUES_KEY:             v->key = (unsigned)f.number; break;
		case VALUES_PLUS:            v->plus = (unsigned)f.number; break;
		case VALUES_MINUS:           v->minus = (unsigned)f.number; break;
		case VALUES_FIRST:           v->first = nsx_zag(f.number); break;
		case VALUES_DIFFERENCES:     v->differences = f.bytes; break;
		case VALUES_RUN_DIFFERENCES: v->run_differences = f.bytes; break;
		case VALUES_RUN_COUNTS:      v->run_counts = f.bytes; break;
		case VALUES_DOUBLES:         v->doubles = f.bytes; break;
		}
	}
	return rc == 0;
}

/* Presence runs into c->has: the number of records with the column, SIZE_MAX if the runs do not add up. */
static size_t
read_presence(struct decode *d, struct nsx_unread runs, unsigned column)
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

/* The number of records with a value according to presence runs, SIZE_MAX if the runs do not add up. */
static size_t
count_presence(struct nsx_unread runs, size_t rows)
{
	uint64_t n;
	size_t at = 0, values = 0;
	bool now = true;

	for (; runs.p < runs.end; now = !now) {
		if (!nsx_get_varint(&runs, &n) || n > rows - at)
			return SIZE_MAX;
		values += now ? n : 0;
		at += n;
	}
	return at == rows ? values : SIZE_MAX;
}

static bool
read_runs(struct nsx_unread diffs, struct nsx_unread counts, uint64_t *v, size_t n)
{
	uint64_t x, count;
	size_t at = 0;

	while (diffs.p < diffs.end) {
		if (!nsx_get_varint(&diffs, &x) || !nsx_get_varint(&counts, &count) || count > n - at)
			return false;
		x = nsx_zag(x);
		for (size_t end = at + count; at < end; at++)
			v[at] = x;
	}
	return at == n && counts.p == counts.end;
}

static void
read_doubles(const unsigned char *p, uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++, p += 8) {
		v[i] = 0;
		for (int b = 0; b < 8; b++)
			v[i] |= (uint64_t)p[b] << 8 * b;
	}
}

/* The stored numbers of a column, one after the other, into v. */
static const char *
read_data(const struct values *s, uint64_t *v, size_t n)
{
	struct nsx_unread diffs = s->differences;

	if (s->doubles.p != s->doubles.end) {
		if ((size_t)(s->doubles.end - s->doubles.p) / 8 != n || (size_t)(s->doubles.end - s->doubles.p) % 8)
			return "doubles that do not match their records";
		read_doubles(s->doubles.p, v, n);
		return NULL;
	}
	if (s->run_differences.p != s->run_differences.end)
		return read_runs(s->run_differences, s->run_counts, v, n) ? NULL
		       : "runs that do not match their records";
	return nsx_get_signed(&diffs, v, n) && diffs.p == diffs.end ? NULL : "values that do not match their records";
}

/* Move the first numbers of v to the records that have them, from the back. */
static void
spread(const struct decode *d, uint64_t *v, size_t n, unsigned column)
{
	for (size_t r = d->rows; r-- > 0;) {
		uint64_t bit = d->c->has[r] >> column & 1;

		n -= bit;
		v[r] = v[n] & (0 - bit);
	}
}

/* prev of a key, computed if it is new. NULL if the key is damaged. */
static const int32_t *
key_prev(struct decode *d, unsigned key)
{
	const uint64_t *cols[NSX_MAX_COLS];
	struct nsx_unread s = d->keys[key];
	struct nsx_wire_field f;
	int n = 0, rc;

	if (d->prev[key])
		return d->prev[key];
	while ((rc = nsx_get_field(&s, &f)) > 0) {
		uint64_t col;

		if (f.field != KEY_COLUMNS)
			continue;
		if (f.wire != WIRE_BYTES)
			return NULL;
		while (f.bytes.p < f.bytes.end) {
			if (!nsx_get_varint(&f.bytes, &col) || col >= NSX_MAX_COLS || !d->c->v[col] ||
			    n == NSX_MAX_COLS)
				return NULL;
			cols[n++] = d->c->v[col];
		}
	}
	if (rc < 0)
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

static bool
key_is_empty(struct nsx_unread s)
{
	return s.p == s.end;
}

/* The prediction of the values of a column: NULL, or what is wrong. */
static const char *
expect(struct decode *d, const struct values *s, bool partial, struct nsx_expect *e)
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
resolve(const struct decode *d, const struct nsx_expect *e, uint64_t *v, bool partial, unsigned column)
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

/* Convert differences to values for predictions that use earlier values of the column only, so that records without one
 * do not matter: false for other predictions. */
static bool
resolve_own(const struct decode *d, const struct values *s, uint64_t *v, size_t n)
{
	uint64_t x = s->first;

	switch (s->base) {
	case BASE_ZERO:
		return true;
	case BASE_TOP:
		for (size_t i = 0; i < n; i++) {
			v[i] += x;
			x = (int64_t)v[i] >= (int64_t)x ? v[i] + 1 : x;
		}
		return true;
	case BASE_LAST: case BASE_LAST_OR_TOP:
		if (s->plus || s->minus || s->key >= d->nkeys || !key_is_empty(d->keys[s->key]))
			return false;
		for (size_t i = 0; i < n; i++)
			v[i] = x += v[i];
		return true;
	default:
		return false;
	}
}

static const char *
check_strings(const struct decode *d, const uint64_t *v)
{
	uint64_t most = 0;

	/* Absent ones are 0. */
	for (size_t r = 0; r < d->rows; r++)
		most = v[r] > most ? v[r] : most;
	return most < d->strings ? NULL : "a missing string";
}

/* Take the message apart. */
static const char *
read_fields(struct decode *d, struct nsx_unread s)
{
	struct nsx_wire_field f;
	uint64_t seen = 0;

	while (nsx_get_field(&s, &f) > 0) {
		struct values *v = &d->values[d->nvalues];

		if (f.field == RECORDS_KEY) {
			if (f.wire != WIRE_BYTES)
				return "a damaged key";
			d->keys[d->nkeys++] = f.bytes;
		}
		if (f.field != RECORDS_COLUMN)
			continue;
		if (f.wire != WIRE_BYTES || !read_values(f.bytes, v))
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

/* The columns that are needed, and those that they refer to, which come before them. */
static uint64_t
with_bases(const struct decode *d, uint64_t wanted)
{
	for (size_t i = d->nvalues; i-- > 0 && wanted != UINT64_MAX;) {
		const struct values *v = &d->values[i];

		if (!(wanted >> v->column & 1))
			continue;
		if (v->base == BASE_SAME && v->of < NSX_MAX_COLS)
			wanted |= 1ULL << v->of;
		if ((v->base == BASE_LAST || v->base == BASE_LAST_OR_TOP) && v->key < d->nkeys)
			wanted |= key_columns(d->keys[v->key]);
		if (v->plus && v->plus <= NSX_MAX_COLS)
			wanted |= 1ULL << (v->plus - 1);
		if (v->minus && v->minus <= NSX_MAX_COLS)
			wanted |= 1ULL << (v->minus - 1);
	}
	return wanted;
}

static const char *
read_column(struct decode *d, const struct values *s)
{
	struct nsx_columns *c = d->c;
	struct nsx_expect e;
	size_t n = d->rows;
	const char *wrong;

	bool partial = s->presence.p != s->presence.end, string = d->k->type[s->column] == 's';
	if (partial && (n = read_presence(d, s->presence, s->column)) == SIZE_MAX)
		return "presence that does not match the records";
	if (n == 0)
		return "a column without values";
	if (s->doubles.p != s->doubles.end && (d->k->type[s->column] != 'f' || s->base != BASE_ZERO))
		return "doubles in a column of another type";

	uint64_t *v = take(d->pool, d->rows);
	if ((wrong = read_data(s, v, n)))
		return wrong;
	bool own = resolve_own(d, s, v, n);
	if (!own && (wrong = expect(d, s, partial, &e)))
		return wrong;
	if (partial) {
		spread(d, v, n, s->column);
		d->partial |= 1ULL << s->column;
	} else {
		c->all |= 1ULL << s->column;
	}
	if (!own)
		resolve(d, &e, v, partial, s->column);
	c->v[s->column] = v;
	return string ? check_strings(d, v) : NULL;
}

static bool
is_sound(const struct decode *d, uint64_t column)
{
	return column < NSX_MAX_COLS && d->sound >> column & 1;
}

/* What key_prev checks. */
static bool
check_key(const struct decode *d, struct nsx_unread s)
{
	struct nsx_wire_field f;
	uint64_t col;
	int n = 0, rc;

	while ((rc = nsx_get_field(&s, &f)) > 0) {
		if (f.field != KEY_COLUMNS)
			continue;
		if (f.wire != WIRE_BYTES)
			return false;
		for (; f.bytes.p < f.bytes.end; n++)
			if (!nsx_get_varint(&f.bytes, &col) || !is_sound(d, col) || n == NSX_MAX_COLS)
				return false;
	}
	return rc == 0;
}

/* What resolve_own and expect check. */
static const char *
check_bases(const struct decode *d, const struct values *s)
{
	bool last = s->base == BASE_LAST || s->base == BASE_LAST_OR_TOP;

	if (s->base >= NSX_NBASES)
		return "a column stored in a way that this version does not know";
	if (s->base == BASE_ZERO || s->base == BASE_TOP)
		return NULL;
	if (last && s->key >= d->nkeys)
		return "a column with a missing key column";
	if (last && !check_key(d, d->keys[s->key]))
		return "a damaged key";
	return (s->base == BASE_SAME && !is_sound(d, s->of)) || (s->plus && !is_sound(d, s->plus - 1))
	       || (s->minus && !is_sound(d, s->minus - 1)) ? "a column relative to a missing column" : NULL;
}

/* What read_column checks of a column other than of strings, without its values: NULL, or what is wrong. */
static const char *
check_column(const struct decode *d, const struct values *s)
{
	struct nsx_unread counts = s->run_counts;
	size_t n = s->presence.p == s->presence.end ? d->rows : count_presence(s->presence, d->rows), at = 0;
	const char *wrong = check_bases(d, s);
	uint64_t count;

	if (wrong)
		return wrong;
	if (n == SIZE_MAX)
		return "presence that does not match the records";
	if (n == 0)
		return "a column without values";
	if (s->doubles.p != s->doubles.end) {
		if (d->k->type[s->column] != 'f' || s->base != BASE_ZERO)
			return "doubles in a column of another type";
		return (size_t)(s->doubles.end - s->doubles.p) == n * 8 ? NULL
		       : "doubles that do not match their records";
	}
	if (s->run_differences.p == s->run_differences.end)
		return nsx_list_check(s->differences) == n ? NULL : "values that do not match their records";
	for (; counts.p < counts.end; at += count)
		if (!nsx_get_varint(&counts, &count) || count > n - at)
			return "runs that do not match their records";
	return at == n && nsx_list_check(s->run_differences) == nsx_list_count(s->run_counts) ? NULL
	       : "runs that do not match their records";
}

/* The columns of strings: whether these exist shows only when they are decoded. */
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
	struct decode d = {
		.c = c, .k = rows->heads, .rows = rows->n, .strings = rows->strings, .pool = pool
	};
	const char *wrong;

	*c = (struct nsx_columns){ .n = d.rows };
	if ((wrong = read_fields(&d, s)))
		return wrong;
	uint64_t wanted = with_bases(&d, rows->wanted | (rows->check ? string_columns(d.k) : 0));
	for (size_t i = 0; i < d.nvalues; i++) {
		const struct values *v = &d.values[i];

		if (wanted >> v->column & 1 ? (wrong = read_column(&d, v)) != NULL
		    : rows->check && (wrong = check_column(&d, v)) != NULL)
			return wrong;
		d.sound |= 1ULL << v->column;
	}
	if (d.partial)
		for (size_t r = 0; r < d.rows; r++)
			c->has[r] |= c->all;
	return NULL;
}
