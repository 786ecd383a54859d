/* rows.c -- the minimum time of each instruction.
 *
 * For example, 2 executions of a dot with 4,000,000 flops and 30,000 bytes on a device with 100 TFLOP/s and 1000 GB/s:
 * 40 ns of computation, 30 ns of memory traffic, so the limit is 2 x 40 = 80 ns, bound by computation; if they took 100
 * ns, the headroom is 20 ns. */
#include "table/roofline/rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"

/* ---- the work of an instruction */

/* Fill in its work. Incomplete work is useless: without bytes no limit holds, without flops it would be too low. */
static void
work_of(struct nsx_roof *f, const struct nsx_cat_inst *i, struct nsx_roof_row *r)
{
	bool none = i->flops == NSX_ABSENT && i->vector == NSX_ABSENT && i->mem_bytes == NSX_ABSENT &&
	    i->math == NSX_NONE;

	r->math = NSX_NMATHS;
	r->note = NSX_NOTE_UNMODELLED;
	if (none)
		return;
	f->any_cost = true;
	enum nsx_math math = i->flops > 0 ? nsx_math_find(nsx_cat_str(f->cat, i->math)) : NSX_NMATHS;

	/* NSX_ABSENT is negative. */
	if (i->flops < 0 || i->vector < 0 || i->mem_bytes < 0 || (i->flops > 0 && math == NSX_NMATHS)) {
		f->odd_costs++;
		return;
	}
	r->modelled = true;
	r->flops = i->flops;
	r->vector = i->vector;
	r->bytes = i->mem_bytes;
	r->math = math;
	r->note = NSX_NOTE_NONE;
}

/* ---- its limit */

/* Add the minimum time of the cell's executions on their device; the first cell of a row determines what bounds it. */
static void
weigh(struct nsx_roof_row *r, const struct nsx_roof_cell *c, const struct nsx_peaks *p, bool first)
{
	double peak = r->flops ? p->tflops[r->math] : p->tflops[NSX_MATH_F32], scalar = p->tflops[NSX_MATH_F32],
	    n = (double)c->count;
	/* TFLOP/s are 1000 operations per ns, GB/s are bytes per ns. Without a peak of scalar units the rest is still a
	 * lower bound. */
	double matrix = r->flops && peak > 0 ? (double)r->flops / (peak * 1000) : 0;
	double vector = scalar > 0 ? (double)r->vector / (scalar * 1000) : 0;
	double memory = p->gbps > 0 ? (double)r->bytes / p->gbps : 0;
	enum nsx_bound bound = NSX_BOUND_MEMORY;

	if (matrix > 0 && matrix >= vector && matrix >= memory)
		bound = NSX_BOUND_MATRIX;
	else if (vector > 0 && vector >= memory)
		bound = NSX_BOUND_VECTOR;
	if (r->flops && peak == 0)
		r->at_peak = -1;
	else if (r->at_peak >= 0)
		r->at_peak += n * matrix;
	if (p->gbps == 0 || (r->flops && peak == 0))
		r->note = NSX_NOTE_NO_PEAK;
	r->limit += n * (bound == NSX_BOUND_MATRIX ? matrix : bound == NSX_BOUND_VECTOR ? vector : memory);
	if (first) {
		r->bound = bound;
		r->peak = peak;
		r->bandwidth = p->gbps;
	}
}

static void
judge(struct nsx_roof_row *r)
{
	double total = (double)r->total;

	r->limited = r->modelled && r->note != NSX_NOTE_NO_PEAK;
	if (!r->limited) {
		r->limit = 0;
		return;
	}
	r->headroom = total > r->limit ? total - r->limit : 0;
	r->gain = total > r->limit / NSX_ROOF_EFFICIENT ? total - r->limit / NSX_ROOF_EFFICIENT : 0;
	if (r->limit > total)
		r->note = r->bound == NSX_BOUND_MEMORY ? NSX_NOTE_CACHE : NSX_NOTE_PEAK;
}

/* ---- order */

/* By instruction, then number of the device. */
static void
by_inst(const void *element, const void *catalogue, int64_t key[3])
{
	const struct nsx_catalogue *cat = catalogue;
	const struct nsx_roof_cell *c = element;

	key[0] = c->inst;
	key[1] = cat->devices.p[c->device].number;
}

static int
by_headroom(const void *a, const void *b, const void *catalogue)
{
	const struct nsx_catalogue *cat = catalogue;
	const struct nsx_roof_row *x = a, *y = b;
	const struct nsx_cat_inst *i = &cat->insts.p[x->inst], *j = &cat->insts.p[y->inst];
	const struct nsx_cat_program *p = &cat->programs.p[x->program], *q = &cat->programs.p[y->program];

	return NSX_FIRST(NSX_CMP(y->limited, x->limited), NSX_CMP(y->headroom, x->headroom),
	                 NSX_CMP(y->total, x->total), NSX_CMP(p->id, q->id),
	                 nsx_str_cmp(nsx_cat_str(cat, p->name), nsx_cat_str(cat, q->name)),
	                 nsx_str_cmp(nsx_cat_str(cat, i->name), nsx_cat_str(cat, j->name)),
	                 NSX_CMP(p->number, q->number), NSX_CMP(i->number, j->number));
}

/* ---- */

/* Report once for each device that ran instructions without a limit which of its peaks are unknown. */
static void
say_unknown(const struct nsx_roof *f, const struct nsx_roof_row *r, const struct nsx_roof_cell *c, bool *said,
            struct nsx_diags *diags)
{
	const struct nsx_peaks *p = &f->peaks.p[c->device];
	struct nsx_str name = nsx_cat_str(f->cat, f->cat->devices.p[c->device].name);
	char source[120];

	if (!r->modelled || *said || (p->gbps > 0 && (!r->flops || p->tflops[r->math] > 0)))
		return;
	*said = true;
	snprintf(source, sizeof source, "%.*s", (int)(name.len < 100 ? name.len : 100), name.ptr);
	if (p->gbps == 0)
		nsx_diag_add(diags, NSX_WARNING, source, 1,
		             "devices of unknown memory bandwidth, no limits: give --bandwidth");
	else
		nsx_diag_add(diags, NSX_WARNING, source, 1,
		             "devices of unknown peak, no limits of matrix operations: give --peak");
}

int
nsx_roof_rows(struct nsx_roof *f, struct nsx_diags *diags)
{
	bool *said = calloc(f->cat->devices.n + 1, sizeof *said);
	struct nsx_roof_row *r = NULL;

	if (!said || !nsx_vec_room(&f->peaks, f->cat->devices.n + 1)) {
		free(said);
		return nsx_err_nomem(f->err, NULL);
	}
	for (size_t i = 0; i < f->cat->devices.n; i++) {
		const struct nsx_cat_device *d = &f->cat->devices.p[i];

		f->peaks.p[f->peaks.n++] = nsx_peaks_of(d, nsx_cat_str(f->cat, d->name), &f->options->given);
	}
	if (!nsx_sort_by(f->cells.p, f->cells.n, sizeof *f->cells.p, by_inst, f->cat)) {
		free(said);
		return nsx_err_nomem(f->err, NULL);
	}
	for (size_t i = 0; i < f->cells.n; i++) {
		const struct nsx_roof_cell *c = &f->cells.p[i];
		bool first = !r || r->inst != c->inst;

		if (first) {
			struct nsx_roof_row fresh = { .inst = c->inst, .program = f->cat->insts.p[c->inst].program };

			work_of(f, &f->cat->insts.p[c->inst], &fresh);
			if (!nsx_vec_push(&f->rows, fresh)) {
				free(said);
				return nsx_err_nomem(f->err, NULL);
			}
			r = &f->rows.p[f->rows.n - 1];
		}
		r->count += c->count;
		r->total += c->total;
		f->total += c->total;
		if (r->modelled) {
			weigh(r, c, &f->peaks.p[c->device], first);
			say_unknown(f, r, c, &said[c->device], diags);
		}
	}
	free(said);
	for (size_t i = 0; i < f->rows.n; i++)
		judge(&f->rows.p[i]);
	nsx_sort_with(f->rows.p, f->rows.n, sizeof *f->rows.p, by_headroom, f->cat);
	return f->total > INT64_MAX ? nsx_err_overflow(f->err, NULL) : NSX_OK;
}
