/* table.c -- the results as a table. */
#include <stdlib.h>

#include "table/compare/sides.h"

/* The columns that every table has, after its first ones. */
enum { BASE_EXECS, NEW_EXECS, BASE, NEW, DIFF, CHANGE, NOISE, EFFECT, VERDICT, PROGRAM_MATCH, COMMON };
#define COMMON_COLS \
	{ "base_execs", NSX_CELL_INT }, { "new_execs", NSX_CELL_INT }, { "base", NSX_CELL_MEAN_NS }, \
	{ "new", NSX_CELL_MEAN_NS }, \
	{ "diff", NSX_CELL_MEAN_NS }, { "change", NSX_CELL_SHARE }, { "noise", NSX_CELL_MEAN_NS }, \
	{ "effect", NSX_CELL_MEAN_NS }, \
	{ "verdict", NSX_CELL_STRING }, { "program_match", NSX_CELL_STRING }

/* The first columns; not all tables have the later ones. */
enum { ID, PROGRAM, NAME, BASE_NAME };

static const struct nsx_table_col thunk_cols[] = {
	{ "id", NSX_CELL_ID }, { "program", NSX_CELL_STRING }, { "name", NSX_CELL_STRING },
	{ "base_name", NSX_CELL_STRING },
	COMMON_COLS, { "match", NSX_CELL_STRING }, { "opcode", NSX_CELL_STRING }, { "op_name", NSX_CELL_STRING }
};
static const struct nsx_table_col source_cols[] = {
	{ "id", NSX_CELL_ID }, { "program", NSX_CELL_STRING }, { "source", NSX_CELL_STRING },
	{ "base_source", NSX_CELL_STRING },
	COMMON_COLS, { "match", NSX_CELL_STRING }
};
static const struct nsx_table_col opcode_cols[] = {
	{ "id", NSX_CELL_ID }, { "program", NSX_CELL_STRING }, { "opcode", NSX_CELL_STRING }, COMMON_COLS
};
/* For rows that are counted one by one: the columns of COMMON except the last. */
#define EACH_COLS \
	{ "base_count", NSX_CELL_INT }, { "new_count", NSX_CELL_INT }, { "base", NSX_CELL_MEAN_NS }, \
	{ "new", NSX_CELL_MEAN_NS }, \
	{ "diff", NSX_CELL_MEAN_NS }, { "change", NSX_CELL_SHARE }, { "noise", NSX_CELL_MEAN_NS }, \
	{ "effect", NSX_CELL_MEAN_NS }, \
	{ "verdict", NSX_CELL_STRING }
static const struct nsx_table_col range_cols[] = { { "name", NSX_CELL_STRING }, EACH_COLS,
                                                   { "base_span", NSX_CELL_MEAN_NS },
                                                   { "new_span", NSX_CELL_MEAN_NS } };
static const struct nsx_table_col kernel_cols[] = { { "type", NSX_CELL_STRING }, { "name", NSX_CELL_STRING },
                                                    EACH_COLS };
static const struct nsx_table_col module_cols[] = {
	{ "id", NSX_CELL_ID }, { "name", NSX_CELL_STRING }, { "key", NSX_CELL_STRING },
	{ "base_key", NSX_CELL_STRING }, COMMON_COLS
};

#define NCOLS(cols) (int)(sizeof(cols) / sizeof *(cols))
#define RANK " base new change verdict diff effect noise"
#define RANK_OF_ID " id base new change verdict program diff effect noise"
static const struct way {
	const char *name;
	const struct nsx_table_col *cols;
	int ncols, own;
	const char *rank;
} ways[] = {
	[NSX_COMPARE_THUNK]  = { "thunk",  thunk_cols,  NCOLS(thunk_cols),  4, "name" RANK_OF_ID },
	[NSX_COMPARE_MODULE] = { "module", module_cols, NCOLS(module_cols), 4, "key" RANK },
	[NSX_COMPARE_OPCODE] = { "opcode", opcode_cols, NCOLS(opcode_cols), 3, "opcode" RANK_OF_ID },
	[NSX_COMPARE_SOURCE] = { "source", source_cols, NCOLS(source_cols), 4, "source program" RANK },
	[NSX_COMPARE_RANGE]  = { "range",  range_cols,  NCOLS(range_cols),  1, "name" RANK },
	[NSX_COMPARE_KERNEL] = { "kernel", kernel_cols, NCOLS(kernel_cols), 2, "name" RANK },
	[NSX_COMPARE_STEP]   = { "step",   NULL,        0,                  0, NULL },
	[NSX_COMPARE_DEVICE] = { "device", NULL,        0,                  0, NULL },
	[NSX_COMPARE_COLLECTIVE] = { "collective", NULL, 0,                 0, NULL },
};

static const char *const verdicts[] = {
	[CMP_SAME] = "same", [CMP_SLOWER] = "slower", [CMP_FASTER] = "faster", [CMP_NEW] = "new", [CMP_GONE] = "gone",
	[CMP_UNKNOWN] = "unknown", [CMP_SHIFTED] = "shifted", [CMP_MINOR] = "minor",
	[CMP_UNEVEN] = "uneven", [CMP_HIDDEN] = "hidden"
};
static const char *const hows[] = {
	[CMP_NOT] = "", [CMP_FINGERPRINT] = "fingerprint", [CMP_DIGEST] = "digest", [CMP_KEY] = "key",
	[CMP_NAME] = "name", [CMP_PLACE] = "place",
	[CMP_OP_NAME] = "op_name"
};

const char *
nsx_compare_name(enum nsx_compare_by by)
{
	return ways[by].name;
}

int
nsx_compare_by_name(const char *name)
{
	for (int i = 0; i < NCOLS(ways); i++)
		if (nsx_str_eq(nsx_str_c(name), nsx_str_c(ways[i].name)))
			return i;
	return -1;
}

const char *
nsx_compare_verdict_name(enum cmp_verdict v)
{
	return verdicts[v];
}

void
nsx_compare_put_change(struct nsx_table *t, const struct cmp_result *r, const struct cmp_change *at)
{
	bool both = r->row[0] && r->row[1];

	for (int k = 0; k < 2; k++)
		if (r->row[k])
			nsx_table_double(t, at->base + k, r->time[k].mean);
	nsx_table_double(t, at->diff, r->diff);
	if (both && r->time[NSX_COMPARE_BASE].mean > 0)
		nsx_table_double(t, at->change, r->diff / r->time[NSX_COMPARE_BASE].mean);
	if (at->noise >= 0 && both && r->has_noise)
		nsx_table_double(t, at->noise, r->noise);
	if (at->effect >= 0)
		nsx_table_double(t, at->effect, r->effect);
	nsx_table_str(t, at->verdict, nsx_str_c(verdicts[r->verdict]));
}

static int
order_cmp(const void *pa, const void *pb)
{
	const struct cmp_order *a = pa, *b = pb;
	int c = nsx_str_cmp(a->class, b->class);

	for (int i = 0; i < 3 && c == 0; i++)
		c = (a->at[i] > b->at[i]) - (a->at[i] < b->at[i]);
	return c;
}

bool
nsx_compare_order(const struct cmp *c, struct cmp_result *r, size_t n, nsx_compare_key_fn *key)
{
	struct cmp_order *o = malloc((n + 1) * sizeof *o);

	for (size_t i = 0; o && i < n; i++) {
		o[i] = (struct cmp_order){ .result = r[i] };
		key(c, &r[i], &o[i]);
	}
	if (o && n > 1)
		qsort(o, n, sizeof *o, order_cmp);
	for (size_t i = 0; o && i < n; i++)
		r[i] = o[i].result;
	free(o);
	return o != NULL;
}

/* The name of a row on that side: for modules the program's key. */
static struct nsx_str
called(const struct cmp *c, const struct cmp_result *r, int side)
{
	const struct cmp_row *row = r->row[side];

	if (!row)
		return NSX_STR("");
	return cmp_str(c, row->whole ? c->side[side].programs.p[row->program].key : row->name);
}

static void
put_own(const struct cmp *c, struct nsx_table *t, const struct cmp_result *r, const struct way *w)
{
	const struct cmp_program *p = nsx_compare_program_of(c, r);
	struct nsx_str base = called(c, r, NSX_COMPARE_BASE), new = called(c, r, NSX_COMPARE_NEW);

	if (c->options.by == NSX_COMPARE_RANGE || c->options.by == NSX_COMPARE_KERNEL) {
		if (c->options.by == NSX_COMPARE_KERNEL)
			nsx_table_str(t, 0, cmp_str(c, nsx_compare_row_shown(r)->opcode));
		nsx_table_str(t, w->own - 1, cmp_str(c, nsx_compare_row_shown(r)->name));
		return;
	}
	if (p->id != NSX_ABSENT)
		nsx_table_int(t, ID, p->id);
	nsx_table_str(t, PROGRAM, cmp_str(c, p->name));
	nsx_table_str(t, NAME, r->row[NSX_COMPARE_NEW] ? new : base);
	if (w->own > BASE_NAME && r->row[0] && r->row[1] && !nsx_str_eq(base, new))
		nsx_table_str(t, BASE_NAME, base);
}

static void
put_common(struct nsx_table *t, const struct cmp_result *r, int at)
{
	for (int k = 0; k < 2; k++)
		if (r->row[k])
			nsx_table_int(t, at + BASE_EXECS + k, r->time[k].n);
	nsx_compare_put_change(t, r, &(struct cmp_change){ at + BASE, at + DIFF, at + CHANGE, at + NOISE, at + EFFECT,
	                                                   at + VERDICT });
}

/* The mean spans of ranges, after the other columns. */
static void
put_spans(const struct cmp *c, struct nsx_table *t, const struct cmp_result *r, int at)
{
	for (int k = 0; k < 2; k++) {
		const struct cmp_side *s = &c->side[k];
		nsx_u128 sum = 0;

		for (uint32_t i = r->row[k] ? r->row[k]->cells : NSX_NONE; i != NSX_NONE; i = s->cells.p[i].next)
			sum += i < s->spans.n ? (nsx_u128)s->spans.p[i].sum : 0;
		if (r->row[k])
			nsx_table_double(t, at + k, (double)sum / (double)r->time[k].n);
	}
}

static int
print_own(struct cmp *c, const struct cmp_result *r, size_t n, const struct cmp_way *w, struct nsx_table **table)
{
	struct nsx_table *t = *table = nsx_table_new(w->cols, w->ncols);

	nsx_table_rank(t, w->rank);
	if (!t)
		return nsx_err_nomem(c->err, NULL);
	for (size_t i = 0; i < n; i++)
		if (cmp_shows(c, &r[i]))
			w->put(c, t, &r[i]);
	return NSX_OK;
}

int
nsx_compare_print(struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_table **table)
{
	const struct way *w = &ways[c->options.by];

	if (c->options.by == NSX_COMPARE_DEVICE || c->options.by == NSX_COMPARE_COLLECTIVE)
		return print_own(c, r, n, c->options.by == NSX_COMPARE_DEVICE ? &nsx_compare_device_way
		                 : &nsx_compare_collective_way, table);
	struct nsx_table *t = *table = nsx_table_new(w->cols, w->ncols);
	nsx_table_rank(t, w->rank);

	if (!t)
		return nsx_err_nomem(c->err, NULL);
	for (size_t i = 0; i < n; i++) {
		const struct cmp_row *row = nsx_compare_row_shown(&r[i]);

		if (!cmp_shows(c, &r[i]))
			continue;
		nsx_table_row(t);
		put_own(c, t, &r[i], w);
		put_common(t, &r[i], w->own);
		if (c->options.by == NSX_COMPARE_RANGE)
			put_spans(c, t, &r[i], w->own + PROGRAM_MATCH);
		if (c->options.by >= NSX_COMPARE_RANGE)
			continue;
		nsx_table_str(t, w->own + PROGRAM_MATCH, nsx_str_c(hows[nsx_compare_program_of(c, &r[i])->how]));
		if (c->options.by == NSX_COMPARE_THUNK || c->options.by == NSX_COMPARE_SOURCE)
			nsx_table_str(t, w->own + COMMON, nsx_str_c(hows[row->how]));
		if (c->options.by == NSX_COMPARE_THUNK) {
			nsx_table_str(t, w->own + COMMON + 1, cmp_str(c, row->opcode));
			nsx_table_str(t, w->own + COMMON + 2, cmp_str(c, row->op_name));
		}
	}
	return NSX_OK;
}
