/* unknown.c -- overheads whose kind the export does not tell. Some have a name that is the profiler's. One that lies
 * within the first launch of a kernel in its process is loading: CUDA loads the code of a kernel when it is first
 * needed. One within a launch before which as many others had not begun as before any is a wait for a place in the
 * queue, which was full: an Nsight Systems that is older than the driver does not know the kind. What remains is
 * unknown, and no part of the time that it covers is attributed to it. */
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

/* The launch of these that the overhead lies within; NSX_NONE: it lies in none. */
static uint32_t
launch_around(const struct nsx_overhead *o, const struct nsx_sort_key *first, size_t n)
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
	return lo && first[lo - 1].k[0] == (int64_t)o->gtid && o->end <= first[lo - 1].k[2] ? first[lo - 1].i
	       : (uint32_t)NSX_NONE;
}

/* A queue that is full has so many launches at least, and its length varies by so many. */
enum { FULL_MIN = 500, FULL_VARIES = 4 };

/* Of n launches by group and time and as many starts of their operations in that order: those of each group that found
 * a full queue, by thread and start, to the beginning of `of`; how many. */
static size_t
keep_full(const struct nsx_trace *t, struct nsx_sort_key *of, const struct nsx_sort_key *starts, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0, e; i < n; i = e) {
		size_t begun = i, most = 0;

		for (e = i; e < n && of[e].k[0] == of[i].k[0] && of[e].k[1] == of[i].k[1]; e++) {
			while (begun < e && starts[begun].k[2] < of[e].k[2])
				begun++;
			/* Its time is not needed any more. */
			of[e].k[2] = (int64_t)(e - begun);
			most = e - begun > most ? e - begun : most;
		}
		for (size_t k = i; k < e && most >= FULL_MIN; k++) {
			const struct nsx_issue *is = &t->issues[of[k].i];

			if ((size_t)of[k].k[2] + FULL_VARIES < most)
				continue;
			of[kept++] = (struct nsx_sort_key){ { (int64_t)is->gtid, is->start, is->end }, of[k].i };
		}
	}
	nsx_sort_keys(of, kept);
	return kept;
}

/* The launches before which the queue of their process on the device was full, each by thread and start, in *n
 * elements: number of the issue. NULL when out of memory. */
static struct nsx_sort_key *
full_launches(const struct nsx_trace *t, size_t issues, size_t *n)
{
	struct nsx_sort_key *of = malloc((issues + 1) * sizeof *of), *starts = malloc((issues + 1) * sizeof *starts);
	uint32_t *first = malloc((issues + 1) * sizeof *first);   /* the operation of an issue that begins first */

	*n = 0;
	if (!of || !starts || !first) {
		free(of);
		free(starts);
		free(first);
		return NULL;
	}
	for (size_t i = 0; i < issues; i++)
		first[i] = NSX_NONE;
	for (uint32_t i = 0; i < t->nops; i++) {
		uint32_t launch = t->ops[i].launch;

		if (launch != NSX_NONE && t->issues[launch].start <= t->issues[launch].end
		    && (first[launch] == NSX_NONE || t->ops[i].start < t->ops[first[launch]].start))
			first[launch] = i;
	}
	for (uint32_t i = 0; i < issues; i++) {
		const struct nsx_gpu_op *op = first[i] == NSX_NONE ? NULL : &t->ops[first[i]];
		int64_t process = (int64_t)(t->issues[i].gtid & ~(uint64_t)0xFFFFFF);

		if (!op)
			continue;
		of[*n] = (struct nsx_sort_key){ { process, op->device, t->issues[i].start }, i };
		starts[(*n)++] = (struct nsx_sort_key){ { process, op->device, op->start }, i };
	}
	nsx_sort_keys(of, *n);
	nsx_sort_keys(starts, *n);
	*n = keep_full(t, of, starts, *n);
	free(starts);
	free(first);
	return of;
}

int
nsx_host_judge_unknown(struct nsx_loader *l)
{
	struct nsx_trace *t = l->t;
	struct nsx_sort_key *first = NULL, *full = NULL;
	uint64_t loading = 0, queued = 0, unknown = 0;
	size_t n = 0, nfull = 0;
	bool good = true;

	for (uint32_t i = 0; i < t->noverheads && good; i++) {
		struct nsx_overhead *o = &t->overheads[i];
		uint32_t launch;

		if (o->class != NSX_OVERHEAD_UNKNOWN)
			continue;
		if (o->name != NSX_NONE && is_profiler(nsx_intern_str(&t->names, o->name))) {
			o->class = NSX_OVERHEAD_PROFILER;
			continue;
		}
		first = first ? first : first_launches(t, &n);
		full = full ? full : full_launches(t, l->launches ? l->launches->list.n : 0, &nfull);
		good = first && full;
		if (!good)
			break;
		if ((launch = launch_around(o, first, n)) != NSX_NONE) {
			o->class = NSX_OVERHEAD_LOADING;
			loading++;
		} else if ((launch = launch_around(o, full, nfull)) != NSX_NONE) {
			o->class = NSX_OVERHEAD_QUEUE_FULL;
			queued++;
		} else {
			unknown++;
			continue;
		}
		good = nsx_vec_push(&l->host->judged, ((struct nsx_judged){ launch, o->start, o->end, o->class }));
	}
	free(first);
	free(full);
	if (!good)
		return nsx_load_nomem(l);
	/* An export that has these would have others, too. */
	t->losses_known |= queued > 0;
	nsx_load_diag(l, NSX_INFO, loading,
	              "overheads of an unknown type within the first launch of a kernel: they count as loading its "
		              "code");
	nsx_load_diag(l, NSX_INFO, queued,
	              "overheads of an unknown type within launches that found the queue full: they count as waits for "
		              "a place in it");
	nsx_load_diag(l, NSX_WARNING, unknown, "overheads of an unknown type: without a class");
	return NSX_OK;
}
