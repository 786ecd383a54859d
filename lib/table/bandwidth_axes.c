/* bandwidth_axes.c -- rows of bandwidth.c, which are by group of devices too, added up by group or by axis. */
#include "table/bandwidth_rows.h"
#include "job/remedy.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/members.h"

/* A row. Texts are in `texts`. instances, measured: all, and those of which the bandwidth is known. */
struct row {
	uint32_t axis, devices;         /* the key: its name; by group its devices */
	uint32_t called, none;          /* what the framework calls it; of an axis only if it calls all groups so */
	int64_t  size, stride, groups, instances, measured;
	int64_t  waits, wait_max, no_hidden;
	nsx_u128 dur, hidden, wait;
	double   busbw, algbw;          /* sums over `measured`; means at the end, NaN: not known */
	nsx_u128 exposed, known_wait;   /* at the end; NSX_SUM_NONE: not known */
	double   hidden_share;
};

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("axis", STRING, axis), NSX_COL("devices", STRING, devices), NSX_COL("name", STRING, called),
	NSX_COL("size", ID, size), NSX_COL("stride", ID, stride), NSX_COL("groups", INT, groups),
	NSX_COL("instances", INT, instances), NSX_COL("total", NS, dur), NSX_COL("exposed", NS, exposed),
	NSX_COL("wait", NS, known_wait), NSX_COL_PER("wait_mean", MEAN_NS, wait, waits),
	NSX_COL("wait_max", NS, wait_max), NSX_COL("hidden_share", SHARE, hidden_share),
	NSX_COL("busbw_mean", GBPS, busbw), NSX_COL("algbw_mean", GBPS, algbw),
};
static const struct nsx_sum_def by_axis = {
	NSX_ROWS(cols), .key = offsetof(struct row, called),
	.shown = "axis name size stride groups instances total exposed wait wait_mean wait_max hidden_share busbw_mean "
	         "algbw_mean",
	.order = "-total axis",
	.rank = "axis name size total exposed wait instances busbw_mean groups stride hidden_share",
	.adds = "total"
}, by_group = {
	NSX_ROWS(cols), .key = offsetof(struct row, called),
	.shown = "axis name devices size stride instances total exposed wait wait_mean wait_max hidden_share "
	         "busbw_mean algbw_mean",
	.order = "-total axis devices",
	.rank = "axis name devices total exposed wait instances busbw_mean size hidden_share",
	.adds = "total"
};

/* What is made; text: room for one. */
struct making { struct nsx_sums sums; struct nsx_intern texts; struct nsx_buf text; uint32_t empty; };

/* The number of what is in m->text; NSX_NONE when out of memory. */
static uint32_t
keep_text(struct making *m)
{
	return m->text.failed ? NSX_NONE : nsx_intern(&m->texts, nsx_buf_view(&m->text));
}

/* The row of a group of devices; NULL when out of memory. */
static struct row *
row_of(struct making *m, const struct nsx_group_axes *of, uint32_t group)
{
	const struct nsx_axes *axes = &of->axes;
	const struct nsx_axis_group *g = &axes->groups.p[group];
	uint32_t key[2];

	m->text.len = 0;
	nsx_axes_name(axes, group, &m->text);
	key[0] = keep_text(m);
	m->text.len = 0;
	if (m->sums.def == &by_group)
		nsx_ranges_put(axes->members.p + g->first, g->known, &m->text);
	key[1] = keep_text(m);
	m->text.len = 0;
	nsx_buf_str(&m->text, nsx_group_axes_called(of, group));
	uint32_t called = keep_text(m);
	struct row *r = key[0] == NSX_NONE || key[1] == NSX_NONE || called == NSX_NONE ? NULL
	                                                                            : nsx_sums_row(&m->sums, key);
	if (r) {
		if (r->instances && r->called != called)
			called = m->empty;
		r->called = called;
		r->size = g->size ? g->size : NSX_ABSENT;
		r->stride = nsx_axes_stride(axes, group);
	}
	return r;
}

static void
add(struct row *to, const struct nsx_bandwidth_row *r)
{
	to->instances += r->instances;
	to->dur += r->dur;
	to->hidden += r->hidden;
	to->no_hidden += r->no_hidden;
	to->wait += r->wait;
	to->waits += r->waits;
	to->wait_max = r->waits && r->wait_max > to->wait_max ? r->wait_max : to->wait_max;
	if (r->mean.known) {
		to->measured += (int64_t)r->shortest.n;
		to->busbw += r->mean.busbw * (double)r->shortest.n;
		to->algbw += r->mean.algbw * (double)r->shortest.n;
	}
}

static void
finish(struct row *r)
{
	double n = (double)r->measured;

	r->busbw = r->measured ? r->busbw / n : NAN;
	r->algbw = r->measured ? r->algbw / n : NAN;
	r->hidden_share = !r->no_hidden && r->dur ? (double)r->hidden / (double)r->dur : NAN;
	r->exposed = r->no_hidden ? NSX_SUM_NONE : r->dur - r->hidden;
	r->known_wait = r->waits ? r->wait : NSX_SUM_NONE;
	r->wait_max = r->waits ? r->wait_max : NSX_ABSENT;
}

static bool
add_up(struct making *m, const struct nsx_bandwidth_sums *s)
{
	const struct nsx_axes *axes = &s->axes->axes;
	bool *met = calloc(axes->groups.n + 1, sizeof *met), good = met != NULL;

	m->empty = keep_text(m);
	good = good && m->empty != NSX_NONE;
	for (size_t i = 0; good && i < s->rows.n; i++) {
		uint32_t group = s->rows.p[i].in;
		struct row *r = row_of(m, s->axes, group);

		good = r != NULL;
		if (!good)
			break;
		r->groups += !met[group];
		met[group] = true;
		add(r, &s->rows.p[i]);
	}
	free(met);
	for (size_t i = 0; i < nsx_sums_count(&m->sums); i++)
		finish(nsx_sums_at(&m->sums, i));
	return good;
}

/* What to do about collectives of which it is not known who takes part. */
static void
note_unknown(const struct making *m, const struct nsx_catalogue *cat, struct nsx_table *t)
{
	for (size_t i = 0; t && i < nsx_sums_count(&m->sums); i++) {
		const struct row *r = nsx_sums_at(&m->sums, i);

		if (r->size == NSX_ABSENT) {
			nsx_table_note(t, "unknown: nothing says which devices take part: %s",
			               nsx_remedy(cat, NSX_LACK_MEMBERS));
			return;
		}
	}
}

struct nsx_table *
nsx_bandwidth_by_axis(struct nsx_bandwidth_sums *s, bool groups, struct nsx_err *err)
{
	struct making m = { .sums = { .def = groups ? &by_group : &by_axis } };
	struct nsx_table *t = NULL;

	m.sums.texts = &m.texts;
	if (nsx_group_axes_settle(s->axes, &s->reading.comm->groups, nsx_cat_numbers(&s->reading.comm->cat))
	    && add_up(&m, s))
		note_unknown(&m, &s->reading.comm->cat, t = nsx_sums_table(&m.sums, err));
	else
		nsx_err_nomem(err, NULL);
	nsx_sums_free(&m.sums);
	nsx_intern_free(&m.texts);
	nsx_buf_free(&m.text);
	return t;
}
