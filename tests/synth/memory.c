/* memory.c -- --memory: what CUDA allocates and frees, as CUDA_GPU_MEMORY_USAGE_EVENTS has it. A job of --torch has a
 * model, and in each step activations, larger ones in the step in the middle, whose peak is therefore known. Addresses
 * are those of each process: all have the same. A job of XLA allocates most of its device once, and nothing after. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "xport.h"

enum { PINNED = 1, DEVICE = 2, STATIC = 5 };
enum { MODEL = 100000000, HEAD = 50000000, STAGING = 32000000, TABLE = 4096, ACTIVATIONS = 200000000, MORE = 300000000,
       SCRATCH = 5000000, WORKSPACE = 500000, AGAIN = 1000000, LOST = 777, POOL = 32 << 20 };
#define AT INT64_C(0x7f0000000000)

static int64_t
middle(void)
{
	return syn_opt.steps / 2;
}

/* A call that allocates or frees; call NULL: not one. */
static void
add(struct syn_plan *p, uint32_t dev, uint32_t thread, const char *call, struct syn_memory m)
{
	uint32_t proc = p->dev.p[dev].proc;

	m.dev = dev;
	m.call = call ? syn_call(p, proc, thread, call, syn_rnd(p, 3000, 9000)) : SYN_NONE;
	m.time = call ? (p->call.p[m.call].start + p->call.p[m.call].end) / 2 : p->proc.p[proc].thread.p[thread].now;
	/* Devices of a process have addresses of their own. */
	m.address = AT + p->dev.p[dev].local * INT64_C(0x1000000000) + m.address;
	syn_add(&p->memory, m);
}

static void
model(struct syn_plan *p, uint32_t dev, uint32_t thread)
{
	uint32_t proc = p->dev.p[dev].proc;

	syn_push(p, proc, thread, SYN_DEFAULT, syn_name(p, "load_model"), false);
	add(p, dev, thread, "cudaMalloc_v3020", (struct syn_memory){ .bytes = MODEL, .kind = DEVICE });
	syn_push(p, proc, thread, SYN_DEFAULT, syn_name(p, "head"), false);
	add(p, dev, thread, "cudaMalloc_v3020",
	    (struct syn_memory){ .bytes = HEAD + p->dev.p[dev].global * 1000000, .kind = DEVICE, .address = 0x10000000 });
	syn_pop(p, proc, thread);
	add(p, dev, thread, "cudaHostAlloc_v3020",
	    (struct syn_memory){ .bytes = STAGING, .kind = PINNED, .address = 0x20000000 });
	syn_pop(p, proc, thread);
	add(p, dev, thread, NULL, (struct syn_memory){ .bytes = TABLE, .kind = STATIC, .address = 0x30000000,
	                                               .variable = "lookup_table" });
}

void
syn_memory_first(struct syn_plan *p, uint32_t dev, uint32_t thread)
{
	if (!syn_opt.memory)
		return;
	if (syn_opt.torch)
		model(p, dev, thread);
	else
		add(p, dev, thread, "cuMemAlloc_v2", (struct syn_memory){ .bytes = INT64_C(60) << 30, .kind = DEVICE });
}

void
syn_memory_begin(struct syn_plan *p, uint32_t dev, uint32_t thread, int64_t k)
{
	uint32_t proc = p->dev.p[dev].proc;

	if (!syn_opt.memory)
		return;
	syn_push(p, proc, thread, SYN_DEFAULT, syn_name(p, "activations"), false);
	add(p, dev, thread, "cudaMalloc_v3020", (struct syn_memory){ .bytes = k == middle() ? MORE : ACTIVATIONS,
	                                                             .kind = DEVICE, .address = 0x40000000 });
	add(p, dev, thread, "cudaMallocAsync_v11020",
	    (struct syn_memory){ .bytes = SCRATCH, .kind = DEVICE, .address = 0x60000000, .pool = AT + 1,
	                         .pool_size = k ? 2 * POOL : POOL, .pool_used = SCRATCH, .stream = 7 });
	syn_pop(p, proc, thread);
	if (k == 1) {
		add(p, dev, thread, "cudaFree_v3020",
		    (struct syn_memory){ .bytes = LOST, .kind = DEVICE, .address = 0x70000000, .frees = true });
		add(p, dev, thread, "cudaMalloc_v3020",
		    (struct syn_memory){ .bytes = WORKSPACE, .kind = DEVICE, .address = 0x80000000 });
		/* Its free is not recorded. */
		add(p, dev, thread, "cudaMalloc_v3020",
		    (struct syn_memory){ .bytes = AGAIN, .kind = DEVICE, .address = 0x80000000 });
	}
}

void
syn_memory_end(struct syn_plan *p, uint32_t dev, uint32_t thread, int64_t k)
{
	if (!syn_opt.memory)
		return;
	add(p, dev, thread, "cudaFree_v3020", (struct syn_memory){ .bytes = k == middle() ? MORE : ACTIVATIONS,
	                                                           .kind = DEVICE, .address = 0x40000000,
	                                                           .frees = true });
	add(p, dev, thread, "cudaFreeAsync_v11020",
	    (struct syn_memory){ .bytes = SCRATCH, .kind = DEVICE, .address = 0x60000000, .pool = AT + 1,
	                         .pool_size = k ? 2 * POOL : POOL, .stream = 7, .frees = true });
}

/* ---- the export, and the truth ---- */

static void
labels(struct xport *x)
{
	static const char *const kinds[] = { "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static",
	                                     "Managed Static", "Unknown" };
	static const char *const changes[] = { "Allocation", "Deallocation" };

	for (int64_t i = 0; i < 8; i++)
		db_put(x->d, "ENUM_CUDA_MEM_KIND", "id:i name:s label:s", i, kinds[i], kinds[i]);
	for (int64_t i = 0; i < 2; i++)
		db_put(x->d, "ENUM_CUDA_DEV_MEM_EVENT_OPER", "id:i name:s label:s", i, changes[i], changes[i]);
}

static void
put(struct xport *x, struct db_table *t, const struct syn_memory *m)
{
	const struct syn_plan *p = x->p;
	uint32_t proc = p->dev.p[m->dev].proc;
	const struct { const char *name; int64_t value; bool has; } cells[] = {
		{ "start", syn_local(p, proc, m->time), true }, { "globalPid", (int64_t)syn_gpid(p, proc), true },
		/* Of memory of the host it says nothing. */
		{ "deviceId", m->kind == PINNED ? 0 : p->dev.p[m->dev].cuda, true },
		{ "contextId", 1 + p->dev.p[m->dev].local, true }, { "address", m->address, true }, { "pc", 0, true },
		{ "bytes", m->bytes, true }, { "memKind", m->kind, true }, { "memoryOperationType", m->frees, true },
		{ "correlationId", m->call == SYN_NONE ? 0 : p->call.p[m->call].corr, m->call != SYN_NONE },
		{ "streamId", m->stream, m->stream != 0 }, { "localMemoryPoolAddress", m->pool, m->pool != 0 },
		{ "localMemoryPoolReleaseThreshold", 0, m->pool != 0 },
		{ "localMemoryPoolSize", m->pool_size, m->pool != 0 },
		{ "localMemoryPoolUtilizedSize", m->pool_used, m->pool != 0 },
		{ "importedMemoryPoolAddress", 0, false }, { "importedMemoryPoolProcessId", 0, false }
	};

	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
		if (cells[i].has)
			db_int(t, db_col(t, cells[i].name), cells[i].value);
		else
			db_null(t, db_col(t, cells[i].name));
	db_text(t, db_col(t, "name"), m->variable);
	db_row(t);
}

/* What is allocated in the middle step, by the constants above. */
static void
answer(const struct syn_plan *p)
{
	struct syn_tsv t;

	syn_tsv_open(&t, "allocated", "device\tpid\tpeak\treserved\tstep");
	for (uint32_t d = 0; d < p->dev.n && syn_opt.torch; d++) {
		int64_t peak = MODEL + HEAD + p->dev.p[d].global * 1000000 + TABLE + MORE + SCRATCH + (middle() > 1 ? AGAIN : 0);

		syn_tsv_row(&t, "%d\t%" PRIu32 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64, p->dev.p[d].global,
		            p->proc.p[p->dev.p[d].proc].pid, peak, peak - SCRATCH + (middle() ? 2 * POOL : POOL), middle());
	}
	syn_tsv_close(&t);
}

void
xport_memory(struct xport *x)
{
	if (!syn_opt.memory)
		return;
	labels(x);
	for (size_t i = 0; i < x->p->memory.n; i++) {
		const struct syn_memory *m = &x->p->memory.p[i];

		if (xport_here(x, x->p->dev.p[m->dev].proc) && (m->call == SYN_NONE || !x->p->call.p[m->call].gone))
			put(x, db_table(x->d, "CUDA_GPU_MEMORY_USAGE_EVENTS"), m);
	}
	if (x->number + 1 == x->p->nxports)
		answer(x->p);
}
