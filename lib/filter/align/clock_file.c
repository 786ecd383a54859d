/* clock_file.c -- corrections: their arithmetic, a table of them by device, and a stream that contains them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "filter/align/aligning.h"
#include "stream/fields.h"
#include "stream/spool.h"
#include "job/metadata.h"

/* Far enough from the limits of 64 bits that the correction of a correction fits. */
static const double FAR = 4e18;

int64_t
nsx_align_fixed(const struct al_fix *f, int64_t t)
{
	if (!al_moves(f))
		return t;
	double d = f->offset;

	if (f->rate != 0)
		d += f->rate * (double)nsx_sub_sat(t, f->ref, NULL);
	return nsx_sub_sat(t, llround(fmax(fmin(d, FAR), -FAR)), NULL);
}

struct al_fix
nsx_align_compose(const struct al_fix *first, const struct al_fix *second)
{
	if (first->rate == 0 && second->rate == 0)
		return (struct al_fix){ first->offset + second->offset, 0, first->ref };
	/* With u = t - ref of the first, the second acts on ref + u - offset - rate * u. */
	struct al_fix f = *first;
	if (f.rate == 0)
		f.ref = nsx_add_sat(second->ref, llround(fmax(fmin(f.offset, FAR), -FAR)), NULL);
	double apart = (double)nsx_sub_sat(f.ref, second->ref, NULL) - first->offset;

	f.offset = first->offset + second->offset + second->rate * apart;
	f.rate = first->rate + second->rate * (1 - first->rate);
	return f;
}

int
nsx_align_corrections_add(struct al_corrections *g, const struct al_clock *c, struct nsx_err *err)
{
	uint32_t *at = nsx_map_at(&g->of, (struct nsx_key){ (uint64_t)c->device, 0 });
	struct al_clock copy = *c;

	if (at && *at != NSX_NONE)
		return NSX_OK;
	copy.report = nsx_arena_str(&g->arena, c->report);
	copy.executions = nsx_arena_str(&g->arena, c->executions);
	if (!at || !copy.report.ptr || !copy.executions.ptr || !nsx_vec_push(&g->clocks, copy))
		return nsx_err_nomem(err, NULL);
	*at = (uint32_t)g->clocks.n - 1;
	return NSX_OK;
}

const struct al_clock *
nsx_align_corrections_get(const struct al_corrections *g, int64_t device)
{
	uint32_t at = nsx_map_get(&g->of, (struct nsx_key){ (uint64_t)device, 0 });

	return at == NSX_NONE ? NULL : &g->clocks.p[at];
}

void
nsx_align_clock_set(struct nsx_rec *rec, const struct nsx_catalogue *cat, const struct nsx_cat_device *d,
                    const struct al_fix *f, const struct al_clock *c)
{
	nsx_clock_set(rec, &(struct nsx_clock){
		.device = d->number,
		.profile = d->profile == NSX_NONE ? NSX_ABSENT : cat->profiles.p[d->profile].number,
		.offset = f->offset, .rate = f->rate, .ref = f->ref,
		.collectives = c ? c->collectives : NSX_ABSENT, .component = c ? c->component : NSX_ABSENT,
		.error = c ? c->error : -1, .executions = c ? c->executions : NSX_STR("")
	});
}

void
nsx_align_corrections_free(struct al_corrections *g)
{
	nsx_spool_free(g->skews);
	nsx_map_free(&g->of);
	nsx_arena_free(&g->arena);
	free(g->clocks.p);
	*g = (struct al_corrections){ 0 };
}

/* ---- from a file ---- */

struct clock_reading {
	struct al_corrections *g;
	struct nsx_reader     *in;
	struct nsx_diags      *diags;
	struct nsx_err        *err;
	struct nsx_catalogue   cat;   /* profiles and devices only */
};

/* The profile's name in a clock record, or its device; empty if it has neither. */
static struct nsx_str
report_of(const struct clock_reading *l, const struct nsx_rec *clock, int64_t device)
{
	uint32_t at = nsx_cat_find_device(&l->cat, device), profile = at == NSX_NONE ? NSX_NONE
	    : l->cat.devices.p[at].profile;

	if (nsx_field_has(clock, NSX_ROLE_PROFILE))
		profile = nsx_cat_find_profile(&l->cat, nsx_field_int(clock, NSX_ROLE_PROFILE, NSX_ABSENT));
	return nsx_cat_str(&l->cat, profile == NSX_NONE ? NSX_NONE : l->cat.profiles.p[profile].name);
}

static int
load_clock(struct clock_reading *l, const struct nsx_rec *rec)
{
	struct nsx_clock had = nsx_clock_of(rec);
	struct al_clock c = { .device = had.device, .fix = { had.offset, had.rate, had.ref },
	                      .collectives = had.collectives == NSX_ABSENT ? 0 : had.collectives,
	                      .component = had.component == NSX_ABSENT ? 0 : had.component,
	                      .error = had.error, .executions = had.executions };

	if (had.device == NSX_ABSENT)
		return nsx_err_set(l->err, "%s: clock record without a device", nsx_reader_where(l->in));
	/* These comparisons are false for NaN too. */
	if (!(fabs(c.fix.offset) <= FAR))
		return nsx_err_set(l->err, "%s: clock of device %" PRId64 ": an offset of %g ns",
		                   nsx_reader_where(l->in), c.device, c.fix.offset);
	if (!(fabs(c.fix.rate) <= AL_RATE_LIMIT))
		return nsx_err_set(l->err, "%s: clock of device %" PRId64 ": want a rate from %g to %g, got %g",
		                   nsx_reader_where(l->in),
		                   c.device, -AL_RATE_LIMIT, AL_RATE_LIMIT, c.fix.rate);
	c.report = report_of(l, rec, c.device);
	return nsx_align_corrections_add(l->g, &c, l->err);
}

bool
nsx_align_own(struct nsx_str *source)
{
	static const char own[] = "nsysx-align";
	size_t skip = sizeof own - 1;

	if (!nsx_str_starts(*source, own) || (source->len > skip && source->ptr[skip] != ':'))
		return false;
	if (source->len > skip)
		skip += source->len > skip + 1 ? 2 : 1;
	*source = (struct nsx_str){ source->ptr + skip, source->len - skip };
	return true;
}

/* The diags of the estimate also apply to the result made with it. */
static int
load_diag(struct clock_reading *l, const struct nsx_rec *rec)
{
	struct nsx_str source = nsx_string(rec, NSX_DIAG_source), severity = nsx_string(rec, NSX_DIAG_severity);
	struct nsx_str text = nsx_string(rec, NSX_DIAG_text);
	enum nsx_severity how = nsx_str_eq(severity, NSX_STR("info")) ? NSX_INFO : nsx_str_eq(severity,
		NSX_STR("error")) ? NSX_ERROR : NSX_WARNING;

	if (!nsx_align_own(&source))
		return NSX_OK;
	char *of = nsx_str_dup(source);
	if (!of)
		return nsx_err_nomem(l->err, NULL);
	nsx_diag_add(l->diags, how, of, nsx_int(rec, NSX_DIAG_count, 1), "%.*s", text.len > 1000 ? 1000 : (int)text.len,
	             text.ptr);
	free(of);
	return NSX_OK;
}

static int
load_record(struct clock_reading *l, const struct nsx_rec *rec)
{
	switch (rec->kind->id) {
	case NSX_PROFILE: case NSX_DEVICE: return nsx_cat_take(&l->cat, rec, l->err);
	case NSX_CLOCK: return load_clock(l, rec);
	case NSX_DIAG:  return load_diag(l, rec);
	case NSX_SKEW:
		if (!l->g->skews && !(l->g->skews = nsx_spool_open(l->err)))
			return NSX_ERR;
		return nsx_spool_write(l->g->skews, rec);
	default:
		return NSX_OK;
	}
}

int
nsx_align_corrections_load(struct al_corrections *g, const char *path, struct nsx_diags *diags, struct nsx_err *err)
{
	struct clock_reading l = { .g = g, .diags = diags, .err = err };
	struct nsx_rec rec;
	int rc = NSX_ERR;

	l.in = nsx_reader_open(path, NSX_READ_ORDERED, err);
	if (l.in)
		while ((rc = nsx_read(l.in, &rec)) == NSX_OK)
			if ((rc = load_record(&l, &rec)) != NSX_OK)
				break;
	if (rc == NSX_EOF)
		rc = g->clocks.n ? NSX_OK
		    : nsx_err_set(err, "%s: no clock record: want what nsysx-align --estimate writes", path);
	nsx_reader_close(l.in);
	nsx_cat_free(&l.cat);
	return rc;
}
