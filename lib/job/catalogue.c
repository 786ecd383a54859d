/* catalogue.c -- the metadata of a stream: entries and what is asked about them; catalogue_take.c reads them. */
#include "job/catalogue.h"

#include <stdlib.h>

#include "base/device_name.h"
#include "job/comm/communicates.h"

/* ---- entries, created when they are new */

static uint32_t
new_profile(struct nsx_catalogue *c, int64_t number)
{
	uint32_t at = (uint32_t)c->profiles.n;
	struct nsx_cat_profile new = { number, false, NSX_NONE, NSX_NONE, NSX_NONE, NSX_NONE, NSX_ABSENT,
	                               INT64_MIN, INT64_MAX, 0 };

	return nsx_vec_push(&c->profiles, new) && nsx_cat_index_set(&c->profile_at, number, at) ? at
	       : (uint32_t)NSX_NONE;
}

static inline uint32_t
profile_at(struct nsx_catalogue *c, int64_t number)
{
	uint32_t at = nsx_cat_index_find(&c->profile_at, number);

	return at != NSX_NONE ? at : new_profile(c, number);
}

static uint32_t
new_device(struct nsx_catalogue *c, int64_t number)
{
	uint32_t at = (uint32_t)c->devices.n;
	struct nsx_cat_device new = {
		.number = number, .profile = NSX_NONE, .name = NSX_NONE, .uuid = NSX_NONE, .process = NSX_ABSENT,
		.local = NSX_ABSENT, .partition = NSX_ABSENT, .cuda = NSX_ABSENT,
		.pid = NSX_ABSENT, .last = NSX_ABSENT, .sms = NSX_ABSENT, .clock = NSX_ABSENT,
		.mem_bandwidth = NSX_ABSENT, .cc = NSX_ABSENT, .memory = NSX_ABSENT,
		.component = NSX_ABSENT
	};

	return nsx_vec_push(&c->devices, new) && nsx_cat_index_set(&c->device_at, number, at) ? at : (uint32_t)NSX_NONE;
}

static inline uint32_t
device_at(struct nsx_catalogue *c, int64_t number)
{
	uint32_t at = nsx_cat_index_find(&c->device_at, number);

	return at != NSX_NONE ? at : new_device(c, number);
}

static uint32_t
new_program(struct nsx_catalogue *c, int64_t number)
{
	uint32_t at = (uint32_t)c->programs.n;
	struct nsx_cat_program new = { .number = number, .id = NSX_ABSENT, .name = NSX_NONE, .fingerprint = NSX_NONE,
	                               .key = NSX_NONE, .runners = NSX_NONE };

	return nsx_vec_push(&c->programs, new) && nsx_cat_index_set(&c->program_at, number, at) ? at
	       : (uint32_t)NSX_NONE;
}

static inline uint32_t
program_at(struct nsx_catalogue *c, int64_t number)
{
	uint32_t at = nsx_cat_index_find(&c->program_at, number);

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
	return nsx_cat_index_set(&c->programs.p[program].insts, number, at)
	       ? at : (uint32_t)NSX_NONE;
}

static inline uint32_t
inst_at(struct nsx_catalogue *c, uint32_t program, int64_t number)
{
	if (program == NSX_NONE)
		return NSX_NONE;
	uint32_t at = nsx_cat_index_find(&c->programs.p[program].insts, number);

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
	return nsx_cat_index_find(&c->profile_at, number);
}

uint32_t
nsx_cat_find_device(const struct nsx_catalogue *c, int64_t number)
{
	return nsx_cat_index_find(&c->device_at, number);
}

int64_t
nsx_cat_numbers(const struct nsx_catalogue *c)
{
	int64_t most = 0;

	for (size_t i = 0; i < c->devices.n; i++)
		if (c->devices.p[i].listed && c->devices.p[i].number >= most)
			most = c->devices.p[i].number + 1;
	return most;
}

bool
nsx_cat_on_cpu(const struct nsx_catalogue *c)
{
	size_t listed = 0;

	for (size_t i = 0; i < c->devices.n; i++) {
		const struct nsx_cat_device *d = &c->devices.p[i];

		if (d->listed && (d->name == NSX_NONE || !nsx_str_eq(nsx_cat_str(c, d->name), NSX_STR(NSX_ON_CPU))))
			return false;
		listed += d->listed;
	}
	return listed > 0;
}

uint32_t
nsx_cat_find_program(const struct nsx_catalogue *c, int64_t number)
{
	return nsx_cat_index_find(&c->program_at, number);
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

/* The instruction of a record of the program of the previous lookup, found without a call; NULL: use inst_of. */
static inline const struct nsx_cat_inst *
near_inst(const struct nsx_catalogue *c, const struct nsx_rec *rec, int program, int inst)
{
	const uint64_t both = UINT64_C(1) << program | UINT64_C(1) << inst;

	if ((rec->has & both) != both || !c->last_program.any || rec->v[program].i != c->last_program.number)
		return NULL;
	const struct nsx_cat_index *x = &c->programs.p[c->last_program.at].insts;
	uint64_t number = (uint64_t)rec->v[inst].i;
	uint32_t at = number < x->ndense ? x->dense[number] : NSX_NONE;

	return at != NSX_NONE && c->insts.p[at].listed ? &c->insts.p[at] : NULL;
}

bool
nsx_cat_communicates(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	enum nsx_kind_id kind = rec->kind->id;
	const struct nsx_cat_inst *i = kind == NSX_THUNK ? near_inst(c, rec, NSX_THUNK_program, NSX_THUNK_inst)
	                             : kind == NSX_OP    ? near_inst(c, rec, NSX_OP_program, NSX_OP_inst) : NULL;

	/* The case of most records. */
	if (i && (kind == NSX_THUNK || i->settles)) {
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

/* ---- queries */

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

void
nsx_cat_free(struct nsx_catalogue *c)
{
	for (size_t i = 0; i < c->programs.n; i++)
		nsx_cat_index_free(&c->programs.p[i].insts);
	nsx_intern_free(&c->strings);
	free(c->profiles.p);
	free(c->devices.p);
	free(c->programs.p);
	free(c->aliases.p);
	free(c->insts.p);
	free(c->locs.p);
	free(c->stacks.p);
	nsx_map_free(&c->alias_at);
	nsx_map_free(&c->awaited);
	nsx_cat_index_free(&c->profile_at);
	nsx_cat_index_free(&c->device_at);
	nsx_cat_index_free(&c->program_at);
	nsx_cat_index_free(&c->stack_at);
	*c = (struct nsx_catalogue){ .keep = c->keep };
}
