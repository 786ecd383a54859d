/* range_book.c -- ranges are found until their ends are past, and past ranges use no memory. */
#include "job/range_book.h"

#include "tap.h"

static struct nsx_err err;

static int
add_in(struct nsx_range_book *b, int64_t id, int64_t parent, uint32_t name, int64_t start, int64_t host_dur,
       int64_t gpu_start, int64_t gpu_dur)
{
	union nsx_val v[64];
	struct nsx_rec r = { .kind = nsx_kind_builtin(NSX_RANGE), .v = v };

	nsx_set_i(&r, NSX_RANGE_profile, 0);
	nsx_set_i(&r, NSX_RANGE_range, id);
	if (parent)
		nsx_set_i(&r, NSX_RANGE_parent, parent);
	nsx_set_i(&r, NSX_RANGE_host_start, start);
	nsx_set_i(&r, NSX_RANGE_host_dur, host_dur);
	if (gpu_dur) {
		nsx_set_i(&r, NSX_RANGE_start, gpu_start);
		nsx_set_i(&r, NSX_RANGE_dur, gpu_dur);
	}
	return nsx_range_book_add(b, &r, name, &err);
}

static int
add(struct nsx_range_book *b, int64_t id, int64_t start, int64_t host_dur, int64_t gpu_start, int64_t gpu_dur)
{
	return add_in(b, id, 0, (uint32_t)id, start, host_dur, gpu_start, gpu_dur);
}

static bool
forget(void *unused, const struct nsx_range_entry *range)
{
	(void)unused;
	return range != NULL;
}

/* Of 300 ranges within each other, more than there are bits of names, those whose name one around them has. */
static void
within(void)
{
	struct nsx_range_book b = { .ops_only = true, .past = forget };
	int64_t wrong = 0;

	for (int64_t i = 1; i <= 300; i++) {
		uint32_t name = i % 100 == 0 ? 50 : (uint32_t)i;   /* 50 is in none of its name, 100, 200 and 300 are */

		add_in(&b, i, i - 1, name, 0, 0, i, 1000 - i);
		wrong += b.list.p[b.list.n - 1].inner != (i % 100 == 0);
	}
	is_int(wrong, 0, "ranges in one of the same name");
	add_in(&b, 301, 0, 50, 0, 0, 301, 10);
	ok(!b.list.p[b.list.n - 1].inner, "one in no range is in none");
	nsx_range_book_free(&b);
}

/* A stream may have ranges with GPU work, but not their operations. */
static void
without_operations(void)
{
	struct nsx_range_book b = { .ops_only = true };
	const int64_t n = 6000000;
	int rc = add(&b, 1, 0, 10, 1, 1000 * n);

	for (int64_t i = 2; i < n && rc == NSX_OK; i++)
		rc = add(&b, i, 1000 * i, 10, 1000 * i + 1, 500);
	is_int(rc, NSX_OK, "ranges whose operations never come");
	ok(b.list.n < 3000000, "do not all use memory");
	ok(nsx_range_book_find(&b, 0, n - 1) && nsx_range_book_find(&b, 0, n - 500000), "the latest are found");
	ok(nsx_range_book_find(&b, 0, 1), "and one around them all");
	nsx_range_book_free(&b);
}

static void
name_is(const char *domain, const char *name, enum nsx_names names, const char *want, const char *claim)
{
	struct nsx_range_book b = { .limit = 0 };
	union nsx_val v[64];
	struct nsx_rec r = { .kind = nsx_kind_builtin(NSX_RANGE), .v = v };
	char got[128];

	if (domain)
		nsx_set_s(&r, NSX_RANGE_domain, nsx_str_c(domain));
	if (name)
		nsx_set_s(&r, NSX_RANGE_name, nsx_str_c(name));
	struct nsx_str s = nsx_range_book_name(&b, &r, names);

	snprintf(got, sizeof got, "%.*s", (int)s.len, s.ptr);
	is_str(got, want, "%s", claim);
	nsx_range_book_free(&b);
}

int
main(void)
{
	struct nsx_range_book b = { .limit = 0 };
	const int64_t second = INT64_C(1000000000);
	int rc = NSX_OK;

	add(&b, 1, 0, 100 * second, 0, 0);
	add(&b, 2, 5, 10, second, 50 * second);
	for (int64_t i = 10; i < 20000 && rc == NSX_OK; i++)
		rc = add(&b, i, i * second / 500, 10, i * second / 500 + 1, 10);
	is_int(rc, NSX_OK, "20000 ranges in 40 s");
	ok(nsx_range_book_find(&b, 0, 1) && nsx_range_book_find(&b, 0, 1)->name == 1, "one that the host has open is found");
	ok(nsx_range_book_find(&b, 0, 2), "and one whose GPU work continues");
	ok(nsx_range_book_find(&b, 0, 19999), "and the last");
	ok(!nsx_range_book_find(&b, 0, 10), "one that is long past is not");
	ok(!nsx_range_book_find(&b, 1, 1), "nor is another report's");
	ok(b.list.n <= 8192, "past ranges use no memory");
	nsx_range_book_free(&b);
	without_operations();
	within();
	name_is(NULL, "a", NSX_NAMES_FULL, "a", "a name");
	name_is("D", "a", NSX_NAMES_FULL, "D:a", "with its domain");
	name_is("D", NULL, NSX_NAMES_FULL, "D:[unnamed]", "without a name");
	name_is(NULL, "aten::add, seq = 1, op_id = 2", NSX_NAMES_KEY, "aten::add", "its key");
	return done();
}
