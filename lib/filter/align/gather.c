/* gather.c -- the first pass: devices and their reports, and each device's record of each instance of a collective.
 * Nothing else is kept. */
#include <stdlib.h>
#include <string.h>

#include "filter/align/aligning.h"
#include "stream/fields.h"
#include "stream/spool.h"

/* So many records are kept without taking a sample: 190 MB of XLA's, 230 of NCCL's. */
enum { MANY = 1 << 21, MANY_OPS = 1 << 20 };

/* ---- profiles of devices ---- */

uint32_t
nsx_align_profile_at(const struct al_job *j, uint32_t device)
{
	uint32_t at = j->comm.cat.devices.p[device].profile;

	return at == NSX_NONE ? (uint32_t)j->comm.cat.profiles.n : at;
}

int64_t
nsx_align_session_start(const struct al_job *j, uint32_t device)
{
	uint32_t at = j->comm.cat.devices.p[device].profile;

	return at == NSX_NONE ? NSX_ABSENT : j->comm.cat.profiles.p[at].start_utc;
}

struct nsx_str
nsx_align_report_name(const struct al_job *j, uint32_t device)
{
	uint32_t at = j->comm.cat.devices.p[device].profile;

	return nsx_cat_str(&j->comm.cat, at == NSX_NONE ? NSX_NONE : j->comm.cat.profiles.p[at].name);
}

/* ---- records ---- */

/* Whether devices exchange data in pairs only; judged by the name if the kind is unknown. */
static bool
is_pairwise(const struct al_job *j, const struct nsx_comm_record *r, struct nsx_str name)
{
	static const char *const kinds[] = { "collective-permute", "send", "recv" };
	struct nsx_str kind = r->kind == NSX_NONE ? name : nsx_cat_str(&j->comm.cat, r->kind);

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (nsx_str_starts(kind, kinds[i]))
			return r->participants > 2;
	return false;
}

/* The number of the record's collective, NSX_NONE with err filled when out of memory. */
static uint32_t
collective_at(struct al_job *j, const struct nsx_comm_record *r, struct nsx_str name)
{
	uint32_t *at = nsx_map_at(&j->collective_of, (struct nsx_key){ nsx_comm_collective(r), 0 });
	struct al_collective c = { .inst = r->inst, .name = NSX_NONE };

	if (at && *at == NSX_NONE) {
		c.program = nsx_map_number(&j->program_number, (struct nsx_key){ j->comm.cat.insts.p[r->inst].program,
			0 });
		c.pairs = is_pairwise(j, r, name);
		c.known = r->kind != NSX_NONE && r->has_group;
		if (c.program != NSX_NONE && nsx_vec_push(&j->collectives, c))
			*at = (uint32_t)j->collectives.n - 1;
	}
	if (!at || *at == NSX_NONE) {
		nsx_err_nomem(j->err, NULL);
		return NSX_NONE;
	}
	uint32_t *known = &j->collectives.p[*at].name;

	if (*known == NSX_NONE && name.len && (*known = nsx_cat_intern(&j->comm.cat, name, j->err)) == NSX_NONE)
		return NSX_NONE;
	return *at;
}

static int
take_comm(struct al_job *j, const struct nsx_rec *rec, uint32_t device)
{
	int64_t execution = nsx_int(rec, NSX_THUNK_execution, -1), occurrence = nsx_int(rec, NSX_THUNK_occurrence, -1);
	struct nsx_comm_record r;

	if (nsx_comm_describe(&j->comm, rec, &r, j->err) != NSX_OK)
		return NSX_ERR;
	/* A copy between a device and its host gives no information about other devices. */
	if (r.has_group && r.group < 2 && r.participants < 2)
		return NSX_OK;
	/* Shifts are added to executions: keep those far from the limit. */
	if (execution < 0 || execution > INT32_MAX / 4 || occurrence < 0 || occurrence > INT32_MAX ||
	    j->obs.n >= UINT32_MAX - 1) {
		j->unusable++;
		return NSX_OK;
	}
	struct nsx_str name = nsx_string(rec, NSX_THUNK_name);
	uint32_t collective = collective_at(j, &r, name);
	int64_t end = nsx_add_sat(rec->v[NSX_THUNK_start].i, nsx_int(rec, NSX_THUNK_dur, 0), NULL);
	struct al_unit_key unit = { collective, (int32_t)occurrence, name };
	bool dropped;

	if (collective == NSX_NONE || nsx_align_sample_take(j, &r, &unit, &dropped) != NSX_OK
	    || nsx_align_sample_cut(j, false) != NSX_OK)
		return NSX_ERR;
	if (dropped)
		return NSX_OK;
	if (!nsx_vec_push(&j->obs, ((struct al_obs){ end, collective, device, (int32_t)execution,
	    (int32_t)occurrence })))
		return nsx_err_nomem(j->err, NULL);
	return NSX_OK;
}

static int
take_work(struct al_job *j, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_find_device(&j->comm.cat, nsx_field_int(rec, NSX_ROLE_DEVICE, NSX_ABSENT));

	if (at == NSX_NONE) {
		j->unusable += nsx_is_comm(&j->comm, rec);
		return NSX_OK;
	}
	j->devices.p[at].profiled = j->devices.p[at].worked = true;
	return nsx_is_comm(&j->comm, rec) ? take_comm(j, rec, at) : NSX_OK;
}

/* Instructions that communicate, for skew records that refer to them. */
static int
take_stack(struct al_job *j, const struct nsx_rec *inst)
{
	struct al_stack s = { nsx_cat_inst(&j->comm.cat, inst), nsx_field_int(inst, NSX_ROLE_STACK, NSX_ABSENT) };

	if (!j->comm.cat.insts.p[s.inst].comm || s.stack == NSX_ABSENT)
		return NSX_OK;
	return nsx_vec_push(&j->stacks, s) ? NSX_OK : nsx_err_nomem(j->err, NULL);
}

static int
take_op(struct al_job *j, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_find_device(&j->comm.cat, nsx_field_int(rec, NSX_ROLE_DEVICE, NSX_ABSENT));

	if (at != NSX_NONE)
		j->devices.p[at].worked = true;
	return j->obs.n ? NSX_OK : nsx_align_take_op(j, rec);
}

static int
take(struct al_job *j, const struct nsx_rec *rec)
{
	switch (rec->kind->id) {
	case NSX_CLOCK: j->aligned = true; return NSX_OK;
	case NSX_MODULE: case NSX_THUNK: return take_work(j, rec);
	case NSX_OP: return take_op(j, rec);
	default: break;
	}
	if (nsx_comm_take(&j->comm, rec, j->err) != NSX_OK)
		return NSX_ERR;
	while (j->devices.n < j->comm.cat.devices.n)
		if (!nsx_vec_push(&j->devices, ((struct al_device){ .clock = 0 })))
			return nsx_err_nomem(j->err, NULL);
	return rec->kind->id == NSX_INST ? take_stack(j, rec) : NSX_OK;
}

/* Where the stream can be read again, the first pass reads what it uses. */
static void
need(const struct al_job *j, struct nsx_reader *in)
{
	nsx_comm_need(&j->comm, in);
	nsx_nccl_need(in);
	nsx_reader_need(in, NSX_INST, NSX_EVERY);
	nsx_reader_need(in, NSX_MODULE, NSX_C(MODULE, device));
	nsx_reader_need(in, NSX_THUNK, nsx_field_slots(NSX_THUNK, NSX_CAT_COMM_ROLES) | NSX_C(THUNK, device)
	                | NSX_C(THUNK, execution) | NSX_C(THUNK, occurrence) | NSX_C(THUNK, name) | NSX_C(THUNK, start)
	                | NSX_C(THUNK, dur));
	nsx_reader_need(in, NSX_OP, nsx_field_slots(NSX_OP, NSX_CAT_COMM_ROLES) | NSX_C(OP, name));
}

int
nsx_align_gather(struct al_job *j, struct nsx_reader *in, struct nsx_spool *spool)
{
	const struct nsx_align_opts *o = j->opts;
	bool wanted = o->keep || o->sample;
	struct nsx_rec rec;
	int rc;

	nsx_align_sample_begin(&j->sample, o->keep ? o->keep : NSX_ALIGN_KEEP, wanted ? 0 : MANY);
	nsx_align_sample_begin(&j->nccl_sample, o->keep ? o->keep : NSX_ALIGN_KEEP_OPS, wanted ? 0 : MANY_OPS);
	if (!spool)
		need(j, in);
	while ((rc = nsx_read(in, &rec)) == NSX_OK)
		if ((spool && nsx_spool_write(spool, &rec) != NSX_OK) || take(j, &rec) != NSX_OK)
			return NSX_ERR;
	if (rc != NSX_EOF || nsx_align_sample_cut(j, true) != NSX_OK
	    || (!j->obs.n && nsx_align_sample_cut_ops(j, true) != NSX_OK))
		return NSX_ERR;
	nsx_diag_add(j->diags, NSX_INFO, "", j->obs.n ? j->sample.left_out : j->nccl_sample.left_out,
	             "records of collectives beyond those that are enough to compare clocks: not used");
	if (j->obs.n)
		nsx_nccl_free(&j->nccl);
	if (j->obs.n || j->nccl.ops.n)
		nsx_nccl_free(&j->bare);
	nsx_comm_flag_diags(&j->comm, j->diags);
	nsx_diag_add(j->diags, NSX_WARNING, "", j->unusable,
	             "communication thunks and operations without a device, execution or occurrence: not used");
	return NSX_OK;
}

int
nsx_align_assign_clocks(struct al_job *j)
{
	size_t n = j->comm.cat.profiles.n + 1;
	uint32_t *of = malloc(n * sizeof *of);

	if (!of)
		return nsx_err_nomem(j->err, NULL);
	memset(of, 0xff, n * sizeof *of);
	for (uint32_t i = 0; i < j->devices.n; i++) {
		uint32_t *clock = &of[nsx_align_profile_at(j, i)];

		if (*clock == NSX_NONE || j->opts->per_device)
			*clock = j->nclocks++;
		j->devices.p[i].clock = *clock;
	}
	free(of);
	return NSX_OK;
}

void
nsx_align_job_free(struct al_job *j)
{
	nsx_comm_free(&j->comm);
	nsx_nccl_free(&j->nccl);
	nsx_nccl_free(&j->bare);
	nsx_align_sample_free(&j->sample);
	nsx_align_sample_free(&j->nccl_sample);
	nsx_map_free(&j->collective_of);
	nsx_map_free(&j->program_number);
	nsx_map_free(&j->shift_of);
	free(j->devices.p);
	free(j->collectives.p);
	free(j->stacks.p);
	free(j->obs.p);
	free(j->instances.p);
	free(j->shifts.p);
	free(j->num);
}
