/* link.c -- the reader's record is a copy of the values that were written; their texts stay where the writer has
 * them. */
#include "stream/link.h"

#include <stdlib.h>
#include <string.h>

#include "stream/codec.h"

struct nsx_link {
	struct nsx_reader    *in;
	nsx_link_step        *step;
	void                 *state;
	const struct nsx_put *put;      /* of the record that was written and not read; NULL: there is none */
	const struct nsx_rec *rec;
	bool                  ended;
};

/* How the columns of a header are found in the records that are written, and where they are in those that are read. */
struct way {
	const struct nsx_met *met;
	unsigned              matches;    /* for which it holds */
	bool                  straight;   /* the slots are the same */
	uint8_t               to[NSX_MAX_COLS];   /* of each slot that is written, the one that is read */
};

/* ---- the writer ---- */

static int
link_begin(struct nsx_writer *w)
{
	(void)w;
	return NSX_OK;
}

static int
link_header(struct nsx_writer *w, struct nsx_put *p)
{
	struct nsx_link *l = w->state;
	struct way *way = nsx_arena_alloc(&w->arena, sizeof *way);

	if (!way)
		return nsx_err_nomem(w->err, w->name);
	*way = (struct way){ .matches = UINT32_MAX };
	p->state = way;
	way->met = nsx_reader_declare(l->in, nsx_str_c(p->name), p->cols, (size_t)p->ncols);
	return way->met ? NSX_OK : NSX_ERR;
}

static void
find_way(struct way *way, const struct nsx_put *p)
{
	way->matches = p->matches;
	way->straight = true;
	for (int i = 0; i < p->ncols; i++) {
		if (p->from[i] == NSX_NO_SLOT)
			continue;
		way->to[p->from[i]] = way->met->kind->order[i];
		way->straight &= p->from[i] == way->met->kind->order[i];
	}
}

static int
link_record(struct nsx_writer *w, struct nsx_put *p, const struct nsx_rec *rec)
{
	struct nsx_link *l = w->state;
	struct way *way = p->state;

	if (way->matches != p->matches)
		find_way(way, p);
	l->put = p;
	l->rec = rec;
	return l->step(l->state);
}

static int
link_end(struct nsx_writer *w, struct nsx_put *p)
{
	struct nsx_link *l = w->state;

	(void)p;
	l->ended = true;
	return l->step(l->state);
}

static void
link_free(struct nsx_writer *w)
{
	(void)w;
}

static const struct nsx_encoder link_encoder = { link_begin, link_header, link_record, link_end, link_free };

/* ---- the reader ---- */

static int
link_next(struct nsx_reader *r, struct nsx_rec *rec)
{
	struct nsx_link *l = r->state;

	if (!l->put)
		return l->ended ? NSX_EOF : nsx_reader_cut(r);
	const struct way *way = l->put->state;
	rec->kind = way->met->kind;
	rec->has = 0;
	if (way->straight && l->rec->has) {
		rec->has = l->rec->has;
		memcpy(r->v, l->rec->v, (size_t)(64 - __builtin_clzll(rec->has)) * sizeof *r->v);
	}
	for (uint64_t has = way->straight ? 0 : l->rec->has; has; has &= has - 1) {
		int slot = __builtin_ctzll(has);

		r->v[way->to[slot]] = l->rec->v[slot];
		rec->has |= 1ULL << way->to[slot];
	}
	l->put = NULL;
	return NSX_OK;
}

static int
link_start(struct nsx_reader *r)
{
	(void)r;
	return NSX_OK;
}

static void
link_where(struct nsx_reader *r)
{
	nsx_buf_fmt(&r->place, "%s: record %lld", r->name, (long long)r->records);
}

static void
link_close(struct nsx_reader *r)
{
	(void)r;
}

static const struct nsx_decoder link_decoder = { link_start, link_next, link_where, link_close };

/* ---- both ---- */

struct nsx_link *
nsx_link_new(const char *name, unsigned flags, struct nsx_err *err)
{
	struct nsx_link *l = calloc(1, sizeof *l);

	if (l)
		l->in = nsx_reader_mem(NULL, 0, name, flags, err);
	if (!l || !l->in) {
		free(l);
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	l->in->dec = &link_decoder;
	l->in->state = l;
	return l;
}

struct nsx_reader *
nsx_link_reader(struct nsx_link *l)
{
	return l->in;
}

struct nsx_writer *
nsx_link_writer(struct nsx_link *l, nsx_link_step *each, void *state, struct nsx_err *err)
{
	l->step = each;
	l->state = state;
	return nsx_writer_of(&link_encoder, l, "standard output", err);
}

void
nsx_link_free(struct nsx_link *l)
{
	free(l);
}
