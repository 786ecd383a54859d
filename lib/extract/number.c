/* number.c -- assigns the numbers in the job to profiles, devices, programs and instructions, depending only on the
 * contents of the exports. */
#include "extract/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sort.h"
#include "extract/nccl.h"
#include "job/comm/names.h"
#include "job/match/match.h"
#include "job/twins.h"
#include "job/comm/communicates.h"

/* ---- profiles */

static int64_t
lowest_device(const struct ex_profile *p)
{
	int64_t lowest = INT64_MAX;

	for (uint32_t d = 0; d < p->trace.ndevices; d++)
		if (p->devices[d].known && p->devices[d].global < lowest)
			lowest = p->devices[d].global;
	return lowest;
}

static int
compare_profiles(const void *a, const void *b)
{
	const struct ex_profile *x = a, *y = b;
	int64_t p = lowest_device(x), q = lowest_device(y);
	int c;

	if (p != q)
		return p < q ? -1 : 1;
	if ((c = nsx_str_cmp(x->trace.name, y->trace.name)) != 0)
		return c;
	if (x->trace.start_utc != y->trace.start_utc)
		return x->trace.start_utc < y->trace.start_utc ? -1 : 1;
	/* Of equal name and start: by content, so that the path decides only if everything else is equal. */
	if (x->trace.nranges != y->trace.nranges)
		return x->trace.nranges < y->trace.nranges ? -1 : 1;
	if (x->trace.nops != y->trace.nops)
		return x->trace.nops < y->trace.nops ? -1 : 1;
	return strcmp(x->input->path, y->input->path);
}

/* ---- devices */

struct owner { int64_t global; const struct ex_profile *p; };

NSX_ORDER(compare_owners, struct owner, NSX_CMP(a->global, b->global))

static bool
listed(const int64_t *list, int n, int64_t v)
{
	for (int i = 0; i < n; i++)
		if (list[i] == v)
			return true;
	return n == 0;
}

/* Two profilers cannot say that they recorded one GPU where not both know its number in the job. */
static int
report_twins(struct ex_job *job, size_t n)
{
	struct nsx_twin *list = malloc((n + 1) * sizeof *list);
	const struct ex_profile **of = malloc((n + 1) * sizeof *of);
	bool good = list && of;

	n = 0;
	for (int i = 0; good && i < job->n; i++) {
		const struct nsx_trace *t = &job->profiles[i].trace;
		for (uint32_t d = 0; d < t->ndevices; d++, n++) {
			int64_t pid = t->processes[t->devices[d].process].pid;
			struct nsx_twin *new = &list[n];
			*new = (struct nsx_twin){ .pid = pid ? pid : NSX_ABSENT, .cuda = t->devices[d].cuda,
				.schema = t->schema, .at = (uint32_t)n };
			if (t->start_utc == INT64_MIN
			    || __builtin_add_overflow(t->start_utc, t->devices[d].last, &new->last))
				new->last = INT64_MIN;
			of[n] = &job->profiles[i];
		}
	}
	if (good)
		nsx_twins_find(list, n);
	for (size_t i = 0; good && i < n; i++)
		if (list[i].of != NSX_NONE)
			nsx_diag_add(job->diags, NSX_WARNING, of[list[i].at]->trace.name.ptr, 1,
			             "devices that %s seems to have as well, of the same process: their time counts "
			             "twice", of[list[i].of]->input->path);
	free(list);
	free(of);
	return good ? NSX_OK : nsx_err_nomem(job->err, NULL);
}

struct place_of { dev_t dev; ino_t ino; int at; };

NSX_ORDER(by_file, struct place_of, NSX_CMP(a->dev, b->dev), NSX_CMP(a->ino, b->ino), NSX_CMP(a->at, b->at))

/* Profiles of one job are different files, and know one number of processes. */
static int
report_strangers(struct ex_job *job)
{
	struct place_of *files = malloc(((size_t)job->n + 1) * sizeof *files);
	const struct ex_profile *first = NULL;
	size_t n = 0;

	if (!files)
		return nsx_err_nomem(job->err, NULL);
	for (int i = 0; i < job->n; i++) {
		const struct ex_profile *p = &job->profiles[i];
		struct stat st;

		if (stat(p->input->path, &st) == 0 && S_ISREG(st.st_mode))
			files[n++] = (struct place_of){ st.st_dev, st.st_ino, i };
		if (p->trace.world <= 0)
			continue;
		first = first ? first : p;
		if (p->trace.world != first->trace.world)
			nsx_diag_add(job->diags, NSX_ERROR, p->trace.name.ptr, 1,
			             "a trace of a job of %" PRId64 " processes, where %s is of one of %" PRId64
			             ": they are of different jobs", p->trace.world, first->input->path,
			             first->trace.world);
	}
	qsort(files, n, sizeof *files, by_file);
	for (size_t i = 1; i < n; i++)
		if (files[i].dev == files[i - 1].dev && files[i].ino == files[i - 1].ino)
			nsx_diag_add(job->diags, NSX_ERROR, job->profiles[files[i].at].trace.name.ptr, 1,
			             "the same file as %s: its time counts twice",
			             job->profiles[files[i - 1].at].input->path);
	free(files);
	return NSX_OK;
}

static void
report_communicators(const struct ex_job *job)
{
	int by_ranks = 0;
	bool some = false;

	for (int i = 0; i < job->n; i++) {
		const struct ex_profile *p = &job->profiles[i];

		by_ranks += nsx_numbers_by_ranks(p->trace.schema);
		some |= p->nccl && p->nccl->places.n;
	}
	nsx_diag_add(job->diags, NSX_WARNING, "", some && by_ranks && by_ranks < job->n, NSX_TWO_NUMBERINGS);
}

static int
number_devices(struct ex_job *job)
{
	size_t most = 0, n = 0, kept = 0, all = 0;
	int64_t next = 0;

	for (int i = 0; i < job->n; i++)
		most += job->profiles[i].trace.ndevices;
	struct owner *owners = malloc((most + 1) * sizeof *owners);
	if (!owners)
		return nsx_err_nomem(job->err, NULL);
	for (int i = 0; i < job->n; i++)
		for (uint32_t d = 0; d < job->profiles[i].trace.ndevices; d++)
			if (job->profiles[i].devices[d].known)
				owners[n++] = (struct owner){ job->profiles[i].devices[d].global, &job->profiles[i] };
	qsort(owners, n, sizeof *owners, compare_owners);
	for (size_t i = 0; i < n; i++) {
		if (i && owners[i].global == owners[i - 1].global) {
			nsx_err_set(job->err, "%s and %s: both have device %" PRId64
			            " of the job: want profiles of one job, each once",
			            owners[i - 1].p->input->path, owners[i].p->input->path, owners[i].global);
			free(owners);
			return NSX_ERR;
		}
		next = owners[i].global + 1;
	}
	free(owners);
	for (int i = 0; i < job->n; i++) {
		int64_t unknown = 0;
		for (uint32_t d = 0; d < job->profiles[i].trace.ndevices; d++) {
			struct ex_device *device = &job->profiles[i].devices[d];
			if (!device->known) {
				device->global = next++;
				unknown += device->ran;
			}
			device->kept = listed(job->opts->devices, job->opts->ndevices, device->global) &&
			               listed(job->opts->processes, job->opts->nprocesses, device->process);
			kept += device->kept;
			all++;
		}
		nsx_diag_add(&job->profiles[i].diags, NSX_INFO, job->profiles[i].trace.name.ptr, unknown,
			"devices without a global number in their profile: numbered in order of profile and local "
			"number");
	}
	if (all && !kept)
		nsx_diag_add(job->diags, NSX_WARNING, "", 1, "--device and --process match no device");
	report_communicators(job);
	return report_strangers(job) == NSX_OK ? report_twins(job, all) : NSX_ERR;
}

/* ---- programs */

NSX_ORDER(compare_aliases, struct ex_alias, NSX_CMP(a->profile, b->profile), NSX_CMP(a->program, b->program),
          NSX_CMP(a->id, b->id), nsx_str_cmp(a->fingerprint, b->fingerprint), nsx_str_cmp(a->digest, b->digest))

/* The rows that the stream has: distinct ones, and none without a digest if another of the same name has one. */
static void
tidy_aliases(struct ex_job *job)
{
	size_t n = 0;

	if (!job->aliases.n)
		return;
	qsort(job->aliases.p, job->aliases.n, sizeof *job->aliases.p, compare_aliases);
	for (size_t i = 1; i < job->aliases.n; i++) {
		struct ex_alias *last = &job->aliases.p[n], *a = &job->aliases.p[i];
		bool same = last->profile == a->profile && last->program == a->program && last->id == a->id;
		if (same && (compare_aliases(last, a) == 0 || !last->digest.len))
			*last = *a;
		else
			job->aliases.p[++n] = *a;
	}
	job->aliases.n = n + 1;
}

/* The set of names, where the digest is theirs. */
static struct nsx_str
named(const struct nsx_extract_program *g)
{
	return g->digest[0] == 'x' ? g->names : NSX_STR("");
}

static int
keep_programs(struct ex_job *job, const struct nsx_match *m)
{
	size_t at = 0;

	for (size_t i = 0; i < m->nprograms; i++) {
		const struct nsx_match_program *g = &m->programs[i];
		struct ex_job_program program = { .id = g->id, .name = g->name, .fingerprint = g->fingerprint,
			.key = nsx_arena_str(&job->arena, g->key) };
		if (!program.key.ptr || !nsx_vec_push(&job->programs, program))
			return nsx_err_nomem(job->err, NULL);
	}
	for (int i = 0; i < job->n; i++)
		for (size_t k = 0; k < job->profiles[i].programs.n; k++, at++) {
			struct nsx_extract_program *program = &job->profiles[i].programs.p[k];
			program->number = m->program[at];
			struct ex_alias a = { job->profiles[i].number, program->number, program->id,
			                      program->fingerprint, nsx_str_c(program->digest), named(program) };
			if (!nsx_vec_push(&job->aliases, a))
				return nsx_err_nomem(job->err, NULL);
		}
	tidy_aliases(job);
	return NSX_OK;
}

static int
match_programs(struct ex_job *job)
{
	NSX_VEC(struct nsx_match_alias) list = { 0 };
	struct nsx_match m = { 0 };
	int rc = NSX_OK;

	for (int i = 0; i < job->n && rc == NSX_OK; i++)
		for (size_t k = 0; k < job->profiles[i].programs.n && rc == NSX_OK; k++) {
			const struct nsx_extract_program *g = &job->profiles[i].programs.p[k];
			struct nsx_match_alias a = { job->profiles[i].number, g->id, -1, g->name, g->fingerprint,
			                             nsx_str_c(g->digest), named(g) };
			if (!nsx_vec_push(&list, a))
				rc = nsx_err_nomem(job->err, NULL);
		}
	if (rc == NSX_OK)
		rc = nsx_match(list.p, list.n, job->opts->match, &m, job->err);
	if (rc == NSX_OK)
		rc = keep_programs(job, &m);
	nsx_match_free(&m);
	free(list.p);
	return rc;
}

/* ---- instructions */

struct inst_ref { uint32_t program; struct nsx_str name; struct ex_profile *p; uint32_t i; };

NSX_ORDER(compare_insts, struct inst_ref, NSX_CMP(a->program, b->program), nsx_str_cmp(a->name, b->name),
          NSX_CMP(a->p->number, b->p->number), NSX_CMP(a->i, b->i))

static bool
same_work(const struct nsx_hlo_cost *x, const struct nsx_hlo_cost *y)
{
	return !x->modelled || !y->modelled ||
	       (x->flops == y->flops && x->math == y->math && x->vector == y->vector && x->mem_bytes == y->mem_bytes);
}

/* If no dump says whether an instruction communicates, its name decides, else the kernels that it ran; if a dump does
 * not contain it, the kernels only. */
static const char *
judge(const struct ex_profile *p, const struct nsx_extract_inst *inst)
{
	const char *kind = p->programs.p[inst->program].dumped ? NULL
	    : nsx_comm_by_instruction(nsx_intern_str(&p->inst_names, inst->name));

	return kind ? kind : inst->kernels;
}

/* Whether the profile's own data say that it communicates. */
static bool
inst_communicates(const struct ex_profile *p, const struct nsx_extract_inst *inst, const struct ex_info *info)
{
	/* An opcode from NVTX payloads does not describe the inside of a fusion. */
	if (info && info->opcode.len && (info->comm || p->programs.p[inst->program].dumped))
		return info->comm;
	return judge(p, inst) != NULL;
}

enum ex_comm
nsx_extract_inst_comm(const struct ex_profile *p, uint32_t i)
{
	const struct nsx_extract_inst *inst = &p->insts.p[i];
	const struct ex_info *info = inst->info == NSX_NONE ? NULL : &p->infos.p[inst->info];
	bool comm = inst_communicates(p, inst, info);

	if (!nsx_comm_settles(comm, info ? info->opcode : NSX_STR("")))
		return EX_COMM_BY_OP;
	return comm ? EX_COMM_YES : EX_COMM_NO;
}

static void
set_judged(const struct inst_ref *r, struct ex_job_inst *inst)
{
	const char *kind = judge(r->p, &r->p->insts.p[r->i]);

	inst->comm = kind != NULL;
	inst->collective = nsx_str_c(kind);
}

/* The data of an instruction are those of the first profile that knows its opcode; if none does, of the first
 * profile. */
static void
describe(struct ex_job *job, const struct inst_ref *r, struct ex_job_inst *inst)
{
	const struct nsx_extract_inst *own = &r->p->insts.p[r->i];
	const struct ex_info *info = own->info == NSX_NONE ? NULL : &r->p->infos.p[own->info];
	bool known = inst->info && inst->info->opcode.len;

	if (!info || !info->opcode.len) {
		if (!inst->p) {
			set_judged(r, inst);
			inst->info = info;
			inst->p = r->p;
		}
		return;
	}
	if (!known) {
		inst->info = info;
		inst->p = r->p;
		inst->comm = info->comm;
		inst->collective = info->collective;
		/* An opcode from NVTX payloads does not describe the inside of a fusion. */
		if (!info->comm && !r->p->programs.p[own->program].dumped)
			set_judged(r, inst);
	} else if (inst->info->comm != info->comm || inst->info->bytes != info->bytes || !nsx_str_eq(inst->info->opcode,
		info->opcode) ||
	           !same_work(&inst->info->cost, &info->cost))
		nsx_diag_add(job->diags, NSX_WARNING, "", 1,
			"instructions of one program and name that dumps of several profiles describe differently: the "
			"first is used");
}

/* The number of the frames in the job, NSX_NONE if there are none; met: numbers by address of the text, which is long
 * and shared by many instructions of a profile. */
static int
number_frames(struct ex_job *job, struct nsx_map *met, struct nsx_str frames, uint32_t *number)
{
	*number = NSX_NONE;
	if (!frames.len)
		return NSX_OK;
	uint32_t *at = nsx_map_at(met, (struct nsx_key){ (uint64_t)(uintptr_t)frames.ptr, frames.len });
	if (at && *at == NSX_NONE)
		*at = nsx_intern(&job->stacks, frames);
	if (!at || *at == NSX_NONE)
		return nsx_err_nomem(job->err, NULL);
	*number = *at;
	return NSX_OK;
}

/* Stacks and groups are numbered in order of their first use; also decides what applies to an instruction's
 * operations. */
static int
number_places_of(struct ex_job *job, struct nsx_map *met)
{
	for (size_t i = 0; i < job->insts.n; i++) {
		struct ex_job_inst *inst = &job->insts.p[i];
		inst->settled = nsx_comm_settles(inst->comm, inst->info ? inst->info->opcode : NSX_STR(""));
		if (!inst->info)
			continue;
		inst->locs = (uint32_t)job->loc_stacks.n;
		if (inst->info->groups.len && (inst->groups = nsx_intern(&job->groups, inst->info->groups)) == NSX_NONE)
			return nsx_err_nomem(job->err, NULL);
		if (number_frames(job, met, inst->info->frames, &inst->stack) != NSX_OK)
			return NSX_ERR;
		for (uint32_t k = 0; k < inst->info->nlocs; k++) {
			struct nsx_str frames = inst->p->info_locs.p[inst->info->locs + k].frames;
			uint32_t stack;
			if (number_frames(job, met, frames, &stack) != NSX_OK)
				return NSX_ERR;
			if (!nsx_vec_push(&job->loc_stacks, stack))
				return nsx_err_nomem(job->err, NULL);
		}
	}
	return NSX_OK;
}

static int
number_places(struct ex_job *job)
{
	struct nsx_map met = { 0 };
	int rc = number_places_of(job, &met);

	nsx_map_free(&met);
	return rc;
}

static int
number_refs(struct ex_job *job, const struct inst_ref *refs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct inst_ref *r = &refs[i];
		struct ex_job_program *program = &job->programs.p[r->program];
		bool first = !program->ninsts;
		if (first)
			program->first_inst = (uint32_t)job->insts.n;
		if (first || !nsx_str_eq(r->name, refs[i - 1].name)) {
			struct ex_job_inst inst = { .program = r->program, .name = r->name, .groups = NSX_NONE,
			                            .stack = NSX_NONE };
			if (!nsx_vec_push(&job->insts, inst))
				return nsx_err_nomem(job->err, NULL);
			program->ninsts++;
		}
		r->p->insts.p[r->i].number = program->ninsts - 1;
		describe(job, r, &job->insts.p[job->insts.n - 1]);
	}
	return NSX_OK;
}

static int
number_insts(struct ex_job *job)
{
	size_t n = 0;

	for (int i = 0; i < job->n; i++)
		n += job->profiles[i].insts.n;
	struct inst_ref *refs = malloc((n + 1) * sizeof *refs);
	if (!refs)
		return nsx_err_nomem(job->err, NULL);
	n = 0;
	for (int i = 0; i < job->n; i++) {
		struct ex_profile *p = &job->profiles[i];
		for (uint32_t k = 0; k < p->insts.n; k++)
			if (!p->insts.p[k].idle)
				refs[n++] = (struct inst_ref){ p->programs.p[p->insts.p[k].program].number,
				                               nsx_intern_str(&p->inst_names, p->insts.p[k].name), p,
				                               k };
	}
	qsort(refs, n, sizeof *refs, compare_insts);
	int rc = number_refs(job, refs, n);
	free(refs);
	if (rc == NSX_OK)
		rc = number_places(job);
	return rc == NSX_OK ? nsx_extract_number_cpu(job) : rc;
}

int
nsx_extract_number(struct ex_job *job)
{
	qsort(job->profiles, (size_t)job->n, sizeof *job->profiles, compare_profiles);
	for (int i = 0; i < job->n; i++)
		job->profiles[i].number = i;
	return number_devices(job) == NSX_OK && match_programs(job) == NSX_OK ? number_insts(job) : NSX_ERR;
}
