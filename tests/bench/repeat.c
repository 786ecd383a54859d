/* repeat.c -- make a stream many times as long: its work repeatedly, each time later, everything else once.
 * usage: repeat TIMES [same] < STREAM > STREAM
 * The output is binary. Executions continue their numbers, or with `same` keep them; ranges, operations and calls get new numbers.
 * Devices lose what they say of their last operation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "stream/order.h"
#include "stream/pack.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* Columns that increase with each repetition, and their slots in kinds; -1: none. */
enum { START, HOST_START, EXECUTION, RANGE, PARENT, OP, CALL, NCOLS };
static const char *const names[NCOLS] = { "start", "host_start", "execution", "range", "parent", "op", "call" };

struct job {
	struct nsx_err     err;
	struct nsx_reader *in;
	struct nsx_writer *out;
	struct nsx_buf     work;         /* its records */
	int                slots[NSX_NKINDS][NCOLS];
	int64_t            step[NCOLS];  /* by which it grows */
	int64_t            first, last;  /* times of the work */
};

static void
die(struct job *j)
{
	fprintf(stderr, "repeat: %s\n", j->err.msg);
	exit(1);
}

static void
find_slots(struct job *j)
{
	for (int k = 0; k < NSX_NKINDS; k++)
		for (int c = 0; c < NCOLS; c++)
			j->slots[k][c] = nsx_kind_slot(nsx_kind_builtin((enum nsx_kind_id)k), nsx_str_c(names[c]));
}

static void
keep(struct job *j, const struct nsx_rec *rec)
{
	const int *slot = j->slots[rec->kind->id];
	int64_t start = 0, end = nsx_order_end(rec);

	nsx_order_time(rec, &start);

	j->first = start < j->first ? start : j->first;
	j->last = end > j->last ? end : j->last;
	for (int c = EXECUTION; c < NCOLS; c++)
		if (slot[c] >= 0 && nsx_int(rec, slot[c], 0) >= j->step[c])
			j->step[c] = rec->v[slot[c]].i + 1;
	nsx_pack(&j->work, rec);
}

static void
repeat(struct job *j, int64_t times, bool same)
{
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec rec;

	j->step[START] = j->step[HOST_START] = j->last - j->first + 1;
	if (j->step[PARENT] > j->step[RANGE])
		j->step[RANGE] = j->step[PARENT];
	j->step[PARENT] = j->step[RANGE];
	if (same)
		j->step[EXECUTION] = 0;
	for (int64_t t = 0; t < times; t++)
		for (const char *p = j->work.ptr, *end = p + j->work.len; p < end;) {
			p = nsx_unpack(p, &rec, v);
			for (int c = 0; c < NCOLS; c++)
				if (j->slots[rec.kind->id][c] >= 0 && nsx_has(&rec, j->slots[rec.kind->id][c]))
					v[j->slots[rec.kind->id][c]].i += t * j->step[c];
			if (nsx_write(j->out, &rec) != NSX_OK)
				die(j);
		}
	j->work.len = 0;
}

int
main(int argc, char **argv)
{
	static struct job j = { .first = INT64_MAX, .last = INT64_MIN };
	bool same = argc == 3 && strcmp(argv[2], "same") == 0;
	int64_t times = argc == 2 || same ? atoll(argv[1]) : 0;
	struct nsx_rec rec;
	int rc;

	if (times < 1) {
		fprintf(stderr, "usage: repeat TIMES [same] < STREAM > STREAM\n");
		return 2;
	}
	find_slots(&j);
	j.in = nsx_reader_open("-", NSX_READ_ORDERED, &j.err);
	j.out = nsx_writer_fd(STDOUT_FILENO, "standard output", true, 0, &j.err);
	if (!j.in || !j.out)
		die(&j);
	while ((rc = nsx_read(j.in, &rec)) == NSX_OK) {
		enum nsx_section section = nsx_rec_section(&rec);

		if (section == NSX_SECTION_WORK) {
			keep(&j, &rec);
			continue;
		}
		if (section > NSX_SECTION_WORK && j.work.len)
			repeat(&j, times, same);
		if (rec.kind->id == NSX_DEVICE)
			nsx_clear(&rec, NSX_DEVICE_last);
		if (nsx_write(j.out, &rec) != NSX_OK)
			die(&j);
	}
	if (j.work.len)
		repeat(&j, times, same);
	if (rc != NSX_EOF || j.work.failed || nsx_writer_finish(j.out) != NSX_OK)
		die(&j);
	nsx_writer_free(j.out);
	nsx_reader_close(j.in);
	nsx_buf_free(&j.work);
	return 0;
}
