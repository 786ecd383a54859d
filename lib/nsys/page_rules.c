/* page_rules.c -- what has to hold within one page, and is checked as SQLite's own integrity check does. */
#include "nsys/tree.h"

#include <inttypes.h>

int
nsx_page_check_head(const struct nsx_db *db, const char *table, uint32_t no, const unsigned char *page,
                    struct nsx_page_head *d, struct nsx_err *err)
{
	d->h = page + (no == 1 ? NSX_FILE_HEADER : 0);
	d->page = no;
	d->array = (no == 1 ? NSX_FILE_HEADER : 0) + (d->h[0] == NSX_PAGE_LEAF ? 8 : 12);
	d->cells = nsx_be16(d->h + 3);
	d->content = nsx_be16(d->h + 5);
	if (!d->content)
		d->content = 65536;
	if (d->content > db->usable || d->array + 2 * d->cells > d->content)
		return nsx_tree_broken(db, table, no, err, "%" PRIu32 " cells do not go before the content at %" PRIu32,
		                       d->cells, d->content);
	return NSX_OK;
}

/* Mark bytes at..at+n-1; false if one is marked already. */
static bool
claim(uint64_t *map, uint32_t at, uint32_t n)
{
	for (uint32_t i = at; i < at + n; ) {
		uint32_t bit = i % 64, k = 64 - bit < at + n - i ? 64 - bit : at + n - i;
		uint64_t mask = (k == 64 ? ~UINT64_C(0) : (UINT64_C(1) << k) - 1) << bit;

		if (map[i / 64] & mask)
			return false;
		map[i / 64] |= mask;
		i += k;
	}
	return true;
}

int
nsx_page_check_cover(const struct nsx_db *db, const char *table, const unsigned char *page,
                     const struct nsx_page_head *d, struct nsx_err *err)
{
	uint64_t map[65536 / 64] = { 0 }, bytes;
	uint32_t sum = d->content, size, at, next;
	int64_t rowid;

	for (uint32_t i = 0; i < d->cells; i++) {
		at = nsx_be16(page + d->array + 2 * i);
		size = d->h[0] == NSX_PAGE_LEAF ? nsx_leaf_cell(page, db->usable, at, &bytes, &rowid)
		                                : nsx_interior_cell(page, db->usable, at, &rowid);
		if (!claim(map, at, size))
			return nsx_tree_broken(db, table, d->page, err, "cells overlap at byte %" PRIu32, at);
		sum += size;
	}
	for (at = nsx_be16(d->h + 1); at; at = next) {
		if (at < d->content || at + 4 > db->usable)
			return nsx_tree_broken(db, table, d->page, err, "a free block at byte %" PRIu32, at);
		next = nsx_be16(page + at);
		size = nsx_be16(page + at + 2);
		if (size < 4 || size > db->usable - at || (next && next <= at + size + 3))
			return nsx_tree_broken(db, table, d->page, err, "the free block at byte %" PRIu32 " has %"
			                       PRIu32 " bytes, the next begins at %"
			                       PRIu32, at, size, next);
		if (!claim(map, at, size))
			return nsx_tree_broken(db, table, d->page, err, "a free block overlaps cells at byte %" PRIu32,
			                       at);
		sum += size;
	}
	if (sum + d->h[7] != db->usable)
		return nsx_tree_broken(db, table, d->page, err, "%" PRIu32
		                       " bytes belong to no cell, but %u are counted",
		                       db->usable - sum, d->h[7]);
	return NSX_OK;
}
