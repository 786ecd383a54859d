/* compile.c -- sharing the time of parallel compilation among any ranges, and the spelling of numbers. */
#include <stdlib.h>

#include "table/compile/compile.h"
#include "tap.h"

enum { RANGES = 60, ROUNDS = 3000 };

static uint32_t
rnd(uint32_t n)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % n;
}

static int
by_start(const void *a, const void *b)
{
	const struct compile_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* tid is the order of creation: a range comes after the ranges around it. */
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Ranges side by side in [from, to) of a thread, each with some inside it, of its own or another thread. */
static size_t
grow(struct compile_range *r, size_t n, uint32_t parent, int64_t thread, int64_t from, int64_t to, int depth)
{
	while (n < RANGES && to - from > 1 && rnd(8)) {
		int64_t start = from + rnd((uint32_t)(to - from)), dur = rnd((uint32_t)(to - start)) + 1;
		size_t i = n++;

		r[i] = (struct compile_range){ .pid = thread, .tid = (int64_t)i, .start = start, .dur = dur, .self = dur, .parent = parent };
		if (parent != NSX_NONE && r[parent].pid == thread) {
			r[parent].child += dur;
			r[parent].self -= dur;
		}
		if (depth) {
			n = grow(r, n, (uint32_t)i, thread, start, start + dur, depth - 1);
			for (int64_t w = 1; thread == 0 && w <= rnd(4); w++)
				n = grow(r, n, (uint32_t)i, w + 10 * depth, start, start + dur, depth - 1);
		}
		from = start + dur;
	}
	return n;
}

/* Put them in order of start; parents follow. */
static void
sort(struct compile_range *r, size_t n)
{
	uint32_t place[RANGES];

	qsort(r, n, sizeof *r, by_start);
	for (size_t i = 0; i < n; i++)
		place[r[i].tid] = (uint32_t)i;
	for (size_t i = 0; i < n; i++) {
		if (r[i].parent != NSX_NONE)
			r[i].parent = place[r[i].parent];
		r[i].tid = r[i].pid;
		r[i].pid = 1;
	}
}

static void
test_share(void)
{
	int lost = 0, negative = 0, failed = 0, changed = 0;
	size_t parallel = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct compile_range r[RANGES];
		struct compile_part part[RANGES];
		struct nsx_err err = { "" };
		fine_time sum = 0;
		int64_t roots = 0;

		r[0] = (struct compile_range){ .dur = 1000, .self = 1000, .parent = NSX_NONE };
		size_t n = grow(r, 1, 0, 0, 0, 1000, 3);
		for (int64_t w = 1; w < 4; w++)
			n = grow(r, n, 0, w, 0, 1000, 2);
		sort(r, n);
		failed += nsx_compile_share(r, n, part, &err) != NSX_OK;
		for (size_t i = 0; i < n; i++) {
			bool main_thread = r[i].tid == 0;

			sum += part[i].self;
			roots += r[i].parent == NSX_NONE ? r[i].dur : 0;
			parallel += !main_thread;
			negative += part[i].self < 0 || part[i].child < 0;
			changed += main_thread && !part[i].owns && part[i].self != r[i].self * FINE_NS;
		}
		/* Each division may lose less than 2^-64 ns. */
		lost += sum > roots * FINE_NS || sum < roots * FINE_NS - (fine_time)n;
	}
	is_int(failed, 0, "any ranges can be shared");
	ok(parallel > ROUNDS, "many of them on other threads");
	is_int(lost, 0, "shares add up to the time of the compilation");
	is_int(negative, 0, "no time is negative");
	is_int(changed, 0, "a main-thread range without ranges of other threads keeps its exclusive time");
}

static void
test_numbers(void)
{
	static const struct { double v; const char *seconds, *four; } cases[] = {
		{ 0, "0.0", "0.0" }, { 12, "12.0", "12.0" }, { 1, "1.0", "1.0" }, { 100, "100.0", "100.0" },
		{ 999.94, "999.94", "999.9" }, { 999.95, "999.95", "1e+03" }, { 1000, "1000.0", "1e+03" }, { 1234, "1234.0", "1.234e+03" },
		{ 123.45, "123.45", "123.5" }, { 9.9996, "9.9996", "10.0" }, { 0.884, "0.884", "0.884" }, { 0.05, "0.05", "0.05" },
		{ 0.0001, "0.0001", "0.0001" }, { 0.00009999, "9.999e-05", "9.999e-05" }, { 0.00007799123, "7.799123e-05", "7.799e-05" },
		{ 0.00005, "5e-05", "5e-05" }, { 1e-9, "1e-09", "1e-09" }, { -0.5, "-0.5", "-0.5" }, { 0.1 + 0.2, "0.30000000000000004", "0.3" },
		{ 0.053217856, "0.053217856", "0.05322" }, { 9223372036.854775807, "9223372036.854776", "9.223e+09" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct nsx_buf b = { 0 };

		nsx_compile_put_seconds(&b, cases[i].v);
		nsx_buf_char(&b, '\0');
		is_str(b.ptr, cases[i].seconds, "%s in full", cases[i].seconds);
		b.len = 0;
		nsx_compile_put_four(&b, cases[i].v);
		nsx_buf_char(&b, '\0');
		is_str(b.ptr, cases[i].four, "%s with four digits", cases[i].seconds);
		nsx_buf_free(&b);
	}
}

int
main(void)
{
	test_share();
	test_numbers();
	return done();
}
