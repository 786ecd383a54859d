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

uint32_t
nsx_sums_number(struct nsx_sums *s, const void *key)
{
	size_t size = s->def->size;
	uint32_t at = nsx_intern(&s->keys, (struct nsx_str){ key, s->def->key });

	if (at != NSX_NONE && at == s->rows.n / size) {
		if (!nsx_vec_room(&s->rows, size))
			return NSX_NONE;
		memset(s->rows.p + s->rows.n, 0, size);
		memcpy(s->rows.p + s->rows.n, key, s->def->key);
		s->rows.n += size;
	}
	return at;
}

void *
nsx_sums_row(struct nsx_sums *s, const void *key)
{
	uint32_t at = nsx_sums_number(s, key);

	return at == NSX_NONE ? NULL : nsx_sums_at(s, at);
}

size_t
nsx_sums_count(const struct nsx_sums *s)
{
	return s->rows.n / s->def->size;
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
	return s->text(s->state, id);
}

/* A mean or a ratio. */
static double
quotient_at(const void *row, const struct nsx_sum_col *c)
{
	double n = (double)int_at(row, c->per);

	return n == 0 ? 0 : (c->as == NSX_SUM_MEAN ? (double)total_at(row, c->at) : (double)int_at(row, c->at)) / n;
}

static double
share_at(const struct nsx_sums *s, const void *row, const struct nsx_sum_col *c)
{
	nsx_u128 whole = c->per ? total_at(row, c->per) : s->whole, part = total_at(row, c->at);

	return whole && part != NSX_SUM_NONE ? (double)part / (double)whole : NAN;
}

static double
deviation_at(const void *row, const struct nsx_sum_col *c)
{
	const struct nsx_stat *of = (const void *)((const unsigned char *)row + c->at);

	if (of->n < 2 || (c->as == NSX_SUM_RELSTD && of->sum <= 0))
		return NAN;
	return c->as == NSX_SUM_STD ? nsx_stat_std(of) : nsx_stat_std(of) / nsx_stat_mean(of);
}

/* The value of a column of doubles; NAN: no cell. */
static double
double_at(const struct nsx_sums *s, const void *row, const struct nsx_sum_col *c)
{
	double v;

	switch (c->as) {
	case NSX_SUM_SHARE: return share_at(s, row, c);
	case NSX_SUM_STD: case NSX_SUM_RELSTD: return deviation_at(row, c);
	case NSX_SUM_MEAN: case NSX_SUM_RATIO: return int_at(row, c->per) ? quotient_at(row, c) : NAN;
	default: break;
	}
	memcpy(&v, (const unsigned char *)row + c->at, sizeof v);
	return v;
}

/* The value of a column of integers; NSX_ABSENT: no cell. */
static int64_t
integer_at(const void *row, const struct nsx_sum_col *c)
{
	const struct nsx_stat *of = (const void *)((const unsigned char *)row + c->at);

	if (c->as == NSX_SUM_INT)
		return int_at(row, c->at);
	return of->n == 0 ? NSX_ABSENT : c->as == NSX_SUM_MIN ? of->min : of->max;
}

static int
put(const struct nsx_sums *s, struct nsx_table *t, int col, const void *row, struct nsx_err *err)
{
	const struct nsx_sum_col *c = &s->def->cols[col];
	double value;

	switch (c->as) {
	case NSX_SUM_TEXT: nsx_table_str(t, col, text_at(s, row, c->at)); break;
	case NSX_SUM_SAID: nsx_table_str(t, col, nsx_str_c(c->say(row))); break;
	case NSX_SUM_INT: case NSX_SUM_MIN: case NSX_SUM_MAX:
		if (integer_at(row, c) != NSX_ABSENT)
			nsx_table_int(t, col, integer_at(row, c));
		break;
	case NSX_SUM_TOTAL:
		if (total_at(row, c->at) != NSX_SUM_NONE)
			return nsx_table_sum(t, col, total_at(row, c->at), err);
		break;
	default:
		value = double_at(s, row, c);
		if (!isnan(value))
			nsx_table_double(t, col, value);
	}
	return NSX_OK;
}

/* ---- order ---- */

struct order {
	const struct nsx_sums    *s;
	const struct nsx_sum_col *by[ORDERED];
	bool                      down[ORDERED];
	size_t                    n;
};

/* The columns that the definition names. */
static void
read_order(struct order *o, const struct nsx_sum_def *def)
{
	for (const char *p = def->order; p && *p && o->n < ORDERED;) {
		bool down = *p == '-';
		size_t len;

		int i;

		p += down;
		len = strcspn(p, " ");
		for (i = 0; i < def->ncols + def->unshown; i++)
			if (strlen(def->cols[i].name) == len && memcmp(def->cols[i].name, p, len) == 0) {
				o->by[o->n] = &def->cols[i];
				o->down[o->n++] = down;
				break;
			}
		assert(i < def->ncols + def->unshown);
		p += len;
		p += *p == ' ';
	}
}

static int
cell_cmp(const struct nsx_sums *s, const struct nsx_sum_col *c, const void *x, const void *y)
{
	double a, b;

	switch (c->as) {
	case NSX_SUM_TEXT: return nsx_str_cmp(text_at(s, x, c->at), text_at(s, y, c->at));
	case NSX_SUM_SAID: return strcmp(c->say(x), c->say(y));
	case NSX_SUM_INT: case NSX_SUM_MIN: case NSX_SUM_MAX:
		return (integer_at(x, c) > integer_at(y, c)) - (integer_at(x, c) < integer_at(y, c));
	case NSX_SUM_TOTAL:
		return (total_at(x, c->at) > total_at(y, c->at)) - (total_at(x, c->at) < total_at(y, c->at));
	case NSX_SUM_MEAN: case NSX_SUM_RATIO: a = quotient_at(x, c), b = quotient_at(y, c); break;
	default: a = double_at(s, x, c), b = double_at(s, y, c);
	}
	/* What is not known is less than anything known. */
	return isnan(a) || isnan(b) ? isnan(b) - isnan(a) : (a > b) - (a < b);
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

size_t
nsx_sums_keep(struct nsx_sums *s, bool (*keep)(const void *row))
{
	size_t n = 0, all = nsx_sums_count(s);

	for (size_t i = 0; i < all; i++) {
		if (!keep(nsx_sums_at(s, i)))
			continue;
		if (n < i)
			memcpy(nsx_sums_at(s, n), nsx_sums_at(s, i), s->def->size);
		n++;
	}
	s->rows.n = n * s->def->size;
	return all - n;
}

void
nsx_sums_sort(struct nsx_sums *s)
{
	struct order order = { .s = s };

	read_order(&order, s->def);
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

/* ---- the table ---- */

struct nsx_table *
nsx_sums_table(struct nsx_sums *s, struct nsx_err *err)
{
	const struct nsx_sum_def *def = s->def;
	struct nsx_table_col cols[NSX_SUM_COLS];
	struct nsx_table *t;
	int rc = NSX_OK;

	assert(def->ncols <= NSX_SUM_COLS);
	for (int i = 0; i < def->ncols; i++)
		cols[i] = (struct nsx_table_col){ def->cols[i].name, def->cols[i].type };
	t = nsx_table_new_copy(cols, def->ncols);
	if (!t) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	nsx_table_rank(t, def->rank ? def->rank : "");
	if (def->adds)
		nsx_table_adds(t, def->adds);
	nsx_sums_sort(s);
	for (size_t i = 0; i < nsx_sums_count(s) && rc == NSX_OK; i++) {
		nsx_table_row(t);
		for (int c = 0; c < def->ncols && rc == NSX_OK; c++)
			rc = put(s, t, c, nsx_sums_at(s, i), err);
	}
	if (rc == NSX_OK)
		return t;
	nsx_table_free(t);
	return NULL;
}

void
nsx_sums_free(struct nsx_sums *s)
{
	nsx_intern_free(&s->keys);
	free(s->rows.p);
}
