/* ops.c -- the tables of GPU operations into devices, launches and, if requested, operations. */
#include <stdlib.h>

#include "base/sort.h"
#include "nsys/cuda.h"
#include "nsys/host.h"
#include "source/order.h"

enum { START, END, DEVICE, CORRELATION, PROCESS, STREAM, NODE, WHAT, BYTES, SRC, DST, FROM_DEVICE, TO_DEVICE,
       NCOLUMNS };

/* Members that only complete operations need are last. `what`: a kernel's name, a copy's kind. */
#define COMMON { "start", false }, { "end", false }, { "deviceId", false }, { "correlationId", true }, \
	{ "globalPid", false }

#define NONE { "-", true }

static const struct {
	const char        *table, *what;
	enum nsx_op_type   type;
	struct nsx_db_col  cols[NCOLUMNS];
} tables[NSX_OP_TABLES] = {
	[NSX_TABLE_KERNELS] = { "CUPTI_ACTIVITY_KIND_KERNEL", "kernels", NSX_OP_KERNEL,
	  { COMMON, { "streamId", false }, { "graphNodeId", true }, { "demangledName", false }, NONE, NONE, NONE, NONE,
	    NONE } },
	[NSX_TABLE_COPIES] = { "CUPTI_ACTIVITY_KIND_MEMCPY", "copies", NSX_OP_MEMCPY,
	  { COMMON, { "streamId", false }, { "graphNodeId", true }, { "copyKind", false }, { "bytes", false },
	    { "srcKind", true }, { "dstKind", true }, { "srcDeviceId", true }, { "dstDeviceId", true } } },
	/* Batches of copies that are decompressed during the copy. */
	[NSX_TABLE_DECOMPRESSIONS] = { "CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS", "decompressions", NSX_OP_MEMCPY,
	  { COMMON, { "streamId", false }, { "graphNodeId", true }, NONE, { "sourceBytes", true }, NONE, NONE, NONE,
	    NONE } },
	[NSX_TABLE_SETS] = { "CUPTI_ACTIVITY_KIND_MEMSET", "memory sets", NSX_OP_MEMSET,
	  { COMMON, { "streamId", false }, { "graphNodeId", true }, NONE, { "bytes", false }, NONE, { "memKind", true },
	    NONE, NONE } },
	[NSX_TABLE_GRAPHS] = { "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUDA graphs", NSX_OP_GRAPH,
	  { COMMON, { "streamId", false }, NONE, NONE, NONE, NONE, NONE, NONE, NONE } },
};

struct op { int64_t start, end, id; uint32_t device; bool has_id; };
struct op_more { int64_t bytes, node, what, stream; bool has_what, peer; uint8_t src, dst; };
struct part_device { uint64_t gpid; int64_t cuda, last; uint32_t process, device; };

struct nsx_op_part {
	enum nsx_op_table table;
	bool              whole;       /* `more` is stored too */
	struct nsx_pile   ops, more;   /* struct op, struct op_more */
	struct nsx_map    device_map;
	NSX_VEC(struct part_device) devices;
	uint32_t          last_device;
	uint64_t          bad, backward;
};

/* ---- reading */

enum { PEER_TO_PEER = 10 };   /* CUpti_ActivityMemcpyKind */

/* Whether a copy goes from one device to another. Unknown ids at both ends: not known, false. */
static bool
is_peer(const struct nsx_db_cell *v, const struct op_more *more)
{
	int64_t from, to;

	if (more->has_what && more->what == PEER_TO_PEER)
		return true;
	return nsx_cell_int(&v[FROM_DEVICE], &from) && nsx_cell_int(&v[TO_DEVICE], &to) && from != to;
}

static uint32_t
device_at(struct nsx_op_part *p, uint64_t gpid, int64_t cuda)
{
	uint32_t i = p->last_device;

	if (i < p->devices.n && p->devices.p[i].gpid == gpid && p->devices.p[i].cuda == cuda)
		return i;
	uint32_t *at = nsx_map_at(&p->device_map, (struct nsx_key){ gpid, (uint64_t)cuda });
	if (!at)
		return NSX_NONE;
	if (*at == NSX_NONE) {
		if (!nsx_vec_push(&p->devices, ((struct part_device){ .gpid = gpid, .cuda = cuda, .last = INT64_MIN })))
			return NSX_NONE;
		*at = (uint32_t)p->devices.n - 1;
	}
	return p->last_device = *at;
}

/* Values of enum nsx_memory_kind; others count as unknown. */
static uint8_t
memory_kind(const struct nsx_db_cell *v)
{
	return v->type == NSX_DB_INT && v->i >= 0 && v->i < NSX_MEMORY_KINDS ? (uint8_t)v->i
	       : (uint8_t)NSX_MEMORY_KINDS;
}

static int
read_row(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_op_part *p = ctx;
	struct op op = { 0 };
	struct op_more more = { .node = -1, .bytes = -1 };
	int64_t cuda, gpid, stream = 0, node = -1, bytes = -1;
	bool has_node = false, has_bytes = false;

	if (!nsx_cell_int(&v[START], &op.start) || !nsx_cell_int(&v[END], &op.end) ||
	    !nsx_cell_int(&v[DEVICE], &cuda) || !nsx_cell_int(&v[PROCESS], &gpid) ||
	    !nsx_cell_int_null(&v[CORRELATION], &op.id, &op.has_id) ||
	    (p->whole && (!nsx_cell_int(&v[STREAM], &stream) || !nsx_cell_int_null(&v[NODE], &node, &has_node) ||
	                  !nsx_cell_int_null(&v[WHAT], &more.what, &more.has_what) ||
	                  !nsx_cell_int_null(&v[BYTES], &bytes, &has_bytes)))) {
		p->bad++;
		return NSX_OK;
	}
	if (op.end < op.start) {
		p->backward++;
		return NSX_OK;
	}
	op.device = device_at(p, (uint64_t)gpid, cuda);
	struct op *out = op.device == NSX_NONE ? NULL : nsx_pile_add(&p->ops);
	if (!out)
		return NSX_ERR;
	*out = op;
	if (op.start > p->devices.p[op.device].last)
		p->devices.p[op.device].last = op.start;
	if (p->whole) {
		struct op_more *out_more = nsx_pile_add(&p->more);
		if (!out_more)
			return NSX_ERR;
		more.stream = stream;
		more.peer = p->table == NSX_TABLE_COPIES && is_peer(v, &more);
		more.src = memory_kind(&v[SRC]);
		more.dst = memory_kind(&v[DST]);
		if (has_node)
			more.node = node;
		if (has_bytes)
			more.bytes = bytes;
		*out_more = more;
	}
	return NSX_OK;
}

int
nsx_ops_tasks(struct nsx_loader *l, nsx_tasks *tasks)
{
	int64_t lo[NSX_OP_TABLES], hi[NSX_OP_TABLES];
	int n[NSX_OP_TABLES], total = 0;

	for (int k = 0; k < NSX_OP_TABLES; k++) {
		if (nsx_load_cut(l, tables[k].table, &n[k], &lo[k], &hi[k]) != NSX_OK)
			return NSX_ERR;
		total += n[k];
	}
	l->op_parts = calloc((size_t)total + 1, sizeof *l->op_parts);
	if (!l->op_parts || !nsx_vec_room(tasks, (size_t)total))
		return nsx_load_nomem(l);
	for (int k = 0; k < NSX_OP_TABLES; k++)
		for (int i = 0; i < n[k]; i++) {
			struct nsx_op_part *p = &l->op_parts[l->nop_parts++];
			struct nsx_task *task = &tasks->p[tasks->n++];

			*p = (struct nsx_op_part){ .table = (enum nsx_op_table)k, .whole = l->opts->ops,
			                           .ops = { .size = sizeof(struct op) },
			                           .more = { .size = sizeof(struct op_more) } };
			*task = (struct nsx_task){ .scan = { tables[k].table, tables[k].cols,
			                                     l->opts->ops ? NCOLUMNS : STREAM,
			                                     .ctx = p, .cells = read_row } };
			nsx_load_part(&task->scan, i, n[k], lo[k], hi[k]);
		}
	return NSX_OK;
}

/* ---- joining */

NSX_ORDER(by_value, uint64_t, NSX_CMP(*a, *b))

NSX_ORDER(by_process, struct nsx_device, NSX_CMP(a->process, b->process), NSX_CMP(a->cuda, b->cuda))

uint32_t
nsx_gpid_find(const struct nsx_loader *l, uint64_t gpid)
{
	const uint64_t *p = l->gpids.n ? bsearch(&gpid, l->gpids.p, l->gpids.n, sizeof gpid, by_value) : NULL;

	return p ? (uint32_t)(p - l->gpids.p) : NSX_NONE;
}

/* l->gpids and t->devices, and the indices in them of the parts' numbers. */
static int
join_devices(struct nsx_loader *l)
{
	NSX_VEC(struct nsx_device) all = { 0 };
	struct nsx_map seen = { 0 };
	bool good = true;
	size_t n = 0;

	for (int i = 0; good && i < l->nop_parts; i++)
		for (size_t k = 0; good && k < l->op_parts[i].devices.n; k++)
			good = nsx_vec_push(&l->gpids, l->op_parts[i].devices.p[k].gpid);
	if (l->gpids.n)
		qsort(l->gpids.p, l->gpids.n, sizeof *l->gpids.p, by_value);
	for (size_t i = 0; i < l->gpids.n; i++)
		if (!n || l->gpids.p[n - 1] != l->gpids.p[i])
			l->gpids.p[n++] = l->gpids.p[i];
	l->gpids.n = n;
	for (int i = 0; good && i < l->nop_parts; i++)
		for (size_t k = 0; good && k < l->op_parts[i].devices.n; k++) {
			struct part_device *d = &l->op_parts[i].devices.p[k];
			uint32_t *at = nsx_map_at(&seen, (struct nsx_key){ d->process = nsx_gpid_find(l, d->gpid),
				(uint64_t)d->cuda });
			good = at && (*at != NSX_NONE || nsx_vec_push(&all, ((struct nsx_device){
				.process = d->process, .cuda = d->cuda, .last = INT64_MIN, .sms = -1, .clock = -1,
				.bandwidth = -1, .cc = -1, .memory = -1 })));
			if (at)
				*at = 0;
		}
	if (all.n)
		qsort(all.p, all.n, sizeof *all.p, by_process);
	for (size_t i = 0; good && i < all.n; i++)
		/* all are present */
		*nsx_map_at(&seen, (struct nsx_key){ all.p[i].process, (uint64_t)all.p[i].cuda }) = (uint32_t)i;
	for (int i = 0; good && i < l->nop_parts; i++)
		for (size_t k = 0; k < l->op_parts[i].devices.n; k++) {
			struct part_device *d = &l->op_parts[i].devices.p[k];
			d->device = nsx_map_get(&seen, (struct nsx_key){ d->process, (uint64_t)d->cuda });
			if (d->last > all.p[d->device].last)
				all.p[d->device].last = d->last;
		}
	nsx_map_free(&seen);
	l->t->devices = all.p;
	l->t->ndevices = (uint32_t)all.n;
	return good ? NSX_OK : nsx_load_nomem(l);
}

/* Stores the launch in *launch; NSX_ERR when out of memory. */
static int
launch(struct nsx_launches *ls, const struct op *op, const struct part_device *d, uint32_t *launch)
{
	*launch = NSX_NONE;
	if (!op->has_id)
		return NSX_OK;
	*launch = nsx_launch_at(ls, d->process, op->id);
	if (*launch == NSX_NONE)
		return NSX_ERR;
	struct nsx_launch *l = &ls->list.p[*launch];
	if (l->start > l->end)
		l->device = d->device;
	else if (l->device != d->device)
		l->device = NSX_NONE;
	if (op->start < l->start)
		l->start = op->start;
	if (op->end > l->end)
		l->end = op->end;
	return NSX_OK;
}

static struct nsx_str
copy_kind(int64_t kind, struct nsx_buf *b)
{
	static const char *const kinds[] = {
		"Unknown", "Host-to-Device", "Device-to-Host", "Host-to-Array", "Array-to-Host", "Array-to-Array",
		"Array-to-Device",
		"Device-to-Array", "Device-to-Device", "Host-to-Host", "Peer-to-Peer", "Unified Host-to-Device",
		"Unified Device-to-Host",
		"Unified Device-to-Device"
	};

	b->len = 0;
	if (kind >= 0 && kind < (int64_t)(sizeof kinds / sizeof *kinds))
		nsx_buf_fmt(b, "[CUDA memcpy %s]", kinds[kind]);
	else
		nsx_buf_fmt(b, "[CUDA memcpy kind %lld]", (long long)kind);
	return nsx_buf_view(b);
}

/* The operation's name: in t->names, or for a kernel in l->ids until finished. False when out of memory. */
static bool
op_name(struct nsx_loader *l, enum nsx_op_table table, const struct op_more *m, uint32_t *name)
{
	struct nsx_buf b = { 0 };

	*name = NSX_NONE;
	switch (table) {
	case NSX_TABLE_KERNELS:
		return !m->has_what || (*name = nsx_ids_at(&l->ids, m->what)) != NSX_NONE;
	case NSX_TABLE_COPIES:
		*name = nsx_intern(&l->t->names, copy_kind(m->has_what ? m->what : 0, &b));
		if (b.failed)
			*name = NSX_NONE;
		nsx_buf_free(&b);
		break;
	case NSX_TABLE_DECOMPRESSIONS:
		*name = nsx_intern(&l->t->names, nsx_str_c("[CUDA mem decompress]"));
		break;
	case NSX_TABLE_SETS:
		*name = nsx_intern(&l->t->names, nsx_str_c("[CUDA memset]"));
		break;
	default:
		*name = nsx_intern(&l->t->names, nsx_str_c("[CUDA graph]"));
	}
	return *name != NSX_NONE;
}

/* Move one part's operations to l->op_launch and t->ops, from number *at on. */
static int
join_part(struct nsx_loader *l, struct nsx_op_part *p, uint64_t *at)
{
	for (; p->ops.first; nsx_pile_drop(&p->ops)) {
		const struct op *op = (const void *)p->ops.first->data, *end = op + p->ops.first->n;
		for (; op < end; op++) {
			const struct part_device *d = &p->devices.p[op->device];
			uint32_t *to = &l->op_launch[(*at)++];
			if (launch(l->launches, op, d, to) != NSX_OK)
				return nsx_load_nomem(l);
			if (!p->whole)
				continue;
			l->t->ops[*at - 1] = (struct nsx_gpu_op){
				.start = op->start, .end = op->end, .call_start = INT64_MIN, .device = d->device,
				.range = NSX_NONE, .launch = NSX_NONE, .type = (uint8_t)tables[p->table].type
			};
		}
	}
	return NSX_OK;
}

static int
join_more(struct nsx_loader *l, struct nsx_op_part *p, uint64_t at)
{
	int64_t last = 0;
	uint32_t last_name = NSX_NONE;

	for (; p->more.first; nsx_pile_drop(&p->more)) {
		const struct op_more *m = (const void *)p->more.first->data, *end = m + p->more.first->n;
		for (; m < end; m++) {
			struct nsx_gpu_op *op = &l->t->ops[at++];
			if (last_name == NSX_NONE || m->what != last || !m->has_what) {
				if (!op_name(l, p->table, m, &last_name))
					return nsx_load_nomem(l);
				last = m->what;
			}
			op->name = last_name;
			op->bytes = m->bytes;
			op->graph_node = m->node;
			op->stream = m->stream;
			op->peer = m->peer;
			op->src = m->src;
			op->dst = m->dst;
		}
	}
	return NSX_OK;
}

int
nsx_ops_join(struct nsx_loader *l)
{
	uint64_t at = 0, bad[NSX_OP_TABLES] = { 0 }, backward[NSX_OP_TABLES] = { 0 };

	if (join_devices(l) != NSX_OK)
		return NSX_ERR;
	for (int i = 0; i < l->nop_parts; i++) {
		const struct nsx_op_part *p = &l->op_parts[i];
		l->nops += p->ops.n;
		l->table_ops[p->table] += p->ops.n;
		bad[p->table] += p->bad;
		backward[p->table] += p->backward;
	}
	for (int k = 0; k < NSX_OP_TABLES; k++) {
		nsx_load_diag(l, NSX_WARNING, bad[k],
		              "%s: rows ignored: a number is missing or not an integer",
		              tables[k].table);
		nsx_load_diag(l, NSX_WARNING, backward[k], "%s ignored: they end before they start", tables[k].what);
	}
	if (l->nops > UINT32_MAX / 2)
		return nsx_err_set(l->err, "%s: more than %u GPU operations", l->db.path, UINT32_MAX / 2);
	l->launches = calloc(1, sizeof *l->launches);
	l->op_launch = nsx_big_alloc(l->nops, sizeof *l->op_launch);
	if (l->opts->ops)
		l->t->ops = nsx_big_alloc(l->nops, sizeof *l->t->ops);
	if (!l->launches || !l->op_launch || (l->opts->ops && !l->t->ops))
		return nsx_load_nomem(l);
	if (!nsx_launches_room(l->launches, l->nops))
		return nsx_load_nomem(l);
	l->t->nops = l->opts->ops ? (uint32_t)l->nops : 0;
	for (int i = 0; i < l->nop_parts; i++) {
		uint64_t first = at;
		if (join_part(l, &l->op_parts[i], &at) != NSX_OK || join_more(l, &l->op_parts[i], first) != NSX_OK)
			return NSX_ERR;
	}
	nsx_ops_free(l);
	return NSX_OK;
}

/* ---- finishing */

static int
sort_ops(struct nsx_loader *l)
{
	struct nsx_trace *t = l->t;
	struct nsx_pair_key *k = malloc(((size_t)t->nops + 1) * sizeof *k);

	for (uint32_t i = 0; k && i < t->nops; i++)
		k[i] = (struct nsx_pair_key){ t->ops[i].start, t->ops[i].end, i };
	bool good = k && nsx_order_keys(k, t->nops);
	if (good)
		nsx_order_apply(t->ops, sizeof *t->ops, k, t->nops);
	free(k);
	return good ? NSX_OK : nsx_load_nomem(l);
}

int
nsx_ops_finish(struct nsx_loader *l)
{
	uint64_t at = 0;

	for (int k = 0; k < NSX_OP_TABLES; k++) {
		uint64_t lost = 0;
		for (uint64_t end = at + l->table_ops[k]; at < end; at++) {
			uint32_t launch = l->op_launch[at];
			if (launch == NSX_NONE || !l->launches->list.p[launch].ncalls)
				lost++;
			else if (l->t->ops) {
				nsx_calls_of(l, launch, &l->t->ops[at]);
				if (l->opts->calls)
					nsx_host_issued(l, launch, &l->t->ops[at]);
			}
			if (l->t->ops && k == NSX_TABLE_KERNELS && l->t->ops[at].name != NSX_NONE)
				l->t->ops[at].name = l->id_names[l->t->ops[at].name];
		}
		nsx_load_diag(l, NSX_WARNING, lost, "%s whose CUDA call is not in the export: they belong to no range",
		              tables[k].what);
	}
	return l->t->ops ? sort_ops(l) : NSX_OK;
}

void
nsx_ops_free(struct nsx_loader *l)
{
	for (int i = 0; i < l->nop_parts; i++) {
		struct nsx_op_part *p = &l->op_parts[i];
		nsx_pile_free(&p->ops);
		nsx_pile_free(&p->more);
		nsx_map_free(&p->device_map);
		free(p->devices.p);
	}
	free(l->op_parts);
	l->op_parts = NULL;
	l->nop_parts = 0;
}
