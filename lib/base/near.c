/* near.c -- the name that was probably meant. Edit distance by Wagner and Fischer, with swaps of neighbours as one
 * change (optimal string alignment): three rows of the table at a time. */
#include "base/near.h"

#include <stdio.h>
#include <string.h>

static unsigned char
lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Whether a contains b. */
static bool
holds(struct nsx_str a, struct nsx_str b)
{
	for (size_t i = 0; i + b.len <= a.len; i++) {
		size_t k = 0;

		while (k < b.len && lower(a.ptr[i + k]) == lower(b.ptr[k]))
			k++;
		if (k == b.len)
			return true;
	}
	return false;
}

/* The number of letters to change, add or remove, or of pairs of neighbours to swap, to turn a into b; `most` + 1 for
 * any number above most. */
static unsigned
distance(struct nsx_str a, struct nsx_str b, unsigned most)
{
	/* row[k]: the distance between the first k letters of b and the letters of a so far; `before`: the same without
	 * the last of these letters of a; `earlier`: without the last two. */
	unsigned rows[3][NSX_NEAR_BYTES + 1], *row = rows[0], *before = rows[1], *earlier = rows[2];

	if ((a.len > b.len ? a.len - b.len : b.len - a.len) > most)
		return most + 1;
	for (unsigned k = 0; k <= b.len; k++)
		row[k] = k;
	for (unsigned i = 0; i < a.len; i++) {
		unsigned *spare = earlier, least;

		earlier = before;
		before = row;
		row = spare;
		least = row[0] = i + 1;
		for (unsigned k = 1; k <= b.len; k++) {
			unsigned change = before[k - 1] + (lower(a.ptr[i]) != lower(b.ptr[k - 1])),
			    more = 1 + (row[k - 1] < before[k] ? row[k - 1] : before[k]);

			row[k] = change < more ? change : more;
			if (i && k > 1 && lower(a.ptr[i]) == lower(b.ptr[k - 2]) &&
			    lower(a.ptr[i - 1]) == lower(b.ptr[k - 1]) && earlier[k - 2] + 1 < row[k])
				row[k] = earlier[k - 2] + 1;
			least = row[k] < least ? row[k] : least;
		}
		if (least > most)
			return most + 1;
	}
	return row[b.len] <= most ? row[b.len] : most + 1;
}

void
nsx_near_offer(struct nsx_near *n, struct nsx_str name)
{
	unsigned most = n->want.len < 3 ? 1 : (unsigned)(n->want.len / 3), cost;
	struct nsx_str best;
	size_t known = n->seen.n;
	uint32_t id;

	if (!name.len || name.len > NSX_NEAR_BYTES || !n->want.len || n->want.len > NSX_NEAR_BYTES ||
	    known >= NSX_NEAR_NAMES)
		return;
	id = nsx_intern(&n->seen, name);
	if (id == NSX_NONE)
		n->failed = true;
	if (id == NSX_NONE || id < known)
		return;
	if (n->cost && n->cost - 1 < most)
		most = n->cost - 1;
	cost = distance(name, n->want, most);
	if (cost > 1 && n->want.len >= 3 && holds(name, n->want))
		cost = 1;
	if (cost > most)
		return;
	if (n->cost && cost == n->cost - 1) {
		best = nsx_near_best(n);
		if (name.len > best.len || (name.len == best.len && nsx_str_cmp(name, best) > 0))
			return;
	}
	n->cost = cost + 1;
	n->best = id;
}

struct nsx_str
nsx_near_best(const struct nsx_near *n)
{
	return n->cost ? nsx_intern_str(&n->seen, n->best) : (struct nsx_str){ "", 0 };
}

void
nsx_near_free(struct nsx_near *n)
{
	nsx_intern_free(&n->seen);
	n->cost = 0;
	n->failed = false;
}

struct nsx_near_hint
nsx_near_hint(const struct nsx_near *n)
{
	struct nsx_near_hint hint = { "" };
	struct nsx_str best = nsx_near_best(n);

	if (best.len && !nsx_str_eq(best, n->want) && best.len + sizeof "; did you mean ?" <= sizeof hint.text)
		snprintf(hint.text, sizeof hint.text, "; did you mean %.*s?", (int)best.len, best.ptr);
	return hint;
}

struct nsx_near_hint
nsx_near_hint_among(const char *list, char sep, struct nsx_str want)
{
	struct nsx_near near = { .want = want };
	const char end[] = { sep, '\0' };

	for (const char *p = list; ; p++) {
		size_t n = strcspn(p, end);

		nsx_near_offer(&near, (struct nsx_str){ p, n });
		p += n;
		if (!*p)
			break;
	}
	struct nsx_near_hint hint = nsx_near_hint(&near);
	nsx_near_free(&near);
	return hint;
}
