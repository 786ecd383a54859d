/* why_pairs.c -- names of kernels that changed from BASE to NEW, as those of another version, vendor or choice of an
 * autotuner do: kernels of the same instruction, and kernels in the same range at the same place of the step.
 *
 *     instruction dot.3   BASE volta_gemm   NEW ampere_gemm    ->   ampere_gemm was volta_gemm, by instruction */
#include "table/compare/why.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/sort.h"
#include "table/compare/join.h"

struct kernel_key { uint32_t inst, name; };
struct kernel { struct kernel_key key; };
const struct nsx_sum_def nsx_compare_kernels_of = { .size = sizeof(struct kernel), .key = sizeof(struct kernel_key) };

bool
nsx_compare_why_kernel(struct cmp_why *w, uint32_t inst, uint32_t name)
{
	return nsx_sums_number(&w->kernels, &(struct kernel_key){ inst, name }) != NSX_NONE;
}

bool
nsx_compare_why_index(const struct nsx_sums *sums, struct cmp_why_index *to)
{
	*to = (struct cmp_why_index){ sums, malloc((nsx_sums_count(sums) + 1) * sizeof *to->list),
	                              nsx_sums_count(sums) };
	for (size_t i = 0; i < to->n && to->list; i++)
		to->list[i] = (struct nsx_sort_key){ { *(const uint32_t *)nsx_sums_at(sums, i), 0, 0 }, (uint32_t)i };
	if (to->list)
		nsx_sort_keys(to->list, to->n);
	return to->list;
}

size_t
nsx_compare_why_first(const struct cmp_why_index *x, size_t number, size_t *n)
{
	size_t at = nsx_sort_first(x->list, x->n, sizeof *x->list, offsetof(struct nsx_sort_key, k), (int64_t)number);

	for (*n = 0; at + *n < x->n && x->list[at + *n].k[0] == (int64_t)number;)
		++*n;
	return at;
}

/* ---- the table */

enum how { BY_INSTRUCTION, BY_RANGE, BY_ORDER };
struct renamed_key { uint32_t class, name, base, how; };
/* places: instructions, or ranges; ns: of these per step, rounded down. */
struct renamed { struct renamed_key key; int64_t places, ns[2], diff; };

static const char *
how_text(const void *row)
{
	static const char *const hows[] = { "instruction", "range", "order" };

	return hows[((const struct renamed *)row)->key.how];
}

#define NSX_ROW struct renamed
static const struct nsx_sum_col cols[] = {
	NSX_COL("class", STRING, key.class), NSX_COL("name", STRING, key.name), NSX_COL("base_name", STRING, key.base),
	NSX_COL_SAID("how", how_text), NSX_COL("places", INT, places), NSX_COL("base", NS, ns[0]),
	NSX_COL("new", NS, ns[1]), NSX_COL("diff", NS, diff),
};
const struct nsx_sum_def nsx_compare_renamed = {
	NSX_ROWS(cols), .key = sizeof(struct renamed_key), .order = "class -new -base name base_name how",
	.rank = "name base_name how places base new diff class"
};

static bool
add(const struct cmp_why_joined *j, struct nsx_sums *to, struct renamed_key key, const int64_t ns[2])
{
	struct renamed *r = nsx_sums_row(to, &key);

	if (!r)
		return false;
	r->places++;
	for (int k = 0; k < 2; k++)
		r->ns[k] += j->steps[k] ? ns[k] / j->steps[k] : 0;
	r->diff = r->ns[1] - r->ns[0];
	return true;
}

/* ---- kernels of instructions */

static uint32_t
name_at(const struct cmp_why_index *k, size_t i)
{
	return ((const struct kernel *)nsx_sums_at(k->sums, k->list[i].i))->key.name;
}

/* Instructions that run as many kernels as before: in their order. */
static bool
add_instruction(const struct cmp_why_joined *j, const struct cmp_why_pair *p, const struct cmp_why_index of[2],
                uint32_t class, struct nsx_sums *to)
{
	size_t n[2], at[2] = { nsx_compare_why_first(&of[0], p->base != NSX_NONE ? p->base : p->key.name, &n[0]),
	                       nsx_compare_why_first(&of[1], p->key.name, &n[1]) };
	bool good = true;

	for (size_t i = 0; i < n[0] && n[0] == n[1] && good; i++) {
		uint32_t was = name_at(&of[0], at[0] + i), is = name_at(&of[1], at[1] + i);

		if (was != is)
			good = add(j, to, (struct renamed_key){ class, is, was, BY_INSTRUCTION }, p->ns);
	}
	return good;
}

bool
nsx_compare_add_renamed(const struct cmp *c, const struct cmp_why_joined *j, uint32_t class, struct nsx_sums *renamed)
{
	struct cmp_why_index of[2] = { { .n = 0 } };
	bool good = nsx_compare_why_index(&c->side[0].why->kernels, &of[0])
	            && nsx_compare_why_index(&c->side[1].why->kernels, &of[1]);

	for (size_t i = 0; i < nsx_sums_count(&j->pairs) && good; i++) {
		const struct cmp_why_pair *p = nsx_sums_at(&j->pairs, i);
		bool both = !p->merged && (p->base != NSX_NONE || (p->has[0] && p->has[1]));

		if (both && p->key.thing != NSX_THING_IDLE && p->key.thing != NSX_THING_KERNEL)
			good = add_instruction(j, p, of, class, renamed);
		if (both && p->base != NSX_NONE && p->key.thing == NSX_THING_KERNEL)
			good = add(j, renamed, (struct renamed_key){ class, p->key.name, p->base,
			           p->key.where != NSX_NONE ? BY_RANGE : BY_ORDER }, p->ns);
	}
	free(of[0].list);
	free(of[1].list);
	return good;
}
