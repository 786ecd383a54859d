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

struct chrome {
	bool     any;                    /* event */
	uint64_t begun[ROWS][ROW];       /* instances of collectives whose flow has begun; 0: none */
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
put_flow(struct nsx_perfetto *t, const struct nsx_perfetto_track *track, const char *phase, const char *name,
         uint64_t id,
         int64_t time)
{
	begin_event(t, phase, track->process, track->id);
	nsx_buf_fmt(&t->buf, ",\"cat\":\"%s\",\"name\":\"%s\",\"id\":\"0x%" PRIx64 "\",\"bp\":\"e\"", name, name, id);
	put_time(&t->buf, ",\"ts\":", time);
	return end_event(t);
}

/* Returns whether the flow of the instance has begun, and marks it as begun. */
static bool
begun(struct chrome *c, uint64_t instance)
{
	uint64_t *row = c->begun[instance % ROWS];

	for (int i = 0; i < ROW; i++)
		if (row[i] == instance)
			return true;
	memmove(row + 1, row, (ROW - 1) * sizeof *row);
	row[0] = instance;
	return false;
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
	if (s->launch && put_flow(t, track, s->launched ? "f" : "s", "launch", s->launch, s->start) != NSX_OK)
		return NSX_ERR;
	if (!s->instance)
		return NSX_OK;
	return put_flow(t, track, begun(t->state, s->instance) ? "t" : "s", "collective", s->instance, s->start);
}

static int
chrome_counter(struct nsx_perfetto *t, const struct nsx_perfetto_track *track, int64_t time, int64_t value)
{
	begin_event(t, "C", track->process, track->id);
	nsx_buf_c(&t->buf, ",\"name\":");
	nsx_buf_json(&t->buf, track->name);
	put_time(&t->buf, ",\"ts\":", time);
	nsx_buf_fmt(&t->buf, ",\"args\":{\"bytes\":%" PRId64 "}", value);
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
