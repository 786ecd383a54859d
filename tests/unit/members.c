/* members.c -- sets of groups of devices as text: known ones, and random ones, which must read back as they were. */
#include "base/members.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "tap.h"

static uint64_t seed = 5;

static int64_t
draw(int64_t below)
{
	seed += 0x9e3779b97f4a7c15ULL;
	return (int64_t)(nsx_hash_u64(seed) % (uint64_t)below);
}

/* The set as a list, whatever its size. */
static void
list(const struct nsx_members *m, struct nsx_buf *to)
{
	for (size_t g = 0, i = 0; g < m->ends.n; g++)
		for (size_t first = i; i < m->ends.p[g]; i++)
			nsx_buf_fmt(to, "%s%" PRId64, i > first ? "," : g ? ";" : "", m->ids.p[i]);
}

/* What is read of the text, as a list; "none" if it is no set. */
static const char *
read_as_list(const char *text)
{
	static char out[1024];
	struct nsx_members m = { 0 };
	struct nsx_buf b = { 0 };
	bool good = nsx_members_read(&m, nsx_str_c(text), NSX_MEMBERS_MAX) == NSX_OK;

	list(&m, &b);
	snprintf(out, sizeof out, "%.*s", good ? (int)b.len : 4, good ? b.ptr ? b.ptr : "" : "none");
	nsx_buf_free(&b);
	nsx_members_free(&m);
	return out;
}

static int
read_up_to(const char *text, size_t max)
{
	struct nsx_members m = { 0 };
	int rc = nsx_members_read(&m, nsx_str_c(text), max);

	nsx_members_free(&m);
	return rc;
}

static void
add_group(struct nsx_members *m, int64_t first, int64_t step, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		nsx_vec_push(&m->ids, first + i * step);
	nsx_vec_push(&m->ends, m->ids.n);
}

/* The text of `groups` groups of n devices, `step` apart; the first of a group is `shift` above that of the one before. */
static const char *
mesh(int64_t groups, int64_t shift, int64_t n, int64_t step)
{
	static char out[4096];
	struct nsx_members m = { 0 };
	struct nsx_buf b = { 0 };

	for (int64_t g = 0; g < groups; g++)
		add_group(&m, g * shift, step, n);
	nsx_members_put(&m, &b);
	snprintf(out, sizeof out, "%.*s", (int)b.len, b.ptr);
	nsx_buf_free(&b);
	nsx_members_free(&m);
	return out;
}

static void
test_known(void)
{
	is_str(read_as_list("0,1;2,3"), "0,1;2,3", "a list");
	is_str(read_as_list("0-3;4-7"), "0,1,2,3;4,5,6,7", "ranges");
	is_str(read_as_list("0-9/4,1"), "0,4,8,1", "a range with a stride ends at or below its last");
	is_str(read_as_list("0-1*3+2;9"), "0,1;2,3;4,5;9", "copies of a group");
	is_str(read_as_list("5,0-2/2*2+10"), "5,0,2;15,10,12", "copies of a group of two items");
	is_str(read_as_list("7*1+1"), "7", "one copy is the group");
	is_str(read_as_list("-3--1"), "-3,-2,-1", "numbers below 0");
	is_str(read_as_list("-9000000000000000000-9000000000000000000/9000000000000000000"),
	       "-9000000000000000000,0,9000000000000000000", "a range longer than the largest number");
	is_str(read_as_list(""), "", "no groups");
	static const char *const bad[] = { "0,x", "0,", ",0", "0;", ";0", "0,,1", "3-1", "0-3/0", "0-", "0-3/", "0-3/-1", "0*2", "0*2+0", "0*0+1", "0*2+1,3", "0 1", "0-3-5",
		"0*2+1*2+1", "99999999999999999999", "9223372036854775806*3+1", "-", "0+1", "0;1*" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		is_str(read_as_list(bad[i]), "none", "refused: %s", bad[i]);
}

/* A few bytes must not take all memory. */
static void
test_bounds(void)
{
	is_int(read_up_to("0-99", 100), NSX_OK, "as many devices as may be");
	is_int(read_up_to("0-100", 100), NSX_EOF, "a range with one more");
	is_int(read_up_to("0-98,5,6", 100), NSX_EOF, "a device more");
	is_int(read_up_to("0-9*10+10", 100), NSX_OK, "as many in copies");
	is_int(read_up_to("0-9*11+10", 100), NSX_EOF, "a copy more");
	is_int(read_up_to("5;0-9*10+10", 100), NSX_EOF, "a group before counts");
	is_int(read_up_to("-9223372036854775808-9223372036854775807", NSX_MEMBERS_MAX), NSX_EOF, "all numbers there are");
	is_int(read_up_to("9223372036854775800-9223372036854775807/5", 100), NSX_OK, "at the end of the numbers");
	is_int(read_up_to("0-1*9223372036854775807+1", NSX_MEMBERS_MAX), NSX_EOF, "copies without end");
}

static void
test_written(void)
{
	is_str(mesh(2, 4, 4, 1), "0,1,2,3;4,5,6,7", "a small set is a list");
	is_str(mesh(1, 1, 64, 1) + 170, "60,61,62,63", "64 devices are");
	is_str(mesh(1, 1, 65, 1), "0-64", "65 are not");
	is_str(mesh(1, 1, 1024, 8), "0-8184/8", "a stride");
	is_str(mesh(128, 8, 8, 1), "0-7*128+8", "groups of eight");
	is_str(mesh(8, 1, 128, 8), "0-1016/8*8+1", "groups of every eighth");
	is_str(mesh(2, 100, 50, 1), "0-49;100-149", "two groups are no copies");
	is_str(mesh(1023, 1, 2, 1), "0-1*1023+1", "pairs of neighbours");
	is_str(mesh(100, 1, 1, 1), "0*100+1", "each by itself");
}

/* Random pieces, so that runs, strides and copies begin and end anywhere: in up to 12 groups, of up to 40 devices. */
static void
test_random(void)
{
	int wrong = 0, listed = 0, shorter = 0;

	for (int round = 0; round < 20000; round++) {
		struct nsx_members m = { 0 }, back = { 0 };
		struct nsx_buf text = { 0 }, plain = { 0 };
		int64_t groups = draw(12);

		for (int64_t g = 0; g < groups; g++) {
			int64_t first = draw(50) - 3, n = 1 + draw(4), step = draw(4) - 1, copies = 1 + draw(3) * draw(3), shift = draw(4);

			for (int64_t k = 0; k < copies; k++) {
				for (int64_t i = 0; i < n; i++)
					nsx_vec_push(&m.ids, first + k * shift + i * step);
				if (draw(2))
					for (int64_t i = draw(20); i > 0; i--)
						nsx_vec_push(&m.ids, first + k * shift + 30 + i);
				nsx_vec_push(&m.ends, m.ids.n);
			}
		}
		nsx_members_put(&m, &text);
		list(&m, &plain);
		wrong += nsx_members_read(&back, nsx_buf_view(&text), NSX_MEMBERS_MAX) != NSX_OK || back.ids.n != m.ids.n || back.ends.n != m.ends.n
		    || (m.ids.n && (memcmp(back.ids.p, m.ids.p, m.ids.n * sizeof *m.ids.p) != 0 || memcmp(back.ends.p, m.ends.p, m.ends.n * sizeof *m.ends.p) != 0))
		    || text.len > plain.len;
		listed += m.ids.n <= NSX_MEMBERS_LISTED && !nsx_str_eq(nsx_buf_view(&text), nsx_buf_view(&plain));
		shorter += text.len < plain.len;
		nsx_buf_free(&text);
		nsx_buf_free(&plain);
		nsx_members_free(&m);
		nsx_members_free(&back);
	}
	is_int(wrong, 0, "random sets read back as they were, from texts that are no longer than lists");
	is_int(listed, 0, "up to 64 devices are lists");
	ok(shorter > 1000, "of the others many are shorter: %d", shorter);
}

int
main(void)
{
	test_known();
	test_bounds();
	test_written();
	test_random();
	return done();
}
