/* words.c -- a sentence for each program about its rows. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/num.h"
#include "table/roofline/rows.h"

/* First rows whose headroom is listed; names of instructions that are not modelled; characters of a name. */
enum { FIRST = 5, LARGEST = 3, LONGEST = 60 };
/* Programs with less than this share of the time of all rows get no line. */
#define SMALL 0.01

static void
put_name(struct nsx_buf *b, struct nsx_str s)
{
	if (!s.len)
		s = NSX_STR("?");
	if (s.len > LONGEST)
		s.len = LONGEST;
	nsx_buf_escaped(b, s);
}

static void
put_bound(struct nsx_buf *b, const struct nsx_roof_sum *s)
{
	static const char *const names[NSX_NBOUNDS] = { "matrix", "vector", "memory" };
	int most = 0;

	for (int i = 1; i < NSX_NBOUNDS; i++)
		if (s->by_bound[i] > s->by_bound[most])
			most = i;
	double share = (double)s->by_bound[most] / (double)s->modelled;

	if (share > 0.5)
		nsx_buf_fmt(b, "%s-bound in %.0f%% of", names[most], 100 * share);
	else
		nsx_buf_fmt(b, "bound by nothing in most of");
	nsx_buf_fmt(b, " its time, at %.1f%% of the limit", 100 * nsx_roof_efficiency(s));
}

/* The largest row without a limit. Rows without one are the last, the longest first. */
static void
put_unmodelled(const struct nsx_roof *f, struct nsx_buf *b, const struct nsx_roof_total *p)
{
	nsx_u128 rest = p->sum.total - p->sum.modelled;
	int named = 0;

	if (!rest)
		return;
	nsx_buf_fmt(b, "; %.1f%% without a limit:", 100 * (double)rest / (double)p->sum.total);
	for (size_t i = 0; i < f->rows.n && named < LARGEST; i++) {
		const struct nsx_roof_row *r = &f->rows.p[i];

		if (r->program != p->program || r->limited || !r->total)
			continue;
		nsx_buf_c(b, named++ ? ", " : " ");
		put_name(b, nsx_cat_str(f->cat, f->cat->insts.p[r->inst].name));
	}
}

static double
first_headroom(const struct nsx_roof *f, uint32_t program)
{
	double sum = 0;
	int n = 0;

	for (size_t i = 0; i < f->rows.n && n < FIRST; i++)
		if (f->rows.p[i].program == program && f->rows.p[i].limited) {
			sum += f->rows.p[i].headroom;
			n++;
		}
	return sum;
}

/* The length of a name without the options of a primitive, which tell less than where it is: up to the bracket that
 * the last one closes. */
static size_t
without_options(struct nsx_str name)
{
	size_t open = 0;

	if (!name.len || name.ptr[name.len - 1] != ']')
		return name.len;
	for (size_t i = name.len; i-- > 1;) {
		open += name.ptr[i] == ']';
		if (name.ptr[i] == '[' && --open == 0)
			return i;
	}
	return name.len;
}

/* What to look at first: the instruction with the largest gain, or all that are alike if they have more. */
static bool
put_first(const struct nsx_roof *f, struct nsx_buf *b, const struct nsx_roof_total *p)
{
	double per = p->ran.executions ? (double)p->ran.executions : 1;
	struct nsx_roof_reaches reaches;
	const struct nsx_roof_row *one = NULL;
	const struct nsx_roof_reach *most;
	bool good = true;

	nsx_roof_reaches_begin(&reaches);
	for (size_t i = 0; i < f->rows.n && good; i++) {
		const struct nsx_roof_row *r = &f->rows.p[i];

		if (r->program != p->program || !r->limited || r->gain <= 0)
			continue;
		one = !one || r->gain > one->gain ? r : one;
		good = nsx_roof_reaches_add(&reaches, f, r);
	}
	most = nsx_roof_reaches_most(&reaches);
	b->len = 0;
	if (one && good) {
		bool many = most->n > 1 && most->gain > one->gain;

		nsx_buf_c(b, "look first at ");
		if (many) {
			struct nsx_str name = nsx_intern_str(&reaches.names, most->name);

			name.len = without_options(name);
			size_t cut = name.len > LONGEST ? name.len - LONGEST : 0;

			nsx_buf_fmt(b, "%" PRId64 " instructions of op_name %s", most->n, cut ? "..." : "");
			nsx_buf_escaped(b, (struct nsx_str){ name.ptr + cut, name.len - cut });
			nsx_buf_fmt(b, ", gain %s%s (--by op-name --names=digits); of single ones at ",
			            NSX_NS(most->gain / per), p->ran.executions ? " per execution" : "");
		}
		put_name(b, nsx_cat_str(f->cat, f->cat->insts.p[one->inst].name));
		nsx_buf_fmt(b, ", gain %s%s", NSX_NS(one->gain / per),
		            p->ran.executions && !many ? " per execution" : "");
	}
	nsx_roof_reaches_free(&reaches);
	return good;
}

static void
put_program(const struct nsx_roof *f, struct nsx_buf *b, const struct nsx_roof_total *p)
{
	const struct nsx_roof_sum *s = &p->sum;
	double per = p->ran.executions ? (double)p->ran.executions : 1;

	b->len = 0;
	put_name(b, nsx_cat_program_label(f->cat, p->program));
	nsx_buf_c(b, ": ");
	if (s->modelled) {
		put_bound(b, s);
		nsx_buf_fmt(b, "; headroom %s%s, %s of it in the first %d rows", NSX_NS(s->headroom / per),
		            p->ran.executions ? " per execution" : "", NSX_NS(first_headroom(f, p->program) / per),
		            FIRST);
		if (s->at_peak >= 0 && p->ran.time)
			nsx_buf_fmt(b, "; HFU %.1f%% of the time of executions",
			            100 * s->at_peak / (double)p->ran.time);
	} else {
		nsx_buf_c(b, "no limit is known");
	}
	put_unmodelled(f, b, p);
}

/* Notes about groups of rows. */
static void
put_limits(const struct nsx_roof *f, struct nsx_table *t)
{
	int64_t count[NSX_NNOTES] = { 0 };

	for (size_t i = 0; i < f->rows.n; i++)
		count[f->rows.p[i].note]++;
	if (count[NSX_NOTE_CACHE])
		nsx_table_note(t, "rows faster than memory allows (cache): %" PRId64
		               "; data stayed in caches, or less was moved than modelled",
		               count[NSX_NOTE_CACHE]);
	if (count[NSX_NOTE_PEAK])
		nsx_table_note(t, "rows faster than the peak (peak): %" PRId64
		               "; the clock is above the table's, or --peak is wrong",
		               count[NSX_NOTE_PEAK]);
	if (count[NSX_NOTE_NO_PEAK])
		nsx_table_note(t, "rows of devices without a known peak (no-peak): %" PRId64
		               "; give --peak and --bandwidth",
		               count[NSX_NOTE_NO_PEAK]);
	if (count[NSX_NOTE_UNMODELLED])
		nsx_table_note(t, "rows whose work is not modelled (unmodelled): %" PRId64, count[NSX_NOTE_UNMODELLED]);
	if (f->any_cost)
		nsx_table_note(t,
			"HFU counts all operations that ran, including rematerialised ones, and the time between "
			"kernels of an execution, not that between executions; nsysx-summary --by scope has those of "
			"the kernels' time, and an mfu without rematerialised ones; that of the model's own count of "
			"FLOPs is not in HLO");
}

int
nsx_roof_words(const struct nsx_roof *f, struct nsx_table *t)
{
	struct nsx_roof_total *all;
	struct nsx_buf line = { 0 };
	int64_t small = 0;
	size_t n;

	if (nsx_roof_programs(f, &all, &n) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < n; i++) {
		if ((double)all[i].sum.total < SMALL * (double)f->total || !all[i].sum.total) {
			small += all[i].sum.total > 0;
			continue;
		}
		put_program(f, &line, &all[i]);
		if (!line.failed)
			nsx_table_note(t, "%.*s", (int)line.len, line.ptr);
		line.failed |= !put_first(f, &line, &all[i]);
		if (!line.failed && line.len)
			nsx_table_note(t, "%.*s", (int)line.len, line.ptr);
	}
	if (small)
		nsx_table_note(t, "programs with less than 1%% of the time each: %" PRId64 "; --by program has them",
		               small);
	put_limits(f, t);
	free(all);
	bool good = !line.failed;

	nsx_buf_free(&line);
	return good ? NSX_OK : nsx_err_nomem(f->err, NULL);
}
