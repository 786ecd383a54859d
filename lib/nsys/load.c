/* load.c -- loads an export into memory: what is read when, and in how many parts. load.h has a diagram. */
#include "nsys/load.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/par.h"
#include "base/sort.h"
#include "nsys/cpu/reading.h"
#include "nsys/cuda.h"
#include "nsys/export.h"
#include "nsys/host.h"
#include "nsys/payload.h"

/* Rowids of a part: small enough to share work, large enough to be worth a query. */
enum { PART_ROWS = 131072, MAX_PARTS = 32 };

/* ---- small functions that the parts of loading share */

int
nsx_load_nomem(struct nsx_loader *l)
{
	return nsx_err_nomem(l->err, l->db.path);
}

void
nsx_load_diag(struct nsx_loader *l, enum nsx_severity severity, uint64_t count, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	nsx_diag_add(l->diags, severity, l->source, (int64_t)count, "%s", text);
}

uint32_t
nsx_ids_at(struct nsx_ids *ids, int64_t id)
{
	uint32_t *at = nsx_map_at(&ids->map, (struct nsx_key){ (uint64_t)id, 0 });

	if (!at)
		return NSX_NONE;
	if (*at == NSX_NONE) {
		if (ids->list.n >= NSX_NONE - 1 || !nsx_vec_push(&ids->list, id))
			return NSX_NONE;
		*at = (uint32_t)ids->list.n - 1;
	}
	return *at;
}

void
nsx_ids_free(struct nsx_ids *ids)
{
	nsx_map_free(&ids->map);
	free(ids->list.p);
	*ids = (struct nsx_ids){ 0 };
}

uint32_t
nsx_tracks_find_(struct nsx_tracks *t, uint64_t gtid, int64_t domain)
{
	uint32_t *at = nsx_map_at(&t->map, (struct nsx_key){ gtid, (uint64_t)domain });

	if (!at)
		return NSX_NONE;
	if (*at == NSX_NONE) {
		if (t->list.n >= NSX_NONE - 1 ||
		    !nsx_vec_push(&t->list, ((struct nsx_track){ .gtid = gtid, .domain = domain })))
			return NSX_NONE;
		*at = (uint32_t)t->list.n - 1;
	}
	return t->cache[((uint32_t)gtid + (uint32_t)domain * 37) % NSX_TRACK_CACHE] = *at;
}

void
nsx_tracks_free(struct nsx_tracks *t)
{
	nsx_map_free(&t->map);
	free(t->list.p);
	t->list.p = NULL;
	t->list.n = t->list.cap = 0;
}

/* ---- parts of tables */

int
nsx_load_cut(struct nsx_loader *l, const char *table, int *n, int64_t *lo, int64_t *hi)
{
	*n = 0;
	if (!nsx_db_has(&l->db, table))
		return NSX_OK;
	if (nsx_db_bounds(&l->db, table, lo, hi, l->err) != NSX_OK)
		return NSX_ERR;
	if (*lo > *hi)
		return NSX_OK;
	uint64_t parts = ((uint64_t)*hi - (uint64_t)*lo) / PART_ROWS + 1;
	*n = parts < MAX_PARTS ? (int)parts : MAX_PARTS;
	return NSX_OK;
}

void
nsx_load_part(struct nsx_db_scan *scan, int i, int n, int64_t lo, int64_t hi)
{
	uint64_t span = (uint64_t)hi - (uint64_t)lo, step = span / (uint64_t)n + 1;

	scan->part = true;
	scan->lo = (int64_t)((uint64_t)lo + (uint64_t)i * step);
	scan->hi = i == n - 1 ? hi : (int64_t)((uint64_t)scan->lo + (step - 1));
}

void
nsx_load_reached(struct nsx_loader *l, int from, int to, uint64_t part, uint64_t of)
{
	double share = part < of ? (double)part / (double)of : 1;

	nsx_portion_reach(&l->work, (uint64_t)((from + (to - from) * share) * 1000), NSX_LOAD_ALL * 1000);
}

struct run {
	struct nsx_loader *l;
	struct nsx_task   *tasks;
	int                nops;
	atomic_int         ops_left;
	atomic_bool        failed;
	bool               ops_failed;
	int                from, to;      /* for progress: shares of loading; rows, rows_done: rowids to process, and
	                                   * those processed */
	uint64_t           rows;
	_Atomic uint64_t   rows_done;
};

static uint64_t
rows_of(const struct nsx_db_scan *scan)
{
	return scan->part ? (uint64_t)scan->hi - (uint64_t)scan->lo + 1 : 0;
}

static void
run_task(void *ctx, int i)
{
	struct run *run = ctx;
	uint64_t rows = rows_of(&run->tasks[i].scan);

	nsx_progress_phase(i < run->nops ? "GPU operations" : run->to == NSX_LOAD_RANGES ? "NVTX ranges" :
	                   "CUDA calls");
	if (!atomic_load(&run->failed) && nsx_db_run(&run->l->db, &run->tasks[i].scan, &run->tasks[i].err) != NSX_OK) {
		run->tasks[i].failed = true;
		atomic_store(&run->failed, true);
	}
	/* One thread joins operations while the others continue reading. */
	if (i < run->nops && atomic_fetch_sub(&run->ops_left, 1) == 1 && !atomic_load(&run->failed) &&
	    nsx_ops_join(run->l) != NSX_OK) {
		run->ops_failed = true;
		atomic_store(&run->failed, true);
	}
	nsx_load_reached(run->l, run->from, run->to, atomic_fetch_add(&run->rows_done, rows) + rows, run->rows);
}

/* The first nops tasks read operations, which are joined when all of these are done. */
static int
run_tasks(struct nsx_loader *l, const nsx_tasks *tasks, size_t nops, int from, int to)
{
	struct run run = { .l = l, .tasks = tasks->p, .nops = (int)nops, .from = from, .to = to };

	for (size_t i = 0; i < tasks->n; i++)
		run.rows += rows_of(&tasks->p[i].scan);
	atomic_init(&run.ops_left, (int)nops);
	nsx_par_run((int)tasks->n, l->opts->jobs, run_task, &run);
	for (size_t i = 0; i < tasks->n; i++)
		if (tasks->p[i].failed)
			return nsx_err_set(l->err, "%s", tasks->p[i].err.msg);
	return run.ops_failed ? NSX_ERR : NSX_OK;
}

/* ---- the whole export */

/* Is this an export at all? */
static int
check_tables(struct nsx_loader *l)
{
	static const char *const ops[] = {
		"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS",
		"CUPTI_ACTIVITY_KIND_MEMSET",
		"CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
	};
	bool nvtx = nsx_db_has(&l->db, "NVTX_EVENTS"), any_op = false;

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		any_op |= nsx_db_has(&l->db, ops[i]);
	if (!nvtx && !any_op && !nsx_db_has(&l->db, "CUPTI_ACTIVITY_KIND_RUNTIME") && !nsx_db_has(&l->db, "StringIds")
	    && !nsx_db_has(&l->db, "META_DATA_EXPORT") && !nsx_db_has(&l->db, "EXPORT_META_DATA"))
		return nsx_err_set(l->err,
			"%s: not an Nsight Systems export: no table NVTX_EVENTS, CUPTI_ACTIVITY_KIND_KERNEL or "
			"StringIds",
		                   l->db.path);
	nsx_load_diag(l, NSX_WARNING, !nvtx, "no NVTX ranges: no table NVTX_EVENTS");
	return NSX_OK;
}

NSX_ORDER(by_value, uint64_t, NSX_CMP(*a, *b))

static uint32_t
process_of(const struct nsx_trace *t, uint64_t gpid)
{
	uint32_t at;

	NSX_BISECT(at, 0, t->nprocesses, t->processes[at].gpid >= gpid);
	return at;
}

/* From threads and devices: t->processes. */
static int
join_processes(struct nsx_loader *l)
{
	struct nsx_trace *t = l->t;
	size_t n = 0, all = (size_t)t->nthreads + l->gpids.n + t->nhost_threads + t->noverheads +
	    (l->cpu ? l->cpu->c->threads.n : 0);
	uint64_t *gpids = malloc((all + 1) * sizeof *gpids);

	t->processes = calloc(all + 1, sizeof *t->processes);
	if (!gpids || !t->processes) {
		free(gpids);
		return nsx_load_nomem(l);
	}
	for (uint32_t i = 0; i < t->nthreads; i++)
		gpids[n++] = t->threads[i].gtid & ~(uint64_t)0xFFFFFF;
	for (size_t i = 0; i < l->gpids.n; i++)
		gpids[n++] = l->gpids.p[i];
	for (uint32_t i = 0; i < t->nhost_threads; i++)
		gpids[n++] = t->host_threads[i].gtid & ~(uint64_t)0xFFFFFF;
	for (uint32_t i = 0; i < t->noverheads; i++)
		gpids[n++] = t->overheads[i].gtid & ~(uint64_t)0xFFFFFF;
	for (size_t i = 0; l->cpu && i < l->cpu->c->threads.n; i++)
		gpids[n++] = l->cpu->c->threads.p[i].gtid & ~(uint64_t)0xFFFFFF;
	qsort(gpids, n, sizeof *gpids, by_value);
	for (size_t i = 0; i < n; i++)
		if (!i || gpids[i] != gpids[i - 1])
			t->processes[t->nprocesses++] = (struct nsx_process){ gpids[i],
				(uint32_t)(gpids[i] >> 24 & 0xFFFFFF) };
	free(gpids);
	for (uint32_t i = 0; i < t->nthreads; i++)
		t->threads[i].process = process_of(t, t->threads[i].gtid & ~(uint64_t)0xFFFFFF);
	for (uint32_t i = 0; i < t->ndevices; i++)
		t->devices[i].process = process_of(t, l->gpids.p[t->devices[i].process]);
	for (uint32_t i = 0; i < t->nhost_threads; i++)
		t->host_threads[i].process = process_of(t, t->host_threads[i].gtid & ~(uint64_t)0xFFFFFF);
	for (uint32_t i = 0; i < t->noverheads; i++)
		t->overheads[i].process = process_of(t, t->overheads[i].gtid & ~(uint64_t)0xFFFFFF);
	for (size_t i = 0; l->cpu && i < l->cpu->c->threads.n; i++)
		l->cpu->c->threads.p[i].process = process_of(t, l->cpu->c->threads.p[i].gtid & ~(uint64_t)0xFFFFFF);
	return NSX_OK;
}

static int
read_ops_and_ranges(struct nsx_loader *l)
{
	nsx_tasks tasks = { 0 };
	int rc = nsx_ops_tasks(l, &tasks);
	size_t nops = tasks.n;

	if (rc == NSX_OK && !nops)
		rc = nsx_ops_join(l);
	if (rc == NSX_OK)
		rc = nsx_nvtx_tasks(l, &tasks);
	if (rc == NSX_OK)
		rc = run_tasks(l, &tasks, nops, 0, NSX_LOAD_RANGES);
	free(tasks.p);
	return rc;
}

static int
read_calls(struct nsx_loader *l)
{
	nsx_tasks tasks = { 0 };
	int rc = nsx_runtime_tasks(l, &tasks);

	if (rc == NSX_OK)
		rc = run_tasks(l, &tasks, 0, NSX_LOAD_RANGES, NSX_LOAD_CALLS);
	free(tasks.p);
	return rc;
}

struct sniff { struct nsx_str begin; bool found; };

static int
sniff_row(void *ctx, const struct nsx_db_cell *v)
{
	struct sniff *s = ctx;
	struct nsx_str text = nsx_cell_text(&v[0]);

	s->found |= text.ptr && text.len >= s->begin.len && memcmp(text.ptr, s->begin.ptr, s->begin.len) == 0;
	return NSX_OK;
}

/* It must be known before reading whether operations are kept. */
static int
want_ops(struct nsx_loader *l, struct nsx_trace_opts *opts)
{
	static const struct nsx_db_col columns[] = { { "value", true } };
	struct sniff s = { nsx_str_c(opts->ops_if), false };
	struct nsx_db_scan scan = { "StringIds", columns, 1, .cells = sniff_row, .ctx = &s };

	if (opts->ops || !opts->ops_if || !nsx_db_has(&l->db, "StringIds"))
		return NSX_OK;
	if (nsx_db_run(&l->db, &scan, l->err) != NSX_OK)
		return NSX_ERR;
	opts->ops = s.found;
	return NSX_OK;
}

static int
load(struct nsx_loader *l, struct nsx_trace_opts *opts)
{
	if (opts->cpu && (!(l->cpu = calloc(1, sizeof *l->cpu)) || !(l->cpu->c = calloc(1, sizeof *l->cpu->c))))
		return nsx_load_nomem(l);
	if (l->cpu)
		l->cpu->l = l;
	if (check_tables(l) != NSX_OK
	    || want_ops(l, opts) != NSX_OK
	    || read_ops_and_ranges(l) != NSX_OK
	    || nsx_host_keys(l) != NSX_OK
	    || read_calls(l) != NSX_OK
	    || nsx_nvtx_threads(l) != NSX_OK
	    || nsx_runtime_join(l) != NSX_OK
	    || nsx_cpu_read(l) != NSX_OK
	    || nsx_nvtx_ids(l) != NSX_OK
	    || nsx_memory_read(l) != NSX_OK
	    || nsx_names_read(l) != NSX_OK
	    || nsx_nvtx_join(l) != NSX_OK
	    || nsx_project_all(l) != NSX_OK
	    || nsx_texts_name(l) != NSX_OK
	    || nsx_ops_finish(l) != NSX_OK
	    || nsx_host_finish(l) != NSX_OK
	    || join_processes(l) != NSX_OK
	    || nsx_memory_finish(l) != NSX_OK
	    || nsx_info_read(l) != NSX_OK || nsx_metrics_read(l) != NSX_OK || nsx_warnings_read(l) != NSX_OK
	    || nsx_host_functions_read(l) != NSX_OK
	    || nsx_cpu_finish(l) != NSX_OK
	    || nsx_captures_read(l) != NSX_OK
	    || nsx_payload_keep(l) != NSX_OK)
		return NSX_ERR;
	return l->diags->failed ? nsx_load_nomem(l) : NSX_OK;
}

static void
loader_free(struct nsx_loader *l)
{
	nsx_nvtx_free(l);
	nsx_ops_free(l);
	nsx_runtime_free(l);
	nsx_host_free(l);
	nsx_cpu_reading_free(l);
	nsx_memory_free(l);
	if (l->launches)
		nsx_launches_free(l->launches);
	free(l->launches);
	free(l->gpids.p);
	free(l->op_launch);
	free(l->calls);
	free(l->call_first);
	free(l->last_calls);
	nsx_ids_free(&l->ids);
	free(l->id_names);
	nsx_part_texts_free(l->texts, l->ntexts);
	free(l->device_names.p);
	free(l->thread_names.p);
	free(l->thread_name_ids.p);
	free(l->source);
	pthread_mutex_destroy(&l->last_lock);
	nsx_db_close(&l->db);
}

int
nsx_trace_load(const char *path, const struct nsx_trace_opts *opts, struct nsx_trace *t, struct nsx_diags *diags,
               struct nsx_err *err)
{
	struct nsx_err unheard = { "" };
	struct nsx_trace_opts own = *opts;
	struct nsx_loader l = { .opts = &own, .t = t, .diags = diags, .err = err ? err : &unheard,
	                        .work.bytes = opts->bytes };

	*t = (struct nsx_trace){ .start_utc = INT64_MIN, .stop = INT64_MIN, .rank = -1, .waits_known = true };
	if (nsx_db_open(&l.db, path, opts->fd ? opts->fd : -1, opts->sqlite_alone, l.err) != NSX_OK)
		return NSX_ERR;
	/* Rows in memory, with the data joined to them, take two to four times the size of the file. */
	nsx_memory_expect(4 * (uint64_t)l.db.npages * l.db.page);
	pthread_mutex_init(&l.last_lock, NULL);
	t->name = nsx_arena_str(&t->arena, l.db.name);
	l.source = nsx_str_dup(l.db.name);
	int rc = t->name.ptr && l.source ? load(&l, &own) : nsx_load_nomem(&l);
	if (rc == NSX_OK)
		rc = nsx_db_unchanged(&l.db, l.err);
	else
		nsx_db_explain(&l.db, l.err);
	nsx_portion_reach(&l.work, 1, 1);
	loader_free(&l);
	if (rc != NSX_OK)
		nsx_trace_free(t);
	return rc;
}
