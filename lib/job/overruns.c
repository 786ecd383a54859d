/* overruns.c -- operations that still run when the next one of their stream begins. */
#include "job/overruns.h"

#include <stdlib.h>

#include "base/num.h"

bool
nsx_overruns_take(struct nsx_overruns *o, uint64_t device, int64_t stream, int64_t start, int64_t end, uint64_t op)
{
	uint32_t *at = nsx_map_at(&o->of, (struct nsx_key){ device, (uint64_t)stream });
	struct nsx_overrun_stream *s;

	if (at && *at == NSX_NONE && nsx_vec_push(&o->streams, ((struct nsx_overrun_stream){ .end = INT64_MIN })))
		*at = (uint32_t)(o->streams.n - 1);
	if (!at || *at == NSX_NONE)
		return false;
	s = &o->streams.p[*at];
	if (start < s->end && !s->counted) {
		s->counted = true;
		s->over = nsx_sub_sat(s->end, start, NULL);
		o->early++;
		o->early_ns = nsx_add_sat(o->early_ns, s->over, NULL);
	}
	if (end < s->end && !s->outlasts) {
		s->outlasts = true;
		o->outlasting++;
		o->outlasting_ns = nsx_add_sat(o->outlasting_ns, s->over, NULL);
		if (s->over > o->longest) {
			o->longest = s->over;
			o->longest_op = s->op;
		}
	}
	if (end >= s->end)
		*s = (struct nsx_overrun_stream){ .end = end, .op = op };
	return true;
}

void
nsx_overruns_free(struct nsx_overruns *o)
{
	nsx_map_free(&o->of);
	free(o->streams.p);
}
