/* periods.c -- see periods.h. */
#include "job/steps/periods.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "base/stat.h"
#include "job/steps/between.h"

/* The number of steps of one class and device from list[i] on. */
static size_t
run_of(const struct nsx_step_set *s, size_t i)
{
	const struct nsx_step_of *o = &s->list.p[i];
	size_t n = 1;

	while (i + n < s->list.n && o[n].class == o->class && o[n].device == o->device)
		n++;
	return n;
}

/* ---- what is no step */

bool
nsx_step_is_seen(const struct nsx_step_set *s, int64_t profile, int64_t start, int64_t end)
{
	uint32_t at = nsx_cat_find_profile(&s->cat, profile);

	return at == NSX_NONE || (start >= s->cat.profiles.p[at].from && end <= s->cat.profiles.p[at].to);
}

int
nsx_step_cut(struct nsx_step_set *s, uint32_t class)
{
	if (!nsx_vec_reach(&s->cut, class, NULL))
		return nsx_err_nomem(s->err, NULL);
	s->cut.p[class]++;
	return NSX_OK;
}

static int
drop_cut(struct nsx_step_set *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->list.n; i++) {
		const struct nsx_step_of *o = &s->list.p[i];
		const struct nsx_step *x = &s->steps.p[o->step];

		if (!x->cut && nsx_step_is_seen(s, x->profile, o->first, o->last))
			s->list.p[kept++] = *o;
		else if (nsx_step_cut(s, o->class) != NSX_OK)
			return NSX_ERR;
		else if (!nsx_vec_push(&s->dropped, *o))
			return nsx_err_nomem(s->err, NULL);
	}
	s->list.n = kept;
	return NSX_OK;
}

/* ---- executions of no named program */

/* Of the programs that ran twice on a device, also if the window cut all executions but one, the one with most time,
 * of several the first by name; NSX_NONE: none. */
static uint32_t
longest(const struct nsx_step_set *s)
{
	uint32_t best = NSX_NONE;
	int64_t most = -1;

	for (size_t i = 0, n; i < s->list.n; i += n) {
		int64_t time = 0;
		bool often = s->list.p[i].class < s->cut.n && s->cut.p[s->list.p[i].class];

		for (n = 0; i + n < s->list.n && s->list.p[i + n].class == s->list.p[i].class; n++) {
			const struct nsx_step_of *o = &s->list.p[i + n];

			time = nsx_add_sat(time, o->last - o->first, NULL);
			often |= n && o[-1].device == o->device;
		}
		if (often && time > most) {
			most = time;
			best = s->list.p[i].class;
		}
	}
	return best;
}

static bool
keep_longest(struct nsx_step_set *s)
{
	uint32_t best = longest(s);
	size_t kept = 0;

	for (size_t i = 0; i < s->list.n; i++) {
		const struct nsx_step_of *o = &s->list.p[i];

		if (o->class == best)
			s->list.p[kept++] = *o;
		else if (!nsx_vec_push(&s->others, ((struct nsx_step_other){ o->device, o->class, o->first,
		                                                             o->last - o->first })))
			return false;
	}
	s->list.n = kept;
	return true;
}

NSX_ORDER(by_start, struct nsx_step_other, NSX_CMP(a->device, b->device), NSX_CMP(a->start, b->start),
          NSX_CMP(a->class, b->class))

/* The others of a device, sorted by start: *n of them. */
static const struct nsx_step_other *
others_of(const struct nsx_step_set *s, uint32_t device, size_t *n)
{
	size_t from, to;

	NSX_BISECT(from, 0, s->others.n, s->others.p[from].device >= device);
	NSX_BISECT(to, from, s->others.n, s->others.p[to].device > device);
	*n = to - from;
	return s->others.p + from;
}

/* Executions of other programs in the periods of n steps of a device. spans: space for as many. */
static void
mix_programs(const struct nsx_step_set *s, struct nsx_step_of *o, size_t n, int64_t *spans)
{
	size_t m, k;
	const struct nsx_step_other *x = others_of(s, o->device, &m);
	int64_t median;

	for (size_t i = 0; i < n; i++)
		spans[i] = o[i].last - o[i].first;
	qsort(spans, n, sizeof *spans, nsx_sort_by_int);
	median = nsx_percentile(spans, n, 50);
	k = nsx_sort_first(x, m, sizeof *x, offsetof(struct nsx_step_other, start), o->first);
	for (size_t i = 0; i + 1 < n; i++)
		for (; k < m && x[k].start < o[i + 1].first; k++)
			if (x[k].dur >= median - median / 2 && o[i].other == NSX_NONE)
				o[i].other = x[k].class;
}

/* ---- other classes of the set */

/* All steps of the set by device and start, to look up what starts in a period. */
static bool
list_starts(struct nsx_step_set *s)
{
	for (size_t i = 0; i < s->list.n; i++)
		if (!nsx_vec_push(&s->others, ((struct nsx_step_other){ s->list.p[i].device, s->list.p[i].class,
		                                                        s->list.p[i].first, 0 })))
			return false;
	return true;
}

/* Steps of other classes in the periods of n steps of a device. */
static void
mix_classes(const struct nsx_step_set *s, struct nsx_step_of *o, size_t n)
{
	size_t m, k;
	const struct nsx_step_other *x = others_of(s, o->device, &m);

	k = nsx_sort_first(x, m, sizeof *x, offsetof(struct nsx_step_other, start), o->first);
	for (size_t i = 0; i + 1 < n; i++)
		for (; k < m && x[k].start < o[i + 1].first; k++)
			if (x[k].class != o->class && o[i].other == NSX_NONE)
				o[i].other = x[k].class;
}

static bool
has_classes(const struct nsx_step_set *s)
{
	return s->list.n && s->list.p[0].class != s->list.p[s->list.n - 1].class;
}

/* Steps of all classes follow each other. */
static bool
is_sequence(const struct nsx_step_set *s)
{
	return s->kind == NSX_STEP_SERVING && has_classes(s);
}

static int
find_mixed(struct nsx_step_set *s)
{
	bool programs = s->kind == NSX_STEP_MODULE, classes = !programs && has_classes(s) && !is_sequence(s);
	int64_t *spans = malloc((s->list.n + 1) * sizeof *spans);

	if (!spans || (classes && !list_starts(s))) {
		free(spans);
		return nsx_err_nomem(s->err, NULL);
	}
	nsx_sort(s->others.p, s->others.n, by_start);
	for (size_t i = 0, n; i < s->list.n; i += n) {
		n = run_of(s, i);
		if (programs)
			mix_programs(s, &s->list.p[i], n, spans);
		else if (classes)
			mix_classes(s, &s->list.p[i], n);
	}
	free(spans);
	return programs ? NSX_OK : nsx_between_finish(&s->between, s);
}

/* ---- periods */

static struct nsx_timeline_sums
no_sums(void)
{
	struct nsx_timeline_sums sums = { { 0 }, NSX_ABSENT, 0 };

	for (int i = 0; i < NSX_NPARTS; i++)
		sums.part[i] = NSX_ABSENT;
	return sums;
}

/* The activities of the step's device up to the start of the next one. The device is idle before its first operation
 * and after its last. */
static struct nsx_timeline_sums
sums_of(const struct nsx_step_set *s, const struct nsx_step_of *o)
{
	struct nsx_timeline_sums sums;
	int64_t busy = 0;

	if (o->next == NSX_ABSENT || o->device >= s->timelines.n || !s->timelines.p[o->device].parts.begun)
		return no_sums();
	sums = nsx_timeline_between(&s->timelines.p[o->device], o->first, o->next);
	for (int i = 0; i < NSX_PART_IDLE; i++)
		busy += sums.part[i];
	sums.part[NSX_PART_IDLE] = o->next - o->first - sums.removed - busy;
	return sums;
}

void
nsx_step_measure(const struct nsx_step_set *s, struct nsx_step_of *o)
{
	o->sums = sums_of(s, o);
	o->period = o->next == NSX_ABSENT ? NSX_ABSENT : o->next - o->first - o->sums.removed;
}

/* The start of the next step of any class on the device; NSX_ABSENT: it is the last. */
static int64_t
next_of_any(const struct nsx_step_set *s, const struct nsx_step_of *o)
{
	size_t n, k;
	const struct nsx_step_other *x = others_of(s, o->device, &n);

	k = nsx_sort_first(x, n, sizeof *x, offsetof(struct nsx_step_other, start), o->first + 1);
	return k < n ? x[k].start : NSX_ABSENT;
}

static bool
set_periods(struct nsx_step_set *s)
{
	bool any = is_sequence(s);

	if (any && !list_starts(s))
		return false;
	if (any)
		nsx_sort(s->others.p, s->others.n, by_start);
	for (size_t i = 0; i < s->list.n; i++) {
		struct nsx_step_of *o = &s->list.p[i];
		bool next = i + 1 < s->list.n && o[1].class == o->class && o[1].device == o->device;

		o->next = any ? next_of_any(s, o) : next ? o[1].first : NSX_ABSENT;
		o->other = NSX_NONE;
		nsx_step_measure(s, o);
	}
	return true;
}

static void
keep_pure(struct nsx_step_set *s)
{
	for (size_t i = 0, n; i < s->list.n; i += n) {
		struct nsx_step_of *o = &s->list.p[i];
		size_t pure = 0;

		n = run_of(s, i);
		for (size_t k = 0; k < n; k++)
			pure += o[k].period != NSX_ABSENT && o[k].other == NSX_NONE;
		for (size_t k = 0; k < n; k++)
			o[k].kept = o[k].period != NSX_ABSENT && (pure < 2 || o[k].other == NSX_NONE);
	}
}

struct nsx_step_mean
nsx_step_mean(const struct nsx_step_set *s, uint32_t class)
{
	struct nsx_stat stat = { 0 };

	for (size_t i = 0; i < s->list.n && class != NSX_NONE; i++)
		if (s->list.p[i].class == class && s->list.p[i].kept)
			nsx_stat_add(&stat, s->list.p[i].period);
	return (struct nsx_step_mean){ (int64_t)stat.n, stat.n ? nsx_stat_mean(&stat) : 0 };
}

int
nsx_step_periods(struct nsx_step_set *s)
{
	if (drop_cut(s) != NSX_OK)
		return NSX_ERR;
	if (s->kind == NSX_STEP_MODULE && !s->label && !keep_longest(s))
		return nsx_err_nomem(s->err, NULL);
	if (!set_periods(s))
		return nsx_err_nomem(s->err, NULL);
	if (find_mixed(s) != NSX_OK)
		return NSX_ERR;
	keep_pure(s);
	return NSX_OK;
}
