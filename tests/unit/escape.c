/* escape.c -- escaped strings contain no control character, and can be unescaped. */
#include "base/escape.h"

#include "tap.h"

static const char *
escaped(const char *s, size_t n)
{
	static struct nsx_buf b;

	b.len = 0;
	nsx_buf_escaped(&b, (struct nsx_str){ s, n });
	nsx_buf_char(&b, '\0');
	return b.ptr;
}

static const char *
json(const char *s, size_t n)
{
	static struct nsx_buf b;

	b.len = 0;
	nsx_buf_json(&b, (struct nsx_str){ s, n });
	nsx_buf_char(&b, '\0');
	return b.ptr;
}

static const char *
word(const char *s)
{
	static struct nsx_buf b;

	b.len = 0;
	nsx_buf_shell(&b, nsx_str_c(s));
	nsx_buf_char(&b, '\0');
	return b.ptr;
}

#define TEXT(s) escaped((s), sizeof(s) - 1)
#define JSON(s) json((s), sizeof(s) - 1)
#define CHAR(s) ((int64_t)nsx_utf8_char(NSX_STR(s)))

int
main(void)
{
	is_str(TEXT("plain, \"text\""), "plain, \"text\"", "plain text stays");
	is_str(TEXT("a\tb\nc\rd\\e"), "a\\tb\\nc\\rd\\\\e", "short escapes");
	is_str(word("a/b-1.c"), "a/b-1.c", "a plain word of a shell stays");
	is_str(word("-a b"), "'-a b'", "others are quoted");
	is_str(word("it's"), "'it'\\''s'", "a quote, too");
	is_str(word(""), "''", "nothing is a word");
	is_str(TEXT("\0\x01\x1f\x7f"), "\\x00\\x01\\x1F\\x7F", "control characters");
	is_str(TEXT("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "UTF-8 stays");
	is_str(TEXT("\xc2\x80\xc2\x9f\xc2\xa0\xd8\x9c\xd8\x9d"), "\\xC2\\x80\\xC2\\x9F\xc2\xa0\\xD8\\x9C\xd8\x9d",
	       "control characters above U+0080, and direction marks");
	is_str(TEXT("\xe2\x80\x8d\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90\xe2\x80\xa9"),
	       "\xe2\x80\x8d\\xE2\\x80\\x8E\\xE2\\x80\\x8F\xe2\x80\x90\xe2\x80\xa9", "marks of direction, not their neighbours");
	is_str(TEXT("\xe2\x80\xaa\xe2\x80\xae\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa"),
	       "\\xE2\\x80\\xAA\\xE2\\x80\\xAE\xe2\x80\xaf\xe2\x81\xa5\\xE2\\x81\\xA6\\xE2\\x81\\xA9\xe2\x81\xaa",
	       "embeddings and isolates, not their neighbours");
	char line[] = "a\tb\xc2\x9b\xe2\x80\xae\x9b\xe9 \xc3\xa9";
	nsx_one_line(line, sizeof line - 1);
	is_str(line, "a?b??????\xe9 \xc3\xa9", "a message is one line without control characters");
	char text[] = "a\tb\xc2\x9b\xe2\x80\xae\x9b\xe9 \xc3\xa9\xe2\x82";
	nsx_utf8_line(text, sizeof text - 1);
	is_str(text, "a?b??????? \xc3\xa9??", "a line of text is UTF-8 as well");
	is_str(TEXT("\xff\xc3"), "\\xFF\\xC3", "bytes that are not UTF-8");
	is_str(TEXT("\xe2\x82"), "\\xE2\\x82", "a character cut short");
	is_str(TEXT(""), "", "nothing");

	is_str(JSON("a\"b\\c\td"), "\"a\\\"b\\\\c\\td\"", "JSON: quote, backslash, tab");
	is_str(JSON("\x01\x7f"), "\"\\u0001\\u007f\"", "JSON: control characters");
	is_str(JSON("\xc2\x80\xc2\x9f\xc2\xa0\xd8\x9c"), "\"\\u0080\\u009f\xc2\xa0\\u061c\"",
	       "JSON: control characters above U+0080 and the Arabic letter mark, not their neighbours");
	is_str(JSON("\xe2\x80\x8d\xe2\x80\x8e\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa"),
	       "\"\xe2\x80\x8d\\u200e\\u202e\\u2066\\u2069\xe2\x81\xaa\"", "JSON: direction marks");
	is_str(JSON("\xc3\xa9\xff"), "\"\xc3\xa9\\\\xFF\"", "JSON: UTF-8 stays, another byte is spelt");

	is_int(CHAR("\xc2\x80"), 2, "U+0080");
	is_int(CHAR("\xef\xbf\xbf"), 3, "U+FFFF");
	is_int(CHAR("\xf4\x8f\xbf\xbf"), 4, "U+10FFFF");
	is_int(CHAR("\xf4\x90\x80\x80"), 0, "above U+10FFFF");
	is_int(CHAR("\xc1\xbf"), 0, "overlong, two bytes");
	is_int(CHAR("\xe0\x9f\xbf"), 0, "overlong, three bytes");
	is_int(CHAR("\xf0\x8f\xbf\xbf"), 0, "overlong, four bytes");
	is_int(CHAR("\xed\xa0\x80"), 0, "a surrogate");
	is_int(CHAR("\x80"), 0, "a trailing byte alone");
	is_int(CHAR(""), 0, "an empty string has no character");
	return done();
}
