/* json.c -- iterate over the values of a JSON text. */
#include "base/json.h"

#include <string.h>

#include "base/json_bytes.h"
#include "base/num.h"

/* The next byte that is not white space; 0 at the end. */
static inline char
peek(struct nsx_json *j)
{
	const char *end = j->text.ptr + j->text.len, *p = nsx_json_blanks(j->text.ptr + j->pos, end);

	j->pos = (size_t)(p - j->text.ptr);
	return p < end ? *p : '\0';
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
	const char *from = j->text.ptr + j->pos + 1, *end = j->text.ptr + j->text.len, *p = nsx_json_quote(from, end);

	j->pos = (size_t)(p - j->text.ptr) + 1;
	if (p == end)
		return false;
	*out = (struct nsx_str){ from, (size_t)(p - from) };
	return true;
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
	j->pos = (size_t)(nsx_json_bare(j->text.ptr + from, j->text.ptr + j->text.len) - j->text.ptr);
	j->value = (struct nsx_str){ j->text.ptr + from, j->pos - from };
	if (!j->value.len)
		return bad(j);
	return nsx_is_digit(c) || c == '-' ? NSX_JSON_NUMBER : NSX_JSON_WORD;
}

enum nsx_json_type
nsx_json_next(struct nsx_json *j)
{
	if (j->bad)
		return NSX_JSON_BAD;
	char c = peek(j);
	/* Member by member: a structure that was just written in two parts would be read back as one. */
	j->key.ptr = j->value.ptr = "";
	j->key.len = j->value.len = 0;
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

/* The code unit of \uHHHH at s[i]; -1: it is none. */
static int
unit(struct nsx_str s, size_t i)
{
	int u = 0;

	if (s.len < 6 || i > s.len - 6 || s.ptr[i] != '\\' || s.ptr[i + 1] != 'u')
		return -1;
	for (size_t k = 2; k < 6; k++) {
		int digit = nsx_hex(s.ptr[i + k]);

		if (digit < 0)
			return -1;
		u = u << 4 | digit;
	}
	return u;
}

static void
put_character(struct nsx_buf *b, uint32_t c)
{
	if (c < 0x80) {
		nsx_buf_char(b, (char)c);
	} else if (c < 0x800) {
		nsx_buf_char(b, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			nsx_buf_char(b, (char)(0xe0 | c >> 12));
		} else {
			nsx_buf_char(b, (char)(0xf0 | c >> 18));
			nsx_buf_char(b, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		nsx_buf_char(b, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	if (c >= 0x80)
		nsx_buf_char(b, (char)(0x80 | (c & 0x3f)));
}

/* Write the escape at s[i]; how many bytes it has, 0: it is none. */
static size_t
escape(struct nsx_buf *b, struct nsx_str s, size_t i)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at = i + 1 < s.len && s.ptr[i + 1] ? strchr(from, s.ptr[i + 1]) : NULL;
	int first = unit(s, i), second;

	if (at) {
		nsx_buf_char(b, to[at - from]);
		return 2;
	}
	if (first < 0 || (first >= 0xdc00 && first < 0xe000))
		return 0;
	if (first < 0xd800 || first >= 0xe000) {
		put_character(b, (uint32_t)first);
		return 6;
	}
	second = unit(s, i + 6);
	if (second < 0xdc00 || second >= 0xe000)
		return 0;
	put_character(b, 0x10000 + ((uint32_t)(first - 0xd800) << 10 | (uint32_t)(second - 0xdc00)));
	return 12;
}

void
nsx_json_unescape(struct nsx_buf *b, struct nsx_str s)
{
	for (size_t i = 0; i < s.len;) {
		const char *next = memchr(s.ptr + i, '\\', s.len - i);
		size_t run = next ? (size_t)(next - s.ptr) - i : s.len - i, n;

		nsx_buf_add(b, s.ptr + i, run);
		i += run;
		if (i == s.len)
			break;
		n = escape(b, s, i);
		if (!n)
			nsx_buf_char(b, '\\');
		i += n ? n : 1;
	}
}

bool
nsx_json_int(const struct nsx_json *j, enum nsx_json_type type, int64_t *v)
{
	return (type == NSX_JSON_NUMBER || type == NSX_JSON_STRING) && nsx_get_int(j->value, v);
}
