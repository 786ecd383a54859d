/* rules_idle.c -- findings about idle time, and about copies and calls that block. */
#include <inttypes.h>

#include "table/diagnose/diagnose.h"
#include "job/remedy.h"

/* A place is named if this share of a cause is there. */
#define MUCH 0.2
/* Bytes of a copy from which its rate is a property of the link: shorter ones are dominated by latency. */
enum { TELLING = 1 << 16 };
/* Gaps of a step from which on they are many, and ns of each in mean up to which they are short. */
enum { MANY_GAPS = 20, SHORT_GAP = 200000 };

/* ---- idle time */

/* The window with the maximum of a cause; among equal ones, that of the lowest device. NULL: none has any. */
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
nsx_look_put_reason(struct nsx_look_at *a, const struct idle_window *w, enum nsx_cause cause, const char *what)
{
	uint32_t path, leaf;
	int64_t ns;

	ns = nsx_idle_reason(a->idle, w, cause, &path, &leaf);
	if ((double)ns < MUCH * (double)w->cells[nsx_cause_cell(cause)].ns)
		return;
	if (path == NSX_NONE || (path == NSX_STACKS_ROOT && leaf == NSX_NONE))
		return;
	nsx_buf_fmt(&a->text, "; %.0f%% of %s in ", 100 * (double)ns / (double)w->cells[nsx_cause_cell(cause)].ns,
	            what);
	nsx_idle_put_place(a->idle, path, leaf, &a->text);
	nsx_buf_c(&a->subject, a->subject.len ? ", in " : "");
	nsx_idle_put_place(a->idle, path, leaf, &a->subject);
}

/* The same for the window with the maximum of the cause. */
static void
put_reason(struct nsx_look_at *a, enum nsx_cause cause, const char *what)
{
	const struct nsx_look_device *d = NULL;
	const struct idle_window *w = most_of(a, cause, &d);

	if (w)
		nsx_look_put_reason(a, w, cause, what);
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

/* nsx_look_find with that action, NULL: the one of the finding's kind and cause. */
static int
find_with(struct nsx_look_at *a, enum nsx_finding_kind kind, enum nsx_cause cause, double gain, const char *command,
          const char *action)
{
	size_t before = a->findings.n;
	int rc = nsx_look_find(a, kind, cause, gain, command);

	if (a->findings.n > before)
		a->findings.p[before].action = action;
	return rc;
}

/* The command for the gaps that an option selects, of the examined windows only, so that they add up to the finding. */
static const char *
gaps_command(struct nsx_look_at *a, const char *option, const char *value, bool copies)
{
	a->command.len = 0;
	nsx_look_put_idle(a);
	nsx_buf_fmt(&a->command, " %s%s --list 20", option, value);
	nsx_look_put_file(a);
	if (copies) {
		nsx_buf_c(&a->command, " && ");
		nsx_look_put_over(a, "nsysx-copies --findings");
	}
	return nsx_look_command(a);
}

/* The command for the lines of Python in which the host was in the gaps of a cause. */
static const char *
lines_command(struct nsx_look_at *a, enum nsx_cause cause)
{
	struct nsx_buf tool = { .len = 0 };

	nsx_buf_fmt(&tool, "nsysx-idle --by host --lines=sum --cause %s", nsx_cause_name(cause));
	return nsx_look_over_text(a, &tool);
}

/* Append a remark if one gap, or one on each device, is more than half of the time of a cause, which then is not a cost
 * of each step. */
static void
put_once(struct nsx_look_at *a, enum nsx_cause cause, int64_t longest)
{
	nsx_u128 all = a->cells[nsx_cause_cell(cause)], each = 0;

	/* If less than half is blocked, a gap of more than half is not. */
	if (!nsx_look_has_several(a) || 2 * a->blocked[cause] >= all)
		return;
	for (size_t i = 0; i < a->devices.n; i++) {
		const struct idle_window *w = nsx_look_window(a, &a->devices.p[i]);

		each += w ? (nsx_u128)w->cells[nsx_cause_cell(cause)].longest : 0;
	}
	if (2 * (nsx_u128)longest > all)
		nsx_buf_c(&a->text, "; more than half of all is one gap of a single step");
	else if (2 * each > all)
		nsx_buf_c(&a->text,
		          "; more than half of all is the longest gap of each device, not what each step costs");
}

/* Without any calls in the stream, no other beginning of the recording has them. NULL: nothing in particular. */
static const char *
no_calls_action(const struct nsx_look_at *a, enum nsx_cause cause)
{
	return cause != NSX_CAUSE_NO_CALL || a->calls ? NULL : nsx_remedy(&a->steps.cat, NSX_LACK_CALLS);
}

/* What to do where the host is late before many launches and never by much: it needs longer for what is between one
 * launch and the next than the device for the kernels, and no single part of its code is to blame. A part that is long
 * once a step is: where those make up half of the time, this is not said. Without steps nobody knows how many gaps are
 * many. NULL: nothing in particular. */
static const char *
many_gaps_action(const struct nsx_look_at *a, const struct nsx_look_device *d, const struct idle_cell *cell,
                 enum nsx_cause cause)
{
	if (!a->stepped || (cause != NSX_CAUSE_RANGE && cause != NSX_CAUSE_HOST))
		return NULL;
	if (cell->count < MANY_GAPS * d->periods || cell->ns > SHORT_GAP * cell->count
	    || cell->longest >= cell->ns / 2 / d->periods)
		return NULL;
	return "launch less, since the host is late before many launches by little each: CUDA graphs or torch.compile "
	       "(XLA: command buffers), or larger batches";
}

/* What to do first if the host is in its own code after copies to it: it may have waited for what was copied, without a
 * call that shows it, as in callbacks and events that are polled. NULL: most idle time of the cause is of others. */
static const char *
reads_action(struct nsx_look_at *a, enum nsx_cause cause)
{
	nsx_u128 ns = 0, read = 0;

	if (cause != NSX_CAUSE_HOST && cause != NSX_CAUSE_RANGE)
		return NULL;
	for (size_t i = 0; i < a->devices.n; i++) {
		const struct idle_window *w = nsx_look_window(a, &a->devices.p[i]);

		ns += w ? (nsx_u128)w->cells[nsx_cause_cell(cause)].ns : 0;
		read += w ? (nsx_u128)w->cells[nsx_cause_cell(cause)].read : 0;
	}
	if (!read || 2 * read < ns)
		return NULL;
	nsx_buf_fmt(&a->text,
	            "; %.0f%% of that follows copies to the host, which may have waited for what they brought",
	            100 * (double)read / (double)ns);
	return "read results such as the loss every so many steps, or a step later, so that the host launches ahead";
}

/* Where the host is late, that it also waits many times a step is told where most of it is, in its own code: each wait
 * leaves nothing queued, which is in all gaps that follow, and only the first of them is in the blocking finding. */
static void
put_waits(struct nsx_look_at *a, enum nsx_cause cause)
{
	nsx_u128 range = a->cells[nsx_cause_cell(NSX_CAUSE_RANGE)], host = a->cells[nsx_cause_cell(NSX_CAUSE_HOST)];
	size_t subject = a->subject.len;

	if (cause != (range >= host ? NSX_CAUSE_RANGE : NSX_CAUSE_HOST) || !nsx_look_put_waits(a))
		return;
	put_reason(a, NSX_CAUSE_SYNC, "the time idle for these");
	a->subject.len = subject;
}

static int
judge_idle(struct nsx_look_at *a)
{
	for (int c = 0; c < NSX_NCAUSES; c++) {
		const struct nsx_look_device *d = NULL;
		const struct idle_window *w = most_of(a, (enum nsx_cause)c, &d);
		const struct idle_cell *cell = w ? &w->cells[nsx_cause_cell((enum nsx_cause)c)] : NULL;
		int64_t longest;
		bool lines;

		if (!cell || !nsx_cause_is_gap((enum nsx_cause)c))
			continue;
		nsx_look_say(a, "idle %s: %son device %" PRId64 " in %s%s, the longest %s",
		             c == NSX_CAUSE_NO_CALL && nsx_cat_on_cpu(&a->steps.cat)
		             ? "between instructions, which nobody launches on a CPU" : nsx_causes[c].says,
		             a->devices.n > 1 ? "most " : "", d->number,
		             nsx_look_each(cell->count, d->periods, "gap").s, a->stepped ? " a step" : "",
		             NSX_NS(cell->longest));
		put_reason(a, (enum nsx_cause)c, "that");
		const char *action = nsx_look_advise(a, (enum nsx_cause)c, "all"),
		    *did = nsx_look_put_host(a, d, (enum nsx_cause)c, &lines),
		    *lacks = no_calls_action(a, (enum nsx_cause)c), *reads = reads_action(a, (enum nsx_cause)c);

		/* A known place tells more than what was before the gaps, and that more than their number. */
		if (!action)
			action = reads;
		if (!action)
			action = many_gaps_action(a, d, cell, (enum nsx_cause)c);
		if (!a->subject.len && a->devices.n > 1)
			nsx_buf_fmt(&a->subject, "device %" PRId64, d->number);
		const struct nsx_look_device *other = longest_of(a, (enum nsx_cause)c, w, &longest);

		if (other)
			nsx_buf_fmt(&a->text, "; device %" PRId64 " has the longest of all, %s", other->number,
			            NSX_NS(longest));
		put_waits(a, (enum nsx_cause)c);
		put_once(a, (enum nsx_cause)c, longest);
		/* The table of where the time goes includes it, so the two numbers differ by it. */
		if (a->blocked[c])
			nsx_buf_fmt(&a->text, "; without %s after waits of the host, which is blocking",
			            NSX_NS(nsx_look_mean(a, a->blocked[c])));
		if (find_with(a, NSX_FIND_IDLE, (enum nsx_cause)c,
			      nsx_look_mean(a, a->cells[nsx_cause_cell((enum nsx_cause)c)] - a->blocked[c]),
			      lines ? lines_command(a, (enum nsx_cause)c)
			            : gaps_command(a, "--cause ", nsx_cause_name((enum nsx_cause)c), false),
			      lacks ? lacks : did ? did : action) != NSX_OK)
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
	struct nsx_copies_sum all = { like->name, like->src, like->dst, like->sync, 0, 0, 0, 0, 0 }, s;

	for (size_t i = 0; nsx_copies_sum(a->copies, i, &s); i++) {
		if (!nsx_str_eq(s.name, like->name) || !nsx_str_eq(s.src, like->src) || !nsx_str_eq(s.dst, like->dst)
		    || (blocking && !blocks(&s)))
			continue;
		all.count += s.count;
		all.bytes = nsx_add_sat(all.bytes, s.bytes, NULL);
		all.time = nsx_add_sat(all.time, s.time, NULL);
		all.hidden = nsx_add_sat(all.hidden, s.hidden, NULL);
		all.host = nsx_add_sat(all.host, s.host, NULL);
	}
	return all;
}

static struct copied
add_copies(const struct nsx_look_at *a)
{
	struct copied c = { .all = 0 };
	struct nsx_copies_sum s;

	/* There are few rows: their number is limited by kinds of memory and ways of calling. */
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

static bool
of_memory(const struct nsx_copies_sum *s, const char *kind)
{
	return nsx_str_eq(s->src, nsx_str_c(kind)) || nsx_str_eq(s->dst, nsx_str_c(kind));
}

static void
put_copies(struct nsx_look_at *a, const struct nsx_copies_sum *s)
{
	if (!s->name.len)
		return;
	nsx_buf_c(&a->text, "; most: ");
	nsx_buf_str(&a->text, s->name);
	nsx_buf_fmt(&a->text, "%s, %s a %s", of_memory(s, "pageable") ? ", pageable memory" : "",
	            nsx_look_each(s->count, a->count, "").s, nsx_look_unit(a));
	if (s->time <= 0 || s->bytes <= 0)
		return;
	nsx_buf_fmt(&a->text, ", together %s in %s", nsx_look_bytes(s->bytes / a->count).s,
	            NSX_NS((double)s->time / (double)a->count));
	if (s->bytes / s->count < TELLING)
		return;
	nsx_buf_fmt(&a->text, ", %.1f GB/s", (double)s->bytes / (double)s->time);
	/* Whatever the call is named: it returns when the memory has been staged. */
	if (of_memory(s, "pageable") && s->host > s->time / 2)
		nsx_buf_fmt(&a->text, ", and in their calls the host %s",
		            NSX_NS((double)s->host / (double)a->count));
}

static int
judge_blocking(struct nsx_look_at *a, const struct copied *c)
{
	nsx_u128 idle = 0;
	int most = 0;
	double copies = nsx_look_mean(a, c->blocking);
	const char *action = NULL;

	for (int i = 0; i < NSX_NCAUSES; i++) {
		idle += a->blocked[i];
		most = a->blocked[i] > a->blocked[most] ? i : most;
	}
	nsx_look_say(a, "the host waits for the GPU in a call, and the GPU then for the host: idle %s a %s, no "
	             "longer than it waited", NSX_NS(nsx_look_mean(a, idle)), nsx_look_unit(a));
	if (idle)
		put_reason(a, a->blocked[NSX_CAUSE_SYNC] ? NSX_CAUSE_SYNC : (enum nsx_cause)most,
		           a->blocked[NSX_CAUSE_SYNC] ? "the wait" : nsx_cause_name((enum nsx_cause)most));
	if (a->blocked[NSX_CAUSE_SYNC])
		action = nsx_look_advise(a, NSX_CAUSE_SYNC, "all waits");
	/* The activity of the host after it waited, if that is the largest part. */
	if (a->blocked[NSX_CAUSE_SYNC] && (most == NSX_CAUSE_RANGE || most == NSX_CAUSE_API)) {
		size_t subject = a->subject.len;

		put_reason(a, (enum nsx_cause)most, "the host's time after it");
		a->subject.len = subject;
	}
	if (c->blocking) {
		nsx_buf_fmt(&a->text, "; and %s in copies that the host waits for", NSX_NS(copies));
		put_copies(a, &c->most_blocking);
	}
	return find_with(a, NSX_FIND_BLOCKING, NSX_CAUSE_SYNC, idle ? nsx_look_mean(a, idle) + copies : 0,
	                 gaps_command(a, "--drained", "", c->blocking > 0), action);
}

/* Pinning does not help for memory that is pinned already or is not the host's. NULL: the memory may be pageable. */
static const char *
copies_action(const struct nsx_copies_sum *s)
{
	if (of_memory(s, "pageable"))
		return NULL;
	if (of_memory(s, "pinned"))
		return "copy ahead of use, overlapped with computation, or keep the data on the device";
	if (nsx_str_eq(s->dst, NSX_STR("device")) && (nsx_str_eq(s->src, NSX_STR("device")) || !s->src.len))
		return "write the data where it is needed, instead of copying or clearing it on the device";
	return NULL;
}

static int
judge_copies(struct nsx_look_at *a, const struct copied *c, bool without_blocking)
{
	double gain = nsx_look_mean(a, a->cells[NSX_PART_COPY]);

	if (without_blocking)
		gain -= nsx_look_mean(a, c->blocking);
	nsx_look_say(a, "copies that no computation overlaps");
	put_copies(a, &c->most);
	nsx_buf_str(&a->subject, c->most.name);
	return find_with(a, NSX_FIND_COPIES, NSX_NCAUSES, gain, nsx_look_over(a, "nsysx-copies"),
	                 copies_action(&c->most));
}

int
nsx_look_judge_idle(struct nsx_look_at *a)
{
	struct copied copied = add_copies(a);
	bool blocking;

	if (judge_blocking(a, &copied) != NSX_OK)
		return NSX_ERR;
	blocking = a->findings.n && a->findings.p[a->findings.n - 1].kind == NSX_FIND_BLOCKING;
	return judge_copies(a, &copied, blocking) == NSX_OK ? judge_idle(a) : NSX_ERR;
}
