/* twins.c -- see twins.h. Process and ordinal alone are no evidence: those of containers repeat on every host. */
#include "job/twins.h"


#include "base/map.h"
#include "base/sort.h"
#include "stream/kinds.h"

enum { SAME = 1000000 };   /* ns: clocks of two profilers of one host differ by less */

/* The profiler: its word, or for exports of nsys, whose schema is a number, none. */
static struct nsx_str
profiler_of(const struct nsx_twin *d)
{
	size_t n = 0;

	while (n < d->schema.len && d->schema.ptr[n] >= 'a' && d->schema.ptr[n] <= 'z')
		n++;
	return (struct nsx_str){ d->schema.ptr, n };
}

NSX_ORDER(by_place, struct nsx_twin, NSX_CMP(a->pid, b->pid), NSX_CMP(a->cuda, b->cuda), NSX_CMP(a->last, b->last),
          nsx_str_cmp(a->schema, b->schema), NSX_CMP(a->at, b->at))

void
nsx_twins_find(struct nsx_twin *list, size_t n)
{
	nsx_sort(list, n, by_place);
	for (size_t i = 0; i < n; i++) {
		struct nsx_twin *d = &list[i];

		d->of = NSX_NONE;
		if (d->pid == NSX_ABSENT || d->last == INT64_MIN)
			continue;
		for (size_t k = i; k-- > 0 && d->of == NSX_NONE;) {
			const struct nsx_twin *e = &list[k];
			if (e->pid != d->pid || e->cuda != d->cuda || e->last == INT64_MIN ||
			    (uint64_t)d->last - (uint64_t)e->last > SAME)
				break;
			if (!nsx_str_eq(profiler_of(d), profiler_of(e)))
				d->of = e->at;
		}
	}
}

bool
nsx_numbers_by_ranks(struct nsx_str schema)
{
	return nsx_str_starts(schema, "kineto");
}
