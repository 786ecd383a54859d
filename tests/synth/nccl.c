/* nccl.c -- --nccl: a job that calls NCCL in every way, without XLA: single calls, groups, fused and nested, of sends
 * and receives, of several devices in one process, in a CUDA graph. The calls that each operation executes are known
 * before it is launched, and written to the answers `nccl` and `communicators`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth.h"

/* Above MOST_PEERS devices none sends to each in one group: those calls grow with the square of their number. */
enum { MOST_PEERS = 64, MOST_CALLS = 2 * MOST_PEERS, MOST_DEVICES = 4096 };

/* A call: its function, kind of payload, size and peer (-1: none). */
struct call { const char *name; int shape; int64_t size, peer; };

/* An instance. kind: as in operations; pair: of sends between two. */
struct act {
	const char *kind, *kernel;
	bool        grouped, nested, torn, graph, pair;
	int         ncalls;         /* executed by one operation */
};

/* A device's record of an instance. key: instances of one key are numbered. The second line is filled by
 * neighbours(). */
struct part {
	uint32_t op, dev; const char *kind; int64_t comm, bytes, group, number, low, high; int calls, key; bool silent, no_comm, is;
	int64_t seq, last; int shown;
};

static NSX_VEC(struct part) parts;
static int64_t numbers[16 + MOST_DEVICES / 2];
/* The records of an act, by device. */
static struct part list[MOST_DEVICES];

static bool
how(const char *what)
{
	return syn_opt.nccl && strcmp(syn_opt.nccl, what) == 0;
}

static bool
is_old(void)
{
	return how("2.24");
}

/* Whether the export of the device's process has no record of how communicators were created: it began later, or the
 * rows are damaged. */
static bool
is_late(const struct syn_plan *p, uint32_t dev)
{
	return !p->dev.p[dev].member || (syn_opt.late >= 0 && p->dev.p[dev].proc == (uint32_t)syn_opt.late);
}

static const char *
comm_id(struct syn_plan *p, int64_t comm)
{
	return syn_fmt(p, "%016" PRIx64, (uint64_t)comm);
}

static int64_t
world(void)
{
	return INT64_MIN + 0x5eed;
}

static int64_t
pair_comm(uint32_t dev)
{
	return 0xbee0 + dev / 2;
}

/* A range with a payload; false if that payload is damaged. */
static bool
put_range(struct syn_plan *p, uint32_t proc, uint32_t thread, const char *name, struct syn_payload pl)
{
	uint32_t r = syn_push(p, proc, thread, SYN_NCCL, syn_name(p, name), true);

	if (how("none"))
		return false;
	syn_add(&p->payload, pl);
	p->range.p[r].payload = (uint32_t)p->payload.n;
	return !syn_payload_spoilt((uint32_t)p->payload.n);
}

static void
empty_range(struct syn_plan *p, uint32_t proc, uint32_t thread, const char *name)
{
	syn_push(p, proc, thread, SYN_NCCL, syn_name(p, name), true);
	syn_pop(p, proc, thread);
}

/* ---- the calls of an act */

static int
calls_of(const struct act *a, uint32_t dev, int n, int64_t size, struct call *c)
{
	int k = 0;

	if (a->pair) {
		c[k++] = (struct call){ "ncclSend", SYN_N_P2P, size, 1 - (int)(dev & 1) };
		c[k++] = (struct call){ "ncclRecv", SYN_N_P2P, size / 2, 1 - (int)(dev & 1) };
	} else if (strcmp(a->kind, "all-to-all") == 0 && a->grouped) {
		for (int i = 0; i < n; i++) {
			c[k++] = (struct call){ "ncclSend", SYN_N_P2P, size, i };
			c[k++] = (struct call){ "ncclRecv", SYN_N_P2P, size, i };
		}
	} else if (strcmp(a->kind, "mixed") == 0) {
		c[k++] = (struct call){ "ncclAllReduce", SYN_N_REDUCE, size, -1 };
		c[k++] = (struct call){ "ncclAllGather", SYN_N_COLL, size, -1 };
	} else {
		static const char *const names[][2] = {
			{ "all-reduce", "ncclAllReduce" }, { "all-gather", "ncclAllGather" }, { "reduce-scatter", "ncclReduceScatter" }, { "broadcast", "ncclBroadcast" },
			{ "reduce", "ncclReduce" }, { "all-to-all", "ncclAlltoAll" }, { "gather", "ncclGather" }, { "scatter", "ncclScatter" }
		};
		for (int i = 0; i < a->ncalls; i++)
			for (size_t j = 0; j < sizeof names / sizeof *names; j++)
				if (strcmp(names[j][0], a->kind) == 0)
					c[k++] = (struct call){ names[j][1], j < 3 || j == 4 ? (j == 1 ? SYN_N_COLL : SYN_N_REDUCE) : j == 5 ? SYN_N_COLL : SYN_N_ROOTED, size, -1 };
	}
	return k;
}

static int64_t
bytes_of(const struct act *a, int n, int64_t size)
{
	if (a->pair)
		return size;
	if (strcmp(a->kind, "all-to-all") == 0 || strcmp(a->kind, "gather") == 0 || strcmp(a->kind, "scatter") == 0)
		return n * size;
	return strcmp(a->kind, "mixed") == 0 ? -1 : a->ncalls * size;
}

/* ---- one device's launch */

static uint32_t
launch(struct syn_plan *p, uint32_t dev, uint32_t thread, const struct act *a)
{
	struct syn_dev *d = &p->dev.p[dev];
	struct syn_op o = { .type = SYN_KERNEL, .dev = dev, .stream = 24, .bytes = -1, .short_name = SYN_NONE };

	o.call = a->graph ? syn_call(p, d->proc, thread, "cudaGraphLaunch_v10000", 6000) : syn_launch(p, d->proc, thread);
	o.name = syn_namef(p, "ncclDevKernel_%s(ncclDevKernelArgsStorage<(unsigned long)4096>)", a->kernel);
	o.node = a->graph ? 1000 + 10 * (int64_t)dev : 0;
	o.start = p->call.p[o.call].end + syn_rnd(p, 2000, 30000);
	if (o.start < d->comm)
		o.start = d->comm;
	return syn_op(p, o);
}

/* Whether all payloads of the calls are complete. */
static bool
make_calls(struct syn_plan *p, const struct act *a, uint32_t dev, uint32_t thread, int64_t comm, const struct call *c, int n)
{
	uint32_t proc = p->dev.p[dev].proc;
	bool whole = true;

	for (int i = 0; i < n; i++) {
		whole &= put_range(p, proc, thread, c[i].name, (struct syn_payload){ c[i].shape, comm, c[i].size, c[i].peer, 0, 0, 0 });
		if (!a->grouped)
			return whole;
		syn_pop(p, proc, thread);
		if (a->nested && i == 0)
			empty_range(p, proc, thread, "ncclGroupEnd");
	}
	return whole;
}

static uint32_t
issue(struct syn_plan *p, const struct act *a, uint32_t dev, uint32_t thread, int64_t comm, const struct call *c, int n, bool *whole)
{
	uint32_t proc = p->dev.p[dev].proc;

	*whole = true;
	if (a->grouped && !a->torn)
		empty_range(p, proc, thread, "ncclGroupStart");
	if (a->nested)
		empty_range(p, proc, thread, "ncclGroupStart");
	if (!a->torn)
		*whole = make_calls(p, a, dev, thread, comm, c, n);
	if (a->grouped)
		syn_push(p, proc, thread, SYN_NCCL, syn_name(p, "ncclGroupEnd"), true);
	uint32_t op = launch(p, dev, thread, a);
	syn_pop(p, proc, thread);
	return op;
}

/* The complete row of an operation whose calls are known. */
static struct part
tell(struct syn_plan *p, const struct act *a, uint32_t op, uint32_t dev, int64_t comm, int n, int calls, int64_t size, bool whole, int key)
{
	struct part t = { .op = op, .dev = dev, .kind = a->kind, .comm = comm, .bytes = whole ? bytes_of(a, n, size) : -1, .group = a->pair ? 2 : n, .calls = calls, .key = key };
	bool by_peer = !a->grouped && (strcmp(a->kind, "all-to-all") == 0 || strcmp(a->kind, "gather") == 0 || strcmp(a->kind, "scatter") == 0);
	bool p2p = a->pair || (strcmp(a->kind, "all-to-all") == 0 && a->grouped);

	t.silent = a->torn;
	t.no_comm = !whole || is_old();
	/* Without a communicator the number of ranks is unknown, but the peers of sends and receives are known. */
	if (t.no_comm && !(p2p && (whole || a->pair)))
		t.group = 0;
	/* Without peers it is unknown whether all exchange with all. */
	if (p2p && !whole) {
		t.kind = "send-recv";
		t.group = 2;
	}
	if (by_peer && (t.no_comm || is_late(p, dev)))
		t.bytes = -1;
	t.low = a->pair ? 0 : -1;
	t.high = a->pair ? 1 : -1;
	if (a->pair && (t.no_comm || is_late(p, dev)))
		t.low = t.high = -1;
	t.is = !t.silent && !t.no_comm && (!a->pair || t.low >= 0);
	return t;
}

/* The devices begin one after another and end together. */
static void
finish(struct syn_plan *p, int n)
{
	int64_t last = 0;

	for (int i = 0; i < n; i++)
		if (p->op.p[list[i].op].start > last)
			last = p->op.p[list[i].op].start;
	for (int i = 0; i < n; i++) {
		struct syn_op *o = &p->op.p[list[i].op];
		o->end = last + 20000 + syn_rnd(p, 0, 300);
		p->dev.p[list[i].dev].comm = o->end + 500;
		list[i].number = numbers[list[i].key];
		syn_add(&parts, list[i]);
	}
	numbers[list[0].key]++;
}

/* Devices [from, from + n) of one communicator execute the act. */
static void
act(struct syn_plan *p, const struct act *a, uint32_t from, int n, int64_t size, int key)
{
	int64_t comm = a->pair ? pair_comm(from) : world();

	for (int i = 0; i < n; i++) {
		uint32_t dev = from + (uint32_t)i;
		struct call c[MOST_CALLS];
		int calls = a->graph ? 1 : calls_of(a, dev, n, size, c);
		bool whole = true;
		uint32_t op = a->graph ? launch(p, dev, p->dev.p[dev].thread, a) : issue(p, a, dev, p->dev.p[dev].thread, comm, c, calls, &whole);
		if (a->graph)
			whole = p->dev.p[dev].captured;
		list[i] = tell(p, a, op, dev, comm, n, calls, size, whole, key);
	}
	finish(p, n);
}

/* One thread of each process launches for all devices of the process: a group of as many calls as operations. */
static void
act_together(struct syn_plan *p, const struct act *a, int64_t size, int key)
{
	int n = (int)p->dev.n, k = 0;

	for (uint32_t proc = 0; proc < p->proc.n; proc++) {
		static bool whole[MOST_DEVICES];
		int first = k;
		empty_range(p, proc, 0, "ncclGroupStart");
		for (uint32_t dev = 0; dev < p->dev.n; dev++)
			if (p->dev.p[dev].proc == proc) {
				whole[k++] = put_range(p, proc, 0, "ncclAllReduce", (struct syn_payload){ SYN_N_REDUCE, world(), size, -1, 0, 0, 0 });
				syn_pop(p, proc, 0);
			}
		syn_push(p, proc, 0, SYN_NCCL, syn_name(p, "ncclGroupEnd"), true);
		int i = first;
		for (uint32_t dev = 0; dev < p->dev.n; dev++)
			if (p->dev.p[dev].proc == proc) {
				list[i] = tell(p, a, launch(p, dev, 0, a), dev, world(), n, 1, size, whole[i], key);
				i++;
			}
		syn_pop(p, proc, 0);
	}
	finish(p, n);
}

/* ---- before the steps */

static void
make_communicators(struct syn_plan *p)
{
	for (uint32_t dev = 0; dev < p->dev.n; dev++) {
		struct syn_dev *d = &p->dev.p[dev];
		bool whole = true;
		struct syn_payload pl = { SYN_N_INIT, world(), 0, -1, (int64_t)p->dev.n, dev, d->cuda };
		whole = put_range(p, d->proc, d->thread, "ncclCommInitRankConfig", pl);
		syn_pop(p, d->proc, d->thread);
		if ((dev | 1) < p->dev.n) {
			whole &= put_range(p, d->proc, d->thread, "ncclCommSplit", (struct syn_payload){ SYN_N_INIT, pair_comm(dev), 0, -1, 2, dev & 1, d->cuda });
			syn_pop(p, d->proc, d->thread);
		}
		d->member = whole;
	}
}

/* A call that launches nothing: it is captured, and a clone of the node runs. */
static void
capture(struct syn_plan *p, int64_t size)
{
	for (uint32_t dev = 0; dev < p->dev.n; dev++) {
		struct syn_dev *d = &p->dev.p[dev];
		d->captured = put_range(p, d->proc, d->thread, "ncclAllReduce", (struct syn_payload){ SYN_N_REDUCE, world(), size, -1, 0, 0, 0 });
		p->proc.p[d->proc].thread.p[d->thread].now += 300;
		syn_add(&p->capture, ((struct syn_capture){ d->proc, d->thread, p->proc.p[d->proc].thread.p[d->thread].now, 999 + 10 * (int64_t)dev }));
		p->proc.p[d->proc].thread.p[d->thread].now += 300;
		syn_pop(p, d->proc, d->thread);
	}
}

/* The time at which all hosts and devices are idle. */
static int64_t
idle(struct syn_plan *p)
{
	int64_t now = 0;

	for (uint32_t r = 0; r < p->proc.n; r++)
		for (size_t t = 0; t < p->proc.p[r].thread.n; t++)
			now = p->proc.p[r].thread.p[t].now > now ? p->proc.p[r].thread.p[t].now : now;
	for (uint32_t d = 0; d < p->dev.n; d++)
		now = p->dev.p[d].comm > now ? p->dev.p[d].comm : now;
	for (uint32_t r = 0; r < p->proc.n; r++)
		for (size_t t = 0; t < p->proc.p[r].thread.n; t++)
			p->proc.p[r].thread.p[t].now = now + 10000;
	return now + 5000;
}

void
syn_nccl(struct syn_plan *p)
{
	static const struct act acts[] = {
		{ .kind = "all-reduce", .kernel = "AllReduce_Sum_f32_RING_LL", .ncalls = 1 },
		{ .kind = "all-gather", .kernel = "AllGather_RING_LL", .ncalls = 1 },
		{ .kind = "reduce-scatter", .kernel = "ReduceScatter_Sum_f32_RING_LL", .ncalls = 1 },
		{ .kind = "broadcast", .kernel = "Broadcast_RING_LL", .ncalls = 1 },
		{ .kind = "reduce", .kernel = "Reduce_Sum_f32_RING_LL", .ncalls = 1 },
		{ .kind = "all-to-all", .kernel = "SendRecv", .ncalls = 1 },
		{ .kind = "gather", .kernel = "SendRecv", .ncalls = 1 },
		{ .kind = "scatter", .kernel = "SendRecv", .ncalls = 1 },
		{ .kind = "all-reduce", .kernel = "AllReduce_Sum_f32_RING_LL", .ncalls = 3, .grouped = true },
		{ .kind = "mixed", .kernel = "Generic", .ncalls = 2, .grouped = true },
		{ .kind = "all-reduce", .kernel = "AllReduce_Sum_f32_RING_LL", .ncalls = 2, .grouped = true, .nested = true },
		{ .kind = "all-to-all", .kernel = "SendRecv", .grouped = true },
		{ .kind = "all-reduce", .kernel = "AllReduce_Sum_f32_RING_LL", .ncalls = 1, .graph = true },
		{ .kind = "all-reduce", .kernel = "AllReduce_Sum_f32_RING_LL", .ncalls = 1, .grouped = true, .torn = true },
	};
	static const struct act between = { .kind = "send-recv", .kernel = "SendRecv", .grouped = true, .pair = true };
	static const struct act together = { .kind = "all-reduce", .kernel = "AllReduce_Sum_f32_RING_LL", .ncalls = 1 };
	static const int keys[] = { 0, 1, 2, 3, 4, 5, 6, 7, 0, 8, 0, 5, 0, 9 };
	int n = (int)p->dev.n;

	for (uint32_t r = 0; r < p->proc.n; r++)
		syn_add(&p->mark, ((struct syn_mark){ 1000, r, 0, syn_name(p, "NCCL"), 75, SYN_NCCL, 0 }));
	make_communicators(p);
	capture(p, 77 * 1024);
	/* All acts run one after the other: first an End without a Start, before any group. */
	for (int64_t step = 0; step < syn_opt.steps; step++) {
		if (step == 0)
			act(p, &acts[13], 0, n, 0, keys[13]);
		if (step == 1 && syn_opt.late >= 0)
			p->proc.p[syn_opt.late].from = idle(p);
		for (size_t i = 0; i < sizeof acts / sizeof *acts - 1; i++) {
			/* A late capture does not know which calls the nodes belong to, so it would have fewer known
			 * operations. */
			if (acts[i].graph && syn_opt.late >= 0)
				continue;
			if (acts[i].grouped && !acts[i].ncalls && n > MOST_PEERS)
				continue;
			act(p, &acts[i], 0, n, acts[i].graph ? 77 * 1024 : 4096 * (int64_t)(i + 1) + 1024 * (step % 3), keys[i]);
			for (uint32_t t = 0; t < p->dev.n; t++)
				p->proc.p[p->dev.p[t].proc].thread.p[p->dev.p[t].thread].now += syn_rnd(p, 1000, 90000);
		}
		for (uint32_t dev = 0; dev + 1 < p->dev.n; dev += 2)
			act(p, &between, dev, 2, 8192 + 1024 * (step % 2), 16 + (int)dev / 2);
		if (syn_opt.devices > 1)
			act_together(p, &together, 12288, 0);
	}
}

/* ---- answers */

static int64_t
local_start(const struct syn_plan *p, const struct part *t)
{
	return syn_local(p, p->dev.p[t->dev].proc, p->op.p[t->op].start);
}

/* By key, number, device: the records of an instance follow each other. Those that are in no instance come last. */
static int
by_number(const void *a, const void *b)
{
	const struct part *x = &parts.p[*(const size_t *)a], *y = &parts.p[*(const size_t *)b];

	if (x->is != y->is)
		return x->is ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->dev != y->dev ? (x->dev < y->dev ? -1 : 1) : 0;
}

/* For each record: how many devices of its instance the captures contain, when the last of them started, and its
 * position among all records of its key on the device. Records that are not captured count too, since some other
 * capture has them all. */
static void
neighbours(const struct syn_plan *p)
{
	size_t *order = syn_check(calloc(parts.n + 1, sizeof *order)), n = parts.n;
	int64_t *seen = syn_check(calloc(p->dev.n + 1, sizeof *seen));

	for (size_t i = 0; i < n; i++)
		order[i] = i;
	qsort(order, n, sizeof *order, by_number);
	for (size_t i = 0, end; i < n && parts.p[order[i]].is; i = end) {
		const struct part *first = &parts.p[order[i]];
		int64_t last = INT64_MIN;
		int shown = 0;

		if (!i || parts.p[order[i - 1]].key != first->key)
			memset(seen, 0, p->dev.n * sizeof *seen);
		for (end = i; end < n && parts.p[order[end]].is && parts.p[order[end]].key == first->key && parts.p[order[end]].number == first->number; end++) {
			const struct syn_op *o = &p->op.p[parts.p[order[end]].op];

			shown += !o->gone;
			last = !o->gone && o->start > last ? o->start : last;
		}
		for (size_t k = i; k < end; k++) {
			struct part *t = &parts.p[order[k]];

			t->shown = shown;
			t->last = last;
			t->seq = seen[t->dev];
		}
		for (size_t k = i; k < end; k++)
			seen[parts.p[order[k]].dev]++;
	}
	free(seen);
	free(order);
}

void
syn_nccl_answers(struct syn_plan *p)
{
	struct syn_tsv t;

	neighbours(p);
	syn_tsv_open(&t, "nccl", "device\tstart\tdur\tcollective\tcomm_id\tbytes\tgroup\tcalls\tpair\tseq\twait");
	for (size_t i = 0; i < parts.n; i++) {
		const struct part *s = &parts.p[i];
		const struct syn_op *o = &p->op.p[s->op];
		int64_t start = local_start(p, s);
		char bytes[24] = "", group[24] = "", calls[24] = "", pair[48] = "", seq[24] = "", wait[24] = "";

		if (o->gone)
			continue;
		if (!s->silent && s->bytes >= 0)
			snprintf(bytes, sizeof bytes, "%" PRId64, s->bytes);
		if (!s->silent && s->group)
			snprintf(group, sizeof group, "%" PRId64, s->group);
		if (!s->silent)
			snprintf(calls, sizeof calls, "%d", s->calls);
		if (!s->silent && s->low >= 0)
			snprintf(pair, sizeof pair, "%" PRId64 "-%" PRId64, s->low, s->high);
		if (s->is) {
			snprintf(seq, sizeof seq, "%" PRId64, s->seq);
			if (s->shown > 1)
				snprintf(wait, sizeof wait, "%" PRId64, s->last - o->start);
		}
		syn_tsv_row(&t, "%d\t%" PRId64 "\t%" PRId64 "\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", p->dev.p[s->dev].global, start,
		            syn_local(p, p->dev.p[s->dev].proc, o->end) - start, s->kind, s->silent || s->no_comm ? "" : comm_id(p, s->comm), bytes, group, calls, pair, seq, wait);
	}
	syn_tsv_close(&t);
	syn_tsv_open(&t, "communicators", "comm_id\tdevice\trank\tranks");
	for (uint32_t dev = 0; dev < p->dev.n && !is_old() && !how("none"); dev++) {
		if (is_late(p, dev))
			continue;
		syn_tsv_row(&t, "%s\t%d\t%u\t%zu", comm_id(p, world()), p->dev.p[dev].global, dev, p->dev.n);
		if ((dev | 1) < p->dev.n)
			syn_tsv_row(&t, "%s\t%d\t%u\t2", comm_id(p, pair_comm(dev)), p->dev.p[dev].global, dev & 1);
	}
	syn_tsv_close(&t);
	free(parts.p);
}
