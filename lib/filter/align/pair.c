/* pair.c -- pair the executions of a program in one report with those in another. Captures that began at different
 * times number executions differently; the shift between the numbers follows from the intervals between executions,
 * which all devices of a job share (clock_fit.c has a worked example).
 *
 * Each device is compared with one with which it shares a collective of the program, so the comparisons of a program
 * form trees. Where intervals decide, they also give the distance of two clocks, which decides where intervals do
 * not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "filter/align/pair.h"

NSX_ORDER(by_series, struct al_obs, NSX_CMP(a->collective, b->collective), NSX_CMP(a->occurrence, b->occurrence),
          NSX_CMP(a->device, b->device), NSX_CMP(a->execution, b->execution), NSX_CMP(a->end, b->end))

static int
find_series(struct pairing *p, size_t *longest)
{
	const struct al_obs *o = p->j->obs.p;

	for (size_t i = 0, k; i < p->j->obs.n; i = k) {
		for (k = i + 1; k < p->j->obs.n && o[k].collective == o[i].collective &&
		     o[k].occurrence == o[i].occurrence && o[k].device == o[i].device; k++)
			;
		if (o[i].occurrence != 0)
			continue;
		if (!nsx_vec_push(&p->series,
		    ((struct series){ o[i].collective, p->j->collectives.p[o[i].collective].program, o[i].device,
		                      (uint32_t)i, (uint32_t)(k - i) })))
			return nsx_err_nomem(p->j->err, NULL);
		if (k - i > *longest)
			*longest = k - i;
	}
	return NSX_OK;
}

/* ---- clocks known to be apart ---- */

/* The root of x; *ahead is how far x's clock is ahead of the root's. */
static uint32_t
root_of(struct pairing *p, uint32_t x, int64_t *ahead)
{
	int64_t total = 0;
	uint32_t root = x;

	for (; p->parent[root] != root; root = p->parent[root])
		total = nsx_add_sat(total, p->ahead[root], NULL);
	*ahead = total;
	while (x != root) {
		uint32_t up = p->parent[x];
		int64_t step = p->ahead[x];

		p->parent[x] = root;
		p->ahead[x] = total;
		total = nsx_sub_sat(total, step, NULL);
		x = up;
	}
	return root;
}

/* u's clock is `apart` ahead of v's. */
static void
join(struct pairing *p, uint32_t v, uint32_t u, int64_t apart)
{
	int64_t av, au;
	uint32_t rv = root_of(p, v, &av), ru = root_of(p, u, &au);

	if (rv == ru)
		return;
	p->parent[ru] = rv;
	p->ahead[ru] = nsx_sub_sat(nsx_add_sat(av, apart, NULL), au, NULL);
}

/* Distances by intervals alone, the longest series first. */
NSX_ORDER_PTR(by_intervals, struct edge, NSX_CMP(b->intervals, a->intervals), NSX_CMP(a, b))

static int
join_clocks(struct pairing *p)
{
	const struct al_job *j = p->j;
	struct edge **order = malloc((p->edges.n + 1) * sizeof *order);
	size_t nprofiles = j->comm.cat.profiles.n + 1;
	uint32_t *first = malloc(nprofiles * sizeof *first);
	size_t n = 0;

	if (order && first) {
		for (size_t i = 0; i < nprofiles; i++)
			first[i] = NSX_NONE;
		for (uint32_t i = 0; i < j->devices.n; i++) {
			uint32_t *f = &first[nsx_align_profile_at(j, i)];
			if (*f == NSX_NONE)
				*f = i;
			else
				join(p, *f, i, 0);
		}
		for (size_t i = 0; i < p->edges.n; i++)
			if (p->edges.p[i].sure)
				order[n++] = &p->edges.p[i];
		qsort(order, n, sizeof *order, by_intervals);
		for (size_t i = 0; i < n; i++)
			join(p, order[i]->v, order[i]->u, nsx_align_apart(p, order[i], order[i]->shift));
	}
	int rc = order && first ? NSX_OK : nsx_err_nomem(j->err, NULL);
	free(order);
	free(first);
	return rc;
}

/* Decide edges that intervals left open, or shifted, by the distance of the clocks. */
static void
settle(struct pairing *p)
{
	for (size_t i = 0; i < p->edges.n; i++) {
		struct edge *e = &p->edges.p[i], again = *e;
		int64_t av, au;

		if ((e->sure && e->shift == 0) || root_of(p, e->v, &av) != root_of(p, e->u, &au))
			continue;
		again.shift = 0;
		nsx_align_place(p, &again, nsx_sub_sat(au, av, NULL));
		/* If no other shift is nearer, drift of the clocks may be the reason for the distance. */
		if (!again.lost || again.shift == 0) {
			e->shift = again.shift;
			e->lost = false;
		} else if (!e->sure) {
			e->lost = true;
		}
	}
}

/* ---- selection of pairs to compare ---- */

struct trees { uint32_t *first_of_collective, *seen, *queue; bool *done; };

NSX_ORDER_PTR(by_device, struct series, NSX_CMP(a->program, b->program), NSX_CMP(a->device, b->device), NSX_CMP(a, b))

/* The index in `order`, sorted by_device, of the first series of that program and device. */
static size_t
find_device(struct series **order, size_t n, uint32_t program, uint32_t device)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct series *s = order[mid];

		if (s->program < program || (s->program == program && s->device < device))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Add an edge between devices that share at least one collective of the program. */
static int
add_edge(struct pairing *p, struct series **order, struct edge e)
{
	uint32_t program = e.program, v = e.v, u = e.u;
	size_t i = find_device(order, p->series.n, program, v), k = find_device(order, p->series.n, program, u),
	    end = p->series.n;

	e.first = (uint32_t)p->couples.n;
	uint32_t most = 0, longest = 0;

	while (i < end && k < end && order[i]->program == program && order[k]->program == program &&
	    order[i]->device == v && order[k]->device == u && e.n < MOST_COUPLES) {
		if (order[i]->collective != order[k]->collective) {
			if (order[i]->collective < order[k]->collective)
				i++;
			else
				k++;
			continue;
		}
		uint32_t n = order[i]->n < order[k]->n ? order[i]->n : order[k]->n;
		if (n > most) {
			most = n;
			longest = e.n;
		}
		if (!nsx_vec_push(&p->couples, ((struct couple){ (uint32_t)(order[i++] - p->series.p),
		    (uint32_t)(order[k++] - p->series.p) })))
			return nsx_err_nomem(p->j->err, NULL);
		e.n++;
	}
	struct couple *c = &p->couples.p[e.first], swap = c[0];
	c[0] = c[longest];
	c[longest] = swap;
	return nsx_vec_push(&p->edges, e) ? NSX_OK : nsx_err_nomem(p->j->err, NULL);
}

/* Add edges from device v, in this program, to all devices with which it shares a collective. */
static int
grow(struct pairing *p, struct trees *t, struct series **order, uint32_t program, uint32_t root)
{
	size_t head = 0, tail = 0;
	uint32_t tree = (uint32_t)p->edges.n;

	t->queue[tail++] = root;
	t->seen[root] = program;
	while (head < tail) {
		uint32_t v = t->queue[head++];

		for (size_t i = find_device(order, p->series.n, program, v); i < p->series.n && order[i]->program ==
		     program && order[i]->device == v; i++) {
			uint32_t collective = order[i]->collective;
			if (t->done[collective])
				continue;
			t->done[collective] = true;
			for (uint32_t k = t->first_of_collective[collective]; k < p->series.n &&
			     p->series.p[k].collective == collective; k++) {
				uint32_t u = p->series.p[k].device;
				if (t->seen[u] == program)
					continue;
				struct edge e = { .program = program, .v = v, .u = u, .tree = tree };
				t->seen[u] = program;
				t->queue[tail++] = u;
				if (add_edge(p, order, e) != NSX_OK)
					return NSX_ERR;
			}
		}
	}
	return NSX_OK;
}

static int
find_edges(struct pairing *p)
{
	size_t n = p->series.n, devices = p->j->devices.n, collectives = p->j->collectives.n;
	struct series **order = malloc((n + 1) * sizeof *order);
	struct trees t = { malloc((collectives + 1) * sizeof *t.first_of_collective),
	                   malloc((devices + 1) * sizeof *t.seen),
	                   malloc((devices + 1) * sizeof *t.queue), calloc(collectives + 1, sizeof *t.done) };
	int rc = order && t.first_of_collective && t.seen && t.queue && t.done ? NSX_OK : nsx_err_nomem(p->j->err,
		NULL);

	if (rc == NSX_OK) {
		memset(t.seen, 0xff, (devices + 1) * sizeof *t.seen);
		for (size_t i = n; i-- > 0;) {
			order[i] = &p->series.p[i];
			t.first_of_collective[p->series.p[i].collective] = (uint32_t)i;
		}
		qsort(order, n, sizeof *order, by_device);
		for (size_t i = 0; i < n && rc == NSX_OK; i++)
			if (t.seen[order[i]->device] != order[i]->program)
				rc = grow(p, &t, order, order[i]->program, order[i]->device);
	}
	free(order);
	free(t.first_of_collective);
	free(t.seen);
	free(t.queue);
	free(t.done);
	return rc;
}

/* ---- results ---- */

int32_t
nsx_align_shift(const struct al_job *j, uint32_t program, uint32_t device)
{
	uint32_t at = nsx_map_get(&j->shift_of, (struct nsx_key){ program, device });

	return at == NSX_NONE ? 0 : j->shifts.p[at];
}

static int
set_shift(struct al_job *j, uint32_t program, uint32_t device, int32_t shift)
{
	uint32_t *at = nsx_map_at(&j->shift_of, (struct nsx_key){ program, device });

	if (!at || (*at == NSX_NONE && !nsx_vec_push(&j->shifts, 0)))
		return nsx_err_nomem(j->err, NULL);
	if (*at == NSX_NONE)
		*at = (uint32_t)j->shifts.n - 1;
	j->shifts.p[*at] = shift;
	return NSX_OK;
}

/* The shift that most devices have, so that the others are those reported as different; of equally many the
 * smallest. Sorts v. */
static int64_t
usual(int64_t *v, size_t n)
{
	size_t most = 0;
	int64_t at = 0;

	qsort(v, n, sizeof *v, nsx_sort_by_int);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && v[k] == v[i]; k++)
			;
		if (k - i > most || (k - i == most && llabs(v[i]) < llabs(at))) {
			most = k - i;
			at = v[i];
		}
	}
	return at;
}

/* From shifts along the edges [from, to) of a tree to shifts by device; devices: room for them, the root first. */
static int
follow_edges(struct pairing *p, size_t from, size_t to, uint32_t *devices)
{
	struct al_job *j = p->j;
	uint32_t program = p->edges.p[from].program;
	int rc = set_shift(j, program, devices[0] = p->edges.p[from].v, 0);

	for (size_t i = from; i < to && rc == NSX_OK; i++) {
		const struct edge *e = &p->edges.p[i];
		int64_t base = nsx_align_shift(j, program, e->v), shift = base + e->shift;

		if (e->lost || base == AL_UNPAIRED || shift > INT32_MAX / 4 || shift < -(INT32_MAX / 4))
			shift = AL_UNPAIRED;
		devices[i - from + 1] = e->u;
		rc = set_shift(j, program, e->u, (int32_t)shift);
	}
	return rc;
}

NSX_ORDER(by_index, uint32_t, NSX_CMP(*a, *b))

static void
say_shift(struct al_job *j, uint32_t device, bool paired)
{
	struct nsx_str report = nsx_align_report_name(j, device);
	char name[64];

	snprintf(name, sizeof name, "%.*s", report.len > 60 ? 60 : (int)report.len, report.ptr);
	nsx_diag_add(j->diags, NSX_WARNING, name, 1, paired
	             ? "programs whose executions are numbered differently on a device: matched with the others by the "
	             "intervals between them, and numbered alike"
	             : "programs not used to align a device: their executions cannot be matched with those of other "
	             "devices, and keep their numbers");
}

/* Edges [from, to) are a tree. The device whose capture has the earliest execution keeps its numbers. */
static int
add_up(struct pairing *p, size_t from, size_t to)
{
	struct al_job *j = p->j;
	uint32_t program = p->edges.p[from].program;
	size_t ndevices = to - from + 1, n = 0;
	int64_t *all = malloc(ndevices * sizeof *all), most = 0;
	uint32_t *devices = malloc(ndevices * sizeof *devices);
	int rc = all && devices ? follow_edges(p, from, to, devices) : nsx_err_nomem(j->err, NULL);

	if (rc == NSX_OK) {
		qsort(devices, ndevices, sizeof *devices, by_index);
		for (size_t i = 0; i < ndevices; i++)
			if ((all[n] = nsx_align_shift(j, program, devices[i])) != AL_UNPAIRED)
				n++;
		most = usual(all, n);
	}
	for (size_t i = 0; i < ndevices && rc == NSX_OK; i++) {
		int32_t shift = nsx_align_shift(j, program, devices[i]);

		if (shift == AL_UNPAIRED || shift != most)
			say_shift(j, devices[i], shift != AL_UNPAIRED);
		if (shift != AL_UNPAIRED)
			rc = set_shift(j, program, devices[i], shift - (int32_t)all[0]);
	}
	free(all);
	free(devices);
	return rc;
}

static int
use_shifts(struct pairing *p)
{
	struct al_job *j = p->j;
	size_t n = 0;

	for (size_t i = 0, k; i < p->edges.n; i = k) {
		bool plain = true;

		for (k = i; k < p->edges.n && p->edges.p[k].tree == p->edges.p[i].tree; k++)
			plain = plain && p->edges.p[k].shift == 0 && !p->edges.p[k].lost;
		if (!plain && add_up(p, i, k) != NSX_OK)
			return NSX_ERR;
	}
	for (size_t i = 0; i < j->obs.n && j->shifts.n; i++) {
		struct al_obs o = j->obs.p[i];
		int32_t shift = nsx_align_shift(j, j->collectives.p[o.collective].program, o.device);

		o.execution += shift == AL_UNPAIRED ? 0 : shift;
		if (shift != AL_UNPAIRED)
			j->obs.p[n++] = o;
	}
	if (j->shifts.n)
		j->obs.n = n;
	return NSX_OK;
}

int
nsx_align_pair(struct al_job *j)
{
	struct pairing p = { .j = j };
	size_t longest = 1;

	if (j->obs.n)
		qsort(j->obs.p, j->obs.n, sizeof *j->obs.p, by_series);
	int rc = find_series(&p, &longest);
	p.parent = malloc((j->devices.n + 1) * sizeof *p.parent);
	p.ahead = calloc(j->devices.n + 1, sizeof *p.ahead);
	p.a = malloc(longest * sizeof *p.a);
	p.b = malloc(longest * sizeof *p.b);
	if (rc == NSX_OK && (!p.parent || !p.ahead || !p.a || !p.b))
		rc = nsx_err_nomem(j->err, NULL);
	if (rc == NSX_OK)
		rc = find_edges(&p);
	if (rc == NSX_OK) {
		for (uint32_t i = 0; i < j->devices.n; i++)
			p.parent[i] = i;
		for (size_t i = 0; i < p.edges.n; i++)
			nsx_align_compare(&p, &p.edges.p[i]);
		rc = join_clocks(&p);
	}
	if (rc == NSX_OK) {
		settle(&p);
		rc = use_shifts(&p);
	}
	free(p.series.p);
	free(p.edges.p);
	free(p.couples.p);
	free(p.parent);
	free(p.ahead);
	free(p.a);
	free(p.b);
	return rc;
}
