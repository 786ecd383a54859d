/* windows.c -- the windows into which a device's time is divided, and their sums. Runs and gaps of a device come in
 * order and once; the part of each inside a window is added to it. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sort.h"
#include "table/idle/idle.h"

enum { FEW_MODULES = 64 };   /* below this number, ended modules of a device are not searched */

static int64_t
max2(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t
min2(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- sums */

static uint32_t
new_window(struct idle *f, const struct nsx_idle_device *d, int64_t start, int64_t end, int64_t key, uint32_t label,
           uint32_t next)
{
	struct idle_window w = { .device = d->index, .start = start, .end = end, .first = start, .key = key,
	                         .label = label, .next = next,
	                         .reason = NSX_NONE };

	if (f->windows.n >= NSX_NONE - 1 || !nsx_vec_push(&f->windows, w)) {
		nsx_err_nomem(f->err, NULL);
		return NSX_NONE;
	}
	return (uint32_t)(f->windows.n - 1);
}

/* Count ns of one run or gap; they are in one window. */
static struct idle_cell *
count(struct idle_window *w, int cell, int64_t ns)
{
	struct idle_cell *c = &w->cells[cell];

	c->ns += ns;
	c->count += ns > 0;
	c->longest = max2(c->longest, ns);
	return c;
}

/* Record path and leaf for the verdict. */
static int
reason(struct idle *f, uint32_t window, const struct idle_segment *s, int64_t ns)
{
	struct idle_window *w = &f->windows.p[window];
	int cell = nsx_cause_cell(s->cause);
	uint32_t *at = nsx_map_at(&w->reasons, (struct nsx_key){ (uint64_t)cell, (uint64_t)s->path << 32 | s->leaf });

	if (at && *at == NSX_NONE && nsx_vec_push(&f->reasons, ((struct idle_reason){ (uint32_t)cell, s->path, s->leaf,
	    w->reason, 0 })))
		*at = w->reason = (uint32_t)(f->reasons.n - 1);
	if (!at || *at == NSX_NONE)
		return nsx_err_nomem(f->err, NULL);
	f->reasons.p[*at].ns += ns;
	return NSX_OK;
}

/* The interval being added: a busy run, or a gap whose segments are in the order of time. */
struct piece { int64_t start, end; enum nsx_part part; bool drained; size_t from; };

/* Add the part of it in [start, end). The windows of one piece come in order of start, so earlier segments are
 * skipped. */
static int
add_clip(struct idle *f, uint32_t window, struct piece *p, int64_t start, int64_t end)
{
	struct idle_window *w = &f->windows.p[window];
	int64_t sum[NSX_NCAUSES] = { 0 }, blocked[NSX_NCAUSES] = { 0 };

	if (start >= end)
		return NSX_OK;
	if (p->part != NSX_PART_IDLE) {
		count(w, (int)p->part, end - start);
		return NSX_OK;
	}
	while (p->from < f->segments.n && f->segments.p[p->from].end <= start)
		p->from++;
	for (size_t i = p->from; i < f->segments.n && f->segments.p[i].start < end; i++) {
		const struct idle_segment *s = &f->segments.p[i];
		int64_t from = max2(s->start, start), to = min2(s->end, end), ns = to - from;

		sum[s->cause] += ns;
		blocked[s->cause] += p->drained ? max2(0, min2(to, f->blocked_to) - from) : 0;
		if (f->reasoned && !f->doubtful && reason(f, window, s, ns) != NSX_OK)
			return NSX_ERR;
	}
	w = &f->windows.p[window];
	for (int c = 0; c < NSX_NCAUSES; c++) {
		if (!sum[c])
			continue;
		struct idle_cell *cell = count(w, nsx_cause_cell((enum nsx_cause)c), sum[c]);

		cell->drained += p->drained ? sum[c] : 0;
		cell->blocked += blocked[c];
		cell->doubtful += f->doubtful ? sum[c] : 0;
	}
	return NSX_OK;
}

/* ---- one window for all of a device */

static int
add_to_device(struct idle *f, struct nsx_idle_device *d, struct piece *p)
{
	if (d->window == NSX_NONE &&
	    (d->window = new_window(f, d, p->start, p->end, NSX_ABSENT, NSX_NONE, NSX_NONE)) == NSX_NONE)
		return NSX_ERR;
	f->windows.p[d->window].end = p->end;
	return add_clip(f, d->window, p, p->start, p->end);
}

/* ---- every:NS */

/* floor(t / every) * every; times of aligned streams may be negative. */
static int64_t
bucket_start(int64_t t, int64_t every)
{
	int64_t rest = t % every;

	return t - (rest < 0 ? rest + every : rest);
}

/* Maximum of windows by time, of all devices: 700 MB. A mistyped short time would otherwise fill the memory. */
enum { BUCKETS = 1000000 };

static int
add_to_buckets(struct idle *f, struct nsx_idle_device *d, struct piece *p)
{
	for (int64_t t = p->start; t < p->end;) {
		int64_t start = bucket_start(t, f->options->every), end = nsx_add_sat(start, f->options->every, NULL);
		int64_t stop = min2(end, p->end);

		if (d->window == NSX_NONE || f->windows.p[d->window].key != start) {
			if (f->windows.n >= BUCKETS)
				return nsx_err_set(f->err, "--by every: more than %d windows: take a longer time",
				                   BUCKETS);
			d->window = new_window(f, d, t, stop, start, NSX_NONE, NSX_NONE);
			if (d->window == NSX_NONE)
				return NSX_ERR;
		}
		f->windows.p[d->window].end = stop;
		if (add_clip(f, d->window, p, t, stop) != NSX_OK)
			return NSX_ERR;
		t = stop;
	}
	return NSX_OK;
}

/* ---- modules and executions */

int
nsx_idle_take_module(struct idle *f, const struct nsx_rec *rec)
{
	uint32_t device = nsx_cat_device(&f->cat, rec), program = nsx_cat_program(&f->cat, rec);
	int64_t start = nsx_int(rec, NSX_MODULE_start, NSX_ABSENT), dur = nsx_int(rec, NSX_MODULE_dur, NSX_ABSENT);
	struct nsx_idle_device *d;

	if (device == NSX_NONE || program == NSX_NONE)
		return nsx_err_nomem(f->err, NULL);
	if (start == NSX_ABSENT || dur < 0)
		return NSX_OK;
	d = nsx_idle_device(f, device);
	if (!d)
		return nsx_err_nomem(f->err, NULL);
	struct idle_module m = { start, nsx_add_sat(start, dur, NULL), program, nsx_int(rec, NSX_MODULE_execution,
		NSX_ABSENT) };

	return nsx_vec_push(&d->modules, m) ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

/* The window that sums all of a program, or all before it. */
static uint32_t
program_window(struct idle *f, const struct nsx_idle_device *d, uint32_t program, bool before, int64_t first)
{
	uint32_t *at = nsx_map_at(&f->window_of, (struct nsx_key){ (uint64_t)d->index << 1 | before, program });
	struct nsx_err none = { "" };

	if (at && *at == NSX_NONE) {
		uint32_t key = nsx_cat_intern(&f->cat, nsx_cat_program_label(&f->cat, program), &none);
		uint32_t label = before ? nsx_cat_intern(&f->cat, NSX_STR("[before]"), &none) : key;

		if (!none.msg[0])
			*at = new_window(f, d, first, first, NSX_ABSENT, label, before ? key : (uint32_t)NSX_NONE);
	}
	if (!at || *at == NSX_NONE)
		nsx_err_nomem(f->err, NULL);
	return at ? *at : NSX_NONE;
}

static int
join_cells(struct idle *f, uint32_t to, uint32_t from)
{
	struct idle_window *a = &f->windows.p[to], *b = &f->windows.p[from];

	for (int i = 0; i < NSX_IDLE_CELLS; i++) {
		a->cells[i].ns += b->cells[i].ns;
		a->cells[i].count += b->cells[i].count;
		a->cells[i].longest = max2(a->cells[i].longest, b->cells[i].longest);
		a->cells[i].drained += b->cells[i].drained;
		a->cells[i].blocked += b->cells[i].blocked;
		a->cells[i].doubtful += b->cells[i].doubtful;
	}
	a->length += b->length;
	a->first = min2(a->first, b->first);
	for (uint32_t i = b->reason; i != NSX_NONE; i = f->reasons.p[i].next) {
		const struct idle_reason *r = &f->reasons.p[i];
		struct idle_segment s = { .path = r->path, .leaf = r->leaf,
		                          .cause = (enum nsx_cause)((int)r->cell - NSX_PART_IDLE) };

		if (reason(f, to, &s, r->ns) != NSX_OK)
			return NSX_ERR;
	}
	nsx_map_free(&f->windows.p[from].reasons);
	memset(f->windows.p[from].cells, 0, sizeof f->windows.p[from].cells);
	f->windows.p[from].length = 0;
	f->windows.p[from].reason = NSX_NONE;
	return NSX_OK;
}

/* Time between modules was before this one. */
static int
give_between(struct idle *f, struct nsx_idle_device *d, uint32_t program)
{
	uint32_t to;

	if (f->options->by != NSX_IDLE_MODULE || d->between == NSX_NONE || f->windows.p[d->between].length == 0)
		return NSX_OK;
	to = program_window(f, d, program, true, f->windows.p[d->between].first);
	return to == NSX_NONE ? NSX_ERR : join_cells(f, to, d->between);
}

/* Remove those that ended before t when there are twice as many as were open the last time, so that a long one does not
 * keep others in memory. */
static void
forget_modules(struct nsx_idle_device *d, int64_t t)
{
	size_t kept = 0;

	if (d->modules.n <= FEW_MODULES || d->modules.n <= 2 * d->modules_open)
		return;
	for (size_t i = 0; i < d->modules.n; i++)
		if (d->modules.p[i].end > t || d->modules.p[i].start >= t)
			d->modules.p[kept++] = d->modules.p[i];
	d->modules.n = kept;
	d->modules_open = kept;
}

/* The module that contains t, the last started; NULL: none. *until: its minimum end, at most `end`. */
static const struct idle_module *
holds(struct nsx_idle_device *d, int64_t t, int64_t end, int64_t *until)
{
	const struct idle_module *m = NULL;

	*until = end;
	for (size_t i = 0; i < d->modules.n; i++) {
		const struct idle_module *x = &d->modules.p[i];

		if (x->start > t) {
			*until = min2(*until, x->start);
			break;
		}
		if (x->end > t)
			m = x;
	}
	if (m)
		*until = min2(*until, m->end);
	return m;
}

/* The window of the time between modules. */
static uint32_t
between_window(struct idle *f, struct nsx_idle_device *d, int64_t t)
{
	struct nsx_err none = { "" };

	if (d->between == NSX_NONE) {
		uint32_t label = nsx_cat_intern(&f->cat, NSX_STR("[between]"), &none);

		d->between = none.msg[0] ? (nsx_err_nomem(f->err, NULL), (uint32_t)NSX_NONE) : new_window(f, d, t, t,
			NSX_ABSENT, label, NSX_NONE);
	} else if (f->windows.p[d->between].length == 0) {
		f->windows.p[d->between].first = t;
	}
	return d->between;
}

/* The window of an execution; the current one as long as it lasts, since executions of a device rarely interleave. */
static uint32_t
execution_window(struct idle *f, struct nsx_idle_device *d, const struct idle_module *m, int64_t t)
{
	uint32_t *at = nsx_map_at(&f->window_of, (struct nsx_key){ (uint64_t)d->index << 32 | m->program,
		(uint64_t)m->execution });
	struct nsx_err none = { "" };

	if (at && *at == NSX_NONE) {
		uint32_t label = nsx_cat_intern(&f->cat, nsx_cat_program_label(&f->cat, m->program), &none);

		if (!none.msg[0])
			*at = new_window(f, d, t, t, m->execution, label, NSX_NONE);
	}
	if (!at || *at == NSX_NONE)
		nsx_err_nomem(f->err, NULL);
	return at ? *at : NSX_NONE;
}

static int
add_to_modules(struct idle *f, struct nsx_idle_device *d, struct piece *p)
{
	for (int64_t t = p->start, until; t < p->end; t = until) {
		const struct idle_module *m = holds(d, t, p->end, &until);
		uint32_t w;

		if (!m) {
			w = between_window(f, d, t);
		} else {
			d->any_module = true;
			if (give_between(f, d, m->program) != NSX_OK)
				return NSX_ERR;
			w = f->options->by == NSX_IDLE_MODULE ? program_window(f, d, m->program, false, t)
			    : execution_window(f, d, m, t);
		}
		if (w == NSX_NONE)
			return NSX_ERR;
		f->windows.p[w].length += until - t;
		if (add_clip(f, w, p, t, until) != NSX_OK)
			return NSX_ERR;
	}
	forget_modules(d, p->end);
	return NSX_OK;
}

/* ---- ranges */

/* Insert a window that later times may be in, by start. */
static int
open_window(struct idle *f, struct nsx_idle_device *d, int64_t start, int64_t end, uint32_t label)
{
	uint32_t w = new_window(f, d, start, end, start, label, NSX_NONE);
	size_t k;

	if (w == NSX_NONE || !nsx_vec_room(&d->open, 1))
		return nsx_err_nomem(f->err, NULL);
	for (k = d->open.n++; k && f->windows.p[d->open.p[k - 1]].start > start; k--)
		d->open.p[k] = d->open.p[k - 1];
	d->open.p[k] = w;
	f->windows.p[w].length = end - start;
	return NSX_OK;
}

int
nsx_idle_take_steps(struct idle *f, struct nsx_idle_device *d)
{
	int64_t device = f->cat.devices.p[d->index].number;
	size_t lo = nsx_sort_first(f->steps.p, f->steps.n, sizeof *f->steps.p, offsetof(struct idle_step, device),
	                           device);

	for (; lo < f->steps.n && f->steps.p[lo].device == device; lo++) {
		const struct idle_step *s = &f->steps.p[lo];

		if (open_window(f, d, s->start, s->end, s->class) != NSX_OK)
			return NSX_ERR;
		f->windows.p[f->windows.n - 1].key = s->number;
	}
	return NSX_OK;
}

int
nsx_idle_take_window(struct idle *f, const struct nsx_rec *range, struct nsx_str shown)
{
	int64_t start = nsx_int(range, NSX_RANGE_start, NSX_ABSENT), dur = nsx_int(range, NSX_RANGE_dur, 0);
	uint32_t label = nsx_cat_intern(&f->cat, shown, f->err), device;
	struct nsx_idle_device *d;

	if (label == NSX_NONE && shown.len)
		return NSX_ERR;
	if (start == NSX_ABSENT || dur < 0)
		return NSX_OK;
	if (nsx_has(range, NSX_RANGE_device)) {
		device = nsx_cat_device(&f->cat, range);
		d = device == NSX_NONE ? NULL : nsx_idle_device(f, device);
		return d ? open_window(f, d, start, nsx_add_sat(start, dur, NULL), label) : nsx_err_nomem(f->err, NULL);
	}
	for (uint32_t i = 0; i < f->devices.n; i++)
		if (nsx_cat_of_process(&f->cat, i, range)
		    && open_window(f, &f->devices.p[i], start, nsx_add_sat(start, dur, NULL), label) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

int
nsx_idle_open_given(struct idle *f, struct nsx_idle_device *d)
{
	int64_t number = f->cat.devices.p[d->index].number;

	for (size_t i = nsx_idle_given_of(f->options->given, f->options->ngiven, number); i < f->options->ngiven; i++) {
		const struct nsx_idle_given *g = &f->options->given[i];

		if (g->device != number)
			break;
		if (open_window(f, d, g->start, g->end, NSX_NONE) != NSX_OK)
			return NSX_ERR;
		f->windows.p[f->windows.n - 1].key = g->key;
	}
	return NSX_OK;
}

static int
add_to_ranges(struct idle *f, struct nsx_idle_device *d, struct piece *p)
{
	size_t kept = 0, i;

	for (i = 0; i < d->open.n; i++) {
		const struct idle_window *w = &f->windows.p[d->open.p[i]];

		if (w->start >= p->end)
			break;
		if (w->end > p->start) {
			p->from = 0;   /* windows overlap */
			if (add_clip(f, d->open.p[i], p, max2(p->start, w->start), min2(p->end, w->end)) != NSX_OK)
				return NSX_ERR;
			d->open.p[kept++] = d->open.p[i];
		}
	}
	/* Windows of steps all exist from the start: they are moved when one has ended, not for every piece. */
	if (kept < i)
		memmove(d->open.p + kept, d->open.p + i, (d->open.n - i) * sizeof *d->open.p);
	d->open.n -= i - kept;
	return NSX_OK;
}

/* ---- all windows */

static int
add_piece(struct idle *f, struct nsx_idle_device *d, struct piece p)
{
	switch (f->options->by) {
	case NSX_IDLE_DEVICE:    return add_to_device(f, d, &p);
	case NSX_IDLE_EVERY:     return add_to_buckets(f, d, &p);
	case NSX_IDLE_MODULE:
	case NSX_IDLE_EXECUTION: return add_to_modules(f, d, &p);
	case NSX_IDLE_STEP:
	case NSX_IDLE_RANGE:
	case NSX_IDLE_GIVEN:     return add_to_ranges(f, d, &p);
	}
	return NSX_OK;
}

int
nsx_idle_add_busy(struct idle *f, struct nsx_idle_device *d, enum nsx_part part, int64_t start, int64_t end)
{
	return add_piece(f, d, (struct piece){ start, end, part, false, 0 });
}

int
nsx_idle_add_gap(struct idle *f, struct nsx_idle_device *d, int64_t start, int64_t end, bool drained)
{
	return add_piece(f, d, (struct piece){ start, end, NSX_PART_IDLE, drained, 0 });
}

/* The parts of [start, end) outside the device's own time. */
static void
add_edges(struct idle_window *w, const struct nsx_idle_device *d, int64_t start, int64_t end)
{
	count(w, nsx_cause_cell(NSX_CAUSE_BEFORE), max2(0, min2(end, d->first) - start));
	count(w, nsx_cause_cell(NSX_CAUSE_AFTER), max2(0, end - max2(start, d->busy)));
	w->length = end - start;
}

/* Add up the given windows of one device and key. */
static int
join_given(struct idle *f)
{
	struct nsx_map first = { 0 };
	int rc = NSX_OK;

	for (uint32_t i = 0; i < f->windows.n && rc == NSX_OK; i++) {
		const struct idle_window *w = &f->windows.p[i];
		uint32_t *at = nsx_map_at(&first, (struct nsx_key){ w->device, (uint64_t)w->key });

		if (!at)
			rc = nsx_err_nomem(f->err, NULL);
		else if (*at == NSX_NONE)
			*at = i;
		else
			rc = join_cells(f, *at, i);
	}
	nsx_map_free(&first);
	return rc;
}

int
nsx_idle_end_windows(struct idle *f)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	struct nsx_err none = { "" };

	for (size_t i = 0; i < f->devices.n; i++) {
		struct nsx_idle_device *d = &f->devices.p[i];

		if (!d->begun)
			continue;
		first = min2(first, d->first);
		last = max2(last, d->busy);
		if (d->between != NSX_NONE && f->options->by == NSX_IDLE_MODULE) {
			struct nsx_str label = d->any_module ? NSX_STR("[after]") : NSX_STR("[none]");

			f->windows.p[d->between].label = nsx_cat_intern(&f->cat, label, &none);
		}
	}
	for (size_t i = 0; i < f->windows.n; i++) {
		struct idle_window *w = &f->windows.p[i];
		const struct nsx_idle_device *d = &f->devices.p[w->device];

		switch (f->options->by) {
		case NSX_IDLE_DEVICE:
			add_edges(w, d, f->options->all ? first : d->first, f->options->all ? last : d->busy);
			break;
		case NSX_IDLE_RANGE:
		case NSX_IDLE_GIVEN:
			if (d->begun)
				add_edges(w, d, w->start, w->end);
			else
				w->length = 0;
			break;
		case NSX_IDLE_EVERY:
			w->length = w->end - w->start;
			break;
		case NSX_IDLE_STEP:
		case NSX_IDLE_MODULE:
		case NSX_IDLE_EXECUTION:
			break;
		}
	}
	if (none.msg[0])
		return nsx_err_nomem(f->err, NULL);
	return f->options->by == NSX_IDLE_GIVEN ? join_given(f) : NSX_OK;
}
