/* plan.c -- see plan.h. */
#include "table/whatif/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/pattern.h"
#include "base/sort.h"
#include "job/family.h"

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

/* ERE: re. */
struct wanted { const struct wi_graph *g; const struct wi_change *c; regex_t re; struct nsx_buf text; };

static bool
is_family(const struct wanted *w, const struct wi_task *t)
{
	const struct nsx_catalogue *cat = &w->g->pairing.comm.cat;
	struct nsx_family f = nsx_family_of_kernel(nsx_intern_str(&w->g->names, t->kernel));
	struct nsx_str name = w->c->name;
	size_t n;

	if (t->copy)
		return false;
	if (t->inst != NSX_NONE && cat->insts.p[t->inst].flops > 0)
		f = nsx_family_of_inst(f, nsx_cat_str(cat, cat->insts.p[t->inst].math).ptr);
	n = strlen(f.family);
	if (!n || !nsx_str_starts(name, f.family))
		return false;
	return name.len == n || (name.ptr[n] == ':' && name.len - n - 1 == strlen(f.kind)
	                         && memcmp(name.ptr + n + 1, f.kind, name.len - n - 1) == 0);
}

static bool
is_wanted(struct wanted *w, const struct wi_task *t)
{
	struct nsx_str name = nsx_intern_str(&w->g->names, t->name);

	if (w->c->by != WI_BY_ERE)
		return w->c->by == WI_BY_NAME ? nsx_str_eq(name, w->c->name) : is_family(w, t);
	w->text.len = 0;
	nsx_buf_str(&w->text, name);
	nsx_buf_char(&w->text, '\0');
	return !w->text.failed && regexec(&w->re, w->text.ptr, 0, NULL, 0) == 0;
}

/* Those whose name matches, where all do if there is no name. */
static int
faster(struct wi_plan *p)
{
	const struct wi_graph *g = p->g;
	struct wanted w = { .g = g, .c = &p->change };
	bool ere = p->change.by == WI_BY_ERE;
	char *pattern = nsx_str_dup(ere && p->change.name.len ? p->change.name : NSX_STR("^"));
	int rc = pattern ? nsx_pattern_compile(pattern, REG_NOSUB, &w.re, g->err) : nsx_err_nomem(g->err, NULL);

	free(pattern);
	if (rc != NSX_OK)
		return rc;
	rc = speeds_begin(p);
	for (size_t i = 0; i < g->tasks.n && rc == NSX_OK && !w.text.failed; i++) {
		double speed = speed_of(g, &p->change, &g->tasks.p[i]);

		if (speed != 1 && is_wanted(&w, &g->tasks.p[i])) {
			p->speeds[i] = speed;
			p->named = true;
		}
	}
	if (w.text.failed)
		rc = nsx_err_nomem(g->err, NULL);
	regfree(&w.re);
	nsx_buf_free(&w.text);
	return rc;
}

bool
nsx_wi_names_comm(const struct wi_graph *g, const struct wi_change *c, uint32_t *kind)
{
	char *pattern = c->what == WI_FASTER && c->by == WI_BY_ERE ? nsx_str_dup(c->name) : NULL;
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
nsx_wi_plan_remove(struct wi_plan *p, const struct wi_graph *g, uint32_t name, uint32_t device)
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
nowait(struct wi_plan *p)
{
	const struct wi_graph *g = p->g;

	p->named = !p->change.name.len;
	if (p->named)
		return NSX_OK;
	p->of = calloc(g->pairing.comm.cat.devices.n + 1, sizeof *p->of);
	if (!p->of)
		return nsx_err_nomem(g->err, NULL);
	nsx_wi_change_devices(g, &p->change, p->of);
	for (size_t i = 0; i < g->edges.n && !p->named; i++) {
		wi_pause(g, i);
		p->named = g->edges.p[i].class == WI_RDV && waits_not(p, &g->edges.p[i]);
	}
	for (size_t i = 0; i < g->ops.n && !p->named && g->mores.n; i++) {
		wi_pause(g, i);
		p->named = wi_more(g, &g->ops.p[i])->guessed && p->of[wi_device(g, &g->ops.p[i])];
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

void
nsx_wi_plan_model(struct wi_plan *p, const struct wi_graph *g)
{
	*p = (struct wi_plan){ .g = g, .kind = WI_PLAN_MODEL };
	for (int class = 0; class < WI_NCLASSES; class++)
		p->classes |= wi_latency(class) ? 1u << class : 0;
}

/* ---- one ---- */

static int
plan_one(struct wi_plan *p, const struct wi_graph *g, const struct wi_change *c)
{
	static const unsigned classes[] = {
		[WI_TRANSFER] = 1u << WI_DUR | 1u << WI_RDV, [WI_BANDWIDTH] = 1u << WI_DUR | 1u << WI_RDV,
		[WI_NOWAIT] = 1u << WI_RDV, [WI_EVEN] = 1u << WI_DUR | 1u << WI_RDV, [WI_HOST] = 1u << WI_GAP,
		[WI_API] = 1u << WI_CALL, [WI_NO_SYNC] = 1u << WI_SYNC, [WI_NO_GAPS] = 1u << WI_STREAM | 1u << WI_WAIT,
		[WI_NO_PROFILER] = 1u << WI_GAP | 1u << WI_CALL
	};

	*p = (struct wi_plan){ .g = g, .kind = WI_PLAN_CHANGE, .change = *c, .classes = classes[c->what] };
	switch (c->what) {
	case WI_FASTER: case WI_LIMIT: case WI_COPIES:
		return faster(p);
	case WI_TRANSFER: case WI_BANDWIDTH:
		p->named = names_transfer(g, c);
		return NSX_OK;
	case WI_NOWAIT:
		return nowait(p);
	case WI_EVEN:
		p->named = true;
		return nsx_wi_even(g, &p->same_of, &p->even);
	default:
		p->named = true;
		return NSX_OK;
	}
}

/* ---- several at once */

int
nsx_wi_plan(struct wi_plan *p, const struct wi_graph *g, const char *text)
{
	struct wi_change c;
	size_t n = nsx_wi_change_length(text), most = 2;
	int rc = NSX_OK;

	*p = (struct wi_plan){ .g = g, .kind = WI_PLAN_ALL };
	if (!text[n]) {
		const char *why = nsx_wi_change_parse(text, &c);

		return why ? nsx_err_set(g->err, "%s: %s", text, why) : plan_one(p, g, &c);
	}
	for (size_t i = 0; text[i]; i++)
		most += text[i] == ',';
	p->parts = calloc(most, sizeof *p->parts);
	p->named = true;
	if (!p->parts)
		return nsx_err_nomem(g->err, NULL);
	for (;; text += n + 1) {
		struct wi_plan *part = &p->parts[p->nparts];
		char *own;

		n = nsx_wi_change_length(text);
		own = nsx_str_dup((struct nsx_str){ text, n });
		rc = own ? nsx_wi_plan(part, g, own) : nsx_err_nomem(g->err, NULL);
		part->text = own;
		p->nparts++;
		p->classes |= part->classes;
		p->named &= part->named;
		if (rc != NSX_OK || !text[n])
			break;
	}
	/* What sets a lag comes before what makes it shorter. */
	for (size_t i = 1; i < p->nparts; i++)
		if (p->parts[i].kind == WI_PLAN_CHANGE && p->parts[i].change.what == WI_EVEN) {
			struct wi_plan first = p->parts[0];

			p->parts[0] = p->parts[i];
			p->parts[i] = first;
			break;
		}
	return rc;
}

bool
nsx_wi_plan_is(const struct wi_plan *p, enum wi_what what)
{
	bool any = p->kind == WI_PLAN_CHANGE && p->change.what == what;

	for (size_t i = 0; i < p->nparts && !any; i++)
		any = nsx_wi_plan_is(&p->parts[i], what);
	return any;
}

bool
nsx_wi_plan_skips(const struct wi_plan *p, uint32_t device)
{
	bool any = p->kind == WI_PLAN_CHANGE && p->change.what == WI_NOWAIT
	           && (!p->of || (device != NSX_NONE && p->of[device]));

	for (size_t i = 0; i < p->nparts && !any; i++)
		any = nsx_wi_plan_skips(&p->parts[i], device);
	return any;
}

/* Those of all parts. */
static bool
add_without(const struct wi_plan *p, bool *without)
{
	bool any = nsx_wi_change_without(p->g, &p->change, without);

	for (size_t i = 0; i < p->nparts; i++)
		any |= add_without(&p->parts[i], without);
	return any;
}

bool
nsx_wi_plan_without(const struct wi_plan *p, bool *without)
{
	const struct wi_graph *g = p->g;
	bool any, left = false;

	memset(without, 0, g->pairing.comm.cat.devices.n * sizeof *without);
	any = add_without(p, without);
	for (size_t i = 0; any && i < g->steps.n && !left; i++)
		left = !without[g->steps.p[i].device];
	return left;
}

void
nsx_wi_plan_free(struct wi_plan *p)
{
	for (size_t i = 0; i < p->nparts; i++)
		nsx_wi_plan_free(&p->parts[i]);
	free(p->parts);
	free(p->text);
	free(p->speeds);
	free(p->of);
	free(p->even);
	if (p->g)
		nsx_large_free(wi_large(p->g), p->same_of);
	*p = (struct wi_plan){ 0 };
}

bool
nsx_wi_plan_touches(const struct wi_plan *p, size_t task)
{
	if (p->kind == WI_PLAN_TASKS)
		return p->speeds[task] != 1;
	return p->kind != WI_PLAN_CHANGE || (p->change.what != WI_TRANSFER && p->change.what != WI_BANDWIDTH)
	       || p->g->tasks.p[task].comm;
}

/* What it makes of a lag. */
static int64_t
changed(const struct wi_plan *p, uint32_t event, uint32_t edge, int64_t base)
{
	const struct wi_graph *g = p->g;
	const struct wi_edge *x = &g->edges.p[edge];

	if (!(p->classes >> x->class & 1))
		return base;
	if (p->kind == WI_PLAN_TASKS)
		return faster_lag(p, event, base);
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

int64_t
nsx_wi_plan_lag(const struct wi_plan *p, uint32_t event, uint32_t edge)
{
	int64_t lag = wi_lag(p->g, edge);

	if (p->kind == WI_PLAN_MODEL)
		return wi_model_lag(p->g, edge, lag);
	if (p->kind != WI_PLAN_ALL)
		return changed(p, event, edge, lag);
	for (size_t i = 0; i < p->nparts && lag != WI_GONE; i++)
		lag = changed(&p->parts[i], event, edge, lag);
	return lag;
}
