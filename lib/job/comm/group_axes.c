/* group_axes.c -- see group_axes.h. */
#include "job/comm/group_axes.h"

#include <stdlib.h>

#include "base/sort.h"

void
nsx_group_axes_need(struct nsx_reader *in)
{
	nsx_reader_need(in, NSX_COMMUNICATOR, NSX_EVERY);
}

int
nsx_group_axes_take(struct nsx_group_axes *g, const struct nsx_rec *rec, struct nsx_err *err)
{
	const struct nsx_communicator fresh = { .group = NSX_NONE, .name = NSX_NONE };
	uint32_t comm;

	if (rec->kind->id != NSX_COMMUNICATOR)
		return NSX_OK;
	comm = nsx_intern(&g->ids, nsx_string(rec, NSX_COMMUNICATOR_comm_id));
	struct nsx_communicator_rank r = { comm, nsx_int(rec, NSX_COMMUNICATOR_device, NSX_ABSENT),
	                                   nsx_int(rec, NSX_COMMUNICATOR_rank, NSX_ABSENT) };

	if (!nsx_vec_next(&g->comms, comm, fresh)
	    || !nsx_vec_push(&g->ranks, r))
		return nsx_err_nomem(err, NULL);
	struct nsx_communicator *c = &g->comms.p[comm];
	int64_t size = nsx_int(rec, NSX_COMMUNICATOR_ranks, 0);

	struct nsx_str name = nsx_string(rec, NSX_COMMUNICATOR_name);

	c->n++;
	c->size = size > c->size ? size : c->size;
	if (c->name == NSX_NONE && name.len && (c->name = nsx_intern(&g->names, name)) == NSX_NONE)
		return nsx_err_nomem(err, NULL);
	return NSX_OK;
}

NSX_ORDER(by_comm, struct nsx_communicator_rank, NSX_CMP(a->comm, b->comm), NSX_CMP(a->device, b->device))

/* Number the devices by their ranks in the first communicator of all devices that are in any, if there is one whose
 * ranks are all known. False when out of memory. */
static bool
place_by_rank(struct nsx_group_axes *g)
{
	struct nsx_map devices = { 0 };
	uint32_t world = 0;
	bool good = true;

	for (size_t i = 0; good && i < g->ranks.n; i++)
		good = nsx_map_number(&devices, (struct nsx_key){ (uint64_t)g->ranks.p[i].device, 0 }) != NSX_NONE;
	while (world < g->comms.n && (g->comms.p[world].n != devices.n
	       || g->comms.p[world].size != (int64_t)devices.n))
		world++;
	nsx_map_free(&devices);
	for (size_t i = 0; i < g->ranks.n; i++)
		if (g->ranks.p[i].comm == world && g->ranks.p[i].rank < 0)
			return good;
	for (size_t i = 0; good && i < g->ranks.n; i++)
		good = g->ranks.p[i].comm != world
		       || nsx_axes_place(&g->axes, g->ranks.p[i].device, g->ranks.p[i].rank);
	return good;
}

/* Give the name of a communicator to its group. False when out of memory. */
static bool
call_group(struct nsx_group_axes *g, const struct nsx_communicator *c)
{
	if (!nsx_vec_reach(&g->called, c->group, &(uint32_t){ NSX_NONE }))
		return false;
	if (g->called.p[c->group] == NSX_NONE)
		g->called.p[c->group] = c->name;
	return true;
}

static bool
add_communicators(struct nsx_group_axes *g)
{
	bool good = true;

	nsx_sort(g->ranks.p, g->ranks.n, by_comm);
	for (size_t i = 0, n; good && i < g->ranks.n; i += n) {
		struct nsx_communicator *c = &g->comms.p[g->ranks.p[i].comm];

		n = c->n;
		g->scratch.n = 0;
		for (size_t k = 0; good && k < n; k++)
			good = nsx_vec_push(&g->scratch, g->ranks.p[i + k].device);
		if (good)
			c->group = nsx_axes_add(&g->axes, g->scratch.p, n, c->size > (int64_t)n ? c->size : (int64_t)n);
		good = good && c->group != NSX_NONE && call_group(g, c);
	}
	return good;
}

/* The groups of all metadata. False when out of memory. */
static bool
begin(struct nsx_group_axes *g, const struct nsx_replica_groups *r)
{
	if (g->begun)
		return true;
	g->begun = true;
	if (!r->groups.n && !place_by_rank(g))
		return false;
	for (size_t i = 0; i < r->groups.n; i++) {
		const struct nsx_replica_group *x = &r->groups.p[i];
		uint32_t group;

		g->scratch.n = 0;
		if (!nsx_vec_room(&g->scratch, x->size))
			return false;
		for (size_t k = 0; k < x->size; k++)
			g->scratch.p[k] = r->devices.p[x->first + k];
		group = nsx_axes_add(&g->axes, g->scratch.p, x->size, x->size);
		if (group == NSX_NONE || !nsx_vec_push(&g->of_replica, group))
			return false;
	}
	return add_communicators(g);
}

uint32_t
nsx_group_axes_of(struct nsx_group_axes *g, const struct nsx_comm *comm, const struct nsx_collective *of, size_t n)
{
	int64_t size = of->group != NSX_ABSENT ? of->group : of->single ? 0 : (int64_t)n;

	if (!begin(g, &comm->groups))
		return NSX_NONE;
	if (of->replica < g->of_replica.n)
		return g->of_replica.p[of->replica];
	if (of->comm_id != NSX_NONE) {
		uint32_t id = nsx_intern_find(&g->ids, nsx_cat_str(&comm->cat, of->comm_id));

		if (id != NSX_NONE)
			return g->comms.p[id].group;
	}
	g->scratch.n = 0;
	if (!nsx_vec_room(&g->scratch, n + 1))
		return NSX_NONE;
	/* Some of them would make another group of each set of devices that were captured. */
	for (size_t i = 0; (int64_t)n == size && i < n; i++)
		g->scratch.p[g->scratch.n++] = of[i].device;
	return nsx_axes_add(&g->axes, g->scratch.p, g->scratch.n, size);
}

bool
nsx_group_axes_settle(struct nsx_group_axes *g, const struct nsx_replica_groups *r, int64_t devices)
{
	return begin(g, r) && nsx_axes_settle(&g->axes, devices);
}

struct nsx_str
nsx_group_axes_called(const struct nsx_group_axes *g, uint32_t group)
{
	uint32_t name = group < g->called.n ? g->called.p[group] : NSX_NONE;

	return name == NSX_NONE ? NSX_STR("") : nsx_intern_str(&g->names, name);
}

void
nsx_group_axes_free(struct nsx_group_axes *g)
{
	nsx_axes_free(&g->axes);
	free(g->of_replica.p);
	nsx_intern_free(&g->ids);
	free(g->comms.p);
	free(g->ranks.p);
	nsx_intern_free(&g->names);
	free(g->called.p);
	free(g->scratch.p);
	*g = (struct nsx_group_axes){ 0 };
}
