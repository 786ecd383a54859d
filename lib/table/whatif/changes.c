/* changes.c -- see changes.h. */
#include "table/whatif/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/pattern.h"

static const struct { const char *name; enum wi_what what; bool has_name, must_name, has_k, zero; } words[] = {
	{ "faster",    WI_FASTER,      true,  true,  true,  false },
	{ "limit",     WI_LIMIT,       true,  false, false, false },
	{ "copies",    WI_COPIES,      false, false, true,  false },
	{ "transfer",  WI_TRANSFER,    true,  false, true,  false },
	{ "bandwidth", WI_BANDWIDTH,   true,  true,  true,  false },
	{ "nowait",    WI_NOWAIT,      true,  false, false, false },
	{ "even",      WI_EVEN,        false, false, false, false },
	{ "host",      WI_HOST,        false, false, true,  false },
	{ "api",       WI_API,         false, false, true,  false },
	{ "sync",      WI_NO_SYNC,     false, false, false, true  },
	{ "gaps",      WI_NO_GAPS,     false, false, false, true  },
	{ "profiler",  WI_NO_PROFILER, false, false, false, true  },
};
/* Of K and GBPS: with less, times of long jobs exceed 64 bits. */
static const double k_min = 0.001;

/* ---- the text of a change */

/* Set what it names of devices, by device of the catalogue; g: NULL to look at the text alone. Whether all its names
 * are numbers. */
static bool
each_device(const struct wi_graph *g, const struct wi_change *c, bool *named)
{
	for (size_t i = 0, k; i <= c->name.len; i = k + 1) {
		int64_t number;
		uint32_t device;

		for (k = i; k < c->name.len && c->name.ptr[k] != ',';)
			k++;
		if (!nsx_get_int((struct nsx_str){ c->name.ptr + i, k - i }, &number))
			return false;
		device = g ? nsx_cat_find_device(&g->pairing.comm.cat, number) : NSX_NONE;
		if (device != NSX_NONE)
			named[device] = true;
	}
	return true;
}

const char *
nsx_wi_change_parse(const char *text, struct wi_change *c)
{
	size_t word = strcspn(text, ":="), len = strlen(text), n = sizeof words / sizeof *words, i = 0;
	const char *equals = strrchr(text, '='), *why;
	char *pattern;
	bool has_k;

	while (i < n && (strlen(words[i].name) != word || strncmp(words[i].name, text, word) != 0))
		i++;
	if (i == n)
		return "no such change: want faster:ERE=K, limit[:ERE][=SHARE], copies=K, transfer[:KIND]=K, "
		       "bandwidth:KIND=GBPS, nowait[:DEVICES], even, host=K, api=K, sync=0, gaps=0 or profiler=0";
	*c = (struct wi_change){ .what = words[i].what, .text = nsx_str_c(text), .k = 1 };
	has_k = words[i].has_k || (c->what == WI_LIMIT && equals && nsx_get_double(nsx_str_c(equals + 1), &c->k));
	if (text[word] == ':') {
		if (!words[i].has_name)
			return "it takes no name";
		len = has_k ? (size_t)((equals ? equals : text + len) - text) : len;
		c->name = (struct nsx_str){ text + word + 1, len > word ? len - word - 1 : 0 };
		if (!c->name.len)
			return "the name is empty";
	} else if (words[i].must_name) {
		return "it needs a name: faster:ERE=K, bandwidth:KIND=GBPS";
	}
	if (words[i].zero)
		return text[word] == '=' && strcmp(text + word, "=0") == 0 ? NULL
		       : "only 0 is possible: sync=0, gaps=0, profiler=0";
	c->k = has_k ? c->k : 1;
	if (!has_k && text[word] == '=')
		return c->what == WI_LIMIT ? "want a share of the limit, above 0 and up to 1" : "it takes no number";
	if (c->what == WI_LIMIT && !(c->k > 0 && c->k <= 1))
		return "want a share of the limit, above 0 and up to 1";
	if (c->what == WI_NOWAIT && c->name.len && !each_device(NULL, c, NULL))
		return "want numbers of devices, with commas";
	if (words[i].has_k && !equals)
		return "it needs a number: K times as fast";
	if (words[i].has_k && strcmp(equals, "=inf") == 0)
		c->k = INFINITY;
	else if (words[i].has_k && (!nsx_get_double(nsx_str_c(equals + 1), &c->k) || !(c->k >= k_min) || isinf(c->k)))
		return "want a number, 0.001 or more, or inf";
	if (!c->name.len || (c->what != WI_FASTER && c->what != WI_LIMIT))
		return NULL;
	pattern = nsx_str_dup(c->name);
	why = pattern ? nsx_pattern_check(pattern) : "out of memory";
	free(pattern);
	return why;
}

const char *
nsx_whatif_check(const char *text)
{
	struct wi_change c;

	return nsx_wi_change_parse(text, &c);
}

/* ---- lags */

/* A duration that shrinks to 1/k. */
static int64_t
shrunk(int64_t ns, double k)
{
	return isinf(k) ? 0 : llround((double)ns / k);
}

/* The edges of work of an operation. */
static void
shrink_op(const struct wi_graph *g, size_t op, double k, const int64_t *base, int64_t *lags)
{
	uint32_t e = wi_end(op);

	for (uint32_t i = g->first[e]; i < g->first[e + 1]; i++)
		lags[i] = shrunk(base[i], k);
}

void
nsx_wi_change_name(const struct wi_graph *g, uint32_t name, double k, const int64_t *base, int64_t *lags)
{
	memcpy(lags, base, g->edges.n * sizeof *lags);
	for (size_t i = 0; i < g->ops.n; i++)
		if (g->ops.p[i].name == name && !g->ops.p[i].comm)
			shrink_op(g, i, k, base, lags);
}

/* How many times as fast an operation becomes; 1: it stays as it is. */
static double
speed_of(const struct wi_graph *g, const struct wi_change *c, const struct wi_op *o)
{
	double least;

	if (c->what != WI_LIMIT)
		return c->what == WI_FASTER || o->copy ? c->k : 1;
	least = o->inst < g->limits.n ? g->limits.p[o->inst] / c->k : 1;
	return least < 1 ? 1 / least : 1;
}

/* Operations whose name matches, where all do if there is no name. */
static int
faster(const struct wi_graph *g, const struct wi_change *c, const int64_t *base, int64_t *lags, bool *named)
{
	enum { UNKNOWN, YES, NO };
	char *pattern = nsx_str_dup(c->name.len ? c->name : NSX_STR("^"));
	unsigned char *matches = calloc(g->names.n + 1, 1);
	struct nsx_buf text = { 0 };
	regex_t re;
	int rc = pattern && matches ? nsx_pattern_compile(pattern, REG_NOSUB, &re, g->err)
	         : nsx_err_nomem(g->err, NULL);

	for (size_t i = 0; i < g->ops.n && rc == NSX_OK; i++) {
		const struct wi_op *o = &g->ops.p[i];

		if (o->comm || speed_of(g, c, o) == 1)
			continue;
		if (matches[o->name] == UNKNOWN) {
			text.len = 0;
			nsx_buf_str(&text, nsx_intern_str(&g->names, o->name));
			nsx_buf_char(&text, '\0');
			if (text.failed) {
				rc = nsx_err_nomem(g->err, NULL);
				regfree(&re);
				break;
			}
			matches[o->name] = regexec(&re, text.ptr, 0, NULL, 0) == 0 ? YES : NO;
		}
		if (matches[o->name] == YES) {
			shrink_op(g, i, speed_of(g, c, o), base, lags);
			*named = true;
		}
	}
	if (rc == NSX_OK)
		regfree(&re);
	nsx_buf_free(&text);
	free(pattern);
	free(matches);
	return rc;
}

/* How many times as fast a transfer of that operation is at the bandwidth in question; 0: its bytes are not known. */
static double
at_bandwidth(const struct wi_graph *g, const struct wi_op *o, int64_t transfer, double gbps)
{
	double algbw, busbw;

	if (o->bytes == NSX_ABSENT || o->group == NSX_ABSENT || transfer <= 0 || o->bytes <= 0)
		return 0;
	nsx_comm_bandwidth(nsx_intern_str(&g->names, o->kind), o->bytes, o->group, transfer, &algbw, &busbw);
	return busbw > 0 ? gbps / busbw : 0;
}

/* Whether it is of KIND, of KIND:BYTES, or of the instruction. */
static bool
is_of(const struct wi_graph *g, const struct wi_op *o, struct nsx_str name)
{
	struct nsx_str kind = o->kind == NSX_NONE ? NSX_STR("") : nsx_intern_str(&g->names, o->kind);
	int64_t bytes;

	if (nsx_str_eq(nsx_intern_str(&g->names, o->name), name))
		return true;
	if (!kind.len || name.len < kind.len || memcmp(name.ptr, kind.ptr, kind.len) != 0)
		return false;
	return name.len == kind.len || (name.ptr[kind.len] == ':' && o->bytes != NSX_ABSENT
	       && nsx_get_int((struct nsx_str){ name.ptr + kind.len + 1, name.len - kind.len - 1 }, &bytes)
	       && bytes == o->bytes);
}

static void
transfer(const struct wi_graph *g, const struct wi_change *c, const int64_t *base, int64_t *lags, bool *named)
{
	for (size_t i = 0; i < g->ops.n; i++) {
		const struct wi_op *o = &g->ops.p[i];
		uint32_t work = wi_work(g, wi_end(i));
		double k = c->k;

		if (!o->comm || work == NSX_NONE || (c->name.len && !is_of(g, o, c->name)))
			continue;
		if (c->what == WI_BANDWIDTH) {
			k = at_bandwidth(g, o, base[work], c->k);
			if (k <= 0)
				continue;
		}
		*named = true;
		shrink_op(g, i, k, base, lags);
	}
}

/* Work of edges of one class. */
static void
shrink_class(const struct wi_graph *g, int class, double k, const int64_t *base, int64_t *lags)
{
	for (size_t i = 0; i < g->edges.n; i++)
		if (g->edges.p[i].class == class)
			lags[i] = shrunk(base[i], k);
}

/* Calls that do not wait. */
static void
api(const struct wi_graph *g, double k, const int64_t *base, int64_t *lags)
{
	for (size_t i = 0; i < g->calls.n; i++) {
		const struct wi_call *c = &g->calls.p[i];
		uint32_t work = wi_work(g, wi_leave(g, i));

		if (!c->blocking && !c->nwaited && work != NSX_NONE)
			lags[work] = shrunk(base[work], k);
	}
}

/* What the profiler took of the time of a thread from one event to the next. Overheads are sorted by thread and
 * start. */
static int64_t
profiled(const struct wi_overhead *o, size_t n, uint32_t thread, int64_t start, int64_t end)
{
	size_t lo = 0, hi = n;
	int64_t ns = 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (o[mid].thread < thread || (o[mid].thread == thread && o[mid].end <= start))
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < n && o[lo].thread == thread && o[lo].start < end; lo++)
		ns += (o[lo].end < end ? o[lo].end : end) - (o[lo].start > start ? o[lo].start : start);
	return ns > 0 ? ns : 0;
}

static void
no_profiler(const struct wi_graph *g, int64_t *lags)
{
	for (size_t i = 0; i < g->calls.n && g->overheads.n; i++) {
		const struct wi_call *c = &g->calls.p[i];

		for (int leave = 0; leave < 2; leave++) {
			uint32_t e = leave ? wi_leave(g, i) : wi_enter(g, i), k = g->first[e];
			int64_t ns;

			if (k == g->first[e + 1] || (g->edges.p[k].class != WI_GAP && g->edges.p[k].class != WI_CALL))
				continue;
			ns = profiled(g->overheads.p, g->overheads.n, c->thread, g->times[g->edges.p[k].from],
			              g->times[e]);
			lags[k] = lags[k] > ns ? lags[k] - ns : lags[k] < 0 ? lags[k] : 0;
		}
	}
}

/* ---- even: operations take the mean of their devices */

/* The same step, name and count. */
struct same { int64_t step, ns; uint32_t class, name, count, op; };
typedef NSX_VEC(struct same) sames;

static int
by_same(const void *a, const void *b)
{
	const struct same *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

/* The operations of each step, which compute; a step of another class may have them, too. */
static bool
list_same(const struct wi_graph *g, sames *list)
{
	struct nsx_map counts = { 0 };   /* (step, name) */
	bool good = true;

	for (size_t k = 0; k < g->steps.n && good; k++) {
		const struct wi_step *s = &g->steps.p[k];
		size_t end = nsx_wi_ops_from(g, s->device, g->ops.p[s->next].start);

		for (size_t i = nsx_wi_ops_from(g, s->device, g->ops.p[s->first].start); i < end && good; i++) {
			const struct wi_op *o = &g->ops.p[g->by_device[i]];
			uint32_t *count = o->comm ? NULL : nsx_map_at(&counts, (struct nsx_key){ k, o->name });

			if (o->comm)
				continue;
			good = count != NULL;
			if (good)
				*count = *count == NSX_NONE ? 0 : *count + 1;
			good = good && nsx_vec_push(list, ((struct same){ s->number, o->end - o->start, s->class,
			                                                  o->name, *count, g->by_device[i] }));
		}
	}
	nsx_map_free(&counts);
	return good;
}

static int
even(const struct wi_graph *g, int64_t *lags)
{
	sames list = { 0 };
	bool good = list_same(g, &list);

	if (list.n)
		qsort(list.p, list.n, sizeof *list.p, by_same);
	for (size_t i = 0, k; i < list.n && good; i = k) {
		const struct same *x = &list.p[i];
		int64_t sum = 0;

		for (k = i; k < list.n && list.p[k].class == x->class && list.p[k].step == x->step
		     && list.p[k].name == x->name && list.p[k].count == x->count; k++)
			sum += list.p[k].ns;
		for (size_t m = i; m < k; m++) {
			uint32_t work = wi_work(g, wi_end(list.p[m].op));

			if (work != NSX_NONE)
				lags[work] = llround((double)sum / (double)(k - i));
		}
	}
	free(list.p);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

/* Collectives do not wait for these devices, or for any. */
static int
nowait(const struct wi_graph *g, const struct wi_change *c, int64_t *lags, bool *named)
{
	bool *of = c->name.len ? calloc(g->pairing.comm.cat.devices.n + 1, sizeof *of) : NULL;

	if (c->name.len && !of)
		return nsx_err_nomem(g->err, NULL);
	*named = !of;
	if (of)
		each_device(g, c, of);
	for (size_t i = 0; i < g->edges.n; i++) {
		const struct wi_edge *x = &g->edges.p[i];

		if (x->class != WI_RDV || x->own || (of && (!wi_is_op(g, x->from)
		    || !of[g->ops.p[wi_op_of(x->from)].device])))
			continue;
		*named = true;
		lags[i] = WI_GONE;
	}
	free(of);
	return NSX_OK;
}

bool
nsx_wi_change_without(const struct wi_graph *g, const struct wi_change *c, bool *without)
{
	if (c->what != WI_NOWAIT || !c->name.len)
		return false;
	memset(without, 0, g->pairing.comm.cat.devices.n * sizeof *without);
	each_device(g, c, without);
	for (size_t i = 0; i < g->steps.n; i++)
		if (!without[g->steps.p[i].device])
			return true;
	return false;
}

int
nsx_wi_change_lags(const struct wi_graph *g, const struct wi_change *c, const int64_t *base, int64_t *lags, bool *named)
{
	if (g->edges.n)
		memcpy(lags, base, g->edges.n * sizeof *lags);
	*named = true;
	switch (c->what) {
	case WI_FASTER: case WI_LIMIT: case WI_COPIES:
		*named = false;
		return faster(g, c, base, lags, named);
	case WI_TRANSFER: case WI_BANDWIDTH:
		*named = !c->name.len;
		transfer(g, c, base, lags, named);
		break;
	case WI_NOWAIT:
		return nowait(g, c, lags, named);
	case WI_EVEN:
		return even(g, lags);
	case WI_HOST:
		shrink_class(g, WI_GAP, c->k, base, lags);
		break;
	case WI_API:
		api(g, c->k, base, lags);
		break;
	case WI_NO_SYNC:
		for (size_t i = 0; i < g->edges.n; i++)
			if (g->edges.p[i].class == WI_SYNC)
				lags[i] = WI_GONE;
		break;
	case WI_NO_GAPS:
		for (size_t i = 0; i < g->edges.n; i++)
			if ((g->edges.p[i].class == WI_STREAM || g->edges.p[i].class == WI_WAIT)
			    && wi_is_end(g->edges.p[i].from) && lags[i] > 0)
				lags[i] = 0;
		break;
	case WI_NO_PROFILER:
		no_profiler(g, lags);
		break;
	}
	return NSX_OK;
}
