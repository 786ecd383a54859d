/* places.c -- source locations in the form that XLA writes into NVTX payloads, parsed into stacks. */
#include "xla/places.h"

#include <stdlib.h>
#include <string.h>

#include "xla/title.h"

enum { DEPTH_MAX = 4096, FRAMES_BYTES_MAX = 1 << 20 };

/* The fields of a line; strings as written. */
struct line { size_t depth; struct nsx_str file, digits, column, function, op_name; };

static struct nsx_str
part(struct nsx_str s, size_t from, size_t to)
{
	return (struct nsx_str){ s.ptr + from, to - from };
}

static size_t
digits(struct nsx_str s, size_t i)
{
	while (i < s.len && nsx_is_digit(s.ptr[i]))
		i++;
	return i;
}

/* Split `file:line[:column][function] op_name`: the file ends at the first colon behind which a number, and then the
 * rest, can be read. */
static bool
split(struct nsx_str s, struct line *l)
{
	for (size_t i = 1; i < s.len; i++) {
		if (s.ptr[i] != ':')
			continue;
		size_t end = digits(s, i + 1), column = end;
		if (end == i + 1)
			continue;
		if (end < s.len && s.ptr[end] == ':' && (column = digits(s, end + 1)) == end + 1)
			continue;
		if (column < s.len && s.ptr[column] != '[' && s.ptr[column] != ' ')
			continue;
		l->file = part(s, 0, i);
		l->digits = part(s, i + 1, end);
		l->column = column > end ? part(s, end + 1, column) : part(s, end, end);
		l->function = l->op_name = part(s, s.len, s.len);
		if (column < s.len && s.ptr[column] == '[') {
			size_t close = column + 1;
			while (close < s.len && !(s.ptr[close] == ']' && (close + 1 == s.len ||
				s.ptr[close + 1] == ' ')))
				close++;
			if (close == s.len)
				return false;
			l->function = part(s, column + 1, close);
			column = close + 1;
		}
		if (column < s.len)
			l->op_name = part(s, column + 1, s.len);
		return true;
	}
	return false;
}

/* s without the escapes that Nsight Systems uses for display; a frame contains no characters that separate frames or
 * end a line. */
static void
put(struct nsx_buf *out, struct nsx_str s, bool in_frame)
{
	static const struct { const char *text; char c; } marks[] = { { "&lt;", '<' }, { "&gt;", '>' },
		{ "&amp;", '&' } };

	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		for (size_t k = 0; c == '&' && k < sizeof marks / sizeof *marks; k++)
			if (nsx_str_starts(part(s, i, s.len), marks[k].text)) {
				c = marks[k].c;
				i += strlen(marks[k].text) - 1;
				break;
			}
		if (in_frame && c == ';')
			c = ',';
		else if (in_frame && ((unsigned char)c < ' ' || c == 0x7f))
			c = ' ';
		nsx_buf_char(out, c);
	}
}

static void
put_frame(struct nsx_buf *out, const struct line *l)
{
	bool column = false;

	for (size_t i = 0; i < l->column.len; i++)
		column |= l->column.ptr[i] != '0';
	if (out->len)
		nsx_buf_char(out, ';');
	put(out, l->file, true);
	nsx_buf_char(out, ':');
	nsx_buf_str(out, l->digits);
	if (column) {
		nsx_buf_char(out, ':');
		nsx_buf_str(out, l->column);
	}
	if (l->function.len) {
		nsx_buf_char(out, '[');
		put(out, l->function, true);
		nsx_buf_char(out, ']');
	}
}

/* The next line that is not empty; false at the end. */
static bool
next_line(struct nsx_str *rest, struct nsx_str *line)
{
	do {
		const char *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
		if (!rest->len)
			return false;
		*line = part(*rest, 0, end ? (size_t)(end - rest->ptr) : rest->len);
		*rest = end ? part(*rest, line->len + 1, rest->len) : part(*rest, rest->len, rest->len);
	} while (!line->len);
	return true;
}

/* The depth of a line: its number of dashes, which a blank ends; *s is the rest of the line. A line without dashes has
 * depth 0. */
static size_t
depth_of(struct nsx_str *s)
{
	size_t n = 0;

	while (n < s->len && s->ptr[n] == '-')
		n++;
	if (!n || n == s->len || s->ptr[n] != ' ')
		return 0;
	*s = part(*s, n + 1, s->len);
	return n;
}

/* Text that XLA truncated ends with a mark; the line before it may be incomplete. */
static struct nsx_str
whole_lines(struct nsx_str text, int64_t *odd)
{
	static const char mark[] = "\n[truncated]";

	while (text.len && text.ptr[text.len - 1] == '\n')
		text.len--;
	if (text.len < sizeof mark - 1 || memcmp(text.ptr + text.len - (sizeof mark - 1), mark, sizeof mark - 1) != 0)
		return text;
	text.len -= sizeof mark - 1;
	while (text.len && text.ptr[text.len - 1] != '\n')
		text.len--;
	++*odd;
	return text;
}

struct reading {
	struct nsx_places *out;
	struct nsx_str     prefix;
	struct nsx_buf     frames, name;
	size_t             ends[DEPTH_MAX + 1];   /* ends of the frames of each depth; 0 is the common part */
	size_t             depth;                 /* of the last line; 0: there is none */
};

static bool
add(struct reading *r, struct nsx_str op_name)
{
	uint32_t n, f, *at;

	r->name.len = 0;
	nsx_buf_str(&r->name, r->prefix);
	if (r->prefix.len && op_name.len)
		nsx_buf_char(&r->name, '/');
	put(&r->name, op_name, false);
	if (r->name.failed || r->frames.failed)
		return false;
	n = nsx_intern(&r->out->strs, nsx_buf_view(&r->name));
	f = nsx_intern(&r->out->strs, nsx_buf_view(&r->frames));
	at = n == NSX_NONE || f == NSX_NONE ? NULL : nsx_map_at(&r->out->seen, (struct nsx_key){ n, f });
	if (!at)
		return false;
	if (*at != NSX_NONE)
		return true;
	*at = 0;
	return nsx_vec_push(&r->out->list, ((struct nsx_place){ nsx_intern_str(&r->out->strs, n),
	                                                        nsx_intern_str(&r->out->strs, f) }));
}

/* The frames around all locations. */
static void
read_common(struct reading *r, struct nsx_str text)
{
	struct nsx_str s;

	text = whole_lines(text, &r->out->odd);
	while (next_line(&text, &s)) {
		struct line l;
		depth_of(&s);
		if (split(s, &l))
			put_frame(&r->frames, &l);
		else
			r->out->odd++;
	}
	r->ends[0] = r->frames.len;
}

static bool
read_lines(struct reading *r, struct nsx_str text)
{
	struct nsx_str s, none = { "", 0 };
	bool open = false;   /* whether the last line is the end of a stack unless a deeper one follows */
	size_t skip = SIZE_MAX;

	while (next_line(&text, &s)) {
		struct line l;
		size_t depth = depth_of(&s);

		if (!depth)
			depth = 1;
		if (depth > skip)
			continue;
		skip = SIZE_MAX;
		/* A line that is too deep by more than one is placed below the last line. */
		if (depth > r->depth + 1)
			depth = r->depth + 1;
		if (open && depth <= r->depth) {
			if (!add(r, none))
				return false;
			open = false;
		}
		if (depth > DEPTH_MAX || r->frames.len > FRAMES_BYTES_MAX || !split(s, &l)) {
			/* The stack is then known up to the frame around it. */
			r->out->odd++;
			skip = depth;
			r->depth = depth - 1;
			r->frames.len = r->ends[depth - 1];
			continue;
		}
		r->frames.len = r->ends[depth - 1];
		put_frame(&r->frames, &l);
		r->ends[depth] = r->frames.len;
		r->depth = depth;
		if (l.op_name.len && !add(r, l.op_name))
			return false;
		open = !l.op_name.len;
	}
	return !open || add(r, none);
}

bool
nsx_places_read(struct nsx_str common, struct nsx_str text, struct nsx_str op_name, struct nsx_places *out)
{
	struct reading *r = calloc(1, sizeof *r);

	nsx_places_free(out);
	if (!r)
		return false;
	r->out = out;
	r->prefix = op_name;
	read_common(r, common);
	bool good = read_lines(r, whole_lines(text, &out->odd)) && !r->frames.failed;
	nsx_buf_free(&r->frames);
	nsx_buf_free(&r->name);
	free(r);
	return good;
}

void
nsx_places_free(struct nsx_places *p)
{
	free(p->list.p);
	nsx_intern_free(&p->strs);
	nsx_map_free(&p->seen);
	*p = (struct nsx_places){ 0 };
}

/* ---- titles */

/* Is s the path `prefix`, or below it? Only the first n bytes of prefix are compared. */
static bool
is_under(struct nsx_str s, struct nsx_str prefix, size_t n)
{
	return s.len >= n && memcmp(s.ptr, prefix.ptr, n) == 0 && (s.len == n || s.ptr[n] == '/');
}

void
nsx_places_op_name(struct nsx_str prefix, struct nsx_str name, struct nsx_buf *out)
{
	const char *slash = prefix.len ? memchr(prefix.ptr, '/', prefix.len) : NULL;
	size_t first = slash ? (size_t)(slash - prefix.ptr) : prefix.len;

	if (!name.ptr)
		return;
	/* XLA would have removed the whole prefix: a name that begins with a part of it only is complete. */
	if (prefix.len && (!name.len || !is_under(name, prefix, first) || is_under(name, prefix, prefix.len))) {
		nsx_buf_str(out, prefix);
		if (name.len)
			nsx_buf_char(out, '/');
	}
	nsx_buf_str(out, name);
}
