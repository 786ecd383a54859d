/* collectives.c -- one side's stream by kind of collective, message size and group size: the durations of devices'
 * records, and the bandwidth of instances. A row's time includes the time that its devices wait for each other; its
 * bandwidth, which is that of the device that waited least, does not.
 *
 * Rows are matched with the other side by kind, size and group; the remaining ones by kind, group and the smallest
 * power of two above the size, if both sides have equal numbers of them. */
#include <inttypes.h>
#include <stdlib.h>

#include "table/compare/join.h"
#include "table/bandwidth_rows.h"

struct loaded {
	struct cmp *c;
	struct cmp_side *s;
	struct nsx_bandwidth_sums sums;
	uint32_t first;                   /* row of the side that is row number 0 of the sums */
	struct nsx_group_axes axes;       /* by axis */
};

/* A device's record, as soon as its row is known. */
static bool
take(void *arg, uint32_t number, uint32_t device, int64_t dur, int64_t hidden)
{
	struct loaded *l = arg;
	struct cmp_row none = cmp_row_in(0);
	int64_t ns = l->c->options.exposed ? dur - hidden : dur;
	struct cmp_side *s = l->s;

	while (s->rows.n <= l->first + number)
		if (nsx_compare_row_add(s, none) == NSX_NONE)
			return false;
	s->time += (nsx_u128)ns;
	return nsx_compare_add(s, l->first + number, device, NSX_ABSENT, ns);
}

static bool
take_work(void *arg, const struct nsx_rec *rec)
{
	struct loaded *l = arg;

	if (nsx_compare_take_classes(l->s, rec) != NSX_OK)
		return false;
	return rec->kind->id != NSX_OP
	       || nsx_compare_take_work(l->c, l->s, nsx_cat_device(&l->sums.reading.comm->cat, rec), rec, NSX_NONE);
}

/* The exponent of the smallest power of two above v. */
static int
magnitude(int64_t v)
{
	int n = 0;

	while (v > 0) {
		v >>= 1;
		n++;
	}
	return n;
}

/* Set the name of the row, and the keys by which it is matched. False when out of memory. */
static bool
name_row(struct loaded *l, struct cmp_row *row, struct nsx_bandwidth_row *from)
{
	struct cmp *c = l->c;
	struct nsx_bandwidth_mean mean = from->mean;
	struct nsx_str kind = from->name.len ? from->name : NSX_STR("[unknown]");
	struct cmp_comm *comm = row->comm = malloc(sizeof *comm);

	if (!comm)
		return false;
	*comm = (struct cmp_comm){ nsx_intern(&c->strs, kind), from->has_bytes ? from->bytes : NSX_ABSENT,
	                           from->has_group ? from->group : NSX_ABSENT, from->instances, mean.known,
	                           mean.busbw, nsx_bandwidth_transfer(from), nsx_bandwidth_shortest(from), NSX_NONE };
	c->text.len = 0;
	if (l->sums.axes) {
		nsx_axes_name(&l->axes.axes, from->in, &c->text);
		comm->axis = cmp_intern(c);
		nsx_buf_c(&c->text, ": ");
	}
	nsx_buf_str(&c->text, kind);
	if (from->has_bytes)
		nsx_buf_fmt(&c->text, " of %" PRId64 " bytes", from->bytes);
	if (from->has_group)
		nsx_buf_fmt(&c->text, " by %" PRId64 " device%s", from->group, from->group == 1 ? "" : "s");
	row->name = cmp_intern(c);
	c->text.len = 0;
	nsx_buf_fmt(&c->text, "%d", from->has_bytes ? magnitude(from->bytes) : -1);
	row->stem = cmp_intern(c);
	c->text.len = 0;
	if (comm->axis != NSX_NONE)
		nsx_buf_str(&c->text, cmp_str(c, comm->axis));
	nsx_buf_fmt(&c->text, " %" PRId64 " ", comm->group);
	nsx_buf_str(&c->text, kind);
	row->opcode = cmp_intern(c);
	row->number = comm->bytes;
	return comm->kind != NSX_NONE && row->name != NSX_NONE && row->stem != NSX_NONE && row->opcode != NSX_NONE;
}

/* The mean of both rows' instances; 0: not known. */
static double
mean_of(double a, const struct cmp_comm *x, double b, const struct cmp_comm *y)
{
	double n = (double)x->instances, m = (double)y->instances;

	return a > 0 && b > 0 ? (n * a + m * b) / (n + m) : 0;
}

/* Add a row to another one, of the same axis, kind and size. False when out of memory. */
static bool
join(struct cmp_side *s, uint32_t row, uint32_t to)
{
	struct cmp_comm *a = s->rows.p[to].comm, *b = s->rows.p[row].comm;

	if (!nsx_compare_move(s, row, to))
		return false;
	a->busbw = mean_of(a->busbw, a, b->busbw, b);
	a->transfer = mean_of(a->transfer, a, b->transfer, b);
	a->shortest = mean_of(a->shortest, a, b->shortest, b);
	a->has_busbw &= b->has_busbw;
	a->instances += b->instances;
	return true;
}

/* Rows of several groups along an axis are one. */
static bool
join_groups(struct cmp_side *s, uint32_t first)
{
	for (uint32_t i = first; i < s->rows.n; i++) {
		if (s->rows.p[i].name == NSX_NONE)
			continue;
		uint32_t *at = nsx_map_at(&s->row_of, (struct nsx_key){ s->rows.p[i].name, 0 });

		if (!at)
			return false;
		if (*at == NSX_NONE)
			*at = i;
		else if (!join(s, i, *at))
			return false;
	}
	return true;
}

static bool
finish(struct loaded *l)
{
	struct cmp_side *s = l->s;

	if (l->sums.axes && !nsx_group_axes_settle(&l->axes, &l->sums.reading.comm->groups,
	                                           (int64_t)l->sums.reading.comm->cat.devices.n))
		return false;

	for (size_t i = 0; i < l->sums.rows.n; i++) {
		uint32_t row = l->first + l->sums.rows.p[i].number;

		if (row < s->rows.n && !name_row(l, &s->rows.p[row], &l->sums.rows.p[i]))
			return false;
	}
	s->groups.p[0].time = s->time;
	s->groups.p[0].execs = 1;
	return (!l->sums.axes || join_groups(s, l->first)) && nsx_compare_settle_samples(s)
	       && nsx_compare_take_models(l->c, s, &l->sums.reading.comm->cat);
}

int
nsx_compare_read_collectives(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags)
{
	struct loaded l = { .c = c, .s = s };
	struct nsx_diags own = { .failed = false };
	int rc = NSX_ERR;

	if (!nsx_compare_begin_each(s))
		return nsx_err_nomem(c->err, NULL);
	l.first = (uint32_t)s->rows.n;
	l.sums.each = take;
	l.sums.other = take_work;
	l.sums.axes = c->way->axes ? &l.axes : NULL;
	nsx_compare_need_work(s->in);
	l.sums.arg = &l;
	rc = nsx_compare_need_classes(c, s);
	if (rc == NSX_OK)
		rc = nsx_bandwidth_collect(s->in, &l.sums, &own, c->err);
	if (rc == NSX_OK && !finish(&l))
		rc = nsx_err_nomem(c->err, NULL);
	s->warm = l.sums.warm;
	s->top.any_comm = s->time > 0;
	s->top.any_hidden = l.sums.any_hidden;
	nsx_diag_add(&own, NSX_WARNING, "", c->options.exposed && s->time ? l.sums.no_hidden : 0,
	             "communication that did not pass nsysx-overlap: counts whole");
	nsx_compare_pass_diags(s, &own, diags);
	nsx_bandwidth_sums_free(&l.sums);
	nsx_group_axes_free(&l.axes);
	return rc;
}
