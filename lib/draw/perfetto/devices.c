/* devices.c -- which devices are drawn: those asked for; or of many those that a reader looks for first, for a viewer
 * opens no trace of a thousand devices, and shows none. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/sort.h"
#include "draw/perfetto/trace.h"
#include "job/activity.h"
#include "job/pace.h"
#include "job/reach.h"
#include "stream/spool.h"

/* Up to MANY devices all are drawn. Of more: those that wait least in collectives, since the others wait for these,
 * also where many are late and each is the last one seldom; those with the highest pace; and the first ones, SOME in
 * all. */
enum { MANY = 64, SOME = 32, LATEST = 8, SLOWEST = 8 };

/* What a first reading finds of a device. wait: the mean of its records, in ns; less than 0: not known. */
struct seen { int64_t number; double wait, pace; };
struct waits { double ns; int64_t n; };

struct looking {
	struct nsx_err      *err;
	struct nsx_catalogue cat;
	struct nsx_intern    kernels;
	struct nsx_map       waits_of;        /* device -> waits */
	NSX_VEC(struct waits) waits;
	struct nsx_map       time_of;         /* (device, kernel) -> times */
	NSX_VEC(struct nsx_pace_time) times;
	NSX_VEC(struct seen) devices;
};

static int
take_wait(struct looking *l, const struct nsx_rec *rec)
{
	int64_t wait = nsx_int(rec, NSX_COLLECTIVE_wait, -1);
	uint32_t at;

	if (wait < 0 || !nsx_has(rec, NSX_COLLECTIVE_device))
		return NSX_OK;
	at = nsx_map_number(&l->waits_of, (struct nsx_key){ (uint64_t)rec->v[NSX_COLLECTIVE_device].i, 0 });
	if (at == NSX_NONE || (at == l->waits.n && !nsx_vec_push(&l->waits, ((struct waits){ 0, 0 }))))
		return nsx_err_nomem(l->err, NULL);
	l->waits.p[at].ns += (double)wait;
	l->waits.p[at].n++;
	return NSX_OK;
}

static int
take_kernel(struct looking *l, const struct nsx_rec *rec)
{
	int64_t device = nsx_int(rec, NSX_OP_device, NSX_ABSENT), dur = nsx_int(rec, NSX_OP_dur, -1);
	uint32_t name, at;

	if (device == NSX_ABSENT || dur < 0 || !nsx_in_reach(rec)
	    || nsx_part_of(rec, nsx_cat_communicates(&l->cat, rec)) != NSX_PART_COMPUTE)
		return NSX_OK;
	name = nsx_intern(&l->kernels, nsx_string(rec, NSX_OP_name));
	at = name == NSX_NONE ? name : nsx_map_number(&l->time_of, (struct nsx_key){ (uint64_t)device, name });
	if (at == NSX_NONE
	    || (at == l->times.n && !nsx_vec_push(&l->times, ((struct nsx_pace_time){ device, name, 0, 0 }))))
		return nsx_err_nomem(l->err, NULL);
	l->times.p[at].count++;
	l->times.p[at].ns += (nsx_u128)dur;
	return NSX_OK;
}

static int
look(void *state, const struct nsx_rec *rec)
{
	struct looking *l = state;

	switch (rec->kind->id) {
	case NSX_COLLECTIVE: return take_wait(l, rec);
	case NSX_OP:         return take_kernel(l, rec);
	default:             return nsx_cat_take(&l->cat, rec, l->err);
	}
}

NSX_ORDER(by_device, struct nsx_pace_time, NSX_CMP(a->device, b->device), NSX_CMP(a->name, b->name))

NSX_ORDER(by_number, struct seen, NSX_CMP(a->number, b->number))

NSX_ORDER(by_wait, struct seen, NSX_CMP(a->wait < 0, b->wait < 0), NSX_CMP(a->wait, b->wait),
          NSX_CMP(a->number, b->number))

NSX_ORDER(by_pace, struct seen, NSX_CMP(b->pace, a->pace), NSX_CMP(a->number, b->number))

static bool
draw(struct nsx_perfetto_devices *d, int64_t number)
{
	uint32_t *at = nsx_map_at(&d->drawn, (struct nsx_key){ (uint64_t)number, 0 });

	if (at && *at == NSX_NONE) {
		*at = 1;
		return nsx_vec_push(&d->numbers, number);
	}
	return at != NULL;
}

/* The first of all devices by that order, up to `most` in all, of which something is known. */
static bool
draw_first(struct nsx_perfetto_devices *d, struct looking *l, int (*order)(const void *, const void *), size_t most)
{
	qsort(l->devices.p, l->devices.n, sizeof *l->devices.p, order);
	for (size_t i = 0; i < l->devices.n && d->numbers.n < most; i++) {
		const struct seen *s = &l->devices.p[i];

		if ((order == by_wait && s->wait < 0) || (order == by_pace && s->pace == 0))
			break;
		if (!draw(d, s->number))
			return false;
	}
	return true;
}

/* Choose by what was seen. */
static int
choose(struct nsx_perfetto_devices *d, struct looking *l)
{
	struct nsx_paces paces = { 0 };
	int rc = NSX_OK;

	if (l->times.n > 1)
		qsort(l->times.p, l->times.n, sizeof *l->times.p, by_device);
	if (l->times.n)
		rc = nsx_paces_of(l->times.p, l->times.n, &paces, l->err);
	for (size_t i = 0; i < l->cat.devices.n && rc == NSX_OK; i++) {
		int64_t number = l->cat.devices.p[i].number;
		uint32_t at = nsx_map_get(&l->waits_of, (struct nsx_key){ (uint64_t)number, 0 });
		const struct nsx_pace *pace = nsx_paces_find(&paces, number);
		const struct waits *w = at == NSX_NONE ? NULL : &l->waits.p[at];
		struct seen s = { number, w ? w->ns / (double)w->n : -1, pace ? pace->pace : 0 };

		if (!nsx_vec_push(&l->devices, s))
			rc = nsx_err_nomem(l->err, NULL);
	}
	if (rc == NSX_OK && (!draw_first(d, l, by_wait, LATEST) || !draw_first(d, l, by_pace, LATEST + SLOWEST)
	                     || !draw_first(d, l, by_number, SOME)))
		rc = nsx_err_nomem(l->err, NULL);
	free(paces.list.p);
	return rc;
}

/* The number of devices of a stream that can be read again: its metadata come first. -1 with err filled. */
static int64_t
count(struct nsx_spool *spool)
{
	struct nsx_reader *again = nsx_spool_reader(spool);
	struct nsx_rec rec;
	int64_t n = 0;
	int rc = again ? NSX_OK : NSX_ERR;

	while (rc == NSX_OK && (rc = nsx_read(again, &rec)) == NSX_OK && rec.kind->id <= NSX_DEVICE)
		n += rec.kind->id == NSX_DEVICE;
	nsx_reader_close(again);
	return rc == NSX_ERR ? -1 : n;
}

int
nsx_perfetto_devices_find(struct nsx_perfetto_devices *d, const struct nsx_reader *in, struct nsx_err *err)
{
	struct looking l = { .err = err };
	struct nsx_spool *spool = NULL;
	struct nsx_reader *again = NULL;
	int64_t n = 0;
	int rc = NSX_OK;

	if (!nsx_spool_again(in))
		return NSX_OK;
	n = (spool = nsx_spool_open_all(in, err)) ? count(spool) : -1;
	nsx_spool_free(spool);
	if (n <= MANY)
		return n < 0 ? NSX_ERR : NSX_OK;
	spool = nsx_spool_open_all(in, err);
	rc = spool && (again = nsx_spool_reader(spool)) ? NSX_OK : NSX_ERR;
	if (rc == NSX_OK) {
		nsx_cat_need(&l.cat, again);
		nsx_reader_need(again, NSX_COLLECTIVE, NSX_C(COLLECTIVE, device) | NSX_C(COLLECTIVE, wait));
		nsx_reader_need(again, NSX_OP, nsx_field_slots(NSX_OP, NSX_REACH_ROLES | NSX_CAT_COMM_ROLES)
		                               | NSX_C(OP, device) | NSX_C(OP, type) | NSX_C(OP, name));
		rc = nsx_read_all(again, NULL, look, &l, err);
	}
	if (rc == NSX_OK)
		rc = choose(d, &l);
	d->chosen = rc == NSX_OK;
	nsx_reader_close(again);
	nsx_spool_free(spool);
	nsx_cat_free(&l.cat);
	nsx_intern_free(&l.kernels);
	nsx_map_free(&l.waits_of);
	nsx_map_free(&l.time_of);
	free(l.waits.p);
	free(l.times.p);
	free(l.devices.p);
	return rc;
}

/* ---- while drawing */

/* Whether a device is drawn: by its number, in the order of records of metadata. */
static bool
is_drawn(struct nsx_perfetto_devices *d, int64_t number)
{
	for (size_t i = 0; i < d->nranges; i++)
		if (number >= d->ranges[i].from && number <= d->ranges[i].to)
			return true;
	return d->chosen ? nsx_map_get(&d->drawn, (struct nsx_key){ (uint64_t)number, 0 }) != NSX_NONE
	                 : !d->nranges && d->seen <= MANY;
}

int
nsx_perfetto_devices_take(struct nsx_perfetto_devices *d, const struct nsx_rec *device, struct nsx_err *err)
{
	int64_t number = nsx_field_int(device, NSX_ROLE_DEVICE, NSX_ABSENT);
	struct nsx_key process = { (uint64_t)nsx_field_int(device, NSX_ROLE_PROFILE, NSX_ABSENT),
	                           (uint64_t)nsx_field_int(device, NSX_ROLE_PID, NSX_ABSENT) };
	uint32_t *at;

	d->seen++;
	if (!is_drawn(d, number)) {
		d->left_out++;
		return NSX_OK;
	}
	/* The map then has all devices that are drawn, and the processes of these. */
	at = draw(d, number) ? nsx_map_at(&d->process, process) : NULL;
	if (!at)
		return nsx_err_nomem(err, NULL);
	*at = 1;
	return NSX_OK;
}

bool
nsx_perfetto_devices_has(const struct nsx_perfetto_devices *d, const struct nsx_rec *rec)
{
	int64_t device = nsx_field_int(rec, NSX_ROLE_DEVICE, NSX_ABSENT);
	uint64_t profile = (uint64_t)nsx_field_int(rec, NSX_ROLE_PROFILE, NSX_ABSENT);

	if (!d->left_out)
		return true;
	if (device != NSX_ABSENT)
		return nsx_map_get(&d->drawn, (struct nsx_key){ (uint64_t)device, 0 }) != NSX_NONE;
	/* Of a device whose process is not known the host's records are those of its report. */
	return nsx_map_get(&d->process, (struct nsx_key){ profile, (uint64_t)nsx_field_int(rec, NSX_ROLE_PID,
	                                                                                  NSX_ABSENT) }) != NSX_NONE
	       || nsx_map_get(&d->process, (struct nsx_key){ profile, (uint64_t)NSX_ABSENT }) != NSX_NONE;
}

/* The numbers that are drawn: 0-15,1023. */
static void
put_numbers(struct nsx_perfetto_devices *d, struct nsx_buf *b)
{
	qsort(d->numbers.p, d->numbers.n, sizeof *d->numbers.p, nsx_sort_by_int);
	for (size_t i = 0, k; i < d->numbers.n; i = k) {
		for (k = i + 1; k < d->numbers.n && d->numbers.p[k] == d->numbers.p[k - 1] + 1; k++)
			;
		nsx_buf_fmt(b, "%s%" PRId64, i ? "," : "", d->numbers.p[i]);
		if (k > i + 1)
			nsx_buf_fmt(b, "-%" PRId64, d->numbers.p[k - 1]);
	}
}

void
nsx_perfetto_devices_say(struct nsx_perfetto_devices *d, struct nsx_diags *diags)
{
	struct nsx_buf b = { 0 };

	if (d->numbers.n)
		put_numbers(d, &b);
	nsx_buf_char(&b, '\0');
	diags->failed |= b.failed;
	if (!d->nranges)
		nsx_diag_add(diags, NSX_WARNING, "", d->left_out, d->chosen
		             ? "devices not drawn: of many only those that wait least in collectives, the slowest "
		               "and the first ones are (%s); --devices chooses others"
		             : "devices not drawn: of many only the first ones are (%s), for the stream cannot be read "
		               "twice; --devices chooses others", b.failed ? "" : b.ptr);
	nsx_buf_free(&b);
}

void
nsx_perfetto_devices_free(struct nsx_perfetto_devices *d)
{
	nsx_map_free(&d->drawn);
	nsx_map_free(&d->process);
	free(d->numbers.p);
}
