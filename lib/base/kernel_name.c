#include "base/kernel_name.h"

#include <stdbool.h>
#include <string.h>

#include "base/width.h"

/* Minimum columns of a shortened template (LEAST), of its function (LEAST_NAME), and of one that shows a difference
 * (LEAST_DIFFERENCE); LEAST_WORD: minimum letters of a word that is considered. */
enum { LEAST = 16, LEAST_NAME = 6, LEAST_WORD = 5, LEAST_DIFFERENCE = 24 };

/* Length of an anonymous namespace at the start of s, as compilers write it; 0 if there is none. */
static size_t
unnamed(struct nsx_str s)
{
	return nsx_str_starts(s, "<unnamed>") ? 9 : nsx_str_starts(s, "(anonymous namespace)") ? 21 : 0;
}

/* The function's name with its namespaces. */
static struct nsx_str
function_of(struct nsx_str s)
{
	size_t from = nsx_str_starts(s, "void ") ? 5 : 0, to = from;

	for (size_t n; to < s.len; to += n ? n : 1) {
		n = unnamed((struct nsx_str){ s.ptr + to, s.len - to });
		if (!n && (s.ptr[to] == '<' || s.ptr[to] == '('))
			break;
	}
	return (struct nsx_str){ s.ptr + from, to - from };
}

static bool
holds(struct nsx_str s, struct nsx_str what)
{
	for (size_t i = 0; i + what.len <= s.len; i++)
		if (memcmp(s.ptr + i, what.ptr, what.len) == 0)
			return true;
	return false;
}

void
nsx_buf_kernel(struct nsx_buf *b, struct nsx_str name, struct nsx_str word)
{
	struct nsx_str function = function_of(name);

	nsx_buf_str(b, function);
	if (!holds(function, word))
		nsx_buf_fmt(b, "<..%.*s..>", (int)word.len, word.ptr);
}

/* Whether a word describes what a kernel computes. */
static bool
tells(struct nsx_str word)
{
	return holds(word, NSX_STR("unctor")) || holds(word, NSX_STR("ernel")) || holds(word, NSX_STR("gemm"))
	       || nsx_str_ends(word, "Op") || nsx_str_ends(word, "Ops");
}

/* The position, in template arguments that begin at `from` and end at `to`, where the most descriptive word begins;
 * `from` if there is none. Names of namespaces are not considered, nor is anything in parentheses (types of numbers,
 * parameters). */
static size_t
telling(struct nsx_str s, size_t from, size_t to)
{
	size_t best = from, longest = LEAST_WORD - 1, inside = 0;
	bool told = false;

	for (size_t i = from, n; i < to; i += n) {
		for (n = 0; i + n < to && nsx_is_word(s.ptr[i + n]);)
			n++;
		struct nsx_str word = { s.ptr + i, n };

		if (n == 0) {
			n = 1;
			inside += s.ptr[i] == '(';
			inside -= s.ptr[i] == ')' && inside > 0;
			continue;
		}
		if (inside)
			continue;
		if (i + n + 1 < to && s.ptr[i + n] == ':' && s.ptr[i + n + 1] == ':')
			continue;
		if (tells(word)) {
			told = true;
			best = i;
		} else if (!told && n > longest && !nsx_is_digit(word.ptr[0])) {
			longest = n;
			best = i;
		}
	}
	return best;
}

/* The end of the template's arguments, which begin at `from`: the '>' that closes them, not counting those of "->" and
 * "operator>"; the end of s if the name is truncated. */
static size_t
close_of(struct nsx_str s, size_t from)
{
	size_t depth = 1;

	for (size_t i = from; i < s.len; i++) {
		if (s.ptr[i] == '<')
			depth++;
		else if (s.ptr[i] == '>' && s.ptr[i - 1] != '-' && --depth == 0)
			return i;
	}
	return s.len;
}

/* What a text says about a kernel, as faster:name:KERNEL=2 does: the bytes before and after the name. False if it says
 * nothing. */
static bool
find_said(struct nsx_str s, size_t *before, size_t *after)
{
	size_t i = 0;

	while (i < s.len && s.ptr[i] >= 'a' && s.ptr[i] <= 'z')
		i++;
	if (!i || s.len - i < 6 || memcmp(s.ptr + i, ":name:", 6) != 0)
		return false;
	*before = i + 6;
	for (i = s.len; i > *before && s.ptr[i - 1] != '=';)
		i--;
	*after = i > *before ? s.len - i + 1 : 0;
	return true;
}

/* A template whose arguments are the bytes from `from` to `to`; own: the function without namespaces. */
struct template { struct nsx_str own; size_t from, to; };

static bool
find_template(struct nsx_str s, struct template *t)
{
	struct nsx_str function = function_of(s);
	size_t before, after;

	if (find_said(s, &before, &after))
		return false;
	t->own = function;
	t->from = (size_t)(function.ptr - s.ptr) + function.len + 1;
	for (size_t i = 0; i + 1 < function.len; i++)
		if (function.ptr[i] == ':' && function.ptr[i + 1] == ':')
			t->own = (struct nsx_str){ function.ptr + i + 2, function.len - i - 2 };
	if (t->from >= s.len || s.ptr[t->from - 1] != '<' || t->own.len == 0)
		return false;
	for (size_t i = 0; i < t->own.len; i++)
		if (!nsx_is_word(t->own.ptr[i]))
			return false;
	t->to = close_of(s, t->from);
	return t->from < t->to;
}

/* function<..word...>: everything from byte `at` to the end of the arguments is kept, and before it the name of the
 * function, which is not shortened below `least` columns. */
static void
put_template(struct nsx_buf *b, struct nsx_str s, const struct template *t, size_t at, size_t least, size_t width)
{
	struct nsx_str rest = { s.ptr + at, t->to - at };
	size_t frame = at > t->from ? 4 : 2, most = width - frame - least, word = rest.len < most ? rest.len : most;
	size_t room = width - frame - word, mine = t->own.len < room ? t->own.len : room;

	nsx_buf_shortened(b, t->own, mine);
	nsx_buf_c(b, at > t->from ? "<.." : "<");
	room = width - frame - mine;
	if (nsx_width(rest) <= room) {
		nsx_buf_str(b, rest);
	} else {
		nsx_buf_add(b, rest.ptr, nsx_width_head(rest, room - 2));
		nsx_buf_c(b, "..");
	}
	nsx_buf_char(b, '>');
}

/* A place in a source, /opt/a/b.py:12[f], in which the file is not the last part: where the file's name begins and the
 * function's bracket is; false if it is something else. */
static bool
find_file(struct nsx_str s, size_t *file, size_t *bracket)
{
	if (s.len < 2 || s.ptr[0] != '/' || s.ptr[s.len - 1] != ']')
		return false;
	for (*bracket = 1; s.ptr[*bracket] != '['; ++*bracket)
		if (*bracket + 2 >= s.len || s.ptr[*bracket] == ' ')
			return false;
	for (size_t i = *bracket + 1; i < s.len; i++)
		if (s.ptr[i] == '[')
			return false;
	for (*file = *bracket; s.ptr[*file - 1] != '/';)
		--*file;
	return *file > 1;
}

/* A source keeps the file, the line and, of the function, what there is room for. False, with nothing appended, if
 * it is no source or there is little room. */
static bool
put_source(struct nsx_buf *b, struct nsx_str s, size_t width)
{
	size_t file, bracket;

	if (!find_file(s, &file, &bracket))
		return false;
	struct nsx_str tail = { s.ptr + file, s.len - file }, name = { s.ptr + file, bracket - file };
	struct nsx_str function = { s.ptr + bracket, s.len - bracket };
	size_t all = nsx_width(tail), least = 3 + nsx_width(name);   /* 3: "/.." */

	if (all + 3 <= width) {
		nsx_buf_add(b, s.ptr, nsx_width_head(s, width - all - 2));
		nsx_buf_c(b, "..");
		nsx_buf_str(b, tail);
		return true;
	}
	if (width < LEAST)
		return false;
	size_t room = width - 6, n = nsx_width_tail(name, room < nsx_width(name) ? room : nsx_width(name));
	nsx_buf_c(b, "/..");
	nsx_buf_add(b, name.ptr + name.len - n, n);
	nsx_buf_c(b, "..");
	n = nsx_width_tail(function, least + 3 < width ? width - least - 2 : 1);
	nsx_buf_add(b, function.ptr + function.len - n, n);
	return true;
}

void
nsx_buf_kernel_shortened(struct nsx_buf *b, struct nsx_str s, size_t width)
{
	struct template t;
	size_t before, after;

	if (s.len <= width || nsx_width(s) <= width) {
		nsx_buf_str(b, s);
	} else if (find_said(s, &before, &after) && width >= before + after + LEAST) {
		nsx_buf_add(b, s.ptr, before);
		nsx_buf_kernel_shortened(b, (struct nsx_str){ s.ptr + before, s.len - before - after },
		                         width - before - after);
		nsx_buf_add(b, s.ptr + s.len - after, after);
	} else if (put_source(b, s, width)) {
		return;
	} else if (width < LEAST || !find_template(s, &t)) {
		nsx_buf_shortened(b, s, width);
	} else {
		size_t at = telling(s, t.from, t.to), frame = at > t.from ? 4 : 2;

		put_template(b, s, &t, at, (width - frame + 1) / 2, width);
	}
}

bool
nsx_kernel_is_template(struct nsx_str s)
{
	struct template t;

	return find_template(s, &t);
}

bool
nsx_buf_kernel_arguments(struct nsx_buf *b, struct nsx_str s, size_t width)
{
	struct template t;

	if (width < LEAST || nsx_width(s) <= width || !find_template(s, &t))
		return false;
	put_template(b, s, &t, telling(s, t.from, t.to), LEAST_NAME, width);
	return true;
}

/* At most `most` bytes of s around byte `at`: the word there, or of a longer word the part around `at`. */
static struct nsx_str
word_at(struct nsx_str s, const struct template *t, size_t at, size_t most)
{
	size_t from = at, to = at;

	while (from > t->from && nsx_is_word(s.ptr[from - 1]))
		from--;
	while (to < t->to && nsx_is_word(s.ptr[to]))
		to++;
	if (to - from > most || from == to) {
		from = at - from > most / 2 ? at - most / 2 : from;
		to = t->to - from < most ? t->to : from + most;
	}
	return (struct nsx_str){ s.ptr + from, nsx_width_head((struct nsx_str){ s.ptr + from, to - from }, most) };
}

bool
nsx_buf_kernel_difference(struct nsx_buf *b, struct nsx_str s, size_t width, size_t at)
{
	struct template t;

	if (width < LEAST_DIFFERENCE || nsx_width(s) <= width || !find_template(s, &t) || at < t.from || at >= t.to)
		return false;
	size_t room = width - 8, name = room / 4 < LEAST_NAME ? LEAST_NAME : room / 4, tell = telling(s, t.from, t.to);

	name = name > t.own.len ? t.own.len : name;
	struct nsx_str own = word_at(s, &t, at, (room - name) / 2), rest = { s.ptr + tell, t.to - tell };
	size_t start = (size_t)(own.ptr - s.ptr);

	if (tell >= start && tell < start + own.len)
		return false;
	if (tell < start)
		rest.len = start - tell;
	rest.len = nsx_width_head(rest, room - name - nsx_width(own));
	nsx_buf_shortened(b, t.own, name);
	nsx_buf_c(b, "<..");
	nsx_buf_str(b, tell < start ? rest : own);
	nsx_buf_c(b, "..");
	nsx_buf_str(b, tell < start ? own : rest);
	nsx_buf_c(b, "..>");
	return true;
}
