/* roofline.c -- how far instructions are from their limits. Holds a cell for each instruction on each device. */
#include "table/roofline.h"

#include <stdlib.h>

#include "table/analysis.h"
#include "table/roofline/rows.h"

static int
take_thunk(struct nsx_roof *f, const struct nsx_event *e)
{
	int64_t dur = nsx_int(e->rec, NSX_THUNK_dur, -1);
	uint32_t inst, at;

	if (dur < 0) {
		f->timeless_thunks++;
		return NSX_OK;
	}
	if (e->communicates)
		return NSX_OK;
	inst = nsx_cat_inst(f->reading, e->rec);
	at = inst == NSX_NONE || !nsx_vec_reach(&f->last, e->device, &(uint32_t){ NSX_NONE }) ? (uint32_t)NSX_NONE
	    : nsx_series_number(&f->cell_of, &f->last.p[e->device], (struct nsx_key){ inst, e->device });
	if (!nsx_vec_next(&f->cells, at, ((struct nsx_roof_cell){ .inst = inst, .device = e->device })))
		return nsx_err_nomem(f->err, NULL);
	f->cells.p[at].count++;
	f->cells.p[at].total += (nsx_u128)dur;
	return NSX_OK;
}

static int
take_module(struct nsx_roof *f, const struct nsx_rec *rec)
{
	int64_t dur = nsx_int(rec, NSX_MODULE_dur, -1);
	uint32_t program = nsx_cat_program(f->reading, rec);

	if (program == NSX_NONE)
		return nsx_err_nomem(f->err, NULL);
	if (!nsx_vec_reach(&f->programs, program, NULL))
		return nsx_err_nomem(f->err, NULL);
	if (dur < 0) {
		f->timeless_modules++;
		return NSX_OK;
	}
	f->programs.p[program].executions++;
	f->programs.p[program].time += (nsx_u128)dur;
	return NSX_OK;
}

static int
take(void *state, const struct nsx_event *e)
{
	struct nsx_roof *f = state;

	return e->rec->kind->id == NSX_THUNK ? take_thunk(f, e) : take_module(f, e->rec);
}

static void
report(const struct nsx_roof *f, struct nsx_diags *diags)
{
	int64_t unmodelled = 0;

	for (size_t i = 0; i < f->rows.n; i++)
		unmodelled += !f->rows.p[i].modelled;
	if (f->options->by == NSX_ROOFLINE_PEAKS)
		return;
	if (!f->came[NSX_THUNK])
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no thunk records, which come from XLA's NVTX ranges: no instruction to compare with "
		             "its limit; nsysx-summary --by kernel works without them");
	else if (!f->any_cost)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no instruction has flops, vector or mem_bytes: extract with -x DIR");
	else
		nsx_diag_add(diags, NSX_INFO, "", unmodelled,
		             "instructions whose work is not modelled: without a limit");
	if (f->came[NSX_THUNK] && !f->came[NSX_MODULE])
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no module records: the time of programs is not known");
	nsx_diag_add(diags, NSX_WARNING, "", f->odd_costs,
		"instructions whose work is incomplete, negative or of an unknown type of math: taken as not modelled");
	nsx_diag_add(diags, NSX_WARNING, "", f->timeless_thunks, "thunks without a duration: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", f->timeless_modules, "modules without a duration: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", f->too_large,
	             "sums of operations or bytes beyond 64 bits: ignored");
}

static int
begin(void *state, const void *options, const struct nsx_analysis_at *at)
{
	struct nsx_roof *f = state;

	f->options = options;
	f->err = at->err;
	f->came = at->came;
	f->cat = f->reading = at->cat;
	at->cat->keep |= NSX_CAT_NAMES | NSX_CAT_COSTS;
	if (f->options->by == NSX_ROOFLINE_INST || f->options->by == NSX_ROOFLINE_OP_NAME || f->options->words)
		at->cat->keep |= NSX_CAT_PLACES;
	return NSX_OK;
}

static void
need(void *state, struct nsx_reader *in)
{
	(void)state;
	/* Its caller may want those of some steps only. */
	nsx_event_need(in, NSX_MODULE);
	nsx_event_need(in, NSX_THUNK);
	nsx_reader_need(in, NSX_MODULE, nsx_field_slots(NSX_MODULE, NSX_R(PROFILE)));
	nsx_reader_need(in, NSX_THUNK, nsx_field_slots(NSX_THUNK, NSX_R(PROFILE)));
}

static int
finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct nsx_roof *f = state;

	if (nsx_roof_rows(f, diags) != NSX_OK || (table && nsx_roof_table(f, f->options->by, table) != NSX_OK))
		return NSX_ERR;
	report(f, diags);
	return NSX_OK;
}

static void
free_all(void *state)
{
	struct nsx_roof *f = state;

	nsx_series_free(&f->cell_of);
	free(f->last.p);
	free(f->cells.p);
	free(f->programs.p);
	free(f->peaks.p);
	free(f->rows.p);
}

const struct nsx_analysis nsx_roofline_analysis = {
	sizeof(struct nsx_roof), NSX_K(MODULE) | NSX_K(THUNK), true | NSX_REACHING,
	begin, need, take, finish, free_all
};

int
nsx_roofline_points(void *state, const void *options, struct nsx_table **table, struct nsx_diags *diags)
{
	(void)options, (void)diags;
	return nsx_roof_table(state, NSX_ROOFLINE_POINTS, table);
}
