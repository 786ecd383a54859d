/* replica_groups.c -- the devices that run one instance of a collective together. */
#include "job/comm/replica_groups.h"

#include <stdlib.h>

#include "base/members.h"

static bool
is_listed(const struct nsx_catalogue *c, int64_t device)
{
	uint32_t at = nsx_cat_find_device(c, device);

	return at != NSX_NONE && c->devices.p[at].listed;
}

/* The devices of one groups record, joined into components: parent links, a root is its own parent. */
struct components { NSX_VEC(uint32_t) parent; NSX_VEC(int64_t) device; };

static uint32_t
root_of(struct components *j, uint32_t i)
{
	while (j->parent.p[i] != i)
		i = j->parent.p[i] = j->parent.p[j->parent.p[i]];
	return i;
}

/* The index in j of the device of this set, added if it is new; NSX_NONE when out of memory. */
static uint32_t
member_at(struct nsx_replica_groups *r, struct components *j, uint32_t set, int64_t device)
{
	uint32_t *at = nsx_map_at(&r->member_of, (struct nsx_key){ set, (uint64_t)device });
	uint32_t n = (uint32_t)j->parent.n;

	if (at && *at == NSX_NONE && nsx_vec_push(&j->parent, n) && nsx_vec_push(&j->device, device))
		*at = n;
	return at ? *at : NSX_NONE;
}

/* Join the devices of each group; false when out of memory. */
static bool
join_members(struct nsx_replica_groups *r, struct components *j, uint32_t set, const struct nsx_members *m)
{
	for (size_t g = 0; g < m->ends.n; g++) {
		uint32_t before = NSX_NONE;

		for (size_t i = nsx_members_begin(m, g); i < m->ends.p[g]; i++) {
			uint32_t at = member_at(r, j, set, m->ids.p[i]);

			if (at == NSX_NONE)
				return false;
			if (before != NSX_NONE)
				j->parent.p[root_of(j, at)] = root_of(j, before);
			before = at;
		}
	}
	return true;
}

/* Number the components and store the number of each member. */
static bool
number_components(struct nsx_replica_groups *r, const struct nsx_catalogue *c, struct components *j, uint32_t set)
{
	uint32_t base = (uint32_t)r->groups.n, *number = malloc((j->parent.n + 1) * sizeof *number);
	size_t first = r->devices.n;

	if (!number || !nsx_vec_room(&r->devices, j->parent.n)) {
		free(number);
		return false;
	}
	for (uint32_t i = 0; i < j->parent.n; i++)
		if (j->parent.p[i] == i) {
			number[i] = (uint32_t)r->groups.n;
			if (!nsx_vec_push(&r->groups, ((struct nsx_replica_group){ 0 }))) {
				r->groups.n = base;
				free(number);
				return false;
			}
		}
	for (uint32_t i = 0; i < j->parent.n; i++) {
		struct nsx_replica_group *g = &r->groups.p[number[root_of(j, i)]];
		uint32_t *at = nsx_map_at(&r->member_of, (struct nsx_key){ set, (uint64_t)j->device.p[i] });

		g->size++;
		g->present += is_listed(c, j->device.p[i]);
		if (at)
			*at = number[root_of(j, i)];
	}
	for (size_t g = base; g < r->groups.n; first += r->groups.p[g++].size)
		r->groups.p[g].first = first;
	/* Each goes behind those of its group, which `first` counts meanwhile. */
	for (uint32_t i = 0; i < j->parent.n; i++)
		r->devices.p[r->groups.p[number[root_of(j, i)]].first++] = j->device.p[i];
	r->devices.n = first;
	for (size_t g = base; g < r->groups.n; g++)
		r->groups.p[g].first -= r->groups.p[g].size;
	free(number);
	return true;
}

/* A set that is new. Of all sets together, too, there are at most NSX_MEMBERS_MAX devices: a few bytes can say many. */
static int
take_set(struct nsx_replica_groups *r, const struct nsx_catalogue *c, const struct nsx_rec *rec, uint32_t set,
         struct nsx_members *m, struct nsx_err *err)
{
	struct nsx_str s = nsx_string(rec, NSX_GROUPS_members);
	struct components j = { 0 };
	int rc = nsx_members_read(m, s, NSX_MEMBERS_MAX - r->devices.n);

	if (rc == NSX_EOF)
		return nsx_err_set(err, "groups %lld: want devices such as 0,1;2,3 or 0-7;8-15, at most %d of all "
		                   "sets, got \"%.*s\"", (long long)nsx_int(rec, NSX_GROUPS_groups, NSX_ABSENT),
		                   NSX_MEMBERS_MAX, s.len > 60 ? 60 : (int)s.len, s.ptr);
	bool good = rc == NSX_OK && join_members(r, &j, set, m) && number_components(r, c, &j, set);
	free(j.parent.p);
	free(j.device.p);
	return good ? NSX_OK : nsx_err_nomem(err, NULL);
}

int
nsx_replica_groups_take(struct nsx_replica_groups *r, const struct nsx_catalogue *c, const struct nsx_rec *rec,
                        struct nsx_err *err)
{
	int64_t number = nsx_int(rec, NSX_GROUPS_groups, NSX_ABSENT);
	uint32_t *at = nsx_map_at(&r->set_of, (struct nsx_key){ (uint64_t)number, 0 });
	struct nsx_members m = { 0 };
	int rc;

	if (!at)
		return nsx_err_nomem(err, NULL);
	if (*at != NSX_NONE)
		return NSX_OK;
	*at = (uint32_t)r->set_of.n;
	rc = take_set(r, c, rec, *at, &m, err);
	nsx_members_free(&m);
	return rc;
}

uint32_t
nsx_replica_group(const struct nsx_replica_groups *r, int64_t set, int64_t device)
{
	uint32_t at = nsx_map_get(&r->set_of, (struct nsx_key){ (uint64_t)set, 0 });

	return at == NSX_NONE ? at : nsx_map_get(&r->member_of, (struct nsx_key){ at, (uint64_t)device });
}

void
nsx_replica_groups_free(struct nsx_replica_groups *r)
{
	nsx_map_free(&r->set_of);
	nsx_map_free(&r->member_of);
	free(r->groups.p);
	free(r->devices.p);
	*r = (struct nsx_replica_groups){ 0 };
}
