/* collectives.c -- instances of collectives: which device waited for which, and the duration of each compared with
 * similar ones.
 *
 * A device waits from its own start to that of the last one, except for the part that is hidden behind its own
 * computation:
 *
 *   device 0   100..150   hidden 0    waits 30 for device 2
 *   device 1   110..150   hidden 35   waits 20 for device 2, of which 15 are exposed: it is exposed for 15 in all
 *   device 2   130..151               the last; takes 21, the shortest, from which the bandwidth is computed
 *
 * Holds instances until all devices of the group have recorded them, and a sum for each unit: an instruction in one of
 * its groups, or the operations of one NCCL communicator, kind and size. */
#include <stdlib.h>

#include "table/diagnose/diagnose.h"

/* The number of a unit, created from `fresh` if it is new; NSX_NONE when out of memory. */
static uint32_t
unit_at(struct nsx_look_comm *c, struct nsx_key key, struct nsx_look_unit fresh)
{
	uint32_t *at = nsx_map_at(&c->unit_of, key);

	fresh.least = INT64_MAX;
	if (at && *at == NSX_NONE && nsx_vec_push(&c->units, fresh))
		*at = (uint32_t)(c->units.n - 1);
	return at ? *at : NSX_NONE;
}

static int
nomem(struct nsx_look_comm *c)
{
	return nsx_err_nomem(c->at->err, NULL);
}

/* n records of one instance: the one that began last; NULL if their clocks cannot be compared. */
static const struct nsx_look_record *
last_of(const struct nsx_look_record *of, size_t n)
{
	const struct nsx_look_record *last = of;

	for (size_t i = 1; i < n; i++) {
		if (of[i].clock != of->clock)
			return NULL;
		if (of[i].start > last->start || (of[i].start == last->start && of[i].device < last->device))
			last = &of[i];
	}
	return last;
}

static struct nsx_look_late *
late_at(struct nsx_look_comm *c, int64_t device)
{
	uint32_t at = nsx_map_number(&c->late_of, (struct nsx_key){ (uint64_t)device, 0 });
	struct nsx_look_late fresh = { .device = device };

	if (at == NSX_NONE || (at == c->late.n && !nsx_vec_push(&c->late, fresh)))
		return NULL;
	return &c->late.p[at];
}

static int
by_length(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Remember the devices of an instance of n records. */
static int
add_group(struct nsx_look_comm *c, const struct nsx_look_record *of, size_t n)
{
	c->waits.n = 0;
	for (size_t i = 0; i < n; i++)
		if (!nsx_vec_push(&c->waits, of[i].device))
			return nomem(c);
	qsort(c->waits.p, n, sizeof *c->waits.p, by_length);
	uint32_t at = nsx_intern(&c->group_of, (struct nsx_str){ (const char *)c->waits.p, n * sizeof *c->waits.p });

	if (at == NSX_NONE)
		return nomem(c);
	if (at < c->groups.n)
		return NSX_OK;
	if (!nsx_vec_push(&c->groups, ((struct nsx_look_group){ c->members.n, n })))
		return nomem(c);
	for (size_t i = 0; i < n; i++)
		if (!nsx_vec_push(&c->members, c->waits.p[i]))
			return nomem(c);
	return NSX_OK;
}

/* Blame those of n records that are late for the time that the median one waits: all that wait half of that at most, in
 * equal parts, since without the last of them the others would be waited for. */
static int
add_late(struct nsx_look_comm *c, const struct nsx_look_record *of, size_t n, const struct nsx_look_record *last,
         int64_t median)
{
	nsx_u128 gain = (nsx_u128)median * n, late = 0, part;

	for (size_t i = 0; i < n; i++)
		late += nsx_sub_sat(last->start, of[i].start, NULL) <= median / 2;
	part = gain / late;
	for (size_t i = 0; i < n; i++) {
		if (nsx_sub_sat(last->start, of[i].start, NULL) > median / 2)
			continue;
		struct nsx_look_late *l = late_at(c, of[i].device);

		if (!l)
			return nomem(c);
		nsx_u128 own = &of[i] == last ? gain - part * (late - 1) : part;

		l->gain += own;
		l->most = own > l->most ? own : l->most;
	}
	return NSX_OK;
}

/* Add an instance of n records to its unit. */
static int
add_instance(struct nsx_look_comm *c, uint32_t unit, const struct nsx_look_record *of, size_t n, bool partial)
{
	const struct nsx_look_record *last = last_of(of, n);
	struct nsx_look_unit *u = &c->units.p[unit];
	nsx_u128 waited = 0, exposed = 0;
	int64_t shortest = INT64_MAX;

	if (!nsx_look_within(c->at, last ? last->device : of->device, last ? last->start : of->start))
		return NSX_OK;
	if (!u->instances && last && n > 1 && add_group(c, of, n) != NSX_OK)
		return NSX_ERR;
	c->waits.n = 0;
	if (!nsx_vec_room(&c->waits, n))
		return nomem(c);
	c->apart += !last;
	c->together += last && n > 1;
	for (size_t i = 0; i < n; i++) {
		int64_t dur = of[i].end - of[i].start, wait = last ? nsx_sub_sat(last->start, of[i].start, NULL) : 0;
		int64_t open = of[i].hidden < 0 ? dur : of[i].hidden > dur ? 0 : dur - of[i].hidden;
		int64_t rest = nsx_look_rest(c->at, of[i].device, of[i].start);

		/* What lies behind the periods that are examined is no part of them. */
		open = rest >= 0 && open > rest ? rest : open;

		c->no_hidden += of[i].hidden < 0;
		shortest = dur < shortest ? dur : shortest;
		exposed += (nsx_u128)open;
		c->waits.p[c->waits.n++] = wait < open ? wait : open;
		waited += (nsx_u128)(wait < open ? wait : open);
		struct nsx_look_late *own = late_at(c, of[i].device);

		if (!own)
			return nomem(c);
		own->exposed += (nsx_u128)open;
		own->waited += (nsx_u128)(wait < open ? wait : open);
	}
	u->instances++;
	u->partial += partial || !last;
	u->records += (int64_t)n;
	u->rates += shortest > 0 && u->bytes > 0 ? (double)u->bytes / (double)shortest : 0;
	u->shortest_each += (nsx_u128)shortest * n;
	u->least = shortest < u->least ? shortest : u->least;
	u->waited += waited;
	u->exposed += exposed - waited;
	c->records += (int64_t)n;
	c->waited += waited;
	if (waited) {
		struct nsx_look_late *l = late_at(c, last->device);

		if (!l)
			return nomem(c);
		l->last++;
		/* The time by which all devices would continue earlier: at least half of them wait that long. A single
		 * early device costs the others nothing. */
		qsort(c->waits.p, n, sizeof *c->waits.p, by_length);
		return c->waits.p[n / 2] ? add_late(c, of, n, last, c->waits.p[n / 2]) : NSX_OK;
	}
	return NSX_OK;
}

/* ---- collectives of XLA, which are thunks */

/* The data kept of a device's record: the record, and its unit. */
struct held { struct nsx_look_record record; uint32_t unit; bool incomplete; };

static int
complete(void *state, struct nsx_key key, void *records, size_t n)
{
	struct nsx_look_comm *c = state;
	const struct held *held = records;
	bool partial = false;

	(void)key;
	c->scratch.n = 0;
	for (size_t i = 0; i < n; i++) {
		if (!nsx_vec_push(&c->scratch, held[i].record))
			return nomem(c);
		partial |= held[i].incomplete;
	}
	return add_instance(c, held->unit, c->scratch.p, n, partial);
}

static int
take_thunk(struct nsx_look_comm *c, const struct nsx_rec *rec)
{
	int64_t start = nsx_int(rec, NSX_THUNK_start, NSX_ABSENT), dur = nsx_int(rec, NSX_THUNK_dur, -1);
	struct nsx_look_unit fresh = { .bytes = -1, .group = -1, .like = NSX_NONE };
	struct held held = { .unit = NSX_NONE };
	struct nsx_comm_record r;
	struct nsx_key key;

	if (!nsx_is_comm(&c->comm, rec) || start == NSX_ABSENT || dur < 0)
		return NSX_OK;
	if (nsx_comm_describe(&c->comm, rec, &r, c->at->err) != NSX_OK)
		return NSX_ERR;
	if (!nsx_comm_instance(&c->comm, rec, &r, &key))
		return nomem(c);
	const struct nsx_cat_inst *inst = &c->comm.cat.insts.p[r.inst];

	held.record = (struct nsx_look_record){ nsx_int(rec, NSX_THUNK_device, NSX_ABSENT), start,
	                                        nsx_add_sat(start, dur, NULL),
	                                        nsx_int(rec, NSX_THUNK_hidden, -1), nsx_comm_clock(&c->comm, rec) };
	held.incomplete = r.incomplete;
	fresh.name = nsx_look_text(c->at, nsx_cat_str(&c->comm.cat, inst->name));
	fresh.kind = nsx_look_text(c->at, nsx_cat_str(&c->comm.cat, r.kind));
	fresh.bytes = r.has_bytes ? r.bytes : -1;
	fresh.group = r.has_group ? r.group : -1;
	fresh.like = nsx_map_number(&c->like_of, (struct nsx_key){ (uint64_t)fresh.kind << 1, (uint64_t)inst->groups });
	if (fresh.name == NSX_NONE || fresh.kind == NSX_NONE || fresh.like == NSX_NONE || held.record.clock == NSX_NONE)
		return nomem(c);
	held.unit = unit_at(c, (struct nsx_key){ nsx_comm_collective(&r), 0 }, fresh);
	if (held.unit == NSX_NONE)
		return nomem(c);
	return nsx_instances_add(&c->instances, key, &held, r.participants, c->at->err);
}

/* ---- operations that communicate by themselves */

/* An operation in no instance: counted in its kind only. */
static int
take_lone(struct nsx_look_comm *c, const struct nsx_rec *op)
{
	int64_t start = nsx_int(op, NSX_OP_start, NSX_ABSENT), dur = nsx_int(op, NSX_OP_dur, -1);
	struct nsx_look_record r = { nsx_int(op, NSX_OP_device, NSX_ABSENT), start, nsx_add_sat(start, dur, NULL),
	                             nsx_int(op, NSX_OP_hidden, -1), 0 };
	struct nsx_look_unit fresh = { .bytes = -1, .group = -1, .like = NSX_NONE };
	uint32_t unit;

	if (start == NSX_ABSENT || dur < 0)
		return NSX_OK;
	c->lone++;
	fresh.name = fresh.kind = nsx_look_text(c->at, nsx_string(op, NSX_OP_collective));
	unit = fresh.kind == NSX_NONE ? (uint32_t)NSX_NONE : unit_at(c, (struct nsx_key){ fresh.kind, 1 }, fresh);
	return unit == NSX_NONE ? nomem(c) : add_instance(c, unit, &r, 1, true);
}

static int
take_op(struct nsx_look_comm *c, const struct nsx_rec *op)
{
	uint32_t clock;

	if (!nsx_is_comm_op(&c->comm, op))
		return NSX_OK;
	if (!nsx_nccl_is(op))
		return take_lone(c, op);
	clock = nsx_comm_clock(&c->comm, op);
	return clock == NSX_NONE ? nomem(c) : nsx_nccl_take(&c->nccl, op, clock, c->at->err);
}

/* The operations [a, b) are an instance. */
static int
close_nccl(struct nsx_look_comm *c, size_t a, size_t b)
{
	const struct nsx_nccl_op *o = &c->nccl.ops.p[a];
	const struct nsx_nccl_key *k = &c->nccl.keys.p[o->key];
	struct nsx_look_unit fresh = { .bytes = -1, .group = -1, .like = NSX_NONE, .nccl = true };
	struct nsx_str kind = nsx_intern_str(&c->nccl.texts, k->kind);
	uint32_t unit = NSX_NONE;

	c->scratch.n = 0;
	for (size_t i = a; i < b; i++) {
		const struct nsx_nccl_op *x = &c->nccl.ops.p[i];
		const struct nsx_nccl_device *d = &c->nccl.devices.p[x->device];

		if (!nsx_vec_push(&c->scratch, ((struct nsx_look_record){ d->number, x->start,
		                                                          nsx_add_sat(x->start, x->dur, NULL),
		                                                          x->hidden, d->clock })))
			return nomem(c);
		fresh.bytes = x->bytes > fresh.bytes ? x->bytes : fresh.bytes;
		fresh.group = x->group > fresh.group ? x->group : fresh.group;
	}
	c->at->text.len = 0;
	nsx_buf_str(&c->at->text, kind);
	nsx_buf_c(&c->at->text, " of communicator ");
	nsx_buf_str(&c->at->text, nsx_intern_str(&c->nccl.texts, k->comm));
	fresh.name = nsx_look_text(c->at, nsx_buf_view(&c->at->text));
	fresh.kind = nsx_look_text(c->at, kind);
	fresh.comm = nsx_look_text(c->at, nsx_intern_str(&c->nccl.texts, k->comm));
	fresh.like = nsx_map_number(&c->like_of, (struct nsx_key){ (uint64_t)fresh.kind << 1 | 1, k->comm });
	if (fresh.name != NSX_NONE && fresh.kind != NSX_NONE && fresh.comm != NSX_NONE && fresh.like != NSX_NONE)
		unit = unit_at(c, (struct nsx_key){ (uint64_t)o->key << 8 | 2, (uint64_t)fresh.bytes }, fresh);
	if (unit == NSX_NONE)
		return nomem(c);
	return add_instance(c, unit, c->scratch.p, c->scratch.n, (int64_t)(b - a) < fresh.group);
}

/* ---- all collectives */

int
nsx_look_comm_take(struct nsx_look_comm *c, const struct nsx_rec *rec)
{
	if (!c->instances.complete)
		c->instances = (struct nsx_instances){ .size = sizeof(struct held), .complete = complete, .state = c };
	switch (rec->kind->id) {
	case NSX_THUNK: return take_thunk(c, rec);
	case NSX_OP:    return take_op(c, rec);
	case NSX_COMMUNICATOR:
		if (nsx_nccl_take(&c->nccl, rec, 0, c->at->err) != NSX_OK)
			return NSX_ERR;
		return nsx_comm_take(&c->comm, rec, c->at->err);
	default:        return nsx_comm_take(&c->comm, rec, c->at->err);
	}
}

/* ---- comparison of similar units */

static int
by_like(const void *a, const void *b)
{
	const struct nsx_look_unit *x = a, *y = b;

	if (x->like != y->like)
		return x->like < y->like ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/* Bytes per ns of a unit, the mean over its instances; of the quickest instance if devices are missing, since others
 * may wait for those. 0: unknown. */
static double
rate_of(const struct nsx_look_unit *u)
{
	if (u->like == NSX_NONE || !u->instances || u->bytes <= 0)
		return 0;
	return !u->partial ? u->rates / (double)u->instances : u->least > 0 ? (double)u->bytes / (double)u->least : 0;
}

static double
busbw(const struct nsx_look_comm *c, const struct nsx_look_unit *u, double rate)
{
	double algbw = 0, bus = 0;

	if (u->group > 0)
		nsx_comm_bandwidth(nsx_look_str(c->at, u->kind), 1000000, u->group, 1000000, &algbw, &bus);
	return u->group > 0 ? bus * rate : rate;
}

/* Units similar to a unit have its kind, the same devices, and at most twice its size: larger ones reach higher
 * bandwidths. */
static void
compare_units(struct nsx_look_comm *c)
{
	struct nsx_look_unit *u = c->units.p;

	if (c->units.n > 1)
		qsort(u, c->units.n, sizeof *u, by_like);
	for (size_t i = 0, k = 0, first = 0; i < c->units.n; i++) {
		double rate = rate_of(&u[i]), best;

		if (i == 0 || u[i].like != u[first].like)
			first = k = i;
		/* like_busbw temporarily holds the best rate so far. */
		best = i > first ? u[i - 1].like_busbw : 0;
		for (; k < c->units.n && u[k].like == u[i].like && u[k].bytes / 2 <= u[i].bytes; k++)
			best = rate_of(&u[k]) > best ? rate_of(&u[k]) : best;
		u[i].like_busbw = best;
		if (rate > 0 && best > rate) {
			double n = (double)u[i].records;
			double over = u[i].partial ? n * (double)u[i].least : (double)u[i].shortest_each;

			over -= n * (double)u[i].bytes / best;
			u[i].excess = over < (double)u[i].exposed ? over : (double)u[i].exposed;
		}
	}
	for (size_t i = 0; i < c->units.n; i++) {
		u[i].busbw = busbw(c, &u[i], rate_of(&u[i]));
		u[i].like_busbw = busbw(c, &u[i], u[i].like_busbw);
	}
}

int
nsx_look_comm_finish(struct nsx_look_comm *c)
{
	int rc = nsx_instances_finish(&c->instances, c->at->err);

	if (rc == NSX_OK)
		rc = nsx_nccl_number(&c->nccl, c->at->err);
	for (size_t i = 0, k; rc == NSX_OK && i < c->nccl.ops.n; i = k) {
		k = nsx_nccl_instance(&c->nccl, i);
		rc = close_nccl(c, i, k);
	}
	if (rc == NSX_OK)
		compare_units(c);
	return rc;
}

void
nsx_look_comm_bound(struct nsx_look_at *a)
{
	struct nsx_look_comm *c = &a->comm;
	/* Instructions may communicate in a stream in which no operation is known to communicate. */
	bool by_ops = a->ops && a->cells[NSX_PART_COMM];
	double within = 0;

	c->known = by_ops || !c->no_hidden;
	c->all = by_ops ? (double)a->cells[NSX_PART_COMM] : 0;
	c->most_device = NSX_ABSENT;
	for (size_t i = 0; i < c->late.n; i++) {
		const struct nsx_look_late *l = &c->late.p[i];
		const struct nsx_look_device *d = nsx_look_device(a, l->device);
		const struct idle_window *w = d ? nsx_look_window(a, d) : NULL;
		double waited = (double)l->waited, exposed = (double)l->exposed, mean;

		if (by_ops)
			exposed = w ? (double)w->cells[NSX_PART_COMM].ns : 0;
		else if (!d)
			exposed = 0;
		else if (exposed > (double)d->time)
			exposed = (double)d->time;
		c->all += by_ops ? 0 : exposed;
		within += waited < exposed ? waited : exposed;
		mean = d && d->periods ? exposed / (double)d->periods : 0;
		if (mean > c->most || (mean > 0 && mean >= c->most && l->device < c->most_device)) {
			c->most = mean;
			c->most_device = l->device;
		}
	}
	c->share = c->waited && within < (double)c->waited ? within / (double)c->waited : 1;
}

void
nsx_look_comm_free(struct nsx_look_comm *c)
{
	nsx_comm_free(&c->comm);
	nsx_instances_free(&c->instances);
	nsx_nccl_free(&c->nccl);
	nsx_map_free(&c->unit_of);
	nsx_map_free(&c->like_of);
	nsx_map_free(&c->late_of);
	free(c->units.p);
	free(c->late.p);
	free(c->scratch.p);
	free(c->waits.p);
	free(c->groups.p);
	free(c->members.p);
	nsx_intern_free(&c->group_of);
}
