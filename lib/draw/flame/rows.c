/* flame/rows.c -- the row of each frame, and which frames are dimmed.
 *
 * A run is a path of frames of one width, each the only child of the one before. Collapsed, it takes one row, and one
 * of its frames represents all of them: among those that are not dimmed (among all, if every one is dimmed), the one
 * whose name occurs least often in the picture, because wrappers occur everywhere and are not informative; among equal
 * ones, the innermost.
 *
 *     frames (from the root)      row    row, collapsed
 *     train.py:9[main]       100    1      1   hidden
 *     flax/module.py:5[call] 100    2      1   hidden: dimmed
 *     model.py:7[loss]       100    3      1   represents 5
 *     util.py:2[wrapper]     100    4      1   hidden: there are three of it in the picture
 *     flax/linear.py:3[call] 100    5      1   hidden: dimmed
 *     util.py:2[wrapper]      60    6      2
 *     util.py:2[wrapper]      40    6      2
 *
 * Frames of another kind and frames in brackets begin a new row, so that no colour is lost. */
#include "draw/flame/rows.h"

#include <stdlib.h>

#include "draw/flame/kind.h"
#include "draw/flame/text.h"

/* Names are matched by at most this many of their first characters. */
enum { MATCHED_BYTES = 4096 };

enum { UNTRIED, BRIGHT, DIM };

struct dimmer {
	const regex_t *pattern;   /* NULL: libraries */
	unsigned char *of_name;   /* by name; UNTRIED: not matched yet */
	struct nsx_buf shown;
};

static bool
is_dim(struct dimmer *d, const struct nsx_flame_tree *t, uint32_t name)
{
	struct nsx_str s = nsx_intern_str(&t->names, name);

	if (d->of_name[name] != UNTRIED)
		return d->of_name[name] == DIM;
	d->shown.len = 0;
	if (s.len > MATCHED_BYTES)
		s.len = MATCHED_BYTES;
	bool dim;
	if (d->pattern) {
		nsx_flame_put_shown(&d->shown, s);
		nsx_buf_char(&d->shown, 0);
		dim = !d->shown.failed && regexec(d->pattern, d->shown.ptr, 0, NULL, 0) == 0;
	} else {
		dim = nsx_flame_is_library(s);
	}
	d->of_name[name] = dim ? DIM : BRIGHT;
	return dim;
}

static bool
dim_frames(struct nsx_flame_layout *l, const struct nsx_flame_tree *t, const regex_t *pattern)
{
	struct dimmer d = { .pattern = pattern, .of_name = calloc(t->names.n + 1, 1) };
	bool good = d.of_name != NULL;

	for (size_t i = 1; good && i < l->frames.n; i++) {
		l->frames.p[i].dim = is_dim(&d, t, t->nodes.p[l->frames.p[i].node].name);
		l->dims += l->frames.p[i].dim;
	}
	good = good && !d.shown.failed;
	nsx_buf_free(&d.shown);
	free(d.of_name);
	return good;
}

static bool
in_brackets(const struct nsx_flame_tree *t, const struct nsx_flame_node *n)
{
	struct nsx_str s = nsx_intern_str(&t->names, n->name);

	return s.len && s.ptr[0] == '[';
}

/* Whether frame i is in the row of the frame before it. */
static bool
joins(const struct nsx_flame_layout *l, const struct nsx_flame_tree *t, size_t i)
{
	const struct nsx_flame_frame *f = &l->frames.p[i], *before = f - 1;
	const struct nsx_flame_node *n = &t->nodes.p[f->node], *up = &t->nodes.p[before->node];

	return before->node && n->parent == before->node && l->kinds[f->node] == l->kinds[before->node]
	       && n->total[NSX_FLAME_NEW] == up->total[NSX_FLAME_NEW]
	       && n->total[NSX_FLAME_BASE] == up->total[NSX_FLAME_BASE] && !in_brackets(t, n) && !in_brackets(t, up);
}

/* The number of occurrences of each name in the picture. NULL when out of memory. */
static uint32_t *
count_names(const struct nsx_flame_layout *l, const struct nsx_flame_tree *t)
{
	uint32_t *often = calloc(t->names.n + 1, sizeof *often);

	for (size_t i = 1; often && i < l->frames.n; i++)
		often[t->nodes.p[l->frames.p[i].node].name]++;
	return often;
}

/* Process the run of frames [from, to). */
static void
end_run(struct nsx_flame_layout *l, const struct nsx_flame_tree *t, const uint32_t *often, size_t from, size_t to)
{
	size_t shown = from;

	for (size_t i = from + 1; i < to; i++) {
		const struct nsx_flame_frame *f = &l->frames.p[i], *best = &l->frames.p[shown];
		if (f->dim != best->dim
		    ? best->dim
		    : often[t->nodes.p[f->node].name] <= often[t->nodes.p[best->node].name])
			shown = i;
	}
	for (size_t i = from; i < to; i++)
		l->frames.p[i].run = i == shown ? (uint32_t)(to - from) : 0;
	l->runs += to - from > 1;
}

bool
nsx_flame_rows(struct nsx_flame_layout *l, const struct nsx_flame_tree *t, const struct nsx_flame_options *options)
{
	uint32_t *row = malloc(((size_t)l->depth + 1) * sizeof *row);   /* the row of the last frame at each depth */
	uint32_t *often = count_names(l, t);
	size_t from = 0;
	bool dims = options->dim || options->dims_libraries;
	bool good = row && often && (!dims || dim_frames(l, t, options->dim));

	for (size_t i = 0; good && i < l->frames.n; i++) {
		struct nsx_flame_frame *f = &l->frames.p[i];
		bool joined = i && options->collapse && joins(l, t, i);

		if (!joined && i)
			end_run(l, t, often, from, i);
		if (!joined)
			from = i;
		f->joined = joined;
		f->row = i ? row[f->depth - 1] + !joined : 0;
		row[f->depth] = f->row;
		if (f->row > l->rows)
			l->rows = f->row;
	}
	if (good)
		end_run(l, t, often, from, l->frames.n);
	free(row);
	free(often);
	return good;
}
