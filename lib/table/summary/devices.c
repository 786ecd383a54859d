/* devices.c -- a row for each device: its activities, from its first operation to its last, by its operations; without
 * operations by the thunks of top programs, between the first start and the last end of a module. Constant memory per
 * device. */
#include <stdlib.h>

#include "table/summary/moments.h"
#include "table/summary/summary.h"
#include "job/program_time.h"
#include "job/catalogue.h"

enum { DEVICE, PROFILE, EXECS, SPAN, MODULES, COMPUTE, EXPOSED, HIDDEN, IDLE, COMPUTE_SHARE, EXPOSED_SHARE,
       IDLE_SHARE, WINDOW, COPY, COPY_HIDDEN, NCOLS };

static const struct nsx_table_col cols[NCOLS] = {
	[DEVICE]          = { "device", NSX_CELL_ID },
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
	nsx_u128 modules, compute, exposed, hidden, copy;
};

struct device {
	bool           met;            /* it has a record, or something ran on it, so it has a row */
	int64_t        number;
	uint32_t       profile;        /* in the catalogue; NSX_NONE if unknown */
	uint32_t       at;             /* in the catalogue */
	struct work    all;
};

struct devices {
	struct nsx_err  *err;
	struct nsx_cover cover;
	struct nsx_top   top;
	struct nsx_map   work_of;      /* (program, device) -> works */
	NSX_VEC(struct device) devices;   /* by index of the catalogue */
	NSX_VEC(struct work)   works;
	struct nsx_all_moments moments;
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
	nsx_moments_free(&f->moments);
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

	*d = (struct device){ .met = true, .at = at, .number = f->top.cat.devices.p[at].number };
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
		*(comm ? &w->exposed : nsx_int(rec, NSX_THUNK_copy, 0) == 1 ? &w->copy : &w->compute) +=
			(nsx_u128)(dur - hidden);
		w->hidden += (nsx_u128)hidden;
	}
	return w != NULL;
}

static bool
take_op(struct devices *f, const struct nsx_rec *rec)
{
	uint32_t device = device_at(f, rec);

	return device != NSX_NONE && nsx_moments_take(&f->moments, &f->top.cat, device, rec);
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
		d->copy += w->copy;
	}
}

static int
device_cmp(const void *pa, const void *pb)
{
	const struct device *a = pa, *b = pb;

	return (a->number > b->number) - (a->number < b->number);
}

/* Cells of sums and of their shares of `whole`, where it is known. */
struct cell { int col, share; nsx_u128 ns; };

static int
put_cells(struct devices *f, struct nsx_table *t, const struct cell *cells, size_t n, nsx_u128 whole)
{
	for (size_t i = 0; i < n; i++) {
		if (nsx_table_sum(t, cells[i].col, cells[i].ns, f->err) != NSX_OK)
			return NSX_ERR;
		if (cells[i].share >= 0 && whole)
			nsx_table_double(t, cells[i].share, nsx_sum_share(cells[i].ns, whole));
	}
	return NSX_OK;
}

static int
put_moments(struct devices *f, struct nsx_table *t, const struct nsx_moments *m)
{
	nsx_u128 window = nsx_moments_window(m);
	const struct cell cells[] = {
		{ COMPUTE, COMPUTE_SHARE, m->of[NSX_PART_COMPUTE] },
		{ EXPOSED, EXPOSED_SHARE, m->of[NSX_PART_COMM] },
		{ HIDDEN, -1, m->whole[NSX_PART_COMM] - m->of[NSX_PART_COMM] },
		{ IDLE, IDLE_SHARE, m->of[NSX_PART_IDLE] },
		{ WINDOW, -1, window },
		{ COPY, -1, m->of[NSX_PART_COPY] },
		{ COPY_HIDDEN, -1, m->whole[NSX_PART_COPY] - m->of[NSX_PART_COPY] },
	};

	return put_cells(f, t, cells, sizeof cells / sizeof *cells, window);
}

/* What is known without operations: thunks, whose time includes gaps between their kernels. */
static int
put_thunks(struct devices *f, struct nsx_table *t, const struct work *d, nsx_u128 span)
{
	nsx_u128 busy = d->compute + d->exposed + d->copy;
	const struct cell cells[] = {
		{ COMPUTE, COMPUTE_SHARE, d->compute },
		{ EXPOSED, EXPOSED_SHARE, d->exposed },
		{ HIDDEN, -1, d->hidden },
		{ COPY, -1, d->copy },
		{ IDLE, IDLE_SHARE, span > busy ? span - busy : 0 },
	};

	return put_cells(f, t, cells, sizeof cells / sizeof *cells - !d->execs, span);
}

static int
put_device(struct devices *f, struct nsx_table *t, const struct device *device, bool worked)
{
	const struct work *d = &device->all;
	const struct nsx_moments *m = device->at < f->moments.devices.n ? &f->moments.devices.p[device->at] : NULL;
	nsx_u128 span = d->execs ? (uint64_t)d->last - (uint64_t)d->first : 0;

	nsx_table_row(t);
	if (device->number != NSX_ABSENT)
		nsx_table_int(t, DEVICE, device->number);
	nsx_table_str(t, PROFILE, device->profile == NSX_NONE ? NSX_STR("") : nsx_cat_str(&f->top.cat,
		f->top.cat.profiles.p[device->profile].name));
	if (f->moments.any && m && m->parts.begun && put_moments(f, t, m) != NSX_OK)
		return NSX_ERR;
	if (!worked)
		return NSX_OK;
	nsx_table_int(t, EXECS, d->execs);
	if (nsx_table_sum(t, MODULES, d->modules, f->err) != NSX_OK ||
	    (d->execs && nsx_table_sum(t, SPAN, span, f->err) != NSX_OK))
		return NSX_ERR;
	return f->moments.any ? NSX_OK : put_thunks(f, t, d, span);
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
	nsx_moments_finish(&f->moments);
	if (!worked && !f->moments.any)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no module and no op records: extract with --ops");
	else if (!worked)
		nsx_diag_add(diags, NSX_INFO, "", 1,
			"no module records: only operations are summed, from the first to the last of each device");
	else if (!f->moments.any)
		nsx_sum_thunk_view(&f->top, diags);
	/* Operations are counted without `hidden`. */
	f->top.any_comm &= !f->moments.any;
	nsx_top_diags(&f->top, diags);
	nsx_moments_diags(&f->moments, diags);
	if (f->devices.n > 1)
		qsort(f->devices.p, f->devices.n, sizeof *f->devices.p, device_cmp);
	for (size_t i = 0; (worked || f->moments.any) && i < f->devices.n; i++)
		if (f->devices.p[i].met && put_device(f, *table, &f->devices.p[i], worked) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

const struct nsx_summer nsx_sum_devices = { devices_open, devices_need, devices_take, devices_finish, devices_free };
