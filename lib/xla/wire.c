/* wire.c -- protobuf's wire format: fields are walked one by one, and small messages are unpacked from no more than
 * they declare. */
#include "xla/wire.h"

#include <inttypes.h>

enum {
	VARINT_MAX = 10,              /* bytes */
	DEPTH_MAX = 64,               /* nested messages; XLA's own reader stops at 100 */
	SIEVED_MAX = 16 << 20,        /* bytes of one message; unpacked it needs many times as much */
	LENGTH_BYTES = 5              /* of a length that is filled in later; leading zeros are allowed */
};

/* ---- walking */

/* The varint at p, of at most n bytes: its length, 0 if there is none. */
static size_t
varint(const unsigned char *p, size_t n, uint64_t *v)
{
	if (n && p[0] < 0x80) {
		*v = p[0];
		return 1;
	}
	/* The length of most ids. */
	if (n > 2 && p[1] >= 0x80 && p[2] < 0x80) {
		*v = (uint64_t)(p[0] & 0x7f) | (uint64_t)(p[1] & 0x7f) << 7 | (uint64_t)p[2] << 14;
		return 3;
	}
	*v = 0;
	for (size_t i = 0; i < n && i < VARINT_MAX; i++) {
		*v |= (uint64_t)(p[i] & 0x7f) << (7 * i);
		if (p[i] < 0x80)
			return i + 1;
	}
	return 0;
}

static int
damaged(const struct nsx_wire *w, const char *what)
{
	return nsx_err_set(w->f->err, "%s: byte %" PRIu64 ": not a dump, or damaged: %s", w->f->path, w->pos, what);
}

int
nsx_wire_any(struct nsx_wire *w)
{
	uint64_t tag, len;

	if (w->pos == w->end)
		return NSX_EOF;
	size_t n = w->end - w->pos < 2 * VARINT_MAX ? (size_t)(w->end - w->pos) : 2 * VARINT_MAX;
	const unsigned char *p = nsx_dumpfile_at(w->f, w->pos, n);
	if (!p)
		return NSX_ERR;
	size_t k = varint(p, n, &tag);
	if (!k)
		return damaged(w, n < VARINT_MAX ? "cut short" : "want a tag");
	if (tag >> 3 == 0 || tag >> 32)
		return damaged(w, "no such field number");
	w->field = (uint32_t)(tag >> 3);
	w->type = (enum nsx_wire_type)(tag & 7);
	size_t more;
	switch (w->type) {
	case NSX_WIRE_VARINT:
		more = varint(p + k, n - k, &w->value);
		if (!more)
			return damaged(w, n - k < VARINT_MAX ? "cut short" : "a number without an end");
		w->pos += k + more;
		return NSX_OK;
	case NSX_WIRE_LEN:
		more = varint(p + k, n - k, &len);
		if (!more)
			return damaged(w, n - k < VARINT_MAX ? "cut short" : "a length without an end");
		k += more;
		break;
	case NSX_WIRE_64: len = 8; break;
	case NSX_WIRE_32: len = 4; break;
	default:
		return damaged(w, "no such wire type");
	}
	if (len > w->end - w->pos - k) {
		if (len > w->f->size - w->pos - k)
			return nsx_err_set(w->f->err, "%s: cut short, or not a dump: byte %" PRIu64 " announces %"
			                   PRIu64 " bytes, only %" PRIu64 " are there",
			                   w->f->path, w->pos, len, w->f->size - w->pos - k);
		return damaged(w, "a field longer than its message");
	}
	w->span = (struct nsx_extent){ w->pos + k, len };
	w->pos += k + len;
	return NSX_OK;
}

/* ---- the sieve: copies a message without the fields that its descriptor does not have */

static enum nsx_wire_type
wire_type(ProtobufCType t)
{
	switch (t) {
	case PROTOBUF_C_TYPE_STRING: case PROTOBUF_C_TYPE_BYTES: case PROTOBUF_C_TYPE_MESSAGE:
		return NSX_WIRE_LEN;
	case PROTOBUF_C_TYPE_SFIXED64: case PROTOBUF_C_TYPE_FIXED64: case PROTOBUF_C_TYPE_DOUBLE:
		return NSX_WIRE_64;
	case PROTOBUF_C_TYPE_SFIXED32: case PROTOBUF_C_TYPE_FIXED32: case PROTOBUF_C_TYPE_FLOAT:
		return NSX_WIRE_32;
	default:
		return NSX_WIRE_VARINT;
	}
}

static void
put_varint(struct nsx_buf *b, uint64_t v)
{
	unsigned char p[VARINT_MAX];
	size_t n = 0;

	do {
		p[n] = (unsigned char)((v & 0x7f) | (v >= 0x80 ? 0x80 : 0));
		v >>= 7;
		n++;
	} while (v);
	nsx_buf_add(b, p, n);
}

/* Whether the n bytes at p are complete varints. */
static bool
varints(const unsigned char *p, size_t n)
{
	size_t run = 0;

	for (size_t i = 0; i < n; i++) {
		run++;
		if (run > VARINT_MAX)
			return false;
		if (p[i] < 0x80)
			run = 0;
	}
	return run == 0;
}

const unsigned char *
nsx_wire_bytes(const struct nsx_wire *w, struct nsx_extent span)
{
	if (span.len > SIEVED_MAX) {
		nsx_err_set(w->f->err, "%s: byte %" PRIu64 ": field %" PRIu32 " of %" PRIu64 " bytes, want at most %d",
		            w->f->path, span.off, w->field, span.len, SIEVED_MAX);
		return NULL;
	}
	return nsx_dumpfile_at(w->f, span.off, (size_t)span.len);
}

int
nsx_wire_ints(const struct nsx_wire *w, struct nsx_ints *out)
{
	uint64_t v;

	if (w->type == NSX_WIRE_VARINT)
		return nsx_vec_push(out, (int64_t)w->value) ? NSX_OK : nsx_dumpfile_nomem(w->f);
	const unsigned char *p = nsx_wire_bytes(w, w->span);
	if (!p)
		return NSX_ERR;
	for (size_t i = 0, n = (size_t)w->span.len; i < n;) {
		size_t k = varint(p + i, n - i, &v);
		if (!k)
			return damaged(w, "packed numbers run past their end");
		if (!nsx_vec_push(out, (int64_t)v))
			return nsx_dumpfile_nomem(w->f);
		i += k;
	}
	return NSX_OK;
}

static int
sieve_bytes(struct nsx_unpacker *u, const struct nsx_wire *w, enum nsx_wire_type element)
{
	const unsigned char *p = nsx_wire_bytes(w, w->span);
	if (!p)
		return NSX_ERR;
	if (element == NSX_WIRE_VARINT && !varints(p, (size_t)w->span.len))
		return damaged(w, "packed numbers run past their end");
	if (w->type == NSX_WIRE_LEN)
		put_varint(&u->sieved, w->span.len);
	nsx_buf_add(&u->sieved, p, (size_t)w->span.len);
	return NSX_OK;
}

static int sieve(struct nsx_unpacker *u, struct nsx_extent span, const ProtobufCMessageDescriptor *d);

static int
sieve_message(struct nsx_unpacker *u, struct nsx_extent span, const ProtobufCMessageDescriptor *d)
{
	size_t at = u->sieved.len;

	nsx_buf_add(&u->sieved, "\0\0\0\0\0", LENGTH_BYTES);
	if (sieve(u, span, d) != NSX_OK)
		return NSX_ERR;
	if (u->sieved.failed)
		return nsx_dumpfile_nomem(u->f);
	size_t len = u->sieved.len - at - LENGTH_BYTES;
	for (int i = 0; i < LENGTH_BYTES; i++, len >>= 7)
		u->sieved.ptr[at + (size_t)i] = (char)((len & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
	return NSX_OK;
}

static int
sieve(struct nsx_unpacker *u, struct nsx_extent span, const ProtobufCMessageDescriptor *d)
{
	struct nsx_wire w = nsx_wire(u->f, span);
	int rc;

	if (++u->depth > DEPTH_MAX)
		return nsx_err_set(u->f->err, "%s: byte %" PRIu64 ": messages nested more than %d deep", u->f->path,
		                   span.off, DEPTH_MAX);
	while ((rc = nsx_wire_next(&w)) == NSX_OK) {
		const ProtobufCFieldDescriptor *fd = protobuf_c_message_descriptor_get_field(d, w.field);
		if (!fd)
			continue;
		enum nsx_wire_type want = wire_type(fd->type);
		bool packed = w.type == NSX_WIRE_LEN && want != NSX_WIRE_LEN && fd->label == PROTOBUF_C_LABEL_REPEATED;
		if (w.type != want && !packed) {
			u->clashes++;
			continue;
		}
		put_varint(&u->sieved, (uint64_t)w.field << 3 | w.type);
		if (w.type == NSX_WIRE_VARINT)
			put_varint(&u->sieved, w.value);
		else if (fd->type == PROTOBUF_C_TYPE_MESSAGE)
			rc = sieve_message(u, w.span, fd->descriptor);
		else
			rc = sieve_bytes(u, &w, packed ? want : NSX_WIRE_LEN);
		if (rc == NSX_OK && u->sieved.len > SIEVED_MAX)
			rc = nsx_err_set(u->f->err, "%s: byte %" PRIu64 ": a message of more than %d bytes", u->f->path,
			                 span.off, SIEVED_MAX);
		if (rc != NSX_OK)
			return rc;
	}
	u->depth--;
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

/* ---- protobuf-c */

static void *
allocate(void *arena, size_t n)
{
	return nsx_arena_alloc(arena, n);
}

static void
release(void *arena, void *p)
{
	(void)arena;
	(void)p;
}

void *
nsx_unpack_message(struct nsx_unpacker *u, struct nsx_extent span, const ProtobufCMessageDescriptor *d)
{
	ProtobufCAllocator a = { allocate, release, &u->arena };

	u->sieved.len = 0;
	u->depth = 0;
	nsx_arena_reset(&u->arena);
	nsx_buf_room(&u->sieved, 1);
	if (sieve(u, span, d) != NSX_OK)
		return NULL;
	if (u->sieved.failed) {
		nsx_dumpfile_nomem(u->f);
		return NULL;
	}
	void *m = protobuf_c_message_unpack(d, &a, u->sieved.len, (const uint8_t *)u->sieved.ptr);
	/* The sieve passes only what protobuf-c can decode, so it fails only for lack of memory. */
	if (!m)
		nsx_dumpfile_nomem(u->f);
	return m;
}

void
nsx_unpacker_free(struct nsx_unpacker *u)
{
	nsx_arena_free(&u->arena);
	nsx_buf_free(&u->sieved);
}
