/* rules.c -- findings: the condition and the gain of each rule. docs/man/nsysx-diagnose.1 describes the rules. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/kernel_name.h"
#include "base/width.h"
#include "table/diagnose/diagnose.h"

/* A row of nsysx-launch whose mean wait is at most this counts as launching; if it is longer, the host did something
 * else. */
#define LAUNCHING ((double)NSX_IDLE_LATENCY)
/* The share of their limit that well-tuned kernels reach: the gain is computed for that, not for the limit itself. */
#define EFFICIENT 0.8
/* A place is named if this share of a cause is there. */
#define MUCH 0.2
/* p99 of steps compared with p50. */
#define VARIABLE 1.1
enum { FEW_STEPS = 3 };
/* Bytes of a copy from which its rate is a property of the link: shorter ones are dominated by latency. */
enum { TELLING = 1 << 16 };
/* Columns of a name in a sentence; names of kernels can be very long. */
enum { NAME = 80 };

static const char *const looks[NSX_NLOOKS] = {
	[NSX_LOOK_STEPS] = "steps", [NSX_LOOK_IDLE] = "causes of idle time",
	[NSX_LOOK_EXPOSED] = "exposed communication",
	[NSX_LOOK_SLOW] = "slow collectives", [NSX_LOOK_WAITS] = "late hosts and devices", [NSX_LOOK_COPIES] = "copies",
	[NSX_LOOK_LAUNCH] = "launch-bound kernels", [NSX_LOOK_LAYOUT] = "layout", [NSX_LOOK_ROOFLINE] = "roofline",
	[NSX_LOOK_VARIABILITY] = "variability"
};

static const char *const causes[NSX_NCAUSES] = {
	[NSX_CAUSE_GRAPH] = "between nodes of CUDA graphs",
	[NSX_CAUSE_NO_CALL] = "before work whose launch is not in the export",
	[NSX_CAUSE_PROFILER] = "while the profiler holds the host",
	[NSX_CAUSE_QUEUE_FULL] = "while the host waits for a place in another queue",
	[NSX_CAUSE_LOADING] = "while the host loads code",
	[NSX_CAUSE_SYNC] = "while the host waits in a call",
	[NSX_CAUSE_LAUNCH] = "while the host is in calls that launch",
	[NSX_CAUSE_ALLOC] = "while the host allocates or frees memory",
	[NSX_CAUSE_API] = "while the host is in other CUDA calls",
	[NSX_CAUSE_COMPILE] = "while the host compiles",
	[NSX_CAUSE_RANGE] = "while the host is in its own code, in ranges",
	[NSX_CAUSE_HOST] = "while the host is in code that nothing is known of",
	[NSX_CAUSE_LATENCY] = "between launch and start, up to 20 us each",
	[NSX_CAUSE_DEPENDENCY] = "while launched work waits for an event of another stream",
	[NSX_CAUSE_UNRESOLVED] = "while launched work waits for what is not known"
};

const char *
nsx_look_name(enum nsx_look look)
{
	return looks[look];
}

void
nsx_look_put_ns(struct nsx_buf *to, double ns)
{
	if (ns >= 1e6 || ns <= -1e6)
		nsx_buf_fmt(to, "%.3f ms", ns / 1e6);
	else if (ns >= 1e3 || ns <= -1e3)
		nsx_buf_fmt(to, "%.1f us", ns / 1e3);
	else
		nsx_buf_fmt(to, "%.0f ns", ns);
}

void
nsx_look_put_bytes(struct nsx_buf *to, int64_t bytes)
{
	if (bytes >= 1000000000)
		nsx_buf_fmt(to, "%.1f GB", (double)bytes / 1e9);
	else if (bytes >= 1000000)
		nsx_buf_fmt(to, "%.1f MB", (double)bytes / 1e6);
	else if (bytes >= 1000)
		nsx_buf_fmt(to, "%.1f kB", (double)bytes / 1e3);
	else
		nsx_buf_fmt(to, "%" PRId64 " B", bytes);
}

void
nsx_look_put_each(struct nsx_buf *to, int64_t sum, int64_t steps, const char *what)
{
	double each = (double)sum / (double)steps;
	int64_t tenths = each < 1e15 ? (int64_t)(each * 10 + 0.5) : 0;

	if (tenths && tenths % 10)
		nsx_buf_fmt(to, "%.1f", (double)tenths / 10);
	else
		nsx_buf_fmt(to, tenths ? "%.0f" : "%.2g", tenths ? (double)tenths / 10 : each);
	if (*what)
		nsx_buf_fmt(to, " %s%s", what, tenths == 10 ? "" : "s");
}

/* A word of the shell. */
void
nsx_look_put_quoted(struct nsx_buf *to, const char *word)
{
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")]) {
		nsx_buf_c(to, word);
		return;
	}
	nsx_buf_char(to, '\'');
	for (; *word; word++)
		if (*word == '\'')
			nsx_buf_c(to, "'\\''");
		else
			nsx_buf_char(to, *word);
	nsx_buf_char(to, '\'');
}

int
nsx_look_find(struct nsx_look_at *a, enum nsx_finding_kind kind, enum nsx_cause cause, double gain, const char *command)
{
	struct nsx_finding f = { kind, cause, gain, NSX_NONE, NSX_NONE, NSX_NONE };
	const char *file = a->options->file;
	struct nsx_buf whole = { .len = 0 };

	if (gain <= 0 || 100 * gain < a->options->min * a->period) {
		a->subject.len = 0;
		return NSX_OK;
	}
	for (const char *c = command; *c; c++)
		if (*c != '@' || c == command || c[-1] != ' ' || (c[1] && c[1] != ' '))
			nsx_buf_char(&whole, *c);
		else if (!file || strcmp(file, "-") == 0)
			nsx_buf_c(&whole, "STREAM");
		else
			nsx_look_put_quoted(&whole, file);
	bool good = !whole.failed && !a->text.failed && !a->subject.failed;

	if (good) {
		f.evidence = nsx_look_text(a, nsx_buf_view(&a->text));
		f.command = nsx_look_text(a, nsx_buf_view(&whole));
		f.subject = nsx_look_text(a, nsx_buf_view(&a->subject));
		good = f.evidence != NSX_NONE && f.command != NSX_NONE && f.subject != NSX_NONE
		       && nsx_vec_push(&a->findings, f);
	}
	a->subject.len = 0;
	nsx_buf_free(&whole);
	return good ? NSX_OK : nsx_err_nomem(a->err, NULL);
}

/* ---- idle time */

/* The window with the maximum of a cause; of equal ones that of the lowest device. NULL: none has any. */
static const struct idle_window *
most_of(const struct nsx_look_at *a, enum nsx_cause cause, const struct nsx_look_device **device)
{
	const struct idle_window *best = NULL;

	for (size_t i = 0; i < a->devices.n; i++) {
		const struct idle_window *w = nsx_look_window(a, &a->devices.p[i]);

		if (w && w->cells[nsx_cause_cell(cause)].ns > (best ? best->cells[nsx_cause_cell(cause)].ns : 0)) {
			best = w;
			*device = &a->devices.p[i];
		}
	}
	return best;
}

void
nsx_look_put_reason(struct nsx_look_at *a, const struct idle_window *w, enum nsx_cause cause)
{
	uint32_t path, leaf;
	int64_t ns;

	ns = nsx_idle_reason(&a->idle, w, cause, &path, &leaf);
	if ((double)ns < MUCH * (double)w->cells[nsx_cause_cell(cause)].ns)
		return;
	if (path == NSX_NONE || (path == NSX_STACKS_ROOT && leaf == NSX_NONE))
		return;
	nsx_buf_fmt(&a->text, "; %.0f %% of that in ", 100 * (double)ns / (double)w->cells[nsx_cause_cell(cause)].ns);
	nsx_idle_put_frames(&a->idle, path, leaf, &a->text);
	nsx_buf_c(&a->subject, a->subject.len ? ", in " : "");
	nsx_idle_put_frames(&a->idle, path, leaf, &a->subject);
}

/* The same for the window with the maximum of the cause. */
static void
put_reason(struct nsx_look_at *a, enum nsx_cause cause)
{
	const struct nsx_look_device *d = NULL;
	const struct idle_window *w = most_of(a, cause, &d);

	if (w)
		nsx_look_put_reason(a, w, cause);
}

/* The device with the longest gap of a cause; NULL if the gap of `most` is as long. */
static const struct nsx_look_device *
longest_of(const struct nsx_look_at *a, enum nsx_cause cause, const struct idle_window *most, int64_t *longest)
{
	const struct nsx_look_device *best = NULL;

	*longest = most->cells[nsx_cause_cell(cause)].longest;
	for (size_t i = 0; i < a->devices.n; i++) {
		const struct idle_window *w = nsx_look_window(a, &a->devices.p[i]);

		if (w && w->cells[nsx_cause_cell(cause)].longest > *longest) {
			*longest = w->cells[nsx_cause_cell(cause)].longest;
			best = &a->devices.p[i];
		}
	}
	return best;
}

static int
judge_idle(struct nsx_look_at *a)
{
	for (int c = NSX_CAUSE_GRAPH; c < NSX_NCAUSES; c++) {
		const struct nsx_look_device *d = NULL;
		const struct idle_window *w = most_of(a, (enum nsx_cause)c, &d);
		const struct idle_cell *cell = w ? &w->cells[nsx_cause_cell((enum nsx_cause)c)] : NULL;
		int64_t longest;

		if (!cell)
			continue;
		a->text.len = 0;
		nsx_buf_fmt(&a->text, "idle %s: %son device %" PRId64 " in ", causes[c],
		            a->devices.n > 1 ? "most " : "", d->number);
		nsx_look_put_each(&a->text, cell->count, d->periods, "gap");
		nsx_buf_c(&a->text, a->stepped ? " a step, the longest " : ", the longest ");
		nsx_look_put_ns(&a->text, (double)cell->longest);
		put_reason(a, (enum nsx_cause)c);
		if (!a->subject.len)
			nsx_buf_fmt(&a->subject, "device %" PRId64, d->number);
		const struct nsx_look_device *other = longest_of(a, (enum nsx_cause)c, w, &longest);

		if (other) {
			nsx_buf_fmt(&a->text, "; device %" PRId64 " has the longest of all, ", other->number);
			nsx_look_put_ns(&a->text, (double)longest);
		}
		if (nsx_look_find(a, NSX_FIND_IDLE, (enum nsx_cause)c,
		                  nsx_look_mean(a, a->cells[nsx_cause_cell((enum nsx_cause)c)] - a->drained[c]),
		                  "nsysx-idle --list 20 @") != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

/* ---- copies, and calls that block */

/* ns of exposed copies; those in whose calls the host waits, and the maximum of each. */
struct copied { nsx_u128 all, blocking; struct nsx_copies_sum most, most_blocking; };

static bool
blocks(const struct nsx_copies_sum *s)
{
	return s->sync || nsx_str_eq(s->dst, NSX_STR("pageable"));
}

/* The sum of all copies of one kind between the same kinds of memory, for any way of calling. */
static struct nsx_copies_sum
of_kind(const struct nsx_look_at *a, const struct nsx_copies_sum *like, bool blocking)
{
	struct nsx_copies_sum all = { like->name, like->src, like->dst, like->sync, 0, 0, 0, 0 }, s;

	for (size_t i = 0; nsx_copies_sum(a->copies, i, &s); i++) {
		if (!nsx_str_eq(s.name, like->name) || !nsx_str_eq(s.src, like->src) || !nsx_str_eq(s.dst, like->dst)
		    || (blocking && !blocks(&s)))
			continue;
		all.count += s.count;
		all.bytes = nsx_add_sat(all.bytes, s.bytes, NULL);
		all.time = nsx_add_sat(all.time, s.time, NULL);
		all.hidden = nsx_add_sat(all.hidden, s.hidden, NULL);
	}
	return all;
}

static struct copied
add_copies(const struct nsx_look_at *a)
{
	struct copied c = { .all = 0 };
	struct nsx_copies_sum s;

	/* There are few: kinds of memory, and ways to call. */
	for (size_t i = 0; nsx_copies_sum(a->copies, i, &s); i++) {
		struct nsx_copies_sum all = of_kind(a, &s, false);

		c.all += (nsx_u128)(s.time - s.hidden);
		if (all.time - all.hidden > c.most.time - c.most.hidden)
			c.most = all;
		if (!blocks(&s))
			continue;
		c.blocking += (nsx_u128)(s.time - s.hidden);
		all = of_kind(a, &s, true);
		if (all.time - all.hidden > c.most_blocking.time - c.most_blocking.hidden)
			c.most_blocking = all;
	}
	return c;
}

static void
put_copies(struct nsx_look_at *a, const struct nsx_copies_sum *s)
{
	if (!s->name.len)
		return;
	nsx_buf_c(&a->text, "; most: ");
	nsx_buf_str(&a->text, s->name);
	if (nsx_str_eq(s->src, NSX_STR("pageable")) || nsx_str_eq(s->dst, NSX_STR("pageable")))
		nsx_buf_c(&a->text, ", pageable memory");
	nsx_buf_c(&a->text, ", ");
	nsx_look_put_each(&a->text, s->count, a->count, "");
	nsx_buf_fmt(&a->text, " a %s", nsx_look_unit(a));
	if (s->time > 0 && s->bytes > 0) {
		nsx_buf_c(&a->text, ", together ");
		nsx_look_put_bytes(&a->text, s->bytes / a->count);
		nsx_buf_c(&a->text, " in ");
		nsx_look_put_ns(&a->text, (double)s->time / (double)a->count);
		if (s->bytes / s->count >= TELLING)
			nsx_buf_fmt(&a->text, ", %.1f GB/s", (double)s->bytes / (double)s->time);
	}
}

static int
judge_blocking(struct nsx_look_at *a, const struct copied *c)
{
	nsx_u128 drained = 0;
	int most = 0;
	double copies = nsx_look_mean(a, c->blocking);

	for (int i = 0; i < NSX_NCAUSES; i++) {
		drained += a->drained[i];
		most = a->drained[i] > a->drained[most] ? i : most;
	}
	a->text.len = 0;
	nsx_buf_c(&a->text, "the host waits for the GPU in a call, and the GPU then for the host: idle ");
	nsx_look_put_ns(&a->text, nsx_look_mean(a, drained));
	nsx_buf_fmt(&a->text, " a %s", nsx_look_unit(a));
	if (drained)
		put_reason(a, a->drained[NSX_CAUSE_SYNC] ? NSX_CAUSE_SYNC : (enum nsx_cause)most);
	if (c->blocking) {
		nsx_buf_c(&a->text, "; and ");
		nsx_look_put_ns(&a->text, copies);
		nsx_buf_c(&a->text, " in copies that the host waits for");
		put_copies(a, &c->most_blocking);
	}
	return nsx_look_find(a, NSX_FIND_BLOCKING, NSX_CAUSE_SYNC, drained ? nsx_look_mean(a, drained) + copies : 0,
	                     c->blocking ? "nsysx-copies --findings @" : "nsysx-idle --list 20 @");
}

static int
judge_copies(struct nsx_look_at *a, const struct copied *c, bool without_blocking)
{
	double gain = nsx_look_mean(a, a->cells[NSX_PART_COPY]);

	if (without_blocking)
		gain -= nsx_look_mean(a, c->blocking);
	a->text.len = 0;
	nsx_buf_c(&a->text, "copies with nothing computing beside them");
	put_copies(a, &c->most);
	nsx_buf_str(&a->subject, c->most.name);
	return nsx_look_find(a, NSX_FIND_COPIES, NSX_NCAUSES, gain, "nsysx-copies @");
}

/* ---- kernels */

static int
judge_launch(struct nsx_look_at *a)
{
	struct nsx_launch_sum s, most = { .starved = 0 };
	nsx_u128 starved = 0;
	int64_t kernels = 0;

	for (size_t i = 0; nsx_launch_sum(a->launch, i, &s); i++) {
		if (!s.bound || (double)s.starved > LAUNCHING * (double)s.kernels)
			continue;
		starved += (nsx_u128)s.starved;
		kernels += s.kernels;
		if (s.starved > most.starved)
			most = s;
	}
	if (!kernels)
		return NSX_OK;
	a->text.len = 0;
	nsx_look_put_each(&a->text, kernels, a->count, "kernel");
	nsx_buf_fmt(&a->text,
	            " a %s are waited for longer than they run, no longer than launching takes; most: ",
	            nsx_look_unit(a));
	nsx_buf_kernel_shortened(&a->text, most.name, NAME);
	nsx_buf_kernel_shortened(&a->subject, most.name, NAME);
	nsx_buf_c(&a->text, ", runs ");
	nsx_look_put_ns(&a->text, (double)most.kernel / (double)most.kernels);
	nsx_buf_c(&a->text, ", is waited for ");
	nsx_look_put_ns(&a->text, (double)most.starved / (double)most.kernels);
	return nsx_look_find(a, NSX_FIND_LAUNCH_BOUND, NSX_NCAUSES, nsx_look_mean(a, starved), "nsysx-launch @");
}

static int
by_time(const void *pa, const void *pb)
{
	const struct nsx_look_layout *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

static int
judge_layout(struct nsx_look_at *a)
{
	nsx_u128 time = 0;
	int64_t count = 0;

	if (a->layouts.n > 1)
		qsort(a->layouts.p, a->layouts.n, sizeof *a->layouts.p, by_time);
	for (size_t i = 0; i < a->layouts.n; i++) {
		time += a->layouts.p[i].time;
		count += a->layouts.p[i].count;
	}
	a->text.len = 0;
	nsx_look_put_each(&a->text, count, a->count, "kernel");
	nsx_buf_fmt(&a->text, " a %s only copy or transpose", nsx_look_unit(a));
	for (size_t i = 0; i < a->layouts.n && i < 3; i++) {
		struct nsx_str name = nsx_look_str(a, a->layouts.p[i].name);

		nsx_buf_c(&a->text, i ? ", " : "; most: ");
		nsx_buf_shortened(&a->text, name, NAME);
		if (i == 0)
			nsx_buf_shortened(&a->subject, name, NAME);
		nsx_buf_char(&a->text, ' ');
		nsx_look_put_ns(&a->text, nsx_look_mean(a, a->layouts.p[i].time));
	}
	return nsx_look_find(a, NSX_FIND_LAYOUT, NSX_NCAUSES, nsx_look_mean(a, time),
	                     a->thunks ? "nsysx-summary --by thunk @" : "nsysx-summary --by kernel @");
}

/* The gain if instructions reached EFFICIENT of their limit. Rows are sorted by headroom. */
static int
judge_roofline(struct nsx_look_at *a)
{
	struct { struct nsx_str name; double gain, reached; } most[3] = { { { "", 0 }, 0, 0 } };
	double gain = 0, time = 0;
	int64_t n = 0;

	for (size_t i = 0; i < a->roof.rows.n; i++) {
		const struct nsx_roof_row *r = &a->roof.rows.p[i];
		struct nsx_str name = nsx_cat_str(&a->roof.cat, a->roof.cat.insts.p[r->inst].name);
		uint32_t text = nsx_intern_find(&a->texts, name);
		double won = (double)r->total - r->limit / EFFICIENT;

		if (!r->limited || won <= 0)
			continue;
		/* Instructions that only move data are reported by another rule. */
		if (text != NSX_NONE && nsx_map_get(&a->layout_of, (struct nsx_key){ text, 0 }) != NSX_NONE)
			continue;
		n++;
		gain += won;
		time += (double)r->total;
		for (int k = 0; k < 3; k++)
			if (won > most[k].gain) {
				memmove(&most[k + 1], &most[k], (size_t)(2 - k) * sizeof *most);
				most[k].name = name;
				most[k].gain = won;
				most[k].reached = r->limit / (double)r->total;
				break;
			}
	}
	a->text.len = 0;
	nsx_buf_fmt(&a->text, "%" PRId64 " instructions of ", n);
	nsx_look_put_ns(&a->text, time / (double)a->count);
	nsx_buf_fmt(&a->text, " a %s reach less than %.0f %% of what the GPU allows; the gain is of reaching that",
	            nsx_look_unit(a), 100 * EFFICIENT);
	for (int k = 0; k < 3 && most[k].gain > 0; k++) {
		nsx_buf_c(&a->text, k ? ", " : "; most: ");
		nsx_buf_str(&a->text, most[k].name);
		if (k == 0)
			nsx_buf_str(&a->subject, most[k].name);
		nsx_buf_char(&a->text, ' ');
		nsx_look_put_ns(&a->text, most[k].gain / (double)a->count);
		nsx_buf_fmt(&a->text, " (reaches %.0f %%)", 100 * most[k].reached);
	}
	return nsx_look_find(a, NSX_FIND_ROOFLINE, NSX_NCAUSES, gain / (double)a->count, "nsysx-roofline --top 20 @");
}

/* ---- steps */

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
	a->text.len = 0;
	nsx_buf_c(&a->text, "p99 of steps is ");
	nsx_look_put_ns(&a->text, (double)p99);
	nsx_buf_c(&a->text, ", p50 ");
	nsx_look_put_ns(&a->text, (double)p50);
	nsx_buf_fmt(&a->text, ", of %zu; the gain is of every step taking p50", n);
	if ((double)p99 < VARIABLE * (double)p50)
		return NSX_OK;
	if (nsx_look_between(a, VARIABLE, &explained) != NSX_OK)
		return NSX_ERR;
	if (explained)
		return NSX_OK;
	if ((double)a->first_steps - (double)a->nfirst * (double)p50 > ((double)a->time - (double)n * (double)p50) / 2)
		nsx_buf_fmt(&a->text, "; more than half of that is of each device's first two%s",
		            a->initialises ? ", which nsysx-warmup leaves out" : "");
	struct nsx_buf command = { .len = 0 };
	const char *option = a->options->step ? a->options->step : a->options->module;
	int rc;

	nsx_buf_c(&command, "nsysx-steps --explain ");
	if (option) {
		nsx_buf_c(&command, a->options->step ? "--step " : "--module ");
		nsx_look_put_quoted(&command, option);
		nsx_buf_char(&command, ' ');
	}
	nsx_buf_add(&command, "@", 2);
	rc = command.failed ? nsx_err_nomem(a->err, NULL)
	                    : nsx_look_find(a, NSX_FIND_VARIABILITY, NSX_NCAUSES, a->period - (double)p50, command.ptr);
	nsx_buf_free(&command);
	return rc;
}

/* ---- analyses that were not possible */

static void
see(struct nsx_look_at *a)
{
	const char *no_ops = "no operations in the stream: extract with -a";
	bool limited = false;
	int64_t most = 0;

	for (size_t i = 0; i < a->roof.rows.n; i++)
		limited |= a->roof.rows.p[i].limited;
	for (size_t i = 0; i < a->devices.n; i++)
		most = a->devices.p[i].periods > most ? a->devices.p[i].periods : most;
	if (!a->stepped)
		a->unseen[NSX_LOOK_STEPS] = "none found, so the whole of each device's time counts as one: name them "
		                            "with --step or --module";
	if (!a->ops)
		a->unseen[NSX_LOOK_IDLE] = a->unseen[NSX_LOOK_COPIES] = a->unseen[NSX_LOOK_LAUNCH] = no_ops;
	else if (!a->calls)
		a->unseen[NSX_LOOK_IDLE] = a->unseen[NSX_LOOK_LAUNCH] = "no CUDA calls in the stream: extract with -a";
	if (!a->ops && !a->comm.records)
		a->unseen[NSX_LOOK_EXPOSED] = no_ops;
	if (!a->ops && !a->thunks)
		a->unseen[NSX_LOOK_LAYOUT] = no_ops;
	if (!a->thunks)
		a->unseen[NSX_LOOK_ROOFLINE] = "no instructions of XLA";
	else if (!a->roof.any_cost)
		a->unseen[NSX_LOOK_ROOFLINE] = "no costs of instructions: extract with -x DUMP";
	else if (!limited)
		a->unseen[NSX_LOOK_ROOFLINE] = "peaks of the GPU are not known: see nsysx-roofline --peak";
	if (!a->stepped || most < FEW_STEPS)
		a->unseen[NSX_LOOK_VARIABILITY] = a->stepped ? "fewer than four steps on every device" : "no steps";
}

static int
by_gain(const void *pa, const void *pb)
{
	const struct nsx_finding *a = pa, *b = pb;

	if (a->gain != b->gain)
		return a->gain > b->gain ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->cause != b->cause)
		return a->cause < b->cause ? -1 : 1;
	return (a->evidence > b->evidence) - (a->evidence < b->evidence);
}

int
nsx_look_judge(struct nsx_look_at *a)
{
	struct copied copied;
	bool blocking;

	see(a);
	if (!a->count)
		return NSX_OK;
	copied = add_copies(a);
	if (nsx_look_judge_comm(a) != NSX_OK || judge_blocking(a, &copied) != NSX_OK)
		return NSX_ERR;
	blocking = a->findings.n && a->findings.p[a->findings.n - 1].kind == NSX_FIND_BLOCKING;
	if (judge_copies(a, &copied, blocking) != NSX_OK)
		return NSX_ERR;
	if ((a->calls && judge_launch(a) != NSX_OK) || judge_layout(a) != NSX_OK || judge_idle(a) != NSX_OK)
		return NSX_ERR;
	if (judge_roofline(a) != NSX_OK || (!a->unseen[NSX_LOOK_VARIABILITY] && judge_variability(a) != NSX_OK))
		return NSX_ERR;
	if (a->findings.n > 1)
		qsort(a->findings.p, a->findings.n, sizeof *a->findings.p, by_gain);
	return NSX_OK;
}
