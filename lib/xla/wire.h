/* wire.h -- protobuf's wire format: fields are walked one by one, and small messages are unpacked from no more than
 * they declare. Private to lib/xla. */
#ifndef NSX_XLA_WIRE_H
#define NSX_XLA_WIRE_H

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "xla/dumpfile.h"

enum nsx_wire_type { NSX_WIRE_VARINT = 0, NSX_WIRE_64 = 1, NSX_WIRE_LEN = 2, NSX_WIRE_32 = 5 };

/* A part of a dump. */
struct nsx_extent { uint64_t off, len; };

/* A walk over the fields of the message at pos .. end; set f, pos and end, then call nsx_wire_next. */
struct nsx_wire {
	struct nsx_dumpfile *f;
	uint64_t             pos, end;
	/* The current field. */
	uint32_t             field;
	enum nsx_wire_type   type;
	uint64_t             value;   /* of NSX_WIRE_VARINT */
	struct nsx_extent      span;    /* of the other types: the position of the bytes */
};

static inline struct nsx_wire
nsx_wire(struct nsx_dumpfile *f, struct nsx_extent span)
{
	return (struct nsx_wire){ .f = f, .pos = span.off, .end = span.off + span.len };
}

/* nsx_wire_next for any field. */
int nsx_wire_any(struct nsx_wire *w);

/* The next field: NSX_OK, NSX_EOF at the end, NSX_ERR with f->err filled when these are not fields. The bytes of a
 * field that is skipped are not read. */
static inline int
nsx_wire_next(struct nsx_wire *w)
{
	enum { REACH = 5 };   /* bytes of a tag and of a number or length: most have no more than two and three */
	const struct nsx_dumpfile *f = w->f;
	uint64_t left = w->end - w->pos, at = w->pos - f->start;

	if (!left)
		return NSX_EOF;
	if (w->pos < f->start || at > f->have || f->have - at < REACH)
		return nsx_wire_any(w);
	const unsigned char *p = f->window + at;
	uint32_t tag = p[0], k = 1, v;
	if (tag >= 0x80) {
		tag = (tag & 0x7f) | (uint32_t)p[1] << 7;
		k = 2;
	}
	v = p[k];
	if (v >= 0x80) {
		v = (v & 0x7f) | (uint32_t)p[++k] << 7;
		if (v >= 1 << 14)
			v = (v & 0x3fff) | (uint32_t)p[++k] << 14;
	}
	k++;
	/* A tag of field 0, longer varints, another type, the end: all handled by the general function. */
	if (tag >= 1 << 14 || v >= 1 << 21 || tag < 8 || k > left)
		return nsx_wire_any(w);
	w->field = tag >> 3;
	w->type = (enum nsx_wire_type)(tag & 7);
	if (w->type == NSX_WIRE_VARINT) {
		w->value = v;
		w->pos += k;
		return NSX_OK;
	}
	if (w->type != NSX_WIRE_LEN || v > left - k)
		return nsx_wire_any(w);
	w->span = (struct nsx_extent){ w->pos + k, v };
	w->pos += k + v;
	return NSX_OK;
}

/* The bytes of span, of the current field or an earlier one; NULL with f->err filled if they cannot be read or exceed
 * the limit of a message. Valid as those of nsx_dumpfile_at. */
const unsigned char *nsx_wire_bytes(const struct nsx_wire *w, struct nsx_extent span);

/* Numbers of a repeated field. {0} is empty; free(v.p) ends it. */
struct nsx_ints { int64_t *p; size_t n, cap; };

/* Append the numbers of the current field, one or many packed. NSX_OK, NSX_ERR with f->err filled. The field
 * is a varint or has a length. */
int nsx_wire_ints(const struct nsx_wire *w, struct nsx_ints *out);

/* Unpacks messages. Set f; {0} else. */
struct nsx_unpacker {
	struct nsx_dumpfile *f;
	struct nsx_arena     arena;     /* what the last message points to */
	struct nsx_buf       sieved;
	int64_t              clashes;   /* fields dropped since the start because their wire type was another than
	                                 * declared */
	int                  depth;
};

/* The message at span. It lives until the next call. Unknown fields are skipped, and known fields of an unexpected wire
 * type are dropped and counted; protobuf-c by itself would copy the former and reject the message because of the
 * latter. NULL with f->err filled: damaged, nested too deep, too large, out of memory. */
void *nsx_unpack_message(struct nsx_unpacker *u, struct nsx_extent span, const ProtobufCMessageDescriptor *d);
void nsx_unpacker_free(struct nsx_unpacker *u);

static inline struct nsx_str
nsx_str_pb(ProtobufCBinaryData b)
{
	return (struct nsx_str){ (const char *)b.data, b.len };
}

#endif
