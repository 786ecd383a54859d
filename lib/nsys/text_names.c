/* text_names.c -- after projection, decodes the texts of the remaining ranges and makes them names: in parallel, except
 * for the last step, which numbers them in order of ranges. Where programs number millions of ranges, nearly all names
 * would differ; those stay text codes (texts.h) and are decoded one by one when needed.
 *
 *     ranges of two chunks   "step 1" "step 2" "step 1"   |   "step 2" "step 3"
 *     each chunk, in parallel: distinct texts, hashed   step 1, step 2   |   step 2, step 3
 *     in order of chunks: numbers in trace.names   step 1 = 0, step 2 = 1   |   step 2 = 1, step 3 = 2
 *     each chunk, in parallel: names of its ranges   0 1 0   |   1 2 */
#include <stdlib.h>

#include "base/par.h"
#include "nsys/load.h"

enum { CHUNK_RANGES = 1 << 16, ROUND = 32, CACHE = 1 << 14 };

struct text { uint64_t hash; size_t len; };

/* Ranges that are named by one task. */
struct chunk {
	struct nsx_range *r;
	uint32_t          n;
	NSX_VEC(struct text) texts;   /* almost all distinct */
	struct nsx_buf    bytes;      /* of all, one after the other */
	uint32_t         *names;      /* of each, its number in the trace */
	bool              failed;
};

struct round { struct nsx_loader *l; struct chunk *chunks; };

/* Whether the name of a range is, and stays, a text code. Ranges outside the default domain are classified by their
 * names, once for all ranges of one name, so they need names. */
static inline bool
stays(const struct nsx_loader *l, const struct nsx_range *r)
{
	return !l->opts->busy && !r->domain && !(r->flags & NSX_RANGE_NO_DOMAIN);
}

/* Whether its text becomes a name. */
static inline bool
wanted(const struct nsx_loader *l, const struct nsx_range *r)
{
	return r->name != NSX_NONE && (r->name & NSX_NAME_TEXT) && !stays(l, r);
}

/* Decode a text. Its number in the chunk, NSX_NONE when out of memory. */
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
	/* Recently seen codes: most programs repeat texts. */
	struct seen { uint64_t key; const struct nsx_part_texts *table; uint32_t text; } *seen = calloc(CACHE,
		sizeof *seen);
	const struct round *round = ctx;
	struct chunk *c = &round->chunks[i];
	const struct nsx_part_texts *table = NULL;

	c->failed = !seen;
	for (uint32_t k = 0; k < c->n && !c->failed; k++) {
		uint32_t code = c->r[k].name & ~NSX_NAME_TEXT;

		if (!wanted(round->l, &c->r[k]))
			continue;
		table = nsx_part_texts_at(round->l->texts, round->l->ntexts, code, table);
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
		if (wanted(round->l, &c->r[k]))
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
	if (!l->opts->busy) {
		l->t->texts = l->texts;
		l->t->ntexts = l->ntexts;
		l->texts = NULL;
		l->ntexts = 0;
	}
	return NSX_OK;
}
