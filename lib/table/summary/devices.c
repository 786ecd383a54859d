/* devices.c -- a row for each device: its activities between the first start and the last end of a top program's
 * module, by its thunks; and those of its operations from the first to the last, which are the only ones if there are
 * no modules. Constant memory per device. */
#include <stdlib.h>

#include "table/summary/summary.h"
#include "job/overruns.h"
#include "job/program_time.h"
#include "job/catalogue.h"
#include "job/parts.h"

enum { DEVICE, PROFILE, EXECS, SPAN, MODULES, COMPUTE, EXPOSED, HIDDEN, IDLE, COMPUTE_SHARE, EXPOSED_SHARE,
       IDLE_SHARE, WINDOW, COPY, COPY_HIDDEN, NCOLS };

static const struct nsx_table_col cols[NCOLS] = {
	[DEVICE]          = { "device", NSX_CELL_INT },
	[PROFILE]         = { "profile", NSX_CELL_STRING },
	[EXECS]           = { "execs", NSX_CELL_INT },
	[SPAN]            = { "span", NSX_CELL_NS },
	[MODULES]         = { "modules", NSX_CELL_NS },
	[COMPUTE]         = { "compute", NSX_CELL_NS },
	[EXPOSED]         = { "exposed", NSX_CELL_NS },
	[HIDDEN]          = { "hidden", NSX_CELL_NS },
	[IDLE]            = { "idle", NSX_CELL_NS },
	[COMPUTE_SHARE] = { "compute_share", NSX_CELL_SHARE },
	[EXPOSED_SHARE] = { "exposed_share", NSX_CELL_SHARE },
	[IDLE_SHARE]    = { "idle_share", NSX_CELL_SHARE },
	[WINDOW]          = { "window", NSX_CELL_NS },
	[COPY]            = { "copy", NSX_CELL_NS },
	[COPY_HIDDEN]     = { "copy_hidden", NSX_CELL_NS },
};

/* The times of a device, of one program or of all that are kept. */
struct work {
	uint32_t program, device;   /* in the catalogue */
	int64_t  first, last, execs;
	nsx_u128 modules, compute, exposed, hidden;
};

/* The times of a device's operations: activities that add up to the window, and the unions of communication and of
 * copies, hidden or not. */
struct moments {
	struct nsx_parts parts;
	nsx_u128 of[NSX_NPARTS];
	nsx_u128 whole[NSX_NPARTS];   /* of NSX_PART_COMM and NSX_PART_COPY alone */
	int64_t  end[NSX_NPARTS];     /* of those unions so far */
};

struct device {
	bool           met;            /* it has a record, or something ran on it, so it has a row */
	int64_t        number;
	uint32_t       profile;        /* in the catalogue; NSX_NONE if unknown */
	struct work    all;
	struct moments moments;
};

struct devices {
	struct nsx_err  *err;
	struct nsx_cover cover;
	struct nsx_top   top;
	struct nsx_map   work_of;      /* (program, device) -> works */
	NSX_VEC(struct device) devices;   /* by index of the catalogue */
	NSX_VEC(struct work)   works;
	bool             any_op;
	struct nsx_overruns overruns;
	int64_t          timeless, late;   /* operations without a time, or that come after one that starts later */
};

static void *
devices_open(const struct nsx_summary_options *options, struct nsx_err *err)
{
	struct devices *f = calloc(1, sizeof *f);

	if (!f) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	f->err = err;
	f->cover = options->cover;
	return f;
}

static void
devices_need(void *state, struct nsx_reader *in)
{
	const struct devices *f = state;

	nsx_cat_need(&f->top.cat, in);
	nsx_reader_need(in, NSX_MODULE, NSX_EVERY);
	nsx_reader_need(in, NSX_THUNK, NSX_EVERY);
	nsx_reader_need(in, NSX_OP, NSX_EVERY);
}

static void
devices_free(void *state)
{
	struct devices *f = state;

	if (!f)
		return;
	nsx_top_free(&f->top);
	nsx_overruns_free(&f->overruns);
	nsx_map_free(&f->work_of);
	free(f->devices.p);
	free(f->works.p);
	free(f);
}

/* The index in `devices` of the device that rec refers to; NSX_NONE when out of memory. */
static uint32_t
device_at(struct devices *f, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_device(&f->top.cat, rec);

	while (at != NSX_NONE && f->devices.n <= at)
		if (!nsx_vec_push(&f->devices, ((struct device){ .profile = NSX_NONE })))
			return NSX_NONE;
	if (at == NSX_NONE || f->devices.p[at].met)
		return at;
	struct device *d = &f->devices.p[at];

	*d = (struct device){ .met = true, .number = f->top.cat.devices.p[at].number };
	d->profile = nsx_cat_find_profile(&f->top.cat, nsx_field_int(rec, NSX_ROLE_PROFILE, NSX_ABSENT));
	return at;
}

/* The times of the device of that index for a program; NULL when out of memory. */
static struct work *
work_at(struct devices *f, uint32_t program, uint32_t device)
{
	uint32_t *at = program == NSX_NONE || device == NSX_NONE ? NULL : nsx_map_at(&f->work_of,
		(struct nsx_key){ program, device });

	if (at && *at == NSX_NONE && nsx_vec_push(&f->works, ((struct work){ .program = program, .device = device })))
		*at = (uint32_t)(f->works.n - 1);
	return at && *at != NSX_NONE ? &f->works.p[*at] : NULL;
}

static bool
take_module(struct devices *f, const struct nsx_rec *rec)
{
	int64_t start = nsx_int(rec, NSX_MODULE_start, 0), dur = nsx_int(rec, NSX_MODULE_dur, -1),
	    end = nsx_add_sat(start, dur, NULL);
	uint32_t device = device_at(f, rec);
	struct work *w = work_at(f, nsx_top_module(&f->top, rec), device);

	if (!w || dur < 0 || !nsx_has(rec, NSX_MODULE_start))
		return w != NULL;
	w->first = w->execs == 0 || start < w->first ? start : w->first;
	w->last = w->execs == 0 || end > w->last ? end : w->last;
	w->execs++;
	w->modules += (nsx_u128)dur;
	return true;
}

static bool
take_thunk(struct devices *f, const struct nsx_rec *rec)
{
	int64_t dur, hidden;
	bool comm = nsx_cat_communicates(&f->top.cat, rec);
	uint32_t device = device_at(f, rec);
	struct work *w = work_at(f, nsx_top_program(&f->top, rec), device);

	if (w && nsx_top_thunk(&f->top, rec, comm, &dur, &hidden)) {
		*(comm ? &w->exposed : &w->compute) += (nsx_u128)(dur - hidden);
		w->hidden += (nsx_u128)hidden;
	}
	return w != NULL;
}

static int
add_part(void *state, enum nsx_part part, int64_t start, int64_t end)
{
	struct moments *m = state;

	m->of[part] += (uint64_t)end - (uint64_t)start;
	return NSX_OK;
}

static void
add_moments(struct moments *m, enum nsx_part part, int64_t start, int64_t end)
{
	int64_t from = m->parts.begun && m->end[part] > start ? m->end[part] : start;

	if (!m->parts.begun)
		for (int i = 0; i < NSX_NPARTS; i++)
			m->end[i] = start;
	if (end > from) {
		m->whole[part] += (uint64_t)end - (uint64_t)from;
		m->end[part] = end;
	}
	nsx_parts_add(&m->parts, part, start, end, add_part, m);
}

static bool
take_op(struct devices *f, const struct nsx_rec *rec)
{
	uint32_t device = device_at(f, rec);
	int64_t start = nsx_int(rec, NSX_OP_start, 0), dur = nsx_int(rec, NSX_OP_dur, -1);
	bool comm = nsx_cat_communicates(&f->top.cat, rec);

	f->any_op = true;
	if (device == NSX_NONE)
		return false;
	struct moments *m = &f->devices.p[device].moments;
	if (dur < 0 || !nsx_has(rec, NSX_OP_start)) {
		f->timeless++;
		return true;
	}
	f->late += m->parts.begun && start < m->parts.at;
	add_moments(m, nsx_part_of(rec, comm), start, nsx_add_sat(start, dur, NULL));
	return nsx_overruns_take_op(&f->overruns, device, rec);
}

static int
devices_take(void *state, const struct nsx_rec *rec)
{
	struct devices *f = state;
	bool good = true;

	if (nsx_cat_take(&f->top.cat, rec, f->err) != NSX_OK)
		return NSX_ERR;
	switch (rec->kind->id) {
	/* A device without work has a row too. */
	case NSX_DEVICE: good = device_at(f, rec) != NSX_NONE; break;
	case NSX_MODULE: good = take_module(f, rec); break;
	case NSX_THUNK:  good = take_thunk(f, rec); break;
	case NSX_OP:     good = take_op(f, rec); break;
	default: break;
	}
	return good ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

/* Combine the times of devices for the programs that are kept. */
static void
add_up(struct devices *f)
{
	for (size_t i = 0; i < f->works.n; i++) {
		const struct work *w = &f->works.p[i];
		struct work *d = &f->devices.p[w->device].all;

		if (!f->top.programs.p[w->program].kept)
			continue;
		if (w->execs) {
			d->first = d->execs == 0 || w->first < d->first ? w->first : d->first;
			d->last = d->execs == 0 || w->last > d->last ? w->last : d->last;
		}
		d->execs += w->execs;
		d->modules += w->modules;
		d->compute += w->compute;
		d->exposed += w->exposed;
		d->hidden += w->hidden;
	}
}

static int
device_cmp(const void *pa, const void *pb)
{
	const struct device *a = pa, *b = pb;

	return (a->number > b->number) - (a->number < b->number);
}

/* From its operations: the whole row if there are no modules, else additional columns. */
static int
put_moments(struct devices *f, struct nsx_table *t, struct moments *m, bool alone)
{
	if (!m->parts.begun)
		return NSX_OK;
	nsx_parts_finish(&m->parts, add_part, m);
	nsx_u128 window = m->of[NSX_PART_COMPUTE] + m->of[NSX_PART_COMM] + m->of[NSX_PART_COPY] + m->of[NSX_PART_IDLE];
	const struct { int col, share; nsx_u128 ns; bool always; } cells[] = {
		{ COMPUTE, COMPUTE_SHARE, m->of[NSX_PART_COMPUTE], false }, { EXPOSED, EXPOSED_SHARE,
			m->of[NSX_PART_COMM], false },
		{ HIDDEN, -1, m->whole[NSX_PART_COMM] - m->of[NSX_PART_COMM], false }, { IDLE, IDLE_SHARE,
			m->of[NSX_PART_IDLE], false },
		{ WINDOW, -1, window, true }, { COPY, -1, m->of[NSX_PART_COPY], true },
		{ COPY_HIDDEN, -1, m->whole[NSX_PART_COPY] - m->of[NSX_PART_COPY], true },
	};
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
		if (!alone && !cells[i].always)
			continue;
		if (nsx_table_sum(t, cells[i].col, cells[i].ns, f->err) != NSX_OK)
			return NSX_ERR;
		if (cells[i].share >= 0 && window)
			nsx_table_double(t, cells[i].share, nsx_sum_share(cells[i].ns, window));
	}
	return NSX_OK;
}

static int
put_device(struct devices *f, struct nsx_table *t, struct device *device, bool thunks)
{
	const struct work *d = &device->all;
	nsx_u128 span = d->execs ? (uint64_t)d->last - (uint64_t)d->first : 0, busy = d->compute + d->exposed;
	nsx_u128 idle = span > busy ? span - busy : 0;

	nsx_table_row(t);
	if (device->number != NSX_ABSENT)
		nsx_table_int(t, DEVICE, device->number);
	nsx_table_str(t, PROFILE, device->profile == NSX_NONE ? NSX_STR("") : nsx_cat_str(&f->top.cat,
		f->top.cat.profiles.p[device->profile].name));
	if (put_moments(f, t, &device->moments, !thunks) != NSX_OK)
		return NSX_ERR;
	if (!thunks)
		return NSX_OK;
	nsx_table_int(t, EXECS, d->execs);
	if (nsx_table_sum(t, MODULES, d->modules, f->err) != NSX_OK ||
	    nsx_table_sum(t, COMPUTE, d->compute, f->err) != NSX_OK ||
	    nsx_table_sum(t, EXPOSED, d->exposed, f->err) != NSX_OK ||
	    nsx_table_sum(t, HIDDEN, d->hidden, f->err) != NSX_OK)
		return NSX_ERR;
	if (!d->execs)
		return NSX_OK;
	if (nsx_table_sum(t, SPAN, span, f->err) != NSX_OK || nsx_table_sum(t, IDLE, idle, f->err) != NSX_OK)
		return NSX_ERR;
	if (span) {
		nsx_table_double(t, COMPUTE_SHARE, nsx_sum_share(d->compute, span));
		nsx_table_double(t, EXPOSED_SHARE, nsx_sum_share(d->exposed, span));
		nsx_table_double(t, IDLE_SHARE, nsx_sum_share(idle, span));
	}
	return NSX_OK;
}

static int
devices_finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct devices *f = state;
	bool worked = f->top.any_module || f->top.any_thunk;

	for (size_t i = 0; i < f->works.n; i++)
		if (!nsx_top_expose(&f->top, f->works.p[i].program, f->works.p[i].compute + f->works.p[i].exposed))
			return nsx_err_nomem(f->err, NULL);
	*table = nsx_table_new(cols, NCOLS);
	nsx_table_rank(*table, "device span compute_share exposed_share idle_share compute exposed idle "
	                       "hidden copy execs");
	if (!*table || !nsx_top_pick(&f->top, f->cover, diags))
		return nsx_err_nomem(f->err, NULL);
	add_up(f);
	if (!worked && !f->any_op)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no module and no op records: extract with --ops");
	else if (!worked)
		nsx_diag_add(diags, NSX_INFO, "", 1,
			"no module records: only operations are summed, from the first to the last of each device");
	else if (!f->top.any_module)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no module records: every program counts; idle time and shares are not known");
	nsx_top_diags(&f->top, diags);
	nsx_diag_add(diags, NSX_WARNING, "", f->timeless, "operations without start or duration: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", f->late,
		"operations out of order on their device: the time before the latest start seen is ignored");
	nsx_overruns_report(&f->overruns, diags, NSX_OVERRUNS_COUNT);
	if (f->devices.n > 1)
		qsort(f->devices.p, f->devices.n, sizeof *f->devices.p, device_cmp);
	for (size_t i = 0; (worked || f->any_op) && i < f->devices.n; i++)
		if (f->devices.p[i].met && put_device(f, *table, &f->devices.p[i], worked) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

const struct nsx_summer nsx_sum_devices = { devices_open, devices_need, devices_take, devices_finish, devices_free };
