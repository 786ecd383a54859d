/* pager.c -- pages of an export, read ahead; see tree.h. */
#include "nsys/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
nsx_pager_open(struct nsx_pager *r, const struct nsx_db *db, uint32_t npages)
{
	*r = (struct nsx_pager){ .db = db, .npages = npages, .block = malloc(NSX_PAGER_BLOCK + NSX_PAGE_SLACK) };
	return r->block != NULL;
}

void
nsx_pager_close(struct nsx_pager *r)
{
	free(r->block);
	free(r->far);
}

static int
read_pages(const struct nsx_db *db, const char *table, unsigned char *to, uint32_t first, uint32_t n,
           struct nsx_err *err)
{
	size_t got = 0, all = (size_t)n * db->page;

	while (got < all) {
		ssize_t k = pread(db->fd, to + got, all - got, (off_t)(first - 1) * db->page + (off_t)got);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return nsx_err_set(err, "%s: %s", db->path, strerror(errno));
		if (k == 0)
			return nsx_tree_broken(db, table, first, err, "it is beyond the end of the file");
		got += (size_t)k;
	}
	return NSX_OK;
}

const unsigned char *
nsx_pager_page(struct nsx_pager *r, const char *table, uint32_t no, uint32_t ahead, struct nsx_err *err)
{
	if (!nsx_pager_holds(r, no)) {
		uint32_t n = 1 + ahead;

		if (n > NSX_PAGER_BLOCK / r->db->page)
			n = NSX_PAGER_BLOCK / r->db->page;
		if (n > r->npages - no + 1)
			n = r->npages - no + 1;
		r->held = 0;
		if (read_pages(r->db, table, r->block, no, n, err) != NSX_OK)
			return NULL;
		r->first = no;
		r->held = n;
	}
	return r->block + (size_t)(no - r->first) * r->db->page;
}

const unsigned char *
nsx_pager_far(struct nsx_pager *r, const char *table, uint32_t no, uint32_t *next, struct nsx_err *err)
{
	if (!r->far && !(r->far = malloc(r->db->page))) {
		nsx_err_nomem(err, r->db->path);
		return NULL;
	}
	if (no < 2 || no > r->npages) {
		nsx_tree_broken(r->db, table, no, err, "a text continues there, and there is no such page");
		return NULL;
	}
	if (read_pages(r->db, table, r->far, no, 1, err) != NSX_OK)
		return NULL;
	*next = nsx_be32(r->far);
	return r->far + 4;
}
