/* comm_ranges.c -- the collectives that NVTX ranges name: PyTorch puts ranges around its calls of NCCL, and these say
 * what a kernel executes where its own name does not. Without payloads, an all-to-all of PyTorch is otherwise known as
 * sends and receives only.
 *
 *     nccl:all_to_all   ncclGroupEnd   cudaLaunchKernel: ncclDevKernel_SendRecv   ->   all-to-all
 */
#include <stdlib.h>

#include "extract/profile.h"
#include "job/comm/names.h"

struct naming {
	struct ex_profile *p;
	struct nsx_buf     text;
	uint32_t          *near;       /* by range: one more than the index of the nearest range, from it outwards, that
	                                * names a collective; NSX_NONE: none does; 0: not known yet. NULL: no range was
	                                * examined */
	uint32_t           last;       /* the range that was examined last; below, the result for it and the ranges
	                                * around it */
	uint32_t           says;       /* the range that names a collective; NSX_NONE: none */
	int                number;
	int64_t            unnamed, contrary;
	uint32_t           contrary_op, contrary_range;   /* the first of them */
};

uint32_t
nsx_extract_range_around(const struct nsx_trace *t, uint64_t gtid, int64_t time)
{
	uint32_t at = nsx_trace_thread_at(t, gtid);

	if (at == NSX_NONE)
		return NSX_NONE;
	uint32_t first = t->threads[at].first, lo = first, hi = first + t->threads[at].n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (t->ranges[mid].start <= time)
			lo = mid + 1;
		else
			hi = mid;
	}
	uint32_t r = lo > first ? lo - 1 : NSX_NONE;
	while (r != NSX_NONE && t->ranges[r].end <= time)
		r = t->ranges[r].parent;
	return r;
}

/* The range in which the operation was launched or, in a CUDA graph, captured. */
static uint32_t
range_of(const struct nsx_trace *t, const struct nsx_gpu_op *op)
{
	if (op->graph_node == -1)
		return op->range;
	const struct nsx_capture *c = nsx_capture_of(t, t->processes[t->devices[op->device].process].gpid,
	                                             op->graph_node);
	return c ? nsx_extract_range_around(t, c->gtid, c->start) : NSX_NONE;
}

/* The collective that the name of a range states; -1 when out of memory. */
static int
said(struct naming *n, uint32_t r)
{
	const struct nsx_trace *t = &n->p->trace;

	if (t->ranges[r].name == NSX_NONE)
		return NSX_COMM_NO_RANGE;
	struct nsx_str name = nsx_range_name(t, &t->ranges[r], &n->text);
	return name.ptr ? nsx_comm_by_range(name) : -1;
}

/* Find the nearest range from r outwards that names a collective; false when out of memory. Each range is visited once,
 * however deep they nest. */
static bool
look(struct naming *n, uint32_t r)
{
	const struct nsx_trace *t = &n->p->trace;
	uint32_t at = r, near = NSX_NONE;
	int number = NSX_COMM_NO_RANGE;

	if (r == n->last)
		return true;
	n->last = r;
	n->number = NSX_COMM_NO_RANGE;
	if (r == NSX_NONE)
		return true;
	if (!n->near && !(n->near = calloc(t->nranges, sizeof *n->near)))
		return false;
	for (; at != NSX_NONE && !n->near[at]; at = t->ranges[at].parent)
		if ((number = said(n, at)) != NSX_COMM_NO_RANGE)
			break;
	if (number < 0)
		return false;
	if (number != NSX_COMM_NO_RANGE)
		near = at + 1;
	else if (at != NSX_NONE)
		near = n->near[at];
	for (; r != NSX_NONE && !n->near[r]; r = t->ranges[r].parent) {
		n->near[r] = near;
		if (r == at)
			break;
	}
	n->says = near == NSX_NONE ? NSX_NONE : near - 1;
	n->number = near == NSX_NONE ? NSX_COMM_NO_RANGE : number != NSX_COMM_NO_RANGE ? number : said(n, n->says);
	return n->number >= 0;
}

static bool
name_op(struct naming *n, uint32_t i)
{
	const struct nsx_gpu_op *op = &n->p->trace.ops[i];
	const char *kernel = nsx_extract_op_kind(n->p, i);

	if (op->type != NSX_OP_KERNEL || !kernel || nsx_extract_op_thunk(n->p, i) != NSX_NONE)
		return true;
	if (!look(n, range_of(&n->p->trace, op)))
		return false;
	const char *kind = nsx_comm_range_kind(n->number);
	if (kind && nsx_comm_can_run(kernel, kind)) {
		n->p->op_named[i] = (uint8_t)n->number;
	} else if (kind && nsx_comm_is_range_kind(kernel) && !n->contrary++) {
		n->contrary_op = i;
		n->contrary_range = n->says;
	}
	n->unnamed += n->number == NSX_COMM_NO_RANGE && nsx_comm_is_open(kernel);
	return true;
}

static bool
report(struct naming *n)
{
	enum { MOST = 200 };
	struct ex_profile *p = n->p;
	const struct nsx_trace *t = &p->trace;

	if (n->contrary) {
		struct nsx_str op = nsx_intern_str(&t->names, t->ops[n->contrary_op].name),
		    range = nsx_range_name(t, &t->ranges[n->contrary_range], &n->text);
		if (!range.ptr)
			return false;
		nsx_diag_add(&p->diags, NSX_WARNING, t->name.ptr, n->contrary,
			"kernels whose name and the NVTX range around their launch name different collectives: the "
			"kernel's name is used; the first is '%.*s' in '%.*s'", (int)(op.len < MOST ? op.len : MOST),
			op.ptr,
			(int)(range.len < MOST ? range.len : MOST), range.ptr);
	}
	if (p->opts->ranges == NSX_RANGES_NONE)
		nsx_diag_add(&p->diags, NSX_INFO, t->name.ptr, n->unnamed,
			"kernels of NCCL whose names do not say which collective they execute: --ranges reads the NVTX "
			"ranges of PyTorch, which may say it");
	else
		nsx_diag_add(&p->diags, NSX_INFO, t->name.ptr, n->unnamed,
			"kernels of NCCL whose names do not say which collective they execute, in no NVTX range that "
			"does: PyTorch records such ranges under torch.autograd.profiler.emit_nvtx()");
	return true;
}

int
nsx_extract_name_comm(struct ex_profile *p)
{
	struct naming n = { .p = p, .last = NSX_NONE };
	bool good = true;

	if (!p->opts->ops || !p->trace.nops)
		return NSX_OK;
	p->op_named = calloc((size_t)p->trace.nops + 1, sizeof *p->op_named);
	good = p->op_named != NULL;
	for (uint32_t i = 0; good && i < p->trace.nops; i++)
		good = name_op(&n, i);
	good = good && report(&n);
	free(n.near);
	nsx_buf_free(&n.text);
	return good ? NSX_OK : nsx_err_nomem(&p->err, p->input->path);
}

const char *
nsx_extract_op_named(const struct ex_profile *p, uint32_t i)
{
	return p->op_named ? nsx_comm_range_kind(p->op_named[i]) : NULL;
}
