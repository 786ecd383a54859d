/* estimate.c -- what an estimate is written as: skew records, and alone, with the clocks and the metadata they refer to. */
#include <stdlib.h>

#include "analysis/align/impl.h"

/* ---- skews ---- */

struct row { int64_t program, execution, inst, occurrence, device; uint32_t instance, obs; };

static int
by_row(const void *x, const void *y)
{
	const struct row *a = x, *b = y;
	const int64_t p[] = { a->program, a->execution, a->inst, a->occurrence, a->device };
	const int64_t q[] = { b->program, b->execution, b->inst, b->occurrence, b->device };

	for (size_t i = 0; i < sizeof p / sizeof *p; i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return (a->obs > b->obs) - (a->obs < b->obs);
}

static void
fill(const struct al_job *j, const struct row *r, struct nsx_rec *rec)
{
	const struct al_instance *in = &j->instances.p[r->instance];
	const struct al_inst *inst = &j->insts.p[j->whats.p[j->obs.p[r->obs].what].inst];
	int64_t num = j->num[r->obs];

	rec->has = 0;
	nsx_set_i(rec, NSX_SKEW_device, r->device);
	nsx_set_i(rec, NSX_SKEW_program, r->program);
	nsx_set_i(rec, NSX_SKEW_execution, r->execution);
	nsx_set_i(rec, NSX_SKEW_inst, r->inst);
	nsx_set_i(rec, NSX_SKEW_occurrence, r->occurrence);
	if (inst->name != NSX_NONE)
		nsx_set_s(rec, NSX_SKEW_name, nsx_intern_str(&j->names, inst->name));
	nsx_set_f(rec, NSX_SKEW_skew, (double)(num / in->n) + (double)(num % in->n) / in->n);
}

int
al_write_skews(const struct al_job *j, struct nsx_writer *out)
{
	NSX_VEC(struct row) rows = { 0 };
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec rec = { nsx_kind_builtin(NSX_SKEW), 0, v };
	bool room = true;
	int rc = NSX_OK;

	for (uint32_t i = 0; i < j->instances.n && room; i++) {
		const struct al_instance *in = &j->instances.p[i];
		for (uint32_t o = in->first; o < in->first + in->n && room; o++) {
			const struct al_obs *obs = &j->obs.p[o];
			const struct al_what *w = &j->whats.p[obs->what];
			/* Its own number of the execution, as in its other records. */
			room = nsx_vec_push(&rows, ((struct row){ j->programs.p[w->program], (int64_t)obs->execution - al_shift(j, w->program, obs->device),
			                                          j->insts.p[w->inst].inst, obs->occurrence, j->devices.p[obs->device].number, i, o }));
		}
	}
	if (!room)
		rc = nsx_err_nomem(j->err, NULL);
	else if (rows.n)
		qsort(rows.p, rows.n, sizeof *rows.p, by_row);
	for (size_t i = 0; i < rows.n && rc == NSX_OK; i++) {
		fill(j, &rows.p[i], &rec);
		rc = nsx_write(out, &rec);
	}
	free(rows.p);
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

	for (size_t i = 0; i < j->instances.n && good; i++) {
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
		int section = nsx_rec_section(&rec);

		if (section >= 1 && section <= 3) {
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
