/* large.c -- arrays that go from memory to files: what is in them stays, whatever grows, rests and is freed between. */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/large.h"

enum { N = 1000000 };

static struct nsx_err err;

static bool
holds(const uint64_t *p, size_t n, uint64_t k)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != i * k)
			return false;
	return true;
}

static size_t
in_files(const struct nsx_large *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->areas.n; i++)
		n += l->areas.p[i].fd >= 0;
	return n;
}

/* Two arrays that grow in turns. */
static void
two(size_t limit, size_t files)
{
	struct nsx_large l = { .limit = limit, .err = &err };
	NSX_VEC(uint64_t) a = { 0 }, b = { 0 };
	bool good = true, same = true;

	for (size_t i = 0; i < N && good; i++) {
		nsx_large_pause(&l, i);
		good = nsx_large_push(&l, &a, i * 3) && nsx_large_push(&l, &b, i * 5);
		same &= a.p[i / 2] == i / 2 * 3 && b.p[i / 3] == i / 3 * 5;
	}
	ok(good, "limit %zu: %d elements are taken", limit, N);
	ok(same, "limit %zu: earlier ones are there while it grows", limit);
	ok(in_files(&l) == files, "limit %zu: %zu of 2 arrays are in files", limit, files);
	ok(l.bytes <= limit, "limit %zu: no more is in memory", limit);
	nsx_large_rest(&l);
	ok(holds(a.p, a.n, 3) && holds(b.p, b.n, 5), "limit %zu: all are there after a rest", limit);
	nsx_large_free(&l, a.p);
	ok(holds(b.p, b.n, 5), "limit %zu: freeing one leaves the other", limit);
	nsx_large_end(&l);
	ok(!l.areas.n && !l.bytes, "limit %zu: nothing is left", limit);
}

static void
zeros(size_t limit)
{
	struct nsx_large l = { .limit = limit, .err = &err };
	uint64_t *p = nsx_large_array(&l, N, sizeof *p);
	bool zero = p != NULL;

	for (size_t i = 0; i < N && zero; i++)
		zero = p[i] == 0;
	ok(zero, "limit %zu: a new array is all 0", limit);
	for (size_t i = 0; i < N && p; i++)
		p[i] = i * 7;
	nsx_large_rest(&l);
	ok(p && holds(p, N, 7), "limit %zu: what is written stays", limit);
	nsx_large_free(&l, p);
	nsx_large_free(&l, NULL);
	ok(l.bytes == 0, "limit %zu: its memory is counted back", limit);
	nsx_large_end(&l);
}

/* Where there is no room for addresses, nothing is lost of what there was. */
static void
no_addresses(void)
{
	enum { MORE = 16 << 20 };   /* bytes */
	struct nsx_large l = { .limit = 0, .err = &err };
	NSX_VEC(char) v = { 0 };
	unsigned long pages = 0;
	struct rlimit before, few;
	FILE *f = fopen("/proc/self/statm", "r");
	bool good = nsx_large_push(&l, &v, 'x'), grown;

	if (!f || fscanf(f, "%lu", &pages) != 1 || getrlimit(RLIMIT_AS, &before) != 0)
		good = false;
	few = before;
	few.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + MORE;
	good = good && setrlimit(RLIMIT_AS, &few) == 0;
	grown = nsx_large_room(&l, &v, 4 * MORE);
	setrlimit(RLIMIT_AS, &before);
	ok(good && !grown, "a file that cannot be mapped is no room");
	ok(strstr(err.msg, "TMPDIR") != NULL, "and the message says so: %s", err.msg);
	ok(v.n == 1 && v.p[0] == 'x', "what was there still is");
	err = (struct nsx_err){ .msg = "" };
	nsx_large_end(&l);
	if (f)
		fclose(f);
}

int
main(void)
{
	two(SIZE_MAX, 0);
	two(2 * N * sizeof(uint64_t), 1);
	two(1 << 20, 2);
	zeros(SIZE_MAX);
	zeros(1 << 20);
	no_addresses();

	struct nsx_large l = { .limit = 0, .err = &err };
	NSX_VEC(uint64_t) v = { 0 };

	setenv("TMPDIR", "/nonexistent", 1);
	ok(!nsx_large_push(&l, &v, 1u) && !v.p && !v.n, "without a folder for files nothing is taken");
	ok(strstr(err.msg, "/nonexistent") != NULL, "and the message names the folder: %s", err.msg);
	ok(!nsx_large_array(&l, 3, 8) && !l.areas.n, "nor is an array made");
	nsx_large_end(&l);
	return done();
}
