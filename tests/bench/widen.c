/* widen.c -- make a stream of many times as many devices: copies of its reports and their devices, which did the same at
 * the same times and take part in the same collectives.
 * usage: widen TIMES < STREAM > STREAM
 * The output is binary. Copy m of a report or device has its number plus m times that of the input; programs and
 * instructions are shared; each replica group gets the copies of its members. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/members.h"
#include "stream/order.h"
#include "stream/pack.h"
#include "stream/reader.h"
#include "stream/writer.h"

struct job {
	struct nsx_err     err;
	struct nsx_reader *in;
	struct nsx_writer *out;
	int64_t            times, profiles, devices, processes;   /* of the input */
	struct nsx_buf     held;         /* metadata of one kind, of which copies follow */
	struct nsx_buf     text;
};

static void
die(struct job *j)
{
	fprintf(stderr, "widen: %s\n", j->err.msg);
	exit(1);
}

static void
add(struct nsx_rec *rec, int slot, int64_t by)
{
	if (slot >= 0 && nsx_has(rec, slot))
		rec->v[slot].i += by;
}

static void
rename_copy(struct job *j, struct nsx_rec *rec, int slot, int64_t m)
{
	if (!m || !nsx_has(rec, slot))
		return;
	j->text.len = 0;
	nsx_buf_str(&j->text, nsx_string(rec, slot));
	nsx_buf_fmt(&j->text, "-%" PRId64, m);
	nsx_set_s(rec, slot, nsx_buf_view(&j->text));
}

/* Write copy m of a record. */
static void
copy(struct job *j, struct nsx_rec *rec, int64_t m)
{
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec c = { rec->kind, rec->has, v };
	enum nsx_kind_id kind = rec->kind->id;

	for (int i = 0; i < NSX_MAX_COLS; i++)
		if (rec->has >> i & 1)
			v[i] = rec->v[i];
	add(&c, nsx_field(kind, NSX_ROLE_PROFILE), m * j->profiles);
	add(&c, nsx_field(kind, NSX_ROLE_DEVICE), m * j->devices);
	if (kind == NSX_DEVICE) {
		add(&c, NSX_DEVICE_process, m * j->processes);
		rename_copy(j, &c, NSX_DEVICE_uuid, m);
	}
	/* Names of reports keep their order, so that a merge would leave the numbers. */
	if (kind == NSX_PROFILE)
		rename_copy(j, &c, NSX_PROFILE_name, m);
	if (nsx_write(j->out, &c) != NSX_OK)
		die(j);
}

/* 0,1;2,3 of four devices -> 0,1,4,5;2,3,6,7 */
static void
widen_groups(struct job *j, struct nsx_rec *rec)
{
	struct nsx_members one = { 0 }, all = { 0 };

	if (nsx_members_read(&one, nsx_string(rec, NSX_GROUPS_members), NSX_MEMBERS_MAX) != NSX_OK
	    || !nsx_vec_room(&all.ids, one.ids.n * (size_t)j->times) || !nsx_vec_room(&all.ends, one.ends.n))
		die(j);
	for (size_t g = 0; g < one.ends.n; g++) {
		for (int64_t m = 0; m < j->times; m++)
			for (size_t i = nsx_members_begin(&one, g); i < one.ends.p[g]; i++)
				all.ids.p[all.ids.n++] = one.ids.p[i] + m * j->devices;
		all.ends.p[all.ends.n++] = all.ids.n;
	}
	j->text.len = 0;
	nsx_members_put(&all, &j->text);
	nsx_members_free(&one);
	nsx_members_free(&all);
	nsx_set_s(rec, NSX_GROUPS_members, nsx_buf_view(&j->text));
}

static bool
is_copied(const struct nsx_rec *rec)
{
	return nsx_field(rec->kind->id, NSX_ROLE_PROFILE) >= 0 || nsx_field(rec->kind->id, NSX_ROLE_DEVICE) >= 0;
}

static void
flush(struct job *j)
{
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec rec;

	for (int64_t m = 0; m < j->times; m++)
		for (const char *p = j->held.ptr, *end = p + j->held.len; p < end;) {
			p = nsx_unpack(p, &rec, v);
			copy(j, &rec, m);
		}
	j->held.len = 0;
}

static void
count(struct job *j, const struct nsx_rec *rec)
{
	if (rec->kind->id == NSX_PROFILE)
		j->profiles = nsx_int(rec, NSX_PROFILE_profile, 0) + 1;
	if (rec->kind->id == NSX_DEVICE && nsx_int(rec, NSX_DEVICE_device, 0) >= j->devices)
		j->devices = nsx_int(rec, NSX_DEVICE_device, 0) + 1;
	if (rec->kind->id == NSX_DEVICE && nsx_int(rec, NSX_DEVICE_process, 0) >= j->processes)
		j->processes = nsx_int(rec, NSX_DEVICE_process, 0) + 1;
}

/* Kinds of metadata and compilations come one after the other, work by time. */
static void
take(struct job *j, struct nsx_rec *rec, enum nsx_kind_id *last)
{
	bool held = nsx_rec_section(rec) < NSX_SECTION_WORK && is_copied(rec);

	if (rec->kind->id != *last || !held)
		flush(j);
	*last = rec->kind->id;
	count(j, rec);
	if (held) {
		nsx_pack(&j->held, rec);
		return;
	}
	if (rec->kind->id == NSX_GROUPS)
		widen_groups(j, rec);
	for (int64_t m = 0; m < (is_copied(rec) ? j->times : 1); m++)
		copy(j, rec, m);
}

int
main(int argc, char **argv)
{
	static struct job j;
	enum nsx_kind_id last = NSX_NKINDS;
	struct nsx_rec rec;
	int rc;

	j.times = argc == 2 ? atoll(argv[1]) : 0;
	if (j.times < 1) {
		fprintf(stderr, "usage: widen TIMES < STREAM > STREAM\n");
		return 2;
	}
	j.in = nsx_reader_open("-", NSX_READ_ORDERED, &j.err);
	j.out = nsx_writer_fd(STDOUT_FILENO, "standard output", true, 3, &j.err);
	if (!j.in || !j.out)
		die(&j);
	while ((rc = nsx_read(j.in, &rec)) == NSX_OK)
		if (rec.kind->id != NSX_END)
			take(&j, &rec, &last);
	flush(&j);
	if (rc != NSX_EOF || j.held.failed || j.text.failed || nsx_writer_finish(j.out) != NSX_OK)
		die(&j);
	nsx_writer_free(j.out);
	nsx_reader_close(j.in);
	nsx_buf_free(&j.held);
	nsx_buf_free(&j.text);
	return 0;
}
