/* call_book.c -- the CUDA calls whose operations have not all been read. */
#include "job/call_book.h"

#include <stdlib.h>

static struct nsx_key
key_of(int64_t profile, int64_t id)
{
	return (struct nsx_key){ (uint64_t)profile, (uint64_t)id };
}

/* The entry of the call, created if it is new; NULL when out of memory. */
static struct nsx_call_entry *
call_at(struct nsx_call_book *b, int64_t profile, int64_t id)
{
	uint32_t *at = nsx_map_at(&b->at, key_of(profile, id));
	struct nsx_call_entry new = { .profile = profile, .id = id, .left = INT64_MAX, .name = NSX_NONE,
	                              .mark = NSX_NONE };

	if (!at)
		return NULL;
	if (*at == NSX_NONE && b->unused.n) {
		*at = b->unused.p[--b->unused.n];
		new.place = *at;
		b->list.p[*at] = new;
	} else if (*at == NSX_NONE) {
		/* Reserve memory for every position to become unused, so that releasing one cannot fail. */
		new.place = (uint32_t)b->list.n;
		if (b->list.n >= NSX_NONE || !nsx_vec_room(&b->unused, b->list.n + 1) || !nsx_vec_push(&b->list, new))
			return NULL;
		*at = (uint32_t)(b->list.n - 1);
	}
	return &b->list.p[*at];
}

/* Remove a call; its entry is copied to *gone. */
static void
forget(struct nsx_call_book *b, struct nsx_call_entry *c, struct nsx_call_entry *gone)
{
	*gone = *c;
	nsx_map_del(&b->at, key_of(c->profile, c->id));
	b->unused.p[b->unused.n++] = (uint32_t)(c - b->list.p);
}

void
nsx_call_book_need(struct nsx_reader *in)
{
	nsx_reader_need(in, NSX_CALL, NSX_C(CALL, profile) | NSX_C(CALL, call) | NSX_C(CALL, ops) | NSX_C(CALL, name)
	                              | NSX_C(CALL, stalled) | NSX_C(CALL, loading));
	nsx_reader_need(in, NSX_OP, NSX_C(OP, profile) | NSX_C(OP, call));
}

int
nsx_call_book_add(struct nsx_call_book *b, const struct nsx_rec *call, struct nsx_call_entry *entry,
                  struct nsx_err *err)
{
	int64_t ops = nsx_int(call, NSX_CALL_ops, 0);
	struct nsx_call_entry *c;

	b->records++;
	*entry = (struct nsx_call_entry){ .early = 0 };
	if (ops <= 0)
		return NSX_OK;
	if ((nsx_has(call, NSX_CALL_stalled) || nsx_has(call, NSX_CALL_loading))
	    && nsx_map_number(&b->losses, (struct nsx_key){ (uint64_t)nsx_int(call, NSX_CALL_profile, NSX_ABSENT), 0 })
	    == NSX_NONE)
		return nsx_err_nomem(err, NULL);
	c = call_at(b, nsx_int(call, NSX_CALL_profile, NSX_ABSENT), nsx_int(call, NSX_CALL_call, NSX_ABSENT));
	if (!c)
		return nsx_err_nomem(err, NULL);
	c->left = ops > c->early ? ops - c->early : 0;
	c->stalled = nsx_int(call, NSX_CALL_stalled, 0);
	c->loading = nsx_int(call, NSX_CALL_loading, 0);
	if (nsx_has(call, NSX_CALL_name) && (c->name = nsx_intern(&b->names, call->v[NSX_CALL_name].s)) == NSX_NONE)
		return nsx_err_nomem(err, NULL);
	*entry = *c;
	if (c->left == 0)
		forget(b, c, entry);
	return NSX_OK;
}

struct nsx_call_entry *
nsx_call_book_of(struct nsx_call_book *b, const struct nsx_rec *op, int *rc, struct nsx_err *err)
{
	struct nsx_call_entry *c = NULL;

	*rc = NSX_OK;
	if (nsx_has(op, NSX_OP_call)) {
		c = call_at(b, nsx_int(op, NSX_OP_profile, NSX_ABSENT), op->v[NSX_OP_call].i);
		if (!c)
			*rc = nsx_err_nomem(err, NULL);
	}
	return c;
}

bool
nsx_call_book_done(struct nsx_call_book *b, struct nsx_call_entry *c, struct nsx_call_entry *gone)
{
	if (c->left == INT64_MAX) {
		c->early++;
		return false;
	}
	if (--c->left > 0)
		return false;
	forget(b, c, gone);
	return true;
}

void
nsx_call_book_free(struct nsx_call_book *b)
{
	nsx_intern_free(&b->names);
	free(b->list.p);
	free(b->unused.p);
	nsx_map_free(&b->at);
	nsx_map_free(&b->losses);
}
