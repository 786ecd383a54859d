/* thunk_list.c -- any bytes as XLA's list of thunks, text and metadata with a NUL between: refused with a reason, or read into something whose parts
 * refer to each other. */
#include <stdlib.h>
#include <string.h>

#include "xla/thunk_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool cond)
{
	if (!cond)
		abort();
}

static void
look_at(const struct nsx_thunk_list *l)
{
	uint32_t leaves = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		const struct nsx_thunk *t = &l->thunks[i];
		must(t->parent == NSX_NONE || (t->parent < i && t->end <= l->thunks[t->parent].end));
		must(t->end > i && t->end <= l->n && t->first <= t->last && t->last <= l->nleaves);
		must((t->work == NSX_WORK_KERNEL) == (t->kernel.len > 0 && t->end == i + 1));
		must(t->end == i + 1 || t->work == NSX_WORK_NONE);
		leaves += t->work != NSX_WORK_NONE;
	}
	must(leaves == l->nleaves);
	for (uint32_t i = 0; i < l->nleaves; i++)
		must(l->leaves[i] < l->n && l->thunks[l->leaves[i]].work != NSX_WORK_NONE);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	size_t n = nul ? (size_t)(nul - data) : size, rest = nul ? size - n - 1 : 0;
	struct nsx_err err = { "" };
	struct nsx_thunk_list l;

	if (nsx_thunk_list_memory(size ? (const void *)data : "", n, rest ? (const void *)(nul + 1) : "", rest, "fuzz", &l, &err) == NSX_OK)
		look_at(&l);
	else
		must(err.msg[0] && !l.thunks && !l.n);
	nsx_thunk_list_free(&l);
	return 0;
}
