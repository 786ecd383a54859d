/* predict.c -- how the binary encoder stores each column: as differences from a prediction. The prediction with the
 * lowest cost on a fixed sample of the column is used, or the one that was best in earlier blocks; the choice depends
 * on the records only, so equal records give equal bytes.
 *
 *   device  name  start  dur     dur: differences from        start: differences from
 *                                0    the record  the last    the record  start + dur of
 *                                     before      of `name`   before      the record before
 *   0       a      1000   50     50     0          0            0           0
 *   0       b      1060   70     70    20         20           60          10
 *   0       a      1150   50     50   -20          0           90          20
 *   0       b      1210   70     70    20          0           60          10
 *   0       a      1300   50     50   -20          0           90          20
 *   cost, see try()              57    41         14           47          39
 *
 * `dur` is stored as its first value 50, the way "last of `name`" and the differences 0 20 0 0 0; `start`, which
 * follows `dur` in the block so that it can refer to it, as 1000, "start + dur of the record before" and 0 10 20 10 20.
 * The first record of a key is compared with the first value of the column. */
#include "stream/predict.h"

#include <stdlib.h>
#include <string.h>

#include "stream/differences.h"
#include "stream/wire.h"

enum {
	SAMPLE_PARTS = 4, SAMPLE_ROWS = 32, SAMPLE = SAMPLE_PARTS * SAMPLE_ROWS,
	HABIT = 16,        /* blocks after which other predictions are tried again */
	NONE = NSX_NO_SLOT
};

static int
column(const struct nsx_head *cols, int ncols, const char *name)
{
	for (int i = 0; i < ncols; i++)
		if (nsx_str_eq(cols[i].name, nsx_str_c(name)))
			return i;
	return -1;
}

static void
list(struct nsx_layout *l, int *n, int col)
{
	if (col >= 0 && !memchr(l->list, col, (size_t)*n))
		l->list[(*n)++] = (uint8_t)col;
}

void
nsx_layout_plan(struct nsx_layout *l, const struct nsx_head *cols, int ncols)
{
	int device = column(cols, ncols, "device"), thread = column(cols, ncols, "tid");
	int program = column(cols, ncols, "program"), inst = column(cols, ncols, "inst"), name = column(cols, ncols,
		"name");
	int actor = device >= 0 ? device : thread, n = 0;

	*l = (struct nsx_layout){ .ncols = ncols };
	if (actor >= 0)
		l->key[1][l->nkey[1]++] = (uint8_t)actor;
	if (program >= 0 && inst >= 0) {
		l->key[2][l->nkey[2]++] = (uint8_t)program;
		l->key[2][l->nkey[2]++] = (uint8_t)inst;
	} else if (name >= 0) {
		l->key[2][l->nkey[2]++] = (uint8_t)name;
	}
	list(l, &n, actor);
	for (int i = 0; i < l->nkey[2]; i++)
		list(l, &n, l->key[2][i]);
	for (int i = 0; i < ncols; i++) {
		l->type[i] = cols[i].type;
		l->start[i] = i + 1 < ncols && nsx_str_ends(cols[i].name, "start")
		              && nsx_str_ends(cols[i + 1].name, "dur")
		              && cols[i].type == 'i' && cols[i + 1].type == 'i';
		if (l->start[i])
			list(l, &n, i + 1);
		list(l, &n, i);
	}
}

bool
nsx_predictor_room(struct nsx_predictor *p, size_t n)
{
	if (n <= p->cap)
		return true;
	uint64_t *s = realloc(p->scratch, n * sizeof *s);
	if (!s)
		return false;
	p->scratch = s;
	p->cap = n;
	return true;
}

static bool
begin(struct nsx_predictor *p)
{
	if (p->table)
		return true;
	p->diff = malloc(NSX_BLOCK_ROWS * sizeof *p->diff);
	p->top = malloc(NSX_BLOCK_ROWS * sizeof *p->top);
	for (int k = 0; k < NSX_OWN_KEYS; k++) {
		p->prev[k] = malloc(NSX_BLOCK_ROWS * sizeof **p->prev);
		p->last[k] = malloc(NSX_BLOCK_ROWS * sizeof **p->last);
		if (!p->prev[k] || !p->last[k])
			return false;
	}
	p->table = malloc(nsx_key_slots(NSX_BLOCK_ROWS) * sizeof *p->table);
	return p->diff && p->top && p->table;
}

void
nsx_predictor_free(struct nsx_predictor *p)
{
	free(p->scratch);
	free(p->diff);
	free(p->top);
	for (int k = 0; k < NSX_OWN_KEYS; k++) {
		free(p->prev[k]);
		free(p->last[k]);
	}
	free(p->table);
	nsx_buf_free(&p->records);
	nsx_buf_free(&p->values);
	nsx_buf_free(&p->list);
	nsx_buf_free(&p->key);
	*p = (struct nsx_predictor){ 0 };
}

/* The current column. */
struct job {
	struct nsx_predictor   *p;
	const struct nsx_predicted *t;
	int             col;
	size_t          nvalues;     /* number of records that have it */
	uint64_t        first;       /* its first value */
	uint64_t        stored;      /* columns that are already stored */
	unsigned        keys;        /* bit k: some records are already alike under key k */
	unsigned        lasts;       /* bit k: p->last[k] is computed */
	bool            tops;        /* p->top is computed */
	struct nsx_way  best;
	uint64_t        best_cost, least_cost;
};

static bool
has(const struct job *j, size_t r)
{
	return j->t->has[r] >> j->col & 1;
}

static void
make_tops(struct job *j)
{
	const uint64_t *v = j->t->v[j->col];
	uint64_t top = j->first;

	for (size_t r = 0; r < j->t->n; r++) {
		j->p->top[r] = top;
		if (has(j, r) && (int64_t)v[r] >= (int64_t)top)
			top = v[r] + 1;
	}
	j->tops = true;
}

static struct nsx_expect
expect(struct job *j, const struct nsx_way *w)
{
	struct nsx_expect e = { .base = w->base, .first = j->first };
	const struct nsx_predicted *t = j->t;

	if (w->of != NONE)
		e.of = t->v[w->of];
	if (w->plus != NONE)
		e.plus = t->v[w->plus];
	if (w->minus != NONE)
		e.minus = t->v[w->minus];
	if (w->key != NONE && j->nvalues < t->n) {
		if (!(j->lasts >> w->key & 1))
			nsx_key_present(w->key ? j->p->prev[w->key] : NULL, t->has, j->col, t->n, j->p->last[w->key]);
		j->lasts |= 1U << w->key;
		e.last = j->p->last[w->key];
	} else if (w->key != NONE && w->key) {
		e.last = j->p->prev[w->key];
	}
	if (w->base == BASE_TOP || w->base == BASE_LAST_OR_TOP)
		if (!j->tops)
			make_tops(j);
	return e;
}

static uint64_t
difference(const struct job *j, const struct nsx_expect *e, size_t r)
{
	const uint64_t *v = j->t->v[j->col];

	return nsx_zig(v[r] - nsx_expected(e, v, r, j->tops ? j->p->top[r] : 0));
}

/* Whether a column is stored already: others may refer to it. */
static bool
is_stored(const struct job *j, int col)
{
	return j->stored >> col & 1;
}

/* Keep the prediction if it costs less than the best so far, by the bits of the differences in the sample. */
static void
try(struct job *j, struct nsx_way w)
{
	if (j->best_cost <= j->least_cost)
		return;
	struct nsx_expect e = expect(j, &w);
	size_t n = j->t->n, part = n > SAMPLE ? SAMPLE_ROWS : n;
	uint64_t cost = 0;

	for (size_t s = 0; s < (part < n ? SAMPLE_PARTS : 1) && cost < j->best_cost; s++) {
		size_t from = part < n ? (n - part) * s / (SAMPLE_PARTS - 1) : 0;

		for (size_t r = from; r < from + part; r++) {
			if (!has(j, r))
				continue;
			uint64_t d = difference(j, &e, r);
			/* 0 is nearly free: it occurs in runs. */
			cost += d ? 4 + (uint64_t)(64 - __builtin_clzll(d)) : 1;
		}
	}
	if (cost < j->best_cost) {
		j->best_cost = cost;
		j->best = w;
	}
}

/* Try the predictions that may be good. */
static void
try_all(struct job *j)
{
	const struct nsx_layout *l = j->t->layout;

	try(j, (struct nsx_way){ BASE_ZERO, NONE, NONE, NONE, NONE });
	for (uint8_t k = 0; k < NSX_OWN_KEYS; k++) {
		if (!(j->keys >> k & 1))
			continue;
		try(j, (struct nsx_way){ BASE_LAST, NONE, k, NONE, NONE });
		if (k)
			try(j, (struct nsx_way){ BASE_LAST_OR_TOP, NONE, k, NONE, NONE });
		if (l->start[j->col] && k < 2 && is_stored(j, j->col + 1))
			try(j, (struct nsx_way){ BASE_LAST, NONE, k, (uint8_t)(j->col + 1), NONE });
	}
	try(j, (struct nsx_way){ BASE_TOP, NONE, NONE, NONE, NONE });
	if (l->type[j->col] != 'i')
		return;
	for (int i = 0; i < l->ncols; i++)
		if (l->type[i] == 'i' && is_stored(j, i))
			try(j, (struct nsx_way){ BASE_SAME, (uint8_t)i, NONE, NONE, NONE });
	/* A column after two others may be their difference. */
	if (j->col >= 2 && is_stored(j, j->col - 1) && is_stored(j, j->col - 2) && l->type[j->col - 1] == 'i' &&
	    l->type[j->col - 2] == 'i')
		try(j, (struct nsx_way){ BASE_SAME, (uint8_t)(j->col - 2), NONE, NONE, (uint8_t)(j->col - 1) });
}

/* Whether the columns to which prediction w refers are stored. */
static bool
is_open(const struct job *j, const struct nsx_way *w)
{
	return (w->of == NONE || is_stored(j, w->of)) && (w->plus == NONE || is_stored(j, w->plus))
	       && (w->minus == NONE || is_stored(j, w->minus)) && (w->key == NONE || j->keys >> w->key & 1);
}

/* The prediction of earlier blocks if it is about as good as it was, else the best of all. */
static void
choose(struct job *j)
{
	struct nsx_habit *h = &j->t->layout->habit[j->col];

	j->best_cost = UINT64_MAX;
	/* Only zeros: no other prediction is better. */
	j->least_cost = j->t->n > SAMPLE ? SAMPLE : j->t->n;
	if (h->blocks && j->t->n > SAMPLE && is_open(j, &h->way)) {
		h->blocks--;
		try(j, h->way);
		if (j->best_cost <= h->cost + h->cost / 8)
			return;
	}
	try_all(j);
	*h = (struct nsx_habit){ j->best, j->best_cost, j->t->n > SAMPLE ? HABIT : 0 };
}

static void
put_presence(const struct job *j)
{
	uint64_t *runs = j->p->scratch;
	size_t n = 0, from = 0;
	bool now = true;

	for (size_t r = 0; r <= j->t->n; r++)
		if (r == j->t->n || has(j, r) != now) {
			runs[n++] = r - from;
			from = r;
			now = !now;
		}
	nsx_put_list(&j->p->values, VALUES_PRESENCE, runs, n, &j->p->list);
}

/* Store the differences in p->diff, and their runs in scratch, values, then counts, if runs are shorter: m->run_size is
 * then less than m->plain_size. */
static size_t
measure(struct job *j, struct nsx_runs *m)
{
	struct nsx_predictor *p = j->p;
	const struct nsx_predicted *t = j->t;
	struct nsx_numbers c = { t->v[j->col], t->has, j->col, t->n, j->nvalues < t->n };
	struct nsx_expect e = expect(j, &j->best);
	size_t n = nsx_differences(p->diff, &c, &e, j->tops ? p->top : NULL);

	*m = (struct nsx_runs){ 0 };
	if (nsx_runs_likely(p->diff, n))
		*m = nsx_find_runs(p->diff, n, p->scratch, p->scratch + j->nvalues);
	else if (t->layout->type[j->col] == 'f')
		m->plain_size = m->run_size = nsx_plain_size(p->diff, n);
	return n;
}

static void
put_differences(struct job *j, size_t n, const struct nsx_runs *m)
{
	struct nsx_predictor *p = j->p;

	if (m->run_size < m->plain_size) {
		nsx_put_list(&p->values, VALUES_RUN_DIFFERENCES, p->scratch, m->n, &p->list);
		nsx_put_list(&p->values, VALUES_RUN_COUNTS, p->scratch + j->nvalues, m->n, &p->list);
	} else {
		nsx_put_list(&p->values, VALUES_DIFFERENCES, p->diff, n, &p->list);
	}
}

static void
put_way(struct job *j, const int *key_number)
{
	struct nsx_buf *out = &j->p->values;
	const struct nsx_way *w = &j->best;

	nsx_put_number(out, VALUES_BASE, w->base);
	if (w->base == BASE_SAME)
		nsx_put_number(out, VALUES_OF, w->of);
	if (w->key != NONE)
		nsx_put_number(out, VALUES_KEY, (uint64_t)key_number[w->key]);
	nsx_put_number(out, VALUES_PLUS, w->plus == NONE ? 0 : w->plus + 1U);
	nsx_put_number(out, VALUES_MINUS, w->minus == NONE ? 0 : w->minus + 1U);
	if (w->base >= BASE_LAST)
		nsx_put_number(out, VALUES_FIRST, nsx_zig(j->first));
}

/* 64-bit little-endian, as in protobuf. */
static void
put_doubles(struct job *j)
{
	struct nsx_buf *list_out = &j->p->list;

	list_out->len = 0;
	for (size_t r = 0; r < j->t->n; r++)
		for (int shift = 0; has(j, r) && shift < 64; shift += 8)
			nsx_buf_char(list_out, (char)(j->t->v[j->col][r] >> shift));
	nsx_put_bytes(&j->p->values, VALUES_DOUBLES, nsx_buf_view(list_out));
}

static void
put_key(struct nsx_buf *out, const struct nsx_layout *l, int k, struct nsx_buf *tmp, struct nsx_buf *key)
{
	uint64_t cols[2];

	for (int i = 0; i < l->nkey[k]; i++)
		cols[i] = l->key[k][i];
	key->len = 0;
	nsx_put_list(key, KEY_COLUMNS, cols, (size_t)l->nkey[k], tmp);
	nsx_put_bytes(out, RECORDS_KEY, nsx_buf_view(key));
}

/* Determine which keys can be used now, and which records are alike under them. */
static void
make_keys(struct job *j)
{
	const struct nsx_layout *l = j->t->layout;

	for (int k = 1; k < NSX_OWN_KEYS; k++) {
		const uint64_t *cols[2];
		int n = 0;

		while (n < l->nkey[k] && is_stored(j, l->key[k][n])) {
			cols[n] = j->t->v[l->key[k][n]];
			n++;
		}
		if (j->keys >> k & 1 || n == 0 || n < l->nkey[k])
			continue;
		nsx_key_prev(cols, n, j->t->n, j->p->prev[k], j->p->table);
		j->keys |= 1U << k;
	}
}

static void
put_column(struct job *j, int *key_number, int *nkeys)
{
	struct nsx_predictor *p = j->p;
	const struct nsx_layout *l = j->t->layout;

	choose(j);
	p->values.len = 0;
	nsx_put_number(&p->values, VALUES_COLUMN, (uint64_t)j->col);
	if (j->nvalues < j->t->n)
		put_presence(j);

	struct nsx_runs m;
	size_t n = measure(j, &m), size = m.run_size < m.plain_size ? m.run_size : m.plain_size;

	if (l->type[j->col] == 'f' && size >= n * 8) {
		put_doubles(j);
	} else {
		int k = j->best.key;

		if (k != NONE && key_number[k] < 0) {
			key_number[k] = (*nkeys)++;
			put_key(&p->records, l, k, &p->list, &p->key);
		}
		put_way(j, key_number);
		put_differences(j, n, &m);
	}
	nsx_put_bytes(&p->records, RECORDS_COLUMN, nsx_buf_view(&p->values));
}

/* The number of records with the column, and its first value. */
static void
count_values(struct job *j)
{
	const struct nsx_predicted *t = j->t;
	size_t r = 0;

	if (t->all >> j->col & 1) {
		j->nvalues = t->n;
	} else {
		for (size_t i = t->n; i-- > 0;)
			if (has(j, i)) {
				j->nvalues++;
				r = i;
			}
	}
	j->first = t->v[j->col][r];
}

bool
nsx_put_records(struct nsx_predictor *p, struct nsx_buf *out, uint32_t kind, const struct nsx_predicted *t)
{
	int key_number[NSX_OWN_KEYS] = { -1, -1, -1 }, nkeys = 0;
	uint64_t stored = 0;
	unsigned keys = 1;

	if (!begin(p) || !nsx_predictor_room(p, 2 * NSX_BLOCK_ROWS + 2))
		return false;
	p->records.len = 0;
	nsx_put_number(&p->records, RECORDS_KIND, kind);
	for (int i = 0; i < t->layout->ncols; i++) {
		struct job j = { .p = p, .t = t, .col = t->layout->list[i], .keys = keys, .stored = stored };

		if (!(t->any >> j.col & 1))
			continue;
		count_values(&j);
		make_keys(&j);
		keys = j.keys;
		put_column(&j, key_number, &nkeys);
		stored |= 1ULL << j.col;
	}
	nsx_put_bytes(out, BLOCK_RECORDS, nsx_buf_view(&p->records));
	return !(out->failed || p->records.failed || p->values.failed || p->list.failed || p->key.failed);
}
