#include "base/kernel_name.h"

#include <stdbool.h>
#include <string.h>

#include "base/width.h"

enum { LEAST = 24, LEAST_WORD = 5 };   /* columns for a function and a word; letters of a word that is considered */

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

static bool
in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool
ends(struct nsx_str s, const char *what)
{
	size_t n = strlen(what);

	return s.len >= n && memcmp(s.ptr + s.len - n, what, n) == 0;
}

/* Whether a word describes what a kernel computes. */
static bool
tells(struct nsx_str word)
{
	return holds(word, NSX_STR("unctor")) || holds(word, NSX_STR("ernel")) || holds(word, NSX_STR("gemm"))
	       || ends(word, "Op") || ends(word, "Ops");
}

/* The position, in template arguments that begin at `from` and end at `to`, where the most descriptive word begins;
 * `from` if there is none. Names of namespaces are no such words, nor is anything in parentheses: types of numbers and
 * parameters. */
static size_t
telling(struct nsx_str s, size_t from, size_t to)
{
	size_t best = from, longest = LEAST_WORD - 1, inside = 0;
	bool told = false;

	for (size_t i = from, n; i < to; i += n) {
		for (n = 0; i + n < to && in_word(s.ptr[i + n]);)
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
		} else if (!told && n > longest && (word.ptr[0] < '0' || word.ptr[0] > '9')) {
			longest = n;
			best = i;
		}
	}
	return best;
}

/* The end of the template's arguments, which begin at `from`: the '>' that closes them, not counting those of "->" and
 * "operator>"; the end of s where it is cut off. */
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

void
nsx_buf_kernel_shortened(struct nsx_buf *b, struct nsx_str s, size_t width)
{
	struct nsx_str function = function_of(s), own = function;
	size_t from = (size_t)(function.ptr - s.ptr) + function.len + 1, to, at;

	if (s.len <= width || nsx_width(s) <= width) {
		nsx_buf_str(b, s);
		return;
	}
	for (size_t i = 0; i + 1 < function.len; i++)
		if (function.ptr[i] == ':' && function.ptr[i + 1] == ':')
			own = (struct nsx_str){ function.ptr + i + 2, function.len - i - 2 };
	bool template = width >= LEAST && from < s.len && s.ptr[from - 1] == '<' && own.len > 0;
	for (size_t i = 0; template && i < own.len; i++)
		template = in_word(own.ptr[i]);
	to = template ? close_of(s, from) : 0;
	at = template ? telling(s, from, to) : 0;
	if (!template || from == to) {
		nsx_buf_shortened(b, s, width);
		return;
	}
	/* function<..word...>: everything from the word to the end of the arguments is kept, and before it the name of
	 * the function. */
	struct nsx_str rest = { s.ptr + at, to - at };
	size_t frame = at > from ? 4 : 2, half = (width - frame) / 2, word = rest.len < half ? rest.len : half;
	size_t room = width - frame - word, mine = own.len < room ? own.len : room;

	nsx_buf_shortened(b, own, mine);
	nsx_buf_c(b, at > from ? "<.." : "<");
	room = width - frame - mine;
	if (nsx_width(rest) <= room) {
		nsx_buf_str(b, rest);
	} else {
		nsx_buf_add(b, rest.ptr, nsx_width_head(rest, room - 2));
		nsx_buf_c(b, "..");
	}
	nsx_buf_char(b, '>');
}
