/* sim_kinds.c -- jobs of causes: how real programs keep a device busy, or do not. What a seed changes is which of two chains is the longer one. */
#include <string.h>

#include "sim.h"

enum { STEPS = 7, MAX_RANKS = 8, WORLD = 0x5eed, PAIR = 0xbee0 };

const char sim_kinds[] = "loader|twoway|buckets|pipeline|tensor|replay|full|item|straggler|jitter|devices";

/* A process of one device, with its main thread. */
struct rank { uint32_t proc, main, dev, compute, comm, copy; };

static void
make_rank(struct sim *s, struct rank *r, int i, int n)
{
	r->dev = sim_process(s, 1);
	r->proc = s->p->dev.p[r->dev].proc;
	r->main = sim_thread(s, r->proc, "python3");
	r->compute = sim_stream(s, r->dev, 7);
	r->comm = sim_stream(s, r->dev, 20);
	r->copy = sim_stream(s, r->dev, 24);
	/* The recording begins with a call: what the host does before its first one is not known. */
	sim_work(s, r->main, 1000 + 700 * i);
	sim_record(s, r->main, r->compute, 1);
	if (n > 1)
		sim_communicator(s, r->main, WORLD, n, i);
}

/* By up to 4 in a hundred more or less. */
static int64_t
vary(struct sim *s, int64_t ns)
{
	return ns * sim_draw(s, 960, 1040) / 1000;
}

static void
host(struct sim *s, uint32_t th, int64_t ns)
{
	sim_work(s, th, ns * sim_draw(s, 700, 1300) / 1000);
}

static void
begin_step(struct sim *s, uint32_t th, int k)
{
	sim_push(s, th, syn_fmt(s->p, "ProfilerStep#%d", k + 3), NULL);
	host(s, th, 900);
}

static void
end_step(struct sim *s, uint32_t th)
{
	host(s, th, 500);
	sim_do(s, th, SIM_POP, 0);
	host(s, th, 1500);
}

/* n kernels of about ns each, which the host launches `gap` ns apart. */
static void
layers(struct sim *s, const struct rank *r, const char *name, int n, int64_t ns, int64_t gap)
{
	for (int i = 0; i < n; i++) {
		host(s, r->main, gap);
		sim_kernel(s, r->main, r->compute, syn_fmt(s->p, "%s_%d", name, i % 4), vary(s, ns));
	}
}

static void
reduce(struct sim *s, const struct rank *r, uint32_t stream, int n, int k, int i, int64_t transfer)
{
	host(s, r->main, 2000);
	sim_collective(s, r->main, stream, "all-reduce", WORLD, n, (struct nsx_key){ (uint64_t)k, (uint64_t)i }, 1 << 20, transfer);
}

/* One value to the host's pageable memory, as .item() does. */
static void
item(struct sim *s, const struct rank *r)
{
	host(s, r->main, 3000);
	sim_copy(s, r->main, r->compute, 2, 4, 1800, true);
	host(s, r->main, 800);
	sim_sync(s, r->main, SIM_SYNC_STREAM, r->compute);
}

/* What `to` is given next waits for what `from` was given last. */
static void
order(struct sim *s, const struct rank *r, uint32_t from, uint32_t to, int64_t event)
{
	uint32_t record = sim_record(s, r->main, from, event);

	host(s, r->main, 300);
	sim_await(s, r->main, to, record);
}

/* A thread reads batches ahead, up to two, and copies them to the device; steps wait for their batch. */
static void
loader(struct sim *s)
{
	enum { N = 2 };
	int64_t reading = sim_draw(s, 700, 1700) * 1000;

	for (int i = 0; i < N; i++) {
		struct rank r;
		uint32_t th, ready = sim_sem(s, 0), room = sim_sem(s, 2);

		make_rank(s, &r, i, N);
		th = sim_thread(s, r.proc, "pt_data_worker");
		for (int k = 0; k < STEPS; k++) {
			uint32_t record;

			sim_do(s, th, SIM_TAKE, room);
			sim_work(s, th, vary(s, reading));
			sim_copy(s, th, r.copy, 1, 8 << 20, vary(s, 150000), false);
			host(s, th, 700);
			record = sim_record(s, th, r.copy, 40 + k % 3);
			sim_do(s, th, SIM_POST, ready);
			begin_step(s, r.main, k);
			layers(s, &r, "zero", 2, 8000, 1500);
			sim_do(s, r.main, SIM_TAKE, ready);
			host(s, r.main, 1500);
			sim_await(s, r.main, r.compute, record);
			layers(s, &r, "forward", 16, 24000, 3000);
			layers(s, &r, "backward", 24, 27000, 3000);
			reduce(s, &r, r.compute, N, k, 0, 60000);
			layers(s, &r, "adam", 2, 30000, 3000);
			item(s, &r);
			sim_do(s, r.main, SIM_POST, room);
			end_step(s, r.main);
		}
	}
}

/* Two streams that wait for each other, several times a step. */
static void
twoway(struct sim *s)
{
	enum { N = 2, BLOCKS = 8 };
	int64_t ratio = sim_draw(s, 500, 1500);

	for (int i = 0; i < N; i++) {
		struct rank r;

		make_rank(s, &r, i, N);
		for (int k = 0; k < STEPS; k++) {
			begin_step(s, r.main, k);
			for (int b = 0; b < BLOCKS; b++) {
				host(s, r.main, 3000);
				sim_kernel(s, r.main, r.compute, "scatter", vary(s, 22000));
				order(s, &r, r.compute, r.copy, 10 + 2 * b);
				host(s, r.main, 2000);
				sim_kernel(s, r.main, r.copy, "expert_a", vary(s, 40000 * ratio / 1000));
				sim_kernel(s, r.main, r.copy, "expert_b", vary(s, 15000));
				host(s, r.main, 2000);
				sim_kernel(s, r.main, r.compute, "shared", vary(s, 52000));
				order(s, &r, r.copy, r.compute, 11 + 2 * b);
				host(s, r.main, 2000);
				sim_kernel(s, r.main, r.compute, "gather", vary(s, 18000));
			}
			reduce(s, &r, r.compute, N, k, 0, 45000);
			sim_sync(s, r.main, SIM_SYNC_STREAM, r.compute);
			end_step(s, r.main);
		}
	}
}

/* Gradients are reduced in buckets beside the backward pass; the host is at most two steps ahead, by an event. */
static void
buckets(struct sim *s)
{
	enum { N = 4, BUCKETS = 5 };
	int64_t transfer = sim_draw(s, 90, 260) * 1000;

	for (int i = 0; i < N; i++) {
		struct rank r;
		uint32_t done = SYN_NONE, before = SYN_NONE;

		make_rank(s, &r, i, N);
		for (int k = 0; k < STEPS; k++) {
			begin_step(s, r.main, k);
			if (before != SYN_NONE)
				sim_sync(s, r.main, SIM_SYNC_EVENT, before);
			layers(s, &r, "forward", 18, 21000, 4000);
			for (int b = 0; b < BUCKETS; b++) {
				layers(s, &r, "backward", 8, 24000, 3500);
				order(s, &r, r.compute, r.comm, 10 + b);
				reduce(s, &r, r.comm, N, k, b, transfer);
			}
			order(s, &r, r.comm, r.compute, 20);
			layers(s, &r, "adam", 6, 28000, 3000);
			before = done;
			done = sim_record(s, r.main, r.compute, 30 + k % 2);
			end_step(s, r.main);
		}
	}
}

/* ---- a pipeline */

enum { STAGES = 4, BATCHES = 6 };
struct stage { struct rank r; int at, step, sent[2]; };   /* sent: exchanges so far with the stage before and after */

/* Exchange with the stage before (-1) or after (1): what was computed there, and what is computed next waits for it. */
static void
exchange(struct sim *s, struct stage *t, int side, bool to, bool from)
{
	int peer = t->at + side, n = t->sent[side > 0]++;

	if (peer < 0 || peer == STAGES)
		return;
	order(s, &t->r, t->r.compute, t->r.comm, 10 + (side > 0));
	host(s, t->r.main, 2500);
	sim_exchange(s, t->r.main, t->r.comm, WORLD, to ? peer : -1, from ? peer : -1,
	             (struct nsx_key){ (uint64_t)(peer < t->at ? peer : t->at), (uint64_t)(t->step * 100 + n) }, 4 << 20, 38000);
	if (from)
		order(s, &t->r, t->r.comm, t->r.compute, 20 + (side > 0));
}

static void
pass(struct sim *s, struct stage *t, bool forward, int64_t ns)
{
	layers(s, &t->r, forward ? "forward" : "backward", 4, forward ? ns : 2 * ns, 3000);
}

/* One forward, one backward. */
static void
pipeline(struct sim *s)
{
	int64_t ns[STAGES];

	for (int i = 0; i < STAGES; i++)
		ns[i] = sim_draw(s, 20, 32) * 1000;
	for (int i = 0; i < STAGES; i++) {
		struct stage t = { .at = i };
		int ahead = STAGES - 1 - i;

		make_rank(s, &t.r, i, STAGES);
		for (int k = 0; k < STEPS; k++) {
			t.step = k;
			t.sent[0] = t.sent[1] = 0;
			begin_step(s, t.r.main, k);
			for (int b = 0; b < ahead; b++) {
				exchange(s, &t, -1, false, true);
				pass(s, &t, true, ns[i]);
				exchange(s, &t, 1, true, false);
			}
			exchange(s, &t, -1, false, true);
			for (int b = 0; b < BATCHES - ahead; b++) {
				pass(s, &t, true, ns[i]);
				exchange(s, &t, 1, true, true);
				pass(s, &t, false, ns[i]);
				exchange(s, &t, -1, true, b < BATCHES - ahead - 1);
			}
			for (int b = 0; b < ahead; b++) {
				exchange(s, &t, 1, false, true);
				pass(s, &t, false, ns[i]);
				exchange(s, &t, -1, true, false);
			}
			layers(s, &t.r, "adam", 2, 30000, 3000);
			sim_sync(s, t.r.main, SIM_SYNC_DEVICE, t.r.dev);
			end_step(s, t.r.main);
		}
	}
}

/* Pairs of devices share each layer, and reduce what they compute within it; devices of equal place in their pairs share gradients. */
static void
tensor(struct sim *s)
{
	enum { N = 4, LAYERS = 6 };
	int64_t transfer = sim_draw(s, 15, 45) * 1000;

	for (int i = 0; i < N; i++) {
		struct rank r;
		uint64_t pair = (uint64_t)i / 2;

		make_rank(s, &r, i, N);
		sim_communicator(s, r.main, PAIR + i / 2, 2, i % 2);
		sim_communicator(s, r.main, PAIR + 16 + i % 2, 2, i / 2);
		for (int k = 0; k < STEPS; k++) {
			begin_step(s, r.main, k);
			for (int l = 0; l < 2 * LAYERS; l++) {
				layers(s, &r, l % 2 ? "mlp" : "attention", 4, 19000, 3500);
				host(s, r.main, 1500);
				sim_collective(s, r.main, r.compute, "all-reduce", PAIR + i / 2, 2, (struct nsx_key){ 1000 + pair, (uint64_t)(k * 100 + l) }, 2 << 20, transfer);
			}
			order(s, &r, r.compute, r.comm, 10);
			sim_collective(s, r.main, r.comm, "reduce-scatter", PAIR + 16 + i % 2, 2, (struct nsx_key){ 2000 + (uint64_t)i % 2, (uint64_t)k }, 4 << 20, 90000);
			sim_collective(s, r.main, r.comm, "all-gather", PAIR + 16 + i % 2, 2, (struct nsx_key){ 3000 + (uint64_t)i % 2, (uint64_t)k }, 4 << 20, 85000);
			layers(s, &r, "metrics", 3, 16000, 3000);
			order(s, &r, r.comm, r.compute, 11);
			if (k % 2)
				sim_sync(s, r.main, SIM_SYNC_STREAM, r.compute);
			end_step(s, r.main);
		}
	}
}

/* A graph of n layers, of which each has a branch beside it, on another stream; its number of nodes. */
static uint32_t
graph(struct sim *s, const struct rank *r, int n, int64_t ns, int64_t node, uint32_t *first)
{
	uint32_t last = SYN_NONE;

	*first = (uint32_t)s->op.n;
	for (int i = 0; i < n; i++) {
		uint32_t norm = sim_node(s, r->compute, "norm", vary(s, ns / 2), node++, last, SYN_NONE);
		uint32_t gate = sim_node(s, r->comm, "gate", vary(s, ns), node++, norm, SYN_NONE);
		uint32_t gemm = sim_node(s, r->compute, "gemm", sim_draw(s, 600, 1500) * ns / 1000, node++, norm, SYN_NONE);

		last = sim_node(s, r->compute, "join", vary(s, ns / 3), node++, gate, gemm);
	}
	return (uint32_t)s->op.n - *first;
}

/* Tokens of a language model: a graph of the layers, one of the head; the host reads each token and prepares the next one. */
static void
replay(struct sim *s)
{
	int64_t preparing = sim_draw(s, 30, 400) * 1000;
	struct rank r;

	make_rank(s, &r, 0, 1);
	for (int k = 0; k < 2 * STEPS; k++) {
		uint32_t first, n;

		begin_step(s, r.main, k);
		host(s, r.main, preparing);
		sim_copy(s, r.main, r.compute, 1, 4096, 2500, false);
		n = graph(s, &r, 12, 26000, 1000, &first);
		host(s, r.main, 4000);
		sim_graph(s, r.main, first, n);
		host(s, r.main, 9000);
		n = graph(s, &r, 2, 18000, 2000, &first);
		sim_graph(s, r.main, first, n);
		layers(s, &r, "sample", 2, 9000, 3000);
		item(s, &r);
		end_step(s, r.main);
	}
}

/* Many short kernels: the launch queue is full, and with faster kernels the host is what the device waits for. */
static void
full(struct sim *s)
{
	enum { N = 2, KERNELS = 620 };
	int64_t ns = sim_draw(s, 8, 12) * 1000;

	for (int i = 0; i < N; i++) {
		struct rank r;

		make_rank(s, &r, i, N);
		for (int k = 0; k < STEPS; k++) {
			begin_step(s, r.main, k);
			layers(s, &r, "short", KERNELS, ns, 900);
			reduce(s, &r, r.compute, N, k, 0, 40000);
			end_step(s, r.main);
		}
	}
}

/* The loss is read in every third step only, so that steps differ. */
static void
items(struct sim *s)
{
	enum { N = 2 };
	int64_t ns = sim_draw(s, 14, 30) * 1000;

	for (int i = 0; i < N; i++) {
		struct rank r;

		make_rank(s, &r, i, N);
		for (int k = 0; k < 2 * STEPS; k++) {
			begin_step(s, r.main, k);
			layers(s, &r, "forward", 20, ns, 8000);
			layers(s, &r, "backward", 20, ns, 9000);
			reduce(s, &r, r.compute, N, k, 0, 70000);
			layers(s, &r, "adam", 2, 25000, 8000);
			if (k % 3 == 2)
				item(s, &r);
			end_step(s, r.main);
		}
	}
}

/* One rank computes more slowly, and all others wait for it in every layer. */
static void
straggler(struct sim *s)
{
	enum { N = 4 };
	int64_t slow = sim_draw(s, 1120, 1400);

	for (int i = 0; i < N; i++) {
		struct rank r;

		make_rank(s, &r, i, N);
		for (int k = 0; k < STEPS; k++) {
			begin_step(s, r.main, k);
			for (int l = 0; l < 6; l++) {
				layers(s, &r, l < 3 ? "forward" : "backward", 6, i == 2 ? 24000 * slow / 1000 : 24000, 3500);
				reduce(s, &r, r.compute, N, k, l, 35000);
			}
			sim_sync(s, r.main, SIM_SYNC_STREAM, r.compute);
			end_step(s, r.main);
		}
	}
}

/* The host is what the device waits for, now and then for long; the profiler takes some of it. */
static void
jitter(struct sim *s)
{
	enum { N = 3 };
	int64_t usual = sim_draw(s, 9, 22) * 1000;

	for (int i = 0; i < N; i++) {
		struct rank r;

		make_rank(s, &r, i, N);
		for (int k = 0; k < STEPS; k++) {
			begin_step(s, r.main, k);
			for (int l = 0; l < 48; l++) {
				int64_t chance = sim_draw(s, 0, 99);

				host(s, r.main, chance < 4 ? 20 * usual : chance < 20 ? 3 * usual : usual);
				if (chance > 94)
					syn_add(&s->thread.p[r.main].step, ((struct sim_step){ .what = SIM_WORK, .extra = sim_draw(s, 20000, 90000) }));
				sim_kernel(s, r.main, r.compute, syn_fmt(s->p, "layer_%d", l % 4), vary(s, 15000));
			}
			reduce(s, &r, r.compute, N, k, 0, 30000);
			if (k % 2)
				item(s, &r);
			end_step(s, r.main);
		}
	}
}

/* One process with two devices and a thread for each; one of the threads reads the loss for both. */
static void
devices(struct sim *s)
{
	enum { N = 2 };
	struct rank r[N];
	uint32_t go = sim_sem(s, 0), done = sim_sem(s, 0);

	r[0].dev = sim_process(s, N);
	for (int i = 0; i < N; i++) {
		r[i].dev = r[0].dev + (uint32_t)i;
		r[i].proc = s->p->dev.p[r[0].dev].proc;
		r[i].main = sim_thread(s, r[i].proc, i ? "worker" : "python3");
		r[i].compute = sim_stream(s, r[i].dev, 7 + 30 * i);
		r[i].comm = sim_stream(s, r[i].dev, 20 + 30 * i);
	}
	for (int k = 0; k < STEPS; k++)
		for (int i = 0; i < N; i++) {
			if (i == 0)
				begin_step(s, r[0].main, k);
			sim_do(s, r[i].main, i ? SIM_TAKE : SIM_POST, go);
			layers(s, &r[i], "forward", 40, i ? 26000 : 22000, 4000);
			layers(s, &r[i], "backward", 40, i ? 30000 : 27000, 4000);
			order(s, &r[i], r[i].compute, r[i].comm, 10 + i);
			host(s, r[i].main, 2000);
			sim_copy(s, r[i].main, r[i].comm, 2, 1 << 20, vary(s, 45000), false);
			sim_sync(s, r[i].main, SIM_SYNC_DEVICE, r[i].dev);
			sim_do(s, r[i].main, i ? SIM_POST : SIM_TAKE, done);
			if (i == 0) {
				host(s, r[0].main, 30000);
				end_step(s, r[0].main);
			}
		}
}

static const struct { const char *name; void (*build)(struct sim *s); } kinds[] = {
	{ "loader", loader }, { "twoway", twoway }, { "buckets", buckets }, { "pipeline", pipeline }, { "tensor", tensor }, { "replay", replay },
	{ "full", full }, { "item", items }, { "straggler", straggler }, { "jitter", jitter }, { "devices", devices }
};

bool
sim_known(const char *kind)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i].name, kind) == 0)
			return true;
	return false;
}

void
sim_build(struct sim *s, const char *kind)
{
	s->queue = 1022;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i].name, kind) == 0)
			kinds[i].build(s);
}
