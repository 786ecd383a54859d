/* page_format.h -- the encoding of a page of a b-tree in SQLite's file format: numbers, cells, types of records. The
 * rules that a page has to follow are checked by page_rules.c and tree.c. Private to lib/nsys.
 *
 *   leaf      0x0D, first free block (2 bytes), cells (2), start of content (2), fragments (1), offsets of cells
 *             (2 each)
 *   interior  0x05, the same, last child (4), offsets of cells
 *   content   cells, free blocks and fragments, from its start to the end of the page, in any order
 *   free      offset of the next free block (2), bytes (2), ...; blocks are linked in order of offset
 *   cell      of a leaf: varint payload bytes, varint rowid, payload, or its begin and the first overflow page (4)
 *             of an interior page: child (4), varint the highest rowid in it
 *   overflow  the next page (4), 0 at the end; payload */
#ifndef NSX_NSYS_PAGE_FORMAT_H
#define NSX_NSYS_PAGE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The first byte of a page, behind the header of the file on page 1. */
enum {
	NSX_PAGE_INDEX_INTERIOR = 0x02, NSX_PAGE_INTERIOR = 0x05, NSX_PAGE_INDEX_LEAF = 0x0A, NSX_PAGE_LEAF = 0x0D,
	NSX_FILE_HEADER = 100   /* bytes */
};

static inline uint32_t
nsx_be16(const unsigned char *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t
nsx_be32(const unsigned char *p)
{
	return nsx_be16(p) << 16 | nsx_be16(p + 2);
}

/* A varint that begins before end; returns the position after it, NULL if it does not end before end. */
static inline const unsigned char *
nsx_varint(const unsigned char *p, const unsigned char *end, uint64_t *v)
{
	if (p < end && *p < 0x80) {
		*v = *p;
		return p + 1;
	}
	*v = 0;
	for (int i = 0; i < 8; i++, p++) {
		if (p >= end)
			return NULL;
		*v = *v << 7 | (*p & 0x7f);
		if (*p < 0x80)
			return p + 1;
	}
	if (p >= end)
		return NULL;
	*v = *v << 8 | *p;
	return p + 1;
}

/* Size of a value of this type; the types 10 and 11 do not occur in files. */
static inline uint64_t
nsx_value_size(uint64_t type)
{
	static const uint8_t sizes[12] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0 };

	return type < 12 ? sizes[type] : (type - 12) / 2;
}

/* Check the remaining types of a record, after `have` of them, against the bytes available for their values and the
 * columns of the table: the values must fill the bytes exactly. */
static inline bool
nsx_record_rest(const unsigned char *types, const unsigned char *end, uint64_t bytes, uint32_t have, uint32_t columns)
{
	uint64_t taken = 0, type;

	/* Eight columns that are NULL, as often occur after the last one needed. */
	for (uint64_t eight; end - types >= 8 && (memcpy(&eight, types, 8), eight == 0); types += 8)
		have += 8;
	for (; types < end; have++) {
		if (*types < 0x80) {
			taken += nsx_value_size(*types++);
			continue;
		}
		types = nsx_varint(types, end, &type);
		if (!types || (type - 12) / 2 > bytes)
			return false;
		taken += (type - 12) / 2;
	}
	return taken == bytes && have <= columns;
}

/* The maximum payload of a leaf cell without overflow pages. */
static inline uint32_t
nsx_most_local(uint32_t usable)
{
	return usable - 35;
}

/* For a payload of this size in a leaf, how many bytes are in the cell. */
static inline uint32_t
nsx_local(uint32_t usable, uint64_t bytes)
{
	if (bytes <= nsx_most_local(usable))
		return (uint32_t)bytes;
	uint32_t least = (usable - 12) * 32 / 255 - 23;
	uint32_t k = least + (uint32_t)((bytes - least) % (usable - 4));

	return k <= nsx_most_local(usable) ? k : least;
}

/* Bytes of the cell at `at`, which is in the content; 0: it does not end in the page. A cell takes at least 4 bytes,
 * because it may become a free block. */
static inline uint32_t
nsx_leaf_cell(const unsigned char *page, uint32_t usable, uint32_t at, uint64_t *bytes, int64_t *rowid)
{
	const unsigned char *cell = page + at, *end = page + usable, *p;
	uint64_t id;

	if (!(p = nsx_varint(cell, end, bytes)) || !(p = nsx_varint(p, end, &id)))
		return 0;
	*rowid = (int64_t)id;
	uint32_t size = (uint32_t)(p - cell) + (*bytes <= nsx_most_local(usable) ? (uint32_t)*bytes
	                                        : nsx_local(usable, *bytes) + 4);
	if (size < 4)
		size = 4;
	return size <= usable - at ? size : 0;
}

/* The same for a cell of an interior page, of which 4 bytes are in the page. */
static inline uint32_t
nsx_interior_cell(const unsigned char *page, uint32_t usable, uint32_t at, int64_t *highest)
{
	uint64_t key;
	const unsigned char *p = nsx_varint(page + at + 4, page + usable, &key);

	if (!p)
		return 0;
	*highest = (int64_t)key;
	return (uint32_t)(p - page) - at;
}

#endif
