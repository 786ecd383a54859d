/* order.c -- the numbers of profiles and devices. They depend on the contents of the records, never on the order of the
 * streams. */
#include "filter/merge/merging.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/sort.h"
#include "job/twins.h"

static int64_t
held_int(const struct mg_held *h, int slot)
{
	return h->has >> slot & 1 ? h->v[slot].i : INT64_MIN;
}

static struct nsx_str
held_str(const struct mg_held *h, int slot)
{
	return h->has >> slot & 1 ? h->v[slot].s : (struct nsx_str){ "", 0 };
}

/* ---- profiles: an order that needs no other profile */

static int
by_identity(const void *a, const void *b)
{
	static const int numbers[] = { NSX_DEVICE_process, NSX_DEVICE_local, NSX_DEVICE_cuda, NSX_DEVICE_partition,
	                               NSX_DEVICE_pid };
	const struct mg_device *x = *(const struct mg_device *const *)a, *y = *(const struct mg_device *const *)b;
	int c = nsx_int_cmp(x->profile, y->profile);

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers && c == 0; i++)
		c = nsx_int_cmp(held_int(&x->rec, numbers[i]), held_int(&y->rec, numbers[i]));
	if (c == 0)
		c = nsx_str_cmp(held_str(&x->rec, NSX_DEVICE_uuid), held_str(&y->rec, NSX_DEVICE_uuid));
	if (c == 0)
		c = nsx_str_cmp(held_str(&x->rec, NSX_DEVICE_name), held_str(&y->rec, NSX_DEVICE_name));
	return c ? c : nsx_int_cmp(x->rec.v[NSX_DEVICE_device].i, y->rec.v[NSX_DEVICE_device].i);
}

/* Numbers of devices are not compared: they may change from merge to merge. */
static void
put_device(struct nsx_buf *b, const struct mg_device *d)
{
	nsx_buf_fmt(b, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",",
	            held_int(&d->rec, NSX_DEVICE_process),
	            held_int(&d->rec, NSX_DEVICE_local), held_int(&d->rec, NSX_DEVICE_cuda),
	            held_int(&d->rec, NSX_DEVICE_partition), held_int(&d->rec, NSX_DEVICE_pid));
	nsx_buf_str(b, held_str(&d->rec, NSX_DEVICE_uuid));
	nsx_buf_char(b, ',');
	nsx_buf_str(b, held_str(&d->rec, NSX_DEVICE_name));
	nsx_buf_char(b, ';');
}

static int
make_digests(struct mg *m, struct mg_device **devices)
{
	struct nsx_buf b = { 0 };
	int rc = NSX_OK;

	for (size_t i = 0, j; i < m->devices.n && rc == NSX_OK; i = j) {
		struct mg_profile *p = &m->profiles.p[devices[i]->profile];
		b.len = 0;
		for (j = i; j < m->devices.n && devices[j]->profile == devices[i]->profile; j++)
			put_device(&b, devices[j]);
		p->digest = nsx_arena_str(&m->arena, nsx_buf_view(&b));
		if (b.failed || !p->digest.ptr)
			rc = nsx_err_nomem(m->err, NULL);
	}
	nsx_buf_free(&b);
	return rc;
}

static int
cmp_same(const struct mg_profile *x, const struct mg_profile *y)
{
	int c = nsx_str_cmp(x->name, y->name);

	if (c == 0)
		c = nsx_int_cmp(x->start_utc, y->start_utc);
	return c ? c : nsx_str_cmp(x->digest, y->digest);
}

static int
by_base(const void *a, const void *b)
{
	static const int rest[] = { NSX_PROFILE_host, NSX_PROFILE_product, NSX_PROFILE_schema };
	const struct mg_profile *x = *(const struct mg_profile *const *)a, *y = *(const struct mg_profile *const *)b;
	int c = cmp_same(x, y);

	for (size_t i = 0; i < sizeof rest / sizeof *rest && c == 0; i++)
		c = nsx_str_cmp(held_str(&x->rec, rest[i]), held_str(&y->rec, rest[i]));
	if (c == 0)
		c = nsx_int_cmp(x->source, y->source);
	return c ? c : nsx_int_cmp(x->rec.v[NSX_PROFILE_profile].i, y->rec.v[NSX_PROFILE_profile].i);
}

static int
refuse_twins(struct mg *m, struct mg_profile **order)
{
	for (size_t i = 1; i < m->profiles.n; i++) {
		const struct mg_profile *x = order[i - 1], *y = order[i];
		/* Without data that identify them, equal names are no evidence; within one stream an earlier merge was
		 * forced. */
		if (cmp_same(x, y) != 0 || x->source == y->source || (x->start_utc == INT64_MIN && !x->digest.len))
			continue;
		if (!m->opts->force)
			return nsx_err_set(m->err,
				"report %.*s is in %s and in %s: the same export twice? (--force merges it as two)",
			                   (int)(x->name.len > 200 ? 200 : x->name.len), x->name.ptr,
			                   m->sources[x->source].name, m->sources[y->source].name);
		if (nsx_merge_diag_say(m, NSX_WARNING, x->name, "merged with the same report") != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

/* ---- devices whose number a profile has */

NSX_ORDER_PTR(by_claim, struct mg_device, NSX_CMP(b->known, a->known), NSX_CMP(a->number, b->number))

/* Of the profiles that have the same number for a device the first keeps it; the numbers of the others become
 * unknown. */
static int
settle_claims(struct mg *m, struct mg_device **d)
{
	qsort(d, m->devices.n, sizeof *d, by_claim);
	for (size_t i = 0, j; i < m->devices.n && d[i]->known; i = j) {
		struct mg_device *winner = d[i];
		for (j = i + 1; j < m->devices.n && d[j]->known && d[j]->number == d[i]->number; j++)
			if (m->profiles.p[d[j]->profile].base < m->profiles.p[winner->profile].base)
				winner = d[j];
		for (size_t k = i; k < j; k++) {
			const struct mg_profile *p = &m->profiles.p[d[k]->profile],
			    *q = &m->profiles.p[winner->profile];
			if (d[k] == winner)
				continue;
			if (!m->opts->force)
				return nsx_err_set(m->err, "device %" PRId64
				                   " is in report %.*s of %s and in report %.*s of %s"
				                   " (--force gives it two numbers)", winner->number,
				                   (int)(q->name.len > 200 ? 200 : q->name.len), q->name.ptr,
				                   m->sources[q->source].name,
				                   (int)(p->name.len > 200 ? 200 : p->name.len), p->name.ptr,
				                   m->sources[p->source].name);
			if (nsx_merge_diag_say(m, NSX_WARNING, p->name, "device %" PRId64
			    " of the job is also in another report: renumbered",
			                winner->number) != NSX_OK)
				return NSX_ERR;
			d[k]->known = false;
		}
	}
	return NSX_OK;
}

NSX_ORDER_PTR(by_lowest, struct mg_profile, NSX_CMP(a->lowest, b->lowest), NSX_CMP(a->base, b->base))

/* ---- devices without a number in any profile */

static const struct mg_profile *
profile_of(const struct mg_device *d, const struct mg *m)
{
	return &m->profiles.p[d->profile];
}

struct nameless { struct mg_device *d; int64_t profile; };

static int
by_place(const void *a, const void *b)
{
	static const int numbers[] = { NSX_DEVICE_process, NSX_DEVICE_local, NSX_DEVICE_cuda, NSX_DEVICE_partition,
	                               NSX_DEVICE_pid };
	const struct nameless *x = a, *y = b;
	int c = nsx_int_cmp(x->profile, y->profile);

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers && c == 0; i++)
		c = nsx_int_cmp(held_int(&x->d->rec, numbers[i]), held_int(&y->d->rec, numbers[i]));
	return c ? c : nsx_int_cmp(x->d->rec.v[NSX_DEVICE_device].i, y->d->rec.v[NSX_DEVICE_device].i);
}

static int
number_devices(struct mg *m)
{
	NSX_VEC(struct nameless) order = { 0 };
	int64_t next = 0;
	int rc = NSX_OK;

	for (size_t i = 0; i < m->devices.n && rc == NSX_OK; i++) {
		struct mg_device *d = &m->devices.p[i];
		if (d->known && d->number >= next)
			next = d->number < INT64_MAX ? d->number + 1 : INT64_MAX;
		if (!d->known && !nsx_vec_push(&order, ((struct nameless){ d, profile_of(d, m)->number })))
			rc = nsx_err_nomem(m->err, NULL);
	}
	if (order.n && (uint64_t)(INT64_MAX - next) < order.n)
		rc = nsx_err_set(m->err, "no device numbers are left after device %" PRId64, next - 1);
	if (order.n)
		qsort(order.p, order.n, sizeof *order.p, by_place);
	for (size_t i = 0; i < order.n && rc == NSX_OK; i++)
		order.p[i].d->number = next + (int64_t)i;
	free(order.p);
	return rc;
}

/* Streams of two profilers cannot say that they have one GPU where not both know its number in the job. */
static int
report_twins(struct mg *m)
{
	struct nsx_twin *list = malloc((m->devices.n + 1) * sizeof *list);
	int rc = list ? NSX_OK : nsx_err_nomem(m->err, NULL);

	for (size_t i = 0; i < m->devices.n && rc == NSX_OK; i++) {
		const struct mg_held *d = &m->devices.p[i].rec;
		const struct mg_profile *p = profile_of(&m->devices.p[i], m);
		int64_t last = held_int(d, NSX_DEVICE_last);

		list[i] = (struct nsx_twin){ .pid = held_int(d, NSX_DEVICE_pid), .cuda = held_int(d, NSX_DEVICE_cuda),
			.schema = held_str(&p->rec, NSX_PROFILE_schema), .at = (uint32_t)i };
		if (p->start_utc == INT64_MIN || last == NSX_ABSENT || __builtin_add_overflow(p->start_utc, last,
		    &list[i].last))
			list[i].last = INT64_MIN;
	}
	if (rc == NSX_OK)
		nsx_twins_find(list, m->devices.n);
	for (size_t i = 0; i < m->devices.n && rc == NSX_OK; i++)
		if (list[i].of != NSX_NONE) {
			const struct mg_profile *p = profile_of(&m->devices.p[list[i].of], m);
			rc = nsx_merge_diag_say(m, NSX_WARNING, profile_of(&m->devices.p[list[i].at], m)->name,
				"device %" PRId64 " seems to be device %" PRId64
				", which report %.*s of another profiler has, of the same process: its time counts "
				"twice", m->devices.p[list[i].at].number, m->devices.p[list[i].of].number,
				(int)(p->name.len > 200 ? 200 : p->name.len), p->name.ptr);
		}
	free(list);
	return rc;
}

static int
report_communicators(struct mg *m)
{
	size_t by_ranks = 0;

	for (size_t i = 0; i < m->profiles.n; i++)
		by_ranks += nsx_numbers_by_ranks(held_str(&m->profiles.p[i].rec, NSX_PROFILE_schema));
	if (!m->communicators.n || !by_ranks || by_ranks == m->profiles.n)
		return NSX_OK;
	return nsx_merge_diag_say(m, NSX_WARNING, NSX_STR(""), NSX_TWO_NUMBERINGS);
}

/* ---- */

static int
refuse_unaligned(struct mg *m)
{
	const struct mg_source *aligned = NULL, *not = NULL;

	for (size_t i = 0; i < m->n; i++) {
		const struct mg_source *s = &m->sources[i];
		if (s->aligned)
			aligned = s;
		else if (s->devices)
			not = s;
	}
	if (!aligned || !not)
		return NSX_OK;
	if (!m->opts->force)
		return nsx_err_set(m->err,
			"%s passed nsysx-align, %s did not: merge first, then align (--force mixes their clocks)",
		                   aligned->name, not->name);
	return nsx_merge_diag_say(m, NSX_WARNING, NSX_STR(""),
	                          "streams with aligned and with unaligned clocks were merged");
}

/* Profiles of earlier numbers in that order, then by the base order. */
static int
number_profiles(struct mg *m, struct mg_profile **order, struct mg_device **devices)
{
	for (size_t i = 0; i < m->devices.n; i++)
		devices[i] = &m->devices.p[i];
	qsort(devices, m->devices.n, sizeof *devices, by_identity);
	if (make_digests(m, devices) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < m->profiles.n; i++)
		order[i] = &m->profiles.p[i];
	qsort(order, m->profiles.n, sizeof *order, by_base);
	for (size_t i = 0; i < m->profiles.n; i++)
		order[i]->base = (uint32_t)i;
	if (refuse_twins(m, order) != NSX_OK || settle_claims(m, devices) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < m->devices.n; i++) {
		struct mg_profile *p = &m->profiles.p[m->devices.p[i].profile];
		if (m->devices.p[i].known && m->devices.p[i].number < p->lowest)
			p->lowest = m->devices.p[i].number;
	}
	qsort(order, m->profiles.n, sizeof *order, by_lowest);
	for (size_t i = 0; i < m->profiles.n; i++)
		order[i]->number = (int64_t)i;
	return NSX_OK;
}

NSX_ORDER_PTR(by_old_number, struct mg_profile, NSX_CMP(a->source, b->source),
              NSX_CMP(a->rec.v[NSX_PROFILE_profile].i, b->rec.v[NSX_PROFILE_profile].i))

NSX_ORDER_PTR(by_old_device, struct mg_device, NSX_CMP(a->source, b->source),
              NSX_CMP(a->rec.v[NSX_DEVICE_device].i, b->rec.v[NSX_DEVICE_device].i))

/* Streams in which the order of profiles or devices changes. */
static void
find_disorder(struct mg *m, struct mg_profile **order, struct mg_device **devices)
{
	qsort(devices, m->devices.n, sizeof *devices, by_old_device);
	for (size_t i = 1; i < m->devices.n; i++)
		if (devices[i - 1]->source == devices[i]->source && devices[i - 1]->number > devices[i]->number)
			m->sources[devices[i]->source].disordered = true;
	qsort(order, m->profiles.n, sizeof *order, by_old_number);
	for (size_t i = 1; i < m->profiles.n; i++)
		if (order[i - 1]->source == order[i]->source && order[i - 1]->number > order[i]->number)
			m->sources[order[i]->source].disordered = true;
}

int
nsx_merge_order(struct mg *m)
{
	struct mg_profile **order = malloc((m->profiles.n + 1) * sizeof *order);
	struct mg_device **devices = malloc((m->devices.n + 1) * sizeof *devices);
	int rc = order && devices ? NSX_OK : nsx_err_nomem(m->err, NULL);

	if (rc == NSX_OK)
		rc = refuse_unaligned(m);
	if (rc == NSX_OK)
		rc = number_profiles(m, order, devices);
	if (rc == NSX_OK)
		rc = number_devices(m);
	if (rc == NSX_OK)
		rc = report_twins(m);
	if (rc == NSX_OK)
		rc = report_communicators(m);
	if (rc == NSX_OK)
		find_disorder(m, order, devices);
	free(order);
	free(devices);
	return rc;
}
