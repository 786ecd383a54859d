/* by_device.c -- one side by the activities of each device, as in nsysx-summary --by device: such a table, or a stream
 * that is summed up to one. Times are those of the whole run, or, if both sides have them, per execution of a program
 * on the device, as single values, so noise is not known; or per step (device_steps.c). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "table/compare/sides.h"
#include "base/input.h"
#include "base/sort.h"
#include "table/summary.h"

/* Times of a device. The first one contains the others, which are judged against it: the period of its steps, else the
 * window of its operations, else, where thunks are all that is known, the span of its modules. */
enum stat { SPAN, MODULES, COMPUTE, EXPOSED, COPY, IDLE, HIDDEN, COPY_HIDDEN, NSTATS };

/* The share of BASE's operations by which runs of equal work may differ: half of the default of --percent. */
static const double WORK = 0.01;

/* The columns that are read: those of the times, and these. */
enum { DEVICE = NSTATS, EXECS, WINDOW, NFIELDS };
static const char *const fields[NFIELDS] = {
	[SPAN] = "span", [MODULES] = "modules", [COMPUTE] = "compute", [EXPOSED] = "exposed", [COPY] = "copy",
	[IDLE] = "idle", [HIDDEN] = "hidden", [COPY_HIDDEN] = "copy_hidden", [DEVICE] = "device", [EXECS] = "execs",
	[WINDOW] = "window",
};

struct parse {
	struct cmp      *c;
	struct cmp_side *s;
	struct cmp_cells cells;
};

bool
nsx_compare_is_devices(struct nsx_str text)
{
	static const char *const names[] = { "device", "execs", "span", "window", "compute", "exposed", "idle" };
	struct cmp_cells cells = { .cols = names, .n = sizeof names / sizeof *names };

	return nsx_compare_cells_find(&cells, &text);
}

/* The device as a program, whose rows are its times. NULL when out of memory. */
static struct cmp_program *
add_device(struct parse *p, int64_t number)
{
	struct cmp_side *s = p->s;
	struct cmp_program new = { .number = number, .id = NSX_ABSENT, .fingerprint = NSX_NONE, .dumped = NSX_NONE,
	                           .run = NSX_NONE, .pair = NSX_NONE, .execs = 1, .devices = 1 };
	uint32_t *known = nsx_map_at(&s->devices, (struct nsx_key){ s->programs.n, 0 });

	p->c->text.len = 0;
	if (number == NSX_ABSENT)
		nsx_buf_c(&p->c->text, "no device");
	else
		nsx_buf_fmt(&p->c->text, "device %" PRId64, number);
	new.name = new.key = p->c->text.failed ? (uint32_t)NSX_NONE : nsx_intern(&p->c->strs,
		nsx_buf_view(&p->c->text));
	new.whole = nsx_compare_row_add(s, (struct cmp_row){ .program = (uint32_t)s->programs.n, .whole = true,
	                                                     .name = NSX_NONE, .stem = NSX_NONE, .opcode = NSX_NONE,
	                                                     .op_name = NSX_NONE, .stack = NSX_NONE });
	if (!known || new.name == NSX_NONE || new.whole == NSX_NONE || !nsx_vec_push(&s->programs, new))
		return NULL;
	*known = 1;
	return &s->programs.p[s->programs.n - 1];
}

/* A device's times, NSX_ABSENT where they are not known. False when out of memory. */
static bool
add_times(struct parse *p, const int64_t v[NFIELDS])
{
	struct cmp_side *s = p->s;
	struct cmp_program *of = add_device(p, v[DEVICE]);
	uint32_t first = (uint32_t)s->rows.n;

	for (int k = 0; of && k < NSTATS; k++) {
		struct cmp_row row = { .program = (uint32_t)(s->programs.n - 1), .number = k, .opcode = NSX_NONE,
		                       .op_name = NSX_NONE, .stack = NSX_NONE, .detail = k != SPAN,
		                       .untold = k == HIDDEN || k == COPY_HIDDEN };
		struct cmp_time t = { .n = v[k] == NSX_ABSENT ? 0 : 1 };

		row.name = row.stem = nsx_intern(&p->c->strs, nsx_str_c(fields[k == SPAN && s->windows ? WINDOW : k]));
		row.sum = t.n ? (nsx_u128)v[k] : 0;
		t.sum = row.sum;
		t.mean = (double)t.sum;
		if (row.name == NSX_NONE || nsx_compare_row_add(s, row) == NSX_NONE)
			return false;
		s->rows.p[s->rows.n - 1].of = k != SPAN ? first : (uint32_t)NSX_NONE;
		while (s->given.n + 1 < s->rows.n)
			if (!nsx_vec_push(&s->given, ((struct cmp_time){ 0 })))
				return false;
		if (!nsx_vec_push(&s->given, t))
			return false;
	}
	if (!of)
		return false;
	of->time = s->rows.p[first].sum;
	s->time += of->time;
	return nsx_vec_push(&s->execs, v[EXECS] == NSX_ABSENT ? 0 : v[EXECS]);
}

static int
take_row(void *arg, const struct nsx_str *cell)
{
	struct parse *p = arg;
	int64_t v[NFIELDS];

	for (int i = 0; i < NFIELDS; i++) {
		v[i] = NSX_ABSENT;
		if (cell[i].len && (!nsx_get_int(cell[i], &v[i]) || (i != DEVICE && v[i] < 0)))
			return nsx_err_set(p->c->err, "%s:%" PRId64 ": %s: want a whole number that is not negative, "
			                   "got \"%.*s\"", p->cells.name, p->cells.line, fields[i],
			                   (int)(cell[i].len < 80 ? cell[i].len : 80), cell[i].ptr);
	}
	/* Activities are of the window where there are operations. */
	if (v[WINDOW] != NSX_ABSENT) {
		v[SPAN] = v[WINDOW];
		p->s->windows = true;
	}
	return add_times(p, v) ? NSX_OK : nsx_err_nomem(p->c->err, p->cells.name);
}

static int
take_table(void *arg, struct nsx_str text)
{
	struct parse *p = arg;

	nsx_compare_cells_find(&p->cells, &text);
	if (nsx_compare_cells_each(&p->cells, text, take_row, p) != NSX_OK)
		return NSX_ERR;
	/* One more than the number of rows: a side without rows has the times of a table too. */
	return nsx_vec_push(&p->s->given, ((struct cmp_time){ 0 })) ? NSX_OK
	    : nsx_err_nomem(p->c->err, p->cells.name);
}

int
nsx_compare_read_devices(struct cmp *c, struct cmp_side *s, bool table, struct nsx_diags *diags)
{
	struct parse p = { .c = c, .s = s, .cells = { .err = c->err, .name = nsx_reader_input(s->in)->name,
	                                              .cols = fields, .n = NFIELDS } };
	struct nsx_diags own = { .failed = false };
	struct nsx_reader *in = s->in;
	int rc;

	s->diags = -1;
	s->each = true;
	if (table) {
		rc = nsx_compare_whole_table(s, take_table, &p);
	} else {
		s->in = nsx_compare_find_steps(c, s, diags);
		rc = s->in ? nsx_compare_sum_up(c, s, NSX_SUMMARY_DEVICE, take_table, &p, &own) : NSX_ERR;
		nsx_reader_close(s->in);
		s->in = in;
	}
	nsx_compare_pass_diags(s, &own, diags);
	return rc;
}

/* ---- what times are divided by */

/* Whether all devices with GPU work executed programs. */
static bool
all_execute(const struct cmp_side *s)
{
	bool any = false;

	for (size_t i = 0; i < s->execs.n; i++) {
		any |= s->execs.p[i] > 0;
		if (!s->execs.p[i] && s->programs.p[i].time)
			return false;
	}
	return any;
}

/* The steps of the device of that index; NULL: it has none. They are in the order of devices' numbers. */
static const struct cmp_stepped *
steps_of(const struct cmp_side *s, size_t device)
{
	int64_t number = s->programs.p[device].number;
	size_t at = nsx_sort_first(s->stepped.p, s->stepped.n, sizeof *s->stepped.p,
	                           offsetof(struct cmp_stepped, number),
	                           number);

	return at < s->stepped.n && s->stepped.p[at].number == number ? &s->stepped.p[at] : NULL;
}

/* Whether all devices with GPU work have steps. */
static bool
all_step(const struct cmp_side *s)
{
	for (size_t i = 0; i < s->programs.n; i++)
		if (s->programs.p[i].time && !steps_of(s, i))
			return false;
	return s->stepped.n > 0;
}

static void
per_execution(struct cmp_side *s)
{
	for (size_t i = 0; i < s->rows.n; i++) {
		struct cmp_time *t = &s->given.p[i];
		int64_t n = s->execs.p[s->rows.p[i].program];

		if (t->n && n) {
			t->n = n;
			t->mean = (double)t->sum / (double)n;
		}
	}
}

/* The time in a step that a row is about; -1: none. */
static int
time_of(int64_t k)
{
	switch (k) {
	case SPAN:    return 0;
	case COMPUTE: return 1 + NSX_PART_COMPUTE;
	case EXPOSED: return 1 + NSX_PART_COMM;
	case COPY:    return 1 + NSX_PART_COPY;
	case IDLE:    return 1 + NSX_PART_IDLE;
	case HIDDEN:  return CMP_STEP_HIDDEN;
	default:      return -1;
	}
}

/* Give a row the values of its time in each step. False when out of memory. */
static bool
keep_series(struct cmp_side *s, uint32_t row, const struct cmp_stepped *d, int time)
{
	size_t n = d->each.n / CMP_STEP_TIMES;
	double *v = malloc((n + 1) * sizeof *v);

	for (size_t i = 0; i < n && v; i++)
		v[i] = (double)d->each.p[i * CMP_STEP_TIMES + (size_t)time];
	bool good = v && nsx_compare_add_series(s, row, v, n);

	free(v);
	return good;
}

/* False when out of memory. */
static bool
per_step(struct cmp *c, struct cmp_side *s)
{
	uint32_t period = nsx_intern(&c->strs, NSX_STR("period"));

	if (period == NSX_NONE)
		return false;
	s->time = 0;
	for (size_t i = 0; i < s->rows.n; i++) {
		struct cmp_row *row = &s->rows.p[i];
		const struct cmp_stepped *d = steps_of(s, row->program);
		int time = d && !row->whole ? time_of(row->number) : -1;
		const struct nsx_stat *stat = time >= 0 ? &d->time[time] : NULL;
		double n = stat ? (double)stat->n : 0;

		if (!row->whole && row->number == SPAN)
			row->name = row->stem = period;
		s->given.p[i] = (struct cmp_time){ 0 };
		row->sum = stat ? (nsx_u128)stat->sum : 0;
		if (!stat)
			continue;
		if (!keep_series(s, (uint32_t)i, d, time))
			return false;
		s->given.p[i] = (struct cmp_time){ .n = stat->n, .sum = row->sum, .mean = nsx_stat_mean(stat),
		                                   .known = stat->n > 1, .freedom = n > 2 ? n - 1 : 1,
		                                   .error = stat->n > 1 ? nsx_stat_std(stat) / sqrt(n) : 0 };
		if (row->number == SPAN) {
			s->programs.p[row->program].time = row->sum;
			s->execs.p[row->program] = stat->n;
			s->time += row->sum;
		}
	}
	return true;
}

/* Whole runs compare only if they are of the same amount of work, as far as numbers of operations show that. */
static void
check_work(struct cmp *c, struct nsx_diags *diags)
{
	int64_t b = c->side[0].ops, n = c->side[1].ops, more = b > n ? b - n : n - b;
	const char *unlike = "no steps that both runs have are known: name them with --step, or --sigma 0 if the runs "
	    "are of equal work";

	if (!c->side[0].time || !c->side[1].time || c->unlike[0])
		return;
	if (c->options.step || c->options.module)
		snprintf(c->unlike, sizeof c->unlike, "not all devices have steps of one class on both sides");
	else if (c->options.sigma > 0 && c->tables)
		snprintf(c->unlike, sizeof c->unlike, "a table of a job without programs does not tell how much work "
		         "it is of: compare streams, or --sigma 0 if the runs are of equal work");
	else if (c->options.sigma > 0 && (double)more > WORK * (double)b)
		snprintf(c->unlike, sizeof c->unlike, "BASE has %" PRId64 " operations, NEW %" PRId64 ", and %s", b, n,
		         unlike);
	nsx_diag_add(diags, NSX_WARNING, "", 1,
		"not all devices executed programs or have steps: times are of whole runs, and runs of different "
		"lengths cannot be compared");
}

bool
nsx_compare_choose_basis(struct cmp *c, struct nsx_diags *diags)
{
	struct cmp_side *b = &c->side[0], *n = &c->side[1];
	bool execute = all_execute(b) && all_execute(n) && !c->options.step && !c->options.module,
	    steps = all_step(b) && all_step(n) && b->class == n->class;
	if (b->time && n->time && b->windows != n->windows)
		snprintf(c->unlike, sizeof c->unlike, "%s has times of operations, the other side of thunks: extract "
		         "both with --ops", b->windows ? "BASE" : "NEW");
	if (steps) {
		struct nsx_str class = cmp_str(c, b->class);

		c->basis = CMP_STEP;
		snprintf(c->note, sizeof c->note, "times are per step of %.*s, from start to start: base_execs and "
		         "new_execs are numbers of steps", (int)(class.len < 100 ? class.len : 100), class.ptr);
		nsx_diag_add(diags, NSX_INFO, "", 1, "%s", c->note);
		return per_step(c, b) && per_step(c, n);
	} else if (execute) {
		c->basis = CMP_EXECUTION;
		per_execution(b);
		per_execution(n);
	} else {
		check_work(c, diags);
	}
	return true;
}

struct numbered { int64_t number; uint32_t index; };

static int
numbered_cmp(const void *pa, const void *pb)
{
	const struct numbered *a = pa, *b = pb;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* The side's devices by number. NULL when out of memory. */
static struct numbered *
by_number(const struct cmp_side *s)
{
	struct numbered *list = malloc((s->programs.n + 1) * sizeof *list);

	for (size_t i = 0; i < s->programs.n && list; i++)
		list[i] = (struct numbered){ s->programs.p[i].number, (uint32_t)i };
	if (list && s->programs.n > 1)
		qsort(list, s->programs.n, sizeof *list, numbered_cmp);
	return list;
}

/* Whether the two lists, of nb and nn devices, have a number in common. */
static bool
in_common(const struct numbered *b, size_t nb, const struct numbered *n, size_t nn)
{
	for (size_t i = 0, k = 0; i < nb && k < nn;) {
		if (b[i].number == n[k].number)
			return true;
		if (b[i].number < n[k].number)
			i++;
		else
			k++;
	}
	return false;
}

bool
nsx_compare_match_devices(struct cmp *c, struct nsx_diags *diags)
{
	struct cmp_side *base = &c->side[0], *new = &c->side[1];
	struct numbered *b = by_number(base), *n = by_number(new);
	size_t nb = base->programs.n, nn = new->programs.n;

	if (b && n && nb && nn && !in_common(b, nb, n, nn)) {
		for (size_t i = 0; i < nb && nb == nn; i++) {
			struct cmp_program *pb = &base->programs.p[b[i].index], *pn = &new->programs.p[n[i].index];

			pb->pair = n[i].index;
			pn->pair = b[i].index;
			pb->how = pn->how = CMP_PLACE;
		}
		nsx_diag_add(diags, NSX_WARNING, "", 1, nb == nn
			? "no device number is on both sides: devices are matched in order of their numbers"
			: "no device number is on both sides, nor are there as many devices: none are matched");
	}
	bool good = b && n;

	free(b);
	free(n);
	return good;
}

void
nsx_compare_check_devices(struct cmp *c)
{
	const struct cmp_side *b = &c->side[0], *s = &c->side[1];

	for (size_t i = 0; i < b->programs.n && c->tables && !c->unlike[0]; i++) {
		uint32_t pair = b->programs.p[i].pair;
		struct nsx_str name = cmp_str(c, b->programs.p[i].name);

		if (pair != NSX_NONE && b->execs.p[i] != s->execs.p[pair])
			snprintf(c->unlike, sizeof c->unlike, "%.*s has %" PRId64 " executions in BASE, %" PRId64
			         " in NEW, and a table may lack programs: make it with nsysx-summary --by device "
			         "and the same --cover, or compare streams", (int)name.len, name.ptr, b->execs.p[i],
			         s->execs.p[pair]);
	}
}

/* ---- results */

enum { COL_DEVICE, STATISTIC, BASE, NEW, DIFF, CHANGE, NOISE, VERDICT, BASE_SHARE, NEW_SHARE, BASE_EXECS, NEW_EXECS,
       NCOLS };

static const struct nsx_table_col cols[NCOLS] = {
	[COL_DEVICE] = { "device", NSX_CELL_ID },
	[STATISTIC]  = { "statistic", NSX_CELL_STRING },
	[BASE]       = { "base", NSX_CELL_MEAN_NS },
	[NEW]        = { "new", NSX_CELL_MEAN_NS },
	[DIFF]       = { "diff", NSX_CELL_MEAN_NS },
	[CHANGE]    = { "change", NSX_CELL_SHARE },
	[NOISE]      = { "noise", NSX_CELL_MEAN_NS },
	[VERDICT]    = { "verdict", NSX_CELL_STRING },
	[BASE_SHARE] = { "base_share", NSX_CELL_SHARE },
	[NEW_SHARE]  = { "new_share", NSX_CELL_SHARE },
	[BASE_EXECS] = { "base_execs", NSX_CELL_INT },
	[NEW_EXECS]  = { "new_execs", NSX_CELL_INT },
};

static void
put(const struct cmp *c, struct nsx_table *t, const struct cmp_result *r)
{
	const struct cmp_program *p = nsx_compare_program_of(c, r);

	nsx_table_row(t);
	if (p->number != NSX_ABSENT)
		nsx_table_int(t, COL_DEVICE, p->number);
	nsx_table_str(t, STATISTIC, cmp_str(c, nsx_compare_row_shown(r)->name));
	for (int k = 0; k < 2; k++) {
		const struct cmp_side *s = &c->side[k];
		const struct cmp_row *of = r->row[k];
		int64_t execs = of ? s->execs.p[of->program] : 0;

		if (!of)
			continue;
		if (of->of != NSX_NONE)
			of = &s->rows.p[of->of];
		if (of->sum)
			nsx_table_double(t, BASE_SHARE + k, (double)r->time[k].sum / (double)of->sum);
		if (execs)
			nsx_table_int(t, BASE_EXECS + k, execs);
	}
	nsx_compare_put_change(t, r, &(struct cmp_change){ BASE, DIFF, CHANGE, NOISE, -1, VERDICT });
}

const struct cmp_way nsx_compare_device_way = {
	cols, NCOLS, "device statistic base new change verdict diff base_share new_share", put
};

static void
order_key(const struct cmp *c, const struct cmp_result *r, struct cmp_order *o)
{
	o->at[0] = nsx_compare_program_of(c, r)->number;
	o->at[1] = nsx_compare_row_shown(r)->number;
}

bool
nsx_compare_order_devices(const struct cmp *c, struct cmp_result *r, size_t n)
{
	return nsx_compare_order(c, r, n, order_key);
}
