/* wire.h -- protobuf's wire format, without protobuf-c: numbers, fields, packed lists; for lib/stream and other writers
 * of protobuf. Writing appends to a buffer, whose `failed` the caller checks. Reading never exceeds the given end. */
#ifndef NSX_STREAM_WIRE_H
#define NSX_STREAM_WIRE_H

#include "base/str.h"

enum { NSX_VARINT_MAX = 10 };

static inline char *
nsx_varint_at(char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (char)(v | 0x80);
	*p++ = (char)v;
	return p;
}

/* Bytes of a varint. */
static inline size_t nsx_varint_size(uint64_t v) { return (size_t)(70 - __builtin_clzll(v | 1)) / 7; }

void nsx_put_varint(struct nsx_buf *b, uint64_t v);
void nsx_put_tag(struct nsx_buf *b, unsigned field, unsigned wire);

/* A whole field; 0 is omitted, as in protobuf. */
void nsx_put_number(struct nsx_buf *b, unsigned field, uint64_t v);
void nsx_put_bytes(struct nsx_buf *b, unsigned field, struct nsx_str s);

/* A packed list; an empty one is omitted. tmp is scratch memory. */
void nsx_put_list(struct nsx_buf *b, unsigned field, const uint64_t *v, size_t n, struct nsx_buf *tmp);
void nsx_put_list32(struct nsx_buf *b, unsigned field, const uint32_t *v, size_t n, struct nsx_buf *tmp);

/* Bytes during reading. */
struct nsx_unread { const unsigned char *p, *end; };

/* One field: its number, wire type, and a number or bytes. */
struct nsx_wire_field { unsigned field, wire; uint64_t number; struct nsx_unread bytes; };

/* The next number: false if it is truncated or too long. */
bool nsx_get_long_varint(struct nsx_unread *s, uint64_t *v);
static inline bool
nsx_get_varint(struct nsx_unread *s, uint64_t *v)
{
	if (s->p == s->end || *s->p >= 0x80)
		return nsx_get_long_varint(s, v);
	*v = *s->p++;
	return true;
}

/* The next field of a message: 1, 0 at its end, -1 if it is damaged. */
int nsx_get_field(struct nsx_unread *s, struct nsx_wire_field *f);

/* The number of elements of a packed list (SIZE_MAX if it is damaged), and the next n of it. */
size_t nsx_list_count(struct nsx_unread s);
/* The number of elements, SIZE_MAX if nsx_get_numbers would refuse one. */
size_t nsx_list_check(struct nsx_unread s);
bool nsx_get_numbers(struct nsx_unread *s, uint64_t *v, size_t n);
/* The same for numbers up to max: false if one exceeds it. */
bool nsx_get_numbers32(struct nsx_unread *s, uint32_t *v, size_t n, uint32_t max);
bool nsx_get_signed(struct nsx_unread *s, uint64_t *v, size_t n);   /* the same for zigzag numbers */

#endif
