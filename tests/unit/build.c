/* build.c -- rows in random order to a trace, against the definitions taken literally: which call launched an operation, which range is around it, the span of a range, the order of everything. Small random threads whose ranges nest or do not. */
#include "tap.h"

#include <stdlib.h>

#include "source/build.h"

enum { THREADS = 3, RANGES = 9, CALLS = 10, OPS = 12, IDS = 8 };

static uint64_t seed = 88172645463325252ULL;

static uint32_t
rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

struct rows {
	struct nsx_build_range ranges[RANGES]; uint32_t nranges;
	struct nsx_build_call  calls[CALLS];   uint32_t ncalls;
	struct nsx_build_op    ops[OPS];       uint32_t nops;
	int64_t                cuda[OPS];
};

static uint64_t
thread(void)
{
	/* The last is of another process. */
	static const uint64_t gtids[THREADS] = { 7 << 24 | 7, 7 << 24 | 9, 8 << 24 | 8 };

	return gtids[rnd(20) ? rnd(2) : 2];
}

static void
make(struct rows *x)
{
	x->nranges = rnd(RANGES);
	x->ncalls = 1 + rnd(CALLS - 1);
	x->nops = 1 + rnd(OPS - 1);
	for (uint32_t i = 0; i < x->nranges; i++) {
		int64_t start = 1000 + rnd(30), end = start + rnd(20);
		x->ranges[i] = (struct nsx_build_range){ start, end, 100 + i, thread(), 0, NSX_RANGE_OP };
	}
	for (uint32_t i = 0; i < x->ncalls; i++) {
		int64_t start = 1000 + rnd(40), id = rnd(IDS) ? (int64_t)rnd(IDS) : NSX_NO_CORRELATION;
		x->calls[i] = (struct nsx_build_call){ start, start + rnd(6), 200 + i, id, thread(), 1 };
	}
	for (uint32_t i = 0; i < x->nops; i++) {
		int64_t start = 1050 + rnd(50), id = rnd(9) ? (int64_t)rnd(IDS) : NSX_NO_CORRELATION;
		x->cuda[i] = rnd(4) ? 3 : 1;
		x->ops[i] = (struct nsx_build_op){ .start = start, .end = start + rnd(9), .id = 300 + i, .correlation = id,
			.bytes = -1, .graph_node = -1, .name = 2, .comm = NSX_NONE, .type = NSX_OP_KERNEL };
	}
}

static uint64_t
process(uint64_t gtid)
{
	return gtid >> 24;
}

/* The call of an operation: the first of its id, none if several processes have it. */
static const struct nsx_build_call *
call_of(const struct rows *x, const struct nsx_build_op *op)
{
	const struct nsx_build_call *found = NULL;

	if (op->correlation == NSX_NO_CORRELATION)
		return NULL;
	for (uint32_t i = 0; i < x->ncalls; i++) {
		const struct nsx_build_call *c = &x->calls[i];
		if (c->correlation != op->correlation)
			continue;
		if (found && process(found->gtid) != process(c->gtid))
			return NULL;
		if (!found || c->start < found->start || (c->start == found->start && c->id < found->id))
			found = c;
	}
	return found;
}

static bool
within(const struct nsx_build_range *r, const struct nsx_build_call *c)
{
	return r->gtid == c->gtid && r->start <= c->start && c->end <= r->end;
}

/* The innermost range around a call: the shortest, of equal ones the first, of the same interval the last. */
static const struct nsx_build_range *
around(const struct rows *x, const struct nsx_build_call *c)
{
	const struct nsx_build_range *f = NULL;

	for (uint32_t i = 0; i < x->nranges; i++) {
		const struct nsx_build_range *r = &x->ranges[i];
		if (within(r, c) && (!f || r->end - r->start < f->end - f->start || (r->start == f->start && r->end == f->end)))
			f = r;
	}
	return f;
}

static bool
op_right(const struct rows *x, const struct nsx_trace *t, uint32_t i, int64_t origin)
{
	const struct nsx_build_op *o = &x->ops[t->op_ids[i] - 300];
	const struct nsx_gpu_op *g = &t->ops[i];
	const struct nsx_build_call *c = call_of(x, o);
	const struct nsx_build_range *r = c ? around(x, c) : NULL;

	return g->start == o->start - origin && g->end == o->end - origin && t->devices[g->device].cuda == x->cuda[o->id - 300]
	       && (g->launch != NSX_NONE) == (c != NULL) && (!c || t->issues[g->launch].id == c->id)
	       && (g->range != NSX_NONE) == (r != NULL) && (!r || t->ranges[g->range].id == r->id);
}

/* The span of a range: operations whose call is in it, and how many such calls. */
static bool
range_right(const struct rows *x, const struct nsx_trace *t, uint32_t i)
{
	const struct nsx_build_range *r = &x->ranges[t->ranges[i].id - 100];
	int64_t first = INT64_MAX, last = INT64_MIN, origin = r->start - t->ranges[i].start;
	uint32_t calls = 0;

	for (uint32_t c = 0; c < x->ncalls; c++) {
		bool launched = false;
		for (uint32_t o = 0; o < x->nops; o++)
			if (call_of(x, &x->ops[o]) == &x->calls[c] && within(r, &x->calls[c])) {
				launched = true;
				first = x->ops[o].start < first ? x->ops[o].start : first;
				last = x->ops[o].end > last ? x->ops[o].end : last;
			}
		calls += launched;
	}
	if (t->ranges[i].gpu == NSX_NONE)
		return calls == 0;
	const struct nsx_span *s = &t->spans[t->ranges[i].gpu];
	return s->ops == calls && s->start == first - origin && s->end == last - origin;
}

static bool
call_right(const struct rows *x, const struct nsx_trace *t, uint32_t i)
{
	const struct nsx_build_call *c = &x->calls[t->calls[i].id - 200];
	const struct nsx_build_range *r = around(x, c);
	uint32_t ops = 0;

	for (uint32_t o = 0; o < x->nops; o++)
		ops += call_of(x, &x->ops[o]) == c;
	return t->calls[i].ops == ops && nsx_trace_caller(t, i)->gtid == c->gtid
	       && (t->calls[i].range != NSX_NONE) == (r != NULL) && (!r || t->ranges[t->calls[i].range].id == r->id);
}

static bool
all_right(const struct rows *x, const struct nsx_trace *t, int64_t origin)
{
	bool good = t->nops == x->nops && t->ncalls == x->ncalls && t->nranges == x->nranges;

	for (uint32_t i = 0; good && i < t->nops; i++)
		good = op_right(x, t, i, origin) && (!i || t->ops[i - 1].start <= t->ops[i].start);
	for (uint32_t i = 0; good && i < t->nranges; i++)
		good = range_right(x, t, i) && nsx_trace_thread(t, i)->gtid == x->ranges[t->ranges[i].id - 100].gtid;
	for (uint32_t i = 0; good && i < t->ncalls; i++)
		good = call_right(x, t, i);
	for (uint32_t i = 1; good && i < t->ndevices; i++)
		good = t->devices[i - 1].process < t->devices[i].process || t->devices[i - 1].cuda < t->devices[i].cuda;
	return good;
}

/* Ids of rows of one kind come in order, as positions in a file do; kinds are mixed at random. */
static bool
build(struct rows *x, const struct nsx_trace_opts *opts, struct nsx_trace *t, int64_t *origin)
{
	struct nsx_build b;
	struct nsx_err err = { "" };
	uint32_t r = 0, c = 0, o = 0;
	bool good = true;

	*t = (struct nsx_trace){ .rank = -1 };
	nsx_build_open(&b, t);
	for (const char *const *name = (const char *const[]){ "range", "cudaLaunchKernel", "kernel", NULL }; *name; name++)
		nsx_intern(&t->names, nsx_str_c(*name));
	while (good && r + c + o < x->nranges + x->ncalls + x->nops) {
		uint32_t turn = rnd(3);
		if (turn == 0 && r < x->nranges)
			good = nsx_build_range(&b, &x->ranges[r++]);
		else if (turn == 1 && c < x->ncalls)
			good = nsx_build_call(&b, &x->calls[c++]);
		else if (turn == 2 && o < x->nops) {
			x->ops[o].device = nsx_build_device(&b, x->cuda[o]);
			good = nsx_build_op(&b, &x->ops[o++]);
		}
	}
	good = good && nsx_build_finish(&b, opts, "build", &err) == NSX_OK;
	*origin = b.origin;
	nsx_build_free(&b);
	return good;
}

int
main(void)
{
	const struct nsx_trace_opts all = { .ops = true, .issues = true, .calls = true }, busy = { .ops = true, .issues = true,
		.busy = true };
	struct nsx_trace t;
	struct rows x;
	int64_t origin;
	int wrong = 0, kept = 0, moved = 0, failed = 0;

	for (int i = 0; i < 20000; i++) {
		uint32_t spans, ranges = 0;

		make(&x);
		failed += !build(&x, &all, &t, &origin);
		wrong += !all_right(&x, &t, origin);
		spans = t.nspans;
		for (uint32_t k = 0; k < t.nranges; k++)
			ranges += t.ranges[k].gpu != NSX_NONE;
		nsx_trace_free(&t);
		/* Only ranges with GPU work: the operations' ranges are the same. */
		failed += !build(&x, &busy, &t, &origin);
		kept += t.nranges != ranges || t.nspans != spans || t.ncalls != 0;
		for (uint32_t k = 0; k < t.nops; k++)
			moved += !op_right(&x, &t, k, origin);
		nsx_trace_free(&t);
	}
	ok(failed == 0, "every trace is built");
	ok(wrong == 0, "calls, ranges, spans and order are those of the definitions");
	ok(kept == 0, "busy keeps the ranges with GPU work, and no calls");
	ok(moved == 0, "... and the ranges of operations");
	return done();
}
