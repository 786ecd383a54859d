/* event.c -- see event.h. */
#include "kineto/event.h"

#include <string.h>

#include "base/json.h"

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
	static const struct { struct nsx_str key; enum nsx_kineto_arg arg; } known[] = {
		{ { "correlation", 11 }, KA_CORRELATION }, { { "device", 6 }, KA_DEVICE },
		{ { "stream", 6 }, KA_STREAM }, { { "bytes", 5 }, KA_BYTES }, { { "graph node id", 13 }, KA_NODE },
		{ { "fromDevice", 10 }, KA_FROM }, { { "toDevice", 8 }, KA_TO }, { { "inDevice", 8 }, KA_IN_DEVICE },
		{ { "cuda_sync_kind", 14 }, KA_SYNC }, { { "name", 4 }, KA_NAME },
		{ { "Collective name", 15 }, KA_COLLECTIVE }, { { "In msg nelems", 13 }, KA_IN },
		{ { "Out msg nelems", 14 }, KA_OUT }, { { "Group size", 10 }, KA_GROUP_SIZE },
		{ { "dtype", 5 }, KA_DTYPE }, { { "Process Group Name", 18 }, KA_GROUP },
		{ { "Process Group Description", 25 }, KA_CALLED },
		{ { "Process Group Ranks", 19 }, KA_RANKS }, { { "Src Rank", 8 }, KA_SOURCE },
		{ { "Dst Rank", 8 }, KA_DESTINATION }, { { "Sequence number", 15 }, KA_SEQ },
		{ { "Input Dims", 10 }, KA_SIZES },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].key.len == key.len && memcmp(known[i].key.ptr, key.ptr, key.len) == 0)
			return &e->args[known[i].arg];
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

/* The members of args, whose object was returned last. */
static void
read_args(struct nsx_json *j, struct nsx_kineto_event *e)
{
	for (;;) {
		enum nsx_json_type type = nsx_json_next(j);
		struct nsx_str *to = type == NSX_JSON_END || type == NSX_JSON_BAD ? NULL : arg_of(e, j->key);
		size_t from = j->pos - 1;   /* of what an array or object begins with */

		switch (type) {
		case NSX_JSON_END: case NSX_JSON_BAD:
			return;
		case NSX_JSON_OBJECT: case NSX_JSON_ARRAY:
			if (!nsx_json_skip(j))
				return;
			/* Of these values one is an array. */
			if (to == &e->args[KA_SIZES])
				*to = (struct nsx_str){ j->text.ptr + from, j->pos - from };
			break;
		default:
			if (to)
				*to = j->value;
		}
	}
}

enum nsx_kineto_parse
nsx_kineto_event(struct nsx_str text, bool complete, struct nsx_kineto_event *e, size_t *len)
{
	struct nsx_json j = { .text = text };
	enum nsx_json_type type = nsx_json_next(&j);
	struct nsx_str *to;

	memset(e, 0, sizeof *e);
	if (type != NSX_JSON_OBJECT)
		return finish(&j, type, complete, len);
	e->object = true;
	while ((type = nsx_json_next(&j)) != NSX_JSON_END && type != NSX_JSON_BAD) {
		if (type == NSX_JSON_OBJECT && j.key.len == 4 && memcmp(j.key.ptr, "args", 4) == 0)
			read_args(&j, e);
		else if (type == NSX_JSON_OBJECT || type == NSX_JSON_ARRAY)
			nsx_json_skip(&j);
		else if ((to = member_of(e, j.key)) != NULL)
			*to = j.value;
	}
	return end_of(&j, len);
}
