/* text_names.c -- the texts of the ranges that are left after projection, written out and made names: in parallel all
 * but the last step, which gives them their numbers, in order of ranges. */
#include <stdlib.h>
#include <string.h>

#include "base/par.h"
#include "nsys/load.h"

enum { CHUNK_RANGES = 1 << 16, ROUND = 32, CACHE = 1 << 14 };

struct text { uint64_t hash; size_t len; };

/* Ranges that are named together. */
struct chunk {
	struct nsx_range *r;
	uint32_t          n;
	NSX_VEC(struct text) texts;   /* nearly distinct */
	struct nsx_buf    bytes;      /* of all, one after the other */
	uint32_t         *names;      /* of each, in the trace */
	bool              failed;
};

struct round { struct nsx_loader *l; struct chunk *chunks; };

/* The table that holds a code; codes come in runs from one. */
static const struct nsx_part_texts *
table_of(const struct nsx_loader *l, uint32_t code, const struct nsx_part_texts *last)
{
	int lo = 0, hi = l->ntexts;

	if (last && code >= last->first && code - last->first < last->texts.codes.len)
		return last;
	while (hi - lo > 1) {
		int mid = lo + (hi - lo) / 2;
		if (l->texts[mid].first <= code)
			lo = mid;
		else
			hi = mid;
	}
	return &l->texts[lo];
}

/* Write out a text. Its number in the chunk, NSX_NONE when out of memory. */
static uint32_t
write_out(struct chunk *c, const struct nsx_texts *t, uint32_t code)
{
	size_t from = c->bytes.len;

	nsx_texts_get(t, code, &c->bytes);
	if (c->bytes.failed)
		return NSX_NONE;
	struct text x = { nsx_hash(c->bytes.ptr + from, c->bytes.len - from), c->bytes.len - from };
	return nsx_vec_push(&c->texts, x) ? (uint32_t)c->texts.n - 1 : NSX_NONE;
}

static void
write_task(void *ctx, int i)
{
	/* Codes met lately: most programs repeat themselves. */
	struct seen { uint64_t key; const struct nsx_part_texts *table; uint32_t text; } *seen = calloc(CACHE,
		sizeof *seen);
	const struct round *round = ctx;
	struct chunk *c = &round->chunks[i];
	const struct nsx_part_texts *table = NULL;

	c->failed = !seen;
	for (uint32_t k = 0; k < c->n && !c->failed; k++) {
		uint32_t code = c->r[k].name & ~NSX_NAME_TEXT;

		if (c->r[k].name == NSX_NONE || !(c->r[k].name & NSX_NAME_TEXT))
			continue;
		table = table_of(round->l, code, table);
		uint64_t key = nsx_texts_key(&table->texts, code - table->first);
		struct seen *s = &seen[nsx_hash_u64(key) % CACHE];
		if (!key || s->key != key || s->table != table)
			*s = (struct seen){ key, table, write_out(c, &table->texts, code - table->first) };
		c->r[k].name = NSX_NAME_TEXT | s->text;
		c->failed = s->text == NSX_NONE;
	}
	free(seen);
}

static bool
number(struct nsx_loader *l, struct chunk *c)
{
	enum { AHEAD = 8 };
	const char *s = c->bytes.ptr;

	c->names = malloc((c->texts.n + 1) * sizeof *c->names);
	if (!c->names)
		return false;
	for (size_t i = 0; i < c->texts.n; i++) {
		const struct text *x = &c->texts.p[i];

		if (i + AHEAD < c->texts.n)
			nsx_intern_expect(&l->t->names, x[AHEAD].hash);
		c->names[i] = nsx_intern_hashed(&l->t->names, (struct nsx_str){ s, x->len }, x->hash);
		if (c->names[i] == NSX_NONE)
			return false;
		s += x->len;
	}
	return true;
}

static void
name_task(void *ctx, int i)
{
	const struct round *round = ctx;
	struct chunk *c = &round->chunks[i];

	for (uint32_t k = 0; k < c->n; k++)
		if (c->r[k].name != NSX_NONE && (c->r[k].name & NSX_NAME_TEXT))
			c->r[k].name = c->names[c->r[k].name & ~NSX_NAME_TEXT];
}

static bool
name_round(struct nsx_loader *l, uint32_t first)
{
	struct chunk chunks[ROUND] = { { 0 } };
	struct round round = { l, chunks };
	int n = 0;
	bool good = true;

	for (; n < ROUND && first < l->t->nranges; n++) {
		uint32_t left = l->t->nranges - first;
		chunks[n].r = l->t->ranges + first;
		chunks[n].n = left < CHUNK_RANGES ? left : CHUNK_RANGES;
		first += chunks[n].n;
	}
	nsx_par_run(n, l->opts->jobs, write_task, &round);
	for (int i = 0; i < n; i++)
		good = good && !chunks[i].failed && number(l, &chunks[i]);
	if (good)
		nsx_par_run(n, l->opts->jobs, name_task, &round);
	for (int i = 0; i < n; i++) {
		free(chunks[i].texts.p);
		nsx_buf_free(&chunks[i].bytes);
		free(chunks[i].names);
	}
	return good;
}

int
nsx_texts_name(struct nsx_loader *l)
{
	for (uint32_t first = 0; first < l->t->nranges; first += CHUNK_RANGES * ROUND)
		if (!name_round(l, first))
			return nsx_load_nomem(l);
	return NSX_OK;
}
