/* heap_grow.c -- see heap_grow.h.
 *
 *   argument  x                 8 MB    16 MB    +8 MB         f32[8,..] and f32[16,..]: 8 units more, 1 MB each
 *   argument  w                20 MB    20 MB                  what does not change is one row
 *   temp      jit(f)/dot       40 MB    80 MB   +40 MB         live at the peak
 *   all                        68 MB   116 MB   +48 MB         6 MB a unit: of 1000 MB 163 fit, if it goes on so;
 *                                                              arguments, results and constants alone bound it at 980
 *
 * Buffers of a program are those of another by their op_name; several of one op_name are a row. The rows of a program
 * sum to `all`, to the byte. Pairs of programs of one name have rows each. */
#include "table/heap_grow.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/vec.h"
#include "stream/kinds.h"
#include "table/each_dump.h"
#include "table/sums.h"
#include "xla/heap.h"
#include "xla/signature.h"

/* name, kind, what: in texts. pair: number of the pair of programs, of which several may have one name. */
struct key { uint32_t name, kind, what, pair; };
struct row {
	struct key key;
	int64_t same, pair, size[2], growth, fits, most;
	double  unit, share;
};

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("name", STRING, key.name), NSX_COL("kind", STRING, key.kind), NSX_COL("what", STRING, key.what),
	NSX_COL("first", BYTES, size[0]), NSX_COL("second", BYTES, size[1]), NSX_COL("growth", BYTES, growth),
	NSX_COL("unit", DOUBLE, unit), NSX_COL("share", SHARE, share), NSX_COL("fits", INT, fits),
	NSX_COL("most", INT, most), NSX_COL("is_same", INT, same), NSX_COL("pair", INT, pair),
};
#define ROWS NSX_ROWS(cols), .key = sizeof(struct key), \
	.order = "name pair is_same -growth kind what"
static const struct nsx_sum_def plain = {
	ROWS, .shown = "name kind what first second growth unit share",
	.rank = "what growth unit share kind first second name"
}, fitted = {
	ROWS, .shown = "name kind what first second growth unit share fits most",
	.rank = "what growth unit share fits most kind first second name"
};

/* A program on one side. */
struct program { struct nsx_signature s; char *path; bool used; };

struct grow {
	const struct nsx_heap_grow_options *options;
	struct nsx_diags *diags;
	struct nsx_err   *err;
	NSX_VEC(struct program) sides[2];
	int               side;                  /* whose dumps are read */
	struct nsx_intern texts;
	struct nsx_sums   found, rows;
	int64_t           fixed[2], all[2];      /* of the present pair: what does not depend on the heap, and all */
	uint32_t          pairs;
	int64_t           unlike, unitless;
};

/* ---- dumps ---- */

static int
add_dump(void *state, const char *path, bool in_folder, struct nsx_err *err)
{
	struct grow *g = state;
	struct program p = { .path = nsx_str_dup(nsx_str_c(path)) };
	int rc = p.path ? nsx_signature_read(path, &p.s, err) : nsx_err_nomem(err, NULL);

	(void)in_folder;
	if (rc == NSX_OK && nsx_vec_push(&g->sides[g->side], p))
		return NSX_OK;
	if (rc == NSX_OK)
		nsx_signature_free(&p.s);
	free(p.path);
	return rc == NSX_OK ? nsx_err_nomem(err, NULL) : rc;
}

/* ---- the size of the batch ---- */

/* The next number of "[8,128]"; false at its end. */
static bool
next_size(struct nsx_str *dims, int64_t *size)
{
	size_t i = 0, n;

	while (i < dims->len && !nsx_is_digit(dims->ptr[i]))
		i++;
	for (n = i; n < dims->len && nsx_is_digit(dims->ptr[n]); n++)
		;
	struct nsx_str digits = { dims->ptr + i, n - i };

	*dims = (struct nsx_str){ dims->ptr + n, dims->len - n };
	return digits.len && nsx_get_int(digits, size);
}

/* The size that differs in the arguments, the smallest pair if they are all in one proportion, as of a batch and of
 * what is multiplied by it. False: none, or of no one proportion. */
static bool
find_batch(const struct nsx_signature *x, const struct nsx_signature *y, int64_t batch[2])
{
	bool found = false;

	if (x->arguments.n != y->arguments.n)
		return false;
	for (size_t i = 0; i < x->arguments.n; i++) {
		struct nsx_str a = x->arguments.p[i].dims, b = y->arguments.p[i].dims;
		int64_t p, q;

		while (next_size(&a, &p)) {
			if (!next_size(&b, &q))
				return false;
			if (p == q)
				continue;
			if (found && (nsx_u128)p * (nsx_u128)batch[1] != (nsx_u128)q * (nsx_u128)batch[0])
				return false;
			if (!found || p < batch[0]) {
				batch[0] = p;
				batch[1] = q;
			}
			found = true;
		}
		if (next_size(&b, &q))
			return false;
	}
	return found && batch[0] > 0 && batch[1] > 0;
}

/* ---- buffers ---- */

/* What buffers are known by in both dumps: the op_name, or the instruction without its number. */
static uint32_t
what_of(struct grow *g, const struct nsx_heap_live *l)
{
	struct nsx_str s = l->op_name.len ? l->op_name : l->instruction;

	while (!l->op_name.len && s.len && (s.ptr[s.len - 1] == '.' || (s.ptr[s.len - 1] >= '0'
	       && s.ptr[s.len - 1] <= '9')))
		s.len--;
	return nsx_intern(&g->texts, s);
}

static int
add(struct grow *g, int side, const char *kind, uint32_t what, int64_t bytes)
{
	struct key k = { 0, nsx_intern(&g->texts, nsx_str_c(kind)), what, 0 };
	struct row *r = k.kind == NSX_NONE || what == NSX_NONE ? NULL : nsx_sums_row(&g->found, &k);

	if (!r)
		return NSX_NOMEM(g);
	r->size[side] = nsx_add_sat(r->size[side], bytes, NULL);
	return NSX_OK;
}

/* The buffers of a program in the memory of the device. */
static int
add_buffers(struct grow *g, int side, const struct nsx_heap *h)
{
	const struct nsx_heap_memory *m = NULL;
	int64_t told = 0;
	int rc = NSX_OK;

	for (size_t i = 0; i < h->nmemory; i++)
		m = h->memory[i].color == 0 ? &h->memory[i] : m;
	g->fixed[side] = m ? m->arguments + m->outputs - m->aliased + m->constants : 0;
	g->all[side] = m ? g->fixed[side] + m->temp : 0;
	for (size_t i = 0; i < h->nfixed && rc == NSX_OK; i++) {
		const struct nsx_heap_fixed *f = &h->fixed[i];

		if (f->color != 0)
			continue;
		rc = add(g, side, f->argument ? f->output ? "argument,output" : "argument" : f->output ? "output"
		         : "constant", what_of(g, &f->live), f->live.size);
		told += f->live.size;
	}
	for (size_t t = 0; t < h->ntraces; t++)
		for (size_t i = 0; h->traces[t].color == 0 && i < h->traces[t].nlive && rc == NSX_OK; i++) {
			rc = add(g, side, "temp", what_of(g, &h->traces[t].live[i]), h->traces[t].live[i].size);
			told += h->traces[t].live[i].size;
		}
	/* Sizes of allocations are rounded up, and the heap has holes. */
	return rc == NSX_OK ? add(g, side, "unused", nsx_intern(&g->texts, NSX_STR("")), g->all[side] - told) : rc;
}

static int
read_heap(struct grow *g, int side, const char *path)
{
	struct nsx_heap h;
	int rc;

	if (nsx_heap_read(path, NSX_HEAP_LIVE | NSX_HEAP_FIXED, &h, g->diags, g->err) != NSX_OK)
		return NSX_ERR;
	rc = add_buffers(g, side, &h);
	nsx_heap_free(&h);
	return rc;
}

/* ---- rows ---- */

/* The largest batch for which `bytes` grown so fit into the capacity; NSX_ABSENT: they do not grow. */
static int64_t
fits(const struct grow *g, const int64_t bytes[2], const int64_t batch[2])
{
	int64_t grown = bytes[1] - bytes[0], units = batch[1] - batch[0], left = g->options->capacity - bytes[0];

	if (units < 0) {
		grown = -grown;
		units = -units;
	}
	if (grown <= 0 || !units)
		return NSX_ABSENT;
	nsx_u128 n = (nsx_u128)(left < 0 ? -left : left) * (nsx_u128)units, more = n / (nsx_u128)grown;

	if (left < 0) {
		more += n % (nsx_u128)grown != 0;
		return more >= (nsx_u128)batch[0] ? 0 : batch[0] - (int64_t)more;
	}
	return more > INT64_MAX / 2 ? INT64_MAX / 2 : nsx_add_sat(batch[0], (int64_t)more, NULL);
}

static int
put(struct grow *g, struct key key, int64_t same, const int64_t size[2], const int64_t batch[2])
{
	struct row *r = nsx_sums_row(&g->rows, &key);

	if (key.name == NSX_NONE || key.kind == NSX_NONE || key.what == NSX_NONE || !r)
		return NSX_NOMEM(g);
	r->same = same;
	r->pair = key.pair;
	for (int i = 0; i < 2; i++)
		r->size[i] += size[i];
	r->growth = r->size[1] - r->size[0];
	r->unit = batch[1] == batch[0] ? NAN : (double)r->growth / (double)(batch[1] - batch[0]);
	r->share = g->all[1] == g->all[0] ? NAN : (double)r->growth / (double)(g->all[1] - g->all[0]);
	r->fits = r->most = NSX_ABSENT;
	return NSX_OK;
}

static int
put_rows(struct grow *g, uint32_t name, const int64_t batch[2])
{
	uint32_t none = nsx_intern(&g->texts, NSX_STR("")), same = nsx_intern(&g->texts, NSX_STR("same"));
	struct key all = { name, nsx_intern(&g->texts, NSX_STR("all")), none, g->pairs++ };
	int rc = put(g, all, -1, g->all, batch);

	if (rc == NSX_OK && batch[0] && g->options->capacity) {
		struct row *r = nsx_sums_row(&g->rows, &all);

		r->fits = fits(g, g->all, batch);
		r->most = fits(g, g->fixed, batch);
	}
	for (size_t i = 0; i < nsx_sums_count(&g->found) && rc == NSX_OK; i++) {
		const struct row *f = nsx_sums_at(&g->found, i);
		bool grows = f->size[0] != f->size[1];

		if (grows || f->size[0])
			rc = put(g, (struct key){ name, grows ? f->key.kind : same, grows ? f->key.what : none,
			                          all.pair }, !grows, f->size, batch);
	}
	return rc;
}

static int
compare(struct grow *g, struct program *x, struct program *y)
{
	int64_t batch[2] = { g->options->batch[0], g->options->batch[1] };
	int rc;

	x->used = y->used = true;
	if (!batch[0] && !find_batch(&x->s, &y->s, batch)) {
		batch[0] = batch[1] = 0;
		g->unitless++;
	}
	nsx_sums_free(&g->found);
	g->found = (struct nsx_sums){ .def = &plain };
	rc = read_heap(g, 0, x->path);
	if (rc == NSX_OK)
		rc = read_heap(g, 1, y->path);
	return rc == NSX_OK ? put_rows(g, nsx_intern(&g->texts, y->s.name), batch) : rc;
}

static int
compare_all(struct grow *g)
{
	bool single = g->sides[0].n == 1 && g->sides[1].n == 1;
	int rc = NSX_OK;

	for (size_t i = 0; i < g->sides[0].n && rc == NSX_OK; i++) {
		struct program *x = &g->sides[0].p[i], *y = NULL;

		for (size_t k = 0; k < g->sides[1].n && !y; k++)
			if (!g->sides[1].p[k].used && (single || nsx_str_eq(g->sides[1].p[k].s.name, x->s.name)))
				y = &g->sides[1].p[k];
		if (y)
			rc = compare(g, x, y);
		g->unlike += !y;
	}
	for (size_t k = 0; k < g->sides[1].n; k++)
		g->unlike += !g->sides[1].p[k].used;
	return rc;
}

static struct nsx_table *
finish(struct grow *g)
{
	g->rows.texts = &g->texts;
	nsx_diag_add(g->diags, NSX_WARNING, "", g->unlike, "programs of one side alone: not compared");
	nsx_diag_add(g->diags, NSX_WARNING, "", g->unitless, "programs whose arguments do not say how large a batch "
	             "is: their shapes differ in no size, or in sizes of several proportions (--batch says it)");
	return nsx_sums_table(&g->rows, g->err);
}

struct nsx_table *
nsx_heap_grow(const char *first, const char *second, const struct nsx_heap_grow_options *options,
              struct nsx_diags *diags, struct nsx_err *err)
{
	struct grow g = { .options = options, .diags = diags, .err = err,
	                  .rows = { .def = options->capacity ? &fitted : &plain }, .found = { .def = &plain } };
	const struct nsx_each_dump each = { .dump = add_dump, .state = &g };
	struct nsx_table *table = NULL;
	int rc = nsx_each_dump(first, &each, diags, err);

	g.side = 1;
	if (rc == NSX_OK && nsx_each_dump(second, &each, diags, err) == NSX_OK && compare_all(&g) == NSX_OK)
		table = finish(&g);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < g.sides[side].n; i++) {
			nsx_signature_free(&g.sides[side].p[i].s);
			free(g.sides[side].p[i].path);
		}
		free(g.sides[side].p);
	}
	nsx_intern_free(&g.texts);
	nsx_sums_free(&g.found);
	nsx_sums_free(&g.rows);
	return table;
}
