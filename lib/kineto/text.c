/* text.c -- walks the text of a trace member by member and event by event, in a window that holds one of them whole.
 * What ends before its last bracket is an error, with the byte. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/unpack.h"
#include "kineto/reading.h"
#include "source/source.h"

static const size_t VALUE_MAX = (size_t)64 << 20;

static struct nsx_str
window(const struct nsx_kineto *r)
{
	return (struct nsx_str){ r->in.buf + r->in.pos, r->in.end - r->in.pos };
}

static uint64_t
byte_at(const struct nsx_kineto *r, size_t i)
{
	return r->taken + i;
}

static void
take(struct nsx_kineto *r, size_t n)
{
	r->taken += n;
	nsx_input_take(&r->in, n);
}

static int
more(struct nsx_kineto *r)
{
	/* As for exports in zstd. */
	const uint64_t unpacked_max = UINT64_C(64) << 30;
	int rc = nsx_input_more(&r->in);

	if (rc == NSX_OK && r->in.unzip && nsx_unpack_check(r->path, r->taken + (r->in.end - r->in.pos), unpacked_max,
	    r->err) != NSX_OK)
		return NSX_ERR;
	if (rc == NSX_OK && r->size > 0) {
		off_t at = lseek(r->in.fd, 0, SEEK_CUR);
		if (at > 0)
			nsx_portion_reach(&r->work, (uint64_t)at, (uint64_t)r->size);
	}
	return rc;
}

static int
cut(struct nsx_kineto *r, const char *where)
{
	return nsx_err_set(r->err, "%s: byte %" PRIu64 ": the JSON text ends %s: the trace was cut off", r->path,
	                   byte_at(r, r->in.end - r->in.pos), where);
}

/* The byte at i of the window is not what JSON has there. */
static int
not_json(struct nsx_kineto *r, size_t i, const char *want)
{
	unsigned char c = (unsigned char)r->in.buf[r->in.pos + i];

	if (c > ' ' && c < 0x7f)
		return nsx_err_set(r->err, "%s: byte %" PRIu64 ": not JSON: want %s, got '%c'", r->path, byte_at(r, i),
		                   want, c);
	return nsx_err_set(r->err, "%s: byte %" PRIu64 ": not JSON: want %s, got the byte 0x%02x", r->path,
	                   byte_at(r, i), want, c);
}

/* Take white space: *c is the byte after it, which is not taken; 0: the text ends. */
static int
peek(struct nsx_kineto *r, char *c)
{
	for (;;) {
		struct nsx_str w = window(r);
		size_t i = 0;

		while (i < w.len && (w.ptr[i] == ' ' || w.ptr[i] == '\t' || w.ptr[i] == '\n' || w.ptr[i] == '\r'))
			i++;
		take(r, i);
		if (i < w.len) {
			*c = w.ptr[i];
			return *c || (!r->found && !r->taken) ? NSX_OK : not_json(r, 0, "a value");
		}
		int rc = more(r);
		if (rc == NSX_EOF)
			*c = '\0';
		if (rc != NSX_OK)
			return rc == NSX_EOF ? NSX_OK : NSX_ERR;
	}
}

/* What a parser said of the window: NSX_OK, it is to be asked again; NSX_EOF, it has the value; NSX_ERR. */
static int
again(struct nsx_kineto *r, enum nsx_kineto_parse said, size_t len, bool *complete, const char *where)
{
	int rc;

	if (said == NSX_PARSED)
		return NSX_EOF;
	if (said == NSX_NOT_JSON)
		return not_json(r, len, "a value, ',', ':' or a bracket, none more than 64 deep");
	if (*complete)
		return cut(r, where);
	if (r->in.end - r->in.pos >= VALUE_MAX)
		return nsx_err_set(r->err, "%s: byte %" PRIu64 ": a value of more than %zu MiB", r->path,
		                   byte_at(r, 0), VALUE_MAX >> 20);
	rc = more(r);
	*complete = rc == NSX_EOF;
	return rc == NSX_ERR ? NSX_ERR : NSX_OK;
}

/* The whole value at the start of the window: its bytes in *text, which the next read moves. */
static int
value(struct nsx_kineto *r, struct nsx_str *text)
{
	bool complete = false;
	size_t len;
	int rc;

	do {
		enum nsx_kineto_parse said = nsx_kineto_value(window(r), complete, &len);

		rc = again(r, said, len, &complete, "inside a value");
	} while (rc == NSX_OK);
	*text = (struct nsx_str){ window(r).ptr, rc == NSX_EOF ? len : 0 };
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

static int
event(struct nsx_kineto *r)
{
	struct nsx_kineto_event *e = &r->event;
	bool complete = false;
	size_t len;
	int rc;

	do {
		enum nsx_kineto_parse said = nsx_kineto_event(window(r), complete, e, &len);

		rc = again(r, said, len, &complete, "inside an event");
	} while (rc == NSX_OK);
	if (rc != NSX_EOF || (e->object && nsx_kineto_row(r, e) != NSX_OK))
		return NSX_ERR;
	r->at++;
	take(r, len);
	return NSX_OK;
}

/* The elements of traceEvents; the '[' is taken. */
static int
events(struct nsx_kineto *r)
{
	char c;

	r->found = true;
	if (peek(r, &c) != NSX_OK)
		return NSX_ERR;
	if (c == ']') {
		take(r, 1);
		return NSX_OK;
	}
	for (;;) {
		if (c == '\0')
			return cut(r, "in the list of events");
		if (event(r) != NSX_OK || peek(r, &c) != NSX_OK)
			return NSX_ERR;
		if (c == '\0')
			return cut(r, "in the list of events");
		if (c != ',' && c != ']')
			return not_json(r, 0, "',' or ']'");
		take(r, 1);
		if (c == ']')
			return NSX_OK;
		if (peek(r, &c) != NSX_OK)
			return NSX_ERR;
	}
}

static int
not_a_trace(struct nsx_kineto *r, struct nsx_str key)
{
	if (nsx_str_eq(key, NSX_STR("rocprofiler-sdk-tool")))
		return nsx_err_set(r->err,
			"%s: JSON, but not a trace: no traceEvents: rocprofv3's JSON is not supported", r->path);
	return nsx_err_set(r->err, "%s: JSON, but not a trace: no traceEvents%s", r->path,
	                   nsx_str_eq(key, NSX_STR("nodes")) ? "; this looks like an execution trace" : "");
}

/* A member of the file; its key is in the window. */
static int
member(struct nsx_kineto *r)
{
	char name[64];
	struct nsx_str key, text;
	char c;

	if (value(r, &key) != NSX_OK)
		return NSX_ERR;
	size_t taken = key.len;
	key = (struct nsx_str){ key.ptr + 1, key.len - 2 };
	key.len = key.len < sizeof name ? key.len : sizeof name;
	memcpy(name, key.ptr, key.len);
	key.ptr = name;
	take(r, taken);
	if (peek(r, &c) != NSX_OK)
		return NSX_ERR;
	if (c != ':')
		return c ? not_json(r, 0, "':'") : cut(r, "after the name of a member");
	take(r, 1);
	if (!r->found && (nsx_str_eq(key, NSX_STR("nodes")) || nsx_str_eq(key, NSX_STR("rocprofiler-sdk-tool"))))
		return not_a_trace(r, key);
	if (peek(r, &c) != NSX_OK)
		return NSX_ERR;
	if (nsx_str_eq(key, NSX_STR("traceEvents"))) {
		if (c != '[')
			return c ? not_json(r, 0, "'[' after traceEvents") : cut(r, "before its events");
		take(r, 1);
		return events(r);
	}
	if (value(r, &text) != NSX_OK || nsx_kineto_member(r, key, text) != NSX_OK)
		return NSX_ERR;
	take(r, text.len);
	return NSX_OK;
}

/* The members of the file; the '{' is taken. */
static int
members(struct nsx_kineto *r)
{
	char c;

	for (bool first = true; ; first = false) {
		if (peek(r, &c) != NSX_OK)
			return NSX_ERR;
		if (c == '}') {
			take(r, 1);
			return NSX_OK;
		}
		if (c && !first) {
			if (c != ',')
				return not_json(r, 0, "',' or '}'");
			take(r, 1);
			if (peek(r, &c) != NSX_OK)
				return NSX_ERR;
		}
		if (c == '\0')
			return cut(r, "before its last bracket");
		if (c != '"')
			return not_json(r, 0, "the name of a member");
		if (member(r) != NSX_OK)
			return NSX_ERR;
	}
}

int
nsx_kineto_read(struct nsx_kineto *r)
{
	int rc;
	char c;

	if (peek(r, &c) != NSX_OK)
		return NSX_ERR;
	if (c != '{' && c != '[')
		return nsx_source_refuse(r->path, window(r), r->err);
	take(r, 1);
	rc = c == '{' ? members(r) : events(r);
	if (rc != NSX_OK || peek(r, &c) != NSX_OK)
		return NSX_ERR;
	if (c)
		return nsx_err_set(r->err, "%s: byte %" PRIu64 ": text after the end of the trace", r->path,
		                   byte_at(r, 0));
	return r->found ? NSX_OK : not_a_trace(r, NSX_STR(""));
}
