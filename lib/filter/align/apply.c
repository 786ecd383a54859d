/* apply.c -- the second pass: every time is corrected, and records stand in order again. */
#include <stdlib.h>

#include "filter/align/aligning.h"
#include "stream/fields.h"
#include "stream/order.h"
#include "stream/pack.h"
#include "stream/spool.h"

/* What the input calls a device or a report, and its correction. */
struct moved_device { int64_t number, profile; const struct al_clock *clock; struct al_fix fix; bool written; };
struct moved_report { int64_t number; struct nsx_str name; struct al_fix fix; bool told; };

struct applying {
	struct nsx_reader           *in;
	struct nsx_writer           *out;
	const struct al_given       *given;
	const struct al_job         *job;
	const struct nsx_align_opts *opts;
	struct nsx_diags            *diags;
	struct nsx_err              *err;
	struct nsx_arena             arena;
	struct nsx_map               device_of, report_of;
	NSX_VEC(struct moved_device) devices;
	struct nsx_buf               held;        /* their records, which hold times and wait until all are known */
	NSX_VEC(struct moved_report) reports;
	NSX_VEC(struct al_fix)       fixes;       /* the different ones, for how far records can still move */
	bool                         settled;     /* all devices are known */
	bool                         clocked;     /* all have their clock records */
	struct al_queue             *queue;
};

static struct nsx_key
key(int64_t a)
{
	return (struct nsx_key){ (uint64_t)a, 0 };
}

/* ---- metadata ---- */

static struct moved_report *
report_at(struct applying *a, int64_t number)
{
	uint32_t i = nsx_map_get(&a->report_of, key(number));

	return i == NSX_NONE ? NULL : &a->reports.p[i];
}

static int
take_profile(struct applying *a, const struct nsx_rec *rec)
{
	int64_t number = nsx_int(rec, NSX_PROFILE_profile, -1);
	uint32_t *i = nsx_map_at(&a->report_of, key(number));
	struct nsx_str name = nsx_arena_str(&a->arena, nsx_string(rec, NSX_PROFILE_name));

	if (!i || !name.ptr || !nsx_vec_push(&a->reports, ((struct moved_report){ .number = number, .name = name })))
		return nsx_err_nomem(a->err, NULL);
	*i = (uint32_t)a->reports.n - 1;
	return NSX_OK;
}

static int
take_device(struct applying *a, const struct nsx_rec *rec)
{
	struct moved_device d = { .number = nsx_int(rec, NSX_DEVICE_device, -1), .profile = nsx_int(rec, NSX_DEVICE_profile, -1) };
	uint32_t *i = nsx_map_at(&a->device_of, key(d.number));
	const struct moved_report *r = report_at(a, d.profile);

	d.clock = al_given_get(a->given, d.number);
	if (d.clock && r && d.clock->report.len && r->name.len && !nsx_str_eq(d.clock->report, r->name))
		return nsx_err_set(a->err, "%s: device %lld is of report %.*s, the clock in %s of report %.*s", nsx_reader_where(a->in),
		                   (long long)d.number, r->name.len > 100 ? 100 : (int)r->name.len, r->name.ptr,
		                   a->opts->apply ? a->opts->apply : "the first pass",
		                   d.clock->report.len > 100 ? 100 : (int)d.clock->report.len, d.clock->report.ptr);
	if (!i || !nsx_vec_push(&a->devices, d))
		return nsx_err_nomem(a->err, NULL);
	*i = (uint32_t)a->devices.n - 1;
	nsx_pack(&a->held, rec);
	return a->held.failed ? nsx_err_nomem(a->err, NULL) : NSX_OK;
}

/* The devices' records, their last starts corrected. */
static int
write_devices(struct applying *a)
{
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec rec;
	const char *p = a->held.ptr;

	for (size_t i = 0; i < a->devices.n; i++) {
		p = nsx_unpack(p, &rec, v);
		if (nsx_has(&rec, NSX_DEVICE_last))
			rec.v[NSX_DEVICE_last].i = al_fixed(&a->devices.p[i].fix, rec.v[NSX_DEVICE_last].i);
		if (nsx_write(a->out, &rec) != NSX_OK)
			return NSX_ERR;
	}
	nsx_buf_free(&a->held);
	return NSX_OK;
}

/* The correction of a report's own clock, by which its host's times go: that of its lowest device that has one. */
static void
settle_report(struct applying *a, struct moved_report *r)
{
	int64_t lowest = INT64_MAX;

	for (size_t i = 0; i < a->devices.n; i++) {
		const struct moved_device *d = &a->devices.p[i];
		if (!d->clock || d->profile != r->number || (r->told && d->number >= lowest))
			continue;
		lowest = d->number;
		r->fix = d->clock->fix;
		r->told = true;
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
set_clock(struct nsx_rec *rec, const struct moved_device *d, const struct al_fix *f)
{
	nsx_set_i(rec, NSX_CLOCK_device, d->number);
	nsx_set_i(rec, NSX_CLOCK_profile, d->profile);
	nsx_set_f(rec, NSX_CLOCK_offset, f->offset);
	nsx_set_f(rec, NSX_CLOCK_rate, f->rate);
	nsx_set_i(rec, NSX_CLOCK_ref, f->ref);
	if (d->clock) {
		nsx_set_i(rec, NSX_CLOCK_collectives, d->clock->collectives);
		nsx_set_i(rec, NSX_CLOCK_component, d->clock->component);
	}
}

static struct moved_device *
device_at(struct applying *a, int64_t number)
{
	uint32_t i = nsx_map_get(&a->device_of, key(number));

	return i == NSX_NONE ? NULL : &a->devices.p[i];
}

/* All devices are known: what moves by how much. */
static int
find_fixes(struct applying *a)
{
	const struct al_fix none = { 0, 0, 0 };
	int64_t unmoved = 0, parted = 0;
	int rc = add_fix(a, &none);

	for (size_t i = 0; i < a->reports.n && rc == NSX_OK; i++) {
		settle_report(a, &a->reports.p[i]);
		rc = add_fix(a, &a->reports.p[i].fix);
	}
	for (size_t i = 0; i < a->devices.n && rc == NSX_OK; i++) {
		struct moved_device *d = &a->devices.p[i];
		const struct moved_report *r = report_at(a, d->profile);

		d->fix = d->clock ? d->clock->fix : r ? r->fix : none;
		unmoved += !d->clock && !(r && r->told);
		parted += r && (r->fix.offset != d->fix.offset || r->fix.rate != d->fix.rate || r->fix.ref != d->fix.ref);
		rc = add_fix(a, &d->fix);
	}
	nsx_diag_add(a->diags, NSX_WARNING, "", unmoved, "devices without a clock in the file applied: not moved");
	nsx_diag_add(a->diags, NSX_WARNING, "", parted, "devices corrected otherwise than their host: its times do not compare with theirs");
	return rc;
}

/* The clock that the input has already, and this one on top of it. */
static int
update_clock(struct applying *a, struct nsx_rec *rec)
{
	struct moved_device *d = device_at(a, nsx_int(rec, NSX_CLOCK_device, -1));

	/* A second one of a device, or one that comes late. */
	if (d && d->written)
		return NSX_OK;
	if (d) {
		struct al_fix was = { nsx_has(rec, NSX_CLOCK_offset) ? rec->v[NSX_CLOCK_offset].f : 0,
		                      nsx_has(rec, NSX_CLOCK_rate) ? rec->v[NSX_CLOCK_rate].f : 0, nsx_int(rec, NSX_CLOCK_ref, 0) };
		struct al_fix f = al_compose(&was, &d->fix);
		set_clock(rec, d, &f);
		d->written = true;
	}
	return nsx_write(a->out, rec);
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
		set_clock(&rec, d, &d->fix);
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
	                               ? NULL : report_at(a, nsx_field_int(rec, NSX_ROLE_PROFILE, 0));

	return d ? &d->fix : r ? &r->fix : &none;
}

static void
move(struct nsx_rec *rec, enum nsx_role time, const struct al_fix *f)
{
	int slot = nsx_field(rec->kind->id, time);

	if (slot >= 0 && nsx_has(rec, slot))
		rec->v[slot].i = al_fixed(f, rec->v[slot].i);
}

/* The GPU's by the device's clock; the host's, and those of a range on several devices, by the clock of the report. */
static void
move_times(struct applying *a, struct nsx_rec *rec)
{
	move(rec, NSX_ROLE_START, fix_of(a, rec, true));
	move(rec, NSX_ROLE_HOST_START, fix_of(a, rec, false));
}

/* Nothing that stands at t or later can get before this. */
static int64_t
horizon(const struct applying *a, int64_t t)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < a->fixes.n; i++) {
		int64_t moved = al_fixed(&a->fixes.p[i], t);
		least = moved < least ? moved : least;
	}
	/* INT64_MAX would stand for everything. */
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
	if (!a->queue && !(a->queue = al_queue_new(a->opts->hold_bytes, a->out, a->err)))
		return NSX_ERR;
	if (al_queue_add(a->queue, rec, &full) != NSX_OK)
		return NSX_ERR;
	return full ? al_queue_release(a->queue, horizon(a, time)) : NSX_OK;
}

static int
flush(struct applying *a)
{
	int rc = a->queue ? al_queue_flush(a->queue) : NSX_OK;

	al_queue_free(a->queue);
	a->queue = NULL;
	return rc;
}

/* ---- records ---- */

static int
settle(struct applying *a, enum nsx_kind_id before)
{
	if (!a->settled) {
		a->settled = true;
		if (find_fixes(a) != NSX_OK || write_devices(a) != NSX_OK)
			return NSX_ERR;
	}
	if (before == NSX_CLOCK || a->clocked)
		return NSX_OK;
	a->clocked = true;
	return write_clocks(a);
}

/* Whether rec is what an earlier pass had to say and this one says in the same words: once is enough. */
static bool
said_again(const struct applying *a, const struct nsx_rec *rec)
{
	struct nsx_str source = nsx_string(rec, NSX_DIAG_source);

	if (rec->kind->id != NSX_DIAG || !al_own(&source))
		return false;
	for (size_t i = 0; i < a->diags->list.n; i++) {
		const struct nsx_diag *d = &a->diags->list.p[i];

		if (nsx_int(rec, NSX_DIAG_count, 1) == d->count && nsx_str_eq(nsx_string(rec, NSX_DIAG_text), nsx_str_c(d->text))
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
			return nsx_err_set(a->err, "%s: out of order: %s after what refers to it", nsx_reader_where(a->in), rec->kind->name);
		if (rec->kind->id == NSX_DEVICE)
			return take_device(a, rec);
		return take_profile(a, rec) == NSX_OK ? nsx_write(a->out, rec) : NSX_ERR;
	}
	if (settle(a, rec->kind->id) != NSX_OK)
		return NSX_ERR;
	if (rec->kind->id == NSX_CLOCK)
		return update_clock(a, rec);
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
write_skews(const struct al_given *g, const struct al_job *job, struct nsx_writer *out)
{
	if (job)
		return al_write_skews(job, out);
	return g->skews ? copy_skews(g->skews, out) : NSX_OK;
}

/* Records of ours may follow a header that lacks some of their columns. */
static int
widen(struct nsx_reader *in)
{
	static const enum nsx_kind_id kinds[] = { NSX_CLOCK, NSX_SKEW, NSX_DIAG };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const struct nsx_kind *k = nsx_kind_builtin(kinds[i]);
		for (int c = 0; c < k->ncols; c++)
			if (nsx_reader_add_column(in, kinds[i], k->cols[c].name, k->cols[c].type) != NSX_OK)
				return NSX_ERR;
	}
	return NSX_OK;
}

/* Headers of kinds that had no record after them. What is written from now on stands before the end, whose header was read. */
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
al_apply(struct nsx_reader *in, struct nsx_writer *out, const struct al_given *g, const struct al_job *job,
         const struct nsx_align_opts *opts, struct nsx_diags *diags, struct nsx_err *err)
{
	struct applying a = { .in = in, .out = out, .given = g, .job = job, .opts = opts, .diags = diags, .err = err };
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
	al_queue_free(a.queue);
	nsx_arena_free(&a.arena);
	nsx_map_free(&a.device_of);
	nsx_map_free(&a.report_of);
	free(a.devices.p);
	nsx_buf_free(&a.held);
	free(a.reports.p);
	free(a.fixes.p);
	return rc;
}
