/* launches.c -- see launches.h. */
#include "source/launches.h"

#include <stdlib.h>
#include <string.h>

#include "source/pile.h"

bool
nsx_launches_room(struct nsx_launches *l, size_t n)
{
	struct nsx_launches bigger = { .nslots = 1024 };

	while (bigger.nslots / 8 * 5 < n)
		bigger.nslots *= 2;
	if (bigger.nslots <= l->nslots)
		return true;
	bigger.slots = nsx_big_alloc(bigger.nslots, sizeof *bigger.slots);
	if (!bigger.slots)
		return false;
	memset(bigger.slots, 0xff, bigger.nslots * sizeof *bigger.slots);
	for (size_t k = 0; k < l->nslots; k++) {
		const struct nsx_launch_slot *s = &l->slots[k];
		if (s->launch == NSX_NONE)
			continue;
		size_t i = nsx_launch_home(&bigger, s->process, s->id);
		while (bigger.slots[i].launch != NSX_NONE)
			i = (i + 1) & (bigger.nslots - 1);
		bigger.slots[i] = *s;
	}
	free(l->slots);
	l->slots = bigger.slots;
	l->nslots = bigger.nslots;
	return true;
}

uint32_t
nsx_launch_at(struct nsx_launches *l, uint32_t process, int64_t id)
{
	if (l->list.n >= l->nslots / 8 * 5 && !nsx_launches_room(l, l->list.n + 1))
		return NSX_NONE;
	for (size_t i = nsx_launch_home(l, process, id); ; i = (i + 1) & (l->nslots - 1)) {
		struct nsx_launch_slot *s = &l->slots[i];
		if (s->launch != NSX_NONE) {
			if (s->id == id && s->process == process)
				return s->launch;
			continue;
		}
		if (l->list.n >= NSX_NONE - 1 ||
		    !nsx_vec_push(&l->list, ((struct nsx_launch){ INT64_MAX, INT64_MIN, NSX_NONE, 0 })))
			return NSX_NONE;
		*s = (struct nsx_launch_slot){ id, process, (uint32_t)l->list.n - 1 };
		return s->launch;
	}
}

void
nsx_launches_close(struct nsx_launches *l)
{
	free(l->slots);
	l->slots = NULL;
	l->nslots = 0;
}

void
nsx_launches_free(struct nsx_launches *l)
{
	free(l->slots);
	free(l->list.p);
	*l = (struct nsx_launches){ 0 };
}
