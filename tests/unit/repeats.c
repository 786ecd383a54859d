/* repeats.c -- runs of frames that repeat, against a definition that looks at every run. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/fold/repeats.h"
#include "tap.h"

static struct nsx_repeats repeats;

/* The definition: after each frame, the shortest run that repeats is dropped. */
static size_t
brute(uint32_t *f, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		f[kept++] = f[i];
		for (size_t d = 1; 2 * d <= kept; d++)
			if (memcmp(&f[kept - d], &f[kept - 2 * d], d * sizeof *f) == 0) {
				kept -= d;
				break;
			}
	}
	return kept;
}

/* Frames by letter. */
static void
claim(const char *in, const char *want)
{
	uint32_t f[256];
	char out[256];
	size_t n = strlen(in);

	for (size_t i = 0; i < n; i++)
		f[i] = (uint32_t)in[i];
	bool good = nsx_repeats_drop(&repeats, f, &n);
	for (size_t i = 0; i < n; i++)
		out[i] = (char)f[i];
	out[n] = '\0';
	ok(good, "'%s' is read", in);
	is_str(out, want, "'%s'", in);
}

/* Every stack of `letters` frames up to that depth, then random ones of runs repeated within runs. */
static void
against_brute(void)
{
	uint32_t a[2048], b[2048];
	uint64_t x = 88172645463325252u;
	int64_t bad = 0, all = 0, shorter = 0;

	for (uint32_t letters = 1; letters <= 4; letters++)
		for (size_t depth = 0; depth <= 9; depth++) {
			size_t count = 1;
			for (size_t i = 0; i < depth; i++)
				count *= letters;
			for (size_t code = 0; code < count; code++) {
				size_t n = depth, m = code;
				for (size_t i = 0; i < depth; i++, m /= letters)
					a[i] = b[i] = (uint32_t)(m % letters);
				size_t want = brute(b, depth);
				bool good = nsx_repeats_drop(&repeats, a, &n);
				bad += !good || n != want || memcmp(a, b, want * sizeof *a) != 0;
				all++;
			}
		}
	for (int round = 0; round < 3000; round++) {
		size_t n = 0, want;
		while (n < 600) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			size_t d = n ? x % (n < 200 ? n : 200) + 1 : 0, from = n - d;
			if (d && x >> 20 & 1)
				for (size_t i = 0; i < d; i++)
					a[n++] = a[from + i];
			else
				a[n++] = (uint32_t)(x >> 32) % (round % 30 + 2);
		}
		memcpy(b, a, n * sizeof *a);
		want = brute(b, n);
		shorter += want < n;
		bool good = nsx_repeats_drop(&repeats, a, &n);
		bad += !good || n != want || memcmp(a, b, want * sizeof *a) != 0;
		all++;
	}
	is_int(bad, 0, "all of %" PRId64 " stacks are as the definition has them", all);
	ok(shorter > 2900, "%" PRId64 " of the random ones had something to drop", shorter);
}

/* A long stack of three different frames without repeats, doubled: the run found is the whole stack. Every frame occurs thousands of times. */
static void
deep(void)
{
	enum { N = 1 << 16 };
	uint32_t *f = malloc(2 * N * sizeof *f), *t = malloc((N + 1) * sizeof *t);
	size_t n = 2 * N;

	/* Differences of the Thue-Morse sequence. */
	for (uint32_t i = 0; i <= N; i++) {
		t[i] = 0;
		for (uint32_t v = i; v; v &= v - 1)
			t[i] ^= 1;
	}
	for (size_t i = 0; i < N; i++)
		f[i] = f[N + i] = 1 + t[i + 1] - t[i];
	bool good = nsx_repeats_drop(&repeats, f, &n);
	ok(good && n == N, "%d frames twice are these frames once: %zu", N, n);
	free(f);
	free(t);
}

int
main(void)
{
	claim("", "");
	claim("a", "a");
	claim("abc", "abc");
	claim("aaa", "a");
	claim("slslslb", "slb");
	claim("abcabcabcd", "abcd");
	claim("xababy", "xaby");
	claim("aabaab", "ab");
	claim("abcbabcbc", "abc");
	claim("abca", "abca");
	against_brute();
	deep();
	nsx_repeats_free(&repeats);
	return done();
}
