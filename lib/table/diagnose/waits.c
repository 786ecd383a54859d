/* waits.c -- calls in which the host waited for the GPU, in the windows of the devices of its process. A process of
 * several devices waits for each of them, so its calls count with every one, as its steps do. */
#include <inttypes.h>
#include <stdlib.h>

#include "table/diagnose/diagnose.h"

/* Waits of a step from which on they are many: one for the loss and one for an optimizer are usual. */
enum { MANY = 4 };

static struct nsx_key
key_of(int64_t profile, int64_t pid)
{
	return (struct nsx_key){ (uint64_t)profile, (uint64_t)pid };
}

/* The devices of each process, each with the next one of the same. */
static bool
link_devices(struct nsx_look_at *a)
{
	const struct nsx_catalogue *cat = &a->steps.cat;
	struct nsx_look_waits *w = &a->waits;

	for (uint32_t i = 0; i < cat->devices.n; i++) {
		const struct nsx_cat_device *d = &cat->devices.p[i];
		uint32_t *first = NULL;

		if (d->profile != NSX_NONE && d->pid != NSX_ABSENT
		    && !(first = nsx_map_at(&w->first, key_of(cat->profiles.p[d->profile].number, d->pid))))
			return false;
		if (!nsx_vec_push(&w->next, first ? *first : NSX_NONE))
			return false;
		if (first)
			*first = i;
	}
	return true;
}

int
nsx_look_take_wait(struct nsx_look_at *a, const struct nsx_rec *call)
{
	struct nsx_look_waits *w = &a->waits;
	int64_t start = nsx_int(call, NSX_CALL_start, 0), dur = nsx_int(call, NSX_CALL_dur, 0);

	if (nsx_int(call, NSX_CALL_blocking, 0) != 1 || !a->stepped)
		return NSX_OK;
	if (!w->next.n && !link_devices(a))
		return nsx_err_nomem(a->err, NULL);
	for (uint32_t i = nsx_map_get(&w->first, key_of(nsx_int(call, NSX_CALL_profile, NSX_ABSENT),
	                                                nsx_int(call, NSX_CALL_pid, NSX_ABSENT)));
	     i != NSX_NONE; i = w->next.p[i])
		if (nsx_step_window_at(&a->kept, a->steps.cat.devices.p[i].number, start)) {
			w->count++;
			w->ns += dur > 0 ? (nsx_u128)dur : 0;
		}
	return NSX_OK;
}

bool
nsx_look_put_waits(struct nsx_look_at *a)
{
	const struct nsx_look_waits *w = &a->waits;

	if (!a->stepped || w->count < MANY * a->count)
		return false;
	nsx_buf_fmt(&a->text, "; the host also waits for the GPU in %s a step, %s in them",
	            nsx_look_each(w->count, a->count, "call").s, NSX_NS(nsx_look_mean(a, w->ns)));
	return true;
}

void
nsx_look_waits_free(struct nsx_look_waits *w)
{
	nsx_map_free(&w->first);
	free(w->next.p);
}
