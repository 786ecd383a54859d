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

#include "job/match/key.h"
#include "job/match/similar.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"

/* The kind of label that distinguishes an alias from others of its name. */
enum class { BY_DUMP, BY_RUN, BY_FINGERPRINT, BY_ID, BY_NAME };

struct alias_item {
	const struct nsx_match_alias *a;
	int64_t        id;        /* -1: none */
	enum class     class;
	struct nsx_str label;     /* digest or fingerprint, according to class */
	uint32_t       alias;
	uint32_t       profile;   /* dense */
	uint32_t       cluster;
};

/* An id that some alias of a cluster has. */
struct cluster_id { int64_t id; uint32_t cluster; enum class class; };

/* One profile's aliases of one name and label: items first .. first + n. */
struct profile_aliases { const struct alias_item *items; size_t first, n; };

struct matcher {
	struct alias_item *items;   /* one per (name, profile, id) */
	size_t            n;
	struct alias_item *twins;   /* further aliases of the same (name, profile, id); cluster is the item's number */
	size_t            ntwins;
	uint32_t          nprofiles;
	NSX_VEC(uint32_t) parent;   /* of clusters: union-find */
	NSX_VEC(uint32_t) next;     /* ring of the clusters joined with this one */
	NSX_VEC(uint32_t) first;    /* of a cluster: its first item in order of (cluster, profile) */
	NSX_VEC(bool)     taken;    /* scratch: slots of a profile */
	uint32_t         *by_cluster;
	uint32_t         *stamp, stamps;   /* per profile: scratch */
};

static int
cmp_identity(const struct alias_item *x, const struct alias_item *y)
{
	int c = nsx_str_cmp(x->a->name, y->a->name);

	if (c == 0)
		c = nsx_int_cmp(x->profile, y->profile);
	return c ? c : nsx_int_cmp(x->id, y->id);
}

/* The alias with most information about an identity comes first. */
static int
by_identity(const void *a, const void *b)
{
	const struct alias_item *x = a, *y = b;

	return NSX_FIRST(cmp_identity(x, y), NSX_CMP(x->class, y->class), nsx_str_cmp(x->label, y->label),
	                 nsx_str_cmp(x->a->fingerprint, y->a->fingerprint), nsx_str_cmp(x->a->digest, y->a->digest),
	                 NSX_CMP(x->alias, y->alias));
}

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

static int
by_label(const void *a, const void *b)
{
	const struct alias_item *x = a, *y = b;

	return NSX_FIRST(cmp_label(x, y), NSX_CMP(x->profile, y->profile), NSX_CMP(x->id, y->id));
}

static int
by_profile(const void *a, const void *b)
{
	const struct nsx_match_alias *const *x = a, *const *y = b;

	return nsx_int_cmp((*x)->profile, (*y)->profile);
}

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

static uint32_t
root(struct matcher *m, uint32_t c)
{
	while (m->parent.p[c] != c)
		c = m->parent.p[c] = m->parent.p[m->parent.p[c]];
	return c;
}

static void
join(struct matcher *m, uint32_t a, uint32_t b)
{
	a = root(m, a);
	b = root(m, b);
	if (a == b)
		return;
	/* The lower number remains: clusters are numbered in canonical order. */
	m->parent.p[a < b ? b : a] = a < b ? a : b;
	uint32_t t = m->next.p[a];
	m->next.p[a] = m->next.p[b];
	m->next.p[b] = t;
}

/* Items in order of cluster, for iterating over a cluster's profiles. */
static bool
index_clusters(struct matcher *m)
{
	size_t nc = m->parent.n;

	if (!nsx_vec_room(&m->first, nc + 1))
		return false;
	memset(m->first.p, 0, (nc + 1) * sizeof *m->first.p);
	for (size_t i = 0; i < m->n; i++)
		m->first.p[m->items[i].cluster + 1]++;
	for (size_t c = 0; c < nc; c++)
		m->first.p[c + 1] += m->first.p[c];
	for (size_t i = 0; i < m->n; i++)
		m->by_cluster[m->first.p[m->items[i].cluster]++] = (uint32_t)i;
	memmove(m->first.p + 1, m->first.p, nc * sizeof *m->first.p);
	m->first.p[0] = 0;
	return true;
}

/* Whether some profile has aliases in both; stamps a's profiles. */
static bool
share_profile(struct matcher *m, uint32_t a, uint32_t b)
{
	uint32_t c = a;

	m->stamps++;
	do {
		for (uint32_t i = m->first.p[c]; i < m->first.p[c + 1]; i++)
			m->stamp[m->items[m->by_cluster[i]].profile] = m->stamps;
		c = m->next.p[c];
	} while (c != a);
	c = b;
	do {
		for (uint32_t i = m->first.p[c]; i < m->first.p[c + 1]; i++)
			if (m->stamp[m->items[m->by_cluster[i]].profile] == m->stamps)
				return true;
		c = m->next.p[c];
	} while (c != b);
	return false;
}

static int
by_id(const void *a, const void *b)
{
	const struct cluster_id *x = a, *y = b;

	return NSX_FIRST(NSX_CMP(x->id, y->id), NSX_CMP(x->class, y->class), NSX_CMP(x->cluster, y->cluster));
}

/* Mark the clusters that are joined with c. */
static void
mark(const struct matcher *m, bool *joined, uint32_t c)
{
	uint32_t k = c;

	do {
		joined[k] = true;
		k = m->next.p[k];
	} while (k != c);
}

/* Entries lo .. hi have one id: join clusters that were kept apart because their digests have different marks, one
 * program with one mark to one with the other. */
static void
join_marks(struct matcher *m, const struct cluster_id *e, size_t lo, size_t hi, bool *joined)
{
	for (size_t i = lo; i < hi && e[i].class == BY_DUMP; i++) {
		if (joined[e[i].cluster])
			continue;
		for (size_t j = i + 1; j < hi; j++) {
			if (e[j].class != BY_RUN || joined[e[j].cluster] || share_profile(m, e[i].cluster,
			    e[j].cluster))
				continue;
			join(m, e[i].cluster, e[j].cluster);
			mark(m, joined, e[i].cluster);
			break;
		}
	}
}

/* The same for aliases that were only compiled: they are joined to the first program that was executed under that
 * id. */
static void
join_compiled(struct matcher *m, const struct cluster_id *e, size_t lo, size_t hi)
{
	for (size_t j = lo; j < hi; j++) {
		if (e[j].class != BY_ID)
			continue;
		for (size_t i = lo; i < j && e[i].class < BY_ID; i++) {
			if (share_profile(m, e[i].cluster, e[j].cluster))
				continue;
			join(m, e[i].cluster, e[j].cluster);
			break;
		}
	}
}

/* Items lo .. hi have one name. */
static bool
join_by_id(struct matcher *m, size_t lo, size_t hi, bool *joined)
{
	NSX_VEC(struct cluster_id) e = { 0 };
	size_t n = 0;

	for (size_t i = lo; i < hi; i++)
		if (m->items[i].class != BY_NAME
		    && !nsx_vec_push(&e, ((struct cluster_id){ m->items[i].id, m->items[i].cluster,
		                                               m->items[i].class }))) {
			free(e.p);
			return false;
		}
	if (e.n)
		qsort(e.p, e.n, sizeof *e.p, by_id);
	for (size_t i = 0; i < e.n; i++)
		if (n == 0 || by_id(&e.p[n - 1], &e.p[i]) != 0)
			e.p[n++] = e.p[i];
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0, j; i < n; i = j) {
			for (j = i + 1; j < n && e.p[j].id == e.p[i].id; j++)
				;
			if (pass == 0)
				join_marks(m, e.p, i, j, joined);
			else
				join_compiled(m, e.p, i, j);
		}
	free(e.p);
	return true;
}

/* Of similar: ids and profiles of all sets. */
struct similar { NSX_VEC(struct nsx_match_set) sets; NSX_VEC(uint32_t) clusters; int64_t *ids; uint32_t *profiles; };

/* The names and profiles of cluster c, which has executed names; its items begin at `at` in by_cluster. */
static bool
add_similar(struct matcher *m, struct similar *s, uint32_t c, uint32_t at)
{
	struct nsx_match_set set = { .ids = s->ids + at, .profiles = s->profiles + at };

	for (uint32_t i = at; i < m->first.p[c + 1]; i++) {
		const struct alias_item *it = &m->items[m->by_cluster[i]];

		s->ids[at + set.nids++] = it->id;
		s->profiles[at + set.nprofiles++] = it->profile;
		if (!set.names.len)
			set.names = it->a->names;
	}
	qsort(s->ids + at, set.nids, sizeof *s->ids, nsx_sort_by_int);
	return nsx_vec_push(&s->sets, set) && nsx_vec_push(&s->clusters, c);
}

/* Items lo .. hi have one name: join clusters of executed names that are nearly equal. */
static bool
join_similar(struct matcher *m, struct similar *s, size_t lo, size_t hi)
{
	uint32_t first = NSX_NONE, end = 0;

	s->sets.n = s->clusters.n = 0;
	/* Those of one name and class are numbered without a gap. */
	for (size_t i = lo; i < hi; i++) {
		uint32_t c = m->items[i].cluster;

		if (m->items[i].class == BY_RUN) {
			first = c < first ? c : first;
			end = c >= end ? c + 1 : end;
		}
	}
	for (uint32_t c = first; c < end; c++)
		if (!add_similar(m, s, c, m->first.p[c]))
			return false;
	if (s->sets.n < 2)
		return true;
	if (!nsx_match_similar(s->sets.p, s->sets.n))
		return false;
	for (size_t i = 0; i < s->sets.n; i++)
		join(m, s->clusters.p[i], s->clusters.p[s->sets.p[i].of]);
	return true;
}

static bool
join_all_similar(struct matcher *m)
{
	struct similar s = { .ids = malloc((m->n + 1) * sizeof *s.ids),
	                     .profiles = malloc((m->n + 1) * sizeof *s.profiles) };
	bool good = s.ids && s.profiles;

	for (size_t lo = 0, hi; lo < m->n && good; lo = hi) {
		for (hi = lo + 1; hi < m->n && nsx_str_eq(m->items[lo].a->name, m->items[hi].a->name); hi++)
			;
		good = join_similar(m, &s, lo, hi);
	}
	free(s.sets.p);
	free(s.clusters.p);
	free(s.ids);
	free(s.profiles);
	return good;
}

static bool
join_names(struct matcher *m)
{
	bool *joined = calloc(m->parent.n + 1, sizeof *joined), good = joined && index_clusters(m)
	    && join_all_similar(m);

	for (size_t lo = 0, hi; lo < m->n && good; lo = hi) {
		for (hi = lo + 1; hi < m->n && nsx_str_eq(m->items[lo].a->name, m->items[hi].a->name); hi++)
			;
		good = join_by_id(m, lo, hi, joined);
	}
	free(joined);
	return good;
}

static int
by_unit(const void *a, const void *b)
{
	const struct alias_item *x = *(const struct alias_item *const *)a, *y = *(const struct alias_item *const *)b;

	return NSX_FIRST(NSX_CMP(x->profile, y->profile), NSX_CMP(x->a->unit, y->a->unit),
	                 nsx_str_cmp(x->a->name, y->a->name), NSX_CMP(x->cluster, y->cluster));
}

static bool
join_units(struct matcher *m)
{
	struct alias_item **order = malloc((m->n + 1) * sizeof *order);

	if (!order)
		return false;
	for (size_t i = 0; i < m->n; i++)
		order[i] = &m->items[i];
	qsort(order, m->n, sizeof *order, by_unit);
	for (size_t i = 1; i < m->n; i++) {
		const struct alias_item *x = order[i - 1], *y = order[i];
		if (x->a->unit >= 0 && x->a->unit == y->a->unit && x->profile == y->profile &&
		    nsx_str_eq(x->a->name, y->a->name))
			join(m, x->cluster, y->cluster);
	}
	free(order);
	return true;
}

static int
by_first(const void *a, const void *b)
{
	const struct alias_item *x = a, *y = b;

	return NSX_FIRST(NSX_CMP(x->profile, y->profile), NSX_CMP(x->id, y->id), nsx_str_cmp(x->a->name, y->a->name));
}

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
		uint32_t *at = &draft[root(m, m->items[i].cluster)];

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
	if (!out->program || !prepare(m, a, n, mode) || !cluster(m) || (mode == NSX_MATCH_AUTO && !join_names(m))
	    || !join_units(m) || !make_programs(m, out))
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
