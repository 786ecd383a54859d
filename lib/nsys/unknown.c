/* unknown.c -- overheads whose kind the export does not tell. Some have a name that is the profiler's. One that lies
 * within the first launch of a kernel in its process is loading: CUDA loads the code of a kernel when it is first
 * needed. What remains is unknown, and no part of the time that it covers is attributed to it. */
#include <stdlib.h>

#include "base/sort.h"
#include "nsys/host.h"

static bool
is_profiler(struct nsx_str name)
{
	return nsx_str_starts(name, "CUDA profiling") || nsx_str_starts(name, "CUPTI")
	       || nsx_str_has(name, "profiling initialization");
}

/* The first launches of all kernels, each by thread and start, in *n elements: number of the issue. NULL when out of
 * memory. */
static struct nsx_sort_key *
first_launches(const struct nsx_trace *t, size_t *n)
{
	struct nsx_map of = { 0 };   /* (process, name) -> element */
	struct nsx_sort_key *first = malloc(((size_t)t->nops + 1) * sizeof *first);
	bool good = first != NULL;

	*n = 0;
	for (uint32_t i = 0; i < t->nops && good; i++) {
		const struct nsx_gpu_op *op = &t->ops[i];

		if (op->type != NSX_OP_KERNEL || op->launch == NSX_NONE)
			continue;
		const struct nsx_issue *is = &t->issues[op->launch];
		uint32_t at = nsx_map_number(&of, (struct nsx_key){ is->gtid & ~(uint64_t)0xFFFFFF, op->name });

		good = at != NSX_NONE;
		if (!good)
			break;
		if (at == *n)
			(*n)++;
		else if (first[at].k[1] <= is->start)
			continue;
		first[at] = (struct nsx_sort_key){ { (int64_t)is->gtid, is->start, is->end }, op->launch };
	}
	nsx_map_free(&of);
	if (!good) {
		free(first);
		return NULL;
	}
	nsx_sort_keys(first, *n);
	return first;
}

/* Whether the overhead lies within one of them. */
static bool
is_within(const struct nsx_overhead *o, const struct nsx_sort_key *first, size_t n)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (first[mid].k[0] < (int64_t)o->gtid || (first[mid].k[0] == (int64_t)o->gtid &&
		    first[mid].k[1] <= o->start))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && first[lo - 1].k[0] == (int64_t)o->gtid && o->end <= first[lo - 1].k[2];
}

int
nsx_host_judge_unknown(struct nsx_loader *l)
{
	struct nsx_trace *t = l->t;
	struct nsx_sort_key *first = NULL;
	uint64_t loading = 0, unknown = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < t->noverheads; i++) {
		struct nsx_overhead *o = &t->overheads[i];

		if (o->class != NSX_OVERHEAD_UNKNOWN)
			continue;
		if (o->name != NSX_NONE && is_profiler(nsx_intern_str(&t->names, o->name))) {
			o->class = NSX_OVERHEAD_PROFILER;
			continue;
		}
		if (!first && !(first = first_launches(t, &n)))
			return nsx_load_nomem(l);
		if (is_within(o, first, n)) {
			o->class = NSX_OVERHEAD_LOADING;
			loading++;
		} else {
			unknown++;
		}
	}
	free(first);
	nsx_load_diag(l, NSX_INFO, loading,
	              "overheads of an unknown type within the first launch of a kernel: they count as loading its "
		              "code");
	nsx_load_diag(l, NSX_WARNING, unknown, "overheads of an unknown type: without a class");
	return NSX_OK;
}
