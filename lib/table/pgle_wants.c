/* pgle_wants.c -- the instructions that XLA's profile-guided latency estimator, and the checker of its accuracy, look
 * up in a profile.
 *
 * These are all scheduled instructions except those that never take time (parameters, constants, tuples and their
 * elements, bitcasts, whiles, ids) and collectives, which are looked up as latencies from start to done and guessed if
 * the profile has none. Among them are instructions that no profile of a run can have: conditions of unrolled loops,
 * the -done of a -start, buffers that are allocated, branches not taken. An async-start is looked up by its own name,
 * while a profile has the instruction that it wraps. For example
 *
 *     dynamic-slice-start   async-start of wrapped_dynamic-slice, which took 12 us      12 us, as wrapped_dynamic-slice
 *     dynamic-slice-done    its end                                                      0
 *     fusion.4              took 7 us                                                    has its cost
 *     compare.9             condition of a loop, never ran                               0
 *     all-reduce-start.2    in a branch not taken                                        none */
#include "table/pgle_wants.h"

#include <stdlib.h>

static struct nsx_str
scheduled_name(const struct nsx_hlo_inst *i)
{
	return i->scheduling_name.len ? i->scheduling_name : i->name;
}

static bool
never_takes_time(struct nsx_str opcode)
{
	static const char *const names[] = { "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "while",
	                                     "partition-id", "replica-id" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (nsx_str_eq(opcode, nsx_str_c(names[i])))
			return true;
	return false;
}

/* The instruction that an async-start, -update or -done runs; NULL: it is not one, or calls several. */
static const struct nsx_hlo_inst *
wrapped_by(const struct nsx_hlo *h, const uint32_t *root, const struct nsx_hlo_inst *i)
{
	uint32_t c = nsx_str_starts(i->opcode, "async-") && i->ncalls == 1 ? h->calls[i->calls] : NSX_NONE;

	return c == NSX_NONE || root[c] == NSX_NONE ? NULL : &h->insts[root[c]];
}

/* Whether it ends a collective that runs asynchronously. */
static bool
ends_collective(const struct nsx_hlo_inst *i, const struct nsx_hlo_inst *wrapped)
{
	static const char *const names[] = { "all-gather-done", "all-reduce-done", "collective-permute-done",
	                                     "recv-done",
	                                     "send-done" };

	for (size_t n = 0; n < sizeof names / sizeof *names; n++)
		if (nsx_str_eq(i->opcode, nsx_str_c(names[n])))
			return true;
	return nsx_str_eq(i->opcode, NSX_STR("async-done")) && wrapped && wrapped->comm;
}

bool
nsx_pgle_ask(const struct nsx_hlo *h, struct nsx_pgle_wants *w)
{
	uint32_t *root = malloc((h->ncontents + 1) * sizeof *root);   /* by computation: its result */
	bool ok = root != NULL;

	for (uint32_t c = 0; ok && c < h->ncontents; c++)
		root[c] = NSX_NONE;
	for (uint32_t i = 0; ok && i < h->ninsts; i++)
		if (h->insts[i].root)
			root[h->insts[i].comp] = i;
	for (uint32_t i = 0; ok && i < h->ninsts; i++) {
		const struct nsx_hlo_inst *inst = &h->insts[i];
		const struct nsx_hlo_inst *wrapped = wrapped_by(h, root, inst);
		if (!inst->scheduled || never_takes_time(inst->opcode) || ends_collective(inst, wrapped))
			continue;
		struct nsx_pgle_want want = { scheduled_name(inst), { "", 0 }, !inst->comm };
		if (wrapped && nsx_str_eq(inst->opcode, NSX_STR("async-start")))
			want.wrapped = scheduled_name(wrapped);
		ok = nsx_vec_push(&w->v, want);
	}
	free(root);
	return ok;
}
