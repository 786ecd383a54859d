/* match.c -- decide which programs of several profiles are the same program. All decisions are made on sorted aliases,
 * so the result does not depend on the order of the input.
 *
 *   alias  profile  id  name  digest
 *   0      0        1   f     x:1
 *   1      0        2   f     x:1
 *   2      1        2   f     x:1
 *   3      1        9   f     x:1
 *   4      2        2   f     none: compiled, never executed
 *
 * Aliases 0 to 3 have one name and digest. Two ids of one profile are two programs, so the digest makes two clusters,
 * with the ids of the profile that has the most ids, of equal ones the most frequent, then the lowest: 1 and 2 of
 * profile 0. Profile 1 has id 2 too, which goes to that cluster; its id 9 gets the cluster that remains. Alias 4 has no
 * digest: it joins the program of its name that was executed under its id. The result is two programs: aliases 0 and 3,
 * and aliases 1, 2 and 4. */
#include "job/match/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/sort.h"
#include "job/match/key.h"
#include "job/match/matcher.h"

/* One profile's aliases of one name and label: items first .. first + n. */
struct profile_aliases { const struct alias_item *items; size_t first, n; };

static int
cmp_identity(const struct alias_item *x, const struct alias_item *y)
{
	int c = nsx_str_cmp(x->a->name, y->a->name);

	if (c == 0)
		c = nsx_int_cmp(x->profile, y->profile);
	return c ? c : nsx_int_cmp(x->id, y->id);
}

/* The alias with most information about an identity comes first. */
NSX_ORDER(by_identity, struct alias_item, cmp_identity(a, b), NSX_CMP(a->class, b->class),
          nsx_str_cmp(a->label, b->label), nsx_str_cmp(a->a->fingerprint, b->a->fingerprint),
          nsx_str_cmp(a->a->digest, b->a->digest), NSX_CMP(a->alias, b->alias))

static int
cmp_label(const struct alias_item *x, const struct alias_item *y)
{
	int c = nsx_str_cmp(x->a->name, y->a->name);

	if (c == 0)
		c = (int)x->class - (int)y->class;
	if (c == 0)
		c = nsx_str_cmp(x->label, y->label);
	if (c == 0 && x->class == BY_ID)
		c = nsx_int_cmp(x->id, y->id);
	return c;
}

NSX_ORDER(by_label, struct alias_item, cmp_label(a, b), NSX_CMP(a->profile, b->profile), NSX_CMP(a->id, b->id))

NSX_ORDER_PTR(by_profile, struct nsx_match_alias, NSX_CMP(a->profile, b->profile))

static void
classify(struct alias_item *it, enum nsx_match_by mode)
{
	const struct nsx_match_alias *a = it->a;

	it->id = a->id < 0 ? -1 : a->id;
	it->class = BY_ID;
	if (a->id < 0) {
		it->class = BY_NAME;
	} else if (mode == NSX_MATCH_FINGERPRINT && a->fingerprint.len) {
		it->class = BY_FINGERPRINT;
		it->label = a->fingerprint;
	} else if (mode == NSX_MATCH_AUTO && a->digest.len) {
		it->class = nsx_str_starts(a->digest, "d:") ? BY_DUMP : BY_RUN;
		it->label = a->digest;
	}
}

/* Number the profiles, classify, and split the aliases into items and twins. */
static bool
prepare(struct matcher *m, const struct nsx_match_alias *a, size_t n, enum nsx_match_by mode)
{
	const struct nsx_match_alias **order = malloc((n + 1) * sizeof *order);

	m->items = calloc(n + 1, sizeof *m->items);
	m->twins = calloc(n + 1, sizeof *m->twins);
	if (!order || !m->items || !m->twins) {
		free(order);
		return false;
	}
	for (size_t i = 0; i < n; i++)
		order[i] = &a[i];
	qsort(order, n, sizeof *order, by_profile);
	for (size_t i = 0; i < n; i++) {
		struct alias_item *it = &m->items[i];

		if (i == 0 || order[i - 1]->profile != order[i]->profile)
			m->nprofiles++;
		*it = (struct alias_item){ .a = order[i], .alias = (uint32_t)(order[i] - a),
		                            .profile = m->nprofiles - 1 };
		classify(it, mode);
	}
	free(order);
	qsort(m->items, n, sizeof *m->items, by_identity);
	for (size_t i = 0; i < n; i++) {
		if (m->n && cmp_identity(&m->items[m->n - 1], &m->items[i]) == 0)
			m->twins[m->ntwins++] = m->items[i];
		else
			m->items[m->n++] = m->items[i];
	}
	m->stamp = calloc(m->nprofiles + 1, sizeof *m->stamp);
	m->by_cluster = malloc((m->n + 1) * sizeof *m->by_cluster);
	return m->stamp && m->by_cluster;
}

static bool
new_cluster(struct matcher *m)
{
	uint32_t c = (uint32_t)m->parent.n;

	return nsx_vec_push(&m->parent, c) && nsx_vec_push(&m->next, c);
}

/* Longest first, then by ids. */
static int
by_ids(const void *a, const void *b)
{
	const struct profile_aliases *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	for (size_t i = 0; i < x->n; i++) {
		int c = nsx_int_cmp(x->items[x->first + i].id, y->items[y->first + i].id);
		if (c)
			return c;
	}
	return nsx_int_cmp((int64_t)x->first, (int64_t)y->first);
}

static bool
same_ids(const struct profile_aliases *x, const struct profile_aliases *y)
{
	if (x->n != y->n)
		return false;
	for (size_t i = 0; i < x->n; i++)
		if (x->items[x->first + i].id != y->items[y->first + i].id)
			return false;
	return true;
}

/* The profile whose ids define the programs: index into runs, which are sorted. */
static size_t
most_frequent(const struct profile_aliases *runs, size_t n)
{
	size_t best = 0, best_count = 0;

	for (size_t i = 0, j; i < n && runs[i].n == runs[0].n; i = j) {
		for (j = i + 1; j < n && same_ids(&runs[i], &runs[j]); j++)
			;
		if (j - i > best_count) {
			best = i;
			best_count = j - i;
		}
	}
	return best;
}

/* Assign clusters to the items of one profile: base + the position of the id in ref, or one of the remaining
 * clusters. */
static void
take_slots(struct matcher *m, const struct profile_aliases *run, const struct alias_item *ref, size_t nref,
           uint32_t base)
{
	struct alias_item *it = &m->items[run->first];
	size_t i, k;

	memset(m->taken.p, 0, nref);
	for (i = k = 0; i < run->n; i++) {
		while (k < nref && ref[k].id < it[i].id)
			k++;
		bool found = k < nref && ref[k].id == it[i].id;
		it[i].cluster = found ? base + (uint32_t)k : NSX_NONE;
		if (found)
			m->taken.p[k] = true;
	}
	for (i = k = 0; i < run->n; i++) {
		if (it[i].cluster != NSX_NONE)
			continue;
		while (m->taken.p[k])
			k++;
		it[i].cluster = base + (uint32_t)k++;
	}
}

/* Items lo .. hi have one name and label. */
static bool
cluster_label(struct matcher *m, size_t lo, size_t hi)
{
	NSX_VEC(struct profile_aliases) runs = { 0 };
	uint32_t base = (uint32_t)m->parent.n;
	bool good = true;

	for (size_t i = lo, j; i < hi && good; i = j) {
		for (j = i + 1; j < hi && m->items[j].profile == m->items[i].profile; j++)
			;
		good = nsx_vec_push(&runs, ((struct profile_aliases){ m->items, i, j - i }));
	}
	if (good) {
		qsort(runs.p, runs.n, sizeof *runs.p, by_ids);
		struct profile_aliases ref = runs.p[most_frequent(runs.p, runs.n)];
		for (size_t i = 0; i < ref.n && good; i++)
			good = new_cluster(m);
		good = good && nsx_vec_room(&m->taken, ref.n);
		for (size_t i = 0; i < runs.n && good; i++)
			take_slots(m, &runs.p[i], &m->items[ref.first], ref.n, base);
	}
	free(runs.p);
	return good;
}

static bool
cluster(struct matcher *m)
{
	qsort(m->items, m->n, sizeof *m->items, by_label);
	for (size_t lo = 0, hi; lo < m->n; lo = hi) {
		for (hi = lo + 1; hi < m->n && cmp_label(&m->items[lo], &m->items[hi]) == 0; hi++)
			;
		if (m->items[lo].class <= BY_FINGERPRINT) {
			if (!cluster_label(m, lo, hi))
				return false;
			continue;
		}
		for (size_t i = lo; i < hi; i++)
			m->items[i].cluster = (uint32_t)m->parent.n;
		if (!new_cluster(m))
			return false;
	}
	return true;
}

NSX_ORDER(by_first, struct alias_item, NSX_CMP(a->profile, b->profile), NSX_CMP(a->id, b->id),
          nsx_str_cmp(a->a->name, b->a->name))

/* Clusters to programs: drafts in order of the first alias, keys, the final order, the program of each alias. */
static bool
make_programs(struct matcher *m, struct nsx_match *out)
{
	struct nsx_match_draft *d = calloc(m->n + 1, sizeof *d);
	uint32_t *draft = malloc((m->parent.n + 1) * sizeof *draft), *number = malloc((m->n + 1) * sizeof *number);
	size_t n = 0;
	bool good = d && draft && number;

	if (good)
		memset(draft, 0xff, (m->parent.n + 1) * sizeof *draft);
	qsort(m->items, m->n, sizeof *m->items, by_first);
	for (size_t i = 0; i < m->n && good; i++) {
		uint32_t *at = &draft[nsx_match_root(m, m->items[i].cluster)];

		if (*at == NSX_NONE) {
			d[n].order = (uint32_t)n;
			*at = (uint32_t)n++;
		}
		nsx_match_see(&d[*at], m->items[i].a, m->items[i].id);
		m->items[i].cluster = *at;
	}
	good = good && nsx_match_keys(d, n, &out->arena);
	out->programs = good ? nsx_arena_alloc(&out->arena, (n + 1) * sizeof *out->programs) : NULL;
	if (out->programs) {
		out->nprograms = n;
		for (size_t i = 0; i < n; i++) {
			out->programs[i] = d[i].p;
			number[d[i].order] = (uint32_t)i;
		}
		for (size_t i = 0; i < m->n; i++)
			out->program[m->items[i].alias] = number[m->items[i].cluster];
	}
	free(d);
	free(draft);
	free(number);
	return out->programs != NULL;
}

static int
match(struct matcher *m, const struct nsx_match_alias *a, size_t n, enum nsx_match_by mode, struct nsx_match *out)
{
	out->program = nsx_arena_alloc(&out->arena, (n + 1) * sizeof *out->program);
	if (!out->program || !prepare(m, a, n, mode) || !cluster(m)
	    || (mode == NSX_MATCH_AUTO && !nsx_match_join_names(m)) || !nsx_match_join_units(m)
	    || !make_programs(m, out))
		return NSX_ERR;
	/* Twins are assigned with their item: both lists are sorted alike and merged. */
	qsort(m->items, m->n, sizeof *m->items, by_identity);
	for (size_t i = 0, t = 0; t < m->ntwins; t++) {
		while (cmp_identity(&m->items[i], &m->twins[t]) != 0)
			i++;
		out->program[m->twins[t].alias] = out->program[m->items[i].alias];
	}
	return NSX_OK;
}

int
nsx_match(const struct nsx_match_alias *a, size_t n, enum nsx_match_by mode, struct nsx_match *out, struct nsx_err *err)
{
	struct matcher m = { 0 };
	int rc = NSX_ERR;

	*out = (struct nsx_match){ 0 };
	if (n < NSX_NONE)
		rc = match(&m, a, n, mode, out);
	free(m.items);
	free(m.twins);
	free(m.parent.p);
	free(m.next.p);
	free(m.first.p);
	free(m.taken.p);
	free(m.by_cluster);
	free(m.stamp);
	return rc == NSX_OK ? rc : nsx_err_nomem(err, NULL);
}

void
nsx_match_free(struct nsx_match *m)
{
	nsx_arena_free(&m->arena);
	*m = (struct nsx_match){ 0 };
}
