/* idle.c -- what devices did in windows of time: stretches of their time, summed by activity and cause. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "job/names.h"
#include "stream/spool.h"
#include "table/idle/idle.h"
#include "xla/title.h"

/* ---- sums */

/* The sums of a window, created with those before it; NULL when out of memory. */
static struct idle_window *
sums_of(struct idle *f, uint32_t window)
{
	while (f->windows.n <= window) {
		uint32_t device = f->times.list.p[f->windows.n].device;

		if (!nsx_vec_push(&f->windows, ((struct idle_window){ .device = device, .reason = NSX_NONE })))
			return NULL;
	}
	return &f->windows.p[window];
}

/* Count ns of one run or gap; they are in one window. */
static struct idle_cell *
count(struct idle_window *w, int cell, int64_t ns)
{
	struct idle_cell *c = &w->cells[cell];

	c->ns += ns;
	c->count += ns > 0;
	c->longest = nsx_max(c->longest, ns);
	return c;
}

/* The path with numbers of steps as '#', so that what is idle in the same range of each step is one place; as it is
 * where names are asked for in another form, and of XLA's titles. Nodes come after their parents, so each is looked at
 * once. NSX_NONE when out of memory, and for none. */
static uint32_t
of_any_step(struct idle *f, uint32_t path)
{
	if (path == NSX_NONE || path == NSX_STACKS_ROOT || f->options->names != NSX_NAMES_KEY)
		return path;
	while (f->any_step.n <= path) {
		uint32_t node = (uint32_t)f->any_step.n, same = node;

		if (node != NSX_STACKS_ROOT) {
			const struct nsx_stacks_node *n = &f->paths.nodes.p[node];
			struct nsx_str frame = nsx_intern_str(&f->paths.frames, n->frame), name = frame;

			if (!nsx_str_starts(frame, NSX_XLA_DOMAIN ":"))
				name = nsx_name(NSX_NAMES_STEPS, NSX_STR(""), frame, &f->scratch);
			same = f->scratch.failed ? (uint32_t)NSX_NONE
			     : nsx_stacks_push(&f->paths, f->any_step.p[n->parent], name);
		}
		if (same == NSX_NONE || !nsx_vec_push(&f->any_step, same))
			return NSX_NONE;
	}
	return f->any_step.p[path];
}

/* Record path and leaf for the verdict. */
static int
reason(struct idle *f, uint32_t window, const struct nsx_idle_piece *s, int64_t ns)
{
	struct idle_window *w = &f->windows.p[window];
	int cell = nsx_cause_cell(s->cause);
	uint32_t path = of_any_step(f, s->path), *at;

	if (path == NSX_NONE && s->path != NSX_NONE)
		return nsx_err_nomem(f->err, NULL);
	at = nsx_map_at(&w->reasons, (struct nsx_key){ (uint64_t)cell, (uint64_t)path << 32 | s->leaf });
	if (at && *at == NSX_NONE && nsx_vec_push(&f->reasons, ((struct idle_reason){ (uint32_t)cell, path, s->leaf,
	    w->reason, 0 })))
		*at = w->reason = (uint32_t)(f->reasons.n - 1);
	if (!at || *at == NSX_NONE)
		return nsx_err_nomem(f->err, NULL);
	f->reasons.p[*at].ns += ns;
	return NSX_OK;
}

/* What is being added. from: pieces before it have passed. */
struct adding { struct idle *f; const struct nsx_stretch *s; int64_t at; size_t from; };

static void
count_idle(struct idle_window *w, const struct nsx_stretch *s, enum nsx_cause c, int64_t ns, int64_t blocked)
{
	struct idle_cell *cell = count(w, nsx_cause_cell(c), ns);

	cell->drained += s->drained ? ns : 0;
	cell->blocked += blocked;
	cell->doubtful += s->doubtful ? ns : 0;
	cell->read += s->read && !s->drained ? ns : 0;
}

/* Add the pieces from a->from on of a gap in [start, end): those of one cause count as one. */
static int
add_pieces(struct adding *a, struct idle_window *w, uint32_t window, int64_t start, int64_t end)
{
	struct idle *f = a->f;
	const struct nsx_stretch *s = a->s;
	int64_t sum[NSX_NCAUSES], blocked[NSX_NCAUSES];
	uint64_t met = 0;   /* causes */

	for (size_t i = a->from; i < s->n && s->pieces[i].start < end; i++) {
		const struct nsx_idle_piece *p = &s->pieces[i];
		int64_t from = nsx_max(p->start, start), to = nsx_min(p->end, end);

		if (!(met >> p->cause & 1))
			sum[p->cause] = blocked[p->cause] = 0;
		met |= UINT64_C(1) << p->cause;
		sum[p->cause] += to - from;
		blocked[p->cause] += s->drained ? nsx_max(0, nsx_min(to, s->blocked_to) - from) : 0;
		if (f->reasoned && !s->doubtful && reason(f, window, p, to - from) != NSX_OK)
			return NSX_ERR;
	}
	for (; met; met &= met - 1) {
		int c = __builtin_ctzll(met);

		if (sum[c])
			count_idle(w, s, (enum nsx_cause)c, sum[c], blocked[c]);
	}
	return NSX_OK;
}

/* Add the part of it in [start, end). The parts that windows which do not overlap have of it come in order of start, so
 * earlier pieces are skipped. */
static int
add_part(void *state, uint32_t window, int64_t start, int64_t end)
{
	struct adding *a = state;
	struct idle *f = a->f;
	const struct nsx_stretch *s = a->s;
	struct idle_window *w = sums_of(f, window);

	if (!w)
		return nsx_err_nomem(f->err, NULL);
	if (s->part != NSX_PART_IDLE) {
		count(w, (int)s->part, end - start);
		return NSX_OK;
	}

	if (s->next && f->options->heard
	    && f->options->heard(f->options->hearer, s, f->cat->devices.p[s->device].number, start, end) != NSX_OK)
		return NSX_ERR;
	a->from = start < a->at ? 0 : a->from;
	a->at = start;
	while (a->from < s->n && s->pieces[a->from].end <= start)
		a->from++;
	return add_pieces(a, w, window, start, end);
}

/* The sums of a window belong to another. */
static int
join(void *state, uint32_t to, uint32_t from)
{
	struct idle *f = state;
	struct idle_window *a = sums_of(f, to), *b = sums_of(f, from);

	if (!a || !b)
		return nsx_err_nomem(f->err, NULL);
	a = &f->windows.p[to];
	for (int i = 0; i < NSX_IDLE_CELLS; i++) {
		a->cells[i].ns += b->cells[i].ns;
		a->cells[i].count += b->cells[i].count;
		a->cells[i].longest = nsx_max(a->cells[i].longest, b->cells[i].longest);
		a->cells[i].drained += b->cells[i].drained;
		a->cells[i].blocked += b->cells[i].blocked;
		a->cells[i].doubtful += b->cells[i].doubtful;
		a->cells[i].read += b->cells[i].read;
	}
	for (uint32_t i = b->reason; i != NSX_NONE; i = f->reasons.p[i].next) {
		const struct idle_reason *r = &f->reasons.p[i];
		struct nsx_idle_piece p = { .path = r->path, .leaf = r->leaf,
		                            .cause = (enum nsx_cause)((int)r->cell - NSX_PART_IDLE) };

		if (reason(f, to, &p, r->ns) != NSX_OK)
			return NSX_ERR;
	}
	nsx_map_free(&b->reasons);
	memset(b->cells, 0, sizeof b->cells);
	b->reason = NSX_NONE;
	return NSX_OK;
}

/* A stretch, or the part of one that is examined. */
static int
add_clipped(struct idle *f, const struct nsx_stretch *s)
{
	if (nsx_windows_each(&f->times, s->device, s->start, s->end, add_part, &(struct adding){ f, s, INT64_MIN, 0 })
	    != NSX_OK)
		return NSX_ERR;
	if (s->next && f->options->form == NSX_IDLE_FOLDED && nsx_idle_fold_gap(f, s) != NSX_OK)
		return NSX_ERR;
	return s->next && f->listed ? nsx_idle_list_gap(f, s) : NSX_OK;
}

/* A stretch of a device's time. */
static int
add(void *state, const struct nsx_stretch *s)
{
	struct idle *f = state;
	int64_t start = s->start, from, to;

	if (!nsx_vec_reach(&f->within_at, s->device, NULL))
		return nsx_err_nomem(f->err, NULL);
	if (f->options->passed && f->options->passed(f->options->hearer, s->device, s->start) != NSX_OK)
		return NSX_ERR;
	if (nsx_windows_seen(&f->times, s->device, s->start, s->end) != NSX_OK)
		return NSX_ERR;
	if (!f->options->steps && !nsx_idle_filters(f))
		return s->start < s->end ? add_clipped(f, s) : NSX_OK;
	for (; nsx_idle_clip(f, s->device, start, s->end, &from, &to); start = to) {
		struct nsx_stretch part;

		if (!nsx_idle_clip_gap(f, s, from, to, &part))
			return nsx_err_nomem(f->err, NULL);
		if (add_clipped(f, &part) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

/* ---- the whole stream */

int
nsx_idle_begin(struct idle *f)
{
	const struct nsx_idle_options *o = f->options;

	f->cat = f->cat ? f->cat : &f->own;
	f->reasoned = o->form == NSX_IDLE_VERDICT || o->notes;
	f->listed = o->form == NSX_IDLE_LIST || o->gaps;
	nsx_idle_list_begin(f);
	f->finder = (struct nsx_idle_finder){ .err = f->err, .cat = f->cat, .paths = &f->paths, .add = add,
		.cut = nsx_idle_is_cut, .state = f,
		.frames = f->reasoned || f->listed || o->form == NSX_IDLE_FOLDED, .prevs = f->listed,
		.names = o->names, .latency = o->latency };
	f->times = (struct nsx_windows){ .err = f->err, .cat = f->cat, .by = o->by, .all = o->all, .every = o->every,
		.range = o->range, .names = o->names, .given = o->given, .ngiven = o->ngiven, .join = join,
		.state = f };
	nsx_idle_finder_begin(&f->finder);
	return nsx_windows_begin(&f->times);
}

void
nsx_idle_need(const struct idle *f, struct nsx_reader *in)
{
	nsx_cat_need(f->cat ? f->cat : &f->own, in);
	nsx_idle_finder_need(&f->finder, in);
	nsx_windows_need(&f->times, in);
}

static int
take_window(struct idle *f, const struct nsx_rec *rec)
{
	return rec->kind->id == NSX_MODULE || rec->kind->id == NSX_RANGE ? nsx_windows_take(&f->times, rec) : NSX_OK;
}

int
nsx_idle_take(void *state, const struct nsx_rec *rec)
{
	struct idle *f = state;

	return take_window(f, rec) == NSX_OK ? nsx_idle_finder_take(&f->finder, rec) : NSX_ERR;
}

int
nsx_idle_take_known(struct idle *f, const struct nsx_rec *rec, uint32_t device, bool communicates)
{
	return take_window(f, rec) == NSX_OK ? nsx_idle_finder_take_known(&f->finder, rec, device, communicates)
	                                     : NSX_ERR;
}

int
nsx_idle_finish(struct idle *f)
{
	if (nsx_idle_finder_finish(&f->finder) != NSX_OK || nsx_windows_finish(&f->times) != NSX_OK)
		return NSX_ERR;
	for (uint32_t i = 0; i < f->times.list.n; i++) {
		const struct nsx_window *x = &f->times.list.p[i];
		struct idle_window *w = sums_of(f, i);

		if (!w)
			return nsx_err_nomem(f->err, NULL);
		count(w, nsx_cause_cell(NSX_CAUSE_BEFORE), x->before);
		count(w, nsx_cause_cell(NSX_CAUSE_AFTER), x->after);
	}
	if (nsx_windows_join(&f->times) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < f->windows.n; i++) {
		f->windows.p[i].length = f->times.list.p[i].length;
		f->windows.p[i].key = f->times.list.p[i].key;
	}
	return NSX_OK;
}

int
nsx_idle_report(struct idle *f)
{
	return nsx_idle_finder_report(&f->finder, f->diags) == NSX_OK
	       && nsx_windows_report(&f->times, !f->finder.ops, f->diags) == NSX_OK ? NSX_OK : NSX_ERR;
}

void
nsx_idle_free(struct idle *f)
{
	nsx_idle_finder_free(&f->finder);
	nsx_windows_free(&f->times);
	for (size_t i = 0; i < f->windows.n; i++)
		nsx_map_free(&f->windows.p[i].reasons);
	nsx_cat_free(&f->own);
	nsx_stacks_free(&f->paths);
	nsx_stacks_free(&f->folded);
	free(f->steps.p);
	free(f->within.p);
	free(f->within_at.p);
	nsx_intern_free(&f->classes);
	nsx_buf_free(&f->scratch);
	nsx_buf_free(&f->full);
	free(f->windows.p);
	free(f->reasons.p);
	free(f->any_step.p);
	nsx_map_free(&f->folded_of);
	nsx_sums_free(&f->gaps);
	nsx_sums_free(&f->shown);
	free(f->pieces.p);
}

/* Read a stream, with the windows that a first reading found. */
static int
read_one(struct idle *f, struct nsx_reader *in, const char *require)
{
	bool given = f->options->steps || f->options->by == NSX_WINDOWS_STEP;

	if (given) {
		f->times.given = f->options->steps ? f->within.p : f->steps.p;
		f->times.ngiven = f->options->steps ? f->within.n : f->steps.n;
	}
	nsx_idle_need(f, in);
	return nsx_read_all(in, given ? NULL : require, nsx_idle_take, f, f->err);
}

/* Some of the marks do not fit: forget all but the windows, and read the file again without marks. */
static int
read_again(struct idle *f, struct nsx_reader *in, struct nsx_spool *spool)
{
	struct idle next = { .options = f->options, .err = f->err, .diags = f->diags, .steps = f->steps,
	                     .within = f->within, .classes = f->classes, .classed = f->classed };
	struct nsx_reader *again;
	struct nsx_rec rec;
	int rc = NSX_OK;

	memset(&f->steps, 0, sizeof f->steps);
	memset(&f->within, 0, sizeof f->within);
	memset(&f->classes, 0, sizeof f->classes);
	nsx_idle_free(f);
	*f = next;
	/* Those who opened the stream ask what all of it was like. */
	while (rc == NSX_OK)
		rc = nsx_read(in, &rec);
	again = rc == NSX_EOF && nsx_idle_begin(f) == NSX_OK ? nsx_spool_reader_of(spool, NSX_READ_ORDERED) : NULL;
	rc = again ? read_one(f, again, f->options->require) : NSX_ERR;
	nsx_reader_close(again);
	return rc;
}

/* Read all of `in`, twice if steps have to be known first. Marks of idle time
 * are used where there are, unless they lack what is asked for: their stacks have one form and no more than
 * NSX_IDLE_FRAMES frames, and they have one latency. */
static int
read_all(struct idle *f, struct nsx_idle_options *o, struct nsx_reader *in)
{
	bool marked = o->form != NSX_IDLE_FOLDED && o->names == NSX_NAMES_KEY && o->latency == NSX_IDLE_LATENCY
	              && nsx_idle_is_marked(in, f->finder.frames);
	struct nsx_spool *spool = marked ? nsx_spool_open_all(in, f->err) : NULL;
	struct nsx_reader *again = NULL;
	int rc = marked && !spool ? NSX_ERR : NSX_OK;

	f->finder.marked = marked;
	if (rc == NSX_OK && (o->steps || o->by == NSX_WINDOWS_STEP))
		rc = (again = nsx_idle_find_steps(f, in)) ? NSX_OK : NSX_ERR;
	if (o->steps && o->by == NSX_WINDOWS_DEVICE)
		f->times.by = o->by = NSX_WINDOWS_GIVEN;
	if (rc == NSX_OK)
		rc = read_one(f, again ? again : in, o->require);
	if (rc != NSX_OK && f->finder.misfit)
		rc = read_again(f, in, spool);
	nsx_reader_close(again);
	nsx_spool_free(spool);
	return rc;
}

/* A device that compiles is not in its steady state: results for the whole recording may not apply to its steps. */
static void
note_compiling(struct idle *f, struct nsx_table *t)
{
	nsx_u128 ns = 0;

	if (f->options->by != NSX_WINDOWS_DEVICE || f->options->steps)
		return;
	for (size_t i = 0; i < f->windows.n; i++)
		ns += (nsx_u128)f->windows.p[i].cells[nsx_cause_cell(NSX_CAUSE_COMPILE)].ns;
	if (!ns)
		return;
	nsx_table_note(t, "these windows are whole recordings, with %s of idle time during compilation; "
	               "--steps analyzes only the steps", NSX_NS(ns));
}

/* More verdicts than that are counted. */
enum { SENTENCES = 8 };

static void
note_verdict(struct idle *f, uint32_t window, struct nsx_table *t)
{
	f->full.len = 0;
	nsx_idle_verdict_text(f, window, &f->full);
	nsx_table_note(t, "%.*s", (int)f->full.len, f->full.ptr);
}

/* Of each verdict how many devices have it, and the sentence of the first of those with the largest share. */
static void
count_verdicts(struct idle *f, const uint32_t *order, size_t n, struct nsx_table *t)
{
	for (size_t i = 0; i < n; i++) {
		const char *word = nsx_idle_verdict_word(f, order[i]);
		size_t most = i, count = 0;
		bool before = false;

		for (size_t k = 0; k < i && !before; k++)
			before = strcmp(nsx_idle_verdict_word(f, order[k]), word) == 0;
		for (size_t k = i; k < n && !before; k++) {
			if (strcmp(nsx_idle_verdict_word(f, order[k]), word) != 0)
				continue;
			count++;
			if (nsx_idle_verdict_share(f, order[k]) > nsx_idle_verdict_share(f, order[most]))
				most = k;
		}
		if (before)
			continue;
		nsx_table_note(t, "%zu of %zu devices are %s; the first with the largest share of it:", count, n, word);
		note_verdict(f, order[most], t);
	}
	nsx_table_note(t, "--verdict has the verdict of each device");
}

/* The verdicts below the table, in the order of its rows. False when out of memory. */
static bool
note_verdicts(struct idle *f, struct nsx_table *t)
{
	uint32_t *order = nsx_idle_window_order(f);
	size_t n = 0;

	for (size_t i = 0; order && i < f->windows.n; i++)
		if (f->windows.p[order[i]].length)
			order[n++] = order[i];
	if (order && n > SENTENCES)
		count_verdicts(f, order, n, t);
	for (size_t i = 0; i < n && n <= SENTENCES; i++)
		note_verdict(f, order[i], t);
	free(order);
	return order != NULL;
}

int
nsx_idle(struct nsx_reader *in, const struct nsx_idle_options *options, struct nsx_outfile *out,
         struct nsx_table **table, struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_idle_options o = *options;
	struct idle f = { .options = &o, .diags = diags, .err = err };
	int rc = nsx_idle_begin(&f);

	*table = NULL;
	if (rc == NSX_OK)
		rc = read_all(&f, &o, in);
	if (rc == NSX_OK)
		rc = nsx_idle_finish(&f);
	if (rc == NSX_OK)
		rc = nsx_idle_report(&f);
	if (rc == NSX_OK) {
		if (options->form == NSX_IDLE_FOLDED) {
			rc = nsx_stacks_print(&f.folded, out, err);
		} else {
			*table = options->form == NSX_IDLE_LIST ? nsx_idle_list_table(&f) : options->form ==
			    NSX_IDLE_VERDICT ? nsx_idle_verdicts(&f) : nsx_idle_table(&f);
			if (*table && options->notes && !note_verdicts(&f, *table)) {
				nsx_table_free(*table);
				*table = NULL;
			}
			if (*table && !nsx_table_rows(*table) && (options->drained || options->causes))
				nsx_diag_add(diags, NSX_WARNING, "", 1, options->drained
				             ? "no gap begins after the host waited for the GPU"
				             : "no idle time has these causes");
			if (*table && options->notes)
				note_compiling(&f, *table);
			if (f.full.failed) {
				nsx_table_free(*table);
				*table = NULL;
			}
			rc = *table ? NSX_OK : nsx_err_nomem(err, NULL);
		}
	}
	nsx_idle_free(&f);
	return rc;
}
