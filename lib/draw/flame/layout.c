/* flame/layout.c -- selects and places the frames to draw. Only those are sorted: of millions few are wide enough to be
 * visible.
 *
 * For example, total 100 and a minimum share of 0.01: root 100 > a 90 > b 60, c 30; root > d 0.5. d is below 1 and is
 * not drawn, a starts at 0 and is 90 wide, b starts at 0 and c at 60. */
#include "draw/flame/layout.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "draw/flame/rows.h"
#include "draw/fold.h"

/* Sorting by name uses the rank among the names that are drawn. */
struct ranked { struct nsx_str text; uint32_t name; };

NSX_ORDER(ranked_cmp, struct ranked, nsx_str_cmp(a->text, b->text))

/* The minimum total of a frame that is drawn. */
static int64_t
least(int64_t total, double share)
{
	double v = ceil((double)total * share);

	return v >= (double)INT64_MAX ? INT64_MAX : v < 1 ? 1 : (int64_t)v;
}

/* rank[name] for the names of nodes[0..n); NULL when out of memory. */
static uint32_t *
rank_names(const struct nsx_flame_tree *t, const struct nsx_sort_key *nodes, size_t n)
{
	uint32_t *rank = calloc(t->names.n + 1, sizeof *rank);
	struct ranked *list = malloc((n + 1) * sizeof *list);
	size_t m = 0;

	for (size_t i = 0; rank && list && i < n; i++) {
		uint32_t name = t->nodes.p[nodes[i].i].name;
		if (rank[name]++ == 0)
			list[m++] = (struct ranked){ nsx_intern_str(&t->names, name), name };
	}
	if (rank && list && m) {
		qsort(list, m, sizeof *list, ranked_cmp);
		for (size_t i = 0; i < m; i++)
			rank[list[i].name] = (uint32_t)i;
	} else if (!list) {
		free(rank);
		rank = NULL;
	}
	free(list);
	return rank;
}

/* The nodes that are drawn except the root, children of one parent next to each other from left to right. NULL when out
 * of memory. */
static struct nsx_sort_key *
drawn(struct nsx_flame_layout *l, const struct nsx_flame_tree *t, const struct nsx_flame_options *options, size_t *n)
{
	int64_t min = least(t->total[NSX_FLAME_NEW], options->min_share);
	struct nsx_sort_key *keys;

	*n = 0;
	for (size_t i = 1; i < t->nodes.n; i++) {
		*n += t->nodes.p[i].total[NSX_FLAME_NEW] >= min;
		bool narrow = t->nodes.p[i].total[NSX_FLAME_NEW] > 0 && t->nodes.p[i].total[NSX_FLAME_NEW] < min;
		uint32_t parent = t->nodes.p[i].parent;

		l->narrow += narrow;
		if (narrow && (parent == 0 || t->nodes.p[parent].total[NSX_FLAME_NEW] >= min))
			l->narrow_sum += t->nodes.p[i].total[NSX_FLAME_NEW];
	}
	keys = malloc((*n + 1) * sizeof *keys);
	if (!keys)
		return NULL;
	*n = 0;
	for (size_t i = 1; i < t->nodes.n; i++)
		if (t->nodes.p[i].total[NSX_FLAME_NEW] >= min)
			keys[(*n)++].i = (uint32_t)i;
	uint32_t *rank = rank_names(t, keys, *n);
	for (size_t i = 0; rank && i < *n; i++) {
		const struct nsx_flame_node *node = &t->nodes.p[keys[i].i];
		keys[i].k[0] = node->parent;
		keys[i].k[1] = options->sort == NSX_FLAME_SIZE ? -node->total[NSX_FLAME_NEW] : 0;
		keys[i].k[2] = rank[node->name];
	}
	if (!rank) {
		free(keys);
		return NULL;
	}
	free(rank);
	nsx_sort_keys(keys, *n);
	return keys;
}

/* Nodes whose children are being placed: the next child, and its position. */
struct open { size_t at; int64_t offset; };

/* first[node]: where the keys of its children begin. */
static bool
place(struct nsx_flame_layout *l, const struct nsx_flame_tree *t, const struct nsx_sort_key *keys, size_t n,
      const size_t *first)
{
	NSX_VEC(struct open) stack = { 0 };
	bool good = nsx_vec_push(&l->frames, ((struct nsx_flame_frame){ .node = 0 })) &&
	    nsx_vec_push(&stack, ((struct open){ first[0], 0 }));
	NSX_VEC(uint32_t) path = { 0 };

	good = good && nsx_vec_push(&path, 0);
	while (good && stack.n) {
		struct open *o = &stack.p[stack.n - 1];

		if (o->at == n || keys[o->at].k[0] != path.p[path.n - 1]) {
			stack.n--;
			path.n--;
			continue;
		}
		struct nsx_flame_frame f = { .node = keys[o->at++].i, .depth = (uint32_t)stack.n, .offset = o->offset };
		o->offset += t->nodes.p[f.node].total[NSX_FLAME_NEW];
		if (f.depth > l->depth)
			l->depth = f.depth;
		good = nsx_vec_push(&l->frames, f) && nsx_vec_push(&path, f.node)
		       && nsx_vec_push(&stack, ((struct open){ first[f.node], f.offset }));
	}
	free(stack.p);
	free(path.p);
	return good;
}

/* marked[node]: the part of its total that is marked as communication. NULL when out of memory. */
static int64_t *
sum_marked(const struct nsx_flame_tree *t, uint32_t mark)
{
	int64_t *marked = calloc(t->nodes.n, sizeof *marked);

	for (size_t i = t->nodes.n; marked && i-- > 1;) {
		const struct nsx_flame_node *n = &t->nodes.p[i];
		if (n->name == mark)
			marked[i] = n->total[NSX_FLAME_NEW];
		marked[n->parent] += marked[i];
	}
	return marked;
}

/* The kind of a frame if communication is marked: a marked frame, and one that contains nothing else. */
static enum nsx_flame_kind
marked_kind(enum nsx_flame_kind own, int64_t marked, int64_t total)
{
	bool works = own == NSX_FLAME_COMM || own == NSX_FLAME_COMPUTE || own == NSX_FLAME_COPY;

	if (works && marked && marked == total)
		return NSX_FLAME_COMM;
	return own == NSX_FLAME_COMM ? NSX_FLAME_COMPUTE : own;
}

/* Kinds of all nodes, and the sum of each; plain: one for all. */
static bool
tell_kinds(struct nsx_flame_layout *l, const struct nsx_flame_tree *t, bool plain)
{
	unsigned char *of_name = malloc(t->names.n + 1);
	int64_t *marked = NULL;

	l->kinds = calloc(t->nodes.n, 1);
	l->mark = plain ? NSX_NONE : nsx_intern_find(&t->names, NSX_STR(NSX_FOLD_COMM));
	if (l->mark != NSX_NONE)
		marked = sum_marked(t, l->mark);
	bool good = of_name && l->kinds && (marked || l->mark == NSX_NONE);
	for (size_t i = 0; good && i < t->names.n; i++)
		of_name[i] = plain ? NSX_FLAME_COMPUTE
		    : (unsigned char)nsx_flame_kind_of(nsx_intern_str(&t->names, (uint32_t)i));
	for (size_t i = 1; good && i < t->nodes.n; i++) {
		const struct nsx_flame_node *n = &t->nodes.p[i];
		enum nsx_flame_kind kind = (enum nsx_flame_kind)of_name[n->name];
		if (marked)
			kind = marked_kind(kind, marked[i], n->total[NSX_FLAME_NEW]);
		l->kinds[i] = (unsigned char)nsx_flame_kind_below((enum nsx_flame_kind)l->kinds[n->parent], kind);
		l->of_kind[l->kinds[i]] += n->self[NSX_FLAME_NEW];
	}
	free(marked);
	free(of_name);
	return good;
}

bool
nsx_flame_lay_out(struct nsx_flame_layout *l, const struct nsx_flame_tree *t, const struct nsx_flame_options *options)
{
	size_t n;

	for (size_t i = 1; i < t->nodes.n; i++) {
		const struct nsx_flame_node *node = &t->nodes.p[i];
		bool gone = node->self[NSX_FLAME_BASE] > 0 && node->self[NSX_FLAME_NEW] == 0;

		l->stacks += node->self[NSX_FLAME_NEW] > 0;
		l->gone += gone;
		l->gone_sum += gone ? node->self[NSX_FLAME_BASE] : 0;
	}
	if (!tell_kinds(l, t, options->plain))
		return false;
	struct nsx_sort_key *keys = drawn(l, t, options, &n);
	size_t *first = malloc(t->nodes.n * sizeof *first);
	for (size_t i = 0; first && i < t->nodes.n; i++)
		first[i] = n;
	for (size_t i = n; keys && first && i-- > 0;)
		first[keys[i].k[0]] = i;
	bool good = keys && first && place(l, t, keys, n, first) && nsx_flame_rows(l, t, options);
	free(keys);
	free(first);
	return good;
}

void
nsx_flame_layout_free(struct nsx_flame_layout *l)
{
	free(l->frames.p);
	free(l->kinds);
	*l = (struct nsx_flame_layout){ 0 };
}
