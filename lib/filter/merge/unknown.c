/* unknown.c -- metadata of unknown kinds. It cannot be rewritten, and references among it are unknown; the result must
 * be the same for any grouping of streams, and preserve the order of each stream.
 *
 * So each stream's records are split into blocks, a new one at each record that is not less than all before it. Blocks
 * are kept whole and sorted; the result has the same blocks again, so another merge finds the same ones.
 *
 *     stream a: 3 1 5 2     blocks (3 1) (5 2)
 *     stream b: 4 4         blocks (4) (4)
 *     merged    3 1 4 4 5 2, whose blocks are again (3 1) (4) (4) (5 2) */
#include "filter/merge/merging.h"

#include <stdlib.h>
#include <string.h>

/* Present slots of a record by column name: columns may be in another order elsewhere. */
static int
slots_by_name(const struct mg_held *h, int *slot)
{
	int n = 0;

	for (int i = 0; i < h->kind->nslots; i++) {
		int k = n;
		if (!(h->has >> i & 1))
			continue;
		for (; k > 0 && strcmp(h->kind->cols[slot[k - 1]].name, h->kind->cols[i].name) > 0; k--)
			slot[k] = slot[k - 1];
		slot[k] = i;
		n++;
	}
	return n;
}

static int
cmp_value(char type, const union nsx_val *x, const union nsx_val *y)
{
	if (type == 's')
		return nsx_str_cmp(x->s, y->s);
	if (type == 'i')
		return (x->i > y->i) - (x->i < y->i);
	return memcmp(&x->f, &y->f, sizeof x->f);
}

static int
cmp_record(const struct mg_held *x, const struct mg_held *y)
{
	int xs[NSX_MAX_COLS], ys[NSX_MAX_COLS], nx, ny, c = strcmp(x->kind->name, y->kind->name);

	if (c)
		return c;
	nx = slots_by_name(x, xs);
	ny = slots_by_name(y, ys);
	for (int i = 0; i < nx && i < ny && c == 0; i++) {
		const struct nsx_col *p = &x->kind->cols[xs[i]], *q = &y->kind->cols[ys[i]];
		c = strcmp(p->name, q->name);
		if (c == 0)
			c = p->type - q->type;
		if (c == 0)
			c = cmp_value(p->type, &x->v[xs[i]], &y->v[ys[i]]);
	}
	return c ? c : nx - ny;
}

struct block { const struct mg_held *first; size_t n; };

static int
by_records(const void *a, const void *b)
{
	const struct block *x = a, *y = b;
	int c = 0;

	for (size_t i = 0; i < x->n && i < y->n && c == 0; i++)
		c = cmp_record(&x->first[i], &y->first[i]);
	return c ? c : (x->n > y->n) - (x->n < y->n);
}

int
nsx_merge_write_unknown(struct mg *m)
{
	struct block *blocks = calloc(m->unknown.n + 1, sizeof *blocks);
	int rc = blocks ? NSX_OK : nsx_err_nomem(m->err, NULL);
	size_t n = 0;

	for (size_t i = 0; i < m->unknown.n && blocks; i++) {
		bool new = i == 0 || m->unknown_source.p[i] != m->unknown_source.p[i - 1]
		           || cmp_record(&m->unknown.p[i], blocks[n - 1].first) >= 0;
		if (new)
			blocks[n++].first = &m->unknown.p[i];
		blocks[n - 1].n++;
	}
	if (blocks)
		qsort(blocks, n, sizeof *blocks, by_records);
	for (size_t i = 0; i < n && rc == NSX_OK; i++)
		for (size_t k = 0; k < blocks[i].n && rc == NSX_OK; k++) {
			struct nsx_rec rec = { blocks[i].first[k].kind, blocks[i].first[k].has, blocks[i].first[k].v };
			rc = nsx_merge_declare(m, rec.kind);
			if (rc == NSX_OK)
				rc = nsx_write(m->out, &rec);
		}
	free(blocks);
	return rc;
}
