/* wire.c -- protobuf's wire format, without protobuf-c. Every length is checked against the bytes available. */
#include "stream/wire.h"

#include <string.h>

#include "stream/binary.h"

void
nsx_put_varint(struct nsx_buf *b, uint64_t v)
{
	if (nsx_buf_room(b, NSX_VARINT_MAX))
		b->len = (size_t)(nsx_varint_at(b->ptr + b->len, v) - b->ptr);
}

void
nsx_put_tag(struct nsx_buf *b, unsigned field, unsigned wire)
{
	nsx_put_varint(b, field << 3 | wire);
}

void
nsx_put_number(struct nsx_buf *b, unsigned field, uint64_t v)
{
	if (v == 0)
		return;
	nsx_put_tag(b, field, WIRE_VARINT);
	nsx_put_varint(b, v);
}

void
nsx_put_bytes(struct nsx_buf *b, unsigned field, struct nsx_str s)
{
	nsx_put_tag(b, field, WIRE_BYTES);
	nsx_put_varint(b, s.len);
	nsx_buf_str(b, s);
}

/* Write a number in groups of seven bits with one store: eight bytes at p may be written. */
static inline char *
put_spread(char *p, uint64_t v)
{
	unsigned more = (63U - (unsigned)__builtin_clzll(v | 1)) / 8;

	/* All but the last byte have the continuation bit. */
	v |= 0x8080808080808080 & ((1ULL << 8 * more) - 1);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	memcpy(p, &v, sizeof v);
	return p + more + 1;
}

/* A number below 2^28, below 2^56, with seven bits in each byte. */
static inline uint64_t
spread28(uint64_t v)
{
	v = (v & 0x3fff) | (v & 0x0fffc000) << 2;
	return (v & 0x007f007f) | (v & 0x3f803f80) << 1;
}

static inline uint64_t
spread56(uint64_t v)
{
	v = (v & 0x0fffffff) | (v & 0x00fffffff0000000) << 4;
	v = (v & 0x00003fff00003fff) | (v & 0x0fffc0000fffc000) << 2;
	return (v & 0x007f007f007f007f) | (v & 0x3f803f803f803f80) << 1;
}

/* n numbers at p, which has space for NSX_VARINT_MAX bytes each: returns the end. Sizes vary, so there are no branches
 * on them. */
static char *
put_numbers(char *p, const uint64_t *v, size_t n)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < n; i++)
		bits |= v[i];
	if (bits < 0x80) {
		for (size_t i = 0; i < n; i++)
			p[i] = (char)v[i];
		return p + n;
	}
	if (bits >> 14 == 0) {
		for (size_t i = 0; i < n; i++) {
			unsigned more = v[i] >= 0x80;

			p[0] = (char)(v[i] | more << 7);
			p[1] = (char)(v[i] >> 7);
			p += 1 + more;
		}
		return p;
	}
	if (bits >> 28 == 0)
		for (size_t i = 0; i < n; i++)
			p = put_spread(p, spread28(v[i]));
	else if (bits >> 56 == 0)
		for (size_t i = 0; i < n; i++)
			p = put_spread(p, spread56(v[i]));
	else
		for (size_t i = 0; i < n; i++)
			p = v[i] >> 56 ? nsx_varint_at(p, v[i]) : put_spread(p, spread56(v[i]));
	return p;
}

void
nsx_put_list(struct nsx_buf *b, unsigned field, const uint64_t *v, size_t n, struct nsx_buf *tmp)
{
	tmp->len = 0;
	if (n == 0 || !nsx_buf_room(tmp, n * NSX_VARINT_MAX))
		return;
	tmp->len = (size_t)(put_numbers(tmp->ptr, v, n) - tmp->ptr);
	nsx_put_bytes(b, field, nsx_buf_view(tmp));
}

void
nsx_put_list32(struct nsx_buf *b, unsigned field, const uint32_t *v, size_t n, struct nsx_buf *tmp)
{
	tmp->len = 0;
	if (n == 0 || !nsx_buf_room(tmp, n * NSX_VARINT_MAX))
		return;
	char *p = tmp->ptr;
	uint32_t bits = 0;
	for (size_t i = 0; i < n; i++)
		bits |= v[i];
	/* Mostly these are kinds, and short runs of them. */
	for (size_t i = 0; i < n && bits < 0x80; i++)
		*p++ = (char)v[i];
	for (size_t i = 0; i < n && bits >= 0x80; i++)
		p = put_spread(p, spread56(v[i]));
	tmp->len = (size_t)(p - tmp->ptr);
	nsx_put_bytes(b, field, nsx_buf_view(tmp));
}

bool
nsx_get_long_varint(struct nsx_unread *s, uint64_t *v)
{
	uint64_t x = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (s->p == s->end)
			return false;
		unsigned char c = *s->p++;
		if (shift == 63 && c > 1)
			return false;
		x |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80) {
			*v = x;
			return true;
		}
	}
	return false;
}

int
nsx_get_field(struct nsx_unread *s, struct nsx_wire_field *f)
{
	uint64_t tag, n;

	if (s->p == s->end)
		return 0;
	if (!nsx_get_varint(s, &tag) || tag >> 3 == 0 || tag >> 32 != 0)
		return -1;
	f->field = (unsigned)(tag >> 3);
	f->wire = tag & 7;
	f->number = 0;
	f->bytes = (struct nsx_unread){ s->p, s->p };
	switch (f->wire) {
	case WIRE_VARINT:
		return nsx_get_varint(s, &f->number) ? 1 : -1;
	case WIRE_FIXED64: case WIRE_FIXED32:
		n = f->wire == WIRE_FIXED64 ? 8 : 4;
		break;
	case WIRE_BYTES:
		if (!nsx_get_varint(s, &n))
			return -1;
		break;
	default:
		return -1;
	}
	if (n > (size_t)(s->end - s->p))
		return -1;
	f->bytes = (struct nsx_unread){ s->p, s->p + n };
	s->p += n;
	return 1;
}

/* longs: gets a bit where four consecutive bytes have the continuation bit, as in every number that is too long. */
static inline size_t
count_list(struct nsx_unread s, uint64_t *longs)
{
	size_t n = 0;

	/* Every number ends with its only byte below 0x80. */
	if (s.p != s.end && s.end[-1] >= 0x80)
		return SIZE_MAX;
	/* Eight bytes at a time: each byte of `sums` counts up to 255. */
	while (s.end - s.p >= 8) {
		size_t words = (size_t)(s.end - s.p) / 8;
		uint64_t sums = 0, w;

		words = words < 255 ? words : 255;
		for (size_t i = 0; i < words; i++, s.p += 8) {
			memcpy(&w, s.p, sizeof w);
			sums += ~w >> 7 & 0x0101010101010101;
			w &= w >> 8;
			*longs |= w & w >> 16 & 0x0000008000000080;
		}
		/* The total of eight such bytes needs more than eight bits. */
		sums = (sums & 0x00ff00ff00ff00ff) + (sums >> 8 & 0x00ff00ff00ff00ff);
		n += sums * 0x0001000100010001 >> 48;
	}
	for (; s.p < s.end; s.p++)
		n += *s.p < 0x80;
	return n;
}

size_t
nsx_list_count(struct nsx_unread s)
{
	uint64_t longs = 0;

	return count_list(s, &longs);
}

size_t
nsx_list_check(struct nsx_unread s)
{
	uint64_t longs = 0, x;
	size_t n = count_list(s, &longs);

	/* A number can be too long only if nine of its bytes have the continuation bit: four of these are in one half
	 * of a word, unless the number is the last of the list and begins less than four bytes before the end of the
	 * last whole word. */
	if (s.end - s.p >= NSX_VARINT_MAX) {
		memcpy(&x, s.end - NSX_VARINT_MAX + 1, sizeof x);
		longs |= (x & 0x8080808080808080) == 0x8080808080808080;
	}
	if (n != SIZE_MAX && longs)
		while (s.p < s.end)
			if (!nsx_get_varint(&s, &x))
				return SIZE_MAX;
	return n;
}

/* Eight bytes, the first one lowest. */
static inline uint64_t
load(const unsigned char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof w);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	w = __builtin_bswap64(w);
#endif
	return w;
}

/* The first number in *w, of four bytes at most, which are removed from it and counted. */
static inline uint64_t
four_bytes(uint64_t *w, unsigned *bytes)
{
	uint32_t x = (uint32_t)*w, ends = ~x & 0x80808080;
	unsigned bits = (unsigned)__builtin_ctz(ends) + 1;

	/* Up to the first byte without the continuation bit. */
	x &= ends ^ (ends - 1);
	x = (x & 0x007f007f) | (x & 0x7f007f00) >> 1;
	*w >>= bits;
	*bytes += bits >> 3;
	return (x & 0x00003fff) | (x & 0x3fff0000) >> 2;
}

/* The first number in w, of eight bytes at most. */
static inline uint64_t
short_number(uint64_t w, unsigned *bytes)
{
	uint64_t ends = ~w & 0x8080808080808080;

	*bytes = (unsigned)(__builtin_ctzll(ends) >> 3) + 1;
	/* Up to the first byte without the continuation bit. */
	w &= ends ^ (ends - 1);
	if (*bytes <= 4) {
		uint32_t x = (uint32_t)w;

		x = (x & 0x007f007f) | (x & 0x7f007f00) >> 1;
		return (x & 0x00003fff) | (x & 0x3fff0000) >> 2;
	}
	w = (w & 0x007f007f007f007f) | (w & 0x7f007f007f007f00) >> 1;
	w = (w & 0x00003fff00003fff) | (w & 0x3fff00003fff0000) >> 2;
	return (w & 0x000000000fffffff) | (w & 0x0fffffff00000000) >> 4;
}

/* One number; at least eight bytes are available. Numbers of eight bytes and less are decoded without a loop. */
static inline bool
next_number(struct nsx_unread *s, uint64_t *v)
{
	const unsigned char *p = s->p;
	uint64_t w;

	if (p[0] < 0x80) {
		*v = p[0];
		s->p += 1;
		return true;
	}
	if (p[1] < 0x80) {
		*v = (p[0] & 0x7fU) | (unsigned)p[1] << 7;
		s->p += 2;
		return true;
	}
	w = load(p);
	if ((w & 0x8080808080808080) == 0x8080808080808080)
		return nsx_get_varint(s, v);
	unsigned bytes;
	*v = short_number(w, &bytes);
	s->p += bytes;
	return true;
}

/* Whether the next n numbers take one byte each; n bytes are available. */
static bool
single_bytes(const struct nsx_unread *s, size_t n)
{
	uint64_t bits = 0, w;
	size_t i = 0;

	for (; n - i >= 8; i += 8) {
		memcpy(&w, s->p + i, sizeof w);
		bits |= w;
	}
	for (; i < n; i++)
		bits |= s->p[i];
	return !(bits & 0x8080808080808080);
}

/* A number as it is, or a zigzag number. */
static inline uint64_t
plain(uint64_t x, bool zigzag)
{
	return zigzag ? nsx_zag(x) : x;
}

/* The first number in *w, of one or two bytes, which are removed from it and counted. Sizes vary, so there are no
 * branches on them. */
static inline uint64_t
tiny_number(uint64_t *w, unsigned *bytes)
{
	uint64_t two = *w >> 7 & 1, x = (*w & 0x7f) | (*w >> 1 & 0x3f80 & (0 - two));

	*w >>= 8 << two;
	*bytes += 1 + (unsigned)two;
	return x;
}

/* The next n numbers. Inlined, so that zigzag is a constant. */
static inline __attribute__((always_inline)) bool
get_list(struct nsx_unread *s, uint64_t *v, size_t n, bool zigzag)
{
	const unsigned char *p = s->p;

	if (n == 0)
		return true;
	uint64_t *end = v + n;
	/* Eight bytes are at most eight numbers; where no number is longer than two bytes, at least four. */
	while (end - v >= 8 && s->end - p >= 8) {
		uint64_t w = load(p), more = w & 0x8080808080808080;

		if (!more) {
			for (int i = 0; i < 8; i += 4) {
				v[i] = plain(p[i], zigzag);
				v[i + 1] = plain(p[i + 1], zigzag);
				v[i + 2] = plain(p[i + 2], zigzag);
				v[i + 3] = plain(p[i + 3], zigzag);
			}
			v += 8;
			p += 8;
		} else if (!(more & 0x80808080)) {
			v[0] = plain(p[0], zigzag);
			v[1] = plain(p[1], zigzag);
			v[2] = plain(p[2], zigzag);
			v[3] = plain(p[3], zigzag);
			v += 4;
			p += 4;
		} else if (!(more & more << 8)) {
			unsigned bytes = 0;

			v[0] = plain(tiny_number(&w, &bytes), zigzag);
			v[1] = plain(tiny_number(&w, &bytes), zigzag);
			v[2] = plain(tiny_number(&w, &bytes), zigzag);
			v[3] = plain(tiny_number(&w, &bytes), zigzag);
			v += 4;
			p += bytes;
		} else if (!(more & more << 8 & (more & more << 8) << 16)) {
			unsigned bytes = 0;

			/* Where no number is longer than four bytes, at least two. */
			v[0] = plain(four_bytes(&w, &bytes), zigzag);
			v[1] = plain(four_bytes(&w, &bytes), zigzag);
			v += 2;
			p += bytes;
		} else if (~more & 0x8080808080808080) {
			unsigned bytes;

			*v++ = plain(short_number(w, &bytes), zigzag);
			p += bytes;
		} else {
			struct nsx_unread in = { p, s->end };
			uint64_t x;

			if (!nsx_get_varint(&in, &x))
				return false;
			*v++ = plain(x, zigzag);
			p = in.p;
		}
	}
	for (s->p = p; v < end; v++) {
		uint64_t x;

		if (!nsx_get_varint(s, &x))
			return false;
		*v = plain(x, zigzag);
	}
	return true;
}

bool
nsx_get_numbers(struct nsx_unread *s, uint64_t *v, size_t n)
{
	return get_list(s, v, n, false);
}

bool
nsx_get_signed(struct nsx_unread *s, uint64_t *v, size_t n)
{
	return get_list(s, v, n, true);
}

bool
nsx_get_numbers32(struct nsx_unread *s, uint32_t *v, size_t n, uint32_t max)
{
	struct nsx_unread in = *s;
	uint64_t x = 0;
	size_t i = 0;

	while (i < n) {
		/* Usually numbers of one byte, many in a row. */
		while (n - i >= 16 && in.end - in.p >= 16 && single_bytes(&in, 16)) {
			for (size_t k = 0; k < 16; k += 4) {
				v[i + k] = in.p[k];
				v[i + k + 1] = in.p[k + 1];
				v[i + k + 2] = in.p[k + 2];
				v[i + k + 3] = in.p[k + 3];
			}
			in.p += 16;
			i += 16;
		}
		for (size_t part = n - i < 16 ? n : i + 16; i < part; i++) {
			if (!(in.end - in.p >= 8 ? next_number(&in, &x) : nsx_get_varint(&in, &x)))
				return false;
			if (x > max)
				return false;
			v[i] = (uint32_t)x;
		}
	}
	*s = in;
	return true;
}
