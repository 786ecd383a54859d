/* apply.c -- the second pass: every time is corrected, and records are sorted again. */
#include <stdlib.h>

#include "filter/align/aligning.h"
#include "stream/fields.h"
#include "stream/order.h"
#include "stream/pack.h"
#include "stream/spool.h"
#include "job/metadata.h"
#include "job/stale_marks.h"

/* The corrections of a device and of a report's own clock, by their index in the catalogue. */
struct moved_device { const struct al_clock *clock; struct al_fix fix; bool written; };
struct moved_report { struct al_fix fix; bool known; };

struct applying {
	struct nsx_reader           *in;
	struct nsx_writer           *out;
	const struct al_corrections       *given;
	const struct al_job         *job;
	const struct nsx_align_opts *opts;
	struct nsx_diags            *diags;
	struct nsx_err              *err;
	struct nsx_catalogue         cat;         /* profiles, devices; programs where they are renumbered */
	NSX_VEC(struct moved_device) devices;
	struct nsx_buf               held;        /* their records, which contain times and wait until all are known */
	int64_t                      nheld;
	NSX_VEC(struct moved_report) reports;
	struct nsx_map               added;       /* (program, device) of the catalogue -> adds */
	NSX_VEC(int64_t)             adds;        /* what is added to executions */
	bool                         renumbers;   /* some clock says so */
	NSX_VEC(struct al_fix)       fixes;       /* the distinct ones, to bound how far records can still move */
	bool                         settled;     /* all devices are known */
	bool                         clocked;     /* all clock records have been written */
	struct al_queue             *queue;
	struct nsx_stale_marks       marks;
};

/* ---- numbers of executions ---- */

/* What is added to executions of a program on a device; found once for each. */
static int
added(struct applying *a, uint32_t program, uint32_t device, int64_t *by)
{
	uint32_t *at = nsx_map_at(&a->added, (struct nsx_key){ program, device });

	if (!at || (*at == NSX_NONE && !nsx_vec_push(&a->adds, 0)))
		return nsx_err_nomem(a->err, NULL);
	if (*at == NSX_NONE) {
		*at = (uint32_t)a->adds.n - 1;
		a->adds.p[*at] = nsx_align_executions_by(a->devices.p[device].clock->executions, &a->cat, device,
			program);
	}
	*by = a->adds.p[*at];
	return NSX_OK;
}

static int
renumber(struct applying *a, struct nsx_rec *rec)
{
	int slot = nsx_field(rec->kind->id, NSX_ROLE_EXECUTION);
	int64_t by = 0;

	if (!a->renumbers || slot < 0 || !nsx_has(rec, slot))
		return NSX_OK;
	uint32_t device = nsx_cat_find_device(&a->cat, nsx_field_int(rec, NSX_ROLE_DEVICE, NSX_ABSENT)),
	    program = nsx_cat_find_program(&a->cat, nsx_field_int(rec, NSX_ROLE_PROGRAM, NSX_ABSENT));
	if (device == NSX_NONE || program == NSX_NONE || !a->devices.p[device].clock)
		return NSX_OK;
	if (added(a, program, device, &by) != NSX_OK)
		return NSX_ERR;
	rec->v[slot].i = nsx_add_sat(rec->v[slot].i, by, NULL);
	return NSX_OK;
}

/* ---- metadata ---- */

/* NULL for a device or a report that has no record. */
static struct moved_device *
device_at(struct applying *a, int64_t number)
{
	uint32_t i = nsx_cat_find_device(&a->cat, number);

	return i == NSX_NONE ? NULL : &a->devices.p[i];
}

static struct moved_report *
report_at(struct applying *a, uint32_t profile)
{
	return profile == NSX_NONE || !a->cat.profiles.p[profile].listed ? NULL : &a->reports.p[profile];
}

static int
check_report(const struct applying *a, const struct nsx_cat_device *d, const struct al_clock *clock)
{
	struct nsx_str name = nsx_cat_str(&a->cat, d->profile == NSX_NONE ? NSX_NONE
	                                  : a->cat.profiles.p[d->profile].name);

	if (!clock || !clock->report.len || !name.len || nsx_str_eq(clock->report, name))
		return NSX_OK;
	return nsx_err_set(a->err, "%s: device %lld belongs to report %.*s, but the clock in %s to report %.*s",
	                   nsx_reader_where(a->in),
	                   (long long)d->number, name.len > 100 ? 100 : (int)name.len, name.ptr,
	                   a->opts->apply ? a->opts->apply : "the first pass",
	                   clock->report.len > 100 ? 100 : (int)clock->report.len, clock->report.ptr);
}

/* A profile or a device. */
static int
take_metadata(struct applying *a, const struct nsx_rec *rec)
{
	if (nsx_cat_take(&a->cat, rec, a->err) != NSX_OK)
		return NSX_ERR;
	while (a->reports.n < a->cat.profiles.n)
		if (!nsx_vec_push(&a->reports, ((struct moved_report){ .known = false })))
			return nsx_err_nomem(a->err, NULL);
	while (a->devices.n < a->cat.devices.n) {
		const struct nsx_cat_device *d = &a->cat.devices.p[a->devices.n];
		struct moved_device moved = { .clock = nsx_align_corrections_get(a->given, d->number) };

		if (check_report(a, d, moved.clock) != NSX_OK)
			return NSX_ERR;
		if (!nsx_vec_push(&a->devices, moved))
			return nsx_err_nomem(a->err, NULL);
		a->renumbers |= moved.clock && moved.clock->executions.len;
	}
	return NSX_OK;
}

/* Correct the times of a profile's or a device's record: its window, its last start. */
static void
move_metadata(struct applying *a, struct nsx_rec *rec)
{
	struct nsx_times times = nsx_metadata_times(rec);
	const struct al_fix *f;

	f = rec->kind->id == NSX_DEVICE ? &a->devices.p[nsx_cat_device(&a->cat, rec)].fix
	    : &a->reports.p[nsx_cat_profile(&a->cat, rec)].fix;
	for (int k = 0; k < times.n; k++)
		*times.at[k] = nsx_align_fixed(f, *times.at[k]);
}

/* Write the profiles' and devices' records. */
static int
write_metadata(struct applying *a)
{
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec rec;
	const char *p = a->held.ptr;

	for (int64_t i = 0; i < a->nheld; i++) {
		p = nsx_unpack(p, &rec, v);
		move_metadata(a, &rec);
		if (nsx_write(a->out, &rec) != NSX_OK)
			return NSX_ERR;
	}
	nsx_buf_free(&a->held);
	return NSX_OK;
}

/* The correction of a report's own clock, which applies to times of its host: that of its lowest device that has
 * one. */
static void
settle_report(struct applying *a, uint32_t profile)
{
	struct moved_report *r = &a->reports.p[profile];
	int64_t lowest = INT64_MAX;

	for (size_t i = 0; i < a->devices.n; i++) {
		const struct nsx_cat_device *d = &a->cat.devices.p[i];
		const struct al_clock *clock = a->devices.p[i].clock;

		if (!clock || d->profile != profile || (r->known && d->number >= lowest))
			continue;
		lowest = d->number;
		r->fix = clock->fix;
		r->known = true;
	}
}

static int
add_fix(struct applying *a, const struct al_fix *f)
{
	for (size_t i = 0; i < a->fixes.n; i++)
		if (a->fixes.p[i].offset == f->offset && a->fixes.p[i].rate == f->rate && a->fixes.p[i].ref == f->ref)
			return NSX_OK;
	return nsx_vec_push(&a->fixes, *f) ? NSX_OK : nsx_err_nomem(a->err, NULL);
}

static void
set_clock(const struct applying *a, struct nsx_rec *rec, const struct moved_device *moved, const struct al_fix *f)
{
	const struct nsx_cat_device *d = &a->cat.devices.p[moved - a->devices.p];

	nsx_align_clock_set(rec, &a->cat, d, f, moved->clock);
}

/* All devices are known: determine the correction of each. */
static int
find_fixes(struct applying *a)
{
	const struct al_fix none = { 0, 0, 0 };
	int64_t unmoved = 0, parted = 0;
	int rc = add_fix(a, &none);

	for (uint32_t i = 0; i < a->reports.n && rc == NSX_OK; i++) {
		if (!a->cat.profiles.p[i].listed)
			continue;
		settle_report(a, i);
		rc = add_fix(a, &a->reports.p[i].fix);
	}
	for (size_t i = 0; i < a->devices.n && rc == NSX_OK; i++) {
		struct moved_device *d = &a->devices.p[i];
		const struct moved_report *r = report_at(a, a->cat.devices.p[i].profile);

		d->fix = d->clock ? d->clock->fix : r ? r->fix : none;
		unmoved += !d->clock && !(r && r->known);
		parted += r && (r->fix.offset != d->fix.offset || r->fix.rate != d->fix.rate ||
		                r->fix.ref != d->fix.ref);
		rc = add_fix(a, &d->fix);
	}
	nsx_diag_add(a->diags, NSX_WARNING, "", unmoved, "devices without a clock in the applied file: not corrected");
	nsx_diag_add(a->diags, NSX_WARNING, "", parted,
	             "devices corrected by another offset than their host: host and device times cannot be compared");
	return rc;
}

/* The clock that the input already has, combined with this one. */
static int
update_clock(struct applying *a, struct nsx_rec *rec)
{
	struct nsx_clock had = nsx_clock_of(rec);
	struct moved_device *d = device_at(a, had.device);

	/* A second record of a device, or one that comes late. */
	if (d && d->written)
		return NSX_OK;
	if (!d)
		return nsx_write(a->out, rec);
	struct al_fix was = { had.offset, had.rate, had.ref };
	struct al_fix f = nsx_align_compose(&was, &d->fix);
	struct nsx_buf both = { 0 };
	int rc = NSX_OK;

	set_clock(a, rec, d, &f);
	d->written = true;
	if (nsx_align_executions_add(&both, had.executions, d->clock ? d->clock->executions : NSX_STR(""))) {
		struct nsx_clock now = nsx_clock_of(rec);
		now.executions = nsx_buf_view(&both);
		nsx_clock_set(rec, &now);
		rc = nsx_write(a->out, rec);
	} else {
		rc = nsx_err_nomem(a->err, NULL);
	}
	nsx_buf_free(&both);
	return rc;
}

static int
write_clocks(struct applying *a)
{
	union nsx_val v[NSX_MAX_COLS];

	for (size_t i = 0; i < a->devices.n; i++) {
		struct moved_device *d = &a->devices.p[i];
		struct nsx_rec rec = { nsx_kind_builtin(NSX_CLOCK), 0, v };

		if (d->written)
			continue;
		d->written = true;
		set_clock(a, &rec, d, &d->fix);
		if (nsx_write(a->out, &rec) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

/* ---- times ---- */

/* The correction for a record: its device's, else its report's. */
static const struct al_fix *
fix_of(struct applying *a, const struct nsx_rec *rec, bool by_device)
{
	static const struct al_fix none = { 0, 0, 0 };
	const struct moved_device *d = by_device && nsx_field_has(rec, NSX_ROLE_DEVICE)
	                               ? device_at(a, nsx_field_int(rec, NSX_ROLE_DEVICE, 0)) : NULL;
	const struct moved_report *r = d || !nsx_field_has(rec, NSX_ROLE_PROFILE)
	                               ? NULL : report_at(a, nsx_cat_find_profile(&a->cat,
	                               	nsx_field_int(rec, NSX_ROLE_PROFILE, 0)));

	return d ? &d->fix : r ? &r->fix : &none;
}

static void
move(struct nsx_rec *rec, enum nsx_role time, const struct al_fix *f)
{
	int slot = nsx_field(rec->kind->id, time);

	if (slot >= 0 && nsx_has(rec, slot))
		rec->v[slot].i = nsx_align_fixed(f, rec->v[slot].i);
}

/* GPU times use the clock of the device; host times, and times of a range on several devices, the clock of the
 * report. */
static void
move_times(struct applying *a, struct nsx_rec *rec)
{
	move(rec, NSX_ROLE_START, fix_of(a, rec, true));
	move(rec, NSX_ROLE_HOST_START, fix_of(a, rec, false));
	move(rec, NSX_ROLE_HOST_AT, fix_of(a, rec, false));
}

/* No record at t or later can be moved before this. */
static int64_t
horizon(const struct applying *a, int64_t t)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < a->fixes.n; i++) {
		int64_t moved = nsx_align_fixed(&a->fixes.p[i], t);
		least = moved < least ? moved : least;
	}
	/* INT64_MAX would mean everything. */
	return least == INT64_MAX ? least - 1 : least;
}

static int
take_work(struct applying *a, struct nsx_rec *rec)
{
	int64_t time = INT64_MIN;
	bool full;

	if (a->fixes.n == 1)
		return nsx_write(a->out, rec);
	nsx_order_time(rec, &time);
	move_times(a, rec);
	if (!a->queue && !(a->queue = nsx_align_queue_new(a->opts->hold_bytes, a->out, a->err)))
		return NSX_ERR;
	if (nsx_align_queue_add(a->queue, rec, &full) != NSX_OK)
		return NSX_ERR;
	return full ? nsx_align_queue_release(a->queue, horizon(a, time)) : NSX_OK;
}

static int
flush(struct applying *a)
{
	int rc = a->queue ? nsx_align_queue_flush(a->queue) : NSX_OK;

	nsx_align_queue_free(a->queue);
	a->queue = NULL;
	return rc;
}

/* ---- records ---- */

static int
settle(struct applying *a, enum nsx_kind_id before)
{
	if (!a->settled) {
		a->settled = true;
		if (find_fixes(a) != NSX_OK || write_metadata(a) != NSX_OK)
			return NSX_ERR;
	}
	if (before == NSX_CLOCK || a->clocked)
		return NSX_OK;
	a->clocked = true;
	return write_clocks(a);
}

/* Whether rec is a diag of an earlier pass with the same text as one of this pass: it is written once. */
static bool
said_again(const struct applying *a, const struct nsx_rec *rec)
{
	struct nsx_str source = nsx_string(rec, NSX_DIAG_source);

	if (rec->kind->id != NSX_DIAG || !nsx_align_own(&source))
		return false;
	for (size_t i = 0; i < a->diags->list.n; i++) {
		const struct nsx_diag *d = &a->diags->list.p[i];

		if (nsx_int(rec, NSX_DIAG_count, 1) == d->count && nsx_str_eq(nsx_string(rec, NSX_DIAG_text),
		    nsx_str_c(d->text))
		    && nsx_str_eq(source, nsx_str_c(d->source))
		    && nsx_str_eq(nsx_string(rec, NSX_DIAG_severity), nsx_str_c(nsx_severity_name(d->severity))))
			return true;
	}
	return false;
}

static int
take(struct applying *a, struct nsx_rec *rec)
{
	enum nsx_section section = nsx_rec_section(rec);

	if (section == NSX_SECTION_ANY)
		return said_again(a, rec) ? NSX_OK : nsx_write(a->out, rec);
	if (rec->kind->id == NSX_PROFILE || rec->kind->id == NSX_DEVICE) {
		if (a->settled)
			return nsx_err_set(a->err, "%s: out of order: %s after what refers to it",
			                   nsx_reader_where(a->in), rec->kind->name);
		if (take_metadata(a, rec) != NSX_OK)
			return NSX_ERR;
		a->nheld++;
		nsx_pack(&a->held, rec);
		return a->held.failed ? nsx_err_nomem(a->err, NULL) : NSX_OK;
	}
	if (settle(a, rec->kind->id) != NSX_OK)
		return NSX_ERR;
	if (rec->kind->id == NSX_CLOCK)
		return update_clock(a, rec);
	if ((rec->kind->id == NSX_PROGRAM || rec->kind->id == NSX_ALIAS) && a->renumbers &&
	    nsx_cat_take(&a->cat, rec, a->err) != NSX_OK)
		return NSX_ERR;
	/* Without a change marks hold. */
	if ((a->fixes.n > 1 || a->renumbers) && nsx_stale_mark(&a->marks, rec))
		return NSX_OK;
	if (renumber(a, rec) != NSX_OK)
		return NSX_ERR;
	if (section == NSX_SECTION_WORK)
		return take_work(a, rec);
	if (section == NSX_SECTION_SKEW && flush(a) != NSX_OK)
		return NSX_ERR;
	if (rec->kind->id == NSX_SKEW)
		return NSX_OK;
	if (section != NSX_SECTION_METADATA)
		move_times(a, rec);
	return nsx_write(a->out, rec);
}

static int
copy_skews(struct nsx_spool *skews, struct nsx_writer *out)
{
	struct nsx_reader *back = nsx_spool_reader(skews);
	struct nsx_rec rec;
	int rc = NSX_ERR;

	if (back)
		while ((rc = nsx_read(back, &rec)) == NSX_OK)
			if (nsx_write(out, &rec) != NSX_OK)
				break;
	nsx_reader_close(back);
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

static int
write_skews(const struct al_corrections *g, const struct al_job *job, struct nsx_writer *out)
{
	if (job)
		return nsx_align_write_skews(job, out);
	return g->skews ? copy_skews(g->skews, out) : NSX_OK;
}

/* Our records may follow a header that lacks some of their columns. */
static int
widen(struct nsx_reader *in)
{
	static const enum nsx_kind_id kinds[] = { NSX_CLOCK, NSX_SKEW, NSX_DIAG };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (nsx_reader_add_columns(in, kinds[i]) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

/* Write headers of kinds without a record. Later records come before the end record, whose header has been read. */
static int
end_following(const struct applying *a)
{
	int n;
	const struct nsx_kind *const *kinds = nsx_reader_kinds(a->in, &n);

	nsx_writer_follow(a->out, NULL);
	for (int i = 0; i < n; i++)
		if (kinds[i]->id != NSX_END && nsx_writer_declare(a->out, kinds[i]) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

int
nsx_align_apply(struct nsx_reader *in, struct nsx_writer *out, const struct al_corrections *g, const struct al_job *job,
         const struct nsx_align_opts *opts, struct nsx_diags *diags, struct nsx_err *err)
{
	struct applying a = { .in = in, .out = out, .given = g, .job = job, .opts = opts, .diags = diags, .err = err,
	                      .cat.keep = NSX_CAT_ALIASES };
	struct nsx_rec rec;
	int rc = widen(in);

	nsx_writer_follow(out, in);
	while (rc == NSX_OK && (rc = nsx_read(in, &rec)) == NSX_OK)
		rc = take(&a, &rec);
	if (rc == NSX_EOF)
		rc = end_following(&a);
	if (rc == NSX_OK && (rc = settle(&a, NSX_NKINDS)) == NSX_OK && (rc = flush(&a)) == NSX_OK)
		rc = write_skews(g, job, out);
	nsx_writer_follow(out, NULL);
	nsx_stale_marks_diags(&a.marks, diags, "clocks changed");
	nsx_align_queue_free(a.queue);
	nsx_cat_free(&a.cat);
	free(a.devices.p);
	nsx_buf_free(&a.held);
	free(a.reports.p);
	nsx_map_free(&a.added);
	free(a.adds.p);
	free(a.fixes.p);
	return rc;
}
