/* comparable.c -- what two runs must have in common to be compared, and what makes them so if they do not: the one
 * place for these messages, but for those of a single way of comparing, which fill cmp.unlike. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/input.h"
#include "table/compare/join.h"

/* ---- properties that both runs must share */

/* The file of a side, as a word of a command; valid until the next one. */
static const char *
path(struct cmp *c, int side)
{
	c->text.len = 0;
	nsx_buf_shell(&c->text, nsx_str_c(nsx_reader_input(c->side[side].in)->name));
	nsx_buf_char(&c->text, '\0');
	return c->text.failed ? "FILE" : c->text.ptr;
}

static void
report_devices(const struct cmp *c, struct nsx_diags *diags)
{
	const struct cmp_side *b = &c->side[NSX_COMPARE_BASE], *n = &c->side[NSX_COMPARE_NEW];
	int most = n->devices > b->devices;
	size_t least = c->side[!most].devices;

	if (b->devices && n->devices && b->devices != n->devices)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "BASE ran on %zu devices, NEW on %zu%s: each may do other work then: record both on as "
		             "many, or keep some of %s, nsysx-extract --device 0%s%.0zu", b->devices, n->devices,
		             c->way->devices ? "" : ", times are means over devices", c->side[most].name,
		             least == 2 ? "," : least > 2 ? ",...," : "", least - 1);
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < c->side[k].models.n && c->side[!k].models.n; i++) {
			struct nsx_str model = cmp_str(c, c->side[k].models.p[i]);

			if (!nsx_compare_has_model(&c->side[!k], c->side[k].models.p[i]))
				nsx_diag_add(diags, NSX_WARNING, "", 1, "only %s has devices of model %.*s",
				             c->side[k].name, (int)model.len, model.ptr);
		}
}

static void
report_filters(struct cmp *c, struct nsx_diags *diags)
{
	for (int k = 0; k < 2; k++) {
		const struct cmp_side *s = &c->side[k], *other = &c->side[!k];

		if (s->warm && !other->warm)
			nsx_diag_add(diags, NSX_WARNING, "", 1,
			             "%s passed nsysx-warmup; %s did not, or had no initialisation: nsysx-warmup -o "
			             "steady.nsysx %s", s->name, other->name, path(c, !k));
		if (c->options.exposed && s->top.any_hidden && other->top.any_comm && !other->top.any_hidden)
			nsx_diag_add(diags, NSX_WARNING, "", 1, "only %s passed nsysx-overlap: nsysx-overlap -o "
			             "overlap.nsysx %s", s->name, path(c, !k));
	}
}

/* Steps from the first on that are longer than SLOW times the median one are a warm-up; not if they are more than one
 * in MANY. LIKE: work that differs by less is the same. */
#define SLOW 2
enum { MANY = 3 };
#define LIKE 0.01

/* A program that warms up: the first steps of a class on that side. */
static void
report_warm_up(struct cmp *c, const struct cmp_result *r, int side, struct nsx_diags *diags)
{
	struct nsx_sample v = cmp_sample(&c->side[side], r->row[side]);
	struct nsx_str name = cmp_str(c, nsx_compare_group_of(c, r)->name);
	double median = r->witness.median[side], sum = 0;
	size_t n = 0;

	while (n < v.n && v.v[n] > SLOW * median)
		sum += v.v[n++];
	/* Of a server a step is long for its batch. */
	if (!n || n > v.n / MANY || c->side[side].nruns || r->row[side]->strata)
		return;
	bool program = nsx_compare_group_of(c, r)->key != nsx_compare_group_of(c, r)->name;

	nsx_diag_add(diags, NSX_WARNING, c->side[side].name, 1, "%.*s: the first %zu of %zu steps take %.1f times the "
	             "median one, as of a program that warms up: %s%s leaves them out%s%s",
	             CMP_CUT(name, 80), n, v.n, sum / (double)n / median,
	             program ? "nsysx-warmup -o steady.nsysx " : "nsysx-extract --time FROM:",
	             program ? path(c, side) : "",
	             program ? "" : ", with FROM the host_start of a later one: nsysx-steps --each ",
	             program ? "" : path(c, side));
}

/* Other work in a step or an execution: of another batch size, another model. */
static void
report_work(const struct cmp *c, struct nsx_diags *diags)
{
	const struct cmp_side *b = &c->side[NSX_COMPARE_BASE], *n = &c->side[NSX_COMPARE_NEW];

	for (size_t i = 0; i < b->groups.n; i++) {
		const struct cmp_group *was = &b->groups.p[i],
		    *is = was->pair == NSX_NONE ? NULL : &n->groups.p[was->pair];
		struct nsx_str name = cmp_str(c, was->name);
		bool flops = is && was->flops > 0 && is->flops > 0;
		double of = !is ? 0 : flops ? was->flops : was->ops, to = !is ? 0 : flops ? is->flops : is->ops;

		if (!(of > 0 && to > 0) || (to < of * (1 + LIKE) && to > of * (1 - LIKE)))
			continue;
		nsx_diag_add(diags, flops ? NSX_WARNING : NSX_INFO, "", 1,
		             "%.*s: NEW does %.4g times the %s of BASE per %s (%.4g, was %.4g): if that is another "
		             "batch size or model, and no change of the program, record both with the same, or divide "
		             "by it",
		             CMP_CUT(name, 80), to / of, flops ? "FLOPs" : "operations",
		             c->unit, to, of);
	}
}

void
nsx_compare_tell_differences(struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_diags *diags)
{
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < 2 && r[i].sampled && c->way->tell_growth && cmp_decides(c, &r[i]); k++)
			report_warm_up(c, &r[i], k, diags);
	if (c->tables)
		return;
	report_devices(c, diags);
	report_filters(c, diags);
	report_work(c, diags);
}

/* Share of a side's time that has a counterpart. */
static double
coverage(const struct cmp *c, const struct cmp_side *s)
{
	nsx_u128 matched = 0;

	for (size_t i = 0; i < s->rows.n; i++)
		if (cmp_counts(c, &s->rows.p[i]) && s->rows.p[i].pair != NSX_NONE)
			matched += s->rows.p[i].sum;
	return s->time ? (double)matched / (double)s->time : 0;
}

/* Why a row is not judged. */
struct why { char text[256]; };

/* A run that is too short beside those of BASE, or one of these, if they are judged by their tails. */
static struct why
tell_short(const struct cmp *c, const struct cmp_result *r)
{
	struct nsx_str name = cmp_str(c, nsx_compare_group_of(c, r)->name);
	size_t steps = cmp_sample(&c->side[NSX_COMPARE_NEW], r->row[NSX_COMPARE_NEW]).n,
	    least = nsx_compare_between(r->row[NSX_COMPARE_BASE], false).least;
	struct why why;

	if (!r->witness.judged)
		snprintf(why.text, sizeof why.text,
			 "%.*s: NEW has %zu step%s, each base run %zu or more: record as many", CMP_CUT(name, 80),
			 steps, steps == 1 ? "" : "s", least);
	else
		snprintf(why.text, sizeof why.text, "%.*s: NEW has %zu steps, a base run %zu, want %d for their p99: "
		         "record more steps", CMP_CUT(name, 80), steps, least, NSX_TAIL_OF_RUN);
	return why;
}

/* How many samples of those that depend on each other would tell as much as `least`: twice as many as these let expect,
 * as few of them do not tell well how much they do, in tens. */
static double
wanted(size_t n, double n_eff, int least)
{
	return 10 * ceil(2 * (double)n * least / n_eff / 10);
}

/* Samples that are too few, or depend on each other so much that they tell little. */
static struct why
tell_few(const struct cmp *c, const struct cmp_result *r)
{
	const struct nsx_witness *w = &r->witness;
	int side = w->of[1].n_eff < w->of[0].n_eff, least = c->options.tail ? NSX_TAIL_LEAST : NSX_WITNESS_LEAST;
	struct nsx_str name = cmp_str(c, c->way->each ? nsx_compare_row_shown(r)->name
	                                              : nsx_compare_group_of(c, r)->name);
	size_t n = cmp_sample(&c->side[side], r->row[side]).n;
	const char *unit = c->unit, *tail = c->options.tail ? " of their p99" : "",
	    *more = c->way->runs ? ", or several base runs" : "";
	struct why why;

	n = n ? n : (size_t)w->of[side].n_eff;   /* of a table */
	double enough = wanted(n, w->of[side].n_eff, least);

	if (r->row[side]->strata && !r->mixed && w->of[side].n_eff < (double)n - 0.05)
		snprintf(why.text, sizeof why.text, "%.*s: %zu %ss of %s, of %u kinds of batches, tell as much as "
		         "%.1f, want %d: record about %.0f %ss%s", CMP_CUT(name, 80), n, unit, c->side[side].name,
		         r->row[side]->strata, w->of[side].n_eff, least, enough, unit, more);
	else if (w->of[side].n_eff < (double)n - 0.05)
		snprintf(why.text, sizeof why.text, "%.*s: %zu %ss of %s that depend on each other tell as much as "
		         "%.1f%s, want %d: record about %.0f %ss%s", CMP_CUT(name, 80), n, unit, c->side[side].name,
		         w->of[side].n_eff, tail, least, enough, unit, more);
	else
		snprintf(why.text, sizeof why.text, "%.*s: %zu %s%s of %s tell%s too little%s, want %d: record more "
		         "%ss%s", CMP_CUT(name, 80), n, unit, n == 1 ? "" : "s", c->side[side].name, n == 1 ? "s" : "",
		         tail, least, unit, more);
	return why;
}

/* What decides, if base runs differ so much that of what --percent asks for nothing would be seen: neither "same" nor
 * "hidden" tells anything then. */
static bool
is_blind(const struct cmp *c, const struct cmp_result *r)
{
	double of = r->judged[NSX_COMPARE_BASE], share = 100 * r->unseen / of;

	return r->runs && of > 0 && share > NSX_BLIND && share > c->options.percent
	       && (r->verdict == CMP_SAME || r->verdict == CMP_HIDDEN);
}

static struct why
tell_blind(const struct cmp *c, const struct cmp_result *r)
{
	struct nsx_str name = cmp_str(c, nsx_compare_group_of(c, r)->name);
	struct why why;
	char device[40] = "";

	if (c->way->devices)
		snprintf(device, sizeof device, "device %" PRId64, nsx_compare_group_of(c, r)->number);
	snprintf(why.text, sizeof why.text, "%s%.*s: noise between %zu base runs is %.1f%%%s or more, so that an "
	         "increase of %g%% is not seen: compare more base runs, or more alike, or with --percent above that",
	         device, c->way->devices ? 0 : (int)(name.len < 60 ? name.len : 60), name.ptr, r->runs,
	         100 * r->unseen / r->judged[NSX_COMPARE_BASE], c->options.tail ? " of p99" : "", c->options.percent);
	return why;
}

/* Without steps those that take the most time decide: as much as has to be matched has to be judged; where rows contain
 * each other, any. */
static void
judge_rows(const struct cmp *c, struct nsx_compare *out, const struct cmp_result *r, size_t n)
{
	const struct cmp_result *most = NULL;
	nsx_u128 both = 0, few = 0;

	for (size_t i = 0; i < n && out->comparable && !out->regressions.n; i++) {
		bool is_few = cmp_is_few(c, &r[i]);

		if (!r[i].row[0] || !r[i].row[1])
			continue;
		both += r[i].time[1].sum;
		few += is_few ? r[i].time[1].sum : 0;
		most = is_few && (!most || r[i].time[1].sum > most->time[1].sum) ? &r[i] : most;
	}
	if (!most || !(c->way->nested ? few == both : (double)(both - few) < c->options.coverage * (double)both))
		return;
	snprintf(out->why, sizeof out->why, "%s", tell_few(c, most).text);
	out->comparable = false;
}

/* The larger share of a time in that of its side. */
static double
share_of(const nsx_u128 time[2], const nsx_u128 all[2])
{
	double share = 0;

	for (int k = 0; k < 2; k++)
		if (all[k] && (double)time[k] / (double)all[k] > share)
			share = (double)time[k] / (double)all[k];
	return share;
}

/* Classes of steps, or devices, each decide. What cannot be judged of a few steps, as of a phase of a server that is
 * rare, says nothing of the others: up to a share of the time it is told, and no more; above that nothing is judged. */
static void
judge_listed(const struct cmp *c, struct nsx_compare *out, const struct cmp_result *r, size_t n,
             struct nsx_diags *diags)
{
	nsx_u128 all[2] = { 0 }, not[2] = { 0 };
	double largest = -1;

	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < 2 && cmp_decides(c, &r[i]); k++) {
			all[k] += r[i].time[k].sum;
			not[k] += cmp_is_few(c, &r[i]) || is_blind(c, &r[i]) ? r[i].time[k].sum : 0;
		}
	double share = share_of(not, all);
	bool refused = share > c->options.unjudged && out->comparable && !out->regressions.n;

	for (size_t i = 0; i < n && out->comparable; i++) {
		bool is_few = cmp_is_few(c, &r[i]), blind = is_blind(c, &r[i]);
		const nsx_u128 time[2] = { r[i].time[0].sum, r[i].time[1].sum };
		double part = share_of(time, all);

		if (!cmp_decides(c, &r[i]) || !(is_few || blind))
			continue;
		struct why why = blind ? tell_blind(c, &r[i]) : r[i].runs ? tell_short(c, &r[i]) : tell_few(c, &r[i]);

		if (refused && part > largest) {
			snprintf(out->why, sizeof out->why, "%s", why.text);
			out->blind = blind;
			largest = part;
		}
		if (refused)
			continue;
		if (out->table)
			nsx_table_note(out->table, "not judged, %.1f%% of the time: %s", 100 * part, why.text);
		nsx_diag_add(diags, NSX_WARNING, "", 1, "not judged, %.1f%% of the time: %s", 100 * part, why.text);
	}
	if (refused && share < 1) {
		size_t at = strlen(out->why);

		snprintf(out->why + at, sizeof out->why - at, "; %.1f%% of the time is not judged, --unjudged allows "
		         "%g%%", 100 * share, 100 * c->options.unjudged);
	}
	out->comparable &= !refused;
}

void
nsx_compare_judge_samples(const struct cmp *c, struct nsx_compare *out, const struct cmp_result *r, size_t n,
                          struct nsx_diags *diags)
{
	if (c->way->listed)
		judge_listed(c, out, r, n, diags);
	else
		judge_rows(c, out, r, n);
}

void
nsx_compare_judge_coverage(const struct cmp *c, struct nsx_compare *out, struct nsx_diags *diags)
{
	struct nsx_buf work = { 0 };

	nsx_compare_tell_work(c, &work);
	if (out->table && work.len)
		nsx_table_note(out->table, "%.*s", (int)work.len, work.ptr);
	nsx_buf_free(&work);
	out->comparable = !c->unlike[0];
	snprintf(out->why, sizeof out->why, "%s", c->unlike);
	if (out->table && c->note[0])
		nsx_table_note(out->table, "%s", c->note);
	/* If one side is empty, nothing of the other is matched: that is not a separate reason. */
	for (int k = 0; k < 2 && out->comparable; k++)
		if (!c->side[k].time) {
			snprintf(out->why, sizeof out->why, "%s has no %s%s", c->side[k].name, c->way->things,
			         c->way->instead);
			out->comparable = false;
		}
	for (int k = 0; k < 2; k++) {
		const struct cmp_side *s = &c->side[k];
		double share = coverage(c, s);

		if (out->table && s->time)
			nsx_table_note(out->table, s->diags < 0 ? "%.1f%% of %s's time is matched"
			               : "%.1f%% of %s's time is matched; its stream holds %" PRId64 " diag%s",
			               100 * share, s->name, s->diags,
			               s->diags == 1 ? "" : "s");
		if (s->time && share >= c->options.coverage) {
			nsx_diag_add(diags, NSX_INFO, s->name, 1, "%.1f%% of its time is matched", 100 * share);
			continue;
		}
		if (out->comparable)
			snprintf(out->why, sizeof out->why,
			         "%.1f%% of the time of %s is matched, less than --coverage requires%s", 100 * share,
			         s->name, c->way->read == nsx_compare_read_collectives
			         && c->side[0].devices != c->side[1].devices
			         ? ": collectives of groups of other sizes are others: record both on as many devices"
			         : "");
		out->comparable = false;
	}
}

