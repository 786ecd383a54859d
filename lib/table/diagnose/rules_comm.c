/* rules_comm.c -- findings about communication: collectives that are slower than similar ones, and the remaining
 * exposed communication. rules_late.c has the devices that others wait for. */
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
		nsx_buf_fmt(&a->text, "how much %sof it is waiting is not known", waiting > 0 ? "more " : "");
	if (reported > 0)
		nsx_buf_fmt(&a->text, ", %s for being slower than similar ones", NSX_NS(reported / n));
	if (waiting > 0 && a->comm.most > all)
		nsx_buf_fmt(&a->text, "; this gain and that of waiting are together at most %s, the exposed time of "
		            "device %" PRId64, NSX_NS(a->comm.most), a->comm.most_device);
	if (most.name != NSX_NONE) {
		/* Records count whole, also what of them runs beyond the windows, as where steps overlap. */
		nsx_buf_fmt(&a->text, "; %s of %s in ", NSX_NS(fmin(bounded * most.ns / n, fmax(all, 0))),
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
	if (nsx_look_judge_waits(a, &waiting, &told) != NSX_OK)
		return NSX_ERR;
	waiting = a->findings.n > before ? waiting : 0;
	return nsx_look_judge_slow(a, told) == NSX_OK ? judge_exposed(a, reported, waiting) : NSX_ERR;
}
