/* devices.c -- a row for each device: its activities, from its first operation to its last, by its operations; without
 * operations by the thunks of top programs, between the first start and the last end of a module. Constant memory per
 * device. */
#include <stdlib.h>

#include "table/summary/moments.h"
#include "table/summary/summary.h"
#include "job/program_time.h"
#include "job/catalogue.h"
#include "table/sums.h"

/* The times of a device, of one program or of all that are kept. */
struct work {
	uint32_t program, device;   /* the key: in the catalogue */
	int64_t  first, last, execs;
	nsx_u128 modules, compute, exposed, hidden, copy;
};
static const struct nsx_sum_def works = { .size = sizeof(struct work), .key = sizeof(uint64_t) };

struct device {
	bool        met;            /* it has a record, or something ran on it, so it has a row */
	uint32_t    profile;        /* in the catalogue; NSX_NONE if unknown */
	struct work all;
};

/* whole: what the parts are shares of. Times that are not known are NSX_SUM_NONE. */
struct row {
	int64_t  device, execs;
	uint32_t profile;           /* its name, in the catalogue's strings */
	nsx_u128 span, modules, compute, exposed, hidden, idle, window, copy, copy_hidden, whole;
};

#define NSX_ROW struct row
#define TIME(member) NSX_COL(#member, NS, member)
#define PART(member) NSX_COL_PER(#member "_share", SHARE, member, whole)

static const struct nsx_sum_col cols[] = {
	NSX_COL("device", ID, device), NSX_COL("profile", STRING, profile), NSX_COL("execs", INT, execs),
	TIME(span), TIME(modules), TIME(compute), TIME(exposed), TIME(hidden), TIME(idle),
	PART(compute), PART(exposed), PART(idle), TIME(window), TIME(copy), TIME(copy_hidden)
};
static const struct nsx_sum_def def = {
	NSX_ROWS(cols), .key = sizeof(int64_t), .order = "device",
	.rank = "device span compute_share exposed_share idle_share compute exposed idle hidden copy execs"
};

struct devices {
	NSX_STATE;
	struct nsx_cover cover;
	struct nsx_top   top;
	NSX_VEC(struct device) devices;   /* by index of the catalogue */
	struct nsx_sums  works;           /* of struct work */
	struct nsx_all_moments moments;
	struct nsx_gone  gone;
};

static int
devices_begin(void *state, const void *given, const struct nsx_analysis_at *at)
{
	const struct nsx_summary_options *options = given;
	struct devices *f = state;

	f->cover = options->cover;
	f->cat = f->top.given = at->cat;
	f->works.def = &works;
	return NSX_OK;
}

static void
devices_need(void *state, struct nsx_reader *in)
{
	(void)state;
	nsx_reader_need(in, NSX_MODULE, NSX_EVERY);
	nsx_reader_need(in, NSX_THUNK, NSX_EVERY);
	nsx_reader_need(in, NSX_OP, NSX_EVERY);
	nsx_moments_need(in);
	nsx_gone_need(in);
}

static void
devices_free(void *state)
{
	struct devices *f = state;

	nsx_top_free(&f->top);
	nsx_moments_free(&f->moments);
	nsx_gone_free(&f->gone);
	nsx_sums_free(&f->works);
	free(f->devices.p);
}

/* The device of that index, which has this record; NULL when out of memory. */
static struct device *
device_at(struct devices *f, uint32_t at, const struct nsx_rec *rec)
{
	if (at == NSX_NONE || !nsx_vec_reach(&f->devices, at, &(struct device){ .profile = NSX_NONE }))
		return NULL;
	struct device *d = &f->devices.p[at];

	if (!d->met)
		d->profile = nsx_cat_find_profile(f->cat, nsx_field_int(rec, NSX_ROLE_PROFILE, NSX_ABSENT));
	d->met = true;
	return d;
}

/* The times of a device for a program; NULL when out of memory. */
static struct work *
work_at(struct devices *f, uint32_t program, uint32_t device)
{
	return program == NSX_NONE ? NULL : nsx_sums_row(&f->works, &(uint32_t[2]){ program, device });
}

static bool
take_module(struct devices *f, const struct nsx_event *e)
{
	struct work *w = work_at(f, nsx_top_module(&f->top, e->rec), e->device);

	if (!w || e->end == NSX_ABSENT)
		return w != NULL;
	w->first = w->execs == 0 || e->start < w->first ? e->start : w->first;
	w->last = w->execs == 0 || e->end > w->last ? e->end : w->last;
	w->execs++;
	w->modules += (nsx_u128)nsx_int(e->rec, NSX_MODULE_dur, 0);
	return true;
}

static bool
take_thunk(struct devices *f, const struct nsx_event *e)
{
	struct work *w = work_at(f, nsx_top_program(&f->top, e->rec), e->device);
	int64_t dur, hidden;

	if (w && nsx_top_thunk(&f->top, e->rec, e->communicates, &dur, &hidden)) {
		*(e->communicates ? &w->exposed : nsx_int(e->rec, NSX_THUNK_copy, 0) == 1 ? &w->copy : &w->compute) +=
			(nsx_u128)(dur - hidden);
		w->hidden += (nsx_u128)hidden;
	}
	return w != NULL;
}

static int
devices_take(void *state, const struct nsx_event *e)
{
	struct devices *f = state;
	enum nsx_kind_id kind = e->rec->kind->id;
	/* A device without work has a row too. */
	uint32_t device = kind == NSX_DEVICE ? nsx_cat_device(f->cat, e->rec) : e->device;
	bool good = (kind != NSX_DEVICE && device == NSX_NONE) || device_at(f, device, e->rec);

	switch (kind) {
	case NSX_MODULE: good = good && take_module(f, e); break;
	case NSX_THUNK:  good = good && take_thunk(f, e); break;
	case NSX_OP:
		good = good && nsx_moments_take(&f->moments, e) && nsx_gone_take(&f->gone, e->rec, e->device);
		break;
	case NSX_STEP:   good = nsx_moments_take_step(&f->moments, f->cat, e->rec); break;
	default: break;
	}
	return good ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

/* Combine the times of devices for the programs that are kept. */
static void
add_up(struct devices *f)
{
	NSX_SUMS_EACH(const struct work, w, &f->works) {
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

static void
set_moments(struct row *r, const struct nsx_moments *m)
{
	r->compute = m->of[NSX_PART_COMPUTE];
	r->exposed = m->of[NSX_PART_COMM];
	r->copy = m->of[NSX_PART_COPY];
	r->idle = m->of[NSX_PART_IDLE];
	r->hidden = m->hidden[NSX_PART_COMM];
	r->copy_hidden = m->hidden[NSX_PART_COPY];
	r->window = r->whole = nsx_moments_window(m);
}

/* What is known without operations: thunks, whose time includes gaps between their kernels. */
static void
set_thunks(struct row *r, const struct work *d, nsx_u128 span)
{
	nsx_u128 busy = d->compute + d->exposed + d->copy;

	r->compute = d->compute;
	r->exposed = d->exposed;
	r->copy = d->copy;
	r->hidden = d->hidden;
	r->whole = span;
	if (d->execs)
		r->idle = span > busy ? span - busy : 0;
}

/* The row of a device; worked: there were thunks or modules. False when out of memory. */
static bool
add_row(struct devices *f, size_t at, bool worked)
{
	const struct device *device = &f->devices.p[at];
	const struct work *d = &device->all;
	const struct nsx_moments *m = at < f->moments.devices.n ? &f->moments.devices.p[at] : NULL;
	const struct nsx_excerpt *x = &f->moments.excerpt;
	uint64_t span = !d->execs ? 0 : x->on ? (uint64_t)nsx_excerpt_length(x, (uint32_t)at)
	    : (uint64_t)d->last - (uint64_t)d->first - nsx_gone_within(&f->gone, (uint32_t)at, d->first, d->last);
	struct row *r = nsx_sums_row(&f->rows, &f->cat->devices.p[at].number);

	if (!r)
		return false;
	r->profile = device->profile == NSX_NONE ? NSX_NONE : f->cat->profiles.p[device->profile].name;
	r->execs = worked ? d->execs : NSX_ABSENT;
	r->modules = worked ? d->modules : NSX_SUM_NONE;
	r->span = worked && d->execs ? span : NSX_SUM_NONE;
	r->compute = r->exposed = r->hidden = r->idle = r->window = r->copy = r->copy_hidden = NSX_SUM_NONE;
	if (m && m->parts.begun)
		set_moments(r, m);
	else if (worked && !f->moments.any)
		set_thunks(r, d, span);
	return true;
}

static int
devices_finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct devices *f = state;
	/* What is beyond reach is no work, but is not lacking. */
	bool worked = f->top.any_module || f->top.any_thunk;
	bool modules = f->came[NSX_MODULE] || f->came[NSX_THUNK], ops = f->came[NSX_OP];

	(void)table;
	f->rows = (struct nsx_sums){ .def = &def, .texts = &f->cat->strings };
	NSX_SUMS_EACH(const struct work, w, &f->works) {
		if (!nsx_top_expose(&f->top, w->program, w->compute + w->exposed))
			return nsx_err_nomem(f->err, NULL);
	}
	if (!nsx_top_pick(&f->top, f->cover, diags))
		return nsx_err_nomem(f->err, NULL);
	add_up(f);
	nsx_moments_finish(&f->moments);
	if (!modules && !ops)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no module and no op records: extract with --ops");
	else if (!modules)
		nsx_diag_add(diags, NSX_INFO, "", 1,
			"no module records: only operations are summed, from the first to the last of each device");
	else if (!f->moments.any && f->top.any_thunk)
		nsx_sum_thunk_view(f->came, true, diags);
	/* Operations are counted without `hidden`. */
	f->top.any_comm &= !f->moments.any;
	nsx_cat_comm_diags(f->cat, "", diags);
	nsx_top_diags(&f->top, diags);
	nsx_moments_diags(&f->moments, diags);
	for (size_t i = 0; (modules || ops) && i < f->devices.n; i++)
		if (f->devices.p[i].met && !add_row(f, i, worked))
			return nsx_err_nomem(f->err, NULL);
	return NSX_OK;
}

const struct nsx_analysis nsx_sum_devices = {
	sizeof(struct devices), NSX_SUM_KINDS, true | NSX_REACHING | NSX_STATED,
	devices_begin, devices_need, devices_take, devices_finish, devices_free
};
