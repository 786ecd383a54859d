/* communication.c -- properties of each device's record of a collective, from the metadata of the stream. */
#include "job/comm/communication.h"

#include <stdlib.h>


/* How the bandwidth of a kind of collective is defined, as in nccl-tests: the algorithm bandwidth counts `all` ? the
 * bytes of the whole group : those of one device; the bus bandwidth is that times wires * (n-1)/n, or times 1 if wires
 * is 0. n: group size if it is not fixed by the kind. */
struct measure { struct nsx_str kind; bool all; int wires; int64_t n; };
#define KIND(text) { text, sizeof(text) - 1 }

static const struct measure measures[] = {
	{ KIND("all-gather"),           true,  1, 0 },
	{ KIND("reduce-scatter"),       true,  1, 0 },
	{ KIND("all-reduce"),           false, 2, 0 },
	{ KIND("collective-permute"),   false, 0, 2 },
	{ KIND("send"),                 false, 0, 2 },
	{ KIND("recv"),                 false, 0, 2 },
	{ KIND("collective-broadcast"), false, 0, 0 },
	{ KIND("collective-reduce"),    false, 0, 0 },
	{ KIND("broadcast"),            false, 0, 0 },
	{ KIND("reduce"),               false, 0, 0 },
	{ KIND("send-recv"),            false, 0, 0 },
	{ KIND("host-to-device"),       false, 0, 1 },
	{ KIND("device-to-host"),       false, 0, 1 },
	{ KIND(""),                     false, 1, 0 },   /* all-to-all, ragged-all-to-all, unknown */
};

static const struct measure *
measure_of(struct nsx_str kind)
{
	const struct measure *m = measures;

	while (m->kind.len && !nsx_str_eq(kind, m->kind))
		m++;
	return m;
}

void
nsx_comm_bandwidth(struct nsx_str kind, int64_t bytes, int64_t n, int64_t ns, double *algbw, double *busbw)
{
	const struct measure *m = measure_of(kind);

	/* A byte per nanosecond is 1e9 bytes per second. */
	*algbw = (double)bytes * (m->all ? (double)n : 1) / (double)ns;
	*busbw = m->wires ? *algbw * (double)(n - 1) * m->wires / (double)n : *algbw;
}

void
nsx_comm_need(const struct nsx_comm *c, struct nsx_reader *in)
{
	nsx_cat_need(&c->cat, in);
	nsx_reader_need(in, NSX_GROUPS, NSX_EVERY);
}

int
nsx_comm_take(struct nsx_comm *c, const struct nsx_rec *rec, struct nsx_err *err)
{
	/* Cached clocks may be outdated. */
	if (rec->kind->id == NSX_DEVICE || rec->kind->id == NSX_CLOCK)
		c->clocks.n = 0;
	if (rec->kind->id == NSX_GROUPS && nsx_replica_groups_take(&c->groups, &c->cat, rec, err) != NSX_OK)
		return NSX_ERR;
	return nsx_cat_take(&c->cat, rec, err);
}

void
nsx_comm_free(struct nsx_comm *c)
{
	nsx_cat_free(&c->cat);
	nsx_replica_groups_free(&c->groups);
	nsx_map_free(&c->clock_number);
	nsx_map_free(&c->time_number);
	free(c->clocks.p);
	*c = (struct nsx_comm){ 0 };
}

/* ---- clocks ---- */

/* The number of a clock; NSX_NONE when out of memory. */
static uint32_t
clock_number(struct nsx_comm *c, bool aligned, int64_t of)
{
	size_t known = c->clock_number.n;
	uint32_t number = nsx_map_number(&c->clock_number, (struct nsx_key){ aligned, (uint64_t)of });

	c->own_clocks += !aligned && c->clock_number.n > known;
	return number;
}

uint32_t
nsx_comm_clock(struct nsx_comm *c, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_device(&c->cat, rec);

	if (at == NSX_NONE)
		return NSX_NONE;
	if (at < c->clocks.n && c->clocks.p[at] != NSX_NONE)
		return c->clocks.p[at];
	const struct nsx_cat_device *d = &c->cat.devices.p[at];

	if (!d->aligned && !d->listed)
		return clock_number(c, false, nsx_field_int(rec, NSX_ROLE_PROFILE, NSX_ABSENT));
	if (!nsx_vec_reach(&c->clocks, at, &(uint32_t){ NSX_NONE }))
		return NSX_NONE;
	int64_t profile = d->profile == NSX_NONE ? NSX_ABSENT : c->cat.profiles.p[d->profile].number;
	/* A clock without a component belongs to the first one. */
	int64_t component = d->component == NSX_ABSENT ? 0 : d->component;

	return c->clocks.p[at] = clock_number(c, d->aligned, d->aligned ? component : profile);
}

bool
nsx_comm_one_clock(const struct nsx_comm *c)
{
	const struct nsx_cat_device *d = c->cat.devices.p;

	for (size_t i = 1; i < c->cat.devices.n; i++)
		if (d[i].aligned != d->aligned || (d->aligned ? d[i].component != d->component
		    : d[i].profile != d->profile))
			return false;
	return c->cat.devices.n > 0;
}

/* ---- records ---- */

bool
nsx_is_comm(struct nsx_comm *c, const struct nsx_rec *rec)
{
	return rec->kind->id == NSX_THUNK && nsx_cat_communicates(&c->cat, rec);
}

bool
nsx_is_comm_op(struct nsx_comm *c, const struct nsx_rec *rec)
{
	bool alone = rec->kind->id == NSX_OP && nsx_cat_communicates(&c->cat, rec) &&
	    !nsx_cat_inst_communicates(&c->cat, rec);

	c->ops += alone;
	return alone;
}

/* Of the instruction, on that device. */
static uint32_t
replica_of(const struct nsx_comm *c, const struct nsx_cat_inst *in, int64_t device)
{
	return in->groups == NSX_ABSENT ? NSX_NONE : nsx_replica_group(&c->groups, in->groups, device);
}

uint32_t
nsx_comm_replica(struct nsx_comm *c, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_inst(&c->cat, rec);

	return at == NSX_NONE ? at : replica_of(c, &c->cat.insts.p[at], nsx_field_int(rec, NSX_ROLE_DEVICE,
	    NSX_ABSENT));
}

static void
find_group(const struct nsx_comm *c, const struct nsx_cat_inst *in, const struct nsx_rec *thunk,
           struct nsx_comm_record *r)
{
	/* If the kind was recognised by name alone, sizes and groups were never looked up. */
	bool told = in->opcode != NSX_NONE || in->bytes != NSX_ABSENT, has_groups = in->groups != NSX_ABSENT;
	int64_t device = nsx_int(thunk, NSX_THUNK_device, NSX_ABSENT),
	    n = measure_of(nsx_cat_str(&c->cat, in->collective))->n;
	uint32_t at;

	n = told || n == 1 ? n : 0;
	r->has_group = n != 0;
	r->group = n;
	if (n == 1) {
		/* A copy between a device and its host has no other participants. */
		r->group_at = device;
		r->participants = 1;
		return;
	}
	r->replica = at = replica_of(c, in, device);
	if (at != NSX_NONE) {
		const struct nsx_replica_group *g = &c->groups.groups.p[at];

		r->group_at = at;
		r->participants = g->present;
		r->incomplete = g->present < g->size;
		r->has_group = true;
		r->group = n ? n : g->size;
		return;
	}
	r->participants = c->cat.ndevices;
	/* No groups in the record: all devices. */
	if (!n && !has_groups && c->cat.ndevices && in->collective != NSX_NONE && told) {
		r->has_group = true;
		r->group = c->cat.ndevices;
	}
}

int
nsx_comm_describe(struct nsx_comm *c, const struct nsx_rec *thunk, struct nsx_comm_record *r, struct nsx_err *err)
{
	uint32_t at = nsx_cat_inst(&c->cat, thunk);
	int64_t dur = nsx_int(thunk, NSX_THUNK_dur, 0);

	if (at == NSX_NONE)
		return nsx_err_nomem(err, NULL);
	const struct nsx_cat_inst *in = &c->cat.insts.p[at];

	*r = (struct nsx_comm_record){ .inst = at, .kind = in->collective, .has_bytes = in->bytes != NSX_ABSENT,
	                               .group_at = -1, .replica = NSX_NONE };
	r->bytes = r->has_bytes ? in->bytes : 0;
	if (in->listed)
		find_group(c, in, thunk, r);
	r->has_bandwidth = r->has_bytes && r->has_group && dur > 0;
	if (r->has_bandwidth)
		nsx_comm_bandwidth(nsx_cat_str(&c->cat, r->kind), r->bytes, r->group, dur, &r->algbw, &r->busbw);
	c->records++;
	c->no_inst += !in->listed;
	c->no_bytes += in->listed && !r->has_bytes;
	c->no_group += in->listed && !r->has_group && in->groups != NSX_ABSENT;
	c->no_groups += !r->has_group && in->groups == NSX_ABSENT;
	c->no_dur += dur <= 0;
	return NSX_OK;
}

uint64_t
nsx_comm_collective(const struct nsx_comm_record *r)
{
	/* A device's number may have more than 32 bits, but where the group is one device an instance is complete after
	 * one record: its key is not stored. */
	return (uint64_t)r->inst << 32 | (uint32_t)r->group_at;
}

bool
nsx_comm_instance(struct nsx_comm *c, const struct nsx_rec *thunk, const struct nsx_comm_record *r, struct nsx_key *key)
{
	int64_t execution = nsx_field_int(thunk, NSX_ROLE_EXECUTION, -1), occurrence = nsx_field_int(thunk,
		NSX_ROLE_OCCURRENCE, -1);
	bool small = execution >= -1 && execution < INT32_MAX && occurrence >= -1 && occurrence < INT32_MAX;
	uint32_t number;

	key->a = nsx_comm_collective(r);
	if (small) {
		key->b = (uint64_t)(execution + 1) << 32 | (uint64_t)(occurrence + 1);
		return true;
	}
	number = nsx_map_number(&c->time_number, (struct nsx_key){ (uint64_t)execution, (uint64_t)occurrence });
	key->b = UINT64_C(1) << 63 | number;
	return number != NSX_NONE;
}

void
nsx_comm_flag_diags(const struct nsx_comm *c, struct nsx_diags *diags)
{
	nsx_cat_comm_diags(&c->cat, "", diags);
}

void
nsx_comm_group_diags(const struct nsx_comm *c, struct nsx_diags *diags)
{
	nsx_diag_add(diags, NSX_WARNING, "", c->cat.ndevices > 1 ? c->no_groups : 0,
		"communication thunks of unknown replica groups: assumed to be of all devices; nsysx-extract -x DIR "
		"reads "
		"groups from the HLO dump");
}

void
nsx_comm_diags(const struct nsx_comm *c, struct nsx_diags *diags)
{
	if (c->records == 0 && c->ops == 0)
		nsx_diag_add(diags, NSX_INFO, "", 1, "no communication");
	nsx_diag_add(diags, NSX_WARNING, "", c->no_inst, "communication thunks whose inst record is missing");
	nsx_diag_add(diags, NSX_WARNING, "", c->no_bytes,
		"communication thunks of unknown message size: no bandwidth; nsysx-extract -x DIR reads sizes from the "
		"HLO dump");
	nsx_diag_add(diags, NSX_WARNING, "", c->no_group,
		"communication thunks on a device that is in none of the replica groups: no group and no bandwidth");
	nsx_diag_add(diags, NSX_INFO, "", c->no_dur, "communication thunks with a duration of 0: no bandwidth");
}
