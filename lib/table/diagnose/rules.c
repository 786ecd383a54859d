/* rules.c -- findings: the condition and the gain of each rule. docs/man/nsysx-diagnose.1 describes the rules. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "base/stat.h"
#include "job/remedy.h"
#include "table/diagnose/diagnose.h"

enum { FEW_STEPS = 3 };

static const char *const looks[NSX_NLOOKS] = {
	[NSX_LOOK_STEPS] = "steps", [NSX_LOOK_IDLE] = "causes of idle time",
	[NSX_LOOK_EXPOSED] = "exposed communication",
	[NSX_LOOK_SLOW] = "slow collectives", [NSX_LOOK_WAITS] = "late hosts and devices", [NSX_LOOK_COPIES] = "copies",
	[NSX_LOOK_LAUNCH] = "launch-bound kernels", [NSX_LOOK_LAYOUT] = "layout", [NSX_LOOK_ROOFLINE] = "roofline",
	[NSX_LOOK_VARIABILITY] = "variability"
};

const char *
nsx_look_name(enum nsx_look look)
{
	return looks[look];
}

struct nsx_look_number
nsx_look_bytes(int64_t bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB" };
	struct nsx_look_number n;
	double v = (double)bytes;
	int unit = 0;

	for (; unit < 3 && v >= 1000; unit++)
		v /= 1000;
	snprintf(n.s, sizeof n.s, "%.*f %s", unit > 0, v, units[unit]);
	return n;
}

struct nsx_look_number
nsx_look_each(int64_t sum, int64_t steps, const char *what)
{
	double each = (double)sum / (double)steps;
	int64_t tenths = each < 1e15 ? (int64_t)(each * 10 + 0.5) : 0;
	struct nsx_look_number n;

	snprintf(n.s, sizeof n.s, tenths % 10 ? "%.1f%s%s%s" : tenths ? "%.0f%s%s%s" : "%.2g%s%s%s",
	         tenths ? (double)tenths / 10 : each, *what ? " " : "", what, !*what || tenths == 10 ? "" : "s");
	return n;
}

void
nsx_look_say(struct nsx_look_at *a, const char *fmt, ...)
{
	va_list ap;

	a->text.len = 0;
	va_start(ap, fmt);
	nsx_buf_vfmt(&a->text, fmt, ap);
	va_end(ap);
}

/* Its change, of what the rule names; one that the rule cannot name has none. */
static bool
set_change(struct nsx_look_at *a, struct nsx_finding *f)
{
	const char *change = nsx_look_change(f), *at = change ? strchr(change, '%') : NULL;
	struct nsx_buf text = { 0 };

	if (!change || (at && !a->named.len))
		return true;
	nsx_buf_add(&text, change, at ? (size_t)(at - change) : strlen(change));
	if (at) {
		nsx_buf_str(&text, nsx_buf_view(&a->named));
		nsx_buf_c(&text, at + 1);
	}
	f->change = text.failed ? NSX_NONE : nsx_look_text(a, nsx_buf_view(&text));
	nsx_buf_free(&text);
	return f->change != NSX_NONE;
}

int
nsx_look_find(struct nsx_look_at *a, enum nsx_finding_kind kind, enum nsx_cause cause, double gain, const char *command)
{
	struct nsx_finding f = { .kind = kind, .cause = cause, .gain = gain, .change = NSX_NONE };

	if (kind == NSX_FIND_EXPOSED && nsx_cat_on_cpu(&a->steps.cat))
		f.action = "send fewer bytes, or use fewer devices: those of a CPU share its cores and memory";
	if (!command)
		return NSX_ERR;
	if (gain <= 0) {
		a->subject.len = a->named.len = 0;
		return NSX_OK;
	}
	bool good = !a->text.failed && !a->subject.failed && !a->named.failed && set_change(a, &f);

	if (good) {
		f.evidence = nsx_look_text(a, nsx_buf_view(&a->text));
		f.command = nsx_look_text(a, nsx_str_c(command));
		f.subject = nsx_look_text(a, nsx_buf_view(&a->subject));
		good = f.evidence != NSX_NONE && f.command != NSX_NONE && f.subject != NSX_NONE
		       && nsx_vec_push(&a->findings, f);
	}
	a->subject.len = a->named.len = 0;
	return good ? NSX_OK : nsx_err_nomem(a->err, NULL);
}

/* ---- steps */

/* ns by which n periods are longer than p50: with those that are shorter, their gain would be less. */
static double
time_above(const int64_t *periods, size_t n, int64_t p50)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += periods[i] > p50 ? (double)(periods[i] - p50) : 0;
	return sum;
}

static int
judge_variability(struct nsx_look_at *a)
{
	size_t n = a->periods.n;
	int64_t p50, p99;
	bool explained;

	if (!n)
		return NSX_OK;
	p50 = nsx_percentile(a->periods.p, n, 50);
	p99 = nsx_percentile(a->periods.p, n, 99);
	nsx_look_say(a, "p99 of steps%s is %s, p50 %s, of %zu; the gain if every step took p50",
	             nsx_percentile_rank(n, 99) == n - 1 ? " (the largest)" : "", NSX_NS(p99), NSX_NS(p50), n);
	if ((double)p99 < NSX_LOOK_VARIABLE * (double)p50 || a->turns.len)
		return NSX_OK;
	if (nsx_look_between(a, &explained) != NSX_OK)
		return NSX_ERR;
	if (explained)
		return NSX_OK;
	if (time_above(a->first_periods.p, a->first_periods.n, p50) > time_above(a->periods.p, n, p50) / 2)
		nsx_buf_fmt(&a->text, "; more than half of that is of each device's first two%s",
		            a->initialises ? ", which nsysx-warmup removes" : "");
	a->command.len = 0;
	nsx_buf_c(&a->command, "nsysx-steps --explain");
	nsx_look_put_steps(a, &a->command);
	nsx_look_put_file(a);
	return nsx_look_find(a, NSX_FIND_VARIABILITY, NSX_NCAUSES, a->period - (double)p50, nsx_look_command(a));
}

/* ---- analyses that were not possible */

static void
see(struct nsx_look_at *a)
{
	const char *no_ops = nsx_look_came(a, NSX_OP) ? "no operation counts"
	                     : "no operations in the stream: extract with -a";
	bool limited = false;
	int64_t most = 0;

	for (size_t i = 0; i < a->roof->rows.n; i++)
		limited |= a->roof->rows.p[i].limited;
	for (size_t i = 0; i < a->devices.n; i++)
		most = a->devices.p[i].periods > most ? a->devices.p[i].periods : most;
	if (!a->stepped)
		a->unseen[NSX_LOOK_STEPS] = a->options->step || a->options->module
			? "none of those named has a next one, so the whole time of each device counts as one: for "
			    "names see nsysx-summary --by range or --by module, and a group in --step makes classes"
			: "none found, so the whole time of each device counts as one: name them with --step or "
			  "--module";
	if (!a->ops)
		a->unseen[NSX_LOOK_IDLE] = a->unseen[NSX_LOOK_COPIES] = a->unseen[NSX_LOOK_LAUNCH] = no_ops;
	else if (!a->calls)
		a->unseen[NSX_LOOK_IDLE] = a->unseen[NSX_LOOK_LAUNCH] =
		    nsx_no_calls(&a->steps.cat, "no CUDA calls in the stream: extract with -a");
	if (!a->ops && !a->comm.records)
		a->unseen[NSX_LOOK_EXPOSED] = no_ops;
	if (!a->ops && !a->thunks)
		a->unseen[NSX_LOOK_LAYOUT] = no_ops;
	if (!a->thunks)
		a->unseen[NSX_LOOK_ROOFLINE] = "no instructions of XLA";
	else if (!a->roof->any_cost)
		a->unseen[NSX_LOOK_ROOFLINE] = "no costs of instructions: extract with -x DUMP";
	else if (!limited)
		a->unseen[NSX_LOOK_ROOFLINE] = nsx_cat_on_cpu(&a->steps.cat) ? "peaks of a CPU are not known"
		                               : "peaks of the GPU are not known: see nsysx-roofline --peak";
	if (!a->stepped || most < FEW_STEPS)
		a->unseen[NSX_LOOK_VARIABILITY] = a->stepped ? "fewer than four steps on every device" : "no steps";
}

/* What it counts with: what is forecast, of a range around it as much as is lost, or the most that is possible. A range
 * alone ranks nothing, unless it ends at nothing: it may be wide for reasons that are not the finding's. Of what many
 * changes would give, one counts. */
static double
worth(const struct nsx_finding *f)
{
	double forecast = f->gain;

	if (f->nothing)
		forecast = 0;
	else if (f->forecasts && f->forecast.single && !f->ranges)
		forecast = nsx_look_is_own(f) ? f->forecast.saved : fmin(f->forecast.saved, f->gain);
	else if (f->forecasts && f->forecast.single)
		forecast = fmin(nsx_look_is_own(f) ? fmax(f->gain, f->forecast.low) : f->gain, f->forecast.high);
	return f->single > 0 ? fmin(forecast, f->single) : forecast;
}

NSX_ORDER(by_gain, struct nsx_finding, NSX_CMP(worth(b), worth(a)), NSX_CMP(b->gain, a->gain),
          NSX_CMP(nsx_look_rank(a), nsx_look_rank(b)), NSX_CMP(a->cause, b->cause), NSX_CMP(a->evidence, b->evidence))

/* A device that is late is one cause, and others wait for it in all collectives; exposed communication is the sum of
 * them. From this share of that on it is looked at first. */
#define FROM_COMM 0.5

static bool
is_late(const struct nsx_finding *f)
{
	return !f->more && (f->kind == NSX_FIND_LATE_HOST || f->kind == NSX_FIND_LATE_DEVICE
	                    || f->kind == NSX_FIND_STRAGGLER);
}

static void
put_late_first(struct nsx_look_at *a)
{
	struct nsx_finding *p = a->findings.p;
	size_t comm = 0, late;

	while (comm < a->findings.n && p[comm].kind != NSX_FIND_EXPOSED)
		comm++;
	for (late = comm + 1; late < a->findings.n; late++)
		if (is_late(&p[late]) && worth(&p[late]) >= FROM_COMM * worth(&p[comm])) {
			struct nsx_finding f = p[late];

			memmove(p + comm + 1, p + comm, (late - comm) * sizeof *p);
			p[comm++] = f;
		}
}

bool
nsx_look_shows(const struct nsx_look_at *a, const struct nsx_finding *f)
{
	return 100 * fmax(f->gain, worth(f)) >= a->options->min * a->period;
}

/* What is too small to be shown is omitted last: gains of findings depend on other findings. */
static void
omit_small(struct nsx_look_at *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->findings.n; i++)
		if (nsx_look_shows(a, &a->findings.p[i]))
			a->findings.p[n++] = a->findings.p[i];
	a->findings.n = n;
}

int
nsx_look_judge(struct nsx_look_at *a)
{
	see(a);
	if (!a->count)
		return NSX_OK;
	if (!a->unseen[NSX_LOOK_VARIABILITY] && nsx_look_turns(a) != NSX_OK)
		return NSX_ERR;
	if (nsx_look_judge_comm(a) != NSX_OK || nsx_look_judge_idle(a) != NSX_OK || nsx_look_judge_work(a) != NSX_OK
	    || nsx_look_judge_families(a) != NSX_OK || nsx_look_judge_overlap(a) != NSX_OK)
		return NSX_ERR;
	if (!a->unseen[NSX_LOOK_VARIABILITY] && judge_variability(a) != NSX_OK)
		return NSX_ERR;
	if (!a->unsteady && nsx_look_forecast(a) != NSX_OK)
		return NSX_ERR;
	nsx_sort(a->findings.p, a->findings.n, by_gain);
	put_late_first(a);
	omit_small(a);
	/* What first executions do, such as setting up communication, is no cost of a step. */
	if (a->unsteady)
		a->findings.n = 0;
	return NSX_OK;
}
