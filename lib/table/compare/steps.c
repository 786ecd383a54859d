/* steps.c -- compares streams by steps: time from start to start, activities of devices in that time, and the lengths
 * of the steps themselves.
 *
 * The activities of a device cover the time up to the start of its next step, so that idle time between steps is
 * included, and they add up:
 *
 *   step 0 [0,80)   step 1 [100,170)   kernels [0,50) [60,80) [100,170)
 *   ->  period 100 = compute 70 + idle 30;  span 80 of step 0, 70 of step 1
 *
 * If the stream has CUDA calls it is read a second time (again.c), and idle time is also split by cause. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "job/causes.h"
#include "job/steps/batch.h"
#include "table/compare/join.h"
#include "table/compare/why.h"
#include "table/steps/explain.h"
#include "table/steps/rows.h"

/* Number of steps for a p99 that is compared. */
#define TAIL 10

enum stat { PERIOD, COMPUTE, EXPOSED, COPY, IDLE, CAUSES, SPAN = CAUSES + NSX_NCAUSES,
            /* hidden: batches of steps whose periods count, and of all */
            KEPT_BATCHES, BATCHES, NSTATS };
static const char *const names[NSTATS] = {
	[PERIOD] = "period", [COMPUTE] = "compute", [EXPOSED] = "exposed", [COPY] = "copy", [IDLE] = "idle",
	[SPAN] = "span", [KEPT_BATCHES] = "batches", [BATCHES] = "all batches"
};
static const enum nsx_part parts[] = {
	[COMPUTE] = NSX_PART_COMPUTE, [EXPOSED] = NSX_PART_COMM, [COPY] = NSX_PART_COPY, [IDLE] = NSX_PART_IDLE
};

/* The name of a time in cmp.strs; NSX_NONE when out of memory. */
static uint32_t
name_of(struct cmp *c, int stat)
{
	c->text.len = 0;
	if (stat >= CAUSES && stat < SPAN)
		nsx_buf_fmt(&c->text, "idle:%s", nsx_cause_name((enum nsx_cause)(stat - CAUSES)));
	else
		nsx_buf_c(&c->text, names[stat]);
	return cmp_intern(c);
}

/* ---- one side */

struct nsx_str
nsx_compare_class_name(const struct nsx_step_set *set, uint32_t class)
{
	struct nsx_str name = nsx_intern_str(&set->names, class);

	for (size_t i = name.len; set->kind == NSX_STEP_MODULE && i-- > 1;)
		if (name.ptr[i] == '@') {
			name.len = i;
			break;
		}
	return name;
}

/* Data collected from a stream. causes: as nsx_compare_read_again has them. */
struct loaded { struct nsx_step_set set; int64_t *causes; };

/* The times of a step; those that are not known are NSX_ABSENT. */
static void
measure(const struct loaded *l, const struct nsx_step_of *o, int64_t times[NSTATS])
{
	const struct nsx_step_set *set = &l->set;

	for (int k = 0; k < NSTATS; k++)
		times[k] = NSX_ABSENT;
	times[SPAN] = o->last - o->first;
	struct nsx_step_batch batch = nsx_step_batch_of(set, o);

	times[BATCHES] = nsx_compare_batch(batch.requests, batch.tokens);
	times[KEPT_BATCHES] = o->kept ? times[BATCHES] : NSX_ABSENT;
	/* A period with a step of another class in it says more than the step. */
	if (o->kept)
		times[PERIOD] = o->period;
	/* From executions alone, without operations, the activities of devices are not known. */
	if (!o->kept || !set->ops || o->sums.hidden == NSX_ABSENT)
		return;
	for (int k = COMPUTE; k <= IDLE; k++)
		times[k] = o->sums.part[parts[k]];
	for (int k = 0; k < NSX_NCAUSES && l->causes; k++)
		times[CAUSES + k] = l->causes[(size_t)(o - set->list.p) * NSX_NCAUSES + (size_t)k];
}

/* Create the rows of a class, one for each time: returns the first; NSX_NONE when out of memory. device: NSX_ABSENT for
 * all of them. */
static uint32_t
add_rows(struct cmp *c, struct cmp_side *s, uint32_t group, int64_t device, bool detail)
{
	uint32_t first = (uint32_t)s->rows.n;

	for (int k = 0; k < NSTATS && group != NSX_NONE; k++) {
		struct cmp_row row = cmp_row_in(group);
		uint32_t at;

		row.name = row.stem = name_of(c, k);
		row.number = device;
		row.at = k;
		row.leads = k == PERIOD;
		row.device = detail ? device : NSX_ABSENT;
		row.detail = detail || k != SPAN;
		row.optional = k >= CAUSES && k < SPAN;
		at = row.name == NSX_NONE ? (uint32_t)NSX_NONE : nsx_compare_row_add(s, row);
		if (at == NSX_NONE)
			return NSX_NONE;
		if (k != PERIOD && k < SPAN)
			s->rows.p[at].of = first;
		if (k == SPAN)
			s->rows.p[at].decider = first;
		s->rows.p[at].batch = first + (k < SPAN ? KEPT_BATCHES : k == SPAN ? BATCHES : (uint32_t)k);
	}
	return group == NSX_NONE ? group : first;
}

/* By class, and by class and device: the first of their rows. */
static struct nsx_key
key_of_class(uint32_t class)
{
	return (struct nsx_key){ 2 * (uint64_t)class, 0 };
}

static struct nsx_key
key_of_device(uint32_t class, int64_t device)
{
	return (struct nsx_key){ 2 * (uint64_t)class + 1, (uint64_t)device };
}

/* The first of the rows of a class, over all devices, created if it is new; NSX_NONE when out of memory. */
static uint32_t
class_at(struct cmp *c, struct cmp_side *s, struct nsx_str key, struct nsx_str name)
{
	struct cmp_group g = cmp_group_new((int64_t)s->groups.n, nsx_intern(&c->strs, name),
	                                   nsx_intern(&c->strs, key));
	uint32_t *at = g.key == NSX_NONE || g.name == NSX_NONE ? NULL : nsx_map_at(&s->row_of, key_of_class(g.key));

	if (at && *at == NSX_NONE)
		*at = add_rows(c, s, nsx_compare_group_add(s, g), NSX_ABSENT, false);
	return at ? *at : (uint32_t)NSX_NONE;
}

/* Add a step of the class with these rows on a device. False when out of memory. */
static bool
add_step(struct cmp *c, struct cmp_side *s, uint32_t class, int64_t device, int64_t number, const int64_t times[NSTATS])
{
	uint32_t group = class == NSX_NONE ? class : s->rows.p[class].group;
	uint32_t *own = group == NSX_NONE ? NULL
	    : nsx_map_at(&s->row_of, key_of_device(s->groups.p[group].key, device));

	if (own && *own == NSX_NONE)
		*own = add_rows(c, s, group, device, true);
	bool good = own && *own != NSX_NONE;

	for (uint32_t k = 0; k < NSTATS && good; k++)
		good = times[k] == NSX_ABSENT || (nsx_compare_add(s, class + k, device, number, times[k])
		                                  && nsx_compare_add(s, *own + k, device, number, times[k]));
	return good;
}

bool
nsx_compare_end_steps(struct cmp_side *s)
{
	for (size_t i = 0; i < s->groups.n; i++) {
		struct cmp_group *g = &s->groups.p[i];
		uint32_t all = g->whole + 1;
		int64_t device = NSX_ABSENT;

		for (uint32_t at = s->rows.p[all + SPAN].cells; at != NSX_NONE; at = s->cells.p[at].next) {
			g->devices++;
			g->execs += (int64_t)s->cells.p[at].times.n;
			device = s->cells.p[at].device;
		}
		for (uint32_t at = s->rows.p[all + PERIOD].cells; at != NSX_NONE; at = s->cells.p[at].next)
			g->periods += (int64_t)s->cells.p[at].times.n;
		g->time = s->rows.p[all + SPAN].sum;
		g->ops /= (double)g->execs;
		s->time += g->time;
		/* A class that is on a single device has no other rows for that. */
		for (uint32_t k = 0, own; k < NSTATS && g->devices == 1; k++) {
			own = nsx_map_get(&s->row_of, key_of_device(g->key, device)) + k;
			s->rows.p[all + k].number = device;
			s->rows.p[own].cells = s->rows.p[own].name = s->rows.p[own].stem = NSX_NONE;
		}
	}
	s->each = true;
	if (!nsx_compare_settle_samples(s))
		return false;
	/* Steps without a next one, such as a single one, have no period. */
	for (size_t i = 0; i < s->rows.n; i++)
		if (s->rows.p[i].at == SPAN)
			s->rows.p[i].leads = !s->rows.p[i - SPAN].time.n;
		else if (s->rows.p[i].at > SPAN)
			s->rows.p[i].time = (struct cmp_time){ 0 };
	return true;
}

/* FLOPs of a step that is an execution of a program. */
static double
flops_of(const struct nsx_step_set *set, uint32_t class)
{
	const struct nsx_catalogue *cat = &set->cat;
	double flops = 0;

	for (size_t i = 0; i < cat->insts.n && set->kind == NSX_STEP_MODULE; i++) {
		const struct nsx_cat_inst *inst = &cat->insts.p[i];

		if (inst->flops > 0 && nsx_str_eq(nsx_cat_str(cat, cat->programs.p[inst->program].key),
		                                  nsx_intern_str(&set->names, class)))
			flops += (double)inst->flops;
	}
	return flops;
}

/* Add the steps of a stream. False when out of memory. */
static bool
add_steps(struct cmp *c, struct cmp_side *s, const struct loaded *l)
{
	const struct nsx_step_set *set = &l->set;
	uint32_t class = NSX_NONE;

	for (size_t i = 0; i < set->list.n; i++) {
		const struct nsx_step_of *o = &set->list.p[i];
		bool first = !i || o->class != o[-1].class;
		int64_t times[NSTATS];

		if (first)
			class = class_at(c, s, nsx_intern_str(&set->names, o->class),
			                 nsx_compare_class_name(set, o->class));
		measure(l, o, times);
		if (!add_step(c, s, class, set->cat.devices.p[o->device].number, o->number, times))
			return false;
		struct cmp_group *g = &s->groups.p[s->rows.p[class].group];

		g->ops += (double)o->ops;
		g->flops = first ? flops_of(set, o->class) : g->flops;
	}
	return nsx_compare_end_steps(s) && nsx_compare_take_models(c, s, &set->cat);
}

/* Find the steps of a side: those that options name, or those that it has; of a run without steps what repeats. That is
 * the same in all runs: what it is in BASE, or in the first one of a history. NSX_OK or NSX_ERR. */
static int
find_steps(struct cmp *c, struct cmp_side *s, struct nsx_spool *spool, struct nsx_step_set *set, struct nsx_diags *own)
{
	bool named = c->options.step || c->options.module;
	bool first = s == &c->side[NSX_COMPARE_BASE] || !c->side[NSX_COMPARE_BASE].in;
	const struct nsx_steps_options options = {
		.step = c->options.step, .module = c->options.module, .keep = NSX_CAT_COSTS,
		.batched = true, .repeats = !named && first, .repeat = named ? NULL : c->repeat,
		.overlapping = s != &c->side[0] ? &c->side[0].overlapping : NULL
	};

	if (!spool || nsx_steps_collect(s->in, &options, set, spool, own, c->err) != NSX_OK)
		return NSX_ERR;
	s->warm = set->warm;
	nsx_intern_free(&s->overlapping);
	s->overlapping = set->overlapping;
	set->overlapping = (struct nsx_intern){ .n = 0 };
	s->start = nsx_compare_start_of(&set->cat);
	if (!set->suffixed || !set->list.n || c->repeat)
		return NSX_OK;
	c->repeat = nsx_str_dup(nsx_intern_str(&set->names, set->list.p[0].class));
	return c->repeat ? NSX_OK : nsx_err_nomem(c->err, NULL);
}

int
nsx_compare_read_steps(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags)
{
	struct loaded l = { .set = { .err = c->err } };
	struct nsx_step_set *set = &l.set;
	struct nsx_spool *again = nsx_spool_open(c->err);
	struct nsx_diags own = { .failed = false };
	int rc;

	nsx_steps_again_need(s->in);
	nsx_compare_need_work(s->in);
	rc = find_steps(c, s, again, set, &own);
	/* Tables do not have causes. */
	if (rc == NSX_OK && c->options.why && !(s->why = nsx_compare_why_new()))
		rc = nsx_err_nomem(c->err, NULL);
	if (s->why)
		s->why->calls = set->calls > 0;
	if (rc == NSX_OK && (set->calls || s->why || c->repeat) && set->list.n && !c->tables)
		rc = nsx_compare_read_again(c, s, set, again, &l.causes, &own);
	if (rc == NSX_OK && !add_steps(c, s, &l))
		rc = nsx_err_nomem(c->err, NULL);
	nsx_compare_pass_diags(s, &own, diags);
	nsx_steps_free(set);
	nsx_spool_free(again);
	free(l.causes);
	return rc;
}

struct nsx_reader *
nsx_compare_find_steps(struct cmp *c, struct cmp_side *s, nsx_compare_keep *keep, void *state, bool wanted,
                       struct nsx_diags *diags)
{
	struct nsx_spool *spool = nsx_spool_open_all(s->in, c->err);
	struct nsx_step_set set = { .err = c->err };
	struct nsx_reader *again = NULL;
	struct nsx_diags own = { .failed = false };

	for (enum nsx_kind_id k = 0; spool && nsx_spool_keeps(spool) && k < NSX_NKINDS; k++)
		nsx_reader_need(s->in, k, NSX_EVERY);
	int rc = find_steps(c, s, spool, &set, &own);

	if (rc == NSX_OK && !keep(c, s, &set, state))
		rc = nsx_err_nomem(c->err, NULL);
	if (wanted || c->options.step || c->options.module)
		nsx_compare_pass_diags(s, &own, diags);
	else
		nsx_diags_free(&own);
	/* The first reading has checked that the stream is complete. */
	if (rc == NSX_OK)
		again = nsx_spool_reader_of(spool, NSX_READ_PARTIAL);
	nsx_spool_free(spool);
	nsx_steps_free(&set);
	return again;
}

/* ---- a table of nsysx-steps --each */

/* Executions of a program have the key NAME@ID. */
static struct nsx_str
without_id(struct nsx_str key)
{
	struct nsx_str name = key;

	while (name.len > 1 && nsx_is_digit(name.ptr[name.len - 1]))
		name.len--;
	if (name.len == key.len || name.len < 2 || name.ptr[name.len - 1] != '@')
		return key;
	name.len--;
	return name;
}

bool
nsx_compare_take_step(struct cmp *c, struct cmp_side *s, const struct cmp_value *v)
{
	static const enum stat stats[CMP_EACH_TIMES] = {
		[CMP_EACH_PERIOD] = PERIOD, [CMP_EACH_COMPUTE] = COMPUTE, [CMP_EACH_EXPOSED] = EXPOSED,
		[CMP_EACH_COPY] = COPY, [CMP_EACH_IDLE] = IDLE, [CMP_EACH_SPAN] = SPAN
	};
	bool kept = v[CMP_EACH_PERIOD].has && (!v[CMP_EACH_KEPT].has || v[CMP_EACH_KEPT].i);
	struct nsx_str class = cmp_str(c, v[CMP_EACH_CLASS].s);
	int64_t times[NSTATS];

	for (int k = 0; k < NSTATS; k++)
		times[k] = NSX_ABSENT;
	for (int k = 0; k < CMP_EACH_TIMES; k++)
		if (v[k].has && (kept || k == CMP_EACH_SPAN))
			times[stats[k]] = v[k].i;
	return add_step(c, s, class_at(c, s, class, without_id(class)),
	                v[CMP_EACH_DEVICE].has ? v[CMP_EACH_DEVICE].i : NSX_ABSENT, v[CMP_EACH_NUMBER].i, times);
}

/* ---- results */

void
nsx_compare_tell_growth(const struct cmp *c, const struct cmp_result *r, struct nsx_buf *text)
{
	double grown[SPAN] = { 0 };
	const char *before = "; of that";
	bool causes = false, work = false;

	if (!r->row[0] || !r->row[1] || r->row[0]->at != PERIOD)
		return;
	/* Rows of one class and device follow each other. */
	for (int k = COMPUTE; k < SPAN; k++) {
		const struct cmp_time *was = &r->row[0][k].time, *is = &r->row[1][k].time;

		/* A side without operations has no parts: those of the other side are no growth. */
		grown[k] = was->n && is->n ? is->mean - was->mean : 0;
		causes |= k >= CAUSES && r->row[0][k].sum && r->row[1][k].sum;
	}
	/* Idle time by cause, if both sides have causes. */
	for (int k = IDLE; k < SPAN; k++)
		grown[k] = causes == (k == IDLE) ? 0 : grown[k];
	for (int told = 0; told < SPAN; told++) {
		int most = PERIOD;

		for (int k = COMPUTE; k < SPAN; k++)
			if (grown[k] > grown[most])
				most = k;
		if (grown[most] <= r->diff / 100 || grown[most] <= 0)
			break;
		struct nsx_str name = cmp_str(c, r->row[0][most].name);

		nsx_buf_fmt(text, "%s %.*s +%s", before, (int)name.len, name.ptr,
		            nsx_ns_text(grown[most]).s);
		grown[most] = 0;
		before = ",";
		work |= most < IDLE;
	}
	if (work)
		nsx_buf_fmt(text, ", see --by %s", nsx_compare_group_of(c, r)->name ==
		            nsx_compare_group_of(c, r)->key ? "kernel" : "thunk");
}

/* Say of `what`, of the class of a result, a sentence below the table and a warning. */
struct told { const struct cmp *c; const struct cmp_result *r; struct nsx_table *t; struct nsx_diags *diags; };
static void say(const struct told *to, const char *what, const char *fmt, ...) NSX_PRINTF(3, 4);
static void
say(const struct told *to, const char *what, const char *fmt, ...)
{
	struct nsx_str class = cmp_str(to->c, nsx_compare_group_of(to->c, to->r)->key);
	int len = (int)(class.len < 200 ? class.len : 200);
	char text[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	nsx_table_note(to->t, "%s of %.*s %s", what, len, class.ptr, text);
	nsx_diag_add(to->diags, NSX_WARNING, "", 1, "%.*s: %s %s", len, class.ptr, what, text);
}

/* What makes the noise of a period where it is no chance: steps of a server that are not judged in strata (strata.c).
 * Empty: they are, or nothing is known of batches. */
static void
unlike_batches(const struct cmp *c, const struct cmp_result *r, char text[static 160])
{
	const struct cmp_row *of[2];

	text[0] = '\0';
	for (int k = 0; k < 2 && r->mixed; k++)
		of[k] = &c->side[k].rows.p[r->row[k]->batch];
	/* All are of one batch: what they vary by is not that. */
	if (!r->mixed || (of[0]->kinds == 1 && of[0]->alike == of[0]->samples.n && of[1]->alike == of[1]->samples.n))
		return;
	snprintf(text, 160, ": batches differ, and too few steps match by batch to be judged by it: %" PRIu32 " of %zu "
	         "of BASE, %" PRIu32 " of %zu of NEW, of %" PRIu32 " batch%s", of[0]->alike, of[0]->samples.n,
	         of[1]->alike, of[1]->samples.n, of[0]->kinds, of[0]->kinds == 1 ? "" : "es");
}

/* What verdicts do not say of a period. A noise that is a large share of it hides smaller differences: "same" is then
 * not reliable. Nor is it if the period grew by more than the minimum differences and the noise alone is why it is not
 * slower. If it has clearly grown, but by less than the limits, "same" only means that such differences were not
 * requested. A few slow steps hardly change the mean, which is judged, and increase the noise; of less than TAIL steps
 * p99 is no more than the one that happened to be the slowest. */
static void
tell_period(const struct told *to)
{
	const struct cmp_result *r = to->r;
	const struct nsx_compare_options *o = &to->c->options;
	const struct cmp_time *b = &r->time[NSX_COMPARE_BASE], *n = &r->time[NSX_COMPARE_NEW];
	double share = r->has_noise && b->mean > 0 ? 100 * r->noise / b->mean : 0;
	double grew = (double)n->p99 - (double)b->p99;
	const char *more = r->runs ? "base runs" : "steps";
	char unlike[160];

	if (o->tail) {
		double more_by = r->tail.p99[1] - r->tail.p99[0];

		if (r->verdict == CMP_HIDDEN && more_by > 0)
			say(to, "p99 of the period", "grew by %.1f%%, no more than its noise: hidden; compare more %s",
			    100 * more_by / r->tail.p99[0], more);
		if (nsx_compare_is_allowed(to->c, r))
			say(to, "p99 of the period", "grew by %s (%+.1f%%), more than chance explains, but no more "
			    "than %s allows: same", nsx_ns_text(more_by).s, 100 * more_by / r->tail.p99[0],
			    more_by > (double)o->absolute ? "--percent" : "--absolute");
		return;
	}
	unlike_batches(to->c, r, unlike);
	if (r->verdict == CMP_HIDDEN && r->diff > 0)
		say(to, "the period", "grew by %.1f%%, less than its noise, %.1f%%: hidden%s; %s more %s",
		    100 * r->diff / b->mean, share, unlike, unlike[0] ? "record" : "compare", more);
	if (r->verdict != CMP_SAME)
		return;
	if (share > o->percent && share > NSX_BLIND)
		say(to, "the noise of the period", "is %.0f%% of it: an increase of less is not seen%s; %s more %s",
		    share, unlike, unlike[0] ? "record" : "compare", more);
	if (nsx_compare_is_allowed(to->c, r))
		say(to, "the period", "grew by %s (%+.1f%%), more than its noise of %s, but no more than %s allows: "
		    "same", nsx_ns_text(r->diff).s, 100 * r->diff / b->mean, nsx_ns_text(r->noise).s,
		    r->diff > (double)o->absolute ? "--percent" : "--absolute");
	if (b->n >= TAIL && n->n >= TAIL && grew > (double)o->absolute && grew > NSX_BLIND / 100. * (double)b->p99 &&
	    grew > o->percent / 100 * (double)b->p99)
		say(to, "p99 of the period", "grew from %s to %s, but means are judged; nsysx-steps --explain shows "
		    "why", nsx_ns_text((double)b->p99).s, nsx_ns_text((double)n->p99).s);
}

/* NEW has other batches than BASE: what is printed of it is not what it took. */
static void
tell_batches(const struct cmp *c, const struct cmp_result *r, struct nsx_table *t, struct nsx_diags *diags)
{
	const struct cmp_row *new = r->row[NSX_COMPARE_NEW];
	struct nsx_str class = cmp_str(c, nsx_compare_group_of(c, r)->key);

	if (!new || !new->other_batches)
		return;
	double own = (double)new->time.sum / (double)new->time.n;

	nsx_table_note(t, "NEW has other batches of %.*s than BASE: its times are as of those of BASE; of its own the "
	               "period is %s", CMP_CUT(class, 200), nsx_ns_text(own).s);
	nsx_diag_add(diags, NSX_INFO, "", 1, "%.*s: NEW has other batches than BASE: its times are as of those of "
	             "BASE; of its own the period is %s", CMP_CUT(class, 200), nsx_ns_text(own).s);
}

/* Which steps of a group have no period, for the end of a line: of phases of a server, whose periods last to the next
 * step of any, a device's last step is of one class; of others periods may be mixed, too (periods.h). Empty: all have
 * one. */
static const char *
lacking(const struct cmp_side *s, const struct cmp_group *g, char text[static 64])
{
	int64_t n = g->execs - g->periods, each = g->devices * (s->nruns ? g->runs : 1);

	text[0] = '\0';
	if (n > 0 && n == each)
		snprintf(text, 64, "; the last of each has no period");
	else if (n > 0)
		snprintf(text, 64, "; %" PRId64 " ha%s no period that counts", n, n == 1 ? "s" : "ve");
	return text;
}

void
nsx_compare_tell_steps(const struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_table *t,
                       struct nsx_diags *diags)
{
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < c->side[k].groups.n; i++) {
			const struct cmp_group *g = &c->side[k].groups.p[i];
			struct nsx_str class = cmp_str(c, g->key);

			char runs[40] = "", lack[64];

			if (c->side[k].nruns)
				snprintf(runs, sizeof runs, " in %" PRId64 " run%s", g->runs, g->runs == 1 ? "" : "s");
			nsx_table_note(t, "%s has %" PRId64 " steps of %.*s on %" PRId64 " device%s%s%s",
				       c->side[k].name, g->execs, CMP_CUT(class, 200),
				       g->devices, g->devices == 1 ? "" : "s", runs,
				       lacking(&c->side[k], g, lack));
		}
	for (size_t i = 0; i < n; i++)
		if (nsx_compare_row_shown(&r[i])->device == NSX_ABSENT
		    && nsx_compare_row_shown(&r[i])->at == PERIOD) {
			tell_batches(c, &r[i], t, diags);
			tell_period(&(struct told){ c, &r[i], t, diags });
		}
}
