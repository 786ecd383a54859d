/* analysis.c -- one reading of a stream for any number of analyses. */
#include "table/analysis.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "job/reach.h"

void
nsx_event_need(struct nsx_reader *in, enum nsx_kind_id kind)
{
	uint64_t columns = nsx_field_slots(kind, NSX_REACH_ROLES | NSX_CAT_COMM_ROLES | NSX_R(DEVICE));

	nsx_reader_need(in, kind, columns | (kind == NSX_OP ? NSX_C(OP, type) : 0));
}

void
nsx_reach_need(struct nsx_reader *in, enum nsx_kind_id kind)
{
	nsx_reader_need(in, kind, nsx_field_slots(kind, NSX_REACH_ROLES));
}

struct state { NSX_STATE; };

static struct nsx_sums *
rows_of(const struct nsx_analysis_run *r)
{
	return (struct nsx_sums *)(void *)((char *)r->state + offsetof(struct state, rows));
}

/* The window in which it starts, most often that of the record before it. */
static const struct nsx_step_window *
window_of(struct nsx_analyses *a, const struct nsx_event *e)
{
	const struct nsx_step_window *x = a->within.n > e->device ? a->within.p[e->device] : NULL;

	if (x && x->from <= e->start && e->start < x->to)
		return x;
	x = nsx_step_window_at(a->windows, e->number, e->start);
	if (x && nsx_vec_reach(&a->within, e->device, NULL))
		a->within.p[e->device] = x;
	return x;
}

/* Find what analyses look up of a record. */
static int
find(struct nsx_analyses *a, struct nsx_event *e)
{
	const struct nsx_rec *rec = e->rec;
	enum nsx_kind_id kind = rec->kind->id;

	if (kind != NSX_OP && kind != NSX_THUNK && kind != NSX_MODULE)
		return nsx_cat_take(&a->cat, rec, a->err);
	e->device = nsx_cat_device(&a->cat, rec);
	if (e->device == NSX_NONE)
		return nsx_err_nomem(a->err, NULL);
	e->number = a->cat.devices.p[e->device].number;
	e->start = nsx_field_int(rec, NSX_ROLE_START, NSX_ABSENT);
	int64_t dur = nsx_field_int(rec, NSX_ROLE_DUR, -1);

	e->end = e->start == NSX_ABSENT || dur < 0 ? NSX_ABSENT : nsx_add_sat(e->start, dur, NULL);
	e->communicates = kind != NSX_MODULE && nsx_cat_communicates(&a->cat, rec);
	if (kind == NSX_OP) {
		e->type = nsx_type_of(rec);
		e->part = nsx_part_of_type(e->type, e->communicates);
	}
	if (a->windows && e->reaches && e->start != NSX_ABSENT)
		e->window = window_of(a, e);
	return NSX_OK;
}

static bool
find_name(struct nsx_analyses *a, struct nsx_event *e)
{
	struct nsx_str name = nsx_string(e->rec, NSX_OP_name);
	uint32_t *last, next, none = NSX_NONE;

	if (!nsx_vec_reach(&a->last_name, e->device, &none))
		return false;
	last = &a->last_name.p[e->device];
	/* The expected one is recognised by its text, which then needs no search either. */
	next = nsx_series_next(&a->of_name, *last);
	if (next != NSX_NONE && a->of_name.keys.p[next].key.a == e->device
	    && nsx_str_eq(nsx_intern_str(&a->names, (uint32_t)a->of_name.keys.p[next].key.b), name)) {
		e->name = (uint32_t)a->of_name.keys.p[next].key.b;
		e->of_name = *last = next;
		return true;
	}
	e->name = nsx_intern_recall(&a->names, a->recall, name);
	if (e->name != NSX_NONE)
		e->of_name = nsx_series_number(&a->of_name, last, (struct nsx_key){ e->device, e->name });
	return e->of_name != NSX_NONE;
}

/* Why an analysis may not get a record. */
enum { OUTSIDE = 1, BEYOND = 2, TIMELESS = 4 };

/* What has no times that count is counted, for those that would get it otherwise. */
static void
refuse(const struct nsx_taker *t, unsigned why)
{
	if (why & t->refuses & OUTSIDE)
		return;
	if (why & BEYOND)
		t->run->beyond++;
	else
		t->run->timeless++;
}

static int
take(void *state, const struct nsx_rec *rec)
{
	struct nsx_analyses *a = state;
	enum nsx_kind_id kind = rec->kind->id;
	const struct nsx_taker *t = a->takers + a->first[kind], *end = a->takers + a->first[kind + 1];

	a->came[kind]++;
	if (t == end && nsx_rec_section(rec) != NSX_SECTION_METADATA)
		return NSX_OK;
	struct nsx_event e = { .rec = rec, .device = NSX_NONE, .number = NSX_ABSENT, .start = NSX_ABSENT,
	                       .end = NSX_ABSENT, .name = NSX_NONE, .of_name = NSX_NONE };

	e.reaches = !((a->shared | a->reaching) & UINT64_C(1) << kind) || nsx_in_reach(rec);
	if (a->shared && find(a, &e) != NSX_OK)
		return NSX_ERR;
	a->beyond += !e.reaches;
	unsigned why = e.reaches ? 0 : OUTSIDE | BEYOND;

	if (e.device != NSX_NONE && !e.window)
		why |= OUTSIDE;
	if (kind == NSX_OP && e.end == NSX_ABSENT)
		why |= TIMELESS;
	for (; t < end; t++) {
		if (why & t->refuses) {
			refuse(t, why);
			continue;
		}
		if (t->named && e.name == NSX_NONE && !find_name(a, &e))
			return nsx_err_nomem(a->err, NULL);
		if (t->take(t->state, &e) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

static struct nsx_taker
taker(struct nsx_analysis_run *r, enum nsx_kind_id kind)
{
	unsigned shared = r->is->shared, refuses = r->steps ? OUTSIDE : 0;

	if (shared & (NSX_TIMED | NSX_REACHING))
		refuses |= BEYOND;
	if (shared & NSX_TIMED)
		refuses |= TIMELESS;
	return (struct nsx_taker){ r->is->take, r->state, r, refuses, shared & NSX_NAMED && kind == NSX_OP };
}

/* Those that take records of each kind, in their order. */
static bool
list_takers(struct nsx_analyses *a)
{
	size_t n = 0;

	a->takers = malloc((a->n * (NSX_NKINDS + 1) + 1) * sizeof *a->takers);
	for (enum nsx_kind_id k = 0; a->takers && k <= NSX_NKINDS; k++) {
		for (size_t i = 0; i < a->n; i++)
			if (!a->runs[i].of && (!a->runs[i].is->kinds || a->runs[i].is->kinds >> k & 1))
				a->takers[n++] = taker(&a->runs[i], k);
		a->first[k + 1] = n;
	}
	return a->takers != NULL;
}

static int
take_run(void *state, const struct nsx_run *run)
{
	struct nsx_analyses *a = state;

	/* All that take the kind take its runs. */
	for (size_t i = a->first[run->kind->id]; i < a->first[run->kind->id + 1]; i++)
		if (a->takers[i].run->runs.take(a->takers[i].state, run) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

/* The kinds whose records come in runs to all that take them, of which there are some: what nobody takes is counted,
 * or is metadata for all. */
static struct nsx_run_kinds
runs_of_all(const struct nsx_analyses *a)
{
	struct nsx_run_kinds runs = { ~a->shared, 0, take_run };
	uint64_t asked = 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct nsx_analysis_run *r = &a->runs[i];

		if (r->of)
			continue;
		runs.kinds &= r->runs.kinds | (r->is->kinds ? ~r->is->kinds : 0);
		runs.compare |= r->runs.compare;
		asked |= r->runs.kinds;
	}
	runs.kinds &= asked;
	return runs;
}

static int
begin(struct nsx_analyses *a)
{
	for (size_t i = 0; i < a->n; i++) {
		struct nsx_analysis_run *r = &a->runs[i];
		const struct nsx_analysis_at at = { a->err, &a->cat, &a->names, &r->runs, a->came };

		r->runs = (struct nsx_run_kinds){ 0 };
		if (r->of)
			continue;
		if (r->is->size && !(r->state = calloc(1, r->is->size)))
			return nsx_err_nomem(a->err, NULL);
		if (r->is->shared & NSX_STATED)
			memcpy(r->state, &(struct state){ .err = a->err, .cat = &a->cat, .came = a->came },
			       sizeof(struct state));
		if (r->is->begin && r->is->begin(r->state, r->options, &at) != NSX_OK)
			return NSX_ERR;
		if (r->is->shared & NSX_REACHING)
			a->reaching |= NSX_REACHING_KINDS & (r->is->kinds ? r->is->kinds : ~UINT64_C(0));
		if ((r->is->shared & ~(unsigned)(NSX_REACHING | NSX_STATED)) || r->steps)
			a->shared |= r->is->kinds ? r->is->kinds : ~UINT64_C(0);
	}
	return list_takers(a) ? NSX_OK : nsx_err_nomem(a->err, NULL);
}

/* The table of the rows that the state of a run keeps. */
static int
make_table(struct nsx_analyses *a, struct nsx_analysis_run *r, const struct nsx_analysis_run *of)
{
	struct nsx_sums *rows = of->is->shared & NSX_STATED ? rows_of(of) : NULL;

	return !rows || !rows->def || (r->table = nsx_sums_table(rows, a->err)) ? NSX_OK : NSX_ERR;
}

static int
finish(struct nsx_analyses *a, struct nsx_diags *diags)
{
	int rc = NSX_OK;

	for (size_t i = 0; i < a->n && rc == NSX_OK; i++) {
		struct nsx_analysis_run *r = &a->runs[i];
		struct nsx_diags own = { .failed = false };

		if (r->of && r->again)
			rc = r->again(r->of->state, r->options, &r->table, &own);
		else if (!r->of && r->is->finish)
			rc = r->is->finish(r->state, r->sums ? NULL : &r->table, &own);
		if (rc == NSX_OK && !r->sums && !r->table)
			rc = make_table(a, r, r->of ? r->of : r);
		nsx_diag_add(&own, NSX_WARNING, "", r->beyond, NSX_BEYOND_REACH);
		nsx_diag_add(&own, NSX_WARNING, "", r->timeless, "operations without a start or duration: ignored");
		if (rc == NSX_OK && !r->sums)
			nsx_diags_cover(r->diags ? r->diags : diags, &own);
		nsx_diags_free(&own);
	}
	return rc;
}

int
nsx_analyse(struct nsx_analyses *a, struct nsx_reader *in, const char *require, struct nsx_diags *diags,
            struct nsx_err *err)
{
	a->err = err;
	if (begin(a) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < a->n; i++)
		if (!a->runs[i].of)
			a->runs[i].is->need(a->runs[i].state, in);
	if (a->shared)
		nsx_cat_need(&a->cat, in);
	const struct nsx_run_kinds runs = runs_of_all(a);

	nsx_reader_runs(in, &runs);
	if (nsx_read_all(in, require, take, a, err) != NSX_OK)
		return NSX_ERR;
	return finish(a, diags);
}

void
nsx_analyses_free(struct nsx_analyses *a)
{
	for (size_t i = 0; i < a->n; i++) {
		struct nsx_analysis_run *r = &a->runs[i];

		if (r->state && (r->is->shared & NSX_STATED))
			nsx_sums_free(rows_of(r));
		if (r->state && r->is->free)
			r->is->free(r->state);
		if (r->is->size)
			free(r->state);
		nsx_table_free(r->table);
		r->state = NULL;
		r->table = NULL;
	}
	nsx_intern_free(&a->names);
	nsx_series_free(&a->of_name);
	free(a->last_name.p);
	free(a->within.p);
	free(a->takers);
	a->takers = NULL;
	nsx_cat_free(&a->cat);
}

int
nsx_analyse_tables(struct nsx_analysis_run *runs, size_t n, struct nsx_reader *in, const char *require,
                   struct nsx_table **tables, struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_analyses a = { .runs = runs, .n = n };
	int rc = nsx_analyse(&a, in, require, diags, err);

	for (size_t i = 0; i < n; i++) {
		tables[i] = rc == NSX_OK ? runs[i].table : NULL;
		runs[i].table = rc == NSX_OK ? NULL : runs[i].table;
	}
	nsx_analyses_free(&a);
	return rc;
}

void
nsx_analysis_tell(struct nsx_table *t, struct nsx_diags *diags, const char *fmt, ...)
{
	struct nsx_buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	nsx_buf_vfmt(&text, fmt, ap);
	va_end(ap);
	nsx_buf_char(&text, '\0');
	diags->failed |= text.failed;
	if (!text.failed) {
		nsx_table_note(t, "%s", text.ptr);
		nsx_diag_add(diags, NSX_INFO, "", 1, "%s", text.ptr);
	}
	nsx_buf_free(&text);
}
