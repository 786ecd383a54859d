/* sim_change.c -- changes of a job of causes, named as those of nsysx-whatif, and made in what the job is built of:
 * durations, latencies, waits. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static int64_t
shrunk(int64_t ns, double k)
{
	return isinf(k) ? 0 : llround((double)ns / k);
}

static const char *
faster(struct sim *s, const char *ere, double k)
{
	regex_t re;

	if (regcomp(&re, ere, REG_EXTENDED | REG_NOSUB) != 0)
		return "not an extended regular expression";
	for (size_t i = 0; i < s->op.n; i++) {
		struct sim_op *o = &s->op.p[i];

		if (!o->kind && regexec(&re, syn_str(s->p, o->name), 0, NULL, 0) == 0)
			o->dur = shrunk(o->dur, k);
	}
	regfree(&re);
	return NULL;
}

/* How long a transfer takes at that bus bandwidth, in 1e9 bytes a second. */
static int64_t
at_bandwidth(const struct sim_op *o, double gbps)
{
	double n = (double)o->group, bytes = (double)o->bytes, sent = (n - 1) / n;

	if (strcmp(o->kind, "all-reduce") == 0)
		return llround(bytes * 2 * sent / gbps);
	if (strcmp(o->kind, "send-recv") == 0)
		return llround(bytes / gbps);
	return llround(bytes * n * sent / gbps);
}

static void
transfer(struct sim *s, const char *kind, double k, bool bandwidth)
{
	for (size_t i = 0; i < s->op.n; i++) {
		struct sim_op *o = &s->op.p[i];

		if (o->kind && (!*kind || strcmp(kind, o->kind) == 0))
			o->dur = bandwidth ? at_bandwidth(o, k) : shrunk(o->dur, k);
	}
}

/* ---- even: the nth operation of a name takes the mean of all devices */

struct same { uint32_t name, count, op, dev; };

static int
by_same(const void *a, const void *b)
{
	const struct same *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

static void
even(struct sim *s)
{
	struct same *list = syn_check(malloc((s->op.n + 1) * sizeof *list));
	struct nsx_map counts = { 0 };
	size_t n = 0;

	for (uint32_t i = 0; i < s->op.n; i++) {
		uint32_t dev = s->stream.p[s->op.p[i].stream].dev,
			 *count = nsx_map_at(&counts, (struct nsx_key){ dev, s->op.p[i].name });

		if (!count)
			syn_die("out of memory");
		*count = *count == NSX_NONE ? 0 : *count + 1;
		if (!s->op.p[i].kind)
			list[n++] = (struct same){ s->op.p[i].name, *count, i, dev };
	}
	qsort(list, n, sizeof *list, by_same);
	for (size_t i = 0, k; i < n; i = k) {
		int64_t sum = 0;

		for (k = i; k < n && list[k].name == list[i].name && list[k].count == list[i].count; k++)
			sum += s->op.p[list[k].op].dur;
		for (size_t m = i; m < k; m++)
			s->op.p[list[m].op].dur = llround((double)sum / (double)(k - i));
	}
	free(list);
	nsx_map_free(&counts);
}

/* ---- the host */

static void
host(struct sim *s, double k)
{
	for (size_t t = 0; t < s->thread.n; t++)
		for (size_t i = 0; i < s->thread.p[t].step.n; i++) {
			struct sim_step *st = &s->thread.p[t].step.p[i];

			if (st->what != SIM_WORK && st->what != SIM_TAKE)
				continue;
			st->ns = shrunk(st->ns, k);
			st->extra = shrunk(st->extra, k);
		}
}

static void
api(struct sim *s, double k)
{
	for (size_t t = 0; t < s->thread.n; t++)
		for (size_t i = 0; i < s->thread.p[t].step.n; i++) {
			struct sim_step *st = &s->thread.p[t].step.p[i];

			if (st->what == SIM_LAUNCH || st->what == SIM_GRAPH || st->what == SIM_RECORD ||
			    st->what == SIM_AWAIT)
				st->ns = shrunk(st->ns, k);
		}
}

static void
no_profiler(struct sim *s)
{
	for (size_t t = 0; t < s->thread.n; t++)
		for (size_t i = 0; i < s->thread.p[t].step.n; i++)
			if (s->thread.p[t].step.p[i].what == SIM_WORK)
				s->thread.p[t].step.p[i].extra = 0;
}

static void
no_gaps(struct sim *s)
{
	for (size_t i = 0; i < s->op.n; i++)
		s->op.p[i].gap = s->op.p[i].await = 0;
}

static const char *
make_one(struct sim *s, const char *change)
{
	const char *equals = strrchr(change, '='), *colon = strchr(change, ':');
	size_t word = strcspn(change, ":=");
	char name[256] = "", *end = NULL;
	double k = 0;

	if (colon && equals > colon && (size_t)(equals - colon) < sizeof name)
		memcpy(name, colon + 1, (size_t)(equals - colon - 1));
	if (equals)
		k = strcmp(equals, "=inf") == 0 ? INFINITY : strtod(equals + 1, &end);
	if (equals && !isinf(k) && (*end || end == equals + 1))
		return "want a number";
	if (word == 6 && strncmp(change, "faster", 6) == 0 && k > 0)
		return faster(s, name, k);
	if (word == 8 && strncmp(change, "transfer", 8) == 0 && k > 0)
		transfer(s, name, k, false);
	else if (word == 9 && strncmp(change, "bandwidth", 9) == 0 && k > 0)
		transfer(s, name, k, true);
	else if (strncmp(change, "host=", 5) == 0 && k > 0)
		host(s, k);
	else if (strncmp(change, "api=", 4) == 0 && k > 0)
		api(s, k);
	else if (strcmp(change, "nowait") == 0)
		s->no_wait = true;
	else if (strcmp(change, "even") == 0)
		even(s);
	else if (strcmp(change, "sync=0") == 0)
		s->no_sync = true;
	else if (strcmp(change, "gaps=0") == 0)
		no_gaps(s);
	else if (strcmp(change, "profiler=0") == 0)
		no_profiler(s);
	else
		return "want faster:ERE=K, transfer[:KIND]=K, bandwidth:KIND=GBPS, nowait, even, host=K, api=K, "
		       "sync=0, gaps=0 or profiler=0";
	return NULL;
}

const char *
sim_change(struct sim *s, const char *change)
{
	const char *why = NULL;

	for (size_t n; !why; change += n + 1) {
		char *one = syn_check(strdup(change));

		n = strcspn(change, ",");
		one[n] = '\0';
		why = make_one(s, one);
		free(one);
		if (!change[n])
			break;
	}
	return why;
}

/* ---- there and back */

struct sim_saved { struct sim_op *op; struct sim_step **step; size_t nthreads; };

struct sim_saved *
sim_save(const struct sim *s)
{
	struct sim_saved *x = syn_check(malloc(sizeof *x));

	x->op = syn_check(malloc((s->op.n + 1) * sizeof *x->op));
	memcpy(x->op, s->op.p, s->op.n * sizeof *x->op);
	x->nthreads = s->thread.n;
	x->step = syn_check(malloc((s->thread.n + 1) * sizeof *x->step));
	for (size_t t = 0; t < s->thread.n; t++) {
		size_t size = s->thread.p[t].step.n * sizeof *x->step[t];

		x->step[t] = syn_check(malloc(size + 1));
		memcpy(x->step[t], s->thread.p[t].step.p, size);
	}
	return x;
}

void
sim_restore(struct sim *s, const struct sim_saved *x)
{
	memcpy(s->op.p, x->op, s->op.n * sizeof *x->op);
	for (size_t t = 0; t < s->thread.n; t++)
		memcpy(s->thread.p[t].step.p, x->step[t], s->thread.p[t].step.n * sizeof *x->step[t]);
	s->no_sync = s->no_wait = false;
}

void
sim_free_saved(struct sim_saved *x)
{
	for (size_t t = 0; t < x->nthreads; t++)
		free(x->step[t]);
	free(x->step);
	free(x->op);
	free(x);
}
