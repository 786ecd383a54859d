/* stragglers.c -- which device is late: reading the stream, and which clocks can be compared. */
#include <stdlib.h>
#include <string.h>

#include "table/stragglers/rows.h"
#include "base/num.h"
#include "job/missing.h"

bool
nsx_late_wanted(const struct nsx_catalogue *cat, const struct nsx_top *top, const char *name, uint32_t program)
{
	const struct nsx_cat_program *p = &cat->programs.p[program];
	struct nsx_str want = nsx_str_c(name);
	int64_t id;

	if (!name)
		return true;
	if (p->id != NSX_ABSENT && nsx_get_int(want, &id) && id == p->id)
		return true;
	return want.len && (nsx_str_eq(want, nsx_cat_str(cat, p->key)) ||
	                    nsx_str_eq(want, nsx_cat_str(cat, nsx_top_name(top, program))));
}

/* Set *clock to the clock of a record's device. NSX_OK, or NSX_ERR when out of memory or if a second report has a clock
 * of its own. */
static int
find_clock(struct nsx_late *late, const struct nsx_rec *rec, uint32_t *clock)
{
	*clock = nsx_comm_clock(&late->comm, rec);
	if (*clock == NSX_NONE)
		return nsx_err_nomem(late->err, NULL);
	if (late->comm.own_clocks > 1)
		return nsx_err_set(late->err,
			"%s: work of several reports whose clocks are not aligned: run nsysx-align first",
		                   nsx_reader_where(late->in));
	return NSX_OK;
}

static int
take(struct nsx_late *late, const struct nsx_later *how, void *state, const struct nsx_rec *rec)
{
	struct nsx_late_record t;
	uint32_t program, clock;

	switch (rec->kind->id) {
	case NSX_MODULE:
		program = nsx_top_module(&late->top, rec);
		if (program == NSX_NONE)
			return nsx_err_nomem(late->err, NULL);
		if (find_clock(late, rec, &clock) != NSX_OK)
			return NSX_ERR;
		return how->module ? how->module(state, rec, program, clock) : NSX_OK;
	case NSX_THUNK:
		if (!nsx_has(rec, NSX_THUNK_start) || nsx_int(rec, NSX_THUNK_dur, -1) < 0) {
			late->timeless++;
			return NSX_OK;
		}
		t = (struct nsx_late_record){ .device = nsx_int(rec, NSX_THUNK_device, NSX_ABSENT),
		                              .start = rec->v[NSX_THUNK_start].i };
		t.end = nsx_add_sat(t.start, rec->v[NSX_THUNK_dur].i, NULL);
		if (find_clock(late, rec, &t.clock) != NSX_OK)
			return NSX_ERR;
		if (nsx_is_comm(&late->comm, rec))
			return NSX_OK;
		late->any = true;
		program = nsx_top_program(&late->top, rec);
		if (program == NSX_NONE)
			return nsx_err_nomem(late->err, NULL);
		return nsx_late_wanted(&late->comm.cat, &late->top, late->options.program, program)
		       ? how->thunk(state, rec, program, &t) : NSX_OK;
	default:
		return nsx_comm_take(&late->comm, rec, late->err);
	}
}

struct counted { struct nsx_late *late; const struct nsx_later *how; void *state; int64_t diags; };

static int
take_counted(void *state, const struct nsx_rec *rec)
{
	struct counted *c = state;

	c->diags += rec->kind->id == NSX_DIAG;
	return take(c->late, c->how, c->state, rec);
}

int
nsx_late_check_program(const struct nsx_catalogue *cat, const struct nsx_top *top, const char *want,
                       struct nsx_err *err)
{
	for (size_t i = 0; i < cat->programs.n; i++)
		if (nsx_late_wanted(cat, top, want, (uint32_t)i))
			return NSX_OK;
	if (!want)
		return NSX_OK;
	struct nsx_buf meant = { 0 };
	nsx_missing_put_program(cat, want, &meant);
	if (meant.failed)
		nsx_err_nomem(err, NULL);
	else
		nsx_err_set(err, "no program with the key, name or id %s%.*s", want, (int)meant.len,
		            meant.len ? meant.ptr : "");
	nsx_buf_free(&meant);
	return NSX_ERR;
}

int
nsx_stragglers(struct nsx_reader *in, const struct nsx_stragglers_options *options, struct nsx_stragglers *s,
               struct nsx_diags *diags, struct nsx_err *err)
{
	if (options->show == NSX_STRAGGLERS_PACE)
		return nsx_stragglers_pace(in, options, s, diags, err);
	if (options->show == NSX_STRAGGLERS_WAITS || options->show == NSX_STRAGGLERS_PAIRS)
		return nsx_stragglers_waits(in, options, s, diags, err);
	struct nsx_late late = { .err = err, .in = in, .options = *options };
	const struct nsx_later *how = &nsx_late_lockstep;
	struct nsx_late_state *state = calloc(1, how->size);
	struct counted c = { &late, how, state, 0 };
	int rc = state ? NSX_OK : nsx_err_nomem(err, NULL);

	*s = (struct nsx_stragglers){ 0 };
	late.comm.cat.keep = NSX_CAT_RUNNERS;
	nsx_comm_need(&late.comm, in);
	nsx_reader_need(in, NSX_DIAG, 0);
	nsx_reader_need(in, NSX_MODULE, NSX_EVERY);
	nsx_reader_need(in, NSX_THUNK, NSX_EVERY);
	late.top.given = &late.comm.cat;
	if (state) {
		state->late = &late;
		state->instances = (struct nsx_instances){ .size = sizeof(struct nsx_late_record),
		                                           .complete = how->complete, .state = state };
	}
	if (rc == NSX_OK)
		rc = nsx_read_all(in, options->require, take_counted, &c, err);
	s->diags = c.diags;
	if (rc == NSX_OK)
		rc = nsx_late_check_program(&late.comm.cat, &late.top, late.options.program, err);
	if (rc == NSX_OK)
		rc = nsx_instances_finish(&state->instances, err);
	if (rc == NSX_OK)
		rc = how->finish(state, s, diags);
	nsx_comm_flag_diags(&late.comm, diags);
	nsx_diag_add(diags, NSX_WARNING, "", late.timeless, "thunks without start or duration: ignored");
	if (rc != NSX_OK)
		nsx_stragglers_free(s);
	if (state) {
		nsx_instances_free(&state->instances);
		how->free(state);
	}
	free(state);
	nsx_comm_free(&late.comm);
	nsx_top_free(&late.top);
	return rc;
}

void
nsx_stragglers_free(struct nsx_stragglers *s)
{
	nsx_table_free(s->table);
	/* A table that allocated its own columns also owns their names, all in one block after the columns. */
	free(s->cols);
	*s = (struct nsx_stragglers){ 0 };
}
