/* names.c -- one side's stream by NVTX ranges or by GPU operations: the times of all with the same name, by device.
 * The time of a range is that of the operations launched in it, or, without operations, the span of its GPU work. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "table/compare/join.h"
#include "job/catalogue.h"
#include "job/hidden.h"
#include "job/range_book.h"

struct names {
	struct cmp           *c;
	struct cmp_side      *s;
	struct nsx_range_book book;      /* for names only */
	struct nsx_buf        scratch;
	NSX_VEC(uint32_t)     last;      /* by name of an operation, the last row of that name; NSX_NONE: none yet */
	int64_t               timeless, no_work, over_hidden, lost, removed;
	bool                  ranges;    /* not operations */
};

/* The row of that type (an operation's; empty: of ranges) and name; NSX_NONE when out of memory. */
static uint32_t
row_at(struct names *n, struct nsx_str type, struct nsx_str name)
{
	struct cmp_side *s = n->s;
	struct cmp_row row = cmp_row_in(0);
	uint32_t *at;

	row.number = -1;
	row.name = row.stem = nsx_intern_recall(&n->c->strs, n->c->recall, name);
	row.opcode = nsx_intern_recall(&n->c->strs, n->c->recall, type);
	if (row.name == NSX_NONE || row.opcode == NSX_NONE)
		return NSX_NONE;
	at = nsx_map_at(&s->row_of, (struct nsx_key){ row.opcode, row.name });
	if (at && *at == NSX_NONE)
		*at = nsx_compare_row_add(s, row);
	return at ? *at : (uint32_t)NSX_NONE;
}

/* The row of an operation; NSX_NONE when out of memory. Most have a name that others had before. */
static uint32_t
row_of(struct names *n, const struct nsx_rec *op)
{
	struct nsx_str type = nsx_string(op, NSX_OP_type), name = nsx_string(op, NSX_OP_name);
	uint32_t id = nsx_intern_recall(&n->c->strs, n->c->recall, name);

	if (id == NSX_NONE || !nsx_vec_reach(&n->last, id, &(uint32_t){ NSX_NONE }))
		return NSX_NONE;
	uint32_t row = n->last.p[id];

	if (row == NSX_NONE || !nsx_str_eq(cmp_str(n->c, n->s->rows.p[row].opcode), type)) {
		name = nsx_name(n->c->options.names, NSX_STR(""), name, &n->scratch);
		row = n->scratch.failed ? (uint32_t)NSX_NONE : row_at(n, type, name);
		n->last.p[id] = row;
	}
	return row;
}

/* Add another one to that row, with its duration. */
static bool
add(struct names *n, uint32_t row, uint32_t device, int64_t ns)
{
	return nsx_compare_add(n->s, row, n->s->top.cat.devices.p[device].number, NSX_ABSENT, ns);
}

/* Add a range whose operations have all been read, with the time of what was launched in it. */
static bool
add_gpu_time(void *arg, const struct nsx_range_entry *range)
{
	struct names *n = arg;

	n->removed += !range->worked;
	return !range->worked || range->inner || add(n, range->name, range->mark, range->time);
}

/* The time on the GPU from the first operation of a range to the end of the last; or an operation in an execution of a
 * program. */
static bool
add_inner(struct names *n, uint32_t row, uint32_t device, int64_t ns)
{
	struct cmp_side *s = n->s;
	struct cmp_row inner = cmp_row_in(0);

	inner.detail = true;
	if (s->rows.p[row].inner == NSX_NONE) {
		uint32_t new = nsx_compare_row_add(s, inner);

		if (new == NSX_NONE)
			return false;
		s->rows.p[row].inner = new;
	}
	return add(n, s->rows.p[row].inner, device, ns);
}

static bool
take_range(struct names *n, const struct nsx_rec *rec)
{
	int64_t dur = nsx_int(rec, NSX_RANGE_dur, -1);
	uint32_t device = nsx_cat_device(&n->s->top.cat, rec);
	struct nsx_str name;

	if (!nsx_has(rec, NSX_RANGE_start)) {
		n->no_work++;
		return true;
	}
	if (dur < 0) {
		n->timeless++;
		return true;
	}
	name = nsx_range_book_name(&n->book, rec, n->c->options.names);
	uint32_t row = device == NSX_NONE || !name.len ? (uint32_t)NSX_NONE : row_at(n, NSX_STR(""), name);

	if (row == NSX_NONE || nsx_range_book_add(&n->book, rec, row, n->c->err) != NSX_OK)
		return false;
	n->book.list.p[n->book.list.n - 1].mark = device;
	/* One in another of its name is a part of that. */
	return n->book.list.p[n->book.list.n - 1].inner || add_inner(n, row, device, dur);
}

/* Add the time of an operation to the ranges in which it was launched. */
static bool
take_launched(struct names *n, const struct nsx_rec *rec)
{
	int64_t dur = nsx_int(rec, NSX_OP_dur, -1);

	if (!nsx_compare_take_work(n->c, n->s, nsx_cat_device(&n->s->top.cat, rec), rec, NSX_NONE))
		return false;
	nsx_range_book_reach(&n->book, rec);
	if (dur < 0)
		n->timeless++;
	if (nsx_has(rec, NSX_OP_range)
	    && !nsx_range_book_launched(&n->book, nsx_int(rec, NSX_OP_profile, NSX_ABSENT),
	                                nsx_int(rec, NSX_OP_range, NSX_ABSENT), dur < 0 ? 0 : dur))
		n->lost += dur >= 0;
	return true;
}

static bool
take_op(struct names *n, const struct nsx_rec *rec)
{
	int64_t dur = nsx_int(rec, NSX_OP_dur, -1);
	uint32_t device = nsx_cat_device(&n->s->top.cat, rec);
	bool comm = nsx_cat_communicates(&n->s->top.cat, rec);

	n->s->top.any_comm |= comm;
	n->s->top.any_hidden |= nsx_has(rec, NSX_OP_hidden);
	if (dur < 0) {
		n->timeless++;
		return true;
	}
	int64_t hidden = nsx_hidden_of(dur, nsx_int(rec, NSX_OP_hidden, NSX_ABSENT), &n->over_hidden);

	dur = n->c->options.exposed ? dur - hidden : dur;
	uint32_t row = device == NSX_NONE ? (uint32_t)NSX_NONE : row_of(n, rec);

	if (row == NSX_NONE || !add(n, row, device, dur)
	    || !nsx_compare_take_work(n->c, n->s, device, rec, n->s->rows.p[row].name))
		return false;
	n->s->rows.p[row].computes |= !comm;
	if (nsx_has(rec, NSX_OP_execution)) {
		n->s->placed = true;
		return add_inner(n, row, device, dur);
	}
	n->s->outside++;
	n->s->outside_time += (nsx_u128)dur;
	return true;
}

static int
take(void *state, const struct nsx_rec *rec)
{
	struct names *n = state;
	bool good = nsx_compare_take_classes(n->s, rec) == NSX_OK;

	nsx_compare_take_diag(n->s, rec);
	if (good && rec->kind->id == NSX_RANGE && n->ranges)
		good = take_range(n, rec);
	else if (good && rec->kind->id == NSX_OP && n->ranges)
		good = take_launched(n, rec);
	else if (good && rec->kind->id == NSX_OP)
		good = take_op(n, rec);
	else if (good && rec->kind->id != NSX_RANGE)
		return nsx_cat_take(&n->s->top.cat, rec, n->c->err);
	return good ? NSX_OK : nsx_err_nomem(n->c->err, NULL);
}

static bool
finish(struct cmp *c, struct cmp_side *s)
{
	struct cmp_group *p = &s->groups.p[0];

	for (size_t i = 0; i < s->rows.n; i++)
		if (!s->rows.p[i].detail)
			s->time += s->rows.p[i].sum;
	p->time = s->time;
	p->execs = 1;
	return nsx_compare_take_models(c, s, &s->top.cat);
}

static int
need(const struct names *n)
{
	struct nsx_reader *in = n->s->in;

	nsx_cat_need(&n->s->top.cat, in);
	nsx_compare_need_work(in);
	nsx_reader_need(in, NSX_DIAG, NSX_C(DIAG, source));
	if (n->ranges) {
		nsx_range_book_need(in, true);
		nsx_reader_need(in, NSX_RANGE, NSX_C(RANGE, device));
		nsx_reader_need(in, NSX_OP, NSX_C(OP, dur));
	} else
		nsx_reader_need(in, NSX_OP, nsx_field_slots(NSX_OP, NSX_CAT_COMM_ROLES) | NSX_C(OP, device)
		                            | NSX_C(OP, dur) | NSX_C(OP, hidden) | NSX_C(OP, type) | NSX_C(OP, name)
		                            | NSX_C(OP, execution));
	return nsx_compare_need_classes(n->c, n->s);
}

/* Ranges, already read, are compared by their spans; operations, only those in executions. */
static void
use_inner(struct cmp_side *s)
{
	nsx_compare_use_inner(s);
	s->groups.p[0].time = s->time;
	s->gpu_time = false;
}

static bool
settle(struct cmp *c)
{
	return nsx_compare_settle_inner(&c->side[0]) && nsx_compare_settle_inner(&c->side[1]);
}

int
nsx_compare_read_names(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags)
{
	bool range = c->way->nested;
	struct names n = { .c = c, .s = s, .ranges = range };

	if (range) {
		n.book.ops_only = true;
		n.book.past = add_gpu_time;
		n.book.arg = &n;
	}
	int rc = nsx_compare_begin_each(s) ? need(&n) : nsx_err_nomem(c->err, NULL);

	if (rc == NSX_OK)
		rc = nsx_read_all(s->in, NULL, take, &n, c->err);
	if (rc == NSX_OK)
		rc = nsx_range_book_end(&n.book, c->err);
	if (rc == NSX_OK && !finish(c, s))
		rc = nsx_err_nomem(c->err, NULL);
	s->gpu_time = range && s->time > 0;
	if (rc == NSX_OK && range && !s->gpu_time)
		use_inner(s);
	if (rc == NSX_OK && !s->time)
		nsx_diag_add(diags, NSX_WARNING, s->name, 1, range ? "no ranges with GPU work: extract with --ranges"
		             : "no op records: extract with --ops");
	nsx_diag_add(diags, NSX_WARNING, s->name, n.timeless, "records without a duration: ignored");
	nsx_diag_add(diags, NSX_INFO, s->name, n.no_work, "ranges without GPU work: ignored");
	nsx_diag_add(diags, NSX_INFO, s->name, s->gpu_time ? n.removed : 0,
	             "ranges whose operations are not in the stream: ignored");
	nsx_diag_add(diags, NSX_WARNING, s->name, n.lost,
	             "operations whose range is not in the stream: not in gpu_time");
	nsx_diag_add(diags, NSX_WARNING, s->name, n.over_hidden,
	             "operations whose hidden time exceeds their duration: cut to it");
	nsx_compare_tell_not_hidden(c, s, diags);
	nsx_range_book_free(&n.book);
	nsx_buf_free(&n.scratch);
	free(n.last.p);
	return rc;
}

/* ---- both sides */

/* Ranges are compared by GPU time if both sides have it, unless spans were requested. */
bool
nsx_compare_settle_ranges(struct cmp *c, struct nsx_diags *diags)
{
	bool known = c->side[0].gpu_time && c->side[1].gpu_time;

	for (int k = 0; k < 2 && !c->options.span; k++)
		if (!c->side[k].gpu_time && c->side[k].time)
			nsx_diag_add(diags, c->side[!k].gpu_time ? NSX_WARNING : NSX_INFO, c->side[k].name, 1,
			             "no operations in its ranges: ranges are compared by their span: extract with "
			             "--ops for GPU time");
	for (int k = 0; k < 2 && (c->options.span || !known); k++)
		if (c->side[k].gpu_time)
			use_inner(&c->side[k]);
	return settle(c);
}

/* If both sides know executions of programs, only operations inside of them are compared: those that autotuning ran
 * during compilation, with settings that were then discarded, are outside. */
bool
nsx_compare_settle_operations(struct cmp *c, struct nsx_diags *diags)
{
	const struct cmp_side *b = &c->side[0], *n = &c->side[1];

	if (!b->placed || !n->placed)
		return settle(c);
	for (int k = 0; k < 2; k++) {
		struct cmp_side *s = &c->side[k];
		double share = s->time ? 100 * (double)s->outside_time / (double)s->time : 0;

		use_inner(s);
		nsx_diag_add(diags, NSX_INFO, s->name, s->outside,
			"operations outside executions of programs, such as those of autotuning, %.1f%% of the time: "
			"ignored", share);
	}
	if (b->outside || n->outside)
		snprintf(c->note, sizeof c->note,
		         "operations outside executions of programs, such as those of autotuning, are not compared: %"
		         PRId64 " of %s, %" PRId64 " of %s", b->outside, b->name,
		         n->outside, n->name);
	return settle(c);
}
