/* json.c -- iterate over the values of a JSON text. */
#include "base/json.h"

#include "base/num.h"

static void
blanks(struct nsx_json *j)
{
	while (j->pos < j->text.len && (j->text.ptr[j->pos] == ' ' || j->text.ptr[j->pos] == '\t' ||
	                                j->text.ptr[j->pos] == '\n' ||
	                                j->text.ptr[j->pos] == '\r'))
		j->pos++;
}

/* The next byte that is not white space; 0 at the end. */
static char
peek(struct nsx_json *j)
{
	blanks(j);
	return j->pos < j->text.len ? j->text.ptr[j->pos] : '\0';
}

static enum nsx_json_type
bad(struct nsx_json *j)
{
	j->bad = true;
	return NSX_JSON_BAD;
}

/* The bytes between the quotes; the first quote is at pos. */
static bool
string(struct nsx_json *j, struct nsx_str *out)
{
	size_t from = ++j->pos;

	for (; j->pos < j->text.len && j->text.ptr[j->pos] != '"'; j->pos++)
		if (j->text.ptr[j->pos] == '\\')
			j->pos++;
	if (j->pos >= j->text.len)
		return false;
	*out = (struct nsx_str){ j->text.ptr + from, j->pos - from };
	j->pos++;
	return true;
}

static bool
plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
	       c == '.';
}

static enum nsx_json_type
close_one(struct nsx_json *j)
{
	j->pos++;
	j->depth--;
	j->first = false;
	return NSX_JSON_END;
}

static enum nsx_json_type
value(struct nsx_json *j, char c)
{
	if (c == '{' || c == '[') {
		if (j->depth == NSX_JSON_DEPTH)
			return bad(j);
		j->open[j->depth++] = c;
		j->first = true;
		j->pos++;
		return c == '{' ? NSX_JSON_OBJECT : NSX_JSON_ARRAY;
	}
	j->first = false;
	if (c == '"')
		return string(j, &j->value) ? NSX_JSON_STRING : bad(j);
	size_t from = j->pos;
	while (j->pos < j->text.len && plain(j->text.ptr[j->pos]))
		j->pos++;
	j->value = (struct nsx_str){ j->text.ptr + from, j->pos - from };
	if (!j->value.len)
		return bad(j);
	return (c >= '0' && c <= '9') || c == '-' ? NSX_JSON_NUMBER : NSX_JSON_WORD;
}

enum nsx_json_type
nsx_json_next(struct nsx_json *j)
{
	if (j->bad)
		return NSX_JSON_BAD;
	char c = peek(j);
	j->key = j->value = (struct nsx_str){ "", 0 };
	if (!j->depth) {
		if (!j->begun) {
			j->begun = true;
			return value(j, c);
		}
		return j->pos == j->text.len ? NSX_JSON_END : bad(j);
	}
	bool object = j->open[j->depth - 1] == '{';
	if (c == (object ? '}' : ']'))
		return close_one(j);
	if (!j->first) {
		if (c != ',')
			return bad(j);
		j->pos++;
		c = peek(j);
	}
	if (object) {
		if (c != '"' || !string(j, &j->key) || peek(j) != ':')
			return bad(j);
		j->pos++;
		c = peek(j);
	}
	return value(j, c);
}

bool
nsx_json_skip(struct nsx_json *j)
{
	int depth = j->depth;
	enum nsx_json_type t = NSX_JSON_OBJECT;

	while (t != NSX_JSON_BAD && j->depth >= depth)
		t = nsx_json_next(j);
	return t != NSX_JSON_BAD;
}

bool
nsx_json_int(const struct nsx_json *j, enum nsx_json_type type, int64_t *v)
{
	return (type == NSX_JSON_NUMBER || type == NSX_JSON_STRING) && nsx_get_int(j->value, v);
}
