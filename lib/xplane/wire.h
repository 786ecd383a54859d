/* wire.h -- protobuf's wire format in memory, field by field. */
#ifndef NSX_XPLANE_WIRE_H
#define NSX_XPLANE_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* A walk over the fields of a message. bad: where it cannot go on, and why: NULL while it can. */
struct nsx_xwire {
	const unsigned char *at, *end;
	uint32_t       field;
	uint64_t       value;        /* of a varint, or of 8 or 4 bytes */
	struct nsx_str bytes;        /* of a length-delimited field; else { NULL, 0 } */
	const unsigned char *bad;
	uint64_t       want, left;   /* a field of `want` bytes where `left` are left; 0, 0: another fault */
};

static inline struct nsx_xwire
nsx_xwire(struct nsx_str message)
{
	const unsigned char *at = (const unsigned char *)message.ptr;

	return (struct nsx_xwire){ .at = at, .end = at + message.len };
}

static inline bool
nsx_xwire_varint(struct nsx_xwire *w, uint64_t *v)
{
	if (w->at < w->end && *w->at < 128) {
		*v = *w->at++;
		return true;
	}
	*v = 0;
	for (int shift = 0; w->at < w->end && shift < 70; shift += 7) {
		unsigned char c = *w->at++;

		*v |= shift < 64 ? (uint64_t)(c & 127) << shift : 0;
		if (c < 128)
			return true;
	}
	return false;
}

/* The next field; false at the end, or with bad set. */
static inline bool
nsx_xwire_next(struct nsx_xwire *w)
{
	const unsigned char *from = w->at;
	uint64_t tag, n;

	if (w->bad || w->at >= w->end)
		return false;
	w->bytes = (struct nsx_str){ NULL, 0 };
	w->value = 0;
	if (!nsx_xwire_varint(w, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF)
		goto fail;
	w->field = (uint32_t)(tag >> 3);
	switch (tag & 7) {
	case 0:
		if (!nsx_xwire_varint(w, &w->value))
			goto fail;
		return true;
	case 2:
		if (!nsx_xwire_varint(w, &n))
			goto fail;
		break;
	case 1: n = 8; break;
	case 5: n = 4; break;
	default: goto fail;
	}
	if (n > (uint64_t)(w->end - w->at)) {
		w->want = n;
		w->left = (uint64_t)(w->end - w->at);
		goto fail;
	}
	if ((tag & 7) == 2)
		w->bytes = (struct nsx_str){ (const char *)w->at, (size_t)n };
	else
		for (uint64_t i = 0; i < n; i++)
			w->value |= (uint64_t)w->at[i] << 8 * i;
	w->at += n;
	return true;
fail:
	w->bad = from;
	return false;
}

#endif
