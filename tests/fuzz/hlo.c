/* hlo.c -- any bytes as an HLO dump: refused with a reason, or read into something whose parts refer to each other. */
#include <stdlib.h>

#include "xla/hlo_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool cond)
{
	if (!cond)
		abort();
}

static void
look_at(const struct nsx_hlo *h)
{
	for (uint32_t i = 0; i < h->ninsts; i++) {
		const struct nsx_hlo_inst *x = &h->insts[i];
		must(i == 0 || nsx_str_cmp(h->insts[i - 1].name, x->name) < 0);
		must(nsx_hlo_find(h, x->name) == x);
		must(x->groups == NSX_NONE || x->groups < h->ngroups);
		must(x->stack == NSX_NONE || x->stack < h->nstacks);
		must(x->locs <= h->nlocs && x->nlocs <= h->nlocs - x->locs);
		must(x->bytes >= -1 && (x->comm ? x->collective.len > 0 : x->collective.len == 0 && x->bytes == -1));
		const struct nsx_hlo_cost *c = &x->cost;
		must(c->modelled ? !x->comm && c->math < NSX_HLO_MATHS : c->flops == 0 && c->vector == 0 && c->mem_bytes == 0);
		must(c->flops >= 0 && c->vector >= 0 && c->mem_bytes >= 0);
		const struct nsx_hlo_inst *same = nsx_hlo_find_id(h, x->unique_id);
		must(!same || same->unique_id == x->unique_id || (uint64_t)same->unique_id >> 32 == 0);
	}
	for (uint32_t i = 0; i < h->nlocs; i++) {
		must(h->locs[i].stack == NSX_NONE || h->locs[i].stack < h->nstacks);
		must(h->locs[i].op_name.len || h->locs[i].stack != NSX_NONE);
	}
	for (uint32_t i = 0; i < h->nstacks; i++)
		must(h->stacks[i].len > 0);
	for (uint32_t i = 0; i < h->ngroups; i++)
		must(h->groups[i].len > 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nsx_dumpfile f;
	struct nsx_diags diags = { 0 };
	struct nsx_err err = { "" };
	struct nsx_hlo h;

	nsx_dumpfile_memory(&f, data, size, "fuzz", &err);
	if (nsx_hlo_parse(&f, &h, &diags) == NSX_OK)
		look_at(&h);
	else
		must(err.msg[0] && !h.insts && !h.ninsts);
	nsx_hlo_free(&h);
	nsx_diags_free(&diags);
	nsx_dumpfile_close(&f);
	return 0;
}
