/* binary.c -- functions shared by reading and writing of the binary encoding: which records are alike. */
#include "stream/binary.h"

#include <string.h>

#include "base/map.h"

bool
nsx_binary_magic(const char *p, size_t n)
{
	return n >= NSX_MAGIC_BYTES && p[0] == 0x0a && memcmp(p + 2, "\x0a\x05nsysx", 7) == 0;
}

size_t
nsx_key_slots(size_t rows)
{
	size_t n = 16;

	while (n < rows * 2)
		n *= 2;
	return n;
}

/* The highest bit that is set in any number of v. */
static unsigned
width(const uint64_t *v, size_t n)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < n; i++)
		bits |= v[i];
	return bits ? 64 - (unsigned)__builtin_clzll(bits) : 0;
}

/* The same for one or two columns of small numbers, which are used as indices into the table: false if they are not
 * small. */
static bool
prev_small(const uint64_t *const *cols, int ncols, size_t rows, int32_t *prev, int32_t *table)
{
	size_t slots = nsx_key_slots(rows);
	unsigned low = ncols < 3 ? width(cols[0], rows) : 64, high = ncols == 2 && low < 32 ? width(cols[1], rows) : 0;

	if (low >= 32 || high >= 32 || 1ULL << (low + high) > slots)
		return false;
	memset(table, 0xff, (1ULL << (low + high)) * sizeof *table);
	for (size_t r = 0; r < rows; r++) {
		size_t i = ncols == 2 ? (size_t)(cols[0][r] | cols[1][r] << low) : (size_t)cols[0][r];

		prev[r] = table[i];
		table[i] = (int32_t)r;
	}
	return true;
}

void
nsx_key_prev(const uint64_t *const *cols, int ncols, size_t rows, int32_t *prev, int32_t *table)
{
	size_t mask = nsx_key_slots(rows) - 1;

	if (prev_small(cols, ncols, rows, prev, table))
		return;
	memset(table, 0xff, (mask + 1) * sizeof *table);
	for (size_t r = 0; r < rows; r++) {
		uint64_t h = 0;

		for (int c = 0; c < ncols; c++)
			h = nsx_hash_u64(h ^ cols[c][r]);
		size_t i = h & mask;
		for (; table[i] >= 0; i = (i + 1) & mask) {
			int c = 0;

			while (c < ncols && cols[c][table[i]] == cols[c][r])
				c++;
			if (c == ncols)
				break;
		}
		prev[r] = table[i];
		table[i] = (int32_t)r;
	}
}

void
nsx_key_present(const int32_t *prev, const uint64_t *has, int bit, size_t rows, int32_t *last)
{
	for (size_t r = 0; r < rows; r++) {
		int32_t p = prev ? prev[r] : (int32_t)r - 1;

		last[r] = p < 0 || has[p] >> bit & 1 ? p : last[p];
	}
}
