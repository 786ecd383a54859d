/* spill.c -- a queue of records: they are returned in the order in which they were added.
 *
 *     taken here -> spool, spool, ... spool  memory <- added here
 *
 * Memory holds the newest. When they exceed the limit they move to the last spool if that is not being read yet, else
 * to a new one. */
#include "stream/spill.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "stream/pack.h"
#include "stream/spool.h"

/* A temporary file: written while `spool`, read while `reader`. */
struct part { struct nsx_spool *spool; struct nsx_reader *reader; };

struct nsx_hold {
	struct nsx_err *err;
	size_t          limit;
	struct nsx_buf  mem;      /* records from `head` on */
	size_t          head;
	NSX_VEC(struct part) parts;
	size_t          first;    /* of parts, the oldest not yet read completely */
	union nsx_val   v[NSX_MAX_COLS];
};

struct nsx_hold *
nsx_hold_new(size_t limit, struct nsx_err *err)
{
	struct nsx_hold *h = calloc(1, sizeof *h);

	if (!h) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	h->err = err;
	h->limit = limit;
	return h;
}

static void
part_close(struct part *p)
{
	nsx_reader_close(p->reader);
	nsx_spool_free(p->spool);
	*p = (struct part){ 0 };
}

void
nsx_hold_free(struct nsx_hold *h)
{
	if (!h)
		return;
	while (h->first < h->parts.n)
		part_close(&h->parts.p[h->first++]);
	free(h->parts.p);
	nsx_buf_free(&h->mem);
	free(h);
}

/* The spool that is being written. */
static struct nsx_spool *
last_spool(struct nsx_hold *h)
{
	if (h->first < h->parts.n && !h->parts.p[h->parts.n - 1].reader)
		return h->parts.p[h->parts.n - 1].spool;
	struct nsx_spool *s = nsx_spool_open(h->err);
	if (s && !nsx_vec_push(&h->parts, ((struct part){ s, NULL }))) {
		nsx_err_nomem(h->err, NULL);
		nsx_spool_free(s);
		s = NULL;
	}
	return s;
}

static int
spill(struct nsx_hold *h)
{
	struct nsx_spool *s = last_spool(h);
	const char *p = h->mem.ptr + h->head, *end = h->mem.ptr + h->mem.len;
	struct nsx_rec rec;

	if (!s)
		return NSX_ERR;
	while (p < end) {
		p = nsx_unpack(p, &rec, h->v);
		if (nsx_spool_write(s, &rec) != NSX_OK)
			return NSX_ERR;
	}
	h->head = h->mem.len = 0;
	return NSX_OK;
}

int
nsx_hold_push(struct nsx_hold *h, const struct nsx_rec *rec)
{
	/* Moving the rest costs no more than removing the records before it did. */
	if (h->head > h->mem.len - h->head) {
		memmove(h->mem.ptr, h->mem.ptr + h->head, h->mem.len - h->head);
		h->mem.len -= h->head;
		h->head = 0;
	}
	nsx_pack(&h->mem, rec);
	if (h->mem.failed)
		return nsx_err_nomem(h->err, NULL);
	return h->mem.len - h->head > h->limit ? spill(h) : NSX_OK;
}

/* The next record of the oldest spool; NSX_EOF after its last one. */
static int
pop_part(struct nsx_hold *h, struct nsx_rec *rec)
{
	struct part *p = &h->parts.p[h->first];
	int rc;

	if (!p->reader)
		p->reader = nsx_spool_reader(p->spool);
	if (!p->reader)
		return NSX_ERR;
	rc = nsx_read(p->reader, rec);
	if (rc == NSX_EOF) {
		part_close(p);
		h->first++;
	}
	return rc;
}

int
nsx_hold_pop(struct nsx_hold *h, struct nsx_rec *rec)
{
	int rc;

	while (h->first < h->parts.n)
		if ((rc = pop_part(h, rec)) != NSX_EOF)
			return rc;
	h->first = h->parts.n = 0;
	if (h->head == h->mem.len)
		return NSX_EOF;
	h->head = (size_t)(nsx_unpack(h->mem.ptr + h->head, rec, h->v) - h->mem.ptr);
	return NSX_OK;
}
