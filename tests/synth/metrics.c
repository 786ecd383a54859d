/* metrics.c -- --metrics: samples of GPU metrics of each GPU, one each so many ns, as GPU_METRICS has them. What a sample
 * must be follows from the plan: the share of its interval in which kernels run; a number of the kernel that runs
 * longest in it; and a clock, in Hz although its name says MHz, as nsys writes it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "xport.h"

enum { ACTIVE = 7, TENSOR = 3, CLOCK = 12, HERTZ = 1980000000, PAUSE = 40 };

struct span { int64_t start, end; uint32_t name; };
struct spans { NSX_VEC(struct span) v; };

static int
by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void
kernels_of(const struct syn_plan *p, uint32_t dev, struct spans *out)
{
	for (size_t i = 0; i < p->op.n; i++) {
		const struct syn_op *op = &p->op.p[i];
		uint32_t proc = p->dev.p[op->dev].proc;

		if (op->dev == dev && op->type == SYN_KERNEL && !op->gone)
			syn_add(&out->v, ((struct span){ syn_local(p, proc, op->start), syn_local(p, proc, op->end), op->name }));
	}
	if (out->v.n > 1)
		qsort(out->v.p, out->v.n, sizeof *out->v.p, by_start);
}

/* Of [from, to): the share in percent in which a kernel runs, and the number of the one that runs longest, 0: none. */
static void
measure(const struct spans *s, int64_t from, int64_t to, int64_t *active, int64_t *tensor)
{
	int64_t busy = 0, end = from, most = 0;

	*tensor = 0;
	for (size_t i = 0; i < s->v.n && s->v.p[i].start < to; i++) {
		const struct span *k = &s->v.p[i];
		int64_t a = k->start > from ? k->start : from, b = k->end < to ? k->end : to;

		if (b <= a)
			continue;
		if (b - a > most) {
			most = b - a;
			*tensor = 10 + k->name * 7 % 90;
		}
		busy += b > end ? b - (a > end ? a : end) : 0;
		end = b > end ? b : end;
	}
	*active = busy * 100 / (to - from);
}

static void
put_sample(struct xport *x, int64_t at, int64_t end, int64_t type, int64_t metric, int64_t value)
{
	db_put(x->d, "GPU_METRICS", "rawTimestamp:i timestamp:i typeId:i metricId:i value:i", at, end, type, metric, value);
}

static void
metrics_of(struct xport *x, uint32_t dev, int64_t type, struct syn_tsv *t)
{
	static const struct { int64_t id; const char *name; } metrics[] = {
		{ ACTIVE, "SMs Active [Throughput %]" }, { TENSOR, "Tensor Active [Throughput %]" },
		{ CLOCK, "GPC Clock Frequency [MHz]" }
	};
	int64_t every = syn_opt.metrics, from, to, active, tensor, n = 0;
	struct spans s = { { 0 } };

	kernels_of(x->p, dev, &s);
	if (!s.v.n)
		return;
	for (size_t i = 0; i < 3; i++)
		db_put(x->d, "TARGET_INFO_GPU_METRICS", "typeId:i sourceId:i typeName:s metricId:i metricName:s", type, (int64_t)1,
		       "General Metrics for NVIDIA GX300", metrics[i].id, metrics[i].name);
	/* Before the session, and of a metric without a name. */
	put_sample(x, -every, 0, type, ACTIVE, 99);
	put_sample(x, s.v.p[0].start, s.v.p[0].start + every, type, 999, 1);
	from = s.v.p[0].start - 2 * every;
	to = s.v.p[s.v.n - 1].end;
	for (int64_t at = from; at < to; at += every) {
		/* A pause in every hundred. */
		if (n++ % 100 >= 100 - PAUSE / 10)
			continue;
		measure(&s, at, at + every, &active, &tensor);
		put_sample(x, at, at + every, type, ACTIVE, active);
		put_sample(x, at, at + every, type, TENSOR, tensor);
		put_sample(x, at, at + every, type, CLOCK, HERTZ);
		syn_tsv_row(t, "%s\t%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64, syn_profile(x->p, x->number),
		            x->p->dev.p[dev].global, at, every, active, tensor);
	}
	free(s.v.p);
}

void
xport_metrics(struct xport *x)
{
	static struct syn_tsv t;
	int64_t seen = 0;

	if (!syn_opt.metrics)
		return;
	if (!x->number)
		syn_tsv_open(&t, "metrics", "profile\tdevice\tstart\tdur\tactive\ttensor");
	for (uint32_t i = 0; i < x->p->dev.n; i++)
		if (xport_here(x, x->p->dev.p[i].proc))
			metrics_of(x, i, (int64_t)1 << 40 | (7 - seen++), &t);
	if (x->number + 1 == x->p->nxports)
		syn_tsv_close(&t);
}
