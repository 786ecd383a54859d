/* pack.c -- records as bytes: kind and presence, then the present values in order of slots: numbers, then strings, each
 * its length and its bytes. Nothing is aligned. */
#include "stream/pack.h"

#include <string.h>

struct head { const struct nsx_kind *kind; uint64_t has; };

/* The lowest slot in `has`, which is removed from it. */
static inline int
next_slot(uint64_t *has)
{
	int slot = __builtin_ctzll(*has);

	*has &= *has - 1;
	return slot;
}

static inline uint64_t
strings_of(const struct nsx_kind *k)
{
	return k->print ? k->strings : nsx_kind_strings(k);
}

void
nsx_pack(struct nsx_buf *b, const struct nsx_rec *rec)
{
	struct head h = { rec->kind, rec->has };
	uint64_t strings = rec->has & strings_of(rec->kind);
	size_t most = sizeof h + NSX_MAX_COLS * sizeof(uint64_t);
	char *p;

	for (uint64_t has = strings; has;)
		most += rec->v[next_slot(&has)].s.len;
	if (!nsx_buf_room(b, most))
		return;
	p = b->ptr + b->len;
	memcpy(p, &h, sizeof h);
	p += sizeof h;
	for (uint64_t has = rec->has & ~strings; has; p += sizeof rec->v->i)
		memcpy(p, &rec->v[next_slot(&has)].i, sizeof rec->v->i);
	for (uint64_t has = strings; has;) {
		struct nsx_str s = rec->v[next_slot(&has)].s;

		memcpy(p, &s.len, sizeof s.len);
		memcpy(p + sizeof s.len, s.ptr, s.len);
		p += sizeof s.len + s.len;
	}
	b->len = (size_t)(p - b->ptr);
}

const char *
nsx_unpack(const char *p, struct nsx_rec *rec, union nsx_val *v)
{
	struct head h;
	uint64_t strings;

	memcpy(&h, p, sizeof h);
	p += sizeof h;
	*rec = (struct nsx_rec){ h.kind, h.has, v };
	strings = h.has & strings_of(h.kind);
	for (uint64_t has = h.has & ~strings; has; p += sizeof v->i)
		memcpy(&v[next_slot(&has)].i, p, sizeof v->i);
	for (uint64_t has = strings; has;) {
		struct nsx_str *s = &v[next_slot(&has)].s;

		memcpy(&s->len, p, sizeof s->len);
		s->ptr = p + sizeof s->len;
		p = s->ptr + s->len;
	}
	return p;
}
