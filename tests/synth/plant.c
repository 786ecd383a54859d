/* plant.c -- --plant: one cause that makes every step of the job slow, and the expected diagnosis.
 *
 *   slow-collective   a reduce-scatter takes ten times as long as equal ones
 *   late-host         the last process loads a batch before each step, while its devices and then all others wait
 *   blocking          every host reads the loss of each step by a copy that blocks, and writes a log, then continues
 *   straggler         the last device computes slower than the others
 *   layout            arrays are transposed for a long time in every layer */
#include <string.h>

#include "synth.h"

enum { LOAD = 2500000, LOG = 900000, SLOWER = 600 };

bool
syn_planted(const char *what)
{
	return syn_opt.plant && strcmp(syn_opt.plant, what) == 0;
}

bool
syn_in_lockstep(void)
{
	const struct syn_opts *o = &syn_opt;

	return o->torch && (o->plant || o->slow_device || o->racks || o->vary || o->contend || o->alternate || o->evaluate || o->checkpoint || o->memory);
}

bool
syn_plant_known(const char *what)
{
	static const char *const all[] = { "slow-collective", "late-host", "blocking", "straggler", "layout" };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(all[i], what) == 0)
			return true;
	return false;
}

static const char *subject = "";   /* its subject */

void
syn_plant_subject(const char *what)
{
	subject = what;
}

void
syn_plant_costs(struct syn_program *pr)
{
	struct syn_inst *one = NULL;

	for (size_t i = 0; i < pr->inst.n; i++) {
		struct syn_inst *in = &pr->inst.p[i];

		if (syn_planted("layout") && strncmp(in->name, "wrapped_transpose", strlen("wrapped_transpose")) == 0) {
			in->cost *= 26;
			subject = "wrapped_transpose";
		}
		if (in->collective && strcmp(in->collective, "reduce-scatter") == 0 && in->group == SYN_WORLD)
			one = in;
	}
	if (syn_planted("slow-collective") && one) {
		one->cost *= 10;
		subject = one->name;
	}
}

void
syn_plant_people(struct syn_plan *p)
{
	if (!syn_planted("straggler"))
		return;
	p->dev.p[p->dev.n - 1].slow += SLOWER;
	subject = syn_fmt(p, "device %d", p->dev.p[p->dev.n - 1].global);
}

static void
work(struct syn_plan *p, uint32_t dev, const char *range, int64_t ns)
{
	struct syn_dev *d = &p->dev.p[dev];

	syn_push(p, d->proc, d->thread, SYN_DEFAULT, syn_name(p, range), false);
	p->proc.p[d->proc].thread.p[d->thread].now += ns;
	syn_pop(p, d->proc, d->thread);
}

void
syn_plant_before(struct syn_plan *p)
{
	if (!syn_planted("late-host"))
		return;
	subject = "load_batch";
	for (uint32_t d = 0; d < p->dev.n; d++)
		if (p->dev.p[d].proc == p->proc.n - 1)
			work(p, d, subject, LOAD);
}

bool
syn_plant_after(struct syn_plan *p, uint32_t dev)
{
	struct syn_dev *d = &p->dev.p[dev];
	struct syn_thread *th = &p->proc.p[d->proc].thread.p[d->thread];
	struct syn_op op = { .dev = dev, .stream = syn_opt.torch ? 7 : 13, .type = SYN_MEMCPY, .copy_kind = 2, .bytes = 4,
	                     .short_name = SYN_NONE };

	if (!syn_planted("blocking"))
		return false;
	subject = "cudaMemcpy";
	op.name = syn_name(p, "[CUDA memcpy Device-to-Host]");
	op.call = syn_call(p, d->proc, d->thread, "cudaMemcpy_v3020", 2000);
	op.start = p->call.p[op.call].end + 1200;
	op.start = op.start > d->compute ? op.start : d->compute;
	op.start = op.start > d->comm ? op.start : d->comm;
	op.end = op.start + 1500;
	d->compute = op.end + 600;
	d->step_end = d->compute;
	syn_op(p, op);
	/* The call returns when the copy is done. */
	th->now = p->call.p[op.call].end = op.end + 3000;
	work(p, dev, "write_log", LOG);
	return true;
}

void
syn_plant_answer(void)
{
	struct syn_tsv t;

	syn_tsv_open(&t, "planted", "finding\tsubject");
	syn_tsv_row(&t, "%s\t%s", syn_opt.plant, subject);
	syn_tsv_close(&t);
}
