/* join.c -- which clusters of aliases of one name are one program. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/sort.h"
#include "job/match/matcher.h"
#include "job/match/similar.h"

/* An id that some alias of a cluster has. */
struct cluster_id { int64_t id; uint32_t cluster; enum match_class class; };

uint32_t
nsx_match_root(struct matcher *m, uint32_t c)
{
	while (m->parent.p[c] != c)
		c = m->parent.p[c] = m->parent.p[m->parent.p[c]];
	return c;
}

static void
join(struct matcher *m, uint32_t a, uint32_t b)
{
	a = nsx_match_root(m, a);
	b = nsx_match_root(m, b);
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

NSX_ORDER(by_id, struct cluster_id, NSX_CMP(a->id, b->id), NSX_CMP(a->class, b->class),
          NSX_CMP(a->cluster, b->cluster))

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
	nsx_sort(e.p, e.n, by_id);
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

bool
nsx_match_join_names(struct matcher *m)
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

NSX_ORDER_PTR(by_unit, struct alias_item, NSX_CMP(a->profile, b->profile), NSX_CMP(a->a->unit, b->a->unit),
              nsx_str_cmp(a->a->name, b->a->name), NSX_CMP(a->cluster, b->cluster))

bool
nsx_match_join_units(struct matcher *m)
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
