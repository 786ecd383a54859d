/* building.c -- makes devices, calls, operations and processes of the rows of a build; building_ranges.c projects. */
#include "source/building.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "source/around.h"
#include "source/call_name.h"
#include "source/order.h"
#include "source/thread.h"
#include "source/waits.h"

/* ---- things that are numbered by first use, and sorted */

void *
nsx_build_sorted(const void *list, size_t n, size_t size, nsx_sort_key_of *key, uint32_t **at)
{
	struct nsx_sort_key *k = malloc((n + 1) * sizeof *k);
	char *sorted = malloc((n + 1) * size);

	*at = malloc((n + 1) * sizeof **at);
	for (size_t i = 0; k && i < n; i++) {
		k[i] = (struct nsx_sort_key){ { 0 }, (uint32_t)i };
		key((const char *)list + i * size, NULL, k[i].k);
	}
	if (k)
		nsx_sort_keys(k, n);
	for (size_t i = 0; k && sorted && *at && i < n; i++) {
		memcpy(sorted + i * size, (const char *)list + k[i].i * size, size);
		(*at)[k[i].i] = (uint32_t)i;
	}
	if (!k || !*at) {
		free(sorted);
		sorted = NULL;
	}
	free(k);
	return sorted;
}

/* ---- devices: by CUDA ordinal */

NSX_SORT_KEYS(by_cuda, struct nsx_device, a->cuda)

static bool
make_devices(struct building *x)
{
	struct nsx_trace *t = x->t;
	size_t n = x->b->devices.n;

	t->devices = nsx_build_sorted(x->b->devices.p, n, sizeof *t->devices, by_cuda, &x->device_at);
	t->ndevices = t->devices ? (uint32_t)n : 0;
	for (uint32_t i = 0; i < t->ndevices; i++)
		t->devices[i].last -= x->origin;
	return t->devices != NULL;
}

/* ---- launches: of each correlation id of operations, their time and their call */

#define EACH(type, row, pile)                                                                        \
	for (const struct nsx_pile_block *block = (pile)->first; block; block = block->next)         \
		for (const type *row = (const void *)block->data, *row##_end = row + block->n; row < row##_end; row++)

static bool
make_launches(struct building *x)
{
	size_t n;

	EACH(struct nsx_build_op, op, &x->b->ops) {
		if (op->correlation == NSX_NO_CORRELATION)
			continue;
		uint32_t at = nsx_launch_at(&x->launches, 0, op->correlation), device = x->device_at[op->device];
		if (at == NSX_NONE)
			return false;
		struct nsx_launch *l = &x->launches.list.p[at];
		int64_t start = op->start - x->origin, end = op->end - x->origin;
		if (l->start > l->end)
			l->device = device;
		else if (l->device != device)
			l->device = NSX_NONE;
		l->start = start < l->start ? start : l->start;
		l->end = end > l->end ? end : l->end;
	}
	n = x->launches.list.n;
	x->t->issues = malloc((n + 1) * sizeof *x->t->issues);
	x->info = calloc(n + 1, sizeof *x->info);
	for (size_t i = 0; x->t->issues && i < n; i++)
		x->t->issues[i] = (struct nsx_issue){ INT64_MAX, INT64_MIN, 0, 0 };
	return x->t->issues && x->info;
}

static void
find_issues(struct building *x)
{
	EACH(struct nsx_build_call, c, &x->b->calls) {
		uint32_t at = c->correlation == NSX_NO_CORRELATION ? (uint32_t)NSX_NONE
		    : nsx_launch_find(&x->launches, 0, c->correlation);
		if (at == NSX_NONE)
			continue;
		struct nsx_issue *is = &x->t->issues[at],
		    new = { c->start - x->origin, c->end - x->origin, c->id, c->gtid };
		bool first = is->start > is->end;

		if (!first && nsx_capture_process(is->gtid) != nsx_capture_process(c->gtid))
			x->info[at].split = true;
		x->launches.list.p[at].ncalls = 1;
		x->info[at].silent = c->silent;
		if (first || new.start < is->start || (new.start == is->start && new.id < is->id))
			*is = new;
	}
	for (size_t i = 0; i < x->launches.list.n; i++)
		if (x->info[i].split) {
			x->t->issues[i] = (struct nsx_issue){ INT64_MAX, INT64_MIN, 0, 0 };
			x->launches.list.p[i].ncalls = 0;
		}
}

/* The launch that a call issued; NSX_NONE: none, or not this one of those that share its id. */
static uint32_t
launch_of(struct building *x, const struct nsx_build_call *c)
{
	uint32_t at = c->correlation == NSX_NO_CORRELATION ? (uint32_t)NSX_NONE
	    : nsx_launch_find(&x->launches, 0, c->correlation);

	if (at == NSX_NONE || x->info[at].split)
		return NSX_NONE;
	if (x->t->issues[at].id != c->id || x->t->issues[at].gtid != c->gtid) {
		x->b->shared++;
		return NSX_NONE;
	}
	return at;
}

/* ---- names of calls */

static uint32_t
call_name(struct building *x, uint32_t name)
{
	uint32_t at = nsx_map_number(&x->call_name_of, (struct nsx_key){ name, 0 });

	if (at == NSX_NONE || at < x->call_names.n)
		return at;
	struct nsx_call_name new = nsx_call_name_of(name, nsx_intern_str(&x->t->names, name));
	return nsx_vec_push(&x->call_names, new) ? at : (uint32_t)NSX_NONE;
}

/* ---- calls: by thread */

NSX_SORT_KEYS(by_gtid, struct nsx_calling_thread, nsx_build_gtid_key(a->gtid))

/* t->host_threads, and in x->caller_at their numbers by order of first use, in x->caller_of. */
static bool
make_callers(struct building *x)
{
	struct nsx_trace *t = x->t;
	NSX_VEC(struct nsx_calling_thread) list = { 0 };
	bool good = true;

	EACH(struct nsx_build_call, c, &x->b->calls) {
		uint32_t at = nsx_map_number(&x->caller_of, (struct nsx_key){ c->gtid, 0 });
		struct nsx_calling_thread new = { .gtid = c->gtid, .tid = (uint32_t)(c->gtid & 0xFFFFFF) };
		good = good && at != NSX_NONE && (at < list.n || nsx_vec_push(&list, new));
		if (!good)
			break;
		list.p[at].n += !c->silent;
	}
	if (good)
		t->host_threads = nsx_build_sorted(list.p, list.n, sizeof *list.p, by_gtid, &x->caller_at);
	t->nhost_threads = t->host_threads ? (uint32_t)list.n : 0;
	for (uint32_t i = 1; i < t->nhost_threads; i++)
		t->host_threads[i].first = t->host_threads[i - 1].first + t->host_threads[i - 1].n;
	free(list.p);
	return t->host_threads != NULL;
}

/* Each call into its thread, and those that launched something to x->raw. */
static bool
place_calls(struct building *x)
{
	struct nsx_trace *t = x->t;
	uint32_t *at = malloc(((size_t)t->nhost_threads + 1) * sizeof *at);
	bool good = at && (t->calls = nsx_big_alloc(x->b->calls.n, sizeof *t->calls)) != NULL;

	for (uint32_t i = 0; good && i < t->nhost_threads; i++)
		at[i] = t->host_threads[i].first;
	t->ncalls = 0;
	for (; good && x->b->calls.first; nsx_pile_drop(&x->b->calls)) {
		const struct nsx_build_call *c = (const void *)x->b->calls.first->data,
		    *end = c + x->b->calls.first->n;
		for (; good && c < end; c++) {
			uint32_t launch = launch_of(x, c), name = call_name(x, c->name), thread =
			    x->caller_at[nsx_map_get(&x->caller_of, (struct nsx_key){ c->gtid, 0 })];
			good = name != NSX_NONE;
			if (launch != NSX_NONE && good) {
				struct nsx_raw_call raw = { c->start - x->origin, c->end - x->origin, launch, thread };
				x->info[launch].class = x->call_names.p[name].class;
				good = c->apart || nsx_vec_push(&x->raw, raw);
			}
			if (c->silent)
				continue;
			t->ncalls++;
			/* `ops` holds the launch until all operations are counted. */
			t->calls[at[thread]++] = (struct nsx_host_call){ .start = c->start - x->origin,
				.end = c->end - x->origin, .id = c->id, .name = name, .range = NSX_NONE,
				.ops = launch };
		}
	}
	free(at);
	return good;
}

/* ---- operations */

static void
count_op(struct building *x, const struct nsx_build_op *o, uint32_t launch, uint32_t back)
{
	x->info[launch].ops++;
	if (o->type == NSX_OP_MEMCPY && o->name == back && back != NSX_NONE && o->dst == NSX_MEMORY_PAGEABLE)
		x->info[launch].back = true;
}

/* Operations in the order of rows; t->op_ids, t->op_comm and t->op_insts in the order of time. */
static bool
place_ops(struct building *x)
{
	struct nsx_trace *t = x->t;
	size_t n = x->b->ops.n, i = 0;
	struct nsx_pair_key *k = malloc((n + 1) * sizeof *k);
	int64_t *ids = malloc((n + 1) * sizeof *ids);
	uint32_t *inst = x->b->insts ? malloc((n + 1) * sizeof *inst) : NULL;
	uint32_t *comm = malloc((n + 1) * sizeof *comm), back = nsx_intern_find(&t->names,
		NSX_STR("[CUDA memcpy Device-to-Host]"));
	bool good = k && ids && comm && (t->ops = nsx_big_alloc(n, sizeof *t->ops)) != NULL &&
	    (t->op_ids = malloc((n + 1) * sizeof *t->op_ids)) != NULL &&
	    (t->op_comm = malloc((n + 1) * sizeof *t->op_comm)) != NULL && (inst || !x->b->insts)
	    && (!inst || (t->op_insts = malloc((n + 1) * sizeof *t->op_insts)) != NULL);

	for (; good && x->b->ops.first; nsx_pile_drop(&x->b->ops)) {
		const struct nsx_build_op *o = (const void *)x->b->ops.first->data, *end = o + x->b->ops.first->n;
		for (; o < end; o++, i++) {
			uint32_t launch = o->correlation == NSX_NO_CORRELATION ? (uint32_t)NSX_NONE
			    : nsx_launch_find(&x->launches, 0, o->correlation);
			bool known = launch != NSX_NONE && x->launches.list.p[launch].ncalls,
			    recorded = known && !x->info[launch].silent;
			t->ops[i] = (struct nsx_gpu_op){ .start = o->start - x->origin, .end = o->end - x->origin,
				.bytes = o->bytes, .graph_node = o->graph_node, .stream = o->stream,
				.device = x->device_at[o->device], .name = o->name, .type = o->type, .peer = o->peer,
				.src = o->src, .dst = o->dst, .launch = recorded ? launch : NSX_NONE,
				.call_start = recorded ? x->t->issues[launch].start : INT64_MIN,
				.range = known ? x->info[launch].range : NSX_NONE };
			ids[i] = o->id;
			comm[i] = o->comm;
			if (inst)
				inst[i] = o->inst ? o->inst - 1 : NSX_NONE;
			k[i] = (struct nsx_pair_key){ t->ops[i].start, t->ops[i].end, (uint32_t)i };
			if (known)
				count_op(x, o, launch, back);
			else
				x->b->orphans[o->type]++;
			x->b->ambiguous += launch != NSX_NONE && x->info[launch].split;
		}
	}
	good = good && nsx_order_keys(k, n);
	for (i = 0; good && i < n; i++) {
		t->op_ids[i] = ids[k[i].at];
		t->op_comm[i] = comm[k[i].at];
		if (inst)
			t->op_insts[i] = inst[k[i].at];
	}
	if (good)
		nsx_order_apply(t->ops, sizeof *t->ops, k, n);
	t->nops = good ? (uint32_t)n : 0;
	free(k);
	free(ids);
	free(inst);
	free(comm);
	return good;
}

/* Nodes of graphs without numbers: by start within their launch. */
static void
number_nodes(struct building *x)
{
	for (uint32_t i = 0; i < x->t->nops; i++) {
		struct nsx_gpu_op *o = &x->t->ops[i];

		if (o->graph_node == -1 && o->launch != NSX_NONE && x->info[o->launch].class == NSX_CALL_GRAPH_LAUNCH) {
			o->graph_node = ++x->info[o->launch].nodes;
			x->b->numbered++;
		}
	}
}

/* ---- the host's side, finished */

static bool
finish_calls(struct building *x)
{
	struct nsx_trace *t = x->t;

	for (uint32_t i = 0, r = 0; i < t->nhost_threads; i++) {
		const struct nsx_calling_thread *th = &t->host_threads[i];
		struct nsx_host_call *calls = t->calls + th->first;

		for (uint32_t k = 0; k < th->n; k++) {
			uint32_t launch = calls[k].ops;
			calls[k].ops = launch == NSX_NONE ? 0 : x->info[launch].ops;
			calls[k].back = launch != NSX_NONE && x->info[launch].back;
		}
		while (r < t->nthreads && t->threads[r].gtid < th->gtid)
			r++;
		if (!nsx_thread_sort_calls(calls, th->n) || (r < t->nthreads && t->threads[r].gtid == th->gtid
		    && !nsx_around(t->ranges, t->threads[r].first, t->threads[r].n, calls, th->n)))
			return false;
	}
	return true;
}

static bool
finish_waits(struct building *x)
{
	struct nsx_wait *waits = malloc((x->b->waits.n + 1) * sizeof *waits);
	size_t n = 0;

	for (size_t i = 0; waits && i < x->b->waits.n; i++) {
		const struct nsx_build_wait *w = &x->b->waits.p[i];
		uint32_t device = nsx_map_get(&x->b->device_of, (struct nsx_key){ (uint64_t)w->cuda, 0 });
		if (device != NSX_NONE)
			waits[n++] = (struct nsx_wait){ w->stream, w->at - x->origin, x->device_at[device] };
	}
	bool good = waits && nsx_waits_count(x->t, waits, n);
	free(waits);
	return good;
}

static bool
place_overheads(struct building *x)
{
	struct nsx_trace *t = x->t;
	size_t n = x->b->overheads.n;
	struct nsx_pair_key *k = malloc((n + 1) * sizeof *k);
	bool good = k && (t->overheads = malloc((n + 1) * sizeof *t->overheads)) != NULL;

	for (size_t i = 0; good && i < n; i++) {
		t->overheads[i] = x->b->overheads.p[i];
		t->overheads[i].start -= x->origin;
		t->overheads[i].end -= x->origin;
		k[i] = (struct nsx_pair_key){ t->overheads[i].start, t->overheads[i].end, (uint32_t)i };
	}
	good = good && nsx_order_keys(k, n);
	if (good)
		nsx_order_apply(t->overheads, sizeof *t->overheads, k, n);
	t->noverheads = good ? (uint32_t)n : 0;
	free(k);
	return good;
}

/* ---- processes: those of ranges and calls; if there are none, one of id 0. That of a device is the process that
 * launched its first operation with a call, else the first. */

NSX_ORDER(by_gpid, struct nsx_process, NSX_CMP(a->gpid, b->gpid))

static uint32_t
process_at(const struct nsx_trace *t, uint64_t gtid)
{
	struct nsx_process key = { .gpid = nsx_capture_process(gtid) }, *at = bsearch(&key, t->processes, t->nprocesses,
		sizeof key, by_gpid);

	return (uint32_t)(at - t->processes);
}

static bool
make_processes(struct building *x)
{
	struct nsx_trace *t = x->t;
	size_t all = (size_t)t->nthreads + t->nhost_threads, n = 0;

	t->processes = calloc(all + 1, sizeof *t->processes);
	if (!t->processes)
		return false;
	for (uint32_t i = 0; i < t->nthreads; i++)
		t->processes[n++].gpid = nsx_capture_process(t->threads[i].gtid);
	for (uint32_t i = 0; i < t->nhost_threads; i++)
		t->processes[n++].gpid = nsx_capture_process(t->host_threads[i].gtid);
	qsort(t->processes, n, sizeof *t->processes, by_gpid);
	for (size_t i = 0; i < n; i++)
		if (!t->nprocesses || t->processes[t->nprocesses - 1].gpid != t->processes[i].gpid)
			t->processes[t->nprocesses++].gpid = t->processes[i].gpid;
	t->nprocesses += !t->nprocesses;
	for (uint32_t i = 0; i < t->nprocesses; i++)
		t->processes[i].pid = (uint32_t)(t->processes[i].gpid >> 24 & 0xFFFFFF);
	for (uint32_t i = 0; i < t->nthreads; i++)
		t->threads[i].process = process_at(t, t->threads[i].gtid);
	for (uint32_t i = 0; i < t->nhost_threads; i++)
		t->host_threads[i].process = process_at(t, t->host_threads[i].gtid);
	for (size_t i = 0; i < x->launches.list.n; i++) {
		const struct nsx_launch *l = &x->launches.list.p[i];
		if (l->ncalls && l->device != NSX_NONE && t->devices[l->device].process == NSX_NONE)
			t->devices[l->device].process = process_at(t, x->t->issues[i].gtid);
	}
	for (uint32_t i = 0; i < t->ndevices; i++)
		if (t->devices[i].process == NSX_NONE)
			t->devices[i].process = 0;
	return true;
}

/* Devices by process: where several processes have devices, numbers change. */
static bool
sort_devices(struct building *x)
{
	struct nsx_trace *t = x->t;
	struct nsx_sort_key *k = malloc(((size_t)t->ndevices + 1) * sizeof *k);
	uint32_t *now = malloc(((size_t)t->ndevices + 1) * sizeof *now);
	bool good = k && now, same = true;

	for (uint32_t i = 0; good && i < t->ndevices; i++)
		k[i] = (struct nsx_sort_key){ { t->devices[i].process, t->devices[i].cuda, 0 }, i };
	if (good)
		nsx_sort_keys(k, t->ndevices);
	for (uint32_t i = 0; good && i < t->ndevices; i++) {
		now[k[i].i] = i;
		same &= k[i].i == i;
	}
	if (good && !same) {
		nsx_sort_apply(t->devices, sizeof *t->devices, k, t->ndevices);
		for (uint32_t i = 0; i < t->nops; i++)
			t->ops[i].device = now[t->ops[i].device];
		for (uint32_t i = 0; i < t->nspans; i++)
			if (t->spans[i].device != NSX_NONE)
				t->spans[i].device = now[t->spans[i].device];
	}
	free(k);
	free(now);
	return good;
}

/* ---- all */

static int
make(struct building *x, const struct nsx_trace_opts *opts)
{
	if (!make_devices(x) || !make_launches(x))
		return NSX_ERR;
	find_issues(x);
	if (!make_callers(x) || !place_calls(x) || !nsx_build_ranges(x, opts->busy) || !place_ops(x))
		return NSX_ERR;
	number_nodes(x);
	if (!finish_calls(x) || !finish_waits(x) || !place_overheads(x))
		return NSX_ERR;
	x->t->call_names = x->call_names.p;
	x->t->ncall_names = (uint32_t)x->call_names.n;
	x->call_names.p = NULL;
	return make_processes(x) && sort_devices(x) ? NSX_OK : NSX_ERR;
}

/* Whether a range has a name for which operations are kept although no option asks for them. */
static bool
needs_ops(const struct nsx_trace *t, const char *start)
{
	for (uint32_t i = 0; start && i < t->names.n; i++)
		if (nsx_str_starts(nsx_intern_str(&t->names, i), start))
			return true;
	return false;
}

/* What the options do not keep. */
static void
drop(struct nsx_trace *t, const struct nsx_trace_opts *opts)
{
	if (!opts->calls) {
		free(t->host_threads);
		free(t->calls);
		free(t->call_names);
		free(t->overheads);
		t->host_threads = NULL;
		t->calls = NULL;
		t->call_names = NULL;
		t->overheads = NULL;
		t->nhost_threads = t->ncalls = t->ncall_names = t->noverheads = 0;
	}
	if (!opts->ops && !needs_ops(t, opts->ops_if)) {
		free(t->ops);
		free(t->issues);
		t->ops = NULL;
		t->issues = NULL;
		t->nops = 0;
	}
}

int
nsx_build_finish(struct nsx_build *b, const struct nsx_trace_opts *opts, const char *path, struct nsx_err *err)
{
	struct building x = { .b = b, .t = b->t, .origin = b->origin == INT64_MAX ? 0 : b->origin };

	b->origin = x.origin;
	if (b->ranges.n > UINT32_MAX / 2 || b->calls.n > UINT32_MAX / 2 || b->ops.n > UINT32_MAX / 2)
		return nsx_err_set(err, "%s: more than %u ranges, calls or operations", path, UINT32_MAX / 2);
	int rc = make(&x, opts);
	nsx_launches_free(&x.launches);
	nsx_map_free(&x.call_name_of);
	nsx_map_free(&x.caller_of);
	free(x.call_names.p);
	free(x.info);
	free(x.device_at);
	free(x.caller_at);
	free(x.raw.p);
	if (rc != NSX_OK)
		return nsx_err_nomem(err, path);
	drop(b->t, opts);
	return NSX_OK;
}
