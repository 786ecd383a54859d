/* key.c -- the keys and the order of matched programs. No two keys are equal. */
#include "job/match/key.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/sort.h"

void
nsx_match_see(struct nsx_match_draft *d, const struct nsx_match_alias *a, int64_t id)
{
	bool dump = nsx_str_starts(a->digest, "d:");
	struct nsx_str *digest = dump ? &d->digest : &d->run;
	bool *one = dump ? &d->one_digest : &d->one_run;

	if (!d->seen) {
		d->seen = d->one_id = d->one_fingerprint = d->one_digest = d->one_run = true;
		d->p.id = id;
		d->p.name = a->name;
	}
	d->one_id &= d->p.id == id;
	if (a->fingerprint.len && d->p.fingerprint.len)
		d->one_fingerprint &= nsx_str_eq(a->fingerprint, d->p.fingerprint);
	else if (a->fingerprint.len)
		d->p.fingerprint = a->fingerprint;
	if (a->digest.len && digest->len)
		*one &= nsx_str_eq(a->digest, *digest);
	else if (a->digest.len)
		*digest = a->digest;
}

enum { LEVELS = 4 };

/* The key at d->level or at the next level for which this program has data. */
static void
put_key(struct nsx_match_draft *d, struct nsx_buf *b)
{
	struct nsx_str digest = d->digest.len && d->one_digest ? d->digest : d->one_run ? d->run : (struct nsx_str){ "",
		0 };

	b->len = 0;
	nsx_buf_str(b, d->p.name);
	if (d->p.id < 0) {
		d->level = LEVELS - 1;
		return;
	}
	nsx_buf_char(b, '@');
	if (d->level == 0 && !d->one_id)
		d->level++;
	if (d->level == 1 && !(d->one_fingerprint && d->p.fingerprint.len))
		d->level++;
	if (d->level == 2 && !digest.len)
		d->level++;
	if (d->level == 1)
		nsx_buf_str(b, d->p.fingerprint);
	else if (d->level == 2)
		nsx_buf_str(b, digest);
	else
		nsx_buf_fmt(b, "%" PRId64, d->p.id);
}

/* Programs whose keys are equal all move to their next level, until no keys change. */
static bool
make_keys(struct nsx_match_draft *d, size_t n, struct nsx_arena *arena)
{
	struct nsx_buf b = { 0 };
	bool again = true, good = true;

	while (again && good) {
		struct nsx_intern keys = { 0 };
		uint32_t *count = calloc(n + 1, sizeof *count);

		good = count != NULL;
		again = false;
		for (size_t i = 0; i < n && good; i++) {
			put_key(&d[i], &b);
			d[i].key = b.failed ? NSX_NONE : nsx_intern(&keys, nsx_buf_view(&b));
			good = d[i].key != NSX_NONE;
			if (good)
				count[d[i].key]++;
		}
		for (size_t i = 0; i < n && good; i++)
			if (count[d[i].key] > 1 && d[i].level < LEVELS - 1) {
				d[i].level++;
				again = true;
			}
		for (size_t i = 0; i < n && good && !again; i++) {
			d[i].p.key = nsx_arena_str(arena, nsx_intern_str(&keys, d[i].key));
			good = d[i].p.key.ptr != NULL;
		}
		free(count);
		nsx_intern_free(&keys);
	}
	nsx_buf_free(&b);
	return good;
}

NSX_ORDER(by_program, struct nsx_match_draft, NSX_CMP(a->p.id < 0, b->p.id < 0), NSX_CMP(a->p.id, b->p.id),
          nsx_str_cmp(a->p.name, b->p.name), nsx_str_cmp(a->p.key, b->p.key), NSX_CMP(a->order, b->order))

/* Equal keys are neighbours now: their ids and names are equal too. */
static bool
number_keys(struct nsx_match_draft *d, size_t n, struct nsx_arena *arena)
{
	struct nsx_buf b = { 0 };
	bool good = true;

	for (size_t i = 0, j; i < n && good; i = j) {
		for (j = i + 1; j < n && nsx_str_eq(d[i].p.key, d[j].p.key); j++)
			;
		for (size_t k = i + 1; k < j && good; k++) {
			b.len = 0;
			nsx_buf_str(&b, d[k].p.key);
			nsx_buf_fmt(&b, "#%zu", k - i + 1);
			d[k].p.key = nsx_arena_str(arena, nsx_buf_view(&b));
			good = !b.failed && d[k].p.key.ptr;
		}
	}
	nsx_buf_free(&b);
	return good;
}

bool
nsx_match_keys(struct nsx_match_draft *d, size_t n, struct nsx_arena *arena)
{
	if (!make_keys(d, n, arena))
		return false;
	qsort(d, n, sizeof *d, by_program);
	return number_keys(d, n, arena);
}
