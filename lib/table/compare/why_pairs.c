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

#define AT(member) offsetof(struct renamed, member), 0, NULL
static const struct nsx_sum_col cols[] = {
	{ "class",     NSX_CELL_STRING, NSX_SUM_TEXT, AT(key.class) },
	{ "name",      NSX_CELL_STRING, NSX_SUM_TEXT, AT(key.name) },
	{ "base_name", NSX_CELL_STRING, NSX_SUM_TEXT, AT(key.base) },
	{ "how",       NSX_CELL_STRING, NSX_SUM_SAID, 0, 0, how_text },
	{ "places",    NSX_CELL_INT,    NSX_SUM_INT,  AT(places) },
	{ "base",      NSX_CELL_NS,     NSX_SUM_INT,  AT(ns[0]) },
	{ "new",       NSX_CELL_NS,     NSX_SUM_INT,  AT(ns[1]) },
	{ "diff",      NSX_CELL_NS,     NSX_SUM_INT,  AT(diff) },
};
const struct nsx_sum_def nsx_compare_renamed = {
	.size = sizeof(struct renamed), .key = sizeof(struct renamed_key), .cols = cols,
	.ncols = sizeof cols / sizeof *cols, .order = "class -new -base name base_name how",
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

/* Rows of a side's kernels, sorted by instruction; those of one are in the order of their first use. */
static struct nsx_sort_key *
by_instruction(const struct cmp_why *w)
{
	size_t n = nsx_sums_count(&w->kernels);
	struct nsx_sort_key *list = malloc((n + 1) * sizeof *list);

	for (size_t i = 0; i < n && list; i++) {
		const struct kernel *k = nsx_sums_at(&w->kernels, i);

		list[i] = (struct nsx_sort_key){ { k->key.inst, 0, 0 }, (uint32_t)i };
	}
	if (list)
		nsx_sort_keys(list, n);
	return list;
}

struct kernels { const struct cmp_why *w; const struct nsx_sort_key *list; size_t n; };

static uint32_t
name_at(const struct kernels *k, size_t i)
{
	return ((const struct kernel *)nsx_sums_at(&k->w->kernels, k->list[i].i))->key.name;
}

/* The first of an instruction's, and their number. */
static size_t
first_of(const struct kernels *k, uint32_t inst, size_t *n)
{
	size_t at = nsx_sort_first(k->list, k->n, sizeof *k->list, offsetof(struct nsx_sort_key, k), inst);

	for (*n = 0; at + *n < k->n && k->list[at + *n].k[0] == inst;)
		++*n;
	return at;
}

/* Instructions that run as many kernels as before: in their order. */
static bool
add_instruction(const struct cmp_why_joined *j, const struct cmp_why_pair *p, const struct kernels of[2],
                uint32_t class, struct nsx_sums *to)
{
	size_t n[2], at[2] = { first_of(&of[0], p->base != NSX_NONE ? p->base : p->key.name, &n[0]),
	                       first_of(&of[1], p->key.name, &n[1]) };
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
	struct nsx_sort_key *list[2] = { by_instruction(c->side[0].why), by_instruction(c->side[1].why) };
	struct kernels of[2];
	bool good = list[0] && list[1];

	for (int k = 0; k < 2; k++)
		of[k] = (struct kernels){ c->side[k].why, list[k], nsx_sums_count(&c->side[k].why->kernels) };
	for (size_t i = 0; i < nsx_sums_count(&j->pairs) && good; i++) {
		const struct cmp_why_pair *p = nsx_sums_at(&j->pairs, i);
		bool both = !p->merged && (p->base != NSX_NONE || (p->has[0] && p->has[1]));

		if (both && p->key.thing != NSX_THING_IDLE && p->key.thing != NSX_THING_KERNEL)
			good = add_instruction(j, p, of, class, renamed);
		if (both && p->base != NSX_NONE && p->key.thing == NSX_THING_KERNEL)
			good = add(j, renamed, (struct renamed_key){ class, p->key.name, p->base,
			           p->key.where != NSX_NONE ? BY_RANGE : BY_ORDER }, p->ns);
	}
	free(list[0]);
	free(list[1]);
	return good;
}
