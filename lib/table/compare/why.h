/* why.h -- what made steps slower: the time of each class of steps on each device by what the device did; private to
 * lib/table/compare. */
#ifndef NSX_TABLE_COMPARE_WHY_H
#define NSX_TABLE_COMPARE_WHY_H

#include "base/sort.h"
#include "base/str.h"
#include "table/steps/things.h"
#include "table/sums.h"

struct cmp;
struct cmp_result;

/* The steps of a side. Slots are a class on a device. */
struct cmp_why {
	struct nsx_sums    slots, times;
	struct nsx_sums    kernels;          /* names of operations by instruction (why_pairs.c) */
	NSX_VEC(uint32_t)  slot;             /* by key of a window, the slot of the step */
	bool               calls;            /* the stream has calls, by which causes of idle time are told */
};

/* A new one; NULL when out of memory; free it with nsx_compare_why_free. */
struct cmp_why *nsx_compare_why_new(void);
void nsx_compare_why_free(struct cmp_why *w);   /* NULL allowed */

/* The next window, whose key is its number from 0, is a step of the class (a string of cmp.strs) with that period.
 * False when out of memory. */
bool nsx_compare_why_step(struct cmp_why *w, uint32_t class, int64_t device, int64_t period);
/* What filled the step whose number is the key; names are strings of strs. False when out of memory. */
bool nsx_compare_why_count(struct cmp_why *w, const struct nsx_filled *f);

/* An operation of that name belongs to the instruction (strings of strs). False when out of memory. */
bool nsx_compare_why_kernel(struct cmp_why *w, uint32_t inst, uint32_t name);

/* The table: for the period of each class that both sides have, and of each of its devices, a row of its own, and one
 * for each thing and cause of idle time, the largest difference first, which add up to it exactly;
 * with options.renamed the names that changed instead (why_pairs.c). The caller frees
 * *table. NSX_OK or NSX_ERR. */
int nsx_compare_why(struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_table **table);

/* ---- private to why.c and why_pairs.c */

/* A thing on both sides, and its row. `base`: its name in BASE, if it is another one. ns: over all steps of the side.
 * merged: it is in another row. Below that what is set at the end. */
struct cmp_why_pair_key { uint32_t thing, name, where, none; };
struct cmp_why_pair {
	struct cmp_why_pair_key key;
	uint32_t base;
	bool     has[2], merged;
	int64_t  ns[2];
	uint32_t class, range;
	int64_t  device, mean[2], diff;
	const char *kind, *match;
	double   share;
	nsx_u128 size;       /* of the difference */
	int      of;         /* its kind of thing, and whether it is new or gone */
};
/* Things of a side in order of their first use: numbers of pairs. */
struct cmp_why_order { NSX_VEC(uint32_t) list; };

struct cmp_why_joined {
	struct nsx_sums pairs;
	struct cmp_why_order    order[2];
	int64_t         steps[2], period[2];
	bool            causes;      /* of idle time are known on both sides, or on neither */
};

/* Rows of sums by the number that their keys begin with, those of one in the order of their first use; the caller frees
 * list. False when out of memory. And the first of a number's, whose number is *n. */
struct cmp_why_index { const struct nsx_sums *sums; struct nsx_sort_key *list; size_t n; };
bool nsx_compare_why_index(const struct nsx_sums *sums, struct cmp_why_index *to);
size_t nsx_compare_why_first(const struct cmp_why_index *x, size_t number, size_t *n);

/* why_pairs.c: operations of an instruction by name, in the order of their first use. */
extern const struct nsx_sum_def nsx_compare_kernels_of;
/* The table of names that changed: a row for each two names of a class and how they were paired. */
extern const struct nsx_sum_def nsx_compare_renamed;

/* Add those of a period of the class, whose things are matched: things that are matched by their place, and kernels of
 * the same instruction. False when out of memory. */
bool nsx_compare_add_renamed(const struct cmp *c, const struct cmp_why_joined *j, uint32_t class,
                             struct nsx_sums *renamed);

#endif
