/* comm.c -- recognises communication in an export by names of kernels: operations, and instructions by the kernels that
 * they ran; and which thunks only copy. Each distinct name is classified once. */
#include "extract/profile.h"

#include <stdlib.h>

#include "job/comm/names.h"

uint32_t
nsx_extract_op_thunk(const struct ex_profile *p, uint32_t i)
{
	uint32_t range = p->trace.ops[i].range;

	if (p->op_thunk && p->op_thunk[i] != NSX_NONE)
		return p->op_thunk[i];
	return range != NSX_NONE && p->thunk_at ? p->thunk_at[range] : NSX_NONE;
}

const char *
nsx_extract_op_kind(const struct ex_profile *p, uint32_t i)
{
	const struct nsx_gpu_op *op = &p->trace.ops[i];

	if (op->type == NSX_OP_KERNEL)
		return op->name == NSX_NONE ? NULL : p->kernel_kind[op->name];
	return op->peer ? "p2p-copy" : NULL;
}

/* Fill kernel_kind. */
static bool
judge_names(struct ex_profile *p)
{
	const struct nsx_trace *t = &p->trace;
	bool *seen = calloc(t->names.n + (size_t)1, sizeof *seen), good;

	p->kernel_kind = calloc(t->names.n + (size_t)1, sizeof *p->kernel_kind);
	good = seen && p->kernel_kind;
	for (uint32_t i = 0; i < t->nops && good; i++) {
		uint32_t name = t->ops[i].name;
		if (t->ops[i].type != NSX_OP_KERNEL || name == NSX_NONE || seen[name])
			continue;
		seen[name] = true;
		p->kernel_kind[name] = nsx_comm_by_kernel(&p->opts->comm, nsx_intern_str(&t->names, name), &p->scratch);
		good = !p->scratch.failed;
	}
	free(seen);
	return good;
}

/* Instructions whose kernels all communicate, of the kind of the first; and what thunks consist of. */
static bool
judge_thunks(struct ex_profile *p)
{
	bool *computes = calloc(p->insts.n + 1, sizeof *computes);

	for (uint32_t i = 0; computes && i < p->trace.nops; i++) {
		enum nsx_op_type type = p->trace.ops[i].type;
		uint32_t thunk = nsx_extract_op_thunk(p, i);
		if (thunk == NSX_NONE)
			continue;
		uint32_t inst = p->thunks.p[thunk].inst;
		const char *kind = nsx_extract_op_kind(p, i);
		if (!kind && (type == NSX_OP_MEMCPY || type == NSX_OP_MEMSET))
			p->thunks.p[thunk].copies = true;
		else
			p->thunks.p[thunk].works = true;
		if (type != NSX_OP_KERNEL)
			continue;
		if (!kind) {
			computes[inst] = true;
			p->insts.p[inst].kernels = NULL;
		} else if (!computes[inst] && !p->insts.p[inst].kernels) {
			p->insts.p[inst].kernels = kind;
		}
	}
	free(computes);
	return computes != NULL;
}

/* Graphs that were traced as a whole: their operations are unknown. */
static void
report_wholes(struct ex_profile *p)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < p->trace.nops; i++)
		n += p->trace.ops[i].type == NSX_OP_GRAPH;
	nsx_diag_add(&p->diags, NSX_INFO, p->trace.name.ptr, n,
		"CUDA graphs recorded as a whole count as computation, regardless of their contents; "
		"--cuda-graph-trace=node of "
		"nsys records their nodes");
}

int
nsx_extract_find_comm(struct ex_profile *p)
{
	struct nsx_trace *t = &p->trace;

	if (!t->nops)
		return NSX_OK;
	if (!judge_names(p) || !judge_thunks(p))
		return nsx_err_nomem(&p->err, p->input->path);
	if (p->opts->ops) {
		report_wholes(p);
	} else {
		/* They were needed for this only, and are not written. */
		free(t->ops);
		t->ops = NULL;
	}
	return NSX_OK;
}
