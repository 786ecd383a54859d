/* estimate.c -- writes an estimate: skew records, or an estimate alone, with the clocks and the metadata they refer
 * to. */
#include <stdlib.h>

#include "filter/align/aligning.h"
#include "stream/fields.h"
#include "stream/order.h"
#include "base/sort.h"

/* ---- skews ---- */

/* An instance that was used; numbers of 64 bits are replaced by their ranks. Instances of one instruction in several
 * groups are alike but for their devices. */
struct used_instance { uint32_t program, inst, instance; int32_t execution, occurrence; };

/* A device's record of one of them. */
struct used_record { uint32_t device, instance, obs; };

/* Ranks in order of their numbers: of programs and devices by index in the catalogue; of the instructions of
 * collectives, by collective. */
struct ranks { uint32_t *program, *inst, *device; };

static int
by_key(const struct used_instance *a, const struct used_instance *b)
{
	if (a->program != b->program)
		return a->program < b->program ? -1 : 1;
	if (a->execution != b->execution)
		return a->execution < b->execution ? -1 : 1;
	if (a->inst != b->inst)
		return a->inst < b->inst ? -1 : 1;
	return (a->occurrence > b->occurrence) - (a->occurrence < b->occurrence);
}

NSX_ORDER(by_instance, struct used_instance, by_key(a, b), NSX_CMP(a->instance, b->instance))

NSX_ORDER(by_device, struct used_record, NSX_CMP(a->device, b->device), NSX_CMP(a->obs, b->obs))

/* The rank of each of n keys, whose i is their index, equal ones alike; NULL when out of memory. Frees the keys. */
static uint32_t *
rank(struct nsx_sort_key *keys, size_t n)
{
	uint32_t *of = malloc((n + 1) * sizeof *of);

	if (keys && of) {
		nsx_sort_keys(keys, n);
		for (uint32_t i = 0; i < n; i++) {
			bool same = i && keys[i].k[0] == keys[i - 1].k[0] && keys[i].k[1] == keys[i - 1].k[1];

			of[keys[i].i] = same ? of[keys[i - 1].i] : i;
		}
	} else {
		free(of);
		of = NULL;
	}
	free(keys);
	return of;
}

static bool
find_ranks(const struct al_job *j, struct ranks *r)
{
	const struct nsx_catalogue *cat = &j->comm.cat;
	struct nsx_sort_key *p = malloc((cat->programs.n + 1) * sizeof *p),
	    *i = malloc((j->collectives.n + 1) * sizeof *i),
	                    *d = malloc((j->devices.n + 1) * sizeof *d);

	for (uint32_t k = 0; p && k < cat->programs.n; k++)
		p[k] = (struct nsx_sort_key){ { cat->programs.p[k].number, 0, 0 }, k };
	for (uint32_t k = 0; i && k < j->collectives.n; k++) {
		const struct nsx_cat_inst *in = &cat->insts.p[j->collectives.p[k].inst];

		i[k] = (struct nsx_sort_key){ { cat->programs.p[in->program].number, in->number, 0 }, k };
	}
	for (uint32_t k = 0; d && k < j->devices.n; k++)
		d[k] = (struct nsx_sort_key){ { cat->devices.p[k].number, 0, 0 }, k };
	*r = (struct ranks){ rank(p, cat->programs.n), rank(i, j->collectives.n), rank(d, j->devices.n) };
	return r->program && r->inst && r->device;
}

static void
fill(const struct al_job *j, const struct used_instance *of, const struct used_record *r, struct nsx_rec *rec)
{
	const struct al_obs *o = &j->obs.p[r->obs];
	const struct al_collective *c = &j->collectives.p[o->collective];
	const struct nsx_cat_inst *inst = &j->comm.cat.insts.p[c->inst];
	uint32_t n = j->instances.p[r->instance].n;
	int64_t num = j->num[r->obs];

	rec->has = 0;
	nsx_set_i(rec, NSX_SKEW_device, j->comm.cat.devices.p[o->device].number);
	nsx_set_i(rec, NSX_SKEW_program, j->comm.cat.programs.p[inst->program].number);
	nsx_set_i(rec, NSX_SKEW_execution, of->execution);
	nsx_set_i(rec, NSX_SKEW_inst, inst->number);
	nsx_set_i(rec, NSX_SKEW_occurrence, of->occurrence);
	nsx_set_s(rec, NSX_SKEW_name, nsx_cat_str(&j->comm.cat, c->name));
	nsx_set_f(rec, NSX_SKEW_skew, (double)(num / n) + (double)(num % n) / n);
}

/* Write the records of n instances of one key. */
static int
write_instances(const struct al_job *j, const struct ranks *rank, const struct used_instance *used, size_t n,
                struct nsx_writer *out)
{
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec rec = { nsx_kind_builtin(NSX_SKEW), 0, v };
	NSX_VEC(struct used_record) rows = { 0 };
	int rc = NSX_OK;

	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		const struct al_instance *in = &j->instances.p[used[i].instance];

		if (!nsx_vec_room(&rows, in->n))
			rc = nsx_err_nomem(j->err, NULL);
		for (uint32_t k = in->first; rc == NSX_OK && k < in->first + in->n; k++)
			rows.p[rows.n++] = (struct used_record){ rank->device[j->obs.p[k].device], used[i].instance,
			                                         k };
	}
	if (rc == NSX_OK && rows.n > 1)
		qsort(rows.p, rows.n, sizeof *rows.p, by_device);
	for (size_t i = 0; i < rows.n && rc == NSX_OK; i++) {
		fill(j, used, &rows.p[i], &rec);
		rc = nsx_write(out, &rec);
	}
	free(rows.p);
	return rc;
}

/* The instances used, sorted; NULL when out of memory. */
static struct used_instance *
sorted_instances(const struct al_job *j, const struct ranks *rank)
{
	size_t n = j->instances.n;
	struct used_instance *used = malloc((n + 1) * sizeof *used);

	for (uint32_t i = 0; used && i < n; i++) {
		const struct al_obs *o = &j->obs.p[j->instances.p[i].first];
		uint32_t inst = j->collectives.p[o->collective].inst;

		used[i] = (struct used_instance){ rank->program[j->comm.cat.insts.p[inst].program],
		                                  rank->inst[o->collective], i, o->execution, o->occurrence };
	}
	if (used && n > 1)
		qsort(used, n, sizeof *used, by_instance);
	return used;
}

int
nsx_align_write_skews(const struct al_job *j, struct nsx_writer *out)
{
	struct ranks rank = { 0 };
	struct used_instance *used = NULL;
	int rc = NSX_OK;

	if (j->by_nccl)
		return NSX_OK;
	if (find_ranks(j, &rank))
		used = sorted_instances(j, &rank);
	if (!used)
		rc = nsx_err_nomem(j->err, NULL);
	for (size_t i = 0, k; i < j->instances.n && rc == NSX_OK; i = k) {
		for (k = i + 1; k < j->instances.n && by_key(&used[k], &used[i]) == 0; k++)
			;
		rc = write_instances(j, &rank, used + i, k - i, out);
	}
	free(used);
	free(rank.program);
	free(rank.inst);
	free(rank.device);
	return rc;
}

/* ---- an estimate alone ---- */

/* Metadata that skews refer to: programs and instructions by index in the catalogue, groups and stacks by number, in
 * maps. */
struct skew_metadata { bool *programs, *insts; struct nsx_map groups, stacks; };

static bool
want(struct nsx_map *m, int64_t number)
{
	uint32_t *at = nsx_map_at(m, (struct nsx_key){ (uint64_t)number, 0 });

	if (at)
		*at = 1;
	return at != NULL;
}

static bool
wants(const struct nsx_map *m, int64_t number)
{
	return nsx_map_get(m, (struct nsx_key){ (uint64_t)number, 0 }) != NSX_NONE;
}

static bool
find_wanted(const struct al_job *j, struct skew_metadata *w)
{
	const struct nsx_catalogue *cat = &j->comm.cat;
	bool good;

	w->programs = calloc(cat->programs.n + 1, sizeof *w->programs);
	w->insts = calloc(cat->insts.n + 1, sizeof *w->insts);
	good = w->programs && w->insts;
	for (size_t i = 0; i < j->instances.n && good && !j->by_nccl; i++) {
		uint32_t at = j->collectives.p[j->obs.p[j->instances.p[i].first].collective].inst;
		const struct nsx_cat_inst *in = &cat->insts.p[at];

		w->insts[at] = w->programs[in->program] = true;
		good = in->groups == NSX_ABSENT || want(&w->groups, in->groups);
	}
	for (size_t i = 0; i < j->stacks.n && good; i++)
		good = !w->insts[j->stacks.p[i].inst] || want(&w->stacks, j->stacks.p[i].stack);
	return good;
}

/* All records of metadata were read in the first pass. */
static bool
is_wanted(const struct skew_metadata *w, struct nsx_catalogue *cat, const struct nsx_rec *rec)
{
	switch (rec->kind->id) {
	case NSX_PROFILE: case NSX_DEVICE: return true;
	case NSX_PROGRAM: return w->programs[nsx_cat_program(cat, rec)];
	case NSX_GROUPS:  return wants(&w->groups, nsx_field_int(rec, NSX_ROLE_GROUPS, NSX_ABSENT));
	case NSX_STACK:   return wants(&w->stacks, nsx_field_int(rec, NSX_ROLE_STACK, NSX_ABSENT));
	case NSX_INST:    return w->insts[nsx_cat_inst(cat, rec)];
	default:          return false;
	}
}

static int
write_clocks(const struct al_corrections *g, const struct al_job *j, struct nsx_writer *out)
{
	union nsx_val v[NSX_MAX_COLS];

	for (size_t i = 0; i < j->devices.n; i++) {
		const struct nsx_cat_device *d = &j->comm.cat.devices.p[i];
		const struct al_clock *c = nsx_align_corrections_get(g, d->number);
		struct nsx_rec rec = { nsx_kind_builtin(NSX_CLOCK), 0, v };

		nsx_align_clock_set(&rec, &j->comm.cat, d, &c->fix, c);
		if (nsx_write(out, &rec) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

int
nsx_align_write_estimate(struct nsx_reader *in, struct nsx_writer *out, const struct al_corrections *g,
                         struct al_job *job, struct nsx_err *err)
{
	struct skew_metadata w = { 0 };
	struct nsx_rec rec;
	bool clocks = false;
	int rc = find_wanted(job, &w) ? NSX_OK : nsx_err_nomem(err, NULL);

	/* The first pass has checked the rest of the input. */
	while (rc == NSX_OK && (rc = nsx_read(in, &rec)) == NSX_OK) {
		enum nsx_section section = nsx_rec_section(&rec);

		if (section != NSX_SECTION_METADATA && section != NSX_SECTION_ANY) {
			rc = NSX_EOF;
			break;
		}
		if (!is_wanted(&w, &job->comm.cat, &rec))
			continue;
		if (!clocks && rec.kind->id != NSX_PROFILE && rec.kind->id != NSX_DEVICE) {
			clocks = true;
			rc = write_clocks(g, job, out);
		}
		if (rc == NSX_OK)
			rc = nsx_write(out, &rec);
	}
	if (rc == NSX_EOF)
		rc = clocks ? NSX_OK : write_clocks(g, job, out);
	if (rc == NSX_OK)
		rc = nsx_align_write_skews(job, out);
	free(w.programs);
	free(w.insts);
	nsx_map_free(&w.groups);
	nsx_map_free(&w.stacks);
	return rc;
}
