/* rate.c -- runs without steps: whether the same work takes longer (work.h), and how often ranges, kernels and
 * collectives occur. How often a single one does tells little: a kernel that does the work of two occurs half as often.
 * So a row is slower by its rate only if the work as a whole takes longer, too. */
#include <math.h>
#include <stdlib.h>

#include "stream/spool.h"
#include "table/compare/join.h"

bool
nsx_compare_take_work(struct cmp *c, struct cmp_side *s, uint32_t device, const struct nsx_rec *op, uint32_t name)
{
	if (s->placed || nsx_has(op, NSX_OP_execution)) {
		s->placed = true;
		return true;
	}
	if (name == NSX_NONE)
		name = nsx_intern_recall(&c->strs, c->recall, nsx_string(op, NSX_OP_name));
	return device != NSX_NONE && name != NSX_NONE && nsx_compare_work_take(&s->work, &c->places, op, device, name);
}

void
nsx_compare_need_work(struct nsx_reader *in)
{
	nsx_reader_need(in, NSX_OP, NSX_C(OP, device) | NSX_C(OP, stream) | NSX_C(OP, name) | NSX_C(OP, start)
	                            | NSX_C(OP, dur) | NSX_C(OP, removed) | NSX_C(OP, execution));
}

int
nsx_compare_need_classes(struct cmp *c, struct cmp_side *s)
{
	s->classes.err = c->err;
	s->classes.repeats = true;
	nsx_reader_need(s->in, NSX_STEP, 0);
	if (!nsx_spool_again(s->in)) {
		nsx_step_classes_need(s->in);
		return NSX_OK;
	}
	s->again = nsx_spool_open_all(s->in, c->err);
	return s->again ? NSX_OK : NSX_ERR;
}

static int
take_class(void *side, const struct nsx_rec *rec)
{
	struct cmp_side *s = side;

	/* Metadata come first: a job that has programs has their executions. */
	return s->classes.cat.programs.n ? NSX_OK : nsx_step_classes_take(&s->classes, rec);
}

int
nsx_compare_take_classes(struct cmp_side *s, const struct nsx_rec *rec)
{
	s->marked |= rec->kind->id == NSX_STEP;
	return s->again ? NSX_OK : take_class(s, rec);
}

/* Read the classes of a side that were not taken, as few runs need them. NSX_OK or NSX_ERR. */
static int
read_classes(struct cmp_side *s)
{
	struct nsx_reader *in = s->again ? nsx_spool_reader_of(s->again, NSX_READ_PARTIAL) : NULL;
	int rc = s->again && !in ? NSX_ERR : NSX_OK;

	if (in) {
		nsx_cat_need(&s->classes.cat, in);
		nsx_step_classes_need(in);
		rc = nsx_read_all(in, NULL, take_class, s, s->classes.err);
	}
	nsx_reader_close(in);
	return rc;
}

/* Whether both sides have steps, as by step: of the class of BASE. NSX_OK or NSX_ERR. */
static int
find_steps(struct cmp *c)
{
	struct cmp_side *b = &c->side[NSX_COMPARE_BASE], *n = &c->side[NSX_COMPARE_NEW];
	struct nsx_diags none = { .failed = false };
	char *class = NULL;

	c->has_steps = b->marked && n->marked;
	if (c->has_steps)
		return NSX_OK;
	int rc = read_classes(b);

	if (rc == NSX_OK)
		rc = nsx_step_classes_pick(&b->classes, &class, &none);
	if (rc == NSX_OK && !class)
		rc = nsx_step_classes_repeat(&b->classes, &class, &none);
	if (rc == NSX_OK && class)
		rc = read_classes(n);
	if (rc == NSX_OK && class)
		rc = nsx_step_classes_have(&n->classes, nsx_str_c(class), &c->has_steps);
	free(class);
	nsx_diags_free(&none);
	return rc;
}

int
nsx_compare_work(struct cmp *c)
{
	struct cmp_side *b = &c->side[NSX_COMPARE_BASE], *n = &c->side[NSX_COMPARE_NEW];
	struct cmp_work *work[2] = { &b->work, &n->work };

	if (!(c->way->each || c->repeat) || b->nruns || b->placed || n->placed || c->tables)
		return NSX_OK;
	for (int k = 0; k < 2; k++)
		c->side[k].seen = nsx_compare_work_seen(work[k]);
	c->compares_work = b->seen > 0 && n->seen > 0;
	if (c->compares_work && !nsx_compare_same_work(work, c->places.n, nsx_witness_alpha(c->options.sigma) / 2,
	                                               c->options.percent, c->options.coverage, &c->same))
		return nsx_err_nomem(c->err, NULL);
	/* Only of work that takes longer or shorter rates say something. */
	return c->way->each && c->same.said ? find_steps(c) : NSX_OK;
}

enum cmp_verdict
nsx_compare_judge_rate(const struct cmp *c, struct cmp_result *r, enum cmp_verdict was)
{
	double least = 1 + c->options.percent / 100;

	if (!c->way->each)
		return was;
	r->by_time = !c->options.tail && (was == CMP_SLOWER || was == CMP_FASTER);
	for (int k = 0; k < 2 && c->compares_work; k++)
		if (r->row[k])
			r->rate[k] = 1e9 * (double)r->time[k].n / (double)c->side[k].seen;
	if (!r->rate[0] || !r->rate[1] || !c->same.said || c->options.tail || c->has_steps)
		return was;
	/* At both ends of what was seen of a device one occurrence is in it or not. */
	double expected = r->rate[0] * (double)c->side[1].seen / 1e9, more = (double)r->time[1].n - expected;
	bool counts = fabs(more) > (double)c->side[1].devices;

	if (c->same.said > 0 && counts && more < 0 && r->rate[0] > least * r->rate[1] && was != CMP_FASTER)
		r->by_rate = true;
	if (c->same.said < 0 && counts && more > 0 && r->rate[1] > least * r->rate[0] && was != CMP_SLOWER)
		r->by_rate = true;
	return !r->by_rate ? was : c->same.said > 0 ? CMP_SLOWER : CMP_FASTER;
}

/* A change in percent, as it is printed: without a negative zero. */
static double
percent(const double of[2])
{
	double v = 100 * (of[1] / of[0] - 1);

	return fabs(v) < 0.05 ? 0 : v;
}

/* Likewise that of a part, in percent of BASE's whole: so parts add up to the change of the whole. */
static double
part(const struct cmp_same_work *w, double base, double new)
{
	double v = 100 * (new - base) / w->time[0];

	return fabs(v) < 0.05 ? 0 : v;
}

void
nsx_compare_tell_work(const struct cmp *c, struct nsx_buf *text)
{
	const struct cmp_same_work *w = &c->same;
	double others[2];

	/* A change that is written as none is none. */
	if (!c->compares_work || w->time[0] <= 0 || w->time[1] <= 0 || percent(w->time) == 0)
		return;
	nsx_buf_fmt(text, "the same work takes %.1f%% %s: ", fabs(percent(w->time)),
	            w->time[1] < w->time[0] ? "less" : "longer");
	/* What is neither on a stream is time in which others run: communication beside what computes, for example. */
	for (int k = 0; k < 2; k++)
		others[k] = w->time[k] - w->gpu[k] - w->idle[k];
	nsx_buf_fmt(text, "its operations %+.1f%%", part(w, w->gpu[0], w->gpu[1]));
	if (w->idle[0] > 0 || w->idle[1] > 0)
		nsx_buf_fmt(text, ", idle time between them %+.1f%%", part(w, w->idle[0], w->idle[1]));
	if (part(w, 0, others[0]) != 0 || part(w, 0, others[1]) != 0)
		nsx_buf_fmt(text, ", waiting while other streams run %+.1f%%", part(w, others[0], others[1]));
	/* What an operation takes is the GPU's; when the next one starts on its stream, the host's. */
	if (w->said > 0 && w->gpu[1] - w->gpu[0] < (w->time[1] - w->time[0]) / 10)
		nsx_buf_fmt(text, ", all of it: the host, or what streams wait for%s",
		            c->way->each ? ", see --by step --why" : "");
	if (!w->said)
		nsx_buf_c(text, w->judged ? ", which chance or --percent explains" : ", of too few times to judge");
}
