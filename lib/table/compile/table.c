/* table.c -- sums of compilation as the rows of a table. Times are rounded so that they add up to the exact total,
 * in any order. */
#include "table/compile/compile.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

static const char *const by_names[] = { "range", "pass", "phase", "module", "process" };

int
nsx_compile_by_name(const char *name)
{
	for (int i = 0; i < (int)(sizeof by_names / sizeof *by_names); i++)
		if (strcmp(by_names[i], name) == 0)
			return i;
	return -1;
}

/* Whole nanoseconds of v, rounded down; its fraction in 2^-64 ns. */
static int64_t
whole(fine_time v)
{
	fine_time q = v / FINE_NS;

	return (int64_t)(q - (v % FINE_NS < 0));
}

static uint64_t
fraction(fine_time v)
{
	return (uint64_t)(v - whole(v) * FINE_NS);
}

static int64_t
nearest(fine_time v)
{
	return whole(v) + (fraction(v) >> 63 ? 1 : 0);
}

static int
by_fraction(const void *a, const void *b)
{
	const struct compiling_row *const *x = a, *const *y = b;
	uint64_t f = fraction((*x)->self), g = fraction((*y)->self);
	int order = nsx_str_cmp((*x)->name, (*y)->name);

	return f != g ? f < g ? 1 : -1 : order ? order : ((*x)->program > (*y)->program) -
	       ((*x)->program < (*y)->program);
}

/* Make self of every row an integer: round down, then add one to the largest fractions, as many as the exact total
 * requires. */
static bool
round_rows(struct compiling *c)
{
	const struct compiling_row **order = malloc((c->at->rows.n + 1) * sizeof *order);
	nsx_u128 missing = 0;

	if (!order)
		return false;
	for (size_t i = 0; i < c->at->rows.n; i++) {
		order[i] = &c->at->rows.p[i];
		missing += fraction(c->at->rows.p[i].self);
	}
	missing = (missing + ((nsx_u128)1 << 63)) >> 64;
	if (c->at->rows.n)
		qsort(order, c->at->rows.n, sizeof *order, by_fraction);
	for (size_t i = 0; i < c->at->rows.n; i++) {
		struct compiling_row *row = &c->at->rows.p[order[i] - c->at->rows.p];
		bool more = i < missing;

		/* The order has already been determined, so the keys may change. */
		row->self = (whole(row->self) + more) * FINE_NS;
	}
	free(order);
	return true;
}

static int
by_self(const void *a, const void *b)
{
	const struct compiling_row *x = a, *y = b;
	int order = nsx_str_cmp(x->name, y->name);

	return x->self != y->self ? x->self < y->self ? 1 : -1 : order ? order : (x->program > y->program) -
	       (x->program < y->program);
}

static double
ratio(fine_time part, fine_time of)
{
	return of > 0 ? (double)part / (double)of : 0;
}

static struct nsx_table *
new_table(struct compiling *c, const struct nsx_table_col *cols, int n)
{
	struct nsx_table *t = nsx_table_new(cols, n);

	if (!t)
		nsx_err_nomem(c->err, NULL);
	return t;
}

static struct nsx_table *
range_table(struct compiling *c, fine_time total)
{
	enum { NAME, SELF, CHILD, SHARE, NCOLS };
	static const struct nsx_table_col cols[NCOLS] = {
		{ "name", NSX_CELL_STRING }, { "self", NSX_CELL_NS }, { "child", NSX_CELL_NS },
		{ "share", NSX_CELL_SHARE }
	};
	struct nsx_table *t = new_table(c, cols, NCOLS);

	nsx_table_adds(t, "self");
	for (size_t i = 0; t && i < c->at->rows.n; i++) {
		const struct compiling_row *r = &c->at->rows.p[i];

		nsx_table_row(t);
		nsx_table_str(t, NAME, r->name);
		nsx_table_int(t, SELF, whole(r->self));
		nsx_table_int(t, CHILD, nearest(r->child));
		nsx_table_double(t, SHARE, ratio(r->self, total));
	}
	return t;
}

static struct nsx_table *
module_table(struct compiling *c, fine_time total)
{
	enum { ID, NAME, KEY, COMPILATIONS, TOTAL, MEAN, MAX, WORK, SHARE, NCOLS };
	static const struct nsx_table_col cols[NCOLS] = {
		{ "id", NSX_CELL_ID }, { "name", NSX_CELL_STRING }, { "key", NSX_CELL_STRING },
		{ "compilations", NSX_CELL_INT },
		{ "total", NSX_CELL_NS }, { "mean", NSX_CELL_MEAN_NS }, { "max", NSX_CELL_NS }, { "work", NSX_CELL_NS },
		{ "share", NSX_CELL_SHARE }
	};
	struct nsx_table *t = new_table(c, cols, NCOLS);

	nsx_table_rank(t, "key total share compilations mean max work");
	nsx_table_adds(t, "total");
	for (size_t i = 0; t && i < c->at->rows.n; i++) {
		const struct compiling_row *r = &c->at->rows.p[i];
		uint32_t k = r->program < 0 ? NSX_NONE : nsx_map_get(&c->program_at,
			(struct nsx_key){ (uint64_t)r->program, 0 });
		const struct compiling_program *p = k == NSX_NONE ? NULL : &c->programs.p[k];

		nsx_table_row(t);
		if (p && p->has_id)
			nsx_table_int(t, ID, p->id);
		nsx_table_str(t, NAME, r->name);
		if (p)
			nsx_table_str(t, KEY, p->key);
		nsx_table_int(t, COMPILATIONS, r->compilations);
		nsx_table_int(t, TOTAL, whole(r->self));
		if (r->compilations) {
			nsx_table_double(t, MEAN, (double)whole(r->self) / (double)r->compilations);
			nsx_table_int(t, MAX, whole(r->longest));
		}
		nsx_table_int(t, WORK, whole(r->work));
		nsx_table_double(t, SHARE, ratio(r->self, total));
	}
	return t;
}

static int
by_busy(const void *a, const void *b)
{
	const struct compile_process *x = a, *y = b;

	if (x->busy.length != y->busy.length)
		return x->busy.length < y->busy.length ? 1 : -1;
	/* Profiles of one stream come in order of number. */
	return x->profile != y->profile ? x->profile < y->profile ? -1 : 1 : (x->pid > y->pid) - (x->pid < y->pid);
}

static int64_t
wall_of(const struct nsx_compile_profile *p)
{
	return p->last < p->first ? 0 : p->last - p->first;
}

static struct nsx_table *
process_table(struct compiling *c)
{
	enum { PROFILE, NAME, PID, COMPILATIONS, COMPILE, WALL, SHARE, NCOLS };
	static const struct nsx_table_col cols[NCOLS] = {
		{ "profile", NSX_CELL_ID }, { "name", NSX_CELL_STRING }, { "pid", NSX_CELL_INT },
		{ "compilations", NSX_CELL_INT },
		{ "compile", NSX_CELL_NS }, { "wall", NSX_CELL_NS }, { "share", NSX_CELL_SHARE }
	};
	struct nsx_table *t = new_table(c, cols, NCOLS);

	if (c->processes.n)
		qsort(c->processes.p, c->processes.n, sizeof *c->processes.p, by_busy);
	for (size_t i = 0; t && i < c->processes.n; i++) {
		const struct compile_process *p = &c->processes.p[i];
		const struct nsx_compile_profile *of = &c->profiles.p[p->profile];

		nsx_table_row(t);
		nsx_table_int(t, PROFILE, of->number);
		nsx_table_str(t, NAME, of->name);
		if (p->pid >= 0)
			nsx_table_int(t, PID, p->pid);
		nsx_table_int(t, COMPILATIONS, p->compilations);
		nsx_table_int(t, COMPILE, (int64_t)p->busy.length);
		nsx_table_int(t, WALL, wall_of(of));
		if (wall_of(of))
			nsx_table_double(t, SHARE, ratio(p->busy.length * FINE_NS, wall_of(of) * FINE_NS));
	}
	/* Profiles that compile nothing. */
	for (size_t i = 0; t && i < c->profiles.n; i++) {
		const struct nsx_compile_profile *p = &c->profiles.p[i];

		if (p->compiles || p->last < p->first)
			continue;
		nsx_table_row(t);
		nsx_table_int(t, PROFILE, p->number);
		nsx_table_str(t, NAME, p->name);
		nsx_table_int(t, COMPILATIONS, 0);
		nsx_table_int(t, COMPILE, 0);
		nsx_table_int(t, WALL, wall_of(p));
		if (wall_of(p))
			nsx_table_double(t, SHARE, 0);
	}
	return t;
}

/* The share of their time that processes compile, below an aligned table. */
static void
note_share(struct compiling *c, struct nsx_table *t)
{
	double busy = 0, wall = 0;

	for (size_t i = 0; i < c->processes.n; i++) {
		busy += (double)c->processes.p[i].busy.length;
		wall += (double)wall_of(&c->profiles.p[c->processes.p[i].profile]);
	}
	if (wall > 0)
		nsx_table_note(t, "%zu process%s: %.4g s of %.4g s compiling (%.1f%%)", c->processes.n,
		               c->processes.n == 1 ? "" : "es",
		               busy / 1e9, wall / 1e9, 100 * busy / wall);
}

/* Rows by module get the names of their programs. */
static void
name_programs(struct compiling *c)
{
	for (size_t i = 0; i < c->at->rows.n && c->at->by == NSX_COMPILE_MODULE; i++) {
		struct compiling_row *r = &c->at->rows.p[i];
		uint32_t k = r->program < 0 ? NSX_NONE : nsx_map_get(&c->program_at,
			(struct nsx_key){ (uint64_t)r->program, 0 });

		if (k != NSX_NONE)
			r->name = c->programs.p[k].name;
		else if (r->name.len == 0)
			r->name = NSX_STR("[unknown program]");
	}
}

struct nsx_table *
nsx_compile_table(struct compiling *c)
{
	struct nsx_table *t;
	fine_time total = 0;

	name_programs(c);
	if (!round_rows(c)) {
		nsx_err_nomem(c->err, NULL);
		return NULL;
	}
	for (size_t i = 0; i < c->at->rows.n; i++)
		if (__builtin_add_overflow(total, c->at->rows.p[i].self, &total)) {
			nsx_err_set(c->err, "%s: the sum of compile times exceeds 63 bits", c->where);
			return NULL;
		}
	if (c->at->rows.n)
		qsort(c->at->rows.p, c->at->rows.n, sizeof *c->at->rows.p, by_self);
	if (c->at->by == NSX_COMPILE_PROCESS)
		t = process_table(c);
	else
		t = c->at->by == NSX_COMPILE_MODULE ? module_table(c, total) : range_table(c, total);
	if (t)
		note_share(c, t);
	return t;
}
