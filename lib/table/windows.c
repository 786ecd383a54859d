/* windows.c -- see windows.h. */
#include "table/windows.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/pattern.h"
#include "base/sort.h"
#include "job/missing.h"
#include "job/reach.h"

enum { FEW_MODULES = 64 };   /* below this number, ended modules of a device are not searched */

/* Maximum of windows by time, of all devices: 700 MB. A mistyped short time would otherwise fill the memory. */
enum { BUCKETS = 1000000 };

struct module { int64_t start, end, execution; uint32_t program; };

/* A device's state. */
struct nsx_windows_device {
	bool     begun;
	int64_t  first, last;       /* its own time */
	uint32_t window;            /* the current one; NSX_NONE: none */
	uint32_t between;           /* the one between modules; NSX_NONE: not created */
	NSX_VEC(struct module) modules;    /* that may contain time that is not assigned yet */
	size_t   modules_open;      /* number left when ended ones were last removed */
	bool     any_module;
	NSX_VEC(uint32_t) open;     /* windows of ranges, or given, by start */
};

/* The time that is assigned: of a device. */
struct part {
	struct nsx_windows *w;
	struct nsx_windows_device *d;
	uint32_t device;
	int64_t start, end;
	nsx_window_fn *add;
	void *state;
};

/* The state of a device, created with those before it; NULL when out of memory. */
static inline struct nsx_windows_device *
device_at(struct nsx_windows *w, uint32_t index)
{
	static const struct nsx_windows_device none = { .window = NSX_NONE, .between = NSX_NONE };

	return index != NSX_NONE && nsx_vec_reach(&w->devices, index, &none) ? &w->devices.p[index] : NULL;
}

/* Its number; NSX_NONE when out of memory. */
static uint32_t
new_window(struct nsx_windows *w, uint32_t device, int64_t start, int64_t end, int64_t key, uint32_t label,
           uint32_t next)
{
	struct nsx_window new = { .device = device, .start = start, .end = end, .first = start, .key = key,
	                          .label = label, .next = next };

	if (w->list.n >= NSX_NONE - 1 || !nsx_vec_push(&w->list, new)) {
		nsx_err_nomem(w->err, NULL);
		return NSX_NONE;
	}
	return (uint32_t)(w->list.n - 1);
}

static int
add(const struct part *p, uint32_t window, int64_t start, int64_t end)
{
	return start < end ? p->add(p->state, window, start, end) : NSX_OK;
}

/* ---- one window for all of a device */

static int
add_to_device(struct part *p)
{
	struct nsx_windows_device *d = p->d;

	if (d->window == NSX_NONE && (d->window = new_window(p->w, p->device, p->start, p->end, NSX_ABSENT, NSX_NONE,
	    NSX_NONE)) == NSX_NONE)
		return NSX_ERR;
	p->w->list.p[d->window].end = p->end;
	return add(p, d->window, p->start, p->end);
}

/* ---- every */

/* floor(t / every) * every; times of aligned streams may be negative. */
static int64_t
bucket_start(int64_t t, int64_t every)
{
	int64_t rest = t % every;

	return t - (rest < 0 ? rest + every : rest);
}

static int
add_to_buckets(struct part *p)
{
	struct nsx_windows *w = p->w;
	struct nsx_windows_device *d = p->d;

	for (int64_t t = p->start, stop; t < p->end; t = stop) {
		int64_t start = bucket_start(t, w->every);

		stop = nsx_min(nsx_add_sat(start, w->every, NULL), p->end);
		if (d->window == NSX_NONE || w->list.p[d->window].key != start) {
			if (w->list.n >= BUCKETS)
				return nsx_err_set(w->err, "--by every: more than %d windows: take a longer time",
				                   BUCKETS);
			d->window = new_window(w, p->device, t, stop, start, NSX_NONE, NSX_NONE);
			if (d->window == NSX_NONE)
				return NSX_ERR;
		}
		w->list.p[d->window].end = stop;
		if (add(p, d->window, t, stop) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

/* ---- modules and executions */

static int
take_module(struct nsx_windows *w, const struct nsx_rec *rec)
{
	uint32_t device = nsx_cat_device(w->cat, rec), program = nsx_cat_program(w->cat, rec);
	int64_t start = nsx_int(rec, NSX_MODULE_start, NSX_ABSENT), dur = nsx_int(rec, NSX_MODULE_dur, NSX_ABSENT);
	struct nsx_windows_device *d;

	if (device == NSX_NONE || program == NSX_NONE)
		return nsx_err_nomem(w->err, NULL);
	if (start == NSX_ABSENT || dur < 0)
		return NSX_OK;
	d = device_at(w, device);
	struct module m = { start, nsx_add_sat(start, dur, NULL), nsx_int(rec, NSX_MODULE_execution, NSX_ABSENT),
	                    program };

	return d && nsx_vec_push(&d->modules, m) ? NSX_OK : nsx_err_nomem(w->err, NULL);
}

/* The window of that key, created with that label, NSX_NONE when out of memory. */
static uint32_t
keyed(struct nsx_windows *w, struct nsx_key key, uint32_t device, int64_t first, int64_t number, struct nsx_str label,
      struct nsx_str next)
{
	uint32_t *at = nsx_map_at(&w->of, key);
	struct nsx_err none = { "" };

	if (at && *at == NSX_NONE) {
		/* A name that the catalogue has comes first: another new text may move it. */
		uint32_t then = next.ptr ? nsx_cat_intern(w->cat, next, &none) : (uint32_t)NSX_NONE;
		uint32_t text = nsx_cat_intern(w->cat, label, &none);

		if (!none.msg[0])
			*at = new_window(w, device, first, first, number, text, then);
	}
	if (!at || *at == NSX_NONE)
		nsx_err_nomem(w->err, NULL);
	return at ? *at : NSX_NONE;
}

/* The window that sums all of a program, or all before it. */
static uint32_t
program_window(struct nsx_windows *w, uint32_t device, uint32_t program, bool before, int64_t first)
{
	struct nsx_str name = nsx_cat_program_label(w->cat, program);

	return keyed(w, (struct nsx_key){ (uint64_t)device << 1 | before, program }, device, first, NSX_ABSENT,
	             before ? NSX_STR("[before]") : name, before ? name : (struct nsx_str){ NULL, 0 });
}

/* The window of an execution. */
static uint32_t
execution_window(struct nsx_windows *w, uint32_t device, const struct module *m, int64_t t)
{
	return keyed(w, (struct nsx_key){ (uint64_t)device << 32 | m->program, (uint64_t)m->execution }, device, t,
	             m->execution, nsx_cat_program_label(w->cat, m->program), (struct nsx_str){ NULL, 0 });
}

static int
join(struct nsx_windows *w, uint32_t to, uint32_t from)
{
	struct nsx_window *a = &w->list.p[to], *b = &w->list.p[from];

	if (w->join(w->state, to, from) != NSX_OK)
		return NSX_ERR;
	a->length += b->length;
	a->first = nsx_min(a->first, b->first);
	b->length = 0;
	return NSX_OK;
}

/* Time between modules was before this one. */
static int
give_between(struct part *p, uint32_t program)
{
	const struct nsx_window *between = p->d->between == NSX_NONE ? NULL : &p->w->list.p[p->d->between];
	uint32_t to;

	if (p->w->by != NSX_WINDOWS_MODULE || !between || between->length == 0)
		return NSX_OK;
	to = program_window(p->w, p->device, program, true, between->first);
	return to == NSX_NONE ? NSX_ERR : join(p->w, to, p->d->between);
}

/* Remove those that ended before t when there are twice as many as were open the last time, so that a long one does not
 * keep others in memory. */
static void
forget_modules(struct nsx_windows_device *d, int64_t t)
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
static const struct module *
holds(const struct nsx_windows_device *d, int64_t t, int64_t end, int64_t *until)
{
	const struct module *m = NULL;

	*until = end;
	for (size_t i = 0; i < d->modules.n; i++) {
		const struct module *x = &d->modules.p[i];

		if (x->start > t) {
			*until = nsx_min(*until, x->start);
			break;
		}
		if (x->end > t)
			m = x;
	}
	if (m)
		*until = nsx_min(*until, m->end);
	return m;
}

/* The window of the time between modules. */
static uint32_t
between_window(struct part *p, int64_t t)
{
	struct nsx_err none = { "" };
	uint32_t *at = &p->d->between;

	if (*at == NSX_NONE) {
		uint32_t label = nsx_cat_intern(p->w->cat, NSX_STR("[between]"), &none);

		if (none.msg[0])
			nsx_err_nomem(p->w->err, NULL);
		else
			*at = new_window(p->w, p->device, t, t, NSX_ABSENT, label, NSX_NONE);
	} else if (p->w->list.p[*at].length == 0) {
		p->w->list.p[*at].first = t;
	}
	return *at;
}

static int
add_to_modules(struct part *p)
{
	for (int64_t t = p->start, until; t < p->end; t = until) {
		const struct module *m = holds(p->d, t, p->end, &until);
		uint32_t at;

		if (!m) {
			at = between_window(p, t);
		} else {
			p->d->any_module = true;
			if (give_between(p, m->program) != NSX_OK)
				return NSX_ERR;
			at = p->w->by == NSX_WINDOWS_MODULE ? program_window(p->w, p->device, m->program, false, t)
			    : execution_window(p->w, p->device, m, t);
		}
		if (at == NSX_NONE)
			return NSX_ERR;
		p->w->list.p[at].length += until - t;
		if (add(p, at, t, until) != NSX_OK)
			return NSX_ERR;
	}
	forget_modules(p->d, p->end);
	return NSX_OK;
}

/* ---- ranges, steps, and others that are known before their time */

/* Insert a window that later times may be in, by start. */
static int
open_window(struct nsx_windows *w, uint32_t device, int64_t start, int64_t end, int64_t key, uint32_t label)
{
	uint32_t at = new_window(w, device, start, end, key, label, NSX_NONE);
	struct nsx_windows_device *d = device_at(w, device);
	size_t k;

	if (at == NSX_NONE || !d || !nsx_vec_room(&d->open, 1))
		return nsx_err_nomem(w->err, NULL);
	for (k = d->open.n++; k && w->list.p[d->open.p[k - 1]].start > start; k--)
		d->open.p[k] = d->open.p[k - 1];
	d->open.p[k] = at;
	w->list.p[at].length = end - start;
	return NSX_OK;
}

/* A window for a range: on its device, or on each device of the process if it has none. */
static int
open_range(struct nsx_windows *w, const struct nsx_rec *range)
{
	struct nsx_str name = nsx_range_book_name(&w->book, range, w->names);
	int64_t start = nsx_int(range, NSX_RANGE_start, NSX_ABSENT), dur = nsx_int(range, NSX_RANGE_dur, 0);
	int64_t end = nsx_add_sat(start, dur, NULL);
	uint32_t label = nsx_cat_intern(w->cat, name, w->err), device;

	if (label == NSX_NONE && name.len)
		return NSX_ERR;
	if (start == NSX_ABSENT || dur < 0)
		return NSX_OK;
	if (nsx_has(range, NSX_RANGE_device)) {
		device = nsx_cat_device(w->cat, range);
		return device == NSX_NONE ? nsx_err_nomem(w->err, NULL)
		                          : open_window(w, device, start, end, start, label);
	}
	for (uint32_t i = 0; i < w->cat->devices.n; i++)
		if (nsx_cat_of_process(w->cat, i, range) && open_window(w, i, start, end, start, label) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

static int
take_range(struct nsx_windows *w, const struct nsx_rec *rec)
{
	struct nsx_str full = nsx_range_book_name(&w->book, rec, NSX_NAMES_FULL);
	int matched;

	w->text.len = 0;
	nsx_buf_str(&w->text, full);
	nsx_buf_char(&w->text, '\0');
	if (w->text.failed)
		return nsx_err_nomem(w->err, NULL);
	matched = regexec(&w->pattern, w->text.ptr, 0, NULL, 0);
	if (matched == 0)
		return open_range(w, rec);
	if (!w->list.n)
		nsx_near_offer(&w->near, full);
	/* Matching needs memory; glibc reports a lack of memory as no match. */
	return matched == REG_NOMATCH ? NSX_OK : nsx_err_nomem(w->err, NULL);
}

/* Of a device whose time begins. */
static int
open_given(struct nsx_windows *w, uint32_t device)
{
	int64_t number = w->cat->devices.p[device].number;
	size_t i = nsx_window_given_of(w->given, w->ngiven, number);

	for (; i < w->ngiven && w->given[i].device == number; i++)
		if (open_window(w, device, w->given[i].start, w->given[i].end, w->given[i].key, w->given[i].label)
		    != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

static int
add_to_open(struct nsx_windows *w, struct nsx_windows_device *d, int64_t start, int64_t end, nsx_window_fn *fn,
            void *state)
{
	size_t kept = 0, i;

	for (i = 0; i < d->open.n; i++) {
		uint32_t at = d->open.p[i];
		const struct nsx_window *x = &w->list.p[at];

		if (x->start >= end)
			break;
		if (x->end > start) {
			int64_t from = nsx_max(start, x->start), to = nsx_min(end, x->end);

			if (from < to && fn(state, at, from, to) != NSX_OK)
				return NSX_ERR;
			d->open.p[kept++] = at;
		}
	}
	/* Given windows all exist from the start: they are moved when one has ended, not for every time. */
	if (kept < i)
		memmove(d->open.p + kept, d->open.p + i, (d->open.n - i) * sizeof *d->open.p);
	d->open.n -= i - kept;
	return NSX_OK;
}

/* ---- all windows */

int
nsx_windows_begin(struct nsx_windows *w)
{
	if (w->by != NSX_WINDOWS_RANGE)
		return NSX_OK;
	if (nsx_pattern_compile(w->range, REG_NOSUB, &w->pattern, w->err) != NSX_OK)
		return NSX_ERR;
	w->has_pattern = true;
	w->near.want = nsx_str_c(w->range);
	return NSX_OK;
}

void
nsx_windows_need(const struct nsx_windows *w, struct nsx_reader *in)
{
	if (w->by == NSX_WINDOWS_MODULE || w->by == NSX_WINDOWS_EXECUTION)
		nsx_reader_need(in, NSX_MODULE, NSX_EVERY);
	if (w->by == NSX_WINDOWS_RANGE)
		nsx_reader_need(in, NSX_RANGE, nsx_field_slots(NSX_RANGE, NSX_REACH_ROLES) | NSX_C(RANGE, domain)
		                               | NSX_C(RANGE, name) | NSX_C(RANGE, profile) | NSX_C(RANGE, pid)
		                               | NSX_C(RANGE, device));
}

int
nsx_windows_take(struct nsx_windows *w, const struct nsx_rec *rec)
{
	bool programs = w->by == NSX_WINDOWS_MODULE || w->by == NSX_WINDOWS_EXECUTION;

	if (rec->kind->id == NSX_MODULE && programs && nsx_in_reach(rec))
		return take_module(w, rec);
	return rec->kind->id == NSX_RANGE && w->has_pattern && nsx_in_reach(rec) ? take_range(w, rec) : NSX_OK;
}

int
nsx_windows_seen(struct nsx_windows *w, uint32_t device, int64_t start, int64_t end)
{
	struct nsx_windows_device *d = device_at(w, device);

	if (!d)
		return nsx_err_nomem(w->err, NULL);
	if (d->begun) {
		d->last = nsx_max(d->last, end);
		return NSX_OK;
	}
	d->begun = true;
	d->first = start;
	d->last = end;
	return w->by == NSX_WINDOWS_GIVEN || w->by == NSX_WINDOWS_STEP ? open_given(w, device) : NSX_OK;
}

int
nsx_windows_each(struct nsx_windows *w, uint32_t device, int64_t start, int64_t end, nsx_window_fn *fn, void *state)
{
	struct nsx_windows_device *d = device_at(w, device);

	if (!d)
		return nsx_err_nomem(w->err, NULL);
	if (w->by == NSX_WINDOWS_STEP || w->by == NSX_WINDOWS_RANGE || w->by == NSX_WINDOWS_GIVEN)
		return add_to_open(w, d, start, end, fn, state);

	struct part p = { w, d, device, start, end, fn, state };

	return w->by == NSX_WINDOWS_DEVICE ? add_to_device(&p) : w->by == NSX_WINDOWS_EVERY ? add_to_buckets(&p)
	       : add_to_modules(&p);
}

/* The parts of [start, end) outside the device's own time. */
static void
set_edges(struct nsx_window *x, const struct nsx_windows_device *d, int64_t start, int64_t end)
{
	x->before = nsx_max(0, nsx_min(end, d->first) - start);
	x->after = nsx_max(0, end - nsx_max(start, d->last));
	x->length = end - start;
}

int
nsx_windows_finish(struct nsx_windows *w)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	struct nsx_err none = { "" };

	for (size_t i = 0; i < w->devices.n; i++) {
		const struct nsx_windows_device *d = &w->devices.p[i];

		if (!d->begun)
			continue;
		first = nsx_min(first, d->first);
		last = nsx_max(last, d->last);
		if (d->between != NSX_NONE && w->by == NSX_WINDOWS_MODULE)
			w->list.p[d->between].label = nsx_cat_intern(w->cat, d->any_module ? NSX_STR("[after]")
			                                             : NSX_STR("[none]"), &none);
	}
	for (size_t i = 0; i < w->list.n; i++) {
		struct nsx_window *x = &w->list.p[i];
		const struct nsx_windows_device *d = &w->devices.p[x->device];

		if (w->by == NSX_WINDOWS_DEVICE)
			set_edges(x, d, w->all ? first : d->first, w->all ? last : d->last);
		else if (w->by == NSX_WINDOWS_EVERY)
			x->length = x->end - x->start;
		else if ((w->by == NSX_WINDOWS_RANGE || w->by == NSX_WINDOWS_GIVEN) && d->begun)
			set_edges(x, d, x->start, x->end);
		else if (w->by == NSX_WINDOWS_RANGE)
			x->length = 0;
	}
	return none.msg[0] ? nsx_err_nomem(w->err, NULL) : NSX_OK;
}

int
nsx_windows_join(struct nsx_windows *w)
{
	struct nsx_map first = { 0 };
	int rc = NSX_OK;

	for (uint32_t i = 0; w->by == NSX_WINDOWS_GIVEN && i < w->list.n && rc == NSX_OK; i++) {
		const struct nsx_window *x = &w->list.p[i];
		uint32_t *at = nsx_map_at(&first, (struct nsx_key){ x->device, (uint64_t)x->key });

		if (!at)
			rc = nsx_err_nomem(w->err, NULL);
		else if (*at == NSX_NONE)
			*at = i;
		else
			rc = join(w, *at, i);
	}
	nsx_map_free(&first);
	return rc;
}

int
nsx_windows_report(const struct nsx_windows *w, bool empty, struct nsx_diags *diags)
{
	if (empty || w->list.n || w->by != NSX_WINDOWS_RANGE)
		return NSX_OK;
	return nsx_missing_range(&w->near, w->range, false, diags, w->err);
}

void
nsx_windows_free(struct nsx_windows *w)
{
	for (size_t i = 0; i < w->devices.n; i++) {
		free(w->devices.p[i].modules.p);
		free(w->devices.p[i].open.p);
	}
	free(w->devices.p);
	free(w->list.p);
	nsx_map_free(&w->of);
	if (w->has_pattern)
		regfree(&w->pattern);
	nsx_near_free(&w->near);
	nsx_range_book_free(&w->book);
	nsx_buf_free(&w->text);
}

/* ---- given windows as the time that is examined */

NSX_ORDER(by_device, struct nsx_window_given, NSX_CMP(a->device, b->device), NSX_CMP(a->start, b->start),
          NSX_CMP(a->key, b->key))

void
nsx_window_given_sort(struct nsx_window_given *given, size_t n)
{
	nsx_sort(given, n, by_device);
}

size_t
nsx_window_given_of(const struct nsx_window_given *given, size_t n, int64_t device)
{
	return nsx_sort_first(given, n, sizeof *given, offsetof(struct nsx_window_given, device), device);
}

const struct nsx_window_given *
nsx_window_given_at(const struct nsx_window_given *given, size_t n, int64_t device, int64_t at, size_t *from)
{
	if (*from == 0)
		*from = nsx_window_given_of(given, n, device);
	while (*from < n && given[*from].device == device && given[*from].end <= at)
		(*from)++;
	return *from < n && given[*from].device == device ? &given[*from] : NULL;
}
