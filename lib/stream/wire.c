/* wire.c -- protobuf's wire format, by hand. No length is believed before it is checked against the bytes there. */
#include "stream/wire.h"

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

void
nsx_put_list(struct nsx_buf *b, unsigned field, const uint64_t *v, size_t n, struct nsx_buf *tmp)
{
	tmp->len = 0;
	if (n == 0 || !nsx_buf_room(tmp, n * NSX_VARINT_MAX))
		return;
	char *p = tmp->ptr;
	for (size_t i = 0; i < n; i++)
		p = nsx_varint_at(p, v[i]);
	tmp->len = (size_t)(p - tmp->ptr);
	nsx_put_bytes(b, field, nsx_buf_view(tmp));
}

void
nsx_put_list32(struct nsx_buf *b, unsigned field, const uint32_t *v, size_t n, struct nsx_buf *tmp)
{
	tmp->len = 0;
	if (n == 0 || !nsx_buf_room(tmp, n * NSX_VARINT_MAX))
		return;
	char *p = tmp->ptr;
	for (size_t i = 0; i < n; i++)
		p = nsx_varint_at(p, v[i]);
	tmp->len = (size_t)(p - tmp->ptr);
	nsx_put_bytes(b, field, nsx_buf_view(tmp));
}

bool
nsx_get_varint(struct nsx_span *s, uint64_t *v)
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
nsx_get_field(struct nsx_span *s, struct nsx_wire_field *f)
{
	uint64_t tag, n;

	if (s->p == s->end)
		return 0;
	if (!nsx_get_varint(s, &tag) || tag >> 3 == 0 || tag >> 32 != 0)
		return -1;
	f->field = (unsigned)(tag >> 3);
	f->wire = tag & 7;
	f->number = 0;
	f->bytes = (struct nsx_span){ s->p, s->p };
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
	f->bytes = (struct nsx_span){ s->p, s->p + n };
	s->p += n;
	return 1;
}

size_t
nsx_list_count(struct nsx_span s)
{
	size_t n = 0;

	/* Every number ends with the one byte below 0x80. */
	if (s.p != s.end && s.end[-1] >= 0x80)
		return SIZE_MAX;
	for (; s.p < s.end; s.p++)
		n += *s.p < 0x80;
	return n;
}

/* One number; four bytes at least are there. */
static inline bool
next_number(struct nsx_span *s, uint64_t *v)
{
	const unsigned char *p = s->p;

	if (p[0] < 0x80) {
		*v = p[0];
		s->p += 1;
	} else if (p[1] < 0x80) {
		*v = (p[0] & 0x7fU) | (unsigned)p[1] << 7;
		s->p += 2;
	} else if (p[2] < 0x80) {
		*v = (p[0] & 0x7fU) | (p[1] & 0x7fU) << 7 | (unsigned)p[2] << 14;
		s->p += 3;
	} else {
		return nsx_get_varint(s, v);
	}
	return true;
}

bool
nsx_get_numbers(struct nsx_span *s, uint64_t *v, size_t n)
{
	size_t i = 0;

	for (; i < n && s->end - s->p >= 4; i++)
		if (!next_number(s, &v[i]))
			return false;
	for (; i < n; i++)
		if (!nsx_get_varint(s, &v[i]))
			return false;
	return true;
}

bool
nsx_get_signed(struct nsx_span *s, uint64_t *v, size_t n)
{
	struct nsx_span in = *s;
	uint64_t x = 0;
	size_t i = 0;

	for (; i < n && in.end - in.p >= 4; i++) {
		if (!next_number(&in, &x))
			return false;
		v[i] = nsx_zag(x);
	}
	for (; i < n; i++) {
		if (!nsx_get_varint(&in, &x))
			return false;
		v[i] = nsx_zag(x);
	}
	*s = in;
	return true;
}
