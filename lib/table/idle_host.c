/* idle_host.c -- see idle_host.h. Holds a row for each key; for a list up to twice the gaps that are listed, and the
 * parts of each device's current gap. */
#include "table/idle_host.h"

#include <stdlib.h>

#include "job/doing/places.h"
#include "table/sums.h"

struct key { int64_t device; uint32_t cause, state, what, line; };
struct row {
	struct key key;
	int64_t    ns, off, count, longest, samples;   /* count: gaps; longest: the most in one of them */
	int64_t    whole;                              /* the device's launch-starved time */
	int64_t    gap, in_gap;                        /* the latest gap, and the time in it */
};

static const char *
cause_name(const void *row)
{
	return nsx_cause_name((enum nsx_cause)((const struct row *)row)->key.cause);
}

static const char *
state_name(const void *row)
{
	return nsx_doing_name((enum nsx_doing_state)((const struct row *)row)->key.state);
}

#define NSX_ROW struct row
#define STATE_COLS \
	NSX_COL("device", ID, key.device), NSX_COL_SAID("cause", cause_name), NSX_COL_SAID("state", state_name), \
	NSX_COL("what", STRING, key.what)
#define TIME_COLS \
	NSX_COL("ns", NS, ns), NSX_COL_PER("share", SHARE, ns, whole), NSX_COL("off", NS, off), \
	NSX_COL("count", INT, count), NSX_COL("longest", NS, longest)

static const struct nsx_sum_col state_cols[] = { STATE_COLS, TIME_COLS };
static const struct nsx_sum_col line_cols[] = {
	STATE_COLS, NSX_COL("line", STRING, key.line), TIME_COLS, NSX_COL("samples", INT, samples),
};
static const struct nsx_sum_col sum_cols[] = {
	NSX_COL("device", ID, key.device), NSX_COL("line", STRING, key.line), TIME_COLS,
	NSX_COL("samples", INT, samples),
};
static const struct nsx_sum_col function_cols[] = {
	NSX_COL("device", ID, key.device), NSX_COL_SAID("state", state_name), NSX_COL("function", STRING, key.what),
	NSX_COL("ns", NS, ns), NSX_COL_PER("share", SHARE, ns, whole), NSX_COL("samples", INT, samples),
};
#define DEF(list, by, first) { NSX_ROWS(list), .key = sizeof(struct key), .order = by, .rank = first, .adds = "ns", \
	                      .heads = { { "ns", "time" } } }
static const struct nsx_sum_def defs[] = {
	[NSX_IDLE_HOST_STATES] = DEF(state_cols, "-ns device cause state what", "ns state what cause share off"),
	[NSX_IDLE_HOST_LINES] = DEF(line_cols, "-ns device cause state what line", "ns line what state samples share"),
	[NSX_IDLE_HOST_SUMS] = DEF(sum_cols, "-ns device line", "ns line samples share off"),
	[NSX_IDLE_HOST_FUNCTIONS] = DEF(function_cols, "-ns device state function", "ns function samples state share"),
};

/* ---- the longest gaps, with what the host did most in each */

/* Time of a gap in one state, what and line. */
struct gap_part { enum nsx_doing_state state; uint32_t what, line; int64_t ns; };

/* The launch-starved time of a gap. most: the part with most of it; what: its text. */
struct host_gap {
	int64_t start, ns, gap, device, tid;
	const char *cause, *state;
	struct gap_part most;
	uint32_t what;
};

/* The gap of a device that goes on. */
struct open_gap { struct host_gap gap; NSX_VEC(struct gap_part) parts; };

#undef NSX_ROW
#define NSX_ROW struct host_gap
static const struct nsx_sum_col gap_cols[] = {
	NSX_COL("device", ID, device), NSX_COL("start", TIME, start), NSX_COL("ns", NS, ns),
	NSX_COL("cause", STRING, cause), NSX_COL("state", STRING, state), NSX_COL("what", STRING, what),
	NSX_COL("line", STRING, most.line), NSX_COL("part", NS, most.ns), NSX_COL("tid", INT, tid),
};
static const struct nsx_sum_def gaps = {
	NSX_ROWS(gap_cols),
	.order = "-ns device start", .rank = "ns line what state part start device cause", .heads = { { "ns", "time" } }
};

struct host {
	const struct nsx_idle_host_options *options;
	struct nsx_err    *err;
	struct nsx_doing   doing;
	struct nsx_doing_places places;    /* FUNCTIONS */
	NSX_VEC(struct open_gap) open;     /* LIST: by device */
	struct nsx_sums    sums;           /* of struct row; LIST: of struct host_gap */
	struct nsx_intern  texts;     /* of what and line; number 0 is empty */
	NSX_VEC(int64_t)        starved;  /* by device, ns */
	struct nsx_map     counted;   /* (row, sample) */
	int64_t            ns[NSX_DOING_STATES], profiler, unscheduled;
};

static struct row *
row_at(const struct host *h, uint32_t row)
{
	return nsx_sums_at(&h->sums, row);
}

/* The sample counts in the row once. False when out of memory. */
static bool
count_sample(struct host *h, uint32_t row, int64_t sample)
{
	uint32_t *at;

	if (sample == NSX_ABSENT)
		return true;
	at = nsx_map_at(&h->counted, (struct nsx_key){ row, (uint64_t)sample });
	if (!at)
		return false;
	if (*at == NSX_NONE)
		row_at(h, row)->samples++;
	*at = 0;
	return true;
}

/* The number of the piece's line in texts; NSX_NONE when out of memory. */
static uint32_t
line_of(struct host *h, const struct nsx_doing_piece *p)
{
	return nsx_intern(&h->texts, nsx_doing_line(nsx_doing_frames(&h->doing, p->stack), h->options->leaf));
}

static int
add_row(struct host *h, const struct nsx_doing_piece *p)
{
	bool sums = h->options->rows == NSX_IDLE_HOST_SUMS;
	struct key key = { h->doing.cat.devices.p[p->device].number, sums ? 0 : p->cause, sums ? 0 : p->state,
			   sums ? 0 : nsx_intern(&h->texts, nsx_doing_text(&h->doing, p->what)),
			   sums || h->options->rows == NSX_IDLE_HOST_LINES ? line_of(h, p) : 0 };
	uint32_t at = key.what == NSX_NONE || key.line == NSX_NONE ? NSX_NONE : nsx_sums_number(&h->sums, &key);
	struct row *row;

	if (at == NSX_NONE || !count_sample(h, at, p->sample))
		return nsx_err_nomem(h->err, NULL);
	row = row_at(h, at);
	if (!row->count || row->gap != p->gap) {
		row->count++;
		row->gap = p->gap;
		row->in_gap = 0;
	}
	row->ns += p->end - p->start;
	row->off += p->off ? p->end - p->start : 0;
	row->in_gap += p->end - p->start;
	row->longest = row->in_gap > row->longest ? row->in_gap : row->longest;
	return NSX_OK;
}

static bool
end_gap(struct host *h, struct open_gap *o)
{
	if (!o->parts.n)
		return true;
	o->gap.most = o->parts.p[0];
	for (size_t i = 1; i < o->parts.n; i++)
		if (o->parts.p[i].ns > o->gap.most.ns)
			o->gap.most = o->parts.p[i];
	o->gap.state = nsx_doing_name(o->gap.most.state);
	o->parts.n = 0;
	return nsx_sums_add_first(&h->sums, (size_t)h->options->list, &o->gap);
}

/* Add a piece; line: a number in texts. False when out of memory. */
static bool
add_to_gap(struct host *h, const struct nsx_doing_piece *p, uint32_t line)
{
	struct open_gap *o;
	size_t i = 0;

	if (!nsx_vec_reach(&h->open, p->device, &(struct open_gap){ .gap.gap = -1 }))
		return false;
	o = &h->open.p[p->device];
	if (o->gap.gap != p->gap) {
		if (!end_gap(h, o))
			return false;
		o->gap = (struct host_gap){
			.start = p->start, .gap = p->gap, .device = h->doing.cat.devices.p[p->device].number,
			.tid = h->doing.threads.p[p->thread].tid, .cause = nsx_cause_name(p->cause)
		};
	}
	o->gap.ns += p->end - p->start;
	while (i < o->parts.n && !(o->parts.p[i].state == p->state && o->parts.p[i].what == p->what &&
	                           o->parts.p[i].line == line))
		i++;
	if (i == o->parts.n && !nsx_vec_push(&o->parts, ((struct gap_part){ p->state, p->what, line, 0 })))
		return false;
	o->parts.p[i].ns += p->end - p->start;
	return true;
}

/* After the last: the gaps are those of the list. False when out of memory. */
static bool
finish_gaps(struct host *h)
{
	for (size_t i = 0; i < h->open.n; i++)
		if (!end_gap(h, &h->open.p[i]))
			return false;
	nsx_sums_cut(&h->sums, (size_t)h->options->list);
	NSX_SUMS_EACH(struct host_gap, g, &h->sums) {
		g->what = nsx_intern(&h->texts, nsx_doing_text(&h->doing, g->most.what));
		if (g->what == NSX_NONE)
			return false;
	}
	return true;
}

static int
piece(void *state, const struct nsx_doing_piece *p)
{
	struct host *h = state;

	if (!nsx_vec_reach(&h->starved, p->device, NULL))
		return nsx_err_nomem(h->err, NULL);
	h->starved.p[p->device] += p->end - p->start;
	h->ns[p->state] += p->end - p->start;
	if (p->state == NSX_DOING_GIL && nsx_str_eq(nsx_doing_text(&h->doing, p->what), NSX_STR("[profiler]")))
		h->profiler += p->end - p->start;
	if (h->options->rows == NSX_IDLE_HOST_LIST) {
		uint32_t line = line_of(h, p);

		return line != NSX_NONE && add_to_gap(h, p, line)
		       ? NSX_OK : nsx_err_nomem(h->err, NULL);
	}
	if (h->options->rows != NSX_IDLE_HOST_FUNCTIONS)
		return add_row(h, p);
	if (p->state != NSX_DOING_RUNNING && p->state != NSX_DOING_UNKNOWN)
		return NSX_OK;
	return nsx_doing_places_add(&h->places, p) ? NSX_OK : nsx_err_nomem(h->err, NULL);
}

static int
add_function(void *state, const struct nsx_doing_place *p, int64_t native, nsx_u128 ns, int64_t samples)
{
	struct host *h = state;
	struct key key = { h->doing.cat.devices.p[p->device].number, 0, p->state,
	                   nsx_intern(&h->texts, nsx_doing_leaf(nsx_doing_frames(&h->doing, native))), 0 };
	struct row *row = key.what == NSX_NONE ? NULL : nsx_sums_row(&h->sums, &key);

	if (!row)
		return nsx_err_nomem(h->err, NULL);
	row->ns += (int64_t)ns;
	row->samples += samples;
	return NSX_OK;
}

static int
take(void *state, const struct nsx_rec *rec)
{
	struct host *h = state;

	return nsx_doing_take(&h->doing, rec);
}

/* Shares are of the time in which the host of the device had not launched. */
static void
set_wholes(struct host *h)
{
	NSX_SUMS_EACH(struct row, row, &h->sums) {
		uint32_t device = nsx_cat_find_device(&h->doing.cat, row->key.device);

		row->whole = device < h->starved.n ? h->starved.p[device] : 0;
	}
}

static void
add_note(const struct host *h, struct nsx_table *t)
{
	int64_t all = 0;

	for (int s = 0; s < NSX_DOING_STATES; s++)
		all += h->ns[s];
	if (all && (h->ns[NSX_DOING_GIL] || h->ns[NSX_DOING_OFF]))
		nsx_table_note(
		    t,
		    "%.1f %% of the time in which the host had not launched is waiting for the GIL, %.1f %% because of "
		    "Python sampling itself; %.1f %% is off the CPU outside any traced call",
		    100. * (double)h->ns[NSX_DOING_GIL] / (double)all, 100. * (double)h->profiler / (double)all,
		    100. * (double)h->ns[NSX_DOING_OFF] / (double)all);
}

static void
report(const struct host *h, struct nsx_diags *diags)
{
	if (!h->doing.marked)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no idle time: the stream has no operations");
	else if (!h->doing.host)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
			     "nothing is known of what host threads did beside CUDA: record with "
			     "nsysx-record --cpu, and extract with --cpu or -a");
}

int
nsx_idle_host(struct nsx_reader *in, const struct nsx_idle_host_options *options, struct nsx_table **table,
              struct nsx_diags *diags, struct nsx_err *err)
{
	struct host h = { .options = options, .err = err };
	int rc = nsx_intern(&h.texts, NSX_STR("")) == 0 ? NSX_OK : nsx_err_nomem(err, NULL);

	*table = NULL;
	h.sums = (struct nsx_sums){ .def = options->rows == NSX_IDLE_HOST_LIST ? &gaps : &defs[options->rows],
		.texts = &h.texts };
	h.doing.names = options->names;
	h.doing.causes = options->causes;
	h.doing.piece = piece;
	h.doing.state = &h;
	h.doing.err = err;
	nsx_doing_begin(&h.doing);
	nsx_doing_need(&h.doing, in);
	if (rc == NSX_OK)
		rc = nsx_read_all(in, options->require, take, &h, err);
	if (rc == NSX_OK)
		rc = nsx_doing_finish(&h.doing, diags);
	if (rc == NSX_OK)
		rc = nsx_doing_places_each(&h.places, &h.doing, add_function, &h);
	if (rc == NSX_OK && options->rows == NSX_IDLE_HOST_LIST)
		rc = finish_gaps(&h) ? NSX_OK : nsx_err_nomem(err, NULL);
	else if (rc == NSX_OK)
		set_wholes(&h);
	if (rc == NSX_OK) {
		report(&h, diags);
		*table = nsx_sums_table(&h.sums, err);
		rc = *table ? NSX_OK : NSX_ERR;
	}
	if (rc == NSX_OK) {
		if (options->rows == NSX_IDLE_HOST_LINES || options->rows == NSX_IDLE_HOST_SUMS
		    || options->rows == NSX_IDLE_HOST_FUNCTIONS)
			nsx_table_rough(*table, "ns", "samples", NSX_DOING_ENOUGH);
		add_note(&h, *table);
	}
	for (size_t i = 0; i < h.open.n; i++)
		free(h.open.p[i].parts.p);
	free(h.open.p);
	nsx_doing_places_free(&h.places);
	nsx_doing_free(&h.doing);
	nsx_sums_free(&h.sums);
	nsx_intern_free(&h.texts);
	nsx_map_free(&h.counted);
	free(h.starved.p);
	return rc;
}
