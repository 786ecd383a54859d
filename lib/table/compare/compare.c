/* compare.c -- compares two streams: reads both, matches rows, and checks whether the result is reliable. */
#include "table/compare.h"
#include "base/input.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/members.h"
#include "base/sort.h"
#include "stream/spool.h"
#include "table/compare/join.h"
#include "table/compare/why.h"

static const char *const sides[] = { [NSX_COMPARE_BASE] = "BASE", [NSX_COMPARE_NEW] = "NEW" };

void
nsx_compare_pass_diags(const struct cmp_side *s, struct nsx_diags *own, struct nsx_diags *diags)
{
	for (size_t i = 0; i < own->list.n; i++)
		nsx_diag_add(diags, own->list.p[i].severity, s->name, own->list.p[i].count, "%s", own->list.p[i].text);
	diags->failed |= own->failed;
	nsx_diags_free(own);
}

/* ---- regressions */

void
nsx_compare_put_change(const struct cmp *c, const struct cmp_result *r, struct nsx_buf *text)
{
	double change = nsx_compare_change(c, r), part = nsx_compare_of_whole(c, r);

	if (!isnan(change))
		nsx_buf_fmt(text, " (%+.1f%%)", 100 * change);
	else if (!isnan(part))
		nsx_buf_fmt(text, " (%+.1f%% of the %s)", 100 * part, c->way->devices ? "whole" : c->unit);
}

/* What decided, where a row is slower by no more than the noise of means. */
static void
put_decider(const struct cmp_result *r, struct nsx_buf *text)
{
	double medians = r->witness.median[NSX_COMPARE_NEW] - r->witness.median[NSX_COMPARE_BASE];

	if (r->verdict != CMP_SLOWER || !r->has_noise || r->diff > r->noise)
		return;
	if (r->by_work)
		nsx_buf_c(text, ": the same work decides, which takes longer");
	else if (r->witness.ranks > 0)
		nsx_buf_fmt(text, ": %s, their median is %s longer", r->runs ? "medians of runs decide"
		            : "ranks of the samples decide", nsx_ns_text(medians).s);
}

void
nsx_compare_sentence(const struct cmp *c, const struct cmp_result *r, struct nsx_buf *text)
{
	const struct cmp_time *b = &r->time[NSX_COMPARE_BASE], *n = &r->time[NSX_COMPARE_NEW];
	const struct cmp_row *row = nsx_compare_row_shown(r);
	struct nsx_str program = cmp_str(c, nsx_compare_group_of(c, r)->name), name = cmp_str(c, row->name);

	nsx_buf_str(text, program);
	if (row->device != NSX_ABSENT)
		nsx_buf_fmt(text, " on device %" PRId64, row->device);
	if (name.len) {
		nsx_buf_c(text, text->len ? ": " : "");
		nsx_buf_str(text, name);
	}
	if (r->by_rate && !r->by_time)
		nsx_buf_fmt(text, ": %.1f a second, was %.1f (%+.1f%%)", r->rate[1], r->rate[0],
		            100 * (r->rate[1] / r->rate[0] - 1));
	else if (c->options.tail && r->sampled) {
		nsx_buf_fmt(text, ": p99 %s, was %s", nsx_ns_text(r->tail.p99[1]).s, nsx_ns_text(r->tail.p99[0]).s);
		if (r->tail.p99[0] > 0)
			nsx_buf_fmt(text, " (%+.1f%%)", 100 * (r->tail.p99[1] / r->tail.p99[0] - 1));
		if (r->runs)
			nsx_buf_fmt(text, ", noise %s", nsx_ns_text(r->tail.upper[0] - r->tail.p99[0]).s);
		else
			nsx_buf_fmt(text, ", at least %s, and that at most %s", nsx_ns_text(r->tail.lower[1]).s,
			            nsx_ns_text(r->tail.upper[0]).s);
	} else {
		nsx_buf_fmt(text, ": %s per %s, was %s", nsx_ns_text(n->mean).s, c->unit, nsx_ns_text(b->mean).s);
		nsx_compare_put_change(c, r, text);
		if (r->has_noise)
			nsx_buf_fmt(text, ", noise %s", nsx_ns_text(r->noise).s);
		else
			nsx_buf_c(text, ", noise not known");
	}
	if (r->runs)
		nsx_buf_fmt(text, " between %zu base runs", r->runs);
	if (!c->options.tail && !(r->by_rate && !r->by_time))
		put_decider(r, text);
	if (c->way->tell_growth && !c->options.tail)
		c->way->tell_growth(c, r, text);
	if (r->unsure) {
		struct nsx_str whole = cmp_str(c, r->unsure->name);

		nsx_buf_fmt(text, "; the %.*s is %s", (int)whole.len, whole.ptr, nsx_compare_verdict_name(r->whole));
	}
}

/* Add the sentence of a result that is slower, or, of NULL, of the work of runs without steps as a whole, of which
 * steps tell themselves. */
static bool
add_regression(const struct cmp *c, struct nsx_compare *out, const struct cmp_result *r)
{
	struct nsx_buf text = { 0 };

	if (r)
		nsx_compare_sentence(c, r, &text);
	else
		nsx_compare_tell_work(c, &text);
	char *s = text.failed ? NULL : nsx_str_dup(nsx_buf_view(&text));
	bool good = s && nsx_vec_push(&out->regressions, s);

	nsx_buf_free(&text);
	if (!good)
		free(s);
	return good;
}

/* Whether the sentence that was told last says that this one is slower, too. That of a period tells the parts that
 * grew; the times of a class precede those of its devices, of which each has one sentence: the others are in the
 * table. */
static bool
is_told(const struct cmp *c, const struct cmp_result *told, const struct cmp_result *r)
{
	int64_t device = nsx_compare_row_shown(r)->device, last = told ? nsx_compare_row_shown(told)->device : 0;

	if (!told || nsx_compare_group_of(c, told) != nsx_compare_group_of(c, r))
		return false;
	return (c->way->tell_growth && cmp_decides(c, told))
	       || (device != NSX_ABSENT && (last == NSX_ABSENT || last == device));
}

static bool
add_regressions(const struct cmp *c, struct nsx_compare *out, const struct cmp_result *r, size_t n,
                struct nsx_diags *diags)
{
	bool good = true;
	int64_t unknown = 0, uneven = 0, few = 0;
	const struct cmp_result *told = NULL;

	for (size_t i = 0; i < n && good; i++) {
		unknown += r[i].row[0] && r[i].row[1] && !r[i].sampled;
		few += cmp_is_few(c, &r[i]);
		uneven += r[i].verdict == CMP_UNEVEN && r[i].diff > 0;
		/* Of rows that are slower by their rate the work as a whole is told. */
		if (r[i].verdict != CMP_SLOWER || (r[i].by_rate && !r[i].by_time) || is_told(c, told, &r[i]))
			continue;
		good = add_regression(c, out, &r[i]);
		told = &r[i];
	}
	nsx_diag_add(diags, NSX_INFO, "", unknown > 0,
		"the noise of a device's times is not known: --percent and --absolute decide");
	/* Of steps, that too few tell little is why the runs cannot be compared. */
	nsx_diag_add(diags, NSX_WARNING, "", c->way->listed || c->unlike[0] ? 0 : few,
		"rows of which a side has less than %d independent %ss: not judged",
		c->options.tail ? NSX_TAIL_LEAST : NSX_WITNESS_LEAST, c->unit);
	/* Otherwise programs are judged as a whole too. */
	nsx_diag_add(diags, NSX_WARNING, "", c->way->each ? uneven : 0,
		"rows slower on half of the devices or fewer: uneven, not slower; --by step and --by device judge "
		"devices");
	return good;
}

/* ---- */

/* A gate that passes is silent about what the minimum differences allow: of ways but steps, which tell it themselves,
 * the wholes or else rows that are no part of one. True if there are such. */
static bool
tell_allowed(const struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_table *t, struct nsx_diags *diags)
{
	const struct cmp_result *most = NULL;
	struct nsx_buf text = { 0 };
	int64_t allowed = 0;
	double least = -1;

	for (size_t i = 0; i < n; i++) {
		double grew = r[i].judged[NSX_COMPARE_NEW] - r[i].judged[NSX_COMPARE_BASE];

		if (!nsx_compare_is_allowed(c, &r[i]) || r[i].row[NSX_COMPARE_BASE]->of != NSX_NONE)
			continue;
		most = grew > least ? &r[i] : most;
		least = fmax(grew, least);
		allowed++;
	}
	if (!most)
		return false;
	nsx_compare_sentence(c, most, &text);
	diags->failed |= text.failed;
	if (t && !text.failed)
		nsx_table_note(t, "same, but longer by more than noise, which --percent or --absolute allows: %" PRId64
		               "; the most: %.*s", allowed, (int)text.len, text.ptr);
	if (!text.failed)
		nsx_diag_add(diags, NSX_WARNING, "", allowed, "same, but longer by more than noise, which --percent or "
		             "--absolute allows; the most: %.*s", (int)text.len, text.ptr);
	nsx_buf_free(&text);
	return true;
}

/* Which devices are slower, if all rows that are slower are of single devices. */
static void
put_devices(const struct cmp_result *r, size_t n, struct nsx_buf *b)
{
	NSX_VEC(int64_t) devices = { 0 };
	bool single = true;

	for (size_t i = 0; i < n && single; i++) {
		int64_t device = nsx_compare_row_shown(&r[i])->device;

		if (r[i].verdict != CMP_SLOWER)
			continue;
		single = device != NSX_ABSENT;
		b->failed |= !nsx_vec_push(&devices, device);
	}
	/* Rows come by class: a device may have one of each. */
	size_t kept = nsx_sort_unique(devices.p, devices.n);

	if (single && kept) {
		nsx_buf_c(b, kept > 1 ? "; on devices " : "; on device ");
		nsx_ranges_put(devices.p, kept, b);
		nsx_buf_c(b, " alone");
	}
	free(devices.p);
}

/* The line above the table: the result, and the number of rows of each verdict. False when out of memory. */
static bool
put_title(const struct cmp *c, struct nsx_compare *out, const struct cmp_result *r, size_t n)
{
	size_t count[CMP_VERDICTS] = { 0 };
	struct nsx_buf b = { 0 };
	const char *answer = out->regressions.n ? "slower" : "same";

	for (size_t i = 0; i < n; i++)
		count[r[i].verdict]++;
	if (!out->regressions.n && count[CMP_FASTER])
		answer = "faster";
	for (int v = CMP_SLOWER; v < CMP_VERDICTS; v++)
		if (count[v] || v == CMP_SLOWER)
			nsx_buf_fmt(&b, "%s%zu %s", b.len ? ", " : "", count[v],
			            nsx_compare_verdict_name((enum cmp_verdict)v));
	nsx_buf_fmt(&b, ", %zu %s", count[CMP_SAME], nsx_compare_verdict_name(CMP_SAME));
	put_devices(r, n, &b);
	if (c->way->each && c->same.said > 0)
		nsx_buf_c(&b, "; the same work takes longer");
	else if (out->regressions.n > count[CMP_SLOWER])
		nsx_buf_fmt(&b, "; as a whole %zu %s slower", out->regressions.n - count[CMP_SLOWER], c->way->things);
	nsx_buf_char(&b, '\0');
	bool good = !b.failed;
	if (good && out->comparable)
		nsx_table_title(out->table, "**%s** by %s: %s", answer, nsx_compare_name(c->options.by), b.ptr);
	else if (good)
		nsx_table_title(out->table, "**%s** by %s: %s", nsx_compare_refusal(out),
		                nsx_compare_name(c->options.by), out->why);
	nsx_buf_free(&b);
	return good;
}

/* The change of a result, of itself or, where it has none, of its whole. */
static double
change_of(const struct cmp *c, const struct cmp_result *r)
{
	double change = nsx_compare_change(c, r), part = nsx_compare_of_whole(c, r);

	return !isnan(change) ? change : !isnan(part) ? part : 0;
}

/* With --changed, what is not shown although it differs by more than was asked for. */
static void
tell_hidden(const struct cmp *c, struct nsx_compare *out, const struct cmp_result *r, size_t n)
{
	const struct cmp_result *most = NULL;
	size_t hidden = 0;

	for (size_t i = 0; i < n && c->options.changed; i++)
		if (r[i].verdict == CMP_HIDDEN) {
			hidden++;
			most = !most || fabs(change_of(c, &r[i])) > fabs(change_of(c, most)) ? &r[i] : most;
		}
	if (!hidden)
		return;
	const struct cmp_row *row = nsx_compare_row_shown(most);
	struct nsx_str name = cmp_str(c, row->name), class = cmp_str(c, nsx_compare_group_of(c, most)->key);
	bool listed = c->way->listed && !c->way->devices && name.len;
	char device[40] = "";

	if (c->way->devices)
		snprintf(device, sizeof device, "device %" PRId64 ": ", nsx_compare_group_of(c, most)->number);
	else if (row->device != NSX_ABSENT)
		snprintf(device, sizeof device, " on device %" PRId64, row->device);
	if (!name.len)
		name = class;
	snprintf(out->hidden, sizeof out->hidden, "%zu row%s that noise hides %s not shown, %s%.*s%s%s%.*s: %+.1f%%%s",
	         hidden, hidden == 1 ? "" : "s", hidden == 1 ? "is" : "are", hidden == 1 ? "" : "the most: ",
	         listed ? (int)(class.len < 70 ? class.len : 70) : 0, class.ptr, device, listed ? ": " : "",
	         CMP_CUT(name, 80), 100 * change_of(c, most),
	         isnan(nsx_compare_change(c, most)) && !isnan(nsx_compare_of_whole(c, most)) ? " of the whole" : "");
	if (out->table)
		nsx_table_note(out->table, "%s", out->hidden);
}

static int
answer(struct cmp *c, struct nsx_outfile *folded, struct nsx_compare *out, struct nsx_diags *diags)
{
	size_t all, whole;
	struct cmp_result *list = nsx_compare_judge(c, &whole, &all), *r = list ? list + whole : NULL;
	size_t n = all - whole;
	int rc = NSX_OK;
	bool work = c->compares_work && c->way->each && c->same.said > 0;

	if (!r || (work && !add_regression(c, out, NULL)) || !add_regressions(c, out, list, all, diags))
		rc = nsx_err_nomem(c->err, NULL);
	if (rc == NSX_OK)
		rc = folded ? nsx_compare_folded(c, r, n, folded) : nsx_compare_print(c, r, n, &out->table, diags);
	if (rc == NSX_OK && c->options.why) {
		nsx_table_free(out->table);
		rc = nsx_compare_why(c, r, n, &out->table);
	}
	if (rc == NSX_OK) {
		if (!c->way->tell_growth && !tell_allowed(c, list, whole, out->table, diags))
			tell_allowed(c, r, n, out->table, diags);
		tell_hidden(c, out, r, n);
		if (out->table && !nsx_compare_tell_math(c, r, n, out->table))
			rc = nsx_err_nomem(c->err, NULL);
		nsx_compare_judge_coverage(c, out, diags);
		nsx_compare_judge_samples(c, out, r, n, diags);
		nsx_compare_tell_differences(c, r, n, diags);
	}
	if (rc == NSX_OK && c->options.junit)
		nsx_compare_junit(c, out, list, all);
	if (rc == NSX_OK && out->junit.failed)
		rc = nsx_err_nomem(c->err, NULL);
	if (rc == NSX_OK && out->table && !put_title(c, out, r, n))
		rc = nsx_err_nomem(c->err, NULL);
	free(list);
	return rc;
}

void
nsx_compare_side_free(struct cmp_side *s)
{
	nsx_top_free(&s->top);
	nsx_compare_why_free(s->why);
	free(s->groups.p);
	free(s->row_of_inst.p);
	for (size_t i = 0; i < s->rows.n; i++) {
		free(s->rows.p[i].runs.p);
		free(s->rows.p[i].comm);
	}
	free(s->rows.p);
	for (size_t i = 0; i < s->cells.n; i++) {
		free(s->cells.p[i].numbers.p);
		free(s->cells.p[i].times.p);
	}
	free(s->cells.p);
	free(s->models.p);
	free(s->values.p);
	nsx_compare_work_free(&s->work);
	nsx_spool_free(s->again);
	nsx_step_classes_free(&s->classes);
	nsx_intern_free(&s->overlapping);
	nsx_map_free(&s->row_of);
	nsx_map_free(&s->cell_of);
	nsx_map_free(&s->program_of);
}

/* What is compared, the last one being NEW, and by what each is a table; -1: it is a stream. */
struct inputs { struct nsx_reader *const *in; size_t n; int *by; };

/* If a side is a table, all are compared as tables: by what the table is by; requests that tables cannot satisfy are
 * reported. */
static int
choose(struct cmp *c, const struct inputs *of, bool folded)
{
	size_t table = 0;

	while (of->by[table] < 0)
		table++;
	if (c->options.any)
		c->options.by = (enum nsx_compare_by)of->by[table];
	for (size_t k = 0; k < of->n; k++)
		if (of->by[k] >= 0 && of->by[k] != (int)c->options.by)
			return nsx_err_set(
			    c->err, "%s: a table by %s: want one by %s", nsx_reader_input(of->in[k])->name,
			    nsx_compare_name((enum nsx_compare_by)of->by[k]), nsx_compare_name(c->options.by));
	if (c->options.why)
		return nsx_err_set(c->err, "%s: a table: want streams for --why",
		                   nsx_reader_input(of->in[table])->name);
	if (c->options.tail && c->options.by != NSX_COMPARE_STEP)
		return nsx_err_set(c->err, "%s: a table by %s, which has no 99th percentiles: want streams for "
		                   "--gate=p99", nsx_reader_input(of->in[table])->name,
		                   nsx_compare_name(c->options.by));
	if (folded)
		return nsx_err_set(c->err, "%s: a table: want streams for folded stacks",
		                   nsx_reader_input(of->in[table])->name);
	return NSX_OK;
}

/* Count the devices of the side. False when out of memory. */
static bool
count_devices(const struct cmp *c, struct cmp_side *s)
{
	struct nsx_map devices = { 0 };
	bool good = true;

	for (size_t i = 0; i < s->cells.n && good; i++)
		good = nsx_map_number(&devices, (struct nsx_key){ (uint64_t)s->cells.p[i].device, 0 }) != NSX_NONE;
	s->devices = c->way->devices ? s->groups.n : devices.n;
	nsx_map_free(&devices);
	return good;
}

static int
read_side(struct cmp *c, struct cmp_side *s, int by, struct nsx_diags *diags)
{
	int rc = (by >= 0 ? nsx_compare_read_table : c->tables && c->way->sum_up ? c->way->sum_up
	          : c->way->read)(c, s, diags);

	s->diags = nsx_reader_diags(s->in);
	return rc != NSX_OK || count_devices(c, s) ? rc : nsx_err_nomem(c->err, NULL);
}

/* Read the base runs as one side; NEW's is where each is before it is added. NSX_OK or NSX_ERR. */
static int
read_runs(struct cmp *c, const struct inputs *of, struct nsx_diags *diags)
{
	struct cmp_side *base = &c->side[NSX_COMPARE_BASE], *new = &c->side[NSX_COMPARE_NEW];
	int rc = NSX_OK;

	for (size_t i = 0; rc == NSX_OK && i + 1 < of->n; i++) {
		struct cmp_side *s = i ? new : base;
		char name[32];

		snprintf(name, sizeof name, "%s %zu", sides[NSX_COMPARE_BASE], i + 1);
		*s = (struct cmp_side){ .name = name, .in = of->in[i] };
		rc = read_side(c, s, of->by[i], diags);
		nsx_diag_add(diags, NSX_WARNING, name, rc == NSX_OK && !s->time,
			     "no %s: it is not one of the base runs", c->way->things);
		nsx_diag_add(diags, NSX_WARNING, name, i && rc == NSX_OK && s->warm != base->warm,
		             "%s nsysx-warmup, as the first base run did%s", s->warm ? "passed" : "did not pass",
		             s->warm ? " not" : "");
		if (rc == NSX_OK && c->way->settle_run)
			rc = c->way->settle_run(c, s, diags);
		if (rc == NSX_OK && i)
			rc = nsx_compare_add_run(c);
		else if (rc == NSX_OK && !nsx_compare_begin_runs(s, of->n - 1))
			rc = nsx_err_nomem(c->err, NULL);
		if (i)
			nsx_compare_side_free(s);
	}
	*new = (struct cmp_side){ .name = sides[NSX_COMPARE_NEW], .in = of->in[of->n - 1] };
	base->name = sides[NSX_COMPARE_BASE];
	return rc != NSX_OK || nsx_compare_end_runs(base) ? rc : nsx_err_nomem(c->err, NULL);
}

static int
load(struct cmp *c, const struct inputs *of, bool folded, struct nsx_diags *diags)
{
	int rc;

	for (size_t k = 0; k < of->n; k++) {
		if (nsx_compare_is_table(of->in[k], &of->by[k]) != NSX_OK)
			return NSX_ERR;
		c->tables |= of->by[k] >= 0;
	}
	if (c->tables && choose(c, of, folded) != NSX_OK)
		return NSX_ERR;
	c->way = nsx_compare_way(c->options.by);
	c->unit = c->way->unit;
	if (of->n > 2 && !c->way->runs)
		return nsx_err_set(c->err, "several base runs by %s: want --by step or device", c->way->name);
	rc = of->n > 2 ? read_runs(c, of, diags) : read_side(c, &c->side[NSX_COMPARE_BASE], of->by[0], diags);
	if (rc == NSX_OK)
		rc = read_side(c, &c->side[NSX_COMPARE_NEW], of->by[of->n - 1], diags);
	if (rc == NSX_OK && c->way->settle && !c->way->settle(c, diags))
		rc = nsx_err_nomem(c->err, NULL);
	return rc;
}

/* A table may lack the programs with the least time (nsysx-summary --cover): the programs of a stream compared with it
 * are then not new or gone because of that. */
static void
leave_out(struct cmp *c, struct nsx_diags *diags)
{
	for (int k = 0; k < 2; k++) {
		struct cmp_side *s = &c->side[k];
		int64_t alone = 0;

		for (size_t i = 0; i < s->groups.n && s->summed; i++)
			alone += s->groups.p[i].pair == NSX_NONE;
		for (size_t i = 0; i < s->rows.n && s->summed; i++)
			if (s->groups.p[s->rows.p[i].group].pair == NSX_NONE) {
				s->time -= s->rows.p[i].sum;
				s->rows.p[i].sum = 0;
				s->rows.p[i].time = (struct cmp_time){ 0 };
			}
		nsx_diag_add(diags, NSX_WARNING, s->name, alone,
		             "programs that the other side's table does not have: ignored");
	}
}

int
nsx_compare(struct nsx_reader *const *runs, size_t nruns, const struct nsx_compare_options *options,
            struct nsx_outfile *folded,
            struct nsx_compare *out, struct nsx_diags *diags, struct nsx_err *err)
{
	struct cmp c = { .err = err, .options = *options, .side = { { .name = sides[0], .in = runs[0] },
		{ .name = sides[1], .in = runs[nruns - 1] } } };
	struct inputs of = { runs, nruns, malloc(nruns * sizeof *of.by) };
	int rc;

	*out = (struct nsx_compare){ 0 };
	rc = of.by ? load(&c, &of, folded, diags) : nsx_err_nomem(err, NULL);
	free(of.by);
	if (rc == NSX_OK)
		rc = nsx_compare_pair(&c);
	if (rc == NSX_OK)
		leave_out(&c, diags);
	if (rc == NSX_OK && c.way->check)
		c.way->check(&c);
	if (rc == NSX_OK && !nsx_compare_settle_strata(&c))
		rc = nsx_err_nomem(err, NULL);
	if (rc == NSX_OK)
		rc = nsx_compare_work(&c);
	if (rc == NSX_OK)
		rc = answer(&c, folded, out, diags);
	out->none = !c.tables && !c.side[0].time && !c.side[1].time;
	nsx_diag_add(diags, NSX_WARNING, "", rc == NSX_OK && c.side[NSX_COMPARE_BASE].nruns == 2,
	             "two base runs hardly tell how runs differ, so that only much slower is not noise: give three or "
	             "more");
	nsx_compare_side_free(&c.side[0]);
	nsx_compare_side_free(&c.side[1]);
	free(c.repeat);
	nsx_map_free(&c.places);
	nsx_intern_free(&c.strs);
	nsx_buf_free(&c.text);
	return rc;
}

void
nsx_compare_free(struct nsx_compare *c)
{
	nsx_table_free(c->table);
	nsx_buf_free(&c->junit);
	for (size_t i = 0; i < c->regressions.n; i++)
		free(c->regressions.p[i]);
	free(c->regressions.p);
}
