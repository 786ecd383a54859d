/* heap.c -- memory of a program's instructions, generated from the lifetime of each buffer; its peak follows from that
 * alone. */
#include <inttypes.h>
#include <stdlib.h>

#include "synth.h"

/* The lifetime of a buffer: from the event that adds it to the event that frees it (0: never). */
struct life { int64_t size, from, to; };

static void
event(struct syn_trace *t, int kind, int64_t buffer, int64_t shares, uint32_t inst)
{
	syn_add(&t->event, ((struct syn_event){ kind, buffer, shares, inst }));
}

static void
measure(struct syn_trace *t, const struct life *v, size_t n)
{
	int64_t *change = syn_check(calloc(t->event.n + 2, sizeof *change)), now = 0;

	t->points = 1;
	for (size_t i = 0; i < n; i++) {
		if (!v[i].from)
			continue;
		change[v[i].from] += v[i].size;
		change[v[i].to] -= v[i].to ? v[i].size : 0;
		t->points += 1 + (v[i].to != 0);
	}
	for (size_t e = 1; e <= t->event.n; e++) {
		now += change[e];
		t->peak = now > t->peak ? now : t->peak;
	}
	free(change);
}

static void
reserve(struct syn_trace *t, uint64_t h)
{
	t->arguments = 1000 + (int64_t)(h % 90001);
	t->outputs = 2000 + (int64_t)(h / 7 % 80001);
	t->shared = (int64_t)(h / 11 % 1001);
	t->constants = (int64_t)(h / 13 % 50);
	t->local = (int64_t)(h / 17 % 3000);
	t->slack = (int64_t)(h / 19 % 5000);
}

/* Each instruction of the list writes a buffer, some into the buffer of the previous instruction; buffer i belongs to
 * instruction i. */
static void
use(uint32_t prog, const uint32_t *inst, size_t n, uint64_t salt, struct syn_trace *t)
{
	struct life *life = syn_check(calloc(n + 1, sizeof *life));
	size_t *owner = syn_check(calloc(n + 1, sizeof *owner)), *last = syn_check(calloc(n + 1, sizeof *last)), *users = syn_check(calloc(n + 1, sizeof *users));

	for (size_t i = 0; i < n; i++) {
		uint64_t h = nsx_hash_u64(salt + 1000003 * prog + i);
		bool shares = i > 0 && h % 5 == 0 && owner[i - 1] == i - 1;

		owner[i] = shares ? i - 1 : i;
		last[i] = i + 1 + h / 5 % 4;
		users[owner[i]]++;
		syn_add(&t->size, (int64_t)(256 * (1 + h / 20 % 5000)));
		life[i].size = t->size.p[i];
	}
	for (size_t i = 0; i < n; i++) {
		event(t, owner[i] == i ? 0 : 2, (int64_t)i, owner[i] == i ? 0 : (int64_t)owner[i], inst[i]);
		if (owner[i] == i)
			life[i].from = (int64_t)t->event.n;
		/* Buffers that outlive the program are never freed. */
		for (size_t k = i > 5 ? i - 5 : 0; k < i; k++)
			if (last[k] == i) {
				event(t, 1, (int64_t)k, 0, inst[i]);
				if (--users[owner[k]] == 0)
					life[owner[k]].to = (int64_t)t->event.n;
			}
	}
	measure(t, life, n);
	reserve(t, nsx_hash_u64(salt + 7 * prog));
	free(users);
	free(last);
	free(owner);
	free(life);
}

int
syn_heap(struct syn_plan *p, uint32_t prog, struct syn_trace trace[2])
{
	const struct syn_program *pr = &p->prog.p[prog];
	uint32_t *inst = syn_check(malloc((pr->inst.n + 1) * sizeof *inst));
	size_t n = 0;
	int traces = pr->spread ? 2 : 1;

	trace[0] = trace[1] = (struct syn_trace){ { 0 }, { 0 }, .color = 0 };
	trace[1].color = (const int64_t[]){ 5, 1, 7 }[prog % 3];
	for (uint32_t i = 0; i < pr->inst.n; i++)
		if (pr->inst.p[i].home == 0 && syn_dumped(&pr->inst.p[i]))
			inst[n++] = i;
	for (int k = 0; k < traces; k++)
		use(prog, inst, k ? (n + 1) / 2 : n, (uint64_t)syn_opt.seed * 77 + (uint64_t)k, &trace[k]);
	free(inst);
	return traces;
}

void
syn_heap_answers(struct syn_plan *p)
{
	static const char *const names[] = { "device", "collective", [5] = "host", [7] = "S(7)" };
	struct syn_tsv t, m;

	/* Ids as process 0 has them. */
	syn_tsv_open(&t, "heap", "program_id\tname\ttrace\tpeak\tpoints\tevents\tmemory");
	syn_tsv_open(&m, "memory", "program_id\tname\tmemory\targuments\toutputs\taliased\tconstants\ttemp\theap\tpeak\tfragmentation");
	for (uint32_t g = 0; g < p->prog.n; g++) {
		struct syn_trace trace[2];

		for (int k = 0, n = syn_heap(p, g, trace); k < n; k++) {
			const struct syn_trace *c = &trace[k];
			int64_t id = syn_program_id(0, &p->prog.p[g]);
			syn_tsv_row(&t, "%" PRId64 "\t%s\t%d\t%" PRId64 "\t%" PRId64 "\t%zu\t%s", id, p->prog.p[g].name, k, c->peak, c->points, c->event.n,
			            names[c->color]);
			syn_tsv_row(&m, "%" PRId64 "\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64,
			            id, p->prog.p[g].name, names[c->color], c->arguments, c->outputs, c->shared, c->constants, c->peak + c->slack, c->peak,
			            c->peak + (c->arguments - c->shared) + c->outputs + c->constants, c->slack);
			free(trace[k].size.p);
			free(trace[k].event.p);
		}
	}
	syn_tsv_close(&t);
	syn_tsv_close(&m);
}
