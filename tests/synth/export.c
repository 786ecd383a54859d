/* export.c -- the events of the plan as the rows of an export: each process on its own clock, names by their ids. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xport.h"

enum { PAGEABLE = 0, PINNED = 1, DEVICE = 2 };   /* kinds of memory */
enum rows { ROWS_RANGES, ROWS_MARKS, ROWS_CALLS, ROWS_OPS, ROWS_KINDS };

struct ref { int64_t start, end; uint32_t i; bool other; };

int64_t
xport_string(struct xport *x, uint32_t name)
{
	uint32_t n;

	/* Names may have been added since. */
	if (x->room < x->p->names.n) {
		x->id = syn_check(realloc(x->id, x->p->names.n * sizeof *x->id));
		while (x->room < x->p->names.n)
			x->id[x->room++] = SYN_NONE;
	}
	n = x->id[name];
	if (n == SYN_NONE)
		n = x->id[name] = x->nids++;
	/* Sparse and unordered, as in trimmed files; 1000003 is prime, so no two ids are equal. */
	return x->shuffle ? (int64_t)n * 7919 % 1000003 : n + 1;
}

int64_t
xport_cstring(struct xport *x, const char *s)
{
	return xport_string(x, syn_name(x->p, s));
}

bool
xport_here(const struct xport *x, uint32_t proc)
{
	return x->p->proc.p[proc].xport == x->number;
}

/* ---- rows of the plan by export: one pass for all exports */

struct list { const uint32_t *i; size_t n; };
static struct { uint32_t *i; size_t *first; } rows[ROWS_KINDS];

static size_t
rows_of(const struct syn_plan *p, enum rows kind)
{
	return kind == ROWS_RANGES ? p->range.n : kind == ROWS_MARKS ? p->mark.n : kind == ROWS_CALLS ? p->call.n : p->op.n;
}

static uint32_t
export_of(const struct syn_plan *p, enum rows kind, size_t i)
{
	uint32_t proc = kind == ROWS_RANGES ? p->range.p[i].proc : kind == ROWS_MARKS ? p->mark.p[i].proc :
	                kind == ROWS_CALLS ? p->call.p[i].proc : p->dev.p[p->op.p[i].dev].proc;

	return p->proc.p[proc].xport;
}

/* Sort the rows of a kind by their export, otherwise in the order of the plan. */
static void
distribute(const struct syn_plan *p, enum rows kind)
{
	size_t n = rows_of(p, kind);

	rows[kind].i = syn_check(malloc((n + 1) * sizeof *rows[kind].i));
	rows[kind].first = syn_check(calloc(p->nxports + 2, sizeof *rows[kind].first));
	for (size_t i = 0; i < n; i++)
		rows[kind].first[export_of(p, kind, i) + 2]++;
	for (uint32_t e = 2; e <= p->nxports + 1; e++)
		rows[kind].first[e] += rows[kind].first[e - 1];
	for (size_t i = 0; i < n; i++)
		rows[kind].i[rows[kind].first[export_of(p, kind, i) + 1]++] = (uint32_t)i;
}

static struct list
list_of(const struct xport *x, enum rows kind)
{
	size_t from = rows[kind].first[x->number];

	return (struct list){ rows[kind].i + from, rows[kind].first[x->number + 1] - from };
}

static int
by_start(const void *a, const void *b)
{
	const struct ref *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	if (x->other != y->other)
		return x->other ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

/* Sorted by start as the exports of Nsight Systems are, or shuffled. */
static void
arrange(struct xport *x, struct ref *v, size_t n)
{
	qsort(v, n, sizeof *v, by_start);
	for (size_t i = n; x->shuffle && i > 1; i--) {
		size_t k = nsx_hash_u64(x->random += 0x9e3779b97f4a7c15ULL) % i;
		struct ref swap = v[k];

		v[k] = v[i - 1];
		v[i - 1] = swap;
	}
}

static void
write_range(struct xport *x, struct db_table *t, const int *c, struct syn_range *r)
{
	const struct syn_plan *p = x->p;
	const struct syn_proc *pr = &p->proc.p[r->proc];

	db_int(t, c[0], r->lstart);
	if (r->open && pr->open_null)
		db_null(t, c[1]);
	else
		db_int(t, c[1], r->lend);
	db_int(t, c[2], r->type);
	if (r->type == SYN_STARTEND)
		db_int(t, c[3], r->range_id);
	else
		db_null(t, c[3]);
	db_null(t, c[4]);
	if (r->registered) {
		db_null(t, c[5]);
		db_int(t, c[6], xport_string(x, r->name));
	} else {
		db_text(t, c[5], syn_str(p, r->name));
		db_null(t, c[6]);
	}
	db_int(t, c[7], (int64_t)syn_gtid(p, r->proc, r->thread));
	if (r->end_thread != SYN_NONE)
		db_int(t, c[8], (int64_t)syn_gtid(p, r->proc, r->end_thread));
	else
		db_null(t, c[8]);
	db_int(t, c[9], pr->domain_id[r->domain]);
	/* A colour and a payload in some rows: nothing depends on them. */
	if (r->start % 7 == 0)
		db_int(t, c[10], 0xff00aa44);
	else
		db_null(t, c[10]);
	if (syn_opt.secret && r->start % 5 == 0)
		db_text(t, c[11], syn_opt.secret);
	else
		db_null(t, c[11]);
	xport_payload(x, t, c[12], (uint32_t)(r - p->range.p));
	r->rowid = db_row(t);
}

static void
write_mark(struct xport *x, struct db_table *t, const int *c, const struct syn_mark *m)
{
	const struct syn_plan *p = x->p;

	db_int(t, c[0], syn_local(p, m->proc, m->time));
	db_null(t, c[1]);
	db_int(t, c[2], m->type);
	db_null(t, c[3]);
	if (m->type == 33)
		db_int(t, c[4], m->category);
	else
		db_null(t, c[4]);
	db_text(t, c[5], m->type != 75 && syn_opt.secret ? syn_fmt(x->p, "%s %s", syn_str(p, m->name), syn_opt.secret) : syn_str(p, m->name));
	db_null(t, c[6]);
	db_int(t, c[7], (int64_t)syn_gtid(p, m->proc, m->thread));
	db_null(t, c[8]);
	db_int(t, c[9], p->proc.p[m->proc].domain_id[m->domain]);
	db_null(t, c[10]);
	db_null(t, c[11]);
	db_null(t, c[12]);
	db_row(t);
}

static void
nvtx(struct xport *x)
{
	static const char *const cols[] = { "start", "end", "eventType", "rangeId", "category", "text", "textId", "globalTid", "endGlobalTid", "domainId", "color", "jsonText", "binaryData" };
	struct syn_plan *p = x->p;
	struct list ranges = list_of(x, ROWS_RANGES), marks = list_of(x, ROWS_MARKS);
	struct ref *v = syn_check(malloc((ranges.n + marks.n + 1) * sizeof *v));
	struct db_table *t;
	size_t n = 0;
	int c[13];

	for (size_t k = 0; k < ranges.n; k++) {
		const struct syn_range *r = &p->range.p[ranges.i[k]];

		if (!r->gone)
			v[n++] = (struct ref){ r->lstart, r->lend, ranges.i[k], false };
	}
	for (size_t k = 0; k < marks.n; k++) {
		const struct syn_mark *m = &p->mark.p[marks.i[k]];

		if (m->time <= p->proc.p[m->proc].until)
			v[n++] = (struct ref){ syn_local(p, m->proc, m->time), 0, marks.i[k], true };
	}
	arrange(x, v, n);
	if (n) {
		t = db_table(x->d, "NVTX_EVENTS");
		for (int k = 0; k < 13; k++)
			c[k] = db_col(t, cols[k]);
		for (size_t i = 0; i < n; i++)
			if (v[i].other)
				write_mark(x, t, c, &p->mark.p[v[i].i]);
			else
				write_range(x, t, c, &p->range.p[v[i].i]);
	}
	free(v);
}

static void
runtime(struct xport *x)
{
	static const char *const cols[] = { "start", "end", "eventClass", "globalTid", "correlationId", "nameId" };
	struct syn_plan *p = x->p;
	struct list calls = list_of(x, ROWS_CALLS);
	struct ref *v = syn_check(malloc((2 * calls.n + 1) * sizeof *v));
	struct db_table *t;
	size_t n = 0;
	int c[6];

	for (size_t j = 0; j < calls.n; j++) {
		uint32_t i = calls.i[j];
		const struct syn_call *k = &p->call.p[i];

		if (k->gone)
			continue;
		v[n++] = (struct ref){ syn_local(p, k->proc, k->start), syn_local(p, k->proc, k->end), i, false };
		/* The driver's call inside the runtime's, with the same correlation id. */
		if (k->driver != SYN_NONE)
			v[n++] = (struct ref){ syn_local(p, k->proc, k->start + 400), syn_local(p, k->proc, k->end - 300), i, true };
	}
	arrange(x, v, n);
	/* Real exports have these sorted, except for a few rows. */
	if (n > 30) {
		struct ref swap = v[n / 3];

		v[n / 3] = v[n / 3 + 1];
		v[n / 3 + 1] = swap;
	}
	if (n) {
		t = db_table(x->d, "CUPTI_ACTIVITY_KIND_RUNTIME");
		for (int k = 0; k < 6; k++)
			c[k] = db_col(t, cols[k]);
		for (size_t i = 0; i < n; i++) {
			const struct syn_call *k = &p->call.p[v[i].i];

			db_int(t, c[0], v[i].start);
			db_int(t, c[1], v[i].end);
			db_int(t, c[2], v[i].other || k->is_driver);
			db_int(t, c[3], (int64_t)syn_gtid(p, k->proc, k->thread));
			db_int(t, c[4], k->corr);
			db_int(t, c[5], xport_string(x, v[i].other ? k->driver : k->name));
			db_row(t);
		}
	}
	free(v);
}

static void
write_op(struct xport *x, struct db_table *t, const int *c, const struct ref *v)
{
	const struct syn_plan *p = x->p;
	const struct syn_op *op = &p->op.p[v->i];
	uint32_t proc = p->dev.p[op->dev].proc;

	db_int(t, c[0], v->start);
	db_int(t, c[1], v->end);
	db_int(t, c[2], p->dev.p[op->dev].cuda);
	db_int(t, c[3], op->stream);
	/* An operation whose call is lost still has its id. */
	db_int(t, c[4], op->call == SYN_NONE ? 0 : p->call.p[op->call].corr);
	db_int(t, c[5], (int64_t)syn_gpid(p, proc));
	if (op->decompress) {
		db_int(t, c[7], op->bytes);
		db_row(t);
		return;
	}
	if (op->type == SYN_GRAPH) {
		db_int(t, c[6], 1);
		db_int(t, c[7], 2);
		db_row(t);
		return;
	}
	if (op->node)
		db_int(t, c[6], op->node);
	else
		db_null(t, c[6]);
	if (op->type == SYN_KERNEL) {
		db_int(t, c[7], xport_string(x, op->name));
		db_int(t, c[8], xport_string(x, op->short_name));
		db_int(t, c[9], xport_cstring(x, syn_fmt(x->p, "_Z%zu%s%s", strlen(syn_str(p, op->short_name)), syn_str(p, op->short_name),
		                                         syn_opt.secret ? syn_opt.secret : "v")));
	} else {
		db_int(t, c[7], op->bytes);
		db_int(t, c[8], op->copy_kind);
		int memory = op->pageable ? PAGEABLE : op->pinned ? PINNED : DEVICE;

		db_int(t, c[9], op->copy_kind == 1 ? memory : DEVICE);
		db_int(t, c[10], op->copy_kind == 2 ? memory : DEVICE);
	}
	db_row(t);
}

static void
operations(struct xport *x, enum syn_op_type type, bool decompress)
{
	static const char *const tables[] = { "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE" };
	static const char *const cols[] = { "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphNodeId" };
	struct syn_plan *p = x->p;
	struct list ops = list_of(x, ROWS_OPS);
	struct ref *v = syn_check(malloc((ops.n + 1) * sizeof *v));
	struct db_table *t;
	size_t n = 0;
	int c[11] = { 0 };

	for (size_t k = 0; k < ops.n; k++) {
		const struct syn_op *op = &p->op.p[ops.i[k]];
		uint32_t proc = p->dev.p[op->dev].proc;

		if (op->type == type && op->decompress == decompress && !op->gone)
			v[n++] = (struct ref){ syn_local(p, proc, op->start), syn_local(p, proc, op->end), ops.i[k], false };
	}
	arrange(x, v, n);
	if (n) {
		t = db_table(x->d, decompress ? "CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS" : tables[type]);
		if (!t)
			syn_die("schema %s has no table %s", syn_opt.schema, tables[type]);
		for (int k = 0; k < 6; k++)
			c[k] = db_col(t, cols[k]);
		c[6] = decompress ? 0 : db_col(t, type == SYN_GRAPH ? "graphId" : cols[6]);
		if (type == SYN_KERNEL) {
			c[7] = db_col(t, "demangledName");
			c[8] = db_col(t, "shortName");
			c[9] = db_col(t, "mangledName");
		} else {
			c[7] = db_col(t, type == SYN_GRAPH ? "graphExecId" : decompress ? "sourceBytes" : "bytes");
			if (type == SYN_MEMCPY && !decompress) {
				c[8] = db_col(t, "copyKind");
				c[9] = db_col(t, "srcKind");
				c[10] = db_col(t, "dstKind");
			}
		}
		for (size_t i = 0; i < n; i++)
			write_op(x, t, c, &v[i]);
	}
	free(v);
}

static int
by_id(const void *a, const void *b)
{
	const struct ref *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void
strings(struct xport *x)
{
	struct ref *v;
	struct db_table *t;
	size_t n = 0;
	int c[2];

	xport_cstring(x, syn_opt.secret ? syn_fmt(x->p, "never referred to %s", syn_opt.secret) : "never referred to");
	v = syn_check(malloc(x->room * sizeof *v));
	for (uint32_t i = 0; i < x->room; i++)
		if (x->id[i] != SYN_NONE)
			v[n++] = (struct ref){ xport_string(x, i), 0, i, false };
	qsort(v, n, sizeof *v, by_id);
	t = db_table(x->d, "StringIds");
	c[0] = db_col(t, "id");
	c[1] = db_col(t, "value");
	for (size_t i = 0; i < n; i++) {
		db_int(t, c[0], v[i].start);
		db_text(t, c[1], syn_str(x->p, v[i].i));
		db_rowid(t, v[i].start);
	}
	free(v);
}

void
syn_export(struct syn_plan *p)
{
	for (int kind = 0; kind < ROWS_KINDS; kind++)
		distribute(p, (enum rows)kind);
	for (uint32_t e = 0; e < p->nxports; e++) {
		struct xport x = { 0 };
		char path[4096];

		if (snprintf(path, sizeof path, "%s/%s.sqlite", syn_opt.dir, syn_profile(p, e)) >= (int)sizeof path)
			syn_die("%s: the name is too long", syn_opt.dir);
		x.p = p;
		x.number = e;
		x.shuffle = syn_opt.shuffle;
		x.random = (uint64_t)syn_opt.seed * 31 + e;
		x.d = db_open(path, db_version_of(syn_opt.schema), syn_opt.full, syn_opt.shuffle, x.random + 7);
		nvtx(&x);
		runtime(&x);
		for (int type = SYN_KERNEL; type <= SYN_GRAPH; type++)
			operations(&x, (enum syn_op_type)type, false);
		operations(&x, SYN_MEMCPY, true);
		xport_host_fns(&x);
		xport_schemas(&x);
		xport_metrics(&x);
		xport_memory(&x);
		xport_meta(&x);
		strings(&x);
		db_close(x.d);
		free(x.id);
	}
	for (int kind = 0; kind < ROWS_KINDS; kind++) {
		free(rows[kind].i);
		free(rows[kind].first);
	}
}
