/* serve.c -- what the steps of a server of language models are called, and what they do, as planned. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "torch.h"

/* A step of a device; its operations are first .. last - 1 of the plan. keys, pairs: NAME of vllm-sums tells. */
struct served { uint32_t dev, range; size_t first, last; int takes, has; int64_t keys, pairs; };
static NSX_VEC(struct served) all;

enum { PROMPT = 512 };

/* Sums over running requests, the i-th of which has 700 + 10 i + k tokens. */
static int64_t
keys_of(int64_t k, int has)
{
	int64_t sum = 0;

	for (int i = 0; i < has; i++)
		sum += 700 + 10 * i + k;
	return sum;
}

uint32_t
torch_serving(struct torch *t, int64_t k, int takes, int has)
{
	struct syn_plan *p = t->p;
	int64_t running = keys_of(k, has), prompts = (int64_t)PROMPT * takes, squares = (int64_t)PROMPT * PROMPT * takes;
	struct served s = { .dev = t->dev, .range = (uint32_t)p->range.n, .first = p->op.n, .takes = takes, .has = has,
	                    .keys = prompts + running, .pairs = (int64_t)takes * PROMPT * (PROMPT + 1) / 2 + running };

	syn_add(&all, s);
	if (strcmp(syn_opt.torch, "vllm") == 0)
		return syn_namef(p, "execute_context_%d(%d)_generation_%d(%d)", takes, PROMPT * takes, has, has);
	if (strcmp(syn_opt.torch, "vllm-sums") == 0)
		return syn_namef(p, "execute_%d_context_%d(sq%lldsk%lldsqsq%lldsqsk%lld)_generation_%d(sq%dsk%lldsqsq%dsqsk%lld)", PROMPT * takes + has, takes,
		                 (long long)prompts, (long long)prompts, (long long)squares, (long long)squares, has, has, (long long)running, has,
		                 (long long)running);
	if (strcmp(syn_opt.torch, "sglang") == 0)
		return takes ? syn_namef(p, "step[EXTEND bs=%d toks=%d]", takes, PROMPT * takes) : syn_namef(p, "step[DECODE bs=%d]", has);
	return syn_namef(p, "[Executor] _forward_step %lld: %d ctx reqs, %d ctx tokens, %d gen reqs", (long long)k, takes, PROMPT * takes, has);
}

void
torch_served(struct torch *t)
{
	all.p[all.n - 1].last = t->p->op.n;
}

void
torch_serving_answers(struct syn_plan *p)
{
	struct syn_tsv t;

	if (!all.n)
		return;
	syn_tsv_open(&t, "serving", "device\tphase\trequests\ttokens\tstart\tend\thost_dur\tpairs");
	for (size_t i = 0; i < all.n; i++) {
		const struct served *s = &all.p[i];
		/* SGLang's name tells of one kind of requests only. */
		bool extend = strcmp(syn_opt.torch, "sglang") == 0 && s->takes, sums = strcmp(syn_opt.torch, "vllm-sums") == 0;
		int has = extend ? 0 : s->has;
		const struct syn_range *r = &p->range.p[s->range];
		int64_t start = INT64_MAX, end = INT64_MIN;

		for (size_t k = s->first; k < s->last; k++) {
			uint32_t proc = p->dev.p[p->op.p[k].dev].proc;

			if (p->op.p[k].gone)
				continue;
			if (syn_local(p, proc, p->op.p[k].start) < start)
				start = syn_local(p, proc, p->op.p[k].start);
			if (syn_local(p, proc, p->op.p[k].end) > end)
				end = syn_local(p, proc, p->op.p[k].end);
		}
		syn_tsv_row(&t, "%d\t%s\t%d\t%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%s", p->dev.p[s->dev].global,
		            s->takes ? has ? "mixed" : "prefill" : "decode", s->takes + has, PROMPT * s->takes + has, start, end, r->lend - r->lstart,
		            sums ? syn_fmt(p, "%lld", (long long)s->pairs) : "");
	}
	syn_tsv_close(&t);
	free(all.p);
}
