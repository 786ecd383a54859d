/* binary.h -- declarations shared by reading and writing of the binary encoding: field numbers, limits, predicted
 * values; private to lib/stream. The layout is in protos/nsysx.proto, its meaning in docs/format.md, "Binary". */
#ifndef NSX_STREAM_BINARY_H
#define NSX_STREAM_BINARY_H

#include "base/str.h"
#include "stream/kinds.h"

enum nsx_field {
	STREAM_HEADER = 1, STREAM_BLOCK = 2, STREAM_END = 3,
	HEADER_MAGIC = 1, HEADER_VERSION = 2,
	END_RECORDS = 1,
	BLOCK_KIND = 1, BLOCK_ORDER_KINDS = 2, BLOCK_ORDER_COUNTS = 3, BLOCK_STRINGS = 4, BLOCK_RECORDS = 5,
	KIND_NAME = 1, KIND_COLUMN = 2,
	COLUMN_NAME = 1, COLUMN_TYPE = 2,
	STRINGS_BACK = 1, STRINGS_SHARED = 2, STRINGS_LENGTH = 3, STRINGS_TEXT = 4,
	RECORDS_KIND = 1, RECORDS_KEY = 2, RECORDS_COLUMN = 3,
	KEY_COLUMNS = 1,
	VALUES_COLUMN = 1, VALUES_PRESENCE = 2, VALUES_BASE = 3, VALUES_OF = 4, VALUES_KEY = 5, VALUES_PLUS = 6,
	VALUES_MINUS = 7, VALUES_FIRST = 8, VALUES_DIFFERENCES = 9, VALUES_RUN_DIFFERENCES = 10, VALUES_RUN_COUNTS = 11,
	VALUES_DOUBLES = 12
};

enum nsx_tag_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

enum nsx_base { BASE_ZERO, BASE_SAME, BASE_LAST, BASE_LAST_OR_TOP, BASE_TOP, NSX_NBASES };

enum {
	NSX_BLOCK_ROWS     = 8192,        /* records of a block as we write it, except the last one */
	NSX_BLOCK_FULL     = 4 << 20,     /* bytes of strings that also end a block */
	NSX_BLOCK_MAX_ROWS = 65536,       /* maximum that a reader accepts */
	NSX_BLOCK_MAX      = 320 << 20,   /* bytes of a block, and of its strings together */
	NSX_MAX_KEYS       = 8,
	NSX_MAGIC_BYTES    = 9            /* 0A nn 0A 05 'nsysx' */
};

/* Whether a binary stream begins with these bytes; nn is arbitrary. */
bool nsx_binary_magic(const char *p, size_t n);

static inline uint64_t nsx_zig(uint64_t v) { return v << 1 ^ (0 - (v >> 63)); }
static inline uint64_t nsx_zag(uint64_t u) { return u >> 1 ^ (0 - (u & 1)); }

/* How the values of a column are predicted: all sums wrap. Arrays have a value per record, 0 where it is absent. */
struct nsx_expect {
	enum nsx_base   base;
	const uint64_t *of;             /* SAME */
	const int32_t  *last;           /* LAST...: the record each value's base is in, -1 if none; NULL: the record
	                                 * before */
	const uint64_t *plus, *minus;   /* NULL if not used */
	uint64_t        first;
};

/* The prediction for row r of v. top: one more than the maximum so far (as signed), or first. */
static inline uint64_t
nsx_expected(const struct nsx_expect *e, const uint64_t *v, size_t r, uint64_t top)
{
	uint64_t x;
	int64_t at = (int64_t)r;

	switch (e->base) {
	case BASE_SAME:
		x = e->of[r];
		break;
	case BASE_LAST: case BASE_LAST_OR_TOP:
		at = e->last ? e->last[r] : at - 1;
		if (at < 0)
			return e->base == BASE_LAST ? e->first : top;
		x = v[at];
		break;
	case BASE_TOP:
		return top;
	default:
		return 0;
	}
	if (e->plus)
		x += e->plus[at];
	if (e->minus)
		x -= e->minus[at];
	return x;
}

/* The records of a key: prev[r] is the last one before r that agrees with it in all of cols, -1 if none. table is
 * scratch of nsx_key_slots(rows) numbers. */
size_t nsx_key_slots(size_t rows);
void nsx_key_prev(const uint64_t *const *cols, int ncols, size_t rows, int32_t *prev, int32_t *table);

/* For each record, the last such record that has a value: bit `bit` of has[r] is set if record r has one. prev NULL:
 * the record before. */
void nsx_key_present(const int32_t *prev, const uint64_t *has, int bit, size_t rows, int32_t *last);

#endif
