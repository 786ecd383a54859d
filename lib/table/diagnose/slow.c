/* slow.c -- devices that take longer than others for the same kernels, in every step (job/pace.h). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "table/diagnose/diagnose.h"

/* A device is slow from this much on, and by more than SIGMA standard errors of what it computes in a step. */
#define LEAST 0.01
#define SIGMA 3
/* Further slow devices that a sentence names. */
enum { TOLD = 4 };

/* A device's computation of steps, each divided by the mean over devices of the same step. */
struct ratios { int64_t n; double mean, squares; };

/* Sums over the devices of one step. */
struct whole { int64_t n; double compute; };

static bool
counts(const struct nsx_look_at *a, const struct nsx_step_of *o)
{
	return o->class == a->class && o->kept && o->sums.part[NSX_PART_COMPUTE] > 0;
}

static void
add(struct ratios *r, double x)
{
	double d = x - r->mean;

	r->n++;
	r->mean += d / (double)r->n;
	r->squares += d * (x - r->mean);
}

/* ratios: of a->devices. What all devices do more in some steps is no noise of one of them. */
static bool
compare_steps(const struct nsx_look_at *a, struct ratios *ratios)
{
	struct nsx_map of = { 0 };
	NSX_VEC(struct whole) steps = { 0 };
	bool good = true;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < a->steps.list.n && good; i++) {
			const struct nsx_step_of *o = &a->steps.list.p[i];
			double compute = (double)o->sums.part[NSX_PART_COMPUTE];

			if (!counts(a, o))
				continue;
			uint32_t at = nsx_map_number(&of, (struct nsx_key){ (uint64_t)o->number, 0 });

			good = at != NSX_NONE && (at < steps.n || nsx_vec_push(&steps, ((struct whole){ 0, 0 })));
			if (!good)
				break;
			if (pass == 0) {
				steps.p[at].n++;
				steps.p[at].compute += compute;
				continue;
			}
			const struct nsx_look_device *d = nsx_look_device(a, a->steps.cat.devices.p[o->device].number);

			if (d)
				add(&ratios[d - a->devices.p], compute * (double)steps.p[at].n / steps.p[at].compute);
		}
	nsx_map_free(&of);
	free(steps.p);
	return good;
}

static double
noise_of(const struct ratios *r)
{
	return r->n > 1 ? SIGMA * sqrt(r->squares / (double)(r->n - 1) / (double)r->n) : 0;
}

int
nsx_look_pace(struct nsx_look_at *a)
{
	size_t n = a->kernel_times.n;
	struct nsx_pace_time *times = malloc((n + 1) * sizeof *times);
	struct ratios *ratios = calloc(a->devices.n + 1, sizeof *ratios);
	bool good = times && ratios && nsx_vec_room(&a->slow, a->devices.n + 1) && compare_steps(a, ratios);
	int rc = NSX_OK;

	for (size_t i = 0; i < n && good; i++)
		times[i] = a->kernel_times.p[i];
	if (good)
		rc = nsx_paces_of(times, n, &a->paces, a->err);
	for (size_t i = 0; i < a->devices.n && good && rc == NSX_OK; i++) {
		const struct nsx_pace *p = nsx_paces_find(&a->paces, a->devices.p[i].number);
		double more = p ? p->pace - 1 : 0;

		a->slow.p[a->slow.n++] = a->devices.n > 1 && more >= LEAST && more > noise_of(&ratios[i]) ? more : 0;
	}
	free(times);
	free(ratios);
	return good ? rc : nsx_err_nomem(a->err, NULL);
}

bool
nsx_look_is_slow(const struct nsx_look_at *a, int64_t device, double *share)
{
	const struct nsx_look_device *d = nsx_look_device(a, device);

	*share = d && a->slow.n ? a->slow.p[d - a->devices.p] : 0;
	return *share > 0;
}

const char *
nsx_look_slow_action(const struct nsx_look_at *a)
{
	if (nsx_cat_on_cpu(&a->steps.cat))
		return "see whether other threads have its cores: devices of a CPU share them";
	return "see why the device is slow: clock, heat or power (nvidia-smi -q -d CLOCK,PERFORMANCE), or another "
		       "process "
	       "on it";
}

static void
put_others(struct nsx_look_at *a, size_t slowest)
{
	size_t told = 0, more = 0;

	for (size_t i = 0; i < a->devices.n; i++) {
		if (i == slowest || a->slow.p[i] <= 0)
			continue;
		if (told++ < TOLD)
			nsx_buf_fmt(&a->text, "%s %" PRId64 " by %.1f%%", told == 1 ? "; slow as well:" : ",",
			            a->devices.p[i].number, 100 * a->slow.p[i]);
		else
			more++;
	}
	if (more)
		nsx_buf_fmt(&a->text, " and %zu more", more);
}

int
nsx_look_judge_slow(struct nsx_look_at *a, int64_t told)
{
	size_t slowest = 0;

	for (size_t i = 1; i < a->slow.n; i++)
		slowest = a->slow.p[i] > a->slow.p[slowest] ? i : slowest;
	if (!a->slow.n || a->slow.p[slowest] <= 0 || a->devices.p[slowest].number == told)
		return NSX_OK;
	const struct nsx_look_device *d = &a->devices.p[slowest];
	const struct idle_window *w = nsx_look_window(a, d);
	double more = a->slow.p[slowest], compute = w ? (double)w->cells[NSX_PART_COMPUTE].ns : 0;
	double extra = compute * more / (1 + more);   /* of all its steps */

	nsx_buf_fmt(&a->subject, "device %" PRId64, d->number);
	nsx_look_say(a, "device %" PRId64 " takes %.1f%% longer than the median of %zu devices for the same kernels, "
	             "%s of a %s", d->number, 100 * more, a->devices.n, NSX_NS(extra / (double)d->periods),
	             nsx_look_unit(a));
	put_others(a, slowest);
	/* Devices that do not communicate do not wait for it either. */
	double gain = a->comm.together ? nsx_look_saved(a, extra) : extra / (double)a->count;
	size_t before = a->findings.n;
	if (a->comm.together)
		nsx_buf_fmt(&a->named, "%" PRId64, d->number);
	int rc = nsx_look_find(a, NSX_FIND_STRAGGLER, NSX_NCAUSES, gain, nsx_look_over(a, "nsysx-stragglers --pace"));

	if (a->findings.n > before) {
		a->findings.p[before].action = nsx_look_slow_action(a);
		/* Others may wait for it for more reasons than this one. */
		a->findings.p[before].more = true;
	}
	return rc;
}
