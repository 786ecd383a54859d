/* kinds.h -- the record model: kinds, columns, values. All of it is declared in kinds.def. */
#ifndef NSX_STREAM_KINDS_H
#define NSX_STREAM_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

NSX_BEGIN_C

/* NSX_PROFILE, NSX_DEVICE, ...; NSX_NKINDS means any unknown kind. */
enum nsx_kind_id {
#define KIND(id, name, meaning) NSX_##id,
#define COL(id, name, type, unit, role, meaning)
#include "stream/kinds.def"
#undef KIND
#undef COL
	NSX_NKINDS
};

/* Slots: NSX_THUNK_start is the slot of start in a thunk record. They count from 0 in each kind. */
#define KIND(id, name, meaning) NSX_##id##_FIRST_, NSX_##id##_BASE_ = NSX_##id##_FIRST_ - 1,
#define COL(id, name, type, unit, role, meaning) NSX_##id##_##name##_SEQ_,
enum nsx_slot_seq_ {
	NSX_SEQ_ZERO_,
#include "stream/kinds.def"
};
#undef KIND
#undef COL
#define KIND(id, name, meaning)
#define COL(id, name, type, unit, role, meaning) NSX_##id##_##name = NSX_##id##_##name##_SEQ_ - NSX_##id##_BASE_ - 1,
enum nsx_slot {
#include "stream/kinds.def"
	NSX_SLOTS_END_ = 64
};
#undef KIND
#undef COL

/* Slots as bits of a number. */
#define NSX_C(kind, column) (1ULL << NSX_##kind##_##column)
#define NSX_EVERY UINT64_MAX

enum {
	NSX_MAX_COLS  = 64,    /* columns of one kind in one stream */
	NSX_MAX_KINDS = 1000   /* kinds of one stream, except `end` */
};

struct nsx_col {
	const char *name;
	char        type;      /* 'i', 'f' or 's' */
	const char *unit;      /* "" if none; NULL for an unknown column */
	const char *meaning;   /* NULL for an unknown column */
};

/* A kind of one stream. Known columns are at their enum's slots for any order of the header (and also if it lacks
 * them); unknown columns follow. `order` lists the slots that the stream's header has, in its order. */
struct nsx_kind {
	enum nsx_kind_id id;
	const char      *name;
	const char      *meaning;   /* NULL if unknown */
	int              nslots;
	const struct nsx_col *cols; /* nslots of them */
	int              ncols;
	uint8_t          order[NSX_MAX_COLS];
	uint64_t         print;     /* hash of name, columns and order; 0 in a kind made outside lib/stream */
	uint64_t         strings;    /* slots whose values are strings; with print */
	uint64_t         unasked;    /* slots that nsx_reader_need (stream/reader.h) did not declare */
};

/* The kind as this version writes it, all columns in order. One object for the whole process: readers return this
 * pointer for streams with the same header. */
const struct nsx_kind *nsx_kind_builtin(enum nsx_kind_id id);

/* The slots whose values are strings, found by the types of columns. */
uint64_t nsx_kind_strings(const struct nsx_kind *k);

/* The known kind of that name, NSX_NKINDS if there is none. */
enum nsx_kind_id nsx_kind_find(struct nsx_str name);

/* The slot of the column of that name, -1 if the kind has none (known columns: also if this stream's header lacks
 * it). */
int nsx_kind_slot(const struct nsx_kind *k, struct nsx_str column);

/* Whether the stream's header of k has the column in that slot. */
bool nsx_kind_has(const struct nsx_kind *k, int slot);

/* Replaces a number that a record does not have; no record written by nsysx has it as a value. */
#define NSX_ABSENT INT64_MIN

/* A value; the column's type determines the member. Strings are never empty: those are absent. */
union nsx_val { int64_t i; double f; struct nsx_str s; };

/* One record. `v` has NSX_MAX_COLS slots; bit n of `has` says that slot n holds a value, otherwise v[n] is
 * undefined. */
struct nsx_rec {
	const struct nsx_kind *kind;
	uint64_t               has;
	union nsx_val         *v;
};

/* Receives records one after the other; the caller owns them, and they are valid until it returns. NSX_OK or
 * NSX_ERR. */
typedef int nsx_take_fn(void *state, const struct nsx_rec *rec);

/* With NSX_CHECK_NEEDS (make asan) a program that reads a column that it did not declare is stopped. */
static inline bool
nsx_has(const struct nsx_rec *r, int slot)
{
#ifdef NSX_CHECK_NEEDS
	if (r->kind->unasked >> slot & 1)
		__builtin_trap();
#endif
	return r->has >> slot & 1;
}
static inline void nsx_set_i(struct nsx_rec *r, int slot, int64_t i) { r->v[slot].i = i; r->has |= 1ULL << slot; }
static inline void nsx_set_f(struct nsx_rec *r, int slot, double f) { r->v[slot].f = f; r->has |= 1ULL << slot; }
/* Setting the empty string makes the value absent. */
static inline void
nsx_set_s(struct nsx_rec *r, int slot, struct nsx_str s)
{
	r->v[slot].s = s;
	r->has = (r->has & ~(1ULL << slot)) | (uint64_t)(s.len > 0) << slot;
}
static inline void nsx_clear(struct nsx_rec *r, int slot) { r->has &= ~(1ULL << slot); }
/* The value, or `otherwise` if it is absent. */
static inline int64_t nsx_int(const struct nsx_rec *r, int slot, int64_t otherwise) { return nsx_has(r, slot)
	? r->v[slot].i : otherwise; }
static inline struct nsx_str nsx_string(const struct nsx_rec *r, int slot) { return nsx_has(r, slot) ? r->v[slot].s
	: (struct nsx_str){ "", 0 }; }

NSX_END_C

#endif
