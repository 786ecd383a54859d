/* estimate.c -- what an estimate is written as: skew records, and alone, with the clocks and the metadata they refer to. */
#include <stdlib.h>

#include "filter/align/aligning.h"
#include "stream/order.h"
#include "base/sort.h"

/* ---- skews ---- */

/* A part of a collective that was used. There is one for each, so numbers of 64 bits are replaced by their ranks. */
struct row { uint32_t program, inst, device, instance, obs; int32_t execution, occurrence; };

/* Ranks, by index, of programs, instructions and devices in order of their numbers. */
struct ranks { uint32_t *program, *inst, *device; };

static int
by_row(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	if (a->program != b->program)
		return a->program < b->program ? -1 : 1;
	if (a->execution != b->execution)
		return a->execution < b->execution ? -1 : 1;
	if (a->inst != b->inst)
		return a->inst < b->inst ? -1 : 1;
	if (a->occurrence != b->occurrence)
		return a->occurrence < b->occurrence ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->obs > b->obs) - (a->obs < b->obs);
}

/* The rank of each of n keys, whose i is their index; NULL when out of memory. Frees the keys. */
static uint32_t *
rank(struct nsx_sort_key *keys, size_t n)
{
	uint32_t *of = malloc((n + 1) * sizeof *of);

	if (keys && of) {
		nsx_sort_keys(keys, n);
		for (uint32_t i = 0; i < n; i++)
			of[keys[i].i] = i;
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
	struct nsx_sort_key *p = malloc((j->programs.n + 1) * sizeof *p), *i = malloc((j->insts.n + 1) * sizeof *i),
	                    *d = malloc((j->devices.n + 1) * sizeof *d);

	for (uint32_t k = 0; p && k < j->programs.n; k++)
		p[k] = (struct nsx_sort_key){ { j->programs.p[k], 0, 0 }, k };
	for (uint32_t k = 0; i && k < j->insts.n; k++)
		i[k] = (struct nsx_sort_key){ { j->insts.p[k].program, j->insts.p[k].inst, 0 }, k };
	for (uint32_t k = 0; d && k < j->devices.n; k++)
		d[k] = (struct nsx_sort_key){ { j->devices.p[k].number, 0, 0 }, k };
	*r = (struct ranks){ rank(p, j->programs.n), rank(i, j->insts.n), rank(d, j->devices.n) };
	return r->program && r->inst && r->device;
}

/* The execution by the device's own number, as in its other records. */
static int32_t
own_execution(const struct al_job *j, const struct al_obs *o)
{
	return o->execution - al_shift(j, j->whats.p[o->what].program, o->device);
}

static void
fill(const struct al_job *j, const struct row *r, struct nsx_rec *rec)
{
	const struct al_obs *o = &j->obs.p[r->obs];
	const struct al_inst *inst = &j->insts.p[j->whats.p[o->what].inst];
	uint32_t n = j->instances.p[r->instance].n;
	int64_t num = j->num[r->obs];

	rec->has = 0;
	nsx_set_i(rec, NSX_SKEW_device, j->devices.p[o->device].number);
	nsx_set_i(rec, NSX_SKEW_program, j->programs.p[j->whats.p[o->what].program]);
	nsx_set_i(rec, NSX_SKEW_execution, r->execution);
	nsx_set_i(rec, NSX_SKEW_inst, inst->inst);
	nsx_set_i(rec, NSX_SKEW_occurrence, r->occurrence);
	if (inst->name != NSX_NONE)
		nsx_set_s(rec, NSX_SKEW_name, nsx_intern_str(&j->names, inst->name));
	nsx_set_f(rec, NSX_SKEW_skew, (double)(num / n) + (double)(num % n) / n);
}

/* The parts of the instances used, sorted; NULL when out of memory. */
static struct row *
sorted_rows(const struct al_job *j, size_t *n)
{
	struct ranks rank = { 0 };
	struct row *rows = NULL;

	*n = 0;
	for (size_t i = 0; i < j->instances.n && !j->by_nccl; i++)
		*n += j->instances.p[i].n;
	if (find_ranks(j, &rank))
		rows = malloc((*n + 1) * sizeof *rows);
	*n = 0;
	for (uint32_t i = 0; rows && i < j->instances.n && !j->by_nccl; i++) {
		const struct al_instance *in = &j->instances.p[i];

		for (uint32_t k = in->first; k < in->first + in->n; k++) {
			const struct al_obs *o = &j->obs.p[k];
			const struct al_what *w = &j->whats.p[o->what];
			rows[(*n)++] = (struct row){ rank.program[w->program], rank.inst[w->inst], rank.device[o->device], i, k,
			                             own_execution(j, o), o->occurrence };
		}
	}
	free(rank.program);
	free(rank.inst);
	free(rank.device);
	if (rows && *n > 1)
		qsort(rows, *n, sizeof *rows, by_row);
	return rows;
}

int
al_write_skews(const struct al_job *j, struct nsx_writer *out)
{
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec rec = { nsx_kind_builtin(NSX_SKEW), 0, v };
	size_t n;
	struct row *rows = sorted_rows(j, &n);
	int rc = rows ? NSX_OK : nsx_err_nomem(j->err, NULL);

	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		fill(j, &rows[i], &rec);
		rc = nsx_write(out, &rec);
	}
	free(rows);
	return rc;
}

/* ---- an estimate alone ---- */

/* Metadata that skews refer to, as keys of maps. */
struct wanted { struct nsx_map programs, insts, groups, stacks; };

static bool
want(struct nsx_map *m, int64_t a, int64_t b)
{
	uint32_t *at = nsx_map_at(m, (struct nsx_key){ (uint64_t)a, (uint64_t)b });

	if (at)
		*at = 1;
	return at != NULL;
}

static bool
wants(const struct nsx_map *m, int64_t a, int64_t b)
{
	return nsx_map_get(m, (struct nsx_key){ (uint64_t)a, (uint64_t)b }) != NSX_NONE;
}

static bool
find_wanted(const struct al_job *j, struct wanted *w)
{
	bool good = true;

	for (size_t i = 0; i < j->instances.n && good && !j->by_nccl; i++) {
		const struct al_inst *in = &j->insts.p[j->whats.p[j->obs.p[j->instances.p[i].first].what].inst];
		good = want(&w->programs, in->program, 0) && want(&w->insts, in->program, in->inst)
		       && (!in->has_groups || want(&w->groups, in->groups, 0)) && (!in->has_stack || want(&w->stacks, in->stack, 0));
	}
	return good;
}

static bool
is_wanted(const struct wanted *w, const struct nsx_rec *rec)
{
	switch (rec->kind->id) {
	case NSX_PROFILE: case NSX_DEVICE: return true;
	case NSX_PROGRAM: return wants(&w->programs, nsx_int(rec, NSX_PROGRAM_program, -1), 0);
	case NSX_GROUPS:  return wants(&w->groups, nsx_int(rec, NSX_GROUPS_groups, -1), 0);
	case NSX_STACK:   return wants(&w->stacks, nsx_int(rec, NSX_STACK_stack, -1), 0);
	case NSX_INST:    return wants(&w->insts, nsx_int(rec, NSX_INST_program, -1), nsx_int(rec, NSX_INST_inst, -1));
	default:          return false;
	}
}

static int
write_clocks(const struct al_given *g, const struct al_job *j, struct nsx_writer *out)
{
	union nsx_val v[NSX_MAX_COLS];

	for (size_t i = 0; i < j->devices.n; i++) {
		const struct al_device *d = &j->devices.p[i];
		const struct al_clock *c = al_given_get(g, d->number);
		struct nsx_rec rec = { nsx_kind_builtin(NSX_CLOCK), 0, v };

		nsx_set_i(&rec, NSX_CLOCK_device, d->number);
		nsx_set_i(&rec, NSX_CLOCK_profile, j->profiles.p[d->profile].number);
		nsx_set_f(&rec, NSX_CLOCK_offset, c->fix.offset);
		nsx_set_f(&rec, NSX_CLOCK_rate, c->fix.rate);
		nsx_set_i(&rec, NSX_CLOCK_ref, c->fix.ref);
		nsx_set_i(&rec, NSX_CLOCK_collectives, c->collectives);
		nsx_set_i(&rec, NSX_CLOCK_component, c->component);
		if (nsx_write(out, &rec) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

int
al_write_estimate(struct nsx_reader *in, struct nsx_writer *out, const struct al_given *g, const struct al_job *job, struct nsx_err *err)
{
	struct wanted w = { 0 };
	struct nsx_rec rec;
	bool clocks = false;
	int rc = find_wanted(job, &w) ? NSX_OK : nsx_err_nomem(err, NULL);

	/* The first pass has seen that the rest is sound. */
	while (rc == NSX_OK && (rc = nsx_read(in, &rec)) == NSX_OK) {
		enum nsx_section section = nsx_rec_section(&rec);

		if (section != NSX_SECTION_METADATA && section != NSX_SECTION_ANY) {
			rc = NSX_EOF;
			break;
		}
		if (!is_wanted(&w, &rec))
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
		rc = al_write_skews(job, out);
	nsx_map_free(&w.programs);
	nsx_map_free(&w.insts);
	nsx_map_free(&w.groups);
	nsx_map_free(&w.stacks);
	return rc;
}
