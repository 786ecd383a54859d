/* plan.c -- see plan.h. */
#include "table/whatif/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/pattern.h"
#include "base/sort.h"

/* A duration that shrinks to 1/k. */
static int64_t
shrunk(int64_t ns, double k)
{
	return isinf(k) ? 0 : llround((double)ns / k);
}

/* ---- operations that become faster ---- */

/* How many times as fast what does this becomes; 1: it stays as it is. */
static double
speed_of(const struct wi_graph *g, const struct wi_change *c, const struct wi_task *t)
{
	double least;

	if (t->comm)
		return 1;
	if (c->what != WI_LIMIT)
		return c->what == WI_FASTER || t->copy ? c->k : 1;
	least = t->inst < g->limits.n ? g->limits.p[t->inst] / c->k : 1;
	return least < 1 ? 1 / least : 1;
}

static int
speeds_begin(struct wi_plan *p)
{
	p->kind = WI_PLAN_TASKS;
	p->classes = 1u << WI_DUR | 1u << WI_RDV;
	p->device = NSX_NONE;
	p->speeds = malloc((p->g->tasks.n + 1) * sizeof *p->speeds);
	for (size_t i = 0; p->speeds && i < p->g->tasks.n; i++)
		p->speeds[i] = 1;
	return p->speeds ? NSX_OK : nsx_err_nomem(p->g->err, NULL);
}

/* Those whose name matches, where all do if there is no name. */
static int
faster(struct wi_plan *p, bool *named)
{
	const struct wi_change *c = &p->change;
	const struct wi_graph *g = p->g;
	char *pattern = nsx_str_dup(c->name.len ? c->name : NSX_STR("^"));
	struct nsx_buf text = { 0 };
	regex_t re;
	int rc = pattern ? nsx_pattern_compile(pattern, REG_NOSUB, &re, g->err) : nsx_err_nomem(g->err, NULL);

	*named = false;
	if (rc != NSX_OK || speeds_begin(p) != NSX_OK) {
		if (rc == NSX_OK)
			regfree(&re);
		free(pattern);
		return NSX_ERR;
	}
	for (size_t i = 0; i < g->tasks.n && !text.failed; i++) {
		double speed = speed_of(g, c, &g->tasks.p[i]);

		if (speed == 1)
			continue;
		text.len = 0;
		nsx_buf_str(&text, nsx_intern_str(&g->names, g->tasks.p[i].name));
		nsx_buf_char(&text, '\0');
		if (!text.failed && regexec(&re, text.ptr, 0, NULL, 0) == 0) {
			p->speeds[i] = speed;
			*named = true;
		}
	}
	rc = text.failed ? nsx_err_nomem(g->err, NULL) : NSX_OK;
	regfree(&re);
	nsx_buf_free(&text);
	free(pattern);
	return rc;
}

bool
nsx_wi_names_comm(const struct wi_graph *g, const struct wi_change *c, uint32_t *kind)
{
	char *pattern = c->what == WI_FASTER ? nsx_str_dup(c->name) : NULL;
	struct nsx_buf text = { 0 };
	bool found = false;
	regex_t re;

	*kind = NSX_NONE;
	if (!pattern || nsx_pattern_compile(pattern, REG_NOSUB, &re, g->err) != NSX_OK) {
		free(pattern);
		return false;
	}
	for (size_t i = 0; i < g->ops.n && !found && !text.failed; i++) {
		const struct wi_task *t = wi_task(g, &g->ops.p[i]);

		wi_pause(g, i);
		if (!t->comm)
			continue;
		text.len = 0;
		nsx_buf_str(&text, nsx_intern_str(&g->names, t->name));
		nsx_buf_char(&text, '\0');
		found = !text.failed && regexec(&re, text.ptr, 0, NULL, 0) == 0;
		if (found)
			*kind = wi_more(g, &g->ops.p[i])->kind;
	}
	regfree(&re);
	nsx_buf_free(&text);
	free(pattern);
	return found;
}

int
nsx_wi_plan_name(struct wi_plan *p, const struct wi_graph *g, uint32_t name, double k)
{
	*p = (struct wi_plan){ .g = g };
	if (speeds_begin(p) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < g->tasks.n; i++)
		if (g->tasks.p[i].name == name && !g->tasks.p[i].comm)
			p->speeds[i] = k;
	return NSX_OK;
}

int
nsx_wi_plan_without(struct wi_plan *p, const struct wi_graph *g, uint32_t name, uint32_t device)
{
	*p = (struct wi_plan){ .g = g };
	if (speeds_begin(p) != NSX_OK)
		return NSX_ERR;
	p->device = device;
	for (size_t i = 0; i < g->tasks.n; i++)
		if (g->tasks.p[i].name == name)
			p->speeds[i] = INFINITY;
	return NSX_OK;
}

static int64_t
faster_lag(const struct wi_plan *p, uint32_t event, int64_t base)
{
	const struct wi_op *o = wi_is_op(p->g, event) && wi_is_end(event) ? &p->g->ops.p[wi_op_of(event)] : NULL;

	if (!o || p->speeds[o->task] == 1 || (p->device != NSX_NONE && wi_device(p->g, o) != p->device))
		return base;
	return shrunk(base, p->speeds[o->task]);
}

/* ---- transfers ---- */

/* How many times as fast a transfer of that operation is at the bandwidth in question; 0: its bytes are not known. */
static double
at_bandwidth(const struct wi_graph *g, const struct wi_more *o, int64_t transfer, double gbps)
{
	double algbw, busbw;

	if (o->bytes == NSX_ABSENT || o->group == NSX_ABSENT || transfer <= 0 || o->bytes <= 0)
		return 0;
	nsx_comm_bandwidth(nsx_intern_str(&g->names, o->kind), o->bytes, o->group, transfer, &algbw, &busbw);
	return busbw > 0 ? gbps / busbw : 0;
}

/* Whether it is of KIND, of KIND:BYTES, or of the instruction. */
static bool
is_of(const struct wi_graph *g, const struct wi_op *op, struct nsx_str name)
{
	const struct wi_more *o = wi_more(g, op);
	struct nsx_str kind = o->kind == NSX_NONE ? NSX_STR("") : nsx_intern_str(&g->names, o->kind);
	int64_t bytes;

	if (nsx_str_eq(nsx_intern_str(&g->names, wi_task(g, op)->name), name))
		return true;
	if (!kind.len || name.len < kind.len || memcmp(name.ptr, kind.ptr, kind.len) != 0)
		return false;
	return name.len == kind.len || (name.ptr[kind.len] == ':' && o->bytes != NSX_ABSENT
	       && nsx_get_int((struct nsx_str){ name.ptr + kind.len + 1, name.len - kind.len - 1 }, &bytes)
	       && bytes == o->bytes);
}

static bool
names_transfer(const struct wi_graph *g, const struct wi_change *c)
{
	for (size_t i = 0; i < g->ops.n && c->name.len; i++) {
		const struct wi_op *o = &g->ops.p[i];
		wi_pause(g, i);
		uint32_t work = wi_task(g, o)->comm ? wi_work(g, wi_end(i)) : (uint32_t)NSX_NONE;

		if (work != NSX_NONE && is_of(g, o, c->name) && (c->what != WI_BANDWIDTH
		    || at_bandwidth(g, wi_more(g, o), wi_lag(g, work), c->k) > 0))
			return true;
	}
	return !c->name.len;
}

static int64_t
transfer_lag(const struct wi_plan *p, uint32_t event, int64_t base)
{
	const struct wi_graph *g = p->g;
	const struct wi_op *o = wi_is_op(g, event) && wi_is_end(event) ? &g->ops.p[wi_op_of(event)] : NULL;
	double k = p->change.k;
	uint32_t work;

	if (!o || !wi_task(g, o)->comm || (p->change.name.len && !is_of(g, o, p->change.name)))
		return base;
	work = wi_work(g, event);
	if (work != NSX_NONE && p->change.what == WI_BANDWIDTH)
		k = at_bandwidth(g, wi_more(g, o), wi_lag(g, work), p->change.k);
	return work != NSX_NONE && k > 0 ? shrunk(base, k) : base;
}

/* ---- collectives that do not wait for these devices, or for any ---- */

static bool
waits_not(const struct wi_plan *p, const struct wi_edge *x)
{
	const struct wi_graph *g = p->g;

	return !x->own && (!p->of || (wi_is_op(g, x->from) && p->of[wi_device(g, &g->ops.p[wi_op_of(x->from)])]));
}

static int
nowait(struct wi_plan *p, bool *named)
{
	const struct wi_graph *g = p->g;

	if (!p->change.name.len)
		return NSX_OK;
	p->of = calloc(g->pairing.comm.cat.devices.n + 1, sizeof *p->of);
	if (!p->of)
		return nsx_err_nomem(g->err, NULL);
	nsx_wi_change_devices(g, &p->change, p->of);
	*named = false;
	for (size_t i = 0; i < g->edges.n && !*named; i++) {
		wi_pause(g, i);
		*named = g->edges.p[i].class == WI_RDV && waits_not(p, &g->edges.p[i]);
	}
	return NSX_OK;
}

/* ---- calls ---- */

/* Of a call that does not wait. */
static int64_t
api_lag(const struct wi_plan *p, uint32_t event, uint32_t edge, int64_t base)
{
	const struct wi_graph *g = p->g;
	const struct wi_call *c = wi_is_op(g, event) || !wi_is_end(event) ? NULL : &g->calls.p[wi_call_of(g, event)];

	return c && edge == g->first[event] && !wi_api(g, c)->blocking && !wi_call_more(g, c)->nwaited
	       ? shrunk(base, p->change.k) : base;
}

/* What the profiler took of the time of a thread from one event to the next. Overheads are sorted by thread and
 * start. */
static int64_t
profiled(const struct wi_overhead *o, size_t n, uint32_t thread, int64_t start, int64_t end)
{
	size_t lo;
	int64_t ns = 0;

	NSX_BISECT(lo, 0, n, o[lo].thread > thread || (o[lo].thread == thread && o[lo].end > start));
	for (; lo < n && o[lo].thread == thread && o[lo].start < end; lo++)
		ns += (o[lo].end < end ? o[lo].end : end) - (o[lo].start > start ? o[lo].start : start);
	return ns > 0 ? ns : 0;
}

static int64_t
unprofiled_lag(const struct wi_plan *p, uint32_t event, uint32_t edge, int64_t base)
{
	const struct wi_graph *g = p->g;
	int64_t ns;

	if (wi_is_op(g, event) || edge != g->first[event] || !g->overheads.n)
		return base;
	ns = profiled(g->overheads.p, g->overheads.n, g->calls.p[wi_call_of(g, event)].thread,
	              wi_time(g, g->edges.p[edge].from), wi_time(g, event));
	return base > ns ? base - ns : base < 0 ? base : 0;
}

/* ---- even: operations take the mean of their devices ---- */

static int64_t
even_lag(const struct wi_plan *p, uint32_t event, uint32_t edge, int64_t base)
{
	uint32_t same = wi_is_op(p->g, event) && edge == p->g->first[event] ? p->same_of[wi_op_of(event)] : 0;

	return same ? p->even[same - 1] : base;
}

/* ---- the model ---- */

/* The lag of a latency without what it has more because it binds. ns: with that; what does not bind has no more. */
static int64_t
nominal(const struct wi_graph *g, const struct wi_edge *x, int64_t ns)
{
	int64_t most = x->class == WI_SYNC ? WI_RETURN : x->class == WI_QUEUE ? (g->depth ? 0 : WI_RETURN)
	               : x->class == WI_STREAM && !wi_is_end(x->from) ? ns : g->latency[x->class];

	return ns < most ? ns : most;
}

void
nsx_wi_plan_model(struct wi_plan *p, const struct wi_graph *g)
{
	*p = (struct wi_plan){ .g = g, .kind = WI_PLAN_MODEL };
	for (int class = 0; class < WI_NCLASSES; class++)
		p->classes |= wi_latency(class) ? 1u << class : 0;
}

/* ---- all ---- */

int
nsx_wi_plan(struct wi_plan *p, const struct wi_graph *g, const struct wi_change *c, bool *named)
{
	static const unsigned classes[] = {
		[WI_TRANSFER] = 1u << WI_DUR | 1u << WI_RDV, [WI_BANDWIDTH] = 1u << WI_DUR | 1u << WI_RDV,
		[WI_NOWAIT] = 1u << WI_RDV, [WI_EVEN] = 1u << WI_DUR | 1u << WI_RDV, [WI_HOST] = 1u << WI_GAP,
		[WI_API] = 1u << WI_CALL, [WI_NO_SYNC] = 1u << WI_SYNC, [WI_NO_GAPS] = 1u << WI_STREAM | 1u << WI_WAIT,
		[WI_NO_PROFILER] = 1u << WI_GAP | 1u << WI_CALL
	};

	*p = (struct wi_plan){ .g = g, .kind = WI_PLAN_CHANGE, .change = *c, .classes = classes[c->what] };
	*named = true;
	switch (c->what) {
	case WI_FASTER: case WI_LIMIT: case WI_COPIES:
		return faster(p, named);
	case WI_TRANSFER: case WI_BANDWIDTH:
		*named = names_transfer(g, c);
		return NSX_OK;
	case WI_NOWAIT:
		return nowait(p, named);
	case WI_EVEN:
		return nsx_wi_even(g, &p->same_of, &p->even);
	default:
		return NSX_OK;
	}
}

void
nsx_wi_plan_free(struct wi_plan *p)
{
	free(p->speeds);
	free(p->of);
	free(p->even);
	if (p->g)
		nsx_large_free(wi_large(p->g), p->same_of);
	*p = (struct wi_plan){ 0 };
}

int64_t
nsx_wi_plan_lag(const struct wi_plan *p, uint32_t event, uint32_t edge)
{
	const struct wi_graph *g = p->g;
	const struct wi_edge *x = &g->edges.p[edge];
	int64_t base = wi_lag(g, edge);

	if (!(p->classes >> x->class & 1))
		return base;
	if (p->kind == WI_PLAN_TASKS)
		return faster_lag(p, event, base);
	if (p->kind == WI_PLAN_MODEL)
		return nominal(g, x, base) + g->residual[x->class];
	switch (p->change.what) {
	case WI_TRANSFER: case WI_BANDWIDTH: return transfer_lag(p, event, base);
	case WI_NOWAIT:      return waits_not(p, x) ? WI_GONE : base;
	case WI_EVEN:        return even_lag(p, event, edge, base);
	case WI_HOST:        return shrunk(base, p->change.k);
	case WI_API:         return api_lag(p, event, edge, base);
	case WI_NO_SYNC:     return WI_GONE;
	case WI_NO_GAPS:     return wi_is_end(x->from) && base > 0 ? 0 : base;
	case WI_NO_PROFILER: return unprofiled_lag(p, event, edge, base);
	default:             return base;
	}
}
