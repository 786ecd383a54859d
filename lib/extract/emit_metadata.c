/* emit_metadata.c -- the records of metadata: profiles, devices, communicators, programs, places, instructions. */
#include "extract/emit.h"

#include <stdlib.h>

#include "base/sort.h"

/* The time that was seen: of the capture, whose end may not be recorded, as much as the options select. */
static void
set_window(const struct ex_emit *e, const struct ex_profile *p, struct nsx_rec *r)
{
	const struct nsx_extract_opts *o = e->job->opts;
	int64_t to = p->trace.stop == INT64_MIN ? INT64_MAX : p->trace.stop;

	to = o->to < to ? o->to : to;
	if (o->from != INT64_MIN)
		nsx_set_i(r, NSX_PROFILE_from, o->from);
	if (to != INT64_MAX)
		nsx_set_i(r, NSX_PROFILE_to, to);
}

static int
emit_profile(struct ex_emit *e, const struct ex_profile *p)
{
	struct nsx_rec *r = nsx_emit_begin(e, NSX_PROFILE);

	nsx_set_i(r, NSX_PROFILE_profile, p->number);
	nsx_set_s(r, NSX_PROFILE_name, p->trace.name);
	nsx_set_s(r, NSX_PROFILE_host, p->trace.host);
	nsx_set_s(r, NSX_PROFILE_product, p->trace.product);
	nsx_set_s(r, NSX_PROFILE_schema, p->trace.schema);
	if (p->trace.start_utc != INT64_MIN)
		nsx_set_i(r, NSX_PROFILE_start_utc, p->trace.start_utc);
	set_window(e, p, r);
	return nsx_emit_done(e);
}

struct device_ref { int64_t global; const struct ex_profile *p; uint32_t d; };

NSX_ORDER(by_global, struct device_ref, NSX_CMP(a->global, b->global))

static int
emit_devices(struct ex_emit *e)
{
	size_t n = 0;
	int rc = NSX_OK;

	for (int i = 0; i < e->job->n; i++)
		n += e->job->profiles[i].trace.ndevices;
	struct device_ref *refs = malloc((n + 1) * sizeof *refs);
	if (!refs)
		return nsx_err_nomem(&e->err, NULL);
	n = 0;
	for (int i = 0; i < e->job->n; i++)
		for (uint32_t d = 0; d < e->job->profiles[i].trace.ndevices; d++)
			refs[n++] = (struct device_ref){ e->job->profiles[i].devices[d].global, &e->job->profiles[i],
			                                 d };
	qsort(refs, n, sizeof *refs, by_global);
	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		const struct nsx_device *td = &refs[i].p->trace.devices[refs[i].d];
		const struct ex_device *d = &refs[i].p->devices[refs[i].d];
		if (!d->kept)
			continue;
		struct nsx_rec *r = nsx_emit_begin(e, NSX_DEVICE);
		nsx_set_i(r, NSX_DEVICE_device, d->global);
		nsx_set_i(r, NSX_DEVICE_profile, refs[i].p->number);
		nsx_emit_set_known(r, NSX_DEVICE_process, d->process);
		nsx_emit_set_known(r, NSX_DEVICE_local, d->local);
		nsx_emit_set_known(r, NSX_DEVICE_partition, d->partition);
		nsx_set_i(r, NSX_DEVICE_cuda, td->cuda);
		nsx_emit_set_pid(r, NSX_DEVICE_pid, &refs[i].p->trace, td->process);
		nsx_set_s(r, NSX_DEVICE_name, td->gpu_name);
		nsx_set_s(r, NSX_DEVICE_uuid, td->uuid);
		nsx_set_i(r, NSX_DEVICE_known, d->known);
		nsx_set_i(r, NSX_DEVICE_last, td->last);
		nsx_emit_set_known(r, NSX_DEVICE_sms, td->sms);
		nsx_emit_set_known(r, NSX_DEVICE_clock, td->clock);
		nsx_emit_set_known(r, NSX_DEVICE_mem_bandwidth, td->bandwidth);
		nsx_emit_set_known(r, NSX_DEVICE_cc, td->cc);
		nsx_emit_set_known(r, NSX_DEVICE_memory, td->memory);
		rc = nsx_emit_done(e);
	}
	free(refs);
	return rc;
}

/* The last name that the export has for the thread; empty: none. */
static struct nsx_str
thread_name(const struct nsx_trace *t, uint64_t gtid)
{
	size_t lo = 0, hi = t->nthread_names;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->thread_names[mid].key <= gtid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && t->thread_names[lo - 1].key == gtid ? t->thread_names[lo - 1].name : NSX_STR("");
}

static int
emit_threads(struct ex_emit *e, const struct ex_profile *p)
{
	size_t n;
	struct nsx_extract_thread *list = nsx_extract_cpu_threads(p, &n);
	int rc = list ? NSX_OK : nsx_err_nomem(&e->err, p->input->path);

	for (size_t i = 0; rc == NSX_OK && i < n; i++) {
		struct nsx_rec *r = nsx_emit_begin(e, NSX_THREAD);

		nsx_set_i(r, NSX_THREAD_profile, p->number);
		nsx_set_i(r, NSX_THREAD_pid, (int64_t)(list[i].gtid >> 24 & 0xFFFFFF));
		nsx_set_i(r, NSX_THREAD_tid, nsx_extract_tid(list[i].gtid));
		nsx_set_s(r, NSX_THREAD_name, thread_name(&p->trace, list[i].gtid));
		if (list[i].data && list[i].data->scheduled)
			nsx_set_i(r, NSX_THREAD_scheduled, 1);
		if (list[i].data && list[i].data->python)
			nsx_set_i(r, NSX_THREAD_python, list[i].data->python);
		rc = nsx_emit_done(e);
	}
	free(list);
	return rc;
}

/* places must be valid until the outbox is closed: it holds the names. */
static int
emit_communicators(struct ex_emit *e)
{
	size_t n;

	e->places = nsx_extract_places(e->job, &n);
	if (!e->places)
		return nsx_err_nomem(&e->err, NULL);
	for (size_t i = 0; i < n; i++) {
		const struct ex_place *p = &e->places[i];
		struct nsx_rec *r = nsx_emit_begin(e, NSX_COMMUNICATOR);
		nsx_set_s(r, NSX_COMMUNICATOR_comm_id, nsx_str_c(p->comm_id));
		nsx_set_i(r, NSX_COMMUNICATOR_profile, p->profile);
		nsx_emit_set_known(r, NSX_COMMUNICATOR_device, p->device);
		nsx_emit_set_known(r, NSX_COMMUNICATOR_rank, p->rank);
		nsx_emit_set_known(r, NSX_COMMUNICATOR_ranks, p->ranks);
		nsx_set_s(r, NSX_COMMUNICATOR_name, p->name);
		if (nsx_emit_done(e) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

static int
emit_programs(struct ex_emit *e)
{
	for (size_t i = 0; i < e->job->programs.n; i++) {
		const struct ex_job_program *g = &e->job->programs.p[i];
		struct nsx_rec *r = nsx_emit_begin(e, NSX_PROGRAM);
		nsx_set_i(r, NSX_PROGRAM_program, (int64_t)i);
		nsx_emit_set_known(r, NSX_PROGRAM_id, g->id);
		nsx_set_s(r, NSX_PROGRAM_name, g->name);
		nsx_set_s(r, NSX_PROGRAM_fingerprint, g->fingerprint);
		nsx_set_s(r, NSX_PROGRAM_key, g->key);
		if (nsx_emit_done(e) != NSX_OK)
			return NSX_ERR;
	}
	for (size_t i = 0; i < e->job->aliases.n; i++) {
		const struct ex_alias *a = &e->job->aliases.p[i];
		struct nsx_rec *r = nsx_emit_begin(e, NSX_ALIAS);
		nsx_set_i(r, NSX_ALIAS_profile, a->profile);
		nsx_set_i(r, NSX_ALIAS_program, a->program);
		nsx_emit_set_known(r, NSX_ALIAS_id, a->id);
		nsx_set_s(r, NSX_ALIAS_fingerprint, a->fingerprint);
		nsx_set_s(r, NSX_ALIAS_digest, a->digest);
		nsx_set_s(r, NSX_ALIAS_names, a->names);
		if (nsx_emit_done(e) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

static int
emit_places(struct ex_emit *e)
{
	for (size_t i = 0; i < e->job->groups.n; i++) {
		struct nsx_rec *r = nsx_emit_begin(e, NSX_GROUPS);
		nsx_set_i(r, NSX_GROUPS_groups, (int64_t)i);
		nsx_set_s(r, NSX_GROUPS_members, nsx_intern_str(&e->job->groups, (uint32_t)i));
		if (nsx_emit_done(e) != NSX_OK)
			return NSX_ERR;
	}
	for (size_t i = 0; i < e->job->stacks.n; i++) {
		struct nsx_rec *r = nsx_emit_begin(e, NSX_STACK);
		nsx_set_i(r, NSX_STACK_stack, (int64_t)i);
		nsx_set_s(r, NSX_STACK_frames, nsx_intern_str(&e->job->stacks, (uint32_t)i));
		if (nsx_emit_done(e) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

static int64_t
number_in_program(const struct ex_job *job, size_t i)
{
	return (int64_t)(i - job->programs.p[job->insts.p[i].program].first_inst);
}

/* Instructions that are not modelled have no columns; work without dots has no math. */
static void
set_cost(struct nsx_rec *r, const struct nsx_hlo_cost *c)
{
	if (!c->modelled)
		return;
	nsx_set_i(r, NSX_INST_flops, c->flops);
	if (c->flops)
		nsx_set_s(r, NSX_INST_math, nsx_hlo_math_name(c->math));
	nsx_set_i(r, NSX_INST_vector, c->vector);
	nsx_set_i(r, NSX_INST_mem_bytes, c->mem_bytes);
}

static int
emit_insts(struct ex_emit *e)
{
	for (size_t i = 0; i < e->job->insts.n; i++) {
		const struct ex_job_inst *n = &e->job->insts.p[i];
		struct nsx_rec *r = nsx_emit_begin(e, NSX_INST);
		nsx_set_i(r, NSX_INST_program, n->program);
		nsx_set_i(r, NSX_INST_inst, number_in_program(e->job, i));
		nsx_set_s(r, NSX_INST_name, n->name);
		nsx_set_i(r, NSX_INST_comm, n->comm);
		nsx_set_s(r, NSX_INST_collective, n->collective);
		if (n->info) {
			nsx_set_s(r, NSX_INST_opcode, n->info->opcode);
			nsx_emit_set_known(r, NSX_INST_bytes, n->info->bytes);
			nsx_set_s(r, NSX_INST_op_name, n->info->op_name);
			nsx_set_s(r, NSX_INST_scheduling_name, n->info->scheduling_name);
			set_cost(r, &n->info->cost);
		}
		if (n->groups != NSX_NONE)
			nsx_set_i(r, NSX_INST_groups, n->groups);
		if (n->stack != NSX_NONE)
			nsx_set_i(r, NSX_INST_stack, n->stack);
		if (nsx_emit_done(e) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

static int
emit_locs(struct ex_emit *e)
{
	for (size_t i = 0; i < e->job->insts.n; i++) {
		const struct ex_job_inst *n = &e->job->insts.p[i];
		for (uint32_t k = 0; n->info && k < n->info->nlocs; k++) {
			struct nsx_rec *r = nsx_emit_begin(e, NSX_LOC);
			uint32_t stack = e->job->loc_stacks.p[n->locs + k];
			nsx_set_i(r, NSX_LOC_program, n->program);
			nsx_set_i(r, NSX_LOC_inst, number_in_program(e->job, i));
			nsx_set_s(r, NSX_LOC_op_name, n->p->info_locs.p[n->info->locs + k].op_name);
			if (stack != NSX_NONE)
				nsx_set_i(r, NSX_LOC_stack, stack);
			if (nsx_emit_done(e) != NSX_OK)
				return NSX_ERR;
		}
	}
	return NSX_OK;
}

int
nsx_emit_metadata(struct ex_emit *e)
{
	for (int i = 0; i < e->job->n; i++)
		if (emit_profile(e, &e->job->profiles[i]) != NSX_OK)
			return NSX_ERR;
	if (emit_devices(e) != NSX_OK)
		return NSX_ERR;
	for (int i = 0; i < e->job->n; i++)
		if (e->job->profiles[i].trace.cpu && emit_threads(e, &e->job->profiles[i]) != NSX_OK)
			return NSX_ERR;
	if (emit_communicators(e) != NSX_OK || emit_programs(e) != NSX_OK)
		return NSX_ERR;
	return emit_places(e) == NSX_OK && emit_insts(e) == NSX_OK ? emit_locs(e) : NSX_ERR;
}
