/* str.c -- borrowed strings, and a growing byte buffer. */
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nsx_str
nsx_str_c(const char *s)
{
	return (struct nsx_str){ s, s ? strlen(s) : 0 };
}

/* Whether the first and the last `size` bytes of n, which may overlap, are equal. */
static inline bool
ends_eq(const char *a, const char *b, size_t n, size_t size)
{
	uint64_t from[2] = { 0, 0 }, to[2] = { 0, 0 };

	memcpy(&from[0], a, size);
	memcpy(&from[1], b, size);
	memcpy(&to[0], a + n - size, size);
	memcpy(&to[1], b + n - size, size);
	return !((from[0] ^ from[1]) | (to[0] ^ to[1]));
}

/* Most texts are short, and memcmp is a call. */
bool
nsx_bytes_eq(const char *a, const char *b, size_t n)
{
	if (n >= 8)
		return ends_eq(a, b, n, 8) && (n <= 16 || memcmp(a + 8, b + 8, n - 16) == 0);
	if (n >= 4)
		return ends_eq(a, b, n, 4);
	return n == 0 || (n == 1 ? *a == *b : ends_eq(a, b, n, 2));
}

int
nsx_str_cmp(struct nsx_str a, struct nsx_str b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int c = n ? memcmp(a.ptr, b.ptr, n) : 0;

	return c ? c : (a.len > b.len) - (a.len < b.len);
}

static bool
is_digit(struct nsx_str s, size_t i)
{
	return i < s.len && nsx_is_digit(s.ptr[i]);
}

/* The digits at *i, without leading zeros; *i moves behind them. */
static struct nsx_str
number_at(struct nsx_str s, size_t *i)
{
	size_t from;

	while (is_digit(s, *i) && s.ptr[*i] == '0')
		++*i;
	for (from = *i; is_digit(s, *i);)
		++*i;
	return (struct nsx_str){ s.ptr + from, *i - from };
}

int
nsx_str_natural(struct nsx_str a, struct nsx_str b)
{
	size_t i = 0, k = 0;

	while (i < a.len && k < b.len) {
		if (is_digit(a, i) && is_digit(b, k)) {
			struct nsx_str x = number_at(a, &i), y = number_at(b, &k);
			int order = x.len != y.len ? (x.len > y.len) - (x.len < y.len) : nsx_str_cmp(x, y);

			if (order)
				return order;
		} else if (a.ptr[i] != b.ptr[k]) {
			return (unsigned char)a.ptr[i] < (unsigned char)b.ptr[k] ? -1 : 1;
		} else {
			i++;
			k++;
		}
	}
	return (i < a.len) - (k < b.len);
}

bool
nsx_str_has(struct nsx_str s, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = 0; i + n <= s.len; i++)
		if (memcmp(s.ptr + i, part, n) == 0)
			return true;
	return false;
}

bool
nsx_str_starts(struct nsx_str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.len >= n && memcmp(s.ptr, prefix, n) == 0;
}

bool
nsx_str_ends(struct nsx_str s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.len >= n && memcmp(s.ptr + s.len - n, suffix, n) == 0;
}

char *
nsx_str_dup(struct nsx_str s)
{
	char *p = malloc(s.len + 1);

	if (!p)
		return NULL;
	if (s.len)
		memcpy(p, s.ptr, s.len);
	p[s.len] = '\0';
	return p;
}

bool
nsx_buf_grow(struct nsx_buf *b, size_t more)
{
	if (b->failed)
		return false;
	if (more > SIZE_MAX / 2 - b->len) {
		b->failed = true;
		return false;
	}
	size_t cap = b->cap ? b->cap : 64;
	while (cap - b->len < more)
		cap *= 2;
	char *p = realloc(b->ptr, cap);
	if (!p) {
		b->failed = true;
		return false;
	}
	b->ptr = p;
	b->cap = cap;
	return true;
}

void
nsx_buf_add(struct nsx_buf *b, const void *p, size_t n)
{
	if (n == 0 || !nsx_buf_room(b, n))
		return;
	memcpy(b->ptr + b->len, p, n);
	b->len += n;
}

void
nsx_buf_char(struct nsx_buf *b, char c)
{
	nsx_buf_add(b, &c, 1);
}

void
nsx_buf_str(struct nsx_buf *b, struct nsx_str s)
{
	nsx_buf_add(b, s.ptr, s.len);
}

void
nsx_buf_c(struct nsx_buf *b, const char *s)
{
	nsx_buf_add(b, s, strlen(s));
}

void
nsx_buf_fmt(struct nsx_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	nsx_buf_vfmt(b, fmt, ap);
	va_end(ap);
}

void
nsx_buf_vfmt(struct nsx_buf *b, const char *fmt, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0)
		b->failed = true;
	else if (nsx_buf_room(b, (size_t)n + 1)) {
		vsnprintf(b->ptr + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void
nsx_buf_free(struct nsx_buf *b)
{
	free(b->ptr);
	*b = (struct nsx_buf){ 0 };
}
