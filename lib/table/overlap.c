/* overlap.c -- see overlap.h.
 *
 * Let c(t) be the time before t in which a device communicated (job/activity.h: nsx_union_before). A kernel ran beside
 * it for c(end) - c(start):
 *
 *   kernel gemm      0..100    c(100) - c(0) = 0: alone, 100
 *   communication  200..500
 *   kernel gemm    220..350    c(350) - c(220) = 130: beside, 130
 *   kernel gemm    600..700    alone, 100
 *
 * Of the communication 130 are hidden, but gemm took 30 longer: hiding saved 100. Executions are compared of one kernel
 * and equal work on one device, and only where those alone are alike; others are hidden time of which it is not known
 * what it cost. Work is equal if it is of one instruction, or of instructions that compute and move as much, as far as
 * their costs are known. Of kernels that run at once, a moment of hidden time counts for the one that began first. */
#include "table/overlap.h"

#include <math.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/num.h"
#include "base/stat.h"
#include "job/activity.h"
#include "table/sums.h"

/* The work of a kernel is taken for equal if the deviation of its executions alone is below this share of their mean,
 * and there are at least so many. */
#define ALIKE 0.2
enum { ALONE = 2 };

/* What runs beside a kernel. */
enum side { COMM, COPY, BOTH, NSIDES };
/* The unions of a device; a moment of ANY is hidden by a kernel once. */
enum { OF_COMM, OF_COPY, OF_ANY, OF_COMPUTE, NUNIONS };

struct device { struct nsx_union of[NUNIONS]; };

/* Work of kernels. inst: in the catalogue, of instructions whose costs are not known; NSX_ABSENT: of others. */
struct work { int64_t inst, flops, vector, bytes; };   /* all of it is the key */
static const struct nsx_sum_def of_works = { .size = sizeof(struct work), .key = sizeof(struct work) };

/* A kernel of that work on a device. */
struct beside { int64_t n; nsx_u128 time, hidden; };
struct cell {
	uint32_t device, name, work;   /* the key; work: NSX_NONE: not of an instruction */
	struct nsx_stat alone;
	struct beside   beside[NSIDES];
};
static const struct nsx_sum_def of_cells = { .size = sizeof(struct cell), .key = 3 * sizeof(uint32_t) };

/* A kernel that has not ended. at: when it is looked at next: where its own time begins, if another kernel still ran at
 * its start, then its end. */
struct open { int64_t at, end, dur; uint64_t comm, copy, own; uint32_t cell, device; bool owned; };

struct row {
	uint32_t name, side;           /* the key */
	int64_t  count, compared;      /* executions beside; those that are compared */
	nsx_u128 hidden, known;
	double   alone, beside;        /* of compared ones, ns */
	double   alone_mean, beside_mean, slowdown, paid, saved;
};

static const char *
say_side(const void *row)
{
	static const char *const names[NSIDES] = { "communication", "copies", "both" };

	return names[((const struct row *)row)->side];
}

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("name", STRING, name), NSX_COL_SAID("beside", say_side), NSX_COL("count", INT, count),
	NSX_COL("hidden", NS, hidden), NSX_COL("known", NS, known), NSX_COL("alone_mean", MEAN_NS, alone_mean),
	NSX_COL("beside_mean", MEAN_NS, beside_mean), NSX_COL("slowdown", SHARE, slowdown),
	NSX_COL("paid", MEAN_NS, paid), NSX_COL("saved", MEAN_NS, saved),
};
static const struct nsx_sum_def def = {
	NSX_ROWS(cols), .key = 2 * sizeof(uint32_t), .order = "-hidden name beside",
	.rank = "name beside hidden saved paid slowdown alone_mean beside_mean count known",
	.adds = "hidden"
};

struct overlap {
	NSX_STATE;
	struct nsx_intern    *names;
	NSX_VEC(struct device) devices;   /* by index of the catalogue */
	NSX_VEC(struct open)  open;       /* a heap */
	NSX_VEC(uint32_t)     work_of;    /* by index of the instruction; NSX_NONE: not looked up yet */
	struct nsx_sums       works, cells;
	NSX_VEC(uint32_t)     cell_of;    /* by nsx_event.of_name: the last one; NSX_NONE: none */
	struct nsx_overlap_sums all;
	double                variance;   /* of all.paid */
	int64_t               others;        /* operations that communicate or copy */
};

static bool
sooner(const void *none, const struct open *a, const struct open *b)
{
	(void)none;
	return a->at < b->at;
}

NSX_HEAP(open, struct open, const void *, sooner)

static int
overlap_begin(void *state, const void *options, const struct nsx_analysis_at *at)
{
	struct overlap *o = state;

	(void)options;
	o->names = at->names;
	o->cat->keep |= NSX_CAT_COSTS;
	o->cells.def = &of_cells;
	o->works.def = &of_works;
	return NSX_OK;
}

static void
overlap_need(void *state, struct nsx_reader *in)
{
	(void)state;
	nsx_event_need(in, NSX_OP);
	nsx_reader_need(in, NSX_OP, NSX_C(OP, name));
}

/* ---- executions ---- */

/* A kernel has ended. */
static void
add_execution(struct overlap *o, const struct open *k)
{
	const struct nsx_union *of = o->devices.p[k->device].of;
	struct cell *c = nsx_sums_at(&o->cells, k->cell);
	bool comm = nsx_union_before(&of[OF_COMM], k->end) != k->comm;
	bool copy = nsx_union_before(&of[OF_COPY], k->end) != k->copy;
	struct beside *b = &c->beside[comm && copy ? BOTH : comm ? COMM : COPY];

	if (!comm && !copy) {
		nsx_stat_add(&c->alone, k->dur);
		return;
	}
	b->n++;
	b->time += (nsx_u128)k->dur;
	b->hidden += k->owned ? nsx_union_before(&of[OF_ANY], k->end) - k->own : 0;
}

/* The stream has reached `now`. */
static void
pass(struct overlap *o, int64_t now)
{
	while (o->open.n && o->open.p[0].at <= now) {
		struct open k = open_pop(NULL, o->open.p, o->open.n--);

		if (k.at == k.end) {
			add_execution(o, &k);
			continue;
		}
		k.own = nsx_union_before(&o->devices.p[k.device].of[OF_ANY], k.at);
		k.owned = true;
		k.at = k.end;
		open_push(NULL, o->open.p, o->open.n++, k);
	}
}

/* The work of a kernel's instruction; NSX_NONE if it has none, and with *good false when out of memory. */
static uint32_t
work_of(struct overlap *o, const struct nsx_rec *op, bool *good)
{
	uint32_t inst = nsx_has(op, NSX_OP_inst) ? nsx_cat_inst(o->cat, op) : NSX_NONE;

	if (inst == NSX_NONE) {
		*good &= !nsx_has(op, NSX_OP_inst);
		return NSX_NONE;
	}
	if (!nsx_vec_reach(&o->work_of, inst, &(uint32_t){ NSX_NONE })) {
		*good = false;
		return NSX_NONE;
	}
	if (o->work_of.p[inst] == NSX_NONE) {
		const struct nsx_cat_inst *i = &o->cat->insts.p[inst];
		bool known = i->flops != NSX_ABSENT || i->mem_bytes != NSX_ABSENT;
		struct work w = { known ? NSX_ABSENT : (int64_t)inst, i->flops, i->vector, i->mem_bytes };

		o->work_of.p[inst] = nsx_sums_number(&o->works, &w);
		*good &= o->work_of.p[inst] != NSX_NONE;
	}
	return o->work_of.p[inst];
}

/* The cell of a kernel: often that of the last one of its name. NSX_NONE when out of memory. */
static uint32_t
cell_of(struct overlap *o, const struct nsx_event *e, uint32_t work)
{
	uint32_t none = NSX_NONE, *last;

	if (!nsx_vec_reach(&o->cell_of, e->of_name, &none))
		return NSX_NONE;
	last = &o->cell_of.p[e->of_name];
	if (*last == NSX_NONE || ((const struct cell *)nsx_sums_at(&o->cells, *last))->work != work)
		*last = nsx_sums_number(&o->cells, (uint32_t[3]){ e->device, e->name, work });
	return *last;
}

static int
add_kernel(struct overlap *o, const struct nsx_event *e)
{
	bool good = true;
	uint32_t work = work_of(o, e->rec, &good);
	struct nsx_union *of = o->devices.p[e->device].of;
	uint64_t fresh = nsx_union_add(&of[OF_COMPUTE], e->start, e->end);
	struct open k = { .end = e->end, .dur = e->end - e->start, .device = e->device,
	                  .comm = nsx_union_before(&of[OF_COMM], e->start),
	                  .copy = nsx_union_before(&of[OF_COPY], e->start) };

	k.at = e->end - (int64_t)fresh;
	if (k.at == e->start) {
		k.own = nsx_union_before(&of[OF_ANY], e->start);
		k.owned = true;
		k.at = k.end;
	}
	k.cell = good ? cell_of(o, e, work) : (uint32_t)NSX_NONE;
	if (k.cell == NSX_NONE || !nsx_vec_room(&o->open, 1))
		return nsx_err_nomem(o->err, NULL);
	open_push(NULL, o->open.p, o->open.n++, k);
	return NSX_OK;
}

static int
overlap_take(void *state, const struct nsx_event *e)
{
	struct overlap *o = state;

	if (e->end <= e->start)
		return NSX_OK;
	if (!nsx_vec_reach(&o->devices, e->device, NULL))
		return nsx_err_nomem(o->err, NULL);
	pass(o, e->start);
	if (e->part == NSX_PART_COMPUTE)
		return add_kernel(o, e);
	struct nsx_union *of = o->devices.p[e->device].of;

	o->others++;
	nsx_union_add(&of[e->part == NSX_PART_COMM ? OF_COMM : OF_COPY], e->start, e->end);
	nsx_union_add(&of[OF_ANY], e->start, e->end);
	return NSX_OK;
}

/* ---- the end ---- */

/* Whether executions of the kernel alone say how long it takes. */
static bool
compares(const struct cell *c)
{
	return c->alone.n >= ALONE && nsx_stat_std(&c->alone) < ALIKE * nsx_stat_mean(&c->alone);
}

/* Add a kernel on a device to the row of its name and side. False when out of memory. */
static bool
add_cell(struct overlap *o, const struct cell *c, enum side side)
{
	const struct beside *b = &c->beside[side];
	struct row *r = b->n ? nsx_sums_row(&o->rows, &(uint32_t[2]){ c->name, side }) : NULL;

	if (!b->n || !r)
		return !b->n;
	r->count += b->n;
	r->hidden += b->hidden;
	o->all.hidden += (double)b->hidden;
	if (!compares(c))
		return true;
	double n = (double)b->n, std = nsx_stat_std(&c->alone), alone = n * nsx_stat_mean(&c->alone);

	r->compared += b->n;
	r->known += b->hidden;
	r->alone += alone;
	r->beside += (double)b->time;
	o->all.known += (double)b->hidden;
	o->all.alone += alone;
	o->all.paid += (double)b->time - alone;
	o->variance += std * std * (n * n / (double)c->alone.n + n);
	return true;
}

static void
settle(struct row *r)
{
	double n = (double)r->compared;

	r->alone_mean = r->compared ? r->alone / n : NAN;
	r->beside_mean = r->compared ? r->beside / n : NAN;
	r->slowdown = r->compared ? r->beside / r->alone - 1 : NAN;
	r->paid = r->compared ? r->beside - r->alone : NAN;
	r->saved = r->compared ? (double)r->known - r->paid : NAN;
}

/* The answer in a sentence. */
static void
tell(const struct overlap *o, struct nsx_table *t, struct nsx_diags *diags)
{
	const struct nsx_overlap_sums *s = &o->all;

	if (s->hidden <= 0)
		return;
	if (s->known <= 0)
		nsx_analysis_tell(t, diags,
		                  "no kernel that hides something also ran alone: what hiding saved is not known");
	else if (s->paid > 2 * s->error)
		nsx_analysis_tell(t, diags, "of %s hidden, %.1f%% are behind kernels that also ran alone: these took "
		                  "%s (%.1f%%) longer, so hiding saved %.1f%% of that part", NSX_NS(s->hidden),
		                  100 * s->known / s->hidden, NSX_NS(s->paid), 100 * s->paid / s->alone,
		                  100 * (s->known - s->paid) / s->known);
	else
		nsx_analysis_tell(t, diags, "of %s hidden, %.1f%% are behind kernels that also ran alone: in all these "
		                  "took no longer, beyond chance, though single rows may; of the rest nothing is known",
		                  NSX_NS(s->hidden), 100 * s->known / s->hidden);
}

static int
overlap_finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct overlap *o = state;

	pass(o, INT64_MAX);
	o->rows = (struct nsx_sums){ .def = &def, .texts = o->names };
	for (size_t i = 0; i < nsx_sums_count(&o->cells); i++)
		for (int side = 0; side < NSIDES; side++)
			if (!add_cell(o, nsx_sums_at(&o->cells, i), (enum side)side))
				return nsx_err_nomem(o->err, NULL);
	o->all.error = sqrt(o->variance);
	for (size_t i = 0; i < nsx_sums_count(&o->rows); i++)
		settle(nsx_sums_at(&o->rows, i));
	if (!table)
		return NSX_OK;
	if (!(*table = nsx_sums_table(&o->rows, o->err)))
		return NSX_ERR;
	if (!o->came[NSX_OP])
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no op records: extract with --ops");
	else if (!o->others)
		nsx_diag_add(diags, NSX_INFO, "", 1, "no operation communicates or copies: nothing is hidden");
	tell(o, *table, diags);
	return NSX_OK;
}

struct nsx_overlap_sums
nsx_overlap_sums_of(const void *state)
{
	return ((const struct overlap *)state)->all;
}

static void
overlap_free(void *state)
{
	struct overlap *o = state;

	nsx_sums_free(&o->works);
	nsx_sums_free(&o->cells);
	free(o->work_of.p);
	free(o->cell_of.p);
	free(o->devices.p);
	free(o->open.p);
}

const struct nsx_analysis nsx_overlap_analysis = {
	sizeof(struct overlap), NSX_K(OP), NSX_NAMED | NSX_TIMED | NSX_STATED, overlap_begin, overlap_need,
	overlap_take, overlap_finish, overlap_free
};
