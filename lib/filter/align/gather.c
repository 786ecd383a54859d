/* gather.c -- the first pass: devices and their reports, and every part of every collective. Nothing else is kept. */
#include <stdlib.h>
#include <string.h>

#include "filter/align/aligning.h"
#include "stream/spool.h"

static struct nsx_key
key(uint64_t a, uint64_t b)
{
	return (struct nsx_key){ a, b };
}

/* Index of the profile, made if need be; NSX_NONE when out of memory. */
static uint32_t
profile_at(struct al_job *j, int64_t number)
{
	uint32_t *at = nsx_map_at(&j->profile_of, key((uint64_t)number, 0));

	if (at && *at == NSX_NONE && nsx_vec_push(&j->profiles, ((struct al_profile){ .number = number, .name = { "", 0 } })))
		*at = (uint32_t)j->profiles.n - 1;
	return at ? *at : NSX_NONE;
}

static int
meet_profile(struct al_job *j, const struct nsx_rec *rec)
{
	uint32_t at = profile_at(j, nsx_int(rec, NSX_PROFILE_profile, -1));
	struct nsx_str name = nsx_arena_str(&j->arena, nsx_string(rec, NSX_PROFILE_name));

	if (at == NSX_NONE || !name.ptr)
		return nsx_err_nomem(j->err, NULL);
	j->profiles.p[at] = (struct al_profile){ nsx_int(rec, NSX_PROFILE_profile, -1), nsx_int(rec, NSX_PROFILE_start_utc, 0),
	                                         nsx_has(rec, NSX_PROFILE_start_utc), name };
	return NSX_OK;
}

static int
meet_device(struct al_job *j, const struct nsx_rec *rec)
{
	int64_t number = nsx_int(rec, NSX_DEVICE_device, -1);
	uint32_t profile = profile_at(j, nsx_int(rec, NSX_DEVICE_profile, -1));
	uint32_t *at = nsx_map_at(&j->device_of, key((uint64_t)number, 0));

	if (profile == NSX_NONE || !at)
		return nsx_err_nomem(j->err, NULL);
	if (*at != NSX_NONE)
		return NSX_OK;
	if (!nsx_vec_push(&j->devices, ((struct al_device){ .number = number, .profile = profile })))
		return nsx_err_nomem(j->err, NULL);
	*at = (uint32_t)j->devices.n - 1;
	return NSX_OK;
}

/* The number of an instruction's entry, made if need be; NSX_NONE when out of memory. */
static uint32_t
inst_at(struct al_job *j, int64_t program, int64_t inst)
{
	uint32_t *at = nsx_map_at(&j->inst_of, key((uint64_t)program, (uint64_t)inst));

	if (at && *at == NSX_NONE && nsx_vec_push(&j->insts, ((struct al_inst){ .program = program, .inst = inst, .name = NSX_NONE })))
		*at = (uint32_t)j->insts.n - 1;
	return at ? *at : NSX_NONE;
}

static int
meet_inst(struct al_job *j, const struct nsx_rec *rec)
{
	if (!nsx_int(rec, NSX_INST_comm, 0))
		return NSX_OK;
	uint32_t at = inst_at(j, nsx_int(rec, NSX_INST_program, -1), nsx_int(rec, NSX_INST_inst, -1));
	if (at == NSX_NONE)
		return nsx_err_nomem(j->err, NULL);
	struct al_inst *in = &j->insts.p[at];

	in->has_groups = nsx_has(rec, NSX_INST_groups);
	in->groups = nsx_int(rec, NSX_INST_groups, 0);
	in->has_stack = nsx_has(rec, NSX_INST_stack);
	in->stack = nsx_int(rec, NSX_INST_stack, 0);
	return NSX_OK;
}

/* Whether only pairs of the devices exchange something with each other; told by the name where the kind is not known. */
static bool
is_pairwise(const struct al_job *j, const struct nsx_comm_part *part, struct nsx_str name)
{
	static const char *const kinds[] = { "collective-permute", "send", "recv" };
	struct nsx_str kind = part->kind == NSX_NONE ? name : nsx_intern_str(&j->comm.kinds, part->kind);

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (nsx_str_starts(kind, kinds[i]))
			return part->expected > 2;
	return false;
}

/* The number of what this part belongs to, NSX_NONE when out of memory. */
static uint32_t
what_at(struct al_job *j, const struct nsx_comm_part *part, uint32_t inst, int64_t program, struct nsx_str name)
{
	uint32_t *at = nsx_map_at(&j->what_of, key(part->inst, (uint64_t)part->instance));
	uint32_t *p = nsx_map_at(&j->program_of, key((uint64_t)program, 0));

	if (!at || !p)
		return NSX_NONE;
	if (*at != NSX_NONE)
		return *at;
	if (*p == NSX_NONE) {
		if (!nsx_vec_push(&j->programs, program))
			return NSX_NONE;
		*p = (uint32_t)j->programs.n - 1;
	}
	if (!nsx_vec_push(&j->whats, ((struct al_what){ .inst = inst, .program = *p, .pairs = is_pairwise(j, part, name),
	                                                .known = part->kind != NSX_NONE && part->has_group })))
		return NSX_NONE;
	return *at = (uint32_t)j->whats.n - 1;
}

static int
meet_part(struct al_job *j, const struct nsx_rec *rec, uint32_t device)
{
	int64_t execution = nsx_int(rec, NSX_THUNK_execution, -1), occurrence = nsx_int(rec, NSX_THUNK_occurrence, -1);
	int64_t program = nsx_int(rec, NSX_THUNK_program, -1);
	struct nsx_comm_part part;

	if (nsx_comm_part(&j->comm, rec, &part, j->err) != NSX_OK)
		return NSX_ERR;
	/* A copy between a device and its host says nothing of other devices. */
	if (part.has_group && part.group < 2 && part.expected < 2)
		return NSX_OK;
	/* Shifts are added to executions: keep them far from the limit. */
	if (execution < 0 || execution > INT32_MAX / 4 || occurrence < 0 || occurrence > INT32_MAX || j->obs.n >= UINT32_MAX - 1) {
		j->odd++;
		return NSX_OK;
	}
	uint32_t inst = inst_at(j, program, nsx_int(rec, NSX_THUNK_inst, -1));
	uint32_t what = inst == NSX_NONE ? NSX_NONE : what_at(j, &part, inst, program, nsx_string(rec, NSX_THUNK_name));
	if (what == NSX_NONE)
		return nsx_err_nomem(j->err, NULL);
	if (j->insts.p[inst].name == NSX_NONE && nsx_has(rec, NSX_THUNK_name)
	    && (j->insts.p[inst].name = nsx_intern(&j->names, rec->v[NSX_THUNK_name].s)) == NSX_NONE)
		return nsx_err_nomem(j->err, NULL);
	int64_t end = nsx_add_sat(rec->v[NSX_THUNK_start].i, nsx_int(rec, NSX_THUNK_dur, 0), NULL);
	if (!nsx_vec_push(&j->obs, ((struct al_obs){ end, what, device, (int32_t)execution, (int32_t)occurrence })))
		return nsx_err_nomem(j->err, NULL);
	return NSX_OK;
}

static int
meet_work(struct al_job *j, const struct nsx_rec *rec)
{
	bool thunk = rec->kind->id == NSX_THUNK;
	int64_t number = nsx_int(rec, thunk ? NSX_THUNK_device : NSX_MODULE_device, -1);
	uint32_t at = nsx_map_get(&j->device_of, key((uint64_t)number, 0));

	if (at == NSX_NONE) {
		j->odd += nsx_is_comm(&j->comm, rec);
		return NSX_OK;
	}
	j->devices.p[at].profiled = true;
	return nsx_is_comm(&j->comm, rec) ? meet_part(j, rec, at) : NSX_OK;
}

static int
meet(struct al_job *j, const struct nsx_rec *rec)
{
	int rc = NSX_OK;

	switch (rec->kind->id) {
	case NSX_PROFILE: return meet_profile(j, rec);
	case NSX_DEVICE:  rc = meet_device(j, rec); break;
	case NSX_INST:    rc = meet_inst(j, rec); break;
	case NSX_CLOCK:   j->aligned = true; return NSX_OK;
	case NSX_MODULE: case NSX_THUNK: return meet_work(j, rec);
	case NSX_OP:      return j->obs.n ? NSX_OK : al_meet_op(j, rec);
	default: break;
	}
	return rc == NSX_OK ? nsx_comm_meta(&j->comm, rec, j->err) : rc;
}

int
al_gather(struct al_job *j, struct nsx_reader *in, struct nsx_spool *spool)
{
	struct nsx_rec rec;
	int rc;

	while ((rc = nsx_read(in, &rec)) == NSX_OK)
		if ((spool && nsx_spool_write(spool, &rec) != NSX_OK) || meet(j, &rec) != NSX_OK)
			return NSX_ERR;
	if (rc != NSX_EOF)
		return NSX_ERR;
	if (j->obs.n)
		nsx_nccl_free(&j->nccl);
	nsx_comm_flag_diags(&j->comm, j->diags);
	nsx_diag_add(j->diags, NSX_WARNING, "", j->odd, "communication thunks and operations without a device, execution or occurrence are not used");
	return NSX_OK;
}

int
al_assign_clocks(struct al_job *j)
{
	uint32_t *of = malloc((j->profiles.n + 1) * sizeof *of);

	if (!of)
		return nsx_err_nomem(j->err, NULL);
	memset(of, 0xff, (j->profiles.n + 1) * sizeof *of);
	for (size_t i = 0; i < j->devices.n; i++) {
		struct al_device *d = &j->devices.p[i];

		if (of[d->profile] == NSX_NONE || j->opts->per_device)
			of[d->profile] = j->nclocks++;
		d->clock = of[d->profile];
	}
	free(of);
	return NSX_OK;
}

void
al_job_free(struct al_job *j)
{
	nsx_arena_free(&j->arena);
	nsx_comm_free(&j->comm);
	nsx_nccl_free(&j->nccl);
	nsx_intern_free(&j->names);
	nsx_map_free(&j->profile_of);
	nsx_map_free(&j->device_of);
	nsx_map_free(&j->inst_of);
	nsx_map_free(&j->what_of);
	nsx_map_free(&j->program_of);
	nsx_map_free(&j->shift_of);
	free(j->profiles.p);
	free(j->devices.p);
	free(j->insts.p);
	free(j->whats.p);
	free(j->programs.p);
	free(j->obs.p);
	free(j->instances.p);
	free(j->shifts.p);
	free(j->num);
}
