/* heap.c -- heap memory of programs, from their dumps, as a table. One dump is in memory at a time. */
#include "table/heap.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/progress.h"
#include "job/catalogue.h"
#include "table/analysis.h"
#include "table/each_dump.h"
#include "table/sums.h"
#include "xla/heap.h"

/* A row of any of the tables. A trace, or with --summary a program, is one that is kept until all have been read: a row
 * of the table of peaks, or the place of its rows in the others. */
struct row {
	struct nsx_str name, memory, instruction, op_name, source, kind;
	int64_t id, trace, step, bytes, peak, points, buffer, size;
	int64_t arguments, outputs, aliased, constants, temp, heap, fragmentation, reserved, capacity;
	double  share;
	int64_t came;
	size_t  first, rows;
};

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("id", ID, id), NSX_COL("name", STRING, name), NSX_COL("trace", INT, trace), NSX_COL("step", ID, step),
	NSX_COL("bytes", BYTES, bytes), NSX_COL("memory", STRING, memory), NSX_COL("arguments", BYTES, arguments),
	NSX_COL("outputs", BYTES, outputs), NSX_COL("aliased", BYTES, aliased), NSX_COL("constants", BYTES, constants),
	NSX_COL("temp", BYTES, temp), NSX_COL("heap", BYTES, heap), NSX_COL("peak", BYTES, peak),
	NSX_COL("points", INT, points), NSX_COL("fragmentation", BYTES, fragmentation), NSX_COL("buffer", INT, buffer),
	NSX_COL("size", BYTES, size), NSX_COL("share", SHARE, share), NSX_COL("instruction", STRING, instruction),
	NSX_COL("op_name", STRING, op_name), NSX_COL("source", STRING, source), NSX_COL("kind", STRING, kind),
	NSX_COL("reserved", BYTES, reserved), NSX_COL("capacity", BYTES, capacity), NSX_COL("by_came", INT, came),
};

/* The order is that of the rows which are kept. */
#define ROWS NSX_ROWS(cols), .order = "-peak by_came"

/* Two quantities are called peak: people see one name for each. */
#define TWO_PEAKS .heads = { { "heap", "heap_peak" }, { "peak", "whole_peak" } }
#define SUMMARY "id name memory arguments outputs aliased constants temp heap peak fragmentation reserved"

static const struct nsx_sum_def defs[] = {
	[NSX_HEAP_CURVE]   = { ROWS, .shown = "id name trace step bytes", .rank = "name step bytes" },
	[NSX_HEAP_PEAK]    = { ROWS, .shown = "id name trace peak points memory", .rank = "name peak memory",
	                       .heads = { { "peak", "heap_peak" } } },
	[NSX_HEAP_SUMMARY] = { ROWS, .shown = SUMMARY,
	                       .rank = "name memory peak reserved heap id arguments outputs temp", TWO_PEAKS },
	[NSX_HEAP_AT_PEAK] = { ROWS, .shown = "id name trace buffer size share instruction op_name source",
	                       .rank = "instruction size share id op_name source" },
}, summary_of = {
	ROWS, .shown = SUMMARY " capacity share", TWO_PEAKS,
	.rank = "name memory reserved capacity share peak heap id arguments outputs temp"
}, with_arguments = {
	ROWS, .shown = "id name trace kind buffer size share instruction op_name source",
	.rank = "instruction size kind share id op_name source"
};

struct job {
	const struct nsx_heap_options *options;
	struct nsx_table *table;
	struct nsx_diags *diags;
	struct nsx_err   *err;
	struct nsx_arena  arena;             /* strings of rows that are kept */
	struct nsx_sums   kept;              /* of struct row */
	int64_t           dumps, silent;     /* dumps read; those without a trace, or with --summary without memory */
	int64_t           most;              /* the largest reserved of device memory */
};

/* All tables of a reading. */
struct jobs { struct job *p; size_t n; unsigned more; struct nsx_diags *diags; struct nsx_err *err; };

static void
put(struct job *j, const struct row *r)
{
	/* No column is a total. */
	nsx_sums_put(&j->kept, j->table, r, j->err);
}

/* Keep a row; NSX_OK or NSX_ERR. */
static int
keep(struct job *j, struct row r)
{
	struct row *kept = nsx_sums_add(&j->kept);

	r.name = nsx_arena_str(&j->arena, r.name);
	if (!kept || !r.name.ptr)
		return nsx_err_nomem(j->err, NULL);
	r.came = (int64_t)nsx_sums_count(&j->kept);
	*kept = r;
	return NSX_OK;
}

/* The name of the memory of a colour, or as layouts write one without a name. */
static struct nsx_str
memory_of(struct job *j, int64_t color)
{
	static const char *const names[] = { "device", "collective", "temp", NULL, NULL, "host" };
	char text[32];

	if (color >= 0 && color < (int64_t)(sizeof names / sizeof *names) && names[color])
		return nsx_str_c(names[color]);
	snprintf(text, sizeof text, "S(%" PRId64 ")", color);
	return nsx_arena_str(&j->arena, nsx_str_c(text));
}

/* ---- the forms */

static int
put_summary(struct job *j, const struct nsx_heap *h)
{
	struct row all = { .id = h->id, .name = h->name, .first = nsx_table_rows(j->table), .rows = h->nmemory };

	for (size_t i = 0; i < h->nmemory; i++) {
		const struct nsx_heap_memory *m = &h->memory[i];
		struct row r = { .id = h->id, .name = h->name, .memory = memory_of(j, m->color),
		                 .arguments = m->arguments, .outputs = m->outputs, .aliased = m->aliased,
		                 .constants = m->constants, .temp = m->temp, .heap = m->heap, .peak = m->peak,
		                 .fragmentation = m->temp - m->heap, .capacity = NSX_ABSENT, .share = NAN };

		r.reserved = m->arguments + m->outputs - m->aliased + m->temp + m->constants;
		if (m->color == 0)
			j->most = r.reserved > j->most ? r.reserved : j->most;
		if (m->color == 0 && j->options->capacity > 0) {
			r.capacity = j->options->capacity;
			r.share = (double)r.reserved / (double)r.capacity;
		}

		if (!r.memory.ptr)
			return nsx_err_nomem(j->err, NULL);
		put(j, &r);
		all.peak = m->peak > all.peak ? m->peak : all.peak;
	}
	return keep(j, all);
}

static struct nsx_str
innermost(struct nsx_str stack)
{
	size_t n = stack.len;

	while (n && stack.ptr[n - 1] != ';')
		n--;
	return (struct nsx_str){ stack.ptr + n, stack.len - n };
}

/* All memory of the program at its peak, of that colour; 0: it has none. */
static int64_t
whole_peak(const struct nsx_heap *h, int64_t color)
{
	for (size_t i = 0; i < h->nmemory; i++)
		if (h->memory[i].color == color)
			return h->memory[i].peak;
	return 0;
}

/* What is reserved for the whole run. */
static int
put_fixed(struct job *j, const struct nsx_heap *h)
{
	struct row all = { .id = h->id, .name = h->name, .first = nsx_table_rows(j->table),
	                   .rows = h->nfixed };

	for (size_t i = 0; i < h->nfixed; i++) {
		const struct nsx_heap_fixed *f = &h->fixed[i];
		const struct nsx_heap_live *l = &f->live;
		int64_t whole = whole_peak(h, f->color);

		put(j, &(struct row){
			.id = h->id, .name = h->name, .trace = NSX_ABSENT, .size = l->size,
			.kind = nsx_str_c(f->argument ? f->output ? "argument,output" : "argument"
			                  : f->output ? "output" : "constant"),
			.buffer = l->buffer < 0 ? NSX_ABSENT : l->buffer,
			.share = whole > 0 ? (double)l->size / (double)whole : NAN,
			.instruction = l->instruction, .op_name = l->op_name,
			.source = j->options->stacks ? l->stack : innermost(l->stack) });
		all.peak = whole > all.peak ? whole : all.peak;
	}
	return h->nfixed ? keep(j, all) : NSX_OK;
}

/* The rows of a trace: changes, buffers that are live at the peak, or none. */
static int
put_trace(struct job *j, const struct nsx_heap *h, size_t trace)
{
	enum nsx_heap_what what = j->options->what;
	const struct nsx_heap_trace *t = &h->traces[trace];
	struct row all = { .id = h->id, .name = h->name, .trace = (int64_t)trace, .peak = t->peak,
	                   .points = (int64_t)t->npoints, .first = nsx_table_rows(j->table) }, r = all;

	all.rows = what == NSX_HEAP_CURVE ? t->npoints : what == NSX_HEAP_AT_PEAK ? t->nlive : 0;
	for (size_t i = 0; i < all.rows; i++) {
		if (what == NSX_HEAP_CURVE) {
			r.step = t->points[i].step;
			r.bytes = t->points[i].bytes;
		} else {
			const struct nsx_heap_live *l = &t->live[i];

			r.buffer = l->buffer;
			r.size = l->size;
			int64_t whole = j->options->arguments ? whole_peak(h, t->color) : t->peak;

			r.kind = NSX_STR("temp");
			r.share = whole > 0 ? (double)l->size / (double)whole : NAN;
			r.instruction = l->instruction;
			r.op_name = l->op_name;
			r.source = j->options->stacks ? l->stack : innermost(l->stack);
		}
		put(j, &r);
	}
	all.memory = what == NSX_HEAP_PEAK ? memory_of(j, t->color) : NSX_STR("");
	return all.memory.ptr ? keep(j, all) : nsx_err_nomem(j->err, NULL);
}

/* The rows of points, buffers or memories, those of the trace or program with the largest peak first. */
static int
sort_rows(struct job *j)
{
	size_t n = 0, rows = 0, *order;
	const struct row *r;

	for (size_t i = 0; i < nsx_sums_count(&j->kept); i++)
		rows += (r = nsx_sums_at(&j->kept, i))->rows;
	/* Fewer rows: memory ran out while they were added. */
	order = rows == nsx_table_rows(j->table) ? malloc((rows + 1) * sizeof *order) : NULL;
	if (!order)
		return nsx_err_nomem(j->err, NULL);
	for (size_t i = 0; i < nsx_sums_count(&j->kept); i++) {
		r = nsx_sums_at(&j->kept, i);
		for (size_t k = 0; k < r->rows; k++)
			order[n++] = r->first + k;
	}
	nsx_table_permute(j->table, order);
	free(order);
	return NSX_OK;
}

/* ---- the dumps */

static int
put_heap(struct job *j, const struct nsx_heap *h)
{
	bool fixed = j->options->arguments && h->nfixed;
	int rc = NSX_OK;

	j->dumps++;
	j->silent += j->options->what == NSX_HEAP_SUMMARY ? h->nmemory == 0 : h->ntraces == 0 && !fixed;
	if (j->options->what == NSX_HEAP_SUMMARY)
		return put_summary(j, h);
	if (fixed)
		rc = put_fixed(j, h);
	for (size_t i = 0; rc == NSX_OK && i < h->ntraces; i++)
		rc = put_trace(j, h, i);
	return rc;
}

static int
add_heap(struct jobs *all, struct nsx_heap *h)
{
	int rc = NSX_OK;

	for (size_t i = 0; rc == NSX_OK && i < all->n; i++)
		rc = put_heap(&all->p[i], h);
	nsx_heap_free(h);
	return rc;
}

static unsigned
more(const struct nsx_heap_options *o)
{
	return o->what != NSX_HEAP_AT_PEAK ? 0 : o->arguments ? NSX_HEAP_LIVE | NSX_HEAP_FIXED : NSX_HEAP_LIVE;
}

static int
add_dump(void *state, const char *path, bool in_folder, struct nsx_err *err)
{
	struct jobs *j = state;
	struct nsx_heap h;

	(void)in_folder;
	return nsx_heap_read(path, j->more, &h, j->diags, err) == NSX_OK ? add_heap(j, &h) : NSX_ERR;
}

static int
add_program(void *state, struct nsx_str hlo, const char *path, struct nsx_err *err)
{
	struct jobs *j = state;
	struct nsx_heap h;

	return nsx_heap_memory(hlo.ptr, hlo.len, path, j->more, &h, j->diags, err) == NSX_OK ? add_heap(j, &h)
	                                                                                     : NSX_ERR;
}

/* The answer in a sentence. */
static void
tell_capacity(struct job *j)
{
	if (j->options->what != NSX_HEAP_SUMMARY || j->options->capacity <= 0 || !j->most)
		return;
	double unit = j->most < 1000000000 ? 1e6 : 1e9;

	nsx_analysis_tell(j->table, j->diags, "the largest program needs %.1f %sof %.1f GB of a device (%.1f%%)",
	                  (double)j->most / unit, j->most < 1000000000 ? "MB " : "", (double)j->options->capacity / 1e9,
	                  100 * (double)j->most / (double)j->options->capacity);
}

struct devices_of { struct nsx_catalogue cat; struct nsx_err *err; };

static int
take_metadata(void *state, const struct nsx_rec *rec)
{
	struct devices_of *d = state;

	return nsx_cat_take(&d->cat, rec, d->err);
}

int
nsx_heap_capacity(struct nsx_reader *in, int64_t *bytes, struct nsx_err *err)
{
	struct devices_of d = { .err = err };
	int rc;

	*bytes = 0;
	nsx_cat_need(&d.cat, in);
	rc = nsx_read_all(in, NULL, take_metadata, &d, err);
	for (size_t i = 0; i < d.cat.devices.n; i++) {
		int64_t own = d.cat.devices.p[i].memory;

		if (own > 0 && (*bytes == 0 || own < *bytes))
			*bytes = own;
	}
	nsx_cat_free(&d.cat);
	return rc;
}

static int
begin(struct job *j, const struct nsx_heap_options *options, struct nsx_err *err)
{
	const struct nsx_sum_def *def = options->arguments ? &with_arguments
	    : options->what == NSX_HEAP_SUMMARY && options->capacity > 0 ? &summary_of : &defs[options->what];

	*j = (struct job){ .options = options, .err = err, .kept = { .def = def } };
	return (j->table = nsx_sums_begin(&j->kept, err)) ? NSX_OK : NSX_ERR;
}

/* After the last dump. */
static int
finish(struct job *j, struct nsx_diags *diags)
{
	j->diags = diags;
	nsx_sums_sort(&j->kept);
	if (j->options->what != NSX_HEAP_PEAK && sort_rows(j) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; j->options->what == NSX_HEAP_PEAK && i < nsx_sums_count(&j->kept); i++)
		put(j, nsx_sums_at(&j->kept, i));
	nsx_diag_add(diags, j->silent == j->dumps ? NSX_WARNING : NSX_INFO, "", j->silent,
	             j->options->what == NSX_HEAP_SUMMARY ? "programs without a buffer assignment in their dump"
	             : "programs without a heap trace in their dump");
	tell_capacity(j);
	return NSX_OK;
}

int
nsx_heap_tables(char *const *paths, int n, const struct nsx_heap_options *options, struct nsx_table **tables,
                size_t ntables, struct nsx_diags *diags, struct nsx_err *err)
{
	struct jobs all = { calloc(ntables, sizeof *all.p), 0, 0, diags, err };
	const struct nsx_each_dump each = { add_dump, add_program, &all };
	int rc = all.p ? NSX_OK : nsx_err_nomem(err, NULL);

	for (; rc == NSX_OK && all.n < ntables; all.n++) {
		all.more |= more(&options[all.n]);
		rc = begin(&all.p[all.n], &options[all.n], err);
	}
	for (int i = 0; i < n; i++)
		nsx_progress_expect(nsx_dump_size(paths[i]));
	for (int i = 0; rc == NSX_OK && i < n; i++) {
		rc = nsx_each_dump(paths[i], &each, diags, err);
		nsx_progress_done((uint64_t)nsx_dump_size(paths[i]));
	}
	for (size_t i = 0; i < ntables; i++) {
		struct nsx_diags own = { .failed = false };

		tables[i] = NULL;
		if (rc == NSX_OK)
			rc = finish(&all.p[i], &own);
		nsx_diags_cover(diags, &own);
		nsx_diags_free(&own);
	}
	for (size_t i = 0; i < all.n; i++) {
		struct job *j = &all.p[i];

		if (rc == NSX_OK)
			tables[i] = j->table;
		else
			nsx_table_free(j->table);
		nsx_sums_free(&j->kept);
		nsx_arena_free(&j->arena);
	}
	free(all.p);
	return rc;
}

struct nsx_table *
nsx_heap_table(char *const *paths, int n, const struct nsx_heap_options *options, struct nsx_diags *diags,
               struct nsx_err *err)
{
	struct nsx_table *table;

	nsx_heap_tables(paths, n, options, &table, 1, diags, err);
	return table;
}
