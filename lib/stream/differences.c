/* differences.c -- the numbers as which a binary column is stored. The numbers of every record are processed here, so
 * the loops for common cases have no branches per record. */
#include "stream/differences.h"

#include "stream/wire.h"

enum { PARTS = 8, PART = 48 };   /* the sample that is examined before runs are searched */

/* The most common predictions of a column that every record has: false for others. */
static bool
common(uint64_t *diff, const struct nsx_numbers *c, const struct nsx_expect *e)
{
	const uint64_t *v = c->v, *of = e->of, *plus = e->plus, *minus = e->minus;
	const int32_t *last = e->last;
	size_t n = c->rows;

	if (e->base == BASE_ZERO) {
		for (size_t r = 0; r < n; r++)
			diff[r] = nsx_zig(v[r]);
	} else if (e->base == BASE_SAME && !plus && !minus) {
		for (size_t r = 0; r < n; r++)
			diff[r] = nsx_zig(v[r] - of[r]);
	} else if (e->base == BASE_SAME && !plus) {
		for (size_t r = 0; r < n; r++)
			diff[r] = nsx_zig(v[r] - of[r] + minus[r]);
	} else if (e->base == BASE_LAST && !last && !minus) {
		diff[0] = nsx_zig(v[0] - e->first);
		if (plus)
			for (size_t r = 1; r < n; r++)
				diff[r] = nsx_zig(v[r] - v[r - 1] - plus[r - 1]);
		else
			for (size_t r = 1; r < n; r++)
				diff[r] = nsx_zig(v[r] - v[r - 1]);
	} else if (e->base == BASE_LAST && last && !plus && !minus) {
		for (size_t r = 0; r < n; r++)
			diff[r] = nsx_zig(v[r] - (last[r] < 0 ? e->first : v[last[r]]));
	} else if (e->base == BASE_LAST && last && !minus) {
		for (size_t r = 0; r < n; r++)
			diff[r] = nsx_zig(v[r] - (last[r] < 0 ? e->first : v[last[r]] + plus[last[r]]));
	} else {
		return false;
	}
	return true;
}

/* The same of a column that some records may lack: the number of differences, SIZE_MAX for others. A difference is
 * written for each record, and counts if the record has a value. */
static size_t
common_partial(uint64_t *diff, const struct nsx_numbers *c, const struct nsx_expect *e, const uint64_t *top)
{
	const uint64_t *v = c->v, *of = e->of, *has = c->has;
	const int32_t *last = e->last;
	size_t n = 0;

	if (e->base == BASE_ZERO) {
		for (size_t r = 0; r < c->rows; r++) {
			diff[n] = nsx_zig(v[r]);
			n += has[r] >> c->bit & 1;
		}
	} else if (e->base == BASE_SAME && !e->plus && !e->minus) {
		for (size_t r = 0; r < c->rows; r++) {
			diff[n] = nsx_zig(v[r] - of[r]);
			n += has[r] >> c->bit & 1;
		}
	} else if (e->base == BASE_LAST && last && !e->plus && !e->minus) {
		for (size_t r = 0; r < c->rows; r++) {
			diff[n] = nsx_zig(v[r] - (last[r] < 0 ? e->first : v[last[r]]));
			n += has[r] >> c->bit & 1;
		}
	} else if (e->base == BASE_LAST_OR_TOP && last && !e->plus && !e->minus) {
		for (size_t r = 0; r < c->rows; r++) {
			diff[n] = nsx_zig(v[r] - (last[r] < 0 ? top[r] : v[last[r]]));
			n += has[r] >> c->bit & 1;
		}
	} else if (e->base == BASE_TOP) {
		for (size_t r = 0; r < c->rows; r++) {
			diff[n] = nsx_zig(v[r] - top[r]);
			n += has[r] >> c->bit & 1;
		}
	} else {
		return SIZE_MAX;
	}
	return n;
}

size_t
nsx_differences(uint64_t *diff, const struct nsx_numbers *c, const struct nsx_expect *e, const uint64_t *top)
{
	size_t n;

	if (!c->partial && common(diff, c, e))
		return c->rows;
	if ((n = common_partial(diff, c, e, top)) != SIZE_MAX)
		return n;
	n = 0;
	for (size_t r = 0; r < c->rows; r++)
		if (c->has[r] >> c->bit & 1)
			diff[n++] = nsx_zig(c->v[r] - nsx_expected(e, c->v, r, top ? top[r] : 0));
	return n;
}

bool
nsx_runs_likely(const uint64_t *diff, size_t n)
{
	size_t parts = n > PARTS * PART ? PARTS : 1, part = parts > 1 ? PART : n, same = 0;

	for (size_t s = 0; s < parts; s++) {
		const uint64_t *p = diff + (n - part) * s / (parts > 1 ? PARTS - 1 : 1);

		for (size_t i = 1; i < part; i++)
			same += p[i] == p[i - 1];
	}
	/* A run of two saves bytes if its number has at least two. */
	return same > parts * part / 8;
}

struct nsx_runs
nsx_find_runs(const uint64_t *diff, size_t n, uint64_t *value, uint64_t *count)
{
	struct nsx_runs m = { 0 };

	for (size_t i = 0; i < n;) {
		uint64_t x = diff[i];
		size_t from = i++;

		/* Most are not repeated. */
		if (i < n && diff[i] == x) {
			while (n - i >= 4
			       && !((diff[i] ^ x) | (diff[i + 1] ^ x) | (diff[i + 2] ^ x) | (diff[i + 3] ^ x)))
				i += 4;
			while (i < n && diff[i] == x)
				i++;
		}
		size_t size = nsx_varint_size(x), long_size = nsx_varint_size(i - from);

		value[m.n] = x;
		count[m.n++] = i - from;
		m.plain_size += size * (i - from);
		m.run_size += size + long_size;
	}
	return m;
}

size_t
nsx_plain_size(const uint64_t *diff, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++)
		size += nsx_varint_size(diff[i]);
	return size;
}
