/* flame/kind.c -- kinds by name: names in brackets as nsysx-fold writes them, collectives with the names of XLA, JAX
 * and NCCL. */
#include "draw/flame/kind.h"

#include <string.h>

#include "base/num.h"
#include "draw/fold.h"
#include "job/frameworks.h"

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether s begins with prefix, ignoring case, '_' matching '-'. */
static bool
begins(struct nsx_str s, const char *prefix)
{
	size_t i;

	for (i = 0; prefix[i]; i++)
		if (i == s.len || (s.ptr[i] == '_' ? '-' : lower(s.ptr[i])) != prefix[i])
			return false;
	return true;
}

static bool
contains(struct nsx_str s, const char *word)
{
	for (; s.len; s.ptr++, s.len--)
		if (begins(s, word))
			return true;
	return false;
}

static enum nsx_flame_kind
bracketed(struct nsx_str s)
{
	if (nsx_str_eq(s, NSX_STR(NSX_FOLD_COMM)))
		return NSX_FLAME_COMM;
	if (begins(s, "[gpu active]"))
		return NSX_FLAME_GROUP;
	if (begins(s, "[cuda memcpy") || begins(s, "[cuda memset"))
		return NSX_FLAME_COPY;
	return contains(s, "idle") ? NSX_FLAME_IDLE : NSX_FLAME_UNKNOWN;
}

/* Names of transfers: opcodes, instructions named after them, primitives of JAX. */
static bool
is_transfer(struct nsx_str s)
{
	static const char *const names[] = {
		"all-gather", "all-reduce", "all-to-all", "collective-broadcast", "collective-permute",
		"collective-reduce", "ragged-all-to-all",
		"reduce-scatter", "psum", "pmax", "pmin", "ppermute", "pbroadcast",
	};
	static const char *const exact[] = { "send", "recv", "send-done", "recv-done" };

	if (begins(s, "nccl") || begins(s, "nvshmem"))
		return true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t n = strlen(names[i]);
		if (begins(s, names[i]) && (s.len == n || !nsx_is_letter(s.ptr[n])))
			return true;
	}
	for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
		size_t n = strlen(exact[i]);
		if (begins(s, exact[i]) && (s.len == n || s.ptr[n] == '.'))
			return true;
	}
	return false;
}

/* The part after the last '/' that is not within brackets. */
static struct nsx_str
last_part(struct nsx_str s)
{
	size_t depth = 0, from = 0;

	for (size_t i = 0; i < s.len; i++) {
		if (strchr("([{", s.ptr[i]) && s.ptr[i])
			depth++;
		else if (strchr(")]}", s.ptr[i]) && s.ptr[i])
			depth -= depth > 0;
		else if (s.ptr[i] == '/' && !depth)
			from = i + 1;
	}
	return (struct nsx_str){ s.ptr + from, s.len - from };
}

/* The instruction in the title of a range of XLA: `Thunk:#...hlo_op=NAME#`. Empty if there is none. */
static struct nsx_str
hlo_op(struct nsx_str s)
{
	static const char key[] = "hlo-op=";

	for (; s.len; s.ptr++, s.len--)
		if (begins(s, key))
			return (struct nsx_str){ s.ptr + sizeof key - 1, s.len - (sizeof key - 1) };
	return s;
}

enum nsx_flame_kind
nsx_flame_kind_of(struct nsx_str s)
{
	if (s.len == 0)
		return NSX_FLAME_UNKNOWN;
	if (s.ptr[0] == '[' && s.ptr[s.len - 1] == ']')
		return bracketed(s);
	return is_transfer(s) || is_transfer(last_part(s)) || is_transfer(hlo_op(s)) ? NSX_FLAME_COMM
	       : NSX_FLAME_COMPUTE;
}

/* The length of the folders of a library that s begins with, with the '/' after them; 0 if it begins with none. */
static size_t
library_folder(struct nsx_str s)
{
	for (size_t i = 0, n; (n = nsx_framework_next(NSX_FRAMEWORK_LIBRARY, s, &i)) > 0; i++)
		if (n < s.len && s.ptr[n] == '/')
			return n + 1;
	for (size_t i = 0, n; (n = nsx_framework_next(NSX_FRAMEWORK_VERSIONED, s, &i)) > 0; i++) {
		size_t end = n;

		while (end < s.len && (nsx_is_digit(s.ptr[end]) || s.ptr[end] == '.'))
			end++;
		if (end > n && end < s.len && s.ptr[end] == '/')
			return end + 1;
	}
	return 0;
}

/* Whether s has .py:LINE or .pyx:LINE in it. */
static bool
has_python_line(struct nsx_str s)
{
	for (; s.len; s.ptr++, s.len--) {
		size_t n = nsx_str_starts(s, ".py:") ? 4 : nsx_str_starts(s, ".pyx:") ? 5 : 0;

		if (n && n < s.len && nsx_is_digit(s.ptr[n]))
			return true;
	}
	return false;
}

bool
nsx_flame_is_library(struct nsx_str s)
{
	for (size_t i = 0; i < s.len; i++) {
		struct nsx_str rest = { s.ptr + i, s.len - i };
		size_t n = i == 0 || s.ptr[i - 1] == '/' ? library_folder(rest) : 0;

		/* What follows the first such folder contains what follows any other. */
		if (n)
			return has_python_line((struct nsx_str){ rest.ptr + n, rest.len - n });
	}
	return false;
}

unsigned
nsx_flame_shade(struct nsx_str s)
{
	/* FNV-1a: byte by byte, so that machines of any byte order give the same result. */
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.ptr[i]) * 16777619u;
	return (h ^ h >> 15) % NSX_FLAME_SHADES;
}

int
nsx_flame_step(int64_t n, int64_t base)
{
	static const int percent[] = { 1, 5, 15, 40, 80 };
	int64_t most = n > base ? n : base, change = n > base ? n - base : base - n;
	int step = 0;

	while (step < 5 && (nsx_u128)change * 100 >= (nsx_u128)most * (unsigned)percent[step])
		step++;
	if (most == 0)
		return 0;
	return n > base ? step : -step;
}
