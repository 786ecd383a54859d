/* rules_comm.c -- findings about communication: collectives that are slower than similar ones, devices that others wait
 * for, and the remaining exposed communication. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "table/diagnose/diagnose.h"
#include "job/remedy.h"

/* A collective is slow below this share of the bandwidth of similar ones. */
#define SLOW 0.5

/* The command that shows the executions of the unit, or the instances of NCCL. */
static const char *
slow_command(struct nsx_look_at *a, const struct nsx_look_unit *u)
{
	struct nsx_str name = nsx_look_str(a, u->name), kind = nsx_look_str(a, u->kind), comm;
	struct nsx_buf options = { .len = 0 };

	a->command.len = 0;
	if (!u->nccl) {
		nsx_look_put_over(a, "nsysx-collectives");
		nsx_buf_c(&a->command, " | nsysx-view -t collective");
		nsx_look_put_only(&a->command, "name", &name, 1);
		return nsx_look_command(a);
	}
	comm = nsx_look_str(a, u->comm);
	nsx_buf_c(&options, "nsysx-collectives --instances --sort transfer");
	nsx_look_put_only(&options, "comm_id", &comm, 1);
	nsx_look_put_only(&options, "collective", &kind, 1);
	nsx_buf_fmt(&options, " --only bytes=%" PRId64, u->bytes);
	return nsx_look_over_text(a, &options);
}

static bool
is_slow(const struct nsx_look_unit *u)
{
	return u->excess > 0 && u->busbw < SLOW * u->like_busbw;
}

/* Set what would be faster, if the unit reached the bandwidth of similar ones. Collectives of NCCL have no name: other
 * ones of the same kind and size would be faster, too. */
static void
name_slow(struct nsx_look_at *a, const struct nsx_look_unit *u)
{
	struct nsx_str kind = nsx_look_str(a, u->kind);

	for (size_t i = 0; i < a->comm.units.n && u->nccl; i++) {
		const struct nsx_look_unit *x = &a->comm.units.p[i];

		if (x != u && x->kind == u->kind && x->bytes == u->bytes)
			return;
	}
	nsx_buf_str(&a->named, u->nccl ? kind : nsx_look_str(a, u->name));
	if (u->nccl)
		nsx_buf_fmt(&a->named, ":%" PRId64, u->bytes);
	nsx_buf_fmt(&a->named, "=%.4g", u->like_busbw / u->busbw);
}

/* *reported: ns of exposed time, of all steps, that these findings include. */
static int
judge_slow(struct nsx_look_at *a, double *reported)
{
	double sum = 0, room = a->comm.all - a->comm.share * (double)a->comm.waited;
	int rc = NSX_OK;

	/* Concurrent collectives cannot have more than the exposed time without waiting. */
	for (size_t i = 0; i < a->comm.units.n; i++)
		sum += is_slow(&a->comm.units.p[i]) ? a->comm.units.p[i].excess : 0;
	for (size_t i = 0; i < a->comm.units.n && rc == NSX_OK; i++) {
		struct nsx_look_unit *u = &a->comm.units.p[i];
		size_t before = a->findings.n;

		if (!is_slow(u))
			continue;
		if (sum > room)
			u->excess *= room > 0 ? room / sum : 0;
		a->text.len = 0;
		nsx_buf_str(&a->text, nsx_look_str(a, u->kind));
		nsx_buf_fmt(&a->text, " of %s", nsx_look_bytes(u->bytes).s);
		a->subject.len = 0;
		nsx_buf_str(&a->subject, nsx_buf_view(&a->text));
		nsx_buf_fmt(&a->text, " at %.1f GB/s where similar ones reach %.1f: ", u->busbw, u->like_busbw);
		nsx_buf_str(&a->text, nsx_look_str(a, u->name));
		nsx_buf_fmt(&a->text, ", %s a %s", nsx_look_each(u->records, a->count, "").s, nsx_look_unit(a));
		if (u->partial)
			nsx_buf_c(&a->text,
			          ", by its quickest, since not all of its devices are in the stream on one clock");
		name_slow(a, u);
		rc = nsx_look_find(a, NSX_FIND_SLOW, NSX_NCAUSES, u->excess / (double)a->count, slow_command(a, u));
		if (a->findings.n > before) {
			*reported += u->excess;
			u->reported = true;
		}
	}
	return rc;
}

/* ---- devices that others wait for */

/* The command that shows the instances with the longest waits, or the devices for which others wait most. */
static const char *
waits_command(struct nsx_look_at *a)
{
	return nsx_look_over(a, a->comm.pairing.nccl.ops.n ? "nsysx-collectives --instances --sort skew"
	                        : "nsysx-stragglers --waits --sort caused");
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

/* Sums over a group of devices, in ns, and the number of their steps. */
struct group { double compute, starved, steps; };

static void
add_device(const struct nsx_look_at *a, const struct nsx_look_device *d, struct group *g)
{
	const struct idle_window *w = nsx_look_window(a, d);

	if (!w)
		return;
	g->steps += (double)d->periods;
	g->compute += (double)w->cells[NSX_PART_COMPUTE].ns;
	for (int c = 0; c < NSX_NCAUSES; c++)
		g->starved += !nsx_cause_is_gap((enum nsx_cause)c) ? 0
		    : (double)w->cells[nsx_cause_cell((enum nsx_cause)c)].ns;
}

/* The cause of idle time for which these devices exceed the others most, per step. */
static enum nsx_cause
cause_of(const struct nsx_look_at *a, const struct blamed *b)
{
	double most = 0;
	enum nsx_cause best = NSX_NCAUSES;

	for (int c = 0; c < NSX_NCAUSES; c++) {
		double sum[2] = { 0, 0 }, steps[2] = { 0, 0 }, more;

		if (!nsx_cause_is_gap((enum nsx_cause)c))
			continue;
		for (size_t i = 0; i < a->devices.n; i++) {
			const struct nsx_look_device *d = &a->devices.p[i];
			const struct idle_window *w = nsx_look_window(a, d);
			enum side side = side_of(a, b, d);

			if (!w || side == NEITHER)
				continue;
			sum[side] += (double)w->cells[nsx_cause_cell((enum nsx_cause)c)].ns;
			steps[side] += (double)d->periods;
		}
		if (steps[LATE] <= 0 || steps[OTHERS] <= 0)
			break;
		more = sum[LATE] / steps[LATE] - sum[OTHERS] / steps[OTHERS];
		if (more > most) {
			most = more;
			best = (enum nsx_cause)c;
		}
	}
	return best;
}

/* Append the cause, and the place where it occurs on the late device that has most of it. */
static void
put_cause(struct nsx_look_at *a, enum nsx_cause cause, const struct blamed *b)
{
	const struct idle_window *best = NULL;

	for (size_t i = 0; i < a->devices.n; i++) {
		const struct nsx_look_device *d = &a->devices.p[i];
		const struct idle_window *w = nsx_look_window(a, d);
		int cell = nsx_cause_cell(cause);

		if (!w || side_of(a, b, d) != LATE)
			continue;
		if (!best || w->cells[cell].ns > best->cells[cell].ns)
			best = w;
	}
	nsx_buf_fmt(&a->text, ", mostly %s", nsx_cause_name(cause));
	if (best)
		nsx_look_put_reason(a, best, cause, "that");
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
	const char *action = NULL;
	size_t before = a->findings.n;
	int rc;

	struct group groups[3] = { { 0 } }, *late = &groups[LATE], *others = &groups[OTHERS];
	bool host = b->set && b->set->host, plural = b->set && b->set->plural;
	enum nsx_finding_kind kind = host ? NSX_FIND_LATE_HOST : NSX_FIND_LATE_DEVICE;
	double more = 0, idle = 0;

	for (size_t i = 0; i < a->devices.n; i++)
		add_device(a, &a->devices.p[i], &groups[side_of(a, b, &a->devices.p[i])]);
	if (late->steps > 0 && others->steps > 0) {
		more = late->compute / late->steps - others->compute / others->steps;
		idle = late->starved / late->steps - others->starved / others->steps;
	}
	a->text.len = 0;
	if (b->set)
		nsx_buf_str(&a->text, nsx_buf_view(&b->set->name));
	else
		nsx_buf_fmt(&a->text, "device %" PRId64, b->device);
	nsx_buf_str(&a->subject, nsx_buf_view(&a->text));
	nsx_buf_fmt(&a->text, " arrive%s last at %s a %s, and others wait %s for %s", plural ? "" : "s",
	            nsx_look_each(sums->last * (int64_t)a->devices.n, a->count, "collective").s, nsx_look_unit(a),
	            NSX_NS(gain), plural ? "them" : "it");
	if (more > gain / 2 && more >= idle) {
		kind = host ? kind : NSX_FIND_STRAGGLER;
		nsx_buf_fmt(&a->text, plural ? "; they compute %s longer than the others"
		                             : "; it computes %s longer than they do", NSX_NS(more));
		if (!b->set && nsx_look_put_kernels(a, b->device, &action) != NSX_OK)
			return NSX_ERR;
	} else if (idle > gain / 2) {
		enum nsx_cause cause = cause_of(a, b);

		kind = cause != NSX_NCAUSES && nsx_causes[cause].group == NSX_CAUSES_STARVED ? NSX_FIND_LATE_HOST
		    : kind;
		nsx_buf_fmt(&a->text, plural ? "; they are idle %s longer than the others"
		                             : "; it is idle %s longer than they are", NSX_NS(idle));
		if (cause != NSX_NCAUSES)
			put_cause(a, cause, b);
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
	rc = nsx_look_find(a, kind, NSX_NCAUSES, gain, waits_command(a));
	if (action && a->findings.n > before)
		a->findings.p[before].action = action;
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
	return nsx_look_find(a, NSX_FIND_WAITING, NSX_NCAUSES, *reported, waits_command(a));
}

/* *told: the device of the finding; NSX_ABSENT: it is not about a single one. */
static int
judge_waits(struct nsx_look_at *a, double *reported, int64_t *told)
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

/* ---- the remaining time */

/* The exposed time of one instruction, or of one communicator's operations of a kind, without waiting and without the
 * time in other findings. bytes: -1 if unknown, or not the same everywhere. */
struct part { uint32_t name; double ns; int64_t bytes; };

/* Units of one name make one part: an instruction has a unit for each of its groups. *most: the largest, among equal
 * ones that of the first unit; *n: the number of exposed ones. NSX_OK or NSX_ERR. */
static int
largest_part(const struct nsx_look_at *a, struct part *most, size_t *n)
{
	struct nsx_map at = { 0 };
	NSX_VEC(struct part) parts = { 0 };
	int rc = NSX_OK;

	for (size_t i = 0; i < a->comm.units.n && rc == NSX_OK; i++) {
		const struct nsx_look_unit *u = &a->comm.units.p[i];
		uint32_t k = nsx_map_number(&at, (struct nsx_key){ u->name, 0 });

		if (!nsx_vec_next(&parts, k, ((struct part){ u->name, 0, u->bytes }))) {
			rc = nsx_err_nomem(a->err, NULL);
			break;
		}
		parts.p[k].ns += (double)u->exposed - (u->reported ? u->excess : 0);
		if (parts.p[k].bytes != u->bytes)
			parts.p[k].bytes = -1;
	}
	*n = 0;
	*most = (struct part){ .name = NSX_NONE, .bytes = -1 };
	for (size_t i = 0; i < parts.n; i++) {
		*n += parts.p[i].ns > 0;
		if (parts.p[i].ns > most->ns)
			*most = parts.p[i];
	}
	nsx_map_free(&at);
	free(parts.p);
	return rc;
}

/* The command that ranks instructions by their exposed time, or kinds if there are no instructions. */
static const char *
exposed_command(struct nsx_look_at *a)
{
	bool thunks = a->comm.units.n > 0 && !a->comm.lone;

	for (size_t i = 0; i < a->comm.units.n; i++)
		thunks &= !a->comm.units.p[i].nccl;
	return nsx_look_over(a, !thunks ? "nsysx-summary --by collective"
	                     : a->comm.no_hidden ? "nsysx-summary --by thunk --cover 1 --sort total --only comm=1"
	                     : "nsysx-summary --by thunk --cover 1 --sort exposed --only comm=1");
}

/* Gain: the mean over devices of exposed time without waiting and slow collectives; together with those of slow
 * collectives (reported, ns of all steps) and of waiting (ns per step) no more than the exposed time of the device that
 * has most of it. That is not the mean, which the device that others wait for lowers, because it does not wait. */
static int
judge_exposed(struct nsx_look_at *a, double reported, double waiting)
{
	double n = (double)a->count, all = a->comm.known ? a->comm.all / n : 0;
	double waited = a->comm.share * (double)a->comm.waited / n;
	double gain = all - waited - reported / n, room = a->comm.most - waiting - reported / n;
	/* What bounds the gain bounds its parts. */
	double bounded = gain > 0 && room < gain ? fmax(room, 0) / gain : 1;
	struct part most;
	size_t parts;

	if (largest_part(a, &most, &parts) != NSX_OK)
		return NSX_ERR;
	nsx_look_say(a, "communication that no computation overlaps, %s a %s; ", NSX_NS(all), nsx_look_unit(a));
	if (a->comm.together)
		nsx_buf_fmt(&a->text, "of that %s%s waiting for the last device",
		            a->comm.lone || a->comm.apart ? "at least " : "", NSX_NS(waited));
	else
		nsx_buf_c(&a->text, "how much of it is waiting is not known");
	if (reported > 0)
		nsx_buf_fmt(&a->text, ", %s for being slower than similar ones", NSX_NS(reported / n));
	if (waiting > 0 && a->comm.most > all)
		nsx_buf_fmt(&a->text, "; this gain and that of waiting are together at most %s, the exposed time of "
		            "device %" PRId64, NSX_NS(a->comm.most), a->comm.most_device);
	if (most.name != NSX_NONE) {
		nsx_buf_fmt(&a->text, "; %s of %s in ", NSX_NS(bounded * most.ns / n),
		            a->comm.together || reported > 0 ? "the rest" : "it");
		nsx_buf_str(&a->text, nsx_look_str(a, most.name));
		nsx_buf_str(&a->subject, nsx_look_str(a, most.name));
		if (most.bytes >= 0)
			nsx_buf_fmt(&a->text, ", %s", nsx_look_bytes(most.bytes).s);
		if (parts > 1)
			nsx_buf_fmt(&a->text, ", the largest of %zu", parts);
	}
	return nsx_look_find(a, NSX_FIND_EXPOSED, NSX_NCAUSES, gain < room ? gain : room, exposed_command(a));
}

/* Analyses that were not possible. */
static void
see(struct nsx_look_at *a)
{
	const struct nsx_look_comm *c = &a->comm;
	bool known = false;

	for (size_t i = 0; i < c->units.n; i++)
		known |= c->units.p[i].like_busbw > 0;
	if (!c->records)
		return;
	if (!known)
		a->unseen[NSX_LOOK_SLOW] = c->lone
			? nsx_remedy(&a->steps.cat, NSX_LACK_SIZES)
		                                   : "sizes of collectives are not known: extract with -x DUMP";
	if (!c->together && c->apart)
		a->unseen[NSX_LOOK_WAITS] = "clocks of devices cannot be compared: nsysx-align";
	else if (!c->together)
		a->unseen[NSX_LOOK_WAITS] = c->lone
			? nsx_remedy(&a->steps.cat, NSX_LACK_TOGETHER)
		                                    : "no collective has two devices of the stream: nsysx-merge those "
		                                      "of all processes";
	if (c->no_hidden)
		a->unseen[NSX_LOOK_EXPOSED] =
		    "the hidden time of collectives is not known, they count as exposed: nsysx-overlap";
}

int
nsx_look_judge_comm(struct nsx_look_at *a)
{
	double reported = 0, waiting = 0;
	int64_t told;
	size_t before;

	see(a);
	nsx_look_comm_bound(a);
	if (judge_slow(a, &reported) != NSX_OK)
		return NSX_ERR;
	before = a->findings.n;
	if (judge_waits(a, &waiting, &told) != NSX_OK)
		return NSX_ERR;
	waiting = a->findings.n > before ? waiting : 0;
	return nsx_look_judge_slow(a, told) == NSX_OK ? judge_exposed(a, reported, waiting) : NSX_ERR;
}
