/* proto.c -- a trace as declared in protos/perfetto.proto, a packet for each beginning and end. Strings are written
 * once and then referred to by number; when there are many distinct ones the numbers start again, so that memory stays
 * bounded. */
#include "base/escape.h"
#include "draw/perfetto/trace.h"
#include "stream/wire.h"

enum { SEQUENCE = 1, MANY = 1 << 16, LONG = 16 << 20 };   /* strings, and their bytes, before numbers start again */

/* Field numbers. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_INTERNED = 12, PACKET_FLAGS = 13,
	    PACKET_TRACK = 60,
	EVENT_CATEGORY = 3, EVENT_ARG = 4, EVENT_TYPE = 9, EVENT_NAME = 10, EVENT_TRACK = 11, EVENT_VALUE = 30,
	    EVENT_FLOW = 47, EVENT_LAST_FLOW = 48,
	ARG_NAME = 1, ARG_INT = 4, ARG_STRING = 17,
	TRACK_ID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_PARENT = 5, TRACK_COUNTER = 8, TRACK_ORDERING = 11,
	    TRACK_RANK = 12,
	COUNTER_UNIT = 3,
	PROCESS_PID = 1, PROCESS_NAME = 6,
	INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_ARG = 3, INTERNED_STRING = 29,
	ENTRY_NUMBER = 1, ENTRY_TEXT = 2
};
enum { VARINT = 0, FIXED64 = 1, BYTES = 2 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, COUNTER = 4 };
enum { CLEARED = 1, NEEDED = 2 };             /* flags of a packet: numbers start again; it uses numbers */
enum { BY_RANK = 3 };
enum { SIZE_BYTES = 3 };

struct proto {
	struct nsx_intern names, strings;
	size_t            length;       /* bytes of both */
	uint32_t          categories, args;   /* bit n: number n + 1 has been written */
	bool              fresh;        /* numbers start again with the next packet */
	/* Parts of the current packet. */
	struct nsx_buf    event, interned, packet, part, text;
};

/* A process' track, and the others after them. */
static uint64_t process_id(uint32_t process) { return (uint64_t)process << 1 | 1; }
static uint64_t track_id(uint64_t id) { return id << 1; }

static void
put_fixed(struct nsx_buf *b, unsigned field, uint64_t v)
{
	char bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (char)(v >> 8 * i);
	nsx_put_tag(b, field, FIXED64);
	nsx_buf_add(b, bytes, sizeof bytes);
}

/* A number, also if it is 0. */
static void
put_always(struct nsx_buf *b, unsigned field, uint64_t v)
{
	nsx_put_tag(b, field, VARINT);
	nsx_put_varint(b, v);
}

static bool
is_utf8(struct nsx_str s)
{
	for (size_t n; s.len; s.ptr += n, s.len -= n)
		if ((n = nsx_utf8_char(s)) == 0)
			return false;
	return true;
}

/* Strings of protocol buffers must be UTF-8: other bytes are escaped as in a stream's text. */
static void
put_text(struct proto *p, struct nsx_buf *b, unsigned field, struct nsx_str s)
{
	if (!is_utf8(s)) {
		p->text.len = 0;
		nsx_buf_escaped(&p->text, s);
		b->failed |= p->text.failed;
		s = nsx_buf_view(&p->text);
	}
	nsx_put_bytes(b, field, s);
}

/* End the packet: time (below 0: none), strings that are new, and its event or track. */
static int
put_packet(struct nsx_perfetto *t, int64_t time, unsigned field, struct nsx_str body, uint64_t flags)
{
	struct proto *p = t->state;

	p->packet.len = 0;
	if (time >= 0)
		put_always(&p->packet, PACKET_TIMESTAMP, (uint64_t)time);
	nsx_put_number(&p->packet, PACKET_SEQUENCE, SEQUENCE);
	if (p->fresh)
		flags |= CLEARED;
	p->fresh = false;
	nsx_put_number(&p->packet, PACKET_FLAGS, flags);
	if (p->interned.len)
		nsx_put_bytes(&p->packet, PACKET_INTERNED, nsx_buf_view(&p->interned));
	if (field)
		nsx_put_bytes(&p->packet, field, body);
	t->buf.failed |= p->packet.failed | p->event.failed | p->interned.failed | p->part.failed;
	nsx_put_bytes(&t->buf, TRACE_PACKET, nsx_buf_view(&p->packet));
	p->interned.len = p->event.len = 0;
	return nsx_trace_flush(t, false);
}

static int
proto_begin(struct nsx_perfetto *t)
{
	((struct proto *)t->state)->fresh = true;
	return put_packet(t, -1, 0, (struct nsx_str){ "", 0 }, 0);
}

/* ---- tracks ---- */

static int
proto_process(struct nsx_perfetto *t, uint32_t process, struct nsx_str name)
{
	struct proto *p = t->state;

	p->part.len = 0;
	nsx_put_number(&p->part, PROCESS_PID, process);
	put_text(p, &p->part, PROCESS_NAME, name);
	nsx_put_number(&p->event, TRACK_ID, process_id(process));
	nsx_put_bytes(&p->event, TRACK_PROCESS, nsx_buf_view(&p->part));
	nsx_put_number(&p->event, TRACK_ORDERING, BY_RANK);
	return put_packet(t, -1, PACKET_TRACK, nsx_buf_view(&p->event), 0);
}

static int
proto_track(struct nsx_perfetto *t, const struct nsx_perfetto_track *track)
{
	struct proto *p = t->state;

	nsx_put_number(&p->event, TRACK_ID, track_id(track->id));
	put_text(p, &p->event, TRACK_NAME, track->name);
	nsx_put_number(&p->event, TRACK_PARENT, process_id(track->process));
	if (track->counter) {
		p->part.len = 0;
		if (!track->value)
			nsx_put_number(&p->part, COUNTER_UNIT, SIZE_BYTES);
		nsx_put_bytes(&p->event, TRACK_COUNTER, nsx_buf_view(&p->part));
	}
	put_always(&p->event, TRACK_RANK, track->rank);
	return put_packet(t, -1, PACKET_TRACK, nsx_buf_view(&p->event), 0);
}

/* ---- strings ---- */

static void
tell(struct proto *p, unsigned field, uint64_t n, struct nsx_str s)
{
	p->part.len = 0;
	nsx_put_number(&p->part, ENTRY_NUMBER, n);
	put_text(p, &p->part, ENTRY_TEXT, s);
	nsx_put_bytes(&p->interned, field, nsx_buf_view(&p->part));
}

/* s's number from 1, written if it is new; 0 when out of memory. */
static uint64_t
number(struct proto *p, struct nsx_intern *table, unsigned field, struct nsx_str s)
{
	size_t known = table->n;
	uint32_t id = nsx_intern(table, s);

	if (id == NSX_NONE)
		return 0;
	if (id == known) {
		p->length += s.len;
		tell(p, field, id + UINT64_C(1), s);
	}
	return id + UINT64_C(1);
}

/* The same of one of a few fixed names. */
static uint64_t
fixed(struct proto *p, uint32_t *told, unsigned field, unsigned i, const char *name)
{
	if (!(*told >> i & 1))
		tell(p, field, i + 1, nsx_str_c(name));
	*told |= UINT32_C(1) << i;
	return i + 1;
}

static void
forget_strings(struct proto *p)
{
	if (p->names.n + p->strings.n < MANY && p->length < LONG)
		return;
	nsx_intern_free(&p->names);
	nsx_intern_free(&p->strings);
	p->length = 0;
	p->categories = p->args = 0;
	p->fresh = true;
}

/* ---- events ---- */

static bool
put_arg(struct proto *p, const struct nsx_arg *a)
{
	uint64_t name = fixed(p, &p->args, INTERNED_ARG, a->key, nsx_arg_names[a->key]), value = 0;

	if (a->s.ptr && !(value = number(p, &p->strings, INTERNED_STRING, a->s)))
		return false;
	p->part.len = 0;
	nsx_put_number(&p->part, ARG_NAME, name);
	if (a->s.ptr)
		nsx_put_number(&p->part, ARG_STRING, value);
	else
		put_always(&p->part, ARG_INT, (uint64_t)a->i);
	nsx_put_bytes(&p->event, EVENT_ARG, nsx_buf_view(&p->part));
	return true;
}

static int
proto_slice(struct nsx_perfetto *t, const struct nsx_perfetto_track *track, const struct nsx_slice *s)
{
	struct proto *p = t->state;
	uint64_t name;

	forget_strings(p);
	name = number(p, &p->names, INTERNED_NAME, s->name);
	if (!name)
		return nsx_err_nomem(t->err, NULL);
	nsx_put_number(&p->event, EVENT_CATEGORY, fixed(p, &p->categories, INTERNED_CATEGORY, s->category,
	                                                nsx_category_names[s->category]));
	for (int i = 0; i < s->nargs; i++)
		if (!put_arg(p, &s->args[i]))
			return nsx_err_nomem(t->err, NULL);
	nsx_put_number(&p->event, EVENT_TYPE, SLICE_BEGIN);
	nsx_put_number(&p->event, EVENT_NAME, name);
	nsx_put_number(&p->event, EVENT_TRACK, track_id(track->id));
	if (s->launch)
		put_fixed(&p->event, s->launched ? EVENT_LAST_FLOW : EVENT_FLOW, s->launch);
	if (s->instance)
		put_fixed(&p->event, EVENT_FLOW, s->instance);
	return put_packet(t, s->start, PACKET_EVENT, nsx_buf_view(&p->event), NEEDED);
}

static int
proto_end(struct nsx_perfetto *t, const struct nsx_perfetto_track *track, int64_t time)
{
	struct proto *p = t->state;

	nsx_put_number(&p->event, EVENT_TYPE, SLICE_END);
	nsx_put_number(&p->event, EVENT_TRACK, track_id(track->id));
	return put_packet(t, time, PACKET_EVENT, nsx_buf_view(&p->event), 0);
}

static int
proto_counter(struct nsx_perfetto *t, const struct nsx_perfetto_track *track, int64_t time, int64_t value)
{
	struct proto *p = t->state;

	nsx_put_number(&p->event, EVENT_TYPE, COUNTER);
	nsx_put_number(&p->event, EVENT_TRACK, track_id(track->id));
	put_always(&p->event, EVENT_VALUE, (uint64_t)value);
	return put_packet(t, time, PACKET_EVENT, nsx_buf_view(&p->event), 0);
}

static int
proto_finish(struct nsx_perfetto *t)
{
	(void)t;
	return NSX_OK;
}

static void
proto_free(struct nsx_perfetto *t)
{
	struct proto *p = t->state;

	nsx_intern_free(&p->names);
	nsx_intern_free(&p->strings);
	nsx_buf_free(&p->event);
	nsx_buf_free(&p->interned);
	nsx_buf_free(&p->packet);
	nsx_buf_free(&p->part);
	nsx_buf_free(&p->text);
}

const struct nsx_trace_form nsx_trace_proto = {
	sizeof(struct proto), proto_begin, proto_process, proto_track, proto_slice, proto_end, proto_counter,
	proto_finish, proto_free
};
