/* even.c -- operations that compute take the mean of their devices: those of one step, with the same name, that are as
 * many of that name on their device since it began. One step of all devices after the other; one of another class may
 * have the same operations, too.
 *
 *   device 0   a 10   b 4   a 12       -> 11   5   10
 *   device 1   a 12   b 6   a 8           11   5   10
 *
 * All devices are gone through together, in order of time. What is to come on a device is most often what came after
 * the same on it in the step before, so that little is looked up. */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "table/whatif/plan.h"

/* The operations of all devices that are one. next: the one that is as many and one more of the name; NSX_NONE: none
 * yet. */
struct same { int64_t sum; uint32_t n, next; };

/* Operations of one name in a slot of a device. */
struct named {
	uint32_t name;
	uint32_t stage, last;            /* the last one was in that stage, and is this one in sames */
	uint32_t then;                   /* what came after it, in names */
};

/* A step. rank: of its class and number, in order of those. */
struct stage { int64_t start, end; uint32_t device, rank; };

struct evening {
	const struct wi_graph *g;
	struct stage *stages;            /* by start */
	struct running {                 /* by device: stages that have begun, each in a slot; NSX_NONE: it is free */
		NSX_VEC(struct slot { uint32_t stage, last; }) slots;   /* last: in names */
	} *devices;
	struct nsx_map named_of, first_of;
	NSX_VEC(struct named) names;
	NSX_VEC(struct same)  sames;
};

static bool
list_stages(struct evening *v)
{
	const struct wi_graph *g = v->g;
	size_t n = g->steps.n;
	struct nsx_sort_key *keys = malloc((n + 1) * sizeof *keys);
	uint32_t rank = 0;

	v->stages = malloc((n + 1) * sizeof *v->stages);
	if (!keys || !v->stages) {
		free(keys);
		return false;
	}
	for (size_t i = 0; i < n; i++)
		keys[i] = (struct nsx_sort_key){ { g->steps.p[i].class, g->steps.p[i].number, 0 }, (uint32_t)i };
	nsx_sort_keys(keys, n);
	for (size_t i = 0; i < n; i++) {
		const struct wi_step *s = &g->steps.p[keys[i].i];

		rank += i && (keys[i].k[0] != keys[i - 1].k[0] || keys[i].k[1] != keys[i - 1].k[1]);
		v->stages[i] = (struct stage){ g->ops.p[s->first].start, g->ops.p[s->next].start, s->device, rank };
	}
	for (size_t i = 0; i < n; i++)
		keys[i] = (struct nsx_sort_key){ { v->stages[i].start, 0, 0 }, (uint32_t)i };
	nsx_sort_keys(keys, n);
	nsx_sort_apply(v->stages, sizeof *v->stages, keys, n);
	free(keys);
	return true;
}

static bool
begin(struct evening *v, uint32_t stage)
{
	struct running *r = &v->devices[v->stages[stage].device];
	size_t i = 0;

	while (i < r->slots.n && r->slots.p[i].stage != NSX_NONE && v->stages[r->slots.p[i].stage].end
	       > v->stages[stage].start)
		i++;
	if (i == r->slots.n)
		return nsx_vec_push(&r->slots, ((struct slot){ stage, NSX_NONE }));
	r->slots.p[i].stage = stage;
	return true;
}

/* The operations of that name on a device; NSX_NONE when out of memory. */
static uint32_t
named_of(struct evening *v, uint32_t device, uint32_t slot, uint32_t name)
{
	struct slot *s = &v->devices[device].slots.p[slot];
	uint32_t at = s->last == NSX_NONE ? (uint32_t)NSX_NONE : v->names.p[s->last].then;

	if (at == NSX_NONE || v->names.p[at].name != name) {
		at = nsx_map_number(&v->named_of, (struct nsx_key){ (uint64_t)device << 32 | slot, name });
		if (at == v->names.n && !nsx_vec_push(&v->names, ((struct named){ name, NSX_NONE, NSX_NONE,
		                                                                  NSX_NONE })))
			return NSX_NONE;
		if (at != NSX_NONE && s->last != NSX_NONE)
			v->names.p[s->last].then = at;
	}
	s->last = at;
	return at;
}

/* Which operation of its step one is, in sames; NSX_NONE when out of memory. */
static uint32_t
same_of(struct evening *v, struct named *x, uint32_t stage)
{
	uint32_t *at;

	if (x->stage == stage)
		at = &v->sames.p[x->last].next;
	else
		at = nsx_map_at(&v->first_of, (struct nsx_key){ v->stages[stage].rank, x->name });
	x->stage = stage;
	if (!at)
		return NSX_NONE;
	if (*at == NSX_NONE) {
		*at = (uint32_t)v->sames.n;
		if (!nsx_vec_push(&v->sames, ((struct same){ 0, 0, NSX_NONE })))
			return NSX_NONE;
		return x->last = (uint32_t)v->sames.n - 1;
	}
	return x->last = *at;
}

/* An operation in each of the steps that it is in. *same: 1 + the one in that of the last class and number; 0: none. */
static bool
take(struct evening *v, const struct wi_op *o, uint32_t *same)
{
	uint32_t device = wi_device(v->g, o), rank = 0;
	struct running *r = &v->devices[device];

	for (uint32_t i = 0; i < r->slots.n; i++) {
		uint32_t stage = r->slots.p[i].stage, at;

		if (stage == NSX_NONE || v->stages[stage].end <= o->start) {
			r->slots.p[i].stage = NSX_NONE;
			continue;
		}
		at = named_of(v, device, i, wi_task(v->g, o)->name);
		at = at == NSX_NONE ? at : same_of(v, &v->names.p[at], stage);
		if (at == NSX_NONE)
			return false;
		v->sames.p[at].sum += o->end - o->start;
		v->sames.p[at].n++;
		if (!*same || v->stages[stage].rank > rank) {
			*same = at + 1;
			rank = v->stages[stage].rank;
		}
	}
	return true;
}

static bool
take_all(struct evening *v, uint32_t *of)
{
	const struct wi_graph *g = v->g;
	bool good = true;

	for (size_t i = 0, k = 0; i < g->ops.n && good; i++) {
		const struct wi_op *o = &g->ops.p[i];

		wi_pause(g, i);
		for (; k < g->steps.n && v->stages[k].start <= o->start && good; k++)
			good = begin(v, (uint32_t)k);
		if (good && !wi_task(g, o)->comm)
			good = take(v, o, &of[i]);
	}
	return good;
}

int
nsx_wi_even(const struct wi_graph *g, uint32_t **of, int64_t **even)
{
	struct evening v = { .g = g, .devices = calloc(g->pairing.comm.cat.devices.n + 1, sizeof *v.devices) };
	bool good;

	*even = NULL;
	*of = nsx_large_array(wi_large(g), g->ops.n, sizeof **of);
	good = *of && v.devices && list_stages(&v) && take_all(&v, *of);
	*even = good ? malloc((v.sames.n + 1) * sizeof **even) : NULL;
	for (size_t i = 0; i < v.sames.n && *even; i++)
		(*even)[i] = llround((double)v.sames.p[i].sum / (double)v.sames.p[i].n);
	for (size_t i = 0; v.devices && i < g->pairing.comm.cat.devices.n; i++)
		free(v.devices[i].slots.p);
	free(v.devices);
	free(v.stages);
	nsx_map_free(&v.named_of);
	nsx_map_free(&v.first_of);
	free(v.names.p);
	free(v.sames.p);
	return *even ? NSX_OK : nsx_err_nomem(g->err, NULL);
}
