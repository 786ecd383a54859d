/* rows.c -- windows, gaps and stacks in their printed form. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sort.h"
#include "table/idle/idle.h"
#include "xla/title.h"

/* ---- texts */

/* For a title of XLA, the instruction or program that it names; any other name unchanged. */
static void
put_brief(struct nsx_str frame, struct nsx_buf *to)
{
	static const char domain[] = NSX_XLA_DOMAIN ":";
	struct nsx_title t = { .label = frame };

	if (nsx_str_starts(frame, domain))
		nsx_title_parse((struct nsx_str){ frame.ptr + sizeof domain - 1, frame.len - (sizeof domain - 1) }, &t);
	nsx_buf_str(to, t.hlo_op.len ? t.hlo_op : t.module.len ? t.module : frame);
}

static void
put_frames(const struct idle *f, uint32_t path, uint32_t leaf, bool brief, struct nsx_buf *to)
{
	uint32_t chain[256];
	size_t n = 0, skipped = 0;

	for (uint32_t at = path; at != NSX_NONE && at != NSX_STACKS_ROOT; at = f->paths.nodes.p[at].parent) {
		if (n < sizeof chain / sizeof *chain)
			chain[n++] = f->paths.nodes.p[at].frame;
		else
			skipped++;
	}
	if (skipped)
		nsx_buf_c(to, "...;");
	while (n) {
		struct nsx_str frame = nsx_intern_str(&f->paths.frames, chain[--n]);

		if (brief)
			put_brief(frame, to);
		else
			nsx_buf_str(to, frame);
		if (n || leaf != NSX_NONE)
			nsx_buf_char(to, ';');
	}
	if (leaf != NSX_NONE)
		nsx_buf_str(to, nsx_intern_str(&f->paths.frames, leaf));
}

void
nsx_idle_put_frames(const struct idle *f, uint32_t path, uint32_t leaf, struct nsx_buf *to)
{
	put_frames(f, path, leaf, false, to);
}

void
nsx_idle_put_place(const struct idle *f, uint32_t path, uint32_t leaf, struct nsx_buf *to)
{
	put_frames(f, path, leaf, true, to);
}

/* ---- folded stacks */

/* The stack `device D;GROUP;CAUSE;frames`, NSX_NONE when out of memory. */
static uint32_t
stack_of(struct idle *f, int64_t device, const struct nsx_idle_piece *s)
{
	struct nsx_str cause = nsx_str_c(nsx_cause_name(s->cause)), group = nsx_str_c(nsx_cause_group(s->cause));
	uint32_t node, chain = s->path;
	NSX_VEC(uint32_t) frames = { 0 };

	f->scratch.len = 0;
	nsx_buf_fmt(&f->scratch, "device %lld", (long long)device);
	node = f->scratch.failed ? (uint32_t)NSX_NONE : nsx_stacks_push(&f->folded, NSX_STACKS_ROOT,
		nsx_buf_view(&f->scratch));
	node = nsx_stacks_push(&f->folded, node, group);
	if (!nsx_str_eq(cause, group))
		node = nsx_stacks_push(&f->folded, node, cause);
	for (; chain != NSX_STACKS_ROOT && chain != NSX_NONE; chain = f->paths.nodes.p[chain].parent)
		if (!nsx_vec_push(&frames, f->paths.nodes.p[chain].frame)) {
			node = NSX_NONE;
			break;
		}
	while (frames.n && node != NSX_NONE)
		node = nsx_stacks_push(&f->folded, node, nsx_intern_str(&f->paths.frames, frames.p[--frames.n]));
	if (s->leaf != NSX_NONE && node != NSX_NONE)
		node = nsx_stacks_push(&f->folded, node, nsx_intern_str(&f->paths.frames, s->leaf));
	free(frames.p);
	return node;
}

int
nsx_idle_fold_gap(struct idle *f, const struct nsx_stretch *gap)
{
	for (size_t i = 0; i < gap->n; i++) {
		const struct nsx_idle_piece *s = &gap->pieces[i];
		struct nsx_key key = { (uint64_t)gap->device << 8 | (uint64_t)s->cause,
		                       (uint64_t)s->path << 32 | s->leaf };
		uint32_t *at = nsx_map_at(&f->folded_of, key);

		if (at && *at == NSX_NONE)
			*at = stack_of(f, f->cat.devices.p[gap->device].number, s);
		if (!at || *at == NSX_NONE || !nsx_stacks_add(&f->folded, *at, (nsx_u128)(s->end - s->start)))
			return nsx_err_nomem(f->err, NULL);
	}
	return NSX_OK;
}

/* ---- the longest gaps */

/* The longest first; if only some causes are kept, those with the most time of these causes. */
static int
by_length(const void *a, const void *b, const void *idle)
{
	const struct idle_gap *x = a, *y = b;

	if (nsx_idle_filters(idle) && x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->dur != y->dur)
		return x->dur > y->dur ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static void
sort_gaps(struct idle *f)
{
	nsx_sort_with(f->gaps.p, f->gaps.n, sizeof *f->gaps.p, by_length, f);
}

int
nsx_idle_list_gap(struct idle *f, const struct nsx_stretch *gap)
{
	struct idle_gap g = { .device = f->cat.devices.p[gap->device].number, .prev = gap->prev,
	                      .next = gap->next->name, .start = gap->start, .dur = gap->end - gap->start,
	                      .tid = gap->next->tid, .path = NSX_NONE, .leaf = NSX_NONE };
	int64_t sum[NSX_NCAUSES] = { 0 }, longest = -1;
	size_t want = (size_t)f->options->list;

	if (gap->n == 0)
		return NSX_OK;
	/* The gap ranks after those already kept. */
	if (f->gaps.n >= 2 * want + 64) {
		sort_gaps(f);
		f->gaps.n = want;
	}
	for (size_t i = 0; i < gap->n; i++)
		sum[gap->pieces[i].cause] += gap->pieces[i].end - gap->pieces[i].start;
	g.cause = NSX_CAUSE_GRAPH;
	for (int c = 0; c < NSX_NCAUSES; c++) {
		if (!nsx_cause_is_gap((enum nsx_cause)c))
			continue;
		if (sum[c] > sum[g.cause])
			g.cause = (enum nsx_cause)c;
		g.ns += nsx_idle_filters(f) ? sum[c] : 0;
	}
	if (!nsx_idle_filters(f))
		g.ns = sum[g.cause];
	g.drained = gap->drained ? g.ns : 0;
	for (size_t i = 0; i < gap->n && gap->drained; i++) {
		const struct nsx_idle_piece *s = &gap->pieces[i];
		int64_t to = s->end < gap->blocked_to ? s->end : gap->blocked_to;

		g.blocked += to > s->start && (nsx_idle_filters(f) || s->cause == g.cause) ? to - s->start : 0;
	}
	f->all_gaps.count++;
	f->all_gaps.dur = nsx_add_sat(f->all_gaps.dur, g.dur, NULL);
	f->all_gaps.ns = nsx_add_sat(f->all_gaps.ns, g.ns, NULL);
	f->all_gaps.drained = nsx_add_sat(f->all_gaps.drained, g.drained, NULL);
	f->all_gaps.blocked = nsx_add_sat(f->all_gaps.blocked, g.blocked, NULL);
	for (size_t i = 0; i < gap->n; i++) {
		const struct nsx_idle_piece *s = &gap->pieces[i];

		/* A gap that is drained begins with the call that waited. */
		if (f->options->drained ? i == 0 : s->cause == g.cause && s->end - s->start > longest) {
			longest = s->end - s->start;
			g.path = s->path;
			g.leaf = s->leaf;
		}
	}
	return nsx_vec_push(&f->gaps, g) ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

struct nsx_table *
nsx_idle_sound(const struct idle *f, struct nsx_table *t)
{
	if (t && (f->scratch.failed || f->full.failed)) {
		nsx_table_free(t);
		t = NULL;
	}
	return t;
}

enum { L_DEVICE, L_START, L_DUR, L_CAUSE, L_NS, L_TID, L_PREV, L_NEXT, L_STACK, L_DRAINED, L_BLOCKED, L_OWN, L_NCOLS };

static const struct nsx_table_col list_cols[L_NCOLS] = {
	[L_DEVICE] = { "device", NSX_CELL_ID },
	[L_START]  = { "start", NSX_CELL_TIME },
	[L_DUR]    = { "dur", NSX_CELL_NS },
	[L_CAUSE]  = { "cause", NSX_CELL_STRING },
	[L_NS]     = { "ns", NSX_CELL_NS },
	[L_TID]    = { "tid", NSX_CELL_INT },
	[L_PREV]   = { "prev", NSX_CELL_STRING },
	[L_NEXT]   = { "next", NSX_CELL_STRING },
	[L_STACK]  = { "stack", NSX_CELL_STRING },
	[L_DRAINED] = { "drained", NSX_CELL_NS },
	[L_BLOCKED] = { "blocked", NSX_CELL_NS },
	[L_OWN]    = { "own", NSX_CELL_NS },
};

static struct nsx_str
frame(const struct idle *f, uint32_t id)
{
	return id == NSX_NONE ? NSX_STR("") : nsx_intern_str(&f->paths.frames, id);
}

/* The last row of a list of some causes: the time of these in gaps that are not listed. */
static void
put_others(struct idle *f, struct nsx_table *t, size_t listed)
{
	struct idle_gaps_sum rest = f->all_gaps;

	for (size_t i = 0; i < listed; i++) {
		rest.count--;
		rest.dur -= f->gaps.p[i].dur;
		rest.ns -= f->gaps.p[i].ns;
		rest.drained -= f->gaps.p[i].drained;
		rest.blocked -= f->gaps.p[i].blocked;
	}
	if (rest.count <= 0)
		return;
	nsx_table_row(t);
	nsx_table_int(t, L_DUR, rest.dur);
	nsx_table_int(t, L_NS, rest.ns);
	nsx_table_int(t, L_DRAINED, rest.drained);
	nsx_table_int(t, L_BLOCKED, rest.blocked);
	nsx_table_int(t, L_OWN, rest.ns - rest.blocked);
	f->scratch.len = 0;
	nsx_buf_fmt(&f->scratch, "[%lld other gaps]", (long long)rest.count);
	nsx_table_str(t, L_STACK, nsx_buf_view(&f->scratch));
}

struct nsx_table *
nsx_idle_list_table(struct idle *f)
{
	struct nsx_table *t = nsx_table_new(list_cols, L_NCOLS);
	size_t listed;
	nsx_table_rank(t, nsx_idle_filters(f) ? "device ns cause stack dur next start prev"
	                                      : "device dur cause stack next start prev");
	nsx_table_head(t, "ns", "of_causes");

	sort_gaps(f);
	for (size_t i = 0; t && i < f->gaps.n && i < (size_t)f->options->list; i++) {
		const struct idle_gap *g = &f->gaps.p[i];

		nsx_table_row(t);
		nsx_table_int(t, L_DEVICE, g->device);
		nsx_table_int(t, L_START, g->start);
		nsx_table_int(t, L_DUR, g->dur);
		nsx_table_str(t, L_CAUSE, nsx_str_c(nsx_cause_name(g->cause)));
		nsx_table_int(t, L_NS, g->ns);
		if (g->tid != NSX_ABSENT)
			nsx_table_int(t, L_TID, g->tid);
		nsx_table_str(t, L_PREV, frame(f, g->prev));
		nsx_table_str(t, L_NEXT, frame(f, g->next));
		f->scratch.len = 0;
		nsx_idle_put_frames(f, g->path, g->leaf, &f->scratch);
		nsx_table_str(t, L_STACK, nsx_buf_view(&f->scratch));
		nsx_table_int(t, L_DRAINED, g->drained);
		nsx_table_int(t, L_BLOCKED, g->blocked);
		nsx_table_int(t, L_OWN, g->ns - g->blocked);
	}
	listed = f->gaps.n < (size_t)f->options->list ? f->gaps.n : (size_t)f->options->list;
	if (t && nsx_idle_filters(f))
		put_others(f, t, listed);
	return nsx_idle_sound(f, t);
}

/* ---- windows */

static int
by_time(const void *a, const void *b, const void *idle)
{
	const struct idle *f = idle;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct nsx_window *x = &f->times.list.p[i], *y = &f->times.list.p[j];
	int64_t dx = f->cat.devices.p[x->device].number, dy = f->cat.devices.p[y->device].number;

	if (dx != dy)
		return dx < dy ? -1 : 1;
	if (f->classed && x->label != y->label)
		return nsx_str_cmp(nsx_intern_str(&f->classes, x->label), nsx_intern_str(&f->classes, y->label));
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (i > j) - (i < j);
}

uint32_t *
nsx_idle_window_order(const struct idle *f)
{
	uint32_t *order = malloc((f->windows.n + 1) * sizeof *order);

	for (size_t i = 0; order && i < f->windows.n; i++)
		order[i] = (uint32_t)i;
	if (order)
		nsx_sort_with(order, f->windows.n, sizeof *order, by_time, f);
	return order;
}

/* Columns of the window's keys by --by. */
static const struct { int n; struct nsx_table_col cols[2]; } keys[] = {
	[NSX_WINDOWS_DEVICE]    = { 0, { { NULL, NSX_CELL_INT } } },
	[NSX_WINDOWS_MODULE]    = { 2, { { "module", NSX_CELL_STRING }, { "next", NSX_CELL_STRING } } },
	[NSX_WINDOWS_EXECUTION] = { 2, { { "module", NSX_CELL_STRING }, { "execution", NSX_CELL_ID } } },
	[NSX_WINDOWS_STEP]      = { 2, { { "step", NSX_CELL_ID }, { "start", NSX_CELL_TIME } } },
	[NSX_WINDOWS_RANGE]     = { 2, { { "name", NSX_CELL_STRING }, { "start", NSX_CELL_TIME } } },
	[NSX_WINDOWS_EVERY]     = { 1, { { "start", NSX_CELL_TIME } } },
	[NSX_WINDOWS_GIVEN]     = { 0, { { NULL, NSX_CELL_INT } } },
};

int
nsx_idle_nkeys(const struct idle *f)
{
	return 1 + f->classed + keys[f->options->by].n;
}

void
nsx_idle_put_keys(struct idle *f, struct nsx_table *t, uint32_t window)
{
	const struct nsx_window *w = &f->times.list.p[window];

	nsx_table_int(t, 0, f->cat.devices.p[w->device].number);
	switch (f->options->by) {
	case NSX_WINDOWS_DEVICE:
	case NSX_WINDOWS_GIVEN:
		break;
	case NSX_WINDOWS_MODULE:
		nsx_table_str(t, 1, nsx_cat_str(&f->cat, w->label));
		nsx_table_str(t, 2, nsx_cat_str(&f->cat, w->next));
		break;
	case NSX_WINDOWS_EXECUTION:
		nsx_table_str(t, 1, nsx_cat_str(&f->cat, w->label));
		if (w->key != NSX_ABSENT)
			nsx_table_int(t, 2, w->key);
		break;
	case NSX_WINDOWS_STEP:
		if (f->classed)
			nsx_table_str(t, 1, nsx_intern_str(&f->classes, w->label));
		nsx_table_int(t, 1 + f->classed, w->key);
		nsx_table_int(t, 2 + f->classed, w->start);
		break;
	case NSX_WINDOWS_RANGE:
		nsx_table_str(t, 1, nsx_cat_str(&f->cat, w->label));
		nsx_table_int(t, 2, w->key);
		break;
	case NSX_WINDOWS_EVERY:
		nsx_table_int(t, 1, w->key);
		break;
	}
}

/* Columns of keys, and of the rest. */
enum { MOST_KEYS = 4, MOST_COLS = 16 };

struct nsx_table *
nsx_idle_new_table(const struct idle *f, const struct nsx_table_col *rest, int n)
{
	struct nsx_table_col cols[MOST_KEYS + MOST_COLS];
	int k = nsx_idle_nkeys(f);
	struct nsx_table *t;

	assert(k <= MOST_KEYS && n <= MOST_COLS);
	cols[0] = (struct nsx_table_col){ "device", NSX_CELL_ID };
	cols[1] = (struct nsx_table_col){ "class", NSX_CELL_STRING };
	memcpy(cols + 1 + f->classed, keys[f->options->by].cols, (size_t)keys[f->options->by].n * sizeof *cols);
	memcpy(cols + k, rest, (size_t)n * sizeof *cols);
	t = nsx_table_new_copy(cols, k + n);
	for (int i = 0; i < k; i++)
		nsx_table_rank(t, cols[i].name);
	return t;
}

/* Whether a table has rows for a part or a cause. */
static bool
shown(const struct idle *f, bool busy, enum nsx_cause cause)
{
	if (busy || !nsx_cause_is_gap(cause))
		return !nsx_idle_filters(f) || (!busy && f->options->causes >> cause & 1);
	return !f->options->causes || f->options->causes >> cause & 1;
}

struct nsx_table *
nsx_idle_table(struct idle *f)
{
	static const struct nsx_table_col rest[] = {
		{ "part", NSX_CELL_STRING }, { "group", NSX_CELL_STRING }, { "cause", NSX_CELL_STRING },
		{ "ns", NSX_CELL_NS },
		{ "share", NSX_CELL_SHARE }, { "count", NSX_CELL_INT }, { "longest", NSX_CELL_NS },
		{ "drained", NSX_CELL_NS }, { "blocked", NSX_CELL_NS }
	};
	int k = nsx_idle_nkeys(f);
	uint32_t *order = nsx_idle_window_order(f);
	struct nsx_table *t;

	t = order ? nsx_idle_new_table(f, rest, (int)(sizeof rest / sizeof *rest)) : NULL;
	nsx_table_rank(t, "share cause part ns");
	nsx_table_head(t, "ns", "time");
	if (t)
		nsx_table_adds(t, "ns");
	for (size_t i = 0; t && i < f->windows.n; i++) {
		const struct idle_window *w = &f->windows.p[order[i]];

		for (int c = 0; c < NSX_IDLE_CELLS && w->length > 0; c++) {
			const struct idle_cell *x = &w->cells[c];
			bool busy = c < NSX_PART_IDLE;
			enum nsx_cause cause = (enum nsx_cause)(busy ? 0 : c - NSX_PART_IDLE);

			bool removed = !busy && cause == NSX_CAUSE_REMOVED;

			if (!shown(f, busy, cause) || (x->ns == 0 && (!f->options->zeros || removed)))
				continue;
			nsx_table_row(t);
			nsx_idle_put_keys(f, t, order[i]);
			nsx_table_str(t, k, nsx_str_c(removed ? nsx_cause_name(cause)
			                                 : nsx_part_name(busy ? (enum nsx_part)c : NSX_PART_IDLE)));
			if (!busy && !removed) {
				nsx_table_str(t, k + 1, nsx_str_c(nsx_cause_group(cause)));
				nsx_table_str(t, k + 2, nsx_str_c(nsx_cause_name(cause)));
			}
			nsx_table_int(t, k + 3, x->ns);
			if (!removed)
				nsx_table_double(t, k + 4, (double)x->ns / (double)nsx_idle_length(w));
			nsx_table_int(t, k + 5, x->count);
			nsx_table_int(t, k + 6, x->longest);
			nsx_table_int(t, k + 7, x->drained);
			nsx_table_int(t, k + 8, x->blocked);
		}
	}
	free(order);
	return t;
}
