/* family.c -- see family.h. */
#include "job/family.h"

#include <stdint.h>
#include <string.h>

static const struct { const char *pattern; struct nsx_family of; } families[] = {
#define NAME(use, text, whose)
#define COMM(use, text, kind, whose)
#define ADVICE(causes, range, also, calls, small, stepped, name, action)
#define FAMILY(pattern, family, kind, whose) { pattern, { family, kind } },
#include "job/frameworks.def"
#undef NAME
#undef COMM
#undef ADVICE
};

/* Whether the text at i is the end of "fbgemm", which is a library of kernels of many families: its "gemm" tells no
 * product. */
static bool
is_library(struct nsx_str s, size_t i)
{
	return i >= 2 && i + 4 <= s.len && memcmp(s.ptr + i - 2, "fbgemm", 6) == 0;
}

/* Whether s begins as the pattern does up to its next star; *at and *p move behind both. */
static bool
piece(struct nsx_str s, size_t *at, const char **p)
{
	size_t i = *at;
	const char *c = *p;

	for (; *c && *c != '*'; c++) {
		if (*c == '#') {
			if (i == s.len || !nsx_is_digit(s.ptr[i]))
				return false;
			while (i < s.len && nsx_is_digit(s.ptr[i]))
				i++;
		} else if (i == s.len || s.ptr[i++] != *c) {
			return false;
		}
	}
	*at = i;
	*p = c;
	return true;
}

/* The first place from i on at which a piece of the pattern may begin: where its first character is; s.len if there is
 * none. Most pieces are in no name, so most patterns end here. */
static size_t
may_begin(struct nsx_str s, size_t i, char c)
{
	const char *found;

	if (c == '#' || c == '*' || i >= s.len)
		return i;
	found = memchr(s.ptr + i, c, s.len - i);
	return found ? (size_t)(found - s.ptr) : s.len;
}

bool
nsx_family_matches(struct nsx_str s, const char *pattern)
{
	size_t at = 0;
	const char *p = pattern;

	if (!piece(s, &at, &p))
		return false;
	/* Each piece behind a star is taken at its first place: if the rest fits behind a later one, it fits behind
	 * that too, but for the last piece, which has to reach the end. */
	while (*p == '*') {
		const char *next = ++p;

		if (!*p)
			return true;
		for (;; at++) {
			size_t end = at = may_begin(s, at, *p);

			next = p;
			if (!is_library(s, at) && piece(s, &end, &next) && (*next || end == s.len)) {
				at = end;
				break;
			}
			if (at >= s.len)
				return false;
		}
		p = next;
	}
	return at == s.len;
}

/* Pairs of neighbouring characters that a name has, as bits; a pair may have the bit of another. */
struct pairs { uint64_t bits[4]; };

static unsigned
pair_at(const char *c)
{
	return ((unsigned char)c[0] * 31U + (unsigned char)c[1]) & 255;
}

static bool
is_plain(char c)
{
	return c && c != '*' && c != '#';
}

/* Whether a pattern that may begin anywhere may match: the name has the first two characters of it. */
static bool
may_match(const struct pairs *p, const char *pattern)
{
	unsigned pair;

	if (pattern[0] != '*' || !is_plain(pattern[1]) || !is_plain(pattern[2]))
		return true;
	pair = pair_at(pattern + 1);
	return p->bits[pair / 64] >> pair % 64 & 1;
}

struct nsx_family
nsx_family_of_kernel(struct nsx_str name)
{
	struct pairs p = { { 0 } };

	for (size_t i = 1; i < name.len; i++) {
		unsigned pair = pair_at(name.ptr + i - 1);

		p.bits[pair / 64] |= UINT64_C(1) << pair % 64;
	}
	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		if (may_match(&p, families[i].pattern) && nsx_family_matches(name, families[i].pattern))
			return families[i].of;
	return (struct nsx_family){ "other", "" };
}

struct nsx_family
nsx_family_of_inst(struct nsx_family kernel, const char *math)
{
	if (!math || !*math || strcmp(kernel.family, "attention") == 0 || strcmp(kernel.family, "convolution") == 0)
		return kernel;
	return strcmp(kernel.family, "gemm") == 0 && *kernel.kind ? kernel : (struct nsx_family){ "gemm", math };
}

bool
nsx_family_of_type(struct nsx_str type, struct nsx_str name, struct nsx_family *f)
{
	static const struct { const char *ends, *kind; } copies[] = {
		{ "Host-to-Device]", "host to device" }, { "Device-to-Host]", "device to host" },
		{ "Device-to-Device]", "device to device" }, { "Peer-to-Peer]", "peer to peer" },
		{ "Host-to-Host]", "host to host" }
	};

	*f = (struct nsx_family){ "copy", "" };
	if (nsx_str_eq(type, NSX_STR("memset")))
		f->family = "set";
	else if (nsx_str_eq(type, NSX_STR("graph")))
		f->family = "graph";
	else if (!nsx_str_eq(type, NSX_STR("memcpy")))
		return false;
	for (size_t i = 0; i < sizeof copies / sizeof *copies && nsx_str_eq(type, NSX_STR("memcpy")); i++)
		if (nsx_str_ends(name, copies[i].ends))
			f->kind = copies[i].kind;
	return true;
}
