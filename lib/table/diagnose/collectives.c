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
 * A sum is held for each unit of instances (job/comm/pairing.h): an instruction in one of
 * its groups, or the operations of one NCCL communicator, kind and size. */
#include <stdlib.h>

#include "base/sort.h"
#include "job/hidden.h"
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
	for (size_t i = 0; i < n; i++)
		if (of[i].late)
			return &of[i];
	return n == 1 ? of : NULL;
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

/* Remember the devices of an instance of n records. */
static int
add_group(struct nsx_look_comm *c, const struct nsx_look_record *of, size_t n)
{
	c->waits.n = 0;
	for (size_t i = 0; i < n; i++)
		if (!nsx_vec_push(&c->waits, of[i].device))
			return nomem(c);
	qsort(c->waits.p, n, sizeof *c->waits.p, nsx_sort_by_int);
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
	int64_t shortest = INT64_MAX, cut = 0;   /* nsysx-collectives tells of what is cut */

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
		int64_t open = dur - nsx_hidden_of(dur, of[i].hidden, &cut);
		int64_t rest = nsx_look_rest(c->at, of[i].device, of[i].start);

		/* What lies behind the periods that are examined is no part of them. */
		open = rest >= 0 && open > rest ? rest : open;

		c->no_hidden += of[i].hidden == NSX_ABSENT;
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
		qsort(c->waits.p, n, sizeof *c->waits.p, nsx_sort_by_int);
		return c->waits.p[n / 2] ? add_late(c, of, n, last, c->waits.p[n / 2]) : NSX_OK;
	}
	return NSX_OK;
}

/* ---- the unit of an instance */

/* Of thunks: their instruction, in one of its groups. */
static uint32_t
unit_of_thunks(struct nsx_look_comm *c, const struct nsx_collective *of)
{
	const struct nsx_catalogue *cat = &c->pairing.comm.cat;
	const struct nsx_cat_inst *inst = &cat->insts.p[nsx_comm_collective_inst(of->collective)];
	struct nsx_look_unit fresh = { .bytes = of->bytes < 0 ? -1 : of->bytes, .group = of->group < 0 ? -1
	    : of->group };

	fresh.name = nsx_look_text(c->at, nsx_cat_str(cat, inst->name));
	fresh.kind = nsx_look_text(c->at, nsx_cat_str(cat, of->kind));
	fresh.like = nsx_map_number(&c->like_of, (struct nsx_key){ (uint64_t)fresh.kind << 1, (uint64_t)inst->groups });
	return fresh.name == NSX_NONE || fresh.kind == NSX_NONE || fresh.like == NSX_NONE
	       ? (uint32_t)NSX_NONE : unit_at(c, (struct nsx_key){ of->collective, 0 }, fresh);
}

/* Of operations of an NCCL communicator: it, their kind and size, and the pair of ranks. */
static uint32_t
unit_of_nccl(struct nsx_look_comm *c, const struct nsx_collective *of, size_t n)
{
	const struct nsx_catalogue *cat = &c->pairing.comm.cat;
	struct nsx_look_unit fresh = { .bytes = -1, .group = -1, .nccl = true };
	struct nsx_key key = { (uint64_t)of->comm_id << 32 | of->kind, (uint64_t)1 << 63 | of->pair };
	uint32_t number = nsx_map_number(&c->like_of, key);

	for (size_t i = 0; i < n; i++) {
		fresh.bytes = of[i].bytes > fresh.bytes ? of[i].bytes : fresh.bytes;
		fresh.group = of[i].group > fresh.group ? of[i].group : fresh.group;
	}
	c->at->text.len = 0;
	nsx_buf_str(&c->at->text, nsx_cat_str(cat, of->kind));
	nsx_buf_c(&c->at->text, " of communicator ");
	nsx_buf_str(&c->at->text, nsx_cat_str(cat, of->comm_id));
	fresh.name = nsx_look_text(c->at, nsx_buf_view(&c->at->text));
	fresh.kind = nsx_look_text(c->at, nsx_cat_str(cat, of->kind));
	fresh.comm = nsx_look_text(c->at, nsx_cat_str(cat, of->comm_id));
	fresh.like = nsx_map_number(&c->like_of, (struct nsx_key){ (uint64_t)fresh.kind << 1 | 1, of->comm_id });
	return number == NSX_NONE || fresh.name == NSX_NONE || fresh.kind == NSX_NONE || fresh.comm == NSX_NONE
	       || fresh.like == NSX_NONE
	       ? (uint32_t)NSX_NONE : unit_at(c, (struct nsx_key){ (uint64_t)number << 8 | 2,
	       (uint64_t)fresh.bytes }, fresh);
}

/* Of an operation in no instance: its kind only. */
static uint32_t
unit_of_lone(struct nsx_look_comm *c, const struct nsx_collective *of)
{
	struct nsx_look_unit fresh = { .bytes = -1, .group = -1, .like = NSX_NONE };

	fresh.name = fresh.kind = nsx_look_text(c->at, of->kind == NSX_NONE ? NSX_STR("")
	                                        : nsx_cat_str(&c->pairing.comm.cat, of->kind));
	return fresh.kind == NSX_NONE ? (uint32_t)NSX_NONE : unit_at(c, (struct nsx_key){ fresh.kind, 1 }, fresh);
}

static int
take_instance(void *state, struct nsx_collective *of, size_t n)
{
	struct nsx_look_comm *c = state;
	bool lone = of->single && !of->apart, partial = lone;
	uint32_t unit = of->thunk ? unit_of_thunks(c, of) : lone ? unit_of_lone(c, of) : unit_of_nccl(c, of, n);

	c->scratch.n = 0;
	if (unit == NSX_NONE || !nsx_vec_room(&c->scratch, n))
		return nomem(c);
	c->lone += lone;
	/* Its clock cannot be compared with those of the others. */
	c->apart += of->apart;
	for (size_t i = 0; i < n; i++) {
		partial |= of[i].incomplete || (!of[i].thunk && (int64_t)n < of[i].group);
		c->scratch.p[c->scratch.n++] = (struct nsx_look_record){
			of[i].device, of[i].start, nsx_add_sat(of[i].start, of[i].dur, NULL),
			of[i].hidden, of[i].late };
	}
	return add_instance(c, unit, c->scratch.p, n, partial);
}

/* ---- all collectives */

static int
begin(void *state, const void *options, const struct nsx_analysis_at *at)
{
	struct nsx_look_comm *c = state;

	(void)options;
	c->pairing.comm.cat.keep = NSX_CAT_NAMES;
	c->pairing.instance = take_instance;
	c->pairing.state = c;
	c->pairing.err = at->err;
	nsx_pairing_begin(&c->pairing);
	return NSX_OK;
}

static void
need(void *state, struct nsx_reader *in)
{
	const struct nsx_look_comm *c = state;

	nsx_pairing_need(&c->pairing, in);
	nsx_event_need(in, NSX_OP);
}

static int
take(void *state, const struct nsx_event *e)
{
	struct nsx_look_comm *c = state;

	if (e->rec->kind->id != NSX_OP && e->rec->kind->id != NSX_THUNK)
		return nsx_pairing_take(&c->pairing, e->rec);
	if (!e->communicates || e->end == NSX_ABSENT || !e->reaches || !nsx_pairing_is(&c->pairing, e->rec))
		return NSX_OK;
	return nsx_pairing_record(&c->pairing, e->rec, c->came++);
}

/* ---- comparison of similar units */

NSX_ORDER(by_like, struct nsx_look_unit, NSX_CMP(a->like, b->like), NSX_CMP(a->bytes, b->bytes),
          NSX_CMP(a->name, b->name))

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

static int
finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct nsx_look_comm *c = state;

	(void)table;
	(void)diags;
	if (nsx_pairing_finish(&c->pairing) != NSX_OK)
		return NSX_ERR;
	compare_units(c);
	return NSX_OK;
}

static void
free_all(void *state)
{
	struct nsx_look_comm *c = state;

	nsx_pairing_free(&c->pairing);
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

const struct nsx_analysis nsx_look_collectives = {
	0, NSX_K_METADATA | NSX_K(OP) | NSX_K(THUNK), true, begin, need, take, finish, free_all
};
