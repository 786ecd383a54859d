/* similar.c -- see similar.h.
 *
 *   set  names          ids  profiles   the largest first
 *   0    a b c d e f    5    0 1        represents a program
 *   2    a b c d e      5    2          held by set 0, equal id, no common profile: joined
 *   1    a b x          5    3          shares 2 of 7 names with set 0: represents another */
#include "job/match/similar.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/sort.h"
#include "base/vec.h"

/* ---- sets as text */

enum { DIGITS = 8 };

NSX_ORDER(by_hash, uint32_t, NSX_CMP(*a, *b))

void
nsx_names_put(struct nsx_buf *b, struct nsx_str *names, size_t n)
{
	uint32_t *hash = malloc((n + 1) * sizeof *hash);
	size_t kept = 0;

	if (!hash) {
		b->failed = true;
		return;
	}
	for (size_t i = 0; i < n; i++)
		hash[i] = (uint32_t)(nsx_hash(names[i].ptr, names[i].len) >> 32);
	qsort(hash, n, sizeof *hash, by_hash);
	if (n)
		nsx_buf_fmt(b, "%zu:", n);
	for (size_t i = 0; i < n && kept < NSX_NAMES_KEPT; i++) {
		if (i && hash[i] == hash[i - 1])
			continue;
		nsx_buf_fmt(b, "%08x", (unsigned)hash[i]);
		kept++;
	}
	free(hash);
}

/* A set as it is compared; whole: every hash is there. */
struct name_set { uint32_t hash[NSX_NAMES_KEPT]; size_t n; int64_t names; bool whole; };

static bool
read_set(struct nsx_str text, struct name_set *s)
{
	const char *colon = text.len ? memchr(text.ptr, ':', text.len) : NULL;

	if (!colon || !nsx_get_int((struct nsx_str){ text.ptr, (size_t)(colon - text.ptr) }, &s->names))
		return false;
	size_t left = text.len - (size_t)(colon + 1 - text.ptr);
	if (left % DIGITS || left / DIGITS > NSX_NAMES_KEPT || s->names < 1)
		return false;
	s->n = left / DIGITS;
	for (size_t i = 0; i < s->n; i++) {
		s->hash[i] = 0;
		for (int k = 0; k < DIGITS; k++) {
			int digit = nsx_hex(colon[1 + i * DIGITS + (size_t)k]);
			if (digit < 0)
				return false;
			s->hash[i] = s->hash[i] << 4 | (uint32_t)digit;
		}
		if (i && s->hash[i] <= s->hash[i - 1])
			return false;
	}
	s->whole = s->n < NSX_NAMES_KEPT || s->names == NSX_NAMES_KEPT;
	return s->n > 0;
}

/* The number of hashes up to the bound. */
static size_t
upto(const struct name_set *s, uint32_t bound)
{
	size_t n = 0;

	while (n < s->n && s->hash[n] <= bound)
		n++;
	return n;
}

double
nsx_names_share(struct nsx_str x, struct nsx_str y, bool *holds)
{
	struct name_set a, b;
	uint32_t bound = UINT32_MAX;
	size_t common = 0;

	*holds = false;
	if (!read_set(x, &a) || !read_set(y, &b))
		return -1;
	if (!a.whole)
		bound = a.hash[a.n - 1];
	if (!b.whole && b.hash[b.n - 1] < bound)
		bound = b.hash[b.n - 1];
	size_t na = upto(&a, bound), nb = upto(&b, bound), fewer = na < nb ? na : nb;
	for (size_t i = 0, k = 0; i < na && k < nb;) {
		bool equal = a.hash[i] == b.hash[k];
		common += equal;
		if (a.hash[i] < b.hash[k])
			i++;
		else if (!equal)
			k++;
		else
			i++, k++;
	}
	if (!(a.whole && b.whole) && fewer < NSX_NAMES_FEW)
		return -1;
	*holds = common == fewer;
	return (double)common / (double)(na + nb - common);
}

/* ---- programs */

/* A program: its representative, its ids and profiles, ascending. */
struct similar_program {
	uint32_t set;
	NSX_VEC(int64_t)  ids;
	NSX_VEC(uint32_t) profiles;
};

struct similar_programs { NSX_VEC(struct similar_program) list; };

static bool
shares_id(const struct similar_program *p, const struct nsx_match_set *s)
{
	for (size_t i = 0, k = 0; i < p->ids.n && k < s->nids;) {
		if (p->ids.p[i] == s->ids[k])
			return true;
		if (p->ids.p[i] < s->ids[k])
			i++;
		else
			k++;
	}
	return false;
}

static bool
shares_profile(const struct similar_program *p, const struct nsx_match_set *s)
{
	for (size_t i = 0, k = 0; i < p->profiles.n && k < s->nprofiles;) {
		if (p->profiles.p[i] == s->profiles[k])
			return true;
		if (p->profiles.p[i] < s->profiles[k])
			i++;
		else
			k++;
	}
	return false;
}

static int64_t
names_of(const struct nsx_match_set *s)
{
	struct name_set set;

	return read_set(s->names, &set) ? set.names : 0;
}

/* How well the set fits the program: below 0 not at all; an equal id counts more than any share. */
static double
fit(const struct nsx_match_set *s, const struct similar_program *p, const struct nsx_match_set *set)
{
	bool holds, same = shares_id(p, set);
	double share = shares_profile(p, set) ? -1 : nsx_names_share(s[p->set].names, set->names, &holds);

	if (share < 0)
		return -1;
	if (same)
		return share >= 0.8 || holds ? 1 + share : -1;
	return share >= 0.9 && names_of(set) >= NSX_NAMES_FEW && names_of(&s[p->set]) >= NSX_NAMES_FEW ? share : -1;
}

/* Add the ids and profiles of a set. */
static bool
extend(struct similar_program *p, const struct nsx_match_set *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nids; i++)
		if (!nsx_vec_push(&p->ids, s->ids[i]))
			return false;
	for (size_t i = 0; i < s->nprofiles; i++)
		if (!nsx_vec_push(&p->profiles, s->profiles[i]))
			return false;
	nsx_sort(p->ids.p, p->ids.n, nsx_sort_by_int);
	for (size_t i = 0; i < p->ids.n; i++)
		if (!n || p->ids.p[n - 1] != p->ids.p[i])
			p->ids.p[n++] = p->ids.p[i];
	p->ids.n = n;
	nsx_sort(p->profiles.p, p->profiles.n, by_hash);
	return true;
}

/* Give set i its program, a new one if none fits. */
static bool
place(struct similar_programs *all, struct nsx_match_set *s, uint32_t i)
{
	struct similar_program *best = NULL;
	double most = -1;

	for (size_t k = 0; k < all->list.n; k++) {
		double f = fit(s, &all->list.p[k], &s[i]);
		if (f > most) {
			most = f;
			best = &all->list.p[k];
		}
	}
	if (!best) {
		if (!nsx_vec_push(&all->list, ((struct similar_program){ .set = i })))
			return false;
		best = &all->list.p[all->list.n - 1];
	}
	s[i].of = best->set;
	return extend(best, &s[i]);
}

struct set_size { int64_t names; struct nsx_str text; uint32_t i; };

NSX_ORDER(by_size, struct set_size, NSX_CMP(b->names, a->names), nsx_str_cmp(a->text, b->text), NSX_CMP(a->i, b->i))

bool
nsx_match_similar(struct nsx_match_set *s, size_t n)
{
	struct set_size *order = malloc((n + 1) * sizeof *order);
	struct similar_programs all = { 0 };
	bool good = order != NULL;

	for (uint32_t i = 0; i < n && good; i++)
		order[i] = (struct set_size){ names_of(&s[i]), s[i].names, i };
	if (good)
		qsort(order, n, sizeof *order, by_size);
	for (size_t i = 0; i < n && good; i++)
		good = place(&all, s, order[i].i);
	for (size_t i = 0; i < all.list.n; i++) {
		free(all.list.p[i].ids.p);
		free(all.list.p[i].profiles.p);
	}
	free(all.list.p);
	free(order);
	return good;
}
