/* align.c -- numerical parts of nsysx-align against brute force and known results; the queue that restores order. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "filter/align/aligning.h"
#include "base/outfile.h"
#include "stream/codec.h"
#include "tap.h"

static uint64_t state = 4711;

static int
below(int n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int)((state >> 33) % (uint64_t)n);
}

static void
rounding(void)
{
	const struct { al_wide a, b; int64_t want; } t[] = {
		{ 5, 2, 3 }, { -5, 2, -3 }, { 4, 3, 1 }, { -4, 3, -1 }, { 5, 3, 2 }, { -5, 3, -2 }, { 0, 7, 0 }, { 1, 2, 1 }, { -1, 2, -1 },
		{ (al_wide)INT64_MAX * 4, 2, INT64_MAX }, { (al_wide)INT64_MIN * 4, 2, INT64_MIN }, { (al_wide)INT64_MAX * 3, 3, INT64_MAX },
	};
	int64_t v[] = { INT64_MAX, INT64_MIN, 7 }, w[] = { 4, 1, 2, 3 }, x[] = { INT64_MIN, INT64_MAX };

	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		is_int(nsx_align_round_div(t[i].a, t[i].b), t[i].want, "division %zu is rounded to the nearest, halves away from zero", i);
	is_int(nsx_align_median(v, 3), 7, "median of three");
	is_int(nsx_align_median(w, 4), 2, "median of four is between the two in the middle");
	is_int(nsx_align_median(x, 2), -1, "median of the extremes does not overflow");
}

static void
fixes(void)
{
	const struct al_fix half = { 0.5, 0, 0 }, minus = { -0.5, 0, 0 }, drift = { 100, 1e-6, 1000000 }, more = { -40.25, -2e-6, 900000 };
	struct al_fix both = nsx_align_compose(&drift, &more), still = { 10, 0, 0 };
	int bad = 0;

	is_int(nsx_align_fixed(&half, 10), 9, "half a nanosecond is one");
	is_int(nsx_align_fixed(&minus, 10), 11, "either way");
	is_int(nsx_align_fixed(&drift, 1000000), 999900, "at ref the offset holds");
	is_int(nsx_align_fixed(&drift, 3000000), 2999898, "and grows by the rate");
	is_int(nsx_align_fixed(&(struct al_fix){ 1e300, 0, 0 }, INT64_MIN), INT64_MIN, "no correction overflows");
	is_int(both.ref, 1000000, "ref of the first stays");
	for (int64_t t = -5000000; t < 5000000; t += 12345)
		bad += llabs(nsx_align_fixed(&both, t) - nsx_align_fixed(&more, nsx_align_fixed(&drift, t))) > 1;
	is_int(bad, 0, "two corrections in one");
	both = nsx_align_compose(&still, &drift);
	is_int(both.ref, 1000010, "without a rate before, ref is where the second has it, on the first clock");
	bad = 0;
	for (int64_t t = -5000000; t < 5000000; t += 12345)
		bad += nsx_align_fixed(&both, t) != nsx_align_fixed(&drift, nsx_align_fixed(&still, t));
	is_int(bad, 0, "an offset, then a rate");
	bad = 0;
	for (int64_t t = 0; t < 100000; t++)
		bad += nsx_align_fixed(&(struct al_fix){ 0.3, AL_RATE_LIMIT, 0 }, t + 1) < nsx_align_fixed(&(struct al_fix){ 0.3, AL_RATE_LIMIT, 0 }, t);
	is_int(bad, 0, "no rate allowed puts times out of order");
}

static void
line(void)
{
	enum { N = 201 };
	double t[N], s[N], work[2 * N], a, b;

	for (int i = 0; i < N; i++) {
		t[i] = (i - 100) * 1e6;
		s[i] = 5000 + 2e-5 * t[i];
		if (i % 3 == 0)
			s[i] += below(1000000);
	}
	nsx_align_line(t, s, N, &a, &b, work);
	ok(fabs(a - 5000) < 1 && fabs(b - 2e-5) < 1e-8, "a line through two thirds of the points: %g + %g t", a, b);
	for (int i = 0; i < N; i++)
		s[i] = 7 + 2e-5 * t[i] + below(2001) - 1000;
	nsx_align_line(t, s, N, &a, &b, work);
	ok(fabs(a - 7) < 250 && fabs(b - 2e-5) < 5e-6, "a line through noise: %g + %g t", a, b);
	nsx_align_line(t, s, 1, &a, &b, work);
	ok(a == s[0] && b == 0, "one point has no slope");
}

/* Nodes in a ring of groups of two neighbours: the worst case for the distance of the ends. */
static void
ring(uint32_t n, int wild)
{
	uint32_t *node = malloc(4 * n * sizeof *node), *star = malloc(4 * n * sizeof *star);
	double *y = malloc(4 * n * sizeof *y), *w = malloc(4 * n * sizeof *w), *x = calloc(n, sizeof *x), *want = malloc(n * sizeof *want);
	struct al_star_data d = { 0, node, star, y, w };
	double worst = 0, mean = 0;

	for (uint32_t i = 0; i < n; i++)
		want[i] = below(10000000) - 5000000;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t hop = 1; hop <= 2; hop++) {
			uint32_t k = (i + hop) % n, s = 2 * i + hop - 1;
			double off = below(1000000) + (wild && i % 7 == 3 && hop == 2 ? 3e6 : 0);
			for (int e = 0; e < 2; e++, d.n++) {
				node[d.n] = e ? k : i;
				star[d.n] = s;
				y[d.n] = want[node[d.n]] + (e ? off : 0) * (off >= 1e6) + s * 10.0;
				w[d.n] = 20;
			}
		}
	bool good = nsx_align_stars(&d, n, 2 * n, x);
	for (uint32_t i = 0; i < n; i++)
		mean += (x[i] - want[i]) / n;
	for (uint32_t i = 0; i < n; i++)
		worst = fmax(worst, fabs(x[i] - want[i] - mean));
	ok(good && worst < 1, "a ring of %u devices%s is solved to %g ns", n, wild ? ", a few groups wild," : "", worst);
	free(node);
	free(star);
	free(y);
	free(w);
	free(x);
	free(want);
}

/* ---- the queue ---- */

enum { RECORDS = 4000 };

struct item { int64_t start, dur, device; int kind, seq; };

static int
by_order(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind - y->kind;
	if (x->dur != y->dur)
		return x->dur > y->dur ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->seq - y->seq;
}

static int
feed(struct item *it, size_t limit, struct nsx_writer *out, struct nsx_err *err)
{
	const struct nsx_kind *module = nsx_kind_builtin(NSX_MODULE), *thunk = nsx_kind_builtin(NSX_THUNK);
	struct al_queue *q = nsx_align_queue_new(limit, out, err);
	union nsx_val v[NSX_MAX_COLS];
	int rc = NSX_OK;

	for (int i = 0; i < RECORDS && rc == NSX_OK; i++) {
		struct nsx_rec rec = { it[i].kind ? thunk : module, 0, v };
		bool full, m = !it[i].kind;

		/* Each device's records come in order, up to 300 early. */
		it[i].start = i / 3 - it[i].device * 100 + below(1);
		nsx_set_i(&rec, m ? NSX_MODULE_start : NSX_THUNK_start, it[i].start);
		nsx_set_i(&rec, m ? NSX_MODULE_dur : NSX_THUNK_dur, it[i].dur);
		nsx_set_i(&rec, m ? NSX_MODULE_device : NSX_THUNK_device, it[i].device);
		nsx_set_i(&rec, m ? NSX_MODULE_thunks : NSX_THUNK_ops, it[i].seq);
		nsx_set_s(&rec, m ? NSX_MODULE_name : NSX_THUNK_name, NSX_STR("same"));
		rc = nsx_align_queue_add(q, &rec, &full);
		if (rc == NSX_OK && full)
			rc = nsx_align_queue_release(q, i / 3 - 300);
	}
	if (rc == NSX_OK)
		rc = nsx_align_queue_flush(q);
	nsx_align_queue_free(q);
	return rc;
}

static void
queue(const char *claim, size_t limit)
{
	static struct item it[RECORDS];
	struct nsx_err err = { "" };
	int fd = nsx_tmpfile(&err), bad = 0, n = 0, rc;
	struct nsx_writer *out = nsx_writer_fd(fd, "out", false, 0, &err);
	struct nsx_rec rec;

	for (int i = 0; i < RECORDS; i++)
		it[i] = (struct item){ 0, below(4), below(4), below(2), i };
	rc = out ? feed(it, limit, out, &err) : NSX_ERR;
	ok(rc == NSX_OK && nsx_writer_finish(out) == NSX_OK && lseek(fd, 0, SEEK_SET) == 0, "%s: written%s%s", claim, err.msg[0] ? ": " : "", err.msg);
	nsx_writer_free(out);
	qsort(it, RECORDS, sizeof *it, by_order);
	struct nsx_reader *in = nsx_reader_fd(fd, "out", NSX_READ_ORDERED, &err);
	while ((rc = nsx_read(in, &rec)) == NSX_OK && n < RECORDS) {
		bool m = rec.kind->id == NSX_MODULE;
		bad += nsx_int(&rec, m ? NSX_MODULE_thunks : NSX_THUNK_ops, -1) != it[n++].seq;
	}
	nsx_reader_close(in);
	ok(rc == NSX_EOF && n == RECORDS && bad == 0, "%s: in order, equal ones as they came", claim);
}

int
main(void)
{
	rounding();
	fixes();
	line();
	ring(3, 0);
	ring(200, 0);
	ring(200, 1);
	queue("all in memory", 1 << 20);
	queue("some in memory", 20000);
	queue("little in memory", 3000);
	return done();
}
