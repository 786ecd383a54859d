/* devices.c -- one side by the activities of each device, as in nsysx-summary --by device: such a table, or a stream
 * that is summed up to one. Times are those of the whole run, or, if both sides have them, per execution of a program
 * on the device, as single values, so noise is not known; or per step: what each does from the start of its first step
 * to the start of its last one, a value for each step. What a recording contains before and after its steps does not
 * count, so that recordings of different lengths have equal times:
 *
 *     BASE  start-up 900  step 100  step 100  step 100         two steps to the next start, 200: 100 each
 *     NEW   start-up 900  step 100  step 100  step 100  step 100         three, 300: 100 each
 *
 * The whole runs took 1200 and 1300, divided by their steps 400 and 325. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"
#include "job/steps/windows.h"
#include "table/compare/join.h"

/* The share of BASE's operations by which runs of equal work may differ: half of the default of --percent. */
static const double WORK = 0.01;

static const char *const names[CMP_DEVICE_TIMES] = {
	[CMP_SPAN] = "span", [CMP_MODULES] = "modules", [CMP_COMPUTE] = "compute", [CMP_EXPOSED] = "exposed",
	[CMP_COPY] = "copy", [CMP_IDLE] = "idle", [CMP_HIDDEN_TIME] = "hidden", [CMP_COPY_HIDDEN] = "copy_hidden"
};

/* The device as a group, whose rows are its times: its index; NSX_NONE when out of memory. */
static uint32_t
add_device(struct cmp *c, struct cmp_side *s, int64_t number)
{
	struct cmp_group new = cmp_group_new(number, NSX_NONE, NSX_NONE);

	c->text.len = 0;
	if (number == NSX_ABSENT)
		nsx_buf_c(&c->text, "no device");
	else
		nsx_buf_fmt(&c->text, "device %" PRId64, number);
	new.name = new.key = cmp_intern(c);
	if (new.name == NSX_NONE)
		return NSX_NONE;
	new.execs = new.devices = 1;
	return nsx_compare_group_add(s, new);
}

/* The key of the inner row of a time of a device's steps. */
static struct nsx_key
key_of_step(int64_t device, int time)
{
	return (struct nsx_key){ (uint64_t)device, (uint64_t)time };
}

bool
nsx_compare_take_device(struct cmp *c, struct cmp_side *s, const struct cmp_value *v)
{
	uint32_t device = add_device(c, s, v[CMP_DEVICE].has ? v[CMP_DEVICE].i : NSX_ABSENT),
	    first = (uint32_t)s->rows.n;

	if (device == NSX_NONE)
		return false;
	/* Activities are of the window where there are operations. */
	s->windows |= v[CMP_WINDOW].has;
	for (int k = 0; k < CMP_DEVICE_TIMES; k++) {
		const struct cmp_value *from = k == CMP_SPAN && v[CMP_WINDOW].has ? &v[CMP_WINDOW] : &v[k];
		struct cmp_row row = cmp_row_in(device);

		row.at = k;
		row.leads = k == CMP_SPAN;
		row.detail = k != CMP_SPAN;
		row.untold = k == CMP_HIDDEN_TIME || k == CMP_COPY_HIDDEN;
		row.name = row.stem = nsx_intern(&c->strs, nsx_str_c(row.leads && s->windows ? "window" : names[k]));
		row.sum = from->has ? (nsx_u128)from->i : 0;
		row.time = (struct cmp_time){ .n = from->has, .sum = row.sum, .mean = (double)row.sum };
		if (row.name == NSX_NONE || nsx_compare_row_add(s, row) == NSX_NONE)
			return false;
		s->rows.p[s->rows.n - 1].of = k != CMP_SPAN ? first : (uint32_t)NSX_NONE;
		s->rows.p[s->rows.n - 1].inner = nsx_map_get(&s->row_of, key_of_step(s->groups.p[device].number, k));
	}
	s->groups.p[device].time = s->rows.p[first].sum;
	s->time += s->rows.p[first].sum;
	s->groups.p[device].ran = v[CMP_EXECS].has ? v[CMP_EXECS].i : 0;
	return true;
}

/* Add the steps of a window of a device, which may have several, one after the other. False when out of memory. */
static bool
add_window(struct cmp_side *s, const struct nsx_step_set *set, const struct nsx_step_window *w)
{
	for (size_t i = w->first; i < w->first + (size_t)w->steps; i++) {
		const struct nsx_step_of *o = &set->list.p[i];

		const int64_t times[CMP_DEVICE_TIMES] = {
			[CMP_SPAN] = o->period, [CMP_MODULES] = NSX_ABSENT,
			[CMP_COMPUTE] = o->sums.part[NSX_PART_COMPUTE], [CMP_EXPOSED] = o->sums.part[NSX_PART_COMM],
			[CMP_COPY] = o->sums.part[NSX_PART_COPY], [CMP_IDLE] = o->sums.part[NSX_PART_IDLE],
			[CMP_HIDDEN_TIME] = o->sums.hidden, [CMP_COPY_HIDDEN] = NSX_ABSENT
		};

		for (int k = 0; k < CMP_DEVICE_TIMES; k++) {
			uint32_t *row = times[k] == NSX_ABSENT ? NULL
			    : nsx_map_at(&s->row_of, key_of_step(w->number, k));
			struct cmp_row inner = cmp_row_in(0);

			inner.detail = true;
			if (row && *row == NSX_NONE)
				*row = nsx_compare_row_add(s, inner);
			if (times[k] != NSX_ABSENT
			    && (!row || !nsx_compare_add(s, *row, w->number, NSX_ABSENT, times[k])))
				return false;
		}
	}
	return true;
}

static bool
keep_steps(struct cmp *c, struct cmp_side *s, const struct nsx_step_set *set, void *unused)
{
	struct nsx_step_windows w = { .class = NSX_NONE };
	bool good = nsx_step_windows(set, &w) == NSX_OK;

	(void)unused;
	s->ops = set->ops;
	/* Without operations the activities of devices are not known. */
	for (size_t i = 0; good && i < w.list.n && w.class != NSX_NONE && set->ops; i++)
		good = set->list.p[w.list.p[i].first].sums.hidden == NSX_ABSENT || add_window(s, set, &w.list.p[i]);
	if (good && s->rows.n) {
		s->class = nsx_intern(&c->strs, nsx_compare_class_name(set, w.class));
		good = s->class != NSX_NONE;
	}
	free(w.list.p);
	return good;
}

int
nsx_compare_read_devices(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags)
{
	struct nsx_diags own = { .failed = false };
	struct nsx_reader *in = s->in;
	int rc;

	/* Steps that were not requested are no concern of the user. */
	s->in = nsx_compare_find_steps(c, s, keep_steps, NULL, false, diags);
	rc = s->in ? nsx_compare_sum_up(c, s, &own) : NSX_ERR;
	nsx_reader_close(s->in);
	s->in = in;
	nsx_compare_pass_diags(s, &own, diags);
	return rc;
}

/* ---- what times are divided by */

/* Whether all devices with GPU work executed programs. */
static bool
all_execute(const struct cmp_side *s)
{
	bool any = false;

	for (size_t i = 0; i < s->groups.n; i++) {
		any |= s->groups.p[i].ran > 0;
		if (!s->groups.p[i].ran && s->groups.p[i].time)
			return false;
	}
	return any;
}

/* Whether all devices with GPU work have steps. The first row of a device's group is its span. */
static bool
all_step(const struct cmp_side *s)
{
	bool any = false;

	for (size_t i = 0; i < s->groups.n; i++) {
		bool steps = s->rows.p[s->groups.p[i].whole + 1].inner != NSX_NONE;

		any |= steps;
		if (s->groups.p[i].time && !steps)
			return false;
	}
	return any;
}

static void
per_execution(struct cmp_side *s)
{
	for (size_t i = 0; i < s->rows.n; i++) {
		struct cmp_time *t = &s->rows.p[i].time;
		int64_t n = s->groups.p[s->rows.p[i].group].ran;

		if (t->n && n) {
			t->n = n;
			t->mean = (double)t->sum / (double)n;
		}
	}
}

/* False when out of memory. */
static bool
per_step(struct cmp *c, struct cmp_side *s)
{
	uint32_t period = nsx_intern(&c->strs, NSX_STR("period"));

	if (period == NSX_NONE)
		return false;
	nsx_compare_use_inner(s);
	for (size_t i = 0; i < s->rows.n; i++)
		s->rows.p[i].time = (struct cmp_time){ 0 };
	for (size_t i = 0; i < s->groups.n; i++) {
		struct cmp_row *span = &s->rows.p[s->groups.p[i].whole + 1];

		span->name = span->stem = period;
		s->groups.p[i].time = span->sum;
		if (span->cells != NSX_NONE)
			s->groups.p[i].ran = (int64_t)s->cells.p[span->cells].times.n;
	}
	return nsx_compare_settle_inner(s);
}

/* Whether runs differ in their amount of work, as far as numbers of operations show that. */
static bool
work_differs(const struct cmp_side *b, const struct cmp_side *n)
{
	int64_t more = b->ops > n->ops ? b->ops - n->ops : n->ops - b->ops;

	return (double)more > WORK * (double)b->ops;
}

/* Whole runs compare only if they are of the same amount of work. */
static void
check_work(struct cmp *c, struct nsx_diags *diags)
{
	const struct cmp_side *b = &c->side[0], *n = &c->side[1];
	const char *unlike = "no steps that both runs have are known: name them with --step, or --sigma 0 if the runs "
	    "are of equal work";

	if (!b->time || !n->time || c->unlike[0])
		return;
	if (c->options.step || c->options.module)
		snprintf(c->unlike, sizeof c->unlike, "not all devices have steps of one class on both sides");
	else if (c->options.sigma > 0 && c->tables)
		snprintf(c->unlike, sizeof c->unlike, "a table of a job without programs does not tell how much work "
		         "it is of: compare streams, or --sigma 0 if the runs are of equal work");
	else if (c->options.sigma > 0 && work_differs(b, n))
		snprintf(c->unlike, sizeof c->unlike, "BASE has %" PRId64 " operations, NEW %" PRId64 ", and %s",
		         b->ops, n->ops, unlike);
	nsx_diag_add(diags, NSX_WARNING, "", 1,
		"not all devices executed programs or have steps: times are of whole runs, and runs of different "
		"lengths cannot be compared");
}

/* What the times of a side can be divided by. */
static enum cmp_basis
basis_of(const struct cmp *c, const struct cmp_side *s)
{
	bool named = c->options.step || c->options.module;

	return all_step(s) ? CMP_OF_STEP : all_execute(s) && !named ? CMP_OF_EXECUTION : CMP_OF_RUN;
}

/* Divide the times of a side by that. False when out of memory. */
static bool
divide(struct cmp *c, struct cmp_side *s, enum cmp_basis basis)
{
	s->basis = basis;
	if (basis == CMP_OF_EXECUTION)
		per_execution(s);
	return basis != CMP_OF_STEP || per_step(c, s);
}

/* Both sides have the same, or what all of them have: executions. */
static enum cmp_basis
common_basis(const struct cmp *c)
{
	const struct cmp_side *b = &c->side[0], *n = &c->side[1];
	bool named = c->options.step || c->options.module;

	if (b->nruns)
		return b->basis;
	if (all_step(b) && all_step(n) && b->class == n->class)
		return CMP_OF_STEP;
	return all_execute(b) && all_execute(n) && !named ? CMP_OF_EXECUTION : CMP_OF_RUN;
}

static bool
choose_basis(struct cmp *c, struct nsx_diags *diags)
{
	static const char *const units[] = { [CMP_OF_RUN] = "run", [CMP_OF_EXECUTION] = "execution",
	                                     [CMP_OF_STEP] = "step" };
	struct cmp_side *b = &c->side[0], *n = &c->side[1];
	enum cmp_basis basis = common_basis(c);
	struct nsx_str class = cmp_str(c, b->class);

	c->unit = units[basis];
	if (b->time && n->time && b->windows != n->windows)
		snprintf(c->unlike, sizeof c->unlike, "%s has times of operations, the other side of thunks: extract "
		         "both with --ops", b->windows ? "BASE" : "NEW");
	if (b->nruns && (basis != basis_of(c, n) || (basis == CMP_OF_STEP && b->class != n->class))) {
		snprintf(c->unlike, sizeof c->unlike, "not all devices of NEW have %s", basis == CMP_OF_STEP
		         ? "steps of the base runs' class" : "what times of the base runs are of");
		return true;
	}
	if (basis != CMP_OF_STEP && c->options.tail && !c->unlike[0])
		snprintf(c->unlike, sizeof c->unlike, "not all devices have steps: a time of a whole run has no 99th "
		         "percentile");
	if (basis == CMP_OF_RUN)
		check_work(c, diags);
	if (basis == CMP_OF_STEP) {
		snprintf(c->note, sizeof c->note, "times are per step of %.*s, from start to start: base_execs and "
		         "new_execs are numbers of steps", CMP_CUT(class, 100));
		nsx_diag_add(diags, NSX_INFO, "", 1, "%s", c->note);
	}
	return (b->nruns || divide(c, b, basis)) && divide(c, n, basis);
}

/* The side's devices by number. NULL when out of memory. */
static struct nsx_sort_key *
by_number(const struct cmp_side *s)
{
	struct nsx_sort_key *list = malloc((s->groups.n + 1) * sizeof *list);

	for (size_t i = 0; i < s->groups.n && list; i++)
		list[i] = (struct nsx_sort_key){ { s->groups.p[i].number, 0, 0 }, (uint32_t)i };
	if (list)
		nsx_sort_keys(list, s->groups.n);
	return list;
}

static bool
match_devices(struct cmp *c, struct nsx_diags *diags)
{
	struct cmp_side *base = &c->side[0], *new = &c->side[1];
	struct nsx_sort_key *b = by_number(base), *n = by_number(new);
	size_t nb = base->groups.n, nn = new->groups.n, i = 0, k = 0;
	bool good = b && n;

	/* Up to a number that both have. */
	while (good && i < nb && k < nn && b[i].k[0] != n[k].k[0])
		*(b[i].k[0] < n[k].k[0] ? &i : &k) += 1;
	if (good && nb && nn && (i == nb || k == nn)) {
		for (i = 0; i < nb && nb == nn; i++)
			nsx_compare_join_groups(c, b[i].i, n[i].i, CMP_PLACE);
		nsx_diag_add(diags, NSX_WARNING, "", 1, nb == nn
			? "no device number is on both sides: devices are matched in order of their numbers"
			: "no device number is on both sides, nor are there as many devices: none are matched");
	}
	free(b);
	free(n);
	return good;
}

bool
nsx_compare_settle_devices(struct cmp *c, struct nsx_diags *diags)
{
	return choose_basis(c, diags) && match_devices(c, diags);
}

int
nsx_compare_settle_device_run(struct cmp *c, struct cmp_side *s, struct nsx_diags *diags)
{
	struct cmp_side *base = &c->side[NSX_COMPARE_BASE];
	enum cmp_basis basis = basis_of(c, s);

	if (s != base && basis != base->basis)
		return nsx_err_set(c->err, "%s: several base runs by device: want steps on all devices, as in the "
		                   "first one, or in none; by step other runs can be compared", s->name);
	if (s != base && s->class != base->class && basis == CMP_OF_STEP)
		return nsx_err_set(c->err, "%s: its steps are not of the class of the first base run: name them with "
		                   "--step or --module", s->name);
	if (s != base && basis == CMP_OF_RUN && c->options.sigma > 0 && work_differs(base, s))
		return nsx_err_set(c->err, "%s: it has %" PRId64 " operations, the first base run %" PRId64 ", and no "
		                   "steps are known: whole runs of other lengths cannot be compared", s->name, s->ops,
		                   base->ops);
	return divide(c, s, basis) && (s == base || match_devices(c, diags)) ? NSX_OK : nsx_err_nomem(c->err, NULL);
}

void
nsx_compare_check_devices(struct cmp *c)
{
	const struct cmp_side *b = &c->side[0], *s = &c->side[1];

	for (size_t i = 0; i < b->groups.n && c->tables && !c->unlike[0]; i++) {
		const struct cmp_group *was = &b->groups.p[i],
		    *is = was->pair == NSX_NONE ? was : &s->groups.p[was->pair];
		struct nsx_str name = cmp_str(c, was->name);

		if (was->ran != is->ran)
			snprintf(c->unlike, sizeof c->unlike, "%.*s has %" PRId64 " executions in BASE, %" PRId64
			         " in NEW, and a table may lack programs: make it with nsysx-summary --by device "
			         "and the same --cover, or compare streams", (int)name.len, name.ptr, was->ran,
			         is->ran);
	}
}
