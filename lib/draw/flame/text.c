/* flame/text.c -- names and numbers in the form of an SVG. */
#include "draw/flame/text.h"

#include <inttypes.h>

#include "base/escape.h"
#include "base/num.h"

/* The code point of a character of n bytes. */
static uint32_t
code_point(const char *p, size_t n)
{
	static const unsigned char mask[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t c = (unsigned char)p[0] & mask[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)p[i] & 0x3f);
	return c;
}

/* Characters that XML 1.0 does not allow, or that are invisible but change the display. */
static bool
is_hidden(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c & 0xfffe) == 0xfffe;
}

void
nsx_flame_put_shown(struct nsx_buf *b, struct nsx_str s)
{
	if (s.len == 0)
		nsx_buf_c(b, "[unnamed]");
	while (s.len) {
		size_t n = nsx_utf8_char(s), used = n ? n : 1;

		if (n && !is_hidden(code_point(s.ptr, n)))
			nsx_buf_add(b, s.ptr, n);
		else
			for (size_t i = 0; i < used; i++)
				nsx_buf_fmt(b, "\\x%02X", (unsigned char)s.ptr[i]);
		s.ptr += used;
		s.len -= used;
	}
}

void
nsx_flame_put_xml(struct nsx_buf *b, struct nsx_str s)
{
	for (size_t i = 0; i < s.len; i++)
		switch (s.ptr[i]) {
		case '&':  nsx_buf_c(b, "&amp;");  break;
		case '<':  nsx_buf_c(b, "&lt;");   break;
		case '>':  nsx_buf_c(b, "&gt;");   break;
		case '"':  nsx_buf_c(b, "&quot;"); break;
		case '\'': nsx_buf_c(b, "&#39;");  break;
		default:   nsx_buf_char(b, s.ptr[i]);
		}
}

/* Width of a character in letters: most above U+1100 are two wide in a font of fixed width. */
static size_t
cells_of(const char *p, size_t n)
{
	return n >= 3 && code_point(p, n) >= 0x1100 ? 2 : 1;
}

static size_t
width(struct nsx_str s)
{
	size_t w = 0;

	for (size_t i = 0, n; i < s.len; i += n) {
		n = nsx_utf8_char((struct nsx_str){ s.ptr + i, s.len - i });
		w += cells_of(s.ptr + i, n);
	}
	return w;
}

/* The number of bytes at the start of s that fit. */
static size_t
fitting(struct nsx_str s, size_t cells)
{
	size_t i = 0;

	while (i < s.len) {
		size_t n = nsx_utf8_char((struct nsx_str){ s.ptr + i, s.len - i }), w = cells_of(s.ptr + i, n);
		if (w > cells)
			break;
		cells -= w;
		i += n;
	}
	return i;
}

/* The longest suffix of s that begins with a component of its path and fits; its last component if none does. */
static struct nsx_str
path_end(struct nsx_str s, size_t cells)
{
	size_t depth = 0;
	struct nsx_str part = s;

	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];

		if (c == '(' || c == '[' || c == '{')
			depth++;
		else if (c == ')' || c == ']' || c == '}')
			depth -= depth > 0;
		if (c != '/' || depth || i + 1 == s.len || i == 0)
			continue;
		part = (struct nsx_str){ s.ptr + i, s.len - i };
		/* It would fit even if all characters were wide, so it is not measured. */
		if (part.len <= 4 * cells && width(part) < cells)
			break;
	}
	return part;
}

/* Whether s ends in a line of a file: `layers.py:14`. */
static bool
ends_in_line(struct nsx_str s)
{
	size_t at = s.len;

	while (at && nsx_is_digit(s.ptr[at - 1]))
		at--;
	return at > 1 && at < s.len && s.ptr[at - 1] == ':';
}

/* `layers.py:14` of `layers.py:14[norm]`; empty if s names no line. */
static struct nsx_str
file_line(struct nsx_str s)
{
	if (ends_in_line(s))
		return s;
	for (size_t i = s.len; i-- > 1;)
		if (s.ptr[i] == '[' && ends_in_line((struct nsx_str){ s.ptr, i }))
			return (struct nsx_str){ s.ptr, i };
	return (struct nsx_str){ s.ptr, 0 };
}

/* The number of bytes at the end of s that fit. */
static size_t
fitting_end(struct nsx_str s, size_t cells)
{
	size_t from = s.len;

	while (from) {
		size_t at = from - 1;
		while (at && ((unsigned char)s.ptr[at] & 0xc0) == 0x80)
			at--;
		size_t w = cells_of(s.ptr + at, from - at);
		if (w > cells)
			break;
		cells -= w;
		from = at;
	}
	return s.len - from;
}

/* For the last component of a path, if it does not fit: the line without its function, or as much of the end as fits;
 * for other names, the beginning. */
static void
put_part(struct nsx_buf *b, struct nsx_str part, size_t cells)
{
	struct nsx_str line = file_line(part);

	if (line.len && line.len <= 4 * cells && width(line) < cells) {
		nsx_buf_str(b, line);
		nsx_buf_c(b, "…");
	} else if (line.len) {
		size_t fits = fitting_end(line, cells - 1);
		nsx_buf_c(b, "…");
		nsx_buf_add(b, line.ptr + line.len - fits, fits);
	} else {
		size_t fits = fitting(part, cells - 1);
		nsx_buf_add(b, part.ptr, fits);
		if (fits < part.len)
			nsx_buf_c(b, "…");
	}
}

void
nsx_flame_put_label(struct nsx_buf *b, struct nsx_str s, size_t cells)
{
	if (s.len <= cells || (s.len <= 4 * cells && width(s) <= cells)) {
		nsx_buf_str(b, s);
		return;
	}
	if (cells < 3)
		return;
	struct nsx_str part = path_end(s, cells);
	if (part.ptr != s.ptr && part.len <= 4 * cells && width(part) < cells) {
		nsx_buf_c(b, "…");
		nsx_buf_str(b, part);
		return;
	}
	if (part.ptr != s.ptr)
		part = (struct nsx_str){ part.ptr + 1, part.len - 1 };
	put_part(b, part, cells);
}

void
nsx_flame_put_human(struct nsx_buf *b, int64_t n, enum nsx_flame_unit unit)
{
	static const char *const scales[][6] = {
		[NSX_FLAME_NS] = { "ns", "us", "ms", "s" }, [NSX_FLAME_BYTES] = { "B", "kB", "MB", "GB", "TB" },
	};
	const char *const *scale = scales[unit];
	double v = (double)n;
	bool whole = true;

	if (unit == NSX_FLAME_COUNT) {
		nsx_buf_fmt(b, "%" PRId64, n);
		return;
	}
	for (; scale[1] && (v >= 999.95 || v <= -999.95); scale++, whole = false)
		v /= 1000;
	double size = v < 0 ? -v : v;
	nsx_buf_fmt(b, "%.*f %s", whole || size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3, v, *scale);
}

void
nsx_flame_put_exact(struct nsx_buf *b, int64_t n, enum nsx_flame_unit unit)
{
	static const char *const names[] = { [NSX_FLAME_NS] = " ns", [NSX_FLAME_COUNT] = "", [NSX_FLAME_BYTES] =
	                                     " bytes" };

	nsx_buf_fmt(b, "%" PRId64 "%s", n, names[unit]);
}

void
nsx_flame_put_percent(struct nsx_buf *b, int64_t n, int64_t total)
{
	nsx_u128 size = n < 0 ? -(nsx_u128)n : (nsx_u128)n, all = total > 0 ? (nsx_u128)total : 1;
	nsx_u128 hundredths = (size * 20000 + all) / (2 * all);

	if (size && hundredths == 0) {
		nsx_buf_c(b, "<0.01 %");
		return;
	}
	if (hundredths >= 1000000) {
		nsx_buf_c(b, n < 0 ? "less than -9999 %" : "more than 9999 %");
		return;
	}
	nsx_buf_fmt(b, "%s%" PRIu64 ".%02u %%", n < 0 ? "-" : "", (uint64_t)(hundredths / 100),
	            (unsigned)(hundredths % 100));
}
