/* width.c -- columns of a terminal, and text cut to them: known characters, and some strings at every width, compared
 * with the rules of the header. */
#include "base/width.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static void
characters(void)
{
	static const struct { const char *s; int64_t width; const char *what; } all[] = {
		{ "", 0, "nothing" },
		{ "fusion.1", 8, "ASCII" },
		{ "\xc3\xa9\xc3\xa8", 2, "letters of two bytes" },
		{ "e\xcc\x81", 1, "a letter with a combining accent" },
		{ "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 6, "ideographs" },
		{ "\xed\x95\x9c", 2, "a syllable of Hangul" },
		{ "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", 2, "the same of its letters" },
		{ "\xf0\x9f\x98\x80", 2, "a face" },
		{ "\xef\xbc\xa1", 2, "a fullwidth letter" },
		{ "\xef\xbd\xb1", 1, "a halfwidth letter" },
		{ "a\xe2\x80\x8b" "b", 2, "a space of no width" },
		{ "\xe2\x80\xa6\xe2\x94\x80", 2, "an ellipsis and a line" },
		{ "\xf0\xa0\x80\x80", 2, "an ideograph of plane 2" },
		{ "\xff\xfe", 2, "bytes that are not UTF-8" },
		{ "\xe6\x97", 2, "a character cut off" },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		is_int((int64_t)nsx_width(nsx_str_c(all[i].s)), all[i].width, "%s", all[i].what);
}

/* Whether got is s in w columns: complete if it fits, else both ends of it, as long as possible. */
static bool
shortened_well(struct nsx_str got, struct nsx_str s, size_t w)
{
	size_t head = 0, tail = 0;

	if (nsx_width(s) <= w)
		return nsx_str_eq(got, s);
	if (nsx_width(got) > w)
		return false;
	while (head < got.len && got.ptr[head] == s.ptr[head])
		head++;
	while (tail < got.len && got.ptr[got.len - 1 - tail] == s.ptr[s.len - 1 - tail])
		tail++;
	if (w < 4)
		return head == got.len;
	/* Wide characters may leave a column at either end, and a single one may be too wide for its end. */
	return head + tail + 2 >= got.len && (w < 6 || (head > 0 && tail > 0))
	       && nsx_width(got) + 2 >= w && strstr(got.ptr, "..");
}

static void
shortened(void)
{
	static const char *const all[] = {
		"jit_train_step/while/body/dot_general",
		"\xe8\xa1\x8c\xe5\x88\x97\xe3\x81\xae\xe7\xa9\x8d"
		"\xe3\x82\x92\xe6\xb1\x82\xe3\x82\x81\xe3\x82\x8b",
		"e\xcc\x81""a\xcc\x80o\xcc\x82u\xcc\x88i\xcc\x81""e\xcc\x81""a\xcc\x80", "ab", "",
		"kernel<\xe6\x97\xa5\xe6\x9c\xac, float>(int)", "\xff\xff\xff\xff\xff\xff\xff\xff",
	};
	struct nsx_buf b = { 0 };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		for (size_t w = 0; w < 45; w++) {
			b.len = 0;
			nsx_buf_shortened(&b, nsx_str_c(all[i]), w);
			struct nsx_str got = nsx_buf_view(&b);
			nsx_buf_char(&b, '\0');
			got.ptr = b.ptr;
			if (!shortened_well(got, nsx_str_c(all[i]), w)) {
				ok(false, "each string is shortened to each width by the rules of the header");
				printf("# \"%s\" in %zu: \"%s\"\n", all[i], w, b.ptr);
				nsx_buf_free(&b);
				return;
			}
		}
	ok(true, "each string is shortened to each width by the rules of the header");
	b.len = 0;
	nsx_buf_shortened(&b, NSX_STR("jit_train_step.fusion"), 12);
	nsx_buf_char(&b, '\0');
	is_str(b.ptr, "jit_t..usion", "the header's example");
	nsx_buf_free(&b);
}

static void
folded(void)
{
	static const char text[] =
		"no device of the stream has a clock\n\nshort\na-word-of-more-columns-than-there-are and more\n";
	struct nsx_buf b = { 0 };
	bool good = true;

	for (size_t w = 8; w < 60; w++) {
		size_t letters = 0, line = 0;

		b.len = 0;
		nsx_buf_folded(&b, nsx_str_c(text), w);
		for (size_t i = 0; i < b.len; i++) {
			letters += b.ptr[i] != ' ' && b.ptr[i] != '\n';
			line = b.ptr[i] == '\n' ? 0 : line + 1;
			good &= line <= w;
		}
		for (const char *p = text; *p; p++)
			letters -= *p != ' ' && *p != '\n';
		good &= letters == 0 && line == 0;
	}
	ok(good, "no line exceeds the width, and no letter is lost");
	b.len = 0;
	nsx_buf_folded(&b, nsx_str_c(text), 20);
	nsx_buf_char(&b, '\0');
	is_str(b.ptr, "no device of the\n  stream has a clock\n\nshort\na-word-of-more-colum\n"
	       "  ns-than-there-are\n  and more\n",
	       "lines break at spaces, and go on indented");
	b.len = 0;
	nsx_buf_folded_words(&b, NSX_STR("  -x  a folder of many-dumps-of-programs, 87.6 % of two  spaces"), 18, 6);
	nsx_buf_char(&b, '\0');
	is_str(b.ptr, "  -x  a folder of\n      many-dumps-of-programs,\n      87.6 % of\n      two  spaces\n",
		"words are not broken, percent signs stay with their numbers, leading spaces are kept, no line ends "
		"with a space");
	nsx_buf_free(&b);
}

int
main(void)
{
	characters();
	shortened();
	folded();
	setenv("COLUMNS", "61", 1);
	is_int((int64_t)nsx_terminal_width(-1), 61, "COLUMNS without a terminal");
	setenv("COLUMNS", "wide", 1);
	is_int((int64_t)nsx_terminal_width(-1), 80, "80, where that is no number");
	unsetenv("COLUMNS");
	is_int((int64_t)nsx_terminal_width(-1), 80, "80 columns without either");
	return done();
}
