/* batch.c -- see batch.h. */
#include "job/steps/batch.h"

#include "job/serving.h"

static struct nsx_key
key_of(int64_t profile, int64_t range)
{
	return (struct nsx_key){ (uint64_t)profile, (uint64_t)range };
}

bool
nsx_step_batch_take(struct nsx_step_set *s, const struct nsx_rec *range)
{
	int64_t id = nsx_int(range, NSX_RANGE_range, NSX_ABSENT);
	struct nsx_serving x;

	if (id == NSX_ABSENT || !nsx_serving_of(nsx_string(range, NSX_RANGE_name), &x))
		return true;
	uint32_t at = nsx_map_number(&s->batch_of, key_of(nsx_int(range, NSX_RANGE_profile, NSX_ABSENT), id));
	struct nsx_step_batch batch = { x.requests, x.tokens };

	if (!nsx_vec_next(&s->batches, at, batch))
		return false;
	s->batches.p[at] = batch;
	return true;
}

struct nsx_step_batch
nsx_step_batch_of(const struct nsx_step_set *s, const struct nsx_step_of *o)
{
	const struct nsx_step *x = &s->steps.p[o->step];
	uint32_t at = nsx_map_get(&s->batch_of, key_of(x->profile, x->range));

	return x->range == NSX_ABSENT || at == NSX_NONE ? (struct nsx_step_batch){ NSX_ABSENT, NSX_ABSENT }
	                                                 : s->batches.p[at];
}
