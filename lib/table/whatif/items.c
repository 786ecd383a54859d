/* items.c -- CUDA graphs that were traced by node. A launch is one item of its stream. No export says which node
 * follows which: one does if it never starts before the other one ended, in any launch of the same nodes on any device,
 * and started soon after it in one of them, nothing else that it follows having ended later. */
#include <stdlib.h>

#include "base/sort.h"
#include "table/whatif/graph.h"

enum { SOON = 5000 };    /* ns from the end of a node to the start of one that follows it */

/* The nodes of a launch by end. */
struct ended { int64_t end; uint32_t at; };

struct following {
	struct wi_graph *g;
	const uint32_t  *items;          /* of the launches, n of them */
	size_t           n, width;       /* width: nodes of each */
	struct ended    *ended;          /* n * width */
	unsigned char   *always;         /* for the node in question: of each other one */
	NSX_VEC(uint32_t) preds;         /* of the node in question */
};

/* ---- launches ---- */

/* The stream that most nodes of a launch ran in, the first one of several; of those of its first streams. */
static uint32_t
main_stream(const struct wi_graph *g, const struct wi_item *x)
{
	enum { STREAMS = 32 };
	struct { uint32_t stream, n; } count[STREAMS] = { { 0, 0 } };
	size_t n = 0, best = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t stream = g->lanes.p[g->ops.p[g->nodes.p[x->first + i]].lane].stream;
		size_t k = 0;

		while (k < n && count[k].stream != stream)
			k++;
		if (k == STREAMS)
			continue;
		if (k == n) {
			count[n].stream = stream;
			count[n++].n = 0;
		}
		count[k].n++;
	}
	for (size_t k = 1; k < n; k++)
		best = count[k].n > count[best].n ? k : best;
	return count[best].stream;
}

static size_t
count_nodes(const struct wi_graph *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->mores.n; i++) {
		wi_pause(g, i);
		n += g->mores.p[i].node != NSX_ABSENT;
	}
	return n;
}

static bool
list_items(struct wi_graph *g)
{
	size_t nodes = count_nodes(g), n = 0;
	struct nsx_sort_key *keys = malloc((nodes + 1) * sizeof *keys);
	bool good = keys != NULL;

	for (size_t i = 0; i < g->ops.n && good && nodes; i++) {
		const struct wi_op *o = &g->ops.p[i];

		wi_pause(g, i);
		if (wi_more(g, o)->node != NSX_ABSENT && o->call != NSX_NONE)
			keys[n++] = (struct nsx_sort_key){ { o->call, wi_more(g, o)->node, 0 }, (uint32_t)i };
	}
	if (good)
		nsx_sort_keys(keys, n);
	for (size_t i = 0; i < n && good;) {
		struct wi_item x = { INT64_MAX, INT64_MIN, (uint32_t)g->nodes.n, 0, 0 };
		int64_t call = keys[i].k[0];

		for (; i < n && keys[i].k[0] == call && good; i++, x.n++) {
			const struct wi_op *o = &g->ops.p[keys[i].i];

			g->mores.p[o->more].item = (uint32_t)g->items.n;
			x.start = o->start < x.start ? o->start : x.start;
			x.end = o->end > x.end ? o->end : x.end;
			good = nsx_vec_push(&g->nodes, keys[i].i);
		}
		x.stream = good ? main_stream(g, &x) : 0;
		good = good && nsx_vec_push(&g->items, x);
	}
	free(keys);
	return good;
}

/* ---- which node follows which ---- */

static const struct wi_op *
node(const struct following *f, size_t launch, size_t at)
{
	return &f->g->ops.p[f->g->nodes.p[f->g->items.p[f->items[launch]].first + at]];
}

static bool
is_before(struct following *f, size_t a, size_t b)
{
	enum { UNKNOWN, YES, NO };

	if (f->always[a] == UNKNOWN) {
		f->always[a] = YES;
		for (size_t i = 0; i < f->n && f->always[a] == YES; i++)
			if (node(f, i, a)->end > node(f, i, b)->start)
				f->always[a] = NO;
	}
	return f->always[a] == YES;
}

/* What node b follows. */
static bool
find_preds(struct following *f, size_t b)
{
	f->preds.n = 0;
	for (size_t a = 0; a < f->width; a++)
		f->always[a] = 0;
	for (size_t i = 0; i < f->n; i++) {
		const struct ended *ended = f->ended + i * f->width;
		int64_t start = node(f, i, b)->start;
		size_t k = nsx_sort_first(ended, f->width, sizeof *ended, offsetof(struct ended, end), start + 1), p;

		while (k-- > 0 && start - ended[k].end < SOON) {
			if (ended[k].at == b || !is_before(f, ended[k].at, b))
				continue;
			for (p = 0; p < f->preds.n && f->preds.p[p] != ended[k].at;)
				p++;
			if (p == f->preds.n && !nsx_vec_push(&f->preds, ended[k].at))
				return false;
			break;
		}
	}
	return true;
}

/* Set what node b of each launch follows. */
static bool
set_preds(struct following *f, size_t b)
{
	struct wi_graph *g = f->g;

	for (size_t i = 0; i < f->n; i++) {
		uint32_t first = g->items.p[f->items[i]].first;
		struct wi_more *o = &g->mores.p[g->ops.p[g->nodes.p[first + b]].more];

		o->preds = (uint32_t)g->refs.n;
		o->npreds = (uint32_t)f->preds.n;
		for (size_t p = 0; p < f->preds.n; p++) {
			uint32_t op = g->nodes.p[first + f->preds.p[p]];

			g->mores.p[g->ops.p[op].more].followed = true;
			if (!nsx_large_push(&g->large, &g->refs, op))
				return false;
		}
	}
	return true;
}

NSX_ORDER(by_end, struct ended, NSX_CMP(a->end, b->end), NSX_CMP(a->at, b->at))

/* n launches of the same nodes. */
static bool
follow(struct wi_graph *g, const uint32_t *items, size_t n)
{
	struct following f = { .g = g, .items = items, .n = n, .width = g->items.p[items[0]].n };
	bool good;

	f.ended = malloc((n * f.width + 1) * sizeof *f.ended);
	f.always = malloc(f.width + 1);
	good = f.ended && f.always;
	for (size_t i = 0; i < n && good; i++) {
		struct ended *e = f.ended + i * f.width;

		for (size_t k = 0; k < f.width; k++)
			e[k] = (struct ended){ node(&f, i, k)->end, (uint32_t)k };
		qsort(e, f.width, sizeof *e, by_end);
	}
	for (size_t b = 0; b < f.width && good; b++)
		good = find_preds(&f, b) && set_preds(&f, b);
	free(f.ended);
	free(f.always);
	free(f.preds.p);
	return good;
}

/* ---- */

/* Launches with the same names of nodes, in order of their numbers, are of the same nodes: reports number graphs of
 * their own. */
static bool
sort_alike(struct wi_graph *g, struct nsx_sort_key *keys)
{
	struct nsx_intern alike = { 0 };
	NSX_VEC(uint32_t) names = { 0 };
	bool good = true;

	for (size_t i = 0; i < g->items.n && good; i++) {
		const struct wi_item *x = &g->items.p[i];

		names.n = 0;
		for (uint32_t k = 0; k < x->n && good; k++)
			good = nsx_vec_push(&names, wi_task(g, &g->ops.p[g->nodes.p[x->first + k]])->name);
		if (good) {
			uint32_t id = nsx_intern(&alike, (struct nsx_str){ (const char *)names.p,
			                         names.n * sizeof *names.p });

			good = id != NSX_NONE;
			keys[i] = (struct nsx_sort_key){ { id, 0, 0 }, (uint32_t)i };
		}
	}
	if (good)
		nsx_sort_keys(keys, g->items.n);
	nsx_intern_free(&alike);
	free(names.p);
	return good;
}

int
nsx_wi_find_items(struct wi_graph *g)
{
	struct nsx_sort_key *keys;
	uint32_t *items;
	bool good;

	if (!list_items(g))
		return nsx_err_nomem(g->err, NULL);
	keys = malloc((g->items.n + 1) * sizeof *keys);
	items = malloc((g->items.n + 1) * sizeof *items);
	good = keys && items && sort_alike(g, keys);
	for (size_t i = 0, n; i < g->items.n && good; i += n) {
		for (n = 0; i + n < g->items.n && keys[i + n].k[0] == keys[i].k[0]; n++)
			items[n] = keys[i + n].i;
		good = follow(g, items, n);
	}
	free(keys);
	free(items);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}
