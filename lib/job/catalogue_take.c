/* catalogue_take.c -- records of metadata into the catalogue. */
#include "job/catalogue.h"
#include "job/comm/communicates.h"
#include "job/metadata.h"

/* Functions of a string's number: false when out of memory. */
static bool
string_of(struct nsx_catalogue *c, const struct nsx_rec *rec, int slot, uint32_t *id)
{
	*id = nsx_has(rec, slot) ? nsx_intern(&c->strings, rec->v[slot].s) : (uint32_t)NSX_NONE;
	return *id != NSX_NONE || !nsx_has(rec, slot);
}

static bool
take_profile(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_profile(c, rec);

	if (at == NSX_NONE)
		return false;
	struct nsx_cat_profile *p = &c->profiles.p[at];

	p->listed = true;
	p->start_utc = nsx_int(rec, NSX_PROFILE_start_utc, NSX_ABSENT);
	p->from = nsx_int(rec, NSX_PROFILE_from, INT64_MIN);
	p->to = nsx_int(rec, NSX_PROFILE_to, INT64_MAX);
	return string_of(c, rec, NSX_PROFILE_name, &p->name) && string_of(c, rec, NSX_PROFILE_host, &p->host)
	       && string_of(c, rec, NSX_PROFILE_product, &p->product)
	       && string_of(c, rec, NSX_PROFILE_schema, &p->schema);
}

static bool
take_device(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_device(c, rec), profile = nsx_has(rec, NSX_DEVICE_profile) ? nsx_cat_profile(c, rec)
	    : (uint32_t)NSX_NONE;

	if (at == NSX_NONE || (profile == NSX_NONE && nsx_has(rec, NSX_DEVICE_profile)))
		return false;
	struct nsx_cat_device *d = &c->devices.p[at];

	if (profile != NSX_NONE && !(d->listed && d->profile == profile))
		c->profiles.p[profile].ndevices++;
	c->ndevices += !d->listed;
	d->listed = true;
	d->profile = profile;
	d->known = nsx_int(rec, NSX_DEVICE_known, 0) == 1;
	d->process = nsx_int(rec, NSX_DEVICE_process, NSX_ABSENT);
	d->local = nsx_int(rec, NSX_DEVICE_local, NSX_ABSENT);
	d->partition = nsx_int(rec, NSX_DEVICE_partition, NSX_ABSENT);
	d->cuda = nsx_int(rec, NSX_DEVICE_cuda, NSX_ABSENT);
	d->pid = nsx_int(rec, NSX_DEVICE_pid, NSX_ABSENT);
	d->last = nsx_int(rec, NSX_DEVICE_last, NSX_ABSENT);
	d->sms = nsx_int(rec, NSX_DEVICE_sms, NSX_ABSENT);
	d->clock = nsx_int(rec, NSX_DEVICE_clock, NSX_ABSENT);
	d->mem_bandwidth = nsx_int(rec, NSX_DEVICE_mem_bandwidth, NSX_ABSENT);
	d->cc = nsx_int(rec, NSX_DEVICE_cc, NSX_ABSENT);
	d->memory = nsx_int(rec, NSX_DEVICE_memory, NSX_ABSENT);
	return string_of(c, rec, NSX_DEVICE_name, &d->name) && string_of(c, rec, NSX_DEVICE_uuid, &d->uuid);
}

static bool
take_clock(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_device(c, rec);

	if (at == NSX_NONE)
		return false;
	struct nsx_cat_device *d = &c->devices.p[at];

	d->aligned = true;
	struct nsx_clock k = nsx_clock_of(rec);

	d->component = k.component;
	d->offset = k.offset;
	d->rate = k.rate;
	d->ref = k.ref;
	d->error = k.error;
	return true;
}

static bool
take_program(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_program(c, rec);

	if (at == NSX_NONE)
		return false;
	struct nsx_cat_program *p = &c->programs.p[at];

	p->listed = true;
	p->id = nsx_int(rec, NSX_PROGRAM_id, NSX_ABSENT);
	return string_of(c, rec, NSX_PROGRAM_name, &p->name) && string_of(c, rec, NSX_PROGRAM_key, &p->key)
	       && string_of(c, rec, NSX_PROGRAM_fingerprint, &p->fingerprint);
}

static bool
take_alias(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	struct nsx_cat_alias a = { nsx_cat_profile(c, rec), nsx_cat_program(c, rec), nsx_int(rec, NSX_ALIAS_id,
		NSX_ABSENT), NSX_NONE, NSX_NONE, NSX_NONE };

	if (!(c->keep & (NSX_CAT_ALIASES | NSX_CAT_RUNNERS)))
		return true;
	uint32_t *at = a.profile == NSX_NONE || a.program == NSX_NONE ? NULL : nsx_map_at(&c->alias_at,
		(struct nsx_key){ a.profile, a.program });

	if (!at)
		return false;
	uint32_t before = *at;

	if (before == NSX_NONE) {
		uint32_t *runners = &c->programs.p[a.program].runners;

		*runners = (*runners == NSX_NONE ? 0 : *runners) + c->profiles.p[a.profile].ndevices;
		*at = 0;
	}
	if (!(c->keep & NSX_CAT_ALIASES))
		return true;
	if (!string_of(c, rec, NSX_ALIAS_fingerprint, &a.fingerprint) || !string_of(c, rec, NSX_ALIAS_digest,
	    &a.digest) || c->aliases.n >= NSX_NONE)
		return false;
	a.before = before;
	if (!nsx_vec_push(&c->aliases, a))
		return false;
	*at = (uint32_t)(c->aliases.n - 1);
	return true;
}

static bool
take_stack(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	int64_t number = nsx_int(rec, NSX_STACK_stack, NSX_ABSENT);
	uint32_t at = nsx_cat_index_find(&c->stack_at, number), frames;

	if (!(c->keep & NSX_CAT_STACKS))
		return true;
	if (!string_of(c, rec, NSX_STACK_frames, &frames))
		return false;
	if (at != NSX_NONE) {
		c->stacks.p[at] = frames;
		return true;
	}
	at = (uint32_t)c->stacks.n;
	return at < NSX_NONE && nsx_vec_push(&c->stacks, frames) && nsx_cat_index_set(&c->stack_at, number, at);
}

struct nsx_str
nsx_cat_frames(const struct nsx_catalogue *c, int64_t stack)
{
	uint32_t at = stack == NSX_ABSENT ? NSX_NONE : nsx_cat_index_find(&c->stack_at, stack);

	return at == NSX_NONE ? NSX_STR("") : nsx_cat_str(c, c->stacks.p[at]);
}

bool
nsx_cat_is_late_stack(const struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	return rec->kind->id == NSX_STACK && c->awaited.n
	       && nsx_map_get(&c->awaited, (struct nsx_key){ (uint64_t)nsx_int(rec, NSX_STACK_stack, NSX_ABSENT),
	                                                     0 }) != NSX_NONE;
}

/* *stack is the stack that rec refers to, NSX_NONE if it refers to none or to one whose frames have not been read;
 * false when out of memory. */
static bool
stack_of(struct nsx_catalogue *c, const struct nsx_rec *rec, int slot, uint32_t *stack)
{
	uint32_t *awaited;

	*stack = NSX_NONE;
	if (!(c->keep & NSX_CAT_STACKS) || !nsx_has(rec, slot))
		return true;
	*stack = nsx_cat_index_find(&c->stack_at, rec->v[slot].i);
	if (*stack != NSX_NONE && c->stacks.p[*stack] != NSX_NONE)
		return true;
	*stack = NSX_NONE;
	c->no_stack++;
	awaited = nsx_map_at(&c->awaited, (struct nsx_key){ (uint64_t)rec->v[slot].i, 0 });
	if (awaited)
		*awaited = 1;
	return awaited != NULL;
}

/* The same for an op_name. */
static bool
op_name_of(struct nsx_catalogue *c, const struct nsx_rec *rec, int slot, uint32_t *id)
{
	*id = NSX_NONE;
	return !(c->keep & NSX_CAT_OP_NAMES) || string_of(c, rec, slot, id);
}

static bool
take_inst(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_inst(c, rec);

	if (at == NSX_NONE)
		return false;
	struct nsx_cat_inst *i = &c->insts.p[at];

	i->listed = true;
	i->comm = nsx_comm_says(rec);
	i->settles = nsx_comm_settles(i->comm, nsx_string(rec, NSX_INST_opcode));
	c->any_comm |= i->comm;
	if (i->comm && i->nth_comm == NSX_NONE)
		i->nth_comm = c->ncomm++;
	i->bytes = nsx_int(rec, NSX_INST_bytes, NSX_ABSENT);
	i->groups = nsx_int(rec, NSX_INST_groups, NSX_ABSENT);
	if (c->keep & NSX_CAT_COSTS) {
		i->flops = nsx_int(rec, NSX_INST_flops, NSX_ABSENT);
		i->vector = nsx_int(rec, NSX_INST_vector, NSX_ABSENT);
		i->mem_bytes = nsx_int(rec, NSX_INST_mem_bytes, NSX_ABSENT);
		if (!string_of(c, rec, NSX_INST_math, &i->math))
			return false;
	}
	if (c->keep & NSX_CAT_NAMES && (!string_of(c, rec, NSX_INST_name, &i->name)
	                                || !string_of(c, rec, NSX_INST_scheduling_name, &i->scheduling_name)))
		return false;
	return stack_of(c, rec, NSX_INST_stack, &i->stack) && op_name_of(c, rec, NSX_INST_op_name, &i->op_name)
	       && string_of(c, rec, NSX_INST_opcode, &i->opcode)
	       && string_of(c, rec, NSX_INST_collective, &i->collective);
}

static bool
take_loc(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	struct nsx_cat_loc l;

	if (!(c->keep & NSX_CAT_LOCS))
		return true;
	uint32_t at = nsx_cat_inst(c, rec);

	if (at == NSX_NONE || c->locs.n >= NSX_NONE)
		return false;
	l.next = c->insts.p[at].locs;
	if (!stack_of(c, rec, NSX_LOC_stack, &l.stack) || !op_name_of(c, rec, NSX_LOC_op_name, &l.op_name) ||
	    !nsx_vec_push(&c->locs, l))
		return false;
	c->insts.p[at].locs = (uint32_t)(c->locs.n - 1);
	return true;
}

void
nsx_cat_need(const struct nsx_catalogue *c, struct nsx_reader *in)
{
	/* Columns of instructions that are not kept. */
	const uint64_t names = NSX_C(INST, name) | NSX_C(INST, scheduling_name);
	const uint64_t costs = NSX_C(INST, flops) | NSX_C(INST, math) | NSX_C(INST, vector) | NSX_C(INST, mem_bytes);
	const uint64_t unasked = (c->keep & NSX_CAT_OP_NAMES ? 0 : NSX_C(INST, op_name))
	                         | (c->keep & NSX_CAT_STACKS ? 0 : NSX_C(INST, stack))
	                         | (c->keep & NSX_CAT_NAMES ? 0 : names) | (c->keep & NSX_CAT_COSTS ? 0 : costs);

	nsx_reader_need(in, NSX_PROFILE, NSX_EVERY);
	nsx_reader_need(in, NSX_DEVICE, NSX_EVERY);
	nsx_reader_need(in, NSX_CLOCK, NSX_EVERY);
	nsx_reader_need(in, NSX_PROGRAM, NSX_EVERY);
	nsx_reader_need(in, NSX_ALIAS, NSX_EVERY);
	nsx_reader_need(in, NSX_INST, ~unasked);
	if (c->keep & NSX_CAT_LOCS)
		nsx_reader_need(in, NSX_LOC, NSX_EVERY);
	if (c->keep & NSX_CAT_STACKS)
		nsx_reader_need(in, NSX_STACK, NSX_EVERY);
}

int
nsx_cat_take_metadata(struct nsx_catalogue *c, const struct nsx_rec *rec, struct nsx_err *err)
{
	bool good = true;

	switch (rec->kind->id) {
	case NSX_PROFILE: good = take_profile(c, rec); break;
	case NSX_DEVICE:  good = take_device(c, rec); break;
	case NSX_CLOCK:   good = take_clock(c, rec); break;
	case NSX_PROGRAM: good = take_program(c, rec); break;
	case NSX_ALIAS:   good = take_alias(c, rec); break;
	case NSX_STACK:   good = take_stack(c, rec); break;
	case NSX_INST:    good = take_inst(c, rec); break;
	case NSX_LOC:     good = take_loc(c, rec); break;
	default: break;
	}
	return good ? NSX_OK : nsx_err_nomem(err, NULL);
}
