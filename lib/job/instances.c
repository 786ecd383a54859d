/* instances.c -- bring together what devices did of one and the same thing, and hold it only until all of them did it. */
#include "job/instances.h"

#include <stdlib.h>

#include "base/sort.h"

struct nsx_meet_slot {
	struct nsx_key key;
	int64_t        turn;    /* things begun before it; -1 in a free slot */
	NSX_VEC(struct nsx_meet_part) parts;
};

/* The slot of key, begun if there is none; NULL when out of memory. */
static struct nsx_meet_slot *
slot_at(struct nsx_meet *m, struct nsx_key key)
{
	uint32_t *at;

	if (m->unused.n == 0) {
		if (m->slots.n >= NSX_NONE || !nsx_vec_room(&m->slots, 1) || !nsx_vec_push(&m->unused, (uint32_t)m->slots.n))
			return NULL;
		m->slots.p[m->slots.n++] = (struct nsx_meet_slot){ .turn = -1 };
	}
	at = nsx_map_at(&m->at, key);
	if (!at)
		return NULL;
	if (*at == NSX_NONE) {
		*at = m->unused.p[--m->unused.n];
		m->slots.p[*at].key = key;
		m->slots.p[*at].turn = m->begun++;
		m->slots.p[*at].parts.n = 0;
	}
	return &m->slots.p[*at];
}

int
nsx_meet_add(struct nsx_meet *m, struct nsx_key key, const struct nsx_meet_part *part, size_t expected, struct nsx_err *err)
{
	struct nsx_meet_slot *s = slot_at(m, key);

	if (!s || !nsx_vec_push(&s->parts, *part))
		return nsx_err_nomem(err, NULL);
	if (s->parts.n != expected)
		return NSX_OK;
	s->turn = -1;
	nsx_map_del(&m->at, key);
	if (!nsx_vec_push(&m->unused, (uint32_t)(s - m->slots.p)))
		return nsx_err_nomem(err, NULL);
	return m->whole(m->state, key, s->parts.p, s->parts.n);
}

int
nsx_meet_rest(struct nsx_meet *m, struct nsx_err *err)
{
	struct nsx_sort_key *order = malloc((m->slots.n + 1) * sizeof *order);
	size_t n = 0;
	int rc = NSX_OK;

	if (!order)
		return nsx_err_nomem(err, NULL);
	for (size_t i = 0; i < m->slots.n; i++)
		if (m->slots.p[i].turn >= 0)
			order[n++] = (struct nsx_sort_key){ { m->slots.p[i].turn, 0, 0 }, (uint32_t)i };
	nsx_sort_keys(order, n);
	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		struct nsx_meet_slot *s = &m->slots.p[order[i].i];

		s->turn = -1;
		rc = m->whole(m->state, s->key, s->parts.p, s->parts.n);
	}
	free(order);
	return rc;
}

void
nsx_meet_free(struct nsx_meet *m)
{
	for (size_t i = 0; i < m->slots.n; i++)
		free(m->slots.p[i].parts.p);
	free(m->slots.p);
	free(m->unused.p);
	nsx_map_free(&m->at);
}

/* ---- who runs a program ---- */

/* Add k to the number under key; false when out of memory. */
static bool
add_to(struct nsx_map *m, struct nsx_key key, uint32_t k)
{
	uint32_t *at = nsx_map_at(m, key);

	if (at)
		*at = *at == NSX_NONE ? k : *at + k;
	return at != NULL;
}

/* Whether key is new in m; it is not any more. False in *good when out of memory. */
static bool
is_new(struct nsx_map *m, struct nsx_key key, bool *good)
{
	uint32_t *at = nsx_map_at(m, key);

	*good = at != NULL;
	if (!at || *at != NSX_NONE)
		return false;
	*at = 0;
	return true;
}

int
nsx_crew_meta(struct nsx_crew *c, const struct nsx_rec *rec, struct nsx_err *err)
{
	bool good = true;

	if (rec->kind->id == NSX_DEVICE) {
		struct nsx_key device = { (uint64_t)nsx_int(rec, NSX_DEVICE_device, -1), 0 };
		struct nsx_key profile = { (uint64_t)nsx_int(rec, NSX_DEVICE_profile, -1), 0 };

		if (is_new(&c->device_seen, device, &good)) {
			c->devices++;
			good = add_to(&c->devices_of, profile, 1);
		}
	} else if (rec->kind->id == NSX_ALIAS) {
		uint64_t profile = (uint64_t)nsx_int(rec, NSX_ALIAS_profile, -1), program = (uint64_t)nsx_int(rec, NSX_ALIAS_program, -1);

		if (is_new(&c->aliased, (struct nsx_key){ profile, program }, &good)) {
			uint32_t n = nsx_map_get(&c->devices_of, (struct nsx_key){ profile, 0 });

			good = add_to(&c->runners_of, (struct nsx_key){ program, 0 }, n == NSX_NONE ? 0 : n);
		}
	}
	return good ? NSX_OK : nsx_err_nomem(err, NULL);
}

size_t
nsx_crew_of(const struct nsx_crew *c, int64_t program)
{
	uint32_t n = nsx_map_get(&c->runners_of, (struct nsx_key){ (uint64_t)program, 0 });

	return n == NSX_NONE ? c->devices : n;
}

void
nsx_crew_free(struct nsx_crew *c)
{
	nsx_map_free(&c->devices_of);
	nsx_map_free(&c->aliased);
	nsx_map_free(&c->runners_of);
	nsx_map_free(&c->device_seen);
}
