/* pack.c -- records as bytes: kind and presence, then the present values in order of slots; a string is its length and
 * its bytes. Nothing is aligned. */
#include "stream/pack.h"

#include <string.h>

struct head { const struct nsx_kind *kind; uint64_t has; };

/* The lowest slot in `has`, which is removed from it. */
static int
next_slot(uint64_t *has)
{
	int slot = __builtin_ctzll(*has);

	*has &= *has - 1;
	return slot;
}

/* The maximum number of bytes of rec. */
static size_t
size_of(const struct nsx_rec *rec)
{
	size_t size = sizeof(struct head);

	for (uint64_t has = rec->has; has;) {
		int slot = next_slot(&has);

		size += sizeof(uint64_t);
		if (rec->kind->cols[slot].type == 's')
			size += rec->v[slot].s.len;
	}
	return size;
}

void
nsx_pack(struct nsx_buf *b, const struct nsx_rec *rec)
{
	struct head h = { rec->kind, rec->has };

	if (!nsx_buf_room(b, size_of(rec)))
		return;
	char *p = b->ptr + b->len;
	memcpy(p, &h, sizeof h);
	p += sizeof h;
	for (uint64_t has = rec->has; has;) {
		int slot = next_slot(&has);

		if (rec->kind->cols[slot].type == 's') {
			struct nsx_str s = rec->v[slot].s;

			memcpy(p, &s.len, sizeof s.len);
			memcpy(p + sizeof s.len, s.ptr, s.len);
			p += sizeof s.len + s.len;
		} else {
			memcpy(p, &rec->v[slot].i, sizeof rec->v[slot].i);
			p += sizeof rec->v[slot].i;
		}
	}
	b->len = (size_t)(p - b->ptr);
}

const char *
nsx_unpack(const char *p, struct nsx_rec *rec, union nsx_val *v)
{
	struct head h;

	memcpy(&h, p, sizeof h);
	p += sizeof h;
	*rec = (struct nsx_rec){ h.kind, h.has, v };
	for (uint64_t has = h.has; has;) {
		int slot = next_slot(&has);

		if (h.kind->cols[slot].type == 's') {
			memcpy(&v[slot].s.len, p, sizeof v[slot].s.len);
			v[slot].s.ptr = p + sizeof v[slot].s.len;
			p = v[slot].s.ptr + v[slot].s.len;
		} else {
			memcpy(&v[slot], p, sizeof v[slot].i);
			p += sizeof v[slot].i;
		}
	}
	return p;
}
