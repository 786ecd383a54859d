/* pass.c -- blocks of a binary stream that are copied unchanged. While the records of a block are read, those that are
 * passed on are noted; after the last one the block is copied whole, or is decoded whole and those records are written
 * one by one, or it is dropped. */
#include "stream/pass.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "stream/binary.h"
#include "stream/codec.h"
#include "stream/fields.h"

/* Blocks of fewer records are not copied whole after records that wait to be written: otherwise blocks would become
 * smaller with each filter of a pipeline. */
enum { SMALL = NSX_BLOCK_ROWS / 4 };

/* A value given to a record of the current block. */
struct given { size_t row; int slot; int64_t value; };

struct nsx_pass {
	struct nsx_reader *in;
	struct nsx_writer *out;
	struct nsx_err    *err;
	bool    looked;          /* the records of the current block lack columns; those passed on are noted */
	int64_t first;           /* records of the stream before the block */
	size_t  kept;            /* noted */
	size_t  agreed;          /* this many first kinds have equal numbers and columns in both streams */
	NSX_VEC(struct given) given;
	uint64_t keep[NSX_BLOCK_MAX_ROWS / 64];
};

struct nsx_pass *
nsx_pass_new(struct nsx_reader *in, struct nsx_writer *out, struct nsx_err *err)
{
	struct nsx_pass *p = calloc(1, sizeof *p);

	if (!p) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	p->in = in;
	p->out = out;
	p->err = err;
	return p;
}

void
nsx_pass_free(struct nsx_pass *p)
{
	if (p)
		free(p->given.p);
	free(p);
}

void
nsx_look(struct nsx_reader *in, const struct nsx_writer *out, const uint64_t columns[NSX_NKINDS + 1])
{
	static const enum nsx_role times[] = { NSX_ROLE_START, NSX_ROLE_DUR, NSX_ROLE_HOST_START, NSX_ROLE_HOST_DUR };

	if (in->dec != &nsx_binary_decoder || (out && out->enc != &nsx_binary_encoder))
		return;
	for (enum nsx_kind_id k = 0; k <= NSX_NKINDS; k++) {
		in->look[k] = columns[k];
		if (k == NSX_NKINDS)
			break;
		/* The times that the reader uses: those of the GPU, for kinds without these those of the host. */
		bool host = nsx_field(k, NSX_ROLE_START) < 0;
		in->look[k] |= nsx_order_columns(k);
		for (int i = host ? 2 : 0; i < (host ? 4 : 2); i++)
			if (nsx_field(k, times[i]) >= 0)
				in->look[k] |= 1ULL << nsx_field(k, times[i]);
	}
	in->looks = true;
}

void
nsx_pass_look(struct nsx_pass *p, const uint64_t columns[NSX_NKINDS + 1])
{
	nsx_look(p->in, p->out, columns);
}

/* ---- a block that was read ---- */

static bool
same_kind(const struct nsx_met *met, const struct nsx_put *put)
{
	const struct nsx_kind *k = met->kind;

	if (strcmp(k->name, put->name) != 0 || put->ncols < met->n)
		return false;
	for (int i = 0; i < met->n; i++)
		if (!nsx_str_eq(nsx_str_c(k->cols[k->order[i]].name), put->cols[i].name)
		    || met->type[i] != put->cols[i].type)
			return false;
	return true;
}

/* Whether the block's kinds have the same numbers and columns in both streams. */
static bool
agrees(struct nsx_pass *p, const struct nsx_block *b)
{
	while (p->agreed < p->in->met.n && p->agreed < p->out->puts.n
	       && same_kind(p->in->met.p[p->agreed], p->out->puts.p[p->agreed]))
		p->agreed++;
	for (size_t i = 0; i < b->nruns; i++)
		if (b->kinds[i] >= p->agreed)
			return false;
	return true;
}

static int
pass_whole(struct nsx_pass *p, const struct nsx_block *b)
{
	struct nsx_writer *w = p->out;

	if (nsx_binary_put_block(w, b->message) != NSX_OK) {
		w->failed = true;
		return NSX_ERR;
	}
	w->records += (int64_t)b->rows;
	for (size_t i = 0; i < b->nruns; i++)
		w->puts.p[b->kinds[i]]->records += (int64_t)b->counts[i];
	return NSX_OK;
}

static int
pass_some(struct nsx_pass *p, size_t rows)
{
	struct nsx_rec rec;

	if (nsx_binary_again(p->in) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0, next = 0; i < rows; i++) {
		if (p->in->dec->next(p->in, &rec) != NSX_OK)
			return NSX_ERR;
		for (; next < p->given.n && p->given.p[next].row == i; next++)
			nsx_set_i(&rec, p->given.p[next].slot, p->given.p[next].value);
		if (p->keep[i / 64] >> i % 64 & 1 && nsx_write(p->out, &rec) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

/* All records of the current block have been read. */
static int
end_block(struct nsx_pass *p, const struct nsx_block *b)
{
	struct nsx_writer *w = p->out;

	p->looked = false;
	if (!p->kept)
		return NSX_OK;
	if (w->failed || nsx_writer_catch_up(w) != NSX_OK)
		return NSX_ERR;
	if (p->kept == b->rows && !p->given.n && agrees(p, b) && (b->rows >= SMALL || !nsx_binary_waiting(w)))
		return pass_whole(p, b);
	return pass_some(p, b->rows);
}

/* ---- records ---- */

int
nsx_pass_read(struct nsx_pass *p, struct nsx_rec *rec)
{
	struct nsx_reader *r = p->in;
	struct nsx_block b;
	int rc;

	if (p->looked && nsx_binary_done(r)) {
		b = nsx_binary_block(r);
		if (end_block(p, &b) != NSX_OK)
			return NSX_ERR;
	}
	rc = nsx_read(r, rec);
	if (rc != NSX_OK || p->looked || !r->looks)
		return rc;
	/* Maybe the first record of a block. */
	b = nsx_binary_block(r);
	if (b.looked && r->records == b.first + 1) {
		p->looked = true;
		p->first = b.first;
		p->kept = 0;
		p->given.n = 0;
		memset(p->keep, 0, (b.rows + 63) / 64 * sizeof *p->keep);
	}
	return NSX_OK;
}

int
nsx_pass_on(struct nsx_pass *p, const struct nsx_rec *rec)
{
	if (!p->looked)
		return nsx_write(p->out, rec);
	size_t i = (size_t)(p->in->records - p->first - 1);

	p->kept++;
	p->keep[i / 64] |= 1ULL << i % 64;
	return NSX_OK;
}

int
nsx_pass_on_with(struct nsx_pass *p, struct nsx_rec *rec, int slot, int64_t value)
{
	nsx_set_i(rec, slot, value);
	if (p->looked && !nsx_vec_push(&p->given, ((struct given){ (size_t)(p->in->records - p->first - 1), slot,
	                                                          value })))
		return nsx_err_nomem(p->err, NULL);
	return nsx_pass_on(p, rec);
}
