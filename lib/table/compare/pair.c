/* pair.c -- matches programs, and rows, of both sides. From reliable to weak criteria: each pass groups the unmatched
 * ones by some of their properties, and pairs the members of groups that have equal numbers on both sides, in order.
 * For example, BASE has fusion.1 and fusion.2 with op_name a and b, NEW has fusion.2 and fusion.3 with op_name a and b:
 * by name and op_name nothing matches, by stem ("fusion") and op_name fusion.1 is paired with fusion.2 and fusion.2
 * with fusion.3. */
#include <stdlib.h>
#include <string.h>

#include "table/compare/join.h"

/* An unmatched element: equal keys form a group; in it time, number and name give the order. */
struct loner {
	uint32_t key[7];
	nsx_u128 time;        /* the longest first; 0 for all if time is not part of the order */
	int64_t  number;
	struct nsx_str name;
	int      side;
	uint32_t index;
};

static int
key_cmp(const struct loner *a, const struct loner *b)
{
	for (size_t i = 0; i < sizeof a->key / sizeof *a->key; i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	return 0;
}

static int
loner_cmp(const void *pa, const void *pb)
{
	const struct loner *a = pa, *b = pb;
	int c = key_cmp(a, b);

	if (c == 0)
		c = a->side - b->side;
	if (c == 0 && a->time != b->time)
		c = a->time > b->time ? -1 : 1;
	if (c == 0)
		c = (a->number > b->number) - (a->number < b->number);
	if (c == 0)
		c = nsx_str_cmp(a->name, b->name);
	return c ? c : (a->index > b->index) - (a->index < b->index);
}

struct loners { NSX_VEC(struct loner) all; };

/* Pair the members of groups by `join`; rest: also in groups with more members on one side, as many members as the
 * other side has. */
static void
pair_groups(struct cmp *c, struct loners *l, bool rest, enum cmp_how how, void (*join)(struct cmp *, uint32_t, uint32_t,
	enum cmp_how))
{
	if (l->all.n > 1)
		qsort(l->all.p, l->all.n, sizeof *l->all.p, loner_cmp);
	for (size_t from = 0, to, middle; from < l->all.n; from = to) {
		const struct loner *g = &l->all.p[from];

		for (to = middle = from; to < l->all.n && key_cmp(g, &l->all.p[to]) == 0; to++)
			middle += l->all.p[to].side == NSX_COMPARE_BASE;
		if (!rest && middle - from != to - middle)
			continue;
		for (size_t i = 0; from + i < middle && middle + i < to; i++)
			join(c, l->all.p[from + i].index, l->all.p[middle + i].index, how);
	}
}

/* ---- programs */

void
nsx_compare_join_groups(struct cmp *c, uint32_t base, uint32_t new, enum cmp_how how)
{
	struct cmp_group *b = &c->side[NSX_COMPARE_BASE].groups.p[base],
	    *n = &c->side[NSX_COMPARE_NEW].groups.p[new];

	b->pair = new;
	n->pair = base;
	b->how = n->how = how;
}

/* The criterion by which a program is matched, in the order of `signs`. */
enum sign { FINGERPRINT, DUMPED, RUN, KEY, ID, NAME, NSIGNS };
static const enum cmp_how signs[NSIGNS] = {
	[FINGERPRINT] = CMP_FINGERPRINT, [DUMPED] = CMP_DIGEST, [RUN] = CMP_DIGEST, [KEY] = CMP_KEY, [ID] = CMP_KEY,
	[NAME] = CMP_NAME
};

/* Fill the key by which a program is grouped; false if it lacks the data. Programs without a name have one common name;
 * the id, which is part of other keys, is a criterion of its own. */
static bool
sign_of(const struct cmp *c, const struct cmp_group *p, enum sign sign, struct loner *l)
{
	const uint32_t of[NSIGNS] = { [FINGERPRINT] = p->fingerprint, [DUMPED] = p->dumped, [RUN] = p->run,
	                              [KEY] = p->key };
	bool named = cmp_str(c, p->name).len > 0;

	l->key[0] = named ? p->name : NSX_NONE;
	if (sign == NAME)
		return true;
	if (sign == ID) {
		l->key[1] = (uint32_t)((uint64_t)p->id >> 32);
		l->key[2] = (uint32_t)p->id;
		return !named && p->id != NSX_ABSENT;
	}
	l->key[1] = of[sign];
	return of[sign] != NSX_NONE;
}

/* Programs of one name and content are compiled in the same order in both runs, if there are equally many: they are
 * ordered by their ids. All others are ordered by their time: a recompiled program runs as often as before. */
static bool
pair_programs(struct cmp *c, struct loners *l)
{
	for (int pass = 0; pass < 2 * NSIGNS; pass++) {
		enum sign sign = (enum sign)(pass / 2);
		bool by_id = pass % 2 == 0;

		if (by_id && sign > RUN)
			continue;
		l->all.n = 0;
		for (int k = 0; k < 2; k++)
			for (size_t i = 0; i < c->side[k].groups.n; i++) {
				const struct cmp_group *p = &c->side[k].groups.p[i];
				struct loner new = { { 0 }, by_id ? 0 : p->time, by_id ? p->id : p->number,
				                     cmp_str(c, p->key), k, (uint32_t)i };

				if (p->pair == NSX_NONE && p->execs > 0 && sign_of(c, p, sign, &new) &&
				    !nsx_vec_push(&l->all, new))
					return false;
			}
		pair_groups(c, l, !by_id, signs[sign], nsx_compare_join_groups);
	}
	return true;
}

/* ---- rows */

static void
join_rows(struct cmp *c, uint32_t base, uint32_t new, enum cmp_how how)
{
	struct cmp_row *b = &c->side[NSX_COMPARE_BASE].rows.p[base], *n = &c->side[NSX_COMPARE_NEW].rows.p[new];

	b->pair = new;
	n->pair = base;
	b->how = n->how = how;
}

/* The properties in which two rows must agree to be matched. `place`: only if op_name or stack are known. */
static const struct pass { bool name, stem, opcode, op_name, stack, place; enum cmp_how how; } passes[] = {
	{ true,  false, true,  true,  true,  false, CMP_NAME },
	{ false, true,  true,  true,  true,  false, CMP_PLACE },
	{ true,  false, true,  true,  false, false, CMP_NAME },      /* lines of the source have moved */
	{ false, true,  true,  true,  false, false, CMP_OP_NAME },
	{ false, false, true,  true,  true,  true,  CMP_PLACE },     /* a fusion of another kind */
	{ true,  false, false, false, false, false, CMP_NAME },      /* one side has no dump */
};

/* Rows of opcodes and lines have only a name and a stem. */
static bool
applies(const struct pass *p, const struct cmp_row *r)
{
	return !p->place || r->op_name != NSX_NONE || r->stack != NSX_NONE;
}

static bool
gather_rows(struct cmp *c, struct loners *l, const struct pass *p)
{
	l->all.n = 0;
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < c->side[k].rows.n; i++) {
			const struct cmp_row *r = &c->side[k].rows.p[i];
			const struct cmp_group *of = &c->side[k].groups.p[r->group];
			struct loner new = {
				{ k == NSX_COMPARE_BASE ? r->group : of->pair,
				  p->name ? r->name : p->stem ? r->stem : 0, p->opcode ? r->opcode : 0,
				  p->op_name ? r->op_name : 0, p->stack ? r->stack : 0,
				  p->opcode ? (uint32_t)((uint64_t)r->device >> 32) : 0,
				  p->opcode ? (uint32_t)r->device : 0 },
				0, r->number, cmp_str(c, r->name), k, (uint32_t)i
			};

			if (!r->whole && r->pair == NSX_NONE && of->pair != NSX_NONE && applies(p, r) &&
			    !nsx_vec_push(&l->all, new))
				return false;
		}
	return true;
}

/* Modules of paired programs are paired. */
static void
pair_whole(struct cmp *c)
{
	for (size_t i = 0; i < c->side[NSX_COMPARE_BASE].groups.n; i++) {
		const struct cmp_group *p = &c->side[NSX_COMPARE_BASE].groups.p[i];

		if (p->pair != NSX_NONE)
			join_rows(c, p->whole, c->side[NSX_COMPARE_NEW].groups.p[p->pair].whole, p->how);
	}
}

int
nsx_compare_pair(struct cmp *c)
{
	struct loners l = { 0 };
	bool good = pair_programs(c, &l);

	if (good)
		pair_whole(c);
	for (size_t i = 0; i < sizeof passes / sizeof *passes && good; i++) {
		good = gather_rows(c, &l, &passes[i]);
		if (good)
			pair_groups(c, &l, false, passes[i].how, join_rows);
	}
	free(l.all.p);
	return good ? NSX_OK : nsx_err_nomem(c->err, NULL);
}
