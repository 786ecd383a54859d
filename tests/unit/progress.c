/* progress.c -- the counters, the text of the line, and how it fits a terminal. */
#include "base/progress.h"

#include "tap.h"

#define SECOND INT64_C(1000000000)

static char out[512];

static const char *
line(int width, const char *name, struct nsx_progress p, int64_t left, int64_t elapsed)
{
	size_t n = nsx_progress_line(out, sizeof out, width, "nsysx-x", name, &p, left, elapsed);

	return n == strlen(out) ? out : "(another length)";
}

static struct nsx_progress
of(uint64_t done, uint64_t total)
{
	return (struct nsx_progress){ done, total, 0, NULL };
}

static void
lines(void)
{
	is_str(line(100, "r0.sqlite", (struct nsx_progress){ 1204000000, 2800000000, 5, "NVTX ranges" }, 8 * SECOND, SECOND),
	   "nsysx-x: r0.sqlite: NVTX ranges 43 %  1.20 GB of 2.80 GB  8 s left", "all parts of the line");
	is_str(line(100, "", of(0, 999), -1, 0), "nsysx-x: 0 %  0 B of 999 B", "without a name, a phase, an estimate");
	is_str(line(100, "", of(999, 1000), -1, 0), "nsysx-x: 99 %  999 B of 1.00 kB", "a percentage is never rounded up");
	is_str(line(100, "", of(999499, 999500), -1, 0), "nsysx-x: 99 %  999 kB of 1.00 MB", "numbers have at most three digits before the point");
	is_str(line(100, "", of(UINT64_MAX, UINT64_MAX), -1, 0), "nsysx-x: 100 %  18.4 EB of 18.4 EB", "the maximum");
	is_str(line(100, "a", (struct nsx_progress){ 0, 0, 12345678, NULL }, -1, 8 * SECOND), "nsysx-x: a: 12.3 M records  1.54 M/s", "no end known: records and their rate");
	is_str(line(100, "", (struct nsx_progress){ 0, 0, 7, NULL }, -1, 2 * SECOND), "nsysx-x: 7 records  3/s", "few of them");
	is_str(line(100, "", (struct nsx_progress){ 0, 0, 7, "first pass" }, -1, 0), "nsysx-x: first pass  7 records", "within a phase, no time");
	is_str(line(100, "", (struct nsx_progress){ 0, 0, 0, "unpacking" }, -1, 0), "nsysx-x: unpacking", "a phase alone");
}

static void
times(void)
{
	static const struct { int64_t left; const char *want; } is_told[] = {
		{ 0, "1 s left" }, { 1, "1 s left" }, { SECOND + 1, "2 s left" }, { 99 * SECOND, "99 s left" },
		{ 99 * SECOND + 1, "2 min left" }, { 5940 * SECOND, "99 min left" }, { 5940 * SECOND + 1, "1 h 40 min left" },
		{ 86400 * SECOND, "24 h 0 min left" }, { INT64_MAX, "2562047 h 48 min left" },
	};

	for (size_t i = 0; i < sizeof is_told / sizeof *is_told; i++) {
		const char *got = line(100, "", of(1, 4), is_told[i].left, 0);
		is_str(got + strlen("nsysx-x: 25 %  1 B of 4 B  "), is_told[i].want, "%" PRId64 " ns", is_told[i].left);
	}
}

static void
widths(void)
{
	const char *name = "a-name-of-forty-characters-in-all.sqlite";
	struct nsx_progress p = { 10, 20, 0, NULL };
	const char *whole = "nsysx-x: a-name-of-forty-characters-in-all.sqlite: 50 %  10 B of 20 B";
	int most = (int)strlen(whole), good = 0;

	is_str(line(most, name, p, -1, 0), whole, "a line as wide as the terminal");
	is_str(line(most - 1, name, p, -1, 0), "nsysx-x: ...me-of-forty-characters-in-all.sqlite: 50 %  10 B of 20 B", "one narrower: the name gives way");
	is_str(line(most - 32, name, p, -1, 0), "nsysx-x: ...qlite: 50 %  10 B of 20 B", "down to its last letters");
	is_str(line(most - 33, name, p, -1, 0), "nsysx-x: 50 %  10 B of 20 B", "then the name is dropped");
	is_str(line(9, name, p, -1, 0), "nsysx-x: ", "then the line is cut");
	for (int w = -1; w < 200; w++)
		good += strlen(line(w, name, p, SECOND, 0)) <= (size_t)(w < 0 ? 0 : w);
	ok(good == 201, "no line exceeds its width");
	is_str(line(100, "\xc3\xa4\t\x1b[31m\x7f.sqlite", p, -1, 0), "nsysx-x: \xc3\xa4\\x09\\x1B[31m\\x7F.sqlite: 50 %  10 B of 20 B", "a name moves no cursor");
	is_str(line(100, "\xc2\x9b""2J\xe2\x80\xae\xff", p, -1, 0), "nsysx-x: \\xC2\\x9B2J\\xE2\\x80\\xAE\\xFF: 50 %  10 B of 20 B", "nor does a control character above U+0080, a direction mark or invalid UTF-8");
	is_str(line(most - 30, "\xe5\x88\x97\xe8\xbb\x8a\xe5\x88\x97\xe8\xbb\x8a\xe5\x88\x97\xe8\xbb\x8a.sqlite", p, -1, 0), "nsysx-x: ....sqlite: 50 %  10 B of 20 B", "a wide character that would not fit whole is not there");

	char small[16];
	ok(nsx_progress_line(small, sizeof small, 100, "nsysx-x", name, &p, -1, 0) == strlen(small) && strlen(small) < sizeof small, "nor longer than its room");
}

static void
estimates(void)
{
	struct nsx_progress p = of(250, 1000);

	ok(nsx_progress_left(&p, 0, SECOND) == 3 * SECOND, "a quarter in a second: three more");
	ok(nsx_progress_left(&p, 200, SECOND) == 15 * SECOND, "work before the start of the time does not count");
	ok(nsx_progress_left(&p, 250, SECOND) == -1, "no work done: no estimate");
	ok(nsx_progress_left(&p, 300, SECOND) == -1, "negative work: no estimate");
	ok(nsx_progress_left(&p, 0, SECOND / 4) == -1, "nor at once");
	p = of(9, 1000);
	ok(nsx_progress_left(&p, 0, 10 * SECOND) == -1, "nor of less than a hundredth");
	p = of(1000, 1000);
	ok(nsx_progress_left(&p, 0, 10 * SECOND) == 0, "all done: 0 s left");
	p = of(5, 0);
	ok(nsx_progress_left(&p, 0, 10 * SECOND) == -1, "no end known: no estimate");
	p = of(UINT64_MAX / 50, UINT64_MAX);
	ok(nsx_progress_left(&p, 0, INT64_MAX) == -1, "an estimate beyond 64 bits is omitted");
}

static void
counters(void)
{
	struct nsx_portion part = { .bytes = 100 };
	struct nsx_progress p;

	nsx_progress_expect(300);
	nsx_progress_done(50);
	nsx_progress_records(4096);
	nsx_progress_get(&p);
	ok(p.total == 300 && p.done == 50 && p.records == 4096 && !p.phase, "the reported portion");
	nsx_portion_reach(&part, 1, 4);
	nsx_portion_reach(&part, 1, 8);
	nsx_progress_get(&p);
	ok(p.done == 75, "a portion never decreases");
	nsx_portion_reach(&part, 9, 8);
	nsx_portion_reach(&part, 0, 0);
	nsx_progress_get(&p);
	ok(p.done == 150 && part.given == 100, "and is returned once");
	nsx_progress_unknown(1);
	nsx_progress_get(&p);
	ok(p.total == 0 && p.done == 0, "with an input of unknown size the total is unknown");
	nsx_progress_unknown(-1);
	nsx_progress_expect(-200);
	nsx_progress_get(&p);
	ok(p.total == 100 && p.done == 100, "more than all is never done");
	nsx_progress_hide(NSX_HIDE_FOR_GOOD);   /* nobody draws */
}

int
main(void)
{
	lines();
	times();
	widths();
	estimates();
	counters();
	return done();
}
