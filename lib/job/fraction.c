/* fraction.c -- exact sums of fractions: schoolbook arithmetic on digits of base 2^32. */
#include "job/fraction.h"

#include <string.h>

/* out = x * m, of n + 2 digits. */
static void
multiply(uint32_t *out, const uint32_t *x, size_t n, uint32_t m)
{
	uint64_t carry = 0;

	for (size_t i = 0; i < n; i++) {
		carry += (uint64_t)x[i] * m;
		out[i] = (uint32_t)carry;
		carry >>= 32;
	}
	out[n] = (uint32_t)carry;
	out[n + 1] = 0;
}

/* sum += x * m, where sum has n + 2 digits and enough space for the result. */
static void
add_product(uint32_t *sum, const uint32_t *x, size_t n, uint32_t m)
{
	uint64_t carry = 0;

	for (size_t i = 0; i < n + 2; i++) {
		carry += sum[i] + (i < n ? (uint64_t)x[i] * m : 0);
		sum[i] = (uint32_t)carry;
		carry >>= 32;
	}
}

/* x mod m; with out (which may be x) also x / m. */
static uint32_t
divide(uint32_t *out, const uint32_t *x, size_t n, uint32_t m)
{
	uint64_t rest = 0;

	for (size_t i = n; i-- > 0;) {
		rest = rest << 32 | x[i];
		if (out)
			out[i] = (uint32_t)(rest / m);
		rest %= m;
	}
	return (uint32_t)rest;
}

static int
compare(const uint32_t *a, const uint32_t *b, size_t n)
{
	for (size_t i = n; i-- > 0;)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static void
subtract(uint32_t *a, const uint32_t *b, size_t n)
{
	uint64_t borrow = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t d = (uint64_t)a[i] - b[i] - borrow;

		a[i] = (uint32_t)d;
		borrow = d >> 63;
	}
}

static uint32_t
gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

bool
nsx_fraction_add(struct nsx_fraction *f, uint32_t r, uint32_t n, bool *carry, struct nsx_arena *a)
{
	static uint32_t zero[] = { 0 }, one[] = { 1 };
	struct nsx_fraction old = f->limbs ? *f : (struct nsx_fraction){ zero, one, 1 };
	size_t limbs = old.limbs + 2;
	uint32_t g = gcd(n, divide(NULL, old.den, old.limbs, n));
	uint32_t *num = nsx_arena_alloc(a, 3 * limbs * sizeof *num);

	if (!num)
		return false;
	/* Over the least common denominator, den * (n / g). Both terms are below it, so two digits more hold their
	 * sum. */
	uint32_t *den = num + limbs, *part = den + limbs;
	multiply(den, old.den, old.limbs, n / g);
	multiply(num, old.num, old.limbs, n / g);
	divide(part, old.den, old.limbs, g);
	add_product(num, part, old.limbs, r);
	if (compare(num, den, limbs) >= 0) {
		subtract(num, den, limbs);
		*carry = true;
	}
	while (limbs && !den[limbs - 1])
		limbs--;
	*f = (struct nsx_fraction){ num, den, limbs };
	for (size_t i = 0; i < limbs; i++)
		if (num[i])
			return true;
	f->limbs = 0;
	return true;
}

/* out = x * y, of nx + ny digits. */
static void
product(uint32_t *out, const uint32_t *x, size_t nx, const uint32_t *y, size_t ny)
{
	memset(out, 0, (nx + ny) * sizeof *out);
	for (size_t i = 0; i < nx; i++) {
		uint64_t carry = 0;

		for (size_t j = 0; j < ny; j++) {
			carry += (uint64_t)x[i] * y[j] + out[i + j];
			out[i + j] = (uint32_t)carry;
			carry >>= 32;
		}
		out[i + ny] = (uint32_t)carry;
	}
}

int
nsx_fraction_cmp(const struct nsx_fraction *a, const struct nsx_fraction *b, uint32_t *scratch)
{
	size_t n = a->limbs + b->limbs;

	if (!a->limbs || !b->limbs)
		return (a->limbs > 0) - (b->limbs > 0);
	product(scratch, a->num, a->limbs, b->den, b->limbs);
	product(scratch + n, b->num, b->limbs, a->den, a->limbs);
	return compare(scratch, scratch + n, n);
}
