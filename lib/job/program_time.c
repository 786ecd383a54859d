/* program_time.c -- the programs of a stream: the time of each, which of them account for most of it, and the totals
 * over those. */
#include "job/program_time.h"

#include <stdlib.h>

#include "base/sort.h"
#include "job/catalogue.h"
#include "job/hidden.h"

static const struct nsx_catalogue *
catalogue(const struct nsx_top *t)
{
	return t->given ? t->given : &t->cat;
}

/* Extend `programs` to at least n entries; false when out of memory. */
static bool
grow(struct nsx_top *t, size_t n)
{
	return n == 0 || nsx_vec_reach(&t->programs, n - 1, &(struct nsx_top_program){ .module_name = NSX_NONE });
}

uint32_t
nsx_top_program(struct nsx_top *t, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_program(nsx_top_cat(t), rec);

	return at != NSX_NONE && grow(t, (size_t)at + 1) ? at : (uint32_t)NSX_NONE;
}

uint32_t
nsx_top_name(const struct nsx_top *t, uint32_t program)
{
	uint32_t name = catalogue(t)->programs.p[program].name;

	return name == NSX_NONE && program < t->programs.n ? t->programs.p[program].module_name : name;
}

uint32_t
nsx_top_module(struct nsx_top *t, const struct nsx_rec *rec)
{
	int64_t start = nsx_int(rec, NSX_MODULE_start, 0), dur = nsx_int(rec, NSX_MODULE_dur, -1);
	int64_t device = nsx_int(rec, NSX_MODULE_device, NSX_ABSENT);
	uint32_t program = nsx_top_program(t, rec), at;
	struct nsx_err err = { "" };

	if (program == NSX_NONE)
		return NSX_NONE;
	t->any_module = true;
	struct nsx_top_program *p = &t->programs.p[program];

	if (nsx_string(rec, NSX_MODULE_name).len && nsx_top_name(t, program) == NSX_NONE &&
	    (p->module_name = nsx_cat_intern(nsx_top_cat(t), rec->v[NSX_MODULE_name].s, &err)) == NSX_NONE)
		return NSX_NONE;
	if (dur < 0 || !nsx_has(rec, NSX_MODULE_start)) {
		t->timeless_modules++;
		return program;
	}
	p->modules += (nsx_u128)dur;
	at = nsx_map_number(&t->run_of, (struct nsx_key){ program, (uint64_t)device });
	if (!nsx_vec_next(&t->runs, at, ((struct nsx_top_run){ device, start, start, program })))
		return NSX_NONE;
	struct nsx_top_run *r = &t->runs.p[at];
	int64_t end = nsx_add_sat(start, dur, NULL);
	uint32_t profile = nsx_cat_find_profile(catalogue(t), nsx_int(rec, NSX_MODULE_profile, NSX_ABSENT));

	if (profile != NSX_NONE)
		t->cut += start < catalogue(t)->profiles.p[profile].from || end > catalogue(t)->profiles.p[profile].to;
	r->first = start < r->first ? start : r->first;
	r->last = end > r->last ? end : r->last;
	return program;
}

bool
nsx_top_thunk(struct nsx_top *t, const struct nsx_rec *rec, bool comm, int64_t *dur, int64_t *hidden)
{
	t->any_thunk = true;
	t->any_comm |= comm;
	t->any_hidden |= nsx_has(rec, NSX_THUNK_hidden);
	*dur = nsx_int(rec, NSX_THUNK_dur, -1);
	if (*dur < 0) {
		t->timeless_thunks++;
		return false;
	}
	*hidden = nsx_hidden_of(*dur, nsx_int(rec, NSX_THUNK_hidden, NSX_ABSENT), &t->over_hidden);
	return true;
}

bool
nsx_top_expose(struct nsx_top *t, uint32_t program, nsx_u128 ns)
{
	if (!grow(t, (size_t)program + 1))
		return false;
	t->programs.p[program].exposed += ns;
	return true;
}

bool
nsx_top_pick(struct nsx_top *t, struct nsx_cover c, struct nsx_diags *diags)
{
	const struct nsx_catalogue *cat = catalogue(t);
	size_t n = cat->programs.n;
	struct nsx_cover_row *rows = grow(t, n) ? malloc((n + 1) * sizeof *rows) : NULL;
	nsx_u128 time = 0, exposed = 0;
	int64_t left = 0;

	if (!rows)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct nsx_cat_program *p = &cat->programs.p[i];

		rows[i] = (struct nsx_cover_row){ t->programs.p[i].modules, nsx_cat_str(cat, p->key), p->number, i,
		                                  false };
	}
	nsx_cover_pick(rows, n, c);
	for (size_t i = 0; i < n; i++) {
		struct nsx_top_program *p = &t->programs.p[rows[i].index];

		p->kept = rows[i].kept || !t->any_module;
		if (p->kept || (!p->modules && !p->exposed))
			continue;
		left++;
		time += p->modules;
		exposed += p->exposed;
	}
	free(rows);
	/* A user who wants all programs requests a share of 1; dropping some by default is only an info. */
	nsx_diag_add(diags, NSX_INFO, "", left, "programs beyond --cover ignored: %.4g ms of module time, %.4g ms of "
	             "thunk time", (double)time / 1e6, (double)exposed / 1e6);
	return true;
}

nsx_u128
nsx_top_modules(const struct nsx_top *t)
{
	nsx_u128 sum = 0;

	for (size_t i = 0; i < t->programs.n; i++)
		if (t->programs.p[i].kept)
			sum += t->programs.p[i].modules;
	return sum;
}

nsx_u128
nsx_top_all_modules(const struct nsx_top *t)
{
	nsx_u128 sum = 0;

	for (size_t i = 0; i < t->programs.n; i++)
		sum += t->programs.p[i].modules;
	return sum;
}

NSX_ORDER(run_cmp, struct nsx_top_run, NSX_CMP(a->device, b->device))

nsx_u128
nsx_top_span(struct nsx_top *t, const struct nsx_excerpt *x, const struct nsx_gone *gone)
{
	nsx_u128 sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < t->runs.n; i++)
		if (t->programs.p[t->runs.p[i].program].kept)
			t->runs.p[n++] = t->runs.p[i];
	nsx_sort(t->runs.p, n, run_cmp);
	t->runs.n = n;
	for (size_t i = 0; i < n;) {
		struct nsx_top_run all = t->runs.p[i];

		for (; i < n && t->runs.p[i].device == all.device; i++) {
			const struct nsx_top_run *r = &t->runs.p[i];

			all.first = r->first < all.first ? r->first : all.first;
			all.last = r->last > all.last ? r->last : all.last;
		}
		uint32_t device = nsx_cat_find_device(catalogue(t), all.device);

		sum += x->on ? (uint64_t)nsx_excerpt_length(x, device)
		    : (uint64_t)all.last - (uint64_t)all.first - nsx_gone_within(gone, device, all.first, all.last);
	}
	return sum;
}

void
nsx_top_diags(const struct nsx_top *t, struct nsx_diags *diags)
{
	if (!t->given)
		nsx_cat_comm_diags(&t->cat, "", diags);
	if (t->any_comm && !t->any_hidden)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "the stream did not pass nsysx-overlap: communication counts whole");
	nsx_diag_add(diags, NSX_WARNING, "", t->timeless_thunks, "thunks without a duration: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", t->timeless_modules, "modules without start or duration: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", t->cut,
	             "executions that the recording or --time cuts: their whole time counts, and of their work what is "
	             "in the stream");
	nsx_diag_add(diags, NSX_WARNING, "", t->over_hidden,
	             "thunks whose hidden time exceeds their duration: cut to it");
}

void
nsx_top_free(struct nsx_top *t)
{
	nsx_cat_free(&t->cat);
	nsx_map_free(&t->run_of);
	free(t->programs.p);
	free(t->runs.p);
	*t = (struct nsx_top){ 0 };
}
