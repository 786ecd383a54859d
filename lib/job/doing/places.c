/* places.c -- running time of threads by place, split over the native stacks that were sampled there. */
#include "job/doing/places.h"

#include <stdlib.h>

#include "base/sort.h"
#include "stream/kinds.h"

struct key { int64_t stack; uint32_t device, thread, path, cause, state, what, free, none; };

static bool
add_seen(struct nsx_doing_places *p, uint32_t place, int64_t stack)
{
	uint32_t *at;

	if (stack == NSX_ABSENT)
		return true;
	at = nsx_map_at(&p->seen_of, (struct nsx_key){ place, (uint64_t)stack });
	if (!at)
		return false;
	if (*at == NSX_NONE) {
		struct nsx_doing_seen s = { stack, 0, p->list.p[place].seen };

		if (!nsx_vec_push(&p->seen, s))
			return false;
		*at = p->list.p[place].seen = (uint32_t)p->seen.n - 1;
	}
	p->seen.p[*at].n++;
	return true;
}

bool
nsx_doing_places_add(struct nsx_doing_places *p, const struct nsx_doing_piece *x)
{
	struct key k = { x->stack, x->device, x->thread, x->path, x->cause, x->state, x->what, x->free, 0 };
	struct nsx_doing_place place = { x->device, x->thread, x->path,  x->cause, x->state,
					 x->what,   x->free,   x->stack, 0,        NSX_NONE };
	uint32_t at = nsx_intern(&p->keys, (struct nsx_str){ (const char *)&k, sizeof k });
	bool good = at != NSX_NONE && (at < p->list.n || nsx_vec_push(&p->list, place));

	if (good)
		p->list.p[at].ns += (nsx_u128)(x->end - x->start);
	for (size_t i = 0; i < x->nnative && good; i++)
		good = add_seen(p, at, x->native[i].stack);
	return good;
}

/* A stack's share while it is rounded. */
struct share { int64_t stack, n; nsx_u128 ns, rest; };

static int
by_fraction(const void *a, const void *b, const void *doing)
{
	const struct share *x = a, *y = b;

	return NSX_FIRST(NSX_CMP(y->rest, x->rest),
	                 nsx_str_cmp(nsx_doing_frames(doing, x->stack), nsx_doing_frames(doing, y->stack)));
}

int
nsx_doing_places_each(const struct nsx_doing_places *p, const struct nsx_doing *d, nsx_doing_part_fn *part, void *state)
{
	NSX_VEC(struct share) shares = { 0 };
	int rc = NSX_OK;

	for (size_t i = 0; i < p->list.n && rc == NSX_OK; i++) {
		const struct nsx_doing_place *place = &p->list.p[i];
		nsx_u128 n = 0, left = place->ns;

		shares.n = 0;
		for (uint32_t k = place->seen; k != NSX_NONE; k = p->seen.p[k].next) {
			n += (nsx_u128)p->seen.p[k].n;
			if (!nsx_vec_push(&shares, ((struct share){ p->seen.p[k].stack, p->seen.p[k].n, 0, 0 }))) {
				free(shares.p);
				return nsx_err_nomem(d->err, NULL);
			}
		}
		for (size_t k = 0; k < shares.n; k++) {
			struct share *s = &shares.p[k];

			s->ns = place->ns * (nsx_u128)s->n / n;
			s->rest = place->ns * (nsx_u128)s->n % n;
			left -= s->ns;
		}
		nsx_sort_with(shares.p, shares.n, sizeof *shares.p, by_fraction, d);
		for (size_t k = 0; k < shares.n && rc == NSX_OK; k++)
			rc = part(state, place, shares.p[k].stack, shares.p[k].ns + (k < left), shares.p[k].n);
		if (!shares.n)
			rc = part(state, place, NSX_ABSENT, place->ns, 0);
	}
	free(shares.p);
	return rc;
}

void
nsx_doing_places_free(struct nsx_doing_places *p)
{
	free(p->list.p);
	free(p->seen.p);
	nsx_intern_free(&p->keys);
	nsx_map_free(&p->seen_of);
}
