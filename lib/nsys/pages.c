/* pages.c -- see pages.h. No byte of the file is trusted: each offset and length is held against the page before use, rowids must
 * rise, and no more pages are visited than there are.
 *
 *   leaf      0x0D, -, -, cells (2 bytes), -, -, -, -, offsets of cells (2 bytes each)
 *   cell      varint payload bytes, varint rowid, payload (the rest of a long one is elsewhere: left to SQLite)
 *   interior  0x05, -, -, cells, -, -, -, -, last child (4), offsets of cells
 *   cell      child (4), varint the highest rowid in it
 *   payload   varint header bytes, a varint type for each column, values */
#include "nsys/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 20, BLOCK = 1 << 17, LEAF = 0x0D, INTERIOR = 0x05 };

struct walk {
	const struct nsx_pages_table *t;
	const struct nsx_db_scan     *scan;
	struct nsx_pages_walk        *w;
	int            fd;
	uint32_t       page, usable, npages, visits;
	unsigned char *block;                 /* pages read ahead */
	uint32_t       first, held;           /* which */
	unsigned char *level[MAX_DEPTH];      /* the interior pages on the way down */
	bool           no_memory;
	bool           begun;                 /* a row was given */
	struct nsx_cell cells[NSX_DB_MAX_COLS];
};

enum step { GO_ON, STOP };

static inline uint32_t
be16(const unsigned char *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t
be32(const unsigned char *p)
{
	return be16(p) << 16 | be16(p + 2);
}

/* A varint that begins before end; what follows it, NULL if it does not end in time. */
static inline const unsigned char *
varint(const unsigned char *p, const unsigned char *end, uint64_t *v)
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

/* Read pages from `first` on, n if there are as many and room is. */
static bool
fetch(struct walk *k, uint32_t first, uint32_t n)
{
	size_t got = 0;

	if (n > BLOCK / k->page)
		n = BLOCK / k->page;
	if (n > k->npages - first + 1)
		n = k->npages - first + 1;
	k->held = 0;
	while (got < (size_t)n * k->page) {
		ssize_t r = pread(k->fd, k->block + got, (size_t)n * k->page - got, (off_t)(first - 1) * k->page + (off_t)got);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		got += (size_t)r;
	}
	k->first = first;
	k->held = n;
	return true;
}

static inline bool
is_held(const struct walk *k, uint32_t no)
{
	return no >= k->first && no - k->first < k->held;
}

/* Page number `no`, valid until the next call; `ahead` more are likely to be wanted after it. NULL: there is none. */
static const unsigned char *
get_page(struct walk *k, uint32_t no, uint32_t ahead)
{
	if (no < 2 || no > k->npages || k->visits++ > k->npages)
		return NULL;
	if (!is_held(k, no) && !fetch(k, no, 1 + ahead))
		return NULL;
	return k->block + (size_t)(no - k->first) * k->page;
}

static const uint8_t sizes[12] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0 };

static inline int64_t
integer(const unsigned char *p, uint32_t size)
{
	uint64_t v = (uint64_t)(int64_t)(int8_t)p[0];

	for (uint32_t i = 1; i < size; i++)
		v = v << 8 | p[i];
	return (int64_t)v;
}

static inline void
set_cell(struct nsx_cell *c, uint64_t type, const unsigned char *p, uint64_t size)
{
	if (type == 0)
		c->type = NSX_CELL_NULL;
	else if (type <= 6)
		*c = (struct nsx_cell){ NSX_CELL_INT, integer(p, (uint32_t)size), NULL };
	else if (type == 8 || type == 9)
		*c = (struct nsx_cell){ NSX_CELL_INT, (int64_t)type - 8, NULL };
	else if (type >= 13 && (type & 1))
		*c = (struct nsx_cell){ NSX_CELL_TEXT, (int64_t)size, (const char *)p };
	else
		c->type = NSX_CELL_OTHER;
}

/* The payload's values into k->cells: false if it is not what it should be. */
static inline bool
decode(struct walk *k, const unsigned char *p, const unsigned char *end)
{
	const unsigned char *type_at, *types_end, *value;
	uint64_t header, type;
	int i = 0;

	type_at = varint(p, end, &header);
	if (!type_at || header > (uint64_t)(end - p) || p + header < type_at)
		return false;
	types_end = value = p + header;
	for (; i < k->t->nstored && type_at < types_end; i++) {
		type_at = varint(type_at, types_end, &type);
		if (!type_at)
			return false;
		uint64_t size = type < 12 ? sizes[type] : (type - 12) / 2;
		if (size > (uint64_t)(end - value) || type == 10 || type == 11)
			return false;
		if (k->t->slot[i] >= 0)
			set_cell(&k->cells[k->t->slot[i]], type, value, size);
		value += size;
	}
	/* Columns that were added after the row was. */
	for (; i < k->t->nstored; i++)
		if (k->t->slot[i] >= 0)
			k->cells[k->t->slot[i]].type = NSX_CELL_NULL;
	return true;
}

static enum step
read_leaf(struct walk *k, const unsigned char *page)
{
	const unsigned char *end = page + k->usable;
	uint32_t n = be16(page + 3);

	if (8 + 2 * n > k->usable)
		return STOP;
	for (uint32_t i = 0; i < n; i++) {
		const unsigned char *p = page + be16(page + 8 + 2 * i);
		uint64_t bytes, id;

		if (p >= end || !(p = varint(p, end, &bytes)) || !(p = varint(p, end, &id)))
			return STOP;
		int64_t rowid = (int64_t)id;
		if (rowid < k->w->lo) {
			/* Before the first that is wanted; once rows were given, rowids fall only in a damaged file. */
			if (k->begun)
				return STOP;
			continue;
		}
		if (rowid > k->w->hi) {
			k->w->done = true;
			return STOP;
		}
		if (bytes > k->usable - 35) {
			k->w->lo = rowid;
			k->w->single = true;
			return STOP;
		}
		if (bytes > (uint64_t)(end - p) || !decode(k, p, p + bytes))
			return STOP;
		if (k->t->rowid_slot >= 0)
			k->cells[k->t->rowid_slot] = (struct nsx_cell){ NSX_CELL_INT, rowid, NULL };
		if (k->scan->cells(k->scan->ctx, k->cells) != NSX_OK) {
			k->w->failed = true;
			return STOP;
		}
		if (rowid == k->w->hi) {
			k->w->done = true;
			return STOP;
		}
		k->w->lo = rowid + 1;
		k->begun = true;
	}
	return GO_ON;
}

/* Child i of an interior page, and the highest rowid in it: false if there is none such. The child after the last cell's may hold
 * anything. */
static bool
get_child(const struct walk *k, const unsigned char *page, uint32_t i, uint32_t n, uint32_t *no, int64_t *highest)
{
	const unsigned char *end = page + k->usable;
	uint64_t key;

	*highest = INT64_MAX;
	if (i == n) {
		*no = be32(page + 8);
		return true;
	}
	uint32_t at = be16(page + 12 + 2 * i);
	if (at + 4 > k->usable || !varint(page + at + 4, end, &key))
		return false;
	*no = be32(page + at);
	*highest = (int64_t)key;
	return true;
}

/* How many children from i on lie on pages one after the other. */
static uint32_t
run_of(const struct walk *k, const unsigned char *page, uint32_t i, uint32_t n)
{
	uint32_t first = 0, no, run = 0;
	int64_t highest;

	get_child(k, page, i, n, &first, &highest);
	while (run < BLOCK / k->page && i + run + 1 <= n && highest < k->w->hi && get_child(k, page, i + run + 1, n, &no, &highest)
	       && no == first + run + 1)
		run++;
	return run;
}

static enum step
visit(struct walk *k, uint32_t no, int depth, uint32_t ahead)
{
	const unsigned char *page = get_page(k, no, ahead);

	if (!page || depth == MAX_DEPTH)
		return STOP;
	if (page[0] == LEAF)
		return read_leaf(k, page);
	if (page[0] != INTERIOR)
		return STOP;
	uint32_t n = be16(page + 3);
	if (12 + 2 * n > k->usable)
		return STOP;
	unsigned char *own = k->level[depth];
	if (!own)
		own = k->level[depth] = malloc(k->page);
	if (!own) {
		k->no_memory = true;
		return STOP;
	}
	memcpy(own, page, k->page);
	for (uint32_t i = 0; i <= n; i++) {
		uint32_t child;
		int64_t highest;

		if (!get_child(k, own, i, n, &child, &highest))
			return STOP;
		if (highest < k->w->lo)
			continue;
		if (visit(k, child, depth + 1, is_held(k, child) ? 0 : run_of(k, own, i, n)) == STOP)
			return STOP;
		if (highest >= k->w->hi)
			break;
	}
	return GO_ON;
}

bool
nsx_pages_read(const struct nsx_db *db, const struct nsx_pages_table *t, const struct nsx_db_scan *scan, struct nsx_pages_walk *w)
{
	struct walk k = { .t = t, .scan = scan, .w = w, .fd = db->fd, .page = db->page, .usable = db->usable };
	struct stat st;

	w->done = w->single = w->failed = false;
	if (!t->root || fstat(db->fd, &st) != 0)
		return true;
	uint64_t npages = (uint64_t)st.st_size / k.page;
	k.npages = npages < UINT32_MAX - 1 ? (uint32_t)npages : UINT32_MAX - 1;
	k.block = malloc(BLOCK);
	if (!k.block)
		return false;
	if (visit(&k, t->root, 0, 0) == GO_ON)
		w->done = true;
	for (int i = 0; i < MAX_DEPTH; i++)
		free(k.level[i]);
	free(k.block);
	return !k.no_memory;
}
