/* memory.c -- memory that CUDA allocated and freed (nsys profile --cuda-memory-usage=true).
 *
 *   CUDA_GPU_MEMORY_USAGE_EVENTS   start globalPid deviceId contextId address bytes memKind memoryOperationType name
 *                                  correlationId streamId localMemoryPool*: one row for each allocation and each free
 *   ENUM_CUDA_MEM_KIND, ENUM_CUDA_DEV_MEM_EVENT_OPER   what the numbers mean in this export
 *
 * Which columns there are depends on the version. The call is that of the correlation id; its range is the innermost
 * around it. Memory of the host belongs to no device, whatever deviceId says. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "nsys/cuda.h"
#include "source/around.h"
#include "source/call_name.h"
#include "source/thread.h"

enum { NUMBERS = 32 };   /* of an enumeration */

/* A call that is looked for, by (process, correlation id); start > end: not found. */
struct wanted { int64_t start, end, id; uint64_t gtid; uint32_t name, range; };

struct nsx_memory_reading {
	struct nsx_loader     *l;
	uint8_t                kind_of[NUMBERS];   /* enum nsx_memory_kind by number */
	bool                   frees[NUMBERS];     /* by number of memoryOperationType */
	NSX_VEC(struct nsx_memory) rows;           /* device: the ordinal; by: in `calls`; NSX_NONE: none */
	struct nsx_map         call_of;
	NSX_VEC(struct wanted) calls;              /* name: in l->ids */
	int64_t                bad;
	uint32_t               process;            /* of the last row that was completed */
};

/* ---- rows ---- */

/* "Device Static" is device-static. */
static bool
is_label(struct nsx_str label, struct nsx_str kind)
{
	if (label.len != kind.len)
		return false;
	for (size_t i = 0; i < label.len; i++) {
		char c = label.ptr[i];

		c = c == ' ' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
		if (c != kind.ptr[i])
			return false;
	}
	return true;
}

static int
kind_row(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_memory_reading *m = ctx;
	int64_t id;

	if (!nsx_cell_int(&v[0], &id) || id < 0 || id >= NUMBERS)
		return NSX_OK;
	for (uint8_t k = 0; k < NSX_MEMORY_KINDS; k++)
		if (is_label(nsx_cell_text(&v[1]), nsx_memory_kind_names[k]))
			m->kind_of[id] = k;
	return NSX_OK;
}

static int
change_row(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_memory_reading *m = ctx;
	int64_t id;

	if (nsx_cell_int(&v[0], &id) && id >= 0 && id < NUMBERS)
		m->frees[id] = is_label(nsx_cell_text(&v[1]), NSX_STR("deallocation"));
	return NSX_OK;
}

enum { START, GPID, DEVICE, CONTEXT, ADDRESS, BYTES, KIND, CHANGE, VARIABLE, CORRELATION, STREAM, POOL, SIZE, USED,
       NCOLUMNS };

static int64_t
known(const struct nsx_db_cell *v)
{
	int64_t x;

	return nsx_cell_int(v, &x) ? x : -1;
}

/* The number of the call of that process and correlation id. */
static uint32_t
call_at(struct nsx_memory_reading *m, uint64_t gpid, int64_t id)
{
	uint32_t at = nsx_map_number(&m->call_of, (struct nsx_key){ gpid, (uint64_t)id });

	if (at == m->calls.n && !nsx_vec_push(&m->calls, ((struct wanted){ .end = -1, .name = NSX_NONE,
	                                                                   .range = NSX_NONE })))
		return NSX_NONE;
	return at;
}

static int
event_row(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_memory_reading *m = ctx;
	struct nsx_memory x = { .context = known(&v[CONTEXT]), .stream = known(&v[STREAM]), .pool = known(&v[POOL]),
	                        .pool_size = known(&v[SIZE]), .pool_used = known(&v[USED]), .gtid = NSX_NO_GTID,
	                        .call = -1, .process = NSX_NONE, .device = NSX_NONE, .by = NSX_NONE,
	                        .variable = NSX_NONE, .range = NSX_NONE, .kind = NSX_MEMORY_UNKNOWN };
	int64_t gpid, kind = known(&v[KIND]), change, device = known(&v[DEVICE]), id;
	struct nsx_str variable = nsx_cell_text(&v[VARIABLE]);

	if (!nsx_cell_int(&v[START], &x.start) || !nsx_cell_int(&v[GPID], &gpid)
	    || !nsx_cell_int(&v[ADDRESS], &x.address) || !nsx_cell_int(&v[BYTES], &x.bytes) || x.bytes < 0
	    || !nsx_cell_int(&v[CHANGE], &change) || change < 0
	    || change >= NUMBERS) {
		m->bad++;
		return NSX_OK;
	}
	x.gpid = (uint64_t)gpid & ~(uint64_t)0xFFFFFF;
	x.frees = m->frees[change];
	if (kind >= 0 && kind < NUMBERS)
		x.kind = m->kind_of[kind];
	if (x.kind != NSX_MEMORY_PINNED && x.kind != NSX_MEMORY_PAGEABLE && device >= 0 && device < NSX_NONE)
		x.device = (uint32_t)device;
	if (x.pool == 0)
		x.pool = -1;
	if (variable.len && (x.variable = nsx_intern(&m->l->t->names, variable)) == NSX_NONE)
		return nsx_load_nomem(m->l);
	if (nsx_cell_int(&v[CORRELATION], &id) && id > 0 && (x.by = call_at(m, x.gpid, id)) == NSX_NONE)
		return nsx_load_nomem(m->l);
	return nsx_vec_push(&m->rows, x) ? NSX_OK : nsx_load_nomem(m->l);
}

/* ---- their calls ---- */

static int
call_row(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_memory_reading *m = ctx;
	int64_t id, gtid, name;
	struct wanted c = { .range = NSX_NONE };

	/* Rows of that class are backtraces (runtime.c). */
	if (known(&v[4]) == 67 || !nsx_cell_int(&v[0], &id) || !nsx_cell_int(&v[1], &gtid))
		return NSX_OK;
	uint32_t at = nsx_map_get(&m->call_of, (struct nsx_key){ (uint64_t)gtid & ~(uint64_t)0xFFFFFF, (uint64_t)id });

	if (at == NSX_NONE || !nsx_cell_int(&v[2], &c.start) || !nsx_cell_int(&v[3], &c.end) || c.end < c.start)
		return NSX_OK;
	struct wanted *w = &m->calls.p[at];

	/* Of several the outermost, as for operations. */
	if (w->start <= w->end && (w->start < c.start || (w->start == c.start && w->end >= c.end)))
		return NSX_OK;
	c.id = v[5].i;
	c.gtid = (uint64_t)gtid;
	c.name = NSX_NONE;
	if (nsx_cell_int(&v[6], &name) && (c.name = nsx_ids_at(&m->l->ids, name)) == NSX_NONE)
		return nsx_load_nomem(m->l);
	*w = c;
	return NSX_OK;
}

static int
read_tables(struct nsx_memory_reading *m)
{
	static const struct nsx_db_col labels[] = { { "id", false }, { "label", true } };
	static const struct nsx_db_col events[NCOLUMNS] = {
		{ "start", false }, { "globalPid", false }, { "deviceId", true }, { "contextId", true },
		{ "address", false }, { "bytes", false }, { "memKind", true }, { "memoryOperationType", false },
		{ "name", true }, { "correlationId", true }, { "streamId", true }, { "localMemoryPoolAddress", true },
		{ "localMemoryPoolSize", true }, { "localMemoryPoolUtilizedSize", true }
	};
	static const struct nsx_db_col calls[] = {
		{ "correlationId", false }, { "globalTid", false }, { "start", false }, { "end", false },
		{ "eventClass", true }, { "rowid", false }, { "nameId", true }
	};
	struct nsx_loader *l = m->l;
	struct nsx_db_scan scans[] = {
		{ "ENUM_CUDA_MEM_KIND", labels, 2, .cells = kind_row, .ctx = m },
		{ "ENUM_CUDA_DEV_MEM_EVENT_OPER", labels, 2, .cells = change_row, .ctx = m },
		{ "CUDA_GPU_MEMORY_USAGE_EVENTS", events, NCOLUMNS, .cells = event_row, .ctx = m },
		{ "CUPTI_ACTIVITY_KIND_RUNTIME", calls, 7, .cells = call_row, .ctx = m }
	};

	if (!nsx_db_has(&l->db, "CUDA_GPU_MEMORY_USAGE_EVENTS"))
		return NSX_OK;
	for (size_t i = 0; i < sizeof scans / sizeof *scans; i++)
		if (nsx_db_has(&l->db, scans[i].table) && nsx_db_run(&l->db, &scans[i], l->err) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

int
nsx_memory_read(struct nsx_loader *l)
{
	struct nsx_memory_reading *m;

	if (!l->opts->memory)
		return NSX_OK;
	if (!(m = l->memory = calloc(1, sizeof *m)))
		return nsx_load_nomem(l);
	m->l = l;
	for (uint8_t i = 0; i < NUMBERS; i++)
		m->kind_of[i] = i < NSX_MEMORY_KINDS ? i : (uint8_t)NSX_MEMORY_UNKNOWN;
	m->frees[1] = true;
	return read_tables(m);
}

/* ---- what else is known of them ---- */

NSX_ORDER_PTR(by_thread, struct wanted, NSX_CMP(a->gtid, b->gtid), NSX_CMP(a->start, b->start),
              NSX_CMP(b->end, a->end), NSX_CMP(a->id, b->id))

/* The ranges around n calls of one thread. False when out of memory. */
static bool
find_ranges(struct nsx_trace *t, struct wanted **calls, size_t n, struct nsx_host_call *scratch)
{
	uint32_t thread = nsx_trace_thread_at(t, calls[0]->gtid);

	if (thread == NSX_NONE)
		return true;
	for (size_t i = 0; i < n; i++)
		scratch[i] = (struct nsx_host_call){ .start = calls[i]->start, .end = calls[i]->end,
		                                     .id = calls[i]->id, .range = NSX_NONE };
	if (!nsx_around(t->ranges, t->threads[thread].first, t->threads[thread].n, scratch, (uint32_t)n))
		return false;
	for (size_t i = 0; i < n; i++)
		calls[i]->range = scratch[i].range;
	return true;
}

static bool
find_all_ranges(struct nsx_memory_reading *m)
{
	struct wanted **list = malloc((m->calls.n + 1) * sizeof *list);
	struct nsx_host_call *scratch = malloc((m->calls.n + 1) * sizeof *scratch);
	size_t n = 0;
	bool good = list && scratch;

	for (size_t i = 0; good && i < m->calls.n; i++)
		if (m->calls.p[i].start <= m->calls.p[i].end)
			list[n++] = &m->calls.p[i];
	if (good && n > 1)
		qsort(list, n, sizeof *list, by_thread);
	for (size_t i = 0, to; good && i < n; i = to) {
		for (to = i + 1; to < n && list[to]->gtid == list[i]->gtid; to++)
			;
		good = find_ranges(m->l->t, list + i, to - i, scratch);
	}
	free(list);
	free(scratch);
	return good;
}

/* The name of a call without version, in t->names. NSX_NONE: it has none, or (false) out of memory. */
static bool
bare_name(struct nsx_loader *l, uint32_t id, uint32_t *name)
{
	*name = id == NSX_NONE ? (uint32_t)NSX_NONE : l->id_names[id];
	if (*name == NSX_NONE)
		return true;
	*name = nsx_intern(&l->t->names, nsx_call_name_bare(nsx_intern_str(&l->t->names, *name)));
	return *name != NSX_NONE;
}

static int
complete(struct nsx_memory_reading *m, struct nsx_memory *x)
{
	struct nsx_trace *t = m->l->t;
	size_t process = m->process, device = t->ndevices;
	const struct wanted *w = x->by == NSX_NONE ? NULL : &m->calls.p[x->by];

	x->by = NSX_NONE;
	if (w && w->start <= w->end) {
		if (!bare_name(m->l, w->name, &x->by))
			return nsx_load_nomem(m->l);
		x->gtid = w->gtid;
		x->call = w->id;
		x->range = w->range;
	}
	/* Most are of the process of the one before. */
	if (process >= t->nprocesses || t->processes[process].gpid != x->gpid)
		NSX_BISECT(process, 0, t->nprocesses, t->processes[process].gpid >= x->gpid);
	m->process = (uint32_t)process;
	x->process = process < t->nprocesses && t->processes[process].gpid == x->gpid ? m->process : NSX_NONE;
	if (x->device != NSX_NONE && x->process != NSX_NONE)
		NSX_BISECT(device, 0, t->ndevices, t->devices[device].process > x->process ||
		           (t->devices[device].process == x->process && t->devices[device].cuda >= x->device));
	x->device = device < t->ndevices && t->devices[device].process == x->process
	            && t->devices[device].cuda == x->device ? (uint32_t)device : NSX_NONE;
	return NSX_OK;
}

NSX_ORDER_PTR(by_start, struct nsx_memory, NSX_CMP(a->start, b->start), NSX_CMP(a, b))

/* t->memory, by start, then as in the table. */
static int
arrange(struct nsx_memory_reading *m)
{
	struct nsx_trace *t = m->l->t;
	const struct nsx_memory **list = malloc((m->rows.n + 1) * sizeof *list);

	t->memory = malloc((m->rows.n + 1) * sizeof *t->memory);
	if (!list || !t->memory) {
		free(list);
		return nsx_load_nomem(m->l);
	}
	for (size_t i = 0; i < m->rows.n; i++)
		list[i] = &m->rows.p[i];
	if (m->rows.n > 1)
		qsort(list, m->rows.n, sizeof *list, by_start);
	for (size_t i = 0; i < m->rows.n; i++)
		t->memory[i] = *list[i];
	t->nmemory = (uint32_t)m->rows.n;
	free(list);
	return NSX_OK;
}

int
nsx_memory_finish(struct nsx_loader *l)
{
	struct nsx_memory_reading *m = l->memory;

	if (!m)
		return NSX_OK;
	if (m->rows.n >= NSX_NONE)
		return nsx_err_set(l->err, "%s: CUDA_GPU_MEMORY_USAGE_EVENTS: more than %" PRIu32 " rows", l->db.path,
		                   (uint32_t)NSX_NONE);
	if (!find_all_ranges(m))
		return nsx_load_nomem(l);
	for (size_t i = 0; i < m->rows.n; i++)
		if (complete(m, &m->rows.p[i]) != NSX_OK)
			return NSX_ERR;
	nsx_load_diag(l, NSX_WARNING, !m->rows.n, "no allocations of memory: record with nsys profile "
	              "--cuda-memory-usage=true");
	nsx_load_diag(l, NSX_WARNING, (uint64_t)m->bad,
	              "CUDA_GPU_MEMORY_USAGE_EVENTS: rows ignored: a number is missing or makes no sense");
	/* Seen in reports of others: no event has a time. */
	bool timeless = m->rows.n > 1;

	for (size_t i = 1; i < m->rows.n; i++)
		timeless &= m->rows.p[i].start == m->rows.p[0].start;
	nsx_load_diag(l, NSX_WARNING, timeless, "allocations of memory all have one time: what was allocated when is "
	              "not recorded");
	return arrange(m);
}

void
nsx_memory_free(struct nsx_loader *l)
{
	struct nsx_memory_reading *m = l->memory;

	if (!m)
		return;
	free(m->rows.p);
	free(m->calls.p);
	nsx_map_free(&m->call_of);
	free(m);
	l->memory = NULL;
}
