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

static int
by_place(const void *a, const void *b)
{
	const struct nsx_twin *x = a, *y = b;

	return NSX_FIRST(NSX_CMP(x->pid, y->pid), NSX_CMP(x->cuda, y->cuda), NSX_CMP(x->last, y->last),
	                 nsx_str_cmp(x->schema, y->schema), NSX_CMP(x->at, y->at));
}

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
