/* metadata.c -- conversion between records of metadata and structures. */
#include "job/metadata.h"

struct nsx_clock
nsx_clock_of(const struct nsx_rec *clock)
{
	return (struct nsx_clock){
		.device = nsx_int(clock, NSX_CLOCK_device, NSX_ABSENT),
		.profile = nsx_int(clock, NSX_CLOCK_profile, NSX_ABSENT),
		.offset = nsx_has(clock, NSX_CLOCK_offset) ? clock->v[NSX_CLOCK_offset].f : 0,
		.rate = nsx_has(clock, NSX_CLOCK_rate) ? clock->v[NSX_CLOCK_rate].f : 0,
		.ref = nsx_int(clock, NSX_CLOCK_ref, 0),
		.collectives = nsx_int(clock, NSX_CLOCK_collectives, NSX_ABSENT),
		.component = nsx_int(clock, NSX_CLOCK_component, NSX_ABSENT),
		.error = nsx_has(clock, NSX_CLOCK_error) ? clock->v[NSX_CLOCK_error].f : -1,
		.executions = nsx_string(clock, NSX_CLOCK_executions),
	};
}

static void
set_known(struct nsx_rec *rec, int slot, int64_t v)
{
	if (v != NSX_ABSENT)
		nsx_set_i(rec, slot, v);
}

void
nsx_clock_set(struct nsx_rec *clock, const struct nsx_clock *c)
{
	set_known(clock, NSX_CLOCK_device, c->device);
	set_known(clock, NSX_CLOCK_profile, c->profile);
	nsx_set_f(clock, NSX_CLOCK_offset, c->offset);
	nsx_set_f(clock, NSX_CLOCK_rate, c->rate);
	nsx_set_i(clock, NSX_CLOCK_ref, c->ref);
	set_known(clock, NSX_CLOCK_collectives, c->collectives);
	set_known(clock, NSX_CLOCK_component, c->component);
	if (c->error >= 0)
		nsx_set_f(clock, NSX_CLOCK_error, c->error);
	nsx_set_s(clock, NSX_CLOCK_executions, c->executions);
}

struct nsx_program_names
nsx_program_names_of(const struct nsx_rec *program)
{
	return (struct nsx_program_names){
		.number = nsx_int(program, NSX_PROGRAM_program, NSX_ABSENT),
		.id = nsx_int(program, NSX_PROGRAM_id, NSX_ABSENT),
		.name = nsx_string(program, NSX_PROGRAM_name),
		.key = nsx_string(program, NSX_PROGRAM_key),
	};
}

struct nsx_str
nsx_profile_name_of(const struct nsx_rec *profile)
{
	return nsx_string(profile, NSX_PROFILE_name);
}

struct nsx_device_process
nsx_device_process_of(const struct nsx_rec *device)
{
	return (struct nsx_device_process){ nsx_int(device, NSX_DEVICE_device, NSX_ABSENT),
		                            nsx_int(device, NSX_DEVICE_pid, NSX_ABSENT) };
}

struct nsx_times
nsx_metadata_times(struct nsx_rec *rec)
{
	static const struct { enum nsx_kind_id kind; int slot; } timed[] = {
		{ NSX_PROFILE, NSX_PROFILE_from }, { NSX_PROFILE, NSX_PROFILE_to }, { NSX_DEVICE, NSX_DEVICE_last }
	};
	struct nsx_times t = { 0, { NULL } };

	for (size_t i = 0; i < sizeof timed / sizeof *timed; i++)
		if (rec->kind->id == timed[i].kind && nsx_has(rec, timed[i].slot))
			t.at[t.n++] = &rec->v[timed[i].slot].i;
	return t;
}

void
nsx_profile_set(struct nsx_rec *profile, int64_t number, struct nsx_str name)
{
	nsx_set_i(profile, NSX_PROFILE_profile, number);
	nsx_set_s(profile, NSX_PROFILE_name, name);
}

void
nsx_device_set(struct nsx_rec *device, int64_t number, int64_t profile)
{
	nsx_set_i(device, NSX_DEVICE_device, number);
	nsx_set_i(device, NSX_DEVICE_profile, profile);
	nsx_set_i(device, NSX_DEVICE_known, 0);
}
