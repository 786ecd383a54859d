/* collect.c -- GPU operations gathered by the execution they belong to. Holds a line for each execution that is measured and, of
 * ranges, those that are open on the host or on the GPU. */
#include <stdlib.h>
#include <string.h>

#include "table/measure/measure.h"
#include "base/num.h"
#include "stream/order.h"

enum {
	RESOLVING = NSX_NONE - 1,    /* who meets it again is in a circle */
	FEW = 4096                   /* ranges worth looking through for closed ones */
};

/* Clocks corrected one by one may move an operation a little past the end of its range. */
#define LATE INT64_C(10000000)

struct range {
	int64_t  profile, range, parent, end;
	uint32_t subject;      /* it is this, or within it; NSX_NONE: neither. Of one that does not match not known before `resolved` */
	uint32_t resolved;     /* in that round; 0: not yet */
	bool     matches, has_parent;
};

struct collecting {
	struct nsx_spans   *s;
	struct nsx_map      programs;   /* program -> subject, for programs that are measured */
	NSX_VEC(struct range) open;
	struct nsx_map      index;      /* (profile, range) -> open */
	size_t              limit;      /* look for closed ones when there are this many */
	NSX_VEC(uint32_t)   chain;
	uint32_t            round;
};

static int
nomem(const struct collecting *c)
{
	return nsx_err_nomem(c->s->err, NULL);
}

static uint32_t
add_subject(struct nsx_spans *s, struct nsx_subject sub, struct nsx_str name)
{
	sub.name = nsx_intern(&s->names, name);
	sub.outer = NSX_NONE;
	if (sub.name == NSX_NONE || s->subjects.n >= RESOLVING || !nsx_vec_push(&s->subjects, sub))
		return NSX_NONE;
	return (uint32_t)(s->subjects.n - 1);
}

/* ---- operations into spans */

static uint32_t
dense(struct nsx_map *m, uint64_t a, uint64_t b)
{
	uint32_t *at = nsx_map_at(m, (struct nsx_key){ a, b });

	if (at && *at == NSX_NONE)
		*at = (uint32_t)m->n - 1;
	return at ? *at : (uint32_t)NSX_NONE;
}

static int
add_op(struct collecting *c, uint32_t subject, int64_t execution, const struct nsx_rec *rec)
{
	struct nsx_spans *s = c->s;
	int64_t start = nsx_int(rec, NSX_OP_start, 0), dur = rec->v[NSX_OP_dur].i, device = nsx_int(rec, NSX_OP_device, INT64_MIN);
	uint32_t turn = dense(&s->executions, subject, (uint64_t)execution);
	uint32_t at = turn == NSX_NONE ? turn : dense(&s->span_of, turn, (uint64_t)device);

	if (at == NSX_NONE)
		return nomem(c);
	if (at == s->spans.n && !nsx_vec_push(&s->spans, ((struct nsx_span_of){ subject, execution, device, start, start, 0, 0 })))
		return nomem(c);
	struct nsx_span_of *sp = &s->spans.p[at];
	int64_t end = nsx_add_sat(start, dur, NULL);
	if (start < sp->start)
		sp->start = start;
	if (end > sp->end)
		sp->end = end;
	sp->kernels = nsx_add_sat(sp->kernels, dur, NULL);
	sp->ops++;
	if (s->options->what != NSX_MEASURE_LIST)
		return NSX_OK;
	struct nsx_span_op op = { at, nsx_intern(&s->names, nsx_string(rec, NSX_OP_type)), nsx_intern(&s->names, nsx_string(rec, NSX_OP_name)), start, dur };
	return op.type != NSX_NONE && op.name != NSX_NONE && nsx_vec_push(&s->ops, op) ? NSX_OK : nomem(c);
}

/* ---- programs */

static int
take_program(struct collecting *c, const struct nsx_rec *rec)
{
	struct nsx_str want = nsx_str_c(c->s->options->module), name = nsx_string(rec, NSX_PROGRAM_name);

	if (!nsx_str_eq(name, want) && !nsx_str_eq(nsx_string(rec, NSX_PROGRAM_key), want))
		return NSX_OK;
	uint32_t sub = add_subject(c->s, (struct nsx_subject){ .id = nsx_int(rec, NSX_PROGRAM_id, INT64_MIN) }, name);
	uint32_t *at = nsx_map_at(&c->programs, (struct nsx_key){ (uint64_t)nsx_int(rec, NSX_PROGRAM_program, -1), 0 });
	if (sub == NSX_NONE || !at)
		return nomem(c);
	*at = sub;
	c->s->matching++;
	return NSX_OK;
}

static int
take_module_op(struct collecting *c, const struct nsx_rec *rec)
{
	uint32_t sub;

	if (!nsx_has(rec, NSX_OP_program) || !nsx_has(rec, NSX_OP_execution))
		return NSX_OK;
	sub = nsx_map_get(&c->programs, (struct nsx_key){ (uint64_t)rec->v[NSX_OP_program].i, 0 });
	return sub == NSX_NONE ? NSX_OK : add_op(c, sub, rec->v[NSX_OP_execution].i, rec);
}

/* ---- ranges */

static struct nsx_key
key_of(int64_t profile, int64_t range)
{
	return (struct nsx_key){ (uint64_t)profile, (uint64_t)range };
}

/* Forget the ranges that were over before `now`. */
static int
forget(struct collecting *c, int64_t now)
{
	size_t kept = 0;

	nsx_map_free(&c->index);
	for (size_t i = 0; i < c->open.n; i++) {
		const struct range *g = &c->open.p[i];

		if (nsx_add_sat(g->end, LATE, NULL) < now)
			continue;
		uint32_t *at = nsx_map_at(&c->index, key_of(g->profile, g->range));
		if (!at)
			return nomem(c);
		*at = (uint32_t)kept;
		c->open.p[kept++] = *g;
	}
	c->open.n = kept;
	c->limit = 2 * kept > FEW ? 2 * kept : FEW;
	return NSX_OK;
}

/* NAME, or DOMAIN:NAME. */
static bool
is_named(const struct nsx_rec *rec, struct nsx_str want)
{
	struct nsx_str name = nsx_string(rec, NSX_RANGE_name), domain = nsx_string(rec, NSX_RANGE_domain);

	if (nsx_str_eq(name, want))
		return true;
	return domain.len && want.len == domain.len + 1 + name.len && memcmp(want.ptr, domain.ptr, domain.len) == 0
	       && want.ptr[domain.len] == ':' && (!name.len || memcmp(want.ptr + domain.len + 1, name.ptr, name.len) == 0);
}

static int
take_range(struct collecting *c, const struct nsx_rec *rec)
{
	int64_t start = nsx_int(rec, NSX_RANGE_start, 0), now = start;
	struct range g = {
		.profile = nsx_int(rec, NSX_RANGE_profile, INT64_MIN),
		.range = nsx_int(rec, NSX_RANGE_range, INT64_MIN),
		.parent = nsx_int(rec, NSX_RANGE_parent, 0),
		.has_parent = nsx_has(rec, NSX_RANGE_parent),
		.end = nsx_order_end(rec),
		.matches = is_named(rec, nsx_str_c(c->s->options->range)),
		.subject = NSX_NONE,
	};

	c->s->matching += g.matches;
	if (!nsx_has(rec, NSX_RANGE_start))
		return NSX_OK;   /* no GPU work */
	nsx_order_time(rec, &now);
	if (c->open.n >= c->limit && forget(c, now) != NSX_OK)
		return NSX_ERR;
	if (g.matches) {
		g.subject = add_subject(c->s, (struct nsx_subject){ .id = g.range, .host_start = nsx_int(rec, NSX_RANGE_host_start, start) },
		                        nsx_string(rec, NSX_RANGE_name));
		if (g.subject == NSX_NONE)
			return nomem(c);
	}
	uint32_t *at = nsx_map_at(&c->index, key_of(g.profile, g.range));
	if (!at || c->open.n >= RESOLVING || !nsx_vec_push(&c->open, g))
		return nomem(c);
	*at = (uint32_t)(c->open.n - 1);
	return NSX_OK;
}

/* Which measured range an open one is or is in, for it and all around it. A parent may stand after its child when both start at once,
 * so it is looked for when the first operation comes. */
static int
resolve(struct collecting *c, uint32_t at)
{
	uint32_t around = NSX_NONE, up = NSX_NONE;

	c->chain.n = 0;
	c->round++;
	while (!c->open.p[at].resolved) {
		struct range *g = &c->open.p[at];

		g->resolved = c->round;
		if (!nsx_vec_push(&c->chain, at))
			return nomem(c);
		up = g->has_parent ? nsx_map_get(&c->index, key_of(g->profile, g->parent)) : (uint32_t)NSX_NONE;
		if (up == NSX_NONE)
			break;
		at = up;
	}
	/* In a broken stream the chain may come back to itself: then it is taken to end there. */
	if (up != NSX_NONE && c->open.p[at].resolved != c->round)
		around = c->open.p[at].subject;
	while (c->chain.n) {
		struct range *g = &c->open.p[c->chain.p[--c->chain.n]];

		if (g->matches)
			c->s->subjects.p[g->subject].outer = around;
		else
			g->subject = around;
		around = g->subject;
	}
	return NSX_OK;
}

static int
take_range_op(struct collecting *c, const struct nsx_rec *rec)
{
	uint32_t at, sub;

	if (!nsx_has(rec, NSX_OP_range))
		return NSX_OK;
	at = nsx_map_get(&c->index, key_of(nsx_int(rec, NSX_OP_profile, INT64_MIN), rec->v[NSX_OP_range].i));
	if (at == NSX_NONE) {
		c->s->homeless++;
		return NSX_OK;
	}
	if (!c->open.p[at].resolved && resolve(c, at) != NSX_OK)
		return NSX_ERR;
	for (sub = c->open.p[at].subject; sub != NSX_NONE; sub = c->s->subjects.p[sub].outer)
		if (add_op(c, sub, 0, rec) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

/* Executions of ranges: counted by host start, for each device. */
static int
by_host_start(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	for (int i = 0; i < 3; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return x[3] < y[3] ? -1 : 1;
}

static int
count_executions(struct collecting *c)
{
	struct nsx_spans *s = c->s;
	int64_t (*keys)[4] = malloc((s->spans.n + 1) * sizeof *keys), execution = 0;

	if (!keys)
		return nomem(c);
	for (size_t i = 0; i < s->spans.n; i++) {
		const struct nsx_span_of *sp = &s->spans.p[i];
		const struct nsx_subject *sub = &s->subjects.p[sp->subject];
		keys[i][0] = sp->device;
		keys[i][1] = sub->host_start;
		keys[i][2] = sub->id;
		keys[i][3] = (int64_t)i;
	}
	qsort(keys, s->spans.n, sizeof *keys, by_host_start);
	for (size_t i = 0; i < s->spans.n; i++) {
		execution = i && keys[i][0] == keys[i - 1][0] ? execution + 1 : 0;
		s->spans.p[keys[i][3]].execution = execution;
	}
	free(keys);
	return NSX_OK;
}

/* ---- the stream */

static int
take(struct collecting *c, const struct nsx_rec *rec)
{
	struct nsx_spans *s = c->s;

	if (s->options->require && strcmp(rec->kind->name, s->options->require) == 0)
		s->required = true;
	switch (rec->kind->id) {
	case NSX_PROGRAM:
		return s->options->module ? take_program(c, rec) : NSX_OK;
	case NSX_RANGE:
		return s->options->range ? take_range(c, rec) : NSX_OK;
	case NSX_DIAG:
		s->diags++;
		return NSX_OK;
	case NSX_OP:
		s->met++;
		if (!nsx_has(rec, NSX_OP_dur) || rec->v[NSX_OP_dur].i < 0) {
			s->timeless++;
			return NSX_OK;
		}
		return s->options->module ? take_module_op(c, rec) : take_range_op(c, rec);
	default:
		return NSX_OK;
	}
}

int
nsx_spans_read(struct nsx_spans *s, struct nsx_reader *in)
{
	struct collecting c = { .s = s, .limit = FEW };
	struct nsx_rec rec;
	int rc;

	while ((rc = nsx_read(in, &rec)) == NSX_OK)
		if (take(&c, &rec) != NSX_OK) {
			rc = NSX_ERR;
			break;
		}
	rc = rc == NSX_EOF ? NSX_OK : NSX_ERR;
	if (rc == NSX_OK && s->options->range)
		rc = count_executions(&c);
	nsx_map_free(&c.programs);
	nsx_map_free(&c.index);
	free(c.open.p);
	free(c.chain.p);
	return rc;
}

void
nsx_spans_free(struct nsx_spans *s)
{
	nsx_intern_free(&s->names);
	free(s->subjects.p);
	free(s->spans.p);
	nsx_map_free(&s->executions);
	nsx_map_free(&s->span_of);
	free(s->ops.p);
}
