/* chrome.c -- a trace as JSON events, which Chrome's viewer and others read: slices are complete events, one event on
 * each line. */
#include <inttypes.h>
#include <string.h>

#include "draw/perfetto/trace.h"
#include "base/escape.h"
#include "base/num.h"

/* Collectives with records from some devices so far are stored in rows by their number, the latest first; the last one
 * of a full row is dropped. */
enum { ROWS = 1 << 14, ROW = 4 };

/* Flows are written when both of their ends are known, since an end may have been removed from the stream. Ends of
 * launches wait by the low bits of their number; the calls whose operations may come have consecutive numbers. */
enum { WAITING = 1 << 14 };

/* An end of a flow that was not written. id: of the flow; 0: none. */
struct flow_end { uint64_t id, track; int64_t time; uint32_t process; bool launched; };

struct chrome {
	bool     any;                    /* event */
	struct flow_end begun[ROWS][ROW];       /* the first records of instances of collectives */
	struct flow_end waiting[2][WAITING];    /* of launches of modules and thunks, and of calls */
};

static void
begin_event(struct nsx_perfetto *t, const char *phase, uint32_t process, uint64_t track)
{
	struct chrome *c = t->state;

	nsx_buf_fmt(&t->buf, "%s{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu64, c->any ? ",\n" : "\n", phase,
	            process, track);
	c->any = true;
}

static void
put_time(struct nsx_buf *b, const char *key, int64_t time)
{
	char text[NSX_DOUBLE_CHARS];

	nsx_buf_c(b, key);
	nsx_buf_add(b, text, (size_t)(nsx_put_thousandths(text, time) - text));
}

static int
end_event(struct nsx_perfetto *t)
{
	nsx_buf_char(&t->buf, '}');
	return nsx_trace_flush(t, false);
}

static int
chrome_begin(struct nsx_perfetto *t)
{
	nsx_buf_c(&t->buf, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	return NSX_OK;
}

static int
put_meta(struct nsx_perfetto *t, const char *what, uint32_t process, uint64_t track, struct nsx_str name)
{
	begin_event(t, "M", process, track);
	nsx_buf_fmt(&t->buf, ",\"name\":\"%s_name\",\"args\":{\"name\":", what);
	nsx_buf_json(&t->buf, name);
	nsx_buf_char(&t->buf, '}');
	return end_event(t);
}

static int
put_place(struct nsx_perfetto *t, const char *what, uint32_t process, uint64_t track, uint32_t place)
{
	begin_event(t, "M", process, track);
	nsx_buf_fmt(&t->buf, ",\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}", what, place);
	return end_event(t);
}

static int
chrome_process(struct nsx_perfetto *t, uint32_t process, struct nsx_str name)
{
	if (put_meta(t, "process", process, 0, name) != NSX_OK)
		return NSX_ERR;
	return put_place(t, "process", process, 0, process);
}

static int
chrome_track(struct nsx_perfetto *t, const struct nsx_perfetto_track *track)
{
	/* Counters are distinguished by their names. */
	if (track->counter)
		return NSX_OK;
	if (put_meta(t, "thread", track->process, track->id, track->name) != NSX_OK)
		return NSX_ERR;
	return put_place(t, "thread", track->process, track->id, track->rank);
}

static void
put_args(struct nsx_buf *b, const struct nsx_slice *s)
{
	for (int i = 0; i < s->nargs; i++) {
		nsx_buf_fmt(b, "%s\"%s\":", i ? "," : ",\"args\":{", nsx_arg_names[s->args[i].key]);
		if (s->args[i].s.ptr)
			nsx_buf_json(b, s->args[i].s);
		else
			nsx_buf_fmt(b, "%" PRId64, s->args[i].i);
	}
	if (s->nargs)
		nsx_buf_char(b, '}');
}

static int
put_flow(struct nsx_perfetto *t, const char *phase, const char *name, const struct flow_end *e)
{
	begin_event(t, phase, e->process, e->track);
	nsx_buf_fmt(&t->buf, ",\"cat\":\"%s\",\"name\":\"%s\",\"id\":\"0x%" PRIx64 "\",\"bp\":\"e\"", name, name,
	            e->id);
	put_time(&t->buf, ",\"ts\":", e->time);
	return end_event(t);
}

/* The launch, or what was launched. */
static int
put_launch(struct nsx_perfetto *t, const struct flow_end *e)
{
	struct chrome *c = t->state;
	struct flow_end *other = &c->waiting[e->id >> 62 & 1][e->id % WAITING], first = *other;

	if (first.id != e->id || first.launched == e->launched) {
		/* An operation whose call no longer waits must not end the waiting of another call. */
		if (first.id && first.id != e->id && !first.launched && e->launched)
			return NSX_OK;
		t->apart += first.id != 0 && !first.launched;
		*other = *e;
		return NSX_OK;
	}
	other->id = 0;
	return put_flow(t, "s", "launch", e->launched ? &first : e) == NSX_OK
	       && put_flow(t, "f", "launch", e->launched ? e : &first) == NSX_OK ? NSX_OK : NSX_ERR;
}

/* A record of a collective: the second one writes the first one's end too. */
static int
put_instance(struct nsx_perfetto *t, const struct flow_end *e)
{
	struct chrome *c = t->state;
	struct flow_end *row = c->begun[e->id % ROWS];

	for (int i = 0; i < ROW; i++) {
		if (row[i].id != e->id)
			continue;
		if (!row[i].launched && put_flow(t, "s", "collective", &row[i]) != NSX_OK)
			return NSX_ERR;
		row[i].launched = true;   /* written */
		return put_flow(t, "t", "collective", e);
	}
	memmove(row + 1, row, (ROW - 1) * sizeof *row);
	row[0] = *e;
	return NSX_OK;
}

static int
chrome_slice(struct nsx_perfetto *t, const struct nsx_perfetto_track *track, const struct nsx_slice *s)
{
	begin_event(t, "X", track->process, track->id);
	put_time(&t->buf, ",\"ts\":", s->start);
	put_time(&t->buf, ",\"dur\":", s->end - s->start);
	nsx_buf_fmt(&t->buf, ",\"cat\":\"%s\",\"name\":", nsx_category_names[s->category]);
	nsx_buf_json(&t->buf, s->name);
	put_args(&t->buf, s);
	if (end_event(t) != NSX_OK)
		return NSX_ERR;
	struct flow_end e = { s->launch, track->id, s->start, track->process, s->launched };
	if (s->launch && put_launch(t, &e) != NSX_OK)
		return NSX_ERR;
	if (!s->instance)
		return NSX_OK;
	e.id = s->instance;
	e.launched = false;
	return put_instance(t, &e);
}

static int
chrome_counter(struct nsx_perfetto *t, const struct nsx_perfetto_track *track, int64_t time, int64_t value)
{
	begin_event(t, "C", track->process, track->id);
	nsx_buf_c(&t->buf, ",\"name\":");
	nsx_buf_json(&t->buf, track->name);
	put_time(&t->buf, ",\"ts\":", time);
	nsx_buf_fmt(&t->buf, ",\"args\":{\"%s\":%" PRId64 "}", track->value ? "value" : "bytes", value);
	return end_event(t);
}

static int
chrome_finish(struct nsx_perfetto *t)
{
	nsx_buf_c(&t->buf, "\n]}\n");
	return NSX_OK;
}

static void
chrome_free(struct nsx_perfetto *t)
{
	(void)t;
}

const struct nsx_trace_form nsx_trace_chrome = {
	sizeof(struct chrome), chrome_begin, chrome_process, chrome_track, chrome_slice, NULL, chrome_counter,
	chrome_finish, chrome_free
};
