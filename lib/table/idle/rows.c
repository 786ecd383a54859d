/* rows.c -- windows, gaps and stacks in their printed form. */
#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "table/idle/idle.h"
#include "xla/title.h"

/* ---- texts */

/* For a title of XLA, the instruction or program that it names; any other name unchanged. */
static void
put_brief(struct nsx_buf *to, struct nsx_str frame)
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
	if (nsx_idle_put_chain(&f->paths, path, brief ? put_brief : nsx_buf_str, to) && leaf != NSX_NONE)
		nsx_buf_char(to, ';');
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
			*at = stack_of(f, f->cat->devices.p[gap->device].number, s);
		if (!at || *at == NSX_NONE || !nsx_stacks_add(&f->folded, *at, (nsx_u128)(s->end - s->start)))
			return nsx_err_nomem(f->err, NULL);
	}
	return NSX_OK;
}

/* ---- the longest gaps */

#define NSX_ROW struct idle_gap
static const struct nsx_sum_col gap_cols[] = {
	NSX_COL("device", ID, device), NSX_COL("start", TIME, start), NSX_COL("dur", NS, dur),
	NSX_COL("cause", STRING, cause_name), NSX_COL("ns", NS, ns), NSX_COL("tid", INT, tid),
	NSX_COL("prev", STRING, prev), NSX_COL("next", STRING, next), NSX_COL("stack", STRING, stack),
	NSX_COL("drained", NS, drained), NSX_COL("blocked", NS, blocked), NSX_COL("own", NS, own),
};
#define DEF(by, first) { NSX_ROWS(gap_cols), .order = by, .rank = first, \
	                 .heads = { { "ns", "of_causes" } } }
/* The longest first; if only some causes are kept, those with the most time of these causes. */
static const struct nsx_sum_def gap_defs[] = {
	DEF("-dur device start", "device dur cause stack next start prev"),
	DEF("-ns -dur device start", "device ns cause stack dur next start prev"),
};
#undef DEF

void
nsx_idle_list_begin(struct idle *f)
{
	f->gaps = f->shown = (struct nsx_sums){ .def = &gap_defs[nsx_idle_filters(f)], .texts = &f->paths.frames };
}

/* Of more gaps than that in a picture the longest are kept: 16 devices have lanes, with at most 4000 gaps that are seen
 * in each of two steps. */
enum { SHOWN = 2 * 16 * 4000 };

static bool
is_shown(const struct idle *f, const struct nsx_stretch *gap)
{
	for (size_t i = 0; i < f->options->nshown; i++) {
		const struct nsx_idle_shown *s = &f->options->shown[i];

		if (gap->start < s->to && gap->end > s->from && gap->end - gap->start >= s->least)
			return true;
	}
	return false;
}

int
nsx_idle_list_gap(struct idle *f, const struct nsx_stretch *gap)
{
	struct idle_gap g = { .device = f->cat->devices.p[gap->device].number, .prev = gap->prev,
	                      .next = gap->next->name, .start = gap->start, .dur = gap->end - gap->start,
	                      .tid = gap->next->tid, .path = NSX_NONE, .leaf = NSX_NONE };
	struct idle_gap *all = &f->others;
	int64_t sum[NSX_NCAUSES] = { 0 }, longest = -1;

	if (gap->n == 0)
		return NSX_OK;
	for (size_t i = 0; i < gap->n; i++)
		sum[gap->pieces[i].cause] += gap->pieces[i].end - gap->pieces[i].start;
	for (int c = 0; c < NSX_NCAUSES; c++) {
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
	g.own = g.ns - g.blocked;
	g.cause_name = nsx_cause_name(g.cause);
	f->ngaps++;
	all->dur = nsx_add_sat(all->dur, g.dur, NULL);
	all->ns = nsx_add_sat(all->ns, g.ns, NULL);
	all->drained = nsx_add_sat(all->drained, g.drained, NULL);
	all->blocked = nsx_add_sat(all->blocked, g.blocked, NULL);
	for (size_t i = 0; i < gap->n; i++) {
		const struct nsx_idle_piece *s = &gap->pieces[i];

		/* A gap that is drained begins with the call that waited. */
		if (f->options->drained ? i == 0 : s->cause == g.cause && s->end - s->start > longest) {
			longest = s->end - s->start;
			g.path = s->path;
			g.leaf = s->leaf;
		}
	}
	bool good = is_shown(f, gap) ? nsx_sums_add_first(&f->shown, SHOWN, &g)
	            : nsx_sums_add_first(&f->gaps, (size_t)f->options->list, &g);

	return good ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

/* The text in f->scratch as one of the frames; NSX_NONE when out of memory. */
static uint32_t
stack_text(struct idle *f)
{
	return f->scratch.failed ? (uint32_t)NSX_NONE : nsx_intern(&f->paths.frames, nsx_buf_view(&f->scratch));
}

/* The last row of a list of some causes: the time of these in gaps that are not listed. */
static int
put_others(struct idle *f, struct nsx_table *t)
{
	struct idle_gap *o = &f->others;

	NSX_SUMS_EACH(const struct idle_gap, g, &f->gaps) {
		o->dur -= g->dur;
		o->ns -= g->ns;
		o->drained -= g->drained;
		o->blocked -= g->blocked;
	}
	o->device = o->start = o->tid = NSX_ABSENT;
	o->prev = o->next = NSX_NONE;
	o->own = o->ns - o->blocked;
	f->scratch.len = 0;
	nsx_buf_fmt(&f->scratch, "[%lld other gaps]", (long long)f->ngaps - (long long)nsx_sums_count(&f->gaps));
	o->stack = stack_text(f);
	return o->stack == NSX_NONE ? nsx_err_nomem(f->err, NULL) : nsx_sums_put(&f->gaps, t, o, f->err);
}

struct nsx_table *
nsx_idle_list_table(struct idle *f)
{
	struct nsx_table *t;

	nsx_sums_cut(&f->gaps, (size_t)f->options->list);
	nsx_sums_cut(&f->shown, SHOWN);
	for (size_t i = 0; i < nsx_sums_count(&f->shown); i++) {
		struct idle_gap *g = nsx_sums_add(&f->gaps);

		if (!g) {
			nsx_err_nomem(f->err, NULL);
			return NULL;
		}
		*g = *(const struct idle_gap *)nsx_sums_at(&f->shown, i);
	}
	NSX_SUMS_EACH(struct idle_gap, g, &f->gaps) {
		f->scratch.len = 0;
		nsx_idle_put_frames(f, g->path, g->leaf, &f->scratch);
		g->stack = stack_text(f);
		if (g->stack == NSX_NONE) {
			nsx_err_nomem(f->err, NULL);
			return NULL;
		}
	}
	t = nsx_sums_table(&f->gaps, f->err);
	if (t && nsx_idle_filters(f) && f->ngaps > (int64_t)nsx_sums_count(&f->gaps) && put_others(f, t) != NSX_OK) {
		nsx_table_free(t);
		t = NULL;
	}
	return t;
}

/* ---- windows */

static int
by_time(const void *a, const void *b, const void *idle)
{
	const struct idle *f = idle;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct nsx_window *x = &f->times.list.p[i], *y = &f->times.list.p[j];
	int64_t dx = f->cat->devices.p[x->device].number, dy = f->cat->devices.p[y->device].number;

	if (dx == dy && f->classed && x->label != y->label)
		return nsx_str_cmp(nsx_intern_str(&f->classes, x->label), nsx_intern_str(&f->classes, y->label));
	return NSX_FIRST(NSX_CMP(dx, dy), NSX_CMP(x->first, y->first), NSX_CMP(i, j));
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

struct idle_keys
nsx_idle_keys(const struct idle *f, uint32_t window)
{
	const struct nsx_window *w = &f->times.list.p[window];
	bool step = f->options->by == NSX_WINDOWS_STEP;

	return (struct idle_keys){ .device = f->cat->devices.p[w->device].number, .number = w->key,
		.start = step ? w->start : w->key, .next = nsx_cat_str(f->cat, w->next),
		.label = step ? nsx_intern_str(&f->classes, w->label) : nsx_cat_str(f->cat, w->label) };
}

/* Whether a table has rows for a part or a cause. */
static bool
shown(const struct idle *f, bool busy, enum nsx_cause cause)
{
	if (busy || !nsx_cause_is_gap(cause))
		return !nsx_idle_filters(f) || (!busy && f->options->causes >> cause & 1);
	return !f->options->causes || f->options->causes >> cause & 1;
}

/* A part or a cause of a window. per: of which ns is a share; 0: of nothing. */
struct cell_row {
	struct idle_keys keys;
	int64_t     ns, per, count, longest, drained, blocked;
	const char *part, *group, *cause;
};

#undef NSX_ROW
#define NSX_ROW struct cell_row
static const struct nsx_sum_col cell_cols[] = {
	IDLE_KEY_COLS, NSX_COL("part", STRING, part), NSX_COL("group", STRING, group), NSX_COL("cause", STRING, cause),
	NSX_COL("ns", NS, ns), NSX_COL_PER("share", SHARE, ns, per), NSX_COL("count", INT, count),
	NSX_COL("longest", NS, longest), NSX_COL("drained", NS, drained), NSX_COL("blocked", NS, blocked),
};
#define DEF(keys) { NSX_ROWS(cell_cols), \
	            .shown = keys " part group cause ns share count longest drained blocked", \
	            .rank = keys " share cause part ns", .adds = "ns", .heads = { { "ns", "time" } } }
static const struct nsx_sum_def cell_defs[] = { IDLE_BY(DEF) };

static int
put_window(struct idle *f, const struct nsx_sums *s, struct nsx_table *t, uint32_t window)
{
	const struct idle_window *w = &f->windows.p[window];
	int rc = NSX_OK;

	for (int c = 0; c < NSX_IDLE_CELLS && rc == NSX_OK; c++) {
		const struct idle_cell *x = &w->cells[c];
		bool busy = c < NSX_PART_IDLE, removed = c == nsx_cause_cell(NSX_CAUSE_REMOVED);
		enum nsx_cause cause = (enum nsx_cause)(busy ? 0 : c - NSX_PART_IDLE);
		enum nsx_part part = busy ? (enum nsx_part)c : NSX_PART_IDLE;

		if (!shown(f, busy, cause) || (x->ns == 0 && (!f->options->zeros || removed)))
			continue;
		rc = nsx_sums_put(s, t, &(struct cell_row){
			.keys = nsx_idle_keys(f, window), .ns = x->ns, .per = removed ? 0 : nsx_idle_length(w),
			.count = x->count, .longest = x->longest, .drained = x->drained, .blocked = x->blocked,
			.part = removed ? nsx_cause_name(cause) : nsx_part_name(part),
			.group = busy || removed ? NULL : nsx_cause_group(cause),
			.cause = busy || removed ? NULL : nsx_cause_name(cause)
		}, f->err);
	}
	return rc;
}

struct nsx_table *
nsx_idle_windows_table(struct idle *f, const struct nsx_sum_def *defs, nsx_idle_put_fn *put)
{
	struct nsx_sums s = { .def = &defs[f->classed ? IDLE_BY_CLASS : (int)f->options->by] };
	uint32_t *order = nsx_idle_window_order(f);
	struct nsx_table *t = order ? nsx_sums_begin(&s, f->err) : NULL;
	int rc = t ? NSX_OK : nsx_err_nomem(f->err, NULL);

	for (size_t i = 0; rc == NSX_OK && i < f->windows.n; i++)
		if (f->windows.p[order[i]].length > 0)
			rc = put(f, &s, t, order[i]);
	free(order);
	if (rc == NSX_OK)
		return t;
	nsx_table_free(t);
	return NULL;
}

struct nsx_table *
nsx_idle_table(struct idle *f)
{
	return nsx_idle_windows_table(f, cell_defs, put_window);
}
