/* vary.c -- what makes devices, steps and hosts of the job unequal, and the answers about it: a slow device, steps that
 * drift or alternate, a rack whose hosts are late, checkpoints. Chance has its own numbers here: the rest of the job
 * keeps those that it has without these options. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "synth.h"

enum { MILLION = 1000000, CHECKPOINT_BYTES = 64 << 20, CHECKPOINT_COPY = 3000000, CHECKPOINT_WRITE = 2000000 };

/* One step as planned. */
struct step { int64_t ppm; bool longer, other, saved; };
static struct { NSX_VEC(struct step) step; int64_t now; } plan;

/* "A:B" as two numbers; false if the text is anything else. */
static bool
pair(const char *text, int64_t *a, int64_t *b)
{
	char *end;

	*a = strtoll(text, &end, 10);
	if (end == text || *end != ':' || *a < 0)
		return false;
	text = end + 1;
	*b = strtoll(text, &end, 10);
	return end != text && !*end && *b >= 0 && *b <= 1000000000;
}

bool
syn_vary_check(const char **why)
{
	const struct syn_opts *o = &syn_opt;
	int64_t a, b;

	if (o->slow_device && (!pair(o->slow_device, &a, &b) || a >= o->procs * o->devices))
		*why = "--slow-device: want DEVICE:PERCENT of a device of the job";
	else if (o->late_rack && (!pair(o->late_rack, &a, &b) || a >= o->racks))
		*why = "--late-rack: want RACK:NS of one of the --racks";
	else if (o->alternate && (!pair(o->alternate, &a, &b) || a < 2))
		*why = "--alternate: want N:PERCENT, N of 2 or more";
	else if (o->racks && (o->one_export || (o->hosts ? o->hosts : o->procs) % o->racks))
		*why = "--racks: want as many hosts in each";
	else
		return true;
	return false;
}

static bool
uneven(void)
{
	return syn_opt.vary || syn_opt.alternate || syn_opt.evaluate || syn_opt.checkpoint;
}

/* A number of about normal distribution with mean 0 and standard deviation 1,000,000: the sum of twelve uniform ones. */
static int64_t
normal(uint64_t *state)
{
	int64_t sum = -6 * (int64_t)MILLION;

	for (int i = 0; i < 12; i++) {
		*state += 0x9e3779b97f4a7c15ULL;
		sum += (int64_t)(nsx_hash_u64(*state) % (MILLION + 1));
	}
	return sum;
}

/* Drift is autoregressive of order 1: x' = 0.9 x + sqrt(1 - 0.9^2) e, whose standard deviation is that of e. In
 * integers, so that every machine computes the same. */
static void
draw(void)
{
	int64_t seed = syn_opt.vary_seed >= 0 ? syn_opt.vary_seed : syn_opt.seed;
	uint64_t state = (uint64_t)seed * 0xd1342543de82ef95ULL + 29;
	int64_t x = normal(&state), every = 0, percent = 0;

	if (syn_opt.alternate)
		pair(syn_opt.alternate, &every, &percent);
	for (int64_t k = 0; k < syn_opt.steps; k++) {
		struct step s = { MILLION, false, false, false };

		if (k)
			x = (9 * x + normal(&state) * 4358899 / 1000000) / 10;
		s.ppm += x * syn_opt.vary / 100;
		if (s.ppm < MILLION / 10)
			s.ppm = MILLION / 10;
		s.longer = every && k % every == every - 1;
		if (s.longer)
			s.ppm = s.ppm * (100 + percent) / 100;
		s.other = syn_opt.evaluate && k % syn_opt.evaluate == syn_opt.evaluate - 1;
		s.saved = syn_opt.checkpoint && k % syn_opt.checkpoint == syn_opt.checkpoint - 1;
		syn_add(&plan.step, s);
	}
}

void
syn_vary_people(struct syn_plan *p)
{
	int64_t slow, percent;

	plan.now = -1;
	if (uneven())
		draw();
	if (!syn_opt.slow_device)
		return;
	/* The others are equally fast: the percentage is that of the truth. */
	pair(syn_opt.slow_device, &slow, &percent);
	for (uint32_t d = 0; d < p->dev.n; d++) {
		p->dev.p[d].slow = 0;
		p->dev.p[d].percent = p->dev.p[d].global == slow ? percent : 0;
	}
}

int64_t
syn_vary(const struct syn_plan *p, uint32_t dev, int64_t ns)
{
	if (plan.now >= 0 && plan.step.n)
		ns = ns * plan.step.p[plan.now].ppm / MILLION;
	return ns + ns * p->dev.p[dev].percent / 100;
}

void
syn_contend_comm(struct syn_dev *d, int64_t from, int64_t to)
{
	uint32_t at = d->ncomm++ % 4;

	d->comm_of[at].from = from;
	d->comm_of[at].to = to;
}

int64_t
syn_contend(struct syn_dev *d, int64_t start, int64_t ns)
{
	int64_t more = ns * syn_opt.contend / 100;

	for (uint32_t i = 0; more && i < 4 && i < d->ncomm; i++)
		if (start < d->comm_of[i].to && start + ns > d->comm_of[i].from) {
			d->contended++;
			d->contended_ns += more;
			return ns + more;
		}
	return ns;
}

void
syn_vary_step(int64_t k)
{
	plan.now = k;
}

bool
syn_vary_other(void)
{
	return plan.now >= 0 && plan.step.n && plan.step.p[plan.now].other;
}

/* ---- racks */

/* Exports are hosts, counted as processes are. */
static int64_t
host_of(uint32_t proc)
{
	return syn_opt.hosts ? (int64_t)proc / (syn_opt.procs / syn_opt.hosts) : (int64_t)proc;
}

static int64_t
rack_of(uint32_t proc)
{
	return host_of(proc) / ((syn_opt.hosts ? syn_opt.hosts : syn_opt.procs) / syn_opt.racks);
}

const char *
syn_host_name(struct syn_plan *p, uint32_t proc)
{
	if (!syn_opt.racks)
		return "node";
	return syn_fmt(p, "rack%" PRId64 "-node%03" PRId64, rack_of(proc), host_of(proc));
}

static int64_t
late_by(uint32_t proc)
{
	int64_t rack, ns;

	return syn_opt.late_rack && pair(syn_opt.late_rack, &rack, &ns) && rack_of(proc) == rack ? ns : 0;
}

void
syn_vary_before(struct syn_plan *p, uint32_t dev)
{
	struct syn_dev *d = &p->dev.p[dev];
	int64_t ns = late_by(d->proc);

	if (!ns)
		return;
	struct syn_thread *th = &p->proc.p[d->proc].thread.p[d->thread];
	int64_t free_at = d->compute > d->comm ? d->compute : d->comm;

	/* From the moment when its GPU has nothing to do: otherwise a host that runs ahead would catch up. */
	syn_push(p, d->proc, d->thread, SYN_DEFAULT, syn_name(p, "read_shard"), false);
	th->now = (th->now > free_at ? th->now : free_at) + ns;
	syn_pop(p, d->proc, d->thread);
}

/* ---- checkpoints */

void
syn_vary_after(struct syn_plan *p, uint32_t dev)
{
	struct syn_dev *d = &p->dev.p[dev];
	struct syn_thread *th = &p->proc.p[d->proc].thread.p[d->thread];
	struct syn_op op = { .dev = dev, .stream = syn_opt.torch ? 7 : 13, .type = SYN_MEMCPY, .copy_kind = 2,
	                     .bytes = CHECKPOINT_BYTES, .pinned = true, .short_name = SYN_NONE };
	uint32_t wait;

	if (plan.now < 0 || !plan.step.n || !plan.step.p[plan.now].saved)
		return;
	syn_push(p, d->proc, d->thread, SYN_DEFAULT, syn_name(p, "save_checkpoint"), false);
	op.name = syn_name(p, "[CUDA memcpy Device-to-Host]");
	op.call = syn_call(p, d->proc, d->thread, "cudaMemcpyAsync_v3020", 2500);
	op.start = p->call.p[op.call].end + 1200;
	op.start = op.start > d->compute ? op.start : d->compute;
	op.start = op.start > d->comm ? op.start : d->comm;
	op.end = op.start + CHECKPOINT_COPY;
	d->compute = op.end + 600;
	d->step_end = d->compute;
	syn_op(p, op);
	wait = syn_call(p, d->proc, d->thread, "cudaStreamSynchronize_v3020", 1500);
	if (th->now < op.end + 3000)
		th->now = p->call.p[wait].end = op.end + 3000;
	th->now += CHECKPOINT_WRITE;
	syn_pop(p, d->proc, d->thread);
}

/* ---- answers */

static void
answer_steps(void)
{
	struct syn_tsv t;

	syn_tsv_open(&t, "steps", "step\tkind\tfactor_ppm\tcheckpoint");
	for (size_t k = 0; k < plan.step.n; k++) {
		const struct step *s = &plan.step.p[k];

		syn_tsv_row(&t, "%zu\t%s\t%" PRId64 "\t%d", k, s->other ? "evaluation" : s->longer ? "long" : "train", s->ppm,
		            s->saved);
	}
	syn_tsv_close(&t);
}

void
syn_vary_answers(struct syn_plan *p)
{
	struct syn_tsv t;

	if (syn_opt.slow_device) {
		syn_tsv_open(&t, "slow_device", "device\tpercent");
		for (uint32_t d = 0; d < p->dev.n; d++)
			syn_tsv_row(&t, "%d\t%" PRId64, p->dev.p[d].global, p->dev.p[d].percent);
		syn_tsv_close(&t);
	}
	if (syn_opt.contend) {
		syn_tsv_open(&t, "contended", "device\tpercent\tkernels\tlonger_ns");
		for (uint32_t d = 0; d < p->dev.n; d++)
			syn_tsv_row(&t, "%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64, p->dev.p[d].global, syn_opt.contend,
			            p->dev.p[d].contended, p->dev.p[d].contended_ns);
		syn_tsv_close(&t);
	}
	if (syn_opt.racks) {
		syn_tsv_open(&t, "racks", "device\thost\track\tlate");
		for (uint32_t d = 0; d < p->dev.n; d++) {
			uint32_t proc = p->dev.p[d].proc;

			syn_tsv_row(&t, "%d\t%s\t%" PRId64 "\t%" PRId64, p->dev.p[d].global, syn_host_name(p, proc), rack_of(proc),
			            late_by(proc));
		}
		syn_tsv_close(&t);
	}
	if (uneven())
		answer_steps();
	free(plan.step.p);
}
