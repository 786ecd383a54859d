/* detect.c -- see detect.h. */
#include "job/steps/detect.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/num.h"
#include "base/sort.h"
#include "base/stat.h"
#include "job/frameworks.h"
#include "job/reach.h"
#include "job/serving.h"
#include "job/steps/class.h"

enum { STEPS = 3, BEST = 5, CLOSE = 90 };   /* CLOSE: percent of the share of the chosen class */

static bool
add_span(struct nsx_step_classes *c, struct nsx_step_span s, bool suffixed)
{
	return suffixed ? nsx_vec_push(&c->suffixed, s) : nsx_vec_push(&c->spans, s);
}

static bool
take_range(struct nsx_step_classes *c, const struct nsx_rec *rec)
{
	int64_t start = nsx_int(rec, NSX_RANGE_start, NSX_ABSENT), dur = nsx_int(rec, NSX_RANGE_dur, 0);
	int64_t end = nsx_add_sat(start, dur > 0 ? dur : 0, NULL);   /* none ends before it starts */
	struct nsx_str name = start == NSX_ABSENT ? NSX_STR("") : nsx_step_class_name(&c->book, rec, false);
	bool suffixed = !name.len && start != NSX_ABSENT && c->repeats;
	uint32_t class;

	if (suffixed)
		name = nsx_step_class_name(&c->book, rec, true);
	if (!name.len)
		return true;
	class = nsx_intern(&c->names, name);
	if (class == NSX_NONE)
		return false;
	if (nsx_has(rec, NSX_RANGE_device))
		return add_span(c, (struct nsx_step_span){ class, nsx_cat_device(&c->cat, rec), start, end }, suffixed);
	for (uint32_t i = 0; i < c->cat.devices.n; i++)
		if (nsx_cat_of_process(&c->cat, i, rec)
		    && !add_span(c, (struct nsx_step_span){ class, i, start, end }, suffixed))
			return false;
	return true;
}

static bool
take_op(struct nsx_step_classes *c, const struct nsx_rec *rec)
{
	uint32_t device = nsx_cat_device(&c->cat, rec);
	int64_t start = nsx_int(rec, NSX_OP_start, NSX_ABSENT), dur = nsx_int(rec, NSX_OP_dur, -1);

	if (device == NSX_NONE || !nsx_vec_reach(&c->timelines, device, NULL))
		return false;
	return start == NSX_ABSENT || dur < 0
	       || nsx_timeline_add(&c->timelines.p[device], NSX_PART_COMPUTE, start, nsx_add_sat(start, dur, NULL),
	                           NULL);
}

void
nsx_step_classes_need(struct nsx_reader *in)
{
	nsx_range_book_need(in, false);
	nsx_reader_need(in, NSX_RANGE, nsx_field_slots(NSX_RANGE, NSX_REACH_ROLES) | NSX_C(RANGE, device)
	                               | NSX_C(RANGE, pid) | NSX_C(RANGE, kind));
	nsx_reader_need(in, NSX_OP, nsx_field_slots(NSX_OP, NSX_REACH_ROLES) | NSX_C(OP, device));
}

int
nsx_step_classes_take(struct nsx_step_classes *c, const struct nsx_rec *rec)
{
	bool good = true;

	if (!nsx_in_reach(rec))
		return NSX_OK;
	if (rec->kind->id == NSX_RANGE)
		good = take_range(c, rec);
	else if (rec->kind->id == NSX_OP)
		good = take_op(c, rec);
	else
		return nsx_cat_take(&c->cat, rec, c->err);
	return good ? NSX_OK : nsx_err_nomem(c->err, NULL);
}

NSX_ORDER(by_class, struct nsx_step_span, NSX_CMP(a->class, b->class), NSX_CMP(a->device, b->device),
          NSX_CMP(a->start, b->start))

struct class { uint32_t name; int64_t busy; size_t instances; bool repeats; };

/* Whether the class is a framework's name for steps, after its domain if it has one. */
static bool
is_known(struct nsx_str class)
{
	if (nsx_serving_is_class(class))
		return true;
	for (size_t at = 0; at < class.len; at++)
		if ((at == 0 || class.ptr[at - 1] == ':')
		    && nsx_framework_is(NSX_FRAMEWORK_STEP, (struct nsx_str){ class.ptr + at, class.len - at }))
			return true;
	return false;
}

/* Busy time of the device within the union of n spans, sorted by start. */
static int64_t
covered(const struct nsx_timeline *t, const struct nsx_step_span *s, size_t n)
{
	struct nsx_union seen = { 0 };
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t fresh = nsx_union_add(&seen, s[i].start, s[i].end);

		if (fresh)
			sum += nsx_timeline_between(t, (int64_t)((uint64_t)s[i].end - fresh),
			                            s[i].end).part[NSX_PART_COMPUTE];
	}
	return sum;
}

static int
by_busy(const void *a, const void *b, const void *names)
{
	const struct class *x = a, *y = b;

	return NSX_FIRST(NSX_CMP(y->busy, x->busy), NSX_CMP(x->instances, y->instances),
	                 nsx_str_cmp(nsx_intern_str(names, x->name), nsx_intern_str(names, y->name)));
}

/* The index of the class of steps among n classes, sorted by work, the most first; n: none. */
static size_t
choose(const struct nsx_step_classes *c, const struct class *classes, size_t n, int64_t all)
{
	size_t taken = n;

	for (size_t i = 0; i < n && all > 0 && classes[i].busy >= all - classes[i].busy; i++) {
		if (!classes[i].repeats)
			continue;
		if (is_known(nsx_intern_str(&c->names, classes[i].name)))
			return i;
		if (taken == n)
			taken = i;
	}
	return taken;
}

/* Report the other class that may be meant: among those that contain nearly as much as the chosen one, or more, the one
 * with the most work. */
static void
name_close(const struct nsx_step_classes *c, const struct class *classes, size_t n, size_t taken, int64_t all,
           struct nsx_diags *diags)
{
	struct nsx_str name = nsx_intern_str(&c->names, classes[taken].name), other;

	for (size_t i = 0; i < n; i++) {
		if (i == taken || !classes[i].repeats
		    || (double)classes[i].busy < (double)classes[taken].busy * CLOSE / 100)
			continue;
		other = nsx_intern_str(&c->names, classes[i].name);
		nsx_diag_add(diags, is_known(name) ? NSX_INFO : NSX_WARNING, "", 1,
		             "steps are the %zu ranges '%.*s' with %.0f%% of the GPU's work; the %zu '%.*s' have "
		             "%.0f%%: --step REGEX names others",
		             classes[taken].instances, (int)(name.len < 200 ? name.len : 200), name.ptr,
		             100 * (double)classes[taken].busy / (double)all, classes[i].instances,
		             (int)(other.len < 200 ? other.len : 200), other.ptr,
		             100 * (double)classes[i].busy / (double)all);
		return;
	}
}

int
nsx_step_classes_pick(struct nsx_step_classes *c, char **name, struct nsx_diags *diags)
{
	NSX_VEC(struct class) classes = { 0 };
	int64_t all = 0;
	bool good = true;
	size_t i, n;

	*name = NULL;
	for (i = 0; good && i < c->timelines.n; i++) {
		good = nsx_timeline_finish(&c->timelines.p[i]);
		all = nsx_add_sat(all, nsx_timeline_between(&c->timelines.p[i], INT64_MIN,
		                                            INT64_MAX).part[NSX_PART_COMPUTE], NULL);
	}
	nsx_sort(c->spans.p, c->spans.n, by_class);
	for (i = 0; good && i < c->spans.n; i += n) {
		const struct nsx_step_span *s = &c->spans.p[i];

		for (n = 1; i + n < c->spans.n && s[n].class == s->class && s[n].device == s->device;)
			n++;
		if (!classes.n || classes.p[classes.n - 1].name != s->class)
			good = nsx_vec_push(&classes, ((struct class){ s->class, 0, 0, false }));
		if (!good)
			break;
		struct class *k = &classes.p[classes.n - 1];

		k->instances += n;
		k->repeats |= n >= STEPS;
		if (s->device < c->timelines.n)
			k->busy = nsx_add_sat(k->busy, covered(&c->timelines.p[s->device], s, n), NULL);
	}
	nsx_sort_with(classes.p, classes.n, sizeof *classes.p, by_busy, &c->names);
	size_t taken = good ? choose(c, classes.p, classes.n, all) : classes.n;
	if (taken < classes.n) {
		*name = nsx_str_dup(nsx_intern_str(&c->names, classes.p[taken].name));
		good = *name != NULL;
		if (good)
			name_close(c, classes.p, classes.n, taken, all, diags);
	}
	/* Without work what is said is that there is none. */
	if (good && !*name && all) {
		for (i = n = 0; i < classes.n && n < BEST; i++) {
			struct nsx_str s = nsx_intern_str(&c->names, classes.p[i].name);

			if (classes.p[i].repeats && ++n)
				nsx_diag_add(diags, NSX_WARNING, "", (int64_t)classes.p[i].instances,
				             "ranges '%.*s' have %.0f%% of the GPU's work",
				             (int)(s.len < 200 ? s.len : 200), s.ptr,
				             100 * (double)classes.p[i].busy / (double)all);
		}
		nsx_diag_add(diags, NSX_WARNING, "", 1,
			"no class of ranges has half of the GPU's work and comes three times on a device: name the "
			"steps with --step REGEX or --module NAME");
	}
	free(classes.p);
	return good ? NSX_OK : nsx_err_nomem(c->err, NULL);
}

/* ---- what repeats */

/* Periods of a class: those of one of its devices at least REPEATS, whose quartiles differ by no more than a factor of
 * REGULAR. Classes that cover NEARLY percent of what the most covers are as good. */
enum { REPEATS = 5, REGULAR = 2, NEARLY = 95 };
struct repeat { uint32_t class; size_t most; int64_t covered; bool regular; };

static bool
is_regular(int64_t *periods, size_t n)
{
	if (n < REPEATS)
		return false;
	qsort(periods, n, sizeof *periods, nsx_sort_by_int);
	return nsx_percentile(periods, n, 75) / REGULAR <= nsx_percentile(periods, n, 25);
}

/* Add the spans of a class on a device, sorted by start. */
static void
add_repeat(struct repeat *r, const struct nsx_step_span *s, size_t n, int64_t *room)
{
	for (size_t i = 0; i + 1 < n; i++)
		room[i] = s[i + 1].start - s[i].start;
	r->covered = nsx_add_sat(r->covered, s[n - 1].start - s[0].start, NULL);
	r->regular = r->regular && is_regular(room, n - 1);
	r->most = n > r->most ? n : r->most;
}

/* Whether a is better than b: with fewer instances, of equal ones that which covers more, then by name. */
static bool
is_outer(const struct nsx_step_classes *c, const struct repeat *a, const struct repeat *b)
{
	if (a->most != b->most)
		return a->most < b->most;
	if (a->covered != b->covered)
		return a->covered > b->covered;
	return nsx_str_cmp(nsx_intern_str(&c->names, a->class), nsx_intern_str(&c->names, b->class)) < 0;
}

/* The expression that names the ranges of a class. Characters that no message shows are any. */
static void
put_expression(struct nsx_buf *b, struct nsx_str class)
{
	nsx_buf_char(b, '^');
	for (size_t i = 0, n; i < class.len; i += n) {
		char c = class.ptr[i];

		n = nsx_utf8_char((struct nsx_str){ class.ptr + i, class.len - i });
		if (n == 0 || (n == 1 && ((unsigned char)c < 0x20 || c == 0x7f))) {
			n = 1;
			nsx_buf_char(b, '.');
		} else if (n > 1 && nsx_utf8_steers(class.ptr + i, n)) {
			for (size_t k = 0; k < n; k++)
				nsx_buf_char(b, '.');
		} else if (c == '#') {
			nsx_buf_c(b, "[#0-9]+");
		} else {
			nsx_buf_c(b, strchr(".[{()*+?|^$\\", c) ? "\\" : "");
			nsx_buf_add(b, class.ptr + i, n);
		}
	}
}

int
nsx_step_classes_repeat(struct nsx_step_classes *c, char **name, struct nsx_diags *diags)
{
	NSX_VEC(struct repeat) of = { 0 };
	int64_t *room = malloc((c->spans.n + c->suffixed.n + 1) * sizeof *room), most = 0, all = 0;
	bool good = room && nsx_vec_room(&c->spans, c->suffixed.n);

	*name = NULL;
	for (size_t i = 0; i < c->suffixed.n && good; i++)
		c->spans.p[c->spans.n++] = c->suffixed.p[i];
	if (good && c->spans.n)
		qsort(c->spans.p, c->spans.n, sizeof *c->spans.p, by_class);
	for (size_t i = 0, n; good && i < c->spans.n; i += n) {
		const struct nsx_step_span *s = &c->spans.p[i];

		for (n = 1; i + n < c->spans.n && s[n].class == s->class && s[n].device == s->device;)
			n++;
		if (!of.n || of.p[of.n - 1].class != s->class)
			good = nsx_vec_push(&of, ((struct repeat){ .class = s->class, .regular = true }));
		if (good)
			add_repeat(&of.p[of.n - 1], s, n, room);
	}
	for (size_t i = 0; i < c->timelines.n; i++) {
		struct nsx_timeline_sums t = nsx_timeline_between(&c->timelines.p[i], INT64_MIN, INT64_MAX);

		all = nsx_add_sat(all, nsx_add_sat(t.part[NSX_PART_COMPUTE], t.part[NSX_PART_IDLE], NULL), NULL);
	}
	for (size_t i = 0; i < of.n; i++)
		most = of.p[i].regular && of.p[i].covered > most ? of.p[i].covered : most;
	const struct repeat *best = NULL;

	for (size_t i = 0; i < of.n; i++)
		if (of.p[i].regular && of.p[i].covered > all / 2 && of.p[i].covered >= most / 100 * NEARLY
		    && (!best || is_outer(c, &of.p[i], best)))
			best = &of.p[i];
	if (good && best) {
		struct nsx_str s = nsx_intern_str(&c->names, best->class);
		struct nsx_buf step = { 0 }, word = { 0 };

		*name = nsx_str_dup(s);
		put_expression(&step, s);
		nsx_buf_shell(&word, nsx_buf_view(&step));
		nsx_buf_char(&word, '\0');
		good = *name != NULL && !step.failed && !word.failed;
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no class of ranges has half of the GPU's work: steps are from start to start of '%.*s', "
		             "%.0f%% of the time, as with --step %s, which may name others",
		             (int)(s.len < 200 ? s.len : 200), s.ptr, 100 * (double)best->covered / (double)all,
		             good ? word.ptr : "");
		nsx_buf_free(&step);
		nsx_buf_free(&word);
	}
	free(of.p);
	free(room);
	return good ? NSX_OK : nsx_err_nomem(c->err, NULL);
}

/* Count in times, by device, the spans of a class on devices that run operations. */
static void
count_class(const struct nsx_step_span *s, size_t n, uint32_t class, size_t *times, size_t devices)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].device < devices && s[i].class == class)
			times[s[i].device]++;
}

int
nsx_step_classes_have(const struct nsx_step_classes *c, struct nsx_str name, bool *have)
{
	uint32_t class = nsx_intern_find(&c->names, name);
	size_t devices = c->timelines.n;
	size_t *times = calloc(2 * devices + 1, sizeof *times);   /* of spans, behind it of suffixed ones */

	*have = false;
	if (!times)
		return nsx_err_nomem(c->err, NULL);
	if (class != NSX_NONE) {
		count_class(c->spans.p, c->spans.n, class, times, devices);
		count_class(c->suffixed.p, c->suffixed.n, class, times + devices, devices);
	}
	for (size_t i = 0; i < 2 * devices; i++)
		*have |= times[i] >= STEPS;
	free(times);
	return NSX_OK;
}

void
nsx_step_classes_free(struct nsx_step_classes *c)
{
	for (size_t i = 0; i < c->timelines.n; i++)
		nsx_timeline_free(&c->timelines.p[i]);
	free(c->timelines.p);
	free(c->spans.p);
	free(c->suffixed.p);
	nsx_cat_free(&c->cat);
	nsx_range_book_free(&c->book);
	nsx_intern_free(&c->names);
}
