/* communication.c -- what a stream's metadata say about communication: kind, size, group, bandwidth of each thunk's part. */
#include "job/communication.h"

#include <stdlib.h>

#include "base/num.h"
#include "job/communicates.h"

/* told: more than its name told the kind. */
struct nsx_comm_inst { uint32_t kind; bool listed, told, has_bytes, has_groups; int64_t bytes, groups; };
struct nsx_comm_device { bool listed; struct nsx_comm_clock clock; };

/* The devices that one instance of a collective runs on: a replica group, or, where groups share devices as the pairs of
 * a permutation do, all that are connected. `present` of them have a device record. */
struct nsx_comm_group { uint32_t size, present; };

/* How a kind of collective is measured, as nccl-tests does: the algorithm's bandwidth counts `whole` ? bytes of all the group : of one
 * device; the bus bandwidth is that times wires * (n-1)/n, or times 1 if wires is 0. n: group size if it is not fixed by the kind. */
struct measure { const char *kind; bool whole; int wires; int64_t n; };

static const struct measure measures[] = {
	{ "all-gather",           true,  1, 0 },
	{ "reduce-scatter",       true,  1, 0 },
	{ "all-reduce",           false, 2, 0 },
	{ "collective-permute",   false, 0, 2 },
	{ "send",                 false, 0, 2 },
	{ "recv",                 false, 0, 2 },
	{ "collective-broadcast", false, 0, 0 },
	{ "collective-reduce",    false, 0, 0 },
	{ "broadcast",            false, 0, 0 },
	{ "reduce",               false, 0, 0 },
	{ "send-recv",            false, 0, 0 },
	{ "host-to-device",       false, 0, 1 },
	{ "device-to-host",       false, 0, 1 },
	{ "",                     false, 1, 0 },   /* all-to-all, ragged-all-to-all, what is not known */
};

static const struct measure *
measure_of(struct nsx_str kind)
{
	const struct measure *m = measures;

	while (m->kind[0] && !nsx_str_eq(kind, nsx_str_c(m->kind)))
		m++;
	return m;
}

void
nsx_comm_bandwidth(struct nsx_str kind, int64_t bytes, int64_t n, int64_t ns, double *algbw, double *busbw)
{
	const struct measure *m = measure_of(kind);

	/* Bytes a nanosecond are 1e9 bytes a second. */
	*algbw = (double)bytes * (m->whole ? (double)n : 1) / (double)ns;
	*busbw = m->wires ? *algbw * (double)(n - 1) * m->wires / (double)n : *algbw;
}

void
nsx_comm_free(struct nsx_comm *c)
{
	nsx_cat_free(&c->cat);
	nsx_intern_free(&c->kinds);
	nsx_map_free(&c->inst_of);
	nsx_map_free(&c->device_of);
	nsx_map_free(&c->set_of);
	nsx_map_free(&c->member_of);
	free(c->insts.p);
	free(c->devices.p);
	free(c->groups.p);
	*c = (struct nsx_comm){ 0 };
}

/* ---- metadata ---- */

/* The device's entry, made if need be; NULL when out of memory. */
static struct nsx_comm_device *
device_at(struct nsx_comm *c, int64_t device)
{
	uint32_t *at = nsx_map_at(&c->device_of, (struct nsx_key){ (uint64_t)device, 0 });

	if (at && *at == NSX_NONE && nsx_vec_push(&c->devices, ((struct nsx_comm_device){ 0 })))
		*at = (uint32_t)c->devices.n - 1;
	return at && *at != NSX_NONE ? &c->devices.p[*at] : NULL;
}

static bool
is_listed(const struct nsx_comm *c, int64_t device)
{
	uint32_t at = nsx_map_get(&c->device_of, (struct nsx_key){ (uint64_t)device, 0 });

	return at != NSX_NONE && c->devices.p[at].listed;
}

/* The number of an instruction's entry, made if need be; NSX_NONE when out of memory. */
static uint32_t
inst_at(struct nsx_comm *c, int64_t program, int64_t inst)
{
	uint32_t *at = nsx_map_at(&c->inst_of, (struct nsx_key){ (uint64_t)program, (uint64_t)inst });

	if (at && *at == NSX_NONE && nsx_vec_push(&c->insts, ((struct nsx_comm_inst){ .kind = NSX_NONE })))
		*at = (uint32_t)c->insts.n - 1;
	return at ? *at : NSX_NONE;
}

static int
meet_inst(struct nsx_comm *c, const struct nsx_rec *rec, struct nsx_err *err)
{
	/* Most of a program computes. */
	if (!nsx_int(rec, NSX_INST_comm, 0))
		return NSX_OK;
	uint32_t at = inst_at(c, nsx_int(rec, NSX_INST_program, -1), nsx_int(rec, NSX_INST_inst, -1));
	uint32_t kind = NSX_NONE;

	if (at != NSX_NONE && nsx_has(rec, NSX_INST_collective)) {
		kind = nsx_intern(&c->kinds, nsx_string(rec, NSX_INST_collective));
		if (kind == NSX_NONE)
			at = NSX_NONE;
	}
	if (at == NSX_NONE)
		return nsx_err_nomem(err, NULL);
	c->insts.p[at] = (struct nsx_comm_inst){ kind, true, nsx_has(rec, NSX_INST_opcode) || nsx_has(rec, NSX_INST_bytes), nsx_has(rec, NSX_INST_bytes), nsx_has(rec, NSX_INST_groups),
	                                         nsx_int(rec, NSX_INST_bytes, 0), nsx_int(rec, NSX_INST_groups, 0) };
	return NSX_OK;
}

static int
meet_device(struct nsx_comm *c, const struct nsx_rec *rec, struct nsx_err *err)
{
	struct nsx_comm_device *d = device_at(c, nsx_int(rec, NSX_DEVICE_device, -1));

	if (!d)
		return nsx_err_nomem(err, NULL);
	c->listed += !d->listed;
	d->listed = true;
	d->clock = (struct nsx_comm_clock){ false, nsx_int(rec, NSX_DEVICE_profile, -1) };
	return NSX_OK;
}

static int
meet_clock(struct nsx_comm *c, const struct nsx_rec *rec, struct nsx_err *err)
{
	struct nsx_comm_device *d = device_at(c, nsx_int(rec, NSX_CLOCK_device, -1));

	if (!d)
		return nsx_err_nomem(err, NULL);
	d->clock = (struct nsx_comm_clock){ true, nsx_int(rec, NSX_CLOCK_component, 0) };
	return NSX_OK;
}

/* ---- replica groups ---- */

/* The devices of one groups record, joined into components: parent links, a root is its own parent. */
struct joining { NSX_VEC(uint32_t) parent; NSX_VEC(int64_t) device; };

static uint32_t
root_of(struct joining *j, uint32_t i)
{
	while (j->parent.p[i] != i)
		i = j->parent.p[i] = j->parent.p[j->parent.p[i]];
	return i;
}

/* Where in j the device of this set is, added if need be; NSX_NONE when out of memory. */
static uint32_t
member_at(struct nsx_comm *c, struct joining *j, uint32_t set, int64_t device)
{
	uint32_t *at = nsx_map_at(&c->member_of, (struct nsx_key){ set, (uint64_t)device });
	uint32_t n = (uint32_t)j->parent.n;

	if (at && *at == NSX_NONE && nsx_vec_push(&j->parent, n) && nsx_vec_push(&j->device, device))
		*at = n;
	return at ? *at : NSX_NONE;
}

/* `0,1;2,3`: NSX_OK, NSX_EOF if it is not that, NSX_ERR when out of memory. */
static int
join_members(struct nsx_comm *c, struct joining *j, uint32_t set, struct nsx_str s)
{
	uint32_t before = NSX_NONE;   /* in the same group */

	if (s.len == 0)
		return NSX_OK;
	for (size_t i = 0, from = 0; i <= s.len; i++) {
		int64_t device;

		if (i < s.len && s.ptr[i] != ',' && s.ptr[i] != ';')
			continue;
		if (!nsx_get_int((struct nsx_str){ s.ptr + from, i - from }, &device))
			return NSX_EOF;
		uint32_t at = member_at(c, j, set, device);
		if (at == NSX_NONE)
			return NSX_ERR;
		if (before != NSX_NONE)
			j->parent.p[root_of(j, at)] = root_of(j, before);
		before = i < s.len && s.ptr[i] == ',' ? at : NSX_NONE;
		from = i + 1;
	}
	return NSX_OK;
}

/* Number the components and let each member know its own. */
static int
number_components(struct nsx_comm *c, struct joining *j, uint32_t set)
{
	uint32_t base = (uint32_t)c->groups.n, *number = malloc((j->parent.n + 1) * sizeof *number);

	if (!number)
		return NSX_ERR;
	for (uint32_t i = 0; i < j->parent.n; i++)
		if (j->parent.p[i] == i) {
			number[i] = (uint32_t)c->groups.n;
			if (!nsx_vec_push(&c->groups, ((struct nsx_comm_group){ 0, 0 }))) {
				c->groups.n = base;
				free(number);
				return NSX_ERR;
			}
		}
	for (uint32_t i = 0; i < j->parent.n; i++) {
		struct nsx_comm_group *g = &c->groups.p[number[root_of(j, i)]];
		uint32_t *at = nsx_map_at(&c->member_of, (struct nsx_key){ set, (uint64_t)j->device.p[i] });

		g->size++;
		g->present += is_listed(c, j->device.p[i]);
		if (at)
			*at = number[root_of(j, i)];
	}
	free(number);
	return NSX_OK;
}

static int
meet_groups(struct nsx_comm *c, const struct nsx_rec *rec, struct nsx_err *err)
{
	uint32_t *at = nsx_map_at(&c->set_of, (struct nsx_key){ (uint64_t)nsx_int(rec, NSX_GROUPS_groups, -1), 0 });
	struct joining j = { 0 };
	int rc = at ? NSX_OK : NSX_ERR;

	/* Of two sets of one number the first counts. */
	if (at && *at == NSX_NONE) {
		uint32_t set = *at = (uint32_t)c->set_of.n;
		struct nsx_str s = nsx_string(rec, NSX_GROUPS_members);

		rc = join_members(c, &j, set, s);
		if (rc == NSX_EOF)
			nsx_err_set(err, "groups %lld: want devices such as 0,1;2,3, got \"%.*s\"",
			            (long long)nsx_int(rec, NSX_GROUPS_groups, -1), s.len > 60 ? 60 : (int)s.len, s.ptr);
		else if (rc == NSX_OK)
			rc = number_components(c, &j, set);
	}
	free(j.parent.p);
	free(j.device.p);
	return rc == NSX_OK ? NSX_OK : nsx_err_nomem(err, NULL);
}

int
nsx_comm_meta(struct nsx_comm *c, const struct nsx_rec *rec, struct nsx_err *err)
{
	if (nsx_cat_take(&c->cat, rec, err) != NSX_OK)
		return NSX_ERR;
	switch (rec->kind->id) {
	case NSX_DEVICE: return meet_device(c, rec, err);
	case NSX_CLOCK:  return meet_clock(c, rec, err);
	case NSX_GROUPS: return meet_groups(c, rec, err);
	case NSX_INST:   return meet_inst(c, rec, err);
	default:         return NSX_OK;
	}
}

/* ---- parts ---- */

bool
nsx_is_comm(struct nsx_comm *c, const struct nsx_rec *rec)
{
	return rec->kind->id == NSX_THUNK && nsx_cat_communicates(&c->cat, rec);
}

bool
nsx_is_comm_op(struct nsx_comm *c, const struct nsx_rec *rec)
{
	bool alone = rec->kind->id == NSX_OP && nsx_cat_communicates(&c->cat, rec) && !nsx_cat_inst_communicates(&c->cat, rec);

	c->ops += alone;
	return alone;
}

struct nsx_comm_clock
nsx_comm_clock(const struct nsx_comm *c, int64_t device, int64_t profile)
{
	uint32_t at = nsx_map_get(&c->device_of, (struct nsx_key){ (uint64_t)device, 0 });

	return at == NSX_NONE ? (struct nsx_comm_clock){ false, profile } : c->devices.p[at].clock;
}

/* The group of the instruction that holds the device, NULL if none does. */
static const struct nsx_comm_group *
group_of(const struct nsx_comm *c, const struct nsx_comm_inst *in, int64_t device)
{
	uint32_t set = in->has_groups ? nsx_map_get(&c->set_of, (struct nsx_key){ (uint64_t)in->groups, 0 }) : NSX_NONE;
	uint32_t at = set == NSX_NONE ? NSX_NONE : nsx_map_get(&c->member_of, (struct nsx_key){ set, (uint64_t)device });

	return at == NSX_NONE ? NULL : &c->groups.p[at];
}

static void
find_group(const struct nsx_comm *c, const struct nsx_comm_inst *in, int64_t device, int64_t n, struct nsx_comm_part *part)
{
	const struct nsx_comm_group *g;

	part->has_group = n != 0;
	part->group = n;
	if (n == 1) {
		/* A copy between a device and its host concerns nobody else. */
		part->instance = device;
		part->expected = 1;
		return;
	}
	g = group_of(c, in, device);
	if (g) {
		part->instance = g - c->groups.p;
		part->expected = g->present;
		part->partial = g->present < g->size;
		part->has_group = true;
		part->group = n ? n : g->size;
		return;
	}
	part->instance = -1;
	part->expected = c->listed;
	/* No groups given: all devices. Where names alone are known, nobody has looked for groups. */
	if (!n && !in->has_groups && c->listed && in->kind != NSX_NONE && in->told) {
		part->has_group = true;
		part->group = c->listed;
	}
}

int
nsx_comm_part(struct nsx_comm *c, const struct nsx_rec *thunk, struct nsx_comm_part *part, struct nsx_err *err)
{
	uint32_t at = inst_at(c, nsx_int(thunk, NSX_THUNK_program, -1), nsx_int(thunk, NSX_THUNK_inst, -1));
	int64_t device = nsx_int(thunk, NSX_THUNK_device, -1), dur = nsx_int(thunk, NSX_THUNK_dur, 0);

	if (at == NSX_NONE)
		return nsx_err_nomem(err, NULL);
	const struct nsx_comm_inst *in = &c->insts.p[at];
	struct nsx_str kind = in->kind == NSX_NONE ? (struct nsx_str){ "", 0 } : nsx_intern_str(&c->kinds, in->kind);

	*part = (struct nsx_comm_part){ .inst = at, .kind = in->kind, .has_bytes = in->has_bytes, .bytes = in->bytes };
	part->clock = nsx_comm_clock(c, device, nsx_int(thunk, NSX_THUNK_profile, -1));
	if (in->listed)
		find_group(c, in, device, in->told || measure_of(kind)->n == 1 ? measure_of(kind)->n : 0, part);
	else
		part->instance = -1;
	part->has_bandwidth = part->has_bytes && part->has_group && dur > 0;
	if (part->has_bandwidth)
		nsx_comm_bandwidth(kind, part->bytes, part->group, dur, &part->algbw, &part->busbw);
	c->parts++;
	c->no_inst += !in->listed;
	c->no_bytes += in->listed && !part->has_bytes;
	c->no_group += in->listed && !part->has_group && in->has_groups;
	c->no_groups += !part->has_group && !in->has_groups;
	c->no_dur += dur <= 0;
	return NSX_OK;
}

void
nsx_comm_flag_diags(const struct nsx_comm *c, struct nsx_diags *diags)
{
	nsx_cat_comm_diags(&c->cat, "", diags);
}

void
nsx_comm_group_diags(const struct nsx_comm *c, struct nsx_diags *diags)
{
	nsx_diag_add(diags, NSX_WARNING, "", c->listed > 1 ? c->no_groups : 0,
	             "communication thunks of unknown replica groups are taken to be of all devices; nsysx-extract -x DIR reads groups from the HLO dump");
}

void
nsx_comm_diags(const struct nsx_comm *c, struct nsx_diags *diags)
{
	if (c->parts == 0 && c->ops == 0)
		nsx_diag_add(diags, NSX_INFO, "", 1, "no communication");
	nsx_diag_add(diags, NSX_WARNING, "", c->no_inst, "communication thunks whose inst record is missing");
	nsx_diag_add(diags, NSX_WARNING, "", c->no_bytes,
	             "communication thunks of unknown message size have no bandwidth; nsysx-extract -x DIR reads sizes from the HLO dump");
	nsx_diag_add(diags, NSX_WARNING, "", c->no_group,
	             "communication thunks on a device that is in none of the replica groups have no group and no bandwidth");
	nsx_diag_add(diags, NSX_INFO, "", c->no_dur, "communication thunks of no duration have no bandwidth");
}
