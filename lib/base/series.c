/* series.c -- see series.h. */
#include "base/series.h"

#include <stdlib.h>

uint32_t
nsx_series_find(struct nsx_series *s, uint32_t last, struct nsx_key key)
{
	uint32_t n = nsx_map_number(&s->of, key);

	if (!nsx_vec_next(&s->keys, n, ((struct nsx_series_key){ key, NSX_NONE })))
		return NSX_NONE;
	if (last != NSX_NONE)
		s->keys.p[last].next = n;
	return n;
}

void
nsx_series_free(struct nsx_series *s)
{
	nsx_map_free(&s->of);
	free(s->keys.p);
	*s = (struct nsx_series){ .keys = { .n = 0 } };
}
