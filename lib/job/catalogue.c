/* catalogue.c -- the metadata of a stream. */
#include "job/catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "job/communicates.h"
#include "job/metadata.h"

/* ---- numbers */

/* Numbers up to a little more than the count of entries are stored in an array; a stream that skips many numbers uses
 * the map. */
static bool
is_dense(const struct nsx_cat_index *x, int64_t number)
{
	return number >= 0 && number < (int64_t)x->known * 2 + 64;
}

static inline uint32_t
index_find(const struct nsx_cat_index *x, int64_t number)
{
	if (number >= 0 && number < x->ndense && x->dense[number] != NSX_NONE)
		return x->dense[number];
	return nsx_map_get(&x->sparse, (struct nsx_key){ (uint64_t)number, 0 });
}

/* Assign an index to a number that has none; false when out of memory. */
static bool
index_set(struct nsx_cat_index *x, int64_t number, uint32_t index)
{
	if (is_dense(x, number) && number >= x->ndense) {
		uint32_t n = (uint32_t)number * 2 + 64, *dense = realloc(x->dense, n * sizeof *dense);

		if (!dense)
			return false;
		memset(dense + x->ndense, 0xff, (n - x->ndense) * sizeof *dense);
		x->dense = dense;
		x->ndense = n;
	}
	x->known++;
	if (number >= 0 && number < x->ndense) {
		x->dense[number] = index;
		return true;
	}
	uint32_t *at = nsx_map_at(&x->sparse, (struct nsx_key){ (uint64_t)number, 0 });

	if (at)
		*at = index;
	return at != NULL;
}

static void
index_free(struct nsx_cat_index *x)
{
	free(x->dense);
	nsx_map_free(&x->sparse);
}

/* ---- entries, created when they are new */

static uint32_t
new_profile(struct nsx_catalogue *c, int64_t number)
{
	uint32_t at = (uint32_t)c->profiles.n;
	struct nsx_cat_profile new = { number, false, NSX_NONE, NSX_NONE, NSX_NONE, NSX_NONE, NSX_ABSENT, 0 };

	return nsx_vec_push(&c->profiles, new) && index_set(&c->profile_at, number, at) ? at : (uint32_t)NSX_NONE;
}

static inline uint32_t
profile_at(struct nsx_catalogue *c, int64_t number)
{
	uint32_t at = index_find(&c->profile_at, number);

	return at != NSX_NONE ? at : new_profile(c, number);
}

static uint32_t
new_device(struct nsx_catalogue *c, int64_t number)
{
	uint32_t at = (uint32_t)c->devices.n;
	struct nsx_cat_device new = {
		.number = number, .profile = NSX_NONE, .name = NSX_NONE, .uuid = NSX_NONE, .process = NSX_ABSENT,
		.local = NSX_ABSENT, .cuda = NSX_ABSENT,
		.pid = NSX_ABSENT, .last = NSX_ABSENT, .sms = NSX_ABSENT, .clock = NSX_ABSENT,
		.mem_bandwidth = NSX_ABSENT, .cc = NSX_ABSENT,
		.component = NSX_ABSENT
	};

	return nsx_vec_push(&c->devices, new) && index_set(&c->device_at, number, at) ? at : (uint32_t)NSX_NONE;
}

static inline uint32_t
device_at(struct nsx_catalogue *c, int64_t number)
{
	uint32_t at = index_find(&c->device_at, number);

	return at != NSX_NONE ? at : new_device(c, number);
}

static uint32_t
new_program(struct nsx_catalogue *c, int64_t number)
{
	uint32_t at = (uint32_t)c->programs.n;
	struct nsx_cat_program new = { .number = number, .id = NSX_ABSENT, .name = NSX_NONE, .fingerprint = NSX_NONE,
	                               .key = NSX_NONE, .runners = NSX_NONE };

	return nsx_vec_push(&c->programs, new) && index_set(&c->program_at, number, at) ? at : (uint32_t)NSX_NONE;
}

static inline uint32_t
program_at(struct nsx_catalogue *c, int64_t number)
{
	uint32_t at = index_find(&c->program_at, number);

	return at != NSX_NONE ? at : new_program(c, number);
}

static uint32_t
new_inst(struct nsx_catalogue *c, uint32_t program, int64_t number)
{
	uint32_t at = (uint32_t)c->insts.n;

	if (at >= NSX_NONE || !nsx_vec_room(&c->insts, 1))
		return NSX_NONE;
	c->insts.p[c->insts.n++] = (struct nsx_cat_inst){
		.program = program, .nth_comm = NSX_NONE, .number = number, .name = NSX_NONE, .opcode = NSX_NONE,
		.collective = NSX_NONE, .scheduling_name = NSX_NONE,
		.math = NSX_NONE, .op_name = NSX_NONE, .stack = NSX_NONE, .locs = NSX_NONE, .bytes = NSX_ABSENT,
		.groups = NSX_ABSENT,
		.flops = NSX_ABSENT, .vector = NSX_ABSENT, .mem_bytes = NSX_ABSENT
	};
	return index_set(&c->programs.p[program].insts, number, at)
	       ? at : (uint32_t)NSX_NONE;
}

static inline uint32_t
inst_at(struct nsx_catalogue *c, uint32_t program, int64_t number)
{
	if (program == NSX_NONE)
		return NSX_NONE;
	uint32_t at = index_find(&c->programs.p[program].insts, number);

	return at != NSX_NONE ? at : new_inst(c, program, number);
}

uint32_t
nsx_cat_profile(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	return profile_at(c, nsx_field_int(rec, NSX_ROLE_PROFILE, NSX_ABSENT));
}

uint32_t
nsx_cat_device(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	return device_at(c, nsx_field_int(rec, NSX_ROLE_DEVICE, NSX_ABSENT));
}

bool
nsx_cat_of_process(const struct nsx_catalogue *c, uint32_t device, const struct nsx_rec *rec)
{
	const struct nsx_cat_device *d = &c->devices.p[device];

	return d->profile != NSX_NONE
	       && c->profiles.p[d->profile].number == nsx_field_int(rec, NSX_ROLE_PROFILE, NSX_ABSENT)
	       && d->pid == nsx_field_int(rec, NSX_ROLE_PID, NSX_ABSENT);
}

static inline uint32_t
program_of(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	int64_t number = nsx_field_int(rec, NSX_ROLE_PROGRAM, NSX_ABSENT);

	if (c->last_program.any && c->last_program.number == number)
		return c->last_program.at;
	uint32_t at = program_at(c, number);

	c->last_program.any = at != NSX_NONE;
	c->last_program.number = number;
	c->last_program.at = at;
	return at;
}

uint32_t
nsx_cat_program(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	return program_of(c, rec);
}

uint32_t
nsx_cat_inst(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	return inst_at(c, program_of(c, rec), nsx_field_int(rec, NSX_ROLE_INST, NSX_ABSENT));
}

uint32_t
nsx_cat_find_profile(const struct nsx_catalogue *c, int64_t number)
{
	return index_find(&c->profile_at, number);
}

uint32_t
nsx_cat_find_device(const struct nsx_catalogue *c, int64_t number)
{
	return index_find(&c->device_at, number);
}

uint32_t
nsx_cat_find_program(const struct nsx_catalogue *c, int64_t number)
{
	return index_find(&c->program_at, number);
}

/* ---- communication */

/* The instruction that rec refers to, NULL if there is no record of one. */
static inline const struct nsx_cat_inst *
inst_of(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	int slot = nsx_field(rec->kind->id, NSX_ROLE_INST);
	uint32_t at = slot >= 0 && nsx_has(rec, slot) ? inst_at(c, program_of(c, rec), rec->v[slot].i) : NSX_NONE;

	return at != NSX_NONE && c->insts.p[at].listed ? &c->insts.p[at] : NULL;
}

/* The result of nsx_cat_communicates; *contrary: the column of rec contradicts it. */
static inline bool
decide(struct nsx_catalogue *c, const struct nsx_rec *rec, bool *contrary)
{
	enum nsx_kind_id kind = rec->kind->id;
	bool own = nsx_comm_says(rec);
	const struct nsx_cat_inst *i = kind == NSX_THUNK || kind == NSX_OP ? inst_of(c, rec) : NULL;

	*contrary = false;
	if (!i || (kind == NSX_OP && !i->settles))
		return own || kind == NSX_COLLECTIVE;
	*contrary = i->comm != own;
	return i->comm;
}

/* The instruction of a thunk of the program of the previous lookup, found without a call; NULL: use inst_of. */
static inline const struct nsx_cat_inst *
near_inst(const struct nsx_catalogue *c, const struct nsx_rec *thunk)
{
	const uint64_t both = UINT64_C(1) << NSX_THUNK_program | UINT64_C(1) << NSX_THUNK_inst;

	if ((thunk->has & both) != both || !c->last_program.any
	    || thunk->v[NSX_THUNK_program].i != c->last_program.number)
		return NULL;
	const struct nsx_cat_index *x = &c->programs.p[c->last_program.at].insts;
	uint64_t number = (uint64_t)thunk->v[NSX_THUNK_inst].i;
	uint32_t at = number < x->ndense ? x->dense[number] : NSX_NONE;

	return at != NSX_NONE && c->insts.p[at].listed ? &c->insts.p[at] : NULL;
}

bool
nsx_cat_communicates(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	const struct nsx_cat_inst *i = rec->kind->id == NSX_THUNK ? near_inst(c, rec) : NULL;

	/* The case of most records. */
	if (i) {
		c->contradictions += i->comm != nsx_comm_says(rec);
		return i->comm;
	}
	bool contrary, comm = decide(c, rec, &contrary);

	c->contradictions += contrary;
	return comm;
}

bool
nsx_cat_communicates_again(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	bool contrary;

	return decide(c, rec, &contrary);
}

bool
nsx_cat_inst_communicates(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	const struct nsx_cat_inst *inst = inst_of(c, rec);

	return inst && inst->comm;
}

void
nsx_cat_comm_diags(const struct nsx_catalogue *c, const char *source, struct nsx_diags *diags)
{
	nsx_diag_add(diags, NSX_WARNING, source, c->contradictions,
		"thunks and operations that contradict their instruction on whether they communicate: the instruction "
		"is used");
}

/* ---- strings */

/* Functions of a string's number: false when out of memory. */
static bool
string_of(struct nsx_catalogue *c, const struct nsx_rec *rec, int slot, uint32_t *id)
{
	*id = nsx_has(rec, slot) ? nsx_intern(&c->strings, rec->v[slot].s) : (uint32_t)NSX_NONE;
	return *id != NSX_NONE || !nsx_has(rec, slot);
}

uint32_t
nsx_cat_intern(struct nsx_catalogue *c, struct nsx_str s, struct nsx_err *err)
{
	uint32_t id = s.len ? nsx_intern(&c->strings, s) : (uint32_t)NSX_NONE;

	if (s.len && id == NSX_NONE)
		nsx_err_nomem(err, NULL);
	return id;
}

struct nsx_str
nsx_cat_program_label(const struct nsx_catalogue *c, uint32_t program)
{
	const struct nsx_cat_program *p = &c->programs.p[program];

	return nsx_cat_str(c, p->key != NSX_NONE ? p->key : p->name);
}

/* ---- records */

static bool
take_profile(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_profile(c, rec);

	if (at == NSX_NONE)
		return false;
	struct nsx_cat_profile *p = &c->profiles.p[at];

	p->listed = true;
	p->start_utc = nsx_int(rec, NSX_PROFILE_start_utc, NSX_ABSENT);
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
	d->cuda = nsx_int(rec, NSX_DEVICE_cuda, NSX_ABSENT);
	d->pid = nsx_int(rec, NSX_DEVICE_pid, NSX_ABSENT);
	d->last = nsx_int(rec, NSX_DEVICE_last, NSX_ABSENT);
	d->sms = nsx_int(rec, NSX_DEVICE_sms, NSX_ABSENT);
	d->clock = nsx_int(rec, NSX_DEVICE_clock, NSX_ABSENT);
	d->mem_bandwidth = nsx_int(rec, NSX_DEVICE_mem_bandwidth, NSX_ABSENT);
	d->cc = nsx_int(rec, NSX_DEVICE_cc, NSX_ABSENT);
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

const struct nsx_cat_alias *
nsx_cat_alias(const struct nsx_catalogue *c, uint32_t profile, uint32_t program)
{
	uint32_t at = c->keep & NSX_CAT_ALIASES ? nsx_map_get(&c->alias_at, (struct nsx_key){ profile, program })
	    : (uint32_t)NSX_NONE;

	return at == NSX_NONE ? NULL : &c->aliases.p[at];
}

uint32_t
nsx_cat_runners(const struct nsx_catalogue *c, uint32_t program)
{
	uint32_t n = c->programs.p[program].runners;

	return n == NSX_NONE ? c->ndevices : n;
}

uint32_t
nsx_cat_fingerprint(const struct nsx_catalogue *c, uint32_t profile, uint32_t program)
{
	const struct nsx_cat_alias *a = nsx_cat_alias(c, profile, program);

	while (a && a->fingerprint == NSX_NONE)
		a = a->before == NSX_NONE ? NULL : &c->aliases.p[a->before];
	return a ? a->fingerprint : (uint32_t)NSX_NONE;
}

static bool
take_groups(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	uint32_t *at;

	if (!(c->keep & NSX_CAT_GROUPS))
		return true;
	at = nsx_map_at(&c->groups, (struct nsx_key){ (uint64_t)nsx_int(rec, NSX_GROUPS_groups, NSX_ABSENT), 0 });
	return at && string_of(c, rec, NSX_GROUPS_members, at);
}

struct nsx_str
nsx_cat_groups(const struct nsx_catalogue *c, int64_t number)
{
	return nsx_cat_str(c, nsx_map_get(&c->groups, (struct nsx_key){ (uint64_t)number, 0 }));
}

static bool
take_stack(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	int64_t number = nsx_int(rec, NSX_STACK_stack, NSX_ABSENT);
	uint32_t at = index_find(&c->stack_at, number), frames;

	if (!(c->keep & NSX_CAT_STACKS))
		return true;
	if (!string_of(c, rec, NSX_STACK_frames, &frames))
		return false;
	if (at != NSX_NONE) {
		c->stacks.p[at] = frames;
		return true;
	}
	at = (uint32_t)c->stacks.n;
	return at < NSX_NONE && nsx_vec_push(&c->stacks, frames) && index_set(&c->stack_at, number, at);
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
	*stack = index_find(&c->stack_at, rec->v[slot].i);
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
	if (c->keep & NSX_CAT_GROUPS)
		nsx_reader_need(in, NSX_GROUPS, NSX_EVERY);
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
	case NSX_GROUPS:  good = take_groups(c, rec); break;
	case NSX_STACK:   good = take_stack(c, rec); break;
	case NSX_INST:    good = take_inst(c, rec); break;
	case NSX_LOC:     good = take_loc(c, rec); break;
	default: break;
	}
	return good ? NSX_OK : nsx_err_nomem(err, NULL);
}

void
nsx_cat_free(struct nsx_catalogue *c)
{
	for (size_t i = 0; i < c->programs.n; i++)
		index_free(&c->programs.p[i].insts);
	nsx_intern_free(&c->strings);
	free(c->profiles.p);
	free(c->devices.p);
	free(c->programs.p);
	free(c->aliases.p);
	free(c->insts.p);
	free(c->locs.p);
	free(c->stacks.p);
	nsx_map_free(&c->groups);
	nsx_map_free(&c->alias_at);
	nsx_map_free(&c->awaited);
	index_free(&c->profile_at);
	index_free(&c->device_at);
	index_free(&c->program_at);
	index_free(&c->stack_at);
	*c = (struct nsx_catalogue){ .keep = c->keep };
}
