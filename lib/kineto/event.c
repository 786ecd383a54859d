/* event.c -- see event.h. */
#include "kineto/event.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "base/json_bytes.h"

/* The end of a walk that began with a bad value, or is over: a value that the end of the text cut, or not JSON. */
static enum nsx_kineto_parse
end_of(const struct nsx_json *j, size_t *len)
{
	*len = j->pos < j->text.len ? j->pos : j->text.len;
	return !j->bad ? NSX_PARSED : j->pos >= j->text.len ? NSX_CUT : NSX_NOT_JSON;
}

/* After the value that was returned last. */
static enum nsx_kineto_parse
finish(struct nsx_json *j, enum nsx_json_type type, bool complete, size_t *len)
{
	if (type == NSX_JSON_OBJECT || type == NSX_JSON_ARRAY)
		nsx_json_skip(j);
	/* A number may go on. */
	else if (type != NSX_JSON_STRING && j->pos >= j->text.len && !complete)
		j->bad = true;
	return end_of(j, len);
}

enum nsx_kineto_parse
nsx_kineto_value(struct nsx_str text, bool complete, size_t *len)
{
	struct nsx_json j = { .text = text };
	enum nsx_json_type type = nsx_json_next(&j);

	return finish(&j, type, complete, len);
}

static struct nsx_str *
arg_of(struct nsx_kineto_event *e, struct nsx_str key)
{
	/* By length; the first one and the last are none. */
	static const struct { struct nsx_str key; enum nsx_kineto_arg arg; } known[] = {
		{ { "", SIZE_MAX }, 0 }, { { "name", 4 }, KA_NAME }, { { "bytes", 5 }, KA_BYTES },
		{ { "dtype", 5 }, KA_DTYPE }, { { "stream", 6 }, KA_STREAM }, { { "device", 6 }, KA_DEVICE },
		{ { "toDevice", 8 }, KA_TO }, { { "inDevice", 8 }, KA_IN_DEVICE }, { { "Src Rank", 8 }, KA_SOURCE },
		{ { "Dst Rank", 8 }, KA_DESTINATION }, { { "fromDevice", 10 }, KA_FROM },
		{ { "Group size", 10 }, KA_GROUP_SIZE }, { { "Input Dims", 10 }, KA_SIZES },
		{ { "correlation", 11 }, KA_CORRELATION }, { { "graph node id", 13 }, KA_NODE },
		{ { "In msg nelems", 13 }, KA_IN }, { { "cuda_sync_kind", 14 }, KA_SYNC },
		{ { "Out msg nelems", 14 }, KA_OUT }, { { "Collective name", 15 }, KA_COLLECTIVE },
		{ { "Sequence number", 15 }, KA_SEQ }, { { "Process Group Name", 18 }, KA_GROUP },
		{ { "Process Group Ranks", 19 }, KA_RANKS }, { { "Process Group Description", 25 }, KA_CALLED },
		{ { "", SIZE_MAX }, 0 }
	};
	/* The first one of each length. */
	static const uint8_t first[] = { [4] = 1, [5] = 2, [6] = 4, [8] = 6, [10] = 10, [11] = 13, [13] = 14, [14] = 16,
	                                 [15] = 18, [18] = 20, [19] = 21, [25] = 22 };
	size_t i = key.len < sizeof first ? first[key.len] : 0;

	for (; known[i].key.len == key.len; i++)
		if (memcmp(known[i].key.ptr, key.ptr, key.len) == 0) {
			e->has |= 1U << known[i].arg;
			return &e->args[known[i].arg];
		}
	return NULL;
}

static struct nsx_str *
member_of(struct nsx_kineto_event *e, struct nsx_str key)
{
	switch (key.len) {
	case 2: return key.ptr[0] == 'p' && key.ptr[1] == 'h' ? &e->ph : memcmp(key.ptr, "ts", 2) == 0 ? &e->ts : NULL;
	case 3:
		return memcmp(key.ptr, "cat", 3) == 0 ? &e->cat : memcmp(key.ptr, "pid", 3) == 0 ? &e->pid
		       : memcmp(key.ptr, "tid", 3) == 0 ? &e->tid : memcmp(key.ptr, "dur", 3) == 0 ? &e->dur : NULL;
	case 4: return memcmp(key.ptr, "name", 4) == 0 ? &e->name : NULL;
	default: return NULL;
	}
}

/* Where the next value begins, behind the name that a member has and in front of which a comma is; NULL: it is not JSON
 * at *p. */
static inline const char *
value_at(const char **p, const char *end, bool first, bool member, struct nsx_str *key)
{
	if (!first) {
		if (*p == end || **p != ',')
			return NULL;
		*p = nsx_json_blanks(*p + 1, end);
	}
	if (!member)
		return *p < end ? *p : NULL;
	if (*p == end || **p != '"')
		return NULL;
	const char *quote = nsx_json_quote(*p + 1, end);
	*key = (struct nsx_str){ *p + 1, (size_t)(quote - *p - 1) };
	*p = quote < end ? nsx_json_blanks(quote + 1, end) : end;
	if (*p == end || **p != ':')
		return NULL;
	*p = nsx_json_blanks(*p + 1, end);
	return *p < end ? *p : NULL;
}

/* The event whose '{' is before p: its end, or with *good false where it is not JSON. The same grammar as base/json.c
 * has, in one loop for all depths: most of the text is arguments that are passed over. */
static const char *
scan(const char *p, const char *end, struct nsx_kineto_event *e, bool *good)
{
	uint64_t objects = 1;     /* of what is open, the innermost in the lowest bit: an object, no array */
	int depth = 1;
	bool args = false;        /* what is open at depth 2 */
	const char *sizes = NULL; /* the argument of these, which is an array, from '[' on */

	*good = false;
	for (bool first = true;;) {
		struct nsx_str key = { "", 0 }, *to = NULL;
		const char *from, *last;

		p = nsx_json_blanks(p, end);
		if (p < end && *p == (objects & 1 ? '}' : ']')) {
			p++;
			objects >>= 1;
			first = false;
			*good = --depth == 0;
			if (*good)
				return p;
			if (sizes && depth == 2) {
				e->args[KA_SIZES] = (struct nsx_str){ sizes, (size_t)(p - sizes) };
				sizes = NULL;
			}
			continue;
		}
		if (!(from = value_at(&p, end, first, objects & 1, &key)))
			return p;
		first = *from == '{' || *from == '[';
		if (first) {
			if (depth == NSX_JSON_DEPTH)
				return p;
			if (depth == 2 && args && *from == '[' && arg_of(e, key) == &e->args[KA_SIZES])
				sizes = from;
			if (depth++ == 1)
				args = *from == '{' && key.len == 4 && memcmp(key.ptr, "args", 4) == 0;
			objects = objects << 1 | (*from == '{');
			p++;
			continue;
		}
		if (depth == 1)
			to = member_of(e, key);
		else if (depth == 2 && args)
			to = arg_of(e, key);
		if (*from == '"') {
			last = nsx_json_quote(++from, end);
			p = last + 1;
		} else {
			p = last = nsx_json_bare(from, end);
		}
		if (p > end || (last == p && last == from))
			return p;
		if (to)
			*to = (struct nsx_str){ from, (size_t)(last - from) };
	}
}

/* Nothing of the event before. */
static void
clear(struct nsx_kineto_event *e)
{
	for (; e->has; e->has &= e->has - 1)
		e->args[__builtin_ctz(e->has)] = (struct nsx_str){ NULL, 0 };
	memset(e, 0, offsetof(struct nsx_kineto_event, args));
}

enum nsx_kineto_parse
nsx_kineto_event(struct nsx_str text, bool complete, struct nsx_kineto_event *e, size_t *len)
{
	const char *end = text.ptr + text.len, *p = nsx_json_blanks(text.ptr, end);

	clear(e);
	if (p == end || *p != '{')
		return nsx_kineto_value(text, complete, len);
	bool good;
	e->object = true;
	p = scan(p + 1, end, e, &good);
	*len = p < end ? (size_t)(p - text.ptr) : text.len;
	return good ? NSX_PARSED : p < end ? NSX_NOT_JSON : NSX_CUT;
}
