/* rules_work.c -- findings about kernels and instructions: launches that are waited for, layouts, limits. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/kernel_name.h"
#include "base/sort.h"
#include "base/width.h"
#include "table/diagnose/diagnose.h"

/* Columns of a name in a sentence; names of kernels can be very long. */
enum { NAME = 80 };
/* Names in a command. */
enum { LISTED = 12 };
/* Names in a change. */
enum { NAMED = 64 };
/* Names in a sentence. */
enum { TOLD = 3 };
/* The names that nsx_look_moves_by_name accepts. */
#define MOVING "^((loop|input|wrapped|fusion|bitcast|reshape)[_-])*(copy|transpose)" \
               "([_-](copy|transpose|loop|input|wrapped|fusion|bitcast|reshape))*([.]|$)"

static int
judge_launch(struct nsx_look_at *a)
{
	struct nsx_launch_sum s, most = { .starved = 0 };
	nsx_u128 starved = 0;
	int64_t kernels = 0;

	for (size_t i = 0; nsx_launch_sum(a->launch, i, &s); i++) {
		if (!s.bound)
			continue;
		starved += (nsx_u128)s.starved;
		kernels += s.kernels;
		if (s.starved > most.starved)
			most = s;
	}
	if (!kernels)
		return NSX_OK;
	nsx_look_say(a, "%s a %s keep the GPU waiting for longer than they run, and no longer than launching takes; "
	             "most: ", nsx_look_each(kernels, a->count, "kernel").s, nsx_look_unit(a));
	nsx_buf_kernel_shortened(&a->text, most.name, NAME);
	nsx_buf_kernel_shortened(&a->subject, most.name, NAME);
	nsx_buf_fmt(&a->text, ", runs %s, keeps the GPU waiting %s", NSX_NS((double)most.kernel / (double)most.kernels),
	            NSX_NS((double)most.starved / (double)most.kernels));
	return nsx_look_find(a, NSX_FIND_LAUNCH_BOUND, NSX_NCAUSES, nsx_look_mean(a, starved),
	                     nsx_look_over(a, "nsysx-launch --only verdict=launch-bound"));
}

NSX_ORDER(by_time, struct nsx_look_layout, NSX_CMP(b->time, a->time), NSX_CMP(a->name, b->name))

/* Set the names of what only copies or transposes, as an expression; nothing where that would be too long. */
static int
name_layouts(struct nsx_look_at *a)
{
	NSX_VEC(struct nsx_str) names = { 0 };
	bool alike = !a->misnamed, good = true;
	const char *between = "";

	for (size_t i = 0; i < a->layouts.n && good; i++) {
		struct nsx_str name = nsx_look_str(a, a->layouts.p[i].name);

		if (a->layouts.p[i].word)
			continue;
		alike &= nsx_look_moves_by_name(name);
		good = nsx_vec_push(&names, name);
	}
	if (names.n > LISTED && alike)
		nsx_buf_c(&a->named, MOVING);
	else if (names.n && names.n <= NAMED)
		nsx_look_put_names(&a->named, names.p, names.n);
	between = a->named.len ? "|" : "";
	for (size_t i = 0; i < a->layouts.n && (!names.n || a->named.len); i++) {
		bool known = !a->layouts.p[i].word;

		for (size_t k = 0; k < i && !known; k++)
			known = a->layouts.p[k].word == a->layouts.p[i].word;
		if (known)
			continue;
		nsx_buf_c(&a->named, between);
		nsx_buf_c(&a->named, nsx_look_layout_pattern(a->layouts.p[i].word));
		between = "|";
	}
	free(names.p);
	return good ? NSX_OK : nsx_err_nomem(a->err, NULL);
}

/* Rows of nsysx-summary for the instructions or kernels that take most: instructions by their names, all of them if
 * they are few; kernels by the words in their names that show what they do. */
static const char *
layout_command(struct nsx_look_at *a)
{
	struct nsx_buf options = { .len = 0 };
	struct nsx_str names[LISTED];
	size_t n = 0, words = 0;
	bool thunks = false, alike = !a->misnamed;
	size_t of = 0;
	nsx_u128 shown = 0;

	for (size_t i = 0; i < a->layouts.n; i++)
		if (!a->layouts.p[i].word) {
			thunks = true;
			of++;
			alike &= nsx_look_moves_by_name(nsx_look_str(a, a->layouts.p[i].name));
		}
	nsx_buf_c(&options, thunks ? "nsysx-summary --by thunk --cover 1" : "nsysx-summary --by kernel");
	for (size_t i = 0; i < a->layouts.n && thunks && n < LISTED; i++)
		if (!a->layouts.p[i].word) {
			names[n++] = nsx_look_str(a, a->layouts.p[i].name);
			shown += a->layouts.p[i].time;
		}
	/* If there are many, they are selected by words of their names, if these suffice; else the sentence states how
	 * many the command shows. */
	if (of > n && alike) {
		nsx_buf_c(&options, " --only 'name~" MOVING "'");
	} else if (of > n) {
		nsx_buf_fmt(&a->text, "; the command shows %zu of %zu instructions, %s", n, of,
		            NSX_NS(nsx_look_mean(a, shown)));
	}
	if (n && (of == n || !alike))
		nsx_look_put_only(&options, "name", names, n);
	for (size_t i = 0; i < a->layouts.n && !thunks; i++) {
		bool known = false;

		for (size_t k = 0; k < i && !known; k++)
			known = a->layouts.p[k].word == a->layouts.p[i].word;
		if (known)
			continue;
		nsx_buf_c(&options, words++ ? "|" : " --only 'name~");
		nsx_buf_c(&options, nsx_look_layout_pattern(a->layouts.p[i].word));
	}
	nsx_buf_c(&options, words ? "'" : "");
	return nsx_look_over_text(a, &options);
}

static int
judge_layout(struct nsx_look_at *a)
{
	nsx_u128 time = 0;
	int64_t count = 0;

	nsx_sort(a->layouts.p, a->layouts.n, by_time);
	for (size_t i = 0; i < a->layouts.n; i++) {
		time += a->layouts.p[i].time;
		count += a->layouts.p[i].count;
	}
	nsx_look_say(a, "%s a %s only copy or transpose", nsx_look_each(count, a->count, "kernel").s, nsx_look_unit(a));
	for (size_t i = 0; i < a->layouts.n && i < TOLD; i++) {
		struct nsx_str name = nsx_look_str(a, a->layouts.p[i].name);

		nsx_buf_c(&a->text, i ? ", " : "; most: ");
		nsx_buf_shortened(&a->text, name, NAME);
		if (i == 0)
			nsx_buf_shortened(&a->subject, name, NAME);
		nsx_buf_fmt(&a->text, " %s", NSX_NS(nsx_look_mean(a, a->layouts.p[i].time)));
	}
	const char *command = layout_command(a);

	if (name_layouts(a) != NSX_OK)
		return NSX_ERR;
	return nsx_look_find(a, NSX_FIND_LAYOUT, NSX_NCAUSES, nsx_look_mean(a, time), command);
}

double
nsx_look_roofed(const struct nsx_look_at *a, uint32_t inst)
{
	return inst < a->roofed.n ? a->roofed.p[inst] : 0;
}

/* Append what of the gain one change gives, if that is not all; ns of a step, 0: all. */
static double
put_reach(struct nsx_look_at *a, const struct nsx_roof_reaches *r)
{
	const struct nsx_roof_reach *x = nsx_roof_reaches_most(r);
	double gain;

	if (nsx_sums_count(&r->of) < 2)
		return 0;
	gain = x->gain / (double)a->count;
	nsx_buf_c(&a->text, "; one change reaches one of them");
	if (x->n > 1)
		nsx_buf_fmt(&a->text, ", or the %" PRId64 " of an op_name", x->n);
	nsx_buf_c(&a->text, ", so it ranks by ");
	nsx_buf_fmt(&a->text, "%s", NSX_NS(gain));
	return gain;
}

/* Append the framework's name of an instruction, without the functions that it is compiled in: XLA's own names are
 * numbers, as of custom-call.20, which is a product. */
static void
put_op_name(struct nsx_look_at *a, const struct nsx_cat_inst *inst)
{
	const struct nsx_catalogue *cat = &a->reading.cat;
	struct nsx_str s = inst->op_name == NSX_NONE ? NSX_STR("") : nsx_cat_str(cat, inst->op_name);

	const char *slash;

	while ((nsx_str_starts(s, "jit(") || nsx_str_starts(s, "pjit(")) && (slash = memchr(s.ptr, '/', s.len)))
		s = (struct nsx_str){ slash + 1, s.len - (size_t)(slash + 1 - s.ptr) };
	if (!s.len)
		return;
	nsx_buf_c(&a->text, " of ");
	nsx_buf_shortened(&a->text, s, NAME);
}

/* The gain if instructions reached NSX_ROOF_EFFICIENT of their limit: the column gain of nsysx-roofline. */
static int
judge_roofline(struct nsx_look_at *a)
{
	const struct nsx_catalogue *cat = &a->reading.cat;
	struct nsx_buf options = { .len = 0 };
	struct nsx_str names[TOLD];
	size_t nnames = 0;
	struct { const struct nsx_cat_inst *inst; struct nsx_str name; double gain, reached; } most[TOLD] = { { 0 } };
	double gain = 0, time = 0, single = 0;
	int64_t n = 0;
	struct nsx_roof_reaches reaches;
	bool good = true;

	nsx_roof_reaches_begin(&reaches);
	for (size_t i = 0; i < a->roof->rows.n && good; i++) {
		const struct nsx_roof_row *r = &a->roof->rows.p[i];
		const struct nsx_cat_inst *inst = &cat->insts.p[r->inst];
		struct nsx_str name = nsx_cat_str(cat, inst->name);
		uint32_t text = nsx_intern_find(&a->texts, name);
		double won = r->gain;

		if (!r->limited || won <= 0)
			continue;
		/* Instructions that only move data are reported by another rule. */
		if (text != NSX_NONE && nsx_map_get(&a->layout_of, (struct nsx_key){ text, 0 }) != NSX_NONE)
			continue;
		good = nsx_vec_reach(&a->roofed, r->inst, &(double){ 0 }) && nsx_roof_reaches_add(&reaches, a->roof, r);
		if (!good)
			break;
		a->roofed.p[r->inst] = won;
		n++;
		gain += won;
		time += (double)r->total;
		for (int k = 0; k < TOLD; k++)
			if (won > most[k].gain) {
				memmove(&most[k + 1], &most[k], (size_t)(TOLD - 1 - k) * sizeof *most);
				most[k].inst = inst;
				most[k].name = name;
				most[k].gain = won;
				most[k].reached = r->limit / (double)r->total;
				break;
			}
	}
	nsx_look_say(a, "%" PRId64 " instructions of %s a %s reach less than %.0f%% of what the GPU allows; the gain "
	             "is of reaching that, the column gain", n, NSX_NS(time / (double)a->count), nsx_look_unit(a),
	             100 * NSX_ROOF_EFFICIENT);
	for (int k = 0; k < TOLD && most[k].gain > 0; k++) {
		nsx_buf_c(&a->text, k ? ", " : "; most: ");
		nsx_buf_str(&a->text, most[k].name);
		if (k == 0)
			nsx_buf_str(&a->subject, most[k].name);
		put_op_name(a, most[k].inst);
		nsx_buf_fmt(&a->text, " %s (reaches %.0f%%)", NSX_NS(most[k].gain / (double)a->count),
		            100 * most[k].reached);
	}
	if (good)
		single = put_reach(a, &reaches);
	nsx_roof_reaches_free(&reaches);
	if (!good)
		return nsx_err_nomem(a->err, NULL);
	/* Rows of layouts, which do not belong here, may come before them. */
	nsx_buf_c(&options, "nsysx-roofline --sort gain");
	for (int k = 0; k < TOLD && most[k].gain > 0; k++)
		names[nnames++] = most[k].name;
	if (nnames)
		nsx_look_put_only(&options, "name", names, nnames);
	size_t before = a->findings.n;
	int rc = nsx_look_find(a, NSX_FIND_ROOFLINE, NSX_NCAUSES, gain / (double)a->count,
	                       nsx_look_over_text(a, &options));

	if (a->findings.n > before)
		a->findings.p[before].single = single;
	return rc;
}

int
nsx_look_judge_work(struct nsx_look_at *a)
{
	if (a->calls && judge_launch(a) != NSX_OK)
		return NSX_ERR;
	return judge_layout(a) == NSX_OK ? judge_roofline(a) : NSX_ERR;
}
