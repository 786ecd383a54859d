/* overlap.c -- nsx_overlap against brute force: on small times every nanosecond is marked and counted. */
#include "filter/overlap.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/outfile.h"
#include "stream/codec.h"
#include "tap.h"

enum { TIME = 120, DEVICES = 3, THUNKS = 60 };

struct thunk { int device, start, dur, comm; };

static uint64_t state = 12345;

static int
below(int n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int)((state >> 33) % (uint64_t)n);
}

static int
by_start(const void *a, const void *b)
{
	return ((const struct thunk *)a)->start - ((const struct thunk *)b)->start;
}

/* n thunks in order, as a stream; every third or so with a module record before it. */
static void
make(struct nsx_buf *b, struct thunk *t, int n, int longest)
{
	for (int i = 0; i < n; i++)
		t[i] = (struct thunk){ below(DEVICES), below(TIME), below(longest), below(2) };
	qsort(t, (size_t)n, sizeof *t, by_start);
	b->len = 0;
	nsx_buf_c(b, "#nsysx\t2\n#thunk\tdevice:i\tname:s\tstart:i\tdur:i\tcomm:i\n#module\tstart:i\n");
	for (int i = 0; i < n; i++) {
		if (below(3) == 0 && (i == 0 || t[i - 1].start < t[i].start))
			nsx_buf_fmt(b, "module\t%d\n", t[i].start);
		nsx_buf_fmt(b, "thunk\t%d\tt%d\t%d\t%d\t%d\n", t[i].device, i, t[i].start, t[i].dur, t[i].comm);
	}
	nsx_buf_c(b, "#end\trecords:i\nend\t0\n");
}

static int
count_hidden(const struct thunk *t, int n, const struct thunk *c)
{
	int hidden = 0;

	for (int at = c->start; c->comm && at < c->start + c->dur; at++)
		for (int i = 0; i < n; i++)
			if (!t[i].comm && t[i].device == c->device && t[i].start <= at && at < t[i].start + t[i].dur) {
				hidden++;
				break;
			}
	return hidden;
}

/* The output of nsx_overlap in a temporary file, at its beginning; -1 on failure. */
static int
run(const struct nsx_buf *b, size_t hold, struct nsx_err *err)
{
	struct nsx_diags diags = { 0 };
	int fd = nsx_tmpfile(err);
	struct nsx_reader *in = nsx_reader_mem(b->ptr, b->len, "made", NSX_READ_ORDERED, err);
	struct nsx_writer *out = nsx_writer_fd(fd, "out", false, 0, err);
	bool good = in && out && nsx_overlap(in, out, hold, &diags, err) == NSX_OK && nsx_writer_finish(out) == NSX_OK
	            && lseek(fd, 0, SEEK_SET) == 0;

	nsx_writer_free(out);
	nsx_reader_close(in);
	nsx_diags_free(&diags);
	if (good)
		return fd;
	close(fd);
	return -1;
}

/* Thunks whose hidden time differs from a count, or that are out of order; -1 on failure. */
static int
wrong(int fd, const struct thunk *t, int n, struct nsx_err *err)
{
	struct nsx_reader *in = nsx_reader_fd(fd, "out", NSX_READ_ORDERED, err);
	struct nsx_rec rec;
	int i = 0, bad = 0, rc;

	while ((rc = nsx_read(in, &rec)) == NSX_OK) {
		char name[20];

		if (rec.kind->id != NSX_THUNK)
			continue;
		snprintf(name, sizeof name, "t%d", i);
		bad += i >= n || !nsx_str_eq(nsx_string(&rec, NSX_THUNK_name), nsx_str_c(name))
		       || nsx_int(&rec, NSX_THUNK_hidden, -1) != count_hidden(t, n, &t[i]);
		i++;
	}
	nsx_reader_close(in);
	return rc == NSX_EOF ? bad + (i != n) : -1;
}

static void
against_counting(const char *claim, int longest, size_t hold)
{
	struct thunk t[THUNKS];
	struct nsx_buf b = { 0 };
	int bad = 0, hidden = 0;

	for (int round = 0; round < 200; round++) {
		struct nsx_err err = { "" };
		int n = below(THUNKS) + 1;

		make(&b, t, n, longest);
		int fd = run(&b, hold, &err);
		int w = fd < 0 ? -1 : wrong(fd, t, n, &err);
		bad += w != 0;
		if (w != 0 && bad == 1)
			printf("# round %d: %d wrong; %s\n%.*s", round, w, err.msg, (int)b.len, b.ptr);
		for (int i = 0; i < n; i++)
			hidden += count_hidden(t, n, &t[i]) > 0;
	}
	nsx_buf_free(&b);
	is_int(bad, 0, "%s", claim);
	ok(hidden > 100, "%s: there was something to hide", claim);
}

int
main(void)
{
	against_counting("short thunks, all in memory", 12, 1 << 20);
	against_counting("long thunks, all in memory", TIME, 1 << 20);
	against_counting("some in temporary files", 40, 400);
	against_counting("all in temporary files", 40, 0);
	return done();
}
