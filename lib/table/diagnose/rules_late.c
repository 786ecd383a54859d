/* rules_late.c -- findings about devices that others wait for in collectives: by the instances of these, or, where no
 * records are known to be one, by the idle time of devices. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"
#include "table/diagnose/diagnose.h"

/* The command that shows the instances with the longest waits, or the devices for which others wait most. */
static const char *
waits_tool(const struct nsx_look_at *a)
{
	return a->comm.pairing.nccl.ops.n ? "nsysx-collectives --instances --sort skew"
	       : "nsysx-stragglers --waits --sort caused";
}

/* The devices for which others wait: one device, or a set of them. */
struct blamed { int64_t device; uint32_t host; const struct nsx_look_set *set; bool several; };   /* several: there are
                                                                                                   * other hosts */

enum side { LATE, OTHERS, NEITHER };

/* NEITHER: devices on the same host may be late for the same reason. */
static enum side
side_of(const struct nsx_look_at *a, const struct blamed *b, const struct nsx_look_device *d)
{
	if (b->set)
		return b->set->has[d - a->devices.p] ? LATE : OTHERS;
	if (d->number == b->device)
		return LATE;
	return b->several && d->host == b->host ? NEITHER : OTHERS;
}

/* What devices of a side did in a step, in ns. idle: between operations, of which `starved`: the host had not launched;
 * and of each cause. */
struct group { double steps, time, compute, exposed, idle, starved, of[NSX_NCAUSES]; };

/* Add all of a device's steps. */
static void
add_device(const struct nsx_look_at *a, const struct nsx_look_device *d, struct group *g)
{
	const struct idle_window *w = nsx_look_window(a, d);

	if (!w)
		return;
	g->steps += (double)d->periods;
	g->time += (double)d->time;
	g->compute += (double)w->cells[NSX_PART_COMPUTE].ns;
	g->exposed += (double)w->cells[NSX_PART_COMM].ns;
	for (int c = 0; c < NSX_NCAUSES; c++) {
		double ns = (double)w->cells[nsx_cause_cell((enum nsx_cause)c)].ns;

		g->of[c] += ns;
		g->idle += nsx_cause_is_gap((enum nsx_cause)c) ? ns : 0;
		g->starved += nsx_causes[c].group == NSX_CAUSES_STARVED ? ns : 0;
	}
}

/* By how much the devices that others wait for exceed the others in a step. False, and 0: a side has no steps. */
static bool
find_excess(const struct nsx_look_at *a, const struct blamed *b, struct group *more)
{
	struct group g[3] = { { 0 } }, *late = &g[LATE], *others = &g[OTHERS];

	for (size_t i = 0; i < a->devices.n; i++)
		add_device(a, &a->devices.p[i], &g[side_of(a, b, &a->devices.p[i])]);
	*more = (struct group){ 0 };
	if (late->steps <= 0 || others->steps <= 0)
		return false;
#define MORE(member) (late->member / late->steps - others->member / others->steps)
	*more = (struct group){ .time = MORE(time), .compute = MORE(compute), .exposed = MORE(exposed),
	                        .idle = MORE(idle), .starved = MORE(starved) };
	for (int c = 0; c < NSX_NCAUSES; c++)
		more->of[c] = MORE(of[c]);
#undef MORE
	return true;
}

/* The cause of idle time for which these devices exceed the others most; NSX_NCAUSES: none. */
static enum nsx_cause
cause_of(const struct group *more)
{
	enum nsx_cause best = NSX_NCAUSES;

	for (int c = 0; c < NSX_NCAUSES; c++)
		if (nsx_cause_is_gap((enum nsx_cause)c) && more->of[c] > (best == NSX_NCAUSES ? 0 : more->of[best]))
			best = (enum nsx_cause)c;
	return best;
}

/* What is known of the host of the late device that has most of a cause: what to do, NULL if there is nothing in
 * particular, and whether lines of Python are known there. */
struct told { const struct nsx_look_device *device; const char *action; bool lines; };

/* Append the cause, and the place where it occurs on the late device that has most of it, and what its host did. */
static struct told
put_cause(struct nsx_look_at *a, enum nsx_cause cause, const struct blamed *b)
{
	const struct idle_window *best = NULL;
	struct told told = { NULL, NULL, false };

	for (size_t i = 0; i < a->devices.n; i++) {
		const struct nsx_look_device *d = &a->devices.p[i];
		const struct idle_window *w = nsx_look_window(a, d);
		int cell = nsx_cause_cell(cause);

		if (!w || side_of(a, b, d) != LATE)
			continue;
		if (!best || w->cells[cell].ns > best->cells[cell].ns) {
			best = w;
			told.device = d;
		}
	}
	nsx_buf_fmt(&a->text, ", mostly %s", nsx_cause_name(cause));
	if (best) {
		nsx_look_put_reason(a, best, cause, "that");
		told.action = nsx_look_put_host(a, told.device, cause, &told.lines);
	}
	return told;
}

/* Append to the command the one that shows the lines of Python in which the host was late, if they are known. NULL when
 * out of memory, else the command. */
static const char *
with_lines(struct nsx_look_at *a, const struct told *told)
{
	if (told->lines) {
		char tool[80];

		snprintf(tool, sizeof tool, "nsysx-idle --by host --lines=sum --only device=%" PRId64,
		         told->device->number);
		nsx_buf_c(&a->command, " && ");
		nsx_look_put_over(a, tool);
	}
	return nsx_look_command(a);
}

/* Append the name of them, to the subject, too. */
static void
put_blamed(struct nsx_look_at *a, const struct blamed *b)
{
	size_t start = a->text.len;

	if (b->set)
		nsx_buf_str(&a->text, nsx_buf_view(&b->set->name));
	else
		nsx_buf_fmt(&a->text, "device %" PRId64, b->device);
	if (!a->text.failed)
		nsx_buf_add(&a->subject, a->text.ptr + start, a->text.len - start);
}

/* Append a remark if one collective in one execution is more than half of the gain, which then is not a cost of each
 * step. */
static void
put_once(struct nsx_look_at *a, nsx_u128 gain, nsx_u128 most)
{
	if (nsx_look_has_several(a) && most > gain / 2)
		nsx_buf_c(&a->text, "; more than half of it is one collective of a single step");
}

/* The gain per step if all devices continue `gain` ns earlier, in all steps of one: no more than a device communicates
 * exposed, and no step takes less time than the shortest computation of a device. A device that is late because it
 * begins its steps later has little to save in them. */
double
nsx_look_saved(const struct nsx_look_at *a, double gain)
{
	double least = -1, sum = 0;

	gain *= a->comm.share;
	for (size_t i = 0; i < a->devices.n; i++) {
		const struct nsx_look_device *d = &a->devices.p[i];
		const struct idle_window *w = nsx_look_window(a, d);
		double compute = w && d->periods ? (double)w->cells[NSX_PART_COMPUTE].ns / (double)d->periods : 0;

		least = least < 0 || compute < least ? compute : least;
	}
	for (size_t i = 0; i < a->devices.n; i++) {
		const struct nsx_look_device *d = &a->devices.p[i];
		double room = (double)d->time - least * (double)d->periods;

		room = room < 0 ? 0 : room;
		sum += gain < room ? gain : room;
	}
	sum /= (double)a->count;
	return sum < a->comm.most ? sum : a->comm.most;
}

/* Adds a finding about devices that others wait for. sums: those of all of them; *reported: its gain. */
static int
blame(struct nsx_look_at *a, const struct blamed *b, const struct nsx_look_late *sums, double *reported)
{
	double all_gain = (double)sums->gain, gain = nsx_look_saved(a, all_gain / (double)a->devices.n);
	struct told told = { NULL, NULL, false };
	size_t before = a->findings.n;
	int rc;

	struct group more;
	bool host = b->set && b->set->host, plural = b->set && b->set->plural;
	enum nsx_finding_kind kind = host ? NSX_FIND_LATE_HOST : NSX_FIND_LATE_DEVICE;

	find_excess(a, b, &more);
	a->text.len = 0;
	put_blamed(a, b);
	nsx_buf_fmt(&a->text, " arrive%s last at %s a %s, and others wait %s for %s", plural ? "" : "s",
	            nsx_look_each(sums->last * (int64_t)a->devices.n, a->count, "collective").s, nsx_look_unit(a),
	            NSX_NS(gain), plural ? "them" : "it");
	if (more.compute > gain / 2 && more.compute >= more.idle) {
		kind = host ? kind : NSX_FIND_STRAGGLER;
		nsx_buf_fmt(&a->text, "; %s %s longer than %s", plural ? "they compute" : "it computes",
		            NSX_NS(more.compute), plural ? "the others" : "they do");
		if (!b->set && nsx_look_put_kernels(a, b->device, &told.action) != NSX_OK)
			return NSX_ERR;
	} else if (more.idle > gain / 2) {
		enum nsx_cause cause = cause_of(&more);

		kind = cause != NSX_NCAUSES && nsx_causes[cause].group == NSX_CAUSES_STARVED ? NSX_FIND_LATE_HOST
		    : kind;
		nsx_buf_fmt(&a->text, "; %s idle %s longer than %s", plural ? "they are" : "it is", NSX_NS(more.idle),
		            plural ? "the others" : "they are");
		if (cause != NSX_NCAUSES)
			told = put_cause(a, cause, b);
	}
	put_once(a, sums->gain, sums->most);
	if (b->set && b->set->also.len) {
		nsx_buf_c(&a->text, "; ");
		nsx_buf_str(&a->text, nsx_buf_view(&b->set->also));
	}
	for (size_t i = 0; i < a->devices.n; i++)
		if (side_of(a, b, &a->devices.p[i]) == LATE)
			nsx_buf_fmt(&a->named, "%s%" PRId64, a->named.len ? "," : "", a->devices.p[i].number);
	*reported = gain;
	a->command.len = 0;
	nsx_look_put_over(a, waits_tool(a));
	rc = nsx_look_find(a, kind, NSX_NCAUSES, gain, with_lines(a, &told));
	if (told.action && a->findings.n > before)
		a->findings.p[before].action = told.action;
	return rc;
}

/* Whether one of n has a decisive share of the waiting. */
static bool
is_one(double share, size_t n)
{
	return n > 1 && share >= (1 + 1 / (double)n) / 2;
}

/* Whether there are several hosts. */
static bool
has_hosts(const struct nsx_look_at *a)
{
	for (size_t i = 1; i < a->devices.n; i++)
		if (a->devices.p[i].host != a->devices.p[0].host)
			return true;
	return false;
}

/* The sums of a set's devices; late: by index in a->devices, set if it is not NULL. */
static struct nsx_look_late
sum_late(const struct nsx_look_at *a, const struct nsx_look_set *set, double *late)
{
	struct nsx_look_late sums = { .last = 0 };

	for (size_t i = 0; i < a->comm.late.n; i++) {
		const struct nsx_look_late *l = &a->comm.late.p[i];
		const struct nsx_look_device *d = nsx_look_device(a, l->device);
		size_t at = d ? (size_t)(d - a->devices.p) : 0;

		if (d && late)
			late[at] = (double)l->gain;
		if (!d || !set || !set->has[at])
			continue;
		sums.gain += l->gain;
		sums.last += l->last;
		sums.most = l->most > sums.most ? l->most : sums.most;
	}
	return sums;
}

static int
put_waiting(struct nsx_look_at *a, const struct nsx_look_late *most, double all, double *reported)
{
	nsx_look_say(a, "devices wait in collectives for whichever arrives last, not mainly for one of them: device %"
	             PRId64 " causes most, %.0f%% of the waiting", most->device, 100 * (double)most->gain / all);
	*reported = nsx_look_saved(a, all / (double)a->devices.n);
	return nsx_look_find(a, NSX_FIND_WAITING, NSX_NCAUSES, *reported, nsx_look_over(a, waits_tool(a)));
}

/* ---- without instances, or clocks to compare them by: no wait is known
 *
 *                      idle, not launched    exposed communication    period     of a step
 *   devices 0, 1                       20                     2100      2700
 *   devices 2, 3                     2020                      100      2700
 *
 * 2 and 3 are idle 2000 longer, and the others communicate 2000 longer in steps that take as long: these wait. */

/* Periods of two groups differ by at most this share of the gain, or their steps do not wait for each other. */
#define APART 0.1

/* late: by index in a->devices, by how much each is idle longer than the lower half. Its sum; -1 when out of memory. */
static double
excess_of(const struct nsx_look_at *a, double *late)
{
	size_t n = a->devices.n;
	double *sorted = malloc((n + 1) * sizeof *sorted), all = 0;

	if (!sorted)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct group g = { 0 };

		add_device(a, &a->devices.p[i], &g);
		sorted[i] = late[i] = g.steps > 0 ? g.starved / g.steps : 0;
	}
	qsort(sorted, n, sizeof *sorted, nsx_sort_by_double);
	for (size_t i = 0; i < n; i++) {
		late[i] = fmax(late[i] - sorted[(n - 1) / 2], 0);
		all += late[i];
	}
	free(sorted);
	return all;
}

/* What the late devices are idle longer, and the others communicate longer, in a step; 0: the latter do not wait. */
static double
waited_for(const struct group *more)
{
	double gain = fmin(more->starved, -more->exposed);

	return gain < more->starved / 2 || fabs(more->time) > APART * gain ? 0 : gain;
}

static int
blame_idlers(struct nsx_look_at *a, const struct blamed *b, double *reported)
{
	bool plural = b->set && b->set->plural;
	struct group more;
	double gain = find_excess(a, b, &more) ? fmin(waited_for(&more), a->comm.most) : 0;
	enum nsx_cause cause = gain > 0 ? cause_of(&more) : NSX_NCAUSES;
	size_t before = a->findings.n;
	int rc;

	if (cause == NSX_NCAUSES || nsx_causes[cause].group != NSX_CAUSES_STARVED)
		return NSX_OK;
	a->text.len = 0;
	put_blamed(a, b);
	nsx_buf_fmt(&a->text, " %s idle %s a step longer than the others", plural ? "are" : "is", NSX_NS(more.starved));
	struct told told = put_cause(a, cause, b);

	nsx_buf_fmt(&a->text, "; the others communicate %s longer, so they wait for %s: by sums over steps, since %s",
	            NSX_NS(gain), plural ? "these" : "it",
	            a->comm.apart ? "clocks of devices cannot be compared"
	            : "which operations are one collective is not known");
	a->command.len = 0;
	nsx_look_put_idle(a);
	nsx_buf_fmt(&a->command, " --only group=%s", nsx_cause_group_name(NSX_CAUSES_STARVED));
	nsx_look_put_file(a);
	rc = nsx_look_find(a, NSX_FIND_LATE_HOST, NSX_NCAUSES, gain, with_lines(a, &told));
	if (a->findings.n > before) {
		a->findings.p[before].action = told.action;
		*reported = gain;
		/* Clocks that are compared tell more. */
		if (!a->comm.apart)
			a->unseen[NSX_LOOK_WAITS] = NULL;
	}
	return rc;
}

static int
judge_idlers(struct nsx_look_at *a, double *reported)
{
	double *late = calloc(a->devices.n + 1, sizeof *late);
	double all = late ? excess_of(a, late) : -1;
	struct nsx_look_set set = { 0 };
	size_t most = 0;
	int rc = all < 0 ? nsx_err_nomem(a->err, NULL) : NSX_OK;

	for (size_t i = 1; i < a->devices.n; i++)
		most = late && late[i] > late[most] ? i : most;
	if (rc == NSX_OK && all > 0) {
		struct blamed b = { a->devices.p[most].number, a->devices.p[most].host, NULL, has_hosts(a) };
		bool one = is_one(late[most] / all, a->devices.n);

		if (!one)
			rc = nsx_look_late_set(a, late, all, &set);
		b.set = set.size ? &set : NULL;
		if (rc == NSX_OK && (one || b.set))
			rc = blame_idlers(a, &b, reported);
	}
	nsx_look_set_free(&set);
	free(late);
	return rc;
}

/* *told: the device of the finding; NSX_ABSENT: it is not about a single one. */
int
nsx_look_judge_waits(struct nsx_look_at *a, double *reported, int64_t *told)
{
	const struct nsx_look_late *most = NULL;
	const struct nsx_look_device *d;
	double all = 0, *late;
	struct nsx_look_set set = { 0 };
	int rc;

	*told = NSX_ABSENT;
	for (size_t i = 0; i < a->comm.late.n; i++) {
		const struct nsx_look_late *l = &a->comm.late.p[i];

		all += (double)l->gain;
		if (!most || l->gain > most->gain || (l->gain == most->gain && l->device < most->device))
			most = l;
	}
	if (!a->comm.together && a->comm.records && a->stepped)
		return judge_idlers(a, reported);
	if (!most || all <= 0 || !(d = nsx_look_device(a, most->device)))
		return NSX_OK;
	struct blamed b = { most->device, d->host, NULL, has_hosts(a) };

	if (is_one((double)most->gain / all, a->devices.n)) {
		size_t before = a->findings.n;

		rc = blame(a, &b, most, reported);
		if (a->findings.n > before && a->findings.p[before].kind == NSX_FIND_STRAGGLER)
			*told = most->device;
		return rc;
	}
	late = calloc(a->devices.n, sizeof *late);
	if (!late)
		return nsx_err_nomem(a->err, NULL);
	sum_late(a, NULL, late);
	rc = nsx_look_late_set(a, late, all, &set);
	free(late);
	if (rc == NSX_OK && set.size) {
		struct nsx_look_late sums = sum_late(a, &set, NULL);

		b.set = &set;
		rc = blame(a, &b, &sums, reported);
	} else if (rc == NSX_OK) {
		rc = put_waiting(a, most, all, reported);
	}
	nsx_look_set_free(&set);
	return rc;
}
