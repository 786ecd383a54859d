/* str.h -- borrowed strings, and a growing byte buffer. */
#ifndef NSX_BASE_STR_H
#define NSX_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/declare.h"

NSX_BEGIN_C

/* Bytes that someone else owns; no NUL at the end; any byte may occur. */
struct nsx_str { const char *ptr; size_t len; };

#define NSX_STR(literal) ((struct nsx_str){ (literal), sizeof(literal) - 1 })
struct nsx_str nsx_str_c(const char *s);                 /* NULL gives the empty string */
/* Whether n bytes are equal; of none the addresses do not matter. */
bool nsx_bytes_eq(const char *a, const char *b, size_t n);
static inline bool
nsx_str_eq(struct nsx_str a, struct nsx_str b)
{
	/* Most that differ do so in their first byte. */
	return a.len == b.len && (!a.len || (*a.ptr == *b.ptr && nsx_bytes_eq(a.ptr, b.ptr, a.len)));
}

int  nsx_str_cmp(struct nsx_str a, struct nsx_str b);    /* bytewise, as memcmp, the shorter first */
/* The same with each run of digits as a number: node9 before node10. Names that differ in leading zeros alone are
 * equal. */
int  nsx_str_natural(struct nsx_str a, struct nsx_str b);
bool nsx_str_starts(struct nsx_str s, const char *prefix);
bool nsx_str_ends(struct nsx_str s, const char *suffix);
bool nsx_str_has(struct nsx_str s, const char *part);

/* What a byte is in ASCII, whatever the locale; a word has letters, digits and _. */
static inline bool nsx_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool nsx_is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static inline bool nsx_is_word(char c) { return nsx_is_letter(c) || nsx_is_digit(c) || c == '_'; }

/* A malloc'd, NUL-terminated copy; NULL when out of memory. The caller frees it. */
char *nsx_str_dup(struct nsx_str s);

/* A growing buffer; {0} is empty. When memory runs out `failed` is set, it stays
 * set, and later calls do nothing: check it once, before the bytes are used. */
struct nsx_buf { char *ptr; size_t len, cap; bool failed; };

bool nsx_buf_grow(struct nsx_buf *b, size_t more);       /* for nsx_buf_room */
/* Space for that many more bytes; false when out of memory. */
static inline bool
nsx_buf_room(struct nsx_buf *b, size_t more)
{
	return (!b->failed && b->cap - b->len >= more) || nsx_buf_grow(b, more);
}
void nsx_buf_add(struct nsx_buf *b, const void *p, size_t n);
void nsx_buf_char(struct nsx_buf *b, char c);
void nsx_buf_str(struct nsx_buf *b, struct nsx_str s);
void nsx_buf_c(struct nsx_buf *b, const char *s);
void nsx_buf_fmt(struct nsx_buf *b, const char *fmt, ...) NSX_PRINTF(2, 3);
void nsx_buf_vfmt(struct nsx_buf *b, const char *fmt, va_list ap) NSX_PRINTF(2, 0);
void nsx_buf_free(struct nsx_buf *b);                    /* back to {0} */
static inline struct nsx_str nsx_buf_view(const struct nsx_buf *b) { return (struct nsx_str){ b->ptr, b->len }; }

NSX_END_C

#endif
