/* members.c -- see members.h. */
#include "base/members.h"

#include <stdlib.h>

#include "base/num.h"

/* ---- reading */

struct scan { const char *p, *end; };

/* A number of decimal digits, with a '-' before them if `negative`. */
static bool
number(struct scan *s, bool negative, int64_t *v)
{
	const char *from = s->p;

	if (negative && s->p < s->end && *s->p == '-')
		s->p++;
	while (s->p < s->end && nsx_is_digit(*s->p))
		s->p++;
	return nsx_get_int((struct nsx_str){ from, (size_t)(s->p - from) }, v);
}

static bool
next(struct scan *s, char c)
{
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

static int
add_range(struct nsx_members *m, int64_t first, int64_t last, int64_t step, size_t max)
{
	if (last < first || step < 1)
		return NSX_EOF;
	uint64_t more = ((uint64_t)last - (uint64_t)first) / (uint64_t)step;   /* beside the first */
	if (m->ids.n >= max || more >= max - m->ids.n)
		return NSX_EOF;
	if (!nsx_vec_room(&m->ids, more + 1))
		return NSX_ERR;
	for (uint64_t k = 0; k <= more; k++)
		m->ids.p[m->ids.n++] = (int64_t)((uint64_t)first + k * (uint64_t)step);
	return NSX_OK;
}

static int
read_item(struct nsx_members *m, struct scan *s, size_t max)
{
	int64_t first, last, step = 1;

	if (!number(s, true, &first))
		return NSX_EOF;
	last = first;
	if (next(s, '-') && (!number(s, true, &last) || (next(s, '/') && !number(s, false, &step))))
		return NSX_EOF;
	return add_range(m, first, last, step, max);
}

/* COUNT "+" SHIFT, of the group that was read last. */
static int
read_copies(struct nsx_members *m, struct scan *s, size_t max)
{
	size_t from = nsx_members_begin(m, m->ends.n - 1), n = m->ids.n - from;
	int64_t count, shift, last;

	if (!number(s, false, &count) || !next(s, '+') || !number(s, false, &shift) || count < 1 || shift < 1
	    || (uint64_t)count > (max - from) / n)
		return NSX_EOF;
	if (!nsx_vec_room(&m->ids, n * (size_t)(count - 1)) || !nsx_vec_room(&m->ends, (size_t)(count - 1)))
		return NSX_ERR;
	for (int64_t k = 1; k < count; k++) {
		for (size_t i = 0; i < n; i++) {
			if (__builtin_add_overflow(m->ids.p[m->ids.n - n], shift, &last))
				return NSX_EOF;
			m->ids.p[m->ids.n++] = last;
		}
		m->ends.p[m->ends.n++] = m->ids.n;
	}
	return NSX_OK;
}

int
nsx_members_read(struct nsx_members *m, struct nsx_str text, size_t max)
{
	struct scan s = { text.ptr, text.ptr + text.len };
	int rc;

	m->ids.n = m->ends.n = 0;
	if (!text.len)
		return NSX_OK;
	do {
		do
			rc = read_item(m, &s, max);
		while (rc == NSX_OK && next(&s, ','));
		if (rc == NSX_OK && !nsx_vec_push(&m->ends, m->ids.n))
			rc = NSX_ERR;
		if (rc == NSX_OK && next(&s, '*'))
			rc = read_copies(m, &s, max);
	} while (rc == NSX_OK && next(&s, ';'));
	return rc == NSX_OK && s.p != s.end ? NSX_EOF : rc;
}

/* ---- writing */

static void
put(struct nsx_buf *to, char before, int64_t v)
{
	if (before)
		nsx_buf_char(to, before);
	if (nsx_buf_room(to, NSX_INT_CHARS))
		to->len = (size_t)(nsx_put_int(to->ptr + to->len, v) - to->ptr);
}

/* b is d above a; without overflow. */
static bool
is_above(int64_t a, int64_t b, int64_t d)
{
	int64_t sum;

	return !__builtin_add_overflow(a, d, &sum) && sum == b;
}

void
nsx_ranges_put(const int64_t *d, size_t n, struct nsx_buf *to)
{
	char before = 0;

	for (size_t i = 0, run; i < n; i += run, before = ',') {
		int64_t step = 0;

		run = 1;
		if (d[i] == INT64_MIN) {
			nsx_buf_str(to, before ? NSX_STR(",-") : NSX_STR("-"));
			continue;
		}
		if (i + 1 < n && d[i + 1] > d[i] && !__builtin_sub_overflow(d[i + 1], d[i], &step))
			while (i + run < n && is_above(d[i + run - 1], d[i + run], step))
				run++;
		/* Two that are not neighbours are no range. */
		if (run < 3 && step != 1)
			run = 1;
		put(to, before, d[i]);
		if (run > 1)
			put(to, '-', d[i + run - 1]);
		if (run > 1 && step != 1)
			put(to, '/', step);
	}
}

/* By how much group g + 1 is above group g, all its devices alike; 0 if it is not. */
static int64_t
shift_after(const struct nsx_members *m, size_t g)
{
	size_t a = nsx_members_begin(m, g), b = m->ends.p[g], n = b - a;
	int64_t shift;

	if (g + 1 >= m->ends.n || m->ends.p[g + 1] - b != n || m->ids.p[b] <= m->ids.p[a]
	    || __builtin_sub_overflow(m->ids.p[b], m->ids.p[a], &shift))
		return 0;
	for (size_t i = 1; i < n; i++)
		if (!is_above(m->ids.p[a + i], m->ids.p[b + i], shift))
			return 0;
	return shift;
}

void
nsx_members_put(const struct nsx_members *m, struct nsx_buf *to)
{
	for (size_t g = 0, like; g < m->ends.n; g += like) {
		size_t from = nsx_members_begin(m, g), n = m->ends.p[g] - from;
		int64_t shift = 0;

		if (g)
			nsx_buf_char(to, ';');
		like = 1;
		if (m->ids.n <= NSX_MEMBERS_LISTED) {
			for (size_t i = 0; i < n; i++)
				put(to, i ? ',' : '\0', m->ids.p[from + i]);
			continue;
		}
		if ((shift = shift_after(m, g)) > 0)
			for (like = 2; shift_after(m, g + like - 1) == shift;)
				like++;
		/* Two groups are as short one after the other. */
		like = like < 3 ? 1 : like;
		nsx_ranges_put(m->ids.p + from, n, to);
		if (like > 1) {
			put(to, '*', (int64_t)like);
			put(to, '+', shift);
		}
	}
}

void
nsx_members_free(struct nsx_members *m)
{
	free(m->ids.p);
	free(m->ends.p);
	*m = (struct nsx_members){ 0 };
}
