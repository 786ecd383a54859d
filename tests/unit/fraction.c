/* fraction.c -- sums of fractions are exact, however large their common denominator grows. */
#include "job/fraction.h"

#include "tap.h"

enum { LAST = 400 };   /* 2 * 3 * 5 * ... up to there has 540 bits */

static struct nsx_arena arena;
static uint32_t scratch[4096];

/* f += r/n; how often 1 was reached, -1 when out of memory. */
static int
add(struct nsx_fraction *f, uint32_t r, uint32_t n)
{
	bool carry = false;

	return nsx_fraction_add(f, r, n, &carry, &arena) ? carry : -1;
}

static int
cmp(const struct nsx_fraction *a, const struct nsx_fraction *b)
{
	if (2 * (a->limbs + b->limbs) > sizeof scratch / sizeof *scratch)
		return 99;
	return nsx_fraction_cmp(a, b, scratch);
}

static bool
is_prime(uint32_t n)
{
	for (uint32_t d = 2; d * d <= n; d++)
		if (n % d == 0)
			return false;
	return n > 1;
}

/* 1/(1*2) + 1/(2*3) + ... + 1/((n-1)*n) = (n-1)/n. */
static void
telescopes(void)
{
	struct nsx_fraction sum = { 0 };
	int carries = 0, wrong = 0;

	for (uint32_t n = 2; n <= LAST; n++) {
		struct nsx_fraction want = { 0 };

		carries += add(&sum, 1, n * (n - 1)) + add(&want, n - 1, n);
		wrong += cmp(&sum, &want) != 0;
	}
	is_int(carries, 0, "a sum below 1 does not carry");
	is_int(wrong, 0, "equal sums compare equal at each of %d steps", LAST - 1);
	ok(sum.limbs > 0 && add(&sum, 1, LAST) == 1, "the last part makes 1, which is carried");
	is_int((int)sum.limbs, 0, "and leaves zero");
}

/* (p-1)/p over the primes, then 1/p over them backwards: a whole number. */
static void
carries_exactly(void)
{
	struct nsx_fraction sum = { 0 };
	int carries = 0, primes = 0;

	for (uint32_t p = 2; p <= LAST; p++)
		if (is_prime(p)) {
			carries += add(&sum, p - 1, p);
			primes++;
		}
	ok(sum.limbs >= 17, "the denominator has %d digits of 32 bits", (int)sum.limbs);
	for (uint32_t p = LAST; p >= 2; p--)
		if (is_prime(p))
			carries += add(&sum, 1, p);
	is_int(carries, primes, "%d primes' parts make as many ones", primes);
	is_int((int)sum.limbs, 0, "the remainder is 0");
}

static void
compares(void)
{
	struct nsx_fraction zero = { 0 }, a = { 0 }, b = { 0 }, c = { 0 };
	int bad = add(&a, 4294967293u, 4294967295u) | add(&b, 4294967292u, 4294967294u) | add(&c, 2, 4);

	is_int(bad, 0, "parts of the largest divisors");
	ok(cmp(&a, &b) > 0 && cmp(&b, &a) < 0, "nearly equal fractions are distinguished");
	ok(cmp(&zero, &zero) == 0 && cmp(&zero, &c) < 0 && cmp(&c, &zero) > 0, "zero is the smallest");
	is_int(add(&c, 3, 6), 1, "2/4 and 3/6 are 1");
}

int
main(void)
{
	telescopes();
	carries_exactly();
	compares();
	nsx_arena_free(&arena);
	return done();
}
