/* late_set.c -- the smallest set of devices that explains why others wait: a device, the devices of a host, a report or
 * a replica group, those at one place of an axis of the mesh (job/axis.h), or those of neighbouring hosts or with
 * neighbouring numbers.
 *
 *   devices          0 1 2 3 4 5 6 7
 *   lateness         0 0 9 8 7 9 1 0    hosts a = 0, 1, b = 2 to 5, c = 6, 7: host b has 33 of 34
 *
 * A set of s of n devices explains the lateness if it has at least (1 + s/n) / 2 of it: half of what is above the share
 * that it would have if all were late alike. Those at one place of an axis must do so without the latest of them, too,
 * in what the others have: there are many such sets, and one with a single late device is none. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "job/axis.h"
#include "base/members.h"
#include "base/sort.h"
#include "table/diagnose/diagnose.h"

/* In order of preference among sets of one size. */
enum kind { HOST, REPORT, GROUP, PLACE, HOSTS, BLOCK };

/* name, last: texts of the set, and of the last host of several; of a place a group along its axis, and its number. */
struct set { enum kind kind; uint32_t name, last; size_t size; double late; bool *has; };

struct seeking {
	struct nsx_look_at *a;
	const double *late;      /* by device, index in a->devices */
	double all;
	size_t n;
	struct nsx_axes axes;    /* the groups of a->comm, by number */
	struct set best;         /* size 0: none */
	uint32_t also, also_last;   /* another name of it, as `name` and `last`; NSX_NONE: none */
	enum kind also_kind;
};

static bool
explains(double late, size_t size, const struct seeking *s)
{
	return size > 1 && 2 * size <= s->n && late >= (1 + (double)size / (double)s->n) / 2 * s->all;
}

static bool
is_best(const struct seeking *s, const size_t *members, size_t size)
{
	for (size_t i = 0; i < size && size == s->best.size; i++)
		if (!s->best.has[members[i]])
			return false;
	return size == s->best.size;
}

/* Consider the set of these devices, which are distinct. */
static int
consider(struct seeking *s, enum kind kind, uint32_t name, uint32_t last, const size_t *members, size_t size)
{
	double late = 0, most = 0;

	for (size_t i = 0; i < size; i++) {
		late += s->late[members[i]];
		most = s->late[members[i]] > most ? s->late[members[i]] : most;
	}
	if (!explains(late, size, s))
		return NSX_OK;
	if (kind == PLACE
	    && late - most < (1 + (double)(size - 1) / (double)(s->n - 1)) / 2 * (s->all - most))
		return NSX_OK;
	if (is_best(s, members, size)) {
		/* A host mostly has one report. */
		if (s->also == NSX_NONE && (kind == GROUP || kind == PLACE)) {
			s->also = name;
			s->also_last = last;
			s->also_kind = kind;
		}
		return NSX_OK;
	}
	/* A run of devices may leave out members of a set by chance. */
	if (s->best.size && (kind == BLOCK ? 2 * size > s->best.size : size >= s->best.size))
		return NSX_OK;
	bool *has = calloc(s->n, sizeof *has);

	if (!has)
		return nsx_err_nomem(s->a->err, NULL);
	for (size_t i = 0; i < size; i++)
		has[members[i]] = true;
	free(s->best.has);
	s->best = (struct set){ kind, name, last, size, late, has };
	s->also = NSX_NONE;
	return NSX_OK;
}

/* ---- sets by a number of each device: of its host, or its report */

struct keyed { uint32_t key; size_t device; };

NSX_ORDER(by_key, struct keyed, NSX_CMP(a->key, b->key), NSX_CMP(a->device, b->device))

/* members: space for all devices, here and below. */
static int
consider_keys(struct seeking *s, enum kind kind, size_t *members)
{
	struct keyed *k = malloc(s->n * sizeof *k);
	int rc = k ? NSX_OK : nsx_err_nomem(s->a->err, NULL);

	for (size_t i = 0; k && i < s->n; i++) {
		const struct nsx_look_device *d = &s->a->devices.p[i];

		k[i] = (struct keyed){ kind == HOST ? d->host : d->report, i };
	}
	if (k)
		qsort(k, s->n, sizeof *k, by_key);
	for (size_t i = 0, n; i < s->n && rc == NSX_OK; i += n) {
		for (n = 0; i + n < s->n && k[i + n].key == k[i].key; n++)
			members[n] = k[i + n].device;
		if (nsx_look_str(s->a, k[i].key).len)
			rc = consider(s, kind, k[i].key, NSX_NONE, members, n);
	}
	free(k);
	return rc;
}

static int
consider_groups(struct seeking *s, size_t *members)
{
	const struct nsx_look_comm *c = &s->a->comm;
	int rc = NSX_OK;

	for (uint32_t g = 0; g < c->groups.n && rc == NSX_OK; g++) {
		const struct nsx_look_group *group = &c->groups.p[g];
		size_t n = 0;

		for (size_t m = 0; m < group->n && n < s->n; m++) {
			const struct nsx_look_device *d = nsx_look_device(s->a, c->members.p[group->first + m]);

			if (d)
				members[n++] = (size_t)(d - s->a->devices.p);
		}
		if (n == group->n)
			rc = consider(s, GROUP, g, NSX_NONE, members, n);
	}
	return rc;
}

/* ---- places of axes */

struct placed { int64_t at; size_t device; };

NSX_ORDER(by_place, struct placed, NSX_CMP(a->at, b->at), NSX_CMP(a->device, b->device))

/* The groups of devices and their mesh; groups get the numbers that they have in a->comm. False when out of memory. */
static bool
find_axes(struct seeking *s)
{
	const struct nsx_look_comm *c = &s->a->comm;
	bool good = true;

	for (size_t g = 0; good && g < c->groups.n; g++) {
		const struct nsx_look_group *group = &c->groups.p[g];
		int64_t *of = malloc((group->n + 1) * sizeof *of);

		for (size_t i = 0; of && i < group->n; i++)
			of[i] = c->members.p[group->first + i];
		good = of && nsx_axes_add(&s->axes, of, group->n, (int64_t)group->n) != NSX_NONE;
		free(of);
	}
	return good && nsx_axes_settle(&s->axes, s->a->devices.p[s->n - 1].number + 1);
}

/* The devices at each place of the axes of that group. */
static int
consider_axis(struct seeking *s, uint32_t group, size_t *members)
{
	struct placed *p = malloc((s->n + 1) * sizeof *p);
	int rc = p ? NSX_OK : nsx_err_nomem(s->a->err, NULL);

	for (size_t i = 0; p && i < s->n; i++)
		p[i] = (struct placed){ nsx_axes_coordinate(&s->axes, s->axes.groups.p[group].axes,
		                                            s->a->devices.p[i].number), i };
	if (p)
		qsort(p, s->n, sizeof *p, by_place);
	for (size_t i = 0, n; i < s->n && rc == NSX_OK; i += n) {
		for (n = 0; i + n < s->n && p[i + n].at == p[i].at; n++)
			members[n] = p[i + n].device;
		rc = consider(s, PLACE, group, (uint32_t)p[i].at, members, n);
	}
	free(p);
	return rc;
}

static int
consider_places(struct seeking *s, size_t *members)
{
	struct nsx_map met = { 0 };   /* sets of axes */
	int rc = s->n && find_axes(s) ? NSX_OK : nsx_err_nomem(s->a->err, NULL);

	for (uint32_t g = 0; rc == NSX_OK && g < s->axes.groups.n; g++) {
		const struct nsx_axis_group *group = &s->axes.groups.p[g];
		size_t before = met.n;

		if (!group->axes || group->all)
			continue;
		if (nsx_map_number(&met, (struct nsx_key){ group->axes, 0 }) == NSX_NONE)
			rc = nsx_err_nomem(s->a->err, NULL);
		else if (met.n > before)
			rc = consider_axis(s, g, members);
	}
	nsx_map_free(&met);
	return rc;
}

/* ---- neighbours */

/* Of n numbers the run with the largest sum of what they are above their mean: *from, *to. That sum. */
static double
best_run(const double *of, size_t n, double mean, size_t *from, size_t *to)
{
	double sum = 0, most = -1;
	size_t start = 0;

	*from = *to = 0;
	for (size_t i = 0; i < n; i++) {
		if (sum <= 0) {
			sum = 0;
			start = i;
		}
		sum += of[i] - mean;
		if (sum > most) {
			most = sum;
			*from = start;
			*to = i + 1;
		}
	}
	return most;
}

static int
consider_block(struct seeking *s, size_t *members)
{
	size_t from, to;

	best_run(s->late, s->n, s->all / (double)s->n, &from, &to);
	for (size_t i = from; i < to; i++)
		members[i - from] = i;
	return consider(s, BLOCK, NSX_NONE, NSX_NONE, members, to - from);
}

/* A host: its name, by number and as text, and by how much its devices are late. */
struct host { uint32_t name; struct nsx_str text; double late; };

NSX_ORDER(by_host, struct host, nsx_str_natural(a->text, b->text), NSX_CMP(a->name, b->name))

/* A run of hosts, of what is above the mean of all. */
struct run { size_t from, to; double sum; };

static struct run
run_of(const struct seeking *s, const struct host *hosts, size_t n, double *late)
{
	struct run r;

	for (size_t i = 0; i < n; i++)
		late[i] = hosts[i].late;
	r.sum = best_run(late, n, s->all / (double)n, &r.from, &r.to);
	return r;
}

static int
consider_run(struct seeking *s, const struct host *hosts, struct run r, size_t *members)
{
	struct nsx_map of = { 0 };
	size_t n = 0;
	bool good = true;

	for (size_t i = r.from; i < r.to && good; i++)
		good = nsx_map_number(&of, (struct nsx_key){ hosts[i].name, 0 }) != NSX_NONE;
	for (size_t i = 0; i < s->n && good; i++)
		if (nsx_map_get(&of, (struct nsx_key){ s->a->devices.p[i].host, 0 }) != NSX_NONE)
			members[n++] = i;
	nsx_map_free(&of);
	if (!good)
		return nsx_err_nomem(s->a->err, NULL);
	return r.to - r.from > 1 ? consider(s, HOSTS, hosts[r.from].name, hosts[r.to - 1].name, members, n) : NSX_OK;
}

/* Runs of hosts, in the order of their first devices or of their names, which a rack's have in common: the order in
 * which the late ones are neighbours. */
static int
consider_hosts(struct seeking *s, size_t *members)
{
	const struct nsx_look_at *a = s->a;
	double *late = calloc(s->n + 1, sizeof *late);
	struct host *hosts = calloc(s->n + 1, sizeof *hosts), *named = calloc(s->n + 1, sizeof *named);
	struct nsx_map of = { 0 };
	bool good = late && hosts && named;

	for (size_t i = 0; i < s->n && good; i++) {
		uint32_t name = a->devices.p[i].host, at = nsx_map_number(&of, (struct nsx_key){ name, 0 });

		good = at != NSX_NONE;
		if (good)
			hosts[at] = (struct host){ name, nsx_look_str(a, name), hosts[at].late + s->late[i] };
	}
	int rc = good ? NSX_OK : nsx_err_nomem(a->err, NULL);

	if (good && of.n > 2) {
		memcpy(named, hosts, of.n * sizeof *named);
		qsort(named, of.n, sizeof *named, by_host);
		struct run first = run_of(s, hosts, of.n, late), second = run_of(s, named, of.n, late);

		rc = second.sum > first.sum ? consider_run(s, named, second, members)
		     : consider_run(s, hosts, first, members);
	}
	nsx_map_free(&of);
	free(late);
	free(hosts);
	free(named);
	return rc;
}

/* ---- names */

static void
put_group(struct nsx_look_at *a, uint32_t g, struct nsx_buf *to)
{
	enum { TOLD = 8 };
	const struct nsx_look_group *group = &a->comm.groups.p[g];

	nsx_buf_c(to, "the replica group of devices ");
	for (size_t m = 0; m < group->n && m < TOLD; m++)
		nsx_buf_fmt(to, "%s%" PRId64, m ? ", " : "", a->comm.members.p[group->first + m]);
	if (group->n > TOLD)
		nsx_buf_fmt(to, " and %zu more", group->n - TOLD);
}

/* `the 4 devices at place 1 of axis0/2, 4-7` */
static void
put_place(const struct seeking *s, const struct set *set, struct nsx_buf *to)
{
	int64_t *devices = malloc((set->size + 1) * sizeof *devices);
	size_t n = 0;

	for (size_t i = 0; devices && i < s->n && n < set->size; i++)
		if (set->has[i])
			devices[n++] = s->a->devices.p[i].number;
	to->failed |= !devices;
	nsx_buf_fmt(to, "the %zu devices at place %" PRIu32 " of ", set->size, set->last);
	nsx_axes_name(&s->axes, set->name, to);
	nsx_buf_c(to, ", ");
	if (devices)
		nsx_ranges_put(devices, n, to);
	free(devices);
}

static void
put_name(const struct seeking *s, const struct set *set, struct nsx_buf *to)
{
	struct nsx_look_at *a = s->a;
	const struct nsx_look_device *d = a->devices.p;
	size_t first = 0, last = 0;

	switch (set->kind) {
	case HOST:
		nsx_buf_c(to, "host or process ");
		nsx_buf_str(to, nsx_look_str(a, set->name));
		break;
	case REPORT:
		nsx_buf_c(to, "report ");
		nsx_buf_str(to, nsx_look_str(a, set->name));
		break;
	case GROUP:
		put_group(a, set->name, to);
		break;
	case PLACE:
		put_place(s, set, to);
		break;
	case HOSTS:
		nsx_buf_fmt(to, "the %zu devices of hosts ", set->size);
		nsx_buf_str(to, nsx_look_str(a, set->name));
		nsx_buf_c(to, " to ");
		nsx_buf_str(to, nsx_look_str(a, set->last));
		break;
	case BLOCK:
		while (!set->has[first])
			first++;
		for (size_t i = first; i < a->devices.n; i++)
			last = set->has[i] ? i : last;
		nsx_buf_fmt(to, "the %zu devices %" PRId64 " to %" PRId64, set->size, d[first].number, d[last].number);
		break;
	}
}

int
nsx_look_late_set(struct nsx_look_at *a, const double *late, double all, struct nsx_look_set *out)
{
	struct seeking s = { .a = a, .late = late, .all = all, .n = a->devices.n, .also = NSX_NONE };
	size_t *members = malloc((s.n + 1) * sizeof *members);
	int rc = members ? NSX_OK : nsx_err_nomem(a->err, NULL);

	*out = (struct nsx_look_set){ 0 };
	if (rc == NSX_OK)
		rc = consider_keys(&s, HOST, members);
	if (rc == NSX_OK)
		rc = consider_keys(&s, REPORT, members);
	if (rc == NSX_OK)
		rc = consider_groups(&s, members);
	if (rc == NSX_OK)
		rc = consider_places(&s, members);
	if (rc == NSX_OK)
		rc = consider_hosts(&s, members);
	if (rc == NSX_OK)
		rc = consider_block(&s, members);
	free(members);
	out->has = s.best.has;
	out->size = s.best.size;
	out->plural = s.best.kind >= PLACE;
	out->host = s.best.kind == HOST || s.best.kind == REPORT || s.best.kind == HOSTS;
	out->host &= s.best.size > 0;
	if (rc == NSX_OK && s.best.size)
		put_name(&s, &s.best, &out->name);
	if (rc == NSX_OK && s.also != NSX_NONE) {
		nsx_buf_c(&out->also, "these devices are also ");
		put_name(&s, &(struct set){ .kind = s.also_kind, .name = s.also, .last = s.also_last,
		                           .size = s.best.size, .has = s.best.has }, &out->also);
	}
	nsx_axes_free(&s.axes);
	if (rc != NSX_OK || !s.best.size)
		return rc;
	return out->name.failed || out->also.failed ? nsx_err_nomem(a->err, NULL) : NSX_OK;
}

void
nsx_look_set_free(struct nsx_look_set *s)
{
	free(s->has);
	nsx_buf_free(&s->name);
	nsx_buf_free(&s->also);
}
