/* totals.c -- see totals.h. */
#include "table/summary/totals.h"

#include <string.h>

int
nsx_totals_of_moments(struct nsx_all_moments *moments, const struct nsx_top *top, struct nsx_total totals[NSX_TOTALS])
{
	nsx_u128 wall = 0, of[NSX_NPARTS] = { 0 }, hidden = 0;

	nsx_moments_finish(moments);
	for (size_t i = 0; i < moments->devices.n; i++) {
		const struct nsx_moments *m = &moments->devices.p[i];

		wall += nsx_moments_window(m);
		for (int p = 0; p < NSX_NPARTS; p++)
			of[p] += m->of[p];
		hidden += m->hidden[NSX_PART_COMM];
	}
	const struct nsx_total all[] = {
		{ "wall",                  true, wall },
		{ "modules",               top->any_module, nsx_top_modules(top) },
		{ "computation",           true, of[NSX_PART_COMPUTE] },
		{ "exposed communication", true, of[NSX_PART_COMM] },
		{ "hidden communication",  true, hidden },
		{ "copies",                true, of[NSX_PART_COPY] },
		{ "idle",                  true, of[NSX_PART_IDLE] },
	};

	memcpy(totals, all, sizeof all);
	return sizeof all / sizeof *all;
}

int
nsx_totals_of_thunks(const struct nsx_thunk_sums *sums, struct nsx_top *top, const struct nsx_excerpt *x,
                     struct nsx_total totals[NSX_TOTALS])
{
	nsx_u128 modules = nsx_top_modules(top), wall = nsx_top_span(top, x, &(struct nsx_gone){ 0 });
	nsx_u128 busy = sums->compute + sums->exposed + sums->copies;
	bool thunk = top->any_thunk, module = top->any_module;
	const struct nsx_total all[NSX_TOTALS] = {
		{ "wall",                           module, wall },
		{ "modules",                        module, modules },
		{ "thunks",                         thunk, busy },
		{ "computation",                    thunk, sums->compute },
		{ "exposed communication",          thunk, sums->exposed },
		{ "hidden communication",           thunk, sums->hidden },
		{ "copies",                         thunk, sums->copies },
		{ "idle during module executions",  module && thunk, modules > busy ? modules - busy : 0 },
		{ "idle between module executions", module, wall > modules ? wall - modules : 0 },
	};

	memcpy(totals, all, sizeof all);
	return NSX_TOTALS;
}
