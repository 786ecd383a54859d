/* heap.c -- heap memory of programs, from their dumps, as a table. One dump is in memory at a time. */
#include "table/heap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/progress.h"
#include "base/vec.h"
#include "xla/heap.h"

enum { ID, NAME, TRACE };   /* columns of every form */
enum { CURVE_STEP = 3, CURVE_BYTES, CURVE_NCOLS };
enum { PEAK_PEAK = 3, PEAK_POINTS, PEAK_MEMORY, PEAK_NCOLS };
enum {
	SUM_MEMORY = 2, SUM_ARGUMENTS, SUM_OUTPUTS, SUM_ALIASED, SUM_CONSTANTS, SUM_TEMP, SUM_HEAP, SUM_PEAK,
	    SUM_FRAGMENTATION,
	SUM_NCOLS
};
enum { AT_BUFFER = 3, AT_SIZE, AT_SHARE, AT_INSTRUCTION, AT_OP_NAME, AT_SOURCE, AT_NCOLS };

static const struct nsx_table_col curve_cols[CURVE_NCOLS] = {
	{ "id", NSX_CELL_ID }, { "name", NSX_CELL_STRING }, { "trace", NSX_CELL_INT },
	[CURVE_STEP]  = { "step", NSX_CELL_ID },
	[CURVE_BYTES] = { "bytes", NSX_CELL_BYTES },
};
static const struct nsx_table_col peak_cols[PEAK_NCOLS] = {
	{ "id", NSX_CELL_ID }, { "name", NSX_CELL_STRING }, { "trace", NSX_CELL_INT },
	[PEAK_PEAK]   = { "peak", NSX_CELL_BYTES },
	[PEAK_POINTS] = { "points", NSX_CELL_INT },
	[PEAK_MEMORY] = { "memory", NSX_CELL_STRING },
};
static const struct nsx_table_col sum_cols[SUM_NCOLS] = {
	{ "id", NSX_CELL_ID }, { "name", NSX_CELL_STRING },
	[SUM_MEMORY]        = { "memory", NSX_CELL_STRING },
	[SUM_ARGUMENTS]     = { "arguments", NSX_CELL_BYTES },
	[SUM_OUTPUTS]       = { "outputs", NSX_CELL_BYTES },
	[SUM_ALIASED]       = { "aliased", NSX_CELL_BYTES },
	[SUM_CONSTANTS]     = { "constants", NSX_CELL_BYTES },
	[SUM_TEMP]          = { "temp", NSX_CELL_BYTES },
	[SUM_HEAP]          = { "heap", NSX_CELL_BYTES },
	[SUM_PEAK]          = { "peak", NSX_CELL_BYTES },
	[SUM_FRAGMENTATION] = { "fragmentation", NSX_CELL_BYTES },
};
static const struct nsx_table_col at_cols[AT_NCOLS] = {
	{ "id", NSX_CELL_ID }, { "name", NSX_CELL_STRING }, { "trace", NSX_CELL_INT },
	[AT_BUFFER]      = { "buffer", NSX_CELL_INT },
	[AT_SIZE]        = { "size", NSX_CELL_BYTES },
	[AT_SHARE]       = { "share", NSX_CELL_SHARE },
	[AT_INSTRUCTION] = { "instruction", NSX_CELL_STRING },
	[AT_OP_NAME]     = { "op_name", NSX_CELL_STRING },
	[AT_SOURCE]      = { "source", NSX_CELL_STRING },
};

/* A trace, kept until all have been read: a line of the table of peaks, or its rows in the other tables; with --summary
 * a program. */
struct peak { int64_t id, peak, trace, points, color; struct nsx_str name; size_t came, first, rows; };

struct job {
	const struct nsx_heap_options *options;
	struct nsx_table *table;
	struct nsx_diags *diags;
	struct nsx_err   *err;
	struct nsx_arena  arena;             /* names of peaks */
	NSX_VEC(struct peak) peaks;
	int64_t           dumps, silent;     /* dumps read; those without a trace, or with --summary without memory */
};

static void
start_row(struct nsx_table *t, int64_t id, struct nsx_str name, int64_t trace)
{
	nsx_table_row(t);
	nsx_table_int(t, ID, id);
	nsx_table_str(t, NAME, name);
	nsx_table_int(t, TRACE, trace);
}

/* The name of the memory of a colour; one without a name as layouts write it. */
static void
put_memory(struct nsx_table *t, int col, int64_t color)
{
	static const char *const names[] = { "device", "collective", "temp", NULL, NULL, "host" };
	char text[32];

	if (color >= 0 && color < (int64_t)(sizeof names / sizeof *names) && names[color]) {
		nsx_table_str(t, col, nsx_str_c(names[color]));
		return;
	}
	snprintf(text, sizeof text, "S(%" PRId64 ")", color);
	nsx_table_str(t, col, nsx_str_c(text));
}

/* ---- the forms */

static int
put_summary(struct job *j, const struct nsx_heap *h)
{
	struct nsx_table *t = j->table;
	struct peak p = { .id = h->id, .came = j->peaks.n, .first = nsx_table_rows(t), .rows = h->nmemory };

	for (size_t i = 0; i < h->nmemory; i++) {
		const struct nsx_heap_memory *m = &h->memory[i];
		nsx_table_row(t);
		nsx_table_int(t, ID, h->id);
		nsx_table_str(t, NAME, h->name);
		put_memory(t, SUM_MEMORY, m->color);
		nsx_table_int(t, SUM_ARGUMENTS, m->arguments);
		nsx_table_int(t, SUM_OUTPUTS, m->outputs);
		nsx_table_int(t, SUM_ALIASED, m->aliased);
		nsx_table_int(t, SUM_CONSTANTS, m->constants);
		nsx_table_int(t, SUM_TEMP, m->temp);
		nsx_table_int(t, SUM_HEAP, m->heap);
		nsx_table_int(t, SUM_PEAK, m->peak);
		nsx_table_int(t, SUM_FRAGMENTATION, m->temp - m->heap);
		p.peak = m->peak > p.peak ? m->peak : p.peak;
	}
	return nsx_vec_push(&j->peaks, p) ? NSX_OK : nsx_err_nomem(j->err, NULL);
}

static void
put_curve(struct job *j, const struct nsx_heap *h, size_t trace)
{
	const struct nsx_heap_trace *t = &h->traces[trace];

	for (size_t i = 0; i < t->npoints; i++) {
		start_row(j->table, h->id, h->name, (int64_t)trace);
		nsx_table_int(j->table, CURVE_STEP, t->points[i].step);
		nsx_table_int(j->table, CURVE_BYTES, t->points[i].bytes);
	}
}

static struct nsx_str
innermost(struct nsx_str stack)
{
	size_t n = stack.len;

	while (n && stack.ptr[n - 1] != ';')
		n--;
	return (struct nsx_str){ stack.ptr + n, stack.len - n };
}

static void
put_live(struct job *j, const struct nsx_heap *h, size_t trace)
{
	const struct nsx_heap_trace *t = &h->traces[trace];

	for (size_t i = 0; i < t->nlive; i++) {
		const struct nsx_heap_live *l = &t->live[i];
		start_row(j->table, h->id, h->name, (int64_t)trace);
		nsx_table_int(j->table, AT_BUFFER, l->buffer);
		nsx_table_int(j->table, AT_SIZE, l->size);
		if (t->peak)
			nsx_table_double(j->table, AT_SHARE, (double)l->size / (double)t->peak);
		nsx_table_str(j->table, AT_INSTRUCTION, l->instruction);
		nsx_table_str(j->table, AT_OP_NAME, l->op_name);
		nsx_table_str(j->table, AT_SOURCE, j->options->stacks ? l->stack : innermost(l->stack));
	}
}

static int
keep_peak(struct job *j, const struct nsx_heap *h, size_t trace)
{
	const struct nsx_heap_trace *t = &h->traces[trace];
	size_t rows = j->options->what == NSX_HEAP_AT_PEAK ? t->nlive : j->options->what == NSX_HEAP_CURVE
	    ? t->npoints : 0;
	struct peak p = { h->id, t->peak, (int64_t)trace, (int64_t)t->npoints, t->color,
	                  nsx_arena_str(&j->arena, h->name), j->peaks.n, nsx_table_rows(j->table), rows };

	if (!p.name.ptr || !nsx_vec_push(&j->peaks, p))
		return nsx_err_nomem(j->err, NULL);
	return NSX_OK;
}

static int
largest_first(const void *a, const void *b)
{
	const struct peak *x = a, *y = b;

	if (x->peak != y->peak)
		return x->peak > y->peak ? -1 : 1;
	return x->came < y->came ? -1 : 1;
}

static void
put_peaks(struct job *j)
{
	for (size_t i = 0; i < j->peaks.n; i++) {
		const struct peak *p = &j->peaks.p[i];
		start_row(j->table, p->id, p->name, p->trace);
		nsx_table_int(j->table, PEAK_PEAK, p->peak);
		nsx_table_int(j->table, PEAK_POINTS, p->points);
		put_memory(j->table, PEAK_MEMORY, p->color);
	}
}

/* The rows of points, buffers or memories, those of the trace or program with the largest peak first. */
static int
sort_rows(struct job *j)
{
	size_t n = 0, rows = 0, *order;

	for (size_t i = 0; i < j->peaks.n; i++)
		rows += j->peaks.p[i].rows;
	/* Fewer rows: memory ran out while they were added. */
	order = rows == nsx_table_rows(j->table) ? malloc((rows + 1) * sizeof *order) : NULL;
	if (!order)
		return nsx_err_nomem(j->err, NULL);
	for (size_t i = 0; i < j->peaks.n; i++)
		for (size_t k = 0; k < j->peaks.p[i].rows; k++)
			order[n++] = j->peaks.p[i].first + k;
	nsx_table_permute(j->table, order);
	free(order);
	return NSX_OK;
}

/* ---- the dumps */

/* The size of a dump for progress. */
static int64_t
size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : 0;
}

static int
add_dump(struct job *j, const char *path)
{
	struct nsx_heap h;
	int rc = NSX_OK;

	if (nsx_heap_read(path, j->options->what == NSX_HEAP_AT_PEAK ? NSX_HEAP_LIVE : 0, &h, j->diags, j->err) !=
	    NSX_OK)
		return NSX_ERR;
	j->dumps++;
	j->silent += j->options->what == NSX_HEAP_SUMMARY ? h.nmemory == 0 : h.ntraces == 0;
	if (j->options->what == NSX_HEAP_SUMMARY)
		rc = put_summary(j, &h);
	for (size_t i = 0; rc == NSX_OK && i < h.ntraces; i++)
		switch (j->options->what) {
		case NSX_HEAP_CURVE:   rc = keep_peak(j, &h, i); put_curve(j, &h, i); break;
		case NSX_HEAP_AT_PEAK: rc = keep_peak(j, &h, i); put_live(j, &h, i); break;
		case NSX_HEAP_PEAK:    rc = keep_peak(j, &h, i); break;
		case NSX_HEAP_SUMMARY: break;
		}
	nsx_heap_free(&h);
	return rc;
}

static int
add_folder(struct job *j, const char *path)
{
	struct nsx_dump_dir *d = nsx_dump_dir_open(path, j->err);
	const char *dump;
	size_t next = 0;
	int rc = NSX_OK;

	if (!d)
		return NSX_ERR;
	while ((dump = nsx_dump_dir_next(d, &next)))
		nsx_progress_expect(size_of(dump));
	next = 0;
	while (rc == NSX_OK && (dump = nsx_dump_dir_next(d, &next))) {
		rc = add_dump(j, dump);
		nsx_progress_done((uint64_t)size_of(dump));
	}
	if (next == 0)
		nsx_diag_add(j->diags, NSX_WARNING, path, 1, "no dump of an optimized program in this folder");
	nsx_dump_dir_free(d);
	return rc;
}

static int
add_path(struct job *j, const char *path)
{
	struct stat st;

	if (strcmp(path, "-") == 0)
		return add_dump(j, "/dev/stdin");
	if (stat(path, &st) != 0)
		return nsx_err_set(j->err, "%s: %s", path, strerror(errno));
	return S_ISDIR(st.st_mode) ? add_folder(j, path) : add_dump(j, path);
}

struct nsx_table *
nsx_heap_table(char *const *paths, int n, const struct nsx_heap_options *options, struct nsx_diags *diags,
               struct nsx_err *err)
{
	static const struct { const struct nsx_table_col *cols; int n; const char *rank; } forms[] = {
		[NSX_HEAP_CURVE]   = { curve_cols, CURVE_NCOLS, "name step bytes" },
		[NSX_HEAP_PEAK]    = { peak_cols, PEAK_NCOLS, "name peak memory" },
		[NSX_HEAP_SUMMARY] = { sum_cols, SUM_NCOLS, "name memory peak heap id arguments outputs temp" },
		[NSX_HEAP_AT_PEAK] = { at_cols, AT_NCOLS, "instruction size share id op_name source" },
	};
	struct job j = { .options = options, .diags = diags, .err = err,
	                 .table = nsx_table_new(forms[options->what].cols, forms[options->what].n) };
	int rc = j.table ? NSX_OK : nsx_err_nomem(err, NULL);

	nsx_table_rank(j.table, forms[options->what].rank);
	/* Two quantities are called peak: people see one name for each. */
	if (options->what == NSX_HEAP_PEAK) {
		nsx_table_head(j.table, "peak", "heap_peak");
	} else if (options->what == NSX_HEAP_SUMMARY) {
		nsx_table_head(j.table, "heap", "heap_peak");
		nsx_table_head(j.table, "peak", "whole_peak");
	}
	for (int i = 0; i < n; i++)
		nsx_progress_expect(size_of(paths[i]));
	for (int i = 0; rc == NSX_OK && i < n; i++) {
		rc = add_path(&j, paths[i]);
		nsx_progress_done((uint64_t)size_of(paths[i]));
	}
	if (rc == NSX_OK && j.peaks.n > 1)
		qsort(j.peaks.p, j.peaks.n, sizeof *j.peaks.p, largest_first);
	if (rc == NSX_OK && options->what != NSX_HEAP_PEAK)
		rc = sort_rows(&j);
	if (rc == NSX_OK) {
		if (options->what == NSX_HEAP_PEAK)
			put_peaks(&j);
		nsx_diag_add(diags, j.silent == j.dumps ? NSX_WARNING : NSX_INFO, "", j.silent,
		             options->what == NSX_HEAP_SUMMARY
		             ? "programs without a buffer assignment in their dump"
		                                               : "programs without a heap trace in their dump");
	} else {
		nsx_table_free(j.table);
		j.table = NULL;
	}
	free(j.peaks.p);
	nsx_arena_free(&j.arena);
	return j.table;
}
