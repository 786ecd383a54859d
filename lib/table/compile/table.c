/* table.c -- sums of compilation as the rows of a table. Times are rounded so that they add up to the exact total,
 * in any order. */
#include "table/compile/compile.h"

#include <string.h>

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

/* ---- ranges, passes, phases, modules ---- */

#define NSX_ROW struct compiling_row
static const struct nsx_sum_col row_cols[] = {
	NSX_COL("id", ID, id), NSX_COL("name", STRING, name), NSX_COL("key", STRING, program_key),
	NSX_COL("compilations", INT, compilations), NSX_COL("self", NS, self_ns), NSX_COL("child", NS, child_ns),
	NSX_COL("total", NS, self_ns), NSX_COL_PER("mean", MEAN_NS, self_ns, compilations), NSX_COL("max", NS, longest),
	NSX_COL("work", NS, work_ns), NSX_COL("share", SHARE, share), NSX_COL("by_fraction", INT, fraction),
	NSX_COL("by_program", ID, program),
};
#define ROWS NSX_ROWS(row_cols), .key = sizeof(int64_t)
const struct nsx_sum_def nsx_compile_rows = { ROWS, .order = "-by_fraction name by_program" };
static const struct nsx_sum_def ranges = {
	ROWS, .order = "-self name by_program", .shown = "name self child share", .adds = "self"
}, modules = {
	ROWS, .order = "-self name by_program", .shown = "id name key compilations total mean max work share",
	.rank = "key total share compilations mean max work", .adds = "total"
};

/* Make self of every row an integer: round down, then add one to the largest fractions, as many as the exact total
 * requires. */
static void
round_rows(struct nsx_sums *rows)
{
	nsx_u128 missing = 0;

	NSX_SUMS_EACH(struct compiling_row, r, rows) {
		r->fraction = fraction(r->self);
		missing += r->fraction;
	}
	missing = (missing + ((nsx_u128)1 << 63)) >> 64;
	nsx_sums_sort(rows);
	for (size_t i = 0; i < nsx_sums_count(rows); i++) {
		struct compiling_row *r = nsx_sums_at(rows, i);

		r->self = (whole(r->self) + (i < missing)) * FINE_NS;
	}
}

/* Rows by module get what is known of their programs. */
static void
name_program(const struct compiling *c, struct compiling_row *r)
{
	uint32_t k = r->program < 0 ? NSX_NONE : nsx_cat_find_program(&c->cat, r->program);

	if (k != NSX_NONE) {
		const struct nsx_cat_program *p = &c->cat.programs.p[k];

		r->name = nsx_cat_str(&c->cat, p->name);
		r->program_key = nsx_cat_str(&c->cat, p->key);
		r->id = p->id;
	} else if (r->name.len == 0) {
		r->name = NSX_STR("[unknown program]");
	}
}

static struct nsx_table *
rows_table(struct compiling *c)
{
	struct nsx_sums *rows = &c->at->rows;
	fine_time total = 0;

	NSX_SUMS_EACH(struct compiling_row, r, rows) {
		r->id = NSX_ABSENT;
		if (c->at->by == NSX_COMPILE_MODULE)
			name_program(c, r);
	}
	round_rows(rows);
	for (size_t i = 0; i < nsx_sums_count(rows); i++)
		if (__builtin_add_overflow(total, ((struct compiling_row *)nsx_sums_at(rows, i))->self, &total)) {
			nsx_err_set(c->err, "%s: the sum of compile times exceeds 63 bits", c->where);
			return NULL;
		}
	NSX_SUMS_EACH(struct compiling_row, r, rows) {
		r->self_ns = whole(r->self);
		r->child_ns = nearest(r->child);
		r->work_ns = whole(r->work);
		r->longest = r->compilations ? r->longest : NSX_ABSENT;
		r->share = total > 0 ? (double)r->self / (double)total : 0;
	}
	rows->def = c->at->by == NSX_COMPILE_MODULE ? &modules : &ranges;
	return nsx_sums_table(rows, c->err);
}

/* ---- processes ---- */

/* idle: a profile that compiles nothing, in place of a process. at: the profile, those of one stream come in order of
 * number. */
struct process_row { int64_t profile, pid, compilations, compile, wall, idle, at; struct nsx_str name; };

#undef NSX_ROW
#define NSX_ROW struct process_row
static const struct nsx_sum_col process_cols[] = {
	NSX_COL("profile", ID, profile), NSX_COL("name", STRING, name), NSX_COL("pid", INT, pid),
	NSX_COL("compilations", INT, compilations), NSX_COL("compile", NS, compile), NSX_COL("wall", NS, wall),
	NSX_COL_PER("share", SHARE, compile, wall), NSX_COL("by_idle", INT, idle), NSX_COL("by_profile", ID, at),
};
static const struct nsx_sum_def processes = {
	NSX_ROWS(process_cols), .order = "by_idle -compile by_profile pid",
	.shown = "profile name pid compilations compile wall share"
};

static int64_t
wall_of(const struct nsx_compile_profile *p)
{
	return p->last < p->first ? 0 : p->last - p->first;
}

static struct nsx_table *
process_table(struct compiling *c)
{
	struct nsx_sums s = { .def = &processes };
	struct nsx_table *t = NULL;
	bool good = true;

	for (size_t i = 0; good && i < c->processes.n + c->profiles.n; i++) {
		const struct compile_process *p = i < c->processes.n ? &c->processes.p[i] : NULL;
		size_t at = p ? p->profile : i - c->processes.n;
		const struct nsx_compile_profile *of = &c->profiles.p[at];
		struct process_row *r;

		if (!p && (of->compiles || of->last < of->first))
			continue;
		good = (r = nsx_sums_add(&s)) != NULL;
		if (good)
			*r = (struct process_row){ .profile = of->number, .name = of->name, .wall = wall_of(of),
				.pid = p && p->pid >= 0 ? p->pid : NSX_ABSENT, .idle = !p, .at = (int64_t)at,
				.compilations = p ? p->compilations : 0, .compile = p ? (int64_t)p->busy.length : 0 };
	}
	if (good)
		t = nsx_sums_table(&s, c->err);
	else
		nsx_err_nomem(c->err, NULL);
	nsx_sums_free(&s);
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

struct nsx_table *
nsx_compile_table(struct compiling *c)
{
	struct nsx_table *t = c->at->by == NSX_COMPILE_PROCESS ? process_table(c) : rows_table(c);

	if (t)
		note_share(c, t);
	return t;
}
