/* nccl_calls.c -- recognises NCCL's NVTX ranges: the kind of call by the name of the range, and its payload by names of
 * entries, because schema ids differ between versions of NCCL. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "extract/nccl.h"
#include "nsys/payload.h"

const char *const nsx_nccl_kinds[NCCL_KINDS] = {
	"all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce", "all-to-all", "gather", "scatter",
	"send-recv", "send-recv"
};

/* The class of a range by its name. Numbers below NCCL_KINDS are calls. */
enum { IS_START = NCCL_KINDS, IS_END, IS_COMM, IS_OTHER };

static const struct { const char *name; int is; } names[] = {
	{ "ncclAllReduce", NCCL_ALL_REDUCE }, { "ncclAllGather", NCCL_ALL_GATHER }, { "ncclReduceScatter",
		NCCL_REDUCE_SCATTER },
	{ "ncclBroadcast", NCCL_BROADCAST }, { "ncclBcast", NCCL_BROADCAST }, { "ncclReduce", NCCL_REDUCE },
	{ "ncclAlltoAll", NCCL_ALL_TO_ALL },
	{ "ncclGather", NCCL_GATHER }, { "ncclScatter", NCCL_SCATTER }, { "ncclSend", NCCL_SEND },
	{ "ncclRecv", NCCL_RECV },
	{ "ncclGroupStart", IS_START }, { "ncclGroupEnd", IS_END },
	{ "ncclCommInitAll", IS_COMM }, { "ncclCommSplit", IS_COMM }, { "ncclCommShrink", IS_COMM },
	{ "ncclCommGrow", IS_COMM },
};

enum { COMM, SIZE, OLD_SIZE, PEER, RANK, RANKS, CUDA, DEVICES, ENTRIES };
static const struct nsx_payload_entry entries[ENTRIES] = {
	{ "NCCL communicator ID", false }, { "Message size [bytes]", false }, { "Bytes", false },
	{ "Peer rank", false },
	{ "Rank", false }, { "No. of ranks", false }, { "CUDA device", false }, { "No. of devices", false }
};
static const struct nsx_payload_ask ask = { NULL, 0, entries, ENTRIES };

static int
is(struct nsx_str name)
{
	if (nsx_str_starts(name, "ncclCommInitRank"))
		return IS_COMM;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (nsx_str_eq(name, nsx_str_c(names[i].name)))
			return names[i].is;
	return IS_OTHER;
}

/* ---- the sweep over ranges */

/* The class of a range by its name in the trace, IS_OTHER for names that are not NCCL's; NULL when out of memory. */
static uint8_t *
judge_names(const struct nsx_trace *t, bool *any)
{
	uint8_t *kind = malloc((size_t)t->names.n + 1);

	for (uint32_t i = 0; kind && i < t->names.n; i++) {
		struct nsx_str name = nsx_intern_str(&t->names, i);
		kind[i] = (uint8_t)(nsx_str_starts(name, "nccl") ? is(name) : IS_OTHER);
		*any |= kind[i] != IS_OTHER;
	}
	return kind;
}

/* A thread's ranges, sorted by start. */
static bool
sweep_thread(struct ex_profile *p, const struct nsx_thread *th, const uint8_t *kinds, uint32_t nccl_domain,
             uint32_t *comms, size_t *ncomms)
{
	struct ex_nccl *n = p->nccl;
	uint32_t depth = 0, first = 0;

	for (uint32_t r = th->first; r < th->first + th->n; r++) {
		const struct nsx_range *range = &p->trace.ranges[r];
		bool ours = range->name != NSX_NONE && ((range->flags & NSX_RANGE_NO_DOMAIN) ||
		                                        range->domain == nccl_domain);
		int kind = ours ? kinds[range->name] : IS_OTHER;
		n->unit_at[r] = kind == IS_OTHER && range->parent != NSX_NONE ? n->unit_at[range->parent] : NSX_NONE;
		if (kind < NCCL_KINDS) {
			struct nccl_call call = { .bytes = -1, .peer = -1, .range = r, .kind = (uint8_t)kind };
			n->unit_at[r] = (uint32_t)n->units.n;
			if (!nsx_vec_push(&n->units, ((struct nccl_unit){ (uint32_t)n->calls.n, 1 })) ||
			    !nsx_vec_push(&n->calls, call))
				return false;
		} else if (kind == IS_START) {
			if (depth++ == 0)
				first = (uint32_t)n->calls.n;
		} else if (kind == IS_END && depth && --depth == 0) {
			/* An End whose Start was not captured has no unit: its number of calls is unknown. */
			n->unit_at[r] = (uint32_t)n->units.n;
			if (!nsx_vec_push(&n->units, ((struct nccl_unit){ first, (uint32_t)n->calls.n - first })))
				return false;
		} else if (kind == IS_COMM) {
			comms[(*ncomms)++] = r;
		}
	}
	return true;
}

/* ---- communicators */

NSX_ORDER(by_place, struct nccl_place, NSX_CMP(a->comm, b->comm), NSX_CMP(a->process, b->process),
          NSX_CMP(a->cuda, b->cuda), NSX_CMP(a->rank, b->rank), NSX_CMP(a->ranks, b->ranks))

static uint32_t
device_of(const struct nsx_trace *t, uint32_t process, int64_t cuda)
{
	for (uint32_t i = 0; i < t->ndevices; i++)
		if (t->devices[i].process == process && t->devices[i].cuda == cuda)
			return i;
	return NSX_NONE;
}

static int64_t
at_least(const struct nsx_payload_value *v, int64_t least)
{
	return v->there && v->num >= least ? v->num : -1;
}

/* Keep one place of each (communicator, process, CUDA ordinal): of several the one with the lowest rank, as rows come
 * in any order. */
static bool
index_places(struct ex_nccl *n)
{
	size_t kept = 0;

	if (n->places.n)
		qsort(n->places.p, n->places.n, sizeof *n->places.p, by_place);
	for (size_t i = 0; i < n->places.n; i++) {
		const struct nccl_place *p = &n->places.p[i], *last = kept ? &n->places.p[kept - 1] : NULL;
		if (!last || last->comm != p->comm || last->process != p->process || last->cuda != p->cuda)
			n->places.p[kept++] = *p;
	}
	n->places.n = kept;
	for (size_t i = 0; i < kept; i++) {
		uint32_t *at = n->places.p[i].ranks > 0 ? nsx_map_at(&n->ranks, (struct nsx_key){ n->places.p[i].comm,
			0 }) : NULL;
		if (n->places.p[i].ranks > 0 && !at)
			return false;
		if (at && *at == NSX_NONE)
			*at = (uint32_t)i;
	}
	return true;
}

static int
read_places(struct ex_profile *p, const uint32_t *comms, size_t n)
{
	int64_t *ids = malloc((n + 1) * sizeof *ids);
	int *schema = malloc((n + 1) * sizeof *schema);
	struct nsx_payload_value *values = calloc(n + 1, ENTRIES * sizeof *values);
	bool good = ids && schema && values;
	int rc = NSX_OK;

	for (size_t i = 0; good && i < n; i++)
		ids[i] = p->trace.ranges[comms[i]].id;
	if (good)
		rc = nsx_payload_read(&p->trace, ids, n, &ask, schema, values, &p->diags, &p->err);
	for (size_t i = 0; good && rc == NSX_OK && i < n; i++) {
		const struct nsx_payload_value *v = &values[i * ENTRIES];
		if (schema[i] < 0 || !v[COMM].there)
			continue;
		struct nccl_place place = { .comm = (uint64_t)v[COMM].num, .process = nsx_trace_thread(&p->trace,
			comms[i])->process,
		                            .cuda = at_least(&v[CUDA], 0), .rank = at_least(&v[RANK], 0),
		                            .ranks = at_least(&v[RANKS], 1) };
		if (place.ranks < 0)
			place.ranks = at_least(&v[DEVICES], 1);
		place.device = place.cuda < 0 ? NSX_NONE : device_of(&p->trace, place.process, place.cuda);
		good = nsx_vec_push(&p->nccl->places, place);
	}
	free(ids);
	free(schema);
	free(values);
	if (rc == NSX_OK && !(good && index_places(p->nccl)))
		rc = nsx_err_nomem(&p->err, p->input->path);
	return rc;
}

int64_t
nsx_nccl_ranks(const struct ex_nccl *n, uint64_t comm)
{
	uint32_t at = nsx_map_get(&n->ranks, (struct nsx_key){ comm, 0 });

	return at == NSX_NONE ? 0 : n->places.p[at].ranks;
}

int64_t
nsx_nccl_rank(const struct ex_profile *p, uint64_t comm, uint32_t device)
{
	const struct ex_nccl *n = p->nccl;
	const struct nsx_device *d = &p->trace.devices[device];
	struct nccl_place key = { .comm = comm, .process = d->process, .cuda = d->cuda, .rank = -1,
	                          .ranks = INT64_MIN };
	size_t lo = 0, hi = n->places.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (by_place(&n->places.p[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n->places.n && n->places.p[lo].comm == comm && n->places.p[lo].process == d->process &&
	       n->places.p[lo].cuda == d->cuda
	       ? n->places.p[lo].rank : -1;
}

int
nsx_nccl_find_calls(struct ex_profile *p)
{
	const struct nsx_trace *t = &p->trace;
	struct ex_nccl *n = p->nccl;
	uint32_t domain = nsx_intern_find(&t->domains, NSX_STR(NSX_NCCL_DOMAIN)), *comms = NULL;
	bool any = false;
	uint8_t *kinds = judge_names(t, &any);
	size_t ncomms = 0;
	int rc = NSX_OK;

	if (kinds && any) {
		n->unit_at = malloc(((size_t)t->nranges + 1) * sizeof *n->unit_at);
		comms = malloc(((size_t)t->nranges + 1) * sizeof *comms);
		bool good = n->unit_at && comms;
		for (uint32_t i = 0; good && i < t->nthreads; i++)
			good = sweep_thread(p, &t->threads[i], kinds, domain, comms, &ncomms);
		rc = good ? read_places(p, comms, ncomms) : nsx_err_nomem(&p->err, p->input->path);
	} else if (!kinds) {
		rc = nsx_err_nomem(&p->err, p->input->path);
	}
	free(comms);
	free(kinds);
	return rc;
}

/* ---- payloads of calls */

static void
take_call(struct nccl_call *c, const struct nsx_payload_value *v)
{
	const struct nsx_payload_value *size = v[SIZE].there ? &v[SIZE] : &v[OLD_SIZE];

	c->has_comm = v[COMM].there;
	c->comm = (uint64_t)v[COMM].num;
	c->bytes = at_least(size, 0);
	c->peer = at_least(&v[PEER], 0);
}

int
nsx_nccl_read_calls(struct ex_profile *p)
{
	enum { BATCH = 8192 };   /* limits the memory for values */
	struct ex_nccl *n = p->nccl;
	int64_t *ids = malloc(BATCH * sizeof *ids), without = 0;
	uint32_t *of = malloc(BATCH * sizeof *of);
	int *schema = malloc(BATCH * sizeof *schema), rc = NSX_OK;
	struct nsx_payload_value *values = malloc(BATCH * ENTRIES * sizeof *values);

	if (!ids || !of || !schema || !values)
		rc = nsx_err_nomem(&p->err, p->input->path);
	for (size_t i = 0; i < n->calls.n && rc == NSX_OK; ) {
		size_t k = 0;
		for (; i < n->calls.n && k < BATCH; i++)
			if (n->calls.p[i].wanted) {
				ids[k] = p->trace.ranges[n->calls.p[i].range].id;
				of[k++] = (uint32_t)i;
			}
		rc = nsx_payload_read(&p->trace, ids, k, &ask, schema, values, &p->diags, &p->err);
		for (size_t j = 0; j < k && rc == NSX_OK; j++) {
			if (schema[j] >= 0)
				take_call(&n->calls.p[of[j]], &values[j * ENTRIES]);
			without += schema[j] < 0;
		}
	}
	nsx_diag_add(&p->diags, NSX_INFO, p->trace.name.ptr, without,
		"NCCL calls without a payload: their sizes and communicators are not known; nsys export "
		"--include-blobs=true keeps payloads");
	free(ids);
	free(of);
	free(schema);
	free(values);
	return rc;
}

/* ---- for the stream */

NSX_ORDER(compare_places, struct ex_place, strcmp(a->comm_id, b->comm_id), NSX_CMP(a->profile, b->profile),
          NSX_CMP(a->device, b->device), NSX_CMP(a->rank, b->rank))

/* Whether the options keep a place; one without a device depends on its process. */
static bool
is_kept(const struct ex_profile *p, const struct nccl_place *place)
{
	return place->device == NSX_NONE ? nsx_extract_process_kept(p, place->process) : p->devices[place->device].kept;
}

struct ex_place *
nsx_extract_places(const struct ex_job *job, size_t *n)
{
	size_t all = 0;

	for (int i = 0; i < job->n; i++)
		all += job->profiles[i].nccl ? job->profiles[i].nccl->places.n : 0;
	struct ex_place *list = malloc((all + 1) * sizeof *list);
	*n = 0;
	for (int i = 0; list && i < job->n; i++) {
		const struct ex_profile *p = &job->profiles[i];
		for (size_t k = 0; p->nccl && k < p->nccl->places.n; k++) {
			const struct nccl_place *from = &p->nccl->places.p[k];
			struct ex_place *to = &list[*n];
			if (!is_kept(p, from))
				continue;
			snprintf(to->comm_id, sizeof to->comm_id, "%016" PRIx64, from->comm);
			to->profile = p->number;
			to->device = nsx_extract_global(p, from->device);
			to->rank = from->rank;
			to->ranks = from->ranks;
			to->name = from->name;
			++*n;
		}
	}
	if (list && *n)
		qsort(list, *n, sizeof *list, compare_places);
	/* Processes of one profile with the same data and no device. */
	size_t kept = 0;
	for (size_t i = 0; list && i < *n; i++)
		if (!kept || compare_places(&list[kept - 1], &list[i]) != 0)
			list[kept++] = list[i];
	*n = kept;
	return list;
}
