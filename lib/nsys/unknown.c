/* unknown.c -- overheads whose kind the export does not tell. Some have a name that is the profiler's. One that lies
 * within the first launch of a kernel in its process is loading: CUDA loads the code of a kernel when it is first
 * needed. One within a launch before which as many others had not begun as before any, and that ends when an operation
 * does, is a wait for a place in the queue, if there are several: the queue was full. An Nsight Systems that is older
 * than the driver does not know the kind. What remains is unknown, and no part of the time that it covers is attributed
 * to it. */
#include <stdlib.h>

#include "base/num.h"
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
	int64_t thread = (int64_t)o->gtid;
	size_t lo;

	NSX_BISECT(lo, 0, n, first[lo].k[0] > thread || (first[lo].k[0] == thread && first[lo].k[1] > o->start));
	return lo && first[lo - 1].k[0] == thread && o->end <= first[lo - 1].k[2] ? first[lo - 1].i
	       : (uint32_t)NSX_NONE;
}

/* A queue that is full has so many launches at least, and its length varies by so many. */
enum { FULL_MIN = 500, FULL_VARIES = 4 };
/* A wait for a place ends when an operation begins or ends: up to so long before, in ns, or after, as clocks differ. */
enum { ROOM_BEFORE = 100000, ROOM_AFTER = 30000 };
/* So many waits, between which the queue did not become half empty, show that it was full: before a synchronization it
 * is as long as it gets in one launch or in a few, which may have an overhead for any reason. */
enum { FULL_WAITS = 10 };

/* A time in which the queue of a group (a process on a device) is at least half as long as it gets. from, to: the
 * group's operations in the lists of starts and of ends. */
struct full_run { size_t from, to, waits; bool full; };

struct full {
	struct nsx_sort_key *of;       /* n launches that found the queue as long as it gets, by thread and start */
	size_t               n;
	struct nsx_sort_key *starts;   /* of the first operations of launches, by group and time; k[2]: time */
	struct nsx_sort_key *ends;
	uint32_t            *run;      /* by issue, if it is one of those of `of` */
	NSX_VEC(struct full_run) runs;
};

static void
full_free(struct full *f)
{
	free(f->of);
	free(f->starts);
	free(f->ends);
	free(f->run);
	free(f->runs.p);
}

/* Of n launches by group and time in f->of: those of each group before which the queue was longest, by thread and
 * start, to its beginning. A group has all streams of its device, as the queue of a what-if does: a place in it is one
 * for any stream. False when out of memory. */
static bool
keep_longest(const struct nsx_trace *t, struct full *f, size_t n)
{
	struct nsx_sort_key *of = f->of;

	for (size_t i = 0, e; i < n; i = e) {
		size_t begun = i, most = 0;
		bool new_run = true;

		for (e = i; e < n && of[e].k[0] == of[i].k[0] && of[e].k[1] == of[i].k[1]; e++) {
			while (begun < e && f->starts[begun].k[2] < of[e].k[2])
				begun++;
			/* Its time is not needed any more. */
			of[e].k[2] = (int64_t)(e - begun);
			most = e - begun > most ? e - begun : most;
		}
		for (size_t k = i; k < e && most >= FULL_MIN; k++) {
			const struct nsx_issue *is = &t->issues[of[k].i];

			new_run |= (size_t)of[k].k[2] < most / 2;
			if ((size_t)of[k].k[2] + FULL_VARIES < most)
				continue;
			if (new_run && !nsx_vec_push(&f->runs, ((struct full_run){ i, e, 0, false })))
				return false;
			new_run = false;
			f->run[of[k].i] = (uint32_t)f->runs.n - 1;
			of[f->n++] = (struct nsx_sort_key){ { (int64_t)is->gtid, is->start, is->end }, of[k].i };
		}
	}
	nsx_sort_keys(of, f->n);
	return true;
}

/* Whether one of these times is near the end of the overhead, and not before it began. */
static bool
has_near(const struct nsx_sort_key *times, const struct full_run *r, const struct nsx_overhead *o)
{
	int64_t from = nsx_sub_sat(o->end, ROOM_BEFORE, NULL);
	size_t lo;

	from = from > o->start ? from : o->start;
	NSX_BISECT(lo, r->from, r->to, times[lo].k[2] >= from);
	return lo < r->to && times[lo].k[2] <= nsx_add_sat(o->end, ROOM_AFTER, NULL);
}

/* The launch in which the overhead may be a wait for a place in the queue; NSX_NONE: in none. */
static uint32_t
wait_around(const struct full *f, const struct nsx_overhead *o)
{
	uint32_t launch = launch_around(o, f->of, f->n);
	const struct full_run *r = launch == NSX_NONE ? NULL : &f->runs.p[f->run[launch]];

	return r && (has_near(f->ends, r, o) || has_near(f->starts, r, o)) ? launch : (uint32_t)NSX_NONE;
}

/* Which groups had a full queue: those with a run that has enough waits. */
static void
judge_runs(const struct nsx_trace *t, struct full *f, const struct nsx_sort_key *first, size_t nfirst)
{
	for (uint32_t i = 0; i < t->noverheads; i++) {
		const struct nsx_overhead *o = &t->overheads[i];
		uint32_t launch;

		if (o->class == NSX_OVERHEAD_UNKNOWN && launch_around(o, first, nfirst) == NSX_NONE
		    && (launch = wait_around(f, o)) != NSX_NONE)
			f->runs.p[f->run[launch]].waits++;
	}
	for (size_t i = 0, e; i < f->runs.n; i = e) {
		bool full = false;

		for (e = i; e < f->runs.n && f->runs.p[e].from == f->runs.p[i].from; e++)
			full |= f->runs.p[e].waits >= FULL_WAITS;
		for (size_t k = i; k < e; k++)
			f->runs.p[k].full = full;
	}
}

/* The launches before which the queue of their process on the device was as long as it gets. False when out of
 * memory. */
static bool
longest_queues(const struct nsx_trace *t, size_t issues, struct full *f)
{
	uint32_t *first = malloc((issues + 1) * sizeof *first);   /* the operation of an issue that begins first */
	size_t n = 0;

	f->of = malloc((issues + 1) * sizeof *f->of);
	f->starts = malloc((issues + 1) * sizeof *f->starts);
	f->ends = malloc((issues + 1) * sizeof *f->ends);
	f->run = malloc((issues + 1) * sizeof *f->run);
	if (!first || !f->of || !f->starts || !f->ends || !f->run) {
		free(first);
		return false;
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
		f->of[n] = (struct nsx_sort_key){ { process, op->device, t->issues[i].start }, i };
		f->starts[n] = (struct nsx_sort_key){ { process, op->device, op->start }, i };
		f->ends[n++] = (struct nsx_sort_key){ { process, op->device, op->end }, i };
	}
	free(first);
	nsx_sort_keys(f->of, n);
	nsx_sort_keys(f->starts, n);
	nsx_sort_keys(f->ends, n);
	return keep_longest(t, f, n);
}

/* What is needed to judge overheads by the launches that they are in: made once there is such an overhead. False when
 * out of memory. */
static bool
prepare(struct nsx_loader *l, struct nsx_sort_key **first, size_t *n, struct full *f)
{
	if (*first)
		return true;
	*first = first_launches(l->t, n);
	if (!*first || !longest_queues(l->t, l->launches ? l->launches->list.n : 0, f))
		return false;
	judge_runs(l->t, f, *first, *n);
	return true;
}

int
nsx_host_judge_unknown(struct nsx_loader *l)
{
	struct nsx_trace *t = l->t;
	struct nsx_sort_key *first = NULL;
	struct full full = { 0 };
	uint64_t loading = 0, queued = 0, unknown = 0;
	size_t n = 0;
	bool good = true;

	for (uint32_t i = 0; i < t->noverheads; i++) {
		struct nsx_overhead *o = &t->overheads[i];

		if (o->class == NSX_OVERHEAD_UNKNOWN && o->name != NSX_NONE
		    && is_profiler(nsx_intern_str(&t->names, o->name)))
			o->class = NSX_OVERHEAD_PROFILER;
	}
	for (uint32_t i = 0; i < t->noverheads && good; i++) {
		struct nsx_overhead *o = &t->overheads[i];
		uint32_t launch;

		if (o->class != NSX_OVERHEAD_UNKNOWN)
			continue;
		good = prepare(l, &first, &n, &full);
		if (!good)
			break;
		if ((launch = launch_around(o, first, n)) != NSX_NONE) {
			o->class = NSX_OVERHEAD_LOADING;
			loading++;
		} else if ((launch = wait_around(&full, o)) != NSX_NONE && full.runs.p[full.run[launch]].full) {
			o->class = NSX_OVERHEAD_QUEUE_FULL;
			queued++;
		} else {
			unknown++;
			continue;
		}
		good = nsx_vec_push(&l->host->judged, ((struct nsx_judged){ launch, o->start, o->end, o->class }));
	}
	free(first);
	full_free(&full);
	if (!good)
		return nsx_load_nomem(l);
	/* An export that has these would have others, too: of a launch without one it is known that it did not wait. */
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
