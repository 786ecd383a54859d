/* host.c -- see host.h: overheads, and waits for events, by the calls that they belong to. */
#include "nsys/host.h"

#include <stdlib.h>

#include "source/call_name.h"
#include "nsys/cuda.h"
#include "source/order.h"
#include "source/waits.h"

/* The key's number, new or old; NSX_NONE when out of memory. */
static uint32_t
key_at(struct nsx_host *h, uint64_t gpid, int64_t id)
{
	uint32_t *process = nsx_map_at(&h->process_map, (struct nsx_key){ gpid, 0 });

	if (!process)
		return NSX_NONE;
	if (*process == NSX_NONE)
		*process = h->nprocesses++;
	uint32_t key = nsx_launch_at(&h->keys, *process, id);
	if (key == h->key_calls.n
	    && !nsx_vec_push(&h->key_calls, ((struct nsx_key_call){ { INT64_MAX, INT64_MIN, 0, 0 }, NSX_NONE })))
		return NSX_NONE;
	return key;
}

/* ---- SYNCHRONIZATION */

static const struct nsx_db_col sync_columns[] = {
	{ "deviceId", true }, { "streamId", true }, { "correlationId", true }, { "globalPid", true },
	{ "eventId", true }, { "eventSyncId", true }
};

static uint32_t
device_of(const struct nsx_trace *t, uint32_t process, int64_t cuda)
{
	uint32_t lo = 0, hi = t->ndevices;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct nsx_device *d = &t->devices[mid];
		if (d->process < process || (d->process == process && d->cuda < cuda))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->ndevices && t->devices[lo].process == process && t->devices[lo].cuda == cuda ? lo
	       : (uint32_t)NSX_NONE;
}

/* The device of a synchronization. Some exports name device 0 whatever device it is of: that of the process, if it has
 * one only. */
static uint32_t
synced_device(const struct nsx_trace *t, uint32_t process, int64_t cuda)
{
	uint32_t device = device_of(t, process, cuda), found = NSX_NONE, n = 0;

	for (uint32_t d = 0; d < t->ndevices && device == NSX_NONE; d++)
		if (t->devices[d].process == process) {
			found = d;
			n++;
		}
	return n == 1 ? found : device;
}

static int
sync_row(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_loader *l = ctx;
	int64_t cuda, stream, id, gpid;

	/* A wait without a process, stream or call belongs to no operation that we know. */
	if (!nsx_cell_int(&v[0], &cuda) || !nsx_cell_int(&v[1], &stream) || !nsx_cell_int(&v[2], &id) ||
	    !nsx_cell_int(&v[3], &gpid))
		return NSX_OK;
	uint32_t process = nsx_gpid_find(l, (uint64_t)gpid), device = process == NSX_NONE ? NSX_NONE
	    : synced_device(l->t, process, cuda);
	if (device == NSX_NONE)
		return NSX_OK;
	uint32_t key = key_at(l->host, (uint64_t)gpid, id);
	struct nsx_sync s = { stream, -1, -1, device, key, l->t->devices[device].cuda != cuda };

	if (!nsx_cell_int(&v[4], &s.event))
		s.event = -1;
	/* All bits set stand for none. */
	if (!nsx_cell_int(&v[5], &s.id) || s.id == UINT32_MAX)
		s.id = -1;
	return key != NSX_NONE && nsx_vec_push(&l->host->syncs, s) ? NSX_OK : NSX_ERR;
}

/* ---- CUDA_EVENT */

static const struct nsx_db_col event_columns[] = {
	{ "streamId", true }, { "correlationId", true }, { "globalPid", true }, { "eventId", true },
	{ "eventSyncId", true }
};

static int
event_row(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_loader *l = ctx;
	struct nsx_event_row e = { .id = -1, .event = -1 };
	int64_t id, gpid;

	if (!nsx_cell_int(&v[0], &e.stream) || !nsx_cell_int(&v[1], &id) || !nsx_cell_int(&v[2], &gpid))
		return NSX_OK;
	if (!nsx_cell_int(&v[3], &e.event))
		e.event = -1;
	if (!nsx_cell_int(&v[4], &e.id) || e.id == UINT32_MAX)
		e.id = -1;
	e.key = key_at(l->host, (uint64_t)gpid, id);
	return e.key != NSX_NONE && nsx_vec_push(&l->host->events, e) ? NSX_OK : NSX_ERR;
}

/* ---- overheads */

enum { START, END, GLOBAL_TID, NAME, TYPE, CORRELATION, NOVERHEAD };

static const struct nsx_db_col cupti_columns[] = {
	{ "start", true }, { "end", true }, { "globalTid", true }, { "nameId", true }, { "overheadType", true },
	{ "correlationId", true }
};
static const struct nsx_db_col profiler_columns[] = {
	{ "start", true }, { "end", true }, { "globalTid", true }, { "nameId", true }, { "overheadType", true },
	{ "-", true }
};

/* CUPTI's types 0 to 8, of which 0 and 1 are not known; nor are others, or none. */
static uint8_t
class_of(const struct nsx_db_cell *type)
{
	static const uint8_t classes[] = {
		NSX_OVERHEAD_UNKNOWN, NSX_OVERHEAD_UNKNOWN, NSX_OVERHEAD_LOADING, NSX_OVERHEAD_PROFILER,
		    NSX_OVERHEAD_PROFILER,
		NSX_OVERHEAD_PROFILER,
		NSX_OVERHEAD_LOADING, NSX_OVERHEAD_LOADING, NSX_OVERHEAD_QUEUE_FULL
	};

	return type->type == NSX_DB_INT && type->i >= 0 && type->i <= 8 ? classes[type->i] : NSX_OVERHEAD_UNKNOWN;
}

static int
overhead_row(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_loader *l = ctx;
	struct nsx_host *h = l->host;
	struct nsx_raw_overhead o = { .key = NSX_NONE, .o.name = NSX_NONE };
	int64_t gtid, name, id;

	if (!nsx_cell_int(&v[START], &o.o.start) || !nsx_cell_int(&v[END], &o.o.end)) {
		h->bad++;
		return NSX_OK;
	}
	if (o.o.end < o.o.start) {
		h->backward++;
		return NSX_OK;
	}
	if (!nsx_cell_int(&v[GLOBAL_TID], &gtid)) {
		h->no_thread++;
		return NSX_OK;
	}
	o.o.gtid = (uint64_t)gtid;
	o.o.class = class_of(&v[TYPE]);
	if (nsx_cell_int(&v[NAME], &name) && (o.o.name = nsx_ids_at(&l->ids, name)) == NSX_NONE)
		return NSX_ERR;
	if (nsx_cell_int(&v[CORRELATION], &id) && (o.key = key_at(h, o.o.gtid & ~(uint64_t)0xFFFFFF, id)) == NSX_NONE)
		return NSX_ERR;
	return nsx_vec_push(&h->overheads, o) ? NSX_OK : NSX_ERR;
}

static int
scan(struct nsx_loader *l, const char *table, const struct nsx_db_col *cols, int n,
     int (*row)(void *, const struct nsx_db_cell *))
{
	struct nsx_db_scan s = { .table = table, .cols = cols, .ncols = n, .ctx = l, .cells = row };

	return nsx_db_has(&l->db, table) ? nsx_db_run(&l->db, &s, l->err) : NSX_OK;
}

int
nsx_host_keys(struct nsx_loader *l)
{
	if (!l->opts->issues)
		return NSX_OK;
	l->host = calloc(1, sizeof *l->host);
	if (!l->host)
		return nsx_load_nomem(l);
	if (scan(l, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", sync_columns, 6, sync_row) != NSX_OK)
		return NSX_ERR;
	if (!l->opts->calls)
		return NSX_OK;
	if (scan(l, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", event_columns, 5, event_row) != NSX_OK)
		return NSX_ERR;
	l->t->losses_known = nsx_db_has(&l->db, "CUPTI_ACTIVITY_KIND_OVERHEAD") ||
	    nsx_db_has(&l->db, "ENUM_CUPTI_OVERHEAD_TYPE");
	if (scan(l, "CUPTI_ACTIVITY_KIND_OVERHEAD", cupti_columns, NOVERHEAD, overhead_row) != NSX_OK
	    || scan(l, "PROFILER_OVERHEAD", profiler_columns, NOVERHEAD, overhead_row) != NSX_OK)
		return NSX_ERR;
	nsx_load_diag(l, NSX_WARNING, l->host->bad,
	              "overheads ignored: a time is missing or not an integer");
	nsx_load_diag(l, NSX_WARNING, l->host->backward, "overheads ignored: they end before they start");
	nsx_load_diag(l, NSX_WARNING, l->host->no_thread, "overheads ignored: without a thread");
	return NSX_OK;
}

/* ---- the calls that keys refer to */

struct nsx_part_thread *
nsx_host_thread(const struct nsx_loader *l, struct nsx_host_part *p, uint32_t track, uint64_t gtid)
{
	if (!nsx_vec_reach(&p->threads, track, &(struct nsx_part_thread){ NSX_NONE, 0, NSX_NONE }))
		return NULL;
	p->threads.p[track].process = nsx_map_get(&l->host->process_map, (struct nsx_key){ gtid & ~(uint64_t)0xFFFFFF,
		0 });
	return &p->threads.p[track];
}

uint32_t
nsx_host_name(struct nsx_host_part *p, int64_t id)
{
	size_t i = (uint64_t)id % NSX_NAME_CACHE;

	if (!p->cache[i].set || p->cache[i].id != id) {
		uint32_t name = nsx_ids_at(&p->names, id);
		if (name == NSX_NONE)
			return NSX_NONE;
		p->cache[i].id = id;
		p->cache[i].name = name;
		p->cache[i].set = true;
	}
	return p->cache[i].name;
}

/* The numbers of the part's names in the common list: an array by the part's number, NULL when out of memory. */
static uint32_t *
join_names(struct nsx_host *h, const struct nsx_ids *names)
{
	uint32_t *to = malloc((names->list.n + 1) * sizeof *to);

	for (size_t i = 0; to && i < names->list.n; i++)
		if ((to[i] = nsx_ids_at(&h->names, names->list.p[i])) == NSX_NONE) {
			free(to);
			return NULL;
		}
	return to;
}

static void
join_keys(struct nsx_host *h, struct nsx_host_part *p, const uint32_t *names)
{
	for (; p->keys.first; nsx_pile_drop(&p->keys)) {
		const struct nsx_part_key_call *c = (const void *)p->keys.first->data, *end = c + p->keys.first->n;
		for (; c < end; c++) {
			struct nsx_key_call *k = &h->key_calls.p[c->key];
			if (nsx_issue_before(&c->call, &k->call))
				*k = (struct nsx_key_call){ c->call, c->name == NSX_NONE ? (uint32_t)NSX_NONE
				                            : names[c->name] };
		}
	}
}

int
nsx_host_join(struct nsx_loader *l, struct nsx_host_part *const *parts, const struct nsx_tracks *const *tracks, int n)
{
	struct nsx_host *h = l->host;
	uint32_t **names = calloc((size_t)n + 1, sizeof *names);
	uint64_t no_thread = 0;
	int rc = NSX_OK;

	if (!names)
		return nsx_load_nomem(l);
	for (int i = 0; i < n && rc == NSX_OK; i++) {
		no_thread += parts[i]->no_thread;
		if (!(names[i] = join_names(h, &parts[i]->names)))
			rc = nsx_load_nomem(l);
		else
			join_keys(h, parts[i], names[i]);
	}
	nsx_load_diag(l, NSX_WARNING, no_thread, "CUDA calls ignored: without a thread");
	if (rc == NSX_OK && l->opts->calls)
		rc = nsx_host_calls_join(l, parts, tracks, n, names);
	h->name_ids = malloc((h->names.list.n + 1) * sizeof *h->name_ids);
	for (size_t i = 0; h->name_ids && rc == NSX_OK && i < h->names.list.n; i++)
		if ((h->name_ids[i] = nsx_ids_at(&l->ids, h->names.list.p[i])) == NSX_NONE)
			rc = nsx_load_nomem(l);
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return rc == NSX_OK && !h->name_ids ? nsx_load_nomem(l) : rc;
}

void
nsx_host_part_free(struct nsx_host_part *p)
{
	nsx_pile_free(&p->calls);
	nsx_pile_free(&p->keys);
	nsx_ids_free(&p->names);
	free(p->threads.p);
}

/* ---- names */

static int
name_calls(struct nsx_loader *l)
{
	struct nsx_trace *t = l->t;
	struct nsx_host *h = l->host;

	/* One more element, for calls without a name. */
	t->call_names = calloc(h->names.list.n + 1, sizeof *t->call_names);
	if (!t->call_names)
		return nsx_load_nomem(l);
	t->ncall_names = (uint32_t)h->names.list.n + 1;
	t->call_names[h->names.list.n].name = NSX_NONE;
	for (size_t i = 0; i < h->names.list.n; i++) {
		struct nsx_call_name *n = &t->call_names[i];
		n->name = l->id_names[h->name_ids[i]];
		if (n->name == NSX_NONE)
			continue;
		struct nsx_str s = nsx_intern_str(&t->names, n->name);
		*n = nsx_call_name_of(n->name, s);
		if ((n->name = nsx_intern(&t->names, nsx_call_name_bare(s))) == NSX_NONE)
			return nsx_load_nomem(l);
	}
	return NSX_OK;
}

/* ---- waits */

static int
count_waits(struct nsx_loader *l)
{
	struct nsx_trace *t = l->t;
	const struct nsx_host *h = l->host;
	struct nsx_wait *waits = malloc((h->syncs.n + 1) * sizeof *waits);
	size_t n = 0;

	for (size_t i = 0; waits && i < h->syncs.n; i++) {
		const struct nsx_sync *s = &h->syncs.p[i];
		const struct nsx_key_call *k = &h->key_calls.p[s->key];
		if (k->call.start <= k->call.end && k->name != NSX_NONE &&
		    t->call_names[k->name].role == NSX_CALL_WAITS_EVENT && !s->inferred)
			waits[n++] = (struct nsx_wait){ s->stream, k->call.start, s->device };
	}
	bool good = waits && nsx_waits_count(t, waits, n);
	free(waits);
	return good ? NSX_OK : nsx_load_nomem(l);
}

/* ---- overheads, finished */

static int
place_overheads(struct nsx_loader *l)
{
	struct nsx_trace *t = l->t;
	struct nsx_host *h = l->host;
	size_t n = h->overheads.n;
	struct nsx_pair_key *k = malloc((n + 1) * sizeof *k);

	t->overheads = malloc((n + 1) * sizeof *t->overheads);
	if (!k || !t->overheads || n >= NSX_NONE) {
		free(k);
		return nsx_load_nomem(l);
	}
	for (size_t i = 0; i < n; i++)
		k[i] = (struct nsx_pair_key){ h->overheads.p[i].o.start, h->overheads.p[i].o.end, (uint32_t)i };
	bool good = nsx_order_keys(k, n);
	for (size_t i = 0; good && i < n; i++) {
		const struct nsx_raw_overhead *from = &h->overheads.p[k[i].at];
		struct nsx_overhead *o = &t->overheads[i];
		*o = from->o;
		if (o->name != NSX_NONE)
			o->name = l->id_names[o->name];
		const struct nsx_issue *call = from->key == NSX_NONE ? NULL : &h->key_calls.p[from->key].call;
		if (call && call->start <= call->end) {
			o->has_call = true;
			o->call = call->id;
		}
	}
	t->noverheads = (uint32_t)n;
	free(k);
	return good ? NSX_OK : nsx_load_nomem(l);
}

int
nsx_host_finish(struct nsx_loader *l)
{
	if (!l->host)
		return NSX_OK;
	if (name_calls(l) != NSX_OK || count_waits(l) != NSX_OK)
		return NSX_ERR;
	if (!l->opts->calls)
		return NSX_OK;
	if (place_overheads(l) != NSX_OK || nsx_host_judge_unknown(l) != NSX_OK)
		return NSX_ERR;
	return nsx_host_calls_finish(l) == NSX_OK ? nsx_host_awaits(l) : NSX_ERR;
}

void
nsx_host_free(struct nsx_loader *l)
{
	struct nsx_host *h = l->host;

	if (!h)
		return;
	nsx_map_free(&h->process_map);
	nsx_launches_free(&h->keys);
	free(h->key_calls.p);
	free(h->syncs.p);
	free(h->events.p);
	free(h->overheads.p);
	free(h->judged.p);
	nsx_ids_free(&h->names);
	free(h->name_ids);
	free(h->launch_ops);
	free(h->launch_back);
	free(h);
	l->host = NULL;
}
