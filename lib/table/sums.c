/* sums.c -- see sums.h. */
#include "table/sums.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sort.h"
#include "base/stat.h"
#include "stream/kinds.h"

enum { ORDERED = 8 };   /* columns that decide about the order */

/* Append a row that begins with these bytes, and is else 0. */
static bool
append(struct nsx_sums *s, const void *key, size_t n)
{
	size_t size = s->def->size;

	if (!nsx_vec_room(&s->rows, size))
		return false;
	memset(s->rows.p + s->rows.n, 0, size);
	memcpy(s->rows.p + s->rows.n, key, n);
	s->rows.n += size;
	return true;
}

/* Keys of up to 16 bytes are found as numbers, which is faster. */
static bool
is_short(const struct nsx_sums *s)
{
	return s->def->key <= sizeof(struct nsx_key);
}

static struct nsx_key
short_key(const struct nsx_sums *s, const void *key)
{
	struct nsx_key k = { 0, 0 };

	if (s->def->key == sizeof k.a)
		memcpy(&k, key, sizeof k.a);
	else
		memcpy(&k, key, s->def->key);
	return k;
}

uint32_t
nsx_sums_number(struct nsx_sums *s, const void *key)
{
	uint32_t at = is_short(s) ? nsx_map_number(&s->shorts, short_key(s, key))
	                          : nsx_intern(&s->keys, (struct nsx_str){ key, s->def->key });

	return at != NSX_NONE && at * s->def->size == s->rows.n && !append(s, key, s->def->key) ? NSX_NONE : at;
}

void *
nsx_sums_row(struct nsx_sums *s, const void *key)
{
	uint32_t at = nsx_sums_number(s, key);

	return at == NSX_NONE ? NULL : nsx_sums_at(s, at);
}

uint32_t
nsx_sums_find(const struct nsx_sums *s, const void *key)
{
	return is_short(s) ? nsx_map_get(&s->shorts, short_key(s, key))
	                   : nsx_intern_find(&s->keys, (struct nsx_str){ key, s->def->key });
}

void *
nsx_sums_add(struct nsx_sums *s)
{
	return append(s, "", 0) ? nsx_sums_at(s, nsx_sums_count(s) - 1) : NULL;
}

size_t
nsx_sums_count(const struct nsx_sums *s)
{
	return s->rows.n / s->def->size;
}

size_t
nsx_sums_keep(struct nsx_sums *s, bool (*keep)(void *state, const void *row), void *state)
{
	size_t kept = 0, all = s->rows.n, size = s->def->size;

	for (size_t i = 0; i < all; i += size)
		if (keep(state, s->rows.p + i)) {
			if (kept != i)
				memcpy(s->rows.p + kept, s->rows.p + i, size);
			kept += size;
		}
	s->rows.n = kept;
	return (all - kept) / size;
}

/* ---- cells ---- */

static int64_t
int_at(const void *row, size_t at)
{
	int64_t v;

	memcpy(&v, (const unsigned char *)row + at, sizeof v);
	return v;
}

static nsx_u128
total_at(const void *row, size_t at)
{
	nsx_u128 v;

	memcpy(&v, (const unsigned char *)row + at, sizeof v);
	return v;
}

static struct nsx_str
text_at(const struct nsx_sums *s, const void *row, size_t at)
{
	uint32_t id;

	memcpy(&id, (const unsigned char *)row + at, sizeof id);
	if (s->text)
		return s->text(s->state, id);
	return id == NSX_NONE ? nsx_str_c(s->none) : nsx_intern_str(s->texts, id);
}

static struct nsx_str
str_at(const void *row, size_t at)
{
	struct nsx_str v;

	memcpy(&v, (const unsigned char *)row + at, sizeof v);
	return v;
}

static struct nsx_str
word_at(const void *row, size_t at)
{
	const char *v;

	memcpy(&v, (const unsigned char *)row + at, sizeof v);
	return nsx_str_c(v);
}

static const struct nsx_stat *
stat_at(const void *row, size_t at)
{
	return (const void *)((const unsigned char *)row + at);
}

static double
deviation_at(const void *row, const struct nsx_sum_col *c)
{
	const struct nsx_stat *of = stat_at(row, c->at);

	if (of->n < 2 || (c->as == NSX_SUM_RELSTD && of->sum <= 0))
		return NAN;
	return c->as == NSX_SUM_STD ? nsx_stat_std(of) : nsx_stat_std(of) / nsx_stat_mean(of);
}

static double
share_at(const struct nsx_sums *s, const void *row, const struct nsx_sum_col *c)
{
	nsx_u128 whole = c->per ? total_at(row, c->per) : s->whole, part = total_at(row, c->at);

	return whole && part != NSX_SUM_NONE ? (double)part / (double)whole : NAN;
}

/* The value of a column of doubles; NaN: no cell. */
static double
real_at(const struct nsx_sums *s, const void *row, const struct nsx_sum_col *c)
{
	double v;

	switch (c->as) {
	case NSX_SUM_SHARE: return share_at(s, row, c);
	case NSX_SUM_STD: case NSX_SUM_RELSTD: return deviation_at(row, c);
	case NSX_SUM_MEAN: case NSX_SUM_RATIO:
		if (!int_at(row, c->per))
			return NAN;
		v = c->as == NSX_SUM_MEAN ? (double)total_at(row, c->at) : (double)int_at(row, c->at);
		return v / (double)int_at(row, c->per);
	default: break;
	}
	memcpy(&v, (const unsigned char *)row + c->at, sizeof v);
	return v;
}

/* The value of a column of integers; NSX_ABSENT: no cell. */
static int64_t
integer_at(const void *row, const struct nsx_sum_col *c)
{
	struct nsx_samples v;

	if (c->as == NSX_SUM_INT)
		return int_at(row, c->at);
	if (c->as == NSX_SUM_PERCENTILE) {
		memcpy(&v, (const unsigned char *)row + c->at, sizeof v);
		return v.n ? nsx_percentile(v.sorted, v.n, (int)c->per) : NSX_ABSENT;
	}
	const struct nsx_stat *of = stat_at(row, c->at);

	return of->n == 0 ? NSX_ABSENT : c->as == NSX_SUM_MIN ? of->min : of->max;
}

static int
put(const struct nsx_sums *s, struct nsx_table *t, int col, const struct nsx_sum_col *c, const void *row,
    struct nsx_err *err)
{
	double value;

	switch (c->as) {
	case NSX_SUM_TEXT: nsx_table_str(t, col, text_at(s, row, c->at)); break;
	case NSX_SUM_STR:  nsx_table_str(t, col, str_at(row, c->at)); break;
	case NSX_SUM_WORD: nsx_table_str(t, col, word_at(row, c->at)); break;
	case NSX_SUM_SAID: nsx_table_str(t, col, nsx_str_c(c->say(row))); break;
	case NSX_SUM_INT: case NSX_SUM_MIN: case NSX_SUM_MAX: case NSX_SUM_PERCENTILE:
		if (integer_at(row, c) != NSX_ABSENT)
			nsx_table_int(t, col, integer_at(row, c));
		break;
	case NSX_SUM_TOTAL:
		if (total_at(row, c->at) != NSX_SUM_NONE)
			return nsx_table_sum(t, col, total_at(row, c->at), err);
		break;
	default:
		value = real_at(s, row, c);
		if (!isnan(value))
			nsx_table_double(t, col, value);
	}
	return NSX_OK;
}

/* The next column that *names names, after which it goes on, and whether - is before it; -1 at the end. */
static int
next_column(const struct nsx_sum_def *def, const char **names, bool *down)
{
	const char *p = *names;
	size_t len;
	int i = 0, n = def->ncols;

	if (!p || !*p)
		return -1;
	*down = *p == '-';
	p += *down;
	len = strcspn(p, " ");
	while (i < n && (strlen(def->cols[i].name) != len || memcmp(def->cols[i].name, p, len) != 0))
		i++;
	assert(i < n);
	*names = p + len + (p[len] == ' ');
	return i;
}

/* ---- order ---- */

struct order {
	const struct nsx_sums    *s;
	const struct nsx_sum_col *by[ORDERED];
	bool                      down[ORDERED];
	size_t                    n;
};

static int
cell_cmp(const struct nsx_sums *s, const struct nsx_sum_col *c, const void *x, const void *y)
{
	double a, b;

	switch (c->as) {
	case NSX_SUM_TEXT:
		/* One number is one text. */
		return memcmp((const unsigned char *)x + c->at, (const unsigned char *)y + c->at, sizeof(uint32_t)) == 0
		       ? 0 : nsx_str_cmp(text_at(s, x, c->at), text_at(s, y, c->at));
	case NSX_SUM_STR:  return nsx_str_cmp(str_at(x, c->at), str_at(y, c->at));
	case NSX_SUM_WORD: return nsx_str_cmp(word_at(x, c->at), word_at(y, c->at));
	case NSX_SUM_SAID: return strcmp(c->say(x), c->say(y));
	case NSX_SUM_INT: case NSX_SUM_MIN: case NSX_SUM_MAX: case NSX_SUM_PERCENTILE:
		return nsx_int_cmp(integer_at(x, c), integer_at(y, c));
	case NSX_SUM_TOTAL:
		/* One more of each: NSX_SUM_NONE, the largest number, becomes 0. */
		return (total_at(x, c->at) + 1 > total_at(y, c->at) + 1) -
		       (total_at(x, c->at) + 1 < total_at(y, c->at) + 1);
	default: break;
	}
	a = real_at(s, x, c);
	b = real_at(s, y, c);
	return isnan(a) || isnan(b) ? !!isnan(b) - !!isnan(a) : (a > b) - (a < b);
}

static int
row_cmp(const void *a, const void *b, const void *order)
{
	const struct order *o = order;

	for (size_t i = 0; i < o->n; i++) {
		int c = cell_cmp(o->s, o->by[i], a, b);

		if (c)
			return o->down[i] ? -c : c;
	}
	return 0;
}

static struct order
order_of(const struct nsx_sums *s)
{
	struct order order = { .s = s };
	const char *names = s->def->order;
	int col;

	while (order.n < ORDERED && (col = next_column(s->def, &names, &order.down[order.n])) >= 0)
		order.by[order.n++] = &s->def->cols[col];
	return order;
}

void
nsx_sums_sort(struct nsx_sums *s)
{
	const struct order order = order_of(s);

	if (order.n && nsx_sums_count(s) > 1)
		nsx_sort_with(s->rows.p, nsx_sums_count(s), s->def->size, row_cmp, &order);
}

void
nsx_sums_cut(struct nsx_sums *s, size_t n)
{
	nsx_sums_sort(s);
	if (n < nsx_sums_count(s))
		s->rows.n = n * s->def->size;
}

bool
nsx_sums_add_first(struct nsx_sums *s, size_t n, const void *row)
{
	void *to;

	if (nsx_sums_count(s) >= 2 * n + 64) {
		nsx_sums_cut(s, n);
		s->cut = n;
	}
	/* Behind n others. */
	if (s->cut) {
		const struct order order = order_of(s);

		if (order.n && row_cmp(row, nsx_sums_at(s, s->cut - 1), &order) >= 0)
			return true;
	}
	to = nsx_sums_add(s);
	if (to)
		memcpy(to, row, s->def->size);
	return to != NULL;
}

/* ---- the table ---- */

struct nsx_table *
nsx_sums_begin(struct nsx_sums *s, struct nsx_err *err)
{
	const struct nsx_sum_def *def = s->def;
	const char *names = def->shown;
	struct nsx_table_col *cols = malloc((NSX_SUM_COLS + (size_t)s->nmore) * sizeof *cols);
	struct nsx_table *t = NULL;
	bool down;

	s->cells = 0;
	for (int i = 0; cols && (def->shown ? (i = next_column(def, &names, &down)) >= 0 : i < def->ncols); i++) {
		assert(s->cells < NSX_SUM_COLS);
		cols[s->cells] = (struct nsx_table_col){ def->cols[i].name, def->cols[i].type };
		s->show[s->cells++] = i;
	}
	if (cols) {
		for (int i = 0; i < s->nmore; i++)
			cols[s->cells + i] = s->more[i];
		t = nsx_table_new_copy(cols, s->cells + s->nmore);
	}
	free(cols);
	if (!t) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	nsx_table_rank(t, def->rank ? def->rank : "");
	if (def->adds)
		nsx_table_adds(t, def->adds);
	for (size_t i = 0; i < sizeof def->heads / sizeof *def->heads && def->heads[i].name; i++)
		nsx_table_head(t, def->heads[i].name, def->heads[i].head);
	return t;
}

int
nsx_sums_put(const struct nsx_sums *s, struct nsx_table *t, const void *row, struct nsx_err *err)
{
	int rc = NSX_OK;

	nsx_table_row(t);
	for (int i = 0; i < s->cells && rc == NSX_OK; i++)
		rc = put(s, t, i, &s->def->cols[s->show[i]], row, err);
	return rc;
}

struct nsx_table *
nsx_sums_table(struct nsx_sums *s, struct nsx_err *err)
{
	struct nsx_table *t = nsx_sums_begin(s, err);
	int rc = t ? NSX_OK : NSX_ERR;

	nsx_sums_sort(s);
	for (size_t i = 0; i < nsx_sums_count(s) && rc == NSX_OK; i++)
		rc = nsx_sums_put(s, t, nsx_sums_at(s, i), err);
	if (rc == NSX_OK)
		return t;
	nsx_table_free(t);
	return NULL;
}

struct nsx_table *
nsx_sums_list(const struct nsx_sum_def *def, const void *rows, size_t n, struct nsx_err *err)
{
	struct nsx_sums s = { .def = def };
	struct nsx_table *t = NULL;

	if (!nsx_vec_room(&s.rows, n * def->size)) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	if (n)
		memcpy(s.rows.p, rows, n * def->size);
	s.rows.n = n * def->size;
	t = nsx_sums_table(&s, err);
	nsx_sums_free(&s);
	return t;
}

void
nsx_sums_free(struct nsx_sums *s)
{
	nsx_intern_free(&s->keys);
	nsx_map_free(&s->shorts);
	free(s->rows.p);
}
