/* host_fn.c -- contents of exports from schema 3.28 on: copies with decompression, and host functions for which a stream waits. Earlier exports have neither. */
#include <string.h>

#include "xport.h"

bool
syn_shows_host_fns(void)
{
	return db_version_of(syn_opt.schema) >= db_version_of("3.28.1");
}

void
syn_decompress(struct syn_plan *p, uint32_t dev, uint32_t thread, int stream, int64_t *tail)
{
	struct syn_op op = { .dev = dev, .stream = stream, .type = SYN_MEMCPY, .decompress = true, .short_name = SYN_NONE };

	if (!syn_shows_host_fns())
		return;
	op.call = syn_call(p, p->dev.p[dev].proc, thread, "cuMemBatchDecompressAsync", syn_rnd(p, 1500, 2500));
	op.name = syn_name(p, "[CUDA mem decompress]");
	op.bytes = 4096 * syn_rnd(p, 1, 64);
	op.start = p->call.p[op.call].end + 1100;
	if (op.start < *tail)
		op.start = *tail;
	op.end = op.start + syn_rnd(p, 700, 1900);
	*tail = op.end + 200;
	syn_op(p, op);
}

static void
wait_host(struct syn_plan *p, struct syn_host_fn h, int64_t *tail)
{
	h.start = p->call.p[h.call].end + 900;
	if (h.start < *tail)
		h.start = *tail;
	h.end = h.start + syn_rnd(p, 300, 2100);
	*tail = h.end + 200;
	syn_add(&p->host_fn, h);
}

void
syn_host_fn(struct syn_plan *p, uint32_t dev, uint32_t thread, int stream, int64_t *tail)
{
	if (syn_shows_host_fns())
		wait_host(p, (struct syn_host_fn){ .dev = dev, .stream = stream,
			.call = syn_call(p, p->dev.p[dev].proc, thread, "cudaLaunchHostFunc_v10000", syn_rnd(p, 900, 1500)) }, tail);
}

void
syn_host_node(struct syn_plan *p, uint32_t dev, uint32_t call, int stream, int64_t node, int64_t *tail)
{
	if (syn_shows_host_fns())
		wait_host(p, (struct syn_host_fn){ .dev = dev, .stream = stream, .call = call, .node = node }, tail);
}

/* On the stream, and on the driver's thread that called the function. */
void
xport_host_fns(struct xport *x)
{
	struct syn_plan *p = x->p;

	for (size_t i = 0; i < p->host_fn.n; i++) {
		const struct syn_host_fn *h = &p->host_fn.p[i];
		uint32_t proc = p->dev.p[h->dev].proc;
		int64_t start = syn_local(p, proc, h->start), end = syn_local(p, proc, h->end), corr = p->call.p[h->call].corr;

		if (h->gone || !xport_here(x, proc))
			continue;
		struct db_table *t = db_table(x->d, "CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE_AND_HOST_LAUNCH");
		db_int(t, db_col(t, "start"), start);
		db_int(t, db_col(t, "end"), end);
		db_int(t, db_col(t, "deviceId"), p->dev.p[h->dev].cuda);
		db_int(t, db_col(t, "streamId"), h->stream);
		db_int(t, db_col(t, "correlationId"), corr);
		db_int(t, db_col(t, "globalPid"), (int64_t)syn_gpid(p, proc));
		if (h->node) {
			db_int(t, db_col(t, "graphNodeId"), h->node);
			db_int(t, db_col(t, "graphId"), 1);
		} else {
			db_null(t, db_col(t, "graphNodeId"));
			db_null(t, db_col(t, "graphId"));
		}
		db_row(t);
		t = db_table(x->d, "CUDA_HOST_CALLBACK");
		db_int(t, db_col(t, "start"), start + (end - start) / 4);
		db_int(t, db_col(t, "end"), end - (end - start) / 4);
		db_int(t, db_col(t, "globalTid"), (int64_t)syn_gpid(p, proc) + 999);
		db_int(t, db_col(t, "correlationId"), corr);
		db_int(t, db_col(t, "nameId"), xport_cstring(x, "after_step(void*)"));
		db_row(t);
	}
}
