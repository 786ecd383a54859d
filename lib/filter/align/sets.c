/* sets.c -- instances of collectives, the sets of devices that take part in them, and which of these are used. */
#include "filter/align/solving.h"

#include <stdlib.h>

/* With this many collectives of all devices, those of fewer devices are not needed. */
enum { ENOUGH = 8 };

/* The set of these n records; NSX_NONE when out of memory. */
static uint32_t
set_of(struct al_solving *s, uint32_t first, uint32_t n, uint32_t *devices)
{
	const struct al_job *j = s->j;
	const struct al_obs *o = &j->obs.p[first];
	struct al_set set = { .ndev = n, .first = first, .clock = j->devices.p[o->device].clock, .pairs = true };

	for (uint32_t i = 0; i < n; i++) {
		devices[i] = o[i].device;
		set.apart = set.apart || j->devices.p[o[i].device].clock != set.clock;
	}
	uint32_t at = nsx_intern(&s->members, (struct nsx_str){ (const char *)devices, n * sizeof *devices });
	if (at != NSX_NONE && at == s->sets.n && !nsx_vec_push(&s->sets, set))
		return NSX_NONE;
	return at;
}

int
nsx_align_find_instances(struct al_solving *s)
{
	struct al_job *j = s->j;
	const struct al_obs *o = j->obs.p;
	uint32_t *devices = malloc((j->devices.n + 1) * sizeof *devices);
	int64_t twice = 0;
	int rc = devices ? NSX_OK : nsx_err_nomem(j->err, NULL);

	for (size_t i = 0, k; i < j->obs.n && rc == NSX_OK; i = k) {
		bool distinct = true;

		for (k = i + 1; k < j->obs.n && o[k].collective == o[i].collective &&
		     o[k].execution == o[i].execution && o[k].occurrence == o[i].occurrence; k++)
			distinct = distinct && o[k].device != o[k - 1].device;
		twice += !distinct;
		if (!distinct || k - i < 2)
			continue;
		uint32_t at = set_of(s, (uint32_t)i, (uint32_t)(k - i), devices);
		if (at == NSX_NONE || !nsx_vec_push(&j->instances,
		    ((struct al_instance){ (uint32_t)i, (uint32_t)(k - i), at }))) {
			rc = nsx_err_nomem(j->err, NULL);
		} else {
			bool pairs = j->collectives.p[o[i].collective].pairs;
			s->sets.p[at].npairs += pairs;
			s->sets.p[at].ninst += !pairs;
			s->sets.p[at].pairs = s->sets.p[at].ninst == 0;
		}
	}
	free(devices);
	nsx_diag_add(j->diags, NSX_WARNING, "", twice, "collectives with two records on one device: not used");
	return rc;
}

bool
nsx_align_counts(const struct al_solving *s, const struct al_instance *in)
{
	const struct al_set *set = &s->sets.p[in->set];

	return set->used && (set->pairs || !s->j->collectives.p[s->j->obs.p[in->first].collective].pairs);
}

/* Whether the set's clocks are not all connected yet; if `connect`, they are afterwards. */
static bool
opens(struct al_solving *s, const struct al_set *set, bool connect)
{
	const struct al_job *j = s->j;
	bool any = false;

	for (uint32_t i = 0; i < set->ndev; i++) {
		uint32_t a = al_root_of(s, set->clock),
		    b = al_root_of(s, j->devices.p[j->obs.p[set->first + i].device].clock);
		any = any || a != b;
		if (connect && a != b)
			s->parent[a < b ? b : a] = a < b ? a : b;
	}
	return any;
}

void
nsx_align_choose_sets(struct al_solving *s)
{
	for (size_t i = 0; i < s->sets.n; i++)
		if (!s->sets.p[i].pairs && s->sets.p[i].apart) {
			s->sets.p[i].used = true;
			opens(s, &s->sets.p[i], true);
		}
	for (size_t i = 0; i < s->sets.n; i++)
		s->sets.p[i].used = s->sets.p[i].used || (s->sets.p[i].pairs && s->sets.p[i].apart &&
		                                          opens(s, &s->sets.p[i], false));
	for (size_t i = 0; i < s->sets.n; i++)
		if (s->sets.p[i].used && s->sets.p[i].pairs)
			opens(s, &s->sets.p[i], true);
	for (uint32_t c = 0; c < s->j->nclocks; c++)
		s->devices[al_root_of(s, c)] += s->weight[c];
	for (size_t i = 0; i < s->sets.n; i++) {
		struct al_set *set = &s->sets.p[i];
		uint32_t root = al_root_of(s, set->clock);
		if (set->used && set->ndev == s->devices[root] && (s->enough[root] == NSX_NONE ||
		    s->sets.p[s->enough[root]].pairs))
			s->enough[root] = (uint32_t)i;
	}
	/* One set that is enough, or the only one, makes others of its component unnecessary. */
	for (size_t i = 0; i < s->sets.n; i++) {
		uint32_t *enough = &s->enough[al_root_of(s, s->sets.p[i].clock)];
		if (s->sets.p[i].used && *enough != NSX_NONE && *enough != i
		    && (s->sets.p[*enough].pairs || s->sets.p[*enough].ninst < ENOUGH))
			*enough = NSX_NONE;
	}
	for (size_t i = 0; i < s->sets.n; i++) {
		uint32_t enough = s->enough[al_root_of(s, s->sets.p[i].clock)];
		s->sets.p[i].used = s->sets.p[i].used && (enough == NSX_NONE || enough == i);
	}
}
