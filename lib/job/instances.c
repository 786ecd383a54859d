/* instances.c -- collects the records of several devices of one instance until all have come. */
#include "job/instances.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

enum { FIRST_ROOM = 16 };   /* records */

struct nsx_instance_slot {
	struct nsx_key key;
	int64_t        order;     /* number of instances begun before it; -1 in an unused slot */
	unsigned char *records;   /* without `combine` */
	uint32_t       n, cap;    /* n: records added; cap: space for records */
};

/* An unused slot; NSX_NONE when out of memory. */
static uint32_t
unused_slot(struct nsx_instances *m)
{
	if (m->unused.n)
		return m->unused.p[--m->unused.n];
	if (m->slots.n >= NSX_NONE || !nsx_vec_room(&m->slots, 1) ||
	    (m->combine && !nsx_vec_room(&m->combined, m->size)))
		return NSX_NONE;
	m->combined.n += m->combine ? m->size : 0;
	m->slots.p[m->slots.n++] = (struct nsx_instance_slot){ .order = -1 };
	return (uint32_t)m->slots.n - 1;
}

/* The slot of key, begun if it is new; NULL when out of memory. */
static struct nsx_instance_slot *
slot_at(struct nsx_instances *m, struct nsx_key key)
{
	uint32_t *at = nsx_map_at(&m->at, key);

	if (at && *at == NSX_NONE && (*at = unused_slot(m)) != NSX_NONE) {
		m->slots.p[*at].key = key;
		m->slots.p[*at].order = m->begun++;
		m->slots.p[*at].n = 0;
	}
	return at && *at != NSX_NONE ? &m->slots.p[*at] : NULL;
}

/* Reserve space for one more record; false when out of memory. */
static bool
make_room(const struct nsx_instances *m, struct nsx_instance_slot *s, size_t participants)
{
	size_t first = participants && participants < FIRST_ROOM ? participants : FIRST_ROOM;
	size_t cap = s->cap ? (size_t)s->cap * 2 : first;
	unsigned char *records;

	if (s->n < s->cap)
		return true;
	records = cap > UINT32_MAX ? NULL : realloc(s->records, cap * m->size);
	if (!records)
		return false;
	s->records = records;
	s->cap = (uint32_t)cap;
	return true;
}

static unsigned char *
records_of(const struct nsx_instances *m, const struct nsx_instance_slot *s)
{
	return m->combine ? m->combined.p + (size_t)(s - m->slots.p) * m->size : s->records;
}

static int
complete(const struct nsx_instances *m, struct nsx_instance_slot *s)
{
	s->order = -1;
	return m->complete(m->state, s->key, records_of(m, s), m->combine ? 1 : s->n);
}

int
nsx_instances_add(struct nsx_instances *m, struct nsx_key key, const void *record, size_t participants,
                  struct nsx_err *err)
{
	struct nsx_instance_slot *s = slot_at(m, key);

	if (!s || (!m->combine && !make_room(m, s, participants)))
		return nsx_err_nomem(err, NULL);
	if (!m->combine)
		memcpy(s->records + (size_t)s->n * m->size, record, m->size);
	else if (s->n == 0)
		memcpy(records_of(m, s), record, m->size);
	else
		m->combine(records_of(m, s), record);
	return ++s->n == participants ? nsx_instances_close(m, key, err) : NSX_OK;
}

int
nsx_instances_close(struct nsx_instances *m, struct nsx_key key, struct nsx_err *err)
{
	struct nsx_instance_slot *s = &m->slots.p[nsx_map_get(&m->at, key)];

	nsx_map_del(&m->at, key);
	if (!nsx_vec_push(&m->unused, (uint32_t)(s - m->slots.p)))
		return nsx_err_nomem(err, NULL);
	return complete(m, s);
}

int
nsx_instances_finish(struct nsx_instances *m, struct nsx_err *err)
{
	struct nsx_sort_key *order = malloc((m->slots.n + 1) * sizeof *order);
	size_t n = 0;
	int rc = NSX_OK;

	if (!order)
		return nsx_err_nomem(err, NULL);
	for (size_t i = 0; i < m->slots.n; i++)
		if (m->slots.p[i].order >= 0)
			order[n++] = (struct nsx_sort_key){ { m->slots.p[i].order, 0, 0 }, (uint32_t)i };
	nsx_sort_keys(order, n);
	for (size_t i = 0; i < n && rc == NSX_OK; i++)
		rc = complete(m, &m->slots.p[order[i].i]);
	free(order);
	return rc;
}

void
nsx_instances_free(struct nsx_instances *m)
{
	for (size_t i = 0; i < m->slots.n; i++)
		free(m->slots.p[i].records);
	free(m->slots.p);
	free(m->unused.p);
	free(m->combined.p);
	nsx_map_free(&m->at);
}
