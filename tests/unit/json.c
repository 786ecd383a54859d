/* json.c -- the JSON reader: its events in order, and what it refuses. */
#include <stdlib.h>

#include "base/json.h"
#include "tap.h"

/* Events as text: {, [, end as ), "string", number, word; a key before each with ':'. A refusal ends the text with '!'. */
static const char *
walk(struct nsx_str text)
{
	static char out[1024];
	struct nsx_json j = { .text = text };
	size_t n = 0;

	out[0] = '\0';
	for (int i = 0; i < 60; i++) {
		enum nsx_json_type t = nsx_json_next(&j);
		if (t == NSX_JSON_BAD)
			return strcat(out, "!");
		if (j.key.len)
			n += (size_t)snprintf(out + n, sizeof out - n, "%.*s:", (int)j.key.len, j.key.ptr);
		if (t == NSX_JSON_STRING)
			n += (size_t)snprintf(out + n, sizeof out - n, "\"%.*s\" ", (int)j.value.len, j.value.ptr);
		else if (t == NSX_JSON_NUMBER || t == NSX_JSON_WORD)
			n += (size_t)snprintf(out + n, sizeof out - n, "%s%.*s ", t == NSX_JSON_WORD ? "w" : "", (int)j.value.len, j.value.ptr);
		else
			n += (size_t)snprintf(out + n, sizeof out - n, "%c ", t == NSX_JSON_OBJECT ? '{' : t == NSX_JSON_ARRAY ? '[' : ')');
		if (!j.depth)
			return nsx_json_next(&j) == NSX_JSON_END ? out : strcat(out, "!");
	}
	return out;
}

static void
met(const char *text, const char *want)
{
	is_str(walk(nsx_str_c(text)), want, "%s", text);
}

static void
test_skip(void)
{
	struct nsx_json j = { .text = NSX_STR("{\"a\":[1,{\"b\":[]},\"]\"],\"c\":7}") };
	int64_t v = 0;

	nsx_json_next(&j);
	ok(nsx_json_next(&j) == NSX_JSON_ARRAY && nsx_json_skip(&j), "an array is skipped with its contents");
	enum nsx_json_type t = nsx_json_next(&j);
	ok(nsx_json_int(&j, t, &v) && v == 7 && nsx_str_eq(j.key, NSX_STR("c")), "the following value is next");
	ok(nsx_json_next(&j) == NSX_JSON_END && nsx_json_next(&j) == NSX_JSON_END, "then the end, and the end again");
	j = (struct nsx_json){ .text = NSX_STR("[[1,2") };
	nsx_json_next(&j);
	nsx_json_next(&j);
	ok(!nsx_json_skip(&j) && nsx_json_next(&j) == NSX_JSON_BAD, "an array that is cut short is refused");
}

static void
test_numbers(void)
{
	static const struct { const char *text; bool good; int64_t want; } numbers[] = {
		{ "12", true, 12 }, { "\"12\"", true, 12 }, { "-3", true, -3 }, { "1.5", false, 0 }, { "\"x\"", false, 0 }, { "true", false, 0 },
		{ "9223372036854775807", true, INT64_MAX }, { "9223372036854775808", false, 0 }, { "\"\"", false, 0 }, { "{", false, 0 }
	};

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct nsx_json j = { .text = nsx_str_c(numbers[i].text) };
		int64_t v = 0;
		enum nsx_json_type t = nsx_json_next(&j);
		ok(nsx_json_int(&j, t, &v) == numbers[i].good && v == numbers[i].want, "an integer or not: %s", numbers[i].text);
	}
}

/* Strings of every length, with a backslash at every place: they are passed eight bytes at a time. */
static void
test_strings(void)
{
	int wrong = 0;

	for (size_t n = 0; n <= 40; n++)
		for (size_t at = 0; at <= n; at++)
			for (int tail = 0; tail < 12; tail++) {
				char text[80];
				size_t len = 0;
				/* Exactly as long as the text, so that a sanitizer sees a read past its end. */
				text[len++] = '"';
				for (size_t i = 0; i < n; i++)
					text[len++] = (char)('a' + i % 26);
				if (at < n) {
					text[1 + at] = '\\';
					text[len++] = '"';
					if (at + 1 < n)
						text[2 + at] = '"';
				}
				text[len++] = '"';
				memset(text + len, ' ', (size_t)tail);
				len += (size_t)tail;
				char *copy = malloc(len);
				memcpy(copy, text, len);
				struct nsx_json j = { .text = { copy, len } };
				enum nsx_json_type t = nsx_json_next(&j);
				/* The quote behind the backslash ends nothing; that of a backslash at the end is the first of two. */
				size_t want = at == n ? n : at + 1 < n ? n : n + 1;
				wrong += t != NSX_JSON_STRING || j.value.len != want || memcmp(j.value.ptr, text + 1, want) != 0;
				free(copy);
			}
	is_int(wrong, 0, "strings of 0 to 40 bytes");
}

static void
unescaped(const char *text, const char *want)
{
	struct nsx_buf b = { 0 };

	nsx_json_unescape(&b, nsx_str_c(text));
	nsx_buf_char(&b, '\0');
	is_str(b.ptr, want, "%s", text);
	nsx_buf_free(&b);
}

static void
test_escapes(void)
{
	unescaped("", "");
	unescaped("plain", "plain");
	unescaped("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t");
	unescaped("k\\u00e4se", "k\xc3\xa4se");
	unescaped("\\u20AC", "\xe2\x82\xac");
	unescaped("a\\uD83D\\ude00b", "a\xf0\x9f\x98\x80" "b");
	unescaped("\\ud83dx", "\\ud83dx");
	unescaped("\\ude00\\u0041", "\\ude00A");
	unescaped("\\u12g4", "\\u12g4");
	unescaped("\\u12", "\\u12");
	unescaped("\\q\\", "\\q\\");
}

int
main(void)
{
	char deep[200];

	met("{}", "{ ) ");
	met(" [ ] ", "[ ) ");
	met("{\"a\":1,\"b\":\"x\",\"c\":[true, null,-2.5e3]}", "{ a:1 b:\"x\" c:[ wtrue wnull -2.5e3 ) ) ");
	met("{\"a\":{\"b\":{}},\"c\":{}}", "{ a:{ b:{ ) ) c:{ ) ) ");
	met("\"a\\\"b\"", "\"a\\\"b\" ");
	met("[\"\\\\\",1]", "[ \"\\\\\" 1 ) ");
	met("7", "7 ");
	met("", "!");
	met("{", "{ !");
	met("[1", "[ 1 !");
	met("[1,]", "[ 1 !");
	met("[,1]", "[ !");
	met("[1 2]", "[ 1 !");
	met("{\"a\" 1}", "{ !");
	met("{1:2}", "{ !");
	met("{\"a\":}", "{ !");
	met("{\"a\":1]", "{ a:1 !");
	met("[1}", "[ 1 !");
	met("[] []", "[ ) !");
	met("\"abc", "!");
	met("\"abc\\", "!");
	is_str(walk((struct nsx_str){ "[\0]", 3 }), "[ !", "a NUL");
	memset(deep, '[', sizeof deep);
	struct nsx_json j = { .text = { deep, sizeof deep } };
	int n = 0;
	while (nsx_json_next(&j) == NSX_JSON_ARRAY)
		n++;
	is_int(n, NSX_JSON_DEPTH, "deeper nesting is refused");
	test_skip();
	test_numbers();
	test_strings();
	test_escapes();
	return done();
}
