/* host.c -- what the host did while devices were idle in the windows, and in which line: where the stream has records
 * of host threads (job/doing), a finding about idle time names them. */
#include <inttypes.h>
#include <stdlib.h>

#include "table/diagnose/diagnose.h"

/* What the host did is named, and decides what to do first, from this share of a cause on; the recording's own cost is
 * told from this share on. */
#define HALF 0.5
#define TOLD 0.1

/* what, line: in texts. Each line has a row for each state, and one with the sum of them (SUM): a sample in which the
 * state changes counts once there. */
enum { SUM = NSX_DOING_STATES };
struct key { uint32_t device, cause, state, what, line; };
struct did { struct key key; int64_t ns, samples; };

static const struct nsx_sum_def rows = { .size = sizeof(struct did), .key = sizeof(struct key) };

/* ---- reading */

static bool
add(struct nsx_look_host *h, const struct key *key, const struct nsx_doing_piece *p)
{
	uint32_t at = nsx_sums_number(&h->did, key), *seen;

	if (at == NSX_NONE)
		return false;
	struct did *d = nsx_sums_at(&h->did, at);
	d->ns += p->end - p->start;
	if (p->sample == NSX_ABSENT)
		return true;
	seen = nsx_map_at(&h->counted, (struct nsx_key){ at, (uint64_t)p->sample });
	if (!seen)
		return false;
	d->samples += *seen == NSX_NONE;
	*seen = 0;
	return true;
}

static int
piece(void *state, const struct nsx_doing_piece *p)
{
	struct nsx_look_host *h = state;
	struct key key = { p->device, p->cause, p->state, nsx_intern(&h->texts, nsx_doing_text(&h->doing, p->what)),
	                   nsx_intern(&h->texts, nsx_doing_line(nsx_doing_frames(&h->doing, p->stack), false)) };
	bool good = key.what != NSX_NONE && key.line != NSX_NONE && add(h, &key, p);

	if (good && key.line)
		good = add(h, &(struct key){ key.device, key.cause, SUM, 0, key.line }, p);
	return good ? NSX_OK : nsx_err_nomem(h->doing.err, NULL);
}

static int
begin(void *state, const void *options, const struct nsx_analysis_at *at)
{
	struct nsx_look_host *h = state;

	(void)options;
	h->doing.piece = piece;
	h->doing.state = h;
	h->doing.err = at->err;
	h->did.def = &rows;
	nsx_doing_begin(&h->doing);
	h->doing.needed = INT64_MIN;   /* until the first device has worked */
	return nsx_intern(&h->texts, NSX_STR("")) == 0 ? NSX_OK : nsx_err_nomem(at->err, NULL);
}

static void
need(void *state, struct nsx_reader *in)
{
	nsx_doing_need(&((struct nsx_look_host *)state)->doing, in);
}

/* Host threads are declared before the first of their records: without them there is nothing to follow. */
static int
take(void *state, const struct nsx_event *e)
{
	struct nsx_look_host *h = state;
	int kind = e->rec->kind->id;

	h->known |= kind == NSX_THREAD;
	return kind != NSX_IDLE && (h->known || kind < NSX_COMPILE) ? nsx_doing_take(&h->doing, e->rec) : NSX_OK;
}

static int
finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	(void)table;
	return nsx_doing_finish(&((struct nsx_look_host *)state)->doing, diags);
}

static void
end(void *state)
{
	struct nsx_look_host *h = state;

	nsx_doing_free(&h->doing);
	nsx_intern_free(&h->texts);
	nsx_sums_free(&h->did);
	nsx_map_free(&h->counted);
	free(h->until.p);
}

const struct nsx_analysis nsx_look_host = { 0, 0, false, begin, need, take, finish, end };

int
nsx_look_heard(void *state, const struct nsx_stretch *s, int64_t device, int64_t from, int64_t to)
{
	struct nsx_look_host *h = state;

	return h->known ? nsx_doing_stretch(&h->doing, s, device, from, to) : NSX_OK;
}

/* A device that has had no stretch yet needs nothing: its first one is empty, and begins with its first operation. An
 * old answer is a safe one, so all devices are looked at now and then only. */
int
nsx_look_passed(void *state, uint32_t device, int64_t start)
{
	enum { OFTEN = 4096, EACH = 8 };
	struct nsx_look_host *h = state;

	if (!h->known)
		return NSX_OK;
	if (!nsx_vec_reach(&h->until, device, &(int64_t){ INT64_MAX }))
		return nsx_err_nomem(h->doing.err, NULL);
	h->until.p[device] = start;
	if (++h->passed < OFTEN || h->passed < EACH * h->until.n)
		return NSX_OK;
	h->passed = 0;
	h->doing.needed = INT64_MAX;
	for (size_t i = 0; i < h->until.n; i++)
		h->doing.needed = h->until.p[i] < h->doing.needed ? h->until.p[i] : h->doing.needed;
	return NSX_OK;
}

/* ---- telling */

/* A device's time of a cause: all, the state and what with most of it, and the line with most of it among those of
 * which enough samples tell; in_state: what that line has of it in that state. */
struct most { int64_t ns, profiler, of_state, in_state; const struct did *state, *line; bool failed; };

static const struct did *
did_at(const struct nsx_look_host *h, size_t i)
{
	return nsx_sums_at(&h->did, i);
}

static bool
is_of(const struct nsx_look_host *h, const struct did *d, const struct nsx_look_device *device, enum nsx_cause cause)
{
	return d->key.cause == (uint32_t)cause && h->doing.cat.devices.p[d->key.device].number == device->number;
}

static bool
is_profiler(const struct nsx_look_host *h, const struct did *d)
{
	return d->key.state == NSX_DOING_GIL &&
	       nsx_str_eq(nsx_intern_str(&h->texts, d->key.what), NSX_STR("[profiler]"));
}

/* Rows by state and what: as many as there are calls, so looking for a row's sum among few is quick. */
static struct most
most_of(const struct nsx_look_host *h, const struct nsx_look_device *device, enum nsx_cause cause)
{
	NSX_VEC(struct did) sums = { 0 };
	struct most m = { .ns = 0 };
	struct nsx_map of = { 0 };

	for (size_t i = 0; i < nsx_sums_count(&h->did); i++) {
		const struct did *d = did_at(h, i);
		uint32_t at;

		if (!is_of(h, d, device, cause))
			continue;
		if (d->key.state == SUM) {
			if (d->samples >= NSX_DOING_ENOUGH && (!m.line || d->ns > m.line->ns))
				m.line = d;
			continue;
		}
		m.ns += d->ns;
		m.profiler += is_profiler(h, d) ? d->ns : 0;
		if (is_profiler(h, d) || d->key.state == NSX_DOING_UNKNOWN)
			continue;
		at = nsx_map_number(&of, (struct nsx_key){ d->key.state, d->key.what });
		if (!nsx_vec_next(&sums, at, ((struct did){ .key = d->key }))) {
			m.failed = true;
			break;
		}
		sums.p[at].ns += d->ns;
		/* Equal ones: the first in the stream. */
		if (sums.p[at].ns > m.of_state) {
			m.of_state = sums.p[at].ns;
			m.state = d;
		}
	}
	for (size_t i = 0; m.state && m.line && i < nsx_sums_count(&h->did); i++) {
		const struct did *d = did_at(h, i);

		if (is_of(h, d, device, cause) && d->key.state == m.state->key.state && d->key.what == m.state->key.what
		    && d->key.line == m.line->key.line)
			m.in_state += d->ns;
	}
	free(sums.p);
	nsx_map_free(&of);
	return m;
}

/* "/app/data.py:80[load_batch]" as "load_batch (data.py:80)". */
static void
put_line(struct nsx_buf *to, struct nsx_str line)
{
	size_t open = line.len, slash = 0;

	for (size_t i = 0; i < line.len && open == line.len; i++)
		if (line.ptr[i] == '[' && i && nsx_is_digit(line.ptr[i - 1]))
			open = i;
	for (size_t i = 0; i < open; i++)
		if (line.ptr[i] == '/')
			slash = i + 1;
	if (open < line.len && line.ptr[line.len - 1] == ']')
		nsx_buf_fmt(to, "%.*s (%.*s)", (int)(line.len - open - 2), line.ptr + open + 1, (int)(open - slash),
		            line.ptr + slash);
	else
		nsx_buf_add(to, line.ptr + slash, line.len - slash);
}

static void
put_state(struct nsx_buf *to, enum nsx_doing_state state, struct nsx_str what)
{
	switch (state) {
	case NSX_DOING_GIL:
		nsx_buf_c(to, "waiting for the GIL");
		if (what.len)
			nsx_buf_fmt(to, " that %.*s has", (int)what.len, what.ptr);
		break;
	case NSX_DOING_OFF:     nsx_buf_c(to, "off the CPU"); break;
	case NSX_DOING_RUNNING: nsx_buf_c(to, "running"); break;
	default:                nsx_buf_str(to, what); break;
	}
}

/* Calls of the OS library, by what they wait for. */
static const char *
action_of(enum nsx_doing_state state, struct nsx_str what)
{
	static const char *const locks[] = { "pthread_", "sem_", "futex", "poll", "ppoll", "select", "epoll_", NULL };

	switch (state) {
	case NSX_DOING_GIL:
		return "keep other Python threads from holding the GIL while this one launches: do their work in "
		       "processes, or "
		       "in code that releases it";
	case NSX_DOING_OFF:
		return "give the thread a CPU of its own: other threads or processes compete for it (numactl, fewer "
		       "workers)";
	case NSX_DOING_RUNNING:
		return "make that code do less in each step, or move it to another thread or process, or behind the "
		       "launch of the "
		       "next work";
	case NSX_DOING_OS:
		for (int i = 0; locks[i]; i++)
			if (nsx_str_starts(what, locks[i]))
				return "find what the thread waits for there (another thread, a worker of the data "
				       "loader), and give that a "
				       "head start: prefetch, more workers";
		if (nsx_str_starts(what, "nanosleep") || nsx_str_starts(what, "clock_nanosleep") ||
		    nsx_str_starts(what, "usleep") || nsx_str_starts(what, "sleep"))
			return "take the sleep out of the step";
		return "do this ahead of the step that needs it: prefetch in another thread or process, or cache it";
	default: return NULL;
	}
}

/* Code outside ranges that samples show needs no annotation to be found. */
static const char *
lines_action(const struct most *m, enum nsx_cause cause)
{
	return m->line && cause == NSX_CAUSE_HOST
	    ? "begin with the lines of Python that take most, and move what they do to another thread or process, or "
	      "behind the launch of the next work" : NULL;
}

/* What the host did most, and the line of Python with most of the time, which is in any state. */
static void
put_did(struct nsx_look_at *a, const struct nsx_look_device *device, const struct most *m)
{
	const struct nsx_look_host *h = &a->host;
	double each = a->stepped && device->periods ? (double)device->periods : 1;
	const char *unit = a->stepped ? " a step" : "";
	bool state = m->state && (double)m->of_state >= TOLD * (double)m->ns;
	bool one = m->line && m->in_state == m->line->ns;

	if (!state && !m->line)
		return;
	nsx_buf_c(&a->text, "; the host there: ");
	if (state)
		put_state(&a->text, (enum nsx_doing_state)m->state->key.state,
		          nsx_intern_str(&h->texts, m->state->key.what));
	if (state && !one)
		nsx_buf_fmt(&a->text, ": %s%s", NSX_NS((double)m->of_state / each), unit);
	if (!m->line)
		return;
	nsx_buf_c(&a->text, !state ? "most in " : one ? " in " : "; in any state most in ");
	put_line(&a->text, nsx_intern_str(&h->texts, m->line->key.line));
	nsx_buf_fmt(&a->text, ": %s%s, %" PRId64 " samples", NSX_NS((double)m->line->ns / each), unit,
	            m->line->samples);
}

const char *
nsx_look_put_host(struct nsx_look_at *a, const struct nsx_look_device *device, enum nsx_cause cause, bool *lines)
{
	const struct nsx_look_host *h = &a->host;
	struct most m = h->known ? most_of(h, device, cause) : (struct most){ .ns = 0 };

	*lines = m.line;
	a->text.failed |= m.failed;   /* is told where the text is used */
	if (!m.ns)
		return NULL;
	put_did(a, device, &m);
	if ((double)m.profiler >= TOLD * (double)m.ns)
		nsx_buf_fmt(&a->text,
			    "; %.0f%% of it is Python sampling, which the recording costs and not the program",
			    100 * (double)m.profiler / (double)m.ns);
	return m.state && (double)m.of_state >= HALF * (double)(m.ns - m.profiler)
	    ? action_of((enum nsx_doing_state)m.state->key.state, nsx_intern_str(&h->texts, m.state->key.what))
	    : lines_action(&m, cause);
}
